"""``epsilens release`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.common import run

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
    assert "ledger ledger.db, account 'people of people.csv'" in shown.err
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
        (["--output", "x.csv", "--people", " "], "people is empty"),
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
