"""Runs: a fair coin for each, the mechanism on one of two inputs, and whatever comes back.

What a mechanism does is never in the way of the game: an exception, no answer in time, NaN or another shape are
outcomes like any other, and what it prints is not shown. Only a call that answers for many runs at once must answer as
agreed, since one failure would count for all of them.

Calls of somebody else's code: silent, within their time, and whatever they end in.

The alarm of the process stops whatever Python is at. To a call that catches everything and goes on it rings again at
once, and so is heard where nothing is caught: between two rounds of its loop. It cannot stop one that does not return
from a library: audit such a mechanism as ``package.module:function``, in a process of its own.
"""

from __future__ import annotations

import filecmp
import inspect
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InputError, type_phrase

_ALARM_INTERVAL = 0.5  # seconds
_PATIENT_RINGS = 2  # rings that a call which means to end needs at most
_SHORTEST_INTERVAL = 1e-5  # seconds
_LONGEST_TIMEOUT = 1e8  # seconds that clocks take
_MOST_YIELDED = 100_000


@dataclass(frozen=True)
class RunFailure:
    """The outcome of a run that failed: the type of the exception, never its words."""

    kind: str


@dataclass(frozen=True)
class UnreadableAnswer:
    """The outcome of a run whose answer cannot be read, by methods of its own that fail: its type."""

    kind: str


@dataclass(frozen=True)
class NoAnswer:
    """The outcome of a run without an answer in time."""


class _TimeLimit(BaseException):
    """Raised inside a call that takes too long; no ``except Exception`` holds it up."""


class _NullStream(io.TextIOBase):
    """Where printed words go."""

    def write(self, text: str) -> int:
        return len(text)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _silenced_stream(stream: int) -> Iterator[None]:
    """What goes to a stream of the process itself, from programs and libraries that it starts, goes nowhere."""
    try:
        kept = os.dup(stream)
    except OSError:  # it is closed
        yield
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, stream)
        yield
    finally:
        os.dup2(kept, stream)
        os.close(kept)
        os.close(nothing)


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is printed and no warning shown; other threads of the process keep its streams."""
    with ExitStack() as held:
        if _in_main_thread():
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            held.enter_context(_silenced_stream(1))
            held.enter_context(_silenced_stream(2))
        held.enter_context(redirect_stdout(_NullStream()))
        held.enter_context(redirect_stderr(_NullStream()))
        held.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        yield


@dataclass
class _Alarm:
    """Whether it rings, and how often it has rung in this call."""

    on: bool = False
    rings: int = 0

    def ring(self, _signal: int, frame: FrameType | None) -> None:
        """Raise in whatever the call is at; again at once where earlier rings were caught.

        Not in :func:`_alarmed` itself, on its way into the call or out of it: nobody would catch it there.
        """
        if not self.on:
            return
        self.rings += 1
        if self.rings > _PATIENT_RINGS:
            signal.setitimer(signal.ITIMER_REAL, _SHORTEST_INTERVAL, _ALARM_INTERVAL)
        while frame is not None and frame.f_code is _Alarm.ring.__code__:  # one ring within another
            frame = frame.f_back
        if frame is not None and frame.f_code is not _call_with_alarm.__code__:
            raise _TimeLimit


def _call_with_alarm(call: Callable[[], object], seconds: float) -> object:
    """By the alarm of the process, which stops whatever Python is at; it rings again if the first is not heeded."""
    alarm = _Alarm()
    signal.signal(signal.SIGALRM, alarm.ring)
    try:
        alarm.on = True
        signal.setitimer(signal.ITIMER_REAL, seconds, _ALARM_INTERVAL)
        try:
            return call()
        finally:
            alarm.on = False  # first of all: no ring comes between an exception and this
    except _TimeLimit:
        alarm.on = False
        return NoAnswer()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _call_in_thread(call: Callable[[], object], seconds: float) -> object:
    """In a thread that is left to itself when time is up: the way that works outside the main thread."""
    got: list[object] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            got.append(call())
        except BaseException as error:
            failed.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(seconds)
    if failed:
        raise failed[0]
    return got[0] if got else NoAnswer()


def timeout_seconds(timeout: float) -> float:
    """The seconds of one run, as clocks take them.

    >>> timeout_seconds(5), timeout_seconds(1e300)
    (5.0, 100000000.0)
    """
    return min(float(checks.positive("timeout", checks.scalar("timeout", timeout))), _LONGEST_TIMEOUT)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[Callable[[Callable[[], object]], object]]:
    """Gives a function that makes a call, and returns :class:`Late` where it takes longer."""
    if seconds is None:
        yield lambda call: call()
    elif hasattr(signal, "setitimer") and _in_main_thread():
        before = signal.getsignal(signal.SIGALRM)
        try:
            yield lambda call: _call_with_alarm(call, seconds)
        finally:
            signal.signal(signal.SIGALRM, before)
    else:
        yield lambda call: _call_in_thread(call, seconds)


def call_mechanism(mechanism: Callable[..., object], *arguments: object) -> object:
    """The outcome of a call; what is yielded one by one is gathered, as part of the call."""
    process = os.getpid()
    try:
        outcome = mechanism(*arguments)
        if inspect.isgenerator(outcome):
            outcome = list(islice(outcome, _MOST_YIELDED))
    finally:
        if os.getpid() != process:  # a copy of this process, made by the mechanism, plays no game
            os._exit(0)
    if inspect.iscoroutine(outcome):
        outcome.close()
        raise InputError(
            "the mechanism returns a coroutine: give a function that is not async, such as "
            "lambda d: asyncio.run(release(d))",
            parameter="mechanism",
        )
    return outcome


Bits: TypeAlias = NDArray[np.bool_]
#: What a mechanism returned, one outcome a run: of any type, or numbers in an array.
Answers: TypeAlias = Sequence[object] | NDArray[np.generic]


def check_inputs_differ(d0: object, d1: object) -> None:
    """Refuse two inputs that are one and the same: whatever is done with them, nothing could be told apart.

    >>> check_inputs_differ([0, 1], [0, 2])
    """
    alike = d0 is d1
    if not alike and type(d0) is type(d1):
        try:
            if isinstance(d0, np.ndarray) and isinstance(d1, np.ndarray):
                alike = np.array_equal(d0, d1)
            elif isinstance(d0, Path) and isinstance(d1, Path):
                alike = filecmp.cmp(d0, d1, shallow=False)
            elif hasattr(d0, "columns") and hasattr(d0, "equals"):
                alike = bool(d0.equals(d1))
            else:
                alike = bool(d0 == d1)
        except Exception:  # by methods of their own: then the runs decide
            alike = False
    if alike:
        raise InputError(
            "d0 and d1 are the same: give two inputs that differ in one person, or nothing can be told apart", "d1"
        )


class OutcomeSource(Protocol):
    """Draws outcomes. ``width`` runs are one call, which must not be torn apart; 1 for most.

    One that answers several runs in the time of one says how many as ``together``.
    """

    @property
    def width(self) -> int:
        """How many runs one call answers for, together."""

    def draw(self, bits: Bits) -> Answers:
        """One outcome a bit: of the first input where it is False, of the second where it is True."""


def runs_together(source: OutcomeSource) -> int:
    """How many runs a source answers in the time of one."""
    return int(getattr(source, "together", 1))


@dataclass
class CallSource:
    """``mechanism(d)`` called once a run. After ``patience`` calls without an answer, the rest are not made."""

    mechanism: Callable[..., object]
    d0: object
    d1: object
    timeout: float | None = None
    patience: int = 3
    late: int = 0
    width = 1

    def draw(self, bits: Bits) -> list[object]:
        """One call a bit; fewer where the mechanism does not answer."""
        made: list[object] = []
        with silence(), time_limit(self.timeout) as within:
            for bit in bits.tolist():
                if self.late >= self.patience:
                    break
                d = self.d1 if bit else self.d0
                try:
                    outcome = within(lambda d=d: call_mechanism(self.mechanism, d))  # type: ignore[misc]
                except (KeyboardInterrupt, InputError):
                    raise
                except BaseException as error:
                    outcome = RunFailure(type(error).__name__)
                self.late += isinstance(outcome, NoAnswer)
                made.append(outcome)
        return made


def _joint_call(call: Callable[[], object], which: str, timeout: float | None) -> object:
    """The answer of a call for many runs: it must not fail."""
    with silence(), time_limit(timeout) as within:
        try:
            answer = within(call)
        except (KeyboardInterrupt, InputError):
            raise
        except BaseException as error:
            raise InputError(
                f"the mechanism fails on {which} with {type(error).__name__}, in a call for many runs: let it answer "
                "for each of them, with NaN or None where it cannot, or call it once a run to count failures as "
                "outcomes",
                parameter="mechanism",
            ) from None
    if isinstance(answer, NoAnswer):
        raise InputError(
            f"the mechanism gives no answer on {which} within {timeout:g} seconds, in a call for many runs: ask for "
            "fewer at a time (batch=1000), or give a longer timeout",
            parameter="timeout",
        )
    return answer


def _outcome_list(answer: object, count: int) -> Answers:
    """The outcomes that a call returned for ``count`` runs, in order; none where it returned something else.

    Tensors come to this machine's memory. A mapping, a set or a text is one outcome and not a list of them.
    """
    try:
        if hasattr(answer, "detach"):
            answer = answer.detach().cpu()
        if isinstance(answer, np.ma.MaskedArray):
            return list(answer.tolist())
        if not isinstance(answer, list | tuple | np.ndarray) and hasattr(answer, "__array__"):
            answer = np.asarray(answer)
        if isinstance(answer, np.ndarray):
            return answer if answer.ndim else []
        if isinstance(answer, Mapping | Set | str | bytes | bytearray):
            return []
        return list(islice(answer, count + 1)) if isinstance(answer, Iterable) else []
    except Exception:  # by methods of its own
        return []


@dataclass
class BatchSource:
    """``mechanism(d, n)`` returns n outcomes at once: a list, or an array whose first axis is the runs."""

    mechanism: Callable[..., object]
    d0: object
    d1: object
    most: int = 1_000_000
    timeout: float | None = None
    width = 1  # runs are independent of each other

    def draw(self, bits: Bits) -> Answers:
        """Two calls, put in the order of the bits."""
        sides = []
        for which, d, count in (("d0", self.d0, int((~bits).sum())), ("d1", self.d1, int(bits.sum()))):
            sizes = [min(self.most, count - start) for start in range(0, count, self.most)]
            sides.append([self._once(d, size, which) for size in sizes])
        arrays = [[p for p in parts if isinstance(p, np.ndarray) and p.dtype.kind in "biuf"] for parts in sides]
        shapes = {(part.dtype, part.shape[1:]) for parts in arrays for part in parts}
        if len(shapes) == 1 and [len(parts) for parts in arrays] == [len(parts) for parts in sides]:
            ((dtype, shape),) = shapes
            made = np.empty((bits.size, *shape), dtype=dtype)
            for mask, numbers in zip((~bits, bits), arrays, strict=True):
                if numbers:
                    made[mask] = np.concatenate(numbers)
            return made
        each: list[object] = [None] * bits.size
        for mask, parts in zip((~bits, bits), sides, strict=True):
            for place, outcome in zip(np.flatnonzero(mask).tolist(), (o for part in parts for o in part), strict=True):
                each[place] = outcome
        return each

    def _once(self, d: object, count: int, which: str) -> Answers:
        answer = _joint_call(partial(call_mechanism, self.mechanism, d, count), which, self.timeout)
        made = _outcome_list(answer, count)
        if len(made) != count:
            told = f"{len(made)} outcomes" if len(made) <= count else "more outcomes"
            told = told if len(made) else f"{type_phrase(answer)}"
            raise InputError(
                f"the batched mechanism returned {told} where {count} were asked: let mechanism(d, n) return a list or "
                "an array of n outcomes",
                parameter="batch",
            )
        return made


@dataclass
class GroupSource:
    """One call is many guesses: entry i of the input is of d1 where the coin of group i says so, else of d0.

    The mechanism takes all entries and returns as many cells. Where the entries are numbers, the outcome of a group is
    its cell less its entry of d0, which the attacker knows, and the cell itself.
    """

    mechanism: Callable[..., object]
    d0: Any
    d1: Any
    timeout: float | None = None

    def __post_init__(self) -> None:
        for name in ("d0", "d1"):
            given = getattr(self, name)
            if (
                isinstance(given, Mapping | Set | str | bytes)
                or hasattr(given, "columns")
                or not hasattr(given, "__len__")
            ):
                raise InputError(
                    f"{name} is {type_phrase(given)}: with groups=True give a list or an array with one entry a group",
                    parameter="groups",
                )
            if not isinstance(given, list | tuple) and hasattr(given, "__array__"):
                setattr(self, name, np.asarray(given))
        shapes = [(given.shape if isinstance(given, np.ndarray) else (len(given),)) for given in (self.d0, self.d1)]
        if not all(shape and shape[0] for shape in shapes) or shapes[0][0] != shapes[1][0]:
            told = " and ".join(str(shape[0]) if shape else "no" for shape in shapes)
            raise InputError(
                f"d0 and d1 have {told} entries: with groups=True give as many of each, one a group", parameter="groups"
            )
        self._arrays = isinstance(self.d0, np.ndarray) and isinstance(self.d1, np.ndarray)
        if self._arrays and shapes[0] != shapes[1]:
            raise InputError(
                f"d0 and d1 have the shapes {shapes[0]} and {shapes[1]}: with groups=True give arrays of one shape",
                parameter="groups",
            )
        self._known = _cell_numbers(self.d0)

    @property
    def width(self) -> int:
        """As many runs a call as there are groups."""
        return len(self.d0)

    def draw(self, bits: Bits) -> Answers:
        """One call for each ``width`` bits."""
        made: list[Answers] = []
        for coins in bits.reshape(-1, self.width):
            if self._arrays:
                shaped = coins.reshape(-1, *[1] * (self.d0.ndim - 1))
                mixed: Answers = np.where(shaped, self.d1, self.d0)
            else:
                mixed = [one if bit else zero for bit, zero, one in zip(coins.tolist(), self.d0, self.d1, strict=True)]
            answer = _joint_call(partial(call_mechanism, self.mechanism, mixed), "a mixture of d0 and d1", self.timeout)
            cells = _outcome_list(answer, self.width)
            if len(cells) != self.width:
                told = f"{len(cells)} cells" if len(cells) <= self.width else "more cells"
                told = told if len(cells) else f"{type_phrase(answer)}"
                raise InputError(
                    f"the mechanism returned {told} for {self.width} groups: let it return a list with one cell a "
                    "group, in their order",
                    parameter="groups",
                )
            numbers = _cell_numbers(cells)
            if numbers is not None and self._known is not None:
                made.append(np.column_stack((numbers - self._known, numbers)))
            else:
                made.append(list(cells))
        arrays = [part for part in made if isinstance(part, np.ndarray)]
        return np.concatenate(arrays) if len(arrays) == len(made) else [outcome for part in made for outcome in part]


def _cell_numbers(cells: Answers) -> NDArray[np.float64] | None:
    """One number a cell; None for anything else."""
    if isinstance(cells, np.ndarray):
        return cells.astype(float) if cells.ndim == 1 and cells.dtype.kind in "biuf" else None
    numbers = [cell for cell in cells if isinstance(cell, int | float | np.number | np.bool_)]
    if len(numbers) < len(cells):
        return None
    try:
        return np.array([float(number) for number in numbers])
    except (OverflowError, TypeError, ValueError):
        return None
