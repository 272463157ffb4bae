"""Somebody else's function, ``package.module:function``, called in processes of their own, several at a time.

Each process imports the module once and then answers call after call. A call that exceeds its time ends the process,
and another one takes its place. What it prints goes nowhere. A seed that is fixed where the module is imported is the
same in every process, as it would be in every release.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ..errors import InputError
from .calls import Late, Raised, Unreadable, called, limit_of
from .commands import MOST_BYTES, end_group, placed, processors, side_by_side
from .entries import portable
from .game import Bits

_START = 120.0  # seconds in which a module must be imported
_EARLY = Raised("an early end")


def function_of(name: str) -> Any:
    """The function that ``package.module:function`` names.

    >>> function_of("math:floor")(2.5)
    2
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise InputError(f"{name[:60]!r} names no function: write it as package.module:function", parameter="what")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} cannot be called")
    return found


def _serve(name: str, folder: str, ends: Connection) -> None:
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
        function = function_of(name)
    except BaseException as error:
        ends.send(("broken", type(error).__name__))
        return
    ends.send(("ready", None))
    while True:
        try:
            given = ends.recv()
        except (EOFError, OSError):
            return
        ends.send_bytes(_sent(function, given))


def _sent(function: Any, given: Any) -> bytes:
    """The answer of one call, in types that every process knows: what reads it runs none of the function's code."""
    answer: Any
    try:
        answer = called(function, given)
    except InputError as error:
        return pickle.dumps(error)
    except BaseException as error:
        return pickle.dumps(Raised(type(error).__name__))
    try:
        made = pickle.dumps(portable(answer))
    except Exception:  # by methods of its own
        made = pickle.dumps(Unreadable(type(answer).__name__))
    if len(made) > MOST_BYTES:
        made = pickle.dumps({"size": len(made), "sum": sha256(made).hexdigest()})
    return made


class _Worker:
    """One process and our end of the pipe to it."""

    def __init__(self, name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.ends, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(name, os.getcwd(), theirs), daemon=True)
        self.process.start()
        theirs.close()
        try:
            said, why = self.ends.recv() if self.ends.poll(_START) else ("broken", "no answer")
        except EOFError:
            said, why = "broken", "an early end"
        if said != "ready":
            self.end()
            raise InputError(
                f"{name[:60]!r} cannot be imported here ({why}): write it as package.module:function, and start where "
                "Python finds the package",
                parameter="what",
            )

    def call(self, given: Any, seconds: float) -> Any:
        """The answer; None of it in time ends the process."""
        try:
            self.ends.send(given)
            if not self.ends.poll(seconds):
                return Late()
            answer = pickle.loads(self.ends.recv_bytes())  # of our own types
        except (EOFError, OSError, pickle.UnpicklingError):
            return _EARLY
        if isinstance(answer, InputError):
            raise answer
        return answer

    def halt(self) -> None:
        """The process and all that it started end; whoever waits for an answer hears of it."""
        if self.process.pid is not None:
            end_group(self.process.pid)
        self.process.kill()

    def end(self) -> None:
        """No more calls."""
        self.ends.close()
        self.halt()
        self.process.join()


@dataclass
class WorkerSource:
    """Calls of a function on the first or the second input, ``jobs`` at a time, each within ``timeout`` seconds.

    Where an input is a :class:`~pathlib.Path`, each call is given the path of a copy of the file, as a text.
    """

    name: str
    first: Any
    second: Any
    timeout: float = 300.0
    jobs: int | None = None
    late: int = 0
    _idle: SimpleQueue[_Worker] = field(default_factory=SimpleQueue, init=False, repr=False)
    _all: list[_Worker] = field(default_factory=list, init=False, repr=False)
    _stopped: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self.jobs = processors(self.jobs)
        self.timeout = limit_of(self.timeout)
        for _ in range(self.jobs):
            self._start()

    def _start(self) -> None:
        worker = _Worker(self.name)
        self._all.append(worker)
        self._idle.put(worker)

    @property
    def width(self) -> int:
        """One run a call."""
        return 1

    @property
    def together(self) -> int:
        """So many runs at least are asked for at a time."""
        return processors(self.jobs)

    def draw(self, bits: Bits) -> Sequence[Any]:
        """One call a bit, in the order of the bits; fewer where the function does not answer."""
        made, self.late = side_by_side(self._once, bits, self.together, self.late, self._stop)
        return made

    def _stop(self) -> None:
        """What is running ends; where it was asked, an early end is heard."""
        self._stopped = True
        for worker in tuple(self._all):
            worker.halt()

    def _once(self, bit: bool) -> Any:
        given = self.second if bit else self.first
        worker = self._idle.get()
        with tempfile.TemporaryDirectory(prefix="epsilens-", ignore_cleanup_errors=True) as folder:
            asked = placed(given, folder) if isinstance(given, Path) else given
            outcome = worker.call(asked, self.timeout)
        if isinstance(outcome, Late) or outcome is _EARLY:
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
