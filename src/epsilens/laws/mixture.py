"""N(0, 1) against a mixture of normals, Σ w_j·N(c_j, 1) with c_j ≥ 0: how far a release moves is itself random.

The loss log Σ w_j·e^{c_j·x − c_j²/2} grows with x and is convex. It dominates vectors: Lemma D4 in
docs/proofs/dominating-pairs.md. What is random may be anything independent of the noise: whom of a **group** a Poisson
sample draws (``GroupStep``, Theorem D12), or how often a batch drawn **with replacement** holds a person
(``DrawsStep``, Theorem D17).

A weight at shift 0 is kept apart by :class:`~epsilens.laws.composition.wrappers.Sampled`, whose digits do not depend
on it.

Two mixtures of normals on opposite sides, Σ w_j·N(−c_j, 1) against Σ w_j·N(c_j, 1), are records replaced in a sample,
and groups of them: docs/proofs/dominating-pairs.md, Theorem D11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from ..checks import Array
from ..errors import InputError
from ..numerics.special import Index, log_binomial
from .composition.quadrature import QuadratureStep, UnboundedStep
from .composition.step import Step
from .composition.wrappers import SampledStep

_U = 2.0**-53
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_LOG2 = math.log(2.0)
_NEGLIGIBLE = -46.0  # log share of a component that is not summed up
_SEPARATE_WEIGHT = 1 / 32  # a weight at 0 above this is kept apart
_BLOCK = 2048
_FEW, _TABLED = 24, 256  # components, all of them summed; compared with each other
_MOST_TURNS = 48
_MOST_PRICE = 8
_NEWTON, _NOISE = 80, 1e-9
_EACH = 16
_PLACES = np.arange(-64 * _EACH, 64 * _EACH + 1) / _EACH
_NOTHING, _FAR = -800.0, 40.0  # a log mass, and where a normal law ends
_MOST_SHIFTS, _MOST_DRAWS = 2048, 10**6


class _MixtureStep(QuadratureStep):
    """What mixtures share; a subclass says the shifts, growing, and the logarithms of their weights."""

    @property
    def _components(self) -> tuple[Array, Array]:
        raise NotImplementedError

    @cached_property
    def _c(self) -> Array:
        return self._components[0]

    @cached_property
    def _log_w(self) -> Array:
        logs = self._components[1]
        return np.asarray(logs - logsumexp(logs))

    @cached_property
    def _at_zero(self) -> float:
        """The logarithm of the weight that does not move at all."""
        return float(self._log_w[0]) if self._c[0] == 0 else -math.inf

    @cached_property
    def _base(self) -> Array:
        """log w − c²/2: a component's loss at x = 0."""
        return np.asarray(self._log_w - self._c**2 / 2)

    @cached_property
    def _kept(self) -> slice:
        """The components whose mass is a number at all."""
        live = np.flatnonzero(self._log_w > _NOTHING)
        return slice(int(live[0]), int(live[-1]) + 1)

    @cached_property
    def _seen(self) -> tuple[Array, Array]:
        """From where on, and up to where, a component and those beyond it have a share worth summing."""
        c, base = self._c, self._base
        floor = _NEGLIGIBLE - math.log(c.size)
        first, last = np.full(c.size, -np.inf), np.full(c.size, np.inf)
        for j in range(c.size):
            # a_j − a_i = base_j − base_i + (c_j − c_i)·x
            if j:
                first[j] = np.max((floor - (base[j] - base[:j])) / (c[j] - c[:j]))
            if j + 1 < c.size:
                last[j] = np.min((base[j] - base[j + 1 :] - floor) / (c[j + 1 :] - c[j]))
        return np.minimum.accumulate(first[::-1])[::-1], np.maximum.accumulate(last)

    @cached_property
    def _hull(self) -> tuple[Index, Array]:
        """The components that are the largest somewhere, and the places between them."""
        c, base = self._c, self._base
        kept: list[int] = []
        turns: list[float] = []
        for j in range(c.size):
            while kept:
                i = kept[-1]
                turn = (base[i] - base[j]) / (c[j] - c[i])
                if not turns or turn > turns[-1]:
                    turns.append(turn)
                    break
                kept.pop()
                turns.pop()
            kept.append(j)
        return np.asarray(kept), np.asarray(turns)

    def _highest(self, x: Array) -> Index:
        """The index of the largest shift with a share at x; it grows with x."""
        return np.maximum(np.searchsorted(self._seen[0], x, side="left") - 1, 0)

    def _lowest(self, x: Array) -> Index:
        return np.minimum(np.searchsorted(self._seen[1], x, side="right"), self._c.size - 1)

    def _farthest(self, x: Array) -> Array:
        return np.asarray(self._c[self._highest(np.asarray(x, dtype=float))])

    def _sums(self, x: Array, start: int = 0) -> tuple[Array, Array]:
        """log Σ w_j·e^{c_j·x − c_j²/2} over the components from ``start`` on, and its slope."""
        x = np.asarray(x, dtype=float)
        flat = x.ravel()
        loss, slope = np.empty(flat.size), np.empty(flat.size)
        block = 16 * _BLOCK if self._c.size <= _FEW else _BLOCK
        for i in range(0, flat.size, block):
            here = flat[i : i + block]
            c, base = self._terms(here, start)
            if c.ndim == 1 and c.size <= _FEW:  # a row for each component: long rows are summed faster than many
                a = np.multiply.outer(c, here)
                a += base[:, None]
                top = a.max(axis=0)
                a -= top
                share = np.exp(a, out=a)
                total = share.sum(axis=0)
                loss[i : i + block], slope[i : i + block] = top + np.log(total), (c @ share) / total
                continue
            a = here[:, None] * c + base
            top = a.max(axis=1)
            share = np.exp(a - top[:, None])
            total = share.sum(axis=1)
            loss[i : i + block] = top + np.log(total)
            slope[i : i + block] = (share @ c if c.ndim == 1 else (share * c).sum(axis=1)) / total
        if start == 0 and self.shift * self.shift < 1:
            near = np.flatnonzero(self._short(flat))
            loss[near] = self._small(flat[near])
        return loss.reshape(x.shape), slope.reshape(x.shape)

    def _short(self, x: Array) -> Array:
        """Where no component's loss is large, so that all digits of the sum are in its difference to 1."""
        return np.asarray(self.shift * (np.abs(x) + self.shift) < 1)

    def _small(self, x: Array) -> Array:
        """log(1 + Σ w_j·(e^{c_j·x − c_j²/2} − 1))."""
        w = np.exp(self._log_w)
        seen = w > math.exp(_NEGLIGIBLE) / w.size
        c, w = self._c[seen], w[seen]
        out = np.empty(x.size)
        for i in range(0, x.size, _BLOCK):
            here = x[i : i + _BLOCK]
            out[i : i + _BLOCK] = np.log1p(np.expm1(np.subtract.outer(here, c / 2) * c) @ w)
        return out

    def _terms(self, x: Array, start: int) -> tuple[Array, Array]:
        """Shifts, and losses at 0, of what has a share at some x; a row for each where that is much less."""
        if self._c.size <= _FEW:
            return self._c[start:], self._base[start:]
        low, high = np.maximum(self._lowest(x), start), self._highest(x)
        first, last = int(low.min()), max(int(high.max()), int(low.max()))
        wide = max(int((high - low).max()) + 1, 1)
        if last - first < 4 * wide + 64:
            return self._c[first : last + 1], self._base[first : last + 1]
        index = low[:, None] + np.arange(wide)
        own = np.minimum(index, self._c.size - 1)
        return self._c[own], np.where(index < self._c.size, self._base[own], -np.inf)

    # -- the loss -------------------------------------------------------------------------------------------------

    @property
    def symmetric(self) -> bool:
        return self._c.size == 1

    @property
    def cost(self) -> float:
        """A few sums for each place, and for where a loss is; of many components few have a share."""
        return float(min(1 + self._c.size, _MOST_PRICE))

    support = (-math.inf, math.inf)

    @property
    def loss_range(self) -> tuple[float, float]:
        """Unbounded above; below by the weight at 0."""
        return (self._at_zero, math.inf)

    @property
    def shift(self) -> float:
        return float(self._c[-1])

    def loss(self, x: Array) -> Array:
        return self._sums(x)[0]

    def slope(self, x: Array) -> Array:
        return self._sums(x)[1]

    def inverse_loss(self, loss: Array) -> Array:
        """Newton's steps on what does move, convex and never flat, from the right, where they cannot overshoot."""
        loss = np.asarray(loss, dtype=float)
        flat = loss.ravel()
        out = np.where(np.isposinf(flat), np.inf, -np.inf)
        inside = np.isfinite(flat)
        if math.isfinite(self._at_zero):  # where this weighs, what moves is the rest of the sum
            low = inside & (flat < -1) & (flat > self._at_zero)
            inside &= flat >= -1
            if low.any():
                out[low] = self._newton(flat[low] + np.log1p(-np.exp(self._at_zero - flat[low])), 1)
        if inside.any():
            out[inside] = self._newton(flat[inside], 0)
        return out.reshape(loss.shape)

    @cached_property
    def _lines(self) -> tuple[Array, Array, Array]:
        """Shift and loss at 0 of each component that is the largest somewhere, and the loss where the next is."""
        kept, turns = self._hull
        if self._c[kept[0]] == 0:
            kept, turns = kept[1:], turns[1:]
        c, base = self._c[kept], self._base[kept]
        return c, base, base[:-1] + c[:-1] * turns

    def _newton(self, wanted: Array, start: int) -> Array:
        # any one component is no more than the sum: begin where the largest of them reaches the loss
        c, base, reached = self._lines
        line = np.searchsorted(reached, wanted)
        x = (wanted - base[line]) / c[line]
        live = np.arange(wanted.size)
        for _ in range(_NEWTON):
            value, slope = self._sums(x[live], start)
            step = (wanted[live] - value) / slope
            x[live] += step
            size = np.abs(x[live]) + np.abs(wanted[live]) / slope
            # a step back is a sign of rounding
            live = live[(np.abs(step) > 4 * _U * size) & ((step < 0) | (step > _NOISE * (size + 1)))]
            if not live.size:
                break
        return np.asarray(x)

    def log_p0(self, x: Array) -> Array:
        return np.asarray(-0.5 * x * x - _HALF_LOG_2PI)

    def roughness(self, x: Array) -> Array:
        """Log densities fall with slope |x|; the loss, and the logarithm of its slope, change by E c²/E c at most."""
        return np.asarray(np.abs(x) + self._farthest(x))

    def singularity_rate(self, x: Array) -> Array:
        """The sum has no zero where the phases of its terms, and of one at 0, stay within half a turn."""
        return self._farthest(x)

    def error(self, x: Array) -> Array:
        """Of the exponents, by shares, and of the weights."""
        far = self._farthest(x)
        size = np.abs(self.loss(x)) + 2 * far * (np.abs(x) + far)
        size = size + np.where(self._short(x), 0.0, math.log(self._c.size) + 1)
        return np.asarray(24 * _U * size)

    def above(self, x: float) -> tuple[float, float]:
        c, log_w = self._c[self._kept], self._log_w[self._kept]
        return _log_sum(log_w + log_ndtr(c - x)), float(log_ndtr(-x))

    def below(self, x: float) -> tuple[float, float]:
        c, log_w = self._c[self._kept], self._log_w[self._kept]
        return _log_sum(log_w + log_ndtr(x - c)), float(log_ndtr(x))

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """A normal quantile below; above, high enough for all components together."""
        low = float(ndtri_exp(log_bottom))
        c, log_w = self._c[self._kept], self._log_w[self._kept]
        # each component alone, and each with its share of the level; what is rarer asks for nothing
        alone, shared = (
            float(np.max(np.where(needed < 0, c - ndtri_exp(np.minimum(needed, -1e-9)), -np.inf)))
            for needed in (log_top - log_w, log_top - log_w - math.log(c.size))
        )
        high, most = max(alone, -_FAR), max(shared, alone)
        for _ in range(24):
            if self.above(high)[0] <= log_top or most - high < 1e-3:
                break
            middle = 0.5 * (high + most)
            high, most = (middle, most) if self.above(middle)[0] > log_top else (high, middle)
        return low, high if self.above(high)[0] <= log_top else most

    # -- the rest -------------------------------------------------------------------------------------------------

    def moment_growth(self, power: float) -> tuple[float, float]:
        """|a|c²/2 of the largest shift upwards, of the smallest downwards; H1 is at least its share of that."""
        end = -1 if power > 0 else 0
        grown, share = abs(power) * (float(self._c[end]) ** 2 / 2), float(self._log_w[end])
        if power > 0:
            return max(grown + share, 0.0), grown
        if grown == 0:
            return super().moment_growth(power)
        return max(grown - 1, 0.0), grown - share  # below 0 no shift brings H1 above that of the smallest

    def psi(self) -> float:
        """The largest shift: it rules the tail however rare it is."""
        return self.shift

    @property
    def turning_points(self) -> tuple[float, ...]:
        """Where one component outgrows another, some of them where there are many."""
        turns = self._hull[1]
        return tuple(turns[:: max(-(-turns.size // _MOST_TURNS), 1)].tolist())

    def chi_square(self) -> float:
        """Σ w_i·w_j·(e^{c_i·c_j} − 1)."""
        if self.shift > 8 or self._c.size > _BLOCK:
            return math.inf
        w = np.exp(self._log_w)
        return float(w @ np.expm1(np.multiply.outer(self._c, self._c)) @ w)

    def kl_bound(self) -> float:
        return math.log1p(self.chi_square())


@dataclass(frozen=True)
class MixtureStep(_MixtureStep):
    """Shifts that grow, at least 0, and the logarithms of their weights, scaled to sum to 1."""

    shifts: tuple[float, ...]
    log_weights: tuple[float, ...]

    @property
    def _components(self) -> tuple[Array, Array]:
        return np.asarray(self.shifts, dtype=float), np.asarray(self.log_weights, dtype=float)


def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum())) if top > -math.inf else top


def mixture_step(shifts: Array, log_weights: Array) -> Step:
    """The step of some shifts, growing and not negative: what does not move kept apart where it has a weight."""
    shifts, logs = np.asarray(shifts, dtype=float), np.asarray(log_weights, dtype=float)
    if shifts.size > _MOST_SHIFTS:
        raise InputError(
            f"shifts has {shifts.size} entries, too many to sum up: give at most {_MOST_SHIFTS}", parameter="shifts"
        )
    if shifts[0] > 0 or shifts.size == 1 or logs[0] - logsumexp(logs) < math.log(_SEPARATE_WEIGHT):
        return MixtureStep(tuple(shifts.tolist()), tuple(logs.tolist()))
    moving = float(logsumexp(logs[1:]) - logsumexp(logs))
    return SampledStep(MixtureStep(tuple(shifts[1:].tolist()), tuple(logs[1:].tolist())), math.exp(moving))


@dataclass(frozen=True)
class BinomialStep(_MixtureStep):
    """N(jμ, 1), j the successes in ``count`` draws, each of probability ``rate``; with ``some``, given at least one.

    Weights and shifts are such that the logarithms of the terms are concave in j: what has a share is an interval.
    """

    mu: float
    rate: float
    count: int
    some: bool = True

    @property
    def _components(self) -> tuple[Array, Array]:
        j = np.arange(1.0 if self.some else 0.0, self.count + 1)
        return self.mu * j, log_binomial(self.count, j, self.rate)

    @cached_property
    def _hull(self) -> tuple[Index, Array]:
        return np.arange(self._c.size), np.maximum.accumulate(-np.diff(self._base) / self.mu)

    def _highest(self, x: Array) -> Index:
        few = self._c.size <= _TABLED
        return super()._highest(x) if few else self._near(np.asarray(x, dtype=float), self._c.size - 1)

    def _lowest(self, x: Array) -> Index:
        return super()._lowest(x) if self._c.size <= _TABLED else self._near(np.asarray(x, dtype=float), 0)

    @cached_property
    def _edges(self) -> tuple[Index, Index]:
        """The lowest and the highest index with a share at each of some places."""
        return self._edge(_PLACES, 0), self._edge(_PLACES, self._c.size - 1)

    def _near(self, x: Array, end: int) -> Index:
        """The last index towards this end with a share at x, or at a place just beyond: it grows with x."""
        where = (x - _PLACES[0]) * _EACH
        up = end > 0
        at = np.clip(np.ceil(where) if up else np.floor(where), 0, _PLACES.size - 1).astype(int)
        result: Index = self._edges[up][at]
        far = (where < 0) | (where > _PLACES.size - 1)
        if far.any():
            result[far] = self._edge(x[far], end)
        return result

    def _edge(self, x: Array, end: int) -> Index:
        """The last index with a share on the way from the largest term to this end, and one more."""
        inside = np.searchsorted(self._hull[1], x)
        outside = np.full(x.shape, end)
        least = self._base[inside] + self._c[inside] * x + _NEGLIGIBLE - math.log(self._c.size)
        for _ in range(self._c.size.bit_length()):
            middle = (inside + outside) // 2 if end == 0 else -(-(inside + outside) // 2)
            seen = self._base[middle] + self._c[middle] * x >= least
            inside, outside = np.where(seen, middle, inside), np.where(seen, outside, middle)
        return np.asarray(outside)

    sampled = True

    scales_by_group = True

    def sampled_group(self, rate: float, size: int) -> Step:
        """The rate is that of any draw at all, and follows from its own."""
        return self.group(size)


@dataclass(frozen=True)
class GroupStep(BinomialStep):
    """A group of ``count`` people, each drawn or not by a coin of their own, and each moving the sum by μ."""

    def group(self, size: int) -> Step:
        return group_step(self.mu, self.rate, self.count * size)


@dataclass(frozen=True)
class DrawsStep(BinomialStep):
    """A batch of ``count`` draws, each of which is a person with probability ``rate`` and moves the sum by μ."""

    def group(self, size: int) -> Step:
        if self.rate * size >= 1:
            raise InputError(f"a group of {size} is everybody who could be drawn: ask of a smaller group")
        return draws_step(self.mu, self.rate * size, self.count)


def group_step(mu: float, rate: float, people: int) -> Step:
    """A Poisson sample of normal noise, for a group who enter or leave together, 0 < q < 1.

    >>> group_step(1.0, 0.01, 2)
    SampledStep(base=GroupStep(mu=1.0, rate=0.01, count=2, some=True), rate=0.0199)
    """
    return _sampled_binomial(GroupStep(mu, rate, people))


def draws_step(mu: float, rate: float, batch: int) -> Step:
    """A batch drawn with replacement, each draw a person with probability ``rate``, 0 < q < 1."""
    return _sampled_binomial(DrawsStep(mu, rate, batch))


def _sampled_binomial(some: BinomialStep) -> Step:
    """With none at all, kept apart where that has a weight."""
    if some.count > _MOST_DRAWS:
        raise InputError(
            f"a binomial number of {some.count} draws or people is too many to sum up: ask of at most {_MOST_DRAWS}"
        )
    none = some.count * math.log1p(-some.rate)
    return replace(some, some=False) if none < math.log(_SEPARATE_WEIGHT) else SampledStep(some, -math.expm1(none))


_HALVINGS = 100


@dataclass(frozen=True)
class OppositeMixtures(UnboundedStep):
    """``side`` is N(0, 1) against the mixture; here its mirror image takes the place of N(0, 1)."""

    side: Step

    @property
    def shift(self) -> float:
        return self.side.shift

    @property
    def sampled(self) -> bool:
        return self.side.sampled

    @property
    def cost(self) -> float:
        """Two of one side, and where a loss is must be searched for."""
        return 2 * self.side.cost

    def loss(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        return np.asarray(self.side.loss(x) - self.side.loss(-x))

    def slope(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        return np.asarray(self.side.slope(x) + self.side.slope(-x))

    def inverse_loss(self, loss: Array) -> Array:
        """Newton's steps, kept between 0 and the place of the loss on one side: beyond 0, F(−x) < 0."""
        loss = np.asarray(loss, dtype=float)
        flat = np.abs(loss).ravel()
        out = np.where(np.isposinf(flat), np.inf, 0.0)
        inside = np.flatnonzero((flat > 0) & np.isfinite(flat))
        if inside.size:
            out[inside] = self._newton(flat[inside])
        return np.asarray(np.copysign(out.reshape(loss.shape), loss))

    def _newton(self, wanted: Array) -> Array:
        low, high = np.zeros(wanted.size), np.maximum(self.side.inverse_loss(wanted), 0.0)
        x = high.copy()
        live = np.arange(wanted.size)
        for _ in range(_HALVINGS):
            at = x[live]
            over = self.loss(at) - wanted[live]
            slope = self.slope(at)
            high[live] = np.where(over >= 0, at, high[live])
            low[live] = np.where(over < 0, at, low[live])
            with np.errstate(divide="ignore", invalid="ignore"):
                guess = at - over / slope
            middle = 0.5 * (low[live] + high[live])
            inside = (guess >= low[live]) & (guess <= high[live]) & np.isfinite(guess)
            x[live] = np.where(inside, guess, middle)
            step = np.abs(x[live] - at)
            live = live[step > 4 * _U * (np.abs(at) + wanted[live] / np.maximum(slope, 1e-300))]
            if not live.size:
                break
        return x

    def log_p0(self, x: Array) -> Array:
        """The mirror image of the mixture: φ(x)·e^{F(−x)}."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.side.log_p0(x) + self.side.loss(-x))

    def roughness(self, x: Array) -> Array:
        x = np.abs(x)
        return np.asarray(2 * self.side.roughness(x) - x)

    def singularity_rate(self, x: Array) -> Array:
        return np.asarray(2 * self.side.singularity_rate(np.abs(x)))

    def error(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        size = np.abs(self.side.loss(x)) + np.abs(self.side.loss(-x))
        return np.asarray(self.side.error(x) + self.side.error(-x) + 16 * _U * size)

    def above(self, x: float) -> tuple[float, float]:
        return self.side.above(x)[0], self.side.below(-x)[0]

    def below(self, x: float) -> tuple[float, float]:
        return self.side.below(x)[0], self.side.above(-x)[0]

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return -self.side.cutoffs(log_bottom, log_bottom)[1], self.side.cutoffs(log_top, log_top)[1]

    def moment_growth(self, power: float) -> tuple[float, float]:
        """That of one side upwards, where H0 ≤ N(0) beyond 0, and H0 ≥ w·N(0) with the weight w of no shift."""
        low, high = self.side.moment_growth(abs(power))
        return max(low - 1 / abs(power), 0.0), min(high - self.side.loss_range[0], self.zcdp_rho * abs(power))

    def psi(self) -> float:
        return 2 * self.shift

    @cached_property
    def turning_points(self) -> tuple[float, ...]:
        return (*self.side.turning_points, *(-turn for turn in self.side.turning_points))

    @property
    def scales_by_group(self) -> bool:
        return self.side.scales_by_group

    def group(self, size: int) -> Step:
        return OppositeMixtures(self.side.group(size))


def replaced_group_step(mu: float, rate: float, people: int) -> Step:
    """A Poisson sample of normal noise, for a group whose records have some values or others, 0 < q < 1."""
    return OppositeMixtures(group_step(mu, rate, people))
