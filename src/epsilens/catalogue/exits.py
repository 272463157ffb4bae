"""The exit codes of the command line and what they mean."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Exit"]


class Exit(IntEnum):
    """How a command ended.

    >>> Exit.NO_SOLUTION, int(Exit.BAD_INPUT)
    (<Exit.NO_SOLUTION: 3>, 2)
    """

    FINE = 0
    FAULT = 1
    BAD_INPUT = 2
    NO_SOLUTION = 3
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        """A sentence for the docs."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.FINE: "Fine.",
    Exit.FAULT: "Something went wrong inside epsilens: please report it.",
    Exit.BAD_INPUT: "Bad input: one sentence on stderr, nothing on stdout, no file touched.",
    Exit.NO_SOLUTION: "The question is well put, but no parameter satisfies the limit; or a limit is exceeded, or an "
    "answer looks tampered with.",
    Exit.INTERRUPTED: "Stopped from the keyboard.",
}
