"""Forms read cells as a person would, the same on every engine."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilens.data.tables.columns import (
    ColumnFormat,
    DateOrder,
    ParsedType,
    count_unparsed,
    normalize_text,
    parse_columns,
)
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

POINT = {
    "8,841.70": 8841.70, "12": 12.0, " 12 ": 12.0, "-3.5": -3.5, "+3.5": 3.5, "(1,200.50)": -1200.5, "12-": -12.0,
    "$1,234": 1234.0, "€ 12.50": 12.5, "12.5 %": 12.5, "1 234 567.8": 1234567.8, "1'000.5": 1000.5, ".5": 0.5,
    "5.": 5.0, "1e3": 1000.0, "2.5E-2": 0.025, "1,00,000": 100000.0, "−7": -7.0, "USD 12": 12.0, "US$12": 12.0,
    "0012": 12.0,
    "\u00a01\u202f234\u00a0": 1234.0,
    "12abc": None, "1,2": None, "1.2.3": None, "--5": None, "five": None, "12/5": None, "": None, "   ": None,
    "N/A": None, "n/a": None, "1,234,5": None, "nan": None, "inf": None, "0x10": None, "1_000": None,
}  # fmt: skip
COMMA = {
    "8.841,70": 8841.70, "12,5": 12.5, "-3,5": -3.5, "1.234": 1234.0, "1 234,5": 1234.5, "€ 1.234,50": 1234.5,
    "R$ 1.234,56": 1234.56, "1 200 Kč": 1200.0,
    "12": 12.0, ",5": 0.5, "1.2": None, "1,2,3": None, "abc": None,
}  # fmt: skip
DATES = {
    DateOrder.DAY_FIRST: {
        "31/12/2023": "2023-12-31", "1.2.2024": "2024-02-01", "01-02-99": "1999-02-01", "5/6/30": "2030-06-05",
        "5/6/31": "1931-06-05", "31/12/2023 10:15": "2023-12-31", "12-Jan-2024": "2024-01-12",
        "3 February 2021": "2021-02-03", "13/13/2020": None, "32/1/2020": None, "2023-12-31": None, "x": None,
    },
    DateOrder.MONTH_FIRST: {
        "12/31/2023": "2023-12-31", "1/2/2024": "2024-01-02", "Jan 5, 2024": "2024-01-05", "31/12/2023": None,
    },
    DateOrder.YEAR_FIRST: {
        "2023-12-31": "2023-12-31", "2023/1/5": "2023-01-05", "20231231": "2023-12-31",
        "2023-12-31T10:00:00Z": "2023-12-31", "2023-12-31 10:00": "2023-12-31", "1/2/2024": None, "20231301": None,
    },
}  # fmt: skip
WORDS = {
    "Cardiology": "cardiology", " cardiology ": "cardiology", "CARDIOLOGY": "cardiology", "Eye  Ward": "eye ward",
    "ÉCOLE": "école", "Ünal": "ünal", "Ωmega": "ωmega", "Жук": "жук", "": None, "N/A": None, "0123": "0123",
}  # fmt: skip


def read(engine: str, values: list[str | None], form: ColumnFormat) -> list[Any]:
    import ibis
    import pyarrow as pa

    rows = pa.table({"i": list(range(len(values))), "x": pa.array(values, pa.string())})
    if engine == "sqlite":
        connection = ibis.sqlite.connect()
        connection.con.execute("CREATE TABLE t (i INTEGER, x TEXT)")
        connection.con.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
        table: Any = connection.table("t")
    else:
        table = rows
    with open_table(table) as opened:
        got = opened.engine.fetch(parse_columns(opened.table, {"x": form}).order_by("i"))
    return list(got["x"].to_pylist())


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("expected", "form"),
    [
        (POINT, ColumnFormat(ParsedType.NUMBER, empty=("N/A",))),
        (COMMA, ColumnFormat(ParsedType.NUMBER, decimal=",")),
        *((expected, ColumnFormat(ParsedType.DATE, order=order)) for order, expected in DATES.items()),
        (WORDS, ColumnFormat(ParsedType.CATEGORY, empty=("n/a",))),
        ({k: v and v.upper() for k, v in WORDS.items()}, ColumnFormat(ParsedType.CODE, empty=("n/a",))),
        ({" a  b ": " a  b ", "": None, "N/A": None, "x": "x"}, ColumnFormat(ParsedType.TEXT, empty=("n/a",))),
    ],
    ids=["point", "comma", "day", "month", "year", "category", "code", "text"],
)
def test_cells(engine: str, expected: dict[str, Any], form: ColumnFormat) -> None:
    got = read(engine, [*expected, None], form)
    assert dict(zip(expected, got, strict=False)) == expected
    assert got[-1] is None


def test_values_left_out_are_counted() -> None:
    form = ColumnFormat(ParsedType.NUMBER, empty=("N/A",))
    with open_table({"x": ["1", "n/a", "", " ", None, "abc", "12 or so"], "y": ["a"] * 7}) as opened:
        got = opened.engine.fetch(
            count_unparsed(opened.table, {"x": form, "y": ColumnFormat(ParsedType.CATEGORY)})
        ).to_pylist()
    assert got == [{"x": 2, "y": 0}]


def test_whole_numbers_as_dates() -> None:
    with open_table({"day": [20240131, 19991301, None, 7]}) as opened:
        form = {"day": ColumnFormat(ParsedType.DATE)}
        assert opened.engine.fetch(parse_columns(opened.table, form)).to_pydict() == {
            "day": ["2024-01-31", None, None, None]
        }
        assert opened.engine.fetch(count_unparsed(opened.table, form)).to_pylist() == [{"day": 2}]


def test_columns_of_other_types() -> None:
    import datetime as dt

    table = {"n": [1, None], "x": [1.5, 2.0], "t": [dt.datetime(2024, 1, 31, 10), None], "b": [True, False]}
    with open_table(table) as opened:
        forms = {
            "n": ColumnFormat(ParsedType.CODE),
            "x": ColumnFormat(ParsedType.NUMBER),
            "t": ColumnFormat(ParsedType.DATE),
        }
        got = opened.engine.fetch(parse_columns(opened.table, forms)).to_pydict()
        assert got == {"n": ["1", None], "x": [1.5, 2.0], "t": [dt.date(2024, 1, 31), None], "b": [True, False]}
        for wrong in (
            {"x": ColumnFormat(ParsedType.TEXT)},
            {"b": ColumnFormat(ParsedType.NUMBER)},
            {"x": ColumnFormat(ParsedType.DATE)},
            {"z": ColumnFormat(ParsedType.TEXT)},
        ):
            with pytest.raises(InputError) as error:
                parse_columns(opened.table, wrong)
            assert error.value.parameter == "read"


@given(st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_what_is_written_beside_the_table_folds_alike(texts: list[str]) -> None:
    # Letters whose capitals are several characters (ß, ŉ) or none of the usual alphabets are left to the engine.
    texts = [re.sub(r"[^\x20-\x7eÀ-ÖØ-Þà-öø-þ]", "", text) for text in texts]
    for kind in (ParsedType.CATEGORY, ParsedType.CODE):
        form = ColumnFormat(kind)
        assert read("duckdb", list(texts), form) == [normalize_text(text, form) or None for text in texts]
