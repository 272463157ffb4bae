"""Whom each subset of the columns isolates where every row is a person: from codes of the rows, not from classes.

Where all columns together have few combinations, the rows are counted into an array of cells (:mod:`.cells`);
otherwise each row becomes one word of codes, and these are sorted in parts (:mod:`.parts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..tables.engines import Engine
from ..tables.resources import memory
from .cells import EMPTY, NEVER, SHARED, Cells, Count, affordable, blocks, merge
from .codes import Coded
from .parts import Layout, Table, classes_of
from .rollup import Isolated, Subset

Words: TypeAlias = NDArray[np.uint64]
Told: TypeAlias = Callable[[int, int], None]


@dataclass
class Alone:
    """What a roll-up of rows finds: isolation, (people sharing a class, classes), and each query's (gap, people)."""

    isolated: Isolated
    sizes: tuple[NDArray[np.int64], NDArray[np.int64]]
    gaps: tuple[tuple[NDArray[np.float64], NDArray[np.int64]], ...]


def roll_up_rows(
    engine: Engine,
    coded: Coded,
    rows: int,
    queries: int,
    subsets: Sequence[Subset],
    seen: Callable[[int], None] | None = None,
    progress: Told | None = None,
) -> Alone | None:
    """Isolation by every subset; None where the codes are too wide, or the rows too many, for the memory allowed."""
    full = tuple(range(len(coded.cards)))
    cells = math.prod(coded.cards)
    room = int(0.6 * memory().size)
    batches = _Batches(engine, coded, queries, seen)
    if cells <= affordable(rows) and cells * (24 + 8 * queries) <= room:
        own, sizes, gaps = _all_cells(batches, cells)
        count = Count(np.full(cells, NEVER))
        merge(own.reshape(coded.cards), full, subsets, count, progress)
    else:
        layout = Layout.of(coded.cards)
        if layout.spare < 16 or rows * (10 + 16 * queries) > room or rows >= SHARED:
            return None
        words, gaps = batches.words(layout, rows)
        words, shared, sizes, gaps = classes_of(words, gaps)
        count = Count(np.full(len(words), NEVER))
        if not Table(words, shared, layout, coded.cards, count).roll_up(subsets, progress):
            return None
    return Alone(_isolated(count, subsets), sizes, tuple(_histogram(g, count.fewest) for g in gaps))


def _isolated(count: Count, subsets: Sequence[Subset]) -> Isolated:
    times = sum((np.bincount(part, minlength=256) for part in blocks(count.fewest)), np.zeros(256, np.int64))
    by_size = {k: int(times[: k + 1].sum()) for k in sorted({len(s) for s in subsets})}
    people = {s: int(count.people[s]) for s in subsets}
    return Isolated(people, {s: int(count.classes[s]) for s in subsets}, by_size, None)


def _histogram(gaps: NDArray[np.float64], fewest: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    values, people = np.unique(gaps[fewest != NEVER], return_counts=True)
    return values, people.astype(np.int64)


@dataclass(frozen=True)
class _Batches:
    """The rows as the engine streams them; a pool turns one batch into codes while the engine makes the next."""

    engine: Engine
    coded: Coded
    queries: int
    seen: Callable[[int], None] | None

    def _each(self, make: Callable[[Any], Any]) -> Iterator[tuple[Any, list[NDArray[np.float64]]]]:
        seen = 0
        with ThreadPoolExecutor(1) as pool:
            waiting = None
            for batch in self.engine.batches(self.coded.table):
                ahead = pool.submit(lambda batch: (make(batch), self._gaps(batch)), batch)
                seen += batch.num_rows
                if self.seen:
                    self.seen(seen)
                if waiting is not None:
                    yield waiting.result()
                waiting = ahead
            if waiting is not None:
                yield waiting.result()

    def _gaps(self, batch: Any) -> list[NDArray[np.float64]]:
        columns = (batch.column(f"c{i}").cast("float64").fill_null(0.0) for i in range(self.queries))
        return [column.to_numpy(zero_copy_only=False) for column in columns]

    def places(self) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.float64]]]]:
        """The cell of each row among those of all columns."""

        def make(batch: Any) -> NDArray[np.int64]:
            made = np.zeros(batch.num_rows, np.int64)
            for j, card in enumerate(self.coded.cards):
                made *= card
                made += self.coded.codes(batch, j)
            return made

        return self._each(make)

    def words(self, layout: Layout, rows: int) -> tuple[Words, NDArray[np.float64]]:
        """The codes of each row in one word, and its contributions."""

        def make(batch: Any) -> Words:
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


def _all_cells(
    batches: _Batches, cells: int
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
