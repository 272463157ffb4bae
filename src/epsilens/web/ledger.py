"""The Ledger view: what everything released so far gives away together. It reads and never writes.

It is there only where the server was started with a ledger, and only then the other views name it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response

from ..errors import EpsilensError, InputError
from ..ledger.account import Account
from ..ledger.ledger import Ledger
from ..show.charts.ledger import over_time
from ..show.presenters import document
from ..show.render import html
from .downloads import picture
from .limits import check_texts
from .pages import PICTURES, LRUCache, as_json, attachment, extra_views, file_of, render

router = APIRouter(include_in_schema=False)
#: Drawing what was released one after the other takes a while, and an account changes only with its head.
_sections = LRUCache(32)


class LedgerTab:
    """ASGI middleware: while a request is answered, the views have the ledger beside them."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answer."""
        before = extra_views.set((("Ledger", "/ledger"),))
        try:
            await self.app(scope, receive, send)
        finally:
            extra_views.reset(before)


def _account(request: Request) -> tuple[dict[str, Account], Account]:
    """All accounts, and the one that is asked for: the first unless it is named."""
    ledger: Ledger | None = request.app.state.ledger
    if ledger is None:
        raise HTTPException(404)
    check_texts(dict(request.query_params))
    accounts = ledger.accounts()
    if not accounts:
        raise InputError("nothing is entered in this ledger yet")
    name = request.query_params.get("people") or next(iter(accounts))
    if name not in accounts:
        raise InputError(f"people is {name[:40]!r}, of whom this ledger has nothing: choose a name", parameter="people")
    return accounts, accounts[name]


def _error_page(error: EpsilensError) -> Response:
    sentence = " ".join(str(error).split())
    sentence = f"{sentence[:1].upper()}{sentence[1:]}."
    return render("message.html", 422, view="Ledger", heading="There is nothing to show", sentence=sentence)


@router.get("/ledger")
def ledger_view(request: Request) -> Response:
    """One account, and the names of the others."""
    try:
        accounts, account = _account(request)
        shown = _sections.get((account.people, account.head), lambda: html.sections(document(account)))
    except EpsilensError as error:
        return _error_page(error)
    query = urlencode({"people": account.people})
    return render(
        "ledger.html",
        view="Ledger",
        stylesheets=["page.css", "assessment.css"],
        account=account,
        names=[(name, f"/ledger?{urlencode({'people': name})}") for name in accounts],
        sections=shown,
        url=f"/ledger?{query}",
        query=query,
        drawn=bool(account.counted),
        downloads=[
            (word, f"/ledger.{kind}?{query}")
            for word, kind in (("Page", "html"), ("PDF", "pdf"), ("CSV", "csv"), ("JSON", "json"))
        ],
    )


@router.get("/ledger.html")
def ledger_file(request: Request) -> Response:
    """The account to keep."""
    try:
        return attachment(_account(request)[1].to_html(), "ledger.html", "text/html")
    except EpsilensError as error:
        return _error_page(error)


@router.get("/ledger.pdf")
def ledger_pdf(request: Request) -> Response:
    """The account on paper."""
    try:
        return file_of(_account(request)[1].to_pdf(), "ledger.pdf", PICTURES["pdf"])
    except EpsilensError as error:
        return _error_page(error)


@router.get("/ledger.csv")
def ledger_csv(request: Request) -> Response:
    """Every release of the account, a row each."""
    try:
        return attachment(_account(request)[1].to_csv(), "ledger.csv", "text/csv; charset=utf-8")
    except EpsilensError as error:
        return _error_page(error)


@router.get("/ledger/releases.{kind}")
def ledger_picture(request: Request, kind: str) -> Response:
    """The chart of what was released one after the other, as a file."""
    try:
        chart = over_time(_account(request)[1])
        if chart is None:
            raise InputError("nothing was released yet, so there is no chart")
        return picture(chart, "ledger-releases", kind)
    except EpsilensError as error:
        return _error_page(error)


@router.get("/ledger.json")
def ledger_json(request: Request) -> Response:
    """The same as JSON."""
    try:
        return attachment(as_json(_account(request)[1].to_dict()), "ledger.json", "application/json")
    except EpsilensError as error:
        return _error_page(error)
