"""Explain and Choose: a query turned into a result and put into a template; what is shown, as files to keep; Help."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..catalogue.mechanisms import MECHANISMS, MechanismEntry
from ..catalogue.parameters import PARAMETERS, symbol
from ..catalogue.parsing import EXPLANATION_OPTIONS
from ..catalogue.readings import READINGS
from ..results import join_words
from ..shares import parse_share
from ..show import charts
from . import view_state
from .pages import (
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
from .view_state import field_of, mechanism_fields, to_of_100, ways_of

router = APIRouter(include_in_schema=False)


@router.get("/")
@router.get("/explain")
def explain_view(request: Request) -> Response:
    """Explain."""
    given = query_of(request)
    if given.get("mechanism") == "claim":
        return redirect(request, "/claim")
    asked = view_state.explain_state(given)
    away, headers = canonical_redirect(request, asked.url, asked.problem is None)
    if away:
        return away
    mechanism = MECHANISMS[asked.mechanism]
    noise, usual, rare = mechanism_fields(mechanism, asked.way)
    ways = _way_labels(mechanism)
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


def _way_labels(mechanism: MechanismEntry) -> list[tuple[str, str]]:
    return [(way, join_words([symbol(n) for n in names])) for way, names in ways_of(mechanism).items()]


@router.get("/explain.html")
@router.get("/explain.pdf")
@router.get("/explain.csv")
@router.get("/choose.html")
@router.get("/choose.pdf")
@router.get("/choose.csv")
@router.get("/choose.json")
def explain_file(request: Request) -> Response:
    """What is shown, to keep."""
    asked, view = _state_of(request)
    if asked.about is None:
        return no_file(asked.problem)
    return result_file(asked.about, f"{view}-{asked.mechanism}", kind_of(request))


@router.get("/explain/{name}.{kind}")
@router.get("/choose/{name}.{kind}")
def curve_file(request: Request, name: str, kind: str) -> Response:
    """One of the two curves."""
    asked, _ = _state_of(request)
    if asked.about is None:
        return no_file(asked.problem)
    prior, fpr = asked.about.arguments["prior"], asked.about.arguments["fpr"]
    draw = {"roc": charts.roc, "precision-recall": charts.precision_recall}.get(name)
    if draw is None:
        return unknown_file(name)
    return picture(draw(asked.about.experiment, prior, fpr), f"{name}-{asked.mechanism}", kind)


def _state_of(request: Request) -> tuple[view_state.ViewState, str]:
    view = "choose" if request.url.path.startswith("/choose") else "explain"
    states = {"explain": view_state.explain_state, "choose": view_state.choose_state}
    return states[view](query_of(request)), view


@router.get("/choose")
def choose_view(request: Request) -> Response:
    """Choose."""
    given = query_of(request)
    asked = view_state.choose_state(given)
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
        counted=view_state.of_100_limits(reading),
        at_most_unit=READINGS[reading].ceiling == 1 if reading in READINGS else True,
        arguments=arguments,
        parameters=[(n, field_of(PARAMETERS[n]).label) for n in view_state.choice_parameters(mechanism)],
        ways=[] if parameter in ways else _way_labels(mechanism),
        symbol=symbol(parameter),
        unmet=_unmet_limit(asked),
        noise=noise,
        usual=usual,
        rare=rare,
        oob=oob_targets("mechanism", "reading", "at_most", *(f.name for f in (*arguments, *noise, *usual, *rare))),
    )


def _unmet_limit(asked: view_state.ViewState) -> str:
    """That nothing keeps the limit, in the units it was entered in; empty where the floor does not say why."""
    floor, reading = asked.problem.floor if asked.problem else None, READINGS.get(asked.value("reading"))
    if floor is None or reading is None:
        return ""
    entry = asked.value("at_most")
    limit = parse_share(entry) or float(entry)  # it was read before
    if not limit < floor < reading.ceiling:
        return ""
    entered = view_state.of_100_limits(reading.name)
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
    """Help."""
    return render("help.html", view="Help")
