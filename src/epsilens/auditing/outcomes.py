"""Whatever a mechanism returns, as columns an attacker can look at: numbers, codes of texts, and the kind of outcome.

A number is one column; a vector, a table of cells (a mapping or a data frame), a model's parameters are a column for
each entry, named by where it stands. The kind of an outcome (its type, shape, keys, the exception it failed with) is a
code of its own, so that a missing cell, another shape or dtype and a failure can be told apart. An outcome that cannot
be read (one whose own methods fail) is known by its type alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .calls import Late, Raised, Unreadable
from .entries import beyond, beyond_all, inside, number_of, plain, words_of

Codes: TypeAlias = NDArray[np.int64]
_MOST_ENTRIES = 20_000  # of an answer that are looked at
_MOST_CELLS = 200_000_000  # of all runs
_LONGEST = 2_000  # letters of a text that are kept
_DEEPEST = 6
_MOST_LETTERS = 120


@dataclass(frozen=True)
class Kind:
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

    def take(self, rows: Any) -> Outcomes:
        """Some of the runs."""
        return Outcomes(self.values[rows], self.texts[rows], self.kinds[rows])


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """Runs one after the other; columns that came up later are missing before."""
    wide, text = max(p.values.shape[1] for p in parts), max(p.texts.shape[1] for p in parts)
    return Outcomes(
        np.concatenate([_widened(p.values, wide, np.nan) for p in parts]),
        np.concatenate([_widened(p.texts, text, -1) for p in parts]),
        np.concatenate([p.kinds for p in parts]),
    )


def _widened(rows: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    if rows.shape[1] == width:
        return rows
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=fill)


@dataclass
class Reader:
    """Reads outcomes into columns, and remembers which column and which code is what."""

    names: dict[str, int] = field(default_factory=dict)
    text_names: dict[str, int] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)
    kinds: dict[Kind, int] = field(default_factory=dict)
    most: int = _MOST_ENTRIES  # columns there are at most
    cut: bool = False  # whether there were more

    def read(self, outcomes: Sequence[Any] | NDArray[Any]) -> Outcomes:
        """The outcomes of some runs.

        >>> reader = Reader()
        >>> reader.read([1.5, {"a": 2, "b": "x"}, [3, 4]]).values.tolist(), list(reader.names)
        ([[1.5, nan, nan, nan], [nan, 2.0, nan, nan], [nan, nan, 3.0, 4.0]], ['', 'a', '0', '1'])
        """
        if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "biuf":
            return self._regular(outcomes)
        if outcomes and all(type(o) is float for o in outcomes):
            return self._regular(np.asarray(outcomes, dtype=float))
        if outcomes and all(type(o) is np.float64 for o in outcomes):
            return self._regular(np.asarray(outcomes, dtype=float))
        if outcomes and all(type(o) is int and -(2**53) < o < 2**53 for o in outcomes):
            return self._regular(np.asarray(outcomes, dtype=np.int64))
        return self._each(outcomes)

    def _regular(self, array: NDArray[Any]) -> Outcomes:
        """An array of numbers whose first axis is the runs."""
        n = array.shape[0]
        flat = array.reshape(n, -1)
        self.cut = self.cut or flat.shape[1] > self.most
        flat = flat[:, : self.most].astype(np.float64)
        paths = [""] if array.ndim == 1 else [str(i) for i in range(flat.shape[1])]
        rest = beyond_all(array.reshape(n, -1)[:, : self.most])
        if rest is not None:
            paths += [_last_digits(path) for path in paths]
            flat = np.concatenate((flat, rest), axis=1)
        places = [self._column(path) for path in paths]
        at = [place for place in places if place is not None]
        flat = flat if len(at) == len(places) else flat[:, [place is not None for place in places]]
        if at == list(range(len(self.names))):
            values = flat
        else:
            values = np.full((n, len(self.names)), np.nan)
            values[:, at] = flat
        shape = "" if array.ndim == 1 else f" of shape {array.shape[1:]}"
        kind = self._kind(Kind("answer", f"{array.dtype}{shape}"))
        return Outcomes(values, np.full((n, len(self.text_names)), -1, dtype=np.int64), np.full(n, kind))

    def _each(self, outcomes: Sequence[Any] | NDArray[Any]) -> Outcomes:
        rows: list[dict[int, float]] = []
        texts: list[dict[int, int]] = []
        kinds: list[int] = []
        for outcome in outcomes:
            numbers: dict[int, float] = {}
            words: dict[int, int] = {}
            match outcome:
                case Raised():
                    kind = Kind("raised", plain(outcome.kind))
                case Late():
                    kind = Kind("late", "")
                case Unreadable():
                    kind = Kind("unreadable", plain(outcome.kind))
                case _:
                    try:
                        kind = Kind("answer", _short(self._flatten("", outcome, numbers, words, 0)))
                    except Exception:  # by methods of its own
                        kind, numbers, words = Kind("unreadable", plain(type(outcome).__name__)), {}, {}
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

    def _kind(self, kind: Kind) -> int:
        return self.kinds.setdefault(kind, len(self.kinds))

    def _flatten(self, path: str, value: Any, numbers: dict[int, float], words: dict[int, int], depth: int) -> str:
        """Put every entry in its column; what the entry is, in a few letters."""
        if value is None:
            return "None"
        number = number_of(value)
        if number is not None:
            self._number(path, number, numbers)
            rest = beyond(value)
            if rest is not None:
                self._number(_last_digits(path), rest, numbers)
            return type(value).__name__
        if isinstance(value, str | bytes):
            self._word(path, value if isinstance(value, str) else repr(value), words)
            return type(value).__name__
        if depth > _DEEPEST:
            self._word(path, words_of(value), words)
            return "…"
        inner = inside(value)
        if isinstance(inner, np.ndarray):
            self.cut = self.cut or inner.size > self.most
            for i, entry in enumerate(inner.ravel()[: self.most].tolist()):
                self._number(f"{path}{'.' if path else ''}{i}", float(entry), numbers)
            rests = beyond_all(inner.ravel()[: self.most])
            for i, entry in enumerate([] if rests is None else rests.tolist()):
                self._number(_last_digits(f"{path}{'.' if path else ''}{i}"), entry, numbers)
            return f"{inner.dtype} of shape {inner.shape}"
        if isinstance(inner, Mapping):
            named = {plain(str(key)): held for key, held in inner.items()}
            if len(named) < len(inner):  # 1 beside "1"
                named = {plain(repr(key)): held for key, held in inner.items()}
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
        self._word(path, words_of(value), words)
        return type(value).__name__

    def _column(self, path: str) -> int | None:
        """The column of this name; None where there are too many already."""
        if path in self.names:
            return self.names[path]
        if len(self.names) >= self.most:
            self.cut = True
            return None
        return self.names.setdefault(path, len(self.names))

    def _number(self, path: str, number: float, numbers: dict[int, float]) -> None:
        column = self._column(path)
        if column is not None:
            numbers[column] = number

    def _word(self, path: str, text: str, words: dict[int, int]) -> None:
        if path not in self.text_names and len(self.text_names) >= self.most:
            self.cut = True
            return
        column = self.text_names.setdefault(path, len(self.text_names))
        if len(text) > _LONGEST:  # a sum over all of it tells two apart
            text = f"{text[:_LONGEST]}… {sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()}"
        words[column] = self.words.setdefault(plain(text), len(self.words))


def _last_digits(path: str) -> str:
    """The column of what a number has beyond its double."""
    return f"the last digits of {path}" if path else "its last digits"


def most_entries(runs: int) -> int:
    """How many entries of an answer are looked at in so many runs: what fits into memory.

    >>> most_entries(1000), most_entries(1_000_000)
    (20000, 200)
    """
    return max(100, min(_MOST_ENTRIES, _MOST_CELLS // max(runs, 1)))


def _short(text: str) -> str:
    """A few letters, and a sum over the rest so that two long ones stay apart."""
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… {crc32(text.encode()):08x}"
