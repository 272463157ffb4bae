"""Which tilt, which lattice, which window: chosen from the cumulants, before anything is transformed (sheet, §3).

K(λ) = Σ k·log E e^{λL} comes from a few hundred quadrature nodes a step, cut off first where the mass no longer matters
to what is asked: for rare sampling K would otherwise be ruled by the cut-off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...checks import Array
from .quadrature import Nodes, added_nodes, nodes
from .step import ROUNDOFF, CountedStep, Step

_NONE = np.zeros(0)
DEEPEST = -760.0  # a log probability that no double holds: nothing is followed further out for it
_MANY_NODES = 2048  # more are summed up tilt by tilt
_UNSEEN_LOG = -100.0  # a log weight that does not count in such a sum
_FIRST_SHARES, _FINER_SHARES = np.linspace(0.0, 1.0, 46), np.linspace(0.0, 1.0, 17)  # of the tilts that are tried


class Query(NamedTuple):
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

    ask: Query
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

    def __init__(self, steps: Sequence[tuple[Nodes, int]], flipped: bool, closed: Sequence[CountedStep] = ()) -> None:
        self.laws = [
            (-n.loss, n.log_p - n.loss, k) if flipped else (n.loss, n.log_p, k) for n, k in steps if n.loss.size
        ]
        self._closed, self._flipped = closed, flipped
        tops = [(min(n.only0 if flipped else n.only1, 1.0), k) for n, k in steps]
        #: H1-mass that counts as +∞
        self.at_top = 1.0 if any(m >= 1 for m, _ in tops) else -math.expm1(sum(k * math.log1p(-m) for m, k in tops))

    def __call__(self, tilts: Array) -> Array:
        """K at each tilt."""
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
        for step, k in self._closed:
            here = step.cumulant(-1 - tilts if self._flipped else tilts)  # K(−1 − λ) with the laws exchanged
            assert here is not None
            total += k * here
        return total

    def spread(self, tilt: float) -> tuple[float, float]:
        """Mean and standard deviation of the tilted loss."""
        mean, sd = self.spreads(np.asarray([tilt]))
        return float(mean[0]), float(sd[0])

    def spreads(self, tilts: Array) -> tuple[Array, Array]:
        """The same at each tilt."""
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
        for step, k in self._closed:
            m, v = step.spread(-1 - tilts if self._flipped else tilts)
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
        both = [(*step.spread(np.full(1, -1.0 if self._flipped else 0.0)), k) for step, k in self._closed]
        return math.fsum(k * (float(v[0]) + float(m[0]) ** 2) for m, v, k in both)

    @property
    def nodes(self) -> int:
        """How many there are."""
        return sum(loss.size for loss, _, _ in self.laws)

    @property
    def longest(self) -> float:
        """The largest loss of one step, of either sign, among those that can be cut off."""
        return max((float(np.abs(here).max()) for here, _, _ in self.laws), default=0.0)


def _log_mass(log_p: Array) -> float:
    """log Σ e^{log p}, of what is seen beside the largest."""
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
    closed: list[CountedStep] = []
    for step, k in steps:
        if step.cumulant(_NONE) is not None and not step.loss_range[1] > most:
            closed.append((step, k))
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


def largest_loss(steps: Sequence[CountedStep], flipped: bool, ask: Query, width: float) -> float:
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


def _saddle(ask: Query, grid: Array, k_of: Array) -> tuple[float, float, float]:
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
    steps: Sequence[CountedStep], flipped: bool, ask: Query, width: float, most: float | None = None
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
