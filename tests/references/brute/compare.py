"""An assessment beside the worst pair of worlds: number by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from tests.references.brute.laws import Pair
from tests.references.brute.plans import frame
from tests.references.brute.worlds import Case, Question, Search, TooMany, World, scales

from epsilens.assessment import adversaries, risks
from epsilens.assessment import assessment as whole
from epsilens.assessment.risks import Curve, Risk
from epsilens.plan.file import read_release

__all__ = ["BRACKET", "Compared", "assessed", "assessed_by_plan", "at", "compare", "question_of"]

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
    exact: bool
    pair: Pair
    worlds: tuple[World, World] | None = None

    @property
    def below(self) -> float:
        """By how much the assessed number is below the truth."""
        return max(self.truth - self.assessed, 0.0) if self.truth > self.assessed else 0.0


def question_of(key: str) -> str | None:
    """The question a risk row answers; None for rows that have no enumeration here."""
    if key.startswith(("membership", "reidentification")):
        return Question.MEMBERSHIP
    if key.startswith("identification"):
        return Question.MISSING
    if key in ("belief", "informed", "informed-guess", "guess", "differencing-known"):
        return Question.SECRET
    return None


def assessed(case: Case) -> tuple[Risk, ...]:
    """The risks of the plan as epsilens assesses them; the curve of the report is not drawn, to save time."""
    with mock.patch.object(whole, "curve_of", return_value=Curve((), {}, ())):
        return whole.assess(case.words(), table=frame(case)).risks


def assessed_by_plan(case: Case, *, search: bool = False) -> tuple[Risk, ...]:
    """The risks without the table, and unless asked without the search for the largest ε: a hundred times as fast."""
    known = tuple(a for a in adversaries.ADVERSARIES if question_of(a.key) is not None)
    setting = adversaries.Setting(read_release(case.words()), supposed=True)
    with mock.patch.object(adversaries, "ADVERSARIES", known):
        if search:
            return risks.risks_of(setting)[0]
        with mock.patch.object(risks, "_largest", return_value=0.0):
            return risks.risks_of(setting)[0]


def at(case: Case, epsilon: float) -> Case:
    """The same plan at another total ε, shared as before."""
    own = tuple(replace(a, epsilon=a.epsilon * epsilon / case.total if a.epsilon else None) for a in case.asks)
    return replace(case, epsilon=epsilon, asks=own)


def compare(case: Case, made: Iterable[Risk]) -> Iterator[Compared]:
    """Every number of the assessment that can be enumerated."""
    search = Search(case, scales(case))
    found: dict[str, list[Pair]] = {}
    for risk in made:
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
        best, place = max((p.read(risk.reading, arguments), i) for i, p in enumerate(found[question]))
        pair = found[question][place]
        yield Compared(
            risk.key, risk.reading, arguments, risk.planned, best, risk.exact, pair, search.example.get(pair)
        )
