"""Every pair of worlds a question allows, and what each moves: by enumeration, from the words of a plan alone.

A world is the multiset of one person's rows, over a small domain; everybody else stays as they are. What a person's
rows add to the noisy numbers of a query follows the plan: rows outside ``where`` and outside public ``groups`` are not
covered, rows without the value are not used, at most so many groups and rows are kept. Which ones depends on a keyed
hash of what the query sees of the person, so that every choice is possible that some order of the groups and rows
makes, the same order in both worlds.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from tests.judges.plans.conditions import Cell, Condition
from tests.judges.plans.laws import Pair, dominated, product

import epsilens as el

Row = tuple[Cell, ...]
World = tuple[Row, ...]
Label = tuple[Cell, ...]

_MOST_WORLDS = 1500
_MOST_PAIRS = 400_000


class TooMany(Exception):  # noqa: N818 - says that a plan is too large for enumeration
    """More worlds than can be enumerated."""


@dataclass(frozen=True)
class Ask:
    """One query of a plan, in the tester's own words."""

    kind: str
    column: str | None = None
    where: Condition | None = None
    by: tuple[str, ...] = ()
    groups: tuple[Label, ...] | None = None
    threshold: float | None = None
    bounds: tuple[float, float] | None = None
    public_size: bool = False
    rows: bool = False
    epsilon: float | None = None
    share: float | None = None

    @property
    def people(self) -> bool:
        """Whether people are counted, not rows and values."""
        return self.kind in ("count", "histogram") and not self.rows

    @property
    def bounded(self) -> bool:
        return self.kind in ("sum", "average")

    @property
    def split_by(self) -> tuple[str, ...]:
        return (*self.by, self.column) if self.kind == "histogram" and self.column else self.by

    @property
    def columns(self) -> frozenset[str]:
        """The columns it sees."""
        seen = frozenset(self.split_by) | (frozenset({self.column}) if self.column else frozenset())
        return seen | (self.where.columns if self.where else frozenset())

    @property
    def numbers(self) -> tuple[str, ...]:
        """The noisy numbers of each group."""
        if self.kind == "average":
            made: tuple[str, ...] = ("total",) if self.public_size else ("total", "size")
        else:
            made = ("answer",)
        return (*made, "people") if self.threshold is not None and not self.people else made

    def words(self) -> dict[str, Any]:
        """The query as a plan writes it."""
        made: dict[str, Any] = {}
        if self.kind == "count":
            made["count"] = str(self.where) if self.where else True
        else:
            made[self.kind] = self.column
            if self.where:
                made["where"] = str(self.where)
        if self.by:
            made["by"] = list(self.by)
        if self.groups is not None:
            made["groups"] = [list(g) if len(g) > 1 else g[0] for g in self.groups]
        for name in ("threshold", "epsilon", "share"):
            if getattr(self, name) is not None:
                made[name] = getattr(self, name)
        if self.bounds:
            made["bounds"] = list(self.bounds)
        if self.public_size:
            made["size"] = "public"
        if self.rows:
            made["rows"] = True
        return made


@dataclass(frozen=True)
class Case:
    """A plan, the values its columns may have, and a small table of them."""

    domain: Mapping[str, tuple[Cell, ...]]
    asks: tuple[Ask, ...]
    table: tuple[tuple[int, Row], ...]
    secret: Condition | None = None
    also: tuple[str, ...] = ()
    several: bool = False
    unit: bool = False  # those protected together are several people, told apart by the column "one"
    most: int = 1  # rows a person has at most, in the enumeration
    max_rows: int = 1
    max_groups: int | None = None
    noise: str = "laplace"
    epsilon: float = 1.0
    delta: float | None = None
    replace: bool = False
    quasi: tuple[str, ...] = ()
    adversary: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)

    def words(self) -> dict[str, Any]:
        """The plan as it is written."""
        data: dict[str, Any] = {"table": "t"}
        if self.several:
            data |= {"person": "who", "max_rows": self.max_rows}
            if self.unit:
                data |= {"person": "one", "unit": "who"}
            if self.max_groups is not None:
                data["max_groups"] = self.max_groups
        if self.quasi:
            data["quasi_identifiers"] = list(self.quasi)
        if self.secret:
            data["secret"] = {"where": str(self.secret), "columns": list(self.also)} if self.also else str(self.secret)
        mechanism: dict[str, Any] = {"noise": self.noise}
        if all(a.epsilon is None for a in self.asks):
            mechanism["epsilon"] = self.epsilon
        if self.delta is not None:
            mechanism["delta"] = self.delta
        if self.replace:
            mechanism["neighbours"] = "replace"
        made = {"data": data, "queries": [a.words() for a in self.asks], "mechanism": mechanism}
        if self.adversary:
            made["adversary"] = dict(self.adversary)
        made["limits"] = dict(self.limits)
        return made

    @property
    def shares(self) -> tuple[float, ...]:
        own = [a.epsilon for a in self.asks]
        if own[0] is not None:
            total = math.fsum(e or 0.0 for e in own)
            return tuple((e or 0.0) / total for e in own)
        if self.asks[0].share is not None:
            return tuple(a.share or 0.0 for a in self.asks)
        return (1 / len(self.asks),) * len(self.asks)

    @property
    def total(self) -> float:
        own = [a.epsilon for a in self.asks]
        return self.epsilon if own[0] is None else math.fsum(e or 0.0 for e in own)

    @property
    def sigma_columns(self) -> frozenset[str]:
        """The columns that change with the secret."""
        return (self.secret.columns if self.secret else frozenset(self.domain)) | frozenset(self.also)

    def groups_of(self, ask: Ask) -> int:
        """In how many groups of this query a person is at most."""
        if ask.people and not self.unit:
            return self.max_groups or 1
        return min(self.max_groups or self.max_rows, self.max_rows)


# -- the noise -----------------------------------------------------------------------------------------------------


def sensitivity(case: Case, ask: Ask, number: str) -> tuple[float, float]:
    """The most one person moves this number over all groups, added up and squared-and-added-up (reference/plan.md)."""
    m, grouped, replace = case.max_rows, bool(ask.split_by), case.replace
    if number == "people" or (number == "answer" and ask.people and not case.unit):
        if not grouped:
            return 1.0, 1.0
        cells = case.groups_of(ask) * (2 if replace else 1)
        if ask.groups is not None:
            cells = min(cells, len(ask.groups))
        return float(cells), math.sqrt(cells)
    both = replace and grouped and (ask.groups is None or len(ask.groups) > 1)
    if number == "size" or (number == "answer" and not ask.bounded):
        return (2.0 * m, math.sqrt(2) * m) if both else (float(m), float(m))
    assert ask.bounds
    low, high = ask.bounds
    if number == "total":
        low, high = -(high - low) / 2, (high - low) / 2
        if ask.public_size:
            return m * (high - low), m * (high - low)
    a, s = max(abs(low), abs(high)), max(high, 0.0) - min(low, 0.0)
    if not replace:
        return m * a, m * a
    if not both:
        return m * s, m * s
    return max(2 * m * a, m * s), m * max(math.sqrt(2) * a, s)


@lru_cache(maxsize=10_000)
def _psi(epsilon: float, delta: float) -> float:
    return float(el.gaussian(epsilon=epsilon, delta=delta).psi())


def scales(case: Case) -> tuple[tuple[float, ...], ...]:
    """The scale of the noise of each number of each query."""
    made = []
    for ask, share in zip(case.asks, case.shares, strict=True):
        parts = len(ask.numbers)
        epsilon = case.total * share / parts
        one = []
        for number in ask.numbers:
            l1, l2 = sensitivity(case, ask, number)
            if case.noise == "laplace":
                one.append(l1 / epsilon)
            else:
                one.append(l2 / _psi(epsilon, (case.delta or 0.0) * share / parts))
        made.append(tuple(one))
    return tuple(made)


def listed(case: Case, ask: Ask, scale: tuple[float, ...], people: float = 1.0) -> float:
    """The chance that the name of a group with one person (or so many of one household) in it is published."""
    if ask.threshold is None:
        return 1.0
    over = (ask.threshold - people) / scale[-1]
    if case.noise == "gaussian":
        return 0.5 * math.erfc(over / math.sqrt(2))
    return 0.5 * math.exp(-over) if over >= 0 else 1 - 0.5 * math.exp(over)


# -- worlds --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What one query makes of one world, for one choice of what is kept."""

    kept: frozenset[Any]
    left: frozenset[Any]
    rows_kept: frozenset[Any]
    rows_left: frozenset[Any]
    adds: tuple[tuple[Label, tuple[float, ...]], ...]
    sizes: tuple[tuple[Label, int], ...] = ()


def content(ask: Ask, names: tuple[str, ...], world: World) -> tuple[Any, ...]:
    """What the query sees of a person: for each covered row its group, its value, and all it mentions."""
    made: list[tuple[Any, ...]] = []
    mentioned = [i for i, n in enumerate(names) if n in ask.columns]
    for row in world:
        cells = dict(zip(names, row, strict=True))
        if ask.where is not None and ask.where.holds(cells) is not True:
            continue
        label = tuple(cells[c] for c in ask.split_by)
        if ask.groups is not None and label not in ask.groups:
            continue
        value: Any = 1.0
        if ask.bounded:
            assert ask.column
            assert ask.bounds
            value = cells[ask.column]
            if value is None:
                continue
            value = min(max(value, ask.bounds[0]), ask.bounds[1])
        made.append((label, value, tuple(row[i] for i in mentioned), cells.get("one")))
    if ask.people and "one" in names:
        return tuple(sorted({(label, 1.0, who) for label, _, _, who in made}, key=repr))
    if ask.people:
        return tuple(sorted({item[0] for item in made}, key=repr))
    return tuple(sorted((item[:3] for item in made), key=repr))


def choices(case: Case, ask: Ask, seen: tuple[Any, ...]) -> tuple[Seen, ...]:
    """All that may be kept of what the query sees."""
    limit = case.groups_of(ask)
    if ask.people and not case.unit:
        return tuple(
            Seen(frozenset(kept), frozenset(seen) - frozenset(kept), frozenset(), frozenset(),
                 tuple((label, (1.0,)) for label in kept))
            for kept in itertools.combinations(seen, min(limit, len(seen)))
        )  # fmt: skip
    copies: Counter[Any] = Counter()
    items = []
    for item in seen:
        items.append((*item, copies[item]))
        copies[item] += 1
    labels = sorted({item[0] for item in items}, key=repr)
    made: dict[Seen, None] = {}
    for kept in itertools.combinations(labels, min(limit, len(labels))):
        within = [item for item in items if item[0] in kept]
        for rows in itertools.combinations(within, min(case.max_rows, len(within))):
            sizes = Counter(item[0] for item in rows)
            adds = []
            for label in sorted(sizes, key=repr):
                values = [item[1] for item in rows if item[0] == label]
                adds.append((label, _amounts(ask, values)))
            one = Seen(frozenset(kept), frozenset(labels) - frozenset(kept), frozenset(rows),
                       frozenset(within) - frozenset(rows), tuple(adds),
                       tuple(sorted(sizes.items(), key=repr)) if ask.public_size else ())  # fmt: skip
            made[one] = None
    return tuple(made)


def _amounts(ask: Ask, values: list[float]) -> tuple[float, ...]:
    if ask.kind == "average":
        assert ask.bounds
        centre = (ask.bounds[0] + ask.bounds[1]) / 2
        made = [math.fsum(v - centre for v in values)] + ([] if ask.public_size else [float(len(values))])
    elif ask.kind == "sum":
        made = [math.fsum(values)]
    else:
        made = [float(len(values))]
    return (*made, 1.0) if "people" in ask.numbers else tuple(made)


def consistent(first: Seen, second: Seen) -> bool:
    """Whether some order of groups and rows, the same in both worlds, makes both choices."""
    groups = not (first.kept & second.left and first.left & second.kept)
    return groups and not (first.rows_kept & second.rows_left and first.rows_left & second.rows_kept)


def moves(
    ask: Ask, scale: tuple[float, ...], first: Seen, second: Seen
) -> tuple[tuple[tuple[float, ...], int, float], ...] | None:
    """How far each group's numbers move, and which world alone has a name that could tell: 0, 1, or −1 for none.

    With it, how many people of a household a threshold would see in a group where nobody else is.

    None where sizes that everybody knows differ: not both worlds are possible.
    """
    if first.sizes != second.sizes:
        return None
    zero = tuple(0.0 for _ in scale)
    left, right = dict(first.adds), dict(second.adds)
    public = not ask.split_by or ask.groups is not None
    made = []
    for label in {*left, *right}:
        a, b = left.get(label, zero), right.get(label, zero)
        t = tuple(round(abs(x - y) / s, 14) for x, y, s in zip(a, b, scale, strict=True))
        alone = -1 if public or (label in left) == (label in right) else int(label in right)
        if any(t) or alone >= 0:
            made.append((t, alone, max(a[-1], b[-1]) if ask.threshold is not None else 1.0))
    return tuple(sorted(made))


def told(
    shape: tuple[tuple[tuple[float, ...], int, float], ...], chance: Callable[[float], float], gaussian: bool
) -> list[Pair]:
    """What tells two worlds apart: each group's numbers, or its name where nobody else is in it."""
    found = [Pair((), gaussian)]
    for t, alone, people in shape:
        moved = tuple(sorted((x for x in t if x), reverse=True))
        one = [Pair((math.hypot(*moved),) if gaussian and moved else moved, gaussian)]
        if alone >= 0:
            p = chance(people)
            one.append(Pair((), gaussian, p if alone == 0 else 0.0, p if alone == 1 else 0.0))
        found = dominated(product(found, one))
    return found


# -- questions -----------------------------------------------------------------------------------------------------


class Question:
    """Which pairs of worlds are compared."""

    MEMBERSHIP = "membership"
    MISSING = "missing"
    SECRET = "secret"


def all_worlds(case: Case, *, absent: bool) -> Iterator[World]:
    rows = list(itertools.product(*case.domain.values()))
    if math.comb(len(rows) + case.most, case.most) > 40_000:
        raise TooMany
    for n in range(0 if absent else 1, case.most + 1):
        yield from itertools.combinations_with_replacement(rows, n)


def _asked(case: Case, question: str) -> list[tuple[list[World], list[World]]]:
    """Sets of first worlds, each with the second worlds that go with it."""
    names = tuple(case.domain)
    present = list(all_worlds(case, absent=False))
    if question == Question.MEMBERSHIP and not case.replace:
        return [([()], present)]
    if question != Question.SECRET or case.secret is None:
        return [(present, present)]
    fixed = [i for i, n in enumerate(names) if n not in case.sigma_columns]
    classes: dict[Any, tuple[list[World], list[World]]] = {}
    for world in present:
        key = tuple(sorted((tuple(row[i] for i in fixed) for row in world), key=repr))
        has = any(case.secret.holds(dict(zip(names, row, strict=True))) is True for row in world)
        classes.setdefault(key, ([], []))[int(has)].append(world)
    return [both for both in classes.values() if both[0] and both[1]]


def worst_pairs(case: Case, question: str, scale: tuple[tuple[float, ...], ...] | None = None) -> list[Pair]:
    """The pairs of worlds of a question that no other makes needless."""
    return Search(case, scales(case) if scale is None else scale).worst(question)


class Search:
    """One plan at one noise: what its queries see of a world is worked out once."""

    def __init__(self, case: Case, scale: tuple[tuple[float, ...], ...]) -> None:
        self.case, self.scale = case, scale
        self.names = tuple(case.domain)
        self.chance = [partial(listed, case, ask, s) for ask, s in zip(case.asks, scale, strict=True)]
        self.ways: list[list[Pair]] = []  # different sets of movements of a query, by number
        self.way_of: dict[Any, int] = {}
        self.options: list[tuple[Seen, ...]] = []  # different views of a world, by number
        self.view_of: dict[Any, int] = {}
        self.between: dict[tuple[int, int], int] = {}
        self.example: dict[Pair, tuple[World, World]] = {}

    def view(self, k: int, world: World) -> int:
        """The number of what query k sees of a world."""
        seen = content(self.case.asks[k], self.names, world)
        if (k, seen) not in self.view_of:
            found = choices(self.case, self.case.asks[k], seen)
            # where nothing is left out, only what is added matters
            key = (k, found[0].adds, found[0].sizes) if len(found) == 1 else (k, "choice", seen)
            if key not in self.view_of:
                self.view_of[key] = len(self.options)
                self.options.append(found)
            self.view_of[k, seen] = self.view_of[key]
        return self.view_of[k, seen]

    def way(self, k: int, a: int, b: int) -> int:
        """The number of the movements of query k between two views."""
        if (a, b) not in self.between:
            if a == b:
                shapes: frozenset[Any] = frozenset({()})
            else:
                both = itertools.product(self.options[a], self.options[b])
                ask, scale = self.case.asks[k], self.scale[k]
                shapes = frozenset(moves(ask, scale, x, y) for x, y in both if consistent(x, y)) - {None}
            if (k, shapes) not in self.way_of:
                self.way_of[k, shapes] = len(self.ways)
                gaussian = self.case.noise == "gaussian"
                self.ways.append(dominated([p for shape in shapes for p in told(shape, self.chance[k], gaussian)]))
            self.between[a, b] = self.way_of[k, shapes]
        return self.between[a, b]

    def worst(self, question: str) -> list[Pair]:
        """The pairs no other makes needless; ``example`` has two worlds for each."""
        together: dict[tuple[int, ...], tuple[World, World]] = {}
        queries = range(len(self.case.asks))
        for firsts, seconds in _asked(self.case, question):
            left = {tuple(self.view(k, w) for k in queries): w for w in firsts}
            right = {tuple(self.view(k, w) for k in queries): w for w in seconds}
            if len(left) * len(right) > _MOST_PAIRS:
                raise TooMany
            for a, first in left.items():
                for b, second in right.items():
                    together.setdefault(tuple(self.way(k, a[k], b[k]) for k in queries), (first, second))
        gathered: list[Pair] = []
        for numbers, worlds in together.items():
            made = product(*(self.ways[n] for n in numbers))
            self.example |= dict.fromkeys(made, worlds)
            gathered += made
        return dominated(gathered)
