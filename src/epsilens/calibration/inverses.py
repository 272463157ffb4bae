"""Closed-form inverses: the largest shift m (Laplace) or ψ (normal) that keeps a reading at or under a limit.

Each returns None where no closed form is known, +∞ where nothing violates the limit. The caller has checked that the
limit is at or above the floor, and reads the answer again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import erf, lambertw, log_ndtr

from ..laws.normal import psi_for_delta
from ..numerics.special import half_normal_quantile, probit_gap

Arguments = Mapping[str, float]


def _alpha_at_precision(recall: float, precision: float, prior: float) -> float:
    """precision = πR/(πR + (1−π)α) solved for α."""
    return recall * (1 - precision) * prior / (precision * (1 - prior))


def _recall_at_precision(alpha: float, precision: float, prior: float) -> float:
    return alpha * precision * (1 - prior) / ((1 - precision) * prior)


# -- Laplace ----------------------------------------------------------------------------------------------------


def _laplace_success(limit: float, prior: float) -> float:
    # m = |log c| − 2·log(1 − (s − floor)/(1 − floor)); at the floor, the turning point |log c|
    floor = max(prior, 1 - prior)
    return abs(math.log1p(-prior) - math.log(prior)) - 2 * math.log1p(-(limit - floor) / (1 - floor))


def _two_laplaces_quantile(p: float) -> float:
    """The x with 1 − e^{−x}(2+x)/4 = p ≥ ½: −2 − W₋₁(−4(1−p)e^{−2}); Newton steps restore the digits near ½."""
    x = max(float(-2 - lambertw(-4 * (1 - p) * math.exp(-2), -1).real), 0.0)
    for _ in range(2):
        over = -0.5 * math.expm1(-x) - 0.25 * x * math.exp(-x) - (p - 0.5)
        x = max(x - 4 * over / (math.exp(-x) * (1 + x)), 0.0)
    return x


def _laplace_fbeta(limit: float, beta: float, prior: float) -> float:
    b2, c = beta * beta, (1 - prior) / prior
    t = b2 * limit / ((1 + b2) * (1 - limit))
    return math.log(c * t * (1 + t) / b2)


def _laplace_roc(limit: float, alpha: float) -> float:
    if alpha == 0:
        return math.inf
    if alpha > 0.5:
        return math.log1p((limit - alpha) / (1 - limit))
    return math.log1p((limit - alpha) / alpha) if limit <= 0.5 else -math.log(4 * alpha * (1 - limit))


def _laplace_posterior(limit: float, prior: float) -> float:
    return math.log1p((limit - prior) / (prior * (1 - limit)))


def _laplace_precision(limit: float, prior: float, alpha: float | None = None, recall: float | None = None) -> float:
    if alpha is not None:
        reached = _recall_at_precision(alpha, limit, prior)
        return math.inf if reached >= 1 else _laplace_roc(max(reached, alpha), alpha)
    assert recall is not None
    if recall <= 0.5:
        return _laplace_posterior(limit, prior)
    least = _alpha_at_precision(recall, limit, prior)
    return -math.log(4 * least * (1 - recall)) if least <= 0.5 else math.log1p((recall - least) / (1 - recall))


def _laplace_psi(limit: float) -> float:
    if limit < 4:
        return -2 * math.log1p(-float(erf(limit / math.sqrt(8))))
    return -2 * (float(log_ndtr(-limit / 2)) + math.log(2))


_LAPLACE: dict[str, Callable[..., float]] = {
    "success": _laplace_success,
    "advantage": lambda limit: -2 * math.log1p(-limit),
    "auc": _two_laplaces_quantile,
    "fbeta": _laplace_fbeta,
    "posterior": _laplace_posterior,
    "precision": _laplace_precision,
    "roc": lambda limit, fpr: _laplace_roc(limit, fpr),
    "recall": lambda limit, alpha: _laplace_roc(limit, alpha),
    "attack_success": lambda limit, baseline: _laplace_roc(limit, baseline),
    "delta": lambda limit, epsilon: epsilon - 2 * math.log1p(-limit),
    "epsilon": lambda limit, delta: limit - 2 * math.log1p(-delta) if delta < 1 else math.inf,
    "psi": _laplace_psi,
    "mu": lambda limit, level: _laplace_psi(limit),
}


# -- normal -----------------------------------------------------------------------------------------------------


def _normal_roc(limit: float, alpha: float) -> float:
    if alpha == 0:
        return math.inf
    return float(probit_gap(np.asarray(alpha), np.asarray(limit - alpha), np.asarray(1 - limit)))


def _normal_precision(limit: float, prior: float, alpha: float | None = None, recall: float | None = None) -> float:
    if alpha is not None:
        reached = _recall_at_precision(alpha, limit, prior)
        return math.inf if reached >= 1 else _normal_roc(max(reached, alpha), alpha)
    assert recall is not None
    return _normal_roc(recall, _alpha_at_precision(recall, limit, prior))


def _half(p: float) -> float:
    return float(half_normal_quantile(np.asarray(p)))


_NORMAL: dict[str, Callable[..., float | None]] = {
    "success": lambda limit, prior: 2 * _half(2 * limit - 1) if prior == 0.5 else None,
    "advantage": lambda limit: 2 * _half(limit),
    "auc": lambda limit: math.sqrt(2) * _half(2 * limit - 1),
    "precision": _normal_precision,
    "roc": lambda limit, fpr: _normal_roc(limit, fpr),
    "recall": lambda limit, alpha: _normal_roc(limit, alpha),
    "attack_success": lambda limit, baseline: _normal_roc(limit, baseline),
    "delta": lambda limit, epsilon: psi_for_delta(epsilon, limit) if limit > 0 else None,
    "epsilon": lambda limit, delta: psi_for_delta(limit, delta) if 0 < delta < 1 else None,
    "psi": lambda limit: limit,
    "mu": lambda limit, level: limit,
    "kl": lambda limit: math.sqrt(2 * limit),
    "renyi": lambda limit, order: math.sqrt(2 * limit / order) if 0 < order < math.inf else None,
    "chernoff": lambda limit: math.sqrt(8 * limit),
}


def _solve(
    table: Mapping[str, Callable[..., float | None]], reading: str, limit: float, given: Arguments
) -> float | None:
    if reading not in table:
        return None
    if limit >= 1 and reading not in ("epsilon", "psi", "mu", "kl", "renyi", "chernoff"):
        return math.inf
    try:
        return table[reading](limit, **given)
    except (ValueError, ZeroDivisionError, OverflowError):  # an edge such as a prior of 0: leave it to the search
        return None


def laplace_shift(reading: str, limit: float, given: Arguments) -> float | None:
    """The largest m = ε·shift/sensitivity with reading ≤ limit."""
    return _solve(_LAPLACE, reading, limit, given)


def normal_shift(reading: str, limit: float, given: Arguments) -> float | None:
    """The largest ψ with reading ≤ limit."""
    return _solve(_NORMAL, reading, limit, given)


def two_laplaces_shift(reading: str, limit: float, given: Arguments) -> float | None:
    """The largest shift of a sum of two Laplaces (paper 001's two noisy answers) with reading ≤ limit.

    Success at an even prior is the cdf at half the shift: ε = (−8 − 4·W₋₁(−4(1−t)e^{−2}))/r.
    """
    if reading == "advantage":
        limit = (1 + limit) / 2
    elif reading != "success" or given.get("prior") != 0.5:
        return None
    return math.inf if limit >= 1 else 2 * _two_laplaces_quantile(limit)
