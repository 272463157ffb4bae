"""Whether anything may be released from here: only by who sits at this machine, into the ledger the server was given.

The page has no password. What it shows may be seen over a network where its owner opens it to one; what it publishes
is spent for good, so that stays with whoever can use the machine itself.

Release on the page: what an assessed plan would publish and spend, a confirmation that names it, and the answers.

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
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from ..errors import EpsilensError, MissingExtra
from ..ledger.ledger import EVERYONE
from .errors import RequestError
from .form import plan_problem, texts
from .jobs import Job, JobState, job_answer
from .limits import check_texts, is_loopback
from .pages import file_of, render

#: Whoever comes through another server sits elsewhere.
_PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def release_refusal(request: Request) -> str:
    """Why nothing can be released from here, in a sentence; empty where it can."""
    state = request.app.state
    if not state.here_alone:
        return (
            "Nothing can be released from a page that is open to the network: start it without --host, or use epsilens "
            "release on the command line."
        )
    client = request.client
    if client is None or not is_loopback(client.host) or any(name in request.headers for name in _PROXY_HEADERS):
        return "Nothing can be released over a network: open the page on the machine that it runs on."
    if state.ledger is None:
        return (
            "To release the plan from here, start the page with a ledger that counts it: epsilens serve --ledger "
            "ledger.db."
        )
    if find_spec("opendp") is None:
        return f"{MissingExtra('opendp', extra='release', purpose='A release')}."
    return ""


def is_same_origin(request: Request) -> bool:
    """Whether a form says that it was sent from our own page: a browser does, another program need not."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "").lower()
    if origin is not None:
        return origin.lower() in (f"http://{host}", f"https://{host}")
    return request.headers.get("sec-fetch-site") == "same-origin"


router = APIRouter(include_in_schema=False)

_KINDS = {
    "csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet", "html": "text/html",
}  # fmt: skip
_WORDS = {"csv": "Download CSV", "json": "Download JSON", "parquet": "Download Parquet", "html": "Download page"}
_NO_ASSESSMENT = RequestError("there is no such assessment any more: assess the plan again; nothing was spent", 404)
_NO_OFFER = RequestError("this is not an offer that was shown to you: look at it again; nothing was spent", 409)
_FOREIGN_FORM = RequestError("the confirmation was not sent from this page: open the page and confirm there", 403)


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
        job = _releasable_job(request, id)
        check_texts({"people": people, "part": part})
        names = await _account_names(request)
        people = people.strip() or _account(names)
        ledger = request.app.state.ledger.store.address
        asked = request.app.state.jobs.start(
            "offer", job.upload, yaml=job.request["yaml"], ledger=ledger, people=people, part=part.strip()
        )
        made = await job_answer(request, asked)
    except EpsilensError as error:
        return _offer_page(id, None, people, part, names, error)
    offer = Offer(secrets.token_urlsafe(32), request.state.visitor, id, made["people"], part.strip(), made)
    request.app.state.offers.keep(offer)
    return _offer_page(id, offer, people, part, names)


async def _account_names(request: Request) -> list[str]:
    """Those whom the ledger knows; who waits for another writer is not kept waiting longer than a reading."""
    seconds = request.app.state.limits.reading_seconds
    try:
        return list(await asyncio.wait_for(asyncio.to_thread(request.app.state.ledger.accounts), seconds))
    except TimeoutError:
        raise RequestError(
            f"the ledger did not answer within {seconds:g} seconds: try again in a moment", 503
        ) from None


def _releasable_job(request: Request, id: str) -> Job:
    """The assessment of a plan that may be released, by this browser, from here."""
    if why := release_refusal(request):
        raise RequestError(why, 403)
    job: Job | None = request.app.state.jobs.get(id, request.state.visitor)
    if job is None or job.task != "assess" or job.state is not JobState.DONE:
        raise _NO_ASSESSMENT
    if job.upload is not None and request.app.state.uploads.get(job.upload.token, request.state.visitor) is None:
        raise RequestError("the file is no longer here: choose it again and assess it; nothing was spent", 410)
    if job.result()["data"]["exceeded"]:
        raise RequestError("the plan breaks its own limits: change it and assess it again; nothing was spent", 422)
    return job


def _account(names: list[str]) -> str:
    """The only account; where there are several, somebody must say which."""
    if len(names) > 1:
        raise RequestError(
            "the ledger has several accounts: say whom the table is about; nothing was spent", 422, "people"
        )
    return names[0] if names else EVERYONE


def _offer_page(
    id: str, offer: Offer | None, people: str, part: str, names: list[str], error: EpsilensError | None = None
) -> Response:
    problem = None if error is None else plan_problem(error)
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
async def confirm_release(request: Request, id: str) -> Response:
    """Begin the release that was offered and is confirmed; once, however often it is sent."""
    form = await request.form(max_files=0, max_fields=20, max_part_size=10_000)
    given = texts(form.multi_items())
    offer: Offer | None = request.app.state.offers.get(given.get("offer", ""), request.state.visitor, id)
    try:
        if not is_same_origin(request):
            raise _FOREIGN_FORM
        if offer is not None and offer.job and not release_refusal(request):
            return RedirectResponse(f"/assess/job/{offer.job}", 303)
        job = _releasable_job(request, id)
        if offer is None:
            raise _NO_OFFER
        if given.get("confirm") != offer.made["amount"]:
            raise RequestError(f"nothing was spent: tick that {offer.made['amount']} is to be spent", 422, "confirm")
        # Nothing waits between the look at the offer and this: two clicks cannot both begin one.
        offer.job = request.app.state.jobs.start(
            "release", job.upload, owner=request.state.visitor, yaml=job.request["yaml"], people=offer.people,
            part=offer.part, ledger=request.app.state.ledger.store.address, assessed=offer.made["assessed"],
            offer=offer.token, other_people=given.get("other_people") == "yes",
        ).id  # fmt: skip
    except EpsilensError as error:
        shown = offer if isinstance(error, RequestError) and error.parameter == "confirm" else None
        return _offer_page(id, shown, offer.people if offer else "", offer.part if offer else "", [], error)
    return RedirectResponse(f"/assess/job/{offer.job}", 303)


# -- what came of it ----------------------------------------------------------------------------------------------


def _release_job(request: Request, id: str) -> Job | None:
    job: Job | None = request.app.state.jobs.get(id, request.state.visitor)
    return job if job is not None and job.task == "release" and job.state.over else None


@router.get("/assess/job/{id}/answers")
def answers_view(request: Request, id: str) -> Response:
    """The answers, or why there are none."""
    job = _release_job(request, id)
    if job is None or job.state is JobState.ENDED:
        sentence = "There is no such release any more: release the plan again, which spends nothing if it was released."
        return render("message.html", 404, view="Assess", heading="No answers", sentence=sentence)
    people = str(job.request["people"])
    ledger = f"/ledger?{urlencode({'people': people})}"
    made = job.answer or {}
    if job.state is not JobState.DONE:
        problem = plan_problem(RequestError(str(made["error"]), int(made["status"])))
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
    job = _release_job(request, id)
    if job is None or job.state is not JobState.DONE or kind not in _KINDS:
        return render("message.html", 404, view="Assess", heading="No answers", sentence="There are no such answers.")
    return file_of(base64.b64decode(job.result()["files"][kind]), f"answers.{kind}", _KINDS[kind])
