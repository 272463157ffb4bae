"""Temporary folders that do not outlive their process, whatever ends it.

A copy of a table, or what an engine spills of it, is as confidential as the table. So a folder is readable by its owner
alone, and a small process of its own waits for the end of ours: a pipe that we hold closes when we end, also by
``kill -9``, and then it removes the folder. What even that leaves (the machine lost power) is swept by the next folder
made in the same place: a folder whose lock nobody holds belongs to nobody.

>>> folder = Folder()
>>> path = folder.path / "part"
>>> path.write_text("x"), folder.close(), path.exists()
(1, None, False)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import IO

_PREFIX = "epsilens-"
_LOCK = ".lock"
#: The rest of the command line ends up as $1; the shell is there on every POSIX system.
_WATCH = 'cat > /dev/null; rm -rf -- "$1"'


class Folder:
    """A private folder under ``parent``, the system's temporary folder by default."""

    def __init__(self, parent: str | Path | None = None) -> None:
        made = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
        lock = (made / _LOCK).open("w")
        _hold(lock)
        self.path = made.rename(made.with_name(made.name[1:]))  # not seen by a sweep before it is locked
        sweep(self.path.parent)
        self._end = weakref.finalize(self, _remove, self.path, lock, _watched(self.path))

    def close(self) -> None:
        """Remove the folder now; it is also removed with this object, and with the process."""
        self._end()

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _watched(path: Path) -> subprocess.Popen[bytes] | None:
    """The process that waits for the end of ours."""
    if os.name != "posix":  # pragma: no cover - the sweep is left
        return None
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "sh", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # what is sent to our whole group must not reach it
    )


def _remove(path: Path, lock: IO[str], watch: subprocess.Popen[bytes] | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.close()
    if watch is not None and watch.stdin is not None:
        watch.stdin.close()
        watch.wait()


def sweep(parent: Path) -> None:
    """Remove the folders of processes that are gone."""
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), lock.open("r+") as file:
            if _hold(file):
                shutil.rmtree(lock.parent, ignore_errors=True)


def _hold(file: IO[str]) -> bool:
    """Whether the lock is ours now; it is let go when the file is closed, or its process ends."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - not on Windows: nothing is swept there
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
