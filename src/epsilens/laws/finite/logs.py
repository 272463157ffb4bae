"""Vertices of a list of atoms from the logarithms of its masses, for those that are no double any more.

The list is given by its H0-masses and log-likelihood ratios, in falling order of the latter.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri_exp

from ...checks import Array


def log_cumulative(x: Array) -> Array:
    """log of the cumulative sums."""
    return np.asarray(np.logaddexp.accumulate(x)) if x.size else x


def log_balanced(log_m0: Array, u: Array) -> float:
    """log x with f(x) = x: between the two vertices where the errors cross."""
    m0, m1 = log_m0, log_m0 + u
    if not m0.size:
        return -math.inf
    alpha = np.concatenate(([-np.inf], log_cumulative(m0)))
    miss = np.concatenate((log_cumulative(m1[::-1])[::-1], [-np.inf]))
    j = int(np.argmax(alpha >= miss)) - 1  # at the vertex before, fewer are flagged than missed
    rest = np.logaddexp(miss[j + 1], m1[j])
    # α + s·p0 = rest − s·p1, so that both are (α·p1 + rest·p0)/(p0 + p1)
    return float(np.logaddexp(alpha[j] + m1[j], rest + m0[j]) - np.logaddexp(m0[j], m1[j]))


def far_gaps(log_m0: Array, u: Array) -> Array:
    """Φ⁻¹(recall) − Φ⁻¹(α) at the inner vertices."""

    def probit(log_hit: Array, log_miss: Array) -> Array:
        from_hit, from_miss = ndtri_exp(np.minimum(log_hit, 0)), -ndtri_exp(np.minimum(log_miss, 0))
        return np.asarray(np.where(log_hit < log_miss, from_hit, from_miss))

    m0, m1 = log_m0, log_m0 + u
    sides = [(log_cumulative(m)[:-1], log_cumulative(m[::-1])[::-1][1:]) for m in (m0, m1)]
    return np.asarray(probit(*sides[1]) - probit(*sides[0]))
