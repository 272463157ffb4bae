"""Shuffled randomised response with two answers: what the number of ones tells about one person.

If b of the n − 1 others hold 1, the sum of their reports is S = Bin(n−1−b, α) + Bin(b, 1−α), α = 1/(e^ε+1), and the
person adds 1 with probability α under H0 and 1 − α under H1. With w the law of S,

    H1 : H0 at a total s  =  e^{−ε}·w(s) + w(s−1) : w(s) + e^{−ε}·w(s−1).

The adversary knows b, and which b is worst depends on the threshold, so δ(ε) is the largest over all of them, in both
orders; b and n−1−b are each other's mirror image. For few people every b is gone through. For many, those from b₀ to b₁
are bounded together: with the reports of b₁ − b₀ people told apart, all that remain hold 0 (n−1−b₁ of them) or 1 (b₀).
The pair of b = 0 is attained.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ..checks import Array
from ..laws.envelope import Envelope, envelope
from ..laws.finite import Finite
from ..laws.shuffle import SIGMAS
from ..numerics.binomial import binomial_window, log_binomial

_GRID = 2000  # values of ε at which δ is read
_MOST_SPLITS, _LEAST_SPLITS = 200, 10
_WORK = 4e8  # multiplications
_MOST_DIRECT = 2e7  # for one convolution; beyond, by Fourier transforms


def two_answers(epsilon: float, n: int) -> tuple[Envelope, Finite]:
    """A bound for all values of the others, and the pair that is attained if all hold the same."""
    z = math.exp(-epsilon)
    alpha = z / (1 + z)
    spread = -math.expm1(-epsilon) / math.sqrt(z * n)  # of the loss, about: (e^ε − 1)·e^{−ε/2}/√n
    grid = np.linspace(0.0, min(epsilon, 16 * spread), _GRID)
    most = (n - 1) // 2 + 1
    window = min(n / 2, 2 * SIGMAS * math.sqrt(n * alpha * (1 - alpha) / 2) + 2 * SIGMAS)
    splits = min(most, max(_LEAST_SPLITS, min(int(_WORK / min(window**2, _MOST_DIRECT)), _MOST_SPLITS)))
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
    found = []
    for theta, low, high in zip(thetas, ends[:-1], ends[1:], strict=True):
        (p, q), mean, log_scale = _tilted(alpha, zeros, ones, theta)
        size = 2 ** math.ceil(math.log2(2 * SIGMAS * 1.3 * sigma))
        start = round(mean) - size // 2
        u = 2 * math.pi * np.arange(size // 2 + 1) / size
        turn = np.exp(1j * u) - 1
        log_phi = zeros * np.log1p(p * turn) + ones * np.log1p(q * turn) - 1j * u * start
        masses = np.fft.irfft(np.conj(np.exp(log_phi)), size)  # ∫ φ(u)·e^{−ius}: their sign is the other
        s = np.arange(low, high)
        found.append(np.log(masses[(s - start).astype(int)]) - theta * s + log_scale)
    return np.concatenate(found)


def _tilted(alpha: float, zeros: int, ones: int, theta: float) -> tuple[tuple[float, float], float, float]:
    """Both probabilities under a tilt, the mean of the sum, and log E e^{θS}."""
    grown = math.expm1(theta)
    scales = 1 + alpha * grown, 1 + (1 - alpha) * grown
    p, q = alpha * math.exp(theta) / scales[0], (1 - alpha) * math.exp(theta) / scales[1]
    return (p, q), zeros * p + ones * q, zeros * math.log1p(alpha * grown) + ones * math.log1p((1 - alpha) * grown)
