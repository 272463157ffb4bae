"""Laws of one real observation, with the exact distribution functions that a pair of them needs.

Each gives log density, log cdf and log survival function with relative precision in its own tail, the points where
its density bends (``knots``), its atoms, and where it is centred. ``Laplaces``, ``LaplaceSum`` and ``Clamped`` build
mixtures, differences of noisy answers, and clamped answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import numpy as np
from scipy.special import log_ndtr, logsumexp

from ...checks import Array
from ...errors import InputError

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


class Line(Protocol):
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


class _Unbounded:
    """A law without atoms on the whole line."""

    __slots__ = ()

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """None."""
        return ()

    @property
    def support(self) -> tuple[float, float]:
        """The whole line."""
        return (-np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class _Mixture(_Unbounded):
    """Weights, locations and scales of equal length."""

    weights: tuple[float, ...]
    locations: tuple[float, ...]
    scales: tuple[float, ...]

    @classmethod
    def at(cls, location: float = 0.0, scale: float = 1.0) -> Self:
        """One law."""
        return cls((1.0,), (location,), (scale,))

    @property
    def centre(self) -> float:
        """The mean location."""
        return float(np.dot(self.weights, self.locations))

    @property
    def scale(self) -> float:
        """The largest scale, which rules the tails."""
        return max(self.scales)

    def _z(self, x: Array) -> tuple[Array, Array, Array]:
        s = np.asarray(self.scales)
        return ((np.asarray(x, dtype=float)[..., None] - np.asarray(self.locations)) / s, np.log(self.weights), s)


@dataclass(frozen=True, slots=True)
class Laplaces(_Mixture):
    """A mixture of Laplace laws: weights, locations and scales of equal length."""

    @property
    def knots(self) -> tuple[float, ...]:
        """The locations."""
        return self.locations

    def tails(self) -> tuple[Tail, Tail]:
        """The components of the largest scale rule."""
        b = self.scale
        wide = [(w, at) for w, at, s in zip(self.weights, self.locations, self.scales, strict=True) if s == b]
        left, right = (
            float(logsumexp([np.log(w) + side * at / b for w, at in wide])) - np.log(2 * b) for side in (-1, 1)
        )
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
        """The mirror image of the cdf."""
        z, w, _ = self._z(x)
        left = np.log1p(-0.5 * np.exp(np.minimum(z, 0)))
        return _log_sum(w + np.where(z > 0, -z - _LOG2, left))


@dataclass(frozen=True, slots=True)
class Normals(_Mixture):
    """A mixture of normal laws: weights, means and standard deviations of equal length."""

    @property
    def knots(self) -> tuple[float, ...]:
        """None: the density is smooth."""
        return ()

    def tails(self) -> tuple[Tail, Tail]:
        """Normal."""
        return Tail(np.inf, 0, 0.0), Tail(np.inf, 0, 0.0)

    def log_pdf(self, x: Array) -> Array:
        """log Σ w_k φ(z_k)/σ_k."""
        z, w, s = self._z(x)
        return _log_sum(w - z * z / 2 - np.log(s) - _HALF_LOG_2PI)

    def log_cdf(self, x: Array) -> Array:
        """log Σ w_k Φ(z_k)."""
        z, w, _ = self._z(x)
        return _log_sum(w + log_ndtr(z))

    def log_sf(self, x: Array) -> Array:
        """log Σ w_k Φ(−z_k)."""
        z, w, _ = self._z(x)
        return _log_sum(w + log_ndtr(-z))


@dataclass(frozen=True, slots=True)
class LaplaceSum(_Unbounded):
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
        """The location."""
        return self.location

    @property
    def scale(self) -> float:
        """The larger scale."""
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
        """The density above."""
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
        """The mirror image of the cdf."""
        tail = self._log_tail(x)
        return np.where(np.asarray(x) > self.location, tail, np.log1p(-np.exp(np.minimum(tail, -_LOG2))))


@dataclass(frozen=True, slots=True)
class Clamped:
    """A law clamped to [low, high]: what lies beyond becomes an atom at the end."""

    inner: Line
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"the clamping bounds are [{self.low:g}, {self.high:g}]: the first must be the smaller")

    @property
    def knots(self) -> tuple[float, ...]:
        """Those of the inner law that survive."""
        return tuple(k for k in self.inner.knots if self.low < k < self.high)

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """Both ends."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        return ((self.low, float(np.exp(self.inner.log_cdf(low)))), (self.high, float(np.exp(self.inner.log_sf(high)))))

    @property
    def support(self) -> tuple[float, float]:
        """The bounds."""
        return (self.low, self.high)

    @property
    def centre(self) -> float:
        """That of the inner law, clamped."""
        return float(np.clip(self.inner.centre, self.low, self.high))

    @property
    def scale(self) -> float:
        """That of the inner law."""
        return self.inner.scale

    def tails(self) -> tuple[Tail, Tail]:
        """Cut off; not asked for."""
        return self.inner.tails()

    def log_pdf(self, x: Array) -> Array:
        """Unchanged inside."""
        return self.inner.log_pdf(x)

    def log_cdf(self, x: Array) -> Array:
        """Unchanged inside."""
        return self.inner.log_cdf(x)

    def log_sf(self, x: Array) -> Array:
        """Unchanged inside."""
        return self.inner.log_sf(x)
