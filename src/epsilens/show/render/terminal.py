"""Any document for a terminal: the words of the text, with weight and colour where they help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Columns
from rich.text import Text

from .. import document as doc
from .text import NARROW, Grid, combination_lines, follows, grid, heading, table_lines, tie, to_text, untie

_OVER = "bold dark_orange3"
_ROLES = {"": "not bold", "strong": "bold", "risk": _OVER, "number": "not bold"}
_TONES = {doc.Tone.BODY: "", doc.Tone.HOW: "", doc.Tone.NOTE: "dim", doc.Tone.WARNING: ""}
_KINDS = {doc.Kind.VALUE: "bold", doc.Kind.QUIET: "dim", doc.Kind.WORDS: "dim"}


def to_terminal(document: doc.Document, width: int) -> str:
    """The document for a terminal of this width; plain text where it is too narrow for columns."""
    if width < NARROW:
        return to_text(document, width)
    # Rich itself follows NO_COLOR and TERM; the width comes from the caller, who knows the terminal.
    console = Console(width=width, force_terminal=True, highlight=False, emoji=False, markup=False)
    with console.capture() as shown:
        writer = _Writer(console, document.headline)
        writer.opening(document.opening)
        for section in document.sections:
            if doc.Forms.TERMINAL in section.forms:
                writer.section(section)
    return untie(shown.get())


class _Writer:
    """Writes blocks one after the other, with a gap between them."""

    def __init__(self, console: Console, headline: str) -> None:
        self.console, self.headline = console, headline
        self.begun = False
        self.before: doc.Block | None = None

    def opening(self, blocks: Sequence[doc.Block]) -> None:
        if self.headline and not any(isinstance(block, doc.Lead) and block.continues for block in blocks):
            self.console.print(Text(self.headline, "bold"))
            self.begun = True
        self.blocks(blocks)

    def section(self, section: doc.Section) -> None:
        shown = _shown(section.blocks)
        if not shown:
            return
        if not section.silent:
            self._gap()
            self.console.print(Text(heading(section), "bold"))
        self.blocks(shown, close=not section.silent)

    def blocks(self, blocks: Sequence[doc.Block], *, close: bool = False) -> None:
        """``close``: the first follows what was written without a gap."""
        for i, block in enumerate(_shown(blocks)):
            if not follows(block, self.before) and not (close and i == 0):
                self._gap()
            self._write(block)
            self.before = block

    def _gap(self) -> None:
        if self.begun:
            self.console.print()
        self.begun = True

    def _write(self, block: doc.Block) -> None:
        out = self.console.print
        match block:
            case doc.Lead(paragraphs, continues):
                start = [doc.Span(f"{self.headline}", "strong"), doc.Span(": ")] if continues and self.headline else []
                for i, spans in enumerate(paragraphs):
                    if i:
                        out()
                    out(_assembled([*(start if i == 0 else []), *spans]))
            case doc.Status(text, over):
                out(Text(f"▲ {text}", _OVER) if over else Text(text, "dim"))
            case doc.Paragraph(said, tone):
                out(_assembled(said), style=_TONES[tone])
            case doc.Notes(items):
                for item in items:
                    out(tie(item), style="dim")
            case doc.Items(items):
                for item in items:
                    out(Padding(Text(f"- {tie(item)}", "dim"), (0, 0, 0, 2)))
            case doc.Facts(items):
                for fact in items:
                    out(f"  {fact.term}: {fact.text}", style="dim", soft_wrap=True)
            case doc.Code(text, command):
                out(f"Reproduce: {text}" if command else text, style="dim", soft_wrap=True)
            case doc.Table():
                self._table(block)
            case doc.Combinations():
                for line in combination_lines(block):
                    out(line, style="dim")
            case doc.Part(title, blocks):
                out(Text(title, "bold"))
                self.blocks(blocks, close=True)
            case _:  # pictures and folds, which were left out before
                pass

    def _table(self, table: doc.Table) -> None:
        made = grid(table)
        if made.words is not None and len(made.headings) == 2:
            for line in table_lines(table, self.console.width):
                self.console.print(line, style="dim" if line.startswith("    ") else "", soft_wrap=True)
            return
        self.console.print(_columns(made))
        for note in made.footnotes:
            self.console.print(f"  {note}", style="dim")


def _shown(blocks: Sequence[doc.Block]) -> list[doc.Block]:
    pictures = (doc.Figure, doc.Figures, doc.Icons, doc.Fold)
    return [block for block in blocks if doc.Forms.TERMINAL in block.forms and not isinstance(block, pictures)]


def _assembled(spans: Sequence[doc.Span]) -> Text:
    return Text.assemble(*((tie(span.text), _ROLES[span.role]) for span in spans))


def _columns(made: Grid) -> Columns:
    grouped = any(title for title, _ in made.groups)
    named = any(h.short for h in made.headings)
    out = Columns(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_header=named)
    for i, h in enumerate(made.headings):
        words = h.kind is doc.Kind.WORDS
        side: Literal["left", "right"] = "left" if i == 0 or words else "right"
        fixed = not words and (i > 0 or (h.kind is doc.Kind.NAME and made.words is not None))
        out.add_column(h.short, justify=side, no_wrap=fixed)
    for title, rows in made.groups:
        if title:
            out.add_row()
            out.add_row(Text(title, "bold"))
        for row in rows:
            out.add_row(*_entries(made, row, indent="  " if grouped else ""))
    return out


def _entries(made: Grid, row: doc.Row, indent: str) -> list[Text]:
    out = []
    for i, (h, cell) in enumerate(zip(made.headings, row, strict=True)):
        style = _OVER if cell.over else _KINDS.get(h.kind, "")
        out.append(Text((indent if i == 0 else "") + tie(cell.text), style))
    return out
