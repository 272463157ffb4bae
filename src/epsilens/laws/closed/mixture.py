"""N(0, 1) against a mixture of normals, Σ w_j·N(c_j, 1) with c_j ≥ 0: how far a release moves is itself random.

The loss log Σ w_j·e^{c_j·x − c_j²/2} grows with x and is convex. **It dominates vectors.** Let a release move by a
random vector v_j, |v_j| ≤ c_j. Under N(0, I) each ratio e^{⟨v_j, x⟩ − |v_j|²/2} is lognormal with size |v_j|; a sum of
variables of given laws is largest in convex order when they rise and fall together, as they do on a line, and
h(t) = E(Σ w_j·ratio_j − t)₊ is convex in the sum. A longer shift moves the mixture up, and the best tests on a line
reject above a threshold, so that h grows with every c_j. All t at once: both orders.

So what is random may be anything independent of the noise: whom of a **group** a Poisson sample draws (``GroupStep``,
a binomial number of people; Ganesh 2024 has the same pair), or how often a batch draws a person. A weight at shift 0 of
any size is better kept apart, by :class:`~epsilens.laws.loss.sampled.Sampled`, whose digits do not depend on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from ...checks import Array
from ...errors import InputError
from ...numerics.binomial import log_binomial
from ..loss.moments import Integrated
from ..loss.sampled import Sampled
from ..loss.step import Step

__all__ = ["GroupStep", "MixtureStep", "group_step", "mixture_step"]

_U = 2.0**-53
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_LOG2 = math.log(2.0)
_UNSEEN = -46.0  # log share of a component that is not summed up
_APART = 1 / 32  # a weight at 0 above this is kept apart
_BLOCK = 512
_FEW = 24  # components, all of them summed
_MOST_TURNS = 48
_NEWTON = 80
_MOST_PEOPLE = 4096


class _Mixed(Integrated):
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
    def _seen(self) -> tuple[Array, Array]:
        """From where on, and up to where, a component and those beyond it have a share worth summing."""
        c, base = self._c, self._base
        floor = _UNSEEN - math.log(c.size)
        first, last = np.full(c.size, -np.inf), np.full(c.size, np.inf)
        for j in range(c.size):
            # a_j − a_i = base_j − base_i + (c_j − c_i)·x
            if j:
                first[j] = np.max((floor - (base[j] - base[:j])) / (c[j] - c[:j]))
            if j + 1 < c.size:
                last[j] = np.min((base[j] - base[j + 1 :] - floor) / (c[j + 1 :] - c[j]))
        return np.minimum.accumulate(first[::-1])[::-1], np.maximum.accumulate(last)

    @cached_property
    def _hull(self) -> tuple[Array, Array]:
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

    def _farthest(self, x: Array) -> Array:
        """The largest shift with a share at x; it grows with x."""
        first, _ = self._seen
        index = np.searchsorted(first, np.asarray(x, dtype=float), side="left") - 1
        return np.asarray(self._c[np.clip(index, 0, self._c.size - 1)])

    def _sums(self, x: Array, start: int = 0) -> tuple[Array, Array]:
        """log Σ w_j·e^{c_j·x − c_j²/2} over the components from ``start`` on, and its slope."""
        x = np.asarray(x, dtype=float)
        flat = x.ravel()
        loss, slope = np.empty(flat.size), np.empty(flat.size)
        block = flat.size if self._c.size <= _FEW else _BLOCK
        for i in range(0, flat.size, max(block, 1)):
            here = flat[i : i + block]
            low, high = self._window(here, start)
            c = self._c[low:high]
            a = np.multiply.outer(here, c) + self._base[low:high]
            top = a.max(axis=1)
            share = np.exp(a - top[:, None])
            total = share.sum(axis=1)
            loss[i : i + block] = top + np.log(total)
            slope[i : i + block] = share @ c / total
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
        seen = w > math.exp(_UNSEEN) / w.size
        c, w = self._c[seen], w[seen]
        out = np.empty(x.size)
        for i in range(0, x.size, _BLOCK):
            here = x[i : i + _BLOCK]
            out[i : i + _BLOCK] = np.log1p(np.expm1(np.subtract.outer(here, c / 2) * c) @ w)
        return out

    def _window(self, x: Array, start: int) -> tuple[int, int]:
        if self._c.size <= _FEW:
            return start, self._c.size
        first, last = self._seen
        low = int(np.searchsorted(last, float(x.min()), side="right"))
        high = int(np.searchsorted(first, float(x.max()), side="left"))
        low = min(max(low, start), self._c.size - 1)
        return low, max(high, low + 1)

    # -- the loss -------------------------------------------------------------------------------------------------

    @property
    def mirrored(self) -> bool:
        """One law is a mixture, the other is not."""
        return self._c.size == 1

    @property
    def span(self) -> tuple[float, float]:
        """The whole line."""
        return (-math.inf, math.inf)

    @property
    def ends(self) -> tuple[float, float]:
        """Unbounded above; below by the weight at 0."""
        return (self._at_zero, math.inf)

    @property
    def shift(self) -> float:
        """The largest."""
        return float(self._c[-1])

    def loss(self, x: Array) -> Array:
        """log Σ w_j·e^{c_j·x − c_j²/2}."""
        return self._sums(x)[0]

    def slope(self, x: Array) -> Array:
        """The mean shift, by shares of the sum."""
        return self._sums(x)[1]

    def place(self, loss: Array) -> Array:
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

    def _newton(self, wanted: Array, start: int) -> Array:
        kept, _ = self._hull
        kept = kept[self._c[kept] > 0]
        c, base = self._c[kept], self._base[kept]
        # any one component is no more than the sum: the least place at which one of them reaches the loss
        x = np.empty(wanted.size)
        for i in range(0, wanted.size, _BLOCK):
            x[i : i + _BLOCK] = (np.subtract.outer(wanted[i : i + _BLOCK], base) / c).min(axis=1)
        live = np.arange(wanted.size)
        for _ in range(_NEWTON):
            value, slope = self._sums(x[live], start)
            step = (wanted[live] - value) / slope
            x[live] += step
            live = live[np.abs(step) > 4 * _U * (np.abs(x[live]) + np.abs(wanted[live]) / slope)]
            if not live.size:
                break
        return x

    def log_p0(self, x: Array) -> Array:
        """Standard normal."""
        return np.asarray(-0.5 * x * x - _HALF_LOG_2PI)

    def bend(self, x: Array) -> Array:
        """Log densities fall with slope |x|; the loss, and the logarithm of its slope, change by E c²/E c at most."""
        return np.asarray(np.abs(x) + self._farthest(x))

    def wave(self, x: Array) -> Array:
        """The sum has no zero where the phases of its terms, and of one at 0, stay within half a turn."""
        return self._farthest(x)

    def error(self, x: Array) -> Array:
        """Of the exponents, by shares, and of the weights."""
        far = self._farthest(x)
        size = np.abs(self.loss(x)) + 2 * far * (np.abs(x) + far)
        size = size + np.where(self._short(x), 0.0, math.log(self._c.size) + 1)
        return np.asarray(24 * _U * size)

    def above(self, x: float) -> tuple[float, float]:
        """Σ w_j·Φ(c_j − x), Φ(−x)."""
        return float(logsumexp(self._log_w + log_ndtr(self._c - x))), float(log_ndtr(-x))

    def below(self, x: float) -> tuple[float, float]:
        """Σ w_j·Φ(x − c_j), Φ(x)."""
        return float(logsumexp(self._log_w + log_ndtr(x - self._c))), float(log_ndtr(x))

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """A normal quantile below; above, high enough for all components together."""
        low = float(ndtri_exp(log_bottom))
        own = np.minimum(log_top - self._log_w, -1e-9)
        high = float(np.max(self._c - ndtri_exp(own)))  # each component alone
        most = float(np.max(self._c - ndtri_exp(np.minimum(log_top - math.log(self._c.size) - self._log_w, -1e-9))))
        most = max(most, high)
        for _ in range(24):
            if self.above(high)[0] <= log_top or most - high < 1e-3:
                break
            middle = 0.5 * (high + most)
            high, most = (middle, most) if self.above(middle)[0] > log_top else (high, middle)
        return low, high if self.above(high)[0] <= log_top else most

    # -- the rest -------------------------------------------------------------------------------------------------

    def psi(self) -> float:
        """The largest shift: it rules the tail however rare it is."""
        return self.shift

    @property
    def turns(self) -> tuple[float, ...]:
        """Where one component outgrows another, some of them where there are many."""
        turns = self._hull[1]
        return tuple(turns[:: max(-(-turns.size // _MOST_TURNS), 1)].tolist())

    def chi_square(self) -> float:
        """Σ w_i·w_j·(e^{c_i·c_j} − 1)."""
        if self.shift > 8:
            return math.inf
        w = np.exp(self._log_w)
        return float(w @ np.expm1(np.multiply.outer(self._c, self._c)) @ w)

    def kl_bound(self) -> float:
        """log(1 + χ²)."""
        return math.log1p(self.chi_square())


@dataclass(frozen=True)
class MixtureStep(_Mixed):
    """Shifts that grow, at least 0, and the logarithms of their weights, scaled to sum to 1."""

    shifts: tuple[float, ...]
    log_weights: tuple[float, ...]

    @property
    def _components(self) -> tuple[Array, Array]:
        return np.asarray(self.shifts, dtype=float), np.asarray(self.log_weights, dtype=float)


def mixture_step(shifts: Array, log_weights: Array) -> Step:
    """The step of some shifts, growing and not negative: what does not move kept apart where it has a weight."""
    shifts, logs = np.asarray(shifts, dtype=float), np.asarray(log_weights, dtype=float)
    if shifts[0] > 0 or shifts.size == 1 or logs[0] - logsumexp(logs) < math.log(_APART):
        return MixtureStep(tuple(shifts.tolist()), tuple(logs.tolist()))
    moving = float(logsumexp(logs[1:]) - logsumexp(logs))
    return Sampled(MixtureStep(tuple(shifts[1:].tolist()), tuple(logs[1:].tolist())), math.exp(moving))


@dataclass(frozen=True)
class GroupStep(_Mixed):
    """N(jμ, 1) where j of a group of people are drawn, each with probability ``rate``.

    With ``somebody``, given that at least one is.
    """

    mu: float
    rate: float
    people: int
    somebody: bool = True

    @property
    def _components(self) -> tuple[Array, Array]:
        j = np.arange(1.0 if self.somebody else 0.0, self.people + 1)
        return self.mu * j, log_binomial(self.people, j, self.rate)

    @property
    def sampled(self) -> bool:
        """It is."""
        return True

    @property
    def moves(self) -> bool:
        """More of them."""
        return True

    def grouped(self, size: int) -> Step:
        """So many groups."""
        return group_step(self.mu, self.rate, self.people * size)

    def drawn_group(self, rate: float, size: int) -> Step:
        """So many groups: the rate is that of anybody being drawn, and follows from their own."""
        return self.grouped(size)


def group_step(mu: float, rate: float, people: int) -> Step:
    """A Poisson sample of normal noise, for a group of at least two people who enter or leave together, 0 < q < 1."""
    if people > _MOST_PEOPLE:
        raise InputError(
            f"a group of {people} people is too many to sum up under sampling: ask of at most {_MOST_PEOPLE}",
            parameter="people",
        )
    nobody = people * math.log1p(-rate)
    if nobody < math.log(_APART):
        return GroupStep(mu, rate, people, False)
    return Sampled(GroupStep(mu, rate, people), -math.expm1(nobody))
