"""Every block of the README runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from scripts.examples import commands_that_differ

from epsilens.catalogue.commands import ExitCode
from epsilens.cli.app import app
from epsilens.cli.console import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_python_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_console_blocks_print_what_they_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert commands_that_differ(ROOT / "README.md") == []


def test_the_life_of_a_release_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines of the shell block in order, on a small table: the ε that is advised is written down to release."""
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i},{20 + i % 60},{'fm'[i % 2]},{i % 3}" for i in range(400))
    (tmp_path / "people.csv").write_text(f"person,age,sex,visits\n{rows}\n", encoding="utf-8")
    block = next(b for b in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "epsilens init" in b)
    lines = [line.split("#")[0].split()[1:] for line in block.splitlines() if line.startswith("epsilens")]
    assert [line[0] for line in lines] == ["init", "assess", "release", "audit"]
    command = typer.main.get_command(app)
    init, assess, release, _ = lines  # an audit of every pair takes a minute: tests/auditing has its own
    assert run(command, init) == ExitCode.FINE
    assert run(command, assess) == ExitCode.EXCEEDED
    assert run(command, release) == ExitCode.EXCEEDED
    (advised,) = re.findall(r"ε = ([0-9.]+) keeps", capsys.readouterr().err)
    plan = tmp_path / "release.yaml"
    plan.write_text(plan.read_text("utf-8").replace("epsilon: 1.0 ", f"epsilon: {advised} "), encoding="utf-8")
    assert run(command, release) == ExitCode.FINE
    assert {"board.html", "answers.csv", "ledger.db"} <= {path.name for path in tmp_path.iterdir()}


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
