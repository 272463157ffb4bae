"""A product of steps on points that lie close together where it matters, from both sides.

The losses of a rarely sampled step run over many orders of magnitude: nearly always next to nothing, and once in a
while large. No lattice of one spacing holds both. Here masses lie on any points, two laws are convolved pair by pair,
and the pairs are gathered on a grid again. H1-masses suffice: h(t) = E₁(1 − t·e^{−L})₊ grows with every loss.

**Upper**: what lies between two grid points is split on them with its mean of e^{−L} kept, a spread, which
Blackwell-dominates; what lies beyond the last point counts as +∞, what lies below the first is raised to it. **Lower**:
what lies in one cell is merged into one outcome, which is dominated; what lies below the first point is dropped. Losses
are rounded up, or down, by more than they can be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from .moments import LEGENDRE, TooMany, panels
from .sampled import Swapped
from .step import Counted, Step

_U = 2.0**-53
_MASS_ERROR = 2e-13  # relative, of a mass by quadrature
_SLACK = 16 * _U  # of a loss, relative to those it was added up from
_ROWS = 2**19  # pairs at once
_LOOKED = 2  # pairs that cost as much as a place
_NODES, _WEIGHTS = LEGENDRE[10]
_AT, _SHARE = (1 + _NODES) / 2, _WEIGHTS / 2


@dataclass(frozen=True, eq=False)
class Points:
    """H1-masses at growing losses, and ``top`` at +∞; on one side of what they stand for."""

    loss: Array
    mass: Array
    top: float


def grid(least: float, ratio: float, ends: tuple[float, float], near: Array) -> Array:
    """0, points a factor 1 + ``ratio`` apart from ``least`` up to either end, and those ``near`` an answer."""
    parts = [np.zeros(1), near]
    for sign, end in ((-1.0, -ends[0]), (1.0, ends[1])):
        if end > least:
            count = math.ceil(math.log(end / least) / math.log1p(ratio)) + 1
            parts.append(sign * np.geomspace(least, end, count))
        elif end > 0:
            parts.append(np.asarray([sign * end]))
    found = np.unique(np.concatenate(parts))
    apart = np.concatenate(([True], np.diff(found) > 1e-9 * np.abs(found[1:])))  # no cells of rounding alone
    return np.asarray(found[apart])


def product(
    steps: Sequence[Counted], flipped: bool, edges: Array, log_least: float, most: int
) -> tuple[Points, Points, float, int] | None:
    """(upper, lower) of the product on a grid, the relative error of its masses, and how many pairs it took.

    Of what has less H1-mass than e^``log_least`` in all, only the mass is kept. None if it takes more than ``most``
    pairs.
    """
    count = sum(k for _, k in steps)
    cut = log_least - math.log(8.0 * count)
    floor = math.exp(max(cut - 2 * math.log(edges.size) - math.log(64.0), -700.0))
    done: list[Points | None] = [None, None]
    work = 0
    for step, k in steps:
        found = _of_step(Swapped(step) if flipped else step, edges, cut, most / (_LOOKED * step.price))
        if found is None:
            return None
        *ends, places = found
        work += math.ceil(_LOOKED * step.price * places)
        for side in (0, 1):
            law = ends[side]
            left = k
            while left:
                if left & 1:
                    known = done[side]
                    if known is None:
                        done[side] = law
                    else:
                        work += known.mass.size * law.mass.size
                        done[side] = _times(known, law, edges, floor, side == 0)
                left >>= 1
                if left:
                    work += law.mass.size**2 // 2
                    law = _times(law, law, edges, floor, side == 0)
                if work > most:
                    return None
    upper, lower = done
    assert upper is not None
    assert lower is not None
    rho = math.fsum(k * (_MASS_ERROR + step.rho + _SLACK * _size(step)) for step, k in steps) + 4 * _U * (work + 64.0)
    return upper, lower, rho, work


def _size(step: Step) -> float:
    """The largest logarithm of an atom's mass, which is rounded."""
    return float(np.abs(step.atoms.log_p).max(initial=0.0))


def _of_step(step: Step, edges: Array, cut: float, most: float) -> tuple[Points, Points, int] | None:
    """Both sides of one step, cut off where less than e^cut is left, and how many places were looked at.

    Of steps told apart all of them, rarer. None where there would be more than ``most`` places to look at.
    """
    upper, lower, tops = [], [], [0.0, 0.0]
    for one, share in step.branches or ((step, 1.0),):
        placed = _placed(one, edges, cut, most)
        if placed is None:
            return None
        high, low, above, least = placed
        upper.append((high[0], share * high[1]))
        lower.append((low[0], share * low[1]))
        tops = [tops[0] + share * above, tops[1] + share * least]
    places = sum(loss.size for loss, _ in upper)
    return _spread(upper, edges, tops[0]), _merge(lower, edges, tops[1]), places


def _placed(
    step: Step, edges: Array, cut: float, most: float
) -> tuple[tuple[Array, Array], tuple[Array, Array], float, float] | None:
    """Losses and masses from above and from below, and for either what lies at +∞; None if more than ``most``."""
    atoms = step.atoms
    loss, mass, error = [atoms.loss], [np.exp(atoms.log_p)], [_SLACK * np.abs(atoms.loss)]
    top, above, below = atoms.only1, 0.0, 0.0
    if step.span is not None:
        low, high = step.reach(cut, cut)
        places = np.clip(step.place(edges), low, high)
        at = np.unique(np.concatenate((places[np.isfinite(places)], [low, high])))
        try:
            left, width, _ = panels(step, at, most / _AT.size)
        except TooMany:
            return None
        x = (left[:, None] + width[:, None] * _AT).ravel()
        here = step.loss(x)
        loss.append(here)
        mass.append(np.exp(step.log_p0(x) + here) * (width[:, None] * _SHARE).ravel())
        error.append(step.error(x) + _SLACK * np.abs(here))
        above, below = math.exp(step.above(high)[0]), math.exp(step.below(low)[0])
        ends = step.loss(np.asarray([low, high]))
        # what lies beyond is at +∞, or no higher than where it was cut off
        loss.append(ends)
        mass.append(np.asarray([below, above]))
        error.append(step.error(np.asarray([low, high])) + _SLACK * np.abs(ends))
    losses, masses, errors = np.concatenate(loss), np.concatenate(mass), np.concatenate(error)
    upper, lower = masses.copy(), masses.copy()
    if step.span is not None:
        upper[-1], lower[-2] = 0.0, 0.0
    return (losses + errors, upper), (losses - errors, lower), top + above, top


def _times(one: Points, other: Points, edges: Array, floor: float, upper: bool) -> Points:
    """Two laws observed together; of pairs with less than ``floor`` only the mass is kept."""
    same = one is other
    top = one.top + other.top * (1 - one.top) if one.top or other.top else 0.0
    sign = 1.0 if upper else -1.0
    a, b = (law.loss + sign * _SLACK * np.abs(law.loss) for law in (one, other))
    pieces, dropped = [], 0
    rows = max(_ROWS // max(b.size, 1), 1)
    for first in range(0, a.size, rows):
        part = slice(first, first + rows)
        start = first if same else 0  # a pair and its mirror image have the same loss
        mass = np.multiply.outer(one.mass[part], other.mass[start:])
        if same:
            square = mass[:, : mass.shape[0]]
            mass *= 2.0
            square[np.tril_indices(mass.shape[0], -1)] = 0.0
            np.fill_diagonal(square, np.diagonal(square) / 2)
        keep = mass > floor
        dropped += mass.size - int(np.count_nonzero(keep))
        pieces.append((np.add.outer(a[part], b[start:])[keep], mass[keep]))
    if upper:
        return _spread(pieces, edges, top + dropped * floor)
    return _merge(pieces, edges, top)


def _spread(pieces: Sequence[tuple[Array, Array]], edges: Array, top: float) -> Points:
    """Each mass on the grid points beside it."""
    size = edges.size
    total, widths = np.zeros(size), np.expm1(-np.diff(edges))
    for loss, mass in pieces:
        cell = np.searchsorted(edges, loss, side="right") - 1
        beyond = cell >= size - 1
        if beyond.any():
            top += float(mass[beyond].sum())
            loss, mass, cell = loss[~beyond], mass[~beyond], cell[~beyond]
        np.maximum(cell, 0, out=cell)
        up = np.expm1(-np.maximum(loss - edges[cell], 0.0)) / widths[cell]
        up = np.minimum(up, 1.0) * mass
        total += np.bincount(cell, mass - up, size)
        total[1:] += np.bincount(cell, up, size - 1)
    live = total > 0
    return Points(edges[live], total[live], top)


def _merge(pieces: Sequence[tuple[Array, Array]], edges: Array, top: float) -> Points:
    """Each cell as one outcome, of the loss that both laws' masses give it."""
    size, count = edges.size, 1
    p, e = np.zeros(size), np.zeros(size)
    for loss, mass in pieces:
        cell = np.searchsorted(edges, loss, side="right") - 1
        inside = cell >= 0
        if not inside.all():
            loss, mass, cell = loss[inside], mass[inside], cell[inside]
        p += np.bincount(cell, mass, size)
        e += np.bincount(cell, mass * -np.expm1(edges[cell] - loss), size)
        count += loss.size
    live = p > 0
    p, base = p[live], edges[live]
    share = np.minimum(e[live] / p, 1 - 1e-12) * (1 - 4 * _U * count)
    loss = base - np.log1p(-np.maximum(share, 0.0))
    return Points(loss - _SLACK * (np.abs(base) + np.abs(loss)), p, top)
