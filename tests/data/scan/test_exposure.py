"""Planned queries on small tables whose answers can be worked out by hand, on both engines."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.plan.plain import number

from epsilens.data.scan.scan import scan
from epsilens.errors import InputError

# Four people in six rows; p, q and r are alone in their site and age, s and t share theirs.
PEOPLE = pa.table(
    {
        "who": ["p", "p", "q", "r", "s", "t"],
        "site": ["a", "a", "b", "c", "d", "d"],
        "age": [30, 31, 40, 50, 60, 60],
        "visits": [5, 100, 0, None, 1, 2],
        "ill": [True, False, False, True, True, False],
    }
)


def test_gaps_of_each_kind(engine: str) -> None:
    found = scan(
        PEOPLE,
        ["site", "age"],
        person="who",
        max_rows=2,
        queries=[
            "count",
            "count where ill",
            "count where age > 35",
            "count where age > 35 and ill by site",
            "sum visits bounds 0 10",
            "average visits bounds 0 10",
            "histogram ill",
        ],
        epsilon=1.0,
        at_most={"success": 0.55},
        known=True,
        engine=engine,
    )
    gaps = {str(q.query): q.gap for q in found.queries}
    # p has two rows and counts once; what is not a quasi-identifier is the secret: "ill" may hold for everyone
    assert gaps["count"] == {"worst": 1, "99%": 1, "90%": 1, "median": 1}
    assert gaps["count where ill"] == gaps["count"]
    assert gaps["histogram ill"] == gaps["count"]
    # age is known: p's rows at 30 and 31 are out
    assert gaps["count where age > 35"] == {"worst": 1, "99%": 1, "90%": 1, "median": 1}
    # p: 5 + 10 (clamped), q: 0, r: unknown and so nothing
    assert gaps["sum visits bounds 0 10"] == {"worst": 15, "99%": 15, "90%": 15, "median": 0}
    mean, n = (5 + 10 + 0 + 1 + 2) / 5, 6
    assert gaps["average visits bounds 0 10"]["worst"] == pytest.approx((abs(5 - mean) + abs(10 - mean)) * 12 / 11)
    assert n == 6
    sums = next(q for q in found.queries if q.query.kind == "sum")
    assert sums.sensitivity == 20
    assert sums.success is not None
    assert sums.success["worst"] == pytest.approx(1 - math.exp(-15 / 20 / 2) / 2)
    assert sums.above == 1
    assert sums.largest_epsilon == pytest.approx(0.210721031316 * 20 / 15, rel=1e-9)
    assert min(q.largest_epsilon or 9 for q in found.queries) == pytest.approx(0.210721031316, rel=1e-9)
    # The planned counts isolate people of this small table by themselves, and that binds before any one query does.
    assert found.largest_epsilon == min(p.largest_epsilon or 9 for p in found.planned)
    assert found.largest_epsilon < 0.2107
    assert found.exceeded is True
    assert found.worst is not None


def test_max_rows_caps_the_gap_and_the_default_is_said() -> None:
    one = scan(PEOPLE, ["site", "age"], person="who", max_rows=1, queries=["count", "sum visits bounds 0 10"])
    assert [(q.sensitivity, q.gap["worst"]) for q in one.queries] == [(1, 1), (10, 10)]
    free = scan(PEOPLE, ["site", "age"], person="who", queries=["count", "sum visits bounds 0 10"])
    assert [q.sensitivity for q in free.queries] == [1, 20]
    assert any("chosen without the data" in note for note in free.notes)


def test_the_quantile_spares_the_few() -> None:
    table = {"id": list(range(101)), "x": [10.0] + [1.0] * 100}
    options: dict[str, Any] = {"queries": "sum x bounds 0 10", "at_most": 0.55, "known": True, "epsilon": 1.0}
    worst = scan(table, ["id"], **options)
    most = scan(table, ["id"], quantile=0.99, **options)
    assert worst.largest_epsilon == pytest.approx(0.210721031316, rel=1e-9)
    assert most.largest_epsilon == pytest.approx(2.10721031316, rel=1e-9)
    assert (worst.exceeded, most.exceeded, worst.queries[0].above) == (True, False, 1)


def test_minimum_query_size_counts_the_others_of_a_group(engine: str) -> None:
    table = {"id": list(range(7)), "g": ["x"] * 4 + [None] * 2 + ["y"]}
    gaps = {}
    for least in (1, 2, 4):
        found = scan(
            table, ["id"], min_query_size=least, queries=["count by g"], epsilon=1.0, at_most=0.51, engine=engine
        )
        gaps[least] = found.queries[0].above
    assert gaps == {1: 7, 2: 4, 4: 0}


@pytest.mark.parametrize("noise", ["laplace", "gaussian", "geometric"])
@pytest.mark.parametrize("known", [True, False])
def test_noises(noise: str, known: bool) -> None:
    delta = 1e-5 if noise == "gaussian" else None
    plan: dict[str, Any] = {"queries": "count", "at_most": 0.55, "noise": noise, "delta": delta, "known": known}
    found = scan({"a": [1, 2]}, ["a"], epsilon=1.0, **plan)
    risk = found.queries[0]
    assert risk.success is not None
    assert 0.5 < risk.success["worst"] < 0.74
    assert risk.largest_epsilon is not None
    again = scan({"a": [1, 2]}, ["a"], epsilon=risk.largest_epsilon, **plan)
    assert again.exceeded is False
    if noise == "geometric":
        with pytest.raises(InputError, match="whole numbers"):
            scan({"a": [1]}, ["a"], queries="sum a bounds 0 1", noise="geometric")


def test_pairs_that_isolate(engine: str) -> None:
    found = scan(
        PEOPLE,
        ["site", "age"],
        person="who",
        queries=["count by site", "count where age < 60", "count where age < 50", "sum visits bounds 0 9"],
        engine=engine,
    )
    named = {(p.first, p.second): (p.answers, p.people) for p in found.pairs}
    # all but r are below 50; p is a site of its own, and so on
    assert named[("count where age < 60", "count where age < 50")] == (1, 1)
    assert ("count by site", "count where age < 60") not in named
    assert all("sum" not in p.first + p.second for p in found.pairs)
    assert "differ in exactly one person" in " ".join(str(found).split())


ROWS = st.lists(
    st.tuples(st.sampled_from("pqrs"), st.sampled_from(["a", "b", None]), st.integers(0, 3)), min_size=1, max_size=9
)


@settings(max_examples=examples(25), deadline=None, derandomize=True)
@given(rows=ROWS, person=st.booleans(), least=st.sampled_from([1, 2]))
def test_pairs_equal_the_definition(rows: list[tuple[str, str | None, int]], person: bool, least: int) -> None:
    table = pa.table(
        {
            "who": [r[0] for r in rows],
            "g": pa.array([r[1] for r in rows], pa.string()),
            "n": pa.array([r[2] for r in rows], pa.int64()),
        }
    )
    found = scan(
        table,
        ["n"],
        person="who" if person else None,
        min_query_size=least,
        queries=["count by g", "count where n > 0"],
    )
    sets: dict[str, dict[Any, set[Any]]] = defaultdict(lambda: defaultdict(set))
    groups: dict[Any, set[str | None]] = defaultdict(set)
    for i, (who, group, n) in enumerate(rows):
        name = who if person else i
        groups[name].add(group)
        sets["all groups of count by g"][()].add(name)
        if n > 0:
            sets["count where n > 0"][()].add(name)
    for name, mine in groups.items():  # each person once, in the group that the keyed hash draws
        sets["count by g"][min(mine, key=lambda g: number(name, g))].add(name)

    expected = {}
    for first, second in combinations(["count by g", "all groups of count by g", "count where n > 0"], 2):
        hits = [
            a ^ b
            for a in sets[first].values()
            for b in sets[second].values()
            if a & b and len(a ^ b) == 1 and min(len(a), len(b)) >= least
        ]
        if hits:
            expected[(first, second)] = (len(hits), len(set.union(*hits)))
    assert {(p.first, p.second): (p.answers, p.people) for p in found.pairs} == expected
