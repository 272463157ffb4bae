"""What moments alone say of a product, and at once: next to everything where the two laws hardly overlap.

With E(s) = ∫dP^s dQ^{1−s}, 0 < s < 1, which multiplies, the two laws have ∫min(dP, t·dQ) ≤ E(s)·t^{1−s} in common. So
1 − h(t) is at most that; the errors of a test are at most max_t E(s)·t^{1−s} − tα = s·E(s)·t^{1−s} at
t = ((1−s)·E(s)/α)^{1/s}, and those of the test that rejects L > u at most E(s)·e^{−su} and E(s)·e^{(1−s)u} (Chernoff).

:func:`log_profile` goes on where many steps add up. With g(x) = (1 − e^{−x})·e^{−λx} for x > 0, 0 below,
h(e^u) = e^{K(λ)−λu}·E g(L − u) under the tilt λ. Chernoff's bound has the largest g instead. The tilted loss is a sum;
by Berry and Esseen its distribution function lies within 0.56·Σ E|L_i − E L_i|³/s³ of the normal one (Shevtsova 2010,
whatever the laws of the steps), and g goes up to its largest value and down again: E g is at most that of the normal
law and twice that share of the largest g.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...checks import Array
from ...numerics.special import mills
from .plan import Shape

_S = np.asarray([0.1, 0.3, 0.5, 0.7, 0.9])
_ROOM = 1e-12  # of a logarithm, for rounding
_BERRY_ESSEEN = 0.56
_ROOT_2PI = math.sqrt(2 * math.pi)


class Surely:
    """Bounds on risk from below, as (low, high) of logarithms of which high is what nobody doubts."""

    def __init__(self, log_moment: Callable[[float], float], error: float) -> None:
        #: log E(s), from above
        self.log_e = np.asarray([log_moment(float(s)) for s in _S]) * (1 - error)

    def _common(self, u: Array) -> Array:
        """log of at most what the laws have in common at t = e^u."""
        return np.asarray(np.min(self.log_e + np.multiply.outer(u, 1 - _S), axis=-1) * (1 - _ROOM))

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        """log δ(ε)."""
        u = np.asarray(epsilon, dtype=float)
        return _rest(self._common(u)), np.zeros(u.shape)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε with that δ is at least where so much is surely not in common."""
        left = _rest(np.asarray(log_delta, dtype=float))
        low = np.max((left[..., None] - self.log_e) / (1 - _S), axis=-1)
        return low - _ROOM * (np.abs(low) + 1), np.full(low.shape, np.inf)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        """log of the true-positive rate at a false-positive rate."""
        la = np.asarray(log_alpha, dtype=float)
        return np.maximum(_rest(_missed(self.log_e, _S, la)), la), np.zeros(la.shape)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        """log of a false-positive rate at which a recall is reached: the same with the laws exchanged."""
        lr = np.asarray(log_recall, dtype=float)
        return np.full(lr.shape, -np.inf), np.minimum(_missed(self.log_e, 1 - _S, _rest(lr)), lr)

    def test(self, loss: float) -> tuple[float, float, float]:
        """(false-positive rate, recall) that the test of this threshold surely has, and how well h is known there."""
        alpha = float(np.min(self.log_e - _S * loss)) * (1 - _ROOM)
        low = float(self.delta(np.asarray(loss))[0])
        recall = -math.expm1(min(float(self._common(np.asarray(loss))), 0.0))
        return min(math.exp(min(alpha, 0.0)), 1.0), recall, -low


def log_profile(of: Shape, tilt: float, u: float) -> float:
    """log of a bound on h(e^u) from the loss under a tilt λ > 0.

    A thousand tilted losses of ±0.1 about u, λ = 1: E g is 0.0541 by enumeration, Chernoff's bound has 0.25.

    >>> round(math.exp(log_profile(Shape(0.0, 0.0, 10.0, 1.0), 1.0, 0.0)), 4)
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


def _rest(log_p: Array) -> Array:
    """log(1 − p), of a p that may be above 1."""
    with np.errstate(divide="ignore"):
        return np.log(-np.expm1(np.minimum(log_p, 0.0)))


def _missed(log_e: Array, s: Array, log_alpha: Array) -> Array:
    """log of at most the other error, at one error: s·E·((1−s)·E/α)^{(1−s)/s}, for the best s."""
    with np.errstate(invalid="ignore"):
        each = np.log(s) + log_e + (1 - s) / s * (np.log1p(-s) + log_e - log_alpha[..., None])
    each = np.where(np.isnan(each), 0.0, each)
    found = np.min(each, axis=-1)
    return np.asarray(np.minimum(found + _ROOM * (np.abs(found) + np.abs(log_alpha)), 0.0))
