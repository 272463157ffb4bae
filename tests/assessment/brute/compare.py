"""An assessment beside the worst pair of worlds: number by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

from tests.assessment.brute.laws import Pair
from tests.assessment.brute.plans import frame
from tests.assessment.brute.worlds import Case, Question, Search, TooMany, scales

import epsilens.assessment.assessment as module
from epsilens.assessment.assessment import Assessment, Curve, assess
from epsilens.plan.contribution import Noisy
from epsilens.plan.noise import scale_of

__all__ = ["BRACKET", "Assessed", "Compared", "assessed", "compare", "question_of"]

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
    pair: Pair
    worlds: str = ""

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


@dataclass(frozen=True)
class Assessed:
    """An assessment, and the noise it rests on: query by query, number by number."""

    assessment: Assessment
    scales: tuple[tuple[float, ...], ...] | None


def assessed(case: Case) -> Assessed:
    """The plan as epsilens assesses it; the curve of the report is not drawn, to save time."""
    with mock.patch.object(module, "curve_of", lambda *_, **__: Curve((), {}, ())):
        made = assess(case.words(), table=frame(case))
    scale = tuple(
        tuple(scale_of(made.release, i, Noisy(number), made.release.epsilon) for number in ask.numbers)
        for i, ask in enumerate(case.asks)
    )
    return Assessed(made, scale)


def compare(case: Case, made: Assessment, scale: tuple[tuple[float, ...], ...] | None = None) -> Iterator[Compared]:
    """Every number of the assessment that can be enumerated."""
    search = Search(case, scales(case) if scale is None else scale)
    found: dict[str, list[Pair]] = {}
    for risk in made.risks:
        question = question_of(risk.key)
        if question is None or risk.reading not in _READ:
            continue
        if question not in found:
            try:
                found[question] = search.worst(question)
            except TooMany:
                found[question] = []
        if not found[question]:
            continue
        arguments: dict[str, Any] = dict(risk.arguments)
        best, at = max((p.read(risk.reading, arguments), i) for i, p in enumerate(found[question]))
        yield Compared(
            risk.key, risk.reading, arguments, risk.planned, best, getattr(risk, "exact", None), found[question][at]
        )
