"""Explain, Choose, claims and notions: a query turned into a result and put into a template, and files to keep of it.

A claim is ε and δ, ρ, μ, or a published deployment: what it means is shown by what is known of the noise. Notions are
other definitions: what their ε promises, and which ε of differential privacy is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..catalogue.deployments import deployment, deployments
from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import CONDITIONS, PARAMETERS, Place, symbol
from ..catalogue.parsing import EXPLANATION_OPTIONS, condition_arguments, parse_number, plain_name
from ..catalogue.readings import READINGS
from ..errors import EpsilensError, InputError
from ..notions.implications import NOTIONS, REFUTED, Notion, find
from ..numerics.formatting import floor_digits
from ..shares import parse_share
from ..show import charts
from ..show import notions as report
from ..show.explanation import claim_roc, command_line
from ..show.render import html
from ..show.sentences import small
from .limits import check_texts
from .pages import (
    KINDS,
    attachment,
    canonical_redirect,
    kind_of,
    no_file,
    oob_targets,
    picture,
    query_of,
    redirect,
    render,
    result_file,
    unknown_file,
)
from .view_state import (
    Field,
    FieldProblem,
    ViewState,
    check_of_100,
    choice_parameters,
    choose_state,
    explain_query,
    explain_state,
    field_of,
    from_of_100,
    mechanism_fields,
    of_100_limits,
    option_texts,
    problem_of,
    to_of_100,
    way_labels,
    ways_of,
    with_symbol,
)

router = APIRouter(include_in_schema=False)


@router.get("/")
@router.get("/explain")
def explain_view(request: Request) -> Response:
    given = query_of(request)
    if given.get("mechanism") == "claim":
        return redirect(request, "/claim")
    asked = explain_state(given)
    away, headers = canonical_redirect(request, asked.url, asked.problem is None)
    if away:
        return away
    mechanism = MECHANISMS[asked.mechanism]
    noise, usual, rare = mechanism_fields(mechanism, asked.way)
    ways = way_labels(mechanism)
    return render(
        "explain.html",
        asked.problem.status if asked.problem else 200,
        headers,
        view="Explain",
        asked=asked,
        ways=ways,
        noise=noise,
        usual=usual,
        rare=rare,
        oob=oob_targets("mechanism", *(f.name for f in (*noise, *usual, *rare))),
    )


@router.get("/explain.html")
@router.get("/explain.pdf")
@router.get("/explain.csv")
@router.get("/choose.html")
@router.get("/choose.pdf")
@router.get("/choose.csv")
@router.get("/choose.json")
def explain_file(request: Request) -> Response:
    asked, view = _state_of(request)
    if asked.about is None:
        return no_file(asked.problem)
    return result_file(asked.about, f"{view}-{asked.mechanism}", kind_of(request))


@router.get("/explain/certificate.json")
@router.get("/choose/certificate.json")
def certificate_file(request: Request) -> Response:
    asked, _ = _state_of(request)
    if asked.about is None:
        return no_file(asked.problem)
    try:
        made = asked.about.experiment.certificate("success")
    except InputError as error:
        return no_file(problem_of(error))
    return attachment(made.to_json(), "certificate.json", KINDS["json"])


@router.get("/explain/{name}.{kind}")
@router.get("/choose/{name}.{kind}")
def curve_file(request: Request, name: str, kind: str) -> Response:
    asked, _ = _state_of(request)
    if asked.about is None:
        return no_file(asked.problem)
    drawn = asked.about.overview.curves.get(name.replace("-", "_"))
    if drawn is None:
        return unknown_file(name)
    return picture(charts.marked(drawn), f"{name}-{asked.mechanism}", kind)


def _state_of(request: Request) -> tuple[ViewState, str]:
    view = "choose" if request.url.path.startswith("/choose") else "explain"
    states = {"explain": explain_state, "choose": choose_state}
    return states[view](query_of(request)), view


@router.get("/choose")
def choose_view(request: Request) -> Response:
    given = query_of(request)
    asked = choose_state(given)
    solvable = asked.problem is None or asked.problem.floor is not None
    away, headers = canonical_redirect(request, asked.url, solvable and bool(asked.options))
    if away:
        return away
    reading = asked.values.get("reading", "success")
    mechanism = MECHANISMS[asked.mechanism]
    arguments = [field_of(PARAMETERS[n]) for n in READINGS[reading].options] if reading in READINGS else []
    parameter = asked.values.get("parameter", "epsilon")
    ways = ways_of(mechanism)
    noise, usual, rare = mechanism_fields(mechanism, asked.way if asked.way in ways else next(iter(ways)))
    taken = {f.name for f in arguments} | {parameter, *EXPLANATION_OPTIONS}
    noise, usual, rare = ([f for f in some if f.name not in taken] for some in (noise, usual, rare))
    return render(
        "choose.html",
        asked.problem.status if asked.problem else 200,
        headers,
        view="Choose",
        asked=asked,
        readings_choices=[(name, _sentence_case(r.label)) for name, r in READINGS.items() if name != "roc"],
        counted=of_100_limits(reading),
        at_most_unit=READINGS[reading].ceiling == 1 if reading in READINGS else True,
        arguments=arguments,
        parameters=[(n, field_of(PARAMETERS[n]).label) for n in choice_parameters(mechanism)],
        ways=[] if parameter in ways else way_labels(mechanism),
        symbol=symbol(parameter),
        unmet=_unmet_limit(asked),
        noise=noise,
        usual=usual,
        rare=rare,
        oob=oob_targets("mechanism", "reading", "at_most", *(f.name for f in (*arguments, *noise, *usual, *rare))),
    )


def _unmet_limit(asked: ViewState) -> str:
    """That nothing keeps the limit, in the units it was entered in; empty where the floor does not say why."""
    floor, reading = asked.problem.floor if asked.problem else None, READINGS.get(asked.value("reading"))
    if floor is None or reading is None:
        return ""
    entry = asked.value("at_most")
    limit = parse_share(entry) or float(entry)  # it was read before
    if not limit < floor < reading.ceiling:
        return ""
    entered = of_100_limits(reading.name)
    shown, least = (f"{to_of_100(f'{v:.6g}')} of 100" if entered else f"{v:.6g}" for v in (limit, floor))
    sign = symbol(asked.value("parameter"))
    return (
        f"No {sign} keeps {reading.label} at or below {shown}: the least there can be is {least}, "
        "so give a limit above that."
    )


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


@router.get("/help")
def help_view() -> Response:
    return render("help.html", view="Help")


@dataclass(frozen=True)
class _ClaimKind:
    words: str
    name: str
    fields: tuple[Field, ...]


_EPSILON = field_of(PARAMETERS["epsilon"])
_DELTA = field_of(PARAMETERS["delta"])
_KINDS = {
    "epsilon": _ClaimKind("ε and δ", "claim", (_EPSILON, _DELTA)),
    "rho": _ClaimKind(
        "ρ of zCDP", "zcdp", (Field("rho", "ρ claimed", "Zero-concentrated differential privacy.", "0.5"),)
    ),
    "order": _ClaimKind(
        "ρ at an order (Rényi)",
        "rdp",
        (
            Field("orders", "Order", "Above 1; several are separated by commas.", "8", kind="list"),
            Field("rho", "ρ claimed", "One for each order.", "1", kind="list"),
        ),
    ),
    "mu": _ClaimKind("μ of Gaussian DP", "gdp", (Field("mu", "μ claimed", "As Gaussian noise of σ = 1/μ.", "1"),)),
    "deployment": _ClaimKind("a published deployment", "", ()),
}
#: A training is known by these together; without them nothing is assumed of one.
_TRAINING = (
    Field("n", "People", "How many there are.", ""),
    Field("batch", "People in a batch", "Expected, as batches are drawn.", ""),
    Field("epochs", "Epochs", "How often the training goes through the data.", ""),
)
_SHARED = tuple(field_of(PARAMETERS[name]) for name in ("prior", "fpr"))
_STARTS = {"epsilon": "8", "delta": "0.000001"}


def claim_state(given: Mapping[str, str]) -> ViewState:
    """The claim of a query: never raises, an error stands beside its field."""
    asked = ViewState("/claim", mechanism="claim", way="epsilon")
    try:
        asked.way = _claim_kind(given)
        kind = _KINDS[asked.way]
        check_texts(dict(given))
        entered = {_parameter_name(k): _entry_value(k, v.strip()) for k, v in given.items() if v.strip()}
        fields = (*kind.fields, *_TRAINING, *_SHARED)
        asked.values = {f.name: entered.get(f.name, _STARTS.get(f.name, f.default)) for f in fields}
        asked.values["deployment"] = (given.get("deployment") or "").strip() or deployments()[0].name
        if asked.way == "deployment" and deployment(asked.values["deployment"]) is None:
            raise InputError(
                f"there is no published deployment {asked.values['deployment'][:40]!r}: choose one of the list",
                "deployment",
            )
        own = {f.name: asked.values[f.name] for f in kind.fields}
        more = {f.name: v for f in _TRAINING if (v := asked.values[f.name])}
        shared = {f.name: v for f in _SHARED if (v := asked.values[f.name]) != f.default}
        check_of_100(shared)
        name = asked.values["deployment"] if asked.way == "deployment" else kind.name
        said = {"claimed": asked.way} | ({"deployment": name} if asked.way == "deployment" else own)
        asked.options = {**said, **more, **shared}
        asked.about = explain_query(name, {**({} if asked.way == "deployment" else own), **more, **shared})
    except EpsilensError as error:
        asked.problem = problem_of(error, asked)
    return asked


def _parameter_name(name: str) -> str:
    return name.removesuffix("_of_100")


def _entry_value(name: str, text: str) -> str:
    return from_of_100(text) if name.endswith("_of_100") else text


def _claim_kind(given: Mapping[str, str]) -> str:
    told = (given.get("claimed") or "").strip()
    if told and told not in _KINDS:
        raise InputError(f"claimed is {told[:40]!r}: give one of {', '.join(_KINDS)}", "claimed")
    if told:
        return told
    return next((kind for kind in ("deployment", "mu", "orders", "rho") if given.get(kind)), "epsilon").replace(
        "orders", "order"
    )


@router.get("/claim")
def claim_view(request: Request) -> Response:
    asked = claim_state(query_of(request))
    away, headers = canonical_redirect(request, _url(asked), asked.problem is None)
    if away:
        return away
    kind = _KINDS[asked.way]
    return render(
        "claim.html",
        asked.problem.status if asked.problem else 200,
        headers,
        view="Explain",
        asked=asked,
        kinds=[(key, one.words) for key, one in _KINDS.items()],
        own=kind.fields,
        published=[(d.name, _deployment_label(d)) for d in deployments()] if asked.way == "deployment" else [],
        training=_TRAINING,
        shared=_SHARED,
        url=_url(asked),
        query=_url(asked).partition("?")[2],
        oob=oob_targets("claimed", "deployment", *(f.name for f in (*kind.fields, *_TRAINING, *_SHARED))),
    )


def _deployment_label(d: Any) -> str:
    told = {"ε": d.epsilon, "δ": d.delta, "ρ": d.rho}
    return f"{d.title}: {', '.join(f'{k} = {small(v)}' for k, v in told.items() if v is not None)}"


def _url(asked: ViewState) -> str:
    return f"/claim?{urlencode(asked.options)}"


@router.get("/claim.html")
@router.get("/claim.pdf")
@router.get("/claim.csv")
@router.get("/claim.json")
def claim_file(request: Request) -> Response:
    asked = claim_state(query_of(request))
    return no_file(asked.problem) if asked.about is None else result_file(asked.about, "claim", kind_of(request))


@router.get("/claim/roc.{kind}")
def claim_chart(request: Request, kind: str) -> Response:
    about = (asked := claim_state(query_of(request))).about
    if about is None:
        return no_file(asked.problem)
    return picture(claim_roc(about.overview), "claim-roc", kind)


_USUAL, _RARE = (
    tuple(field_of(p) for p in CONDITIONS.values() if p.control is not None and p.control.place is place)
    for place in (Place.USUAL, Place.RARE)
)
_NOTION_FIELDS = {f.name: f for f in (_EPSILON, *_USUAL, *_RARE)}


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
        return self.values.get(name, "")

    @property
    def query(self) -> str:
        return urlencode(option_texts(self.options))

    @property
    def headline(self) -> str:
        """The ε of differential privacy that is enough, where another notion is chosen and there is one."""
        made = self.enough.data["enough"] if self.enough else []
        found = next((c["given_epsilon"] for c in made if c["given"] == "dp"), None)
        return f"Use differential privacy with ε = {floor_digits(found)} or less" if found else ""


def notions_state(given: Mapping[str, str]) -> NotionsState:
    """The view of a query: never raises, an error stands beside its field."""
    asked = NotionsState()
    asked.values = {name: (given.get(name) or "").strip() or f.default for name, f in _NOTION_FIELDS.items()}
    try:
        check_texts(dict(given))
        asked.notion = find(given.get("from") or "ip", "from")
        told: dict[str, object] = {
            k: v for k, v in asked.values.items() if k in CONDITIONS and v and v != _NOTION_FIELDS[k].default
        }
        told = {k: True if _NOTION_FIELDS[k].kind == "flag" else v for k, v in told.items()}
        asked.options = {"from": asked.notion.key, "epsilon": asked.values["epsilon"], **told}
        epsilon = parse_number("epsilon", asked.values["epsilon"], "epsilon")
        conditions = condition_arguments(told, plain_name)
        made = report.promised(asked.notion.key, epsilon, **conditions)
        asked.about = made.with_command(command_line("notions", "", asked.options))
        asked.enough = report.enough(asked.notion.key, epsilon, **conditions)
    except EpsilensError as error:
        asked.problem = _notion_problem(error)
    return asked


def _notion_problem(error: EpsilensError) -> FieldProblem:
    about = error.parameter if isinstance(error, InputError) else ""
    name = about if about in (*_NOTION_FIELDS, "from") else ""
    symbol = PARAMETERS[name].symbol if name in PARAMETERS else ""
    return FieldProblem(name, with_symbol(" ".join(str(error).split()), about, symbol))


@router.get("/notions")
def notions_view(request: Request) -> Response:
    asked = notions_state(query_of(request))
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
        oob=",".join(("#reproduce", *(f"#error-{n}" for n in ("from", *_NOTION_FIELDS)))),
    )


@router.get("/notions.html")
@router.get("/notions.pdf")
@router.get("/notions.csv")
@router.get("/notions.json")
def notions_file(request: Request) -> Response:
    asked = notions_state(query_of(request))
    if asked.about is None:
        return no_file(asked.problem)
    return result_file(asked.about, f"notions-{asked.notion.key}", kind_of(request))
