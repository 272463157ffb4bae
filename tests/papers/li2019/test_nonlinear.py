"""Leakage of queries that are not sums, against a dense grid of answers and against the library's sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilens import correlated
from epsilens.papers.li2019.nonlinear import leakage

QUERIES = (lambda a, b, c: a * b + c, lambda a, b, c: max(a, b) - c, lambda a, b, c: (a ^ b) * (1 + c))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("known", [{}, {2: 1}, {1: 0, 2: 1}])
def test_against_a_dense_grid(query: object, known: dict[int, int]) -> None:
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    r = np.linspace(-6, 8, 14_001)
    laws = []
    for value in (0, 1):
        worlds = [w for w in np.ndindex(2, 2, 2) if w[0] == value and all(w[k] == v for k, v in known.items())]
        total = sum(joint[w] for w in worlds)
        laws.append(sum(joint[w] / total * np.exp(-np.abs(r - query(*w))) for w in worlds))  # type: ignore[operator]
    grid = float(np.max(np.abs(np.log(laws[0]) - np.log(laws[1]))))
    assert leakage(joint, query, 0, known) == pytest.approx(grid, abs=1e-9)  # type: ignore[arg-type]


def test_a_sum_is_the_librarys() -> None:
    joint = [[0.3, 0.2], [0.1, 0.4]]
    model = correlated.table(joint)
    for scale in (0.5, 1.0, 3.0):
        found = leakage(joint, lambda a, b: a + b, 0, {}, scale)
        assert found == pytest.approx(model.leakage(0, scale=scale), abs=1e-12)
    assert leakage(joint, lambda a, b: a + b, 0, {1: 1}) == pytest.approx(1.0, abs=1e-12)
    assert math.isclose(leakage([[0.5, 0], [0, 0.5]], lambda a, b: a ^ b, 0, {}), 0.0, abs_tol=1e-12)
