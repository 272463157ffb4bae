"""``epsilens identify``, and the coefficients of ``explain`` and ``choose``, as a person would run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run

COMMAND = typer.main.get_command(app)
PEOPLE = ["identify", "--n", "120", "--range", "0,60", "--sensitivity", "121"]


def call(*arguments: str) -> int:
    return run(COMMAND, arguments)


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("who,age,name\na,30,x\nb,34,y\nc,,z\nd,61,w\nd,4,w\n", encoding="utf-8")
    return str(path)


def test_it_leads_with_the_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*PEOPLE, "--epsilon", "5") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(
        "Among 120 people, an attacker who knows everyone's value could become 9.2% sure who is missing"
    )
    assert "a blind guess gives 1 of 120" in out
    assert "Reproduce: epsilens identify --n 120 --range 0,60 --sensitivity 121 --epsilon 5" in out


def test_json_is_the_library(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("identify", table, "--column", "age", "--epsilon", "2", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    want = el.attacks.identify([30, 34, 61, 4], epsilon=2.0)
    assert (got["schema"], got["n"]) == (1, 4)  # the empty age is left out
    assert got["posterior"] == pytest.approx(want.posterior, rel=1e-14)
    assert call("identify", table, "--column", "age", "--person", "who", "--epsilon", "2", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    assert got["posterior"] == pytest.approx(el.attacks.identify([30, 34, 65], epsilon=2.0).posterior, rel=1e-14)
    assert f"identify {table}" in got["command"]


def test_it_chooses_and_gates(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*PEOPLE, "--at-most", "posterior=0.1", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    assert got["epsilon"] == pytest.approx(121 / 60 * 2.5817, rel=1e-3)
    assert call(*PEOPLE, "--at-most", "posterior=0.1", "--epsilon", "9") == 4
    assert "Exceeded" in capsys.readouterr().out
    assert call(*PEOPLE, "--at-most", "posterior=0.001") == 3
    assert "blind guess" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["md", "html"])
def test_documents(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "<b>p|q.csv"
    path.write_text("x\n1\n2\n7\n", encoding="utf-8")
    assert call("identify", str(path), "--column", "x", "--epsilon", "1", "--format", form) == 0
    out = capsys.readouterr().out
    assert "missing" in out
    fetched = out.replace("http://www.w3.org/", "")  # the name of a namespace, which nothing fetches
    assert "http://" not in fetched
    assert "https://" not in fetched
    if form == "html":
        assert "<b>p" not in out
        assert out.count("<table") == 2
        assert 'aria-label="How sure the attacker can become' in out
        assert "Thick line: exact for these values." in out


def test_a_parquet_column_and_a_bundled_table(capsys: pytest.CaptureFixture[str]) -> None:
    bundled = ["identify", "epsilens:rand-hie", "--column", "visits", "--person", "person"]
    assert call(*bundled, "--epsilon", "1", "--query", "mean", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["n"] == 5912


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["identify", "--epsilon", "1"], "--n and --range"),
        (["identify", "--n", "5", "--range", "0,1"], "--epsilon is missing"),
        (["identify", "--n", "five", "--range", "0,1", "--epsilon", "1"], "--n is 'five'"),
        (["identify", "--n", "5", "--range", "0", "--epsilon", "1"], "--range"),
        (["identify", "--n", "5", "--range", "0,1,2", "--epsilon", "1"], "--range"),
        (["identify", "--n", "5", "--range", "0,nan", "--epsilon", "1"], "NaN"),
        (["identify", "--column", "x", "--epsilon", "1"], "--column"),
        (["identify", "epsilens:rand-hie", "--epsilon", "1"], "--column is missing"),
        (["identify", "epsilens:rand-hie", "--column", "agee", "--epsilon", "1"], "agee"),
        (["identify", "epsilens:rand-hie", "--column", "age", "--n", "5", "--epsilon", "1"], "--n or --range"),
        (["identify", "nowhere.csv", "--column", "age", "--epsilon", "1"], "nowhere.csv"),
        ([*PEOPLE, "--epsilon", "nan"], "NaN"),
        ([*PEOPLE, "--at-most", "auc=0.5"], "auc"),
        ([*PEOPLE, "--at-most", "0.5"], "--at-most"),
        ([*PEOPLE, "--epsilon", "1", "--query", "max"], "max"),
        (["explain", "laplace", "--epsilon", "1", "--rho-p", "0.75", "--rho-c", "0.6667"], "above 1"),
        (["explain", "laplace", "--epsilon", "1", "--rho-p", "0.2", "--prior", "0.5"], "--prior and --rho-p"),
        (["explain", "laplace", "--epsilon", "1", "--rho-c", "nan"], "NaN"),
        (["explain", "laplace", "--epsilon", "1", "--rho-t", "x"], "--rho-t is 'x'"),
        (["explain", "laplace", "--epsilon", "1", "--less-likely"], "--less-likely"),
        (["choose", "laplace", "--at-most", "auc=0.6", "--rho-p", "0.2"], "prior"),
        (["choose", "laplace", "--at-most", "success=0.6", "--rho-p", "0.2", "--prior", "0.5"], "--prior and --rho-p"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error


def test_text_columns_are_refused(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("identify", table, "--column", "name", "--epsilon", "1") == 2
    assert "column of numbers" in capsys.readouterr().err


def test_explain_with_coefficients(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--rho-p", "0.2", "--rho-c", "0.1", "--rho-t", "0.1"]
    assert call("explain", "laplace", "--epsilon", "2", *given, "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    assert got["arguments"]["prior"] == pytest.approx(1 / 1.458, rel=1e-14)
    assert got["readings"]["fbeta"] == pytest.approx(0.876470928684, abs=6e-13)
    assert got["readings"]["precision"] == pytest.approx(0.935261521507, abs=6e-13)
    assert "prior is at most 0.6859, from ρ_p = 0.2, ρ_c = 0.1 and ρ_t = 0.1" in got["sentence"]
    assert "--rho-p 0.2 --rho-c 0.1 --rho-t 0.1" in got["command"]
    assert call("explain", "laplace", "--epsilon", "2", "--rho-p", "0.2", "--less-likely", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["arguments"]["prior"] == pytest.approx(0.8 / 1.8, rel=1e-14)


def test_the_prior_leaves_the_rest_alone(capsys: pytest.CaptureFixture[str]) -> None:
    readings = []
    for given in ([], ["--rho-p", "0.3"]):
        assert call("explain", "gaussian", "--psi", "1", *given, "--format", "json") == 0
        readings.append(json.loads(capsys.readouterr().out)["readings"])
    for name in ("advantage", "auc", "recall", "epsilon_at_delta", "psi", "kl", "attack_success"):
        assert readings[0][name] == readings[1][name]
    assert readings[0]["precision"] < readings[1]["precision"]


def test_choose_with_coefficients(capsys: pytest.CaptureFixture[str]) -> None:
    """ε(F) = log(c·t(1+t)), t = F/(2(1−F)), c = .8."""
    import math

    assert call("choose", "laplace", "--at-most", "fbeta=0.9", "--rho-p", "0.2", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    t = 0.9 / 0.2
    assert got["choice"]["value"] == pytest.approx(math.log(0.8 * t * (1 + t)), rel=1e-12)
    assert "prior is 0.5556, from ρ_p = 0.2" in got["sentence"]
    for form in ("table", "md", "html"):
        assert call("choose", "laplace", "--at-most", "success=0.7", "--rho-p", "0.2", "--format", form) == 0
        assert "0.5556" in capsys.readouterr().out
