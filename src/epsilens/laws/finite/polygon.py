"""The largest of many lines: the polygon that several (ε, δ) claims leave between a trade-off curve and the corner.

A release that is (ε_i, δ_i)-DP for every i has a trade-off curve above each of the lines 1 − δ_i − e^{ε_i}·α and its
mirror image e^{−ε_i}(1 − δ_i − α) (Wasserman & Zhou 2010; Dong, Roth & Su 2022, eq. 5). The largest of these lines is
convex, so it is a trade-off curve itself: the polygon belongs to a pair of laws that satisfies every claim, and no
release that satisfies them all is riskier in any reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...checks import Array

#: log H0-masses, log-likelihood ratios, and the masses that only H0 and only H1 shows.
Masses = tuple[Array, Array, float, float]


def polygon(epsilon: Array, delta: Array, reverse: tuple[Array, Array] | None = None) -> Masses:
    """The pair of laws of the claims H1(S) ≤ e^{ε_i}·H0(S) + δ_i, ε_i ≥ 0 finite, and of the same in the other order.

    ``reverse`` holds (ε_j, δ_j) with H0(S) ≤ e^{ε_j}·H1(S) + δ_j; without it the claims hold in both orders. Line i is
    the largest one on an interval of α, whose length is the H0-mass of an atom with log-likelihood ratio ε_i; the lines
    of the other order do the same from the far corner, with the axes exchanged. The two halves meet in one point.
    """
    one = _Half.of(epsilon, delta)
    other = one if reverse is None else _Half.of(*reverse)
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
class _Half:
    """The lines β = 1 − d − e^ε·α that are the largest somewhere, by rising ε; ``cut`` is log α where each stops."""

    eps: Array
    d: Array
    cut: Array

    @classmethod
    def of(cls, epsilon: Array, delta: Array) -> _Half:
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

    def with_zero(self, other: _Half) -> _Half:
        """At ε = 0 the two orders are one claim: the smaller δ holds for both."""
        if other.eps[0] > 0 or (self.eps[0] == 0 and self.d[0] <= other.d[0]):
            return self
        return _Half.of(np.append(0.0, self.eps), np.append(other.d[0], self.d))

    def last(self, other: _Half) -> int:
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


def _meeting(one: _Half, other: _Half, i: int, j: int) -> tuple[float, float]:
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
