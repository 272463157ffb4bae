"""Every number in docs/ is one the library gives: Python blocks run as doctests, console blocks as commands."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.common import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
#: What scripts/site.py writes beside them.
WRITTEN = {"api.md", "benchmarks.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_python_blocks(page: Path) -> None:
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert found.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_console_blocks(page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a command is the start of what it prints; a last line "…" says that there is more."""
    monkeypatch.setenv("COLUMNS", "80")
    for command, shown in re.findall(r"```console\n\$ epsilens ([^\n]*)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        run(typer.main.get_command(app), shlex.split(command))
        written = "".join(capsys.readouterr())
        if shown.endswith("…\n"):
            assert written.startswith(shown.removesuffix("…\n"))
        else:
            assert written == shown


def test_links_between_pages() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([\w-]+\.md)\)", page.read_text("utf-8")):
            assert (DOCS / target).exists() or target in WRITTEN
