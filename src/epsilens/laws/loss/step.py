"""One release as a law of its privacy loss: what a composition needs to know of each of its parts.

A step is a pair (H1, H0) seen through its loss L = log dH1/dH0: atoms, and a continuous part on the line whose loss
grows with the observation x. Masses come as logarithms with relative precision in both tails; ``error`` bounds how far
a computed loss may lie from the true one, so that rounding can be carried into the bracket (reference sheet, §4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from ...checks import Array

__all__ = [
    "Atoms",
    "FiniteStep",
    "LaplaceStep",
    "NormalStep",
    "Step",
    "Swapped",
    "total_mass",
]

_U = 2.0**-53
_LOG2 = math.log(2.0)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Atoms:
    """Masses exp(log_p) under H1 at the losses ``loss``; ``only1`` and ``only0`` lie at +∞ and −∞."""

    loss: Array
    log_p: Array
    only0: float = 0.0
    only1: float = 0.0

    @staticmethod
    def none() -> Atoms:
        """No atoms at all."""
        return Atoms(np.zeros(0), np.zeros(0))


class Step(Protocol):
    """One pair of laws, by its loss."""

    @property
    def atoms(self) -> Atoms:
        """The atoms."""
        ...

    @property
    def span(self) -> tuple[float, float] | None:
        """The ends of the continuous part in x, or None where there is none."""
        ...

    @property
    def knots(self) -> tuple[float, ...]:
        """Places inside the span where a density bends."""
        ...

    @property
    def ends(self) -> tuple[float, float]:
        """The infimum and the supremum of the loss."""
        ...

    @property
    def mirrored(self) -> bool:
        """Whether both orders have the same trade-off."""
        ...

    @property
    def rho(self) -> float:
        """The relative error of the atoms' masses, beyond that of their logarithms."""
        ...

    def loss(self, x: Array) -> Array:
        """L(x), increasing."""
        ...

    def slope(self, x: Array) -> Array:
        """dL/dx."""
        ...

    def place(self, loss: Array) -> Array:
        """The x of a loss; the end of the span where there is none."""
        ...

    def log_p0(self, x: Array) -> Array:
        """Log density under H0; under H1 it is this plus the loss."""
        ...

    def bend(self, x: Array) -> Array:
        """A bound on how fast log densities, the loss and the logarithm of its slope change with x."""
        ...

    def error(self, x: Array) -> Array:
        """A bound on the rounding error of the loss at x, and of a loss whose place is x."""
        ...

    def above(self, x: float) -> tuple[float, float]:
        """(log H1, log H0) mass of the continuous part above x."""
        ...

    def below(self, x: float) -> tuple[float, float]:
        """(log H1, log H0) mass of the continuous part below x."""
        ...

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """(low, high): H1 has at most e^log_top above high, H0 at most e^log_bottom below low."""
        ...


@dataclass(frozen=True)
class NormalStep:
    """N(0, 1) against N(μ, 1)."""

    mu: float
    rho: float = field(default=0.0, repr=False, compare=False)
    atoms: Atoms = field(default_factory=Atoms.none, repr=False, compare=False)
    span: tuple[float, float] = field(default=(-math.inf, math.inf), repr=False)
    knots: tuple[float, ...] = field(default=(), repr=False)
    mirrored: bool = field(default=True, repr=False)

    @property
    def ends(self) -> tuple[float, float]:
        """Unbounded."""
        return (-math.inf, math.inf)

    def loss(self, x: Array) -> Array:
        """μ(x − μ/2)."""
        return np.asarray(self.mu * (x - self.mu / 2))

    def slope(self, x: Array) -> Array:
        """μ."""
        return np.full(np.shape(x), self.mu)

    def place(self, loss: Array) -> Array:
        """L/μ + μ/2."""
        return np.asarray(loss / self.mu + self.mu / 2)

    def log_p0(self, x: Array) -> Array:
        """Standard normal."""
        return np.asarray(-0.5 * x * x - _HALF_LOG_2PI)

    def bend(self, x: Array) -> Array:
        """The log density falls with slope |x|, or |x − μ|."""
        return np.asarray(np.abs(x) + self.mu)

    def error(self, x: Array) -> Array:
        """Of μ(x − μ/2)."""
        return np.asarray(8 * _U * self.mu * (np.abs(x) + self.mu))

    def above(self, x: float) -> tuple[float, float]:
        """Φ(μ − x), Φ(−x)."""
        return float(log_ndtr(self.mu - x)), float(log_ndtr(-x))

    def below(self, x: float) -> tuple[float, float]:
        """Φ(x − μ), Φ(x)."""
        return float(log_ndtr(x - self.mu)), float(log_ndtr(x))

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Normal quantiles."""
        return float(ndtri_exp(log_bottom)), self.mu - float(ndtri_exp(log_top))


@dataclass(frozen=True)
class LaplaceStep:
    """Lap(0, 1) against Lap(m, 1): L = 2x − m on [0, m], atoms at both ends."""

    m: float
    rho: float = field(default=0.0, repr=False, compare=False)
    mirrored: bool = field(default=True, repr=False)
    knots: tuple[float, ...] = field(default=(), repr=False)

    @property
    def atoms(self) -> Atoms:
        """½e^{−m} at −m and ½ at m."""
        return Atoms(np.array([-self.m, self.m]), np.array([-self.m - _LOG2, -_LOG2]))

    @property
    def span(self) -> tuple[float, float]:
        """Between the two locations."""
        return (0.0, self.m)

    @property
    def ends(self) -> tuple[float, float]:
        """±m."""
        return (-self.m, self.m)

    def loss(self, x: Array) -> Array:
        """2x − m."""
        return np.asarray(2 * x - self.m)

    def slope(self, x: Array) -> Array:
        """2."""
        return np.full(np.shape(x), 2.0)

    def place(self, loss: Array) -> Array:
        """(L + m)/2."""
        return np.asarray(np.clip((loss + self.m) / 2, 0.0, self.m))

    def log_p0(self, x: Array) -> Array:
        """½e^{−x}."""
        return np.asarray(-x - _LOG2)

    def bend(self, x: Array) -> Array:
        """Exponentials of slope 1; the loss has slope 2."""
        return np.full(np.shape(x), 2.0)

    def error(self, x: Array) -> Array:
        """Of 2x − m."""
        return np.full(np.shape(x), 8 * _U * self.m)

    def above(self, x: float) -> tuple[float, float]:
        """∫_x^m of each density."""
        rest = max(self.m - x, 0.0)
        gone = math.log(-math.expm1(-rest)) if rest > 0 else -math.inf
        return gone - _LOG2, gone - x - _LOG2

    def below(self, x: float) -> tuple[float, float]:
        """∫_0^x of each density."""
        gone = math.log(-math.expm1(-x)) if x > 0 else -math.inf
        return gone - _LOG2 - max(self.m - x, 0.0), gone - _LOG2

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Everything: the loss is bounded."""
        return self.span


@dataclass(frozen=True, eq=False)
class FiniteStep:
    """Nothing but atoms."""

    atoms: Atoms
    mirrored: bool = False
    unbounded: bool = False
    rho: float = 0.0  # relative error of the masses, beyond that of their logarithms
    span: None = None
    knots: tuple[float, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """The outermost atoms."""
        a = self.atoms
        low, high = (float(a.loss.min()), float(a.loss.max())) if a.loss.size else (0.0, 0.0)
        far = math.inf if self.unbounded else 0.0
        return (-math.inf if a.only0 > 0 or far else low), (math.inf if a.only1 > 0 or far else high)

    def log_p0(self, x: Array) -> Array:
        """No density anywhere."""
        return np.full(np.shape(x), -np.inf)

    def loss(self, x: Array) -> Array:
        """0: there is no continuous part whose loss this could be."""
        return np.zeros(np.shape(x))

    slope = place = bend = error = loss

    def above(self, x: float) -> tuple[float, float]:
        """No continuous part, no mass."""
        return (-math.inf, -math.inf)

    below = above

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """No continuous part."""
        return (0.0, 0.0)


@dataclass(frozen=True)
class Swapped:
    """The two laws exchanged: x is mirrored so that the loss still grows."""

    base: Step

    @property
    def rho(self) -> float:
        """As the base."""
        return self.base.rho

    @property
    def mirrored(self) -> bool:
        """As the base."""
        return self.base.mirrored

    @property
    def span(self) -> tuple[float, float] | None:
        """Mirrored."""
        return None if self.base.span is None else (-self.base.span[1], -self.base.span[0])

    @property
    def knots(self) -> tuple[float, ...]:
        """Mirrored."""
        return tuple(-k for k in reversed(self.base.knots))

    @property
    def ends(self) -> tuple[float, float]:
        """Mirrored."""
        low, high = self.base.ends
        return -high, -low

    @property
    def atoms(self) -> Atoms:
        """Losses change sign, H0-masses take the place of H1-masses."""
        a = self.base.atoms
        return Atoms(-a.loss, a.log_p - a.loss, a.only1, a.only0)

    def loss(self, x: Array) -> Array:
        """−L(−x)."""
        return -self.base.loss(-np.asarray(x))

    def slope(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.slope(-np.asarray(x))

    def place(self, loss: Array) -> Array:
        """Mirrored."""
        return -self.base.place(-np.asarray(loss))

    def log_p0(self, x: Array) -> Array:
        """The base's H1."""
        y = -np.asarray(x)
        return np.asarray(self.base.log_p0(y) + self.base.loss(y))

    def bend(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.bend(-np.asarray(x))

    def error(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.error(-np.asarray(x))

    def above(self, x: float) -> tuple[float, float]:
        """Mirrored."""
        p, q = self.base.below(-x)
        return q, p

    def below(self, x: float) -> tuple[float, float]:
        """Mirrored."""
        p, q = self.base.above(-x)
        return q, p

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Mirrored."""
        low, high = self.base.reach(log_bottom, log_top)
        return -high, -low


def total_mass(atoms: Atoms) -> float:
    """The H1-mass of all atoms."""
    return float(np.exp(logsumexp(atoms.log_p))) if atoms.log_p.size else 0.0
