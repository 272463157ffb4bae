"""What a claim means: ε and δ, ρ, μ, or a published deployment, by what is known of the noise.

It belongs to Explain: where a mechanism is known Explain says what it tells, and where only a claim is, this does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..catalogue.deployments import deployment, deployments
from ..catalogue.parameters import PARAMETERS
from ..errors import EpsilensError, InputError
from ..show.words import small
from .limits import check_texts
from .pages import (
    PICTURES,
    as_json,
    attachment,
    canonical_redirect,
    explanation_csv,
    file_of,
    no_file,
    oob_targets,
    query_of,
    render,
)
from .view_state import Field, ViewState, check_of_100, explain_query, field_of, from_of_100, problem_of

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class _ClaimKind:
    """A kind of claim: its words, what the command calls it, and its fields."""

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
                parameter="deployment",
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
        raise InputError(f"claimed is {told[:40]!r}: give one of {', '.join(_KINDS)}", parameter="claimed")
    if told:
        return told
    return next((kind for kind in ("deployment", "mu", "orders", "rho") if given.get(kind)), "epsilon").replace(
        "orders", "order"
    )


@router.get("/claim")
def claim_view(request: Request) -> Response:
    """A claim."""
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
    """What is shown, to keep."""
    asked, kind = claim_state(query_of(request)), request.url.path.rpartition(".")[2]
    if asked.about is None:
        return no_file(asked.problem)
    if kind == "pdf":
        return file_of(asked.about.to_pdf(), "claim.pdf", PICTURES["pdf"])
    if kind == "csv":
        return attachment(explanation_csv(asked.about), "claim.csv", "text/csv; charset=utf-8")
    if kind == "json":
        return attachment(as_json(asked.about.to_dict()), "claim.json", "application/json")
    return attachment(asked.about.to_html(), "claim.html", "text/html")
