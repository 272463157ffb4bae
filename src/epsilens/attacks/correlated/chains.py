"""A Markov chain of records: the worst adversary in polynomial time.

Given the target, what lies beyond the nearest known record on either side tells nothing more about it; unknown records
out there only blur the answer. So an adversary is a target i with the nearest known record on the left (l, x_l) and on
the right (r, x_r), or none. Given x_i the two sides are independent, and for an ordered pair of values

    L(x → x′) ≤ |x − x′|·a_i/λ + D_left(x → x′) + D_right(x → x′),

D being the leakage of one side alone (replace one part after the other). Sides are laid out by a walk outwards from the
target that carries the sum; their pairs are examined in the order of this bound until it cannot beat the best: Theorem
D66.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array
from ...errors import InputError
from .answer_laws import Contributions, Laws, Width, contributions, convolve, largest_leakage, shift_sums, suprema
from .records import (
    CorrelatedRecords,
    Outcome,
    Progress,
    RiskMeasure,
    Seconds,
    Worst,
    WorstPattern,
    deadline_after,
    record_names,
)
from .tables import JointTable, check_probabilities, log_odds_range, screen

_MOST_PLACES = 4096  # of one side without a common unit
_AT_ONCE = 200_000  # numbers handled at once
_MOST_PAIRS = 2**18  # of both sides together
_LEAST = -340.0  # the product of two weights above e^{−340} is still a double
_CROWDED = (
    f"the sums of the unknown records take more than {_MOST_PLACES:,} values: "
    "give values and weights with a common unit, or more known records"
)

Near = tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class ChainSide:
    """One side of a target: laws of the sum of its unknown records given the target's value (first axis of ``logs``)
    and the value of the nearest known ``record`` (second axis; of length 1 where there is none).
    """

    record: int | None
    unknown: int
    places: Array
    logs: Array


class ChainWalks:
    """A Markov chain walked from a target outwards, either way."""

    def __init__(self, initial: Array, steps: tuple[Array, ...], parts: Contributions) -> None:
        self.parts, self.n, self.d = parts, len(steps) + 1, initial.size
        marginals = [initial]
        for s in steps:
            marginals.append(marginals[-1] @ s)
        with np.errstate(divide="ignore"):
            self.marginals = tuple(np.log(m) for m in marginals)
            self.ahead = tuple(np.log(s) for s in steps)  # [t][x, y] = log P(x_{t+1} = y | x_t = x)
            joint = [m[:, None] + s for m, s in zip(self.marginals, self.ahead, strict=False)]
        # [t][y, x] = log P(x_t = x | x_{t+1} = y): the same chain read from its end
        self._behind = tuple(_log_normalized(j.T) for j in joint)

    def _step(self, t: int, forward: bool) -> Array:
        """log P(next = y | x_t = x) in a walk that leaves record t."""
        return self.ahead[t] if forward else self._behind[t - 1]

    def sides(self, target: int, forward: bool) -> Iterator[ChainSide]:
        """From the target outwards: the side with each further record as the nearest known one, then with none.

        Without a common unit only as far as the distinct sums stay few.
        """
        d = self.d
        with np.errstate(divide="ignore"):
            places, logs = np.zeros(1), np.log(np.eye(d))[:, :, None]
        t = target
        for following in range(target + 1, self.n) if forward else range(target - 1, -1, -1):
            if t != target:
                if self._too_many_sums(places):
                    return
                places, logs = self._with_record(places, logs, t)
            move = self._step(t, forward)
            logs = np.logaddexp.reduce(logs[:, :, None, :] + move[None, :, :, None], axis=1)
            t = following
            yield ChainSide(t, abs(t - target) - 1, places, _log_normalized(logs))
        if t != target:
            if self._too_many_sums(places):
                return
            places, logs = self._with_record(places, logs, t)
            logs = np.logaddexp.reduce(logs, axis=1)[:, None, :]
        else:
            logs = np.zeros((d, 1, 1))
        yield ChainSide(None, abs(t - target), places, _log_normalized(logs))

    def _too_many_sums(self, places: Array) -> bool:
        return not self.parts.whole and places.size * self.d > _MOST_PLACES

    def _with_record(self, places: Array, logs: Array, t: int) -> tuple[Array, Array]:
        """Add what record t, on the second axis, contributes to the sum."""
        places, moved = shift_sums(places, np.swapaxes(logs, 0, 1), self.parts.amounts[t])
        return places, np.swapaxes(moved, 0, 1)

    def side(self, target: int, near: Near, forward: bool) -> ChainSide:
        """The side with this known neighbour and its value (second axis of length 1)."""
        record = None if near is None else near[0]
        side = next((s for s in self.sides(target, forward) if s.record == record), None)
        if side is None:
            raise InputError(_CROWDED)
        if near is None:
            return side
        return ChainSide(record, side.unknown, side.places, side.logs[:, near[1] : near[1] + 1])

    def joint_laws(self, target: int, left: ChainSide, a: int, right: ChainSide, b: int) -> Laws:
        """Both sides and the target itself, for one value of each neighbour."""
        one, other = left.logs[:, a], right.logs[:, b]
        places, logs = convolve(left.places, one, right.places, other)
        possible = np.isfinite(self.marginals[target]) & np.isfinite(one.max(axis=1)) & np.isfinite(other.max(axis=1))
        places, logs = shift_sums(places, np.where(possible[:, None], logs, -np.inf), self.parts.amounts[target])
        return Laws(places * self.parts.unit, logs.T, self.parts.values[target])

    def feasible(self, known: Mapping[int, int]) -> bool:
        """Whether the known values can occur together."""
        state = self.marginals[0]
        for t in range(self.n):
            if t in known:
                state = np.where(np.arange(state.size) == known[t], state, -np.inf)
            if not np.isfinite(state.max()):
                return False
            if t + 1 < self.n:
                state = np.logaddexp.reduce(state[:, None] + self.ahead[t], axis=0)
        return True

    def outer_law(self, edge: int, forward: bool, known: Mapping[int, int]) -> tuple[Array, Array]:
        """The law (1, R) of the sum of the unknown records on the far side of a known one, from the far end inwards."""
        d = self.d
        places, logs = np.zeros(1), np.zeros((d, 1))
        far = range(self.n - 1, edge, -1) if forward else range(edge)
        for t in far:
            if t in known:
                logs = np.where((np.arange(d) == known[t])[:, None], logs, -np.inf)
            elif self._too_many_sums(places):
                raise InputError(_CROWDED)
            else:
                places, logs = shift_sums(places, logs, self.parts.amounts[t])
            inwards = self.ahead[t - 1] if forward else self._behind[t]
            logs = np.logaddexp.reduce(logs[None] + inwards[:, :, None], axis=1)
        return places, _log_normalized(logs[known[edge]][None])

    def laws(self, target: int, known: Mapping[int, int]) -> Laws:
        """What an adversary with these known values sees, if something is unknown; empty where they cannot occur."""
        low = max((j for j in known if j < target), default=None)
        high = min((j for j in known if j > target), default=None)
        left = self.side(target, None if low is None else (low, known[low]), False)
        right = self.side(target, None if high is None else (high, known[high]), True)
        laws = self.joint_laws(target, left, 0, right, 0)
        if not self.feasible(known):
            return Laws(laws.places, np.full(laws.logs.shape, -np.inf), laws.values)
        # unknown records beyond the neighbours are independent of the target, but they blur the answer
        for edge, forward in ((low, False), (high, True)):
            if edge is not None:
                places, logs = self.outer_law(edge, forward, known)
                if not self.parts.whole and places.size * laws.places.size > _MOST_PAIRS:
                    raise InputError(_CROWDED)
                merged, spread = convolve(laws.places / self.parts.unit, laws.logs.T, places, logs)
                laws = Laws(merged * self.parts.unit, spread.T, laws.values)
        return laws

    def completion(self, target: int, known: Mapping[int, int], extra: int) -> dict[int, int]:
        """The same knowledge with up to this many more records known beyond it, at their likeliest values."""
        full = dict(known)
        low = max((j for j in known if j < target), default=-1)
        high = min((j for j in known if j > target), default=self.n)
        for t in range(low - 1, -1, -1):
            if len(full) - len(known) < extra:
                full[t] = int(np.argmax(self._behind[t][full[t + 1]]))
        for t in range(high + 1, self.n):
            if len(full) - len(known) < extra:
                full[t] = int(np.argmax(self.ahead[t - 1][full[t - 1]]))
        return full

    def leakage_function(
        self, i: int, lefts: list[tuple[ChainSide, int]], rights: list[tuple[ChainSide, int]], width: float
    ) -> Callable[[Any], Array]:
        """The exact leakage for pairs of sides, numbered row by row; NaN where their sums are too many to lay out."""
        grids: list[Array | None] = []

        def one_by_one(chosen: Any) -> Array:
            found = np.full(len(chosen), np.nan)
            for at, flat in enumerate(chosen):
                (left, a), (right, b) = lefts[flat // len(rights)], rights[flat % len(rights)]
                if self.parts.whole or left.places.size * right.places.size <= _MOST_PAIRS:
                    found[at] = largest_leakage(self.joint_laws(i, left, a, right, b), width)[0]
            return found

        def join(chosen: Any) -> Array:
            if len(chosen) < 8 or not self.parts.whole:
                return one_by_one(chosen)
            if not grids:
                grids.extend(_weight_grid([(s.places, s.logs[:, a]) for s, a in sides]) for sides in (lefts, rights))
            left, right = grids
            if left is None or right is None or left.shape[0] * right.shape[0] > _MOST_PAIRS:
                return one_by_one(chosen)
            columns = max(_AT_ONCE // (left.shape[1] * (left.shape[0] + right.shape[0])), 1)
            possible = np.isfinite(self.marginals[i])
            parts = [
                _pair_leakages(
                    left[:, :, some // len(rights)],
                    right[:, :, some % len(rights)],
                    self.parts.amounts[i],
                    possible,
                    self.parts.unit,
                    width,
                )
                for some in (chosen[k : k + columns] for k in range(0, len(chosen), columns))
            ]
            return np.concatenate(parts)

        return join


def _log_normalized(logs: Array) -> Array:
    """Each law along the last axis made to sum to one; an empty one stays empty."""
    total = np.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return np.asarray(logs - np.where(np.isfinite(total), total, 0.0))


# -- both sides joined for many adversaries at once, where sums are whole numbers ------------------------------------


def _weight_grid(laws: list[tuple[Array, Array]]) -> Array | None:
    """Laws (places, logs (d, R)) as weights on one grid, (R, d, laws); None where doubles cannot hold them."""
    if min(float(np.min(logs, where=np.isfinite(logs), initial=0.0)) for _, logs in laws) < _LEAST:
        return None
    length = 1 + max(int(places[-1]) for places, _ in laws)
    out = np.zeros((length, laws[0][1].shape[0], len(laws)))
    for k, (places, logs) in enumerate(laws):
        out[places.astype(int), :, k] = np.exp(logs.T)
    return out


def _pair_leakages(left: Array, right: Array, own: Array, possible: Array, unit: float, scale: float) -> Array:
    """The leakage of each column: the sums of both sides (R, d, columns) and of the target's own steps ``own``.

    Sums of positive products, so that small weights keep their digits.
    """
    if left.shape[0] > right.shape[0]:
        left, right = right, left
    steps = own.astype(int)
    length = left.shape[0] + right.shape[0] - 1
    both = np.zeros((length, *left.shape[1:]))
    for k in range(left.shape[0]):
        if left[k].any():
            both[k : k + right.shape[0]] += left[k] * right
    weights = np.zeros((length + int(steps.max()), *left.shape[1:]))
    for x, step in enumerate(steps):
        if possible[x]:
            weights[step : step + length, x] = both[:, x]
    risks = suprema(np.arange(float(weights.shape[0])) * unit, weights, scale)
    return np.asarray(np.maximum(risks.reshape(-1, risks.shape[2]).max(axis=0), 0.0))


_MOST_RECORDS = 300  # beyond, a full search takes minutes
_TIE = 1 + 1e-13  # a bound this close to the best cannot beat it by more than rounding


class Chain(CorrelatedRecords):
    """Records x₀, x₁, … of a Markov chain, and a noisy answer Σ aₜxₜ. Built by :func:`chain`."""

    def __init__(self, initial: Array, steps: tuple[Array, ...], parts: Contributions, names: tuple[str, ...]) -> None:
        self.initial, self.steps, self.parts, self.names = initial, steps, parts, names
        self._walks = ChainWalks(initial, steps, parts)

    def __repr__(self) -> str:
        return f"correlated.chain({self.n} records of {self.initial.size} values)"

    def _mixtures(self, target: int, known: Mapping[int, int]) -> Laws:
        return self._walks.laws(target, known)

    def _possible(self, known: tuple[int, ...]) -> Callable[[tuple[int, ...]], bool]:
        d = self.initial.size
        if d ** len(known) > 20_000:
            raise InputError(
                f"{len(known)} known records have {d ** len(known):.2g} combinations of values: "
                "give known as record: value pairs, or ask for worst()",
                "known",
            )
        return lambda numbers: self._walks.feasible(dict(zip(known, numbers, strict=True)))

    def _search(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> Outcome:
        if self.n > _MOST_RECORDS and deadline == math.inf:
            raise InputError(
                f"the chain has {self.n} records: "
                "give time_limit in seconds for the best found by then with a proven bound",
                "time_limit",
            )
        if risk.reading != "leakage":  # adversaries in the order of a bound, each read from its experiment
            start = self._strongest(risk)
            screened = screen(self._laws, self.reach, self._segment_adversaries(), risk, start, deadline, progress)
            return self._outcome(*screened, risk)
        found, upper, examined = self._scan(risk, deadline, progress, every=False)
        complete = upper <= found[0].value * _TIE
        return self._outcome(found[0], max(upper, found[0].value), complete, examined, risk)

    def _scan(
        self, risk: RiskMeasure, deadline: float, progress: Progress | None, *, every: bool
    ) -> tuple[list[WorstPattern], float, int]:
        """The best segment, or with ``every`` the best for each number of unknown records (and of known neighbours:
        entry 3·unknown + neighbours); an upper bound on what was not examined; how many adversaries were.
        """
        best = [WorstPattern() for _ in range(3 * self.n if every else 1)]
        if not every:
            best[0] = self._strongest(risk)
        values = np.asarray([f.value for f in best])
        upper, examined = -math.inf, 0
        middle_first = sorted(range(self.n), key=lambda i: abs(i - self.n / 2))
        for step, i in enumerate(middle_first):
            if examined and time.monotonic() > deadline:
                upper = max(upper, *(self._bound(j, risk) for j in middle_first[step:]))
                break
            lefts, rights = list(self._walks.sides(i, False)), list(self._walks.sides(i, True))
            if lefts[-1].record is not None or rights[-1].record is not None:  # not all sides could be laid out
                upper = max(upper, self._bound(i, risk))
            own = np.abs(self.parts.amounts[i][:, None] - self.parts.amounts[i]) * (self.parts.unit / risk.width)
            (a, from_a), (b, from_b) = self._leaks(lefts, risk.width), self._leaks(rights, risk.width)
            bounds = np.concatenate(  # in rows, so that nothing of size sides × sides × pairs is held
                [(row + b + own).reshape(len(from_b), -1).max(axis=1) for row in a]
            )
            kinds = np.zeros(bounds.size, dtype=int)
            if every:
                near = [
                    [3 * s[k].unknown + (s[k].record is not None) for k, _ in f]
                    for s, f in ((lefts, from_a), (rights, from_b))
                ]
                kinds = np.add.outer(*map(np.asarray, near)).ravel()
            ranked = np.argsort(-bounds, kind="stable")
            join = self._walks.leakage_function(
                i, [(lefts[k], x) for k, x in from_a], [(rights[k], x) for k, x in from_b], risk.width
            )
            at, size = 0, 4
            while True:
                some = ranked[at : at + size]
                some = some[bounds[some] > values[kinds[some]] * _TIE]
                if some.size == 0:
                    open_ = ranked[at + size :]
                    if not (bounds[open_] > values[kinds[open_]] * _TIE).any():
                        break
                elif examined and time.monotonic() > deadline:
                    upper = max(upper, float(bounds[some].max()))
                    break
                found = join(some)
                upper = max(upper, float(np.max(bounds[some], where=np.isnan(found), initial=-math.inf)))
                for flat, value in zip(some, found, strict=True):
                    if value > values[kinds[flat]]:
                        values[kinds[flat]] = value
                        (k, x), (m, y) = from_a[flat // len(from_b)], from_b[flat % len(from_b)]
                        pattern = self._pattern((lefts[k].record, x), (rights[m].record, y))
                        best[kinds[flat]] = WorstPattern(float(value), i, pattern)
                examined += some.size
                at += size
                size = min(2 * size, 1024)
            if progress is not None:
                progress((step + 1) / self.n, f"{examined:,} adversaries examined")
        return best, upper, examined

    def _bound(self, i: int, risk: RiskMeasure) -> float:
        """An upper bound for one target over all knowledge: its own move, and the swing or the reach of either side."""
        own = np.abs(self.parts.amounts[i][:, None] - self.parts.amounts[i]) * (self.parts.unit / risk.width)
        if i > 0:
            own = own + np.minimum(log_odds_range(self._walks.ahead[i - 1].T), float(self.reach[:i].sum()) / risk.width)
        if i + 1 < self.n:
            own = own + np.minimum(log_odds_range(self._walks.ahead[i]), float(self.reach[i + 1 :].sum()) / risk.width)
        return float(own.max()) * (1 + 1e-12)

    def _leaks(self, sides: list[ChainSide], scale: float) -> tuple[Array, list[tuple[int, int]]]:
        """D(x → x′) of each side alone and each value of its known record, (entries, d, d), with (side, value); −∞
        where a value of the target is impossible.
        """
        found, origin = [], []
        for k, side in enumerate(sides):
            risks = suprema(side.places * self.parts.unit, np.moveaxis(side.logs, -1, 0), scale, logs=True)
            for a in range(risks.shape[2]):
                if np.isfinite(risks[..., a]).any():
                    found.append(risks[..., a])
                    origin.append((k, a))
        return np.stack(found), origin

    def _pattern(self, *near: tuple[int | None, int]) -> tuple[int, ...]:
        pattern = [-1] * self.n
        for record, number in near:
            if record is not None:
                pattern[record] = number
        return tuple(pattern)

    def _outcome(self, found: WorstPattern, upper: float, complete: bool, examined: int, risk: RiskMeasure) -> Outcome:
        """Name the neighbours only, where what lies beyond makes no difference; otherwise everyone beyond too."""
        known = found.known
        full = self._walks.completion(found.target, known, self.n)
        if len(known) < len(full) and self._blurred_risk(found.target, known, risk) < found.value * (1 - 1e-12):
            known = full
        values = None if len(known) == self.n - 1 else {j: float(self.parts.values[j][v]) for j, v in known.items()}
        method = "all segments between known neighbours" if complete else "segments examined until the time limit"
        return Outcome(found.value, found.target, tuple(sorted(known)), values, upper, complete, examined, method)

    def _blurred_risk(self, target: int, known: Mapping[int, int], risk: RiskMeasure) -> float:
        """The risk where records beyond the neighbours are unknown; 0 where their sums are too many to tell."""
        try:
            return risk.read(self._laws(target, known))
        except InputError:
            return 0.0

    def _segment_adversaries(self) -> Iterator[tuple[int, dict[int, int]]]:
        """(target, numbers of known values) for every segment with something unknown, all beyond it known."""
        for i in range(self.n):
            for left in [None, *((t, v) for t in range(i) for v in range(self.initial.size))]:
                for right in [None, *((t, v) for t in range(i + 1, self.n) for v in range(self.initial.size))]:
                    known = dict(near for near in (left, right) if near is not None)
                    if self._walks.feasible(known):
                        full = self._walks.completion(i, known, self.n)
                        if len(full) < self.n - 1:
                            yield i, full

    def by_known(
        self, *, scale: Width = None, sigma: Width = None, time_limit: Seconds = None, progress: Progress | None = None
    ) -> tuple[Worst, ...]:
        """The worst adversary for each number of known records, from none to all others.

        ``upper`` is the worst segment that this many known records allow; ``leakage`` that of a named adversary, which
        is lower only where unknown records beyond the neighbours blur the answer.
        With Gaussian noise the chain must be short enough for a table.
        """
        risk = self._risk(scale, sigma)
        if risk.noise == "sigma":
            return self.table().by_known(sigma=sigma, time_limit=time_limit, progress=progress)
        best, bound, examined = self._scan(risk, deadline_after(time_limit), progress, every=True)
        done = bound == -math.inf  # nothing was left out
        rows = []
        for k in range(self.n - 1):
            fits = [f for kind, f in enumerate(best) if f.target >= 0 and kind // 3 <= self.n - 1 - k and kind % 3 <= k]
            top = max(fits, key=lambda f: f.value, default=self._placeholder(k))
            known = self._walks.completion(top.target, top.known, k - len(top.known))
            value = self._blurred_risk(top.target, known, risk)
            upper = max(top.value, bound, value)
            exact = done and value >= upper * (1 - 1e-12)
            told = {j: float(self.parts.values[j][v]) for j, v in known.items()}
            method = "all segments between known neighbours"
            outcome = Outcome(
                value, top.target, tuple(sorted(known)), told, value if exact else upper, exact, examined, method
            )
            rows.append(self._result(risk, outcome))
        strongest = self._strongest(risk)
        rows.append(self._result(risk, self._outcome(strongest, strongest.value, True, examined, risk)))
        return tuple(rows)

    def _placeholder(self, known: int) -> WorstPattern:
        """Someone after the first record who knows so many at the end: what is named if time ran out before anyone."""
        near = self.n - known
        value = int(np.argmax(self._walks.marginals[near])) if known else 0
        return WorstPattern(0.0, 0, self._pattern((near if known else None, value)))

    def without(self, record: int) -> Chain:
        """The chain of the other records, this one summed out."""
        j = self._record("record", record)
        if self.n == 1:
            raise InputError("the chain has one record: there is no other to keep")
        steps = list(self.steps)
        initial = self.initial
        if j == 0:
            initial = initial @ steps.pop(0)
        elif j == self.n - 1:
            steps.pop()
        else:
            steps[j - 1 : j + 1] = [steps[j - 1] @ steps[j]]
        keep = [k for k in range(self.n) if k != j]
        parts = self.parts
        fewer = Contributions(
            tuple(parts.amounts[k] for k in keep),
            parts.unit,
            parts.whole,
            tuple(parts.values[k] for k in keep),
            tuple(parts.weights[k] for k in keep),
        )
        return Chain(initial / initial.sum(), tuple(steps), fewer, tuple(self.names[k] for k in keep))

    def _worst_without(self, record: int, risk: RiskMeasure, time_limit: float | None) -> Worst:
        """An independent record only blurs the answer about the others: the chain of the others, or its own reach."""
        alone = WorstPattern(risk.shift(float(self.reach[record])), record, tuple([0] * self.n))
        own = self._result(risk, self._outcome(alone, alone.value, True, 1, risk))
        if self.n == 1:
            return own
        rest = self.without(record)._worst_by_risk(risk, time_limit, None)
        if rest.leakage >= own.leakage:
            return rest
        return own if rest.complete else replace(own, upper=max(own.upper, rest.upper), complete=False)

    def table(self) -> JointTable:
        """The same records as a joint table; for short chains."""
        if self.initial.size**self.n > 2**22:
            raise InputError(f"a chain of {self.n} records is too long for a joint table: ask the chain itself")
        joint = self.initial
        for s in self.steps:
            joint = joint[..., None] * s
        return JointTable(joint / joint.sum(), self.parts, self.names)


def chain(
    initial: ArrayLike,
    transition: object,
    length: int | None = None,
    values: object = None,
    weights: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Chain:
    """A Markov chain of records: ``initial[x]`` is P(x₀ = x), ``transition[x][y]`` is P(x_{t+1} = y | x_t = x).

    ``transition`` is one matrix, with a ``length``, or a list of matrices, one per step. ``values`` is one list for all
    records, or a list per record; ``weights`` are those of the query Σ aₜxₜ.

    Parameters
    ----------
    initial : array_like
        P(x₀ = x).
    transition : array_like or sequence of these
        P(next = y | current = x), one matrix or one a step.
    length : int, optional
        How many records, with one matrix.
    values : sequence, optional
        Numbers behind the indices, one list for all or one a record.
    weights : array_like, optional
        Weights of the linear query, one a record; all 1 unless given.
    names : sequence of str, optional
        What sentences call the records.

    Returns
    -------
    Chain
        The model, with its searches.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import correlated
    >>> c = correlated.chain([2 / 3, 1 / 3], [[0.9, 0.1], [0.2, 0.8]], 6)
    >>> worst = c.worst(scale=1.0)
    >>> round(worst.leakage, 10), worst.known
    (3.5490770654, ())
    """
    first = checks.real("initial", initial)
    if first.ndim != 1 or first.size == 0:
        raise InputError(f"initial has shape {first.shape}: give one probability per value", "initial")
    check_probabilities("initial", first)
    matrices = checks.real("transition", transition)
    if matrices.ndim == 2:
        if length is None:
            raise InputError(
                "length is missing: say how many records the chain has, or give one transition per step", "length"
            )
        count = checks.integer("length", length, low=1, high=100_000)
        matrices = np.broadcast_to(matrices, (count - 1, *matrices.shape))
    elif matrices.ndim == 3:
        count = matrices.shape[0] + 1
        if length is not None and checks.integer("length", length, low=1) != count:
            raise InputError(
                f"length is {length} with {count - 1} transitions: give {count}, or leave it out", "length"
            )
    else:
        raise InputError(
            f"transition has shape {matrices.shape}: give a square matrix, or a list of them", "transition"
        )
    d = first.size
    if matrices.shape[1:] != (d, d):
        raise InputError(
            f"transition has shape {matrices.shape[-2:]} for {d} values: give a {d}×{d} matrix", "transition"
        )
    for row in np.unique(matrices.reshape(-1, d), axis=0):
        check_probabilities("a row of transition", row, of="transition")
    steps = tuple(m / m.sum(axis=1, keepdims=True) for m in matrices)
    parts = contributions([d] * count, values, weights)
    return Chain(first / first.sum(), steps, parts, record_names(names, count))
