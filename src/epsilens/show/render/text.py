"""Any document as plain text of a width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from .. import document as doc

WIDTH = 80
#: Below this a table is told row by row.
NARROW = 70
#: A column of words needs this much room to stand beside its numbers.
_WORDS = 24
#: The first column is never cut below this.
_FIRST = 12
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
    flow = _Flow(width, document.headline)
    if document.headline and not document.continued:
        flow.chunks.append(document.headline)
    flow.add(document.opening)
    for section in document.sections:
        if doc.Forms.TEXT in section.forms:
            flow.section(section)
    return untie("\n\n".join(flow.chunks))


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


class _Flow:
    """Pieces of text one after the other; some follow what came before without a gap."""

    def __init__(self, width: int, headline: str = "") -> None:
        self.width, self.headline = width, headline
        self.chunks: list[str] = []
        self.before: doc.Block | None = None

    def add(self, blocks: Sequence[doc.Block]) -> None:
        """The blocks that running text can show."""
        for block in blocks:
            made = _block(block, self.width, self.headline) if doc.Forms.TEXT in block.forms else []
            if made and self.chunks and follows(block, self.before):
                self.chunks[-1] += "\n" + made[0]
            else:
                self.chunks += made
            self.before = block if made else self.before

    def section(self, section: doc.Section) -> None:
        """Blocks under their heading."""
        if section.silent:
            self.add(section.blocks)
        else:
            self.chunks += _headed(heading(section), section.blocks, self.width)
            self.before = None


def _headed(title: str, blocks: Sequence[doc.Block], width: int) -> list[str]:
    """Blocks under their heading; a lead goes on in the heading's line."""
    if blocks and isinstance(blocks[0], doc.Lead):
        started = doc.Lead(blocks[0].paragraphs, continues=True)
        inside = _Flow(width, title)
        inside.add((started, *blocks[1:]))
        return inside.chunks
    inside = _Flow(width)
    inside.add(blocks)
    first, *rest = inside.chunks or [""]
    return ["\n".join([_fill(title, width), first]), *rest] if first else []


def _block(block: doc.Block, width: int, headline: str = "") -> list[str]:
    match block:
        case doc.Lead(paragraphs, continues):
            told = [doc.flat(paragraph) for paragraph in paragraphs]
            if continues and headline:
                told[0] = f"{headline}: {told[0]}"
            return [_fill(text, width) for text in told]
        case doc.Status(text, over):
            return [f"▲ {text}" if over else text]
        case doc.Paragraph(said):
            return [_fill(doc.flat(said), width)]
        case doc.Notes(items):
            return ["\n".join(_fill(item, width) for item in items)] if items else []
        case doc.Items(items):
            return ["\n".join(_item(item, width) for item in items)] if items else []
        case doc.Facts(items):
            return ["\n".join(f"  {fact.term}: {fact.text}" for fact in items)]
        case doc.Code(text, command):
            return [f"Reproduce: {text}" if command else text]
        case doc.Table():
            return ["\n".join(table_lines(block, width))]
        case doc.Combinations():
            return ["\n".join(combination_lines(block))] if block.rows else []
        case doc.Part(title, blocks):
            return _headed(title, blocks, width)
        case _:  # pictures and folds
            return []


def _fill(text: str, width: int) -> str:
    return textwrap.fill(tie(text), width)


def _item(text: str, width: int) -> str:
    return textwrap.fill(tie(text), width, initial_indent="  - ", subsequent_indent="    ")


def combination_lines(block: doc.Combinations) -> list[str]:
    """A line for each combination, its number first."""
    told = f"{block.counts[:1].upper()}{block.counts[1:]}, by combination:"
    return [told, *(f"  {row.text:>6}  {' · '.join(row.members)}" for row in block.rows)]


# -- tables -------------------------------------------------------------------------------------------------------


def table_lines(table: doc.Table, width: int) -> list[str]:
    """Columns, or row by row where the width is short and words belong to each; a star is explained at the end."""
    made = grid(table)
    words = made.words
    if words is None:
        lines = _columns(made, width)
    elif len(made.headings) == 2:
        lines = _definitions(made, width)
    else:
        lines = _told(made, width) if width < NARROW else _columns(made, width, words)
    return [*(line.rstrip() for line in lines), *(f"  {note}" for note in made.footnotes)]


def _columns(made: Grid, width: int, words: int | None = None) -> list[str]:
    """The first column to the left and broken where the width is short, numbers to the right, words after them."""
    numbers = [i for i in range(len(made.headings)) if i not in (0, words)]
    rows = made.rows
    head = [heading.short for heading in made.headings]
    sizes = {
        i: max(len(cell) for cell in ([row[i].text for row in rows] + ([head[i]] if i or any(head) else [""])))
        for i in (0, *numbers)
    }
    rest = 2 + sum(sizes[i] + 2 for i in numbers)
    if words is None:
        sizes[0] = max(min(sizes[0], width - rest), _FIRST)
    room = width - rest - sizes[0] - 2

    def line(cells: Sequence[str], told: str = "") -> list[str]:
        first, *more = textwrap.wrap(cells[0], sizes[0], drop_whitespace=False) or [""]
        start = f"  {first:{sizes[0]}}" + "".join(f"  {cells[i]:>{sizes[i]}}" for i in numbers)
        if not told:
            return [start, *(f"    {part.strip()}" for part in more)]
        if room >= _WORDS:
            beside, *under = textwrap.wrap(tie(told), room)
            return [f"{start}  {beside}", *(" " * (width - room) + part for part in under)]
        return [start, *_under(told, width)]  # too narrow for a column of words

    out = line(head) if any(head[i] for i in (0, *numbers)) else []
    for title, members in made.groups:
        out += ["", title] if title else []
        for row in members:
            out += line([cell.text for cell in row], "" if words is None else row[words].text)
    return out


def _under(told: str, width: int) -> list[str]:
    return textwrap.wrap(tie(told), width, initial_indent=" " * 4, subsequent_indent=" " * 4)


def _definitions(made: Grid, width: int) -> list[str]:
    """Names with their words underneath."""
    out: list[str] = []
    for title, members in made.groups:
        out += ["", title] if title else []
        for name, words in members:
            out += [f"  {name.text}", *_under(words.text, width)]
    return out


def _told(made: Grid, width: int) -> list[str]:
    """Row by row, for a narrow terminal: the name, its numbers, and its words underneath."""
    out: list[str] = []
    for title, members in made.groups:
        out += ([""] if out else []) + ([title] if title else [])
        for row in members:
            told = f"{row[0].text.strip()}: {', '.join(_numbers(made, row))}".removesuffix(": ")
            out += textwrap.wrap(told, width, initial_indent="  ", subsequent_indent="  ")
            out += _under(row[made.words or 0].text, width)
    return out


def _numbers(made: Grid, row: doc.Row) -> list[str]:
    """The numbers of a row; each after the first says what it is."""
    shown: list[str] = []
    for i, (heading, cell) in enumerate(zip(made.headings, row, strict=True)):
        if i and heading.kind is not doc.Kind.WORDS and cell.text:
            shown.append(f"{heading.short} {cell.text}".strip() if shown else cell.text)
    return shown


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
