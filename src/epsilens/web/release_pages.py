"""Release on the page: what an assessed plan would publish and spend, a confirmation that names it, and the answers.

An offer is what was shown: of one assessment, for one browser, under a name that cannot be guessed. Only what was
offered can be confirmed, and an offer leads to one release, however often it is sent. The same plan gives the answers
of before, which is the ledger's doing.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from ..errors import EpsilensError
from ..ledger.ledger import EVERYONE
from .assessing import awaited
from .jobs import Job, State
from .pages import file_of, render
from .permission import ours, refusal
from .problems import problem_at
from .refused import Refused
from .security import check_texts
from .sent import texts

router = APIRouter(include_in_schema=False)

_KINDS = {
    "csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet", "html": "text/html",
}  # fmt: skip
_WORDS = {"csv": "Download CSV", "json": "Download JSON", "parquet": "Download Parquet", "html": "Download page"}
_GONE = Refused("there is no such assessment any more: assess the plan again; nothing was spent", 404)
_UNSEEN = Refused("this is not an offer that was shown to you: look at it again; nothing was spent", 409)
_ELSEWHERE = Refused("the confirmation was not sent from this page: open the page and confirm there", 403)


@dataclass
class Offer:
    """What was shown to be confirmed; ``job`` is the release it led to."""

    token: str
    visitor: str
    assessed: str  # the job of the assessment
    people: str
    part: str
    made: Mapping[str, Any]
    job: str = ""


class Offers:
    """The latest offers, by their token."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._held: OrderedDict[str, Offer] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, offer: Offer) -> None:
        """Remember an offer, and forget the oldest."""
        with self._lock:
            self._held[offer.token] = offer
            while len(self._held) > self._most:
                self._held.popitem(last=False)

    def get(self, token: str, visitor: str, assessed: str) -> Offer | None:
        """The offer, for the browser it was shown in."""
        with self._lock:
            found = self._held.get(token)
        return found if found is not None and (found.visitor, found.assessed) == (visitor, assessed) else None


# -- what would be released ---------------------------------------------------------------------------------------


@router.get("/assess/job/{id}/release")
async def offer_view(request: Request, id: str, people: str = "", part: str = "") -> Response:
    """What would be released and spent, with what confirms it."""
    names: list[str] = []
    try:
        job = _assessed(request, id)
        check_texts({"people": people, "part": part})
        names = await _names(request)
        people = people.strip() or _account(names)
        ledger = request.app.state.ledger.store.address
        asked = request.app.state.jobs.start(
            "offer", job.upload, yaml=job.request["yaml"], ledger=ledger, people=people, part=part.strip()
        )
        made = await awaited(request, asked)
    except EpsilensError as error:
        return _shown(id, None, people, part, names, error)
    offer = Offer(secrets.token_urlsafe(32), request.state.visitor, id, made["people"], part.strip(), made)
    request.app.state.offers.keep(offer)
    return _shown(id, offer, people, part, names)


async def _names(request: Request) -> list[str]:
    """Those whom the ledger knows; who waits for another writer is not kept waiting longer than a reading."""
    seconds = request.app.state.limits.reading_seconds
    try:
        return list(await asyncio.wait_for(asyncio.to_thread(request.app.state.ledger.accounts), seconds))
    except TimeoutError:
        raise Refused(f"the ledger did not answer within {seconds:g} seconds: try again in a moment", 503) from None


def _assessed(request: Request, id: str) -> Job:
    """The assessment of a plan that may be released, by this browser, from here."""
    if why := refusal(request):
        raise Refused(why, 403)
    job: Job | None = request.app.state.jobs.get(id, request.state.visitor)
    if job is None or job.task != "assess" or job.state is not State.DONE:
        raise _GONE
    if job.upload is not None and request.app.state.uploads.get(job.upload.token, request.state.visitor) is None:
        raise Refused("the file is no longer here: choose it again and assess it; nothing was spent", 410)
    if job.result()["data"]["exceeded"]:
        raise Refused("the plan breaks its own limits: change it and assess it again; nothing was spent", 422)
    return job


def _account(names: list[str]) -> str:
    """The only account; where there are several, somebody must say which."""
    if len(names) > 1:
        raise Refused("the ledger has several accounts: say whom the table is about; nothing was spent", 422, "people")
    return names[0] if names else EVERYONE


def _shown(
    id: str, offer: Offer | None, people: str, part: str, names: list[str], error: EpsilensError | None = None
) -> Response:
    problem = None if error is None else problem_at(error)
    made = None if offer is None else offer.made
    return render(
        "release.html",
        200 if problem is None else problem.status,
        view="Assess",
        stylesheets=["page.css", "assessment.css"],
        back=f"/assess/job/{id}",
        here=f"/assess/job/{id}/release",
        offer=offer,
        made=made,
        fragment=Markup(made["fragment"]) if made is not None else "",
        people=people,
        part=part,
        parted=bool(part) or (made is not None and bool(made["partition"])),
        names=names,
        problem=problem,
    )


# -- the confirmation ---------------------------------------------------------------------------------------------


@router.post("/assess/job/{id}/release")
async def confirmed(request: Request, id: str) -> Response:
    """Begin the release that was offered and is confirmed; once, however often it is sent."""
    form = await request.form(max_files=0, max_fields=20, max_part_size=10_000)
    given = texts(form.multi_items())
    offer: Offer | None = request.app.state.offers.get(given.get("offer", ""), request.state.visitor, id)
    try:
        if not ours(request):
            raise _ELSEWHERE
        if offer is not None and offer.job and not refusal(request):
            return RedirectResponse(f"/assess/job/{offer.job}", 303)
        job = _assessed(request, id)
        if offer is None:
            raise _UNSEEN
        if given.get("confirm") != offer.made["amount"]:
            raise Refused(f"nothing was spent: tick that {offer.made['amount']} is to be spent", 422, "confirm")
        # Nothing waits between the look at the offer and this: two clicks cannot both begin one.
        offer.job = request.app.state.jobs.start(
            "release", job.upload, owner=request.state.visitor, yaml=job.request["yaml"], people=offer.people,
            part=offer.part, ledger=request.app.state.ledger.store.address, assessed=offer.made["assessed"],
            offer=offer.token, other_people=given.get("other_people") == "yes",
        ).id  # fmt: skip
    except EpsilensError as error:
        shown = offer if isinstance(error, Refused) and error.parameter == "confirm" else None
        return _shown(id, shown, offer.people if offer else "", offer.part if offer else "", [], error)
    return RedirectResponse(f"/assess/job/{offer.job}", 303)


# -- what came of it ----------------------------------------------------------------------------------------------


def _released(request: Request, id: str) -> Job | None:
    job: Job | None = request.app.state.jobs.get(id, request.state.visitor)
    return job if job is not None and job.task == "release" and job.state.over else None


@router.get("/assess/job/{id}/answers")
def answers_view(request: Request, id: str) -> Response:
    """The answers, or why there are none."""
    job = _released(request, id)
    if job is None or job.state is State.ENDED:
        sentence = "There is no such release any more: release the plan again, which spends nothing if it was released."
        return render("message.html", 404, view="Assess", heading="No answers", sentence=sentence)
    people = str(job.request["people"])
    ledger = f"/ledger?{urlencode({'people': people})}"
    made = job.answer or {}
    if job.state is not State.DONE:
        problem = problem_at(Refused(str(made["error"]), int(made["status"])))
        return render(
            "answers.html", problem.status, view="Assess", made=None, problem=problem, spent=made.get("spent"),
            ledger=ledger, people=people,
        )  # fmt: skip
    return render(
        "answers.html",
        view="Assess",
        stylesheets=["page.css", "assessment.css"],
        made=made,
        fragment=Markup(made["fragment"]),
        problem=None,
        ledger=ledger,
        people=people,
        downloads=[(words, f"/assess/job/{id}/answers.{kind}", kind) for kind, words in _WORDS.items()],
    )


@router.get("/assess/job/{id}/answers.{kind}")
def answers_file(request: Request, id: str, kind: str) -> Response:
    """The answers to keep."""
    job = _released(request, id)
    if job is None or job.state is not State.DONE or kind not in _KINDS:
        return render("message.html", 404, view="Assess", heading="No answers", sentence="There are no such answers.")
    return file_of(base64.b64decode(job.result()["files"][kind]), f"answers.{kind}", _KINDS[kind])
