"""The sliders of a report: the requests that share ε differently, for the page and for the API."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ..errors import EpsilensError, InputError
from .assess_pages import assessed, fine, problem_at, texts
from .pages import render
from .planform import check_size
from .shares import panel_of, shares_of

__all__ = ["Shares", "router", "shared"]

router = APIRouter(include_in_schema=False)


class Shares(BaseModel):
    """A release and how its queries share ε."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    release: str | dict[str, Any] = Field(description="a release, as YAML text or as an object; its table is bundled")
    shares: Annotated[list[float], Field(min_length=1, max_length=32)] = Field(
        description="a number for each query: ε is shared in this proportion"
    )


def shared(app: Any, sent: Shares, folder: Path) -> dict[str, Any]:
    """The numbers of other shares; the assessment they rest on is kept, as that of a bundled table always is."""
    text = sent.release if isinstance(sent.release, str) else json.dumps(sent.release)
    made = assessed(app, text, folder)
    if not made["basis"]:
        raise InputError("the release has one query, which has all of ε: give two or more", parameter="queries")
    found = fine(app.state.workers.run("shares", folder, yaml=text, basis=made["basis"], shares=sent.shares))
    data: dict[str, Any] = found["data"]
    return data


@router.post("/assess/shares")
async def shares_sent(request: Request) -> Response:
    """Risks and errors with other shares, from what the report carried; nothing else is kept about its table."""
    form = await request.form(max_files=0, max_fields=100, max_part_size=1_000_000)
    given = texts(form)
    text, url = given.get("yaml", "").replace("\r\n", "\n"), given.get("back", "")
    entered = [v for v in form.getlist("shares") if isinstance(v, str)]
    problem = None
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:

        def ask(**more: Any) -> dict[str, Any]:
            run = request.app.state.workers.run
            return fine(run("shares", Path(folder), yaml=text, basis=given.get("basis", ""), **more))

        try:
            check_size(text)
            try:
                wanted = {"to": given["to"]} if "to" in given else {"shares": shares_of(entered)}
            except InputError as error:  # the entry is kept, and what was assessed stands
                problem, wanted = problem_at(error), {}
            made = await run_in_threadpool(ask, **wanted)
        except EpsilensError as error:
            sentence, status = problem_at(error).sentence, problem_at(error).status
            return render("message.html", status, view="Assess", heading="No other shares", sentence=sentence)
    if problem is not None and len(entered) == len(made["shares"]):
        made["shares"] = entered
    panel = panel_of(made, text, url if url.startswith("/assess?") else "")
    return render(
        "shares.html", problem.status if problem else 200, view="Assess", stylesheets=["page.css", "assessment.css"],
        panel=panel, problem=problem,
    )  # fmt: skip
