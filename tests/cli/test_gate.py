"""The gate of docs/gate.md: the codes of every command, and the lines that are copied from there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

import epsilens
from epsilens.cli.app import app
from epsilens.cli.console import run

ROOT = Path(__file__).parents[2]
PLAN = """\
data: {{table: "{table}"}}
queries: [{{count: true}}]
mechanism: {{epsilon: {epsilon}}}
limits: {{success: {success}}}
"""


def ran(*arguments: str) -> int:
    return run(typer.main.get_command(app), arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age,site\n" + "".join(f"{20 + i},{i % 3}\n" for i in range(40)))
    return tmp_path


def plan(folder: Path, epsilon: float, success: float, name: str = "plan.yaml") -> str:
    file = folder / name
    file.write_text(PLAN.format(table=folder / "people.csv", epsilon=epsilon, success=success))
    return str(file)


@pytest.mark.parametrize(
    ("epsilon", "success", "code"), [(0.1, 0.6, 0), (5.0, 0.55, 4), (1.0, 0.45, 3), (-1.0, 0.6, 2), (1.0, 1.5, 2)]
)
def test_assess(folder: Path, epsilon: float, success: float, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("assess", plan(folder, epsilon, success)) == code
    out, err = capsys.readouterr()
    assert (out == "") == (code == 2)
    assert (err != "") == (code == 2)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("choose laplace --at-most success=0.6", 0),
        ("choose laplace --at-most success=0.4", 3),
        ("choose laplace --at-most success=high", 2),
        ("choose laplace --at-most success=0.4 --sweep sensitivity=1,2", 3),
        ("difference --at-most success=0.4", 3),
        ("difference --epsilon 1", 0),
        ("identify --n 120 --range 0,60 --epsilon 9 --at-most posterior=0.1", 4),
        ("identify --n 120 --range 0,60 --at-most posterior=0.001", 3),
        ("tamper --epsilon 1 --published 120 --expected 100", 4),
        ("tamper --epsilon 1 --published 100 --expected 100", 0),
        ("explain laplace --epsilon 1", 0),
        ("explain laplace", 2),
        ("compare laplace:epsilon=1 gaussian:psi=1", 0),
        ("compare laplace:epsilon=1", 2),
    ],
)
def test_one_meaning_in_every_command(line: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*line.split()) == code
    out, err = capsys.readouterr()
    assert (out != "") == (code in (0, 4))
    assert err.count("\n") == (code in (2, 3))


def test_a_ledger(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = ("--ledger", str(folder / "l.db"))
    assert ran("ledger", "limit", "--epsilon", "1", *kept) == 0
    assert ran("ledger", "add", "laplace", "--epsilon", "0.5", *kept) == 0
    assert ran("ledger", "check", *kept) == 0
    assert ran("ledger", "add", "laplace", "--epsilon", "2", "--within-limits", *kept) == 4
    assert ran("ledger", "add", "laplace", "--epsilon", "2", *kept) == 4
    assert ran("ledger", "check", *kept) == 4


def blocks() -> list[object]:
    text = (ROOT / "docs" / "gate.md").read_text("utf-8")
    return [yaml.safe_load(part.split("```")[0]) for part in text.split("```yaml\n")[1:]]


def test_the_hook_reads_every_plan(folder: Path) -> None:
    hooks = next(block for block in blocks() if isinstance(block, dict) and "repos" in block)
    entry = hooks["repos"][0]["hooks"][0]["entry"]
    command = folder / "epsilens"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m epsilens.cli "$@"\n')
    command.chmod(0o755)
    source = str(Path(epsilens.__file__).parents[1])
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": source}
    good, over = plan(folder, 0.1, 0.6, "a.yaml"), plan(folder, 5.0, 0.55, "b.yaml")
    for plans, code in (([good], 0), ([good, over], 4), ([over, good], 4)):
        made = subprocess.run(f"{entry} {' '.join(plans)}", shell=True, env=environment, capture_output=True)
        assert made.returncode == code


def test_the_examples_are_yaml() -> None:
    assert len(blocks()) == 3
