"""ψ of a product from its curve: the largest gap between the probits of the two rates, refined where it could be."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri_exp

from .order import MOST_WORK, Order, Work

__all__ = ["probit_gap"]

_LOG_HALF = math.log(0.5)


def probit_gap(forward: Order, back: Order, most: float) -> tuple[float, float]:
    """(low, high) of sup over α ≤ ½ of Φ⁻¹(TPR(α)) − Φ⁻¹(α), where no loss exceeds ``most``."""
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
        high = max(high, float(ndtri_exp(far)) + 37.0 if far < _LOG_HALF else math.inf)
    else:
        high = math.inf
    return low, high
