"""The worst pair of laws that several claims allow together: the polygon of (ε, δ), and what is said of moments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from scipy.special import digamma

from ...checks import Array
from ...numerics.frozen import Valued
from ...numerics.roots import root
from ...numerics.special import moment_less_one
from ...readings.law import Known
from .law import Finite
from .polygon import polygon
from .rdp import ConcentratedConversion, Conversion

_LEAST = 1e-200  # a smaller ρ is rounded up to this one
_ROUNDING = 1e-12  # of sums over thousands of atoms
_CHORD = 1.02  # chords of the polygon lie above the claims by less than this factor
_NO_DOUBLE = -735.0  # log of a δ that doubles hold badly


class MomentClaim(Protocol):
    """A bound on m·D_{1+m} in both orders of the pair; infinite where nothing is claimed."""

    def __call__(self, m: Array) -> Array:
        """The bound at some m > 0."""
        ...


@dataclass(frozen=True)
class Concentrated:
    """(ξ, ρ)-zCDP: D_a ≤ ξ + ρ·a at every order a."""

    rho: float
    xi: float = 0.0

    def __call__(self, m: Array) -> Array:
        """m·(ξ + ρ(1 + m))."""
        return m * (self.xi + self.rho * (1 + m))

    def grouped(self, size: int) -> tuple[float, float]:
        """(ρ, ξ) of a group of k people: (ξ·k·(1 + 1/2 + … + 1/k), k²ρ)-zCDP (Bun & Steinke 2016)."""
        harmonic = float(digamma(size + 1) - digamma(1))
        return size * size * self.rho * (1 + 1e-15), self.xi * size * harmonic * (1 + 1e-12)


@dataclass(frozen=True, eq=False, repr=False)
class RenyiCurve(Valued):
    """D_{1+m} ≤ ρ at orders 1 + m: m·D_{1+m} is convex and 0 at 0, so between these it lies below its chords."""

    m: Array
    rho: Array

    @property
    def highest(self) -> float:
        """The largest m of which something is said."""
        return float(self.m[-1]) if self.m.size else 0.0

    def __call__(self, m: Array) -> Array:
        """The chord; infinite beyond."""
        chord = np.interp(m, np.append(0.0, self.m), np.append(0.0, self.m * self.rho))
        return np.where(m <= self.highest, chord, np.inf)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Envelope(Finite):
    """A finite pair that is at least as risky as what it stands for.

    ``moment(m)``, where a claim says so, bounds m·D_{1+m} in both orders of the pair: the polygon ends at the smallest
    δ that doubles hold, with an atom that would make every moment infinite. ``rounding`` is the relative error of sums
    over thousands of masses; it too goes against the defender. ``attained`` is a pair that what it stands for is at
    least as risky as, where one is known: the low end of a bracket. ``conversion`` bounds δ(ε) between the
    corners of the polygon, in both orders.
    """

    moment: MomentClaim | None = field(default=None, kw_only=True)
    rounding: float = field(default=0.0, kw_only=True)
    attained: Finite | None = field(default=None, kw_only=True)
    conversion: Conversion | None = field(default=None, kw_only=True)
    known: Known = field(default=Known.BOUND, kw_only=True)

    def reverse(self) -> Envelope:
        """Both pairs in the other order."""
        turned = Finite.reverse(self)
        return turned if self.attained is None else replace(turned, attained=self.attained.reverse())

    def tradeoff(self, alpha: Array) -> Array:
        """The polygon, rounded down; near α = 1 from the far corner, where thousands of masses keep their digits."""
        low = Finite.tradeoff(self, alpha)
        if np.any(alpha > 0.5):
            other = self if self.mirrored else self.reverse()
            low = np.where(alpha > 0.5, np.minimum(low, other.inverse_roc(np.maximum(1 - alpha, 0.0))), low)
        return np.asarray(low * (1 - self.rounding))

    def roc(self, alpha: Array) -> Array:
        """The polygon, rounded up."""
        return np.minimum(Finite.roc(self, alpha) * (1 + self.rounding), 1.0)

    def inverse_roc(self, recall: Array) -> Array:
        """The polygon, rounded down."""
        return np.asarray(Finite.inverse_roc(self, recall) * (1 - self.rounding))

    def profile(self, log_threshold: Array) -> Array:
        """h, rounded up."""
        return np.minimum(Finite.profile(self, log_threshold) * (1 + self.rounding), 1.0)

    def worse_delta(self, epsilon: Array) -> Array:
        """The smaller of what the polygon gives, whose sides cut corners, and the conversion at this very ε."""
        value = Finite.worse_delta(self, epsilon)
        if self.conversion is None:
            return value
        said = self.conversion.log_delta(epsilon)
        return np.where(said > _NO_DOUBLE, np.minimum(value, np.exp(said) * (1 + _ROUNDING)), value)

    def worse_epsilon(self, delta: Array) -> Array:
        """The smaller of what the polygon gives and what the conversion says at this δ."""
        value = Finite.worse_epsilon(self, delta)
        live = (delta > 0) & (value > 0) & np.isfinite(value)
        if (conversion := self.conversion) is None or not live.any():
            return value
        target, high = np.log(delta[live]) - 2 * _ROUNDING, value[live]
        low = Finite.profile_inverse(self, np.minimum(delta[live] * _CHORD, 1.0))
        low = np.where(conversion.log_delta(low) > target, low, 0.0)
        found = root(lambda e: conversion.log_delta(e) - target, low, high, rtol=1e-14)
        found = np.minimum(found * (1 + 1e-13), high)
        out = np.array(value)
        out[live] = np.where(conversion.log_delta(found) <= target, found, high)
        return out

    def log_moment(self, a: Array) -> Array:
        """The smaller of what the polygon gives and what the claim says."""
        value = Finite.log_moment(self, a)
        if self.moment is None:
            return value
        a = np.asarray(a, dtype=float)
        m = np.maximum(a - 1, -a)  # D_{1+m}(H1‖H0) or D_{1+m}(H0‖H1)
        return np.asarray(np.where(m > 0, np.minimum(value, self.moment(np.maximum(m, 0.0))), value))

    def far_renyi(self, order: Array) -> Array:
        """The smaller of what the polygon gives and what the claim says, which for zCDP is ξ + ρ·a."""
        value = Finite.far_renyi(self, order)
        if not isinstance(self.moment, Concentrated):
            return value
        return np.minimum(value, self.moment.xi + self.moment.rho * order)

    def _moment_less_one(self, power: float) -> float:
        """Between 0 and 1 without cancellation: the terms of the common atoms have one sign, and so has the rest."""
        if not 0 < power < 1:
            return Finite._moment_less_one(self, power)
        common = moment_less_one(self._p0, self._p1, self._u, power)
        return common - (1 - power) * self.only0 - power * self.only1

    def kl(self) -> Array:
        """At most D at an order hardly above 1."""
        value = Finite.kl(self)
        return value if self.moment is None else np.minimum(value, self.moment(np.asarray(1e-9)) / 1e-9)


def envelope(
    epsilon: Array,
    delta: Array,
    reverse: tuple[Array, Array] | None = None,
    *,
    moment: MomentClaim | None = None,
    rounding: float = 0.0,
    conversion: Conversion | None = None,
) -> Envelope:
    """The worst pair that the claims of :func:`.polygon.polygon` allow."""
    masses = polygon(epsilon, delta, reverse)
    return Envelope(*masses, mirrored=reverse is None, moment=moment, rounding=rounding, conversion=conversion)


def concentrated(rho: float, xi: float = 0.0) -> Envelope:
    """The worst pair that (ξ, ρ)-zCDP allows, ρ > 0."""
    best = ConcentratedConversion(max(rho, _LEAST), xi)
    return envelope(*best.claims(), moment=Concentrated(rho, xi), rounding=_ROUNDING, conversion=best)
