"""The process that computes readings for the server, and makes more of itself.

``python -m epsilens.web.reader FD SECONDS MEMORY`` imports what a view needs once and then waits. For each connection
that the server hands over, it forks: the copy has everything loaded and answers requests on that connection, one after
the other, until the connection ends. So a copy that was ended in the middle of a reading is replaced within a hundredth
of a second. A copy has a memory of its own, and ends itself where a request takes far too long, even if the server is
gone. :class:`~epsilens.web.readers.Readers` is the other end.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from multiprocessing.connection import Connection
from typing import Any

from .limits import error_kind
from .pages import extra_views

_SPARE_SECONDS = 5


def main() -> None:
    """Fork a copy for every connection that comes, until the server is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    seconds, memory = float(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is meant for the server, which then lets go of us
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    _limit(memory)
    app = _application()
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        if os.fork() == 0:
            control.close()
            try:
                _serve(app, Connection(descriptors[0]), seconds)
            finally:
                os._exit(0)
        os.close(descriptors[0])


def _application() -> Any:
    """The views, with what the first of them would import: the two kinds of law, and the charts."""
    from .app import views
    from .pages import curve_charts
    from .view_state import explain_state

    for name in ("laplace", "dpsgd"):
        asked = explain_state({"mechanism": name})
        if asked.about is not None:
            curve_charts(asked.about, name)
    return views()


def _serve(app: Any, server: Connection, seconds: float) -> None:
    server.send_bytes(str(os.getpid()).encode())
    loop = asyncio.new_event_loop()
    while True:
        try:
            request = json.loads(server.recv_bytes())
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, seconds + _SPARE_SECONDS)  # which ends the process
        head, body = loop.run_until_complete(answered(app, request))
        signal.setitimer(signal.ITIMER_REAL, 0)
        server.send_bytes(json.dumps(head).encode())
        server.send_bytes(body)


async def answered(app: Any, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """What an application answers to a request without a body: status and headers, and the body.

    ``failed`` in place of a status is the kind of error that it met.
    """
    extra_views.set(tuple((name, url) for name, url in request["beside"]))
    _open_ledger(app, request.get("ledger"))
    path, query = request["path"], request["query"].encode("latin-1")
    headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in request["headers"]]
    scope = {
        "type": "http", "http_version": "1.1", "method": request["method"], "scheme": "http", "path": path,
        "raw_path": path.encode(), "query_string": query, "headers": headers, "root_path": "", "state": {},
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 0),
    }  # fmt: skip
    head: dict[str, Any] = {}
    body: list[bytes] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            sent = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in message["headers"]]
            head.update(status=message["status"], headers=sent)
        else:
            body.append(message.get("body", b""))

    try:
        await app(scope, receive, send)
    except MemoryError:
        return {"large": True}, b""
    except Exception as error:
        return {"failed": error_kind(error)}, b""
    return head, b"".join(body)


def _open_ledger(app: Any, address: str | None) -> None:
    """Let the views read the server's ledger, opened by this process itself."""
    held = getattr(getattr(app, "state", None), "ledger", None)
    if address is not None and (held is None or held.store.address != address):
        from ..ledger.ledger import Ledger

        app.state.ledger = Ledger(address)


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
