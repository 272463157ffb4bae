"""Pairs of planned answers that isolate someone by themselves.

Two published answers whose sets of people differ in exactly one person hand the attacker the difference without any
further query. Counts are compared by people, each counted once; sums and averages by rows, where all rows that differ
must be one person's. Every two answers of the same aggregate are compared, and where both leave the same secret open,
also the sets of all whom they may cover: then they isolate the person whether that person has the secret or not.

An answer is known by the sum of random 64-bit names of the joint cells it covers (:mod:`.joint`). Without one person's
own cells the sum is another's exactly where the two answers differ in that person alone; so one search finds all pairs,
however many answers there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .joint import Joint, Side, Together

Integers: TypeAlias = NDArray[np.int64]
Names: TypeAlias = NDArray[np.uint64]
_Key: TypeAlias = tuple[int, bool, int, bool]


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
class _Hit:
    """Two answers that differ in one person: their groups, by number, and that person."""

    joint: Joint
    sides: tuple[Side, Side]
    groups: tuple[int, int]
    owner: int

    @property
    def values(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The values of the two groups."""
        a, b = (self.joint.values(side, number) for side, number in zip(self.sides, self.groups, strict=True))
        return a, b


def isolating_pairs(found: Together, min_query_size: int, show: bool) -> tuple[IsolatingPair, ...]:
    """Compare every two planned answers; return the pairs of queries that isolate someone."""
    hits: dict[_Key, list[_Hit]] = defaultdict(list)
    lost: dict[_Key, tuple[Side, Side]] = {}
    for family in found.families:
        joint = found.of(family.sides)
        if joint is not None:
            for hit in _hits(joint, family.totals, min_query_size):
                hits[_key(*hit.sides)].append(hit)
            continue
        for a, b in combinations(family.totals, 2):  # all together are too many; perhaps two of them are not
            joint = found.of((a, b))
            if joint is None:
                lost[_key(a, b)] = a, b
            else:
                hits[_key(a, b)] += _hits(joint, (a, b), min_query_size)
    made = {}
    for key, some in hits.items():
        if some:
            a, b = some[0].sides
            groups = tuple(dict.fromkeys(hit.values for hit in some))
            people = len({(id(hit.joint), hit.owner) for hit in some})
            made[key] = IsolatingPair(str(a), str(b), len(groups), people, groups[:100] if show else ())
    for key, (a, b) in lost.items():
        made.setdefault(key, IsolatingPair(str(a), str(b), 0, 0, compared=False))
    return tuple(made[key] for key in sorted(made))


def _key(a: Side, b: Side) -> _Key:
    return a.index, not a.split, b.index, not b.split


def _hits(joint: Joint, sides: Sequence[Side], min_query_size: int) -> list[_Hit]:
    """Every two answers of these sides that differ in one person, and are both given."""
    low, high = joint.ends
    columns = []
    for side in sides:
        ids = joint.ids(side)
        if min_query_size > 1:
            people = joint.people(side)
            given = [people.get(i, 0) >= min_query_size for i in range(int(ids.max(initial=-1)) + 1)]
            ids = np.where(np.asarray([*given, False])[ids], ids, -1)
        columns.append(ids)
    _, pairs = alone_or_two(columns, np.where(low == high, low, -1))
    made = []
    for who, *answers in pairs:
        (a, i), (b, j) = sorted(answers)
        made.append(_Hit(joint, (sides[a], sides[b]), (i, j), who))
    return made


#: An answer: the number of its side, and of its group there.
_Place: TypeAlias = tuple[int, int]


def alone_or_two(
    columns: Sequence[Integers], owner: Integers
) -> tuple[list[tuple[int, _Place]], list[tuple[int, _Place, _Place]]]:
    """(person, answer) where an answer covers one person, (person, answer with them, answer) where two differ in one.

    ``columns`` has an array a side: the group each cell is in, −1 for none; ``owner`` whose cell it is, −1 for
    several people's.

    >>> everyone, some = np.array([0, 0]), np.array([0, -1])
    >>> alone_or_two([everyone, some], np.array([-1, 7]))
    ([], [(7, (0, 0), (1, 0))])
    """
    names = np.random.default_rng(0).integers(1, 2**63, len(owner), np.uint64)
    totals = [sums_by(ids, names, int(ids.max(initial=-1)) + 1) for ids in columns]
    whole = np.concatenate([np.empty(0, np.uint64), *totals])
    order = np.argsort(whole, kind="stable")
    place = [(side, number) for side, total in enumerate(totals) for number in range(len(total))]
    owned = np.flatnonzero(owner >= 0)
    owners, times = np.unique(owner[owned], return_counts=True)
    several = bool((times > 1).any())
    alone, pairs, inside = [], [], []
    for side, (ids, total) in enumerate(zip(columns, totals, strict=True)):
        mine = owned[ids[owned] >= 0]
        who, answer, own = owner[mine], ids[mine], names[mine]
        if several:
            keys, where = np.unique(who * len(total) + answer, return_inverse=True)
            own = sums_by(where.ravel(), own, len(keys))
            who, answer = np.divmod(keys, max(len(total), 1))
        rest = total[answer] - own
        alone += [(int(who[i]), (side, int(answer[i]))) for i in np.flatnonzero(rest == 0)]
        low = np.searchsorted(whole, rest, "left", sorter=order)
        found = np.flatnonzero((rest != 0) & (whole[order[np.minimum(low, len(order) - 1)]] == rest))
        for i in found:
            for j in order[low[i] : np.searchsorted(whole, rest[i], "right", sorter=order)]:
                pairs.append((int(who[i]), (side, int(answer[i])), place[j]))
        if several:
            twice = np.flatnonzero(np.isin(who, owners[times > 1]) & (rest != 0))
            inside += [(int(who[i]), int(rest[i]), (side, int(answer[i])), int(own[i])) for i in twice]
    # Two answers that hold other rows of one person, and the same of everyone else.
    alike: dict[tuple[int, int], list[tuple[_Place, int]]] = defaultdict(list)
    for person, left, at, part in inside:
        alike[person, left].append((at, part))
    for (person, _), answers in alike.items():
        pairs += [(person, a, b) for (a, x), (b, y) in combinations(answers, 2) if x != y]
    return alone, pairs


def sums_by(ids: Integers, names: Names, size: int) -> Names:
    """The sum of the names of each number, wrapping around; −1 is left out.

    >>> sums_by(np.array([0, 1, 0, -1]), np.array([1, 2, 3, 4], np.uint64), 2).tolist()
    [4, 2]
    """
    made = np.zeros(size, np.uint64)
    inside = ids >= 0
    np.add.at(made, ids[inside], names[inside])
    return made
