"""How far related people's answers go together, stated or from the data (paper 004).

The values of k related people are taken to be jointly normal. An adversary who knows some of them and reads one answer
sees it move, for each unit of the target's value, by β = Cov(S, x_i | known)/Var(x_i | known) units, S being the sum
over all k (Theorem 6): by 1 if people are independent, by 1 + (k−1)ρ at most if any two have the correlation ρ ≥ 0. The
randomness of the people who are not known is not counted as noise, which is the safe side. Where records are not
jointly normal only group privacy is safe: k times what one record moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..build.correlated import normal
from ..data.correlation.related import related
from ..data.correlation.upper import UpperEnd
from ..data.queries import Query
from ..data.tables.columns import column_of, value_of
from ..data.tables.engines import need_ibis
from ..data.tables.open import OpenTable
from ..data.tables.totals import exact_sum
from ..errors import InputError
from .contribution import Contribution
from .movement import Move, Movement, of_secret
from .noise import contribution
from .plan import Release
from .words import Resemblance

__all__ = ["Relation", "relations", "worst_relation"]

_SECONDS = 10.0


@dataclass(frozen=True)
class Relation:
    """The worst adversary against one query: the answer moves ``factor`` times as far as if people were independent.

    ``known`` of the ``others`` are known to them; ``by_known`` is the factor for each number that could be. ``unit`` is
    how far one record of ``rows`` rows moves the answer by itself, in sensitivities. ``exact`` is false where the
    search ran out of time and the factor is a proven upper bound; ``from_data`` says that the resemblance was
    estimated.
    """

    query: int
    factor: float
    known: int
    others: int
    by_known: tuple[float, ...]
    unit: float
    because: str
    exact: bool = True
    rows: int = 1
    from_data: bool = False

    @property
    def swing(self) -> float:
        """How far the answer moves, in sensitivities."""
        return self.factor * self.unit

    def moves(self, plan: Release) -> tuple[Movement, ...]:
        """What other values of one record do to the answer by itself, without the relatives."""
        one = _record(plan, self.query, self.rows)
        found = [*one.changed, *(() if plan.data.hidden is None else of_secret(one, plan.data.hidden))]
        made = (tuple(Move(self.query, m.noisy, m.amount, m.times) for m in vertex.moved) for vertex in found)
        return tuple(dict.fromkeys(Movement(moves) for moves in made if moves))


def relations(plan: Release, opened: OpenTable, queries: tuple[Query, ...]) -> tuple[Relation, ...]:
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
    model = normal(stated)
    worst = model.worst(scale=1.0, time_limit=_SECONDS)
    curve = tuple(level.upper for level in model.by_known(scale=1.0, time_limit=_SECONDS))
    people = len(stated)
    because = f"{people} related people have the correlations stated"
    rows = plan.data.max_rows if plan.data.several else 1
    return tuple(
        Relation(
            i, worst.upper, len(worst.known), people - 1, curve, _unit(plan, i, rows), because, worst.complete, rows
        )
        for i in range(len(queries))
    )


def _record(plan: Release, i: int, rows: int) -> Contribution:
    """What a record of so many rows adds to query i."""
    one = contribution(plan, i)
    return replace(one, data=one.data.model_copy(update={"max_rows": rows}))


def _unit(plan: Release, i: int, rows: int) -> float:
    """How far one record moves query i by itself, in sensitivities: other values in one group."""
    one, whole = _record(plan, i, rows), contribution(plan, i)
    relation = plan.mechanism.neighbours
    return max(m.amount / whole.sensitivity(m.noisy, relation, 1) for v in one.changed for m in v.moved)


def _from_data(plan: Release, opened: OpenTable, query: Query, i: int, by: str) -> Relation | None:
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
    counted = query.bounds is None
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
        because += ", who are taken to be counted or not all together, as no normal law fits what is counted"
    return Relation(i, curve[0], 0, others, curve, _unit(plan, i, rows_each), because, rows=rows_each, from_data=True)


def worst_relation(found: tuple[Relation, ...], shares: tuple[float, ...]) -> Relation | None:
    """The relation whose query tells most about one person."""
    return max(found, key=lambda r: r.swing * shares[r.query], default=None)
