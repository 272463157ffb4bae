"""One release with noise on the line as functions of arrays: where a loss lies, the masses on either side, nodes.

The outcome u orders the loss. ``gap`` is P − Q of what lies above, and Q − P of what lies below, without cancellation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_WIDE = 38.0
_SHRINK = 0.3


class Curve:
    """What two steps ask of each."""

    top: float = math.inf
    bottom: float = -math.inf
    kinks: tuple[float, ...] = (0.0,)
    jumps = False  # whether there are atoms

    def loss(self, u: Any) -> Any:
        raise NotImplementedError

    def where(self, x: Any) -> Any:
        """u of which the loss is x; ∓∞ where x is not above the bottom, not below the top."""
        raise NotImplementedError

    def tails(self, u: Any) -> tuple[Any, Any]:
        """(Q, P) of what lies above u."""
        raise NotImplementedError

    def heads(self, u: Any) -> tuple[Any, Any]:
        """(Q, P) of what lies below u."""
        raise NotImplementedError

    def gap(self, u: Any) -> Any:
        raise NotImplementedError

    def nodes(self, cuts: list[float]) -> tuple[Any, Any]:
        """(u, log of the Q-mass there), finer and finer towards the cuts."""
        raise NotImplementedError


def _graded(low: float, high: float, width: float, cuts: list[float]) -> tuple[Any, Any]:
    """Nodes and weights of Gauss–Legendre on panels that shrink towards each cut."""
    edges = list(np.linspace(low, high, 2 + int((high - low) / width)))
    for cut in cuts:
        if low - 1 < cut < high + 1:
            edges += [cut + side * width * _SHRINK**k for k in range(28) for side in (-1, 1)] + [cut]
    kept = np.unique(np.clip(np.array(edges), low, high))
    half = np.diff(kept) / 2
    u = ((kept[:-1] + kept[1:]) / 2)[:, None] + half[:, None] * _NODES
    return u.ravel(), (half[:, None] * _WEIGHTS).ravel()


class NormalCurve(Curve):
    """N(0,1) against N(μ,1)."""

    def __init__(self, mu: float) -> None:
        self.mu = mu

    def loss(self, u: Any) -> Any:
        return self.mu * u - self.mu**2 / 2

    def where(self, x: Any) -> Any:
        return x / self.mu + self.mu / 2

    def tails(self, u: Any) -> tuple[Any, Any]:
        return ndtr(-u), ndtr(self.mu - u)

    def heads(self, u: Any) -> tuple[Any, Any]:
        return ndtr(u), ndtr(u - self.mu)

    def gap(self, u: Any) -> Any:
        # Φ(μ−u) − Φ(−u), or the same from the smaller tails
        return np.where(u > self.mu / 2, ndtr(self.mu - u) - ndtr(-u), ndtr(u) - ndtr(u - self.mu))

    def nodes(self, cuts: list[float]) -> tuple[Any, Any]:
        u, w = _graded(-_WIDE, _WIDE + 3 * self.mu, min(0.8, 1.5 / self.mu), cuts)
        return u, np.log(w) - u * u / 2 - math.log(2 * math.pi) / 2


class LaplaceCurve(Curve):
    """Lap(0) against Lap(m); what lies outside 0 and m is at either end."""

    jumps = True

    def __init__(self, m: float) -> None:
        self.m, self.top, self.bottom, self.kinks = m, m, -m, (-m, 0.0, m)

    def loss(self, u: Any) -> Any:
        return 2 * u - self.m

    def where(self, x: Any) -> Any:
        return np.where(x >= self.m, np.inf, np.where(x < -self.m, -np.inf, (x + self.m) / 2))

    def tails(self, u: Any) -> tuple[Any, Any]:
        return np.where(u < 0, 1.0, np.exp(-np.abs(u)) / 2), np.where(u < 0, 1.0, -self._over(u - self.m))

    def heads(self, u: Any) -> tuple[Any, Any]:
        q = np.where(u < 0, 0.0, -self._over(-u))
        return q, np.where(u < 0, 0.0, np.where(u > self.m, 1.0, np.exp(np.minimum(u - self.m, 0.0)) / 2))

    def _over(self, a: Any) -> Any:
        """e^a/2 − 1 for a ≤ 0, and 0 beyond the end."""
        return np.where(a > 0, 0.0, np.exp(np.minimum(a, 0.0)) / 2 - 1)

    def gap(self, u: Any) -> Any:
        inside = -(np.expm1(np.clip(u - self.m, -self.m, 0)) + np.expm1(-np.clip(u, 0, self.m))) / 2
        return np.where((u < 0) | (u > self.m), 0.0, inside)

    def nodes(self, cuts: list[float]) -> tuple[Any, Any]:
        u, w = _graded(0.0, self.m, max(self.m / 8, min(1.0, self.m)), [c for c in cuts if 0 < c < self.m])
        return np.append(u, [0.0, self.m]), np.append(np.log(w) - u, [0.0, -self.m]) - math.log(2)


class LogisticCurve(Curve):
    """Logistic(0) against Logistic(m): logit P(above u) = m − u."""

    def __init__(self, m: float) -> None:
        self.m, self.top, self.bottom, self.kinks = m, m, -m, (-m, 0.0, m)

    def loss(self, u: Any) -> Any:
        """log of the ratio of the densities: m + 2·log((1 + e^{−u})/(1 + e^{m−u}))."""
        return self.m - 2 * np.log1p(math.expm1(self.m) * expit(-u))

    def where(self, x: Any) -> Any:
        inside = np.abs(x) < self.m
        share = np.where(inside, np.expm1((self.m - np.where(inside, x, 0.0)) / 2) / math.expm1(self.m), 0.5)
        with np.errstate(divide="ignore"):
            u = np.log1p(-share) - np.log(share)
        return np.where(inside, u, np.where(x > 0, np.inf, -np.inf))

    def tails(self, u: Any) -> tuple[Any, Any]:
        return expit(-u), expit(self.m - u)

    def heads(self, u: Any) -> tuple[Any, Any]:
        return expit(u), expit(u - self.m)

    def gap(self, u: Any) -> Any:
        return math.expm1(self.m) * expit(-u) * expit(u) / (1 + math.expm1(self.m) * expit(-u))

    def nodes(self, cuts: list[float]) -> tuple[Any, Any]:
        u, w = _graded(-710.0, 710.0, 1.0, cuts)
        return u, np.log(w) - np.abs(u) - 2 * np.log1p(np.exp(-np.abs(u)))


class SampledCurve(Curve):
    """Q against (1−q)Q + qP."""

    def __init__(self, base: Curve, rate: float) -> None:
        self.base, self.rate, self.jumps = base, rate, base.jumps
        self.top, self.bottom = (float(np.log1p(rate * np.expm1(v))) for v in (base.top, base.bottom))
        # towards the bottom u runs off to −∞: smooth, but no power series
        self.kinks = tuple(float(np.log1p(rate * np.expm1(v))) for v in (*base.kinks, base.bottom))

    def loss(self, u: Any) -> Any:
        x = self.base.loss(u)
        far = x > 500
        near = np.log1p(self.rate * np.expm1(np.where(far, 0.0, x)))
        return np.where(far, x + math.log(self.rate), near)

    def where(self, x: Any) -> Any:
        far = x > 500
        over = np.expm1(np.where(far, 0.0, x)) / self.rate
        with np.errstate(divide="ignore"):
            inner = np.where(over <= -1, -np.inf, np.log1p(np.maximum(over, -1.0)))
        return self.base.where(np.where(far, x - math.log(self.rate), inner))

    def tails(self, u: Any) -> tuple[Any, Any]:
        q, p = self.base.tails(u)
        return q, (1 - self.rate) * q + self.rate * p

    def heads(self, u: Any) -> tuple[Any, Any]:
        q, p = self.base.heads(u)
        return q, (1 - self.rate) * q + self.rate * p

    def gap(self, u: Any) -> Any:
        return self.rate * self.base.gap(u)

    def nodes(self, cuts: list[float]) -> tuple[Any, Any]:
        return self.base.nodes(cuts)


class ReplacedCurve(Curve):
    """(1−q)N(0,1) + qN(−μ,1) against (1−q)N(0,1) + qN(μ,1)."""

    def __init__(self, mu: float, rate: float) -> None:
        self.mu, self.rate = mu, rate

    def _ratio(self, a: Any) -> Any:
        far = a > 500
        return np.where(far, a + math.log(self.rate), np.log1p(self.rate * np.expm1(np.where(far, 0.0, a))))

    def loss(self, u: Any) -> Any:
        return self._ratio(self.mu * u - self.mu**2 / 2) - self._ratio(-self.mu * u - self.mu**2 / 2)

    def where(self, x: Any) -> Any:
        size = np.abs(np.asarray(x, dtype=float))
        # the loss of u > 0 is at most that of a plain shift, and at least that less log(1/q)
        low, high = np.zeros_like(size), (size - math.log(self.rate)) / self.mu + self.mu + 1
        u = np.minimum(high / 2, np.log1p(np.expm1(np.minimum(size, 500)) / self.rate) / self.mu + self.mu / 2)
        for _ in range(24):  # Newton's steps between safe ends
            over = self.loss(u) - size
            low, high = np.where(over > 0, low, u), np.where(over > 0, u, high)
            a, b = self.mu * u - self.mu**2 / 2, -self.mu * u - self.mu**2 / 2
            slope = self.mu * self.rate * (np.exp(a - self._ratio(a)) + np.exp(b - self._ratio(b)))
            moved = u - over / slope
            u = np.where((moved > low) & (moved < high), moved, (low + high) / 2)
        return np.sign(x) * u

    def tails(self, u: Any) -> tuple[Any, Any]:
        none, q = ndtr(-u), self.rate
        return (1 - q) * none + q * ndtr(-self.mu - u), (1 - q) * none + q * ndtr(self.mu - u)

    def heads(self, u: Any) -> tuple[Any, Any]:
        p, q = self.tails(-u)
        return q, p

    def gap(self, u: Any) -> Any:
        a = np.abs(u)
        return self.rate * (ndtr(self.mu - a) - ndtr(-self.mu - a))

    def nodes(self, cuts: list[float]) -> tuple[Any, Any]:
        u, w = _graded(-_WIDE - 3 * self.mu, _WIDE + 3 * self.mu, min(0.8, 1.5 / self.mu), cuts)
        return u, np.log(w) - u * u / 2 - math.log(2 * math.pi) / 2 + self._ratio(-self.mu * u - self.mu**2 / 2)
