"""The numbers noise goes on, against plain Python with fractions; on whatever engine."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.data.conftest import spark  # noqa: F401
from tests.engines.conftest import _place, on_postgres, on_sqlite, place, server  # noqa: F401
from tests.engines.places import Place

from epsilens.data.tables.open import open_table
from epsilens.data.tables.totals import Steps
from epsilens.plan.contribution import Noisy
from epsilens.plan.file import read_release
from epsilens.plan.noise import contribution
from epsilens.publish.numbers import exact_numbers, unit_of
from epsilens.worlds import Neighbours


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


def test_numbers_are_those_of_plain_python(place: Place) -> None:  # noqa: F811
    made = people()
    rows = made.to_pylist()
    with open_table(place.put(made), place.engine) as opened:
        counts, sums, averages = exact_numbers(opened, plan())
    has = [r for r in rows if r["x"] is not None and not math.isnan(r["x"])]
    assert counts.numbers[Noisy.ANSWER] == tuple(
        Fraction(sum(r["g"] == g and r["x"] > 0 for r in has)) for g in ("a", "b", "z")
    )
    near = sum(steps(r["x"], "-3", "7.5", 6) for r in has)
    assert sums.numbers[Noisy.ANSWER] == (Fraction(near),)
    for i, g in enumerate(("a", "b", "z")):
        own = [steps(r["x"], "0.1", "10", 5) for r in has if r["g"] == g]
        middle = Fraction(10_000 + 1_000_000, 2)
        assert averages.numbers[Noisy.TOTAL][i] == sum(own) - len(own) * middle
        assert averages.numbers[Noisy.SIZE][i] == len(own)


@pytest.mark.parametrize(
    "limits", [{}, {"person": "who", "max_rows": 2}, {"person": "who", "max_rows": 3, "max_groups": 1}]
)
def test_one_person_moves_each_number_by_no_more_than_the_plan_says(limits: dict[str, Any]) -> None:
    """Every person (every row) of a table left out in turn: L1 and L2 of what moves, in units, without rounding."""
    made, planned = people(60), plan(**limits)
    names = sorted(set(made["who"].to_pylist())) if limits else list(range(made.num_rows))

    def numbers(table: pa.Table) -> list[dict[Noisy, tuple[Fraction, ...]]]:
        with open_table(table) as opened:
            return [one.numbers for one in exact_numbers(opened, planned)]

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
                most = one.sensitivity(noisy, Neighbours.ADD_REMOVE, 1)
                assert sum(moved) * unit <= Fraction(most) * (1 + Fraction(1, 10**12))
                assert float(sum(m * m for m in moved)) * float(unit) ** 2 <= (
                    one.sensitivity(noisy, Neighbours.ADD_REMOVE, 2) ** 2 * (1 + 1e-12)
                )


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-0.3, 0.7), (1e-300, 2e-300), (-1e300, 3.0), (1 / 3, 2 / 3), (5.0, 5.5)]
)
def test_steps_stay_within_the_bounds(low: float, high: float) -> None:
    made = Steps.of(low, high)
    assert (
        low - abs(low) * 1e-15
        <= float(made.low * made.size)
        <= float(made.high * made.size)
        <= high + abs(high) * 1e-15
    )
    assert 10**6 - 1 <= max(abs(made.low), abs(made.high)) <= 10**7
