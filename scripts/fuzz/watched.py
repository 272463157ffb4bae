"""One input under watch: what counts as a failure, and how to try it again."""

from __future__ import annotations

import math
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import epsilens as el

_HOME = Path(el.__file__).parent
_MEMORY = 6_000_000_000
#: How much longer than it may compute an input may wait: the machine has other work too.
_WAITING = 6.0


class Failed(Exception):  # noqa: N818 - reads as what it is
    """Something that must not happen, and no exception by itself: NaN, an exit code, an answer of 500."""


class _TooLong(BaseException):
    """More processor time than one input is given; no handler of ours catches it."""


@dataclass
class Tried:
    """What came of the inputs of one kind."""

    kind: str
    seed: int
    inputs: int = 0
    refused: int = 0
    failures: dict[str, list[str]] = field(default_factory=dict)
    tracebacks: bool = False

    def failed(self, why: str, number: int, shown: str) -> None:
        """Keep a failure under what went wrong, with a line that brings it back; the first of its kind is told."""
        again = f"python -m scripts.fuzz --kind {self.kind} --seed {self.seed} --only {number}"
        if why not in self.failures:
            told = f"failed after {self.inputs} {self.kind}: {why}\n  {again}   # {shown[:600]}\n"
            sys.stderr.write(told.encode("ascii", "backslashreplace").decode())
            sys.stderr.flush()
        if self.tracebacks and sys.exc_info()[1] is not None:
            traceback.print_exc()
        self.failures.setdefault(why, []).append(f"{again}   # {shown[:600]}")


def limit_memory() -> None:
    """An input that takes all memory ends in a MemoryError, not with the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise _TooLong

    before = [signal.signal(each, give_up) for each in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _WAITING * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


def watched(tried: Tried, number: int, shown: str, call: Callable[[], Any], seconds: float) -> None:
    """Try one input: an error of ours is an answer; any other, NaN, or taking too long is a failure."""
    tried.inputs += 1
    try:
        with warnings.catch_warnings(), _at_most(seconds):
            warnings.simplefilter("ignore")
            made = call()
            if holds_nan(made):
                tried.failed(
                    f"NaN from {shown.partition('(')[0]} … {shown.rpartition('.')[2].partition('(')[0]}", number, shown
                )
    except el.EpsilensError as error:
        tried.refused += 1
        if "\n" in str(error) or not str(error):
            tried.failed("a sentence of several lines, or of none", number, f"{shown}: {str(error)[:200]!r}")
    except _TooLong:
        tried.failed(f"longer than {seconds:g} s", number, shown)
    except Failed as error:
        tried.failed(str(error)[:60], number, f"{shown}: {str(error)[:300]!r}")
    except Exception as error:
        tried.failed(f"{type(error).__name__} at {_where(error)}", number, f"{shown}: {str(error)[:200]!r}")


def _where(error: BaseException) -> str:
    ours = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(_HOME)]
    return f"{Path(ours[-1].filename).relative_to(_HOME)}:{ours[-1].lineno}" if ours else "the call"


def holds_nan(value: Any) -> bool:
    """Whether a number among what came out is none."""
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    if isinstance(value, list | tuple):
        return any(map(holds_nan, value))
    return isinstance(value, dict) and any(map(holds_nan, value.values()))
