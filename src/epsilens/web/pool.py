"""The processes that compute for the server: one pool, each process ended when a request takes too much.

A thread of Python cannot be ended, a process can. Whatever takes long or reads a table runs in a process of its own
(:mod:`~epsilens.web.worker`), which is ended when it takes longer than it may, or when nobody waits any more; the next
one is forked within a hundredth of a second from a process that has everything loaded. The time a request may take
begins when a process takes it: neither the line nor the start of a process is counted to it.

Both sides write JSON, a line each: what a process says that has read a stranger's file is data here and nothing else,
which rules out the pools that unpickle answers (``concurrent.futures``, ``pebble``, ``anyio.to_process``).

Work that takes a while is a job: in a process of its own, with how far it is, which can be ended at any moment. A
visitor has one job of a kind: a new one ends the old one, and the same one again is the one that runs already. A
release that has begun is never ended: what it takes from the ledger would be spent for nothing. Few run at a time, the
next in line follows, and each kind of task has places of its own, so that looking at a table does not wait for
somebody's assessment. A job that nobody asks about any more is ended; what came of one is kept for a while, for its
visitor alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypedDict

from fastapi import Request

from .form import check_size
from .limits import LOG_LINE, RequestError, ServerLimits, checked_answer, log_line
from .uploads import Upload

#: What goes to a process and comes back: plain JSON.
Message: TypeAlias = dict[str, Any]


class TaskRequest(TypedDict, total=False):
    """What a task is asked to do, beside its memory and seconds."""

    task: str
    paper: str
    yaml: str  # the plan
    table: str  # the path of an upload
    name: str  # what its owner calls it
    digest: str
    unpacked: int  # the most bytes a packed table may become
    basis: str  # of other shares of ε, and which: numbers, or the name of a division
    shares: list[float]
    to: str
    ledger: str
    account: str
    part: str
    assessed: str  # the digest of the plan that was assessed
    other_people: bool
    offer: str  # the token of what was confirmed


_START_SECONDS = 60.0
_AT_ONCE = 0.3
_BUSY = "the server is busy: try again in a moment"
_STOPPED = "the server is being stopped: try again once it is back"
#: What a process has answered before it is let go of, with whatever it gathered.
_MOST_ANSWERS = 500


@dataclass(frozen=True)
class Allowance:
    """What one request may take, and the sentence and status where it takes more."""

    seconds: float
    memory: int
    late: tuple[str, int]
    ended: tuple[str, int]


def reading_allowance(limits: ServerLimits) -> Allowance:
    seconds = limits.reading_seconds
    late = f"this takes longer than {seconds:g} seconds: use the command line, which has no limit", 504
    ended = "this needs more time or memory than the page allows: use the command line", 413
    return Allowance(seconds, limits.reading_memory, late, ended)


def table_allowance(limits: ServerLimits, task: str) -> Allowance:
    """What a task on a table may take; what is released is assessed once more first."""
    seconds = limits.assess_seconds * (2 if task == "release" else 1)
    late = f"this took longer than {seconds:g} seconds: try again, or use the command line", 503
    ended = "the table needs more time or memory than the page allows: use the command line", 413
    return Allowance(seconds, limits.assess_memory, late, ended)


class Source:
    """The process that workers are forked from, started where there is none and again where it was ended.

    Where there is no fork, each worker is a process started anew.
    """

    forks = hasattr(os, "fork") and hasattr(socket, "send_fds")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def connect(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            if self._control is None or self._process is None or self._process.poll() is not None:
                self._stop()
                self._control, given = socket.socketpair()
                with given:
                    self._process = start_process(
                        str(given.fileno()), stdin=subprocess.DEVNULL, pass_fds=[given.fileno()]
                    )
            try:
                socket.send_fds(self._control, [b"+"], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return ours

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None


def start_process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """``python -m epsilens.web.worker``, whose output goes nowhere: what a library prints may hold cells of a table."""
    paths = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "epsilens.web.worker", *arguments],
        **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options},
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"},
    )


#: All pools of a process fork from one; it ends with that process.
_SOURCE = Source()


class Worker:
    """One process, asked one request after the other, all with the same limit on memory."""

    def __init__(self, source: Source, memory: int) -> None:
        self.memory = memory
        self.answers = self.size = 0  # how many there were, and the bytes of the last
        self._socket: socket.socket | None = None
        self._started: subprocess.Popen[bytes] | None = None
        if source.forks:
            self._socket = source.connect()
            self._socket.settimeout(_START_SECONDS)
            self._to: BinaryIO = self._socket.makefile("wb")
            self._from: BinaryIO = self._socket.makefile("rb")
        else:  # pragma: no cover - on Windows
            self._started = start_process(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert self._started.stdin is not None
            assert self._started.stdout is not None
            self._to, self._from = self._started.stdin, self._started.stdout  # type: ignore[assignment]
        try:
            self.process = int(json.loads(self._from.readline())["process"])
        except (OSError, ValueError):
            self.process = 0
            self.close()
            raise OSError("no worker could be started") from None
        if self._socket is not None:
            self._socket.settimeout(None)

    @property
    def alive(self) -> bool:
        """Whether it is there: a connection that is at its end has no process any more."""
        if self._socket is None:  # pragma: no cover - on Windows
            return self._started is not None and self._started.poll() is None
        try:
            return self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def ask(self, request: Message, limit: int, progress: Callable[[int, int, str], None]) -> tuple[Message, bool]:
        """The answer, and whether nothing of the request is left in the process; ``OSError`` where it was ended."""
        self._to.write(json.dumps(request).encode() + b"\n")
        self._to.flush()
        while line := self._from.readline(limit):
            try:
                message: Message = json.loads(line)
            except ValueError:
                break  # more than is allowed, or half of it
            if "answer" in message:
                self.answers, self.size = self.answers + 1, len(line)
                return message["answer"], bool(message["clean"])
            if "log" in message and LOG_LINE.fullmatch(str(message["log"])):
                log_line(message["log"])
            if "progress" in message:
                progress(*message["progress"])
        raise OSError("ended")

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if self.process and self.alive:
                os.kill(self.process, getattr(signal, "SIGKILL", signal.SIGTERM))

    def close(self) -> None:
        self.kill()
        for held in (self._to, self._from, self._socket):
            if held is not None:
                with contextlib.suppress(OSError):
                    held.close()


def _no_progress(done: int, total: int, what: str) -> None:
    pass


@dataclass(eq=False)
class Call:
    """A request to a process; nobody may end one that is ``lasting``."""

    request: Message
    allowance: Allowance
    progress: Callable[[int, int, str], None] = _no_progress
    lasting: bool = False
    until: float = float("inf")  # when it is too late to begin
    begun: bool = False
    ended: bool = False
    late: bool = False
    size: int = 0  # of the answer, in bytes
    worker: Worker | None = None
    answer: Future[Message] = field(default_factory=Future)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def end(self) -> None:
        """Nobody waits any more: end its process, or do not begin."""
        if not self.lasting:
            self.ended = True
            self._kill()

    def expire(self) -> None:
        self.late = True
        self._kill()

    def hold(self, worker: Worker | None) -> None:
        """The process that computes it from now on; once it is let go of, it may be another's."""
        with self._lock:
            self.worker = worker

    def _kill(self) -> None:
        with self._lock:
            if self.worker is not None:
                self.worker.kill()

    def refusal(self) -> RequestError:
        return RequestError(*(self.allowance.late if self.late or self.ended else self.allowance.ended))


class Pool:
    """All processes that compute for a server; readings wait in a line for a few places."""

    def __init__(self, limits: ServerLimits, source: Source = _SOURCE) -> None:
        self.limits, self.source = limits, source
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._calls: set[Call] = set()
        self._waiting = 0
        self.open()

    def open(self) -> None:
        """Take requests, again where it was closed; no process is started before one is needed."""
        self._threads = ThreadPoolExecutor(self.limits.readers, thread_name_prefix="reading")
        self._closed = False

    def warm(self) -> None:
        with contextlib.suppress(RequestError):
            self._give_back(self._take(self.limits.reading_memory))

    def close(self) -> None:
        """End all processes but one that releases; who waits is refused."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            calls = list(self._calls)
        for worker in idle:
            worker.close()
        for call in calls:
            call.end()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def read(self, request: Message) -> Call:
        with self._lock:
            if self._closed:
                raise RequestError(_STOPPED, 503)
            if self._waiting >= self.limits.readings:
                raise RequestError(f"{self._waiting} others wait already: try again in a moment", 503)
            self._waiting += 1
        call = Call(request, reading_allowance(self.limits), until=time.monotonic() + self.limits.reading_seconds)
        call.answer = self._threads.submit(self.run, call)
        call.answer.add_done_callback(self._leave_line)
        return call

    def _leave_line(self, _: object) -> None:
        with self._lock:
            self._waiting -= 1

    def run(self, call: Call, again: bool = False) -> Message:
        """The answer of a process, in the calling thread; a :class:`RequestError` says why there is none."""
        if call.ended or time.monotonic() >= call.until:
            raise RequestError(_BUSY, 503)
        call.begun = True
        worker = self._take(call.allowance.memory)
        clean, began = False, time.monotonic()
        with self._lock:
            self._calls.add(call)
        call.hold(worker)
        clock = threading.Timer(call.allowance.seconds, call.expire)
        clock.start()
        try:
            if call.ended:
                raise call.refusal()
            request = {**call.request, "memory": call.allowance.memory, "seconds": call.allowance.seconds}
            answer, clean = worker.ask(request, self.limits.answer_bytes, call.progress)
            call.size = worker.size
            return answer
        except OSError:
            if call.late or call.ended:
                raise call.refusal() from None
            log_line("a worker was ended")
            if again or time.monotonic() - began >= _AT_ONCE:
                raise call.refusal() from None
        finally:
            clock.cancel()
            call.hold(None)
            with self._lock:
                self._calls.discard(call)
            self._give_back(worker, clean)
        return self.run(call, again=True)  # it was at its end already

    def _take(self, memory: int) -> Worker:
        """A process that waits, or a new one."""
        while True:
            with self._lock:
                if self._closed:
                    raise RequestError(_STOPPED, 503)
                worker = next((w for w in reversed(self._idle) if w.memory == memory), None)
                if worker is None:
                    break
                self._idle.remove(worker)
            if worker.alive:
                return worker
            worker.close()
        try:
            return Worker(self.source, memory)
        except OSError:
            log_line("no worker could be started")
            raise RequestError(_BUSY, 503) from None

    def _give_back(self, worker: Worker, clean: bool = True) -> None:
        """Let a clean process wait for the next request, and end any other."""
        with self._lock:
            kept = clean and not self._closed and worker.answers < _MOST_ANSWERS
            kept = kept and len(self._idle) < self.limits.readers
            if kept:
                self._idle.append(worker)
        if not kept:
            worker.close()


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    ENDED = "ended"
    FAILED = "failed"

    @property
    def over(self) -> bool:
        return self in (JobState.DONE, JobState.ENDED, JobState.FAILED)


@dataclass(frozen=True)
class JobProgress:
    """How far a job is: ``done`` of ``total`` steps, and what it does now."""

    done: int = 0
    total: int = 0
    what: str = ""


#: What is as good as a new job.
_REUSABLE = (JobState.WAITING, JobState.RUNNING, JobState.DONE)
_ENDED_ANSWER: dict[str, Any] = {"error": "this was ended before it was done: start it again", "status": 409}


class Job:
    """One piece of work. ``answer`` is the worker's once it is done; a refusal stands under ``error``."""

    def __init__(
        self, jobs: Jobs, task: str, upload: Upload | None, owner: str | None, request: dict[str, Any]
    ) -> None:
        self.id = secrets.token_urlsafe(24)
        self.task, self.upload, self.owner, self.request = task, upload, owner, request
        self.state = JobState.WAITING
        self.progress = JobProgress()
        self.answer: dict[str, Any] | None = None
        self.asked = self.begun = time.monotonic()
        self.over_at: float | None = None
        self.size = 0  # of the answer, in bytes
        self._jobs = jobs
        self.call: Call | None = None
        self._over: Future[None] = Future()
        self._over.set_running_or_notify_cancel()  # nobody who waits for it can cancel it for the others

    @property
    def lasting(self) -> bool:
        return self.task == "release" and self.state is JobState.RUNNING

    def end(self) -> None:
        self._jobs.end(self)

    def ahead(self) -> int:
        return self._jobs.ahead(self)

    async def finished(self, timeout: float | None = None) -> bool:
        """Wait until it is over, at most ``timeout`` seconds; whether it is. Being waited for is being asked about."""
        until = None if timeout is None else time.monotonic() + timeout
        waiting = asyncio.wrap_future(self._over)
        while not waiting.done():
            self.asked = time.monotonic()
            left = 5.0 if until is None else min(5.0, until - self.asked)
            if left <= 0:
                break
            await asyncio.wait({waiting}, timeout=left)
        return self.state.over

    def wait(self) -> None:
        while not self.state.over:
            self.asked = time.monotonic()
            with contextlib.suppress(TimeoutError):
                self._over.result(5)

    def result(self) -> dict[str, Any]:
        """The answer of a job that is over; a refusal is raised."""
        return checked_answer(self.answer if self.answer is not None else _ENDED_ANSWER)


class Jobs:
    def __init__(self, limits: ServerLimits, pool: Pool) -> None:
        self.limits, self.pool = limits, pool
        self._places = {"assess": limits.assessments, "understand": limits.looking, "release": 1}
        self._places |= {"shares": limits.quick, "offer": limits.quick}
        self._lock = threading.RLock()
        self._all: dict[str, Job] = {}  # in the order they came
        self._known: dict[str, dict[str, Any]] = {}  # answers about bundled tables, which are nobody's secret
        self._closed = False

    def start(self, task: str, upload: Upload | None = None, owner: str | None = None, **request: object) -> Job:
        """Begin a task, or put it in line; the visitor's other job of this kind is ended.

        ``owner`` is the visitor (``request.state.visitor``); a job without one belongs to whoever holds it.
        """
        job = Job(self, task, upload, owner, request)
        with self._lock:
            mine = [j for j in self._all.values() if owner is not None and (j.owner, j.task) == (owner, task)]
            for old in mine:
                if (old.upload, old.request) == (upload, request) and old.state in _REUSABLE:
                    old.asked = time.monotonic()
                    return old
                self.end(old)
            line = [j for j in self._all.values() if j.state is JobState.WAITING and j.task == task]
            # Those whom we do not know are many, or one who asks often: visitors keep half of the line.
            if self._closed or len(line) >= self.limits.waiting // (1 if owner else 2):
                raise RequestError(f"{len(line)} others wait already: try again in a moment", 503)
            self._all[job.id] = job
            known = self._known.get(_key(job))
            if known is not None:
                job.size = 0  # it is counted there
                self._finish(job, JobState.DONE, known)
            self._forget_old()
            self._next(task)
        return job

    def get(self, id: str, owner: str | None) -> Job | None:
        """The job, for the visitor who began it; asking keeps it alive."""
        with self._lock:
            job = self._all.get(id)
            if job is None or job.owner is None or job.owner != owner:
                return None
            job.asked = time.monotonic()
            return job

    def done(self, task: str, owner: str) -> list[Job]:
        """The visitor's jobs of a kind that went well, the latest first."""
        with self._lock:
            mine = [j for j in self._all.values() if (j.owner, j.task, j.state) == (owner, task, JobState.DONE)]
        return mine[::-1]

    def ahead(self, job: Job) -> int:
        with self._lock:
            line = [j for j in self._all.values() if j.task == job.task and j.state is JobState.WAITING]
            return line.index(job) if job in line else 0

    def end(self, job: Job) -> None:
        """End a job, whether it waits or runs; not a release that runs."""
        with self._lock:
            if not job.lasting:
                self._finish(job, JobState.ENDED, None)

    def expire(self) -> None:
        """End the jobs that nobody asks about; a file that is worked on is in use."""
        now = time.monotonic()
        with self._lock:
            for job in [j for j in self._all.values() if not j.state.over]:
                if job.asked < now - self.limits.abandoned_seconds:
                    self.end(job)
                elif job.upload is not None:
                    job.upload.used = now
            self._forget_old()

    def forget(self, upload: Upload) -> None:
        """End and forget what was begun on a file that is forgotten."""
        with self._lock:
            for job in [j for j in self._all.values() if j.upload is upload and not j.lasting]:
                self.end(job)
                del self._all[job.id]

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for job in list(self._all.values()):
                self.end(job)

    def _next(self, task: str) -> None:
        """Let those who wait for a task begin while there is room."""
        jobs = [j for j in self._all.values() if j.task == task]
        free = self._places[task] - sum(j.state is JobState.RUNNING for j in jobs)
        for job in [j for j in jobs if j.state is JobState.WAITING][: max(free, 0)]:
            job.state, job.begun = JobState.RUNNING, time.monotonic()
            threading.Thread(target=self._run, args=(job,), daemon=True).start()

    def _run(self, job: Job) -> None:
        request = {"task": job.task, "unpacked": self.limits.unpacked_bytes, **job.request}
        if job.upload is not None:
            request |= {"table": str(job.upload.path), "name": job.upload.name, "digest": job.upload.digest}

        def progress(done: int, total: int, what: str) -> None:
            job.progress = JobProgress(done, total, what)

        call = Call(request, table_allowance(self.limits, job.task), progress, lasting=job.task == "release")
        with self._lock:
            job.call = call
            call.ended = job.state.over
        try:
            answer = self.pool.run(call)
        except RequestError as error:
            answer = {"error": str(error), "status": error.status}
        job.size = call.size
        self._finish(job, JobState.FAILED if "error" in answer else JobState.DONE, answer)

    def _finish(self, job: Job, state: JobState, made: dict[str, Any] | None) -> None:
        with self._lock:
            if job.state.over:
                return
            job.state, job.answer, job.over_at = state, made, time.monotonic()
            if state is JobState.DONE and job.task == "understand" and job.upload is not None:
                job.upload.understood = made
            if made is not None and state is JobState.DONE and (key := _key(job)):
                self._known[key] = made
                while len(self._known) > self.limits.known:
                    self._known.pop(next(iter(self._known)))
            if job.call is not None and state is JobState.ENDED:
                job.call.end()
            self._next(job.task)
        job._over.set_result(None)

    def _forget_old(self) -> None:
        """Keep the latest answers, as many and as much as is allowed."""
        over = [j for j in self._all.values() if j.state.over]
        since = time.monotonic() - self.limits.visit_seconds
        held = 0
        for n, job in enumerate(reversed(over)):
            held += job.size
            full = n >= self.limits.answers or held > self.limits.answer_bytes
            if full or job.asked < since or job.owner is None:  # who holds it has it
                del self._all[job.id]


def _key(job: Job) -> str:
    """What an assessment of a bundled table is known by: it can only be the same again. Empty for other jobs."""
    return str(job.request["yaml"]) if job.task == "assess" and job.upload is None else ""


#: How often it is looked whether the one who asked is still there.
_POLL_SECONDS = 0.5


async def job_answer(request: Request, job: Job) -> dict[str, Any]:
    """The answer of a job for one who waits for it; refusals are raised."""
    while not await job.finished(_POLL_SECONDS):
        if await request.is_disconnected():
            if job.owner is None:  # a visitor may come back to theirs
                job.end()
            raise RequestError("the connection was closed before the answer", 400)
    return job.result()


async def assess_answer(request: Request, text: str, upload: Upload | None = None) -> dict[str, Any]:
    """A release on a bundled table or an upload, assessed for one who waits."""
    check_size(text)
    return await job_answer(request, request.app.state.jobs.start("assess", upload, yaml=text))
