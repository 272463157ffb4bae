"""Several audits of one claim, on several pairs of inputs, that hold together.

The level is shared: each of K pairs is audited at the confidence 1 − α/K, so that with probability 1 − α none of the
bounds is wrong. The verdict is that of the worst pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..numerics.values import ValueSemantics
from ..results import SentenceResult
from .claims import Claim, level_of
from .result import Audit, Stopped, Verdict

_ORDER = (Verdict.VIOLATION, Verdict.CONSISTENT, Verdict.INCONCLUSIVE)


def shared_confidence(confidence: float, pairs: int) -> float:
    """The confidence of each of several pairs.

    >>> shared_confidence(0.95, 10)
    0.995
    """
    return 1 - level_of(confidence) / pairs


@dataclass(frozen=True)
class Named:
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
    claim: Claim
    confidence: float
    each: tuple[Named, ...]
    skipped: int = 0  # pairs that were not reached, since the claim was refuted or a key stopped it
    left: int = 0  # listed groups that the pairs do without, where there are very many
    where: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def worst(self) -> Named:
        """The pair with the worst verdict, and of those with the largest bound."""
        return min(self.each, key=lambda one: (_ORDER.index(one.audit.verdict), -one.audit.epsilon_lo))

    @property
    def verdict(self) -> Verdict:
        """A violation on any pair is one; consistent needs a pair whose runs could have refuted the claim."""
        return self.worst.audit.verdict

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted on some pair."""
        return self.verdict is Verdict.VIOLATION

    @property
    def interrupted(self) -> bool:
        """Whether a key stopped it."""
        return any(one.audit.stopped is Stopped.INTERRUPTED for one in self.each)

    @property
    def runs(self) -> int:
        """Of all pairs."""
        return sum(one.audit.runs for one in self.each)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "schema": 1, "title": self.title, "verdict": str(self.verdict), "claim": self.claim.name,
            "confidence": self.confidence, "runs": self.runs, "worst": self.worst.pair,
            "pairs": [
                {"pair": one.pair, "entire": one.entire, "repeatable": one.repeatable, "audit": one.audit.to_dict()}
                for one in self.each
            ],
            "skipped": self.skipped, "left": self.left, "sentence": self.sentence,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Audits({self.verdict}, claim={self.claim.name[:80]}, pairs={len(self.each)}, runs={self.runs})"
