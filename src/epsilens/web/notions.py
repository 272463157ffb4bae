"""The Notions view: what another definition's ε promises, and which ε of differential privacy is enough for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..catalogue.parameters import CONDITIONS, PARAMETERS, Place
from ..catalogue.parsing import condition_arguments, parse_number, plain_name
from ..errors import EpsilensError, InputError
from ..notions.catalogue import NOTIONS, Notion, find
from ..notions.implications import REFUTED
from ..numerics.formatting import floor_digits
from ..show import notions as report
from ..show.explanation import command_line
from ..show.render import html
from .limits import check_texts
from .pages import PICTURES, as_json, attachment, file_of, no_file, render
from .view_state import FieldProblem, field_of, with_symbol

router = APIRouter(include_in_schema=False)

_EPSILON = field_of(PARAMETERS["epsilon"])
_USUAL, _RARE = (
    tuple(field_of(p) for p in CONDITIONS.values() if p.control is not None and p.control.place is place)
    for place in (Place.USUAL, Place.RARE)
)
_FIELDS = {f.name: f for f in (_EPSILON, *_USUAL, *_RARE)}


@dataclass
class NotionsState:
    """What was entered, what came of it, and the address that says the same."""

    notion: Notion = NOTIONS["ip"]
    values: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    about: report.NotionsReport | None = None
    enough: report.NotionsReport | None = None
    problem: FieldProblem | None = None

    def value(self, name: str) -> str:
        """What stands in a field."""
        return self.values.get(name, "")

    @property
    def query(self) -> str:
        """The query of the plain address."""
        return urlencode({k: "on" if v is True else v for k, v in self.options.items()})

    @property
    def headline(self) -> str:
        """The ε of differential privacy that is enough, where another notion is chosen and there is one."""
        made = self.enough.data["enough"] if self.enough else []
        found = next((c["given_epsilon"] for c in made if c["given"] == "dp"), None)
        return f"Use differential privacy with ε = {floor_digits(found)} or less" if found else ""


def notions_state(given: Mapping[str, str]) -> NotionsState:
    """The view of a query: never raises, an error stands beside its field."""
    asked = NotionsState()
    asked.values = {name: (given.get(name) or "").strip() or f.default for name, f in _FIELDS.items()}
    try:
        check_texts(dict(given))
        asked.notion = find(given.get("from") or "ip", "from")
        told: dict[str, Any] = {
            k: v for k, v in asked.values.items() if k in CONDITIONS and v and v != _FIELDS[k].default
        }
        told = {k: True if _FIELDS[k].kind == "flag" else v for k, v in told.items()}
        asked.options = {"from": asked.notion.key, "epsilon": asked.values["epsilon"], **told}
        epsilon = parse_number("epsilon", asked.values["epsilon"], "epsilon")
        conditions = condition_arguments(told, plain_name)
        made = report.promised(asked.notion.key, epsilon, **conditions)
        asked.about = made.with_command(command_line("notions", "", asked.options))
        asked.enough = report.enough(asked.notion.key, epsilon, **conditions)
    except EpsilensError as error:
        asked.problem = _problem(error)
    return asked


def _problem(error: EpsilensError) -> FieldProblem:
    about = error.parameter if isinstance(error, InputError) else ""
    name = about if about in (*_FIELDS, "from") else ""
    symbol = PARAMETERS[name].symbol if name in PARAMETERS else ""
    return FieldProblem(name, with_symbol(" ".join(str(error).split()), about, symbol))


@router.get("/notions")
def notions_view(request: Request) -> Response:
    """Notions."""
    asked = notions_state(dict(request.query_params))
    url = f"/notions?{asked.query}" if asked.options else "/notions"
    htmx = request.headers.get("hx-request") == "true"
    address = {"hx-replace-url": f"/notions?{request.url.query}"} if asked.problem else {"hx-push-url": url}
    return render(
        "notions.html",
        422 if asked.problem else 200,
        address if htmx else {},
        view="Notions",
        asked=asked,
        choices=[(n.key, n.name) for n in NOTIONS.values()],
        epsilon=_EPSILON,
        usual=_USUAL,
        rare=_RARE,
        refuted=[r for r in REFUTED if asked.notion.key in (r.source, r.target)],
        subscripts=html.subscripts,
        pictures_of_notion=html.blocks((asked.about.pictures,)) if asked.about and asked.about.pictures else "",
        lead=html.said(asked.about.lead) if asked.about else "",
        table=lambda section: html.blocks(section.blocks),
        url=url,
        oob=",".join(("#reproduce", *(f"#error-{n}" for n in ("from", *_FIELDS)))),
    )


@router.get("/notions.pdf")
def notions_pdf(request: Request) -> Response:
    """The same on paper."""
    asked = notions_state(dict(request.query_params))
    if asked.about is None:
        return no_file(asked.problem)
    return file_of(asked.about.to_pdf(), f"notions-{asked.notion.key}.pdf", PICTURES["pdf"])


@router.get("/notions.html")
def notions_file(request: Request) -> Response:
    """The report to keep."""
    asked = notions_state(dict(request.query_params))
    if asked.about is None:
        return no_file(asked.problem)
    return attachment(asked.about.to_html(), f"notions-{asked.notion.key}.html", "text/html")


@router.get("/notions.csv")
def notions_csv(request: Request) -> Response:
    """What it promises in the other notions, a row each."""
    asked = notions_state(dict(request.query_params))
    if asked.about is None:
        return no_file(asked.problem)
    return attachment(asked.about.to_csv(), f"notions-{asked.notion.key}.csv", "text/csv; charset=utf-8")


@router.get("/notions.json")
def notions_json(request: Request) -> Response:
    """The same as JSON."""
    asked = notions_state(dict(request.query_params))
    if asked.about is None:
        return no_file(asked.problem)
    return attachment(as_json(asked.about.to_dict()), "notions.json", "application/json")
