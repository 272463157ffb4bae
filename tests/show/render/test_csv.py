"""CSV holds the numbers of the JSON, in full, and no text that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run
from epsilens.show.explanation import explain
from epsilens.show.render.text import to_csv


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(typer.main.get_command(app), arguments) == 0
    return capsys.readouterr().out


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["reading"]: row for row in read(ran(capsys, "explain", "laplace", "--epsilon", "1", "--format", "csv"))}
    assert float(rows["success"]["value"]) == 1 - math.exp(-0.5) / 2
    assert float(rows["success"]["without"]) == 0.5
    assert float(rows["posterior"]["value"]) == pytest.approx(math.e / (1 + math.e), rel=1e-15)


def test_what_has_no_bound(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {
        row["reading"]: row["value"]
        for row in read(ran(capsys, "explain", "gaussian", "--psi", "1", "--format", "csv"))
    }
    assert rows["epsilon"] == "inf"


def test_choose_begins_with_what_was_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    first = read(ran(capsys, "choose", "laplace", "--at-most", "success=0.55", "--format", "csv"))[0]
    assert first["reading"] == "chosen epsilon"
    assert float(first["value"]) == pytest.approx(-2 * math.log(0.9), rel=1e-12)


def test_the_rows_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("tamper", "--epsilon", "1", "--bias", "3")
    rows, data = read(ran(capsys, *asked, "--format", "csv")), json.loads(ran(capsys, *asked, "--format", "json"))
    assert [float(row["power"]) for row in rows] == [test["power"] for test in data["tests"]]


@pytest.mark.parametrize(
    "line",
    ["notions", "notions --from dp --epsilon 1", "identify --n 12 --range 0,60 --epsilon 1", "difference --epsilon 1",
     "scan epsilens:rand-hie --quasi age,site", "init epsilens:rand-hie", "tamper --epsilon 1"],
)  # fmt: skip
def test_every_command_has_it(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = read(ran(capsys, *line.split(), "--format", "csv"))
    assert rows
    assert all(None not in row and None not in row.values() for row in rows)


@pytest.mark.parametrize("text", ["=cmd|'/c calc'!A0", "+1", "-1", "@x", "\tx"])
def test_no_formula_from_a_table(text: str) -> None:
    rows = read(to_csv({"rows": [{"name": text, text: 1, "several": [text, "b"]}]}))
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for row in rows for cell in (*row, *row.values()))


@pytest.mark.parametrize("value", [0.1, 1e-300, -3.5, 12345678901234567890, 1 / 3])
def test_numbers_in_full(value: Any) -> None:
    assert type(value)(read(to_csv({"rows": [{"x": value}]}))[0]["x"]) == value


def test_quotes_and_lines() -> None:
    text = 'a "b", c\nd; é'
    assert read(to_csv({"rows": [{"x": text}]})) == [{"x": text}]


def test_a_result_has_it() -> None:
    assert explain(el.laplace(epsilon=1.0)).to_csv().startswith("reading,value,without\nsuccess,")
