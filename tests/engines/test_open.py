"""A real PostgreSQL server by its address: schemas, odd names, views, rights, and passwords that nobody sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.engines.server import Server

from epsilens.data.scan.scan import scan
from epsilens.data.tables.address import PASSWORD_VARIABLE, without_password
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

PASSWORD = "p@ss/w#rd:é%"
MARK = "XQZ4711"


@pytest.fixture(scope="session")
def clinic(server: Server) -> Server:
    """Tables of many kinds, and a user who needs a password and may not do much."""
    with server.connect() as connection:
        for statement in (
            "CREATE SCHEMA clinic",
            "CREATE TABLE clinic.visits AS SELECT g AS id, g % 7 AS site FROM generate_series(1, 70) g",
            "CREATE VIEW clinic.seen AS TABLE clinic.visits",
            "CREATE MATERIALIZED VIEW clinic.kept AS TABLE clinic.visits",
            'CREATE SCHEMA "We ird"',
            'CREATE TABLE "We ird"."ta.b""le" AS SELECT 1 AS a',
            "CREATE DOMAIN clinic.stay AS integer CHECK (value >= 0)",
            "CREATE TABLE clinic.domains (stay clinic.stay)",
            "INSERT INTO clinic.domains VALUES (1), (2), (2)",
            f"CREATE TABLE clinic.texts AS SELECT '{MARK}' AS v, 9223372036854775807 AS n",
            f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'",
            "GRANT USAGE ON SCHEMA clinic TO guarded",
            "GRANT SELECT ON clinic.visits TO guarded",
            "ALTER ROLE guarded SET search_path = public, clinic",
            "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
        ):
            connection.execute(statement)
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text(f"host all guarded 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        connection.execute("SELECT pg_reload_conf()")
    return server


def count(url: str, engine: Any = None) -> int:
    with open_table(url, engine) as opened:
        return int(opened.engine.fetch(opened.table).num_rows)


def said(url: Any, engine: Any = None) -> str:
    with pytest.raises(InputError) as error:
        count(url, engine)
    message = str(error.value)
    assert "\n" not in message
    assert PASSWORD not in message
    assert quote(PASSWORD, safe="") not in message
    return message


@pytest.mark.parametrize("table", ["clinic.visits", "clinic.seen", "clinic.kept", "postgres.clinic.visits"])
def test_other_schemas(clinic: Server, table: str) -> None:
    assert count(clinic.url(table)) == 70
    assert count(table, clinic.url()) == 70


@pytest.mark.parametrize("table", ['"We ird"."ta.b""le"', "We%20ird.%22ta.b%22%22le%22"])
def test_odd_names(clinic: Server, table: str) -> None:
    assert count(clinic.url(table)) == 1


def test_what_is_not_there(clinic: Server) -> None:
    assert "in the schema 'clinic'; end the address with #clinic.visits" in said(clinic.url("visits"))
    assert "no such table" in said(clinic.url("clinic.nothing"))
    assert "no such database" in said(clinic.url("t").replace("/postgres?", "/nothing?"))
    assert "no server answers" in said("postgres://me:hush@127.0.0.1:1/db#t")
    assert "reads only its own tables" in said({"a": [1]}, clinic.url())


def test_types_of_its_own_are_text(clinic: Server) -> None:
    assert scan(clinic.url("clinic.domains"), ["stay"]).isolated == 1


def address(clinic: Server, password: str | None) -> str:
    secret = "" if password is None else f":{password}"
    return f"postgres://guarded{secret}@127.0.0.1:{clinic.port}/postgres#visits"


def test_passwords(clinic: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PASSWORD_VARIABLE, "PGPASSWORD"):
        monkeypatch.delenv(name, raising=False)
    encoded = quote(PASSWORD, safe="")
    for written in (PASSWORD, encoded):
        assert count(address(clinic, written)) == 70
    assert "does not accept this user and password" in said(address(clinic, "hush"))
    bare = without_password(address(clinic, PASSWORD))
    assert bare == address(clinic, None)
    assert "asks for a password; set EPSILENS_PASSWORD" in said(bare)
    for name in (PASSWORD_VARIABLE, "PGPASSWORD"):
        with monkeypatch.context() as only:
            only.setenv(name, PASSWORD)
            assert count(bare) == 70
    monkeypatch.setenv("CLINIC_PW", PASSWORD)
    assert count(address(clinic, "${CLINIC_PW}")) == 70
    assert count(f"{bare.partition('#')[0]}?password={encoded}#visits") == 70


def test_a_user_with_few_rights(clinic: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    url = address(clinic, None)
    assert "permission is denied" in said(url.replace("#visits", "#clinic.texts"))
    assert scan(url, ["site"], queries=["count by site"]).people == 70  # without temporary tables


def test_no_cell_in_its_messages(clinic: Server, tmp_path: Path) -> None:
    with open_table(clinic.url("clinic.texts")) as opened:
        table = opened.table
        for trouble, words in (
            (table.mutate(x=table.v.cast("int64")), "does not fit"),
            (table.mutate(x=table.n + table.n), "too large"),
        ):
            for fetch in (opened.engine.fetch, lambda e: list(opened.engine.batches(e))):
                with pytest.raises(InputError, match=words) as error:
                    fetch(trouble)
                assert MARK not in str(error.value)
                assert error.value.__suppress_context__
