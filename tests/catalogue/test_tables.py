"""The tables in docs/ are the catalogue's, and the numbers in them the library's."""

from __future__ import annotations

from pathlib import Path

import pytest

import epsilens as el
from epsilens.catalogue.__main__ import TABLES, refresh_page
from epsilens.catalogue.commands import ExitCode
from epsilens.catalogue.readings import READINGS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.stem)
def test_the_docs_are_fresh(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refresh_page(text) == text, "run: python -m epsilens.catalogue docs"


def test_every_table_has_its_place() -> None:
    pages = "".join(p.read_text(encoding="utf-8") for p in DOCS.glob("*.md"))
    for name in TABLES:
        assert pages.count(f"<!-- catalogue: {name} -->\n") == 1, name


@pytest.mark.parametrize("name", READINGS)
def test_the_example_of_a_reading(name: str) -> None:
    reading = READINGS[name]
    shown, _, at = reading.example.partition(" at ")
    needed = (*reading.required, *reading.either[:1])
    value = getattr(el.laplace(epsilon=1.0), name)(**{n: float(at) for n in needed})
    assert f"{value:.4f}".removesuffix(".0000") == shown


def test_the_exit_codes_scripts_rely_on() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "FINE": 0,
        "FAULT": 1,
        "BAD_INPUT": 2,
        "NO_SOLUTION": 3,
        "EXCEEDED": 4,
        "UNWRITTEN": 5,
        "HUNG_UP": 129,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }
    assert all(code.meaning.endswith(".") for code in ExitCode)
