"""Checks of what people pass in: one clear sentence, before anything is computed.

Each function returns the value as a float64 array (0-d for a scalar) or raises
:class:`~epsilens.errors.InputError` naming the parameter, the value, what is allowed and what to do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, suggestion, type_phrase
from .shares import SHARES, parse_shares

Array: TypeAlias = NDArray[np.float64]
#: One number as it may be given, 0.1 or a share as text, and several: readings of one are a float, of several an array.
Real: TypeAlias = float | str
Several: TypeAlias = NDArray[Any] | list[Any] | tuple[Any, ...]
#: What a reading returns: a float for scalar input, an array otherwise.
Number: TypeAlias = Any


def float_or_array(value: Any) -> float | Array:
    """Return a float for a 0-d array, the array itself otherwise."""
    if type(value) is np.ndarray:  # the common case, kept short
        return value if value.ndim else float(value)
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def real(name: str, value: object, *, infinite: bool = False, of: str = "") -> Array:
    """Real numbers, no NaN; infinities only where they mean something.

    ``name`` is what the sentence calls them, ``of`` the parameter they were given by where that has another name.

    >>> real("epsilon", "1")
    Traceback (most recent call last):
    epsilens.errors.InputError: epsilon is '1', a str: give a number or an array of numbers
    >>> real("prior", ["10%", "1 of 4"])
    array([0.1 , 0.25])
    """
    if type(value) is float:  # the common case, kept short
        array: Array = np.asarray(value)
        if math.isfinite(value):
            return array
    else:
        try:
            raw = np.asarray(value)
        except (ValueError, TypeError):
            raise InputError(
                f"{name} has rows of different lengths: give numbers or a regular array", of or name, value=value
            ) from None
        if "numpy.ma" in sys.modules and np.ma.is_masked(value):  # loading it is slow, and whoever has one did
            raise InputError(f"{name} has masked values: fill them in or leave them out", of or name, value=value)
        if raw.dtype.kind == "O":
            raw = _of_whole(name, raw, of)
        if raw.dtype.kind == "U" and (of or name) in SHARES:
            raw = _of_shares(value, raw)
        if raw.dtype.kind not in "iuf":
            shown = f"{value!r}"
            shown = shown if len(shown) <= 40 else shown[:37] + "..."
            raise InputError(
                f"{name} is {shown}, {type_phrase(value)}: give a number or an array of numbers",
                of or name,
                value=value,
            )
        array = raw.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        if np.isnan(array).any():
            raise InputError(f"{name} contains NaN: give a number", of or name, value=value)
        if not infinite:
            raise InputError(f"{name} is infinite: give a finite number", of or name, value=value)
    return array


def _of_whole(name: str, raw: NDArray[Any], of: str) -> NDArray[np.generic]:
    """Whole numbers beyond 64 bits as the doubles next to them; anything else as it is."""
    if not raw.size or any(type(each) is not int for each in raw.flat):
        return raw
    try:
        return raw.astype(np.float64)
    except OverflowError:
        raise InputError(f"{name} has more than 308 digits: give a smaller number", of or name) from None


def _of_shares(value: object, raw: NDArray[np.generic]) -> NDArray[np.generic]:
    """Shares written as text as numbers, where all of them can be read; else what was given."""
    read = np.asarray(parse_shares(value if isinstance(value, list | tuple) else raw.tolist()))
    return read if read.dtype.kind in "iuf" else raw


def _first(array: Array, bad: NDArray[np.bool_]) -> str:
    return f"{float(array[bad].ravel()[0]) if array.ndim else float(array):.12g}"


def probability(name: str, value: object, *, closed: bool = True) -> Array:
    """Probabilities: in [0, 1], or strictly inside when ``closed`` is false; "55%" and "55 of 100" are 0.55.

    >>> probability("alpha", 1.2)
    Traceback (most recent call last):
    epsilens.errors.InputError: alpha is 1.2: give a probability between 0 and 1
    """
    quick = closed and type(value) is np.ndarray and value.dtype == np.float64 and value.size > 0
    if quick and isinstance(value, np.ndarray) and value.min() >= 0 and value.max() <= 1:
        return value
    array = real(name, parse_shares(value) if isinstance(value, str) else value, infinite=True)
    bad = (array < 0) | (array > 1) if closed else (array <= 0) | (array >= 1)
    if bad.any():
        inside = "between 0 and 1" if closed else "strictly between 0 and 1"
        raise InputError(f"{name} is {_first(array, bad)}: give a probability {inside}", name, value=value)
    return array


def positive(name: str, value: object) -> Array:
    """Finite numbers above zero."""
    if type(value) is float and 0 < value < math.inf:
        return np.asarray(value)
    array = real(name, value)
    bad = array <= 0
    if bad.any():
        raise InputError(f"{name} is {_first(array, bad)}: give a number above 0", name, value=value)
    return array


def at_least(name: str, value: object, low: float, *, infinite: bool = False) -> Array:
    """Numbers not below ``low``."""
    array = real(name, value, infinite=infinite)
    bad = array < low
    if bad.any():
        raise InputError(f"{name} is {_first(array, bad)}: give a number not below {low:g}", name, value=value)
    return array


def in_range(name: str, value: object, low: float, high: float) -> Array:
    """Numbers in [low, high]."""
    if type(value) is float and low <= value <= high:
        return np.asarray(value)
    if type(value) is np.ndarray and value.dtype == np.float64 and not value.ndim and low <= value.item() <= high:
        return value
    array = real(name, value, infinite=True)
    bad = (array < low) | (array > high)
    if bad.any():
        raise InputError(f"{name} is {_first(array, bad)}: give a number from {low:g} to {high:g}", name, value=value)
    return array


def privacy_loss(name: str, value: object) -> Array:
    """A privacy loss (ε, ψ, or sensitivity over scale) of a size that doubles can carry through every reading."""
    return in_range(name, value, 1e-300, 1e4)


def broadcastable(**arrays: Array) -> None:
    """Arrays whose shapes broadcast.

    >>> broadcastable(kl=np.zeros(2), a=np.zeros(3))
    Traceback (most recent call last):
    epsilens.errors.InputError: the shapes do not fit together (kl (2,), a (3,)): give shapes that broadcast
    """
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(f"the shapes do not fit together ({shapes}): give shapes that broadcast") from None


def scalar(name: str, value: object, *, of: str = "") -> float:
    """One finite number; ``of`` as for :func:`real`."""
    if type(value) is float and math.isfinite(value):
        return value
    array = real(name, value, of=of)
    if array.ndim:
        raise InputError(f"{name} has shape {array.shape}: give a single number", of or name, value=value)
    return float(array)


def integer(name: str, value: object, *, low: int, high: int | None = None) -> int:
    """One whole number in [low, high]."""
    number = scalar(name, value)
    if number != int(number) or number < low or (high is not None and number > high):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise InputError(f"{name} is {number:.12g}: give a whole number {allowed}", name, value=value)
    return int(number)


def one_of(name: str, value: object, allowed: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        words, shown = ", ".join(repr(a) for a in allowed), f"{value!r}"
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        raise InputError(f"{name} is {shown}{suggestion(value, allowed)}: give one of {words}", name, value=value)
    return value


def has_length(value: Any) -> bool:
    """Whether it has a length: an array without dimensions has the method, and no answer.

    >>> has_length([]), has_length(np.zeros(2)), has_length(np.array(0.5)), has_length(3)
    (True, True, False, False)
    """
    try:
        len(value)
    except TypeError:
        return False
    return True
