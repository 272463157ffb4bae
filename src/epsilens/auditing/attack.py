"""What is bet on: a score cut into cells, and the events that its tails make.

The cells of a score are learnt on past runs. An event names the second world in one tail and the first in the other, or
a world in one tail alone; the tails are nested, small ones and large ones, up to a single cut that always speaks. How
often each cell came up in each world is all that a bet needs to know of the runs that follow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import Array
from .game import Bits
from .outcomes import Outcomes
from .statistics import Statistic

#: Cells of a score at most, the last one for runs of which it says nothing; and events made of them.
CELLS, _EVENTS = 24, 80
_TAILS = 7  # sizes of a tail, as powers grow
_SHARES = (0.2, 0.3, 0.4)
_RARE = 0.1  # of the runs


@dataclass(frozen=True, eq=False)
class Attack:
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
        score = self.statistic.score(outcomes)
        return _counted(score, self.edges, bits)

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


def _counted(score: Array, edges: Array, bits: Bits) -> Array:
    cell = np.where(np.isnan(score), CELLS - 1, np.searchsorted(edges, score, side="right"))
    return np.bincount(2 * cell + bits, minlength=2 * CELLS).reshape(CELLS, 2).astype(float)


def attack_on(statistic: Statistic, outcomes: Outcomes, bits: Bits) -> Attack | None:
    """The cells and events of a score on these runs; None where it does not vary."""
    score = statistic.score(outcomes)
    known = ~np.isnan(score)
    x = np.sort(score[known])
    n = x.size
    if n < 2 or not x[0] < x[-1]:
        return None
    sizes = np.concatenate((np.geomspace(min(3, n / 2), n / 2, _TAILS), np.array(_SHARES) * n)).astype(int)
    sizes = np.clip(sizes, 1, n - 1)
    low, high = x[sizes], x[n - sizes]  # a tail begins at a value, so ties stay together
    edges = np.unique(np.concatenate((low, high, _between(score[known], bits[known]))))
    edges = edges[edges > x[0]]
    if not edges.size:
        edges = x[np.searchsorted(x, x[0], side="right")][None]
    past = _counted(score, edges, bits)
    names, nested = _events(past, edges, n)
    return Attack(statistic, edges, x[np.searchsorted(x, edges) - 1], past, names, nested)


def _between(score: Array, bits: Bits) -> Array:
    """Where the worlds have not overlapped so far, half-way between them; nothing where they have.

    So the next runs fall on their own sides; whole numbers are cut at a whole number.

    >>> _between(np.array([0.0, 1.0, 9.5, 10.0]), np.array([False, False, True, True])).tolist()
    [5.25]
    >>> _between(np.array([0.0, 2.0, 1.0]), np.array([False, False, True])).tolist()
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


def _events(past: Array, edges: Array, n: int) -> tuple[NDArray[np.int8], Array]:
    cells = edges.size + 1
    under = np.cumsum(past[:cells].sum(axis=1))[:-1]  # runs below each edge
    lead = np.cumsum(past[:cells, 1] - past[:cells, 0])  # of the second world, in the cells up to each
    total, lead = lead[-1], lead[:-1]
    names = np.zeros((_EVENTS, CELLS), dtype=np.int8)
    nested = np.zeros(_EVENTS)
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
        if i < j <= last and row < _EVENTS:
            share = (under[i] + n - under[j]) / n
            nested[row] = share / (share + _RARE)
            put(i, j, 1 if (total - lead[j]) - lead[i] >= 0 else -1)
    return names, nested


def perfect_attack(runs: int) -> Attack:
    """An attack that has never erred, on so many runs of each world."""
    past = np.zeros((CELLS, 2))
    past[0, 0] = past[1, 1] = runs
    names, nested = _events(past, np.zeros(1), 2 * runs)
    return Attack(None, np.zeros(1), np.zeros(1), past, names, nested)
