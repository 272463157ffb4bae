"""Made-up rows of the same shape as a plan's table: its columns and their types, and what the plan itself says.

No value of the table is looked at. Groups are those the plan lists, numbers lie within its bounds, and the columns of
its conditions take the values the conditions name, so that every part of what is built on the answers gets something.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..data.tables.columns import as_read, column_of
from ..data.tables.conditions import parse, syntax
from ..data.tables.engines import need_ibis
from ..data.tables.table import open_table
from ..plan.file import about
from ..plan.needs import needs_of, owners_of
from ..plan.plan import Release
from ..plan.read import mentioned

ROWS = 2000
_EACH = 2  # rows a person
_SEED = 20261116


def made_up(plan: Release, table: Any = None, engine: Any = None, rows: int = ROWS) -> Any:
    """An Arrow table of made-up rows."""
    import pyarrow as pa

    with about("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        read = as_read(opened.table, plan.data.forms) if plan.data.read else opened.table
        for name in owners_of(plan.data):
            column_of(read, name, "person", "data.person")
        needs_of(read, plan)  # a column that is not there, or of another type, is refused as in a release
        kinds = {name: read.schema()[name] for name in read.columns if name in mentioned(plan)}
    rng = np.random.default_rng(_SEED)
    named = _named(plan)
    made = {}
    for name, kind in kinds.items():
        if name in (plan.data.person, plan.data.unit):
            people = max(rows // (_EACH if name == plan.data.person else 2 * _EACH), 1)
            made[name] = _ids(kind, rng.integers(0, people, rows))
            continue
        values = named.get(name, [])
        low, high = _bounds(plan, name)
        made[name] = pa.array([_value(rng, kind, values, low, high) for _ in range(rows)], _arrow(kind))
    return pa.table(made) if made else pa.table({"row": list(range(rows))})


def _arrow(kind: Any) -> Any:
    return need_ibis().schema({"x": kind}).to_pyarrow().field("x").type


def _ids(kind: Any, numbers: Any) -> Any:
    import pyarrow as pa

    if kind.is_string():
        return pa.array([f"person {n}" for n in numbers])
    if kind.is_numeric():
        return pa.array(numbers.tolist()).cast(_arrow(kind))
    return pa.array([f"person {n}" for n in numbers])


def _named(plan: Release) -> dict[str, list[Any]]:
    """The values that the plan names of each column: its groups, and what its conditions compare with."""
    found: dict[str, list[Any]] = {}
    for query in plan.queries:
        for label in query.labels or ():
            for name, part in zip(query.split_by, label, strict=True):
                found.setdefault(name, []).append(part)
        where = query.planned().where
        for name, value in _compared(where) if where else ():
            found.setdefault(name, []).append(value)
    for name, value in _compared(plan.data.hidden.where) if plan.data.hidden is not None else ():
        found.setdefault(name, []).append(value)
    return found


def _compared(where: str) -> list[tuple[str, Any]]:
    exp, made = syntax(), []
    for node in parse(where, "where").find_all(exp.Predicate):
        columns = [c.name for c in node.find_all(exp.Column)]
        for literal in node.find_all(exp.Literal):
            value: Any = literal.this
            if not literal.is_string:
                number = float(value)
                made += [(name, near) for name in columns for near in (number - 1, number, number + 1)]
                continue
            made += [(name, value) for name in columns]
    return made


def _bounds(plan: Release, name: str) -> tuple[float, float]:
    bounds = [q.bounds for q in plan.queries if q.bounds is not None and q.planned().column == name]
    return (min(b[0] for b in bounds), max(b[1] for b in bounds)) if bounds else (0.0, 10.0)


def _value(rng: np.random.Generator, kind: Any, values: list[Any], low: float, high: float) -> Any:
    if values and rng.random() < 0.7:
        found = _as(values[int(rng.integers(len(values)))], kind)
        if found is not None or rng.random() < 0.5:
            return found
    if kind.is_boolean():
        return bool(rng.integers(2))
    if kind.is_integer():
        least, most = _integer_range(kind)
        first = min(max(math.ceil(low), least), most)
        return int(rng.integers(first, max(min(math.floor(high), most), first), endpoint=True))
    if kind.is_numeric():
        return _as(float(rng.uniform(low, high)), kind)
    if kind.is_string():
        return f"group {int(rng.integers(1, 4))}"
    return None


def _integer_range(kind: Any) -> tuple[int, int]:
    """What a column of whole numbers holds."""
    held = np.iinfo(kind.to_numpy())
    return int(held.min), int(held.max)


def _as(value: Any, kind: Any) -> Any:
    """A value the plan names, as the column has it; None where it does not fit."""
    from decimal import Decimal

    try:
        if kind.is_string():
            return None if value is None else str(value)
        if kind.is_boolean():
            return bool(value)
        if kind.is_integer():
            least, most = _integer_range(kind)
            return int(value) if least <= int(value) <= most else None
        if kind.is_decimal():
            return round(Decimal(str(value)), kind.scale or 0)
        if kind.is_numeric():
            return float(value)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return None
