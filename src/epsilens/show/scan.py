"""A scan as text, Markdown and a page."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass
from typing import Any

from ..data.scan.result import Scan, pair_words
from .page import document
from .text import escape

__all__ = ["ScanReport"]

_MOST_PEOPLE = 50


@dataclass(frozen=True)
class ScanReport:
    """A scan, ready to be shown."""

    scan: Scan

    def to_dict(self) -> dict[str, Any]:
        """The scan's own values."""
        return self.scan.to_dict()

    def _remarks(self) -> list[str]:
        pairs = [f"{p.first} and {p.second}: {pair_words(p)}" for p in self.scan.pairs]
        return [text for text in (*pairs, self.scan.verdict, *self.scan.notes) if text]

    def _tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        made = self.scan.tables()
        if self.scan.shown:
            head = list(self.scan.shown[0])
            rows = [["" if v is None else str(v) for v in person.values()] for person in self.scan.shown[:_MOST_PEOPLE]]
            made.append((f"Isolated people ({len(rows)} shown)", head, rows))
        return made

    def to_text(self, width: int = 80) -> str:
        """The sentence, the tables, what must be said."""
        blocks = [textwrap.fill(self.scan.sentence, width)]
        for title, head, rows in self._tables():
            blocks.append("\n".join([textwrap.fill(title, width), *_aligned([head, *rows], width)]))
        return "\n\n".join([*blocks, *(textwrap.fill(r, width) for r in self._remarks())])

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        out = [f"**{escape(self.scan.sentence)}**"]
        for title, head, rows in self._tables():
            lines = [f"## {escape(title)}", "", "| " + " | ".join(escape(h) for h in head) + " |"]
            lines.append("|---" + "|--:" * (len(head) - 1) + "|")
            lines += ["| " + " | ".join(escape(c) for c in row) + " |" for row in rows]
            out.append("\n".join(lines))
        return "\n\n".join([*out, *(escape(r) for r in self._remarks())])

    def to_html(self) -> str:
        """A self-contained page."""
        table, said = html.escape(self.scan.table), html.escape(self.scan.sentence)
        lead = f'<section><h2>{table}</h2><div><p class="lead">{said}</p></div></section>'
        sections = [lead, *map(_section, self._tables()), self._foot()]
        return document("Who can be isolated", "Who can be isolated", sections)

    def to_html_fragment(self) -> str:
        """The sentence, the tables and the remarks for a notebook."""
        tables = "".join(f"<h4>{html.escape(title)}</h4>{_table(head, rows)}" for title, head, rows in self._tables())
        remarks = "".join(f"<p>{html.escape(r)}</p>" for r in self._remarks())
        return f"<p><strong>{html.escape(self.scan.sentence)}</strong></p>{tables}{remarks}"

    def _foot(self) -> str:
        words = "".join(f"<p>{html.escape(r)}</p>" for r in self._remarks())
        return f"<section><h2>What to know</h2><div>{words}</div></section>"


def _section(table: tuple[str, list[str], list[list[str]]]) -> str:
    title, head, rows = table
    name = html.escape(title)
    # a table wider than a phone scrolls, also by keyboard
    inside = f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{_table(head, rows)}</div>'
    return f"<section><h2>{name}</h2><div>{inside}</div></section>"


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f'<th scope="col"{_side(i)}>{html.escape(h)}</th>' for i, h in enumerate(head))
    body = "".join(
        f"<tr>{''.join(f'<td{_side(i)}>{html.escape(c)}</td>' for i, c in enumerate(row))}</tr>" for row in rows
    )
    return f'<table class="plain"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'


def _side(column: int) -> str:
    return ' class="number"' if column else ""


def _aligned(rows: list[list[str]], width: int) -> list[str]:
    """Columns of text, the first to the left and cut where the terminal ends."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    rest = sum(widths[1:]) + 2 * len(widths)
    widths[0] = max(min(widths[0], width - rest), 12)
    out = []
    for row in rows:
        first, *more = textwrap.wrap(row[0], widths[0]) or [""]
        cells = [f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True)]
        out.append("  " + "  ".join([f"{first:<{widths[0]}}", *cells]))
        out += [f"    {line}" for line in more]
    return out
