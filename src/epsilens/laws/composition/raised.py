"""A step whose H0 loses a share of its mass: every loss is higher by as much, and the profile is h((1−η)·t).

What is lost shows up where H1 never is. It bounds a pair of which all but a share η of H0 is matched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from ...readings.law import Exactness
from .around import Around
from .step import Atoms, Exponent, Step


@dataclass(frozen=True)
class Raised(Around):
    """The base, which has no atoms, with a share ``lost`` of H0 at −∞."""

    base: Step
    lost: float

    @property
    def _less(self) -> float:
        """log(1 − η)."""
        return math.log1p(-self.lost)

    @property
    def atoms(self) -> Atoms:
        """What is lost."""
        return Atoms(np.zeros(0), np.zeros(0), self.lost, 0.0)

    @property
    def mirrored(self) -> bool:
        """H0 alone loses."""
        return False

    @property
    def ends(self) -> tuple[float, float]:
        """Of what is seen under both laws above; below all that is lost."""
        return -math.inf, self.base.ends[1] - self._less

    def loss(self, x: Array) -> Array:
        """Higher."""
        return np.asarray(self.base.loss(x) - self._less)

    def place(self, loss: Array) -> Array:
        """That of a lower loss."""
        return self.base.place(np.asarray(loss, dtype=float) + self._less)

    def log_p0(self, x: Array) -> Array:
        """Less."""
        return np.asarray(self.base.log_p0(x) + self._less)

    def error(self, x: Array) -> Array:
        """The base's, and that of the sum."""
        return np.asarray(self.base.error(x) + 2.0**-52 * (np.abs(self.base.loss(x)) - self._less))

    def above(self, x: float) -> tuple[float, float]:
        """The base's, H0 with less."""
        p, q = self.base.above(x)
        return p, q + self._less

    def below(self, x: float) -> tuple[float, float]:
        """The base's, H0 with less."""
        p, q = self.base.below(x)
        return p, q + self._less

    def exponent(self, power: float) -> Exponent:
        """The base's, times (1−η)^{1−a}."""
        base = self.base.exponent(power)

        def less(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
            value, size = base(x, loss + self._less, log_q - self._less)
            return value + (1 - power) * self._less, size

        return less

    def psi(self) -> float:
        """No normal shift dominates what H1 never shows."""
        return math.inf

    @property
    def most_rho(self) -> float:
        """None, likewise."""
        return math.inf

    @property
    def known(self) -> Exactness:
        """More is seen than there is."""
        return Exactness.BOUND

    @property
    def sampled(self) -> bool:
        """As the base."""
        return self.base.sampled
