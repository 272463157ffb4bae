"""Whatever a mechanism returns, as columns an attacker can look at: numbers, codes of texts, and the kind of outcome.

A number is one column; a vector, a table of cells (a mapping or a data frame), a model's parameters are a column for
each entry, named by where it stands. The kind of an outcome (its type, shape, keys, the exception it failed with) is a
code of its own, so that a missing cell, another shape or dtype and a failure can be told apart. An outcome that cannot
be read (one whose own methods fail) is known by its type alone.

What is inside an outcome: numbers, arrays, mappings and sequences, whatever library it comes from.

Numbers are floats, integers, truth values, decimals, fractions, and spans of time in seconds; a complex number has two
parts. Anything else is known by its words, less the place in memory that Python may put into them.

What an attacker looks at is a fixed panel of scores, and a few learnt on past runs. Fixed: a cell's value, its distance
from the middle, the finest power of two it is a multiple of (floating-point noise gives itself away by it), whether it
is missing, how many cells there are, differences and ratios of cells. Learnt: the likelihood ratio of kinds, texts and
atoms by their past counts, of all cells by their past medians, and a linear rule; on other runs than those its cuts are
ranked on.

What is bet on is a score cut into cells, learnt on past runs, and the events that its tails make. An event names the
second world in one tail and the first in the other, or a world in one tail alone; the tails are nested, small ones and
large ones, up to a single cut that always speaks. How often each cell came up in each world is all that a bet needs to
know of the runs that follow.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
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


_SINGLE_COLUMNS = 8  # looked at one by one: those that differ most between the worlds
_PAIRED_COLUMNS = 5  # looked at in pairs
_ATOMS = 2_000
_MOST_LINEAR = 600  # of cells in a rule that knows how they go together


class Feature(StrEnum):
    """What is looked at."""

    VALUE = "value"
    DISTANCE = "distance"
    GRAIN = "grain"
    MISSING = "missing"
    ENTRIES = "entries"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    KIND = "kind"
    TEXT = "text"
    ATOM = "atom"
    LIKELIHOOD = "likelihood"
    LINEAR = "linear"


@dataclass(frozen=True, eq=False)
class Statistic:
    """What is looked at, in which columns, and the score of each run; NaN where it says nothing."""

    looks: Feature
    columns: tuple[int, ...]
    score: Callable[[Outcomes], Array]


def _column(outcomes: Outcomes, at: int) -> Array:
    return outcomes.values[:, at] if at < outcomes.values.shape[1] else np.full(len(outcomes), np.nan)


def grain(x: Array) -> Array:
    """The k for which 2^k is the largest power of two that x is a multiple of; 2000 for 0, NaN for what is not finite.

    >>> grain(np.array([1.0, 0.75, 6.0, 0.1, 0.0])).tolist()
    [0.0, -2.0, 1.0, -55.0, 2000.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(float))
    return np.asarray(np.where(np.isfinite(x), np.where(whole == 0, 2000.0, exponent - 53 + lowest), np.nan))


def _cell_statistic(looks: Feature, at: int, of: Callable[[Array], Array]) -> Statistic:
    return Statistic(looks, (at,), lambda outcomes: np.asarray(of(_column(outcomes, at))))


def _entry_count(outcomes: Outcomes) -> Array:
    """How many cells have a number: of many names that a person may be given away by, each is rare."""
    return np.asarray((~np.isnan(outcomes.values)).sum(axis=1), dtype=float)


def _pair_statistic(looks: Feature, columns: tuple[int, int], of: np.ufunc) -> Statistic:
    def score(outcomes: Outcomes) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(of(*(_column(outcomes, at) for at in columns)))

    return Statistic(looks, columns, score)


@dataclass(frozen=True, eq=False)
class Codebook(Statistic):
    """log((c₁+½)/(c₀+½)) of a code by its past counts; silent about a code that never came up."""

    codes: Array
    ratios: Array


def _codes(outcomes: Outcomes, looks: Feature, columns: tuple[int, ...]) -> Array:
    if looks is Feature.KIND:
        return outcomes.kinds.astype(float)
    if looks is Feature.ATOM:
        return _column(outcomes, columns[0])
    held = outcomes.texts
    return held[:, columns[0]].astype(float) if columns[0] < held.shape[1] else np.full(len(outcomes), -1.0)


def _codebook(looks: Feature, columns: tuple[int, ...], past: Outcomes, bits: Bits) -> Codebook | None:
    x = _codes(past, looks, columns)
    seen = ~np.isnan(x)
    codes, at = np.unique(x[seen], return_inverse=True)
    if not 1 < codes.size <= _ATOMS:
        return None
    ones = np.bincount(at, weights=bits[seen], minlength=codes.size)
    zeros = np.bincount(at, minlength=codes.size) - ones
    ratios = np.log((ones + 0.5) / (zeros + 0.5))

    def score(outcomes: Outcomes) -> Array:
        x = _codes(outcomes, looks, columns)
        at = np.minimum(np.searchsorted(codes, x), codes.size - 1)
        return np.asarray(np.where(codes[at] == x, ratios[at], np.nan))

    return Codebook(looks, columns, score, codes, ratios)


def _select_columns(outcomes: Outcomes, columns: Sequence[int]) -> Array:
    have = outcomes.values.shape[1]
    if columns and columns[-1] < have:
        return outcomes.values[:, list(columns)]
    return np.column_stack([_column(outcomes, at) for at in columns])


def _varying_columns(past: Outcomes) -> list[int]:
    """Columns with more than one value, NaN included."""
    x = past.values
    if not x.size:
        return []
    with np.errstate(invalid="ignore"):
        low = np.where(np.isnan(x), np.inf, x).min(axis=0)
        high = np.where(np.isnan(x), -np.inf, x).max(axis=0)
    missing = np.isnan(x).any(axis=0)
    return np.flatnonzero((high > low) | (missing & np.isfinite(low))).tolist()


def _most_different(past: Outcomes, bits: Bits, columns: list[int], most: int) -> list[int]:
    """Those of the columns that differ most between the two worlds, in place or in spread."""
    if len(columns) <= most or not bits.any() or bits.all():  # of one world alone nothing is told
        return columns[:most]
    x = past.values[:, columns]
    middle = np.nanmedian(x[: min(len(x), 2000)], axis=0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.zeros(len(columns))
        for y in (x, np.abs(x - middle)):
            y = np.where(np.isfinite(y), y, 0.0)
            spread = y.std(axis=0)
            gap = np.fmax(gap, np.abs(y[bits].mean(axis=0) - y[~bits].mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    return [columns[i] for i in np.argsort(-gap, kind="stable")[:most].tolist()]


def fixed_statistics(past: Outcomes, bits: Bits, *, low_bits: bool = True) -> list[Statistic]:
    """The scores that are not learnt; of many cells, those that differ most between the worlds on these runs."""
    usable = _varying_columns(past)
    made: list[Statistic] = []
    cells = _most_different(past, bits, usable, _SINGLE_COLUMNS)
    for at in cells:
        x = past.values[:, at]
        known = x[np.isfinite(x)]
        made.append(_cell_statistic(Feature.VALUE, at, np.asarray))
        if known.size:
            middle = float(np.median(known))
            made.append(_cell_statistic(Feature.DISTANCE, at, lambda x, middle=middle: np.abs(x - middle)))  # type: ignore[misc]
            made += [_cell_statistic(Feature.GRAIN, at, grain)] if low_bits else []
        if known.size < x.size:
            made.append(_cell_statistic(Feature.MISSING, at, lambda x: np.isnan(x).astype(float)))
    if len(usable) > 1 and np.isnan(past.values).any():
        made.append(Statistic(Feature.ENTRIES, (), _entry_count))
    for pair in combinations(cells[:_PAIRED_COLUMNS], 2):
        made += [
            _pair_statistic(Feature.DIFFERENCE, pair, np.subtract),
            _pair_statistic(Feature.RATIO, pair, np.divide),
        ]
    return made


def learnt_statistics(past: Outcomes, bits: Bits) -> list[Statistic]:
    """The scores learnt on these runs, to be ranked on others."""
    made: list[Statistic | None] = [_codebook(Feature.KIND, (), past, bits)]
    made += [_codebook(Feature.TEXT, (at,), past, bits) for at in range(min(past.texts.shape[1], 4 * _SINGLE_COLUMNS))]
    usable = _varying_columns(past)
    for at in _most_different(past, bits, usable, _SINGLE_COLUMNS):
        x = past.values[:, at]
        if 2 * np.unique(x[: min(x.size, 4000)]).size <= min(x.size, 4000):
            made.append(_codebook(Feature.ATOM, (at,), past, bits))
    if len(usable) > 1 and bits.any() and not bits.all():
        made += [
            _likelihood_ratio(past, bits, usable),
            _linear_rule(past, bits, _most_different(past, bits, usable, _MOST_LINEAR)),
        ]
    return [statistic for statistic in made if statistic is not None]


def _likelihood_ratio(past: Outcomes, bits: Bits, columns: list[int]) -> Statistic | None:
    """Σ |x − m₀|/s − |x − m₁|/s over the cells: the likelihood ratio of Laplace noise about past medians."""
    x = past.values[:, columns]
    full = np.isfinite(x).any(axis=0) & np.isfinite(x[bits]).any(axis=0) & np.isfinite(x[~bits]).any(axis=0)
    columns = [columns[i] for i in np.flatnonzero(full).tolist()]
    if not columns:
        return None
    x = np.where(np.isinf(x[:, full]), np.nan, x[:, full])
    zero, one = np.nanmedian(x[~bits], axis=0), np.nanmedian(x[bits], axis=0)
    scale = 0.5 * (np.nanmean(np.abs(x[~bits] - zero), axis=0) + np.nanmean(np.abs(x[bits] - one), axis=0))
    scale = np.where(scale > 0, scale, 1.0)

    def score(outcomes: Outcomes) -> Array:
        x = _select_columns(outcomes, columns)
        return np.asarray(np.nansum((np.abs(x - zero) - np.abs(x - one)) / scale, axis=1))

    return Statistic(Feature.LIKELIHOOD, tuple(columns), score)


def _linear_rule(past: Outcomes, bits: Bits, columns: list[int]) -> Statistic | None:
    """w·x with Fisher's weights, shrunk: the likelihood ratio of normal noise."""
    columns = sorted(columns)
    x = past.values[:, columns]
    x = np.where(np.isfinite(x), x, np.nan)
    with np.errstate(invalid="ignore"):
        held = ~np.isnan(x).all(axis=0)
    columns = [columns[i] for i in np.flatnonzero(held).tolist()]
    if not columns:
        return None
    x = x[:, held]
    with np.errstate(over="ignore", invalid="ignore"):  # of squares of numbers near the largest: no rule then
        centre = np.nanmean(x, axis=0)
        x = np.where(np.isnan(x), 0.0, x - centre)
        gap = x[bits].mean(axis=0) - x[~bits].mean(axis=0)
        within = x - np.where(bits[:, None], x[bits].mean(axis=0), x[~bits].mean(axis=0))
        spread = np.maximum((within**2).mean(axis=0), 1e-300)
        # shrunk towards cells that do not go together, the more so the fewer the runs
        share = min(1.0, len(columns) / (len(columns) + len(x) / 2) + 1e-6)
        covariance = (1 - share) * (within.T @ within) / len(x) + share * np.diag(spread) + 1e-12 * np.diag(spread)
        try:
            weights = np.linalg.solve(covariance, gap)
        except np.linalg.LinAlgError:
            weights = gap / spread

    def score(outcomes: Outcomes) -> Array:
        x = _select_columns(outcomes, columns) - centre
        return np.asarray(np.where(np.isfinite(x), x, 0.0) @ weights)

    return Statistic(Feature.LINEAR, tuple(columns), score) if np.isfinite(weights).all() else None


#: Cells of a score at most, the last one for runs of which it says nothing; and events made of them.
MOST_CELLS, _MOST_EVENTS = 24, 80
_TAIL_SIZES = 7  # sizes of a tail, as powers grow
_TAIL_SHARES = (0.2, 0.3, 0.4)
_RARE_SHARE = 0.1  # of the runs


@dataclass(frozen=True, eq=False)
class ScoreAttack:
    """A score, its cells and its events, with the counts of past runs: (cells, 2).

    ``names`` has a row for each event: 1 in cells where it names the second world, −1 the first, 0 where it is silent.
    ``nested`` are weights of the events with two tails of about one size, from small ones to a single cut: all alike
    but for those that hardly ever speak.
    """

    statistic: Statistic | None
    edges: Array  # the least value of each cell but the first
    tops: Array  # the largest past value below each edge
    past: Array
    names: NDArray[np.int8]
    nested: Array

    def count(self, outcomes: Outcomes, bits: Bits) -> Array:
        """How often each cell came up in each world: (cells, 2)."""
        assert self.statistic is not None
        return _count_cells(self.statistic.score(outcomes), self.edges, bits)

    def guesses(self) -> tuple[Array, Array]:
        """Right and wrong guesses of each event on past runs."""
        second, first = (self.names > 0).astype(float), (self.names < 0).astype(float)
        zero, one = self.past.T
        return second @ one + first @ zero, second @ zero + first @ one

    def tails(self, event: int) -> tuple[float, float, int | None, int | None]:
        """(low, high, world below, world above) of an event: named up to ``low``, and from ``high`` on."""
        row = self.names[event, : self.edges.size + 1]
        below = above = None
        low, high = -np.inf, np.inf
        if row[0]:
            low = float(self.tops[int(np.argmax(row != row[0])) - 1])
            below = int(row[0] > 0)
        if row[-1]:
            high = float(self.edges[row.size - 1 - int(np.argmax(row[::-1] != row[-1]))])
            above = int(row[-1] > 0)
        return low, high, below, above


def _count_cells(score: Array, edges: Array, bits: Bits) -> Array:
    cell = np.where(np.isnan(score), MOST_CELLS - 1, np.searchsorted(edges, score, side="right"))
    return np.bincount(2 * cell + bits, minlength=2 * MOST_CELLS).reshape(MOST_CELLS, 2).astype(float)


def score_attack(statistic: Statistic, outcomes: Outcomes, bits: Bits) -> ScoreAttack | None:
    """The cells and events of a score on these runs; None where it does not vary."""
    score = statistic.score(outcomes)
    known = ~np.isnan(score)
    x = np.sort(score[known])
    n = x.size
    if n < 2 or not x[0] < x[-1]:
        return None
    sizes = np.concatenate((np.geomspace(min(3, n / 2), n / 2, _TAIL_SIZES), np.array(_TAIL_SHARES) * n)).astype(int)
    sizes = np.clip(sizes, 1, n - 1)
    low, high = x[sizes], x[n - sizes]  # a tail begins at a value, so ties stay together
    edges = np.unique(np.concatenate((low, high, _gap_cut(score[known], bits[known]))))
    edges = edges[edges > x[0]]
    if not edges.size:
        edges = x[np.searchsorted(x, x[0], side="right")][None]
    past = _count_cells(score, edges, bits)
    names, nested = _tail_events(past, edges, n)
    return ScoreAttack(statistic, edges, x[np.searchsorted(x, edges) - 1], past, names, nested)


def _gap_cut(score: Array, bits: Bits) -> Array:
    """Where the worlds have not overlapped so far, half-way between them; nothing where they have.

    So the next runs fall on their own sides; whole numbers are cut at a whole number.

    >>> _gap_cut(np.array([0.0, 1.0, 9.5, 10.0]), np.array([False, False, True, True])).tolist()
    [5.25]
    >>> _gap_cut(np.array([0.0, 2.0, 1.0]), np.array([False, False, True])).tolist()
    []
    """
    zero, one = score[~bits], score[bits]
    if not zero.size or not one.size:
        return np.zeros(0)
    low, high = (zero.max(), one.min()) if zero.max() < one.min() else (one.max(), zero.min())
    if not low < high:
        return np.zeros(0)
    with np.errstate(invalid="ignore"):
        middle = 0.5 * low + 0.5 * high  # NaN between two infinities
    if np.all(score == np.floor(score)):
        middle = np.ceil(middle)
    return np.array([middle if low < middle <= high else high])


def _tail_events(past: Array, edges: Array, n: int) -> tuple[NDArray[np.int8], Array]:
    cells = edges.size + 1
    under = np.cumsum(past[:cells].sum(axis=1))[:-1]  # runs below each edge
    lead = np.cumsum(past[:cells, 1] - past[:cells, 0])  # of the second world, in the cells up to each
    total, lead = lead[-1], lead[:-1]
    names = np.zeros((_MOST_EVENTS, MOST_CELLS), dtype=np.int8)
    nested = np.zeros(_MOST_EVENTS)
    row = 0

    def put(down: int | None, up: int | None, world_up: int) -> None:
        """Cells below edge ``down`` and from edge ``up`` on; the upper tail names ``world_up`` (±1)."""
        nonlocal row
        if down is not None:
            names[row, : down + 1] = -world_up
        if up is not None:
            names[row, up + 1 : cells] = world_up
        row += 1

    last = edges.size - 1
    for i in range(edges.size):
        put(i, None, 1 if lead[i] < 0 else -1)
        put(None, i, 1 if total - lead[i] >= 0 else -1)
        put(i, i, 1 if total - 2 * lead[i] >= 0 else -1)
    middle = int(np.argmin(np.abs(under - n / 2)))
    nested[3 * middle + 2] = 1.0
    for i in range(middle):
        # the upper tail of the size next to that of the lower one
        j = int(np.argmin(np.abs((n - under) - under[i])))
        if i < j <= last and row < _MOST_EVENTS:
            share = (under[i] + n - under[j]) / n
            nested[row] = share / (share + _RARE_SHARE)
            put(i, j, 1 if (total - lead[j]) - lead[i] >= 0 else -1)
    return names, nested


def perfect_attack(runs: int) -> ScoreAttack:
    """An attack that has never erred, on so many runs of each world."""
    past = np.zeros((MOST_CELLS, 2))
    past[0, 0] = past[1, 1] = runs
    names, nested = _tail_events(past, np.zeros(1), 2 * runs)
    return ScoreAttack(None, np.zeros(1), np.zeros(1), past, names, nested)
