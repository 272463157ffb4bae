"""One piece of work on a table, in a process of its own, which can be stopped and has little to spend.

``python -m epsilens.web.worker`` imports what an assessment needs, reads one request from standard input, writes how
far it is and then its answer to standard output, a JSON object a line, and ends; one that read no table (other shares
of a report, a plan that does not hold) waits for the next. Temporary files are in a folder that goes with the process,
and the process goes when the server does, however that ends. See :class:`~epsilens.web.workers.Workers` for the other
end.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..data.tables.resources import Folder
from ..errors import EpsilensError, InputError
from .limits import error_kind
from .tasks import RELEASE_TASKS, TASKS, Task

#: What an error of the library is about where only another machine, or the command, could be given more of it.
_MACHINE = ("memory", "spill")
_TOO_LARGE = {"error": "the table needs more memory than the page allows: use the command line", "status": 413}


def main() -> None:
    """Wait for a request and answer it, until one has read a table."""
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not end up inside the answer
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    _limit_memory(memory)
    _limit_time(seconds)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is meant for the server, which then lets go of us
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    undisturbed = threading.Lock()
    threading.Thread(target=_listen, args=(requests, undisturbed), daemon=True).start()
    _import()

    def say(line: dict[str, Any]) -> None:
        result.write(json.dumps(line, allow_nan=False) + "\n")
        result.flush()

    folders: list[Folder] = []

    def reading() -> None:
        folders.append(Folder())
        tempfile.tempdir = str(folders[0].path)

    while True:
        request = json.loads(requests.get())
        _limit_time(seconds * (2 if request["task"] == "release" else 1))
        told = partial(_tell, say)
        made = answer(Task(request, told, reading, undisturbed))
        for folder in folders:
            folder.close()
        say({"answer": made, "clean": not folders})
        if folders:
            os._exit(0)  # engines leave threads behind that would delay the end


def _tell(say: Callable[[dict[str, Any]], None], done: int, total: int, what: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody listens any more
        say({"progress": [done, total, what]})


def _listen(requests: queue.SimpleQueue[str], undisturbed: threading.Lock) -> None:
    """Take requests until the server is gone; what is being computed then is of use to nobody but a release."""
    for text in sys.stdin:
        requests.put(text)
    with undisturbed:
        os._exit(1)


def _limit_memory(memory: int) -> None:
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows; the parent still stops us by the clock
        return
    # Data, not address space: JavaScript engines reserve far more addresses than they use.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: int) -> None:
    """What the next request may take, on top of what was used so far."""
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows
        return
    used, hard = resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = int(used.ru_utime + used.ru_stime) + seconds * (os.cpu_count() or 1) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _import() -> None:
    """What every assessment imports anyway, while nobody waits for it."""
    with contextlib.suppress(ImportError):
        import duckdb  # noqa: F401
        import ibis  # noqa: F401

        from ..assessment import assess as assessing  # noqa: F401
        from ..show.assessment import report  # noqa: F401
        from ..show.render import html  # noqa: F401


def answer(work: Task) -> dict[str, Any]:
    """The answer to a request; ``task`` says what is to be done. An error is a sentence under ``error``."""
    request = work.request
    try:
        made = (TASKS | RELEASE_TASKS)[request["task"]](work)
        return made | {"error": _without(str(made["error"]), request)} if "error" in made else made
    except EpsilensError as error:
        about = error.parameter if isinstance(error, InputError) else ""
        if about in _MACHINE:
            return _TOO_LARGE
        return {"error": _without(str(error), request), "status": 422, "parameter": about}
    except MemoryError:
        return _TOO_LARGE
    except Exception as error:
        # Whatever it was, the reader gets a sentence and no path of this machine; the log gets the kind of error only.
        sys.stderr.write(f"a {request['task']} failed with {error_kind(error)}\n")
        sys.stderr.flush()
        if "memory" in str(error).lower():
            return _TOO_LARGE
        why = "check the table and the release, or use the command line"
        return {"error": f"this could not be computed: {why}", "status": 422}


def _without(sentence: str, request: Mapping[str, Any]) -> str:
    """The sentence with the name of the upload instead of where it lies for a moment, and under which name."""
    path, name = request.get("table"), str(request.get("name") or "upload")
    return sentence.replace(str(path), name).replace(Path(path).name, name) if path else sentence


if __name__ == "__main__":
    main()
