"""Several Laplace numbers, each moved by its own amount: δ(ε) in closed form.

One number moved by t scales has the loss L = |y| − |y − t|. Weighed by e^{−L/2}, its law in the second world is, for
any t, e^{−t/2} times (half an atom at each of ±t, and the density ¼ between), with the transform
½e^{st}(1 + 1/2s) + ½e^{−st}(1 − 1/2s).

For k numbers the product is a sum over signs σ of e^{s·σt}(1+1/2s)^p(1−1/2s)^{k−p}, p of the signs being up: powers of
1/s, so that with a = σ·t, T = Σt and r = (a − ε)/2

    δ(ε) = 2^{−k} Σ_{σ: a>ε} Σ_{j=0}^{k} c_pj·[e^{(a−T)/2}·P_j(r) − e^{ε−(a+T)/2}·B_j(r)],

where P_0 = B_0 = 1, P_j is the regularised incomplete gamma function, B_1 = e^r − 1 and B_j = r^{j−1}e^r/(j−1)! −
B_{j−1}. Numbers that move alike are taken together. There are at most 4^k terms, each at most 1: the rounding of as
many is added, so that the answer is never below δ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import gammainc

from ...checks import Array

#: More numbers than this lose too many digits.
MOST_SHIFTS = 10
_MOST_TOTAL = 600.0

Shifts = tuple[tuple[float, int], ...]


def has_closed_form(shifts: Sequence[tuple[float, int]]) -> bool:
    """Whether so many numbers, moved so far, keep their digits: ``shifts`` are amounts and how often each occurs."""
    return sum(k for _, k in shifts) <= MOST_SHIFTS and sum(t * k for t, k in shifts) <= _MOST_TOTAL


def several_delta(shifts: Shifts, epsilon: float) -> float:
    """δ(ε) = E₁[(1 − e^{ε−L})₊] of independent Laplace numbers, of any sign of ε.

    >>> round(several_delta(((1.0, 2),), 0.0), 12), round(1 - 1.5 / math.e, 12)
    (0.448180838243, 0.448180838243)
    """
    total = math.fsum(t * k for t, k in shifts)
    if epsilon < 0:  # the order of the worlds does not matter
        return -math.expm1(epsilon) + math.exp(epsilon) * several_delta(shifts, -epsilon)
    if epsilon >= total:
        return 0.0
    k = sum(n for _, n in shifts)
    if k == 1:
        return -math.expm1((epsilon - total) / 2)
    at, up, ways = _signed(shifts)
    inside = at > epsilon
    at, up, ways = at[inside], up[inside], ways[inside]
    first, second = np.exp((at - total) / 2), np.exp(epsilon - (at + total) / 2)
    answer = float(np.sum(ways * (first - second)))
    coefficients, room = _powers(k)[up], (at - epsilon) / 2
    below, power = np.expm1(room), np.ones_like(room)
    for j in range(1, k + 1):
        if j > 1:
            power = power * room / (j - 1)
            below = power * np.exp(room) - below
        answer += float(np.sum(ways * coefficients[:, j] * (first * gammainc(j, room) - second * below)))
    return min(max(answer / 2.0**k, 0.0) + 4.0**k * 2.0**-53, 1.0)


@lru_cache(maxsize=1024)
def _signed(shifts: Shifts) -> tuple[Array, Array, Array]:
    """Each sum of signed amounts, how many signs are up, and in how many ways."""
    at, up, ways = np.zeros(1), np.zeros(1, int), np.ones(1)
    for t, n in shifts:
        j = np.arange(n + 1)
        at = (at[:, None] + t * (2 * j - n)).ravel()
        up = (up[:, None] + j).ravel()
        ways = (ways[:, None] * np.array([math.comb(n, int(i)) for i in j], float)).ravel()
    return at, up, ways


@lru_cache(maxsize=64)
def _powers(k: int) -> Array:
    """Row p: the coefficients of (1 + x)^p (1 − x)^{k−p}."""
    made = np.zeros((k + 1, k + 1))
    for p in range(k + 1):
        one = np.ones(1)
        for i in range(k):
            one = np.convolve(one, [1.0, 1.0 if i < p else -1.0])
        made[p] = one
    return made
