"""From a request to a worker's answer: begin a job, wait for it, and end it when nobody waits any more."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from .jobs import Job
from .planform import check_size
from .refused import Refused
from .uploads import Upload

#: How often it is looked whether the one who asked is still there.
_LOOK = 0.5


async def awaited(request: Request, job: Job) -> dict[str, Any]:
    """The answer of a job for one who waits for it; refusals are raised."""
    while not await job.finished(_LOOK):
        if await request.is_disconnected():
            if job.owner is None:  # a visitor may come back to theirs
                job.end()
            raise Refused("the connection was closed before the answer", 400)
    return job.result()


async def assessed(request: Request, text: str, upload: Upload | None = None) -> dict[str, Any]:
    """A release on a bundled table or an upload, assessed for one who waits."""
    check_size(text)
    return await awaited(request, request.app.state.jobs.start("assess", upload, yaml=text))
