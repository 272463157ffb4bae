"""Evidence that holds whenever one stops: bets against a claim, which a true claim does not let grow.

A fair coin picks the world of each run; an attacker who has seen the runs before this one guesses, or stays silent. If
the claim holds, the capital of whoever bets on the guesses is a nonnegative supermartingale E with E₀ = 1, so it ever
reaches 1/α with probability at most α (Ville): one may look after every run and stop at will.

* A pure claim: a guess is right with probability at most q₀ = e^ε/(1+e^ε), whatever came before. The capital is the
  likelihood ratio against q₀, averaged over q > q₀ with the weight of the arcsine law:

      E = B(½+S, ½+F)·sf(q₀; ½+S, ½+F) / [B(½, ½)·sf(q₀; ½, ½)·q₀^S·(1−q₀)^F],   S right, F wrong.

* A line (ε, δ): Z = 1{guess}(1{right} − e^ε·1{wrong}) − δ has mean at most 0, so Π(1 + λZ) is such a capital for every
  λ < 1/(e^ε + δ). The line for the next runs is chosen from what was known before them, and several λ are averaged.

Bounds follow by asking which claims are refuted: the bound is the least value that is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaln, expit

from ..checks import Array
from .claims import Claim

__all__ = ["Bets", "Plan", "first_kept", "log_capital", "log_precision_capital", "refuted"]

_STAKES = np.array([0.04, 0.12, 0.3, 0.7])  # of the bet that a wrong guess would lose entirely


def log_precision_capital(right: ArrayLike, wrong: ArrayLike, precision: ArrayLike) -> Array:
    """log E after so many right and wrong guesses, against every precision up to q₀.

    >>> float(np.round(np.exp(log_precision_capital([10, 9], [0, 1], 0.75)), 4)[0])
    9.2447
    """
    s, f = np.asarray(right, dtype=float), np.asarray(wrong, dtype=float)
    q0 = np.asarray(precision, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        # the tail as the upper one of Beta(a, b) or the lower one of Beta(b, a): whichever keeps its digits
        tail = np.where(q0 < 0.5, betaincc(0.5 + s, 0.5 + f, q0), betainc(0.5 + f, 0.5 + s, 1 - q0))
        first = np.where(q0 < 0.5, betaincc(0.5, 0.5, q0), betainc(0.5, 0.5, 1 - q0))
        lost = np.where(f > 0, f * np.log1p(-q0), 0.0)
        value = betaln(0.5 + s, 0.5 + f) + np.log(tail) - math.log(math.pi) - np.log(first) - s * np.log(q0) - lost
    return np.asarray(np.where(q0 >= 1, np.where(f > 0, -np.inf, 0.0), value))


@dataclass(frozen=True)
class Plan:
    """What was known before a bet: how often the attacker speaks, and about one side or both."""

    share: float
    sides: int = 2


@dataclass
class Bets:
    """The guesses of one attacker, in rounds: right, wrong, silent, and the plan in force in each.

    ``weight`` is the share of the capital that this attacker starts with, against pure claims and against lines.
    """

    weight: tuple[float, float] = (1.0, 1.0)
    plans: list[Plan] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)

    def add(self, plan: Plan, right: int, wrong: int, silent: int) -> None:
        """One more round; what is added to the last plan while it is in force is one round with it."""
        if self.plans and self.plans[-1] is plan:
            self.right[-1] += right
            self.wrong[-1] += wrong
            self.silent[-1] += silent
            return
        self.plans.append(plan)
        self.right.append(right)
        self.wrong.append(wrong)
        self.silent.append(silent)

    @property
    def totals(self) -> tuple[int, int, int]:
        """Right, wrong, silent."""
        return sum(self.right), sum(self.wrong), sum(self.silent)


def log_capital(attackers: Sequence[Bets], claim: Claim) -> Array:
    """log E against a claim after each round; the claim is refuted at level α where it reaches log(1/α).

    The attackers have played the same rounds; the capital is what they have together.
    """
    if not attackers[0].plans:
        return np.zeros(0)
    parts, weights = [], []
    both = 0.5 if math.isfinite(claim.pure) and not claim.alone else 1.0
    for bets in attackers:
        counts = [np.asarray(c, dtype=float) for c in (bets.right, bets.wrong, bets.silent)]
        if math.isfinite(claim.pure):
            q0 = float(expit(claim.pure))
            parts.append(log_precision_capital(np.cumsum(counts[0]), np.cumsum(counts[1]), q0))
            weights.append(both * bets.weight[0])
        if not claim.alone:
            parts.append(_line_capital(bets.plans, counts, claim))
            weights.append(both * bets.weight[1])
    return _log_mean(np.stack(parts, axis=1), np.array(weights))


def _log_mean(logs: Array, weights: Array) -> Array:
    """log Σ w·e^x in each row."""
    most = logs.max(axis=1)
    base = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(base + np.log(np.exp(logs - base[:, None]) @ weights))


def refuted(attackers: Sequence[Bets], claim: Claim, alpha: float) -> bool:
    """Whether the capital against the claim ever reached 1/α."""
    path = log_capital(attackers, claim)
    return bool(path.size and path.max() >= -math.log(alpha))


def _line_capital(plans: Sequence[Plan], counts: Sequence[Array], claim: Claim) -> Array:
    """The line of each round is the one on which a guess this frequent has least to lose, known beforehand."""
    known = {plan: claim.tightest(plan.share, plan.sides) for plan in dict.fromkeys(plans)}
    loss, charge = np.array([known[plan] for plan in plans]).T[:, :, None]
    stake = _STAKES / (loss + charge)
    right, wrong, silent = (c[:, None] for c in counts)
    grown = (
        right * np.log1p(stake * (1 - charge))
        + wrong * np.log1p(-stake * (loss + charge))
        + silent * np.log1p(-stake * charge)
    )
    return _log_mean(np.cumsum(grown, axis=0), np.full(_STAKES.size, 1 / _STAKES.size))


def first_kept(
    is_refuted: Callable[[float], bool], high: float, *, low: float = 0.0, steps: int = 40, fine: int = 0
) -> float:
    """The least value that is not refuted, from below; ``low`` where nothing is, ``high`` where all are.

    A grid finds the first value that is kept, so that one refuted again further up does no harm. Where the capital does
    not simply fall with the value, ``fine`` more values are tried below the boundary that was found.

    >>> round(first_kept(lambda x: x < 0.3, 1.0), 6)
    0.3
    """
    grid = np.linspace(low, high, steps + 1)
    if not is_refuted(float(grid[0])):
        return low
    for start, right in zip(grid[:-1].tolist(), grid[1:].tolist(), strict=True):
        if not is_refuted(right):
            left = start
            for _ in range(30):
                middle = 0.5 * (left + right)
                left, right = (middle, right) if is_refuted(middle) else (left, middle)
            return _before(is_refuted, start, float(left), fine)
    return high


def _before(is_refuted: Callable[[float], bool], start: float, end: float, fine: int) -> float:
    """The last of the values from ``start`` to ``end`` before the first one that is kept."""
    last = start
    for value in np.linspace(start, end, fine + 1)[1:].tolist() if fine else [end]:
        if value < end and not is_refuted(value):
            return last
        last = value
    return float(last)
