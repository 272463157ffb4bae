"""A recomputed table and the forms in which it can be shown."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Paper", "Reproduction", "Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """Cells to read, the notes that go with them, and the numbers behind them for JSON."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]

    def to_text(self, width: int) -> str:
        """Aligned columns."""
        sizes = [max(len(cell) for cell in column) for column in zip(self.columns, *self.rows, strict=True)]
        lines = [
            "  ".join(
                f"{cell:{'<' if i == 0 else '>'}{size}}" for i, (cell, size) in enumerate(zip(row, sizes, strict=True))
            )
            for row in (self.columns, *self.rows)
        ]
        return "\n".join([self.title, "", *(line.rstrip() for line in lines), "", *_wrapped(self.notes, width)])

    def to_markdown(self) -> str:
        """A Markdown table."""
        rule = "|---|" + "--:|" * (len(self.columns) - 1)
        rows = [f"| {' | '.join(_escape(cell) for cell in row)} |" for row in self.rows]
        head = f"| {' | '.join(self.columns)} |"
        return "\n".join([f"## {self.title}", "", head, rule, *rows, "", *(f"- {_escape(n)}" for n in self.notes)])

    def to_html(self) -> str:
        """A section of the page."""
        head = "".join(f'<th scope="col"{_side(i)}>{html.escape(c)}</th>' for i, c in enumerate(self.columns))
        body = "".join(
            f"<tr>{''.join(f'<td{_side(i)}>{html.escape(c)}</td>' for i, c in enumerate(row))}</tr>"
            for row in self.rows
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        title = html.escape(self.title)
        return (  # a table wider than a phone scrolls, also by keyboard
            f'<section><h2>{title}</h2><div><div class="scroll" tabindex="0" role="region" aria-label="{title}">'
            f'<table class="plain">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
            f'<ul class="note after">{notes}</ul></div></section>'
        )


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and what was recomputed of it."""

    key: str
    citation: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Several papers, ready to be shown."""

    papers: tuple[Paper, ...]

    def to_text(self, width: int = 80) -> str:
        """Plain text."""
        blocks = []
        for paper in self.papers:
            blocks.append(textwrap.fill(f"Paper {paper.key}: {paper.citation}", width))
            blocks += [table.to_text(width) for table in paper.tables]
        return "\n\n".join(blocks)

    def to_markdown(self) -> str:
        """Markdown."""
        blocks = []
        for paper in self.papers:
            blocks.append(f"# Paper {paper.key}: {paper.citation}")
            blocks += [table.to_markdown() for table in paper.tables]
        return "\n\n".join(blocks)

    def to_html(self) -> str:
        """A self-contained page."""
        from ..show.page import document

        sections = []
        for paper in self.papers:
            name = html.escape(f"Paper {paper.key}")
            sections.append(f'<section><h2>{name}</h2><p class="lead">{html.escape(paper.citation)}</p></section>')
            sections += [table.to_html() for table in paper.tables]
        return document("The papers, recomputed", "The papers, as printed beside as corrected", sections)

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload."""
        return {
            "schema": 1,
            "papers": [
                {
                    "paper": paper.key,
                    "citation": paper.citation,
                    "tables": [
                        {"title": t.title, "records": [dict(r) for r in t.records], "notes": list(t.notes)}
                        for t in paper.tables
                    ],
                }
                for paper in self.papers
            ],
        }


def _wrapped(notes: Sequence[str], width: int) -> list[str]:
    return [textwrap.fill(note, width, initial_indent="- ", subsequent_indent="  ") for note in notes]


def _side(column: int) -> str:
    return ' class="number"' if column else ""


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
