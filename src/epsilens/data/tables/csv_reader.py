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
from typing import TYPE_CHECKING

from ...errors import InputError, require
from .csv_sniffer import (
    LONGEST,
    CsvFault,
    CsvLayout,
    TextFile,
    check_nul,
    csv_error,
    detect_layout,
    file_contains,
    inspect_text,
    is_windows_1252,
    line_at,
    normalized_line_ends,
    read_error,
    sample_rows,
    utf8_file,
    windows_1252_copy,
)
from .dialect import identifier, quoted
from .engines import Engine, connect
from .sources import Files, from_parquet

if TYPE_CHECKING:
    import ibis.expr.types as ir
    from duckdb import DuckDBPyConnection


class ValueType(StrEnum):
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
    ValueType.TRUTH: r"(?i:true|false)",
    ValueType.WHOLE: r"0|-?[1-9][0-9]{0,18}",
    ValueType.NUMBER: (
        r"-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-2]?[0-9]{1,2})?"
        r"|(?i:nan|[-+]?inf(inity)?)"
    ),
    ValueType.DATE: _DAY,
    ValueType.TIME: _DAY + r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?(Z|[+-]00(:?00)?)?)?)?",
}
LARGEST = 10**15
_SQL = {
    ValueType.NOTHING: "VARCHAR",
    ValueType.TEXT: "VARCHAR",
    ValueType.TRUTH: "BOOLEAN",
    ValueType.WHOLE: "BIGINT",
    ValueType.NUMBER: "DOUBLE",
    ValueType.DATE: "DATE",
    ValueType.TIME: "TIMESTAMP",
}
_FORMS = {kind: re.compile(form) for kind, form in FORMS.items()}
#: Kinds whose values give back the text they were made of, letter by letter.
EXACT = (ValueType.WHOLE, ValueType.DATE)
#: What two kinds have in common, where it is not text.
_COMMON = {
    frozenset((ValueType.WHOLE, ValueType.NUMBER)): ValueType.NUMBER,
    frozenset((ValueType.DATE, ValueType.TIME)): ValueType.TIME,
}


def infer_type(values: Iterable[str]) -> ValueType:
    """The kind that all values have, as far as their form says.

    >>> infer_type(["1", "", "-20"]), infer_type(["1", "2.5"])
    (<ValueType.WHOLE: 'whole number'>, <ValueType.NUMBER: 'number'>)
    >>> infer_type(["1", "01"]), infer_type(["2024-05-01"])
    (<ValueType.TEXT: 'text'>, <ValueType.DATE: 'date'>)
    """
    left = list(_FORMS)
    seen = False
    for each in values:
        if each:
            seen = True
            left = [kind for kind in left if _FORMS[kind].fullmatch(each)]
            if not left:
                return ValueType.TEXT
    return left[0] if seen else ValueType.NOTHING


def common_type(kinds: Iterable[ValueType]) -> ValueType:
    """The kind of all values, from the kinds of some each.

    >>> common_type([ValueType.WHOLE, ValueType.NOTHING, ValueType.NUMBER])
    <ValueType.NUMBER: 'number'>
    >>> common_type([ValueType.DATE, ValueType.WHOLE])
    <ValueType.TEXT: 'text'>
    """
    made = ValueType.NOTHING
    for kind in kinds:
        if made is ValueType.NOTHING:
            made = kind
        elif kind not in (made, ValueType.NOTHING):
            made = _COMMON.get(frozenset((made, kind)), ValueType.TEXT)
    return made


def cast_sql(text: str, kind: ValueType) -> str:
    """SQL: the value of ``text``, or NULL where it has not the form or is none."""
    if kind is ValueType.NOTHING:
        return "NULL::VARCHAR"
    if kind is ValueType.TEXT:
        return text
    return f"CASE WHEN regexp_full_match({text}, '{FORMS[kind]}') THEN TRY_CAST({text} AS {_SQL[kind]}) END"


def all_castable_sql(odd: str, kind: ValueType) -> str:
    """SQL: whether every one of the odd texts is of that kind."""
    return f"coalesce(bool_and({odd} IS NULL OR ({cast_sql(odd, kind)}) IS NOT NULL), true)"


def recast_sql(made: str, odd: str, was: ValueType, now: ValueType) -> str:
    """SQL: the values of a column that turned out to be another kind than was thought; ``was`` must be exact."""
    if was is ValueType.NOTHING:
        return cast_sql(odd, now)
    text = f"{made}::{_SQL[now]}"
    return f"coalesce({odd if now is ValueType.TEXT else cast_sql(odd, now)}, {text})"


_ODD, _UNNAMED = "epsilens_odd_", "epsilens_unnamed"
_ERRORS, _SCANS = "epsilens_bad_lines", "epsilens_bad_files"
#: A row group is held in memory: the more columns, the fewer rows.
_CELLS, _LEAST, _MOST = 4_000_000, 2048, 122_880
_WIDE = 1000
_FAULTS = {
    "MISSING COLUMNS": CsvFault.SHORT,
    "TOO MANY COLUMNS": CsvFault.LONG,
    "UNQUOTED VALUE": CsvFault.QUOTE,
    "INVALID ENCODING": CsvFault.ENCODING,
    "LINE SIZE OVER MAXIMUM": CsvFault.LINE_SIZE,
}


@dataclass(frozen=True)
class _CsvFile:
    """One file of the table, as DuckDB can read it."""

    name: str
    text: TextFile
    layout: CsvLayout
    path: Path

    def rows(self, more: str = "") -> str:
        """SQL: its rows, each field as text."""
        made = self.layout
        columns = ", ".join(f"c{i}: 'VARCHAR'" for i in range(made.width))
        return (
            f"read_csv({quoted(self.path)}, auto_detect = false, header = false, delim = {quoted(made.separator)}, "
            f"quote = '\"', escape = {quoted(made.escape)}, skip = {made.skip}, strict_mode = true, "
            f"allow_quoted_nulls = {str(made.width > 1).lower()}, max_line_size = {LONGEST}, "
            f"columns = {{{columns}}}{more})"
        )

    def field(self, i: int) -> str:
        """SQL: a field, NULL where it is empty."""
        if self.layout.padded:
            return f"nullif(trim(c{i}), '')"
        return f"nullif(c{i}, '')" if self.layout.width == 1 else f"c{i}"

    def selected(self, kinds: Sequence[ValueType], unnamed: bool) -> str:
        """SQL: the values, what has another form, and the first column without a name that has a value."""
        names, width = self.layout.names, self.layout.width
        inner = [f"{self.field(i)} AS t{i}, {cast_sql(self.field(i), kind)} AS v{i}" for i, kind in enumerate(kinds)]
        outer = [f"v{i} AS {identifier(name)}" for i, name in enumerate(names)]
        outer += [
            f"CASE WHEN v{i} IS NULL THEN t{i} END AS {_ODD}{i}" for i, k in enumerate(kinds) if k != ValueType.TEXT
        ]
        if unnamed:
            cases = "".join(f" WHEN trim(c{i}) <> '' THEN {i + 1}" for i in range(len(names), width))
            inner.append(f"CASE{cases} END AS u" if cases else "NULL::INTEGER AS u")
            outer.append(f"u AS {_UNNAMED}")
        # In a table of one column an empty line looks like an empty field; only the field in quotes is a row.
        rows = " WHERE c0 IS NOT NULL" if width == 1 else ""
        return f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM {self.rows()}{rows})"


def write_copies(
    parts: Sequence[tuple[str, TextFile, CsvLayout]], kinds: Sequence[ValueType], con: DuckDBPyConnection, folder: Path
) -> Path:
    """A folder of Parquet files, one for each file."""
    copy = Path(tempfile.mkdtemp(prefix="copy-", dir=folder))
    unnamed = any(found.width > len(found.names) for _, _, found in parts)
    for i, (name, text, found) in enumerate(parts):
        with tempfile.TemporaryDirectory(dir=folder) as room:
            path = utf8_file(text, Path(room), name)
            check_nul(path, name)
            _copy_file(_CsvFile(name, text, found, path), kinds, unnamed, con, Path(room), copy / f"{i}.parquet")
    return copy


def verified_types(
    copy: Path, names: Sequence[str], kinds: Sequence[ValueType], con: DuckDBPyConnection
) -> list[ValueType]:
    """The kinds that hold for every row."""
    rows = f"read_parquet({quoted(copy / '*.parquet')})"
    asked = [i for i, kind in enumerate(kinds) if kind is not ValueType.TEXT]
    if not asked:
        return list(kinds)
    counts = con.execute(f"SELECT {', '.join(f'count({_ODD}{i})' for i in asked)} FROM {rows}").fetchone()
    now = list(kinds)
    for i in (i for i, count in zip(asked, counts, strict=True) if count):
        others = [kind for kind in ValueType if kind not in (ValueType.NOTHING, ValueType.TEXT)]
        tests = [all_castable_sql(f"{_ODD}{i}", kind) for kind in others]
        held = con.execute(f"SELECT {', '.join(tests)} FROM {rows}").fetchone()
        odd = next((kind for kind, holds in zip(others, held, strict=True) if holds), ValueType.TEXT)
        now[i] = common_type((kinds[i], odd))
        if (kinds[i], now[i]) == (ValueType.WHOLE, ValueType.NUMBER):
            (largest,) = con.execute(f"SELECT max(abs({identifier(names[i])})) FROM {rows}").fetchone()
            now[i] = ValueType.TEXT if largest >= LARGEST else now[i]
    return now


def recast_copy(
    copy: Path,
    names: Sequence[str],
    kinds: Sequence[ValueType],
    now: Sequence[ValueType],
    con: DuckDBPyConnection,
    folder: Path,
) -> Path:
    """The copy, with the columns whose kind was another one made anew."""
    made = Path(tempfile.mkdtemp(prefix="retyped-", dir=folder))
    columns = []
    for i, (name, was, kind) in enumerate(zip(map(identifier, names), kinds, now, strict=True)):
        columns.append(f"{name if was is kind else recast_sql(name, f'{_ODD}{i}', was, kind)} AS {name}")
    rows = f"SELECT {', '.join(columns)} FROM read_parquet({quoted(copy / '*.parquet')})"
    _write_parquet(con, rows, made / "0.parquet", len(columns))
    for file in copy.iterdir():
        file.unlink()
    return made


def _copy_file(
    part: _CsvFile, kinds: Sequence[ValueType], unnamed: bool, con: DuckDBPyConnection, room: Path, copy: Path
) -> None:
    """One file into Parquet; where it is not what its head said it is read another way, or refused with the line."""
    tried: set[_Retry] = set()
    own: InputError | None = None
    while True:
        try:
            _write_parquet(con, part.selected(kinds, unnamed), copy, 2 * part.layout.width)
            break
        except Exception as error:
            if not _is_content_error(error):
                raise
            fault, said = _first_error(part, con)
            if fault in _OWN:  # what another way of reading makes of such a file is no help
                own = own or said
            way = next((way for way in _RETRIES.get(fault, ()) if way not in tried and way.fits(part)), None)
            if way is None:
                raise (own or said) from None  # DuckDB's words hold the line
            tried.add(way)
            part = way.taken(part, room)
    if unnamed:
        (first,) = con.execute(f"SELECT min({_UNNAMED}) FROM read_parquet({quoted(copy)})").fetchone()
        if first is not None:
            raise csv_error(part.name, CsvFault.UNNAMED, line=part.layout.header_line, columns=f"column {first:,}")


class _Retry(StrEnum):
    """Other ways to read a file than its head told."""

    WESTERN = "western"
    LINES = "lines"
    BACKSLASH = "backslash"

    def fits(self, part: _CsvFile) -> bool:
        if self is _Retry.WESTERN:
            return part.text.encoding == "utf-8" and is_windows_1252(part.path)
        if self is _Retry.LINES:
            return file_contains(part.path, b"\r")
        return part.layout.escape == '"' and file_contains(part.path, b'\\"')

    def taken(self, part: _CsvFile, room: Path) -> _CsvFile:
        """The file, to be read that way."""
        if self is _Retry.WESTERN:
            return replace(part, path=windows_1252_copy(part.text, room, part.name))
        if self is _Retry.LINES:
            return replace(part, path=normalized_line_ends(part.path, room, part.layout.escape))
        return replace(part, layout=replace(part.layout, escape="\\"))


#: Faults of the file itself, and the ways worth a try for each fault.
_OWN = (CsvFault.SHORT, CsvFault.LONG, CsvFault.QUOTE)
_RETRIES = {
    CsvFault.ENCODING: (_Retry.WESTERN,),
    CsvFault.LINE_ENDS: (_Retry.LINES,),
    CsvFault.QUOTE: (_Retry.BACKSLASH, _Retry.LINES),
    CsvFault.SHORT: (_Retry.LINES,),
    CsvFault.LONG: (_Retry.BACKSLASH, _Retry.LINES),
}


def _is_content_error(error: Exception) -> bool:
    """Whether it is the file that is wrong, not the disk or the memory; Arrow has one class for all it passes on."""
    return type(error).__name__ == "InvalidInputException" or (isinstance(error, OSError) and error.errno is None)


def _first_error(part: _CsvFile, con: DuckDBPyConnection) -> tuple[CsvFault, InputError]:
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
        if not _is_content_error(error):
            raise
        return CsvFault.LINE_ENDS, csv_error(part.name, CsvFault.LINE_ENDS)
    finally:
        con.execute(f"DROP TABLE IF EXISTS {_ERRORS}")
        con.execute(f"DROP TABLE IF EXISTS {_SCANS}")
    if not bad:
        return CsvFault.OTHER, csv_error(part.name, CsvFault.OTHER)
    kind, position, lines, found = bad[0]
    fault = _FAULTS.get(kind, CsvFault.OTHER)
    line = line_at(part.path, position - 1) if position else part.layout.header_line + 1
    width, separator = len(part.layout.names), part.layout.separator
    return fault, csv_error(
        part.name, fault, line=line, lines=lines, fields=found or 0, width=width, separator=separator, encoding="UTF-8"
    )


def _write_parquet(con: DuckDBPyConnection, rows: str, copy: Path, columns: int) -> None:
    if columns > _WIDE:
        _stream_parquet(con, rows, copy)
        return
    group = min(_MOST, max(_LEAST, _CELLS // columns))
    con.execute(f"COPY ({rows}) TO {quoted(copy)} (FORMAT parquet, ROW_GROUP_SIZE {group})")


def _stream_parquet(con: DuckDBPyConnection, rows: str, copy: Path) -> None:
    """The same for many columns, for each of which DuckDB's writer and its threads hold memory."""
    pq = require("pyarrow.parquet", "reading a CSV")
    (threads,) = con.execute("SELECT current_setting('threads')").fetchone()
    con.execute("SET threads = 1")
    try:
        batches = con.execute(rows).to_arrow_reader(_LEAST)
        with pq.ParquetWriter(copy, batches.schema) as out:
            for batch in batches:
                out.write_batch(batch)
    finally:
        con.execute(f"SET threads = {threads}")


#: The pieces of a file that are looked at beyond its head, their size, and the rows of the head.
_PIECES, _SIZE, _ROWS = 8, 1 << 16, 4000


def from_csv(files: Files, path: str, engine: Engine) -> ir.Table:
    """The table of text files on an engine that reads files; ``path`` is what was given for them."""
    reader = engine if engine.kind == "duckdb" else connect("duckdb")
    folder = Path(tempfile.mkdtemp(prefix="text-", dir=engine.folder()))
    try:
        names, copy = _typed_copy([Path(file) for file in files.paths], path, reader.connection.con, folder)
        parts = tuple(str(part) for part in sorted(copy.glob("*.parquet")))
        return from_parquet(Files(parts, str(copy), True), engine, Path(path).name).select(*names)
    except InputError:
        raise
    except Exception as error:
        raise read_error(path, error, engine.folder()) from None  # its words may hold cells
    finally:
        if reader is not engine:
            reader.close()


def _typed_copy(
    files: Sequence[Path], path: str, con: DuckDBPyConnection, folder: Path
) -> tuple[tuple[str, ...], Path]:
    """The names of the columns, and the folder of the typed copy."""
    looked: list[tuple[str, TextFile, CsvLayout]] = []
    for file in files:
        name = path if len(files) == 1 else file.name
        text = inspect_text(file, name)
        looked.append((name, text, detect_layout(text.head, whole=text.whole, name=name)))
    first, _, found = looked[0]
    for name, _, other in looked[1:]:
        if other.names != found.names:
            raise InputError(
                f"table is {path!r}: {name} and {first} have different columns; give files of one table", "table"
            )
    samples = [_sampled_types(text, found) for _, text, found in looked]
    kinds = [common_type(each) for each in zip(*samples, strict=True)]
    copy = write_copies(looked, kinds, con, folder)
    now = verified_types(copy, found.names, kinds, con)
    changed = [was for was, kind in zip(kinds, now, strict=True) if was is not kind]
    if any(was not in (*EXACT, ValueType.NOTHING) for was in changed):
        # The text of a fraction is not kept beside it, and 1.50 and 1.5 are one number: the file is read once more.
        copy = write_copies(looked, now, con, folder)
    elif changed:
        copy = recast_copy(copy, found.names, kinds, now, con, folder)
    return found.names, copy


def _sampled_types(text: TextFile, found: CsvLayout) -> list[ValueType]:
    """What each column seems to hold, by the head of the file and by pieces from all over it.

    It must be right only where it says text, which is not looked at again: a piece with a quote, in which fields may
    begin anywhere, says nothing.
    """
    rows = list(islice(sample_rows(text.head, found), _ROWS))
    if not text.whole:
        rows = rows[:-1]
        if text.plain:
            rows += [row for piece in _sample_pieces(text.path) for row in sample_rows(piece, replace(found, skip=0))]
    fit = [row for row in rows if len(row) == found.width]
    return [infer_type(row[i] for row in fit) for i in range(len(found.names))]


def _sample_pieces(path: Path) -> Iterator[str]:
    """Whole lines from places spread over the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        for i in range(1, _PIECES + 1):
            file.seek(max(0, size * i // _PIECES - _SIZE))
            lines = re.split(rb"[\r\n]+", file.read(_SIZE))
            if not any(b'"' in line for line in lines):
                yield b"\n".join(lines[1:-1]).decode("utf-8", "replace")
