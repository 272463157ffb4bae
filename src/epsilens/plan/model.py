"""The planned release: the data, the queries, the noise, the adversary and the limits.

The model says what is allowed; :mod:`.file` reads it from YAML and says in which line it is not.

How a person's rows enter the answers is part of the plan, because it is what the noise is measured by:

* ``max_rows``: the most rows of one person that sums, averages and counts of rows use;
* ``max_groups``: the most groups of one query a person is counted in (1), or their rows are spread over (``max_rows``);
* ``unit``: who is protected together, a household say; the limits are then those of the unit, and a count has at most
  ``max_rows`` of its people.

The names of groups are part of a release too. ``groups`` lists them beforehand; ``threshold`` publishes a name only
where a noisy count of people reaches it; with neither, the names come from the data, and a name that exists because of
one person reveals them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from ..attacks.correlated.normal_records import normal
from ..attacks.knowledge import Knowledge
from ..catalogue.readings import READINGS
from ..data.queries import Noise, Query, QueryKind, Select, Word, names_table, other_bounds, read_select, table_name
from ..data.tables.address import masked, without_password
from ..data.tables.columns import ColumnFormat, DateOrder, ParsedType
from ..data.tables.sources import names
from ..errors import InputError, type_phrase
from ..shares import parse_share, share_suggestion
from ..worlds import Relation


def parse_share_value(value: Any) -> Any:
    """A percentage or a count out of another as the share it is; anything else as it stands.

    >>> parse_share_value("55%"), parse_share_value("55 of 100"), parse_share_value(0.55), parse_share_value("many")
    (0.55, 0.55, 0.55, 'many')
    """
    found = parse_share(value) if isinstance(value, str) else None
    return value if found is None else found


def _one_share(value: Any) -> Any:
    read = parse_share_value(value)
    if isinstance(read, int | float) and not isinstance(read, bool) and (instead := share_suggestion(read)):
        raise ValueError(f"it is {read:g}, which is no share: write {instead}")
    return read


#: A share, which may be written as 0.55, 55% or 55 of 100.
Share: TypeAlias = Annotated[float, BeforeValidator(_one_share, json_schema_input_type=float | str)]


class PlacedError(ValueError):
    """A complaint of a part about one of its entries: ``place`` is the path to it from the part that is checked."""

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message)
        self.place = place


class BackgroundKnowledge(Word):
    """What an attacker who isolates a person knows about the answers beforehand."""

    NOTHING = "nothing"
    ONE_ANSWER = "one answer"


class CorrelationSource(Word):
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


class PlanPart(BaseModel):
    """A part of a plan: nothing beside what is named, nothing infinite, and it never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def __hash__(self) -> int:  # some parts hold mappings, which pydantic's own hash refuses
        return hash((type(self).__name__, self.model_dump_json()))


#: What SQL says itself, and so may not stand beside it.
_SAID = ("count", "sum", "average", "histogram", "where", "by", "rows")


def expand_sql_queries(plan: Any) -> Any:
    """A plan as it was read, its queries in SQL written in words; anything else is left for the model to refuse."""
    if not isinstance(plan, Mapping) or not isinstance(plan.get("queries"), list | tuple):
        return plan
    queries = list(plan["queries"])
    if not any(_is_select(query) for query in queries):
        return plan
    data = plan.get("data")
    given = data if isinstance(data, Mapping) else getattr(data, "__dict__", {})
    for i, query in enumerate(queries):
        if _is_select(query):
            try:
                queries[i] = query_from_sql(query, given)
            except PlacedError as error:
                raise PlacedError(str(error), "queries", i, *error.place) from None
    return {**plan, "queries": queries}


def _is_select(query: Any) -> bool:
    return isinstance(query, Mapping) and query.get("sql") is not None


def query_from_sql(query: Mapping[str, Any], data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The words for a query in SQL; ``data`` are those of the plan, which says the table and whose rows it has.

    >>> query_from_sql({"sql": "select count(*) from people where ill", "epsilon": 1.0}, {"table": "people.csv"})
    {'epsilon': 1.0, 'count': 'ill'}
    >>> data = {"table": "people.csv", "person": "id"}
    >>> query_from_sql({"sql": "select avg(age) from people", "bounds": [0, 99]}, data)
    {'bounds': [0, 99], 'average': 'age'}
    """
    text = query["sql"]
    if not isinstance(text, str):
        raise PlacedError(f"sql is {type_phrase(text)}: give one SELECT as text", "sql")
    for name in _SAID:
        if query.get(name) not in (None, False, (), []):
            raise PlacedError(f"sql says what is asked, and {name} says it too: leave one of them out", name)
    try:
        found = read_select(text)
    except InputError as error:
        raise PlacedError(str(error), "sql") from None
    if data is not None:
        _check_table(found, data)
    elif found.distinct is not None:
        raise PlacedError("sql counts distinct people: give it within a plan, which names its person column", "sql")
    person = (data or {}).get("person")
    made = {name: value for name, value in query.items() if name != "sql"}
    if found.aggregate == "count":
        made["count"] = found.where or True
        if found.distinct is None and (person is not None or data is None):
            made["rows"] = True
    else:
        made[found.aggregate] = found.column
        if found.where:
            made["where"] = found.where
    if found.by:
        made["by"] = found.by[0] if len(found.by) == 1 else list(found.by)
    if found.bounds is not None:
        if query.get("bounds") is not None:
            raise PlacedError("sql clamps the values, and bounds does too: leave one of them out", "bounds")
        made["bounds"] = list(found.bounds)
    if found.name and not query.get("name"):
        made["name"] = found.name
    return made


def _check_table(found: Select, data: Mapping[str, Any]) -> None:
    table, person, unit = data.get("table"), data.get("person"), data.get("unit")
    if isinstance(table, str) and not names_table(found.table, table):
        raise PlacedError(
            f"sql reads FROM {found.table[:60]!r}, which is not the plan's table: write FROM {table_name(table)[:60]}, "
            "for a plan is about the one table named in data",
            "sql",
        )
    if found.distinct is not None and found.distinct != person:
        whose = f"the plan's person column, {person!r}" if person else "the plan's person column, which is not named"
        raise PlacedError(
            f"sql counts distinct {found.distinct[:60]!r}: how far one person moves that is not known; count distinct "
            f"of {whose}",
            "sql",
        )
    for column in (person, unit):
        if isinstance(column, str) and column in found.columns:  # anything else is refused where data is read
            raise PlacedError(
                f"sql has {column!r} in its condition, which picks people by name: say what they have in common", "sql"
            )


#: The name of a group by one column, as YAML writes it; null is the group of those with no value.
Label = str | int | float | bool | None


class Secret(PlanPart):
    """What the attacker wants to learn: a name for prose, the condition that says it, the columns that tell it too."""

    name: str | None = Field(None, min_length=1, max_length=200, description="what it is called in a sentence")
    where: str = Field(min_length=1, description="the condition on a row that makes it true")
    columns: tuple[str, ...] = Field((), description="other columns that give it away, a drug say")


class Read(PlanPart):
    """How the text of a column is read; ``Ward: category`` is short for ``Ward: {as: category}``."""

    model_config = ConfigDict(validate_by_name=True)

    kind: ParsedType = Field(alias="as", description="a number, a date, a category, a code or text")
    decimal: Literal[".", ","] = Field(".", description="the sign before the fraction of a number")
    order: DateOrder = Field(DateOrder.YEAR_FIRST, description="how a date is written")
    empty: tuple[str, ...] = Field((), max_length=100, description="texts that stand for no value, in any capitals")

    @model_validator(mode="after")
    def _fits(self) -> Read:
        for name, kind in (("decimal", ParsedType.NUMBER), ("order", ParsedType.DATE)):
            if name in self.model_fields_set and self.kind is not kind:
                raise PlacedError(f"{name} is for columns read as a {kind}: leave it out", name)
        return self

    @property
    def form(self) -> ColumnFormat:
        return ColumnFormat(self.kind, self.decimal, self.order, self.empty)


class Data(PlanPart):
    """The table and what an attacker may know about its people."""

    table: str = Field(min_length=1, description="epsilens:rand-hie, a CSV or Parquet path, or an Ibis URL")
    name: str | None = Field(None, min_length=1, max_length=200, description="what the table is called in public")
    version: str | None = Field(
        None, min_length=1, max_length=200, description="the version or period of the data: another one is drawn anew"
    )
    person: str | None = Field(None, description="the column that says whose row it is; omit if one row is one person")
    unit: str | None = Field(None, description="the column of those protected together, a household; else the person")
    max_rows: int = Field(1, ge=1, le=10**9, description="the most rows of one person that sums and averages use")
    max_groups: int | None = Field(None, ge=1, le=10_000, description="the most groups of a query one person is in")
    quasi_identifiers: tuple[str, ...] = Field((), description="columns an attacker may know about a person")
    secret: str | Secret | None = Field(None, description="what the attacker wants to learn, a condition on a row")
    related: str | None = Field(None, description="the column that says which people belong together, a household say")
    read: dict[str, Read] = Field(default_factory=dict, max_length=1000, description="how columns of text are read")

    @field_validator("version", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """``version: 2026`` and ``version: 2026-03-01``, which YAML reads as a number and a date."""
        return str(value) if isinstance(value, int | date) and not isinstance(value, bool) else value

    @field_validator("read", mode="before")
    @classmethod
    def _briefly(cls, value: Any) -> Any:
        """``Ward: category`` is short for ``Ward: {as: category}``."""
        if not isinstance(value, dict):
            return value
        return {k: {"as": v} if isinstance(v, str) else v for k, v in value.items()}

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """A database's password is not printed."""
        for name, value in super().__repr_args__():
            yield name, masked(value) if name == "table" else value

    @model_validator(mode="after")
    def _rows(self) -> Data:
        if not self.several:
            for name in ("max_rows", "max_groups"):
                if getattr(self, name) not in (None, 1):
                    raise PlacedError(f"{name} needs person: without it every row is a person", name)
        if self.unit is not None and self.unit == self.person:
            raise PlacedError("unit is the person column: leave it out, or name the column of the household", "unit")
        return self

    @property
    def public_name(self) -> str:
        """What the table is called in public: by the name it was given, or one of ours. Nothing of an address.

        >>> Data(table="/home/me/people.csv").public_name, Data(table="epsilens:adult").public_name
        ('the table', 'epsilens:adult')
        """
        return self.name or (self.table if self.table in names() else "the table")

    @property
    def several(self) -> bool:
        """Whether one protected person, or unit, may have several rows."""
        return self.person is not None or self.unit is not None

    @property
    def owner(self) -> str | None:
        """The column of those who are protected: the unit, or the person; None where every row is a person."""
        return self.unit or self.person

    @property
    def forms(self) -> dict[str, ColumnFormat]:
        return {name: read.form for name, read in self.read.items()}

    @property
    def hidden(self) -> Secret | None:
        """The secret with all that is said about it, however briefly it was written."""
        return Secret(where=self.secret) if isinstance(self.secret, str) else self.secret


class ReleaseQuery(PlanPart):
    """One planned query: exactly one of count, sum, average, histogram; or SQL that is read into these."""

    count: str | bool | None = Field(None, description="a condition on rows, or true for everyone")
    sum: str | None = Field(None, description="a column; needs bounds")
    average: str | None = Field(None, description="a column; needs bounds")
    histogram: str | None = Field(None, description="a column whose values are counted")
    where: str | None = Field(None, description="a condition on rows")
    by: str | tuple[str, ...] = Field((), description="columns the answers are split by")
    groups: tuple[Label | tuple[Label, ...], ...] | None = Field(
        None, min_length=1, max_length=10_000, description="the groups that are published, absent ones too"
    )
    threshold: Threshold | float | None = Field(
        None, description="publish a group only where a noisy count of people reaches this; auto finds it from delta"
    )
    bounds: tuple[float, float] | None = Field(None, description="values are clamped to these")
    size: Size = Field(Size.NOISY, description="what an average is divided by: a noisy count, or a public one")
    rows: bool = Field(False, description="count rows, not people")
    touched: Share | None = Field(
        None, gt=0, lt=1, description="publish, for this part of the query's budget, how many people max_groups touched"
    )
    epsilon: float | None = Field(None, gt=0, le=700, description="this query's own budget")
    share: Share | None = Field(None, gt=0, le=1, description="this query's share of the total")
    name: str | None = None
    sql: str | None = Field(
        None, exclude=True, description="one SELECT of COUNT, SUM or AVG, instead of count, sum, average, where and by"
    )

    @model_validator(mode="before")
    @classmethod
    def _select(cls, value: Any) -> Any:
        """SQL outside a plan, where nobody says whose rows they are; a plan has read its own before."""
        return query_from_sql(value) if isinstance(value, Mapping) and value.get("sql") is not None else value

    @model_validator(mode="after")
    def _one(self) -> ReleaseQuery:
        kinds = [kind for kind, asked in self._asked.items() if asked not in (None, False)]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none of them"
            raise ValueError(f"a query is one of count, sum, average or histogram: it has {found}")
        kind = kinds[0]
        if kind.bounded and self.bounds is None:
            raise PlacedError(f"{kind} needs bounds: [least, largest]", "bounds")
        if kind.bounded and self.bounds is not None and (wanted := other_bounds(*self.bounds)):
            low, high = self.bounds
            raise PlacedError(f"bounds are {low:g} and {high:g}: {wanted}", "bounds")
        if kind is QueryKind.COUNT and isinstance(self.count, str) and self.where:
            raise PlacedError("count has its condition already: leave out where", "where")
        if self.rows and kind.bounded:
            raise PlacedError(f"rows is for count and histogram: a {kind} adds up rows already", "rows")
        if self.touched is not None and (kind.bounded or self.rows or not self.split_by):
            raise PlacedError(
                "touched is for people counted by groups: of rows and sums a limit may leave out any amount, and "
                "without by nobody",
                "touched",
            )
        if self.size is Size.PUBLIC and kind is not QueryKind.AVERAGE:
            raise PlacedError(f"size is for average: a {kind} is divided by nothing", "size")
        if self.epsilon is not None and self.share is not None:
            raise PlacedError("give the query's epsilon or its share of the total, not both", "share")
        return self

    @model_validator(mode="after")
    def _names(self) -> ReleaseQuery:
        wide = len(self.split_by)
        if not wide and (self.groups is not None or self.threshold is not None):
            named = "groups" if self.groups is not None else "threshold"
            raise PlacedError(f"{named} needs by: without it there is one answer", named)
        if self.groups is not None and self.threshold is not None:
            raise PlacedError("groups are public and need no threshold: leave one of them out", "threshold")
        if isinstance(self.threshold, float) and self.threshold < 1:
            raise PlacedError(f"threshold is {self.threshold:g}: give 1 person or more, or auto", "threshold")
        for i, label in enumerate(self.groups or ()):
            if (len(label) if isinstance(label, tuple) else 1) != wide:
                raise PlacedError(f"a group here needs {wide} names, one for each column of by", "groups", i)
        if len(set(map(repr, self.groups or ()))) < len(self.groups or ()):
            raise PlacedError("groups has a name twice: give each once", "groups")
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
        return next(kind for kind, asked in self._asked.items() if asked not in (None, False))

    @property
    def split_by(self) -> tuple[str, ...]:
        """The columns its answers are split by, a histogram's own among them."""
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        return (*by, self.histogram) if self.histogram else by

    @property
    def labels(self) -> tuple[tuple[Label, ...], ...] | None:
        """The public groups, each with a name for every column of ``split_by``; None where they are not listed."""
        if self.groups is None:
            return None
        return tuple(label if isinstance(label, tuple) else (label,) for label in self.groups)

    def to_query(self) -> Query:
        """The query as the data engine takes it."""
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        asked, kind = self._asked[self.kind], self.kind
        if kind is QueryKind.COUNT:
            return Query(kind, None, asked if isinstance(asked, str) else self.where, by, None, self.name or "")
        return Query(kind, str(asked), self.where, by, self.bounds, self.name or "")


#: What limits the noise rather than the risk: the error tolerated, as a share of the answer.
ERROR = "error"


class ReadingLimit(NamedTuple):
    """The most a reading may be, and the reading's own arguments."""

    at_most: float
    arguments: dict[str, float]


class Mechanism(PlanPart):
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
            raise PlacedError("gaussian noise needs delta", "delta")
        return self


class SecretKnowledge(PlanPart, title="Knowledge"):
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
    def _consistent(self) -> SecretKnowledge:
        coefficients = (self.rho_p, self.rho_c, self.rho_t)
        if any(rho is not None for rho in coefficients) == (self.table is not None):
            raise ValueError("give either the coefficients rho_p, rho_c, rho_t, or a table with what is known of it")
        if (self.table is None) != (self.known is None):
            raise ValueError("table and known belong together: known names the row of the table that holds")
        self.odds()
        return self

    def odds(self) -> Knowledge:
        if self.table is not None:
            if any(len(row) != 2 for row in self.table.values()):
                raise PlacedError(
                    "a row of table does not have two numbers: give [P(secret false), P(secret true)]", "table"
                )
            return Knowledge.from_table(self.table, self.known, ("false", "true"), pair=("false", "true"))
        rho = {"rho_p": self.rho_p or 0.0, "rho_c": self.rho_c or 0.0, "rho_t": self.rho_t or 0.0}
        return Knowledge.from_coefficients(**rho, positive=self.positive)


class Adversary(PlanPart):
    """What the adversary knows beforehand."""

    prior: Share = Field(0.5, gt=0, lt=1, description="how likely they think the person is in the data")
    belief: Share | None = Field(None, gt=0, lt=1, description="how likely they think the secret; the prior if omitted")
    knows: Literal[BackgroundKnowledge.NOTHING, BackgroundKnowledge.ONE_ANSWER] = BackgroundKnowledge.ONE_ANSWER
    baseline: Share = Field(
        0.01, gt=0, lt=1, description="how often re-identification succeeds against a release without the person"
    )
    knowledge: SecretKnowledge | None = Field(None, description="what else they know about the secret")
    among: int | None = Field(None, ge=2, le=10**12, description="the people they cannot tell apart beforehand")
    correlation: Literal[CorrelationSource.NONE, CorrelationSource.FROM_DATA] | tuple[tuple[float, ...], ...] = Field(
        CorrelationSource.NONE, description="how the values of related people go together: none, from data, or a matrix"
    )

    @field_validator("correlation", mode="before")
    @classmethod
    def _possible(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in tuple(CorrelationSource):
                raise ValueError(f"it is {value[:40]!r}: give none, from data, or a matrix with a row for each person")
        elif isinstance(value, list | tuple):
            normal(value)
        return value


class Limit(PlanPart):
    """A limit on a reading that takes arguments: ``roc: {at_most: 0.05, fpr: 0.01}``."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)
    at_most: float


def _default_limits() -> dict[str, float | Limit]:
    return {"success": 0.55}


class Release(PlanPart):
    """A planned release."""

    title: str = Field("Planned release", max_length=200)
    data: Data
    queries: Annotated[tuple[ReleaseQuery, ...], Field(min_length=1, max_length=32)]
    mechanism: Mechanism
    adversary: Adversary = Adversary()
    limits: dict[str, float | Limit] = Field(default_factory=_default_limits)

    @field_validator("limits", mode="before", json_schema_input_type=dict[str, float | str | Limit])
    @classmethod
    def _shares(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        shares = {name for name, reading in READINGS.items() if reading.ceiling == 1} | {ERROR}

        def read(name: Any, limit: Any) -> Any:
            if isinstance(limit, Mapping):
                return {k: parse_share_value(v) if k != "at_most" or name in shares else v for k, v in limit.items()}
            return parse_share_value(limit) if name in shares else limit

        return {name: read(name, limit) for name, limit in value.items()}

    @model_validator(mode="before")
    @classmethod
    def _selects(cls, value: Any) -> Any:
        """Queries written as SQL, read here where it is known which table they are about and whose rows it has."""
        return expand_sql_queries(value)

    @field_validator("limits")
    @classmethod
    def _readings(cls, value: dict[str, float | Limit]) -> dict[str, float | Limit]:
        for name, limit in value.items():
            if name not in (*READINGS, ERROR):
                raise PlacedError(f"there is no reading {name!r}: limits take {', '.join(READINGS)} or error", name)
            at = limit.at_most if isinstance(limit, Limit) else limit
            if name != ERROR and not 0 <= at <= READINGS[name].ceiling:
                most = (
                    "0 or more" if READINGS[name].ceiling > 1 else "a share between 0 and 1, such as 0.55 for 55 of 100"
                )
                raise PlacedError(f"{name} is {at:g}: give {most}", name)
        return value

    @model_validator(mode="after")
    def _budget(self) -> Release:
        own, shares = [q.epsilon for q in self.queries], [q.share for q in self.queries]
        total = self.mechanism.epsilon
        for given, word in ((own, "epsilon"), (shares, "share")):
            if any(x is None for x in given) and any(x is not None for x in given):
                raise PlacedError(f"either every query has its own {word} or none: ε is shared otherwise", "queries")
        if total is None and own[0] is None:
            raise PlacedError("mechanism needs epsilon, or every query its own", "mechanism", "epsilon")
        if self.mechanism.split is not Split.EQUAL and (own[0] or shares[0]):
            raise PlacedError(
                "split is least error, and the queries have shares of their own: leave one out", "queries"
            )
        if shares[0] is not None and abs(sum(s for s in shares if s) - 1) > 1e-9:
            raise PlacedError(f"the queries' shares add up to {sum(s for s in shares if s):g}: make it 1", "queries")
        if total is not None and own[0] is not None and abs(sum(e for e in own if e) - total) > 1e-9 * total:
            raise PlacedError(
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
                problem = (
                    "size is public while people are added or removed: the exact number of rows tells who is in the "
                    "table; leave it out, or set mechanism.neighbours to replace"
                )
                raise PlacedError(problem, "queries", i, "size")
            if query.touched is not None:
                self._touched(i)
        auto = any(query.threshold is Threshold.AUTO for query in self.queries)
        if mechanism.delta is not None and mechanism.noise is not Noise.GAUSSIAN and not auto:
            problem = "delta is for gaussian noise and for thresholds that are found (auto): laplace noise needs none"
            raise PlacedError(problem, "mechanism", "delta")
        return self

    def _touched(self, i: int) -> None:
        """Refuse to count those whom a limit touched where none may, or where nobody knows what relatives do to it."""
        if self.data.person is None or self.data.unit is not None:
            raise PlacedError(
                "touched needs person and no unit: it is for people who are in several groups", "queries", i, "touched"
            )
        if self.adversary.correlation is not CorrelationSource.NONE:
            problem = (
                "touched does not go with adversary.correlation: how alike related people are in it is not known; "
                "leave one of them out"
            )
            raise PlacedError(problem, "queries", i, "touched")

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
    def risk_limits(self) -> dict[str, ReadingLimit]:
        """Each limited reading with its limit and its own arguments; the limit on error is no reading."""
        return {name: _reading_limit(limit) for name, limit in self.limits.items() if name != ERROR}

    @property
    def error_limit(self) -> float | None:
        """The error tolerated, as a share of the answer."""
        return _reading_limit(self.limits[ERROR]).at_most if ERROR in self.limits else None

    def public(self, defaults: bool = False) -> dict[str, Any]:
        """The plan as it may be shown, as plain values: of the table its name, nothing of its address."""
        said = self.model_dump(mode="json", exclude_defaults=not defaults)
        said["data"]["table"] = self.data.public_name
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


def _reading_limit(limit: float | Limit) -> ReadingLimit:
    if isinstance(limit, Limit):
        return ReadingLimit(limit.at_most, dict(limit.model_extra or {}))
    return ReadingLimit(float(limit), {})
