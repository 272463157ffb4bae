"""Related people: how alike the members of a group (a household, a class, a ward) are, from sums over groups.

The members of a group are taken to be exchangeable, any two with the same correlation ρ in groups of every size, and
groups to be independent of each other. The engine groups twice, by the group and then into cells of groups of one size
that are nearly alike, and hands back sums up to the fourth power: a few thousand rows however many groups there are.
From them come the estimate (:mod:`.groups`) and both ends of its interval. The upper end, which risks are read at, is
the larger of the F interval's, exact for normal data, and of one that holds whatever the law of the values
(:mod:`.upper`): binary, skewed, heavy-tailed, in few or unequal groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...attacks.correlated import normal
from ...attacks.correlated.normal_records import NormalRecords
from ...checks import Array, integer, probability, scalar
from ...errors import InputError
from ...numerics.values import FrozenMapping, ValueSemantics
from ..tables.columns import column_of, value_of
from ..tables.dialect import Grid, exact_sum
from ..tables.engines import need_ibis
from ..tables.table import OpenTable, open_table, reading
from .groups import POWERS, GroupSums, lower_end, normal_end, variances
from .records import Bounds, centred, number_of
from .upper import UpperEnd, upper_end

#: The most cells of groups that are told apart.
_MOST_CELLS = 1 << 20
#: Groups of one size are nearly alike if their means, and mean squares, agree to this part of the spread.
_STEPS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Related(ValueSemantics):
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
        n = self.size if size is None else integer("size", size, low=1)
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
        plain["method"] = self.method.value
        plain["sizes"] = {str(k): v for k, v in self.sizes.items()}
        return plain


def _possible(rho: float, n: int) -> float:
    """A correlation that n records can all have with each other; what is too negative is taken as 0."""
    return 0.0 if n > 1 and rho <= -1 / (n - 1) else min(rho, 1 - 1e-9)


def related(
    table: Any, column: str, by: str, bounds: Bounds | None = None, confidence: float = 0.95, engine: Any = None
) -> Related:
    """How alike the values of ``column`` are for rows that share a value of ``by``.

    Values beyond the ``bounds`` are moved to them, as the release does; where they are given (or values are two) the
    upper end of the interval holds whatever the law of the values.

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
        found, method = _sums(opened.engine, rows, column, by, bounds)
    return estimated(found, method, column, by, confidence)


def _sums(engine: Any, rows: Any, column: str, by: str, bounds: Bounds | None) -> tuple[GroupSums, UpperEnd]:
    """What the engine hands back, and what the range of the values is known from."""
    ibis = need_ibis()
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
    grids = {name: Grid.of(size, int(most["n"])) for name, size in zip(POWERS, sizes, strict=True)}
    sums: dict[str, Any] = {}
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


def estimated(found: GroupSums, method: UpperEnd, column: str, by: str, level: float) -> Related:
    """The analysis of variance, and the interval of ρ at this level of confidence."""
    a, c = found.sizes, found.groups
    groups, rows = float(c.sum()), float(a @ c)
    if groups < 2 or rows <= groups:
        what = "one group" if groups < 2 else "no group with two members"
        raise InputError(
            f"by is {by!r}: it has {what}; give a column that puts rows into several groups", parameter="by"
        )
    fit = variances(found)
    if fit is None:
        raise InputError(
            f"columns has {column!r}, which is the same in every row: there is nothing to relate", parameter="columns"
        )
    tail = (1 - level) / 2
    low, high = lower_end(found, fit, tail), max(normal_end(fit, tail), upper_end(found, method, tail))
    sizes = np.unique(a)
    return Related(
        column=column, by=by, rho=float(fit.rho), interval=(max(low, -1.0), min(high, 1.0)), confidence=level,
        level=1 - tail, method=method, size=int(sizes[-1]),
        sizes={int(n): int(c[a == n].sum()) for n in sizes}, groups=int(groups), rows=int(rows), missing=found.missing,
        mean=found.centre + found.spread * fit.mean, variance=(fit.within + fit.group_part) * found.spread**2,
    )  # fmt: skip
