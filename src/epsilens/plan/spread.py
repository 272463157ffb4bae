"""Other bounds and limits that a plan could have, and what its queries would answer with them.

Where bounds cut off, or limits on contributions drop, more than the noise hides, others may lose less. Which ones are
worth trying is read from the table: quantiles of the values, of the rows and of the groups that one owner has. Each
candidate is then answered exactly, as the plan itself is. All of it looks at the confidential data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from typing import Any

from ..data.tables.columns import column_of, value_of
from ..data.tables.engines import Engine, need_ibis
from ..data.tables.table import OpenTable
from .answers import Answer, answers_of
from .asked import ReleaseQuery
from .plan import Release

#: The shares of values below the lower or above the upper bound that is tried.
_TAILS = (0.0, 0.001, 0.01, 0.025, 0.05, 0.1)
#: The shares of owners who lose nothing under the limit that is tried.
_KEPT = (0.5, 0.9, 0.99, 1.0)
_DIGITS = 2


class Parameter(StrEnum):
    """What could be chosen otherwise."""

    BOUNDS = "bounds"  # of one query
    MAX_ROWS = "max_rows"  # of the plan
    MAX_GROUPS = "max_groups"  # of the plan


@dataclass(frozen=True)
class Spread:
    """What one query sees of the table: quantiles of its values, of the rows and of the groups of one owner.

    ``low`` and ``high`` are the values that the shares ``_TAILS`` lie below and above; ``each`` is the number of rows,
    or groups, that the shares ``_KEPT`` of owners do not exceed. Empty where it was not asked for.
    """

    query: int
    parameter: Parameter
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    each: tuple[int, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A plan with one choice changed, for the sake of one query, and the answers of all of its queries."""

    query: int
    parameter: Parameter
    value: tuple[float, float] | int
    plan: Release
    answers: tuple[tuple[Answer, ...], ...]


def spread_of(opened: OpenTable, plan: Release, query: int, parameter: Parameter) -> Spread:
    """What one query sees of the table, in one pass."""
    table, asked, planned = opened.table, plan.queries[query], plan.queries[query].planned()
    rows = table.filter(planned.rows(table))
    if asked.kind.bounded:
        number = value_of(column_of(rows, planned.column, "query"), "query").cast("float64")
        if parameter is Parameter.BOUNDS:
            return Spread(query, parameter, *_tails(opened.engine, rows.select(x=number)))
        rows = rows.filter(number.notnull())
    whose = {"p_": value_of(column_of(rows, plan.data.owner, "person"), "person")}
    if parameter is Parameter.MAX_GROUPS:
        keys = {f"g{j}_": value_of(column_of(rows, name, "query"), "query") for j, name in enumerate(asked.split_by)}
        rows = rows.select(**whose, **keys).distinct()
    else:
        rows = rows.select(**whose)
    each = rows.group_by("p_").agg(n_=rows.count())
    owners = each.group_by("n_").agg(owners=each.count())
    got = opened.engine.fetch(owners.order_by("n_")).to_pylist()
    return Spread(query, parameter, each=_quantiles([(int(r["n_"]), int(r["owners"])) for r in got]))


def _tails(engine: Engine, rows: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The values that the shares ``_TAILS`` of ``x`` lie below and above, between two of them in proportion.

    By the places of the values, which engines agree on; their own quantiles differ in the last digit.
    """
    ibis = need_ibis()
    some = rows.filter(rows["x"].notnull())
    each = some.group_by("x").agg(n=some.count())
    total = int(engine.fetch(each.aggregate(n=each["n"].sum())).to_pylist()[0]["n"] or 0)
    if not total:
        return (), ()
    at = [share * (total - 1) for share in (*_TAILS, *(1 - tail for tail in _TAILS))]
    wanted = sorted({place for a in at for place in (math.floor(a), math.ceil(a))})
    ranked = each.mutate(end=each["n"].sum().over(ibis.window(order_by="x", preceding=None, following=0)))
    held = [(ranked["end"] - ranked["n"] <= place) & (ranked["end"] > place) for place in wanted]
    got = sorted((int(r["end"]), float(r["x"])) for r in engine.fetch(ranked.filter(ibis.or_(*held))).to_pylist())

    def value(place: int) -> float:
        return next(x for end, x in got if end > place)

    found = []
    for a in at:
        low, high = value(math.floor(a)), value(math.ceil(a))
        found.append(low + (high - low) * (a - math.floor(a)))
    return tuple(found[: len(_TAILS)]), tuple(found[len(_TAILS) :])


def _quantiles(counted: list[tuple[int, int]]) -> tuple[int, ...]:
    """The smallest numbers that the shares ``_KEPT`` of owners do not exceed.

    >>> _quantiles([(1, 60), (2, 30), (9, 10)])
    (1, 2, 9, 9)
    """
    total, made = sum(owners for _, owners in counted), []
    for share in _KEPT if counted else ():
        below = 0
        for number, owners in counted:
            below += owners
            if below >= share * total * (1 - 1e-12):
                made.append(number)
                break
    return tuple(made)


def candidates_of(opened: OpenTable, plan: Release, asked: Sequence[tuple[int, Parameter]]) -> tuple[Candidate, ...]:
    """What could be chosen instead, for each query and choice that is asked about.

    Bounds of all queries are answered in one go; every other limit needs the table once more.
    """
    spreads = [spread_of(opened, plan, query, parameter) for query, parameter in asked]
    bounded = [(s.query, b) for s in spreads if s.parameter is Parameter.BOUNDS for b in _bounds(plan, s)]
    made = list(_with_bounds(opened, plan, bounded)) if bounded else []
    for parameter in (Parameter.MAX_ROWS, Parameter.MAX_GROUPS):
        limits: dict[int, int] = {}
        for spread in (s for s in spreads if s.parameter is parameter):
            for number in spread.each:
                limits.setdefault(number, spread.query)
        for number in sorted(set(limits) - {getattr(plan.data, parameter.value) or 1}):
            other = _limited(plan, parameter, number)
            made.append(Candidate(limits[number], parameter, number, other, answers_of(opened, other)))
    return tuple(made)


def _limited(plan: Release, parameter: Parameter, number: int) -> Release:
    return plan.model_copy(update={"data": plan.data.model_copy(update={parameter.value: number})})


def _with_bounds(opened: OpenTable, plan: Release, bounded: list[tuple[int, tuple[float, float]]]) -> list[Candidate]:
    """A query for each candidate, all of them answered as one plan."""
    queries = [plan.queries[i].model_copy(update={"bounds": bounds}) for i, bounds in bounded]
    answers = answers_of(opened, plan.model_copy(update={"queries": tuple(queries)}))
    made = []
    for (i, bounds), query, found in zip(bounded, queries, answers, strict=True):
        other = plan.model_copy(update={"queries": (*plan.queries[:i], query, *plan.queries[i + 1 :])})
        made.append(Candidate(i, Parameter.BOUNDS, bounds, other, (found,)))
    return made


def _bounds(plan: Release, spread: Spread) -> list[tuple[float, float]]:
    """The planned lower bound, or the smallest values, with upper bounds that cut off less and less; the other way too.

    Numbers people can type, rounded outwards.
    """
    planned = plan.queries[spread.query].bounds
    if planned is None or not spread.low:
        return []
    lows = dict.fromkeys((planned[0], *(_rounded(x, ROUND_FLOOR) for x in spread.low[:1])))
    highs = dict.fromkeys((planned[1], *(_rounded(x, ROUND_CEILING) for x in spread.high)))
    if _downwards(plan.queries[spread.query], spread):
        lows = dict.fromkeys((planned[0], *(_rounded(x, ROUND_FLOOR) for x in spread.low)))
        highs = dict.fromkeys((planned[1], *(_rounded(x, ROUND_CEILING) for x in spread.high[:1])))
    return [(low, high) for low in lows for high in highs if low < high and (low, high) != planned]


def _downwards(query: ReleaseQuery, spread: Spread) -> bool:
    """Whether more is cut off below than above."""
    low, high = query.bounds or (0.0, 0.0)
    return low - spread.low[0] > spread.high[0] - high


def _rounded(number: float, rounding: str) -> float:
    """
    >>> _rounded(76.1, ROUND_CEILING), _rounded(-0.123, ROUND_FLOOR), _rounded(1234.0, ROUND_CEILING)
    (77.0, -0.13, 1300.0)
    """
    if number == 0 or not math.isfinite(number):
        return number
    return float(Context(prec=_DIGITS, rounding=rounding).create_decimal(Decimal(number)))
