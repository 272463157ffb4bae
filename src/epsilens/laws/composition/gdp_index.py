"""ψ and the practical μ of a product, each by whichever way serves, from both sides: Theorem C16."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr, ndtri, ndtri_exp

from ...checks import Array
from ...numerics.special import Index, Mask, half_normal_quantile, probit_gap
from ...readings.gdp import equal_error_bracket, equal_error_mu
from ...readings.law import Law
from .evaluator import Budget, Evaluator, ReadingWork
from .profile import Lower, Upper
from .quadrature import Sides, from_below
from .step import ROUNDOFF, CountedStep, Family, Step
from .tilt import HALF, ReadingQuery

# ψ of a product of lists of atoms, every combination written out: the largest gap over the corners of its ROC curve,
# its rounding, and what lies beyond lists that are cut off: Lemma C20 of docs/proofs/composition.md.

_MOST_LISTED = 2**19  # 0.3 s
_LONGEST_LIST = 2**15  # of one list: beyond, its losses have fewer digits
_LOSS_ROUNDING = 1e-9  # η
_MASS_ROUNDING = 2.0**-37  # of a mass, whose logarithm may be −750
_LEAST_INFINITE_MASS = 1e-300  # masses at ±∞ below stand for the end of a list
_LEAST_LIST_ALPHA = 1e-290  # α above which the end of a list does not count
_LOG_UNDERFLOW = -722.0  # log of a mass that is left out with it
_LOST_MASS = 1e-305  # more than all of these together
_PROBIT_ULPS = 4e-15  # the error of a probit
_MOST_TERMS = 4096  # sets of steps that are at a shift


class _AtomList(NamedTuple):
    """Log masses under the law that is H0 here, and the losses, from below and from above."""

    log_q: Array
    low: Array
    high: Array


def corner_gap(steps: Sequence[CountedStep], *, symmetric: bool) -> tuple[float, float] | None:
    """(low, high) of ψ; None where the product is not written out.

    Steps that are written out already are taken apart where that is not too much: their losses have lost digits.
    """
    single = apart(steps)
    few = math.prod(float(step.atoms.loss.size) ** min(k, 64) for step, k in single) <= _MOST_LISTED
    steps = single if few else steps
    size, lost, rho = 1.0, False, 0.0
    for step, k in steps:
        atoms = step.atoms
        n = atoms.loss.size
        if (
            step.support is not None
            or step.components
            or not 0 < n <= _LONGEST_LIST
            or max(atoms.only0, atoms.only1) > _LEAST_INFINITE_MASS
        ):
            return None
        size *= float(n) ** min(k, 64)
        if size > _MOST_LISTED or k > 64:
            return None
        lost = lost or atoms.only0 > 0 or atoms.only1 > 0 or not all(math.isfinite(end) for end in step.loss_range)
        rho += k * step.rho
    low = high = 0.0
    for flipped in (False,) if symmetric else (False, True):
        a, b = _one_order(steps, flipped, lost, rho)
        low, high = max(low, a), max(high, b)
    return low, high


def apart(steps: Sequence[CountedStep]) -> list[CountedStep]:
    """The same with those taken apart that are several written out as one."""
    return [(one, k * n) for step, k in steps for one, n in (step.factors or ((step, 1),))]


def _product_list(steps: Sequence[CountedStep], flipped: bool) -> _AtomList:
    log_q, low, high = np.zeros(1), np.zeros(1), np.zeros(1)
    for step, k in steps:
        loss, mass = step.atoms.loss, step.atoms.log_p
        loss, mass = (-loss, mass) if flipped else (loss, mass - loss)
        off = _LOSS_ROUNDING * np.abs(loss)
        if step.rho > 0:  # a list of sums
            off = off + 64 * ROUNDOFF * (1 + float(np.max(np.abs(loss))))
        for _ in range(k):
            log_q, low, high = (
                (one[:, None] + other).ravel() for one, other in ((log_q, mass), (low, loss - off), (high, loss + off))
            )
    return _AtomList(log_q, low, high)


def _one_order(steps: Sequence[CountedStep], flipped: bool, lost: bool, rho: float) -> tuple[float, float]:
    """Over the corners with a loss of 0 or more in this order."""
    made, count = _product_list(steps, flipped), sum(k for _, k in steps)
    error = rho + 4 * made.log_q.size * ROUNDOFF + count * _MASS_ROUNDING  # of sums and of masses
    if lost:
        seen = np.maximum(made.log_q, made.log_q + made.high) > _LOG_UNDERFLOW
        made = _AtomList(*(part[seen] for part in made))
    ahead = made.high >= 0
    missed = [float(np.exp((made.log_q + part)[~ahead]).sum()) for part in (made.low, made.high)]
    log_q, low, high = (part[ahead] for part in made)
    order = np.argsort(-high, kind="stable")
    log_q, low, high = log_q[order], low[order], high[order]
    alpha = np.cumsum(np.exp(log_q))
    first, from_logs = int(np.searchsorted(alpha, _LEAST_LIST_ALPHA)), (0.0, 0.0)
    if not lost and first:  # corners whose masses are no doubles
        from_logs = _by_logs(log_q[:first], low[:first], high[:first], error)
    if first >= alpha.size:
        return (from_logs[0], math.inf if lost else from_logs[1])
    less, more = (np.cumsum(np.exp(log_q + part) * -np.expm1(-part)) for part in (low, high))
    # what is missed, at least and at most
    least, most = (np.cumsum(np.exp(log_q + part)[::-1])[::-1][1:] for part in (low, high))
    least, most = (np.append(part, 0.0)[first:] + rest for part, rest in zip((least, most), missed, strict=True))
    alpha, less, more = alpha[first:], less[first:], more[first:]
    extra = _LOST_MASS if lost else 0.0
    sure = _corner_gaps(alpha * (1 + error) + extra, less * (1 - error) - extra, most * (1 + error) + extra, False)
    bound = _corner_gaps(alpha * (1 - error), more * (1 + error) + extra, least * (1 - error), True)
    beyond = _tail_gap_beyond_list(steps, flipped, math.log(float(alpha[0])) + error) if lost else (0.0, 0.0)
    return (max(float(np.max(sure)), from_logs[0], beyond[0]), max(float(np.max(bound)), from_logs[1], beyond[1]))


def _by_logs(log_q: Array, low: Array, high: Array, error: float) -> tuple[float, float]:
    """The largest gap from logarithms, where TPR ≤ ½."""
    z = -ndtri_exp(np.logaddexp.accumulate(log_q))
    less, more = (np.logaddexp.accumulate(log_q + part) for part in (low, high))
    sure = np.where(less < HALF, z + ndtri_exp(np.minimum(less, HALF)), 0.0)
    bound = np.where(more < HALF, z + ndtri_exp(np.minimum(more, HALF)), np.inf)
    off = error + _PROBIT_ULPS * (1 + float(z[0]))
    return max(float(np.max(sure)) - off, 0.0), float(np.max(bound)) + off


def _corner_gaps(alpha: Array, more: Array, missed: Array, up: bool) -> Array:
    """Φ⁻¹(α + more) − Φ⁻¹(α), rounded up or down, where what is missed is known as well.

    Of the two errors the smaller stands for α: the gap is the same with the errors exchanged, and at the same ``more``
    it falls as the smaller one grows.
    """
    small, rest = np.minimum(alpha, missed), np.maximum(alpha, missed)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rest = np.where(rest < 0.5, rest, np.clip(1 - small - more, 0.0, 1.0))
        gap = probit_gap(small, np.maximum(more, 0.0), rest)
        direct = ~(more < 1e-3 * np.minimum(small, rest))
        off = np.where(direct, 42 * _PROBIT_ULPS, 0.0) + 1e-12 * np.abs(gap)
    if up:
        return np.where((small > 0) & (rest > 0) & ~np.isnan(gap), gap + off, np.inf)
    return np.where((small > 0) & (rest > 0) & (more > 0) & np.isfinite(gap), gap - off, 0.0)


def _tail_gap_beyond_list(steps: Sequence[CountedStep], flipped: bool, log_alpha: float) -> tuple[float, float]:
    """(low, high) of the largest gap wherever α ≤ e^log_alpha."""
    bounded, endless = _unbounded_steps(steps, flipped)
    share = 0.0
    for step, k in apart(steps):
        largest = -step.loss_range[0] if flipped else step.loss_range[1]
        if math.isfinite(largest):
            top = int(np.argmin(step.atoms.loss) if flipped else np.argmax(step.atoms.loss))
            at_top = float(step.atoms.log_p[top] - (0.0 if flipped else step.atoms.loss[top]))
            near = abs(abs(float(step.atoms.loss[top])) - largest) <= _LOSS_ROUNDING * largest
            share += k * at_top if near else -math.inf
    low, high = 0.0, math.inf
    if len(endless) == 1 and endless[0][1] == 1:
        low, high = endless[0][0].tail_gap_bracket(log_alpha, bounded, share)
    return (low if math.isfinite(low) else 0.0), min(high, _split_gap(-float(ndtri_exp(log_alpha)), bounded, endless))


def tail_gap(steps: Sequence[CountedStep], flipped: bool, z: float) -> float:
    """A bound on the gap wherever α ≤ Φ(−z), of steps of any kind."""
    return _split_gap(z, *_unbounded_steps(steps, flipped))


def _unbounded_steps(steps: Sequence[CountedStep], flipped: bool) -> tuple[float, list[CountedStep]]:
    """ξ of the steps whose losses are bounded in this order, and the others."""
    ends = [(-step.loss_range[0] if flipped else step.loss_range[1], step, k) for step, k in apart(steps)]
    bounded = math.fsum(k * end for end, _, k in ends if math.isfinite(end))
    return bounded, [(step, k) for end, step, k in ends if not math.isfinite(end)]


def _split_gap(z: float, bounded: float, endless: Sequence[CountedStep]) -> float:
    """A bound on the gap from z on, with the outcomes of each step without end parted as serves best.

    Of k equal steps j are at their shift, in so many ways; of too many all are, as if nobody were left out.
    """
    many = math.prod(k + 1.0 for _, k in endless) > _MOST_TERMS
    tails = [(step.tail_split, k) for step, k in endless]
    taken = [0] * len(tails)

    def bound() -> float:
        # log weights of H0 and of the shifts, for each number of them
        weights, shifts = np.zeros(1), np.zeros(1)
        for (one, k), i in zip(tails, taken, strict=True):
            undrawn = math.log1p(-one.drawn) if one.drawn < 1 else -math.inf
            rest, drawn = float(np.logaddexp(undrawn, math.log(one.drawn) + one.cost[i])), math.log(one.drawn)
            if many or (one.drawn == 1 and math.isinf(rest)):
                shifts = shifts + k * one.shift[i] ** 2
                continue
            j = np.arange(k + 1.0)
            with np.errstate(invalid="ignore"):
                left = np.where(j < k, (k - j) * rest, 0.0)
            ways = gammaln(k + 1.0) - gammaln(j + 1) - gammaln(k - j + 1) + j * drawn + left
            weights = (weights[:, None] + ways).ravel()
            shifts = (shifts[:, None] + j * one.shift[i] ** 2).ravel()
        shifts = np.sqrt(shifts)
        most = float(shifts[-1])
        grown = bounded + float(logsumexp(weights + log_ndtr(shifts - z) - log_ndtr(most - z))) + 1e-12
        at = float(log_ndtr(most - z))
        if at + grown >= HALF:
            return math.inf
        return (most + max(float(ndtri_exp(at + grown) - ndtri_exp(at)), 0.0)) * (1 + 1e-12)

    best = bound()
    for _ in range(0 if many else 2):
        for i, (one, _k) in enumerate(tails):
            for part in range(one.cost.size):
                before, taken[i] = taken[i], part
                if (found := bound()) < best:
                    best = found
                else:
                    taken[i] = before
    return best


# The largest Φ⁻¹(TPR) − Φ⁻¹(α) over the tests whose errors both are at least a level, from both sides of a profile.
#
# Theorem C21 of docs/proofs/composition.md: everything is read off r(u) = h(e^u) − (1 − e^u)₊, which keeps its digits.

_FIRST_PLACES, _MOST_PLACES = 24, 480  # places to each side, and in all
_NEAREST_SHARE = 0.01  # as a share of the total variation
_ROUNDS = 16  # of refinement
_LOOSEST_SHARE = 0.2  # of what is open: the loosest come first
_SLOW_PROGRESS = 0.9  # of the width after two rounds: finer places no longer help
_EQUAL_ERRORS_WIDTH = 0.05  # the errors alike, where they are only an end
_SAME_PLACE = 1e-9  # relative
_COMPLEMENT_ROUNDING = 1e-15  # of what is subtracted from 1
_WIDTH_SHARE = 0.1  # of the width
_LARGEST_LOSS = 700.0  # whose exponential is a double
_AFTER_END = np.asarray([1.02, 1.04])
_DEEPEST_Z = 34.0  # z of the least level, 1e-253
_MOST_EXTENSIONS, _EXTENSION = 24, 3.0  # times further, and how far each time
_KNOWN_RATIO = 1.1  # the ends of an error that serves, as a ratio
_READ_SHARE, _FAR_SHARE = 0.02, 0.001  # of the width: how well r must be known beside what is read off it, and far out


class _OrderView(NamedTuple):
    """One order of the pair: r at rising u from both sides."""

    u: Array
    low: Array
    high: Array

    def other(self) -> _OrderView:
        """r'(u) = e^u·r(−u)."""
        u = -self.u[::-1]
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = (np.nan_to_num(np.exp(u) * r[::-1], nan=1.0) for r in (self.low, self.high))
        return _OrderView(u, low, high)


def largest_gap(
    rest: Sides, ends: tuple[float, float], level: float, width: float, *, symmetric: bool
) -> tuple[float, float]:
    """(low, high) of μ at a level, where the loss lies between ``ends``; ``rest`` is r at given losses."""
    most = float(rest(np.zeros(1), 0.0)[1][0])
    if most <= 0:
        return 0.0, 0.0
    half = _read(rest, _places(most, ends, level), 0.0, symmetric)
    slack = _FAR_SHARE * width * _bounds(half, level, width, symmetric)[3]
    half = _extended(rest, half, ends, level, slack, symmetric)
    best, opened = (0.0, math.inf), [math.inf, math.inf]
    for _ in range(_ROUNDS):
        low, high, wide, least = _bounds(half, level, width, symmetric)
        best = max(best[0], low), min(best[1], high)
        opened.append(best[1] - best[0])
        # what finer places twice did not narrow is not for want of them
        narrow = opened[-1] <= _WIDTH_SHARE * width * best[1]
        if narrow or half.u.size > _MOST_PLACES or opened[-1] > _SLOW_PROGRESS * opened[-3]:
            break
        slack = max(slack, _READ_SHARE * width * least)
        half = _merged(half, _read(rest, _refined_places(half.u, wide), slack, symmetric))
    return best


def bounded_gap(rest: Sides, ends: tuple[float, float], width: float, *, symmetric: bool) -> tuple[float, float]:
    """(low, high) of ψ, where the loss lies between finite ``ends``: beyond some level, in either order, they say more.

    TPR ≤ e^L·α there, whose gap falls as α does: about L/z at α = Φ(−z).
    """
    most, largest = float(rest(np.zeros(1), 0.0)[1][0]), max(-ends[0], ends[1])
    if most <= 0:
        return 0.0, 0.0
    about = 2 * float(half_normal_quantile(np.asarray(min(most, 1 - 1e-15))))
    z = min(max(1.5 * largest / about, 2.0), _DEEPEST_Z)
    low, high = largest_gap(rest, ends, float(ndtr(-z)), width, symmetric=symmetric)
    log_alpha = float(log_ndtr(-z))
    beyond = float(ndtri_exp(log_alpha + largest)) + z if log_alpha + largest < math.log(0.5) else math.inf
    return low, max(high, beyond * (1 + 1e-13))


def _places(most: float, ends: tuple[float, float], level: float) -> Array:
    """As far as those of a normal shift with the same total variation would go, and dense about 0."""
    mu = 2 * float(half_normal_quantile(np.asarray(min(most, 1 - 1e-15))))
    far = max(mu * (mu / 2 - float(ndtri(level))), 1e-300)
    sides = []
    for end in (-ends[0], ends[1]):
        last = min(far, end, _LARGEST_LOSS)
        side = np.geomspace(min(_NEAREST_SHARE * most, last / 2), last, _FIRST_PLACES)
        # beyond the largest loss r is known, and says where the line before it ends
        sides.append(np.concatenate(([0.0], side, _AFTER_END * end if end < _LARGEST_LOSS / 2 else ())))
    return np.unique(np.concatenate((-sides[0], sides[1])))


def _extended(
    rest: Sides, half: _OrderView, ends: tuple[float, float], level: float, slack: float, symmetric: bool
) -> _OrderView:
    """On to where the lines say nothing at the level any more, in either order."""
    for end, turned in ((ends[1], False), (-ends[0], True)):
        top = min(end, _LARGEST_LOSS)
        for _ in range(_MOST_EXTENSIONS):
            view = half.other() if turned else half
            last = int(np.searchsorted(view.u, end, "right"))
            u = view.u[last - 2 : last]
            # beyond the last place only that r is not negative is known: enough where R(α) − α is less at the level
            ahead = view.u >= 0
            less = float(np.min(view.high[ahead] + np.expm1(view.u[ahead]) * level))
            if u[1] >= top or math.expm1(u[1]) * level >= less:
                break
            more = np.geomspace(u[1], min(_EXTENSION * u[1], top), 9)[1:]
            half = _merged(half, _read(rest, -more if turned else more, slack, symmetric))
    return half


def _read(rest: Sides, u: Array, slack: float, symmetric: bool) -> _OrderView:
    """r there; of a pair that is alike in both orders r(−u) = e^{−u}·r(u)."""
    if not symmetric:
        u = np.unique(u)
        return _OrderView(u, *rest(u, slack))
    v = np.unique(np.abs(u))
    u, below = np.concatenate((-v[::-1], v[v > 0])), np.exp(-v[::-1])
    return _OrderView(u, *(np.concatenate((below * r[::-1], r[v > 0])) for r in rest(v, slack)))


def _merged(one: _OrderView, other: _OrderView) -> _OrderView:
    order = np.argsort(np.concatenate((one.u, other.u)), kind="stable")
    u, low, high = (np.concatenate((a, b))[order] for a, b in zip(one, other, strict=True))
    apart = np.append(True, np.diff(u) > _SAME_PLACE * np.abs(u[1:]))
    return _OrderView(u[apart], low[apart], high[apart])


def _refined_places(u: Array, wide: Mask) -> Array:
    at = np.unique(np.clip(np.concatenate((np.flatnonzero(wide) - 1, np.flatnonzero(wide))), 0, u.size - 2))
    shares = np.arange(1, 4)[:, None] / 4
    return np.asarray((u[at] + shares * (u[at + 1] - u[at])).ravel())


def _bounds(half: _OrderView, level: float, width: float, symmetric: bool) -> tuple[float, float, Mask, float]:
    """(low, high) of μ, the places whose lines bound too little, and the least R(α) − α that counts."""
    least, most, wide = _equal_errors(half, symmetric)
    if least < level:
        return equal_error_mu(most), equal_error_mu(least), wide, 1 - 2 * most if most < 0.5 else 0.0
    views = [half] if symmetric else [half, half.other()]
    seen = [_view(view, level, least, most) for view in views]
    alike = equal_error_mu(most)
    low, high = max(alike, *(one.low for one in seen)), max(alike, *(float(np.max(one.bound)) for one in seen))
    wide &= most > least * (1 + _EQUAL_ERRORS_WIDTH)
    loosest = low + max(_LOOSEST_SHARE * (high - low), _WIDTH_SHARE * width / 2 * low)
    for i, one in enumerate(seen):
        loose = one.line[one.bound > loosest]
        loose = np.append(loose, one.best) if one.low >= low else loose
        wide[half.u.size - 1 - loose if i else loose] = True
    if symmetric:
        wide |= wide[::-1]
    return low, high, wide, min(one.least for one in seen)


def _equal_errors(half: _OrderView, symmetric: bool) -> tuple[float, float, Mask]:
    """(low, high) of the x with f(x) = x, and the places after which it may lie: h falls from one to the next.

    Of a pair that is alike in both orders it lies at t = 1.
    """
    t = np.exp(half.u)
    less = -np.expm1(np.minimum(half.u, 0.0))
    under, over = 1 - less - half.high - _COMPLEMENT_ROUNDING, 1 - less - half.low + _COMPLEMENT_ROUNDING  # 1 − h
    if symmetric:
        zero = int(np.searchsorted(half.u, 0.0))
        return max(float(under[zero]) / 2, 0.0), min(float(over[zero]) / 2, 0.5), np.zeros(half.u.size, dtype=bool)
    least = max(float(np.max(under / (1 + t))), 0.0)
    cells = np.append(over[1:] / (1 + t[:-1]), 1 / (1 + t[-1]))
    most = max(float(np.max(cells)), float(over[0]))  # below the first place h is larger
    return least, min(most, 0.5), cells > least + _LOOSEST_SHARE * (most - least)


class _ViewBounds(NamedTuple):
    """Of one order: the largest gap that is surely there, with its line; the least R(α) − α; the bound of each segment.

    Each segment of α has a line of its own.
    """

    low: float
    best: int
    least: float
    bound: Array
    line: Array


def _view(view: _OrderView, level: float, least: float, most: float) -> _ViewBounds:
    """What is read off one order, where the errors alike lie between ``least`` and ``most``."""
    u = view.u
    up, down = np.expm1(np.maximum(u, 0.0)), -np.expm1(np.minimum(u, 0.0))

    def line(i: Index, alpha: Array) -> Array:
        return np.asarray(view.high[i] + up[i] * alpha + down[i] * (1 - alpha))

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slopes = -np.diff(view.high) / (np.exp(u[:-1]) * np.expm1(np.diff(u))) + (u[1:] <= 0)
    inner = slopes[np.isfinite(slopes) & (slopes > level) & (slopes < most)]
    spread = ndtr(np.linspace(ndtri(level), ndtri(most), 65))
    ends = np.unique(np.clip(np.concatenate((inner, spread, [level, most])), level, most))
    middle = np.sqrt(ends[1:] * ends[:-1])
    every = view.high[:, None] + up[:, None] * middle + down[:, None] * (1 - middle)
    best = np.argmin(every, axis=0)
    bound = np.maximum(*(_segment_gaps(a, line(best, a), True) for a in (ends[:-1], ends[1:])))
    # from below
    at, under = from_below(u, view.low, view.high)
    tests = np.unique(np.concatenate((middle[middle <= least], [level, least])))
    grown, shrunk = np.expm1(np.maximum(at, 0.0)), -np.expm1(np.minimum(at, 0.0))
    more_there = np.min(under[:, None] + grown[:, None] * tests + shrunk[:, None] * (1 - tests), axis=0)
    sure = np.nan_to_num(_segment_gaps(tests, np.maximum(more_there, 0.0), False), nan=0.0)
    top = int(np.argmax(sure))
    nearest = int(np.argmin(line(np.arange(u.size), tests[top])))
    return _ViewBounds(max(float(sure[top]), 0.0), nearest, float(np.min(more_there)), bound, best)


def _segment_gaps(alpha: Array, more: Array, up: bool) -> Array:
    """Φ⁻¹(α + more) − Φ⁻¹(α), rounded up or down; infinite where all would be found."""
    rest = 1 - alpha - more - (_COMPLEMENT_ROUNDING if up else -_COMPLEMENT_ROUNDING)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        gap = probit_gap(alpha, more, np.maximum(rest, 0.0))
        direct = more > 1e-3 * np.minimum(alpha, rest)  # a difference of two probits
        error = np.where(direct, 4e-15 * (2 + np.abs(ndtri(alpha))), 0.0)
    error = error + 1e-12 * np.abs(gap)
    return np.where(rest > 0, gap + error if up else gap - error, np.inf if up else 0.0)


def gap_by_errors(law: Law, level: float, about: float) -> tuple[float, float]:
    """The same from the errors themselves, of a law that is given from above: where nearly everyone is told apart.

    There 1 − h has no digits left, but f(α) has its own. Between two places no test has fewer false positives than the
    left one and fewer misses than the right one. Nothing is said where f is not well known at the test with two errors
    alike if μ were ``about`` so much.
    """
    width, under = law.width, law.other_side()
    here = ndtr(np.asarray(-about / 2))
    if not float(under.tradeoff(here)) <= _KNOWN_RATIO * float(law.tradeoff(here)):
        return 0.0, math.inf
    least, most = equal_error_bracket(law, width / 400)[0], equal_error_bracket(under, width / 400)[1]
    if least < level:
        return equal_error_mu(most), equal_error_mu(least)
    low = high = equal_error_mu(most)
    for upper, lower in [(law, under)] if law.symmetric else [(law, under), (law.reverse(), under.reverse())]:
        z = np.linspace(-float(ndtri(max(most, level))), -float(ndtri(level)), 33)
        for _ in range(_ROUNDS):
            alpha = np.clip(ndtr(-z), level, most)
            sure = np.where(alpha <= least, z + _power_probits(lower, alpha), 0.0)
            cells = z[1:] + _power_probits(upper, alpha)[:-1]  # z grows as α falls
            low = max(low, float(np.max(sure)) * (1 - 1e-13))
            wide = cells > low * (1 + _WIDTH_SHARE * width)
            if not wide.any() or z.size > _MOST_PLACES:
                break
            pairs = zip(z[:-1][wide], z[1:][wide], strict=True)
            z = np.unique(np.concatenate((z, *(np.linspace(a, b, 5) for a, b in pairs))))
        high = max(high, float(np.max(cells)) * (1 + 1e-13))
    return low, high


def _power_probits(law: Law, alpha: Array) -> Array:
    """Φ⁻¹(TPR), from whichever of TPR and what is missed is small and keeps its digits."""
    hit, miss = np.asarray(law.roc(alpha), dtype=float), np.asarray(law.tradeoff(alpha), dtype=float)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(miss < 0.5, -ndtri(miss), ndtri(np.minimum(hit, 0.5))))


# The least μ with f ≥ G_μ of a product, from both sides: sup Φ⁻¹(TPR) − Φ⁻¹(α) over its ROC curve.
#
# Theorem C16 of docs/proofs/composition.md.

_MOST_SLICES = 40  # slices
_VIEW_DISTANCE = 4.0  # of what slices are made for, in standard deviations
_LEAST_LOG_ALPHA = -690.0  # log α
_MOST_CORNERS, _LARGEST_CORNER_LOSS = 20_000, 30.0  # steps, and the loss of one
_FINER_WIDTHS = (1.0, 0.05, 0.002)  # shares of the width that are tried
_MANY_POINTS = 2000  # of a slice: no finer one is tried


def least_shift(
    views: Sequence[tuple[Evaluator, Evaluator, float]], steps: Sequence[CountedStep], budget: Budget
) -> tuple[float, float]:
    """(low, high) of the least μ; each view is an order, the other one, and the largest loss of the first."""
    low = high = 0.0
    known = [(0.0, math.fsum(k * step.zcdp_rho for step, k in steps))]
    bounded = [(max(-step.loss_range[0], step.loss_range[1]), step, k) for step, k in steps]
    rest = math.fsum(k * step.zcdp_rho for most, step, k in bounded if not math.isfinite(most))
    known.append((math.fsum(k * most for most, _, k in bounded if math.isfinite(most)), rest))
    for forward, back, most in views:
        corners = _corners(forward)
        for finer in _FINER_WIDTHS:
            a, b, points = _largest_gap(forward, most, corners, finer * forward.width, budget)
            b = min(b, _polygon(corners, math.inf))
            # the tests on a coarse lattice say little of the best one
            if b <= a * (1 + 2 * forward.width) or points > _MANY_POINTS or budget.left < 0:
                break
        if not b <= a * (1 + 2 * forward.width):  # as it is where nearly everyone is told apart
            c, d = _probit_gap(forward, back, most, known, budget)
            a, b = max(a, c), min(b, d)
        low, high = max(low, a), max(high, b)
    return low, high


def _largest_gap(
    order: Evaluator, most: float, corners: tuple[Array, Array], width: float, budget: Budget
) -> tuple[float, float, int]:
    """(low, high) of the gap where α + TPR ≤ 1, no loss being above ``most``; high is infinite where none is known.

    The slices are made for a relative ``width``; the last number is the points of the longest.
    """
    low = high = 0.0
    points = 0
    if not math.isfinite(most):
        return low, math.inf, _MANY_POINTS + 1
    reached, ahead = math.inf, 0.0  # how far down in log α it is known, and how far beyond the next slice is made
    ask = ReadingQuery("delta", 0.0)
    for _ in range(_MOST_SLICES):
        made = order.make(ask, width, budget, width < order.width)
        if made is None:
            return low, math.inf, _MANY_POINTS + 1
        upper, lower = made.sides
        low, points = max(low, _tests(lower)), max(points, upper.h.size)
        log_alpha, gap = _segments(upper)
        enough = low * (1 + order.width) + 1e-12
        crossed = int(np.argmax(gap > 0)) if gap.size else 0
        if math.isinf(reached):
            first = 0 if crossed > 0 else -1
        else:
            first = int(np.searchsorted(-log_alpha, -reached, side="right")) - 1  # the segment it lies in
        wide = np.flatnonzero(~(gap[max(first, 0) :] <= enough))
        last = first + int(wide[0]) - 1 if wide.size else gap.size - 1
        # Where the upper side has α + TPR > 1 the curve itself need not. But if G_μ is above where that side crosses
        # over, it has crossed before, and is above whatever has not: all of them count, or none.
        if first >= 0 and last > max(first, crossed):
            high, reached, ahead = max(high, float(gap[first : last + 1].max())), float(log_alpha[last]), _VIEW_DISTANCE
        elif ahead == 0:
            return low, math.inf, points
        else:  # it does not serve here: one made nearer
            ahead = ahead / 2 if ahead > 0.5 else 0.0
        if _end_gap(reached, most) <= enough or _polygon(corners, reached) <= enough:
            return low, max(high, low), points
        if reached < _LEAST_LOG_ALPHA or budget.left < 0:
            break
        ask = ReadingQuery("roc", max(float(log_ndtr(ndtri_exp(reached) - ahead)), _LEAST_LOG_ALPHA))
    return low, math.inf, points


def _end_gap(log_alpha: float, most: float) -> float:
    return float(ndtri_exp(log_alpha + most) - ndtri_exp(log_alpha)) if log_alpha + most < HALF else math.inf


def _corners(order: Evaluator) -> tuple[Array, Array]:
    """(log α, gap) of the corners of a binomial product that dominates this one, falling in α; none if it is too long.

    H0 has the loss b with probability (1 − e^a)/(e^b − e^a), H1 with e^b times that. Of thousands of rarely sampled
    bounded steps it is what keeps ψ narrow: 3000 Laplace steps of ε 1 at rate 0.001 have ψ ≤ 0.062, without it 0.139.
    """
    steps = order.product.steps
    count = order.product.count
    low, high = min(step.loss_range[0] for step, _ in steps), max(step.loss_range[1] for step, _ in steps)
    if order.flipped:
        low, high = -high, -low
    if not (count <= _MOST_CORNERS and -_LARGEST_CORNER_LOSS < low < 0 < high < _LARGEST_CORNER_LOSS):
        return np.zeros(0), np.zeros(0)
    log_p0 = math.log(-math.expm1(low)) - high - math.log(-math.expm1(low - high))
    rest0 = -math.expm1(-high) / -math.expm1(low - high)  # 1 − that
    j = np.arange(count + 1.0)
    ways = gammaln(count + 1.0) - gammaln(j + 1) - gammaln(count - j + 1)
    log_q = ways + j * log_p0 + (count - j) * math.log(rest0)
    log_p = log_q + j * high + (count - j) * low
    # the logarithms are good to a few units of their largest parts, and the sums to as many as they have terms
    wrong = (
        16 * ROUNDOFF * (2 * float(gammaln(count + 1.0)) + count * (abs(log_p0) + high - low + 8))
        + 4 * ROUNDOFF * count
    )
    log_alpha, log_recall = (np.logaddexp.accumulate(v[::-1])[::-1] for v in (log_q, log_p))
    log_alpha, log_recall = log_alpha - wrong, np.minimum(log_recall + wrong, 0.0)
    here = _before_half(log_alpha, log_recall)
    here[:-1] |= here[1:]
    return log_alpha, _log_gaps(log_alpha, log_recall, here)


def _polygon(corners: tuple[Array, Array], log_alpha: float) -> float:
    """The largest gap of the polygon at and below α: of the corners there and the one above."""
    first = max(int(np.searchsorted(-corners[0], -log_alpha)) - 1, 0)
    return float(np.max(corners[1][first:], initial=0.0)) if corners[0].size else math.inf


def _segments(upper: Upper) -> tuple[Array, Array]:
    """log α where one line takes over from the next, falling, and the gap there of the higher one."""
    t, alpha, _ = upper.lines
    live = (alpha > 0) & np.isfinite(alpha)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        most = np.maximum(upper.h[:-1] + t[:-1] * alpha, upper.h[1:] + t[1:] * alpha)[live]
        log_alpha, log_recall = upper.slope_base + np.log(alpha[live]), upper.base + np.log(most)
    log_recall = log_recall * (1 - 1e-13) + 1e-14
    here = _before_half(log_alpha, log_recall)
    here[:-1] |= here[1:]  # a segment has two ends
    return log_alpha, _log_gaps(log_alpha, log_recall, here)


def _tests(lower: Lower) -> float:
    """The largest gap of the tests that are known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_alpha, log_recall = lower.alpha_base + np.log(lower.alpha), lower.base + np.log(lower.recall)
    log_alpha, log_recall = log_alpha * (1 - 1e-13) + 1e-14, log_recall * (1 + 1e-13) - 1e-14
    found = _log_gaps(log_alpha, log_recall, _before_half(log_alpha, log_recall))
    return float(np.max(found[np.isfinite(found)], initial=0.0))


def _before_half(log_alpha: Array, log_recall: Array) -> Mask:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.exp(log_alpha) + np.exp(log_recall) <= 1


def _log_gaps(log_alpha: Array, log_recall: Array, here: Mask) -> Array:
    """Φ⁻¹(TPR) − Φ⁻¹(α) there; 0 where it is mirrored in the other order."""
    gap = np.zeros(log_alpha.size)
    with np.errstate(invalid="ignore"):  # of α = TPR = 1 none is known
        gap[here] = ndtri_exp(np.minimum(log_recall[here], 0.0)) - ndtri_exp(np.minimum(log_alpha[here], 0.0))
    return gap


def _probit_gap(
    forward: Evaluator, back: Evaluator, most: float, concentrated: Sequence[tuple[float, float]], budget: Budget
) -> tuple[float, float]:
    """(low, high) of sup over α ≤ ½ of Φ⁻¹(TPR(α)) − Φ⁻¹(α), where no loss exceeds ``most`` and D_a ≤ ξ + ρ·a.

    It serves where nearly everyone is told apart: 500 Laplace steps of ε 0.2 and a normal one of σ 2 have ψ ≤ 4.365,
    without it 5.370. The last, for each (ξ, ρ), gives −log TPR ≥ (√A − √ρ)² with A = −log α − ξ: a gap of √(2ρ) and a
    little, ever less.
    """
    z = np.linspace(0.0, 37.0, 75)
    low, ahead, behind = 0.0, ReadingWork(budget), ReadingWork(budget)
    for _ in range(12):
        log_alpha = np.log(np.maximum(ndtr(-z), 1e-300))
        a, b = forward.ask("roc", log_alpha, work=ahead)
        up, down = (ndtri_exp(np.minimum(v, 0.0)) for v in (b, a))
        near = b > -1e-6  # recalls so near 1 are told apart by what is missed
        if near.any():
            missed = back.ask("recall", np.log1p(-np.exp(log_alpha[near])), work=behind)
            up[near], down[near] = -ndtri_exp(missed[0]), -ndtri_exp(missed[1])
        low = max(low, float(np.max(down + z)))
        # between two places TPR grows with α: at most the right TPR against the left α
        cells = up[:-1] + z[1:]
        wide = cells > low * (1 + forward.width) + 1e-12
        if not wide.any() or z.size > 4000 or budget.left < 0:
            break
        pairs = zip(z[:-1][wide], z[1:][wide], strict=True)
        z = np.unique(np.concatenate((z, *(np.linspace(p, q, 5) for p, q in pairs))))
    high = float(np.max(cells))
    if math.isfinite(most):  # beyond the last place TPR ≤ e^L·α, whose gap falls as α does
        far = float(log_alpha[-1]) + most
        return low, max(high, float(ndtri_exp(far)) + 37.0 if far < HALF else math.inf)
    beyond = math.inf
    for xi, rho in concentrated:
        rest = math.sqrt(max(-float(log_alpha[-1]) - xi, 0.0)) - math.sqrt(rho)
        beyond = min(beyond, float(ndtri_exp(-rest * rest)) + 37.0 if rest > 1 else math.inf)
    return low, max(high, beyond)


_PROBIT_ROUNDING = 1e-12  # of a probit
_SAME_END = 1e-12  # relative
_LIST_ROUNDING = 1e-9  # of ψ of a list, relative
_TAIL_LEVELS = (6.0, 8.0, 10.0, 12.0, 14.0, 17.0, 20.0, 24.0, 28.0, 32.0)  # z of an error
_LARGE_SHIFT = 2.0  # a shift beyond which errors keep more digits than what exceeds pure noise


class IndexView(NamedTuple):
    """What is known of a product: its law from above, its profile, the ends of its loss, its steps.

    Each view is an order, the other one, and the largest loss of the first; one does where both are alike.
    """

    law: Law
    sides: Callable[[Budget], Sides]
    loss_range: tuple[float, float]
    steps: Sequence[CountedStep]
    views: Sequence[tuple[Evaluator, Evaluator, float]]

    @property
    def part(self) -> int:
        """Which share of what a reading may cost is its own."""
        return self.views[0][0].part

    @property
    def bound(self) -> float:
        return math.sqrt(math.fsum(k * step.psi() ** 2 for step, k in self.steps))

    @property
    def bounded(self) -> bool:
        return all(math.isfinite(end) for end in self.loss_range)

    def wide(self, low: float, high: float) -> bool:
        return not high - low <= self.law.width * high


def psi_of(curve: IndexView) -> tuple[float, float]:
    """At most √Σψ²; less where the loss is bounded, from the curve itself.

    Of normal noise, sampled or not, ψ is reached in the limit α → 0, whatever else is observed beside it.
    """
    bound, law = curve.bound, curve.law
    low, high = math.sqrt(math.fsum(k * step.psi_limit**2 for step, k in curve.steps)), bound
    low = max(low, min(_at_the_end(curve), bound), *(_floor(step) for step, _ in apart(curve.steps)))
    if not curve.wide(low, high):
        return low, high
    written = corner_gap(curve.steps, symmetric=law.symmetric)
    if written is not None:
        low = max(low, min(written[0], bound))
        high = max(min(high, written[1]), low)
        if math.isfinite(written[1]):  # what is still wide lies beyond the lists, where no other way leads
            return low, high
    if not math.isfinite(bound) and (law.only1 > 0 or law.reverse().only1 > 0):
        return math.inf, math.inf
    if not curve.bounded:
        a, b = _by_tails(curve, low)
        low = max(low, min(a, bound))
        high = max(min(high, b), low)
        if not curve.wide(low, high):
            return low, high
    alone = len(curve.steps) == 1 and curve.steps[0][1] == 1 and curve.bounded
    rare = curve.bounded and any(step.sampled for step, _ in curve.steps)
    ways = (_by_profile,) if alone else (_by_profile, _by_slices) if rare else (_by_slices, _by_profile)
    for way, part in zip(ways, (1, 4), strict=False):
        a, b = way(curve, Budget.share(part * curve.part))
        low = max(low, min(a, bound))
        high = max(min(high, b), low)
        if not curve.wide(low, high):
            break
    return low, high


def _floor(step: Step) -> float:
    """A lower bound on ψ of one step alone, and so of whatever contains it: of a list of atoms it is known."""
    return step.psi() * (1 - _LIST_ROUNDING) if step.family is Family.FINITE and step.rho == 0 else 0.0


def _by_tails(curve: IndexView, low: float) -> tuple[float, float]:
    """From the tests whose errors both are at least a level, and what is known of the others (:func:`tail_gap`).

    The level is lowered once, to where the others are no longer ahead if they are at any.
    """
    high, at, orders = math.inf, 0, (False,) if curve.law.symmetric else (False, True)
    beyond = [max(tail_gap(curve.steps, flipped, z) for flipped in orders) for z in _TAIL_LEVELS]
    if not beyond[-1] < curve.bound:
        return low, high
    for part in (4, 2):
        z = _TAIL_LEVELS[at]
        sides, law = curve.sides(Budget.share(part * curve.part)), curve.law
        a, b = largest_gap(sides, curve.loss_range, float(ndtr(-z)), law.width, symmetric=law.symmetric)
        low, high = max(low, a), min(high, max(b, beyond[at]))
        enough = [i for i, most in enumerate(beyond) if most <= low * (1 + curve.law.width / 2)]
        at = max(enough[0] if enough else len(_TAIL_LEVELS) - 1, at)
        if not curve.wide(low, high) or _TAIL_LEVELS[at] == z:
            break
    return low, high


def _at_the_end(curve: IndexView) -> float:
    """The gap of the test that every loss is the largest there is, or in the other order the least."""
    best = 0.0
    for side in (1, 0):
        log_p = log_q = 0.0
        for step, k in curve.steps:
            atoms, end = step.atoms, step.loss_range[side]
            here = np.abs(atoms.loss - end) <= _SAME_END * abs(end)
            if not here.any():
                break
            p = float(np.logaddexp.reduce(atoms.log_p[here]))
            log_p, log_q = log_p + k * p, log_q + k * (p - end)
        else:
            one, other = sorted((log_p, log_q), reverse=True)
            if one < HALF:
                z = float(ndtri_exp(one)), float(ndtri_exp(other))
                best = max(best, z[0] - z[1] + _PROBIT_ROUNDING * (z[1] - 1))
    return best


def _by_profile(curve: IndexView, budget: Budget) -> tuple[float, float]:
    if not curve.bounded:
        return 0.0, math.inf
    return bounded_gap(curve.sides(budget), curve.loss_range, curve.law.width, symmetric=curve.law.symmetric)


def _by_slices(curve: IndexView, budget: Budget) -> tuple[float, float]:
    return least_shift(curve.views, curve.steps, budget)


def mu_of(curve: IndexView, level: float) -> tuple[float, float]:
    """μ at a level, never above ψ's bound."""
    law = curve.law
    low, high = largest_gap(
        curve.sides(Budget.share(curve.part)), curve.loss_range, level, law.width, symmetric=law.symmetric
    )
    if curve.wide(low, high) and low > _LARGE_SHIFT:
        other = gap_by_errors(law, level, low)
        low, high = max(low, other[0]), min(high, other[1])
    high = min(max(low, high), curve.bound)
    return min(low, high), high
