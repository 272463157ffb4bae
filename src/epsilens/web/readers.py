"""The processes that compute readings for the server: a few, kept ready, each ended when it takes too long.

A thread of Python cannot be ended, a process can. A reading that takes longer than the server allows, or whose asker
has gone, is ended with its process, and the next one is forked from a process that has everything loaded
(:mod:`~epsilens.web.reader`). Few run at a time; the others wait in line, and who would wait too long is told so. The
time a reading may take begins when a process takes it: neither the line nor the start of a process is counted to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .limits import RequestError, ServerLimits, log_line

_LOOK = 0.05  # seconds between two looks at whether anybody still waits
_START_SECONDS = 60.0
_AT_ONCE = 0.3
_STOPPED = "the server is being stopped: try again once it is back"
#: What a process has answered before it is let go of, with whatever it gathered.
_MOST_ANSWERS = 500


@dataclass(frozen=True)
class _Reader:
    """One process, by the connection to it."""

    connection: Connection
    process: int

    def end(self) -> None:
        """End it at once; a connection that is at its end has no process any more."""
        with contextlib.suppress(OSError):
            if not self.connection.poll() or _still_there(self.connection):
                os.kill(self.process, signal.SIGKILL)
        self.connection.close()


def _still_there(connection: Connection) -> bool:
    try:
        connection.recv_bytes()
    except (EOFError, OSError):
        return False
    return True


@dataclass
class Asked:
    """A request that waits for its answer, or has it, until some time; ``gone`` says that nobody waits any more."""

    request: dict[str, Any]
    until: float
    gone: bool = False
    begun: bool = False
    answer: Future[tuple[dict[str, Any], bytes]] = field(default_factory=Future)

    @property
    def over(self) -> bool:
        """Whether it is too late for an answer, or nobody wants it."""
        return self.gone or time.monotonic() >= self.until


class Readers:
    """All processes that compute readings for a server."""

    #: Processes are made by forking; without it a reading is computed by the server itself.
    possible = hasattr(os, "fork") and hasattr(socket, "send_fds")

    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._idle: list[tuple[_Reader, int]] = []
        self._source: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._waiting = 0
        self.open()

    def open(self) -> None:
        """Take requests, again where it was closed; no process is started before one is needed."""
        self._threads = ThreadPoolExecutor(self.limits.readers, thread_name_prefix="reading")
        self._closed = False

    def ask(self, request: dict[str, Any]) -> Asked:
        """Put a request in line."""
        seconds = self.limits.reading_seconds
        with self._lock:
            if self._closed:
                raise RequestError(_STOPPED, 503)
            if self._waiting >= self.limits.readings:
                raise RequestError(f"{self._waiting} others wait already: try again in a moment", 503)
            self._waiting += 1
        asked = Asked(request, time.monotonic() + seconds)
        asked.answer = self._threads.submit(self._answer, asked)
        asked.answer.add_done_callback(self._done)
        return asked

    def warm(self) -> None:
        """Have one process ready."""
        with contextlib.suppress(RequestError):
            self._give_back(self._made(), 0)

    def close(self) -> None:
        """End all processes; who waits is refused."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            source, control = self._source, self._control
            self._source, self._control = None, None
        for reader, _ in idle:
            reader.end()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if control is not None:
            control.close()
        if source is not None:
            source.kill()
            source.wait()

    def _done(self, _: Any) -> None:
        with self._lock:
            self._waiting -= 1

    def _answer(self, asked: Asked, again: bool = False) -> tuple[dict[str, Any], bytes]:
        """Ask a process, in a thread; raises why there is no answer."""
        if asked.over:
            raise RequestError("the server is busy: try again in a moment", 503)
        asked.begun = True
        reader, answers = self._taken()
        sent = time.monotonic()
        asked.until = sent + self.limits.reading_seconds
        try:
            reader.connection.send_bytes(json.dumps(asked.request).encode())
            while not reader.connection.poll(_LOOK):
                if asked.over or self._closed:
                    reader.end()
                    raise self.late()
            head, body = json.loads(reader.connection.recv_bytes()), reader.connection.recv_bytes()
        except (EOFError, OSError):
            reader.end()
            if asked.over:
                raise self.late() from None
            log_line("a reader was ended")
            if not again and time.monotonic() - sent < _AT_ONCE:
                return self._answer(asked, again=True)  # it was at its end already
            raise RequestError(
                "this needs more time or memory than the page allows: use the command line", 413
            ) from None
        self._give_back(reader, answers + 1)
        return head, body

    def late(self) -> RequestError:
        """That a reading takes too long."""
        seconds = self.limits.reading_seconds
        return RequestError(
            f"this takes longer than {seconds:g} seconds: use the command line, which has no limit", 504
        )

    def _taken(self) -> tuple[_Reader, int]:
        while True:
            with self._lock:
                if not self._idle:
                    break
                reader, answers = self._idle.pop()
            if not reader.connection.poll():  # what has something to say now has come to its end
                return reader, answers
            reader.end()
        return self._made(), 0

    def _give_back(self, reader: _Reader, answers: int) -> None:
        with self._lock:
            kept = not self._closed and answers < _MOST_ANSWERS and len(self._idle) < self.limits.readers
            if kept:
                self._idle.append((reader, answers))
        if not kept:
            reader.end()

    def _made(self) -> _Reader:
        """A new process."""
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._forking(), [b"+"], [theirs.fileno()])
            theirs.close()
            connection = Connection(ours.detach())
            if not connection.poll(_START_SECONDS):
                raise EOFError
            return _Reader(connection, int(connection.recv_bytes()))
        except (OSError, EOFError):
            if not self._closed:
                log_line("no reader could be started")
            raise RequestError("the server is busy: try again in a moment", 503) from None
        finally:
            ours.close()
            theirs.close()

    def _forking(self) -> socket.socket:
        """The connection to the process that forks, started where there is none."""
        with self._lock:
            if self._closed:
                raise RequestError(_STOPPED, 503)
            if self._source is not None and self._source.poll() is None and self._control is not None:
                return self._control
            if self._control is not None:
                self._control.close()
            self._control, theirs = socket.socketpair()
            paths = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
            given = theirs.fileno(), self.limits.reading_seconds, self.limits.reading_memory
            self._source = subprocess.Popen(
                [sys.executable, "-m", "epsilens.web.reader", *map(str, given)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"},
            )
            theirs.close()
            return self._control
