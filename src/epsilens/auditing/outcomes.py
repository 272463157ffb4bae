"""Whatever a mechanism returns, as columns an attacker can look at: numbers, codes of texts, and the kind of outcome.

A number is one column; a vector, a table of cells (a mapping or a data frame), a model's parameters are a column for
each entry, named by where it stands. The kind of an outcome (its type, shape, keys, the exception it failed with) is a
code of its own, so that a missing cell, another shape or dtype and a failure can be told apart. An outcome that cannot
be read (one whose own methods fail) is known by its type alone.

What is inside an outcome: numbers, arrays, mappings and sequences, whatever library it comes from.

Numbers are floats, integers, truth values, decimals, fractions, and spans of time in seconds; a complex number has two
parts. Anything else is known by its words, less the place in memory that Python may put into them.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .sources import Answers, Bits, NoAnswer, RunFailure, UnreadableAnswer

_MOST_REPR = 200
_DEEPEST = 6
_PORTABLE_TYPES = (bool, float, str, bytes, complex, Decimal, Fraction, datetime.timedelta)
_EXACT_INTEGERS = 2**53  # whole numbers from here on have digits that a double has not
_MOST_BITS = 14_000  # bits of a whole number that Python still writes down
_MOST_DECIMAL_EXPONENT = 400  # powers of ten of a decimal whose digits are looked at
_MEMORY_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def as_double(value: object) -> float | None:
    """A number as a double; None for what is none.

    >>> from decimal import Decimal
    >>> as_double(Decimal("2.5")), as_double(10**400), as_double(datetime.timedelta(minutes=1)), as_double("3")
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


def double_remainder(value: object) -> float | None:
    """What a number has beyond its double: the last digits of a large whole number, the rest of a fraction.

    None where the double is all there is.

    >>> from fractions import Fraction
    >>> [double_remainder(value) for value in (2**60 + 3, -(10**400) - 1, 7, Fraction(1, 2))]
    [3.0, -1.0, None, None]
    >>> double_remainder(Fraction(1, 3)) > 0
    True
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        whole, half = int(value), _EXACT_INTEGERS // 2
        return None if -_EXACT_INTEGERS < whole < _EXACT_INTEGERS else float((whole + half) % _EXACT_INTEGERS - half)
    if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < _MOST_DECIMAL_EXPONENT):
        return None
    if isinstance(value, Decimal | Fraction):
        double = as_double(value)
        rest = Fraction(value) - Fraction(double) if double is not None and math.isfinite(double) else Fraction(0)
        return float(rest) if rest else None
    if isinstance(value, np.longdouble):
        left = float(value - np.longdouble(float(value))) if np.isfinite(value) else 0.0
        return left if math.isfinite(left) and left else None
    return None


def double_remainders(array: NDArray[np.generic]) -> Array | None:
    """The same of an array of numbers, NaN where a double is all there is; None where it is everywhere.

    >>> double_remainders(np.array([2**60 + 3, 5])).tolist(), double_remainders(np.array([1.5]))
    ([3.0, nan], None)
    """
    if array.dtype.kind in "iu":
        if array.dtype.itemsize < 8 or not array.size:
            return None
        if int(array.min()) > -_EXACT_INTEGERS and int(array.max()) < _EXACT_INTEGERS:
            return None
    elif array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return None
    rests = [double_remainder(value) for value in array.ravel()]
    return np.array([math.nan if rest is None else rest for rest in rests]).reshape(array.shape)


def printable(text: str) -> str:
    """A text that every terminal and file takes: what cannot be printed is told by its code.

    >>> printable("a\\x1b[31m"), printable("\\udc80")
    ('a\\\\x1b[31m', '\\\\udc80')
    """
    if text.isprintable() and text.isascii():
        return text
    shown = "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
    return shown.encode("utf-8", "backslashreplace").decode()


def repr_text(value: object) -> str:
    """What an object says of itself, in a few letters; the place where it lies in memory tells nothing of the input.

    >>> repr_text(object())
    '<object object>'
    """
    return _MEMORY_ADDRESS.sub("", repr(value))[:_MOST_REPR]


def contents(value: object) -> object:
    """Arrays of numbers, mappings and sequences as they are; tables and models as these; anything else as it is."""
    if isinstance(value, complex | np.complexfloating):
        return {"real": float(value.real), "imaginary": float(value.imag)}
    if isinstance(value, np.ma.MaskedArray):
        return value.tolist()
    if isinstance(value, np.ndarray):
        return _numeric_array(value)
    if isinstance(value, Mapping | list | tuple):
        return value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "state_dict"):  # a torch module
        return {key: contents(held) for key, held in value.state_dict().items()}
    if hasattr(value, "detach"):  # a tensor
        return _numeric_array(np.asarray(value.detach().cpu()))
    if hasattr(value, "column_names") and hasattr(value, "column") and hasattr(value, "to_pydict"):  # an Arrow table
        return _table_cells([(name, value.column(i).to_pylist()) for i, name in enumerate(value.column_names)])
    if hasattr(value, "columns") and hasattr(value, "iloc"):  # a pandas frame, whose columns may share a name
        return _table_cells([(str(name), list(value.iloc[:, i])) for i, name in enumerate(value.columns)])
    if hasattr(value, "columns") and hasattr(value, "__getitem__"):
        return _table_cells([(str(name), list(value[name])) for name in value.columns])
    if hasattr(value, "coef_"):  # a fitted scikit-learn model
        return {name: np.asarray(getattr(value, name)) for name in ("coef_", "intercept_") if hasattr(value, name)}
    if hasattr(value, "toarray"):  # a sparse matrix of scipy
        return _numeric_array(np.asarray(value.toarray()))
    if hasattr(value, "__array__"):
        return _numeric_array(np.asarray(value))
    if hasattr(value, "__dict__") and vars(value) and not isinstance(value, type):
        return {name: held for name, held in vars(value).items() if not name.startswith("_")}
    return value


def to_portable(value: object, depth: int = 0) -> object:
    """The same outcome in types that every process knows: what a function returns from a process of its own.

    An object of any other type is a mapping from the name of its type to what is inside it, or to its words.

    >>> to_portable({1: (2.5, None), "x": object()})
    {'1': [2.5, None], 'x': {'object': '<object object>'}}
    """
    if value is None or type(value) in _PORTABLE_TYPES or isinstance(value, np.generic):
        return value
    if type(value) is int:
        return value if value.bit_length() < _MOST_BITS else as_double(value)
    if type(value) is np.ndarray and value.dtype.kind != "O":
        return value
    inner = repr_text(value) if depth > _DEEPEST else contents(value)
    made: object
    if isinstance(inner, Mapping):
        made = {printable(str(key)): to_portable(held, depth + 1) for key, held in inner.items()}
    elif isinstance(inner, list | tuple):
        made = [to_portable(held, depth + 1) for held in inner]
    else:
        made = inner if isinstance(inner, np.ndarray | str) else repr_text(value)
    known = isinstance(value, np.ndarray) or type(value) in (dict, list, tuple)
    return made if known else {printable(type(value).__name__): made}


def _numeric_array(value: NDArray[np.generic]) -> object:
    if value.dtype.kind in "biuf":
        return value
    if value.dtype.kind == "c":
        return np.stack((value.real, value.imag), axis=-1)
    if value.dtype.kind in "mM":
        return np.where(np.isnat(value), np.nan, value.astype(np.int64).astype(float))
    return value.tolist()


def _table_cells(columns: list[tuple[str, list[object]]]) -> dict[str, object]:
    """A table by cells: rows are named by their texts where these are unique, else by their place."""
    seen: dict[str, list[object]] = {}
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


Codes: TypeAlias = NDArray[np.int64]
_MOST_ENTRIES = 20_000  # of an answer that are looked at
_MOST_CELLS = 200_000_000  # of all runs
_MOST_TEXT = 2_000  # letters of a text that are kept
_MOST_KIND_TEXT = 120


@dataclass(frozen=True)
class OutcomeKind:
    """What sort of outcome: ``answer``, ``raised``, ``late`` or ``unreadable``; its type and shape in a few letters."""

    what: str
    detail: str


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Runs in rows. ``values`` has NaN where a cell is missing; ``texts`` has −1 there."""

    values: Array
    texts: Codes
    kinds: Codes

    def __len__(self) -> int:
        return int(self.kinds.size)

    def take(self, rows: slice | Bits) -> Outcomes:
        """Some of the runs."""
        return Outcomes(self.values[rows], self.texts[rows], self.kinds[rows])


def concatenate_outcomes(parts: Sequence[Outcomes]) -> Outcomes:
    """Runs one after the other; columns that came up later are missing before."""
    wide, text = max(p.values.shape[1] for p in parts), max(p.texts.shape[1] for p in parts)
    return Outcomes(
        np.concatenate([_pad_columns(p.values, wide, np.nan) for p in parts]),
        np.concatenate([_pad_columns(p.texts, text, -1) for p in parts]),
        np.concatenate([p.kinds for p in parts]),
    )


def _pad_columns(rows: NDArray[np.generic], width: int, fill: float) -> NDArray[np.generic]:
    if rows.shape[1] == width:
        return rows
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=fill)


@dataclass
class Reader:
    """Reads outcomes into columns, and remembers which column and which code is what."""

    names: dict[str, int] = field(default_factory=dict)
    text_names: dict[str, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    kinds: dict[OutcomeKind, int] = field(default_factory=dict)
    most: int = _MOST_ENTRIES  # columns there are at most
    cut: bool = False  # whether there were more

    def read(self, outcomes: Answers) -> Outcomes:
        """The outcomes of some runs.

        >>> reader = Reader()
        >>> reader.read([1.5, {"a": 2, "b": "x"}, [3, 4]]).values.tolist(), list(reader.names)
        ([[1.5, nan, nan, nan], [nan, 2.0, nan, nan], [nan, nan, 3.0, 4.0]], ['', 'a', '0', '1'])
        """
        if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "biuf":
            return self._regular(outcomes)
        types = {type(outcome) for outcome in outcomes}
        if types in ({float}, {np.float64}):
            return self._regular(np.asarray(outcomes, dtype=float))
        if types == {int} and all(isinstance(o, int) and -_EXACT_INTEGERS < o < _EXACT_INTEGERS for o in outcomes):
            return self._regular(np.asarray(outcomes, dtype=np.int64))
        return self._each(outcomes)

    def _regular(self, array: NDArray[np.generic]) -> Outcomes:
        """An array of numbers whose first axis is the runs."""
        n = array.shape[0]
        cells = array.reshape(n, -1)
        self.cut = self.cut or cells.shape[1] > self.most
        flat = cells[:, : self.most].astype(np.float64)
        paths = [""] if array.ndim == 1 else [str(i) for i in range(flat.shape[1])]
        rest = double_remainders(cells[:, : self.most])
        if rest is not None:
            paths += [_remainder_column(path) for path in paths]
            flat = np.concatenate((flat, rest), axis=1)
        places = [self._column(self.names, path) for path in paths]
        at = [place for place in places if place is not None]
        flat = flat if len(at) == len(places) else flat[:, [place is not None for place in places]]
        if at == list(range(len(self.names))):
            values = flat
        else:
            values = np.full((n, len(self.names)), np.nan)
            values[:, at] = flat
        shape = "" if array.ndim == 1 else f" of shape {array.shape[1:]}"
        kind = self._kind(OutcomeKind("answer", f"{array.dtype}{shape}"))
        return Outcomes(values, np.full((n, len(self.text_names)), -1, dtype=np.int64), np.full(n, kind))

    def _each(self, outcomes: Answers) -> Outcomes:
        rows: list[dict[int, float]] = []
        texts: list[dict[int, int]] = []
        kinds: list[int] = []
        for outcome in outcomes:
            numbers: dict[int, float] = {}
            words: dict[int, int] = {}
            match outcome:
                case RunFailure():
                    kind = OutcomeKind("raised", printable(outcome.kind))
                case NoAnswer():
                    kind = OutcomeKind("late", "")
                case UnreadableAnswer():
                    kind = OutcomeKind("unreadable", printable(outcome.kind))
                case _:
                    try:
                        kind = OutcomeKind("answer", _shorten(self._flatten("", outcome, numbers, words, 0)))
                    except Exception:  # by methods of its own
                        kind, numbers, words = OutcomeKind("unreadable", printable(type(outcome).__name__)), {}, {}
            rows.append(numbers)
            texts.append(words)
            kinds.append(self._kind(kind))
        values = np.full((len(rows), len(self.names)), np.nan)
        codes = np.full((len(rows), len(self.text_names)), -1, dtype=np.int64)
        for i, (numbers, words) in enumerate(zip(rows, texts, strict=True)):
            if numbers:
                values[i, list(numbers)] = list(numbers.values())
            if words:
                codes[i, list(words)] = list(words.values())
        return Outcomes(values, codes, np.asarray(kinds, dtype=np.int64))

    def _kind(self, kind: OutcomeKind) -> int:
        return self.kinds.setdefault(kind, len(self.kinds))

    def _flatten(self, path: str, value: object, numbers: dict[int, float], words: dict[int, int], depth: int) -> str:
        """Put every entry in its column; what the entry is, in a few letters."""
        if value is None:
            return "None"
        number = as_double(value)
        if number is not None:
            self._number(path, number, numbers)
            rest = double_remainder(value)
            if rest is not None:
                self._number(_remainder_column(path), rest, numbers)
            return type(value).__name__
        if isinstance(value, str | bytes):
            self._word(path, value if isinstance(value, str) else repr(value), words)
            return type(value).__name__
        if depth > _DEEPEST:
            self._word(path, repr_text(value), words)
            return "…"
        inner = contents(value)
        if isinstance(inner, np.ndarray):
            self.cut = self.cut or inner.size > self.most
            for i, entry in enumerate(inner.ravel()[: self.most].tolist()):
                self._number(f"{path}{'.' if path else ''}{i}", float(entry), numbers)
            rests = double_remainders(inner.ravel()[: self.most])
            for i, entry in enumerate([] if rests is None else rests.tolist()):
                self._number(_remainder_column(f"{path}{'.' if path else ''}{i}"), entry, numbers)
            return f"{inner.dtype} of shape {inner.shape}"
        if isinstance(inner, Mapping):
            named = {printable(str(key)): held for key, held in inner.items()}
            if len(named) < len(inner):  # 1 beside "1"
                named = {printable(repr(key)): held for key, held in inner.items()}
            self.cut = self.cut or len(named) > self.most
            parts = [
                f"{key}: {self._flatten(f'{path}.{key}' if path else key, held, numbers, words, depth + 1)}"
                for key, held in sorted(named.items())[: self.most]
            ]
            return f"{{{', '.join(parts)}}}"
        if isinstance(inner, Sequence):
            parts = [
                self._flatten(f"{path}.{i}" if path else str(i), held, numbers, words, depth + 1)
                for i, held in enumerate(inner[: self.most])
            ]
            self.cut = self.cut or len(inner) > self.most
            return f"{type(value).__name__} of {len(inner)}: {', '.join(dict.fromkeys(parts))}"
        self._word(path, repr_text(value), words)
        return type(value).__name__

    def _column(self, names: dict[str, int], path: str) -> int | None:
        """The column of this name; None where there are too many already."""
        if path not in names and len(names) >= self.most:
            self.cut = True
            return None
        return names.setdefault(path, len(names))

    def _number(self, path: str, number: float, numbers: dict[int, float]) -> None:
        column = self._column(self.names, path)
        if column is not None:
            numbers[column] = number

    def _word(self, path: str, text: str, words: dict[int, int]) -> None:
        column = self._column(self.text_names, path)
        if column is None:
            return
        if len(text) > _MOST_TEXT:  # a sum over all of it tells two apart
            text = f"{text[:_MOST_TEXT]}… {sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()}"
        words[column] = self.words.setdefault(printable(text), len(self.words))


def _remainder_column(path: str) -> str:
    """The column of what a number has beyond its double."""
    return f"the last digits of {path}" if path else "its last digits"


def entry_limit(runs: int) -> int:
    """How many entries of an answer are looked at in so many runs: what fits into memory.

    >>> entry_limit(1000), entry_limit(1_000_000)
    (20000, 200)
    """
    return max(100, min(_MOST_ENTRIES, _MOST_CELLS // max(runs, 1)))


def _shorten(text: str) -> str:
    """A few letters, and a sum over the rest so that two long ones stay apart."""
    return text if len(text) <= _MOST_KIND_TEXT else f"{text[:_MOST_KIND_TEXT]}… {crc32(text.encode()):08x}"
