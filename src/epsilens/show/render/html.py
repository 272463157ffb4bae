"""Any document as a self-contained page, as sections for another page, and as a fragment for notebooks.

The markup is in ``templates/``, which escape by themselves; here is only what they ask for.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ... import __version__
from ..charts import icons
from ..charts.chart import meta
from ..charts.renderers import colours
from ..document import Block, Document, Figure, Forms, IconArray, Kind, Lead, Said, Section, Table
from .text import grid, stated

ASSETS = Path(str(files("epsilens.show").joinpath("assets")))
_TEMPLATES = Path(str(files("epsilens.show").joinpath("templates")))
#: Where the limit stands in every bar, in per cent of its width; the bar has room for 1/0.42 of the limit.
_LIMIT_AT = 42.0
# Unicode ranges of the two subsets, as published with the fonts.
_RANGES = {
    "latin": "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC,U+2122,U+2212,U+2215",
    "greek": "U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF",
}
_FAMILIES = {"Source Serif 4": "source-serif-4", "Source Sans 3": "source-sans-3"}
_NB = "\N{NO-BREAK SPACE}"
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def page(document: Document, parts: Sequence[Markup] | None = None) -> str:
    """The whole document as one file that fetches nothing; ``parts`` are its sections where they are made already."""
    tab = document.tab or f"{document.headline or document.title} · epsilens"
    shown = sections(document) if parts is None else parts
    template = _environment().get_template("page.html")
    given = {"version": __version__, "fonts": _fonts(), "css": style(), "policy": Markup(meta())}
    return template.render(document=document, sections=shown, tab=tab, **given)


def sections(document: Document) -> list[Markup]:
    """The opening and the sections, for a page that has a head of its own."""
    shown = [s for s in document.sections if Forms.PAGE in s.forms]
    first = [_macro("opening", document)] if document.opening or document.headline else []
    return [made for made in (*first, *map(section, shown)) if made]


def section(one: Section) -> Markup:
    """One section."""
    return _macro("section", one)


def blocks(some: Sequence[Block]) -> Markup:
    """Blocks without a section around them."""
    return _macro("blocks", some)


def said(spans: Said) -> Markup:
    """A sentence with its emphasis."""
    return _macro("spans", spans)


def fragment(document: Document) -> str:
    """The sentence, the pictures, the tables and the remarks for a notebook, in its own colours and under one class."""
    return _environment().get_template("fragment.html").render(d=document)


@cache
def style() -> Markup:
    """The stylesheet, fonts not included."""
    return Markup(
        "".join((ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "assessment.css", "sheet.css"))
    )


def held(text: str) -> str:
    """A line may break anywhere but inside a frequency or after an equals sign.

    >>> held("at most 55 times of 100 (ε = 0.4)").replace("\N{NO-BREAK SPACE}", "_")
    'at most 55_times_of_100 (ε_=_0.4)'
    """
    return re.sub(r"(?<=\d)( times?)? (of|in) (?=\d)|(?<=[εδψρσμ]) = (?=\d)", lambda m: m[0].replace(" ", _NB), text)


@cache
def _environment() -> Environment:
    made = Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined)
    made.trim_blocks = made.lstrip_blocks = made.keep_trailing_newline = True
    made.filters["subscripts"] = subscripts
    made.filters["held"] = held
    made.globals |= {
        "name_of": lambda block: type(block).__name__,
        "PAGE": Forms.PAGE,
        "NOTEBOOK": Forms.NOTEBOOK,
        "BAR": Kind.BAR,
        "SYMBOL": Kind.SYMBOL,
        "limit_at": _LIMIT_AT,
        "look_of": _look,
        "capitalised": _capitalised,
        "drawings": _drawings,
        "drawing": _drawing,
        "figures": _figures,
        "theme": _theme,
        "people": _people,
        "stated": stated,
        "grid": grid,
    }
    return made


@cache
def _macros() -> Any:
    return _environment().get_template("blocks.html").module


def _macro(name: str, *given: object) -> Markup:
    return Markup(getattr(_macros(), name)(*given))


@cache
def _fonts() -> Markup:
    faces = []
    for family, stem in _FAMILIES.items():
        for weight in (400, 600):
            for subset, covers in _RANGES.items():
                raw = (ASSETS / f"{stem}-{subset}-{weight}-normal.woff2").read_bytes()
                data = base64.b64encode(raw).decode("ascii")
                faces.append(
                    f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:normal;'
                    f"src:url(data:font/woff2;base64,{data}) format('woff2');unicode-range:{covers}}}"
                )
    return Markup("\n".join(faces))


def _look(table: Table) -> str:
    """How a table is laid out follows from what it holds."""
    if any(column.label or column.kind is Kind.BAR for column in table.columns):
        return "answers"
    if table.column(Kind.WORDS) is not None:
        return "readings"
    return "wraps" if table.columns[0].kind is Kind.TEXT else "plain"


def _capitalised(lead: Lead) -> tuple[Said, ...]:
    """Beneath a headline the lead starts a sentence of its own."""
    if not lead.continues:
        return lead.paragraphs
    (first, *spans), *rest = lead.paragraphs
    start = first._replace(text=first.text[:1].upper() + first.text[1:])
    return ((start, *spans), *rest)


def subscripts(text: str) -> Markup:
    """Subscripts as markup, because the embedded fonts have no subscript characters: D₂, ε_DP.

    >>> subscripts("D₂ < ε_DP")
    Markup('D<sub>2</sub> &lt; ε<sub>DP</sub>')
    """
    out = Markup("")
    for part in re.split(r"([₀-₉]+|(?<=ε)_[A-Z]+)", text):
        lowered = bool(re.fullmatch(r"[₀-₉]+|_[A-Z]+", part))
        shown = part.translate(_SUBSCRIPTS).removeprefix("_") if lowered else part
        out += Markup("<sub>{}</sub>").format(shown) if lowered else shown
    return out


def _drawings(figure: Figure) -> list[Markup]:
    """The chart at each of its widths; nothing where there is nothing to draw."""
    chart = figure.chart()
    if chart is None:
        return []
    return [Markup(chart.svg("page", width)) for width in dict.fromkeys((chart.desk, chart.phone))]


def _drawing(figure: Figure) -> Markup:
    """The chart in the colours of a notebook, which shrinks where its cell is narrow."""
    chart = figure.chart()
    return Markup("") if chart is None else Markup(chart.svg("fragment"))


def _figures(array: IconArray) -> Markup:
    return Markup(icons.icons(array.baseline, array.value, array.limit, key=f"epsilens-{array.key}"))


#: What a notebook's cell needs beside its colours; all of it within one class, so that nothing else changes.
_CELL = (
    ".epsilens-row{display:flex;flex-wrap:wrap;gap:8px 32px;margin:8px 0}.epsilens-row>div{max-width:100%}"
    ".epsilens svg{max-width:100%;height:auto}.epsilens .people{width:350px}.epsilens .people text{font-size:15px}"
    ".epsilens .people .note{fill:var(--epsilens-secondary)}"
    ".epsilens .people .risk{fill:var(--epsilens-risk);font-weight:600}"
    ".epsilens .people .base{fill:var(--epsilens-baseline);stroke:var(--epsilens-baseline)}"
    ".epsilens .people .added{fill:var(--epsilens-risk);stroke:var(--epsilens-risk)}"
    ".epsilens .people .rest{fill:none;stroke:var(--epsilens-axis)}"
    ".epsilens .people path.limit{fill:none;stroke:var(--epsilens-ink);stroke-width:2;stroke-dasharray:4 3}"
    ".epsilens .people text.limit{fill:var(--epsilens-ink);font-weight:600}.epsilens .people use{stroke-width:1.1}"
)


@cache
def _theme() -> Markup:
    return Markup(colours("epsilens") + _CELL)


def _people(array: IconArray) -> Markup:
    return Markup(icons.icons(array.baseline, array.value, array.limit, key=array.key))
