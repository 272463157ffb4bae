"""Where the likelihood ratio of two mixtures of normal laws of one σ turns from rising to falling: all such points.

The slope of log P₁/P₀ has the sign of an exponential sum Σ c_m e^{m·r/σ²} over m = s + t, with
c_m = Σ_{s+t=m} (s − t)·p₁(s)p₀(t)·e^{−(s²+t²)/2σ²}. Such a sum has at most as many zeros as its coefficients change
sign, and dividing by e^{μr} with μ inside a change of sign before differentiating takes one change away (Laguerre); so
the zeros of the derivative bracket those of the sum, down to a sum without any. Nothing is missed by a coarse grid.
"""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...solve import root
from .sums import merge

__all__ = ["turning_points"]


def turning_points(places: Array, law0: Array, law1: Array, sigma: float) -> tuple[float, ...]:
    """Turning points of log P₁/P₀, P_k = Σ law_k·N(places, σ²); ``law0`` and ``law1`` are logarithms of weights."""
    middle = (places[0] + places[-1]) / 2
    s, t = (places - middle) / sigma, (places - middle) / sigma
    size = law1[:, None] - s[:, None] ** 2 / 2 + law0[None] - t[None] ** 2 / 2
    gap = s[:, None] - t[None]
    some = np.isfinite(size) & (gap != 0)
    if not some.any():
        return ()
    sums, index = merge((s[:, None] + t[None])[some])
    logs, gaps = size[some] + np.log(np.abs(gap[some])), np.sign(gap[some])
    top = np.full(sums.size, -np.inf)
    np.maximum.at(top, index, logs)
    scaled = np.exp(logs - top[index])
    total, weight = np.zeros(sums.size), np.zeros(sums.size)
    np.add.at(total, index, gaps * scaled)
    np.add.at(weight, index, scaled)
    real = np.abs(total) > 1e-14 * weight  # what is left of an exact cancellation is rounding
    if not real.any():
        return ()
    found = _zeros(sums[real], top[real] + np.log(np.abs(total[real])), np.sign(total[real]))
    return tuple(float(middle + sigma * z) for z in found)


def _zeros(rates: Array, logs: Array, signs: Array) -> Array:
    """The places where Σ sign·e^{log + rate·z} changes sign."""
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    if changes.size == 0:
        return np.zeros(0)
    j = int(changes[changes.size // 2])
    split = (rates[j] + rates[j + 1]) / 2
    inner = _zeros(rates, logs + np.log(np.abs(rates - split)), np.where(rates < split, -signs, signs))

    def value(z: Array) -> Array:
        terms = logs + rates * z[:, None]
        return np.asarray((signs * np.exp(terms - terms.max(axis=1, keepdims=True))).sum(axis=1))

    # beyond this distance the extreme term outweighs the sum of all others
    far = 1.0 + (np.ptp(logs) + np.log(rates.size) + 1) / np.diff(rates).min() + np.abs(inner).max(initial=0.0)
    edges = np.concatenate(([-far], inner, [far]))
    sign = np.sign(value(edges))
    sign[0], sign[-1] = signs[0], signs[-1]
    # a zero of the derivative that is one of the sum too belongs to the interval before it
    low, high, last = [], [], 0
    for k in range(1, edges.size):
        if sign[k] != 0 and sign[k] != sign[last]:
            low.append(edges[last])
            high.append(edges[k])
        if sign[k] != 0:
            last = k
    if not low:
        return np.zeros(0)
    return np.asarray(root(value, np.asarray(low), np.asarray(high), rtol=1e-15))
