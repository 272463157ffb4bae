"""Columns of an open table: by name, as values every engine agrees on, as numbers; and people counted once."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import InputError
from .dialect import is_nan, plain
from .engines import need_ibis
from .kept import in_hash_order, keep
from .open import open_table

MOST_PEOPLE = 10_000_000


def column_of(table: Any, name: Any, role: str, parameter: str | None = None) -> Any:
    """The column of that exact name, or a sentence that suggests the closest.

    >>> import ibis
    >>> column_of(ibis.table({"education": "string"}, name="t"), "Education", "quasi_identifiers")
    Traceback (most recent call last):
    epsilens.errors.InputError: quasi_identifiers has 'Education', which is not a column of the table (did you mean 'education'?)
    """  # noqa: E501 - the message is one sentence, on one line
    columns = list(table.columns)
    if isinstance(name, str) and name in columns:
        return table[name]
    same = [c for c in columns if c.casefold() == str(name).casefold()]
    close = same or get_close_matches(str(name), columns, n=1, cutoff=0.5)
    shown = ", ".join(map(repr, columns[:8])) + (", …" if len(columns) > 8 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"its columns are {shown}"
    raise InputError(f"{role} has {name!r}, which is not a column of the table ({hint})", parameter=parameter or role)


def value_of(column: Any, role: str) -> Any:
    """The column as a value an attacker can know, the same on every engine.

    NULL is a value of its own ("nothing recorded" is knowledge too). NaN becomes NULL and −0 becomes 0, because
    engines disagree on whether they equal themselves; times with a zone become those of UTC. Lists, structs, maps and
    bytes are refused.
    """
    ibis = need_ibis()
    name, column = column.get_name(), plain(column)
    kind = column.type()
    if kind.is_floating():
        return ibis.ifelse(is_nan(column), ibis.null(kind), column) + 0.0
    if kind.is_null():
        return ibis.null("string")
    if kind.is_uuid() or kind.is_interval():
        return column.cast("string")
    simple = (
        kind.is_string(),
        kind.is_integer(),
        kind.is_boolean(),
        kind.is_decimal(),
        kind.is_date(),
        kind.is_timestamp(),
        kind.is_time(),
    )
    if any(simple):
        return column
    raise InputError(
        f"{role} has {name!r} of type {kind}: give columns of text, numbers, booleans or dates, "
        "or derive one from it first",
        parameter=role,
    )


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
    numbers = np.asarray(got.column("x").to_numpy(), dtype=float)
    if numbers.size < 2:
        raise InputError(
            f"column is {column!r} with {numbers.size} values: give a column with two people or more",
            parameter="column",
        )
    return numbers


def counted_once(base: Any, groups: dict[int, int]) -> Any:
    """One row a person: for each query i whether they count (``m{i}``) and in which groups (``g{i}_j``).

    ``groups`` maps a query's number to how many columns it is split by. Someone in several groups of a query counts in
    the one with the smallest hash (:mod:`.kept`), so that one person moves the counts by one.
    """
    people = joined = base.select("p").distinct()
    made: dict[str, Any] = {"p": people["p"]}
    for i, columns in groups.items():  # one chain of joins: engines read only so many tables within tables
        keys = [f"g{i}_{j}" for j in range(columns)]
        own = base.filter(base[f"m{i}"]).select("p", *keys, f"m{i}").distinct()
        own = own.mutate(hash_=in_hash_order(own, ["p", *keys]))
        once = keep(own, {f"m{i}": 1}, keys)
        first = once.filter(once[f"kept_m{i}"])
        first = first.select(**{f"p_{i}": first["p"]}, **{key: first[key] for key in keys})
        joined = joined.left_join(first, people["p"] == first[f"p_{i}"])
        made |= {f"m{i}": first[f"p_{i}"].notnull(), **{key: first[key] for key in keys}}
    return joined.select(**made)
