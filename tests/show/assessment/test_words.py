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
