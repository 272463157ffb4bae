"""The JSON API: the same functions as the command line, with an OpenAPI definition.

Parameters are declared as the numbers they are, for readers and tools; the text that was sent is what is passed on, so
that the answer, its command included, is the command line's.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from ..catalogue.readings import READINGS
from ..data.tables.bundled import bundled, names
from ..errors import EpsilensError, InputError, NoSolutionError
from . import asking
from .fields import FIELDS, MECHANISMS

__all__ = ["Failure", "router"]

router = APIRouter(prefix="/api", tags=["api"])
SCHEMA = 1


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())
    version: int = Field(SCHEMA, alias="schema", description="version of this shape")


class Failure(_Answer):
    """Why there is no answer."""

    error: str = Field(description="a sentence")
    parameter: str | None = Field(None, alias="field", description="the parameter it speaks of")
    floor: float | None = Field(None, description="the least the reading can be, where no parameter meets the limit")


class Explained(_Answer):
    """A mechanism explained."""

    sentence: str
    experiment: dict[str, Any]
    arguments: dict[str, float]
    readings: dict[str, float | None] = Field(description="null where the reading is unbounded")
    baselines: dict[str, float | None] = Field(description="the same without the release")
    unbounded: list[str]
    command: str


class Chosen(Explained):
    """A parameter chosen by a limit."""

    choice: dict[str, Any]


class Setting(BaseModel):
    """One of the settings compared."""

    letter: str
    setting: str
    explanation: Explained


class Compared(_Answer):
    """Settings side by side."""

    settings: list[Setting]


class Table(BaseModel):
    """A bundled table."""

    model_config = ConfigDict(extra="allow")
    name: str
    title: str
    rows: int
    people: int
    columns: dict[str, str]


class Tables(_Answer):
    """The bundled tables."""

    tables: list[Table]


class Assessed(_Answer):
    """An assessment: every number of the report."""


_BAD: dict[int | str, dict[str, Any]] = {
    422: {"model": Failure, "description": "something is wrong, or no parameter meets the limit; a sentence says what"},
    403: {"model": Failure, "description": "sent from another site"},
    400: {"model": Failure, "description": "not for this host"},
    413: {"model": Failure, "description": "too large"},
}
_BUSY: dict[int | str, dict[str, Any]] = {503: {"model": Failure, "description": "too busy, or took too long"}}

# The names are listed for readers and tools; a wrong one gets the library's own sentence, which names the right ones.
Mechanism = Annotated[
    str,
    Query(description="the mechanism", json_schema_extra={"enum": [n.replace("_", "-") for n in MECHANISMS]}),
]
ReadingName = Annotated[str, Query(description="what is limited", json_schema_extra={"enum": list(READINGS)})]


def _number(name: str, words: str = "", **limits: Any) -> Any:
    return Query(description=words or FIELDS[name].hint or FIELDS[name].label, **limits)


Positive = {"gt": 0}
Share = {"ge": 0, "le": 1}
Epsilon = Annotated[float | None, _number("epsilon", "privacy loss ε", **Positive)]
Scale = Annotated[float | None, _number("scale", "scale of the noise, instead of epsilon", **Positive)]
Sigma = Annotated[float | None, _number("sigma", "standard deviation of the noise", **Positive)]
Psi = Annotated[float | None, _number("psi", "sensitivity over standard deviation", **Positive)]
Delta = Annotated[float | None, _number("delta", "the δ that goes with epsilon", **Share)]
Calibration = Annotated[Literal["analytic", "classical"] | None, Query(description="how σ follows from ε and δ")]
Sensitivity = Annotated[float | None, _number("sensitivity", "the most one person moves the answer", **Positive)]
Shift = Annotated[float | None, _number("shift", "how far this person moves it", ge=0)]
Stretch = Annotated[float | None, _number("stretch", **Positive)]
Neighbours = Annotated[Literal["add-remove", "replace"] | None, Query(description="what one person changes")]
Norm = Annotated[Literal["L1", "L2"] | None, Query(description="norm of the sensitivity")]
K = Annotated[int | None, Query(description="possible answers of randomised response", ge=2)]
Truth = Annotated[float | None, _number("truth", "probability of a true answer, instead of epsilon", **Share)]
Gamma = Annotated[float | None, _number("gamma", "where the staircase breaks", **Share)]
Scores = Annotated[str | None, Query(description="scores of the outcomes, separated by commas", max_length=20_000)]
Monotonic = Annotated[bool | None, Query(description="a person can only raise scores")]
Prior = Annotated[float | None, _number("prior", "the adversary's belief before the release", **Share)]
Fpr = Annotated[float | None, _number("fpr", "false-positive rate", **Share)]
Beta = Annotated[float | None, _number("beta", "weight of recall in the F-score", **Positive)]
Baseline = Annotated[float | None, _number("baseline", "success of an attack without the release", **Share)]
ForEpsilon = Annotated[float | None, _number("for_epsilon", "the ε whose δ is read", ge=0)]
ForDelta = Annotated[float | None, _number("for_delta", "the δ whose ε is read", **Share)]


def failure(error: EpsilensError) -> JSONResponse:
    """An error of the library as an answer."""
    problem = asking.problem_of(error)
    status = 422 if isinstance(error, InputError | NoSolutionError) else getattr(error, "status", 422)
    body: dict[str, Any] = {"schema": SCHEMA, "error": problem.sentence, "field": problem.field or None}
    if problem.floor is not None:
        body["floor"] = problem.floor if math.isfinite(problem.floor) else None  # JSON has no infinity
    return JSONResponse(body, status)


def _sent(request: Request, *without: str) -> dict[str, str]:
    """What was sent, as text; a parameter given twice is refused, because only one of them could be meant."""
    pairs = [(k, v) for k, v in request.query_params.multi_items() if k not in without]
    if len({k for k, _ in pairs}) != len(pairs):
        twice = next(k for i, (k, _) in enumerate(pairs) if k in dict(pairs[:i]))
        raise InputError(f"{twice[:40]} is given twice: give it once")
    return dict(pairs)


@router.get("/explain", responses={200: {"model": Explained}, **_BAD})
def explain(
    request: Request, mechanism: Mechanism = "laplace", epsilon: Epsilon = None, scale: Scale = None,
    sigma: Sigma = None, psi: Psi = None, delta: Delta = None, calibration: Calibration = None,
    sensitivity: Sensitivity = None, shift: Shift = None, stretch: Stretch = None, neighbours: Neighbours = None,
    norm: Norm = None, k: K = None, truth: Truth = None, gamma: Gamma = None, scores0: Scores = None,
    scores1: Scores = None, monotonic: Monotonic = None, prior: Prior = None, fpr: Fpr = None, beta: Beta = None,
    baseline: Baseline = None, for_epsilon: ForEpsilon = None, for_delta: ForDelta = None,
) -> JSONResponse:  # fmt: skip
    """What an adversary can do with one release: every reading, its baseline and the sentence."""
    try:
        return JSONResponse(asking.explain_strictly(mechanism, _sent(request, "mechanism")).to_dict())
    except EpsilensError as error:
        return failure(error)


@router.get("/choose", responses={200: {"model": Chosen}, **_BAD})
def choose(
    request: Request,
    at_most: Annotated[float, Query(description="the limit")],
    mechanism: Mechanism = "laplace",
    reading: ReadingName = "success",
    parameter: Annotated[str | None, Query(description="what is chosen; ε or σ unless given", max_length=40)] = None,
    epsilon: Epsilon = None, scale: Scale = None, sigma: Sigma = None, psi: Psi = None, delta: Delta = None,
    calibration: Calibration = None, sensitivity: Sensitivity = None, shift: Shift = None, stretch: Stretch = None,
    neighbours: Neighbours = None, norm: Norm = None, k: K = None, truth: Truth = None, gamma: Gamma = None,
    scores0: Scores = None, scores1: Scores = None, monotonic: Monotonic = None, prior: Prior = None,
    fpr: Fpr = None, beta: Beta = None, baseline: Baseline = None, for_epsilon: ForEpsilon = None,
    for_delta: ForDelta = None,
    alpha: Annotated[float | None, Query(description="false-positive rate of recall and precision", **Share)] = None,
    recall: Annotated[float | None, Query(description="recall at which precision is read", **Share)] = None,
    order: Annotated[float | None, Query(description="order of the Rényi divergence", gt=0)] = None,
) -> JSONResponse:  # fmt: skip
    """The riskiest parameter that keeps a reading at or under a limit."""
    try:
        sent = _sent(request)
        limit, chosen = sent.pop("at_most"), sent.pop("parameter", None)
        sent.pop("mechanism", None)
        sent.pop("reading", None)
        return JSONResponse(asking.choose_strictly(mechanism, f"{reading}={limit}", sent, chosen).to_dict())
    except EpsilensError as error:
        return failure(error)


_Setting = Annotated[str | None, Query(description="a setting such as laplace:epsilon=1", max_length=200)]


@router.get("/compare", responses={200: {"model": Compared}, **_BAD})
def compare(
    request: Request,
    a: Annotated[str, Query(description="a setting such as laplace:epsilon=1,sensitivity=2", max_length=200)],
    b: _Setting = None,
    c: _Setting = None,
    d: _Setting = None,
    prior: Prior = None,
    fpr: Fpr = None,
) -> JSONResponse:
    """Two to four settings side by side, each explained."""
    try:
        sent = _sent(request)
    except EpsilensError as error:
        return failure(error)
    settings = asking.ask_compare(sent)[1]
    wrong = next((s for s in settings if s.problem is not None), None)
    if wrong is not None and wrong.problem is not None:
        return JSONResponse({"schema": SCHEMA, "error": wrong.problem.sentence, "field": wrong.problem.field}, 422)
    if not settings:
        return JSONResponse(
            {"schema": SCHEMA, "error": "A is empty: give a setting such as laplace:epsilon=1.", "field": "a"}, 422
        )
    made = [
        {"letter": s.values["letter"], "setting": s.values["text"], "explanation": s.about.to_dict()}
        for s in settings
        if s.about is not None
    ]
    return JSONResponse({"schema": SCHEMA, "settings": made})


@router.get("/tables", responses={200: {"model": Tables}, **{k: _BAD[k] for k in (400, 403, 413, 422)}})
def tables() -> JSONResponse:
    """The bundled tables with their columns, licence and origin."""
    return JSONResponse({"schema": SCHEMA, "tables": [bundled(name).to_dict() for name in names()]})


def _release_schema() -> dict[str, Any]:
    from ..plan.plan import json_schema

    return json_schema()


_BODY = {
    "required": True,
    "description": "a release in YAML, which JSON is too; its table is one of the bundled ones",
    "content": {"application/yaml": {"schema": {"type": "object", "description": "see the release's JSON Schema"}}},
}


@router.post("/assess", responses={200: {"model": Assessed}, **_BAD, **_BUSY}, openapi_extra={"requestBody": _BODY})
async def assess(request: Request) -> JSONResponse:
    """Assess a planned release on a bundled table: what each adversary could learn, and the largest ε within limits."""
    from fastapi.concurrency import run_in_threadpool

    from .assess_pages import assessed

    try:
        text = (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        return JSONResponse({"schema": SCHEMA, "error": "The body is not UTF-8 text: send YAML.", "field": None}, 422)
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
        try:
            made = await run_in_threadpool(assessed, request.app, text, Path(folder))
        except EpsilensError as error:
            return failure(error)
    return JSONResponse(made["data"])
