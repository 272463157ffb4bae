"""Every adversary searched: of a finite table all at once, of any model in the order of a bound on each.

In a table each other record is known with one of its values, or unknown.

For a target i the patterns of {0, …, d−1, *} over the other records are walked as a tree, the last records of the walk
all at once: making a record unknown adds its slices, each shifted by what its value contributes (§C(b)). Where sums
have no common unit, each set of unknown records is laid out on its own distinct sums instead.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ...checks import Array
from .adversary import Laws, displacement
from .risk import Progress, Risk
from .sums import Contributions, merge

_BLOCK = 200_000  # numbers handled at once: about a second-level cache
_TIE = 1 + 1e-14  # a rounding error is no worse adversary

#: From places (R,) and weights (R, d, M) to a risk per ordered pair and column, (d, d, M).
Measure = Callable[[Array, Array], Array]


@dataclass
class Found:
    """The largest value met, and the adversary it belongs to: what each other record is, −1 for unknown."""

    value: float = -math.inf
    target: int = -1
    pattern: tuple[int, ...] = ()
    pair: tuple[int, int] = (0, 0)

    @property
    def known(self) -> dict[int, int]:
        """Record → number of its known value."""
        return {j: v for j, v in enumerate(self.pattern) if v >= 0 and j != self.target}


def layout(joint: Array, parts: Contributions, target: int, unknown: tuple[int, ...]) -> tuple[Array, Array]:
    """Places (R,) of the sum of target and unknown records, and weights (R, d, M) for all values of the others.

    The others' values run in the order of their numbers, the last fastest.
    """
    n = joint.ndim
    known = [j for j in range(n) if j != target and j not in unknown]
    cube = np.transpose(joint, (target, *unknown, *known))
    inside = math.prod(joint.shape[j] for j in unknown)
    cube = cube.reshape(joint.shape[target], inside, -1)
    sums = np.zeros(1)
    for j in unknown:
        sums = (sums[:, None] + parts.amounts[j]).ravel()
    places, index = merge(parts.amounts[target][:, None] + sums)
    weights = np.zeros((places.size, cube.shape[0], cube.shape[2]))
    for x in range(cube.shape[0]):
        if np.unique(index[x]).size == inside:
            weights[index[x], x] = cube[x]
        else:
            np.add.at(weights[:, x], index[x], cube[x])
    return places * parts.unit, weights


def work(shape: tuple[int, ...], parts: Contributions) -> tuple[float, bool]:
    """Roughly how many numbers a full search handles, and whether the grid is the cheaper way."""
    n, longest = len(shape), math.inf
    if parts.whole:
        longest = 1 + float(sum(a.max() for a in parts.amounts))
    grid = general = 0.0
    for i, d in enumerate(shape):
        others = [s for j, s in enumerate(shape) if j != i]
        per_place = d * max(d - 1, 1) / 2 + d  # every pair of values, and the laws themselves
        grid += per_place * math.prod(s + 1 for s in others) * longest
        cells = math.prod(shape)
        if n <= 10:
            for size in range(1, n):
                for unknown in combinations(others, size):
                    inside = math.prod(unknown)
                    general += 2e4 + 4 * per_place * min(d * inside, longest) * (cells / d / inside)
        else:
            general += 2 ** (n - 1) * (2e4 + 4 * per_place * cells)
    return (grid, True) if grid <= general else (general, False)


@dataclass
class Search:
    """One search over all adversaries of a table.

    ``measure`` gives the risk; ``bounds`` an upper bound per target for any knowledge; ``group`` the bound for the way
    moved by the unknown records, so that a branch whose group bound cannot beat the best is left out (unless ``every``
    number of known records is asked for).
    """

    joint: Array
    parts: Contributions
    measure: Measure
    bounds: Array
    group: Callable[[float], float]
    every: bool = False
    deadline: float = math.inf
    progress: Progress | None = None
    best: Found = field(default_factory=Found)
    by_known: list[Found] = field(default_factory=list)
    examined: int = 0
    upper: float = -math.inf
    complete: bool = False

    def run(self) -> Search:
        """Targets in the order of their bounds; what is left at the deadline counts with its bound."""
        n = self.joint.ndim
        self.by_known = [Found() for _ in range(n)]
        _, grid = work(self.joint.shape, self.parts)
        order = [int(i) for i in np.argsort(-self.bounds, kind="stable")]
        left = list(order)
        for i in order:
            if not self.every and self.bounds[i] <= self.best.value:
                break
            if self.progress is not None:
                self.progress(1 - len(left) / n, f"{self.examined:,} adversaries examined")
            if not (self._grid(i) if grid else self._general(i)):
                break
            left.pop(0)
        else:
            left = []
        rest = [float(self.bounds[i]) for i in left if self.bounds[i] > self.best.value]
        self.complete = not (left if self.every else rest)
        self.upper = max([self.best.value, *rest])
        return self

    def _late(self) -> bool:
        return self.examined > 0 and time.monotonic() > self.deadline

    def _note(self, risk: Array, target: int, counts: Array, decode: Callable[[int], tuple[int, ...]]) -> None:
        """Take the largest risk, of all and for each number of known records, into account."""
        d, _, columns = risk.shape
        flat = risk.reshape(d * d, columns)
        each = flat.max(axis=0)
        self.examined += int(np.count_nonzero(each >= 0))
        candidates = [int(np.argmax(each))]
        if self.every:
            for k in np.unique(counts):
                among = np.flatnonzero(counts == k)
                candidates.append(int(among[np.argmax(each[among])]))
        for column in candidates:
            value = float(each[column])
            spot = self.by_known[int(counts[column])]
            if value <= spot.value and value <= self.best.value * _TIE:
                continue
            x, y = divmod(int(np.argmax(flat[:, column])), d)
            found = Found(value, target, decode(column), (x, y))
            if value > spot.value:
                self.by_known[int(counts[column])] = found
            if value > self.best.value * _TIE:
                self.best = found

    # -- sums on a grid ------------------------------------------------------------------------------------------

    def _grid(self, target: int) -> bool:
        """False when the deadline came first."""
        others = [j for j in range(self.joint.ndim) if j != target]
        steps = [self.parts.amounts[j].astype(int) for j in range(self.joint.ndim)]
        own = steps[target]
        cube = np.moveaxis(self.joint, target, 0)
        start = np.zeros((int(own.max()) + 1, *cube.shape))
        for x, place in enumerate(own):
            start[place, x] = cube[x]
        # as many records at the end of the walk as fit a block are handled at once
        length, columns, at_once = int(own.max()) + 1, 1, 0
        for j in reversed(others):
            longer, more = length + int(steps[j].max()), columns * (self.joint.shape[j] + 1)
            if at_once and longer * more * own.size > _BLOCK:
                break
            length, columns, at_once = longer, more, at_once + 1
        outer, inner = others[: len(others) - at_once], others[len(others) - at_once :]
        sizes = tuple(self.joint.shape[j] + 1 for j in inner)
        known_inside = np.zeros(sizes, dtype=int)
        for axis, j in enumerate(inner):
            flag = np.arange(sizes[axis]) < self.joint.shape[j]
            known_inside += flag.reshape([-1 if a == axis else 1 for a in range(len(sizes))])
        counts = known_inside.ravel()

        def decode(fixed: dict[int, int], column: int) -> tuple[int, ...]:
            pattern = [-1] * self.joint.ndim
            for j, v in fixed.items():
                pattern[j] = v
            for j, index in zip(inner, np.unravel_index(column, sizes), strict=True):
                pattern[j] = int(index) if index < self.joint.shape[j] else -1
            return tuple(pattern)

        def walk(cells: Array, depth: int, fixed: dict[int, int], moved: float) -> Iterator[bool]:
            if not self.every and self.group(moved) <= self.best.value:
                return
            if depth == len(outer):
                for j in inner:
                    cells = _opened(cells, steps[j])
                weights = cells.reshape(cells.shape[0], own.size, -1)
                places = np.arange(float(cells.shape[0])) * self.parts.unit
                risk = self.measure(places, weights)
                self._note(risk, target, counts + len(fixed), lambda column: decode(fixed, column))
                yield True
                return
            j = outer[depth]
            yield from walk(_summed(cells, steps[j]), depth + 1, fixed, moved)
            for v in range(self.joint.shape[j]):
                slice_ = cells[:, :, v]
                if slice_.any():
                    yield from walk(slice_, depth + 1, fixed | {j: v}, moved - float(self.parts.reach[j]))

        total = float(self.parts.reach.sum())
        return not any(self._late() for _ in walk(start, 0, {}, total))

    # -- any sums ------------------------------------------------------------------------------------------------

    def _general(self, target: int) -> bool:
        others = [j for j in range(self.joint.ndim) if j != target]
        reach = self.parts.reach
        for size in range(len(others), 0, -1):  # with everyone known the mechanism alone decides
            for unknown in combinations(others, size):
                if not self.every and self.group(float(reach[[target, *unknown]].sum())) <= self.best.value:
                    continue
                known = [j for j in others if j not in unknown]
                sizes = tuple(self.joint.shape[j] for j in known)
                places, weights = layout(self.joint, self.parts, target, unknown)
                width = max(_BLOCK // (places.size * weights.shape[1]), 1)
                for at in range(0, weights.shape[2], width):
                    risk = self.measure(places, weights[:, :, at : at + width])

                    def decode(
                        column: int, at: int = at, known: list[int] = known, sizes: tuple[int, ...] = sizes
                    ) -> tuple[int, ...]:
                        pattern = [-1] * self.joint.ndim
                        for j, v in zip(known, np.unravel_index(at + column, sizes), strict=True):
                            pattern[j] = int(v)
                        return tuple(pattern)

                    self._note(risk, target, np.full(risk.shape[2], len(known)), decode)
                    if self._late():
                        return False
        return True


def _summed(cells: Array, steps: Array) -> Array:
    """The first record after the target made unknown: its slices added, each shifted."""
    total = np.zeros((cells.shape[0] + int(steps.max()), cells.shape[1], *cells.shape[3:]))
    for v, step in enumerate(steps):
        total[int(step) : int(step) + cells.shape[0]] += cells[:, :, v]
    return total


def _opened(cells: Array, steps: Array) -> Array:
    """The same with the known values kept beside it; the axis moves to the end."""
    longer = cells.shape[0] + int(steps.max())
    rest = cells.shape[3:]
    both = np.zeros((longer, cells.shape[1], *rest, steps.size + 1))
    for v, step in enumerate(steps):
        both[: cells.shape[0], ..., v] = cells[:, :, v]
        both[int(step) : int(step) + cells.shape[0], ..., -1] += cells[:, :, v]
    return both


# -- any model, in the order of a bound -----------------------------------------------------------------------------


def swing(logs: Array) -> Array:
    """For each pair of rows (x, x′), how far log P(y|x)/P(y|x′) ranges over y: (d, d), infinite where a zero differs.

    With x and x′ two values of a record, and y those of its neighbour in a chain or tree, this bounds how far anything
    beyond that edge can move the odds, whatever is known there: knowledge reweights y, which cancels in the range.
    """
    with np.errstate(invalid="ignore"):
        ratio = logs[:, None] - logs[None]
    ratio = np.where(np.isneginf(logs)[:, None] & np.isneginf(logs)[None], np.nan, ratio)
    high = np.max(np.where(np.isnan(ratio), -np.inf, ratio), axis=-1)
    low = np.min(np.where(np.isnan(ratio), np.inf, ratio), axis=-1)
    known = np.isfinite(high) & np.isfinite(low)
    return np.where(known, np.where(known, high, 0.0) - np.where(known, low, 0.0), np.inf)


def screen(
    laws_of: Callable[[int, Mapping[int, int]], Laws],
    reach: Array,
    adversaries: Iterable[tuple[int, Mapping[int, int]]],
    risk: Risk,
    start: Found,
    deadline: float,
    progress: Progress | None,
) -> tuple[Found, float, bool, int]:
    """(best found, upper bound, complete, examined) over (target, known values).

    The bound moves the law of one value of the target to that of another by the shortest furthest move Δ: no test tells
    the mixtures better apart than bare noise shifted by Δ.
    """
    best, waiting, k = start, [], -1
    everyone = risk.shift(float(reach.sum()))
    for k, (target, known) in enumerate(adversaries):
        if k and time.monotonic() > deadline:
            return best, max(best.value, everyone), best.value >= everyone, k
        laws = laws_of(target, known)
        possible = laws.possible
        if len(possible) < 2:
            continue
        moved = max(displacement(laws, x, y) for at, x in enumerate(possible) for y in possible[at + 1 :])
        bound = risk.shift(moved)
        if bound > best.value * (1 + 1e-12):
            waiting.append((bound, target, known))
    waiting.sort(key=lambda w: -w[0])
    examined = k + 1 - len(waiting)
    for done, (bound, target, known) in enumerate(waiting):
        if bound <= best.value * (1 + 1e-12):
            return best, best.value, True, examined + done
        if done and time.monotonic() > deadline:
            return best, bound, False, examined + done
        if progress is not None:
            progress(done / len(waiting), f"{examined + done:,} adversaries examined")
        value, pair = risk.read(laws_of(target, known), best.value)
        if value > best.value:
            pattern = tuple(known.get(j, -1) for j in range(reach.size))
            best = Found(value, target, pattern, pair)
    return best, best.value, True, examined + len(waiting)
