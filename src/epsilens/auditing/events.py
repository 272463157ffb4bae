"""When the attacker speaks: cuts of a score, learnt on past runs and ranked so that luck does not win.

An event names one world where a score is at least ``high`` and the other where it is at most ``low``; in between, or
where the score says nothing, the attacker is silent. Cuts are ranked by Wilson's lower bound on their past precision at
z = 3.5. Where a number of runs is counted once, several events are at hand: one that wants to be right, one that always
speaks, and some that speak with about a given probability, which is what a claim with δ > 0 must be attacked with.
Where runs are bet on, the attackers are scores with all their tails, :mod:`.attack`: of all scores those whose best
event exceeds the claim by most, after more or less luck is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .betting import event_worth
from .claims import Claim, single_line
from .outcomes import Outcomes
from .scores import ScoreAttack, Statistic, fixed_statistics, learnt_statistics, score_attack
from .sources import Bits

_Z = 3.5  # as many cuts are tried, luck reaches further than the usual 2.5
_LOPSIDED_PENALTY = 1.5
_TAIL_COUNT = 18  # of a tail, tried on each side
_MOST_RUNS = 200_000  # learnt from: the latest
_MOST_CELLS = 20_000_000
#: The share of runs that each event speaks in; the first is as rare as it likes.
_SPEAKING_SHARES: tuple[float | None, ...] = (None, 1.0, 0.6, 0.35, 0.15)
PRECISE, ALWAYS = 0, 1
_LUCK_DISCOUNTS = (
    1.5,
    3.0,
)  # standard errors taken off by those who bet that the claim is broken; one more wants to be right


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


def _best_threshold(
    score: Array, bits: Bits
) -> tuple[tuple[Array, Array], NDArray[np.int64], tuple[float, float, bool]]:
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


def _cuts(statistic: Statistic, outcomes: Outcomes, bits: Bits) -> tuple[_Cuts, tuple[float, float, bool]] | None:
    """The tails of a score, and its best single threshold: (right guesses, threshold, world above)."""
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
    nothing_down, nothing_up = down == 0, up == 0
    parts = []
    for below, above in ((0, 1), (1, 0)):
        right = (d1 if below else down - d1) + (u1 if above else up - u1)
        parts.append((right, np.where(nothing_down, -1, below), np.where(nothing_up, -1, above)))
    right = np.concatenate([p[0] for p in parts])
    under, over = (np.concatenate([p[k] for p in parts]).astype(np.int8) for k in (1, 2))
    two = [np.tile(v, 2) for v in (down + up, low, high, np.abs(down - up) / (down + up))]
    return _Cuts(statistic, bits.size, two[0].astype(float), right, two[1], two[2], under, over, two[3]), single


def _candidate_statistics(outcomes: Outcomes, bits: Bits, low_bits: bool) -> list[tuple[Statistic, Outcomes, Bits]]:
    """The scores there are, each with runs that it was not learnt from."""
    most = max(2_000, min(_MOST_RUNS, _MOST_CELLS // max(outcomes.values.shape[1], 1)))
    if len(outcomes) > most:
        outcomes, bits = outcomes.take(slice(-most, None)), bits[-most:]
    first = np.arange(bits.size) % 2 == 0
    ranked = [(s, outcomes, bits) for s in fixed_statistics(outcomes, bits, low_bits=low_bits)]
    half, held = outcomes.take(first), outcomes.take(~first)
    return ranked + [(s, held, bits[~first]) for s in learnt_statistics(half, bits[first])]


def learn_events(outcomes: Outcomes, bits: Bits, claim: Claim, *, low_bits: bool = True) -> list[Event] | None:
    """The events to count on the next runs; None where nothing varies."""
    found = [
        cuts
        for s, runs, b in _candidate_statistics(outcomes, bits, low_bits)
        if (cuts := _cuts(s, runs, b)) is not None
    ]
    if not found:
        return None
    events = []
    for share in _SPEAKING_SHARES:
        if share is None:
            events.append(_best_cut(found, lambda c: wilson(c.right, c.total)))
        elif share == 1.0:
            events.append(_always_speaking([(c.statistic, c.runs, single) for c, single in found]))
        else:
            events.append(_best_cut(found, lambda c, share=share: _excess_margin(c, claim, share)))
    return events


def learn_attacks(
    outcomes: Outcomes, bits: Bits, claim: Claim, *, low_bits: bool = True
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
    singles = []
    for s, runs, b in ranked:
        score = s.score(runs)
        if not np.isnan(score).all():
            singles.append((s, b.size, _best_threshold(score, b)[2]))
    return tuple(attacks[i] for i in chosen), _always_speaking(singles)


def _most_precise_attack(attacks: Sequence[ScoreAttack], claim: Claim) -> int:
    """The score that tells most by itself: the one to bound with, also where the claim holds.

    Against a pure claim precision counts; against lines, how many more guesses are right than wrong.
    """
    if math.isfinite(claim.pure):
        counted = [attack.guesses() for attack in attacks]
        return int(np.argmax([float(wilson(right, right + wrong).max()) for right, wrong in counted]))
    apart, runs_of = event_worth(attacks, single_line(0.0, 0.0))
    return int(np.argmax((apart - _Z / np.sqrt(runs_of)[:, None]).max(axis=1)))


def _excess_margin(cuts: _Cuts, claim: Claim, share: float) -> Array:
    """By how much the past precision exceeds what the claim allows, times how often; only about the given share."""
    pi = cuts.total / cuts.runs
    allowed = np.where(cuts.sides == 2, claim.most_precise(pi), claim.most_precise(pi, 1))
    far = np.abs(np.log(pi / share))
    # where runs are few, luck prefers tails of unequal size
    luck = _LOPSIDED_PENALTY * cuts.lopsided * np.sqrt(allowed * (1 - allowed) / cuts.total)
    return np.asarray((wilson(cuts.right, cuts.total) - luck - allowed) * pi - np.where(far > 0.35, 1 + far, 0.0))


def _best_cut(found: Sequence[tuple[_Cuts, tuple[float, float, bool]]], objective: object) -> Event:
    best: tuple[float, _Cuts, int] | None = None
    for cuts, _ in found:
        value = objective(cuts)  # type: ignore[operator]
        at = int(np.argmax(value))
        if best is None or value[at] > best[0]:
            best = (float(value[at]), cuts, at)
    assert best is not None
    _, c, i = best
    total, right = float(c.total[i]), float(c.right[i])
    return Event(
        c.statistic, float(c.low[i]), float(c.high[i]),
        None if c.below[i] < 0 else bool(c.below[i]), None if c.above[i] < 0 else bool(c.above[i]),
        SpeakingRate(total / c.runs, int(c.sides[i])), right / total, c.runs,
    )  # fmt: skip


def _always_speaking(found: Sequence[tuple[Statistic, int, tuple[float, float, bool]]]) -> Event:
    def past(entry: tuple[Statistic, int, tuple[float, float, bool]]) -> float:
        return float(wilson(np.array(entry[2][0]), np.array(float(entry[1]))))

    statistic, runs, (right, threshold, above) = max(found, key=past)
    low = float(np.nextafter(threshold, -math.inf))
    return Event(statistic, low, threshold, not above, above, SpeakingRate(1.0), right / runs, runs, forced=True)
