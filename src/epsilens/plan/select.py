"""A planned query written as SQL, read into the words of a plan.

``sql: select site, count(distinct person) from people where age > 30 group by site`` is
``count: age > 30`` with ``by: site``; bounds, groups, thresholds and shares stand beside it as beside any query.
The plan that is assessed, released and hashed holds the words, not the SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.sql import Select, names_table, read_select, table_name
from ..errors import InputError, type_phrase
from .words import Misplaced

#: What SQL says itself, and so may not stand beside it.
_SAID = ("count", "sum", "average", "histogram", "where", "by", "rows")


def with_selects(plan: Any) -> Any:
    """A plan as it was read, its queries in SQL written in words; anything else is left for the model to refuse."""
    if not isinstance(plan, Mapping) or not isinstance(plan.get("queries"), list | tuple):
        return plan
    queries = list(plan["queries"])
    if not any(_is_select(query) for query in queries):
        return plan
    data = plan.get("data")
    given = data if isinstance(data, Mapping) else getattr(data, "__dict__", {})
    for i, query in enumerate(queries):
        if _is_select(query):
            try:
                queries[i] = from_sql(query, given)
            except Misplaced as error:
                raise Misplaced(str(error), "queries", i, *error.place) from None
    return {**plan, "queries": queries}


def _is_select(query: Any) -> bool:
    return isinstance(query, Mapping) and query.get("sql") is not None


def from_sql(query: Mapping[str, Any], data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The words for a query in SQL; ``data`` are those of the plan, which says the table and whose rows it has.

    >>> from_sql({"sql": "select count(*) from people where ill", "epsilon": 1.0}, {"table": "people.csv"})
    {'epsilon': 1.0, 'count': 'ill'}
    >>> from_sql({"sql": "select avg(age) from people", "bounds": [0, 99]}, {"table": "people.csv", "person": "id"})
    {'bounds': [0, 99], 'average': 'age'}
    """
    text = query["sql"]
    if not isinstance(text, str):
        raise Misplaced(f"sql is {type_phrase(text)}: give one SELECT as text", "sql")
    for name in _SAID:
        if query.get(name) not in (None, False, (), []):
            raise Misplaced(f"sql says what is asked, and {name} says it too: leave one of them out", name)
    try:
        found = read_select(text)
    except InputError as error:
        raise Misplaced(str(error), "sql") from None
    if data is not None:
        _of_this_table(found, data)
    elif found.distinct is not None:
        raise Misplaced("sql counts distinct people: give it within a plan, which names its person column", "sql")
    person = (data or {}).get("person")
    made = {name: value for name, value in query.items() if name != "sql"}
    if found.aggregate == "count":
        made["count"] = found.where or True
        if found.distinct is None and (person is not None or data is None):
            made["rows"] = True
    else:
        made[found.aggregate] = found.column
        if found.where:
            made["where"] = found.where
    if found.by:
        made["by"] = found.by[0] if len(found.by) == 1 else list(found.by)
    if found.bounds is not None:
        if query.get("bounds") is not None:
            raise Misplaced("sql clamps the values, and bounds does too: leave one of them out", "bounds")
        made["bounds"] = list(found.bounds)
    if found.name and not query.get("name"):
        made["name"] = found.name
    return made


def _of_this_table(found: Select, data: Mapping[str, Any]) -> None:
    table, person, unit = data.get("table"), data.get("person"), data.get("unit")
    if isinstance(table, str) and not names_table(found.table, table):
        raise Misplaced(
            f"sql reads FROM {found.table[:60]!r}, which is not the plan's table: write FROM {table_name(table)[:60]}, "
            "for a plan is about the one table named in data",
            "sql",
        )
    if found.distinct is not None and found.distinct != person:
        whose = f"the plan's person column, {person!r}" if person else "the plan's person column, which is not named"
        raise Misplaced(
            f"sql counts distinct {found.distinct[:60]!r}: how far one person moves that is not known; count distinct "
            f"of {whose}",
            "sql",
        )
    for column in (person, unit):
        if isinstance(column, str) and column in found.columns:  # anything else is refused where data is read
            raise Misplaced(
                f"sql has {column!r} in its condition, which picks people by name: say what they have in common", "sql"
            )
