"""Binomial probabilities with their relative digits, also among ten million draws.

log Γ of 10⁷ is 1.5·10⁸, and three of them subtracted leave eight digits. Loader (2000) writes the probability as a
deviance and three small corrections of Stirling's formula, none of which is large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ..checks import Array
from .special import log1pmx

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


def _stirling_error(n: Array) -> Array:
    """log n! − log(√(2πn)·(n/e)^n)."""
    small = n < 16
    m = np.where(small, 16.0, n)
    i = 1 / (m * m)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - i / 1188) * i) * i) * i) / m
    s = np.where(small, np.maximum(n, 1.0), 1.0)
    return np.where(small, gammaln(s + 1) - (_HALF_LOG_2PI + 0.5 * np.log(s) + s * np.log(s) - s), series)


def _deviance(x: Array, mean: Array) -> Array:
    """x·log(x/mean) + mean − x for x > 0."""
    near = np.abs(x - mean) < mean
    y = np.where(near, (x - mean) / np.where(near, mean, 1.0), 0.0)
    far = x * (np.log(x) - np.log(mean)) + mean - x
    return np.asarray(np.where(near, mean * ((1 + y) * log1pmx(y) + y * y), far))


def log_binomial(n: ArrayLike, k: ArrayLike, p: float) -> Array:
    """log P(k of n) with probability p in (0, 1) each; −∞ where that is impossible.

    >>> round(float(np.exp(log_binomial(4, 2, 0.5))), 15)
    0.375
    """
    total, x = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(k, dtype=float))
    rest = total - x
    inside = (x > 0) & (rest > 0)
    a, b, m = np.where(inside, x, 1.0), np.where(inside, rest, 1.0), np.where(inside, total, 2.0)
    middle = (
        _stirling_error(m) - _stirling_error(a) - _stirling_error(b)
        - _deviance(a, m * p) - _deviance(b, m * (1 - p))
        - _HALF_LOG_2PI + 0.5 * (np.log(m) - np.log(a) - np.log(b))
    )  # fmt: skip
    ends = np.where(rest == 0, total * np.log(p), total * np.log1p(-p))
    value = np.where(inside, middle, np.where((x == 0) | (rest == 0), ends, -np.inf))
    return np.asarray(np.where((x < 0) | (rest < 0), -np.inf, value))


def binomial_window(n: int, p: float, sigmas: float) -> tuple[int, int, float]:
    """(low, high, left out): what lies within so many standard deviations, and a bound on the mass beyond.

    Beyond the mode probabilities fall, so what is left out is at most its first probability times their number.
    """
    spread = sigmas * np.sqrt(n * p * (1 - p)) + sigmas
    low, high = max(0, int(np.floor(n * p - spread))), min(n, int(np.ceil(n * p + spread)))
    beyond = low * np.exp(log_binomial(n, low - 1, p)) + (n - high) * np.exp(log_binomial(n, high + 1, p))
    return low, high, float(beyond)
