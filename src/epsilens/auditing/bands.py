"""Bands on the two error rates of a score, at all cuts at once: what a number of runs shows of the whole trade-off.

Of n independent scores the i-th smallest lies, on the scale of their own law, like the i-th of n uniform numbers: as
Beta(i, n+1−i), or less far where values tie. The band with equal local levels bounds each by the quantile at one level
η, the same for all; η is as large as the chance that any of the n bounds fails stays within α. Where the usual bands
(Kolmogorov's) are as wide in the tails as in the middle, this one is as narrow everywhere as a single Clopper–Pearson
bound at level η.

The chance that none fails, P[U_(i) ≤ c_i for all i], is that of a Poisson process of n points with at least i points up
to c_i for every i, given that it has n in all; it is summed cell by cell.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.special import betaincinv, gammaln

from ..checks import Array

_RANKS = 160  # at which the smallest scores are bounded; in between the next one's bound serves
_NEAR = 0.99  # of the level that is used up
_SPREAD = 9.0  # standard deviations of a count that are kept


def _ranks(n: int) -> NDArray[np.int64]:
    """Some of 1…n: all of a few, else even ones and more at both ends."""
    if n <= _RANKS:
        return np.arange(1, n + 1, dtype=np.int64)
    end = np.geomspace(1, n / 2, _RANKS // 5).astype(np.int64)
    even = np.linspace(1, n, _RANKS).astype(np.int64)
    return np.unique(np.concatenate((end, n + 1 - end, even)))


def _limits(n: int, level: float) -> Array:
    ranks = _ranks(n)
    return np.asarray(betaincinv(ranks, n + 1 - ranks, 1 - level))


def holds(n: int, level: float) -> float:
    """The probability that all bounds at this local level hold: P[U_(i) ≤ c_i for the ranks i].

    >>> round(holds(1, 0.05), 6), round(holds(2, 0.05), 6)
    (0.95, 0.910683)
    """
    ranks, at = _ranks(n), np.append(_limits(n, level), 1.0)
    state, low = np.ones(1), 0  # chances of low, low + 1, … points so far; what falls short is left out
    before = 0.0
    for need, limit in zip(np.append(ranks, n).tolist(), at.tolist(), strict=True):
        mean = n * (limit - before)
        reach = _SPREAD * math.sqrt(mean) + 20
        most = int(mean + reach)
        least = max(0, int(mean - reach))
        k = np.arange(least, most + 1)
        step = np.exp(k * math.log(mean) - mean - gammaln(k + 1)) if mean > 0 else (k == 0).astype(float)
        state = fftconvolve(state, step) if min(state.size, step.size) > 64 else np.convolve(state, step)
        low += least
        if need > low:
            state, low = state[need - low :], need
        state = np.maximum(state[: n - low + 1], 0.0)
        before = limit
    # n points in all, given that a Poisson number of mean n is n
    return float(state[n - low] / math.exp(n * math.log(n) - n - gammaln(n + 1))) if state.size > n - low else 0.0


@lru_cache(maxsize=256)
def local_level(n: int, alpha: float) -> float:
    """η: the local level at which some bound of n fails with probability at most α, and at least 0.99·α.

    >>> 0.049 < local_level(1, 0.05) <= 0.05, round(local_level(100, 0.05), 4)
    (True, 0.0024)
    """
    level = alpha / min(n, 30)
    for _ in range(40):  # the chance of a failure is nearly proportional to the level: few steps are needed
        fails = 1 - holds(n, level)
        if _NEAR * alpha <= fails <= alpha:
            return level
        level *= 0.5 * (1 + _NEAR) * alpha / fails
    return alpha / n  # by the union bound


def _upper(counts: Array, n: int, alpha: float) -> Array:
    """Bounds from above on the rates behind counts of n, at all cuts at once."""
    level = local_level(n, alpha)
    ranks, limits = _ranks(n), _limits(n, level)
    at = np.searchsorted(ranks, counts + 1)  # the rate lies below the next score, so below any later one's bound
    return np.where(at < ranks.size, limits[np.minimum(at, ranks.size - 1)], 1.0)


def rate_bands(scores0: Array, scores1: Array, alpha: float) -> tuple[Array, Array]:
    """(false alarms, misses) of the tests "score ≥ t" and "score > t", both from above, at all t at once.

    α/2 is paid for each of the two rates. Ties do no harm: each test counts its own scores.
    """
    cuts = np.unique(np.concatenate((scores0, scores1)))
    low, high = np.sort(scores0), np.sort(scores1)
    false = np.concatenate([low.size - np.searchsorted(low, cuts, side) for side in ("left", "right")])
    missed = np.concatenate([np.searchsorted(high, cuts, side) for side in ("left", "right")])
    return _upper(false, low.size, alpha / 2), _upper(missed, high.size, alpha / 2)


def worst_delta(scores0: Array, scores1: Array, epsilon: Array, alpha: float) -> Array:
    """Bounds from below on δ at every ε at once: the largest P₁(A) − e^ε·P₀(A) of either order that the bands show.

    >>> rng = np.random.default_rng(1)
    >>> zero, one = rng.normal(0, 1, 5000), rng.normal(1, 1, 5000)  # δ(0) = 2Φ(½) − 1
    >>> bool(0.32 < worst_delta(zero, one, np.array([0.0]), 0.05)[0] <= 2 * 0.69147 - 1)
    True
    """
    if not scores0.size or not scores1.size:
        return np.zeros(epsilon.shape)
    false, missed = rate_bands(scores0, scores1, alpha)
    grow = np.exp(epsilon)[:, None]
    either = np.maximum(1 - missed - grow * false, 1 - false - grow * missed)
    return np.asarray(np.maximum(either.max(axis=1), 0.0))
