"""Losses under a tilt, and what is chosen by them: which tilt, which lattice, which window (sheet, §3 and §4).

K(λ) = Σ k·log E e^{λL} comes from a few hundred quadrature nodes a step, cut off first where the mass no longer matters
to what is asked: for rare sampling K would otherwise be ruled by the cut-off.

The finite part of one step's loss under a tilt has the law dP·e^{λL}/E e^{λL}. Where that has no closed form, it is a
few hundred quadrature nodes and their atoms, good for every e^{zL} up to a steepness given.

How fast its characteristic function falls is a bound on |E e^{iyL}| that holds for every y beyond a given one, by slabs
under its density and by its total variation: Lemma C6 of docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc

from ...checks import Array
from ...numerics.special import Complex
from .quadrature import Nodes, added_nodes, nodes, resolving_nodes
from .step import ROUNDOFF, ClosedTilts, CountedStep, Step, TiltedLoss

_QUADRATURE_ERROR = 2e-14  # relative error of the quadrature, of a mass and of a characteristic function
_NEGLIGIBLE_WEIGHT = 1e-25  # relative mass of nodes whose rounding is of no account
_NEGLIGIBLE_LOG_MASS = -690.0  # log mass beyond which a part of a mixture is left out
_MOST_NODES = 2**16  # of one step
_SLAB_LEVELS = 0.75 ** np.arange(32)  # heights of slabs, as a share of the peak
_MOST_PEAKS = 3  # under which slabs are sought
_SECOND_LOBE = 0.21724  # the height of the second lobe of |sin θ/θ|, rounded up
_NEAR_FREQUENCIES = 1.1 ** np.arange(8, 60)
_FREQUENCIES = np.concatenate((_NEAR_FREQUENCIES, 300 * 1.25 ** np.arange(66)))
_ANCHORS = 8  # powers of a unit number by multiplication, before the next is made anew
_LEAST_C = 1e-6  # of c in the Laplace case, where only a plan depends on it
DEEPEST = -760.0  # a log probability that no double holds: nothing is followed further out for it
_MANY_NODES = 2048  # more are summed up tilt by tilt
_UNSEEN_LOG = -100.0  # a log weight that does not count in such a sum
_FIRST_SHARES, _FINER_SHARES = np.linspace(0.0, 1.0, 46), np.linspace(0.0, 1.0, 17)  # of the tilts that are tried


class ReadingQuery(NamedTuple):
    """What is asked: ``kind`` is epsilon (of a log δ), delta (of an ε), roc (of a log α) or recall (of a log R)."""

    kind: str
    value: float


class TiltedMoments(NamedTuple):
    """K(λ), and of the tilted loss the mean, the variance, and the sum over the steps of E|L − E L|³."""

    log_scale: float
    mean: float
    variance: float
    third: float


@dataclass(frozen=True)
class SaddlePoint:
    """Where the answer to a question is expected, how tight it shall be, and the cumulants that say so.

    ``saddle`` is λ of the best bound of Chernoff's kind, ``spread`` the standard deviation of the loss there, ``heavy``
    whether rare large losses make up most of it, and ``longest`` the largest loss, of either sign, of one step.
    """

    ask: ReadingQuery
    saddle: float
    loss: float
    log_value: float
    tolerance: float
    dt: float
    spread: float
    heavy: bool
    longest: float
    count: int
    exact: bool
    cumulants: Cumulants


@dataclass(frozen=True)
class LatticePlan:
    """λ of the saddle and of the tilt, where the answer is expected, how tight, and the window."""

    saddle: float
    tilt: float
    loss: float
    log_value: float
    tolerance: float
    dt: float
    low: float
    high: float
    up: float
    down: float


class Cumulants:
    """K(λ) of a product: in closed form where a step has one, otherwise from nodes."""

    def __init__(
        self, steps: Sequence[tuple[Nodes, int]], flipped: bool, closed: Sequence[tuple[ClosedTilts, int]] = ()
    ) -> None:
        held = [(n, k) for n, k in steps if n.loss.size]
        self.laws = [(-n.loss, n.log_p - n.loss, k) if flipped else (n.loss, n.log_p, k) for n, k in held]
        self._closed, self._flipped = closed, flipped
        tops = [(min(n.only0 if flipped else n.only1, 1.0), k) for n, k in steps]
        #: H1-mass that counts as +∞
        self.at_top = 1.0 if any(m >= 1 for m, _ in tops) else -math.expm1(sum(k * math.log1p(-m) for m, k in tops))

    def __call__(self, tilts: Array) -> Array:
        total = np.zeros(tilts.shape)
        for loss, log_p, k in self.laws:
            if loss.size > _MANY_NODES:
                total += k * np.asarray([_log_mass(tilt * loss + log_p) for tilt in tilts.tolist()])
                continue
            a = np.multiply.outer(tilts, loss)
            a += log_p
            top = a.max(axis=1)
            a -= top[:, None]
            total += k * (top + np.log(np.exp(a, out=a).sum(axis=1)))
        for one, k in self._closed:
            total += k * one.cumulant(-1 - tilts if self._flipped else tilts)  # K(−1 − λ) with the laws exchanged
        return total

    def spread(self, tilt: float) -> tuple[float, float]:
        mean, sd = self.spreads(np.asarray([tilt]))
        return float(mean[0]), float(sd[0])

    def spreads(self, tilts: Array) -> tuple[Array, Array]:
        mean, variance = np.zeros(tilts.size), np.zeros(tilts.size)
        for loss, log_p, k in self.laws:
            if loss.size > _MANY_NODES:
                each = np.asarray([_moments(loss, tilt * loss + log_p) for tilt in tilts.tolist()]).reshape(-1, 2)
                mean, variance = mean + k * each[:, 0], variance + k * each[:, 1]
                continue
            a = np.multiply.outer(tilts, loss)
            a += log_p
            a -= a.max(axis=1)[:, None]
            w = np.exp(a, out=a)
            mass = w.sum(axis=1)
            m = w @ loss / mass
            mean += k * m
            off = loss - m[:, None]
            variance += k * (w * off * off).sum(axis=1) / mass
        for one, k in self._closed:
            m, v = one.spread(-1 - tilts if self._flipped else tilts)
            mean += -k * m if self._flipped else k * m
            variance += k * v
        return mean, np.sqrt(np.maximum(variance, 1e-300))

    def shape(self, tilt: float) -> TiltedMoments | None:
        """Of the tilted loss; None where a step has a closed form."""
        if self._closed or not self.laws:
            return None
        log_scale = mean = variance = third = 0.0
        for loss, log_p, k in self.laws:
            log_weight = tilt * loss + log_p
            top = float(log_weight.max())
            weight = np.exp(log_weight - top)
            mass = float(weight.sum())
            m = float(weight @ loss) / mass
            off = np.abs(loss - m)
            square = off * off
            log_scale += k * (top + math.log(mass))
            mean += k * m
            variance += k * float(weight @ square) / mass
            third += k * float(weight @ (square * off)) / mass
        return TiltedMoments(log_scale, mean, variance, third)

    @property
    def uncut_square(self) -> float:
        """E L² of the steps that are not cut off, together."""
        both = [(*one.spread(np.full(1, -1.0 if self._flipped else 0.0)), k) for one, k in self._closed]
        return math.fsum(k * (float(v[0]) + float(m[0]) ** 2) for m, v, k in both)

    @property
    def nodes(self) -> int:
        return sum(loss.size for loss, _, _ in self.laws)

    @property
    def longest(self) -> float:
        """The largest loss of one step, of either sign, among those that can be cut off."""
        return max((float(np.abs(here).max()) for here, _, _ in self.laws), default=0.0)


def _log_mass(log_p: Array) -> float:
    top = float(log_p.max())
    beside = log_p - top
    return top + math.log(float(np.exp(beside[beside > _UNSEEN_LOG]).sum()))


def _moments(loss: Array, log_p: Array) -> tuple[float, float]:
    """Mean and variance of these losses, of what is seen beside the likeliest."""
    beside = log_p - float(log_p.max())
    seen = beside > _UNSEEN_LOG
    weight, loss = np.exp(beside[seen]), loss[seen]
    mass = float(weight.sum())
    mean = float(weight @ loss) / mass
    off = loss - mean
    return mean, float((weight * off * off).sum()) / mass


def levels(log_value: float, width: float, count: int, flipped: bool) -> tuple[float, float]:
    """(log_top, log_bottom) at which a step may be cut off, rounded so that near ones share their work."""
    fine = math.log(0.01 * width / count) + min(max(log_value, DEEPEST), 0.0)
    coarse = math.log(1e-4 * width / count)
    top, bottom = (coarse, fine) if flipped else (fine, coarse)
    return 4.0 * math.floor(top / 4), 4.0 * math.floor(bottom / 4)


def cumulants(
    steps: Sequence[CountedStep], cut: tuple[float, float], flipped: bool, most: float = math.inf
) -> Cumulants:
    """The product's cumulants, cut off at these levels, and at a loss beyond which it makes no difference."""
    by_nodes: list[tuple[Nodes, int]] = []
    closed: list[tuple[ClosedTilts, int]] = []
    for step, k in steps:
        if step.closed_tilts is not None and not step.loss_range[1] > most:
            closed.append((step.closed_tilts, k))
        else:
            by_nodes.append((_nodes(step, cut, most), k))
    return Cumulants(by_nodes, flipped, closed)


def _nodes(step: Step, cut: tuple[float, float], most: float) -> Nodes:
    if step.components:
        return added_nodes([(_nodes(one, cut, most), share) for one, share in step.components])
    return nodes(step, *reach_of(step, cut, most))


def reach_of(step: Step, cut: tuple[float, float], most: float) -> tuple[float, float]:
    """Where a step is cut off: by its mass, or at the loss ``most``."""
    low, high = step.cutoffs(*cut)
    if math.isfinite(most) and step.support is not None and most < step.loss_range[1]:
        high = min(high, max(float(step.inverse_loss(np.asarray(most))), low + 1e-9 * (1 + abs(low))))
    return low, high


def largest_loss(steps: Sequence[CountedStep], flipped: bool, ask: ReadingQuery, width: float) -> float:
    """A loss of one step that decides the test whatever the others show, so that it may as well be infinite.

    Once the loss of one step exceeds the threshold by what all the others can take back, and by log(100/width), the
    mass of H0 there is negligible beside what is asked.
    """
    back = math.fsum(-k * min(step.loss_range[0], 0.0) for step, k in steps)
    if flipped:  # in the other order such a loss can never be made up for: it counts for nothing
        return back + 1.0 if ask.kind in ("delta", "epsilon") else math.inf
    if ask.kind == "epsilon" or (ask.kind == "recall" and ask.value > HALF):
        return math.inf
    threshold = max(ask.value, 0.0) if ask.kind == "delta" else -ask.value
    return threshold + back + math.log(100 * sum(k for _, k in steps) / width)


HALF = math.log(0.5)


def _saddle(ask: ReadingQuery, grid: Array, k_of: Array) -> tuple[float, float, float]:
    """(λ, loss, log value) of the best bound of Chernoff's kind on the grid."""
    with np.errstate(divide="ignore", invalid="ignore"):  # only where λ > 0 is it used
        drop = grid * np.log(grid / (grid + 1)) - np.log(grid + 1)
    if ask.kind == "epsilon":
        bound = (k_of - ask.value + drop) / grid
        i = int(np.argmin(bound))
        return float(grid[i]), max(float(bound[i]), 0.0), ask.value
    if ask.kind == "delta":
        bound = k_of - grid * ask.value + drop
        i = int(np.argmin(bound))
        return float(grid[i]), ask.value, min(float(bound[i]), 0.0)
    if ask.kind == "roc":
        bound = (k_of - ask.value) / (grid + 1)
        i = int(np.argmin(bound))
        loss = float(bound[i])
        return float(grid[i]), loss, min(float(k_of[i] - grid[i] * loss), 0.0)
    if ask.value > HALF:
        bound = (k_of - math.log(max(-math.expm1(ask.value), 1e-300))) / grid
        i = int(np.argmax(bound))
        return float(grid[i]), float(bound[i]), min(float(k_of[i] - (grid[i] + 1) * bound[i]), 0.0)
    bound = (k_of - ask.value) / grid
    i = int(np.argmin(bound))
    return float(grid[i]), float(bound[i]), ask.value


def decisive_loss(steps: Sequence[CountedStep], flipped: bool, at: SaddlePoint) -> float:
    """A loss b of one step that the others do not make up for, and that leaves the answer to smaller ones.

    It lies above log t by 16 standard deviations of the losses below it; infinite where none does.
    """
    if not at.cumulants.laws:
        return math.inf
    loss = np.concatenate([-here if flipped else here for here, _, _ in at.cumulants.laws])
    variance = np.concatenate([k * np.exp(log_p) * here * here for here, log_p, k in at.cumulants.laws])
    order = np.argsort(loss)
    b = loss[order]
    spread = np.sqrt(np.cumsum(variance[order]) + at.cumulants.uncut_square)
    enough = np.flatnonzero((b > 0) & (b >= (0.0 if flipped else max(at.loss, 0.0)) + 16 * spread))
    if not enough.size:
        return math.inf
    found = float(b[enough[0]])
    # where what lies above b could make up the answer itself, the threshold may lie above, too
    if not flipped and at.ask.kind != "delta":
        law, share = (1, 0.1) if at.ask.kind == "roc" else (0, 0.3)
        far = [k * math.exp(step.above(reach_of(step, (-700.0, -700.0), found)[1])[law]) for step, k in steps]
        if math.fsum(far) > share * math.exp(at.ask.value):
            return math.inf
    return found


def aim(
    steps: Sequence[CountedStep], flipped: bool, ask: ReadingQuery, width: float, most: float | None = None
) -> SaddlePoint:
    """Where one question aims, with losses above ``most`` left out."""
    count = sum(k for _, k in steps)
    moving = math.fsum(k * max(1 - float(np.exp(step.atoms.log_p).sum()), 1e-6) for step, k in steps if step.support)
    guess = ask.value if ask.kind != "delta" else -30.0
    most = largest_loss(steps, flipped, ask, width) if most is None else most
    for _ in range(4):
        k_of = cumulants(steps, levels(guess, width, count, flipped), flipped, most)
        mean, sd = k_of.spread(0.0)
        sd = sd if sd > 1e-12 * abs(mean) and sd > 1e-140 else 1.0  # all at one loss: no scale
        far = abs(ask.value - mean) if ask.kind == "delta" else abs(mean)
        grid = 1e-3 / max(sd, far) * (1e6 * max(sd, far) / sd) ** _FIRST_SHARES
        if ask.kind == "roc":
            grid = np.concatenate((np.linspace(-0.6, -1e-9, 8), grid))
        elif ask.kind == "recall" and ask.value > HALF:  # the threshold is where H1 rarely falls below
            grid = -np.minimum(grid, 0.9)
        first = _saddle(ask, grid, k_of(grid))[0]
        i = int(np.argmin(np.abs(grid - first)))
        first, last = float(grid[max(i - 1, 0)]), float(grid[min(i + 1, grid.size - 1)])
        grid = first + (last - first) * _FINER_SHARES
        saddle, loss, log_value = _saddle(ask, grid, k_of(grid))
        if ask.kind != "delta" or abs(log_value - guess) < 4 + 0.1 * abs(guess):
            break
        guess = max(log_value, -690.0)
    apart = abs(loss - mean)
    at_top = math.log(max(0.1 * width * k_of.at_top, 5e-324)) if k_of.at_top > 0 else -math.inf
    if ask.kind in ("delta", "roc") and log_value < at_top:
        # what is seen at +∞ is nearly all of the answer: the rest need only be known to be small
        saddle, sd = min(saddle, 30 / (apart + 10 * sd)), max(sd, apart / 8)
        log_value, width = max(log_value, at_top), 1.0
    lam = max(saddle, 1e-3 / max(sd, apart))
    tolerance = width * lam * max(loss, 1e-3 * sd) if ask.kind == "epsilon" else width
    if ask.kind == "roc":
        curvature = max(abs(saddle), 0.25 / sd, 0.05)
    else:
        curvature = lam * (lam + 1)
    dt = math.sqrt(8 * 0.8 * min(tolerance, 1.0) / (max(moving, 1e-3) * curvature))
    dt = min(dt, max(sd, apart / 8), 1.0)
    spread, less = (float(v) for v in k_of.spreads(saddle * np.asarray([1.0, 0.5]))[1])
    heavy = spread > 1.5 * less
    return SaddlePoint(
        ask, saddle, loss, log_value, tolerance, dt, spread, heavy, k_of.longest, count, moving == 0, k_of
    )


def plan(at: SaddlePoint) -> LatticePlan:
    """The tilt among fractions of the saddle with the smallest window whose rounding stays small.

    Where the lattice is ``exact`` the window is small anyway, and the saddle itself loses least.
    """
    k_of, saddle, loss, log_value, dt = at.cumulants, at.saddle, at.loss, at.log_value, at.dt
    w = min(at.tolerance, 1.0)
    allowed = math.log(0.02 * w / (at.count * 6 * ROUNDOFF * 20 * 4))
    best: tuple[float, ...] | None = None
    fractions = (1.0, 0.6, 0.35, 0.2) if saddle > 0 and not at.exact else (1.0,)
    s = np.geomspace(0.2, 40.0, 16) / at.spread
    s = np.append(s, max(-2 * saddle, 0.0) + 1.0) if saddle < 0 else s
    for fraction in fractions:
        tilt = fraction * saddle
        k_all = k_of(np.concatenate(([tilt], tilt + s, tilt - s)))
        here, above, below = float(k_all[0]), k_all[1 : s.size + 1], k_all[s.size + 1 :]
        gap = here - tilt * loss - log_value  # how far the answer lies below what this tilt can resolve
        if gap > allowed and best is not None:
            continue
        log_tau = max(math.log(0.005 * w) - max(gap, 0.0), -85.0)
        highs, lows = (above - here - log_tau) / s, -(below - here - log_tau) / s
        highs = np.where(tilt + s >= 0, highs, np.inf)
        i, j = int(np.argmin(highs)), int(np.argmax(lows))
        high, low = max(float(highs[i]), loss + 4 * dt), min(float(lows[j]), loss - 4 * dt)
        if best is None or high - low < best[1] - best[0]:
            best = (low, high, tilt, float(s[i]), float(s[j]))
    assert best is not None
    low, high, tilt, up, down = best
    return LatticePlan(saddle, tilt, loss, log_value, at.tolerance, dt, low, high, up, down)


def common_unit(differences: Sequence[float], finest: float) -> float | None:
    """The largest unit of which all differences are whole multiples, to rounding; None if it is below ``finest``."""
    found = [d for d in differences if d > 0]
    if not found:
        return None
    first = max(found)
    denominator = 1
    for d in found:
        ratio = d / first
        share = Fraction(ratio).limit_denominator(200_000)
        if abs(float(share) - ratio) > 4e-15 * max(len(found), 4) or share == 0:
            return None
        denominator = denominator * share.denominator // math.gcd(denominator, share.denominator)
        if first / denominator < finest:
            return None
    return first / denominator


# The laws under one tilt: what a series sums up.


@dataclass(frozen=True, eq=False)
class Slabs:
    """Uniform parts of a law, their masses and lengths; the mass of its atoms, and the variation of its density."""

    mass: Array
    length: Array
    still: float = 1.0
    variation: float = math.inf

    def bound(self, y: Array) -> Array:
        """The smaller of 1 − Σω(1 − sup_{θ' ≥ θ}|sin θ'/θ'|) and atoms + V/y."""
        square = np.multiply.outer(y * y, self.length**2 / 4)  # θ²
        first = np.minimum(square, 9.0)
        lobe = np.maximum(
            1 - first * (1 / 6 - first / 120), np.minimum(_SECOND_LOBE, 1 / np.sqrt(np.maximum(square, 9.0)))
        )  # sin θ/θ ≤ 1−θ²/6+θ⁴/120
        inside = 1 - (1 - 1e-9) * ((1 - lobe) @ self.mass)
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(inside, (1 + 1e-9) * (self.still + self.variation / y)))


def slabs(loss: Array, log_density: Array, change: Array, still: float = 0.0) -> Slabs:
    """Slabs under a density of the loss, known at growing losses from its first to its last; between two, its logarithm
    changes by ``change`` at most in all. ``still`` is the mass of the atoms."""
    gap = np.diff(loss)
    with np.errstate(over="ignore"):
        least = np.exp(0.5 * (log_density[1:] + log_density[:-1] - change))  # |f'| ≤ c: above the lower of two cones
    least = np.where(gap > 0, least, 0.0)
    mass, length = [np.zeros(0)], [np.zeros(0)]
    for _ in range(_MOST_PEAKS):
        peak = int(np.argmax(least * gap)) if not np.isfinite(least).all() else int(np.argmax(least))
        top = float(least[peak])
        if not 0 < top < math.inf:
            break
        levels = top * _SLAB_LEVELS
        up = np.searchsorted(-np.minimum.accumulate(least[peak:]), -levels, side="right")
        down = np.searchsorted(-np.minimum.accumulate(least[peak::-1]), -levels, side="right")
        first, stop = peak - down + 1, peak + up
        wide = loss[stop] - loss[first]
        mass.append((levels - np.append(levels[1:], 0.0)) * wide)
        length.append(wide)
        if float(mass[-1].sum()) > 0.5 * float(least @ gap):
            break
        least = least.copy()
        least[first[-1] : stop[-1]] = 0.0
    return Slabs(np.concatenate(mass), np.concatenate(length), still, _variation(log_density, change))


def _variation(log_density: Array, change: Array) -> float:
    """At most the total variation of a density that is 0 beyond its ends.

    Between two points it varies most if its logarithm rises as far as it can and then falls.
    """
    a, b = log_density[1:], log_density[:-1]
    with np.errstate(over="ignore", invalid="ignore"):
        f = np.exp(log_density)
        peak = np.exp(np.maximum(0.5 * (a + b + change), np.maximum(a, b)))
        found = float((2 * peak - f[1:] - f[:-1]).sum() + f[0] + f[-1])
    return max(found, 1e-300) if math.isfinite(found) else math.inf


def frequency(
    parts: Sequence[tuple[Callable[[Array], Array], int]], tilt: float, spread: float, wanted: float
) -> tuple[float, float]:
    """(Y, R): a frequency and a bound R ≤ wanted on (1/π)∫_Y^∞ Π|φ|^k/|z(z+1)| dy with z = λ + iy; Y infinite if none.

    ``parts`` are falling bounds on |φ| with their counts, ``spread`` is the standard deviation of the product: Y is
    sought on the scale of its inverse.
    """
    for grid in (_NEAR_FREQUENCIES, _FREQUENCIES):
        most, rest = _frequency(parts, tilt, np.asarray(grid / spread), wanted)
        if math.isfinite(most):
            break
    return most, rest


def _frequency(
    parts: Sequence[tuple[Callable[[Array], Array], int]], tilt: float, y: Array, wanted: float
) -> tuple[float, float]:
    """The same among these frequencies; beyond the last, all that falls is 1/y²."""
    size = np.ones(y.size)
    for bound, count in parts:
        size *= bound(y) ** count
    square = y * y
    height = size / np.sqrt((tilt * tilt + square) * ((tilt + 1) ** 2 + square))
    height[:-1] *= np.diff(y)
    height[-1] = size[-1] / y[-1]
    rest = np.cumsum(height[::-1])[::-1] * ((1 + 1e-9) / math.pi)
    enough = int(np.argmax(rest <= wanted))
    return (float(y[enough]), float(rest[enough])) if rest[enough] <= wanted else (math.inf, math.inf)


def _powers(angle: Array, count: int) -> Complex:
    """e^{inθ} for n < count, one row each: good to 5·8 units in the last place."""
    out = np.empty((count, angle.size), dtype=complex)
    for first in range(0, count, _ANCHORS):
        out[first].real, out[first].imag = np.cos(first * angle), np.sin(first * angle)
    if count > 1:
        out[1].real, out[1].imag = np.cos(angle), np.sin(angle)
        for n in range(2, min(count, _ANCHORS)):
            np.multiply(out[n - 1], out[1], out=out[n])
    for first in range(_ANCHORS, count, _ANCHORS):
        rest = out[first + 1 : first + _ANCHORS]
        np.multiply(out[first], out[1 : 1 + len(rest)], out=rest)
    return out


def _tilted_mixture(parts: Sequence[tuple[TiltedLoss, float]]) -> TiltedLoss:
    """Tilted laws told apart: a mixture of them, each by its share of what the tilt makes likely."""
    logs = np.asarray([math.log(share) + law.log_scale for law, share in parts])
    log_scale = float(np.logaddexp.reduce(logs))
    laws = [(law, float(weight)) for (law, _), weight in zip(parts, np.exp(logs - log_scale), strict=True)]
    mean = math.fsum(weight * law.mean for law, weight in laws)

    def log_moment(s: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.logaddexp.reduce([np.log(weight) + law.log_moment(s) for law, weight in laws], axis=0))

    def transform(h: float, count: int) -> Complex:
        angle = h * np.arange(count)
        each = (weight * np.exp(1j * angle * (law.mean - mean)) * law.transform(h, count) for law, weight in laws)
        return np.asarray(sum(each))

    return TiltedLoss(
        mean=mean,
        variance=math.fsum(weight * (law.variance + (law.mean - mean) ** 2) for law, weight in laws),
        log_scale=log_scale,
        kappa=max(law.kappa for law, _ in laws) + 4 * ROUNDOFF * abs(mean),
        rho=max(law.rho for law, _ in laws) + 1e-15,
        rho_beside=max(law.rho_beside for law, _ in laws) + 1e-15,
        log_moment=log_moment,
        transform=transform,
        decay=lambda y: np.asarray(sum(weight * law.decay(y) for law, weight in laws)),
        nodes=sum(law.nodes for law, _ in laws),
    )


def _inside(step: Step, losses: tuple[float, float]) -> tuple[float, float]:
    """Where one of the steps lies between two losses; what doubles do not hold is left out."""
    far, (low, high) = step.cutoffs(_NEGLIGIBLE_LOG_MASS, _NEGLIGIBLE_LOG_MASS), step.loss_range
    first = float(step.inverse_loss(np.asarray(losses[0]))) if losses[0] > low else -math.inf
    last = float(step.inverse_loss(np.asarray(losses[1]))) if losses[1] < high else math.inf
    return max(first, far[0]), min(last, far[1])


def tilted(step: Step, flipped: bool, tilt: float, reach: tuple[float, float], steepness: float) -> TiltedLoss | None:
    """The step tilted by λ between two places; ``flipped`` exchanges the laws. None if it takes too many nodes."""
    if step.closed_tilts is not None and (closed := step.closed_tilts.at(tilt)) is not None:
        return closed
    if step.components:
        parts = [(tilted(one, flipped, tilt, _inside(one, reach), steepness), share) for one, share in step.components]
        known = [(law, share) for law, share in parts if law is not None]
        return _tilted_mixture(known) if len(known) == len(parts) else None
    atoms = step.atoms
    loss, log_p, error = atoms.loss, atoms.log_p, 8 * ROUNDOFF * np.abs(atoms.loss)
    x = here = density = np.zeros(0)
    if step.support is not None and reach[1] > reach[0]:
        found = resolving_nodes(step, *reach, 1 + tilt + steepness, _MOST_NODES)
        if found is None:
            return None
        x, log_w = found
        here = step.loss(x)
        density = step.log_p0(x) + here
        loss, log_p = np.concatenate((loss, here)), np.concatenate((log_p, density + log_w))
        error = np.concatenate((error, step.error(x)))
    if loss.size == 0 or loss.size > _MOST_NODES:
        return None
    if flipped:
        loss, log_p = -loss, log_p - loss
    log_weight = log_p + tilt * loss
    top = float(log_weight.max())
    weight = np.exp(log_weight - top)
    seen = weight > _NEGLIGIBLE_WEIGHT
    total = float(weight.sum())
    weight /= total
    log_scale = top + math.log(total)
    mean = float(weight @ loss)
    # errors enter a sum with its weights; under another tilt, at most with the largest of them
    error, sizes = error[seen], np.abs(log_p[seen]) + (1 + tilt) * np.abs(loss[seen])
    kappa, size = float(weight[seen] @ error), float(weight[seen] @ sizes)
    most_kappa, most_size = float(error.max()), float(sizes.max())
    rho = _QUADRATURE_ERROR + step.rho + 8 * ROUNDOFF * (size + 8) + (2 + tilt) * kappa
    beside = _QUADRATURE_ERROR + step.rho + 8 * ROUNDOFF * (most_size + 8) + (2 + tilt) * most_kappa

    log_weight -= log_scale
    loss = loss - mean

    def log_moment(s: Array) -> Array:
        a = np.multiply.outer(s, loss) + log_weight  # weights of 0 may be what an opposite tilt sees
        top = a.max(axis=-1, keepdims=True)
        return np.asarray(np.log(np.exp(a - top).sum(axis=-1)) + top[..., 0] + s * mean)

    def transform(h: float, count: int) -> Complex:
        """Two short tables of powers, and one product of matrices."""
        block = math.isqrt(count - 1) + 1
        fine, coarse = _powers(h * loss, block), _powers(block * (h * loss), -(-count // block))
        return ((coarse * weight) @ fine.T).ravel()[:count]

    @cache
    def slabs_under() -> Slabs:
        if not x.size:
            return Slabs(np.zeros(0), np.zeros(0))
        ends = np.asarray(reach)
        beyond = step.loss(ends)
        last = step.log_p0(ends) + beyond
        moving, of_x = (np.concatenate((at[:1], inner, at[1:])) for at, inner in ((beyond, here), (last, density)))
        if flipped:
            moving, of_x = -moving, of_x - moving
        still = float(weight[: atoms.loss.size].sum()) * (1 + 1e-9)
        places = np.concatenate((ends[:1], x, ends[1:]))
        return _slabs(step, places, moving, of_x + tilt * moving - log_scale, tilt, still)

    return TiltedLoss(
        mean=mean,
        variance=float(weight @ loss**2),
        log_scale=log_scale,
        kappa=kappa + 2 * ROUNDOFF * abs(mean),
        rho=rho,
        rho_beside=beside,
        log_moment=log_moment,
        transform=transform,
        decay=lambda y: slabs_under().bound(y),
        nodes=loss.size,
    )


def _slabs(step: Step, x: Array, loss: Array, log_weight: Array, tilt: float, still: float) -> Slabs:
    """Uniform parts of the tilted loss, from its log density in x: in the loss it is that over the slope."""
    slope, bend, gap = step.slope(x), step.roughness(x), np.diff(x)
    bent = np.maximum(bend[1:], bend[:-1])
    steepest = np.maximum(slope[1:], slope[:-1]) * np.exp(np.minimum(gap * bent, 50.0))
    change = gap * (3 * bent + (1 + tilt) * steepest)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_density = np.where(slope > 0, log_weight - np.log(slope), -np.inf)
    return slabs(np.abs(loss - loss[0]), log_density, change, still)


# Closed forms. The loss of a normal shift stays normal. That of a Laplace shift by m has, under e^{λL} and with
# c = λ + ½, masses proportional to ½e^{cm} at m and ½e^{−cm} at −m and the density ¼e^{cL} between, so that
# E e^{zL} = g(c + z)/g(c) with g(c) = cosh cm + sinh(cm)/(2c). All is written with what lies below m, D = m − L, whose
# parts are positive.


@dataclass(frozen=True)
class NormalTilts(ClosedTilts):
    """N(μ²/2 + λμ², μ²): the loss of a normal shift by μ, tilted by λ."""

    mu: float

    def cumulant(self, tilts: Array) -> Array:
        """K = λ(λ+1)μ²/2."""
        return tilts * (tilts + 1) * (self.mu * self.mu / 2)

    def spread(self, tilts: Array) -> tuple[Array, Array]:
        return self.mu * self.mu * (tilts + 0.5), np.full(tilts.shape, self.mu * self.mu)

    def at(self, tilt: float) -> TiltedLoss:
        mu = self.mu
        mean, variance = mu * mu * (tilt + 0.5), mu * mu
        log_scale = tilt * (tilt + 1) * variance / 2
        return TiltedLoss(
            mean=mean,
            variance=variance,
            log_scale=log_scale,
            kappa=4 * ROUNDOFF * mean,
            rho=16 * ROUNDOFF * (1 + log_scale),
            rho_beside=16 * ROUNDOFF * (1 + log_scale),
            log_moment=lambda s: np.asarray(s * mean + s * s * variance / 2),
            transform=lambda h, count: np.exp(-0.5 * (h * mu * np.arange(count)) ** 2) + 0j,
            decay=lambda y: np.exp(-0.5 * (mu * y) ** 2),
            uncut=True,
        )


@dataclass(frozen=True)
class LaplaceTilts(ClosedTilts):
    """The loss of a Laplace shift by m, tilted; one tilted law takes λ > 0."""

    m: float

    def cumulant(self, tilts: Array) -> Array:
        """K = log(g(c)/g(½)); g is even."""
        c = np.maximum(np.abs(tilts + 0.5), _LEAST_C)
        less = np.expm1(-2 * c * self.m)
        return np.asarray((c - 0.5) * self.m + np.log1p(0.5 * less - less / (4 * c)))

    def spread(self, tilts: Array) -> tuple[Array, Array]:
        m = self.m
        c = np.maximum(np.abs(tilts + 0.5), _LEAST_C)
        less = np.expm1(-2 * c * m)
        gone, g = 1 + less, 1 + 0.5 * less - less / (4 * c)
        below = (gone * m + gammainc(2.0, 2 * c * m) / (4 * c * c)) / g
        square = (2 * gone * m * m + gammainc(3.0, 2 * c * m) / (2 * c**3)) / g
        mean = np.where(tilts >= -0.5, m - below, below - m)
        return mean, np.maximum(square - below * below, 1e-300)

    def at(self, tilt: float) -> TiltedLoss | None:
        if tilt <= 0:
            return None
        m, c, u = self.m, tilt + 0.5, (tilt + 0.5) * self.m
        mean, variance = (float(v) for v in self.spread(np.asarray(tilt)))
        log_scale, rho = float(self.cumulant(np.asarray(tilt))), 16 * ROUNDOFF * (4 + (tilt + 1) * m)

        def transform(h: float, count: int) -> Complex:
            """g(c + iy)/g(c), with the larger exponential taken out."""
            y = h * np.arange(count)
            gone, half = math.exp(-2 * c * m), 0.5 / (c + 1j * y)
            up, down = np.exp(1j * ((m - mean) * y)), np.exp(-1j * ((m + mean) * y))
            whole = 1 + gone - math.expm1(-2 * c * m) / (2 * c)
            return np.asarray(((1 + half) * up + gone * (1 - half) * down) / whole)

        def decay(y: Array) -> Array:
            """Atoms do not fall; |sinh(u + iv)|² = sinh²u + sin²v of the rest is at most sinh²u + min(v, 1)²."""
            gone, spread = math.exp(-2 * u), -math.expm1(-2 * u)
            whole = 0.5 * (1 + gone) + spread / (4 * c)
            still = 0.5 * (1 + gone) / whole
            turned = np.minimum((m * y) ** 2, 1.0) * (4 * gone) + spread * spread  # in units of e^{2u}/4
            moving = np.minimum(0.25 / whole * np.sqrt(turned / (c * c + y * y)), 1 - still)
            return np.asarray((still + moving) * (1 + 1e-12))

        return TiltedLoss(
            mean=mean,
            variance=variance,
            log_scale=log_scale,
            kappa=8 * ROUNDOFF * m,
            rho=rho,
            rho_beside=rho + 1e-12,  # what other tilts add to the exponent is at most the period of a series
            log_moment=lambda s: self.cumulant(tilt + s) - log_scale,
            transform=transform,
            decay=decay,
            uncut=True,
        )
