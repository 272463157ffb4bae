"""Sentences of a report that would puzzle their reader."""

from __future__ import annotations

import pyarrow as pa
import pytest

import epsilens as el

PEOPLE = pa.table({"age": [20 + i % 60 for i in range(400)]})


@pytest.mark.parametrize(("epsilon", "room"), [(0.1, True), (0.21, False)])
def test_room_is_told_where_there_is_some(epsilon: float, room: bool) -> None:
    """One count under Laplace noise keeps a success of 0.55 up to ε = −2·log(0.9) = 0.2107, shown as 0.21."""
    plan = {
        "data": {"table": "people.csv"},
        "queries": [{"count": True}],
        "mechanism": {"epsilon": epsilon},
        "limits": {"success": 0.55},
    }
    told = str(el.assess(plan, table=PEOPLE))
    assert f"ε = {epsilon} is within your limit\n" in told
    assert ("Up to ε = 0.21 would keep it too." in told) is room


@pytest.mark.parametrize(("top", "told"), [(365, True), (5, False)])
def test_bounds_that_make_the_noise_are_told(top: int, told: bool) -> None:
    """100 stays of 2 days: their total is 200, and Laplace noise of scale 365 misses by 1,093 in 95 of 100 releases."""
    plan = {
        "data": {"table": "people.csv"},
        "queries": [{"sum": "stay", "bounds": [0, top], "name": "days"}],
        "mechanism": {"epsilon": 1},
        "limits": {"success": 0.7, "error": 0.1},
    }
    report = " ".join(str(el.assess(plan, table=pa.table({"stay": [2] * 100}))).split())
    assert (f"The noise of “days” grows with its bounds, 0 to {top}." in report) is told
