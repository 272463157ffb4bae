"""The table of classes: one pass over the data, in the engine; codes and owners, in numpy.

A *class* is the set of rows that share one combination of all quasi-identifiers. A class with rows of a single
person is *owned* by that person; any other is *mixed*. Count-distinct does not roll up from a finer grouping to
a coarser one, but owners do: the union of classes has one owner exactly when all of them have that owner. So the
owner of each class, found in one pass, is all that every subset of the columns needs (:mod:`.rollup`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..tables.dialect import md5
from ..tables.engines import Engine
from ..tables.resources import memory

#: Up to this many values of classes leave an engine that is not DuckDB inside the process, a million classes of five
#: columns: what a driver of 1 GB can hand over at once.
FETCHED = 5_000_000
MIXED = -1
#: Texts of more characters than this, on average, are long.
LONG_TEXT = 64
_FEW, _SAMPLE = 1_000, 100_000

Integers: TypeAlias = NDArray[np.int64]


class TooManyClasses(Exception):  # noqa: N818 - a signal between two rooms, never seen outside
    """The class table outgrew :func:`local_classes`."""


@dataclass(frozen=True)
class Shape:
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
    values: tuple[Any, ...]
    sizes: tuple[Integers, Integers]
    owner: NDArray[np.int32]
    owners: int
    gaps: NDArray[np.float64]
    people_values: Any | None

    @property
    def cards(self) -> tuple[int, ...]:
        """How many values each column takes."""
        return tuple(max(1, len(v)) for v in self.values)


def local_classes(kind: str, shape: Shape) -> int:
    """How many classes are rolled up in numpy; more stay in the engine.

    A class takes its codes twice, as they come and joined, with its owner, people and gaps; and words to sort.
    """
    size = 12 * shape.columns + 16 * shape.queries + 64
    return min(memory().arrays // size, 32_000_000 if kind == "duckdb" else FETCHED // shape.columns)


def class_expression(base: Any, shape: Shape) -> Any:
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
    engine: Engine,
    expression: Any,
    shape: Shape,
    limit: int,
    progress: Callable[[int], None] | None = None,
) -> ClassTable:
    """Stream the classes out of the engine, numbering each column's values as they come.

    The engine's threads produce the next batch while a pool numbers the last one. Values themselves are kept
    once per column; per class only int32 codes stay.
    """
    names = shape.keys + (["o"] if shape.person else [])
    parts: list[dict[str, Any]] = []
    seen = 0
    with ThreadPoolExecutor(2) as pool:
        waiting = []
        # An engine that cannot stream hands over all rows at once: then no more than are wanted.
        for batch in engine.batches(expression if engine.kind == "duckdb" else expression.limit(limit + 1)):
            seen += batch.num_rows
            if seen > limit:
                raise TooManyClasses
            waiting.append(pool.submit(_digest, batch, names, shape.queries))
            if progress:
                progress(seen)
        parts = [w.result() for w in waiting if w.result()["size"]]
    owned = _join([p.pop("alone") for p in parts], np.bool_)
    sizes = _histogram([p.pop("sizes") for p in parts])
    owner = np.full(len(owned), MIXED, np.int32)
    if shape.person:
        codes, people_values = _unify([p.pop("o") for p in parts])
        owner[owned] = codes[owned]
        owners = len(people_values)
    else:
        people_values = None
        owners = int(np.count_nonzero(owned))
        owner[owned] = np.arange(owners, dtype=np.int32)
    with ThreadPoolExecutor(2) as pool:
        coded = list(pool.map(lambda name: _unify([p.pop(name) for p in parts]), shape.keys))
    gaps = np.zeros((shape.queries, owners))
    for i in range(shape.queries):
        weights = _join([p[f"c{i}"] for p in parts], np.float64)
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


def long_texts(engine: Engine, base: Any, shape: Shape) -> tuple[int, ...]:
    """The columns of long texts, judged by the first rows: their digests are grouped instead, which are short."""
    texts = [j for j, name in enumerate(shape.keys) if base[name].type().is_string()]
    if not texts:
        return ()
    some = base.select(*(f"q{j}" for j in texts)).limit(_FEW)
    got = engine.fetch(some.aggregate(**{f"q{j}": some[f"q{j}"].length().mean() for j in texts})).to_pylist()[0]
    return tuple(j for j in texts if (got[f"q{j}"] or 0) > LONG_TEXT)


def with_digests(base: Any, columns: Sequence[int]) -> Any:
    """``base`` with a digest of 128 bits in place of the texts of these columns."""
    return base.mutate(**{f"q{j}": md5(base[f"q{j}"]) for j in columns}) if columns else base


def crowded(engine: Engine, base: Any, shape: Shape) -> bool:
    """Whether nearly every row is a class of its own, judged by the first rows; only speed depends on it.

    Grouping such a table costs the engine its longest hash table and saves nothing; the rows are then coded in the
    engine and rolled up here (:mod:`.alone`).
    """
    some = base.select(*shape.keys).limit(_SAMPLE)
    each = some.group_by(shape.keys).agg(n=some.count())
    got = engine.fetch(each.aggregate(classes=each.count(), rows=each["n"].sum())).to_pylist()[0]
    return bool(got["rows"] == _SAMPLE and got["classes"] > 0.8 * _SAMPLE)


def _digest(batch: Any, names: Sequence[str], queries: int) -> dict[str, Any]:
    """One batch as (values, codes) per column and plain arrays for the numbers."""
    made: dict[str, Any] = {"size": batch.num_rows}
    for name in names:
        # null_encoding="encode" makes NULL one of the values: an attacker can know that nothing is recorded.
        coded = batch.column(name).dictionary_encode(null_encoding="encode")
        made[name] = (coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).copy())
    people = batch.column("people").to_numpy(zero_copy_only=False)
    made["alone"] = people == 1
    made["sizes"] = np.unique(people, return_counts=True)
    for i in range(queries):
        column = batch.column(f"c{i}").cast("float64").fill_null(0.0)
        made[f"c{i}"] = column.to_numpy(zero_copy_only=False)
    return made


def _unify(parts: Sequence[tuple[Any, NDArray[np.int32]]]) -> tuple[NDArray[np.int32], Any]:
    """Codes into one list of values from codes into a list per batch."""
    import pyarrow as pa

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


def _join(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts).astype(kind, copy=False) if parts else np.empty(0, kind)
