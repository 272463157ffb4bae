"""One target of a Markov chain: the laws of what lies on either side of it, and both sides joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import InputError
from .adversary import Laws, leak, suprema
from .sums import Contributions, convolve, shifted

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
class Side:
    """One side of a target: laws of the sum of its unknown records given the target's value (first axis of ``logs``)
    and the value of the nearest known ``record`` (second axis; of length 1 where there is none).
    """

    record: int | None
    unknown: int
    places: Array
    logs: Array


class Walks:
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
        self._behind = tuple(_normalised(j.T) for j in joint)

    def _step(self, t: int, forward: bool) -> Array:
        """log P(next = y | x_t = x) in a walk that leaves record t."""
        return self.ahead[t] if forward else self._behind[t - 1]

    def sides(self, target: int, forward: bool) -> Iterator[Side]:
        """From the target outwards: the side with each further record as the nearest known one, then with none.

        Without a common unit only as far as the distinct sums stay few.
        """
        d = self.d
        with np.errstate(divide="ignore"):
            places, logs = np.zeros(1), np.log(np.eye(d))[:, :, None]
        t = target
        for following in range(target + 1, self.n) if forward else range(target - 1, -1, -1):
            if t != target:
                if self._crowded(places):
                    return
                places, logs = self._count(places, logs, t)
            move = self._step(t, forward)
            logs = np.logaddexp.reduce(logs[:, :, None, :] + move[None, :, :, None], axis=1)
            t = following
            yield Side(t, abs(t - target) - 1, places, _normalised(logs))
        if t != target:
            if self._crowded(places):
                return
            places, logs = self._count(places, logs, t)
            logs = np.logaddexp.reduce(logs, axis=1)[:, None, :]
        else:
            logs = np.zeros((d, 1, 1))
        yield Side(None, abs(t - target), places, _normalised(logs))

    def _crowded(self, places: Array) -> bool:
        return not self.parts.whole and places.size * self.d > _MOST_PLACES

    def _count(self, places: Array, logs: Array, t: int) -> tuple[Array, Array]:
        """Add what record t, on the second axis, contributes to the sum."""
        places, moved = shifted(places, np.swapaxes(logs, 0, 1), self.parts.amounts[t])
        return places, np.swapaxes(moved, 0, 1)

    def side(self, target: int, near: Near, forward: bool) -> Side:
        """The side with this known neighbour and its value (second axis of length 1)."""
        record = None if near is None else near[0]
        side = next((s for s in self.sides(target, forward) if s.record == record), None)
        if side is None:
            raise InputError(_CROWDED)
        if near is None:
            return side
        return Side(record, side.unknown, side.places, side.logs[:, near[1] : near[1] + 1])

    def joined(self, target: int, left: Side, a: int, right: Side, b: int) -> Laws:
        """Both sides and the target itself, for one value of each neighbour."""
        one, other = left.logs[:, a], right.logs[:, b]
        places, logs = convolve(left.places, one, right.places, other)
        possible = np.isfinite(self.marginals[target]) & np.isfinite(one.max(axis=1)) & np.isfinite(other.max(axis=1))
        places, logs = shifted(places, np.where(possible[:, None], logs, -np.inf), self.parts.amounts[target])
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

    def beyond(self, edge: int, forward: bool, known: Mapping[int, int]) -> tuple[Array, Array]:
        """The law (1, R) of the sum of the unknown records on the far side of a known one, from the far end inwards."""
        d = self.d
        places, logs = np.zeros(1), np.zeros((d, 1))
        far = range(self.n - 1, edge, -1) if forward else range(edge)
        for t in far:
            if t in known:
                logs = np.where((np.arange(d) == known[t])[:, None], logs, -np.inf)
            elif self._crowded(places):
                raise InputError(_CROWDED)
            else:
                places, logs = shifted(places, logs, self.parts.amounts[t])
            inwards = self.ahead[t - 1] if forward else self._behind[t]
            logs = np.logaddexp.reduce(logs[None] + inwards[:, :, None], axis=1)
        return places, _normalised(logs[known[edge]][None])

    def laws(self, target: int, known: Mapping[int, int]) -> Laws:
        """What an adversary with these known values sees, if something is unknown; empty where they cannot occur."""
        low = max((j for j in known if j < target), default=None)
        high = min((j for j in known if j > target), default=None)
        left = self.side(target, None if low is None else (low, known[low]), False)
        right = self.side(target, None if high is None else (high, known[high]), True)
        laws = self.joined(target, left, 0, right, 0)
        if not self.feasible(known):
            return Laws(laws.places, np.full(laws.logs.shape, -np.inf), laws.values)
        # unknown records beyond the neighbours are independent of the target, but they blur the answer
        for edge, forward in ((low, False), (high, True)):
            if edge is not None:
                places, logs = self.beyond(edge, forward, known)
                if not self.parts.whole and places.size * laws.places.size > _MOST_PAIRS:
                    raise InputError(_CROWDED)
                merged, spread = convolve(laws.places / self.parts.unit, laws.logs.T, places, logs)
                laws = Laws(merged * self.parts.unit, spread.T, laws.values)
        return laws

    def filled(self, target: int, known: Mapping[int, int], extra: int) -> dict[int, int]:
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

    def joiner(
        self, i: int, lefts: list[tuple[Side, int]], rights: list[tuple[Side, int]], width: float
    ) -> Callable[[Any], Array]:
        """The exact leakage for pairs of sides, numbered row by row; NaN where their sums are too many to lay out."""
        grids: list[Array | None] = []

        def one_by_one(chosen: Any) -> Array:
            found = np.full(len(chosen), np.nan)
            for at, flat in enumerate(chosen):
                (left, a), (right, b) = lefts[flat // len(rights)], rights[flat % len(rights)]
                if self.parts.whole or left.places.size * right.places.size <= _MOST_PAIRS:
                    found[at] = leak(self.joined(i, left, a, right, b), width)[0]
            return found

        def join(chosen: Any) -> Array:
            if len(chosen) < 8 or not self.parts.whole:
                return one_by_one(chosen)
            if not grids:
                grids.extend(_laid_out([(s.places, s.logs[:, a]) for s, a in sides]) for sides in (lefts, rights))
            left, right = grids
            if left is None or right is None or left.shape[0] * right.shape[0] > _MOST_PAIRS:
                return one_by_one(chosen)
            columns = max(_AT_ONCE // (left.shape[1] * (left.shape[0] + right.shape[0])), 1)
            possible = np.isfinite(self.marginals[i])
            parts = [
                _joined_leakages(
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


def _normalised(logs: Array) -> Array:
    """Each law along the last axis made to sum to one; an empty one stays empty."""
    total = np.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return np.asarray(logs - np.where(np.isfinite(total), total, 0.0))


# -- both sides joined for many adversaries at once, where sums are whole numbers ------------------------------------


def _laid_out(laws: list[tuple[Array, Array]]) -> Array | None:
    """Laws (places, logs (d, R)) as weights on one grid, (R, d, laws); None where doubles cannot hold them."""
    if min(float(np.min(logs, where=np.isfinite(logs), initial=0.0)) for _, logs in laws) < _LEAST:
        return None
    length = 1 + max(int(places[-1]) for places, _ in laws)
    out = np.zeros((length, laws[0][1].shape[0], len(laws)))
    for k, (places, logs) in enumerate(laws):
        out[places.astype(int), :, k] = np.exp(logs.T)
    return out


def _joined_leakages(left: Array, right: Array, own: Array, possible: Array, unit: float, scale: float) -> Array:
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
