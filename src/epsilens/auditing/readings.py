"""From guesses to bounds: the lower ends of ε, μ, success and advantage, and of δ at several ε.

In a sequential audit each bound is the least value whose claim the capital has not refuted; with a fixed number of runs
it is the least whose p-value is above α. Both hold at the confidence, each by itself. The bounds on δ hold at all ε at
once: each of a few by capital at a like share of α, or all by the bands of the score on runs counted once.

The verdict is such a bound too: of how far ε lies above the claim at some δ, ``excess_lo``, from the one family of
claims that the audited one begins. Whatever the claim implies is refuted only together with it (closed testing), so a
bound above what is claimed and a violation are one event, which a true claim sees with probability α at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from .attack import perfect_attack
from .bands import worst_delta
from .betting import History, broken, first_kept, log_capital, log_precision_capital, refuted, told
from .bounds import Counts, largest_epsilon, p_value
from .claims import Claim, gdp_lines, line
from .events import ALWAYS, PRECISE, Event
from .outcomes import Reader
from .result import Audit, Finding, Found, Seen, Stopped, Verdict
from .statistics import Codebook, Looks, Statistic

_BAND = 11  # values of ε at which δ is bounded
_MOST_WORDS = 6
_LUCK = 1.5  # standard errors
_SUCCESSES = 200  # looks at the guesses that always speak: fewer bound no more


@dataclass(frozen=True)
class Evidence:
    """All that the bounds are made from."""

    claim: Claim
    alpha: float
    runs: int
    budget: int
    history: History
    always: tuple[Sequence[int], Sequence[int]]  # right and wrong guesses of the event that always speaks
    counted: Sequence[tuple[int, int, int]]
    events: Sequence[Event] | None
    reader: Reader
    width: int
    scores: tuple[Array, Array] | None = None  # of both worlds, on runs that were counted once


def _verdict(
    evidence: Evidence, over: bool, possible: bool, found: tuple[Found, ...], stopped: Stopped
) -> tuple[Verdict, tuple[Found, ...]]:
    if over:
        return Verdict.VIOLATION, found
    if any(f.finding is Finding.SAME for f in found) or stopped in (Stopped.INTERRUPTED, Stopped.SILENT):
        return Verdict.INCONCLUSIVE, found
    if not possible:
        return Verdict.INCONCLUSIVE, (*found, Found(Finding.FEW))
    return Verdict.CONSISTENT, found


def claimed_readings(claim: Claim) -> dict[str, float]:
    """The claim's own readings."""
    delta = claim.stated
    if claim.experiment is None:
        return {"epsilon": float(claim.epsilon[claim.delta <= delta].min(initial=math.inf))}
    e = claim.experiment
    return {
        "epsilon": float(e.epsilon(delta)), "mu": float(e.psi()), "success": float(e.success()),
        "advantage": float(e.advantage()),
    }  # fmt: skip


def excess(is_refuted: Callable[[Claim], bool], claim: Claim, over: bool, most: float) -> float:
    """By how much ε lies above a claim at some δ, at least: above 0 exactly where the claim itself is refuted."""
    if not over:
        return 0.0
    found = first_kept(lambda more: is_refuted(claim.shifted(more)), most, steps=10)
    return max(found, math.ulp(float(claim.epsilon[-1])))  # refuted, so above it: by a last digit at least


def within(low: float, claimed: float | None, over: bool) -> float:
    """A bound that is above what is claimed only where the claim is refuted."""
    return low if over or claimed is None else min(low, claimed)


def _assemble(
    evidence: Evidence, confidence: float, sequential: bool, found: tuple[Found, ...], stopped: Stopped,
    pair: tuple[str, str], seconds: tuple[float, float], *, strength: float, over: bool, possible: bool,
    is_refuted: Callable[[Claim], bool], success: float, largest: float,
    seen: Callable[[Claim], Seen | None],
    band: Callable[[], tuple[tuple[float, float, float], ...]],
) -> Audit:  # fmt: skip
    claim, alone = evidence.claim, evidence.width > 1
    verdict, found = _verdict(evidence, over, possible, found, stopped)
    delta, claimed = claim.stated, claimed_readings(claim)
    top = max(largest, 1e-9)
    above = excess(is_refuted, claim, over, top)
    if claim.alone and over:
        epsilon = claim.pure + above
    else:
        epsilon = within(first_kept(lambda e: is_refuted(line(e, delta)), top), claimed["epsilon"], over)
    mu = None
    if not alone:
        most = first_kept(lambda m: is_refuted(gdp_lines(m)), _most_mu(top), fine=40)
        mu, success = within(most, claimed.get("mu"), over), within(success, claimed.get("success"), over)
    advantage = within(2 * success - 1, claimed.get("advantage"), over)
    # the event that refutes the claim; else the one that shows what was found
    shown = claim if over else line(epsilon, delta) if mu is None or math.isfinite(claim.pure) else gdp_lines(mu)
    rows = () if alone else tuple((eps, own, within(low, own, over)) for eps, own, low in band())
    return Audit(
        verdict, claim, confidence, sequential, evidence.runs, evidence.budget, strength, epsilon, delta, mu,
        None if alone else success, None if alone else advantage, claimed, largest, seen(shown), above,
        found, stopped, rows, pair, evidence.width, seconds=seconds,
    )  # fmt: skip


def _most_mu(epsilon: float) -> float:
    """No run of guesses shows a larger μ: the precision of a GDP pair is not below its success."""
    from scipy.special import expit, ndtri

    return float(min(2 * ndtri(expit(min(epsilon, 30.0))) + 0.1, 15.0))


def _anytime_band(evidence: Evidence) -> tuple[tuple[float, float, float], ...]:
    """A few ε, each at a like share of α: the bounds hold together, whenever one stops."""
    claim = evidence.claim
    at = np.unique((np.linspace(0, 1, _BAND) ** 2 * (claim.epsilon.size - 1)).astype(int))  # more where δ falls fast
    alpha = evidence.alpha / at.size
    low = [
        first_kept(lambda d, eps=eps: refuted(evidence.history, line(eps, d), alpha), 1.0, steps=10)  # type: ignore[misc]
        for eps in claim.epsilon[at].tolist()
    ]
    return _rows(claim.epsilon[at], claim.delta[at], np.array(low))


def _counted_band(evidence: Evidence) -> tuple[tuple[float, float, float], ...]:
    """All ε of the claim, by the bands of a score that the pilot chose."""
    claim, scores = evidence.claim, evidence.scores
    low = np.zeros(claim.epsilon.size) if scores is None else worst_delta(*scores, claim.epsilon, evidence.alpha)
    return _rows(claim.epsilon, claim.delta, low)


def _rows(epsilon: Array, claimed: Array, low: Array) -> tuple[tuple[float, float, float], ...]:
    """(ε, claimed δ, δ at least); as δ falls with ε, a bound further up serves here as well."""
    best = np.maximum.accumulate(low[::-1])[::-1]
    return tuple(zip(epsilon.tolist(), claimed.tolist(), best.tolist(), strict=True))


def sequential_result(
    evidence: Evidence, confidence: float, found: tuple[Found, ...], stopped: Stopped, pair: tuple[str, str],
    seconds: tuple[float, float],
) -> Audit:  # fmt: skip
    """The bounds of an audit that may stop at any time."""
    history, claim = evidence.history, evidence.claim
    path = log_capital(history, claim)
    strongest = float(path.max()) if path.size else 0.0
    could = _all_right(history)
    largest = first_kept(lambda e: refuted(could, line(e, 0.0)), 40.0) if path.size else 0.0

    looks = len(evidence.always[0])
    at = np.unique(np.linspace(0, looks - 1, min(looks, _SUCCESSES)).astype(int))
    right, wrong = (np.asarray(held, dtype=float)[at] for held in evidence.always)

    def unlucky(success: float) -> bool:
        return bool(path.size and log_precision_capital(right, wrong, success).max() >= -math.log(evidence.alpha))

    success = max(0.5, first_kept(unlucky, 1.0 - 1e-12, low=0.5))
    return _assemble(
        evidence, confidence, True, found, stopped, pair, seconds, strength=float(np.exp(min(strongest, 700.0))),
        over=broken(history, claim), possible=bool(path.size) and refuted(could, claim),
        is_refuted=lambda c: refuted(history, c), success=success, largest=largest,
        seen=lambda shown: _led(evidence, shown), band=lambda: _anytime_band(evidence),
    )  # fmt: skip


def _all_right(history: History) -> History:
    """What the attackers would hold had they always spoken and never erred."""
    half = math.ceil(history.runs / 2)
    attack = perfect_attack(half)
    made = History(history.alpha, history.budget)
    made.add((attack,), attack.past[None])
    return made


def _led(evidence: Evidence, claim: Claim) -> Seen | None:
    """The event of the attacker who holds most against a claim, and how such guesses went."""
    if not evidence.history.rounds:
        return None
    leader, event, right, wrong = told(evidence.history, claim)
    attack = evidence.history.rounds[-1][leader]
    assert attack.statistic is not None
    return _described(attack.statistic, attack.tails(event), (right, right + wrong, evidence.history.runs), evidence)


def fixed_result(
    evidence: Evidence, confidence: float, found: tuple[Found, ...], stopped: Stopped, pair: tuple[str, str],
    seconds: tuple[float, float],
) -> Audit:  # fmt: skip
    """The bounds of a number of runs fixed beforehand; a claim is tested with the event that the pilot liked best."""
    alpha, claim = evidence.alpha, evidence.claim
    counts = _counts(evidence)
    fresh = counts[ALWAYS].runs if counts else 0

    def is_refuted(asked: Claim) -> bool:
        return bool(counts) and p_value(counts[_promising(evidence, asked)], asked, alpha) <= alpha

    p = counted_p(evidence)
    perfect = Counts(fresh, fresh, fresh, always=True)
    return _assemble(
        evidence, confidence, False, found, stopped, pair, seconds, strength=p, over=p <= alpha,
        possible=p_value(perfect, claim, alpha) <= alpha, is_refuted=is_refuted,
        success=counts[ALWAYS].success(alpha) if counts else 0.5, largest=largest_epsilon(fresh, alpha),
        seen=lambda shown: _seen(evidence, evidence.counted, _promising(evidence, shown)),
        band=lambda: _counted_band(evidence),
    )  # fmt: skip


def _counts(evidence: Evidence) -> list[Counts]:
    return [
        Counts(right, right + wrong, right + wrong + silent, event.plan.sides, event.forced)
        for (right, wrong, silent), event in zip(evidence.counted, evidence.events or (), strict=bool(evidence.counted))
    ]


def counted_p(evidence: Evidence) -> float:
    """The p-value of the claim by a number of runs fixed beforehand; 1 where nothing was counted."""
    counts, claim = _counts(evidence), evidence.claim
    if not counts:
        return 1.0
    return p_value(counts[_promising(evidence, claim)], claim, evidence.alpha)


def _promising(evidence: Evidence, claim: Claim) -> int:
    """The event that, by the pilot, exceeds what a claim allows by most standard errors; a pure one wants precision."""
    if not evidence.events or claim.alone:
        return PRECISE
    worth = []
    for event in evidence.events:
        allowed = float(claim.most_precise(event.plan.share, event.plan.sides))
        allowed = min(allowed, 1 - 1e-9)
        excess = (event.precision - allowed) * math.sqrt(event.plan.share / (allowed * (1 - allowed)))
        # a single cut was chosen among few, two tails among many: so much more of their excess is luck
        worth.append(excess - (0.0 if event.forced else _LUCK / math.sqrt(max(event.runs, 1))))
    return int(np.argmax(worth))


def _seen(evidence: Evidence, counts: Sequence[tuple[int, int, int]], at: int) -> Seen | None:
    """One of the events that were counted."""
    if not evidence.events or not counts:
        return None
    event, (right, wrong, silent) = evidence.events[at], counts[at]
    tails = (
        event.low, event.high, None if event.below is None else int(event.below),
        None if event.above is None else int(event.above),
    )  # fmt: skip
    return _described(event.statistic, tails, (right, right + wrong, right + wrong + silent), evidence)


def _described(
    statistic: Statistic, tails: tuple[float, float, int | None, int | None], counts: tuple[int, int, int],
    evidence: Evidence,
) -> Seen:  # fmt: skip
    names = list(evidence.reader.text_names if statistic.looks is Looks.TEXT else evidence.reader.names)
    cells = tuple(names[c] for c in statistic.columns[:_MOST_WORDS])
    words = _words(statistic, tails, evidence.reader) if isinstance(statistic, Codebook) else ((), ())
    return Seen(str(statistic.looks), cells, *tails, *counts, words)


def _words(
    book: Codebook, tails: tuple[float, float, int | None, int | None], reader: Reader
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The codes that name the first and the second world, most telling first."""
    low, high, below, above = tails
    named: dict[float, str]
    if book.looks is Looks.KIND:
        named = {code: f"{kind.what} {kind.detail}".strip() for kind, code in reader.kinds.items()}
    elif book.looks is Looks.TEXT:
        named = {float(code): word for word, code in reader.words.items()} | {-1.0: "(none)"}
    else:
        named = {float(code): f"{code:.12g}" for code in book.codes.tolist()}
    sides: tuple[list[str], list[str]] = ([], [])
    for i in np.argsort(-np.abs(book.ratios), kind="stable").tolist():
        world = above if book.ratios[i] >= high else below if book.ratios[i] <= low else None
        if world is not None and len(sides[world]) < _MOST_WORDS:
            sides[world].append(named[float(book.codes[i])])
    return tuple(sides[0]), tuple(sides[1])
