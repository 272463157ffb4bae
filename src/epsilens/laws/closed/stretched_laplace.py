"""Lap(0, 1) against Lap(m, θ) with θ > 1: a Laplace shifted and stretched (paper 003), in either order.

The likelihood ratio is V-shaped, so the optimal test rejects outside an interval, z < z_L or z > z_R. With the
level w = m + θ·log(θt) ≥ 0 for the likelihood-ratio threshold t:

    z_L = −w/(θ−1),   z_R = w/(θ+1) if w ≤ (θ+1)m, else m + (w − (θ+1)m)/(θ−1).

Everything is written in the right end z = z_R, which keeps its digits as θ → 1, where w − (θ+1)m loses them.
The paper calls its one-sided test optimal; it is not for θ > 1. Where the threshold meets the densities,
t·p1 = p0 turns every t·mass into another mass, so the profile needs no subtraction.

``NarrowWide`` is what this and a stretched normal law have in common: the optimal test rejects H0 outside an interval
if H0 is the narrow law, and inside one if it is the wide law (``flipped``), so every curve follows the masses of one
interval.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from ...checks import Array
from ...numerics.roots import root
from ...numerics.special import expm1mx, log1pmx, sinhcm1
from ...readings.guesses import fbeta_by_thresholds
from ...readings.law import Known, Law


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
            for _ in range(400):  # the loss grows with θ
                short = self.profile(high) > d
                if not short.any():
                    break
                high = np.where(short, 2 * high, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = root(lambda e: np.log(self.profile(e)) - np.log(d), np.zeros(delta.shape), high)
        value = np.where(self.profile(value) > d, value * (1 + 1e-14) + 1e-300, value)
        return np.where(zero, 0.0, np.where(delta > 0, value, self.max_llr()))

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """Thresholds."""
        return fbeta_by_thresholds(self, beta, odds)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StretchedLaplace(NarrowWide):
    """H0 = Lap(0,1) and H1 = Lap(m,θ), θ > 1; swapped when ``flipped``."""

    # The narrow law is Lap(0,1), the wide one Lap(m,θ); z is the right end above.

    def _ends(self, z: Array) -> tuple[Array, Array]:
        spread = (self.theta + 1) / (self.theta - 1)
        return -np.where(z <= self.m, spread * z, spread * self.m + (z - self.m)), z

    def _outside(self, z: Array) -> tuple[Array, Array]:
        """Masses (narrow, wide) outside [z_L, z_R]; everything for z < 0."""
        left, right = self._ends(np.maximum(z, 0.0))
        x = (right - self.m) / self.theta
        wide = 0.5 * np.exp((left - self.m) / self.theta) + np.where(
            x >= 0, 0.5 * np.exp(-np.maximum(x, 0)), 1 - 0.5 * np.exp(np.minimum(x, 0))
        )
        narrow = 0.5 * np.exp(left) + 0.5 * np.exp(-right)
        return np.where(z < 0, 1.0, narrow), np.where(z < 0, 1.0, wide)

    def _inside(self, z: Array) -> tuple[Array, Array]:
        """Masses (narrow, wide) inside [z_L, z_R], in forms that keep their digits when the interval is short."""
        left, right = self._ends(np.maximum(z, 0.0))
        x, y = (right - self.m) / self.theta, (left - self.m) / self.theta
        short = 0.5 * np.exp(np.minimum(x, 0)) * -np.expm1((left - right) / self.theta)
        long = 0.5 * -np.expm1(y) + 0.5 * -np.expm1(-np.maximum(x, 0))
        narrow = 0.5 * -np.expm1(left) + 0.5 * -np.expm1(-right)
        return np.where(z < 0, 0.0, narrow), np.where(z < 0, 0.0, np.where(x <= 0, short, long))

    def _level(self, mass: Callable[[Array], Array], target: Array, rising: Array) -> Array:
        """The end z ≥ 0 at which a monotone mass meets its target in (0, ½]."""
        goal = np.log(target)

        def excess(z: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(mass(z)) - goal)

        high = np.full(goal.shape, self.m + self.theta)
        for _ in range(64):
            short = np.where(rising, excess(high) < 0, excess(high) > 0)
            if not short.any():
                break
            high = np.where(short, high * 2, high)

        # a rising mass may be as small as 1e-300, and z with it: seek its logarithm
        def level(v: Array) -> Array:
            return np.where(rising, np.exp(np.where(rising, v, 0.0)), v)

        low = np.where(rising, -745.0, 0.0)
        z = level(root(lambda v: excess(level(v)), low, np.where(rising, np.log(high), high)))
        # where both ends are near 0 the mass is proportional to z up to O(z)
        tiny = np.logical_and(rising, -self._ends(z)[0] < 1e-6)
        for _ in range(2):
            z = np.where(tiny, z * np.exp(-excess(z)), z)
        return np.asarray(z)

    def _curve(self, given: Array, *, wide: bool, inside: bool, want: str) -> Array:
        """Follow the curve: ``given`` is the wide/narrow mass inside/outside, ``want`` names the mass returned."""
        given = np.asarray(given, dtype=float)
        interior = (given > 0) & (given < 1)
        safe = np.where(interior, given, 0.5)
        pick = 1 if wide else 0
        # match whichever of the mass and its complement is the smaller: it carries the digits
        use_inside = (safe <= 0.5) == inside
        goal = np.where(safe <= 0.5, safe, 1 - safe)
        z = self._level(
            lambda x: np.where(use_inside, self._inside(x)[pick], self._outside(x)[pick]), goal, rising=use_inside
        )
        other = {"inside": self._inside, "outside": self._outside}[want](z)[1 - pick]
        at_zero, at_one = (0.0, 1.0) if (want == "inside") == inside else (1.0, 0.0)
        return np.where(given <= 0, at_zero, np.where(given >= 1, at_one, other))

    def acceptance(self, alpha: Array) -> tuple[Array, Array]:
        """The interval in which the optimal test of Lap(0,1) at size α, against the wide law, raises no alarm."""
        alpha = np.asarray(alpha, dtype=float)
        safe = np.where((alpha > 0) & (alpha < 1), alpha, 0.5)
        small = safe <= 0.5
        z = self._level(
            lambda x: np.where(small, self._outside(x)[0], self._inside(x)[0]),
            np.where(small, safe, 1 - safe),
            rising=np.asarray(safe > 0.5),
        )
        left, right = self._ends(np.where(alpha >= 1, 0.0, z))
        return np.where(alpha <= 0, -np.inf, left), np.where(alpha <= 0, np.inf, right)

    def _z(self, log_threshold: Array) -> Array:
        """The end at a threshold; negative below the least likelihood ratio."""
        level = np.log(self.theta) + (-log_threshold if self.flipped else log_threshold)
        near = (self.m + self.theta * level) / (self.theta + 1)
        far = self.m + self.theta * (level - self.m) / (self.theta - 1)
        return np.asarray(np.where(level <= self.m, near, far))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """(α, recall) of the threshold test."""
        z = self._z(np.asarray(log_threshold, dtype=float))
        if self.flipped:
            narrow, wide = self._inside(z)
            return wide, narrow
        return self._outside(z)

    def profile(self, log_threshold: Array) -> Array:
        """h(t), by t·p1 = p0 at both ends of the interval."""
        u = np.asarray(log_threshold, dtype=float)
        z, t = self._z(u), self.theta
        left, right = self._ends(np.maximum(z, 0.0))
        x = (right - self.m) / t
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.flipped:
                tail = 0.5 * np.exp((left - self.m) / t) * ((t - 1) / t)
                beyond = 0.5 * np.exp(-np.maximum(x, 0)) * ((t - 1) / t)
                between = 0.5 * (-np.expm1(np.minimum(x, 0)) - np.expm1(np.minimum(x, 0) - np.log(t)))
                value = tail + np.where(x >= 0, beyond, between)
                return np.where(z < 0, -np.expm1(np.minimum(u, 0.0)), np.minimum(value, 1.0))
            # with g(x) = e^x − 1 − x: e^{−z}·(g(z) + ½(θ−1)·g(−2z/(θ−1))), two positive terms
            first = np.where(
                right < 1, np.exp(-right) * expm1mx(np.minimum(right, 1.0)), 1 - (1 + right) * np.exp(-right)
            )
            short = first + 0.5 * (t - 1) * np.exp(-right) * expm1mx(-2 * right / (t - 1))
            e = np.log(t) - u  # t·p_wide = p_narrow at likelihood ratio e^{−e}·θ
            near = 0.5 * (t - 1) * (expm1mx(left) + expm1mx(-right)) - t * expm1mx(-e)
            far = -np.expm1(u) + 0.5 * (t - 1) * (np.exp(left) + np.exp(-right))
            value = np.where(z <= self.m, short, np.where(np.abs(e) < 1, near, far))
        return np.where(z <= 0, 0.0, np.where(np.isneginf(u), 1.0, np.clip(value, 0.0, 1.0)))

    def max_llr(self) -> Array:
        """Unbounded towards the wide law; log θ + m/θ towards the narrow one, at z = 0."""
        return np.asarray(np.log(self.theta) + self.m / self.theta if self.flipped else np.inf)

    def log_moment(self, a: Array) -> Array:
        """log ∫ p_narrow^A p_wide^{1−A} over three pieces; +∞ where the tails diverge."""
        a = np.asarray(a, dtype=float)
        # powers A of the narrow law and W = 1 − A of the wide one; exponential rates A and B = W/θ
        A, W = (a, 1 - a) if self.flipped else (1 - a, a)
        B, d, t = W / self.theta, self.m, self.theta
        with np.errstate(all="ignore"):
            # E = θ^{−W}/(A+B) · (B·e^{−Ad} − A·e^{−Bd})/(B−A): a factor of the scales, zero at W = 0 and at A = 0,
            x = -(t - 1) / t  # 1/θ − 1, also where θ is near 1
            scales = np.where(
                A < 0.5,
                A * log1pmx(np.asarray(t - 1)) - log1pmx(A * (t - 1)),
                W * log1pmx(np.asarray(x)) - log1pmx(W * x) if t < 2 else -W * np.log(t) - np.log1p(W * x),
            )
            # and one of the shift, in three forms that keep their digits: far apart, alike rates, unlike rates
            low, high = np.minimum(A, B), np.maximum(A, B)
            y = (high - low) * d
            far = -low * d + np.log1p(low * d * np.where(y > 0, -np.expm1(-y) / np.where(y > 0, y, 1.0), 1.0))
            c, h = (A + B) * d / 2, (B - A) * d / 2
            grown = 2 * np.sinh(h / 2) ** 2 + c * sinhcm1(h)
            alike = log1pmx(grown + c) + grown
            unlike = np.log1p((B * expm1mx(-A * d) - A * expm1mx(-B * d)) / np.where(A == B, 1.0, B - A))
            shift = np.where(high * d > 1, far, np.where(2 * np.abs(h) <= np.abs(c), alike, unlike))
        return np.where(A + B > 0, scales + shift, np.inf)

    def kl(self) -> Array:
        """log(b1/b0) − 1 + (b0/b1)e^{−Δ/b0} + Δ/b1 with b0, b1 in the order asked for."""
        r = 1 / self.theta if self.flipped else self.theta  # b1/b0
        shift = self.m / self.theta if self.flipped else self.m  # Δ/b0
        # = [log r + 1/r − 1] + (e^{−s} − 1 + s)/r, two positive terms that keep their digits as r → 1 and s → 0
        x = self.theta - 1 if self.flipped else (1 - self.theta) / self.theta  # 1/r − 1
        if not self.flipped and self.theta > 2:  # 1 + x is near 0: take the logarithm of θ itself
            return np.asarray(expm1mx(np.asarray(-shift)) / r + (np.log(self.theta) + x))
        return np.asarray(expm1mx(np.asarray(-shift)) / r - log1pmx(np.asarray(x)))

    def auc(self) -> Array:
        """∫ recall dα over the level w: sums of exponentials, integrated term by term."""
        t, m = self.theta, self.m
        bend = (t + 1) * m
        em = np.exp(-m / t)
        # up to the bend: recall terms and −dα/dw terms as (coefficient, rate) of coefficient·e^{−rate·w}
        recall = [(1.0, 0.0), (0.5 * em, 1 / (t * (t - 1))), (-0.5 * em, -1 / (t * (t + 1)))]
        density = [(0.5 / (t - 1), 1 / (t - 1)), (0.5 / (t + 1), 1 / (t + 1))]
        total = 0.0
        for c, k in recall:
            for d, r in density:
                total += c * d * -np.expm1(-(k + r) * bend) / (k + r)
        # beyond it, with v = w − bend: z_L = −(v + bend)/(t−1), z_R = m + v/(t−1)
        far_recall = 0.5 * (np.exp(-bend / (t * (t - 1)) - m / t) + 1.0)
        far_density = 0.5 / (t - 1) * (np.exp(-bend / (t - 1)) + np.exp(-m))
        total += far_recall * far_density / (1 / (t * (t - 1)) + 1 / (t - 1))
        return np.asarray(total)

    def psi(self) -> Array:
        """Infinite: in the tail the recall is α^{1/θ}, above every G_μ."""
        return np.asarray(np.inf)
