"""The papers as the page shows them: each recomputed once for a server, in a process that can be ended, and then kept.

A paper takes seconds of processor time, so its numbers and pictures are made by a process of
:class:`~epsilens.web.readers.Readers`, one paper at a time, beside those that answer readings. All who ask meanwhile
wait for the same answer. What failed is not kept: the next one to ask starts it again.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from ..errors import EpsilensError
from ..papers import PAPERS, reproduction
from ..papers.errata import ERRATA
from ..papers.erratum import holds
from ..show.render import html
from .log import note
from .readers import Readers
from .refused import Refused, fine
from .security import Limits

#: What the checks of the errata are asked for by.
ERRORS = "errata"
#: Only processes that compute have it: the server answers whatever is below /papers itself.
router = APIRouter(include_in_schema=False)


@router.get("/papers/recomputed/{name}")
def recomputed(name: str) -> Response:
    """A paper, or a refusal with its status."""
    return JSONResponse(made(name))


def made(name: str) -> dict[str, Any]:
    """Everything of a paper that a page shows, as plain values; of :data:`ERRORS`, which checks come true."""
    try:
        if name == ERRORS:
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
                }
                for item in paper.items
            ],
            "data": kept.to_dict(),
        }
    except EpsilensError as error:
        return {"error": " ".join(str(error).split()), "status": 503}


class Recomputed:
    """All papers of a server, as far as they are there."""

    #: In the order in which a list of them is filled: what takes least comes first.
    order = ("liu2019", "unsal2022", "ashena2021", "kaissis2022", "li2019")

    def __init__(self, limits: Limits) -> None:
        # A paper may take as long as an assessment, which is work of the same size.
        self._readers = Readers(replace(limits, reading_seconds=limits.assess_seconds, readers=1))
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="papers")
        self._lock = threading.Lock()
        self._asked: dict[str, Future[dict[str, Any]]] = {}

    def open(self) -> None:
        """Compute, again where it was closed; what is there stays."""
        self._asked = {name: state for name, state in self._asked.items() if _is_there(state)}
        self._readers.open()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="papers")

    def close(self) -> None:
        """End what is under way."""
        self._readers.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def of(self, name: str) -> Future[dict[str, Any]]:
        """A paper by its author and year: there already, under way, or begun now."""
        with self._lock:
            if name not in self._asked:
                self._asked[name] = self._begun(name)
            return self._asked[name]

    def every(self) -> dict[str, Future[dict[str, Any]]]:
        """All five; the errata are made ready beside them."""
        found = {name: self.of(name) for name in (*self.order, ERRORS)}
        return {name: found[name] for name in PAPERS.values()}

    def forget(self, name: str) -> None:
        """Let the next one who asks start it again."""
        with self._lock:
            self._asked.pop(name, None)

    def _begun(self, name: str) -> Future[dict[str, Any]]:
        found: Future[dict[str, Any]] = Future()
        found.set_running_or_notify_cancel()  # one who leaves does not take it along

        def told(answer: Future[dict[str, Any]]) -> None:
            try:
                found.set_result(fine(answer.result()))
            except EpsilensError as error:
                found.set_exception(error)
            except BaseException:  # cancelled with the server, or an error of ours
                found.set_exception(Refused("the papers could not be recomputed: try again", 503))
            if all(other in self._asked and _is_there(self._asked[other]) for other in (*self.order, ERRORS)):
                self.close()  # nothing is left to compute

        try:
            self._threads.submit(self._made, name).add_done_callback(told)
        except RuntimeError:  # it is closed
            found.set_exception(Refused("the server is being stopped: try again once it is back", 503))
        return found

    def _made(self, name: str) -> dict[str, Any]:
        """Ask a process, in a thread: the time of a paper begins with its turn."""
        if not Readers.possible:
            return made(name)
        request = {"method": "GET", "path": f"/papers/recomputed/{name}", "query": "", "headers": [], "beside": []}
        head, body = self._readers.ask(request).answer.result()
        if "large" in head:
            raise Refused("this needs more memory than the page allows: use the command line", 413)
        if "failed" in head:
            note(f"a paper failed with {head['failed']}")
            raise Refused("this could not be recomputed because of an error of ours: try again", 500)
        read: dict[str, Any] = json.loads(body)
        return read


def _is_there(state: Future[dict[str, Any]]) -> bool:
    return state.done() and state.exception() is None
