"""``epsilens correlate`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.console import run

YEARS = ["epsilens:rand-hie", "--columns", "visits", "--person", "person", "--time", "year", "--bounds", "0,20"]


def call(*arguments: str) -> int:
    return run(typer.main.get_command(app), ["correlate", *arguments])


@pytest.fixture
def table(tmp_path: Path) -> str:
    random = np.random.default_rng(1)
    x = random.multivariate_normal([0, 0, 0], [[1, 0.6, 0.3], [0.6, 1, 0.5], [0.3, 0.5, 1]], size=300)
    path = tmp_path / "people.csv"
    lines = ["mother,father,child", *(",".join(f"{v:.6f}" for v in row) for row in x)]
    path.write_text("\n".join(lines))
    return str(path)


def test_the_sentence_comes_first(capsys: pytest.CaptureFixture[str], table: str) -> None:
    assert call(table, "--columns", "mother, father,child", "--scale", "1") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("Someone who knows no other record can shift their odds about father by a factor of")
    assert "if the records were independent it would be 2.72 (74 of 100)." in out
    for part in ("How it compares", "number of known records", "Which records matter", "group privacy", "disclose"):
        assert part in out


@pytest.mark.parametrize("format", ["json", "md", "html"])
def test_formats(capsys: pytest.CaptureFixture[str], table: str, tmp_path: Path, format: str) -> None:
    made = tmp_path / "out"
    assert call(table, "--columns", "mother,father,child", "--format", format, "--output", str(made)) == 0
    text = made.read_text("utf-8")
    if format == "json":
        found = json.loads(text)
        assert found["worst"]["target_name"] == "father"
        assert len(found["by_known"]) == 3
        assert found["interval"]["high"] > found["worst"]["leakage"] > found["independent"] == 1
    elif format == "md":
        assert text.startswith("# Correlated records\n\nSomeone who knows")
        assert "| independent records | 1.0000 | 2.72 | 74 of 100 |" in text
    else:
        assert text.startswith("<!DOCTYPE html>")
        assert 'role="img"' in text


def test_a_linear_query_gaussian_noise_and_groups(capsys: pytest.CaptureFixture[str], table: str) -> None:
    columns = ["--columns", "mother,father,child"]
    assert call(table, *columns, "--query", "linear", "--weights", "1,0,-2", "--reach", "3", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["weights"] == [1, 0, -2]
    assert call(table, *columns, "--sigma", "2", "--no-own-noise", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["noise"] == {"kind": "gaussian", "width": 2}
    grouped = ["epsilens:rand-hie", "--columns", "visits", "--by", "person", "--size", "4", "--bounds", "0,20"]
    assert call(*grouped, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["related"]["groups"] == 5_912


def test_a_person_over_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*YEARS) == 0
    out = capsys.readouterr().out
    assert "4,328 people without a usable value at every time were left out." in out
    assert "1,584 people of epsilens:rand-hie" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "mother,,child"], "--columns is 'mother,,child': give column names separated by commas"),
        (["--columns", "mother"], "columns has one name, 'mother'"),
        (
            ["--columns", "mother,Child"],
            "columns has 'Child', which is not a column of the table (did you mean 'child'?)",
        ),
        (
            ["--columns", "mother,child", "--query", "median"],
            "--query is 'median': give 'sum', or 'linear' with --weights",
        ),
        (["--columns", "mother,child", "--weights", "1,2"], "give --query linear and --weights together"),
        (["--columns", "mother,child", "--scale", "x"], "--scale is 'x': give a number"),
        (["--columns", "mother,child", "--bounds", "1"], "bounds is [1.0]: give (lowest, highest)"),
        (["--columns", "mother,child", "--size", "2.5", "--by", "father"], "columns has 2 names: with by"),
        (["--columns", "mother,child", "--scale", "1", "--sigma", "1"], "give one of scale and sigma, not both"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], table: str, arguments: list[str], message: str) -> None:
    assert call(table, *arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
