"""What moments alone say of a product: next to everything where the two laws hardly overlap, and at once.

With E(s) = ∫dP^s dQ^{1−s}, 0 < s < 1, which multiplies, the two laws have ∫min(dP, t·dQ) ≤ E(s)·t^{1−s} in common. So
1 − h(t) is at most that; the errors of a test are at most max_t E(s)·t^{1−s} − tα = s·E(s)·t^{1−s} at
t = ((1−s)·E(s)/α)^{1/s}, and those of the test that rejects L > u at most E(s)·e^{−su} and E(s)·e^{(1−s)u} (Chernoff).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...checks import Array

__all__ = ["Surely"]

_S = np.asarray([0.1, 0.3, 0.5, 0.7, 0.9])
_ROOM = 1e-12  # of a logarithm, for rounding


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
