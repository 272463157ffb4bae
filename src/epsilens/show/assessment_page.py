"""An assessment as a self-contained page, as sections for the web page, and as a fragment for notebooks.

Order: the instruction, the picture, who could learn what, the curves, who can be isolated, how accurate the answers
are, what others used, what was assumed, how to reproduce. What comes from the release or the table is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from .. import __version__
from . import page
from .assessment_besides import related, tampering
from .assessment_numbers import FREQUENCIES, planned
from .assessment_parts import accuracy, disclosure, isolation, others, reproduce, risk_and_accuracy, who
from .assessment_queries import facts
from .assessment_text import accuracy_table, other_notes, risk_table
from .assessment_words import (
    contradiction,
    failed,
    headline,
    lead,
    leading,
    reached,
    second,
    second_name,
    share_of_people,
    status,
)
from .charts import icons
from .words import apart, frequencies

if TYPE_CHECKING:
    from ..assessment.assessment import Assessment, Risk

__all__ = ["sections", "style", "to_fragment", "to_html"]

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
<header><b>epsilens</b><span>Assessment of a planned release</span>
<span class="aside">$date · for internal use</span></header>
<main class="report">
$sections
</main>
<footer>Made with epsilens. Every number here is in the JSON form of this report.</footer>
</body>
</html>
""")


@cache
def style() -> str:
    """The stylesheet of the sections, fonts not included."""
    own = files(__package__).joinpath("assets", "assessment.css").read_text(encoding="utf-8")
    return page._css() + own


def to_html(a: Assessment, day: date | None = None, parts: Sequence[str] | None = None) -> str:
    """The whole report as one file that fetches nothing; ``day`` is today unless given.

    ``parts`` are its :func:`sections`, for a caller who has drawn them already.
    """
    day = day or date.today()
    return _PAGE.substitute(
        version=__version__,
        title=html.escape(f"{headline(a)} · {a.release.title}"),
        fonts=page._fonts(),
        css=style(),
        date=f"{day.day} {day:%B %Y}",
        sections="\n".join(sections(a) if parts is None else parts),
    )


def sections(a: Assessment) -> list[str]:
    """The report's sections, for a page that has a head of its own; they go into an element of class ``report``."""
    made = [_opening(a), who(a), risk_and_accuracy(a), isolation(a), accuracy(a)]
    made += [related(a), tampering(a), others(a), _assumed(a), reproduce(a)]
    return [section for section in made if section]


def _opening(a: Assessment) -> str:
    terms = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(said).replace(chr(10), '<br>')}</dd>" for name, said in facts(a)
    )
    side = f'<div class="side"><h2>{html.escape(a.release.title)}</h2><dl>{terms}</dl></div>'
    mark = '<p class="status over">▲ ' if failed(a) else '<p class="status">'
    paragraphs = "".join(f"<p>{page._spans(spans)}</p>" for spans in lead(a))
    return (
        f"<section>{side}<div><h1>{html.escape(headline(a))}</h1>{mark}{html.escape(status(a))}</p>"
        f'<div class="lead">{paragraphs}</div>{_pictures(a)}</div></section>'
    )


def _pictured(a: Assessment) -> Risk:
    """The risk that the icon arrays draw: the leading one if it is a frequency, else the membership test."""
    first = leading(a)
    return first if first.reading in FREQUENCIES else next(r for r in a.risks if r.key == "membership")


def _pictures(a: Assessment) -> str:
    r, at = _pictured(a), second(a)
    right = " right" if r.reading == "success" else ""
    now = reached(a, r, r.planned)
    values = [now, *([] if at is None or r.recommended is None else [r.recommended])]
    shown = frequencies(*values, r.baseline)
    colour = "number risk" if r.over else "number"
    first = f'Planned, ε = {planned(a.epsilon)}: <span class="{colour}">{shown[0]}</span>{right}'
    arrays = [icons.array(first, r.baseline, now, r.limit, key="planned")]
    if at is not None and r.recommended is not None:
        title = f'{second_name(a)}, ε = {planned(at)}: <span class="number">{shown[1]}</span>{right}'
        arrays.append(icons.array(title, r.baseline, r.recommended, r.limit, key="second"))
    if r.reading == "success" and r.key.startswith("membership"):
        prior = share_of_people(a.release.adversary.prior)
        note = f"Each figure is one person of 100, {prior} in the table. The adversary guesses for each."
    elif r.reading == "success":
        note = "Each figure is one person of 100. The adversary guesses for each."
    else:
        note = f"Of 100. {r.name}: {r.question}"
    if icons.filled(r.planned) == icons.filled(r.baseline) and apart(r.planned, r.baseline):
        note += " At the planned ε the release adds fewer than 1 of 100."
    return f'<div class="pair pictures">{"".join(arrays)}</div><p class="note">{html.escape(note)}</p>'


def _assumed(a: Assessment) -> str:
    items = "".join(f"<li>{html.escape(text)}</li>" for text in (*a.assumptions, *other_notes(a)))
    return f"<section><h2>What was assumed</h2><div><ol>{items}</ol>{disclosure()}</div></section>"


# -- notebooks ----------------------------------------------------------------------------------------------------


def to_fragment(a: Assessment) -> str:
    """Sentence and tables with inline styles, in the notebook's own colours; no scripts, charts or fonts."""
    emphasis = {"": "{}", "strong": "<b>{}</b>", "risk": "<b>{}</b>"}
    said = "".join(
        f'<p style="max-width:42em">{"".join(emphasis[s.role].format(html.escape(s.text)) for s in spans)}</p>'
        for spans in lead(a)
    )
    mark = "▲ " if failed(a) else ""
    told = contradiction(a)
    also = f'<p style="max-width:42em">{html.escape(told)}</p>' if told else ""
    r = leading(a)
    sets = "" if a.binding is None else f"<p>{html.escape(r.name)} sets the recommendation.</p>"
    return (
        f'<div><p style="font-size:1.5em"><b>{html.escape(headline(a))}</b><br>'
        f"<small>{mark}{html.escape(status(a))}</small></p>"
        f"{said}{_plain(risk_table(a))}{sets}{_plain(accuracy_table(a))}{also}{disclosure()}</div>"
    )


def _plain(table: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="{page._CELL};text-align:{"right" if i else "left"}">{html.escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        ) + "</tr>"  # fmt: skip

    head, *rows = table
    body = "".join(row(cells, "td") for cells in rows)
    return f'<table style="border-collapse:collapse"><thead>{row(head, "th")}</thead><tbody>{body}</tbody></table>'
