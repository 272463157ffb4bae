"""ψ and the practical μ of a product, each by whichever way serves, from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri_exp

from ...readings.law import Law
from .corners import apart, corner_gap, tail_gap
from .gap import bounded_gap, gap_by_errors, largest_gap
from .order import Order
from .overall import Sides
from .plan import HALF
from .shift import least_shift
from .step import Counted
from .work import Budget

_SAME = 1e-12  # relative
_ROUNDING = 1e-12  # of a probit
_LEVELS = (6.0, 8.0, 10.0, 12.0, 14.0, 17.0, 20.0, 24.0, 28.0, 32.0)  # z of an error
_LARGE = 2.0  # a shift beyond which errors keep more digits than what exceeds pure noise


class Curve(NamedTuple):
    """What is known of a product: its law from above, its profile, the ends of its loss, its steps.

    Each view is an order, the other one, and the largest loss of the first; one does where both are alike.
    """

    law: Law
    sides: Callable[[Budget], Sides]
    ends: tuple[float, float]
    steps: Sequence[Counted]
    views: Sequence[tuple[Order, Order, float]]

    @property
    def part(self) -> int:
        """Which share of what a reading may cost is its own."""
        return self.views[0][0].part

    @property
    def bound(self) -> float:
        """√Σψ²."""
        return math.sqrt(math.fsum(k * step.psi() ** 2 for step, k in self.steps))

    @property
    def bounded(self) -> bool:
        """Whether the loss is."""
        return all(math.isfinite(end) for end in self.ends)

    def wide(self, low: float, high: float) -> bool:
        """Whether that is wider than asked for."""
        return not high - low <= self.law.width * high


def psi_of(curve: Curve) -> tuple[float, float]:
    """At most √Σψ²; less where the loss is bounded, from the curve itself.

    Of normal noise, sampled or not, ψ is reached in the limit α → 0, whatever else is observed beside it.
    """
    bound, law = curve.bound, curve.law
    low, high = math.sqrt(math.fsum(k * step.least_psi**2 for step, k in curve.steps)), bound
    low = max(low, min(_at_the_end(curve), bound), *(step.own_psi for step, _ in apart(curve.steps)))
    if not curve.wide(low, high):
        return low, high
    written = corner_gap(curve.steps, symmetric=law.symmetric)
    if written is not None:
        low = max(low, min(written[0], bound))
        high = max(min(high, written[1]), low)
        if math.isfinite(written[1]):  # what is still wide lies beyond the lists, where no other way leads
            return low, high
    if not math.isfinite(bound) and (law.only1 > 0 or law.reverse().only1 > 0):
        return math.inf, math.inf
    if not curve.bounded:
        a, b = _by_tails(curve, low)
        low = max(low, min(a, bound))
        high = max(min(high, b), low)
        if not curve.wide(low, high):
            return low, high
    alone = len(curve.steps) == 1 and curve.steps[0][1] == 1 and curve.bounded
    rare = curve.bounded and any(step.sampled for step, _ in curve.steps)
    ways = (_by_profile,) if alone else (_by_profile, _by_slices) if rare else (_by_slices, _by_profile)
    for way, part in zip(ways, (1, 4), strict=False):
        a, b = way(curve, Budget.share(part * curve.part))
        low = max(low, min(a, bound))
        high = max(min(high, b), low)
        if not curve.wide(low, high):
            break
    return low, high


def _by_tails(curve: Curve, low: float) -> tuple[float, float]:
    """From the tests whose errors both are at least a level, and what is known of the others (:mod:`.corners`).

    The level is lowered once, to where the others are no longer ahead if they are at any.
    """
    high, at, orders = math.inf, 0, (False,) if curve.law.symmetric else (False, True)
    beyond = [max(tail_gap(curve.steps, flipped, z) for flipped in orders) for z in _LEVELS]
    if not beyond[-1] < curve.bound:
        return low, high
    for part in (4, 2):
        z = _LEVELS[at]
        a, b = largest_gap(
            curve.sides(Budget.share(part * curve.part)), curve.ends, float(ndtr(-z)), curve.law.width,
            symmetric=curve.law.symmetric,
        )  # fmt: skip
        low, high = max(low, a), min(high, max(b, beyond[at]))
        enough = [i for i, most in enumerate(beyond) if most <= low * (1 + curve.law.width / 2)]
        at = max(enough[0] if enough else len(_LEVELS) - 1, at)
        if not curve.wide(low, high) or _LEVELS[at] == z:
            break
    return low, high


def _at_the_end(curve: Curve) -> float:
    """The gap of the test that every loss is the largest there is, or in the other order the least."""
    best = 0.0
    for side in (1, 0):
        log_p = log_q = 0.0
        for step, k in curve.steps:
            atoms, end = step.atoms, step.ends[side]
            here = np.abs(atoms.loss - end) <= _SAME * abs(end)
            if not here.any():
                break
            p = float(np.logaddexp.reduce(atoms.log_p[here]))
            log_p, log_q = log_p + k * p, log_q + k * (p - end)
        else:
            one, other = sorted((log_p, log_q), reverse=True)
            if one < HALF:
                z = float(ndtri_exp(one)), float(ndtri_exp(other))
                best = max(best, z[0] - z[1] + _ROUNDING * (z[1] - 1))
    return best


def _by_profile(curve: Curve, budget: Budget) -> tuple[float, float]:
    if not curve.bounded:
        return 0.0, math.inf
    return bounded_gap(curve.sides(budget), curve.ends, curve.law.width, symmetric=curve.law.symmetric)


def _by_slices(curve: Curve, budget: Budget) -> tuple[float, float]:
    return least_shift(curve.views, curve.steps, budget)


def mu_of(curve: Curve, level: float) -> tuple[float, float]:
    """μ at a level, never above ψ's bound."""
    law = curve.law
    low, high = largest_gap(
        curve.sides(Budget.share(curve.part)), curve.ends, level, law.width, symmetric=law.symmetric
    )
    if curve.wide(low, high) and low > _LARGE:
        other = gap_by_errors(law, level, low)
        low, high = max(low, other[0]), min(high, other[1])
    high = min(max(low, high), curve.bound)
    return min(low, high), high
