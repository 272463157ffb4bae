"""``epsilens audit`` as people run it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.console import run

pytest.importorskip("opendp")

PLAN = """\
title: People by group
data: {table: people.csv, person: who}
queries:
  - {count: true, by: site, groups: [a, b]}
mechanism: {epsilon: 1}
"""


def call(*arguments: str) -> int:
    return run(typer.main.get_command(app), ["audit", *arguments])


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("who,site\n" + "".join(f"{i},{'ab'[i % 3 == 0]}\n" for i in range(30)))
    Path("plan.yaml").write_text(PLAN)
    return "plan.yaml"


def test_a_plan_is_held_against_its_promise(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(plan, "--runs", "120", "--pair", "at the bounds", "--confidence", "0.999999") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("No violation was found on one pair of tables in 120 runs")
    assert not Path("ledger.db").exists()


def test_a_violation_is_exit_code_4(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = call(plan, "--claim", "epsilon=0.1", "--pair", "at the bounds", "--seed", "1", "--format", "json")
    assert code == 4
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "VIOLATION"
    assert told["pairs"][0]["audit"]["epsilon_lo"] > 0.1


def test_bad_input_is_one_sentence(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        ((), "nothing to audit is named"),
        ((plan, "--command", "x"), "WHAT and --command are both named"),
        ((plan, "--resume", "x"), "--resume is not for a plan"),
        (("json:dumps", "--d0", "0", "--d1", "1"), "--claim is missing"),
        (("nowhere.yaml",), "which is no file"),
        ((plan, "--pair", "x"), "pairs has 'x'"),
        ((plan, "--runs", "0"), "runs is 0"),
        ((plan, "--claim", "x"), "there is no mechanism 'x'"),
        ((plan, "--confidence", "1"), "confidence"),
    ):
        assert call(*arguments) == 2
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1


def test_a_function_and_a_command_have_exit_codes(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("release.py").write_text("import shutil, sys\nshutil.copy(sys.argv[1], sys.argv[2])\n")
    rest = ("--claim", "epsilon=1", "--runs", "40")
    assert call("--command", f"{sys.executable} release.py {{table}} {{out}}", "--table", "people.csv", *rest) == 4
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("The claim is broken on the pair")
    assert call("builtins:len", "--d0", "[1]", "--d1", "[2]", "--jobs", "1", *rest) == 0
    assert "Every run gave the same answer" in " ".join(capsys.readouterr().out.split())
