"""Where a table comes from is a type; an address keeps its password to itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from epsilens.data.tables.source import Bundled, File, Frame, Url, masked, source_of
from epsilens.errors import InputError

ROWS = {"a": [1]}


@pytest.mark.parametrize(
    ("table", "source"),
    [
        ("epsilens:adult", Bundled("epsilens:adult")),
        ("epsilens:nothing", Bundled("epsilens:nothing")),
        ("people.csv", File("people.csv")),
        (Path("folder") / "p.parquet", File("folder/p.parquet")),
        ("visits", File("visits")),
        ("duckdb://x.db#t", Url("duckdb://x.db#t")),
        ("https://host/people.csv", Url("https://host/people.csv")),
        (ROWS, Frame(ROWS)),
        (7, Frame(7)),
    ],
)
def test_each_kind(table: Any, source: object) -> None:
    assert source_of(table) == source


def test_only_a_database_is_opened_as_one() -> None:
    assert Url("https://host/people.csv").is_file
    assert Url("https://host/people.PARQUET?v=1").is_file
    assert not Url("postgres://host/db#people").is_file


def test_a_bundled_name_is_looked_up_when_it_is_needed() -> None:
    assert Bundled("epsilens:adult").dataset.rows == 32561
    with pytest.raises(InputError, match="did you mean"):
        _ = Bundled("epsilens:adul").dataset


@pytest.mark.parametrize("text", ["postgres://me:hush@host/db#t", "mysql://hush@host", "see https://a:hush@b/c.csv"])
def test_passwords_are_masked(text: str) -> None:
    assert "hush" not in masked(text)
    assert masked("people.csv") == "people.csv"
