"""A plan is refused in our own words, whatever the model that checks it says."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from epsilens.errors import InputError
from epsilens.plan.file import read_release

PLAN: dict[str, Any] = {"data": {"table": "a.csv"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.0}}


@pytest.mark.parametrize(
    ("part", "name", "value", "says"),
    [
        ("mechanism", "epsilon", -1, "mechanism.epsilon is -1: give a number above 0 and at most 700"),
        ("mechanism", "epsilon", "x", "mechanism.epsilon is 'x': give a number above 0"),
        ("mechanism", "epsilon", float("nan"), "give a number above 0"),
        ("mechanism", "noise", "cauchy", "give 'laplace' or 'gaussian'"),
        ("data", "max_rows", 1.5, "give a whole number of 1 or more"),
        ("data", "table", None, "data.table is empty: give text"),
        ("data", "quasi_identifiers", "age", "give a list"),
        ("data", "read", 3, "give entries"),
        ("adversary", "prior", 1, "give a number above 0 and below 1"),
        ("adversary", "knows", "all", "give 'nothing' or 'one answer'"),
        ("limits", "success", "x", "give a number"),
    ],
)
def test_one_sentence(part: str, name: str, value: Any, says: str) -> None:
    plan = copy.deepcopy(PLAN)
    plan.setdefault(part, {})[name] = value
    with pytest.raises(InputError) as refused:
        read_release(plan)
    assert says in str(refused.value)
    assert "nput should" not in str(refused.value)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"count": True, "by": "a", "threshold": "never"}, "give 'auto' or a number"),
        ({"count": True, "rows": "maybe"}, "give true or false"),
        ({"sum": "x", "bounds": [1, 2, 3]}, "give at most 2 entries"),
        (3, "give entries, name: value"),
    ],
)
def test_queries(query: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_release({**PLAN, "queries": [query]})
    assert says in str(refused.value)
