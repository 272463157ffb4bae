"""How far one person moves a matrix mechanism, against every set of steps, sign and direction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from epsilens.checks import Array
from epsilens.mechanisms import participation
from epsilens.mechanisms.participation import of_gram, of_norms, of_toeplitz

DRAWS = np.random.default_rng(20).integers(0, 2**31, 24).tolist()


def every_set(n: int, k: int, b: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, k + 1):
        for steps in combinations(range(n), size):
            if all(y - x >= b for x, y in pairwise(steps)):
                yield steps


def by_signs(matrix: Array, k: int, b: int) -> float:
    """The largest ‖Σ ±C_i‖ over all sets and signs: somebody moves the release so far."""
    best = 0.0
    for steps in every_set(matrix.shape[1], k, b):
        for signs in product((1.0, -1.0), repeat=len(steps) - 1):
            best = max(best, float(np.linalg.norm(matrix[:, steps] @ np.asarray((1.0, *signs)))))
    return best


def by_sizes(matrix: Array, k: int, b: int) -> float:
    """√ of the largest Σ|CᵀC| over all sets: nobody moves it further."""
    gram = np.abs(matrix.T @ matrix)
    return math.sqrt(max(float(gram[np.ix_(s, s)].sum()) for s in every_set(matrix.shape[1], k, b)))


def toeplitz(column: Array) -> Array:
    n = column.size
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(lag >= 0, column[np.abs(lag)], 0.0)


@pytest.mark.parametrize("seed", DRAWS)
def test_any_matrix(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    k, b = int(random.integers(1, 5)), int(random.integers(1, 5))
    matrix = random.standard_normal((int(random.integers(1, 9)), n))
    found = of_gram(matrix.T @ matrix, k, b)
    low, high = by_signs(matrix, k, b), by_sizes(matrix, k, b)
    assert low <= found.size * (1 + 1e-12)
    assert found.size == pytest.approx(high, rel=1e-12)
    assert found.exact <= math.isclose(low, high, rel_tol=1e-9)
    turned = random.standard_normal((200, n, 3))  # directions in space reach no further either
    turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
    for steps in every_set(n, k, b):
        moved = np.einsum("rs,dsu->dru", matrix[:, steps], turned[:, steps])
        assert np.sqrt((moved**2).sum(axis=(1, 2))).max() <= found.size * (1 + 1e-12)
    plain = np.abs(matrix)
    found = of_gram(plain.T @ plain, k, b)
    assert found.exact
    assert found.size == pytest.approx(by_signs(plain, k, b), rel=1e-12)


@pytest.mark.parametrize("seed", DRAWS)
def test_toeplitz(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, k, b = (int(random.integers(low, high)) for low, high in ((2, 10), (1, 5), (1, 6)))
    falling = np.sort(random.random(n))[::-1]
    found = of_toeplitz(falling, k, b)
    assert found is not None
    assert found.exact
    assert found.size == pytest.approx(by_signs(toeplitz(falling), k, b), rel=1e-12)
    cut = np.where(np.arange(n) < b, random.standard_normal(n), 0.0)  # bands of any sign that do not overlap
    found = of_toeplitz(cut, k, b)
    assert found is not None
    assert found.size == pytest.approx(by_signs(toeplitz(cut), k, b), rel=1e-12)
    rising = np.sort(random.random(n))
    found = of_toeplitz(rising, k, b)
    assert found is None or found.size == pytest.approx(by_signs(toeplitz(rising), k, b), rel=1e-12)


@pytest.mark.parametrize("seed", DRAWS[:8])
def test_norms(seed: int) -> None:
    random = np.random.default_rng(seed)
    squares = random.random(11)
    for k, b in ((1, 1), (3, 2), (2, 5), (11, 1), (4, 4), (5, 1)):
        best = max(sum(squares[i] for i in s) for s in every_set(11, k, b))
        assert of_norms(squares, k, b).size == pytest.approx(math.sqrt(best), rel=1e-13)


def test_more_sets_than_can_be_enumerated() -> None:
    """Then it is a bound, above what any set found reaches, unless one reaches it."""
    random = np.random.default_rng(3)
    n, k, b = 120, 8, 9
    matrix = np.tril(random.random((n, n)))
    gram = matrix.T @ matrix
    found = of_gram(gram, k, b)
    assert not found.exact
    best = 0.0
    for _ in range(3000):
        gaps = random.multinomial(n - 1 - (k - 1) * b, np.full(k + 1, 1 / (k + 1)))
        steps = np.cumsum(gaps[:k]) + b * np.arange(k)
        best = max(best, math.sqrt(float(gram[np.ix_(steps, steps)].sum())))
    assert best <= found.size <= 1.5 * best
    column = 1 / np.sqrt(np.arange(1.0, n + 1))
    falling = toeplitz(column)
    closed = of_toeplitz(column, k, b)
    assert closed is not None
    assert of_gram(falling.T @ falling, k, b).size >= closed.size * (1 - 1e-12)


@pytest.mark.parametrize("seed", DRAWS[:8])
def test_what_takes_too_long_is_bounded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((12, 12))
    true = by_sizes(matrix, 3, 2)
    monkeypatch.setattr(participation, "_MOST_WORK", 0)
    monkeypatch.setattr(participation, "_MOST_PREFIXES", 0)
    found = of_gram(matrix.T @ matrix, 3, 2)
    assert not found.exact
    assert true * (1 - 1e-12) <= found.size <= 1.5 * true
    squares = random.random(12)
    loose = of_norms(squares, 3, 2)
    assert not loose.exact
    assert loose.size >= math.sqrt(max(sum(squares[i] for i in s) for s in every_set(12, 3, 2)))
    assert of_norms(squares, 6, 2).exact  # no more would fit


@pytest.mark.parametrize(("k", "b"), [(200, 1), (290, 1), (2, 180)])
def test_many_steps(k: int, b: int) -> None:
    """A count that binds is kept to, exactly or by the largest of them."""
    gram = np.ones((300, 300))
    found = of_gram(gram, k, b)
    assert found.exact
    assert found.size == pytest.approx(k, rel=1e-12)
