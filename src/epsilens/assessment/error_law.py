"""The law of what one query publishes at one ε: how far from the whole table's answers, and how often hidden.

What is published is a + Z, a the answer after limits and bounds and Z the noise; with the bias B = a − v its error
is |B + Z|, and the 95% error E is what it exceeds in 5 of 100 releases (q = .05):

* Laplace: for E ≥ |B| both tails are exponential, P(|B+Z| > E) = e^{−E/b}·cosh(B/b), so that
  E = b·ln(cosh(B/b)/q). That E is at least |B| exactly where (1 + e^{−2|B|/b})/2 ≥ q, which holds for every q ≤ ½.
  Written E = |B| + b·(ln(1/2q) + ln(1 + e^{−2|B|/b})) it never overflows.
* Gaussian: Φ((E−B)/σ) + Φ((E+B)/σ) = 2 − q, one root between |B| + σ·z(q) and |B| + σ·z(q/2).
* An average is A = clamp(c + (S + Z_S)/max(N + Z_N, 1)): c the middle of the bounds, S = Σ(x − c) over the N kept rows
  with a value. With τ = t − c and D = max(N + Z_N, 1),

      P(A > t) = P(Z_N ≤ 1−N)·P(Z_S > τ − S) + P(Z_S − τ·Z_N > τN − S, Z_N > 1−N),

  whose second part is a sum of exponential integrals (Laplace) or a bivariate normal orthant, two of Owen's T
  (Gaussian): exact for every N, floor and clamp included.
* A threshold τ hides a group: where other noise decides, with probability h, the rest is held to (q − h)/(1 − h); a
  count of people that is compared itself lies in [max(τ, v − E), v + E] in 95 of 100 releases. Where h > q no E is
  enough, and the error is infinite: the answer is missing too often.

Source: the reference sheet "What a plan moves", Error; Owen, Ann. Math. Stat. 27 (1956), for the orthant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, owens_t

from ..checks import Array
from ..data.queries import Noise, QueryKind
from ..mechanisms.noise import noise_quantile, noise_tail
from ..numerics.roots import root
from ..plan.answers import ExactAnswer
from ..plan.contribution import NoisyNumber, noisy_numbers, scale_of, threshold_of
from ..plan.model import Release

_TINY = 1e-300  # instead of 0, where something is divided by it
_FAR = 2000.0  # noise scales: e^{-2000} is 0
_NEAR = 2e-13


def additive_error(noise: Noise, bias: Array, scale: Array, miss: Array) -> Array:
    """E with P(|bias + scale·Z| > E) = miss, for miss ≤ ½.

    >>> float(additive_error(Noise.LAPLACE, np.array(0.0), np.array(1.0), np.array(0.05)).round(6))
    2.995732
    """
    size, scale = np.abs(bias), np.maximum(scale, _TINY)
    if noise is Noise.LAPLACE:
        with np.errstate(over="ignore"):
            both = np.log1p(np.exp(-2 * (size / scale)))
        return np.asarray(size + scale * (both - np.log(2 * np.asarray(miss))))
    away = np.minimum(size / scale, 1e8)  # the far tail is 0 from 9 on
    low, high = -ndtri(np.asarray(miss, dtype=float)), -ndtri(np.asarray(miss, dtype=float) / 2)
    low, high, away = np.broadcast_arrays(low - 1e-6, high + 1e-6, away)  # rounding leaves the root inside
    # E = |B| + σx: the near tail is that of x, the far one that of x + 2|B|/σ
    x = root(lambda x: ndtr(-x) + ndtr(-x - 2 * away) - miss, low, high)
    return np.asarray(size + scale * x)


def additive_miss(noise: Noise, bias: Array, scale: Array, error: Array) -> Array:
    """P(|bias + scale·Z| > error)."""
    scale = np.maximum(scale, _TINY)
    with np.errstate(over="ignore"):
        return np.asarray(noise_tail(noise, (error - bias) / scale) + noise_tail(noise, (error + bias) / scale))


def thresholded_error(noise: Noise, bounded: Array, value: Array, scale: float, threshold: float, miss: Array) -> Array:
    """The error of a count that is published only where it reaches a threshold itself; infinite where that is rare."""
    bias = bounded - value
    free = additive_error(noise, bias, np.asarray(scale), miss)
    hidden = noise_tail(noise, (bounded - threshold) / max(scale, _TINY))
    below = noise_tail(noise, (free + bias) / max(scale, _TINY))
    spare = np.asarray(miss - hidden)
    held = bias + scale * noise_quantile(noise, np.maximum(spare, _TINY))
    return np.where(spare <= 0, np.inf, np.where(below >= hidden, free, np.maximum(held, free)))


# -- averages: a noisy total over a noisy size -------------------------------------------------------------------------


def above_ratio(
    noise: Noise, tau: Array, total: Array, size: Array, scale: float | Array, size_scale: float | Array
) -> Array:
    """P(total + Z > τ·max(size + Z', 1)); without noise on the size where its scale is 0."""
    tau, total, size = (np.asarray(x, dtype=float) for x in np.broadcast_arrays(tau, total, size))
    scale = np.maximum(scale, _TINY)
    if not np.any(size_scale):
        return np.asarray(noise_tail(noise, (tau * np.maximum(size, 1.0) - total) / scale))
    floor = noise_tail(noise, (size - 1) / size_scale) * noise_tail(noise, (tau - total) / scale)
    part = _laplace_part if noise is Noise.LAPLACE else _gaussian_part
    return np.asarray(np.clip(floor + part(tau, total, size, scale, size_scale), 0.0, 1.0))


def _laplace_part(tau: Array, total: Array, size: Array, scale: Array, size_scale: float | Array) -> Array:
    """½∫_{w₀}^∞ e^{−|w|}·P(Z > g₀ + κw) dw: exponentials between the places where w or g₀ + κw changes its sign."""
    start = (1 - size) / size_scale
    g0, slope = (tau * size - total) / scale, tau * size_scale / scale
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turn = np.where(slope != 0, -g0 / slope, start)
    turn = np.clip(turn, start, np.maximum(start, 0.0) + _FAR)
    zero = np.maximum(start, 0.0)
    first, second = np.minimum(turn, zero), np.maximum(turn, zero)
    made = np.zeros_like(g0)
    for a, b in ((start, first), (first, second), (second, None)):
        inside = a + 1.0 if b is None else (a + b) / 2
        side, sign = np.where(inside >= 0, 1.0, -1.0), np.where(g0 + slope * inside >= 0, 1.0, -1.0)
        made += 0.5 * np.where(sign < 0, _exponential(0.0, -side, a, b), 0.0)
        made += 0.25 * sign * _exponential(-sign * g0, -side - sign * slope, a, b)
    return made


def _exponential(level: Array | float, slope: Array, a: Array, b: Array | None) -> Array:
    """∫_a^b exp(level + slope·w) dw with an exponent of 0 or less on it; to infinity where b is None."""
    at_a = np.minimum(level + slope * a, 0.0)
    if b is None:
        return np.asarray(np.exp(at_a) / np.maximum(-slope, _TINY))
    at_b = np.minimum(level + slope * b, 0.0)
    apart = np.abs(at_a - at_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(apart > 0, -np.expm1(-apart) / apart, 1.0)
    return np.asarray((b - a) * np.exp(np.maximum(at_a, at_b)) * mean)


def _gaussian_part(tau: Array, total: Array, size: Array, scale: Array, size_scale: float | Array) -> Array:
    """P(X > h, Y > k) of two standard normals with the correlation ρ = −τ·σ'/s."""
    spread = np.hypot(scale, tau * size_scale)
    h, k = (tau * size - total) / spread, (1 - size) / size_scale
    h, k = np.where(h == 0, _TINY, h), np.where(k == 0, _TINY, k)
    rho, rest = -tau * size_scale / spread, scale / spread
    with np.errstate(over="ignore", divide="ignore"):
        over_h, over_k = (k / h - rho) / rest, (h / k - rho) / rest
    opposite = np.where(np.sign(h) * np.sign(k) > 0, 0.0, 0.5)
    orthant = 0.5 * (ndtr(-h) + ndtr(-k)) - owens_t(h, over_h) - owens_t(k, over_k) - opposite
    return np.asarray(np.clip(orthant, 0.0, 1.0))


def ratio_miss(
    noise: Noise, mean: Array, value: Array, size: Array, bounds: tuple[float, float], scale: float | Array,
    size_scale: float | Array, error: Array,
) -> Array:  # fmt: skip
    """P(|A − value| > error) of an average: ``mean`` of ``size`` rows after limits and bounds."""
    low, high = bounds
    centre = low / 2 + high / 2
    total = (mean - centre) * size
    up, down = value + error, value - error
    tau, total, size = np.stack((up - centre, centre - down)), np.stack((total, -total)), np.stack((size, size))
    right, left = above_ratio(noise, tau, total, size, scale, size_scale)
    # what is clamped never leaves the bounds
    right = np.where(up >= high, 0.0, np.where(up < low, 1.0, right))
    left = np.where(down <= low, 0.0, np.where(down > high, 1.0, left))
    return np.asarray(np.minimum(right + left, 1.0))


#: How many releases the error is to hold in.
LEVEL = 0.95
_LESS, _TRIES = 0.8, 40  # a share that looks too large is made so much smaller, so often


def joint_level(groups: int, level: float = LEVEL) -> float:
    """The level at which each of several independent bands must hold so that all hold together: level^(1/k).

    >>> [round(joint_level(k), 6) for k in (1, 6)]
    [0.95, 0.991488]
    """
    return float(level ** (1 / max(groups, 1)))


@dataclass(frozen=True, eq=False)
class AnswerColumns:
    """The answers of a query, a column for each of their numbers."""

    value: Array
    bounded: Array
    rows: Array
    people: Array

    @classmethod
    def of(cls, answers: Sequence[ExactAnswer]) -> AnswerColumns:
        numbers = [(a.value, a.bounded, a.rows, a.people) for a in answers]
        return cls(*np.array(numbers, dtype=float).reshape(-1, 4).T)

    def take(self, which: NDArray[np.integer[Any]]) -> AnswerColumns:
        return AnswerColumns(self.value[which], self.bounded[which], self.rows[which], self.people[which])

    def without_bias(self) -> AnswerColumns:
        """As if the answers after limits and bounds were those of the whole table."""
        return AnswerColumns(self.bounded, self.bounded, self.rows, self.people)


@dataclass(frozen=True, eq=False)
class ErrorLaw:
    """What is published at one ε.

    ``scale`` is that of the noise on an answer, or on the total of an average, whose size has ``size_scale`` (0 where
    the size is public). ``threshold`` is compared with the noisy number of people, noise of ``people_scale``; where
    that is None, with the noisy answer itself.
    """

    noise: Noise
    columns: AnswerColumns
    scale: float
    size_scale: float = 0.0
    bounds: tuple[float, float] | None = None  # of an average; nothing else is clamped after the noise
    threshold: float | None = None
    people_scale: float | None = None

    @property
    def hidden(self) -> Array:
        """The chance that the threshold hides each group."""
        if self.threshold is None:
            return np.zeros_like(self.columns.value)
        own = self.people_scale is None
        seen, scale = (self.columns.bounded, self.scale) if own else (self.columns.people, self.people_scale)
        chance = noise_tail(self.noise, (seen - self.threshold) / (scale or 1e-300))
        return np.where(self.columns.people > 0, chance, 1.0)  # where nobody counts there is nothing to name

    def open(self) -> ErrorLaw:
        """The same without its threshold: every group is published."""
        return replace(self, threshold=None, people_scale=None)

    def of(self, columns: AnswerColumns) -> ErrorLaw:
        return replace(self, columns=columns)

    def miss(self, error: Array) -> Array:
        """P(|published − value| > error), the threshold apart."""
        c = self.columns
        if self.bounds is None:
            return additive_miss(self.noise, c.bounded - c.value, np.asarray(self.scale), error)
        return ratio_miss(self.noise, c.bounded, c.value, c.rows, self.bounds, self.scale, self.size_scale, error)

    def errors(self, level: float = LEVEL) -> Array:
        """For each group the error that is exceeded, or the answer hidden, in 1 − level of all releases."""
        c, miss = self.columns, self._allowed(level)
        if self.bounds is not None:
            return errors_of([(self, level)])[0]
        if self.threshold is not None and self.people_scale is None:
            found = thresholded_error(self.noise, c.bounded, c.value, self.scale, self.threshold, np.asarray(1 - level))
            return np.where(c.people > 0, found, np.inf)
        found = additive_error(self.noise, c.bounded - c.value, np.asarray(self.scale), np.where(miss > 0, miss, 0.5))
        return np.where(miss > 0, found, np.inf)

    def _allowed(self, level: float) -> Array:
        """How often each group may miss when it is published; 0 or less where it is hidden too often already."""
        if self.threshold is None or (self.people_scale is None and self.bounds is None):
            return np.full_like(self.columns.value, 1 - level)
        hidden = self.hidden
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(hidden < 1 - level, (1 - level - hidden) / (1 - hidden), 0.0)

    @property
    def _most(self) -> Array:
        """How far a clamped answer can be from the true one."""
        low, high = self.bounds or (0.0, 0.0)
        return np.maximum(np.abs(high - self.columns.value), np.abs(self.columns.value - low))

    def ratios(self, level: float) -> Array:
        """What the error of each average depends on, a row a group."""
        c, alike = self.columns, np.ones(self.columns.value.size)
        scales = self.scale * alike, self.size_scale * alike
        return np.column_stack((c.value, c.bounded, c.rows, self._most, self._allowed(level), *scales))

    def worst(self, level: float = LEVEL) -> tuple[int, float]:
        """The group with the largest error for its answer, and that share; answers of 0 are left out."""
        return worst_groups([self], level)[0]

    def suspects(self, rated: NDArray[np.integer[Any]], level: float) -> NDArray[np.integer[Any]]:
        """The averages among these that may be the worst: those beyond a share of the answer that some one exceeds."""
        law = self.of(self.columns.take(rated))
        c, size, allowed = law.columns, np.abs(law.columns.value), law._allowed(level)
        missing = np.flatnonzero(allowed <= 0)
        if missing.size:
            return rated[missing[[np.argmin(size[missing])]]]
        wide = self.scale + np.abs(c.bounded) * self.size_scale
        looks = np.minimum(np.abs(c.bounded - c.value) + 3 * wide / np.maximum(c.rows, 1.0), law._most) / size
        for share in float(looks.max()) * _LESS ** np.arange(1.0, _TRIES):
            beyond = law.miss(share * size) > allowed
            if beyond.any():
                return rated[beyond]
        return rated


def errors_of(asked: Sequence[tuple[ErrorLaw, float]]) -> list[Array]:
    """The errors of several laws of one query, each at its level: averages are read together, from above by 1e-12."""
    first = asked[0][0]
    if first.bounds is None:
        return [law.errors(level) for law, level in asked]
    rows = [law.ratios(level) for law, level in asked]
    alike, place = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    value, bounded, size, most, miss, scale, size_scale = alike.T
    given = first.noise, bounded, value, size, first.bounds, scale, size_scale
    found = root(lambda error: ratio_miss(*given, error) - miss, np.zeros_like(most), most, rtol=_NEAR)
    found = np.minimum(found * (1 + 4 * _NEAR), most)
    errors = np.where(miss > 0, found, np.inf)[place.reshape(-1)]
    return np.split(errors, np.cumsum([len(part) for part in rows])[:-1])


def worst_groups(laws: Sequence[ErrorLaw], level: float = LEVEL) -> list[tuple[int, float]]:
    """:meth:`ErrorLaw.worst` of several laws of the same answers."""
    values = laws[0].columns.value
    rated: NDArray[np.integer[Any]] = np.flatnonzero(values)
    if not rated.size:
        return [(-1, np.inf)] * len(laws)
    looked = [rated if law.bounds is None else law.suspects(rated, level) for law in laws]
    errors = errors_of([(law.of(law.columns.take(at)), level) for law, at in zip(laws, looked, strict=True)])
    with np.errstate(over="ignore"):
        shares = [error / np.abs(values[at]) for error, at in zip(errors, looked, strict=True)]
    return [(int(at[i := int(np.argmax(share))]), float(share[i])) for at, share in zip(looked, shares, strict=True)]


def error_law(plan: Release, i: int, columns: AnswerColumns, epsilon: float) -> ErrorLaw:
    """What query i publishes at a total ε."""
    query, kinds = plan.queries[i], noisy_numbers(plan.queries[i])
    average = query.kind is QueryKind.AVERAGE
    if average and query.bounds:  # noise around nothing is noise around the middle
        middle = query.bounds[0] / 2 + query.bounds[1] / 2
        columns = replace(columns, bounded=np.where(columns.rows > 0, columns.bounded, middle))
    return ErrorLaw(
        plan.mechanism.noise,
        columns,
        scale_of(plan, i, NoisyNumber.TOTAL if average else NoisyNumber.ANSWER, epsilon),
        scale_of(plan, i, NoisyNumber.SIZE, epsilon) if NoisyNumber.SIZE in kinds else 0.0,
        query.bounds if average else None,
        threshold_of(plan, i, epsilon),
        scale_of(plan, i, NoisyNumber.PEOPLE, epsilon) if NoisyNumber.PEOPLE in kinds else None,
    )
