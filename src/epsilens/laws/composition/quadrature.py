"""Quadrature of a step, and its moments from it, with relative precision however small the loss.

Panels are short enough for whatever is integrated; those of the moments are halved until ten Gauss–Legendre nodes agree
with twenty, only where the integrand matters: an order of 1e6 takes about as long as one of 2.

Two readings sum up the whole curve of a product, from both sides: the area under it, and the best Fβ. Both are taken as
what exceeds the reading of pure noise, which keeps its digits where a release says next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ...checks import Array
from ...numerics.special import Index, expm1mx
from .step import ROUNDOFF, Step

LEGENDRE = {n: np.polynomial.legendre.leggauss(n) for n in (2, 3, 5, 10, 20)}
_PANEL_CHANGE = 4.0  # the change of a log density over a panel of ten nodes
_BRANCH_CHANGE, _EXPONENT_CHANGE = 3.0, 10.0  # of twenty: of what is not entire, and of exponents that may be complex

ERROR = 1e-11  # relative, of what quadrature gives; tested against mpmath
_NORMAL_REACH = 39.0  # normal mass beyond is below 1e-330
_FARTHEST = 1e300  # beyond which places, doubled, are no doubles
_AGREEMENT = 1e-13  # between a panel and its halves, relative
_NEGLIGIBLE_DROP = 45.0  # e^{−45} of the whole does not count
_UNSEEN_LOG = -720.0  # log mass that no moment needs
_MOST_PANELS, _MOST_LEVELS = 20_000, 200
_NODES, _WEIGHTS = LEGENDRE[10]
_PANEL_PLACES = np.concatenate(([0.0], (1 + _NODES) / 2, [1.0]))
_LOG_WEIGHTS = np.log(_WEIGHTS / 2)
_DIVERGENCE_CUT = -40.0  # log mass
_FIRST_CUTS = np.linspace(0.0, 1.0, 49)
_MOST_PANELS_AT_ONCE = 4e6  # panels in one array: with their nodes, more than a gigabyte
_MOST_PLAN_PANELS = 2000  # panels, where only a choice depends on them
_FINE_NODES = 20
_FINE_PLACES, _FINE_LOG_WEIGHTS = (1 + LEGENDRE[_FINE_NODES][0]) / 2, np.log(LEGENDRE[_FINE_NODES][1] / 2)


class TooManyPanels(Exception):  # noqa: N818 - says what there is
    """More panels than may be made."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Quadrature of a step: losses and log H1-masses, and what lies at ±∞."""

    loss: Array
    log_p: Array
    only0: float
    only1: float


def panels(step: Step, edges: Array, most: float = math.inf) -> tuple[Array, Array, Index]:
    """Cut [edges[i], edges[i+1]] into panels short enough for 10 nodes: left ends, widths, interval numbers.

    :class:`TooManyPanels`, before they are made, if there are more than ``most``.
    """
    inside = [k for k in step.knots if edges[0] < k < edges[-1]]
    cuts = np.sort(np.concatenate((edges, inside))) if inside else edges
    width = np.diff(cuts)
    owner = np.clip(np.searchsorted(edges, cuts[:-1] + width / 2, side="right") - 1, 0, edges.size - 2)
    live = width > 0
    left, width, owner = cuts[:-1][live], width[live], owner[live]
    if not left.size:
        return left, width, owner
    spread = width * np.maximum(step.roughness(left), step.roughness(left + width))
    wanted = np.maximum(np.ceil(spread / _PANEL_CHANGE), 1)
    if not float(wanted.sum()) <= min(most, _MOST_PANELS_AT_ONCE):
        raise TooManyPanels
    pieces = wanted.astype(int)
    if (pieces > 1).any():
        first = np.repeat(np.cumsum(pieces) - pieces, pieces)
        rank = np.arange(pieces.sum()) - first
        width = np.repeat(width / pieces, pieces)
        left, owner = np.repeat(left, pieces) + rank * width, np.repeat(owner, pieces)
    return left, width, owner


def nodes(step: Step, low: float, high: float) -> Nodes:
    """The step between two places as a few hundred nodes, for the choice of tilt and window."""
    atoms = step.atoms
    loss, log_p, only0, only1 = atoms.loss, atoms.log_p, atoms.only0, atoms.only1
    if step.support is not None and high > low:
        cuts = _even_cuts(np.linspace(low, high, 33), step.roughness, 8)
        if step.knots:
            cuts = np.unique(np.concatenate((cuts, [k for k in step.knots if low < k < high])))
        width = cuts[1:] - cuts[:-1]
        at = (cuts[:-1, None] + width[:, None] * _PANEL_PLACES[1:-1]).ravel()
        here = step.loss(at)
        here_p = step.log_p0(at) + here + (np.log(width)[:, None] + _LOG_WEIGHTS).ravel()
        loss = np.concatenate((loss, here)) if loss.size else here
        log_p = np.concatenate((log_p, here_p)) if log_p.size else here_p
        only1 += math.exp(step.above(high)[0])
        only0 += math.exp(step.below(low)[1])
    return Nodes(loss, log_p, only0, only1)


def added_nodes(parts: Sequence[tuple[Nodes, float]]) -> Nodes:
    return Nodes(
        np.concatenate([one.loss for one, _ in parts]),
        np.concatenate([one.log_p + math.log(share) for one, share in parts]),
        math.fsum(share * one.only0 for one, share in parts),
        math.fsum(share * one.only1 for one, share in parts),
    )


def divergences(step: Step) -> float:
    """About D(H0‖H1) + D(H1‖H0) = ∫(dH1 − dH0)·L, from the nodes of a plan."""
    if step.components:
        return math.fsum(share * divergences(one) for one, share in step.components)
    atoms = step.atoms
    if atoms.only0 or atoms.only1:
        return math.inf
    low, high = step.cutoffs(_DIVERGENCE_CUT, _DIVERGENCE_CUT)
    found = nodes(step, low, high)
    return float(np.sum((np.exp(found.log_p) - np.exp(found.log_p - found.loss)) * found.loss))


def _even_cuts(cuts: Array, bend: Callable[[Array], Array], least: int) -> Array:
    """Cuts over which the log density changes by about 4, whatever the first ones."""
    bent = bend(cuts)
    total = np.concatenate(([0.0], np.cumsum((cuts[1:] - cuts[:-1]) * np.maximum(bent[1:], bent[:-1]))))
    count = min(max(math.ceil(float(total[-1]) / _PANEL_CHANGE), least), _MOST_PLAN_PANELS)
    return np.interp(np.linspace(0.0, float(total[-1]), count + 1), total, cuts)


def resolving_nodes(step: Step, low: float, high: float, steepness: float, most: int) -> tuple[Array, Array] | None:
    """Places and log weights for ∫ density·e^{zL} with |z| up to ``steepness``; None if more than ``most`` are needed.

    On a panel of half length r, twenty nodes leave about M·ρ^−40, where M bounds the integrand on the ellipse of axes
    r(ρ ± 1/ρ)/2 about it. What is not entire there, the logarithm in the loss of a sampled step, changes by at most 3
    over the panel, so that ρ = 3.2 stays clear of its branch point; and all exponents together, real and imaginary, by
    at most 10, so that M is at most e^11 times the value in the middle: some 1e-15 is left.
    """
    cuts = low + (high - low) * _FIRST_CUTS
    inside = [k for k in step.knots if low < k < high]
    if inside:
        cuts = np.sort(np.concatenate((cuts, inside)))
    change = _panel_changes(step, cuts, steepness)
    total = np.cumsum(change)
    if not float(total[-1]) < most / _FINE_NODES:
        return None
    # so many panels that each has the same change, and then once more where that was not quite so
    panel = np.linspace(0.0, float(total[-1]), math.ceil(1.05 * float(total[-1])) + 1)[1:-1]
    cuts = np.interp(panel, np.concatenate(([0.0], total)), cuts)
    cuts = np.sort(np.concatenate(([low], cuts, inside, [high])))
    for _ in range(12):
        change = _panel_changes(step, cuts, steepness)
        if float(change.max()) <= 1.02:
            break
        if not float(change.sum()) < most / _FINE_NODES:
            return None
        pieces = np.maximum(np.ceil(change / 1.02), 1).astype(int)
        rank = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        cuts = np.append(np.repeat(cuts[:-1], pieces) + rank * np.repeat(np.diff(cuts) / pieces, pieces), high)
    else:
        return None
    width = cuts[1:] - cuts[:-1]
    at = (cuts[:-1, None] + width[:, None] * _FINE_PLACES).ravel()
    with np.errstate(divide="ignore"):
        return at, (np.log(width)[:, None] + _FINE_LOG_WEIGHTS).ravel()


def least_nodes(step: Step, reach: tuple[float, float], steepness: float) -> int:
    """Fewer than :func:`resolving_nodes` takes of a step."""
    if step.components or step.support is None:
        return 1
    return int(_FINE_NODES * steepness * float(np.ptp(step.loss(np.asarray(reach)))) / (1.1 * _EXPONENT_CHANGE))


def _panel_changes(step: Step, cuts: Array, steepness: float) -> Array:
    """By how much the integrand changes from cut to cut, in units of what twenty nodes allow."""
    width = cuts[1:] - cuts[:-1]
    bend, wave, loss = step.roughness(cuts), step.singularity_rate(cuts), step.loss(cuts)
    change = (width * np.maximum(bend[1:], bend[:-1]) + steepness * (loss[1:] - loss[:-1])) / _EXPONENT_CHANGE
    return np.maximum(width * np.maximum(wave[1:], wave[:-1]) / _BRANCH_CHANGE, change)


#: (loss, log H0-density q, log q·e^{aL}) → the logarithm of what is integrated, positive.
Integrand = Callable[[Array, Array, Array], Array]


def _log_integral(step: Step, f: Integrand, power: float) -> float:
    """log of the integral, atoms included, of what has its weight where ∫dH1^a dH0^{1−a} may have it."""
    atoms = step.atoms
    known = []
    if atoms.loss.size:
        log_q = atoms.log_p - atoms.loss
        known.append(f(atoms.loss, log_q, log_q + power * atoms.loss))
    if step.support is not None:
        known.append(_refined(step, f, power, _cuts(step, power), _total(known)))
    return _total(known)


def _total(logs: list[Array]) -> float:
    whole = np.concatenate(logs) if logs else np.zeros(0)
    return float(logsumexp(whole)) if whole.size else -math.inf


def _refined(step: Step, f: Integrand, power: float, cuts: Array, atoms: float) -> Array:
    """Logarithms of the integrals over panels that are fine enough."""
    grown = step.exponent(power)

    def on(left: Array, width: Array) -> tuple[Array, Array, Array]:
        """Of each panel: log integral, log of a bound on it, rounding error of the integrand."""
        at = (left[:, None] + width[:, None] * _PANEL_PLACES).ravel()
        loss, log_q = step.loss(at), step.log_p0(at)
        exponent, size = grown(at, loss, log_q)
        values = f(loss, log_q, exponent).reshape(left.size, _PANEL_PLACES.size)
        log_width = np.log(width)
        inner = values[:, 1:-1] + _LOG_WEIGHTS
        top = inner.max(axis=1)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            whole = top + np.log(np.exp(inner - top[:, None]).sum(axis=1)) + log_width
        # between two nodes nothing rises further than it does there or beside
        seen = np.maximum(values, -1e300)
        change = np.abs(np.diff(seen, axis=1))
        change[~np.isfinite(values[:, 1:]) | ~np.isfinite(values[:, :-1])] = 0.0
        beside = np.pad(change, ((0, 0), (1, 1)))
        change = np.maximum(np.maximum(beside[:, :-2], beside[:, 2:]), change)
        most = (np.maximum(seen[:, 1:], seen[:, :-1]) + change).max(axis=1) + log_width
        return whole, most, 32 * ROUNDOFF * size.reshape(values.shape).max(axis=1)

    left, width = cuts[:-1], np.diff(cuts)
    whole, _, _ = on(left, width)
    done = [np.zeros(0)]
    for level in range(_MOST_LEVELS):
        halves, half = np.stack((left, left + width / 2), axis=1).ravel(), np.repeat(width / 2, 2)
        parts, most, noise = (v.reshape(-1, 2) for v in on(halves, half))
        both = np.logaddexp(parts[:, 0], parts[:, 1])
        total = _total([*done, both, np.asarray([atoms])])
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(np.expm1(whole - both))
            fine = off <= np.maximum(_AGREEMENT, noise.max(axis=1))
            fine |= np.isneginf(whole) & np.isneginf(both)
            highest = most.max(axis=1)
            fine |= (np.log(np.maximum(off, 1e-300)) + both < total - 37) & (highest < total + 20)
            fine |= highest < total - _NEGLIGIBLE_DROP
        fine |= (level == _MOST_LEVELS - 1) | (2 * both.size > _MOST_PANELS)
        done.append(both[fine])
        if fine.all():
            break
        rough = np.repeat(~fine, 2)
        left, width, whole = halves[rough], half[rough], parts.ravel()[rough]
    return np.concatenate(done)


def _cuts(step: Step, power: float) -> Array:
    """Where to begin: closer together around every place at which the integrand may turn."""
    assert step.support is not None
    low, high = step.support
    mu = step.shift
    reach = max(_NORMAL_REACH + 2 * mu * (abs(power) + 2), *(abs(v) for v in (low, high) if math.isfinite(v)), 0.0)
    reach = min(reach, _FARTHEST)
    low, high = max(low, -reach), min(high, reach)
    if 0 <= power <= 1:  # dH1^a dH0^{1−a} is at most a·dH1 + (1−a)·dH0
        seen = step.cutoffs(_UNSEEN_LOG, _UNSEEN_LOG)
        low, high = max(low, seen[0]), min(high, seen[1])
    shifts = [0.0, mu, power * mu, (1 - power) * mu, (2 * power - 1) * mu] if mu else [low, high]
    places = [(s, 1.0) for shift in shifts for s in (shift, -shift)]
    places += [(turn, 1 / mu if mu else 0.5) for turn in step.turning_points]
    cuts = [low, high, *step.knots]
    for place, scale in places:
        grown = scale * 4.0 ** np.arange(max(math.ceil(math.log(2 * reach / scale, 4)), 1))
        cuts += [place, *(place + grown), *(place - grown)]
    every = np.asarray(cuts)
    return np.unique(every[(every >= low) & (every <= high)])


def _log_bend(loss: Array, log_q: Array, exponent: Array, power: float) -> Array:
    """log of |e^{aL} − 1 − a(e^L − 1)|·q, exact as L → 0; beyond ½ with the two laws exchanged."""
    if power > 0.5:
        loss, log_q, power = -loss, log_q + loss, 1 - power
    steep = power * loss
    near = np.maximum(np.abs(steep), np.abs(loss)) < 30
    top = np.maximum(np.maximum(steep, loss), 0.0)
    far = top > 30
    with np.errstate(divide="ignore", over="ignore"):
        small = expm1mx(np.where(near, steep, 0.0)) - power * expm1mx(np.where(near, loss, 0.0))
        middle = np.expm1(np.where(far, 0.0, steep)) - power * np.expm1(np.where(far, 0.0, loss))
        large = np.exp(steep - top) - power * np.exp(loss - top) - (1 - power) * np.exp(-top)
        value = np.log(np.abs(np.where(near, small, np.where(far, large, middle))))
    # where far, the largest of the three terms stands before the bracket
    return np.asarray(value + np.where(far, np.where(steep >= loss, exponent, log_q + loss), log_q))


def _log_slack(loss: Array, log_q: Array, _: Array) -> Array:
    """log of q·(e^L − 1 − L)."""
    with np.errstate(divide="ignore"):
        near = np.log(expm1mx(np.minimum(loss, 30.0)))
        far = loss + np.log1p(-(1 + np.maximum(loss, 30.0)) * np.exp(-np.maximum(loss, 30.0)))
    return np.asarray(log_q + np.where(loss < 30, near, far))


class QuadratureStep(Step):
    """A step whose moments come by quadrature, unless it knows better."""

    __slots__ = ()

    @property
    def moment_error(self) -> float:
        """Quadrature's, or what rounding leaves of densities μ apart, whose logarithms are of the size of μ²."""
        return max(ERROR, math.expm1(min(32 * ROUNDOFF * self.shift**2, 700.0)))

    def log_moment(self, power: float) -> float:
        atoms = self.atoms
        if power in (0.0, 1.0) and not (atoms.only0 or atoms.only1):
            return 0.0
        if (power > 1 and atoms.only1 > 0) or (power < 0 and atoms.only0 > 0):
            return math.inf
        with np.errstate(over="ignore", invalid="ignore"):  # squares of places about a huge order are no doubles
            whole = _log_integral(self, lambda loss, log_q, exponent: exponent, power)
        if math.isnan(whole) and not 0 <= power <= 1:
            return math.inf
        if not math.log(0.5) < whole < math.log(2):
            return whole
        # ∫dH0·(e^{aL} − 1 − a(e^L − 1)) has one sign, and so has what only one of the laws shows
        beyond = (1 - power) * atoms.only0 + power * atoms.only1

        def bend(loss: Array, log_q: Array, exponent: Array) -> Array:
            return _log_bend(loss, log_q, exponent, power)

        less_one = math.exp(_log_integral(self, bend, power))
        return math.log1p(-less_one - beyond if 0 <= power <= 1 else less_one - beyond)

    def kl(self) -> float:
        atoms = self.atoms
        if atoms.only0 > 0:
            return math.inf
        return math.exp(_log_integral(self, _log_slack, 0.0)) + atoms.only1

    def reverse_kl(self) -> float:
        """D(H1‖H0): the same with the laws exchanged, p·(e^{−L} − 1 + L)."""
        atoms = self.atoms
        if atoms.only1 > 0:
            return math.inf

        def slack(loss: Array, log_q: Array, same: Array) -> Array:
            return _log_slack(-loss, log_q + loss, same)

        return math.exp(_log_integral(self, slack, 1.0)) + atoms.only0


class UnboundedStep(QuadratureStep):
    """Of these two laws one is the other's mirror image, on the whole line, and their loss has no bound."""

    __slots__ = ()

    symmetric = True
    support = (-math.inf, math.inf)
    loss_range = (-math.inf, math.inf)


def rounding(probability: Array) -> Array:
    """The relative rounding of a probability that was a logarithm."""
    return np.asarray(2e-15 - 1e-15 * np.log(np.clip(probability, 1e-300, 1.0)))


_LEAST_FPR = 1e-12  # the least false-positive rate at which a curve is looked at
_FINEST_RATIO = 0.01  # between neighbouring losses, relative
_NEAREST_SHARE = 1e-3  # of the total variation: the smallest loss of either sign that is looked at
_LARGEST_NEGATIVE, _LARGEST_POSITIVE = 34.0, 580.0  # and the largest
_ROUNDING = 1e-15  # of a sum
_COARSE_STRIDE = 16  # of the losses, asked for first
_MOST_STEPS = 60  # of regula falsi
#: (u, slack) ↦ (low, high) of h(e^u) − (1 − e^u)₊, as well known as the width or the slack asks
Sides = Callable[[Array, float], tuple[Array, Array]]
#: u ↦ the same from one side
ExcessRisk = Callable[[float], float]


def area(rest: Sides, ends: tuple[float, float], width: float) -> tuple[float, float]:
    """(low, high) of the area under the ROC curve, from r(u) = h(e^u) − (1 − e^u)₊, (low, high) at given losses.

    R(α) − α is the least of h(t) + tα − α over t, that is of r + (t−1)₊α + (1−t)₊(1−α). From above a few t will do;
    from below, between two of them, h lies above the lines through the two before and the two after, as it is convex.
    A concave curve has at least its chord's area in every cell, and at most that of its height in the middle.
    """
    most = float(rest(np.zeros(1), 0.0)[1][0])
    if most <= 0:
        return 0.5, 0.5
    ratio = min(max(math.sqrt(0.5 * width), _FINEST_RATIO), 0.1)
    sides = []
    for end, largest in ((-ends[0], _LARGEST_NEGATIVE), (ends[1], _LARGEST_POSITIVE)):
        last = min(end, largest)
        first = min(_NEAREST_SHARE * most, 0.5 * last)
        side = np.geomspace(first, last, math.ceil(math.log(last / first) / ratio) + 2)
        # beyond the largest loss r is known, and says where the line before it ends
        sides.append(np.concatenate(([0.0], side, last * (1 + ratio * np.asarray([1.0, 2.0])))))
    u = np.concatenate((-sides[0][:0:-1], sides[1]))
    zero = sides[0].size - 1
    low, high = _read(rest, u, zero, 0.05 * width * most)
    at, under = from_below(u, low, high)
    grid = np.concatenate(([0.0], np.geomspace(_LEAST_FPR, 0.02, 160), np.linspace(0.02, 0.5, 160)[1:]))
    grid = np.concatenate((grid, 1 - grid[::-1][1:]))
    cells, middle = np.diff(grid), (grid[1:] + grid[:-1]) / 2
    over, below = _envelope(u, high, middle), np.maximum(_envelope(at, under, grid), 0.0)
    most = min(0.5 + float(cells @ over) * (1 + 1e-12) + _ROUNDING, 1.0)
    return min(0.5 + max(float(cells @ (below[1:] + below[:-1])) / 2 * (1 - 1e-12) - _ROUNDING, 0.0), most), most


def _read(rest: Sides, u: Array, zero: int, slack: float) -> tuple[Array, Array]:
    """r from both sides; between two places where it hardly differs, nothing is asked."""
    low, high = np.zeros(u.size), np.ones(u.size)

    def settle() -> None:
        """r grows up to u = 0 and falls beyond: what is known of one place holds for those nearer, or further out."""
        for part, way in ((slice(0, zero + 1), 1), (slice(zero, u.size), -1)):
            low[part] = np.maximum.accumulate(low[part][::way])[::way]
            high[part] = np.minimum.accumulate(high[part][::-way])[::-way]

    asked = np.unique(np.concatenate((np.arange(0, u.size, _COARSE_STRIDE), [zero, u.size - 1])))
    for places in (asked, np.arange(u.size)):
        places = places[high[places] - low[places] > slack]
        if places.size:
            a, b = rest(u[places], slack)
            low[places], high[places] = np.maximum(low[places], a), np.minimum(high[places], b)
        settle()
    return low, high


def _envelope(u: Array, rest: Array, alpha: Array) -> Array:
    """The least of r + (t−1)₊α + (1−t)₊(1−α) at each α."""
    above, below = np.expm1(np.maximum(u, 0.0)), -np.expm1(np.minimum(u, 0.0))
    return np.asarray([float(np.min(rest + above * a + below * (1 - a))) for a in alpha.tolist()])


def from_below(u: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Places that do for the least of r + (t−1)₊α + (1−t)₊(1−α) from below, whatever α, and r there.

    Those given, and where the lines from either side of each interval cross: the least that h, convex, can be there.
    """
    at, under = u, low
    if u.size > 3:
        more = _crossings(u, low, high)
        at, under = np.concatenate((at, more[0])), np.concatenate((under, more[1]))
    # beyond the last t in either direction, only that r is not negative is known
    return np.concatenate((at, u[[0, -1]])), np.concatenate((under, np.zeros(2)))


def _crossings(u: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Where the lines cross, and how high; 0 is among the places."""
    zero = int(np.searchsorted(u, 0.0))
    t, step = np.exp(u[:-1]), np.exp(u[:-1]) * np.expm1(np.diff(u))
    slope = (low[1:] - high[:-1]) / step  # at most that of h after the interval
    back = (high[1:] - low[:-1]) / step  # at least that before it
    before, after, wide = slope[:-2], back[2:], step[1:-1]
    # at 0 the slope of r grows by 1 more than that of h
    before = before - (np.arange(before.size) == zero - 1)
    after = after + (np.arange(after.size) == zero - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = (low[2:-1] - after * wide - low[1:-2]) / (before - after)
    cross = np.clip(np.where(np.isnan(cross), 0.0, cross), 0.0, wide)
    lines = (low[1:-2], before * cross), (low[2:-1], after * (cross - wide))
    height = np.maximum(*(a + b - 4 * _ROUNDING * (np.abs(a) + np.abs(b)) for a, b in lines))
    # nor is it below the lower of both ends: the lines then give way to that from where they reach it
    floor = np.minimum(low[1:-2], low[2:-1])
    flat = height < floor
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = (floor - low[1:-2]) / before, wide - (low[2:-1] - floor) / after
    first, last = np.where(np.isnan(first), 0.0, first), np.where(np.isnan(last), wide, last)
    left, right = (np.where(flat, np.clip(end, 0.0, wide), cross) for end in (first, last))
    height = np.where(flat, floor, np.minimum(height, np.maximum(low[1:-2], low[2:-1])))
    # the first interval has no line before it, the last none after: there h falls, or r grows, no further than this
    ends = np.asarray([min(low[0], low[1]), min(low[-1], low[-2])])
    at = np.concatenate((u[[0, 1, -2, -1]], *(u[1:-2] + np.log1p(c / t[1:-1]) for c in (left, right))))
    return at, np.concatenate((np.repeat(ends, 2), height, height))


def best_fbeta(rests: tuple[ExcessRisk, ExcessRisk], beta: float, c: float, width: float) -> tuple[float, float]:
    """(low, high) of the largest Fβ at odds c, from r(u) = h(e^u) − (1 − e^u)₊ from below and from above.

    F is the root of (1+β²−F)·h(t) = F·β² at t = F·c/(1+β²−F). It exceeds F₀ = (1+β²)/(1+β²+c), that of flagging
    everyone, by x with (1+β²+c)·x = (1+β²−F)·(h(t) − 1 + t), which grows with t: from F₀ on, F moves up to the root.
    """
    b2 = beta * beta
    if c == 0:
        return 1.0, 1.0
    floor = 1 / (1 + c / (1 + b2)) if math.isfinite(b2) else 1.0
    if math.isinf(c) or not math.isfinite(b2) or floor >= 1:
        return floor, floor
    ends = []
    for rest, up in zip(rests, (False, True), strict=True):
        x = _excess(rest, b2, c, floor, width, up)
        ends.append((floor + x) * (1 + (4 * _ROUNDING if up else -4 * _ROUNDING)) if x > 0 else floor)
    return max(min(ends[0], 1.0), floor), max(min(ends[1], 1.0), floor)


def _excess(rest: ExcessRisk, b2: float, c: float, floor: float, width: float, up: bool) -> float:
    """x on the proven side: every value is asked for, and the last one that holds is taken."""
    total = 1 + b2 + c

    def gap(x: float) -> float:
        """How far F moves up from F₀ + x."""
        left = (1 + b2) * (b2 + c) / total - x  # 1 + β² − F
        if left <= 0:
            return -x
        u = math.log1p(max((x * (1 + c) - (1 + b2) * b2 / total) / left, -1 + 1e-300))
        # the same in two ways: the first has the digits where t < 1, the second where it is large
        return left * rest(u) / total - x if u < 0 else (left * rest(u) - (floor + x) * b2) / total

    most = 1 - floor
    small = max(4e-16 * floor, 1e-300)
    low, a = 0.0, gap(0.0)
    if a <= small:  # no digit of F: the least that holds
        if not up or a <= 0:
            return 0.0
        if gap(2 * a + small) <= 0:
            return 2 * a + small
    high = min(2 * a, most)
    while (b := gap(high)) > 0:  # the root lies at least where F moves to
        if high >= most:
            return most
        low, a, high = high, b, min(2 * (high + b), most)
    for _ in range(_MOST_STEPS):
        if high - low <= max(1e-2 * width * high, small):
            break
        share = a / (a - b) if a > b else 0.5
        middle = low + (high - low) * min(max(share, 0.02), 0.98)
        value = gap(middle)
        if value > 0:  # an end that stays twice counts half
            low, a, b = middle, value, b / 2
        else:
            high, b, a = middle, value, a / 2
    return high if up else low
