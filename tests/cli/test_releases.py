"""``epsilens release`` as people run it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run

pytest.importorskip("opendp")

PLAN = """\
title: People by group
data:
  table: {table}
  person: who
queries:
  - count: true
    by: site
    groups: [a, b]
mechanism: {{epsilon: {epsilon}}}
limits: {{success: {success}}}
"""


def call(*arguments: str) -> int:
    return run(typer.main.get_command(app), ["release", *arguments])


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("who,site\n" + "".join(f"{i},{'ab'[i % 3 == 0]}\n" for i in range(300)))
    return written()


def written(epsilon: float = 0.5, success: float = 0.7) -> str:
    Path("plan.yaml").write_text(PLAN.format(table="people.csv", epsilon=epsilon, success=success))
    return "plan.yaml"


def test_it_says_what_it_promises_and_where_it_is_entered(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(plan, "--output", "answers.csv") == 0
    shown = capsys.readouterr()
    out = " ".join(shown.out.split())
    assert out.startswith("An adversary who knows everything else guesses right at most")
    assert "whether somebody is in the table" in out
    assert "a coin gets 50" in out
    assert "ledger ledger.db, account 'everyone'" in shown.err
    assert Path("ledger.db").exists()
    assert "site,answer,low,high" in Path("answers.csv").read_text()
    assert call(plan, "--output", "answers.json") == 0
    assert "published before" in " ".join(capsys.readouterr().out.split())
    assert json.loads(Path("answers.json").read_text())["kind"] == "saved"


def test_a_limit_refuses_with_a_code_of_its_own(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(written(success=0.51), "--output", "answers.csv") == 4
    assert "breaks its own limits" in capsys.readouterr().err
    assert not Path("answers.csv").exists()
    assert not Path("ledger.db").exists()


def test_nothing_happens_in_a_dry_run(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(plan, "--dry-run") == 0
    assert "Nothing was looked at, drawn or spent" in " ".join(capsys.readouterr().out.split())
    assert sorted(p.name for p in Path().iterdir()) == ["people.csv", "plan.yaml"]


def test_made_up_rows(plan: str) -> None:
    assert call(plan, "--synthetic", "--output", "x.csv") == 0
    assert Path("x.csv").read_text().startswith("# MADE UP")
    assert not Path("ledger.db").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--output is missing"),
        (["--output", "nowhere/x.csv"], "No such file or directory"),
        (["--output", "x.csv", "--ledger", "mysql://h/db"], "give a file of SQLite"),
        (["--output", "x.csv", "--ledger", "people.csv"], "is no database"),
        (["--output", "x.csv", "--account", " "], "account is empty"),
        (["--output", "x.csv", "--part", "north"], "has no declared parts"),
    ],
)
def test_bad_input_is_one_sentence_and_costs_nothing(
    plan: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(plan, *options) in (2, 4)
    err = capsys.readouterr().err
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    assert not Path("x.csv").exists()


# -- ledgers that cannot be used, and plans that are not what they were: one sentence, a code, nothing spent -----------


def spoilt(kind: str) -> str:
    """A ledger that is not to be written to."""
    if kind == "unreachable":
        return "postgresql://me:hush@127.0.0.1:1/clinic"
    path = Path("other.db")
    if kind == "foreign":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE visits (x)")
        return str(path)
    el.Ledger(path).limit("everyone", epsilon=5.0)
    if kind == "read-only":
        raw = bytearray(path.read_bytes())
        raw[18] = 3  # a version of the format that may be read, not written: read-only even for root
        path.write_bytes(raw)
    if kind == "newer":
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE epsilens_ledger SET body = replace(body, '\"version\":1', '\"version\":2')")
    return str(path)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("unreachable", "cannot be reached: check the address and that the server runs"),
        ("foreign", "is a database of something else: give another name"),
        ("read-only", "cannot be written to: ask for the right to write"),
        ("newer", "was written by a newer epsilens: install that version"),
    ],
)
def test_a_ledger_that_cannot_be_used_costs_nothing(
    plan: str, kind: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = spoilt(kind)
    before = Path(ledger).read_bytes() if Path(ledger).exists() else b""
    for options in (["--output", "x.csv"], ["--dry-run"]):
        if (kind, options) == ("read-only", ["--dry-run"]):
            continue  # which writes nothing
        assert call(plan, *options, "--ledger", ledger) == 2
        err = " ".join(capsys.readouterr().err.split())
        assert said in err
        assert "hush" not in err
        assert "Traceback" not in err
    assert not Path("x.csv").exists()
    assert (Path(ledger).read_bytes() if before else b"") == before


def test_a_limit_below_what_is_spent(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(plan, "--output", "x.csv") == 0
    before = el.Ledger("ledger.db").export()
    capsys.readouterr()
    command = ["ledger", "limit", "--epsilon", "0.3"]
    assert run(typer.main.get_command(app), command) == 2
    assert "but for 'everyone' 0.5 is spent already" in " ".join(capsys.readouterr().err.split())
    assert el.Ledger("ledger.db").export() == before


def test_a_limit_that_is_used_up_refuses(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    el.Ledger("ledger.db").limit("everyone", epsilon=0.4)
    before = el.Ledger("ledger.db").export()
    for options in (["--output", "x.csv"], ["--dry-run"]):
        assert call(plan, *options) == 4
        assert "the ledger allows ε = 0.4" in " ".join(capsys.readouterr().err.split())
    assert el.Ledger("ledger.db").export() == before
    assert not Path("x.csv").exists()


def test_an_assessment_over_a_limit_refuses(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    """How large the errors are is the table's: only an assessment that is handed in refuses for it."""
    noisy = written()
    Path(noisy).write_text(Path(noisy).read_text().replace("limits: {", "limits: {error: 0.000001, "))
    assert run(typer.main.get_command(app), ["assess", noisy, "--format", "json", "--output", "was.json"]) == 3
    assert call(noisy, "--output", "x.csv", "--assessed", "was.json") == 4
    assert "breaks its own limits in 'was.json'" in " ".join(capsys.readouterr().err.split())
    assert not Path("x.csv").exists()
    assert call(noisy, "--output", "x.csv") == 0


def test_a_plan_that_changed_since_it_was_assessed(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(typer.main.get_command(app), ["assess", plan, "--format", "json", "--output", "was.json"]) == 0
    written(epsilon=0.6)
    for options in (["--output", "x.csv"], ["--dry-run"], ["--script"]):
        assert call(plan, *options, "--assessed", "was.json") == 2
        assert "not the one that was assessed in 'was.json'" in " ".join(capsys.readouterr().err.split())
    assert not Path("x.csv").exists()
    assert not Path("ledger.db").exists()
    written()
    assert call(plan, "--output", "x.csv", "--assessed", "was.json") == 0


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"reproduce": 7}', "plan: x"])
def test_what_is_no_assessment_is_told(plan: str, content: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        Path("was.json").write_text(content)
    assert call(plan, "--output", "x.csv", "--assessed", "was.json") == 2
    assert "which is no assessment" in " ".join(capsys.readouterr().err.split())
    assert not Path("ledger.db").exists()
