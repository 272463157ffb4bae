"""Releases in YAML: what is accepted, and that everything else is refused in one sentence that names the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from epsilens.assessment.assess import assess
from epsilens.errors import InputError
from epsilens.plan.file import MOST_BYTES, read_release
from epsilens.plan.model import Data, Release, ReleaseQuery

ROOT = Path(__file__).parents[2]
GOOD = """\
title: Visits
data:
  table: t.parquet
  person: who
  max_rows: 3
  quasi_identifiers: [site, age]
  secret: visits > 0
queries:
  - count: visits > 0
    by: site
  - sum: visits
    bounds: [0, 77]
mechanism: {noise: laplace, epsilon: 1.0}
adversary: {prior: 0.5, knows: one answer}
limits: {success: 0.55}
"""


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read_release(text)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


def test_a_release_reads_and_is_frozen() -> None:
    release = read_release(GOOD)
    assert release.epsilon == 1.0
    assert release.shares == (0.5, 0.5)
    assert read_release(release) is release
    assert read_release(release.model_dump()) == release
    assert release.digest() == read_release(GOOD).digest() != read_release(GOOD.replace("77", "78")).digest()
    with pytest.raises(Exception, match="frozen"):
        setattr(release, "title", "other")  # noqa: B010 - mypy knows that it is frozen


def test_each_query_may_have_its_own_epsilon() -> None:
    text = GOOD.replace("epsilon: 1.0}", "}").replace("noise: laplace, }", "noise: laplace}")
    text = text.replace("by: site", "by: site\n    epsilon: 0.3").replace("77]", "77]\n    epsilon: 0.1")
    release = read_release(text)
    assert release.epsilon == pytest.approx(0.4)
    assert release.shares == pytest.approx((0.75, 0.25))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("    by: site", "    bye: site", "line 10 of release: there is no queries.1.bye; allowed here are count"),
        ("mechanism:", "mechanisms:", "mechanism"),
        ("epsilon: 1.0", "epsilon: one", "line 13 of release: mechanism.epsilon is 'one'"),
        ("epsilon: 1.0", "epsilon: -1", "mechanism.epsilon is -1"),
        ("epsilon: 1.0", "epsilon: .nan", "epsilon"),
        ("epsilon: 1.0", "epsilon: .inf", "epsilon"),
        ("epsilon: 1.0", "epsilon: 1e9", "epsilon"),
        ("max_rows: 3", "max_rows: 2.5", "data.max_rows"),
        ("max_rows: 3", "max_rows: 0", "data.max_rows is 0"),
        ("  person: who\n", "", "max_rows needs person"),
        ("bounds: [0, 77]", "bounds: [0]", "bounds"),
        ("    bounds: [0, 77]\n", "", "sum needs bounds"),
        ("- sum: visits", "- sum: visits\n    count: true", "it has count and sum"),
        ("noise: laplace", "noise: uniform", "mechanism.noise is 'uniform'"),
        ("noise: laplace", "noise: gaussian", "gaussian noise needs delta"),
        ("epsilon: 1.0}", "epsilon: 1.0, delta: 1.0e-6}", "delta is for gaussian noise and for thresholds"),
        ("success: 0.55", "sucess: 0.55", "there is no reading 'sucess'"),
        ("success: 0.55", "success: 55", "success is 55: give a share between 0 and 1"),
        ("success: 0.55", "success: -0.1", "success is -0.1"),
        ("success: 0.55", "kl: -1", "kl is -1: give 0 or more"),
        ("success: 0.55", "success: high", "limits.success"),
        ("prior: 0.5", "prior: 0", "adversary.prior is 0"),
        ("knows: one answer", "knows: everything", "adversary.knows is 'everything'"),
        ("quasi_identifiers: [site, age]", "quasi_identifiers: 7", "quasi_identifiers"),
        ("title: Visits", "title: " + "x" * 300, "title"),
        ("limits: {success: 0.55}", "limits: [success]", "limits"),
        ("    by: site", "    by: site\n    epsilon: 0.5", "either every query has its own epsilon or none"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, says: str) -> None:
    assert old in GOOD
    assert says in refused(GOOD.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("    by: site", "    bye: site", "queries.1.bye"),
        ("    by: site", "    by: [site, 7]", "queries.1.by"),
        ("mechanism:", "mechanisms:", "mechanism"),
        ("epsilon: 1.0", "epsilon: one", "mechanism.epsilon"),
        ("max_rows: 3", "max_rows: 0", "data.max_rows"),
        ("  person: who\n", "", "data.max_rows"),
        ("bounds: [0, 77]", "bounds: [0]", "queries.2.bounds.2"),
        ("bounds: [0, 77]", "bounds: [0, x]", "queries.2.bounds.2"),
        ("    bounds: [0, 77]\n", "", "queries.2.bounds"),
        ("- sum: visits", "- sum: visits\n    count: true", "queries.2"),
        ("noise: laplace", "noise: uniform", "mechanism.noise"),
        ("noise: laplace", "noise: gaussian", "mechanism.delta"),
        ("success: 0.55", "sucess: 0.55", "limits.sucess"),
        ("success: 0.55", "success: 55", "limits.success"),
        ("success: 0.55", "success: high", "limits.success"),
        ("success: 0.55", "roc: {fpr: 0.1}", "limits.roc"),
        ("prior: 0.5", "prior: 0", "adversary.prior"),
        ("prior: 0.5", "correlation: sometimes", "adversary.correlation"),
        ("prior: 0.5", "correlation: [[1, 2], [2, 1]]", "adversary.correlation"),
        ("prior: 0.5", "knowledge: {foo: 1}", "adversary.knowledge.foo"),
        ("prior: 0.5", "knowledge: {table: {a: [1]}, known: a}", "adversary.knowledge.table"),
        ("noise: laplace, epsilon: 1.0", "noise: laplace", "mechanism.epsilon"),
        ("    by: site", "    by: site\n    epsilon: 0.5", "queries"),
        ("title: Visits", "title: A\ntitle: B", "title"),
    ],
)
def test_an_error_carries_the_place_in_the_file(old: str, new: str, place: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read_release(GOOD.replace(old, new))
    assert caught.value.parameter == place


def test_the_line_is_the_one_that_is_wrong() -> None:
    assert refused(GOOD.replace("max_rows: 3", "max_rows: three")).startswith("line 5 of release")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: &a [x, x]\nb: [*a, *a]\nc: 1\n", "anchor or alias"),
        (GOOD + "extra: *a\n", "anchor or alias"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", "nested more than 20 deep"),
        (GOOD + "title: Again\n", "line 16 of release gives 'title' again"),
        ("data:\n\ttable: x\n", "line 2 of release cannot be read"),
        ("title: [unclosed\n", "cannot be read"),
        ("just words\nand more\n", "is not a mapping"),
        ("- a\n- b\n", "is not a mapping"),
        ("\n\n", "is not a mapping"),
        ("a: 1\n---\nb: 2\n", "cannot be read"),
        ("a: !!python/object/apply:os.system ['true']\nb: 1\n", "cannot be read"),
        ("title: !!binary aGVsbG8=\nb: 1\n", "release"),
        ("a\x00b: 1\n", "cannot be read"),
    ],
)
def test_hostile_yaml(text: str, says: str) -> None:
    assert says in refused(text)


def test_an_alias_bomb_does_not_unfold() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert "anchor or alias" in refused("\n".join(lines) + "\n")


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert read_release(file) == read_release(str(file)) == read_release(GOOD)
    file.write_bytes(b"title: \xff\xfe\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_release(file)
    file.write_text("# " + "x" * (2 * MOST_BYTES), encoding="utf-8")
    with pytest.raises(InputError, match="larger than a megabyte"):
        read_release(file)
    with pytest.raises(InputError, match="No such file"):
        read_release(tmp_path / "missing.yaml")
    with pytest.raises(InputError, match="directory"):
        read_release(tmp_path)
    assert "larger than a megabyte" in refused("# " + "x" * (2 * MOST_BYTES) + "\n")


def test_unicode_is_welcome() -> None:
    release = read_release(GOOD.replace("title: Visits", "title: “Hôpital” 日本 <b>"))
    assert release.title == "“Hôpital” 日本 <b>"


def test_most_queries() -> None:
    head, tail = GOOD.split("  - count")[0], "mechanism: {epsilon: 1}\n"
    assert len(read_release(head + "  - count: true\n" * 32 + tail).queries) == 32
    assert "queries" in refused(head + "  - count: true\n" * 33 + tail)
    assert "queries" in refused(head.replace("queries:\n", "queries: []\n") + tail)


@pytest.mark.parametrize("value", [{"data": 3}, {"data": {"table": 3}}, {3: 4}, {}])
def test_a_mapping_is_checked_too(value: dict[Any, Any]) -> None:
    with pytest.raises(InputError):
        read_release(value)


def test_the_published_schema_is_current() -> None:
    published = json.loads((ROOT / "docs" / "release.schema.json").read_text(encoding="utf-8"))
    assert published == Release.model_json_schema()


def test_the_example_reads() -> None:
    assert len(read_release(ROOT / "examples" / "mental-visits.yaml").queries) == 3


@pytest.mark.parametrize("field", ["epsilon", "delta"])
def test_yes_is_no_number(field: str) -> None:
    with pytest.raises(InputError, match=rf"mechanism\.{field}: it is True: give a number"):
        read_release({
            "data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.0, field: True},
        })  # fmt: skip


def test_a_name_keeps_its_spaces() -> None:
    plan = {
        "data": {"table": "t.parquet", "quasi_identifiers": [" Age "]},
        "queries": [{"sum": " Age ", "bounds": [0, 1]}],
        "mechanism": {"epsilon": 1},
    }
    read = read_release(plan)
    assert read.data.quasi_identifiers == (" Age ",)
    assert read.queries[0].sum == " Age "


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


def test_a_plan_that_is_printed_keeps_its_password() -> None:
    made = Data(table="postgres://me:hush@host/db#visits")
    assert "hush" not in repr(made) + str(made)
    assert made.table == "postgres://me:hush@host/db#visits"
