"""Plain text and Markdown."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from .readings import Row
from .sentences import title

if TYPE_CHECKING:
    from .explain import Explanation

__all__ = ["groups", "to_markdown", "to_text"]

WIDTH = 80


def groups(about: Explanation) -> list[tuple[str, list[Row]]]:
    """The rows the table shows, by group."""
    shown = (r for r in about.rows if r.shown)
    return [(name, list(rows)) for name, rows in groupby(shown, key=lambda r: r.group)]


def label(row: Row) -> str:
    """The reading's name, with the symbol where the name does not already tell it."""
    return f"{row.name} {row.symbol}" if row.symbol and row.symbol[0] in ("ε", "δ", "ψ", "F") else row.name


def to_text(about: Explanation, width: int = WIDTH) -> str:
    """The sentence, the line on the mechanism, the table, the remarks and the command."""
    blocks = [about.sentence, *([about.mechanism] if about.mechanism else [])]
    lines = [textwrap.fill(block, width) for block in blocks]
    table = [(group, [(label(r), r.text, r.baseline_text, r.words) for r in rows]) for group, rows in groups(about)]
    cells = [cell for _, rows in table for cell in rows]
    name, value, base = (max(len(head), *(len(c[i]) for c in cells)) for i, head in enumerate(("", "value", "without")))
    words = width - (2 + name + 2 + value + 2 + base + 2)
    out = [f"{'':{name + 2}}  {'value':>{value}}  {'without':>{base}}"]
    for group, rows in table:
        out += ["", group]
        for label_, value_, base_, words_ in rows:
            start = f"  {label_:{name}}  {value_:>{value}}  {base_:>{base}}"
            if words >= 24:
                first, *rest = textwrap.wrap(words_, words) or [""]
                out += [f"{start}  {first}", *(" " * (width - words) + line for line in rest)]
            else:  # too narrow for a column of words: put them underneath
                out += [
                    start,
                    *textwrap.wrap(words_, max(width - 4, 20), initial_indent="    ", subsequent_indent="    "),
                ]
    foot = [textwrap.fill(remark, width) for remark in about.remarks]
    if about.command:
        foot.append(f"Reproduce: {about.command}")
    return "\n\n".join([*lines, "\n".join(out), "\n".join(foot)])


def to_markdown(about: Explanation) -> str:
    """GitHub-flavoured Markdown: a heading, the sentence with its emphasis, one table."""
    lead = "".join(f"**{_escape(s.text)}**" if s.role else _escape(s.text) for s in about.lead)
    if about.headline:
        lead = f"**{_escape(about.headline)}**{lead}"
    out = [f"# {_escape(title(about.experiment))}", "", lead, ""]
    if about.mechanism:
        out += [_escape(about.mechanism), ""]
    out += ["| Reading | Value | Without the release | In words |", "|---|--:|--:|---|"]
    for group, rows in groups(about):
        out.append(f"| **{_escape(group)}** | | | |")
        out += [f"| {_escape(label(r))} | {r.text} | {r.baseline_text} | {_escape(r.words)} |" for r in rows]
    out += ["", *(f"{_escape(remark)}  " for remark in about.remarks)]
    if about.command:
        out += ["", "```sh", about.command, "```"]
    return "\n".join(out)


def _escape(text: str) -> str:
    for mark in "\\`*_<>|[]":
        text = text.replace(mark, f"\\{mark}")
    return text
