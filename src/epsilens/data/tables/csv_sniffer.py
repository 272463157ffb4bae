"""Text files: how they are packed, encoded and laid out, and what is wrong with one that cannot be read.

What a file is, its first bytes say, not its name. UTF-8 that is not compressed is left where it lies; everything else
is written once, in parts, into a private folder. Text that is neither UTF-8 nor UTF-16 is read as Windows-1252, which
gives every byte a letter of its own: a file in another old alphabet shows other letters, but the same groups.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import csv
import gzip
import io
import lzma
import mmap
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, pairwise
from pathlib import Path

from ...errors import InputError
from .dialect import pa
from .failures import Failure, failure_of
from .resources import disk_error, memory_error

# -- errors: the kind, the line and the remedy; never the text of the line ---------------------------------------------


class CsvFault(StrEnum):
    """What can be wrong with a text file."""

    EMPTY = "empty"
    EXCEL = "excel"
    PARQUET = "parquet"
    ARROW = "arrow"
    ZIP = "zip"
    PDF = "pdf"
    DATABASE = "database"
    HTML = "html"
    XML = "xml"
    JSON = "json"
    BINARY = "binary"
    NUL = "nul"
    ENCODING = "encoding"
    PACKED = "packed"
    NO_HEADER = "no header"
    TITLES = "titles"
    UNNAMED = "unnamed"
    DUPLICATE = "duplicate"
    CASE = "case"
    SHORT = "short"
    LONG = "long"
    QUOTE = "quote"
    LINE_SIZE = "line size"
    LINE_ENDS = "line ends"
    OTHER = "other"


_SAVE = "open it in the program that made it and save it as CSV (UTF-8)"
_WORDS = {
    CsvFault.EMPTY: "the file is empty; give a CSV with a header line",
    CsvFault.EXCEL: "it is an Excel workbook, whatever its name says: open it, and save the sheet as CSV (UTF-8)",
    CsvFault.PARQUET: "it is a Parquet file, whatever its name says: let its name end in .parquet",
    CsvFault.ARROW: "it is an Arrow file, whatever its name says: read it with pyarrow.feather and pass the table",
    CsvFault.ZIP: "it is a zip archive: unpack it, and give the file inside",
    CsvFault.PDF: f"it is a PDF: {_SAVE}",
    CsvFault.DATABASE: "it is a SQLite database: give sqlite:///FILE#table",
    CsvFault.HTML: "it is a web page, not a CSV (a download that asked to sign in, perhaps): download the table itself",
    CsvFault.XML: f"it is XML, not CSV: {_SAVE}",
    CsvFault.JSON: "it is JSON, not CSV: read it with pandas.read_json and pass the frame, or save it as CSV",
    CsvFault.BINARY: f"it is not text: {_SAVE}",
    CsvFault.NUL: f"line {{line}} has a NUL byte, so it is damaged or not text: {_SAVE}",
    CsvFault.ENCODING: f"line {{line}} is not {{encoding}} as the rest of it is: {_SAVE}",
    CsvFault.PACKED: "it is compressed, and cut off or damaged: fetch it again, or unpack it",
    CsvFault.NO_HEADER: "line {line} must name the columns, and seems to hold values: write a line of names above it",
    CsvFault.TITLES: (
        "the names of the columns seem to stand on line {line}: remove the lines above it, or put each field that "
        "contains a separator in double quotes"
    ),
    CsvFault.UNNAMED: "line {line} names the columns, and leaves {columns} without a name: write one",
    CsvFault.DUPLICATE: "line {line} names the columns, and has {columns} twice: rename one of the two",
    CsvFault.CASE: (
        "line {line} has the columns {columns}, which engines that ignore case cannot tell apart: rename one of them"
    ),
    CsvFault.SHORT: "line {line} has {fields} where the header has {width}{more}: complete the line, or remove it",
    CsvFault.LONG: (
        "line {line} has {fields} where the header has {width}{more}: put a field that contains the separator "
        "{separator} in double quotes, or remove what is too much"
    ),
    CsvFault.QUOTE: (
        "line {line} has a quote that is not closed, or text after a closing quote{more}: write a quote inside a "
        "quoted field twice, and close each field"
    ),
    CsvFault.LINE_SIZE: (
        "line {line} is longer than {size} MB{more}: close the quote that was left open there, or shorten the line"
    ),
    CsvFault.LINE_ENDS: "its lines end in different ways, and some inside a field: save it with one kind of line end",
    CsvFault.OTHER: f"it does not parse as CSV: {_SAVE}",
}
_SEPARATORS = {",": "(a comma)", ";": "(a semicolon)", "\t": "(a tab)", "|": "(a bar)"}
#: The longest line that is read, in bytes.
LONGEST = 16_000_000


def csv_error(
    path: str,
    fault: CsvFault,
    *,
    line: int = 0,
    lines: int = 1,
    fields: int = 0,
    width: int = 0,
    separator: str = ",",
    encoding: str = "UTF-8",
    columns: str = "",
) -> InputError:
    """The error that says it in one sentence.

    >>> str(csv_error("people.csv", CsvFault.SHORT, line=17, lines=2, fields=3, width=5))
    "table is 'people.csv': line 17 has 3 fields where the header has 5 (2 such lines in all): complete the line, or remove it"
    """  # noqa: E501 - the message is one sentence, on one line
    said = _WORDS[fault].format(
        line=f"{line:,}",
        fields=f"{fields:,} field{'s' * (fields != 1)}",
        width=f"{width:,}",
        more=f" ({lines:,} such lines in all)" if lines > 1 else "",
        separator=_SEPARATORS.get(separator, repr(separator)),
        encoding=encoding,
        columns=columns,
        size=LONGEST // 1_000_000,
    )
    return InputError(f"table is {path!r}: {said}", parameter="table")


def read_error(path: str, error: BaseException, folder: Path) -> InputError:
    """What is said when it was not the file's fault, without the words of the engine, which quotes cells."""
    kind = failure_of(error)
    if kind is Failure.DISK:
        return disk_error(folder.parent)
    if kind is Failure.MEMORY:
        return memory_error()
    if isinstance(error, PermissionError):
        return InputError(f"table is {path!r}: the file may not be read: change its permissions", parameter="table")
    return csv_error(path, CsvFault.OTHER)


def line_at(path: Path, position: int) -> int:
    """The line, counted from 1, in which the byte at ``position`` stands; lines end with LF, CRLF or CR.

    A line end at ``position`` itself belongs to the line before: no row begins with one.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while data[position : position + 1] in (b"\r", b"\n"):
            position += 1
        lines, step, before = 1, 1 << 24, b""
        for start in range(0, position, step):
            piece = data[start : min(start + step, position)]
            lines += piece.count(b"\n") + piece.count(b"\r") - (before + piece).count(b"\r\n")
            before = piece[-1:]
        return lines


#: How much is looked at before anything is decided.
SAMPLE = 1 << 20
_STEP = 1 << 22
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
_FOREIGN = {
    b"PAR1": CsvFault.PARQUET,
    b"ARROW1": CsvFault.ARROW,
    b"FEA1": CsvFault.ARROW,
    b"\xff\xff\xff\xff": CsvFault.ARROW,
    b"\xd0\xcf\x11\xe0": CsvFault.EXCEL,
    b"%PDF": CsvFault.PDF,
    b"SQLite format 3\x00": CsvFault.DATABASE,
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WESTERN = "cp1252"


@dataclass(frozen=True)
class TextFile:
    """A file, and how it is written."""

    path: Path
    packing: str
    encoding: str
    head: str
    whole: bool  # the head is all of it

    @property
    def plain(self) -> bool:
        """Whether it can be read where it lies."""
        return not self.packing and self.encoding.startswith("utf-8")


def inspect_text(path: Path, name: str) -> TextFile:
    """What the first megabyte says; ``name`` is what errors call the file."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"PK\x03\x04"):
        raise csv_error(name, CsvFault.EXCEL if _is_workbook(path) else CsvFault.ZIP)
    packing = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), "")
    with _open_bytes(path, packing, name) as stream:
        head = stream.read(SAMPLE)
        whole = not stream.read(1)
    foreign = next((fault for magic, fault in _FOREIGN.items() if head.startswith(magic)), None)
    if foreign is not None:
        raise csv_error(name, foreign)
    encoding = _detect_encoding(head, whole, name)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    _check_is_table(text, name)
    return TextFile(path, packing, encoding, text, whole)


def utf8_file(text: TextFile, folder: Path, name: str) -> Path:
    """The file in UTF-8, not compressed: itself, or a copy in ``folder``."""
    if text.plain:
        if not re.search(r"[*?\[]", str(text.path)):
            return text.path
        link = folder / "file"  # DuckDB takes such a name for a pattern
        link.symlink_to(text.path.absolute())
        return link
    return _utf8_copy(text, text.encoding, folder / "decoded", name)


def windows_1252_copy(text: TextFile, folder: Path, name: str) -> Path:
    """The same, of a file whose first byte that is not ASCII turned out not to be UTF-8."""
    return _utf8_copy(text, WESTERN, folder / "western", name)


def _utf8_copy(text: TextFile, encoding: str, copy: Path, name: str) -> Path:
    if encoding.startswith("utf-8"):
        with _open_bytes(text.path, text.packing, name) as stream, copy.open("wb") as out:
            while piece := stream.read(_STEP):
                out.write(piece)
        return copy
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    with _open_bytes(text.path, text.packing, name) as stream, copy.open("wb") as out:
        try:
            while piece := stream.read(_STEP):
                out.write(decoder.decode(piece).encode())
            out.write(decoder.decode(b"", final=True).encode())
        except UnicodeError as error:
            done = decoder.decode(error.object[: error.start]) if isinstance(error, UnicodeDecodeError) else ""
            out.write(done.encode("utf-8", "replace"))
            out.flush()
            line = line_at(copy, out.tell()) if out.tell() else 1
            shown = "Windows-1252" if encoding == WESTERN else encoding.upper()
            raise csv_error(name, CsvFault.ENCODING, line=line, encoding=shown) from None
    return copy


def normalized_line_ends(path: Path, folder: Path, escape: str) -> Path:
    """A copy in which every row ends in LF; line ends inside quotes stay as they are.

    Outside and inside alternate with each quote, and a doubled one inside changes nothing.
    """
    quote = re.compile(rb'(?<!\\)"' if escape == "\\" else b'"')
    copy, outside, held = folder / "lines", True, b""
    with path.open("rb") as file, copy.open("wb") as out:
        while piece := file.read(_STEP):
            piece = held + piece
            held = piece[-1:] if piece[-1:] in (b"\r", b"\\") else b""  # it may go on in the next piece
            parts = quote.split(piece[: len(piece) - len(held)])
            for i, part in enumerate(parts):
                if i:
                    outside = not outside
                    out.write(b'"')
                out.write(part.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if outside else part)
        out.write(held.replace(b"\r", b"\n"))
    return copy


def check_nul(path: Path, name: str) -> None:
    """Refuse a NUL byte, which DuckDB would keep as a letter; a search in memory, at the speed of memory."""
    position = 0
    with path.open("rb") as file:
        while piece := file.read(_STEP):
            if (found := piece.find(b"\0")) >= 0:
                raise csv_error(name, CsvFault.NUL, line=line_at(path, position + found))
            position += len(piece)


def file_contains(path: Path, words: bytes) -> bool:
    """Whether the file has these bytes somewhere."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(words) >= 0


def is_windows_1252(path: Path) -> bool:
    """Whether the first bytes that are not ASCII are not UTF-8 either."""
    with path.open("rb") as file:
        while piece := file.read(_STEP):
            if not piece.isascii():
                piece += file.read(4)
                try:
                    piece.decode()
                except UnicodeDecodeError as error:
                    return piece[: error.start].isascii()
                return False
    return False


@contextmanager
def _open_bytes(path: Path, packing: str, name: str) -> Iterator[io.BufferedIOBase]:
    try:
        with _open_packed(path, packing) as stream:
            yield stream
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if not packing or getattr(error, "errno", None) is not None:
            raise
        raise csv_error(name, CsvFault.PACKED) from None


def _open_packed(path: Path, packing: str) -> io.BufferedIOBase:
    openers: dict[str, Callable[[Path], io.BufferedIOBase]] = {
        "": lambda path: path.open("rb"),
        "gzip": gzip.GzipFile,
        "bz2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "zstd": lambda path: pa.input_stream(str(path), compression="zstd"),
    }
    return openers[packing](path)


def _detect_encoding(head: bytes, whole: bool, name: str) -> str:
    if not head.strip():
        raise csv_error(name, CsvFault.EMPTY)
    marked = next((kind for mark, kind in _MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        return marked
    zeros = head[:4096].count(0)
    if zeros:
        # Every second byte of Western text in UTF-16 is zero; which one says which end comes first.
        odd, even = head[1:4096:2].count(0), head[0:4096:2].count(0)
        if max(odd, even) > 0.3 * len(head[:4096]) / 2 and min(odd, even) < 0.1 * max(odd, even):
            return "utf-16-le" if odd > even else "utf-16-be"
    if _count_control_bytes(head) > max(16, 0.05 * len(head)):
        raise csv_error(name, CsvFault.BINARY)
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(head, final=whole)
        return "utf-8"
    except UnicodeDecodeError as error:
        read = head.decode("utf-8", "replace")
        wrong = read.count("�")
        if sum(ord(letter) > 127 for letter in read) - wrong <= wrong:
            return WESTERN
        before = head[: error.start]
        line = 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        raise csv_error(name, CsvFault.ENCODING, line=line) from None


def _count_control_bytes(head: bytes) -> int:
    return len(head) - len(head.translate(None, bytes(range(9)) + bytes(range(14, 27)) + bytes(range(28, 32))))


def _check_is_table(text: str, name: str) -> None:
    start = text.lstrip("\ufeff \t\r\n")[:2000].lower()
    if re.match(r"<!doctype html|<html|<head|<body|<table", start):
        raise csv_error(name, CsvFault.HTML)
    if re.match(r"<\?xml|<[a-z]+[^,;\t|]*>\s*<", start):
        raise csv_error(name, CsvFault.HTML if "<html" in start else CsvFault.XML)
    if re.match(r'\{\s*"|\[\s*[\[{]|\{\s*\}|\[\s*\]', start):
        raise csv_error(name, CsvFault.JSON)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith(("xl/", "[Content_Types]", "content.xml")) for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


# -- separator, quotes and header --------------------------------------------------------------------------------------
#
# Decided from the first megabyte, by the separator under which the rows have the most fields, all equally many, below
# a line that looks like names. The rows themselves are read by DuckDB, which is strict: a wrong guess is refused, with
# the line, and never read as something else.


SEPARATORS = (",", ";", "\t", "|")
#: What pandas and R leave without a name: the number of the row.
ROW = "row"
_ROWS, _TITLES = 1000, 30
_NUMBER = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*([eE][-+]?\d+)?%?")
_VALUE = re.compile(rf"{_NUMBER.pattern}|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}([T ].*)?")


@dataclass(frozen=True)
class CsvLayout:
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
class _CsvRow:
    fields: list[str]
    line: int  # its first
    number: int  # counted with the empty ones


def detect_layout(head: str, *, whole: bool, name: str) -> CsvLayout:
    """The layout of a file that begins with ``head``; ``whole`` when that is all of it.

    >>> found = detect_layout("sep=;\\nname;height\\nAnna;1,65\\n", whole=True, name="people.csv")
    >>> found.separator, found.names, found.header_line
    (';', ('name', 'height'), 2)
    """
    head = head.removeprefix("\ufeff")
    told = re.match(r'"?sep=([,;|\t])"?\r?\n|"?sep=([,;|\t])"?\r', head, re.IGNORECASE)
    start = told.end() if told else 0
    offered = (str(told[1] or told[2]),) if told else SEPARATORS
    first = 2 if told else 1
    tried = [_separator_fit(separator, head[start:], whole, first) for separator in offered]
    found = max((each for each in tried if each is not None), key=lambda each: each[0], default=None)
    if found is None:
        raise csv_error(name, CsvFault.EMPTY)
    _, separator, escape, rows, header = found
    below = rows[header + 1 :]
    if header and not _has_typed_column(rows[header], below):
        raise csv_error(name, CsvFault.TITLES, line=rows[header].line)
    names = _column_names(rows[header], name)
    return CsvLayout(
        separator=separator,
        escape=escape,
        names=names,
        width=_field_count(names, rows[header], below),
        header_line=rows[header].line,
        skip=rows[header].number,
        padded=bool(below)
        and all(len(row.fields) > 1 and all(f.startswith(" ") for f in row.fields[1:]) for row in below),
    )


def sample_rows(text: str, found: CsvLayout) -> Iterator[list[str]]:
    """The fields of the rows below the header, as Python's csv module reads them; what it cannot read ends them."""
    with contextlib.suppress(csv.Error):
        for row in _rows(text.removeprefix("\ufeff"), found.separator, found.escape):
            if row.number > found.skip:
                yield [field.strip() for field in row.fields] if found.padded else row.fields


def _rows(text: str, separator: str, escape: str, first: int = 1) -> Iterator[_CsvRow]:
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
                yield _CsvRow(fields, line, number)
            line = reader.line_num + first
    finally:
        csv.field_size_limit(before)


def _separator_fit(
    separator: str, text: str, whole: bool, first: int
) -> tuple[tuple[int, float], str, str, list[_CsvRow], int] | None:
    """How well a separator fits, the way quotes are written, the rows and which of them names the columns."""
    escape = '"'
    rows, good = _first_rows(text, separator, escape, whole, first)
    if not good and '\\"' in text:
        others, good = _first_rows(text, separator, "\\", whole, first)
        if good:
            escape, rows = "\\", others
    if not rows:
        return None
    widths = Counter(len(row.fields) for row in rows)
    width = max(widths, key=lambda each: (widths[each], each))
    header = _header_index(rows, width)
    likely = _looks_like_header(rows[header].fields) and len(rows[header].fields) > 1
    rank = 0 if not likely else 1 if header else 2
    return (rank, widths[width] / len(rows) * (1 - 1 / width)), separator, escape, rows, header


def _first_rows(text: str, separator: str, escape: str, whole: bool, first: int) -> tuple[list[_CsvRow], bool]:
    """The first rows, and whether all of them could be read and are equally long."""
    rows: list[_CsvRow] = []
    good = True
    try:
        for row in islice(_rows(text, separator, escape, first), _ROWS):
            rows.append(row)
    except csv.Error:  # DuckDB will say what is wrong with it; unless it is only cut off
        good = not whole
    if not whole and len(rows) > 1:
        rows.pop()
    return rows, good and len({len(row.fields) for row in rows}) == 1


def _header_index(rows: list[_CsvRow], width: int) -> int:
    """Which row names the columns: the first, or the one below titles and comments.

    A title has at most one field that is not empty, and a comment begins with #; below them stands a row with as many
    fields as the others, all of them names.
    """
    for i, row in enumerate(rows[:_TITLES]):
        if i and len(_strip_fields(row.fields)) > 1 and len(row.fields) == width and _looks_like_header(row.fields):
            return i
        title = sum(bool(field.strip()) for field in row.fields) <= 1
        comment = row.fields[0].lstrip().startswith("#") and len(row.fields) != width
        if width == 1 or not (title or comment):
            break
    return 0


def _has_typed_column(header: _CsvRow, below: list[_CsvRow]) -> bool:
    """Whether some column has values that are no names: numbers or dates under a word.

    Without that the lines above may be rows too, and nothing is left out on a guess.
    """
    for i, field in enumerate(header.fields):
        values = [row.fields[i] for row in below if len(row.fields) > i and row.fields[i].strip()]
        if values and not _VALUE.fullmatch(field.strip()) and all(_VALUE.fullmatch(v.strip()) for v in values):
            return True
    return False


def _column_names(header: _CsvRow, name: str) -> tuple[str, ...]:
    fields = _strip_fields(header.fields)
    numbers = [field for field in fields if _NUMBER.fullmatch(field)]
    if not fields or (numbers and not _are_years_or_counts(fields, numbers)):
        raise csv_error(name, CsvFault.NO_HEADER, line=header.line)
    if not fields[0] and all(fields[1:]) and ROW not in map(str.casefold, fields):
        fields[0] = ROW
    missing = [i for i, field in enumerate(fields, 1) if not field]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise csv_error(name, CsvFault.UNNAMED, line=header.line, columns=f"column {missing[0]:,}{more}")
    seen: dict[str, str] = {}
    for field in fields:
        other = seen.get(field.casefold())
        if other == field:
            raise csv_error(name, CsvFault.DUPLICATE, line=header.line, columns=f"{field[:60]!r}")
        if other is not None:
            raise csv_error(name, CsvFault.CASE, line=header.line, columns=f"{other[:60]!r} and {field[:60]!r}")
        seen[field.casefold()] = field
    return tuple(fields)


def _are_years_or_counts(fields: list[str], numbers: list[str]) -> bool:
    """Whether the numbers among the names are years, or count: 1, 2, 3; a row of values has others."""
    if len(numbers) == len(fields) or not all(number.isdecimal() for number in numbers):
        return False
    values = [int(number) for number in numbers]
    steps = {b - a for a, b in pairwise(values)}
    years = all(1800 <= value <= 2100 for value in values) and len(set(values)) == len(values)
    return years or (len(values) > 2 and len(steps) == 1 and steps != {0})


def _field_count(names: tuple[str, ...], header: _CsvRow, below: list[_CsvRow]) -> int:
    """The fields of a row: as many as the header has, unless every row has more or fewer without a name."""
    widths = {len(row.fields) for row in below}
    if len(widths) == 1:
        (width,) = widths
        empty = all(not field.strip() for row in below for field in row.fields[len(names) :])
        if width >= len(names) and empty:
            return width
    return len(header.fields)


def _strip_fields(fields: list[str]) -> list[str]:
    """The fields without the blanks around them, and without empty ones at the end."""
    made = [field.strip().removeprefix("\ufeff") for field in fields]
    while made and not made[-1]:
        made.pop()
    return made


def _looks_like_header(fields: list[str]) -> bool:
    made = _strip_fields(fields)
    if not made or not all(made[1:]) or len({field.casefold() for field in made}) < len(made):
        return False
    numbers = [field for field in made if _NUMBER.fullmatch(field)]
    return not numbers or _are_years_or_counts(made, numbers)
