"""A plan whose queries are SQL is the plan whose queries are words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from epsilens.assessment.assess import assess
from epsilens.errors import InputError
from epsilens.plan.file import read_release
from epsilens.plan.model import ReleaseQuery


def plan(*queries: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {
        "data": {"table": "people.csv", **data},
        "queries": list(queries),
        "mechanism": {"epsilon": 1.0},
        "limits": {"success": 0.9},
    }


OWNED = {"person": "id", "max_rows": 3}


@pytest.mark.parametrize(
    ("sql", "words", "data"),
    [
        ("select count(*) from people", {"count": True}, {}),
        ("select count(*) from people where age > 30", {"count": "age > 30"}, {}),
        ("select count(*) from people", {"count": True, "rows": True}, OWNED),
        ("select count(distinct id) from people", {"count": True}, OWNED),
        (
            "select site, count(distinct id) as n from people where ill group by site",
            {"count": "ill", "by": "site", "name": "n"},
            OWNED,
        ),
        (
            "select sum(least(greatest(visits, 0), 77)) from people where age > 30",
            {"sum": "visits", "bounds": [0, 77], "where": "age > 30"},
            OWNED,
        ),
        ("select a, b, avg(x) from people group by a, b", {"average": "x", "by": ["a", "b"]}, OWNED),
    ],
)
def test_sql_and_words_are_one_plan(sql: str, words: dict[str, Any], data: dict[str, Any]) -> None:
    beside = {"bounds": [0, 10]} if "average" in words else {}
    read, written = read_release(plan({"sql": sql, **beside}, **data)), read_release(plan({**words, **beside}, **data))
    assert read == written
    assert read.digest() == written.digest()


def test_groups_and_shares_stand_beside_it() -> None:
    first = {"sql": "select site, count(*) from people group by site", "groups": [1, 2], "share": 0.25}
    read = read_release(plan(first, {"count": True, "share": 0.75}))
    assert read.queries[0].groups == (1, 2)
    assert read.shares == (0.25, 0.75)


@pytest.mark.parametrize(
    ("query", "data", "why", "where"),
    [
        ({"sql": "select count(distinct site) from people"}, OWNED, "person column, 'id'", "sql"),
        ({"sql": "select count(distinct id) from people"}, {}, "which is not named", "sql"),
        ({"sql": "select count(*) from visits"}, {}, "not the plan's table", "sql"),
        ({"sql": "select count(*) from people where id = 3 or id = 4"}, OWNED, "picks people by name", "sql"),
        ({"sql": "select sum(x) from people"}, {}, "sum needs bounds", "bounds"),
        ({"sql": "select count(*) from people", "where": "a > 1"}, {}, "leave one of them out", "where"),
        ({"sql": "select count(*) from people", "count": "a > 1"}, {}, "leave one of them out", "count"),
        ({"sql": "select avg(least(greatest(x, 0), 9)) from people", "bounds": [0, 9]}, {}, "leave one", "bounds"),
        ({"sql": "select max(x) from people"}, {}, "'MAX(x)' is not allowed", "sql"),
        ({"sql": 3}, {}, "sql is an int", "sql"),
    ],
)
def test_refused_where_it_stands(query: dict[str, Any], data: dict[str, Any], why: str, where: str) -> None:
    with pytest.raises(InputError) as refused:
        read_release(plan({"count": True}, query, **data))
    assert why in str(refused.value)
    assert refused.value.parameter == f"queries.2.{where}"


def test_the_line_of_a_file(tmp_path: Path) -> None:
    text = "data: {table: people.csv}\nqueries:\n  - count: true\n  - sql: select median(x) from people\n"
    file = tmp_path / "plan.yaml"
    file.write_text(text + "mechanism: {epsilon: 1}\n")
    with pytest.raises(InputError, match="line 4 of"):
        read_release(file)


def test_alone_it_is_of_rows() -> None:
    assert ReleaseQuery(sql="select count(*) from t where a > 1").count == "a > 1"
    with pytest.raises(ValueError, match="within a plan"):
        ReleaseQuery(sql="select count(distinct p) from t")


def test_the_answers_are_those_of_the_words(tmp_path: Path) -> None:
    rows = {"id": [1, 1, 2, 3, 4, 5], "site": [1, 2, 1, 1, 2, 2], "x": [1.0, 2.0, None, 4.0, 5.0, 60.0]}
    pd.DataFrame(rows).to_csv(tmp_path / "people.csv", index=False)
    beside = {"groups": [1, 2]}
    asked = [
        {"sql": "select site, count(distinct id) from people where x > 1 or x is null group by site", **beside},
        {"sql": "select sum(least(greatest(x, 0), 10)) from people"},
    ]
    words = [{"count": "x > 1 OR x IS NULL", "by": "site", **beside}, {"sum": "x", "bounds": [0, 10]}]
    data = {"person": "id", "max_rows": 2, "table": str(tmp_path / "people.csv")}
    first, second = (json.dumps(assess(plan(*q, **data)).to_dict(), sort_keys=True) for q in (asked, words))
    assert first == second


@pytest.mark.parametrize("name", ["person", "unit"])
def test_a_column_that_is_no_name_is_refused_beside_sql(name: str) -> None:
    with pytest.raises(InputError, match=name):
        read_release(plan({"sql": "select avg(least(greatest(x, 0), 3)) from people where y = 1"}, **{name: [[[1]]]}))
