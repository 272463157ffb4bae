"""What a plan asks of which table: the data with its people and their secret, and the planned queries.

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

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from ..data.queries import Query, QueryKind, other_bounds
from ..data.tables.address import masked
from ..data.tables.columns import As, Form, Order
from ..data.tables.sources import names
from .select import from_sql
from .words import Misplaced, Part, Share, Size, Threshold

#: The name of a group by one column, as YAML writes it; null is the group of those with no value.
Label = str | int | float | bool | None


class Secret(Part):
    """What the attacker wants to learn: a name for prose, the condition that says it, the columns that tell it too."""

    name: str | None = Field(None, min_length=1, max_length=200, description="what it is called in a sentence")
    where: str = Field(min_length=1, description="the condition on a row that makes it true")
    columns: tuple[str, ...] = Field((), description="other columns that give it away, a drug say")


class Read(Part):
    """How the text of a column is read; ``Ward: category`` is short for ``Ward: {as: category}``."""

    model_config = ConfigDict(validate_by_name=True)

    kind: As = Field(alias="as", description="a number, a date, a category, a code or text")
    decimal: Literal[".", ","] = Field(".", description="the sign before the fraction of a number")
    order: Order = Field(Order.YEAR_FIRST, description="how a date is written")
    empty: tuple[str, ...] = Field((), max_length=100, description="texts that stand for no value, in any capitals")

    @model_validator(mode="after")
    def _fits(self) -> Read:
        for name, kind in (("decimal", As.NUMBER), ("order", As.DATE)):
            if name in self.model_fields_set and self.kind is not kind:
                raise Misplaced(f"{name} is for columns read as a {kind}: leave it out", name)
        return self

    @property
    def form(self) -> Form:
        """The same for those who read."""
        return Form(self.kind, self.decimal, self.order, self.empty)


class Data(Part):
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
                    raise Misplaced(f"{name} needs person: without it every row is a person", name)
        if self.unit is not None and self.unit == self.person:
            raise Misplaced("unit is the person column: leave it out, or name the column of the household", "unit")
        return self

    @property
    def called(self) -> str:
        """What the table is called in public: by the name it was given, or one of ours. Nothing of an address.

        >>> Data(table="/home/me/people.csv").called, Data(table="epsilens:adult").called
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
    def forms(self) -> dict[str, Form]:
        """How columns of text are read."""
        return {name: read.form for name, read in self.read.items()}

    @property
    def hidden(self) -> Secret | None:
        """The secret with all that is said about it, however briefly it was written."""
        return Secret(where=self.secret) if isinstance(self.secret, str) else self.secret


class ReleaseQuery(Part):
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
        return from_sql(value) if isinstance(value, Mapping) and value.get("sql") is not None else value

    @model_validator(mode="after")
    def _one(self) -> ReleaseQuery:
        kinds = [kind for kind, asked in self._asked.items() if asked not in (None, False)]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none of them"
            raise ValueError(f"a query is one of count, sum, average or histogram: it has {found}")
        kind = kinds[0]
        if kind.bounded and self.bounds is None:
            raise Misplaced(f"{kind} needs bounds: [least, largest]", "bounds")
        if kind.bounded and self.bounds is not None and (wanted := other_bounds(*self.bounds)):
            low, high = self.bounds
            raise Misplaced(f"bounds are {low:g} and {high:g}: {wanted}", "bounds")
        if kind is QueryKind.COUNT and isinstance(self.count, str) and self.where:
            raise Misplaced("count has its condition already: leave out where", "where")
        if self.rows and kind.bounded:
            raise Misplaced(f"rows is for count and histogram: a {kind} adds up rows already", "rows")
        if self.touched is not None and (kind.bounded or self.rows or not self.split_by):
            raise Misplaced(
                "touched is for people counted by groups: of rows and sums a limit may leave out any amount, and "
                "without by nobody",
                "touched",
            )
        if self.size is Size.PUBLIC and kind is not QueryKind.AVERAGE:
            raise Misplaced(f"size is for average: a {kind} is divided by nothing", "size")
        if self.epsilon is not None and self.share is not None:
            raise Misplaced("give the query's epsilon or its share of the total, not both", "share")
        return self

    @model_validator(mode="after")
    def _names(self) -> ReleaseQuery:
        wide = len(self.split_by)
        if not wide and (self.groups is not None or self.threshold is not None):
            named = "groups" if self.groups is not None else "threshold"
            raise Misplaced(f"{named} needs by: without it there is one answer", named)
        if self.groups is not None and self.threshold is not None:
            raise Misplaced("groups are public and need no threshold: leave one of them out", "threshold")
        if isinstance(self.threshold, float) and self.threshold < 1:
            raise Misplaced(f"threshold is {self.threshold:g}: give 1 person or more, or auto", "threshold")
        for i, label in enumerate(self.groups or ()):
            if (len(label) if isinstance(label, tuple) else 1) != wide:
                raise Misplaced(f"a group here needs {wide} names, one for each column of by", "groups", i)
        if len(set(map(repr, self.groups or ()))) < len(self.groups or ()):
            raise Misplaced("groups has a name twice: give each once", "groups")
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

    def planned(self) -> Query:
        """The query as the data engine takes it."""
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        asked, kind = self._asked[self.kind], self.kind
        if kind is QueryKind.COUNT:
            return Query(kind, None, asked if isinstance(asked, str) else self.where, by, None, self.name or "")
        return Query(kind, str(asked), self.where, by, self.bounds, self.name or "")
