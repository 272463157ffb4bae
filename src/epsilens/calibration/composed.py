"""Choosing under composition: few, expensive readings, each with a bracket of its own.

The first guess comes from the central limit theorem: the product reads like a normal shift of μ² = D(H0‖H1) + D(H1‖H0),
which needs no transform. Secant steps in (log parameter, log reading) follow, first with wide brackets and then with
those asked for. What is returned has been read from its safe side and satisfies the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..experiment import Experiment
from ..laws.closed.normal import Normal
from ..readings.law import Known

Build = Callable[[float], Experiment]  # from the parameter that is chosen
Read = Callable[[Experiment], float]

_COARSE = 0.02
_CLOSE = 1e-5  # of the limit, as a logarithm: no nearer to it, even if the bracket is narrower
_MOST = 40  # readings
_LARGEST, _APART, _NEAR_ENOUGH = 1e3, 0.02, 0.01  # of normal shifts: μ, and steps of log μ
_EXACT = math.log(3000.0)  # below, a whole number is the largest there is; above, within the width of the bracket


@dataclass
class _Side:
    """The last known place on one side of the boundary, in log parameter, and how far its reading is from the limit."""

    x: float
    y: float
    experiment: Experiment | None = None
    gap: float = math.inf  # between the two sides of the bracket, on the scale of y


def _widened(e: Experiment, width: float) -> Experiment:
    return replace(e, law=e.law.with_width(width)) if 0 < e.law.width < width else e


def _from_below(e: Experiment) -> Experiment:
    return replace(e, law=e.law.other_side()) if e.law.known is Known.BRACKET else e


def calibrate(
    build: Build,
    read: Read,
    limit: float,
    floor: float,
    start: float,
    weak: float,
    strong: float,
    whole: bool,
    shift: float | None = None,
) -> tuple[float, Experiment] | None:
    """(value, experiment): the riskiest value found that reads at most ``limit``; None if not even ``weak`` does.

    ``start`` is a value that can be built, ``shift`` the μ at which a normal shift meets the limit, where it is known.
    Where every value up to ``strong`` satisfies the limit, ``strong`` is returned.
    """
    width = build(start).law.width or 1e-3
    least, most = sorted((math.log(weak), math.log(strong)))
    risk = 1.0 if strong > weak else -1.0  # the sign of d risk/d parameter

    def scale(value: float) -> float:
        return math.log(max(value - floor, 1e-15 * max(abs(limit), 1e-290)))

    target = scale(limit)

    def placed(x: float) -> float:
        value = math.exp(x)
        for end in (weak, strong):  # the very end, not its logarithm's exponential
            if abs(x - math.log(end)) < 1e-12:
                value = end
        return float(round(value)) if whole else value

    def made(x: float) -> Experiment:
        return build(placed(x))

    def over(x: float, asked: float) -> _Side:
        try:
            experiment = _widened(made(x), asked)
            value = read(experiment)
        except InputError:  # outside what the mechanism allows
            return _Side(x, math.inf)
        exceeds = value > limit
        y = scale(value) - target if math.isfinite(value) else 50.0
        gap = scale(value) - scale(read(_from_below(experiment)))
        return _Side(x, max(y, 1e-12) if exceeds else min(y, 0.0), experiment, gap)

    def normal(log_mu: float) -> float:
        value = read(Experiment(Normal(np.asarray(math.exp(log_mu)))))
        return scale(value) - target if math.isfinite(value) else math.inf

    x, slope = _first_guess(made, normal, shift, math.log(start), least, most, risk)
    safe: _Side | None = None
    unsafe: _Side | None = None
    asked = max(_COARSE, width)
    fine = False
    for _ in range(_MOST):
        here = over(x, asked)
        y = here.y
        if y <= 0:
            safe = here
            if math.isclose(x, most if risk > 0 else least, abs_tol=1e-12):
                break
        else:
            unsafe = here
            if math.isclose(x, least if risk > 0 else most, abs_tol=1e-12):
                return None
        if 0 <= here.gap <= width and not fine:  # narrower than asked for: its sides are good
            fine, asked = True, width
        near = min(max(2 * here.gap, _CLOSE), width) if here.gap >= 0 else width
        goal = -0.5 * near if fine else 0.0
        close = -1.2 * near <= y <= 0 if fine else abs(y) < 0.5 * _COARSE
        close = close and not (fine and whole and x < _EXACT)
        met = safe is not None and unsafe is not None and abs(safe.x - unsafe.x) < _resolution(x, whole)
        if fine and (close or met):
            if safe is None or safe.experiment is None or safe.experiment.law.width <= width:
                break
            x = safe.x  # once more, as narrow as asked for
            continue
        if not fine and (close or met):
            # wide brackets have told what they can: their sides are not those of the narrow ones
            fine, asked, goal = True, width, -0.5 * _CLOSE
            safe = unsafe = None
            if close:
                x = min(max(x - (y - goal) / slope, least), most) if y > -0.3 * _COARSE else x
            continue
        x, slope = _next(here, safe, unsafe, slope, goal, risk, least, most)
    if safe is None or safe.experiment is None:
        return None
    return placed(safe.x), safe.experiment


def _resolution(x: float, whole: bool) -> float:
    """How near the two sides may come before it is enough: one step of a whole number, or a ten-millionth."""
    return max(1.001 / math.exp(x), 1e-7) if whole else 1e-7


def _next(
    here: _Side,
    safe: _Side | None,
    unsafe: _Side | None,
    slope: float,
    goal: float,
    risk: float,
    least: float,
    most: float,
) -> tuple[float, float]:
    """The next place: by the chord where both sides are known, by the slope otherwise, inside what is known."""
    if safe is not None and unsafe is not None:
        rise = (unsafe.y - safe.y) / (unsafe.x - safe.x) if unsafe.x != safe.x else slope
        if math.isfinite(rise) and rise * risk > 0:
            slope = rise
            x = safe.x + (goal - safe.y) / slope
        else:
            x = 0.5 * (safe.x + unsafe.x)
        low, high = sorted((safe.x, unsafe.x))
        margin = 0.02 * (high - low)
        return min(max(x, low + margin), high - margin), slope
    step = (here.y - goal) / slope if math.isfinite(here.y) else 2.0 * risk
    step = math.copysign(min(max(abs(step) * 1.15, 1e-6), 3.0), step)
    return min(max(here.x - step, least), most), slope


def _first_guess(
    made: Build,
    normal: Callable[[float], float],
    shift: float | None,
    start: float,
    least: float,
    most: float,
    risk: float,
) -> tuple[float, float]:
    """(x, slope) where a normal shift of the same divergences meets the limit."""
    if shift is not None and 1e-300 < shift < _LARGEST:
        wanted = math.log(shift)
    else:
        wanted, _ = _crossing(normal, 0.0, 1.0, math.log(1e-300), math.log(_LARGEST))
    # the reading of a normal shift grows so fast with log μ
    rise = (normal(wanted + _APART) - normal(wanted - _APART)) / (2 * _APART)

    def off(x: float) -> float:
        try:
            mu = made(x).law.normal_size()
        except InputError:
            return math.inf
        return math.log(mu) - wanted if mu > 0 else -math.inf

    x, grows = _crossing(off, start, risk, least, most)
    slope = grows * rise
    return (x, slope) if math.isfinite(slope) and slope * risk > 1e-3 else (x, risk)


def _crossing(f: Callable[[float], float], x: float, slope: float, least: float, most: float) -> tuple[float, float]:
    """(x, slope) about where a monotone f crosses 0: by secants, inside what is known of it."""
    risk = math.copysign(1.0, slope)
    y, reach = f(x), 0.7
    below = above = math.nan
    for _ in range(60):
        if abs(y) < _NEAR_ENOUGH:
            break
        below, above = (below, x) if y > 0 else (x, above)
        step = -y / slope
        if not abs(step) < reach:
            step = math.copysign(reach, -y * risk)
        reach = min(1.6 * reach, 12.0)
        new = min(max(x + step, least), most)
        if not (min(below, above) < new < max(below, above)) and math.isfinite(below + above):
            new = 0.5 * (below + above)
        if abs(new - x) < 1e-9:
            break
        there = f(new)
        rise = (there - y) / (new - x)
        slope = rise if math.isfinite(rise) and rise * risk > 1e-6 else slope
        x, y = new, there
    return x, slope
