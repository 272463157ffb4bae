"""The Papers view: what five papers show, what comes out here, whether they agree, and the errata."""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import Future
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from ..errors import EpsilensError, InputError
from ..papers import CITATIONS, PAPERS, Agreement, named
from ..papers.errata import ERRATA
from ..show.charts.pdf import pdf
from .pages import as_json, attachment, file_of, render
from .recomputed import ERRORS, Recomputed
from .refused import Refused

router = APIRouter(include_in_schema=False)

#: How long a first visit waits for a paper before it is told that it is under way.
_PATIENCE = 1.5
#: How a count of each is said: of one, and of several.
_SAID = {
    Agreement.AGREES: ("agrees", "agree"),
    Agreement.PARTLY: ("agrees in part", "agree in part"),
    Agreement.DIFFERS: ("does not hold", "do not hold"),
    Agreement.OPEN: ("cannot be compared", "cannot be compared"),
    Agreement.DRAWING: ("drawing, no claim", "drawings, no claim"),
    Agreement.BEYOND: ("beyond the paper", "beyond the paper"),
}
_SHEETS = ("page.css", "assessment.css")
_KINDS = {"csv": "text/csv; charset=utf-8", "svg": "image/svg+xml"}


@router.get("/papers")
async def papers_view(request: Request) -> Response:
    """All papers, with how much of each agrees as far as it is computed."""
    states = _recomputed(request).every()
    found = {name: _counts(state) for name, state in states.items()}
    rows = [
        {
            "name": name,
            "citation": CITATIONS[number],
            "errata": len(ERRATA[number]),
            "counts": _said(found[name]),
            "problem": _problem(states[name]),
        }
        for number, name in PAPERS.items()
    ]
    waits = not all(state.done() for state in states.values())
    every = sum(found.values(), Counter())
    return render(
        "papers.html",
        view="Papers",
        rows=rows,
        waits=waits,
        total=every.total() if all(found.values()) else 0,
        every=_said(every)[:3],
        others=sum(every[kind] for kind in (Agreement.OPEN, Agreement.DRAWING, Agreement.BEYOND)),
        errata=sum(map(len, ERRATA.values())),
    )


@router.get("/papers/errata")
async def errata_view(request: Request) -> Response:
    """What is printed and does not hold, with a check of each that was just run."""
    found = await _found(request, ERRORS)
    if isinstance(found, Response):
        return found
    papers = [(name, CITATIONS[n], list(zip(ERRATA[n], found["checks"][n], strict=True))) for n, name in PAPERS.items()]
    return render(
        "papers/errata.html", view="Papers", stylesheets=_SHEETS, papers=papers, total=sum(map(len, ERRATA.values()))
    )


@router.get("/papers/{paper}")
async def paper_view(request: Request, paper: str) -> Response:
    """Every table, figure and claim of one paper."""
    name = _name(paper)
    if isinstance(name, Response):
        return name
    found = await _found(request, name)
    if isinstance(found, Response):
        return found
    number = named(name)
    items = [
        {**item, "html": Markup(item["html"]), "agreement": Agreement[item["agreement"]]}  # made by our own templates
        for item in found["items"]
    ]
    return render(
        "papers/paper.html",
        view="Papers",
        stylesheets=_SHEETS,
        paper=name,
        citation=CITATIONS[number],
        items=items,
        counts=_said(Counter(item["agreement"] for item in items)),
        errata=len(ERRATA[number]),
    )


@router.get("/papers/{paper}/{file}")
async def paper_file(request: Request, paper: str, file: str) -> Response:
    """The numbers or the picture of one item, or all of it as JSON."""
    name = _name(paper, file)
    if isinstance(name, Response):
        return name
    found = await _found(request, name, patience=None)
    if isinstance(found, Response):
        return found
    if file == "paper.json":
        return attachment(as_json(found["data"]), f"{name}.json", "application/json")
    files = {known: text for item in found["items"] for known, text in item["files"].items()}
    stem, _, kind = file.rpartition(".")
    if kind == "pdf" and f"{stem}.svg" in files:
        return file_of(pdf(files[f"{stem}.svg"]), f"{name}-{file}", "application/pdf")
    if file not in files:
        return _missing(f"There is no file {file[:60]!r} of this paper: take one that its page links.")
    return attachment(files[file], f"{name}-{file}", _KINDS[kind])


def _recomputed(request: Request) -> Recomputed:
    held: Recomputed = request.app.state.papers
    return held


def _name(paper: str, file: str = "") -> str | Response:
    """The name of a paper in an address; other ways to say it lead there."""
    try:
        name = PAPERS[named(paper)]
    except InputError as error:
        words = " ".join(str(error).split())
        return _missing(f"{words[:1].upper()}{words[1:]}.")
    return name if paper == name else RedirectResponse(f"/papers/{name}{f'/{file}' if file else ''}", 308)


def _missing(sentence: str) -> Response:
    return render("message.html", 404, view="Papers", heading="Not found", sentence=sentence)


async def _found(request: Request, name: str, patience: float | None = _PATIENCE) -> dict[str, Any] | Response:
    """What was recomputed, or the page that says that it is under way, or why there is none."""
    state = _recomputed(request).of(name)
    await asyncio.wait({asyncio.wrap_future(state)}, timeout=patience)
    if not state.done():
        return render("papers/waiting.html", view="Papers", stylesheets=_SHEETS, paper=name, short=_short(name))
    error = state.exception()
    if error is None:
        return state.result()
    _recomputed(request).forget(name)
    words, status = str(error), error.status if isinstance(error, Refused) else 503
    return render(
        "message.html", status, view="Papers", heading="This does not work", sentence=f"{words[:1].upper()}{words[1:]}."
    )


def _short(name: str) -> str:
    return "the errata" if name == ERRORS else CITATIONS[named(name)].short


def _counts(state: Future[dict[str, Any]]) -> Counter[Agreement]:
    if not state.done() or state.exception() is not None:
        return Counter()
    return Counter(Agreement[item["agreement"]] for item in state.result()["items"])


def _said(counts: Counter[Agreement]) -> list[tuple[int, str, bool]]:
    """Each count with its words, and whether it is of what does not hold."""
    return [(counts[k], words[counts[k] != 1], k is Agreement.DIFFERS) for k, words in _SAID.items() if counts[k]]


def _problem(state: Future[Any]) -> str:
    error = state.exception() if state.done() else None
    return str(error) if isinstance(error, EpsilensError) else ""
