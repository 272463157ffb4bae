"""Readings of the curve as a whole that need a search, and divergences of the two laws: ψ, Rényi, Chernoff.

Divergences are in nats: D is from H0 to H1; ``reverse()`` gives the other order. With E(a) = ∫ dH1^a dH0^{1−a}:
D_a(H0‖H1) = log E(1−a)/(a−1), KL is its limit at a → 1, and the Chernoff information is −min_a log E(a), reached inside
[0, 1].

The cut-off of the best test on the answer itself (paper 000, Theorem 3 and Eq. 14).

For one number with Laplace or Gaussian noise the likelihood ratio grows towards the answer of H1, so the best test at a
false-alarm rate α calls H1 where the answer lies beyond the upper α-quantile of the noise, seen from the answer of H0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import ndtri, ndtri_exp

from ..checks import Array
from ..errors import InputError
from ..numerics.roots import minimum
from .law import FAR_ORDER, Law

_LEAST = 1e-300  # of an error whose probit is known


def psi_by_tangents(
    law: Law, thresholds: Array, split: Callable[[Array], tuple[Array, ...]], *, most: int = 20_000
) -> float:
    """An upper bound on sup_α Φ⁻¹(1−α) − Φ⁻¹(f(α)), to 1e-9 of the value where the optimum is isolated.

    f is convex, so between two known points it lies above the tangents there, whose slopes are the likelihood-ratio
    thresholds; the bound is taken at their crossing, and stretches that could still hold the supremum are refined.
    ``thresholds`` are log-likelihood ratios that cover the range, ends included. ``split`` gives α, recall and
    1 − recall with all its digits; α within 1e-9 of 1 is left to a second call with the laws reversed. Of tests with an
    error that no double holds, all that is known is the largest likelihood ratio.
    """
    full = 1 - 1e-9
    u = np.unique(np.clip(thresholds[np.isfinite(thresholds)], -700.0, 700.0))
    best, bound = 0.0, np.inf
    for _ in range(40):
        alpha, recall, rest = split(u)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            here = -ndtri(alpha) + np.where(recall > 0.5, -ndtri(rest), ndtri(recall))
            live = (alpha > _LEAST) & (rest > _LEAST) & (alpha < full)
            best = max(best, float(np.max(here[live], initial=0.0)))
            t0, t1 = np.exp(u[:-1]), np.exp(u[1:])
            gap = np.where(recall[:-1] > 0.5, rest[1:] - rest[:-1], recall[:-1] - recall[1:])
            a = np.clip((gap - t0 * alpha[:-1] + t1 * alpha[1:]) / (t1 - t0), alpha[1:], alpha[:-1])
            less = t0 * (alpha[:-1] - a)
            hit, miss = np.clip(recall[:-1] - less, 0.0, 1.0), np.clip(rest[:-1] + less, 0.0, 1.0)
            crossing = np.where(hit > 0.5, -ndtri(miss), ndtri(hit)) - ndtri(a)
            crossing = np.where((a > 0) & (a < full) & (miss > 0), crossing, 0.0)
        before, bound = bound, max(best, float(np.max(np.where(np.isfinite(crossing), crossing, 0.0), initial=0.0)))
        wide = crossing > best * (1 + 1e-9) + 1e-12
        # where finer stretches bound no better, rounding decides
        if not wide.any() or u.size > most or (u.size > 500 and bound > before * (1 - 1e-12)):
            break
        finer = (np.linspace(a, b, 6) for a, b in zip(u[:-1][wide], u[1:][wide], strict=True))
        u = np.unique(np.concatenate((u, *finer)))
    return max(bound, _tail_gap(max(float(law.max_llr()), float(law.reverse().max_llr())), alpha, recall, rest))


def _tail_gap(epsilon: float, alpha: Array, recall: Array, rest: Array) -> float:
    """A bound on the gap of tests with a false-positive rate below 1e-300, of a log-likelihood ratio within ±ε; 0 where
    that has no bound. Their recall is at most e^ε times as much, and at most that of a test which has more.
    """
    if not np.isfinite(epsilon):
        return 0.0
    seen = np.flatnonzero((alpha > _LEAST) & (rest > _LEAST))
    if not seen.size:  # two answers of this ε have errors of 1/(1 + e^ε)
        return float(-2 * ndtri_exp(-np.logaddexp(0.0, epsilon)))
    i = seen[np.argmin(alpha[seen])]
    least = min(np.log(recall[i]) - epsilon, np.log(alpha[i]))
    most = -ndtri(rest[i]) if recall[i] > 0.5 else ndtri(recall[i])
    return float(most - ndtri_exp(least))


def practical_mu(law: Law, level: Array) -> Array:
    """μ at each level, which is ψ at level 0."""
    known = {float(a): law.practical(float(a)) if a > 0 else law.psi() for a in np.unique(level)}
    shape = np.broadcast_shapes(level.shape, *(value.shape for value in known.values()))
    return np.asarray(sum(np.where(level == a, value, np.zeros(shape)) for a, value in known.items()))


def renyi(law: Law, order: Array) -> Array:
    """D_a(H0‖H1) for an order a in [0, ∞]; order 1 is KL, order ∞ the largest log-likelihood ratio."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.isfinite(order) & (order > FAR_ORDER)
        a = np.where((order != 1) & np.isfinite(order) & ~far, order, 2.0)
        value = law.log_moment(1 - a) / (a - 1)
        if far.any():
            value = np.where(far, law.far_renyi(np.where(far, order, FAR_ORDER)), value)
        if np.any(order < 0.5):  # 1 − a would round: E(1−a) of the pair is E(a) of its reverse
            value = np.where(a < 0.5, law.reverse().log_moment(np.minimum(a, 0.5)) / (a - 1), value)
    value = np.where(order == 1, law.kl(), np.where(np.isinf(order), law.reverse().max_llr(), value))
    return np.asarray(np.maximum(value, 0.0))


def chernoff(law: Law) -> Array:
    """The Chernoff information: the exponent of the Bayes error over many independent observations.

    log E(a) is convex with log E = 0 at both ends of [0, 1] when the supports agree. At its minimum it is flat, so
    a search for a to √u gives the value to u. A symmetric pair has its minimum at ½.
    """
    if law.members is not None:
        each, shape = law.members
        return np.asarray([float(chernoff(one)) for one in each]).reshape(shape)
    if law.symmetric:
        return np.asarray(np.maximum(-law.log_moment(np.asarray(0.5)), 0.0))
    # With supports that differ the infimum may sit at an end, where E(a) → H(common support).
    ends = min(_log_moment(law, 0.0), _log_moment(law, 1.0))
    return np.asarray(max(-min(minimum(lambda a: _log_moment(law, a), 0.0, 1.0), ends), 0.0))


def _log_moment(law: Law, a: float) -> float:
    return float(law.log_moment(np.asarray(a)))


def threshold(origin: str, parameters: Mapping[str, object], alpha: Array) -> Array:
    """Laplace: −b·log(2α) for α ≤ ½ and b·log(2(1−α)) above; Gaussian: −σ·Φ⁻¹(α)."""
    if origin == "laplace" and np.all(np.asarray(parameters.get("stretch", 1.0)) == 1):
        low = np.minimum(alpha, 0.5)
        with np.errstate(divide="ignore"):
            cut = np.where(alpha <= 0.5, -np.log(2 * low), np.log(2 * (1 - np.maximum(alpha, 0.5))))
        return np.asarray(np.asarray(parameters["scale"]) * cut)
    if origin == "gaussian" and np.all(np.asarray(parameters.get("stretch", 1.0)) == 1):
        return np.asarray(-np.asarray(parameters["sigma"]) * ndtri(alpha))
    raise InputError(
        f"threshold is asked of {origin}: only one number with Laplace or Gaussian noise has a single cut-off; "
        "read recall or roc for the others",
        parameter="threshold",
    )
