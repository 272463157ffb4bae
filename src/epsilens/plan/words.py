"""The words a plan is written in, and what every part of it has in common."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict

from ..data.queries import Word
from ..shares import parse_share, share_suggestion


def share_read(value: Any) -> Any:
    """A percentage or a count out of another as the share it is; anything else as it stands.

    >>> share_read("55%"), share_read("55 of 100"), share_read(0.55), share_read("many")
    (0.55, 0.55, 0.55, 'many')
    """
    found = parse_share(value) if isinstance(value, str) else None
    return value if found is None else found


def _one_share(value: Any) -> Any:
    read = share_read(value)
    if isinstance(read, int | float) and not isinstance(read, bool) and (instead := share_suggestion(read)):
        raise ValueError(f"it is {read:g}, which is no share: write {instead}")
    return read


#: A share, which may be written as 0.55, 55% or 55 of 100.
Share: TypeAlias = Annotated[float, BeforeValidator(_one_share, json_schema_input_type=float | str)]


class Misplaced(ValueError):  # noqa: N818 - a signal to the reader of the file, never seen outside
    """A complaint of a part about one of its entries: ``place`` is the path to it from the part that is checked."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.place = place


class Knows(Word):
    """What an attacker who isolates a person knows about the answers beforehand."""

    NOTHING = "nothing"
    ONE_ANSWER = "one answer"


class Resemblance(Word):
    """How the values of related people go together, where no matrix is given."""

    NONE = "none"
    FROM_DATA = "from data"


class Size(Word):
    """What an average is divided by: a noisy number of rows, or one that everybody knows."""

    NOISY = "noisy"
    PUBLIC = "public"


class Split(Word):
    """How the queries share ε: alike, or so that the largest relative error is least."""

    EQUAL = "equal"
    LEAST_ERROR = "least error"


class Threshold(Word):
    """A threshold that is found from δ."""

    AUTO = "auto"


class Part(BaseModel):
    """A part of a plan: nothing beside what is named, nothing infinite, and it never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def __hash__(self) -> int:  # some parts hold mappings, which pydantic's own hash refuses
        return hash((type(self).__name__, self.model_dump_json()))
