"""What a report says of the table it is about: no more than whether it is the same as another's."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

import epsilens as el
from epsilens.assessment import provenance
from epsilens.assessment.assess import assess
from epsilens.assessment.provenance import Caution
from epsilens.errors import InputError

PLAN: dict[str, Any] = {"queries": [{"count": "x > 2"}], "mechanism": {"epsilon": 1.0}}


def assessed(path: Path) -> Any:
    return el.assess({**PLAN, "data": {"table": str(path)}})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    made = tmp_path / "people.csv"
    made.write_text("who,x\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    return made


def test_reports_hold_a_keyed_hash_and_no_plain_one(table: Path) -> None:
    """Whoever has the very file finds no hash of it, whole or in part, nor its size, in any form of a report."""
    made = assessed(table)
    found = re.fullmatch(r"the table, keyed hash ([0-9a-f]{16}) \(the same in .*\)", made.reproduce["data"])
    assert found is not None
    content = table.read_bytes()
    for form in (made.to_html(), made.to_markdown(), made.to_text(), json.dumps(made.to_dict()), made.to_registry()):
        for plain in (hashlib.sha256, hashlib.sha1, hashlib.md5):
            assert plain(content).hexdigest()[:16] not in form
        assert f"{len(content)} bytes" not in form
    assert found[1] in made.to_html()


def test_the_same_table_is_known_again(table: Path, tmp_path: Path) -> None:
    first = assessed(table).reproduce["data"]
    assert assessed(table).reproduce["data"] == first
    other = tmp_path / "other" / "people.csv"
    other.parent.mkdir()
    other.write_text(table.read_text() + "60,3\n")
    assert assessed(other).reproduce["data"] != first


def test_another_machine_says_otherwise(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = assessed(table).reproduce["data"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert assessed(table).reproduce["data"] != here


def test_what_is_not_hashed_says_why(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with monkeypatch.context() as no_place:
        no_place.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        assert "not hashed: this machine can keep no secret" in assessed(table).reproduce["data"]
    monkeypatch.setattr(provenance, "_MOST_HASHED", 10)
    assert assessed(table).reproduce["data"] == "the table (not hashed: larger than a gigabyte)"


def test_a_bundled_table_is_public() -> None:
    plan = {"data": {"table": "epsilens:rand-hie"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.0}}
    assert "SHA-256" in el.assess(plan).reproduce["data"]


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
