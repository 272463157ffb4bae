"""What is shown, as files to keep: readings as CSV, curves as SVG, PNG and PDF."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ..calibration.comparison import compare as side_by_side
from ..errors import EpsilensError, InputError
from ..show import charts
from ..show.charts.chart import Chart
from ..show.claims import curves
from . import view_state
from .claims import claim_state
from .compare import SettingComparison, compare_settings, comparison_chart, setting_name
from .pages import PICTURES, attachment, comparison_csv, explanation_csv, file_of, no_file, query_of
from .view_state import FieldProblem, ViewState, problem_of

router = APIRouter(include_in_schema=False)

_ASK = {"explain": view_state.explain_state, "choose": view_state.choose_state}
_CSV = "text/csv; charset=utf-8"


@router.get("/explain.csv")
@router.get("/choose.csv")
def readings_csv(request: Request) -> Response:
    """Every reading of the view, a row each."""
    asked, view = _state_of(request)
    if asked.about is None:
        return no_file(asked.problem)
    return attachment(explanation_csv(asked.about), f"{view}-{asked.mechanism}.csv", _CSV)


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
        return _unknown_file(name)
    return picture(draw(asked.about.experiment, prior, fpr), f"{name}-{asked.mechanism}", kind)


@router.get("/claim/roc.{kind}")
def claim_chart(request: Request, kind: str) -> Response:
    """The curves of a claim, by what is known of the noise."""
    about = (asked := claim_state(query_of(request))).about
    if about is None:
        return no_file(asked.problem)
    return picture(curves(about.cases, about.arguments["fpr"]), "claim-roc", kind)


@router.get("/compare.csv")
def compare_csv(request: Request) -> Response:
    """Every reading, a column for each setting."""
    made = compare_settings(query_of(request))
    if not _is_complete(made):
        return no_file(_first_problem(made))
    every = [s.asked.about for s in made.good if s.asked.about is not None]
    letters, settings = [s.letter for s in made.good], [s.spoken for s in made.good]
    return attachment(comparison_csv(letters, settings, every), "compare.csv", _CSV)


@router.get("/compare.html")
@router.get("/compare.pdf")
def compare_report(request: Request) -> Response:
    """Every setting side by side, as a page to keep or on paper."""
    made = compare_settings(query_of(request))
    if not _is_complete(made):
        return no_file(_first_problem(made))
    every = {setting_name(s): s.asked.about for s in made.good if s.asked.about is not None}
    first = next(iter(every.values()))
    given = {name: first.arguments[name] for name in ("prior", "fpr")}
    named = {name: about.experiment for name, about in every.items()}
    shown = side_by_side(named, **given) if len(named) > 1 else first
    if request.url.path.endswith(".html"):
        return attachment(shown.to_html(), "compare.html", "text/html")
    return file_of(shown.to_pdf(), "compare.pdf", PICTURES["pdf"])


@router.get("/compare/roc.{kind}")
def compare_chart(request: Request, kind: str) -> Response:
    """The curves of every setting."""
    made = compare_settings(query_of(request))
    return (
        picture(comparison_chart(made.good), "compare-roc", kind)
        if _is_complete(made)
        else no_file(_first_problem(made))
    )


def _state_of(request: Request) -> tuple[ViewState, str]:
    view = request.url.path.strip("/").split("/")[0].removesuffix(".csv")
    return _ASK[view](query_of(request)), view


def _is_complete(made: SettingComparison) -> bool:
    return made.problem is None and bool(made.good) and len(made.good) == len(made.settings)


def _first_problem(made: SettingComparison) -> FieldProblem:
    found = [made.problem, *(s.problem for s in made.settings)]
    return next((p for p in found if p is not None), FieldProblem("", "There is nothing to compare: give a setting."))


def picture(chart: Chart, name: str, kind: str) -> Response:
    """A chart as a file of a kind."""
    draw = {"svg": lambda: chart.svg("light").encode(), "png": chart.png, "pdf": chart.pdf}.get(kind)
    if draw is None:
        return _unknown_file(f"{name}.{kind}")
    try:
        return file_of(draw(), f"{name}.{kind}", PICTURES[kind])
    except EpsilensError as error:
        return no_file(problem_of(error))


def _unknown_file(name: str) -> Response:
    return no_file(
        problem_of(InputError(f"there is no file {name[:40]!r} of this view: give one that is linked there"))
    )
