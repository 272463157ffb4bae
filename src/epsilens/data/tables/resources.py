"""Memory limits, spill folders and private temporary folders for reading tables.

>>> bytes_of("4GB"), bytes_of("500 MB"), bytes_of("2GiB")
(4000000000, 500000000, 2147483648)

The memory is shared: DuckDB inside the process gets half of it and spills beyond, the tables of codes that are made
from its answers the other half. What was not said is read from ``EPSILENS_MEMORY`` and ``EPSILENS_SPILL``, and without
these it is a share of what the machine, or the container, has free.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...errors import InputError

#: Below this an engine cannot even read a file in parts.
LEAST = 500_000_000
#: Without a wish: this share of what is free, and no more than this.
SHARE, MOST = 0.25, 16_000_000_000
#: Memory that DuckDB wants for each of its threads.
_PER_THREAD = 125_000_000
_UNITS = {"": 1, "b": 1, **{f"{p}{b}": f**i for f, b in ((1000, "b"), (1024, "ib")) for i, p in enumerate("kmgt", 1)}}
_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


@dataclass(frozen=True)
class Memory:
    """What reading a table may use: bytes in all, and the folder in which the private spill folder is made."""

    size: int
    spill: Path | None = None

    @property
    def engine(self) -> int:
        """The bytes of an engine inside the process."""
        return self.size // 2

    @property
    def arrays(self) -> int:
        """The bytes of what is made from its answers."""
        return self.size - self.engine

    @property
    def threads(self) -> int:
        """As many as the processors, and as have enough memory each."""
        return max(1, min(_processors(), self.engine // _PER_THREAD))

    def settings(self, folder: Path) -> dict[str, object]:
        """What a DuckDB connection is made with, when it spills into ``folder``."""
        return {
            "memory_limit": f"{self.engine}B",
            "temp_directory": str(folder),
            "threads": self.threads,
            "enable_progress_bar": False,  # it would write over our own
            "preserve_insertion_order": False,  # the order of rows means nothing here, and keeping it costs memory
        }

    def __str__(self) -> str:
        where = self.spill or Path(os.environ.get("TMPDIR") or "/tmp")
        return f"{_size(self.size)} of memory, spilling into {where} with {_size(_free(where))} free"


_memory_in_use: Memory | None = None


def use_memory(size: str | int | None = None, spill: str | Path | None = None) -> Memory:
    """Set the memory and the folder to spill into for all tables read from now on; None takes the usual one again.

    Parameters
    ----------
    size : str or int, optional
        ``"4GB"``, ``"500 MB"``, ``"2GiB"`` or bytes: what reading a table may take in all.
    spill : str or Path, optional
        A folder on a disk with room. A private folder is made in it, and removed with the process.

    Returns
    -------
    Memory
        What holds from now on.

    Raises
    ------
    InputError
        If the size is no size or the folder cannot be written.

    Examples
    --------
    >>> use_memory("2GB").size
    2000000000
    >>> use_memory().size >= 500_000_000
    True
    """
    global _memory_in_use
    _memory_in_use = None
    if size is not None or spill is not None:
        usual = memory()
        _memory_in_use = Memory(
            usual.size if size is None else bytes_of(size, "memory"),
            usual.spill if spill is None else _folder(spill, "spill"),
        )
    return memory()


def memory() -> Memory:
    """What holds now: what was set, or the environment's, or what fits the machine."""
    if _memory_in_use is not None:
        return _memory_in_use
    size, spill = os.environ.get("EPSILENS_MEMORY"), os.environ.get("EPSILENS_SPILL")
    return Memory(
        bytes_of(size, "EPSILENS_MEMORY") if size else max(LEAST, min(MOST, int(SHARE * available()))),
        _folder(spill, "EPSILENS_SPILL") if spill else None,
    )


def bytes_of(size: str | int, parameter: str = "memory") -> int:
    """A size in bytes, or a sentence about one that is none or too small.

    >>> bytes_of("lots")
    Traceback (most recent call last):
    epsilens.errors.InputError: memory is 'lots': give a size such as 4GB, 500MB or 2GiB
    >>> bytes_of("1MB")
    Traceback (most recent call last):
    epsilens.errors.InputError: memory is 1 MB, too little to read a table in parts: give at least 500 MB
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(size).lower())
    unit = None if found is None or isinstance(size, bool) else _UNITS.get(found[2])
    if found is None or unit is None:
        raise InputError(f"{parameter} is {size!r}: give a size such as 4GB, 500MB or 2GiB", parameter=parameter)
    made = int(min(float(found[1]) * unit, 1e18))  # more than any machine has
    if made < LEAST:
        raise InputError(
            f"{parameter} is {_size(made)}, too little to read a table in parts: give at least {_size(LEAST)}",
            parameter=parameter,
        )
    return made


def available() -> int:
    """The bytes that are free on this machine, or in its container."""
    free = [LEAST * 4]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")] or free
    except (OSError, ValueError, IndexError):  # not Linux
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            free = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2]
    for limit, used in _CGROUPS:
        try:
            free.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return max(0, min(free + _process_limits()))


def _process_limits() -> list[int]:
    """The limits that were set on this process (``ulimit``, or the worker of the page)."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows has none
        return []
    soft = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return [limit for limit in soft if limit != resource.RLIM_INFINITY]


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folder(path: str | Path, parameter: str) -> Path:
    """A folder to spill into, or a sentence about what is none.

    >>> _folder(0.9, "spill")
    Traceback (most recent call last):
    epsilens.errors.InputError: spill is 0.9: give a folder that exists and can be written to
    """
    with suppress(TypeError, ValueError, RuntimeError, OSError):  # no name of a file, or of a user
        made = Path(path).expanduser().absolute()
        if os.path.isdir(made) and os.access(made, os.W_OK):
            return made
    shown = path if isinstance(path, str | int | float) else str(path)
    raise InputError(f"{parameter} is {shown!r}: give a folder that exists and can be written to", parameter=parameter)


def _size(size: int) -> str:
    """
    >>> _size(4_000_000_000), _size(1_500_000_000), _size(500_000_000)
    ('4 GB', '1.5 GB', '500 MB')
    """
    return f"{size / 1e9:.3g} GB" if size >= 10**9 else f"{size / 1e6:.0f} MB"


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def memory_error() -> InputError:
    """Memory is used up: what the limit is, and how to change it."""
    return InputError(
        f"memory is {_size(memory().size)}, which this table outgrows: give more with --memory 8GB, "
        "EPSILENS_MEMORY=8GB or epsilens.use_memory('8GB'), or ask for fewer columns",
        parameter="memory",
    )


def disk_error(folder: Path) -> InputError:
    """The disk of the spill folder is full: where it is, and how to choose another."""
    return InputError(
        f"spill is {str(folder)!r}, a disk that is full ({_size(_free(folder))} left): choose a folder with more room "
        "by --spill /big, EPSILENS_SPILL=/big or epsilens.use_memory(spill='/big'), or give more memory",
        parameter="spill",
    )


_PREFIX = "epsilens-"
_LOCK = ".lock"
#: The rest of the command line ends up as $1; the shell is there on every POSIX system.
_WATCH = 'cat > /dev/null; rm -rf -- "$1"'


class Folder:
    """A private folder under ``parent``, the system's temporary folder by default.

    A copy of a table, or what an engine spills of it, is as confidential as the table. So a folder is readable by its
    owner alone, and a small process of its own waits for the end of ours: a pipe that we hold closes when we end, also
    by ``kill -9``, and then it removes the folder. What even that leaves (the machine lost power) is swept by the next
    folder made in the same place: a folder whose lock nobody holds belongs to nobody.

    >>> folder = Folder()
    >>> path = folder.path / "part"
    >>> path.write_text("x"), folder.close(), path.exists()
    (1, None, False)
    """

    def __init__(self, parent: str | Path | None = None) -> None:
        made = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
        lock = (made / _LOCK).open("w")
        _try_lock(lock)
        self.path = made.rename(made.with_name(made.name[1:]))  # not seen by a sweep before it is locked
        sweep(self.path.parent)
        self._end = weakref.finalize(self, _remove, self.path, lock, _start_watcher(self.path))

    def close(self) -> None:
        """Remove the folder now; it is also removed with this object, and with the process."""
        self._end()

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start_watcher(path: Path) -> subprocess.Popen[bytes] | None:
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
            if _try_lock(file):
                shutil.rmtree(lock.parent, ignore_errors=True)


def _try_lock(file: IO[str]) -> bool:
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
