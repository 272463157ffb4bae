"""What an attacker looks at: a fixed panel of scores of an outcome, and a few learnt on past runs.

Fixed: a cell's value, its distance from the middle, the finest power of two it is a multiple of (floating-point noise
gives itself away by it), whether it is missing, how many cells there are, differences and ratios of cells. Learnt: the
likelihood ratio of kinds, texts and atoms by their past counts, of all cells by their past medians, and a linear rule.
What is learnt is learnt on other runs than those its cuts are ranked on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .game import Bits
from .outcomes import Outcomes

_CELLS = 8  # looked at one by one: those that differ most between the worlds
_PAIRED = 5  # looked at in pairs
_ATOMS = 2_000
_WIDEST = 600  # of cells in a rule that knows how they go together


class Looks(StrEnum):
    """What is looked at."""

    VALUE = "value"
    DISTANCE = "distance"
    GRAIN = "grain"
    MISSING = "missing"
    ENTRIES = "entries"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    KIND = "kind"
    TEXT = "text"
    ATOM = "atom"
    LIKELIHOOD = "likelihood"
    LINEAR = "linear"


@dataclass(frozen=True, eq=False)
class Statistic(ABC):
    """A score of each run; NaN where it says nothing."""

    looks: Looks
    columns: tuple[int, ...] = ()

    @abstractmethod
    def score(self, outcomes: Outcomes) -> Array:
        """The scores."""


def _column(outcomes: Outcomes, at: int) -> Array:
    return outcomes.values[:, at] if at < outcomes.values.shape[1] else np.full(len(outcomes), np.nan)


def grain(x: Array) -> Array:
    """The k for which 2^k is the largest power of two that x is a multiple of; 2000 for 0, NaN for what is not finite.

    >>> grain(np.array([1.0, 0.75, 6.0, 0.1, 0.0])).tolist()
    [0.0, -2.0, 1.0, -55.0, 2000.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(float))
    return np.asarray(np.where(np.isfinite(x), np.where(whole == 0, 2000.0, exponent - 53 + lowest), np.nan))


@dataclass(frozen=True, eq=False)
class _Cell(Statistic):
    middle: float = 0.0

    def score(self, outcomes: Outcomes) -> Array:
        x = _column(outcomes, self.columns[0])
        match self.looks:
            case Looks.VALUE:
                return x
            case Looks.DISTANCE:
                return np.asarray(np.abs(x - self.middle))
            case Looks.GRAIN:
                return grain(x)
        return np.isnan(x).astype(float)


@dataclass(frozen=True, eq=False)
class _Entries(Statistic):
    """How many cells have a number: of many names that a person may be given away by, each is rare."""

    def score(self, outcomes: Outcomes) -> Array:
        return np.asarray((~np.isnan(outcomes.values)).sum(axis=1), dtype=float)


@dataclass(frozen=True, eq=False)
class _Pair(Statistic):
    def score(self, outcomes: Outcomes) -> Array:
        a, b = (_column(outcomes, at) for at in self.columns)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(a - b if self.looks is Looks.DIFFERENCE else a / b)


@dataclass(frozen=True, eq=False)
class Codebook(Statistic):
    """log((c₁+½)/(c₀+½)) of a code by its past counts; silent about a code that never came up."""

    codes: NDArray[np.float64] = None  # type: ignore[assignment]
    ratios: Array = None  # type: ignore[assignment]

    def score(self, outcomes: Outcomes) -> Array:
        """The past ratio of each run's code."""
        x = _codes(outcomes, self.looks, self.columns)
        at = np.minimum(np.searchsorted(self.codes, x), self.codes.size - 1)
        return np.asarray(np.where(self.codes[at] == x, self.ratios[at], np.nan))


def _codes(outcomes: Outcomes, looks: Looks, columns: tuple[int, ...]) -> Array:
    if looks is Looks.KIND:
        return outcomes.kinds.astype(float)
    if looks is Looks.ATOM:
        return _column(outcomes, columns[0])
    held = outcomes.texts
    return held[:, columns[0]].astype(float) if columns[0] < held.shape[1] else np.full(len(outcomes), -1.0)


def _codebook(looks: Looks, columns: tuple[int, ...], past: Outcomes, bits: Bits) -> Codebook | None:
    x = _codes(past, looks, columns)
    seen = ~np.isnan(x)
    codes, at = np.unique(x[seen], return_inverse=True)
    if not 1 < codes.size <= _ATOMS:
        return None
    ones = np.bincount(at, weights=bits[seen], minlength=codes.size)
    zeros = np.bincount(at, minlength=codes.size) - ones
    return Codebook(looks, columns, codes, np.log((ones + 0.5) / (zeros + 0.5)))


@dataclass(frozen=True, eq=False)
class _Likelihood(Statistic):
    """Σ |x − m₀|/s − |x − m₁|/s over the cells: the likelihood ratio of Laplace noise about past medians."""

    zero: Array = None  # type: ignore[assignment]
    one: Array = None  # type: ignore[assignment]
    scale: Array = None  # type: ignore[assignment]

    def score(self, outcomes: Outcomes) -> Array:
        x = _wide(outcomes, self.columns)
        return np.asarray(np.nansum((np.abs(x - self.zero) - np.abs(x - self.one)) / self.scale, axis=1))


@dataclass(frozen=True, eq=False)
class _Linear(Statistic):
    """w·x with Fisher's weights, shrunk: the likelihood ratio of normal noise."""

    centre: Array = None  # type: ignore[assignment]
    weights: Array = None  # type: ignore[assignment]

    def score(self, outcomes: Outcomes) -> Array:
        x = _wide(outcomes, self.columns) - self.centre
        return np.asarray(np.where(np.isfinite(x), x, 0.0) @ self.weights)


def _wide(outcomes: Outcomes, columns: tuple[int, ...]) -> Array:
    have = outcomes.values.shape[1]
    if columns and columns[-1] < have:
        return outcomes.values[:, list(columns)]
    return np.column_stack([_column(outcomes, at) for at in columns])


# -- the panel --------------------------------------------------------------------------------------------------------


def _usable(past: Outcomes) -> list[int]:
    """Columns with more than one value, NaN included."""
    x = past.values
    if not x.size:
        return []
    with np.errstate(invalid="ignore"):
        low = np.where(np.isnan(x), np.inf, x).min(axis=0)
        high = np.where(np.isnan(x), -np.inf, x).max(axis=0)
    missing = np.isnan(x).any(axis=0)
    return np.flatnonzero((high > low) | (missing & np.isfinite(low))).tolist()


def _telling(past: Outcomes, bits: Bits, columns: list[int], most: int) -> list[int]:
    """Those of the columns that differ most between the two worlds, in place or in spread."""
    if len(columns) <= most or not bits.any() or bits.all():  # of one world alone nothing is told
        return columns[:most]
    x = past.values[:, columns]
    middle = np.nanmedian(x[: min(len(x), 2000)], axis=0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = np.zeros(len(columns))
        for y in (x, np.abs(x - middle)):
            y = np.where(np.isfinite(y), y, 0.0)
            spread = y.std(axis=0)
            gap = np.fmax(gap, np.abs(y[bits].mean(axis=0) - y[~bits].mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    return [columns[i] for i in np.argsort(-gap, kind="stable")[:most].tolist()]


def fixed(past: Outcomes, bits: Bits, *, low_bits: bool = True) -> list[Statistic]:
    """The scores that are not learnt; of many cells, those that differ most between the worlds on these runs."""
    usable = _usable(past)
    made: list[Statistic] = []
    cells = _telling(past, bits, usable, _CELLS)
    for at in cells:
        x = past.values[:, at]
        known = x[np.isfinite(x)]
        made.append(_Cell(Looks.VALUE, (at,)))
        if known.size:
            made.append(_Cell(Looks.DISTANCE, (at,), float(np.median(known))))
            made += [_Cell(Looks.GRAIN, (at,))] if low_bits else []
        if known.size < x.size:
            made.append(_Cell(Looks.MISSING, (at,)))
    if len(usable) > 1 and np.isnan(past.values).any():
        made.append(_Entries(Looks.ENTRIES))
    paired = cells[:_PAIRED]
    for i, a in enumerate(paired):
        for b in paired[i + 1 :]:
            made += [_Pair(Looks.DIFFERENCE, (a, b)), _Pair(Looks.RATIO, (a, b))]
    return made


def learnt(past: Outcomes, bits: Bits) -> list[Statistic]:
    """The scores learnt on these runs, to be ranked on others."""
    made: list[Statistic | None] = [_codebook(Looks.KIND, (), past, bits)]
    made += [_codebook(Looks.TEXT, (at,), past, bits) for at in range(min(past.texts.shape[1], 4 * _CELLS))]
    usable = _usable(past)
    for at in _telling(past, bits, usable, _CELLS):
        x = past.values[:, at]
        if 2 * np.unique(x[: min(x.size, 4000)]).size <= min(x.size, 4000):
            made.append(_codebook(Looks.ATOM, (at,), past, bits))
    if len(usable) > 1 and bits.any() and not bits.all():
        made += [_likelihood(past, bits, usable), _linear(past, bits, _telling(past, bits, usable, _WIDEST))]
    return [statistic for statistic in made if statistic is not None]


def _likelihood(past: Outcomes, bits: Bits, columns: list[int]) -> Statistic | None:
    x = past.values[:, columns]
    full = np.isfinite(x).any(axis=0) & np.isfinite(x[bits]).any(axis=0) & np.isfinite(x[~bits]).any(axis=0)
    columns = [columns[i] for i in np.flatnonzero(full).tolist()]
    if not columns:
        return None
    x = np.where(np.isinf(x[:, full]), np.nan, x[:, full])
    zero, one = np.nanmedian(x[~bits], axis=0), np.nanmedian(x[bits], axis=0)
    scale = 0.5 * (np.nanmean(np.abs(x[~bits] - zero), axis=0) + np.nanmean(np.abs(x[bits] - one), axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    return _Likelihood(Looks.LIKELIHOOD, tuple(columns), zero, one, scale)


def _linear(past: Outcomes, bits: Bits, columns: list[int]) -> Statistic | None:
    columns = sorted(columns)
    x = past.values[:, columns]
    x = np.where(np.isfinite(x), x, np.nan)
    with np.errstate(invalid="ignore"):
        held = ~np.isnan(x).all(axis=0)
    columns = [columns[i] for i in np.flatnonzero(held).tolist()]
    if not columns:
        return None
    x = x[:, held]
    with np.errstate(over="ignore", invalid="ignore"):  # of squares of numbers near the largest: no rule then
        return _fisher(x, bits, columns)


def _fisher(x: Array, bits: Bits, columns: list[int]) -> Statistic | None:
    """The rule for cells each of which has a number."""
    centre = np.nanmean(x, axis=0)
    x = np.where(np.isnan(x), 0.0, x - centre)
    gap = x[bits].mean(axis=0) - x[~bits].mean(axis=0)
    within = x - np.where(bits[:, None], x[bits].mean(axis=0), x[~bits].mean(axis=0))
    spread = np.maximum((within**2).mean(axis=0), 1e-300)
    if len(columns) <= _WIDEST:  # shrunk towards cells that do not go together, the more so the fewer the runs
        share = min(1.0, len(columns) / (len(columns) + len(x) / 2) + 1e-6)
        covariance = (1 - share) * (within.T @ within) / len(x) + share * np.diag(spread) + 1e-12 * np.diag(spread)
        try:
            weights = np.linalg.solve(covariance, gap)
        except np.linalg.LinAlgError:
            weights = gap / spread
    else:
        weights = gap / spread
    return _Linear(Looks.LINEAR, tuple(columns), centre, weights) if np.isfinite(weights).all() else None
