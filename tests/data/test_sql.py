"""SQL in a plan: the rows it asks about are those DuckDB finds, and what a plan cannot promise is refused.

The reference is DuckDB itself on small random tables: the SELECT as it was written beside the condition that was read
out of it, run as text and through Ibis.
"""

from __future__ import annotations

import random
from typing import Any

import duckdb
import ibis
import pandas as pd
import pytest

from epsilens.data.queries import names_table, read_select
from epsilens.data.tables.conditions import condition
from epsilens.errors import InputError

TEXTS = ["a", "b'c", 'say "hi"', "größe", "日本", "", " a ", "NULL", "50%", "a_b", "it''s", "\\", "x;y", "--"]
NUMBERS = [0.0, 1.5, -2.0, 7.0, float("nan"), None]


def table(dice: random.Random, rows: int = 25) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "person": [dice.randrange(8) for _ in range(rows)],
            "größe": pd.Series([dice.choice(NUMBERS) for _ in range(rows)], dtype="object"),
            "n": pd.array([dice.choice([None, *range(-3, 6)]) for _ in range(rows)], dtype="Int64"),
            "text": [dice.choice([*TEXTS, None]) for _ in range(rows)],
            'odd "name"': [dice.choice(["x", "y", None]) for _ in range(rows)],
            "ill": pd.array([dice.choice([True, False, None]) for _ in range(rows)], dtype="boolean"),
        }
    )


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def some_condition(dice: random.Random, depth: int = 0) -> str:
    """A random condition in the SQL that is read."""
    text, n, odd = dice.choice(["text", "t.text"]), dice.choice(["n", "t.n", '"n"']), '"odd ""name"""'
    compared = dice.choice(["=", "<>", "!=", "<", "<=", ">", ">="])
    leaves = [
        f"{n} {compared} {dice.randrange(-3, 6)}",
        f"{text} {dice.choice(['=', '<>'])} {quoted(dice.choice(TEXTS))}",
        f"{odd} = 'x'",
        f"{n} {dice.choice(['', 'NOT '])}BETWEEN {dice.randrange(-3, 2)} AND {dice.randrange(0, 6)}",
        f"{n} {dice.choice(['', 'NOT '])}IN ({', '.join(str(dice.randrange(-3, 6)) for _ in range(3))})",
        f"{text} {dice.choice(['', 'NOT '])}IN ({', '.join(quoted(dice.choice(TEXTS)) for _ in range(3))})",
        f"{dice.choice([text, n, odd, 'ill'])} IS {dice.choice(['', 'NOT '])}NULL",
        f"{text} {dice.choice(['', 'NOT '])}LIKE {quoted(dice.choice(['%a%', '_', '%ö%', '50%', '%']))}",
        f"{n} + 1 {compared} {n} * 2",
        f"-{n} {compared} 2",
        "ill",
        f"ill IS {dice.choice(['', 'NOT '])}{dice.choice(['TRUE', 'FALSE'])}",
        f'"größe" {compared} {dice.choice([0.0, 1.5, -2.0])}',
    ]
    if depth > 2 or dice.random() < 0.35:
        return dice.choice(leaves)
    left, right = some_condition(dice, depth + 1), some_condition(dice, depth + 1)
    return dice.choice([f"({left}) AND {right}", f"({left} OR {right})", f"NOT ({left})", f"{left} AND {right}"])


def rows_of(base: Any, where: str) -> list[int]:
    found = base.sql(f"SELECT row FROM t WHERE {where} ORDER BY row").fetchall()
    return [row for (row,) in found]


@pytest.mark.parametrize("seed", range(4))
def test_the_rows_are_those_of_the_sql(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(5):
        frame = table(dice)
        frame.insert(0, "row", range(len(frame)))
        frame["größe"] = frame["größe"].astype(float)
        base = duckdb.connect()
        base.register("frame", frame)
        base.execute(
            "CREATE TABLE t AS SELECT * REPLACE (CASE WHEN isnan(größe) THEN NULL ELSE größe END AS größe) FROM frame"
        )
        over = ibis.duckdb.from_connection(base)
        for _ in range(12):
            asked = some_condition(dice)
            filtered = dice.random() < 0.2
            where = f"WHERE {asked}" if not filtered else "WHERE n IS NOT NULL"
            behind = f" FILTER (WHERE {asked})" if filtered else ""
            read = read_select(f"SELECT COUNT(*){behind} AS answer FROM t {where}")
            assert read.where is not None
            true = rows_of(base, f"({asked}) AND n IS NOT NULL" if filtered else asked)
            assert rows_of(base, read.where) == true, asked
            kept = over.table("t")
            found = kept.filter(condition(kept, read.where)).order_by("row").select("row").to_pyarrow()
            assert found["row"].to_pylist() == true, asked


def test_a_count_of_a_column_is_of_rows_that_have_it() -> None:
    base = duckdb.connect()
    base.execute("CREATE TABLE t AS FROM (VALUES (1, 'a'), (NULL, 'a'), (NULL, 'b')) v(x, g)")
    read = read_select("select count(x) from t where g = 'a'")
    counted = base.sql(f"select count(*) from t where {read.where}").fetchone()
    assert counted == base.sql("select count(x) from t where g = 'a'").fetchone() == (1,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select avg(least(77, greatest(0, x))) from t", ("average", "x", (0.0, 77.0))),
        ("select avg(greatest(least(x, 77), -1.5)) m from t", ("average", "x", (-1.5, 77.0))),
        ("SELECT SUM(t.x) FROM a.b.t", ("sum", "x", None)),
        ("(select sum(v.x) from t as v)", ("sum", "x", None)),
        ("from t select sum(x)", ("sum", "x", None)),
    ],
)
def test_bounds_and_names(text: str, expected: tuple[str, str, Any]) -> None:
    read = read_select(text)
    assert (read.aggregate, read.column, read.bounds) == expected
    assert read.table == "t"


@pytest.mark.parametrize("groups", ["group by a, t.b", "group by 1, 2", "group by all", "GROUP BY A, B"])
def test_groups(groups: str) -> None:
    assert [name.lower() for name in read_select(f"select a, b, count(*) from t {groups}").by] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("select count(*) from t join u using (id)", "JOIN is not allowed"),
        ("select count(*) from t, u", "JOIN is not allowed"),
        ("select count(*) from (select * from t)", "not one table"),
        ("select count(*) from read_csv('/etc/passwd')", "not one table"),
        ("with u as (select 1) select count(*) from u", "WITH is not allowed"),
        ("select a, count(*) from t group by a having count(*) > 5", "HAVING is not allowed"),
        ("select count(*) from t limit 5", "LIMIT is not allowed"),
        ("select count(*) from t offset 5", "OFFSET is not allowed"),
        ("select a, count(*) from t group by a order by 2", "ORDER BY is not allowed"),
        ("select distinct a, count(*) from t group by a", "DISTINCT is not allowed"),
        ("select count(*) from t tablesample 10%", "a sample is not allowed"),
        ("select count(*) over () from t", "a window"),
        ("select count(*) from t qualify true", "QUALIFY is not allowed"),
        ("select a, count(*) from t group by rollup (a)", "other than columns"),
        ("select a, count(*) from t group by a + 1", "other than columns"),
        ("select a, count(*) from t group by a, a", "twice"),
        ("select a, count(*) from t", "does not group by"),
        ("select max(x) from t", "'MAX(x)' is not allowed"),
        ("select median(x) from t", "'MEDIAN(x)' is not allowed"),
        ("select stddev(x) from t", "is not allowed"),
        ("select approx_count_distinct(x) from t", "is not allowed"),
        ("select count(*) * 2 from t", "is not allowed"),
        ("select round(avg(x), 1) from t", "is not allowed"),
        ("select sum(distinct x) from t", "DISTINCT is for COUNT(DISTINCT person)"),
        ("select count(distinct a, b) from t", "DISTINCT is for COUNT(DISTINCT person)"),
        ("select sum(x + 1) from t", "not of one column"),
        ("select sum(case when x then 1 end) from t", "not of one column"),
        ("select sum(least(x, 5)) from t", "bounds are not two numbers"),
        ("select sum(least(greatest(x, 9), 5)) from t", "bounds are not two numbers"),
        ("select sum(least(greatest(x, y), 5)) from t", "not a clamp"),
        ("select count(*), sum(x) from t", "exactly one aggregate"),
        ("select a from t group by a", "exactly one aggregate"),
        ("select * from t", "is not allowed"),
        ("select count(*) from t where random() < 0.5", "'RANDOM()' is not allowed in a condition"),
        ("select count(*) from t where d < now()", "is not allowed in a condition"),
        ("select count(*) from t where lower(a) = 'x'", "derive a column"),
        ("select count(*) from t where x in (select 1)", "a subquery"),
        ("select count(*) from t where x > (select avg(x) from t)", "a subquery"),
        ("select count(*) from t where exists (select 1)", "a subquery"),
        ("select count(*) from t where x = ?", "write the value itself"),
        ("select count(*) from t where x = $1", "write the value itself"),
        ("select count(*) from t where u.x = 1", "not a column of the table"),
        ("select count(*) from t where x ilike 'a'", "is not allowed in a condition"),
        ("select count(*) from t where x::int = 3", "is not allowed in a condition"),
        ("select count(*) from t union all select 1", "not one SELECT"),
        ("delete from t", "not one SELECT"),
        ("select count(*) from t; drop table t", "without ';'"),
        ("select count(*) from t;;", "without ';'"),
        ("select count(*) from t -- all", "without ';' and comments"),
        ("select", "not one table"),
        ("select count(* from t", "does not parse"),
    ],
)
def test_what_a_plan_cannot_promise(text: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        read_select(text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.parameter == "sql"


def test_dates_take_the_type_of_their_column() -> None:
    assert read_select("select count(*) from t where d >= date '2024-12-31'").where == "d >= '2024-12-31'"


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("people.csv", True),
        ("data/people.parquet", True),
        ("duckdb://clinic.db#people", True),
        ("people_2.csv", False),
        ("epsilens:adult", False),
    ],
)
def test_the_table_behind_from(name: str, named: bool) -> None:
    assert names_table("People", name) is named


def test_a_long_condition() -> None:
    many = " OR ".join(f"n = {i}" for i in range(300))
    assert read_select(f"select count(*) from t where {many}").where == many


def test_a_select_may_end_as_others_do_and_a_long_one_is_cut() -> None:
    assert read_select("select count(*) from t where age > 3 ; ") == read_select("select count(*) from t where age > 3")
    with pytest.raises(InputError) as error:
        read_select(f"select count(*) from t where age in ({'1, ' * 5000}")
    assert len(str(error.value)) < 400
