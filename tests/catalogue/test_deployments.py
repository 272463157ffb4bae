"""The registry of published deployments: named, found by words, and read as reported."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from epsilens.catalogue.deployments import deployment, deployments
from epsilens.errors import InputError

FILE = Path(__file__).parents[2] / "src" / "epsilens" / "catalogue" / "files" / "precedents.csv"


def test_every_row_is_read() -> None:
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [d.name for d in deployments()] == [row["name"] for row in rows]
    assert len({d.name for d in deployments()}) == len(rows) == 35
    for d, row in zip(deployments(), rows, strict=True):
        assert (d.epsilon is None) == (row["epsilon"] == "")
        assert d.rho == (float(row["rho"]) if row["rho"] else None)
        assert d.epsilon is not None or d.rho is not None


def test_a_name_finds_its_own() -> None:
    for d in deployments():
        assert deployment(d.name) is d
        assert deployment(d.name.upper().replace("-", " ")) is d


def test_words_find_one_or_say_which() -> None:
    found = deployment("U.S. Census redistricting")
    assert found is not None
    assert found.rho == 2.63
    assert deployment("gaussian") is None
    assert deployment("") is None
    with pytest.raises(InputError, match="fits 5 published deployments: give one of census-dhc"):
        deployment("us-census-2020")


def test_a_delta_that_is_a_formula_is_not_read_as_none() -> None:
    flex = deployment("uber-flex")
    assert flex is not None
    assert flex.delta is None
    assert flex.unread.startswith("n^")
