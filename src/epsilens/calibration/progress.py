"""How far a long computation is: a line on a terminal, one that renews itself in a notebook, or a function called."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

from ..errors import InputError

T = TypeVar("T")
#: Told how many are done, and of how many; or whether to show it.
Progress: TypeAlias = Callable[[int, int], object] | bool | None
#: Seconds after which a computation says how far it is, and between two sayings.
_PATIENCE, _EVERY = 1.0, 0.2


def counted(items: Iterable[T], total: int, progress: Progress = None) -> Iterator[T]:
    """The items, one after the other, with how far they are.

    ``progress`` is called with how many are done and how many there are; True shows it at once, False never, and None
    after a second, where somebody is watching: in a notebook or at a terminal.

    >>> list(counted("ab", 2, lambda done, of: print(done, "of", of)))
    1 of 2
    2 of 2
    ['a', 'b']
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InputError(
            f"progress is {progress!r}: give True, False or a function of how many are done and of how many",
            parameter="progress",
        )
    if callable(progress):
        for done, item in enumerate(items, 1):
            yield item
            progress(done, total)
        return
    show = _shown() if progress is not False else None
    if show is None and progress is True:
        show = _Line()
    started = last = time.monotonic()
    try:
        for done, item in enumerate(items, 1):
            yield item
            now = time.monotonic()
            if show is not None and now - last > _EVERY and (progress or now - started > _PATIENCE):
                last, left = now, (now - started) / done * (total - done)
                show.tell(f"{done} of {total}, about {left:.0f} s left")
    finally:
        if show is not None:
            show.end()


class _Line:
    """One line on the error stream, written anew."""

    def __init__(self) -> None:
        self._wide = 0

    def tell(self, words: str) -> None:
        self._write(f"\r{words:<{self._wide}}")
        self._wide = len(words)

    def end(self) -> None:
        if self._wide:
            self._write(f"\r{'':<{self._wide}}\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class _Output:
    """One output of a notebook's cell, which renews itself and is gone in the end."""

    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None

    def tell(self, words: str) -> None:
        bundle = {"text/plain": words}
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _shown() -> _Line | _Output | None:
    """Where somebody is watching; None where nobody is."""
    shell = sys.modules.get("IPython")
    if shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None:
        return _Output(import_module("IPython.display").display)
    return _Line() if sys.stderr is not None and sys.stderr.isatty() else None
