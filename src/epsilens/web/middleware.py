"""Who may ask, how long a request may take to come, and the headers of every answer.

The server listens on the loopback interface, where any web page the user visits can send requests too. Three checks
keep them out: the Host header must name this machine (a rebound DNS name does not), a request that changes or computes
something from a form must come from our own pages, and other sites may only link here, not embed or fetch.

A body that is too large, too slow or cut off ends here with a sentence. A browser is known by a cookie that other sites
cannot send and scripts cannot read: what it uploaded or began is shown to it alone (``request.state.visitor``).

Which requests are answered by the server itself, and which by a process that can be ended.

A closed form takes thousandths of a second, and a slider waits for it: the server computes it. Anything else that is
read from a query (a training, a search, a list of scores) goes to a process of :class:`~epsilens.web.pool.Pool`:
past the limit, or when the one who asked has gone, it is ended. What works on tables has processes of its own.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import json
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from ..catalogue.mechanisms import MECHANISMS
from .limits import RequestError, ServerLimits, checked_answer, error_kind, log_line, sentence_of
from .pages import extra_views
from .pool import Call, Pool, Source, reading_allowance

Scope: TypeAlias = MutableMapping[str, Any]
Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": _CSP.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    # Not no-referrer: browsers then call the origin of our own forms "null".
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
}
_COOKIE = "epsilens-visitor"
_VISITOR = re.compile(rf"(?:^|;\s*){_COOKIE}=([\w-]{{43}})(?:;|$)")
#: A browser reads why it was refused only once it has sent all: the rest of the body is thrown away for this long.
_DRAIN_SECONDS = 10.0
_FAILED = 500, "Something went wrong here; the log says which kind of error it was."
_SLOW = 408, "The request came too slowly, so it was ended: send it again over a faster connection."
_STOPPING = 503, "The server is being stopped: send the request again once it is back."


class Guard:
    """ASGI middleware with the checks above.

    ``coming`` is where the clocks of bodies that are awaited are kept, so that a server that stops need not wait for
    them. ``failed`` is the answer to a request that met an error of ours.
    """

    def __init__(
        self,
        app: App,
        hosts: frozenset[str],
        open_to_network: bool,
        limits: ServerLimits,
        coming: set[asyncio.Timeout],
        failed: Callable[[Scope, int, str], App],
    ) -> None:
        self.app, self.hosts, self.open, self.limits = app, hosts, open_to_network, limits
        self.coming, self.failed = coming, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # answered as a GET is, and the server leaves out the body
            scope = {**scope, "method": "GET"}
        headers = {k.lower(): v.decode("latin-1") for k, v in scope["headers"]}
        as_json = scope["path"].startswith("/api/") or "application/json" in headers.get(b"accept", "")
        fresh = _visitor_cookie(scope, headers)
        most = None if _may_have_file(scope["path"], headers) else self.limits.body_bytes
        body = _Body(receive, self.limits, most, self.coming)
        reply = _Reply(send, body, _extra_headers(scope["path"], fresh), b"expect" in headers)
        refusal = self._refusal(scope, headers, most)
        if refusal is not None:
            await _send_refusal(reply.send, as_json, *refusal)
            return
        try:
            await self.app(scope, body.receive, reply.send)
        except Exception as error:
            if body.refusal is None and not body.gone:
                log_line(f"a request failed with {error_kind(error)}")
                if not reply.started:
                    await self.failed(scope, *_FAILED)(scope, receive, reply.send)
        if body.refusal is not None and not reply.started:
            said, body.refusal = body.refusal, None
            await _send_refusal(reply.send, as_json, *said)

    def _refusal(self, scope: Scope, headers: dict[bytes, str], most: int | None) -> tuple[int, str] | None:
        host = headers.get(b"host", "")
        try:
            name = "" if "@" in host else (urlsplit(f"//{host}").hostname or "").lower()  # a user is no part of a host
        except ValueError:
            name = ""
        if name not in self.hosts and not (self.open and _is_address(name)):
            return 400, "This server does not answer to that host name: open it by the address it printed."
        mode = headers.get(b"sec-fetch-mode", "navigate")
        if _is_foreign(headers) and not (mode == "navigate" and scope["method"] in ("GET", "HEAD")):
            return 403, "Other sites may link to this page, but not read or use it."
        origin = headers.get(b"origin")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and origin is not None:
            ours = headers.get(b"host", "").lower()
            if origin.lower() not in (f"http://{ours}", f"https://{ours}"):
                return 403, "The form was sent from another site: open this page and send it from here."
        length = headers.get(b"content-length", "0")
        if not length.isdigit() or (most is not None and int(length) > most):
            return 413, _too_large(self.limits.body_bytes)
        return None


class _Body:
    """The body of a request as it comes: counted, and timed."""

    def __init__(self, receive: Receive, limits: ServerLimits, most: int | None, coming: set[asyncio.Timeout]) -> None:
        self._receive, self._limits, self._most, self._coming = receive, limits, most, coming
        self._taken = 0
        self._begun = asyncio.get_running_loop().time()
        self.whole = self.gone = False
        self.refusal: tuple[int, str] | None = None

    async def receive(self) -> Event:
        """The next piece; a disconnect where the body is refused."""
        if self.whole:
            return await self._receive()
        now = asyncio.get_running_loop().time()
        within = self._limits
        slow = self._begun + within.start_seconds + self._taken / within.slowest
        try:
            async with asyncio.timeout_at(
                min(slow, now + within.pause_seconds, self._begun + within.body_seconds)
            ) as clock:
                self._coming.add(clock)
                try:
                    message = await self._receive()
                finally:
                    self._coming.discard(clock)
        except TimeoutError:
            stopped = clock.when() == 0
            self.refusal, self.whole = (_STOPPING if stopped else _SLOW), True  # the rest is not waited for
            return {"type": "http.disconnect"}
        self.gone = message["type"] == "http.disconnect"
        self.whole = self.gone or not message.get("more_body", False)
        self._taken += len(message.get("body", b""))
        if self._most is not None and self._taken > self._most:
            # A body sent in pieces has no stated length: let it end where the limit is.
            self.refusal = 413, _too_large(self._most)
            return {"type": "http.disconnect"}
        return message

    async def drain(self) -> None:
        """Throw away what is still to come, for a while."""
        try:
            async with asyncio.timeout(_DRAIN_SECONDS) as clock:
                self._coming.add(clock)
                try:
                    while not self.whole:
                        message = await self._receive()
                        self.whole = not message.get("more_body", False)
                finally:
                    self._coming.discard(clock)
        except TimeoutError:
            self.whole = True


class _Reply:
    """The answer as it goes: with our headers, and not before a refused body is thrown away."""

    def __init__(self, send: Send, body: _Body, headers: list[tuple[bytes, bytes]], expecting: bool) -> None:
        self._send, self._body, self._headers, self._expecting = send, body, headers, expecting
        self.started = False

    async def send(self, message: Event) -> None:
        """Pass a message on; nothing of an answer to a body that was refused meanwhile."""
        if self._body.refusal is not None and not self.started:
            return
        if message["type"] == "http.response.start":
            self.started = True
            present = {k.lower() for k, _ in message["headers"]}
            message["headers"] = [*message["headers"], *((k, v) for k, v in self._headers if k not in present)]
        elif not message.get("more_body", False) and not (self._body.whole or self._expecting):
            await self._send({**message, "more_body": True})
            await self._body.drain()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)


def _visitor_cookie(scope: Scope, headers: dict[bytes, str]) -> str:
    """Note whose request it is; what is returned is a new name for a browser that had none, to be given to it."""
    known = _VISITOR.search(headers.get(b"cookie", ""))
    visitor = known[1] if known else secrets.token_urlsafe(32)
    scope.setdefault("state", {})["visitor"] = visitor
    # A link on another site comes without the cookie: the browser may have one all the same.
    return "" if known or _is_foreign(headers) or not scope["path"].startswith("/assess") else visitor


def _may_have_file(path: str, headers: dict[bytes, str]) -> bool:
    """Whether a body is counted where files are received, so that its refusal can be a page."""
    forms = path in ("/assess", "/assess/file", "/assess/plan", "/api/assess") or path.startswith("/assess/condition/")
    return forms and headers.get(b"content-type", "").startswith("multipart/form-data")


def _is_foreign(headers: dict[bytes, str]) -> bool:
    return headers.get(b"sec-fetch-site", "none") in ("cross-site", "same-site")


def _extra_headers(path: str, fresh: str) -> list[tuple[bytes, bytes]]:
    made = list(_HEADERS.items())
    if path.startswith(("/assess", "/api/", "/compare/reports")):
        made.append((b"cache-control", b"no-store"))
    elif path.startswith(("/static/", "/assets/")):
        made.append((b"cache-control", b"no-cache"))  # kept, but asked about: a new version is seen at once
    if fresh:
        made.append((b"set-cookie", f"{_COOKIE}={fresh}; Path=/; HttpOnly; SameSite=Strict".encode()))
    return made


def _is_address(name: str) -> bool:
    """A literal address cannot be rebound; a DNS name can."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _too_large(limit: int) -> str:
    size = f"{limit / 1e6:g} MB"
    return f"The request is larger than {size}: use the command line, which reads tables of any size."


async def _send_refusal(send: Send, as_json: bool, status: int, sentence: str) -> None:
    text = json.dumps({"schema": 1, "error": sentence, "field": None}) if as_json else f"{sentence}\n"
    body = text.encode()
    headers = [
        (b"content-type", b"application/json" if as_json else b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


#: What one formula answers, whatever the numbers.
_CLOSED = frozenset({"laplace", "gaussian", "pure", "unary", "hadamard-response", "noisy-max", "permute-and-flip"})
#: Addresses that compute nothing from a query, or have processes of their own.
_NOT_COMPUTED = ("/static", "/assets", "/assess", "/release", "/help", "/openapi.json", "/api/assess", "/api/tables",
           "/papers", "/compare/reports")  # fmt: skip
#: Addresses whose work depends on more than the numbers in a query: what a ledger holds, conditions of a definition.
_ALWAYS_LONG = ("/claim", "/ledger", "/notions")
#: What a reading that takes longer than this is worth to one who has gone: it is not ended at once, since a slider
#: that moves on leaves many short ones behind.
_GRACE = 0.5


def is_quick(path: str, query: str) -> bool:
    """Whether the server may answer a request for a reading itself.

    >>> is_quick("/explain", "mechanism=laplace&epsilon=1"), is_quick("/explain", "mechanism=dpsgd&sigma=1")
    (True, False)
    >>> is_quick("/compare", "a=laplace:epsilon=1&b=gaussian:psi=1"), is_quick("/compare", "a=top-k:k=3")
    (True, False)
    >>> is_quick("/explain.html", "mechanism=laplace"), is_quick("/explain.pdf", "mechanism=laplace")  # it is typeset
    (True, False)
    """
    if path == "/api" or _is_one_of(_NOT_COMPUTED, path):
        return True
    if path.endswith(".pdf") or _is_one_of(_ALWAYS_LONG, path):
        return False
    named = {"laplace"}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key == "mechanism" or key.endswith("_mechanism"):
            named.add(value or "laplace")
        elif len(key) == 1 and ":" in value:
            name, _, rest = value.partition(":")
            named.add(name)
            if "=" in rest and any(not piece.count("=") for piece in rest.split(",")):
                return False  # a list
        elif "," in value:
            return False
        elif len(key) == 1 and value.strip():
            named.add(value)
    return all(_is_closed(name.strip().lower().replace("_", "-")) for name in named)


def _is_one_of(addresses: tuple[str, ...], path: str) -> bool:
    return any(path == one or path.startswith((f"{one}/", f"{one}.")) for one in addresses)


def _is_closed(name: str) -> bool:
    """Whether one formula answers for a mechanism; one registered from outside only the server itself knows."""
    entry = MECHANISMS.get(name.replace("-", "_"))
    return name in _CLOSED or (entry is not None and not entry.builder.startswith("epsilens."))


class Router:
    """ASGI middleware: sends what may take long to a process. ``failed`` is the answer to a request without one.

    ``ledger`` is where the server's ledger lies, for a process to open.
    """

    def __init__(
        self, app: App, pool: Pool, failed: Callable[[Scope, int, str], App], ledger: str | None = None
    ) -> None:
        self.app, self.pool, self.failed, self.ledger = app, pool, failed, ledger
        self._left: set[asyncio.Future[None]] = set()  # what answers nobody any more, until it comes to its end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = scope.get("query_string", b"").decode("latin-1")
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and Source.forks
        if not reads or _is_one_of(_NOT_COMPUTED, scope["path"]):
            await self.app(scope, receive, send)
        elif is_quick(scope["path"], query):
            await self._at_once(scope, receive, send)
        else:
            try:
                answer = await self._computed(scope, query, receive)
            except RequestError as refusal:
                await self._refuse(scope, receive, send, refusal)
                return
            headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in answer["headers"]]
            await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
            await send({"type": "http.response.body", "body": base64.b64decode(answer["body"])})

    async def _computed(self, scope: Scope, query: str, receive: Receive) -> dict[str, Any]:
        """The answer of a process; without one who waits for it, it is ended."""
        call = self.pool.read(
            {
                "task": "page",
                "method": scope["method"],
                "path": scope["path"],
                "query": query,
                "headers": [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]],
                "beside": list(extra_views.get()),
                "ledger": self.ledger,
            }
        )
        leaving = asyncio.create_task(_cancel_on_disconnect(call, receive))
        try:
            answer = checked_answer(await asyncio.wrap_future(call.answer))
        finally:
            leaving.cancel()
        if "failed" in answer:
            raise ReadingError(answer["failed"])
        return answer

    async def _at_once(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the server answer itself; should that take too long all the same, as of a mechanism registered from
        outside, say so. Its thread cannot be ended, but what it comes to is thrown away."""
        begun = over = False

        async def told(message: Event) -> None:
            nonlocal begun
            if not over:
                begun = True
                await send(message)

        answering = asyncio.ensure_future(self.app(scope, receive, told))
        try:
            await asyncio.wait({answering}, timeout=self.pool.limits.reading_seconds)
        except asyncio.CancelledError:
            answering.cancel()
            raise
        if answering.done() or begun:
            await answering
            return
        over = True
        answering.cancel()
        self._left.add(answering)
        answering.add_done_callback(self._let_go)
        late = reading_allowance(self.pool.limits).late
        await self._refuse(scope, receive, send, RequestError(*late))

    def _let_go(self, answering: asyncio.Future[None]) -> None:
        self._left.discard(answering)
        if not answering.cancelled():
            answering.exception()  # nobody is left to hear of it

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, refusal: RequestError) -> None:
        await self.failed(scope, refusal.status, sentence_of(refusal))(scope, receive, send)


class ReadingError(Exception):
    """A process met an error of ours; it says which kind."""


async def _cancel_on_disconnect(call: Call, receive: Receive) -> None:
    """Let go of the request when the one who asked has gone."""
    with suppress(Exception):
        message: Event = {}
        while message.get("type") != "http.disconnect":
            message = await receive()
    if not call.answer.cancel():
        await asyncio.sleep(_GRACE)
        call.end()
