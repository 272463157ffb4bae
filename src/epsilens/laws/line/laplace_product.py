"""k equal Laplace answers observed together: the exact product of k pairs Lap(0,1), Lap(m,1).

The log-likelihood ratio of one answer is m(2y − 1) with y = 0, y = 1 or y uniform between, with weights ½, ½, m/2
under the geometric mean √(dH0·dH1) = e^{−m/2}·(…). So for k answers llr = m(2Y − k), Y the sum of k such y: atoms on
the whole numbers 0…k, where the test is randomised, and a density made of Irwin–Hall pieces. The llr is itself the
observation, monotone by construction, and the general law of the line reads everything off it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...checks import Array
from .line import Tail
from .pieces import Pieces

__all__ = ["laplace_product", "resolved"]

_X, _W = np.polynomial.legendre.leggauss(24)
_LEAST, _MOST = 1e-3, 80.0


def resolved(total: float) -> bool:
    """Whether doubles carry the written-out product of Laplaces of this total shift.

    Below, the two laws differ by less than the rounding of a squared loss; above, masses of e^{−total} get lost.
    """
    return _LEAST <= total <= _MOST


def _times(bernstein: Array, at_0: float, at_1: float) -> Array:
    """A polynomial in Bernstein's form times the line through (0, at_0) and (1, at_1)."""
    n = bernstein.size
    i = np.arange(n + 1)
    low, high = np.append(bernstein, 0.0), np.insert(bernstein, 0, 0.0)
    return np.asarray(at_0 * (1 - i / n) * low + at_1 * i / n * high)


@dataclass(frozen=True)
class _Score:
    """The law of Y under H1 (sign = 1) or H0 (sign = −1): the common measure tilted by e^{±m(y − k/2)}."""

    k: int
    m: float
    sign: int

    @property
    def knots(self) -> tuple[float, ...]:
        """The whole numbers inside."""
        return tuple(float(i) for i in range(1, self.k))

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """Every answer on one of its two flat sides: binomial weights."""
        return tuple(
            (float(i), math.comb(self.k, i) * 2.0**-self.k * math.exp(-self.k * self.m / 2 + self._tilt(float(i))))
            for i in range(self.k + 1)
        )

    def _tilt(self, y: float) -> float:
        return self.sign * self.m * (y - self.k / 2)

    @property
    def support(self) -> tuple[float, float]:
        """[0, k]."""
        return (0.0, float(self.k))

    @property
    def centre(self) -> float:
        """The middle."""
        return self.k / 2

    @property
    def scale(self) -> float:
        """One step of the lattice, or the tilt's own width if that is shorter."""
        return min(1.0, 1 / self.m)

    def tails(self) -> tuple[Tail, Tail]:
        """The support is bounded; not asked for."""
        return Tail(np.inf, 0, 0.0), Tail(np.inf, 0, 0.0)

    def log_pdf(self, x: Array) -> Array:
        """Σ_j C(k,j)(½)^{k−j}(m/2)^j Σ_i C(k−j,i)·IH_j(y−i), tilted."""
        y = np.clip(np.asarray(x, dtype=float), 0.0, np.nextafter(self.k, 0))
        step = np.floor(y).astype(int)
        f, n = (y - step)[..., None], self.k - 1
        d = np.arange(n + 1)
        total = (self._steps[step] * f**d * (1 - f) ** (n - d)).sum(-1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(total) - self.k * self.m / 2 + self.sign * self.m * (y - self.k / 2))

    @cached_property
    def _steps(self) -> Array:
        """The density on each step as a polynomial in Bernstein's form, whose terms are all positive.

        IH_j(f + r) for r < j follows by its recursion ((f+r)·IH_{j−1}(f+r) + (j−f−r)·IH_{j−1}(f+r−1))/(j − 1), each
        factor linear in f and positive on [0, 1].
        """
        made = np.zeros((self.k, self.k))
        hall = [np.ones(1)]
        for j in range(1, self.k + 1):
            if j > 1:
                none = np.zeros(j - 1)
                below = [none, *hall, none]
                hall = [
                    (_times(below[r + 1], r, r + 1) + _times(below[r], j - r, j - r - 1)) / (j - 1) for r in range(j)
                ]
            weight = math.comb(self.k, j) * 0.5 ** (self.k - j) * (self.m / 2) ** j
            for r in range(j):
                raised = hall[r]
                for _ in range(self.k - j):
                    raised = _times(raised, 1, 1)
                for i in range(self.k - j + 1):
                    made[i + r] += weight * math.comb(self.k - j, i) * raised
        return np.asarray(made * [math.comb(self.k - 1, i) for i in range(self.k)])

    def _panel(self, left: Array, right: Array) -> Array:
        """∫ of the density between two places of one panel."""
        half = (right - left)[..., None] / 2
        return np.asarray((np.exp(self.log_pdf(left[..., None] + half * (1 + _X))) * _W * half).sum(-1))

    @cached_property
    def _panels(self) -> tuple[Array, Array, Array]:
        """Edges (whole numbers, and between them where the tilt is steep), and the mass below and above each."""
        edges = np.linspace(0, self.k, self.k * max(1, math.ceil(self.m / 8)) + 1)
        mass = self._panel(edges[:-1], edges[1:])
        return edges, np.concatenate(([0.0], np.cumsum(mass))), np.concatenate((np.cumsum(mass[::-1])[::-1], [0.0]))

    def log_cdf(self, x: Array) -> Array:
        """Of the continuous part."""
        x = np.clip(np.asarray(x, dtype=float), 0.0, self.k)
        edges, below, _ = self._panels
        i = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(below[i] + self._panel(edges[i], x)))

    def log_sf(self, x: Array) -> Array:
        """Of the continuous part."""
        x = np.clip(np.asarray(x, dtype=float), 0.0, self.k)
        edges, _, above = self._panels
        i = np.clip(np.searchsorted(edges, x, side="left"), 1, edges.size - 1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(above[i] + self._panel(x, edges[i])))


@dataclass(frozen=True)
class _Ratio:
    """llr = m(2Y − k)."""

    k: int
    m: float

    def __call__(self, y: Array) -> Array:
        """At a score."""
        return np.asarray(self.m * (2 * np.asarray(y, dtype=float) - self.k))


def laplace_product(m: float, k: int) -> Pieces:
    """The product of k equal Laplace pairs of shift m, exactly."""
    return Pieces(_Score(k, m, -1), _Score(k, m, 1), ratio=_Ratio(k, m))
