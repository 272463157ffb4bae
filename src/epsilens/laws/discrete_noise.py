"""Noise on the whole numbers, with its mass at every one of them however small it is.

**Discrete Gaussian** (Canonne, Kamath & Steinke 2020), P(k) ∝ e^{−k²/2σ²}: with θ(x) = Σ_k e^{−(k−x)²/2σ²},
∫dH1^a dH0^{1−a} = e^{a(a−1)d²/2σ²}·θ(ad)/θ(0), and θ ≤ θ(0), which makes it (d²/2σ²)-zCDP (their Theorem 4).
**Skellam**, the difference of two Poisson numbers of mean v/2: P(k) = e^{−v}·I_{|k|}(v), with Bessel's I
(Agarwal, Kairouz & Liu 2021). Its losses grow with log k only.

A pair of whole-number noise beyond any list of its atoms: moments of every order, and ψ.

The list of a pair ends where doubles do, at 1e-325, but ∫dH1^a dH0^{1−a} has its weight about a·d: an order of 100
reads masses of e^{−5000}. Noise knows its mass at every whole number, so that a sum goes where its terms are large.

ψ is the largest z(P(K ≥ k)) − z(P(K ≥ k−d)) over whole k, z(p) = −Φ⁻¹(p). For discrete Gaussians it tends to d/σ from
above as k grows; it is largest in the middle, by a share 1/24σ², or for d far above σ² about k = e^{1.5}σ², where for
σ > 8 no list reaches.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri_exp

from ..checks import Array
from ..numerics.special import mills, moment_less_one
from .composition.step import TailSplit
from .composition.wrappers import mix

_NO_DOUBLE = -750.0  # log of a mass that no double holds
_DEBYE = 15  # terms of the uniform expansion of I, good to 1e-17 where √(k² + v²) ≥ 40
_FAR = 40.0
_FEW = 64  # factors
_FARTHER = 2.0**50


class IntegerNoise(ABC):
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
    def claimed_zcdp(self) -> float:
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
class DiscreteNormal(IntegerNoise):
    """P(k) ∝ e^{−k²/2σ²}."""

    sigma: float

    @property
    def scale(self) -> float:
        return self.sigma

    @cached_property
    def _log_total(self) -> float:
        if self.sigma > 2:  # θ(0) = σ√2π·(1 + 2e^{−2π²σ²} + …)
            return math.log(self.sigma) + 0.5 * math.log(2 * math.pi)
        k = np.arange(-80.0, 81.0)
        return float(logsumexp(-(k**2) / (2 * self.sigma**2)))

    def log_mass(self, k: Array) -> Array:
        return np.asarray(-((k / self.sigma) ** 2) / 2 - self._log_total)

    def loss(self, k: Array, distance: int) -> Array:
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
        return 1 / self.sigma

    @property
    def claimed_zcdp(self) -> float:
        return 1 / (2 * self.sigma**2)

    def farthest(self, power: float, distance: int) -> float:
        """|a|·d, or |1−a|·d on the other side."""
        return (abs(power) + 1) * distance


@dataclass(frozen=True)
class Skellam(IntegerNoise):
    """P(k) = e^{−v}·I_{|k|}(v)."""

    variance: float

    @property
    def scale(self) -> float:
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
        return

    @property
    def slope(self) -> float:
        """0: its tails are heavier than normal ones."""
        return 0.0

    @property
    def claimed_zcdp(self) -> float:
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


_NOTHING = 80.0  # e^{−80} of the largest term does not count
_MOST_TERMS = 2**16
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NEAR = 1e-6  # relative: gaps that may be the largest
_MOST_NEAR = 64
_STEPS = 24
_MOST_THIRDS = 200
_SATURATED = 1e36
_PLACES = 65  # beyond the list
_LEAST_ERROR = 1e-300  # an error that a list knows
_SPLITS = 48  # ways to part a list
_ROUNDED = 1e-12  # of a difference of probits


@dataclass(frozen=True)
class UnboundedTail:
    """H0: noise. H1: the noise moved by ``distance``, with probability ``drawn``, else as under H0.

    ``release_rate`` is the probability that there is a release at all, which everybody sees; ``swapped`` exchanges the
    two laws.
    """

    noise: IntegerNoise
    distance: int
    drawn: float = 1.0
    release_rate: float = 1.0
    swapped: bool = False

    @property
    def scales_by_group(self) -> bool:
        return self.drawn == 1 and self.release_rate == 1

    @property
    def loss_range(self) -> tuple[float, float]:
        """The infimum and the supremum of the loss: a sample's is bounded below."""
        low = math.log1p(-self.drawn) if self.drawn < 1 else -math.inf
        return (-math.inf, -low) if self.swapped else (low, math.inf)

    def reverse(self) -> UnboundedTail:
        return replace(self, swapped=not self.swapped)

    def log_moment(self, power: float) -> float:
        a = 1 - power if self.swapped else power
        value = self.noise.log_moment(a, self.distance) if self.drawn == 1 else None
        value = self._sum(a) if value is None else value
        if self.release_rate == 1:
            return value
        if value < 30:
            return math.log1p(self.release_rate * math.expm1(value))
        rest = (1 - self.release_rate) / self.release_rate
        return value + math.log(self.release_rate) + math.log1p(rest * math.exp(-value))

    def moment_growth(self, power: float) -> tuple[float, float]:
        a = -power if self.swapped else power
        if a < 0 and self.drawn < 1:  # the end of the losses, which is near long before masses of e^{−|a|}
            end = -math.log1p(-self.drawn)
            return end, end
        if math.isinf(self.noise.claimed_zcdp):  # losses that grow with log k: a moment is a double yet
            value = self.log_moment(power) / abs(power)
            return value, value
        grown = abs(a) * (self.noise.claimed_zcdp * self.distance**2)
        return max(grown + math.log(self.drawn), 0.0), grown

    # -- sums ---------------------------------------------------------------------------------------------------------

    def _losses(self, k: Array) -> Array:
        return mix(self.noise.loss(k, self.distance), self.drawn)

    def _term(self, power: float) -> Callable[[Array], Array]:
        return lambda k: np.asarray(self.noise.log_mass(k) + power * self._losses(k))

    def _sum(self, power: float) -> float:
        """Over what a list of atoms holds, and around the largest terms where they lie elsewhere."""
        if power in (0.0, 1.0):
            return 0.0
        if power < -_SATURATED and self.drawn < 1:  # at the end of the losses, to all digits
            return power * math.log1p(-self.drawn)
        k = np.arange(-self.noise.reach, self.distance + self.noise.reach + 1.0)
        log_p0, loss = self.noise.log_mass(k), self._losses(k)
        listed = log_p0 + power * loss
        far = self._far(power, float(k[0]), float(k[-1]), float(listed.max()))
        total = float(logsumexp(np.concatenate((listed, far))))
        if abs(total) > 0.5:
            return total
        p0, p1 = np.exp(log_p0), np.exp(log_p0 + loss)
        return math.log1p(moment_less_one(p0, p1, loss, power) + float(np.exp(far).sum()))

    def _far(self, power: float, first: float, last: float, top: float) -> Array:
        """Logarithms of the terms beyond the list that count: a mixture has large ones in at most two places."""
        edge = self.noise.farthest(power, self.distance)
        edge += 40 * (self.noise.scale + math.sqrt(edge))  # terms that large may lie to either side
        side, start = (1.0, last + 1) if power > 1 else (-1.0, 1 - first)
        if 0 <= power <= 1 or edge <= start:
            return np.zeros(0)
        term = self._term(power)
        both = np.linspace(start, edge, 2001), np.geomspace(start, edge, 2001)
        span = np.unique(np.rint(np.concatenate(both)))
        values = term(side * span)
        rising, falling = np.append(True, np.diff(values) >= 0), np.append(np.diff(values) <= 0, True)
        top = max(top, float(values.max()))
        result, upto = [np.zeros(0)], start - 1
        for i in np.flatnonzero(rising & falling & (values >= top - 10 * _NOTHING)).tolist():
            if span[i] <= upto:  # one flat crest has many tops, by rounding
                continue
            ends = float(span[max(i - 1, 0)]), float(span[min(i + 1, span.size - 1)])
            crest = _crest(lambda k: float(term(np.asarray(side * k))), *ends)
            peak = float(term(np.asarray(side * crest)))
            left, right = (_hill_end(term, side, crest, peak, way) for way in (-1.0, 1.0))
            left = max(left, upto + 1)
            if right >= left:
                result.append(_hill(term, side, left, right))
                upto = right
        return np.concatenate(result)

    # -- ψ ------------------------------------------------------------------------------------------------------------

    @property
    def psi_limit(self) -> float:
        """What ψ tends to as α → 0, whether drawn or not."""
        return self.noise.slope * self.distance

    @property
    def zcdp_rho(self) -> float:
        """ρ with D_a ≤ ρ·a in both orders; sampling does not raise it."""
        return min(self.noise.claimed_zcdp * self.distance**2, self.psi() ** 2 / 2)

    def psi(self) -> float:
        """The largest gap where everybody is drawn: sampling does not raise it."""
        noise, d = self.noise, self.distance
        j = np.arange(noise.reach + d + 1.0)
        log_g = noise.log_mass(j)
        log_g[-1] += self._log_tail(float(j[-1]))
        above = np.logaddexp.accumulate(log_g[::-1])[::-1]  # log P(K ≥ j)
        log_g[-1] = noise.log_mass(j[-1:])[0]
        z = -ndtri_exp(np.minimum(above, -math.log(2)))  # the two halves share P(0)
        k = np.arange((d + 1) // 2, noise.reach + d + 1)  # by symmetry the others follow
        before = np.where(k - d >= 1, z[np.abs(k - d)], ndtri_exp(np.minimum(above[np.abs(1 - k + d)], -1e-300)))
        gaps = -ndtri_exp(np.minimum(above[k], -1e-300)) - before
        near = np.flatnonzero(gaps > float(gaps.max()) * (1 - _NEAR))
        near = near[np.argsort(-gaps[near])[:_MOST_NEAR]]
        tails = above[k] - log_g[k]
        best = max(self._gap(*(float(v[i]) for v in (k, tails, before, gaps))) for i in near)
        if noise.slope and k[-1] < 8 * noise.scale**2:
            best = max(best, self._far_gap(float(k[-1])))
        return max(best, self.psi_limit)

    @cached_property
    def _vertices(self) -> tuple[Array, Array, Array]:
        """k, log P(K ≥ k) and log P(K ≥ k−d), for k beyond d: of the noise moved for certain."""
        noise, d = self.noise, self.distance
        log_g = noise.log_mass(np.arange(noise.reach + d + 1.0))
        log_g[-1] += self._log_tail(float(log_g.size - 1))
        above = np.logaddexp.accumulate(log_g[::-1])[::-1]
        return np.arange(d + 1.0, above.size), above[d + 1 :], above[1:-d]

    @cached_property
    def tail_split(self) -> TailSplit:
        """Parted at some k: below, losses are at most that of k − 1; from k on, gaps are those of the vertices there,
        between which the curve is a chord.
        """
        k, alpha, hit = self._vertices
        gaps = ndtri_exp(hit) - ndtri_exp(alpha) + _ROUNDED
        most = np.maximum.accumulate(gaps[::-1])[::-1]
        if self.noise.slope and k[-1] < 8 * self.noise.scale**2:
            most = np.maximum(most, replace(self, drawn=1.0, release_rate=1.0)._far_gap(float(k[-1])) * (1 + _NEAR))
        some = np.unique(np.linspace(0, k.size - 1, _SPLITS).astype(int))
        shift = np.minimum(np.maximum(most[some], self.psi_limit), self.psi())
        cost = self.noise.loss(k[some] - 1.0, self.distance)
        return TailSplit(self.drawn, np.append(-np.inf, cost), np.append(self.psi(), shift))

    def tail_gap_bracket(self, log_alpha: float, more: float, share: float) -> tuple[float, float]:
        """(low, high) of the largest gap where α ≤ e^log_alpha if every TPR is e^more as large: low is of tests whose α
        is e^share as large, too. Vertices do, from the one above that α on, and those beyond the list.
        """
        k, above, hit = self._vertices
        alpha = above + math.log(self.release_rate)
        first = int(np.argmax(alpha <= log_alpha)) - 1
        if first < 0:
            return 0.0, math.inf
        recall = alpha + mix(hit - above, self.drawn) + more
        if recall[first] > -math.log(2):
            return 0.0, math.inf
        high = float(np.max(ndtri_exp(recall[first:]) - ndtri_exp(alpha[first:]))) + _ROUNDED
        low = float(np.max(ndtri_exp(recall[first:] + share) - ndtri_exp(alpha[first:] + share))) - _ROUNDED
        if not self.noise.slope or k[-1] < 8 * self.noise.scale**2:
            high = max(high, self._far_gap(float(k[-1]), more) * (1 + _NEAR))
            low = max(low, self._far_gap(float(k[-1]), more, share) * (1 - _NEAR))
        return max(low, self.psi_limit), max(high, self.psi_limit)

    def psi_of_list(self, gaps: Array, alpha: Array, miss: Array) -> float:
        """ψ from the gaps of a list's vertices and their errors, with what lies beyond; at most everybody's.

        A sample's list ends in what only H0 would show, whose mass is a bound on rounding: the vertices there are none
        of the noise's. Beyond them gaps fall.
        """
        known = (alpha if self.swapped else miss) > _LEAST_ERROR
        return min(max(float(np.max(gaps[known], initial=0.0)), self.far_psi), self.psi())

    @cached_property
    def far_psi(self) -> float:
        """The largest gap beyond the list, also of a sample; below, its vertices are known one by one.

        A sample's gap is log(1 − q + q·e^L)/z, about, whose maximum is where q·e^L is a few: for rare draws of Skellam
        noise, whose L grows with log k alone, that is a k of v/q. On the other side L ≥ log(1 − q), and the gap falls.
        """
        last = float(self.noise.reach + self.distance)
        if self.noise.slope and last >= 8 * self.noise.scale**2:
            return self.psi_limit
        return max(self._far_gap(last), self.psi_limit)

    def _gap(self, k: float, log_tail: float, before: float, rough: float) -> float:
        """z(P(K ≥ k)) − z(P(K ≥ k−d)) from the second, log P(K ≥ k)/P(k), and their difference as it is."""
        return rough if rough > 1 else self._solved(self._rise(k, log_tail), before, rough)

    def _rise(self, k: float, log_tail: float) -> float:
        """log P(K ≥ k−d)/P(K ≥ k), to all digits."""
        grown = np.cumsum(self.noise.loss(k - np.arange(float(self.distance)), 1))
        return float(np.logaddexp(0.0, logsumexp(grown) - log_tail))

    def _solved(self, rise: float, before: float, gap: float) -> float:
        """The gap by which log Φ(−z) falls by so much: −log Φ(−z) grows by the hazard 1/M(z)."""
        for _ in range(4):
            hazard = float(_WEIGHTS @ (1 / mills(before + gap * (1 + _NODES) / 2))) / 2
            gap += (rise - gap * hazard) * float(mills(np.asarray(before + gap)))
        return gap

    def _far_gap(self, last: float, more: float = 0.0, share: float = 0.0) -> float:
        """The largest beyond the list, where it is smooth in log k: about the largest of a few."""
        wide = 100 * (self.noise.scale**2 - math.log(self.release_rate)) / self.drawn
        places = np.linspace(math.log(last), math.log(last + wide), _PLACES).tolist()
        result = [self._gap_at(v, more, share) for v in places]
        i = int(np.argmax(result))
        low, high = places[max(i - 1, 0)], places[min(i + 1, _PLACES - 1)]
        ratio, best = (math.sqrt(5) - 1) / 2, result[i]
        points = [high - ratio * (high - low), low + ratio * (high - low)]
        values = [self._gap_at(v, more, share) for v in points]
        for _ in range(_STEPS):
            best = max(best, *values)
            if values[0] > values[1]:
                high, points = points[1], [points[1] - ratio * (points[1] - low), points[0]]
                values = [self._gap_at(points[0], more, share), values[0]]
            else:
                low, points = points[0], [points[1], points[0] + ratio * (high - points[0])]
                values = [values[1], self._gap_at(points[1], more, share)]
        return max(best, *values)

    def _gap_at(self, log_k: float, more: float, share: float) -> float:
        k = float(round(math.exp(log_k)))
        log_tail = self._log_tail(k)
        rise = float(mix(np.asarray(self._rise(k, log_tail)), self.drawn)) + more
        log_alpha = float(self.noise.log_mass(np.asarray(k))) + log_tail + math.log(self.release_rate) + share
        at, before = (-float(ndtri_exp(v)) for v in (log_alpha, log_alpha + rise))
        return at - before if at - before > 1 else self._solved(rise, before, rise / at)

    def _log_tail(self, k: float) -> float:
        """log P(K ≥ k)/P(k)."""
        more = np.arange(1.0, math.ceil(45 / float(self.noise.loss(np.asarray(k + 1), 1))) + 2)
        return float(logsumexp(np.append(0.0, -np.cumsum(self.noise.loss(k + more, 1)))))


def _hill(term: Callable[[Array], Array], side: float, left: float, right: float) -> Array:
    """Logarithms of the terms from one whole number to another; of a wide hill every so many, weighed.

    Its curvature is far below 1 then: a sum of thousands of places is its integral, to all digits.
    """
    every = max(math.ceil((right - left) / _MOST_TERMS), 1)
    return term(side * (left + every * np.arange((right - left) // every + 1))) + math.log(every)


def _crest(term: Callable[[float], float], low: float, high: float) -> float:
    """The whole number at which a concave function is largest, about where it is flat to all digits."""
    for _ in range(_MOST_THIRDS):
        if high - low <= max(32.0, 1e-9 * high):
            break
        a, b = math.floor(low + (high - low) / 3), math.ceil(high - (high - low) / 3)
        here, there = term(float(a)), term(float(b))  # so far apart that rounding does not decide
        low, high = (float(a) if here <= there else low), (float(b) if here >= there else high)
    return float(max(np.linspace(low, high, int(min(high - low, 32.0)) + 1).tolist(), key=term))


def _hill_end(term: Callable[[Array], Array], side: float, crest: float, peak: float, way: float) -> float:
    step = 1.0
    while crest + way * step > 0 and float(term(np.asarray(side * (crest + way * step)))) > peak - _NOTHING:
        step *= 2
    return max(crest + way * step, 0.0)
