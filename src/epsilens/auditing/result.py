"""What an audit found: a verdict, lower bounds at a confidence beside the claim's own readings, and the event."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..numerics.formatting import json_value
from ..numerics.values import FrozenMapping, ValueSemantics
from ..results import SentenceResult
from .claims import Claim


class Verdict(StrEnum):
    """What the runs say of the claim."""

    VIOLATION = "VIOLATION"  # refuted at the confidence
    CONSISTENT = "CONSISTENT"  # not refuted, by runs that could have refuted it
    INCONCLUSIVE = "INCONCLUSIVE"  # not refuted, and these runs could not have


class Stopped(StrEnum):
    """Why there were no more runs."""

    EVIDENCE = "evidence"  # the claim was refuted
    BUDGET = "budget"  # as many as asked
    INTERRUPTED = "interrupted"  # by hand
    SILENT = "silent"  # the mechanism gave no answer too often


class Finding(StrEnum):
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
class Found:
    """A finding, and how often in each world; ``of`` names what it is about (the type of an exception)."""

    finding: Finding
    zero: int = 0
    one: int = 0
    of: str = ""


@dataclass(frozen=True)
class Seen:
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

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {k: json_value(v) for k, v in vars(self).items()} | {"words": [list(w) for w in self.words]}


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

    verdict: Verdict
    claim: Claim
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
    event: Seen | None
    excess_lo: float
    findings: tuple[Found, ...] = ()
    stopped: Stopped = Stopped.BUDGET
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
        return self.verdict is Verdict.VIOLATION

    @property
    def canaries(self) -> bool:
        """Whether it was one run with canaries."""
        return self.event is not None and self.event.looks == "score"

    def has(self, finding: Finding) -> bool:
        """Whether this was seen."""
        return any(found.finding is finding for found in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; null where there is no finite number."""
        return {
            "schema": 1, "verdict": str(self.verdict), "claim": self.claim.name, "confidence": self.confidence,
            "sequential": self.sequential, "runs": self.runs, "budget": self.budget, "evidence": json_value(self.evidence),
            "epsilon_lo": json_value(self.epsilon_lo), "delta": self.delta, "mu_lo": json_value(self.mu_lo),
            "success_lo": self.success_lo, "advantage_lo": self.advantage_lo,
            "claimed": {name: json_value(value) for name, value in self.claimed.items()},
            "largest_epsilon": json_value(self.largest_epsilon), "excess_lo": json_value(self.excess_lo),
            "event": None if self.event is None else self.event.to_dict(),
            "findings": [
                {"finding": str(f.finding), "zero": f.zero, "one": f.one, "of": f.of} for f in self.findings
            ],
            "stopped": str(self.stopped), "band": [list(row) for row in self.band], "pair": list(self.pair),
            "guesses_a_call": self.guesses_a_call, "exact": self.exact, "seconds": [round(s, 3) for s in self.seconds],
            "sentence": self.sentence,
        }  # fmt: skip

    def __repr__(self) -> str:
        bound = "inf" if math.isinf(self.epsilon_lo) else f"{self.epsilon_lo:.4g}"
        return f"Audit({self.verdict}, claim={self.claim.name[:80]}, epsilon_lo={bound}, runs={self.runs})"
