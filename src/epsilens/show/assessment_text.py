"""An assessment as plain text and as Markdown: the instruction first, then tables, then how it was computed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..data.scan.scan import DISCLOSURE as SCAN_DISCLOSURE
from .assessment_numbers import percent, planned
from .assessment_relatives import relatives_sentence, relatives_table
from .assessment_rows import accuracy_rows, combinations, risk_note, risk_rows
from .assessment_tampering import hidden_sentence, hidden_table
from .assessment_words import DISCLOSURE, contradiction, error_limit, failed, headline, lead, second, status
from .sentences import Span, flat
from .text import escape, tie, untie

if TYPE_CHECKING:
    from ..assessment.assessment import Assessment

__all__ = [
    "accuracy_table",
    "aligned",
    "isolation_lines",
    "other_notes",
    "reproduce_lines",
    "risk_table",
    "to_markdown",
    "to_text",
]

WIDTH = 80
Table = list[list[str]]


def to_text(a: Assessment, width: int = WIDTH) -> str:
    """Plain text for a file, a pipe or a narrow terminal."""

    def said(text: str) -> str:
        return untie(textwrap.fill(tie(text), width))

    mark = "▲ " if failed(a) else ""
    blocks = [f"{headline(a)}\n{mark}{status(a)}", *(said(flat(p)) for p in lead(a))]
    blocks.append("Who could learn what (out of 100)\n" + aligned(risk_table(a), width) + _star(a))
    blocks.append(said(risk_note(a)))
    blocks.append(
        "How accurate the answers are (95 of 100 releases fall within ±)\n" + aligned(accuracy_table(a), width)
    )
    if told := contradiction(a):
        blocks.append(said(told))
    if isolated := isolation_lines(a):
        blocks.append("\n".join([said(isolated[0]), *isolated[1:]]))
    if told := relatives_sentence(a):
        blocks.append("If related people resemble each other\n" + aligned(relatives_table(a), width))
        blocks.append(said(told))
    blocks.append("What a false record could hide\n" + aligned(hidden_table(a), width))
    blocks.append(said(hidden_sentence(a)))
    blocks.append("What was assumed\n" + "\n".join(_item(text, width) for text in a.assumptions))
    blocks += [said(note) for note in other_notes(a)]
    blocks.append(said(" ".join(DISCLOSURE)))
    blocks.append("How to reproduce\n" + "\n".join(f"  {name}: {text}" for name, text in reproduce_lines(a)))
    return "\n\n".join(blocks)


def _item(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  - ", subsequent_indent="    ")


def risk_table(a: Assessment) -> Table:
    """Header and rows: adversary, without, planned, limit, largest ε."""
    head = ["Adversary", "without", f"ε = {planned(a.epsilon)}", "", "limit", "largest ε"]
    rows = []
    for row in risk_rows(a):
        name = f"{row.name} *" if row.sets else row.name
        rows.append(
            [name, row.baseline, row.planned, f"▲ {row.state}" if row.over else row.state, row.limit, row.largest]
        )
    return [head, *rows]


def accuracy_table(a: Assessment) -> Table:
    """Header and rows: query, typical answer, error at the planned and the second ε, smallest ε."""
    at, limit = second(a), error_limit(a)
    head = ["Query", "answer", f"ε = {planned(a.epsilon)}", ""]
    if at is not None:
        head += [f"ε = {planned(at)}", ""]
    if limit is not None:
        head.append(f"ε for {percent(limit)}")
    rows = []
    for row in accuracy_rows(a):
        cells = [row.name, row.answer, *_error(row.planned)]
        if row.second is not None:
            cells += _error(row.second)
        if limit is not None:
            cells.append(row.smallest)
        rows.append(cells)
    return [head, *rows]


def _error(told: tuple[str, str, bool]) -> tuple[str, str]:
    return told[0], f"▲ {told[1]}" if told[2] else told[1]


def _star(a: Assessment) -> str:
    """What the star beside an adversary means."""
    said = next((row.sets for row in risk_rows(a) if row.sets), "")
    return f"\n  * {said}" if said else ""


def aligned(table: Table, width: int) -> str:
    """Columns: the first to the left and wrapped where the width is short, the others to the right."""
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    first = max(min(widths[0], width - 2 - sum(widths[1:]) - 2 * (len(widths) - 1)), 16)
    out = []
    for row in table:
        start, *rest = textwrap.wrap(row[0], first) or [""]
        cells = "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))
        out += [f"  {start:{first}}{cells}".rstrip(), *(f"  {line}" for line in rest)]
    return "\n".join(out)


def isolation_lines(a: Assessment) -> list[str]:
    """Who can be isolated: the sentence, then combinations of columns with their share."""
    if a.scan is None:
        return []
    found = combinations(a)
    lines = [f"  {text:>6}  {' · '.join(columns)}" for columns, _, text in found]
    if found and len(found) < len(a.scan.subsets):
        lines.append(f"  {len(found)} of {len(a.scan.subsets)} combinations; all are in the JSON form.")
    return [a.scan.sentence, "People alone, of 100, by combination:", *lines] if found else [a.scan.sentence]


def other_notes(a: Assessment) -> list[str]:
    """The notes besides the one on disclosure, which every report ends with in its own words."""
    return [note for note in a.notes if note != SCAN_DISCLOSURE]


def reproduce_lines(a: Assessment) -> list[tuple[str, str]]:
    """What it takes to get the same report."""
    names = {"software": "Software", "engine": "Engine", "release": "Release", "data": "Data", "seed": "Seed"}
    lines = [(names[key], text) for key, text in a.reproduce.items() if key in names and text]
    return [("Command", command(a)), *lines]


def command(a: Assessment) -> str:
    """The command that reproduces the report; a release that was no file is called release.yaml."""
    given = a.reproduce.get("command", "")
    return given if given.startswith("epsilens assess ") else "epsilens assess release.yaml"


# -- Markdown -----------------------------------------------------------------------------------------------------


def to_markdown(a: Assessment) -> str:
    """GitHub-flavoured Markdown."""
    mark = "▲ " if failed(a) else ""
    out = [f"# {escape(headline(a))}", "", f"{escape(a.release.title)}. **{mark}{status(a)}.**", ""]
    for paragraph in lead(a):
        out += [_spans(paragraph), ""]
    out += ["## Who could learn what", "", *_grid(risk_table(a)), "", escape(risk_note(a)), ""]
    if said := _star(a).strip():
        out += [escape(said), ""]
    out += ["## How accurate the answers are", "", *_grid(accuracy_table(a)), ""]
    if told := contradiction(a):
        out += [escape(told), ""]
    if a.scan is not None:
        out += ["## Who can be isolated", "", escape(a.scan.sentence), ""]
        out += _grid([["Columns", "people alone, of 100"], *([", ".join(c), text] for c, _, text in combinations(a))])
        out.append("")
    if told := relatives_sentence(a):
        out += ["## If related people resemble each other", "", escape(told), "", *_grid(relatives_table(a)), ""]
    out += ["## What a false record could hide", "", escape(hidden_sentence(a)), "", *_grid(hidden_table(a)), ""]
    out += ["## What was assumed", "", *(f"- {escape(text)}" for text in (*a.assumptions, *other_notes(a))), ""]
    out += [f"> **{escape(DISCLOSURE[0])}** {escape(DISCLOSURE[1])}", "", "## How to reproduce", ""]
    out += [f"- {name}: {escape(text)}" for name, text in reproduce_lines(a)]
    return "\n".join(out)


def _spans(spans: Sequence[Span]) -> str:
    return "".join(f"**{escape(s.text)}**" if s.role else escape(s.text) for s in spans)


def _grid(table: Table) -> list[str]:
    head, *rows = table
    rule = "|".join(["---", *("--:" for _ in head[1:])])
    lines = [" | ".join(escape(cell) for cell in row) for row in (head, *rows)]
    return [f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])]
