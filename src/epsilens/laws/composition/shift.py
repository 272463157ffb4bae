"""The least μ with f ≥ G_μ of a product, from both sides: sup Φ⁻¹(TPR) − Φ⁻¹(α) over its ROC curve.

The curve lies below every line h(t) + tα. On a segment of α it is below one of them, and G_μ, which is concave, is
above that line there if it is at both ends: so the largest gap at the ends of the segments bounds μ from above, and the
gap of any test that surely exists bounds it from below. Only points with α + TPR ≤ 1 are looked at; the other order
mirrors the rest. Beyond the last segment no loss exceeds its largest, and TPR ≤ e^L·α has a gap that falls as α does.

Sooner than that another bound may do. h is convex, so that a step whose loss lies in [a, b] has a profile below its
chord between e^a and e^b: that of a law with these two losses alone. The product of k of them is a binomial, whose ROC
curve is a polygon, below G_μ where its corners are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtr, ndtri_exp

from ...checks import Array
from .order import Order, Work
from .plan import HALF, Ask
from .slice import Lower, Upper
from .step import Counted
from .work import Budget

_MOST = 40  # slices
_APART = 4.0  # of what slices are made for, in standard deviations
_LAST = -690.0  # log α
_MOST_CORNERS, _LARGE = 20_000, 30.0  # steps, and the loss of one
_U = 2.0**-53
_FINER, _COARSE = (1.0, 0.05, 0.002), 2000  # shares of the width, and how many points a slice may have for another


def least_shift(
    views: Sequence[tuple[Order, Order, float]], steps: Sequence[Counted], budget: Budget
) -> tuple[float, float]:
    """(low, high) of the least μ; each view is an order, the other one, and the largest loss of the first."""
    low = high = 0.0
    known = [(0.0, math.fsum(k * step.most_rho for step, k in steps))]
    bounded = [(max(-step.ends[0], step.ends[1]), step, k) for step, k in steps]
    rest = math.fsum(k * step.most_rho for most, step, k in bounded if not math.isfinite(most))
    known.append((math.fsum(k * most for most, _, k in bounded if math.isfinite(most)), rest))
    for forward, back, most in views:
        corners = _corners(forward)
        for finer in _FINER:
            a, b, points = _largest_gap(forward, most, corners, finer * forward.width, budget)
            b = min(b, _polygon(corners, math.inf))
            # the tests on a coarse lattice say little of the best one
            if b <= a * (1 + 2 * forward.width) or points > _COARSE or budget.left < 0:
                break
        if not b <= a * (1 + 2 * forward.width):  # as it is where nearly everyone is told apart
            c, d = _probit_gap(forward, back, most, known, budget)
            a, b = max(a, c), min(b, d)
        low, high = max(low, a), max(high, b)
    return low, high


def _largest_gap(
    order: Order, most: float, corners: tuple[Array, Array], width: float, budget: Budget
) -> tuple[float, float, int]:
    """(low, high) of the gap where α + TPR ≤ 1, no loss being above ``most``; high is infinite where none is known.

    The slices are made for a relative ``width``; the last number is the points of the longest.
    """
    low = high = 0.0
    points = 0
    if not math.isfinite(most):
        return low, math.inf, _COARSE + 1
    reached, ahead = math.inf, 0.0  # how far down in log α it is known, and how far beyond the next slice is made
    ask = Ask("delta", 0.0)
    for _ in range(_MOST):
        made = order.make(ask, width, budget, width < order.width)
        if made is None:
            return low, math.inf, _COARSE + 1
        upper, lower = made.sides
        low, points = max(low, _tests(lower)), max(points, upper.h.size)
        log_alpha, gap = _segments(upper)
        enough = low * (1 + order.width) + 1e-12
        crossed = int(np.argmax(gap > 0)) if gap.size else 0
        if math.isinf(reached):
            first = 0 if crossed > 0 else -1
        else:
            first = int(np.searchsorted(-log_alpha, -reached, side="right")) - 1  # the segment it lies in
        wide = np.flatnonzero(~(gap[max(first, 0) :] <= enough))
        last = first + int(wide[0]) - 1 if wide.size else gap.size - 1
        # Where the upper side has α + TPR > 1 the curve itself need not. But if G_μ is above where that side crosses
        # over, it has crossed before, and is above whatever has not: all of them count, or none.
        if first >= 0 and last > max(first, crossed):
            high, reached, ahead = max(high, float(gap[first : last + 1].max())), float(log_alpha[last]), _APART
        elif ahead == 0:
            return low, math.inf, points
        else:  # it does not serve here: one made nearer
            ahead = ahead / 2 if ahead > 0.5 else 0.0
        if _beyond(reached, most) <= enough or _polygon(corners, reached) <= enough:
            return low, max(high, low), points
        if reached < _LAST or budget.left < 0:
            break
        ask = Ask("roc", max(float(log_ndtr(ndtri_exp(reached) - ahead)), _LAST))
    return low, math.inf, points


def _beyond(log_alpha: float, most: float) -> float:
    """The gap of e^L·α."""
    return float(ndtri_exp(log_alpha + most) - ndtri_exp(log_alpha)) if log_alpha + most < HALF else math.inf


def _corners(order: Order) -> tuple[Array, Array]:
    """(log α, gap) of the corners of a binomial product that dominates this one, falling in α; none if it is too long.

    H0 has the loss b with probability (1 − e^a)/(e^b − e^a), H1 with e^b times that.
    """
    steps = order.product.steps
    count = order.product.count
    low, high = min(step.ends[0] for step, _ in steps), max(step.ends[1] for step, _ in steps)
    if order.flipped:
        low, high = -high, -low
    if not (count <= _MOST_CORNERS and -_LARGE < low < 0 < high < _LARGE):
        return np.zeros(0), np.zeros(0)
    log_p0 = math.log(-math.expm1(low)) - high - math.log(-math.expm1(low - high))
    rest0 = -math.expm1(-high) / -math.expm1(low - high)  # 1 − that
    j = np.arange(count + 1.0)
    ways = gammaln(count + 1.0) - gammaln(j + 1) - gammaln(count - j + 1)
    log_q = ways + j * log_p0 + (count - j) * math.log(rest0)
    log_p = log_q + j * high + (count - j) * low
    # the logarithms are good to a few units of their largest parts, and the sums to as many as they have terms
    wrong = 16 * _U * (2 * float(gammaln(count + 1.0)) + count * (abs(log_p0) + high - low + 8)) + 4 * _U * count
    log_alpha, log_recall = (np.logaddexp.accumulate(v[::-1])[::-1] for v in (log_q, log_p))
    log_alpha, log_recall = log_alpha - wrong, np.minimum(log_recall + wrong, 0.0)
    here = _here(log_alpha, log_recall)
    here[:-1] |= here[1:]
    return log_alpha, _gaps(log_alpha, log_recall, here)


def _polygon(corners: tuple[Array, Array], log_alpha: float) -> float:
    """The largest gap of the polygon at and below α: of the corners there and the one above."""
    first = max(int(np.searchsorted(-corners[0], -log_alpha)) - 1, 0)
    return float(np.max(corners[1][first:], initial=0.0)) if corners[0].size else math.inf


def _segments(upper: Upper) -> tuple[Array, Array]:
    """log α where one line takes over from the next, falling, and the gap there of the higher one."""
    t, alpha, _ = upper.lines
    live = (alpha > 0) & np.isfinite(alpha)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        most = np.maximum(upper.h[:-1] + t[:-1] * alpha, upper.h[1:] + t[1:] * alpha)[live]
        log_alpha, log_recall = upper.slope_base + np.log(alpha[live]), upper.base + np.log(most)
    log_recall = log_recall * (1 - 1e-13) + 1e-14
    here = _here(log_alpha, log_recall)
    here[:-1] |= here[1:]  # a segment has two ends
    return log_alpha, _gaps(log_alpha, log_recall, here)


def _tests(lower: Lower) -> float:
    """The largest gap of the tests that are known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_alpha, log_recall = lower.alpha_base + np.log(lower.alpha), lower.base + np.log(lower.recall)
    log_alpha, log_recall = log_alpha * (1 - 1e-13) + 1e-14, log_recall * (1 + 1e-13) - 1e-14
    found = _gaps(log_alpha, log_recall, _here(log_alpha, log_recall))
    return float(np.max(found[np.isfinite(found)], initial=0.0))


def _here(log_alpha: Array, log_recall: Array) -> Any:
    """Where α + TPR ≤ 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(log_alpha) + np.exp(log_recall) <= 1


def _gaps(log_alpha: Array, log_recall: Array, here: Any) -> Array:
    """Φ⁻¹(TPR) − Φ⁻¹(α) there; 0 where it is mirrored in the other order."""
    gap = np.zeros(log_alpha.size)
    with np.errstate(invalid="ignore"):  # of α = TPR = 1 none is known
        gap[here] = ndtri_exp(np.minimum(log_recall[here], 0.0)) - ndtri_exp(np.minimum(log_alpha[here], 0.0))
    return gap


def _probit_gap(
    forward: Order, back: Order, most: float, concentrated: Sequence[tuple[float, float]], budget: Budget
) -> tuple[float, float]:
    """(low, high) of sup over α ≤ ½ of Φ⁻¹(TPR(α)) − Φ⁻¹(α), where no loss exceeds ``most`` and D_a ≤ ξ + ρ·a.

    The last, for each (ξ, ρ), gives −log TPR ≥ (√A − √ρ)² with A = −log α − ξ: a gap of √(2ρ) and a little, ever less.
    """
    z = np.linspace(0.0, 37.0, 75)
    low, ahead, behind = 0.0, Work(budget), Work(budget)
    for _ in range(12):
        log_alpha = np.log(np.maximum(ndtr(-z), 1e-300))
        a, b = forward.ask("roc", log_alpha, work=ahead)
        up, down = (ndtri_exp(np.minimum(v, 0.0)) for v in (b, a))
        near = b > -1e-6  # recalls so near 1 are told apart by what is missed
        if near.any():
            missed = back.ask("recall", np.log1p(-np.exp(log_alpha[near])), work=behind)
            up[near], down[near] = -ndtri_exp(missed[0]), -ndtri_exp(missed[1])
        low = max(low, float(np.max(down + z)))
        # between two places TPR grows with α: at most the right TPR against the left α
        cells = up[:-1] + z[1:]
        wide = cells > low * (1 + forward.width) + 1e-12
        if not wide.any() or z.size > 4000 or budget.left < 0:
            break
        z = np.unique(
            np.concatenate((z, *(np.linspace(p, q, 5) for p, q in zip(z[:-1][wide], z[1:][wide], strict=True))))
        )
    high = float(np.max(cells))
    if math.isfinite(most):  # beyond the last place TPR ≤ e^L·α, whose gap falls as α does
        far = float(log_alpha[-1]) + most
        return low, max(high, float(ndtri_exp(far)) + 37.0 if far < HALF else math.inf)
    beyond = math.inf
    for xi, rho in concentrated:
        rest = math.sqrt(max(-float(log_alpha[-1]) - xi, 0.0)) - math.sqrt(rho)
        beyond = min(beyond, float(ndtri_exp(-rest * rest)) + 37.0 if rest > 1 else math.inf)
    return low, max(high, beyond)
