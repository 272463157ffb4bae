"""The sliders of a report: the requests that share ε differently, for the page and for the API."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ..errors import EpsilensError, InputError
from .assessing import assessed, awaited
from .pages import render
from .planform import check_size
from .problems import problem_at
from .sent import texts
from .shares import panel_of, shares_of

router = APIRouter(include_in_schema=False)


class Shares(BaseModel):
    """A release and how its queries share ε."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    release: str | dict[str, Any] = Field(description="a release, as YAML text or as an object; its table is bundled")
    shares: Annotated[list[float], Field(min_length=1, max_length=32)] = Field(
        description="a number for each query: ε is shared in this proportion"
    )


async def shared(request: Request, sent: Shares) -> dict[str, Any]:
    """The numbers of other shares; the assessment they rest on is kept, as that of a bundled table always is."""
    text = sent.release if isinstance(sent.release, str) else json.dumps(sent.release)
    made = await assessed(request, text)
    if not made["basis"]:
        raise InputError("the release has one query, which has all of ε: give two or more", parameter="queries")
    job = request.app.state.jobs.start("shares", yaml=text, basis=made["basis"], shares=sent.shares)
    data: dict[str, Any] = (await awaited(request, job))["data"]
    return data


@router.post("/assess/shares")
async def shares_sent(request: Request) -> Response:
    """Risks and errors with other shares, from what the report carried; nothing else is kept about its table."""
    form = await request.form(max_files=0, max_fields=100, max_part_size=1_000_000)
    given = texts(form.multi_items())
    text, url = given.get("yaml", "").replace("\r\n", "\n"), given.get("back", "")
    entered = [v for v in form.getlist("shares") if isinstance(v, str)]
    problem = None
    try:
        check_size(text)
        wanted: dict[str, Any] = {}
        try:
            wanted = {"to": given["to"]} if "to" in given else {"shares": shares_of(entered)}
        except InputError as error:  # the entry is kept, and what was assessed stands
            problem = problem_at(error)
        start = request.app.state.jobs.start
        job = start("shares", owner=request.state.visitor, yaml=text, basis=given.get("basis", ""), **wanted)
        made = dict(await awaited(request, job))
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
