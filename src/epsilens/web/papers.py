"""The papers as the page shows them: each recomputed once for a server, in a process that can be ended, and then kept.

A paper takes seconds of processor time, so its numbers and pictures are made by a process of
:class:`~epsilens.web.pool.Pool`, one paper at a time, beside those that answer readings. All who ask meanwhile
wait for the same answer. What failed is not kept: the next one to ask starts it again.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from ..errors import EpsilensError, InputError
from ..papers import CITATIONS, PAPERS, Agreement, named, reproduction
from ..papers.items import ERRATA, holds
from ..show.render import html
from ..show.typesetting import drawings_pdf
from .limits import RequestError, ServerLimits, checked_answer, sentence_of
from .pages import STYLES, as_json, attachment, in_base64, message_page, render, sent_pdf
from .pool import Call, Pool, reading_allowance

#: What the checks of the errata are asked for by.
ERRATA_KEY = "errata"


def paper_content(name: str) -> dict[str, Any]:
    """Everything of a paper that a page shows, as plain values; of :data:`ERRATA_KEY`, which checks come true."""
    try:
        if name == ERRATA_KEY:
            return {"checks": {paper: [holds(one) for one in errata] for paper, errata in ERRATA.items()}}
        kept = reproduction(name)
        (paper,) = kept.papers
        return {
            "items": [
                {
                    "key": item.key,
                    "title": item.title,
                    "agreement": item.agreement.name,
                    "html": str(html.blocks(item.section.blocks)),
                    "files": {
                        file: text for file, text in item.files.items() if text.strip()
                    },  # drawings have no numbers
                    "pdfs": {
                        f"{file[:-4]}.pdf": in_base64(partial(drawings_pdf, [text]))
                        for file, text in item.files.items()
                        if file.endswith(".svg")
                    },
                }
                for item in paper.items
            ],
            "data": kept.to_dict(),
        }
    except EpsilensError as error:
        return {"error": " ".join(str(error).split()), "status": 503}


class PaperCache:
    """All papers of a server, as far as they are there."""

    #: In the order in which a list of them is filled: what takes least comes first.
    order = ("liu2019", "unsal2022", "ashena2021", "kaissis2022", "li2019")

    def __init__(self, limits: ServerLimits, pool: Pool) -> None:
        # A paper may take as long as an assessment, which is work of the same size.
        self._pool = pool
        self._allowance = reading_allowance(replace(limits, reading_seconds=limits.assess_seconds))
        self._lock = threading.Lock()
        self._asked: dict[str, Future[dict[str, Any]]] = {}
        self.open()

    def open(self) -> None:
        """Compute, again where it was closed; what is there stays."""
        self._asked = {name: state for name, state in self._asked.items() if state.done() and not state.exception()}
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="papers")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def of(self, name: str) -> Future[dict[str, Any]]:
        with self._lock:
            if name not in self._asked:
                self._asked[name] = self._begun(name)
            return self._asked[name]

    def every(self) -> dict[str, Future[dict[str, Any]]]:
        """All five; the errata are made ready beside them."""
        found = {name: self.of(name) for name in (*self.order, ERRATA_KEY)}
        return {name: found[name] for name in PAPERS.values()}

    def forget(self, name: str) -> None:
        with self._lock:
            self._asked.pop(name, None)

    def _begun(self, name: str) -> Future[dict[str, Any]]:
        found: Future[dict[str, Any]] = Future()
        found.set_running_or_notify_cancel()  # one who leaves does not take it along

        def told(answer: Future[dict[str, Any]]) -> None:
            try:
                found.set_result(checked_answer(answer.result()))
            except EpsilensError as error:
                found.set_exception(error)
            except BaseException:  # cancelled with the server, or an error of ours
                found.set_exception(RequestError("the papers could not be recomputed: try again", 503))

        try:
            self._threads.submit(self._computed, name).add_done_callback(told)
        except RuntimeError:  # it is closed
            found.set_exception(RequestError("the server is being stopped: try again once it is back", 503))
        return found

    def _computed(self, name: str) -> dict[str, Any]:
        """Ask a process, in a thread: the time of a paper begins with its turn."""
        return self._pool.run(Call({"task": "paper", "paper": name}, self._allowance))


router = APIRouter(include_in_schema=False)

#: How long a first visit waits for a paper before it is told that it is under way.
_PATIENCE = 1.5
#: How a count of each is said: of one, and of several.
_AGREEMENT_WORDS = {
    Agreement.AGREES: ("agrees", "agree"),
    Agreement.PARTLY: ("agrees in part", "agree in part"),
    Agreement.DIFFERS: ("does not hold", "do not hold"),
    Agreement.OPEN: ("cannot be compared", "cannot be compared"),
    Agreement.DRAWING: ("drawing, no claim", "drawings, no claim"),
    Agreement.BEYOND: ("beyond the paper", "beyond the paper"),
}
_KINDS = {"csv": "text/csv; charset=utf-8", "svg": "image/svg+xml"}


@router.get("/papers")
async def papers_view(request: Request) -> Response:
    states = _cache(request).every()
    found = {name: _counts(state) for name, state in states.items()}
    rows = [
        {
            "name": name,
            "citation": CITATIONS[number],
            "errata": len(ERRATA[number]),
            "counts": _count_words(found[name]),
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
        every=_count_words(every)[:3],
        others=sum(every[kind] for kind in (Agreement.OPEN, Agreement.DRAWING, Agreement.BEYOND)),
        errata=sum(map(len, ERRATA.values())),
    )


@router.get("/papers/errata")
async def errata_view(request: Request) -> Response:
    found = await _content(request, ERRATA_KEY)
    if isinstance(found, Response):
        return found
    papers = [(name, CITATIONS[n], list(zip(ERRATA[n], found["checks"][n], strict=True))) for n, name in PAPERS.items()]
    return render(
        "papers/errata.html", view="Papers", stylesheets=STYLES, papers=papers, total=sum(map(len, ERRATA.values()))
    )


@router.get("/papers/{paper}")
async def paper_view(request: Request, paper: str) -> Response:
    name = _paper_name(paper)
    if isinstance(name, Response):
        return name
    found = await _content(request, name)
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
        stylesheets=STYLES,
        paper=name,
        citation=CITATIONS[number],
        items=items,
        counts=_count_words(Counter(item["agreement"] for item in items)),
        errata=len(ERRATA[number]),
    )


@router.get("/papers/{paper}/{file}")
async def paper_file(request: Request, paper: str, file: str) -> Response:
    name = _paper_name(paper, file)
    if isinstance(name, Response):
        return name
    found = await _content(request, name, patience=None)
    if isinstance(found, Response):
        return found
    if file == "paper.json":
        return attachment(as_json(found["data"]), f"{name}.json", "application/json")
    files = {known: text for item in found["items"] for known, text in item["files"].items()}
    stem, _, kind = file.rpartition(".")
    if kind == "pdf" and f"{stem}.svg" in files:
        sent = {known: text for item in found["items"] for known, text in item["pdfs"].items()}
        return sent_pdf(sent[file], f"{name}-{file}")
    if file not in files:
        return _missing(f"There is no file {file[:60]!r} of this paper: take one that its page links.")
    return attachment(files[file], f"{name}-{file}", _KINDS[kind])


def _cache(request: Request) -> PaperCache:
    held: PaperCache = request.app.state.papers
    return held


def _paper_name(paper: str, file: str = "") -> str | Response:
    """The name of a paper in an address; other ways to say it lead there."""
    try:
        name = PAPERS[named(paper)]
    except InputError as error:
        return _missing(sentence_of(error))
    return name if paper == name else RedirectResponse(f"/papers/{name}{f'/{file}' if file else ''}", 308)


def _missing(sentence: str) -> Response:
    return message_page(404, "Papers", "Not found", sentence)


async def _content(request: Request, name: str, patience: float | None = _PATIENCE) -> dict[str, Any] | Response:
    """What was recomputed, or the page that says that it is under way, or why there is none."""
    state = _cache(request).of(name)
    await asyncio.wait({asyncio.wrap_future(state)}, timeout=patience)
    if not state.done():
        return render("papers/waiting.html", view="Papers", stylesheets=STYLES, paper=name, short=_short(name))
    error = state.exception()
    if error is None:
        return state.result()
    _cache(request).forget(name)
    status = error.status if isinstance(error, RequestError) else 503
    return message_page(status, "Papers", "This does not work", sentence_of(str(error)))


def _short(name: str) -> str:
    return "the errata" if name == ERRATA_KEY else CITATIONS[named(name)].short


def _counts(state: Future[dict[str, Any]]) -> Counter[Agreement]:
    if not state.done() or state.exception() is not None:
        return Counter()
    return Counter(Agreement[item["agreement"]] for item in state.result()["items"])


def _count_words(counts: Counter[Agreement]) -> list[tuple[int, str, bool]]:
    """Each count with its words, and whether it is of what does not hold."""
    return [
        (counts[k], words[counts[k] != 1], k is Agreement.DIFFERS) for k, words in _AGREEMENT_WORDS.items() if counts[k]
    ]


def _problem(state: Future[Any]) -> str:
    error = state.exception() if state.done() else None
    return str(error) if isinstance(error, EpsilensError) else ""
