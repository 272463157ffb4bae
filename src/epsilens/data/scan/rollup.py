"""Roll-ups: whom each subset of the columns isolates, from the table of classes alone.

A subset S isolates person p when some combination of S's values occurs in rows of p only. In terms of classes: the
classes that agree on S all have the owner p. Sorting does it: pack the codes of S and the owner into one 64-bit
word, sort, and look at the first and last word of each run of equal codes; the run has one owner exactly when they
are equal and not mixed. The runs are the classes of S, so a smaller subset starts from them, not from the data.

If S isolates p then so does every larger subset: p's fewest columns is the smallest size of a subset isolating p.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .classes import MIXED, ClassTable
from .result import ColumnShare

_SIZES = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 9), (10, 19), (20, 99), (100, None))
Subset: TypeAlias = tuple[int, ...]
Words: TypeAlias = NDArray[np.uint64]
Owners: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Isolated:
    """How many people each subset isolates, and for each owner the fewest columns that do (0 for never).

    ``by_size[k]`` counts the people isolated by some subset of k columns, and ``classes`` the combinations each
    subset takes. Only a roll-up of classes in numpy has ``fewest``.
    """

    counts: dict[Subset, int]
    classes: dict[Subset, int]
    by_size: dict[int, int]
    fewest: NDArray[np.uint8] | None = None


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
) -> Isolated:
    """Isolation by every subset, in numpy, each from the smallest superset already rolled up."""
    bits = [max(1, (card - 1).bit_length()) for card in classes.cards]
    owner_bits = max(1, classes.owners.bit_length())  # all ones is free to mean "mixed"
    fewest = np.zeros(classes.owners, np.uint8)
    tables: dict[Subset, _Packed] = {}
    counts: dict[Subset, int] = {}
    groups: dict[Subset, int] = {}

    def one(subset: Subset) -> tuple[Subset, int, int, _Packed | None]:
        source = _smallest(tables, subset)
        if source is None and sum(bits[j] for j in subset) + owner_bits <= 64:
            source = _pack(classes, subset, bits, owner_bits)
        if source is None:
            total, found = _by_lexsort(classes, subset)
            table = None
        else:
            total, found, table = _group(source, subset, owner_bits, classes.people_values is None)
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
    return Isolated(counts, groups, by_size, fewest)


def _smallest(tables: dict[Subset, _Packed], subset: Subset) -> _Packed | None:
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


def _group(source: _Packed, subset: Subset, owner_bits: int, once: bool) -> tuple[int, Owners, _Packed | None]:
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


# -- summaries ---------------------------------------------------------------------------------------------------------


def class_sizes(people: NDArray[Any], times: NDArray[Any]) -> dict[str, int]:
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
