"""A mark of a file that tells whether two reports are about the same table, and nothing else.

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
from pathlib import Path

__all__ = ["blocks_of", "key_place", "mark_of"]

_BLOCK = 1 << 20
_BYTES = 32
_SHOWN = 16  # hexadecimal digits: enough to tell the tables of a machine apart


def blocks_of(hashed: hashlib._Hash | hmac.HMAC, path: Path) -> None:
    """Feed a file to a hash, a block at a time."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hashed.update(block)


def key_place() -> Path:
    """Where the secret of this machine is."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "epsilens" / "key"


def mark_of(path: Path) -> str | None:
    """The same for the same bytes on this machine; None where no secret can be kept.

    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_STATE_HOME=folder):
    ...     table = Path(folder) / "people.csv"
    ...     _ = table.write_text("who,x\\nAnna,1\\n")
    ...     made = mark_of(table)
    ...     made == mark_of(table), made == hashlib.sha256(table.read_bytes()).hexdigest()[:16]
    (True, False)
    """
    key = _key(key_place())
    if key is None:
        return None
    made = hmac.new(key, digestmod=hashlib.sha256)
    blocks_of(made, path)
    return made.hexdigest()[:_SHOWN]


def _key(place: Path) -> bytes | None:
    """The secret; drawn where there is none yet. One that others may read is none."""
    try:
        if not place.exists():
            _drawn(place)
        with place.open("rb") as file:
            # Windows has no such modes; its user folders are the user's own.
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                return None
            found = file.read(_BYTES + 1)
    except OSError:
        return None
    return found if len(found) == _BYTES else None


def _drawn(place: Path) -> None:
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
