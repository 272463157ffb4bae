"""A few functions in the form that keeps their digits where the textbook form loses them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, erfinv, gammaln, ndtri

from ..checks import Array

Complex: TypeAlias = NDArray[np.complex128]
Index: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

_SQRT_HALF_PI = np.sqrt(np.pi / 2)
_SQRT2 = np.sqrt(2.0)
_SQRT_2PI = np.sqrt(2 * np.pi)
_INVERSE_FACTORIALS = 1.0 / np.cumprod(np.arange(1.0, 23.0))[1:]  # 1/2!, 1/3!, …
_ODD_FACTORIALS = np.cumprod(np.arange(1.0, 34.0, 2.0))  # (2k−1)!!
_GL_X, _GL_W = np.polynomial.legendre.leggauss(16)


def expm1mx(x: Array) -> Array:
    """e^x − 1 − x, without the cancellation near 0; never negative.

    >>> float(expm1mx(np.float64(1e-9)))
    5.000000001666667e-19
    """
    x = np.asarray(x, dtype=float)
    small = np.abs(x) < 0.7
    s = np.where(small, x, 0.0)
    total = np.zeros_like(s)
    for c in _INVERSE_FACTORIALS[::-1]:
        total = total * s + c
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(small, s * s * total, np.expm1(x) - x)


def log1pmx(x: Array) -> Array:
    """log(1+x) − x for x > −1, without the cancellation near 0; never positive."""
    x = np.asarray(x, dtype=float)
    small = (x > -0.3) & (x < 0.5)
    s = np.where(small, x, 0.0)
    r = s / (2 + s)  # log1p(x) = 2 atanh(r) and x − 2r = x²/(2+x)
    r2, series = r * r, np.zeros_like(s)
    for k in range(31, 1, -2):
        series = series * r2 + 1.0 / k
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(small, 2 * r * r2 * series - s * s / (2 + s), np.log1p(x) - x)


def sinhcm1(x: Array) -> Array:
    """sinh(x)/x − 1, without the cancellation near 0."""
    x = np.asarray(x, dtype=float)
    small = np.abs(x) < 1
    s2 = np.where(small, x * x, 0.0)
    total = np.zeros_like(s2)
    for k in range(10, 0, -1):
        total = (1 + total) * s2 / ((2 * k) * (2 * k + 1))
    big = np.where(small, 1.0, x)
    return np.where(small, total, np.sinh(big) / big - 1)


def moment_less_one(p0: Array, p1: Array, u: Array, a: float) -> float:
    """Σ p1^a·p0^{1−a} − 1 for two laws of total mass 1 with u = log(p1/p0), exact as a → 0, a → 1 or u → 0.

    It is Σ p0·(g(au) − a·g(u)) with g(x) = e^x − 1 − x, whose terms have one sign; beyond ½ the roles are exchanged.
    """
    if a > 0.5:
        p0, p1, u, a = p1, p0, -u, 1 - a
    with np.errstate(over="ignore", invalid="ignore"):
        # p0·g(u) = p1 − p0 − p0·u where e^u alone could overflow
        grown = np.where(u < 30, p0 * expm1mx(np.minimum(u, 30.0)), p1 - p0 * (1 + u))
        return float(np.sum(np.where(p0 > 0, p0 * expm1mx(a * u), 0.0) - a * grown))


def mills(y: Array) -> Array:
    """Mills' ratio Φ(−y)/φ(y) of the normal law."""
    return np.asarray(_SQRT_HALF_PI * erfcx(np.asarray(y) / _SQRT2))


def mills_slope(y: Array) -> Array:
    """−M'(y) = 1 − y·M(y): positive, about 1/y² far out, where the difference would lose digits."""
    y = np.asarray(y, dtype=float)
    far = y > 12
    with np.errstate(over="ignore"):  # 1/∞ is the 0 it stands for
        inv = 1.0 / np.where(far, y * y, 1.0)
    total = np.zeros_like(inv)
    for k in range(16, 0, -1):  # Σ (−1)^{k+1} (2k−1)!!/y^{2k}: at y=12 the first term left out is 4e-15 of it
        total = total * inv + _ODD_FACTORIALS[k - 1] * (-1.0) ** (k + 1)
    near = np.where(far, 0.0, y)
    return np.where(far, total * inv, 1.0 - near * mills(near))


def mills_drop(y: Array, width: Array) -> Array:
    """M(y) − M(y + width) for a width of at most 1, by Gauss–Legendre on its positive slope."""
    half = np.asarray(width)[..., None] / 2
    nodes = np.asarray(y)[..., None] + half * (1 + _GL_X)
    return np.asarray((mills_slope(nodes) * _GL_W).sum(-1) * half[..., 0])


def probit_gap(low: Array, gap: Array, rest: Array) -> Array:
    """Φ⁻¹(low + gap) − Φ⁻¹(low), where rest = 1 − low − gap; keeps its digits for a tiny gap.

    A difference of two probits loses everything when the gap is 1e-12, so small gaps use the odd series of
    Φ⁻¹ about the midpoint: q' = 1/φ, q''' = (1+2z²)/φ³, q⁗' = (7+46z²+24z⁴)/φ⁵.
    """
    low, gap, rest = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (low, gap, rest)))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        high = np.where(rest < 0.5, -ndtri(rest), ndtri(np.minimum(low + gap, 1.0)))
        direct = high - ndtri(low)
        middle = low + gap / 2
        z = ndtri(np.minimum(middle, 1.0))
        d = gap / 2 * _SQRT_2PI * np.exp(z * z / 2)
        z2, d2 = z * z, d * d
        series = 2 * d * (1 + d2 * ((1 + 2 * z2) / 6 + d2 * (7 + 46 * z2 + 24 * z2 * z2) / 120))
    small = gap < 1e-3 * np.minimum(low, rest)
    return np.asarray(np.where(small, series, direct))


def half_normal_quantile(p: Array) -> Array:
    """The x with P(|N(0,1)| ≤ x) = p: √2·erf⁻¹(p)."""
    return np.asarray(_SQRT2 * erfinv(p))


# Binomial probabilities with their relative digits, also among ten million draws.
#
# log Γ of 10⁷ is 1.5·10⁸, and three of them subtracted leave eight digits. Loader (2000) writes the probability as a
# deviance and three small corrections of Stirling's formula, none of which is large.

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


def _stirling_error(n: Array) -> Array:
    """log n! − log(√(2πn)·(n/e)^n)."""
    small = n < 16
    m = np.where(small, 16.0, n)
    i = 1 / (m * m)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - i / 1188) * i) * i) * i) / m
    s = np.where(small, np.maximum(n, 1.0), 1.0)
    return np.where(small, gammaln(s + 1) - (_HALF_LOG_2PI + 0.5 * np.log(s) + s * np.log(s) - s), series)


def _deviance(x: Array, mean: Array) -> Array:
    """x·log(x/mean) + mean − x for x > 0."""
    near = np.abs(x - mean) < mean
    y = np.where(near, (x - mean) / np.where(near, mean, 1.0), 0.0)
    far = x * (np.log(x) - np.log(mean)) + mean - x
    return np.asarray(np.where(near, mean * ((1 + y) * log1pmx(y) + y * y), far))


def log_binomial(n: ArrayLike, k: ArrayLike, p: float) -> Array:
    """log P(k of n) with probability p in (0, 1) each; −∞ where that is impossible.

    >>> round(float(np.exp(log_binomial(4, 2, 0.5))), 15)
    0.375
    """
    total, x = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(k, dtype=float))
    rest = total - x
    inside = (x > 0) & (rest > 0)
    a, b, m = np.where(inside, x, 1.0), np.where(inside, rest, 1.0), np.where(inside, total, 2.0)
    middle = _stirling_error(m) - _stirling_error(a) - _stirling_error(b) - _deviance(a, m * p)
    middle = middle - _deviance(b, m * (1 - p)) - _HALF_LOG_2PI + 0.5 * (np.log(m) - np.log(a) - np.log(b))
    ends = np.where(rest == 0, total * np.log(p), total * np.log1p(-p))
    value = np.where(inside, middle, np.where((x == 0) | (rest == 0), ends, -np.inf))
    return np.asarray(np.where((x < 0) | (rest < 0), -np.inf, value))


def binomial_window(n: int, p: float, sigmas: float) -> tuple[int, int, float]:
    """(low, high, left out): what lies within so many standard deviations, and a bound on the mass beyond.

    Beyond the mode probabilities fall, so what is left out is at most its first probability times their number.
    """
    spread = sigmas * np.sqrt(n * p * (1 - p)) + sigmas
    low, high = max(0, int(np.floor(n * p - spread))), min(n, int(np.ceil(n * p + spread)))
    beyond = low * np.exp(log_binomial(n, low - 1, p)) + (n - high) * np.exp(log_binomial(n, high + 1, p))
    return low, high, float(beyond)
