"""The list of what the papers define: every place it names is there, every expression runs, every value is the sheets'.

``docs/papers/items.tsv`` has the item, where it is, and a value from the reference sheets for the first expression.
"""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from epsilens.cli.app import app
from epsilens.papers.items import ERRATA, PREFACE

ROOT = Path(__file__).parents[2]
with (ROOT / "docs" / "papers" / "items.tsv").open(encoding="utf-8") as _file:
    ROWS = list(csv.DictReader(_file, delimiter="\t"))
CODE = re.compile(r"`([^`]+)`")


def _evaluated(expression: str) -> Any:
    names: dict[str, Any] = {}
    exec(PREFACE, names)
    here = os.getcwd()
    os.chdir(ROOT)  # examples are named from the root
    try:
        return eval(expression, names)
    finally:
        os.chdir(here)


def test_all_of_them_are_there_and_each_says_where() -> None:
    assert len(ROWS) == 103
    assert {row["state"] for row in ROWS} == {"works"}
    for row in ROWS:
        assert CODE.search(row["where"]), row["item"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['paper']} {row['item'][:40]}")
def test_its_place_is_there(row: dict[str, str]) -> None:
    expressions = [code for code in CODE.findall(row["where"]) if code.startswith(("el.", "papers.", "(lambda"))]
    made = [_evaluated(code) for code in expressions]
    if row["value"]:
        assert float(made[0]) == pytest.approx(float(row["value"]), rel=2e-6)
    known = {e.where for e in ERRATA[row["paper"]]}
    for part in row["where"].split("; "):
        assert not part.startswith("errata, ") or part.removeprefix("errata, ") in known


COMMANDS = sorted(
    {code for row in ROWS for code in CODE.findall(row["where"]) if re.match(r"epsilens (?!reproduce)", code)}
)


@pytest.mark.parametrize("line", COMMANDS)
def test_its_command_runs(line: str) -> None:
    ran = CliRunner().invoke(app, line.split()[1:])
    assert ran.exit_code == 0, ran.output
