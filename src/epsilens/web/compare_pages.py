"""The Compare view: two to four settings side by side, each with the fields that Explain has for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import PARAMETERS
from ..numerics.counted import frequencies
from ..show import charts
from ..show.charts import icons
from ..show.charts.chart import Chart
from .comparing import EXAMPLE, LETTERS, Comparison, Setting, compare
from .fields import field_of
from .pages import plain_or_here, query_of, render, slots

if TYPE_CHECKING:
    from ..show.explanation import Explanation


router = APIRouter(include_in_schema=False)


@router.get("/compare")
def compare_view(request: Request) -> Response:
    """Compare; it starts with an example."""
    given = query_of(request)
    made = compare(given or EXAMPLE)
    right = made.problem is None and len(made.good) == len(made.settings)
    url = f"/compare?{made.query}" if made.settings else "/compare"
    away, headers = plain_or_here(request, url, right and bool(given))
    if away:
        return away
    return render(
        "compare.html",
        200 if right else 422,
        headers,
        view="Compare",
        made=made,
        shared_fields=[field_of(PARAMETERS[name]) for name in made.shared],
        trouble=_trouble(made),
        roc=_drawn(made.good) if made.good else "",
        table=table_of(made.good) if made.good else [],
        icon=_icon,
        spoken=_spoken,
        explain_query=lambda setting: _explain_query(setting, made),
        url=url,
        more=len(made.settings) < len(LETTERS),
        oob=slots(*made.shared, *(name for s in made.settings for name in _names(s))),
    )


def _names(setting: Setting) -> list[str]:
    return [f"{setting.letter}_mechanism", *(f.name for some in setting.fields() for f in some)]


def _trouble(made: Comparison) -> str:
    if made.problem is not None:
        return made.problem.sentence
    if not made.settings:
        return "Nothing is left to compare."
    return "" if made.good else "One setting needs mending."


def chart_of(good: Sequence[Setting]) -> Chart:
    """One ROC chart with a line, labelled by its letter, for each setting."""
    settings = [(s.letter, s.asked.about) for s in good if s.asked.about is not None]
    fpr = settings[0][1].arguments["fpr"]
    return charts.compared_roc([(letter, about.experiment) for letter, about in settings], fpr)


def _drawn(good: Sequence[Setting]) -> Markup:
    """The chart at both widths: text never shrinks."""
    chart = chart_of(good)
    desk, phone = (Markup(chart.svg("page", width)) for width in (chart.desk, chart.phone))
    return Markup('<div class="desk">{}</div><div class="phone">{}</div>').format(desk, phone)


def _explain_query(setting: Setting, of: Comparison) -> str:
    """The query of the Explain view of one setting."""
    spoken = MECHANISMS[setting.asked.mechanism].spoken
    told = {k: "on" if v is True else v for k, v in setting.asked.options.items()}
    return urlencode({"mechanism": spoken, **told, **of.unusual})


def name_of(setting: Setting) -> str:
    """A setting as a person calls it: Laplace noise with ε = 1."""
    return " with ".join(filter(None, (MECHANISMS[setting.asked.mechanism].title, _spoken(setting.asked.options))))


def _spoken(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{_named(k)} = {'yes' if v is True else v}" for k, v in options.items())


def _named(option: str) -> str:
    """An option's symbol, or the page's label for it."""
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


def table_of(good: Sequence[Setting]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The readings of every setting, row by row; a row is left out only where no setting shows it."""
    every = [s.asked.about for s in good if s.asked.about is not None]
    lines = []
    for i, row in enumerate(every[0].rows):
        same = [about.rows[i] for about in every]
        if any(r.shown for r in same):
            # Each setting may have its own ε whose δ is read: the name says so only where all agree.
            name = row.name if len({r.name for r in same}) == 1 else row.name.split(" at ")[0].split(" beyond ")[0]
            lines.append((row.group, {"name": name, "cells": [r.text for r in same], "baseline": row.baseline_text}))
    return [(group, [line for _, line in some]) for group, some in groupby(lines, key=lambda line: line[0])]
