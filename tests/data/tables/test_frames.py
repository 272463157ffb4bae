"""Frames people have: every kind becomes the same columns, and what cannot names its column, never a cell."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from epsilens.data.tables.sources import as_arrow
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

DAY = datetime.date(2024, 1, 1)
MARK = "XQZ-4711"


def said(frame: Any) -> str:
    with pytest.raises(InputError) as error:
        open_table(frame)
    message = str(error.value)
    assert MARK not in message
    assert "\n" not in message
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return message


def read(frame: Any) -> dict[str, list[Any]]:
    with open_table(frame) as opened:
        rows: dict[str, list[Any]] = opened.engine.fetch(opened.table).to_pydict()
    return rows


def test_streams(tmp_path: Path) -> None:
    arrow = pa.table({"a": [1, 2, 3], "c": pa.array(["x", None, "x"]).dictionary_encode()})
    pq.write_table(arrow, tmp_path / "t.parquet")
    expected = {"a": [1, 2, 3], "c": ["x", None, "x"]}
    data = ds.dataset(tmp_path)
    for stream in (arrow.to_reader(max_chunksize=1), data, data.scanner(), pl.from_arrow(arrow).lazy()):
        found = read(stream)  # a table has no order of rows: engines read chunks side by side
        assert sorted(zip(*found.values(), strict=True)) == sorted(zip(*expected.values(), strict=True))
        assert list(found) == list(expected)
    assert read(pl.LazyFrame({"a": [1]}).filter(pl.col("a") > 1)) == {"a": []}
    assert "does not convert" in said(pl.LazyFrame({"a": [MARK]}).with_columns(pl.col("a").cast(pl.Int64)))


def test_kinds_of_pandas() -> None:
    frame = pd.DataFrame(
        {
            "month": pd.period_range("2024-01", periods=2, freq="M"),
            "span": pd.interval_range(0, 2),
            "site": pd.Categorical(["x", None]),
            "stay": pd.to_timedelta(["36h", None]),
            "some": pd.arrays.SparseArray([0, 1]),
            "id": [uuid.UUID(int=1), None],
        }
    )
    assert read(frame) == {
        "month": ["2024-01", "2024-02"],
        "span": ["(0, 1]", "(1, 2]"],
        "site": ["x", None],
        "stay": [129_600.0, None],
        "some": [0, 1],
        "id": ["00000000-0000-0000-0000-000000000001", None],
    }


def test_a_named_index_is_a_column() -> None:
    people = pd.Index(["p", "q"], name="person")
    assert read(pd.DataFrame({"a": [1, 2]}, index=people)) == {"person": ["p", "q"], "a": [1, 2]}
    several = pd.MultiIndex.from_tuples([("p", 1), ("q", 2)], names=["person", None])
    assert read(pd.DataFrame({"a": [1, 2]}, index=several)) == {"person": ["p", "q"], "a": [1, 2]}
    assert read(pd.DataFrame({"a": [1, 2]}, index=["p", "q"])) == {"a": [1, 2]}
    assert "two columns named 'a'" in said(pd.DataFrame({"a": [1, 2]}, index=pd.Index([1, 2], name="a")))


def test_names() -> None:
    assert read(pd.DataFrame([[1, 2]])) == {"0": [1], "1": [2]}
    assert "two columns named '1'" in said(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    assert "two columns named 'a'" in said(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert "two columns named 'a'" in said(pa.table([[1], [2]], names=["a", "a"]))
    levels = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    assert "several levels" in said(pd.DataFrame([[1, 2]], columns=levels))
    assert "without a name" in said(pa.table({"": [1]}))
    empty: list[Any] = [{}, pd.DataFrame(), pl.DataFrame(), pa.table({})]
    for nothing in empty:
        assert "no columns" in said(nothing)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, MARK], "'v' of the table holds int and str"),
        ([DAY, datetime.datetime(2024, 1, 1, 3)], "date and datetime"),
        ([{"a": 1}, MARK], "dict and str"),
        ([1j, 2j], "holds complex"),
        ([object(), None], "holds object"),
        ([2**70, 1], "beyond 64 bits"),
    ],
)
def test_mixed_columns_are_named(values: list[Any], words: str) -> None:
    for frame in ({"v": values}, pd.DataFrame({"v": pd.Series(values, dtype=object)})):
        assert words in said(frame)


def test_other_things() -> None:
    assert "1 and 2 rows" in said({"a": [1], "b": [1, 2]})
    assert "a list of its values" in said({"a": MARK})
    assert "to_frame" in said(pd.Series([1]))
    assert "holds object" in said(pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)}))
    assert "table is a list" in said([MARK])
    assert "table is a ndarray" in said(np.ones(2))


def test_kinds_of_arrow() -> None:
    codes = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", "y"]))
    made = as_arrow(pa.table({"r": codes, "h": pa.array([1, 2, 3], pa.float16()), "n": pa.nulls(3)}))
    assert made.to_pydict() == {"r": ["x", "x", "y"], "h": [1.0, 2.0, 3.0], "n": [None] * 3}
    assert [str(kind) for kind in made.schema.types] == ["string", "float", "string"]


def test_nothing_but_nan_is_numbers() -> None:
    with open_table({"a": [float("nan")] * 3, "b": [None] * 3, "c": [None, float("nan"), None]}) as opened:
        kinds = {name: str(kind) for name, kind in opened.table.schema().items()}
    assert kinds == {"a": "float64", "b": "string", "c": "float64"}
