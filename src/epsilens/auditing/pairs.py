"""Neighbouring tables made from a plan: where a release that goes wrong would show it.

The pair matters more than the runs. Each pair is a table of made-up rows without a person and with them (with
``replace``: with other rows of theirs), and the person is placed where implementations fail: with values at the bounds
and far beyond, with more rows than the plan uses, alone in a group or with one other, without values, with numbers that
overflow, among rows in another order. Where a group is published from a threshold on, the person's group lacks one
person to it, so that its name, and then its number, tell of them. Both tables are in memory; no value of the plan's own
table is looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from ..data.tables.conditions import columns_of
from ..data.tables.open import open_table
from ..errors import InputError
from ..plan.needs import needs_of
from ..plan.noise import contribution, threshold_of
from ..plan.plan import Release
from ..plan.words import Size
from ..publish.synthetic import made_up
from ..worlds import Neighbours

__all__ = ["Kind", "Pair", "Rows", "pairs_of", "unread"]

_OTHERS = 40  # rows of other people
_MADE = 400  # rows from which those are taken that the plan covers
_FAR = 100.0  # times the bounds
_MANY = 20  # rows, or ten times what the plan uses
_ROWS = 100_000  # of one person, at most
_CROWD = 50_000  # people put into a group so that it is near its threshold
_SEED = 20261116

Row = dict[str, Any]


class Kind(StrEnum):
    """How the person of a pair is placed."""

    EXPOSED = "exposed"  # of the people there are, the one whose values the fewest share
    AT = "at the bounds"
    BEYOND = "beyond the bounds"
    MANY = "many rows"
    ALONE = "alone in a group"
    TWO = "one of two in a group"
    MISSING = "without values"
    OVERFLOW = "overflow"
    ORDER = "rows in another order"


@dataclass(frozen=True, eq=False)
class Pair:
    """Two Arrow tables that differ in one person's rows."""

    kind: Kind
    first: Any
    second: Any


def unread(plan: Release) -> Release:
    """The same plan for rows that are as its forms read them already."""
    return plan.model_copy(update={"data": plan.data.model_copy(update={"read": {}})})


def pairs_of(plan: Release, table: Any = None, engine: Any = None, kinds: Iterable[Kind] | None = None) -> list[Pair]:
    """The pairs that apply to a plan, in the order of :class:`Kind`; ``table`` only says which columns there are.

    >>> import pyarrow as pa
    >>> from epsilens.plan.file import read_release
    >>> plan = read_release({"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}})
    >>> made = pairs_of(plan, pa.table({"x": [1.0]}))
    >>> [(p.kind.value, p.second.num_rows - p.first.num_rows) for p in made]
    [('exposed', 1), ('at the bounds', 1), ('rows in another order', 1)]
    """
    rows = Rows(plan, table, engine)
    asked = tuple(Kind) if kinds is None else tuple(kinds)
    makers: dict[Kind, tuple[bool, Callable[[], tuple[list[Row], list[Row]]]]] = {
        Kind.EXPOSED: (True, rows.exposed),
        Kind.AT: (True, lambda: rows.beside(rows.others, rows.person(rows.far_end))),
        Kind.BEYOND: (bool(rows.bounds), lambda: rows.beside(rows.others, rows.person(rows.beyond))),
        Kind.MANY: (plan.data.several, rows.many),
        Kind.ALONE: (bool(rows.labels), lambda: rows.beside(rows.elsewhere, rows.person(rows.far_end))),
        Kind.TWO: (bool(rows.labels), rows.two),
        Kind.MISSING: (rows.missing_allowed, rows.missing),
        Kind.OVERFLOW: (bool(rows.bounds), rows.overflow),
        Kind.ORDER: (True, rows.order),
    }
    made = []
    for kind in asked:
        applies, make = makers[kind]
        if applies:
            first, second = make()
            made.append(Pair(kind, rows.table(first), rows.table(second)))
    return made


class Rows:
    """Made-up rows of a plan, and those of the person a pair is about."""

    def __init__(self, plan: Release, table: Any = None, engine: Any = None) -> None:
        self.plan = plan
        made = made_up(plan, table, engine, rows=_MADE)
        self.schema = made.schema
        self.data = plan.data
        self.rng = np.random.default_rng(_SEED)
        self.bounds = self._bounds()
        every = made.to_pylist()
        if any(q.size is Size.PUBLIC for q in plan.queries):  # a public size wants a value in every row
            every = [row for row in every if all(row[name] is not None for name in self.bounds)]
        if not every:
            raise InputError("the plan's columns cannot be made up: audit another table's release", parameter="plan")
        self.template = every[self._covered(made.from_pylist(every, schema=self.schema))]
        self.others = self._crowded([self._renamed(row, i // 2 + 1) for i, row in enumerate(every[:_OTHERS])])

    # -- what the plan says --------------------------------------------------------------------------------------

    def _bounds(self) -> dict[str, tuple[float, float]]:
        """The widest bounds of each column that is summed or averaged."""
        found: dict[str, tuple[float, float]] = {}
        for query in self.plan.queries:
            name = query.planned().column
            if query.bounds is not None and name is not None:
                low, high = found.get(name, query.bounds)
                found[name] = (min(low, query.bounds[0]), max(high, query.bounds[1]))
        return found

    @cached_property
    def labels(self) -> dict[str, Any]:
        """The group that the person is in, by column: the last one listed, else that of the template."""
        found: dict[str, Any] = {}
        for query in self.plan.queries:
            listed = [label for label in query.labels or () if None not in label]
            own = listed[-1] if listed else tuple(self.template.get(name) for name in query.split_by)
            for name, part in zip(query.split_by, own, strict=True):
                if name in self.schema.names:
                    found.setdefault(name, self._cast(part, name))
        return found

    @cached_property
    def listed(self) -> list[dict[str, Any]]:
        """Every listed group of the query with most of them, by column."""
        most = max(self.plan.queries, key=lambda q: len(q.labels or ()))
        return [
            {name: self._cast(part, name) for name, part in zip(most.split_by, label, strict=True)}
            for label in most.labels or ()
        ]

    @property
    def missing_allowed(self) -> bool:
        """Whether rows may lack a value, and some column could."""
        public = any(q.size is Size.PUBLIC for q in self.plan.queries)
        return not public and bool(self.bounds or self.labels)

    @property
    def elsewhere(self) -> list[Row]:
        """The other people who are in none of the person's groups."""
        return [row for row in self.others if all(row[name] != part for name, part in self.labels.items())]

    def _crowded(self, others: list[Row]) -> list[Row]:
        """The others, with as many in the person's group as lack one to its threshold: far below nothing is seen.

        With the person the name appears as often as not then, and without them up to e^ε times less often. Of several
        thresholds the largest counts: groups with smaller ones are published, and their numbers seen. Whoever is there
        already goes, as those with rows in two groups may count in the other.
        """
        wanted = 0
        for i in range(len(self.plan.queries)):
            threshold = threshold_of(self.plan, i, self.plan.epsilon)
            if threshold is not None:
                wanted = max(wanted, math.ceil(threshold / contribution(self.plan, i).alone_as) - 1)
        if not 0 < wanted <= _CROWD:
            return others
        owner = self.data.owner or ""
        inside = [row for row in others if all(row[name] == part for name, part in self.labels.items())]
        gone = {row[owner] for row in inside} if owner else set()
        rest = [row for row in others if row not in inside and row.get(owner) not in gone]
        crowd = [row for i in range(wanted) for row in self.person(self.near_end, number=_OTHERS + 2 + i)]
        return [*rest, *crowd]

    def _covered(self, made: Any) -> int:
        """The place of the row that most queries cover."""
        if not any(q.planned().where for q in self.plan.queries):
            return 0
        place = "epsilens row"
        with open_table(made.append_column(place, [list(range(made.num_rows))])) as opened:
            table = opened.table
            flags = {f"c{n.position}": n.query.rows(table) for n in needs_of(table, unread(self.plan))}
            got = opened.engine.fetch(table.select(place=table[place], **flags)).to_pylist()
        best = max(got, key=lambda row: (sum(bool(row[name]) for name in flags), -row["place"]))
        return int(best["place"])

    # -- values --------------------------------------------------------------------------------------------------

    def far_end(self, name: str) -> float:
        """The bound that is farthest from 0."""
        return max(self.bounds[name], key=abs)

    def near_end(self, name: str) -> float:
        """The other one."""
        return min(self.bounds[name], key=abs)

    def beyond(self, name: str) -> float:
        """Far outside the bounds, on the side of the farthest."""
        low, high = self.bounds[name]
        far = self.far_end(name)
        return far + math.copysign(_FAR * max(high - low, abs(far)), far - (low + high) / 2)

    def largest(self, name: str) -> float:
        """As large as a number gets, on the side of the farthest bound."""
        return math.copysign(1e308, self.far_end(name) - sum(self.bounds[name]) / 2)

    def _cast(self, value: Any, name: str) -> Any:
        """A value as the column holds it, cut to what its type holds."""
        import pyarrow.types as kinds

        kind = self.schema.field(name).type
        if value is None:
            return None
        if kinds.is_integer(kind):
            within = np.iinfo(kind.to_pandas_dtype())
            return int(min(max(int(value), int(within.min)), int(within.max)))
        if kinds.is_decimal(kind):
            most = Decimal(10 ** (kind.precision - kind.scale) - 1)
            exact = Decimal(str(value)) if abs(float(value)) < float(most) else most.copy_sign(Decimal(str(value)))
            return exact.quantize(Decimal(1).scaleb(-kind.scale)) if exact.is_finite() else None
        if kinds.is_floating(kind):
            return float(min(max(float(value), -1e38), 1e38)) if kind.bit_width < 64 else float(value)
        if kinds.is_string(kind) or kinds.is_large_string(kind):
            return str(value)
        return value

    # -- rows ----------------------------------------------------------------------------------------------------

    def table(self, rows: Sequence[Row]) -> Any:
        """Rows as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_pylist(list(rows), schema=self.schema)

    def _renamed(self, row: Row, number: int) -> Row:
        """The row of another person; units are people of their own."""
        named = {}
        for name in (self.data.person, self.data.unit):
            if name is not None:
                text = self.schema.field(name).type
                named[name] = f"person {number}" if str(text).endswith("string") else number
        return {**row, **named}

    def person(
        self, value: Callable[[str], Any] | None, rows: int | None = None, number: int = 0, **labels: Any
    ) -> list[Row]:
        """The person's rows: as many as the plan uses, in one group, with these values."""
        count = min(self.data.max_rows if rows is None else rows, _ROWS) if self.data.several else 1
        held = {name: self._cast(value(name), name) if value else None for name in self.bounds}
        one = self._renamed({**self.template, **self.labels, **labels, **held}, number)
        return [dict(one) for _ in range(count)]

    def beside(self, others: list[Row], theirs: list[Row]) -> tuple[list[Row], list[Row]]:
        """The others without the person, and with them; with ``replace`` there are other rows of theirs instead."""
        first = self.replaced(theirs) if self.plan.mechanism.neighbours is Neighbours.REPLACE else []
        return [*others, *first], [*others, *theirs]

    def replaced(self, theirs: list[Row]) -> list[Row]:
        """As many rows of the same person with the other bound, and in another group unless sizes are public."""
        public = any(q.size is Size.PUBLIC for q in self.plan.queries)
        held = {name: self._cast(self.near_end(name), name) for name in self.bounds}
        other: dict[str, Any] = {}
        if not public:
            for label in self.listed[:1]:
                other = {name: part for name, part in label.items() if self.labels.get(name) != part}
        return [{**row, **held, **other} for row in theirs]

    def exposed(self) -> tuple[list[Row], list[Row]]:
        """The most exposed of the others: their values in the columns that an attacker or the plan sees are rarest."""
        seen = {*self.labels, *self.data.quasi_identifiers}
        for query in self.plan.queries:
            where = query.planned().where
            seen |= set(columns_of(where)) if where else set()
        names = sorted(seen & set(self.schema.names))

        def key(row: Row) -> tuple[str, ...]:
            return tuple(repr(row[name]) for name in names)

        owner = self.data.owner
        if owner is None:
            shared = Counter(key(row) for row in self.others)
            at = min(range(len(self.others)), key=lambda i: shared[key(self.others[i])])
            theirs, rest = [self.others[at]], self.others[:at] + self.others[at + 1 :]
        else:
            shared = Counter(k for k, _ in {(key(row), row[owner]) for row in self.others})
            rows = Counter(row[owner] for row in self.others)
            most = min(self.others, key=lambda row: (shared[key(row)], -rows[row[owner]]))[owner]
            theirs = [row for row in self.others if row[owner] == most]
            rest = [row for row in self.others if row[owner] != most]
        return self.beside(rest, theirs)

    def many(self) -> tuple[list[Row], list[Row]]:
        """Many more rows than the plan uses, over all groups in turn."""
        count = max(_MANY, 10 * self.data.max_rows)
        rows = self.person(self.far_end, rows=count)
        for i, row in enumerate(rows):
            row.update(self.listed[i % len(self.listed)] if self.listed else {})
        return self.beside(self.others, rows)

    def two(self) -> tuple[list[Row], list[Row]]:
        """One other person is in the group."""
        other = self.person(self.far_end, number=_OTHERS + 1)
        return self.beside([*self.elsewhere, *other], self.person(self.far_end))

    def missing(self) -> tuple[list[Row], list[Row]]:
        """NULL in the values; then NaN, and NULL as the name of the group, where there are rows for it."""
        rows = self.person(None)
        for row in rows[1::3]:
            row.update({name: self._nan(name) for name in self.bounds})
        for row in rows[2::3]:
            row.update(dict.fromkeys(self.labels))
            row.update({name: self._cast(self.far_end(name), name) for name in self.bounds})
        return self.beside(self.others, rows)

    def _nan(self, name: str) -> float | None:
        import pyarrow.types as kinds

        return math.nan if kinds.is_floating(self.schema.field(name).type) else None

    def overflow(self) -> tuple[list[Row], list[Row]]:
        """Others and the person have the largest numbers there are: sums before clamping would overflow."""
        others = [{**row, **{n: self._cast(self.largest(n), n) for n in self.bounds}} for row in self.others]
        return self.beside(others, self.person(self.largest))

    def order(self) -> tuple[list[Row], list[Row]]:
        """The person comes first and the others are in another order."""
        first, second = self.beside(self.others, self.person(self.far_end))
        turned = [second[i] for i in self.rng.permutation(len(second)).tolist()]
        return first, turned
