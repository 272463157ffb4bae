"""What is wrong with a text file: the kind of fault, the line it is on, and what to do; never the text of the line.

>>> str(refused("people.csv", Fault.SHORT, line=17, lines=2, fields=3, width=5))
"table is 'people.csv': line 17 has 3 fields where the header has 5 (2 such lines in all): complete the line, or remove it"
"""  # noqa: E501 - the message is one sentence, on one line

from __future__ import annotations

import mmap
from enum import StrEnum
from pathlib import Path

from ...errors import InputError
from .failures import Failure, failure_of
from .memory import no_disk, no_memory


class Fault(StrEnum):
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
    Fault.EMPTY: "the file is empty; give a CSV with a header line",
    Fault.EXCEL: "it is an Excel workbook, whatever its name says: open it, and save the sheet as CSV (UTF-8)",
    Fault.PARQUET: "it is a Parquet file, whatever its name says: let its name end in .parquet",
    Fault.ARROW: "it is an Arrow file, whatever its name says: read it with pyarrow.feather and pass the table",
    Fault.ZIP: "it is a zip archive: unpack it, and give the file inside",
    Fault.PDF: f"it is a PDF: {_SAVE}",
    Fault.DATABASE: "it is a SQLite database: give sqlite:///FILE#table",
    Fault.HTML: "it is a web page, not a CSV (a download that asked to sign in, perhaps): download the table itself",
    Fault.XML: f"it is XML, not CSV: {_SAVE}",
    Fault.JSON: "it is JSON, not CSV: read it with pandas.read_json and pass the frame, or save it as CSV",
    Fault.BINARY: f"it is not text: {_SAVE}",
    Fault.NUL: f"line {{line}} has a NUL byte, so it is damaged or not text: {_SAVE}",
    Fault.ENCODING: f"line {{line}} is not {{encoding}} as the rest of it is: {_SAVE}",
    Fault.PACKED: "it is compressed, and cut off or damaged: fetch it again, or unpack it",
    Fault.NO_HEADER: "line {line} must name the columns, and seems to hold values: write a line of names above it",
    Fault.TITLES: (
        "the names of the columns seem to stand on line {line}: remove the lines above it, or put each field that "
        "contains a separator in double quotes"
    ),
    Fault.UNNAMED: "line {line} names the columns, and leaves {columns} without a name: write one",
    Fault.DUPLICATE: "line {line} names the columns, and has {columns} twice: rename one of the two",
    Fault.CASE: (
        "line {line} has the columns {columns}, which engines that ignore case cannot tell apart: rename one of them"
    ),
    Fault.SHORT: "line {line} has {fields} where the header has {width}{more}: complete the line, or remove it",
    Fault.LONG: (
        "line {line} has {fields} where the header has {width}{more}: put a field that contains the separator "
        "{separator} in double quotes, or remove what is too much"
    ),
    Fault.QUOTE: (
        "line {line} has a quote that is not closed, or text after a closing quote{more}: write a quote inside a "
        "quoted field twice, and close each field"
    ),
    Fault.LINE_SIZE: (
        "line {line} is longer than {size} MB{more}: close the quote that was left open there, or shorten the line"
    ),
    Fault.LINE_ENDS: "its lines end in different ways, and some inside a field: save it with one kind of line end",
    Fault.OTHER: f"it does not parse as CSV: {_SAVE}",
}
_SEPARATORS = {",": "(a comma)", ";": "(a semicolon)", "\t": "(a tab)", "|": "(a bar)"}
#: The longest line that is read, in bytes.
LONGEST = 16_000_000


def refused(
    path: str,
    fault: Fault,
    *,
    line: int = 0,
    lines: int = 1,
    fields: int = 0,
    width: int = 0,
    separator: str = ",",
    encoding: str = "UTF-8",
    columns: str = "",
) -> InputError:
    """The error that says it in one sentence."""
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


def failed(path: str, error: BaseException, folder: Path) -> InputError:
    """What is said when it was not the file's fault, without the words of the engine, which quotes cells."""
    kind = failure_of(error)
    if kind is Failure.DISK:
        return no_disk(folder.parent)
    if kind is Failure.MEMORY:
        return no_memory()
    if isinstance(error, PermissionError):
        return InputError(f"table is {path!r}: the file may not be read: change its permissions", parameter="table")
    return refused(path, Fault.OTHER)


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
