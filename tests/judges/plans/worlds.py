"""Pairs of worlds of each question, and what tells them apart: by enumeration of ``cells``, names included.

A world is all that one person (or household, or k of them) has in the table; the others stay as they are. What the plan
makes of it are the cells that its one definition gives for these rows, and nothing else is believed of limits, hashes,
NULLs or labels. Cells add up over people, which is checked on whole tables. People have up to ten times more rows and
groups than their limits, values at and beyond the bounds, groups of their own; names and identifiers vary, so that the
hashes that decide what is kept fall in every order.

What is told apart is the law of all that is drawn: every noisy number by how far it moves in scales of its noise, and
each name that only one of the worlds has by the chance that its own draw publishes it there, which settles the
question. What is published is made of that, so that no more can be told from it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scipy.special import ndtr
from tests.judges.plans.laws import Pair, dominated
from tests.judges.plans.plans import Case, Row, schema

from epsilens.data.queries import Noise
from epsilens.errors import InputError
from epsilens.plan.cells import Cells, Draw, cells_of_rows, draws_of, unit_of
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.model import Release

#: Instead of a label, for the number that all groups of a query have together.
_ALL = ("all groups",) * 9

World = list[Row]
Place = tuple[int, tuple[Any, ...]]


class Question(StrEnum):
    """Which pairs of worlds are compared."""

    MEMBERSHIP = "membership"
    RECORD = "record"
    SECRET = "secret"


@dataclass(frozen=True)
class Found:
    """Two worlds among others, and what tells them apart."""

    pair: Pair
    first: World
    second: World
    others: World


@dataclass(frozen=True)
class View:
    """The cells of a world: the numbers of each group in scales of their noise, and those a threshold looks at."""

    numbers: dict[Place, tuple[float, ...]]
    seen: dict[Place, float]
    sizes: dict[Place, int]


def listed_with(draw: Draw, number: float) -> float:
    """The chance that a name is published whose number, in the plan's own terms, is this."""
    if draw.threshold is None:
        return 1.0
    above = (number - draw.threshold) / draw.scale
    if draw.noise is Noise.GAUSSIAN:
        return float(ndtr(above))
    return float(Pair((), False).laplace_above(-above))


class Worlds:
    """The worlds of one plan, at any ε."""

    def __init__(self, case: Case, plan: Release, seed: int | str = 0, effort: int = 24) -> None:
        self.case, self.plan, self.effort = case, plan, effort
        self.rng = random.Random(seed)
        self.found = cells_of_rows(plan, schema(case))
        self.named = [bool(q.split_by) and q.groups is None for q in plan.queries]
        self.units = [{k: float(unit_of(plan, i, k)) for k in draws_of(plan, i)} for i in range(len(plan.queries))]
        self._cells: dict[int, tuple[World, tuple[Cells, ...]]] = {}  # with the world, whose id is then its own
        self._asked: dict[tuple[Question, int], list[tuple[World, World]]] = {}
        self._owner = 1000

    # -- people ---------------------------------------------------------------------------------------------------

    def person(self) -> World:
        """One person, or household, at random: few rows or far too many, alike or not, groups shared or their own."""
        rng, case = self.rng, self.case
        self._owner += rng.randint(1, 9)
        most = (case.max_rows or 1) if case.several else 1
        wide = max(most, case.max_groups or 1)
        count = rng.choice((1, most, most, wide, 2 * wide, 10 * wide)) if case.several else 1
        own, alike = rng.choice((0.0, 0.0, 0.3, 0.7, 1.0)), rng.random() < 0.4
        ends = rng.random() < 0.6
        first = self._row(ends)
        made = []
        for k in range(count):
            row = dict(first) if alike else self._row(ends)
            for name in ("g", "h"):
                if rng.random() < own:
                    row[name] = f"own {self._owner} {k}"
            who = 10 * self._owner + (rng.randrange(count) if case.unit else 0)
            made.append({"who": who, "home": f"h{self._owner}", **row})
        return made

    def _row(self, ends: bool) -> Row:
        row: Row = {}
        for name, values in self.case.domain.items():
            known = [v for v in values if v is not None]
            row[name] = self.rng.choice((known[0], known[-1], *values[-1:]) if ends else values)
            if name in ("v", "w") and self.rng.random() < 0.05 and row[name] is not None:
                row[name] = self.rng.choice((-1e4, 1e4))
        return row

    def _again(self, world: World) -> World:
        """The same person with other values in the columns that tell the secret."""
        made = []
        other, alike = self._row(True), self.rng.random() < 0.5
        for k, row in enumerate(world):
            drawn = other if alike else self._row(self.rng.random() < 0.5)
            changed = {name: drawn[name] for name in self.case.told if name in self.case.domain}
            for name in changed:
                if name in ("g", "h") and self.rng.random() < 0.2:
                    changed[name] = f"own {row['who']} new {k}"
            some = self.rng.random() < 0.7 or alike
            made.append({**row, **(changed if some else {})})
        return made

    def has(self, world: World) -> bool:
        """Whether some row of theirs has the secret."""
        assert self.case.secret
        return any(self.case.secret.holds(row) is True for row in world)

    # -- questions ------------------------------------------------------------------------------------------------

    def asked(self, question: Question, people: int = 1) -> list[tuple[World, World]]:
        """Pairs of worlds that a question allows, found once."""
        key = question, people
        if key not in self._asked:
            self._asked[key] = self._pairs(question, people)
        return self._asked[key]

    def _crowd(self, people: int) -> World:
        if people == 1:
            return self.person()
        if self.rng.random() < 0.5:  # all alike
            first = self.person()
            made = list(first)
            for k in range(1, people):
                for row in first:
                    other = {**row, "who": row["who"] + 10**6 * k, "home": f"{row['home']} {k}"}
                    made.append(other)
            return made
        return [row for _ in range(people) for row in self.person()]

    def _pairs(self, question: Question, people: int) -> list[tuple[World, World]]:
        if question is Question.MEMBERSHIP and not self.case.replace:
            return [([], self._crowd(people)) for _ in range(2 * self.effort)]
        if question is Question.SECRET and self.case.secret is not None:
            made: list[tuple[World, World]] = []
            for _ in range(2 * self.effort):
                base = self.person()
                each = [base, *(self._again(base) for _ in range(6))]
                without, having = ([w for w in each if self.has(w) is has] for has in (False, True))
                made += [(a, b) for a in without[:3] for b in having[:3]]
            return made
        worlds = [self._crowd(people) for _ in range(self.effort)]
        made = [(self._renamed(a, b), b) for a in worlds for b in worlds[: self.effort // 2] if a is not b]
        return made + [(self._renamed(self._again(a), a), a) for a in worlds]

    def _renamed(self, world: World, other: World) -> World:
        """As rows of the other's owners: one person has these rows or those."""
        if self.case.owner is None:
            return world
        ids = {row["home"]: row for row in other}
        homes = {
            home: list(ids.values())[k % len(ids)] for k, home in enumerate(dict.fromkeys(r["home"] for r in world))
        }
        return [
            {**row, "home": homes[row["home"]]["home"],
             "who": homes[row["home"]]["who"] // 10 * 10 + (row["who"] % 10 if self.case.unit else 0)}
            for row in world
        ]  # fmt: skip

    # -- cells ----------------------------------------------------------------------------------------------------

    def cells(self, world: World) -> tuple[Cells, ...]:
        """What the definition makes of these rows."""
        key = id(world)
        if key not in self._cells:
            self._cells[key] = world, self.found(world)
        return self._cells[key][1]

    def view(self, world: World, draws: Sequence[dict[NoisyNumber, Draw]]) -> View:
        """The cells in scales of their noise."""
        numbers, seen, sizes = {}, {}, {}
        for one in self.cells(world):
            own = draws[one.query]
            for j, label in enumerate(one.labels):
                place = one.query, label
                kinds: list[NoisyNumber] = [kind for kind in own if kind != NoisyNumber.TOUCHED]
                plain = {kind: float(one.numbers[kind][j]) * self.units[one.query][kind] for kind in kinds}
                numbers[place] = tuple(plain[kind] / own[kind].scale for kind in kinds)
                decides = next((k for k in own if own[k].threshold is not None), None)
                seen[place] = plain[decides] if decides is not None else 0.0
                if one.sizes:
                    sizes[place] = one.sizes[j]
            if NoisyNumber.TOUCHED in own:  # one number for all groups, and published in any case
                (some,) = one.numbers[NoisyNumber.TOUCHED]
                numbers[one.query, _ALL] = (float(some) / own[NoisyNumber.TOUCHED].scale,)
        return View(numbers, seen, sizes)

    def others(self, chosen: Iterable[tuple[World, World]]) -> list[World]:
        """Crowds that share none, all or some of the groups: a person each, of one row, for each different row."""
        rows = {tuple((k, x) for k, x in row.items() if k in self.case.domain): row
                for pair in chosen for world in pair for row in world}  # fmt: skip
        alone = [{**row, "who": -10 - 10 * k, "home": f"other {k}"} for k, row in enumerate(rows.values())]
        common = [r for r in alone if not any(str(r[n]).startswith("own") for n in ("g", "h"))]
        half = [r for r in alone if self.rng.random() < 0.5]
        return [[], common, alone, half]

    def apart(self, question: Question, epsilon: float, people: int = 1) -> list[Found]:
        """The pairs of worlds that no other makes needless."""
        draws = [draws_of(self.plan, i, epsilon) for i in range(len(self.plan.queries))]
        return self.told(self.asked(question, people), draws)

    def told(
        self, chosen: list[tuple[World, World]], draws: Sequence[dict[NoisyNumber, Draw]], only: set[int] | None = None
    ) -> list[Found]:
        """What tells each of these pairs apart, among others of several kinds; by some of the queries only."""
        made: dict[Pair, Found] = {}
        seen = []
        for first, second in chosen:
            try:
                seen.append((first, second, self.view(first, draws), self.view(second, draws)))
            except InputError:  # a public size, and a value that is missing
                continue
        for others in self.others(chosen):
            try:
                there = {(c.query, label) for c in self.cells(others) for label in c.labels}
            except InputError:
                continue
            for first, second, a, b in seen:
                pair = self._told(a, b, there, draws, only)
                if pair is not None and pair not in made:
                    made[pair] = Found(pair, first, second, others)
        return [made[p] for p in dominated(list(made))]

    def between(
        self, first: World, second: World, others: World, draws: Sequence[dict[NoisyNumber, Draw]]
    ) -> Pair | None:
        """What tells two worlds apart among these others; None where public sizes do."""
        there = {(c.query, label) for c in self.cells(others) for label in c.labels}
        return self._told(self.view(first, draws), self.view(second, draws), there, draws)

    def _told(
        self,
        a: View,
        b: View,
        there: set[Place],
        draws: Sequence[dict[NoisyNumber, Draw]],
        only: set[int] | None = None,
    ) -> Pair | None:
        if a.sizes != b.sizes and {p for p in (*a.sizes, *b.sizes) if a.sizes.get(p, 0) != b.sizes.get(p, 0)}:
            return None  # the sizes are public: both worlds have the same
        moved: list[float] = []
        hidden = [1.0, 1.0]
        for place in {*a.numbers, *b.numbers}:
            if only is not None and place[0] not in only:
                continue
            zero = (0.0,) * len(next(view.numbers[place] for view in (a, b) if place in view.numbers))
            if (
                self.named[place[0]]
                and place[1] != _ALL
                and place not in there
                and (place in a.numbers) != (place in b.numbers)
            ):
                world, view = (0, a) if place in a.numbers else (1, b)
                draw = next((d for d in draws[place[0]].values() if d.threshold is not None), Draw(Noise.LAPLACE, 1.0))
                hidden[world] *= 1 - listed_with(draw, view.seen[place])
                continue
            both = zip(a.numbers.get(place, zero), b.numbers.get(place, zero), strict=True)
            moved += [t for x, y in both if (t := round(abs(x - y), 13)) > 0]
        return Pair.of(moved, self.plan.mechanism.noise is Noise.GAUSSIAN, 1 - hidden[0], 1 - hidden[1])

    # -- what the cells of a table are made of --------------------------------------------------------------------

    def additive(self, worlds: Sequence[World], whole: Callable[[World], tuple[Cells, ...]]) -> bool:
        """Whether the cells of a table are those of its people added up."""

        def numbers(made: tuple[Cells, ...]) -> Counter[Any]:
            found: Counter[Any] = Counter()
            for one in made:
                for kind, each in one.numbers.items():
                    labels = [_ALL] if kind is NoisyNumber.TOUCHED else one.labels
                    found.update({(one.query, kind, label): x for label, x in zip(labels, each, strict=True)})
            return found

        added: Counter[Any] = Counter()
        for world in worlds:
            added.update(numbers(self.found(world)))
        there = {(one.query, label) for world in worlds for one in self.found(world) for label in one.labels}
        made = whole([row for world in worlds for row in world])
        return numbers(made) == added and {(one.query, label) for one in made for label in one.labels} == there
