r"""How far related people's answers go together, stated or from the data (paper 004).

The values of k related people are taken to be jointly normal, within the bounds. Given the target's value, and those
that an adversary knows, the others are their regression on it and a residual that does not depend on it. Telling the
residual can only help: then every number that the values enter moves by at most 1 + Σ|β| times what the target moves it
by, β being the coefficients of those who are not known, for clamping moves nothing farther. So the whole vector of
answers moves so many times as far, at most; the largest over targets and over what is known is the *factor*: 1 if
people are independent, 1 + (k−1)ρ if any two have the correlation ρ ≥ 0. The randomness of the people who are not known
is not counted as noise, which is the safe side.

What is counted, or is put into groups, has no normal law: what one flag says of the others can be far more than their
correlation. There only group privacy is safe, k times what one record moves, and the k people's names of groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..checks import Array
from ..data.correlation.related import related
from ..data.correlation.upper import UpperEnd
from ..data.queries import Query
from ..data.tables.columns import column_of, value_of
from ..data.tables.conditions import columns_of
from ..data.tables.dialect import exact_sum
from ..data.tables.engines import need_ibis
from ..data.tables.table import OpenTable
from ..errors import InputError
from .movement import Movements, related_movements
from .noise import contribution
from .plan import Release
from .words import Resemblance

_ENUMERATED = 12  # related people whose every adversary is looked at: 2^12 sets of those who are known
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CorrelationFactor:
    """The worst adversary against one query: the answer moves ``factor`` times as far as if people were independent.

    ``known`` of the ``others`` are known to them; ``by_known`` is the factor for each number that could be. ``people``
    is how many protected people move together: one where the records are a person's own rows, who are never more than
    the person. ``unit`` is how far one record moves the answer by itself, in sensitivities. ``from_data`` says that the
    resemblance was estimated.
    """

    query: int
    factor: float
    known: int
    others: int
    by_known: tuple[float, ...]
    unit: float
    because: str
    people: int = 1
    from_data: bool = False

    @property
    def swing(self) -> float:
        """How far the answer moves, in sensitivities."""
        return self.factor * self.unit


def correlated_movements(plan: Release, found: tuple[CorrelationFactor, ...]) -> Movements:
    """What moves between two records of one person if the answers go with the relatives' as well: all queries."""
    of = {r.query: (r.people, min(r.factor * (1 + _ROUNDING), float(r.people))) for r in found}
    return related_movements(plan, [of.get(i, (1, 1.0)) for i in range(len(plan.queries))])


def correlation_factors(plan: Release, opened: OpenTable, queries: tuple[Query, ...]) -> tuple[CorrelationFactor, ...]:
    """What the release says about related people, a relation for each query it applies to."""
    stated = plan.adversary.correlation
    if stated is Resemblance.NONE:
        return ()
    if stated is Resemblance.FROM_DATA:
        by = plan.data.related or plan.data.person
        if by is None:
            raise InputError(
                "adversary.correlation is 'from data' without data.related: name the column that says which people "
                "belong together, or give a matrix",
                parameter="data.related",
            )
        found = (_from_data(plan, opened, query, i, by) for i, query in enumerate(queries))
        return tuple(relation for relation in found if relation is not None)
    return stated_factors(plan)


def stated_factors(plan: Release) -> tuple[CorrelationFactor, ...]:
    """What the plan itself says about related people, whatever its table holds."""
    stated = plan.adversary.correlation
    if isinstance(stated, Resemblance):
        return ()
    matrix, people = np.asarray(stated, dtype=float), len(stated)
    curve, component = _factors(matrix), _related_at_most(matrix)
    because = f"{people} related people have the correlations stated"
    rows = plan.data.max_rows if plan.data.several else 1
    made = []
    for i in range(len(plan.queries)):
        each = curve if _valued(plan, i) else tuple(float(max(component - k, 1)) for k in range(people))
        known, factor = max(enumerate(each), key=lambda one: one[1])
        why = because if _valued(plan, i) or component == 1 else because + _ALL_TOGETHER
        made.append(CorrelationFactor(i, factor, known, people - 1, each, _unit(plan, i, rows), why, component))
    return tuple(made)


#: What is added where no normal law fits.
_ALL_TOGETHER = ", who are taken to be counted or not all together, as no normal law fits what is counted"


def _valued(plan: Release, i: int) -> bool:
    """Whether an answer moves no farther than the values do: a sum of them, of rows that other columns choose."""
    query, planned = plan.queries[i], plan.queries[i].planned()
    chosen = set(query.split_by) | (columns_of(planned.where) if planned.where is not None else set())
    return query.kind.bounded and planned.column not in chosen


def _factors(matrix: Array) -> tuple[float, ...]:
    """The largest 1 + Σ|β| over targets, by how many others are known: exact for few people, else an upper bound.

    >>> [round(f, 3) for f in _factors(np.array([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]]))]
    [2.0, 1.333, 1.0]
    """
    people = len(matrix)
    if people > _ENUMERATED:
        precise = np.linalg.inv(matrix)
        np.fill_diagonal(precise, 0.0)
        if precise.max() <= 0 and matrix.min() >= 0:  # then to know more only helps the others' regression fall
            most = float(matrix.sum(axis=1).max())
            return tuple(min(most, float(people - k)) for k in range(people))
        return tuple(float(people - k) for k in range(people))
    found = [1.0] * people
    for size in range(1, people):
        for inside in combinations(range(people), size):  # the target, and those who are known
            rest = [j for j in range(people) if j not in inside]
            slopes = np.linalg.solve(matrix[np.ix_(inside, inside)], matrix[np.ix_(inside, rest)])
            found[size - 1] = max(found[size - 1], 1 + float(np.abs(slopes).sum(axis=1).max()))
    return tuple(min(f, float(people - k)) for k, f in enumerate(found))


def _related_at_most(matrix: Array) -> int:
    """How many people say anything of each other: the largest part of those linked by a correlation."""
    left, most = set(range(len(matrix))), 1
    while left:
        part, grown = set(), {left.pop()}
        while grown:
            part |= grown
            grown = {int(j) for i in grown for j in np.flatnonzero(matrix[i])} & left
            left -= grown
        most = max(most, len(part))
    return most


def _unit(plan: Release, i: int, rows: int) -> float:
    """How far one record moves query i by itself, in sensitivities: other values in one group."""
    whole = contribution(plan, i)
    one = replace(whole, data=whole.data.model_copy(update={"max_rows": rows}))
    relation = plan.mechanism.neighbours
    return max(m.amount / whole.sensitivity(m.noisy, relation, 1) for v in one.changed for m in v.moved)


def _from_data(plan: Release, opened: OpenTable, query: Query, i: int, by: str) -> CorrelationFactor | None:
    """Equally correlated relatives, with the upper end of the estimate; None where a record is not the query's own."""
    ibis = need_ibis()
    table, person = opened.table, plan.data.person
    of_rows = plan.data.related is None  # a person's own rows are the records
    if of_rows and query.bounds is None:
        return None  # a count counts the person once, whatever their rows
    group = value_of(column_of(table, by, "data.related"), "data.related")
    covered = query.rows(table)
    value: Any = ibis.literal(1.0)
    if query.bounds is not None:
        column = value_of(column_of(table, query.column, "query"), "query").cast("float64")
        value = column.clip(lower=query.bounds[0], upper=query.bounds[1])
    rows = {"g_": group, "v_": ibis.ifelse(covered, value, 0.0)}
    if person is not None and not of_rows:
        rows["p_"] = value_of(column_of(table, person, "person"), "person")
    records = table.select(**rows)
    if "p_" in rows:
        asked, total = exact_sum("v_", records["v_"], max(map(abs, query.bounds or (1.0,))))
        each = records.group_by("p_").agg(g_=records["g_"].min(), most=records["v_"].max(), **asked)
        records = each.select("p_", "g_", v_=each["most"] if query.bounds is None else total(each))
    ends = None  # of a person's whole sum, which has no bounds before the limits on contributions
    if query.bounds is not None and "p_" not in rows:
        ends = (min(query.bounds[0], 0.0), max(query.bounds[1], 0.0))  # a row that is not covered adds 0
    alike = related(records, "v_", by="g_", bounds=ends)
    rho = max(alike.interval[1], 0.0)
    others = alike.size - 1
    counted = not _valued(plan, i)
    # Flags are not normal: what one says of the others can be far more than ρ, and only all of them together is safe.
    curve = tuple(
        float(alike.size - k) if counted and rho > 0 else (1 + others * rho) / (1 + k * rho) for k in range(alike.size)
    )
    rows_each = 1 if of_rows or not plan.data.several else plan.data.max_rows
    whose = "rows of one person" if of_rows else f"people with the same {by}"
    seen = ", if no value lies beyond those seen" if alike.method is UpperEnd.SEEN else ""
    because = (
        f"{whose} have a correlation of {alike.rho:.2g} in {query.column or 'being counted'} (at most {rho:.2g}, "
        f"with {100 * alike.level:g}% confidence{seen}), and are up to {alike.size}"
    )
    if counted and rho > 0:
        because += _ALL_TOGETHER
    people = 1 if of_rows else alike.size if rho > 0 else 1
    return CorrelationFactor(i, curve[0], 0, others, curve, _unit(plan, i, rows_each), because, people, from_data=True)


def worst_factor(found: tuple[CorrelationFactor, ...]) -> CorrelationFactor | None:
    """The relation of the query that moves farthest, in sensitivities."""
    return max(found, key=lambda r: r.swing, default=None)
