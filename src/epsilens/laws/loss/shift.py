"""The least μ with f ≥ G_μ of a product, from both sides: sup Φ⁻¹(TPR) − Φ⁻¹(α) over its ROC curve.

The curve lies below every line h(t) + tα. On a segment of α it is below one of them, and G_μ, which is concave, is
above that line there if it is at both ends: so the largest gap at the ends of the segments bounds μ from above, and the
gap of any test that surely exists bounds it from below. Only points with α + TPR ≤ 1 are looked at; the other order
mirrors the rest. Beyond the last segment no loss exceeds its largest, and TPR ≤ e^L·α has a gap that falls as α does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri_exp

from ...checks import Array
from .order import MOST_WORK, Order, Work
from .plan import HALF, Ask
from .slice import Lower, Upper
from .step import Counted

__all__ = ["least_shift"]

_MOST = 40  # slices
_APART = 4.0  # of what slices are made for, in standard deviations
_LAST = -690.0  # log α


def least_shift(views: Sequence[tuple[Order, Order, float]], steps: Sequence[Counted]) -> tuple[float, float]:
    """(low, high) of the least μ; each view is an order, the other one, and the largest loss of the first."""
    low = high = 0.0
    known = [(0.0, math.fsum(k * step.most_rho for step, k in steps))]
    bounded = [(max(-step.ends[0], step.ends[1]), step, k) for step, k in steps]
    rest = math.fsum(k * step.most_rho for most, step, k in bounded if not math.isfinite(most))
    known.append((math.fsum(k * most for most, _, k in bounded if math.isfinite(most)), rest))
    for forward, back, most in views:
        a, b = _largest_gap(forward, most)
        if not b <= a * (1 + 2 * forward.width):  # as it is where nearly everyone is told apart
            c, d = _probit_gap(forward, back, most, known)
            a, b = max(a, c), min(b, d)
        low, high = max(low, a), max(high, b)
    return low, high


def _largest_gap(order: Order, most: float) -> tuple[float, float]:
    """(low, high) of the gap where α + TPR ≤ 1, no loss being above ``most``; high is infinite where none is known."""
    low = high = 0.0
    if not math.isfinite(most):
        return low, math.inf
    reached, ahead = math.inf, 0.0  # how far down in log α it is known, and how far beyond the next slice is made
    ask = Ask("delta", 0.0)
    for _ in range(_MOST):
        upper, lower = order.make(ask, order.width).sides
        low = max(low, _tests(lower))
        log_alpha, gap = _segments(upper)
        enough = low * (1 + order.width) + 1e-12
        if math.isinf(reached):
            first = 0 if gap.size and gap[0] == 0 else -1  # the first points are mirrored in the other order
        else:
            first = int(np.searchsorted(-log_alpha, -reached, side="right")) - 1  # the segment it lies in
        wide = np.flatnonzero(~(gap[max(first, 0) :] <= enough))
        last = first + int(wide[0]) - 1 if wide.size else gap.size - 1
        if first >= 0 and last > first:
            high, reached, ahead = max(high, float(gap[first : last + 1].max())), float(log_alpha[last]), _APART
        elif ahead == 0:
            return low, math.inf
        else:  # it does not serve here: one made nearer
            ahead = ahead / 2 if ahead > 0.5 else 0.0
        if _beyond(reached, most) <= enough:
            return low, max(high, low)
        if reached < _LAST:
            break
        ask = Ask("roc", max(float(log_ndtr(ndtri_exp(reached) - ahead)), _LAST))
    return low, math.inf


def _beyond(log_alpha: float, most: float) -> float:
    """The gap of e^L·α."""
    return float(ndtri_exp(log_alpha + most) - ndtri_exp(log_alpha)) if log_alpha + most < HALF else math.inf


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
    gap[here] = ndtri_exp(np.minimum(log_recall[here], 0.0)) - ndtri_exp(np.minimum(log_alpha[here], 0.0))
    return gap


def _probit_gap(
    forward: Order, back: Order, most: float, concentrated: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """(low, high) of sup over α ≤ ½ of Φ⁻¹(TPR(α)) − Φ⁻¹(α), where no loss exceeds ``most`` and D_a ≤ ξ + ρ·a.

    The last, for each (ξ, ρ), gives −log TPR ≥ (√A − √ρ)² with A = −log α − ξ: a gap of √(2ρ) and a little, ever less.
    """
    z = np.linspace(0.0, 37.0, 75)
    low, ahead, behind = 0.0, Work(), Work()
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
        if not wide.any() or z.size > 4000 or ahead.spent + behind.spent > MOST_WORK:
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
