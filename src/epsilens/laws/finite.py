"""Pairs of atoms: randomised response, geometric, discrete Gaussian, exponential mechanism, any two lists.

The trade-off is a polygon whose vertices are the cumulative masses in order of falling likelihood ratio, so every
reading is a sum or a search over vertices. Masses are kept as logarithms beside the likelihood ratios: an ε of
1e-12 is then not lost in the difference of two probabilities, nor an ε of 800 in their size. Where the noise goes on
beyond the list, moments and ψ come from what is known of it there (:mod:`.beyond`).

The largest of many lines: the polygon that several (ε, δ) claims leave between a trade-off curve and the corner.

A release that is (ε_i, δ_i)-DP for every i has a trade-off curve above each of the lines 1 − δ_i − e^{ε_i}·α and its
mirror image e^{−ε_i}(1 − δ_i − α) (Wasserman & Zhou 2010; Dong, Roth & Su 2022, eq. 5). The largest of these lines is
convex, so it is a trade-off curve itself: the polygon belongs to a pair of laws that satisfies every claim, and no
release that satisfies them all is riskier in any reading.

Several finite pairs observed together, every combination of outcomes written out.

k equal answers with a outcomes have only C(k+a−1, a−1) different counts of outcomes, and the loss depends on the counts
alone, so that hundreds of answers stay within reach where their losses share no lattice.

Several steps of atoms as one, every combination written out; what no list holds comes from the steps themselves.

Noise on the whole numbers goes on beyond any list, where its masses are no doubles. A list of the product serves what
sums masses up, and the mass beyond it lies at ±∞. Moments, divergences and ψ would be infinite by that, but those of
the steps add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri_exp

from ..checks import Array
from ..errors import InputError
from ..numerics.special import expm1mx, moment_less_one, probit_gap
from ..readings.gdp import equal_error_bracket, equal_error_mu
from ..readings.guesses import fbeta_floor
from ..readings.law import Exactness
from .composition.step import Atoms, Composable, CountedStep, Family, Step, TailSplit, Translation, unknown_group
from .composition.wrappers import LabelledSampleStep, sampled_atoms
from .discrete_noise import IntegerNoise, UnboundedTail


def log_cumulative(x: Array) -> Array:
    return np.asarray(np.logaddexp.accumulate(x)) if x.size else x


def log_equal_error(log_m0: Array, u: Array) -> float:
    """log x with f(x) = x: between the two vertices where the errors cross."""
    m0, m1 = log_m0, log_m0 + u
    if not m0.size:
        return -math.inf
    alpha = np.concatenate(([-np.inf], log_cumulative(m0)))
    miss = np.concatenate((log_cumulative(m1[::-1])[::-1], [-np.inf]))
    j = int(np.argmax(alpha >= miss)) - 1  # at the vertex before, fewer are flagged than missed
    rest = np.logaddexp(miss[j + 1], m1[j])
    # α + s·p0 = rest − s·p1, so that both are (α·p1 + rest·p0)/(p0 + p1)
    return float(np.logaddexp(alpha[j] + m1[j], rest + m0[j]) - np.logaddexp(m0[j], m1[j]))


def tail_gaps(log_m0: Array, u: Array) -> Array:
    """Φ⁻¹(recall) − Φ⁻¹(α) at the inner vertices."""

    def probit(log_hit: Array, log_miss: Array) -> Array:
        from_hit, from_miss = ndtri_exp(np.minimum(log_hit, 0)), -ndtri_exp(np.minimum(log_miss, 0))
        return np.asarray(np.where(log_hit < log_miss, from_hit, from_miss))

    m0, m1 = log_m0, log_m0 + u
    sides = [(log_cumulative(m)[:-1], log_cumulative(m[::-1])[::-1][1:]) for m in (m0, m1)]
    return np.asarray(probit(*sides[1]) - probit(*sides[0]))


#: log H0-masses, log-likelihood ratios, and the masses that only H0 and only H1 shows.
Masses = tuple[Array, Array, float, float]


def polygon(epsilon: Array, delta: Array, reverse: tuple[Array, Array] | None = None) -> Masses:
    """The pair of laws of the claims H1(S) ≤ e^{ε_i}·H0(S) + δ_i, ε_i ≥ 0 finite, and of the same in the other order.

    ``reverse`` holds (ε_j, δ_j) with H0(S) ≤ e^{ε_j}·H1(S) + δ_j; without it the claims hold in both orders. Line i is
    the largest one on an interval of α, whose length is the H0-mass of an atom with log-likelihood ratio ε_i; the lines
    of the other order do the same from the far corner, with the axes exchanged. The two halves meet in one point.
    """
    one = _ClaimLines.of(epsilon, delta)
    other = one if reverse is None else _ClaimLines.of(*reverse)
    if not (one.eps.size or other.eps.size):  # nothing is promised
        return np.zeros(0), np.zeros(0), 1.0, 1.0
    if one.eps.size and other.eps.size:
        one, other = one.with_zero(other), other.with_zero(one)
    for half, far in ((one, other), (other, one)):
        if half.eps.size and (rest := -math.expm1(half.cut[0])) <= (far.d[-1] if far.eps.size else 1.0):
            # this order's claims imply all of the other's
            u, log_q = half.atoms(0, half.cut[0])
            top = float(half.d[-1])
            return (log_q, u, rest, top) if half is one else (log_q + u, -u, top, rest)
    i, j = one.last(other), other.last(one)
    alpha, beta = _meeting(one, other, i, j)
    (u, log_q), (v, log_r) = one.atoms(i, alpha), other.atoms(j, beta)
    return np.concatenate((log_q, log_r + v)), np.concatenate((u, -v)), float(other.d[-1]), float(one.d[-1])


@dataclass(frozen=True, slots=True)
class _ClaimLines:
    """The lines β = 1 − d − e^ε·α that are the largest somewhere, by rising ε; ``cut`` is log α where each stops."""

    eps: Array
    d: Array
    cut: Array

    @classmethod
    def of(cls, epsilon: Array, delta: Array) -> _ClaimLines:
        order = np.lexsort((delta, epsilon))
        eps, d = epsilon[order], delta[order]
        useful = d < np.minimum.accumulate(np.concatenate(([1.0], d)))[:-1]  # a larger ε must buy a smaller δ
        eps, d = eps[useful], d[useful]
        if not eps.size:
            return cls(eps, d, eps)
        end = np.log1p(-d) - eps  # where each line reaches β = 0
        first = int(np.argmax(end))
        eps, d, end = eps[first:], d[first:], end[first:]
        active, cuts, slopes, heights = [0], [float(end[0])], eps.tolist(), d.tolist()
        for i in range(1, eps.size):
            cut = _crossing(slopes, heights, active[-1], i)
            while cut >= cuts[-1] and len(active) > 1:
                active.pop()
                cuts.pop()
                cut = _crossing(slopes, heights, active[-1], i)
            if cut >= cuts[-1]:  # the new line is above the only one left
                active, cuts = [i], [float(end[i])]
            else:
                active.append(i)
                cuts.append(cut)
        return cls(eps[active], d[active], np.asarray(cuts))

    def with_zero(self, other: _ClaimLines) -> _ClaimLines:
        """At ε = 0 the two orders are one claim: the smaller δ holds for both."""
        if other.eps[0] > 0 or (self.eps[0] == 0 and self.d[0] <= other.d[0]):
            return self
        return _ClaimLines.of(np.append(0.0, self.eps), np.append(other.d[0], self.d))

    def last(self, other: _ClaimLines) -> int:
        """The line on which the two halves meet: the first along which this half is above the other at its start."""
        start = np.exp(np.append(self.cut[1:], -np.inf))  # α where line i begins
        height = 1 - self.d - np.exp(np.minimum(self.eps + np.append(self.cut[1:], -np.inf), 0.0))
        low, high = 0, self.eps.size - 1
        while low < high:
            middle = (low + high) // 2
            # at equality (a line of slope −1 that both share) they meet on this one
            above = height[middle] >= np.max(np.exp(-other.eps) * (1 - other.d - start[middle])) - 1e-15
            low, high = (low, middle) if above else (middle + 1, high)
        return low

    def atoms(self, i: int, log_end: float) -> tuple[Array, Array]:
        """ε and log mass of the lines from i on, when line i stops at exp(log_end)."""
        top = np.minimum(np.append(log_end, self.cut[i + 1 :]), log_end)
        below = np.minimum(np.append(self.cut[i + 1 :], -np.inf), top)
        with np.errstate(divide="ignore"):
            log_q = top + np.log(-np.expm1(below - top))
        live = log_q > -np.inf
        return self.eps[i:][live], log_q[live]


def _meeting(one: _ClaimLines, other: _ClaimLines, i: int, j: int) -> tuple[float, float]:
    """log α and log β where β = 1 − d − e^ε·α of one half meets α = 1 − D − e^E·β of the other."""
    eps, d, far, gone = float(one.eps[i]), float(one.d[i]), float(other.eps[j]), float(other.d[j])
    if eps + far == 0:  # one line, slope −1, shared by both: they may part anywhere on it
        least = math.exp(one.cut[i + 1]) if i + 1 < one.cut.size else 0.0
        most = 1 - d - (math.exp(other.cut[j + 1]) if j + 1 < other.cut.size else 0.0)
        alpha = (least + most) / 2
        return math.log(alpha), math.log(1 - d - alpha)
    if one is other and i == j:
        return (math.log1p(-d) - float(np.logaddexp(0.0, eps)),) * 2
    scale = -math.expm1(-eps - far)
    alpha = (-math.expm1(-far) - d + gone * math.exp(-far)) / scale
    beta = (-math.expm1(-eps) - gone + d * math.exp(-eps)) / scale
    return math.log(alpha) - eps, math.log(beta) - far


def _crossing(eps: list[float], d: list[float], i: int, j: int) -> float:
    """log of the α at which lines i and j meet: (δ_i − δ_j)/(e^{ε_j} − e^{ε_i}), ε_i < ε_j."""
    gap = eps[j] - eps[i]
    return math.log(d[i] - d[j]) - eps[i] - gap - math.log(-math.expm1(-gap))


MOST_LOSS = 1e4  # a claim beyond promises nothing
_U = 2.0**-53
_BEYOND = 1e-320  # more than the mass beyond a list that ends where doubles do


def _safe_ratio(part: Array, whole: Array) -> Array:
    """part/whole within [0, 1], also where the whole is a denormal number."""
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(part / np.maximum(whole, 1e-323), 0.0, 1.0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finite(Composable):
    """Atoms with H0-mass exp(log_p0) and H1-mass exp(log_p0 + llr).

    ``only1`` is the H1-mass that H0 never shows, ``only0`` the reverse. Use :meth:`of` for two lists.
    """

    family: ClassVar[Family] = Family.FINITE

    log_p0: Array
    llr: Array
    only0: float = 0.0
    only1: float = 0.0
    mirrored: bool = False  # the builder knows that both orders have the same trade-off
    far: UnboundedTail | None = None  # the list stops where doubles do, but the ratio goes on growing
    translation: Translation | None = field(default=None, kw_only=True)  # the noise that is moved, and how far
    known: Exactness = field(default=Exactness.EXACT, kw_only=True)
    mass_error: float = field(default=0.0, kw_only=True, compare=False)  # relative, beyond that of their logarithms
    # derived, over the distinct likelihood ratios in falling order
    _u: Array = field(init=False, repr=False, compare=False)
    _log_m0: Array = field(init=False, repr=False, compare=False)
    _p0: Array = field(init=False, repr=False, compare=False)
    _p1: Array = field(init=False, repr=False, compare=False)
    _log_c0: Array = field(init=False, repr=False, compare=False)
    _alpha: Array = field(init=False, repr=False, compare=False)  # vertices, from the top: 0 first
    _recall: Array = field(init=False, repr=False, compare=False)
    _rest0: Array = field(init=False, repr=False, compare=False)  # 1 − α, summed from the bottom
    _rest1: Array = field(init=False, repr=False, compare=False)  # 1 − recall, summed from the bottom
    _kinks: Array = field(init=False, repr=False, compare=False)  # h at each kink

    def __post_init__(self) -> None:
        order = np.argsort(-self.llr, kind="stable")
        u, lp = self.llr[order], self.log_p0[order]
        if u.size:
            starts = np.flatnonzero(np.concatenate(([True], u[1:] != u[:-1])))
            lp = np.logaddexp.reduceat(lp, starts)
            u = u[starts]
        p0, p1 = np.exp(lp), np.exp(lp + u)
        log_c0 = log_cumulative(lp)
        # h falls to only1 above the largest ratio and grows by (e^{u_j} − e^{u_{j+1}})·c0_j at each kink: positive
        # terms
        steps = np.exp(u[:-1] + log_c0[:-1]) * -np.expm1(u[1:] - u[:-1])
        put = object.__setattr__
        put(self, "_u", u)
        put(self, "_log_m0", lp)
        put(self, "_p0", p0)
        put(self, "_p1", p1)
        put(self, "_log_c0", log_c0)
        put(self, "_alpha", np.minimum(np.concatenate(([0.0], np.cumsum(p0))), 1.0))
        put(self, "_recall", np.minimum(np.concatenate(([self.only1], self.only1 + np.cumsum(p1))), 1.0))
        put(self, "_rest0", np.concatenate((self.only0 + np.cumsum(p0[::-1])[::-1], [self.only0])))
        put(self, "_rest1", np.concatenate((np.cumsum(p1[::-1])[::-1], [0.0])))
        put(
            self, "_kinks", self.only1 + np.concatenate(([0.0], np.cumsum(steps))) if u.size else np.array([self.only1])
        )

    @classmethod
    def of(cls, p0: Array, p1: Array) -> Finite:
        """From two lists of probabilities over the same outcomes (each sums to one)."""
        both = (p0 > 0) & (p1 > 0)
        a, b = p0[both], p1[both]
        with np.errstate(divide="ignore", over="ignore"):
            relative = (b - a) / a
            # log1p keeps nearly equal masses apart; the difference of logs serves the others
            llr = np.where(np.abs(relative) < 0.5, np.log1p(np.clip(relative, -0.5, 0.5)), np.log(b) - np.log(a))
        return cls(np.log(a), llr, float(p0[p1 == 0].sum()), float(p1[p0 == 0].sum()))

    @classmethod
    def claim(cls, epsilon: float, delta: float = 0.0) -> Finite:
        """The riskiest pair that is (ε, δ)-DP: with probability δ all is given away, otherwise f = max(1−e^εα, …)₊."""
        if delta == 1:
            return cls(np.zeros(0), np.zeros(0), 1.0, 1.0, mirrored=True)
        if epsilon == 0:
            return cls(np.asarray([np.log1p(-delta)]), np.zeros(1), delta, delta, mirrored=True)
        high = np.log1p(-delta) - np.log1p(np.exp(-epsilon))
        masses = np.asarray([high, high - epsilon]), np.asarray([-epsilon, epsilon])
        return cls(*masses, delta, delta, mirrored=True)

    @classmethod
    def moved(cls, noise: IntegerNoise, distance: int) -> Finite:
        if distance == 0:
            return cls(np.zeros(1), np.zeros(1), mirrored=True)
        k = np.arange(-noise.reach, distance + noise.reach + 1.0)
        return cls(noise.log_mass(k), noise.loss(k, distance), mirrored=True, far=UnboundedTail(noise, distance))

    @property
    def symmetric(self) -> bool:
        return self.mirrored

    @property
    def carried(self) -> float:
        """The logarithms of the masses, the largest loss, and the sums over all of them."""
        return 4 + float(np.max(np.abs(self._u), initial=0.0)) + self._u.size / 4 + self.mass_error / (8 * _U)

    def reverse(self) -> Self:
        far = None if self.far is None else self.far.reverse()
        return replace(self, log_p0=self.log_p0 + self.llr, llr=-self.llr, only0=self.only1, only1=self.only0, far=far)

    def steps(self) -> tuple[CountedStep, ...]:
        return ((FiniteStep(self.atoms(), self.mirrored, self.far, translation=self.translation), 1),)

    def atoms(self) -> Atoms:
        """The masses of H1 by rising loss, equal losses together."""
        order = np.argsort(self.llr, kind="stable")
        loss, log_p = self.llr[order], self.log_p0[order] + self.llr[order]
        if loss.size:
            first = np.flatnonzero(np.concatenate(([True], np.diff(loss) > 0)))
            loss, log_p = loss[first], np.logaddexp.reduceat(log_p, first)
        low, high = (math.isinf(end) for end in self._far_ends)
        return Atoms(loss, log_p, self.only0 + low * _BEYOND, self.only1 + high * _BEYOND)

    @property
    def _far_ends(self) -> tuple[float, float]:
        """The infimum and the supremum of the ratio, where it goes on beyond the list."""
        return (0.0, 0.0) if self.far is None else self.far.loss_range

    def tradeoff(self, alpha: Array) -> Array:
        """Linear between vertices; the miss is summed from the bottom to keep its digits."""
        if not self._u.size:
            return np.asarray((1 - self.only1) * np.ones_like(alpha))
        rest = 1 - alpha
        low = np.searchsorted(self._alpha, alpha, side="left")
        j = np.where(alpha > 0.5, np.searchsorted(-self._rest0, -rest, side="left"), low).clip(1, self._u.size)
        ahead = np.where(alpha > 0.5, rest - self._rest0[j], self._alpha[j] - alpha)
        miss = self._rest1[j] + self._p1[j - 1] * _safe_ratio(ahead, self._p0[j - 1])
        return np.asarray(np.where(alpha <= 0, 1 - self.only1, np.where(alpha >= 1, 0.0, np.minimum(miss, 1.0))))

    def roc(self, alpha: Array) -> Array:
        if not self._u.size:
            return np.asarray(self.only1 * np.ones_like(alpha))
        j = np.clip(np.searchsorted(self._alpha, alpha, side="left"), 1, self._u.size)
        share = _safe_ratio(alpha - self._alpha[j - 1], self._p0[j - 1])
        hit = np.minimum(self._recall[j - 1] + self._p1[j - 1] * share, 1.0)
        return np.asarray(np.where(alpha >= 1, 1.0, hit))

    def inverse_roc(self, recall: Array) -> Array:
        """Linear between vertices, with the axes swapped; near a recall of 1 from the miss, which keeps its digits."""
        if not self._u.size:
            return np.asarray(np.where(recall <= self.only1, 0.0, 1.0))
        low = np.clip(np.searchsorted(self._recall, recall, side="left"), 1, self._u.size)
        share = _safe_ratio(recall - self._recall[low - 1], self._p1[low - 1])
        near = self._alpha[low - 1] + self._p0[low - 1] * share
        miss = 1 - recall
        j = np.clip(np.searchsorted(-self._rest1, -miss, side="left"), 1, self._u.size)
        left = self._p0[j - 1] * _safe_ratio(miss - self._rest1[j], self._p1[j - 1])
        # what is not flagged, from the bottom; the vertex itself from the side where it is small
        top = self._alpha[j] < 0.5
        far = np.where(top, self._alpha[j] - left, 1 - (self._rest0[j] + left))
        inside = np.where(recall > 0.5, np.maximum(far, 0.0), near)
        return np.asarray(np.where(recall <= self.only1, 0.0, inside))

    def _above(self, log_threshold: Array) -> Array:
        """How many distinct ratios lie above the threshold."""
        return np.asarray(np.searchsorted(-self._u, -np.asarray(log_threshold, dtype=float), side="left"))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        j = self._above(log_threshold)
        return self._alpha[j], self._recall[j]

    def profile(self, log_threshold: Array) -> Array:
        """h at the kink above, plus (e^{u_j} − t)·c0_j: no subtraction of masses."""
        t = np.asarray(log_threshold, dtype=float)
        j = self._above(t)
        if not self._u.size:
            return np.asarray(self.only1 + 0.0 * j)
        k = np.maximum(j - 1, 0)
        with np.errstate(over="ignore"):
            more = np.exp(self._u[k] + self._log_c0[k]) * -np.expm1(np.minimum(t - self._u[k], 0.0))
        return np.asarray(np.minimum(self._kinks[k] + np.where(j > 0, more, 0.0), 1.0))

    def profile_inverse(self, delta: Array) -> Array:
        """Solve the linear piece; infinite where δ is below the mass only H1 shows."""
        delta = np.asarray(delta, dtype=float)
        if not self._u.size:
            return np.where(delta >= self.only1, 0.0, np.inf)
        k = np.clip(np.searchsorted(self._kinks, delta, side="right") - 1, 0, self._u.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.exp(np.minimum(np.log(delta - self._kinks[k]) - (self._u[k] + self._log_c0[k]), 0.0))
            value = self._u[k] + np.log1p(-share)
        value = np.where(delta == 0, self.max_llr(), value)  # also of a ratio whose mass is no double
        return np.asarray(np.where(delta < self.only1, np.inf, np.maximum(value, 0.0)))

    def max_llr(self) -> Array:
        if self.only1 > 0:
            return np.asarray(np.inf)
        most = float(self._u[0]) if self._u.size else 0.0
        return np.asarray(most if self.far is None else max(most, self._far_ends[1]))

    def log_moment(self, a: Array) -> Array:
        """log Σ p1^a p0^{1−a}; where the sum is near 1 from :meth:`_moment_less_one`, which does not cancel."""
        a = np.asarray(a, dtype=float)
        flat = a.ravel()
        out = np.empty(flat.shape)
        for i, power in enumerate(flat):
            if self.far is not None:
                out[i] = self.far.log_moment(float(power))
                continue
            diverges = (power > 1 and self.only1 > 0) or (power < 0 and self.only0 > 0)
            if diverges:
                out[i] = np.inf
                continue
            less_one = self._moment_less_one(power)
            if -0.5 < less_one < 1:
                out[i] = np.log1p(less_one)
            else:
                out[i] = logsumexp(self.log_p0 + power * self.llr) if self.llr.size else -np.inf
        return out.reshape(a.shape)

    def far_renyi(self, order: Array) -> Array:
        if self.far is None:
            return Composable.far_renyi(self, order)
        order = np.asarray(order, dtype=float)
        return np.asarray([self.far.moment_growth(1 - float(a))[1] for a in order.ravel()]).reshape(order.shape)

    def _moment_less_one(self, power: float) -> float:
        """Σ p1^a p0^{1−a} − 1 without cancellation: what only one law shows takes (1−a)·only0 + a·only1 away."""
        if self.only0 or self.only1:
            with np.errstate(over="ignore", invalid="ignore"):
                # terms of one sign do not cancel: then the law without mass of its own serves every power alike
                if not (self.only0 and self.only1) and bool(np.all(self._u <= 0) or np.all(self._u >= 0)):
                    if self.only0:
                        return float(np.sum(self._p1 * np.expm1((power - 1) * self._u)))
                    return float(np.sum(self._p0 * np.expm1(power * self._u)))
        less = moment_less_one(self._p0, self._p1, self._u, power)
        return less - ((1 - power) * self.only0 if self.only0 else 0.0) - (power * self.only1 if self.only1 else 0.0)

    def kl(self) -> Array:
        """Σ p0·log(p0/p1) = Σ p0·(e^u − 1 − u) + only1: no cancellation; infinite if H1 misses an atom of H0."""
        if self.only0 > 0:
            return np.asarray(np.inf)
        if np.all(self._u <= 0):  # then the plain sum does not cancel either, and agrees with the other orders
            return np.asarray(-np.sum(self._p0 * self._u) + 0.0)
        with np.errstate(over="ignore"):
            small = np.sum(self._p0 * np.where(self._u < 30, expm1mx(np.minimum(self._u, 30.0)), 0.0))
            # for a huge ratio p0·e^u = p1 is the leading term; the others vanish beside it
            large = np.sum(np.where(self._u < 30, 0.0, self._p1 - self._p0 * (1 + self._u)))
        return np.asarray(small + large + self.only1)

    def auc(self) -> Array:
        middle = (self._recall[1:] + self._recall[:-1]) / 2
        return np.asarray(np.minimum(np.sum(self._p0 * middle) + self.only0, 1.0))

    def psi(self) -> Array:
        """The largest Φ⁻¹(recall) − Φ⁻¹(α) over the vertices: f is a chord there and G_μ convex, so f ≥ G_μ between
        two vertices as soon as it holds at both. Infinite if either law has an atom the other lacks.
        """
        if self.far is not None and self.far.scales_by_group:
            return np.asarray(self.far.psi())
        if self.only0 > 0 or self.only1 > 0:
            return np.asarray(np.inf)
        if self._u.size < 2:
            return np.asarray(0.0)
        gaps, far = self._gaps(), self.far
        return np.asarray(gaps.max() if far is None else far.psi_of_list(gaps, self._alpha[1:-1], self._rest1[1:-1]))

    def practical(self, level: float) -> Array:
        """The same over the vertices with both errors at least ``level``, and where the curve leaves them."""
        low, _ = equal_error_bracket(self)
        if low < level:
            return np.asarray(
                equal_error_mu(low) if low > 0 else -2 * ndtri_exp(log_equal_error(self._log_m0, self._u))
            )
        inside = (self._alpha[1:-1] >= level) & (self._rest1[1:-1] >= level)
        best = float(np.max(self._gaps()[inside])) if inside.any() else 0.0
        here = np.asarray(level)
        for law in (self, self.reverse()):  # at the level in each order: where the other error is at it
            best = max(best, float(probit_gap(here, law._gained(here), law.tradeoff(here))))
        return np.asarray(best)

    def _gained(self, alpha: Array) -> Array:
        """roc(α) − α for α ≤ ½, where it is at least half of its largest: summed, not subtracted."""
        j = np.clip(np.searchsorted(self._alpha, alpha, side="left"), 1, self._u.size) - 1
        before = self.only1 + np.concatenate(([0.0], np.cumsum(self._excess)))[j]
        return np.asarray(np.maximum(before + self._excess[j] * _safe_ratio(alpha - self._alpha[j], self._p0[j]), 0.0))

    @property
    def _excess(self) -> Array:
        """p1 − p0 of each atom; for ratios near 1 not by subtraction."""
        near = np.abs(self._u) < 1
        return np.where(near, self._p0 * np.expm1(np.where(near, self._u, 0.0)), self._p1 - self._p0)

    def _gaps(self) -> Array:
        """Φ⁻¹(recall) − Φ⁻¹(α) at the inner vertices."""
        # Each vertex from the side where its masses are small; the gap is summed, not subtracted.
        top, bottom = (self._alpha[1:-1], self._recall[1:-1]), (self._rest1[1:-1], self._rest0[1:-1])
        excess = self._excess
        gaps = self.only1 + np.cumsum(excess)[:-1], self.only0 - np.cumsum(excess[::-1])[::-1][1:]
        low = top[0] <= 0.5
        small = np.where(low, top[0], bottom[0])
        gap = np.where(low, gaps[0], gaps[1])
        rest = np.where(low, bottom[0], top[0])
        live = (small > 1e-307) & (rest > 1e-307)
        result = np.full(small.size, -np.inf)
        result[live] = probit_gap(small[live], gap[live], rest[live])
        return result if live.all() else np.where(live, result, tail_gaps(self._log_m0, self._u))

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The largest Fβ over the vertices: Fβ is linear-fractional in (α, recall)."""
        b2 = np.asarray(beta, dtype=float)[..., None] ** 2
        c = np.asarray(odds, dtype=float)[..., None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = (1 + b2) * self._recall / (self._recall + c * self._alpha + b2)
        best = np.max(np.where(np.isfinite(value), value, 0.0), axis=-1)
        return np.asarray(np.where(np.isinf(odds), 0.0, np.maximum(best, fbeta_floor(beta, odds))))


@dataclass(frozen=True, slots=True)
class FiniteStep(Step):
    """Nothing but atoms."""

    family: ClassVar[Family] = Family.FINITE

    atoms: Atoms
    symmetric: bool = False
    far: UnboundedTail | None = None
    rho: float = 0.0  # relative error of the masses, beyond that of their logarithms
    translation: Translation | None = field(default=None, kw_only=True)

    @property
    def support(self) -> None:
        return

    @property
    def loss_range(self) -> tuple[float, float]:
        if self.far is not None:
            return self.far.loss_range
        a = self.atoms
        low, high = (float(a.loss.min()), float(a.loss.max())) if a.loss.size else (0.0, 0.0)
        return (-math.inf if a.only0 > 0 else low), (math.inf if a.only1 > 0 else high)

    def log_p0(self, x: Array) -> Array:
        return np.full(np.shape(x), -np.inf)

    def loss(self, x: Array) -> Array:
        """0: there is no continuous part whose loss this could be."""
        return np.zeros(np.shape(x))

    slope = roughness = error = loss

    def inverse_loss(self, loss: Array) -> Array:
        return np.zeros(np.shape(loss))

    def above(self, x: float) -> tuple[float, float]:
        return (-math.inf, -math.inf)

    below = above

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return (0.0, 0.0)

    def as_law(self) -> Finite:
        a = self.atoms
        only = (a.only0, a.only1) if self.far is None else (0.0, 0.0)
        return Finite(a.log_p - a.loss, a.loss, *only, self.symmetric, self.far, translation=self.translation)

    def log_moment(self, power: float) -> float:
        if self.far is not None:
            return self.far.log_moment(power)
        if power in (0.0, 1.0) and not (self.atoms.only0 or self.atoms.only1):
            return 0.0
        return float(self.as_law().log_moment(np.asarray(power)))

    def moment_growth(self, power: float) -> tuple[float, float]:
        return Step.moment_growth(self, power) if self.far is None else self.far.moment_growth(power)

    def kl(self) -> float:
        return float(self.as_law().kl())

    def reverse_kl(self) -> float:
        return float(self.as_law().reverse().kl())

    def psi(self) -> float:
        return float(self.as_law().psi())

    @property
    def psi_limit(self) -> float:
        return 0.0 if self.far is None else self.far.psi_limit

    @property
    def zcdp_rho(self) -> float:
        """Of noise without end from what is known of it."""
        return self.psi() ** 2 / 2 if self.far is None else self.far.zcdp_rho

    @property
    def tail_split(self) -> TailSplit:
        return super(FiniteStep, self).tail_split if self.far is None else self.far.tail_split

    def tail_gap_bracket(self, log_alpha: float, more: float, share: float) -> tuple[float, float]:
        return (0.0, math.inf) if self.far is None else self.far.tail_gap_bracket(log_alpha, more, share)

    def drawn(self, rate: float) -> FiniteStep:
        """H1 mixed with H0: Poisson sampling. A noise moved, and it back again, are mirror images."""
        far = None if self.far is None else replace(self.far, drawn=rate, swapped=False)
        return FiniteStep(sampled_atoms(self.atoms, rate), False, far, self.rho)

    def flagged(self, rate: float) -> FiniteStep:
        """Rarer, and everybody is told when."""
        a = LabelledSampleStep(self, rate).atoms
        order = np.argsort(a.loss, kind="stable")
        far = None if self.far is None else replace(self.far, release_rate=rate)
        return FiniteStep(Atoms(a.loss[order], a.log_p[order], a.only0, a.only1), self.symmetric, far, self.rho)

    @property
    def sampled(self) -> bool:
        """Whether a noise is no longer moved for certain; of a mere list nobody knows."""
        return self.far is not None and not self.far.scales_by_group

    @property
    def scales_by_group(self) -> bool:
        return self.translation is not None or (self.far is not None and self.far.scales_by_group)

    def group(self, size: int) -> Step:
        """Noise that moves, further; else every (ε, δ) of the pair as (kε, δ(e^{kε}−1)/(e^ε−1)), all together."""
        if self.far is not None:
            if not self.far.scales_by_group:
                raise unknown_group("such")
            further = Finite.moved(self.far.noise, self.far.distance * size)
            return FiniteStep(further.atoms(), True, further.far)
        if self.translation is not None and (moved := self.translation.group(size)) is not None:
            return moved
        law = self.as_law()
        if max(law.only0, law.only1) >= 1:
            return self
        eps = np.unique(np.abs(law.llr))
        delta = np.maximum(law.profile(eps), law.reverse().profile(eps))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(eps > 0, (size - 1) * eps + np.log(np.expm1(-size * eps) / np.expm1(-eps)), math.log(size))
            grown = np.where(delta > 0, np.exp(np.minimum(np.log(delta) + ratio, 0.0)) * (1 + 1e-12), 0.0)
        kept = (grown < 1) & (size * eps <= MOST_LOSS)
        if not kept.any():
            raise InputError(
                f"what is known of one person promises nothing about a group of {size}: ask of a smaller one"
            )
        result = Finite(*polygon(size * eps[kept], grown[kept]), mirrored=True)
        return FiniteStep(result.atoms(), result.symmetric)


def _counts(outcomes: int, k: int) -> Array:
    """Every way to count k answers by outcome, one row each."""
    rows = np.zeros((1, 0))
    left = np.array([k])
    for _ in range(outcomes - 1):
        many = left + 1
        first = np.repeat(np.cumsum(many) - many, many)
        taken = np.arange(int(many.sum())) - first
        rows = np.column_stack((np.repeat(rows, many, axis=0), taken))
        left = np.repeat(left, many) - taken
    return np.column_stack((rows, left)).astype(float)


def _sequential_product(law: Finite, k: int) -> tuple[Array, Array]:
    """The same one answer at a time, outcomes in their order: for few answers with many outcomes.

    The t-th answer multiplies the ways by t and divides them by how often its outcome has come: k!/∏(times)! in all.
    """
    n = law.llr.size
    last, times, log_p, loss = np.arange(n), np.ones(n), law.log_p0, law.llr
    for t in range(2, k + 1):
        many = n - last
        at = np.repeat(np.arange(last.size), many)
        following = last[at] + np.arange(at.size) - np.repeat(np.cumsum(many) - many, many)
        times = np.where(following == last[at], times[at] + 1, 1.0)
        log_p = log_p[at] + law.log_p0[following] + math.log(t) - np.log(times)
        loss, last = loss[at] + law.llr[following], following
    return log_p, loss


def _count_product(law: Finite, k: int) -> tuple[Array, Array]:
    """(log H0-mass, loss) of every count of outcomes."""
    if k == 1:
        return law.log_p0, law.llr
    if k < law.llr.size:
        return _sequential_product(law, k)
    counts = _counts(law.llr.size, k)
    ways = gammaln(k + 1.0) - gammaln(counts + 1).sum(axis=1)
    return ways + counts @ law.log_p0, counts @ law.llr


def finite_product(counted: Sequence[tuple[Finite, int]], most: int) -> Finite | None:
    """The product of finite pairs, each so many times; None if that takes more than ``most`` atoms."""
    size = 1
    for law, k in counted:
        if law.far is not None or k > 100_000:
            return None
        n = law.llr.size
        size *= math.comb(k + n - 1, n - 1) if n else 1  # different counts of outcomes
        if size > most:
            return None
    log_p, loss = np.zeros(1), np.zeros(1)
    finite0 = finite1 = mass_error = 0.0  # log of the mass whose loss is finite
    for law, k in counted:
        if law.only0 >= 1 or law.only1 >= 1:
            return Finite(np.zeros(0), np.zeros(0), 1.0, 1.0, mirrored=True)
        more_p, more_loss = _count_product(law, k)
        log_p = (log_p[:, None] + more_p).ravel()
        loss = (loss[:, None] + more_loss).ravel()
        mass_error += 8 * _U * (math.lgamma(k + 1) + k * (4 - float(np.sum(law._p0 * law._log_m0))) if k > 1 else 4.0)
        finite0, finite1 = finite0 + k * math.log1p(-law.only0), finite1 + k * math.log1p(-law.only1)
    mirrored = all(law.symmetric for law, _ in counted)
    return Finite(log_p, loss, -math.expm1(finite0), -math.expm1(finite1), mirrored, mass_error=mass_error)


_ERROR = 1e-12  # of the masses


@dataclass(frozen=True, slots=True)
class JointFiniteStep(FiniteStep):
    """The product of ``parts``, written out in ``atoms``."""

    parts: tuple[CountedStep, ...] = ()

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = (math.fsum(k * step.loss_range[i] for step, k in self.parts) for i in (0, 1))
        return low, high

    @property
    def factors(self) -> tuple[CountedStep, ...]:
        return self.parts

    def as_law(self) -> Finite:
        """The list, with what lies beyond it at ±∞."""
        a = self.atoms
        return Finite(a.log_p - a.loss, a.loss, a.only0, a.only1, self.symmetric)

    def log_moment(self, power: float) -> float:
        return math.fsum(k * step.log_moment(power) for step, k in self.parts)

    def moment_growth(self, power: float) -> tuple[float, float]:
        each = [(step.moment_growth(power), k) for step, k in self.parts]
        return math.fsum(k * low for (low, _), k in each), math.fsum(k * high for (_, high), k in each)

    def kl(self) -> float:
        return math.fsum(k * step.kl() for step, k in self.parts)

    def reverse_kl(self) -> float:
        return math.fsum(k * step.reverse_kl() for step, k in self.parts)

    def psi(self) -> float:
        return math.sqrt(math.fsum(k * step.psi() ** 2 for step, k in self.parts))

    @property
    def psi_limit(self) -> float:
        return math.sqrt(math.fsum(k * step.psi_limit**2 for step, k in self.parts))

    @property
    def zcdp_rho(self) -> float:
        return math.fsum(k * step.zcdp_rho for step, k in self.parts)

    scales_by_group = False

    def group(self, size: int) -> FiniteStep:
        raise unknown_group("joint")


def joint_step(steps: Sequence[CountedStep], most: int) -> Step | None:
    """One step for all of these, which are atoms; None if that takes more than ``most`` of them."""
    bare = []
    for step, k in steps:
        a = step.atoms
        bare.append((Finite(a.log_p - a.loss, a.loss, a.only0, a.only1, step.symmetric), k))
    written = finite_product(bare, most)
    if written is None:
        return None
    mirrored = all(step.symmetric for step, _ in steps)
    rho = _ERROR + math.fsum(k * step.rho for step, k in steps)
    if all(np.isfinite(step.loss_range).all() for step, _ in steps):
        return FiniteStep(written.atoms(), mirrored, rho=rho)
    return JointFiniteStep(written.atoms(), mirrored, rho=rho, parts=tuple(steps))
