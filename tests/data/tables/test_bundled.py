"""The bundled tables, against pandas and against their sidecars."""

from __future__ import annotations

import hashlib

import pandas as pd
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables.bundled import bundled, names
from epsilens.errors import InputError

FIVE = ["site", "age", "female", "black", "education"]


@pytest.mark.parametrize("name", names())
def test_the_sidecar_tells_the_truth(name: str) -> None:
    about = bundled(name)
    data = pd.read_parquet(about.path)
    assert hashlib.sha256(about.path.read_bytes()).hexdigest() == about.sha256
    assert (len(data), list(data.columns)) == (about.rows, list(about.columns))
    assert about.people == (len(data) if about.person is None else data[about.person].nunique())
    assert all([about.licence, about.licence_text, about.attribution, about.origin])
    assert "path" not in about.to_dict()
    assert about.path.stat().st_size < 1_500_000
    assert all(about.columns.values())


def test_rand_hie_against_pandas() -> None:
    data = pd.read_parquet(bundled("epsilens:rand-hie").path)
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
    one_row = pd.read_parquet(bundled("epsilens:rand-hie").path).drop_duplicates("person")
    assert found.isolated == (one_row.groupby(FIVE, dropna=False).size() == 1).sum()
    assert found.sentence.startswith("42 of 100 people in this table (2,475 of 5,912) are alone")
    assert {s.columns: s.people for s in found.subsets}[tuple(FIVE[:4])] == 241


def test_adult_against_pandas() -> None:
    data = pd.read_parquet(bundled("epsilens:adult").path)
    quasi = ["age", "education", "marital_status", "race", "sex", "native_country"]
    found = scan("epsilens:adult", quasi)
    assert found.people == 32_561
    for subset in found.subsets:
        alone = (data.groupby(list(subset.columns), dropna=False).size() == 1).sum()
        assert subset.people == alone


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'epsilens:adult'"):
        scan("epsilens:adults", ["age"])
