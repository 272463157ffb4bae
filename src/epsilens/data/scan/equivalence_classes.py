"""The table of classes: one pass over the data, in the engine; codes and owners, in numpy.

A *class* is the set of rows that share one combination of all quasi-identifiers. A class with rows of a single
person is *owned* by that person; any other is *mixed*. Count-distinct does not roll up from a finer grouping to
a coarser one, but owners do: the union of classes has one owner exactly when all of them have that owner. So the
owner of each class, found in one pass, is all that every subset of the columns needs (:func:`roll_up`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..tables.dialect import md5, pa, pc
from ..tables.engines import Engine
from ..tables.resources import memory
from .request import ScanRequest
from .result import ColumnShare

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow

#: Up to this many values of classes leave an engine that is not DuckDB inside the process, a million classes of five
#: columns: what a driver of 1 GB can hand over at once.
FETCHED = 5_000_000
MIXED = -1
#: Texts of more characters than this, on average, are long.
LONG_TEXT = 64
_FEW, _SAMPLE = 1_000, 100_000

Integers: TypeAlias = NDArray[np.int64]


#: The values of a column, and the number of each row's.
_Coded: TypeAlias = "tuple[pyarrow.Array, NDArray[np.int32]]"
_Scalar = TypeVar("_Scalar", bound=np.generic)


class TooManyClasses(Exception):  # noqa: N818 - a signal between two rooms, never seen outside
    """The class table outgrew :func:`most_local_classes`."""


@dataclass(frozen=True)
class BaseShape:
    """The columns of a base table: ``q0…`` so many, ``p`` with a person, contributions ``c0…`` of so many queries."""

    columns: int
    person: bool
    queries: int

    @property
    def keys(self) -> list[str]:
        """The quasi-identifiers."""
        return [f"q{j}" for j in range(self.columns)]

    @property
    def sums(self) -> list[str]:
        """The contributions."""
        return [f"c{i}" for i in range(self.queries)]


@dataclass(frozen=True)
class ClassTable:
    """One row per class: a code for each column's value, and who owns it.

    ``codes[j]`` numbers the values of column j from 0; ``values[j]`` is the Arrow array they stand for.
    ``owner`` is a number from 0 to ``owners − 1`` for an owned class and ``MIXED`` otherwise; without a person
    column every row is a person of its own, and the owned classes are numbered in order. ``gaps[q, o]`` is what
    owner o contributes to query q through owned classes. ``people_values`` names the owners (person column only),
    ``sizes`` is the histogram (people sharing a class, classes).
    """

    codes: tuple[NDArray[np.int32], ...]
    values: tuple[pyarrow.Array, ...]
    sizes: tuple[Integers, Integers]
    owner: NDArray[np.int32]
    owners: int
    gaps: NDArray[np.float64]
    people_values: pyarrow.Array | None

    @property
    def cards(self) -> tuple[int, ...]:
        """How many values each column takes."""
        return tuple(max(1, len(v)) for v in self.values)


def most_local_classes(kind: str, shape: BaseShape) -> int:
    """How many classes are rolled up in numpy; more stay in the engine.

    A class takes its codes twice, as they come and joined, with its owner, people and gaps; and words to sort.
    """
    size = 12 * shape.columns + 16 * shape.queries + 64
    return min(memory().arrays // size, 32_000_000 if kind == "duckdb" else FETCHED // shape.columns)


def class_expression(base: ir.Table, shape: BaseShape) -> ir.Table:
    """The classes of ``base``, a table of this shape.

    With a person column the grouping has two steps, (class, person) and then class, so that a person's rows count
    once: ``people`` is the number of persons of the class, ``o`` and ``h`` the least and largest of them.
    """
    keys, sums = shape.keys, shape.sums
    if not shape.person:
        return base.group_by(keys).agg(people=base.count(), **{c: base[c].sum() for c in sums})
    if not sums:
        pairs = base.select(*keys, "p").distinct()
    else:
        pairs = base.group_by([*keys, "p"]).agg(**{c: base[c].sum() for c in sums})
    return pairs.group_by(keys).agg(
        people=pairs.count(), o=pairs["p"].min(), h=pairs["p"].max(), **{c: pairs[c].sum() for c in sums}
    )


def fetch_classes(
    engine: Engine, expression: ir.Table, shape: BaseShape, limit: int, progress: Callable[[int], None] | None = None
) -> ClassTable:
    """Stream the classes out of the engine, numbering each column's values as they come.

    The engine's threads produce the next batch while a pool numbers the last one. Values themselves are kept
    once per column; per class only int32 codes stay.
    """
    names = shape.keys + (["o"] if shape.person else [])
    seen = 0
    with ThreadPoolExecutor(2) as pool:
        waiting = []
        # An engine that cannot stream hands over all rows at once: then no more than are wanted.
        for batch in engine.batches(expression if engine.kind == "duckdb" else expression.limit(limit + 1)):
            seen += batch.num_rows
            if seen > limit:
                raise TooManyClasses
            waiting.append(pool.submit(_encoded_batch, batch, names, shape.queries))
            if progress:
                progress(seen)
        parts = [w.result() for w in waiting if len(w.result().alone)]
    owned = _join([p.alone for p in parts], np.bool_)
    sizes = _histogram([p.sizes for p in parts])
    owner = np.full(len(owned), MIXED, np.int32)
    if shape.person:
        codes, people_values = _unified_codes([p.columns.pop("o") for p in parts])
        owner[owned] = codes[owned]
        owners = len(people_values)
    else:
        people_values = None
        owners = int(np.count_nonzero(owned))
        owner[owned] = np.arange(owners, dtype=np.int32)
    with ThreadPoolExecutor(2) as pool:
        coded = list(pool.map(lambda name: _unified_codes([p.columns.pop(name) for p in parts]), shape.keys))
    gaps = np.zeros((shape.queries, owners))
    for i in range(shape.queries):
        weights = _join([p.gaps[i] for p in parts], np.float64)
        gaps[i] = np.bincount(owner[owned], weights[owned], minlength=owners)[:owners] if owners else 0.0
    return ClassTable(
        codes=tuple(codes for codes, _ in coded),
        values=tuple(values for _, values in coded),
        sizes=sizes,
        owner=owner,
        owners=owners,
        gaps=gaps,
        people_values=people_values,
    )


def long_text_columns(engine: Engine, base: ir.Table, shape: BaseShape) -> tuple[int, ...]:
    """The columns of long texts, judged by the first rows: their digests are grouped instead, which are short."""
    texts = [j for j, name in enumerate(shape.keys) if base[name].type().is_string()]
    if not texts:
        return ()
    some = base.select(*(f"q{j}" for j in texts)).limit(_FEW)
    got = engine.fetch(some.aggregate(**{f"q{j}": some[f"q{j}"].length().mean() for j in texts})).to_pylist()[0]
    return tuple(j for j in texts if (got[f"q{j}"] or 0) > LONG_TEXT)


def digest_long_texts(base: ir.Table, columns: Sequence[int]) -> ir.Table:
    """``base`` with a digest of 128 bits in place of the texts of these columns."""
    return base.mutate(**{f"q{j}": md5(base[f"q{j}"]) for j in columns}) if columns else base


def mostly_unique(engine: Engine, base: ir.Table, shape: BaseShape) -> bool:
    """Whether nearly every row is a class of its own, judged by the first rows; only speed depends on it.

    Grouping such a table costs the engine its longest hash table and saves nothing; the rows are then coded in the
    engine and rolled up here (:mod:`.rollup`).
    """
    some = base.select(*shape.keys).limit(_SAMPLE)
    each = some.group_by(shape.keys).agg(n=some.count())
    got = engine.fetch(each.aggregate(classes=each.count(), rows=each["n"].sum())).to_pylist()[0]
    return bool(got["rows"] == _SAMPLE and got["classes"] > 0.8 * _SAMPLE)


@dataclass(frozen=True)
class _EncodedBatch:
    columns: dict[str, _Coded]
    alone: NDArray[np.bool_]
    sizes: tuple[Integers, Integers]
    gaps: list[NDArray[np.float64]]


def _encoded_batch(batch: pyarrow.RecordBatch, names: Sequence[str], queries: int) -> _EncodedBatch:
    columns: dict[str, _Coded] = {}
    for name in names:
        # null_encoding="encode" makes NULL one of the values: an attacker can know that nothing is recorded.
        coded = batch.column(name).dictionary_encode(null_encoding="encode")
        columns[name] = (coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).copy())
    people = batch.column("people").to_numpy(zero_copy_only=False)
    return _EncodedBatch(columns, people == 1, np.unique(people, return_counts=True), batch_gaps(batch, queries))


def batch_gaps(batch: pyarrow.RecordBatch, queries: int) -> list[NDArray[np.float64]]:
    """The contributions to each query, 0 where there is none."""
    columns = (batch.column(f"c{i}").cast("float64").fill_null(0.0) for i in range(queries))
    return [column.to_numpy(zero_copy_only=False) for column in columns]


def _unified_codes(parts: Sequence[_Coded]) -> tuple[NDArray[np.int32], pyarrow.Array]:
    """Codes into one list of values from codes into a list per batch."""
    if not parts:
        return np.empty(0, np.int32), pa.nulls(0)
    merged = pa.chunked_array([values for values, _ in parts]).combine_chunks()
    coded = merged.dictionary_encode(null_encoding="encode")
    translate = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    made, start = [], 0
    for values, codes in parts:
        made.append(translate[start : start + len(values)][codes])
        start += len(values)
    return np.concatenate(made), coded.dictionary


def _histogram(parts: Sequence[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    values, where = np.unique(_join([v for v, _ in parts], np.int64), return_inverse=True)
    counts = np.bincount(where, _join([n for _, n in parts], np.int64), minlength=len(values))
    return values, counts.astype(np.int64)


def _join(parts: Sequence[NDArray[_Scalar]], kind: type[_Scalar]) -> NDArray[_Scalar]:
    return np.concatenate(parts).astype(kind, copy=False) if parts else np.empty(0, kind)


#
# A subset S isolates person p when some combination of S's values occurs in rows of p only. In terms of classes: the
# classes that agree on S all have the owner p. Sorting does it: pack the codes of S and the owner into one 64-bit
# word, sort, and look at the first and last word of each run of equal codes; the run has one owner exactly when they
# are equal and not mixed. The runs are the classes of S, so a smaller subset starts from them, not from the data.
#
# If S isolates p then so does every larger subset: p's fewest columns is the smallest size of a subset isolating p.

_SIZES = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 9), (10, 19), (20, 99), (100, None))
Subset: TypeAlias = tuple[int, ...]
Words: TypeAlias = NDArray[np.uint64]
Owners: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class SubsetIsolation:
    """How many people each subset isolates, and for each owner the fewest columns that do (0 for never).

    ``by_size[k]`` counts the people isolated by some subset of k columns, and ``classes`` the combinations each
    subset takes. Only a roll-up of classes in numpy has ``fewest``.
    """

    counts: dict[Subset, int]
    classes: dict[Subset, int]
    by_size: dict[int, int]
    fewest: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class RollupCounts:
    """What a roll-up finds: isolation, (people sharing a class, classes), and each query's (gap, people)."""

    isolated: SubsetIsolation
    sizes: tuple[Integers, Integers]
    gaps: tuple[tuple[NDArray[np.float64], Integers], ...]


def subsets_of(columns: int, at_most: int) -> list[Subset]:
    """All non-empty subsets of the columns with at most ``at_most`` members, largest first.

    >>> subsets_of(3, 2)
    [(0, 1), (0, 2), (1, 2), (0,), (1,), (2,)]
    """
    sizes = range(min(at_most, columns), 0, -1)
    return [s for size in sizes for s in combinations(range(columns), size)]


@dataclass(frozen=True)
class _Packed:
    """Rolled-up classes as sorted words: the codes at ``fields[column] = (shift, bits)``, the owner below."""

    words: Words
    fields: dict[int, tuple[int, int]]

    def mask(self, subset: Iterable[int]) -> int:
        """The bits that hold the subset's codes."""
        return sum(((1 << bits) - 1) << shift for shift, bits in (self.fields[j] for j in subset))


def roll_up(
    classes: ClassTable, subsets: Sequence[Subset], progress: Callable[[int, int], None] | None = None
) -> SubsetIsolation:
    """Isolation by every subset, in numpy, each from the smallest superset already rolled up."""
    bits = [max(1, (card - 1).bit_length()) for card in classes.cards]
    owner_bits = max(1, classes.owners.bit_length())  # all ones is free to mean "mixed"
    fewest = np.zeros(classes.owners, np.uint8)
    tables: dict[Subset, _Packed] = {}
    counts: dict[Subset, int] = {}
    groups: dict[Subset, int] = {}

    def one(subset: Subset) -> tuple[Subset, int, int, _Packed | None]:
        source = _smallest_superset(tables, subset)
        if source is None and sum(bits[j] for j in subset) + owner_bits <= 64:
            source = _pack(classes, subset, bits, owner_bits)
        if source is None:
            total, found = _by_lexsort(classes, subset)
            table = None
        else:
            total, found, table = _owned_runs(source, subset, owner_bits, classes.people_values is None)
        # Sizes come in descending order, so the smallest stays; workers of one size write the same number.
        fewest[found] = len(subset)
        people = len(found) if classes.people_values is None else len(np.unique(found))
        return subset, people, total, table

    # The full combination first, packed once: every subset can then start from it by masking bits.
    full = tuple(range(len(bits)))
    if sum(bits) + owner_bits <= 64:
        tables[full] = _pack(classes, full, bits, owner_bits)
    if full in subsets:  # every owner of a class is alone in it: nothing to sort
        owners = classes.owner[classes.owner != MIXED]
        fewest[owners] = len(full)
        counts[full] = int(np.count_nonzero(fewest))
        groups[full] = len(classes.owner)
        subsets = [s for s in subsets if s != full]
    # Two workers share a sort's memory traffic well; on long tables their copies would cost more than they save.
    workers = min(4, os.cpu_count() or 1) if len(classes.owner) <= 4_000_000 else 2
    workers = workers if len(classes.owner) <= 12_000_000 else 1
    done = 0
    with ThreadPoolExecutor(workers) as pool:
        for length in sorted({len(s) for s in subsets}, reverse=True):
            made = {}
            for subset, isolated, total, table in pool.map(one, [s for s in subsets if len(s) == length]):
                counts[subset], groups[subset] = isolated, total
                if table is not None:
                    made[subset] = table
                done += 1
                if progress:
                    progress(done, len(subsets))
            tables.update(made)  # only between levels: the workers read the dictionary
    by_size = {k: int(np.count_nonzero((fewest > 0) & (fewest <= k))) for k in sorted({len(s) for s in counts})}
    return SubsetIsolation(counts, groups, by_size, fewest)


def _smallest_superset(tables: dict[Subset, _Packed], subset: Subset) -> _Packed | None:
    wanted = set(subset)
    fit = [t for s, t in tables.items() if wanted <= set(s)]
    return min(fit, key=lambda t: len(t.words)) if fit else None


def _pack(classes: ClassTable, subset: Subset, bits: Sequence[int], owner_bits: int) -> _Packed:
    words = classes.owner.astype(np.int64).view(np.uint64)
    words &= np.uint64((1 << owner_bits) - 1)  # MIXED, −1, becomes all ones
    fields, shift = {}, owner_bits
    for j in subset:
        words |= classes.codes[j].astype(np.uint64) << np.uint64(shift)
        fields[j] = (shift, bits[j])
        shift += bits[j]
    return _Packed(words, fields)


def _owned_runs(source: _Packed, subset: Subset, owner_bits: int, once: bool) -> tuple[int, Owners, _Packed | None]:
    """The runs of equal codes on ``subset``: how many, who owns one, and one word each as a table.

    The table is left out where it would be nearly as long as its source: not worth the memory. ``once`` says that no
    owner has two classes, so that a run has an owner only if it is a single word.
    """
    mixed = np.uint64((1 << owner_bits) - 1)
    words = source.words & (np.uint64(source.mask(subset)) | mixed)
    words.sort()
    edge = np.ones(len(words) + 1, bool)  # edge[i]: a run begins at i, and one ends before it
    if len(words):
        np.greater(words[1:] ^ words[:-1], mixed, out=edge[1:-1])  # a difference above the owner's bits
    total = int(np.count_nonzero(edge[:-1]))
    keep = total <= 0.7 * len(source.words)
    if once and not keep:
        low = words[edge[:-1] & edge[1:]]
    else:
        low, high = words[edge[:-1]], words[edge[1:]]
        low[low != high] |= mixed
    owners = low & mixed
    found = owners[owners != mixed].view(np.int64)
    return total, found, _Packed(low, {j: source.fields[j] for j in subset}) if keep else None


def _by_lexsort(classes: ClassTable, subset: Subset) -> tuple[int, Owners]:
    """The same for codes too wide for one word: slower, and exact."""
    order = np.lexsort((classes.owner, *(classes.codes[j] for j in subset)))
    edge = np.ones(len(order) + 1, bool)
    edge[1:-1] = False
    for j in subset:
        column = classes.codes[j][order]
        edge[1:-1] |= column[1:] != column[:-1]
    owner = classes.owner[order]
    low, high = owner[edge[:-1]], owner[edge[1:]]
    return len(low), low[(low == high) & (low != MIXED)].astype(np.int64)


def class_sizes(people: Integers, times: Integers) -> dict[str, int]:
    """How many combinations are shared by 1, 2, 3, 4, 5–9, … people."""
    made = {}
    for low, high in _SIZES:
        inside = (people >= low) & (people <= (high or np.iinfo(np.int64).max))
        name = f"{low}+" if high is None else str(low) if low == high else f"{low}-{high}"
        made[name] = int(times[inside].sum())
    return made


def column_shares(quasi: tuple[str, ...], counts: Mapping[Subset, int]) -> tuple[ColumnShare, ...]:
    r"""Each column's part in isolation: alone, what is lost without it, and its Shapley value.

    :math:`\phi_c=\sum_{S\not\ni c}\frac{|S|!\,(m-|S|-1)!}{m!}\,(v(S\cup c)-v(S))` with v the people isolated.
    """
    m = len(quasi)
    everything = tuple(range(m))
    made = []
    for c, name in enumerate(quasi):
        lost = shapley = None
        if everything in counts:
            value = {(): 0, **counts}
            lost = counts[everything] - value[tuple(j for j in everything if j != c)]
            shapley = 0.0
            for subset, people in value.items():
                if c not in subset:
                    joined = tuple(sorted((*subset, c)))
                    weight = 1 / (m * math.comb(m - 1, len(subset)))
                    shapley += weight * (value[joined] - people)
        made.append(ColumnShare(name, counts[(c,)], lost, shapley))
    return tuple(made)


MOST_SHOWN = 1000


@dataclass(frozen=True)
class DigestTexts:
    """The texts behind digests, looked up for the few that are shown."""

    engine: Engine
    base: ir.Table
    columns: tuple[int, ...]

    def behind(self, j: int, digests: Sequence[object]) -> Mapping[object, object]:
        """The text of each digest of column j; the values themselves where it has none."""
        if j not in self.columns:
            return {value: value for value in digests}
        rows = self.base.select(text=self.base[f"q{j}"], digest=md5(self.base[f"q{j}"]))
        wanted = rows.filter(rows["digest"].isin([d for d in digests if d is not None])).distinct()
        return {row["digest"]: row["text"] for row in self.engine.fetch(wanted).to_pylist()} | {None: None}


def isolated_people_values(
    classes: ClassTable, isolated: SubsetIsolation, request: ScanRequest, texts: DigestTexts
) -> tuple[dict[str, object], ...]:
    """The values of isolated people, those isolated by the fewest columns first; engines give them in any order."""
    assert isolated.fewest is not None
    quasi = request.quasi_identifiers
    owned = np.flatnonzero(classes.owner >= 0)
    fewest = isolated.fewest[classes.owner[owned]]
    owned, fewest = owned[fewest > 0], fewest[fewest > 0]
    ranks: list[NDArray[np.int64]] = [
        _value_ranks(classes.values[j])[classes.codes[j][owned]] for j in reversed(range(len(quasi)))
    ]
    rows = owned[np.lexsort((*ranks, fewest.astype(np.int64)))][:MOST_SHOWN]
    columns = []
    for j in range(len(quasi)):
        digests = [classes.values[j][int(code)].as_py() for code in classes.codes[j][rows]]
        behind = texts.behind(j, digests)
        columns.append([behind[digest] for digest in digests])
    made = []
    for place, row in enumerate(rows):
        values = {name: columns[j][place] for j, name in enumerate(quasi)}
        names, person = classes.people_values, request.person
        who = {} if person is None or names is None else {person: names[int(classes.owner[row])].as_py()}
        made.append({**who, **values, "fewest_columns": int(isolated.fewest[classes.owner[row]])})
    return tuple(made)


def _value_ranks(values: pyarrow.Array) -> NDArray[np.int64]:
    """The place of each distinct value of a column among the sorted ones."""
    made = np.empty(len(values), np.int64)
    made[pc.sort_indices(values).to_numpy()] = np.arange(len(values))
    return made
