"""The ledger on the page, and releases into it.

The Ledger view shows what everything released so far gives away together; it reads and never writes, and is there only
where the server was started with a ledger.

Release shows what an assessed plan would publish and spend, asks for a confirmation that names it, and gives the
answers. Only who sits at this machine may release: the page has no password, and what is published is spent for good.
An offer is what was shown: of one assessment, for one browser, under a name that cannot be guessed. Only what was
offered can be confirmed, and an offer leads to one release, however often it is sent. The same plan gives the answers
of before, which is the ledger's doing.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from ..errors import EpsilensError, InputError, MissingExtra
from ..ledger.account import Account
from ..ledger.ledger import EVERYONE, Ledger
from ..show.charts.findings import over_time
from ..show.presenters import document
from ..show.render import html
from .form import plan_problem, texts
from .limits import RequestError, check_texts, is_loopback, sentence_of
from .pages import STYLES, LRUCache, extra_views, file_of, kind_of, message_page, picture, render, result_file
from .pool import Job, JobState, job_answer

router = APIRouter(include_in_schema=False)
#: What a process that computes readings answers too.
ledger_router = APIRouter(include_in_schema=False)
#: Drawing what was released one after the other takes a while, and an account changes only with its head.
_sections: LRUCache[list[Markup]] = LRUCache(32)


class LedgerTab:
    """ASGI middleware: while a request is answered, the views have the ledger beside them."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, object], receive: object, send: object) -> None:
        before = extra_views.set((("Ledger", "/ledger"),))
        try:
            await self.app(scope, receive, send)
        finally:
            extra_views.reset(before)


def _chosen_account(request: Request) -> tuple[dict[str, Account], Account]:
    """All accounts, and the one that is asked for: the first unless it is named."""
    ledger: Ledger | None = request.app.state.ledger
    if ledger is None:
        raise HTTPException(404)
    check_texts(dict(request.query_params))
    accounts = ledger.accounts()
    if not accounts:
        raise InputError("nothing is entered in this ledger yet")
    name = request.query_params.get("account") or next(iter(accounts))
    if name not in accounts:
        raise InputError(f"account is {name[:40]!r}, of whom this ledger has nothing: choose a name", "account")
    return accounts, accounts[name]


def _ledger_problem(error: EpsilensError) -> Response:
    return message_page(422, "Ledger", "There is nothing to show", sentence_of(error))


@ledger_router.get("/ledger")
def ledger_view(request: Request) -> Response:
    try:
        accounts, account = _chosen_account(request)
        shown = _sections.get_or_make((account.name, account.head), lambda: html.sections(document(account)))
    except EpsilensError as error:
        return _ledger_problem(error)
    query = urlencode({"account": account.name})
    return render(
        "ledger.html",
        view="Ledger",
        stylesheets=STYLES,
        account=account,
        names=[(name, f"/ledger?{urlencode({'account': name})}") for name in accounts],
        sections=shown,
        url=f"/ledger?{query}",
        query=query,
        drawn=bool(account.counted),
        downloads=[
            (word, f"/ledger.{kind}?{query}")
            for word, kind in (("Page", "html"), ("PDF", "pdf"), ("CSV", "csv"), ("JSON", "json"))
        ],
    )


@ledger_router.get("/ledger.html")
@ledger_router.get("/ledger.pdf")
@ledger_router.get("/ledger.csv")
@ledger_router.get("/ledger.json")
def ledger_file(request: Request) -> Response:
    try:
        return result_file(_chosen_account(request)[1], "ledger", kind_of(request))
    except EpsilensError as error:
        return _ledger_problem(error)


@ledger_router.get("/ledger/releases.{kind}")
def ledger_picture(request: Request, kind: str) -> Response:
    try:
        chart = over_time(_chosen_account(request)[1])
        if chart is None:
            raise InputError("nothing was released yet, so there is no chart")
        return picture(chart, "ledger-releases", kind)
    except EpsilensError as error:
        return _ledger_problem(error)


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


_KINDS = {"csv": "text/csv", "json": "application/json", "html": "text/html"}
_KINDS["parquet"] = "application/vnd.apache.parquet"
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
    account: str
    part: str
    made: Mapping[str, Any]
    job: str = ""


class Offers(LRUCache[Offer]):
    def of(self, token: str, visitor: str, assessed: str) -> Offer | None:
        found = self.get(token)
        return found if found is not None and (found.visitor, found.assessed) == (visitor, assessed) else None


@router.get("/assess/job/{id}/release")
async def offer_view(request: Request, id: str, account: str = "", part: str = "") -> Response:
    names: list[str] = []
    try:
        job = _releasable_job(request, id)
        check_texts({"account": account, "part": part})
        names = await _account_names(request)
        account = account.strip() or _only_account(names)
        ledger = request.app.state.ledger.store.address
        asked = request.app.state.jobs.start(
            "offer", job.upload, yaml=job.request["yaml"], ledger=ledger, account=account, part=part.strip()
        )
        made = await job_answer(request, asked)
    except EpsilensError as error:
        return _offer_page(id, None, account, part, names, error)
    offer = Offer(secrets.token_urlsafe(32), request.state.visitor, id, made["account"], part.strip(), made)
    request.app.state.offers.keep(offer.token, offer)
    return _offer_page(id, offer, account, part, names)


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


def _only_account(names: list[str]) -> str:
    """The only account; where there are several, somebody must say which."""
    if len(names) > 1:
        raise RequestError(
            "the ledger has several accounts: say whom the table is about; nothing was spent", 422, "account"
        )
    return names[0] if names else EVERYONE


def _offer_page(
    id: str, offer: Offer | None, account: str, part: str, names: list[str], error: EpsilensError | None = None
) -> Response:
    problem = None if error is None else plan_problem(error)
    made = None if offer is None else offer.made
    return render(
        "release.html",
        200 if problem is None else problem.status,
        view="Assess",
        stylesheets=STYLES,
        back=f"/assess/job/{id}",
        here=f"/assess/job/{id}/release",
        offer=offer,
        made=made,
        fragment=Markup(made["fragment"]) if made is not None else "",
        account=account,
        part=part,
        parted=bool(part) or (made is not None and bool(made["partition"])),
        names=names,
        problem=problem,
    )


@router.post("/assess/job/{id}/release")
async def confirm_release(request: Request, id: str) -> Response:
    """Begin the release that was offered and is confirmed; once, however often it is sent."""
    form = await request.form(max_files=0, max_fields=20, max_part_size=10_000)
    given = texts(form.multi_items())
    offer: Offer | None = request.app.state.offers.of(given.get("offer", ""), request.state.visitor, id)
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
        asked = {"yaml": job.request["yaml"], "account": offer.account, "part": offer.part, "offer": offer.token}
        asked |= {"ledger": request.app.state.ledger.store.address, "assessed": offer.made["assessed"]}
        asked["other_people"] = given.get("other_people") == "yes"
        start = request.app.state.jobs.start
        offer.job = start("release", job.upload, owner=request.state.visitor, **asked).id
    except EpsilensError as error:
        shown = offer if isinstance(error, RequestError) and error.parameter == "confirm" else None
        return _offer_page(id, shown, offer.account if offer else "", offer.part if offer else "", [], error)
    return RedirectResponse(f"/assess/job/{offer.job}", 303)


def _release_job(request: Request, id: str) -> Job | None:
    job: Job | None = request.app.state.jobs.get(id, request.state.visitor)
    return job if job is not None and job.task == "release" and job.state.over else None


@router.get("/assess/job/{id}/answers")
def answers_view(request: Request, id: str) -> Response:
    job = _release_job(request, id)
    if job is None or job.state is JobState.ENDED:
        sentence = "There is no such release any more: release the plan again, which spends nothing if it was released."
        return message_page(404, "Assess", "No answers", sentence)
    account = str(job.request["account"])
    ledger = f"/ledger?{urlencode({'account': account})}"
    made = job.answer or {}
    if job.state is not JobState.DONE:
        problem = plan_problem(RequestError(str(made["error"]), int(made["status"])))
        refused = partial(render, "answers.html", problem.status, view="Assess", made=None, problem=problem)
        return refused(spent=made.get("spent"), ledger=ledger, account=account)
    return render(
        "answers.html",
        view="Assess",
        stylesheets=STYLES,
        made=made,
        fragment=Markup(made["fragment"]),
        problem=None,
        ledger=ledger,
        account=account,
        downloads=[(words, f"/assess/job/{id}/answers.{kind}", kind) for kind, words in _WORDS.items()],
    )


@router.get("/assess/job/{id}/answers.{kind}")
def answers_file(request: Request, id: str, kind: str) -> Response:
    job = _release_job(request, id)
    if job is None or job.state is not JobState.DONE or kind not in _KINDS:
        return message_page(404, "Assess", "No answers", "There are no such answers.")
    return file_of(base64.b64decode(job.result()["files"][kind]), f"answers.{kind}", _KINDS[kind])
