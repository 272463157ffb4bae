"""N(0, 1) against N(μ, 1): the shift of a normal, paper 002's sensitivity index ψ = μ.

f(α) = Φ(Φ⁻¹(1−α) − μ). Everything else is closed form except ε(δ) and Fβ*, which are one monotone root each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf, log_ndtr, ndtr, ndtri

from ...checks import Array
from ...numerics.roots import root
from ...numerics.special import half_normal_quantile, mills, mills_drop
from ...readings.precision_recall import fbeta_by_thresholds

__all__ = ["Normal", "normal_delta", "psi_for_delta"]

_SQRT_2PI = np.sqrt(2 * np.pi)
_SQRT8 = np.sqrt(8.0)


def normal_delta(epsilon: Array, mu: Array) -> Array:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) for ε ≥ 0 (paper 002, Corollary 13), without its cancellation.

    With y = ε/μ − μ/2 both terms carry the factor φ(y), because the likelihood ratio at the threshold is e^ε:
    δ = φ(y)·(M(y) − M(y+μ)), M Mills' ratio. For μ ≤ 1 the drop of M is integrated from its positive slope;
    left of 0, where M would overflow, Φ(−y) stands alone.

    >>> float(normal_delta(np.asarray(1.0), np.asarray(1.0)))
    0.12693673750...
    """
    epsilon, mu = np.broadcast_arrays(np.asarray(epsilon, dtype=float), np.asarray(mu, dtype=float))
    if not epsilon.any():  # δ(0) = 2Φ(μ/2) − 1, the advantage
        return np.asarray(erf(mu / _SQRT8))
    shape = epsilon.shape
    epsilon, mu = epsilon.ravel(), mu.ravel()
    out = np.zeros(epsilon.shape)
    ok = (mu > 0) & np.isfinite(epsilon)
    e, m = epsilon[ok], mu[ok]
    y = e / m - m / 2
    square = np.minimum(np.abs(y), 40.0) ** 2 / 2  # e^{−800} is 0 in doubles, and y² may overflow
    phi = np.exp(-square) / _SQRT_2PI
    value = np.empty(e.shape)
    narrow = m <= 1
    value[narrow] = phi[narrow] * mills_drop(y[narrow], m[narrow])
    right = ~narrow & (y >= 0)
    value[right] = phi[right] * (mills(y[right]) - mills((y + m)[right]))
    left = ~narrow & (y < 0)
    value[left] = ndtr(-y[left]) - np.exp(e[left] + log_ndtr(-(y + m)[left]))
    out[ok] = np.where(square > 760, np.where(y > 0, 0.0, value), value)
    return out.reshape(shape)


def psi_for_delta(epsilon: float, delta: float) -> float:
    """The largest ψ with δ(ε) ≤ δ: the analytic calibration (Balle & Wang 2018), rounded down.

    The tail bound δ(ε) ≤ Φ(ψ/2 − ε/ψ) gives a ψ that is surely small enough; the search starts there.
    """
    if epsilon < 1e-300:  # as at 0, which is on the safe side: δ falls with ε
        psi = 2 * float(half_normal_quantile(np.asarray(delta)))  # δ(0) = 2Φ(ψ/2) − 1
    else:
        z = float(ndtri(delta))
        s = np.sqrt(z * z + 2 * epsilon)
        low = float(2 * epsilon / (s - z)) if z < 0 else float(z + s)
        high = 2 * low
        while normal_delta(np.asarray(epsilon), np.asarray(high)) < delta:
            high *= 2
            if high > 1e6:
                break
        target = np.log(delta)

        def excess(log_psi: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(normal_delta(np.asarray(epsilon), np.exp(log_psi))) - target)

        psi = float(np.exp(root(excess, np.asarray(np.log(low) - 1e-9), np.asarray(np.log(high)))))
    step = 2.0**-52
    while psi > 0 and normal_delta(np.asarray(epsilon), np.asarray(psi)) > delta:
        psi *= 1 - step
        step *= 2
    return psi


@dataclass(frozen=True, slots=True)
class Normal:
    """N(0,1) under H0, N(μ,1) under H1, μ ≥ 0 (a number or an array of them)."""

    mu: Array

    @property
    def symmetric(self) -> bool:
        """T(H0,H1) = T(H1,H0)."""
        return True

    @property
    def direction(self) -> str:
        """Closed form."""
        return "exact"

    def reverse(self) -> Normal:
        """Mirror image: the same curve."""
        return self

    def tradeoff(self, alpha: Array) -> Array:
        """Φ(−Φ⁻¹(α) − μ): −Φ⁻¹(α), not Φ⁻¹(1−α), so that α = 1e-300 keeps its digits."""
        return np.asarray(ndtr(-ndtri(alpha) - self.mu))

    def roc(self, alpha: Array) -> Array:
        """Φ(Φ⁻¹(α) + μ)."""
        return np.asarray(ndtr(ndtri(alpha) + self.mu))

    def inverse_roc(self, recall: Array) -> Array:
        """Φ(Φ⁻¹(R) − μ)."""
        return np.asarray(ndtr(ndtri(recall) - self.mu))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """llr = μx − μ²/2 > u ⇔ x > u/μ + μ/2."""
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(self.mu > 0, log_threshold / self.mu, np.where(log_threshold < 0, -np.inf, np.inf))
        return np.asarray(ndtr(-x - self.mu / 2)), np.asarray(ndtr(-x + self.mu / 2))

    def profile(self, log_threshold: Array) -> Array:
        """h(e^u) = δ(u) for u ≥ 0; below, h(t) = 1 − t + t·h(1/t) by symmetry, a sum of positive terms."""
        u = np.asarray(log_threshold, dtype=float)
        forward = normal_delta(np.abs(u), self.mu)
        with np.errstate(over="ignore", invalid="ignore"):
            below = -np.expm1(u) + np.exp(u) * forward
        return np.asarray(np.where(u >= 0, forward, below))

    def profile_inverse(self, delta: Array) -> Array:
        """The root of δ(ε) = δ below the tail bound ε ≤ μ²/2 + μ·Φ⁻¹(1−δ), rounded up."""
        delta, mu = np.broadcast_arrays(np.asarray(delta, dtype=float), np.asarray(self.mu, dtype=float))
        zero = normal_delta(np.zeros(delta.shape), mu) <= delta
        inside = ~zero & (delta > 0)
        d, m = np.where(inside, delta, 0.1), np.where(inside, mu, 1.0)
        target = np.log(d)

        def excess(epsilon: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(normal_delta(epsilon, m)) - target)

        high = np.maximum(m * (m / 2 - ndtri(d)), 0.0) * (1 + 1e-12) + 1e-300
        value = root(excess, np.zeros(delta.shape), high)
        step = 2.0**-52
        for _ in range(30):  # a privacy loss rounds up
            over = normal_delta(value, m) > d
            if not over.any():
                break
            value = np.where(over, value * (1 + step), value)
            step *= 2
        return np.asarray(np.where(zero, 0.0, np.where(delta > 0, value, np.inf)))

    def max_llr(self) -> Array:
        """Unbounded for any shift."""
        return np.asarray(np.where(self.mu > 0, np.inf, 0.0))

    def log_moment(self, a: Array) -> Array:
        """a(a−1)μ²/2."""
        return np.asarray(a * (a - 1) * self.mu**2 / 2)

    def kl(self) -> Array:
        """μ²/2."""
        return np.asarray(self.mu**2 / 2)

    def auc(self) -> Array:
        """Φ(μ/√2) (paper 002, Lemma 3)."""
        return np.asarray(ndtr(self.mu / np.sqrt(2.0)))

    def psi(self) -> Array:
        """μ itself."""
        return np.asarray(self.mu)

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """No closed form: thresholds."""
        return fbeta_by_thresholds(self, beta, odds)
