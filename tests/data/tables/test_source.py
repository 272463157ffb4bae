"""Where a table comes from is a type; an address keeps its password to itself; bundled tables are what they say.

The bundled tables are compared with pandas and with their sidecars.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables.address import masked
from epsilens.data.tables.sources import Bundled, File, Frame, Url, bundled_dataset, names, source_of
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


FIVE = ["site", "age", "female", "black", "education"]


@pytest.mark.parametrize("name", names())
def test_the_sidecar_tells_the_truth(name: str) -> None:
    about = bundled_dataset(name)
    data = pd.read_parquet(about.path)
    assert hashlib.sha256(about.path.read_bytes()).hexdigest() == about.sha256
    assert (len(data), list(data.columns)) == (about.rows, list(about.columns))
    assert about.people == (len(data) if about.person is None else data[about.person].nunique())
    assert all([about.licence, about.licence_text, about.attribution, about.origin])
    assert "path" not in about.to_dict()
    assert about.path.stat().st_size < 1_500_000
    assert all(about.columns.values())


def test_rand_hie_against_pandas() -> None:
    data = pd.read_parquet(bundled_dataset("epsilens:rand-hie").path)
    assert (len(data), data.person.nunique(), data.groupby("person").size().max()) == (20_190, 5_912, 5)
    assert (data.site == data.person // 100_000).all()
    assert data.groupby("person").age.nunique().max() == 1
    for columns, isolated in ((FIVE, 2_475), (["age_in_year" if c == "age" else c for c in FIVE], 1_751)):
        holders = data.groupby(columns, dropna=False).person.agg(["nunique", "first"])
        alone = holders.loc[holders["nunique"] == 1, "first"].nunique()
        found = scan("epsilens:rand-hie", columns, person="person")
        assert (found.isolated, found.people, found.rows) == (alone, 5_912, 20_190) == (isolated, 5_912, 20_190)


def test_rand_hie_sentence() -> None:
    found = scan("epsilens:rand-hie", FIVE, person="person")
    one_row = pd.read_parquet(bundled_dataset("epsilens:rand-hie").path).drop_duplicates("person")
    assert found.isolated == (one_row.groupby(FIVE, dropna=False).size() == 1).sum()
    assert found.sentence.startswith("42 of 100 people in this table (2,475 of 5,912) are alone")
    assert {s.columns: s.people for s in found.subsets}[tuple(FIVE[:4])] == 241


def test_adult_against_pandas() -> None:
    data = pd.read_parquet(bundled_dataset("epsilens:adult").path)
    quasi = ["age", "education", "marital_status", "race", "sex", "native_country"]
    found = scan("epsilens:adult", quasi)
    assert found.people == 32_561
    for subset in found.subsets:
        alone = (data.groupby(list(subset.columns), dropna=False).size() == 1).sum()
        assert subset.people == alone


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'epsilens:adult'"):
        scan("epsilens:adults", ["age"])
