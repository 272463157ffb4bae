"""Calls of somebody else's code: silent, within their time, and whatever they end in.

The alarm of the process stops whatever Python is at. To a call that catches everything and goes on it rings again at
once, and so is heard where nothing is caught: between two rounds of its loop. It cannot stop one that does not return
from a library: audit such a mechanism as ``package.module:function``, in a process of its own.
"""

from __future__ import annotations

import inspect
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from .. import checks
from ..errors import InputError

_AGAIN = 0.5  # seconds
_HEARD = 2  # rings that a call which means to end needs at most
_AT_ONCE = 1e-5  # seconds
_LONGEST = 1e8  # seconds that clocks take
_MOST_YIELDED = 100_000


@dataclass(frozen=True)
class Raised:
    """The outcome of a run that failed: the type of the exception, never its words."""

    kind: str


@dataclass(frozen=True)
class Unreadable:
    """The outcome of a run whose answer cannot be read, by methods of its own that fail: its type."""

    kind: str


@dataclass(frozen=True)
class Late:
    """The outcome of a run without an answer in time."""


class _TimeUp(BaseException):
    """Raised inside a call that takes too long; no ``except Exception`` holds it up."""


class _Sink(io.TextIOBase):
    """Where printed words go."""

    def write(self, text: str) -> int:
        return len(text)


def _main() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _nowhere(stream: int) -> Iterator[None]:
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
def quiet() -> Iterator[None]:
    """Nothing is printed and no warning shown; other threads of the process keep its streams."""
    with ExitStack() as held:
        if _main():
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            held.enter_context(_nowhere(1))
            held.enter_context(_nowhere(2))
        held.enter_context(redirect_stdout(_Sink()))
        held.enter_context(redirect_stderr(_Sink()))
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
        if self.rings > _HEARD:
            signal.setitimer(signal.ITIMER_REAL, _AT_ONCE, _AGAIN)
        while frame is not None and frame.f_code is _Alarm.ring.__code__:  # one ring within another
            frame = frame.f_back
        if frame is not None and frame.f_code is not _alarmed.__code__:
            raise _TimeUp


def _alarmed(call: Callable[[], Any], seconds: float) -> Any:
    """By the alarm of the process, which stops whatever Python is at; it rings again if the first is not heeded."""
    alarm = _Alarm()
    signal.signal(signal.SIGALRM, alarm.ring)
    try:
        alarm.on = True
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        try:
            return call()
        finally:
            alarm.on = False  # first of all: no ring comes between an exception and this
    except _TimeUp:
        alarm.on = False
        return Late()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


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


def limit_of(timeout: float) -> float:
    """The seconds of one run, as clocks take them.

    >>> limit_of(5), limit_of(1e300)
    (5.0, 100000000.0)
    """
    return min(float(checks.positive("timeout", checks.scalar("timeout", timeout))), _LONGEST)


@contextmanager
def limited(seconds: float | None) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Gives a function that makes a call, and returns :class:`Late` where it takes longer."""
    if seconds is None:
        yield lambda call: call()
    elif hasattr(signal, "setitimer") and _main():
        before = signal.getsignal(signal.SIGALRM)
        try:
            yield lambda call: _alarmed(call, seconds)
        finally:
            signal.signal(signal.SIGALRM, before)
    else:
        yield lambda call: _threaded(call, seconds)


def called(mechanism: Callable[..., Any], *arguments: Any) -> Any:
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
