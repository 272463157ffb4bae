"""Whatever a mechanism returns, as columns an attacker can look at: numbers, codes of texts, and the kind of outcome.

A number is one column; a vector, a table of cells (a mapping or a data frame), a model's parameters are a column for
each entry, named by where it stands. The kind of an outcome (its type, shape, keys, the exception it failed with) is a
code of its own, so that a missing cell, another shape or dtype and a failure can be told apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .game import Late, Raised

__all__ = ["Codes", "Kind", "Outcomes", "Reader", "joined"]

Codes: TypeAlias = NDArray[np.int64]
_MOST_ENTRIES = 20_000
_DEEPEST = 6
_MOST_LETTERS = 120


@dataclass(frozen=True)
class Kind:
    """What sort of outcome: ``answer``, ``raised`` or ``late``, and its type and shape in a few letters."""

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
        flat = array.reshape(n, -1)[:, :_MOST_ENTRIES].astype(np.float64)
        paths = [""] if array.ndim == 1 else [str(i) for i in range(flat.shape[1])]
        at = [self.names.setdefault(path, len(self.names)) for path in paths]
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
                    kind = Kind("raised", outcome.kind)
                case Late():
                    kind = Kind("late", "")
                case _:
                    kind = Kind("answer", _short(self._flatten("", outcome, numbers, words, 0)))
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
        if isinstance(value, bool | int | float | np.bool_ | np.number) and not isinstance(value, complex):
            numbers[self.names.setdefault(path, len(self.names))] = _number(value)
            return type(value).__name__
        if isinstance(value, str | bytes):
            self._word(path, value if isinstance(value, str) else repr(value), words)
            return type(value).__name__
        if len(numbers) > _MOST_ENTRIES or depth > _DEEPEST:
            return "…"
        inner = _inside(value)
        if isinstance(inner, np.ndarray) and inner.dtype.kind in "biuf":
            for i, entry in enumerate(inner.ravel()[:_MOST_ENTRIES].tolist()):
                numbers[self.names.setdefault(f"{path}{'.' if path else ''}{i}", len(self.names))] = float(entry)
            return f"{inner.dtype} of shape {inner.shape}"
        if isinstance(inner, Mapping):
            parts = [
                f"{key}: {self._flatten(f'{path}.{key}' if path else str(key), held, numbers, words, depth + 1)}"
                for key, held in sorted(inner.items(), key=lambda item: str(item[0]))
            ]
            return f"{{{', '.join(parts)}}}"
        if isinstance(inner, Sequence):
            parts = [
                self._flatten(f"{path}.{i}" if path else str(i), held, numbers, words, depth + 1)
                for i, held in enumerate(inner)
            ]
            return f"{type(value).__name__} of {len(parts)}: {', '.join(dict.fromkeys(parts))}"
        self._word(path, repr(value)[:200], words)
        return type(value).__name__

    def _word(self, path: str, text: str, words: dict[int, int]) -> None:
        column = self.text_names.setdefault(path, len(self.text_names))
        words[column] = self.words.setdefault(text, len(self.words))


def _short(text: str) -> str:
    """A few letters, and a sum over the rest so that two long ones stay apart."""
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… {crc32(text.encode()):08x}"


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _inside(value: Any) -> Any:
    """Arrays, tables and models as arrays, mappings and sequences; anything else as it is."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biuf" else value.tolist()
    if isinstance(value, Mapping | list | tuple):
        return value
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "state_dict"):  # a torch module
        return {key: _inside(held) for key, held in value.state_dict().items()}
    if hasattr(value, "detach"):  # a tensor
        return np.asarray(value.detach().cpu())
    if hasattr(value, "columns") and hasattr(value, "__getitem__"):
        return _cells(value)
    if hasattr(value, "coef_"):  # a fitted scikit-learn model
        return {name: np.asarray(getattr(value, name)) for name in ("coef_", "intercept_") if hasattr(value, name)}
    if hasattr(value, "__array__"):
        return _inside(np.asarray(value))
    if hasattr(value, "__dict__") and vars(value):
        return {name: held for name, held in vars(value).items() if not name.startswith("_")}
    return value


def _cells(frame: Any) -> dict[str, Any]:
    """A data frame by cells: rows are named by their texts where these are unique, else by their place."""
    columns = {str(name): list(frame[name]) for name in frame.columns}
    texts = [name for name, held in columns.items() if any(isinstance(v, str) for v in held)]
    size = len(next(iter(columns.values()), []))
    labels = [" ".join(str(columns[name][i]) for name in texts) for i in range(size)]
    if not texts or len(set(labels)) < size:
        return columns
    return {
        f"{name} of {label}": columns[name][i]
        for i, label in enumerate(labels)
        for name in columns
        if name not in texts
    }
