"""The sum of q independent Laplace laws, shifted: what a differencing attack on q noisy answers sees (paper 001).

In units of the common scale the density is e^{−|x|}·P(|x|) and the tail e^{−x}·T(x), polynomials of degree q − 1:
q = 2 gives (1+x)/4 and (2+x)/4. The density is log-concave, so the likelihood ratio of a shift is monotone and "x >
c" is optimal at every level; by symmetry the even-prior threshold is half the shift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import lambertw

from ...checks import Array
from ...numerics.roots import integrate, root
from ...readings.law import Known
from ...readings.precision_recall import fbeta_by_thresholds
from ...readings.tradeoff import psi_by_tangents
from .mirrored import Mirrored

__all__ = ["LaplaceSumShift", "log_tail"]

_LOG2 = math.log(2.0)
#: Relative rounding of the masses, added to what the adversary reaches.
ERROR = 4e-15


@lru_cache(maxsize=64)
def _polynomials(q: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients, highest power first, of P (density) and T (tail) in e^{−x}P(x) and e^{−x}T(x)."""
    density = [math.factorial(q - 1 + k) / (math.factorial(k) * math.factorial(q - 1 - k) * 2**k) for k in range(q)]
    norm = math.factorial(q - 1) * 2**q
    p = [c / norm for c in density]
    # T − T' = P, solved from the highest power down: all coefficients positive
    t: list[float] = []
    for i, c in enumerate(p):
        power = q - 1 - i
        t.append(c + (t[-1] * (power + 1) if t else 0.0))
    return tuple(p), tuple(t)


def log_tail(q: int, x: Array) -> Array:
    """log P(S > x) for x ≥ 0, S the sum of q standard Laplace variables."""
    x = np.asarray(x, dtype=float)
    return np.asarray(np.log(np.polyval(_polynomials(q)[1], x)) - x)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LaplaceSumShift(Mirrored):
    """Sum of q standard Laplaces under H0, the same plus d ≥ 0 under H1 (d a number or an array)."""

    error: ClassVar[float] = ERROR

    q: int
    d: Array
    known: Known = field(default=Known.ROUNDED, kw_only=True)

    def _log_pdf(self, x: Array) -> Array:
        z = np.abs(x)
        return np.asarray(np.log(np.polyval(_polynomials(self.q)[0], z)) - z)

    def _sf(self, x: Array) -> Array:
        tail = np.exp(log_tail(self.q, np.abs(np.where(np.isfinite(x), x, 0.0))))
        inside = np.where(x >= 0, tail, 1 - tail)
        return np.where(np.isposinf(x), 0.0, np.where(np.isneginf(x), 1.0, inside))

    def _isf(self, p: Array) -> Array:
        """The x with P(S > x) = p; for q = 2, −2 − W₋₁(−4p·e^{−2})."""
        p = np.asarray(p, dtype=float)
        small = np.clip(np.minimum(p, 1 - p), 1e-310, 0.5)
        if self.q == 2:
            x = -2 - np.real(lambertw(-4 * small * math.exp(-2), -1))
        else:
            goal = np.log(small)
            x = root(lambda v: log_tail(self.q, v) - goal, np.zeros(small.shape), 4 * self.q - 4 * goal)
        x = np.maximum(x, 0.0)
        return np.where(p <= 0, np.inf, np.where(p >= 1, -np.inf, np.where(p > 0.5, -x, x)))

    def _threshold(self, u: Array) -> Array:
        """The c at which llr(c) = u: half the shift for u = 0, mirrored for u < 0, infinite beyond the bound d."""
        u, d = np.broadcast_arrays(np.asarray(u, dtype=float), np.asarray(self.d, dtype=float))
        if not u.any():
            return np.asarray(d / 2)
        size = np.abs(u)
        inside = size < d
        goal = np.where(inside, size, 0.0)
        # llr → d like d·(q−1)/x·…: double the bracket until it holds the root
        high = d + self.q
        for _ in range(200):
            short = inside & (self._log_pdf(high - d) - self._log_pdf(high) < goal)
            if not short.any():
                break
            high = np.where(short, 2 * high, high)
        c = root(lambda x: self._log_pdf(x - d) - self._log_pdf(x) - goal, d / 2, high)
        c = np.where(inside, c, np.inf)
        return np.where(u >= 0, c, d - c)

    def profile(self, log_threshold: Array) -> Array:
        """recall − t·α, plus its rounding; at t = 1 the mass within ±d/2 in closed form.

        1 − 2e^{−y}T(y) = (1 − e^{−y}) − e^{−y}(2T(y) − 1), and 2T − 1 has no constant term: no cancellation as y → 0.
        """
        u = np.asarray(log_threshold, dtype=float)
        if not u.any():
            y = np.asarray(self.d, dtype=float) / 2
            within = -np.expm1(-y) - np.exp(-y) * 2 * y * np.polyval(_polynomials(self.q)[1][:-1], y)
            return np.asarray(within + np.zeros(u.shape))
        alpha, recall = self.at(u)
        with np.errstate(over="ignore", invalid="ignore"):
            weighted = np.where(alpha > 0, np.exp(u) * alpha, 0.0)
            value = recall - weighted + ERROR * (recall + weighted)
        return np.where(recall > 0, np.clip(value, 0.0, 1.0), 0.0)

    def max_llr(self) -> Array:
        """d, approached far out."""
        return np.asarray(self.d, dtype=float)

    def _moments(self, inside: str, powers: Array) -> Array:
        """∫ over the line of p0·g(llr), for one d at a time."""
        d = np.asarray(self.d, dtype=float)
        powers, d = np.broadcast_arrays(np.asarray(powers, dtype=float), d)
        out = np.empty(d.shape)
        for i in np.ndindex(d.shape):
            shift, a = float(d[i]), float(powers[i])
            reach = 60.0 + 8 * self.q + abs(a) * shift
            edges = np.unique(
                np.concatenate(
                    (np.linspace(-reach, 0, 40), [0, shift / 2, shift], np.linspace(shift, shift + reach, 40))
                )
            )

            def f(x: Array, shift: float = shift, a: float = a) -> Array:
                base, ratio = self._log_pdf(x), self._log_pdf(x - shift) - self._log_pdf(x)
                if inside == "kl":
                    return np.asarray(np.exp(base) * (np.expm1(ratio) - ratio))  # = −llr in mean, and positive
                return np.asarray(np.exp(base + a * ratio - max(a, 1 - a, 0.0) * shift * (abs(a - 0.5) > 0.5)))

            total = integrate(f, edges, tolerance=1e-17 if inside == "kl" else 1e-15)
            out[i] = total if inside == "kl" else math.log(total) + max(a, 1 - a, 0.0) * shift * (abs(a - 0.5) > 0.5)
        return out

    def log_moment(self, a: Array) -> Array:
        """By quadrature between the bends, to about 1e-12."""
        return self._moments("moment", a)

    def kl(self) -> Array:
        """By quadrature of the positive integrand p0·(e^l − 1 − l)."""
        return self._moments("kl", np.asarray(1.0))

    def auc(self) -> Array:
        """1 − P(sum of 2q Laplaces > d): closed form."""
        return np.asarray(1 - np.exp(log_tail(2 * self.q, np.asarray(self.d, dtype=float))))

    def psi(self) -> Array:
        """By tangents."""
        d = np.asarray(self.d, dtype=float)
        out = np.empty(d.shape)
        for i in np.ndindex(d.shape):
            law = LaplaceSumShift(self.q, np.asarray(d[i]))
            out[i] = psi_by_tangents(law, np.linspace(-d[i], d[i], 129)) if d[i] > 0 else 0.0
        return out

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """Thresholds, rounded up."""
        return fbeta_by_thresholds(self, beta, odds, error=ERROR)
