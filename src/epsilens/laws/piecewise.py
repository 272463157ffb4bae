"""Any pair of laws on the line whose likelihood ratio is monotone between knots, with atoms.

Between two knots {llr > u} is one interval, found by one root; its masses come from exact distribution functions. So
(α, recall) at a threshold is exact to rounding, and every reading follows. Stretches where the ratio is constant, and
atoms, are kept apart as ``flat`` mass: there the optimal test is randomised and the trade-off is a chord. What is
left of rounding is stated (``ERROR``, relative to the masses involved) and added to what the adversary is said to
reach.

Laws of one real observation, with the exact distribution functions that a pair of them needs.

Each gives log density, log cdf and log survival function with relative precision in its own tail, the points where
its density bends (``knots``), its atoms, and where it is centred. ``Laplaces``, ``LaplaceSum`` and ``Clamped`` build
mixtures, differences of noisy answers, and clamped answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple, Protocol, Self

import numpy as np
from scipy.special import log_ndtr, logsumexp

from ..checks import Array
from ..errors import InputError
from ..numerics.roots import integrate, root
from ..numerics.special import Mask, expm1mx, moment_less_one
from ..readings.curve import psi_by_tangents
from ..readings.guesses import fbeta_by_thresholds
from ..readings.law import Exactness, Law

_LOG2 = np.log(2.0)
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


class Tail(NamedTuple):
    """density ~ e^{log_factor}·|x|^degree·e^{−rate·|x|} far out; an infinite rate is a normal tail."""

    rate: float
    degree: int
    log_factor: float


def limit_of_ratio(tail0: Tail, tail1: Tail) -> float:
    """The limit of log p1/p0 where two tails meet infinity; NaN where their forms do not tell."""
    if np.isinf(tail0.rate) or np.isinf(tail1.rate):
        return float("nan") if tail0.rate == tail1.rate else float("inf" if np.isinf(tail0.rate) else "-inf")
    if tail0.rate != tail1.rate:
        return float("inf" if tail1.rate < tail0.rate else "-inf")
    if tail0.degree != tail1.degree:
        return float("inf" if tail1.degree > tail0.degree else "-inf")
    return tail1.log_factor - tail0.log_factor


class LineLaw(Protocol):
    """A law on the line."""

    @property
    def knots(self) -> tuple[float, ...]:
        """Where the density is not smooth."""

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """(place, mass) of each atom."""

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the support."""

    @property
    def centre(self) -> float:
        """A point with appreciable mass on both sides."""

    @property
    def scale(self) -> float:
        """The width over which the density changes."""

    def tails(self) -> tuple[Tail, Tail]:
        """How the density ends on the left and on the right."""

    def log_pdf(self, x: Array) -> Array:
        """Log of the density of the continuous part."""

    def log_cdf(self, x: Array) -> Array:
        """log P(X ≤ x) of the continuous part and the lower atom."""

    def log_sf(self, x: Array) -> Array:
        """log P(X > x)."""


def _log_sum(x: Array) -> Array:
    """log Σe^x over the last axis: short, because one term is the usual case and searches ask a thousand times."""
    if x.shape[-1] == 1:
        return np.asarray(x[..., 0])
    top = x.max(axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(x - top[..., None]).sum(axis=-1)))


class _WholeLine:
    """A law without atoms on the whole line."""

    __slots__ = ()

    atoms = ()
    support = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class _Mixture(_WholeLine):
    """Weights, locations and scales of equal length."""

    weights: tuple[float, ...]
    locations: tuple[float, ...]
    scales: tuple[float, ...]

    @classmethod
    def at(cls, location: float = 0.0, scale: float = 1.0) -> Self:
        return cls((1.0,), (location,), (scale,))

    @property
    def centre(self) -> float:
        return float(np.dot(self.weights, self.locations))

    @property
    def scale(self) -> float:
        """The largest scale, which rules the tails."""
        return max(self.scales)

    def _z(self, x: Array) -> tuple[Array, Array, Array]:
        s = np.asarray(self.scales)
        return ((np.asarray(x, dtype=float)[..., None] - np.asarray(self.locations)) / s, np.log(self.weights), s)


@dataclass(frozen=True, slots=True)
class LaplaceMixture(_Mixture):
    """A mixture of Laplace laws: weights, locations and scales of equal length."""

    @property
    def knots(self) -> tuple[float, ...]:
        return self.locations

    def tails(self) -> tuple[Tail, Tail]:
        b = self.scale
        wide = [(w, at) for w, at, s in zip(self.weights, self.locations, self.scales, strict=True) if s == b]
        left, right = (float(logsumexp([np.log(w) + s * at / b for w, at in wide])) - np.log(2 * b) for s in (-1, 1))
        return Tail(1 / b, 0, left), Tail(1 / b, 0, right)

    def log_pdf(self, x: Array) -> Array:
        """log Σ w_k e^{−|z_k|}/(2b_k)."""
        z, w, b = self._z(x)
        return _log_sum(w - np.abs(z) - np.log(2 * b))

    def log_cdf(self, x: Array) -> Array:
        """½e^{z} left of each location, 1 − ½e^{−z} right of it."""
        z, w, _ = self._z(x)
        right = np.log1p(-0.5 * np.exp(-np.maximum(z, 0)))
        return _log_sum(w + np.where(z < 0, z - _LOG2, right))

    def log_sf(self, x: Array) -> Array:
        z, w, _ = self._z(x)
        left = np.log1p(-0.5 * np.exp(np.minimum(z, 0)))
        return _log_sum(w + np.where(z > 0, -z - _LOG2, left))


@dataclass(frozen=True, slots=True)
class NormalMixture(_Mixture):
    """A mixture of normal laws: weights, means and standard deviations of equal length."""

    knots = ()

    def tails(self) -> tuple[Tail, Tail]:
        return Tail(np.inf, 0, 0.0), Tail(np.inf, 0, 0.0)

    def log_pdf(self, x: Array) -> Array:
        z, w, s = self._z(x)
        return _log_sum(w - z * z / 2 - np.log(s) - _HALF_LOG_2PI)

    def log_cdf(self, x: Array) -> Array:
        z, w, _ = self._z(x)
        return _log_sum(w + log_ndtr(z))

    def log_sf(self, x: Array) -> Array:
        z, w, _ = self._z(x)
        return _log_sum(w + log_ndtr(-z))


@dataclass(frozen=True, slots=True)
class LaplaceSum(_WholeLine):
    """location + Lap(b1) ± Lap(b2): the difference (or sum) of two noisy answers (paper 001).

    With b1 ≥ b2, κ = 1/b2 − 1/b1 and φ(y) = (1−e^{−y})/y, for x ≥ 0:
    pdf = e^{−x/b1}(1 + (x/b1)φ(κx))/(2(b1+b2)) and sf = ½e^{−x/b1}(1 + b2·x·φ(κx)/(b1(b1+b2))), which pass smoothly
    through b1 = b2.
    """

    b1: float
    b2: float
    location: float = 0.0

    @property
    def knots(self) -> tuple[float, ...]:
        """The centre, where the second derivative jumps."""
        return (self.location,)

    @property
    def centre(self) -> float:
        return self.location

    @property
    def scale(self) -> float:
        return max(self.b1, self.b2)

    def _parts(self, x: Array) -> tuple[Array, Array, float, float]:
        big, small = max(self.b1, self.b2), min(self.b1, self.b2)
        z = np.abs(np.asarray(x, dtype=float) - self.location)
        y = (big - small) / (big * small) * z
        with np.errstate(invalid="ignore", divide="ignore"):
            fall = np.where(y > 1e-300, -np.expm1(-y) / np.where(y > 1e-300, y, 1.0), 1.0)
        return z, fall, big, small

    def tails(self) -> tuple[Tail, Tail]:
        """x·e^{−x/b} when the scales agree, otherwise e^{−x/b} of the larger."""
        big, small = max(self.b1, self.b2), min(self.b1, self.b2)
        degree = int(big == small)
        log_factor = -np.log(4 * big * big) if degree else np.log(big / (2 * (big - small) * (big + small)))
        at = self.location / big
        return Tail(1 / big, degree, float(log_factor - at)), Tail(1 / big, degree, float(log_factor + at))

    def log_pdf(self, x: Array) -> Array:
        z, fall, big, small = self._parts(x)
        return np.asarray(-z / big + np.log1p(z / big * fall) - np.log(2 * (big + small)))

    def _log_tail(self, x: Array) -> Array:
        z, fall, big, small = self._parts(x)
        return np.asarray(-z / big + np.log1p(small * z / (big * (big + small)) * fall) - _LOG2)

    def log_cdf(self, x: Array) -> Array:
        """The tail on the left; one minus it on the right."""
        tail = self._log_tail(x)
        return np.where(np.asarray(x) < self.location, tail, np.log1p(-np.exp(np.minimum(tail, -_LOG2))))

    def log_sf(self, x: Array) -> Array:
        tail = self._log_tail(x)
        return np.where(np.asarray(x) > self.location, tail, np.log1p(-np.exp(np.minimum(tail, -_LOG2))))


@dataclass(frozen=True, slots=True)
class ClampedLaw:
    """A law clamped to [low, high]: what lies beyond becomes an atom at the end."""

    inner: LineLaw
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"the clamping bounds are [{self.low:g}, {self.high:g}]: the first must be the smaller")

    @property
    def knots(self) -> tuple[float, ...]:
        return tuple(k for k in self.inner.knots if self.low < k < self.high)

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        low, high = np.asarray(self.low), np.asarray(self.high)
        return ((self.low, float(np.exp(self.inner.log_cdf(low)))), (self.high, float(np.exp(self.inner.log_sf(high)))))

    @property
    def support(self) -> tuple[float, float]:
        return (self.low, self.high)

    @property
    def centre(self) -> float:
        return float(np.clip(self.inner.centre, self.low, self.high))

    @property
    def scale(self) -> float:
        return self.inner.scale

    def tails(self) -> tuple[Tail, Tail]:
        return self.inner.tails()

    def log_pdf(self, x: Array) -> Array:
        return self.inner.log_pdf(x)

    def log_cdf(self, x: Array) -> Array:
        return self.inner.log_cdf(x)

    def log_sf(self, x: Array) -> Array:
        return self.inner.log_sf(x)


ERROR = 1e-14
_X, _W = np.polynomial.legendre.leggauss(20)
_SMALL = 1e-6  # masses that a place rounded to a double may miss
_FAR = 760.0  # e^{−760} is below the smallest double


def _mass(line: LineLaw, left: Array, right: Array) -> Array:
    """P(left < X ≤ right), from the tail that keeps the digits."""
    near = right <= line.centre
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.zeros(np.broadcast_shapes(left.shape, right.shape))
        if near.any():
            cdf = line.log_cdf(right)
            result = np.exp(cdf) * -np.expm1(np.minimum(line.log_cdf(left) - cdf, 0.0))
        if not near.all():
            sf = line.log_sf(left)
            result = np.where(near, result, np.exp(sf) * -np.expm1(np.minimum(line.log_sf(right) - sf, 0.0)))
    return np.where(left < right, result, 0.0)


@dataclass(frozen=True)
class _Negation:
    """−f."""

    f: Callable[[Array], Array]

    def __call__(self, x: Array) -> Array:
        return -self.f(x)


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseLaw(Law):
    """``line0`` under H0 and ``line1`` under H1; ``breaks`` adds knots of the likelihood ratio that are not theirs,
    ``ratio`` gives its logarithm where that is known in closed form; where it is ``straight`` between knots, no search
    is needed.
    """

    error = ERROR

    line0: LineLaw
    line1: LineLaw
    breaks: tuple[float, ...] = ()
    ratio: Callable[[Array], Array] | None = None
    straight: bool = False
    known: Exactness = field(default=Exactness.ROUNDED, kw_only=True)
    _span: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.line0.support != self.line1.support:
            raise InputError(
                f"the two laws live on {self.line0.support} and {self.line1.support}: clamp both to the same bounds"
            )
        low, high = self.line0.support
        scale = max(self.line0.scale, self.line1.scale)
        ends = [*self.line0.knots, *self.line1.knots, self.line0.centre, self.line1.centre]
        span = (
            low if np.isfinite(low) else min(ends) - _FAR * scale,
            high if np.isfinite(high) else max(ends) + _FAR * scale,
        )
        object.__setattr__(self, "_span", span)
        grid = np.linspace(0, 1, 129)
        for a, b in self._intervals():
            values = self.llr(a + (b - a) * grid)
            steps = np.diff(values)
            slack = 1e-9 * (1 + np.abs(values).max())
            if steps.min() < -slack and steps.max() > slack:
                raise InputError(
                    f"the likelihood ratio is not monotone between {a:g} and {b:g}: name its turning points in breaks"
                )

    def _intervals(self) -> list[tuple[float, float]]:
        low, high = self._span
        inner = {k for k in (*self.line0.knots, *self.line1.knots, *self.breaks) if low < k < high}
        points = [low, *sorted(inner), high]
        return list(pairwise(points))

    def llr(self, x: Array) -> Array:
        return self.ratio(x) if self.ratio is not None else np.asarray(self.line1.log_pdf(x) - self.line0.log_pdf(x))

    def _above(self, level: Array, x: Array) -> Array:
        return np.asarray(self.llr(x) - level)

    def _end(self, x: float) -> float:
        """llr at the end of an interval: where the support has no end, its limit, or its value as far as doubles
        reach.
        """
        low, high = self._span
        if not np.isfinite(self.line0.support[0]) and x in (low, high):
            side = 0 if x == low else 1
            limit = limit_of_ratio(self.line0.tails()[side], self.line1.tails()[side])
            if np.isfinite(limit):
                return limit
        return float(self.llr(np.asarray(x)))

    @cached_property
    def _parts(self) -> tuple[Array, Array, list[tuple[float, float, float, float]]]:
        """Flat mass as (llr, [p0, p1]) and the monotone intervals as (a, b, llr(a), llr(b))."""
        ratios: list[float] = []
        masses: list[tuple[float, float]] = []
        sloped: list[tuple[float, float, float, float]] = []
        for (_, m0), (_, m1) in zip(self.line0.atoms, self.line1.atoms, strict=True):
            if m0 > 0 or m1 > 0:
                with np.errstate(divide="ignore"):
                    ratios.append(float(np.log(m1) - np.log(m0)))
                masses.append((m0, m1))
        for a, b in self._intervals():
            va, vb = self._end(a), self._end(b)
            if abs(vb - va) <= 1e-13 * (1 + abs(va)):
                ends = np.asarray(a), np.asarray(b)
                ratios.append(vb if a == self._span[0] else va)  # the end nearer the middle has less rounding
                masses.append((float(_mass(self.line0, *ends)), float(_mass(self.line1, *ends))))
            else:
                sloped.append((a, b, va, vb))
        # Neighbouring stretches meet at the same ratio up to rounding: make them equal, or ties would be missed.
        values = np.sort(np.asarray([*ratios, *(v for *_, va, vb in sloped for v in (va, vb))]))
        finite = values[np.isfinite(values)]
        apart = np.diff(finite) > 1e-12 * (1 + np.abs(finite[1:]))
        anchors = finite[np.concatenate((apart, [True] * min(finite.size, 1)))]  # the largest of each cluster

        def snap(v: float) -> float:
            return float(anchors[np.searchsorted(anchors, v, side="left")]) if np.isfinite(v) else v

        joined = [(a, b, snap(va), snap(vb)) for a, b, va, vb in sloped]
        return np.asarray([snap(v) for v in ratios]), np.asarray(masses).reshape(-1, 2), joined

    symmetric = False

    def reverse(self) -> PiecewiseLaw:
        flipped = None if self.ratio is None else _Negation(self.ratio)
        return PiecewiseLaw(self.line1, self.line0, self.breaks, flipped, self.straight, known=self.known)

    def _reached(self, u: Array, a: float, b: float, va: float, vb: float) -> Array:
        if not self.straight:
            return root(partial(self._above, u), np.full(u.shape, a), np.full(u.shape, b), atol=1e-15)
        if va == vb:  # too close to tell apart: nothing lies between
            return np.full(u.shape, a)
        x = a + (u - va) / (vb - va) * (b - a)
        x = x - (self.llr(x) - u) * ((b - a) / (vb - va))  # once more, from there: a may be far away
        return np.asarray(np.clip(x, a, b))

    def _split(self, u: Array, *, ties: bool = False) -> tuple[Array, Array, Array, Array]:
        """(α, recall, 1−α, 1−recall) of {llr > u}, or of {llr ≥ u} with ``ties``."""
        u = np.asarray(u, dtype=float)
        ratios, masses, sloped = self._parts
        above = ratios >= u[..., None] if ties else ratios > u[..., None]
        alpha, recall = above @ masses[:, 0], above @ masses[:, 1]
        rest0, rest1 = ~above @ masses[:, 0], ~above @ masses[:, 1]
        for a, b, va, vb in sloped:
            inside = (u > min(va, vb)) & (u < max(va, vb))
            rising = vb > va
            whole = (u <= min(va, vb)) == rising  # at a threshold outside, all of the piece is on one side
            x = self._reached(u[inside], a, b, va, vb) if inside.any() else u[inside]
            below0, beyond0 = self._parted(self.line0, x, inside, whole, a, b)
            below1, beyond1 = self._parted(self.line1, x, inside, whole, a, b)
            alpha, rest0 = (alpha + beyond0, rest0 + below0) if rising else (alpha + below0, rest0 + beyond0)
            recall, rest1 = (recall + beyond1, rest1 + below1) if rising else (recall + below1, rest1 + beyond1)
        return np.asarray(alpha), np.asarray(recall), np.asarray(rest0), np.asarray(rest1)

    @staticmethod
    def _parted(line: LineLaw, x: Array, inside: Mask, whole: Mask, a: float, b: float) -> tuple[Array, Array]:
        """The mass of [a, b] below and beyond x where a threshold is inside, and all of it on one side elsewhere."""
        ends = np.asarray([a]), np.asarray([b])
        mass = _mass(line, *ends)[0]
        below, beyond = np.where(whole, 0.0, mass), np.where(whole, mass, 0.0)
        if x.size:
            below[inside], beyond[inside] = _mass(line, ends[0], x), _mass(line, x, ends[1])
        return below, beyond

    @cached_property
    def _levels(self) -> tuple[Array, Array, Array, Array, Array]:
        """Thresholds where something starts or ends, falling, and (α, recall, rest0, rest1) just above and at each."""
        ratios, _, sloped = self._parts
        values = np.unique(np.concatenate((ratios, [v for *_, va, vb in sloped for v in (va, vb)])))[::-1]
        strict, weak = self._split(values), self._split(values, ties=True)
        joined = [np.stack((s, w), axis=-1).ravel() for s, w in zip(strict, weak, strict=True)]
        return values, joined[0], joined[1], joined[2], joined[3]

    @cached_property
    def _one_sided(self) -> int:
        """1 (or −1) if the ratio never falls (rises) along the line, so that "x > c" ("x < c") is optimal; else 0."""
        if self.line0.atoms:
            return 0
        values = [self._end(v) for interval in self._intervals() for v in interval]
        steps = np.diff(values)
        slack = 1e-12 * (1 + np.abs(values).max())
        return 1 if steps.min() >= -slack else -1 if steps.max() <= slack else 0

    def _follow_one_sided(self, given: Array, known: int, wanted: int) -> Array:
        """The same curve from a threshold on the observation itself: relative precision in the deepest tail."""
        lines = (self.line0, self.line1)
        low, high = self._span

        def log_hit(line: LineLaw, c: Array) -> Array:
            return line.log_sf(c) if self._one_sided == 1 else line.log_cdf(c)

        def log_miss(line: LineLaw, c: Array) -> Array:
            return line.log_cdf(c) if self._one_sided == 1 else line.log_sf(c)

        inside = (given > 0) & (given < 1)
        goal = np.where(inside, given, 0.5)
        # match the smaller of hit and miss, which carries the digits
        small = goal <= 0.5

        def excess(c: Array) -> Array:
            hit, miss = log_hit(lines[known], c), log_miss(lines[known], c)
            return np.where(small, hit - np.log(goal), np.log1p(-np.where(small, 0.5, goal)) - miss)

        c = root(excess, np.full(goal.shape, low), np.full(goal.shape, high), atol=1e-300)
        value = np.exp(log_hit(lines[wanted % 2], c) if wanted < 2 else log_miss(lines[wanted % 2], c))
        zero, one = (0.0, 1.0) if wanted < 2 else (1.0, 0.0)
        return np.where(given <= 0, zero, np.where(given >= 1, one, value))

    def _follow(self, given: Array, known: int, wanted: int) -> Array:
        """The coordinate ``wanted`` of the curve where coordinate ``known`` (0 α, 1 recall) has the given value."""
        if self._one_sided:
            return self._follow_one_sided(np.asarray(given, dtype=float), known, wanted)
        values, *columns = self._levels
        given = np.asarray(given, dtype=float)
        axis, out = np.maximum.accumulate(columns[known]), columns[wanted]
        k = np.clip(np.searchsorted(axis, given, side="left"), 1, axis.size - 1)
        # inside a jump (an odd place) the test is randomised: a chord
        width = axis[k] - axis[k - 1]
        safe = np.where(width > 0, width, 1.0)
        share = np.where(width > 0, np.clip((given - axis[k - 1]) / safe, 0.0, 1.0), 1.0)
        left = np.clip(((1 - given) - columns[known + 2][k]) / safe, 0.0, 1.0)  # 1 − share, precise near 1
        step = out[k] - out[k - 1]
        result = np.where(share < 0.5, out[k - 1] + share * step, out[k] - np.where(width > 0, left, 0.0) * step)
        smooth = (k % 2 == 0) & (width > 0) & (share > 0) & (share < 1)
        if smooth.any():
            g, j = given[smooth], k[smooth] // 2
            high, low = values[j - 1], values[j]

            def excess(u: Array) -> Array:
                with np.errstate(divide="ignore"):
                    return np.asarray(np.log(self._split(u)[known]) - np.log(g))

            u = root(excess, low, high, rtol=1e-11, atol=1e-11)
            # the slope of the curve is e^u, so what the search left over is made good along the tangent
            here = self._split(u)
            left_over, slope = g - here[known], np.exp(np.clip(u, -700.0, 700.0))
            moved = {(0, 1): slope, (0, 3): -slope, (1, 0): 1 / slope}[known, wanted] * left_over
            result = np.array(result, dtype=float)
            result[smooth] = np.clip(here[wanted] + moved, 0.0, 1.0)
        return np.asarray(result)

    @cached_property
    def _peaked(self) -> tuple[float, float, float]:
        """The largest and the least ratio where a knot has it, else infinite, and what a place rounded there moves.

        About such a knot an interval of mass 1e-20 has no place of its own among doubles, but the ratio is almost the
        knot's, which bounds what the interval holds.
        """
        low, high = self._span
        knots = [(x, v) for a, b, va, vb in self._parts[2] for x, v in ((a, va), (b, vb)) if low < x < high]
        values = self._levels[0]
        near = [x for x, v in knots if v in (values[0], values[-1])]
        size = max(map(abs, near), default=0.0) / min(self.line0.scale, self.line1.scale)
        top, bottom = (any(v == end for _, v in knots) for end in (values[0], values[-1]))
        return float(values[0]) if top else np.inf, float(values[-1]) if bottom else -np.inf, 1e-15 * (1 + size)

    def misplaced(self, share: Array) -> Array:
        most, _, moved = self._peaked
        far = (np.minimum(share, 1 - share) > _SMALL) | np.isinf(most)
        return np.where(far, 0.0, moved * np.exp(np.clip(most, 0.0, 30.0)))

    def tradeoff(self, alpha: Array) -> Array:
        value = np.maximum(self._follow(alpha, 0, 3) * (1 - ERROR), 0.0)
        _, least, moved = self._peaked
        rest = 1 - np.asarray(alpha, dtype=float)
        if not np.isfinite(least) or np.all(rest > _SMALL):
            return value
        return np.where(rest > _SMALL, value, np.clip(value - moved, rest * np.exp(least), rest))

    def roc(self, alpha: Array) -> Array:
        value = np.minimum(self._follow(alpha, 0, 1) * (1 + ERROR), 1.0)
        most, _, moved = self._peaked
        alpha = np.asarray(alpha, dtype=float)
        if not np.isfinite(most) or np.all(alpha > _SMALL):
            return value
        most = min(most + ERROR * (1 + abs(most)), 700.0)
        bound = np.minimum(alpha * np.exp(most), 1.0)
        return np.where(alpha > _SMALL, value, np.clip(value + moved * np.exp(min(most, 30.0)), alpha, bound))

    def inverse_roc(self, recall: Array) -> Array:
        value = self._follow(recall, 1, 0) * (1 - ERROR)
        most, _, moved = self._peaked
        recall = np.asarray(recall, dtype=float)
        if not np.isfinite(most) or np.all(recall > _SMALL):
            return value
        most += ERROR * (1 + abs(most))
        return np.where(recall > _SMALL, value, np.clip(value - moved, recall * np.exp(-most), recall))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        alpha, recall, _, _ = self._split(np.asarray(log_threshold, dtype=float))
        return np.minimum(alpha, 1.0), np.minimum(recall, 1.0)

    def profile(self, log_threshold: Array) -> Array:
        """recall − t·α, plus the stated rounding of both; 0 where nothing lies above the threshold."""
        u = np.asarray(log_threshold, dtype=float)
        alpha, recall, rest0, rest1 = self._split(u)
        with np.errstate(over="ignore", invalid="ignore"):
            t = np.where(alpha > 0, np.exp(u), 0.0)
            upper = recall - t * alpha
            lower = -np.expm1(u) + (np.exp(u) * rest0 - rest1)  # the same from the other side, for t < 1
            value = np.where(u < 0, lower, upper) + ERROR * (recall + t * alpha)
        return np.where(recall > 0, np.clip(value, 0.0, 1.0), 0.0)

    def profile_inverse(self, delta: Array) -> Array:
        delta = np.asarray(delta, dtype=float)
        start = self.profile(np.zeros(delta.shape))
        zero = start <= delta
        d = np.where(zero | (delta <= 0), 0.5 * np.maximum(start, 1e-300), delta)
        values = self._levels[0]
        high = np.full(delta.shape, max(float(np.max(values[np.isfinite(values)], initial=0.0)), 1e-12))
        near = 1e-14 * float(high.max())
        value = root(lambda e: self.profile(e) - d, np.zeros(delta.shape), high, rtol=1e-13, atol=near)
        value = np.where(self.profile(value) > d, value + 1e-13 * (1 + value), value)
        jump = self.profile(high) > d  # mass that only H1 shows
        limit = np.where(jump, np.inf, value)
        return np.where(zero, 0.0, np.where(delta > 0, limit, np.maximum(self.max_llr(), 0.0)))

    def max_llr(self) -> Array:
        """The largest ratio, flat, at a knot or in the limit; infinite where the tails let it grow for ever."""
        ratios, masses, sloped = self._parts
        best = float(np.max(ratios[masses[:, 1] > 0], initial=-np.inf))
        best = max([best, *(v for *_, va, vb in sloped for v in (va, vb))])
        if not np.isfinite(self.line0.support[0]):
            for side, end in enumerate(self._span):
                limit = limit_of_ratio(self.line0.tails()[side], self.line1.tails()[side])
                # normal tails: the ratio grows where it still rises outwards
                inner = 0.75 * end + 0.25 * self.line0.centre
                grows = float(self.llr(np.asarray(end)) - self.llr(np.asarray(inner))) > 1e-9
                best = np.inf if np.isposinf(limit) or (np.isnan(limit) and grows) else best
        return np.asarray(best + ERROR * (1 + abs(best)) if np.isfinite(best) else best)

    def _nodes(self) -> tuple[Array, Array]:
        """Quadrature nodes and log-weights over the sloped intervals, panels no wider than half a scale."""
        places, weights = [], []
        width = 0.5 * min(self.line0.scale, self.line1.scale)
        for a, b, *_ in self._parts[2]:
            edges = np.linspace(a, b, int(np.clip(np.ceil((b - a) / width), 4, 6000)) + 1)
            half = np.diff(edges)[:, None] / 2
            places.append((edges[:-1, None] + half * (1 + _X)).ravel())
            weights.append(np.log(half * _W).ravel())
        return np.concatenate([*places, []]), np.concatenate([*weights, []])

    @cached_property
    def _weighted(self) -> tuple[Array, Array, Array, Array]:
        """(log H0-mass, H0-mass, H1-mass, llr) of flat mass and of the nodes with their weights."""
        ratios, masses, _ = self._parts
        x, w = self._nodes()
        log_p0, llr = w + self.line0.log_pdf(x), self.llr(x)
        with np.errstate(divide="ignore"):
            log_q0 = np.concatenate((np.log(masses[:, 0]), log_p0))
        q1 = np.concatenate((masses[:, 1], np.exp(log_p0 + llr)))
        return log_q0, np.exp(log_q0), q1, np.concatenate((ratios, llr))

    def log_moment(self, a: Array) -> Array:
        """Flat mass exactly, the rest by Gauss–Legendre between knots."""
        a = np.asarray(a, dtype=float)
        log_q0, q0, q1, u = self._weighted
        both = np.isfinite(u)  # mass that one law lacks counts only at the order that ignores the other
        values = []
        for v in a.ravel():
            less_one = moment_less_one(q0, q1, u, float(v)) if both.all() else np.nan
            if abs(less_one) < 0.5:
                values.append(np.log1p(less_one))
                continue
            lost = (v > 1 and np.isposinf(u).any()) or (v < 0 and np.isneginf(u).any())
            values.append(np.inf if lost else logsumexp(log_q0[both] + v * u[both]))
        return np.asarray(values).reshape(a.shape)

    def kl(self) -> Array:
        """Σ p0·(e^u − 1 − u), of positive terms, and what only H1 shows; infinite if H1 misses what H0 shows."""
        _, q0, q1, u = self._weighted
        if np.any(np.isneginf(u) & (q0 > 0)):
            return np.asarray(np.inf)
        small = np.where(u < 30, q0 * expm1mx(np.clip(u, -1e308, 30.0)), 0.0)
        with np.errstate(invalid="ignore"):
            large = np.where(u < 30, 0.0, np.where(np.isposinf(u), q1, q1 - q0 * (1 + u)))
        return np.asarray(np.sum(small) + np.sum(large))

    def auc(self) -> Array:
        """∫ recall dα: chords over flat mass, and E₀[recall(llr(X))] over the sloped parts, split where another
        starts.
        """
        near = 45 * max(self.line0.scale, self.line1.scale)  # e^{−45} of the mass lies beyond: below rounding
        reach = self.line0.centre - near, self.line0.centre + near
        if np.isfinite(self.line0.support[0]):  # all of it: a bounded law may hold its mass at the ends
            reach = self._span
        if self._one_sided:
            hit = self.line1.log_sf if self._one_sided == 1 else self.line1.log_cdf
            ends = [*self._span, *self.line0.knots, *self.line1.knots, self.line0.centre, self.line1.centre]
            edges = np.unique(np.clip(ends, *reach))
            total = integrate(lambda x: np.exp(self.line0.log_pdf(x) + hit(x)), edges, tolerance=1e-15)
            return np.asarray(min(total * (1 + ERROR), 1.0))
        values, _, recall, _, _ = self._levels
        ratios, masses, sloped = self._parts
        place = np.searchsorted(-values, -ratios)
        total = float(np.sum(masses[:, 0] * (recall[2 * place] + recall[2 * place + 1]) / 2))
        for a, b, va, vb in sloped:
            inner = values[(values > min(va, vb)) & (values < max(va, vb))]
            cuts = root(partial(self._above, inner), np.full(inner.shape, a), np.full(inner.shape, b))
            points = np.unique(np.clip(np.concatenate(([a], cuts, [b])), *reach))
            total += integrate(self._hit_density, points)
        return np.asarray(min(total * (1 + ERROR), 1.0))

    def _hit_density(self, x: Array) -> Array:
        """H0's density times the recall of the test whose threshold is llr(x)."""
        return np.asarray(np.exp(self.line0.log_pdf(x)) * self._split(self.llr(x))[1])

    def psi(self) -> Array:
        """By tangents; infinite if either law has mass the other lacks, or a heavier exponential tail.

        With normal tails the bound covers what doubles can see, α ≥ 1e-300; it is loose where the optimum is not
        isolated.
        """
        if not np.isfinite(self.line0.support[0]):
            ends = zip(self.line0.tails(), self.line1.tails(), strict=True)
            if any(np.isinf(limit_of_ratio(*pair)) for pair in ends):
                return np.asarray(np.inf)
        values, alphas, recalls, *_ = self._levels
        if recalls[0] > 0 or alphas[-1] < 1 - 1e-12:
            return np.asarray(np.inf)
        finite = values[np.isfinite(values)]
        between = (np.linspace(b, a, 65) for a, b in pairwise(finite))
        return np.asarray(self.psi_between(np.concatenate((finite, *between))))

    def _recalled(self, u: Array) -> tuple[Array, ...]:
        """α, recall and 1 − recall, each with all its digits."""
        alpha, recall, _, rest = self._split(u)
        return np.minimum(alpha, 1.0), np.minimum(recall, 1.0), rest

    def psi_between(self, thresholds: Array, most: int = 20_000) -> float:
        """The bound by tangents from these thresholds, refined to ``most``: in both orders, since each keeps the digits
        of one tail.
        """
        back = self.reverse()
        return max(
            psi_by_tangents(law, u, law._recalled, most=most) for law, u in ((self, thresholds), (back, -thresholds))
        )

    def fbeta(self, beta: Array, odds: Array) -> Array:
        return fbeta_by_thresholds(self, beta, odds, error=ERROR)
