"""The Assess view: a table and a plan in, the report out. Uploads live in a private folder for one request."""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup
from starlette.datastructures import FormData, UploadFile

from ..catalogue.readings import READINGS
from ..data.tables.source import bundled, names
from ..errors import EpsilensError, InputError
from .pages import as_json, attachment, render
from .planform import EXAMPLES, KINDS, LIMITS, UPLOAD, check_size, columns_of, plan_of, to_yaml
from .questions import Problem
from .refused import Refused
from .shares import panel_of

__all__ = ["Upload", "assessed", "problem_at", "router", "texts"]

router = APIRouter(include_in_schema=False)

_ENDINGS = (".csv.gz", ".tsv.gz", ".csv", ".tsv", ".txt", ".parquet", ".pq")
_DEFAULT = "epsilens:rand-hie"


class Upload:
    """A file being received: copied under a name of ours, so that nothing of the sender's reaches the file system."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = Path(name.replace("\\", "/")).name[:100]
        ending = next((e for e in _ENDINGS if self.name.lower().endswith(e)), None)
        if ending is None:
            raise InputError(
                f"the file is {self.name[:60]!r}: give a CSV (.csv, .tsv, .csv.gz) or Parquet (.parquet) file",
                parameter="table",
            )
        self.path, self.digest = folder / f"upload{ending}", ""

    async def take(self, source: UploadFile) -> None:
        """Copy what was sent."""
        with self.path.open("xb") as file:
            while block := await source.read(1 << 20):
                await run_in_threadpool(file.write, block)


def assessed(app: Any, text: str, folder: Path, upload: Upload | None = None) -> dict[str, Any]:
    """The answer of a worker to a release; for bundled tables it is kept, because it can only be the same again."""
    check_size(text)
    job = app.state.jobs.start("assess", upload, yaml=text)
    job.wait()
    return dict(job.result())


# -- the view -----------------------------------------------------------------------------------------------------


def _show(
    request: Request,
    *,
    text: str = "",
    table: str = _DEFAULT,
    columns: list[tuple[str, str]] | None = None,
    made: Mapping[str, Any] | None = None,
    problem: Problem | None = None,
    own: bool = False,
) -> Response:
    limits = request.app.state.limits
    release = _release(text)
    if release is not None and not own:
        table = release.data.table if release.data.table in names() else table
    if columns is None:
        columns = columns_of(table) if table in names() else []
    shown = release if release is not None or own or text else _release(EXAMPLES.get(table, ""))
    plan = plan_of(shown, UPLOAD if own else table)
    if columns == [] and release is not None:
        columns = [(name, "") for name in _mentioned(plan)]
    url = "" if own or not text else f"/assess?{urlencode({'yaml': text})}"
    short = len(url) <= limits.url_yaml
    return render(
        "assess.html",
        problem.status if problem else 200,
        view="Assess",
        stylesheets=["page.css", "assessment.css"],
        report=Markup(made["fragment"]) if made else "",
        rest=Markup(made["rest"]) if made else "",
        panel=panel_of(made["panel"], text, url if short else "") if made and made["panel"] else None,
        report_title=release.title if release is not None and made else "",
        problem=problem,
        plan=plan,
        tables=[*((n, bundled(n).title) for n in names()), (UPLOAD, "A file of mine")],
        table_names=", ".join(names()),
        columns=columns,
        again=own and not made,
        kinds=KINDS,
        limit_readings=[(n, r.label) for n, r in READINGS.items() if not (r.required or r.either) and n not in LIMITS],
        secret_example=_example(EXAMPLES.get(table, ""), "where"),
        yaml=text,
        rows=max(12, min(text.count("\n") + 2, 30)),
        example_yaml=EXAMPLES.get(table, EXAMPLES[_DEFAULT]),
        example_url=f"/assess?{urlencode({'yaml': EXAMPLES[_DEFAULT]})}",
        url=url if short else "",
        downloads=_downloads(made, url if short else ""),
    )


def _example(text: str, key: str) -> str:
    found = re.search(rf"^\s*{key}: (.*)$", text, re.MULTILINE)
    return found[1] if found else "income > 50000"


def _release(text: str) -> Any:
    from ..plan.file import read_release

    try:
        return read_release(text + "\n") if text.strip() else None
    except EpsilensError:
        return None


def _mentioned(plan: Any) -> list[str]:
    """The columns a plan names, for a form that no longer has the table."""
    owners = [plan.values[key] for key in ("person", "unit", "related")]
    found = [*owners, *plan.values["quasi"], *(q["by"] for q in plan.queries if q["by"] == q["by_shown"])]
    return list(dict.fromkeys(filter(None, found)))


def _downloads(made: Mapping[str, Any] | None, url: str) -> list[tuple[str, str, str]]:
    """Links to keep the report: a plain address where there is one, otherwise the file itself within the page."""
    if made is None:
        return []
    if url:
        query = url.partition("?")[2]
        return [
            ("Download page", f"/assess.html?{query}", "assessment.html"),
            ("Download JSON", f"/assess.json?{query}", "assessment.json"),
        ]
    page = base64.b64encode(str(made["html"]).encode()).decode()
    data = base64.b64encode(as_json(made["data"]).encode()).decode()
    return [
        ("Download page", f"data:text/html;base64,{page}", "assessment.html"),
        ("Download JSON", f"data:application/json;base64,{data}", "assessment.json"),
    ]


#: A part of a release, or what a check calls it, and the field that says it.
_FIELDS = {
    "table": "table", "data.table": "table", "person": "person", "data.person": "person", "data.unit": "unit",
    "data.max_rows": "max_rows", "data.max_groups": "max_groups",
    "quasi_identifiers": "quasi", "data.quasi_identifiers": "quasi", "secret": "secret", "data.secret": "secret",
    "data.secret.name": "secret_name", "data.secret.columns": "secret_columns",
    "data.related": "related", "adversary.correlation": "related", "adversary.prior": "prior",
    "adversary.belief": "belief", "adversary.among": "among",
    "adversary.baseline": "baseline", "mechanism.noise": "noise",
    "mechanism.epsilon": "epsilon", "mechanism.delta": "delta", "delta": "delta",
    "mechanism.neighbours": "neighbours", "mechanism.split": "split",
    "limits": "at_most", "limits.error": "error", **{f"limits.{name}": name for name in LIMITS}, "queries": "queries",
}  # fmt: skip
#: The parts of a query that have a place of their own for what is wrong with them.
_OF_QUERY = ("groups", "threshold", "name", "where", "rows", "size", "share")


def problem_at(error: EpsilensError) -> Problem:
    """An error as a sentence by the field it speaks of."""
    text = " ".join(str(error).split())
    about = error.parameter if isinstance(error, InputError | Refused) else ""
    sentence = f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."
    return Problem(_field(about), sentence, error.status if isinstance(error, Refused) else 422)


def _field(parameter: str) -> str:
    """The field of a part of the release: its own, or that of the part it belongs to.

    >>> _field("limits.roc.at_most"), _field("queries.2.bounds"), _field("queries.1.groups.3")
    ('at_most', 'q1', 'q0_groups')
    """
    parts = parameter.split(".")
    if parts[0] == "shares" and len(parts) > 1 and parts[1].isdigit():
        return f"share{int(parts[1]) - 1}"
    if parts[0] == "queries" and len(parts) > 1 and parts[1].isdigit():
        place = f"q{int(parts[1]) - 1}"
        return f"{place}_{parts[2]}" if len(parts) > 2 and parts[2] in _OF_QUERY else place
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((_FIELDS[place] for place in known if place in _FIELDS), "")


# -- requests -----------------------------------------------------------------------------------------------------


@router.get("/assess")
def assess_view(request: Request, yaml: str = "", table: str = _DEFAULT) -> Response:
    """The form, or with YAML the report."""
    if not yaml.strip():
        return _show(request, table=table if table in names() else _DEFAULT)
    try:
        with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
            return _show(request, text=yaml, made=assessed(request.app, yaml, Path(folder)))
    except EpsilensError as error:
        return _show(request, text=yaml, problem=problem_at(error))


@router.get("/assess.html")
@router.get("/assess.json")
def assess_file(request: Request, yaml: str = "") -> Response:
    """The report, or its numbers, to keep."""
    try:
        with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
            made = assessed(request.app, yaml, Path(folder))
    except EpsilensError as error:
        problem = problem_at(error)
        return render(
            "message.html", problem.status, view="", heading="This cannot be assessed", sentence=problem.sentence
        )
    if request.url.path.endswith(".json"):
        return attachment(as_json(made["data"]), "assessment.json", "application/json")
    return attachment(str(made["html"]), "assessment.html", "text/html")


async def _received(request: Request, folder: Path) -> tuple[FormData, Upload | None]:
    form = await request.form(max_files=1, max_fields=2_000, max_part_size=1_000_000)
    file = form.get("file")
    upload = None
    if isinstance(file, UploadFile) and file.filename:
        try:
            upload = Upload(folder, file.filename)
            await upload.take(file)
        finally:
            await file.close()
    return form, upload


def texts(form: FormData) -> dict[str, str]:
    """The entries that say something."""
    return {k: v.strip() for k, v in form.items() if isinstance(v, str) and v.strip()}


@router.post("/assess")
async def assess_sent(request: Request) -> Response:
    """The form or pasted YAML, with or without a file."""
    text, given = "", {}
    upload: Upload | None = None
    own = False
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
        try:
            form, upload = await _received(request, Path(folder))
            given = texts(form)
            text = given.get("yaml", "").replace("\r\n", "\n")
            table = given.get("table", _DEFAULT)
            if not text:
                own = upload is not None or table == UPLOAD
                quasi = [v for v in form.getlist("quasi") if isinstance(v, str)]
                text = to_yaml(given, {"quasi": quasi}, UPLOAD if own else table)
            url = f"/assess?{urlencode({'yaml': text})}"
            if upload is None and len(url) <= request.app.state.limits.url_yaml:
                return RedirectResponse(url, 303)
            made = await run_in_threadpool(assessed, request.app, text, Path(folder), upload)
            return _show(request, text=text, made=made, own=upload is not None)
        except EpsilensError as error:
            return _show(request, text=text, problem=problem_at(error), own=own)


@router.post("/assess/columns")
async def columns_sent(request: Request) -> Response:
    """The form with the columns of the table that was picked or uploaded."""
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
        try:
            form, upload = await _received(request, Path(folder))
            table = texts(form).get("table", _DEFAULT)
            if upload is None:
                if table == UPLOAD:
                    raise InputError("the file is missing: choose a CSV or Parquet file", parameter="table")
                return _show(request, table=table if table in names() else _DEFAULT)
            job = request.app.state.jobs.start("understand", upload)
            await job.finished()
            return _show(request, columns=[(c["name"], c["kind"]) for c in job.result()["columns"]], own=True)
        except EpsilensError as error:
            return _show(request, table=UPLOAD, problem=problem_at(error), own=True)
