"""Work that takes a while: each job in a process of its own, with how far it is, which can be ended at any moment.

A visitor has one job of a kind: a new one ends the old one, and the same one again is the one that runs already. A
release that has begun is never ended: what it takes from the ledger would be spent for nothing. Few
run at a time, the next in line follows, and each kind of task has places of its own, so that looking at a table does
not wait for somebody's assessment. A job that nobody asks about any more is ended; what came of one is kept for a
while, for its visitor alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fastapi import Request

from .form import check_size
from .limits import RequestError, ServerLimits, checked_answer
from .pool import Call, Pool, table_allowance
from .uploads import Upload


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
