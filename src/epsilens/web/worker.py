"""The processes that compute for the server, and the one they are forked from.

``python -m epsilens.web.worker FD`` imports what a view and an assessment need once, and forks a worker for each
connection that the server hands over. A worker answers requests, a line of JSON each, one after the other, and says in
between how far it is; one that has read a table ends with its answer. It has little to spend: memory, time, and a
folder for temporary files that goes with it. A worker goes when the server does, however that ends, but for one that is
in the midst of a release. Where there is no fork, ``python -m epsilens.web.worker`` is one worker itself.
:class:`~epsilens.web.pool.Pool` is the other end.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import queue
import select
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fastapi import FastAPI

from ..data.tables.resources import Folder
from ..errors import EpsilensError, InputError
from ..ledger.ledger import Ledger
from .app import views
from .limits import error_kind
from .middleware import App, Event, Scope
from .pages import curve_charts, extra_views
from .pool import Message, TaskRequest
from .view_state import explain_state

if TYPE_CHECKING:
    from .tasks import Task

_SPARE_SECONDS = 5
#: What an error of the library is about where only another machine, or the command, could be given more of it.
_MACHINE = ("memory", "spill")
_TOO_LARGE: Message = {"error": "the table needs more memory than the page allows: use the command line", "status": 413}


def main() -> None:
    """Fork a worker for every connection that comes, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is meant for the server, which then lets go of us
    if len(sys.argv) == 1:  # pragma: no cover - on Windows
        outgoing = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # whatever a library prints must not end up inside the answer
        serve(sys.stdin.buffer, outgoing, _views())
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the workers
    app = _views()
    complete = False
    while True:
        if not complete and not select.select([control], [], [], 0)[0]:  # while nobody waits
            _import_tasks()
            complete = True
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return
        if os.fork() == 0:
            try:
                control.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                connection = socket.socket(fileno=descriptors[0])
                serve(connection.makefile("rb"), connection.makefile("wb"), app)
            finally:
                os._exit(1)
        os.close(descriptors[0])


def _views() -> FastAPI:
    """The views, with what the first of them would import: the two kinds of law, and the charts."""
    for name in ("laplace", "dpsgd"):
        state = explain_state({"mechanism": name})
        if state.about is not None:
            curve_charts(state.about, name)
    return views()


def _import_tasks() -> None:
    """What every task on a table imports anyway; not DuckDB, which starts a thread that no fork would have."""
    with contextlib.suppress(ImportError):
        import ibis  # noqa: F401

        from . import tasks  # noqa: F401


def serve(incoming: BinaryIO, outgoing: BinaryIO, app: FastAPI) -> None:
    """Answer requests until one has read a table, or the server is gone."""
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    undisturbed = threading.Lock()
    threading.Thread(target=_listen, args=(incoming, requests, undisturbed), daemon=True).start()

    def say(**line: object) -> None:
        with contextlib.suppress(BrokenPipeError):  # nobody listens any more
            outgoing.write(json.dumps(line, allow_nan=False).encode() + b"\n")
            outgoing.flush()

    folders: list[Folder] = []

    def reading() -> None:
        folders.append(Folder())
        tempfile.tempdir = str(folders[0].path)

    loop = asyncio.new_event_loop()
    say(process=os.getpid())
    while True:
        request = json.loads(requests.get())
        _limit(request["memory"], request["seconds"])
        if request["task"] == "page":
            answer = loop.run_until_complete(page_answer(app, request))
        else:
            progress = lambda done, total, what: say(progress=[done, total, what])  # noqa: E731
            from .tasks import Task

            answer = task_answer(Task(request, progress, reading, undisturbed), lambda line: say(log=line))
        for folder in folders:
            folder.close()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        say(answer=answer, clean=not folders)
        if folders:
            os._exit(0)  # engines leave threads behind that would delay the end


def _listen(incoming: BinaryIO, requests: queue.SimpleQueue[bytes], undisturbed: threading.Lock) -> None:
    """Take requests until the server is gone; what is being computed then is of use to nobody but a release."""
    with contextlib.suppress(OSError):
        for line in incoming:
            requests.put(line)
    with undisturbed:
        os._exit(1)


def _limit(memory: int, seconds: float) -> None:
    """What this request may take; a timer ends the process where the server does not."""
    try:
        import resource
    except ImportError:  # pragma: no cover - on Windows the server still stops us by the clock
        return
    # Data, not address space: JavaScript engines reserve far more addresses than they use.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, seconds + _SPARE_SECONDS)


async def page_answer(app: App, request: Message) -> Message:
    """What an application answers to a request without a body: status, headers and body.

    ``failed`` in place of a status is the kind of error that it met.
    """
    extra_views.set(tuple((name, url) for name, url in request["beside"]))
    address = request.get("ledger")
    if isinstance(app, FastAPI) and address not in (None, app.state.ledger and app.state.ledger.store.address):
        app.state.ledger = Ledger(address)  # the server's, opened by this process itself
    path, query = request["path"], request["query"].encode("latin-1")
    headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in request["headers"]]
    here: Scope = {"scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 0), "root_path": ""}
    asked = {"method": request["method"], "path": path, "raw_path": path.encode(), "query_string": query}
    scope = {"type": "http", "http_version": "1.1", **here, **asked, "headers": headers, "state": {}}
    answer: Message = {}
    body: list[bytes] = []

    async def receive() -> Event:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(event: Event) -> None:
        if event["type"] == "http.response.start":
            sent = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in event["headers"]]
            answer.update(status=event["status"], headers=sent)
        else:
            body.append(event.get("body", b""))

    try:
        await app(scope, receive, send)
    except MemoryError:
        return {"error": "this needs more memory than the page allows: use the command line", "status": 413}
    except Exception as error:
        return {"failed": error_kind(error)}
    return answer | {"body": base64.b64encode(b"".join(body)).decode()}


def task_answer(task: Task, log: Callable[[str], None] = lambda line: None) -> Message:
    """The answer to a request; ``task`` says what is to be done. An error is a sentence under ``error``."""
    from .tasks import TASKS

    request = task.request
    try:
        answer = TASKS[request["task"]](task)
        return answer | {"error": _without_path(str(answer["error"]), request)} if "error" in answer else answer
    except EpsilensError as error:
        about = error.parameter if isinstance(error, InputError) else ""
        # What is installed and yet cannot be loaded found no memory for it.
        unloaded = isinstance(error.__cause__, ImportError) and not isinstance(error.__cause__, ModuleNotFoundError)
        if about in _MACHINE or unloaded:
            return _TOO_LARGE
        return {"error": _without_path(str(error), request), "status": 422, "parameter": about}
    except (MemoryError, SystemError):  # a library in C that cannot be loaded where nothing is left
        return _TOO_LARGE
    except Exception as error:
        # Whatever it was, the reader gets a sentence and no path of this machine; the log gets the kind of error only.
        log(f"a {request['task']} failed with {error_kind(error)}")
        if "memory" in str(error).lower():
            return _TOO_LARGE
        why = "check the table and the release, or use the command line"
        return {"error": f"this could not be computed: {why}", "status": 422}


def _without_path(sentence: str, request: TaskRequest) -> str:
    """The sentence with the name of the upload instead of where it lies for a moment, and under which name."""
    path, name = request.get("table"), str(request.get("name") or "upload")
    return sentence.replace(str(path), name).replace(Path(path).name, name) if path else sentence


if __name__ == "__main__":
    main()
