"""Values as small whole numbers, made inside the engine: what is grouped or leaves it is a few bytes, never a text.

A column of whole numbers or dates is counted from its least value. Any other is numbered by its list of distinct
values, which is joined. On DuckDB a short list needs no join: of its 64-bit hash some window of bits tells all values
of the list apart, which is checked on the whole list, so that it is exact; the window of each row's hash then leaves
the engine, and a table from windows to numbers is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.dialect import ones
from ..tables.engines import Engine, need_ibis
from .classes import Shape

#: A list of at most this many values is told apart by a window of hashes.
SHORT_LIST = 4096
#: A list of more is not made at all: such a table is grouped by the engine.
LONG_LIST = 20_000_000
_WINDOW = 24
_RANGE = 1 << 32


@dataclass(frozen=True)
class _Column:
    """How a column becomes numbers up to ``largest``, how many codes these are, and through which table, if any.

    The expression is a function of the table because a join gives the table new columns.
    """

    numbers: Callable[[Any], Any]
    largest: int
    card: int
    table: NDArray[np.uint32] | None = None


@dataclass(frozen=True)
class Coded:
    """The rows of a table with columns ``t0…`` that become codes from 0 to ``cards[j] − 1``."""

    table: Any
    cards: tuple[int, ...]
    lookup: tuple[NDArray[np.uint32] | None, ...]

    def codes(self, batch: Any, j: int) -> NDArray[Any]:
        """The codes of column j in a batch of the table."""
        found = batch.column(f"t{j}").to_numpy(zero_copy_only=False)
        table = self.lookup[j]
        made: NDArray[Any] = found if table is None else table[found]
        return made


def coded(engine: Engine, base: Any, shape: Shape) -> Coded | None:
    """The rows of ``base`` as numbers, or None where a list of values is too long."""
    ends = _ends(engine, base, shape.keys)
    made: list[_Column] = []
    for j, name in enumerate(shape.keys):
        column = _counted(name, ends.get(name))
        if column is None:
            column, base = _listed(engine, base, j)
        if column is None:
            return None
        made.append(column)
    shown = {f"t{j}": column.numbers(base).cast(_type(column.largest)) for j, column in enumerate(made)}
    table = base.select(**shown, **{c: base[c] for c in shape.sums})
    return Coded(table, tuple(c.card for c in made), tuple(c.table for c in made))


@dataclass(frozen=True)
class Worded:
    """A table with a column ``w``, the codes of all columns in one whole number; ``masks[j]`` are the bits of column j.

    The number has at most 62 bits, so that it is above 0 on every engine.
    """

    table: Any
    masks: tuple[int, ...]
    cards: tuple[int, ...]


def worded(engine: Engine, base: Any, shape: Shape, others: Sequence[str]) -> Worded | None:
    """``base`` with one word for its quasi-identifiers, and ``others`` of its columns; None where it is too wide."""
    ends = _ends(engine, base, shape.keys)
    made: list[_Column] = []
    for j, name in enumerate(shape.keys):
        column = _counted(name, ends.get(name))
        if column is None:
            column, base = _joined(engine, base, j)
        if column is None:
            return None
        made.append(column)
    bits = [max(1, (column.card - 1).bit_length()) for column in made]
    if sum(bits) > 62:
        return None
    shifts = [sum(bits[:j]) for j in range(len(bits))]
    word = None
    for column, shift in zip(made, shifts, strict=True):
        part = column.numbers(base).cast("int64") * (1 << shift)
        word = part if word is None else word + part
    table = base.select(w=word, **{c: base[c] for c in others})
    masks = tuple(((1 << wide) - 1) << shift for wide, shift in zip(bits, shifts, strict=True))
    return Worded(table, masks, tuple(column.card for column in made))


def _ends(engine: Engine, base: Any, names: Sequence[str]) -> dict[str, tuple[int | None, int | None]]:
    """The least and largest value of the columns that can be counted from the least."""
    asked: dict[str, Any] = {}
    for name in names:
        number = _number(base[name], engine.kind)
        if number is not None:
            asked |= {f"lo_{name}": number.min(), f"hi_{name}": number.max()}
    if not asked:
        return {}
    got = engine.fetch(base.aggregate(**asked)).to_pylist()[0]
    return {n: (got[f"lo_{n}"], got[f"hi_{n}"]) for n in names if f"lo_{n}" in got}


def _number(column: Any, engine: str = "duckdb") -> Any:
    """A column as whole numbers; None if it is not one."""
    kind = column.type()
    if kind.is_date() and engine == "duckdb":
        return column.epoch_days()
    if kind.is_boolean():
        return ones(column).cast("int64")
    if kind.is_integer() and str(kind) != "uint64":
        return column.cast("int64")
    return None


def _counted(name: str, ends: tuple[int | None, int | None] | None) -> _Column | None:
    if ends is None:
        return None
    low, high = ends
    if low is None or high is None:
        return _Column(lambda _: need_ibis().literal(0), 0, 1)
    span = int(high) - int(low) + 1
    if span >= _RANGE:
        return None
    # Nothing recorded is a value too: the last one.
    return _Column(lambda base: (_number(base[name]) - low).fill_null(span), span, span + 1)


def _listed(engine: Engine, base: Any, j: int) -> tuple[_Column | None, Any]:
    """The column numbered by its list of values, and the table, with a list joined where it is long."""
    name = f"q{j}"
    values = base.select(v=base[name]).distinct()
    hashed = _hash(values["v"].type())
    got = engine.fetch(values.select(h=hashed(values["v"])).limit(SHORT_LIST + 1))
    hashes = got["h"].to_numpy().astype(np.uint64)
    window = _window(hashes) if len(hashes) <= SHORT_LIST else None
    if window is not None:
        shift, mask = window
        table = np.zeros(mask + 1, np.uint32)
        table[((hashes >> np.uint64(shift)) & np.uint64(mask)).astype(np.int64)] = np.arange(len(hashes))
        return _Column(lambda base: (hashed(base[name]) >> shift) & mask, mask, max(1, len(hashes)), table), base
    return _joined(engine, base, j)


def _joined(engine: Engine, base: Any, j: int) -> tuple[_Column | None, Any]:
    """The column numbered by a list that is joined."""
    ibis = need_ibis()
    name = f"q{j}"
    values = base.select(v=base[name]).distinct()
    values = values.filter(values["v"].notnull())
    number = ibis.row_number() if engine.kind == "duckdb" else ibis.row_number().over(order_by=values["v"])
    kept = engine.cache(values.select(**{f"v{j}": values["v"], f"n{j}": number.cast("int64")}))
    card = int(engine.fetch(kept.aggregate(n=kept.count()))["n"][0].as_py())
    if card > LONG_LIST:
        return None, base
    joined = base.left_join(kept, base[name] == kept[f"v{j}"])
    return _Column(lambda base: base[f"n{j}"].fill_null(card), card, card + 1), joined


def _type(largest: int) -> str:
    return "uint8" if largest < 1 << 8 else "uint16" if largest < 1 << 16 else "uint32"


def _window(hashes: NDArray[np.uint64]) -> tuple[int, int] | None:
    """Few bits of the hashes that tell all of them apart, as (shift, mask).

    >>> _window(np.array([0b0001, 0b1001, 0b0101], np.uint64))
    (2, 3)
    """
    least = max(1, (len(hashes) - 1).bit_length())
    for bits in range(least, _WINDOW + 1):
        mask = np.uint64((1 << bits) - 1)
        for shift in range(0, 64 - bits, 2):
            if len(np.unique((hashes >> np.uint64(shift)) & mask)) == len(hashes):
                return shift, int(mask)
    return None


def _hash(kind: Any) -> Any:
    """DuckDB's own hash of a value of this type."""
    ibis = need_ibis()

    @ibis.udf.scalar.builtin(name="hash", signature=((kind,), ibis.dtype("uint64")))  # type: ignore[untyped-decorator]
    def hashed(value: Any) -> Any: ...

    return hashed
