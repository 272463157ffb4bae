"""A product of steps on points that lie close together where it matters, from both sides.

The losses of a rarely sampled step run over many orders of magnitude: nearly always next to nothing, and once in a
while large. No lattice of one spacing holds both. Here masses lie on any points, two laws are convolved pair by pair,
and the pairs are gathered on a grid again. H1-masses suffice: h(t) = E₁(1 − t·e^{−L})₊ grows with every loss.

Lemma C12 of docs/proofs/composition.md says what is split, merged, raised and dropped on either side. Losses are
rounded up, or down, by more than they can be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...checks import Array
from .quadrature import LEGENDRE, TooManyPanels, panels
from .step import ROUNDOFF, CountedStep, Step
from .tilt import ReadingQuery
from .wrappers import ReversedStep

_MASS_ERROR = 2e-13  # relative, of a mass by quadrature
_SLACK = 16 * ROUNDOFF  # of a loss, relative to those it was added up from
_PAIRS_AT_ONCE = 2**19  # pairs at once
_PAIRS_PER_PLACE = 2  # pairs that cost as much as a place
_NODES, _WEIGHTS = LEGENDRE[10]
_NODE_PLACES, _NODE_SHARES = (1 + _NODES) / 2, _WEIGHTS / 2


@dataclass(frozen=True, eq=False)
class GridLaw:
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
    steps: Sequence[CountedStep], flipped: bool, edges: Array, log_least: float, most: int
) -> tuple[GridLaw, GridLaw, float, int] | None:
    """(upper, lower) of the product on a grid, the relative error of its masses, and how many pairs it took.

    Of what has less H1-mass than e^``log_least`` in all, only the mass is kept. None if it takes more than ``most``
    pairs.
    """
    count = sum(k for _, k in steps)
    cut = log_least - math.log(8.0 * count)
    floor = math.exp(max(cut - 2 * math.log(edges.size) - math.log(64.0), -700.0))
    done: list[GridLaw | None] = [None, None]
    work = 0
    for step, k in steps:
        found = _step_laws(ReversedStep(step) if flipped else step, edges, cut, most / (_PAIRS_PER_PLACE * step.cost))
        if found is None:
            return None
        *ends, places = found
        work += math.ceil(_PAIRS_PER_PLACE * step.cost * places)
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
                        done[side] = _convolve(known, law, edges, floor, side == 0)
                left >>= 1
                if left:
                    work += law.mass.size**2 // 2
                    law = _convolve(law, law, edges, floor, side == 0)
                if work > most:
                    return None
    upper, lower = done
    assert upper is not None
    assert lower is not None
    rho = math.fsum(k * (_MASS_ERROR + step.rho + _SLACK * _size(step)) for step, k in steps) + 4 * ROUNDOFF * (
        work + 64.0
    )
    return upper, lower, rho, work


def _size(step: Step) -> float:
    return float(np.abs(step.atoms.log_p).max(initial=0.0))


def _step_laws(step: Step, edges: Array, cut: float, most: float) -> tuple[GridLaw, GridLaw, int] | None:
    """Both sides of one step, cut off where less than e^cut is left, and how many places were looked at.

    Of steps told apart all of them, rarer. None where there would be more than ``most`` places to look at.
    """
    upper, lower, tops = [], [], [0.0, 0.0]
    for one, share in step.components or ((step, 1.0),):
        placed = _step_masses(one, edges, cut, most)
        if placed is None:
            return None
        high, low, above, least = placed
        upper.append((high[0], share * high[1]))
        lower.append((low[0], share * low[1]))
        tops = [tops[0] + share * above, tops[1] + share * least]
    places = sum(loss.size for loss, _ in upper)
    return _spread(upper, edges, tops[0]), _merge(lower, edges, tops[1]), places


def _step_masses(
    step: Step, edges: Array, cut: float, most: float
) -> tuple[tuple[Array, Array], tuple[Array, Array], float, float] | None:
    """Losses and masses from above and from below, and for either what lies at +∞; None if more than ``most``."""
    atoms = step.atoms
    loss, mass, error = [atoms.loss], [np.exp(atoms.log_p)], [_SLACK * np.abs(atoms.loss)]
    top, above, below = atoms.only1, 0.0, 0.0
    if step.support is not None:
        low, high = step.cutoffs(cut, cut)
        places = np.clip(step.inverse_loss(edges), low, high)
        at = np.unique(np.concatenate((places[np.isfinite(places)], [low, high])))
        try:
            left, width, _ = panels(step, at, most / _NODE_PLACES.size)
        except TooManyPanels:
            return None
        x = (left[:, None] + width[:, None] * _NODE_PLACES).ravel()
        here = step.loss(x)
        loss.append(here)
        mass.append(np.exp(step.log_p0(x) + here) * (width[:, None] * _NODE_SHARES).ravel())
        error.append(step.error(x) + _SLACK * np.abs(here))
        above, below = math.exp(step.above(high)[0]), math.exp(step.below(low)[0])
        ends = step.loss(np.asarray([low, high]))
        # what lies beyond is at +∞, or no higher than where it was cut off
        loss.append(ends)
        mass.append(np.asarray([below, above]))
        error.append(step.error(np.asarray([low, high])) + _SLACK * np.abs(ends))
    losses, masses, errors = np.concatenate(loss), np.concatenate(mass), np.concatenate(error)
    upper, lower = masses.copy(), masses.copy()
    if step.support is not None:
        upper[-1], lower[-2] = 0.0, 0.0
    return (losses + errors, upper), (losses - errors, lower), top + above, top


def _convolve(one: GridLaw, other: GridLaw, edges: Array, floor: float, upper: bool) -> GridLaw:
    """Two laws observed together; of pairs with less than ``floor`` only the mass is kept."""
    same = one is other
    top = one.top + other.top * (1 - one.top) if one.top or other.top else 0.0
    sign = 1.0 if upper else -1.0
    a, b = (law.loss + sign * _SLACK * np.abs(law.loss) for law in (one, other))
    pieces, dropped = [], 0
    rows = max(_PAIRS_AT_ONCE // max(b.size, 1), 1)
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


def _spread(pieces: Sequence[tuple[Array, Array]], edges: Array, top: float) -> GridLaw:
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
    return GridLaw(edges[live], total[live], top)


def _merge(pieces: Sequence[tuple[Array, Array]], edges: Array, top: float) -> GridLaw:
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
    share = np.minimum(e[live] / p, 1 - 1e-12) * (1 - 4 * ROUNDOFF * count)
    loss = base - np.log1p(-np.maximum(share, 0.0))
    return GridLaw(loss - _SLACK * (np.abs(base) + np.abs(loss)), p, top)


# Readings of a product that lies on points, and the grids that a question asks for.
#
# h is linear in t between two points, so that δ, ε, the ROC curve and its inverse are a search each, as on a lattice
# (:mod:`.profile`). Sums run from the top and have positive terms alone: δ(0) = E₁(1 − e^{−L})₊ of losses of 1e-12 has
# as many digits as any.

_UNDERFLOW = 1e-300  # what doubles may have lost
_EVEN_UP_TO = 8.0  # up to which loss neighbours lie no further apart than that ratio's share of 1
_POINTS_BELOW = 100  # points below an answer; twice as many above
_POINTS_BETWEEN = 1200  # points between 0 and an answer


class _Side:
    """One side of h: at growing losses l, the masses p of H1, h, P(L ≥ l), and B = Σ p·e^{l−L} over L ≥ l."""

    def __init__(self, points: GridLaw, rho: float, upper: bool) -> None:
        more = 1 + rho if upper else 1 - rho
        self.loss, self.mass = points.loss, points.mass * more
        self.top = points.top * more + (_UNDERFLOW if upper else 0.0)
        fall = np.exp(-np.diff(self.loss))
        tail = np.empty(self.loss.size)
        value = 0.0
        for i in range(self.loss.size - 1, -1, -1):
            value = float(self.mass[i]) + (value * float(fall[i]) if i < fall.size else 0.0)
            tail[i] = value
        self.tail = tail
        steps = np.append(-np.expm1(-np.diff(self.loss)) * tail[1:], 0.0)
        self.h = np.cumsum(steps[::-1])[::-1] + self.top
        self.above = np.cumsum(self.mass[::-1])[::-1] + self.top
        with np.errstate(divide="ignore"):
            self.log_alpha = np.log(tail) - self.loss  # of rejecting at and above each point

    def delta(self, u: Array) -> Array:
        i = np.searchsorted(self.loss, u, side="right")
        j = np.minimum(i, self.loss.size - 1)
        value = self.h[j] + self.tail[j] * -np.expm1(np.minimum(u - self.loss[j], 0.0))
        return np.asarray(np.where(i < self.loss.size, value, self.top))

    def epsilon(self, delta: Array) -> Array:
        """The u with h(e^u) = δ; −∞ where h stays below, +∞ where it stays above."""
        i = np.searchsorted(-self.h, -delta, side="left")  # the first point with h ≤ δ
        j = np.minimum(i, self.loss.size - 1)
        share = np.minimum((delta - self.h[j]) / self.tail[j], 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.loss[j] + np.log1p(-share)
        return np.asarray(np.where(delta < self.top, np.inf, value))


class GridProfile:
    """Both sides of h; all answers are (low, high), probabilities as logarithms."""

    def __init__(self, upper: GridLaw, lower: GridLaw, rho: float, work: int) -> None:
        self._points, self._rho, self.work = (upper, lower), rho, work

    @cached_property
    def upper(self) -> _Side:
        return _Side(self._points[0], self._rho, True)

    @cached_property
    def lower(self) -> _Side:
        return _Side(self._points[1], self._rho, False)

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        u = np.asarray(epsilon, dtype=float)
        with np.errstate(divide="ignore"):
            return np.log(self.lower.delta(u)), np.minimum(np.log(self.upper.delta(u)), 0.0)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        delta = np.exp(np.asarray(log_delta, dtype=float))
        low, high = self.lower.epsilon(delta), self.upper.epsilon(delta)
        return low - 1e-14 * np.abs(low), high + 1e-14 * np.abs(high)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        la = np.asarray(log_alpha, dtype=float)
        side = self.upper
        i = np.searchsorted(-side.log_alpha, -la, side="left")
        high = np.zeros(la.shape)
        with np.errstate(divide="ignore"):
            for shift in (-1, 0, 1):
                j = np.clip(i + shift, 0, side.loss.size - 1)
                line = np.logaddexp(np.log(side.h[j]), side.loss[j] + la)
                high = np.minimum(high, line + 8 * ROUNDOFF * (np.abs(line) + np.abs(la) + np.abs(side.loss[j])))
        side = self.lower
        i = np.searchsorted(-side.log_alpha, -la, side="left")  # the first test that keeps to α
        j = np.maximum(i - 1, 0)
        after = np.append(side.log_alpha, -np.inf)[j + 1]
        recall = np.append(side.above, side.top)[j + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            last = np.exp(after - side.log_alpha[j])
            share = np.clip((np.exp(np.minimum(la - side.log_alpha[j], 0.0)) - last) / (1 - last), 0.0, 1.0)
            share = np.where(np.isnan(share), 0.0, share) * (1 - 1e-12)
            low = np.log((recall + share * side.mass[j]) * (1 - 1e-12))
        return np.maximum(low, la), high

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        lr = np.asarray(log_recall, dtype=float)
        wanted = np.exp(lr)
        side = self.upper
        i = np.searchsorted(-side.above, -wanted, side="left")
        low = np.full(lr.shape, -np.inf)
        with np.errstate(divide="ignore"):
            for shift in (-1, 0, 1):
                j = np.clip(i + shift, 0, side.loss.size - 1)
                low = np.maximum(low, np.log(np.maximum(wanted * (1 - 1e-13) - side.h[j], 0.0)) - side.loss[j])
        low -= 8 * ROUNDOFF * np.abs(low)
        side = self.lower
        i = np.searchsorted(-side.above, -wanted, side="left")
        j = np.maximum(i - 1, 0)
        recall, alpha = np.append(side.above, side.top)[j + 1], np.append(side.log_alpha, -np.inf)[j + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip((wanted * (1 + 1e-13) - recall) / side.mass[j], 0.0, 1.0)
            high = np.logaddexp(alpha, np.log(share * side.mass[j]) - side.loss[j])
        high = np.where(wanted > side.above[0], lr, np.minimum(high + 1e-12, lr))
        return low, np.asarray(high)

    def test(self, loss: float) -> tuple[float, float, float]:
        side = self.lower
        low, high = (float(v) for v in self.delta(np.asarray(loss)))
        i = int(np.searchsorted(side.loss, loss, side="right"))
        if i >= side.loss.size:
            return 0.0, side.top, high - low
        return min(math.exp(float(side.log_alpha[i])), 1.0), float(side.above[i]), high - low

    def threshold(self, ask: ReadingQuery) -> tuple[float, float]:
        """About where the loss decides a question, and how fast h falls there, −d log h/du."""
        side, value = self.upper, np.asarray(ask.value)
        if ask.kind == "delta":
            u = ask.value
        elif ask.kind == "epsilon":
            low, high = (float(v) for v in self.epsilon(value))
            u = 0.5 * (low + high) if math.isfinite(low) and math.isfinite(high) else high
        else:
            known, wanted = (-side.log_alpha, -value) if ask.kind == "roc" else (-side.above, -np.exp(value))
            u = float(side.loss[min(int(np.searchsorted(known, wanted)), side.loss.size - 1)])
        if not math.isfinite(u):
            u = float(side.loss[-1])
        steepest = 1e-6
        for apart in (0.02 * abs(u) + 1e-300, 0.1 * abs(u) + 1e-300):
            before, after = (float(v) for v in np.log(side.delta(np.asarray([u - apart, u + apart]))))
            steepest = max(steepest, (before - after) / (2 * apart))
        return u, steepest


def grid_profile(
    steps: Sequence[CountedStep],
    flipped: bool,
    ratio: float,
    ask: ReadingQuery,
    width: float,
    log_least: float,
    first: GridProfile | None,
    most: int,
) -> GridProfile | None:
    """The product on a grid with points a factor 1 + ``ratio`` apart; with a ``first`` one, close together where that
    says the question is decided. None where it would take too many pairs."""
    count = sum(k for _, k in steps)
    ends, typical = _extent(steps, flipped, log_least)
    even = 0.4 * ratio * np.arange(1, math.ceil(_EVEN_UP_TO / (0.4 * ratio)))
    near: Array = np.concatenate((-even[::-1], even))
    least = 1e-5 * typical
    if first is not None:
        u, fall = first.threshold(ask)
        scale, near = min(abs(u), 1.0), near[:0]
        if scale > 0:
            least = max(least, min(1e-2 * width * scale * scale / (count * typical), 1e-3 * scale))
            # the kink of (1 − t·e^{−L})₊ at the threshold, and how steeply masses fall elsewhere
            kink, slope = 0.5 * ratio / math.sqrt(fall * (fall + 1)), ratio / fall
            kink = max(min(kink, ratio * abs(u)), 1e-300)
            reach = min(4 / (fall + 1) / kink, _POINTS_BELOW)
            close = u + kink * np.arange(-math.ceil(reach), math.ceil(2 * reach))
            last = abs(u) + 8 / (fall + 1)
            between = np.arange(slope, last, max(slope, last / _POINTS_BETWEEN)) * math.copysign(1.0, u)
            near = np.concatenate((close, between))
            near = near[np.abs(near) > least]
    # each time masses are spread they move to the next point, and a bounded loss has much at its end
    often = (1 + ratio) ** (math.log2(count) + 2)
    bounds = [end for step, _ in steps for end in step.loss_range if math.isfinite(end) and abs(end) > least]
    twice = np.multiply.outer(np.asarray(bounds), 2.0 ** np.arange(math.floor(math.log2(count)) + 1)).ravel()
    near = np.concatenate((near, -twice if flipped else twice))
    edges = grid(least, ratio, (ends[0] * often, ends[1] * often), near)
    made = product(steps, flipped, edges, log_least, most)
    return None if made is None else GridProfile(*made)


def _extent(steps: Sequence[CountedStep], flipped: bool, log_least: float) -> tuple[tuple[float, float], float]:
    """The least and the largest loss that matter, and the mean size of one step's loss under H1."""
    low = high = typical = 0.0
    for step, k in [(one, k) for whole, k in steps for one, _ in whole.components or ((whole, 1.0),)]:
        losses, masses = [step.atoms.loss], [np.exp(step.atoms.log_p)]
        if step.support is not None:
            cut = log_least - math.log(16.0 * k)
            x = np.linspace(*step.cutoffs(cut, cut), 400)
            here = step.loss(x)
            losses.append(here)
            masses.append(np.exp(step.log_p0(x) + (0.0 if flipped else here)) * (x[1] - x[0]))
        loss, mass = np.concatenate(losses), np.concatenate(masses)
        a, b = float(loss.min()), float(loss.max())
        a, b = (-b, -a) if flipped else (a, b)
        low, high = low + k * min(a, 0.0), high + k * max(b, 0.0)
        typical = max(typical, float(mass @ np.abs(loss)))
    # the last point lies beyond all that matters
    return (low * 1.01 - 1e-300, high * 1.01 + 1e-300), max(typical, 1e-290)
