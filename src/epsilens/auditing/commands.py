"""Somebody else's pipeline: a command that reads a table and writes its release into a file, run in a process of its
own, several at a time.

No shell reads the command: it is split into words as a shell would, and ``{table}`` and ``{out}`` stand for the two
files. Nothing it prints is shown. A run that fails, exceeds its time or writes nothing is an outcome. What it writes is
read as JSON or CSV where it is that, and as text otherwise.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import InputError
from .calls import Late, Raised, limit_of
from .game import Bits

MOST_BYTES = 10_000_000  # of an outcome; a larger one is told by a sum over it
_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PATIENCE = 3  # runs without an answer in time, after which the rest are not made


def processors(jobs: int | None) -> int:
    """How many processes run at a time: as many as there are processors, unless said."""
    return (os.cpu_count() or 1) if jobs is None else checks.integer("jobs", jobs, low=1, high=1024)


def side_by_side(
    once: Callable[[bool], Any], bits: Bits, jobs: int, late: int, stop: Callable[[], None]
) -> tuple[list[Any], int]:
    """Outcomes of ``once`` for each bit, ``jobs`` at a time and in their order, and how many were late so far.

    Fewer where it does not answer: after some that were late the rest are not made. An interrupt waits for nobody:
    ``stop`` ends what is running.
    """
    made: list[Any] = []
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for start in range(0, bits.size, jobs):
                if late >= _PATIENCE:
                    break
                some = list(pool.map(once, bits[start : start + jobs].tolist()))
                late += sum(isinstance(outcome, Late) for outcome in some)
                made += some
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise
    return made, late


def placed(table: str | os.PathLike[str], folder: str) -> str:
    """A copy of the table in a folder of this run, under a name that does not tell which of the two it is."""
    name = Path(folder) / f"table{Path(table).suffix}"
    shutil.copyfile(table, name)
    return str(name)


def words_of(command: str) -> list[str]:
    """The words of a command that has ``{table}`` and ``{out}`` in it.

    >>> words_of("python 'my release.py' {table} --to={out}")
    ['python', 'my release.py', '{table}', '--to={out}']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(
            f"command cannot be split into words ({error}): close its quotes", parameter="command"
        ) from None
    for place in ("{table}", "{out}"):
        if not any(place in word for word in words):
            raise InputError(
                f"command has no {place}: write it as in  python release.py {{table}} {{out}}", parameter="command"
            )
    if shutil.which(words[0]) is None:
        raise InputError(
            f"command starts with {words[0][:60]!r}, which is no program here: give its full path", parameter="command"
        )
    return words


def read_outcome(content: bytes) -> Any:
    """What a file says: JSON, a CSV with a header, or text and the numbers in it; else a sum over its bytes.

    >>> read_outcome(b'{"n": 3.5}'), read_outcome(b"site,n\\na,1\\nb,2.5\\n"), read_outcome(b"3.5\\n")
    ({'n': 3.5}, {'n of a': 1.0, 'n of b': 2.5}, 3.5)
    >>> read_outcome(b"about 3.5 people"), read_outcome(b"n\\n3.5\\n")
    ({'text': 'about # people', 'numbers': [3.5]}, {'n of ': 3.5})
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return {"size": len(content), "sum": sha256(content).hexdigest()}
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    if len(lines) > 1 and ("," in lines[0] or all(_number(line) is not None for line in lines[1:])):
        with suppress(csv.Error):
            return _cells(list(csv.reader(io.StringIO("\n".join(lines)), strict=True)))
    return {"text": _NUMBER.sub("#", text), "numbers": [float(found) for found in _NUMBER.findall(text)]}


def _cells(rows: list[list[str]]) -> Any:
    """Numbers by their column and the texts of their row; by place where texts do not tell the rows apart."""
    head, body = rows[0], rows[1:]
    if any(len(row) != len(head) for row in body):
        return rows
    known = [[_number(cell) for cell in row] for row in body]
    pairs = list(zip(body, known, strict=True))
    texts = [j for j in range(len(head)) if any(said[j] and row[j] is None for said, row in pairs)]
    labels = [" ".join(row[j] for j in texts) for row in body]
    if len(set(labels)) < len(labels):
        labels = [f"row {i + 1}" for i in range(len(body))]
        return {
            f"{head[j]} of {label}": body[i][j] if known[i][j] is None else known[i][j]
            for i, label in enumerate(labels)
            for j in range(len(head))
        }
    return {
        f"{head[j]} of {label}": known[i][j]
        for i, label in enumerate(labels)
        for j in range(len(head))
        if j not in texts
    }


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


@dataclass
class CommandSource:
    """Runs of a command on the first or the second table, ``jobs`` at a time, each within ``timeout`` seconds."""

    command: str
    first: str | os.PathLike[str]
    second: str | os.PathLike[str]
    timeout: float = 300.0
    jobs: int | None = None
    late: int = 0
    _words: list[str] = field(default_factory=list, init=False)
    _running: set[int] = field(default_factory=set, init=False, repr=False)
    _stopped: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._words = words_of(self.command)
        self.jobs = processors(self.jobs)
        self.timeout = limit_of(self.timeout)

    @property
    def width(self) -> int:
        """One run a process."""
        return 1

    @property
    def together(self) -> int:
        """So many runs at least are asked for at a time."""
        return processors(self.jobs)

    def draw(self, bits: Bits) -> Sequence[Any]:
        """One process a bit, in the order of the bits; fewer where the command does not answer."""
        self._stopped = False
        made, self.late = side_by_side(self._once, bits, self.together, self.late, self._stop)
        return made

    def _stop(self) -> None:
        self._stopped = True
        for leader in tuple(self._running):
            end_group(leader)

    def _once(self, bit: bool) -> Any:
        with tempfile.TemporaryDirectory(prefix="epsilens-", ignore_cleanup_errors=True) as folder:
            out = Path(folder) / "out"
            table = placed(self.second if bit else self.first, folder)
            words = [word.replace("{table}", table).replace("{out}", str(out)) for word in self._words]
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                return Raised(type(error).__name__)
            self._running.add(process.pid)
            try:
                status = process.wait(0 if self._stopped else self.timeout)
            except subprocess.TimeoutExpired:
                return Late()
            finally:
                end_group(process.pid)
                process.wait()
                self._running.discard(process.pid)
            if status != 0:
                return Raised(f"exit status {status}")
            return _written(out)


def _written(out: Path) -> Any:
    """What a command wrote; a failure where it is no file that can be read."""
    try:
        if not stat.S_ISREG(os.stat(out).st_mode):  # a folder, a pipe, a device without end
            return Raised("no output")
        with out.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
            if len(content) <= MOST_BYTES:
                return read_outcome(content)
            sums = sha256(content)
            size = len(content)
            while content := file.read(MOST_BYTES):
                sums.update(content)
                size += len(content)
            return {"size": size, "sum": sums.hexdigest()}
    except FileNotFoundError:
        return Raised("no output")
    except OSError as error:
        return Raised(type(error).__name__)


def end_group(leader: int) -> None:
    """All that a process started, and itself, where it leads a group of its own."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(leader, signal.SIGKILL)
        else:
            os.kill(leader, signal.SIGTERM)
