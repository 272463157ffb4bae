"""Pairs of planned answers that isolate someone by themselves.

Two published answers whose sets of people differ in exactly one person hand the attacker the difference without any
further query. Counts are compared by people, each counted once; sums and averages by rows, where all rows that differ
must be one person's. Each planned query gives one answer per group and, where it has groups, their total; every two
answers of the same aggregate are compared. One grouping in the engine by all queries' groups ("who is in which
answers") holds all that is needed: for two answers, the people in one and not in the other are the rest of a row and
of a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..queries import Query
from ..tables.columns import counted_once
from ..tables.engines import Engine, need_ibis
from .request import ScanRequest

__all__ = ["IsolatingPair", "isolating_pairs"]

#: Beyond this many joint groups a pair is reported as not compared.
MOST_CELLS = 5_000_000

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class IsolatingPair:
    """Two planned answers that differ in one person: how often, for how many people.

    ``answers`` counts the pairs of groups; ``people`` the people isolated. ``groups`` shows the groups' values, which
    describe a person, only when asked for. ``compared`` is false for a pair too large to compare.
    """

    first: str
    second: str
    answers: int
    people: int
    groups: tuple[tuple[Any, Any], ...] = ()
    compared: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain values."""
        return {**vars(self), "groups": [list(map(str, g)) for g in self.groups]}


@dataclass(frozen=True)
class _Side:
    """One query at one resolution: split by its groups, or all of them together."""

    index: int
    query: Query
    split: bool

    @property
    def keys(self) -> list[str]:
        return [f"g{self.index}_{j}" for j in range(len(self.query.groups))] if self.split else []

    @property
    def aggregate(self) -> tuple[Any, ...]:
        """What must agree for two answers to be subtracted."""
        if self.query.bounds is None:
            return ("count",)
        return (self.query.kind, self.query.column, self.query.bounds)

    def __str__(self) -> str:
        if self.query.groups and not self.split:
            return f"all groups of {self.query}"
        return str(self.query)


def isolating_pairs(engine: Engine, base: Any, request: ScanRequest) -> tuple[IsolatingPair, ...]:
    """Compare every two planned answers; return the pairs of queries that isolate someone."""
    queries, person = request.queries, request.by_person
    sides = []
    for i, query in enumerate(queries):
        if query.groups:
            sides.append(_Side(i, query, True))
        sides.append(_Side(i, query, False))
    wanted = [(a, b) for a, b in combinations(sides, 2) if a.aggregate == b.aggregate]
    if not wanted:
        return ()
    used = {side.index for pair in wanted for side in pair}
    counts = sorted(i for i in used if queries[i].bounds is None)
    others = sorted(used - set(counts))
    by_people = person and bool(counts)
    people = counted_once(base, {i: len(queries[i].groups) for i in counts}) if by_people else base

    def joined(indices: Sequence[int]) -> _Joint | None:
        if indices[0] in counts:  # one row a person: rows are people
            return _joint(engine, people, queries, indices, person and not by_people)
        return _joint(engine, base, queries, indices, person)

    everything = {i: joint for group in (counts, others) if group for joint in [joined(group)] for i in group}
    found = []
    for a, b in wanted:
        joint = everything[a.index] or joined(sorted({a.index, b.index}))
        if joint is None:
            found.append(IsolatingPair(str(a), str(b), 0, 0, compared=False))
            continue
        pair = _compare(joint, a, b, request.min_query_size, request.show_people)
        if pair is not None:
            found.append(pair)
    return tuple(found)


@dataclass
class _Joint:
    """The rows grouped by everything the queries look at: which answers they are in, how many, whose.

    ``low`` and ``high`` rank the least and largest person of each cell, ``n`` counts its rows. ``numbers`` remembers
    each side's number of the group a cell is in (−1 for none), ``sizes`` the people in it.
    """

    engine: Engine
    base: Any
    cells: Any
    n: Integers
    low: Integers | None
    high: Integers | None
    numbers: dict[_Side, Integers] = field(default_factory=dict)

    def ids(self, side: _Side) -> Integers:
        if side not in self.numbers:
            inside = np.asarray(self.cells[f"m{side.index}"].to_pylist(), bool)
            ids = np.zeros(len(inside), np.int64)
            for key in side.keys:
                coded = self.cells[key].combine_chunks().dictionary_encode(null_encoding="encode")
                codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
                ids = np.unique(ids * (len(coded.dictionary) + 1) + codes, return_inverse=True)[1].astype(np.int64)
            self.numbers[side] = np.where(inside, ids, -1)
        return self.numbers[side]

    def values(self, side: _Side, number: int) -> tuple[Any, ...]:
        """The group's values."""
        row = int(np.flatnonzero(self.ids(side) == number)[0])
        return tuple(self.cells[key][row].as_py() for key in side.keys)

    def people(self, side: _Side) -> dict[int, int]:
        """How many people each group covers: what a minimum query size is compared with."""
        ids = self.ids(side)
        if self.low is None:
            return dict(enumerate(np.bincount(ids[ids >= 0], self.n[ids >= 0]).astype(int).tolist()))
        inside = self.base.filter(self.base[f"m{side.index}"]).mutate(g=1)
        each = inside.select(*side.keys, "g", "p").distinct()
        counted = self.engine.fetch(each.group_by([*side.keys, "g"]).agg(people=each.count())).to_pylist()
        by_value = {tuple(r[k] for k in side.keys): r["people"] for r in counted}
        return {int(i): by_value[self.values(side, int(i))] for i in np.unique(ids[ids >= 0])}


def _joint(engine: Engine, base: Any, queries: Sequence[Query], used: Sequence[int], person: bool) -> _Joint | None:
    ibis = need_ibis()
    made: dict[str, Any] = {}
    for i in used:
        flag = base[f"m{i}"]
        made[f"m{i}"] = flag
        for j in range(len(queries[i].groups)):
            key = base[f"g{i}_{j}"]
            # Outside its query a row has no group there; NULL is fine, the flag tells it from a NULL group.
            made[f"g{i}_{j}"] = ibis.ifelse(flag, key, ibis.null(key.type()))
    names = list(made)
    rows = base.select(**made, **({"p": base["p"]} if person else {}))
    counts = {"n": rows.count()} | ({"lo": rows["p"].min(), "hi": rows["p"].max()} if person else {})
    cells = engine.fetch(rows.group_by(names).agg(**counts).limit(MOST_CELLS + 1))
    if cells.num_rows > MOST_CELLS:
        return None
    low, high = _ranks(cells) if person else (None, None)
    return _Joint(engine, base, cells, cells["n"].to_numpy().astype(np.int64), low, high)


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
    return ranks[: cells.num_rows], ranks[cells.num_rows :]


def _compare(joint: _Joint, a: _Side, b: _Side, min_query_size: int, show: bool) -> IsolatingPair | None:
    ids_a, ids_b = joint.ids(a), joint.ids(b)
    # Cells that agree on both answers are one cell here: sort them together, then reduce each run.
    order = np.lexsort((ids_b, ids_a))
    ids_a, ids_b = ids_a[order], ids_b[order]
    starts = np.flatnonzero(
        np.concatenate(([True], (ids_a[1:] != ids_a[:-1]) | (ids_b[1:] != ids_b[:-1])))[: len(order)]
    )
    if not len(starts):
        return None
    n = np.add.reduceat(joint.n[order], starts)
    ids_a, ids_b = ids_a[starts], ids_b[starts]
    both = (ids_a >= 0) & (ids_b >= 0)
    if joint.low is not None and joint.high is not None:
        low = np.minimum.reduceat(joint.low[order], starts)
        high = np.maximum.reduceat(joint.high[order], starts)
        owner = _difference_owners(ids_a, ids_b, low, high)
    else:
        apart = _total(ids_a, n)[ids_a] + _total(ids_b, n)[ids_b] - 2 * n
        owner = np.where(apart == 1, _lone_cell(ids_a, ids_b), -1)
    hit = both & (owner >= 0)
    if min_query_size > 1 and hit.any():
        for side, ids in ((a, ids_a), (b, ids_b)):
            people = joint.people(side)
            hit &= np.asarray([people.get(int(i), 0) >= min_query_size for i in ids])
    if not hit.any():
        return None
    shown: tuple[tuple[Any, Any], ...] = ()
    if show:
        shown = tuple(
            (joint.values(a, int(ids_a[i])), joint.values(b, int(ids_b[i]))) for i in np.flatnonzero(hit)[:100]
        )
    return IsolatingPair(str(a), str(b), int(hit.sum()), len(np.unique(owner[hit])), shown)


def _total(ids: Integers, n: Integers) -> Integers:
    """Rows of each group; the last place, where −1 points, is for those outside and holds 0."""
    size = int(ids.max(initial=-1)) + 1
    totals = np.zeros(size + 1, np.int64)
    inside = ids >= 0
    totals[:size] = np.bincount(ids[inside], n[inside], minlength=size).astype(np.int64)
    return totals


def _lone_cell(ids_a: Integers, ids_b: Integers) -> Integers:
    """Some other cell of each one's row or column: where one row is apart, it is the cell that row is in."""
    cell = np.arange(len(ids_a))
    far = np.iinfo(np.int64).max
    other = np.minimum(_others(ids_a, cell, far), _others(ids_b, cell, far))
    return np.where(other == far, -1, other)


def _difference_owners(ids_a: Integers, ids_b: Integers, low: Integers, high: Integers) -> Integers:
    """For each cell, the one person in the rest of its row and column, or −1.

    Leaving a cell out, the least and largest person of the others: the second least where the cell itself has the
    least. Rows and columns are joined by min and max, and one person remains where the two agree.
    """
    far = np.iinfo(np.int64).max
    least = np.minimum(_others(ids_a, low, far), _others(ids_b, low, far))
    most = np.maximum(-_others(ids_a, -high, 1), -_others(ids_b, -high, 1))
    return np.where(least == most, least, -1)


def _others(ids: Integers, value: Integers, missing: int) -> Integers:
    """The least value among the other members of each one's group; ``missing`` where there is none.

    >>> _others(np.array([0, 0, 1]), np.array([5, 3, 4]), 99).tolist()
    [3, 5, 99]
    """
    order = np.lexsort((value, ids))
    sorted_ids, sorted_values = ids[order], value[order]
    first = np.concatenate(([True], sorted_ids[1:] != sorted_ids[:-1]))
    start = np.maximum.accumulate(np.where(first, np.arange(len(ids)), 0))
    second = np.full(len(ids), missing)
    follows = ~first[1:]
    second[:-1][follows] = sorted_values[1:][follows]
    made = np.empty(len(ids), np.int64)
    made[order] = np.where(first, second, sorted_values[start])
    return made
