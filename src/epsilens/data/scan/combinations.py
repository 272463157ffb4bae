r"""Planned answers that isolate a person together: one alone, a difference of two, sums and differences of more.

Everyone else adds an unknown amount to the answers they are in: all people of one *pattern* (a set of answers) the same
to each of these. A person is isolated by the plan where their own pattern is not in the span of the others'. An answer
that covers one person, and two that differ in one, are found among any number of answers; sums and differences of more
(two groups and their total) by :mod:`.algebra` wherever at most ``MOST_ANSWERS`` answers hang together.

What the answers of a combination are worth depends on their noise: :mod:`.planned`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from .algebra import isolate
from .joint import Family, Joint, Together
from .pairs import alone_or_two

#: Beyond these numbers, among answers that hang together, sums and differences of more than two are not looked for.
MOST_ANSWERS = 300
MOST_PATTERNS = 100_000
#: Beyond this many answers of all patterns it is not even asked which answers hang together.
MOST_ENTRIES = 10_000_000

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Isolating:
    r"""Planned answers that isolate someone: the query of each answer, its weight, and how many people stand so.

    ``moved`` are the queries with an answer that the person is in, among all answers that bear upon them: whoever knows
    everyone else sees these move, which bounds what any combination tells. ``exact`` says that no other planned answer
    adds anything to this combination. ``shift`` is what is left of a person's contribution of 1 under the best
    combination if every answer has normal noise of standard deviation 1 (:math:`1/\sqrt2` for a pair): exact for normal
    noise of one scale, an upper bound in units of the smallest. ``gain`` is how many times the person's contribution
    the combination shows: 1 for one answer and for two.

    ``kind`` numbers what is added up, counts or the sums of one column: within a kind each person stands in one entry.
    Someone may stand in entries of several kinds; a last entry of kind −1 then joins them all, as a bound. ``weights``
    is empty there and where they are not small whole numbers. ``compared`` is false for an entry that only says that
    these queries have too many answers for sums and differences of more than two to be looked for.
    """

    queries: tuple[int, ...]
    weights: tuple[int, ...]
    moved: tuple[int, ...]
    people: int
    exact: bool
    shift: float
    gain: int = 1
    kind: int = 0
    compared: bool = True

    @property
    def pair(self) -> bool:
        """Whether it is the difference of two answers."""
        return len(self.weights) == 2

    @property
    def alone(self) -> bool:
        """Whether one answer is enough: it covers a single person."""
        return len(self.weights) == 1

    def to_dict(self) -> dict[str, Any]:
        """The combination as plain values."""
        lists = {name: list(getattr(self, name)) for name in ("queries", "weights", "moved")}
        return {**vars(self), **lists, "pair": self.pair}


@dataclass(frozen=True)
class _Way:
    """How one person is isolated; the same for many."""

    queries: tuple[int, ...]
    weights: tuple[int, ...]
    moved: tuple[int, ...]
    exact: bool
    shift: float
    gain: int = 1

    def __add__(self, other: _Way) -> _Way:
        """What two looks at the same person give: the simpler combination, and all that moves."""
        first, second = sorted((self, other), key=lambda way: (len(way.weights) or 99, way.queries))
        if first == second:
            return first
        same = (first.queries, first.weights) == (second.queries, second.weights)
        moved = tuple(sorted({*first.moved, *second.moved}))
        shift = max(first.shift, second.shift) if same else float(np.hypot(first.shift, second.shift))
        return _Way(first.queries, first.weights, moved, same and first.exact and second.exact, shift, first.gain)


def isolating(found: Together, min_query_size: int) -> tuple[Isolating, ...]:
    """Whom the planned answers isolate, alone or together; the people of each kind of combination counted."""
    ways: dict[tuple[tuple[Any, ...], int, int], _Way] = {}
    lost = []
    for family in found.families:
        joint = found.of(family.sides)
        if joint is None:
            lost.append(family)
            continue
        people, compared = _Plan.of(family, joint, min_query_size).ways()
        for owner, way in people:
            key = (family.aggregate, id(joint), owner)
            ways[key] = ways[key] + way if key in ways else way
        if not compared:
            lost.append(family)
    kinds = {aggregate: i for i, aggregate in enumerate(dict.fromkeys(f.aggregate for f in found.families))}
    counted = Counter((kinds[aggregate], way) for (aggregate, _, _), way in ways.items())
    made = [
        Isolating(way.queries, way.weights, way.moved, number, way.exact, way.shift, way.gain, kind)
        for (kind, way), number in counted.items()
    ]
    made.sort(key=lambda c: (c.kind, len(c.weights) or 99, c.queries, c.weights, c.moved))
    names = dict.fromkeys((kinds[f.aggregate], tuple(sorted({side.index for side in f.sides}))) for f in lost)
    joined = _joined(made)
    made += [Isolating(queries, (), (), 0, False, 0.0, 0, kind, compared=False) for kind, queries in names]
    return (*made, *joined)


def _joined(made: list[Isolating]) -> tuple[Isolating, ...]:
    """What someone isolated in several kinds of answers may lose to all of them: every answer that anyone is in."""
    kinds = {found.kind: 0 for found in made}
    if len(kinds) < 2:
        return ()
    for found in made:
        kinds[found.kind] += found.people
    moved = tuple(sorted({i for found in made for i in found.moved}))
    queries = tuple(sorted({i for found in made for i in found.queries}))
    shift = float(np.linalg.norm([max(f.shift for f in made if f.kind == kind) for kind in kinds]))
    return (Isolating(queries, (), moved, min(kinds.values()), False, shift, 0, -1),)


class _Plan:
    """The answers and patterns of one family.

    ``cells[p, f]`` is the answer of side f that pattern p is in, −1 for none; ``query`` the query of each answer;
    ``owner`` whose pattern it is, −1 where several people share it.
    """

    def __init__(self, cells: Integers, query: Integers, owner: Integers) -> None:
        self.cells, self.query, self.owner = cells, query, owner
        self.by_owner = np.argsort(owner, kind="stable")
        self.sorted_owners = owner[self.by_owner]

    @classmethod
    def of(cls, family: Family, joint: Joint, min_query_size: int) -> _Plan:
        """From the joint groups; answers about fewer people than a query may cover are not given."""
        columns, query, start = [], [], 0
        for side in family.sides:
            ids = joint.ids(side)
            size = int(ids.max(initial=-1)) + 1
            if min_query_size > 1:
                people = joint.people(side)
                given = np.asarray([people.get(i, 0) >= min_query_size for i in range(size)] + [False])
                ids = np.where(given[ids], ids, -1)
            columns.append(np.where(ids >= 0, ids + start, -1))
            query += [side.index] * size
            start += size
        cells = np.stack(columns, axis=1)
        low, high = joint.ends
        inside = (cells >= 0).any(axis=1)
        cells, low, high = cells[inside], low[inside], high[inside]
        # Equal patterns have equal sums of random names of their answers: sort by these, then reduce each run.
        names = np.random.default_rng(1).integers(1, 2**63, start + 1, np.uint64)
        names[-1] = 0
        total = np.zeros(len(cells), np.uint64)
        for column in cells.T:
            total += names[column]
        order = np.argsort(total, kind="stable")
        cells, low, high, total = cells[order], low[order], high[order], total[order]
        starts = np.flatnonzero(np.concatenate(([True], total[1:] != total[:-1]))[: len(cells)])
        if not len(starts):
            return cls(cells, np.asarray(query, np.int64), np.empty(0, np.int64))
        low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
        return cls(cells[starts], np.asarray(query, np.int64), np.where(low == high, low, -1))

    def ways(self) -> tuple[list[tuple[int, _Way]], bool]:
        """How each isolated person is isolated, and whether every combination was looked at."""
        if not (self.owner >= 0).any():
            return [], True
        compared = True
        simple = self._simple()
        if int((self.cells >= 0).sum()) > MOST_ENTRIES:
            return [(owner, self._bounded(owner, used)) for owner, used in simple.items()], False
        made: dict[int, _Way] = {}
        seen: dict[Any, tuple[tuple[int, _Way], ...]] = {}
        for answers, patterns in self._components():
            if len(answers) > MOST_ANSWERS or len(patterns) > MOST_PATTERNS:
                compared = False
                people = map(int, np.unique(self.owner[patterns]))
                some = [(o, self._bounded(o, simple[o])) for o in people if o in simple]
            else:
                some = self._solved(answers, patterns, simple, seen)
            for owner, way in some:
                made[owner] = made[owner] + way if owner in made else way
        return list(made.items()), compared

    def _components(self) -> list[tuple[Integers, Integers]]:
        """The answers that hang together by patterns, with these; only where some pattern is one person's."""
        size, many = len(self.query), len(self.cells)
        at, side = np.nonzero(self.cells >= 0)
        links = coo_matrix((np.ones(len(at)), (self.cells[at, side], size + at)), shape=(size + many, size + many))
        label = connected_components(links, directed=False)[1]
        wanted = np.unique(label[size:][self.owner >= 0])
        answers = _grouped(label[:size], wanted)
        patterns = _grouped(label[size:], wanted)
        return list(zip(answers, patterns, strict=True))

    def _solved(
        self,
        answers: Integers,
        patterns: Integers,
        simple: Mapping[int, tuple[int, ...]],
        seen: dict[Any, tuple[tuple[int, _Way], ...]],
    ) -> list[tuple[int, _Way]]:
        """One component, by linear algebra; components of the same form are solved once."""
        local = np.where(self.cells[patterns] >= 0, np.searchsorted(answers, self.cells[patterns]), -1)
        owners, owner = np.unique(self.owner[patterns], return_inverse=True)
        shift = int(owners[0] >= 0)
        owner = owner + shift - 1  # −1 for shared ones, then from 0
        owners = owners if shift else owners[1:]
        mine = set(answers.tolist())  # a person in several components has their one or two answers in one of them
        own = (simple.get(int(o), ()) for o in owners)
        likes = tuple(tuple(np.searchsorted(answers, way).tolist()) if mine.issuperset(way) else () for way in own)
        key = (tuple(self.query[answers].tolist()), local.tobytes(), owner.tobytes(), likes)
        if key not in seen:
            seen[key] = tuple(self._described(answers, local, owner, likes))
        return [(int(owners[o]), way) for o, way in seen[key]]

    def _described(
        self, answers: Integers, local: Integers, owner: Integers, likes: tuple[tuple[int, ...], ...]
    ) -> list[tuple[int, _Way]]:
        matrix = np.zeros((len(answers) + 1, len(local)), np.int64)
        matrix[local, np.arange(len(local))[:, None]] = 1
        query = self.query[answers]
        made = []
        for found in isolate(matrix[:-1], owner):
            moved = tuple(sorted({int(q) for q in query[list(found.own)]}))
            if likes[found.owner]:
                used: tuple[int, ...] = likes[found.owner]
                weights, gain = (1, -1)[: len(used)], 1
            else:
                held = found.weights or ()
                used = tuple(i for i, w in enumerate(held) if w)
                weights, gain = tuple(held[i] for i in used), found.gain
            asked = tuple(int(query[i]) for i in used) or moved
            made.append((found.owner, _Way(asked, weights, moved, found.exact, found.shift, gain)))
        return made

    def _bounded(self, owner: int, used: tuple[int, ...]) -> _Way:
        """A person isolated by one or two answers among too many to solve: all that they are in may bear upon it."""
        mine = self.cells[self.by_owner[slice(*np.searchsorted(self.sorted_owners, (owner, owner + 1)))]]
        moved = {int(self.query[c]) for c in mine.ravel() if c >= 0}
        most = float(np.sqrt((mine >= 0).sum(axis=1).max()))
        queries = tuple(int(self.query[c]) for c in used)
        return _Way(queries, (1, -1)[: len(used)], tuple(sorted(moved)), False, most)

    def _simple(self) -> dict[int, tuple[int, ...]]:
        """The one answer, or the two, that isolate a person by themselves."""
        alone, pairs = alone_or_two(list(self.cells.T), self.owner)
        made: dict[int, tuple[int, ...]] = {}
        for owner, (_, a), (_, b) in pairs:
            made.setdefault(owner, (a, b))
        return made | {owner: (a,) for owner, (_, a) in alone}


def _grouped(label: Integers, wanted: Integers) -> list[Integers]:
    """The places of each wanted label."""
    order = np.argsort(label, kind="stable")
    low = np.searchsorted(label[order], wanted, "left")
    high = np.searchsorted(label[order], wanted, "right")
    return [order[a:b] for a, b in zip(low, high, strict=True)]
