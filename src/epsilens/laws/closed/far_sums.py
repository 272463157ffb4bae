"""Moments of high order of a shifted sum of Laplaces, where all of the integral lies far beyond both bends.

The density of a sum of q standard Laplaces is e^{−x}·P(x) for x > 0, P a polynomial of degree q − 1. Beyond the shift d
the loss is d − ∫(log P)′ over (x − d, x), which tends to d as (q−1)d/x falls, and ∫p0^{1−a}·p1^a for a large order a
has its weight about √(a(q−1)d), in a width of about √(x/2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...checks import Array

_X, _W = np.polynomial.legendre.leggauss(16)
_LEAST = 1e7  # an order times a shift
_BESIDE = 256  # how many times the shift the order is
_FARTHEST = 1e36  # an order at which the largest loss is all there is
_ZOOMS, _PLACES = 12, 33
_PANELS = np.arange(-16.0, 16.0)[:, None] + (1 + _X) / 2


def far_out(q: int, shift: float, a: float) -> bool:
    """Whether the integral of this order lies far beyond the shift."""
    return q > 1 and a * shift > _LEAST and a * (q - 1) > _BESIDE * shift


def far_log_moment(density: Sequence[float], shift: float, a: float) -> float:
    """log ∫p0^{1−a}·p1^a, of P with these coefficients, highest power first.

    >>> a = 1e12
    >>> far_log_moment((0.25, 0.25), 0.5, a) / (a - 1)  # mpmath: 0.4999985858070771
    0.49999858580707...
    """
    if a > _FARTHEST:
        return (a - 1) * shift
    p, degree = np.asarray(density)[::-1], len(density) - 1  # in 1/x, which does not overflow

    def less(x: Array) -> Array:
        """log p0 + a(l − d)."""
        z = 1 / (x[..., None] - shift * (1 + _X) / 2)
        slope = z * np.polyval(p * np.arange(degree + 1), z) / np.polyval(p, z)
        log_p = degree * np.log(x) + np.log(np.polyval(p, 1 / x)) - x
        return np.asarray(log_p - a * shift / 2 * (slope * _W).sum(-1))

    about = math.sqrt(a * degree * shift)
    low, high = about / 8, 8 * about
    crest = about
    for _ in range(_ZOOMS):
        x = np.linspace(low, high, _PLACES)
        i = min(max(int(np.argmax(less(x))), 1), _PLACES - 2)
        low, crest, high = (float(v) for v in x[i - 1 : i + 2])
    unit = math.sqrt(crest**3 / 2) / about
    values = less(crest + unit * _PANELS)
    top = float(values.max())
    return a * shift + top + math.log(float((np.exp(values - top) * _W).sum()) * unit / 2)
