"""A name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["meant"]


def meant(name: Any, known: Iterable[str]) -> str:
    """What to add to a sentence about a name that is not known, where one that is comes close to it.

    >>> meant("laplac", ["laplace", "gaussian"]), meant("cauchy", ["laplace"])
    (' (did you mean laplace?)', '')
    """
    if not isinstance(name, str) or len(name) > 40:
        return ""
    from difflib import get_close_matches  # only once something is wrong

    close = get_close_matches(name.strip().lower(), list(known), n=1, cutoff=0.75)
    return f" (did you mean {close[0]}?)" if close else ""
