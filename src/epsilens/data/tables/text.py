"""CSV and other text files, read once: by DuckDB, strictly, into a typed Parquet copy that every engine reads.

* Separators: comma, semicolon, tab, bar. Quotes doubled, or with a backslash before them. Lines end in LF, CRLF or CR.
  UTF-8, UTF-16 or Windows-1252; gzip, bz2, xz or zstd. A first line ``sep=;`` is heeded, and titles above the header
  are left out where numbers or dates below it show which line it is.
* One file, a pattern of files or a folder of them, with equal headers.
* An empty field is NULL, in quotes or not; an empty line is no row. Blanks around the names of columns do not count.
  A first column without a name, as pandas and R write it, is called ``row``; columns at the end without name and
  without values are left out. Nothing else is: a row with too few or too many fields is refused.
* Types: see :mod:`.typed`.

The copy lies in the engine's private folder, and ends with it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import InputError
from .copied import copied, retyped, true_kinds
from .decoded import Text, looked_at
from .engines import Engine, connect
from .faults import failed
from .layout import Layout, layout, rows_in
from .parquet import from_parquet
from .paths import Files
from .typed import EXACT, Kind, all_of, kind_of

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
