"""Scans on four engines: isolation by its definition, gaps by hand, and everything else the same to the digit."""

from __future__ import annotations

import datetime as dt
import json
import random
from itertools import product
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from tests.data.brute import isolation
from tests.data.scan.test_exposure import PEOPLE
from tests.engines.places import Place

from epsilens.data.correlation.estimation import correlate
from epsilens.data.correlation.intraclass import group_relatedness
from epsilens.data.scan import scan as scan_module
from epsilens.data.scan.equivalence_classes import TooManyClasses
from epsilens.data.scan.scan import scan

#: Texts that collations, trimming and folding would take for one another.
TEXTS = ["x", "X", "é", "e\u0301", "", " ", "x ", "日本", "'; --", "a\tb", "%s", ":x", "ß", "SS", None]


def messy(rows: int = 60) -> list[dict[str, Any]]:
    draw = random.Random(3)
    return [
        {
            "Patient ID": draw.choice(["p", "P", "q", "Q", "ü", "u", "Z", "a", "10", "9", "_"]),
            "a b": draw.choice(TEXTS),
            "select": draw.choice([1, 2, None]),
            "c%d": draw.choice([0.0, -0.0, 0.25, float("nan"), None]),
            "Ja/Nein": draw.choice([True, False, None]),
            "ward" + "x" * 59: draw.choice(["n", "s"]),  # 63 letters, the most PostgreSQL allows
            'q"0': draw.choice([dt.datetime(2024, 3, 31, h, tzinfo=dt.UTC) for h in (0, 1, 2)]),
        }
        for _ in range(rows)
    ]


KINDS = [pa.string(), pa.string(), pa.int32(), pa.float64(), pa.bool_(), pa.string(), pa.timestamp("us", "UTC")]


def frame(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({n: pa.array([r[n] for r in rows], k) for n, k in zip(rows[0], KINDS, strict=True)})


@pytest.mark.on_spark(lambda who, inside: inside is (who is not None))
@pytest.mark.parametrize("who", [None, "Patient ID"])
@pytest.mark.parametrize("inside", [False, True])
def test_isolation_by_its_definition(place: Place, who: str | None, inside: bool) -> None:
    """By both roll-ups: the one here, and the one in the engine for tables with too many combinations."""
    rows = messy()
    columns = list(rows[0])[1:5] if inside else list(rows[0])[1:]
    expected = isolation(rows, columns, who)
    if inside:
        too_many = patch.object(scan_module, "fetch_classes", side_effect=TooManyClasses)
        with too_many, patch.object(scan_module, "encode_rows", lambda *_: None):
            found = scan(place.put(frame(rows), "My Visits"), columns, person=who, engine=place.engine)
    else:
        found = scan(place.put(frame(rows), "My Visits"), columns, person=who, engine=place.engine, show_people=True)
    assert {s.columns: s.people for s in found.subsets} == {k: len(v) for k, v in expected.items()}
    assert (found.rows, found.engine) == (60, place.name)
    if not inside and who is not None:
        assert {row[who] for row in found.shown} == set.union(*expected.values())


def same(found: Any) -> Any:
    plainly = json.loads(json.dumps(found.to_dict(), default=str))
    return {key: value for key, value in plainly.items() if key not in ("engine", "table")}


QUERIES = [
    "count by site",
    "count where age < 60",
    "count where age < 50 and ill",
    "sum visits bounds 0 10",
    "average visits bounds 0 10 by site",
    "average visits bounds 0 10",
    "histogram ill",
]


@pytest.mark.on_spark(lambda least: least == 1)
@pytest.mark.parametrize("least", [1, 2])
def test_planned_queries_by_hand_and_to_the_digit(place: Place, least: int) -> None:
    """On DuckDB too, whose threads hand over rows in any order."""

    def asked(table: Any, engine: Any = None) -> Any:
        return scan(
            table, ["site", "age"], person="who", max_rows=2, queries=QUERIES, epsilon=1.0, at_most={"success": 0.55},
            min_query_size=least, engine=engine, show_people=True,
        )  # fmt: skip

    found = asked(place.put(PEOPLE), place.engine)
    assert same(found) == same(asked(PEOPLE))
    if least == 1:
        gaps = {str(q.query): q.gap["worst"] for q in found.queries}
        assert gaps["sum visits bounds 0 10"] == 15  # 5 and 10, of the person with two rows
        mean, n = (5 + 10 + 0 + 1 + 2) / 5, 6
        gap = (abs(5 - mean) + abs(10 - mean)) * 2 * n / (2 * n - 1)
        assert gaps["average visits bounds 0 10"] == pytest.approx(gap, rel=1e-12)


def test_gaps_of_messy_numbers_to_the_digit(place: Place) -> None:
    """Sums of thirds and tenths, which depend on their order where they are added up as floating numbers."""
    draw = random.Random(5)
    rows = 400
    made = pa.table(
        {
            "who": [f"{draw.choice('aAbB')}{draw.randrange(60)}" for _ in range(rows)],
            "site": [draw.choice(["n", "s", None]) for _ in range(rows)],
            "age": [draw.randrange(40) for _ in range(rows)],
            "cost": [draw.choice([None, draw.random() / 3, 0.1, 1e3 / 7]) for _ in range(rows)],
        }
    )
    queries = ["average cost bounds 0 100 by site", "sum cost bounds -1 50", "count where cost > 0.1 by site"]

    def asked(table: Any, engine: Any = None) -> Any:
        return scan(table, ["site", "age"], person="who", queries=queries, epsilon=1.0, at_most=0.6, engine=engine)

    assert same(asked(place.put(made), place.engine)) == same(asked(made))


def households() -> pa.Table:
    draw = random.Random(8)
    home = [i // 3 for i in range(240)]
    level = {h: draw.gauss(10, 3) for h in set(home)}
    value = [level[h] + draw.gauss(0, 2) for h in home]
    third = [None if draw.random() < 0.02 else draw.choice([0, 1, 2]) for _ in home]
    return pa.table(
        {
            "home": [f"h{h}" for h in home], "x": value, "y": [v + draw.gauss(0, 1) for v in value],
            "s1": third, "s2": [draw.choice([0, 1]) for _ in home], "who": [i // 4 for i in range(240)],
            "year": [f"{2000 + i % 4}" for i in range(240)],
        }
    )  # fmt: skip


def test_related_rows_to_the_digit(place: Place) -> None:
    made = households()
    found = group_relatedness(place.put(made), "x", by="home", engine=place.engine)
    assert found.to_dict() == group_relatedness(made, "x", by="home").to_dict()
    sums = [sum(made["x"].to_pylist()[3 * h : 3 * h + 3]) for h in range(80)]
    total = sum(sums) / 240
    between = sum((s - 3 * total) ** 2 / 3 for s in sums) / 79
    within = (sum((v - total) ** 2 for v in made["x"].to_pylist()) - between * 79) / 160
    assert found.rho == pytest.approx((between - within) / (between + 2 * within), rel=1e-12)


CORRELATIONS: dict[str, dict[str, Any]] = {
    "normal": {"columns": ["x", "y"]},
    "table": {"columns": ["s1", "s2"], "model": "table"},
    "chain": {"columns": ["s2", "s1"], "model": "chain", "bounds": (0, 1)},
    "over time": {"columns": "x", "person": "who", "time": "year", "bounds": (0, 20)},
    "chain over time": {"columns": "s2", "person": "who", "time": "year", "model": "chain"},
    "groups": {"columns": "x", "by": "home"},
}


@pytest.mark.on_spark(lambda name: name in ("chain", "over time"))
@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlation(elsewhere: Place, name: str) -> None:
    """Counts to the digit; a covariance to ten of them, because its sums are floating ones."""
    place = elsewhere
    made = households()
    with patch("epsilens.data.correlation.moments.DRAWS", 80):
        found = same(correlate(place.put(made), engine=place.engine, **CORRELATIONS[name]))
        expected = same(correlate(made, **CORRELATIONS[name]))
    if name in ("normal", "over time"):
        for part in ("independent", "group"):
            assert found[part] == pytest.approx(expected[part], rel=1e-10)
        assert found["worst"]["leakage"] == pytest.approx(expected["worst"]["leakage"], rel=1e-9)
        assert found["interval"]["high"] == pytest.approx(expected["interval"]["high"], rel=1e-6)
        flat = [x for row in found["estimate"]["covariance"] for x in row]
        assert flat == pytest.approx([x for row in expected["estimate"]["covariance"] for x in row], rel=1e-10)
        assert (found["rows"], found["missing"]) == (expected["rows"], expected["missing"])
    else:
        assert found == expected


@pytest.mark.on_spark(lambda **_: False)  # it takes a minute for them
def test_many_queries_are_not_nested_too_deep(elsewhere: Place) -> None:
    """SQLite's parser gives up at some twenty tables within tables."""
    place = elsewhere
    queries = [f"average visits bounds 0 {n} where age > {n} by site" for n in range(1, 6)]
    queries += [f"count where age > {n} by ill" for n in range(1, 6)]
    found = scan(place.put(PEOPLE), ["site", "age"], person="who", queries=queries, engine=place.engine)
    assert same(found) == same(scan(PEOPLE, ["site", "age"], person="who", queries=queries))


def test_every_pair_of_capitals_is_two_people(place: Place) -> None:
    """People and groups whose order depends on the language: in cells with several of them nobody is alone."""
    names = [a + b for a, b in product("aAbB", "zZ")]
    rows = [(n, "one", i % 2) for i, n in enumerate(names)] + [(n, "two", 1) for n in names] + [("Bz", "one", 0)]
    made = pa.table({"who": [r[0] for r in rows], "g": [r[1] for r in rows], "x": [r[2] for r in rows]})
    queries = ["sum x bounds 0 1 by g", "sum x bounds 0 1", "sum x bounds 0 1 where who < 'a'"]
    found = scan(place.put(made), ["g"], person="who", queries=queries, engine=place.engine)
    assert (found.isolated, found.pairs, found.planned) == (0, (), ())
