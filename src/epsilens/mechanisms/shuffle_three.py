"""Shuffled randomised response with three answers, for moderately many people: δ(ε) over all values of the others.

Let a of the others hold the first value, b the second, the rest the third. What is seen are the counts of the first two
answers, whose law is a sum of independent reports; it is made on a lattice by one Fourier transform. The adversary
knows a and b, and δ(ε) is the largest over all of them.

Others with a third value mostly hide the person least, but no proof is known, and near ε itself it is not so. It is
checked: all (a, b) in a rectangle are bounded together by telling apart those in which they differ, which leaves the
fewest of each kind. A rectangle whose bound lies below what is attained already is done; any other is halved. As a
person with one of the two values hides another better than one with the third, rectangles may grow with a + b.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.fft import irfft2, next_fast_len

from ..checks import Array

MOST_PEOPLE = 1200
_POINTS = 3000  # values of ε
_LEAST = 1e-9  # of a δ that is looked at: below, what a transform leaves out would be seen
_CLOSE = 1e-7  # relative to what is attained
_MOST_REGIONS, _MOST_WORK = 600, 1.2e7  # rectangles, and points of the lattices of those looked at first
_OUTSIDE = -31.0  # log mass outside of a lattice


class _Reports:
    """Laws of the counts of the first two answers, on one lattice for all who may report."""

    def __init__(self, epsilon: float, n: int) -> None:
        z = math.exp(-epsilon)
        self.alpha = z / (1 + 2 * z)
        self.own = 1 / (1 + 2 * z)
        self.n, self.growth = n, self._spread(self.own + self.alpha, self.own - self.alpha) / (2 * self.alpha)
        self.size = next_fast_len(min(n + 1, self._width()), real=True)
        u = np.exp(-2j * math.pi * np.arange(self.size) / self.size)
        across, down = u[: self.size // 2 + 1][None, :], u[:, None]
        self.logs = [
            np.log(p * down + q * across + (1 - p - q))
            for p, q in ((self.own, self.alpha), (self.alpha, self.own), (self.alpha, self.alpha))
        ]

    @staticmethod
    def _spread(square: float, mean: float) -> float:
        """The variance of how far the two counts drift apart."""
        return square - mean * mean

    def _width(self) -> int:
        """2t with Bernstein's e^{−t²/(2v+2t/3)} below what may lie outside, v ≤ n·p(1−p) of any answer."""
        v = self.n * max(p * (1 - p) for p in (self.alpha, self.own))
        t = (-_OUTSIDE / 3) + math.sqrt((_OUTSIDE / 3) ** 2 - 2 * v * _OUTSIDE)
        return 2 * math.ceil(t) + 2

    @property
    def error(self) -> float:
        """A bound on what rounding and the mass outside the lattice add to a δ."""
        outside = 0.0 if self.size > self.n else 4 * math.exp(_OUTSIDE) / self.alpha
        return 1e-13 + 1e-15 * self.n + outside

    def deltas(self, kinds: tuple[int, int, int], grid: Array) -> Array:
        """δ on a grid of ε from 0, in the worse order, if so many of the others hold each value."""
        p = (self.own, self.alpha, self.alpha), (self.alpha, self.own, self.alpha)
        start = [0, 0]
        if self.size <= self.n:
            start = [round(sum(k * q for k, q in zip(kinds, of, strict=True)) - self.size / 2) for of in p]
        phase = 2j * math.pi / self.size * np.arange(self.size)
        turn = (phase * start[0])[:, None] + (phase * start[1])[None, : self.size // 2 + 1]
        log_phi = turn + sum(k * log for k, log in zip(kinds, self.logs, strict=True) if k)
        others = np.maximum(irfft2(np.exp(log_phi), s=(self.size, self.size)), 0.0)
        first, second, third = (np.zeros((self.size + 1, self.size + 1)) for _ in range(3))
        first[1:, :-1], second[:-1, 1:], third[:-1, :-1] = others, others, others
        h0 = (self.own * first + self.alpha * (second + third)).ravel()
        h1 = (self.own * second + self.alpha * (first + third)).ravel()
        return np.maximum(_profile(h0, h1, grid), _profile(h1, h0, grid)) + self.error


def _profile(first: Array, second: Array, grid: Array) -> Array:
    """Σ (second − e^ε·first)₊ on a grid from 0 in equal steps; an outcome next to a step adds nothing beside it."""
    live = second > first
    first, second = first[live], second[live]
    steps = np.log(second / np.maximum(first, 1e-300)) / grid[1]
    # The last step that it lies above; masses below 1e-300, which weigh nothing, may seem to lie below all.
    bins = np.clip(steps, 0.0, float(grid.size)).astype(np.int64)
    sums = [np.cumsum(np.bincount(bins, h, grid.size + 1)[::-1])[::-1][: grid.size] for h in (first, second)]
    return np.asarray(np.maximum(sums[1] - np.exp(grid) * sums[0], 0.0))


def three_answers(epsilon: float, n: int, third: tuple[Array, Array]) -> tuple[Array, Array] | None:
    """(ε, δ): what holds for all values of the others, from 0 up to where δ is small; None where that takes too long.

    ``third`` are the masses and the losses, of H1, if all others hold the third value: what is attained.
    """
    if not 2 <= n <= MOST_PEOPLE:
        return None
    reports = _Reports(epsilon, n)
    regions = _regions(n, reports.growth)
    if len(regions) * reports.size**2 > _MOST_WORK:
        return None
    mass, loss = third
    h0 = mass * np.exp(-loss)
    grid = np.linspace(0.0, epsilon, _POINTS)
    seen = np.flatnonzero(_profile(h0, mass, grid) > _LEAST)
    if not seen.size:
        return None
    grid = np.linspace(0.0, float(grid[max(seen[-1], 1)]), _POINTS)
    best = _profile(h0, mass, grid) * (1 + 1e-12) + 1e-15
    enough, done = best * (1 + _CLOSE), 0
    while regions:
        a, b, c, d = regions.pop()
        b, d = min(b, n - 1 - c), min(d, n - 1 - a)
        if b < a or d < max(a, c) or (b, d) == (0, 0):  # no such people, mirrored in another, or what is attained
            continue
        done += 1
        if done > _MOST_REGIONS:
            return None
        found = reports.deltas((a, c, max(n - 1 - b - d, 0)), grid)
        if (found <= enough).all():
            continue
        if (a, c) == (b, d):  # attained too
            best = np.maximum(best, found)
            enough = np.maximum(enough, best * (1 + _CLOSE))
        elif b - a >= d - c:
            regions += [(a, (a + b) // 2, c, d), ((a + b) // 2 + 1, b, c, d)]
        else:
            regions += [(a, b, c, (c + d) // 2), (a, b, (c + d) // 2 + 1, d)]
    return grid, np.minimum(enough, 1.0)


def _regions(n: int, growth: float) -> list[tuple[int, int, int, int]]:
    """Rectangles of (a, b), a ≤ b, that cover all: as large as the better hiding of those who remain makes up for.

    Nearest to none at all first: what they attain is the bar for the others.
    """
    ratio = 1 + 0.7 * (growth - 1)
    made = []
    c = 0
    while c < n:
        d = max(c, math.floor(c * (1 + ratio) / 2))
        a = 0
        while a <= d:
            b = max(a, math.floor(ratio * (a + c)) - d)
            made.append((a, min(b, d), c, d))
            a = b + 1
        c = d + 1
    return made[::-1]
