"""What the optimal adversary gets right, with a prior: success, advantage, belief, precision and Fβ.

With prior π = P(H1) and c = (1−π)/π, the best guess is right with probability (1−π) + π·h(c), where
h(t) = ∫(dH1 − t·dH0)₊. At π = ½ this is (1 + TV)/2, paper 001's P_SDA.

At false-positive rate α with R = 1 − f(α) (paper 000, §3–4, corrected): precision = R/(R + cα) and
Fβ = (1+β²)R/(R + cα + β²). Neyman–Pearson tests maximise precision at each recall, hence Fβ too.
"""

from __future__ import annotations

import numpy as np

from ..checks import Array
from ..numerics.roots import root
from .law import Law

_PATIENCE = 24


def log_odds(prior: Array) -> Array:
    """log c = log((1−π)/π): +∞ for π = 0, −∞ for π = 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(-prior) - np.log(prior))


def success(law: Law, prior: Array) -> Array:
    """Probability that the optimal adversary guesses right: never below that of the likelier world."""
    value = (1 - prior) + prior * law.profile(log_odds(prior))
    return np.asarray(np.clip(value, np.maximum(prior, 1 - prior), 1.0))


def advantage(law: Law) -> Array:
    """TPR − FPR at its best: the total variation distance, h(1) = δ(0)."""
    return law.profile(np.asarray(0.0))


def posterior(law: Law, prior: Array) -> Array:
    """The supremum of P(H1 | observation): π·e^L/(π·e^L + 1 − π), L the largest log-likelihood ratio."""
    with np.errstate(over="ignore", invalid="ignore"):
        odds = np.exp(log_odds(prior) - law.max_llr())
    # A prior of 0 (or 1) is certainty: no observation moves it.
    return np.asarray(np.where(prior == 0, 0.0, np.where(prior == 1, 1.0, 1 / (1 + odds))))


def odds(prior: Array) -> Array:
    """c = (1−π)/π; infinite for π = 0."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray((1 - prior) / prior)


def _precision(law: Law, alpha: Array, recall: Array, prior: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # At α = 0 the ratio α/R is its limit e^{−L}; L is infinite where recall is already positive.
        ratio = np.where(alpha > 0, alpha / recall, np.where(recall > 0, 0.0, np.exp(-law.max_llr())))
        value = 1 / (1 + odds(prior) * ratio)
    return np.asarray(np.where(prior == 0, 0.0, np.where(prior == 1, 1.0, value)))


def precision(law: Law, alpha: Array, prior: Array) -> Array:
    """Share of those flagged who are truly H1, for the optimal test with false-positive rate α."""
    return _precision(law, alpha, law.roc(alpha), prior)


def precision_at_recall(law: Law, recall: Array, prior: Array) -> Array:
    """The best precision among tests that reach this recall."""
    return _precision(law, law.inverse_roc(recall), recall, prior)


def fbeta_floor(beta: Array, c: Array) -> Array:
    """Fβ of flagging everyone, which pure noise already reaches: (1+β²)/(1+β²+c)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.where(np.isinf(c), 0.0, 1 / (1 + c / (1 + beta * beta))))


def _best_threshold(law: Law, b2: Array, c: Array) -> Array:
    """log t with h(t) = t·β²/c: between flagging everyone, t = c/(c + β²), and c/β², as h ≤ 1."""
    b2, c = np.broadcast_arrays(b2, c)
    usual = (b2 > 0) & (c > 0) & np.isfinite(c)
    b2, c = np.where(usual, b2, 1.0), np.where(usual, c, 1.0)
    aim = np.log(b2) - np.log(c)

    def excess(u: Array) -> Array:
        return np.asarray(np.log(law.profile(u)) - u - aim)

    result = root(excess, -np.log1p(b2 / c), -aim, rtol=1e-12)
    return np.where(usual, result, 0.0)


def fbeta_by_thresholds(law: Law, beta: Array, c: Array, *, error: float = 0.0) -> Array:
    """The largest Fβ by Dinkelbach's method, for laws without a closed form.

    Fβ* is the root of max_α (1+β²)R − F·(R + cα + β²) = 0, and the inner maximum is the threshold test at
    likelihood ratio t = F·c/(1+β²−F): the posterior cut-off is F/(1+β²) for every mechanism. Each step moves F up
    to what that test reaches, so the iterates increase, and converge superlinearly once near. With h the profile, the
    best threshold satisfies h(t) = t·β²/c; where many steps have not come near (priors of 1e-50), that root is sought
    instead. ``error`` is the relative rounding of the law's masses, added to what exceeds the floor.
    """
    b2 = beta * beta
    floor = best = fbeta_floor(beta, c)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in range(200):
            if k == _PATIENCE:
                alpha, recall = law.at(_best_threshold(law, b2, c))
            else:
                alpha, recall = law.at(np.log(best) + np.log(c) - np.log(1 + b2 - best))
            reached = np.where(recall > 0, (1 + b2) / (1 + (c * alpha + b2) / recall), 0.0)
            better = np.maximum(best, np.where(np.isfinite(reached), reached, best))
            if np.all(better <= best * (1 + 4e-16)) and k != _PATIENCE:
                break
            best = better
    best = np.where(best > floor, np.minimum(best * (1 + error), 1.0), floor)
    return np.asarray(np.where(c == 0, 1.0, best))
