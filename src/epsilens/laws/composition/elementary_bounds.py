"""Bounds on a product that need no view of its profile: by its moments, and by the largest of its losses.

Moments say next to everything where the two laws hardly overlap (Theorem C14 of docs/proofs/composition.md), and the
test that waits for one large loss where such losses decide (Lemma C15).

:func:`log_profile` goes on where many steps add up. With g(x) = (1 − e^{−x})·e^{−λx} for x > 0, 0 below,
h(e^u) = e^{K(λ)−λu}·E g(L − u) under the tilt λ. Chernoff's bound has the largest g instead. The tilted loss is a sum;
by Berry and Esseen its distribution function lies within 0.56·Σ E|L_i − E L_i|³/s³ of the normal one (Shevtsova 2010,
whatever the laws of the steps), and g goes up to its largest value and down again: E g is at most that of the normal
law and twice that share of the largest g.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence

import numpy as np

from ...checks import Array
from ...numerics.special import mills
from ...readings.law import Law
from .step import ROUNDOFF, CountedStep, Step
from .tilt import TiltedMoments
from .wrappers import ReversedStep

_ORDERS = np.asarray([0.1, 0.3, 0.5, 0.7, 0.9])  # s of E(s)
_MOMENT_ROUNDING = 1e-12  # of a logarithm, for rounding
_BERRY_ESSEEN = 0.56  # Shevtsova 2010
_ROOT_2PI = math.sqrt(2 * math.pi)


class MomentBounds:
    """Lower bounds on risk, as (low, high) of logarithms; high is the trivial bound, log 1 = 0."""

    def __init__(self, log_moment: Callable[[float], float], error: float) -> None:
        #: log E(s), from above
        self.log_e = np.asarray([log_moment(float(s)) for s in _ORDERS]) * (1 - error)

    def _log_common(self, u: Array) -> Array:
        """log of at most what the laws have in common at t = e^u."""
        return np.asarray(np.min(self.log_e + np.multiply.outer(u, 1 - _ORDERS), axis=-1) * (1 - _MOMENT_ROUNDING))

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        u = np.asarray(epsilon, dtype=float)
        return _log_complement(self._log_common(u)), np.zeros(u.shape)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε with that δ is at least where so much is surely not in common."""
        left = _log_complement(np.asarray(log_delta, dtype=float))
        low = np.max((left[..., None] - self.log_e) / (1 - _ORDERS), axis=-1)
        return low - _MOMENT_ROUNDING * (np.abs(low) + 1), np.full(low.shape, np.inf)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        la = np.asarray(log_alpha, dtype=float)
        return np.maximum(_log_complement(_log_missed(self.log_e, _ORDERS, la)), la), np.zeros(la.shape)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        """log of a false-positive rate at which a recall is reached: the same with the laws exchanged."""
        lr = np.asarray(log_recall, dtype=float)
        return np.full(lr.shape, -np.inf), np.minimum(_log_missed(self.log_e, 1 - _ORDERS, _log_complement(lr)), lr)

    def test(self, loss: float) -> tuple[float, float, float]:
        alpha = float(np.min(self.log_e - _ORDERS * loss)) * (1 - _MOMENT_ROUNDING)
        low = float(self.delta(np.asarray(loss))[0])
        recall = -math.expm1(min(float(self._log_common(np.asarray(loss))), 0.0))
        return min(math.exp(min(alpha, 0.0)), 1.0), recall, -low


def log_profile(of: TiltedMoments, tilt: float, u: float) -> float:
    """log of a bound on h(e^u) from the loss under a tilt λ > 0.

    A thousand tilted losses of ±0.1 about u, λ = 1: E g is 0.0541 by enumeration, Chernoff's bound has 0.25.

    >>> from epsilens.laws.composition.tilt import TiltedMoments
    >>> round(math.exp(log_profile(TiltedMoments(0.0, 0.0, 10.0, 1.0), 1.0, 0.0)), 4)
    0.0634
    """
    sd = math.sqrt(of.variance)
    if not sd**3 > 0:  # no spread that doubles can cube
        return math.inf
    largest = math.exp(tilt * math.log(tilt / (tilt + 1)) - math.log1p(tilt))
    apart = (of.mean - u) / sd
    # ∫ e^{−λx} dN(m, s²) over x > 0 is φ(m/s)·M(λs − m/s), M Mills' ratio
    one, other = mills(np.asarray([tilt * sd - apart, (tilt + 1) * sd - apart])).tolist()
    normal = math.exp(-0.5 * apart * apart) / _ROOT_2PI * (one - other)
    share = min(normal + 2 * _BERRY_ESSEEN * of.third / sd**3 * largest, largest)
    return of.log_scale - tilt * u + math.log(share)


def _log_complement(log_p: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(np.minimum(log_p, 0.0)))


def _log_missed(log_e: Array, s: Array, log_alpha: Array) -> Array:
    """log of at most the other error, at one error: s·E·((1−s)·E/α)^{(1−s)/s}, for the best s."""
    with np.errstate(invalid="ignore"):
        each = np.log(s) + log_e + (1 - s) / s * (np.log1p(-s) + log_e - log_alpha[..., None])
    each = np.where(np.isnan(each), 0.0, each)
    found = np.min(each, axis=-1)
    return np.asarray(np.minimum(found + _MOMENT_ROUNDING * (np.abs(found) + np.abs(log_alpha)), 0.0))


_LOSS_OFFSETS = np.concatenate(([0.0], np.geomspace(1e-4, 1.0, 9)))  # how far above log t b may lie, relative to it
_START_GRID = np.concatenate(([0.0], np.geomspace(1e-12, 1.0, 60)))
_MOST_HALVINGS = 64
_LOG_UNDERFLOW = -744.0  # what is below the smallest double
_LEAST_PROBABILITY = 1e-303  # that a list says anything of
_UNDERFLOW = 1e-317  # more than what doubles drop
_LOG_ROUNDING = 1e-11  # for the rounding of a log probability


class LargestLossBounds:
    """Readings as (low, high) of logarithms; high is unknown unless there is only one step.

    The test that rejects once some step shows a loss above b has the false-positive rate 1 − Π(1 − Q(L > b))^k and the
    recall 1 − Π(1 − P(L > b))^k in closed form: a lower bound on what all steps together reveal, and nearly all of it
    where single rare losses decide. Of one step alone it is the best test there is, and the bound is the truth.
    """

    read_cost = 1  # of a place that is looked at, in lattice points of the step

    def __init__(self, steps: Sequence[CountedStep], flipped: bool) -> None:
        self.steps = [(ReversedStep(step) if flipped else step, k) for step, k in steps]
        self.alone = len(self.steps) == 1 and self.steps[0][1] == 1
        low, high = (f(step.loss_range[i] for step, _ in self.steps) for i, f in ((0, min), (1, max)))
        self.loss_range = max(low, -1e4), min(high, 1e4)
        self.rates: dict[float, tuple[float, float, float]] = {}  # a curve asks for many points of one function
        self.thresholds: list[float] = []

    def _rates(self, b: float) -> tuple[float, float, float]:
        """log recall and log false-positive rate of a threshold, and the relative error of either."""
        if b not in self.rates:
            self.rates[b] = self._compute_rates(b)
            insort(self.thresholds, b)
        return self.rates[b]

    def _compute_rates(self, b: float) -> tuple[float, float, float]:
        masses = [(*_above(step, b), k) for step, k in self.steps]
        size = max((abs(log) for p, q, _ in masses for log in (p, q) if log > -math.inf), default=0.0)
        recall, alpha = (_log_at_least_one([(m[i], m[2]) for m in masses]) for i in (0, 1))
        return recall, alpha, 16 * ROUNDOFF * (size + 8)

    def _delta(self, u: float) -> tuple[float, float]:
        best = (-math.inf, 0.0)
        for share in _LOSS_OFFSETS[:1] if self.alone else _LOSS_OFFSETS:
            recall, alpha, error = self._rates(u + share * max(abs(u), 1e-9))
            left = -math.expm1(min(u + alpha - recall, 0.0)) if recall > -math.inf else 0.0
            if left > 0:
                wrong = error * (1 + 2 / left)  # what is left after the subtraction
                best = max(best, (recall + math.log(left), wrong))
        value, wrong = best
        if wrong >= 0.5:
            return -math.inf, 0.0
        high = min(value + wrong, 0.0) if value > -math.inf else _LOG_UNDERFLOW if recall == -math.inf else 0.0
        return value - wrong, high if self.alone else 0.0

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        return _elementwise(self._delta, epsilon)

    def _epsilon(self, log_delta: float) -> tuple[float, float]:
        # near 0 many small losses say more than the largest: begin where this test does reach δ
        grid = self.loss_range[1] * _START_GRID
        i = next((i for i in reversed(range(grid.size)) if self._delta(float(grid[i]))[0] >= log_delta), 0)
        low = _last_root(
            lambda u: _log_excess(self._delta(u)[0], log_delta), float(grid[i]), float(grid[min(i + 1, grid.size - 1)])
        )
        if not self.alone:
            return low, math.inf
        right = _last_root(lambda u: _log_excess(self._delta(u)[1], log_delta), 0.0, self.loss_range[1])
        return low, (right * (1 + 1e-15) + 1e-300 if math.isfinite(right) else 0.0)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        return _elementwise(self._epsilon, log_delta)

    def _roc(self, log_alpha: float) -> tuple[float, float]:
        # the least threshold that surely keeps to α
        b = -_last_root(
            lambda v: _log_excess(log_alpha - _LOG_ROUNDING, self._rates(-v)[1]),
            -self.loss_range[1],
            -self.loss_range[0],
            [-v for v in reversed(self.thresholds)],
        )
        recall, _, error = self._rates(b)
        low = max(recall - error, log_alpha)
        if not self.alone:
            return low, 0.0
        more = _last_root(
            lambda v: _log_excess(self._rates(v)[1], log_alpha + _LOG_ROUNDING), *self.loss_range, self.thresholds
        )
        if not math.isfinite(more):
            return low, 0.0
        recall, _, error = self._rates(more)
        return low, min(recall + error, 0.0)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        return _elementwise(self._roc, log_alpha)

    def _inverse_roc(self, log_recall: float) -> tuple[float, float]:
        b = _last_root(
            lambda v: _log_excess(self._rates(v)[0], log_recall + _LOG_ROUNDING), *self.loss_range, self.thresholds
        )
        _, alpha, error = self._rates(b) if math.isfinite(b) else (0.0, 0.0, 0.0)
        high = min(alpha + error, log_recall)
        if not self.alone:
            return -math.inf, high
        less = -_last_root(
            lambda v: _log_excess(log_recall - _LOG_ROUNDING, self._rates(-v)[0]),
            -self.loss_range[1],
            -self.loss_range[0],
            [-v for v in reversed(self.thresholds)],
        )
        _, alpha, error = self._rates(less)
        return (alpha - error if math.isfinite(less) else -math.inf), high

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        return _elementwise(self._inverse_roc, log_recall)

    def test(self, loss: float) -> tuple[float, float, float]:
        recall, alpha, error = self._rates(loss)
        low, high = self._delta(loss)
        return min(math.exp(alpha + error), 1.0), math.exp(recall - error), high - low


class AtomBounds(LargestLossBounds):
    """The same of one step that is a list of atoms: sums over the list, with room for rounding, and exact.

    A loss that is off by κ moves h by no more than the threshold moved by κ does, and a mass that is off by a share e
    moves a rate by that share. Below what doubles hold well nothing is said.
    """

    read_cost = 0

    def __init__(self, law: Law, steps: Sequence[CountedStep], flipped: bool) -> None:
        super().__init__(steps, flipped)
        step = steps[0][0]
        self.law = law.reverse() if flipped else law
        self.error = step.rho + 64 * ROUNDOFF * 750  # logarithms of masses go down to −750
        self.kappa = 64 * ROUNDOFF * (1 + float(np.max(np.abs(step.atoms.loss), initial=0.0)))

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        low, high = (np.asarray(self.law.profile(epsilon + way * self.kappa)) for way in (1, -1))
        return self._logs(low, high)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        delta = np.exp(np.minimum(log_delta, 0.0))
        ends = np.minimum(delta * (1 + self.error), 1.0), np.maximum(delta * (1 - self.error) - _UNDERFLOW, 0.0)
        low, high = (np.asarray(self.law.profile_inverse(end)) for end in ends)
        known = delta > _LEAST_PROBABILITY
        return np.where(known, low - self.kappa, -np.inf), np.where(known, high + self.kappa, np.inf)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        alpha = np.exp(np.minimum(log_alpha, 0.0))
        low, high = (np.asarray(self.law.roc(np.minimum(alpha * (1 + way * self.error), 1.0))) for way in (-1, 1))
        low, high = self._logs(low, np.minimum(high * (1 + 2 * self.kappa), 1.0))
        known = alpha > _LEAST_PROBABILITY
        return np.where(known, low, -np.inf), np.where(known, high, 0.0)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        recall = np.exp(np.minimum(log_recall, 0.0))
        ends = np.maximum(recall * (1 - self.error) - _UNDERFLOW, 0.0), np.minimum(recall * (1 + self.error), 1.0)
        low, high = (np.asarray(self.law.inverse_roc(end)) for end in ends)
        low, high = self._logs(low * (1 - 2 * self.kappa), high)
        known = recall > _LEAST_PROBABILITY
        return np.where(known, low, -np.inf), np.where(known, high, 0.0)

    def _logs(self, low: Array, high: Array) -> tuple[Array, Array]:
        with np.errstate(divide="ignore"):
            return (
                np.where(low > _LEAST_PROBABILITY, np.log(low) - self.error, -np.inf),
                np.minimum(np.log(np.maximum(high, _LEAST_PROBABILITY)) + self.error, 0.0),
            )


def largest_loss_bounds(steps: Sequence[CountedStep], flipped: bool) -> LargestLossBounds:
    """The bounds by the largest loss, from the list where there is one step that is a list of atoms."""
    alone = len(steps) == 1 and steps[0][1] == 1 and steps[0][0].support is None
    law = steps[0][0].as_law() if alone else None
    return LargestLossBounds(steps, flipped) if law is None else AtomBounds(law, steps, flipped)


def _above(step: Step, b: float) -> tuple[float, float]:
    """log (P, Q) of a loss above b in one step; Q may be no double where P is one."""
    atoms = step.atoms
    beyond = atoms.loss > b
    p = [math.log(atoms.only1)] if atoms.only1 > 0 else []
    q: list[float] = []
    if beyond.any():
        p.append(float(np.logaddexp.reduce(atoms.log_p[beyond])))
        q.append(float(np.logaddexp.reduce((atoms.log_p - atoms.loss)[beyond])))
    if step.support is not None and b < step.loss_range[1]:
        inside = b > step.loss_range[0]
        more = step.above(float(step.inverse_loss(np.asarray(b))) if inside else step.support[0])
        p.append(more[0])
        q.append(more[1])
    return _log_sum(p), _log_sum(q)


def _log_sum(logs: list[float]) -> float:
    return min(float(np.logaddexp.reduce(logs)), 0.0) if logs else -math.inf


def _log_at_least_one(logs: list[tuple[float, int]]) -> float:
    """log of the chance of one or more, from (log of its chance at a step, steps): 1 − Π(1 − p)^k."""
    most = _log_sum([log + math.log(k) for log, k in logs])
    if most < -40:  # the sum is larger by less than itself squared
        return most
    none = sum(k * math.log1p(-math.exp(log)) if math.exp(log) < 1 else -math.inf for log, k in logs)
    return math.log(-math.expm1(none)) if none < 0 else -math.inf


def _elementwise(read: Callable[[float], tuple[float, float]], values: Array) -> tuple[Array, Array]:
    pairs = np.array([read(float(v)) for v in np.ravel(values)]).reshape(-1, 2)
    return pairs[:, 0].reshape(np.shape(values)), pairs[:, 1].reshape(np.shape(values))


def _log_excess(value: float, limit: float) -> float:
    """How far a logarithm is above another, which may be −∞ too."""
    return 0.0 if value == limit else value - limit


def _last_root(excess: Callable[[float], float], first: float, last: float, thresholds: Sequence[float] = ()) -> float:
    """The largest argument found up to which a falling function is not below 0; −∞ if it is at the first.

    Begins between two of ``thresholds``, in order, where the function is known already; then regula falsi (Illinois),
    and bisection at every third step. Wherever it ends, the function was looked at there.
    """
    above = excess(first)
    if not above >= 0:
        return -math.inf
    below = excess(last)
    if below >= 0:
        return last
    least, side = (last - first) * 2.0**-62, 0
    i, j = bisect_right(thresholds, first), bisect_left(thresholds, last)
    while i < j:
        middle = (i + j) // 2
        value = excess(thresholds[middle])
        if value >= 0:
            first, above, i = thresholds[middle], value, middle + 1
        else:
            last, below, j = thresholds[middle], value, middle
    for step in range(3 * _MOST_HALVINGS):
        near = max(least, 2 * ROUNDOFF * max(abs(first), abs(last)))
        if last - first <= near:
            break
        lean = math.isfinite(above) and math.isfinite(below) and above > 0 and step % 3 != 2
        x = first + (last - first) * (above / (above - below) if lean else 0.5)
        x = min(max(x, first + near / 4), last - near / 4)
        value = excess(x)
        if value >= 0:
            first, above, below = x, value, below / 2 if side == 1 else below
            side = 1
        else:
            last, below, above = x, value, above / 2 if side == -1 else above
            side = -1
    return first
