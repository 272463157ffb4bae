"""Isolation equals its definition, on random tables, on both engines and by both roll-ups."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.brute import isolation, reachable
from tests.examples import examples

from epsilens.data.scan import equivalence_classes, rollup
from epsilens.data.scan import scan as scan_module
from epsilens.data.scan.scan import scan
from epsilens.errors import InputError

COLUMNS = ["a", "b", "c", "d"]
TYPES = {"a": pa.string(), "b": pa.int64(), "c": pa.float64(), "d": pa.bool_(), "who": pa.string()}

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.sampled_from(["x", "X", "é", "e\u0301", "", " ", "日本", "'; --", None]),
            "b": st.sampled_from([0, 1, 2, -(2**40), None]),
            "c": st.sampled_from([0.0, -0.0, 0.5, float("nan"), None]),
            "d": st.sampled_from([True, False, None]),
            "who": st.sampled_from(["p", "q", "r", "s", "ü"]),
        }
    ),
    min_size=1,
    max_size=24,
)


def frame(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: pa.array([r[name] for r in rows], kind) for name, kind in TYPES.items()})


def check(rows: list[dict[str, Any]], who: str | None, engine: Any = None) -> None:
    expected = isolation(rows, COLUMNS, who)
    found = scan(frame(rows), COLUMNS, person=who, engine=engine)
    assert {s.columns: s.people for s in found.subsets} == {k: len(v) for k, v in expected.items()}
    people = len(rows) if who is None else len({r[who] for r in rows})
    fewest: dict[Any, int] = {}
    for subset, alone in sorted(expected.items(), key=lambda item: -len(item[0])):
        fewest |= dict.fromkeys(alone, len(subset))
    assert found.people == people
    assert found.rows == len(rows)
    assert found.fewest == {k: list(fewest.values()).count(k) for k in range(1, 5)}
    assert found.never == people - len(fewest)
    assert found.isolated == len(fewest)
    assert sum(c.shapley or 0 for c in found.columns) == pytest.approx(found.isolated, abs=1e-9)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(rows=ROWS, who=st.sampled_from([None, "who"]))
def test_equals_the_definition(rows: list[dict[str, Any]], who: str | None) -> None:
    check(rows, who)


@pytest.mark.spark
@settings(max_examples=6, deadline=None, derandomize=True)
@given(rows=ROWS, who=st.sampled_from([None, "who"]))
def test_equals_the_definition_on_spark(spark: object, rows: list[dict[str, Any]], who: str | None) -> None:
    check(rows, who, "spark")


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(rows=ROWS, who=st.sampled_from([None, "who"]), least=st.integers(1, 8))
def test_minimum_query_size_equals_trying_every_pair_of_questions(
    rows: list[dict[str, Any]], who: str | None, least: int
) -> None:
    found = scan(frame(rows), ["a", "b"], person=who, min_query_size=least)
    for subset in found.subsets:
        plain = [{**r, "c": None} for r in rows]
        assert subset.people == len(reachable(plain, subset.columns, who, least))


@pytest.mark.parametrize("who", [None, "who"])
def test_the_same_on_every_engine(engine: str, who: str | None) -> None:
    draw = random.Random(3)
    rows = [
        {
            "a": draw.choice(["x", "X", "é", "", None]),
            "b": draw.choice([1, 2, 3, None]),
            "c": draw.choice([0.0, -0.0, 0.25, float("nan"), None]),
            "d": draw.choice([True, False, None]),
            "who": draw.choice("pqrstuvwxyz"),
        }
        for _ in range(60)
    ]
    check(rows, who, engine)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(rows=ROWS, who=st.sampled_from([None, "who"]), known=st.integers(1, 4))
def test_the_roll_up_in_the_engine_agrees(rows: list[dict[str, Any]], who: str | None, known: int) -> None:
    queries = ["count where b > 0 by a", "sum b bounds 0 2"]
    here = scan(frame(rows), COLUMNS, person=who, known_columns=known, queries=queries, epsilon=1.0)
    with (
        patch.object(scan_module, "most_local_classes", lambda *_: 0),
        patch.object(scan_module, "encode_rows", lambda *_: None),
    ):
        there = scan(frame(rows), COLUMNS, person=who, known_columns=known, queries=queries, epsilon=1.0)
    assert here.to_dict() == there.to_dict()


@settings(max_examples=examples(15), deadline=None, derandomize=True)
@given(rows=ROWS, who=st.sampled_from([None, "who"]))
def test_wide_codes_agree(rows: list[dict[str, Any]], who: str | None) -> None:
    """Codes too wide for one 64-bit word take the slower way, to the same answer."""
    wide = property(lambda self: tuple(2**30 for _ in self.values))
    here = scan(frame(rows), COLUMNS, person=who)
    with patch.object(equivalence_classes.ClassTable, "cards", wide):
        assert scan(frame(rows), COLUMNS, person=who).to_dict() == here.to_dict()


@pytest.mark.parametrize("cells", [0, 40, rollup.MOST_CELLS])
@settings(max_examples=examples(15), deadline=None, derandomize=True)
@given(rows=ROWS, known=st.integers(1, 4), short=st.sampled_from([0, 4096]))
def test_coded_rows_agree_with_classes(cells: int, rows: list[dict[str, Any]], known: int, short: int) -> None:
    """By arrays of cells, by sorted words, or some of each; with short lists of values, and with joined ones."""
    given_: dict[str, Any] = {
        "known_columns": known,
        "queries": ["count where b > 0 by a", "sum b bounds 0 2"],
        "epsilon": 1.0,
    }
    grouped = scan(frame(rows), COLUMNS, **given_)
    with (
        patch.object(scan_module, "mostly_unique", lambda *_: True),
        patch.object(rollup, "MOST_CELLS", cells),
        patch.object(rollup, "SHORT_LIST", short),
    ):
        assert scan(frame(rows), COLUMNS, **given_).to_dict() == grouped.to_dict()


@pytest.mark.parametrize("spread", [2, 9, 400])
@pytest.mark.parametrize("part", [16, 64, 1 << 20])
def test_sorted_words_agree_with_the_definition(spread: int, part: int) -> None:
    """Columns of few, some and many values, cut into parts of different lengths, against plain Python."""
    draw = random.Random(spread * part)
    rows = [
        {"a": str(draw.randrange(400)), "b": draw.randrange(spread), "c": draw.randrange(400) / 4, "d": i % 2 == 0}
        for i in range(300)
    ]
    rows += rows[:20]
    expected = isolation(rows, COLUMNS, None)
    table = pa.table({name: pa.array([r[name] for r in rows], TYPES[name]) for name in COLUMNS})
    with (
        patch.object(scan_module, "mostly_unique", lambda *_: True),
        patch.object(rollup, "MOST_CELLS", 8),
        patch.object(rollup, "_PART", part),
        patch.object(rollup, "BLOCK", 37),
    ):
        found = scan(table, COLUMNS)
    assert {s.columns: s.people for s in found.subsets} == {k: len(v) for k, v in expected.items()}
    combinations = {s.columns: s.combinations for s in found.subsets}
    assert combinations == {k: len({tuple(r[c] for c in k) for r in rows}) for k in expected}
    shared = Counter(Counter(tuple(r.values()) for r in rows).values())
    assert {k: found.class_sizes[str(k)] for k in (1, 2)} == {1: shared[1], 2: shared[2]}


@pytest.mark.parametrize("columns", [24, 64, 200])
def test_combinations_are_counted_before_they_are_made(columns: int) -> None:
    names = [f"c{j}" for j in range(columns)]
    with pytest.raises(InputError, match=r"known_columns to [123] at most") as caught:
        scan({name: [1, 2] for name in names}, names)
    assert caught.value.parameter == "quasi_identifiers"
    assert len(scan({name: [1, 2] for name in names}, names, known_columns=1).subsets) == columns


def test_a_crowded_table_is_noticed() -> None:
    n = 150_000
    table = pa.table({"a": list(range(n)), "b": [i // 2 for i in range(n)], "c": [i % 3 for i in range(n)]})
    found = scan(table, ["b", "c"])
    assert (found.isolated, found.people) == (n, n)
    assert scan(table, ["a", "b"]).fewest == {1: n, 2: 0}
    assert scan(table, ["b"]).isolated == 0


def test_class_sizes_and_duplicates() -> None:
    found = scan({"a": ["x"] * 5 + ["y", "z", "z"], "who": [1, 1, 2, 3, 3, 4, 4, 4]}, ["a"], person="who")
    assert found.class_sizes == {"1": 2, "2": 0, "3": 1, "4": 0, "5-9": 0, "10-19": 0, "20-99": 0, "100+": 0}
    assert (found.isolated, found.people, found.rows) == (1, 4, 8)


def test_known_columns_limits_the_attacker() -> None:
    table = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "c": [0, 0, 0, 0]}
    assert scan(table, ["a", "b", "c"]).isolated == 4
    one = scan(table, ["a", "b", "c"], known_columns=1)
    assert (one.isolated, len(one.subsets), one.columns[0].shapley) == (0, 3, None)
    assert "one of a, b and c" in one.sentence


def test_a_minimum_query_size_that_does_nothing_is_said() -> None:
    found = scan({"a": [1, 2, 3, 3, 3, 3]}, ["a"], min_query_size=5)
    assert found.isolated == 2
    assert any("does not protect" in note for note in found.notes)
    assert scan({"a": [1, 2, 3, 3, 3, 3]}, ["a"], min_query_size=6).isolated == 0


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int, str]] = []
    scan({"a": [1, 2], "b": [1, 1]}, ["a", "b"], queries="count", progress=lambda *step: seen.append(step))
    assert seen[-1][0] == seen[-1][1]
    assert [s[0] for s in seen] == sorted(s[0] for s in seen)
