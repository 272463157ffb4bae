"""The planned release: the data, the queries, the noise, the adversary and the limits.

The model says what is allowed; :mod:`.file` reads it from YAML and says in which line it is not.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from ..build.correlated import normal
from ..build.knowledge.knowledge import Knowledge as Odds
from ..catalogue.readings import READINGS
from ..data.queries import Noise, Query, QueryKind
from ..errors import MissingExtra

try:
    from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
except ImportError as error:  # pragma: no cover - exercised in an environment without the extra
    raise MissingExtra(error.name or "pydantic", extra="data", purpose="describing a release") from error

__all__ = [
    "ERROR", "Adversary", "Data", "Knowledge", "Knows", "Limit", "Limited", "Mechanism", "Misplaced", "Release",
    "ReleaseQuery", "Resemblance", "json_schema",
]  # fmt: skip

#: What limits the noise rather than the risk: the error tolerated, as a share of the answer.
ERROR = "error"


class Misplaced(ValueError):  # noqa: N818 - a signal to the reader of the file, never seen outside
    """A complaint of a part about one of its entries: ``place`` is the path to it from the part that is checked."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.place = place


class _Word(StrEnum):
    """A word of a plan, shown as it is written."""

    def __repr__(self) -> str:
        return repr(self.value)


class Knows(_Word):
    """What an attacker who isolates a person knows about the answers beforehand."""

    NOTHING = "nothing"
    ONE_ANSWER = "one answer"


class Resemblance(_Word):
    """How the values of related people go together, where no matrix is given."""

    NONE = "none"
    FROM_DATA = "from data"


class Limited(NamedTuple):
    """The most a reading may be, and the reading's own arguments."""

    at_most: float
    arguments: dict[str, float]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, str_strip_whitespace=True)

    def __hash__(self) -> int:  # some parts hold mappings, which pydantic's own hash refuses
        return hash((type(self).__name__, self.model_dump_json()))


class Data(_Part):
    """The table and what an attacker may know about its people."""

    table: str = Field(min_length=1, description="epsilens:rand-hie, a CSV or Parquet path, or an Ibis URL")
    person: str | None = Field(None, description="the column that says whose row it is; omit if one row is one person")
    max_rows: int = Field(1, ge=1, description="the most rows of one person that sums and averages use")
    quasi_identifiers: tuple[str, ...] = Field((), description="columns an attacker may know about a person")
    secret: str | None = Field(None, description="what the attacker wants to learn, a condition on a row")
    related: str | None = Field(None, description="the column that says which people belong together, a household say")

    @model_validator(mode="after")
    def _rows(self) -> Data:
        if self.person is None and self.max_rows != 1:
            raise Misplaced("max_rows needs person: without it every row is a person", "max_rows")
        return self


class ReleaseQuery(_Part):
    """One planned query: exactly one of count, sum, average, histogram."""

    count: str | bool | None = Field(None, description="a condition on rows, or true for everyone")
    sum: str | None = Field(None, description="a column; needs bounds")
    average: str | None = Field(None, description="a column; needs bounds")
    histogram: str | None = Field(None, description="a column whose values are counted")
    where: str | None = Field(None, description="a condition on rows")
    by: str | tuple[str, ...] = Field((), description="columns the answers are split by")
    bounds: tuple[float, float] | None = Field(None, description="values are clamped to these")
    epsilon: float | None = Field(None, gt=0, le=700, description="this query's own budget")
    name: str | None = None

    @model_validator(mode="after")
    def _one(self) -> ReleaseQuery:
        kinds = [kind for kind, asked in self._asked.items() if asked not in (None, False)]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none of them"
            raise ValueError(f"a query is one of count, sum, average or histogram: it has {found}")
        if kinds[0].bounded and self.bounds is None:
            raise Misplaced(f"{kinds[0]} needs bounds: [least, largest]", "bounds")
        if kinds[0] is QueryKind.COUNT and isinstance(self.count, str) and self.where:
            raise Misplaced("count has its condition already: leave out where", "where")
        return self

    @property
    def _asked(self) -> dict[QueryKind, str | bool | None]:
        return {
            QueryKind.COUNT: self.count,
            QueryKind.SUM: self.sum,
            QueryKind.AVERAGE: self.average,
            QueryKind.HISTOGRAM: self.histogram,
        }

    @property
    def kind(self) -> QueryKind:
        """What it asks."""
        return next(kind for kind, asked in self._asked.items() if asked not in (None, False))

    def planned(self) -> Query:
        """The query as the data engine takes it."""
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        asked, kind = self._asked[self.kind], self.kind
        if kind is QueryKind.COUNT:
            return Query(kind, None, asked if isinstance(asked, str) else self.where, by, None, self.name or "")
        return Query(kind, str(asked), self.where, by, self.bounds, self.name or "")


class Mechanism(_Part):
    """The noise and its total budget."""

    noise: Literal[Noise.LAPLACE, Noise.GAUSSIAN] = Noise.LAPLACE
    epsilon: float | None = Field(None, gt=0, le=700, description="the total; the queries share it equally")
    delta: float | None = Field(None, gt=0, lt=1, description="gaussian only: the total")

    @model_validator(mode="after")
    def _delta(self) -> Mechanism:
        if (self.noise is Noise.GAUSSIAN) != (self.delta is not None):
            raise Misplaced("delta belongs to gaussian noise and is needed by it", "delta")
        return self


class Knowledge(_Part):
    """What else the adversary knows about the secret: paper 000's coefficients, or a table with what is known."""

    rho_p: float | None = Field(None, ge=0, lt=1, description="coefficient of the prior")
    rho_c: float | None = Field(None, ge=0, lt=1, description="coefficient of correlated records")
    rho_t: float | None = Field(None, ge=0, lt=1, description="coefficient of correlation over time")
    positive: Literal["more likely", "less likely"] = Field("more likely", description="which value the secret is")
    table: dict[str, tuple[float, ...]] | None = Field(
        None, description="for each thing that can be known, [P(secret false), P(secret true)]"
    )
    known: str | None = Field(None, description="the row of the table that is known")

    @model_validator(mode="after")
    def _consistent(self) -> Knowledge:
        coefficients = (self.rho_p, self.rho_c, self.rho_t)
        if any(rho is not None for rho in coefficients) == (self.table is not None):
            raise ValueError("give either the coefficients rho_p, rho_c, rho_t, or a table with what is known of it")
        if (self.table is None) != (self.known is None):
            raise ValueError("table and known belong together: known names the row of the table that holds")
        self.odds()
        return self

    def odds(self) -> Odds:
        """The prior odds this knowledge amounts to."""
        if self.table is not None:
            if any(len(row) != 2 for row in self.table.values()):
                raise Misplaced(
                    "a row of table does not have two numbers: give [P(secret false), P(secret true)]", "table"
                )
            return Odds.from_table(self.table, self.known, ("false", "true"), pair=("false", "true"))
        rho = {"rho_p": self.rho_p or 0.0, "rho_c": self.rho_c or 0.0, "rho_t": self.rho_t or 0.0}
        return Odds.from_coefficients(**rho, positive=self.positive)


class Adversary(_Part):
    """What the adversary knows beforehand."""

    prior: float = Field(0.5, gt=0, lt=1, description="how likely they think the person is in the data")
    belief: float | None = Field(None, gt=0, lt=1, description="how likely they think the secret; the prior if omitted")
    knows: Literal[Knows.NOTHING, Knows.ONE_ANSWER] = Knows.ONE_ANSWER
    baseline: float = Field(0.01, gt=0, lt=1, description="how often re-identification succeeds without the release")
    knowledge: Knowledge | None = Field(None, description="what else they know about the secret")
    among: int | None = Field(None, ge=2, le=10**12, description="the people they cannot tell apart beforehand")
    correlation: Literal[Resemblance.NONE, Resemblance.FROM_DATA] | tuple[tuple[float, ...], ...] = Field(
        Resemblance.NONE, description="how the values of related people go together: none, from data, or a matrix"
    )

    @field_validator("correlation", mode="before")
    @classmethod
    def _possible(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in tuple(Resemblance):
                raise ValueError(f"it is {value[:40]!r}: give none, from data, or a matrix with a row for each person")
        elif isinstance(value, list | tuple):
            normal(value)
        return value


class Limit(_Part):
    """A limit on a reading that takes arguments: ``roc: {at_most: 0.05, fpr: 0.01}``."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)
    at_most: float


def _usual_limits() -> dict[str, float | Limit]:
    return {"success": 0.55}


class Release(_Part):
    """A planned release."""

    title: str = Field("Planned release", max_length=200)
    data: Data
    queries: Annotated[tuple[ReleaseQuery, ...], Field(min_length=1, max_length=32)]
    mechanism: Mechanism
    adversary: Adversary = Adversary()
    limits: dict[str, float | Limit] = Field(default_factory=_usual_limits)

    @field_validator("limits")
    @classmethod
    def _readings(cls, value: dict[str, float | Limit]) -> dict[str, float | Limit]:
        for name, limit in value.items():
            if name not in (*READINGS, ERROR):
                raise Misplaced(f"there is no reading {name!r}: limits take {', '.join(READINGS)} or error", name)
            at = limit.at_most if isinstance(limit, Limit) else limit
            if name != ERROR and not 0 <= at <= READINGS[name].ceiling:
                most = (
                    "0 or more" if READINGS[name].ceiling > 1 else "a share between 0 and 1, such as 0.55 for 55 of 100"
                )
                raise Misplaced(f"{name} is {at:g}: give {most}", name)
        return value

    @model_validator(mode="after")
    def _budget(self) -> Release:
        own = [q.epsilon for q in self.queries]
        if self.mechanism.epsilon is None and any(e is None for e in own):
            raise Misplaced("mechanism needs epsilon, or every query its own", "mechanism", "epsilon")
        if self.mechanism.epsilon is not None and any(e is not None for e in own):
            if any(e is None for e in own):
                raise Misplaced(
                    "either every query has its own epsilon or none: the total is shared otherwise", "queries"
                )
            if abs(sum(e for e in own if e) - self.mechanism.epsilon) > 1e-9 * self.mechanism.epsilon:
                raise Misplaced(
                    "the queries' epsilons do not add up to mechanism.epsilon: leave one of them out",
                    "mechanism",
                    "epsilon",
                )
        return self

    @property
    def epsilon(self) -> float:
        """The total budget."""
        if self.mechanism.epsilon is not None:
            return self.mechanism.epsilon
        return float(sum(q.epsilon or 0.0 for q in self.queries))

    @property
    def shares(self) -> tuple[float, ...]:
        """Each query's share of the total."""
        if self.queries[0].epsilon is None:
            return tuple(1 / len(self.queries) for _ in self.queries)
        return tuple((q.epsilon or 0.0) / self.epsilon for q in self.queries)

    @property
    def risk_limits(self) -> dict[str, Limited]:
        """Each limited reading with its limit and its own arguments; the limit on error is no reading."""
        return {name: _limited(limit) for name, limit in self.limits.items() if name != ERROR}

    @property
    def error_limit(self) -> float | None:
        """The error tolerated, as a share of the answer."""
        return _limited(self.limits[ERROR]).at_most if ERROR in self.limits else None

    def digest(self) -> str:
        """A hash of what was asked, for the record."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def _limited(limit: float | Limit) -> Limited:
    if isinstance(limit, Limit):
        return Limited(limit.at_most, dict(limit.model_extra or {}))
    return Limited(float(limit), {})


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a release file, for editors."""
    return Release.model_json_schema()
