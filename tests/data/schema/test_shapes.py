"""What text looks like: columns made by hand, the same on every engine, and in agreement with how forms read them."""

from __future__ import annotations

from typing import Any

import ibis
import pandas as pd
import pytest

from epsilens.data.schema.column_profile import ANSWERS, NOTHING, CellLabel, TableProfile, profile_columns
from epsilens.data.tables.columns import ColumnFormat, DateOrder, ParsedType, count_unparsed
from epsilens.data.tables.table import OpenTable, open_table

LABELS: dict[CellLabel, list[str]] = {
    CellLabel.EMPTY: ["", "   ", "\t"],
    CellLabel.NOTHING: [*NOTHING, " n/a ", "NAN", "Missing", "#DIV/0!"],
    CellLabel.ANSWER: [*ANSWERS, " Unknown"],
    CellLabel.WORDS: ["Cardiology", "cardiology ", "St Mary", "no", "Dr. A. Wu", "m/f", "<NA>x"],
    CellLabel.LONG: ["the patient was seen", "she has 3 cats at home", "Room 12 on the left side"],
    CellLabel.ZEROS: ["01234", "00", "0012", " 007"],
    CellLabel.WHOLE: ["0", "7", "1200", "-3", "+4", "$5", "€ 12", "12 EUR", "(31)", "7-", "12 %", "12 000", "1'200",
                  "R$ 12", "RM5", "12 Kč"],
    CellLabel.POINT: ["8,841.70", "12.5", "0.123", ".5", "1,234,567", "$1,200.50", "(3.20)", "1.5E-3", "12345.678"],
    CellLabel.COMMA: ["R$ 1.234,56", "8.841,70",
                  "12,5", "0,123", "1.234.567", "1.200,50 €", "3,75-", "1 234,5", "12345,678", "99,9%"],
    CellLabel.ONE_POINT: ["1.234", "12.345", "-1.234"],
    CellLabel.ONE_COMMA: ["1,234", "$12,345"],
    CellLabel.YEAR_FIRST: ["2020-01-31", "2020/1/2", "2021-01-31T10:00:00", "1999.12.31", "2021-01-31 10:00"],
    CellLabel.DAY_FIRST: ["31/01/2020", "13.2.99", "12 Jan 2020", "1-FEB-99", "31-01-2020 08:15"],
    CellLabel.MONTH_FIRST: ["01/31/2020", "2-28-99", "Jan 3, 2020", "March 14, 1999"],
    CellLabel.EITHER_FIRST: ["01/02/2024", "3.4.99", "12-12-2012"],
    CellLabel.COMPACT: ["20240131", "19991231"],
    CellLabel.CODE: ["F32.1", "A17", "12A", "P000123", "45/67/2020", "1,2,3", "a1b2-c3"],
    CellLabel.CONTACT: ["x@y1.org", "ann@example.com", "+44 7700 900123", "0049 30 901820", "(020) 7946 0958"],
    CellLabel.OTHER: ["Flat 3", "12 High Street", "5 mg"],
}  # fmt: skip


def on(engine: str, columns: dict[str, Any]) -> OpenTable:
    if engine == "duckdb":
        return open_table(columns)
    connection = ibis.sqlite.connect()
    pd.DataFrame(columns).to_sql("t", connection.con, index=False)
    return open_table(connection.table("t"))


def seen(columns: dict[str, Any], engine: str = "duckdb") -> TableProfile:
    with on(engine, columns) as opened:
        return profile_columns(opened, list(opened.table.columns))


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_labels(engine: str) -> None:
    size = max(map(len, LABELS.values()))
    found = seen({label.name: (cells + size * [None])[:size] for label, cells in LABELS.items()}, engine)
    for label, cells in LABELS.items():
        shape = found.columns[label.name]
        if label in (CellLabel.EMPTY, CellLabel.NOTHING):
            assert shape.nothing == 1, label
            assert shape.empty == size
        else:
            assert shape.labels == {label: 1}, (label, shape.labels)
            assert shape.filled == len(cells)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_words_for_nothing_and_spellings(engine: str) -> None:
    found = seen(
        {
            "words": ["5", " n/A", "UNKNOWN", "-", None, "", "6", "7"],
            "plain": ["x", "y", "z", "x", "y", "z", "x", "y"],
            "spelt": ["Cardiology", "cardiology", " CARDIOLOGY ", "Eye  ward", "Eye ward", "Surgery", "", None],
        },
        engine,
    ).columns
    assert set(found["words"].words) == {"N/A", "-", "unknown"}
    assert found["words"].empty == 4  # "unknown" may be an answer
    assert found["plain"].words == ()
    assert {name: shape.spellings for name, shape in found.items()} == {"words": 0, "plain": 0, "spelt": 3}


def test_decimal_signs() -> None:
    columns = {
        "grouped by comma": (["8,841.70", "1,200"], "."),
        "grouped by point": (["8.841,70", "1.200"], ","),
        "point alone": (["1.234", "5.678"], "."),
        "comma alone": (["1,234", "5,678"], "."),
        "another decides": (["1.234", "0,5"], ","),
        "whole": (["12", "13"], "."),
    }
    found = seen({name: cells for name, (cells, _) in columns.items()}).columns
    assert {name: found[name].decimal for name in columns} == {name: decimal for name, (_, decimal) in columns.items()}


def test_orders_of_dates() -> None:
    columns = {
        "day": (["01/02/2024", "13/02/2024"], DateOrder.DAY_FIRST, False),
        "month": (["01/02/2024", "02/13/2024"], DateOrder.MONTH_FIRST, False),
        "either": (["01/02/2024", "03/04/2024"], DateOrder.DAY_FIRST, True),
        "year": (["2024-01-02", "2024-03-04"], DateOrder.YEAR_FIRST, False),
        "compact": (["20240102", "20240304"], DateOrder.YEAR_FIRST, False),
    }
    found = seen({name: cells for name, (cells, _, _) in columns.items()}).columns
    for name, (_, order, unsure) in columns.items():
        assert (found[name].order, found[name].unsure) == (order, unsure), name


def test_what_is_labelled_as_a_number_or_date_can_be_read_so() -> None:
    point = [CellLabel.WHOLE, CellLabel.POINT, CellLabel.ONE_POINT, CellLabel.ONE_COMMA, CellLabel.ZEROS]
    comma = [CellLabel.WHOLE, CellLabel.COMMA, CellLabel.ONE_POINT, CellLabel.ONE_COMMA, CellLabel.ZEROS]
    forms = {
        "point": (ColumnFormat(ParsedType.NUMBER), point),
        "comma": (ColumnFormat(ParsedType.NUMBER, decimal=","), comma),
        "day": (
            ColumnFormat(ParsedType.DATE, order=DateOrder.DAY_FIRST),
            [CellLabel.DAY_FIRST, CellLabel.EITHER_FIRST],
        ),
        "month": (
            ColumnFormat(ParsedType.DATE, order=DateOrder.MONTH_FIRST),
            [CellLabel.MONTH_FIRST, CellLabel.EITHER_FIRST],
        ),
        "year": (ColumnFormat(ParsedType.DATE), [CellLabel.YEAR_FIRST, CellLabel.COMPACT]),
    }
    for name, (form, labels) in forms.items():
        cells = [cell for label in labels for cell in LABELS[label]]
        with open_table({name: cells}) as opened:
            left = opened.engine.fetch(count_unparsed(opened.table, {name: form})).to_pylist()[0][name]
        assert left == 0, (name, cells)


def test_whole_numbers_that_are_given_out() -> None:
    found = seen(
        {
            "serial": list(range(1000, 1400)),
            "random": [100_000 + 7919 * i % 900_000 for i in range(400)],
            "round": [1000 * (i % 90) for i in range(400)],
            "negative": [i - 200 for i in range(400)],
        }
    ).columns
    assert [name for name, shape in found.items() if shape.serial] == ["serial", "random"]


def test_no_rows_and_no_text() -> None:
    found = seen({"a": pd.Series([], dtype="str"), "b": pd.Series([], dtype="int64")})
    assert found.rows == 0
    assert found.columns["a"].distinct == 0
    assert seen({"a": [1, 2, 2]}).looked_at == 3


def test_values_that_are_not_numbers_are_empty() -> None:
    shape = seen({"a": [1.0, float("nan"), None, 2.0]}).columns["a"]
    assert (shape.empty, shape.distinct) == (2, 2)
