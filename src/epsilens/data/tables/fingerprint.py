"""A mark of a table that tells whether two reports or releases are about the same one, and nothing else.

A plain hash of a table tests membership exactly: whoever knows all other records hashes the table with a person and
without, and compares. The mark is HMAC-SHA-256 under a secret of this machine, which is drawn once and kept in one file
that only its owner reads: ``epsilens/key`` in ``XDG_STATE_HOME`` (``~/.local/state``). Without it a mark says nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .columns import is_simple, value_of
from .dialect import as_integer, ibis, md5, name_of
from .row_limit import canonical_text

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from .table import OpenTable


_BLOCK = 1 << 20
#: Of the sums of a table's rows: of a row's md5 four numbers of seven digits, whose sums 64 bits hold.
_KEY, _BETWEEN, _WIDE, _STARTS = "epsilens table", "\x1f", 7, (0, 7, 14, 21)
_BYTES = 32
_SHOWN = 16  # hexadecimal digits: enough to tell the tables of a machine apart


def content_fingerprint(opened: OpenTable) -> str:
    """What a table holds, in a few digits: the same for the same rows in any order and in any form.

    A CSV, its copy as Parquet or in a database, and a frame of it agree, on every engine: numbers count as numbers,
    however they are stored, dates as their midnight, and an empty text as nothing. It is the sums of the rows' md5, in
    one pass. Whoever knows all other records finds a person by it: to be hashed under a key, never shown.
    """
    table = opened.table
    names = sorted(name for name in table.columns if is_simple(table[name].type()))
    texts = [canonical_text(_unified_type(value_of(table[name], "table"))) for name in names]
    row = ibis.literal(_KEY)
    for text in texts:
        row = row + _BETWEEN + text
    hashed = table.select(row=md5(row))
    parts = hashed.select(**{f"p{i}": _hex_number(hashed["row"], start) for i, start in enumerate(_STARTS)})
    sums = {name: parts[name].sum().cast("int64") for name in parts.columns}
    got = opened.engine.fetch(parts.aggregate(rows=parts.count(), **sums)).to_pylist()[0]
    return repr((sorted(map(str, table.columns)), [int(got[name] or 0) for name in ("rows", *sums)]))


def _unified_type(column: ir.Column) -> ir.Column:
    kind = column.type()
    if kind.is_boolean():
        return as_integer(column).cast("float64")
    if kind.is_numeric():
        return column.cast("float64")
    if kind.is_date():
        return column.cast("timestamp")
    return column.nullif("") if kind.is_string() else column


def _hex_number(digits: ir.StringValue, start: int) -> ir.IntegerValue:
    """The number of seven hexadecimal digits from ``start`` on."""
    if name_of(digits) == "duckdb":
        return (ibis.literal("0x") + digits.substr(start, _WIDE)).cast("int64")
    places: Sequence[int] = range(start, start + _WIDE)
    each = [ibis.literal("0123456789abcdef").find(digits.substr(place, 1)).cast("int64") for place in places]
    return sum((digit * 16 ** (start + _WIDE - 1 - place) for digit, place in zip(each, places, strict=True)), 0)


def key_path() -> Path:
    """Where the secret of this machine is."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "epsilens" / "key"


def keyed_fingerprint(path: Path) -> str | None:
    """The same for the same bytes on this machine; None where no secret can be kept.

    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_STATE_HOME=folder):
    ...     table = Path(folder) / "people.csv"
    ...     _ = table.write_text("who,x\\nAnna,1\\n")
    ...     made = keyed_fingerprint(table)
    ...     made == keyed_fingerprint(table), made == hashlib.sha256(table.read_bytes()).hexdigest()[:16]
    (True, False)
    """
    key = _key(key_path())
    if key is None:
        return None
    made = hmac.new(key, digestmod=hashlib.sha256)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()[:_SHOWN]


def _key(place: Path) -> bytes | None:
    """The secret; drawn where there is none yet. One that others may read is none."""
    try:
        if not place.exists():
            _create_key(place)
        with place.open("rb") as file:
            # Windows has no such modes; its user folders are the user's own.
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                return None
            found = file.read(_BYTES + 1)
    except OSError:
        return None
    return found if len(found) == _BYTES else None


def _create_key(place: Path) -> None:
    """Put a new secret there, whole; where another process was first, its secret stays."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".key", dir=place.parent)  # which only its owner reads
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
        os.link(name, place)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)
