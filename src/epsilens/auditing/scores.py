"""What an attacker looks at: a fixed panel of scores of an outcome, and a few learnt on past runs.

Fixed: a cell's value, its distance from the middle, the finest power of two it is a multiple of (floating-point noise
gives itself away by it), whether it is missing, how many cells there are, differences and ratios of cells. Learnt: the
likelihood ratio of kinds, texts and atoms by their past counts, of all cells by their past medians, and a linear rule.
What is learnt is learnt on other runs than those its cuts are ranked on.

What is bet on: a score cut into cells, and the events that its tails make.

The cells of a score are learnt on past runs. An event names the second world in one tail and the first in the other, or
a world in one tail alone; the tails are nested, small ones and large ones, up to a single cut that always speaks. How
often each cell came up in each world is all that a bet needs to know of the runs that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .outcomes import Outcomes
from .sources import Bits

_SINGLE_COLUMNS = 8  # looked at one by one: those that differ most between the worlds
_PAIRED_COLUMNS = 5  # looked at in pairs
_ATOMS = 2_000
_MOST_LINEAR = 600  # of cells in a rule that knows how they go together


class Feature(StrEnum):
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
class Statistic:
    """What is looked at, in which columns, and the score of each run; NaN where it says nothing."""

    looks: Feature
    columns: tuple[int, ...]
    score: Callable[[Outcomes], Array]


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


def _cell_statistic(looks: Feature, at: int, of: Callable[[Array], Array]) -> Statistic:
    return Statistic(looks, (at,), lambda outcomes: np.asarray(of(_column(outcomes, at))))


def _entry_count(outcomes: Outcomes) -> Array:
    """How many cells have a number: of many names that a person may be given away by, each is rare."""
    return np.asarray((~np.isnan(outcomes.values)).sum(axis=1), dtype=float)


def _pair_statistic(looks: Feature, columns: tuple[int, int], of: np.ufunc) -> Statistic:
    def score(outcomes: Outcomes) -> Array:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(of(*(_column(outcomes, at) for at in columns)))

    return Statistic(looks, columns, score)


@dataclass(frozen=True, eq=False)
class Codebook(Statistic):
    """log((c₁+½)/(c₀+½)) of a code by its past counts; silent about a code that never came up."""

    codes: Array
    ratios: Array


def _codes(outcomes: Outcomes, looks: Feature, columns: tuple[int, ...]) -> Array:
    if looks is Feature.KIND:
        return outcomes.kinds.astype(float)
    if looks is Feature.ATOM:
        return _column(outcomes, columns[0])
    held = outcomes.texts
    return held[:, columns[0]].astype(float) if columns[0] < held.shape[1] else np.full(len(outcomes), -1.0)


def _codebook(looks: Feature, columns: tuple[int, ...], past: Outcomes, bits: Bits) -> Codebook | None:
    x = _codes(past, looks, columns)
    seen = ~np.isnan(x)
    codes, at = np.unique(x[seen], return_inverse=True)
    if not 1 < codes.size <= _ATOMS:
        return None
    ones = np.bincount(at, weights=bits[seen], minlength=codes.size)
    zeros = np.bincount(at, minlength=codes.size) - ones
    ratios = np.log((ones + 0.5) / (zeros + 0.5))

    def score(outcomes: Outcomes) -> Array:
        x = _codes(outcomes, looks, columns)
        at = np.minimum(np.searchsorted(codes, x), codes.size - 1)
        return np.asarray(np.where(codes[at] == x, ratios[at], np.nan))

    return Codebook(looks, columns, score, codes, ratios)


def _select_columns(outcomes: Outcomes, columns: Sequence[int]) -> Array:
    have = outcomes.values.shape[1]
    if columns and columns[-1] < have:
        return outcomes.values[:, list(columns)]
    return np.column_stack([_column(outcomes, at) for at in columns])


# -- the panel --------------------------------------------------------------------------------------------------------


def _varying_columns(past: Outcomes) -> list[int]:
    """Columns with more than one value, NaN included."""
    x = past.values
    if not x.size:
        return []
    with np.errstate(invalid="ignore"):
        low = np.where(np.isnan(x), np.inf, x).min(axis=0)
        high = np.where(np.isnan(x), -np.inf, x).max(axis=0)
    missing = np.isnan(x).any(axis=0)
    return np.flatnonzero((high > low) | (missing & np.isfinite(low))).tolist()


def _most_different(past: Outcomes, bits: Bits, columns: list[int], most: int) -> list[int]:
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


def fixed_statistics(past: Outcomes, bits: Bits, *, low_bits: bool = True) -> list[Statistic]:
    """The scores that are not learnt; of many cells, those that differ most between the worlds on these runs."""
    usable = _varying_columns(past)
    made: list[Statistic] = []
    cells = _most_different(past, bits, usable, _SINGLE_COLUMNS)
    for at in cells:
        x = past.values[:, at]
        known = x[np.isfinite(x)]
        made.append(_cell_statistic(Feature.VALUE, at, np.asarray))
        if known.size:
            middle = float(np.median(known))
            made.append(_cell_statistic(Feature.DISTANCE, at, lambda x, middle=middle: np.abs(x - middle)))  # type: ignore[misc]
            made += [_cell_statistic(Feature.GRAIN, at, grain)] if low_bits else []
        if known.size < x.size:
            made.append(_cell_statistic(Feature.MISSING, at, lambda x: np.isnan(x).astype(float)))
    if len(usable) > 1 and np.isnan(past.values).any():
        made.append(Statistic(Feature.ENTRIES, (), _entry_count))
    for pair in combinations(cells[:_PAIRED_COLUMNS], 2):
        made += [
            _pair_statistic(Feature.DIFFERENCE, pair, np.subtract),
            _pair_statistic(Feature.RATIO, pair, np.divide),
        ]
    return made


def learnt_statistics(past: Outcomes, bits: Bits) -> list[Statistic]:
    """The scores learnt on these runs, to be ranked on others."""
    made: list[Statistic | None] = [_codebook(Feature.KIND, (), past, bits)]
    made += [_codebook(Feature.TEXT, (at,), past, bits) for at in range(min(past.texts.shape[1], 4 * _SINGLE_COLUMNS))]
    usable = _varying_columns(past)
    for at in _most_different(past, bits, usable, _SINGLE_COLUMNS):
        x = past.values[:, at]
        if 2 * np.unique(x[: min(x.size, 4000)]).size <= min(x.size, 4000):
            made.append(_codebook(Feature.ATOM, (at,), past, bits))
    if len(usable) > 1 and bits.any() and not bits.all():
        made += [
            _likelihood_ratio(past, bits, usable),
            _linear_rule(past, bits, _most_different(past, bits, usable, _MOST_LINEAR)),
        ]
    return [statistic for statistic in made if statistic is not None]


def _likelihood_ratio(past: Outcomes, bits: Bits, columns: list[int]) -> Statistic | None:
    """Σ |x − m₀|/s − |x − m₁|/s over the cells: the likelihood ratio of Laplace noise about past medians."""
    x = past.values[:, columns]
    full = np.isfinite(x).any(axis=0) & np.isfinite(x[bits]).any(axis=0) & np.isfinite(x[~bits]).any(axis=0)
    columns = [columns[i] for i in np.flatnonzero(full).tolist()]
    if not columns:
        return None
    x = np.where(np.isinf(x[:, full]), np.nan, x[:, full])
    zero, one = np.nanmedian(x[~bits], axis=0), np.nanmedian(x[bits], axis=0)
    scale = 0.5 * (np.nanmean(np.abs(x[~bits] - zero), axis=0) + np.nanmean(np.abs(x[bits] - one), axis=0))
    scale = np.where(scale > 0, scale, 1.0)

    def score(outcomes: Outcomes) -> Array:
        x = _select_columns(outcomes, columns)
        return np.asarray(np.nansum((np.abs(x - zero) - np.abs(x - one)) / scale, axis=1))

    return Statistic(Feature.LIKELIHOOD, tuple(columns), score)


def _linear_rule(past: Outcomes, bits: Bits, columns: list[int]) -> Statistic | None:
    """w·x with Fisher's weights, shrunk: the likelihood ratio of normal noise."""
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
        centre = np.nanmean(x, axis=0)
        x = np.where(np.isnan(x), 0.0, x - centre)
        gap = x[bits].mean(axis=0) - x[~bits].mean(axis=0)
        within = x - np.where(bits[:, None], x[bits].mean(axis=0), x[~bits].mean(axis=0))
        spread = np.maximum((within**2).mean(axis=0), 1e-300)
        # shrunk towards cells that do not go together, the more so the fewer the runs
        share = min(1.0, len(columns) / (len(columns) + len(x) / 2) + 1e-6)
        covariance = (1 - share) * (within.T @ within) / len(x) + share * np.diag(spread) + 1e-12 * np.diag(spread)
        try:
            weights = np.linalg.solve(covariance, gap)
        except np.linalg.LinAlgError:
            weights = gap / spread

    def score(outcomes: Outcomes) -> Array:
        x = _select_columns(outcomes, columns) - centre
        return np.asarray(np.where(np.isfinite(x), x, 0.0) @ weights)

    return Statistic(Feature.LINEAR, tuple(columns), score) if np.isfinite(weights).all() else None


#: Cells of a score at most, the last one for runs of which it says nothing; and events made of them.
MOST_CELLS, _MOST_EVENTS = 24, 80
_TAIL_SIZES = 7  # sizes of a tail, as powers grow
_TAIL_SHARES = (0.2, 0.3, 0.4)
_RARE_SHARE = 0.1  # of the runs


@dataclass(frozen=True, eq=False)
class ScoreAttack:
    """A score, its cells and its events, with the counts of past runs: (cells, 2).

    ``names`` has a row for each event: 1 in cells where it names the second world, −1 the first, 0 where it is silent.
    ``nested`` are weights of the events with two tails of about one size, from small ones to a single cut: all alike
    but for those that hardly ever speak.
    """

    statistic: Statistic | None
    edges: Array  # the least value of each cell but the first
    tops: Array  # the largest past value below each edge
    past: Array
    names: NDArray[np.int8]
    nested: Array

    def count(self, outcomes: Outcomes, bits: Bits) -> Array:
        """How often each cell came up in each world: (cells, 2)."""
        assert self.statistic is not None
        return _count_cells(self.statistic.score(outcomes), self.edges, bits)

    def guesses(self) -> tuple[Array, Array]:
        """Right and wrong guesses of each event on past runs."""
        second, first = (self.names > 0).astype(float), (self.names < 0).astype(float)
        zero, one = self.past.T
        return second @ one + first @ zero, second @ zero + first @ one

    def tails(self, event: int) -> tuple[float, float, int | None, int | None]:
        """(low, high, world below, world above) of an event: named up to ``low``, and from ``high`` on."""
        row = self.names[event, : self.edges.size + 1]
        below = above = None
        low, high = -np.inf, np.inf
        if row[0]:
            low = float(self.tops[int(np.argmax(row != row[0])) - 1])
            below = int(row[0] > 0)
        if row[-1]:
            high = float(self.edges[row.size - 1 - int(np.argmax(row[::-1] != row[-1]))])
            above = int(row[-1] > 0)
        return low, high, below, above


def _count_cells(score: Array, edges: Array, bits: Bits) -> Array:
    cell = np.where(np.isnan(score), MOST_CELLS - 1, np.searchsorted(edges, score, side="right"))
    return np.bincount(2 * cell + bits, minlength=2 * MOST_CELLS).reshape(MOST_CELLS, 2).astype(float)


def score_attack(statistic: Statistic, outcomes: Outcomes, bits: Bits) -> ScoreAttack | None:
    """The cells and events of a score on these runs; None where it does not vary."""
    score = statistic.score(outcomes)
    known = ~np.isnan(score)
    x = np.sort(score[known])
    n = x.size
    if n < 2 or not x[0] < x[-1]:
        return None
    sizes = np.concatenate((np.geomspace(min(3, n / 2), n / 2, _TAIL_SIZES), np.array(_TAIL_SHARES) * n)).astype(int)
    sizes = np.clip(sizes, 1, n - 1)
    low, high = x[sizes], x[n - sizes]  # a tail begins at a value, so ties stay together
    edges = np.unique(np.concatenate((low, high, _gap_cut(score[known], bits[known]))))
    edges = edges[edges > x[0]]
    if not edges.size:
        edges = x[np.searchsorted(x, x[0], side="right")][None]
    past = _count_cells(score, edges, bits)
    names, nested = _tail_events(past, edges, n)
    return ScoreAttack(statistic, edges, x[np.searchsorted(x, edges) - 1], past, names, nested)


def _gap_cut(score: Array, bits: Bits) -> Array:
    """Where the worlds have not overlapped so far, half-way between them; nothing where they have.

    So the next runs fall on their own sides; whole numbers are cut at a whole number.

    >>> _gap_cut(np.array([0.0, 1.0, 9.5, 10.0]), np.array([False, False, True, True])).tolist()
    [5.25]
    >>> _gap_cut(np.array([0.0, 2.0, 1.0]), np.array([False, False, True])).tolist()
    []
    """
    zero, one = score[~bits], score[bits]
    if not zero.size or not one.size:
        return np.zeros(0)
    low, high = (zero.max(), one.min()) if zero.max() < one.min() else (one.max(), zero.min())
    if not low < high:
        return np.zeros(0)
    with np.errstate(invalid="ignore"):
        middle = 0.5 * low + 0.5 * high  # NaN between two infinities
    if np.all(score == np.floor(score)):
        middle = np.ceil(middle)
    return np.array([middle if low < middle <= high else high])


def _tail_events(past: Array, edges: Array, n: int) -> tuple[NDArray[np.int8], Array]:
    cells = edges.size + 1
    under = np.cumsum(past[:cells].sum(axis=1))[:-1]  # runs below each edge
    lead = np.cumsum(past[:cells, 1] - past[:cells, 0])  # of the second world, in the cells up to each
    total, lead = lead[-1], lead[:-1]
    names = np.zeros((_MOST_EVENTS, MOST_CELLS), dtype=np.int8)
    nested = np.zeros(_MOST_EVENTS)
    row = 0

    def put(down: int | None, up: int | None, world_up: int) -> None:
        """Cells below edge ``down`` and from edge ``up`` on; the upper tail names ``world_up`` (±1)."""
        nonlocal row
        if down is not None:
            names[row, : down + 1] = -world_up
        if up is not None:
            names[row, up + 1 : cells] = world_up
        row += 1

    last = edges.size - 1
    for i in range(edges.size):
        put(i, None, 1 if lead[i] < 0 else -1)
        put(None, i, 1 if total - lead[i] >= 0 else -1)
        put(i, i, 1 if total - 2 * lead[i] >= 0 else -1)
    middle = int(np.argmin(np.abs(under - n / 2)))
    nested[3 * middle + 2] = 1.0
    for i in range(middle):
        # the upper tail of the size next to that of the lower one
        j = int(np.argmin(np.abs((n - under) - under[i])))
        if i < j <= last and row < _MOST_EVENTS:
            share = (under[i] + n - under[j]) / n
            nested[row] = share / (share + _RARE_SHARE)
            put(i, j, 1 if (total - lead[j]) - lead[i] >= 0 else -1)
    return names, nested


def perfect_attack(runs: int) -> ScoreAttack:
    """An attack that has never erred, on so many runs of each world."""
    past = np.zeros((MOST_CELLS, 2))
    past[0, 0] = past[1, 1] = runs
    names, nested = _tail_events(past, np.zeros(1), 2 * runs)
    return ScoreAttack(None, np.zeros(1), np.zeros(1), past, names, nested)
