"""Planned answers that isolate a person together, against exact null spaces, quadrature and simulated values."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.examples import examples

from epsilens.data.queries import Noise
from epsilens.data.scan import answer_combinations as combinations_module
from epsilens.data.scan.answer_combinations import AnswerCombination, isolated_people
from epsilens.data.scan.result import combination_experiment, full_knowledge_experiment
from epsilens.data.scan.scan import scan

# Fifty people in pairs of one age, every other one with flu, and one person aged 99.
AGES = [20 + i // 2 for i in range(50)] + [99]
FLU = ["count where diag = 'flu'", "count where diag = 'flu' and age < 99"]


def flu(last: str) -> pa.Table:
    return pa.table({"age": AGES, "diag": ["flu" if i % 2 else "cold" for i in range(50)] + [last]})


# -- the exact definition -----------------------------------------------------------------------------------------


def rank(rows: list[list[int]]) -> int:
    """The rank over the rational numbers, by fractions."""
    left = [[Fraction(x) for x in row] for row in rows]
    found = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((i for i in range(found, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for i in range(found + 1, len(left)):
            if left[i][column]:
                factor = left[i][column] / left[found][column]
                left[i] = [x - factor * y for x, y in zip(left[i], left[found], strict=True)]
        found += 1
    return found


def isolated(patterns: dict[Any, list[list[int]]]) -> set[Any]:
    """The people of whom some pattern is not in the span of everyone else's."""
    made = set()
    for person, own in patterns.items():
        others = [row for other, rows in patterns.items() if other != person for row in rows]
        if rank([*others, *own]) > rank(others):
            made.add(person)
    return made


def member(rows: list[dict[str, Any]], queries: list[Any], names: list[Any], once: bool) -> dict[Any, list[list[int]]]:
    """Each person's patterns over the answers (query, group): one a row, or one in all where they count once."""
    places: dict[tuple[int, Any], int] = {}
    mine: dict[Any, list[set[int]]] = defaultdict(list)
    for i, (covers, group) in enumerate(queries):
        for name in dict.fromkeys(names):
            groups = [(r, group(r)) for r, n in zip(rows, names, strict=True) if n == name and covers(r)]
            if once and groups:
                groups = [min(groups, key=lambda g: (g[1] is None, g[1] or ""))]
            for row, label in groups:
                place = places.setdefault((i, label), len(places))
                key = (name, None if once else id(row))
                mine[key].append({place})
    made: dict[Any, list[list[int]]] = {name: [] for name in names}
    for (name, _), cells in mine.items():
        all_cells = set.union(*cells)
        made[name].append([int(c in all_cells) for c in range(len(places))])
    return {name: rows or [[0] * len(places)] for name, rows in made.items()}


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "who": st.sampled_from("pqrst"),
            "g": st.sampled_from(["a", "b", None]),
            "n": st.integers(0, 3),
            "ill": st.booleans(),
        }
    ),
    min_size=1,
    max_size=8,
)
TEXTS = ["count by g", "count where n > 0", "count where n > 1 by g", "count", "count where n < 2", "histogram n"]
TESTS: list[Any] = [
    (lambda r: True, lambda r: r["g"]),
    (lambda r: r["n"] > 0, lambda r: ""),
    (lambda r: r["n"] > 1, lambda r: r["g"]),
    (lambda r: True, lambda r: ""),
    (lambda r: r["n"] < 2, lambda r: ""),
    (lambda r: True, lambda r: str(r["n"])),
]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    kinds = {"who": pa.string(), "g": pa.string(), "n": pa.int64(), "ill": pa.bool_()}
    return pa.table({name: pa.array([r[name] for r in rows], kind) for name, kind in kinds.items()})


def people_of(found: Any) -> int:
    """The isolated people; within one kind of answers everyone stands in one entry."""
    return sum(c.people for c in found.combinations if c.kind == 0)


@pytest.mark.always
@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(rows=ROWS, chosen=st.sets(st.integers(0, 5), min_size=1, max_size=4))
def test_who_is_isolated_equals_exact_null_spaces(rows: list[dict[str, Any]], chosen: set[int]) -> None:
    picked = sorted(chosen)
    found = scan(table(rows), ["g", "n"], queries=[TEXTS[i] for i in picked])
    expected = isolated(member(rows, [TESTS[i] for i in picked], list(range(len(rows))), once=False))
    assert people_of(found) == len(expected)
    assert all(c.compared for c in found.combinations)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(rows=ROWS, chosen=st.sets(st.integers(0, 5), min_size=1, max_size=4))
def test_sums_go_by_rows_and_persons(rows: list[dict[str, Any]], chosen: set[int]) -> None:
    picked = sorted(chosen)
    texts = [TEXTS[i].replace("histogram n", "count by n").replace("count", "sum n bounds 0 9", 1) for i in picked]
    found = scan(table(rows), ["g", "n"], person="who", queries=texts)
    expected = isolated(member(rows, [TESTS[i] for i in picked], [r["who"] for r in rows], once=False))
    assert people_of(found) == len(expected)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(rows=ROWS, chosen=st.sets(st.sampled_from([1, 3, 4]), min_size=1))
def test_counts_go_by_people(rows: list[dict[str, Any]], chosen: set[int]) -> None:
    picked = sorted(chosen)
    found = scan(table(rows), ["g", "n"], person="who", queries=[TEXTS[i] for i in picked])
    expected = isolated(member(rows, [TESTS[i] for i in picked], [r["who"] for r in rows], once=True))
    assert people_of(found) == len(expected)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(rows=ROWS)
def test_people_with_and_without_the_secret_are_named(rows: list[dict[str, Any]]) -> None:
    """``ill`` is not known: answers that leave it open isolate whoever they may cover."""
    found = scan(table(rows), ["g", "n"], queries=["count where ill by g", "count where ill and n > 0"])
    names = list(range(len(rows)))
    closed = [(lambda r: r["ill"], lambda r: r["g"]), (lambda r: r["ill"] and r["n"] > 0, lambda r: "")]
    opened = [(lambda r: True, lambda r: r["g"]), (lambda r: r["n"] > 0, lambda r: "")]
    expected = isolated(member(rows, closed, names, once=False)) | isolated(member(rows, opened, names, once=False))
    assert people_of(found) == len(expected)


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(
    columns=st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=1, max_size=8),
    owners=st.lists(st.integers(-1, 4), min_size=8, max_size=8),
)
def test_the_algebra_equals_fractions_and_least_squares(columns: list[list[int]], owners: list[int]) -> None:
    patterns, owner = np.array(columns).T, np.array(owners[: len(columns)])
    by_person: dict[Any, list[list[int]]] = defaultdict(list)
    for i, (column, who) in enumerate(zip(columns, owner.tolist(), strict=True)):
        by_person[who if who >= 0 else ("shared", i)].append(column)
    # A shared pattern has two people, so that nobody owns it.
    by_person |= {("again", key): rows for key, rows in by_person.items() if isinstance(key, tuple)}
    expected = {who for who in isolated(dict(by_person)) if not isinstance(who, tuple)}
    found = isolated_people(patterns, owner)
    assert {f.owner for f in found} == expected
    for f in found:
        own = owner == f.owner
        assert f.weights is not None
        told = np.array(f.weights) @ patterns
        assert not told[~own].any()
        assert np.abs(told[own]).max() == f.gain > 0
        others = patterns[:, ~own].astype(float)
        fit = np.linalg.lstsq(others, patterns[:, own].astype(float), rcond=None)[0] if others.size else 0
        left = np.linalg.norm(patterns[:, own] - (others @ fit if others.size else 0), axis=0).max()
        assert f.shift >= left - 1e-9
        if own.sum() == 1:
            assert f.shift == pytest.approx(left, abs=1e-9)
            if f.exact:  # one combination is all there is
                assert f.gain / np.linalg.norm(f.weights) == pytest.approx(left, abs=1e-9)


# -- particular plans ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", ["flu", "cold"])
def test_a_planned_pair_breaks_the_limit_it_breaks(last: str) -> None:
    """Defects 1.4 and 5.10: each answer has its own ε = 1, and the person is named with the secret and without."""
    found = scan(flu(last), ["age"], queries=FLU, epsilon=1.0, at_most=0.6)
    (risk,) = found.planned
    assert (risk.found.queries, risk.found.weights, risk.found.people, risk.found.pair) == ((0, 1), (1, -1), 1, True)
    # the difference of two standard Laplaces has the tail e^{−x}(2+x)/4: 1 − P(Z > 1/2)
    assert risk.success == pytest.approx(1 - math.exp(-0.5) * 2.5 / 4, abs=1e-12)
    assert risk.success == pytest.approx(0.6206, abs=0.0004)  # as simulated
    assert risk.known == pytest.approx(1 - math.exp(-0.5) / 2, abs=1e-12)
    assert (risk.bound, risk.above, found.exceeded) == (False, True, True)
    assert [(p.answers, p.people) for p in found.pairs] == [(1, 1)]
    assert found.largest_epsilon == risk.largest_epsilon
    assert scan(flu(last), ["age"], queries=FLU, epsilon=found.largest_epsilon, at_most=0.6).exceeded is False
    assert scan(flu(last), ["age"], queries=FLU, epsilon=1.0, at_most=0.65).exceeded is False


def test_two_groups_and_their_total() -> None:
    """A + B − C, where C has one person more, by three answers and by no two."""
    data = {"age": [30] * 4 + [40] * 4 + [99]}
    found = scan(
        data, ["age"], queries=["count where age = 30", "count where age = 40", "count"], epsilon=1.0, at_most=0.6
    )
    (risk,) = found.planned
    assert (risk.found.queries, risk.found.weights, risk.found.moved) == ((0, 1, 2), (-1, -1, 1), (2,))
    assert (found.pairs, risk.found.pair, risk.found.exact, risk.bound) == ((), False, True, False)
    # the sum of three standard Laplaces, by its characteristic function
    tail = quad(lambda u: math.sin(u / 2) / (u * (1 + u * u) ** 3), 0, np.inf)[0] / math.pi
    assert risk.success == pytest.approx(0.5 + tail, abs=1e-7)
    assert risk.known == pytest.approx(1 - math.exp(-0.5) / 2)
    assert risk.found.shift == pytest.approx(1 / math.sqrt(3))


def test_an_answer_that_covers_one_person_needs_no_other() -> None:
    found = scan({"g": ["a"] * 5 + ["b"]}, ["g"], queries="count by g", epsilon=1.0, at_most=0.65)
    (risk,) = found.planned
    assert (risk.found.weights, risk.found.alone, found.exceeded) == ((1,), True, True)
    assert risk.success == pytest.approx(1 - math.exp(-0.5) / 2)
    spared = scan({"g": ["a"] * 5 + ["b"]}, ["g"], queries="count by g", min_query_size=2)
    assert spared.combinations == ()


def test_several_combinations_are_bounded_by_everyone_known() -> None:
    """B and C ask the same: A − B and A − C together tell more than the pair, less than everyone known."""
    queries = ["count", "count where age < 99", "count where age <= 98"]
    found = scan({"age": AGES}, ["age"], queries=queries, epsilon=1.0, at_most=0.6)
    (risk,) = found.planned
    assert (risk.found.weights, risk.found.exact, risk.bound, risk.found.moved) == ((1, -1), False, True, (0,))
    assert risk.alone == pytest.approx(1 - math.exp(-0.5) * 2.5 / 4)
    assert risk.success == pytest.approx(1 - math.exp(-0.5) / 2)
    # What the others leave unchanged is (A − B, A − C): their density by summing over the common part, on a grid.
    step = 0.1
    axis = np.arange(-12, 12, step) + step / 2
    lap = np.exp(-np.abs(axis)) / 2
    total = np.zeros((2, len(axis), len(axis)))
    for x, weight in zip(axis, lap, strict=True):  # x is A's noise
        for world in (0, 1):
            other = np.exp(-np.abs(x + world - axis)) / 2  # the noise of B, which is A − u, and of C
            total[world] += weight * step * other[:, None] * other[None, :]
    truth = 0.5 + np.abs(total[1] - total[0]).sum() * step * step / 4
    assert risk.success is not None
    assert risk.alone is not None
    assert risk.alone + 0.005 < truth < risk.success - 0.005
    exact = combination_experiment(risk.found, dict.fromkeys(range(3), 1.0), Noise.GAUSSIAN)
    assert exact.psi() == pytest.approx(math.sqrt(2 / 3))  # variances 1 and ½ add


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (1.0, 0.25), (0.3, 2.0)])
def test_each_answer_keeps_its_own_noise(first: float, second: float) -> None:
    """Unequal scales against quadrature of Lap(1/first) + Lap(1/second), moved by 1."""
    pair = AnswerCombination((3, 5), (1, -1), (3,), 1, True, 0.5**0.5)
    steps = {3: first, 5: second}

    def beyond(x: float) -> float:  # P(Lap(1/second) > x)
        return math.exp(-second * x) / 2 if x >= 0 else 1 - math.exp(second * x) / 2

    def part(x: float) -> float:
        return first / 2 * math.exp(-first * abs(x)) * beyond(0.5 - x)

    tail = sum(quad(part, a, b, limit=200)[0] for a, b in ((-np.inf, 0), (0, 0.5), (0.5, np.inf)))
    assert combination_experiment(pair, steps, Noise.LAPLACE).success() == pytest.approx(1 - tail, abs=1e-9)
    spread = math.hypot(1 / first, 1 / second)
    assert combination_experiment(pair, steps, Noise.GAUSSIAN).psi() == pytest.approx(1 / spread)
    assert full_knowledge_experiment(pair, steps, Noise.LAPLACE).success() == pytest.approx(
        1 - math.exp(-first / 2) / 2
    )


def test_geometric_noise_by_enumeration() -> None:
    found = scan(flu("flu"), ["age"], queries=FLU, epsilon=1.0, noise="geometric")
    k = np.arange(-60, 61)
    one = math.tanh(0.5) * np.exp(-np.abs(k))
    two = np.convolve(one, one)
    truth = 0.5 + np.abs(two[1:] - two[:-1]).sum() / 4
    assert found.planned[0].success == pytest.approx(truth, abs=1e-12)


def test_sums_of_one_column_are_subtracted_and_kinds_are_joined() -> None:
    data = {"age": AGES, "x": [1.0] * 51}
    queries = ["sum x bounds 0 5", "sum x bounds 0 5 where age < 99", "count", "count where age < 99"]
    found = scan(data, ["age"], queries=queries, epsilon=1.0)
    sums, counts, joined = found.planned
    assert (sums.found.queries, counts.found.queries) == ((0, 1), (2, 3))
    assert sums.success == counts.success == pytest.approx(1 - math.exp(-0.5) * 2.5 / 4)
    # the same person may be in both: both differences together, bounded by both totals known
    assert (joined.found.kind, joined.bound, joined.found.moved) == (-1, True, (0, 2))
    assert joined.success == pytest.approx(1 - 0.75 * math.exp(-1), abs=1e-9)  # two cells that move by one scale each
    other = scan(data, ["age"], queries=[queries[0], "sum x bounds 0 4 where age < 99"])
    assert other.combinations == ()  # clamped otherwise: the others do not cancel


def test_too_many_answers_are_said_and_pairs_are_still_found() -> None:
    data = {"age": AGES, "z": [i % 7 for i in range(51)]}
    queries = ["count", "count where age < 99", "count by z"]
    with patch.object(combinations_module, "MOST_ANSWERS", 3):
        found = scan(data, ["age", "z"], queries=queries, epsilon=1.0, at_most=0.6)
    pair, lost = found.planned
    assert (pair.found.pair, pair.found.exact, pair.bound, pair.found.moved) == (True, False, True, (0, 2))
    assert (lost.found.compared, lost.success, lost.found.queries) == (False, None, (0, 1, 2))
    assert found.exceeded is True


def test_a_quantile_spares_a_few_of_the_isolated() -> None:
    data = {"id": [*range(200)]}
    options: dict[str, Any] = {"queries": ["count", "count where id > 0"], "epsilon": 1.0, "at_most": 0.6}
    assert scan(data, ["id"], **options).exceeded is True
    assert scan(data, ["id"], quantile=0.9, **options).exceeded is False
