"""The password of a database that asks for one: from the environment, or from whoever sits at the terminal.

One in the address comes first, then what the driver finds by itself (``PGPASSWORD``, ``~/.pgpass``), then
``EPSILENS_PASSWORD``; a prompt is last, and only on a terminal. It is kept nowhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

VARIABLE = "EPSILENS_PASSWORD"

_paused: list[tuple[Callable[[], None], Callable[[], None]]] = []


@contextmanager
def pausing(stop: Callable[[], None], start: Callable[[], None]) -> Iterator[None]:
    """While somebody is asked, ``stop`` has taken away what else moves on the terminal."""
    _paused.append((stop, start))
    try:
        yield
    finally:
        _paused.pop()


def found_password(whose: str) -> str | None:
    """The password for ``whose`` (a user at a host), None where there is none and nobody to ask."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return given
    if sys.stdin is None or sys.stderr is None or not sys.stdin.isatty():
        return None
    from getpass import getpass

    for stop, _ in _paused:
        stop()
    try:
        return getpass(f"Password for {whose}: ", stream=sys.stderr)
    except EOFError:
        return None
    finally:
        for _, start in _paused:
            start()
