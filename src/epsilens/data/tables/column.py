"""One column of numbers out of a table: a value for each person."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...errors import InputError
from .open import column_of, open_table, value_of

__all__ = ["numbers_of"]

MOST_PEOPLE = 10_000_000


def numbers_of(data: Any, column: str, *, person: str | None = None, engine: Any = None) -> Array:
    """The column's numbers, one a row, or with ``person`` the sum of each person's rows; empty ones are left out.

    >>> numbers_of({"age": [30, None, 31]}, "age").tolist()
    [30.0, 31.0]
    """
    with open_table(data, engine) as opened:
        table = opened.table
        values = value_of(column_of(table, column, "column"), "column")
        if not values.type().is_numeric():
            raise InputError(
                f"column is {column!r} of type {values.type()}: give a column of numbers", parameter="column"
            )
        made: dict[str, Any] = {"x": values.cast("float64")}
        if person is not None:
            made["p"] = value_of(column_of(table, person, "person"), "person")
        rows = table.select(**made)
        rows = rows.filter(rows["x"].notnull())
        if person is not None:
            rows = rows.group_by("p").agg(x=rows["x"].sum()).select("x")
        got = opened.engine.fetch(rows.select("x").limit(MOST_PEOPLE + 1))
    if got.num_rows > MOST_PEOPLE:
        raise InputError(
            f"table has more than {MOST_PEOPLE:,} people: give n and the range of their values instead",
            parameter="table",
        )
    numbers = np.asarray(got.column("x").to_pylist(), dtype=float)
    if numbers.size < 2:
        raise InputError(
            f"column is {column!r} with {numbers.size} values: give a column with two people or more",
            parameter="column",
        )
    return numbers
