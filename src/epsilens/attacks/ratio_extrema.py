"""Where the likelihood ratio of two mixtures of normal laws of one σ turns from rising to falling or back: all places.

In units of σ, llr′(x) is the mean of the location s given x under H1 minus that under H0, llr″(x) the difference of
the variances and llr‴(x) that of the third central moments. Each is bounded no further than h from x, with p and q the
laws of s given x, m and n their means, R the range of the locations:

- the variance by G = Σ(s − m)²·e^{|s − m|·h}·p, since Σe^{(s − m)u}·p ≥ 1 (Jensen), and the third moment by R·G;
- where p and q hardly differ, with w = e^{(|s − n| + |m − n|)·h}, the mean of |s − n|ᵏ under either by
  g_k = Σ|s − n|ᵏ·w·max(p, q), and the difference of the two means by D_k = S_k + S₀·g_k, S_k = Σ|s − n|ᵏ·w·|q − p|; so
  |llr″| ≤ D₂ + 2·g₁·D₁ and |llr‴| ≤ D₃ + 3(D₁·g₂ + g₁·D₂) + 6·g₁²·D₁.

So it is known how far llr′ can move within h of x: where that is less than its distance from zero, it has no zero
there. Nothing is missed by a coarse grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from ..checks import Array
from ..laws.piecewise import NormalMixture
from ..numerics.roots import root

_FAR = 765.0  # further than the pair of laws is ever looked at
_STILL = 1e-15  # where the log-likelihood ratio moves by less than this it does not move
_NOISE = 1e-15  # relative to the terms of llr′ and of their logarithms: smaller is rounding
_HALVINGS = 60  # by then the ends of an interval are one double


def turning_points(line0: NormalMixture, line1: NormalMixture) -> tuple[float, ...]:
    """The places where llr′ changes sign, of mixtures whose normal laws all have one σ.

    Intervals are halved until llr′ has one sign in each, or is monotone, or the ratio moves by no more than rounding.
    """
    if max(line0.locations) <= min(line1.locations) or max(line1.locations) <= min(line0.locations):
        return ()
    pair = _pair(line0, line1)
    low, high = pair.places[0], pair.places[-1]
    edges = np.unique(np.concatenate((np.linspace(low - _FAR, high + _FAR, 257), np.linspace(low, high, 257))))
    left, right = edges[:-1], edges[1:]
    signed: list[Array] = []  # ends of intervals that are settled
    for _ in range(_HALVINGS):
        middle, half = (left + right) / 2, (right - left) / 2
        at = pair.near(middle, half)
        steady = np.abs(at.slope) > at.change + at.noise
        settled = steady | at.monotone
        signed += [left[settled], right[settled]]
        open_ = ~settled & ((np.abs(at.slope) + at.change) * half > _STILL)
        left, right = np.concatenate((left[open_], middle[open_])), np.concatenate((middle[open_], right[open_]))
        if not left.size:
            break
    return pair.turns(np.unique(np.concatenate(signed)))


class _Near(NamedTuple):
    """llr′ at a point, how far it can move from there, whether it only rises or only falls, and its rounding."""

    slope: Array
    change: Array
    monotone: NDArray[np.bool_]
    noise: Array


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two mixtures on the same places, in units of σ about ``centre``; ``logs`` are those of weights, −∞ for none."""

    places: Array
    logs: Array
    centre: float
    sigma: float

    def _given(self, x: Array) -> tuple[Array, Array, Array]:
        """Logarithms of the two laws of the location given x, and the locations from the likeliest: both are counted
        from there, which keeps the digits of a slope far below rounding.
        """
        close = np.clip(x, self.places[0], self.places[-1])[:, None]
        fit = (self.places - close) * (x[:, None] - (self.places + close) / 2)
        likeliest = self.places[np.argmax(self.logs.max(axis=0) + fit, axis=1), None]
        away = self.places - likeliest
        fit = away * (x[:, None] - (self.places + likeliest) / 2)
        share0, share1 = (log_softmax(logs + fit, axis=1) for logs in self.logs)
        return share0, share1, away

    def slope(self, x: Array) -> Array:
        """llr′(x)."""
        share0, share1, away = self._given(x)
        return np.asarray(((np.exp(share1) - np.exp(share0)) * away).sum(axis=1))

    def near(self, x: Array, half: Array) -> _Near:
        """What is known of llr′ no further than ``half`` from x."""
        share0, share1, away = self._given(x)
        reach, h = self.places[-1] - self.places[0], half[:, None]
        slope = ((np.exp(share1) - np.exp(share0)) * away).sum(axis=1)
        variances, grown = [], []
        for share in (share0, share1):
            p = np.exp(share)
            from_mean = np.abs(away - (p * away).sum(axis=1, keepdims=True))
            variances.append((p * from_mean**2).sum(axis=1))
            grown.append((_swollen(share + from_mean * h) * from_mean**2).sum(axis=1))
        top, far = np.maximum(share0, share1), from_mean
        swollen = _swollen(top + (far + np.abs(slope)[:, None]) * h)
        differ = swollen * -np.expm1(np.minimum(share0, share1) - top)
        g = [(swollen * far**k).sum(axis=1) for k in range(4)]
        d = [(differ * far**k).sum(axis=1) + differ.sum(axis=1) * g[k] for k in range(4)]
        bend = np.abs(variances[1] - variances[0])
        second = np.minimum(np.maximum(*grown), d[2] + 2 * g[1] * d[1])
        third = d[3] + 3 * (d[1] * g[2] + g[1] * d[2]) + 6 * g[1] ** 2 * d[1]
        further = half * np.minimum(reach * (grown[0] + grown[1]), third)
        most = np.minimum.reduce((bend + further, second, np.full(x.shape, reach**2 / 4)))
        noise = _NOISE * (np.exp(top) * (1 - top) * np.abs(away)).sum(axis=1)
        return _Near(slope, half * most, bend > further + _NOISE * (variances[0] + variances[1]), noise)

    def turns(self, points: Array) -> tuple[float, ...]:
        """One zero for each change of sign of llr′ along those of the points where it is more than rounding."""
        at = self.near(points, np.zeros(points.shape))
        signs = np.where(np.abs(at.slope) > at.noise, np.sign(at.slope), 0.0)
        points, signs = points[signs != 0], signs[signs != 0]
        turn = np.flatnonzero(signs[1:] != signs[:-1])
        zeros = root(self.slope, points[turn], points[turn + 1], atol=1e-15)
        return tuple((self.centre + self.sigma * zeros).tolist())


def _swollen(logs: Array) -> Array:
    """e^logs, cut where every bound made of it is beyond R²/4 already."""
    return np.asarray(np.exp(np.minimum(logs, 150.0)))


def _pair(line0: NormalMixture, line1: NormalMixture) -> _Pair:
    places, index = np.unique([*line0.locations, *line1.locations], return_inverse=True)
    logs = np.full((2, places.size), -np.inf)
    for row, at, line in zip(logs, np.split(index, [len(line0.locations)]), (line0, line1), strict=True):
        np.logaddexp.at(row, at, np.log(line.weights))
    centre = float(places[0] + places[-1]) / 2
    return _Pair((places - centre) / line0.scale, logs, centre, line0.scale)
