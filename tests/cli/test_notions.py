"""``epsilens notions`` as a person would run it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import typer

from epsilens import notions as n
from epsilens.cli.app import app
from epsilens.cli.console import run

COMMAND = typer.main.get_command(app)


def call(*arguments: str) -> int:
    return run(COMMAND, ["notions", *arguments])


def words(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_lists_every_notion(capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 0
    out = words(capsys)
    assert out.startswith("The same ε means different things in different definitions.")
    assert "74 of 100 sure of it; before the release they were 50 of 100" in out
    assert all(notion.name in out for notion in n.NOTIONS.values())
    assert "Claims that do not hold" in out


def test_what_dp_promises(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--from", "dp", "--epsilon", "1", "--dependent", "3") == 0
    out = words(capsys)
    assert out.startswith("Differential privacy with ε = 1 says: an attacker who knows every other record")
    assert "at most 74 of 100 sure" in out
    assert "Inferential privacy 3 96 of 100 3·ε: at most 3 records depend on each other." in out
    assert "Reproduce: epsilens notions --from dp --epsilon 1 --dependent 3" in out


def test_what_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--to", "ip", "--epsilon", "1", "--dependent", "4") == 0
    assert "Differential privacy 0.25 4·ε" in words(capsys)


def test_json_equals_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--from", "dp", "--epsilon", "0.7", "--records", "20", "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    assert made["schema"] == 1
    assert made["even_odds_become_at_most"] == 1 / (1 + math.exp(-0.7))
    for found in made["promises"]:
        want = n.promise("dp", 0.7, found["promised"], dependent=1, records=20)
        assert found["promised_epsilon"] == want.promised_epsilon
    assert len(made["promises"]) == len(n.NOTIONS) - 1
    assert call("--from", "ip", "--epsilon", "1", "--to", "mp", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["conversion"]["promised_epsilon"] == 1
    assert call("--to", "mi", "--epsilon", "0.1", "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    enough = {c["given"]: c["given_epsilon"] for c in made["enough"]}
    assert enough["dp"] == n.convert("mi", 0.1, by="dp", dependent=1).given_epsilon
    assert call("--format", "json") == 0
    assert {x["key"] for x in json.loads(capsys.readouterr().out)["notions"]} == set(n.NOTIONS)


@pytest.mark.parametrize("form", ["md", "html", "table"])
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--from", "mp", "--epsilon", "1"],
        ["--to", "mi-marginal", "--epsilon", "0.01", "--priors", "every"],
        ["--from", "dp", "--to", "pufferfish", "--epsilon", "1e-12", "--records", "7", "--secrets", "any"],
        ["--from", "blowfish", "--to", "dp", "--epsilon", "700", "--diameter", "3"],
        ["--from", "dp", "--to", "dp", "--epsilon", "0"],
    ],
)
def test_formats(form: str, arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "out"
    assert call(*arguments, "--format", form, "--output", str(path)) == 0
    text = path.read_text("utf-8")
    assert "ε" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    if form == "html":
        assert text.count("<h1") == 1


def test_narrow_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert call("--from", "dp", "--epsilon", "1") == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines() if "Reproduce" not in line) <= 40


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--epsilon", "1"], 2, "--from"),
        (["--from", "dp"], 2, "--epsilon is missing"),
        (["--from", "joy", "--epsilon", "1"], 2, "from is 'joy'"),
        (["--from", "dp", "--to", "joy", "--epsilon", "1"], 2, "is 'joy'"),
        (["--from", "dp", "--epsilon", "x"], 2, "--epsilon"),
        (["--from", "dp", "--epsilon", "-1"], 2, "epsilon is -1"),
        (["--from", "dp", "--epsilon", "nan"], 2, "NaN"),
        (["--from", "dp", "--epsilon", "1", "--dependent", "0"], 2, "dependent is 0"),
        (["--from", "dp", "--epsilon", "1", "--dependent", "two"], 2, "--dependent"),
        (["--from", "dp", "--epsilon", "1", "--priors", "every", "--full"], 2, "full describes one prior"),
        (["--from", "ip", "--to", "dp", "--epsilon", "1"], 3, "exclusive or"),
        (["--from", "mi", "--to", "dp", "--epsilon", "1"], 3, "once in a million"),
        (["--from", "dp", "--to", "ip-database", "--epsilon", "1"], 2, "records is missing"),
    ],
)
def test_errors(arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*arguments) == code
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1
