"""Pairs of planned answers that isolate someone by themselves.

Two published answers whose sets of people differ in exactly one person hand the attacker the difference without any
further query. Counts are compared by people, each counted once; sums and averages by rows, where all rows that differ
must be one person's. Every two answers of the same aggregate are compared, and where both leave the same secret open,
also the sets of all whom they may cover: then they isolate the person whether that person has the secret or not. For
two answers, the people in one and not in the other are the rest of a row and of a column of :mod:`.joint`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .joint import Joint, Side, Together

__all__ = ["IsolatingPair", "isolating_pairs"]

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class IsolatingPair:
    """Two planned answers that differ in one person: how often, for how many people.

    ``answers`` counts the pairs of groups; ``people`` the people isolated, with the secret or without. ``groups`` shows
    the groups' values, which describe a person, only when asked for. ``compared`` is false for a pair too large to
    compare.
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
class _Hits:
    """Where two answers differ in one person: a joint cell that is in both of them, and that person."""

    joint: Joint
    sides: tuple[Side, Side]
    cells: Integers
    owners: Integers

    def groups(self, at: Integers) -> list[tuple[int, int]]:
        """The numbers of the two groups that each of these joint cells is in."""
        a, b = (self.joint.ids(side)[at] for side in self.sides)
        return list(zip(a.tolist(), b.tolist(), strict=True))


def isolating_pairs(found: Together, min_query_size: int, show: bool) -> tuple[IsolatingPair, ...]:
    """Compare every two planned answers; return the pairs of queries that isolate someone."""
    tried: dict[tuple[int, bool, int, bool], list[tuple[Side, Side]]] = {}
    for family in found.families:
        for a, b in combinations(family.totals, 2):
            tried.setdefault((a.index, not a.split, b.index, not b.split), []).append((a, b))
    made = []
    for _, sides in sorted(tried.items(), key=lambda item: item[0]):
        a, b = sides[0]
        hits = []
        compared = True
        for pair in sides:
            joint = found.of(pair)
            compared &= joint is not None
            if joint is not None:
                hits.append(_compare(joint, *pair, min_query_size))
        some = [h for h in hits if h is not None]
        if some:
            answers, people = _counted(some)
            made.append(IsolatingPair(str(a), str(b), answers, people, _shown(some[-1]) if show else ()))
        elif not compared:
            made.append(IsolatingPair(str(a), str(b), 0, 0, compared=False))
    return tuple(made)


def _counted(hits: list[_Hits]) -> tuple[int, int]:
    """How many pairs of groups, how many people: those found with the secret open and as it is, each once."""
    last = hits[-1]
    if any(h.joint is not last.joint for h in hits):  # two groupings, whose numbers differ: the larger one
        return max(len(h.cells) for h in hits), max(len(np.unique(h.owners)) for h in hits)
    answers = {group for h in hits for group in last.groups(h.cells)}
    return len(answers), len(np.unique(np.concatenate([h.owners for h in hits])))


def _shown(hits: _Hits) -> tuple[tuple[Any, Any], ...]:
    a, b = hits.sides
    return tuple((hits.joint.values(a, i), hits.joint.values(b, j)) for i, j in hits.groups(hits.cells[:100]))


def _compare(joint: Joint, a: Side, b: Side, min_query_size: int) -> _Hits | None:
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
        lone = _lone_cell(ids_a, ids_b)
        owner = np.where((apart == 1) & (lone >= 0), order[starts[lone]], -1)
    hit = both & (owner >= 0)
    if min_query_size > 1 and hit.any():
        for side, ids in ((a, ids_a), (b, ids_b)):
            people = joint.people(side)
            hit &= np.asarray([people.get(int(i), 0) >= min_query_size for i in ids])
    if not hit.any():
        return None
    return _Hits(joint, (a, b), order[starts[hit]], owner[hit])


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
