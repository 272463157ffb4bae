"""Losses under a tilt in closed form: normal and Laplace steps, for series (:mod:`.series`) and for plans.

The loss of a normal shift stays normal. That of a Laplace shift by m has, under e^{λL} and with c = λ + ½, masses
proportional to ½e^{cm} at m and ½e^{−cm} at −m and the density ¼e^{cL} between, so that E e^{zL} = g(c + z)/g(c) with
g(c) = cosh cm + sinh(cm)/(2c). All is written with what lies below m, D = m − L, whose parts are positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammainc

from ...checks import Array

_U = 2.0**-53
_LEAST = 1e-6  # of c, where only a plan depends on it


def normal_cumulant(mu: float, tilts: Array) -> Array:
    """K = λ(λ+1)μ²/2."""
    return tilts * (tilts + 1) * (mu * mu / 2)


def normal_spread(mu: float, tilts: Array) -> tuple[Array, Array]:
    """Mean and variance of the tilted loss."""
    return mu * mu * (tilts + 0.5), np.full(tilts.shape, mu * mu)


def laplace_cumulant(m: float, tilts: Array) -> Array:
    """K = log(g(c)/g(½)); g is even."""
    c = np.maximum(np.abs(tilts + 0.5), _LEAST)
    less = np.expm1(-2 * c * m)
    return np.asarray((c - 0.5) * m + np.log1p(0.5 * less - less / (4 * c)))


def laplace_spread(m: float, tilts: Array) -> tuple[Array, Array]:
    """Mean and variance of the tilted loss."""
    c = np.maximum(np.abs(tilts + 0.5), _LEAST)
    less = np.expm1(-2 * c * m)
    gone, g = 1 + less, 1 + 0.5 * less - less / (4 * c)
    below = (gone * m + gammainc(2.0, 2 * c * m) / (4 * c * c)) / g
    square = (2 * gone * m * m + gammainc(3.0, 2 * c * m) / (2 * c**3)) / g
    mean = np.where(tilts >= -0.5, m - below, below - m)
    return mean, np.maximum(square - below * below, 1e-300)


class _Closed:
    """A tilted law in closed form."""

    @property
    def nodes(self) -> int:
        """What a frequency costs."""
        return 1

    @property
    def uncut(self) -> bool:
        """All of it."""
        return True


@dataclass(frozen=True)
class TiltedNormal(_Closed):
    """N(μ²/2 + λμ², μ²): the loss of a normal shift, tilted."""

    mu: float
    tilt: float

    @property
    def mean(self) -> float:
        """μ²(λ + ½)."""
        return self.mu * self.mu * (self.tilt + 0.5)

    @property
    def variance(self) -> float:
        """μ²."""
        return self.mu * self.mu

    @property
    def log_scale(self) -> float:
        """K(λ) = λ(λ+1)μ²/2."""
        return self.tilt * (self.tilt + 1) * self.variance / 2

    @property
    def kappa(self) -> float:
        """The error of a loss."""
        return 4 * _U * self.mean

    @property
    def rho(self) -> float:
        """The relative error of a mass."""
        return 16 * _U * (1 + self.log_scale)

    @property
    def rho_beside(self) -> float:
        """The same under other tilts."""
        return self.rho

    def log_moment(self, s: Array) -> Array:
        """K(λ+s) − K(λ)."""
        return np.asarray(s * self.mean + s * s * self.variance / 2)

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count."""
        return np.exp(-0.5 * (h * self.mu * np.arange(count)) ** 2) + 0j

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls: itself."""
        return np.exp(-0.5 * (self.mu * y) ** 2)


@dataclass(frozen=True)
class TiltedLaplace(_Closed):
    """The loss of a Laplace shift, tilted by λ > −½."""

    m: float
    tilt: float

    @cached_property
    def _spread(self) -> tuple[float, float]:
        mean, variance = laplace_spread(self.m, np.asarray(self.tilt))
        return float(mean), float(variance)

    @property
    def mean(self) -> float:
        """m − E D."""
        return self._spread[0]

    @property
    def variance(self) -> float:
        """Of D."""
        return self._spread[1]

    @cached_property
    def log_scale(self) -> float:
        """K(λ)."""
        return float(laplace_cumulant(self.m, np.asarray(self.tilt)))

    @property
    def kappa(self) -> float:
        """The error of a loss."""
        return 8 * _U * self.m

    @property
    def rho(self) -> float:
        """The relative error of a mass."""
        return 16 * _U * (4 + (self.tilt + 1) * self.m)

    @property
    def rho_beside(self) -> float:
        """The same under other tilts: what they add to the exponent is at most the period of a series."""
        return self.rho + 1e-12

    def log_moment(self, s: Array) -> Array:
        """K(λ+s) − K(λ)."""
        return laplace_cumulant(self.m, self.tilt + s) - self.log_scale

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count: g(c + iy)/g(c), with the larger exponential taken out."""
        y, c, m = h * np.arange(count), self.tilt + 0.5, self.m
        gone, half = math.exp(-2 * c * m), 0.5 / (c + 1j * y)
        up, down = np.exp(1j * ((m - self.mean) * y)), np.exp(-1j * ((m + self.mean) * y))
        return ((1 + half) * up + gone * (1 - half) * down) / (1 + gone - math.expm1(-2 * c * m) / (2 * c))

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls.

        The atoms count as not falling; |sinh(u + iv)|² = sinh²u + sin²v of the rest is at most sinh²u + min(v, 1)².
        """
        c, u = self.tilt + 0.5, (self.tilt + 0.5) * self.m
        gone, spread = math.exp(-2 * u), -math.expm1(-2 * u)
        whole = 0.5 * (1 + gone) + spread / (4 * c)
        still = 0.5 * (1 + gone) / whole
        turned = np.minimum((self.m * y) ** 2, 1.0) * (4 * gone) + spread * spread  # in units of e^{2u}/4
        moving = np.minimum(0.25 / whole * np.sqrt(turned / (c * c + y * y)), 1 - still)
        return np.asarray((still + moving) * (1 + 1e-12))
