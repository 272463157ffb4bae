"""Related people: how alike the members of a group (a household, a class, a ward) are, from one pass.

The members of a group are taken to be exchangeable: x = μ + group + own part, with variances σ_b² between groups and
σ_w² within, so any two members have the correlation ρ = σ_b²/(σ_b² + σ_w²), the intraclass correlation. The one-way
analysis of variance estimates it from each group's size n_g, sum s_g and sum of squares q_g:

    MSB = (Σ s_g²/n_g − S²/N)/(G − 1),   MSW = (Σ q_g − Σ s_g²/n_g)/(N − G),
    n₀ = (N − Σ n_g²/N)/(G − 1),         ρ = (MSB − MSW)/(MSB + (n₀ − 1) MSW).

The engine groups twice, by the group and then by its size, and hands back sums up to the fourth power, from which both
the estimate and its error come. The interval is the union of two: the F interval, exact for normal data and groups of
one size (F = MSB/MSW; Searle 1971), and one from how much the groups themselves vary, which needs neither (the delta
method over groups, which are independent of each other).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtri, ndtri

from ...build.correlated import normal
from ...build.correlated.joint_normal.records import NormalRecords
from ...checks import Array, probability, scalar, whole
from ...errors import InputError
from ...numerics.frozen import Frozen, Valued
from ..tables.columns import column_of, value_of
from ..tables.engines import need_ibis
from ..tables.open import OpenTable, open_table, reading
from .records import SAMPLE, Bounds, number_of

__all__ = ["POWERS", "GroupSums", "Related", "estimated", "related", "related_rows"]

#: The most different group sizes that are told apart.
_MOST_SIZES = 100_000
POWERS = ("b", "q", "b2", "b3", "b4", "bq", "b2q", "q2")


@dataclass(frozen=True, eq=False, repr=False)
class Related(Valued):
    """How alike the members of a group are: ``rho`` with its ``interval``, and how many members groups have.

    ``sizes`` maps a number of members to the number of groups that have it; ``size`` is the largest. ``missing`` rows
    had no usable value or no group.
    """

    column: str
    by: str
    rho: float
    interval: tuple[float, float]
    confidence: float
    size: int
    sizes: Mapping[int, int]
    groups: int
    rows: int
    missing: int
    mean: float
    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", Frozen(self.sizes))

    def model(self, rho: float | None = None, size: int | None = None, reach: float = 1.0) -> NormalRecords:
        """The group as correlated normal records, all weights 1; ``rho`` and ``size`` as estimated unless given.

        A negative correlation is only possible down to −1/(size−1): anything at or below that is taken as 0, which
        leaks no less.
        """
        n = self.size if size is None else whole("size", size, low=1)
        r = _possible(self.rho if rho is None else scalar("rho", rho), n)
        cov = self.variance * (r + (1 - r) * np.eye(n))
        names = [f"member {i + 1}" for i in range(n)]
        return normal(cov, reach=reach, names=names)

    def leakage(
        self,
        rho: float | None = None,
        size: int | None = None,
        reach: float = 1.0,
        *,
        scale: float | None = None,
        sigma: float | None = None,
        own_noise: bool = True,
    ) -> Array:
        """The leakage (``scale``) or ψ (``sigma``) about one member for those who know 0, 1, …, size − 1 others.

        β = (1 + (n−1)ρ)/(1 + kρ) for k known; of the n−k−1 others remains the variance
        m(1−ρ)v + m²ρ(1−ρ)v/(1 + kρ), m = n−k−1, which counts as noise if ``own_noise``.
        """
        n = self.size if size is None else whole("size", size, low=1)
        r, v = _possible(self.rho if rho is None else scalar("rho", rho), n), self.variance
        known = np.arange(n, dtype=float)
        shift = reach * (1 + (n - 1) * r) / (1 + known * r)
        if sigma is None:
            assert scale is not None
            return np.asarray(shift / scale)
        m = n - 1 - known
        own = (m * (1 - r) + m**2 * r * (1 - r) / (1 + known * r)) * v if own_noise else 0.0
        return np.asarray(shift / np.hypot(sigma, np.sqrt(own)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain = dict(vars(self))
        plain["interval"] = list(self.interval)
        plain["sizes"] = {str(k): v for k, v in self.sizes.items()}
        return plain


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What the engine hands back: for each size of a group the number of such groups, and sums over them.

    ``powers`` holds the sums of b, q, b², … (:data:`POWERS`), b and q being a group's sum and sum of squares of values
    moved by ``centre`` and divided by ``spread``; ``missing`` rows had no usable value or no group.
    """

    sizes: Array
    groups: Array
    powers: Mapping[str, Array]
    centre: float
    spread: float
    missing: int


def _possible(rho: float, n: int) -> float:
    """A correlation that n records can all have with each other; what is too negative is taken as 0."""
    return 0.0 if n > 1 and rho <= -1 / (n - 1) else min(rho, 1 - 1e-9)


def related(
    table: Any, column: str, by: str, bounds: Bounds | None = None, confidence: float = 0.95, engine: Any = None
) -> Related:
    """How alike the values of ``column`` are for rows that share a value of ``by``.

    >>> found = related("epsilens:rand-hie", "visits", by="person")
    >>> round(found.rho, 3), found.size, found.groups
    (0.538, 5, 5912)
    """
    level = float(probability("confidence", scalar("confidence", confidence), closed=False))
    with open_table(table, engine) as opened:
        return related_rows(opened, column, by, bounds, level)


def related_rows(opened: OpenTable, column: str, by: str, bounds: Bounds | None, confidence: float) -> Related:
    """The same for a table that is open and stays so."""
    if column == by:
        raise InputError(
            f"by is {by!r}, which is also the column: give the column that says which group a row is in", parameter="by"
        )
    rows = opened.table.select(
        g=value_of(column_of(opened.table, by, "by"), "by"),
        v=number_of(column_of(opened.table, column, "columns"), "columns", bounds),
    )
    with reading(opened):
        return _related(opened.engine, rows, column, by, confidence)


def _related(engine: Any, rows: Any, column: str, by: str, level: float) -> Related:
    ibis = need_ibis()
    usable = rows["v"].notnull() & rows["g"].notnull()
    first = engine.fetch(rows.filter(usable).select("v").limit(SAMPLE))["v"].to_numpy()
    if not len(first):
        raise InputError(f"no row of the table has a usable number in {column!r} and a group in {by!r}")
    centre = float(np.clip(first.mean(), first.min(), first.max()))
    away = float(np.abs(first - centre).max()) or abs(centre) or 1.0
    spread = 2.0 ** round(math.log2(away))
    # Rows without a value or a group become a group of their own kind, so that the one query counts them too.
    moved = rows.select(
        g=rows["g"], ok=usable, y=ibis.ifelse(usable, (rows["v"] - centre) / spread, ibis.null("float64"))
    )
    each = moved.group_by(["g", "ok"]).agg(a=moved.count(), b=moved["y"].sum(), q=(moved["y"] * moved["y"]).sum())
    b, q = each["b"], each["q"]
    powers = dict(zip(POWERS, (b, q, b**2, b**3, b**4, b * q, b**2 * q, q**2), strict=True))
    sums = {name: value.sum() for name, value in powers.items()}
    by_size = each.group_by(["ok", "a"]).agg(groups=each.count(), **sums)
    got = engine.fetch(by_size.limit(_MOST_SIZES))
    ok = got["ok"].to_numpy(zero_copy_only=False).astype(bool)
    a_all, c_all = (got[c].to_numpy(zero_copy_only=False).astype(np.float64) for c in ("a", "groups"))
    part = {name: got[name].to_numpy(zero_copy_only=False).astype(np.float64)[ok] for name in POWERS}
    missing = int(a_all[~ok] @ c_all[~ok])
    return estimated(GroupSums(a_all[ok], c_all[ok], part, centre, spread, missing), column, by, level)


def estimated(found: GroupSums, column: str, by: str, level: float) -> Related:
    """The analysis of variance, and the interval of ρ at this level of confidence."""
    a, c, part, spread = found.sizes, found.groups, found.powers, found.spread
    N, G = float(a @ c), float(c.sum())
    if G < 2 or N <= G:
        what = "one group" if G < 2 else "no group with two members"
        raise InputError(
            f"by is {by!r}: it has {what}; give a column that puts rows into several groups", parameter="by"
        )
    total = part["b"].sum()
    mu = total / N
    # about the mean: s = b − aμ, q' = q − 2μb + aμ²
    s2 = part["b2"] - 2 * a * mu * part["b"] + c * a**2 * mu**2
    between = float((s2 / a).sum())
    within = float((part["q"] - 2 * mu * part["b"] + c * a * mu**2).sum()) - between
    if between + within <= 1e-14 * (float(part["q"].sum()) + N * mu**2):
        raise InputError(
            f"columns has {column!r}, which is the same in every row: there is nothing to relate", parameter="columns"
        )
    msb, msw = between / (G - 1), max(within, 0.0) / (N - G)
    n0 = (N - float(a**2 @ c) / N) / (G - 1)
    rho = (msb - msw) / (msb + (n0 - 1) * msw)
    tail = (1 - level) / 2
    low, high = 1.0, 1.0
    if msw > 0:
        f = msb / msw
        low, high = ((x - 1) / (x + n0 - 1) for x in (f / fdtri(G - 1, N - G, 1 - tail), f / fdtri(G - 1, N - G, tail)))
    if msw > 0 and G > 2:
        width = float(ndtri(1 - tail)) * _error(found, mu, (msb, msw, n0, N, G))
        low, high = min(low, rho - width), max(high, rho + width)
    return Related(
        column=column, by=by, rho=float(rho), interval=(max(float(low), -1.0), min(float(high), 1.0)), confidence=level,
        size=int(a.max()), sizes={int(n): int(m) for n, m in sorted(zip(a, c, strict=True))}, groups=int(G),
        rows=int(N), missing=found.missing, mean=found.centre + spread * float(mu),
        variance=(msw + max((msb - msw) / n0, 0.0)) * spread**2,
    )  # fmt: skip


def _error(sums: GroupSums, mu: float, found: tuple[float, float, float, float, float]) -> float:
    """The standard error of ρ from how much groups vary, whatever the law of the data.

    ρ is a function of Σ s²/a and Σ (q − s²/a); to first order each group moves it by u = ∂₁·s²/a + ∂₂·(q − s²/a), and
    the variance is the sum of (u − E u)², with E s²/a = aσ_b² + σ_w² and E(q − s²/a) = (a − 1)σ_w².
    """
    msb, msw, n0, N, G = found
    a, c = sums.sizes, sums.groups
    bottom = (msb + (n0 - 1) * msw) ** 2
    to_between, to_within = n0 * msw / bottom / (G - 1), -n0 * msb / bottom / (N - G)
    b, q, b2, b3, b4, bq, b2q, q2 = (sums.powers[name] for name in POWERS)
    m = a * mu
    # sums over the groups of one size, about the mean: s = b − aμ, q − 2μb + aμ²
    s2 = b2 - 2 * m * b + c * m**2
    s4 = b4 - 4 * m * b3 + 6 * m**2 * b2 - 4 * m**3 * b + c * m**4
    q1 = q - 2 * mu * b + c * m * mu
    qq = q2 + 4 * mu**2 * b2 + c * (m * mu) ** 2 - 4 * mu * bq + 2 * m * mu * q - 4 * m * mu**2 * b
    s2q = b2q - 2 * mu * b3 + 5 * m * mu * b2 - 2 * m * bq - 4 * m**2 * mu * b + m**2 * q + c * m**3 * mu
    k = (to_between - to_within) / a
    own = max((msb - msw) / n0, 0.0)
    mean = to_between * (a * own + msw) + to_within * (a - 1) * msw
    square = k**2 * s4 + 2 * k * to_within * s2q + to_within**2 * qq
    variance = float((square - 2 * mean * (k * s2 + to_within * q1) + c * mean**2).sum())
    return math.sqrt(max(variance, 0.0) * G / (G - 1))
