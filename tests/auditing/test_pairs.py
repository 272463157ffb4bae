"""Pairs of tables made from a plan: neighbours, and as far apart as the plan allows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from epsilens.auditing.pairs import MadeUpRows, NeighbourTables, PairKind, plan_pairs
from epsilens.plan.file import read_release
from epsilens.publish.answers import drawings_of
from epsilens.publish.release import exact_cells

pytest.importorskip("opendp")

TABLE = pa.table(
    {"who": [1, 2], "site": ["a", "b"], "x": [1.0, 2.0], "n": pa.array([1, 2], pa.int32()), "age": [30, 40]}
)
PLAN: dict[str, Any] = {
    "data": {"table": "t", "person": "who", "max_rows": 2},
    "queries": [
        {"count": True, "by": "site", "groups": ["a", "b", "c"]},
        {"sum": "x", "bounds": [-2, 8], "where": "age > 35"},
        {"average": "n", "bounds": [0, 10]},
    ],
    "mechanism": {"epsilon": 1.0},
}


def rows(table: Any) -> Counter[str]:
    return Counter(repr(row) for row in table.to_pylist())


def moved(plan: Any, pair: NeighbourTables) -> float:
    """By how many scales of their noise the exact numbers differ, all together."""
    said = read_release(plan)
    total = 0.0
    first, second = exact_cells(said, pair.first), exact_cells(said, pair.second)
    for a, b in zip(first, second, strict=True):
        for d in drawings_of(said):
            if d.query == a.query:
                here = [dict(zip(e.labels, e.numbers[d.noisy], strict=True)) for e in (a, b)]
                total += sum(abs(float(here[0].get(k, 0) - here[1].get(k, 0))) for k in {*here[0], *here[1]}) / d.scale
    return total


def test_only_one_persons_rows_differ() -> None:
    for pair in plan_pairs(read_release(PLAN), TABLE):
        less, more = rows(pair.first) - rows(pair.second), rows(pair.second) - rows(pair.first)
        assert not less
        assert len({eval(row, {"nan": 0})["who"] for row in more}) == 1, pair.kind


def test_every_pair_that_is_covered_moves_as_far_as_the_plan_allows_and_none_moves_further() -> None:
    """All of ε is spent on the numbers of one person: a movement of ε noise scales in total is the most there is."""
    full = {
        PairKind.AT,
        PairKind.BEYOND,
        PairKind.MANY,
        PairKind.ALONE,
        PairKind.TWO,
        PairKind.OVERFLOW,
        PairKind.ORDER,
    }
    for pair in plan_pairs(read_release(PLAN), TABLE):
        t = moved(PLAN, pair)
        assert t <= 1 + 1e-12, pair.kind
        if pair.kind in full:
            assert t == pytest.approx(1, rel=1e-12), pair.kind


@pytest.mark.parametrize("size", ["noisy", "public"])
def test_a_replaced_person_has_as_many_rows(size: str) -> None:
    plan = {
        **PLAN, "queries": [{"average": "x", "bounds": [0, 10], "size": size}],
        "mechanism": {"epsilon": 1.0, "neighbours": "replace"},
    }  # fmt: skip
    made = plan_pairs(read_release(plan), TABLE)
    assert {p.kind for p in made} >= {PairKind.AT, PairKind.BEYOND, PairKind.MANY, PairKind.OVERFLOW}
    assert (PairKind.MISSING in {p.kind for p in made}) == (size == "noisy")
    for pair in made:
        assert pair.first.num_rows == pair.second.num_rows
        assert moved(plan, pair) <= 1 + 1e-12


def test_nobody_else_is_in_the_group_of_a_person_who_is_alone() -> None:
    alone, two = plan_pairs(read_release(PLAN), TABLE, kinds=[PairKind.ALONE, PairKind.TWO])
    own = alone.second.to_pylist()[-1]["site"]
    assert own not in alone.first.column("site").to_pylist()
    assert len({row["who"] for row in two.first.to_pylist() if row["site"] == own}) == 1


@pytest.mark.parametrize(
    ("query", "noise", "people"),
    [
        ({"count": True, "threshold": 20}, {}, (19, 20)),
        ({"sum": "x", "bounds": [0, 8], "threshold": 7.5}, {}, (7, 8)),
        ({"average": "x", "bounds": [0, 8], "threshold": 60}, {"noise": "gaussian", "delta": 1e-6}, (59, 60)),
        # τ = 1 + b·ln(1/(2δ)) with b = 1 and δ = 1e-6: 14.12, so 15 people
        ({"count": True, "threshold": "auto"}, {"delta": 1e-6}, (14, 15)),
    ],
)
def test_the_person_takes_the_group_to_its_threshold(
    query: dict[str, Any], noise: dict[str, Any], people: tuple[int, int]
) -> None:
    """τ − 1 people share the group without the person and τ with them, in rows of their own and within all limits."""
    plan = {**PLAN, "data": {"table": "t", "person": "who"}, "queries": [{**query, "by": "site"}]}
    plan["mechanism"] = {"epsilon": 1.0, **noise}
    for pair in plan_pairs(read_release(plan), TABLE, kinds=[PairKind.AT, PairKind.MANY, PairKind.ORDER]):
        less, more = Counter(table_groups(pair.first)), Counter(table_groups(pair.second))
        (site,) = [name for name in more if more[name] != less[name]]
        assert (less[site], more[site]) == people, pair.kind
        assert moved(plan, pair) <= 1 + 1e-12 or noise


def table_groups(table: Any) -> list[str]:
    """The group of everybody who is in one alone."""
    mine: dict[Any, set[str]] = {}
    for row in table.to_pylist():
        mine.setdefault(row["who"], set()).add(row["site"])
    return [next(iter(sites)) for sites in mine.values() if len(sites) == 1]


def test_values_are_where_they_are_said_to_be() -> None:
    at, beyond, over, none = plan_pairs(
        read_release(PLAN), TABLE, kinds=[PairKind.AT, PairKind.BEYOND, PairKind.OVERFLOW, PairKind.MISSING]
    )
    assert at.second.to_pylist()[-1]["x"] == 8
    assert beyond.second.to_pylist()[-1]["x"] > 800
    assert over.second.to_pylist()[-1]["x"] == 1e308
    assert over.second.to_pylist()[-1]["n"] == 2**31 - 1
    assert none.second.to_pylist()[-2]["x"] is None
    assert none.second.to_pylist()[-1]["x"] != none.second.to_pylist()[-1]["x"]


def test_without_a_person_column_a_person_is_a_row() -> None:
    plan = {"data": {"table": "t"}, "queries": [{"histogram": "site", "threshold": 20}], "mechanism": {"epsilon": 1.0}}
    made = plan_pairs(read_release(plan), TABLE)
    assert PairKind.MANY not in {p.kind for p in made}
    assert all(p.second.num_rows - p.first.num_rows == 1 for p in made)


def test_one_person_has_thousands_of_groups_that_nobody_else_is_in() -> None:
    """Far more than the limits, of a person and of a household, by several columns and without values."""
    names = TABLE.append_column("home", [[1, 1]]).append_column("day", pa.array([0, 1], pa.date32()))
    for by, data in (("site", {}), (["site", "n"], {"max_groups": 3}), ("day", {"unit": "home", "max_rows": 4})):
        plan = {
            **PLAN, "data": {"table": "t", "person": "who", **data},
            "queries": [{"sum": "x", "bounds": [0, 8], "by": by, "threshold": 9}],
        }  # fmt: skip
        rows = MadeUpRows(read_release(plan), names)
        for kind, first, second in rows.worlds([PairKind.OWN, PairKind.EMPTY]):
            theirs = second[len(first) :]
            columns = [by] if isinstance(by, str) else by
            groups = [tuple(row[name] for name in columns) for row in theirs]
            assert len({*groups}) == len(theirs) == 3000 > 10 * rows.data.max_rows
            assert not {*groups} & {tuple(row[name] for name in columns) for row in first}
            assert len({row[rows.data.owner or ""] for row in theirs}) == 1
            assert len({row["who"] for row in theirs}) == (3000 if "unit" in data else 1)
            assert {row["x"] for row in theirs} == ({8.0} if kind is PairKind.OWN else {None})


@pytest.mark.parametrize("secret", ["x > 3", {"where": "site = 'b'", "columns": ["n"]}])
def test_only_the_secret_differs(secret: Any) -> None:
    """And it is false in one table and true in the other, in a row of the person at least."""
    plan = {**PLAN, "data": {**PLAN["data"], "secret": secret}}
    ((_, first, second),) = MadeUpRows(read_release(plan), TABLE).worlds([PairKind.SECRET])
    told = {"x"} if isinstance(secret, str) else {"site", "n"}
    changed = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    assert changed
    assert len({a["who"] for a, _ in changed}) == 1
    assert all({name for name in a if a[name] != b[name]} <= told for a, b in changed)

    def holds(row: dict[str, Any]) -> bool:
        return (row["x"] or 0) > 3 if isinstance(secret, str) else row["site"] == "b"

    theirs = [[row for row in rows if row["who"] == changed[0][0]["who"]] for rows in (first, second)]
    assert [any(holds(row) for row in rows) for rows in theirs] == [False, True]
    assert len(theirs[0]) == 4


def test_without_a_secret_there_is_no_such_pair() -> None:
    assert [*MadeUpRows(read_release(PLAN), TABLE).worlds([PairKind.SECRET, PairKind.OWN])] == []
