"""Several steps of atoms as one, every combination written out; what no list holds comes from the steps themselves.

Noise on the whole numbers goes on beyond any list, where its masses are no doubles. A list of the product serves what
sums masses up, and the mass beyond it lies at ±∞. Moments, divergences and ψ would be infinite by that, but those of
the steps add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..composition.step import Counted, Step, no_group
from .law import Finite, FiniteStep
from .product import finite_product

_ERROR = 1e-12  # of the masses


@dataclass(frozen=True, slots=True)
class Joint(FiniteStep):
    """The product of ``parts``, written out in ``atoms``."""

    parts: tuple[Counted, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """The sums of theirs."""
        low, high = (math.fsum(k * step.ends[i] for step, k in self.parts) for i in (0, 1))
        return low, high

    @property
    def factors(self) -> tuple[Counted, ...]:
        """Its parts."""
        return self.parts

    def as_law(self) -> Finite:
        """The list, with what lies beyond it at ±∞."""
        a = self.atoms
        return Finite(a.log_p - a.loss, a.loss, a.only0, a.only1, self.mirrored)

    def log_moment(self, power: float) -> float:
        """Moments multiply."""
        return math.fsum(k * step.log_moment(power) for step, k in self.parts)

    def growth(self, power: float) -> tuple[float, float]:
        """Divergences add up."""
        each = [(step.growth(power), k) for step, k in self.parts]
        return math.fsum(k * low for (low, _), k in each), math.fsum(k * high for (_, high), k in each)

    def kl(self) -> float:
        """Divergences add up."""
        return math.fsum(k * step.kl() for step, k in self.parts)

    def kl_back(self) -> float:
        """Divergences add up."""
        return math.fsum(k * step.kl_back() for step, k in self.parts)

    def psi(self) -> float:
        """√Σψ², a bound."""
        return math.sqrt(math.fsum(k * step.psi() ** 2 for step, k in self.parts))

    @property
    def least_psi(self) -> float:
        """√Σ of theirs squared."""
        return math.sqrt(math.fsum(k * step.least_psi**2 for step, k in self.parts))

    @property
    def most_rho(self) -> float:
        """The sum."""
        return math.fsum(k * step.most_rho for step, k in self.parts)

    @property
    def moves(self) -> bool:
        """Not as one."""
        return False

    def grouped(self, size: int) -> FiniteStep:
        """Of its parts, one by one."""
        raise no_group("joint")


def joint(steps: Sequence[Counted], most: int) -> Step | None:
    """One step for all of these, which are atoms; None if that takes more than ``most`` of them."""
    bare = []
    for step, k in steps:
        a = step.atoms
        bare.append((Finite(a.log_p - a.loss, a.loss, a.only0, a.only1, step.mirrored), k))
    written = finite_product(bare, most)
    if written is None:
        return None
    mirrored = all(step.mirrored for step, _ in steps)
    rho = _ERROR + math.fsum(k * step.rho for step, k in steps)
    if all(np.isfinite(step.ends).all() for step, _ in steps):
        return FiniteStep(written.atoms(), mirrored, rho=rho)
    return Joint(written.atoms(), mirrored, rho=rho, parts=tuple(steps))
