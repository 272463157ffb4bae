"""The shuffle model: n people randomise their answers themselves, and only the shuffled answers are seen.

The person's answer hides among those of the others, who together answer as if they had drawn it now and then.

What bounds it for any ε₀-DP randomiser, and for k-ary randomised response from both sides, is Theorem D41 of
docs/proofs/dominating-pairs.md. With m reports of the two values in question, r others of those who report uniformly
and α = 1/(e^ε+k−1), ρ = m(e^ε+1)/2 / (m(e^ε+1)/2 + r). If k ≥ 3 and all others hold the same third value, c of whom
report it, r = (n−m) − (1 − e^{−ε})·c. Who looks at m alone sees the mean of r, (n−m)(k−2)/(e^ε+k−3), a pair that is
often taken for an upper bound. It is none: for k ≥ 4 the third values tell more, and with n = 2, k = 3 and the other
person holding the first value, two reports of it do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft2, next_fast_len

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment, require_independent
from ..laws.envelope import Envelope, envelope
from ..laws.finite import Finite
from ..numerics.special import binomial_window, log_binomial
from ..worlds import RECORD
from .batches import require_any_table
from .builders import vectorized

# A person's ±1 among m of them: the pairs of laws that shuffling leaves, and mixtures of these.
#
# A **cell** is a pair: m signs are seen by their number alone. With probability ρ one of them is the person's, + under
# H1 (− under H0) with probability e^ε/(1+e^ε); all others are fair coins. With probability 1−ρ all are coins. If a of
# them are +, then with r = m(e^ε+1)(1−ρ)/(2ρ)
#
#     H1 : H0 = a + (m−a+r)/e^ε : m−a + (a+r)/e^ε,   and their mean is the binomial law of m fair coins.
#
# Cells are ordered. One more coin only hides, so a cell is at least as risky as one with larger m and the same ρ; and a
# smaller ρ is a larger one whose answer is replaced by coins now and then. A mixture of cells, the cell being seen, is
# one finite pair, symmetric in H0 and H1. What is rounded here is rounded towards riskier cells, or towards safer ones:
#
# - likelihood ratios between two points of a lattice are split between both, keeping both laws' masses: a riskier pair;
# - or those within a stretch of the lattice become one outcome: a safer pair;
# - mass outside the windows goes to the largest ratio, e^ε, or to ratio 1.

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
        z, result = np.exp(-self.epsilon), []
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
            result.append(((share * np.exp(log_mass))[live], np.where(up > down, loss, 0.0)[live]))
        return result

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


# Shuffled randomised response with three answers, for moderately many people: δ(ε) over all values of the others.
#
# Let a of the others hold the first value, b the second, the rest the third. What is seen are the counts of the first
# two answers, whose law is a sum of independent reports; it is made on a lattice by one Fourier transform. The
# adversary knows a and b, and δ(ε) is the largest over all of them.
#
# Others with a third value mostly hide the person least, but no proof is known, and near ε itself it is not so. It is
# checked: all (a, b) in a rectangle are bounded together by telling apart those in which they differ, which leaves the
# fewest of each kind. A rectangle whose bound lies below what is attained already is done; any other is halved. As a
# person with one of the two values hides another better than one with the third, rectangles may grow with a + b.

MOST_PEOPLE = 1200
_POINTS = 3000  # values of ε
_LEAST = 1e-9  # of a δ that is looked at: below, what a transform leaves out would be seen
_CLOSE = 1e-7  # relative to what is attained
_MOST_REGIONS, _MOST_WORK = 600, 1.2e7  # rectangles, and points of the lattices of those looked at first
_OUTSIDE = -31.0  # log mass outside of a lattice


class _ReportLattice:
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


def ternary_profile(epsilon: float, n: int, third: tuple[Array, Array]) -> tuple[Array, Array] | None:
    """(ε, δ): what holds for all values of the others, from 0 up to where δ is small; None where that takes too long.

    ``third`` are the masses and the losses, of H1, if all others hold the third value: what is attained.
    """
    if not 2 <= n <= MOST_PEOPLE:
        return None
    reports = _ReportLattice(epsilon, n)
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
        result = reports.deltas((a, c, max(n - 1 - b - d, 0)), grid)
        if (result <= enough).all():
            continue
        if (a, c) == (b, d):  # attained too
            best = np.maximum(best, result)
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
    result = []
    c = 0
    while c < n:
        d = max(c, math.floor(c * (1 + ratio) / 2))
        a = 0
        while a <= d:
            b = max(a, math.floor(ratio * (a + c)) - d)
            result.append((a, min(b, d), c, d))
            a = b + 1
        c = d + 1
    return result[::-1]


# Shuffled randomised response with two answers: what the number of ones tells about one person.
#
# If b of the n − 1 others hold 1, the sum of their reports is S = Bin(n−1−b, α) + Bin(b, 1−α), α = 1/(e^ε+1), and the
# person adds 1 with probability α under H0 and 1 − α under H1. With w the law of S,
#
#     H1 : H0 at a total s  =  e^{−ε}·w(s) + w(s−1) : w(s) + e^{−ε}·w(s−1).
#
# The adversary knows b, and which b is worst depends on the threshold, so δ(ε) is the largest over all of them, in both
# orders; b and n−1−b are each other's mirror image. For few people every b is gone through. For many, those from b₀ to
# b₁ are bounded together: with the reports of b₁ − b₀ people told apart, all that remain hold 0 (n−1−b₁ of them) or 1
# (b₀). The pair of b = 0 is attained.

_GRID = 2000  # values of ε at which δ is read
_MOST_SPLITS, _LEAST_SPLITS = 200, 10
_MOST_MULTIPLICATIONS = 4e8  # multiplications
_MOST_DIRECT = 2e7  # for one convolution; beyond, by Fourier transforms


def binary_profile(epsilon: float, n: int) -> tuple[Envelope, Finite]:
    """A bound for all values of the others, and the pair that is attained if all hold the same."""
    z = math.exp(-epsilon)
    alpha = z / (1 + z)
    spread = -math.expm1(-epsilon) / math.sqrt(z * n)  # of the loss, about: (e^ε − 1)·e^{−ε/2}/√n
    grid = np.linspace(0.0, min(epsilon, 16 * spread), _GRID)
    most = (n - 1) // 2 + 1
    window = min(n / 2, 2 * SIGMAS * math.sqrt(n * alpha * (1 - alpha) / 2) + 2 * SIGMAS)
    splits = min(most, max(_LEAST_SPLITS, min(int(_MOST_MULTIPLICATIONS / min(window**2, _MOST_DIRECT)), _MOST_SPLITS)))
    delta = np.zeros(grid.size)
    for first, last in pairwise(np.linspace(0, most, splits + 1).astype(int).tolist()):
        pair, beyond = _pair(z, n - last, first)
        worse = np.maximum(pair.profile(grid), pair.reverse().profile(grid))
        delta = np.maximum(delta, np.minimum(worse * (1 - beyond) + beyond, 1.0))
    if grid[-1] < epsilon:
        grid, delta = np.append(grid, epsilon), np.append(delta, 0.0)
    delta[-1] = 0.0  # each report is ε-DP already
    bound = envelope(grid, delta, rounding=1e-13 + 2e-14 * math.sqrt(n))
    attained, beyond = _pair(z, n - 1, 0)
    if beyond > 0:
        masses = np.append(attained.log_p0 + math.log1p(-beyond), math.log(beyond))
        attained = Finite(masses, np.append(attained.llr, 0.0))
    return bound, attained


def _pair(z: float, zeros: int, ones: int) -> tuple[Finite, float]:
    """The pair if so many of the others hold 0 and 1, given that their sums lie in a window; and the mass outside."""
    log_w, beyond = _sums(z / (1 + z), zeros, ones)
    live = log_w > -690  # the rest is left out too
    log_w, beyond = log_w[live], beyond + (0.0 if live.all() else 1e-290)
    here, before = np.append(log_w, -np.inf), np.append(-np.inf, log_w)
    log_p0 = np.logaddexp(here, before + math.log(z))
    more = before > here  # from the smaller of w(s)/w(s−1) and its inverse
    x = np.exp(np.where(more, here - before, before - here))
    loss = np.where(more, np.log1p(z * x) - np.log(z + x), np.log(z + x) - np.log1p(z * x))
    return Finite(log_p0 - np.logaddexp.reduce(log_p0), loss), beyond


def _sums(alpha: float, zeros: int, ones: int) -> tuple[Array, float]:
    """log P(s) of S = Bin(zeros, α) + Bin(ones, 1−α) over a window of s, and the mass outside."""
    masses, beyond = [], 0.0
    for count in (zeros, ones):
        low, high, cut = binomial_window(count, alpha, SIGMAS)
        masses.append(np.exp(log_binomial(count, np.arange(low, high + 1.0), alpha)))
        beyond += cut
    if masses[0].size * masses[1].size > _MOST_DIRECT:
        return _by_tilts(alpha, zeros, ones), beyond + 1e-36
    with np.errstate(divide="ignore"):  # those who hold 1 report it unless they are among Bin(ones, α)
        return np.log(np.convolve(masses[0], masses[1][::-1])), beyond


def _by_tilts(alpha: float, zeros: int, ones: int) -> Array:
    """The same by Fourier transforms of tilted laws, e^{θs}·P(s): each keeps digits around its mean."""
    sigma = math.sqrt((zeros + ones) * alpha * (1 - alpha))
    thetas = np.arange(-SIGMAS, SIGMAS + 0.1, 3.0) / sigma
    means = [_tilted(alpha, zeros, ones, theta)[1] for theta in thetas]
    ends = np.rint(np.concatenate(([means[0] - sigma], (np.add(means[1:], means[:-1])) / 2, [means[-1] + sigma])))
    result = []
    for theta, low, high in zip(thetas, ends[:-1], ends[1:], strict=True):
        (p, q), mean, log_scale = _tilted(alpha, zeros, ones, theta)
        size = 2 ** math.ceil(math.log2(2 * SIGMAS * 1.3 * sigma))
        start = round(mean) - size // 2
        u = 2 * math.pi * np.arange(size // 2 + 1) / size
        turn = np.exp(1j * u) - 1
        log_phi = zeros * np.log1p(p * turn) + ones * np.log1p(q * turn) - 1j * u * start
        masses = np.fft.irfft(np.conj(np.exp(log_phi)), size)  # ∫ φ(u)·e^{−ius}: their sign is the other
        s = np.arange(low, high)
        result.append(np.log(masses[(s - start).astype(int)]) - theta * s + log_scale)
    return np.concatenate(result)


def _tilted(alpha: float, zeros: int, ones: int, theta: float) -> tuple[tuple[float, float], float, float]:
    """Both probabilities under a tilt, the mean of the sum, and log E e^{θS}."""
    grown = math.expm1(theta)
    scales = 1 + alpha * grown, 1 + (1 - alpha) * grown
    p, q = alpha * math.exp(theta) / scales[0], (1 - alpha) * math.exp(theta) / scales[1]
    return (p, q), zeros * p + ones * q, zeros * math.log1p(alpha * grown) + ones * math.log1p((1 - alpha) * grown)


_MOST_PEOPLE = 10**8
_WORK, _ROUGH = 1_000_000, 400_000  # outcomes that are gone through
_PARTS = 16  # stretches of how many hold the same third value
_NOTES = {
    "any": "an upper bound that holds for every ε-DP randomiser: a particular one may hide people better",
    "response": "an upper bound for whatever values the others hold; the low end of a bracket is reached by some",
}


@vectorized("epsilon", "n", "answers")
def shuffled(epsilon: Experiment | ArrayLike, *, n: ArrayLike, answers: ArrayLike | None = None) -> Experiment:
    """The answers of n people, randomised by each and then shuffled: what they tell about one person's value.

    ``epsilon`` is what each of them does alone: ``randomized_response(…)``, whose shuffle lies within a proven bracket,
    or any other experiment or an ε₀, of which only its ε is used (an upper bound for every ε₀-DP randomiser).
    ``answers=k`` says that an ε₀ is that of k-ary randomised response.

    Parameters
    ----------
    epsilon : Experiment, float or array_like
        What each person does alone: randomised response, another experiment, or its ε.
    n : int or array_like
        How many people there are.
    answers : int or array_like, optional
        Possible answers, where ε is that of randomised response.

    Returns
    -------
    Experiment
        The pair of laws; readings lie in a bracket and are its riskier end.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(shuffled(1.0, n=1000).epsilon(1e-6), 4)
    0.1824
    >>> from epsilens.mechanisms import randomized_response
    >>> low, high = shuffled(randomized_response(epsilon=1.0, k=10), n=1000).bracket("epsilon", delta=1e-6)
    >>> round(low, 3), round(high, 3)
    (0.08, 0.08)
    """
    people = checks.integer("n", n, low=1, high=_MOST_PEOPLE)
    eps, k = _local_epsilon(epsilon, answers)
    parameters: dict[str, float] = {"epsilon": eps, "n": people} | ({} if k is None else {"answers": k})
    if k is None:
        return Experiment(
            upper_pair(_clone_cells(eps, people)), "shuffled", parameters, notes=(_NOTES["any"],), worlds=RECORD
        )
    bound, attained = binary_profile(eps, people) if k == 2 else _randomized_response_cells(eps, k, people)
    law = replace(bound, attained=attained)
    return Experiment(law, "shuffled", parameters, notes=(_NOTES["response"],), worlds=RECORD)


def _local_epsilon(epsilon: Experiment | ArrayLike, answers: ArrayLike | None) -> tuple[float, int | None]:
    """(ε₀, possible answers of randomised response or None)."""
    if not isinstance(epsilon, Experiment):
        k = None if answers is None else checks.integer("answers", answers, low=2, high=10**6)
        return float(checks.in_range("epsilon", checks.scalar("epsilon", epsilon), 1e-12, 700.0)), k
    if answers is not None:
        raise InputError("answers belongs to a number: leave it out beside an experiment", "answers")
    if epsilon.many:
        raise InputError("shuffled needs one experiment: build it from numbers, not arrays", "epsilon")
    for part in [part for part, _ in epsilon.parts] or [epsilon]:
        require_any_table(part)
        if part.parameters.get("shift") != part.parameters.get("sensitivity"):
            raise InputError("shift is less than the sensitivity: others may hold any values, so leave it out", "shift")
    eps = float(require_independent(epsilon).epsilon())
    if not math.isfinite(eps):
        raise InputError(
            f"{epsilon.name} has no finite epsilon: shuffling hides only what is pure ε-DP before it", "epsilon"
        )
    k = epsilon.parameters["k"] if epsilon.origin == "randomized_response" else None
    return float(checks.in_range("epsilon", np.asarray(eps), 1e-12, 700.0)), k


def _edges(low: int, high: int, stretches: int) -> Array:
    """Where stretches of whole numbers from low to high begin, the middle ones shorter; at the end high + 1."""
    if high - low + 1 <= stretches:
        return np.arange(low, high + 2.0)
    y = np.linspace(-1.0, 1.0, stretches + 1)
    at = (low + high + 1) / 2 + (high + 1 - low) / 2 * np.sinh(3 * y) / math.sinh(3)
    return np.unique(np.clip(np.rint(at), low, high + 1.0))


def _summed(masses: Array, low: int, edges: Array) -> Array:
    """The mass of each stretch."""
    return np.asarray(np.add.reduceat(masses, (edges[:-1] - low).astype(int)))


def _cell_budget(count: int, m: float, work: int = _WORK) -> int:
    """How many cells of m signs are gone through within the work allowed."""
    ways = min(m / 2, SIGMAS * math.sqrt(m) / 2) + 2
    return max(4, min(count, int(work / ways)))


def _clone_cells(eps: float, n: int) -> SignCells:
    """C ~ Bin(n−1, e^{−ε}) clones: cells of C+1 signs; fewer clones hide less."""
    p = math.exp(-eps)
    low, high, beyond = binomial_window(n - 1, p, SIGMAS)
    edges = _edges(low, high, _cell_budget(high - low + 1, n * p + 1))
    c = np.arange(low, high + 1.0)
    weight = _summed(np.exp(log_binomial(n - 1, c, p)), low, edges)
    return SignCells(eps, weight, edges[:-1] + 1, np.zeros(weight.size), beyond)


def _randomized_response_cells(eps: float, k: int, n: int) -> tuple[Envelope, Finite]:
    """k ≥ 3 answers: all who report uniformly hide the person (above), those with a third value do (below)."""
    attained = lower_pair(_third_value_cells(eps, k, n))
    if k == 3 and n <= MOST_PEOPLE:
        low, masses, _, beyond = _sign_counts(eps, k, n)
        m = low + np.arange(float(masses.size))
        cells = SignCells(eps, masses, m, (n - m) * math.exp(-eps), beyond)
        mean, loss = (np.concatenate(column) for column in zip(*cells.outcomes(), strict=True))
        known = ternary_profile(eps, n, (mean * 2 / (1 + np.exp(-loss)), loss))
        if known is not None:
            return _restrict_cells(known, upper_pair(_blanket_cells(eps, k, n, _ROUGH))), attained
    return upper_pair(_blanket_cells(eps, k, n)), attained


def _restrict_cells(known: tuple[Array, Array], bound: Envelope) -> Envelope:
    """The bound, and what is known better of some ε."""
    rest = np.unique(bound.llr[bound.llr > known[0][-1]])
    epsilon = np.concatenate((known[0], rest))
    delta = np.minimum(np.concatenate((known[1], np.ones(rest.size))), bound.profile(epsilon))
    return envelope(epsilon, delta, rounding=1e-12)


def _sign_counts(eps: float, k: int, n: int) -> tuple[int, Array, Array, float]:
    """Of the number m of reports of the two values: the least, P(m), P(the person's is one of them | m), mass beyond.

    Others report one of the two by α each, the person by e^ε·α and α.
    """
    alpha = math.exp(-eps) / (1 + (k - 1) * math.exp(-eps))
    mine = (1 + math.exp(-eps)) / (1 + (k - 1) * math.exp(-eps))
    low, high, beyond = binomial_window(n - 1, 2 * alpha, SIGMAS)
    m = np.arange(low, high + 2.0)
    with_me = mine * np.exp(log_binomial(n - 1, m - 1, 2 * alpha))
    without = (k - 2) * alpha * np.exp(log_binomial(n - 1, m, 2 * alpha))
    with_me[0], without[-1] = with_me[0] if low == 0 else 0.0, 0.0
    both = with_me + without
    return low, both, with_me / np.where(both > 0, both, 1.0), 2 * beyond


def _third_value_cells(eps: float, k: int, n: int) -> SignCells:
    """All others hold the same third value, which R = (others' answers) − (1 − e^{−ε})·(that value's count) tells of.

    Rounded to the safer side: towards more signs, and stretches of R seen as one.
    """
    low, masses, _, beyond = _sign_counts(eps, k, n)
    high = low + masses.size - 1
    cells = _cell_budget(masses.size * _PARTS, float(low + high) / 2 + 1, _WORK if k == 3 else 2 * _WORK)
    parts = 1 if k == 3 else min(_PARTS, cells // masses.size)
    edges = _edges(low, high, max(4, cells // max(parts, 1)))
    weight, m, rest, lost = [], [], [], beyond
    for share, least, most in zip(_summed(masses, low, edges), edges[:-1], edges[1:] - 1, strict=True):
        if least == 0 < most:  # a stretch from no sign at all says nothing
            lost += share
            continue
        of, r, cut = _third_value_spread(eps, k, int(n - least), least, max(parts, 1))
        # more signs, and the share of the person's that the fewest have: r/m as at the least m
        weight.append(share * of)
        m.append(np.full(r.size, most))
        rest.append(r * (most / least if least > 0 else 1.0))
        lost += share * cut
    return SignCells(eps, np.concatenate(weight), np.concatenate(m), np.concatenate(rest), lost)


def _third_value_spread(eps: float, k: int, count: int, m: float, parts: int) -> tuple[Array, Array, float]:
    """Of the answers that are neither value, beside m that are: stretches of R with their probabilities, mass beyond.

    The value that all others hold is each of them with probability 1/(1 + (k−3)e^{−ε}), but for the person's own. What
    is seen as one has the mean R of such a sample without the person.
    """
    z = math.exp(-eps)
    own = 1 / (1 + (k - 3) * z)
    if parts < 3 or count == 0 or (k - 3) * z < 1e-12:  # or so few hold another that they are not seen
        return np.ones(1), np.asarray([count * (k - 2) * z * own]), 0.0
    low, high, cut = binomial_window(count, own, SIGMAS)
    held = np.arange(low, high + 1.0)
    base = np.exp(log_binomial(count, held, own))
    edges = _edges(low, high, parts)
    plain = _summed(base, low, edges)
    r = count - (1 - z) * _summed(base * held, low, edges) / np.where(plain > 0, plain, 1.0)
    of = plain * ((1 + z) * m / 2 + z * r)
    keep = plain > 0
    return of[keep] / of[keep].sum(), r[keep], cut * count


def _blanket_cells(eps: float, k: int, n: int, work: int = _WORK) -> SignCells:
    """All who report uniformly: m and r are counts of a multinomial law. Rounded to the riskier side."""
    alpha = math.exp(-eps) / (1 + (k - 1) * math.exp(-eps))
    low, masses, mine, beyond = _sign_counts(eps, k, n)
    high = low + masses.size - 1
    q = (k - 2) * alpha / (1 - 2 * alpha)
    r_low, r_high, _ = binomial_window(n - low, q, SIGMAS)
    cells = _cell_budget(masses.size * (r_high - r_low + 1), float(low + high) / 2 + 1, work)
    across = max(2, round(math.sqrt(cells * masses.size / (r_high - r_low + 1))))
    edges = _edges(low, high, across)
    weight, m, rest, left = [], [], [], 0.0
    for share, least, most in zip(_summed(masses, low, edges), edges[:-1], edges[1:] - 1, strict=True):
        # r is smallest, and the person's sign likeliest among the m, for the most signs of the stretch
        r_low, r_high, cut = binomial_window(int(n - most), q, SIGMAS)
        r = np.arange(r_low, r_high + 2.0)
        other = float(1 - mine[int(most) - low])
        of_r = (1 - other) * np.exp(log_binomial(n - most, r, q)) + other * np.exp(log_binomial(n - 1 - most, r - 1, q))
        parts = _edges(r_low, r_high + 1, max(2, cells // max(edges.size - 1, 1)))
        left += share * cut * 2
        weight.append(share * _summed(of_r, r_low, parts))
        m.append(np.full(parts.size - 1, least))
        rest.append(parts[:-1] * (least / most if most > 0 else 1.0))
    return SignCells(eps, np.concatenate(weight), np.concatenate(m), np.concatenate(rest), beyond + left)
