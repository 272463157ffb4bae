"""The lower side of a step on a lattice: bins merged into their points, aligned, and made convex (sheet, §2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...checks import Array

__all__ = ["merge"]

_U = 2.0**-53
_HUGE = 700.0
_HAIR = 1e-11  # of a point's mass, which may be dropped
_MOST_EATEN = 20  # kinks lost at the top before a lattice is called too coarse
_MOST_REMOVED = 5000  # concave kinks removed, beside twenty for each at the start, before the same is said


def merge(points: Array, log_h: Array, part: Array, dt: float) -> tuple[Array, bool]:
    """Optimistic: the kinks of a polygon below the profile (sheet §2), as log masses; −∞ where there is none.

    Also whether both laws kept their mass at the ends, so that the same serves the other order.

    With d = t·q − p the misfit of a merged bin, a positive d takes d/(1−e^{−dt}) from the point above, a negative one
    −d/(e^{dt}−1) from the point below.
    """
    n = points.size
    right, left = np.full(n, -np.inf), np.full(n, -np.inf)
    e, f = np.zeros(n), np.zeros(n)
    right[:-1], left[1:] = log_h[0::2], log_h[1::2]
    e[:-1], f[1:] = part[0::2], part[1::2]
    # in units of the largest mass nearby, so that tails keep their digits
    here = np.maximum(np.maximum(right, left), points)
    unit = here.copy()
    unit[1:] = np.maximum(unit[1:], here[:-1])
    unit[:-1] = np.maximum(unit[:-1], here[1:])
    unit = np.where(np.isfinite(unit), unit, 0.0)
    p_right, p_left, p_atom = (np.exp(v - unit) for v in (right, left, points))
    p, d = p_right + p_left + p_atom, p_left * f - p_right * e
    hair = (d < 0) & (-d <= _HAIR * p)  # H1 has a little too much: without it the point is aligned
    p, d = np.where(hair, p + d, p), np.where(hair, 0.0, d)
    live = np.flatnonzero(p > 0)
    if live.size == 0:
        return np.full(n, -np.inf), True
    _settle(p, d, p_atom, (p_right, p_right * e), unit, dt, int(live[0]), 1)
    _settle(p, d, p_atom, (p_left, -p_left * f), unit, dt, int(live[-1]), -1)
    aligned = _round_down(p, d, unit, dt) and not bool(hair.any())
    plus, minus = np.maximum(d, 0) / -math.expm1(-dt), np.maximum(-d, 0) / math.expm1(dt)
    jump = np.diff(unit)
    if ((plus[:-1] > 0) & (jump < -_HUGE)).any() or ((minus[1:] > 0) & (jump > _HUGE)).any():
        return np.full(n, -np.inf), False  # too coarse to claim anything
    step_up = np.exp(np.clip(jump, -_HUGE, _HUGE))  # one unit of i+1 in units of i
    taken = np.zeros(n)
    taken[1:] += plus[:-1] / step_up
    taken[:-1] += minus[1:] * step_up
    given = p + plus + minus
    kinks = given - taken
    if (kinks < 0).any():
        kinks, inside = _hull(kinks, unit, dt)
        aligned = aligned and inside
    kinks = np.maximum(kinks - 64 * _U * (given + taken), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(kinks) + unit), aligned


def _round_down(p: Array, d: Array, unit: Array, dt: float) -> bool:
    """Where an end still cannot be aligned, lower its loss to a lattice point; true if that was not needed."""
    live = np.flatnonzero(p > 0)
    first, last = int(live[0]), int(live[-1])
    aligned = True
    if d[last] > 0:
        down = min(math.floor(-math.log1p(d[last] / p[last]) / dt), -1)
        mass, p[last], d[last] = p[last], 0.0, 0.0
        if last + down >= 0:
            p[last + down] += mass * math.exp(min(max(unit[last] - unit[last + down], -700.0), 700.0))
        first = min(first, max(last + down, 0))
        aligned = False
    if d[first] < 0:
        d[first], aligned = 0.0, False
    return aligned


def _settle(
    p: Array, d: Array, p_atom: Array, half: tuple[Array, Array], unit: Array, dt: float, edge: int, way: int
) -> None:
    """Merge an end of the law inwards (``way`` +1 from below, −1 from above) until its bin can be aligned.

    The lowest point must not need mass from below (d ≥ 0), the highest none from above (d ≤ 0), nor may the next point
    need more of it than it has. An atom at the very edge stays and gives only its half bin.
    """
    grow = math.exp(way * dt)  # t of the next point over t of this one
    for i in range(edge, edge + way * (p.size - 1), way):
        if not 0 <= i + way < p.size:
            break
        j = i + way
        shrink = math.exp(min(max(unit[i] - unit[j], -700.0), 700.0))
        need = max(-way * d[j], 0.0) / abs(math.expm1(way * dt)) / shrink
        have = p[i] + max(way * d[i], 0.0) / abs(math.expm1(-way * dt))
        if way * d[i] >= 0 and need <= have:
            break
        if i == edge and p_atom[i] > 0 and way * d[i] < 0 and need <= p_atom[i]:
            mass, missing = half[0][i], -half[1][i]  # t·q − p of the half bin about this point
            p[j] += mass * shrink
            d[j] += (grow * (mass + missing) - mass) * shrink
            p[i], d[i] = p_atom[i], 0.0
            continue_with = max(-way * d[j], 0.0) / abs(math.expm1(way * dt)) / shrink
            if continue_with <= p[i]:
                break
        p[j] += p[i] * shrink
        d[j] += (grow * (p[i] + d[i]) - p[i]) * shrink
        p[i] = d[i] = 0.0


def _hull(kinks: Array, unit: Array, dt: float) -> tuple[Array, bool]:
    """Remove concave kinks: a negative one is split on its nearest live neighbours, until none is left.

    The polygon through the remaining kinks is the lower convex hull, still below the profile. A negative kink at the
    bottom moves up to its neighbour, which lowers the profile. One at the top would make the profile negative there:
    what is left of it crosses 0 further down, and its kink is moved down from there. Also true if no end was touched.
    """
    v, n = kinks.copy(), kinks.size
    alive = v != 0
    pending = np.flatnonzero(v < 0).tolist()
    before, after = _neighbours(alive)

    def scaled(i: int, j: int) -> float:
        return math.exp(max(unit[i] - unit[j], -_HUGE))

    try:
        with np.errstate(over="raise", invalid="raise"):
            return _hulled(v, alive, pending, before, after, scaled, dt)
    except (OverflowError, FloatingPointError):  # masses too unlike to be leant on each other: claim nothing
        return np.zeros(n), False


def _hulled(
    v: Array,
    alive: Any,
    pending: list[int],
    before: list[int],
    after: list[int],
    scaled: Callable[[int, int], float],
    dt: float,
) -> tuple[Array, bool]:
    inside, n, eaten = True, v.size, 0
    left = _MOST_REMOVED + 20 * len(pending)
    while pending:
        i = pending.pop()
        left -= 1
        if left < 0:  # a chord over so many points: the lattice is too coarse
            raise OverflowError
        if not (v[i] < 0 and alive[i]):
            continue
        a, b = before[i], after[i]
        mass = v[i]
        alive[i], v[i] = False, 0.0
        if a >= 0:
            after[a] = b
        if b < n:
            before[b] = a
        inside = inside and a >= 0 and b < n
        if b < n:
            up = math.expm1(-(i - a) * dt) / math.expm1(-(b - a) * dt) if a >= 0 else 1.0
            for j, share in ((a, 1 - up), (b, up)):
                if share > 0:
                    v[j] += mass * share * scaled(i, j)
                    if v[j] < 0:
                        pending.append(j)
            continue
        eaten += 1
        if eaten > _MOST_EATEN:
            raise OverflowError
        # Down from the top, the profile is h = up − t·slope (in units of point i) once these kinks are passed; it
        # leaves 0 at the first crossing above the next kink.
        up, slope, down = mass, mass, -1
        while a >= 0:
            part = v[a] * scaled(a, i)
            up, slope = up + part, slope + part * math.exp((i - a) * dt)
            alive[a], v[a] = False, 0.0
            a = before[a]
            if up > 0 and slope > 0:
                down = i + math.floor(math.log(up / slope) / dt)
                if down >= a:
                    break
        if up > 0 and down >= 0:
            v[down] += up * scaled(i, down)
            alive[down] = True
            if v[down] < 0:
                pending.append(down)
        before, after = _neighbours(alive)
    return v, inside


def _neighbours(alive: Array) -> tuple[list[int], list[int]]:
    """The nearest live point below and above each point; −1 and n where there is none."""
    n = alive.size
    index = np.arange(n)
    last = np.maximum.accumulate(np.where(alive, index, -1))
    coming = np.minimum.accumulate(np.where(alive, index, n)[::-1])[::-1]
    return np.concatenate(([-1], last[:-1])).tolist(), np.concatenate((coming[1:], [n])).tolist()
