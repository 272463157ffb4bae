"""What the Assess view shows: the table, what was understood of it, the plan in fields and as YAML, and the report.

The requests of the Assess view: a table and a plan in, the report out.

What takes a while is a job (:mod:`.pool`): a form that was sent leads to the job's page, which says how far it is and
becomes the report, or the form again with what is wrong by its field and everything that was typed.
"""

from __future__ import annotations

import base64
import json
import math
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, RedirectResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field

from ..catalogue.readings import READINGS
from ..data.tables.columns import DateOrder
from ..data.tables.sources import File, bundled_dataset, names, source_of
from ..errors import EpsilensError, InputError
from ..plan.file import read_release
from .form import (
    DEFAULT_TABLE,
    EXAMPLES,
    KINDS,
    LIMITS,
    READ_AS,
    ConditionField,
    Draft,
    FormData,
    PlanForm,
    check_columns,
    check_size,
    column_families,
    condition_field,
    plan_from_entries,
    plan_from_release,
    plan_problem,
    read_form,
    reasons,
    release_mapping,
    texts,
    to_yaml,
    wants_json,
)
from .limits import RequestError
from .pages import (
    PICTURES,
    STYLES,
    LRUCache,
    as_json,
    assessment_csv,
    attachment,
    file_of,
    message_page,
    render,
    sent_pdf,
)
from .picker import COMPARISONS, ColumnFamily, entry_of, family_of
from .pool import Job, JobState, assess_answer, job_answer
from .release import release_refusal
from .uploads import EXTENSIONS, Upload
from .view_state import FieldProblem

if TYPE_CHECKING:
    from ..plan.model import Release


#: What stands for the uploaded file in a release that does not name it.
UPLOAD = "upload"
#: The latest drafts, by the token or the job they belong to.
DRAFTS: LRUCache[Draft] = LRUCache(64)
_ORDERS = {
    DateOrder.DAY_FIRST: "day, month, year",
    DateOrder.MONTH_FIRST: "month, day, year",
    DateOrder.YEAR_FIRST: "year, month, day",
}


@dataclass(frozen=True)
class KnownColumn:
    name: str
    words: str = ""
    family: ColumnFamily = ColumnFamily.UNKNOWN
    values: tuple[str, ...] = ()


@dataclass
class AssessView:
    """A state of the view. Without a plan it is the start: bring a table, or take a bundled one."""

    plan: PlanForm | None = None
    table: str = ""  # a bundled one; the upload otherwise
    upload: Upload | None = None
    wanted: str = ""  # the file a plan was written for, where it is not here
    text: str = ""  # the YAML beside the form, where it is not simply what the form says
    by_hand: bool = False
    problem: FieldProblem | None = None
    made: Mapping[str, Any] | None = None
    job: str = ""  # where the report of an upload is kept
    note: str = ""

    @property
    def name(self) -> str:
        return self.table or (table_name(self.upload.name) if self.upload else self.wanted or UPLOAD)


def table_name(name: str) -> str:
    """A file's name as the table of a release, where it cannot be taken for anything else."""
    return name if isinstance(source_of(name), File) and name.lower().endswith(EXTENSIONS) else UPLOAD


def read_plan(text: str) -> Release | None:
    try:
        check_size(text)
        return read_release(text + "\n") if text.strip() else None
    except EpsilensError:
        return None


@lru_cache(16)
def _bundled_columns(table: str) -> tuple[KnownColumn, ...]:
    return tuple(KnownColumn(name, words.partition(" [")[0]) for name, words in bundled_dataset(table).columns.items())


def _columns(view: AssessView) -> list[KnownColumn]:
    if view.table:
        return list(_bundled_columns(view.table))
    understood = view.upload.understood if view.upload else None
    if understood is None:
        return [KnownColumn(name) for name in (view.plan.names if view.plan else ())]
    return [_known_column(c) for c in understood["columns"]]


def _known_column(column: Mapping[str, Any]) -> KnownColumn:
    family = family_of(column["kind"])
    values = tuple(entry_of(v, family) for v in column.get("values", ()))
    return KnownColumn(column["name"], column["role"], family, values)


def view_families(view: AssessView) -> dict[str, ColumnFamily]:
    return {c.name: c.family for c in _columns(view)}


def _yaml(view: AssessView) -> str:
    """The YAML beside the form: what was written, or what the form says now."""
    if view.text or view.plan is None:
        return view.text
    try:
        return to_yaml(release_mapping(view.plan, view.name, view_families(view)))
    except EpsilensError:
        return ""


def link_of(text: str, most: int) -> str:
    """The address of a plan, if it is no longer than addresses may be."""
    url = f"/assess?{urlencode({'yaml': text})}" if text else ""
    return url if len(url) <= most else ""


def assess_page(request: Request, view: AssessView) -> Response:
    limits, made, upload = request.app.state.limits, view.made, view.upload
    text = _yaml(view)
    url = link_of(text, limits.url_yaml) if made else ""
    understood = upload.understood if upload else None
    plan = view.plan
    proposed = plan_from_release(read_plan(understood["yaml"]), view_families(view)) if understood and plan else None
    columns = _columns(view)
    return render(
        "assess.html",
        view.problem.status if view.problem else 200,
        view="Assess",
        stylesheets=STYLES,
        state=view,
        plan=plan,
        proposed=proposed,
        why=reasons(understood["yaml"]) if understood else {},
        understood=understood,
        problem=view.problem,
        columns=columns,
        listed={c.name: i for i, c in enumerate(columns) if c.values},
        report=Markup(made["fragment"]) if made else "",
        rest=Markup(made["rest"]) if made else "",
        panel=panel_values(made["panel"], text, url if view.table else "") if made and made["panel"] else None,
        report_title=(plan.values["title"] if plan else "") if made else "",
        tables=[(n, bundled_dataset(n).title) for n in names()],
        table_names=", ".join(names()),
        endings=",".join(EXTENSIONS),
        most_bytes=limits.upload_bytes,
        kinds=KINDS,
        comparisons=COMPARISONS,
        read_as=READ_AS,
        orders=_ORDERS,
        limit_readings=[(n, r.label) for n, r in READINGS.items() if not (r.required or r.either) and n not in LIMITS],
        yaml=text,
        rows=max(12, min(text.count("\n") + 2, 30)),
        example_url=f"/assess?{urlencode({'yaml': EXAMPLES[DEFAULT_TABLE]})}",
        url=url,
        downloads=_downloads(view, url) if made else [],
        board_url=f"/assess/board?{url.partition('?')[2]}" if view.table and url else f"/assess/job/{view.job}/board",
        withheld=release_refusal(request) if made else "",
    )


def _downloads(view: AssessView, url: str) -> list[tuple[str, str, str]]:
    query = url.partition("?")[2]
    kinds = ("html", "pdf", "csv", "json", "yaml")
    if view.table and url:
        at = [f"/assess.{kind}?{query}" for kind in kinds]
    else:
        at = [f"/assess/job/{view.job}/assessment.{kind}" for kind in kinds]
    words = ("Download page", "PDF", "CSV", "JSON", "Plan")
    files = ("assessment.html", "assessment.pdf", "assessment.csv", "assessment.json", "plan.yaml")
    return list(zip(words, at, files, strict=True))


def condition_page(view: AssessView, prefix: str, typed: bool) -> Response:
    """One condition of a form, typed or picked: the same one, as long as rows can say it."""
    plan = view.plan or PlanForm()
    found = re.fullmatch(r"q(\d{1,2})_where", prefix)
    wheres = {f"q{i}_where": where for i, where in enumerate(plan.wheres)}
    picked = plan.secret if prefix == "secret" else wheres.get(prefix, ConditionField())
    known = column_families(plan, view_families(view))
    problem, note = None, ""
    if typed:
        try:
            picked = ConditionField(
                picked.rows, picked.any, True, ConditionField(picked.rows, picked.any).said(known, prefix)
            )
        except EpsilensError as error:
            picked, problem = (
                ConditionField(picked.rows, picked.any),
                FieldProblem(prefix, plan_problem(error, form=True).sentence),
            )
    else:
        picked = condition_field(picked.text, known)
        note = "This says more than rows can, so it stays typed." if picked.typed else ""
    if prefix != "secret" and found is None:
        return message_page(404, "Assess", "No condition", "There is no such field.")
    columns = _columns(view)
    listed = {c.name: i for i, c in enumerate(columns) if c.values}
    part = partial(render, "assess/condition.html", columns=columns, listed=listed, comparisons=COMPARISONS)
    return part(prefix=prefix, picked=picked, problem=problem, note=note)


router = APIRouter(include_in_schema=False)

#: How long a request waits before it shows how far the job is.
_WAIT_SECONDS = 0.3
#: What of a report can be kept.
_KINDS = ("html", "pdf", "board", "board.pdf", "csv", "json", "yaml")
_FILE_GONE = "the file is no longer here, because it is kept for half an hour after it was last used: choose it again"


@router.get("/assess")
async def assess_view(request: Request, yaml: str = "", table: str = "", file: str = "") -> Response:
    """The start; the form for a table or a file; or with YAML the report."""
    if yaml.strip():
        return await _linked_plan(request, yaml)
    if file:
        return await _upload_form(request, file)
    if table in names():
        release = await run_in_threadpool(read_plan, EXAMPLES.get(table, ""))
        return assess_page(request, AssessView(plan_from_release(release), table))
    return assess_page(request, AssessView())


async def _upload_form(request: Request, token: str) -> Response:
    """The form for an upload, filled by what was understood of it, or by what was typed before."""
    upload: Upload | None = request.app.state.uploads.get(token, request.state.visitor)
    if upload is None:
        return assess_page(request, AssessView(problem=plan_problem(RequestError(_FILE_GONE, 410, "file"))))
    if upload.understood is None:
        job = request.app.state.jobs.start("understand", upload, owner=request.state.visitor)
        if not await job.finished(_WAIT_SECONDS) or job.state is not JobState.DONE:
            return RedirectResponse(f"/assess/job/{job.id}", 303)
        upload.understood = job.result()
    draft = DRAFTS.get(token)
    view = AssessView(upload=upload)
    if draft is not None and draft.plan is not None:
        view.plan, wanted = draft.plan, draft.wanted
        view.note = "" if wanted in ("", UPLOAD, upload.name) else f"The plan was written for {wanted}."
    else:
        view.text = upload.understood["yaml"]
        view.plan = plan_from_release(await run_in_threadpool(read_plan, view.text), view_families(view))
    return await run_in_threadpool(assess_page, request, view)


def _schema_result(request: Request, job: Job) -> Response:
    assert job.upload is not None
    if job.state is JobState.DONE:
        return RedirectResponse(f"/assess?file={job.upload.token}", 303)
    view = AssessView(upload=job.upload)
    try:
        job.result()
    except EpsilensError as error:
        found = plan_problem(error)
        if job.state is JobState.ENDED:
            view.note = found.sentence
        else:
            view.problem = FieldProblem("file", found.sentence, found.status)
    return assess_page(request, view)


async def _linked_plan(request: Request, text: str) -> Response:
    """A plan in an address: the report on a bundled table; for a file, the form that asks for it."""
    try:
        check_size(text)
        release = await run_in_threadpool(read_plan, text)
        wanted = release.data.table if release is not None else ""
        if release is not None and wanted not in names() and (wanted == UPLOAD or _plain_name(wanted)):
            return await run_in_threadpool(
                assess_page, request, AssessView(plan_from_release(release), wanted=wanted, text=text)
            )
        job = request.app.state.jobs.start("assess", owner=request.state.visitor, yaml=text)
        if not await job.finished(_WAIT_SECONDS):
            # Who comes from another site has no cookie yet, and finds the job only by asking for it again.
            foreign = request.headers.get("sec-fetch-site", "none") in ("cross-site", "same-site")
            return _progress(job, f"/assess?{request.url.query}" if foreign else f"/assess/job/{job.id}")
        view = _report_view(job, Draft(None, text=text))
    except EpsilensError as error:
        view = AssessView(text=text, problem=plan_problem(error, by_hand=True))
    return await run_in_threadpool(assess_page, request, view)


def _plain_name(table: str) -> bool:
    """The name of a file, not a path: somebody may have it."""
    return table_name(table) == table and not any(sign in table for sign in "/\\*?[")


def _progress(job: Job, then: str) -> Response:
    about = {"understand": "Reading", "assess": "Assessing", "release": "Releasing"}[job.task]
    name = job.upload.name if job.upload is not None else "the plan"
    return render("job.html", view="Assess", heading=f"{about} {name}", job=job, then=then)


def _report_view(job: Job, draft: Draft) -> AssessView:
    text = str(job.request["yaml"])
    view = AssessView(draft.plan, draft.table, job.upload, text=text if draft.by_hand else "", by_hand=draft.by_hand)
    view.job = job.id
    release = read_plan(text)
    if release is not None and job.upload is None:
        view.table = release.data.table if release.data.table in names() else ""
    if job.state is JobState.ENDED:
        view.note = "It was ended before it was done. Nothing that you typed is lost."
    elif job.state is JobState.DONE:
        view.made = job.result()
    else:
        try:
            job.result()
        except EpsilensError as error:
            by_hand = draft.by_hand or (draft.plan is None and release is None)
            view.problem = plan_problem(error, by_hand=by_hand, form=True)
            view.text = text if by_hand else ""
    if view.plan is None or view.made is not None:
        view.plan = plan_from_release(release, view_families(view)) if release is not None else draft.plan
    if view.made is not None:
        view.text = text
    return view


@router.get("/assess/job/{id}")
async def job_view(request: Request, id: str) -> Response:
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None:
        gone = RequestError("there is no such assessment any more: start it again", 404)
        return assess_page(request, AssessView(problem=plan_problem(gone)))
    if not await job.finished(_WAIT_SECONDS):
        return _progress(job, f"/assess/job/{id}")
    if job.task == "understand":
        return _schema_result(request, job)
    if job.task == "release":
        return RedirectResponse(f"/assess/job/{id}/answers", 303)
    url = link_of(str(job.request["yaml"]), request.app.state.limits.url_yaml)
    if job.state is JobState.DONE and job.upload is None and url:
        return RedirectResponse(url, 303)
    view = await run_in_threadpool(_report_view, job, DRAFTS.get(id) or Draft(None))
    return await run_in_threadpool(assess_page, request, view)


@router.get("/assess/job/{id}/assessment.{kind}")
def job_file(request: Request, id: str, kind: str) -> Response:
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None or job.task != "assess" or job.state is not JobState.DONE or kind not in _KINDS:
        return message_page(404, "Assess", "No report", "There is no such report.")
    return _file(job.result(), str(job.request["yaml"]), kind)


@router.get("/assess/job/{id}/picture/{place}.{kind}")
def job_picture(request: Request, id: str, place: int, kind: str) -> Response:
    job = request.app.state.jobs.get(id, request.state.visitor)
    known = job is not None and job.task == "assess" and job.state is JobState.DONE
    made: list[Any] = job.result()["pictures"] if job is not None and known else []
    one = made[place] if 0 <= place < len(made) else {}
    if kind not in PICTURES or not one.get("png" if kind == "png" else "svg"):
        return message_page(404, "Assess", "No picture", "There is no such picture.")
    name = f"{one['name']}.{kind}"
    if kind == "pdf":
        return sent_pdf(one["pdf"], name)
    return file_of(base64.b64decode(one["png"]) if kind == "png" else one["svg"].encode(), name, PICTURES[kind])


@router.get("/assess/job/{id}/board")
def job_board(request: Request, id: str) -> Response:
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None or job.task != "assess" or job.state is not JobState.DONE:
        return message_page(404, "Assess", "No report", "There is no such report.")
    return _sheet(job.result(), f"/assess/job/{id}", f"/assess/job/{id}/assessment.board")


@router.get("/assess/board")
async def board_view(request: Request, yaml: str = "") -> Response:
    try:
        check_size(yaml)
        made = await assess_answer(request, yaml)
    except EpsilensError as error:
        return _error_page(error)
    query = request.url.query
    return _sheet(made, f"/assess?{query}", f"/assess.board?{query}")


def _sheet(made: Any, back: str, keep: str) -> Response:
    title, board, styles = made["data"]["title"], made["board"], (*STYLES, "sheet.css")
    page = partial(render, "board.html", view="Assess", stylesheets=styles, title=title, board=board)
    pdf_of = keep.replace(".board", ".board.pdf", 1)
    return page(sheet=Markup(board["sheet"]), back=back, keep=keep, keep_pdf=pdf_of)


def _error_page(error: EpsilensError) -> Response:
    problem = plan_problem(error, by_hand=True)
    return message_page(problem.status, "", "This cannot be assessed", problem.sentence)


def _file(made: Any, text: str, kind: str) -> Response:
    if kind == "yaml":
        return attachment(text, "plan.yaml", "application/yaml")
    if kind == "json":
        return attachment(as_json(made["data"]), "assessment.json", "application/json")
    if kind == "csv":
        return attachment(assessment_csv(made["data"]), "assessment.csv", "text/csv; charset=utf-8")
    if kind in ("pdf", "board.pdf"):
        one, name = (made, "assessment.pdf") if kind == "pdf" else (made["board"], kind)
        return sent_pdf(one["pdf"], name)
    if kind == "board":
        return attachment(str(made["board"]["html"]), "board.html", "text/html")
    return attachment(str(made["html"]), "assessment.html", "text/html")


@router.post("/assess")
async def post_assess(request: Request) -> Response:
    """The form, or pasted YAML: what is wrong is said at once, the rest is a job."""
    sent = await read_form(request)
    view = await run_in_threadpool(view_from_form, sent)
    try:
        if sent.problem is not None:
            raise sent.problem
        text = sent.given.get("yaml", "")
        if text:
            check_size(text)
        else:
            _check_table(view, sent)
            text = await run_in_threadpool(_valid_yaml, view)
        job = request.app.state.jobs.start("assess", sent.upload, owner=request.state.visitor, yaml=text)
    except EpsilensError as error:
        view.problem = plan_problem(error, by_hand=view.by_hand, form=True)
        return redirect_to_draft(request, view)
    DRAFTS.keep(job.id, Draft(view.plan, view.table, view.text, view.by_hand))
    return RedirectResponse(f"/assess/job/{job.id}", 303)


def redirect_to_draft(request: Request, view: AssessView) -> Response:
    """The form with what is wrong, at an address of its own: the way back must not send it again."""
    token = view.upload.token if view.upload is not None else ""
    key = secrets.token_urlsafe(24)
    visitor = request.state.visitor
    draft = Draft(view.plan, view.table, view.text, view.by_hand, view.wanted, token, view.problem, visitor)
    DRAFTS.keep(key, draft)
    return RedirectResponse(f"/assess/entry/{key}", 303)


@router.get("/assess/entry/{key}")
def entry_view(request: Request, key: str) -> Response:
    draft = DRAFTS.get(key)
    if draft is None or draft.visitor != request.state.visitor:
        gone = RequestError("what was entered here is no longer kept: start again", 404)
        return assess_page(request, AssessView(problem=plan_problem(gone)))
    upload = request.app.state.uploads.get(draft.token, request.state.visitor) if draft.token else None
    view = AssessView(draft.plan, draft.table, upload, draft.wanted, draft.text, draft.by_hand, draft.problem)
    return assess_page(request, view)


def view_from_form(sent: FormData) -> AssessView:
    table = sent.given.get("table", "")
    view = AssessView(None, table if table in names() and sent.upload is None else "", sent.upload)
    view.wanted = sent.given.get("wanted", "")
    view.text, view.by_hand = sent.given.get("yaml", ""), bool(sent.given.get("yaml"))
    if not view.by_hand:
        view.plan = plan_from_entries(sent.given, sent.lists)
    elif view.table or view.upload is not None:  # the form beside the YAML shows what it says, if it says anything
        release = read_plan(view.text)
        view.plan = plan_from_release(release, view_families(view)) if release is not None else None
    return view


def _check_table(view: AssessView, sent: FormData) -> None:
    if view.table or view.upload is not None:
        return
    if sent.given.get("file"):
        raise RequestError(f"{_FILE_GONE}; what you typed is kept", 410, "file")
    name = view.wanted if view.wanted not in ("", UPLOAD) else "a CSV or Parquet file"
    raise InputError(f"the file is missing: choose {name}", "file")


def _valid_yaml(view: AssessView) -> str:
    """The YAML of a plan that is right; what is wrong with it is raised."""
    assert view.plan is not None
    known = view_families(view)
    made = release_mapping(view.plan, view.name, known)
    read_release(made)
    check_columns(view.plan, known)
    return to_yaml(made)


@router.post("/assess/plan")
async def post_plan(request: Request) -> Response:
    """The plan of the form as YAML, to keep; to a script as text."""
    sent = await read_form(request)
    view = await run_in_threadpool(view_from_form, sent)
    try:
        text = view.text or await run_in_threadpool(_valid_yaml, view)
    except EpsilensError as error:
        view.problem = plan_problem(error, form=True)
        if wants_json(request):
            return JSONResponse({"error": view.problem.sentence, "field": view.problem.field}, view.problem.status)
        return redirect_to_draft(request, view)
    if wants_json(request):
        return JSONResponse({"yaml": text, "url": link_of(text, request.app.state.limits.url_yaml)})
    return attachment(text, "plan.yaml", "application/yaml")


@router.post("/assess/condition/{prefix}")
async def post_condition(request: Request, prefix: str) -> Response:
    """One condition of the form, shown the other way: typed what was picked, or picked what was typed."""
    sent = await read_form(request)
    view = await run_in_threadpool(view_from_form, sent)
    return await run_in_threadpool(condition_page, view, prefix, sent.given.get(f"{prefix}_how") == "type")


@router.get("/assess.html")
@router.get("/assess.pdf")
@router.get("/assess.board")
@router.get("/assess.board.pdf")
@router.get("/assess.csv")
@router.get("/assess.json")
@router.get("/assess.yaml")
async def assess_file(request: Request, yaml: str = "") -> Response:
    kind = request.url.path.partition(".")[2]
    try:
        check_size(yaml)
        made = None if kind == "yaml" else await assess_answer(request, yaml)
    except EpsilensError as error:
        return _error_page(error)
    return _file(made, yaml, kind)


@router.post("/assess/file")
async def post_file(request: Request) -> Response:
    sent = await read_form(request, need_file=True)
    keep = "wanted" in sent.given  # a plan was there before its file
    upload, refused = sent.upload, sent.problem
    if upload is not None:
        try:
            request.app.state.jobs.start("understand", upload, owner=request.state.visitor)
        except RequestError as error:
            refused = error
    if upload is None or refused is not None:
        problem = plan_problem(refused or RequestError("the file is missing", 422, "file"))
        if wants_json(request):
            return JSONResponse({"error": problem.sentence, "field": "file"}, problem.status)
        view = view_from_form(sent) if keep else AssessView()
        view.problem = problem
        return redirect_to_draft(request, view)
    if keep:
        DRAFTS.keep(upload.token, Draft(view_from_form(sent).plan, wanted=sent.given["wanted"]))
    url = f"/assess?file={upload.token}"
    if wants_json(request):
        return JSONResponse({"token": upload.token, "name": upload.name, "size": upload.size, "url": url})
    return RedirectResponse(url, 303)


@router.post("/assess/file/{token}/forget")
def forget_file(request: Request, token: str) -> Response:
    state = request.app.state
    upload = state.uploads.get(token, request.state.visitor)
    if upload is not None:
        state.jobs.forget(upload)
        state.uploads.drop(token, request.state.visitor)
    return JSONResponse({"forgotten": True}) if wants_json(request) else RedirectResponse("/assess", 303)


def job_data(job: Job) -> dict[str, Any]:
    now = job.over_at if job.over_at is not None else time.monotonic()
    made: dict[str, object] = {
        "state": job.state.value,
        "done": job.progress.done,
        "total": job.progress.total,
        "what": job.progress.what,
        "seconds": round(now - job.begun, 1),
        "ahead": job.ahead(),
        "url": f"/assess/job/{job.id}",
    }
    if job.state is JobState.FAILED and job.answer is not None:
        made["error"] = job.answer["error"]
    return made


@router.get("/assess/job/{id}/state")
def job_state(request: Request, id: str) -> Response:
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is None:
        return JSONResponse({"error": "There is no such job any more: start it again."}, 404)
    return JSONResponse(job_data(job))


@router.post("/assess/job/{id}/end")
def end_job(request: Request, id: str) -> Response:
    job = request.app.state.jobs.get(id, request.state.visitor)
    if job is not None:
        job.end()
    if wants_json(request):
        return JSONResponse(job_data(job) if job is not None else {"state": JobState.ENDED.value})
    return RedirectResponse(f"/assess/job/{id}" if job is not None else "/assess", 303)


def shares_of(texts: Sequence[str]) -> list[float]:
    """The shares as they were typed, out of 100 or of anything.

    >>> shares_of(["50", "25 %", "25"])
    [50.0, 25.0, 25.0]
    """
    made = []
    for i, text in enumerate(texts):
        try:
            share = float(text.strip().removesuffix("%").replace(",", "."))
        except ValueError:
            share = math.nan
        if not (0 < share < 1e9):
            raise InputError(
                f"the share of query {i + 1} is {text.strip()[:20]!r}: give a number above 0, 25 for a quarter of ε",
                f"shares.{i + 1}",
            )
        made.append(share)
    return made


def panel_values(made: Mapping[str, Any], text: str, url: str) -> dict[str, Any]:
    """The answer as the template takes it; ``text`` is the report's plan, ``url`` its own address if it has one."""
    other = f"/assess?{urlencode({'yaml': made['yaml']})}"
    pieces = {key: Markup(made[key]) for key in ("sentence", "table")}
    rows = list(zip(made["names"], made["shares"], made["errors"], strict=True))
    return {**made, **pieces, "rows": rows, "given": text, "back": url, "url": other if url else ""}


class SharesRequest(BaseModel):
    """A release and how its queries share ε."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    release: str | dict[str, Any] = Field(description="a release, as YAML text or as an object; its table is bundled")
    shares: Annotated[list[float], Field(min_length=1, max_length=32)] = Field(
        description="a number for each query: ε is shared in this proportion"
    )


async def shares_answer(request: Request, sent: SharesRequest) -> dict[str, Any]:
    """The numbers of other shares; the assessment they rest on is kept, as that of a bundled table always is."""
    text = sent.release if isinstance(sent.release, str) else json.dumps(sent.release)
    made = await assess_answer(request, text)
    if not made["basis"]:
        raise InputError("the release has one query, which has all of ε: give two or more", "queries")
    job = request.app.state.jobs.start("shares", yaml=text, basis=made["basis"], shares=sent.shares)
    data: dict[str, object] = (await job_answer(request, job))["data"]
    return data


@router.post("/assess/shares")
async def post_shares(request: Request) -> Response:
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
            problem = plan_problem(error)
        start = request.app.state.jobs.start
        job = start("shares", owner=request.state.visitor, yaml=text, basis=given.get("basis", ""), **wanted)
        made = dict(await job_answer(request, job))
    except EpsilensError as error:
        refusal = plan_problem(error)
        return message_page(refusal.status, "Assess", "No other shares", refusal.sentence)
    if problem is not None and len(entered) == len(made["shares"]):
        made["shares"] = entered
    panel = panel_values(made, text, url if url.startswith("/assess?") else "")
    status = problem.status if problem else 200
    return render("shares.html", status, view="Assess", stylesheets=STYLES, panel=panel, problem=problem)
