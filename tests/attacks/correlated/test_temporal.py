"""Repeated releases over a Markov chain: reference sheet §C(d), brute force, limits."""

from __future__ import annotations

import json
import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from epsilens import correlated
from epsilens.errors import InputError

PERSISTENT = [[0.8, 0.2], [0.1, 0.9]]
TURNING = [[0.1, 0.9], [0.8, 0.2]]


def test_reference_values() -> None:
    expected = [0.1, 0.180784, 0.247148, 0.302365, 0.348768, 0.388074, 0.421584, 0.450304, 0.475028, 0.496389]
    found = correlated.backward([[0.8, 0.2], [0.0, 1.0]], 0.1, 10)
    assert found == pytest.approx(expected, abs=6e-7)
    assert correlated.limit([[0.8, 0.2], [0.0, 1.0]], 0.1) == pytest.approx(0.6459066161, abs=6e-11)
    found = correlated.backward(PERSISTENT, 0.1, 8)
    assert found[[1, 2, 7]] == pytest.approx([0.1703218619, 0.2201011737, 0.3204943894], abs=6e-11)
    assert correlated.limit(PERSISTENT, 0.1) == pytest.approx(0.3432490554, abs=6e-11)
    assert correlated.backward(TURNING, 1.0, 3)[-1] == pytest.approx(2.155374, abs=6e-7)


def test_the_limit_where_leakage_never_stops() -> None:
    assert correlated.limit(np.eye(3), 0.1) == math.inf
    assert correlated.limit([[0.95, 0.05], [0.0, 1.0]], 0.1) == math.inf  # 0.95·e^0.1 > 1
    assert correlated.limit(np.full((3, 3), 1 / 3), 0.5) == 0.5
    assert correlated.limit(PERSISTENT, 0.0) == 0.0
    assert correlated.limit(PERSISTENT, 1e-12) == pytest.approx(1e-12 / 0.3, rel=1e-9)  # 𝓛'(0) = q − d
    assert correlated.limit(PERSISTENT, 600.0) == pytest.approx(600 + math.log(8), rel=1e-12)


def _brute_step(p: Any, before: float) -> float:
    z, best, d = math.expm1(before), 0.0, len(p)
    for x, y in product(range(d), repeat=2):
        for size in range(1, d + 1):
            for chosen in combinations(range(d), size):
                q, r = sum(p[x][k] for k in chosen), sum(p[y][k] for k in chosen)
                best = max(best, math.log((q * z + 1) / (r * z + 1)))
    return best


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    d = draw(st.integers(2, 4))
    rows = []
    for _ in range(d):
        raw = draw(st.lists(st.integers(0, 9), min_size=d, max_size=d))
        raw[draw(st.integers(0, d - 1))] += 1
        rows.append([v / sum(raw) for v in raw])
    return rows


@given(matrices(), st.sampled_from([1e-6, 0.01, 0.3, 2.0, 9.0]))
@settings(max_examples=examples(60))
def test_each_step_is_the_best_set(p: list[list[float]], before: float) -> None:
    found = correlated.backward(p, [before, 0.0])[-1]
    assert found == pytest.approx(_brute_step(p, before), rel=1e-9, abs=1e-14)


@given(matrices(), st.sampled_from([0.01, 0.2, 1.0]))
@settings(max_examples=examples(40))
def test_the_limit_is_where_the_recursion_goes(p: list[list[float]], epsilon: float) -> None:
    limit, late = correlated.limit(p, epsilon), correlated.backward(p, epsilon, 300)
    assert late[-1] <= limit * (1 + 1e-12)
    if math.isfinite(limit):  # a fixed point, and the least one above the start
        again = correlated.backward(p, [limit, epsilon])[-1]
        assert again == pytest.approx(limit, rel=1e-9)
        gap = limit - late
        assert gap[-1] <= 0.9 * gap[0] + 1e-12
    else:
        assert np.diff(late)[-1] > 1e-9


def _exact_backward(p: Any, epsilons: list[float]) -> float:
    """Two states: sup over the likelihood ratios of past releases, each anywhere in [e^{−ε}, e^ε], on a fine grid."""
    best = 0.0
    grids = [np.exp(np.linspace(-e, e, 61)) for e in epsilons[:-1]]
    for x, y in ((0, 1), (1, 0)):
        for ratios in product(*grids):
            h = np.ones(2)  # P(releases up to t | x_t), up to a factor
            for ratio in ratios:
                h = np.asarray(p) @ (h * np.array([ratio, 1.0]))
            best = max(best, math.log(h[x] / h[y]))
    return best + epsilons[-1]


def test_exact_where_it_says_so_and_a_bound_elsewhere() -> None:
    assert _exact_backward(TURNING, [1.0, 1.0, 1.0]) == pytest.approx(2.116309, abs=6e-7)
    assert _exact_backward(PERSISTENT, [0.3, 0.5, 0.2]) == pytest.approx(
        correlated.backward(PERSISTENT, [0.3, 0.5, 0.2])[-1], rel=1e-12
    )
    assert correlated.temporal(PERSISTENT, 0.1, 10).exact == ("backward", "forward", "total")
    assert correlated.temporal(TURNING, 1.0, 3).exact == ()
    assert correlated.temporal(TURNING, 1.0, 2).exact == ("backward", "forward", "total")
    assert correlated.temporal([[0.3, 0.7], [0.7, 0.3]], 1.0, 9).exact == ("backward", "forward", "total")
    assert correlated.temporal(np.full((3, 3), 1 / 3), 1.0, 3).exact == ()


def test_the_total_by_brute_force() -> None:
    """All releases seen: sup over the likelihood ratios of every release, two persistent states."""
    p, e = np.asarray(PERSISTENT), 0.4
    stationary = np.array([1 / 3, 2 / 3])
    best = 0.0
    for ratios in product(np.exp([-e, 0.0, e]), repeat=3):
        past = (stationary[:, None] * p).T / (stationary @ p)[:, None] @ np.array([ratios[0], 1.0])
        future = p @ np.array([ratios[2], 1.0])
        law = past * np.array([ratios[1], 1.0]) * future
        best = max(best, abs(math.log(law[0] / law[1])))
    assert correlated.temporal(PERSISTENT, e, 3).total[1] == pytest.approx(best, rel=1e-12)


def test_past_and_future() -> None:
    t = correlated.temporal(PERSISTENT, [0.1, 0.2, 0.3], initial=[0.5, 0.5])
    assert t.total == pytest.approx(t.backward + t.forward - t.epsilon)
    assert t.backward[0] == 0.1
    assert t.forward[-1] == 0.3
    assert t.worst == t.total.max()
    assert "learns at most" in str(t)
    json.dumps(t.to_dict(), allow_nan=False)
    given_back = correlated.temporal(PERSISTENT, 0.1, 4, backward_transition=TURNING)
    assert given_back.backward == pytest.approx(correlated.backward(TURNING, 0.1, 4))
    assert correlated.forward(PERSISTENT, [0.1, 0.2])[0] == pytest.approx(
        0.1 + correlated.backward(PERSISTENT, [0.2, 0.0])[-1]
    )
    single = correlated.temporal(PERSISTENT, 0.7, 1)
    assert single.total.tolist() == [0.7]
    steps = correlated.backward([PERSISTENT, TURNING], [0.1, 0.1, 0.1])
    assert steps[1] == correlated.backward(PERSISTENT, 0.1, 2)[1]
    assert correlated.backward(PERSISTENT, [5000.0, 1.0])[-1] == pytest.approx(1 + math.log(8), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: correlated.backward([[0.5, 0.6], [0.5, 0.5]], 0.1, 3), "sum to 1.1"),
        (lambda: correlated.backward([[0.5, 0.5]], 0.1, 3), "a square matrix"),
        (lambda: correlated.backward(PERSISTENT, -0.1, 3), "epsilon is -0.1"),
        (lambda: correlated.backward(PERSISTENT, math.nan, 3), "NaN"),
        (lambda: correlated.backward(PERSISTENT, 0.1), "releases is missing"),
        (lambda: correlated.backward(PERSISTENT, [0.1, 0.2], 3), "releases is 3 with 2"),
        (lambda: correlated.backward(PERSISTENT, [[0.1]]), "one number, or one per release"),
        (lambda: correlated.backward([PERSISTENT] * 3, 0.1, 3), "3 matrices for 3 releases"),
        (lambda: correlated.temporal(np.eye(2), 0.1, 3), "more than one stationary"),
        (lambda: correlated.temporal(PERSISTENT, 0.1, 3, initial=[1.0]), "initial has shape"),
        (
            lambda: correlated.temporal(PERSISTENT, 0.1, 3, initial=[0.5, 0.5], backward_transition=TURNING),
            "give one of them",
        ),
        (lambda: correlated.temporal(PERSISTENT, 0.1, 3, backward_transition=np.eye(3)), "for 2 states"),
        (lambda: correlated.limit(PERSISTENT, 1e9), "epsilon is 1000000000"),
    ],
)
def test_bad_input_is_one_sentence(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()
