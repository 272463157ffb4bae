"""Plans on four engines: answers against plain Python, and whole assessments that are the same to the digit."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.engines.places import Place
from tests.plan import plain
from tests.plan.test_answers import DATA, QUERIES, content, plan, shown, table

from epsilens.assessment.accuracy import PlanParameter, candidates_of, spread_of
from epsilens.assessment.assess import assess
from epsilens.assessment.risks import sample_people
from epsilens.data.scan.scan import scan
from epsilens.data.tables.table import open_table
from epsilens.plan.answers import TableAnswers, answers_of
from epsilens.plan.file import read_release
from epsilens.plan.model import Release
from epsilens.plan.movement import correlation_factors

#: Spark takes seconds for each; these have every kind of item and limit among them.
ON_SPARK = ("rows", "unit, fewer groups")


@pytest.mark.on_spark(lambda name: name in ON_SPARK)
@pytest.mark.parametrize("name", DATA)
def test_answers_are_those_of_plain_python(place: Place, name: str) -> None:
    made, data = table(), DATA[name]
    rows, release = made.to_pylist(), plan(data)
    with open_table(place.put(made), place.engine) as opened:
        found = answers_of(opened, release)
        people = sample_people(TableAnswers(opened, release), 50)
    for got, (_, query, covers) in zip(found, QUERIES, strict=True):
        expected = plain.answers(rows, query, data, content(name), covers)
        assert {a.group: (a.value, a.limited, a.bounded, a.rows, a.people, a.nulls) for a in got} == {
            shown(label): numbers for label, numbers in expected.items()
        }
    with open_table(made) as opened:
        assert people == sample_people(TableAnswers(opened, release), 50)


def visits(rows: int = 300) -> pa.Table:
    """People of households with several rows each, under names that no engine likes."""
    draw = random.Random(11)
    made: dict[str, list[Any]] = {
        name: [] for name in ("Patient ID", "Home", "order", "Größe in %", "p", "hash_", "day", "cost", "ill", "at")
    }
    for _ in range(rows):
        who = min(int(draw.expovariate(1 / 20)), 60)
        made["Patient ID"].append(f"P{who:03}" if who % 2 else f"p{who:03}")
        made["Home"].append(f"h{who // 2}")
        made["order"].append(draw.choice(["Aal", "aal", "Öl", "Zebra", "ähre", "", None]))
        made["Größe in %"].append(draw.choice([1.5, 2.25, -3.125, 0.1, 1e6, None]))
        made["p"].append(draw.choice([20, 30, 40]))
        made["hash_"].append(draw.choice(["x", "y"]))
        made["day"].append(draw.choice([dt.date(2024, 2, 29), dt.date(2024, 3, 1), None]))
        made["cost"].append(draw.choice([Decimal("19.99"), Decimal("0.10"), Decimal("250.00"), None]))
        made["ill"].append(draw.choice([True, False, False]))
        made["at"].append(dt.datetime(2024, 3, 31, draw.choice([0, 1, 2]), tzinfo=dt.UTC))
    kinds = {"Größe in %": pa.float64(), "p": pa.int32(), "day": pa.date32(), "cost": pa.decimal128(9, 2),
             "ill": pa.bool_(), "at": pa.timestamp("us", "UTC")}  # fmt: skip
    return pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in made.items()})


PLANS: dict[str, dict[str, Any]] = {
    "people": {
        "data": {
            "table": "t", "person": "Patient ID", "max_rows": 3, "quasi_identifiers": ["order", "p", "day"],
            "secret": {"where": "ill", "columns": ["cost"]},
        },
        "queries": [
            {"count": "ill AND p > 20", "by": "order", "threshold": 5},
            {"histogram": "day"},
            {"sum": "Größe in %", "bounds": [0, 10], "by": "hash_"},
            {"average": "cost", "bounds": [0, 100], "where": "p > 20 OR \"Größe in %\" < 2"},
            {"count": True, "by": ["at"], "groups": ["2024-03-31 00:00:00", "2024-03-31 01:00:00"]},
        ],
        "mechanism": {"epsilon": 1, "noise": "gaussian", "delta": 1e-6},
        "limits": {"success": 0.6, "error": 0.2},
    },
    "households": {
        "data": {
            "table": "t", "person": "Patient ID", "unit": "Home", "max_rows": 4, "max_groups": 2,
        },
        "queries": [
            {"count": "\"hash_\" = 'x'", "by": "p", "groups": [20, 30, 40, 50]},
            {"sum": "cost", "bounds": [0, 20]},
        ],
        "mechanism": {"epsilon": 2, "split": "least error"},
    },
    "related": {
        "data": {"table": "t", "person": "Patient ID", "related": "Home", "max_rows": 2},
        "queries": [{"sum": "p", "bounds": [0, 40]}, {"count": "p > 20"}],
        "mechanism": {"epsilon": 1},
        "adversary": {"correlation": "from data"},
    },
    "rows": {
        "data": {"table": "t", "quasi_identifiers": ["p", "order", "ill"]},
        "queries": [{"sum": "cost", "bounds": [0, 5]}, {"histogram": "order"}, {"average": "p", "bounds": [0, 100]}],
        "mechanism": {"epsilon": 0.5},
    },
}  # fmt: skip


def without_the_engine(found: Any) -> Any:
    """Everything but the engine, the table's name, and the record that names both."""
    plainly = json.loads(json.dumps(found.to_dict(), default=str))
    for part in (plainly, plainly.get("scan") or {}):
        for word in ("engine", "table", "reproduce", "command", "version"):
            part.pop(word, None)
    return plainly


def taken(opened: Any, release: Release) -> list[Any]:
    """All that an assessment takes from a table."""
    queries = tuple(query.to_query() for query in release.queries)
    quasi = list(release.data.quasi_identifiers)
    limits = [(0, PlanParameter.MAX_ROWS)] if release.data.max_groups else []
    bounded = [(0, PlanParameter.BOUNDS)] if release.queries[0].bounds else []
    found = [
        answers_of(opened, release),
        sample_people(TableAnswers(opened, release)),
        [(c.value, c.answers) for c in candidates_of(TableAnswers(opened, release), [*limits, *bounded])],
        correlation_factors(release, opened, queries),
    ]
    if quasi:
        found.append(without_the_engine(scan(opened, quasi, person=release.data.person, queries=queries, epsilon=1)))
    return found


@cache
def on_duckdb(name: str) -> list[Any]:
    with open_table(visits()) as opened:
        return taken(opened, read_release(PLANS[name]))


@pytest.mark.on_spark(lambda name: name == "rows")
@pytest.mark.parametrize("name", PLANS)
def test_what_plans_take_from_a_table_is_the_same_to_the_digit(elsewhere: Place, name: str) -> None:
    place = elsewhere
    with open_table(place.put(visits(), "Visits 1"), place.engine) as opened:
        found = taken(opened, read_release(PLANS[name]))
    assert found == on_duckdb(name)


FORMS: dict[str, Any] = {
    "data": {
        "table": "t", "person": "who",
        "read": {
            "Ward": {"as": "category", "empty": ["N/A"]}, "cost": {"as": "number", "empty": ["N/A"]},
            "day": {"as": "date", "order": "day month year"},
        },
    },
    "queries": [{"histogram": "Ward"}, {"sum": "cost", "bounds": [0, 10_000]}, {"histogram": "day"}],
    "mechanism": {"epsilon": 1},
}  # fmt: skip


def test_text_that_is_read_in_a_form(elsewhere: Place) -> None:
    made = pa.table(
        {
            "who": ["a", "b", "c", "d", "e"],
            "Ward": ["Ärzte", " ärzte", "ÄRZTE ", "Öl", "n/a"],
            "cost": ["8,841.70", "N/A", "1 000.5", "-3", "7"],
            "day": ["31.12.2023", "01.02.2024", "", "29.02.2024", None],
        }
    )
    found = assess(FORMS, table=elsewhere.put(made)).to_dict()["queries"]
    assert [{tuple(a["group"]): a["value"] for a in query["answers"]} for query in found] == [
        {("ärzte",): 3, ("öl",): 1, ("(empty)",): 1},
        {(): 9846.2},
        {("2023-12-31",): 1, ("2024-02-01",): 1, ("2024-02-29",): 1, ("(empty)",): 2},
    ]


@cache
def assessed_on_duckdb() -> Any:
    return without_the_engine(assess(PLANS["related"], table=visits()))


@pytest.mark.always
def test_an_assessment_is_the_same_to_the_digit(elsewhere: Place) -> None:
    found = assess(PLANS["related"], table=elsewhere.put(visits(), "Visits 1"), engine=elsewhere.engine)
    assert without_the_engine(found) == assessed_on_duckdb()


def test_what_values_and_rows_spread_over(place: Place) -> None:
    """Quantiles by hand: numpy's linear ones of the values, counted ones of the rows."""
    made = visits()
    release = plan({"person": "Patient ID"}, {"sum": "Größe in %", "bounds": [0, 1]})
    with open_table(place.put(made), place.engine) as opened:
        bounds = spread_of(opened, release, 0, PlanParameter.BOUNDS)
        rows = spread_of(opened, release, 0, PlanParameter.MAX_ROWS)
    values = [v for v in made["Größe in %"].to_pylist() if v is not None]
    tails = np.array([0.0, 0.001, 0.01, 0.025, 0.05, 0.1])
    assert bounds.low == pytest.approx(np.quantile(values, tails).tolist(), rel=1e-12)
    assert bounds.high == pytest.approx(np.quantile(values, 1 - tails).tolist(), rel=1e-12)
    own: dict[str, int] = {}
    for who, value in zip(made["Patient ID"].to_pylist(), made["Größe in %"].to_pylist(), strict=True):
        own[who] = own.get(who, 0) + (value is not None)
    each = sorted(n for n in own.values() if n)
    places = [math.ceil(len(each) * share) for share in (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), 1)]
    assert rows.each == tuple(each[place - 1] for place in places)
