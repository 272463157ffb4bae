"""Noise on the whole numbers, with its mass at every one of them however small it is.

**Discrete Gaussian** (Canonne, Kamath & Steinke 2020), P(k) ∝ e^{−k²/2σ²}: with θ(x) = Σ_k e^{−(k−x)²/2σ²},
∫dH1^a dH0^{1−a} = e^{a(a−1)d²/2σ²}·θ(ad)/θ(0), and θ ≤ θ(0), which makes it (d²/2σ²)-zCDP (their Theorem 4).
**Skellam**, the difference of two Poisson numbers of mean v/2: P(k) = e^{−v}·I_{|k|}(v), with Bessel's I
(Agarwal, Kairouz & Liu 2021). Its losses grow with log k only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
from scipy.special import gammaln, logsumexp

from ...checks import Array

_NO_DOUBLE = -750.0  # log of a mass that no double holds
_DEBYE = 15  # terms of the uniform expansion of I, good to 1e-17 where √(k² + v²) ≥ 40
_FAR = 40.0
_FEW = 64  # factors
_FARTHER = 2.0**50


class WholeNoise(ABC):
    """Symmetric, log-concave noise on the whole numbers."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Its standard deviation, about."""

    @abstractmethod
    def log_mass(self, k: Array) -> Array:
        """log P(k), at any whole numbers."""

    @abstractmethod
    def loss(self, k: Array, distance: int) -> Array:
        """log P(k − d)/P(k), increasing in k."""

    @abstractmethod
    def log_moment(self, power: float, distance: int) -> float | None:
        """log Σ P(k−d)^a·P(k)^{1−a} where it has a closed form."""

    @property
    @abstractmethod
    def slope(self) -> float:
        """The limit of ψ/d as α → 0."""

    @property
    @abstractmethod
    def concentration(self) -> float:
        """ρ with D_a ≤ ρ·a·d² at every order a and distance d; infinite where there is none."""

    @abstractmethod
    def farthest(self, power: float, distance: int) -> float:
        """No P(k−d)^a·P(k)^{1−a}, nor any mixture of the two, is largest at a |k| beyond."""

    @cached_property
    def reach(self) -> int:
        """Beyond, masses are no double."""

        def held(k: int) -> bool:
            return float(self.log_mass(np.asarray(float(k)))) > _NO_DOUBLE

        low, edge = 0, 2
        while held(edge):
            low, edge = edge, 2 * edge
        while edge - low > 1:
            middle = (low + edge) // 2
            low, edge = (middle, edge) if held(middle) else (low, middle)
        return edge


@dataclass(frozen=True)
class DiscreteNormal(WholeNoise):
    """P(k) ∝ e^{−k²/2σ²}."""

    sigma: float

    @property
    def scale(self) -> float:
        """σ."""
        return self.sigma

    @cached_property
    def _log_total(self) -> float:
        if self.sigma > 2:  # θ(0) = σ√2π·(1 + 2e^{−2π²σ²} + …)
            return math.log(self.sigma) + 0.5 * math.log(2 * math.pi)
        k = np.arange(-80.0, 81.0)
        return float(logsumexp(-(k**2) / (2 * self.sigma**2)))

    def log_mass(self, k: Array) -> Array:
        """−k²/2σ² − log θ(0)."""
        return np.asarray(-((k / self.sigma) ** 2) / 2 - self._log_total)

    def loss(self, k: Array, distance: int) -> Array:
        """d(2k − d)/2σ²."""
        return np.asarray(distance * (2 * k - distance) / (2 * self.sigma**2))

    def log_moment(self, power: float, distance: int) -> float:
        """a(a−1)d²/2σ² + log θ(ad)/θ(0), each exact where it is small."""
        moved = power * distance
        x = moved - math.floor(moved + 0.5)
        c = distance / self.sigma
        return (power * c) * ((power - 1) * c) / 2 + self._log_theta(x)

    def _log_theta(self, x: float) -> float:
        """log θ(x)/θ(0) for |x| ≤ ½, never positive."""
        s2 = self.sigma**2
        if self.sigma > 0.4:  # by Poisson's summation θ(x) ∝ 1 + 2Σe^{−2π²σ²n²}cos 2πnx
            n = np.arange(1.0, 8.0)
            wave = np.exp(-2 * math.pi**2 * s2 * n * n)
            less = 4 * float(np.sum(wave * np.sin(math.pi * n * x) ** 2)) / (1 + 2 * float(wave.sum()))
            return math.log1p(-less)
        k = np.arange(1.0, 30.0)
        # −x²/2σ² + log of the mean of cosh(kx/σ²), which has no term of exponent above −k²/2σ² + k|x|/σ² ≤ 0
        terms = np.exp(-(k * k) / (2 * s2))
        grown = np.exp((k * abs(x) - k * k / 2) / s2) * np.expm1(-k * abs(x) / s2) ** 2  # 2(cosh − 1)·e^{−k²/2σ²}
        return -x * x / (2 * s2) + math.log1p(float(grown.sum()) / (1 + 2 * float(terms.sum())))

    @property
    def slope(self) -> float:
        """1/σ."""
        return 1 / self.sigma

    @property
    def concentration(self) -> float:
        """1/2σ²."""
        return 1 / (2 * self.sigma**2)

    def farthest(self, power: float, distance: int) -> float:
        """|a|·d, or |1−a|·d on the other side."""
        return (abs(power) + 1) * distance


@dataclass(frozen=True)
class Skellam(WholeNoise):
    """P(k) = e^{−v}·I_{|k|}(v)."""

    variance: float

    @property
    def scale(self) -> float:
        """√v."""
        return math.sqrt(self.variance)

    def log_mass(self, k: Array) -> Array:
        """Far from 0 or for a large v by Debye's expansion in 1/√(k²+v²), else by the power series."""
        k, v = np.abs(np.asarray(k, dtype=float)), self.variance
        root = np.hypot(k, v)
        out = np.empty(k.shape)
        far = root >= _FAR
        if far.any():
            n, r = k[far], root[far]
            out[far] = n * (n / (r + v)) - n * np.arcsinh(n / v) - 0.5 * np.log(2 * math.pi * r) + _log_debye(n, r)
        if not far.all():
            n = k[~far]
            out[~far] = n * math.log(v / 2) - gammaln(n + 1) + np.log(_power_series(n, v)) - v
        return out

    def loss(self, k: Array, distance: int) -> Array:
        """log I_b/I_a at a = |k|, b = |k−d|, with what cancels taken out."""
        k, v = np.asarray(k, dtype=float), self.variance
        farther = np.abs(k) > _FARTHER
        if farther.any():  # where k − d may be no double: I'/I falls as asinh(k/v), to all digits
            near = self.loss(np.where(farther, 0.0, k), distance)
            return np.where(farther, np.sign(k) * distance * np.arcsinh(np.abs(k) / v), near)
        a, b = np.abs(k), np.abs(k - distance)
        if v < _FAR:
            # the first terms of the two power series, (v/2)^n/n!, apart by the product of 2j/v from one n to the other
            apart = np.sign(a - b) * _log_product(np.minimum(a, b), np.abs(a - b), 2 / v)
            return np.asarray(apart + np.log(_power_series(b, v) / _power_series(a, v)))
        ra, rb = np.hypot(a, v), np.hypot(b, v)
        gap = distance * (2 * k - distance) / (a + b)  # |k| − |k−d| from k² − (k−d)²
        gap = np.where(np.abs(a - b) == distance, a - b, gap)
        # asinh a/v − asinh b/v = asinh((a²−b²)/(a·r_b + b·r_a))
        apart = np.arcsinh(gap * (a + b) / (a * rb + b * ra))
        main = gap * np.arcsinh(a / v) + b * apart - gap * (a + b) / (ra + rb)
        ratio = gap * (a + b) / (ra + rb) / rb
        return np.asarray(main + 0.5 * np.log1p(ratio) + (_log_debye(b, rb) - _log_debye(a, ra)))

    def log_moment(self, power: float, distance: int) -> None:
        """None: a sum."""
        return

    @property
    def slope(self) -> float:
        """0: its tails are heavier than normal ones."""
        return 0.0

    @property
    def concentration(self) -> float:
        """Unknown."""
        return math.inf

    def farthest(self, power: float, distance: int) -> float:
        """log P falls by about asinh(k/v), and by d/√(v²+(k−d)²) more from one place to the next."""
        k, tilt = distance + max(self.scale, 1.0), (abs(power) + 1) * distance
        while math.asinh((k - distance) / self.variance) * math.hypot(self.variance, k - distance) < tilt:
            k *= 1.5
        return k


def _log_product(first: Array, count: Array, scale: float) -> Array:
    """log Π scale·j over the ``count`` whole numbers j after ``first``, summed where they are few."""
    most = int(np.max(count, initial=0.0))
    if most > _FEW:
        return np.asarray(gammaln(first + count + 1) - gammaln(first + 1) + count * math.log(scale))
    total = np.zeros(first.shape)
    for i in range(1, most + 1):
        total += np.where(count >= i, np.log(scale * (first + i)), 0.0)
    return total


def _power_series(k: Array, v: float) -> Array:
    """Σ (v²/4)^j/(j!·(k+1)…(k+j)): I_k over its first term."""
    term, total = np.ones(k.shape), np.ones(k.shape)
    for j in range(1, 120):
        term = term * (v * v / 4) / (j * (k + j))
        total += term
        if float(np.max(term / total, initial=0.0)) < 1e-18:
            break
    return total


@cache
def _debye() -> Array:
    """Row n: U_n(p)/p^n as a polynomial in p² (DLMF 10.41.9), lowest power first."""
    u = {0: Fraction(1)}
    rows = np.zeros((_DEBYE, _DEBYE))
    rows[0, 0] = 1.0
    for n in range(1, _DEBYE):
        more: dict[int, Fraction] = {}
        for power, c in u.items():  # ½p²(1−p²)u' + ⅛∫(1−5t²)u
            for shift, part in (
                (1, Fraction(power, 2) + Fraction(1, 8 * (power + 1))),
                (3, -Fraction(power, 2) - Fraction(5, 8 * (power + 3))),
            ):
                more[power + shift] = more.get(power + shift, Fraction(0)) + part * c
        u = more
        for power, c in u.items():
            rows[n, (power - n) // 2] = float(c)
    return rows


def _log_debye(k: Array, root: Array) -> Array:
    """log Σ U_n(p)/k^n with p = k/√(k²+v²), which is Σ poly_n(p²)/root^n."""
    p2, inverse = (k / root) ** 2, 1 / root
    total = np.zeros(k.shape)
    least = 2 * min(float(root.min()), 1e9)
    # the n-th term is about Γ(n)/(2·root)^n
    terms = next(n for n in range(3, _DEBYE + 1) if n == _DEBYE or math.gamma(n) < 1e-18 * least**n)
    for n in range(terms - 1, 0, -1):
        value = np.zeros(k.shape)
        for c in _debye()[n, n::-1]:
            value = value * p2 + c
        total = (total + value) * inverse
    return np.log1p(total)
