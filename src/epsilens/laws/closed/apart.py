"""Normal shifts of several sizes, one of them taken, and the adversary is told which: N(0, 1) against N(c_j, 1).

The loss of a shift c is normal, N(c²/2, c²) under H1 and N(−c²/2, c²) under H0, so that the loss of all of them is a
mixture of normals under either law, and its sign changes when the laws are exchanged. x is the loss in units of the
smallest shift, counted as if that were the only one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri_exp

from ...checks import Array
from ...readings.law import Known
from ..composition.moments import Unbounded
from .normal import NormalStep

_U = 2.0**-53
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_UNSEEN = -60.0  # log share of a part that does not bend the sum
_BLOCK, _SHORT = 4096, 256  # places at once; fewer where there are more than a few parts
_FEW = 16
_MOST_TURNS, _MOST_PRICE = 8, 8


@dataclass(frozen=True)
class Apart(Unbounded):
    """Shifts that grow, above 0, and the logarithms of their weights, scaled to sum to 1."""

    shifts: tuple[float, ...]
    log_weights: tuple[float, ...]

    @cached_property
    def _c(self) -> Array:
        return np.asarray(self.shifts)

    @cached_property
    def _log_w(self) -> Array:
        logs = np.asarray(self.log_weights)
        return np.asarray(logs - logsumexp(logs))

    @property
    def price(self) -> float:
        """A sum over all shifts."""
        return float(min(1 + len(self.shifts) / 4, _MOST_PRICE))

    @property
    def known(self) -> Known:
        """The adversary is told what they would not see."""
        return Known.BOUND

    def loss(self, x: Array) -> Array:
        """c(x − c/2), c the smallest shift."""
        least = self.shifts[0]
        return np.asarray(least * (np.asarray(x, dtype=float) - least / 2))

    def slope(self, x: Array) -> Array:
        """The smallest shift."""
        return np.full(np.shape(x), self.shifts[0])

    def place(self, loss: Array) -> Array:
        """L/c + c/2."""
        return np.asarray(np.asarray(loss, dtype=float) / self.shifts[0] + self.shifts[0] / 2)

    def _parts(self, loss: Array, some: Any = slice(None)) -> Array:
        """The logarithm of each part's density under H0, or of some parts, a row for each loss."""
        c = self._c[some]
        at = np.asarray(loss)[:, None] / c + c / 2
        return np.asarray(self._log_w[some] + np.log(self.shifts[0] / c) - 0.5 * at * at - _HALF_LOG_2PI)

    def _blocks(self, x: Array) -> Iterator[tuple[slice, Array, Any]]:
        """Places, the logarithms of the densities there of the parts that have a share, and which these are.

        Each is a parabola in the loss: over a block no higher than where it is nearest its peak, and no lower than at
        one of the block's ends.
        """
        size = _BLOCK if self._c.size <= _FEW else _SHORT
        for i in range(0, x.size, size):
            part = slice(i, i + size)
            loss = self.loss(x[part])
            some: Any = slice(None)
            if self._c.size > _FEW:
                ends = np.asarray([loss.min(), loss.max()])
                least = float(self._parts(ends).min(axis=0).max())
                at = np.clip(-(self._c**2) / 2, *ends) / self._c + self._c / 2
                most = self._log_w + np.log(self.shifts[0] / self._c) - 0.5 * at * at - _HALF_LOG_2PI
                some = np.flatnonzero(most > least + _UNSEEN - math.log(self._c.size))
            yield part, self._parts(loss, some), some

    def log_p0(self, x: Array) -> Array:
        """Σ w_j·φ(L/c_j + c_j/2)·c/c_j."""
        x = np.asarray(x, dtype=float)
        out = np.empty(x.size)
        for part, parts, _ in self._blocks(x.ravel()):
            top = parts.max(axis=1)
            out[part] = top + np.log(np.exp(parts - top[:, None]).sum(axis=1))
        return out.reshape(x.shape)

    def bend(self, x: Array) -> Array:
        """c(|L|/c_j² + ½) + c of the smallest c_j that has a share."""
        x = np.asarray(x, dtype=float)
        flat, out = x.ravel(), np.empty(x.size)
        for part, parts, some in self._blocks(flat):
            seen = parts > parts.max(axis=1)[:, None] + _UNSEEN
            smallest = self._c[some][np.argmax(seen, axis=1)]
            out[part] = np.abs(self.loss(flat[part])) / smallest**2 + 1.5
        return self.shifts[0] * out.reshape(x.shape)

    def error(self, x: Array) -> Array:
        """Of c(x − c/2)."""
        return np.asarray(8 * _U * self.shifts[0] * (np.abs(x) + self.shifts[0]))

    def _tail(self, loss: float, sign: int) -> float:
        """log Σ w_j·P(N(±c_j²/2, c_j²) > L)."""
        return float(logsumexp(self._log_w + log_ndtr(sign * self._c / 2 - loss / self._c)))

    def above(self, x: float) -> tuple[float, float]:
        """Each part's."""
        loss = float(self.loss(np.asarray(x)))
        return self._tail(loss, 1), self._tail(loss, -1)

    def below(self, x: float) -> tuple[float, float]:
        """By symmetry."""
        loss = float(self.loss(np.asarray(x)))
        return self._tail(-loss, -1), self._tail(-loss, 1)

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Far enough for all parts, on either side."""
        low, high = -self._far(log_bottom), self._far(log_top)
        ends = self.place(np.asarray([low, high]))
        return float(ends[0]), float(ends[1])

    @cached_property
    def _known(self) -> dict[float, float]:
        """What was looked for before."""
        return {}

    def _far(self, level: float) -> float:
        """A loss above which H1 has at most so much."""
        if level not in self._known:
            self._known[level] = self._sought(level)
        return self._known[level]

    def _sought(self, level: float) -> float:
        needed = level - self._log_w
        each = self._c**2 / 2 - self._c * ndtri_exp(np.minimum(needed, -1e-9))
        least = float(np.max(np.where(needed < -1e-9, each, -np.inf)))
        each = self._c**2 / 2 - self._c * ndtri_exp(np.minimum(needed - math.log(self._c.size), -1e-9))
        most = max(float(np.max(np.where(needed - math.log(self._c.size) < -1e-9, each, -np.inf))), least)
        if not math.isfinite(least) or self._tail(least, 1) <= level:
            return least if math.isfinite(least) else most
        for _ in range(30):
            middle = 0.5 * (least + most)
            least, most = (middle, most) if self._tail(middle, 1) > level else (least, middle)
        return most

    def log_moment(self, power: float) -> float:
        """log Σ w_j·e^{a(a−1)c_j²/2}."""
        each = (power * self._c) * ((power - 1) * self._c) / 2
        if np.abs(each).max() > 1:
            return float(logsumexp(self._log_w + each))
        return math.log1p(float(np.exp(self._log_w) @ np.expm1(each)))

    def growth(self, power: float) -> tuple[float, float]:
        """|a|c²/2 of the largest shift, but for the logarithm of its weight over the order."""
        grown = abs(power) * (self.shifts[-1] ** 2 / 2)
        return max(grown + float(self._log_w[-1]) / abs(power), 0.0), grown

    def kl(self) -> float:
        """Σ w_j·c_j²/2."""
        return float(np.exp(self._log_w) @ self._c**2) / 2

    kl_back = kl_bound = kl

    def psi(self) -> float:
        """The largest shift, which dominates all others."""
        return self.shifts[-1]

    @property
    def least_psi(self) -> float:
        """The largest: where hardly anyone is flagged, it decides."""
        return self.shifts[-1]

    @property
    def shift(self) -> float:
        """How far the largest shift's loss lies, in units of x."""
        return self.shifts[-1] ** 2 / self.shifts[0]

    @property
    def turns(self) -> tuple[float, ...]:
        """Where the loss of a shift has its middle under either law, some of them where there are many."""
        some = self._c[np.unique(np.geomspace(1, self._c.size, _MOST_TURNS).astype(int)) - 1]
        middles = self.place(np.concatenate((some**2 / 2, -(some**2) / 2)))
        return tuple(middles.tolist())

    def grouped(self, size: int) -> NormalStep:
        """So many times the largest shift, which dominates all others."""
        return NormalStep(size * self.shifts[-1])
