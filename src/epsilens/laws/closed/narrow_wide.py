"""What a stretched Laplace and a stretched normal law have in common: a narrow law against a wide one, in either order.

The optimal test rejects H0 outside an interval if H0 is the narrow law, and inside one if it is the wide law
(``flipped``). So every curve follows the masses of one interval.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from ...checks import Array
from ...numerics.roots import root
from ...readings.law import Known, Law

__all__ = ["NarrowWide"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NarrowWide(Law):
    """The standard law under H0 and the same shifted by ``m`` and stretched by ``theta`` > 1 under H1; swapped when
    ``flipped``.
    """

    m: float
    theta: float
    flipped: bool = False
    known: Known = field(default=Known.EXACT, kw_only=True)

    @property
    def symmetric(self) -> bool:
        """The two orders differ."""
        return False

    def reverse(self) -> Self:
        """The other order."""
        return replace(self, flipped=not self.flipped)

    @abstractmethod
    def _curve(self, given: Array, *, wide: bool, inside: bool, want: str) -> Array:
        """Follow the curve: ``given`` is the wide/narrow mass inside/outside, ``want`` names the mass returned."""

    def tradeoff(self, alpha: Array) -> Array:
        """f(α) from the interval whose rejection region has H0-mass α."""
        return self._curve(alpha, wide=self.flipped, inside=self.flipped, want="outside" if self.flipped else "inside")

    def roc(self, alpha: Array) -> Array:
        """1 − f(α)."""
        return self._curve(alpha, wide=self.flipped, inside=self.flipped, want="inside" if self.flipped else "outside")

    def inverse_roc(self, recall: Array) -> Array:
        """The α whose recall is given."""
        want = "inside" if self.flipped else "outside"
        return self._curve(recall, wide=not self.flipped, inside=self.flipped, want=want)

    def profile_inverse(self, delta: Array) -> Array:
        """The least ε ≥ 0 with h(e^ε) ≤ δ, rounded up."""
        delta = np.asarray(delta, dtype=float)
        start = self.profile(np.zeros(delta.shape))
        zero = start <= delta
        d = np.where(~zero & (delta > 0), delta, 0.5 * start)
        high = np.full(delta.shape, float(self.max_llr()) if self.flipped else 1.0)
        if not self.flipped:
            for _ in range(64):
                short = self.profile(high) > d
                if not short.any():
                    break
                high = np.where(short, 2 * high, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = root(lambda e: np.log(self.profile(e)) - np.log(d), np.zeros(delta.shape), high)
        value = np.where(self.profile(value) > d, value * (1 + 1e-14) + 1e-300, value)
        return np.where(zero, 0.0, np.where(delta > 0, value, self.max_llr()))
