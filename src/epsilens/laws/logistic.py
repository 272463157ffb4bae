"""Logistic(0) against Logistic(ε): what the exponential mechanism tells at most, as a law and as a step.

logit TPR = logit FPR + ε, and all of the law is closed form. Theorem D35 of docs/proofs/dominating-pairs.md says why.
With q = e^{−ε}, and s = e^{−(ε−u)/2} at a threshold u in [−ε, ε]:

    TPR(α) = α/(α + q(1−α)),      h(e^u) = (1−s)²/(1−q),      E(a) = ∫dH1^a dH0^{1−a} = sinhc((a−½)ε)/sinhc(ε/2),

sinhc(z) = sinh(z)/z: the loss itself has density e^{L/2}/(4·sinh(ε/2)) on [−ε, ε] under H1, and no atoms.

No scores have all of this curve. What adds up all of a curve, divergences and the area under it, is largest over all
scores where the loss has two values ε apart, as r ↦ r^a is convex (concave for a in [0, 1]) and the two laws have the
same mass: with p the H0-mass of the larger, E(a) = (1 + p(e^{aε}−1))/(1 + p(e^ε−1))^a. At its best p, for a ≥ ½,

    log E(a) = a·log sinhc(aε/2) − (a−1)·log sinhc((a−1)ε/2) − log sinhc(ε/2),

whose slope at 1 is the largest KL, log sinhc(ε/2) + (ε/2)coth(ε/2) − 1 (Cesar & Rogers 2021), and E(1−a) = E(a) by
exchanging the laws. The area is (1 + advantage)/2 = (1 + tanh(ε/4))/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit, ndtri_exp

from ..checks import Array
from ..numerics.special import expm1mx, half_normal_quantile, sinhcm1
from ..readings.guesses import fbeta_floor
from ..readings.law import Exactness
from .composition.quadrature import QuadratureStep
from .composition.step import Composable, CountedStep

_U = 2.0**-53
_FAR = 700.0  # beyond, e^{−ε} is no double
_X, _W = np.polynomial.legendre.leggauss(16)


def _langevin(z: Array) -> Array:
    """coth z − 1/z for z ≥ 0, the slope of log sinhc: by its continued fraction z/(3 + z²/(5 + …)) where z is small."""
    z = np.asarray(z, dtype=float)
    near = np.minimum(z, 2.0)
    square, fraction = near * near, np.full(z.shape, 39.0)
    for odd in np.arange(37.0, 2.0, -2.0):
        fraction = odd + square / fraction
    far = np.maximum(z, 2.0)
    return np.where(z < 2, near / fraction, 1 / np.tanh(far) - 1 / far)


def _log_sinhc(z: Array) -> Array:
    far = np.maximum(z, 20.0)
    return np.where(z < 20, np.log1p(sinhcm1(np.minimum(z, 20.0))), far - np.log(2 * far))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Logistic(Composable):
    """Logistic(0, 1) under H0, Logistic(ε, 1) under H1, ε > 0.

    At each point it is the worst case over all scores; several together only bound what several selections tell.
    """

    loss_given = True

    epsilon: float
    known: Exactness = field(default=Exactness.EXACT, kw_only=True)

    def steps(self) -> tuple[CountedStep, ...]:
        return ((LogisticStep(self.epsilon), 1),)

    symmetric = True

    def reverse(self) -> Logistic:
        return self

    @property
    def _q(self) -> float:
        return math.exp(-self.epsilon)

    @property
    def _rest(self) -> float:
        return -math.expm1(-self.epsilon)

    def tradeoff(self, alpha: Array) -> Array:
        """q(1−α)/(α + q(1−α))."""
        if self.epsilon > _FAR:
            return np.asarray(expit(-self.epsilon - logit(alpha)))
        miss = self._q * (1 - alpha)
        return np.asarray(miss / (alpha + miss))

    def roc(self, alpha: Array) -> Array:
        """α/(α + q(1−α))."""
        if self.epsilon > _FAR:
            return np.asarray(expit(logit(alpha) + self.epsilon))
        return np.asarray(alpha / (alpha + self._q * (1 - alpha)))

    def inverse_roc(self, recall: Array) -> Array:
        """qR/(qR + 1 − R)."""
        if self.epsilon > _FAR:
            return np.asarray(expit(logit(recall) - self.epsilon))
        hit = self._q * recall
        return np.asarray(hit / (hit + (1 - recall)))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """α = e^{−(ε+u)/2}(1−s)/(1−q), recall (1−s)/(1−q)."""
        u, e = np.asarray(log_threshold, dtype=float), self.epsilon
        v = np.clip(u, -e, e)
        recall = -np.expm1(-(e - v) / 2) / self._rest
        alpha = np.exp(-(e + v) / 2) * recall
        return np.where(u < -e, 1.0, np.minimum(alpha, 1.0)), np.where(u < -e, 1.0, np.minimum(recall, 1.0))

    def profile(self, log_threshold: Array) -> Array:
        """(1−s)²/(1−q) for |u| ≤ ε; 0 above; 1 − e^u below."""
        u, e = np.asarray(log_threshold, dtype=float), self.epsilon
        inside = np.expm1(-(e - np.clip(u, -e, e)) / 2) ** 2 / self._rest
        return np.asarray(np.where(u < -e, -np.expm1(np.minimum(u, 0.0)), inside))

    def profile_inverse(self, delta: Array) -> Array:
        """ε + 2·log(1 − √(δ(1−q))), at least 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(self.epsilon + 2 * np.log1p(-np.sqrt(delta * self._rest)), 0.0))

    def max_llr(self) -> Array:
        return np.asarray(self.epsilon)

    def log_moment(self, a: Array) -> Array:
        """log sinhc(|a−½|ε) − log sinhc(ε/2), by the slope between the two where they are near each other."""
        a = np.asarray(a, dtype=float)
        start, way = self.epsilon / 2, np.where(a < 0.5, -a, a - 1) * self.epsilon  # |a−½|ε − ε/2, not rounded twice
        short = np.clip(way, -1.0, 1.0)
        z = np.maximum(start + short[..., None] * (1 + _X) / 2, 0.0)
        near = (_langevin(z) * _W).sum(-1) * short / 2
        far = _log_sinhc(np.maximum(start + way, 0.0)) - _log_sinhc(np.asarray(start))
        return np.where(np.abs(way) <= 1, near, far)

    def kl(self) -> Array:
        return np.asarray(self.epsilon * _langevin(np.asarray(self.epsilon / 2)))

    def auc(self) -> Array:
        """(1 − q − εq)/(1 − q)²."""
        e = self.epsilon
        above = self._q * float(expm1mx(np.asarray(min(e, 1.0)))) if e < 1 else self._rest - e * self._q
        return np.asarray(above / self._rest**2)

    def psi(self) -> Array:
        """2Φ⁻¹(1/(1+e^{−ε/2})): y ↦ Φ⁻¹(1/(1+e^{−y})) is odd and concave beyond 0, so the widest gap over a distance ε
        lies about 0.
        """
        if self.epsilon < 4:
            return np.asarray(2 * half_normal_quantile(np.tanh(np.asarray(self.epsilon / 4))))
        return np.asarray(-2 * ndtri_exp(-np.logaddexp(0.0, self.epsilon / 2)))

    def practical(self, level: float) -> Array:
        """ψ at every level: it is reached where both errors are the same."""
        return self.psi()

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """(1+β²)/(1 + (√(qc) + β√(1−q))²) once c ≥ β²/(e^ε−1): from (1+β²−F)·h(F·c/(1+β²−F)) = F·β².

        Below, flagging everyone is best.
        """
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            b2 = beta * beta
            size = (math.exp(-self.epsilon / 2) * np.sqrt(odds) + beta * math.sqrt(self._rest)) ** 2
            value = (1 + b2) / (1 + size)
            turned = np.log(odds) >= np.log(b2) - self.epsilon - math.log(self._rest)
        return np.asarray(np.where(turned & np.isfinite(odds), value, fbeta_floor(beta, odds)))


def _rise(low: Array, way: Array) -> Array:
    """log sinhc(low + way) − log sinhc(low) for low, way ≥ 0, to the digits of ``way``."""
    short = np.minimum(way, 1.0)
    z = low[..., None] + short[..., None] * (1 + _X) / 2
    near = (_langevin(z) * _W).sum(-1) * short / 2
    base = np.maximum(low, 1.0)
    # e^{−2z} is little beyond 1, so that nothing cancels: sinhc z = e^z(1 − e^{−2z})/2z
    tails = np.log1p(-np.exp(-2 * (base + way))) - np.log1p(-np.exp(-2 * base))
    far = np.where(low < 1, _log_sinhc(low + way) - _log_sinhc(low), way - np.log1p(way / base) + tails)
    return np.where(way <= 1, near, far)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundedRange(Logistic):
    """All pairs whose loss lies in an interval of length ε: each reading is the largest over them, and some have it."""

    def log_moment(self, a: Array) -> Array:
        """(a−1)·(log sinhc(aε/2) − log sinhc(|a−1|ε/2)) + log sinhc(aε/2) − log sinhc(ε/2), terms of one sign."""
        a = np.asarray(a, dtype=float)
        half = self.epsilon / 2
        b = np.where(a < 0.5, -a, a - 1)  # of the larger of a and 1 − a, less 1
        above = np.maximum(b, 0.0)
        grown = b * _rise(np.abs(b) * half, np.where(b < 0, 1 + 2 * b, 1.0) * half)
        low = np.where(b < 0, 1 + b, 1.0) * half
        return np.asarray(grown + np.where(b < 0, -1.0, 1.0) * _rise(low, np.where(b < 0, -b, above) * half))

    def kl(self) -> Array:
        """log sinhc(ε/2) + (ε/2)·(coth(ε/2) − 2/ε)."""
        z = np.asarray(self.epsilon / 2)
        return np.asarray(_rise(np.zeros(()), z) + z * _langevin(z))

    def auc(self) -> Array:
        return np.asarray(expit(self.epsilon / 2))


@dataclass(frozen=True)
class LogisticStep(QuadratureStep):
    """The same as a step, told by its loss: density e^{−L/2}/(4·sinh(ε/2)) on [−ε, ε] under H0."""

    epsilon: float

    symmetric = True

    @property
    def support(self) -> tuple[float, float]:
        return (-self.epsilon, self.epsilon)

    known = Exactness.BOUND  # each selection has scores that are its worst case; none are that of all at once

    @property
    def claimed_zcdp(self) -> float:
        """ε²/8: a loss within an interval of length ε (Cesar & Rogers 2021)."""
        return self.epsilon**2 / 8

    def loss(self, x: Array) -> Array:
        return np.asarray(x, dtype=float)

    def slope(self, x: Array) -> Array:
        return np.ones(np.shape(x))

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(np.clip(loss, -self.epsilon, self.epsilon))

    def log_p0(self, x: Array) -> Array:
        """−L/2 − log(4·sinh(ε/2)) = −(L+ε)/2 − log 2(1−q)."""
        return np.asarray(-(x + self.epsilon) / 2 - math.log(-2 * math.expm1(-self.epsilon)))

    def roughness(self, x: Array) -> Array:
        return np.ones(np.shape(x))

    def error(self, x: Array) -> Array:
        return np.full(np.shape(x), 2 * _U * self.epsilon)

    def above(self, x: float) -> tuple[float, float]:
        return self._mass(x, self.epsilon)

    def below(self, x: float) -> tuple[float, float]:
        return self._mass(-self.epsilon, x)

    def _mass(self, low: float, high: float) -> tuple[float, float]:
        """(e^{high/2} − e^{low/2})/(2·sinh(ε/2)) under H1, and with the signs changed under H0."""
        low, high = max(low, -self.epsilon), min(high, self.epsilon)
        if high <= low:
            return -math.inf, -math.inf
        between = math.log(-math.expm1((low - high) / 2)) - math.log(-math.expm1(-self.epsilon)) - self.epsilon / 2
        return between + high / 2, between - low / 2

    def log_moment(self, power: float) -> float:
        return float(Logistic(self.epsilon).log_moment(np.asarray(power))) if power not in (0.0, 1.0) else 0.0

    def kl(self) -> float:
        return float(Logistic(self.epsilon).kl())

    reverse_kl = kl_bound = kl

    def psi(self) -> float:
        return float(self.as_law().psi())

    def as_law(self) -> BoundedRange:
        return BoundedRange(self.epsilon)

    scales_by_group = True  # Further: scores move k times as far

    def group(self, size: int) -> LogisticStep:
        return LogisticStep(self.epsilon * size)
