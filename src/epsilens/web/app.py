"""The application: views, API, static files, limits and the handlers that turn errors into sentences."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import MissingExtra
from ..show.render.html import ASSETS
from .limits import ServerLimits, allowed_hosts, error_kind, is_loopback, log_line
from .middleware import Guard, Router
from .pool import Jobs, Pool
from .uploads import Uploads
from .view_state import explain_state

if TYPE_CHECKING:
    from ..ledger.ledger import Ledger


try:
    from fastapi import FastAPI, Request
    from fastapi.concurrency import run_in_threadpool
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse, Response
    from fastapi.staticfiles import StaticFiles
    from starlette.exceptions import HTTPException
    from uvicorn import Config
    from uvicorn import Server as UvicornServer
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from . import api, assess, compare, explain, pages, papers, release, reports
except ImportError as error:
    if isinstance(error, MissingExtra) or (error.name or "").startswith("epsilens"):
        raise
    raise MissingExtra(error.name or "fastapi", extra="web", purpose="the page") from error


def create_app(host: str = "127.0.0.1", limits: ServerLimits | None = None, ledger: Ledger | None = None) -> FastAPI:
    """The application as ``epsilens serve`` runs it on ``host``; with a ``ledger`` it can release."""
    within = limits or ServerLimits()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(app.state.uploads.open)
        app.state.pool.open()
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
    app.state.here_alone, app.state.offers = is_loopback(host), release.Offers(64)
    app.state.pool = pool = Pool(within)
    app.state.jobs, app.state.uploads = Jobs(within, pool), Uploads(within)
    app.state.papers = papers.PaperCache(within, pool)
    _add_views(app)
    app.include_router(papers.router)
    app.include_router(reports.router)
    app.include_router(assess.router)
    app.include_router(release.router)
    app.include_router(api.docs_router)
    api.add_release_schema(app)
    app.mount("/static", StaticFiles(directory=Path(__file__).with_name("static")), name="static")
    app.mount("/assets", StaticFiles(directory=ASSETS), name="assets")
    held = ledger.store.address if ledger is not None else None
    app.add_middleware(Router, pool=pool, failed=_failed, ledger=held)
    app.add_middleware(
        Guard,
        hosts=allowed_hosts(host),
        open_to_network=not is_loopback(host),
        limits=within,
        coming=app.state.coming,
        failed=_failed,
    )
    if ledger is not None:
        app.add_middleware(release.LedgerTab)
    return app


def views() -> FastAPI:
    """The application as a process that computes readings has it: what is read from a query, and no more."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.ledger = None
    _add_views(app)
    return app


def _add_views(app: FastAPI) -> None:
    app.include_router(explain.router)
    app.include_router(compare.router)
    app.include_router(release.ledger_router)
    app.include_router(api.make_router())
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def stop(app: FastAPI) -> None:
    """End what would keep the server from stopping: bodies that are still coming, and jobs."""
    for clock in list(app.state.coming):
        with suppress(RuntimeError):  # it rang already
            clock.reschedule(0)
    app.state.jobs.close()
    app.state.papers.close()
    app.state.pool.close()


async def _tend(app: FastAPI) -> None:
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
    about = explain_state({})
    if about.about is not None:
        pages.curve_charts(about.about, about.query)
    app.state.pool.warm()


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
    return pages.message_page(status, "", heading, sentence, headers)


# -- a server that ends in time: uvicorn itself waits for the head of a request, and for a body, for ever -----------

#: Seconds that an idle connection, and at the end requests that are being answered, are waited for.
_KEEP_ALIVE, _GRACE = 20, 5
_CONNECTIONS = 300


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit on how long the head of a request may take to come."""

    #: From the connection, or the first byte, to the end of the head.
    head_seconds = 10.0
    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came; what is not a whole head yet must become one soon."""
        super().data_received(data)
        if self._asked():
            self._forget()
        elif self._clock is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect(self) -> None:
        self._clock = self.loop.call_later(self.head_seconds, self._late)

    def _forget(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _late(self) -> None:
        self._clock = None
        if not self._asked():
            self.transport.close()


class Server(UvicornServer):
    """uvicorn with few connections and no access log; ``stop`` is called before it waits for what is being answered."""

    def __init__(self, app: Any, stop: Callable[[], None]) -> None:
        super().__init__(
            Config(
                app,
                http=Connection,
                log_level="warning",
                access_log=False,  # addresses carry what people entered
                server_header=False,
                limit_concurrency=_CONNECTIONS,
                timeout_keep_alive=_KEEP_ALIVE,
                timeout_graceful_shutdown=_GRACE,
            )
        )
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def server_of(app: FastAPI) -> Server:
    return Server(app, lambda: stop(app))
