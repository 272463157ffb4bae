"""CSV and other text files, read once: by DuckDB, strictly, into a typed Parquet copy that every engine reads.

* Separators: comma, semicolon, tab, bar. Quotes doubled, or with a backslash before them. Lines end in LF, CRLF or CR.
  UTF-8, UTF-16 or Windows-1252; gzip, bz2, xz or zstd. A first line ``sep=;`` is heeded, and titles above the header
  are left out where numbers or dates below it show which line it is.
* One file, a pattern of files or a folder of them, with equal headers.
* An empty field is NULL, in quotes or not; an empty line is no row. Blanks around the names of columns do not count.
  A first column without a name, as pandas and R write it, is called ``row``; columns at the end without name and
  without values are left out. Nothing else is: a row with too few or too many fields is refused.
* Types: a sample says what each column seems to hold. The file is then read once, as text, into Parquet: what has that
  form is converted, and what has not stands beside it in a second column. Where that stays empty, and it nearly always
  does, the type holds for every row. Where not, the column becomes what all its values are: a postal code ``01234`` in
  the last of ten million rows makes it text, and no zero is lost. Only what has one meaning is converted: ``1,234``,
  ``01/02/2024``, ``N/A``, ``yes``, `` 7`` and numbers of more digits than a machine keeps stay text; how such text is
  to be read is said by the plan.
* DuckDB reads strictly, and what it cannot read is found again by a second reading that collects the bad lines; that
  costs time only where the file is refused anyway.

The copy lies in the engine's private folder, and ends with it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import InputError
from .csv_sniffer import (
    LONGEST,
    Fault,
    Layout,
    Text,
    check_nul,
    contains,
    failed,
    from_western,
    layout,
    line_at,
    looked_at,
    one_line_end,
    plain,
    refused,
    rows_in,
    western,
)
from .engines import Engine, connect
from .sources import Files, from_parquet


class Kind(StrEnum):
    """What the values of a column are."""

    NOTHING = "nothing"  # every one is empty
    TRUTH = "truth"
    WHOLE = "whole number"
    NUMBER = "number"
    DATE = "date"
    TIME = "date and time"
    TEXT = "text"


_DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
#: The forms, in expressions that Python and DuckDB read alike. 19 digits may still be too many for 64 bits, and
#: 2024-02-30 is no date: those the conversion finds. A whole number among fractions has at most the 15 digits that
#: a float keeps.
FORMS = {
    Kind.TRUTH: r"(?i:true|false)",
    Kind.WHOLE: r"0|-?[1-9][0-9]{0,18}",
    Kind.NUMBER: (
        r"-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-2]?[0-9]{1,2})?"
        r"|(?i:nan|[-+]?inf(inity)?)"
    ),
    Kind.DATE: _DAY,
    Kind.TIME: _DAY + r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?(Z|[+-]00(:?00)?)?)?)?",
}
LARGEST = 10**15
_SQL = {
    Kind.NOTHING: "VARCHAR", Kind.TEXT: "VARCHAR", Kind.TRUTH: "BOOLEAN", Kind.WHOLE: "BIGINT",
    Kind.NUMBER: "DOUBLE", Kind.DATE: "DATE", Kind.TIME: "TIMESTAMP",
}  # fmt: skip
_FORMS = {kind: re.compile(form) for kind, form in FORMS.items()}
#: Kinds whose values give back the text they were made of, letter by letter.
EXACT = (Kind.WHOLE, Kind.DATE)
#: What two kinds have in common, where it is not text.
_COMMON = {frozenset((Kind.WHOLE, Kind.NUMBER)): Kind.NUMBER, frozenset((Kind.DATE, Kind.TIME)): Kind.TIME}


def kind_of(values: Iterable[str]) -> Kind:
    """The kind that all values have, as far as their form says.

    >>> kind_of(["1", "", "-20"]), kind_of(["1", "2.5"]), kind_of(["1", "01"]), kind_of(["2024-05-01"])
    (<Kind.WHOLE: 'whole number'>, <Kind.NUMBER: 'number'>, <Kind.TEXT: 'text'>, <Kind.DATE: 'date'>)
    """
    left = list(_FORMS)
    seen = False
    for each in values:
        if each:
            seen = True
            left = [kind for kind in left if _FORMS[kind].fullmatch(each)]
            if not left:
                return Kind.TEXT
    return left[0] if seen else Kind.NOTHING


def all_of(kinds: Iterable[Kind]) -> Kind:
    """The kind of all values, from the kinds of some each.

    >>> all_of([Kind.WHOLE, Kind.NOTHING, Kind.NUMBER]), all_of([Kind.DATE, Kind.WHOLE])
    (<Kind.NUMBER: 'number'>, <Kind.TEXT: 'text'>)
    """
    made = Kind.NOTHING
    for kind in kinds:
        if made is Kind.NOTHING:
            made = kind
        elif kind not in (made, Kind.NOTHING):
            made = _COMMON.get(frozenset((made, kind)), Kind.TEXT)
    return made


def value(text: str, kind: Kind) -> str:
    """SQL: the value of ``text``, or NULL where it has not the form or is none."""
    if kind is Kind.NOTHING:
        return "NULL::VARCHAR"
    if kind is Kind.TEXT:
        return text
    return f"CASE WHEN regexp_full_match({text}, '{FORMS[kind]}') THEN TRY_CAST({text} AS {_SQL[kind]}) END"


def whether(odd: str, kind: Kind) -> str:
    """SQL: whether every one of the odd texts is of that kind."""
    return f"coalesce(bool_and({odd} IS NULL OR ({value(odd, kind)}) IS NOT NULL), true)"


def restored(made: str, odd: str, was: Kind, now: Kind) -> str:
    """SQL: the values of a column that turned out to be another kind than was thought; ``was`` must be exact."""
    if was is Kind.NOTHING:
        return value(odd, now)
    text = f"{made}::{_SQL[now]}"
    return f"coalesce({odd if now is Kind.TEXT else value(odd, now)}, {text})"


_ODD, _UNNAMED = "epsilens_odd_", "epsilens_unnamed"
_ERRORS, _SCANS = "epsilens_bad_lines", "epsilens_bad_files"
#: A row group is held in memory: the more columns, the fewer rows.
_CELLS, _LEAST, _MOST = 4_000_000, 2048, 122_880
_WIDE = 1000
_FAULTS = {
    "MISSING COLUMNS": Fault.SHORT, "TOO MANY COLUMNS": Fault.LONG, "UNQUOTED VALUE": Fault.QUOTE,
    "INVALID ENCODING": Fault.ENCODING, "LINE SIZE OVER MAXIMUM": Fault.LINE_SIZE,
}  # fmt: skip


@dataclass(frozen=True)
class _Part:
    """One file of the table, as DuckDB can read it."""

    name: str
    text: Text
    layout: Layout
    path: Path

    def rows(self, more: str = "") -> str:
        """SQL: its rows, each field as text."""
        made = self.layout
        columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(made.width))
        return (
            f"read_csv({_quoted(self.path)}, auto_detect = false, header = false, delim = {_quoted(made.separator)}, "
            f"quote = '\"', escape = {_quoted(made.escape)}, skip = {made.skip}, strict_mode = true, "
            f"allow_quoted_nulls = {str(made.width > 1).lower()}, max_line_size = {LONGEST}, "
            f"columns = {{{columns}}}{more})"
        )

    def field(self, i: int) -> str:
        """SQL: a field, NULL where it is empty."""
        if self.layout.padded:
            return f"nullif(trim(c{i}), '')"
        return f"nullif(c{i}, '')" if self.layout.width == 1 else f"c{i}"

    def selected(self, kinds: Sequence[Kind], unnamed: bool) -> str:
        """SQL: the values, what has another form, and the first column without a name that has a value."""
        names, width = self.layout.names, self.layout.width
        inner = [f"{self.field(i)} AS t{i}, {value(self.field(i), kind)} AS v{i}" for i, kind in enumerate(kinds)]
        outer = [f"v{i} AS {_name(name)}" for i, name in enumerate(names)]
        outer += [f"CASE WHEN v{i} IS NULL THEN t{i} END AS {_ODD}{i}" for i, k in enumerate(kinds) if k != Kind.TEXT]
        if unnamed:
            cases = "".join(f" WHEN trim(c{i}) <> '' THEN {i + 1}" for i in range(len(names), width))
            inner.append(f"CASE{cases} END AS u" if cases else "NULL::INTEGER AS u")
            outer.append(f"u AS {_UNNAMED}")
        # In a table of one column an empty line looks like an empty field; only the field in quotes is a row.
        rows = " WHERE c0 IS NOT NULL" if width == 1 else ""
        return f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM {self.rows()}{rows})"


def copied(parts: Sequence[tuple[str, Text, Layout]], kinds: Sequence[Kind], con: Any, folder: Path) -> Path:
    """A folder of Parquet files, one for each file."""
    copy = Path(tempfile.mkdtemp(prefix="copy-", dir=folder))
    unnamed = any(found.width > len(found.names) for _, _, found in parts)
    for i, (name, text, found) in enumerate(parts):
        with tempfile.TemporaryDirectory(dir=folder) as room:
            path = plain(text, Path(room), name)
            check_nul(path, name)
            _read(_Part(name, text, found, path), kinds, unnamed, con, Path(room), copy / f"{i}.parquet")
    return copy


def true_kinds(copy: Path, names: Sequence[str], kinds: Sequence[Kind], con: Any) -> list[Kind]:
    """The kinds that hold for every row."""
    rows = f"read_parquet({_quoted(copy / '*.parquet')})"
    asked = [i for i, kind in enumerate(kinds) if kind is not Kind.TEXT]
    if not asked:
        return list(kinds)
    counts = con.execute(f"SELECT {', '.join(f'count({_ODD}{i})' for i in asked)} FROM {rows}").fetchone()
    now = list(kinds)
    for i in (i for i, count in zip(asked, counts, strict=True) if count):
        others = [kind for kind in Kind if kind not in (Kind.NOTHING, Kind.TEXT)]
        tests = [whether(f"{_ODD}{i}", kind) for kind in others]
        held = con.execute(f"SELECT {', '.join(tests)} FROM {rows}").fetchone()
        odd = next((kind for kind, holds in zip(others, held, strict=True) if holds), Kind.TEXT)
        now[i] = all_of((kinds[i], odd))
        if (kinds[i], now[i]) == (Kind.WHOLE, Kind.NUMBER):
            (largest,) = con.execute(f"SELECT max(abs({_name(names[i])})) FROM {rows}").fetchone()
            now[i] = Kind.TEXT if largest >= LARGEST else now[i]
    return now


def retyped(
    copy: Path, names: Sequence[str], kinds: Sequence[Kind], now: Sequence[Kind], con: Any, folder: Path
) -> Path:
    """The copy, with the columns whose kind was another one made anew."""
    made = Path(tempfile.mkdtemp(prefix="retyped-", dir=folder))
    columns = [
        f"{_name(name) if was is kind else restored(_name(name), f'{_ODD}{i}', was, kind)} AS {_name(name)}"
        for i, (name, was, kind) in enumerate(zip(names, kinds, now, strict=True))
    ]
    rows = f"SELECT {', '.join(columns)} FROM read_parquet({_quoted(copy / '*.parquet')})"
    _write(con, rows, made / "0.parquet", len(columns))
    for file in copy.iterdir():
        file.unlink()
    return made


def _read(part: _Part, kinds: Sequence[Kind], unnamed: bool, con: Any, room: Path, copy: Path) -> None:
    """One file into Parquet; where it is not what its head said it is read another way, or refused with the line."""
    tried: set[_Way] = set()
    own: InputError | None = None
    while True:
        try:
            _write(con, part.selected(kinds, unnamed), copy, 2 * part.layout.width)
            break
        except Exception as error:
            if not _is_content(error):
                raise
            fault, said = _diagnosed(part, con)
            if fault in _OWN:  # what another way of reading makes of such a file is no help
                own = own or said
            way = next((way for way in _WAYS.get(fault, ()) if way not in tried and way.fits(part)), None)
            if way is None:
                raise (own or said) from None  # DuckDB's words hold the line
            tried.add(way)
            part = way.taken(part, room)
    if unnamed:
        (first,) = con.execute(f"SELECT min({_UNNAMED}) FROM read_parquet({_quoted(copy)})").fetchone()
        if first is not None:
            raise refused(part.name, Fault.UNNAMED, line=part.layout.header_line, columns=f"column {first:,}")


class _Way(StrEnum):
    """Other ways to read a file than its head told."""

    WESTERN = "western"
    LINES = "lines"
    BACKSLASH = "backslash"

    def fits(self, part: _Part) -> bool:
        """Whether it may help."""
        if self is _Way.WESTERN:
            return part.text.encoding == "utf-8" and western(part.path)
        if self is _Way.LINES:
            return contains(part.path, b"\r")
        return part.layout.escape == '"' and contains(part.path, b'\\"')

    def taken(self, part: _Part, room: Path) -> _Part:
        """The file, to be read that way."""
        if self is _Way.WESTERN:
            return replace(part, path=from_western(part.text, room, part.name))
        if self is _Way.LINES:
            return replace(part, path=one_line_end(part.path, room, part.layout.escape))
        return replace(part, layout=replace(part.layout, escape="\\"))


#: Faults of the file itself, and the ways worth a try for each fault.
_OWN = (Fault.SHORT, Fault.LONG, Fault.QUOTE)
_WAYS = {
    Fault.ENCODING: (_Way.WESTERN,), Fault.LINE_ENDS: (_Way.LINES,), Fault.QUOTE: (_Way.BACKSLASH, _Way.LINES),
    Fault.SHORT: (_Way.LINES,), Fault.LONG: (_Way.BACKSLASH, _Way.LINES),
}  # fmt: skip


def _is_content(error: Exception) -> bool:
    """Whether it is the file that is wrong, not the disk or the memory; Arrow has one class for all it passes on."""
    return type(error).__name__ == "InvalidInputException" or (isinstance(error, OSError) and error.errno is None)


def _diagnosed(part: _Part, con: Any) -> tuple[Fault, InputError]:
    """What is wrong, and the sentence on the first line of which it is."""
    options = f", store_rejects = true, rejects_table = '{_ERRORS}', rejects_scan = '{_SCANS}', rejects_limit = 100000"
    try:
        # To its end, because only then they are kept; and every field, because only what is used is checked.
        fields = ", ".join(f"count(c{i})" for i in range(part.layout.width))
        con.execute(f"SELECT {fields} FROM {part.rows(options)}").fetchall()
        bad = con.execute(
            f"SELECT error_type::VARCHAR, min(line_byte_position), count(DISTINCT line), "
            f"arg_min(fields, line_byte_position) FROM (SELECT error_type, line, line_byte_position, "
            f"max(column_idx) AS fields FROM {_ERRORS} GROUP BY ALL) GROUP BY 1 ORDER BY 2"
        ).fetchall()
    except Exception as error:
        if not _is_content(error):
            raise
        return Fault.LINE_ENDS, refused(part.name, Fault.LINE_ENDS)
    finally:
        con.execute(f"DROP TABLE IF EXISTS {_ERRORS}")
        con.execute(f"DROP TABLE IF EXISTS {_SCANS}")
    if not bad:
        return Fault.OTHER, refused(part.name, Fault.OTHER)
    kind, position, lines, found = bad[0]
    fault = _FAULTS.get(kind, Fault.OTHER)
    line = line_at(part.path, position - 1) if position else part.layout.header_line + 1
    width, separator = len(part.layout.names), part.layout.separator
    return fault, refused(
        part.name, fault, line=line, lines=lines, fields=found or 0, width=width, separator=separator, encoding="UTF-8"
    )


def _write(con: Any, rows: str, copy: Path, columns: int) -> None:
    if columns > _WIDE:
        _stream(con, rows, copy)
        return
    group = min(_MOST, max(_LEAST, _CELLS // columns))
    con.execute(f"COPY ({rows}) TO {_quoted(copy)} (FORMAT parquet, ROW_GROUP_SIZE {group})")


def _stream(con: Any, rows: str, copy: Path) -> None:
    """The same for many columns, for each of which DuckDB's writer and its threads hold memory."""
    import pyarrow.parquet as pq

    (threads,) = con.execute("SELECT current_setting('threads')").fetchone()
    con.execute("SET threads = 1")
    try:
        batches = con.execute(rows).to_arrow_reader(_LEAST)
        with pq.ParquetWriter(copy, batches.schema) as out:
            for batch in batches:
                out.write_batch(batch)
    finally:
        con.execute(f"SET threads = {threads}")


def _quoted(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


#: The pieces of a file that are looked at beyond its head, their size, and the rows of the head.
_PIECES, _SIZE, _ROWS = 8, 1 << 16, 4000


def from_csv(files: Files, path: str, engine: Engine) -> Any:
    """The table of text files on an engine that reads files; ``path`` is what was given for them."""
    reader = engine if engine.kind == "duckdb" else connect("duckdb")
    folder = Path(tempfile.mkdtemp(prefix="text-", dir=engine.folder()))
    try:
        names, copy = _converted([Path(file) for file in files.paths], path, reader.connection.con, folder)
        parts = tuple(str(part) for part in sorted(copy.glob("*.parquet")))
        return from_parquet(Files(parts, str(copy), True), engine, Path(path).name).select(*names)
    except InputError:
        raise
    except Exception as error:
        raise failed(path, error, engine.folder()) from None  # its words may hold cells
    finally:
        if reader is not engine:
            reader.close()


def _converted(files: Sequence[Path], path: str, con: Any, folder: Path) -> tuple[tuple[str, ...], Path]:
    """The names of the columns, and the folder of the typed copy."""
    looked: list[tuple[str, Text, Layout]] = []
    for file in files:
        name = path if len(files) == 1 else file.name
        text = looked_at(file, name)
        looked.append((name, text, layout(text.head, whole=text.whole, name=name)))
    first, _, found = looked[0]
    for name, _, other in looked[1:]:
        if other.names != found.names:
            raise InputError(
                f"table is {path!r}: {name} and {first} have different columns; give files of one table",
                parameter="table",
            )
    samples = [_sampled(text, found) for _, text, found in looked]
    kinds = [all_of(each) for each in zip(*samples, strict=True)]
    copy = copied(looked, kinds, con, folder)
    now = true_kinds(copy, found.names, kinds, con)
    changed = [was for was, kind in zip(kinds, now, strict=True) if was is not kind]
    if any(was not in (*EXACT, Kind.NOTHING) for was in changed):
        # The text of a fraction is not kept beside it, and 1.50 and 1.5 are one number: the file is read once more.
        copy = copied(looked, now, con, folder)
    elif changed:
        copy = retyped(copy, found.names, kinds, now, con, folder)
    return found.names, copy


def _sampled(text: Text, found: Layout) -> list[Kind]:
    """What each column seems to hold, by the head of the file and by pieces from all over it.

    It must be right only where it says text, which is not looked at again: a piece with a quote, in which fields may
    begin anywhere, says nothing.
    """
    rows = list(islice(rows_in(text.head, found), _ROWS))
    if not text.whole:
        rows = rows[:-1]
        if text.plain:
            rows += [row for piece in _pieces(text.path) for row in rows_in(piece, replace(found, skip=0))]
    fit = [row for row in rows if len(row) == found.width]
    return [kind_of(row[i] for row in fit) for i in range(len(found.names))]


def _pieces(path: Path) -> Iterator[str]:
    """Whole lines from places spread over the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        for i in range(1, _PIECES + 1):
            file.seek(max(0, size * i // _PIECES - _SIZE))
            lines = re.split(rb"[\r\n]+", file.read(_SIZE))
            if not any(b'"' in line for line in lines):
                yield b"\n".join(lines[1:-1]).decode("utf-8", "replace")
