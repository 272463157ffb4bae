"""What composed losses are checked against: a contour integral, exact rational products, and mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np


def moment_of_sampled_normal(sigma: float, rate: float) -> Callable[[complex], complex]:
    """M(z) = E_{H1} e^{zL} of one Poisson-sampled Gaussian step, by a dense trapezoid in x."""
    x = np.linspace(-40.0, 40.0, 64_001)
    log_ratio = np.log1p(rate * np.expm1(x / sigma - 1 / (2 * sigma**2)))
    log_h1 = -0.5 * x * x - 0.5 * math.log(2 * math.pi) + log_ratio
    weight = np.exp(log_h1) * (x[1] - x[0])

    def moment(z: complex) -> complex:
        return complex(np.dot(weight, np.exp(z * log_ratio)))

    return moment


def contour(moment: Callable[[complex], complex], k: int, epsilon: float, tilt: float, step: float) -> float:
    """δ(ε) = (1/2πi)∫ M(z)^k e^{−zε}/(z(z+1)) dz on Re z = tilt, by the trapezoid rule (sheet, §8.3)."""
    total = 0.0
    for n in range(20_000):
        z = complex(tilt, n * step)
        m = moment(z)
        term = np.exp(k * np.log(m) - z * epsilon) / (z * (z + 1))
        total += float(term.real) * (0.5 if n == 0 else 1.0)
        if n > 5 and abs(term) < 1e-17 * abs(total):
            break
    return total * step / math.pi


def lattice_pair(rng: np.random.Generator, ratio: Fraction) -> tuple[list[int], list[Fraction], Fraction, Fraction]:
    """(exponents j, H1-masses, only0, only1) of a random pair whose likelihood ratios are powers of ``ratio``."""
    j = sorted(int(v) for v in rng.choice(np.arange(-4, 5), size=int(rng.integers(2, 5)), replace=False))
    weight = [Fraction(int(rng.integers(1, 1000)), int(rng.choice([1, 1, 1000, 10**6]))) for _ in j]
    p1 = [w / sum(weight) for w in weight]
    total0 = sum((p / ratio**e for p, e in zip(p1, j, strict=True)), Fraction(0))
    if total0 <= 1:
        return j, p1, 1 - total0, Fraction(0)
    p1 = [p / total0 for p in p1]
    return j, p1, Fraction(0), 1 - sum(p1, Fraction(0))


def exact_profile(masses: dict[int, Fraction], top: Fraction, ratio: Fraction, log_t: float) -> Fraction:
    """h(e^u) of a product with H1-masses by exponent and ``top`` at +∞, in rational arithmetic."""
    with mp.workdps(60):
        t = Fraction(mp.nstr(mp.exp(mp.mpf(log_t)), 50))
    return top + sum((m * (1 - t / ratio**j) for j, m in masses.items() if ratio**j > t), Fraction(0))


def exact_roc(masses: dict[int, Fraction], top: Fraction, ratio: Fraction, alpha: float) -> Fraction:
    """The ROC curve of the same product."""
    used, recall = Fraction(0), top
    for j in sorted(masses, reverse=True):
        q = masses[j] / ratio**j
        if used + q >= Fraction(alpha):
            return recall + masses[j] * (Fraction(alpha) - used) / q
        used, recall = used + q, recall + masses[j]
    return recall


def two_rare_steps(sigma: str, rate: str, epsilon: str, replace: bool) -> mp.mpf:
    """δ(ε) of two Poisson-sampled Gaussian steps, 40 digits: E over the first of the closed form of the second.

    As a function of the first observation the integrand turns sharply where that one's loss is ε: panels halve there.
    """
    with mp.workdps(40):
        mu, q, u = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(epsilon)

        def place(loss: mp.mpf) -> mp.mpf:
            if replace:
                return (loss / 2 + mp.asinh((1 - q) / q * mp.exp(mu * mu / 2) * mp.sinh(loss / 2))) / mu
            inner = (mp.exp(loss) - 1 + q) / q
            return mp.log(inner) / mu + mu / 2 if inner > 0 else -mp.inf

        def second(t: mp.mpf) -> mp.mpf:
            x = place(mp.log(t))
            if x == -mp.inf:
                return 1 - t
            lost = t * q * mp.ncdf(-mu - x) if replace else mp.mpf(0)
            rest = (1 - q) * (1 - t) if replace else 1 - q - t
            return rest * mp.ncdf(-x) + q * mp.ncdf(mu - x) - lost

        def both(x: mp.mpf) -> mp.mpf:
            up = 1 - q + q * mp.exp(mu * x - mu * mu / 2)
            down = 1 - q + q * mp.exp(-mu * x - mu * mu / 2) if replace else mp.mpf(1)
            return mp.npdf(x) * up * second(mp.exp(u) * down / up)

        at = place(u)
        cuts = {at + s * mp.mpf(2) ** k for k in range(-44, 6, 2) for s in (1, -1)} | {at}
        cuts |= {mp.mpf(k) for k in range(-14, int(at) + 10)}
        return mp.quad(both, sorted(c for c in cuts if -14 <= c <= at + 10), maxdegree=6)
