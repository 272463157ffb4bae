"""An assessment beside the worst pair of worlds: number by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from epsilens.assessment.assessment import Assessment

from tests.assessment.brute.laws import Pair
from tests.assessment.brute.worlds import Case, Question, TooMany, _Search, scales

__all__ = ["Compared", "compare", "question_of"]

#: Readings that have an exact value here.
_READ = {"success", "posterior", "roc", "recall", "attack_success", "delta", "epsilon", "advantage"}
#: What an assessed number may lie above the truth and still be called exact: the bracket of a composition.
BRACKET = 2e-4


@dataclass(frozen=True)
class Compared:
    """One assessed number, the truth, and a pair of worlds that reaches it."""

    key: str
    reading: str
    arguments: dict[str, float]
    assessed: float
    truth: float
    exact: bool | None
    pair: Pair | None

    @property
    def below(self) -> float:
        """By how much the assessed number is below the truth."""
        return max(self.truth - self.assessed, 0.0)


def question_of(key: str) -> str | None:
    """The question a risk row answers; None for rows that have no enumeration here."""
    if key.startswith(("membership", "reidentification")):
        return Question.MEMBERSHIP
    if key.startswith("identification"):
        return Question.MISSING
    if key in ("belief", "informed", "informed-guess", "differencing-known"):
        return Question.SECRET
    return None


def compare(case: Case, assessed: Assessment, scale: tuple[tuple[float, ...], ...] | None = None) -> Iterator[Compared]:
    """Every number of the assessment that can be enumerated."""
    search = _Search(case, scales(case) if scale is None else scale)
    found: dict[str, list[Pair]] = {}
    for risk in assessed.risks:
        question = question_of(risk.key)
        if question is None or risk.reading not in _READ:
            continue
        if question not in found:
            try:
                found[question] = search.worst(question)
            except TooMany:
                found[question] = []
        arguments: dict[str, Any] = dict(risk.arguments)
        best, pair = max(
            ((p.read(risk.reading, arguments), i) for i, p in enumerate(found[question])), default=(None, 0)
        )
        if best is None:
            continue
        exact = getattr(risk, "exact", None)
        yield Compared(risk.key, risk.reading, arguments, risk.planned, best, exact, found[question][pair])
