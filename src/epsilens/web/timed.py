"""Which requests are answered by the server itself, and which by a process that can be ended.

A closed form takes thousandths of a second, and a slider waits for it: the server computes it. Anything else that is
read from a query (a training, a search, a list of scores) goes to a process of :class:`~epsilens.web.readers.Readers`:
past the limit, or when the one who asked has gone, it is ended. What works on tables has processes of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qsl

from ..catalogue.mechanisms import MECHANISMS
from .guard import App, Message, Receive, Scope, Send
from .pages import beside
from .readers import Asked, Readers
from .refused import Refused

#: What one formula answers, whatever the numbers.
_CLOSED = frozenset({"laplace", "gaussian", "pure", "unary", "hadamard-response", "noisy-max", "permute-and-flip"})
#: Addresses that compute nothing from a query, or have processes of their own.
_OTHERS = ("/static", "/assets", "/assess", "/release", "/help", "/openapi.json", "/api/assess", "/api/tables",
           "/papers", "/compare/reports")  # fmt: skip
#: Addresses whose work depends on more than the numbers in a query: what a ledger holds, conditions of a definition.
_LONGER = ("/claim", "/ledger", "/notions")
#: What a reading that takes longer than this is worth to one who has gone: it is not ended at once, since a slider
#: that moves on leaves many short ones behind.
_GRACE = 0.5


def is_quick(path: str, query: str) -> bool:
    """Whether the server may answer a request for a reading itself.

    >>> is_quick("/explain", "mechanism=laplace&epsilon=1"), is_quick("/explain", "mechanism=dpsgd&sigma=1")
    (True, False)
    >>> is_quick("/compare", "a=laplace:epsilon=1&b=gaussian:psi=1"), is_quick("/compare", "a=top-k:k=3")
    (True, False)
    """
    if path == "/api" or _is_one_of(_OTHERS, path):
        return True
    if _is_one_of(_LONGER, path):
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


class Timed:
    """ASGI middleware: sends what may take long to a process. ``failed`` is the answer to a request without one.

    ``ledger`` is where the server's ledger lies, for a process to open.
    """

    def __init__(
        self, app: App, readers: Readers, failed: Callable[[Scope, int, str], App], ledger: str | None = None
    ) -> None:
        self.app, self.readers, self.failed, self.ledger = app, readers, failed, ledger
        self._left: set[asyncio.Future[None]] = set()  # what answers nobody any more, until it comes to its end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say why not."""
        query = scope.get("query_string", b"").decode("latin-1")
        asks = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and Readers.possible
        if not asks or _is_one_of(_OTHERS, scope["path"]):
            await self.app(scope, receive, send)
            return
        if is_quick(scope["path"], query):
            await self._at_once(scope, receive, send)
            return
        request = {
            "method": scope["method"],
            "path": scope["path"],
            "query": query,
            "headers": [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]],
            "beside": list(beside.get()),
            "ledger": self.ledger,
        }
        try:
            asked = self.readers.ask(request)
            leaving = asyncio.create_task(_leave(asked, receive))
            try:
                head, body = await asyncio.wrap_future(asked.answer)
            finally:
                leaving.cancel()
        except (Refused, asyncio.CancelledError) as refusal:
            if not isinstance(refusal, Refused):
                raise
            await self._refuse(scope, receive, send, refusal)
            return
        if "large" in head:
            sentence = "this needs more memory than the page allows: use the command line"
            await self._refuse(scope, receive, send, Refused(sentence, 413))
            return
        if "failed" in head:
            raise ReadingError(head["failed"])
        headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in head["headers"]]
        await send({"type": "http.response.start", "status": head["status"], "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _at_once(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the server answer itself; should that take too long all the same, as of a mechanism registered from
        outside, say so. Its thread cannot be ended, but what it comes to is thrown away."""
        begun = late = False

        async def told(message: Message) -> None:
            nonlocal begun
            if not late:
                begun = True
                await send(message)

        answering = asyncio.ensure_future(self.app(scope, receive, told))
        try:
            await asyncio.wait({answering}, timeout=self.readers.limits.reading_seconds)
        except asyncio.CancelledError:
            answering.cancel()
            raise
        if answering.done() or begun:
            await answering
            return
        late = True
        answering.cancel()
        self._left.add(answering)
        answering.add_done_callback(self._let_go)
        await self._refuse(scope, receive, send, self.readers.late())

    def _let_go(self, answering: asyncio.Future[None]) -> None:
        self._left.discard(answering)
        if not answering.cancelled():
            answering.exception()  # nobody is left to hear of it

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, refusal: Refused) -> None:
        words = str(refusal)
        await self.failed(scope, refusal.status, f"{words[:1].upper()}{words[1:]}.")(scope, receive, send)


class ReadingError(Exception):
    """A process met an error of ours; it says which kind."""


async def _leave(asked: Asked, receive: Receive) -> None:
    """Let go of the request when the one who asked has gone."""
    with suppress(Exception):
        message: Message = {}
        while message.get("type") != "http.disconnect":
            message = await receive()
    if not asked.answer.cancel():
        await asyncio.sleep(_GRACE)
        asked.gone = True
