"""What is inside an outcome: numbers, arrays, mappings and sequences, whatever library it comes from.

Numbers are floats, integers, truth values, decimals, fractions, and spans of time in seconds; a complex number has two
parts. Anything else is known by its words, less the place in memory that Python may put into them.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

_MOST_WORDS = 200
_DEEPEST = 6
_PORTABLE = (bool, float, str, bytes, complex, Decimal, Fraction, datetime.timedelta)
_DIGITS = 2**53  # whole numbers from here on have digits that a double has not
_LONGEST = 14_000  # bits of a whole number that Python still writes down
_FURTHEST = 400  # powers of ten of a decimal whose digits are looked at
_PLACE = re.compile(r" at 0x[0-9A-Fa-f]+")


def number_of(value: Any) -> float | None:
    """A number as a double; None for what is none.

    >>> from decimal import Decimal
    >>> number_of(Decimal("2.5")), number_of(10**400), number_of(datetime.timedelta(minutes=1)), number_of("3")
    (2.5, inf, 60.0, None)
    """
    if isinstance(value, np.timedelta64):
        return math.nan if np.isnat(value) else float(value / np.timedelta64(1, "s"))
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, complex | np.complexfloating):
        return None
    if not isinstance(value, bool | int | float | np.bool_ | np.number | Decimal | Fraction):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def beyond(value: Any) -> float | None:
    """What a number has beyond its double: the last digits of a large whole number, the rest of a fraction.

    None where the double is all there is.

    >>> from fractions import Fraction
    >>> beyond(2**60 + 3), beyond(-(10**400) - 1), beyond(7), beyond(Fraction(1, 2)), beyond(Fraction(1, 3)) > 0
    (3.0, -1.0, None, None, True)
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        whole = int(value)
        return None if -_DIGITS < whole < _DIGITS else float((whole + _DIGITS // 2) % _DIGITS - _DIGITS // 2)
    if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < _FURTHEST):
        return None
    if isinstance(value, Decimal | Fraction):
        double = number_of(value)
        rest = Fraction(value) - Fraction(double) if double is not None and math.isfinite(double) else Fraction(0)
        return float(rest) if rest else None
    if isinstance(value, np.longdouble):
        left = float(value - np.longdouble(float(value))) if np.isfinite(value) else 0.0
        return left if math.isfinite(left) and left else None
    return None


def beyond_all(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The same of an array of numbers, NaN where a double is all there is; None where it is everywhere.

    >>> beyond_all(np.array([2**60 + 3, 5])).tolist(), beyond_all(np.array([1.5]))
    ([3.0, nan], None)
    """
    if array.dtype.kind in "iu":
        if array.dtype.itemsize < 8 or not array.size or (int(array.min()) > -_DIGITS and int(array.max()) < _DIGITS):
            return None
    elif array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return None
    rests = [beyond(value) for value in array.ravel()]
    return np.array([math.nan if rest is None else rest for rest in rests]).reshape(array.shape)


def plain(text: str) -> str:
    """A text that every terminal and file takes: what cannot be printed is told by its code.

    >>> plain("a\\x1b[31m"), plain("\\udc80")
    ('a\\\\x1b[31m', '\\\\udc80')
    """
    if text.isprintable() and text.isascii():
        return text
    shown = "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
    return shown.encode("utf-8", "backslashreplace").decode()


def words_of(value: Any) -> str:
    """What an object says of itself, in a few letters; the place where it lies in memory tells nothing of the input.

    >>> words_of(object())
    '<object object>'
    """
    return _PLACE.sub("", repr(value))[:_MOST_WORDS]


def inside(value: Any) -> Any:
    """Arrays of numbers, mappings and sequences as they are; tables and models as these; anything else as it is."""
    if isinstance(value, complex | np.complexfloating):
        return {"real": float(value.real), "imaginary": float(value.imag)}
    if isinstance(value, np.ma.MaskedArray):
        return value.tolist()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping | list | tuple):
        return value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "state_dict"):  # a torch module
        return {key: inside(held) for key, held in value.state_dict().items()}
    if hasattr(value, "detach"):  # a tensor
        return _array(np.asarray(value.detach().cpu()))
    if hasattr(value, "column_names") and hasattr(value, "to_pydict"):  # an Arrow table
        return _cells([(name, value.column(i).to_pylist()) for i, name in enumerate(value.column_names)])
    if hasattr(value, "columns") and hasattr(value, "iloc"):  # a pandas frame, whose columns may share a name
        return _cells([(str(name), list(value.iloc[:, i])) for i, name in enumerate(value.columns)])
    if hasattr(value, "columns") and hasattr(value, "__getitem__"):
        return _cells([(str(name), list(value[name])) for name in value.columns])
    if hasattr(value, "coef_"):  # a fitted scikit-learn model
        return {name: np.asarray(getattr(value, name)) for name in ("coef_", "intercept_") if hasattr(value, name)}
    if hasattr(value, "toarray"):  # a sparse matrix of scipy
        return _array(np.asarray(value.toarray()))
    if hasattr(value, "__array__"):
        return _array(np.asarray(value))
    if hasattr(value, "__dict__") and vars(value) and not isinstance(value, type):
        return {name: held for name, held in vars(value).items() if not name.startswith("_")}
    return value


def portable(value: Any, depth: int = 0) -> Any:
    """The same outcome in types that every process knows: what a function returns from a process of its own.

    An object of any other type is a mapping from the name of its type to what is inside it, or to its words.

    >>> portable({1: (2.5, None), "x": object()})
    {'1': [2.5, None], 'x': {'object': '<object object>'}}
    """
    if value is None or type(value) in _PORTABLE or isinstance(value, np.generic):
        return value
    if type(value) is int:
        return value if value.bit_length() < _LONGEST else number_of(value)
    if type(value) is np.ndarray and value.dtype.kind != "O":
        return value
    inner = words_of(value) if depth > _DEEPEST else inside(value)
    made: Any
    if isinstance(inner, Mapping):
        made = {plain(str(key)): portable(held, depth + 1) for key, held in inner.items()}
    elif isinstance(inner, list | tuple):
        made = [portable(held, depth + 1) for held in inner]
    else:
        made = inner if isinstance(inner, np.ndarray | str) else words_of(value)
    known = isinstance(value, np.ndarray) or type(value) in (dict, list, tuple)
    return made if known else {plain(type(value).__name__): made}


def _array(value: np.ndarray[Any, Any]) -> Any:
    if value.dtype.kind in "biuf":
        return value
    if value.dtype.kind == "c":
        return np.stack((value.real, value.imag), axis=-1)
    if value.dtype.kind in "mM":
        return np.where(np.isnat(value), np.nan, value.astype(np.int64).astype(float))
    return value.tolist()


def _cells(columns: list[tuple[str, list[Any]]]) -> dict[str, Any]:
    """A table by cells: rows are named by their texts where these are unique, else by their place."""
    seen: dict[str, list[Any]] = {}
    for name, held in columns:
        while name in seen:
            name = f"{name} again"
        seen[name] = held
    texts = [name for name, held in seen.items() if any(isinstance(v, str) for v in held)]
    size = len(next(iter(seen.values()), []))
    labels = [" ".join(str(seen[name][i]) for name in texts) for i in range(size)]
    if not texts or len(set(labels)) < size:
        return dict(seen)
    return {f"{name} of {label}": seen[name][i] for i, label in enumerate(labels) for name in seen if name not in texts}
