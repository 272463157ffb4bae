"""Neighbouring tables made from a table, for a pipeline whose plan nobody has written down.

Only one person's rows differ. The person is the one whose values the fewest others share; they are left out, given
values far beyond all others, none at all, or many rows, also with texts that nobody else has, and the rows come in
another order. Files are written as the table is: CSV or Parquet.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ..data.tables.open import open_table
from ..errors import InputError
from .pairs import Kind, Pair

#: The pairs that a table alone gives.
KINDS = (Kind.EXPOSED, Kind.BEYOND, Kind.MANY, Kind.MISSING, Kind.ORDER, Kind.OWN)
_MOST_ROWS = 1_000_000
_FAR = 100.0
_MANY = 20
_OWN = 300  # groups that nobody else is in
_SEED = 20261116


def pairs_from(table: Any, person: str | None = None, kinds: tuple[Kind, ...] = KINDS) -> list[Pair]:
    """The pairs of a table; ``person`` is the column that says whose row it is, without it each row is a person.

    >>> import pyarrow as pa
    >>> made = pairs_from(pa.table({"site": ["a", "a", "b"], "x": [1, 2, 3]}))
    >>> [(p.kind.value, p.first.num_rows, p.second.num_rows, p.second.column("x").to_pylist()[-1]) for p in made][:2]
    [('exposed', 2, 3, 3), ('beyond the bounds', 2, 3, 300)]
    """
    rows, schema = _read(table)
    if person is not None and person not in schema.names:
        raise InputError(
            f"person is {person[:60]!r}, which is no column of the table: it has {', '.join(schema.names[:12])}",
            parameter="person",
        )
    theirs, others = _exposed(rows, person)
    numeric = [f.name for f in schema if _is_number(f.type) and f.name != person]
    made = []
    for kind in kinds:
        changed = _placed(kind, rows, theirs, others, numeric, person, schema)
        if changed is not None:
            made.append(Pair(kind, _table(others, schema), _table(changed, schema)))
    return made


def written(table: Any, path: Path) -> Path:
    """The table as a file, CSV or Parquet by its ending."""
    if path.suffix.lower() in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    else:
        import pyarrow.csv as pc

        pc.write_csv(table, path)
    return path


def _read(table: Any) -> tuple[list[dict[str, Any]], Any]:
    with open_table(table) as opened:
        got = opened.engine.fetch(opened.table.limit(_MOST_ROWS + 1))
    if got.num_rows > _MOST_ROWS:
        raise InputError(
            f"table has more than {_MOST_ROWS:,} rows: give a smaller one, the pair matters more than its size",
            parameter="table",
        )
    if got.num_rows < 2:
        raise InputError("table has fewer than two rows: give one with several people", parameter="table")
    return got.to_pylist(), got.schema


def _table(rows: list[dict[str, Any]], schema: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=schema)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _texts(schema: Any, person: str) -> list[str]:
    """The columns of text, by which groups may be made."""
    return [f.name for f in schema if str(f.type).endswith("string") and f.name != person]


def _exposed(rows: list[dict[str, Any]], person: str | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of the person whose texts, then numbers, the fewest share; and those of all others."""
    names = [name for name in rows[0] if name != person]
    counts = {name: Counter(repr(row[name]) for row in rows) for name in names}

    def shared(row: dict[str, Any]) -> float:
        return math.fsum(math.log(counts[name][repr(row[name])]) for name in names)

    rarest = min(range(len(rows)), key=lambda i: shared(rows[i]))
    if person is None:
        return [rows[rarest]], rows[:rarest] + rows[rarest + 1 :]
    who = rows[rarest][person]
    return [r for r in rows if r[person] == who], [r for r in rows if r[person] != who]


def _placed(
    kind: Kind, rows: list[dict[str, Any]], theirs: list[dict[str, Any]], others: list[dict[str, Any]],
    numeric: list[str], person: str | None, schema: Any,
) -> list[dict[str, Any]] | None:  # fmt: skip
    """The table with the person, placed so; None where that is not possible."""
    match kind:
        case Kind.EXPOSED:
            return [*others, *theirs]
        case Kind.BEYOND if numeric:
            far = {name: _far(rows, name, schema) for name in numeric}
            return [*others, *({**row, **far} for row in theirs)]
        case Kind.MANY if person is not None:
            return [*others, *(dict(row) for row in theirs for _ in range(_MANY))]
        case Kind.OWN if person is not None and (texts := _texts(schema, person)):
            return [*others, *({**theirs[0], **dict.fromkeys(texts, f"own {i}")} for i in range(_OWN))]
        case Kind.MISSING if numeric:
            return [*others, *({**row, **dict.fromkeys(numeric)} for row in theirs)]
        case Kind.ORDER:
            order = np.random.default_rng(_SEED).permutation(len(rows)).tolist()
            return [[*theirs, *others][i] for i in order]
    return None


def _far(rows: list[dict[str, Any]], name: str, schema: Any) -> float | int:
    """A hundred times the largest size there is, within what the column's type holds."""
    most = max((abs(row[name]) for row in rows if row[name] is not None and math.isfinite(row[name])), default=1)
    kind = schema.field(name).type
    if str(kind).startswith(("int", "uint")):
        return min(int(_FAR) * max(int(most), 1), int(np.iinfo(kind.to_pandas_dtype()).max))
    return float(min(_FAR * max(most, 1.0), float(np.finfo(kind.to_pandas_dtype()).max)))
