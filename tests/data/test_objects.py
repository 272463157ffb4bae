"""Scans, correlations and assessments as objects: they pickle, copy, hash and compare by what they hold."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.data.queries import parse_query
from epsilens.data.scan.request import ScanRequest
from epsilens.plan.file import read_release

RNG = np.random.default_rng(11)
TABLE = {"site": RNG.integers(0, 3, 40), "age": RNG.integers(20, 60, 40), "x": RNG.integers(0, 9, 40)}
WIDE = {"a": [1.0, 2.0, 4.0, 3.0, 7.0, 1.0], "b": [2.0, 1.0, 5.0, 3.0, 6.0, 4.0]}
FAMILIES = {"home": [1, 1, 2, 2, 3, 3], "value": [1.0, 2.0, 5.0, 6.0, 2.0, 3.0]}
PLAN = {
    "title": "T" * 190,
    "data": {"table": "t", "quasi_identifiers": ["site", "age"]},
    "queries": [{"count": "x > 4", "by": "site", "groups": [0, 1, 2]}, {"sum": "x", "bounds": [0, 9]}],
    "mechanism": {"epsilon": 1.0},
    "adversary": {"knowledge": {"table": {"a": [0.4, 0.6], "b": [0.2, 0.8]}, "known": "a"}},
    "limits": {"success": 0.6, "roc": {"at_most": 0.5, "fpr": 0.1}, "error": 0.2},
}
QUERIES = ["count where x > 4 by site", "sum x bounds 0 9"]

MADE: dict[str, Callable[[], Any]] = {
    "scan": lambda: el.scan(TABLE, ["site", "age"], queries=QUERIES, epsilon=1.0, at_most=0.6, show_people=True),
    "correlation": lambda: el.correlate(WIDE, ["a", "b"], scale=1.0),
    "related": lambda: el.correlate(FAMILIES, ["value"], by="home", bounds=(0, 10)),
    "assessment": lambda: el.assess(PLAN, table=TABLE),
    "plan": lambda: read_release(PLAN),
    "query": lambda: parse_query("sum x bounds 0 9 where age > 30 by site"),
}


@pytest.mark.parametrize("build", MADE.values(), ids=MADE)
def test_an_object_is_what_it_holds(build: Callable[[], Any]) -> None:
    made = build()
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made), build()):
        assert other == made
        assert hash(other) == hash(made)
        assert repr(other) == repr(made)
    assert made != object()


@pytest.mark.parametrize("name", ["scan", "correlation", "related", "assessment", "query"])
def test_a_repr_is_one_short_line(name: str) -> None:
    said = repr(MADE[name]())
    assert len(said) < 300
    assert "\n" not in said
    assert " object at 0x" not in said


def test_a_repr_says_what_was_found() -> None:
    found, a = MADE["scan"](), MADE["assessment"]()
    assert f"people=40, isolated={found.isolated}, quasi_identifiers=2, queries=2, epsilon=1" in repr(found)
    assert "verdict='over', epsilon=1, recommended=" in repr(a)
    assert "model='normal', records=2, rows=6" in repr(MADE["correlation"]())


def test_parts_of_results_hash_too() -> None:
    a, found = MADE["assessment"](), MADE["scan"]()
    parts = [*a.risks, a.curve, a.verdict, *a.queries, a.scan, *found.queries, *found.columns, *found.pairs]
    assert len({hash(part) for part in parts}) > 1
    assert a.risks[0] in set(a.risks)
    with pytest.raises(TypeError):
        a.risks[0].arguments["prior"] = 0.1


def test_a_difference_is_a_difference() -> None:
    one = el.scan(TABLE, ["site", "age"], epsilon=1.0)
    assert one != el.scan(TABLE, ["site"], epsilon=1.0)
    assert read_release(PLAN) != read_release({**PLAN, "limits": {"success": 0.6}})


def test_a_request_names_what_was_asked() -> None:
    given: dict[str, Any] = {"person": None, "known_columns": None, "min_query_size": 1, "max_rows": None}
    given |= {"epsilon": 1, "at_most": {"success": 0.6}, "quantile": None, "delta": None, "known": False}
    request = ScanRequest.of("site, age", queries=QUERIES, noise="laplace", show_people=False, **given)
    assert request.quasi_identifiers == ("site", "age")
    assert (request.epsilon, request.at_most, request.attack.noise) == (1.0, 0.6, "laplace")
    assert [str(q) for q in request.queries] == QUERIES
    assert request == pickle.loads(pickle.dumps(request))
