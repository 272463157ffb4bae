"""An assessment for a terminal: the same words and tables, with weight and colour where they help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .assessment_rows import risk_note
from .assessment_text import _star, accuracy_table, isolation_lines, other_notes, reproduce_lines, risk_table, to_text
from .assessment_words import DISCLOSURE, contradiction, failed, headline, lead, status
from .terminal import _NARROW, _STYLES
from .text import tie, untie

if TYPE_CHECKING:
    from ..assessment.assessment import Assessment

__all__ = ["to_terminal"]

_OVER = _STYLES["risk"]


def to_terminal(a: Assessment, width: int = 80) -> str:
    """The report for a terminal of this width; plain text where it is too narrow for columns."""
    if width < _NARROW:
        return to_text(a, width)
    console = Console(width=width, force_terminal=True, highlight=False, emoji=False, markup=False)
    with console.capture() as shown:
        console.print(Text(headline(a), "bold"))
        console.print(Text(f"▲ {status(a)}", _OVER) if failed(a) else Text(status(a), "dim"))
        for paragraph in lead(a):
            console.print()
            console.print(Text.assemble(*((tie(s.text), _STYLES[s.role] or "not bold") for s in paragraph)))
        _section(console, "Who could learn what (out of 100)", risk_table(a))
        if said := _star(a).strip():
            console.print(f"  {said}", style="dim")
        console.print(risk_note(a), style="dim")
        _section(console, "How accurate the answers are (95 of 100 releases fall within ±)", accuracy_table(a))
        if told := contradiction(a):
            console.print()
            console.print(told)
        for i, line in enumerate(isolation_lines(a)):
            console.print(("" if i else "\n") + line, style="" if i == 0 else "dim")
        console.print(Text("\nWhat was assumed", "bold"))
        for text in (*a.assumptions, *other_notes(a)):
            console.print(Padding(Text(f"- {text}", "dim"), (0, 0, 0, 2)))
        console.print(Text.assemble("\n", (DISCLOSURE[0], "bold"), " ", DISCLOSURE[1]))
        console.print(Text("\nHow to reproduce", "bold"))
        for name, text in reproduce_lines(a):
            console.print(f"  {name}: {text}", style="dim", soft_wrap=True)
    return untie(shown.get())


def _section(console: Console, title: str, rows: list[list[str]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for i, head in enumerate(rows[0]):
        table.add_column(head, justify="left" if i == 0 else "right", no_wrap=i > 0)
    for row in rows[1:]:
        table.add_row(*(Text(cell, _OVER if cell.startswith("▲") else "") for cell in row))
    console.print()
    console.print(Text(title, "bold"))
    console.print(table)
