"""N(0, b²) + Lap(0, 1), shifted by d: Laplace noise about normal data (paper 004, Lemma 2), in units of the noise.

The law is symmetric and log-concave, so the likelihood ratio of a shift is monotone, "x > c" is optimal at every level
and the even-prior threshold is half the shift. Densities and tails are sums of positive terms: with t = x/b ≥ 0 and M
Mills' ratio, pdf = φ(t)(M(b+t) + M(b−t))/2 and sf = φ(t)(M(t) − ½M(b+t) + ½M(b−t)); where t > b, M(b−t) is written as
e^{b²/2−x}·Φ(t−b)/φ(t), which cannot overflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import expm1, log_ndtr

from ...checks import Array
from ...numerics.roots import root
from ...numerics.special import expm1mx, mills, moment_less_one
from ...readings.law import Known
from ...readings.precision_recall import fbeta_by_thresholds
from ...readings.tradeoff import psi_by_tangents
from .mirrored import Mirrored

__all__ = ["NormalLaplaceShift"]

_LOG2 = math.log(2.0)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_X, _W = np.polynomial.legendre.leggauss(20)
#: Relative rounding of the masses, added to what the adversary reaches.
ERROR = 2e-14


def _sides(x: Array, b: Array) -> tuple[Array, Array, Array]:
    """At |x|: log φ(t), log of the near exponential side e^{b²/2−x}Φ(t−b), and log of the far one e^{b²/2+x}Φ(−t−b)."""
    z = np.abs(x)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        t = z / b
        phi = -0.5 * t * t - _HALF_LOG_2PI
        over = t > b
        beyond = b * b / 2 - z + log_ndtr(np.where(over, t - b, 0.0))
        near = np.where(over, beyond, phi + np.log(mills(np.where(over, 0.0, b - t))))
        far = phi + np.log(mills(b + t))
    return phi, near, far


def _log_pdf(x: Array, b: Array) -> Array:
    _, near, far = _sides(x, b)
    return np.asarray(np.logaddexp(near, far) - _LOG2)


def _slope(x: Array, b: Array) -> Array:
    """−d log pdf/dx, rising from −1 to 1: (near − far)/(near + far), odd in x."""
    _, near, far = _sides(x, b)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sign(x) * np.tanh(np.minimum((near - far) / 2, 400.0)))


def _log_tail(x: Array, b: Array) -> Array:
    """log P(X > |x|)."""
    phi, near, _ = _sides(x, b)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        t = np.abs(x) / b
        normal = phi + np.log(mills(t) - 0.5 * mills(b + t))
    return np.asarray(np.logaddexp(normal, near - _LOG2))


def _sf(x: Array, b: Array) -> Array:
    tail = np.exp(_log_tail(np.where(np.isfinite(x), x, 0.0), b))
    inside = np.where(x >= 0, tail, 1 - tail)
    return np.where(np.isposinf(x), 0.0, np.where(np.isneginf(x), 1.0, inside))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalLaplaceShift(Mirrored):
    """N(0, b²) + Lap(0, 1) under H0, the same plus d ≥ 0 under H1; b > 0 and d are numbers or arrays."""

    error: ClassVar[float] = ERROR

    b: Array
    d: Array
    known: Known = field(default=Known.ROUNDED, kw_only=True)

    def _sf(self, x: Array) -> Array:
        return _sf(x, self.b)

    def _isf(self, p: Array) -> Array:
        """The x with P(X > x) = p: one root of the log tail, below max(b√(8L), 2L) with L = −log p."""
        p, b = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(self.b, dtype=float))
        small = np.clip(np.minimum(p, 1 - p), 1e-310, 0.5)
        goal = np.log(small)
        high = np.maximum(b * np.sqrt(-8 * goal), -2 * goal) + 1e-300
        x = root(lambda v: _log_tail(v, b) - goal, np.zeros(small.shape), high)
        x = np.where(small == 0.5, 0.0, np.maximum(x, 0.0))
        return np.where(p <= 0, np.inf, np.where(p >= 1, -np.inf, np.where(p > 0.5, -x, x)))

    def _llr(self, x: Array) -> Array:
        """log pdf(x−d) − log pdf(x); for a narrow shift the integral of the slope, which does not cancel."""
        x, b, d = np.broadcast_arrays(np.asarray(x, dtype=float), self.b, self.d)
        direct = _log_pdf(x - d, b) - _log_pdf(x, b)
        narrow = d < 0.5 * np.minimum(b, 1.0)
        if not narrow.any():
            return np.asarray(direct)
        nodes = x[..., None] - d[..., None] * (1 + _X) / 2
        total = (_slope(nodes, b[..., None]) * _W).sum(-1) * d / 2
        return np.asarray(np.where(narrow, total, direct))

    def _threshold(self, u: Array) -> Array:
        """The c at which llr(c) = u: half the shift for u = 0, mirrored for u < 0, infinite beyond the bound d."""
        u, b, d = np.broadcast_arrays(np.asarray(u, dtype=float), self.b, self.d)
        if not u.any():
            return np.asarray(d / 2)
        law = NormalLaplaceShift(b, d)
        size = np.abs(u)
        inside = size < d
        goal = np.where(inside, size, 0.0)
        high = d + b + 1.0
        for _ in range(60):
            short = inside & (law._llr(high) < goal)
            if not short.any():
                break
            high = np.where(short, 2 * high, high)
        c = root(lambda x: law._llr(x) - goal, d / 2, high)
        c = np.where(inside & ~(inside & (law._llr(high) < goal)), c, np.inf)
        return np.where(u >= 0, c, d - c)

    def profile(self, log_threshold: Array) -> Array:
        """recall − t·α, plus its rounding; at t = 1 the mass within ±d/2."""
        u = np.asarray(log_threshold, dtype=float)
        if not u.any():
            return np.asarray(self._central() + np.zeros(u.shape))
        alpha, recall = self.at(u)
        with np.errstate(over="ignore", invalid="ignore"):
            t = np.where(alpha > 0, np.exp(u), 0.0)
            above = recall - t * alpha
            below = -np.expm1(u) + (np.exp(u) * (1 - alpha) - (1 - recall))
            value = np.where(u < 0, below, above) + ERROR * (recall + t * alpha)
        # 1 − e^u is reached by flagging everything, and is all there is below the bound
        return np.where(recall > 0, np.clip(value, np.maximum(-expm1(u), 0.0), 1.0), 0.0)

    def _central(self) -> Array:
        """P(|X| ≤ d/2): by quadrature of the density where it is small, so that no digit is lost."""
        b, d = np.broadcast_arrays(np.asarray(self.b, dtype=float), np.asarray(self.d, dtype=float))
        direct = 1 - 2 * _sf(d / 2, b)
        narrow = d < np.minimum(b, 1.0)
        nodes = d[..., None] * (1 + _X) / 4
        inside = (np.exp(_log_pdf(nodes, b[..., None])) * _W).sum(-1) * d / 2
        return np.asarray(np.where(narrow, inside, np.minimum(direct + ERROR, 1.0)))

    def max_llr(self) -> Array:
        """d, approached far out."""
        return np.asarray(self.d + 0.0 * np.asarray(self.b))

    def _nodes(self, b: float, d: float) -> tuple[Array, Array]:
        """Gauss–Legendre nodes and weights: panels of half a width about 0 and d, in units of b and of the noise."""
        steps = np.concatenate((np.arange(0.0, 12.0, 0.5), np.arange(12.0, 61.0, 1.0)))
        width = np.concatenate((b * steps[steps <= 40], steps))
        edges = np.unique(np.concatenate([c + s * width for c in (0.0, d) for s in (-1, 1)] + [[d / 2]]))
        half = np.diff(edges)[:, None] / 2
        return (edges[:-1, None] + half * (1 + _X)).ravel(), (half * _W).ravel()

    def _each(self, read: object, *more: Array) -> Array:
        """One number per pair (b, d): quadratures are not vectorised over laws."""
        assert callable(read)
        b, d, *rest = np.broadcast_arrays(self.b, self.d, *more)
        out = np.empty(d.shape)
        for i in np.ndindex(d.shape):
            out[i] = read(float(b[i]), float(d[i]), *(float(r[i]) for r in rest))
        return out

    def log_moment(self, a: Array) -> Array:
        """By quadrature, to about 1e-13."""

        def one(b: float, d: float, power: float) -> float:
            x, w = self._nodes(b, d)
            law = NormalLaplaceShift(np.asarray(b), np.asarray(d))
            log_p, u = _log_pdf(x, np.asarray(b)), law._llr(x)
            p0 = w * np.exp(log_p)
            less_one = moment_less_one(p0, w * np.exp(log_p + u), u, power)
            if abs(less_one) < 0.5:
                return math.log1p(less_one)
            top = np.max(log_p + power * u)
            return float(top + np.log(np.sum(w * np.exp(log_p + power * u - top))))

        return self._each(one, np.asarray(a, dtype=float))

    def kl(self) -> Array:
        """By quadrature of the positive integrand p0·(e^l − 1 − l)."""

        def one(b: float, d: float) -> float:
            x, w = self._nodes(b, d)
            u = NormalLaplaceShift(np.asarray(b), np.asarray(d))._llr(x)
            p0 = np.exp(_log_pdf(x, np.asarray(b)))
            grown = np.where(u < 30, expm1mx(np.minimum(u, 30.0)) * p0, np.exp(np.log(p0 + 1e-320) + u) - p0 * (1 + u))
            return float(np.sum(w * grown))

        return self._each(one)

    def auc(self) -> Array:
        """½ + ∫ p0·P(x−d < X ≤ x), by quadrature."""

        def one(b: float, d: float) -> float:
            x, w = self._nodes(b, d)
            total = float(np.sum(w * np.exp(_log_pdf(x, np.asarray(b))) * _sf(x - d, np.asarray(b))))
            return min(total * (1 + ERROR), 1.0) if d > 0 else 0.5

        return self._each(one)

    def psi(self) -> Array:
        """By tangents."""

        def one(b: float, d: float) -> float:
            law = NormalLaplaceShift(np.asarray(b), np.asarray(d))
            return float(psi_by_tangents(law, np.linspace(-d, d, 129))) if d > 0 else 0.0

        return self._each(one)

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """Thresholds, rounded up."""
        return fbeta_by_thresholds(self, beta, odds, error=ERROR)
