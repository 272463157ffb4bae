"""The long format: one row for a person and a time, so that a person's records are their values over time.

:func:`over_time` turns it into one row a person with one column a time, inside the engine; :func:`steps_over_time`
counts steps from one time to the next with a window function, without turning it. Times are the different values of the
time column in their order; a step joins two times that are next to each other there, and one over a gap is left out.
"""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ..tables.columns import column_of, value_of
from ..tables.engines import Engine, need_ibis
from .records import MOST_RECORDS, Bounds, Records, Steps, counted_steps, number_of

__all__ = ["over_time", "steps_over_time", "times_of"]


def _rows(table: Any, value: str, person: str, time: str, bounds: Bounds | None) -> Any:
    """The rows that say whose, when and (perhaps) how much: p, t, v."""
    roles = {"columns": value, "person": person, "time": time}
    for role, name in roles.items():
        for other, same in roles.items():
            if role < other and name == same:
                raise InputError(f"{other} is {same!r}, which is also the column of {role}: give another")
    made = table.select(
        p=value_of(column_of(table, person, "person"), "person"),
        t=value_of(column_of(table, time, "time"), "time"),
        v=number_of(column_of(table, value, "columns"), "columns", bounds),
    )
    return made.filter(made["p"].notnull() & made["t"].notnull())


def times_of(engine: Engine, rows: Any, person: str, time: str) -> list[Any]:
    """The different times in their order, after making sure that nobody has two rows for one of them."""
    each = rows.group_by("t").agg(n=rows.count(), people=rows["p"].nunique())
    got = engine.fetch(each.order_by("t").limit(MOST_RECORDS + 1)).to_pylist()
    if len(got) > MOST_RECORDS:
        raise InputError(
            f"time is {time!r}, which has more than {MOST_RECORDS} different values: "
            "derive a coarser one, such as the month or the year",
            parameter="time",
        )
    if any(row["n"] != row["people"] for row in got):
        raise InputError(
            f"{person!r} has several rows for one {time!r}: add them up first, so that a person has one value at a time"
        )
    if len(got) < 2:
        raise InputError(
            f"time is {time!r}, which has {len(got)} different values: give a column with at least two",
            parameter="time",
        )
    return [row["t"] for row in got]


def over_time(table: Any, engine: Engine, value: str, person: str, time: str, bounds: Bounds | None = None) -> Records:
    """One row a person, one record a time.

    >>> from epsilens.data.tables.open import open_table
    >>> opened = open_table("epsilens:rand-hie")
    >>> records = over_time(opened.table, opened.engine, "visits", "person", "year")
    >>> records.names, opened.engine.fetch(records.base.count()).to_pylist()
    (('year 1', 'year 2', 'year 3', 'year 4', 'year 5'), [{'CountStar()': 5912}])
    >>> opened.close()
    """
    rows = _rows(table, value, person, time, bounds)
    times = times_of(engine, rows, person, time)
    each = rows.group_by("p").agg(**{f"x{i}": rows["v"].max(where=rows["t"] == t) for i, t in enumerate(times)})
    names = _named(time, times)
    return Records(each.drop("p"), engine, names, dict.fromkeys(names, bounds) if bounds else {}, "people")


def steps_over_time(
    table: Any, engine: Engine, value: str, person: str, time: str, bounds: Bounds | None = None
) -> tuple[Steps, tuple[str, ...]]:
    """First values of people and steps between neighbouring times, and the names of the times."""
    ibis = need_ibis()
    rows = _rows(table, value, person, time, bounds)
    times = times_of(engine, rows, person, time)
    rows = rows.filter(rows["v"].notnull())
    place = rows["t"].cases(*((t, i) for i, t in enumerate(times)), else_=-1).cast("int64")
    placed = rows.select("p", "v", i=place)
    by_time = ibis.window(group_by="p", order_by="i")
    before = placed.mutate(a=placed["v"].lag().over(by_time), j=placed["i"].lag().over(by_time))
    gap = ibis.ifelse(before["i"] - before["j"] == 1, 1, 2)
    kind = ibis.ifelse(before["j"].isnull(), 0, gap).cast("int64")
    flat = before.select(k=kind, a=before["a"], b=before["v"])
    got = engine.fetch(flat.group_by(["k", "a", "b"]).agg(n_=flat.count()))
    return counted_steps(got), _named(time, times)


def _named(time: str, times: list[Any]) -> tuple[str, ...]:
    return tuple(f"{time} {t:g}" if isinstance(t, float) else f"{time} {t}" for t in times)
