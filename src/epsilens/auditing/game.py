"""Runs: a fair coin for each, the mechanism on one of two inputs, and whatever comes back.

What a mechanism does is never in the way of the game: an exception, no answer in time, NaN or another shape are
outcomes like any other, and what it prints is not shown. Only a call that answers for many runs at once must answer as
agreed, since one failure would count for all of them.
"""

from __future__ import annotations

import io
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["BatchSource", "Bits", "CallSource", "GroupSource", "Late", "Raised", "Source", "quiet"]

Bits: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Raised:
    """The outcome of a run that failed: the type of the exception, never its words."""

    kind: str


@dataclass(frozen=True)
class Late:
    """The outcome of a run without an answer in time."""


class Source(Protocol):
    """Draws outcomes. ``width`` runs are one call, which must not be torn apart; 1 for most.

    One that answers several runs in the time of one says how many as ``together``.
    """

    @property
    def width(self) -> int:
        """How many runs one call answers for, together."""

    def draw(self, bits: Bits) -> Sequence[Any] | NDArray[Any]:
        """One outcome a bit: of the first input where it is False, of the second where it is True."""


class _TimeUp(BaseException):
    """Raised inside a call that takes too long; no ``except Exception`` holds it up."""


class _Sink(io.TextIOBase):
    """Where printed words go."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is printed and no warning shown."""
    with redirect_stdout(_Sink()), redirect_stderr(_Sink()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _ring(_signal: int, _frame: Any) -> None:
    raise _TimeUp


def _alarmed(call: Callable[[], Any], seconds: float) -> Any:
    """By the alarm of the process, which stops whatever Python is at."""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            return call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TimeUp:
        return Late()


def _threaded(call: Callable[[], Any], seconds: float) -> Any:
    """In a thread that is left to itself when time is up: the way that works outside the main thread."""
    got: list[Any] = []
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
    return got[0] if got else Late()


@contextmanager
def _limited(seconds: float | None) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    if seconds is None:
        yield lambda call: call()
    elif hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGALRM, _ring)
        try:
            yield lambda call: _alarmed(call, seconds)
        finally:
            signal.signal(signal.SIGALRM, before)
    else:
        yield lambda call: _threaded(call, seconds)


@dataclass
class CallSource:
    """``mechanism(d)`` called once a run. After ``patience`` calls without an answer, the rest are not made."""

    mechanism: Callable[[Any], Any]
    d0: Any
    d1: Any
    timeout: float | None = None
    patience: int = 3
    late: int = 0

    @property
    def width(self) -> int:
        """One run a call."""
        return 1

    def draw(self, bits: Bits) -> list[Any]:
        """One call a bit; fewer where the mechanism does not answer."""
        made: list[Any] = []
        with quiet(), _limited(self.timeout) as within:
            for bit in bits.tolist():
                if self.late >= self.patience:
                    break
                d = self.d1 if bit else self.d0
                try:
                    outcome = within(lambda d=d: self.mechanism(d))  # type: ignore[misc]
                except Exception as error:
                    outcome = Raised(type(error).__name__)
                except SystemExit:
                    outcome = Raised("SystemExit")
                self.late += isinstance(outcome, Late)
                made.append(outcome)
        return made


def _whole_call(mechanism: Callable[..., Any], arguments: tuple[Any, ...], which: str, timeout: float | None) -> Any:
    """A call that answers for many runs: it must not fail."""
    with quiet(), _limited(timeout) as within:
        try:
            answer = within(lambda: mechanism(*arguments))
        except (Exception, SystemExit) as error:
            raise InputError(
                f"the batched mechanism fails on {which} with {type(error).__name__}: let it answer for every run, "
                "with NaN or None where it cannot, or leave out batch to count failures as outcomes",
                parameter="mechanism",
            ) from None
    if isinstance(answer, Late):
        raise InputError(
            f"the batched mechanism gives no answer on {which} within {timeout:g} seconds: give a smaller batch or a "
            "longer timeout",
            parameter="timeout",
        )
    return answer


def _sized(answer: Any) -> Sequence[Any] | NDArray[Any]:
    """The answers of a batch, in order; tensors come to this machine's memory."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
    if not isinstance(answer, list | tuple | np.ndarray) and hasattr(answer, "__array__"):
        answer = np.asarray(answer)
    return answer if isinstance(answer, list | tuple | np.ndarray) else list(answer)


@dataclass
class BatchSource:
    """``mechanism(d, n)`` returns n outcomes at once: a list, or an array whose first axis is the runs."""

    mechanism: Callable[[Any, int], Any]
    d0: Any
    d1: Any
    most: int = 1_000_000
    timeout: float | None = None

    @property
    def width(self) -> int:
        """Runs are independent of each other."""
        return 1

    def draw(self, bits: Bits) -> Sequence[Any] | NDArray[Any]:
        """Two calls, put in the order of the bits."""
        sides = []
        for which, d, count in (("d0", self.d0, int((~bits).sum())), ("d1", self.d1, int(bits.sum()))):
            parts: list[Any] = []
            while count > 0:
                asked = min(count, self.most)
                parts.append(self._once(d, asked, which))
                count -= asked
            sides.append(parts)
        zero, one = sides
        if all(isinstance(part, np.ndarray) and part.dtype.kind in "biuf" for part in (*zero, *one)) and (
            len({part.shape[1:] for part in (*zero, *one)}) == 1
        ):
            first = (zero or one)[0]
            made = np.empty((bits.size, *first.shape[1:]), dtype=np.result_type(*(part.dtype for part in zero + one)))
            for mask, parts in ((~bits, zero), (bits, one)):
                if parts:
                    made[mask] = np.concatenate(parts)
            return made
        each: list[Any] = [None] * bits.size
        for mask, parts in ((~bits, zero), (bits, one)):
            for place, outcome in zip(np.flatnonzero(mask).tolist(), (o for part in parts for o in part), strict=True):
                each[place] = outcome
        return each

    def _once(self, d: Any, count: int, which: str) -> Sequence[Any] | NDArray[Any]:
        answer = _whole_call(self.mechanism, (d, count), which, self.timeout)
        try:
            made = _sized(answer)
        except TypeError:
            made = []
        if len(made) != count:
            raise InputError(
                f"the batched mechanism returned {len(made)} outcomes where {count} were asked: let mechanism(d, n) "
                "return a list or an array of n outcomes",
                parameter="batch",
            )
        return made


@dataclass
class GroupSource:
    """One call is many guesses: entry i of the input is of d1 where the coin of group i says so, else of d0.

    The mechanism takes all entries and returns as many cells. Where the entries are numbers, the outcome of a group is
    its cell less its entry of d0, which the attacker knows, and the cell itself.
    """

    mechanism: Callable[[Any], Any]
    d0: Any
    d1: Any
    timeout: float | None = None

    def __post_init__(self) -> None:
        try:
            sizes = len(self.d0), len(self.d1)
        except TypeError:
            raise InputError(
                "d0 and d1 have no length: with groups=True give sequences with one entry a group", parameter="groups"
            ) from None
        if sizes[0] != sizes[1] or not sizes[0]:
            raise InputError(
                f"d0 and d1 have {sizes[0]} and {sizes[1]} entries: with groups=True give as many of each, one a group",
                parameter="groups",
            )
        self._arrays = isinstance(self.d0, np.ndarray) and isinstance(self.d1, np.ndarray)
        known = np.asarray(self.d0) if self._arrays or isinstance(self.d0, list | tuple) else np.zeros(0)
        self._known = known.astype(float) if known.ndim == 1 and known.dtype.kind in "biuf" else None

    @property
    def width(self) -> int:
        """As many runs a call as there are groups."""
        return len(self.d0)

    def draw(self, bits: Bits) -> Sequence[Any] | NDArray[Any]:
        """One call for each ``width`` bits."""
        made: list[Any] = []
        for coins in bits.reshape(-1, self.width):
            if self._arrays:
                shaped = coins.reshape(-1, *[1] * (self.d0.ndim - 1))
                mixed: Any = np.where(shaped, self.d1, self.d0)
            else:
                mixed = [
                    one if coin else zero for coin, zero, one in zip(coins.tolist(), self.d0, self.d1, strict=True)
                ]
            answer = _whole_call(self.mechanism, (mixed,), "a mixture of d0 and d1", self.timeout)
            try:
                cells = _sized(answer)
            except TypeError:
                cells = []
            if len(cells) != self.width:
                raise InputError(
                    f"the mechanism returned {len(cells)} cells for {self.width} groups: let it return one a group",
                    parameter="groups",
                )
            numbers = np.asarray(cells) if isinstance(cells, np.ndarray) or _all_numbers(cells) else None
            if numbers is not None and numbers.ndim == 1 and self._known is not None and numbers.dtype.kind in "biuf":
                made.append(np.column_stack((numbers - self._known, numbers)))
            else:
                made.append(list(cells))
        if all(isinstance(part, np.ndarray) for part in made):
            return np.concatenate(made)
        return [outcome for part in made for outcome in part]


def _all_numbers(cells: Sequence[Any]) -> bool:
    return all(isinstance(cell, int | float | np.number) for cell in cells)
