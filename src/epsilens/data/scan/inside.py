"""Roll-ups inside the engine, for more classes than this machine should hold: only counts leave it.

The codes of a class stand in one whole number, its word; a subset's classes are the words cut to its bits, so that an
engine groups by one number and no text. A class is someone's where its least and largest owner are equal; both roll up
by min and max. Where every row is a person the owner is the word itself, and whoever is alone on a subset is alone on
every larger one: a larger one then looks only at those whom a smaller one left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..tables.engines import Engine, need_ibis
from .classes import Shape
from .codes import Worded, worded
from .rollup import Isolated, Subset


@dataclass
class Inside:
    """What a roll-up finds: isolation, (people sharing a class, classes), and each query's (gap, people)."""

    isolated: Isolated
    sizes: tuple[NDArray[np.int64], NDArray[np.int64]]
    gaps: tuple[tuple[NDArray[np.float64], NDArray[np.int64]], ...]


@dataclass
class _Made:
    """A table (``w``, ``lo``, ``hi``) to start from, its length, and who was left out of it, by number."""

    table: Any
    size: int
    classes: int = 0
    people: int = 0


def roll_up_inside(
    engine: Engine,
    classes: Any,
    shape: Shape,
    subsets: Sequence[Subset],
    progress: Callable[[int, int], None] | None = None,
) -> Inside:
    """Isolation by every subset, from a table of classes (:func:`~.classes.class_expression`) kept by the engine."""
    owners = ["o", "h"] if shape.person else []
    words = worded(engine, classes, shape, ["people", *owners, *shape.sums])
    if words is None:
        raise InputError(
            f"quasi_identifiers has {len(shape.keys)} columns whose values do not fit 62 bits together, in a table too "
            "long for this memory: give more with --memory 8GB, EPSILENS_MEMORY=8GB or epsilens.use_memory('8GB'), or "
            "name fewer columns",
            parameter="quasi_identifiers",
        )
    table = words.table
    ibis = need_ibis()
    if shape.person:
        table = table.rename(lo="o", hi="h")
    else:
        alone = table["people"] == 1
        table = table.mutate(lo=ibis.ifelse(alone, table["w"], -1), hi=ibis.ifelse(alone, table["w"], -2))
    table = engine.cache(table)
    counted = engine.fetch(table.group_by("people").agg(n=table.count()))
    sizes = _whole(counted["people"]), _whole(counted["n"])
    work = _Work(engine, words, table, int(sizes[1].sum()), not shape.person, len(subsets), progress)
    isolated = work.roll_up(subsets)
    everyone = work.everyone(tuple(range(len(shape.keys))))
    gaps = []
    for name in shape.sums:
        owned = table.filter(table["lo"] == table["hi"])
        owned = owned if everyone is None else owned.semi_join(everyone, "lo")
        each = owned.group_by("lo").agg(gap=owned[name].sum())
        got = engine.fetch(each.group_by("gap").agg(n=each.count()))
        gaps.append((got["gap"].to_numpy().astype(float), _whole(got["n"])))
    return Inside(isolated, sizes, tuple(gaps))


def _whole(column: Any) -> NDArray[np.int64]:
    return np.asarray([int(x) for x in column.to_pylist()], np.int64)


@dataclass
class _Work:
    """A roll-up under way."""

    engine: Engine
    words: Worded
    table: Any
    size: int
    once: bool
    total: int
    progress: Callable[[int, int], None] | None
    people: dict[Subset, int] = field(default_factory=dict)
    classes: dict[Subset, int] = field(default_factory=dict)
    found: dict[Subset, Any] = field(default_factory=dict)
    made: dict[Subset, _Made] = field(default_factory=dict)
    rest: dict[Subset, _Made] = field(default_factory=dict)

    def roll_up(self, subsets: Sequence[Subset]) -> Isolated:
        """The full combination is the table; then small subsets that leave few, then the others, larger ones first."""
        full = tuple(range(len(self.words.masks)))
        self.made[full] = _Made(self.table, self.size)
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
        return Isolated(self.people, self.classes, self._by_size(full, subsets))

    def _spread(self, subset: Subset) -> int:
        return math.prod(self.words.cards[j] for j in subset)

    def _down(self, subset: Subset) -> None:
        """A subset from the shortest table of a larger one, kept for smaller ones."""
        source = min((m for s, m in self.made.items() if set(subset) <= set(s)), key=lambda m: m.size)
        cut = source.table.mutate(w=source.table["w"] & self._mask(subset))
        rolled = self.engine.cache(cut.group_by("w").agg(lo=cut["lo"].min(), hi=cut["hi"].max()))
        self.made[subset] = _Made(rolled, self._counted(subset, rolled))

    def _counted(self, subset: Subset, rolled: Any) -> int:
        """The classes of a subset, and the people who have one; returns how many classes there are."""
        owned = rolled.filter(rolled["lo"] == rolled["hi"]).select("lo")
        owned = owned if self.once else owned.distinct()
        got = self.engine.fetch(rolled.aggregate(n=rolled.count()).cross_join(owned.aggregate(k=owned.count())))
        self._add(subset, got["n"][0].as_py(), got["k"][0].as_py(), owned)
        return self.classes[subset]

    def _up(self, subset: Subset, source: _Made) -> None:
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
            self.rest[subset] = _Made(rest, left, source.classes + number["alone"], people)

    def _mask(self, subset: Subset) -> int:
        return sum(self.words.masks[j] for j in subset)

    def _add(self, subset: Subset, classes: int, people: int, owners: Any) -> None:
        self.classes[subset], self.people[subset], self.found[subset] = int(classes), int(people), owners
        if self.progress:
            self.progress(len(self.classes), self.total)

    def _by_size(self, full: Subset, subsets: Sequence[Subset]) -> dict[int, int]:
        """How many people some subset of each size isolates: everyone has a fewest, and larger ones do as well."""
        sizes = sorted({len(s) for s in subsets})
        smaller = [self.found[s].mutate(size=len(s)) for s in subsets if s != full]
        reached = dict.fromkeys(sizes, 0)
        if smaller:
            union = smaller[0] if len(smaller) == 1 else need_ibis().union(*smaller)
            fewest = union.group_by("lo").agg(size=union["size"].min())
            got = self.engine.fetch(fewest.group_by("size").agg(n=fewest.count())).to_pylist()
            times = {int(row["size"]): int(row["n"]) for row in got}
            reached = {k: sum(n for size, n in times.items() if size <= k) for k in sizes}
        return reached | ({len(full): self.people[full]} if full in subsets else {})

    def everyone(self, full: Subset) -> Any | None:
        """The owners whom some subset isolates; None for all who have a class."""
        if full in self.found:
            return None
        owners = list(self.found.values())
        return (owners[0] if len(owners) == 1 else need_ibis().union(*owners)).distinct()
