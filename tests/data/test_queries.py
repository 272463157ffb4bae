"""Planned queries: what is read, what is refused, and that conditions mean the same on every engine."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest

from epsilens.data.queries import Query, QueryKind, parse_queries, parse_query
from epsilens.data.tables.conditions import condition
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

TABLE = pa.table(
    {
        "age": pa.array([20, 31, 45, None], pa.int64()),
        "site": ["a", "b", "it's", None],
        "ill": [True, False, None, True],
        "born": [datetime.date(2000, 1, 1), datetime.date(1990, 5, 5), None, datetime.date(1970, 1, 1)],
        "cost": [1.5, float("nan"), None, 0.0],
    }
)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("count", Query(QueryKind.COUNT)),
        ("COUNT WHERE age > 30", Query(QueryKind.COUNT, where="age > 30")),
        ("count where mental_visits > 0 by site", Query(QueryKind.COUNT, where="mental_visits > 0", by=("site",))),
        ("count by site, year", Query(QueryKind.COUNT, by=("site", "year"))),
        (
            "sum visits bounds 0 77 where age > 30 by site",
            Query(QueryKind.SUM, "visits", "age > 30", ("site",), (0, 77)),
        ),
        ("average income bounds -1e3, 30000", Query(QueryKind.AVERAGE, "income", bounds=(-1000, 30000))),
        ("avg income bounds 0 1", Query(QueryKind.AVERAGE, "income", bounds=(0, 1))),
        ("histogram site", Query(QueryKind.HISTOGRAM, "site")),
        ("count where site = 'sold by us' by age", Query(QueryKind.COUNT, where="site = 'sold by us'", by=("age",))),
        ('histogram "odd name"', Query(QueryKind.HISTOGRAM, "odd name")),
        ("SELECT COUNT(*) FROM t", Query(QueryKind.COUNT)),
        (
            "select site, count(*) as n from t where age > 30 group by site",
            Query(QueryKind.COUNT, where="age > 30", by=("site",)),
        ),
        ("SELECT SUM(LEAST(GREATEST(visits, 0), 77)) FROM t", Query(QueryKind.SUM, "visits", bounds=(0, 77))),
    ],
)
def test_reads(text: str, query: Query) -> None:
    assert parse_query(text) == query
    assert parse_query(str(query)) == query or '"' in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("maximum age", "write it as in"),
        ("sum visits", "has no bounds"),
        ("sum visits bounds 5 1", "the smaller first"),
        ("sum visits bounds -1e300 1e300", "0 or from 1e-200 to 1e"),
        ("average visits bounds 0 5e-324", "0 or from 1e-200 to 1e"),
        ("sum visits bounds 0 inf", "two numbers"),
        ("count bounds 0 1", "only sum and average"),
        ("count age", "count takes none"),
        ("histogram", "needs a column"),
        ("count by", "after 'by'"),
        ("count where ", "give one condition"),
        ("count where age > 30; drop table t", "without ';'"),
        ("count where age > 30 -- all", "comments"),
        ("count where age > 30 /* all */", "comments"),
        ("select count(*) from t; select 1", "without ';'"),
        ("select count(*) from t, u", "not allowed"),
        ("select count(*) from t join u on true", "not allowed"),
        ("select count(*) from (select 1)", "not one table"),
        ("select count(*) from read_csv('/etc/passwd')", "not one table"),
        ("with t as (select 1) select count(*) from t", "not allowed"),
        ("select count(*) from t limit 1", "not allowed"),
        ("select count(distinct age) from t", "COUNT(*)"),
        ("select max(age) from t", "not allowed"),
        ("select age from t", "exactly one aggregate"),
        ("select site, count(*) from t", "does not group by"),
        ("select count(*) from t group by age + 1", "other than columns"),
        ("select count(*) from t union select 1", "not one SELECT"),
        (3, "give text"),
    ],
)
def test_refuses(text: Any, says: str) -> None:
    with pytest.raises(InputError, match=r"(?s).*") as refused:
        parse_query(text)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "age > (SELECT max(age) FROM t)",
        "age IN (SELECT 1)",
        "EXISTS (SELECT 1)",
        "upper(site) = 'A'",
        "read_text('/etc/passwd') = ''",
        "t.age > 3",
        "other.t.age > 3",
        "CAST(age AS VARCHAR) = '3'",
        "age::VARCHAR = '3'",
        "CASE WHEN age > 3 THEN TRUE END",
        "age > ?",
        "age > $1",
        "age > @x",
        "site ILIKE 'a'",
        "site SIMILAR TO 'a'",
        "site || 'x' = 'ax'",
        "(age, site) = (1, 'a')",
        "[age] = [1]",
        "age > 3 UNION SELECT 1",
        "1; SELECT 2",
        "age BETWEEN SYMMETRIC 3 AND 1",
        "site LIKE 'a!%' ESCAPE '!'",
        "site LIKE ANY ('a', 'b')",
        "age // 2 = 1",
        "age ** 2 = 4",
        "site = 'a' COLLATE nocase",
        "age > ALL (SELECT 1)",
        "sum(age) > 3",
        "count(*) OVER () > 3",
        "random() < 0.5",
        "site LIKE age",
        "age = NULL",
        "age = '3'",
        "site = 3",
        "ill = 1",
        "born > 'yesterday'",
        "age",
        "age AND ill",
        "NOT age",
        "Age > 3",
        "agee > 3",
        "'",
        "",
    ],
)
def test_nothing_beyond_the_table_is_reached(text: str) -> None:
    with open_table(TABLE) as opened, pytest.raises(InputError) as refused:
        condition(opened.table, text)
    assert "\n" not in str(refused.value)


MEANINGS: list[tuple[str, list[int]]] = [
    ("age > 30", [1, 2]),
    ("age > 30 OR site IS NULL", [1, 2, 3]),
    ("NOT age > 30", [0]),
    ("NOT (age > 30 AND ill)", [0, 1]),
    ("age BETWEEN 20 AND 31", [0, 1]),
    ("age NOT BETWEEN 20 AND 31", [2]),
    ("site IN ('a', 'it''s')", [0, 2]),
    ("site NOT IN ('a')", [1, 2]),
    ("site LIKE '%t%'", [2]),
    ("site NOT LIKE 'a%'", [1, 2]),
    ("ill", [0, 3]),
    ("ill = TRUE", [0, 3]),
    ("ill IS FALSE", [1]),
    ("born >= '1990-01-01'", [0, 1]),
    ("'1990-01-01' > born", [3]),
    ("cost IS NULL", [1, 2]),
    ("cost > 0", [0]),
    ("age * 2 - 1 = 39", [0]),
    ("age % 2 = 0", [0]),
    ("age / 0 > 1", []),
    ("-age < -40", [2]),
    ("age <> 20 AND age != 31", [2]),
    ("TRUE", [0, 1, 2, 3]),
    ("1 = 1", [0, 1, 2, 3]),
]


def test_a_condition_means_the_same_everywhere(engine: str) -> None:
    # All in one query: on Spark every job costs a second.
    with open_table(TABLE.append_column("row", pa.array(range(4))), engine) as opened:
        tests = {f"c{i}": condition(opened.table, text) for i, (text, _) in enumerate(MEANINGS)}
        got = opened.engine.fetch(opened.table.select("row", **tests)).sort_by("row")
    for i, (text, rows) in enumerate(MEANINGS):
        assert [r for r, kept in enumerate(got[f"c{i}"].to_pylist()) if kept] == rows, text


def test_unknown_columns_come_with_the_closest() -> None:
    with open_table(TABLE) as opened:
        for query in ("count where agee > 3", "histogram sit", "sum costs bounds 0 1", "count by Site"):
            with pytest.raises(InputError, match="did you mean"):
                parse_query(query).check(opened.table)
        with pytest.raises(InputError, match="column of numbers"):
            parse_query("sum site bounds 0 1").check(opened.table)


def test_sensitivity_is_of_one_person() -> None:
    assert parse_query("count").sensitivity(5) == 1  # a person counts once
    assert parse_query("histogram site").sensitivity(1) == 1
    assert parse_query("sum x bounds -10 3").sensitivity(2) == 20
    assert parse_query("average x bounds -10 3").sensitivity(1) == 13


def test_one_query_may_stand_alone() -> None:
    assert parse_queries("count") == parse_queries(["count"]) == parse_queries(Query(QueryKind.COUNT))
