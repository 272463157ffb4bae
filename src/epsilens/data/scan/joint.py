"""Who is in which planned answers: one grouping in the engine by everything the queries look at.

Each planned query gives one answer per group and, where it has groups, their total. Counts go by people, each counted
once; sums and averages by rows with a value. A query is looked at twice where its condition holds more than the
attacker knows: with the people it covers, and (as an *open* side) with all whom its known part covers, whoever of them
has the secret. The second look finds the person whom two answers isolate also where that person has not the secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..queries import Query
from ..tables.columns import counted_once
from ..tables.conditions import open_terms
from ..tables.engines import Engine, need_ibis
from .request import ScanRequest

#: Beyond this many joint groups answers are reported as not compared.
MOST_CELLS = 5_000_000

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One query at one resolution: split by its groups, or all of them together.

    ``column`` numbers the columns ``m…`` and ``g…_…`` it is read from, ``index`` the query.
    """

    index: int
    column: int
    query: Query
    split: bool

    @property
    def keys(self) -> list[str]:
        """The columns of its groups."""
        return [f"g{self.column}_{j}" for j in range(len(self.query.groups))] if self.split else []

    def __str__(self) -> str:
        if self.query.groups and not self.split:
            return f"all groups of {self.query}"
        return str(self.query)


@dataclass(frozen=True)
class Family:
    """Queries whose answers add up: one aggregate, and for open sides one secret.

    ``aggregate`` is what must agree for two answers to be subtracted; ``secret`` the terms left open, None where the
    sides cover the people they cover.
    """

    aggregate: tuple[Any, ...]
    secret: tuple[Any, ...] | None
    sides: tuple[Side, ...]

    @property
    def counts(self) -> bool:
        """Whether people are counted, and not rows added up."""
        return self.aggregate == ("count",)

    @property
    def totals(self) -> tuple[Side, ...]:
        """Every side, and the total of each query with groups."""
        made = []
        for side in self.sides:
            made.append(side)
            if side.split:
                made.append(Side(side.index, side.column, side.query, False))
        return tuple(made)


def families_of(request: ScanRequest) -> tuple[Family, ...]:
    """The families of the planned queries: as they are, then with the secret left open."""
    queries, quasi = request.queries, request.quasi_identifiers
    made: dict[tuple[tuple[Any, ...], tuple[Any, ...] | None], list[Side]] = {}
    for i, query in enumerate(queries):
        made.setdefault((_aggregate(query), None), []).append(Side(i, i, query, bool(query.groups)))
    for i, query in enumerate(queries):
        terms = open_terms(query.where, quasi) if query.where else ()
        if terms:
            secret = (frozenset(terms), tuple(sorted(set(query.groups) - set(quasi))))
            side = Side(i, len(queries) + i, query, bool(query.groups))
            made.setdefault((_aggregate(query), secret), []).append(side)
    return tuple(Family(aggregate, secret, tuple(sides)) for (aggregate, secret), sides in made.items())


def _aggregate(query: Query) -> tuple[Any, ...]:
    return ("count",) if query.bounds is None else (query.kind, query.column, query.bounds)


@dataclass
class Joint:
    """The rows grouped by everything the queries look at: which answers they are in, how many, whose.

    ``low`` and ``high`` rank the least and largest person of each cell, ``n`` counts its rows; None where every row
    is a person. ``numbers`` remembers each side's number of the group a cell is in (−1 for none).
    """

    engine: Engine
    base: Any
    cells: Any
    n: Integers
    low: Integers | None
    high: Integers | None
    numbers: dict[Side, Integers] = field(default_factory=dict)
    firsts: dict[Side, Integers] = field(default_factory=dict)

    def ids(self, side: Side) -> Integers:
        """The number of the group each cell is in."""
        if side not in self.numbers:
            inside = self.cells[f"m{side.column}"].combine_chunks().to_numpy(zero_copy_only=False).astype(bool)
            ids = np.zeros(len(inside), np.int64)
            for key in side.keys:
                coded = self.cells[key].combine_chunks().dictionary_encode(null_encoding="encode")
                codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
                if key != side.keys[0]:
                    codes = np.unique(ids * (len(coded.dictionary) + 1) + codes, return_inverse=True)[1].ravel()
                ids = codes.astype(np.int64)
            self.numbers[side] = np.where(inside, ids, -1)
        return self.numbers[side]

    def values(self, side: Side, number: int) -> tuple[Any, ...]:
        """The group's values."""
        if side not in self.firsts:
            ids = self.ids(side)
            first = np.full(int(ids.max(initial=-1)) + 2, -1, np.int64)  # the last place is for those outside
            first[ids[::-1]] = np.arange(len(ids))[::-1]
            self.firsts[side] = first
        row = int(self.firsts[side][number])
        return tuple(self.cells[key][row].as_py() for key in side.keys)

    def people(self, side: Side) -> dict[int, int]:
        """How many people each group covers: what a minimum query size is compared with."""
        ids = self.ids(side)
        if self.low is None:
            return dict(enumerate(np.bincount(ids[ids >= 0], self.n[ids >= 0]).astype(int).tolist()))
        inside = self.base.filter(self.base[f"m{side.column}"]).mutate(g=1)
        each = inside.select(*side.keys, "g", "p").distinct()
        counted = self.engine.fetch(each.group_by([*side.keys, "g"]).agg(people=each.count())).to_pylist()
        by_value = {tuple(r[k] for k in side.keys): r["people"] for r in counted}
        return {int(i): by_value[self.values(side, int(i))] for i in np.unique(ids[ids >= 0])}

    @property
    def ends(self) -> tuple[Integers, Integers]:
        """The least and largest person of each cell, also where a row is one: equal where the cell is one person's."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        number = np.arange(len(self.n))
        return np.where(self.n == 1, number, -1), np.where(self.n == 1, number, len(self.n))


@dataclass(frozen=True)
class Together:
    """The joint groups of all counts, of all sums and averages, or of any few queries; each grouping is made once."""

    engine: Engine
    base: Any
    people: Any
    families: tuple[Family, ...]
    made: dict[tuple[int, ...], Joint | None] = field(default_factory=dict)

    def of(self, sides: Sequence[Side]) -> Joint | None:
        """The joint groups of these sides and, if these are not too many, of all their kind; None where they are."""
        counts = sides[0].query.bounds is None
        kind = tuple(side for family in self.families if family.counts is counts for side in family.sides)
        few = tuple(sorted({s.column: s for s in sides}.values(), key=lambda s: s.column))
        return self._joint(kind) or (self._joint(few) if len(few) < len(kind) else None)

    def _joint(self, sides: tuple[Side, ...]) -> Joint | None:
        key = tuple(s.column for s in sides)
        if key not in self.made:
            counts = sides[0].query.bounds is None
            source = self.people if counts and self.people is not None else self.base
            by_person = "p" in source.columns and source is not self.people
            self.made[key] = _joint(self.engine, source, sides, by_person)
        return self.made[key]


def together(engine: Engine, base: Any, request: ScanRequest, families: tuple[Family, ...]) -> Together:
    """What the joint groups of these families are made from."""
    shown: dict[str, Any] = {}
    for side in (side for family in families for side in family.sides):
        i, c, query = side.index, side.column, side.query
        covered = base[f"m{i}"] if c == i else base[f"k{i}"]
        if query.bounds is not None:  # a row without a value is in no sum
            covered = covered & base[f"x{i}"].notnull()
        shown[f"m{c}"] = covered
        if c != i:
            shown |= {f"g{c}_{j}": base[f"g{i}_{j}"] for j in range(len(query.groups))}
    base = base.mutate(**shown)
    counted = [side for family in families if family.counts for side in family.sides]
    people = None
    if request.by_person and counted:
        people = counted_once(base, {side.column: len(side.query.groups) for side in counted})
    return Together(engine, base, people, families)


def _joint(engine: Engine, base: Any, sides: Sequence[Side], person: bool) -> Joint | None:
    ibis = need_ibis()
    made: dict[str, Any] = {}
    for side in sides:
        flag = base[f"m{side.column}"]
        made[f"m{side.column}"] = flag
        for j in range(len(side.query.groups)):
            key = base[f"g{side.column}_{j}"]
            # Outside its query a row has no group there; NULL is fine, the flag tells it from a NULL group.
            made[f"g{side.column}_{j}"] = ibis.ifelse(flag, key, ibis.null(key.type()))
    names = list(made)
    rows = base.select(**made, **({"p": base["p"]} if person else {}))
    counts = {"n": rows.count()} | ({"lo": rows["p"].min(), "hi": rows["p"].max()} if person else {})
    cells = engine.fetch(rows.group_by(names).agg(**counts).limit(MOST_CELLS + 1))
    if cells.num_rows > MOST_CELLS:
        return None
    cells = cells.sort_by([(name, "ascending") for name in names])  # engines have no order, and it decides ties
    low, high = _ranks(cells) if person else (None, None)
    return Joint(engine, base, cells, cells["n"].to_numpy().astype(np.int64), low, high)


def _ranks(cells: Any) -> tuple[Integers, Integers]:
    """The least and largest person of each cell as numbers in the same order, whatever a person is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not cells.num_rows:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    both = pa.chunked_array([*cells["lo"].chunks, *cells["hi"].chunks]).combine_chunks()
    coded = both.dictionary_encode()
    rank = np.empty(len(coded.dictionary), np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    ranks = rank[coded.indices.to_numpy(zero_copy_only=False)]
    first, last = ranks[: cells.num_rows], ranks[cells.num_rows :]
    # The engine may sort people otherwise: two of the cell's people, in our order, are as good as its ends.
    return np.minimum(first, last), np.maximum(first, last)
