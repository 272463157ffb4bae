"""Readings of a product without a lattice: from the series of its profile, and by its largest loss alone.

``Inverted`` has δ and ε by the sum itself, the ROC curve from a table of it. h is convex in t = e^l, so that chords of
the upper side are upper bounds, and the mean slope of h between two points is the false-positive rate of a test whose
recall is known nearly as well as h.

``Largest`` is the test that rejects once some step shows a loss above b. It has the false-positive rate
1 − Π(1 − Q(L > b))^k and the recall 1 − Π(1 − P(L > b))^k in closed form: a lower bound on what all steps together
reveal, and nearly all of it where single rare losses decide. Of one step alone it is the best test there is, and the
bound is the truth.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.fft import next_fast_len

from ...checks import Array
from .listed import listed
from .plan import DEEPEST, Aim, decided, reach_of
from .plan import aim as aim_at
from .sampled import Swapped
from .series import Series, series
from .slice import Lower, Upper, falling
from .step import Counted, Step

_U = 2.0**-53
_TINY = 1e-290
_FINEST, _HEAVY = 1e-6, 1e-5  # the relative error of the profile that is asked for, at least
_OF_SLOPES = 1e-4
_CUTS = 6
_MOST_TABLE = 2**18
_MOST_AT_ONCE = 2**20
_BEYOND = np.concatenate(([0.0], np.geomspace(1e-4, 1.0, 9)))  # how far above log t b may lie, relative to it
_SCALES = np.concatenate(([0.0], np.geomspace(1e-12, 1.0, 60)))
_HALVINGS = 64
_NOTHING = -744.0  # what is below the smallest double
_ROOM = 1e-11  # for the rounding of a log probability


def invert(steps: Sequence[Counted], flipped: bool, aim: Aim, width: float) -> Inverted | None:
    """The readings about the aim of a question; None where only a lattice will do."""
    if all(step.span is None for step, _ in steps):
        return None  # a lattice is exact
    count = sum(k for _, k in steps)
    most = math.inf
    for _ in range(_CUTS):  # where losses reach far beyond their spread, the large ones are decided alone
        if not (aim.heavy or aim.longest > 64 * aim.spread):
            break
        shorter = decided(steps, flipped, aim)
        if not shorter < 0.9 * min(most, aim.longest):
            break
        most = shorter
        aim = aim_at(steps, flipped, aim.ask, width, most)
    # a curve is read from differences of h
    enough = (_OF_SLOPES if aim.ask.kind in ("roc", "recall") else 0.05) * min(aim.tolerance, 1.0)
    # more digits cost little, unless rare large losses must be followed further out
    for tolerance in (min(enough, _HEAVY), enough) if aim.heavy else (min(enough, _FINEST),):
        # of the mass of H1 above a threshold, h is about one part in 1 + λ
        level = min(max(aim.log_value, DEEPEST), 0.0) - math.log1p(max(aim.saddle, 0.0))
        level += math.log(0.01 * tolerance / count)
        reaches = [reach_of(step, (level, level), most) for step, _ in steps]
        made = series(steps, flipped, aim, reaches, tolerance)
        if made is not None:
            return Inverted(made, aim.loss, width)
    return None


class Inverted:
    """Both sides of the profile about one tilt; all answers are (low, high), probabilities as logarithms."""

    def __init__(self, of: Series, loss: float, width: float) -> None:
        self.series, self.loss, self.width = of, loss, width

    @property
    def work(self) -> int:
        """What it cost, in lattice points."""
        return 64 * int(self.series.terms.size) + self.series.work // 128

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        """log δ(ε) at finite ε; more than a period away, only that it falls."""
        flat = np.asarray(epsilon, dtype=float).ravel()
        low, high = self._chunked(self._delta, flat)
        return low.reshape(np.shape(epsilon)), high.reshape(np.shape(epsilon))

    def _chunked(self, read: Callable[[Array], tuple[Array, Array]], flat: Array) -> tuple[Array, Array]:
        """As many at once as memory takes."""
        step = max(_MOST_AT_ONCE // self.series.terms.size, 1)
        if flat.size <= step:
            return read(flat)
        parts = [read(flat[i : i + step]) for i in range(0, flat.size, step)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def _delta(self, loss: Array) -> tuple[Array, Array]:
        first, last = self.loss - self.series.period, self.loss + self.series.period
        if loss.size and first <= loss.min() and loss.max() <= last:
            return self.series.logs(loss)
        near = np.minimum(np.maximum(loss, first), last)
        low, high = self.series.logs(near)
        with np.errstate(divide="ignore"):
            low = np.where(loss > near, np.log(self.series.rest.bounds(loss)[0]), low)
        return low, np.where(loss < near, 0.0, high)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε (of any sign) with h(e^ε) = δ: Newton's steps on the sum, then both sides verified."""
        low, high = self._chunked(self._epsilon, np.asarray(log_delta, dtype=float).ravel())
        return low.reshape(np.shape(log_delta)), high.reshape(np.shape(log_delta))

    def _epsilon(self, flat: Array) -> tuple[Array, Array]:
        at, slope = self._newton(flat)
        a, b = self._delta(at)
        margin = 2 * np.where(np.isfinite(b - a), b - a, 0.0) / -slope + 1e-15 * (np.abs(at) + self.series.period)
        sides = np.concatenate((at - margin, at + margin, at - 30 * margin, at + 30 * margin))
        low, high = (v.reshape(4, -1) for v in self._delta(sides))
        near, right, far, beyond = sides.reshape(4, -1)
        low = np.where(low[0] >= flat, near, np.where(low[2] >= flat, far, -np.inf))
        high = np.where(high[1] <= flat, right, np.where(high[3] <= flat, beyond, np.inf))
        lost = np.flatnonzero(~np.isfinite(high - low))
        if lost.size:
            found = self._bisected(flat[lost])
            low[lost], high[lost] = np.maximum(low[lost], found[0]), np.minimum(high[lost], found[1])
        return low, high

    def _newton(self, flat: Array) -> tuple[Array, Array]:
        """Where log δ is about that, and its slope there; one value is sought from where the question aims."""
        s = self.series
        at = np.full(1, self.loss) if flat.size == 1 else np.interp(-flat, -self._outline[1], self._outline[0])
        reach = 0.1 * s.period
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for again in range(12):
                if again == 8:  # astray
                    at = np.interp(-flat, -self._outline[1], self._outline[0])
                value, rise = s.at(at)
                size = np.exp(s.log_scale - s.tilt * at - flat)  # of the sum, as a share of δ
                other, fall = s.rest.about(at)
                share, rest = size * value, np.exp(-flat) * other
                slope = (size * (rise - s.tilt * value) - np.exp(-flat) * fall) / (share + rest)
                slope = np.where(np.isfinite(slope), np.minimum(slope, -1e-3 * s.tilt), -s.tilt)
                step = np.log(share + rest) / -slope
                step = np.where(np.isfinite(step), np.minimum(np.maximum(step, -reach), reach), 0.0)
                at = at + step
                if float(np.abs(step).max()) * s.tilt < 1e-6:  # they converge quadratically
                    break
        return at, slope

    def _bisected(self, log_delta: Array) -> tuple[Array, Array]:
        """The same where Newton's steps go astray: δ may be flat for a while."""
        first, last = self._outline[0][0], self._outline[0][-1]
        answers = []
        for side in (0, 1):
            left, right = np.full(log_delta.size, first), np.full(log_delta.size, last)
            for _ in range(48):
                middle = 0.5 * (left + right)
                above = self.delta(middle)[side] >= log_delta
                left, right = np.where(above, middle, left), np.where(above, right, middle)
            answers.append((left, right))
        (left, _), (_, right) = answers
        low = np.where(self.delta(left)[0] >= log_delta, left, -np.inf)
        return low, np.where(self.delta(right)[1] <= log_delta, right, np.inf)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        """log of the true-positive rate at a false-positive rate."""
        upper, lower = self.sides
        return np.maximum(lower.roc(log_alpha), log_alpha), np.minimum(upper.roc(log_alpha), 0.0)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        """log of the least false-positive rate at which a recall is reached."""
        upper, lower = self.sides
        return upper.inverse_roc(log_recall), lower.inverse_roc(log_recall)

    def test(self, loss: float) -> tuple[float, float, float]:
        """(false-positive rate, recall) that a test near this threshold surely has, and how well h is known there."""
        low, high = self.delta(np.asarray([loss]))
        alpha, recall = self.sides[1].test(loss)
        return alpha, recall, float(high[0] - low[0])

    @cached_property
    def _outline(self) -> tuple[Array, Array]:
        """Losses and falling log values of the sum, to begin with."""
        s = self.series
        size = max(next_fast_len(2 * s.terms.size, real=True), 256)
        first = self.loss - s.period / 2
        loss = first + np.arange(size) * (s.period / size)
        with np.errstate(divide="ignore"):
            value = s.log_scale - s.tilt * loss + np.log(np.maximum(s.table(first, size), s.error))
            value = np.logaddexp(value, np.log(s.rest.bounds(loss)[0]))
        return loss, np.maximum.accumulate(value[::-1])[::-1]

    @cached_property
    def sides(self) -> tuple[Upper, Lower]:
        """h from above and from below, with the tests that surely exist."""
        s = self.series
        # the drop of h from point to point must stand out from its error
        value = s.at(np.asarray([self.loss]))[0]
        noise = s.error / max(float(value[0]), s.error)
        finest = max(math.sqrt(0.4 * self.width / (s.tilt * (s.tilt + 1))), noise ** (1 / 3) / s.tilt)
        least = 2 * s.terms.size
        size = next_fast_len(int(max(min(max(s.period / finest, 256.0), _MOST_TABLE), least)), real=True)
        dt = s.period / size
        reach = min(size // 2, math.floor(500 / (s.tilt + 1) / dt))
        first, base = self.loss - reach * dt, s.log_scale - s.tilt * self.loss
        u = (np.arange(2 * reach) - reach) * dt
        low, high = (v * np.exp(-s.tilt * u) for v in s.bounds(self.loss + u, s.table(first, size)[: u.size], True))
        more = 1 + s.relative + 8 * _U * (abs(s.log_scale) + s.tilt * (abs(self.loss) + s.period) + 64)
        unit = math.exp(-base) if base > -700 else math.inf
        less, rest = s.rest.bounds(self.loss + u, True)
        less = np.minimum(less * min(unit, 1e300), 1e300) / more
        rest = np.where(rest > 0, np.where(rest > 0, rest, 1.0) * unit * more, 0.0)  # the unit may be infinite
        rise = np.exp(u)
        piece = rise[:-1] * math.expm1(dt)
        most_slope = ((high[:-1] - low[1:]) * more + (rest[:-1] - less[1:])) / piece
        least_slope = (np.maximum(low[:-1] - high[1:], 0.0) / more + np.maximum(less[:-1] - rest[1:], 0.0)) / piece
        low, high = low / more + less, high * more + rest
        recall = _recalls(low, rise, most_slope, least_slope) * (1 - 64 * _U)
        slope = falling(np.append(most_slope, 0.0)) * (1 + 64 * _U)
        if base < 600:
            high = np.minimum(high, unit)
        top = min(s.rest.top * min(unit, 1e300), 1e300) / more
        recall = np.maximum(np.where(recall < _TINY, 0.0, recall), top)
        upper = Upper(first, dt, base, np.maximum(high, _TINY), slope, base - self.loss)
        lower = Lower(
            first,
            dt,
            base,
            falling(np.where(low < _TINY, 0.0, low)),
            np.maximum(slope, _TINY),
            base - self.loss,
            falling(recall),
            top,
        )
        return upper, lower


def _recalls(low: Array, rise: Array, most: Array, least: Array) -> Array:
    """Recalls that are surely reached at the mean slope between each point and the next, as a false-positive rate.

    That recall is h(τ) + τ·slope at some τ between the two points, where h lies above the line through the two points
    before, and above the line through the two points after: at least the value where these lines cross.
    """
    a, b = low[1:-2] + most[:-2] * rise[1:-2], low[2:-1] + least[2:] * rise[2:-1]  # the lines at t = 0
    with np.errstate(divide="ignore", invalid="ignore"):  # slopes may be infinite: unknown
        cross = np.clip((a - b) / (most[:-2] - least[2:]), rise[1:-2], rise[2:-1])
        cross = np.where(np.isnan(cross), rise[1:-2], cross)
        # the larger of two lines is least where they cross, or at an end
        found = np.full(cross.size, np.inf)
        for t in (cross, rise[1:-2], rise[2:-1]):
            found = np.minimum(found, np.maximum(a - most[:-2] * t, b - least[2:] * t) + least[1:-1] * t)
    found = np.where(np.isnan(found), 0.0, np.maximum(found, 0.0))
    return np.concatenate(([0.0], found, np.zeros(2)))


class Largest:
    """Readings as (low, high) of logarithms; high is unknown unless there is only one step."""

    def __init__(self, steps: Sequence[Counted], flipped: bool) -> None:
        self.steps = [(Swapped(step) if flipped else step, k) for step, k in steps]
        self.alone = len(self.steps) == 1 and self.steps[0][1] == 1
        low, high = (f(step.ends[i] for step, _ in self.steps) for i, f in ((0, min), (1, max)))
        self.ends = max(low, -1e4), min(high, 1e4)
        self.listed = listed(steps[0][0], flipped) if self.alone else None
        self.seen: dict[float, tuple[float, float, float]] = {}  # a curve asks for many points of one function
        self.order: list[float] = []

    def _rates(self, b: float) -> tuple[float, float, float]:
        """log recall and log false-positive rate of a threshold, and the relative error of either."""
        if b not in self.seen:
            self.seen[b] = self._rated(b)
            insort(self.order, b)
        return self.seen[b]

    def _rated(self, b: float) -> tuple[float, float, float]:
        masses = [(*_above(step, b), k) for step, k in self.steps]
        size = max((abs(log) for p, q, _ in masses for log in (p, q) if log > -math.inf), default=0.0)
        recall, alpha = (_some([(m[i], m[2]) for m in masses]) for i in (0, 1))
        return recall, alpha, 16 * _U * (size + 8)

    def _delta(self, u: float) -> tuple[float, float]:
        best = (-math.inf, 0.0)
        for share in _BEYOND[:1] if self.alone else _BEYOND:
            recall, alpha, error = self._rates(u + share * max(abs(u), 1e-9))
            left = -math.expm1(min(u + alpha - recall, 0.0)) if recall > -math.inf else 0.0
            if left > 0:
                wrong = error * (1 + 2 / left)  # what is left after the subtraction
                best = max(best, (recall + math.log(left), wrong))
        value, wrong = best
        if wrong >= 0.5:
            return -math.inf, 0.0
        high = min(value + wrong, 0.0) if value > -math.inf else _NOTHING if recall == -math.inf else 0.0
        return value - wrong, high if self.alone else 0.0

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        """log δ(ε)."""
        return self.listed.delta(epsilon) if self.listed else _each(self._delta, epsilon)

    def _epsilon(self, log_delta: float) -> tuple[float, float]:
        # near 0 many small losses say more than the largest: begin where this test does reach δ
        grid = self.ends[1] * _SCALES
        i = next((i for i in reversed(range(grid.size)) if self._delta(float(grid[i]))[0] >= log_delta), 0)
        low = _last(
            lambda u: _over(self._delta(u)[0], log_delta), float(grid[i]), float(grid[min(i + 1, grid.size - 1)])
        )
        if not self.alone:
            return low, math.inf
        right = _last(lambda u: _over(self._delta(u)[1], log_delta), 0.0, self.ends[1])
        return low, (right * (1 + 1e-15) + 1e-300 if math.isfinite(right) else 0.0)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε ≥ 0 with that δ; −∞ below where none is known."""
        return self.listed.epsilon(log_delta) if self.listed else _each(self._epsilon, log_delta)

    def _roc(self, log_alpha: float) -> tuple[float, float]:
        # the least threshold that surely keeps to α
        b = -_last(
            lambda v: _over(log_alpha - _ROOM, self._rates(-v)[1]),
            -self.ends[1],
            -self.ends[0],
            [-v for v in reversed(self.order)],
        )
        recall, _, error = self._rates(b)
        low = max(recall - error, log_alpha)
        if not self.alone:
            return low, 0.0
        more = _last(lambda v: _over(self._rates(v)[1], log_alpha + _ROOM), *self.ends, self.order)
        if not math.isfinite(more):
            return low, 0.0
        recall, _, error = self._rates(more)
        return low, min(recall + error, 0.0)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        """log of the true-positive rate."""
        return self.listed.roc(log_alpha) if self.listed else _each(self._roc, log_alpha)

    def _inverse_roc(self, log_recall: float) -> tuple[float, float]:
        b = _last(lambda v: _over(self._rates(v)[0], log_recall + _ROOM), *self.ends, self.order)
        _, alpha, error = self._rates(b) if math.isfinite(b) else (0.0, 0.0, 0.0)
        high = min(alpha + error, log_recall)
        if not self.alone:
            return -math.inf, high
        less = -_last(
            lambda v: _over(log_recall - _ROOM, self._rates(-v)[0]),
            -self.ends[1],
            -self.ends[0],
            [-v for v in reversed(self.order)],
        )
        _, alpha, error = self._rates(less)
        return (alpha - error if math.isfinite(less) else -math.inf), high

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        """log of a false-positive rate at which a recall is reached."""
        return self.listed.inverse_roc(log_recall) if self.listed else _each(self._inverse_roc, log_recall)

    def test(self, loss: float) -> tuple[float, float, float]:
        """(false-positive rate, recall) of this threshold, and how well h is known there."""
        recall, alpha, error = self._rates(loss)
        low, high = self._delta(loss)
        return min(math.exp(alpha + error), 1.0), math.exp(recall - error), high - low


def _above(step: Step, b: float) -> tuple[float, float]:
    """log (P, Q) of a loss above b in one step; Q may be no double where P is one."""
    atoms = step.atoms
    beyond = atoms.loss > b
    p = [math.log(atoms.only1)] if atoms.only1 > 0 else []
    q: list[float] = []
    if beyond.any():
        p.append(float(np.logaddexp.reduce(atoms.log_p[beyond])))
        q.append(float(np.logaddexp.reduce((atoms.log_p - atoms.loss)[beyond])))
    if step.span is not None and b < step.ends[1]:
        more = step.above(float(step.place(np.asarray(b)))) if b > step.ends[0] else step.above(step.span[0])
        p.append(more[0])
        q.append(more[1])
    return _together(p), _together(q)


def _together(logs: list[float]) -> float:
    return min(float(np.logaddexp.reduce(logs)), 0.0) if logs else -math.inf


def _some(logs: list[tuple[float, int]]) -> float:
    """log of the chance of one or more, from (log of its chance at a step, steps): 1 − Π(1 − p)^k."""
    most = _together([log + math.log(k) for log, k in logs])
    if most < -40:  # the sum is larger by less than itself squared
        return most
    none = sum(k * math.log1p(-math.exp(log)) if math.exp(log) < 1 else -math.inf for log, k in logs)
    return math.log(-math.expm1(none)) if none < 0 else -math.inf


def _each(read: Callable[[float], tuple[float, float]], values: Array) -> tuple[Array, Array]:
    pairs = np.array([read(float(v)) for v in np.ravel(values)]).reshape(-1, 2)
    return pairs[:, 0].reshape(np.shape(values)), pairs[:, 1].reshape(np.shape(values))


def _over(value: float, limit: float) -> float:
    """How far a logarithm is above another, which may be −∞ too."""
    return 0.0 if value == limit else value - limit


def _last(excess: Callable[[float], float], first: float, last: float, seen: Sequence[float] = ()) -> float:
    """The largest argument found up to which a falling function is not below 0; −∞ if it is at the first.

    Begins between two of ``seen``, in order, where it costs little; then regula falsi (Illinois), and bisection at
    every third step. Wherever it ends, the function was looked at there.
    """
    above = excess(first)
    if not above >= 0:
        return -math.inf
    below = excess(last)
    if below >= 0:
        return last
    least, side = (last - first) * 2.0**-62, 0
    i, j = bisect_right(seen, first), bisect_left(seen, last)
    while i < j:
        middle = (i + j) // 2
        value = excess(seen[middle])
        if value >= 0:
            first, above, i = seen[middle], value, middle + 1
        else:
            last, below, j = seen[middle], value, middle
    for step in range(3 * _HALVINGS):
        near = max(least, 2 * _U * max(abs(first), abs(last)))
        if last - first <= near:
            break
        lean = math.isfinite(above) and math.isfinite(below) and above > 0 and step % 3 != 2
        x = first + (last - first) * (above / (above - below) if lean else 0.5)
        x = min(max(x, first + near / 4), last - near / 4)
        value = excess(x)
        if value >= 0:
            first, above, below = x, value, below / 2 if side == 1 else below
            side = 1
        else:
            last, below, above = x, value, above / 2 if side == -1 else above
            side = -1
    return first
