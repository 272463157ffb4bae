"""What the Assess view shows: the table, what was understood of it, the plan in fields and as YAML, and the report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response
from markupsafe import Markup

from ..catalogue.readings import READINGS
from ..data.tables.forms import Order
from ..data.tables.source import File, bundled, names, source_of
from ..errors import EpsilensError
from .drafts import Drafts
from .examples import DEFAULT, EXAMPLES
from .filenames import ENDINGS
from .pages import render
from .permission import refusal
from .picker import COMPARISONS, Family, entry_of, family_of
from .planform import KINDS, LIMITS, READ_AS, Picked, Plan, check_size, families_of, mapping_of, plan_of, shown, to_yaml
from .problems import problem_at
from .proposal import reasons
from .questions import Problem
from .shares import panel_of
from .uploads import Upload

if TYPE_CHECKING:
    from ..plan.plan import Release


#: What stands for the uploaded file in a release that does not name it.
UPLOAD = "upload"
DRAFTS = Drafts()
_ORDERS = {
    Order.DAY_FIRST: "day, month, year",
    Order.MONTH_FIRST: "month, day, year",
    Order.YEAR_FIRST: "year, month, day",
}


@dataclass(frozen=True)
class Known:
    """A column as the form offers it."""

    name: str
    words: str = ""
    family: Family = Family.UNKNOWN
    values: tuple[str, ...] = ()


@dataclass
class View:
    """A state of the view. Without a plan it is the start: bring a table, or take a bundled one."""

    plan: Plan | None = None
    table: str = ""  # a bundled one; the upload otherwise
    upload: Upload | None = None
    wanted: str = ""  # the file a plan was written for, where it is not here
    text: str = ""  # the YAML beside the form, where it is not simply what the form says
    by_hand: bool = False
    problem: Problem | None = None
    made: Mapping[str, Any] | None = None
    job: str = ""  # where the report of an upload is kept
    note: str = ""

    @property
    def name(self) -> str:
        """What the release calls its table."""
        return self.table or (table_name(self.upload.name) if self.upload else self.wanted or UPLOAD)


def table_name(name: str) -> str:
    """A file's name as the table of a release, where it cannot be taken for anything else."""
    return name if isinstance(source_of(name), File) and name.lower().endswith(ENDINGS) else UPLOAD


def read(text: str) -> Release | None:
    """The release of a YAML that is right."""
    from ..plan.file import read_release

    try:
        check_size(text)
        return read_release(text + "\n") if text.strip() else None
    except EpsilensError:
        return None


@lru_cache(16)
def _bundled(table: str) -> tuple[Known, ...]:
    """The columns of a bundled table with what they mean."""
    return tuple(Known(name, words.partition(" [")[0]) for name, words in bundled(table).columns.items())


def _columns(view: View) -> list[Known]:
    if view.table:
        return list(_bundled(view.table))
    understood = view.upload.understood if view.upload else None
    if understood is None:
        return [Known(name) for name in (view.plan.names if view.plan else ())]
    return [_known(c) for c in understood["columns"]]


def _known(column: Mapping[str, Any]) -> Known:
    family = family_of(column["kind"])
    values = tuple(entry_of(v, family) for v in column.get("values", ()))
    return Known(column["name"], column["role"], family, values)


def families(view: View) -> dict[str, Family]:
    """What the values of each column are like."""
    return {c.name: c.family for c in _columns(view)}


def _yaml(view: View) -> str:
    """The YAML beside the form: what was written, or what the form says now."""
    if view.text or view.plan is None:
        return view.text
    try:
        return to_yaml(mapping_of(view.plan, view.name, families(view)))
    except EpsilensError:
        return ""


def link_of(text: str, most: int) -> str:
    """The address of a plan, if it is no longer than addresses may be."""
    url = f"/assess?{urlencode({'yaml': text})}" if text else ""
    return url if len(url) <= most else ""


def show(request: Request, view: View) -> Response:
    """The page."""
    limits, made, upload = request.app.state.limits, view.made, view.upload
    text = _yaml(view)
    url = link_of(text, limits.url_yaml) if made else ""
    understood = upload.understood if upload else None
    plan = view.plan
    proposed = plan_of(read(understood["yaml"]), families(view)) if understood and plan else None
    columns = _columns(view)
    return render(
        "assess.html",
        view.problem.status if view.problem else 200,
        view="Assess",
        stylesheets=["page.css", "assessment.css"],
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
        panel=panel_of(made["panel"], text, url if view.table else "") if made and made["panel"] else None,
        report_title=(plan.values["title"] if plan else "") if made else "",
        tables=[(n, bundled(n).title) for n in names()],
        table_names=", ".join(names()),
        endings=",".join(ENDINGS),
        most_bytes=limits.upload_bytes,
        kinds=KINDS,
        comparisons=COMPARISONS,
        read_as=READ_AS,
        orders=_ORDERS,
        limit_readings=[(n, r.label) for n, r in READINGS.items() if not (r.required or r.either) and n not in LIMITS],
        yaml=text,
        rows=max(12, min(text.count("\n") + 2, 30)),
        example_url=f"/assess?{urlencode({'yaml': EXAMPLES[DEFAULT]})}",
        url=url,
        downloads=_downloads(view, url) if made else [],
        board_url=f"/assess/board?{url.partition('?')[2]}" if view.table and url else f"/assess/job/{view.job}/board",
        withheld=refusal(request) if made else "",
    )


def _downloads(view: View, url: str) -> list[tuple[str, str, str]]:
    """Links to keep the report and the plan."""
    query = url.partition("?")[2]
    kinds = ("html", "pdf", "csv", "json", "yaml")
    if view.table and url:
        at = [f"/assess.{kind}?{query}" for kind in kinds]
    else:
        at = [f"/assess/job/{view.job}/assessment.{kind}" for kind in kinds]
    words = ("Download page", "PDF", "CSV", "JSON", "Plan")
    files = ("assessment.html", "assessment.pdf", "assessment.csv", "assessment.json", "plan.yaml")
    return list(zip(words, at, files, strict=True))


def turned(view: View, prefix: str, typed: bool) -> Response:
    """One condition of a form, typed or picked: the same one, as long as rows can say it."""
    plan = view.plan or Plan()
    found = re.fullmatch(r"q(\d{1,2})_where", prefix)
    wheres = {f"q{i}_where": where for i, where in enumerate(plan.wheres)}
    picked = plan.secret if prefix == "secret" else wheres.get(prefix, Picked())
    known = families_of(plan, families(view))
    problem, note = None, ""
    if typed:
        try:
            picked = Picked(picked.rows, picked.any, True, Picked(picked.rows, picked.any).said(known, prefix))
        except EpsilensError as error:
            picked, problem = Picked(picked.rows, picked.any), Problem(prefix, problem_at(error, form=True).sentence)
    else:
        picked = shown(picked.text, known)
        note = "This says more than rows can, so it stays typed." if picked.typed else ""
    if prefix != "secret" and found is None:
        return render("message.html", 404, view="Assess", heading="No condition", sentence="There is no such field.")
    columns = _columns(view)
    return render(
        "assess/condition.html", prefix=prefix, picked=picked, problem=problem, note=note, columns=columns,
        listed={c.name: i for i, c in enumerate(columns) if c.values}, comparisons=COMPARISONS,
    )  # fmt: skip
