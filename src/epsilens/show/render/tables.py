"""Tables as rows of strings: what text, Markdown and the terminal share."""

from __future__ import annotations

from dataclasses import dataclass

from ..document import Cell, Kind, Row, Table

__all__ = ["Grid", "Heading", "grid", "stated"]

#: Columns that need room and colours: running text does without.
_PICTURED = (Kind.SYMBOL, Kind.BAR)


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of a grid: its head, its short head and what it holds."""

    full: str
    short: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell of a grid; ``over`` breaks a limit."""

    text: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table in running text: a state stands in a column of its own, a mark is a star with a footnote."""

    headings: tuple[Heading, ...]
    groups: tuple[tuple[str, tuple[tuple[Entry, ...], ...]], ...]
    footnotes: tuple[str, ...]

    @property
    def rows(self) -> list[tuple[Entry, ...]]:
        """Every row, groups left aside."""
        return [row for _, rows in self.groups for row in rows]

    @property
    def words(self) -> int | None:
        """Where the column of words stands."""
        return next((i for i, heading in enumerate(self.headings) if heading.kind is Kind.WORDS), None)


def stated(cell: Cell) -> str:
    """The state of a cell; one that breaks a limit says so without colour."""
    return f"▲ {cell.state}" if cell.over and cell.state else cell.state


def grid(table: Table) -> Grid:
    """The table without what only a page can show."""
    kept = [i for i, column in enumerate(table.columns) if column.kind not in _PICTURED]
    states = {i for i in kept if any(row[i].state for row in table.rows)}
    headings = []
    for i in kept:
        column = table.columns[i]
        headings.append(Heading(column.head, column.short, column.kind))
        if i in states:
            headings.append(Heading("", "", Kind.NUMBER))
    marks = dict.fromkeys(cell.mark for row in table.rows for cell in row if cell.mark)

    def entries(row: Row) -> tuple[Entry, ...]:
        out = []
        for i in kept:
            cell = row[i]
            out.append(Entry(f"{cell.running} *" if cell.mark else cell.running))
            if i in states:
                out.append(Entry(stated(cell), cell.over))
        return tuple(out)

    groups = tuple((group.title, tuple(entries(row) for row in group.rows)) for group in table.groups)
    return Grid(tuple(headings), groups, tuple(f"* {mark}" for mark in marks))
