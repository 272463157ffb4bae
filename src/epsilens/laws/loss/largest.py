"""A product by its largest loss alone: the test that rejects once some step shows a loss above b.

It has the false-positive rate 1 − Π(1 − Q(L > b))^k and the recall 1 − Π(1 − P(L > b))^k in closed form: a lower bound
on what all steps together reveal, and nearly all of it where single rare losses decide. Of one step alone it is the
best test there is, and the bound is the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...checks import Array
from .sampled import Swapped
from .step import Step

__all__ = ["Largest"]

_U = 2.0**-53
_BEYOND = np.concatenate(([0.0], np.geomspace(1e-4, 1.0, 9)))  # how far above log t b may lie, relative to it
_SCALES = np.concatenate(([0.0], np.geomspace(1e-12, 1.0, 60)))
_HALVINGS = 64
_NOTHING = -744.0  # what is below the smallest double
_ROOM = 1e-11  # for the rounding of a log probability


class Largest:
    """Readings as (low, high) of logarithms; high is unknown unless there is only one step."""

    def __init__(self, steps: Sequence[tuple[Step, int]], flipped: bool) -> None:
        self.steps = [(Swapped(step) if flipped else step, k) for step, k in steps]
        self.alone = len(self.steps) == 1 and self.steps[0][1] == 1
        low, high = (f(step.ends[i] for step, _ in self.steps) for i, f in ((0, min), (1, max)))
        self.ends = max(low, -1e4), min(high, 1e4)

    def _rates(self, b: float) -> tuple[float, float, float]:
        """log recall and log false-positive rate of a threshold, and the relative error of either."""
        none1 = none0 = size = 0.0
        for step, k in self.steps:
            p, q = _above(step, b)
            size = max(size, abs(math.log(p)) if p > 0 else 0.0, abs(math.log(q)) if q > 0 else 0.0)
            none1 += k * math.log1p(-min(p, 1.0)) if p < 1 else -math.inf
            none0 += k * math.log1p(-min(q, 1.0)) if q < 1 else -math.inf
        return _log(-math.expm1(none1)), _log(-math.expm1(none0)), 16 * _U * (size + 8)

    def _delta(self, u: float) -> tuple[float, float]:
        best = (-math.inf, 0.0)
        for share in _BEYOND[:1] if self.alone else _BEYOND:
            recall, alpha, error = self._rates(u + share * max(abs(u), 1e-9))
            left = -math.expm1(min(u + alpha - recall, 0.0)) if recall > -math.inf else 0.0
            if left > 0:
                wrong = error * (1 + 2 / left)  # what is left after the subtraction
                best = max(best, (recall + math.log(left), wrong))
        value, wrong = best
        if wrong >= 0.5:
            return -math.inf, 0.0
        high = min(value + wrong, 0.0) if value > -math.inf else _NOTHING if recall == -math.inf else 0.0
        return value - wrong, high if self.alone else 0.0

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        """log δ(ε)."""
        return _each(self._delta, epsilon)

    def _epsilon(self, log_delta: float) -> tuple[float, float]:
        # near 0 many small losses say more than the largest: begin where this test does reach δ
        grid = self.ends[1] * _SCALES
        reached = np.flatnonzero([self._delta(float(u))[0] >= log_delta for u in grid])
        i = int(reached[-1]) if reached.size else 0
        low = _last(lambda u: self._delta(u)[0] >= log_delta, float(grid[i]), float(grid[min(i + 1, grid.size - 1)]))
        if not self.alone:
            return low, math.inf
        right = _last(lambda u: self._delta(u)[1] > log_delta, 0.0, self.ends[1])
        return low, (right * (1 + 1e-15) + 1e-300 if math.isfinite(right) else 0.0)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε ≥ 0 with that δ; −∞ below where none is known."""
        return _each(self._epsilon, log_delta)

    def _roc(self, log_alpha: float) -> tuple[float, float]:
        # the least threshold that surely keeps to α
        b = -_last(lambda v: self._rates(-v)[1] <= log_alpha - _ROOM, -self.ends[1], -self.ends[0])
        recall, _, error = self._rates(b)
        low = max(recall - error, log_alpha)
        if not self.alone:
            return low, 0.0
        more = _last(lambda v: self._rates(v)[1] >= log_alpha + _ROOM, *self.ends)
        if not math.isfinite(more):
            return low, 0.0
        recall, _, error = self._rates(more)
        return low, min(recall + error, 0.0)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        """log of the true-positive rate."""
        return _each(self._roc, log_alpha)

    def _inverse_roc(self, log_recall: float) -> tuple[float, float]:
        b = _last(lambda v: self._rates(v)[0] >= log_recall + _ROOM, *self.ends)
        _, alpha, error = self._rates(b) if math.isfinite(b) else (0.0, 0.0, 0.0)
        high = min(alpha + error, log_recall)
        if not self.alone:
            return -math.inf, high
        less = -_last(lambda v: self._rates(-v)[0] <= log_recall - _ROOM, -self.ends[1], -self.ends[0])
        _, alpha, error = self._rates(less)
        return (alpha - error if math.isfinite(less) else -math.inf), high

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        """log of a false-positive rate at which a recall is reached."""
        return _each(self._inverse_roc, log_recall)

    def test(self, loss: float) -> tuple[float, float, float]:
        """(false-positive rate, recall) of this threshold, and how well h is known there."""
        recall, alpha, error = self._rates(loss)
        low, high = self._delta(loss)
        return min(math.exp(alpha + error), 1.0), math.exp(recall - error), high - low


def _above(step: Step, b: float) -> tuple[float, float]:
    """(P, Q) of a loss above b in one step."""
    atoms = step.atoms
    beyond = atoms.loss > b
    p = atoms.only1 + float(np.exp(atoms.log_p[beyond]).sum())
    q = float(np.exp((atoms.log_p - atoms.loss)[beyond]).sum())
    if step.span is not None and b < step.ends[1]:
        more = step.above(float(step.place(np.asarray(b)))) if b > step.ends[0] else step.above(step.span[0])
        p, q = p + math.exp(more[0]), q + math.exp(more[1])
    return min(p, 1.0), min(q, 1.0)


def _log(mass: float) -> float:
    return math.log(mass) if mass > 0 else -math.inf


def _each(read: Callable[[float], tuple[float, float]], values: Array) -> tuple[Array, Array]:
    pairs = np.array([read(float(v)) for v in np.ravel(values)]).reshape(-1, 2)
    return pairs[:, 0].reshape(np.shape(values)), pairs[:, 1].reshape(np.shape(values))


def _last(holds: Callable[[float], bool], first: float, last: float) -> float:
    """The largest argument found up to which a falling condition holds; −∞ if it does not hold at the first."""
    if not holds(first):
        return -math.inf
    if holds(last):
        return last
    for _ in range(_HALVINGS):
        middle = 0.5 * (first + last)
        first, last = (middle, last) if holds(middle) else (first, middle)
    return first
