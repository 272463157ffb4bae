"""What an assessment warns of before any number."""

from __future__ import annotations

from typing import Any

import pytest

from epsilens.assessment.assess import assess
from epsilens.assessment.provenance import Caution
from epsilens.errors import InputError


def _assessed(table: Any, query: dict[str, Any], **data: Any) -> Any:
    return assess({"data": {"table": "t", **data}, "queries": [query], "mechanism": {"epsilon": 1.0}}, table=table)


VISITS = {"Patient ID": [f"p{i // 3}" for i in range(90)], "ward": ["Eye", "eye ", "EAR"] * 30, "age": list(range(90))}


def test_a_person_nobody_named() -> None:
    found = _assessed(VISITS, {"count": True})
    assert [(w.about, w.column, w.count, w.most) for w in found.cautions] == [(Caution.PERSON, "Patient ID", 30, 3)]
    assert "Patient ID" in found.to_text()
    assert "too small" in found.to_text()
    assert not _assessed(VISITS, {"count": True}, person="Patient ID", max_rows=3).cautions
    assert not _assessed({**VISITS, "Patient ID": list(range(90))}, {"count": True}).cautions


def test_groups_that_differ_in_capitals_and_blanks() -> None:
    by_ward = {"count": True, "by": "ward", "threshold": "auto"}
    person = {"person": "Patient ID", "max_rows": 3}
    assert [(w.about, w.column, w.count) for w in _assessed(VISITS, by_ward, **person).cautions] == [
        (Caution.SPELLINGS, "ward", 1)
    ]
    assert not _assessed(VISITS, by_ward, **person, read={"ward": "category"}).cautions
    listed = {"count": True, "by": "ward", "groups": ["Eye", "eye "]}
    assert not _assessed(VISITS, listed, **person).cautions


def test_rows_that_are_nobodys_are_left_out_and_told() -> None:
    table = {"client": ["a", None, "b", "a", None], "age": [1, 2, 3, 4, 5]}
    found = _assessed(table, {"sum": "age", "bounds": [0, 9]}, person="client", max_rows=2)
    assert [(w.about, w.column, w.count) for w in found.cautions] == [(Caution.NOBODY, "client", 2)]
    assert found.queries[0].answers[0].value == 1 + 3 + 4
    assert "2 rows have no “client”" in found.to_text().replace("\n", " ")


def test_a_form_for_no_column_is_told_as_such() -> None:
    with pytest.raises(InputError, match="read has 'Ward', which is not a column of the table"):
        _assessed(VISITS, {"count": True}, person="Patient ID", max_rows=3, read={"Ward": "category"})
