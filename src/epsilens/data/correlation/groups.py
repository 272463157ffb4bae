"""How alike the members of a group are: the one-way analysis of variance, from sums over groups.

x = μ + group + own part, with variances σ_b² between groups and σ_w² within, so any two members have the correlation
ρ = σ_b²/(σ_b² + σ_w²), the intraclass correlation. From each group's size n_g, sum s_g and sum of squares q_g:

    MSB = (Σ s_g²/n_g − S²/N)/(G − 1),   MSW = (Σ q_g − Σ s_g²/n_g)/(N − G),
    n₀ = (N − Σ n_g²/N)/(G − 1),         ρ = (MSB − MSW)/(MSB + (n₀ − 1) MSW).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy.special import fdtri, ndtri

from ...checks import Array

#: Sums over the groups of a cell: of a group's sum b and sum of squares q, and of their powers and products.
POWERS = ("b", "q", "b2", "b3", "b4", "bq", "b2q", "q2")


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What the engine hands back: cells of groups that have one size and are nearly alike, and sums over each cell.

    ``sizes`` is the size of the cell's groups, ``groups`` their number, ``powers`` the sums of b, q, b², …
    (:data:`POWERS`), b and q being a group's sum and sum of squares of values moved by ``centre`` and divided by
    ``spread``. ``low`` and ``high`` are the least and the largest value there may be, moved likewise; ``missing`` rows
    had no usable value or no group.
    """

    sizes: Array
    groups: Array
    powers: Mapping[str, Array]
    low: float
    high: float
    centre: float = 0.0
    spread: float = 1.0
    missing: int = 0


@dataclass(frozen=True)
class Variances:
    """The analysis of variance: its mean squares, and what they are of (``mean`` in moved values)."""

    mean: float
    between: float
    within: float
    size: float
    rows: float
    groups: float

    @property
    def rho(self) -> float:
        """The intraclass correlation."""
        return (self.between - self.within) / (self.between + (self.size - 1) * self.within)

    @property
    def group_part(self) -> float:
        """σ_b², 0 where the estimate is below."""
        return max((self.between - self.within) / self.size, 0.0)


def about(mu: float, a: Array, c: Array, part: Mapping[str, Array]) -> tuple[Array, Array, Array, Array, Array]:
    """Sums over each cell of s², s⁴, q', q'², s²q' about ``mu``: s = b − aμ, q' = q − 2μb + aμ²."""
    b, q, b2, b3, b4, bq, b2q, q2 = (part[name] for name in POWERS)
    m = a * mu
    s2 = b2 - 2 * m * b + c * m**2
    s4 = b4 - 4 * m * b3 + 6 * m**2 * b2 - 4 * m**3 * b + c * m**4
    q1 = q - 2 * mu * b + c * m * mu
    qq = q2 + 4 * mu**2 * b2 + c * (m * mu) ** 2 - 4 * mu * bq + 2 * m * mu * q - 4 * m * mu**2 * b
    s2q = b2q - 2 * mu * b3 + 5 * m * mu * b2 - 2 * m * bq - 4 * m**2 * mu * b + m**2 * q + c * m**3 * mu
    return s2, s4, q1, qq, s2q


def variances(found: GroupSums) -> Variances | None:
    """The analysis of variance; None where every value is the same. Two groups, and one with two members, are needed.

    >>> import numpy as np
    >>> n, k, b = np.array([2.0, 2.0]), np.array([5.0, 5.0]), np.array([0.0, 10.0])  # five pairs of 0, five of 1
    >>> sums = GroupSums(n, k, dict.fromkeys(POWERS, b) | {"b2": 2 * b}, 0.0, 1.0)
    >>> variances(sums).rho
    1.0
    """
    a, c, part = found.sizes, found.groups, found.powers
    rows, groups = float(a @ c), float(c.sum())
    mu = float(part["b"].sum()) / rows
    s2 = part["b2"] - 2 * a * mu * part["b"] + c * a**2 * mu**2
    between = float((s2 / a).sum())
    within = float((part["q"] - 2 * mu * part["b"] + c * a * mu**2).sum()) - between
    if between + within <= 1e-14 * (float(part["q"].sum()) + rows * mu**2):
        return None
    size = (rows - float(a**2 @ c) / rows) / (groups - 1)
    return Variances(mu, between / (groups - 1), max(within, 0.0) / (rows - groups), size, rows, groups)


def normal_end(found: Variances, probability: float) -> float:
    """The end of the F interval, exact for normal data and groups of one size (F = MSB/MSW; Searle 1971)."""
    if found.within == 0:
        return 1.0
    x = found.between / found.within / float(fdtri(found.groups - 1, found.rows - found.groups, probability))
    return (x - 1) / (x + found.size - 1)


def lower_end(sums: GroupSums, found: Variances, alpha: float) -> float:
    """The lower of the F interval's end and of one from how much groups vary, whatever the law of the data.

    ρ is a function of Σ s²/a and Σ (q − s²/a); to first order each group moves it by u = ∂₁·s²/a + ∂₂·(q − s²/a), and
    the variance is the sum of (u − E u)², with E s²/a = aσ_b² + σ_w² and E(q − s²/a) = (a − 1)σ_w².
    """
    low = normal_end(found, 1 - alpha)
    if found.within == 0 or found.groups <= 2:
        return low
    msb, msw, n0 = found.between, found.within, found.size
    a, c = sums.sizes, sums.groups
    bottom = (msb + (n0 - 1) * msw) ** 2
    to_between = n0 * msw / bottom / (found.groups - 1)
    to_within = -n0 * msb / bottom / (found.rows - found.groups)
    s2, s4, q1, q2, s2q = about(found.mean, a, c, sums.powers)
    k = (to_between - to_within) / a
    mean = to_between * (a * found.group_part + msw) + to_within * (a - 1) * msw
    square = k**2 * s4 + 2 * k * to_within * s2q + to_within**2 * q2
    variance = float((square - 2 * mean * (k * s2 + to_within * q1) + c * mean**2).sum())
    error = math.sqrt(max(variance, 0.0) * found.groups / (found.groups - 1))
    return min(low, found.rho - float(ndtri(1 - alpha)) * error)
