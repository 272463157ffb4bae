"""The paper's formulas as they stand (``…_printed``), which live nowhere else, and what they should say.

Unless said otherwise the noise is Lap(0, 1) without an attack and Lap(m, θ) with it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...attacks.tampering_detection.tampering import power_of
from ...mechanisms.noise import laplace
from ...numerics.roots import root

# -- as printed ---------------------------------------------------------------------------------------------------


def threshold_printed(alpha: float) -> float:
    """Theorem 3 (12), for either sign of the bias: its two cases are exchanged."""
    return math.log(2 * (1 - alpha)) if alpha <= 0.5 else -math.log(2 * alpha)


def power_printed(k: float, m: float, theta: float = 1.0) -> float:
    """(29)–(33): the conditions k < μ1 and k > μ1 are exchanged."""
    return 0.5 * math.exp((m - k) / theta) if k < m else 1 - 0.5 * math.exp((k - m) / theta)


def two_sided_printed(m: float, alpha: float, theta: float = 1.0) -> float:
    """(42) as if it held everywhere; it holds while the bias lies between the thresholds."""
    k = -math.log(alpha)
    return 0.5 * math.exp((-k - m) / theta) + 0.5 * math.exp((m - k) / theta)


def kappa_printed(k: float, m: float, theta: float) -> float:
    """(28): the likelihood ratio at k on the branch between the means, wherever k is."""
    return math.exp((k * (1 + theta) - m) / theta) / theta


def corollary1_printed(alpha: float, power: float, theta: float) -> float:
    """(40): the bias is said to be detected between minus and plus this many units of noise."""
    return -math.log(alpha) - theta * math.log(power)


def corollary2_printed(n: int, s2: float, last: float) -> float:
    """(54): the bound on the variance of the false record."""
    return s2 / (1 - s2 / last) / (2 * math.pi * math.e) ** (n - 1)


def sigma_printed(epsilon: float, delta: float, s: float) -> float:
    """Theorem 6's σ, with an exponent of ½ that became a factor."""
    return math.sqrt(2) * s * 0.5 * math.log(1.25 / delta) / epsilon


def kl_negative_printed(shift: float, b0: float, b1: float, *, simplified: bool = False) -> float:
    """(76), or (77) with ``simplified``: the divergence for μ1 < μ0, shift = μ1 − μ0 < 0."""
    exponent = -shift / b0 if simplified else shift / b0
    return math.log(b1 / b0) - 1 + b0 / b1 * math.exp(exponent) + b0 / b1


def chernoff_gaussian_printed(a: float, shift: float, s0: float, s1: float) -> float:
    """§5.2: a plus where a minus belongs."""
    b = 1 - a
    mixed = a * s1 * s1 + b * s0 * s0
    return b * math.log(s1 / s0) + 0.5 * math.log(s1 * s1 / mixed) + a * b * shift**2 / (2 * mixed)


# -- corrected ----------------------------------------------------------------------------------------------------


def ratio(z: float, m: float, theta: float) -> float:
    """The likelihood ratio Lap(m, θ) : Lap(0, 1) at z."""
    return math.exp(abs(z) - abs(z - m) / theta) / theta


def corollary2_corrected(n: int, s2: float, last: float) -> float | None:
    """What (59) really gives: s²/(K − s²/σ_n²), K = (2πe)^{n−1}, if K·σ_n² > s²; its premise does not hold either."""
    factor = (2 * math.pi * math.e) ** (n - 1)
    return s2 / (factor - s2 / last) if factor * last > s2 else None


def figure5() -> tuple[float, float]:
    """Where the divergence exceeds e^ε for a bias of 4s and stretch 1."""

    def excess(epsilon: Any) -> Any:
        return np.asarray([float(laplace(epsilon=4 * float(e)).kl()) - math.exp(float(e)) for e in np.ravel(epsilon)])

    edges = root(excess, np.asarray([0.1, 1.3]), np.asarray([1.3, 4.0]))
    return float(edges[0]), float(edges[1])


def figure9() -> float:
    """The largest divergence over e^ε for equal σ, δ = ε/20, a bias of 2s or 4s, ε below 18."""
    epsilon = np.linspace(0.01, 18, 18_000)
    mu = 4 * epsilon / np.sqrt(2 * np.log(25 / epsilon))
    return float(np.max(mu**2 / 2 * np.exp(-epsilon)))


def two_sided_power(m: float, alpha: float) -> float:
    """The two-sided test's power at stretch 1."""
    return float(power_of("two-sided", "laplace", np.asarray(m), 1.0, np.asarray(alpha)))
