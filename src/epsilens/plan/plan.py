"""The planned release: the data, the queries, the noise, the adversary and the limits.

The model says what is allowed; :mod:`.file` reads it from YAML and says in which line it is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, field_validator, model_validator

from ..attacks.correlated import normal
from ..attacks.knowledge.knowledge import Knowledge as Odds
from ..catalogue.readings import READINGS
from ..data.queries import Noise
from ..data.tables.address import without_password
from ..worlds import Relation
from .asked import Data, ReleaseQuery
from .select import with_selects
from .words import Knows, Misplaced, Part, Resemblance, Share, Size, Split, Threshold, share_read

#: What limits the noise rather than the risk: the error tolerated, as a share of the answer.
ERROR = "error"


class Limited(NamedTuple):
    """The most a reading may be, and the reading's own arguments."""

    at_most: float
    arguments: dict[str, float]


class Mechanism(Part):
    """The noise and its total budget."""

    noise: Literal[Noise.LAPLACE, Noise.GAUSSIAN] = Noise.LAPLACE
    epsilon: float | None = Field(None, gt=0, le=700, description="the total; the queries share it")
    delta: float | None = Field(None, gt=0, lt=1, description="gaussian noise, and thresholds found from it: the total")
    neighbours: Literal[Relation.ADD_REMOVE, Relation.REPLACE] = Field(
        Relation.ADD_REMOVE, description="what the guarantee is about: a person added or removed, or replaced"
    )
    split: Literal[Split.EQUAL, Split.LEAST_ERROR] = Field(Split.EQUAL, description="how the queries share epsilon")

    @field_validator("epsilon", "delta", mode="before")
    @classmethod
    def _a_number(cls, value: Any) -> Any:
        if isinstance(value, bool):  # YAML's yes, which would pass for 1
            raise ValueError(f"it is {value}: give a number, such as 0.5")
        return value

    @model_validator(mode="after")
    def _delta(self) -> Mechanism:
        if self.noise is Noise.GAUSSIAN and self.delta is None:
            raise Misplaced("gaussian noise needs delta", "delta")
        return self


class Knowledge(Part):
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


class Adversary(Part):
    """What the adversary knows beforehand."""

    prior: Share = Field(0.5, gt=0, lt=1, description="how likely they think the person is in the data")
    belief: Share | None = Field(None, gt=0, lt=1, description="how likely they think the secret; the prior if omitted")
    knows: Literal[Knows.NOTHING, Knows.ONE_ANSWER] = Knows.ONE_ANSWER
    baseline: Share = Field(
        0.01, gt=0, lt=1, description="how often re-identification succeeds against a release without the person"
    )
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


class Limit(Part):
    """A limit on a reading that takes arguments: ``roc: {at_most: 0.05, fpr: 0.01}``."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)
    at_most: float


def _usual_limits() -> dict[str, float | Limit]:
    return {"success": 0.55}


class Release(Part):
    """A planned release."""

    title: str = Field("Planned release", max_length=200)
    data: Data
    queries: Annotated[tuple[ReleaseQuery, ...], Field(min_length=1, max_length=32)]
    mechanism: Mechanism
    adversary: Adversary = Adversary()
    limits: dict[str, float | Limit] = Field(default_factory=_usual_limits)

    @field_validator("limits", mode="before", json_schema_input_type=dict[str, float | str | Limit])
    @classmethod
    def _shares(cls, value: Any) -> Any:
        """Shares in any of the ways they are written."""
        if not isinstance(value, Mapping):
            return value
        shares = {name for name, reading in READINGS.items() if reading.ceiling == 1} | {ERROR}

        def read(name: Any, limit: Any) -> Any:
            if isinstance(limit, Mapping):
                return {k: share_read(v) if k != "at_most" or name in shares else v for k, v in limit.items()}
            return share_read(limit) if name in shares else limit

        return {name: read(name, limit) for name, limit in value.items()}

    @model_validator(mode="before")
    @classmethod
    def _selects(cls, value: Any) -> Any:
        """Queries written as SQL, read here where it is known which table they are about and whose rows it has."""
        return with_selects(value)

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
        own, shares = [q.epsilon for q in self.queries], [q.share for q in self.queries]
        total = self.mechanism.epsilon
        for given, word in ((own, "epsilon"), (shares, "share")):
            if any(x is None for x in given) and any(x is not None for x in given):
                raise Misplaced(f"either every query has its own {word} or none: ε is shared otherwise", "queries")
        if total is None and own[0] is None:
            raise Misplaced("mechanism needs epsilon, or every query its own", "mechanism", "epsilon")
        if self.mechanism.split is not Split.EQUAL and (own[0] or shares[0]):
            raise Misplaced("split is least error, and the queries have shares of their own: leave one out", "queries")
        if shares[0] is not None and abs(sum(s for s in shares if s) - 1) > 1e-9:
            raise Misplaced(f"the queries' shares add up to {sum(s for s in shares if s):g}: make it 1", "queries")
        if total is not None and own[0] is not None and abs(sum(e for e in own if e) - total) > 1e-9 * total:
            raise Misplaced(
                "the queries' epsilons do not add up to mechanism.epsilon: leave one of them out",
                "mechanism",
                "epsilon",
            )
        return self

    @model_validator(mode="after")
    def _known(self) -> Release:
        """What must be known beforehand: a public size, a δ that somebody needs."""
        mechanism = self.mechanism
        for i, query in enumerate(self.queries):
            if query.size is Size.PUBLIC and mechanism.neighbours is not Relation.REPLACE:
                raise Misplaced(
                    "size is public while people are added or removed: the exact number of rows tells who is in the "
                    "table; leave it out, or set mechanism.neighbours to replace",
                    "queries", i, "size",
                )  # fmt: skip
            if query.touched is not None:
                self._touched(i)
        auto = any(query.threshold is Threshold.AUTO for query in self.queries)
        if mechanism.delta is not None and mechanism.noise is not Noise.GAUSSIAN and not auto:
            raise Misplaced(
                "delta is for gaussian noise and for thresholds that are found (auto): laplace noise needs none",
                "mechanism", "delta",
            )  # fmt: skip
        return self

    def _touched(self, i: int) -> None:
        """Refuse to count those whom a limit touched where none may, or where nobody knows what relatives do to it."""
        if self.data.person is None or self.data.unit is not None:
            raise Misplaced("touched needs person and no unit: it is for people who are in several groups",
                            "queries", i, "touched")  # fmt: skip
        if self.adversary.correlation is not Resemblance.NONE:
            raise Misplaced(
                "touched does not go with adversary.correlation: how alike related people are in it is not known; "
                "leave one of them out",
                "queries", i, "touched",
            )  # fmt: skip

    @property
    def epsilon(self) -> float:
        """The total budget."""
        if self.mechanism.epsilon is not None:
            return self.mechanism.epsilon
        return float(sum(q.epsilon or 0.0 for q in self.queries))

    @property
    def shares(self) -> tuple[float, ...]:
        """Each query's share of the total; equal ones where the split is still to be found."""
        first = self.queries[0]
        if first.share is not None:
            return tuple(q.share or 0.0 for q in self.queries)
        if first.epsilon is not None:
            return tuple((q.epsilon or 0.0) / self.epsilon for q in self.queries)
        return tuple(1 / len(self.queries) for _ in self.queries)

    def shared(self, shares: tuple[float, ...]) -> Release:
        """The same release with these shares of ε."""
        queries = tuple(
            q.model_copy(update={"share": s, "epsilon": None}) for q, s in zip(self.queries, shares, strict=True)
        )
        mechanism = self.mechanism.model_copy(update={"epsilon": self.epsilon, "split": Split.EQUAL})
        return self.model_copy(update={"queries": queries, "mechanism": mechanism})

    @property
    def risk_limits(self) -> dict[str, Limited]:
        """Each limited reading with its limit and its own arguments; the limit on error is no reading."""
        return {name: _limited(limit) for name, limit in self.limits.items() if name != ERROR}

    @property
    def error_limit(self) -> float | None:
        """The error tolerated, as a share of the answer."""
        return _limited(self.limits[ERROR]).at_most if ERROR in self.limits else None

    def public(self, defaults: bool = False) -> dict[str, Any]:
        """The plan as it may be shown, as plain values: of the table its name, nothing of its address."""
        said = self.model_dump(mode="json", exclude_defaults=not defaults)
        said["data"]["table"] = self.data.called
        return said

    def digest(self) -> str:
        """A hash of what was asked, for the record; whoever tries addresses or passwords on it finds none."""
        said = json.dumps(self.public(defaults=True), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()

    def identity(self) -> dict[str, Any]:
        """What makes a plan the same one: all that is asked, but for its title and where the table lies.

        The table is the one of its name; without one, of its address, of which passwords are no part. It may hold the
        address: to be hashed under a key, never shown.
        """
        said = self.model_dump(mode="json", exclude={"title": True, "data": {"table"}})
        said["data"]["name"] = self.data.name or without_password(self.data.table)
        return said


def _limited(limit: float | Limit) -> Limited:
    if isinstance(limit, Limit):
        return Limited(limit.at_most, dict(limit.model_extra or {}))
    return Limited(float(limit), {})


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a release file, for editors."""
    return Release.model_json_schema()
