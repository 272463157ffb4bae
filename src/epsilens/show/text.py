"""Plain text and Markdown."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from .readings import Row
from .sentences import title

if TYPE_CHECKING:
    from .explain import Explanation

__all__ = ["escape", "groups", "label", "tie", "to_markdown", "to_text", "untie"]

WIDTH = 80


def groups(about: Explanation) -> list[tuple[str, list[Row]]]:
    """The rows the table shows, by group."""
    shown = (r for r in about.rows if r.shown)
    return [(name, list(rows)) for name, rows in groupby(shown, key=lambda r: r.group)]


def label(row: Row) -> str:
    """The reading's name, with the symbol where the name does not already tell it."""
    return f"{row.name} {row.symbol}" if row.symbol and row.symbol[0] in ("ε", "δ", "ψ", "F") else row.name


#: Stands for a space at which a line may not break: "50 of 100" stays together.
_TIE = "\ue000"


def tie(text: str) -> str:
    """Keep frequencies in one piece when the text is wrapped."""
    return re.sub(r"(?<=\d) of (?=\d)", f"{_TIE}of{_TIE}", text)


def untie(text: str) -> str:
    """Undo :func:`tie`, after wrapping."""
    return text.replace(_TIE, " ")


def to_text(about: Explanation, width: int = WIDTH) -> str:
    """The sentence, the line on the mechanism, the table, the remarks and the command."""
    said = [about.sentence, *([about.mechanism] if about.mechanism else [])]
    table = _table(about, width) if width >= 70 else _list(about, width)
    foot = [textwrap.fill(remark, width) for remark in about.remarks]
    if about.command:
        foot.append(f"Reproduce: {about.command}")
    return untie("\n\n".join([*(textwrap.fill(tie(text), width) for text in said), "\n".join(table), "\n".join(foot)]))


def _table(about: Explanation, width: int) -> list[str]:
    rows = [row for row in about.rows if row.shown]
    name = max(len(label(row)) for row in rows)
    value = max(len("value"), *(len(row.text) for row in rows))
    base = max(len("without"), *(len(row.baseline_text) for row in rows))
    words = width - (2 + name + 2 + value + 2 + base + 2)
    out = [f"{'':{name + 2}}  {'value':>{value}}  {'without':>{base}}"]
    for group, members in groups(about):
        out += ["", group]
        for row in members:
            start = f"  {label(row):{name}}  {row.text:>{value}}  {row.baseline_text:>{base}}"
            if words >= 24:
                first, *rest = textwrap.wrap(tie(row.words), words)
                out += [f"{start}  {first}", *(" " * (width - words) + line for line in rest)]
            else:  # too narrow for a column of words: put them underneath
                out += [start, *textwrap.wrap(tie(row.words), width, initial_indent=" " * 4, subsequent_indent=" " * 4)]
    return out


def _list(about: Explanation, width: int) -> list[str]:
    """The table for a narrow terminal: a reading is a paragraph."""
    out: list[str] = []
    for group, members in groups(about):
        out += ["", group] if out else [group]
        for row in members:
            told = f"{label(row)}: {row.text}, without {row.baseline_text}"
            out += textwrap.wrap(told, width, initial_indent="  ", subsequent_indent="  ")
            out += textwrap.wrap(tie(row.words), width, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return out


def to_markdown(about: Explanation) -> str:
    """GitHub-flavoured Markdown: a heading, the sentence with its emphasis, one table."""
    lead = "".join(f"**{escape(s.text)}**" if s.role else escape(s.text) for s in about.lead)
    if about.headline:
        lead = f"**{escape(about.headline)}**{lead}"
    out = [f"# {escape(title(about.experiment))}", "", lead, ""]
    if about.mechanism:
        out += [escape(about.mechanism), ""]
    out += ["| Reading | Value | Without the release | In words |", "|---|--:|--:|---|"]
    for group, rows in groups(about):
        out.append(f"| **{escape(group)}** | | | |")
        out += [f"| {escape(label(r))} | {r.text} | {r.baseline_text} | {escape(r.words)} |" for r in rows]
    out += ["", *(f"{escape(remark)}  " for remark in about.remarks)]
    if about.command:
        out += ["", "```sh", about.command, "```"]
    return "\n".join(out)


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in "\\`*_<>|[]":
        text = text.replace(mark, f"\\{mark}")
    return text
