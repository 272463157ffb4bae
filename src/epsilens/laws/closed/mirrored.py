"""What shifts of a symmetric log-concave law with tails like e^{−|x|} have in common: the two orders are mirror images.

The likelihood ratio is monotone, so "x > c" is optimal at every level, and it nears the shift d far out. Every curve
follows the tail of one law; what remains of rounding (``error``, relative to the masses) is added to what the adversary
reaches.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from ...checks import Array
from ...numerics.roots import root
from ...readings.law import Law

__all__ = ["Mirrored"]


class Mirrored(Law):
    """Readings of a law against the same law moved by d, from its tail."""

    __slots__ = ()

    error: ClassVar[float]

    @property
    def symmetric(self) -> bool:
        """T(H0,H1) = T(H1,H0)."""
        return True

    def reverse(self) -> Self:
        """Mirror image: the same curve."""
        return self

    @abstractmethod
    def _sf(self, x: Array) -> Array:
        """P(X > x); the ends may be infinite."""

    @abstractmethod
    def _isf(self, p: Array) -> Array:
        """The x with P(X > x) = p."""

    @abstractmethod
    def _threshold(self, u: Array) -> Array:
        """The c at which llr(c) = u: half the shift for u = 0, mirrored for u < 0, infinite beyond the bound d."""

    def tradeoff(self, alpha: Array) -> Array:
        """1 − P(X > c − d), c the quantile: the mirrored tail keeps the digits."""
        return self._sf(self.max_llr() - self._isf(alpha)) * (1 - self.error)

    def roc(self, alpha: Array) -> Array:
        """P(X > c − d)."""
        return np.minimum(self._sf(self._isf(alpha) - self.max_llr()) * (1 + self.error), 1.0)

    def inverse_roc(self, recall: Array) -> Array:
        """P(X > c + d) with c the quantile of the recall."""
        return self._sf(self._isf(recall) + self.max_llr()) * (1 - self.error)

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """(α, recall) of the threshold test."""
        c = self._threshold(log_threshold)
        with np.errstate(invalid="ignore"):
            return self._sf(c), self._sf(c - self.max_llr())

    def profile_inverse(self, delta: Array) -> Array:
        """The least ε ≥ 0 with h(e^ε) ≤ δ."""
        delta, d = np.broadcast_arrays(np.asarray(delta, dtype=float), self.max_llr())
        start = self.profile(np.zeros(delta.shape))
        zero = start <= delta
        goal = np.where(zero | (delta <= 0), 0.5 * np.maximum(start, 1e-300), delta)
        value = root(lambda e: self.profile(e) - goal, np.where(zero, 0.0, 1e-300), np.where(d > 0, d, 1.0), atol=1e-15)
        value = np.minimum(value * (1 + 1e-13) + 1e-300, d)
        return np.where(zero, 0.0, np.where(delta > 0, value, d))
