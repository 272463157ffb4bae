"""Records with any finite joint distribution: every adversary, exactly.

For a target i the patterns of {0, …, d−1, *} over the other records (known with a value, or unknown) are walked as a
tree, the last records of the walk all at once: making a record unknown adds its slices, each shifted by what its value
contributes (§C(b)). Where sums have no common unit, each set of unknown records is laid out on its own distinct sums.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import InputError
from .answer_laws import Contributions, Laws, Width, displacement, merge_sums, suprema
from .records import (
    CorrelatedRecords,
    Known,
    Outcome,
    Progress,
    RiskMeasure,
    Seconds,
    Worst,
    WorstPattern,
    deadline_after,
)

_BLOCK = 200_000  # numbers handled at once: about a second-level cache
_TIE = 1 + 1e-14  # a rounding error is no worse adversary

#: From places (R,) and weights (R, d, M) to a risk per ordered pair and column, (d, d, M).
Measure = Callable[[Array, Array], Array]


def sum_layout(joint: Array, parts: Contributions, target: int, unknown: tuple[int, ...]) -> tuple[Array, Array]:
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
    places, index = merge_sums(parts.amounts[target][:, None] + sums)
    weights = np.zeros((places.size, cube.shape[0], cube.shape[2]))
    for x in range(cube.shape[0]):
        if np.unique(index[x]).size == inside:
            weights[index[x], x] = cube[x]
        else:
            np.add.at(weights[:, x], index[x], cube[x])
    return places * parts.unit, weights


def search_cost(shape: tuple[int, ...], parts: Contributions) -> tuple[float, bool]:
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
    best: WorstPattern = field(default_factory=WorstPattern)
    by_known: list[WorstPattern] = field(default_factory=list)
    examined: int = 0
    upper: float = -math.inf
    complete: bool = False

    def run(self) -> Search:
        """Targets in the order of their bounds; what is left at the deadline counts with its bound."""
        n = self.joint.ndim
        self.by_known = [WorstPattern() for _ in range(n)]
        _, grid = search_cost(self.joint.shape, self.parts)
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

    def _deadline_passed(self) -> bool:
        return self.examined > 0 and time.monotonic() > self.deadline

    def _record_best(self, risk: Array, target: int, counts: Array, decode: Callable[[int], tuple[int, ...]]) -> None:
        """Take the largest risk, of all and for each number of known records, into account."""
        each = risk.reshape(-1, risk.shape[2]).max(axis=0)
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
            found = WorstPattern(value, target, decode(column))
            if value > spot.value:
                self.by_known[int(counts[column])] = found
            if value > self.best.value * _TIE:
                self.best = found

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
                    cells = _with_marginal(cells, steps[j])
                weights = cells.reshape(cells.shape[0], own.size, -1)
                places = np.arange(float(cells.shape[0])) * self.parts.unit
                risk = self.measure(places, weights)
                self._record_best(risk, target, counts + len(fixed), lambda column: decode(fixed, column))
                yield True
                return
            j = outer[depth]
            yield from walk(_marginal(cells, steps[j]), depth + 1, fixed, moved)
            for v in range(self.joint.shape[j]):
                slice_ = cells[:, :, v]
                if slice_.any():
                    yield from walk(slice_, depth + 1, fixed | {j: v}, moved - float(self.parts.reach[j]))

        total = float(self.parts.reach.sum())
        return not any(self._deadline_passed() for _ in walk(start, 0, {}, total))

    def _general(self, target: int) -> bool:
        others = [j for j in range(self.joint.ndim) if j != target]
        reach = self.parts.reach
        for size in range(len(others), 0, -1):  # with everyone known the mechanism alone decides
            for unknown in combinations(others, size):
                if not self.every and self.group(float(reach[[target, *unknown]].sum())) <= self.best.value:
                    continue
                known = [j for j in others if j not in unknown]
                sizes = tuple(self.joint.shape[j] for j in known)
                places, weights = sum_layout(self.joint, self.parts, target, unknown)
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

                    self._record_best(risk, target, np.full(risk.shape[2], len(known)), decode)
                    if self._deadline_passed():
                        return False
        return True


def _marginal(cells: Array, steps: Array) -> Array:
    """The first record after the target made unknown: its slices added, each shifted."""
    total = np.zeros((cells.shape[0] + int(steps.max()), cells.shape[1], *cells.shape[3:]))
    for v, step in enumerate(steps):
        total[int(step) : int(step) + cells.shape[0]] += cells[:, :, v]
    return total


def _with_marginal(cells: Array, steps: Array) -> Array:
    """The same with the known values kept beside it; the axis moves to the end."""
    longer = cells.shape[0] + int(steps.max())
    rest = cells.shape[3:]
    both = np.zeros((longer, cells.shape[1], *rest, steps.size + 1))
    for v, step in enumerate(steps):
        both[: cells.shape[0], ..., v] = cells[:, :, v]
        both[int(step) : int(step) + cells.shape[0], ..., -1] += cells[:, :, v]
    return both


# -- any model, in the order of a bound -----------------------------------------------------------------------------


def log_odds_range(logs: Array) -> Array:
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
    risk: RiskMeasure,
    start: WorstPattern,
    deadline: float,
    progress: Progress | None,
) -> tuple[WorstPattern, float, bool, int]:
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
        value = risk.read(laws_of(target, known), best.value)
        if value > best.value:
            best = WorstPattern(value, target, tuple(known.get(j, -1) for j in range(reach.size)))
    return best, best.value, True, examined + len(waiting)


MOST_CELLS = 2**24
_MOST_WORK = 6e9  # about a minute
_MOST_EXPERIMENTS = 2_000_000
TOTAL = 1e-9  # how far probabilities may sum from one


class JointTable(CorrelatedRecords):
    """Records x with a joint distribution ``joint``, and a noisy answer Σ aⱼxⱼ. Built by
    :func:`~epsilens.attacks.correlated.networks.table`."""

    def __init__(self, joint: Array, parts: Contributions, names: tuple[str, ...]) -> None:
        self.joint, self.parts, self.names = joint, parts, names
        self.joint.setflags(write=False)

    def __repr__(self) -> str:
        return f"correlated.table({self.n} records of {'×'.join(map(str, self.joint.shape))} values)"

    def table(self) -> JointTable:
        return self

    def _mixtures(self, target: int, known: Mapping[int, int]) -> Laws:
        index: tuple[Any, ...] = tuple(
            slice(known[j], known[j] + 1) if j in known else slice(None) for j in range(self.n)
        )
        unknown = tuple(j for j in range(self.n) if j != target and j not in known)
        small = self.joint[index]
        places, weights = sum_layout(small, self.parts, target, unknown)
        with np.errstate(divide="ignore"):
            return Laws(places, np.log(weights[:, :, 0]), self.parts.values[target])

    def _possible(self, known: tuple[int, ...]) -> Callable[[tuple[int, ...]], bool]:
        possible = self.joint.sum(axis=tuple(j for j in range(self.n) if j not in known)) > 0
        return lambda numbers: bool(possible[numbers])

    def leakage(self, target: int | str, known: Known = (), *, scale: object = 1.0) -> float:
        """As for all models; many known values at once.

        >>> from epsilens import correlated
        >>> t = correlated.table([[0.3, 0.2], [0.2, 0.3]])  # Table II(a) of paper 004
        >>> round(t.leakage(0, scale=1.0), 10), t.leakage(0, known={1: 1}, scale=1.0)
        (1.1853759033, 1.0)
        """
        width = self._risk(scale, None).width
        i, given = self._adversary(target, known)
        if isinstance(given, dict) or len(given) in (0, self.n - 1):
            return super().leakage(target, known, scale=scale)
        unknown = tuple(j for j in range(self.n) if j != i and j not in given)
        places, weights = sum_layout(self.joint, self.parts, i, unknown)
        return max(float(suprema(places, weights, width).max()), 0.0)

    def _refuse_if_large(self, deadline: float) -> None:
        size = search_cost(self.joint.shape, self.parts)[0]
        if size > _MOST_WORK and deadline == math.inf:
            raise InputError(
                f"the table has {self.n} records and about {size:.0e} numbers to go through: "
                "give time_limit in seconds for the best found by then with a proven bound",
                "time_limit",
            )

    def _bounds(self, risk: RiskMeasure) -> Array:
        """An upper bound per target over all knowledge: everyone moves together (16), or, for the leakage, the own move
        and the largest swing of the odds of two values as everyone else changes.
        """
        group = np.full(self.n, risk.shift(float(self.reach.sum())))
        if risk.reading != "leakage" or not (self.joint > 0).all() or self.joint.size * max(self.joint.shape) > 1e8:
            return group
        logs = np.log(self.joint)
        swings = []
        for i, d in enumerate(self.joint.shape):
            slices = np.moveaxis(logs, i, 0).reshape(d, -1)
            odds = slices[:, None] - slices[None]
            swings.append(float((odds.max(axis=-1) - odds.min(axis=-1)).max()))
        own = self.reach / risk.width + np.asarray(swings)
        return np.asarray(np.minimum(group, own * (1 + 1e-12)))

    def _scan(self, risk: RiskMeasure, deadline: float, progress: Progress | None, *, every: bool) -> Search:
        self._refuse_if_large(deadline)
        least = float(np.log(self.joint[self.joint > 0].min()))
        search = Search(
            self.joint,
            self.parts,
            lambda places, weights: risk.measure(places, weights, least),
            self._bounds(risk),
            risk.shift,
            every=every,
            deadline=deadline,
            progress=progress,
            best=self._strongest(risk),
        )
        search.run()
        search.by_known[-1] = self._strongest(risk)  # the mechanism alone, without rounding
        return search

    def _search(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> Outcome:
        if not risk.at_once:
            return self._by_experiments(risk, deadline, progress)
        search = self._scan(risk, deadline, progress, every=False)
        return self._outcome(search.best, search.upper, search.complete, search.examined)

    def _outcome(self, found: WorstPattern, upper: float, complete: bool, examined: int) -> Outcome:
        numbers = found.known
        everyone = len(numbers) == self.n - 1  # their values do not matter
        values = None if everyone else {j: float(self.parts.values[j][v]) for j, v in numbers.items()}
        method = "all adversaries" if complete else "adversaries examined until the time limit"
        return Outcome(found.value, found.target, tuple(numbers), values, upper, complete, examined, method)

    def _by_experiments(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> Outcome:
        """Gaussian noise, or another reading: adversaries in the order of a bound, each read from its experiment."""
        count = self.n * math.prod(d + 1 for d in self.joint.shape)
        if count > _MOST_EXPERIMENTS:
            raise InputError(
                f"the table has {count:.2g} adversaries, which this noise or reading takes one by one: "
                f"give a table with at most {_MOST_EXPERIMENTS:,}, or Laplace noise and its leakage or success"
            )
        start = self._strongest(risk)
        return self._outcome(*screen(self._laws, self.reach, self._adversaries(), risk, start, deadline, progress))

    def _adversaries(self) -> Iterator[tuple[int, dict[int, int]]]:
        """(target, numbers of known values) of all who leave something unknown."""
        for i in range(self.n):
            others = [j for j in range(self.n) if j != i]
            for pattern in product(*(range(-1, self.joint.shape[j]) for j in others)):
                known = {j: v for j, v in zip(others, pattern, strict=True) if v >= 0}
                if len(known) < self.n - 1:
                    yield i, known

    def by_known(
        self, *, scale: Width = None, sigma: Width = None, time_limit: Seconds = None, progress: Progress | None = None
    ) -> tuple[Worst, ...]:
        """The worst adversary for each number of known records, from none to all others (the curve of Figure 4).

        >>> from epsilens import correlated
        >>> three = correlated.table([[[0.24, 0.08], [0.04, 0.14]], [[0.1, 0.04], [0.16, 0.2]]])
        >>> [round(w.leakage, 4) for w in three.by_known(scale=1.0)]
        [1.7236, 1.5193, 1.0]
        """
        risk, deadline = self._risk(scale, sigma), deadline_after(time_limit)
        if risk.noise == "sigma":
            return self._by_known_screened(risk, deadline, progress)
        search = self._scan(risk, deadline, progress, every=True)
        top, rows = float(self._bounds(risk).max()), []
        for k, found in enumerate(search.by_known):
            if found.target < 0:  # not one adversary with this many known records met in time
                found = WorstPattern(0.0, 0, tuple([0] * (k + 1) + [-1] * (self.n - 1 - k)))
            complete = search.complete or k == self.n - 1
            moved = risk.shift(float(np.sort(self.reach)[k:].sum()))  # at best the k least movers are known
            upper = found.value if complete else max(found.value, min(top, moved))
            rows.append(self._result(risk, self._outcome(found, upper, complete, search.examined)))
        return tuple(rows)

    def _by_known_screened(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> tuple[Worst, ...]:
        groups: list[list[tuple[int, dict[int, int]]]] = [[] for _ in range(self.n)]
        for target, known in self._adversaries():
            groups[len(known)].append((target, known))
        rows = []
        for k, listed in enumerate(groups[:-1]):
            nobody = WorstPattern(0.0, 0, tuple([0] * (k + 1) + [-1] * (self.n - 1 - k)))
            found = screen(self._laws, self.reach, listed, risk, nobody, deadline, progress)
            rows.append(self._result(risk, self._outcome(*found)))
        strongest = self._strongest(risk)
        rows.append(self._result(risk, self._outcome(strongest, strongest.value, True, 1)))
        return tuple(rows)

    def independent(self, record: int) -> JointTable:
        """The same table with one record made independent of the others: its marginal times the rest."""
        j = self._record("record", record)
        rest = self.joint.sum(axis=j, keepdims=True)
        own = self.joint.sum(axis=tuple(k for k in range(self.n) if k != j), keepdims=True)
        return JointTable(rest * own, self.parts, self.names)

    def _worst_without(self, record: int, risk: RiskMeasure, time_limit: float | None) -> Worst:
        return self.independent(record)._worst_by_risk(risk, time_limit, None)


def check_probabilities(name: str, p: Array, *, of: str = "") -> None:
    """Refuse what is not a distribution; ``of`` is the parameter it was given by, where that has another name."""
    if (p < 0).any():
        raise InputError(
            f"{name} has the negative probability {float(p.min()):g}: give probabilities of at least 0", of or name
        )
    total = float(p.sum())
    if abs(total - 1) > TOTAL:
        raise InputError(
            f"the probabilities of {name} sum to {total:.12g}: give probabilities that sum to 1", of or name
        )
