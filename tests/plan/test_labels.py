"""A plan that reads text: the same answers as of a table that somebody cleaned by hand."""

from __future__ import annotations

from typing import Any

import pytest

from epsilens.assessment.assess import assess
from epsilens.assessment.provenance import Caution
from epsilens.errors import InputError
from epsilens.plan.file import read_release
from epsilens.plan.labels import mentioned_columns, normalized_plan

MESSY = {
    "Patient ID": ["a", "A ", "b", "c", "c", "d"],
    "Ward": ["Eye", "eye ", "EAR", "Ear", "eye", None],
    "Cost": ["1,000.50", "n/a", "$20", "(5)", "abc", ""],
    "Day": ["31/12/2023", "1/1/2024", "2/1/24", "", "x", "5/5/2024"],
    "code": ["f1", "F1", "g2", "G2", "f1", "F1"],
    "rest": [1, 2, 3, 4, 5, 6],
}
CLEAN = {
    "Patient ID": ["A", "A", "B", "C", "C", "D"],
    "Ward": ["eye", "eye", "ear", "ear", "eye", None],
    "Cost": [1000.5, None, 20.0, -5.0, None, None],
    "Day": ["2023-12-31", "2024-01-01", "2024-01-02", None, None, "2024-05-05"],
    "code": ["F1", "F1", "G2", "G2", "F1", "F1"],
    "rest": [1, 2, 3, 4, 5, 6],
}
READ: dict[str, Any] = {
    "Patient ID": "code",
    "Ward": "category",
    "Cost": {"as": "number", "empty": ["N/A"]},
    "Day": {"as": "date", "order": "day month year"},
    "code": "code",
}
PLAN: dict[str, Any] = {
    "data": {
        "table": "t", "person": "Patient ID", "max_rows": 2, "quasi_identifiers": ["Ward", "Day"],
        "secret": "code = 'f1'",
    },
    "queries": [
        {"count": True, "by": "Ward", "groups": ["EYE", "Ear"]},
        {"sum": "Cost", "bounds": [-10, 2000]},
        {"count": "code = 'g2' and Day >= '2024-01-01'"},
        {"count": "Ward in ('Eye', 'EAR') and rest > 1"},
    ],
    "mechanism": {"epsilon": 1.0},
}  # fmt: skip


def _read(read: dict[str, Any]) -> dict[str, Any]:
    return {**PLAN, "data": {**PLAN["data"], "read": read}}


def test_it_is_the_assessment_of_the_clean_table() -> None:
    got = assess(_read(READ), table=MESSY)
    clean = assess(normalized_plan(read_release(_read(READ))).model_copy(update={"data": _cleaned()}), table=CLEAN)
    told, expected = got.to_dict(), clean.to_dict()
    for key in ("risks", "queries", "isolation", "recommended", "curve"):
        assert told[key] == expected[key]
    assert [[a.value for a in q.answers] for q in got.queries] == [[2, 2], [1015.5], [1], [3]]


def _cleaned() -> Any:
    return read_release({**PLAN, "data": {**PLAN["data"], "secret": "code = 'F1'"}}).data


def test_values_that_are_left_out_are_told() -> None:
    told = {w.column: w.count for w in assess(_read(READ), table=MESSY).cautions if w.about is Caution.UNREAD}
    assert told == {"Cost": 1, "Day": 1}


def test_texts_beside_the_table_take_the_form_of_their_column() -> None:
    plan = normalized_plan(
        read_release(
            {
                **_read(READ),
                "queries": [{"count": "Ward <> ' EYE  ward' and rest = 1 and (\"Patient ID\" = 'a' or 'x' = Ward)"}],
            }
        )
    )
    assert plan.queries[0].count == "Ward <> 'eye ward' AND rest = 1 AND (\"Patient ID\" = 'A' OR 'x' = Ward)"
    assert plan.data.secret == "code = 'F1'"


def test_a_date_is_written_as_dates_are_read() -> None:
    for query, place in (
        ({"count": "Day > '31/12/2023'"}, "queries.1"),
        ({"count": True, "by": "Day", "groups": ["1/1/2024"]}, "queries.1.groups"),
    ):
        with pytest.raises(InputError, match="2024-12-31") as error:
            normalized_plan(read_release({**_read(READ), "queries": [query]}))
        assert error.value.parameter == place


def test_only_what_is_mentioned_is_read_again() -> None:
    plan = read_release(_read({"Cost": "number"}))
    assert mentioned_columns(plan) == {"Patient ID", "Ward", "Day", "code", "Cost", "rest"}


def test_a_column_that_is_not_there_or_no_text() -> None:
    halves = {**MESSY, "rest": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]}  # whole numbers may be days
    for read in ({"cost": "number"}, {"rest": "date"}):
        with pytest.raises(InputError) as error:
            assess(_read({**READ, **read}), table=halves)
        assert error.value.parameter == "data.read"
    with pytest.raises(InputError, match=r"data\.read"):
        assess({**PLAN, "queries": [PLAN["queries"][1]]}, table=MESSY)
