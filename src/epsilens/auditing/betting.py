"""Evidence that holds whenever one stops: bets against a claim, which a true claim does not let grow.

A fair coin picks the world of each run; an attacker who has seen the runs before this one names a world, or stays
silent. If the claim holds, the capital of whoever bets on the guesses is a nonnegative supermartingale E with E₀ = 1,
so it ever reaches 1/α with probability at most α (Ville): one may look after every run and stop at will.

* A line (ε, δ) of the claim and an event: Z = 1{guess}(1{right} − e^ε·1{wrong}) − δ has mean at most 0 (half of δ where
  only one world is ever named), and Z ≥ −(e^ε + δ). So a = 1 + Z/(e^ε + δ) is at least 0 and has mean at most 1.
* A portfolio: D = Σ_j w_j(a_j − 1) over events j, each with a line of its own, with weights w_j ≥ 0 that sum to at most
  1. Its mean is at most 0 and it is at least −1, so Π(1 + f·D) is such a capital for every 0 ≤ f < 1, whatever the past
  runs that events, lines and weights were chosen on: given the past, each factor has mean at most 1.
* A pure claim: a guess is right with probability at most q₀ = e^ε/(1+e^ε), whatever came before. Besides portfolios
  there is the likelihood ratio against q₀, averaged over q > q₀ with the weight of the arcsine law:

      E = B(½+S, ½+F)·sf(q₀; ½+S, ½+F) / [B(½, ½)·sf(q₀; ½, ½)·q₀^S·(1−q₀)^F],   S right, F wrong.

* An average of such capitals, with weights fixed beforehand, is one: several attackers, portfolios and stakes f play
  side by side, some bold, some cautious, one with the stake that suits all the runs there may be.

Bounds follow by asking which claims are refuted: the bound is the least value that is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaln, expit

from ..checks import Array
from .outcomes import Outcomes, ScoreAttack, Statistic, fixed_statistics, learnt_statistics, score_attack
from .result import ClaimLines, single_line
from .sources import Bits

#: Who holds how much at first. (weights by luck, stake by luck, share, known runs from which on they bet) of
#: portfolios; luck is standard errors that are taken off, and who takes enough off may begin early.
_KELLY = ((0.0, 0.5, 0.03, 20), (0.0, 1.5, 0.04, 1), (1.5, 1.5, 0.04, 1), (3.0, 2.0, 0.04, 1))
_PURE_KELLY = ((0.0, 0.5, 0.15, 20), (0.0, 1.5, 0.15, 1), (1.5, 1.5, 0.1, 1), (3.0, 2.0, 0.1, 1))
_EVEN_STAKES = ((0.1, 0.1), (0.25, 0.2), (0.4, 0.13), (0.6, 0.28), (0.9, 0.14))  # (stake, share)
_TUNED_SHARE = 0.02
_PURE_MIX_SHARE, _PURE_TUNED_SHARE = 0.25, 0.25
_ENOUGH_RUNS = 20  # known runs from which on the others bet
_SHOWN_ERRORS = 3.0  # standard errors by which past runs exceed the claim that is audited
_RARITY_PENALTY = 2.0  # standard errors by which a rare event must exceed a frequent one
_MOST_STAKE = 0.95  # of the stakes: nobody bets all they have


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
class _Bets:
    """What is bet in each round by each attacker, all known before the round.

    ``factors`` are logs of what the capitals are multiplied by, (capitals, rounds, attackers, cells × worlds), and
    ``weights`` their shares of the first coin. ``right`` and ``wrong`` mark where the event of most worth is so, and
    ``mixed`` is the weight of the average over q that is played with it against ``precision``.
    """

    factors: Array
    weights: Array
    right: Array
    wrong: Array
    event: Array
    mixed: float
    precision: float


@dataclass
class History:
    """The rounds of a game: the attacks in force in each, as many as there are attackers, and what came up.

    Fixed before the first are ``alpha``, ``budget``, the most runs there may be, and ``asked``, the ε of the claim that
    is audited where it is pure.
    """

    alpha: float = 0.05
    budget: int = 10_000
    asked: float = math.inf
    rounds: list[tuple[ScoreAttack, ...]] = field(default_factory=list)
    counts: list[Array] = field(default_factory=list)  # (attackers, cells, 2) each
    _known: tuple[Array, ...] | None = field(default=None, repr=False)
    _bets: tuple[ClaimLines, _Bets] | None = field(default=None, repr=False)
    _settled: tuple[_Bets, list[Array]] | None = field(default=None, repr=False)

    def add(self, attacks: tuple[ScoreAttack, ...], counts: Array) -> None:
        """More runs of the round with these attacks."""
        if self.rounds and self.rounds[-1] is attacks:
            self.counts[-1] = self.counts[-1] + counts
            return
        self.rounds.append(attacks)
        self.counts.append(counts)
        self._known = self._bets = None

    @property
    def runs(self) -> int:
        """How many were bet on."""
        return int(sum(float(c[0].sum()) for c in self.counts))

    def known(self) -> tuple[Array, ...]:
        """What was known before each round.

        (runs, right, wrong, second, first, nested, sides, past): guesses of each event that were right and wrong, where
        it names the second and the first world, its weight among nested ones, how many worlds it names, past counts.
        """
        if self._known is None:
            past = np.array([[a.past for a in attacks] for attacks in self.rounds])
            names = np.array([[a.names for a in attacks] for attacks in self.rounds])
            nested = np.array([[a.nested for a in attacks] for attacks in self.rounds])
            second, first = (names > 0).astype(float), (names < 0).astype(float)
            right = (second @ past[..., 1, None] + first @ past[..., 0, None])[..., 0]
            wrong = (second @ past[..., 0, None] + first @ past[..., 1, None])[..., 0]
            sides = second.any(axis=-1).astype(float) + first.any(axis=-1)
            self._known = (past.sum(axis=(-1, -2)), right, wrong, second, first, nested, sides, past)
        return self._known

    def bets(self, claim: ClaimLines) -> _Bets:
        """The bets of all rounds against a claim; those of the last claim are kept while its round goes on."""
        if self._bets is None or self._bets[0] is not claim:
            self._bets = (claim, _all_bets(self, claim))
        return self._bets[1]

    def settled(self, bets: _Bets) -> list[Array]:
        """What the rounds but the last have added up to: no look at the last one changes it."""
        if self._settled is None or self._settled[0] is not bets:
            self._settled = bets, [part.sum(axis=0) for part in _gains(bets, self.counts, slice(0, -1))]
        return self._settled[1]


@dataclass(frozen=True)
class _Lines:
    """Of each event of each round: e^ε and the charge of its line, and what past runs say of it."""

    loss: Array
    charge: Array
    worth: Array  # mean over deviation
    share: Array  # of runs in which it speaks
    runs: Array


def _event_lines(history: History, claim: ClaimLines, pure: bool) -> _Lines:
    runs, right, wrong, _, _, _, sides, _ = history.known()
    n = np.maximum(runs, 1.0)[..., None]
    r, w = right / n, (wrong + 0.5) / n
    if pure:
        loss, charge = np.full(r.shape, math.exp(claim.pure)), np.zeros(r.shape)
    else:
        at = _tightest_lines(claim, 0.5 * sides / (r + w))
        loss, charge = np.exp(claim.epsilon)[at], 0.5 * sides * claim.delta[at]
    worth = _deviations(r, w, loss, charge, sides)
    if pure and claim.pure < history.asked < math.inf:
        # events that past runs show to exceed the larger ε are what refutes the smaller one too: bets agree
        larger = _deviations(r, w, np.full(r.shape, math.exp(history.asked)), charge, sides)
        shown = larger.max(axis=-1, keepdims=True) > _SHOWN_ERRORS / np.sqrt(n)
        worth = np.where(shown, larger, worth)
    return _Lines(loss, charge, worth, np.minimum(r + w, 1.0), n)


def _tightest_lines(claim: ClaimLines, rarity: Array) -> Array:
    """Which line a guess has least to lose on, by how rare it is: min (e^ε + δ·rarity)/(1 + e^ε), nearly.

    Any line is valid, so the rarities are looked up in a table.
    """
    steps = np.linspace(-1.0, 17.0, 600)
    grow = np.exp(claim.epsilon)
    best = np.argmin((grow + claim.delta * np.exp(steps)[:, None]) / (1 + grow), axis=-1)
    with np.errstate(divide="ignore"):
        place = (np.log(rarity) - steps[0]) / (steps[1] - steps[0])
    return np.asarray(best[np.clip(np.rint(place), 0, steps.size - 1).astype(int)])


def _deviations(right: Array, wrong: Array, loss: Array, charge: Array, sides: Array) -> Array:
    mean = right - loss * wrong - charge
    return np.where(sides > 0, mean / np.sqrt(right + loss * loss * wrong + charge * charge), -np.inf)


def event_worth(attacks: Sequence[ScoreAttack], claim: ClaimLines) -> tuple[Array, Array]:
    """By how many deviations a run the events of each attack exceeded the claim on past runs; and how many these were.

    The capital of a good bet on such an event grows by about half its square a run.
    """
    history = History(rounds=[tuple(attacks)])
    lines = _event_lines(history, claim, math.isfinite(claim.pure))
    return lines.worth[0], lines.runs[0, :, 0]


def _portfolio_payoff(history: History, lines: _Lines, weights: Array) -> Array:
    """D of a portfolio in each cell and world: (rounds, attackers, cells, 2); weights are 1 in all, or all 0."""
    _, _, _, second, first, *_ = history.known()
    unit = weights / (lines.loss + lines.charge)
    one, zero = unit[..., None, :], (unit * lines.loss)[..., None, :]
    given1 = one @ second - zero @ first
    given0 = one @ first - zero @ second
    paid = (unit * lines.charge).sum(axis=-1)[..., None]
    return np.stack((given0[..., 0, :] - paid, given1[..., 0, :] - paid), axis=-1)


def _normalise(weights: Array) -> Array:
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1.0))


def _best_event(lines: _Lines) -> Array:
    """The event of most worth in each round, as weights.

    A rare event must exceed a frequent one by more than luck: all have the same error of their worth, and tails of one
    score are much alike.
    """
    at = np.argmax(lines.worth - _RARITY_PENALTY * (1 - np.sqrt(lines.share)) / np.sqrt(lines.runs), axis=-1)[..., None]
    return np.asarray((np.arange(lines.worth.shape[-1]) == at).astype(float))


def _tuned_stake(history: History, lines: _Lines, weights: Array) -> Array:
    """The stake under which all the runs there may be would just refute the least excess that they can."""
    loss, charge, share = ((weights * of).sum(axis=-1) for of in (lines.loss, lines.charge, lines.share))
    q = (loss + charge / share) / (1 + loss)
    spread = share * (q + loss * loss * np.maximum(1 - q, 0.0))  # of Z
    stake = np.sqrt(2 * math.log(2 / history.alpha) / (history.budget * np.maximum(spread, 1e-12)))
    return np.asarray(np.minimum(stake * (loss + charge), 0.9))


def _kelly_stake(history: History, payoff: Array, luck: float) -> Array:
    """The stake at which the capital would have grown fastest on past runs, less some luck."""
    past = history.known()[-1]
    runs = np.maximum(past.sum(axis=(-1, -2)), 1.0)
    mean = (past * payoff).sum(axis=(-1, -2)) / runs
    square = (past * payoff**2).sum(axis=(-1, -2)) / runs + 0.5 / runs
    return np.asarray(np.clip((mean - luck * np.sqrt(square / runs)) / square, 0.0, _MOST_STAKE))


def _all_bets(history: History, claim: ClaimLines) -> _Bets:
    payoffs: list[Array] = []
    weights: list[float] = []

    def play(payoff: Array, stake: float | Array, weight: float, since: int = _ENOUGH_RUNS) -> None:
        payoffs.append((stake * (known >= since))[..., None, None] * payoff)
        weights.append(weight)

    def portfolios(lines: _Lines, players: Sequence[tuple[float, float, float, int]], share: float) -> None:
        """Weights in proportion to how fast each event would have let the capital grow, less some luck."""
        for luck, stakes_luck, weight, since in players:
            excess = np.maximum(lines.worth - luck / np.sqrt(lines.runs), 0.0)
            payoff = _portfolio_payoff(history, lines, _normalise(excess**2))
            play(payoff, _kelly_stake(history, payoff, stakes_luck), share * weight, since)

    known = history.known()[0]

    pure = math.isfinite(claim.pure)
    both = 0.5 if pure and not claim.alone else 1.0
    best = np.zeros(0)
    if not claim.alone:
        lines = _event_lines(history, claim, False)
        even = _portfolio_payoff(history, lines, _normalise(history.known()[5]))
        for stake, weight in _EVEN_STAKES:
            play(even, stake, both * weight)
        best = _best_event(lines)
        play(_portfolio_payoff(history, lines, best), _tuned_stake(history, lines, best), both * _TUNED_SHARE)
        portfolios(lines, _KELLY, both)
    if pure:
        lines = _event_lines(history, claim, True)
        best = _best_event(lines)
        play(_portfolio_payoff(history, lines, best), _tuned_stake(history, lines, best), both * _PURE_TUNED_SHARE)
        portfolios(lines, _PURE_KELLY, both)
    mixed = both * _PURE_MIX_SHARE if pure else 0.0
    total = sum(weights) + mixed
    _, _, _, second, first, *_ = history.known()
    spoken = best * (known >= _ENOUGH_RUNS)[..., None]
    one, zero = (spoken[..., None, :] @ second)[..., 0, :], (spoken[..., None, :] @ first)[..., 0, :]
    factors = np.log1p(np.stack(payoffs))
    return _Bets(
        factors=factors.reshape(*factors.shape[:-2], -1),
        weights=np.array(weights) / total,
        right=np.stack((zero, one), axis=-1),
        wrong=np.stack((one, zero), axis=-1),
        event=best.argmax(axis=-1),
        mixed=mixed / total,
        precision=float(expit(claim.pure)),
    )


def _log_capitals(history: History, claim: ClaimLines) -> tuple[Array, Array]:
    """log of the capitals that play against a claim, (rounds, attackers, capitals), and their shares."""
    bets = history.bets(claim)
    return _mixed_capitals(bets, *(np.cumsum(part, axis=0) for part in _gains(bets, history.counts, slice(None))))


def _gains(bets: _Bets, counts: Sequence[Array], rounds: slice) -> list[Array]:
    """Of each of these rounds: the gain of each capital, as a logarithm, and the guesses that were right and wrong."""
    held = np.array(counts[rounds]).reshape(-1, *counts[0].shape)
    logs = np.einsum("crak,rak->rac", bets.factors[:, rounds], held.reshape(*held.shape[:2], bets.factors.shape[-1]))
    return [logs, *((held * where[rounds]).sum(axis=(-1, -2)) for where in (bets.right, bets.wrong))]


def _mixed_capitals(bets: _Bets, logs: Array, right: Array, wrong: Array) -> tuple[Array, Array]:
    """With the capital that is averaged over precisions, if it plays."""
    if not bets.mixed:
        return logs, bets.weights
    average = log_precision_capital(right, wrong, bets.precision)
    return np.concatenate((logs, average[..., None]), axis=-1), np.append(bets.weights, bets.mixed)


def log_capital(history: History, claim: ClaimLines) -> Array:
    """log E against a claim after each round; the claim is refuted at level α where it reaches log(1/α).

    The attackers have played the same rounds; the capital is what they have together, each a like share.
    """
    if not history.rounds:
        return np.zeros(0)
    logs, weights = _log_capitals(history, claim)
    return _log_mean(logs.reshape(logs.shape[0], -1), weights)


def latest_capital(history: History, claim: ClaimLines) -> float:
    """log E after the last round."""
    bets = history.bets(claim)
    latest = zip(history.settled(bets), _gains(bets, history.counts, slice(-1, None)), strict=True)
    logs, weights = _mixed_capitals(bets, *(before + now for before, now in latest))
    return float(_log_mean(logs.reshape(1, -1), weights)[0])


def leading_event(history: History, claim: ClaimLines) -> tuple[int, int, int, int]:
    """(attacker, event, right, wrong): whose bets grew most, its last event of most worth, how such guesses went."""
    logs, weights = _log_capitals(history, claim)
    leader = int(np.argmax(_log_mean(logs[-1], weights)))
    bets, counts = history.bets(claim), np.array(history.counts)
    right, wrong = (int((counts * where)[:, leader].sum()) for where in (bets.right, bets.wrong))
    return leader, int(bets.event[-1, leader]), right, wrong


def _log_mean(logs: Array, weights: Array) -> Array:
    """log Σ w·e^x in each row, whose attackers have like shares."""
    attackers = logs.shape[1] // weights.size
    most = logs.max(axis=1)
    base = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(base + np.log(np.exp(logs - base[:, None]) @ (np.tile(weights, attackers) / attackers)))


def is_refuted(history: History, claim: ClaimLines, alpha: float | None = None) -> bool:
    """Whether the capital against the claim ever reached 1/α, by default with the game's own α."""
    path = log_capital(history, claim)
    return bool(path.size and path.max() >= -math.log(history.alpha if alpha is None else alpha))


def claim_broken(history: History, claim: ClaimLines) -> bool:
    """Whether the claim is refuted and, where it is pure, every smaller ε of a grid with it.

    Bets differ from claim to claim, so the capital against a smaller ε is the larger one nearly always, not always. The
    bound on ε is the least that is not refuted, so it is above a pure claim exactly where this says so.
    """
    if not is_refuted(history, claim):
        return False
    if not claim.alone:
        return True
    return least_unrefuted(lambda e: is_refuted(history, single_line(e, 0.0)), claim.pure) >= claim.pure


def least_unrefuted(
    is_refuted: Callable[[float], bool], high: float, *, low: float = 0.0, steps: int = 40, fine: int = 0
) -> float:
    """The least value that is not refuted, from below; ``low`` where nothing is, ``high`` where all are.

    A grid finds the first value that is kept, so that one refuted again further up does no harm. Where the capital does
    not simply fall with the value, ``fine`` more values are tried below the boundary that was found.

    >>> round(least_unrefuted(lambda x: x < 0.3, 1.0), 6)
    0.3
    """
    grid = np.linspace(low, high, steps + 1)
    if not is_refuted(float(grid[0])):
        return low
    for start, right in zip(grid[:-1].tolist(), grid[1:].tolist(), strict=True):
        if not is_refuted(right):
            left = start
            for _ in range(20):
                middle = 0.5 * (left + right)
                left, right = (middle, right) if is_refuted(middle) else (left, middle)
            last: float = start  # of the values up to the boundary, the last before the first one that is kept
            for value in np.linspace(start, left, fine + 1)[1:].tolist() if fine else [left]:
                if value < left and not is_refuted(value):
                    break
                last = value
            return float(last)
    return high


# -- events: when the attacker speaks -------------------------------------------------------------------------------
#
# An event names one world where a score is at least ``high`` and the other where it is at most ``low``; in between,
# or where the score says nothing, the attacker is silent. Cuts are learnt on past runs and ranked by Wilson's lower
# bound on their precision at z = 3.5, so that luck does not win. Where a number of runs is counted once, several
# events are at hand: one that wants to be right, one that always speaks, and some that speak with about a given
# probability, which is what a claim with δ > 0 must be attacked with. Where runs are bet on, the attackers are scores
# with all their tails: of all scores those whose best event exceeds the claim by most, after more or less luck is
# taken off.

_Z = 3.5  # as many cuts are tried, luck reaches further than the usual 2.5
_LOPSIDED_PENALTY = 1.5
_TAIL_COUNT = 18  # of a tail, tried on each side
_MOST_RUNS = 200_000  # learnt from: the latest
_MOST_CELLS = 20_000_000
PRECISE, ALWAYS = 0, 1  # places of the event that wants to be right and of the one that always speaks
_SPEAKING_SHARES = (0.6, 0.35, 0.15)  # of runs, for those that follow
#: Standard errors taken off by those who bet that the claim is broken; one more wants to be right.
_LUCK_DISCOUNTS = (1.5, 3.0)


@dataclass(frozen=True)
class SpeakingRate:
    """What is known of an event beforehand: how often it speaks, and about one side or both."""

    share: float
    sides: int = 2


@dataclass(frozen=True, eq=False)
class Event:
    """Two cuts of a score: world ``above`` is named from ``high`` on, ``below`` up to ``low``; None names nothing.

    ``forced`` guesses the world ``above`` also where the score says nothing. ``plan`` and ``precision`` are what past
    ``runs``, so many, say of it.
    """

    statistic: Statistic
    low: float
    high: float
    below: bool | None
    above: bool | None
    plan: SpeakingRate
    precision: float
    runs: int
    forced: bool = False

    def guesses(self, outcomes: Outcomes) -> tuple[Bits, Bits]:
        """(whether it speaks, the world it names)."""
        score = self.statistic.score(outcomes)
        with np.errstate(invalid="ignore"):
            up = (score >= self.high) if self.above is not None else np.zeros(score.size, dtype=bool)
            down = (score <= self.low) & ~up if self.below is not None else np.zeros(score.size, dtype=bool)
        named = np.where(up, bool(self.above), np.where(down, bool(self.below), bool(self.above)))
        return (np.ones(score.size, dtype=bool) if self.forced else up | down), named

    def scores(self, outcomes: Outcomes, bits: Bits) -> tuple[Array, Array]:
        """The scores of both worlds, the way up that names the second; lowest where the score says nothing."""
        score = self.statistic.score(outcomes) * (1.0 if self.above or self.below is False else -1.0)
        score = np.where(np.isnan(score), -np.inf, score)
        return score[~bits], score[bits]

    def count(self, outcomes: Outcomes, bits: Bits) -> tuple[int, int, int]:
        """(right, wrong, silent) on runs with these bits."""
        speaks, named = self.guesses(outcomes)
        right = int((speaks & (named == bits)).sum())
        spoken = int(speaks.sum())
        return right, spoken - right, bits.size - spoken


def wilson(right: NDArray[np.float64], total: NDArray[np.float64]) -> Array:
    """Wilson's lower bound at z = 3.5.

    >>> round(float(wilson(np.array(20.0), np.array(20.0))), 4)
    0.6202
    """
    n = np.maximum(total, 1.0)
    p = right / n
    return np.asarray((p + _Z**2 / (2 * n) - _Z * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))) / (1 + _Z**2 / n))


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Every pair of tails of one score that is tried: sizes, thresholds, right guesses."""

    statistic: Statistic
    runs: int
    total: Array  # guesses
    right: Array
    low: Array
    high: Array
    below: NDArray[np.int8]  # −1 for nothing
    above: NDArray[np.int8]
    lopsided: Array  # 0 where both tails are of one size, 1 where there is only one

    @property
    def sides(self) -> NDArray[np.int64]:
        """One world named, or both."""
        return np.where((self.below >= 0) & (self.above >= 0) & (self.below != self.above), 2, 1)


Single: TypeAlias = tuple[float, float, bool]  # right guesses, threshold, world above


def _best_threshold(score: Array, bits: Bits) -> tuple[tuple[Array, Array], NDArray[np.int64], Single]:
    """Sorted scores with the ones up to each, where values change, and the threshold that is right most often."""
    known = ~np.isnan(score)
    order = np.argsort(score[known], kind="stable")
    x, b = score[known][order], bits[known][order].astype(float)
    n = x.size
    ones = np.concatenate(([0.0], np.cumsum(b)))
    ends = np.concatenate(([0], np.flatnonzero(x[1:] > x[:-1]) + 1, [n])) if n > 1 else np.array([0, n])
    # always speaking: the threshold at each boundary, with either world above
    correct = (ends - ones[ends]) + (ones[n] - ones[ends])
    i, j = int(np.argmax(correct)), int(np.argmin(correct))
    way = bool(correct[i] >= n - correct[j])
    at = int(ends[i if way else j])
    single = (float(correct[i] if way else n - correct[j]), float(x[at]) if at < n else math.inf, way)
    return (x, ones), ends, single


def _cuts(statistic: Statistic, outcomes: Outcomes, bits: Bits) -> tuple[_Cuts, Single] | None:
    """The tails of a score, and its best single threshold."""
    score = statistic.score(outcomes)
    if np.isnan(score).all():
        return None
    (x, ones), ends, single = _best_threshold(score, bits)
    n = x.size
    sizes = np.unique(np.concatenate((np.geomspace(3, n, _TAIL_COUNT), np.linspace(0.05, 0.95, 13) * n)).astype(int))
    lower = np.unique(ends[np.searchsorted(ends, np.minimum(sizes, n), side="right") - 1])
    upper = n - np.unique(ends[np.minimum(np.searchsorted(ends, np.maximum(n - sizes, 0)), ends.size - 1)])
    lower, upper = np.union1d(lower, [0]), np.union1d(upper, [0])
    down, up = (grid.ravel() for grid in np.meshgrid(lower, upper, indexing="ij"))
    fits = (down + up <= n) & (down + up > 0)
    down, up = down[fits], up[fits]
    d1, u1 = ones[down], ones[n] - ones[n - up]
    low = np.where(down > 0, x[np.maximum(down - 1, 0)], -np.inf)
    high = np.where(up > 0, x[np.minimum(n - up, n - 1)], np.inf)
    # the first world named below and the second above, then the other way round
    right = np.concatenate((down - d1 + u1, d1 + (up - u1)))
    under = np.concatenate([np.where(down == 0, -1, below) for below in (0, 1)]).astype(np.int8)
    over = np.concatenate([np.where(up == 0, -1, above) for above in (1, 0)]).astype(np.int8)
    total, low, high, lopsided = (np.tile(v, 2) for v in (down + up, low, high, np.abs(down - up) / (down + up)))
    return _Cuts(statistic, bits.size, total.astype(float), right, low, high, under, over, lopsided), single


def _candidate_statistics(outcomes: Outcomes, bits: Bits, low_bits: bool) -> list[tuple[Statistic, Outcomes, Bits]]:
    """The scores there are, each with runs that it was not learnt from."""
    most = max(2_000, min(_MOST_RUNS, _MOST_CELLS // max(outcomes.values.shape[1], 1)))
    if len(outcomes) > most:
        outcomes, bits = outcomes.take(slice(-most, None)), bits[-most:]
    first = np.arange(bits.size) % 2 == 0
    ranked = [(s, outcomes, bits) for s in fixed_statistics(outcomes, bits, low_bits=low_bits)]
    half, held = outcomes.take(first), outcomes.take(~first)
    return ranked + [(s, held, bits[~first]) for s in learnt_statistics(half, bits[first])]


def learn_events(outcomes: Outcomes, bits: Bits, claim: ClaimLines, *, low_bits: bool = True) -> list[Event] | None:
    """The events to count on the next runs; None where nothing varies."""
    tried = [_cuts(s, runs, b) for s, runs, b in _candidate_statistics(outcomes, bits, low_bits)]
    cuts = [each for each in tried if each is not None]
    if not cuts:
        return None
    return [
        _best_cut(cuts, lambda c: wilson(c.right, c.total)),
        _always_speaking([(c.statistic, c.runs, single) for c, single in cuts]),
        *(_best_cut(cuts, partial(_excess_margin, claim, share)) for share in _SPEAKING_SHARES),
    ]


def learn_attacks(
    outcomes: Outcomes, bits: Bits, claim: ClaimLines, *, low_bits: bool = True
) -> tuple[tuple[ScoreAttack, ...], Event] | None:
    """The attacks to bet with on the next runs, and the event that always speaks; None where nothing varies."""
    ranked = _candidate_statistics(outcomes, bits, low_bits)
    made = [score_attack(s, runs, b) for s, runs, b in ranked]
    attacks = [attack for attack in made if attack is not None]
    if not attacks:
        return None
    excess, runs_of = event_worth(attacks, claim)
    chosen = [int(np.argmax((excess - luck / np.sqrt(runs_of)[:, None]).max(axis=1))) for luck in _LUCK_DISCOUNTS]
    chosen.append(_most_precise_attack(attacks, claim))
    scored = [(s, b, s.score(runs)) for s, runs, b in ranked]
    singles = [(s, b.size, _best_threshold(score, b)[2]) for s, b, score in scored if not np.isnan(score).all()]
    return tuple(attacks[i] for i in chosen), _always_speaking(singles)


def _most_precise_attack(attacks: Sequence[ScoreAttack], claim: ClaimLines) -> int:
    """The score that tells most by itself: the one to bound with, also where the claim holds.

    Against a pure claim precision counts; against lines, how many more guesses are right than wrong.
    """
    if math.isfinite(claim.pure):
        counted = [attack.guesses() for attack in attacks]
        return int(np.argmax([float(wilson(right, right + wrong).max()) for right, wrong in counted]))
    apart, runs_of = event_worth(attacks, single_line(0.0, 0.0))
    return int(np.argmax((apart - _Z / np.sqrt(runs_of)[:, None]).max(axis=1)))


def _excess_margin(claim: ClaimLines, share: float, cuts: _Cuts) -> Array:
    """By how much the past precision exceeds what the claim allows, times how often; only about the given share."""
    pi = cuts.total / cuts.runs
    allowed = np.where(cuts.sides == 2, claim.most_precise(pi), claim.most_precise(pi, 1))
    far = np.abs(np.log(pi / share))
    # where runs are few, luck prefers tails of unequal size
    luck = _LOPSIDED_PENALTY * cuts.lopsided * np.sqrt(allowed * (1 - allowed) / cuts.total)
    return np.asarray((wilson(cuts.right, cuts.total) - luck - allowed) * pi - np.where(far > 0.35, 1 + far, 0.0))


def _best_cut(found: Sequence[tuple[_Cuts, Single]], objective: Callable[[_Cuts], Array]) -> Event:
    values = [objective(cuts) for cuts, _ in found]
    at = int(np.argmax([value.max() for value in values]))
    c, i = found[at][0], int(np.argmax(values[at]))
    total, right = float(c.total[i]), float(c.right[i])
    below, above = (None if side[i] < 0 else bool(side[i]) for side in (c.below, c.above))
    spoken = SpeakingRate(total / c.runs, int(c.sides[i]))
    return Event(c.statistic, float(c.low[i]), float(c.high[i]), below, above, spoken, right / total, c.runs)


def _always_speaking(found: Sequence[tuple[Statistic, int, Single]]) -> Event:
    def past(entry: tuple[Statistic, int, Single]) -> float:
        return float(wilson(np.array(entry[2][0]), np.array(float(entry[1]))))

    statistic, runs, (right, threshold, above) = max(found, key=past)
    low = float(np.nextafter(threshold, -math.inf))
    return Event(statistic, low, threshold, not above, above, SpeakingRate(1.0), right / runs, runs, forced=True)
