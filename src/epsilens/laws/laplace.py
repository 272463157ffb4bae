"""Lap(0, 1) against Lap(m, 1): the shift of a Laplace, m = ε·|shift|/sensitivity, as a law and as a step.

All of the law is closed form:

f(α) = 1 − e^m·α on [0, e^{−m}/2];  e^{−m}/(4α) on [e^{−m}/2, ½];  e^{−m}(1−α) on [½, 1].

``LaplaceReplaced`` is a sample in which a person's record has one value or another.

The largest of many noisy scores: the law of one Laplace shift, which several selections together only stay below.

The set S wins if M = max_S − max_{S^c} > 0, and scores that move by at most Δ move M by at most 2Δ. Laplace and
exponential noise of scale b has hazard at most 1/b, and so have maxima over it: the density of M is at most
min(P(M > x), P(M ≤ x))/b. A curve no steeper than that stays below Lap(0) against Lap(2Δ/b). The difference of two
exponential variables is Laplace, so that two outcomes with exponential noise reach the curve everywhere. With Laplace
noise none are known that do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import ndtri_exp

from ..checks import Array
from ..numerics.special import expm1mx, half_normal_quantile, log1pmx, sinhcm1
from ..readings.guesses import fbeta_floor
from ..readings.law import Exactness
from ..worlds import Relation
from .composition.fourier import TiltedLaplace, laplace_cumulant, laplace_spread
from .composition.quadrature import QuadratureStep
from .composition.step import Atoms, Composable, CountedStep, Family, NoiseKind, Step, StepNoise, unknown_group
from .composition.wrappers import log_odds_against, mix, unmix

_U = 2.0**-53
_LOG2 = math.log(2.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Laplace(Composable):
    """Lap(0,1) under H0, Lap(m,1) under H1, m ≥ 0 (a number or an array of them)."""

    family: ClassVar[Family] = Family.LAPLACE

    m: Array
    known: Exactness = field(default=Exactness.EXACT, kw_only=True)

    def steps(self) -> tuple[CountedStep, ...]:
        return ((LaplaceStep(float(self.m)), 1),) if float(self.m) > 0 else ()

    symmetric = True

    def reverse(self) -> Laplace:
        return self

    def tradeoff(self, alpha: Array) -> Array:
        """The three pieces above, in logs so that m = 700 and α = 1e-300 meet without overflow."""
        with np.errstate(divide="ignore", over="ignore"):
            x = self.m + np.log(alpha)  # log(e^m α)
            steep = 1 - np.exp(np.minimum(x, -_LOG2))
            middle = np.exp(-x - 2 * _LOG2)
        flat = np.exp(-self.m) * (1 - alpha)
        return np.asarray(np.where(x <= -_LOG2, steep, np.where(alpha <= 0.5, middle, flat)))

    def roc(self, alpha: Array) -> Array:
        """1 − f(α), each piece in its own precise form."""
        with np.errstate(divide="ignore", over="ignore"):
            x = self.m + np.log(alpha)
            steep = np.exp(np.minimum(x, -_LOG2))
            middle = -np.expm1(-x - 2 * _LOG2)
        flat = -np.expm1(-self.m) + np.exp(-self.m) * alpha
        return np.asarray(np.where(x <= -_LOG2, steep, np.where(alpha <= 0.5, middle, flat)))

    def inverse_roc(self, recall: Array) -> Array:
        """R·e^{−m} up to ½; e^{−m}/(4(1−R)) up to 1 − e^{−m}/2; then 1 − (1−R)e^m."""
        miss = 1 - recall
        with np.errstate(divide="ignore", over="ignore"):
            x = self.m + np.log(miss)
            middle = np.exp(-x - 2 * _LOG2)
            flat = 1 - np.exp(np.minimum(x, -_LOG2))
        return np.asarray(np.where(recall <= 0.5, recall * np.exp(-self.m), np.where(x > -_LOG2, middle, flat)))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """llr = clip(2z − m, ±m): inside, α = ½e^{−(m+u)/2} and the miss is ½e^{(u−m)/2}."""
        u, m = np.asarray(log_threshold, dtype=float), self.m
        v = np.clip(u, -m, m)
        alpha, recall = 0.5 * np.exp(-(m + v) / 2), 1 - 0.5 * np.exp((v - m) / 2)
        inside = (u >= -m) & (u < m)
        outside = np.where(u < -m, 1.0, 0.0)
        return np.asarray(np.where(inside, alpha, outside)), np.asarray(np.where(inside, recall, outside))

    def profile(self, log_threshold: Array) -> Array:
        """1 − e^{(u−m)/2} for |u| ≤ m; 0 above; 1 − e^u below."""
        u = np.asarray(log_threshold, dtype=float)
        exponent = np.where(u < -self.m, np.minimum(u, 0.0), np.minimum((u - self.m) / 2, 0.0))
        return np.asarray(-np.expm1(exponent) + 0.0)

    def profile_inverse(self, delta: Array) -> Array:
        """m + 2·log(1−δ), at least 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(self.m + 2 * np.log1p(-delta), 0.0))

    def max_llr(self) -> Array:
        return np.asarray(self.m)

    def log_moment(self, a: Array) -> Array:
        """log E(a), E(a) = E(1−a) = (a·e^{(a−1)m} + (a−1)·e^{−am})/(2a−1), in four forms that keep their digits.

        Up to a = ¾ (0/0 at ½): E = e^{−m/2}(cosh u + (m/2)·sinh(u)/u) with u = (a−½)m. Beyond, for m ≤ 1:
        E − 1 = (a·g((a−1)m) + (a−1)·g(−am))/(2a−1) with g(x) = e^x − 1 − x; for m > 1 the leading exponential is
        taken out.
        """
        a, m = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(self.m, dtype=float))
        rest = np.where(a < 0.5, a, 1 - a)  # 1 − a once a ≥ ½, without rounding it twice
        a = np.where(a < 0.5, 1 - a, a)
        centre = np.minimum(a, 0.75)
        with np.errstate(all="ignore"):
            u = (centre - 0.5) * m
            small = np.minimum(m, 1.0)
            v = (centre - 0.5) * small
            grown = 2 * np.sinh(v / 2) ** 2 + small / 2 * sinhcm1(v)
            centre_small = log1pmx(grown + small / 2) + grown
            fall = -np.expm1(-2 * u)  # 1 − e^{−2u}
            slope = np.where(u > 0, fall / np.where(u > 0, 2 * u, 1.0), 1.0)
            centre_large = u - m / 2 + np.log(1 - fall / 2 + m / 2 * slope)
            outer_small = np.log1p((a * expm1mx(-rest * small) - rest * expm1mx(-a * small)) / (2 * a - 1))
            outer_large = -rest * m + np.log1p(-rest * np.expm1(-(2 * a - 1) * m) / (2 * a - 1))
        large = (m > 1) | (a * m > 30)
        return np.where(
            a <= 0.75, np.where(large, centre_large, centre_small), np.where(large, outer_large, outer_small)
        )

    def kl(self) -> Array:
        return expm1mx(-np.asarray(self.m, dtype=float))

    def auc(self) -> Array:
        return np.asarray(1 - np.exp(-self.m) * (2 + self.m) / 4)

    def psi(self) -> Array:
        """2Φ⁻¹(1 − ½e^{−m/2}): Φ⁻¹(1−α) − Φ⁻¹(f(α)) is concave in log α on the middle piece and monotone on the
        others, and f is symmetric, so the supremum is at the fixed point α = f(α) = ½e^{−m/2}.
        """
        m = np.asarray(self.m, dtype=float)
        near = 2 * half_normal_quantile(-np.expm1(-np.minimum(m, 2.0) / 2))
        return np.asarray(np.where(m < 2, near, -2 * ndtri_exp(-_LOG2 - m / 2)))

    def practical(self, level: float) -> Array:
        """ψ at every level: it is reached where both errors are the same."""
        return self.psi()

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """Paper 000 Eq. 12/18: (1+β²)(s−1)/((1+β²)s − 1 + β²), s = √(1 + 4β²e^m/c), once m ≥ log(1+β²/c).

        Below that turning point flagging everyone is best and F carries no information about ε.
        """
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            b2, m = beta * beta, self.m
            r = 1 / np.sqrt(1 + np.exp(m + np.log(4 * b2) - np.log(odds)))  # 1/s
            # divided through, so that nothing cancels when s is near 1: F = 1/(w + (1+1/s)²(1 − w + w·c·e^{−m}/4))
            w = 1 / (1 + b2)
            value = 1 / (w + (1 + r) ** 2 * ((1 - w) + w * np.exp(np.log(odds) - m) / 4))
            turned = m >= np.log1p(b2 / odds)
        return np.asarray(np.where(turned & (odds > 0) & np.isfinite(odds), value, fbeta_floor(beta, odds)))


@dataclass(frozen=True)
class LaplaceStep(QuadratureStep):
    """Lap(0, 1) against Lap(m, 1): L = 2x − m on [0, m], atoms at both ends."""

    family: ClassVar[Family] = Family.LAPLACE

    m: float

    symmetric = True

    @property
    def atoms(self) -> Atoms:
        """½e^{−m} at −m and ½ at m."""
        return Atoms(np.array([-self.m, self.m]), np.array([-self.m - _LOG2, -_LOG2]))

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, self.m)

    @property
    def loss_range(self) -> tuple[float, float]:
        return (-self.m, self.m)

    def loss(self, x: Array) -> Array:
        return np.asarray(2 * x - self.m)

    def slope(self, x: Array) -> Array:
        return np.full(np.shape(x), 2.0)

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(np.clip((loss + self.m) / 2, 0.0, self.m))

    def log_p0(self, x: Array) -> Array:
        return np.asarray(-x - _LOG2)

    def roughness(self, x: Array) -> Array:
        """Exponentials of slope 1; the loss has slope 2."""
        return np.full(np.shape(x), 2.0)

    def error(self, x: Array) -> Array:
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

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return self.support

    def cumulant(self, tilts: Array) -> Array:
        return laplace_cumulant(self.m, tilts)

    def spread(self, tilts: Array) -> tuple[Array, Array]:
        return laplace_spread(self.m, tilts)

    def tilted(self, tilt: float) -> TiltedLaplace | None:
        return TiltedLaplace(self.m, tilt) if tilt > 0 else None

    def log_moment(self, power: float) -> float:
        return float(self.as_law().log_moment(np.asarray(power))) if power not in (0.0, 1.0) else 0.0

    def kl_bound(self) -> float:
        return self.m + math.expm1(-self.m)

    def psi(self) -> float:
        return float(self.as_law().psi())

    @property
    def noise(self) -> StepNoise:
        return StepNoise(NoiseKind.LAPLACE, self.m)

    def as_law(self) -> Laplace:
        return Laplace(np.asarray(self.m))

    scales_by_group = True

    def group(self, size: int) -> LaplaceStep:
        return LaplaceStep(self.m * size)


@dataclass(frozen=True)
class LaplaceReplacementStep(QuadratureStep):
    """Poisson sampling, replace, of Laplace noise: (1−q)Lap(0) + qLap(−m) against (1−q)Lap(0) + qLap(m).

    The argument of :class:`.normal.NormalReplaced` holds: a larger shift dominates, and both ratios fall with x.
    """

    m: float
    rate: float

    symmetric = True

    @property
    def support(self) -> tuple[float, float]:
        return (-self.m, self.m)

    @property
    def knots(self) -> tuple[float, ...]:
        return (0.0,)

    @property
    def _floor(self) -> float:
        """log(1 − q + q·e^{−m})."""
        return float(mix(np.asarray(-self.m), self.rate))

    @property
    def loss_range(self) -> tuple[float, float]:
        """±log((1−q+q·e^m)/(1−q+q·e^{−m}))."""
        top = float(mix(np.asarray(self.m), self.rate)) - self._floor
        return (-top, top)

    @property
    def atoms(self) -> Atoms:
        """The half lines beyond ±m."""
        top = self.loss_range[1]
        # right of m, H1 has ½((1−q)e^{−m} + q) = ½e^{−m}(1−q+q·e^m), and H0 mirrors it
        log_h1 = -_LOG2 - self.m + float(mix(np.asarray(self.m), self.rate))
        return Atoms(np.array([-top, top]), np.array([log_h1 - top, log_h1]))

    def loss(self, x: Array) -> Array:
        """Odd; log(1−q+q·e^{2x−m}) − log(1−q+q·e^{−m}) for x ≥ 0."""
        x = np.asarray(x, dtype=float)
        return np.asarray(np.sign(x) * np.maximum(mix(2 * np.abs(x) - self.m, self.rate) - self._floor, 0.0))

    def slope(self, x: Array) -> Array:
        """2·q·e^{u}/(1−q+q·e^u) at u = 2|x| − m."""
        u = 2 * np.abs(np.asarray(x, dtype=float)) - self.m
        return np.asarray(2 * np.exp(np.minimum(math.log(self.rate) + u - mix(u, self.rate), 0.0)))

    def inverse_loss(self, loss: Array) -> Array:
        loss = np.asarray(loss, dtype=float)
        x = (unmix(np.abs(loss) + self._floor, self.rate) + self.m) / 2
        return np.asarray(np.sign(loss) * np.clip(x, 0.0, self.m))

    def log_p0(self, x: Array) -> Array:
        """½((1−q)e^{−|x|} + q·e^{−|x+m|})."""
        x = np.asarray(x, dtype=float)
        return np.asarray(-_LOG2 - np.abs(x) + mix(np.abs(x) - np.abs(x + self.m), self.rate))

    def roughness(self, x: Array) -> Array:
        return np.full(np.shape(x), 3.0)

    def error(self, x: Array) -> Array:
        down = abs(self._floor)
        return np.asarray(16 * _U * (np.abs(self.loss(x)) + 2 * down + math.expm1(min(down, 700.0)) + self.m * 4))

    def above(self, x: float) -> tuple[float, float]:
        """∫_x^m of each density, in logarithms, as a sum of positive parts."""
        x = min(max(x, -self.m), self.m)
        if x == self.m:
            return (-math.inf, -math.inf)
        gone = math.log(-math.expm1(x - self.m))
        stays = gone - x if x >= 0 else math.log(-math.expm1(x) - math.expm1(-self.m))
        rest = math.log1p(-self.rate) + stays if self.rate < 1 else -math.inf
        drawn = math.log(self.rate) + gone
        with_, without = (float(np.logaddexp(rest, part)) - _LOG2 for part in (drawn, drawn - self.m - x))
        return with_, without

    def below(self, x: float) -> tuple[float, float]:
        with_, without = self.above(-x)
        return without, with_

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return self.support

    def psi(self) -> float:
        """That of all records drawn, 2m apart."""
        return float(Laplace(np.asarray(2 * self.m)).psi())

    @property
    def turning_points(self) -> tuple[float, ...]:
        """Where the part that was drawn outgrows the rest, on either side."""
        turn = (log_odds_against(self.rate) + self.m) / 2
        return (turn, -turn)

    @property
    def noise(self) -> StepNoise:
        return StepNoise(NoiseKind.LAPLACE, self.m, self.rate, Relation.REPLACE)

    def group(self, size: int) -> Step:
        raise unknown_group("replace")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyMax(Laplace):
    """With exponential noise one is the exact worst case over all scores; several only bound what several tell."""

    family: ClassVar[Family] = Family.NONE

    pointwise = True  # Each point is reached by scores of its own

    def steps(self) -> tuple[CountedStep, ...]:
        return ((NoisyMaxStep(float(self.m)), 1),)


@dataclass(frozen=True)
class NoisyMaxStep(LaplaceStep):
    """A Laplace step that dominates a selection; its noise is not that of an answer."""

    family: ClassVar[Family] = Family.NONE

    @property
    def known(self) -> Exactness:
        """Each selection has some scores that are its worst case; no scores are the worst case of all at once."""
        return Exactness.BOUND

    @property
    def noise(self) -> None:  # type: ignore[override]
        return

    def as_law(self) -> NoisyMax:
        return NoisyMax(np.asarray(self.m))

    def group(self, size: int) -> NoisyMaxStep:
        return NoisyMaxStep(self.m * size)
