"""Databases by address: files are read and never made or changed, tables are found, passwords are asked for quietly."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables import address, engines
from epsilens.data.tables.address import Address, address_of
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError, MissingExtra


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("d #1.db") as made:
        made.execute("CREATE TABLE t AS SELECT range % 3 AS a FROM range(10)")
        made.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS SELECT 1 AS b, 2 AS c")
        made.execute('CREATE VIEW clinic.v AS FROM t; CREATE TABLE "odd.na""me" AS SELECT 1 AS a')
    with sqlite3.connect("s.db") as lite:
        lite.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        lite.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    lite.close()
    before = sorted(os.listdir(tmp_path))
    yield tmp_path
    assert sorted(os.listdir(tmp_path)) == before  # nothing was made


def columns(table: Any, engine: Any = None) -> list[str]:
    with open_table(table, engine) as opened:
        return list(opened.engine.fetch(opened.table).column_names)


def said(table: Any, engine: Any = None) -> str:
    with pytest.raises(InputError) as error:
        open_table(table, engine)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_tables_of_files(folder: Path) -> None:
    for url in ("duckdb://d #1.db#t", "duckdb://d%20%231.db#t", f"duckdb://{folder}/d #1.db#t", "sqlite://s.db"):
        assert columns(url)[0] == "a"
    assert columns("duckdb://d #1.db#clinic.visits") == ["b", "c"]
    assert columns("duckdb://d #1.db#clinic.v") == ["a"]
    assert columns('duckdb://d #1.db#odd.na"me') == ["a"]
    assert columns('duckdb://d #1.db#"odd.na""me"') == ["a"]
    assert columns("duckdb://d #1.db#odd%2Ena%22me") == ["a"]
    assert columns("clinic.visits", "duckdb://d #1.db") == ["b", "c"]
    assert columns("t", "sqlite://s.db") == ["a", "b"]
    assert "schema 'clinic'; end the address with #clinic.visits" in said("duckdb://d #1.db#visits")
    assert "did you mean 't'" in said("sqlite://s.db#tt")
    assert "3 tables" in said("duckdb://d #1.db") or "2 tables" in said("duckdb://d #1.db")


def test_a_table_before_a_folder_of_its_name(folder: Path) -> None:
    (folder / "t").mkdir()
    assert columns("t", "sqlite://s.db") == ["a", "b"]
    assert columns("t", "duckdb://d #1.db") == ["a"]
    (folder / "t").rmdir()


def test_files_that_are_not_there(folder: Path) -> None:
    for scheme in ("duckdb", "sqlite"):
        assert "no such file" in said(f"{scheme}://gone.db#t")
        assert "no such file" in said("t", f"{scheme}://gone.db")
        assert "a folder" in said(f"{scheme}://.#t")
        assert "name the file" in said(f"{scheme}://#t")
    assert "of another kind" in said("duckdb://s.db#t")
    assert "of another kind" in said("sqlite://d #1.db#t")


def test_files_and_frames_stay_out_of_databases(folder: Path) -> None:
    for table in ({"a": [1]}, "epsilens:adult"):
        assert "leave engine out" in said(table, "sqlite://s.db")
    assert columns({"a": [1]}, "duckdb://d #1.db") == ["a"]


def test_two_at_once_and_one_that_writes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "duckdb://d #1.db#t"
    with open_table(url) as one, open_table(url) as two:
        assert one.engine.fetch(one.table).num_rows == two.engine.fetch(two.table).num_rows == 10
    holds = "import duckdb; c = duckdb.connect('d #1.db'); print('ready', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert "another program is writing to it" in said(url)
        other.communicate(b"\n")
    lite = sqlite3.connect("s.db")
    lite.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.1))  # it would wait five seconds
    assert "another program" in said("sqlite://s.db#t")
    lite.close()


def test_files_that_cannot_be_written(folder: Path) -> None:
    for name in ("d #1.db", "s.db"):
        os.chmod(name, 0o444)
    os.chmod(folder, 0o555)
    try:
        assert scan("duckdb://d #1.db#t", ["a"]).people == 10
        assert columns("sqlite://s.db#t") == ["a", "b"]
    finally:
        os.chmod(folder, 0o755)


def test_a_connection_is_left_as_it_was(folder: Path) -> None:
    (folder / "c.csv").write_text("a\n1\n2\n")
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE own AS SELECT 1 AS a")

    def state() -> list[Any]:
        asked = ("duckdb_settings()", "duckdb_tables()", "duckdb_views() WHERE NOT internal")
        return [connection.con.execute(f"SELECT * FROM {what} ORDER BY ALL").fetchall() for what in asked]

    before = state()
    for table in ("own", {"a": [1, 2]}, "c.csv", "epsilens:adult"):
        quasi = ["age"] if table == "epsilens:adult" else ["a"]
        assert scan(table, quasi, queries=[f"count by {quasi[0]}"], engine=connection).people > 0
    assert state() == before
    connection.disconnect()
    (folder / "c.csv").unlink()


def test_an_engine_of_our_own_reaches_nothing_else(folder: Path) -> None:
    with open_table("epsilens:adult") as opened:
        inside = opened.engine.connection.con
        for query in (
            "FROM read_csv('/etc/passwd')",
            "FROM read_text('/etc/hostname')",
            "COPY (SELECT 1) TO 'leak.csv'",
            "ATTACH 'd #1.db' AS other",
            "INSTALL httpfs",
            "SET memory_limit = '64GB'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error, match=r"disabled|locked|Cannot access"):
                inside.execute(query)
        spilled = opened.engine.folder() / "x.parquet"
        inside.execute(f"COPY (SELECT 1) TO '{spilled}'")  # its own folder stays open to it
        assert opened.engine.fetch(opened.table.count().as_table()).num_rows == 1


# -- servers ------------------------------------------------------------------------------------------------------


class AskedError(Exception):
    """As a driver says it."""


def answering(monkeypatch: pytest.MonkeyPatch, password: str) -> list[str | None]:
    """A server that wants this password; what it was given."""
    given: list[str | None] = []

    def connected(scheme: str, address: Address) -> str:
        given.append(address.password)
        if address.password is None:
            raise AskedError("fe_sendauth: no password supplied")
        if address.password != password:
            raise AskedError("password authentication failed")
        return "connection"

    monkeypatch.setattr(engines, "_connect_scheme", connected)
    monkeypatch.delenv(address.PASSWORD_VARIABLE, raising=False)
    return given


URL = "postgres://me@host/db#t"


def test_passwords_from_the_address_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given = answering(monkeypatch, "p@ss")
    assert engines.server(address_of("postgres://me:p%40ss@host/db#t")) == "connection"
    monkeypatch.setenv(address.PASSWORD_VARIABLE, "p@ss")
    assert engines.server(address_of(URL)) == "connection"
    assert given == ["p@ss", None, "p@ss"]  # not given before it is asked for
    monkeypatch.setenv(address.PASSWORD_VARIABLE, "hush")
    with pytest.raises(InputError, match="does not accept") as error:
        engines.server(address_of(URL))
    assert "hush" not in str(error.value)


def test_a_prompt_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    given = answering(monkeypatch, "typed")
    with pytest.raises(InputError, match="asks for a password; set EPSILENS_PASSWORD"):
        engines.server(address_of(URL))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    order: list[str] = []

    def typed(prompt: str, stream: Any) -> str:
        order.append(prompt)
        return "typed"

    monkeypatch.setattr("getpass.getpass", typed)
    with address.pausing(lambda: order.append("stop"), lambda: order.append("start")):
        assert engines.server(address_of(URL)) == "connection"
    assert order == ["stop", "Password for me@host: ", "start"]
    assert given[-1] == "typed"


def test_a_missing_driver_is_named() -> None:
    with pytest.raises(MissingExtra, match=r"'mysqlclient': install it with  pip install 'epsilens\[mysql\]'"):
        open_table("mysql://me:hush@host/db#t")
    assert "pip install 'ibis-framework[oracle]'" in said("oracle://me:hush@host/db#t")
    message = said("mysql2://me:hush@host/db#t")
    assert "did you mean mysql://?" in message
    assert "hush" not in message


def test_files_far_away() -> None:
    for url in ("s3://bucket/x.parquet", "https://me:hush@host/x.csv?token=hush", "gs://bucket/folder/"):
        message = said(url)
        assert "download it first" in message
        assert "hush" not in message


def test_an_engine_beside_an_address(folder: Path) -> None:
    message = said("duckdb://d #1.db#t", "postgres://me:hush@host/db")
    assert "leave engine out" in message
    assert "hush" not in message
