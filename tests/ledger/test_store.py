"""Where ledgers lie: files, servers, and what is none of them; each trouble is one sentence, and nothing is spent."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.engines.server import Server
from tests.ledger.trials import run_trial

import epsilens as el
from epsilens.ledger import store as module
from epsilens.ledger.budget import charge_of
from epsilens.ledger.ledger import Reservation
from epsilens.ledger.store import EntryKind, LedgerEntry, Store, canonical_json

LAPLACE = el.laplace(epsilon=0.1)


def sentence(wrong: pytest.ExceptionInfo[el.InputError]) -> str:
    said = str(wrong.value)
    assert "\n" not in said
    assert len(said) < 400
    assert wrong.value.parameter in ("ledger", "table", "account")
    return said


def changed(url: str, server: Server | None, statement: str, *values: Any) -> None:
    """What somebody else does to a ledger."""
    if server is None:
        with sqlite3.connect(url) as connection:
            connection.execute(statement, values)
    else:
        with server.connect() as connection:
            connection.execute(statement.replace("?", "%s"), values)


# -- opening ------------------------------------------------------------------------------------------------------


def test_looking_makes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    made = Store(path)
    assert not made.exists
    assert made.read() == []
    assert not path.exists()


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    el.Ledger(tmp_path / "ledger.db").limit("patients", psi=1.0)
    assert stat.S_IMODE((tmp_path / "ledger.db").stat().st_mode) == 0o600  # it holds the key of its hashes


def test_a_name_may_be_anything(tmp_path: Path) -> None:
    for name in ("été 2026.db", "a'b;--.db", "percent%20.db", "hash#x.db", "ledger"):
        el.Ledger(tmp_path / name).limit("patients", psi=1.0)
        assert (tmp_path / name).is_file()
    el.Ledger(f"sqlite://{tmp_path}/by address.db").limit("patients", psi=1.0)
    assert (tmp_path / "by address.db").is_file()


@pytest.mark.parametrize("url", ["", "  ", ".", ":memory:", "a\0b", "x" * 5000, "sqlite://", "~nobody-here/x.db"])
def test_no_file(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(el.InputError) as wrong:
        el.Ledger(url).limit("patients", psi=1.0)
    sentence(wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match="the name of a file") as wrong:
        el.Ledger(tmp_path)
    sentence(wrong)
    with pytest.raises(el.InputError, match="check that the folder exists") as wrong:
        el.Ledger(tmp_path / "no" / "ledger.db").limit("patients", psi=1.0)
    sentence(wrong)


@pytest.mark.parametrize("url", ["mysql://host/db", "http://example.org/ledger.db", "duckdb://x.db"])
def test_other_databases(url: str) -> None:
    with pytest.raises(el.InputError, match="a file of SQLite") as wrong:
        el.Ledger(url)
    sentence(wrong)


@pytest.mark.parametrize("content", [b"who,age\na,30\n" * 100, os.urandom(4096), b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    ledger = el.Ledger(path)
    for act in (lambda: ledger.limit("patients", psi=1.0), ledger.accounts, ledger.check):
        with pytest.raises(el.InputError) as wrong:
            act()
        sentence(wrong)
    assert path.read_bytes() == content


def test_a_foreign_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "clinic.db"
    changed(str(path), None, "CREATE TABLE visits (who TEXT)")
    before = path.read_bytes()
    with pytest.raises(el.InputError, match="something else") as wrong:
        el.Ledger(path).limit("patients", psi=1.0)
    sentence(wrong)
    changed(str(path), None, "CREATE TABLE epsilens_ledger (seq INTEGER, people TEXT)")
    with pytest.raises(el.InputError, match="is no ledger, it lacks"):
        el.Ledger(path).limit("patients", psi=1.0)
    assert before  # the table of visits stays as it was
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM visits").fetchone() == (0,)


def test_a_read_only_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = el.Ledger(path)
    ledger.limit("patients", psi=1.0)
    raw = bytearray(path.read_bytes())
    raw[18] = 3  # a version of the format that may be read, not written: read-only even for root
    path.write_bytes(raw)
    with pytest.raises(el.InputError, match="cannot be written to") as wrong:
        ledger.add("patients", LAPLACE)
    sentence(wrong)
    assert ledger.account("patients").counted == ()


def test_a_file_held_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.2)
    path = tmp_path / "ledger.db"
    ledger = el.Ledger(path)
    ledger.limit("patients", psi=1.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(el.InputError, match="held by another writer") as wrong:
        ledger.add("patients", LAPLACE)
    sentence(wrong)
    assert ledger.account("patients").counted == ()  # reading goes on
    other.execute("ROLLBACK")
    ledger.add("patients", LAPLACE)
    other.close()


# -- PostgreSQL ---------------------------------------------------------------------------------------------------


def test_an_unreachable_server() -> None:
    for url in ("postgresql://me:hush@127.0.0.1:1/clinic", "postgresql://me:hush@no-such-host.invalid/clinic"):
        with pytest.raises(el.InputError, match="cannot be reached") as wrong:
            el.Ledger(url).limit("patients", psi=1.0)
        assert "hush" not in sentence(wrong)


@pytest.mark.parametrize("url", ["postgresql://host:port/db", "postgresql://host/db#visits"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(el.InputError) as wrong:
        el.Ledger(url)
    sentence(wrong)


def test_a_database_that_is_not_there(server: Server) -> None:
    url = server.url().replace("/postgres?", "/nowhere?")
    with pytest.raises(el.InputError, match="is not there") as wrong:
        el.Ledger(url).limit("patients", psi=1.0)
    sentence(wrong)


def test_a_server_that_lets_nobody_write(server: Server) -> None:
    with server.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS epsilens_ledger")
    el.Ledger(server.url()).limit("patients", psi=1.0)
    with server.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON epsilens_ledger TO reader")
    theirs = el.Ledger(server.url().replace("epsilens@", "reader@"))
    assert theirs.account("patients").limits is not None
    with pytest.raises(el.InputError, match="may not be used by this user") as wrong:
        theirs.add("patients", LAPLACE)
    sentence(wrong)
    with server.connect() as connection:
        connection.execute("DROP OWNED BY reader")
        connection.execute("DROP ROLE reader")


@pytest.mark.always
def test_a_server_held_by_another(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 1)
    ledger = el.Ledger(server.url())
    with server.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS epsilens_ledger")
        connection.execute(f"SELECT pg_advisory_lock({module._LOCK})")
        with pytest.raises(el.InputError, match="held by another writer") as wrong:
            ledger.limit("patients", psi=1.0)
        sentence(wrong)
    assert not ledger.store.exists


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_server_with_other_habits(server: Server, level: str) -> None:
    """Under these a transaction would see what there was when it began to wait for the lock."""
    with server.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS epsilens_ledger")
        connection.execute(f"ALTER DATABASE postgres SET default_transaction_isolation = '{level}'")
    try:
        found = run_trial(server.url(), 7)
        assert found.wrong == []
    finally:
        with server.connect() as connection:
            connection.execute("ALTER DATABASE postgres RESET default_transaction_isolation")


def test_what_is_committed_outlives_a_loss_of_power(server: Server, tmp_path: Path) -> None:
    made = Store(tmp_path / "ledger.db")
    with made.writing("patients") as writer:
        assert writer._connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3
    with server.connect() as connection:
        connection.execute("ALTER DATABASE postgres SET synchronous_commit = off")
    try:
        with Store(server.url()).writing("patients") as writer:
            assert writer._connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    finally:
        with server.connect() as connection:
            connection.execute("ALTER DATABASE postgres RESET synchronous_commit")


# -- what is in it ------------------------------------------------------------------------------------------------


@pytest.fixture
def other(url: str, request: pytest.FixtureRequest) -> Server | None:
    """The server of the ledger, None for a file."""
    found: Server | None = request.getfixturevalue("server") if url.startswith("postgres") else None
    return found


def test_a_newer_ledger_is_not_touched(url: str, other: Server | None) -> None:
    ledger = el.Ledger(url)
    ledger.limit("doctors", psi=1.0)
    changed(
        url, other, "UPDATE epsilens_ledger SET body = replace(body, '\"version\":1', '\"version\":2'), kind = 'new'"
    )
    for act in (
        lambda: ledger.accounts(), lambda: ledger.check(), lambda: ledger.export(),
        lambda: ledger.add("patients", LAPLACE), lambda: ledger.limit("patients", psi=1.0),
    ):  # fmt: skip
        with pytest.raises(el.InputError, match="newer epsilens") as wrong:
            act()
        sentence(wrong)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        '{"version":"x"}',
        '{"version":1,"a":NaN}',
        '{"version":1,"a":' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_lines_that_cannot_be_read(url: str, other: Server | None, body: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", psi=1.0)
    changed(url, other, "UPDATE epsilens_ledger SET body = ?", body)
    with pytest.raises(el.InputError, match=r"line 1 of .* cannot be read") as wrong:
        ledger.accounts()
    sentence(wrong)
    with pytest.raises(el.InputError, match="cannot be read"):
        ledger.add("patients", LAPLACE)


def test_nothing_is_added_to_what_was_changed(url: str, other: Server | None) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", epsilon=0.3)
    ledger.add("patients", LAPLACE)
    changed(
        url,
        other,
        "UPDATE epsilens_ledger SET body = replace(body, '\"epsilon\":0.3', '\"epsilon\":9.3') WHERE seq = 1",
    )
    with pytest.raises(el.InputError, match=r"line 1 of .* is not as it was written") as wrong:
        ledger.add("patients", LAPLACE)
    sentence(wrong)
    ledger.limit("doctors", psi=1.0)  # theirs is as it was


def test_no_two_lines_follow_the_same_one(url: str, other: Server | None) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", psi=1.0)
    copy = (
        "INSERT INTO epsilens_ledger (seq, people, kind, release, body, previous, hash) "
        "SELECT seq + 100, people, kind, release, body, previous, hash FROM epsilens_ledger"
    )
    with pytest.raises(Exception, match=r"(?i)unique"):
        changed(url, other, copy)


def test_names_are_values_not_statements(url: str) -> None:
    ledger = el.Ledger(url)
    name = "x'); DROP TABLE epsilens_ledger; --"
    ledger.limit(name, psi=1.0)
    ledger.add(name, LAPLACE, title=name)
    assert list(ledger.accounts()) == [name]
    assert ledger.account("x' OR '1'='1").releases == ()


def test_a_line_is_read_as_it_was_written(url: str) -> None:
    made = Store(url)
    body = {"b": (1, 2), "counts": {10: "ten", 2: "two"}, "é": "𝔘", "s": "tab\tnul\0 end"}
    with made.writing("patients") as writer:
        entry = writer.append(EntryKind.ADDED, "1", body)
    (again,) = made.read()
    assert again == entry
    assert again.hash == again.kept
    with pytest.raises(el.InputError, match="do not exist"), made.writing("patients") as writer:
        writer.append(EntryKind.ADDED, "2", {"title": "\ud800"})
    assert len(made.read()) == 1


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_four_writers_that_are_killed(url: str, seed: int) -> None:
    """A small share of ``python -m scripts.ledger_trials 1000``."""
    assert run_trial(url, seed).wrong == []


def test_a_damaged_byte_is_told_in_one_sentence(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "whole.db")
    ledger.limit("patients", success=0.65)
    ledger.add("patients", LAPLACE)
    whole = (tmp_path / "whole.db").read_bytes()
    schema, body = whole.index(b"CREATE TABLE"), whole.index(b'"parts"')
    told = 0
    for place in (*range(schema, schema + 420, 21), *range(body, body + 90, 3)):
        for flip in (0x80, 0x01):
            damaged = bytearray(whole)
            damaged[place] ^= flip
            (tmp_path / "damaged.db").write_bytes(damaged)
            try:
                el.Ledger(tmp_path / "damaged.db").account("patients").experiment  # noqa: B018
            except el.InputError:
                told += 1
    assert told > 40


def test_what_was_published_is_given_again_as_it_was_written(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.keyed("")  # a release makes the key before it asks
    taken = ledger.reserve("patients", LAPLACE, charge_of(LAPLACE), plan={}, identity={"plan": 1})
    assert isinstance(taken, Reservation)
    taken.publish(answers=[{"answer": 1234567.0}])
    found = ledger.saved("patients", {"plan": 1})
    assert found is not None
    assert found.published is not None
    assert found.published["answers"] == [{"answer": 1234567.0}]
    file = tmp_path / "ledger.db"
    file.write_bytes(file.read_bytes().replace(b"1234567", b"1234568"))
    with pytest.raises(el.InputError, match="not as it was written, so nothing is added or given again"):
        ledger.saved("patients", {"plan": 1})


def test_the_hash_is_over_the_whole_line() -> None:
    line = LedgerEntry("patients", EntryKind.ADDED, "1", {"b": 1, "a": 0.1}, "before")
    said = '["patients","added","1","{\\"a\\":0.1,\\"b\\":1}","before"]'
    assert line.hash == hashlib.sha256(said.encode()).hexdigest()
    others = (
        LedgerEntry("doctors", EntryKind.ADDED, "1", {"b": 1, "a": 0.1}, "before"),
        LedgerEntry("patients", EntryKind.VOID, "1", {"b": 1, "a": 0.1}, "before"),
        LedgerEntry("patients", EntryKind.ADDED, "2", {"b": 1, "a": 0.1}, "before"),
        LedgerEntry("patients", EntryKind.ADDED, "1", {"b": 1, "a": 0.2}, "before"),
        LedgerEntry("patients", EntryKind.ADDED, "1", {"b": 1, "a": 0.1}, "another"),
    )
    assert line.hash not in {other.hash for other in others}


def test_json_is_the_same_for_equal_values() -> None:
    assert canonical_json({"β": [1, None], "a": "é"}) == '{"a":"é","β":[1,null]}'
    assert canonical_json((1, 2)) == canonical_json([1, 2])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, b"x", object(), {(1, 2): 3}])
def test_what_cannot_be_written(bad: Any) -> None:
    with pytest.raises(el.InputError, match="words, finite numbers"):
        canonical_json({"a": bad})
