"""Planned queries: the gap each isolatable person causes, and what the attacker makes of it.

The attack (paper 001): ask the planned query, ask it again without the person's combination, and subtract. What
remains is the person's contribution or nothing, under noise. The person's *gap* is that contribution:

* count, histogram: 1, a person counts once; sum: :math:`\\sum|x|` with x clamped to the bounds; average:
  :math:`\\sum|x-\\bar x|\\cdot 2n/(2n-1)` over the n rows of the answer (the paper's rule for one known answer);
* over rows the attacker knows to be covered: a WHERE term on quasi-identifiers is knowledge and counts, any other
  term is the secret itself. The guess is as good for people whose secret is "no", so they count in full;
* at most the query's sensitivity, because rows beyond ``max_rows`` a person are dropped before the release;
* through rows whose combination is the person's alone. Where several rows or groups add up, the sum of absolute
  values is an upper bound on what any way of combining the answers can show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...numerics.values import FrozenMapping, ValueSemantics
from ..queries import Query, QueryKind
from ..tables.columns import column_of, value_of
from ..tables.conditions import known_part
from ..tables.dialect import exact_sum, identical, ones
from ..tables.engines import Engine, need_ibis
from .request import ScanRequest

Floats: TypeAlias = NDArray[np.float64]
_LEVELS = {"worst": 1.0, "99%": 0.99, "90%": 0.9, "median": 0.5}


@dataclass(frozen=True)
class GroupFacts:
    """How many groups a query answers for, how many cover one person only, and the expression of them all."""

    groups: int
    lonely: int
    table: Any
    people: int
    rows: int
    mean: float | None


@dataclass(frozen=True, eq=False, repr=False)
class QueryRisk(ValueSemantics):
    """What one planned query means for the people who can be isolated.

    ``gap``, ``ratio`` (gap over sensitivity) and ``success`` are read at the worst-placed person, at 99% and 90% of
    people and at the median; ``above`` counts those above the limit; ``largest_epsilon`` keeps the worst, or the
    chosen quantile, at the limit, and is None when there is no limit or nobody is exposed. ``known`` is the success at
    the worst-placed person if one of the two answers is known exactly.
    """

    query: Query
    sensitivity: float
    groups: int
    lonely_groups: int
    people: int
    gap: Mapping[str, float]
    ratio: Mapping[str, float]
    success: Mapping[str, float] | None
    above: int | None
    largest_epsilon: float | None
    known: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "gap", FrozenMapping(self.gap))
        object.__setattr__(self, "ratio", FrozenMapping(self.ratio))
        object.__setattr__(self, "success", None if self.success is None else FrozenMapping(self.success))

    def to_dict(self) -> dict[str, Any]:
        """The risk as plain values."""
        plain = {k: dict(v) if isinstance(v, Mapping) else v for k, v in vars(self).items()}
        return {**plain, "query": self.query.to_dict()}


def base_table(table: Any, request: ScanRequest) -> Any:
    """The columns a scan needs, under its own names, so that none can meet a column of the user's.

    ``q0…`` the quasi-identifiers, ``p`` the person; for query i: ``m{i}`` whether it covers the row, ``k{i}`` whether
    the attacker must reckon with it, ``x{i}`` the clamped value, ``g{i}_0…`` the groups.
    """
    ibis = need_ibis()
    quasi = request.quasi_identifiers
    made = {f"q{j}": value_of(table[name], "quasi_identifiers") for j, name in enumerate(quasi)}
    if request.person is not None:
        made["p"] = value_of(column_of(table, request.person, "person"), "person")
    for i, query in enumerate(request.queries):
        query.check(table)
        made[f"m{i}"] = query.rows(table)
        made[f"k{i}"] = known_part(table, query.where, quasi) if query.where else ibis.literal(True)
        if query.bounds is not None:
            value = value_of(column_of(table, query.column, "query"), "query").cast("float64")
            made[f"x{i}"] = value.clip(lower=query.bounds[0], upper=query.bounds[1])
        for j, name in enumerate(query.groups):
            made[f"g{i}_{j}"] = value_of(column_of(table, name, f"query {str(query)!r}"), "query")
    return table.select(**made)


def group_facts(engine: Engine, base: Any, i: int, query: Query, person: bool) -> GroupFacts:
    """The groups of query i with their rows, people and mean, in the engine; their totals fetched."""
    ibis = need_ibis()
    rows = base.filter(base[f"m{i}"])
    keys = [f"g{i}_{j}" for j in range(len(query.groups))]
    value = rows[f"x{i}"] if query.bounds is not None else ibis.literal(0.0)
    rows = rows.mutate(v=value) if keys else rows.mutate(v=value, g=1)
    keys = keys or ["g"]
    asked, total = exact_sum("s", rows["v"], max(map(abs, query.bounds or (0.0,))))
    sums = {"n": rows.count(), **asked, "w": rows["v"].count()}
    if person:
        each = rows.group_by([*keys, "p"]).agg(**sums)
        groups = each.group_by(keys).agg(**{name: each[name].sum() for name in sums}, people=each.count())
    else:
        groups = rows.group_by(keys).agg(**sums, people=rows.count())
    groups = groups.mutate(mean=total(groups) / groups["w"].cast("float64").nullif(0))
    got = engine.fetch(
        groups.aggregate(
            groups=groups.count(),
            lonely=ones(groups["people"] == 1).sum(),
            people=groups["people"].max(),
            rows=groups["n"].max(),
            mean=groups["mean"].max(),
        )
    ).to_pylist()[0]
    number = {k: int(got[k] or 0) for k in ("groups", "lonely", "people", "rows")}
    return GroupFacts(number["groups"], number["lonely"], groups, number["people"], number["rows"], got["mean"])


def with_contributions(base: Any, request: ScanRequest, facts: Sequence[GroupFacts], most_rows: int) -> Any:
    """``base`` with ``c{i}``: what each row can add to the gap of its owner under query i.

    Where an owner has several rows, at most ``most_rows``, amounts are cut to so many binary digits that their sums are
    exact in any order: the same on every engine.
    """
    ibis = need_ibis()
    min_query_size = request.min_query_size
    joined, made = base, {name: base[name] for name in base.columns}
    for i, (query, fact) in enumerate(zip(request.queries, facts, strict=True)):
        if query.groups and (query.kind is QueryKind.AVERAGE or min_query_size > 1):
            keys = [f"g{i}_{j}" for j in range(len(query.groups))]
            right = fact.table.select(
                **{f"r{i}_{j}": fact.table[k] for j, k in enumerate(keys)},
                **{f"rn{i}": fact.table["n"], f"rp{i}": fact.table["people"], f"rm{i}": fact.table["mean"]},
            )
            on = [identical(base[k], right[f"r{i}_{j}"]) for j, k in enumerate(keys)]
            joined = joined.left_join(right, on)  # one chain: engines read only so many tables within tables
            people, count, mean = right[f"rp{i}"].fill_null(0), right[f"rn{i}"].fill_null(0), right[f"rm{i}"]
        else:
            people, count = ibis.literal(fact.people), ibis.literal(fact.rows)
            mean = ibis.literal(fact.mean, type="float64")
        if query.kind is QueryKind.SUM:
            amount = base[f"x{i}"].abs()
        elif query.kind is QueryKind.AVERAGE:
            n = count.cast("float64")
            amount = (base[f"x{i}"] - mean).abs() * (2 * n / (2 * n - 1))
        else:
            amount = ibis.literal(1.0)
        covered = base[f"k{i}"]
        if min_query_size > 1:
            covered = covered & (people - 1 >= min_query_size)
        if most_rows > 1 and query.bounds is not None:
            step = 2.0 ** (52 - math.frexp(2 * max(map(abs, query.bounds)) * 2)[1] - most_rows.bit_length())
            amount = (amount * step).floor().cast("float64") / step
        made[f"c{i}"] = ibis.ifelse(covered, amount.fill_null(0.0), 0.0).cast("float64")
    return joined.select(**made)


def read_risk(
    query: Query, facts: GroupFacts, gaps: tuple[Floats, NDArray[np.int64]], max_rows: int, request: ScanRequest
) -> QueryRisk:
    """Read the risk of one query off the histogram ``(values, people)`` of its gaps."""
    epsilon, limit, attack = request.epsilon, request.limit, request.attack
    sensitivity = query.sensitivity(max_rows)
    values, people = np.minimum(gaps[0], sensitivity), gaps[1]
    order = np.argsort(values, kind="stable")
    values, people = values[order], people[order]
    total = int(people.sum())
    at = {name: _quantile(values, people, q) for name, q in _LEVELS.items()}
    ratio = {name: gap / sensitivity for name, gap in at.items()}
    success = above = largest = known = None
    if epsilon is not None:
        told = replace(attack, known=True)
        known = float(told.success(epsilon, np.array([at["worst"]]), sensitivity)[0])
        odds = attack.success(epsilon, np.array(list(at.values())), sensitivity)
        success = dict(zip(at, (float(o) for o in odds), strict=True))
        if limit is not None:
            each = attack.success(epsilon, values, sensitivity) if total else values
            above = int(people[each > limit * (1 + 1e-12)].sum())
    if limit is not None:
        largest = attack.largest_epsilon(limit, _quantile(values, people, request.quantile or 1.0), sensitivity)
    return QueryRisk(
        query=query, sensitivity=sensitivity, groups=facts.groups, lonely_groups=facts.lonely, people=total, gap=at,
        ratio=ratio, success=success, above=above, largest_epsilon=largest, known=known,
    )  # fmt: skip


def _quantile(values: Floats, people: NDArray[np.int64], q: float) -> float:
    """The least value such that at least a share ``q`` of the people are at or below it; 0 for nobody.

    >>> _quantile(np.array([0.0, 1.0, 5.0]), np.array([5, 4, 1]), 0.9)
    1.0
    """
    total = int(people.sum())
    if total == 0:
        return 0.0
    reached = np.cumsum(people)
    # A hair below q·total: 0.9 · 10 must not become 9.000000000000002 and skip a person.
    return float(values[int(np.searchsorted(reached, q * total * (1 - 1e-12)))])
