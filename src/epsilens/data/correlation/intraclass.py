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
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import fdtri, ndtr, ndtri

from ...attacks.correlated import normal
from ...attacks.correlated.normal_records import NormalRecords
from ...checks import Array, integer, probability, scalar
from ...errors import InputError
from ...numerics.roots import root
from ...numerics.values import FrozenMapping, ValueSemantics
from ..tables.columns import column_of, value_of
from ..tables.dialect import SumGrid, exact_sum, ibis
from ..tables.engines import Engine
from ..tables.table import OpenTable, open_table, reading
from .moments import Bounds, centred, float_column

if TYPE_CHECKING:
    import ibis.expr.types as ir

#
# x = μ + group + own part, with variances σ_b² between groups and σ_w² within, so any two members have the correlation
# ρ = σ_b²/(σ_b² + σ_w²), the intraclass correlation. From each group's size n_g, sum s_g and sum of squares q_g:
#
#     MSB = (Σ s_g²/n_g − S²/N)/(G − 1),   MSW = (Σ q_g − Σ s_g²/n_g)/(N − G),
#     n₀ = (N − Σ n_g²/N)/(G − 1),         ρ = (MSB − MSW)/(MSB + (n₀ − 1) MSW).

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


def centred_sums(mu: float, a: Array, c: Array, part: Mapping[str, Array]) -> tuple[Array, Array, Array, Array, Array]:
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
    s2, s4, q1, q2, s2q = centred_sums(found.mean, a, c, sums.powers)
    k = (to_between - to_within) / a
    mean = to_between * (a * found.group_part + msw) + to_within * (a - 1) * msw
    square = k**2 * s4 + 2 * k * to_within * s2q + to_within**2 * q2
    variance = float((square - 2 * mean * (k * s2 + to_within * q1) + c * mean**2).sum())
    error = math.sqrt(max(variance, 0.0) * found.groups / (found.groups - 1))
    return min(low, found.rho - float(ndtri(1 - alpha)) * error)


class UpperEnd(StrEnum):
    """What the range of values is known from, and with it what the level of the upper end rests on."""

    BOUNDED = "bounded"  # bounds were given: it holds whatever the law of the values
    BINARY = "binary"  # two values: the same
    SEEN = "seen"  # neither: it holds if no value lies beyond those seen; rare larger ones would go unnoticed


def upper_end(found: GroupSums, method: UpperEnd, alpha: float) -> float:
    """The largest correlation that the groups do not reject at the level ``alpha``.

    Twenty pairs, alike in all but four, of a flag that half of the people have: Clopper and Pearson have at most 0.943
    of the pairs alike, ρ = 2·0.943 − 1 = 0.885; not knowing the mean adds a little.

    >>> from .intraclass import POWERS
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
    s2, s4, q1, q2, s2q = centred_sums(m, n, c, part)
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


#
# The members of a group are taken to be exchangeable, any two with the same correlation ρ in groups of every size, and
# groups to be independent of each other. The engine groups twice, by the group and then into cells of groups of one
# size that are nearly alike, and hands back sums up to the fourth power: a few thousand rows however many groups there
# are. From them come the estimate and both ends of its interval. The upper end, which risks are read
# at, is the larger of the F interval's, exact for normal data, and of one that holds whatever the law of the values
# (:func:`upper_end`): binary, skewed, heavy-tailed, in few or unequal groups.

#: The most cells of groups that are told apart.
_MOST_CELLS = 1 << 20
#: Groups of one size are nearly alike if their means, and mean squares, agree to this part of the spread.
_STEPS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Relatedness(ValueSemantics):
    """How alike the members of a group are: ``rho`` with its ``interval``, and how many members groups have.

    ``interval`` has the confidence ``confidence``; its upper end alone the ``level``, which rests on ``method``.
    ``sizes`` maps a number of members to the number of groups that have it; ``size`` is the largest. ``missing`` rows
    had no usable value or no group.
    """

    column: str
    by: str
    rho: float
    interval: tuple[float, float]
    confidence: float
    level: float
    method: UpperEnd
    size: int
    sizes: Mapping[int, int]
    groups: int
    rows: int
    missing: int
    mean: float
    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", FrozenMapping(self.sizes))

    def model(self, rho: float | None = None, size: int | None = None, reach: float = 1.0) -> NormalRecords:
        """The group as correlated normal records, all weights 1; ``rho`` and ``size`` as estimated unless given.

        A negative correlation is only possible down to −1/(size−1): anything at or below that is taken as 0, which
        leaks no less.
        """
        n = self.size if size is None else integer("size", size, low=1)
        r = _possible_range(self.rho if rho is None else scalar("rho", rho), n)
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
        n = self.size if size is None else integer("size", size, low=1)
        r, v = _possible_range(self.rho if rho is None else scalar("rho", rho), n), self.variance
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
        plain["method"] = self.method.value
        plain["sizes"] = {str(k): v for k, v in self.sizes.items()}
        return plain


def _possible_range(rho: float, n: int) -> float:
    """A correlation that n records can all have with each other; what is too negative is taken as 0."""
    return 0.0 if n > 1 and rho <= -1 / (n - 1) else min(rho, 1 - 1e-9)


def group_relatedness(
    table: object, column: str, by: str, bounds: Bounds | None = None, confidence: float = 0.95, engine: object = None
) -> Relatedness:
    """How alike the values of ``column`` are for rows that share a value of ``by``.

    Values beyond the ``bounds`` are moved to them, as the release does; where they are given (or values are two) the
    upper end of the interval holds whatever the law of the values.

    >>> found = group_relatedness("epsilens:rand-hie", "visits", by="person")
    >>> round(found.rho, 3), found.size, found.groups
    (0.538, 5, 5912)
    """
    level = float(probability("confidence", scalar("confidence", confidence), closed=False))
    with open_table(table, engine) as opened:
        return table_relatedness(opened, column, by, bounds, level)


def table_relatedness(opened: OpenTable, column: str, by: str, bounds: Bounds | None, confidence: float) -> Relatedness:
    """The same for a table that is open and stays so."""
    if column == by:
        raise InputError(
            f"by is {by!r}, which is also the column: give the column that says which group a row is in", parameter="by"
        )
    rows = opened.table.select(
        g=value_of(column_of(opened.table, by, "by"), "by"),
        v=float_column(column_of(opened.table, column, "columns"), "columns", bounds),
    )
    with reading(opened):
        found, method = _sums(opened.engine, rows, column, by, bounds)
    return relatedness_estimate(found, method, column, by, confidence)


def _sums(engine: Engine, rows: ir.Table, column: str, by: str, bounds: Bounds | None) -> tuple[GroupSums, UpperEnd]:
    """What the engine hands back, and what the range of the values is known from."""
    usable = rows["v"].notnull() & rows["g"].notnull()
    used, (centre,), (spread,) = centred(engine, rows.filter(usable), ["v"])
    if not used:
        raise InputError(f"no row of the table has a usable number in {column!r} and a group in {by!r}")
    centre, spread = float(centre), float(spread)
    # Rows without a value or a group become a group of their own kind, so that the one query counts them too.
    moved = rows.select(
        g=rows["g"], ok=usable, y=ibis.ifelse(usable, (rows["v"] - centre) / spread, ibis.null("float64"))
    )
    moved = moved.mutate(yy=moved["y"] * moved["y"])
    ends = engine.fetch(moved.aggregate(least=moved["y"].min(), largest=moved["y"].max())).to_pylist()[0]
    farthest = max(abs(ends["least"]), abs(ends["largest"]))
    # Every sum is one of whole numbers, so that engines agree on it, whatever their order.
    asked_b, of_b = exact_sum("b", moved["y"], farthest, used)
    asked_q, of_q = exact_sum("q", moved["yy"], farthest**2, used)
    groups = moved.group_by(["g", "ok"]).agg(a=moved.count(), **asked_b, **asked_q)
    each = engine.cache(groups.select("ok", "a", b=of_b(groups), q=of_q(groups)))
    most = engine.fetch(each.aggregate(n=each.count(), b=each["b"].abs().max(), q=each["q"].max())).to_pylist()[0]
    a, b, q = each["a"], each["b"], each["q"]
    powers = (b, q, b * b, b * b * b, b * b * b * b, b * q, b * b * q, q * q)
    sizes = tuple(_product(most["b"], most["q"], *degrees) for degrees in _DEGREES)
    alike = {"i": (_STEPS * b / a).floor(), "j": (_STEPS * q / a).floor()}
    grids = {name: SumGrid.of(size, int(most["n"])) for name, size in zip(POWERS, sizes, strict=True)}
    sums: dict[str, ir.Scalar] = {}
    for name, value in zip(POWERS, powers, strict=True):
        sums |= {f"{name}_{k}": part.sum() for k, part in enumerate(grids[name].parts(value))}
    got = engine.fetch(each.group_by(["ok", "a"], **alike).agg(groups=each.count(), **sums).limit(_MOST_CELLS + 1))
    got = got.sort_by([(key, "ascending") for key in ("ok", "a", "i", "j")])  # engines have no order, and sums do
    if len(got) > _MOST_CELLS:
        raise InputError(
            f"by is {by!r}: its groups are of too many sizes and kinds; give bounds, or a column with fewer groups",
            parameter="by",
        )
    ok = got["ok"].to_numpy(zero_copy_only=False).astype(bool)
    a_all, c_all = (got[c].to_numpy(zero_copy_only=False).astype(np.float64) for c in ("a", "groups"))
    part = {
        name: np.array([float(grids[name].total(*map(int, pair))) for pair in zip(*pairs, strict=True)])[ok]
        for name in POWERS
        if (pairs := [[x or 0 for x in got[f"{name}_{k}"].to_pylist()] for k in range(2)])
    }
    low, high = float(ends["least"]), float(ends["largest"])
    a, c = a_all[ok], c_all[ok]
    method = UpperEnd.SEEN
    if bounds is not None:
        method = UpperEnd.BOUNDED
        low, high = ((bound - centre) / spread for bound in bounds)
    elif _two_valued(low, high, a, c, part):
        method = UpperEnd.BINARY
    return GroupSums(a, c, part, low, high, centre, spread, int(a_all[~ok] @ c_all[~ok])), method


#: The degrees of b and of q in each of the POWERS.
_DEGREES = ((1, 0), (0, 1), (2, 0), (3, 0), (4, 0), (1, 1), (2, 1), (0, 2))


def _product(b: float, q: float, times_b: int, times_q: int) -> float:
    return float(b) ** times_b * float(q) ** times_q


def _two_valued(low: float, high: float, a: Array, c: Array, part: Mapping[str, Array]) -> bool:
    """Whether every value is the least or the largest: Σ (y − low)(high − y), no term of which is below 0, is 0."""
    rows = float(a @ c)
    between = (low + high) * float(part["b"].sum()) - float(part["q"].sum()) - rows * low * high
    return between <= 1e-12 * rows * (high - low) ** 2


def relatedness_estimate(found: GroupSums, method: UpperEnd, column: str, by: str, level: float) -> Relatedness:
    """The analysis of variance, and the interval of ρ at this level of confidence."""
    a, c = found.sizes, found.groups
    groups, rows = float(c.sum()), float(a @ c)
    if groups < 2 or rows <= groups:
        what = "one group" if groups < 2 else "no group with two members"
        raise InputError(f"by is {by!r}: it has {what}; give a column that puts rows into several groups", "by")
    fit = variances(found)
    if fit is None:
        raise InputError(
            f"columns has {column!r}, which is the same in every row: there is nothing to relate", parameter="columns"
        )
    tail = (1 - level) / 2
    low, high = lower_end(found, fit, tail), max(normal_end(fit, tail), upper_end(found, method, tail))
    sizes = np.unique(a)
    return Relatedness(
        column=column, by=by, rho=float(fit.rho), interval=(max(low, -1.0), min(high, 1.0)), confidence=level,
        level=1 - tail, method=method, size=int(sizes[-1]),
        sizes={int(n): int(c[a == n].sum()) for n in sizes}, groups=int(groups), rows=int(rows), missing=found.missing,
        mean=found.centre + found.spread * fit.mean, variance=(fit.within + fit.group_part) * found.spread**2,
    )  # fmt: skip
