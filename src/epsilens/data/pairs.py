"""Pairs of planned answers that isolate someone by themselves.

Two published answers whose sets of people differ in exactly one person hand the attacker the difference without any
further query. Each planned query gives one answer per group and, where it has groups, their total; every two answers
of the same aggregate are compared. One grouping in the engine by both queries' groups ("who is in which answer of
each") holds all that is needed: the people in one answer and not in the other are the rest of its row and column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .engines import Engine, need_ibis
from .queries import Query

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


def isolating_pairs(
    engine: Engine, base: Any, queries: Sequence[Query], person: bool, min_query_size: int, show: bool
) -> tuple[IsolatingPair, ...]:
    """Compare every two planned answers; return the pairs of queries that isolate someone."""
    sides = []
    for i, query in enumerate(queries):
        if query.groups:
            sides.append(_Side(i, query, True))
        sides.append(_Side(i, query, False))
    found = []
    for a, b in combinations(sides, 2):
        if a.aggregate == b.aggregate:
            pair = _compare(engine, base, a, b, person, min_query_size, show)
            if pair is not None:
                found.append(pair)
    return tuple(found)


def _compare(
    engine: Engine, base: Any, a: _Side, b: _Side, person: bool, min_query_size: int, show: bool
) -> IsolatingPair | None:
    ibis = need_ibis()
    made = {"ina": base[f"m{a.index}"], "inb": base[f"m{b.index}"]}
    # Outside its query a row has no group there; NULL is fine, the flag beside it tells it from a NULL group.
    made |= {
        f"a{j}": ibis.ifelse(base[f"m{a.index}"], base[k], ibis.null(base[k].type())) for j, k in enumerate(a.keys)
    }
    made |= {
        f"b{j}": ibis.ifelse(base[f"m{b.index}"], base[k], ibis.null(base[k].type())) for j, k in enumerate(b.keys)
    }
    if person:
        made["p"] = base["p"]
    rows = base.select(**made)
    rows = rows.filter(rows["ina"] | rows["inb"])
    names = [name for name in made if name != "p"]
    if person:
        joint = rows.group_by(names).agg(lo=rows["p"].min(), hi=rows["p"].max())
    else:
        joint = rows.group_by(names).agg(n=rows.count())
    cells = engine.fetch(joint.limit(MOST_CELLS + 1))
    if cells.num_rows > MOST_CELLS:
        return IsolatingPair(str(a), str(b), 0, 0, compared=False)
    if cells.num_rows == 0:
        return None
    in_a, in_b = (np.asarray(cells[name].to_pylist(), bool) for name in ("ina", "inb"))
    ids_a = _group_ids(cells, [f"a{j}" for j in range(len(a.keys))], in_a)
    ids_b = _group_ids(cells, [f"b{j}" for j in range(len(b.keys))], in_b)
    both = in_a & in_b
    if person:
        owner = _difference_owners(cells, ids_a, ids_b, both)
        hit = both & (owner >= 0)
        people = len(np.unique(owner[hit]))
    else:
        n = cells["n"].to_numpy().astype(np.int64)
        apart = _total(ids_a, n)[ids_a] + _total(ids_b, n)[ids_b] - 2 * n
        hit = both & (apart == 1)
        # The one row apart lies in one other cell; two pairs of answers may share it.
        people = len(_lone_cells(ids_a, ids_b, hit))
    if min_query_size > 1 and hit.any():
        big_a = _sizes(engine, rows, "ina", [f"a{j}" for j in range(len(a.keys))], cells, person)
        big_b = _sizes(engine, rows, "inb", [f"b{j}" for j in range(len(b.keys))], cells, person)
        hit &= (big_a >= min_query_size) & (big_b >= min_query_size)
        people = len(np.unique(owner[hit])) if person else len(_lone_cells(ids_a, ids_b, hit))
    if not hit.any():
        return None
    shown: tuple[tuple[Any, Any], ...] = ()
    if show:
        picked = cells.take(np.flatnonzero(hit)[:100]).to_pylist()
        shown = tuple(
            (tuple(r[f"a{j}"] for j in range(len(a.keys))), tuple(r[f"b{j}"] for j in range(len(b.keys))))
            for r in picked
        )
    return IsolatingPair(str(a), str(b), int(hit.sum()), people, shown)


def _group_ids(cells: Any, names: Sequence[str], inside: NDArray[np.bool_]) -> Integers:
    """A number for each combination of group values, −1 outside the query."""
    ids = np.zeros(cells.num_rows, np.int64)
    for name in names:
        coded = cells[name].combine_chunks().dictionary_encode(null_encoding="encode")
        codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        ids = np.unique(ids * (len(coded.dictionary) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    return np.where(inside, ids, -1)


def _total(ids: Integers, n: Integers) -> Integers:
    """Rows of each group; the last place, where −1 points, is for those outside and holds 0."""
    size = int(ids.max(initial=-1)) + 1
    totals = np.zeros(size + 1, np.int64)
    inside = ids >= 0
    totals[:size] = np.bincount(ids[inside], n[inside], minlength=size).astype(np.int64)
    return totals


def _lone_cells(ids_a: Integers, ids_b: Integers, hit: NDArray[np.bool_]) -> set[int]:
    """The cells that are the whole difference of some hit: same group on one side, other on the other."""
    found = set()
    groups_a = {int(g): np.flatnonzero(ids_a == g) for g in np.unique(ids_a[hit])}
    groups_b = {int(g): np.flatnonzero(ids_b == g) for g in np.unique(ids_b[hit])}
    for cell in np.flatnonzero(hit):
        apart = {*groups_a[int(ids_a[cell])].tolist(), *groups_b[int(ids_b[cell])].tolist()} - {int(cell)}
        found |= apart
    return found


def _difference_owners(cells: Any, ids_a: Integers, ids_b: Integers, both: NDArray[np.bool_]) -> Integers:
    """For each cell in both answers, the one person in the rest of its row and column, or −1.

    Leaving a cell out, the least and largest person of the others: the second least where the cell itself has the
    least. Rows and columns are joined by min and max, and one person remains where the two agree.
    """
    import pyarrow as pa

    size = cells.num_rows
    named = pa.concat_arrays([cells["lo"].combine_chunks(), cells["hi"].combine_chunks()])
    ranks = named.dictionary_encode()
    order = np.asarray(ranks.dictionary.to_pylist(), dtype=object)
    rank = np.empty(len(order), np.int64)
    rank[np.argsort(order)] = np.arange(len(order))
    both_codes = rank[ranks.indices.to_numpy(zero_copy_only=False)]
    low, high = both_codes[:size], both_codes[size:]
    least = np.full(size, np.iinfo(np.int64).max)
    most = np.full(size, -1)
    for ids in (ids_a, ids_b):
        least = np.minimum(least, _others(ids, low))
        most = np.maximum(most, -_others(ids, -high, missing=1))
    return np.where(both & (least == most), least, -1)


def _others(ids: Integers, value: Integers, missing: int = np.iinfo(np.int64).max) -> Integers:
    """The least value among the other members of each one's group; ``missing`` where there is none."""
    order = np.lexsort((value, ids))
    sorted_ids, sorted_values = ids[order], value[order]
    first = np.concatenate(([True], sorted_ids[1:] != sorted_ids[:-1]))
    start = np.maximum.accumulate(np.where(first, np.arange(len(ids)), 0))
    has_second = np.zeros(len(ids), bool)
    has_second[:-1] = ~first[1:]
    second = np.full(len(ids), missing)
    second[:-1][has_second[:-1]] = sorted_values[1:][has_second[:-1]]
    answer = np.where(first, second, sorted_values[start])
    made = np.empty(len(ids), np.int64)
    made[order] = answer
    return made


def _sizes(engine: Engine, rows: Any, flag: str, keys: Sequence[str], cells: Any, person: bool) -> Integers:
    """The people in each cell's answer: what a minimum query size is compared with."""
    inside = rows.filter(rows[flag]).mutate(g=1)
    names = [*keys, "g"]
    if person:
        inside = inside.select(*names, "p").distinct()
    counted = engine.fetch(inside.group_by(names).agg(people=inside.count()))
    sizes = {tuple(r[k] for k in keys): r["people"] for r in counted.to_pylist()}
    mine = cells.select(list(keys)).to_pylist() if keys else [{} for _ in range(cells.num_rows)]
    return np.asarray([sizes.get(tuple(r[k] for k in keys), 0) for r in mine], np.int64)
