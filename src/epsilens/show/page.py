"""The self-contained HTML page, and the fragment for notebooks. Everything that comes from outside is escaped."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from .. import __version__
from .charts import icons, precision_recall, roc
from .readings import Row
from .sentences import Span, falls, false_alarms, question, title
from .text import groups
from .words import apart, frequencies, frequency, rounded_down, rounded_up

if TYPE_CHECKING:
    from .explain import Explanation

__all__ = ["document", "fragment", "page", "pictures", "readings_section", "said"]

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="epsilens $version">
<title>$title</title>
<style>
$fonts
$css
</style>
</head>
<body>
<header><b>epsilens</b><span>$kind</span></header>
<main>
$sections
</main>
</body>
</html>
""")

# Unicode ranges of the two subsets, as published with the fonts.
_RANGES = {
    "latin": "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC,U+2122,U+2212,U+2215",
    "greek": "U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF",
}
_FAMILIES = {"Source Serif 4": "source-serif-4", "Source Sans 3": "source-sans-3"}

_PARAMETERS = {
    "epsilon": "Privacy loss ε",
    "delta": "δ",
    "psi": "Sensitivity index ψ",
    "sigma": "Standard deviation σ",
    "scale": "Scale",
    "sensitivity": "Sensitivity",
    "shift": "Shift",
    "stretch": "Stretch",
    "gamma": "γ",
    "truth": "Truthful answers",
    "k": "Possible answers",
    "outcomes": "Outcomes",
    "monotonic": "Monotonic",
    "calibration": "Calibration",
    "neighbours": "Neighbours",
    "norm": "Norm",
}


@cache
def _fonts() -> str:
    faces = []
    for family, stem in _FAMILIES.items():
        for weight in (400, 600):
            for subset, covers in _RANGES.items():
                raw = files(__package__).joinpath("assets", f"{stem}-{subset}-{weight}-normal.woff2").read_bytes()
                data = base64.b64encode(raw).decode("ascii")
                faces.append(
                    f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:normal;'
                    f"src:url(data:font/woff2;base64,{data}) format('woff2');unicode-range:{covers}}}"
                )
    return "\n".join(faces)


@cache
def _css() -> str:
    return files(__package__).joinpath("assets", "page.css").read_text(encoding="utf-8")


def _spans(spans: tuple[Span, ...]) -> str:
    shown = {"": "{}", "strong": "<strong>{}</strong>", "risk": '<strong class="risk">{}</strong>'}
    return "".join(shown[s.role].format(html.escape(s.text)) for s in spans)


def page(about: Explanation) -> str:
    """The whole page: sentence, picture, curves, table, and how it was computed. It fetches nothing."""
    sections = [_opening(about), _curves(about), readings_section(about), _reproduce(about)]
    kind = "What to set" if about.headline else "What one release tells"
    return document(about.headline or title(about.experiment), kind, sections)


def document(name: str, kind: str, sections: Sequence[str]) -> str:
    """A self-contained page: ``name`` for its tab, ``kind`` for its header, and sections that are already HTML.

    A page without a headline of its own gets ``name`` as one that only screen readers see.
    """
    body = "\n".join(sections)
    if "<h1" not in body:
        body = f'<h1 class="unseen">{html.escape(name)}</h1>\n{body}'
    return _PAGE.substitute(
        version=__version__,
        title=html.escape(f"{name} · epsilens"),
        kind=html.escape(kind),
        fonts=_fonts(),
        css=_css(),
        sections=body,
    )


def _opening(about: Explanation) -> str:
    e = about.experiment
    facts = "".join(
        f"<dt>{html.escape(_PARAMETERS.get(key, key))}</dt><dd>{html.escape(_shown(key, value))}</dd>"
        for key, value in e.parameters.items()
    )
    side = f'<div class="side"><h2>{html.escape(title(e))}</h2><dl>{facts}</dl></div>'
    how = f'<p class="how">{html.escape(about.mechanism)}</p>' if about.mechanism else ""
    return f"<section>{side}<div>{said(about)}{how}{pictures(about)}</div></section>"


def said(about: Explanation) -> str:
    """The headline and the lead; after a headline the lead starts a sentence of its own."""
    if not about.headline:
        return f'<p class="lead">{_spans(about.lead)}</p>'
    first, *rest = about.lead
    start = first.text.removeprefix(": ")
    lead = (first._replace(text=start[:1].upper() + start[1:]), *rest)
    return f'<h1>{html.escape(about.headline)}</h1><p class="lead">{_spans(lead)}</p>'


def _shown(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return rounded_up(value, 6) if falls(key) else rounded_down(value, 6)


def pictures(about: Explanation) -> str:
    """The icon arrays: right guesses without the release and with it."""
    row, asked = about.row("success"), question(about.experiment)
    with_it, without = frequencies(*_success(row))
    before = icons.array(
        f'Without the release: <span class="number">{without}</span> right', row.baseline, key="before"
    )
    limit = about.choice.limit if about.choice and about.choice.reading_name == "success" else None
    caption = f'With it: <span class="number risk">{with_it}</span> right'
    after = icons.array(caption, row.baseline, _success(row)[0], limit, key="after")
    prior = about.arguments["prior"]
    share = "half of them" if prior == 0.5 else f"{frequency(prior)}"
    note = f"Each figure is one of 100 {asked.unit}, {share} {asked.group}. The adversary guesses for each."
    if icons.filled(row.value) == icons.filled(row.baseline):
        note += " The release adds fewer than 1 of 100." if apart(*_success(row)) else " The release changes no guess."
    return f'<div class="pair pictures">{before}{after}</div><p class="note">{html.escape(note)}</p>'


def _success(row: Row) -> tuple[float, float]:
    return (0.9999999 if row.nearly else row.value), row.baseline


def _curves(about: Explanation) -> str:
    given = about.arguments
    figures = []
    for chart in (
        roc(about.experiment, given["prior"], given["fpr"]),
        precision_recall(about.experiment, given["prior"], given["fpr"]),
    ):
        figures.append(chart.figure())
    note = "The adversary can trade false alarms for people found. Filled dot: the best guess. Hollow dot: at "
    note += f"{false_alarms(given['fpr'])}."
    return (
        f'<section><h2>How the guess can be tuned</h2><div><div class="pair">{"".join(figures)}</div>'
        f'<p class="note after">{html.escape(note)}</p></div></section>'
    )


def readings_section(about: Explanation) -> str:
    """Every reading, in its table."""
    body = []
    for group, rows in groups(about):
        body.append(f'<tr class="group"><th scope="rowgroup" colspan="5">{html.escape(group)}</th></tr>')
        body += [
            f'<tr><th scope="row">{html.escape(r.name)}</th><td class="symbol">{_symbol(r.symbol)}</td>'
            f'<td class="value">{html.escape(r.text)}</td>'
            f'<td class="without{" alone" if r.key == "fbeta" else ""}">{html.escape(r.baseline_text)}</td>'
            f'<td class="words">{html.escape(r.words)}</td></tr>'
            for r in rows
        ]
    notes = " ".join(html.escape(remark) for remark in about.remarks)
    return (
        '<section><h2>Every reading</h2><div><table class="readings"><thead><tr><th scope="col">Reading</th>'
        '<th scope="col"><span class="unseen">Symbol</span></th><th scope="col" class="value">Value</th>'
        '<th scope="col" class="without">Without</th><th scope="col" class="words">In words</th></tr></thead>'
        f'<tbody>{"".join(body)}</tbody></table><p class="note after">{notes}</p></div></section>'
    )


def _symbol(symbol: str) -> str:
    """Subscript digits as markup: the embedded fonts have no subscript characters."""
    plain = symbol.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789"))
    if plain == symbol:
        return html.escape(symbol)
    return f"{html.escape(plain[0])}<sub>{html.escape(plain[1:])}</sub>"


def _reproduce(about: Explanation) -> str:
    # Each option stays in one piece, so that a phone does not break a line between two dashes.
    words = " ".join(f"<span>{html.escape(word)}</span>" for word in about.command.split(" "))
    command = f"<pre><code>{words}</code></pre>" if about.command else ""
    worlds = f"The two worlds compared: {about.experiment.h0}; {about.experiment.h1}."
    return (
        f'<section><h2>How to reproduce</h2><div>{command}<p class="note after">{html.escape(worlds)} '
        f"epsilens {html.escape(__version__)}.</p></div></section>"
    )


# -- notebooks ----------------------------------------------------------------------------------------------------

_CELL = "padding:2px 16px 2px 0;text-align:left;vertical-align:baseline"


def fragment(about: Explanation) -> str:
    """Sentence, picture and table with inline styles, in the notebook's own colours; no scripts, charts or fonts."""
    emphasis = {"": "{}", "strong": "<b>{}</b>", "risk": "<b>{}</b>"}
    said = "".join(emphasis[s.role].format(html.escape(s.text)) for s in about.lead)
    headline = f"<b>{html.escape(about.headline)}</b>" if about.headline else ""
    how = f'<p style="max-width:42em">{html.escape(about.mechanism)}</p>' if about.mechanism else ""
    rows = []
    for group, members in groups(about):
        rows.append(f'<tr><th colspan="4" style="{_CELL};padding-top:12px">{html.escape(group)}</th></tr>')
        rows += [
            f'<tr><td style="{_CELL}">{html.escape(r.name)} {_symbol(r.symbol)}</td>'
            f'<td style="{_CELL};text-align:right"><b>{html.escape(r.text)}</b></td>'
            f'<td style="{_CELL};text-align:right">{html.escape(r.baseline_text)}</td>'
            f'<td style="{_CELL}">{html.escape(r.words)}</td></tr>'
            for r in members
        ]
    heads = "".join(
        f'<th style="{_CELL};text-align:{side}">{head}</th>'
        for head, side in (
            ("Reading", "left"),
            ("Value", "right"),
            ("Without", "right"),
            ("In words", "left"),
        )
    )
    return (
        f'<div><p style="font-size:1.25em;max-width:36em">{headline}{said}</p>{how}'
        f'<table style="border-collapse:collapse"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        f'<p style="max-width:42em">{" ".join(html.escape(r) for r in about.remarks)}</p></div>'
    )
