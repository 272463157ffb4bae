"""The law of what one query publishes at one ε: how far from the whole table's answers, and how often hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from ..data.queries import Noise, QueryKind
from ..mechanisms.noise import tail
from ..plan.answers import Answer
from ..plan.contribution import Noisy, noisy_of
from ..plan.noise import scale_of, threshold_of
from ..plan.plan import Release
from .errors import additive, additive_miss, ratio, ratio_miss, thresholded

#: How many releases the error is to hold in.
LEVEL = 0.95
_MANY, _FEW = 32, 4


def together(groups: int, level: float = LEVEL) -> float:
    """The level at which each of several independent bands must hold so that all hold together: level^(1/k).

    >>> [round(together(k), 6) for k in (1, 6)]
    [0.95, 0.991488]
    """
    return float(level ** (1 / max(groups, 1)))


@dataclass(frozen=True, eq=False)
class Columns:
    """The answers of a query, a column for each of their numbers."""

    value: Array
    bounded: Array
    rows: Array
    people: Array

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Columns:
        """From the answers, in their order."""
        numbers = [(a.value, a.bounded, a.rows, a.people) for a in answers]
        return cls(*np.array(numbers, dtype=float).reshape(-1, 4).T)

    def take(self, which: NDArray[np.integer[Any]]) -> Columns:
        """Some of them."""
        return Columns(self.value[which], self.bounded[which], self.rows[which], self.people[which])

    def without_bias(self) -> Columns:
        """As if the answers after limits and bounds were those of the whole table."""
        return Columns(self.bounded, self.bounded, self.rows, self.people)


@dataclass(frozen=True, eq=False)
class Law:
    """What is published at one ε.

    ``scale`` is that of the noise on an answer, or on the total of an average, whose size has ``size_scale`` (0 where
    the size is public). ``threshold`` is compared with the noisy number of people, noise of ``people_scale``; where
    that is None, with the noisy answer itself.
    """

    noise: Noise
    columns: Columns
    scale: float
    size_scale: float = 0.0
    bounds: tuple[float, float] | None = None  # of an average; nothing else is clamped after the noise
    threshold: float | None = None
    people_scale: float | None = None

    @property
    def hidden(self) -> Array:
        """The chance that the threshold hides each group."""
        if self.threshold is None:
            return np.zeros_like(self.columns.value)
        own = self.people_scale is None
        seen, scale = (self.columns.bounded, self.scale) if own else (self.columns.people, self.people_scale)
        chance = tail(self.noise, (seen - self.threshold) / (scale or 1e-300))
        return np.where(self.columns.people > 0, chance, 1.0)  # where nobody counts there is nothing to name

    def open(self) -> Law:
        """The same without its threshold: every group is published."""
        return replace(self, threshold=None, people_scale=None)

    def of(self, columns: Columns) -> Law:
        """The same for other answers."""
        return replace(self, columns=columns)

    def miss(self, error: Array) -> Array:
        """P(|published − value| > error), the threshold apart."""
        c = self.columns
        if self.bounds is None:
            return additive_miss(self.noise, c.bounded - c.value, np.asarray(self.scale), error)
        return ratio_miss(self.noise, c.bounded, c.value, c.rows, self.bounds, self.scale, self.size_scale, error)

    def errors(self, level: float = LEVEL) -> Array:
        """For each group the error that is exceeded, or the answer hidden, in 1 − level of all releases."""
        c, miss = self.columns, self._allowed(level)
        if self.bounds is not None:
            return self._of_ratios(miss)
        if self.threshold is not None and self.people_scale is None:
            found = thresholded(self.noise, c.bounded, c.value, self.scale, self.threshold, np.asarray(1 - level))
            return np.where(c.people > 0, found, np.inf)
        found = additive(self.noise, c.bounded - c.value, np.asarray(self.scale), np.where(miss > 0, miss, 0.5))
        return np.where(miss > 0, found, np.inf)

    def _allowed(self, level: float) -> Array:
        """How often each group may miss when it is published; 0 or less where it is hidden too often already."""
        if self.threshold is None or (self.people_scale is None and self.bounds is None):
            return np.full_like(self.columns.value, 1 - level)
        hidden = self.hidden
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(hidden < 1 - level, (1 - level - hidden) / (1 - hidden), 0.0)

    @property
    def _most(self) -> Array:
        """How far a clamped answer can be from the true one."""
        low, high = self.bounds or (0.0, 0.0)
        return np.maximum(np.abs(high - self.columns.value), np.abs(self.columns.value - low))

    def _of_ratios(self, miss: Array) -> Array:
        """Groups that are alike are read once."""
        c = self.columns
        alike, first, place = np.unique(
            np.column_stack((c.value, c.bounded, c.rows, miss)), axis=0, return_index=True, return_inverse=True
        )
        one = self.of(c.take(first))
        found = ratio(one.miss, one._most, alike[:, 3])
        return np.where(alike[:, 3] > 0, found, np.inf)[place.reshape(-1)]

    def worst(self, level: float = LEVEL) -> tuple[int, float]:
        """The group with the largest error for its answer, and that share; answers of 0 are left out."""
        rated: NDArray[np.integer[Any]] = np.flatnonzero(self.columns.value)
        if not rated.size:
            return -1, np.inf
        if self.bounds is not None and rated.size > _MANY:
            rated = self._suspects(rated, level)
        with np.errstate(over="ignore"):
            shares = self.of(self.columns.take(rated)).errors(level) / np.abs(self.columns.value[rated])
        place = int(np.argmax(shares))
        return int(rated[place]), float(shares[place])

    def _suspects(self, rated: NDArray[np.integer[Any]], level: float) -> NDArray[np.integer[Any]]:
        """The averages that may be the worst: those beyond the error of some that look bad, and these."""
        law = self.of(self.columns.take(rated))
        c, size = law.columns, np.abs(law.columns.value)
        wide = self.scale + np.abs(c.bounded) * self.size_scale
        looks = np.minimum(np.abs(c.bounded - c.value) + 3 * wide / np.maximum(c.rows, 1.0), law._most) / size
        bad = np.argsort(-looks, kind="stable")[:_FEW]
        allowed = law._allowed(level)
        missing = np.flatnonzero(allowed <= 0)
        if missing.size:
            return rated[missing[[np.argmin(size[missing])]]]
        share = np.max(law.of(c.take(bad)).errors(level) / size[bad])
        return rated[np.union1d(bad, np.flatnonzero(law.miss(share * size) > allowed))]


def law_of(plan: Release, i: int, columns: Columns, epsilon: float) -> Law:
    """What query i publishes at a total ε."""
    query, kinds = plan.queries[i], noisy_of(plan.queries[i])
    average = query.kind is QueryKind.AVERAGE
    if average and query.bounds:  # noise around nothing is noise around the middle
        middle = query.bounds[0] / 2 + query.bounds[1] / 2
        columns = replace(columns, bounded=np.where(columns.rows > 0, columns.bounded, middle))
    return Law(
        plan.mechanism.noise,
        columns,
        scale_of(plan, i, Noisy.TOTAL if average else Noisy.ANSWER, epsilon),
        scale_of(plan, i, Noisy.SIZE, epsilon) if Noisy.SIZE in kinds else 0.0,
        query.bounds if average else None,
        threshold_of(plan, i, epsilon),
        scale_of(plan, i, Noisy.PEOPLE, epsilon) if Noisy.PEOPLE in kinds else None,
    )
