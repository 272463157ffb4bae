"""One Arrow table on each engine, stored as people store tables there."""

from __future__ import annotations

import itertools
import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from tests.engines.server import Server

_POSTGRES = {
    "bool": "boolean", "int8": "smallint", "int16": "smallint", "int32": "integer", "int64": "bigint", "float": "real",
    "double": "double precision", "string": "text", "large_string": "text", "date32[day]": "date",
    "time64[us]": "time", "timestamp[us]": "timestamp", "timestamp[us, tz=UTC]": "timestamptz",
}  # fmt: skip
_SQLITE = {
    "bool": "BOOLEAN", "int8": "INTEGER", "int16": "INTEGER", "int32": "INTEGER", "int64": "BIGINT", "float": "REAL",
    "double": "DOUBLE", "string": "TEXT", "large_string": "TEXT", "date32[day]": "DATE", "time64[us]": "TIME",
    "timestamp[us]": "TIMESTAMP", "timestamp[us, tz=UTC]": "TIMESTAMPTZ",
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """An engine: ``put`` stores a table there and gives what ``scan(table, …, engine=place.engine)`` takes."""

    name: str
    put: Callable[..., Any]
    engine: str | None = None


def duckdb() -> Place:
    return Place("duckdb", lambda table, name="t": table)


def spark() -> Place:
    return Place("pyspark", lambda table, name="t": table, "spark")


def postgres(server: Server) -> Place:
    numbers = itertools.count()

    def put(table: pa.Table, name: str = "t", schema: str | None = None) -> str:
        made = f"{name}{next(numbers)}"
        full = f"{quoted(schema)}.{quoted(made)}" if schema else quoted(made)
        with server.connect() as connection, connection.cursor() as cursor:
            if schema:
                cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
            cursor.execute(f"CREATE TABLE {full} ({columns(table, _POSTGRES)})")
            with cursor.copy(f"COPY {full} FROM STDIN") as copy:
                for row in rows(table):
                    copy.write_row(row)
        return server.url(f"{schema}.{made}" if schema else made)

    return Place("postgres", put)


def sqlite(folder: Path) -> Place:
    numbers = itertools.count()

    def put(table: pa.Table, name: str = "t") -> str:
        path = folder / f"{next(numbers)}.db"
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE {quoted(name)} ({columns(table, _SQLITE)})")
            marks = ", ".join("?" * table.num_columns)
            stored = ([_stored(value) for value in row] for row in rows(table))
            connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", stored)
        connection.close()
        return f"sqlite://{path}#{name}"

    return Place("sqlite", put)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def columns(table: pa.Table, types: dict[str, str]) -> str:
    def kind(field: pa.Field) -> str:
        if pa.types.is_decimal(field.type):
            return f"DECIMAL({field.type.precision}, {field.type.scale})"
        return types[str(field.type)]

    return ", ".join(f"{quoted(field.name)} {kind(field)}" for field in table.schema)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _stored(value: Any) -> Any:
    """As SQLite's users store it: dates and times are text, booleans 0 and 1, NaN is nothing."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.isoformat(" ")
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def percent(text: str) -> str:
    """A name as it stands in an address."""
    return quote(text, safe="")
