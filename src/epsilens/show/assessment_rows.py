"""The tables of an assessment as text, row by row, for every form in which they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..catalogue.readings import find
from .assessment_numbers import FREQUENCIES, epsilon_down, epsilon_up, error, limit, risk, share, value
from .assessment_queries import detail, title, typical_label
from .assessment_words import error_at, error_limit, reached, second

if TYPE_CHECKING:
    from ..assessment.accuracy import QueryAccuracy
    from ..assessment.assessment import Assessment, Risk

__all__ = ["AccuracyRow", "RiskRow", "accuracy_rows", "bar", "combinations", "risk_note", "risk_rows", "sets"]

#: How many combinations of columns the report lists.
MOST_COMBINATIONS = 9


@dataclass(frozen=True)
class RiskRow:
    """One adversary: numbers as text; ``state`` is over, within or empty where nothing is limited."""

    name: str
    question: str
    sets: str
    baseline: str
    planned: str
    limit: str
    largest: str
    state: str
    bar: float | None

    @property
    def over(self) -> bool:
        """Whether the planned ε breaks the limit."""
        return self.state == "over"


def risk_rows(a: Assessment) -> list[RiskRow]:
    """The adversaries, those that allow the least ε first."""
    return [
        RiskRow(
            r.name,
            r.question,
            sets(a, r),
            risk(r.reading, r.baseline),
            risk(r.reading, reached(a, r, r.planned), limit=r.limit, baseline=r.baseline),
            "–" if r.limit is None else limit(r.reading, r.limit),
            "–" if r.largest is None else epsilon_down(r.largest),
            "" if r.limit is None else "over" if r.over else "within",
            bar(r),
        )
        for r in a.risks
    ]


def sets(a: Assessment, r: Risk) -> str:
    """What the adversary that allows the least ε does; nothing for the others."""
    if r.key != a.binding:
        return ""
    return "sets the recommendation" if a.possible else "no ε keeps this one"


def bar(r: Risk) -> float | None:
    """The increase because of the release over the increase that the limit allows; None without one."""
    if r.limit is None or r.limit <= r.baseline:
        return None
    return (r.planned - r.baseline) / (r.limit - r.baseline)


def risk_note(a: Assessment) -> str:
    """What the numbers of the table count, and how the adversaries' answers were put together."""
    other = [find(r.reading).label for r in a.risks if r.reading not in FREQUENCIES]
    unit = "Numbers are out of 100" + (f", except {', '.join(dict.fromkeys(other))}." if other else ".")
    how = list(dict.fromkeys(r.how for r in a.risks if r.how and len(a.queries) > 1))
    put = "".join(f" {text[:1].upper()}{text[1:]}." for text in how[:2])
    return f"{unit} Each is the most that adversary can reach; none is an estimate.{put}"


@dataclass(frozen=True)
class AccuracyRow:
    """One query: its typical answer, and its error at the planned and the second ε."""

    name: str
    detail: str
    answer: str
    typical: str
    planned: tuple[str, str, bool]
    second: tuple[str, str, bool] | None
    smallest: str


def accuracy_rows(a: Assessment) -> list[AccuracyRow]:
    """The queries in order; an error is its half-width, its share, and whether it breaks the limit."""
    at = second(a)
    return [
        AccuracyRow(
            title(a, q),
            detail(a, q),
            value(q.typical if len(q.answers) != 1 else q.answers[0].value),
            typical_label(a, q),
            _error(a, q, a.epsilon),
            None if at is None else _error(a, q, at),
            _smallest(q),
        )
        for q in a.queries
    ]


def _error(a: Assessment, q: QueryAccuracy, epsilon: float) -> tuple[str, str, bool]:
    allowed = error_limit(a)
    relative = q.relative(epsilon, a.release)
    over = allowed is not None and bool(q.typical) and relative > allowed
    return error(error_at(a, q, epsilon)), share(relative, allowed) if q.typical else "answer is 0", over


def _smallest(q: QueryAccuracy) -> str:
    return "–" if q.smallest_epsilon is None else epsilon_up(q.smallest_epsilon)


def combinations(a: Assessment) -> list[tuple[tuple[str, ...], float, str]]:
    """The combinations of columns that isolate most people: columns, share, and the share out of 100 as text."""
    if a.scan is None or not a.scan.people:
        return []
    best = sorted(a.scan.subsets, key=lambda s: (-s.people, len(s.columns)))[:MOST_COMBINATIONS]
    shares = [s.people / a.scan.people for s in best]
    return [(s.columns, p, _of_100(p)) for s, p in zip(best, shares, strict=True)]


def _of_100(p: float) -> str:
    if p in (0.0, 1.0):
        return f"{100 * p:g}"
    for places in (1, 2, 3, 4):
        text = f"{100 * p:.{places}f}"
        if float(text) not in (0.0, 100.0):
            return text
    return f"{100 * p:.1e}"
