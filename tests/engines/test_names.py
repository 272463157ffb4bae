"""Tables with names no engine likes, views, other schemas, and what only PostgreSQL and SQLite store."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest
from tests.engines.places import Place, quoted
from tests.engines.server import Server

from epsilens.data.scan.scan import scan
from epsilens.data.tables.table import open_table
from epsilens.errors import EpsilensError
from epsilens.plan.answers import answers_of
from epsilens.plan.file import read_release

#: Columns under the names that the library uses itself, reserved words, signs of drivers, and 63 bytes twice.
NAMES = [
    "p", "q", "Q0", "q1", "g0_0", "m0", "k0", "x0", "c0", "n", "hash_", "part_", "number0_", "o", "h", "one", "lo",
    "Patient ID", "order", "user", "select", "a%b", "%(name)s", ":x", "a:b", "?", "a.b", "it's", "Größe", "患者",
    "a b  c", "x" * 62 + "1", "x" * 62 + "2", "people", "rows",
]  # fmt: skip


def named() -> pa.Table:
    """Row i has the value i % (j + 2) in column j."""
    return pa.table({name: [i % (j + 2) for i in range(40)] for j, name in enumerate(NAMES)})


def numbers(table: Any, engine: Any, where: str, by: str, total: str, person: str) -> dict[tuple[str, ...], Any]:
    plan = read_release(
        {
            "data": {"table": "t", "person": person, "max_rows": 2},
            "queries": [{"sum": total, "bounds": [0, 9], "by": by, "where": where}, {"count": where, "by": by}],
            "mechanism": {"epsilon": 1},
        }
    )
    with open_table(table, engine) as opened:
        sums, counts = answers_of(opened, plan)
    return {s.group: (s.value, c.value) for s, c in zip(sums, counts, strict=True)}


def test_names(place: Place) -> None:
    made = named()
    put = place.put(made, "Table of: 100% 患者")
    rows = made.to_pylist()
    columns = ["Patient ID", "order", "a%b", "a.b"]
    found = scan(put, columns, person="p", queries='sum "%(name)s" bounds 0 9 by "Q0"', engine=place.engine)
    owners: dict[Any, set[Any]] = {}
    for row in rows:
        owners.setdefault(tuple(row[c] for c in columns), set()).add(row["p"])
    assert found.isolated == len(set.union(set(), *(who for who in owners.values() if len(who) == 1)))
    everywhere = " AND ".join(f"{quoted(name)} >= 0" for name in NAMES)  # so that every column tells rows apart
    for person, by in (("p", "a.b"), ("Patient ID", "q"), ("x" * 62 + "1", "hash_"))[: 1 if place.engine else 3]:
        expected: dict[tuple[str, ...], int] = {}
        people: dict[tuple[str, ...], set[int]] = {}
        for row in rows:
            key = (str(row[by]),)
            expected[key] = expected.get(key, 0) + row["people"]
            people.setdefault(key, set()).add(row[person])
        got = numbers(put, place.engine, everywhere, by, "people", person)
        assert got == {key: (total, len(people[key])) for key, total in expected.items()}, person


@pytest.mark.always
def test_a_table_of_another_schema_and_a_view(server: Server, on_postgres: Place) -> None:
    made = pa.table({"who": ["a", "a", "b"], "age": [1, 2, 2]})
    url = on_postgres.put(made, "Visits", schema="My Clinic")
    name = url.rpartition("#")[2].rpartition(".")[2]
    with server.connect() as connection:
        connection.execute(f'CREATE VIEW "old ones" AS SELECT * FROM "My Clinic".{quoted(name)} WHERE age > 1')
    assert scan(server.url("old ones"), ["age"], person="who").people == 2
    assert scan(server.url("old ones", tcp=True), ["age"], person="who").rows == 2
    table = ibis.connect(server.url()).table(name, database="My Clinic")
    assert scan(table, ["age"], person="who").rows == 3
    table.get_backend().disconnect()


def test_types_that_only_postgres_has(server: Server) -> None:
    with server.connect() as connection:
        connection.execute(
            "CREATE TABLE odd (id uuid, money numeric, padded char(5), short varchar(3), small smallint, "
            "at time, zoned timestamptz, exact numeric(40, 2), day date)"
        )
        row = "(gen_random_uuid(), 1.5, 'a', 'b', 3, '10:00:00.5', '2024-07-01 12:00+02', 'NaN', '2024-01-01')"
        connection.execute(f"INSERT INTO odd VALUES {row}, {row}, (NULL, 'NaN', 'b', NULL, NULL, NULL, NULL, 7, NULL)")
    quasi = ["money", "padded", "short", "small", "at", "zoned", "exact", "day"]
    found = scan(server.url("odd"), quasi, queries="sum money bounds 0 10 by zoned", show_people=True)
    assert (found.rows, found.isolated) == (3, 1)
    assert found.shown[0]["money"] is None
    assert scan(server.url("odd"), ["id"], queries="count where zoned = '2024-07-01 10:00:00'").isolated == 3


STORED: list[tuple[Any, ...]] = [
    ("2024-02-29", "2024-02-29 10:00:00", 1, 5, "x", 1),
    ("2024-02-29T00:00:00", "2024-02-29T10:00:00", "true", "5", "X", 1.0),
    ("2024-03-01", "2024-02-29 12:00:00+02:00", "f", "", "y", ""),
    (None, 1709200800, None, None, None, "2.5"),
]


def stored(folder: Path, rows: list[tuple[Any, ...]]) -> str:
    path = folder / "odd.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE odd (day DATE, at TIMESTAMP, flag BOOLEAN, n INTEGER, s TEXT COLLATE NOCASE, x REAL)"
        )
        connection.executemany("INSERT INTO odd VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    return f"sqlite://{path}#odd"


def test_what_sqlite_stores(tmp_path: Path) -> None:
    """Dates in two spellings, flags as words, numbers as text, and a column that ignores capitals."""
    url = stored(tmp_path, STORED)
    with open_table(url) as opened:
        plan = read_release(
            {
                "data": {"table": "t"},
                "queries": [{"histogram": c} for c in ("day", "at", "flag", "n", "s", "x")],
                "mechanism": {"epsilon": 1},
            }
        )
        got = [{a.group[0]: a.value for a in each} for each in answers_of(opened, plan)]
    moment = dt.datetime(2024, 2, 29, 10)
    assert got == [
        {"2024-02-29": 2, "2024-03-01": 1, "(empty)": 1},
        {str(moment): 4},
        {"True": 2, "False": 1, "(empty)": 1},
        {"5": 2, "(empty)": 2},
        {"x": 1, "X": 1, "y": 1, "(empty)": 1},
        {"1.0": 2, "2.5": 1, "(empty)": 1},
    ]


@pytest.mark.parametrize("column", ["day", "at", "flag", "n", "x"])
def test_what_sqlite_should_not_store_is_refused_without_a_cell(tmp_path: Path, column: str) -> None:
    row = dict(zip(("day", "at", "flag", "n", "s", "x"), STORED[0], strict=True)) | {column: "Anna"}
    with pytest.raises(EpsilensError) as caught:
        scan(stored(tmp_path, [tuple(row.values())]), [column])
    assert "Anna" not in str(caught.value)


def test_a_long_table_comes_in_parts(on_postgres: Place, on_sqlite: Place) -> None:
    """More rows than are turned into Arrow at once, with whole numbers beyond 2⁵³ beside empty ones."""
    big = [None if i % 7 == 0 else 2**60 + i for i in range(120_001)]
    made = pa.table({"n": big})
    for place in (on_postgres, on_sqlite):
        with open_table(place.put(made)) as opened:
            parts = list(opened.engine.batches(opened.table))
            assert len(parts) == 3
            assert Counter(x for part in parts for x in part.column("n").to_pylist()) == Counter(big)
