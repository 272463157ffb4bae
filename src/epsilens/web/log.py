"""What the server writes down when something fails: the kind of error and where in our code, never what it says.

The message of an error may quote a cell of somebody's table; its class and a line of ours cannot.
"""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
#: What a line of ours about an error looks like: nothing else of a worker's output is passed on.
OURS = re.compile(r"an? [a-z]+ failed with \w{1,80}( at epsilens(\.\w{1,40}){0,6}:\d{1,6})?")


def kind_of(error: BaseException) -> str:
    """The class of an error and the innermost place of ours it came through.

    >>> from epsilens.checks import real
    >>> try:
    ...     real("epsilon", "x")
    ... except ValueError as error:
    ...     kind_of(error).rpartition(":")[0]
    'InputError at epsilens.checks'
    """
    ours = [
        f"{'.'.join(('epsilens', *path.relative_to(_ROOT).with_suffix('').parts))}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if (path := Path(frame.filename)).is_relative_to(_ROOT)
    ]
    return f"{type(error).__name__} at {ours[-1]}" if ours else type(error).__name__


def note(line: str) -> None:
    """One line in the server's log."""
    logging.getLogger("epsilens.web").warning("epsilens: %s", line)
