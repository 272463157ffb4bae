"""Evidence of a number of runs fixed beforehand: exact binomial bounds on guesses chosen on other runs.

The event is chosen on a pilot; on fresh runs, given how many guesses were made, the right ones are binomial. At δ = 0
that bounds ε by itself: ε ≥ logit of the Clopper–Pearson bound on the precision. With δ > 0 the precision a claim
allows depends on how often the attacker speaks, which is bounded from below first (a share 1/10 of the level is paid
for it).

From guesses to bounds: the lower ends of ε, μ, success and advantage, and of δ at several ε.

In a sequential audit each bound is the least value whose claim the capital has not refuted; with a fixed number of runs
it is the least whose p-value is above α. Both hold at the confidence, each by itself. The bounds on δ hold at all ε at
once: each of a few by capital at a like share of α, or all by the bands of the score on runs counted once.

The verdict is such a bound too: of how far ε lies above the claim at some δ, ``excess_lo``, from the one family of
claims that the audited one begins. Whatever the claim implies is refuted only together with it (closed testing), so a
bound above what is claimed and a violation are one event, which a true claim sees with probability α at most.

Bands on the two error rates of a score, at all cuts at once: what a number of runs shows of the whole trade-off.

Of n independent scores the i-th smallest lies, on the scale of their own law, like the i-th of n uniform numbers: as
Beta(i, n+1−i), or less far where values tie. The band with equal local levels bounds each by the quantile at one level
η, the same for all; η is as large as the chance that any of the n bounds fails stays within α. Where the usual bands
(Kolmogorov's) are as wide in the tails as in the middle, this one is as narrow everywhere as a single Clopper–Pearson
bound at level η.

The chance that none fails, P[U_(i) ≤ c_i for all i], is that of a Poisson process of n points with at least i points up
to c_i for every i, given that it has n in all; it is summed cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import bdtrc, betaincinv, expit, gammaln, logit, ndtri

from ..checks import Array
from .betting import (
    ALWAYS,
    PRECISE,
    Event,
    History,
    claim_broken,
    is_refuted,
    leading_event,
    least_unrefuted,
    log_capital,
    log_precision_capital,
)
from .outcomes import Codebook, Feature, Reader, Statistic, perfect_attack
from .result import (
    AttackEvent,
    Audit,
    AuditVerdict,
    ClaimLines,
    Finding,
    FindingKind,
    StopReason,
    gdp_lines,
    single_line,
)

_RATE_SHARE = 0.1  # of the level, for how often the attacker speaks


def clopper_pearson(right: int, guesses: int, alpha: float) -> float:
    """A lower bound on the success probability that fails with probability at most α.

    >>> round(clopper_pearson(75, 100, 0.05), 6)
    0.668678
    """
    return float(betaincinv(right, guesses - right + 1, alpha)) if right > 0 else 0.0


@dataclass(frozen=True)
class GuessCounts:
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

        >>> round(GuessCounts(75, 100, 1000).epsilon(0.05), 4)
        0.7022
        """
        return max(0.0, float(logit(clopper_pearson(self.right, self.guesses, alpha)))) if self.guesses else 0.0

    def success(self, alpha: float) -> float:
        """The bound on how often the best guess is right, where silence counts as a coin's toss."""
        return max(0.5, clopper_pearson(self.right, self.guesses, alpha)) if self.guesses else 0.5


def p_value(counts: GuessCounts, claim: ClaimLines, alpha: float = 0.05) -> float:
    """How likely so many right guesses are, at most, if the claim holds.

    A pure line needs no rate: P[Bin(r, e^ε/(1+e^ε)) ≥ k]. An attacker who always speaks has the rate 1. Otherwise it is
    at least its Clopper–Pearson bound π but for a tenth of the level: P[Bin(r, q₀(π)) ≥ k] + α/10.
    """
    if not counts.guesses:
        return 1.0

    def tail(precision: float) -> float:
        """P[Bin(guesses, precision) ≥ right]."""
        certain = counts.right == 0 or precision >= 1
        return 1.0 if certain else float(bdtrc(counts.right - 1, counts.guesses, precision))

    tails = []
    if math.isfinite(claim.pure):
        tails.append(tail(float(expit(claim.pure))))
    if not claim.alone and counts.always:
        tails.append(tail(float(claim.most_precise(1.0))))
    elif not claim.alone:
        paid = _RATE_SHARE * alpha
        least = clopper_pearson(counts.guesses, counts.runs, paid)
        tails.append(tail(float(claim.most_precise(least, counts.sides))) + paid)
    return min(1.0, min(tails) * len(tails))


def largest_epsilon(guesses: int, alpha: float) -> float:
    """The bound that guesses without a single error would give: logit(α^{1/n}).

    >>> round(largest_epsilon(1000, 0.05), 3)
    5.809
    """
    if guesses < 1:
        return 0.0
    log_precision = math.log(alpha) / guesses
    return max(0.0, log_precision - math.log(-math.expm1(log_precision)))


_MOST_RANKS = 160  # at which the smallest scores are bounded; in between the next one's bound serves
_LEVEL_USED = 0.99  # of the level that is used up
_POISSON_SPREAD = 9.0  # standard deviations of a count that are kept


def _bounded_ranks(n: int) -> NDArray[np.int64]:
    """Some of 1…n: all of a few, else even ones and more at both ends."""
    if n <= _MOST_RANKS:
        return np.arange(1, n + 1, dtype=np.int64)
    end = np.geomspace(1, n / 2, _MOST_RANKS // 5).astype(np.int64)
    even = np.linspace(1, n, _MOST_RANKS).astype(np.int64)
    return np.unique(np.concatenate((end, n + 1 - end, even)))


def _rank_limits(n: int, level: float) -> Array:
    ranks = _bounded_ranks(n)
    return np.asarray(betaincinv(ranks, n + 1 - ranks, 1 - level))


def band_coverage(n: int, level: float) -> float:
    """The probability that all bounds at this local level hold: P[U_(i) ≤ c_i for the ranks i].

    >>> round(band_coverage(1, 0.05), 6), round(band_coverage(2, 0.05), 6)
    (0.95, 0.910683)
    """
    ranks, at = _bounded_ranks(n), np.append(_rank_limits(n, level), 1.0)
    state, low = np.ones(1), 0  # chances of low, low + 1, … points so far; what falls short is left out
    before = 0.0
    for need, limit in zip(np.append(ranks, n).tolist(), at.tolist(), strict=True):
        mean = n * (limit - before)
        reach = _POISSON_SPREAD * math.sqrt(mean) + 20
        most = int(mean + reach)
        least = max(0, int(mean - reach))
        k = np.arange(least, most + 1)
        step = np.exp(k * math.log(mean) - mean - gammaln(k + 1)) if mean > 0 else (k == 0).astype(float)
        state = _convolve(state, step)
        low += least
        if need > low:
            state, low = state[need - low :], need
        state = np.maximum(state[: n - low + 1], 0.0)
        before = limit
    # n points in all, given that a Poisson number of mean n is n
    return float(state[n - low] / math.exp(n * math.log(n) - n - gammaln(n + 1))) if state.size > n - low else 0.0


def _convolve(one: Array, other: Array) -> Array:
    """Their convolution; ``scipy.signal`` has it too, and takes a third of a second to import."""
    if min(one.size, other.size) <= 64:
        return np.convolve(one, other)
    many = next_fast_len(size := one.size + other.size - 1, real=True)
    return np.asarray(irfft(rfft(one, many) * rfft(other, many), many)[:size])


@lru_cache(maxsize=256)
def local_level(n: int, alpha: float) -> float:
    """η: the local level at which some bound of n fails with probability at most α, and at least 0.99·α.

    >>> 0.049 < local_level(1, 0.05) <= 0.05, round(local_level(100, 0.05), 4)
    (True, 0.0024)
    """
    level = alpha / min(n, 30)
    for _ in range(40):  # the chance of a failure is nearly proportional to the level: few steps are needed
        fails = 1 - band_coverage(n, level)
        if _LEVEL_USED * alpha <= fails <= alpha:
            return level
        level *= 0.5 * (1 + _LEVEL_USED) * alpha / fails
    return alpha / n  # by the union bound


def _upper_rates(counts: Array, n: int, alpha: float) -> Array:
    """Bounds from above on the rates behind counts of n, at all cuts at once."""
    level = local_level(n, alpha)
    ranks, limits = _bounded_ranks(n), _rank_limits(n, level)
    at = np.searchsorted(ranks, counts + 1)  # the rate lies below the next score, so below any later one's bound
    return np.where(at < ranks.size, limits[np.minimum(at, ranks.size - 1)], 1.0)


def rate_bands(scores0: Array, scores1: Array, alpha: float) -> tuple[Array, Array]:
    """(false alarms, misses) of the tests "score ≥ t" and "score > t", both from above, at all t at once.

    α/2 is paid for each of the two rates. Ties do no harm: each test counts its own scores.
    """
    cuts = np.unique(np.concatenate((scores0, scores1)))
    low, high = np.sort(scores0), np.sort(scores1)
    false = np.concatenate([low.size - np.searchsorted(low, cuts, side) for side in ("left", "right")])
    missed = np.concatenate([np.searchsorted(high, cuts, side) for side in ("left", "right")])
    return _upper_rates(false, low.size, alpha / 2), _upper_rates(missed, high.size, alpha / 2)


def worst_delta(scores0: Array, scores1: Array, epsilon: Array, alpha: float) -> Array:
    """Bounds from below on δ at every ε at once: the largest P₁(A) − e^ε·P₀(A) of either order that the bands show.

    >>> rng = np.random.default_rng(1)
    >>> zero, one = rng.normal(0, 1, 5000), rng.normal(1, 1, 5000)  # δ(0) = 2Φ(½) − 1
    >>> bool(0.32 < worst_delta(zero, one, np.array([0.0]), 0.05)[0] <= 2 * 0.69147 - 1)
    True
    """
    if not scores0.size or not scores1.size:
        return np.zeros(epsilon.shape)
    false, missed = rate_bands(scores0, scores1, alpha)
    grow = np.exp(epsilon)[:, None]
    either = np.maximum(1 - missed - grow * false, 1 - false - grow * missed)
    return np.asarray(np.maximum(either.max(axis=1), 0.0))


_BAND_POINTS = 11  # values of ε at which δ is bounded
_MOST_WORDS = 6
_PILOT_LUCK = 1.5  # standard errors
_SUCCESS_LOOKS = 200  # looks at the guesses that always speak: fewer bound no more


BandRows: TypeAlias = tuple[tuple[float, float, float], ...]  # (ε, claimed δ, lower bound on δ)
Tails: TypeAlias = tuple[float, float, int | None, int | None]  # (low, high, world below, world above)


@dataclass(kw_only=True)
class Evidence:
    """What the runs have shown so far: all that the bounds are made from."""

    claim: ClaimLines
    alpha: float
    budget: int
    width: int = 1  # guesses of one call
    runs: int = 0
    stopped: StopReason = StopReason.BUDGET
    reader: Reader = field(default_factory=Reader)
    history: History = field(default_factory=History)
    always: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    events: list[Event] | None = None
    counted: list[tuple[int, int, int]] = field(default_factory=list)  # right, wrong and silent runs of each event
    scores: tuple[Array, Array] | None = None  # of both worlds, on runs that were counted once
    pair: tuple[str, str] = ("", "")
    findings: tuple[Finding, ...] = ()
    seconds: tuple[float, float] = (0.0, 0.0)


def _verdict(evidence: Evidence, over: bool, possible: bool) -> AuditVerdict:
    if over:
        return AuditVerdict.VIOLATION
    same = any(found.finding is FindingKind.SAME for found in evidence.findings)
    if same or evidence.stopped in (StopReason.INTERRUPTED, StopReason.SILENT):
        return AuditVerdict.INCONCLUSIVE
    if not possible:
        evidence.findings = (*evidence.findings, Finding(FindingKind.FEW))
    return AuditVerdict.CONSISTENT if possible else AuditVerdict.INCONCLUSIVE


def claimed_readings(claim: ClaimLines) -> dict[str, float]:
    """The claim's own readings."""
    delta = claim.stated
    if claim.experiment is None:
        return {"epsilon": float(claim.epsilon[claim.delta <= delta].min(initial=math.inf))}
    e = claim.experiment
    readings = {"epsilon": e.epsilon(delta), "mu": e.psi(), "success": e.success(), "advantage": e.advantage()}
    return {name: float(value) for name, value in readings.items()}


def claim_excess(is_refuted: Callable[[ClaimLines], bool], claim: ClaimLines, over: bool, most: float) -> float:
    """By how much ε lies above a claim at some δ, at least: above 0 exactly where the claim itself is refuted."""
    if not over:
        return 0.0
    excess = least_unrefuted(lambda more: is_refuted(claim.shifted(more)), most, steps=10)
    return max(excess, math.ulp(float(claim.epsilon[-1])))  # refuted, so above it: by a last digit at least


def capped_at_claim(low: float, claimed: float | None, over: bool) -> float:
    """A bound that is above what is claimed only where the claim is refuted."""
    return low if over or claimed is None else min(low, claimed)


def _assemble(
    evidence: Evidence,
    sequential: bool,
    *,
    strength: float,
    over: bool,
    possible: bool,
    is_refuted: Callable[[ClaimLines], bool],
    success: float,
    largest: float,
) -> Audit:
    claim, alone = evidence.claim, evidence.width > 1
    verdict = _verdict(evidence, over, possible)
    delta, claimed = claim.stated, claimed_readings(claim)
    top = max(largest, 1e-9)
    above = claim_excess(is_refuted, claim, over, top)
    if claim.alone and over:
        epsilon = claim.pure + above
    else:
        epsilon = capped_at_claim(
            least_unrefuted(lambda e: is_refuted(single_line(e, delta)), top), claimed["epsilon"], over
        )
    mu = None
    if not alone:
        # no run of guesses shows a larger μ than this: the precision of a GDP pair is not below its success
        most = float(min(2 * ndtri(expit(min(top, 30.0))) + 0.1, 15.0))
        mu = least_unrefuted(lambda m: is_refuted(gdp_lines(m)), most, fine=40)
        mu = capped_at_claim(mu, claimed.get("mu"), over)
        success = capped_at_claim(success, claimed.get("success"), over)
    advantage = capped_at_claim(2 * success - 1, claimed.get("advantage"), over)
    band = () if alone else _band(evidence, sequential)
    # the event that refutes the claim; else the one that shows what was found
    shown = claim if over else single_line(epsilon, delta) if mu is None or math.isfinite(claim.pure) else gdp_lines(mu)
    return Audit(
        verdict=verdict,
        claim=claim,
        confidence=1 - evidence.alpha,
        sequential=sequential,
        runs=evidence.runs,
        budget=evidence.budget,
        evidence=strength,
        epsilon_lo=epsilon,
        delta=delta,
        mu_lo=mu,
        success_lo=None if alone else success,
        advantage_lo=None if alone else advantage,
        claimed=claimed,
        largest_epsilon=largest,
        excess_lo=above,
        event=_shown_event(evidence, shown, sequential),
        findings=evidence.findings,
        stopped=evidence.stopped,
        band=tuple((eps, own, capped_at_claim(low, own, over)) for eps, own, low in band),
        pair=evidence.pair,
        guesses_a_call=evidence.width,
        seconds=evidence.seconds,
    )


def _band(evidence: Evidence, sequential: bool) -> BandRows:
    """(ε, claimed δ, δ at least), by the bands of a score that the pilot chose.

    In a sequential audit at a few ε, each at a like share of α: the bounds hold together, whenever one stops.
    """
    claim = evidence.claim
    at = np.arange(claim.epsilon.size)
    low = np.zeros(at.size)
    if sequential:
        # more of them where δ falls fast
        at = np.unique((np.linspace(0, 1, _BAND_POINTS) ** 2 * (at.size - 1)).astype(int))
        alpha = evidence.alpha / at.size
        each = [
            least_unrefuted(lambda d, eps=eps: is_refuted(evidence.history, single_line(eps, d), alpha), 1.0, steps=10)  # type: ignore[misc]
            for eps in claim.epsilon[at].tolist()
        ]
        low = np.array(each)
    elif evidence.scores is not None:
        low = worst_delta(*evidence.scores, claim.epsilon, evidence.alpha)
    best = np.maximum.accumulate(low[::-1])[::-1]  # as δ falls with ε, a bound further up serves here as well
    return tuple(zip(claim.epsilon[at].tolist(), claim.delta[at].tolist(), best.tolist(), strict=True))


def sequential_result(evidence: Evidence) -> Audit:
    """The bounds of an audit that may stop at any time."""
    history, claim = evidence.history, evidence.claim
    path = log_capital(history, claim)
    strongest = float(path.max()) if path.size else 0.0
    perfect = perfect_attack(math.ceil(history.runs / 2))  # had the attackers always spoken and never erred
    could = History(history.alpha, history.budget)
    could.add((perfect,), perfect.past[None])
    largest = least_unrefuted(lambda e: is_refuted(could, single_line(e, 0.0)), 40.0) if path.size else 0.0

    looks = len(evidence.always[0])
    at = np.unique(np.linspace(0, looks - 1, min(looks, _SUCCESS_LOOKS)).astype(int))
    right, wrong = (np.asarray(held, dtype=float)[at] for held in evidence.always)

    def unlucky(success: float) -> bool:
        return bool(path.size and log_precision_capital(right, wrong, success).max() >= -math.log(evidence.alpha))

    success = max(0.5, least_unrefuted(unlucky, 1.0 - 1e-12, low=0.5))
    return _assemble(
        evidence,
        True,
        strength=float(np.exp(min(strongest, 700.0))),
        over=claim_broken(history, claim),
        possible=bool(path.size) and is_refuted(could, claim),
        is_refuted=partial(is_refuted, history),
        success=success,
        largest=largest,
    )


def fixed_result(evidence: Evidence) -> Audit:
    """The bounds of a number of runs fixed beforehand; a claim is tested with the event that the pilot liked best."""
    alpha, claim = evidence.alpha, evidence.claim
    counts = _guess_counts(evidence)
    fresh = counts[ALWAYS].runs if counts else 0

    def is_refuted(asked: ClaimLines) -> bool:
        return bool(counts) and p_value(counts[_promising_event(evidence, asked)], asked, alpha) <= alpha

    p = fixed_p_value(evidence)
    perfect = GuessCounts(fresh, fresh, fresh, always=True)
    return _assemble(
        evidence,
        False,
        strength=p,
        over=p <= alpha,
        possible=p_value(perfect, claim, alpha) <= alpha,
        is_refuted=is_refuted,
        success=counts[ALWAYS].success(alpha) if counts else 0.5,
        largest=largest_epsilon(fresh, alpha),
    )


def _guess_counts(evidence: Evidence) -> list[GuessCounts]:
    return [
        GuessCounts(right, right + wrong, right + wrong + silent, event.plan.sides, event.forced)
        for (right, wrong, silent), event in zip(evidence.counted, evidence.events or (), strict=bool(evidence.counted))
    ]


def fixed_p_value(evidence: Evidence) -> float:
    """The p-value of the claim by a number of runs fixed beforehand; 1 where nothing was counted."""
    counts, claim = _guess_counts(evidence), evidence.claim
    if not counts:
        return 1.0
    return p_value(counts[_promising_event(evidence, claim)], claim, evidence.alpha)


def _promising_event(evidence: Evidence, claim: ClaimLines) -> int:
    """The event that, by the pilot, exceeds what a claim allows by most standard errors; a pure one wants precision."""
    if not evidence.events or claim.alone:
        return PRECISE
    worth = []
    for event in evidence.events:
        allowed = min(float(claim.most_precise(event.plan.share, event.plan.sides)), 1 - 1e-9)
        excess = (event.precision - allowed) * math.sqrt(event.plan.share / (allowed * (1 - allowed)))
        # a single cut was chosen among few, two tails among many: so much more of their excess is luck
        worth.append(excess - (0.0 if event.forced else _PILOT_LUCK / math.sqrt(max(event.runs, 1))))
    return int(np.argmax(worth))


def _shown_event(evidence: Evidence, claim: ClaimLines, sequential: bool) -> AttackEvent | None:
    """The event of the attacker who holds most against a claim, or the counted one that it is tested with."""
    history, reader = evidence.history, evidence.reader
    statistic: Statistic | None
    tails: Tails
    if sequential:
        if not history.rounds:
            return None
        leader, event, right, wrong = leading_event(history, claim)
        attack = history.rounds[-1][leader]
        statistic, tails, runs = attack.statistic, attack.tails(event), history.runs
        assert statistic is not None
    else:
        if not evidence.events or not evidence.counted:
            return None
        at = _promising_event(evidence, claim)
        chosen, (right, wrong, silent) = evidence.events[at], evidence.counted[at]
        below, above = (None if world is None else int(world) for world in (chosen.below, chosen.above))
        statistic, tails, runs = chosen.statistic, (chosen.low, chosen.high, below, above), right + wrong + silent
    names = list(reader.text_names if statistic.looks is Feature.TEXT else reader.names)
    cells = tuple(names[c] for c in statistic.columns[:_MOST_WORDS])
    words = _code_words(statistic, tails, reader) if isinstance(statistic, Codebook) else ((), ())
    return AttackEvent(str(statistic.looks), cells, *tails, right, right + wrong, runs, words)


def _code_words(book: Codebook, tails: Tails, reader: Reader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The codes that name the first and the second world, most telling first."""
    low, high, below, above = tails
    named: dict[float, str]
    if book.looks is Feature.KIND:
        named = {code: f"{kind.what} {kind.detail}".strip() for kind, code in reader.kinds.items()}
    elif book.looks is Feature.TEXT:
        named = {float(code): word for word, code in reader.words.items()} | {-1.0: "(none)"}
    else:
        named = {float(code): f"{code:.12g}" for code in book.codes.tolist()}
    sides: tuple[list[str], list[str]] = ([], [])
    for i in np.argsort(-np.abs(book.ratios), kind="stable").tolist():
        world = above if book.ratios[i] >= high else below if book.ratios[i] <= low else None
        if world is not None and len(sides[world]) < _MOST_WORDS:
            sides[world].append(named[float(book.codes[i])])
    return tuple(sides[0]), tuple(sides[1])
