"""The largest Φ⁻¹(TPR) − Φ⁻¹(α) over the tests whose errors both are at least a level, from both sides of a profile.

Everything is read off r(u) = h(e^u) − (1 − e^u)₊, which keeps its digits where a release says next to nothing:

    R(α) − α = min over t = e^u of r(u) + (t−1)₊·α + (1−t)₊·(1−α).

*From above* one of these lines serves a segment of α: the curve of a normal shift is concave, so that it is above a
line between two places where it is above it at both. *From below* h is convex, and lies above the lines through
neighbouring places on either side. The pair in the other order has r'(u) = e^u·r(−u), and the same gaps at the other
half of its tests; both halves meet at the test with two errors x alike, x = max (1 − h(t))/(1 + t). Where x is below
the level, the gap of that test is what is asked for (:mod:`epsilens.readings.gdp`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from ...checks import Array
from ...numerics.special import half_normal_quantile, probit_gap
from ...readings.gdp import equal_error_bracket, equal_error_mu
from ...readings.law import Law
from .overall import Sides, from_below

_FIRST, _MOST = 24, 480  # places to each side, and in all
_NEAREST = 0.01  # as a share of the total variation
_ROUNDS = 16
_SHARE = 0.2  # of what is open: the loosest come first
_SLOW = 0.9
_NEARLY = 0.05  # the errors alike, where they are only an end
_SAME = 1e-9  # relative
_ROUNDING = 1e-15  # of what is subtracted from 1
_ENOUGH = 0.1  # of the width
_LARGEST = 700.0
_AFTER = np.asarray([1.02, 1.04])
_DEEPEST = 34.0  # z of the least level, 1e-253
_BEYOND, _FURTHER = 24, 3.0  # times further, and how far each time
_KNOWN = 1.1  # the ends of an error that serves, as a ratio
_BESIDE = 0.02  # of the width: how well r must be known beside what is read off it


class _Half(NamedTuple):
    """One order of the pair: r at rising u from both sides."""

    u: Array
    low: Array
    high: Array

    def other(self) -> _Half:
        """r'(u) = e^u·r(−u)."""
        u = -self.u[::-1]
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = (np.nan_to_num(np.exp(u) * r[::-1], nan=1.0) for r in (self.low, self.high))
        return _Half(u, low, high)


def largest_gap(
    rest: Sides, ends: tuple[float, float], level: float, width: float, *, symmetric: bool
) -> tuple[float, float]:
    """(low, high) of μ at a level, where the loss lies between ``ends``; ``rest`` is r at given losses."""
    most = float(rest(np.zeros(1), 0.0)[1][0])
    if most <= 0:
        return 0.0, 0.0
    slack = 0.0
    half = _read(rest, _places(most, ends, level), slack, symmetric)
    half = _extended(rest, half, ends, level, symmetric)
    best, opened = (0.0, math.inf), [math.inf, math.inf]
    for _ in range(_ROUNDS):
        low, high, wide, least = _bounds(half, level, width, symmetric)
        best = max(best[0], low), min(best[1], high)
        opened.append(best[1] - best[0])
        # what finer places twice did not narrow is not for want of them
        if opened[-1] <= _ENOUGH * width * best[1] or half.u.size > _MOST or opened[-1] > _SLOW * opened[-3]:
            break
        slack = max(slack, _BESIDE * width * least)
        half = _merged(half, _read(rest, _finer(half.u, wide), slack, symmetric))
    return best


def bounded_gap(rest: Sides, ends: tuple[float, float], width: float, *, symmetric: bool) -> tuple[float, float]:
    """(low, high) of ψ, where the loss lies between finite ``ends``: beyond some level, in either order, they say more.

    TPR ≤ e^L·α there, whose gap falls as α does: about L/z at α = Φ(−z).
    """
    most, largest = float(rest(np.zeros(1), 0.0)[1][0]), max(-ends[0], ends[1])
    if most <= 0:
        return 0.0, 0.0
    about = 2 * float(half_normal_quantile(np.asarray(min(most, 1 - 1e-15))))
    z = min(max(1.5 * largest / about, 2.0), _DEEPEST)
    low, high = largest_gap(rest, ends, float(ndtr(-z)), width, symmetric=symmetric)
    log_alpha = float(log_ndtr(-z))
    beyond = float(ndtri_exp(log_alpha + largest)) + z if log_alpha + largest < math.log(0.5) else math.inf
    return low, max(high, beyond * (1 + 1e-13))


def _places(most: float, ends: tuple[float, float], level: float) -> Array:
    """As far as those of a normal shift with the same total variation would go, and dense about 0."""
    mu = 2 * float(half_normal_quantile(np.asarray(min(most, 1 - 1e-15))))
    far = max(mu * (mu / 2 - float(ndtri(level))), 1e-300)
    sides = []
    for end in (-ends[0], ends[1]):
        last = min(far, end, _LARGEST)
        side = np.geomspace(min(_NEAREST * most, last / 2), last, _FIRST)
        # beyond the largest loss r is known, and says where the line before it ends
        sides.append(np.concatenate(([0.0], side, _AFTER * end if end < _LARGEST / 2 else ())))
    return np.unique(np.concatenate((-sides[0], sides[1])))


def _extended(rest: Sides, half: _Half, ends: tuple[float, float], level: float, symmetric: bool) -> _Half:
    """On to where the lines say nothing at the level any more, in either order."""
    for end, turned in ((ends[1], False), (-ends[0], True)):
        top = min(end, _LARGEST)
        for _ in range(_BEYOND):
            view = half.other() if turned else half
            last = int(np.searchsorted(view.u, end, "right"))
            u = view.u[last - 2 : last]
            # beyond the last place only that r is not negative is known: enough where R(α) − α is less at the level
            ahead = view.u >= 0
            less = float(np.min(view.high[ahead] + np.expm1(view.u[ahead]) * level))
            if u[1] >= top or math.expm1(u[1]) * level >= less:
                break
            more = np.geomspace(u[1], min(_FURTHER * u[1], top), 9)[1:]
            half = _merged(half, _read(rest, -more if turned else more, 0.0, symmetric))
    return half


def _read(rest: Sides, u: Array, slack: float, symmetric: bool) -> _Half:
    """r there; of a pair that is alike in both orders r(−u) = e^{−u}·r(u)."""
    if not symmetric:
        u = np.unique(u)
        return _Half(u, *rest(u, slack))
    v = np.unique(np.abs(u))
    low, high = rest(v, slack)
    u = np.concatenate((-v[::-1], v[v > 0]))
    below = np.exp(-v[::-1])
    return _Half(u, np.concatenate((below * low[::-1], low[v > 0])), np.concatenate((below * high[::-1], high[v > 0])))


def _merged(one: _Half, other: _Half) -> _Half:
    """Both; of two places next to each other one, as no slope is known between them."""
    order = np.argsort(np.concatenate((one.u, other.u)), kind="stable")
    u, low, high = (np.concatenate((a, b))[order] for a, b in zip(one, other, strict=True))
    apart = np.append(True, np.diff(u) > _SAME * np.abs(u[1:]))
    return _Half(u[apart], low[apart], high[apart])


def _finer(u: Array, wide: Any) -> Array:
    """Places about those that bound too little."""
    at = np.unique(np.clip(np.concatenate((np.flatnonzero(wide) - 1, np.flatnonzero(wide))), 0, u.size - 2))
    shares = np.arange(1, 4)[:, None] / 4
    return np.asarray((u[at] + shares * (u[at + 1] - u[at])).ravel())


def _bounds(half: _Half, level: float, width: float, symmetric: bool) -> tuple[float, float, Any, float]:
    """(low, high) of μ, the places whose lines bound too little, and the least R(α) − α that counts."""
    least, most, wide = _alike(half, symmetric)
    if least < level:
        return equal_error_mu(most), equal_error_mu(least), wide, 1 - 2 * most if most < 0.5 else 0.0
    views = [half] if symmetric else [half, half.other()]
    seen = [_view(view, level, least, most) for view in views]
    low, high = (
        max(equal_error_mu(most), *(one.low for one in seen)),
        max(equal_error_mu(most), *(float(np.max(one.bound)) for one in seen)),
    )
    wide &= most > least * (1 + _NEARLY)
    loosest = low + max(_SHARE * (high - low), _ENOUGH * width / 2 * low)
    for i, one in enumerate(seen):
        loose = one.line[one.bound > loosest]
        loose = np.append(loose, one.best) if one.low >= low else loose
        wide[half.u.size - 1 - loose if i else loose] = True
    if symmetric:
        wide |= wide[::-1]
    return low, high, wide, min(one.least for one in seen)


def _alike(half: _Half, symmetric: bool) -> tuple[float, float, Any]:
    """(low, high) of the x with f(x) = x, and the places after which it may lie: h falls from one to the next.

    Of a pair that is alike in both orders it lies at t = 1.
    """
    t = np.exp(half.u)
    less = -np.expm1(np.minimum(half.u, 0.0))
    under, over = 1 - less - half.high - _ROUNDING, 1 - less - half.low + _ROUNDING  # 1 − h
    if symmetric:
        zero = int(np.searchsorted(half.u, 0.0))
        return max(float(under[zero]) / 2, 0.0), min(float(over[zero]) / 2, 0.5), np.zeros(half.u.size, dtype=bool)
    least = max(float(np.max(under / (1 + t))), 0.0)
    cells = np.append(over[1:] / (1 + t[:-1]), 1 / (1 + t[-1]))
    most = max(float(np.max(cells)), float(over[0]))  # below the first place h is larger
    return least, min(most, 0.5), cells > least + _SHARE * (most - least)


class _Seen(NamedTuple):
    """Of one order: the largest gap that is surely there, with its line; the least R(α) − α; the bound of each segment.

    Each segment of α has a line of its own.
    """

    low: float
    best: int
    least: float
    bound: Array
    line: Array


def _view(view: _Half, level: float, least: float, most: float) -> _Seen:
    """What is read off one order, where the errors alike lie between ``least`` and ``most``."""
    u = view.u
    up, down = np.expm1(np.maximum(u, 0.0)), -np.expm1(np.minimum(u, 0.0))

    def line(i: Any, alpha: Array) -> Array:
        return np.asarray(view.high[i] + up[i] * alpha + down[i] * (1 - alpha))

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slopes = -np.diff(view.high) / (np.exp(u[:-1]) * np.expm1(np.diff(u))) + (u[1:] <= 0)
    inner = slopes[np.isfinite(slopes) & (slopes > level) & (slopes < most)]
    spread = ndtr(np.linspace(ndtri(level), ndtri(most), 65))
    ends = np.unique(np.clip(np.concatenate((inner, spread, [level, most])), level, most))
    middle = np.sqrt(ends[1:] * ends[:-1])
    every = view.high[:, None] + up[:, None] * middle + down[:, None] * (1 - middle)
    best = np.argmin(every, axis=0)
    bound = np.maximum(*(_gaps(a, line(best, a), True) for a in (ends[:-1], ends[1:])))
    # from below
    at, under = from_below(u, view.low, view.high)
    tests = np.unique(np.concatenate((middle[middle <= least], [level, least])))
    grown, shrunk = np.expm1(np.maximum(at, 0.0)), -np.expm1(np.minimum(at, 0.0))
    more_there = np.min(under[:, None] + grown[:, None] * tests + shrunk[:, None] * (1 - tests), axis=0)
    sure = np.nan_to_num(_gaps(tests, np.maximum(more_there, 0.0), False), nan=0.0)
    top = int(np.argmax(sure))
    nearest = int(np.argmin(line(np.arange(u.size), tests[top])))
    return _Seen(max(float(sure[top]), 0.0), nearest, float(np.min(more_there)), bound, best)


def _gaps(alpha: Array, more: Array, up: bool) -> Array:
    """Φ⁻¹(α + more) − Φ⁻¹(α), rounded up or down; infinite where all would be found."""
    rest = 1 - alpha - more - (_ROUNDING if up else -_ROUNDING)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = probit_gap(alpha, more, np.maximum(rest, 0.0))
        direct = more > 1e-3 * np.minimum(alpha, rest)  # a difference of two probits
        error = np.where(direct, 4e-15 * (2 + np.abs(ndtri(alpha))), 0.0)
    error = error + 1e-12 * np.abs(gap)
    return np.where(rest > 0, gap + error if up else gap - error, np.inf if up else 0.0)


def gap_by_errors(law: Law, level: float, about: float) -> tuple[float, float]:
    """The same from the errors themselves, of a law that is given from above: where nearly everyone is told apart.

    There 1 − h has no digits left, but f(α) has its own. Between two places no test has fewer false positives than the
    left one and fewer misses than the right one. Nothing is said where f is not well known at the test with two errors
    alike if μ were ``about`` so much.
    """
    width, under = law.width, law.other_side()
    here = ndtr(np.asarray(-about / 2))
    if not float(under.tradeoff(here)) <= _KNOWN * float(law.tradeoff(here)):
        return 0.0, math.inf
    least, most = equal_error_bracket(law, width / 400)[0], equal_error_bracket(under, width / 400)[1]
    if least < level:
        return equal_error_mu(most), equal_error_mu(least)
    low = high = equal_error_mu(most)
    for upper, lower in [(law, under)] if law.symmetric else [(law, under), (law.reverse(), under.reverse())]:
        z = np.linspace(-float(ndtri(max(most, level))), -float(ndtri(level)), 33)
        for _ in range(_ROUNDS):
            alpha = np.clip(ndtr(-z), level, most)
            sure = np.where(alpha <= least, z + _hits(lower, alpha), 0.0)
            cells = z[1:] + _hits(upper, alpha)[:-1]  # z grows as α falls
            low = max(low, float(np.max(sure)) * (1 - 1e-13))
            wide = cells > low * (1 + _ENOUGH * width)
            if not wide.any() or z.size > _MOST:
                break
            pairs = zip(z[:-1][wide], z[1:][wide], strict=True)
            z = np.unique(np.concatenate((z, *(np.linspace(a, b, 5) for a, b in pairs))))
        high = max(high, float(np.max(cells)) * (1 + 1e-13))
    return low, high


def _hits(law: Law, alpha: Array) -> Array:
    """Φ⁻¹(TPR), from whichever of TPR and what is missed is small and keeps its digits."""
    hit, miss = np.asarray(law.roc(alpha), dtype=float), np.asarray(law.tradeoff(alpha), dtype=float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(miss < 0.5, -ndtri(miss), ndtri(np.minimum(hit, 0.5))))
