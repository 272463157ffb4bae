"""What stays the same in all rows of a person: something about them, which others may know.

>>> from epsilens.data.tables.table import open_table
>>> visits = {"who": [i // 2 for i in range(60)], "kind": [i // 2 % 3 for i in range(60)], "day": list(range(60))}
>>> with open_table(visits) as opened:
...     steady_of(opened, "who", ["kind", "day"], {})
['kind']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..tables.columns import Form, as_read
from ..tables.engines import need_ibis
from ..tables.table import OpenTable, reading

_ROWS = 200_000  # enough to see it
_PEOPLE = 20  # people with several rows, below which nothing is said
_SAME = 0.95  # the share of them that must have one value
_MOST = 30  # columns that are looked at


def steady_of(opened: OpenTable, owner: str, names: Sequence[str], forms: Mapping[str, Form]) -> list[str] | None:
    """Those of the columns, read as their forms say, that nearly everybody has one value of; None where too few people
    have several rows to say so."""
    ibis = need_ibis()
    names = names[:_MOST]
    used = [owner, *names]
    with reading(opened):
        table = opened.table.select(*used).limit(_ROWS)
        table = as_read(table, {name: form for name, form in forms.items() if name in used})
        values = {f"v{i}": table[name].cast("string") for i, name in enumerate(names)}
        rows = table.select(whose=table[owner].cast("string"), **values)
        rows = rows.filter(rows["whose"].notnull())
        wanted = {"n": rows.count()}
        for v in values:
            wanted |= {f"low_{v}": rows[v].min(), f"high_{v}": rows[v].max()}
        each = rows.group_by("whose").agg(**wanted)
        each = each.filter(each["n"] > 1)
        totals = {"people": each.count()}
        for v in values:
            low, high = each[f"low_{v}"], each[f"high_{v}"]
            totals |= {f"held_{v}": low.count(), f"same_{v}": ibis.ifelse(low == high, 1, 0).sum()}
        got = opened.engine.fetch(each.aggregate(**totals)).to_pylist()[0]
    if got["people"] < _PEOPLE:
        return None
    held = {name: (got[f"held_v{i}"], got[f"same_v{i}"] or 0) for i, name in enumerate(names)}
    return [name for name, (people, same) in held.items() if people >= _PEOPLE and same >= _SAME * people]
