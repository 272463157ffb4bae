"""The requests of the Assess view: a table and a plan in, the report out.

What takes a while is a job (:mod:`.jobs`): a form that was sent leads to the job's page, which says how far it is and
becomes the report, or the form again with what is wrong by its field and everything that was typed.
"""

from __future__ import annotations

import base64
import secrets
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, RedirectResponse, Response
from markupsafe import Markup

from ..data.tables.source import names
from ..errors import EpsilensError, InputError
from ..show.charts.pdf import pdf
from .assess_view import DRAFTS, UPLOAD, View, families, link_of, read, show, table_name, turned
from .assessing import assessed
from .drafts import Draft
from .examples import EXAMPLES
from .jobs import Job, State
from .pages import PICTURES, as_json, attachment, file_of, render
from .planform import check_size, entered, mapping_of, plan_of, to_yaml
from .problems import check_columns, problem_at
from .questions import Problem
from .refused import Refused
from .sent import Sent, sent_form, wants_json
from .spreadsheets import of_assessment
from .uploads import Upload

router = APIRouter(include_in_schema=False)

#: How long a request waits before it shows how far the job is.
_AT_ONCE = 0.3
#: What of a report can be kept.
_KINDS = ("html", "pdf", "board", "board.pdf", "csv", "json", "yaml")
_GONE = "the file is no longer here, because it is kept for half an hour after it was last used: choose it again"


# -- opening the view ---------------------------------------------------------------------------------------------


@router.get("/assess")
async def assess_view(request: Request, yaml: str = "", table: str = "", file: str = "") -> Response:
    """The start; the form for a table or a file; or with YAML the report."""
    if yaml.strip():
        return await _linked(request, yaml)
    if file:
        return await _brought(request, file)
    if table in names():
        release = await run_in_threadpool(read, EXAMPLES.get(table, ""))
        return show(request, View(plan_of(release), table))
    return show(request, View())


async def _brought(request: Request, token: str) -> Response:
    """The form for an upload, filled by what was understood of it, or by what was typed before."""
    upload: Upload | None = request.app.state.uploads.get(token, request.state.visitor)
    if upload is None:
        return show(request, View(problem=problem_at(Refused(_GONE, 410, "file"))))
    if upload.understood is None:
        job = request.app.state.jobs.start("understand", upload, owner=request.state.visitor)
        if not await job.finished(_AT_ONCE) or job.state is not State.DONE:
            return RedirectResponse(f"/assess/job/{job.id}", 303)
        upload.understood = job.result()
    draft = DRAFTS.get(token)
    view = View(upload=upload)
    if draft is not None and draft.plan is not None:
        view.plan, wanted = draft.plan, draft.wanted
        view.note = "" if wanted in ("", UPLOAD, upload.name) else f"The plan was written for {wanted}."
    else:
        view.text = upload.understood["yaml"]
        view.plan = plan_of(await run_in_threadpool(read, view.text), families(view))
    return await run_in_threadpool(show, request, view)


def _understood(request: Request, job: Job) -> Response:
    """On to the form; or what is wrong with the file, by the file, whatever part of it a check names."""
    assert job.upload is not None
    if job.state is State.DONE:
        return RedirectResponse(f"/assess?file={job.upload.token}", 303)
    view = View(upload=job.upload)
    try:
        job.result()
    except EpsilensError as error:
        found = problem_at(error)
        if job.state is State.ENDED:
            view.note = found.sentence
        else:
            view.problem = Problem("file", found.sentence, found.status)
    return show(request, view)


async def _linked(request: Request, text: str) -> Response:
    """A plan in an address: the report on a bundled table; for a file, the form that asks for it."""
    try:
        check_size(text)
        release = await run_in_threadpool(read, text)
        wanted = release.data.table if release is not None else ""
        if release is not None and wanted not in names() and (wanted == UPLOAD or _plain_name(wanted)):
            return await run_in_threadpool(show, request, View(plan_of(release), wanted=wanted, text=text))
        job = request.app.state.jobs.start("assess", owner=request.state.visitor, yaml=text)
        if not await job.finished(_AT_ONCE):
            # Who comes from another site has no cookie yet, and finds the job only by asking for it again.
            foreign = request.headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
            return _progress(job, f"/assess?{request.url.query}" if foreign else f"/assess/job/{job.id}")
        view = _reported(job, Draft(None, text=text))
    except EpsilensError as error:
        view = View(text=text, problem=problem_at(error, by_hand=True))
    return await run_in_threadpool(show, request, view)


def _plain_name(table: str) -> bool:
    """The name of a file, not a path: somebody may have it."""
    return table_name(table) == table and not any(sign in table for sign in "/\\*?[")


# -- jobs ---------------------------------------------------------------------------------------------------------


def _progress(job: Job, then: str) -> Response:
    about = {"understand": "Reading", "assess": "Assessing", "release": "Releasing"}[job.task]
    name = job.upload.name if job.upload is not None else "the plan"
    return render("job.html", view="Assess", heading=f"{about} {name}", job=job, then=then)


def _reported(job: Job, draft: Draft) -> View:
    """The report of a job that is over, or the form with what is wrong."""
    text = str(job.request["yaml"])
    view = View(draft.plan, draft.table, job.upload, text=text if draft.by_hand else "", by_hand=draft.by_hand)
    view.job = job.id
    release = read(text)
    if release is not None and job.upload is None:
        view.table = release.data.table if release.data.table in names() else ""
    if job.state is State.ENDED:
        view.note = "It was ended before it was done. Nothing that you typed is lost."
    elif job.state is State.DONE:
        view.made = job.result()
    else:
        try:
            job.result()
        except EpsilensError as error:
            by_hand = draft.by_hand or (draft.plan is None and release is None)
            view.problem = problem_at(error, by_hand=by_hand, form=True)
            view.text = text if by_hand else ""
    if view.plan is None or view.made is not None:
        view.plan = plan_of(release, families(view)) if release is not None else draft.plan
    if view.made is not None:
        view.text = text
    return view


@router.get("/assess/job/{id}")
async def job_view(request: Request, id: str) -> Response:
    """How far a job is, or what came of it."""
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None:
        gone = Refused("there is no such assessment any more: start it again", 404)
        return show(request, View(problem=problem_at(gone)))
    if not await job.finished(_AT_ONCE):
        return _progress(job, f"/assess/job/{id}")
    if job.task == "understand":
        return _understood(request, job)
    if job.task == "release":
        return RedirectResponse(f"/assess/job/{id}/answers", 303)
    url = link_of(str(job.request["yaml"]), request.app.state.limits.url_yaml)
    if job.state is State.DONE and job.upload is None and url:
        return RedirectResponse(url, 303)
    view = await run_in_threadpool(_reported, job, DRAFTS.get(id) or Draft(None))
    return await run_in_threadpool(show, request, view)


@router.get("/assess/job/{id}/assessment.{kind}")
def job_file(request: Request, id: str, kind: str) -> Response:
    """The report on an upload, its numbers or its plan, to keep."""
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None or job.task != "assess" or job.state is not State.DONE or kind not in _KINDS:
        return render("message.html", 404, view="Assess", heading="No report", sentence="There is no such report.")
    return _file(job.result(), str(job.request["yaml"]), kind)


@router.get("/assess/job/{id}/picture/{place}.{kind}")
def job_picture(request: Request, id: str, place: int, kind: str) -> Response:
    """One chart of a report, as SVG, PNG or PDF."""
    job = request.app.state.jobs.get(id, request.state.visitor)
    known = job is not None and job.task == "assess" and job.state is State.DONE
    made: list[Any] = job.result()["pictures"] if job is not None and known else []
    one = made[place] if 0 <= place < len(made) else {}
    if kind not in PICTURES or not one.get("png" if kind == "png" else "svg"):
        return render("message.html", 404, view="Assess", heading="No picture", sentence="There is no such picture.")
    drawn: str = one["svg"]
    content = base64.b64decode(one["png"]) if kind == "png" else pdf(drawn) if kind == "pdf" else drawn.encode()
    return file_of(content, f"{one['name']}.{kind}", PICTURES[kind])


@router.get("/assess/job/{id}/board")
def job_board(request: Request, id: str) -> Response:
    """The report on an upload as one sheet of paper for those who decide."""
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None or job.task != "assess" or job.state is not State.DONE:
        return render("message.html", 404, view="Assess", heading="No report", sentence="There is no such report.")
    return _sheet(job.result(), f"/assess/job/{id}", f"/assess/job/{id}/assessment.board")


@router.get("/assess/board")
async def board_view(request: Request, yaml: str = "") -> Response:
    """The report on a bundled table as one sheet of paper."""
    try:
        check_size(yaml)
        made = await assessed(request, yaml)
    except EpsilensError as error:
        return _unassessed(error)
    query = request.url.query
    return _sheet(made, f"/assess?{query}", f"/assess.board?{query}")


def _sheet(made: Any, back: str, keep: str) -> Response:
    return render(
        "board.html", view="Assess", stylesheets=["page.css", "assessment.css", "sheet.css"],
        title=made["data"]["title"], board=made["board"], sheet=Markup(made["board"]["sheet"]), back=back, keep=keep,
        keep_pdf=keep.replace(".board", ".board.pdf", 1),
    )  # fmt: skip


def _unassessed(error: EpsilensError) -> Response:
    problem = problem_at(error, by_hand=True)
    return render("message.html", problem.status, view="", heading="This cannot be assessed", sentence=problem.sentence)


def _file(made: Any, text: str, kind: str) -> Response:
    if kind == "yaml":
        return attachment(text, "plan.yaml", "application/yaml")
    if kind == "json":
        return attachment(as_json(made["data"]), "assessment.json", "application/json")
    if kind == "csv":
        return attachment(of_assessment(made["data"]), "assessment.csv", "text/csv; charset=utf-8")
    if kind == "pdf":
        return file_of(base64.b64decode(made["pdf"]), "assessment.pdf", PICTURES["pdf"])
    if kind == "board.pdf":
        return file_of(base64.b64decode(made["board"]["pdf"]), "board.pdf", PICTURES["pdf"])
    if kind == "board":
        return attachment(str(made["board"]["html"]), "board.html", "text/html")
    return attachment(str(made["html"]), "assessment.html", "text/html")


# -- what is sent -------------------------------------------------------------------------------------------------


@router.post("/assess")
async def assess_sent(request: Request) -> Response:
    """The form, or pasted YAML: what is wrong is said at once, the rest is a job."""
    sent = await sent_form(request)
    view = await run_in_threadpool(view_of, sent)
    try:
        if sent.problem is not None:
            raise sent.problem
        text = sent.given.get("yaml", "")
        if text:
            check_size(text)
        else:
            _check_table(view, sent)
            text = await run_in_threadpool(_checked, view)
        job = request.app.state.jobs.start("assess", sent.upload, owner=request.state.visitor, yaml=text)
    except EpsilensError as error:
        view.problem = problem_at(error, by_hand=view.by_hand, form=True)
        return unsent(request, view)
    DRAFTS.keep(job.id, Draft(view.plan, view.table, view.text, view.by_hand))
    return RedirectResponse(f"/assess/job/{job.id}", 303)


def unsent(request: Request, view: View) -> Response:
    """The form with what is wrong, at an address of its own: the way back must not send it again."""
    token = view.upload.token if view.upload is not None else ""
    key = secrets.token_urlsafe(24)
    visitor = request.state.visitor
    draft = Draft(view.plan, view.table, view.text, view.by_hand, view.wanted, token, view.problem, visitor)
    DRAFTS.keep(key, draft)
    return RedirectResponse(f"/assess/entry/{key}", 303)


@router.get("/assess/entry/{key}")
def entry_view(request: Request, key: str) -> Response:
    """A form that was sent with something wrong in it."""
    draft = DRAFTS.get(key)
    if draft is None or draft.visitor != request.state.visitor:
        gone = Refused("what was entered here is no longer kept: start again", 404)
        return show(request, View(problem=problem_at(gone)))
    upload = request.app.state.uploads.get(draft.token, request.state.visitor) if draft.token else None
    view = View(draft.plan, draft.table, upload, draft.wanted, draft.text, draft.by_hand, draft.problem)
    return show(request, view)


def view_of(sent: Sent) -> View:
    """The view as it was when its form was sent."""
    table = sent.given.get("table", "")
    view = View(None, table if table in names() and sent.upload is None else "", sent.upload)
    view.wanted = sent.given.get("wanted", "")
    view.text, view.by_hand = sent.given.get("yaml", ""), bool(sent.given.get("yaml"))
    if not view.by_hand:
        view.plan = entered(sent.given, sent.lists)
    elif view.table or view.upload is not None:  # the form beside the YAML shows what it says, if it says anything
        release = read(view.text)
        view.plan = plan_of(release, families(view)) if release is not None else None
    return view


def _check_table(view: View, sent: Sent) -> None:
    if view.table or view.upload is not None:
        return
    if sent.given.get("file"):
        raise Refused(f"{_GONE}; what you typed is kept", 410, "file")
    name = view.wanted if view.wanted not in ("", UPLOAD) else "a CSV or Parquet file"
    raise InputError(f"the file is missing: choose {name}", parameter="file")


def _checked(view: View) -> str:
    """The YAML of a plan that is right; what is wrong with it is raised."""
    from ..plan.file import read_release

    assert view.plan is not None
    known = families(view)
    made = mapping_of(view.plan, view.name, known)
    read_release(made)
    check_columns(view.plan, known)
    return to_yaml(made)


@router.post("/assess/plan")
async def plan_sent(request: Request) -> Response:
    """The plan of the form as YAML, to keep; to a script as text."""
    sent = await sent_form(request)
    view = await run_in_threadpool(view_of, sent)
    try:
        text = view.text or await run_in_threadpool(_checked, view)
    except EpsilensError as error:
        view.problem = problem_at(error, form=True)
        if wants_json(request):
            return JSONResponse({"error": view.problem.sentence, "field": view.problem.field}, view.problem.status)
        return unsent(request, view)
    if wants_json(request):
        return JSONResponse({"yaml": text, "url": link_of(text, request.app.state.limits.url_yaml)})
    return attachment(text, "plan.yaml", "application/yaml")


@router.post("/assess/condition/{prefix}")
async def condition_sent(request: Request, prefix: str) -> Response:
    """One condition of the form, shown the other way: typed what was picked, or picked what was typed."""
    sent = await sent_form(request)
    view = await run_in_threadpool(view_of, sent)
    return await run_in_threadpool(turned, view, prefix, sent.given.get(f"{prefix}_how") == "type")


@router.get("/assess.html")
@router.get("/assess.pdf")
@router.get("/assess.board")
@router.get("/assess.board.pdf")
@router.get("/assess.csv")
@router.get("/assess.json")
@router.get("/assess.yaml")
async def assess_file(request: Request, yaml: str = "") -> Response:
    """The report on a bundled table, its numbers or its plan, to keep."""
    kind = request.url.path.partition(".")[2]
    try:
        check_size(yaml)
        made = None if kind == "yaml" else await assessed(request, yaml)
    except EpsilensError as error:
        return _unassessed(error)
    return _file(made, yaml, kind)
