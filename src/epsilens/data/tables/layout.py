"""How the rows of a text file are laid out: its separator, its quotes, the line that names the columns.

Decided from the first megabyte, by the separator under which the rows have the most fields, all equally many, below a
line that looks like names. The rows themselves are read by DuckDB, which is strict: a wrong guess is refused, with the
line, and never read as something else.

>>> found = layout("sep=;\\nname;height\\nAnna;1,65\\n", whole=True, name="people.csv")
>>> found.separator, found.names, found.header_line
(';', ('name', 'height'), 2)
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from .faults import Fault, refused

SEPARATORS = (",", ";", "\t", "|")
#: What pandas and R leave without a name: the number of the row.
ROW = "row"
_ROWS, _TITLES = 1000, 30
_NUMBER = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*([eE][-+]?\d+)?%?")
_VALUE = re.compile(rf"{_NUMBER.pattern}|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}([T ].*)?")


@dataclass(frozen=True)
class Layout:
    """How a file is written.

    ``width`` is the number of fields of each row; those beyond ``names`` have no name, and must be empty throughout.
    ``padded``: a blank follows every separator, and is no part of the values.
    """

    separator: str
    escape: str
    names: tuple[str, ...]
    width: int
    header_line: int
    skip: int  # how many rows, empty lines included, end with the header
    padded: bool = False


@dataclass(frozen=True)
class _Row:
    fields: list[str]
    line: int  # its first
    number: int  # counted with the empty ones


def layout(head: str, *, whole: bool, name: str) -> Layout:
    """The layout of a file that begins with ``head``; ``whole`` when that is all of it."""
    head = head.removeprefix("\ufeff")
    told = re.match(r'"?sep=([,;|\t])"?\r?\n|"?sep=([,;|\t])"?\r', head, re.IGNORECASE)
    start = told.end() if told else 0
    offered = (str(told[1] or told[2]),) if told else SEPARATORS
    first = 2 if told else 1
    tried = [_tried(separator, head[start:], whole, first) for separator in offered]
    found = max((each for each in tried if each is not None), key=lambda each: each[0], default=None)
    if found is None:
        raise refused(name, Fault.EMPTY)
    _, separator, escape, rows, header = found
    below = rows[header + 1 :]
    if header and not _differs(rows[header], below):
        raise refused(name, Fault.TITLES, line=rows[header].line)
    names = _names(rows[header], name)
    return Layout(
        separator=separator,
        escape=escape,
        names=names,
        width=_width(names, rows[header], below),
        header_line=rows[header].line,
        skip=rows[header].number,
        padded=bool(below) and all(len(row.fields) > 1 and _blank_first(row.fields[1:]) for row in below),
    )


def rows_in(text: str, found: Layout) -> Iterator[list[str]]:
    """The fields of the rows below the header, as Python's csv module reads them; what it cannot read ends them."""
    with contextlib.suppress(csv.Error):
        for row in _rows(text.removeprefix("\ufeff"), found.separator, found.escape):
            if row.number > found.skip:
                yield [field.strip() for field in row.fields] if found.padded else row.fields


def _rows(text: str, separator: str, escape: str, first: int = 1) -> Iterator[_Row]:
    before = csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        doublequote=escape == '"',
        escapechar=None if escape == '"' else escape,
        skipinitialspace=False,
        strict=True,
    )
    try:
        line = first
        for number, fields in enumerate(reader, first):
            if fields:
                yield _Row(fields, line, number)
            line = reader.line_num + first
    finally:
        csv.field_size_limit(before)


def _tried(
    separator: str, text: str, whole: bool, first: int
) -> tuple[tuple[int, float], str, str, list[_Row], int] | None:
    """How well a separator fits, the way quotes are written, the rows and which of them names the columns."""
    escape = '"'
    rows, good = _some(text, separator, escape, whole, first)
    if not good and '\\"' in text:
        others, good = _some(text, separator, "\\", whole, first)
        if good:
            escape, rows = "\\", others
    if not rows:
        return None
    widths = Counter(len(row.fields) for row in rows)
    width = max(widths, key=lambda each: (widths[each], each))
    header = _header(rows, width)
    likely = _can_name(rows[header].fields) and len(rows[header].fields) > 1
    rank = 0 if not likely else 1 if header else 2
    return (rank, widths[width] / len(rows) * (1 - 1 / width)), separator, escape, rows, header


def _some(text: str, separator: str, escape: str, whole: bool, first: int) -> tuple[list[_Row], bool]:
    """The first rows, and whether all of them could be read and are equally long."""
    rows: list[_Row] = []
    good = True
    try:
        for row in islice(_rows(text, separator, escape, first), _ROWS):
            rows.append(row)
    except csv.Error:  # DuckDB will say what is wrong with it; unless it is only cut off
        good = not whole
    if not whole and len(rows) > 1:
        rows.pop()
    return rows, good and len({len(row.fields) for row in rows}) == 1


def _header(rows: list[_Row], width: int) -> int:
    """Which row names the columns: the first, or the one below titles and comments.

    A title has at most one field that is not empty, and a comment begins with #; below them stands a row with as many
    fields as the others, all of them names.
    """
    for i, row in enumerate(rows[:_TITLES]):
        if i and len(_trimmed(row.fields)) > 1 and len(row.fields) == width and _can_name(row.fields):
            return i
        title = sum(bool(field.strip()) for field in row.fields) <= 1
        comment = row.fields[0].lstrip().startswith("#") and len(row.fields) != width
        if width == 1 or not (title or comment):
            break
    return 0


def _differs(header: _Row, below: list[_Row]) -> bool:
    """Whether some column has values that are no names: numbers or dates under a word.

    Without that the lines above may be rows too, and nothing is left out on a guess.
    """
    for i, field in enumerate(header.fields):
        values = [row.fields[i] for row in below if len(row.fields) > i and row.fields[i].strip()]
        if values and not _VALUE.fullmatch(field.strip()) and all(_VALUE.fullmatch(v.strip()) for v in values):
            return True
    return False


def _names(header: _Row, name: str) -> tuple[str, ...]:
    fields = _trimmed(header.fields)
    numbers = [field for field in fields if _NUMBER.fullmatch(field)]
    if not fields or (numbers and not _counted(fields, numbers)):
        raise refused(name, Fault.NO_HEADER, line=header.line)
    if not fields[0] and all(fields[1:]) and ROW not in map(str.casefold, fields):
        fields[0] = ROW
    missing = [i for i, field in enumerate(fields, 1) if not field]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise refused(name, Fault.UNNAMED, line=header.line, columns=f"column {missing[0]:,}{more}")
    seen: dict[str, str] = {}
    for field in fields:
        other = seen.get(field.casefold())
        if other == field:
            raise refused(name, Fault.DUPLICATE, line=header.line, columns=f"{field[:60]!r}")
        if other is not None:
            raise refused(name, Fault.CASE, line=header.line, columns=f"{other[:60]!r} and {field[:60]!r}")
        seen[field.casefold()] = field
    return tuple(fields)


def _counted(fields: list[str], numbers: list[str]) -> bool:
    """Whether the numbers among the names are years, or count: 1, 2, 3; a row of values has others."""
    if len(numbers) == len(fields) or not all(number.isdecimal() for number in numbers):
        return False
    values = [int(number) for number in numbers]
    steps = {b - a for a, b in pairwise(values)}
    years = all(1800 <= value <= 2100 for value in values) and len(set(values)) == len(values)
    return years or (len(values) > 2 and len(steps) == 1 and steps != {0})


def _width(names: tuple[str, ...], header: _Row, below: list[_Row]) -> int:
    """The fields of a row: as many as the header has, unless every row has more or fewer without a name."""
    widths = {len(row.fields) for row in below}
    if len(widths) == 1:
        (width,) = widths
        empty = all(not field.strip() for row in below for field in row.fields[len(names) :])
        if width >= len(names) and empty:
            return width
    return len(header.fields)


def _trimmed(fields: list[str]) -> list[str]:
    """The fields without the blanks around them, and without empty ones at the end."""
    made = [field.strip().removeprefix("\ufeff") for field in fields]
    while made and not made[-1]:
        made.pop()
    return made


def _can_name(fields: list[str]) -> bool:
    made = _trimmed(fields)
    if not made or not all(made[1:]) or len({field.casefold() for field in made}) < len(made):
        return False
    numbers = [field for field in made if _NUMBER.fullmatch(field)]
    return not numbers or _counted(made, numbers)


def _blank_first(fields: list[str]) -> bool:
    return all(field.startswith(" ") for field in fields)
