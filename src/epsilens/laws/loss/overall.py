"""Readings of a product that sum up its whole curve: the area under it, and the best Fβ."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...checks import Array
from ...readings.guesses import fbeta_floor

__all__ = ["area", "best_fbeta"]

_FIRST = 1e-12  # the least false-positive rate at which a curve is looked at
_ULPS = 1e-12


def area(roc: Callable[[Array], Array], width: float, upper: bool) -> float:
    """The area under a ROC curve known from one side, on a grid that is fine at both ends.

    The curve is concave: its height in the middle of a cell times the width is at least its area there, the chord
    between its ends at most. The first is taken from above, the second from below.
    """
    n = round(80 * min(max(math.sqrt(2e-4 / width), 1.0), 40.0))  # both errors fall with the square
    grid = np.concatenate(([0.0], np.geomspace(_FIRST, 0.02, n), np.linspace(0.02, 0.5, 2 * n)[1:]))
    a = np.concatenate((grid, 1 - grid[::-1][1:]))
    if upper:
        return min(float(np.diff(a) @ roc((a[1:] + a[:-1]) / 2)) * (1 + _ULPS), 1.0)
    y = roc(a)
    return float(np.diff(a) @ (y[1:] + y[:-1])) / 2 * (1 - _ULPS)


def best_fbeta(profile: Callable[[Array], Array], beta: Array, odds: Array, width: float, upper: bool) -> Array:
    """The root F of (1+β²−F)·h(F·c/(1+β²−F)) = F·β², where ``profile`` is u ↦ h(e^u) from one side."""
    beta, odds = np.broadcast_arrays(np.asarray(beta, dtype=float), np.asarray(odds, dtype=float))
    floor = fbeta_floor(beta, odds)
    out = np.array(
        [
            _fbeta(profile, float(b), float(c), float(f), width, upper)
            for b, c, f in zip(beta.ravel(), odds.ravel(), floor.ravel(), strict=True)
        ]
    )
    return out.reshape(beta.shape)


def _fbeta(profile: Callable[[Array], Array], beta: float, c: float, floor: float, width: float, upper: bool) -> float:
    b2 = beta * beta
    if c == 0:
        return 1.0
    if math.isinf(c) or not math.isfinite(b2):
        return floor

    def over(f: float) -> bool:
        t = math.log(f) + math.log(c) - math.log(1 + b2 - f)
        return (1 + b2 - f) * float(profile(np.asarray([t]))[0]) > f * b2

    low, high = floor, 1.0
    if not over(low) or floor >= 1:
        return floor
    if over(high):
        return 1.0
    while high - low > 4e-16 * high and high - low > 1e-3 * width * max(high - floor, 1e-12):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if over(middle) else (low, middle)
    return high if upper else low
