"""A person's ±1 among m of them: the pairs of laws that shuffling leaves, and mixtures of these.

A **cell** is a pair: m signs are seen by their number alone. With probability ρ one of them is the person's, + under H1
(− under H0) with probability e^ε/(1+e^ε); all others are fair coins. With probability 1−ρ all are coins. If a of them
are +, then with r = m(e^ε+1)(1−ρ)/(2ρ)

    H1 : H0 = a + (m−a+r)/e^ε : m−a + (a+r)/e^ε,   and their mean is the binomial law of m fair coins.

Cells are ordered. One more coin only hides, so a cell is at least as risky as one with larger m and the same ρ; and a
smaller ρ is a larger one whose answer is replaced by coins now and then. A mixture of cells, the cell being seen, is
one finite pair, symmetric in H0 and H1. What is rounded here is rounded towards riskier cells, or towards safer ones:

- likelihood ratios between two points of a lattice are split between both, keeping both laws' masses: a riskier pair;
- or those within a stretch of the lattice become one outcome: a safer pair;
- mass outside the windows goes to the largest ratio, e^ε, or to ratio 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..numerics.binomial import log_binomial
from .envelope import Envelope
from .finite import Finite

SIGMAS = 13.5  # of a window: what lies beyond is below 1e-38 of the whole
_MOST_ATOMS = 8000  # written out as they are, for losses above 0
_PER_SIGMA = 400  # lattice points to a standard deviation of the loss
_BLOCK = 100_000


@dataclass(frozen=True)
class SignCells:
    """A mixture: of cell j there is ``weight``, with ``m`` signs and ``rest`` r; ``left_out`` is what no cell holds."""

    epsilon: float
    weight: Array
    m: Array
    rest: Array
    left_out: float = 0.0

    @property
    def ways(self) -> Array:
        """How many counts of + above one half each cell has within its window."""
        return np.ceil(np.minimum(self.m / 2, SIGMAS * np.sqrt(self.m) / 2 + SIGMAS)) + 1

    @property
    def spread(self) -> float:
        """The standard deviation of the loss, about."""
        z = np.exp(-self.epsilon)
        half = self.m * (1 + z) / 2 + z * self.rest
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(half > 0, self.m * ((1 - z) / half) ** 2, 0.0)
        return float(np.sqrt(np.sum(self.weight * np.minimum(variance, self.epsilon**2))))

    def outcomes(self) -> list[tuple[Array, Array]]:
        """(mean mass of both laws, loss) of every outcome with loss ≥ 0, in blocks; their mirror images are left out.

        An outcome with as many + as − is its own mirror image and comes with half its mass.
        """
        z, made = np.exp(-self.epsilon), []
        ways = self.ways.astype(int)
        ends = np.cumsum(ways)
        for first in range(0, int(ends[-1]), _BLOCK):
            flat = np.arange(first, min(first + _BLOCK, int(ends[-1])))
            cell = np.searchsorted(ends, flat, side="right")
            m, rest = self.m[cell], self.rest[cell]
            plus = np.ceil(m / 2) + (flat - (ends[cell] - ways[cell]))
            log_mass = np.where(plus <= m, log_binomial(m, plus, 0.5), -np.inf)
            minus = np.maximum(m - plus, 0.0)
            up, down = plus + z * (minus + rest), minus + z * (plus + rest)
            loss = np.log1p((1 - z) * (plus - minus) / np.where(down > 0, down, 1.0))
            live = log_mass > -np.inf
            share = self.weight[cell] * np.where(plus == minus, 0.5, 1.0)
            made.append(((share * np.exp(log_mass))[live], np.where(up > down, loss, 0.0)[live]))
        return made

    @property
    def beyond(self) -> float:
        """A bound on the mass outside of all windows."""
        m = self.m
        edge = np.ceil(m / 2) + self.ways
        per_cell = np.maximum(m - edge + 1, 0.0) * np.exp(log_binomial(m, edge, 0.5))
        return float(self.left_out + np.sum(2 * self.weight * per_cell))


def upper_pair(cells: SignCells) -> Envelope:
    """A pair at least as risky as the mixture, and hardly more."""
    blocks, beyond = cells.outcomes(), cells.beyond
    if sum(mass.size for mass, _ in blocks) <= _MOST_ATOMS:
        mass, loss = (np.concatenate(column) for column in zip(*blocks, strict=True))
        return _mirrored(cells, mass * 2 / (1 + np.exp(-loss)), loss, beyond)
    grid = _lattice(cells)
    h1 = np.zeros(grid.size)
    for mass, loss in blocks:
        masses = mass * 2 / (1 + np.exp(-loss))
        i = np.clip(np.searchsorted(grid, loss, side="right") - 1, 0, grid.size - 2)
        # p and p·e^{−loss} are both kept by the two points around it
        up = np.expm1(np.minimum(grid[i] - loss, 0.0)) / np.expm1(grid[i] - grid[i + 1])
        up = np.clip(up, 0.0, 1.0)
        h1 += np.bincount(i, masses * (1 - up), grid.size) + np.bincount(i + 1, masses * up, grid.size)
    return _mirrored(cells, h1, grid, beyond)


def lower_pair(cells: SignCells) -> Finite:
    """A pair at most as risky as the mixture, and hardly less."""
    blocks, beyond = cells.outcomes(), cells.beyond
    grid = _lattice(cells)
    few = sum(mass.size for mass, _ in blocks) <= _MOST_ATOMS
    if few:
        mass, loss = (np.concatenate(column) for column in zip(*blocks, strict=True))
        of_h1, of_h0 = mass * 2 / (1 + np.exp(-loss)), mass * 2 / (1 + np.exp(loss))
    else:
        of_h1, of_h0 = np.zeros(grid.size), np.zeros(grid.size)
        for mass, loss in blocks:
            i = np.searchsorted(grid, loss, side="right") - 1
            of_h1 += np.bincount(i, mass * 2 / (1 + np.exp(-loss)), grid.size)
            of_h0 += np.bincount(i, mass * 2 / (1 + np.exp(loss)), grid.size)
        live = of_h0 > 0
        of_h1, of_h0 = of_h1[live], of_h0[live]
        loss = np.maximum(np.log(of_h1) - np.log(of_h0), 0.0)
    total = float(np.sum(of_h1 + of_h0) + beyond)
    p0 = np.concatenate((of_h0, of_h0 * np.exp(loss), [beyond])) / total
    llr = np.concatenate((loss, -loss, [0.0]))
    live = p0 > 0
    return Finite(np.log(p0[live]), llr[live], mirrored=True)


def _lattice(cells: SignCells) -> Array:
    """Losses 0, Δ, 2Δ, … with ε itself a multiple of Δ; beyond forty standard deviations only ε."""
    spread = max(cells.spread, 1e-300)
    count = max(1, round(min(cells.epsilon * _PER_SIGMA / spread, 1e15)))
    step = cells.epsilon / count
    near = step * np.arange(min(count, 40 * _PER_SIGMA) + 1.0)
    return np.append(near[near < cells.epsilon * (1 - 1e-12)], cells.epsilon)


def _mirrored(cells: SignCells, h1: Array, loss: Array, beyond: float) -> Envelope:
    """The symmetric pair with these H1-masses at losses ≥ 0 and the mirror images; what is left out lies at ±ε."""
    p1, at = np.append(h1, beyond / (1 + np.exp(-cells.epsilon))), np.append(loss, cells.epsilon)
    live = p1 > 0
    p1, at = p1[live], at[live]
    p1 = p1 / float(np.sum(p1 * (1 + np.exp(-at))))
    log_p1 = np.log(p1)
    # of the mirror images, at −loss, H0 has what H1 has at +loss
    log_p0 = np.concatenate((log_p1 - at, log_p1))
    rounding = 1e-13 + 2e-14 * float(np.sqrt(cells.m.max(initial=0.0)))
    return Envelope(log_p0, np.concatenate((at, -at)), mirrored=True, rounding=rounding)
