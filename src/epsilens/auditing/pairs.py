"""Neighbouring tables made from a plan: where a release that goes wrong would show it.

The pair matters more than the runs. Each pair is a table of made-up rows without a person and with them (with
``replace``: with other rows of theirs), and the person is placed where implementations fail: with values at the bounds
and far beyond, with more rows than the plan uses, alone in a group or with one other, without values, with numbers that
overflow, among rows in another order, with thousands of groups that nobody else is in, with rows whose values, or whose
groups, are missing. Where a group is published from a threshold on, the person's group lacks one person to it, so that
its name, and then its number, tell of them. Where the plan names a secret, two tables agree in all but the columns that
tell it. Both tables are in memory; no value of the plan's own table is looked at.

:meth:`Rows.worlds` gives the same pairs as lists of rows, for whoever judges a plan by the definition of its cells.

Neighbouring tables made from a table, for a pipeline whose plan nobody has written down.

Only one person's rows differ. The person is the one whose values the fewest others share; they are left out, given
values far beyond all others, none at all, or many rows, also with texts that nobody else has, and the rows come in
another order. Files are written as the table is: CSV or Parquet.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from itertools import chain, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.tables.conditions import columns_of, condition
from ..data.tables.table import open_table
from ..errors import InputError
from ..plan.cells import Cells, cells_of_rows, draws_of, unit_of
from ..plan.contribution import NoisyNumber, contribution, threshold_of
from ..plan.model import Release, Size
from ..plan.scan_plan import needs_of
from ..publish.release import synthetic_rows
from ..worlds import Relation

if TYPE_CHECKING:
    import pyarrow as pa

_OTHER_ROWS = 40  # rows of other people
_MADE_UP_ROWS = 400  # rows from which those are taken that the plan covers
_FAR_FACTOR = 100.0  # times the bounds
_MANY_ROWS = 20  # rows, or ten times what the plan uses
_MOST_PERSON_ROWS = 100_000  # of one person, at most
_OWN_GROUPS = 3_000  # groups that one person is in and nobody else, or ten times what the plan uses
_MOST_OWN_GROUPS = 9_000  # of them, within what a release has at all
_SECRET_PEOPLE, _SECRET_TELLINGS = 12, 60  # people and ways to say the secret, of which that is taken that moves most
_MOST_CROWD = 50_000  # people put into a group so that it is near its threshold
_SEED = 20261116

Row = dict[str, Any]


class PairKind(StrEnum):
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
    OWN = "many groups of their own"
    EMPTY = "groups of their own without values"
    UNNAMED = "without a group"
    SECRET = "the secret alone"  # both tables have the person: only the secret's columns differ


@dataclass(frozen=True, eq=False)
class NeighbourTables:
    """Two Arrow tables that differ in one person's rows."""

    kind: PairKind
    first: pa.Table
    second: pa.Table


def without_read_forms(plan: Release) -> Release:
    """The same plan for rows that are as its forms read them already."""
    return plan.model_copy(update={"data": plan.data.model_copy(update={"read": {}})})


def plan_pairs(
    plan: Release, table: object = None, engine: object = None, kinds: Iterable[PairKind] | None = None
) -> list[NeighbourTables]:
    """The pairs that apply to a plan, in the order of :class:`Kind`; ``table`` only says which columns there are.

    >>> import pyarrow as pa
    >>> from epsilens.plan.file import read_release
    >>> plan = read_release({"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}})
    >>> made = plan_pairs(plan, pa.table({"x": [1.0]}))
    >>> [(p.kind.value, p.second.num_rows - p.first.num_rows) for p in made]
    [('exposed', 1), ('at the bounds', 1), ('rows in another order', 1)]
    """
    rows = MadeUpRows(plan, table, engine)
    return [NeighbourTables(kind, rows.table(first), rows.table(second)) for kind, first, second in rows.worlds(kinds)]


class MadeUpRows:
    """Made-up rows of a plan, and those of the person a pair is about."""

    def __init__(self, plan: Release, table: object = None, engine: object = None) -> None:
        self.plan = plan
        made = synthetic_rows(plan, table, engine, rows=_MADE_UP_ROWS)
        self.schema = made.schema
        self.data = plan.data
        self.rng = np.random.default_rng(_SEED)
        self.bounds = self._bounds()
        every = made.to_pylist()
        self.public_sizes = any(q.size is Size.PUBLIC for q in plan.queries)
        if self.public_sizes:  # which want a value in every row
            every = [row for row in every if all(row[name] is not None for name in self.bounds)]
        if not every:
            raise InputError("the plan's columns cannot be made up: audit another table's release", parameter="plan")
        self.made = every
        self.template = every[self._covered(made.from_pylist(every, schema=self.schema))]
        self.others = self._crowded([self._renamed(row, i // 2 + 1) for i, row in enumerate(every[:_OTHER_ROWS])])

    def worlds(self, kinds: Iterable[PairKind] | None = None) -> Iterator[tuple[PairKind, list[Row], list[Row]]]:
        """The rows of both worlds of each pair that applies; they differ in one person, or in their secret alone."""
        makers: dict[PairKind, tuple[bool, Callable[[], tuple[list[Row], list[Row]]]]] = {
            PairKind.EXPOSED: (True, self.exposed),
            PairKind.AT: (True, lambda: self.beside(self.others, self.person(self.far_end))),
            PairKind.BEYOND: (bool(self.bounds), lambda: self.beside(self.others, self.person(self.beyond))),
            PairKind.MANY: (self.data.several, self.many),
            PairKind.ALONE: (bool(self.labels), lambda: self.beside(self.elsewhere, self.person(self.far_end))),
            PairKind.TWO: (bool(self.labels), self.two),
            PairKind.MISSING: (self.missing_allowed, self.missing),
            PairKind.OVERFLOW: (bool(self.bounds), self.overflow),
            PairKind.ORDER: (True, self.order),
            PairKind.OWN: (bool(self.fresh), lambda: self.own(self.far_end)),
            PairKind.EMPTY: (bool(self.fresh and self.bounds) and self.missing_allowed, lambda: self.own(None)),
            PairKind.UNNAMED: (bool(self.labels), self.unnamed),
            PairKind.SECRET: (bool(self.tellings), self.secret),
        }
        for kind in tuple(PairKind) if kinds is None else tuple(kinds):
            applies, make = makers[kind]
            if applies:
                yield (kind, *make())

    def _bounds(self) -> dict[str, tuple[float, float]]:
        """The widest bounds of each column that is summed or averaged."""
        found: dict[str, tuple[float, float]] = {}
        for query in self.plan.queries:
            name = query.to_query().column
            if query.bounds is not None and name is not None:
                low, high = found.get(name, query.bounds)
                found[name] = (min(low, query.bounds[0]), max(high, query.bounds[1]))
        return found

    @cached_property
    def labels(self) -> Row:
        """The group that the person is in, by column: the last one listed, else that of the template."""
        found: Row = {}
        for query in self.plan.queries:
            listed = [label for label in query.labels or () if None not in label]
            own = listed[-1] if listed else tuple(self.template.get(name) for name in query.split_by)
            for name, part in zip(query.split_by, own, strict=True):
                if name in self.schema.names:
                    found.setdefault(name, self._cast(part, name))
        return found

    @cached_property
    def listed(self) -> list[Row]:
        """Every listed group of the query with most of them, by column."""
        most = max(self.plan.queries, key=lambda q: len(q.labels or ()))
        return [
            {name: self._cast(part, name) for name, part in zip(most.split_by, label, strict=True)}
            for label in most.labels or ()
        ]

    @cached_property
    def fresh(self) -> list[Row]:
        """Groups whose names come from the data and that nobody is in, by column: none where a plan lists them all."""
        unlisted = [query.split_by for query in self.plan.queries if query.labels is None]
        firsts = [[name for name in split if self._new(name, 0) is not None][:1] for split in unlisted]
        names = dict.fromkeys(chain.from_iterable(firsts))
        wanted = max(_OWN_GROUPS, 10 * self.data.max_rows, 10 * (self.data.max_groups or 1)) if self.data.several else 1
        count = min(wanted, _MOST_OWN_GROUPS) if names else 0
        return [{name: self._new(name, i) for name in names} for i in range(count)]

    def _new(self, name: str, i: int) -> object:
        """A value of a column that nobody has; None where its type has none to spare."""
        import pyarrow.types as kinds

        kind = self.schema.field(name).type
        if kinds.is_string(kind) or kinds.is_large_string(kind):
            return f"own {i}"
        if kinds.is_integer(kind):
            return 1_000_000 + i if np.iinfo(kind.to_pandas_dtype()).max > 2_000_000 else None
        if kinds.is_floating(kind):
            return float(1_000_000 + i)
        if kinds.is_date(kind):
            return date(1800, 1, 1) + timedelta(days=i)
        return datetime(1800, 1, 1) + timedelta(days=i) if kinds.is_timestamp(kind) else None

    @cached_property
    def tellings(self) -> list[tuple[Row, Row]]:
        """Ways to say the secret, (false, true), by the columns that tell it: numbers at their bounds, made-up values.

        None without a secret, or where no row that could be made up has it, or none lacks it.
        """
        secret = self.data.hidden
        names = sorted(set(columns_of(secret.where)) | set(secret.columns)) if secret is not None else []
        if secret is None or not set(names) <= set(self.schema.names):
            return []
        ends = {name: [self.near_end(name), self.far_end(name)] for name in names if name in self.bounds}
        some = {name: [*ends.get(name, []), *(row[name] for row in self.made)] for name in names}
        each = [list(dict.fromkeys(self._cast(value, name) for value in some[name]))[:8] for name in names]
        said = [dict(zip(names, values, strict=True)) for values in islice(product(*each), 4_096)]
        with open_table(self.table([{**self.template, **one} for one in said])) as opened:
            holds = condition(opened.table, secret.where, "secret").fill_null(False)
            got = opened.engine.fetch(opened.table.select(holds=holds)).column("holds").to_pylist()
        true = [one for one, held in zip(said, got, strict=True) if held]
        false = [one for one, held in zip(said, got, strict=True) if not held]

        def apart(pair: tuple[Row, Row]) -> float:
            return -math.fsum(abs(float(pair[0][n] or 0) - float(pair[1][n] or 0)) for n in ends)

        return sorted(product(false[:64], true[:64]), key=apart)[:_SECRET_TELLINGS]

    @property
    def missing_allowed(self) -> bool:
        """Whether rows may lack a value, and some column could."""
        return not self.public_sizes and bool(self.bounds or self.labels)

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
                wanted = max(wanted, math.ceil(threshold / contribution(self.plan, i).owner_size) - 1)
        if not 0 < wanted <= _MOST_CROWD:
            return others
        owner = self.data.owner or ""
        inside = [row for row in others if all(row[name] == part for name, part in self.labels.items())]
        gone = {row[owner] for row in inside} if owner else set()
        rest = [row for row in others if row not in inside and row.get(owner) not in gone]
        crowd = [row for i in range(wanted) for row in self.person(self.near_end, number=_OTHER_ROWS + 2 + i)]
        return [*rest, *crowd]

    def _covered(self, made: pa.Table) -> int:
        """The place of the row that most queries cover."""
        if not any(q.to_query().where for q in self.plan.queries):
            return 0
        place = "epsilens row"
        with open_table(made.append_column(place, [list(range(made.num_rows))])) as opened:
            table = opened.table
            flags = {f"c{n.position}": n.query.rows(table) for n in needs_of(table, without_read_forms(self.plan))}
            got = opened.engine.fetch(table.select(place=table[place], **flags)).to_pylist()
        best = max(got, key=lambda row: (sum(bool(row[name]) for name in flags), -row["place"]))
        return int(best["place"])

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
        return far + math.copysign(_FAR_FACTOR * max(high - low, abs(far)), far - (low + high) / 2)

    def largest(self, name: str) -> float:
        """As large as a number gets, on the side of the farthest bound."""
        return math.copysign(1e308, self.far_end(name) - sum(self.bounds[name]) / 2)

    def _cast(self, value: Any, name: str) -> object:
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

    def table(self, rows: Sequence[Row]) -> pa.Table:
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
        self, value: Callable[[str], float] | None, rows: int | None = None, number: int = 0, **labels: object
    ) -> list[Row]:
        """The person's rows: as many as the plan uses, in one group, with these values."""
        count = min(self.data.max_rows if rows is None else rows, _MOST_PERSON_ROWS) if self.data.several else 1
        held = {name: self._cast(value(name), name) if value else None for name in self.bounds}
        one = self._renamed({**self.template, **self.labels, **labels, **held}, number)
        return [dict(one) for _ in range(count)]

    def beside(self, others: list[Row], theirs: list[Row]) -> tuple[list[Row], list[Row]]:
        """The others without the person, and with them; with ``replace`` there are other rows of theirs instead."""
        first = self.replaced(theirs) if self.plan.mechanism.neighbours is Relation.REPLACE else []
        return [*others, *first], [*others, *theirs]

    def replaced(self, theirs: list[Row]) -> list[Row]:
        """As many rows of the same person with the other bound, and in another group unless sizes are public."""
        held = {name: self._cast(self.near_end(name), name) for name in self.bounds}
        first = self.listed[0] if self.listed and not self.public_sizes else {}
        other = {name: part for name, part in first.items() if self.labels.get(name) != part}
        return [{**row, **held, **other} for row in theirs]

    def exposed(self) -> tuple[list[Row], list[Row]]:
        """The most exposed of the others: their values in the columns that an attacker or the plan sees are rarest."""
        seen = {*self.labels, *self.data.quasi_identifiers}
        for query in self.plan.queries:
            where = query.to_query().where
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
        """Many more rows than the plan uses, over all groups in turn; of a unit, each of another member."""
        count = max(_MANY_ROWS, 10 * self.data.max_rows)
        rows = self._members(self.person(self.far_end, rows=count))
        for i, row in enumerate(rows):
            row.update(self.listed[i % len(self.listed)] if self.listed else {})
        return self.beside(self.others, rows)

    def own(self, value: Callable[[str], float] | None) -> tuple[list[Row], list[Row]]:
        """One person, or unit, alone in each of thousands of groups, with these values or none."""
        rows = self._members(self.person(value, rows=len(self.fresh)))
        first, _ = self.beside(self.others, rows)  # with ``replace``, in a group that others are in
        return first, [*self.others, *({**row, **label} for row, label in zip(rows, self.fresh, strict=True))]

    def unnamed(self) -> tuple[list[Row], list[Row]]:
        """NULL as the name of the person's group, in which there is nobody else."""
        others = [row for row in self.others if all(row[name] is not None for name in self.labels)]
        return self.beside(others, [{**row, **dict.fromkeys(self.labels)} for row in self.person(self.far_end)])

    def secret(self) -> tuple[list[Row], list[Row]]:
        """The person in both worlds, in twice as many rows as count, every other one at the other bounds, or any other.

        The secret becomes true in one row or in all. Which rows count is a matter of luck: of some people, and of some
        ways to say the secret, it is those whose cells move most.
        """
        found = self._moved()
        told, whose = {name for pair in self.tellings for name in pair[0]}, {self.data.person, self.data.unit}
        best: tuple[float, list[Row], list[Row]] = (-1.0, [], [])
        tellings = self.tellings[: _SECRET_TELLINGS // _SECRET_PEOPLE]
        for number, (false, true) in product(range(_SECRET_PEOPLE), tellings):
            rows = self.person(self.far_end, rows=2 * self.data.max_rows, number=_OTHER_ROWS + 100 + number)
            near = {n: self._cast(self.near_end(n), n) for n in self.bounds} | (self.listed[0] if self.listed else {})
            other = {**self.made[number % len(self.made)], **near} if number % 2 else near
            for row in rows[::2]:
                row.update({name: value for name, value in other.items() if name not in told | whose})
            first = [{**row, **false} for row in rows]
            for second in ([{**first[0], **true}, *first[1:]], [{**row, **true} for row in rows]):
                moves = found(first, second)
                if moves > best[0]:
                    best = (moves, first, second)
        return [*self.others, *best[1]], [*self.others, *best[2]]

    def _moved(self) -> Callable[[list[Row], list[Row]], float]:
        """By how many scales of their noise the cells of two lists of rows differ; names that differ count as much."""
        with open_table(self.table([self.template])) as opened:
            schema = opened.table.schema()
        try:
            found = cells_of_rows(without_read_forms(self.plan), {name: str(kind) for name, kind in schema.items()})
        except InputError:  # a condition that the definition does not say: any person will do
            return lambda first, second: 0.0
        scales = [
            {noisy: draw.scale / float(unit_of(self.plan, i, noisy)) for noisy, draw in draws_of(self.plan, i).items()}
            for i in range(len(self.plan.queries))
        ]

        def moves(first: list[Row], second: list[Row]) -> float:
            return math.fsum(
                _cells_distance(a, b, scales[a.query]) for a, b in zip(found(first), found(second), strict=True)
            )

        return moves

    def _members(self, rows: list[Row]) -> list[Row]:
        """Of a unit, each row of another member."""
        if self.data.unit is None or self.data.person is None:
            return rows
        text = str(self.schema.field(self.data.person).type).endswith("string")
        names = (f"member {i}" if text else 1_000_000 + i for i in range(len(rows)))
        return [{**row, self.data.person: name} for row, name in zip(rows, names, strict=True)]

    def two(self) -> tuple[list[Row], list[Row]]:
        """One other person is in the group."""
        other = self.person(self.far_end, number=_OTHER_ROWS + 1)
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


def _cells_distance(one: Cells, other: Cells, scales: dict[NoisyNumber, float]) -> float:
    """By how many scales of their noise the cells of a query differ."""
    total = float(len({*one.labels} ^ {*other.labels}))
    for noisy, scale in scales.items():
        here, there = (dict(zip(e.labels, e.numbers[noisy], strict=False)) for e in (one, other))
        total += sum(abs(float(here.get(k, 0) - there.get(k, 0))) for k in {*here, *there}) / scale
    return total


#: The pairs that a table alone gives.
TABLE_PAIR_KINDS = (PairKind.EXPOSED, PairKind.BEYOND, PairKind.MANY, PairKind.MISSING, PairKind.ORDER, PairKind.OWN)
_MOST_ROWS = 1_000_000
_TABLE_OWN_GROUPS = 300  # groups that nobody else is in


def table_pairs(
    table: object, person: str | None = None, kinds: tuple[PairKind, ...] = TABLE_PAIR_KINDS
) -> list[NeighbourTables]:
    """The pairs of a table; ``person`` is the column that says whose row it is, without it each row is a person.

    >>> import pyarrow as pa
    >>> made = table_pairs(pa.table({"site": ["a", "a", "b"], "x": [1, 2, 3]}))
    >>> [(p.kind.value, p.first.num_rows, p.second.num_rows, p.second.column("x").to_pylist()[-1]) for p in made][:2]
    [('exposed', 2, 3, 3), ('beyond the bounds', 2, 3, 300)]
    """
    rows, schema = _read_rows(table)
    if person is not None and person not in schema.names:
        raise InputError(
            f"person is {person[:60]!r}, which is no column of the table: it has {', '.join(schema.names[:12])}",
            parameter="person",
        )
    theirs, others = _most_exposed_rows(rows, person)
    numeric = [f.name for f in schema if _is_numeric(f.type) and f.name != person]
    texts = [f.name for f in schema if str(f.type).endswith("string") and f.name != person]

    def placed(kind: PairKind) -> list[Row] | None:
        """The rows with the person in them; None where the table allows no such pair."""
        match kind:
            case PairKind.EXPOSED:
                return [*others, *theirs]
            case PairKind.BEYOND if numeric:
                far = {name: _far_value(rows, name, schema) for name in numeric}
                return [*others, *({**row, **far} for row in theirs)]
            case PairKind.MANY if person is not None:
                return [*others, *(dict(row) for row in theirs for _ in range(_MANY_ROWS))]
            case PairKind.OWN if person is not None and texts:
                return [*others, *({**theirs[0], **dict.fromkeys(texts, f"own {i}")} for i in range(_TABLE_OWN_GROUPS))]
            case PairKind.MISSING if numeric:
                return [*others, *({**row, **dict.fromkeys(numeric)} for row in theirs)]
            case PairKind.ORDER:
                order = np.random.default_rng(_SEED).permutation(len(rows)).tolist()
                return [[*theirs, *others][i] for i in order]
        return None

    return [
        NeighbourTables(kind, _arrow_table(others, schema), _arrow_table(changed, schema))
        for kind in kinds
        if (changed := placed(kind)) is not None
    ]


def write_table(table: pa.Table, path: Path) -> Path:
    """The table as a file, CSV or Parquet by its ending."""
    if path.suffix.lower() in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    else:
        import pyarrow.csv as pc

        pc.write_csv(table, path)
    return path


def _read_rows(table: object) -> tuple[list[Row], pa.Schema]:
    with open_table(table) as opened:
        got = opened.engine.fetch(opened.table.limit(_MOST_ROWS + 1))
    if got.num_rows > _MOST_ROWS:
        raise InputError(
            f"table has more than {_MOST_ROWS:,} rows: give a smaller one, the pair matters more than its size", "table"
        )
    if got.num_rows < 2:
        raise InputError("table has fewer than two rows: give one with several people", parameter="table")
    return got.to_pylist(), got.schema


def _arrow_table(rows: list[Row], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=schema)


def _is_numeric(kind: pa.DataType) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _most_exposed_rows(rows: list[Row], person: str | None) -> tuple[list[Row], list[Row]]:
    """The rows of the person whose texts, then numbers, the fewest share; and those of all others."""
    names = [name for name in rows[0] if name != person]
    counts = {name: Counter(repr(row[name]) for row in rows) for name in names}

    def shared(row: Row) -> float:
        return math.fsum(math.log(counts[name][repr(row[name])]) for name in names)

    rarest = min(range(len(rows)), key=lambda i: shared(rows[i]))
    if person is None:
        return [rows[rarest]], rows[:rarest] + rows[rarest + 1 :]
    who = rows[rarest][person]
    return [r for r in rows if r[person] == who], [r for r in rows if r[person] != who]


def _far_value(rows: list[Row], name: str, schema: pa.Schema) -> float | int:
    """A hundred times the largest size there is, within what the column's type holds."""
    most = max((abs(row[name]) for row in rows if row[name] is not None and math.isfinite(row[name])), default=1)
    kind = schema.field(name).type
    if str(kind).startswith(("int", "uint")):
        return min(int(_FAR_FACTOR) * max(int(most), 1), int(np.iinfo(kind.to_pandas_dtype()).max))
    return float(min(_FAR_FACTOR * max(most, 1.0), float(np.finfo(kind.to_pandas_dtype()).max)))
