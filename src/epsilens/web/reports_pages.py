"""Two assessments side by side: those of this visit, or reports kept as JSON."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from starlette.datastructures import UploadFile

from ..errors import EpsilensError
from ..show.charts import icons
from .jobs import Job
from .pages import Kept, attachment, render
from .problems import problem_at
from .questions import Problem
from .reports import Report, pictured, rows_of, said_of, taken
from .spreadsheets import written

router = APIRouter(include_in_schema=False)

_BROUGHT = Kept(32)
_LETTERS = ("a", "b")


@dataclass(frozen=True)
class _Brought:
    """A report that came as a file, for its visitor alone."""

    name: str
    report: Report
    visitor: str


def _choices(request: Request) -> list[tuple[str, str]]:
    """The finished assessments of this visit, the latest first, each with what it is called."""
    return [(job.id, _called(job)) for job in request.app.state.jobs.done("assess", request.state.visitor)]


def _called(job: Job) -> str:
    data: Any = job.result()["data"]
    return f"{data['title']}, ε = {data['planned']['epsilon']:.6g}"


def _report(request: Request, key: str) -> tuple[str, Report] | None:
    """The report under a key: of a file that was brought, or of a job."""
    brought: _Brought | None = _BROUGHT.held(key)
    if brought is not None:
        return (brought.name, brought.report) if brought.visitor == request.state.visitor else None
    job = next((j for j in request.app.state.jobs.done("assess", request.state.visitor) if j.id == key), None)
    return None if job is None else (_called(job), taken(job.result()["data"]))


@router.get("/compare/reports")
def reports_view(request: Request, a: str = "", b: str = "", wrong: str = "") -> Response:
    """The form, and both reports where two are chosen; without a choice the last two of this visit."""
    choices = _choices(request)
    if not (a or b) and len(choices) > 1:
        b, a = choices[0][0], choices[1][0]
    chosen = {"a": a, "b": b}
    found = {letter: _report(request, key) for letter, key in chosen.items() if key}
    for letter, key in chosen.items():
        one = found.get(letter)
        if one is not None and key not in dict(choices):
            choices.append((key, one[0]))
    problem = None
    gone = [letter for letter, key in chosen.items() if key and found.get(letter) is None]
    if gone:
        problem = Problem(gone[0], f"Report {gone[0].upper()} is no longer kept: assess it again, or bring its JSON.")
    held = _BROUGHT.held(wrong) if wrong else None
    if isinstance(held, Problem):
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
        said=said_of(both[0][1], both[1][1]) if both else "",
        rows=rows_of(both[0][1], both[1][1]) if both else [],
        picture=_picture,
        query=urlencode(chosen),
    )


@router.get("/compare/reports.csv")
def reports_csv(request: Request, a: str = "", b: str = "") -> Response:
    """Both reports, a row for each number."""
    found = [_report(request, key) for key in (a, b)]
    first, second = found
    if first is None or second is None:
        sentence = "One of the reports is no longer kept: assess it again, or bring its JSON."
        return render("message.html", 404, view="Compare", heading="No report", sentence=sentence)
    rows = [
        (group, line["name"], *line["cells"], line["without"])
        for group, lines in rows_of(first[1], second[1])
        for line in lines
    ]
    head = ("part", "name", f"A: {first[0]}", f"B: {second[0]}", "without")
    return attachment(written(head, rows), "reports.csv", "text/csv; charset=utf-8")


def _picture(report: Report, letter: str) -> Markup:
    found = pictured(report)
    if found is None:
        return Markup("")
    words, baseline, value = found
    caption = Markup('With it: <span class="number risk">{}</span> right').format(words)
    return Markup(icons.array(str(caption), baseline, value, key=f"report-{letter}"))


@router.post("/compare/reports")
async def reports_sent(request: Request) -> Response:
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
            report = await run_in_threadpool(taken, data)
        except EpsilensError as error:
            problem = Problem(letter, problem_at(error).sentence)
            continue
        called = f"{(name or '')[:80]}: {report.title[:80]}, ε = {report.planned.epsilon:.6g}"
        chosen[letter] = _kept(_Brought(called, report, request.state.visitor))
    told = {letter: key for letter, key in chosen.items() if key} | ({"wrong": _kept(problem)} if problem else {})
    return RedirectResponse(f"/compare/reports?{urlencode(told)}", 303)


def _kept(what: Any) -> str:
    key = secrets.token_urlsafe(18)
    _BROUGHT.get(key, lambda: what)
    return key
