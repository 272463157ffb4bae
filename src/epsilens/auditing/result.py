"""What an audit found: a verdict, lower bounds at a confidence beside the claim's own readings, and the event.

Several audits of one claim, on several pairs of inputs, that hold together.

The level is shared: each of K pairs is audited at the confidence 1 − α/K, so that with probability 1 − α none of the
bounds is wrong. The verdict is that of the worst pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from ..checks import Array
from ..numerics.formatting import json_value
from ..numerics.values import FrozenMapping, ValueSemantics
from ..results import SentenceResult
from .claims import ClaimLines, level_of
from .outcomes import Outcomes, Reader
from .sources import Bits


class AuditVerdict(StrEnum):
    """What the runs say of the claim."""

    VIOLATION = "VIOLATION"  # refuted at the confidence
    CONSISTENT = "CONSISTENT"  # not refuted, by runs that could have refuted it
    INCONCLUSIVE = "INCONCLUSIVE"  # not refuted, and these runs could not have


class StopReason(StrEnum):
    """Why there were no more runs."""

    EVIDENCE = "evidence"  # the claim was refuted
    BUDGET = "budget"  # as many as asked
    INTERRUPTED = "interrupted"  # by hand
    SILENT = "silent"  # the mechanism gave no answer too often


class FindingKind(StrEnum):
    """What else was seen."""

    RAISED = "raised"  # some runs failed
    LATE = "late"  # some runs gave no answer in time
    SAME = "same"  # every run of both worlds gave the same answer
    FIXED = "fixed"  # each world always gave its one answer
    KINDS = "kinds"  # answers differ in type, shape or keys
    UNREADABLE = "unreadable"  # answers whose own methods fail
    CUT = "cut"  # answers with more entries than were looked at
    BARE = "bare"  # a bare (ε, δ) can hardly be tested
    FEW = "few"  # no result of so few runs could have refuted the claim


@dataclass(frozen=True)
class Finding:
    """A finding, and how often in each world; ``of`` names what it is about (the type of an exception)."""

    finding: FindingKind
    zero: int = 0
    one: int = 0
    of: str = ""


@dataclass(frozen=True)
class AttackEvent:
    """The event that says most: what is looked at, in which cells, from where on which world is named, how it went.

    ``words`` are the kinds or texts that name the first and the second world. Guesses are counted on runs that were not
    used to choose the event.
    """

    looks: str
    cells: tuple[str, ...]
    low: float
    high: float
    below: int | None
    above: int | None
    right: int
    guesses: int
    runs: int
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass(frozen=True, eq=False, repr=False)
class Audit(ValueSemantics, SentenceResult):
    """The result of an audit. Every bound is from below, at ``confidence``, each by itself; none is a guarantee.

    ``epsilon_lo`` bounds ε at ``delta``, ``mu_lo`` the least μ-GDP, ``success_lo`` and ``advantage_lo`` what the best
    guess reaches; None where one call was many guesses, which bounds ε alone. ``claimed`` are the claim's own readings.
    ``excess_lo`` bounds by how much ε lies above the claim at some δ: above 0 exactly in a violation, and no other
    bound is above what is claimed unless it is. ``largest_epsilon`` is the bound that so many runs would give if every
    guess were right. ``band`` holds rows (ε, claimed δ, lower bound on δ); these bounds hold all at once, each also at
    every smaller ε. ``evidence`` is the capital against the claim (1/α refutes it) or, for a number of runs fixed
    beforehand, the p-value; ``exact`` is the largest probability the claim allows, of one run with canaries.
    """

    shown_as = "audit"

    verdict: AuditVerdict
    claim: ClaimLines
    confidence: float
    sequential: bool
    runs: int
    budget: int
    evidence: float
    epsilon_lo: float
    delta: float
    mu_lo: float | None
    success_lo: float | None
    advantage_lo: float | None
    claimed: Mapping[str, float]
    largest_epsilon: float
    excess_lo: float
    event: AttackEvent | None
    findings: tuple[Finding, ...] = ()
    stopped: StopReason = StopReason.BUDGET
    band: tuple[tuple[float, float, float], ...] = ()
    pair: tuple[str, str] = ("", "")
    guesses_a_call: int = 1
    exact: float | None = None
    seconds: tuple[float, float] = field(default=(0.0, 0.0), compare=False, repr=False)  # of the runs; of the audit

    def __post_init__(self) -> None:
        object.__setattr__(self, "claimed", FrozenMapping(self.claimed))

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted: what a pipeline asks."""
        return self.verdict is AuditVerdict.VIOLATION

    @property
    def canaries(self) -> bool:
        """Whether it was one run with canaries."""
        return self.event is not None and self.event.looks == "score"

    def has(self, finding: FindingKind) -> bool:
        """Whether this was seen."""
        return any(found.finding is finding for found in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; null where there is no finite number."""
        event = self.event and {name: json_value(value) for name, value in vars(self.event).items()}
        return {
            "schema": 1,
            **{name: json_value(value) for name, value in vars(self).items()},
            "verdict": str(self.verdict),
            "claim": self.claim.name,
            "claimed": {name: json_value(value) for name, value in self.claimed.items()},
            "event": event,
            "findings": [vars(f) | {"finding": str(f.finding)} for f in self.findings],
            "stopped": str(self.stopped),
            "seconds": [round(s, 3) for s in self.seconds],
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        bound = "inf" if math.isinf(self.epsilon_lo) else f"{self.epsilon_lo:.4g}"
        return f"Audit({self.verdict}, claim={self.claim.name[:80]}, epsilon_lo={bound}, runs={self.runs})"


def find_anomalies(outcomes: Outcomes, bits: Bits, reader: Reader) -> tuple[Finding, ...]:
    """Facts about the outcomes, each with how often it was seen in the first and the second world."""
    made: list[Finding] = []
    answers = 0
    for kind, code in reader.kinds.items():
        here = outcomes.kinds == code
        zero, one = int((here & ~bits).sum()), int((here & bits).sum())
        if kind.what == "answer":
            answers += zero + one > 0
        else:  # raised, late or unreadable
            made.append(Finding(FindingKind(kind.what), zero, one, kind.detail))
    if answers > 1:
        made.append(Finding(FindingKind.KINDS, of=str(answers)))
    if reader.cut:
        made.append(Finding(FindingKind.CUT, of=f"{reader.most:,}"))
    ones, zeros = int(bits.sum()), int((~bits).sum())
    if ones > 1 and zeros > 1:
        first, second = _constant_outcome(outcomes.take(~bits)), _constant_outcome(outcomes.take(bits))
        if first is not None and second is not None:
            same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))
            made.append(Finding(FindingKind.SAME if same else FindingKind.FIXED, zeros, ones))
    return tuple(made)


def _constant_outcome(outcomes: Outcomes) -> tuple[Array, ...] | None:
    """The one outcome of all runs; None where they vary."""
    parts = (outcomes.values, outcomes.texts.astype(float), outcomes.kinds[:, None].astype(float))
    constant = all(np.array_equal(part, np.broadcast_to(part[0], part.shape), equal_nan=True) for part in parts)
    return tuple(part[0] for part in parts) if constant else None


_VERDICT_ORDER = (AuditVerdict.VIOLATION, AuditVerdict.CONSISTENT, AuditVerdict.INCONCLUSIVE)


def shared_confidence(confidence: float, pairs: int) -> float:
    """The confidence of each of several pairs.

    >>> shared_confidence(0.95, 10)
    0.995
    """
    return 1 - level_of(confidence) / pairs


@dataclass(frozen=True)
class PairAudit:
    """The audit of one pair; ``entire`` of its runs were run from the table on, the others from exact numbers."""

    pair: str
    audit: Audit
    entire: int | None = None
    repeatable: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Audits(ValueSemantics, SentenceResult):
    """The audits of all pairs; ``confidence`` is that of all of them together. No bound is a guarantee."""

    shown_as = "audits"

    title: str
    claim: ClaimLines
    confidence: float
    each: tuple[PairAudit, ...]
    skipped: int = 0  # pairs that were not reached, since the claim was refuted or a key stopped it
    left: int = 0  # listed groups that the pairs do without, where there are very many
    where: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)

    @property
    def worst(self) -> PairAudit:
        """The pair with the worst verdict, and of those with the largest bound."""
        return min(self.each, key=lambda one: (_VERDICT_ORDER.index(one.audit.verdict), -one.audit.epsilon_lo))

    @property
    def verdict(self) -> AuditVerdict:
        """A violation on any pair is one; consistent needs a pair whose runs could have refuted the claim."""
        return self.worst.audit.verdict

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted on some pair."""
        return self.verdict is AuditVerdict.VIOLATION

    @property
    def interrupted(self) -> bool:
        """Whether a key stopped it."""
        return any(one.audit.stopped is StopReason.INTERRUPTED for one in self.each)

    @property
    def runs(self) -> int:
        """Of all pairs."""
        return sum(one.audit.runs for one in self.each)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "schema": 1,
            "title": self.title,
            "verdict": str(self.verdict),
            "claim": self.claim.name,
            "confidence": self.confidence,
            "runs": self.runs,
            "worst": self.worst.pair,
            "pairs": [
                {"pair": one.pair, "entire": one.entire, "repeatable": one.repeatable, "audit": one.audit.to_dict()}
                for one in self.each
            ],
            "skipped": self.skipped,
            "left": self.left,
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return f"Audits({self.verdict}, claim={self.claim.name[:80]}, pairs={len(self.each)}, runs={self.runs})"
