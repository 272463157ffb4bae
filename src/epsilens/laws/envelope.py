"""The worst pair of laws that several claims allow together: the polygon of (ε, δ), and what is said of moments.

From Rényi bounds to (ε, δ): the tightest conversion each order allows, never below it.

Theorem D51 of docs/proofs/dominating-pairs.md, with y and k as there; several promises are joined by Theorem D50.
k → ∞ gives c·e^{−mε}·(1−1/a)^{a−1}/a (Canonne, Kamath & Steinke 2020, Proposition 12). Both brackets are sums of
positive terms, so nothing cancels for an ε of 1e-12, a ρ of 1e-300 or an order of 1e6. Where even p = 1 is allowed, at
ρ ≥ ε + log(a/m), the answer is 1 − e^{ε−ρ}.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import digamma

from ..checks import Array
from ..numerics.roots import root
from ..numerics.special import expm1mx, moment_less_one, sinhcm1
from ..numerics.values import ValueSemantics
from ..readings.law import Exactness
from .finite import Finite, polygon

_GOLDEN = (math.sqrt(5.0) - 1) / 2
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_LEAST_LOG_DELTA = -735.0  # log δ where the grid of ε ends: below it δ is a denormal number
_BLOCK = 4096
_FEW = 16
_LARGE = 40.0  # e^40 + 1 is e^40 to double precision


def delta_bound(epsilon: Array, m: Array, rho: Array, *, steps: int = 26) -> Array:
    """log of an upper bound on δ(ε) when D_{1+m} ≤ ρ, the best over k; elementwise, for arrays."""
    epsilon, m, rho = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (epsilon, m, rho)))
    a = 1 + m
    best = np.array(_limit(epsilon, m, rho))
    near = m * rho < _LARGE
    if near.any():
        e, n, r = epsilon[near], m[near], rho[near]
        log_c = _log_expm1(n * r)
        # y = 1 at k0, between ε and 2ε; the best k lies beyond, where y^m falls from 1 − √(c−1) or so to almost 0
        k0 = root(lambda k: np.asarray(k / 2 + _sinhc_step(n, k / 2) - e), e, 2 * e, rtol=1e-12)
        last = np.log(80.0) - np.log(np.maximum(n, 0.5))
        first = np.minimum((np.minimum(log_c, 0.0) - np.log(n * (1 + n))) / 2 - 9, last - 3)
        result = _minimise(lambda s: _dual(k0 + np.exp(s), e, n, log_c), first, last, steps=steps)
        best[near] = np.minimum(best[near], result)
    # exponents of size a·(ε + k + ρ) carry an error of that many ulps
    size = 3 * epsilon + rho + 3 * np.minimum(1.0, np.sqrt(rho / a)) + np.log1p(1 / m)
    best = best + 4e-13 + 2e-15 * a * size
    with np.errstate(over="ignore", divide="ignore"):
        sure = np.log(-np.expm1(np.minimum(epsilon - rho, 0.0)))
    best = np.where(rho >= epsilon + np.log1p(1 / m), sure, best)
    return np.asarray(np.minimum(best, 0.0))


def _limit(epsilon: Array, m: Array, rho: Array) -> Array:
    """log of the bound as k → ∞, which is as good as any where c is large beside 1."""
    return np.asarray(m * (rho - epsilon - np.log1p(1 / m)) - np.log1p(m))


def _log_expm1(v: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(v > 30, v, np.log(np.expm1(np.minimum(v, 30.0)))))


def _dual(k: Array, epsilon: Array, m: Array, log_c: Array) -> Array:
    """log of the bound at k."""
    a = 1 + m
    log_y = epsilon - k / 2 - _sinhc_step(m, k / 2)
    w = m * log_y
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # 1 − a·y^m + m·y^a = e^w·(m·(y − 1 − log y) + (e^{−w} − 1 + w)); for a large −w the first form does not cancel
        rest = np.where(
            w > -30,
            np.exp(w) * (m * expm1mx(log_y) + expm1mx(np.minimum(-w, 30.0))),
            1 - np.exp(w) * (a - m * np.exp(log_y)),
        )
        above = np.logaddexp(log_c, np.log(rest))
        below = np.log(a) + w + _log_expm1(m * k)
        value = above - below
    return np.where(np.isfinite(value), value, np.inf)


def _log_sinhc(z: Array) -> Array:
    small = z < 20
    with np.errstate(divide="ignore"):
        return np.where(small, np.log1p(sinhcm1(np.where(small, z, 0.0))), z - np.log(2 * np.where(small, 1.0, z)))


def _sinhc_step(m: Array, h: Array) -> Array:
    """log sinhc(mh + h) − log sinhc(mh), to relative precision however large m is.

    The derivative of log sinhc is coth z − 1/z. For small z it is the continued fraction z/(3 + z²/(5 + …)), integrated
    over [mh, mh + h] by Gauss–Legendre; for larger z the addition theorem gives the ratio of the two.
    """
    z = m * h
    out = np.empty(np.broadcast(m, h).shape)
    m, h, z = (np.broadcast_to(v, out.shape) for v in (m, h, z))
    wide = m < 4
    out[wide] = _log_sinhc(z[wide] + h[wide]) - _log_sinhc(z[wide])
    small = ~wide & (z < 1.25)
    if small.any():
        x = z[small][..., None] + h[small][..., None] * (1 + _NODES) / 2
        square, fraction = x * x, np.full(x.shape, 19.0)
        for odd in (17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
            fraction = odd + square / fraction
        out[small] = (x / fraction) @ _WEIGHTS * h[small] / 2
    large = ~wide & (z >= 1.25)
    s, b = h[large], z[large]
    steep = s > 300  # sinh would overflow, and both ratios are exponentials
    near = np.where(steep, 1.0, s)
    with np.errstate(over="ignore"):
        grown = np.where(steep, s, np.log1p(2 * np.sinh(near / 2) ** 2 + np.sinh(near) / np.tanh(b)))
    out[large] = grown - np.log1p(1 / m[large])
    return out


def _minimise(f: Callable[[Array], Array], low: Array, high: Array, *, steps: int) -> Array:
    """The least value met on the way to a minimum of f in [low, high], elementwise: by golden section, of a few on
    grids, each as wide as two steps of the one before, which asks f only four times.
    """
    a, b = np.array(low, dtype=float), np.array(high, dtype=float)
    if a.size <= _FEW:
        for _ in range(4):
            at = a + (b - a) * np.linspace(0, 1, 33).reshape(33, *(1,) * a.ndim)
            values = f(at)
            least = np.argmin(values, axis=0)[None]
            a, b = (np.take_along_axis(at, np.clip(least + k, 0, 32), axis=0)[0] for k in (-1, 1))
        return np.asarray(values.min(axis=0))
    x, y = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    fx, fy = f(x), f(y)
    best = np.minimum(fx, fy)
    for _ in range(steps):
        left = fx < fy
        a, b = np.where(left, a, x), np.where(left, y, b)
        point = np.where(left, b - _GOLDEN * (b - a), a + _GOLDEN * (b - a))
        value = f(point)
        x, fx, y, fy = (np.where(left, *two) for two in ((point, y), (value, fy), (x, point), (fx, value)))
        best = np.minimum(best, value)
    return best


class DeltaConversion(ABC):
    """What is known of δ at any ε, in both orders of the pair."""

    @abstractmethod
    def log_delta(self, epsilon: Array) -> Array:
        """log of a bound on δ(ε), elementwise."""


@dataclass(frozen=True)
class FailureConversion(DeltaConversion):
    """With probability ``delta`` all is given away, otherwise the ``other`` holds."""

    other: DeltaConversion
    delta: float

    def log_delta(self, epsilon: Array) -> Array:
        return np.logaddexp(math.log(self.delta), math.log1p(-self.delta) + self.other.log_delta(epsilon))


class _FromOrders(DeltaConversion):
    """What bounds of some orders say together."""

    def log_delta(self, epsilon: Array) -> Array:
        """log of the least bound on δ(ε) that is found: any order is safe, and the best one of k → ∞ is among them."""
        shape = np.shape(epsilon)
        epsilon = np.asarray(epsilon, dtype=float).ravel()
        if not epsilon.size:  # nothing is asked
            return np.empty(shape)
        m, rho = (np.stack(v) for v in zip(*self._tried(epsilon), strict=True))
        return np.asarray(delta_bound(epsilon, m, rho).min(axis=0).reshape(shape))

    def claims(self) -> tuple[Array, Array]:
        """(ε_i, δ_i) on a grid that is fine where δ falls fast."""
        first = self._tried(self._coarse)[0]
        epsilon = _refine_claims(self._coarse, delta_bound(self._coarse, *first))
        return _claims(epsilon, delta_bound(epsilon, *self._tried(epsilon)[0]))

    @cached_property
    def _coarse(self) -> Array:
        return _coarse(self._limit)

    @abstractmethod
    def _limit(self, epsilon: Array) -> Array:
        """The best order's bound as k → ∞."""

    @abstractmethod
    def _tried(self, epsilon: Array) -> list[tuple[Array, Array]]:
        """Orders less one, and what holds at each, to try at each ε."""


@dataclass(frozen=True)
class ConcentratedConversion(_FromOrders):
    """D_a ≤ ξ + ρ·a for all a > 1, ρ > 0: (ξ, ρ)-zCDP (Bun & Steinke 2016)."""

    rho: float
    xi: float = 0.0

    def _at(self, log_m: Array) -> tuple[Array, Array]:
        m = np.exp(log_m)
        return m, np.asarray(self.xi + self.rho * (1 + m))

    def _best_limit(self, epsilon: Array) -> Array:
        """log m of the best order as k → ∞: the root of ξ + ρ(2m+1) − log(1 + 1/m) = ε, increasing in m."""

        def excess(log_m: Array) -> Array:
            m = np.exp(log_m)
            return np.asarray(self.xi + self.rho * (2 * m + 1) - np.log1p(1 / m) - epsilon)

        # at the upper end 2ρm alone exceeds ε and the logarithm
        low, high = np.full(epsilon.shape, -25.0), np.log((epsilon + 1) / self.rho + 1)
        return np.where(excess(low) >= 0, low, root(excess, low, high, rtol=1e-9))

    def _limit(self, epsilon: Array) -> Array:
        return _limit(epsilon, *self._at(self._best_limit(epsilon)))

    @cached_property
    def _orders(self) -> Array:
        """log m for each coarse ε: where c − 1 differs from c the best order moves, found by finer and finer scans."""
        log_m = self._best_limit(self._coarse)
        m, rho = self._at(log_m)
        near = np.flatnonzero(m * rho < _LARGE)
        for step in (1.5, 0.375, 0.1, 0.025) if near.size else ():
            tried = log_m[near] + step * np.arange(-4.0, 5.0)[:, None]
            result = delta_bound(np.broadcast_to(self._coarse[near], tried.shape), *self._at(tried), steps=12)
            log_m[near] = np.take_along_axis(tried, np.argmin(result, axis=0)[None], axis=0)[0]
        return log_m

    def _tried(self, epsilon: Array) -> list[tuple[Array, Array]]:
        moved = np.interp(epsilon, self._coarse, self._orders)
        return [self._at(moved), self._at(self._best_limit(epsilon))]


@dataclass(frozen=True, eq=False, repr=False)
class OrdersConversion(_FromOrders, ValueSemantics):
    """D_{1+m_j} ≤ ρ_j for every j, by rising order."""

    m: Array
    rho: Array

    def _all(self, epsilon: Array) -> Array:
        """A row for each ε: the bound of each order as k → ∞, or that p = 1 is allowed."""
        column = epsilon[:, None]
        with np.errstate(divide="ignore"):
            sure = np.log(-np.expm1(np.minimum(column - self.rho, 0.0)))
        return np.where(self.rho >= column + np.log1p(1 / self.m), sure, _limit(column, self.m, self.rho))

    def _limit(self, epsilon: Array) -> Array:
        return np.asarray(_limit(epsilon[:, None], self.m, self.rho).min(axis=1))

    @cached_property
    def _orders(self) -> Array:
        """Which order gives the least of a few cheap bounds, for each coarse ε."""
        column, rough = self._coarse[:, None], self._all(self._coarse)
        log_c = _log_expm1(self.m * self.rho)
        spread = np.minimum(np.sqrt(self.rho / (1 + self.m)), 3.0)
        for factor in (0.3, 1.0, 3.0):
            tried = _dual(1.3 * column + factor * spread, column, self.m, log_c)
            rough = np.where(self.rho >= column + np.log1p(1 / self.m), rough, np.minimum(rough, tried))
        return np.asarray(np.argmin(rough, axis=1), dtype=float)

    def _tried(self, epsilon: Array) -> list[tuple[Array, Array]]:
        """The orders on either side of where the best is about, and the best as k → ∞."""
        below = np.floor(np.interp(epsilon, self._coarse, self._orders)).astype(int)
        blocks = [epsilon[i : i + _BLOCK] for i in range(0, epsilon.size, _BLOCK)]
        limits = np.concatenate([np.argmin(self._all(block), axis=1) for block in blocks])
        picks = [np.clip(below + k, 0, self.m.size - 1) for k in ((0, 1) if self.m.size > 1 else (0,))]
        return [(self.m[i], self.rho[i]) for i in [*picks, *([limits] if self.m.size > 1 else [])]]


def _coarse(limit: Callable[[Array], Array]) -> Array:
    """0, and ε in equal ratios up to where δ leaves double precision."""
    ends = np.geomspace(1e-160, 1e6, 700)
    gone = limit(ends) < _LEAST_LOG_DELTA
    end = float(ends[np.argmax(gone)]) if gone.any() else 1e6
    return np.concatenate(([0.0], np.geomspace(1e-9 * end, end, 150)))


def _refine_claims(coarse: Array, log_delta: Array) -> Array:
    """More ε where δ falls fast: steps of log δ of 0.05 down to e^{−50} and 0.25 beyond; and of log(1 − δ) of 0.02."""
    fallen = np.minimum(-np.minimum.accumulate(log_delta), 750.0)
    length = np.minimum(fallen, 50.0) / 0.05 + np.maximum(fallen - 50.0, 0.0) / 0.25 + 40 * coarse / coarse[-1]
    with np.errstate(divide="ignore"):
        left = np.minimum(-np.log(-np.expm1(-fallen)), 8.0)
    length += (left[0] - left) / 0.02
    wanted = np.linspace(0.0, length[-1], int(length[-1]) + 2)
    return np.unique(np.concatenate((coarse, np.interp(wanted, length, coarse))))


def _claims(epsilon: Array, log_delta: Array) -> tuple[Array, Array]:
    keep = log_delta > -743.0  # e^{−744} is 0 in doubles
    return epsilon[keep], np.exp(log_delta[keep]) * (1 + 1e-12)


_LEAST_RHO = 1e-200  # a smaller ρ is rounded up to this one
_ROUNDING = 1e-12  # of sums over thousands of atoms
_CHORD = 1.02  # chords of the polygon lie above the claims by less than this factor
_NO_DOUBLE = -735.0  # log of a δ that doubles hold badly


class MomentClaim(Protocol):
    """A bound on m·D_{1+m} in both orders of the pair; infinite where nothing is claimed."""

    def __call__(self, m: Array) -> Array:
        """The bound at some m > 0."""
        ...


@dataclass(frozen=True)
class ConcentratedClaim:
    """(ξ, ρ)-zCDP: D_a ≤ ξ + ρ·a at every order a."""

    rho: float
    xi: float = 0.0

    def __call__(self, m: Array) -> Array:
        return m * (self.xi + self.rho * (1 + m))

    def group(self, size: int) -> tuple[float, float]:
        """(ρ, ξ) of a group of k people: (ξ·k·(1 + 1/2 + … + 1/k), k²ρ)-zCDP (Bun & Steinke 2016)."""
        harmonic = float(digamma(size + 1) - digamma(1))
        return size * size * self.rho * (1 + 1e-15), self.xi * size * harmonic * (1 + 1e-12)


@dataclass(frozen=True, eq=False, repr=False)
class RenyiCurve(ValueSemantics):
    """D_{1+m} ≤ ρ at orders 1 + m: m·D_{1+m} is convex and 0 at 0, so between these it lies below its chords."""

    m: Array
    rho: Array

    @property
    def highest(self) -> float:
        return float(self.m[-1]) if self.m.size else 0.0

    def __call__(self, m: Array) -> Array:
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
    conversion: DeltaConversion | None = field(default=None, kw_only=True)
    known: Exactness = field(default=Exactness.BOUND, kw_only=True)

    def reverse(self) -> Envelope:
        turned = Finite.reverse(self)
        return turned if self.attained is None else replace(turned, attained=self.attained.reverse())

    def tradeoff(self, alpha: Array) -> Array:
        """The polygon, rounded down; near α = 1 from the far corner, where thousands of masses keep their digits."""
        low = Finite.tradeoff(self, alpha)
        if np.any(alpha > 0.5):
            other = self if self.symmetric else self.reverse()
            low = np.where(alpha > 0.5, np.minimum(low, other.inverse_roc(np.maximum(1 - alpha, 0.0))), low)
        return np.asarray(low * (1 - self.rounding))

    def roc(self, alpha: Array) -> Array:
        return np.minimum(Finite.roc(self, alpha) * (1 + self.rounding), 1.0)

    def inverse_roc(self, recall: Array) -> Array:
        return np.asarray(Finite.inverse_roc(self, recall) * (1 - self.rounding))

    def profile(self, log_threshold: Array) -> Array:
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
        result = root(lambda e: conversion.log_delta(e) - target, low, high, rtol=1e-14)
        result = np.minimum(result * (1 + 1e-13), high)
        out = np.array(value)
        out[live] = np.where(conversion.log_delta(result) <= target, result, high)
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
        if not isinstance(self.moment, ConcentratedClaim):
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
    conversion: DeltaConversion | None = None,
) -> Envelope:
    """The worst pair that the claims of :func:`.polygon.polygon` allow."""
    masses = polygon(epsilon, delta, reverse)
    return Envelope(*masses, mirrored=reverse is None, moment=moment, rounding=rounding, conversion=conversion)


def zcdp_envelope(rho: float, xi: float = 0.0) -> Envelope:
    """The worst pair that (ξ, ρ)-zCDP allows, ρ > 0."""
    best = ConcentratedConversion(max(rho, _LEAST_RHO), xi)
    return envelope(*best.claims(), moment=ConcentratedClaim(rho, xi), rounding=_ROUNDING, conversion=best)
