"""The application: views, API, static files, limits and the handlers that turn errors into sentences."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra

try:
    from fastapi import FastAPI, Request
    from fastapi.concurrency import run_in_threadpool
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse, Response
    from fastapi.staticfiles import StaticFiles
    from starlette.exceptions import HTTPException

    from . import api, assess, claims, compare, downloads, notions, pages, papers, release, reports, shares
    from . import ledger as ledger_views
except ImportError as error:
    if isinstance(error, MissingExtra) or (error.name or "").startswith("epsilens"):
        raise
    raise MissingExtra(error.name or "fastapi", extra="web", purpose="the page") from error

from .. import __version__
from ..show.render.html import ASSETS
from .errors import error_kind, log_line
from .jobs import Jobs
from .limits import ServerLimits, allowed_hosts, is_loopback
from .middleware import Guard, Router
from .readers import Readers
from .uploads import Uploads
from .workers import Workers

if TYPE_CHECKING:
    import uvicorn

    from ..ledger.ledger import Ledger


def create_app(host: str = "127.0.0.1", limits: ServerLimits | None = None, ledger: Ledger | None = None) -> FastAPI:
    """The application as ``epsilens serve`` runs it on ``host``; with a ``ledger`` it can release."""
    within = limits or ServerLimits()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(app.state.uploads.open)
        app.state.readers.open()
        app.state.papers.open()
        threading.Thread(target=_warm, args=(app,), daemon=True).start()
        tending = asyncio.create_task(_tend(app))
        yield
        tending.cancel()
        stop(app)
        await run_in_threadpool(app.state.uploads.close)

    app = FastAPI(
        title="epsilens",
        version=__version__,
        description="Answers carry a schema version; an error is one sentence. No key is needed.",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.state.limits, app.state.coming, app.state.ledger = within, set(), ledger
    app.state.here_alone, app.state.offers = is_loopback(host), release.Offers()
    app.state.jobs, app.state.uploads = Jobs(within, Workers(within)), Uploads(within)
    app.state.readers, app.state.papers = Readers(within), papers.PaperCache(within)
    _add_views(app)
    app.include_router(papers.router)
    app.include_router(reports.router)
    app.include_router(assess.router)
    app.include_router(assess.router)
    app.include_router(shares.router)
    app.include_router(release.router)
    app.include_router(api.docs_router)
    api.add_release_schema(app)
    app.mount("/static", StaticFiles(directory=Path(__file__).with_name("static")), name="static")
    app.mount("/assets", StaticFiles(directory=ASSETS), name="assets")
    held = ledger.store.address if ledger is not None else None
    app.add_middleware(Router, readers=app.state.readers, failed=_failed, ledger=held)
    app.add_middleware(
        Guard,
        hosts=allowed_hosts(host),
        open_to_network=not is_loopback(host),
        limits=within,
        coming=app.state.coming,
        failed=_failed,
    )
    if ledger is not None:
        app.add_middleware(ledger_views.LedgerTab)
    return app


def views() -> FastAPI:
    """The application as a process that computes readings has it: what is read from a query, and no more."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.ledger = None
    _add_views(app)
    app.include_router(papers.computing_router)
    return app


def _add_views(app: FastAPI) -> None:
    app.include_router(pages.router)
    app.include_router(claims.router)
    app.include_router(compare.router)
    app.include_router(downloads.router)
    app.include_router(notions.router)
    app.include_router(ledger_views.router)
    app.include_router(api.make_router())
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def server_of(app: FastAPI) -> uvicorn.Server:
    """The server that runs an application, and ends what is under way when it is told to stop."""
    from .connections import Server  # a page that is asked in-process needs none

    return Server(app, lambda: stop(app))


def stop(app: FastAPI) -> None:
    """End what would keep the server from stopping: bodies that are still coming, and jobs."""
    for clock in list(app.state.coming):
        with suppress(RuntimeError):  # it rang already
            clock.reschedule(0)
    app.state.jobs.close()
    app.state.readers.close()
    app.state.papers.close()


async def _tend(app: FastAPI) -> None:
    """End what nobody wants any more."""
    while True:
        await asyncio.sleep(2)
        try:
            app.state.jobs.expire()
            for upload in await run_in_threadpool(app.state.uploads.expire):
                app.state.jobs.forget(upload)
        except Exception as error:  # the next time may go well, and must come
            log_line(f"a visit failed with {error_kind(error)}")


def _warm(app: FastAPI) -> None:
    """Import what the first views need, while the browser opens."""
    from .view_state import explain_state

    about = explain_state({})
    if about.about is not None:
        pages.curve_charts(about.about, about.query)
    app.state.jobs.workers.warm()
    app.state.readers.warm()


def _failed(scope: Any, status: int, sentence: str) -> Response:
    return _answer(Request(dict(scope)), status, sentence, None)


def _sentence(problem: Any) -> tuple[str, str]:
    """FastAPI's complaint about a parameter as a sentence, and the parameter."""
    name = str(problem["loc"][-1]) if problem["loc"] else "the request"
    words = str(problem["msg"])
    if problem["type"] == "missing":
        return f"{name} is missing: give a value for it.", name
    shown = repr(problem.get("input"))
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    if str(problem.get("input")).strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return f"{name} is {shown}: give a finite number.", name
    return f"{name} is {shown}: {words[:1].lower()}{words[1:]}.", name


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    sentence, name = _sentence(error.errors()[0])
    return _answer(request, 422, sentence, name)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = {404: "There is no such page.", 405: "This address does not take that kind of request."}
    return _answer(request, error.status_code, known.get(error.status_code, str(error.detail)), None, error.headers)


def _answer(request: Request, status: int, sentence: str, field: str | None, headers: Any = None) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"schema": 1, "error": sentence, "field": field}, status, headers)
    heading = "Not found" if status == 404 else "This does not work"
    return pages.render("message.html", status, headers, view="", heading=heading, sentence=sentence)
