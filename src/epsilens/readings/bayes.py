"""Guessing with a prior: success, advantage, the most certain belief.

With prior π = P(H1) and c = (1−π)/π, the best guess is right with probability (1−π) + π·h(c), where
h(t) = ∫(dH1 − t·dH0)₊. At π = ½ this is (1 + TV)/2, paper 001's P_SDA.
"""

from __future__ import annotations

import numpy as np

from ..checks import Array
from .law import Law

__all__ = ["advantage", "log_odds", "posterior", "success"]


def log_odds(prior: Array) -> Array:
    """log c = log((1−π)/π): +∞ for π = 0, −∞ for π = 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log1p(-prior) - np.log(prior))


def success(law: Law, prior: Array) -> Array:
    """Probability that the optimal adversary guesses right."""
    return np.asarray(np.minimum((1 - prior) + prior * law.profile(log_odds(prior)), 1.0))


def advantage(law: Law) -> Array:
    """TPR − FPR at its best: the total variation distance, h(1) = δ(0)."""
    return law.profile(np.asarray(0.0))


def posterior(law: Law, prior: Array) -> Array:
    """The supremum of P(H1 | observation): π·e^L/(π·e^L + 1 − π), L the largest log-likelihood ratio."""
    with np.errstate(over="ignore", invalid="ignore"):
        odds = np.exp(log_odds(prior) - law.max_llr())
    # A prior of 0 (or 1) is certainty: no observation moves it.
    return np.asarray(np.where(prior == 0, 0.0, np.where(prior == 1, 1.0, 1 / (1 + odds))))
