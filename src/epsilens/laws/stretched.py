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

N(0, 1) against N(μ, θ²) with θ > 1: a normal law shifted and stretched (paper 003), in either order.

The log-likelihood ratio is a parabola with its bottom at −c, c = μ/(θ²−1), so the optimal test rejects outside an
interval of radius r about −c. With its right end z = r − c both laws keep short forms that survive θ → 1, where c → ∞:

    narrow law: [−(2c+z), z];    wide law, in its own units: [−(z+2c+μ)/θ, (z−μ)/θ].

At both ends t·φ(narrow end) = φ(wide end)/θ for the likelihood-ratio threshold t, which turns the profile into
differences of Mills' ratios.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.special import erf, log_ndtr, ndtr, owens_t

from ..checks import Array
from ..numerics.roots import root
from ..numerics.special import expm1mx, log1pmx, mills, mills_drop, sinhcm1
from ..readings.guesses import fbeta_by_thresholds
from ..readings.law import Exactness, Law


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NarrowWidePair(Law):
    """The standard law under H0 and the same shifted by ``m`` and stretched by ``theta`` > 1 under H1; swapped when
    ``flipped``.
    """

    m: float
    theta: float
    flipped: bool = False
    known: Exactness = field(default=Exactness.EXACT, kw_only=True)

    symmetric = False

    @property
    def carried(self) -> float:
        """The stretch, which stands in exponents alone and less 1."""
        return 2 + abs(float(np.log(self.theta))) + abs(float(np.log(self.theta - 1)))

    def reverse(self) -> Self:
        return replace(self, flipped=not self.flipped)

    @abstractmethod
    def _curve(self, given: Array, *, wide: bool, inside: bool, want: str) -> Array:
        """Follow the curve: ``given`` is the wide/narrow mass inside/outside, ``want`` names the mass returned."""

    def tradeoff(self, alpha: Array) -> Array:
        """f(α) from the interval whose rejection region has H0-mass α."""
        return self._curve(alpha, wide=self.flipped, inside=self.flipped, want="outside" if self.flipped else "inside")

    def roc(self, alpha: Array) -> Array:
        return self._curve(alpha, wide=self.flipped, inside=self.flipped, want="inside" if self.flipped else "outside")

    def inverse_roc(self, recall: Array) -> Array:
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
        return fbeta_by_thresholds(self, beta, odds)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StretchedLaplace(NarrowWidePair):
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


_SQRT2 = np.sqrt(2.0)
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_X, _W = np.polynomial.legendre.leggauss(16)
_PANELS = np.linspace(0.0, 1.0, 17)
_NODES = (_PANELS[:-1, None] + (1 + _X) / 32).ravel()
_WEIGHTS = np.tile(_W / 32, 16)


def _log_phi(x: Array) -> Array:
    return np.asarray(-x * x / 2 - _HALF_LOG_2PI)


def _log_between(a: Array, b: Array, radius: Array, product: Array) -> Array:
    """log P(a < Z < b) for |a| ≤ b, with radius = (b−a)/2 and product = (b²−a²)/2 known to their last digit.

    A short interval is φ(a)·(M(a) − M(b) + M(b)(1 − e^{−product})), M Mills' ratio: two positive terms.
    """
    with np.errstate(all="ignore"):
        short = radius <= 0.5
        near = np.where(short, a, 0.0)
        m_b = mills(np.where(short | (a >= 0), b, 0.0))
        drop = mills_drop(near, np.where(short, 2 * radius, 0.0)) - m_b * np.expm1(-product)
        tight = _log_phi(a) + np.log(drop)
        right = _log_phi(a) + np.log(mills(np.maximum(a, 0.0)) - np.exp(-product) * m_b)
        across = np.log((erf(b / _SQRT2) - erf(np.minimum(a, 0.0) / _SQRT2)) / 2)
    return np.asarray(np.where(short, tight, np.where(a >= 0, right, across)))


def _gap(y: Array, x: Array, width: Array) -> Array:
    """M(y) − M(x) for y = x − width, −1 ≤ y; of either sign."""
    size = np.abs(width)
    small = size <= 1
    drop = mills_drop(np.where(small, np.minimum(y, x), 0.0), np.where(small, size, 0.0))
    return np.asarray(np.where(small, np.sign(width) * drop, mills(y) - mills(x)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StretchedNormal(NarrowWidePair):
    """H0 = N(0,1) and H1 = N(μ,θ²), θ > 1, μ ≥ 0; swapped when ``flipped``."""

    @property
    def mu(self) -> float:
        return self.m

    @property
    def _square(self) -> float:
        """θ² − 1."""
        return (self.theta - 1) * (self.theta + 1)

    @property
    def centre(self) -> float:
        """c: the interval is centred at −c."""
        return self.mu / self._square

    # Masses of the interval and of what lies outside, as logarithms: (narrow, wide).

    def _outside(self, z: Array) -> tuple[Array, Array]:
        t, c = self.theta, self.centre
        narrow = np.logaddexp(log_ndtr(-z), log_ndtr(-(2 * c + z)))
        wide = np.logaddexp(log_ndtr((self.mu - z) / t), log_ndtr(-(z + 2 * c + self.mu) / t))
        return np.minimum(narrow, 0.0), np.minimum(wide, 0.0)

    def _inside(self, z: Array, r: Array) -> tuple[Array, Array]:
        t, c = self.theta, self.centre
        narrow = _log_between(-z, 2 * c + z, r, 2 * c * r)
        wide = _log_between((self.mu - z) / t, (z + 2 * c + self.mu) / t, r / t, 2 * c * r)
        return narrow, wide

    def _place(self, u: Array) -> tuple[Array, Array]:
        """(z, r) where the log-likelihood ratio wide/narrow is u; r = 0 below its least value."""
        t = self.theta
        level = u + np.log(t)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            root_ = t * np.sqrt(np.maximum(2 * self._square * level + self.mu**2, 0.0))  # (θ²−1)·r
            bottom = root_ <= 0
            z = (2 * t * t * level + self.mu**2) / np.where(bottom, 1.0, root_ + self.mu)
            r = root_ / self._square
        return np.where(bottom, -self.centre, np.where(np.isposinf(u), np.inf, z)), np.where(bottom, 0.0, r)

    def _seek(self, given: Array, *, wide: bool, inside: bool) -> tuple[Array, Array]:
        """(z, r) of the interval whose mass inside (or outside) under one law is ``given``, in (0, 1)."""
        pick, c = int(wide), self.centre
        use_inside = (given <= 0.5) == inside  # the smaller of the mass and its complement carries the digits
        goal = np.log(np.where(given <= 0.5, given, 1 - given))

        def excess(z: Array, r: Array) -> Array:
            value = goal - self._outside(z)[pick]
            if use_inside.any():
                value = np.where(use_inside, self._inside(z, r)[pick] - goal, value)
            return value

        # left of −c/2 the radius keeps the digits, right of it the end
        half = np.full(goal.shape, c / 2)
        by_radius = excess(-half, half) > 0 if c > 0 else np.zeros(goal.shape, dtype=bool)
        reach = 40 * self.theta + self.mu
        high = np.where(by_radius, np.log(np.maximum(c / 2, 1e-300)), reach)
        # with c = 0 the end is the radius, and may be as small as 1e-300: seek its logarithm too
        logs = by_radius | (c == 0)
        high = np.where(logs & ~by_radius, np.log(reach), high)
        low = np.where(logs, -745.0, -c / 2)

        def at(v: Array) -> tuple[Array, Array]:
            e = np.exp(np.where(logs, v, 0.0))
            z = np.where(logs, e - c, v)
            return z, np.where(logs, e, v + c)

        return at(root(lambda v: excess(*at(v)), low, high))

    def _curve(self, given: Array, *, wide: bool, inside: bool, want: str) -> Array:
        given = np.asarray(given, dtype=float)
        z, r = self._seek(np.where((given > 0) & (given < 1), given, 0.5), wide=wide, inside=inside)
        other = np.exp((self._inside(z, r) if want == "inside" else self._outside(z))[1 - int(wide)])
        at_zero, at_one = (0.0, 1.0) if (want == "inside") == inside else (1.0, 0.0)
        return np.where(given <= 0, at_zero, np.where(given >= 1, at_one, other))

    def acceptance(self, alpha: Array) -> tuple[Array, Array]:
        """The interval in which the optimal test of N(0,1) at size α, against the wide law, raises no alarm."""
        alpha = np.asarray(alpha, dtype=float)
        z, _ = self._seek(np.where((alpha > 0) & (alpha < 1), alpha, 0.5), wide=False, inside=False)
        z = np.where(alpha <= 0, np.inf, np.where(alpha >= 1, -self.centre, z))
        return np.asarray(-(2 * self.centre + z)), z

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        u = np.asarray(log_threshold, dtype=float)
        z, r = self._place(-u if self.flipped else u)
        if self.flipped:
            narrow, wide = self._inside(z, r)
            none = r <= 0
            return np.where(none, 0.0, np.exp(wide)), np.where(none, 0.0, np.exp(narrow))
        narrow, wide = self._outside(z)
        return np.where(r <= 0, 1.0, np.exp(narrow)), np.where(r <= 0, 1.0, np.exp(wide))

    def profile(self, log_threshold: Array) -> Array:
        """h(t): tails beyond both ends, or the integral of what the narrow law has more of inside."""
        u = np.asarray(log_threshold, dtype=float)
        if self.flipped:
            return self._excess_inside(u)
        z, r = self._place(u)
        with np.errstate(all="ignore"):
            value = self._right_tail(u, z) + self._left_tail(z)
        value = np.where(np.isposinf(z), 0.0, np.clip(value, 0.0, 1.0))
        return np.where(r <= 0, -np.expm1(np.minimum(u, 0.0)), value)

    def _right_tail(self, u: Array, z: Array) -> Array:
        """Φ(−y) − t·Φ(−z), y = (z−μ)/θ < z: positive terms only, in three forms."""
        t = self.theta
        y, share = (z - self.mu) / t, (t - 1) / t
        width = (z * (t - 1) + self.mu) / t
        shown = np.maximum(y, -1.0)
        near = np.exp(_log_phi(shown)) * (_gap(shown, np.maximum(z, -1.0), width) + mills(np.maximum(z, -1.0)) * share)
        # both ends far left: P(y < Z < z) + Φ(−z)(1 − e^{(z²−y²)/2}/θ)
        drop = -width * -(z + y) / 2  # (z² − y²)/2
        between = np.exp(_log_between(-z, -y, width / 2, -drop))
        left = between + ndtr(-z) * (-np.expm1(drop) + np.exp(drop) * share)
        across = ndtr(-y) - np.exp(u + log_ndtr(-z))
        return np.asarray(np.where(y >= -1, near, np.where(z <= 0, left, across)))

    def _left_tail(self, z: Array) -> Array:
        """The same at the other end: φ(y)(M(y) − M(x)/θ) with x = 2c + z, y = (x+μ)/θ."""
        t = self.theta
        x = 2 * self.centre + z
        y = (x + self.mu) / t
        width = (x * (t - 1) - self.mu) / t
        value = np.exp(_log_phi(y)) * (_gap(y, x, width) + mills(x) * ((t - 1) / t))
        return np.asarray(np.maximum(value, 0.0))

    def _excess_inside(self, u: Array) -> Array:
        """∫ over the interval of φ(s−c)·(1 − e^{−q(r²−s²)}), q = (1−1/θ²)/2, s measured from −c.

        Where the exponent is large nothing cancels in narrow − t·wide; elsewhere the integrand is smooth over the
        stretch that holds its mass, and Gauss–Legendre gives it to the last digits.
        """
        t = self.theta
        z, r = self._place(-u)
        q = self._square / (2 * t * t)
        with np.errstate(all="ignore"):
            a = -z  # c − r: how far the right end lies from the mode of the narrow law
            reach = np.where(a > 0, 100 / (a + np.sqrt(a * a + 100)), 10.0)  # e^{−50} beyond
            right = np.where(a < -10, a + 10, 0.0)  # measured from the right end, s = r + x, x ≤ 0
            left = np.maximum(np.where(a > 0, -reach, a - 10), -2 * r)
            right = np.minimum(right, 0.0)
            x = left[..., None] + (right - left)[..., None] * _NODES
            gain = -x * (2 * r[..., None] + x)  # r² − s²
            inner = np.exp(_log_phi(a[..., None] - x)) * -np.expm1(-q * gain)
            small = (right - left) * (inner * _WEIGHTS).sum(-1)
            most = q * -left * (2 * r + left)
            narrow, wide = self._inside(z, r)
            large = np.exp(narrow) - np.exp(u + wide)
            value = np.where(most < 25, small, large)
        value = np.where(np.isneginf(u), 1.0, np.clip(value, 0.0, 1.0))
        return np.where(r <= 0, 0.0, value)

    def max_llr(self) -> Array:
        """Unbounded towards the wide law; log θ + μ²/(2(θ²−1)) towards the narrow one, at −c."""
        return np.asarray(np.log(self.theta) + self.mu * self.centre / 2 if self.flipped else np.inf)

    def log_moment(self, a: Array) -> Array:
        """With powers A of the narrow law and W = 1 − A of the wide one, P = A + W/θ²:

        −W·log θ − ½·log P − μ²·A·(W/θ²)/(2P); +∞ where P ≤ 0.
        """
        a = np.asarray(a, dtype=float)
        A, W = (a, 1 - a) if self.flipped else (1 - a, a)
        t2, grown = self.theta**2, self._square
        with np.errstate(all="ignore"):
            precision = A + W / t2
            near = np.where(  # each vanishes at A = 0 and at W = 0
                A < 0.5,
                A * log1pmx(np.asarray(grown)) - log1pmx(A * grown),
                W * log1pmx(np.asarray(-grown / t2)) - log1pmx(-W * grown / t2),
            )
            far = np.where(
                A < 0.5,
                2 * A * np.log(self.theta) - np.log1p(A * grown),
                -2 * W * np.log(self.theta) - np.log1p(-W * grown / t2),
            )
            scales = np.asarray(near if self.theta < 1.2 else far) / 2
            value = scales - self.mu**2 * A * (W / t2) / (2 * precision)
        return np.where(precision > 0, value, np.inf)

    def kl(self) -> Array:
        """log(σ1/σ0) + (σ0² + μ²)/(2σ1²) − ½ in the order asked for."""
        t, t2, grown = self.theta, self.theta**2, self._square
        if self.flipped:
            spread = -log1pmx(np.asarray(grown)) / 2 if t < 1.2 else grown / 2 - np.log(t)
            return np.asarray(spread + self.mu**2 / 2)
        spread = -log1pmx(np.asarray(-grown / t2)) / 2 if t < 1.2 else np.log(t) - grown / (2 * t2)
        return np.asarray(spread + self.mu**2 / (2 * t2))

    def auc(self) -> Array:
        """P(|X₁+c| > |X₀+c|): the sign of a product of two correlated normals, 1 − 2·T(μ/√(1+θ²), 2θ/(θ²−1)) with
        Owen's T.
        """
        return np.asarray(1 - 2 * owens_t(self.mu / np.hypot(1, self.theta), 2 * self.theta / self._square))

    def psi(self) -> Array:
        """Infinite: Φ⁻¹(1−α) − Φ⁻¹(f(α)) grows like z(1 − 1/θ) in the tail, whichever law is H0."""
        return np.asarray(np.inf)
