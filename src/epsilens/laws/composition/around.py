"""A step made of another, whose continuous part it shares."""

from __future__ import annotations

from ...checks import Array
from ...readings.law import Exactness
from .moments import Integrated
from .step import Step


class Around(Integrated):
    """A step made of another, whose continuous part it shares: what it does not say itself is as the base says."""

    base: Step

    @property
    def rho(self) -> float:
        """As the base."""
        return self.base.rho

    @property
    def price(self) -> float:
        """As the base."""
        return self.base.price

    @property
    def mirrored(self) -> bool:
        """As the base."""
        return self.base.mirrored

    @property
    def span(self) -> tuple[float, float] | None:
        """As the base."""
        return self.base.span

    @property
    def knots(self) -> tuple[float, ...]:
        """As the base."""
        return self.base.knots

    def loss(self, x: Array) -> Array:
        """As the base."""
        return self.base.loss(x)

    def slope(self, x: Array) -> Array:
        """As the base."""
        return self.base.slope(x)

    def place(self, loss: Array) -> Array:
        """As the base."""
        return self.base.place(loss)

    def log_p0(self, x: Array) -> Array:
        """As the base."""
        return self.base.log_p0(x)

    def bend(self, x: Array) -> Array:
        """As the base: mixing only flattens."""
        return self.base.bend(x)

    def wave(self, x: Array) -> Array:
        """As the base: mixing brings the branch point of a logarithm, π over the slope of the loss away."""
        return self.base.wave(x)

    def error(self, x: Array) -> Array:
        """As the base."""
        return self.base.error(x)

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """As the base."""
        return self.base.reach(log_top, log_bottom)

    def psi(self) -> float:
        """As the base: its most telling outcomes look unsampled."""
        return self.base.psi()

    @property
    def least_psi(self) -> float:
        """As the base."""
        return self.base.least_psi

    @property
    def most_rho(self) -> float:
        """As the base."""
        return self.base.most_rho

    @property
    def shift(self) -> float:
        """As the base."""
        return self.base.shift

    @property
    def turns(self) -> tuple[float, ...]:
        """As the base."""
        return self.base.turns

    @property
    def known(self) -> Exactness:
        """As the base."""
        return self.base.known
