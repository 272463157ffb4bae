"""The least μ with f ≥ G_μ of a product, from both sides: sup Φ⁻¹(TPR) − Φ⁻¹(α) over its ROC curve.

The curve lies below every line h(t) + tα. On a segment of α it is below one of them, and G_μ, which is concave, is
above that line there if it is at both ends: so the largest gap at the ends of the segments bounds μ from above, and the
gap of any test that surely exists bounds it from below. Only points with α + TPR ≤ 1 are looked at; the other order
mirrors the rest. Beyond the last segment no loss exceeds its largest, and TPR ≤ e^L·α has a gap that falls as α does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ...checks import Array
from .order import Order
from .plan import HALF, Ask
from .slice import Lower, Upper

__all__ = ["largest_gap"]

_MOST = 40  # slices
_APART = 4.0  # of what slices are made for, in standard deviations
_LAST = -690.0  # log α


def largest_gap(order: Order, most: float) -> tuple[float, float]:
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
