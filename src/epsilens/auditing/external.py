"""Somebody else's pipeline: a command that reads a table and writes its release into a file, run in a process of its
own, several at a time.

No shell reads the command: it is split into words as a shell would, and ``{table}`` and ``{out}`` stand for the two
files. Nothing it prints is shown. A run that fails, exceeds its time or writes nothing is an outcome. What it writes is
read as JSON or CSV where it is that, and as text otherwise.

Somebody else's function, ``package.module:function``, called in processes of their own, several at a time.

Each process imports the module once and then answers call after call. A call that exceeds its time ends the process,
and another one takes its place. What it prints goes nowhere. A seed that is fixed where the module is imported is the
same in every process, as it would be in every release.

Outcomes kept in a file, so that an audit that was interrupted goes on where it stopped.

The file is JSON lines: first what is audited and the seed of the coins, then a line for each run with its pair, its
coin and its outcome. An audit with the same seed tosses the same coins, so what is there is read instead of run again;
a file of another audit is refused.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import multiprocessing
import os
import pickle
import re
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

import numpy as np

from .. import checks
from ..errors import InputError
from .outcomes import as_double, contents, repr_text, to_portable
from .sources import (
    Bits,
    NoAnswer,
    OutcomeSource,
    RunFailure,
    UnreadableAnswer,
    call_mechanism,
    runs_together,
    timeout_seconds,
)

MOST_BYTES = 10_000_000  # of an outcome; a larger one is told by a sum over it
_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GLANCE = 0.5  # seconds; a signal that comes just before a wait begins does not end it, so that none is long
_MOST_UNANSWERED = 3  # runs without an answer in time, after which the rest are not made


@dataclass
class _ParallelSource:
    """Runs on the first or the second input, ``jobs`` at a time, each within ``timeout`` seconds."""

    what: str
    first: object
    second: object
    timeout: float = 300.0
    jobs: int | None = None  # as many as there are processors, unless said
    late: int = 0
    width = 1
    together: int = field(default=1, init=False)  # so many runs at least are asked for at a time
    _stopped: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        jobs = self.jobs
        self.together = (os.cpu_count() or 1) if jobs is None else checks.integer("jobs", jobs, low=1, high=1024)
        self.timeout = timeout_seconds(self.timeout)

    def draw(self, bits: Bits) -> list[object]:
        """One run a bit, in their order, until some had no answer in time; an interrupt ends what is running."""
        self._stopped = False
        made: list[object] = []
        with ThreadPoolExecutor(self.together) as pool:
            try:
                for start in range(0, bits.size, self.together):
                    if self.late >= _MOST_UNANSWERED:
                        break
                    for run in [pool.submit(self._once, bit) for bit in bits[start : start + self.together].tolist()]:
                        while not run.done():
                            wait([run], _GLANCE)
                        made.append(run.result())
                        self.late += isinstance(made[-1], NoAnswer)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._stopped = True
                self._stop()
                raise
        return made

    def _once(self, bit: bool) -> object:
        raise NotImplementedError

    def _stop(self) -> None:
        raise NotImplementedError


def anonymous_copy(table: str | os.PathLike[str], folder: str) -> str:
    """A copy of the table in a folder of this run, under a name that does not tell which of the two it is."""
    name = Path(folder) / f"table{Path(table).suffix}"
    shutil.copyfile(table, name)
    return str(name)


def command_words(command: str) -> list[str]:
    """The words of a command that has ``{table}`` and ``{out}`` in it.

    >>> command_words("python 'my release.py' {table} --to={out}")
    ['python', 'my release.py', '{table}', '--to={out}']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"command cannot be split into words ({error}): close its quotes", "command") from None
    for place in ("{table}", "{out}"):
        if not any(place in word for word in words):
            raise InputError(f"command has no {place}: write it as in  python release.py {{table}} {{out}}", "command")
    if shutil.which(words[0]) is None:
        raise InputError(
            f"command starts with {words[0][:60]!r}, which is no program here: give its full path", parameter="command"
        )
    return words


def read_outcome(content: bytes) -> object:
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
    if len(lines) > 1 and ("," in lines[0] or all(_parse_number(line) is not None for line in lines[1:])):
        with suppress(csv.Error):
            return _csv_cells(list(csv.reader(io.StringIO("\n".join(lines)), strict=True)))
    return {"text": _NUMBER.sub("#", text), "numbers": [float(found) for found in _NUMBER.findall(text)]}


def _csv_cells(rows: list[list[str]]) -> object:
    """Numbers by their column and the texts of their row; by place where texts do not tell the rows apart."""
    head, body = rows[0], rows[1:]
    if any(len(row) != len(head) for row in body):
        return rows
    known: list[list[float | str | None]] = [[_parse_number(cell) for cell in row] for row in body]
    pairs = list(zip(body, known, strict=True))
    texts = [j for j in range(len(head)) if any(row[j] and numbers[j] is None for row, numbers in pairs)]
    labels = [" ".join(row[j] for j in texts) for row in body]
    if len(set(labels)) < len(labels):
        labels, texts = [f"row {i + 1}" for i in range(len(body))], []
        known = [[row[j] if number is None else number for j, number in enumerate(numbers)] for row, numbers in pairs]
    columns = [j for j in range(len(head)) if j not in texts]
    return {f"{head[j]} of {label}": known[i][j] for i, label in enumerate(labels) for j in columns}


def _parse_number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


@dataclass
class CommandSource(_ParallelSource):
    """Runs of a command on the first or the second table, one process each."""

    _running: set[int] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        self._words = command_words(self.what)
        super().__post_init__()

    def _stop(self) -> None:
        for leader in tuple(self._running):
            end_process_group(leader)

    def _once(self, bit: bool) -> object:
        with tempfile.TemporaryDirectory(prefix="epsilens-", ignore_cleanup_errors=True) as folder:
            out = Path(folder) / "out"
            table = anonymous_copy(str(self.second if bit else self.first), folder)
            words = [word.replace("{table}", table).replace("{out}", str(out)) for word in self._words]
            try:
                nothing = subprocess.DEVNULL
                process = subprocess.Popen(words, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
            except OSError as error:
                return RunFailure(type(error).__name__)
            self._running.add(process.pid)
            try:
                status = process.wait(0 if self._stopped else self.timeout)
            except subprocess.TimeoutExpired:
                return NoAnswer()
            finally:
                end_process_group(process.pid)
                process.wait()
                self._running.discard(process.pid)
            if status != 0:
                return RunFailure(f"exit status {status}")
            return _read_output(out)


def _read_output(out: Path) -> object:
    """What a command wrote; a failure where it is no file that can be read."""
    try:
        if not stat.S_ISREG(os.stat(out).st_mode):  # a folder, a pipe, a device without end
            return RunFailure("no output")
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
        return RunFailure("no output")
    except OSError as error:
        return RunFailure(type(error).__name__)


def end_process_group(leader: int) -> None:
    """All that a process started, and itself, where it leads a group of its own."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(leader, signal.SIGKILL)
        else:
            os.kill(leader, signal.SIGTERM)


_IMPORT_SECONDS = 120.0  # seconds in which a module must be imported
_EARLY_END = RunFailure("an early end")


def import_function(name: str) -> Callable[..., object]:
    """The function that ``package.module:function`` names.

    >>> import_function("math:floor")(2.5)
    2
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise InputError(f"{name[:60]!r} names no function: write it as package.module:function", parameter="what")
    found: object = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} cannot be called")
    return found


def _worker_main(name: str, folder: str, ends: Connection) -> None:
    """In the process: import, then answer until the other end is gone."""
    if hasattr(os, "setsid"):  # a group of its own, which ends with all that the function starts
        os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        function = import_function(name)
    except BaseException as error:
        ends.send(("broken", type(error).__name__))
        return
    ends.send(("ready", None))
    while True:
        try:
            given = ends.recv()
        except (EOFError, OSError):
            return
        ends.send_bytes(_pickled_answer(function, given))


def _pickled_answer(function: Callable[..., object], given: object) -> bytes:
    """The answer of one call, in types that every process knows: what reads it runs none of the function's code."""
    answer: object
    try:
        answer = call_mechanism(function, given)
    except InputError as error:
        return pickle.dumps(error)
    except BaseException as error:
        return pickle.dumps(RunFailure(type(error).__name__))
    try:
        made = pickle.dumps(to_portable(answer))
    except Exception:  # by methods of its own
        made = pickle.dumps(UnreadableAnswer(type(answer).__name__))
    if len(made) > MOST_BYTES:
        made = pickle.dumps({"size": len(made), "sum": sha256(made).hexdigest()})
    return made


class _WorkerProcess:
    """One process and our end of the pipe to it."""

    def __init__(self, name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.ends, theirs = context.Pipe()
        self.process = context.Process(target=_worker_main, args=(name, os.getcwd(), theirs), daemon=True)
        self.process.start()
        theirs.close()
        try:
            said, why = self.ends.recv() if self.ends.poll(_IMPORT_SECONDS) else ("broken", "no answer")
        except EOFError:
            said, why = "broken", "an early end"
        if said != "ready":
            self.end()
            raise InputError(
                f"{name[:60]!r} cannot be imported here ({why}): write it as package.module:function, and start where "
                "Python finds the package",
                parameter="what",
            )

    def call(self, given: object, seconds: float) -> object:
        """The answer; None of it in time ends the process."""
        try:
            self.ends.send(given)
            if not self.ends.poll(seconds):
                return NoAnswer()
            answer = pickle.loads(self.ends.recv_bytes())  # of our own types
        except (EOFError, OSError, pickle.UnpicklingError):
            return _EARLY_END
        if isinstance(answer, InputError):
            raise answer
        return answer

    def halt(self) -> None:
        """The process and all that it started end; whoever waits for an answer hears of it."""
        if self.process.pid is not None:
            end_process_group(self.process.pid)
        self.process.kill()

    def end(self) -> None:
        """No more calls."""
        self.ends.close()
        self.halt()
        self.process.join()


@dataclass
class WorkerSource(_ParallelSource):
    """Calls of a function, by its name, on the first or the second input.

    Where an input is a :class:`~pathlib.Path`, each call is given the path of a copy of the file, as a text.
    """

    _idle: SimpleQueue[_WorkerProcess] = field(default_factory=SimpleQueue, init=False, repr=False)
    _all: list[_WorkerProcess] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for _ in range(self.together):
            self._start()

    def _start(self) -> None:
        worker = _WorkerProcess(self.what)
        self._all.append(worker)
        self._idle.put(worker)

    def _stop(self) -> None:
        for worker in tuple(self._all):
            worker.halt()

    def _once(self, bit: bool) -> object:
        given = self.second if bit else self.first
        worker = self._idle.get()
        with tempfile.TemporaryDirectory(prefix="epsilens-", ignore_cleanup_errors=True) as folder:
            asked = anonymous_copy(given, folder) if isinstance(given, Path) else given
            outcome = worker.call(asked, self.timeout)
        if isinstance(outcome, NoAnswer) or outcome is _EARLY_END:
            self._all.remove(worker)
            worker.end()
            if not self._stopped:
                self._start()
        else:
            self._idle.put(worker)
        return outcome

    def close(self) -> None:
        """End all processes."""
        while self._all:
            with suppress(OSError):
                self._all.pop().end()


def _encode_outcome(outcome: object) -> dict[str, object]:
    match outcome:
        case RunFailure():
            return {"raised": outcome.kind}
        case NoAnswer():
            return {"late": True}
        case UnreadableAnswer():
            return {"unreadable": outcome.kind}
    try:
        return {"answer": json.loads(json.dumps(to_portable(outcome), default=_json_default))}
    except Exception:  # by methods of its own
        return {"unreadable": type(outcome).__name__}


def _json_default(value: object) -> object:
    """What JSON has no word for: arrays as lists, numbers as doubles, anything else by its words."""
    number = as_double(value)
    if number is not None:
        return number
    made = contents(value)
    if isinstance(made, np.ndarray):
        return made.tolist()
    return repr_text(value) if made is value else made


def _decode_outcome(said: Mapping[str, object]) -> object:
    if "raised" in said:
        return RunFailure(str(said["raised"]))
    if "unreadable" in said:
        return UnreadableAnswer(str(said["unreadable"]))
    return NoAnswer() if said.get("late") else said["answer"]


class OutcomeLog:
    """The file; ``about`` says what is audited, and must be what it was when the file was begun."""

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, object], seed: int | None = None) -> None:
        self.path = Path(path)
        self.past: dict[str, list[tuple[bool, object]]] = {}
        lines: list[dict[str, Any]] = []
        try:
            text = self.path.read_text("utf-8") if self.path.exists() else ""
            whole = text[: text.rfind("\n") + 1]  # a line that was cut off by an interrupt is run again
            lines = [json.loads(line) for line in whole.split("\n")[:-1]]
            head = dict(lines[0]["audit"]) if lines else {}
            self.seed = int(head.pop("seed")) if lines else secrets.randbits(48) if seed is None else seed
            for line in lines[1:]:
                self.past.setdefault(str(line["pair"]), []).append((bool(line["coin"]), _decode_outcome(line)))
        except (OSError, UnicodeDecodeError):
            raise InputError(f"resume is {str(path)[:80]!r}, which cannot be read", parameter="resume") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self.other() from None
        if lines and (head != json.loads(json.dumps(dict(about))) or seed not in (None, self.seed)):
            raise self.other()
        try:
            if lines and len(whole) < len(text):
                os.truncate(self.path, len(whole.encode()))
            self._file: TextIO = self.path.open("a" if lines else "w", encoding="utf-8")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it cannot be written"
            raise InputError(
                f"resume is {str(path)[:80]!r}: {why}, so give a file that can be written", parameter="resume"
            ) from None
        if not lines:
            self._write({"audit": {**about, "seed": self.seed}})

    def other(self) -> InputError:
        """The error where the file, or the coins in it, are those of another audit."""
        return InputError(
            f"resume is {str(self.path)[:80]!r}, which holds no runs of this audit: give the file it was begun with, "
            "or a new name",
            parameter="resume",
        )

    def add(self, pair: str, coin: bool, outcome: object) -> None:
        """One more run."""
        self._write({"pair": pair, "coin": int(coin), **_encode_outcome(outcome)})

    def _write(self, line: Mapping[str, object]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """All is written."""
        self._file.close()


@dataclass
class LoggedSource:
    """A source whose outcomes are read from a record as far as it goes, and written into it from there on."""

    source: OutcomeSource
    record: OutcomeLog
    pair: str
    _at: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.width, self.together = self.source.width, runs_together(self.source)

    def draw(self, bits: Bits) -> list[object]:
        """What is there, then what is run."""
        known = self.record.past.get(self.pair, [])[self._at : self._at + bits.size]
        if any(coin != bit for (coin, _), bit in zip(known, bits.tolist(), strict=False)):
            raise self.record.other()
        made = [outcome for _, outcome in known]
        rest = bits[len(made) :]
        step = max(self.together, 1)
        for start in range(0, rest.size, step):
            asked = rest[start : start + step]
            some = list(self.source.draw(asked))
            for coin, outcome in zip(asked.tolist(), some, strict=False):
                self.record.add(self.pair, coin, outcome)
                made.append(_decode_outcome(_encode_outcome(outcome)))
            if len(some) < asked.size:
                break
        self._at += len(made)
        return made
