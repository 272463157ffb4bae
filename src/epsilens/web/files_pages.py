"""Requests about uploads and jobs: bring a file, forget it, ask how far a job is, end it.

Each answers with a page to go to or, for a script that asks for JSON, with an object; a refusal is ``error`` there.
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from .assess_pages import unsent, view_of
from .assess_view import DRAFTS, View
from .drafts import Draft
from .jobs import Job, State
from .problems import problem_at
from .refused import Refused
from .sent import sent_form, wants_json

router = APIRouter(include_in_schema=False)


@router.post("/assess/file")
async def file_sent(request: Request) -> Response:
    """Keep a file for the visit, and begin to look at it."""
    sent = await sent_form(request, need_file=True)
    keep = "wanted" in sent.given  # a plan was there before its file
    upload, refused = sent.upload, sent.problem
    if upload is not None:
        try:
            request.app.state.jobs.start("understand", upload, owner=request.state.visitor)
        except Refused as error:
            refused = error
    if upload is None or refused is not None:
        problem = problem_at(refused or Refused("the file is missing", 422, "file"))
        if wants_json(request):
            return JSONResponse({"error": problem.sentence, "field": "file"}, problem.status)
        view = view_of(sent) if keep else View()
        view.problem = problem
        return unsent(request, view)
    if keep:
        DRAFTS.keep(upload.token, Draft(view_of(sent).plan, wanted=sent.given["wanted"]))
    url = f"/assess?file={upload.token}"
    if wants_json(request):
        return JSONResponse({"token": upload.token, "name": upload.name, "size": upload.size, "url": url})
    return RedirectResponse(url, 303)


@router.post("/assess/file/{token}/forget")
def file_forgotten(request: Request, token: str) -> Response:
    """Remove a file and what was begun on it."""
    state = request.app.state
    upload = state.uploads.get(token, request.state.visitor)
    if upload is not None:
        state.jobs.forget(upload)
        state.uploads.drop(token, request.state.visitor)
    return JSONResponse({"forgotten": True}) if wants_json(request) else RedirectResponse("/assess", 303)


def state_of(job: Job) -> dict[str, Any]:
    """A job as a script reads it."""
    now = job.over_at if job.over_at is not None else time.monotonic()
    made: dict[str, Any] = {
        "state": job.state.value,
        "done": job.progress.done,
        "total": job.progress.total,
        "what": job.progress.what,
        "seconds": round(now - job.begun, 1),
        "ahead": job.ahead(),
        "url": f"/assess/job/{job.id}",
    }
    if job.state is State.FAILED and job.answer is not None:
        made["error"] = job.answer["error"]
    return made


@router.get("/assess/job/{id}/state")
def job_state(request: Request, id: str) -> Response:
    """How far a job is."""
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None:
        return JSONResponse({"error": "There is no such job any more: start it again."}, 404)
    return JSONResponse(state_of(job))


@router.post("/assess/job/{id}/end")
def job_ended(request: Request, id: str) -> Response:
    """End a job."""
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is not None:
        job.end()
    if wants_json(request):
        return JSONResponse(state_of(job) if job is not None else {"state": State.ENDED.value})
    return RedirectResponse(f"/assess/job/{id}" if job is not None else "/assess", 303)
