"""The numbers noise goes on, against plain Python with fractions; on whatever engine."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.data.conftest import spark  # noqa: F401
from tests.engines.conftest import _place, on_postgres, on_sqlite, place, server  # noqa: F401
from tests.engines.places import Place

import epsilens as el
from epsilens.assessment.provenance import plan_guarantee
from epsilens.data.tables.dialect import SumSteps
from epsilens.data.tables.table import open_table
from epsilens.plan.cells import cells, cells_of_rows, draws_of, unit_of
from epsilens.plan.contribution import NoisyNumber, contribution
from epsilens.plan.file import read_release
from epsilens.worlds import Relation


def people(rows: int = 200, seed: int = 3) -> pa.Table:
    draw = random.Random(seed)
    values = [draw.choice([None, math.nan, 1e300, -1e300, draw.uniform(-20, 20), 0.1, 7.5]) for _ in range(rows)]
    return pa.table({
        "who": [draw.randrange(60) for _ in range(rows)], "g": [draw.choice("abc") for _ in range(rows)],
        "x": pa.array(values, pa.float64()),
    })  # fmt: skip


def plan(**data: Any) -> Any:
    return read_release({
        "data": {"table": "t", **data},
        "queries": [
            {"count": "x > 0", "by": "g", "groups": ["a", "b", "z"]},
            {"sum": "x", "bounds": [-3, 7.5]},
            {"average": "x", "bounds": [0.1, 10], "by": "g", "groups": ["a", "b", "z"]},
        ],
        "mechanism": {"epsilon": 1},
    })  # fmt: skip


def steps(x: float, low: str, high: str, digits: int) -> int:
    """A value as a whole number of steps, by fractions."""
    cut = min(max(Fraction(x), Fraction(low)), Fraction(high))
    return math.floor(cut * Fraction(10) ** digits + Fraction(1, 2))


@pytest.mark.always(1)
def test_numbers_are_those_of_plain_python(place: Place) -> None:  # noqa: F811
    made = people()
    rows = made.to_pylist()
    with open_table(place.put(made), place.engine) as opened:
        counts, sums, averages = cells(opened, plan())
    has = [r for r in rows if r["x"] is not None and not math.isnan(r["x"])]
    assert counts.numbers[NoisyNumber.ANSWER] == tuple(
        Fraction(sum(r["g"] == g and r["x"] > 0 for r in has)) for g in ("a", "b", "z")
    )
    near = sum(steps(r["x"], "-3", "7.5", 6) for r in has)
    assert sums.numbers[NoisyNumber.ANSWER] == (Fraction(near),)
    for i, g in enumerate(("a", "b", "z")):
        own = [steps(r["x"], "0.1", "10", 5) for r in has if r["g"] == g]
        middle = Fraction(10_000 + 1_000_000, 2)
        assert averages.numbers[NoisyNumber.TOTAL][i] == sum(own) - len(own) * middle
        assert averages.numbers[NoisyNumber.SIZE][i] == len(own)


@pytest.mark.parametrize(
    "limits", [{}, {"person": "who", "max_rows": 2}, {"person": "who", "max_rows": 3, "max_groups": 1}]
)
def test_one_person_moves_each_number_by_no_more_than_the_plan_says(limits: dict[str, Any]) -> None:
    """Every person (every row) of a table left out in turn: L1 and L2 of what moves, in units, without rounding."""
    made, planned = people(60), plan(**limits)
    names = sorted(set(made["who"].to_pylist())) if limits else list(range(made.num_rows))

    def numbers(table: pa.Table) -> list[dict[NoisyNumber, tuple[Fraction, ...]]]:
        with open_table(table) as opened:
            return [one.numbers for one in cells(opened, planned)]

    whole = numbers(made)
    rows = made.to_pylist()
    for name in names[:25]:
        left = [r for i, r in enumerate(rows) if (r["who"] != name if limits else i != name)]
        other = numbers(pa.Table.from_pylist(left, schema=made.schema))
        for i, (before, after) in enumerate(zip(whole, other, strict=True)):
            for noisy in before:
                moved = [abs(a - b) for a, b in zip(before[noisy], after[noisy], strict=True)]
                unit = unit_of(planned, i, noisy)
                one = contribution(planned, i)
                most = one.sensitivity(noisy, Relation.ADD_REMOVE, 1)
                assert sum(moved) * unit <= Fraction(most) * (1 + Fraction(1, 10**12))
                assert float(sum(m * m for m in moved)) * float(unit) ** 2 <= (
                    one.sensitivity(noisy, Relation.ADD_REMOVE, 2) ** 2 * (1 + 1e-12)
                )


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-0.3, 0.7), (1e-300, 2e-300), (-1e300, 3.0), (1 / 3, 2 / 3), (5.0, 5.5)]
)
def test_steps_stay_within_the_bounds(low: float, high: float) -> None:
    made = SumSteps.of(low, high)
    assert (
        low - abs(low) * 1e-15
        <= float(made.low * made.size)
        <= float(made.high * made.size)
        <= high + abs(high) * 1e-15
    )
    assert 10**6 - 1 <= max(abs(made.low), abs(made.high)) <= 10**7


# -- the definition -------------------------------------------------------------------------------------------------

SCHEMA = {"who": "int64", "home": "string", "g": "string", "s": "string", "v": "float64", "w": "int64"}
#: Every kind of query, split by none, one and two columns, with listed names and with thresholds.
ASKED: list[dict[str, Any]] = [
    {"count": True},
    {"count": "v > 0", "by": "g", "threshold": 3},
    {"histogram": "s", "by": "g", "threshold": "auto"},
    {"histogram": "g", "rows": True, "groups": ["a", None, "z"]},
    {"count": True, "rows": True, "by": ["g", "s"], "threshold": 2},
    {"sum": "w", "bounds": [-1, 4], "where": "s <> 'p' OR s IS NULL"},
    {"sum": "v", "bounds": [0, 2.5], "by": "g", "threshold": 2},
    {"average": "v", "bounds": [-3, 1], "by": ["s"], "threshold": 2},
    {"average": "w", "bounds": [0, 9], "by": "g", "groups": ["a", "b"], "where": "v IS NOT NULL"},
]
LIMITED: dict[str, dict[str, Any]] = {
    "rows": {},
    "secret": {"person": "who", "max_rows": 2, "secret": "v > 0"},
    "two columns tell it": {
        "person": "who", "max_rows": 3, "max_groups": 2, "secret": {"where": "s = 'p'", "columns": ["g"]},
    },
    "all columns tell it": {"person": "who", "max_rows": 1, "secret": {"where": "v > 0", "columns": ["g", "s", "w"]}},
    "unit": {"unit": "home", "person": "who", "max_rows": 4, "max_groups": 3, "secret": "w = 1"},
    "unit of rows": {"unit": "home", "max_rows": 3, "secret": "v > 0"},
}  # fmt: skip


def crowd(seed: int, rows: int = 160) -> pa.Table:
    """People with up to ten times more rows and groups than their limits, values missing, rows that repeat."""
    draw = random.Random(seed)
    made: list[dict[str, Any]] = []
    for _ in range(rows):
        who = min(int(draw.expovariate(1 / 6)), 30)
        made.append({
            "who": who, "home": f"h{who // 2}",
            "g": draw.choice(["a", "b", "é", None, f"own {who} {draw.randrange(9)}"]),
            "s": draw.choice(["p", "q", None]),
            "v": draw.choice([None, math.nan, -1.0, 0.0, 2.0, 1 / 3, 1e300, 1e-20, 2e-20]),
            "w": draw.choice([None, -5, 0, 1, 1, 40]),
        })  # fmt: skip
    kinds = {"int64": pa.int64(), "string": pa.string(), "float64": pa.float64()}
    return pa.Table.from_pylist(made, schema=pa.schema([(n, kinds[k]) for n, k in SCHEMA.items()]))


def planned(data: dict[str, Any], *queries: dict[str, Any], **mechanism: Any) -> Any:
    asked = list(queries) or list(ASKED)
    if not queries and "person" in data and "unit" not in data:
        asked.append({"count": "w >= 0 OR w IS NULL", "by": "g", "threshold": 2, "touched": 0.1})
    return read_release({
        "data": {"table": "t", **data}, "queries": asked, "mechanism": {"epsilon": 1, **mechanism},
    })  # fmt: skip


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    return [
        {n: None if isinstance(x, float) and math.isnan(x) else x for n, x in row.items()} for row in table.to_pylist()
    ]


@pytest.mark.parametrize("name", LIMITED)
def test_every_engine_equals_the_definition(place: Place, name: str) -> None:  # noqa: F811
    if place.name == "pyspark" and name != "two columns tell it":
        pytest.skip("Spark has its turn with the others elsewhere")
    made, release = crowd(5), planned(LIMITED[name])
    with open_table(place.put(made), place.engine) as opened:
        found = cells(opened, release)
    assert found == cells_of_rows(release, SCHEMA)(plain_rows(made))


def test_a_name_with_nothing_kept_is_not_there() -> None:
    """One person has 300 groups of their own and counts in one (defects 1.1); values missing leave no name either."""
    others = [{"who": k, "g": "common", "v": 1.0} for k in range(30)]
    theirs = [{"who": 99, "g": f"own {k}", "v": None if k else 1.0} for k in range(300)]
    schema = {"who": "int64", "g": "string", "v": "float64"}
    for query in ({"count": True}, {"sum": "v", "bounds": [0, 1]}, {"average": "v", "bounds": [0, 1]},
                  {"count": True, "rows": True}):  # fmt: skip
        release = planned({"person": "who"}, {**query, "by": "g", "threshold": 6})
        kinds = [("who", pa.int64()), ("g", pa.string()), ("v", pa.float64())]
        with open_table(pa.Table.from_pylist([*others, *theirs], schema=pa.schema(kinds))) as opened:
            (found,) = cells(opened, release)
        assert len(found.labels) == 2
        assert (found,) == cells_of_rows(release, schema)([*others, *theirs])


def test_the_secret_does_not_decide_which_rows_others_keep() -> None:
    """Rows (w 0, v 0 or 1), (w 10, v 0), one of which counts: the sum of w is the same for both (defects 1.2)."""
    data = {"person": "who", "max_rows": 1, "secret": "v > 0"}
    release = planned(data, {"sum": "w", "bounds": [0, 10]}, {"sum": "v", "bounds": [0, 1]})
    found = cells_of_rows(release, {"who": "int64", "w": "int64", "v": "int64"})
    for who in range(40):
        sums = {
            found([{"who": who, "w": 0, "v": v}, {"who": who, "w": 10, "v": 0}])[0].numbers[NoisyNumber.ANSWER]
            for v in (0, 1)
        }
        assert len(sums) == 1


def test_other_names_for_columns_keep_the_same_rows() -> None:
    one = planned({"person": "who", "max_rows": 1}, {"sum": "w", "bounds": [0, 9]}, {"sum": "v", "bounds": [0, 9]})
    other = planned({"person": "id", "max_rows": 1}, {"sum": "a", "bounds": [0, 9]}, {"sum": "z", "bounds": [0, 9]})
    rows = [{"who": k // 4, "w": k % 7, "v": k * k % 9} for k in range(80)]
    renamed = [{"id": r["who"], "a": r["w"], "z": r["v"]} for r in rows]
    whole = {"who": "int64", "w": "int64", "v": "int64"}
    assert cells_of_rows(one, whole)(rows) == cells_of_rows(other, dict.fromkeys(("id", "a", "z"), "int64"))(renamed)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_those_whom_a_limit_touched_move_by_one_and_are_assessed(neighbours: str) -> None:
    """All worlds of one person with up to four rows over two groups and a flag: never more than the assessment has.

    The worst one is counted in a group and touched: Laplace numbers moved by ε(1 − t)/Δ and ε·t, Δ = 1 or 2.
    """
    release = planned(
        {"person": "who", "secret": "s = 'p'"}, {"count": True, "by": "g", "groups": ["a", "b"], "touched": 0.25},
        neighbours=neighbours,
    )  # fmt: skip
    found = cells_of_rows(release, {"who": "int64", "g": "string", "s": "string"})
    others = [{"who": 1, "g": "a", "s": None}, {"who": 2, "g": "a", "s": "p"}, {"who": 2, "g": "b", "s": "p"}]
    one = [{"who": 9, "g": g, "s": s} for g in ("a", "b", "c") for s in ("p", None)]
    worlds = [list(rows) for n in range(5) for rows in itertools.combinations_with_replacement(one, n)]
    seen: dict[tuple[Any, ...], set[Any]] = {}
    for rows in worlds:
        (found_cells,) = found([*others, *rows])
        key = tuple(sorted(str(r["g"]) for r in rows))  # all but the secret
        numbers = (*found_cells.numbers[NoisyNumber.ANSWER], *found_cells.numbers[NoisyNumber.TOUCHED])
        seen.setdefault(key, set()).add(numbers)
    assert all(len(numbers) == 1 for numbers in seen.values())  # nothing here looks at the secret
    every = {n for numbers in seen.values() for n in numbers}
    absent = next(iter(seen[()]))
    pairs = [(absent, b) for b in every] if neighbours == "add-remove" else list(itertools.product(every, repeat=2))
    moved = {tuple(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs}
    most = 1 if neighbours == "add-remove" else 2
    assert max(sum(m[:2]) for m in moved) == most
    assert max(m[2] for m in moved) == 1
    scales = [draw.scale for draw in draws_of(release, 0).values()]
    assert scales == pytest.approx([most / 0.75, 1 / 0.25])
    noise = (scales[0], scales[0], scales[1])
    low = 0.0  # of the worst of them, composed: from below
    for m in filter(any, moved):
        parts = [el.laplace(epsilon=float(x) / b) for x, b in zip(m, noise, strict=True) if x]
        low = max(low, el.compose(*parts).bracket("success")[0])
    assert low <= plan_guarantee(release).success <= low + 2e-4
