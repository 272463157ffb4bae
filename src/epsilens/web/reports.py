"""Two assessments side by side: what is taken from each report's JSON, and the rows that show both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from ..errors import InputError
from ..numerics.counted import frequencies, times
from ..show.assessment.labels import FREQUENCIES, given, planned, risk, share

_Text = Annotated[str, Field(max_length=600)]
_Number = Annotated[float, Field(allow_inf_nan=False)]
_MOST = 200  # adversaries, and queries


class _Noise(BaseModel):
    epsilon: _Number
    noise: _Text = ""
    delta: _Number | None = None


class _Choice(BaseModel):
    epsilon: _Number | None = None


class _Risk(BaseModel):
    key: _Text
    name: _Text
    question: _Text = ""
    reading: _Text
    baseline: _Number
    planned: _Number
    limit: _Number | None = None


class _Worst(BaseModel):
    relative: float | None = None


class _Errors(BaseModel):
    worst: _Worst | None = None


class _Query(BaseModel):
    title: _Text
    planned: _Errors


class Report(BaseModel):
    """What is compared of a report: its verdict, its ε, each adversary and each query at the planned ε."""

    title: _Text
    headline: _Text
    exceeded: bool
    planned: _Noise
    recommended: _Choice
    risks: Annotated[list[_Risk], Field(min_length=1, max_length=_MOST)]
    queries: Annotated[list[_Query], Field(max_length=_MOST)]
    error_limit: _Number | None = None

    @property
    def membership(self) -> _Risk | None:
        """The membership test, which every report has."""
        return next((r for r in self.risks if r.key == "membership" and r.reading == "success"), None)


def taken(data: str | bytes | Mapping[str, Any]) -> Report:
    """The report of a JSON file, or of an answer of ours; anything else is refused in a sentence."""
    try:
        if isinstance(data, Mapping):
            return Report.model_validate(data)
        return Report.model_validate(json.loads(data))
    except (ValidationError, ValueError, RecursionError):
        raise InputError(
            "the file is not the JSON of an assessment: give what “Download JSON” on a report keeps", parameter="file"
        ) from None


def said_of(a: Report, b: Report) -> str:
    """Both in two sentences: the membership test, then the answer that is least accurate."""
    first, second = a.membership, b.membership
    said = ""
    if first is not None and second is not None:
        in_a, in_b, without = times(first.planned, second.planned, given=[first.baseline], per="of")
        said = (
            f"Whether one worst-placed person is in the table is guessed right {in_a} in A and {in_b} in B. "
            f"Without the release it would be {without}."
        )
    errors = [max((e for q in r.queries if (e := _error(q)) is not None), default=None) for r in (a, b)]
    if None not in errors:
        told = [share(e, spoken=True) for e in errors if e is not None]
        said += f" The least accurate answer is within {told[0]} in A and {told[1]} in B, in 95 of 100 releases."
    return said.strip()


def _error(query: _Query) -> float | None:
    return None if query.planned.worst is None else query.planned.worst.relative


def rows_of(a: Report, b: Report) -> list[tuple[str, list[dict[str, Any]]]]:
    """The rows in groups: what is asked, A, B, and what would hold without the release."""
    both = (a, b)
    choice = [
        _row("Verdict", [r.headline for r in both], [r.exceeded for r in both]),
        _row("Planned ε", [planned(r.planned.epsilon) for r in both]),
        _row("Largest ε within the limits on risk", [_chosen(r.recommended.epsilon) for r in both]),
    ]
    adversaries = []
    for key in dict.fromkeys(r.key for report in both for r in report.risks):
        found = [next((r for r in report.risks if r.key == key), None) for report in both]
        known = next(r for r in found if r is not None)
        unit = "" if known.reading in FREQUENCIES else f" ({known.reading})"
        over = [r is not None and r.limit is not None and r.planned > r.limit for r in found]
        without = given(known.reading, known.baseline)
        adversaries.append(_row(known.name + unit, [_risk(r) for r in found], over, without))
    answers = []
    for title in dict.fromkeys(q.title for report in both for q in report.queries):
        asked = [next((q for q in report.queries if q.title == title), None) for report in both]
        too_far = [_too_far(q, report.error_limit) for q, report in zip(asked, both, strict=True)]
        answers.append(_row(title, [_answer(q) for q in asked], too_far))
    return [
        ("The choice", choice),
        ("Who could learn what, of 100, at the planned ε", adversaries),
        ("Error of the least accurate group, at the planned ε", answers),
    ]


def _row(name: str, cells: list[str], over: Sequence[bool] = (), without: str = "") -> dict[str, Any]:
    return {"name": name, "cells": cells, "over": over or [False] * len(cells), "without": without}


def _chosen(epsilon: float | None) -> str:
    return "no limit" if epsilon is None else "none" if epsilon == 0 else planned(epsilon)


def _risk(r: _Risk | None) -> str:
    if r is None:
        return "not met"
    return risk(r.reading, r.planned, limit=r.limit, baseline=r.baseline)


def _too_far(q: _Query | None, limit: float | None) -> bool:
    error = None if q is None else _error(q)
    return error is not None and limit is not None and error > limit


def _answer(q: _Query | None) -> str:
    if q is None:
        return "not asked"
    error = _error(q)
    return "–" if error is None else share(error)


def pictured(r: Report) -> tuple[str, float, float] | None:
    """The words, the baseline and the value of the icon array of a report."""
    test = r.membership
    if test is None:
        return None
    return frequencies(test.planned, given=[test.baseline])[0], test.baseline, test.planned
