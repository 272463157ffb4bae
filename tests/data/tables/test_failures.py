"""What engines say when they fail quotes cells; what we say never does, and still says what to do."""

from __future__ import annotations

import errno
import logging
import sqlite3
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables.engines import Engine
from epsilens.data.tables.failures import Failure, engine_error, failure_of, failure_phrase
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

MARK = "XQZ4711"
NUMBER = 9_123_456_789_012_345_678
COLUMNS = {"v": [MARK, "2"], "n": [NUMBER, 1], "d": [f"2024-13-{MARK}", "2024-01-01"]}


def on_sqlite(path: Path) -> ibis.BaseBackend:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (v TEXT, n INTEGER, d TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(*COLUMNS.values(), strict=True))
    connection.close()
    return ibis.sqlite.connect(path)


#: Each makes an engine stumble over a cell, or over something it does not know.
TROUBLE: dict[str, Any] = {
    "text that is no number": lambda t: t.mutate(x=t.v.cast("int64")),
    "text that is no day": lambda t: t.mutate(x=t.d.cast("date")),
    "a number too large": lambda t: t.mutate(x=t.n * t.n),
    "a number too large for its type": lambda t: t.mutate(x=t.n.cast("int8")),
    "in a filter": lambda t: t.filter(t.n + t.n > 0),
    "in a sum": lambda t: t.agg(x=(t.n * 3).sum()),
    "a pattern out of cells": lambda t: t.mutate(x=t.v.re_search(t.v + "(")),
    "a table that is gone": lambda t: ibis.table({"v": "string"}, name=f"gone_{MARK}"),
}


@pytest.fixture(params=["duckdb", "sqlite"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Engine, Any]]:
    if request.param == "duckdb":
        with open_table(COLUMNS) as opened:
            yield opened.engine, opened.table
    else:
        connection = on_sqlite(tmp_path / "t.db")
        yield Engine(connection), connection.table("t")
        connection.disconnect()


@pytest.mark.parametrize("trouble", TROUBLE)
def test_no_cell_in_any_message(
    trouble: str, engine: tuple[Engine, Any], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    made, table = engine
    caplog.set_level(logging.DEBUG)
    said = ""  # SQLite takes much of this in silence
    try:
        made.fetch(TROUBLE[trouble](table))
    except InputError as error:
        said = "".join(traceback.format_exception(error))  # nor does a traceback show the engine's own words
    out = capfd.readouterr()
    for text in (said, out.out, out.err, caplog.text):
        assert MARK not in text
        assert str(NUMBER) not in text
        assert str(2 * NUMBER) not in text


def test_no_cell_in_the_messages_of_a_scan(engine: tuple[Engine, Any]) -> None:
    made, table = engine
    trouble = table.mutate(w=table.v.cast("int64")) if made.kind == "duckdb" else table.mutate(w=table.v.re_search("("))
    with pytest.raises(InputError) as error:
        scan(trouble, ["w"])
    assert MARK not in str(error.value)


def duck(query: str) -> Exception:
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '20MB'")
        connection.execute("SET max_temp_directory_size = '0KB'")
        with pytest.raises(duckdb.Error) as error:
            connection.execute(query)
    found: Exception = error.value
    return found


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("SELECT CAST('a' AS INTEGER)", Failure.VALUE),
        ("SELECT 9223372036854775807 + 1::BIGINT", Failure.RANGE),
        ("SELECT * FROM nothing", Failure.MISSING),
        ("SELECT * FROM '/no/such.parquet'", Failure.MISSING),
        ("ATTACH '/etc/passwd' AS x (TYPE duckdb, READ_ONLY)", Failure.DAMAGED),
        ("CREATE TABLE t AS SELECT range, hash(range) FROM range(100000000)", Failure.MEMORY),
    ],
)
def test_kinds_of_duckdb(query: str, kind: Failure) -> None:
    assert failure_of(duck(query)) in (kind, Failure.DISK if kind is Failure.MEMORY else kind)


def lite(code: int, text: str = "x") -> Exception:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


class ServerError(Exception):
    """As psycopg's errors are."""

    def __init__(self, sqlstate: str | None, text: str = MARK) -> None:
        super().__init__(text)
        self.sqlstate = sqlstate


class SparkError(Exception):
    """As pyspark's errors are."""

    def __init__(self, condition: str) -> None:
        super().__init__(f"[{condition}] The value '{MARK}' is malformed")
        self.condition = condition

    def getCondition(self) -> str:  # noqa: N802 - pyspark's name
        return self.condition


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), Failure.MEMORY),
        (OSError(errno.ENOSPC, "No space left on device"), Failure.DISK),
        (RuntimeError("java.io.IOException: No space left on device"), Failure.DISK),
        (RuntimeError("java.lang.OutOfMemoryError: Java heap space"), Failure.MEMORY),
        (RuntimeError("is bigger than spark.driver.maxResultSize (1024 MiB)"), Failure.RESULT),
        (lite(13), Failure.DISK),
        (lite(5), Failure.LOCKED),
        (lite(26), Failure.DAMAGED),
        (lite(1, "no such table: t"), Failure.MISSING),
        (ServerError("53100"), Failure.DISK),
        (ServerError("53200"), Failure.MEMORY),
        (ServerError("42501"), Failure.PERMISSION),
        (ServerError("42P01"), Failure.MISSING),
        (ServerError("22P02"), Failure.VALUE),
        (ServerError("22003"), Failure.RANGE),
        (ServerError("57P01"), Failure.LOST),
        (ServerError("28P01"), Failure.PASSWORD),
        (ServerError(None, 'connection failed: FATAL:  password authentication failed for user "x"'), Failure.PASSWORD),
        (ServerError(None, "connection failed: fe_sendauth: no password supplied"), Failure.NO_PASSWORD),
        (ServerError(None, 'FATAL:  database "x" does not exist'), Failure.NO_DATABASE),
        (ServerError(None, "connection to server failed: Connection refused"), Failure.UNREACHABLE),
        (ServerError(None, "server closed the connection unexpectedly"), Failure.LOST),
        (SparkError("CAST_INVALID_INPUT"), Failure.VALUE),
        (SparkError("ARITHMETIC_OVERFLOW"), Failure.RANGE),
        (SparkError("TABLE_OR_VIEW_NOT_FOUND"), Failure.MISSING),
        (KeyError(MARK), Failure.OTHER),
    ],
)
def test_kinds(error: Exception, kind: Failure) -> None:
    assert failure_of(error) is kind
    said = str(engine_error(error, "postgres://me:hush@host/db#visits", "postgres", ["age"]))
    assert MARK not in said
    assert "hush" not in said
    assert MARK not in failure_phrase(error)
    assert ";" in said  # what to do


def test_a_column_is_named_only_if_it_is_one() -> None:
    error = duckdb.ConversionException(f"Could not convert string '{MARK}' to INT32\nLINE 1: SELECT CAST(\"age\" AS …")
    assert "column 'age'" in str(engine_error(error, "t", "duckdb", ["age", "site"]))
    assert "column" not in str(engine_error(error, "t", "duckdb", ["site"])).partition(":")[2].partition(";")[0][:60]
