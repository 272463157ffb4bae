"""Subsets of few combinations as arrays with a cell for each: empty, one row's, or several rows'.

A smaller subset is the array of a larger one with an axis merged; nothing is sorted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .rollup import Subset

#: A subset of at most this many combinations is an array of cells.
MOST_CELLS = 1 << 24
#: What is in a cell that is nobody's; an owner's number otherwise.
EMPTY, SHARED = -1, np.iinfo(np.int32).max
#: The fewest columns of an owner whom no subset isolates.
NEVER = np.uint8(255)
#: Long arrays are gone through in steps of this many.
BLOCK = 1 << 20

Cells: TypeAlias = NDArray[np.int32]
Told: TypeAlias = Callable[[int, int], None]


@dataclass
class Count:
    """The counts under way; ``fewest`` is the least size of a subset that isolates each owner."""

    fewest: NDArray[np.uint8]
    people: Counter[Subset] = field(default_factory=Counter)
    classes: Counter[Subset] = field(default_factory=Counter)

    def found(self, subset: Subset, owners: NDArray[Any]) -> None:
        """The subset isolates these owners."""
        self.fewest[owners] = np.minimum(self.fewest[owners], len(subset))


def affordable(rows: int) -> int:
    """How many cells an array for so many rows may have: few rows are sorted sooner than many cells are merged."""
    return min(MOST_CELLS, 4 * rows + 65_536)


def blocks(array: NDArray[Any], size: int = BLOCK) -> Iterator[NDArray[Any]]:
    """The array in pieces of a size that costs little to copy."""
    for start in range(0, len(array), size):
        yield array[start : start + size]


def merge(own: Cells, of: Subset, subsets: Iterable[Subset], count: Count, progress: Told | None = None) -> None:
    """Every subset of the array's columns that is asked for, each from the smallest array that has its columns."""
    arrays = {of: own}
    wanted = [s for s in subsets if set(s) <= set(of)]
    for done, subset in enumerate(wanted, 1):  # the larger ones come first
        source = min((s for s in arrays if set(subset) <= set(s)), key=lambda s: arrays[s].size)
        if source != subset:
            arrays[subset] = without(arrays[source], tuple(i for i, j in enumerate(source) if j not in subset))
        array = arrays[subset]
        owners = array[(array != EMPTY) & (array != SHARED)]
        count.people[subset] += len(owners)
        count.classes[subset] += int(np.count_nonzero(array != EMPTY))
        count.found(subset, owners)
        if progress:
            progress(done, len(wanted))


def without(array: Cells, axes: tuple[int, ...]) -> Cells:
    """The cells merged along some axes: of one owner where all that are not empty are.

    >>> without(np.array([[3, EMPTY], [1, 1], [EMPTY, EMPTY], [0, 2]], np.int32), (1,)) == [3, 1, EMPTY, SHARED]
    array([ True,  True,  True,  True])
    """
    most = array.max(axis=axes)  # shared is the largest, empty the smallest
    least = array.view(np.uint32).min(axis=axes).view(np.int32)  # unsigned, empty is the largest
    return np.where(most == least, most, SHARED).astype(np.int32, copy=False)
