"""A sentence, its tables and what must be said besides: the simplest report there is, in every form."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .charts import Chart
from .page import document
from .scan import _aligned, _section, _table
from .text import escape
from .words import frequencies

__all__ = ["Rows", "Sheet", "times"]

SCHEMA = 1
#: A table: its title, its head and its rows.
Rows = tuple[str, list[str], list[list[str]]]


@dataclass(frozen=True)
class Sheet:
    """A sentence, tables, remarks and the values behind them, ready to be shown."""

    name: str
    sentence: str
    tables: tuple[Rows, ...]
    remarks: tuple[str, ...]
    payload: Mapping[str, Any]
    command: str = ""
    chart: Callable[[], Chart | None] | None = field(default=None, repr=False)

    def with_command(self, command: str) -> Sheet:
        """The same, reproduced by a command."""
        return replace(self, command=command)

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload."""
        return {"schema": SCHEMA, "sentence": self.sentence, **self.payload, "command": self.command}

    def to_text(self, width: int = 80) -> str:
        """The sentence, the tables, what must be said."""
        blocks = [textwrap.fill(self.sentence, width)]
        for title, head, rows in self.tables:
            blocks.append("\n".join([textwrap.fill(title, width), *_aligned([head, *rows], width)]))
        foot = [textwrap.fill(r, width) for r in self.remarks]
        return "\n\n".join([*blocks, *foot, *([f"Reproduce: {self.command}"] if self.command else [])])

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        out = [f"# {escape(self.name)}", f"**{escape(self.sentence)}**"]
        for title, head, rows in self.tables:
            lines = [f"## {escape(title)}", "", "| " + " | ".join(escape(h) for h in head) + " |"]
            lines.append("|---" + "|--:" * (len(head) - 1) + "|")
            lines += ["| " + " | ".join(escape(c) for c in row) + " |" for row in rows]
            out.append("\n".join(lines))
        out += [escape(r) for r in self.remarks]
        return "\n\n".join([*out, *([f"```sh\n{self.command}\n```"] if self.command else [])])

    def to_html(self) -> str:
        """A self-contained page."""
        said = html.escape(self.sentence)
        lead = f'<section><h2>{html.escape(self.name)}</h2><div><p class="lead">{said}</p></div></section>'
        words = "".join(f"<p>{html.escape(r)}</p>" for r in self.remarks)
        command = f"<pre><code>{html.escape(self.command)}</code></pre>" if self.command else ""
        foot = f"<section><h2>What to know</h2><div>{words}{command}</div></section>"
        return document(
            self.name, "Tampering", [lead, *self._figure(), *(_section(t) for t in self.tables), foot]
        )  # fmt: skip

    def _figure(self) -> list[str]:
        chart = self.chart() if self.chart else None  # drawn only where it is seen
        if chart is None:
            return []
        return [f"<section><h2>The size of a false record</h2><div>{chart.figure()}</div></section>"]

    def to_html_fragment(self) -> str:
        """The sentence, the tables and the remarks for a notebook."""
        tables = "".join(f"<h4>{html.escape(t)}</h4>{_table(head, rows)}" for t, head, rows in self.tables)
        remarks = "".join(f"<p>{html.escape(r)}</p>" for r in self.remarks)
        return f"<p><strong>{html.escape(self.sentence)}</strong></p>{tables}{remarks}"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html_fragment()


def times(*shares: float, exact: bool = False) -> tuple[str, ...]:
    """Shares as people say them, out of one denominator; with ``exact`` one at which each is a count.

    >>> times(0.2718, 0.1)
    ('27 times in 100', '10 times in 100')
    """
    out = []
    for text in frequencies(*shares, exact=exact):
        shown, scale = text.split(" of ")
        out.append(f"{shown} time{'' if shown in ('1', 'fewer than 1') else 's'} in {scale}")
    return tuple(out)
