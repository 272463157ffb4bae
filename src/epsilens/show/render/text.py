"""Any document as plain text of a width."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Columns
from rich.text import Text

from .. import document as doc

WIDTH = 80
#: A column of words needs this much room to stand beside its numbers.
_WORDS = 24
#: The first column is never narrower than this, or than what stands in it.
_FIRST = 12
_INDENT = "  "
#: Stands for a space at which a line may not break: "50 of 100" stays together.
_TIE = "\ue000"


def tie(text: str) -> str:
    """Keep frequencies in one piece when the text is wrapped."""
    return re.sub(r"(?<=\d)( times?)? of (?=\d)", lambda found: found[0].replace(" ", _TIE), text)


def untie(text: str) -> str:
    """Undo :func:`tie`, after wrapping."""
    return text.replace(_TIE, " ")


def to_text(document: doc.Document, width: int = WIDTH) -> str:
    """The opening, then the sections, a blank line between pieces."""
    return _running(document, width, styled=False)


def to_terminal(document: doc.Document, width: int) -> str:
    """The same with weight and colour where they help; NO_COLOR and TERM are followed."""
    return _running(document, width, styled=True)


def _running(document: doc.Document, width: int, *, styled: bool) -> str:
    console = Console(
        width=width,
        color_system="auto" if styled else None,
        force_terminal=styled,
        force_jupyter=False,  # a notebook takes the text as any other reader does
        highlight=False,
        emoji=False,
        markup=False,
    )
    with console.capture() as shown:
        writer = _Writer(console, document.headline)
        writer.opening(document.opening)
        for section in document.sections:
            if doc.Forms.TEXT in section.forms:
                writer.section(section)
    return untie("\n".join(line.rstrip(" ") for line in shown.get().removesuffix("\n").split("\n")))


def heading(section: doc.Section) -> str:
    """The heading with what its numbers count."""
    return f"{section.heading} ({section.unit})" if section.unit else section.heading


def follows(block: doc.Block, before: doc.Block | None) -> bool:
    """Whether a block follows the one before without a gap."""
    match block:
        case doc.Status():
            return True
        case doc.Code():
            return isinstance(before, doc.Notes)
        case doc.Facts():
            return isinstance(before, doc.Lead | doc.Paragraph)
        case _:
            return False


def combination_lines(block: doc.Combinations) -> list[str]:
    """A line for each combination, its number first."""
    told = f"{block.counts[:1].upper()}{block.counts[1:]}, by combination:"
    return [told, *(f"  {row.text:>6}  {' · '.join(row.members)}" for row in block.rows)]


def _lines(made: Grid, width: int) -> list[str]:
    """Rows whose words stand below them: numbers in columns, or where these have no room saying what they are."""
    words = made.words or 0
    others = [i for i in range(len(made.headings)) if i not in (0, words)]
    head = [heading.short for heading in made.headings]
    sizes = [max(map(len, (head[i], *(row[i].text for row in made.rows)))) for i in range(len(head))]

    def in_columns(cells: Sequence[str]) -> str:
        return f"  {cells[0]:{sizes[0]}}" + "".join(f"  {cells[i]:>{sizes[i]}}" for i in others)

    fits = len(in_columns(head)) <= width
    out = [in_columns(head)] if fits and others and any(head[i] for i in (0, *others)) else []
    for title, rows in made.groups:
        out += ["", title] if title else []
        for row in rows:
            cells = [cell.text for cell in row]
            named = ", ".join(f"{head[i]} {cells[i]}".strip() for i in others if cells[i])
            told = in_columns(cells) if fits else f"  {cells[0].strip()}: {named}".removesuffix(": ")
            out += [told] if fits else textwrap.wrap(told, width, subsequent_indent="  ")
            out += textwrap.wrap(tie(cells[words]), width, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return out


# -- tables as rows of strings, which Markdown and the terminal use too -------------------------------------------

#: Columns that need room and colours: running text does without.
_PICTURED = (doc.Kind.SYMBOL, doc.Kind.BAR)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table in running text: a state stands in a column of its own, a mark is a star with a footnote."""

    headings: tuple[doc.Column, ...]
    groups: tuple[tuple[str, tuple[doc.Row, ...]], ...]
    footnotes: tuple[str, ...]

    @property
    def rows(self) -> list[doc.Row]:
        """Every row, groups left aside."""
        return [row for _, rows in self.groups for row in rows]

    @property
    def words(self) -> int | None:
        """Where the column of words stands."""
        return next((i for i, heading in enumerate(self.headings) if heading.kind is doc.Kind.WORDS), None)


def stated(cell: doc.Cell) -> str:
    """The state of a cell; one that breaks a limit says so without colour."""
    return f"▲ {cell.state}" if cell.over and cell.state else cell.state


def grid(table: doc.Table) -> Grid:
    """The table without what only a page can show."""
    kept = [i for i, column in enumerate(table.columns) if column.kind not in _PICTURED]
    states = {i for i in kept if any(row[i].state for row in table.rows)}
    headings = []
    for i in kept:
        headings.append(table.columns[i])
        if i in states:
            headings.append(doc.Column(""))
    marks = dict.fromkeys(cell.mark for row in table.rows for cell in row if cell.mark)

    def entries(row: doc.Row) -> doc.Row:
        out = []
        for i in kept:
            cell = row[i]
            out.append(doc.Cell(f"{cell.running} *" if cell.mark else cell.running))
            if i in states:
                out.append(doc.Cell(stated(cell), over=cell.over))
        return tuple(out)

    groups = tuple((group.title, tuple(entries(row) for row in group.rows)) for group in table.groups)
    return Grid(tuple(headings), groups, tuple(f"* {mark}" for mark in marks))


_OVER = "bold dark_orange3"
_ROLES = {"": "not bold", "strong": "bold", "risk": _OVER, "number": "not bold"}
_KINDS = {doc.Kind.VALUE: "bold", doc.Kind.QUIET: "dim", doc.Kind.WORDS: "dim"}


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
        if section.silent:
            self.blocks(shown)
        else:
            self._gap()
            self._headed(heading(section), shown)

    def _headed(self, title: str, blocks: Sequence[doc.Block]) -> None:
        """Blocks under their heading; a lead goes on in the heading's line."""
        first, *rest = blocks
        if isinstance(first, doc.Lead):
            self._lead(first.paragraphs, title)
            self.before = first
            self.blocks(rest)
        else:
            self.console.print(Text(title, "bold"))
            self.blocks(blocks, close=True)

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
                self._lead(paragraphs, self.headline if continues else "")
            case doc.Status(text, over):
                out(Text(f"▲ {text}", _OVER) if over else Text(text, "dim"))
            case doc.Paragraph(said, tone):
                out(_assembled(said), style="dim" if tone is doc.Tone.NOTE else "")
            case doc.Notes(items):
                out("\n".join(map(tie, items)), style="dim")
            case doc.Items(items):
                hung = textwrap.TextWrapper(self.console.width, initial_indent="  - ", subsequent_indent="    ")
                out("\n".join(hung.fill(tie(item)) for item in items), style="dim", soft_wrap=True)
            case doc.Facts(items):
                out("\n".join(f"  {fact.term}: {fact.text}" for fact in items), style="dim", soft_wrap=True)
            case doc.Code(text, command):
                out(f"Reproduce: {text}" if command else text, style="dim", soft_wrap=True)
            case doc.Table():
                self._table(block)
            case doc.Combinations():
                out("\n".join(combination_lines(block)), style="dim")
            case doc.Part(title, blocks):
                self._headed(title, _shown(blocks))

    def _lead(self, paragraphs: Sequence[doc.Said], headline: str) -> None:
        start = [doc.Span(headline, "strong"), doc.Span(": ")] if headline else []
        for i, spans in enumerate(paragraphs):
            self.console.print(*([""] if i else []), _assembled([*(() if i else start), *spans]), sep="\n")

    def _table(self, table: doc.Table) -> None:
        made, width = grid(table), self.console.width
        sizes = _sizes(made, width)
        if made.words is not None and (len(made.headings) == 2 or _across(sizes) > width):
            for line in _lines(made, width):
                self.console.print(line, style="dim" if line.startswith("    ") else "", soft_wrap=True)
        else:
            for part in _columns(made, sizes):
                self.console.print(part, width=max(width, _across(sizes)), crop=False)
        for note in made.footnotes:
            self.console.print(f"  {note}", style="dim", soft_wrap=True)


def _shown(blocks: Sequence[doc.Block]) -> list[doc.Block]:
    """The blocks that have words, without pictures and folds."""
    return [block for block in blocks if doc.Forms.TEXT in block.forms and _has_words(block)]


def _has_words(block: doc.Block) -> bool:
    match block:
        case doc.Notes(inside) | doc.Items(inside) | doc.Combinations(rows=inside):
            return bool(inside)
        case doc.Part(_, blocks):
            return bool(_shown(blocks))
        case _:
            return not isinstance(block, doc.Figure | doc.Figures | doc.Icons | doc.Fold)


def _assembled(spans: Sequence[doc.Span]) -> Text:
    return Text.assemble(*((tie(span.text), _ROLES[span.role]) for span in spans))


def _sizes(made: Grid, width: int) -> list[int]:
    """How wide each column is: numbers whole, and what is left over for the first one and for words."""
    longest, sizes = [], []
    for i, h in enumerate(made.headings):
        words = h.kind is doc.Kind.WORDS
        fixed = not words and (i > 0 or (h.kind is doc.Kind.NAME and made.words is not None))
        longest.append(max(cell_len(text) for text in (h.short, *(row[i].text for row in made.rows))))
        sizes.append(longest[i] if fixed else min(longest[i], _WORDS if words else _FIRST))
    sizes[0], longest[0] = sizes[0] + len(_INDENT), longest[0] + len(_INDENT)
    for i, most in enumerate(longest):
        sizes[i] += max(min(most - sizes[i], width - _across(sizes)), 0)
    return sizes


def _across(sizes: Sequence[int]) -> int:
    return sum(sizes) + 2 * (len(sizes) - 1)


def _columns(made: Grid, sizes: Sequence[int]) -> Iterator[Columns | Text]:
    """The first column to the left, numbers to the right, words after them; groups under their titles."""

    def part(rows: Sequence[doc.Row], *, head: bool = False) -> Columns:
        out = Columns(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_header=head)
        for i, h in enumerate(made.headings):
            side: Literal["left", "right"] = "left" if i == 0 or h.kind is doc.Kind.WORDS else "right"
            out.add_column(f"{'' if i else _INDENT}{h.short}", justify=side, width=sizes[i])
        for row in rows:
            styles = (_OVER if cell.over else _KINDS.get(made.headings[i].kind, "") for i, cell in enumerate(row))
            texts = (f"{'' if i else _INDENT}{tie(cell.text)}" for i, cell in enumerate(row))
            out.add_row(*map(Text, texts, styles))
        return out

    if any(h.short for h in made.headings):
        yield part((), head=True)
    for title, rows in made.groups:
        if title:
            yield from (Text(""), Text(title, "bold"))
        if rows:
            yield part(rows)


# Any document as GitHub-flavoured Markdown.

_BOLD = ("strong", "risk")


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in "\\`*_<>|[]":
        text = text.replace(mark, f"\\{mark}")
    return text


def to_markdown(document: doc.Document) -> str:
    """A heading, the lead with its emphasis, then the sections."""
    top = document.headline if document.headline and not document.continued else document.title
    chunks = [f"# {escape(top)}", *_pieces(document.opening, document)]
    for section in document.sections:
        if doc.Forms.MARKDOWN not in section.forms:
            continue
        made = _pieces(section.blocks, document)
        chunks += made if section.silent or not made else [f"## {escape(heading(section))}", *made]
    return "\n\n".join(chunks)


def _pieces(blocks: Sequence[doc.Block], document: doc.Document) -> list[str]:
    return [text for block in blocks if doc.Forms.MARKDOWN in block.forms for text in _markdown_block(block, document)]


def _markdown_block(block: doc.Block, document: doc.Document) -> list[str]:
    match block:
        case doc.Lead(continues=continues):
            return _lead(block, document.headline if continues else "")
        case doc.Status(text, over):
            state = f"**{'▲ ' if over else ''}{escape(text)}.**"
            return [f"{escape(document.title)}. {state}"]
        case doc.Paragraph(said, tone):
            return [f"> {_spans(said)}" if tone is doc.Tone.WARNING else _spans(said)]
        case doc.Notes(items):
            return ["\n".join(f"{escape(item)}  " for item in items)] if items else []
        case doc.Items(items):
            return ["\n".join(f"- {escape(item)}" for item in items)] if items else []
        case doc.Facts(items):
            return ["\n".join(f"- {escape(fact.term)}: {escape(fact.text)}" for fact in items)]
        case doc.Code(text, command):
            return [f"```{'sh' if command else ''}\n{text}\n```"]
        case doc.Table():
            return _table(block)
        case doc.Combinations():
            return [_combinations(block)] if block.rows else []
        case doc.Part(title, blocks):
            made = _pieces(blocks, document)
            return [f"### {escape(title)}", *made] if made else []
        case _:  # pictures and folds
            return []


def _lead(lead: doc.Lead, headline: str) -> list[str]:
    """A lead without emphasis of its own is emphasised as a whole."""
    paragraphs = lead.paragraphs
    if not lead.emphasised:
        paragraphs = tuple(tuple(span._replace(role="strong") for span in paragraph) for paragraph in paragraphs)
    told = [_spans(paragraph) for paragraph in paragraphs]
    return [f"**{escape(headline)}**: {told[0]}", *told[1:]] if headline else told


def _spans(spans: Sequence[doc.Span]) -> str:
    return "".join(f"**{escape(s.text)}**" if s.role in _BOLD else escape(s.text) for s in spans)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(table: doc.Table) -> list[str]:
    made = grid(table)
    sides = ["---" if i == 0 or h.kind is doc.Kind.WORDS else "--:" for i, h in enumerate(made.headings)]
    lines = [_row([escape(h.head) for h in made.headings]), f"|{'|'.join(sides)}|"]
    for title, rows in made.groups:
        if title:
            lines.append(_row([f"**{escape(title)}**", *([""] * (len(sides) - 1))]))
        lines += [_row([escape(cell.text.strip()) for cell in row]) for row in rows]
    return ["\n".join(lines), *(escape(note) for note in made.footnotes)]


def _combinations(block: doc.Combinations) -> str:
    rows = [_row([escape(", ".join(row.members)), escape(row.text)]) for row in block.rows]
    return "\n".join([_row(["Columns", escape(block.counts)]), "|---|--:|", *rows])


# A result as CSV: its main table, numbers in full, for a spreadsheet or a script.
#
# Which table that is, is said once here, by where the result's JSON holds it. A result without one is a single row.

#: Where the main table of a result is: the first of these that is a list of records. A star goes through a list, and
#: what stands beside it there (a paper, an account) is repeated in each row.
_TABLES = (
    "rows", "risks", "promises", "tests", "sizes", "series.answers", "answers", "subsets", "pairs", "cases",
    "accounts.*.releases", "releases", "papers.*.items.*.records", "understanding.columns", "notions",
)  # fmt: skip
_BESIDE = ("account", "paper", "title")
#: A spreadsheet takes what begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(data: Mapping[str, object]) -> str:
    """The main table of a result's data; every row has the same columns, empty where it has no value.

    >>> print(to_csv({"risks": [{"key": "guess", "planned": 0.62, "arguments": {"prior": 0.5}}]}), end="")
    key,planned,arguments.prior
    guess,0.62,0.5
    """
    rows = [dict(_flat(record)) for record in records(data)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return file.getvalue()


def records(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The records of the main table.

    >>> records({"readings": {"success": 0.7}, "baselines": {"success": 0.5}, "unbounded": []})
    [{'reading': 'success', 'value': 0.7, 'without': 0.5}]
    >>> records({"schema": 1, "certainty": 0.5})
    [{'certainty': 0.5}]
    """
    if isinstance(data.get("readings"), Mapping) and isinstance(data.get("experiments"), Mapping):
        return _side_by_side(data["readings"], data["experiments"])
    if isinstance(data.get("readings"), Mapping) and isinstance(data.get("baselines"), Mapping):
        endless = data.get("unbounded", ())
        choice = data.get("choice") or {}
        chosen = [{"reading": f"chosen {choice['parameter']}", "value": choice["value"]}] if choice else []
        return chosen + [
            {"reading": name, "value": "inf" if name in endless else value, "without": data["baselines"].get(name)}
            for name, value in data["readings"].items()
        ]
    for path in _TABLES:
        found = list(_along(data, path.split("."), {}))
        if found:
            return found
    return [{name: value for name, value in data.items() if name not in ("schema", "command")}]


def _side_by_side(readings: Mapping[str, Any], experiments: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """Each reading of a comparison, a column for each experiment."""
    return [
        {
            "reading": reading,
            **{name: "inf" if reading in experiments[name].get("unbounded", ()) else v for name, v in values.items()},
        }
        for reading, values in readings.items()
    ]


def _along(data: object, path: Sequence[str], beside: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The records at a path, with the single values that stand beside a star."""
    if not path:
        if isinstance(data, list | tuple) and all(isinstance(each, Mapping) for each in data):
            yield from ({**beside, **each} for each in data)
        return
    first, *rest = path
    if first == "*":
        for each in data if isinstance(data, list | tuple) else ():
            if isinstance(each, Mapping):
                own = {
                    k: v
                    for k, v in each.items()
                    if isinstance(v, str | int | float) and k in ("account", "paper", "title")
                }
                yield from _along(each, rest, {**beside, **own})
    elif isinstance(data, Mapping) and first in data:
        yield from _along(data[first], rest, beside)


def _flat(record: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """Values by name, those inside others with a dot; several single ones in one cell, other lists left out."""
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif not isinstance(value, list | tuple):
            yield f"{before}{name}", value
        elif all(not isinstance(each, Mapping | list | tuple) for each in value):
            yield f"{before}{name}", "; ".join(_cell(each) for each in value)


def _cell(value: object) -> str:
    """A cell: numbers in full, nothing where there is none, and no text that a spreadsheet would run.

    >>> _cell(0.1), _cell(None), _cell(True), _cell("=1+1"), _cell(-2.0)
    ('0.1', '', 'true', "'=1+1", '-2.0')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value) if isinstance(value, float) else str(value)
    return f"'{value}" if value.startswith(_FORMULA) else value
