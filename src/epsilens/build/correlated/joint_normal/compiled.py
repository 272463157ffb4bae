"""Loops compiled by numba where it is installed; everything also runs without it, slower."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["available", "compiled"]


@lru_cache(maxsize=1)
def available() -> bool:
    """Whether numba can be imported (without importing it, which takes half a second)."""
    return find_spec("numba") is not None


@lru_cache(maxsize=16)
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled, from numba's disk cache after the first time; itself where numba is missing.

    numba writes next to the source, or to the user's cache directory where that is read-only. Where neither can be
    written it refuses to cache: then the function is compiled for this process only.
    """
    if not available():
        return function
    numba = import_module("numba")
    try:
        made = numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})(function)
    except RuntimeError:
        made = numba.njit(cache=False, fastmath={"reassoc", "contract", "nsz"})(function)
    return made  # type: ignore[no-any-return]
