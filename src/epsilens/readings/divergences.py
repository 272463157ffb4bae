"""Divergences of the two laws, in nats: D is from H0 to H1; ``reverse()`` gives the other order.

With E(a) = ∫ dH1^a dH0^{1−a}: D_a(H0‖H1) = log E(1−a)/(a−1), KL is its limit at a → 1, and the Chernoff
information is −min_a log E(a), reached inside [0, 1].
"""

from __future__ import annotations

import math

import numpy as np

from ..checks import Array
from .law import Law

__all__ = ["chernoff", "renyi"]


def renyi(law: Law, order: Array) -> Array:
    """D_a(H0‖H1) for an order a in [0, ∞]; order 1 is KL, order ∞ the largest log-likelihood ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ordinary = (order != 1) & np.isfinite(order)
        a = np.where(ordinary, order, 2.0)
        value = law.log_moment(1 - a) / (a - 1)
        if np.any(order < 0.5):  # 1 − a would round: E(1−a) of the pair is E(a) of its reverse
            value = np.where(a < 0.5, law.reverse().log_moment(np.minimum(a, 0.5)) / (a - 1), value)
    value = np.where(order == 1, law.kl(), np.where(np.isinf(order), law.reverse().max_llr(), value))
    return np.asarray(np.maximum(value, 0.0))


def chernoff(law: Law) -> Array:
    """The Chernoff information: the exponent of the Bayes error over many independent observations.

    log E(a) is convex with log E = 0 at both ends of [0, 1] when the supports agree. At its minimum it is flat, so
    a golden-section search for a to √u gives the value to u. A symmetric pair has its minimum at ½.
    """
    if law.symmetric:
        return np.asarray(np.maximum(-law.log_moment(np.asarray(0.5)), 0.0))
    ratio = (math.sqrt(5.0) - 1) / 2
    a, b = 0.0, 1.0
    x, y = b - ratio * (b - a), a + ratio * (b - a)
    fx, fy = _log_moment(law, x), _log_moment(law, y)
    # With supports that differ the infimum may sit at an end, where E(a) → H(common support).
    least = min(fx, fy, _log_moment(law, 0.0), _log_moment(law, 1.0))
    while b - a > 1e-9:
        if fx < fy:
            b, y, fy = y, x, fx
            x = b - ratio * (b - a)
            fx = _log_moment(law, x)
        else:
            a, x, fx = x, y, fy
            y = a + ratio * (b - a)
            fy = _log_moment(law, y)
        least = min(least, fx, fy)
    return np.asarray(max(-least, 0.0))


def _log_moment(law: Law, a: float) -> float:
    return float(law.log_moment(np.asarray(a)))
