"""Text for a terminal: the same words, with weight and colour where they help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .text import groups, label, tie, to_text, untie

if TYPE_CHECKING:
    from .explain import Explanation

__all__ = ["to_terminal"]

_STYLES = {"": "", "strong": "bold", "risk": "bold dark_orange3"}
_NARROW = 70


def to_terminal(about: Explanation, width: int) -> str:
    """The sentence, then the table; plain text where the terminal is too narrow for columns."""
    if width < _NARROW:
        return to_text(about, width)
    # Rich itself follows NO_COLOR and TERM; the width comes from the caller, who knows the terminal.
    console = Console(width=width, force_terminal=True, highlight=False, emoji=False, markup=False)
    lead = Text(about.headline, "bold").append_text(Text("", "not bold"))
    for span in about.lead:
        lead.append(tie(span.text), _STYLES[span.role] or "not bold")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("Reading", no_wrap=True)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("Without", justify="right", no_wrap=True, style="dim")
    table.add_column("In words", style="dim")
    for group, members in groups(about):
        table.add_row()
        table.add_row(Text(group, "bold"))
        for row in members:
            table.add_row(f"  {label(row)}", Text(row.text, "bold"), row.baseline_text, tie(row.words))
    with console.capture() as shown:
        console.print(lead)
        if about.mechanism:
            console.print()
            console.print(tie(about.mechanism))
        console.print()
        console.print(table)
        console.print()
        for remark in about.remarks:
            console.print(remark, style="dim")
        if about.command:
            console.print(f"Reproduce: {about.command}", style="dim", soft_wrap=True)
    return untie(shown.get())
