"""Readings of a product that sum up its whole curve, from both sides: the area under it, and the best Fβ.

Both are taken as what exceeds the reading of pure noise, which keeps its digits where a release says next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...checks import Array

_LEAST_FPR = 1e-12  # the least false-positive rate at which a curve is looked at
_FINEST_RATIO = 0.01  # between neighbouring losses, relative
_NEAREST_SHARE = 1e-3  # of the total variation: the smallest loss of either sign that is looked at
_LARGEST_NEGATIVE, _LARGEST_POSITIVE = 34.0, 580.0  # and the largest
_ROUNDING = 1e-15  # of a sum
_COARSE_STRIDE = 16  # of the losses, asked for first
_MOST_STEPS = 60  # of regula falsi
#: (u, slack) ↦ (low, high) of h(e^u) − (1 − e^u)₊, as well known as the width or the slack asks
Sides = Callable[[Array, float], tuple[Array, Array]]
#: u ↦ the same from one side
ExcessRisk = Callable[[float], float]


def area(rest: Sides, ends: tuple[float, float], width: float) -> tuple[float, float]:
    """(low, high) of the area under the ROC curve, from r(u) = h(e^u) − (1 − e^u)₊, (low, high) at given losses.

    R(α) − α is the least of h(t) + tα − α over t, that is of r + (t−1)₊α + (1−t)₊(1−α). From above a few t will do;
    from below, between two of them, h lies above the lines through the two before and the two after, as it is convex.
    A concave curve has at least its chord's area in every cell, and at most that of its height in the middle.
    """
    most = float(rest(np.zeros(1), 0.0)[1][0])
    if most <= 0:
        return 0.5, 0.5
    ratio = min(max(math.sqrt(0.5 * width), _FINEST_RATIO), 0.1)
    sides = []
    for end, largest in ((-ends[0], _LARGEST_NEGATIVE), (ends[1], _LARGEST_POSITIVE)):
        last = min(end, largest)
        first = min(_NEAREST_SHARE * most, 0.5 * last)
        side = np.geomspace(first, last, math.ceil(math.log(last / first) / ratio) + 2)
        # beyond the largest loss r is known, and says where the line before it ends
        sides.append(np.concatenate(([0.0], side, last * (1 + ratio * np.asarray([1.0, 2.0])))))
    u = np.concatenate((-sides[0][:0:-1], sides[1]))
    zero = sides[0].size - 1
    low, high = _read(rest, u, zero, 0.05 * width * most)
    at, under = from_below(u, low, high)
    grid = np.concatenate(([0.0], np.geomspace(_LEAST_FPR, 0.02, 160), np.linspace(0.02, 0.5, 160)[1:]))
    grid = np.concatenate((grid, 1 - grid[::-1][1:]))
    cells, middle = np.diff(grid), (grid[1:] + grid[:-1]) / 2
    over, below = _envelope(u, high, middle), np.maximum(_envelope(at, under, grid), 0.0)
    most = min(0.5 + float(cells @ over) * (1 + 1e-12) + _ROUNDING, 1.0)
    return min(0.5 + max(float(cells @ (below[1:] + below[:-1])) / 2 * (1 - 1e-12) - _ROUNDING, 0.0), most), most


def _read(rest: Sides, u: Array, zero: int, slack: float) -> tuple[Array, Array]:
    """r from both sides; between two places where it hardly differs, nothing is asked."""
    low, high = np.zeros(u.size), np.ones(u.size)

    def settle() -> None:
        """r grows up to u = 0 and falls beyond: what is known of one place holds for those nearer, or further out."""
        for part, way in ((slice(0, zero + 1), 1), (slice(zero, u.size), -1)):
            low[part] = np.maximum.accumulate(low[part][::way])[::way]
            high[part] = np.minimum.accumulate(high[part][::-way])[::-way]

    asked = np.unique(np.concatenate((np.arange(0, u.size, _COARSE_STRIDE), [zero, u.size - 1])))
    for places in (asked, np.arange(u.size)):
        places = places[high[places] - low[places] > slack]
        if places.size:
            a, b = rest(u[places], slack)
            low[places], high[places] = np.maximum(low[places], a), np.minimum(high[places], b)
        settle()
    return low, high


def _envelope(u: Array, rest: Array, alpha: Array) -> Array:
    """The least of r + (t−1)₊α + (1−t)₊(1−α) at each α."""
    above, below = np.expm1(np.maximum(u, 0.0)), -np.expm1(np.minimum(u, 0.0))
    return np.asarray([float(np.min(rest + above * a + below * (1 - a))) for a in alpha.tolist()])


def from_below(u: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Places that do for the least of r + (t−1)₊α + (1−t)₊(1−α) from below, whatever α, and r there.

    Those given, and where the lines from either side of each interval cross: the least that h, convex, can be there.
    """
    at, under = u, low
    if u.size > 3:
        more = _crossings(u, low, high)
        at, under = np.concatenate((at, more[0])), np.concatenate((under, more[1]))
    # beyond the last t in either direction, only that r is not negative is known
    return np.concatenate((at, u[[0, -1]])), np.concatenate((under, np.zeros(2)))


def _crossings(u: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Where the lines cross, and how high; 0 is among the places."""
    zero = int(np.searchsorted(u, 0.0))
    t, step = np.exp(u[:-1]), np.exp(u[:-1]) * np.expm1(np.diff(u))
    slope = (low[1:] - high[:-1]) / step  # at most that of h after the interval
    back = (high[1:] - low[:-1]) / step  # at least that before it
    before, after, wide = slope[:-2], back[2:], step[1:-1]
    # at 0 the slope of r grows by 1 more than that of h
    before = before - (np.arange(before.size) == zero - 1)
    after = after + (np.arange(after.size) == zero - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = (low[2:-1] - after * wide - low[1:-2]) / (before - after)
    cross = np.clip(np.where(np.isnan(cross), 0.0, cross), 0.0, wide)
    lines = (low[1:-2], before * cross), (low[2:-1], after * (cross - wide))
    height = np.maximum(*(a + b - 4 * _ROUNDING * (np.abs(a) + np.abs(b)) for a, b in lines))
    # nor is it below the lower of both ends: the lines then give way to that from where they reach it
    floor = np.minimum(low[1:-2], low[2:-1])
    flat = height < floor
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = (floor - low[1:-2]) / before, wide - (low[2:-1] - floor) / after
    first, last = np.where(np.isnan(first), 0.0, first), np.where(np.isnan(last), wide, last)
    left, right = (np.where(flat, np.clip(end, 0.0, wide), cross) for end in (first, last))
    height = np.where(flat, floor, np.minimum(height, np.maximum(low[1:-2], low[2:-1])))
    # the first interval has no line before it, the last none after: there h falls, or r grows, no further than this
    ends = np.asarray([min(low[0], low[1]), min(low[-1], low[-2])])
    at = np.concatenate((u[[0, 1, -2, -1]], *(u[1:-2] + np.log1p(c / t[1:-1]) for c in (left, right))))
    return at, np.concatenate((np.repeat(ends, 2), height, height))


def best_fbeta(rests: tuple[ExcessRisk, ExcessRisk], beta: float, c: float, width: float) -> tuple[float, float]:
    """(low, high) of the largest Fβ at odds c, from r(u) = h(e^u) − (1 − e^u)₊ from below and from above.

    F is the root of (1+β²−F)·h(t) = F·β² at t = F·c/(1+β²−F). It exceeds F₀ = (1+β²)/(1+β²+c), that of flagging
    everyone, by x with (1+β²+c)·x = (1+β²−F)·(h(t) − 1 + t), which grows with t: from F₀ on, F moves up to the root.
    """
    b2 = beta * beta
    if c == 0:
        return 1.0, 1.0
    floor = 1 / (1 + c / (1 + b2)) if math.isfinite(b2) else 1.0
    if math.isinf(c) or not math.isfinite(b2) or floor >= 1:
        return floor, floor
    ends = []
    for rest, up in zip(rests, (False, True), strict=True):
        x = _excess(rest, b2, c, floor, width, up)
        ends.append((floor + x) * (1 + (4 * _ROUNDING if up else -4 * _ROUNDING)) if x > 0 else floor)
    return max(min(ends[0], 1.0), floor), max(min(ends[1], 1.0), floor)


def _excess(rest: ExcessRisk, b2: float, c: float, floor: float, width: float, up: bool) -> float:
    """x on the proven side: every value is asked for, and the last one that holds is taken."""
    total = 1 + b2 + c

    def gap(x: float) -> float:
        """How far F moves up from F₀ + x."""
        left = (1 + b2) * (b2 + c) / total - x  # 1 + β² − F
        if left <= 0:
            return -x
        u = math.log1p(max((x * (1 + c) - (1 + b2) * b2 / total) / left, -1 + 1e-300))
        # the same in two ways: the first has the digits where t < 1, the second where it is large
        return left * rest(u) / total - x if u < 0 else (left * rest(u) - (floor + x) * b2) / total

    most = 1 - floor
    small = max(4e-16 * floor, 1e-300)
    low, a = 0.0, gap(0.0)
    if a <= small:  # no digit of F: the least that holds
        if not up or a <= 0:
            return 0.0
        if gap(2 * a + small) <= 0:
            return 2 * a + small
    high = min(2 * a, most)
    while (b := gap(high)) > 0:  # the root lies at least where F moves to
        if high >= most:
            return most
        low, a, high = high, b, min(2 * (high + b), most)
    for _ in range(_MOST_STEPS):
        if high - low <= max(1e-2 * width * high, small):
            break
        share = a / (a - b) if a > b else 0.5
        middle = low + (high - low) * min(max(share, 0.02), 0.98)
        value = gap(middle)
        if value > 0:  # an end that stays twice counts half
            low, a, b = middle, value, b / 2
        else:
            high, b, a = middle, value, a / 2
    return high if up else low
