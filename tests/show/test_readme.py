"""Every block of the README runs as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.common import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_python_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_console_blocks_print_what_they_show(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command, shown in re.findall(r"```console\n\$ epsilens ([^\n]*)\n(.*?)```", README, re.DOTALL):
        run(typer.main.get_command(app), shlex.split(command))
        assert "".join(capsys.readouterr()).startswith(shown)


def test_the_life_of_a_release_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of the shell block, on a small table, in order."""
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i},{20 + i % 60},{'fm'[i % 2]},{i % 3}" for i in range(400))
    (tmp_path / "people.csv").write_text(f"person,age,sex,visits\n{rows}\n", encoding="utf-8")
    block = next(b for b in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "epsilens init" in b)
    lines = [line.split("#")[0].strip() for line in block.splitlines()]
    assert [line.split()[1] for line in lines] == ["init", "assess", "release", "audit"]
    for line in lines[:3]:
        code = run(typer.main.get_command(app), shlex.split(line)[1:])
        assert code in (0, 3, 4)  # a limit may be exceeded; nothing is wrong with the input
    assert (tmp_path / "release.yaml").exists()


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
