"""What a plan needs to know about its table: the true answers of the planned queries, and how alike people are.

The answers are for judging the error of a release. With a person column, people are counted once: a count takes one row
a person, in the first of their groups, so that one person moves it by one; sums and averages use at most ``max_rows``
rows a person.

Related people (paper 004): the values of k related people are taken to be jointly normal. An adversary who knows some
of them and reads one answer sees it move, for each unit of the target's value, by
β = Cov(S, x_i | known)/Var(x_i | known) units, S being the sum over all k (Theorem 6): by 1 if people are independent,
by 1 + (k−1)ρ at most if any two have the correlation ρ ≥ 0. The randomness of the people who are not known is not
counted as noise, which is the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data.queries import Query, QueryKind
from ..data.tables.columns import at_most, column_of, value_of
from ..data.tables.engines import need_ibis
from ..data.tables.open import OpenTable
from ..errors import InputError

__all__ = ["Answer", "true_answers"]


MOST_GROUPS = 10_000


@dataclass(frozen=True)
class Answer:
    """One published number before noise: its group, its value, and the rows behind it."""

    group: tuple[str, ...]
    value: float
    rows: int


def true_answers(opened: OpenTable, query: Query, person: str | None, max_rows: int) -> tuple[Answer, ...]:
    """The answers of one query, a group each, in the order of the groups."""
    ibis = need_ibis()
    table = opened.table
    query.check(table)
    made: dict[str, Any] = {
        f"g{j}": value_of(column_of(table, name, "query"), "query") for j, name in enumerate(query.groups)
    }
    if person is not None:
        made["p"] = value_of(column_of(table, person, "person"), "person")
    if query.bounds is not None:
        value = value_of(column_of(table, query.column, "query"), "query").cast("float64")
        made["x"] = value.clip(lower=query.bounds[0], upper=query.bounds[1])
    else:
        made["x"] = ibis.literal(1.0)
    rows = table.filter(query.rows(table)).select(**made)
    keys = [f"g{j}" for j in range(len(query.groups))]
    if person is not None:
        rows = at_most(rows, [*keys, "x"], 1 if query.bounds is None else max_rows)
    numbers = {"n": rows.count(), "total": rows["x"].sum(), "valued": rows["x"].count()}
    grouped = rows.group_by(keys).agg(**numbers) if keys else rows.aggregate(**numbers)
    if keys:
        grouped = grouped.order_by([part for key in keys for part in (grouped[key].isnull(), grouped[key])])
    got = opened.engine.fetch(grouped.limit(MOST_GROUPS + 1)).to_pylist()
    if len(got) > MOST_GROUPS:
        raise InputError(
            f"query {str(query)!r} has more than {MOST_GROUPS:,} groups: split it by fewer columns", parameter="query"
        )
    return tuple(_answer(row, keys, query) for row in got)


def _answer(row: dict[str, Any], keys: list[str], query: Query) -> Answer:
    count, total, valued = int(row["n"] or 0), float(row["total"] or 0.0), int(row["valued"] or 0)
    if query.kind is QueryKind.AVERAGE:
        value = total / valued if valued else 0.0
    else:
        value = total if query.kind is QueryKind.SUM else float(count)
    return Answer(tuple("(empty)" if row[k] is None else str(row[k]) for k in keys), value, count)
