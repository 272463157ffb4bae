"""The upper end of a correlation within groups, whatever the law of the values.

ρ < r exactly if E v(r) < 0, where a group of size n ≥ 2 has, s being the sum and q the sum of squares of its values
about their mean μ,

    v(r) = w (s² − q − r(n − 1)q),    w = 1/(1 + (n − 1)/2)²:

Σ_{i≠j} x_i x_j less r times what it would be if members were copies of each other. (w keeps a few large groups from
outweighing the rest.) "ρ is below r" is thus a statement about the mean of independent numbers none of which exceeds
the v of the largest group with every value at the farther end of the range, v₀(r) = w₀ n₀(n₀ − 1)(1 − r) d². The
one-sided limit for such a mean is that of Gaffke (2005; Learned-Miller and Thomas 2019, arXiv:1905.06208): r is
rejected at the level α if

    P(E₀ v₀(r) + Σ_g E_g v_g(r) ≥ 0) < α,    E₀, E_g independent, exponential with mean 1,

the Bayesian bootstrap by group with one more group, the least favourable one. Where v has two values it is the limit of
Clopper and Pearson, which is exact; for other laws its coverage is a conjecture that no example is known to break, and
it is simulated in the tests and in ``docs/correlate.md``. The mean is estimated: about any other point m than μ the
mean of v is larger by w n(n − 1)(1 − r)(μ − m)², whose expectation is added. Where the range is only that of the values
seen, the added group has v₀ or twice the largest v seen, whichever is more.

The probability is that of Lugannani and Rice (1980), to about 0.3%. It needs only how often each v occurs, so the
groups come as cells of groups nearly alike, each standing for two values with the mean and variance of its own.
"""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np
from scipy.special import ndtr

from ...checks import Array
from ...numerics.roots import root
from .groups import GroupSums, about


class UpperEnd(StrEnum):
    """What the range of values is known from, and with it what the level of the upper end rests on."""

    BOUNDED = "bounded"  # bounds were given: it holds whatever the law of the values
    BINARY = "binary"  # two values: the same
    SEEN = "seen"  # neither: it holds if no value lies beyond those seen; rare larger ones would go unnoticed


def upper_end(found: GroupSums, method: UpperEnd, alpha: float) -> float:
    """The largest correlation that the groups do not reject at the level ``alpha``.

    Twenty pairs, alike in all but four, of a flag that half of the people have: Clopper and Pearson have at most 0.943
    of the pairs alike, ρ = 2·0.943 − 1 = 0.885; not knowing the mean adds a little.

    >>> from .groups import POWERS
    >>> n, k = np.array([2.0, 2.0, 2.0]), np.array([8.0, 4.0, 8.0])
    >>> b = np.array([-2.0, 0.0, 2.0])
    >>> powers = dict(zip(POWERS, (k * x for x in (b, 2, b**2, b**3, b**4, 2 * b, 2 * b**2, 4)), strict=True))
    >>> round(upper_end(GroupSums(n, k, powers, low=-1.0, high=1.0), UpperEnd.BINARY, 0.025), 3)
    0.89
    """
    several = found.sizes > 1
    n, c = found.sizes[several], found.groups[several]
    part = {name: value[several] for name, value in found.powers.items()}
    w = 1 / (1 + (n - 1) / 2) ** 2
    pairs = float(c @ (w * n * (n - 1)))
    m = float((w * (n - 1)) @ part["b"]) / pairs
    s2, s4, q1, q2, s2q = about(m, n, c, part)
    away = float((w**2 * (n - 1) ** 2) @ s2) / pairs / float(c.sum())  # (μ − m)²·pairs, a group's share of it
    farthest = max(found.high - m, m - found.low) ** 2
    atom = float((w * n * (n - 1)).max()) * farthest
    together, alone = w * (s2 - q1), w * (n - 1) * q1
    if alone.sum() <= 1e-14 * atom * c.sum():  # the groups are all one value, which says nothing about those that vary
        return 1.0
    start = max(float((together.sum() + away * c.sum()) / (alone.sum() + away * c.sum())), -1.0)

    def excess(r: float) -> float:
        k = 1 + r * (n - 1)
        mean = w * (s2 - k * q1) / c
        spread = np.sqrt(np.maximum(w**2 * (s4 - 2 * k * s2q + k**2 * q2) / c - mean**2, 0.0))
        mean = mean + (1 - r) * away
        largest = (1 - r) * atom
        if method is UpperEnd.SEEN:
            largest = max(largest, 2 * float((mean + spread).max()))
        values = np.concatenate((mean - spread, mean + spread, [largest]))
        return tail_of_exponentials(values, np.concatenate((c / 2, c / 2, [1.0]))) - alpha

    # at r = 1 no v is above 0; at the start their sum without the added group is 0, and r is as likely as not
    end = 1 - 1e-9
    if start >= end or excess(end) >= 0:
        return 1.0
    if excess(start) <= 0:
        return start
    return float(root(lambda r: np.asarray(excess(float(r))), np.asarray(start), np.asarray(end), atol=1e-9))


def tail_of_exponentials(values: Array, times: Array) -> float:
    """P(Σ values·gamma(times) ≥ 0): exponentials with these weights, ``times`` many of each.

    P(E₁ ≥ 3E₂) = 1/4:

    >>> round(tail_of_exponentials(np.array([1.0, -3.0]), np.array([1.0, 1.0])), 2)
    0.25
    """
    low, high = float(values.min()), float(values.max())
    if high <= 0 or low >= 0:
        return float(low >= 0)
    values = values / max(high, -low)
    low, high = 1 / float(values.min()), 1 / float(values.max())
    width, t = high - low, 0.0
    for _ in range(200):  # Newton for K'(t) = 0, K(t) = −Σ times·log(1 − t·values), within a bracket that halves
        ratio = values / (1 - t * values)
        first, second = float(times @ ratio), float(times @ ratio**2)
        low, high = (t, high) if first < 0 else (low, t)
        step = t - first / second
        step = step if low < step < high else (low + high) / 2
        if abs(step - t) <= 1e-14 * width:
            break
        t = step
    ratio = values / (1 - t * values)
    second = float(times @ ratio**2)
    signed = math.copysign(math.sqrt(max(2 * float(times @ np.log1p(-t * values)), 0.0)), t)
    if abs(signed) < 1e-4:  # at the mean
        return 0.5 - float(times @ ratio**3) / math.sqrt(second) ** 3 / (3 * math.sqrt(2 * math.pi))
    density = math.exp(-(signed**2) / 2) / math.sqrt(2 * math.pi)
    return float(ndtr(-signed)) + density * (1 / (t * math.sqrt(second)) - 1 / signed)
