"""Every number in docs/ is one the library gives: Python blocks run, console blocks print what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts.examples import commands_not_understood, commands_that_differ, python_that_fails

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
#: What scripts/site.py writes beside them.
WRITTEN = {"api.md", "benchmarks.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_python_blocks(page: Path) -> None:
    assert python_that_fails(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_console_blocks(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert commands_that_differ(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_shell_blocks_name_what_exists(page: Path) -> None:
    assert commands_not_understood(page) == []


def test_links_between_pages() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([\w-]+\.md)\)", page.read_text("utf-8")):
            assert (DOCS / target).exists() or target in WRITTEN


def test_a_page_that_is_wrong_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = tmp_path / "wrong.md"
    page.write_text(
        "```python\n>>> 1 + 1\n3\n\n```\n```python\n1 / 0\n```\n"
        "```console\n$ epsilens explain laplace --epsilon 1\nNothing at all.\n…\n```\n"
        "```sh\nepsilens explain laplace --epsilom 1  # a slip\nepsilens explane\nls\n```\n",
        encoding="utf-8",
    )
    assert [("Expected" in each, "ZeroDivisionError" in each) for each in python_that_fails(page)] == [
        (True, False),
        (False, True),
    ]
    assert len(commands_that_differ(page)) == 1
    assert len(commands_not_understood(page)) == 2
