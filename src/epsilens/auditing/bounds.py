"""Evidence of a number of runs fixed beforehand: exact binomial bounds on guesses chosen on other runs.

The event is chosen on a pilot; on fresh runs, given how many guesses were made, the right ones are binomial. At δ = 0
that bounds ε by itself: ε ≥ logit of the Clopper–Pearson bound on the precision. With δ > 0 the precision a claim
allows depends on how often the attacker speaks, which is bounded from below first (a share 1/10 of the level is paid
for it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import bdtrc, betaincinv, expit, logit

from .claims import Claim

_PAID = 0.1  # of the level, for how often the attacker speaks


def clopper_pearson(right: int, guesses: int, alpha: float) -> float:
    """A lower bound on the success probability that fails with probability at most α.

    >>> round(clopper_pearson(75, 100, 0.05), 6)
    0.668678
    """
    return float(betaincinv(right, guesses - right + 1, alpha)) if right > 0 else 0.0


@dataclass(frozen=True)
class Counts:
    """Guesses on fresh runs: how many, right ones, out of how many runs, about one side or both.

    ``always`` says that an attacker speaks whatever comes: how often need then not be bounded.
    """

    right: int
    guesses: int
    runs: int
    sides: int = 2
    always: bool = False

    def epsilon(self, alpha: float) -> float:
        """The bound on ε at δ = 0: logit of the bound on the precision, not below 0.

        >>> round(Counts(75, 100, 1000).epsilon(0.05), 4)
        0.7022
        """
        return max(0.0, float(logit(clopper_pearson(self.right, self.guesses, alpha)))) if self.guesses else 0.0

    def success(self, alpha: float) -> float:
        """The bound on how often the best guess is right, where silence counts as a coin's toss."""
        return max(0.5, clopper_pearson(self.right, self.guesses, alpha)) if self.guesses else 0.5


def p_value(counts: Counts, claim: Claim, alpha: float = 0.05) -> float:
    """How likely so many right guesses are, at most, if the claim holds.

    A pure line needs no rate: P[Bin(r, e^ε/(1+e^ε)) ≥ k]. An attacker who always speaks has the rate 1. Otherwise it is
    at least its Clopper–Pearson bound π but for a tenth of the level: P[Bin(r, q₀(π)) ≥ k] + α/10.
    """
    if not counts.guesses:
        return 1.0
    tails = []
    if math.isfinite(claim.pure):
        tails.append(_tail(counts, float(expit(claim.pure))))
    if not claim.alone and counts.always:
        tails.append(_tail(counts, float(claim.most_precise(1.0))))
    elif not claim.alone:
        paid = _PAID * alpha
        least = clopper_pearson(counts.guesses, counts.runs, paid)
        tails.append(_tail(counts, float(claim.most_precise(least, counts.sides))) + paid)
    return min(1.0, min(tails) * len(tails))


def _tail(counts: Counts, precision: float) -> float:
    """P[Bin(guesses, precision) ≥ right]."""
    if counts.right == 0 or precision >= 1:
        return 1.0
    return float(bdtrc(counts.right - 1, counts.guesses, precision))


def largest_epsilon(guesses: int, alpha: float) -> float:
    """The bound that guesses without a single error would give: logit(α^{1/n}).

    >>> round(largest_epsilon(1000, 0.05), 3)
    5.809
    """
    if guesses < 1:
        return 0.0
    log_precision = math.log(alpha) / guesses
    return max(0.0, log_precision - math.log(-math.expm1(log_precision)))
