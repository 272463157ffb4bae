"""What the server or one of its workers refused, with the status code that says why."""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path
from typing import Any

from ..errors import EpsilensError


class RequestError(EpsilensError):
    """A refusal in a sentence; ``parameter`` is the field or the part of a release it speaks of."""

    def __init__(self, sentence: str, status: int, parameter: str = "") -> None:
        super().__init__(sentence)
        self.status, self.parameter = status, parameter


def checked_answer(made: dict[str, Any]) -> dict[str, Any]:
    """A worker's answer, unless it refused."""
    if "error" in made:
        raise RequestError(str(made["error"]), int(made["status"]), made.get("parameter", ""))
    return made


_ROOT = Path(__file__).resolve().parents[1]
#: What a line of ours about an error looks like: nothing else of a worker's output is passed on.
LOG_LINE = re.compile(r"an? [a-z]+ failed with \w{1,80}( at epsilens(\.\w{1,40}){0,6}:\d{1,6})?")


def error_kind(error: BaseException) -> str:
    """The class of an error and the innermost place of ours it came through.

    >>> from epsilens.checks import real
    >>> try:
    ...     real("epsilon", "x")
    ... except ValueError as error:
    ...     error_kind(error).rpartition(":")[0]
    'InputError at epsilens.checks'
    """
    ours = [
        f"{'.'.join(('epsilens', *path.relative_to(_ROOT).with_suffix('').parts))}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if (path := Path(frame.filename)).is_relative_to(_ROOT)
    ]
    return f"{type(error).__name__} at {ours[-1]}" if ours else type(error).__name__


def log_line(line: str) -> None:
    """One line in the server's log."""
    logging.getLogger("epsilens.web").warning("epsilens: %s", line)
