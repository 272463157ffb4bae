"""``epsilens scan`` and ``epsilens difference`` as a person would run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run

COMMAND = typer.main.get_command(app)
RAND = ["scan", "epsilens:rand-hie", "--quasi", "site,age,female,black,education", "--person", "person"]


def call(*arguments: str) -> int:
    return run(COMMAND, arguments)


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("zip,age,income\n01234,30,10\n1234,30,20\n01234,31,30\n01234,31,40\n", encoding="utf-8")
    return str(path)


def test_scan_leads_with_the_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*RAND) == 0
    out = capsys.readouterr().out
    assert " ".join(out.split()).startswith("42 of 100 people in this table (2,475 of 5,912) are alone")
    assert "disclosure" in out


def test_scan_gates_a_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    query = [*RAND, "--max-rows", "5", "--query", "count where mental_visits > 0 by site", "--at-most", "success=0.55"]
    assert call(*query, "--epsilon", "1") == 4
    assert "over your limit" in " ".join(capsys.readouterr().out.split())
    assert call(*query, "--epsilon", "0.8") == 0
    assert "within your limit" in " ".join(capsys.readouterr().out.split())


def test_scan_json_equals_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--query", "sum visits bounds 0 77", "--max-rows", "5", "--epsilon", "1", "--at-most", "success=0.55"]
    assert call(*RAND, *arguments, "--known", "--format", "json") == 4
    got = json.loads(capsys.readouterr().out)
    risk = got["queries"][0]
    want = el.attacks.differencing(epsilon=1.0, gap=risk["gap"]["worst"], sensitivity=385, known=True).success()
    assert (got["schema"], got["isolated"], risk["sensitivity"]) == (1, 2475, 385)
    assert risk["success"]["worst"] == pytest.approx(want, rel=1e-12)
    assert got["shown"] == []


def test_scan_keeps_leading_zeros_and_hides_people(people: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("scan", people, "--quasi", "zip,age", "--format", "json") == 0
    hidden = capsys.readouterr().out
    assert json.loads(hidden)["isolated"] == 2  # 01234 and 1234 are different codes
    assert "01234" not in hidden
    assert call("scan", people, "--quasi", "zip,age", "--show-people") == 0
    assert "01234" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["md", "html"])
def test_scan_as_document(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text('"<b>a|b</b>",x\n1,2\n2,3\n', encoding="utf-8")
    assert call("scan", str(path), "--quasi", "<b>a|b</b>,x", "--format", form) == 0
    out = capsys.readouterr().out
    assert "<b>a" not in out
    assert "src=" not in out.replace("src:url(data:", "")
    assert "http://" not in out
    assert "https://" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scan", "nowhere.csv", "--quasi", "a"], "nowhere.csv"),
        (["scan", "epsilens:rand-hie", "--quasi", "agee"], "agee"),
        (["scan", "epsilens:rand-hie", "--quasi", "age,,site"], "--quasi"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--query", "count where (select 1) > 0"], "not allowed"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--query", "count", "--epsilon", "0"], "epsilon"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--at-most", "auc=0.6"], "success"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--at-most", "0.55"], "--at-most"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--known-columns", "1.5"], "--known-columns"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--max-rows", "nan"], "--max-rows"),
        (["scan", "epsilens:rand-hie", "--quasi", "age", "--engine", "abacus"], "abacus"),
        (["scan", "epsilens:rand-hie"], "--quasi"),
        (["difference"], "--epsilon"),
        (["difference", "--epsilon", "1", "--at-most", "success=0.6"], "--at-most"),
        (["difference", "--epsilon", "nan"], "NaN"),
        (["difference", "--epsilon", "1", "--noise", "gaussian"], "delta"),
        (["difference", "--epsilon", "1", "--n", "13"], "--value"),
        (["difference", "--epsilon", "1", "--narrow"], "--narrow"),
        (["difference", "--epsilon", "1", "--n", "13", "--value", "4", "--mean", "5", "--bounds", "0"], "--bounds"),
        (["difference", "--epsilon", "1", "--queries", "2.5"], "queries"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error


def test_difference_explains_and_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("difference", "--epsilon", "1", "--known", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["readings"]["success"] == pytest.approx(0.696734670144, abs=1e-11)
    assert call("difference", "--at-most", "success=0.55", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["choice"]["value"] == pytest.approx(0.804917288942, abs=1e-11)
    assert call("difference", "--at-most", "success=0.4") == 3


def test_difference_of_averages_says_what_it_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    average = ["--n", "2", "--value", "1", "--mean", "0.5", "--bounds", "0,1"]
    assert call("difference", "--epsilon", "0.1", *average) == 0
    assert "not 0.1-DP" in " ".join(capsys.readouterr().out.split())
