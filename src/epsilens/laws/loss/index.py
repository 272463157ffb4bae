"""ψ and the practical μ of a product, each by whichever way serves, from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...readings.law import Law
from .gap import bounded_gap, gap_by_errors, largest_gap
from .order import Order
from .overall import Sides
from .shift import least_shift
from .step import Counted

__all__ = ["Curve", "mu_of", "psi_of"]

_LARGE = 2.0  # a shift beyond which errors keep more digits than what exceeds pure noise


class Curve(NamedTuple):
    """What is known of a product: its law from above, its profile, the ends of its loss, its steps.

    Each view is an order, the other one, and the largest loss of the first; one does where both are alike.
    """

    law: Law
    sides: Callable[[], Sides]
    ends: tuple[float, float]
    steps: Sequence[Counted]
    views: Sequence[tuple[Order, Order, float]]

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
    if not curve.wide(low, high):
        return low, high
    if not math.isfinite(bound) and (law.only1 > 0 or law.reverse().only1 > 0):
        return math.inf, math.inf
    alone = len(curve.steps) == 1 and curve.steps[0][1] == 1 and curve.bounded
    rare = curve.bounded and any(step.sampled for step, _ in curve.steps)
    for way in (_by_profile,) if alone else (_by_profile, _by_slices) if rare else (_by_slices, _by_profile):
        a, b = way(curve)
        low = max(low, min(a, bound))
        high = max(min(high, b), low)
        if not curve.wide(low, high):
            break
    return low, high


def _by_profile(curve: Curve) -> tuple[float, float]:
    if not curve.bounded:
        return 0.0, math.inf
    return bounded_gap(curve.sides(), curve.ends, curve.law.width, symmetric=curve.law.symmetric)


def _by_slices(curve: Curve) -> tuple[float, float]:
    return least_shift(curve.views, curve.steps)


def mu_of(curve: Curve, level: float) -> tuple[float, float]:
    """μ at a level, never above ψ's bound."""
    law = curve.law
    low, high = largest_gap(curve.sides(), curve.ends, level, law.width, symmetric=law.symmetric)
    if curve.wide(low, high) and low > _LARGE:
        other = gap_by_errors(law, level, low)
        low, high = max(low, other[0]), min(high, other[1])
    high = min(max(low, high), curve.bound)
    return min(low, high), high
