"""Two assessments side by side: what is taken from each report's JSON, and the rows that show both."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import UploadFile

from ..errors import EpsilensError, InputError
from ..numerics.formatting import frequencies, times
from ..show.assessment.tables import FREQUENCIES, given, planned, risk, share
from ..show.charts import icons
from .form import plan_problem
from .pages import LRUCache, attachment, csv_text, message_page, render
from .pool import Job
from .view_state import FieldProblem

_Text = Annotated[str, Field(max_length=600)]
_Number = Annotated[float, Field(allow_inf_nan=False)]
_MOST = 200  # adversaries, and queries


class _PlannedNoise(BaseModel):
    epsilon: _Number
    noise: _Text = ""
    delta: _Number | None = None


class _Recommendation(BaseModel):
    epsilon: _Number | None = None


class _ReportRisk(BaseModel):
    key: _Text
    name: _Text
    question: _Text = ""
    reading: _Text
    baseline: _Number
    planned: _Number
    limit: _Number | None = None


class _WorstError(BaseModel):
    relative: float | None = None


class _ReportErrors(BaseModel):
    worst: _WorstError | None = None


class _ReportQuery(BaseModel):
    title: _Text
    planned: _ReportErrors


class AssessmentReport(BaseModel):
    """What is compared of a report: its verdict, its ε, each adversary and each query at the planned ε."""

    title: _Text
    headline: _Text
    exceeded: bool
    planned: _PlannedNoise
    recommended: _Recommendation
    risks: Annotated[list[_ReportRisk], Field(min_length=1, max_length=_MOST)]
    queries: Annotated[list[_ReportQuery], Field(max_length=_MOST)]
    error_limit: _Number | None = None

    @property
    def membership(self) -> _ReportRisk | None:
        """The membership test, which every report has."""
        return next((r for r in self.risks if r.key == "membership" and r.reading == "success"), None)


def parse_report(data: str | bytes | Mapping[str, object]) -> AssessmentReport:
    """The report of a JSON file, or of an answer of ours; anything else is refused in a sentence."""
    try:
        if isinstance(data, Mapping):
            return AssessmentReport.model_validate(data)
        return AssessmentReport.model_validate(json.loads(data))
    except (ValidationError, ValueError, RecursionError):
        raise InputError(
            "the file is not the JSON of an assessment: give what “Download JSON” on a report keeps", "file"
        ) from None


def comparison_sentence(a: AssessmentReport, b: AssessmentReport) -> str:
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


def _error(query: _ReportQuery) -> float | None:
    return None if query.planned.worst is None else query.planned.worst.relative


def comparison_rows(a: AssessmentReport, b: AssessmentReport) -> list[tuple[str, list[dict[str, Any]]]]:
    """The rows in groups: what is asked, A, B, and what would hold without the release."""
    both = (a, b)
    choice = [
        _row("Verdict", [r.headline for r in both], [r.exceeded for r in both]),
        _row("Planned ε", [planned(r.planned.epsilon) for r in both]),
        _row("Largest ε within the limits on risk", [_epsilon_text(r.recommended.epsilon) for r in both]),
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


def _row(name: str, cells: list[str], over: Sequence[bool] = (), without: str = "") -> dict[str, object]:
    return {"name": name, "cells": cells, "over": over or [False] * len(cells), "without": without}


def _epsilon_text(epsilon: float | None) -> str:
    return "no limit" if epsilon is None else "none" if epsilon == 0 else planned(epsilon)


def _risk(r: _ReportRisk | None) -> str:
    if r is None:
        return "not met"
    return risk(r.reading, r.planned, limit=r.limit, baseline=r.baseline)


def _too_far(q: _ReportQuery | None, limit: float | None) -> bool:
    error = None if q is None else _error(q)
    return error is not None and limit is not None and error > limit


def _answer(q: _ReportQuery | None) -> str:
    if q is None:
        return "not asked"
    error = _error(q)
    return "–" if error is None else share(error)


def membership_icon(r: AssessmentReport) -> tuple[str, float, float] | None:
    """The words, the baseline and the value of the icon array of a report."""
    test = r.membership
    if test is None:
        return None
    return frequencies(test.planned, given=[test.baseline])[0], test.baseline, test.planned


router = APIRouter(include_in_schema=False)

_LETTERS = ("a", "b")


@dataclass(frozen=True)
class _UploadedReport:
    """A report that came as a file, for its visitor alone."""

    name: str
    report: AssessmentReport
    visitor: str


_UPLOADED: LRUCache[_UploadedReport | FieldProblem] = LRUCache(32)


def _job_title(job: Job) -> str:
    data: Any = job.result()["data"]
    return f"{data['title']}, ε = {data['planned']['epsilon']:.6g}"


def _report_of(request: Request, key: str) -> tuple[str, AssessmentReport] | None:
    brought = _UPLOADED.get(key)
    if isinstance(brought, _UploadedReport):
        return (brought.name, brought.report) if brought.visitor == request.state.visitor else None
    job = next((j for j in request.app.state.jobs.done("assess", request.state.visitor) if j.id == key), None)
    return None if job is None else (_job_title(job), parse_report(job.result()["data"]))


@router.get("/compare/reports")
def reports_view(request: Request, a: str = "", b: str = "", wrong: str = "") -> Response:
    """The form, and both reports where two are chosen; without a choice the last two of this visit."""
    done = request.app.state.jobs.done("assess", request.state.visitor)
    choices = [(job.id, _job_title(job)) for job in done]
    if not (a or b) and len(choices) > 1:
        b, a = choices[0][0], choices[1][0]
    chosen = {"a": a, "b": b}
    found = {letter: _report_of(request, key) for letter, key in chosen.items() if key}
    for letter, key in chosen.items():
        one = found.get(letter)
        if one is not None and key not in dict(choices):
            choices.append((key, one[0]))
    problem = None
    gone = [letter for letter, key in chosen.items() if key and found.get(letter) is None]
    if gone:
        problem = FieldProblem(
            gone[0], f"Report {gone[0].upper()} is no longer kept: assess it again, or bring its JSON."
        )
    held = _UPLOADED.get(wrong) if wrong else None
    if isinstance(held, FieldProblem):
        problem = held
    first, second = found.get("a"), found.get("b")
    both = (first, second) if first is not None and second is not None else None
    return render(
        "reports.html",
        422 if problem else 200,
        view="Compare",
        choices=choices,
        chosen=chosen,
        problem=problem,
        both=both,
        said=comparison_sentence(both[0][1], both[1][1]) if both else "",
        rows=comparison_rows(both[0][1], both[1][1]) if both else [],
        picture=_picture,
        query=urlencode(chosen),
    )


@router.get("/compare/reports.csv")
def reports_csv(request: Request, a: str = "", b: str = "") -> Response:
    found = [_report_of(request, key) for key in (a, b)]
    first, second = found
    if first is None or second is None:
        sentence = "One of the reports is no longer kept: assess it again, or bring its JSON."
        return message_page(404, "Compare", "No report", sentence)
    rows = [
        (group, line["name"], *line["cells"], line["without"])
        for group, lines in comparison_rows(first[1], second[1])
        for line in lines
    ]
    head = ("part", "name", f"A: {first[0]}", f"B: {second[0]}", "without")
    return attachment(csv_text(head, rows), "reports.csv", "text/csv; charset=utf-8")


def _picture(report: AssessmentReport, letter: str) -> Markup:
    found = membership_icon(report)
    if found is None:
        return Markup("")
    words, baseline, value = found
    caption = Markup('With it: <span class="number risk">{}</span> right').format(words)
    return Markup(icons.array(str(caption), baseline, value, key=f"report-{letter}"))


@router.post("/compare/reports")
async def post_reports(request: Request) -> Response:
    """The form: a report that came as a file is kept for the visit, and the comparison has an address."""
    chosen, problem = {}, None
    async with request.form(max_files=2, max_fields=10, max_part_size=1_000_000) as form:
        picked = {letter: form.get(letter) for letter in _LETTERS}
        files = {letter: form.get(f"{letter}_file") for letter in _LETTERS}
        came = {k: (f.filename, await f.read()) for k, f in files.items() if isinstance(f, UploadFile) and f.filename}
    for letter, key in picked.items():
        chosen[letter] = key if isinstance(key, str) else ""
        if letter not in came:
            continue
        name, data = came[letter]
        try:
            report = await run_in_threadpool(parse_report, data)
        except EpsilensError as error:
            problem = FieldProblem(letter, plan_problem(error).sentence)
            continue
        called = f"{(name or '')[:80]}: {report.title[:80]}, ε = {report.planned.epsilon:.6g}"
        chosen[letter] = _store(_UploadedReport(called, report, request.state.visitor))
    told = {letter: key for letter, key in chosen.items() if key} | ({"wrong": _store(problem)} if problem else {})
    return RedirectResponse(f"/compare/reports?{urlencode(told)}", 303)


def _store(what: _UploadedReport | FieldProblem) -> str:
    key = secrets.token_urlsafe(18)
    _UPLOADED.keep(key, what)
    return key
