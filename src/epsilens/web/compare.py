"""Settings side by side: from an address or a form to the results, each with the fields Explain has for it.

An address says a setting in one word, ``a=laplace:epsilon=1,sensitivity=2``; a form has an entry for each field of it,
``a_mechanism``, ``a_epsilon``. Both become the same :class:`Setting`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from ..calibration.sweep import compare as side_by_side
from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import PARAMETERS
from ..catalogue.parsing import EXPLANATION_OPTIONS, find_mechanism
from ..errors import EpsilensError, InputError
from ..numerics.formatting import frequencies
from ..overview import LETTERED, roc_curves
from ..show import charts
from ..show.charts import icons
from ..show.charts.chart import Chart
from .limits import check_texts
from .pages import (
    KINDS,
    attachment,
    canonical_redirect,
    comparison_csv,
    kind_of,
    no_file,
    oob_targets,
    picture,
    query_of,
    render,
    result_file,
)
from .view_state import (
    Field,
    FieldProblem,
    ViewState,
    check_of_100,
    explain_query,
    field_of,
    fill_state,
    form_entries,
    mechanism_fields,
    option_texts,
    problem_of,
    way_labels,
    way_of,
)

if TYPE_CHECKING:
    from ..show.explanation import Explanation


LETTERS = "abcd"
#: What Compare starts with: the same ε, and another noise.
EXAMPLE = {"a": "laplace:epsilon=1", "b": "gaussian:epsilon=1,delta=0.000001"}


@dataclass
class SettingForm:
    """One setting: its letter, what was entered, what came of it. ``more`` are options that have no field."""

    letter: str
    asked: ViewState
    text: str = ""
    more: dict[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> FieldProblem | None:
        """What is wrong, by the name its field has here."""
        wrong = self.asked.problem
        return None if wrong is None else replace(wrong, field=f"{self.letter}_{wrong.field}")

    @property
    def rest(self) -> str:
        return ",".join(f"{k}={v}" for k, v in self.more.items())

    @property
    def spoken(self) -> str:
        """The setting in one word, as an address has it; what is wrong stays as it was typed."""
        if self.asked.about is None and self.text:
            return self.text
        options = ",".join(f"{k}={v}" for k, v in option_texts(self.asked.options).items())
        return f"{self.asked.mechanism.replace('_', '-')}:{options}"

    def fields(self) -> tuple[list[Field], list[Field]]:
        """Explain's fields under names of this setting: the noise's own, and the others."""
        noise, usual, rare = mechanism_fields(MECHANISMS[self.asked.mechanism], self.asked.way)
        others = [f for f in (*usual, *rare) if f.name not in EXPLANATION_OPTIONS]
        first, then = ([replace(f, name=f"{self.letter}_{f.name}") for f in some] for some in (noise, others))
        return first, then

    @property
    def entries(self) -> list[str]:
        return [f"{self.letter}_mechanism", *(f.name for some in self.fields() for f in some)]

    def ways(self) -> list[tuple[str, str]]:
        return way_labels(MECHANISMS[self.asked.mechanism])

    def value(self, name: str) -> str:
        return self.asked.values.get(name.removeprefix(f"{self.letter}_"), "")


@dataclass
class SettingComparison:
    """Settings by letter, and what they share; ``problem`` is about the latter."""

    settings: list[SettingForm]
    shared: dict[str, str]
    problem: FieldProblem | None = None

    @property
    def explained(self) -> list[tuple[SettingForm, Explanation]]:
        """The settings that came to a result, each with it."""
        return [(s, s.asked.about) for s in self.settings if s.asked.about is not None]

    @property
    def complete(self) -> bool:
        return self.problem is None and bool(self.settings) and len(self.explained) == len(self.settings)

    @property
    def good(self) -> list[SettingForm]:
        return [s for s, _ in self.explained]

    @property
    def query(self) -> str:
        return urlencode({s.letter: s.spoken for s in self.settings} | self.unusual, safe=":,")

    @property
    def unusual(self) -> dict[str, str]:
        return {k: v for k, v in self.shared.items() if v != field_of(PARAMETERS[k]).default}


def compare_settings(given: Mapping[str, str]) -> SettingComparison:
    """The comparison of a query: never raises, an error stands by its field.

    ``add`` gives one more setting, which starts as the last one; ``drop`` takes one away.
    """
    shared = {"prior": "0.5", "fpr": "0.1"}
    try:
        shared |= form_entries({k: v for k, v in given.items() if k.removesuffix("_of_100") in shared})
    except EpsilensError as error:
        return SettingComparison([], shared, problem_of(error))
    made = SettingComparison([], shared)
    try:
        check_of_100(made.unusual)
    except EpsilensError as error:
        made.problem = problem_of(error)
    for letter in LETTERS:
        setting = _setting(letter, given)
        if setting is not None and given.get("drop") != letter:
            made.settings.append(setting)
    made.settings = [replace(s, letter=letter) for letter, s in zip(LETTERS, made.settings, strict=False)]
    if "add" in given and made.settings and len(made.settings) < len(LETTERS):
        last = made.settings[-1]
        copy = replace(last.asked, values=dict(last.asked.values), options=dict(last.asked.options))
        made.settings.append(SettingForm(LETTERS[len(made.settings)], copy, last.text, dict(last.more)))
    for setting in made.settings:
        _evaluate(setting, made)
    return made


def _setting(letter: str, given: Mapping[str, str]) -> SettingForm | None:
    """What was entered for a letter, nothing read yet; what is wrong with it stands in ``problem``."""
    text = (given.get(letter) or "").strip()
    if f"{letter}_mechanism" in given:
        return _from_form(letter, given) if given[f"{letter}_mechanism"] else None
    return _from_text(letter, text) if text else None


def _from_form(letter: str, given: Mapping[str, str]) -> SettingForm:
    mine = {k.removeprefix(f"{letter}_"): v for k, v in given.items() if k.startswith(f"{letter}_")}
    made = SettingForm(letter, ViewState("/compare"))
    try:
        check_texts({"setting": mine.get("more", "")})
        made.more = _pairs(mine.pop("more", ""))
        fill_state(made.asked, mine, without=EXPLANATION_OPTIONS)
        known = set(MECHANISMS[made.asked.mechanism].takes)
        made.asked.options |= {k: v for k, v in made.more.items() if k in known}
    except EpsilensError as error:
        made.asked.problem = _setting_problem(error, made)
    return made


def _from_text(letter: str, text: str) -> SettingForm:
    made = SettingForm(letter, ViewState("/compare"), text)
    name, _, rest = text.partition(":")
    try:
        check_texts({"setting": text})
        entry = find_mechanism(name)
        asked = made.asked
        asked.mechanism = entry.key
        asked.options = dict(_pairs(rest))
        asked.way = way_of(entry, asked.options)
        names = {f.name.removeprefix(f"{letter}_"): f for some in made.fields() for f in some}
        asked.values = {n: str(asked.options.get(n, f.default)) for n, f in names.items()}
        made.more = {k: v for k, v in asked.options.items() if k not in names}
    except EpsilensError as error:
        made.asked.problem = _setting_problem(error, made)
    return made


def _evaluate(setting: SettingForm, of: SettingComparison) -> None:
    asked = setting.asked
    if asked.problem is not None or of.problem is not None:
        return
    told = {k: "on" if v is True else str(v) for k, v in asked.options.items()}
    try:
        # Every setting's δ is read at the same ε, or the row could not be compared.
        asked.about = explain_query(asked.mechanism, {"for_epsilon": "1", **told, **of.unusual})
    except EpsilensError as error:
        asked.problem = _setting_problem(error, setting)


def _setting_problem(error: EpsilensError, setting: SettingForm) -> FieldProblem:
    found = problem_of(error, setting.asked)
    name = found.field if found.field in setting.asked.values else "mechanism"
    return FieldProblem(name, found.sentence, found.status)


def _pairs(text: str) -> dict[str, str]:
    """``epsilon=1,scores0=1,2,3``: a piece without an equals sign goes on with the value before it."""
    made: dict[str, str] = {}
    last = ""
    for piece in filter(str.strip, text.split(",")):
        name, equals, value = piece.partition("=")
        if equals:
            last = name.strip().lower().replace("-", "_")
            made[last] = value.strip()
        elif last:
            made[last] += f",{piece.strip()}"
        else:
            raise InputError(
                f"the setting has {piece.strip()[:40]!r}: give parameters such as epsilon=1, sensitivity=2"
            )
    return made


router = APIRouter(include_in_schema=False)


@router.get("/compare")
def compare_view(request: Request) -> Response:
    given = query_of(request)
    made = compare_settings(given or EXAMPLE)
    right = made.problem is None and len(made.explained) == len(made.settings)
    url = f"/compare?{made.query}" if made.settings else "/compare"
    away, headers = canonical_redirect(request, url, right and bool(given))
    if away:
        return away
    return render(
        "compare.html",
        200 if right else 422,
        headers,
        view="Compare",
        made=made,
        shared_fields=[field_of(PARAMETERS[name]) for name in made.shared],
        trouble=_comparison_problem(made),
        roc=_chart_html(made) if made.good else "",
        table=reading_rows([about for _, about in made.explained]) if made.good else [],
        icon=_icon,
        spoken=_options_text,
        explain_query=lambda setting: _explain_query(setting, made),
        url=url,
        more=len(made.settings) < len(LETTERS),
        oob=oob_targets(*made.shared, *(name for s in made.settings for name in s.entries)),
    )


def _comparison_problem(made: SettingComparison) -> str:
    if made.problem is not None:
        return made.problem.sentence
    if not made.settings:
        return "Nothing is left to compare."
    return "" if made.good else "One setting needs mending."


def comparison_chart(made: SettingComparison) -> Chart:
    """One ROC chart with a line, labelled by its letter, for each setting."""
    every = made.explained
    fpr, named = every[0][1].arguments["fpr"], [(s.letter, about.experiment) for s, about in every]
    return charts.compared_roc(roc_curves(named, fpr, LETTERED), fpr)


def _chart_html(made: SettingComparison) -> Markup:
    """The chart at both widths: text never shrinks."""
    chart = comparison_chart(made)
    desk, phone = (Markup(chart.svg("page", width)) for width in (chart.desk, chart.phone))
    return Markup('<div class="desk">{}</div><div class="phone">{}</div>').format(desk, phone)


def _explain_query(setting: SettingForm, of: SettingComparison) -> str:
    spoken = MECHANISMS[setting.asked.mechanism].spoken
    return urlencode({"mechanism": spoken, **option_texts(setting.asked.options), **of.unusual})


def _options_text(options: Mapping[str, object]) -> str:
    return ", ".join(f"{_option_label(k)} = {'yes' if v is True else v}" for k, v in options.items())


def _option_label(option: str) -> str:
    known = PARAMETERS.get(option)
    if known is None or known.control is None:
        return option
    return known.symbol or field_of(known).label.lower()


def _icon(about: Explanation, letter: str) -> Markup:
    row = about.row("success")
    value = 0.9999999 if row.nearly else row.value
    words = frequencies(value, given=[row.baseline])[0]
    caption = Markup('With it: <span class="number risk">{}</span> right').format(words)
    return Markup(icons.array(str(caption), row.baseline, value, key=f"person-{letter}"))


def reading_rows(every: Sequence[Explanation]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The readings of every setting, row by row; a row is left out only where no setting shows it."""
    lines = []
    for i, row in enumerate(every[0].rows):
        same = [about.rows[i] for about in every]
        if any(r.shown for r in same):
            # Each setting may have its own ε whose δ is read: the name says so only where all agree.
            name = row.name if len({r.name for r in same}) == 1 else row.name.split(" at ")[0].split(" beyond ")[0]
            lines.append((row.group, {"name": name, "cells": [r.text for r in same], "baseline": row.baseline_text}))
    return [(group, [line for _, line in some]) for group, some in groupby(lines, key=lambda line: line[0])]


@router.get("/compare.csv")
@router.get("/compare.html")
@router.get("/compare.pdf")
def compare_file(request: Request) -> Response:
    made, kind = compare_settings(query_of(request)), kind_of(request)
    if not made.complete:
        return no_file(_first_problem(made))
    every = made.explained
    first = every[0][1]
    if kind == "csv":
        text = comparison_csv([f"{s.letter.upper()}: {s.spoken}" for s, _ in every], [about for _, about in every])
        return attachment(text, "compare.csv", KINDS["csv"])
    spoken = [(MECHANISMS[s.asked.mechanism].title, _options_text(s.asked.options)) for s, _ in every]
    named = {" with ".join(filter(None, s)): about.experiment for s, (_, about) in zip(spoken, every, strict=True)}
    given = {name: first.arguments[name] for name in ("prior", "fpr")}
    return result_file(side_by_side(named, **given) if len(named) > 1 else first, "compare", kind)


@router.get("/compare/roc.{kind}")
def compare_chart(request: Request, kind: str) -> Response:
    made = compare_settings(query_of(request))
    return picture(comparison_chart(made), "compare-roc", kind) if made.complete else no_file(_first_problem(made))


def _first_problem(made: SettingComparison) -> FieldProblem:
    found = [made.problem, *(s.problem for s in made.settings)]
    return next((p for p in found if p is not None), FieldProblem("", "There is nothing to compare: give a setting."))
