"""Whom each subset of the columns isolates, rolled up from all columns together: in the engine, or on codes of rows.

Inside the engine it is for more classes than this machine should hold: only counts leave it. The codes of a class stand
in one whole number, its word; a subset's classes are the words cut to its bits, so that an engine groups by one number
and no text. A class is someone's where its least and largest owner are equal; both roll up by min and max. Where every
row is a person the owner is the word itself, and whoever is alone on a subset is alone on every larger one: a larger
one then looks only at those whom a smaller one left.

On codes of rows every row is a person. Where all columns together have few combinations, the rows are counted into an
array of cells; otherwise each row becomes one word of codes, and these are sorted in parts.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..tables.dialect import as_integer, engine_function, ibis
from ..tables.engines import Engine
from ..tables.resources import memory
from .equivalence_classes import BaseShape, RollupCounts, Subset, SubsetIsolation, batch_gaps

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow


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


#
# A smaller subset is the array of a larger one with an axis merged; nothing is sorted.

#: A subset of at most this many combinations is an array of cells.
MOST_CELLS = 1 << 24
#: What is in a cell that is nobody's; an owner's number otherwise.
EMPTY, SHARED = -1, np.iinfo(np.int32).max
#: The fewest columns of an owner whom no subset isolates.
NEVER = np.uint8(255)
#: Long arrays are gone through in steps of this many.
BLOCK = 1 << 20

_Scalar = TypeVar("_Scalar", bound=np.generic)
Cells: TypeAlias = NDArray[np.int32]
Progress: TypeAlias = Callable[[int, int], None]


@dataclass
class IsolationCount:
    """The counts under way; ``fewest`` is the least size of a subset that isolates each owner."""

    fewest: NDArray[np.uint8]
    people: Counter[Subset] = field(default_factory=Counter)
    classes: Counter[Subset] = field(default_factory=Counter)

    def found(self, subset: Subset, owners: NDArray[np.integer]) -> None:
        """The subset isolates these owners."""
        self.fewest[owners] = np.minimum(self.fewest[owners], len(subset))


def affordable_cells(rows: int) -> int:
    """How many cells an array for so many rows may have: few rows are sorted sooner than many cells are merged."""
    return min(MOST_CELLS, 4 * rows + 65_536)


def blocks(array: NDArray[_Scalar], size: int = BLOCK) -> Iterator[NDArray[_Scalar]]:
    """The array in pieces of a size that costs little to copy."""
    for start in range(0, len(array), size):
        yield array[start : start + size]


def merge_cells(
    own: Cells, of: Subset, subsets: Iterable[Subset], count: IsolationCount, progress: Progress | None = None
) -> None:
    """Every subset of the array's columns that is asked for, each from the smallest array that has its columns."""
    arrays = {of: own}
    wanted = [s for s in subsets if set(s) <= set(of)]
    for done, subset in enumerate(wanted, 1):  # the larger ones come first
        source = min((s for s in arrays if set(subset) <= set(s)), key=lambda s: arrays[s].size)
        if source != subset:
            arrays[subset] = merge_axes(arrays[source], tuple(i for i, j in enumerate(source) if j not in subset))
        array = arrays[subset]
        owners = array[(array != EMPTY) & (array != SHARED)]
        count.people[subset] += len(owners)
        count.classes[subset] += int(np.count_nonzero(array != EMPTY))
        count.found(subset, owners)
        if progress:
            progress(done, len(wanted))


def merge_axes(array: Cells, axes: tuple[int, ...]) -> Cells:
    """The cells merged along some axes: of one owner where all that are not empty are.

    >>> merge_axes(np.array([[3, EMPTY], [1, 1], [EMPTY, EMPTY], [0, 2]], np.int32), (1,)) == [3, 1, EMPTY, SHARED]
    array([ True,  True,  True,  True])
    """
    most = array.max(axis=axes)  # shared is the largest, empty the smallest
    least = array.view(np.uint32).min(axis=axes).view(np.int32)  # unsigned, empty is the largest
    return np.where(most == least, most, SHARED).astype(np.int32, copy=False)


#
# Whoever is alone on a subset is alone on every larger one, so a larger one sorts only the rest. And rows that differ
# in one column never meet on a subset with that column: the table is cut along it into parts that fit a processor's
# cache, and stay within the memory that was allowed.

_PART = 1 << 21
#: Attempts to begin at small subsets that found too few people alone.
_TRIES = 2

Words: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True)
class WordLayout:
    """Where the code of each column stands in a word: the longest column on top, ``spare`` free bits below all."""

    order: tuple[int, ...]
    shifts: dict[int, int]
    bits: dict[int, int]
    spare: int

    @classmethod
    def of(cls, cards: Sequence[int]) -> WordLayout:
        """For columns of so many codes; ``spare`` is below 0 where they do not fit."""
        order = tuple(sorted(range(len(cards)), key=lambda j: -cards[j]))
        bits = {j: max(1, (card - 1).bit_length()) for j, card in enumerate(cards)}
        shifts, top = {}, 64
        for j in order:
            top -= bits[j]
            shifts[j] = top
        return cls(order, shifts, bits, top)

    def mask(self, subset: Iterable[int]) -> int:
        """The bits that hold the subset's codes."""
        return sum(((1 << self.bits[j]) - 1) << self.shifts[j] for j in subset)

    def codes(self, words: Words, column: int) -> Words:
        """The codes of one column."""
        return (words >> np.uint64(self.shifts[column])) & np.uint64((1 << self.bits[column]) - 1)


def distinct_words(
    words: Words, gaps: NDArray[np.float64]
) -> tuple[Words, NDArray[np.bool_], tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]:
    """The distinct words in order, whether several rows have each, how many have how many, and gaps in that order.

    The words are sorted and closed up in place: there may be no room for them twice.
    """
    if len(gaps):
        order = np.argsort(words)
        words = words[order]
    else:
        _sort_in_place(words)
    size = len(words)
    edge = np.ones(size + 1, bool)
    for start in range(1, size, BLOCK):
        end = min(start + BLOCK, size)
        np.not_equal(words[start:end], words[start - 1 : end - 1], out=edge[start:end])
    if len(gaps):
        gaps = gaps[:, order[edge[:-1]]]
    lengths: Counter[int] = Counter()
    shared, kept, last = np.empty(int(np.count_nonzero(edge[:-1])), bool), 0, 0
    for start in range(0, size, BLOCK):
        end = min(start + BLOCK, size)
        first = edge[start:end]
        some = int(np.count_nonzero(first))
        shared[kept : kept + some] = ~edge[start + 1 : end + 1][first]
        words[kept : kept + some] = words[start:end][first]
        kept += some
        ends = np.flatnonzero(edge[start + 1 : end + 1]) + start + 1
        sizes, times = np.unique(np.diff(ends, prepend=last), return_counts=True)
        lengths.update(dict(zip(sizes.tolist(), times.tolist(), strict=True)))
        last = int(ends[-1]) if len(ends) else last
    table = np.array(sorted(lengths.items()), np.int64).reshape(-1, 2)
    return words[:kept], shared, (table[:, 0], table[:, 1]), gaps


def _sort_in_place(words: Words) -> None:
    if len(words) < BLOCK:
        words.sort()
        return
    middle = len(words) // 2
    words.partition(middle)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda part: part.sort(), (words[:middle], words[middle:])))


@dataclass
class WordTable:
    """The distinct words, in order; a word that several rows share is nobody's."""

    words: Words
    shared: NDArray[np.bool_]
    layout: WordLayout
    cards: tuple[int, ...]
    count: IsolationCount

    def roll_up(self, subsets: Sequence[Subset], progress: Progress | None) -> bool:
        """Every subset; False where one value has more rows than a part can have."""
        few = [s for s in subsets if self._cells(s) <= affordable_cells(len(self.words))]
        many = [s for s in subsets if s not in set(few)]
        parts: dict[int, list[tuple[int, int]]] = {}
        for column in dict.fromkeys(min(s, key=self.layout.order.index) for s in many):
            bounds = self._parts(column)
            if bounds is None:
                return False
            parts[column] = bounds
        done = 0
        with ThreadPoolExecutor(2) as pool:
            for column, bounds in parts.items():
                mine = [s for s in many if min(s, key=self.layout.order.index) == column]
                for classes, people in pool.map(partial(self._part, column, mine), bounds):
                    self.count.classes.update(classes)
                    self.count.people.update(people)
                done += len(mine)
                if progress:
                    progress(done, len(subsets))
        while few:
            top = few[0]
            self._merge_cells(top, few)
            few = [s for s in few if not set(s) <= set(top)]
            if progress:
                progress(len(subsets) - len(few), len(subsets))
        return True

    def _cells(self, subset: Subset) -> int:
        return math.prod(self.cards[j] for j in subset)

    def _merge_cells(self, of: Subset, subsets: Iterable[Subset]) -> None:
        """The subsets of ``of`` by an array of its cells."""
        own = np.full(self._cells(of), EMPTY, np.int32)
        starts = range(0, len(self.words), BLOCK)

        def place(start: int) -> NDArray[np.int64]:
            made = np.zeros(len(self.words[start : start + BLOCK]), np.int64)
            for j in of:
                made *= self.cards[j]
                made += self.layout.codes(self.words[start : start + BLOCK], j).view(np.int64)
            return made

        for start in starts:
            at = place(start)
            own[at] = np.arange(start, start + len(at), dtype=np.int32)
        for start in starts:  # whoever wrote there and does not stand there has company
            at = place(start)
            company = own[at] != np.arange(start, start + len(at), dtype=np.int32)
            company |= self.shared[start : start + len(at)]
            own[at[company]] = SHARED
        merge_cells(own.reshape([self.cards[j] for j in of]), of, subsets, self.count)

    def _parts(self, column: int) -> list[tuple[int, int]] | None:
        """Ranges of the column's codes with at most so many words each; None where one code has too many."""
        most = min(_PART, (1 << self.layout.spare) - 1)
        times = np.zeros(self.cards[column], np.int64)
        for part in blocks(self.words):
            times += np.bincount(self.layout.codes(part, column).view(np.int64), minlength=len(times))
        if int(times.max(initial=0)) > most:
            return None
        reached, start, made = np.cumsum(times), 0, []
        while start < len(times):
            before = int(reached[start - 1]) if start else 0
            end = max(start + 1, int(np.searchsorted(reached, before + most, "right")))
            made.append((start, end))
            start = end
        return made

    def _part(
        self, column: int, subsets: Sequence[Subset], bounds: tuple[int, int]
    ) -> tuple[Counter[Subset], Counter[Subset]]:
        """The subsets with this column, on the words whose code in it is within the bounds."""
        low, high = bounds
        shift = self.layout.shifts[column]
        if column == self.layout.order[0]:
            ends = [low << shift, high << shift]
            first, last = (
                int(np.searchsorted(self.words, np.uint64(e))) if e < 1 << 64 else len(self.words) for e in ends
            )
            at: slice | NDArray[np.int32] = slice(first, last)
        else:
            chosen = []
            for start in range(0, len(self.words), BLOCK):
                codes = self.layout.codes(self.words[start : start + BLOCK], column)
                chosen.append(np.flatnonzero((codes >= low) & (codes < high)) + start)
            at = np.concatenate(chosen).astype(np.int32) if chosen else slice(0, 0)
        part = _WordPart(self.words[at], self.shared[at], self.layout, self.cards, len(self.words))
        part.roll_up(subsets)
        for subset, found in part.found.items():
            self.count.found(subset, found + at.start if isinstance(at, slice) else at[found])
        return part.classes, part.people


@dataclass(frozen=True)
class _Remainder:
    """The words of a part that are not alone on a subset; how many are, and how many of these are someone's."""

    words: Words
    alone: int = 0
    people: int = 0


class _WordPart:
    """Some words, their number in the spare bits below the codes."""

    def __init__(
        self, words: Words, shared: NDArray[np.bool_], layout: WordLayout, cards: Sequence[int], rows: int
    ) -> None:
        self.layout, self.cards, self.rows, self.shared = layout, cards, rows, shared
        self.number = np.uint64((1 << layout.spare) - 1)
        self.words = words | np.arange(len(words), dtype=np.uint64)
        self.rest: dict[Subset, _Remainder] = {}
        self.classes: Counter[Subset] = Counter()
        self.people: Counter[Subset] = Counter()
        self.found: dict[Subset, NDArray[np.int64]] = {}

    def roll_up(self, subsets: Sequence[Subset]) -> None:
        """Small subsets first where these leave few, and the others from large to small."""
        later, failed, half = [], 0, len(self.words) // 2
        for subset in sorted(subsets, key=lambda s: (len(s), -math.prod(self.cards[j] for j in s))):
            smaller = [r for s, r in self.rest.items() if set(s) <= set(subset)]
            if smaller:
                self._up(subset, min(smaller, key=lambda r: len(r.words)), half)
            elif failed < _TRIES and math.prod(self.cards[j] for j in subset) > 8 * self.rows:
                failed += not self._up(subset, _Remainder(self.words), half)
            else:
                later.append(subset)
        self._down(sorted(later, key=len, reverse=True))

    def _up(self, subset: Subset, source: _Remainder, half: int) -> bool:
        """One subset from what a smaller one left; whether it leaves at most half of the part."""
        keys, edge = self._runs(source.words, subset)
        single = edge[:-1] & edge[1:]
        alone = (keys[single] & self.number).view(np.int64)
        mine = alone[~self.shared[alone]]
        self.classes[subset] = source.alone + int(np.count_nonzero(edge[:-1]))
        self.people[subset] = source.people + len(mine)
        self.found[subset] = mine
        if len(keys) - len(alone) > half:
            return False
        left = self.words[(keys[~single] & self.number).view(np.int64)]
        self.rest[subset] = _Remainder(left, source.alone + len(alone), self.people[subset])
        return True

    def _down(self, subsets: Sequence[Subset]) -> None:
        """Subsets from what larger ones made of the words: one for each class, all ones below where it is nobody's."""
        if not subsets:
            return
        tables = {tuple(range(len(self.cards))): np.where(self.shared, self.words | self.number, self.words)}
        for subset in subsets:
            source = min((t for s, t in tables.items() if set(subset) <= set(s)), key=len)
            keys, edge = self._runs(source, subset)
            first = keys[edge[:-1]]
            first[~edge[1:][edge[:-1]]] |= self.number
            owners = first & self.number
            self.found[subset] = owners[owners != self.number].view(np.int64)
            self.classes[subset], self.people[subset] = len(first), len(self.found[subset])
            if len(first) <= 0.7 * len(source):
                tables[subset] = first

    def _runs(self, words: Words, subset: Subset) -> tuple[Words, NDArray[np.bool_]]:
        """The words cut to the subset, in order; edge[i]: a run of equal codes begins at i, and one ends before it."""
        keys = words & (np.uint64(self.layout.mask(subset)) | self.number)
        keys.sort()
        edge = np.ones(len(keys) + 1, bool)
        if len(keys):
            np.greater(keys[1:] ^ keys[:-1], self.number, out=edge[1:-1])
        return keys, edge


def roll_up_rows(
    engine: Engine,
    coded: EncodedRows,
    rows: int,
    queries: int,
    subsets: Sequence[Subset],
    seen: Callable[[int], None] | None = None,
    progress: Progress | None = None,
) -> RollupCounts | None:
    """Isolation by every subset; None where the codes are too wide, or the rows too many, for the memory allowed."""
    full = tuple(range(len(coded.cards)))
    cells = math.prod(coded.cards)
    room = int(0.6 * memory().size)
    batches = _RowBatches(engine, coded, queries, seen)
    if cells <= affordable_cells(rows) and cells * (24 + 8 * queries) <= room:
        own, sizes, gaps = _full_cells(batches, cells)
        count = IsolationCount(np.full(cells, NEVER))
        merge_cells(own.reshape(coded.cards), full, subsets, count, progress)
    else:
        layout = WordLayout.of(coded.cards)
        if layout.spare < 16 or rows * (10 + 16 * queries) > room or rows >= SHARED:
            return None
        words, gaps = batches.words(layout, rows)
        words, shared, sizes, gaps = distinct_words(words, gaps)
        count = IsolationCount(np.full(len(words), NEVER))
        if not WordTable(words, shared, layout, coded.cards, count).roll_up(subsets, progress):
            return None
    return RollupCounts(_isolation_counts(count, subsets), sizes, tuple(_histogram(g, count.fewest) for g in gaps))


def _isolation_counts(count: IsolationCount, subsets: Sequence[Subset]) -> SubsetIsolation:
    times = sum((np.bincount(part, minlength=256) for part in blocks(count.fewest)), np.zeros(256, np.int64))
    by_size = {k: int(times[: k + 1].sum()) for k in sorted({len(s) for s in subsets})}
    people = {s: int(count.people[s]) for s in subsets}
    return SubsetIsolation(people, {s: int(count.classes[s]) for s in subsets}, by_size, None)


def _histogram(gaps: NDArray[np.float64], fewest: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    values, people = np.unique(gaps[fewest != NEVER], return_counts=True)
    return values, people.astype(np.int64)


@dataclass(frozen=True)
class _RowBatches:
    """The rows as the engine streams them; a pool turns one batch into codes while the engine makes the next."""

    engine: Engine
    coded: EncodedRows
    queries: int
    seen: Callable[[int], None] | None

    def _each(
        self, make: Callable[[pyarrow.RecordBatch], NDArray[_Scalar]]
    ) -> Iterator[tuple[NDArray[_Scalar], list[NDArray[np.float64]]]]:
        seen = 0
        with ThreadPoolExecutor(1) as pool:
            waiting = None
            for batch in self.engine.batches(self.coded.table):
                ahead = pool.submit(lambda batch: (make(batch), batch_gaps(batch, self.queries)), batch)
                seen += batch.num_rows
                if self.seen:
                    self.seen(seen)
                if waiting is not None:
                    yield waiting.result()
                waiting = ahead
            if waiting is not None:
                yield waiting.result()

    def places(self) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.float64]]]]:
        """The cell of each row among those of all columns."""

        def make(batch: pyarrow.RecordBatch) -> NDArray[np.int64]:
            made = np.zeros(batch.num_rows, np.int64)
            for j, card in enumerate(self.coded.cards):
                made *= card
                made += self.coded.codes(batch, j)
            return made

        return self._each(make)

    def words(self, layout: WordLayout, rows: int) -> tuple[Words, NDArray[np.float64]]:
        """The codes of each row in one word, and its contributions."""

        def make(batch: pyarrow.RecordBatch) -> Words:
            made = np.zeros(batch.num_rows, np.uint64)
            for j, shift in layout.shifts.items():
                made |= self.coded.codes(batch, j).astype(np.uint64) << np.uint64(shift)
            return made

        words, gaps, start = np.empty(rows, np.uint64), np.empty((self.queries, rows)), 0
        for part, weights in self._each(make):
            end = start + len(part)
            words[start:end] = part
            for i, weight in enumerate(weights):
                gaps[i, start:end] = weight
            start = end
        return words, gaps


def _full_cells(
    batches: _RowBatches, cells: int
) -> tuple[Cells, tuple[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]:
    """The combinations of all columns as cells; each is its own owner where one row is in it."""
    rows = np.zeros(cells, np.int32)
    gaps = np.zeros((batches.queries, cells))
    for place, weights in batches.places():
        np.add.at(rows, place, 1)
        for i, weight in enumerate(weights):  # of cells with one row, which alone count, the sum
            gaps[i, place] = weight
    people, times = np.unique(rows[rows > 0], return_counts=True)
    own = np.arange(cells, dtype=np.int32)
    own[rows == 0] = EMPTY
    own[rows > 1] = SHARED
    return own, (people.astype(np.int64), times.astype(np.int64)), gaps
