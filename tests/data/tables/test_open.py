"""Tables people bring: every form opens, and what cannot be scanned is refused in one sentence."""

from __future__ import annotations

import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from epsilens.data.scan.scan import scan
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

COLUMNS = {"site": ["a", "b", "b", None], "age": [1, 2, 2, 4]}


def forms(folder: Path) -> dict[str, Any]:
    frame = pd.DataFrame(COLUMNS)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    (folder / "parts").mkdir()
    frame[:2].to_parquet(folder / "parts" / "1.parquet")
    frame[2:].to_parquet(folder / "parts" / "2.parquet")
    arrow = pa.table(COLUMNS)
    return {
        "csv": folder / "t.csv",
        "parquet": str(folder / "t.parquet"),
        "glob": str(folder / "parts" / "*.parquet"),
        "folder": folder / "parts",
        "arrow": arrow,
        "batch": arrow.to_batches()[0],
        "pandas": frame,
        "categories": frame.astype({"site": "category"}),
        "polars": pl.DataFrame(COLUMNS),
        "lazy": pl.DataFrame(COLUMNS).lazy(),
        "polars categories": pl.DataFrame(COLUMNS).with_columns(pl.col("site").cast(pl.Categorical)),
        "dict": COLUMNS,
    }


def test_every_form_gives_the_same_scan(tmp_path: Path, engine: str) -> None:
    expected = None
    for name, form in forms(tmp_path).items():
        if engine == "spark" and name in ("batch", "lazy", "categories", "dict", "folder"):
            continue  # the same road as their neighbours
        found = scan(form, ["site", "age"], engine=engine).to_dict()
        del found["table"]
        expected = expected or found
        assert found == expected, name
    assert expected is not None
    assert expected["isolated"] == 2


def test_ibis_tables_urls_and_connections(tmp_path: Path) -> None:
    import ibis

    path = tmp_path / "people.duckdb"
    con = ibis.duckdb.connect(path)
    con.raw_sql("CREATE TABLE people AS SELECT * FROM (VALUES ('a', 1), ('b', 2), ('b', 2)) t(site, age)")
    assert scan(con.table("people"), ["site", "age"]).isolated == 1
    assert scan("people", ["site", "age"], engine=con).isolated == 1
    with pytest.raises(InputError, match="lives on duckdb"):
        scan(con.table("people"), ["site"], engine="spark")
    con.disconnect()
    assert scan(f"duckdb://{path}#people", ["site", "age"]).isolated == 1
    assert scan(f"duckdb://{path}", ["site", "age"]).isolated == 1
    with pytest.raises(InputError, match="did you mean 'people'"):
        scan(f"duckdb://{path}#peeple", ["site"])
    with pytest.raises(InputError, match="leave engine out"):
        scan(f"duckdb://{path}#people", ["site"], engine="duckdb")


def test_leading_zeros_stay_text(tmp_path: Path, engine: str) -> None:
    # The zero stands far below any sample an engine would take.
    lines = "".join(f"{i},1\n" for i in range(20_000, 45_000))
    (tmp_path / "zip.csv").write_text(f"zip,n\n{lines}01234,1\n1234,1\n")
    found = scan(tmp_path / "zip.csv", ["zip"], engine=engine)
    assert (found.isolated, found.people) == (25_002, 25_002)


def test_quotes_newlines_and_empty_fields(tmp_path: Path, engine: str) -> None:
    (tmp_path / "t.csv").write_text('name,n\n"Smith, ""Jo""",1\n"a\nb",1\n,1\n"é",1\n')
    assert scan(tmp_path / "t.csv", ["name"], engine=engine).isolated == 4


VALUES: dict[str, list[Any]] = {
    "NaN is NULL": [float("nan"), None, 1.0, 2.0],
    "minus zero is zero": [0.0, -0.0, 1.0, 2.0],
    "decimals": [Decimal("1.10"), Decimal("1.1"), Decimal("1.11"), Decimal("2.00")],
    "dates": [datetime.date(2024, 1, 1)] * 2 + [datetime.date(1900, 1, 1), datetime.date(2262, 1, 1)],
    "moments": [datetime.datetime(2024, 1, 1, 12, 0, 0, 5)] * 2
    + [datetime.datetime(2024, 1, 1, 12), datetime.datetime(2024, 1, 2)],
    "booleans": [True, True, False, None],
    "unicode": ["\u00e9", "\u00e9", "e\u0301", "E"],
    "spaces count": ["a", "a", "a ", " a"],
    "large numbers": [2**62, 2**62, 2**62 + 1, -(2**62)],
}


def test_values_compare_alike(engine: str) -> None:
    found = scan(pa.table(VALUES), list(VALUES), known_columns=1, engine=engine)
    assert {s.columns[0]: s.people for s in found.subsets} == dict.fromkeys(VALUES, 2)


def test_all_null_one_row_and_empty(engine: str) -> None:
    assert scan(pa.table({"v": pa.nulls(3), "w": [1, 1, 1]}), ["v", "w"], engine=engine).isolated == 0
    one = scan({"v": [1]}, ["v"], engine=engine)
    assert (one.isolated, one.sentence.split(" in ")[0]) == (1, "The only person")
    empty = scan(
        pa.table({"v": pa.array([], pa.int64()), "p": pa.array([], pa.string())}),
        ["v"],
        person="p",
        queries=["count where v > 1 by v", "average v bounds 0 1"],
        epsilon=1.0,
        at_most=0.55,
        engine=engine,
    )
    assert (empty.people, empty.isolated, empty.never) == (0, 0, 0)
    assert empty.largest_epsilon is None
    assert "no people" in str(empty)


def refused(*args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        scan(*args, **options)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_what_is_refused(tmp_path: Path, engine: str) -> None:
    say = partial(refused, engine=engine)
    (tmp_path / "case.csv").write_text("k,K\n1,2\n")
    pq.write_table(pa.table({"k": [1], "K": [2]}), tmp_path / "case.parquet")
    for table in (tmp_path / "case.csv", tmp_path / "case.parquet", pa.table({"k": [1], "K": [2]})):
        assert "'k' and 'K'" in say(table, ["k"])
    assert "did you mean 'site'" in say(COLUMNS, ["Site"])
    assert "at least one column" in say(COLUMNS, [])
    assert "twice" in say(COLUMNS, ["site", "site"])
    assert "also a quasi-identifier" in say(COLUMNS, ["site"], person="site")
    assert "empty in some rows" in say(COLUMNS, ["age"], person="site")
    assert "no such file" in say(tmp_path / "nothing.csv", ["a"])
    assert "no such file" in say(tmp_path / "*.nothing.parquet", ["a"])
    (tmp_path / "broken.parquet").write_bytes(b"not parquet")
    assert "does not parse" in say(tmp_path / "broken.parquet", ["a"])
    (tmp_path / "empty.csv").write_text("")
    assert "CSV" in say(tmp_path / "empty.csv", ["a"])
    nested = pa.table({"l": [[1], [2]], "s": [{"x": 1}, {"x": 2}], "b": [b"1", b"2"]})
    for name in nested.column_names:
        assert "of type" in say(nested, [name])
    assert "at most 4,096" in say({f"c{i}": [1] for i in range(13)}, [f"c{i}" for i in range(13)])
    assert "max_rows" in say(COLUMNS, ["site"], max_rows=3)
    wrong: list[dict[str, Any]] = [
        {"at_most": 0.5},
        {"at_most": {"recall": 0.1}},
        {"epsilon": 0},
        {"quantile": 1},
        {"known_columns": 2},
    ]
    for options in wrong:
        say(COLUMNS, ["site"], **options)
    assert "needs a delta" in say(COLUMNS, ["site"], noise="gaussian")


def test_other_things_are_refused(tmp_path: Path) -> None:
    assert "give a CSV or Parquet path" in refused(5, ["a"])
    assert "give a CSV or Parquet path" in refused("people", ["a"])
    assert "engine is" in refused(COLUMNS, ["site"], engine="excel")
    assert "no database" in refused(COLUMNS, ["site"], engine="nosuch://x")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "2.parquet")
    assert "different columns" in refused(tmp_path / "*.parquet", ["a"])


def test_a_column_of_any_name(engine: str) -> None:
    odd = {"q0": [1, 2], "p": [1, 1], "people": [3, 3], "o": [0, 0], "a b'c\"d": ["x", "y"], "select": [1, 1]}
    found = scan(odd, list(odd), queries=["count by people", "histogram p"], engine=engine)
    assert found.isolated == 2


def test_opening_closes_what_it_opened() -> None:
    with open_table("epsilens:adult") as opened:
        folder = opened.engine.folder()
        assert folder.exists()
    assert not folder.exists()
