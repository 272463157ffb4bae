"""Roll-ups inside the engine, for more classes than this machine should hold: only counts leave it.

The codes of a class stand in one whole number, its word; a subset's classes are the words cut to its bits, so that an
engine groups by one number and no text. A class is someone's where its least and largest owner are equal; both roll up
by min and max. Where every row is a person the owner is the word itself, and whoever is alone on a subset is alone on
every larger one: a larger one then looks only at those whom a smaller one left.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..tables.dialect import as_integer, engine_function, ibis
from ..tables.engines import Engine
from .equivalence_classes import BaseShape, RollupCounts, Subset, SubsetIsolation

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow

# -- codes -------------------------------------------------------------------------------------------------------------
#
# A column of whole numbers or dates is counted from its least value. Any other is numbered by its list of distinct
# values, which is joined. On DuckDB a short list needs no join: of its 64-bit hash some window of bits tells all
# values of the list apart, which is checked on the whole list, so that it is exact; the window of each row's hash then
# leaves the engine, and a table from windows to numbers is looked up here.

#: A list of at most this many values is told apart by a window of hashes.
SHORT_LIST = 4096
#: A list of more is not made at all: such a table is grouped by the engine.
LONG_LIST = 20_000_000
_WINDOW = 24
_RANGE = 1 << 32


@dataclass(frozen=True)
class _CodedColumn:
    """How a column becomes numbers up to ``largest``, how many codes these are, and through which table, if any.

    The expression is a function of the table because a join gives the table new columns.
    """

    numbers: Callable[[ir.Table], ir.IntegerValue]
    largest: int
    card: int
    table: NDArray[np.uint32] | None = None


#: A column numbered by a list of its values, None where that is too long; and the table, which has the list joined.
_ListedColumn: TypeAlias = "tuple[_CodedColumn | None, ir.Table]"


@dataclass(frozen=True)
class EncodedRows:
    """The rows of a table with columns ``t0…`` that become codes from 0 to ``cards[j] − 1``."""

    table: ir.Table
    cards: tuple[int, ...]
    lookup: tuple[NDArray[np.uint32] | None, ...]

    def codes(self, batch: pyarrow.RecordBatch, j: int) -> NDArray[np.unsignedinteger]:
        """The codes of column j in a batch of the table."""
        found = batch.column(f"t{j}").to_numpy(zero_copy_only=False)
        table = self.lookup[j]
        made: NDArray[np.unsignedinteger] = found if table is None else table[found]
        return made


def encode_rows(engine: Engine, base: ir.Table, shape: BaseShape) -> EncodedRows | None:
    """The rows of ``base`` as numbers, or None where a list of values is too long."""
    made, base = _coded_columns(engine, base, shape, _dictionary_column)
    if made is None:
        return None
    shown = {f"t{j}": column.numbers(base).cast(_unsigned_type(column.largest)) for j, column in enumerate(made)}
    table = base.select(**shown, **{c: base[c] for c in shape.sums})
    return EncodedRows(table, tuple(c.card for c in made), tuple(c.table for c in made))


@dataclass(frozen=True)
class PackedRows:
    """A table with a column ``w``, the codes of all columns in one whole number; ``masks[j]`` are the bits of column j.

    The number has at most 62 bits, so that it is above 0 on every engine.
    """

    table: ir.Table
    masks: tuple[int, ...]
    cards: tuple[int, ...]


def pack_rows(engine: Engine, base: ir.Table, shape: BaseShape, others: Sequence[str]) -> PackedRows | None:
    """``base`` with one word for its quasi-identifiers, and ``others`` of its columns; None where it is too wide."""
    made, base = _coded_columns(engine, base, shape, _joined_column)
    bits = [max(1, (column.card - 1).bit_length()) for column in made or ()]
    if made is None or sum(bits) > 62:
        return None
    shifts = [sum(bits[:j]) for j in range(len(bits))]
    parts = [column.numbers(base).cast("int64") * (1 << shift) for column, shift in zip(made, shifts, strict=True)]
    word = reduce(operator.add, parts)
    table = base.select(w=word, **{c: base[c] for c in others})
    masks = tuple(((1 << wide) - 1) << shift for wide, shift in zip(bits, shifts, strict=True))
    return PackedRows(table, masks, tuple(column.card for column in made))


def _coded_columns(
    engine: Engine, base: ir.Table, shape: BaseShape, listed: Callable[[Engine, ir.Table, int], _ListedColumn]
) -> tuple[list[_CodedColumn] | None, ir.Table]:
    """The quasi-identifiers as numbers, and the table with the lists that are joined; None where a list is too long."""
    ends = _value_ranges(engine, base, shape.keys)
    made: list[_CodedColumn] = []
    for j, name in enumerate(shape.keys):
        column = _range_column(name, ends.get(name))
        if column is None:
            column, base = listed(engine, base, j)
        if column is None:
            return None, base
        made.append(column)
    return made, base


def _value_ranges(engine: Engine, base: ir.Table, names: Sequence[str]) -> dict[str, tuple[int | None, int | None]]:
    """The least and largest value of the columns that can be counted from the least."""
    asked: dict[str, ir.Scalar] = {}
    for name in names:
        number = _as_whole_number(base[name], engine.kind)
        if number is not None:
            asked |= {f"lo_{name}": number.min(), f"hi_{name}": number.max()}
    if not asked:
        return {}
    got = engine.fetch(base.aggregate(**asked)).to_pylist()[0]
    return {n: (got[f"lo_{n}"], got[f"hi_{n}"]) for n in names if f"lo_{n}" in got}


def _as_whole_number(column: ir.Column, engine: str = "duckdb") -> ir.IntegerColumn | None:
    """A column as whole numbers; None if it is not one."""
    kind = column.type()
    if kind.is_date() and engine == "duckdb":
        return column.epoch_days()
    if kind.is_boolean():
        return as_integer(column).cast("int64")
    if kind.is_integer() and str(kind) != "uint64":
        return column.cast("int64")
    return None


def _range_column(name: str, ends: tuple[int | None, int | None] | None) -> _CodedColumn | None:
    if ends is None:
        return None
    low, high = ends
    if low is None or high is None:
        return _CodedColumn(lambda _: ibis.literal(0), 0, 1)
    span = int(high) - int(low) + 1
    if span >= _RANGE:
        return None

    def numbers(base: ir.Table) -> ir.IntegerValue:
        number = _as_whole_number(base[name])
        assert number is not None
        return (number - low).fill_null(span)  # nothing recorded is a value too: the last one

    return _CodedColumn(numbers, span, span + 1)


def _dictionary_column(engine: Engine, base: ir.Table, j: int) -> _ListedColumn:
    """The column numbered by its list of values, and the table, with a list joined where it is long."""
    name = f"q{j}"
    values = base.select(v=base[name]).distinct()
    hashed = engine_function("hash", "uint64", 1)
    got = engine.fetch(values.select(h=hashed(values["v"])).limit(SHORT_LIST + 1))
    hashes = got["h"].to_numpy().astype(np.uint64)
    window = _window(hashes) if len(hashes) <= SHORT_LIST else None
    if window is not None:
        shift, mask = window
        table = np.zeros(mask + 1, np.uint32)
        table[((hashes >> np.uint64(shift)) & np.uint64(mask)).astype(np.int64)] = np.arange(len(hashes))
        return _CodedColumn(lambda base: (hashed(base[name]) >> shift) & mask, mask, max(1, len(hashes)), table), base
    return _joined_column(engine, base, j)


def _joined_column(engine: Engine, base: ir.Table, j: int) -> _ListedColumn:
    """The column numbered by a list that is joined."""
    name = f"q{j}"
    values = base.select(v=base[name]).distinct()
    values = values.filter(values["v"].notnull())
    number = ibis.row_number() if engine.kind == "duckdb" else ibis.row_number().over(order_by=values["v"])
    kept = engine.cache(values.select(**{f"v{j}": values["v"], f"n{j}": number.cast("int64")}))
    card = int(engine.fetch(kept.aggregate(n=kept.count()))["n"][0].as_py())
    if card > LONG_LIST:
        return None, base
    joined = base.left_join(kept, base[name] == kept[f"v{j}"])
    return _CodedColumn(lambda base: base[f"n{j}"].fill_null(card), card, card + 1), joined


def _unsigned_type(largest: int) -> str:
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


@dataclass
class _RolledTable:
    """A table (``w``, ``lo``, ``hi``) to start from, its length, and who was left out of it, by number."""

    table: ir.Table
    size: int
    classes: int = 0
    people: int = 0


def roll_up_in_engine(
    engine: Engine,
    classes: ir.Table,
    shape: BaseShape,
    subsets: Sequence[Subset],
    progress: Callable[[int, int], None] | None = None,
) -> RollupCounts:
    """Isolation by every subset, from the classes of :func:`~.equivalence_classes.class_expression` in the engine."""
    owners = ["o", "h"] if shape.person else []
    words = pack_rows(engine, classes, shape, ["people", *owners, *shape.sums])
    if words is None:
        raise InputError(
            f"quasi_identifiers has {len(shape.keys)} columns whose values do not fit 62 bits together, in a table too "
            "long for this memory: give more with --memory 8GB, EPSILENS_MEMORY=8GB or epsilens.use_memory('8GB'), or "
            "name fewer columns",
            parameter="quasi_identifiers",
        )
    table = words.table
    if shape.person:
        table = table.rename(lo="o", hi="h")
    else:
        alone = table["people"] == 1
        table = table.mutate(lo=ibis.ifelse(alone, table["w"], -1), hi=ibis.ifelse(alone, table["w"], -2))
    table = engine.cache(table)
    counted = engine.fetch(table.group_by("people").agg(n=table.count()))
    sizes = _whole_numbers(counted["people"]), _whole_numbers(counted["n"])
    work = _EngineRollupState(engine, words, table, int(sizes[1].sum()), not shape.person, len(subsets), progress)
    isolated = work.roll_up(subsets)
    everyone = work.everyone(tuple(range(len(shape.keys))))
    gaps = []
    for name in shape.sums:
        owned = table.filter(table["lo"] == table["hi"])
        owned = owned if everyone is None else owned.semi_join(everyone, "lo")
        each = owned.group_by("lo").agg(gap=owned[name].sum())
        got = engine.fetch(each.group_by("gap").agg(n=each.count()))
        gaps.append((got["gap"].to_numpy().astype(float), _whole_numbers(got["n"])))
    return RollupCounts(isolated, sizes, tuple(gaps))


def _whole_numbers(column: pyarrow.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray([int(x) for x in column.to_pylist()], np.int64)


@dataclass
class _EngineRollupState:
    """A roll-up under way."""

    engine: Engine
    words: PackedRows
    table: ir.Table
    size: int
    once: bool
    total: int
    progress: Callable[[int, int], None] | None
    people: dict[Subset, int] = field(default_factory=dict)
    classes: dict[Subset, int] = field(default_factory=dict)
    found: dict[Subset, ir.Table] = field(default_factory=dict)
    made: dict[Subset, _RolledTable] = field(default_factory=dict)
    rest: dict[Subset, _RolledTable] = field(default_factory=dict)

    def roll_up(self, subsets: Sequence[Subset]) -> SubsetIsolation:
        """The full combination is the table; then small subsets that leave few, then the others, larger ones first."""
        full = tuple(range(len(self.words.masks)))
        self.made[full] = _RolledTable(self.table, self.size)
        if full in subsets:
            self._counted(full, self.table)
        wanted = [s for s in subsets if s != full]
        later = wanted
        if self.once:
            later = []
            for subset in sorted(wanted, key=lambda s: (len(s), -self._spread(s))):
                smaller = [r for s, r in self.rest.items() if set(s) <= set(subset)]
                if smaller or self._spread(subset) > 8 * self.size:
                    self._up(subset, min(smaller, key=lambda r: r.size, default=self.made[full]))
                else:
                    later.append(subset)
        for subset in sorted(later, key=len, reverse=True):
            self._down(subset)
        return SubsetIsolation(self.people, self.classes, self._by_size(full, subsets))

    def _spread(self, subset: Subset) -> int:
        return math.prod(self.words.cards[j] for j in subset)

    def _down(self, subset: Subset) -> None:
        """A subset from the shortest table of a larger one, kept for smaller ones."""
        source = min((m for s, m in self.made.items() if set(subset) <= set(s)), key=lambda m: m.size)
        cut = source.table.mutate(w=source.table["w"] & self._mask(subset))
        rolled = self.engine.cache(cut.group_by("w").agg(lo=cut["lo"].min(), hi=cut["hi"].max()))
        self.made[subset] = _RolledTable(rolled, self._counted(subset, rolled))

    def _counted(self, subset: Subset, rolled: ir.Table) -> int:
        """The classes of a subset, and the people who have one; returns how many classes there are."""
        owned = rolled.filter(rolled["lo"] == rolled["hi"]).select("lo")
        owned = owned if self.once else owned.distinct()
        got = self.engine.fetch(rolled.aggregate(n=rolled.count()).cross_join(owned.aggregate(k=owned.count())))
        self._add(subset, got["n"][0].as_py(), got["k"][0].as_py(), owned)
        return self.classes[subset]

    def _up(self, subset: Subset, source: _RolledTable) -> None:
        """A subset from those whom a smaller one left; whom it leaves itself is kept where that is at most half."""
        cut = source.table.mutate(v=source.table["w"] & self._mask(subset))
        grouped = cut.group_by("v").agg(n=cut.count(), lo=cut["lo"].min(), hi=cut["hi"].max())
        rolled = self.engine.cache(grouped)
        alone = rolled["n"] == 1
        mine = alone & (rolled["lo"] == rolled["hi"])
        got = self.engine.fetch(
            rolled.aggregate(groups=rolled.count(), alone=alone.ifelse(1, 0).sum(), mine=mine.ifelse(1, 0).sum())
        ).to_pylist()[0]
        number = {name: int(value or 0) for name, value in got.items()}
        people = source.people + number["mine"]
        self._add(subset, source.classes + number["groups"], people, rolled.filter(mine).select("lo"))
        left = source.size - number["alone"]
        if 2 * left <= self.size:
            several = rolled.filter(rolled["n"] > 1).select("v")
            rest = self.engine.cache(cut.semi_join(several, "v").select("w", "lo", "hi"))
            self.rest[subset] = _RolledTable(rest, left, source.classes + number["alone"], people)

    def _mask(self, subset: Subset) -> int:
        return sum(self.words.masks[j] for j in subset)

    def _add(self, subset: Subset, classes: int, people: int, owners: ir.Table) -> None:
        self.classes[subset], self.people[subset], self.found[subset] = int(classes), int(people), owners
        if self.progress:
            self.progress(len(self.classes), self.total)

    def _by_size(self, full: Subset, subsets: Sequence[Subset]) -> dict[int, int]:
        """How many people some subset of each size isolates: everyone has a fewest, and larger ones do as well."""
        sizes = sorted({len(s) for s in subsets})
        smaller = [self.found[s].mutate(size=len(s)) for s in subsets if s != full]
        reached = dict.fromkeys(sizes, 0)
        if smaller:
            union = smaller[0] if len(smaller) == 1 else ibis.union(*smaller)
            fewest = union.group_by("lo").agg(size=union["size"].min())
            got = self.engine.fetch(fewest.group_by("size").agg(n=fewest.count())).to_pylist()
            times = {int(row["size"]): int(row["n"]) for row in got}
            reached = {k: sum(n for size, n in times.items() if size <= k) for k in sizes}
        return reached | ({len(full): self.people[full]} if full in subsets else {})

    def everyone(self, full: Subset) -> ir.Table | None:
        """The owners whom some subset isolates; None for all who have a class."""
        if full in self.found:
            return None
        owners = list(self.found.values())
        return (owners[0] if len(owners) == 1 else ibis.union(*owners)).distinct()
