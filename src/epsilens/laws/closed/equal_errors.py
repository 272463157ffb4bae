"""ψ of a symmetric law against itself shifted, where its tails are no lighter than a normal law's.

With z(c) = −Φ⁻¹(P(X > c)), odd, the test x > c has the gap z(c) + z(d − c). Where z is concave beyond 0, as it is of
sums with Laplace noise, none has a larger one than c = d/2, whose two errors are equal: ψ is 2z(d/2), at every level.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri_exp

from ...checks import Array
from ...numerics.special import half_normal_quantile

_CLOSE = 1e-6  # relative, within which other tests must stay
_NOISE = 1e-13  # of a difference of probits
_BEYOND = np.concatenate((np.geomspace(1e-3, 8.0, 256), np.geomspace(8.5, 1e4, 64)))  # of half the shift


def psi_by_equal_errors(log_tail: Callable[[Array], Array], shift: float, inside: float) -> float:
    """ψ, of log P(X > x) for x ≥ 0, a shift, and P(|X| ≤ shift/2) with all its digits; errors need not be doubles.

    That no other test has a larger gap is looked at, on a grid, where differences of probits show it.

    >>> float(psi_by_equal_errors(lambda x: -x - np.log(2), 1.0, 1 - np.exp(-0.5)))  # Laplace: −2Φ⁻¹(e^{−½}/2)
    1.03006...
    """
    half = np.asarray(shift / 2)
    if inside < 0.5:
        equal = 2 * float(half_normal_quantile(np.asarray(inside)))
    else:
        equal = -2 * float(ndtri_exp(log_tail(half)))
    c = shift / 2 * (1 + _BEYOND)
    there = ndtri_exp(log_tail(np.abs(c - shift)))
    others = np.where(c < shift, -there, there) - ndtri_exp(log_tail(c))
    return max(equal, float(np.max(others)) - _NOISE - _CLOSE * equal)
