"""The JSON API: the same functions as the command line, with an OpenAPI definition.

Parameters come from the catalogue, declared as the numbers they are, for readers and tools; the text that was sent is
what is passed on, so that the answer, its command included, is the command line's.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ..catalogue.mechanisms import MECHANISMS, every_option
from ..catalogue.parameters import PARAMETERS, Input, Parameter
from ..catalogue.parsing import EXPLANATION_OPTIONS, reading_options
from ..catalogue.readings import READINGS
from ..data.tables.sources import bundled_dataset, names
from ..errors import EpsilensError, InputError
from ..plan.model import Release
from ..shares import parse_share
from . import compare as comparing
from . import view_state
from .assess import SharesRequest, shares_answer
from .form import plan_problem
from .limits import MOST_LIST, MOST_TEXT, RequestError
from .pages import render
from .pool import assess_answer

SCHEMA = 1


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())
    version: int = Field(SCHEMA, alias="schema", description="version of this shape")


class ErrorAnswer(_Answer):
    """Why there is no answer."""

    error: str = Field(description="a sentence")
    parameter: str | None = Field(None, alias="field", description="the parameter it speaks of")
    floor: float | None = Field(None, description="the least the reading can be, where no parameter meets the limit")


class ExplainAnswer(_Answer):
    """A mechanism explained."""

    sentence: str
    experiment: dict[str, Any]
    arguments: dict[str, float]
    readings: dict[str, float | None] = Field(description="null where the reading is unbounded")
    baselines: dict[str, float | None] = Field(description="the same without the release")
    unbounded: list[str]
    command: str


class ChooseAnswer(ExplainAnswer):
    """A parameter chosen by a limit."""

    choice: dict[str, Any]


class ComparedSetting(BaseModel):
    """One of the settings compared."""

    letter: str
    setting: str
    explanation: ExplainAnswer


class CompareAnswer(_Answer):
    """Settings side by side."""

    settings: list[ComparedSetting]


class TableEntry(BaseModel):
    """A bundled table."""

    model_config = ConfigDict(extra="allow")
    name: str
    title: str
    rows: int
    people: int
    columns: dict[str, str]


class TablesAnswer(_Answer):
    """The bundled tables."""

    tables: list[TableEntry]


class AssessAnswer(_Answer):
    """An assessment: every number of the report."""


class SharesDivision(BaseModel):
    """One way to share ε."""

    shares: list[float]
    errors: list[float | None] = Field(
        description="of each query, in the least accurate group, as a share of the answer; null where every answer is 0"
    )


class SharesAnswer(_Answer):
    """Other shares of ε, with their errors and risks."""

    epsilon: float
    queries: list[str]
    shares: list[float]
    errors: list[float | None]
    risks: list[dict[str, Any]] = Field(description="each adversary: planned with these shares, and as assessed")
    equal: SharesDivision
    least_error: SharesDivision
    looks_at_data: bool = Field(description="whether the least error was found by looking at the data")


def _errors(**sentences: str) -> dict[int | str, dict[str, Any]]:
    return {int(code[1:]): {"model": ErrorAnswer, "description": words} for code, words in sentences.items()}


_BAD = _errors(
    _422="something is wrong, or no parameter meets the limit; a sentence says what",
    _403="sent from another site",
    _400="not for this host",
    _413="too large",
)
_BUSY = _errors(_503="too busy, or took too long")
_LATE = _BUSY | _errors(_504="took longer than the server allows")

# -- parameters, from the catalogue -------------------------------------------------------------------------------


def _whole(sent: Any) -> Any:
    """1e3 is a whole number too."""
    try:
        return int(float(sent)) if float(sent).is_integer() else sent
    except (TypeError, ValueError, OverflowError):
        return sent


def _share(sent: object) -> Any:
    """55% and 55 of 100 are shares too."""
    found = parse_share(sent) if isinstance(sent, str) else None
    return sent if found is None else found


def _annotation(p: Parameter) -> Any:
    words = p.explained()
    words = words if words[1:2].isupper() else words[:1].lower() + words[1:]
    limits: dict[str, Any] = {"description": words + (f"; {p.shown} unless given" if p.shown else "")}
    if p.allowed is not None:
        low, high = p.allowed.low, p.allowed.high
        limits |= {} if math.isinf(low) else {"gt" if p.allowed.above else "ge": low}
        limits |= {} if math.isinf(high) else {"le": high}
    if p.kind is Input.WORD and p.choices:
        return Annotated[Literal[tuple(p.choices)] | None, Query(**limits)]
    if p.kind in (Input.NUMBERS, Input.ONE_OR_MORE):
        limits["description"] += ", separated by commas"
        return Annotated[str | None, Query(**limits, max_length=MOST_LIST)]
    if p.kind is Input.TEXT:
        return Annotated[str | None, Query(**limits, max_length=MOST_TEXT)]
    if p.kind is Input.PROBABILITY:
        return Annotated[float | None, BeforeValidator(_share), Query(**limits)]
    if p.kind is Input.WHOLE:
        return Annotated[int | None, BeforeValidator(_whole), Query(**limits)]
    return Annotated[bool | None if p.kind is Input.FLAG else float | None, Query(**limits)]


def _name_parameter(name: str, words: str, default: str, known: Iterable[str]) -> inspect.Parameter:
    """Names listed for readers and tools; a wrong one gets the library's own sentence, which names the right ones."""
    annotation = Annotated[str, Query(description=words, json_schema_extra={"enum": list(known)})]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_parameters(
    endpoint: Callable[..., JSONResponse], names: Iterable[str], *listed: inspect.Parameter
) -> Callable[..., JSONResponse]:
    """The endpoint with the catalogue's parameters in its signature, where it says ``**more``."""

    def taking(**sent: object) -> JSONResponse:
        return endpoint(**sent)

    only = inspect.Parameter.KEYWORD_ONLY
    written = inspect.signature(endpoint, eval_str=True).parameters.values()
    known = {other.name for other in listed}
    keywords = [p.replace(kind=only) for p in written if p.kind is not p.VAR_KEYWORD and p.name not in known]
    more = [inspect.Parameter(name, only, default=None, annotation=_annotation(PARAMETERS[name])) for name in names]
    taking.__signature__ = inspect.Signature([*keywords, *listed, *more])  # type: ignore[attr-defined]
    taking.__name__, taking.__doc__ = endpoint.__name__, endpoint.__doc__
    return taking


def _refusal(sentence: str, field: str | None, status: int = 422, **more: object) -> JSONResponse:
    return JSONResponse({"schema": SCHEMA, "error": sentence, "field": field or None, **more}, status)


def error_answer(error: EpsilensError) -> JSONResponse:
    problem = view_state.problem_of(error)
    if problem.floor is None:
        return _refusal(problem.sentence, problem.field)
    # JSON has no infinity
    return _refusal(problem.sentence, problem.field, floor=problem.floor if math.isfinite(problem.floor) else None)


def _plan_error(error: EpsilensError) -> JSONResponse:
    """Why a release was not assessed; the field is the place in the release, such as ``queries.1.groups``."""
    about = error.parameter if isinstance(error, InputError | RequestError) else ""
    problem = plan_problem(error)
    return _refusal(problem.sentence, about, problem.status)


def _query_texts(request: Request, *without: str) -> dict[str, str]:
    """What was sent, as text; a parameter given twice is refused, because only one of them could be meant."""
    pairs = [(k, v) for k, v in request.query_params.multi_items() if k not in without]
    if len({k for k, _ in pairs}) != len(pairs):
        twice = next(k for i, (k, _) in enumerate(pairs) if k in dict(pairs[:i]))
        raise InputError(f"{twice[:40]} is given twice: give it once", twice)
    return dict(pairs)


def explain(request: Request, mechanism: str, **more: object) -> JSONResponse:
    """What an adversary can do with one release: every reading, its baseline and the sentence."""
    try:
        return JSONResponse(view_state.explain_query(mechanism, _query_texts(request, "mechanism")).to_dict())
    except EpsilensError as error:
        return error_answer(error)


def choose(
    request: Request,
    mechanism: str,
    reading: str,
    at_most: Annotated[float, BeforeValidator(_share), Query(description="the limit")],
    parameter: Annotated[str | None, Query(description="what is chosen; ε or σ unless given", max_length=40)] = None,
    **more: object,
) -> JSONResponse:
    """The riskiest parameter that keeps a reading at or under a limit."""
    try:
        sent = _query_texts(request)
        limit, chosen = sent.pop("at_most"), sent.pop("parameter", None)
        sent.pop("mechanism", None)
        sent.pop("reading", None)
        return JSONResponse(view_state.choose_query(mechanism, f"{reading}={limit}", sent, chosen).to_dict())
    except EpsilensError as error:
        return error_answer(error)


_Setting = Annotated[str | None, Query(description="a setting such as laplace:epsilon=1", max_length=200)]


def compare(
    request: Request,
    a: Annotated[str, Query(description="a setting such as laplace:epsilon=1,sensitivity=2", max_length=200)],
    b: _Setting = None,
    c: _Setting = None,
    d: _Setting = None,
    **more: object,
) -> JSONResponse:
    """Two to four settings side by side, each explained."""
    try:
        sent = _query_texts(request)
    except EpsilensError as error:
        return error_answer(error)
    made = comparing.compare_settings(sent)
    problems = [(None, made.problem), *((s.letter, s.asked.problem) for s in made.settings)]
    for letter, wrong in problems:
        if wrong is not None:
            return JSONResponse({"schema": SCHEMA, "error": wrong.sentence, "field": letter or wrong.field}, 422)
    if not made.settings:
        return _refusal("A is empty: give a setting such as laplace:epsilon=1.", "a")
    told = [{"letter": s.letter, "setting": s.text, "explanation": about.to_dict()} for s, about in made.explained]
    return JSONResponse({"schema": SCHEMA, "settings": told})


def tables() -> JSONResponse:
    """The bundled tables with their columns, licence and origin."""
    return JSONResponse({"schema": SCHEMA, "tables": [bundled_dataset(name).to_dict() for name in names()]})


_RELEASE = {"schema": {"$ref": "#/components/schemas/Release"}}
_WITH_FILE = {
    "type": "object",
    "required": ["release", "file"],
    "properties": {
        "release": {"type": "string", "description": "a release in YAML; its table is 'upload'"},
        "file": {"type": "string", "format": "binary", "description": "a CSV or Parquet file, forgotten at the end"},
    },
}
_BODY = {
    "required": True,
    "description": "a release on a bundled table, in YAML or JSON, or a release with the file it is about",
    "content": {
        "application/json": _RELEASE,
        "application/yaml": _RELEASE,
        "multipart/form-data": {"schema": _WITH_FILE},
    },
}


async def assess(request: Request) -> JSONResponse:
    """Assess a planned release: what each adversary could learn, and the largest ε within limits."""
    uploads, upload = request.app.state.uploads, None
    try:
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            upload = await uploads.receive(request)
            text = dict(request.state.fields).get("release", "")
        else:
            text = (await request.body()).decode("utf-8")
        return JSONResponse((await assess_answer(request, text, upload))["data"])
    except UnicodeDecodeError:
        return _refusal("The body is not UTF-8 text: send YAML.", None)
    except EpsilensError as error:
        return _plan_error(error)
    finally:
        if upload is not None:
            await run_in_threadpool(uploads.drop, upload.token, upload.visitor)


async def shares(request: Request, sent: SharesRequest) -> JSONResponse:
    """Share ε differently among the queries of a release on a bundled table: the risks and errors that follow."""
    try:
        return JSONResponse(await shares_answer(request, sent))
    except EpsilensError as error:
        return _plan_error(error)


def make_router() -> APIRouter:
    """The API, with the parameters of whatever the catalogue holds now."""
    router = APIRouter(prefix="/api", tags=["api"])
    mechanism = _name_parameter("mechanism", "the mechanism", "laplace", (m.spoken for m in MECHANISMS.values()))
    reading = _name_parameter("reading", "what is limited", "success", READINGS)
    taken = [name for name in PARAMETERS if name in every_option()]
    readers: dict[str, tuple[type[BaseModel], Callable[..., JSONResponse]]] = {
        "/explain": (ExplainAnswer, _with_parameters(explain, (*taken, *EXPLANATION_OPTIONS), mechanism)),
        "/choose": (ChooseAnswer, _with_parameters(choose, (*taken, *reading_options()), mechanism, reading)),
        "/compare": (CompareAnswer, _with_parameters(compare, ("prior", "fpr"))),
    }
    for path, (answer, endpoint) in readers.items():
        router.get(path, responses={200: {"model": answer}, **_BAD, **_LATE})(endpoint)
    router.get("/tables", responses={200: {"model": TablesAnswer}, **_BAD})(tables)
    about = "a release, and a number for each query: ε is shared in this proportion"
    answers = {200: {"model": AssessAnswer}, **_BAD, **_BUSY}
    router.post("/assess", responses=answers, openapi_extra={"requestBody": _BODY})(assess)
    answers = {200: {"model": SharesAnswer}, **_BAD, **_BUSY}
    router.post("/assess/shares", responses=answers, openapi_extra={"requestBody": {"description": about}})(shares)
    return router


def add_release_schema(app: FastAPI) -> None:
    """Let the OpenAPI definition say what a release is, once somebody asks for it."""
    without = app.openapi

    def openapi() -> dict[str, Any]:
        made = without()
        known = made["components"]["schemas"]
        if "Release" not in known:
            shape = Release.model_json_schema(ref_template="#/components/schemas/{model}")
            known |= {**shape.pop("$defs"), "Release": shape}
        return made

    app.openapi = openapi  # type: ignore[method-assign]


#: The documentation as a page of ours, rendered from the OpenAPI definition: no scripts, nothing fetched.
docs_router = APIRouter(include_in_schema=False)

_EXAMPLES = {
    "/api/explain": "/api/explain?mechanism=laplace&epsilon=1",
    "/api/choose": "/api/choose?mechanism=laplace&reading=success&at_most=0.55",
    "/api/compare": "/api/compare?a=laplace:epsilon=1&b=gaussian:psi=1",
    "/api/tables": "/api/tables",
}


@docs_router.get("/api")
def docs(request: Request) -> Response:
    schema = request.app.openapi()
    operations = [
        (path, method, _operation(path, what))
        for path, methods in schema["paths"].items()
        for method, what in methods.items()
    ]
    return render("api.html", view="Help", schema=schema, operations=operations)


def _operation(path: str, what: dict[str, Any]) -> dict[str, Any]:
    body = what.get("requestBody")
    return {
        "description": what.get("description", ""),
        "summary": what.get("summary", ""),
        "example": _EXAMPLES.get(path, ""),
        "parameters": [
            {"required": False, "description": "", **p, "kind": _kind(p["schema"])} for p in what.get("parameters", ())
        ],
        "body": f"{', '.join(body['content'])}, {body['description']}" if body else "",
        "answers": [(code, answer["description"].lower()) for code, answer in sorted(what["responses"].items())],
    }


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "anyOf" in schema:
        schema = next((s for s in schema["anyOf"] if s.get("type") != "null"), {})
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    words = str(schema.get("type", "text")).replace("string", "text").replace("boolean", "yes or no")
    for key, sign in (("exclusiveMinimum", "above"), ("minimum", "from"), ("maximum", "to")):
        if key in schema:
            words += f" {sign} {schema[key]:g}"
    return words
