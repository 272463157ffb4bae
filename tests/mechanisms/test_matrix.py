"""Matrix mechanisms, trees and banded training: the sheet's values, enumeration, and what is refused."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import comb

import epsilens as el
from epsilens.checks import Array
from epsilens.mechanisms import matrix_factorization
from epsilens.mechanisms.matrix_factorization import gram_sensitivity, orthogonal_sensitivity, toeplitz_sensitivity
from epsilens.readings.law import Exactness


def toeplitz(column: Any) -> Any:
    n = len(column)
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(lag >= 0, np.asarray(column)[np.abs(lag)], 0.0)


def test_the_square_root_of_prefix_sums() -> None:
    column = el.mechanisms.sqrt_prefix(40)
    t = np.arange(40)
    assert column == pytest.approx(comb(2 * t, t) / 4.0**t, rel=1e-14)
    root = toeplitz(column)
    assert root @ root == pytest.approx(np.tril(np.ones((40, 40))), abs=1e-13)
    assert el.mechanisms.sqrt_prefix(40, 3).tolist() == [*column[:3], *[0.0] * 37]
    assert el.mechanisms.sqrt_prefix(1).tolist() == [1.0]


@pytest.mark.parametrize(("n", "wanted"), [(100, 1.591022), (1000, 1.806932), (2000, 1.866997)])
def test_once(n: int, wanted: float) -> None:
    e = el.mechanisms.matrix(el.mechanisms.sqrt_prefix(n), 1.0)
    assert e.psi() == pytest.approx(wanted, abs=5e-7)
    assert e.law.known is Exactness.EXACT
    assert el.mechanisms.matrix(el.mechanisms.sqrt_prefix(n), 4.0).psi() == pytest.approx(e.psi() / 4, rel=1e-14)


@pytest.mark.parametrize(
    ("n", "k", "b", "wanted"),
    [(12, 3, 3, 3.070536), (14, 4, 2, 4.161793), (12, 2, 5, 2.187882), (1000, 5, 200, 5.188033)],
)
def test_several_times(n: int, k: int, b: int, wanted: float) -> None:
    column = el.mechanisms.sqrt_prefix(n)
    for given in (column, column.tolist(), toeplitz(column), sparse.csr_array(toeplitz(column))):
        e = el.mechanisms.matrix(given, 1.0, k, b)
        assert e.psi() == pytest.approx(wanted, abs=5e-7)
        assert e.law.known is Exactness.EXACT
    assert el.mechanisms.matrix(column, 1.0, k, b, neighbours="replace").psi() == pytest.approx(2 * wanted, abs=1e-6)


def test_bands() -> None:
    cut = el.mechanisms.sqrt_prefix(1000, 10)
    for given in (cut, sparse.csc_matrix(toeplitz(cut)), toeplitz(cut)):
        e = el.mechanisms.matrix(given, 1.0, 5, 200)
        assert e.psi() == pytest.approx(2.992778, abs=5e-7)
        assert e.law.known is Exactness.EXACT
    wide = sparse.diags_array([np.ones(50_000), -0.5 * np.ones(49_999)], offsets=[0, -1])  # never written out
    assert el.mechanisms.matrix(wide, 1.0, 3, 2).psi() == pytest.approx(math.sqrt(3 * 1.25), rel=1e-12)


def test_a_bound_says_so() -> None:
    signed = [[1.0, 0.0, 0.0], [-0.5, 1.0, 0.0], [0.2, -0.5, 1.0]]
    e = el.mechanisms.matrix(signed, 1.0, 2)
    assert e.law.known is Exactness.BOUND
    assert e.bracket("advantage")[0] == 0
    assert el.mechanisms.matrix(signed, 1.0).law.known is Exactness.EXACT


# -- trees ------------------------------------------------------------------------------------------------------------


def by_enumeration(n: int, k: int, b: int) -> float:
    """Σ (steps in a block)² over all complete dyadic blocks, the largest over all sets of steps."""
    blocks = [range(i, i + 2**j) for j in range(n.bit_length()) for i in range(0, n, 2**j) if i + 2**j <= n]
    best = 0
    for size in range(1, k + 1):
        for steps in combinations(range(n), size):
            if all(y - x >= b for x, y in pairwise(steps)):
                best = max(best, sum(sum(s in block for s in steps) ** 2 for block in blocks))
    return math.sqrt(best)


@pytest.mark.parametrize(("k", "b", "wanted"), [(1, 1, math.sqrt(5)), (2, 8, math.sqrt(12)), (4, 4, 6.0)])
def test_a_tree(k: int, b: int, wanted: float) -> None:
    e = el.mechanisms.tree(16, 1.0, k, b)
    assert e.psi() == pytest.approx(wanted, rel=1e-14)
    assert e.law.known is Exactness.EXACT


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 11, 12])
def test_trees_by_enumeration(n: int) -> None:
    for k, b in ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (2, 4), (9, 4), (2, 3), (3, 3), (2, 5), (2, 6), (n, 1)):
        if math.comb(n, min(k, n)) > 3000:
            continue
        e = el.mechanisms.tree(n, 1.0, k, b)
        assert e.law.known is Exactness.EXACT
        assert e.psi() == pytest.approx(by_enumeration(n, min(k, n), b), rel=1e-12), (k, b)


def test_large_trees() -> None:
    assert el.mechanisms.tree(2**20, 1.0).psi() == pytest.approx(math.sqrt(21), rel=1e-14)
    exact, bound = el.mechanisms.tree(2**16, 1.0, 16, 4096), el.mechanisms.tree(2**16, 1.0, 16, 5000)
    assert exact.law.known is Exactness.EXACT
    assert bound.law.known is Exactness.BOUND
    assert bound.psi() == el.mechanisms.tree(2**16, 1.0, 14, 4096).psi()  # 14 steps fit 5000 apart


# -- banded -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bands", "wanted"), [(1, 1.03496), (10, 3.80588), (50, 9.29937)])
def test_amplified_bands(bands: int, wanted: float) -> None:
    e = el.mechanisms.banded(sigma=2.0, rate=0.01, bands=bands, steps=2000)
    low, high = e.bracket("epsilon", delta=1e-6)
    assert low <= wanted + 5e-6
    assert wanted - 5e-6 <= high <= wanted * (1 + 1e-3)


def test_a_banded_matrix_is_brought_to_norm_1() -> None:
    column = el.mechanisms.sqrt_prefix(2000, 10)
    norm = float(np.linalg.norm(column))
    plain = el.mechanisms.banded(sigma=2.0, rate=0.01, bands=10, steps=2000)
    for given in (column, sparse.csc_array(toeplitz(column))):
        assert el.mechanisms.matrix(given, 2.0 * norm, rate=0.01).epsilon(1e-6) == pytest.approx(
            plain.epsilon(1e-6), rel=1e-9
        )


def test_both_orders() -> None:
    e = el.mechanisms.banded(sigma=1.0, rate=0.02, bands=4, steps=100)
    assert e.reverse().roc(0.1) != e.roc(0.1)
    assert e.reverse().epsilon(1e-5) == pytest.approx(e.epsilon(1e-5), rel=1e-9)
    replaced = el.mechanisms.banded(sigma=1.0, rate=0.02, bands=4, steps=100, neighbours="replace")
    assert replaced.epsilon(1e-5) > e.epsilon(1e-5)
    assert replaced.worlds.replaces


# -- choosing, composing, refusing ------------------------------------------------------------------------------------


def test_choose() -> None:
    given = {"C": el.mechanisms.sqrt_prefix(100), "participations": 2, "separation": 50}
    choice = el.choose(el.mechanisms.matrix, "sigma", at_most=1.0, reading="epsilon", delta=1e-6, given=given)
    assert choice.experiment.epsilon(1e-6) <= 1.0
    assert choice.experiment.epsilon(1e-6) == pytest.approx(1.0, rel=1e-9)
    assert choice.method == "closed form"
    tree = el.choose(
        el.mechanisms.tree, "sigma", at_most=0.6, reading="success", given={"leaves": 16, "participations": 4}
    )
    assert tree.reading == pytest.approx(0.6, rel=1e-12)
    drawn = el.choose(
        el.mechanisms.banded,
        "sigma",
        at_most=2.0,
        reading="epsilon",
        delta=1e-6,
        given={"rate": 0.01, "bands": 4, "steps": 100},
    )
    assert 1.99 <= drawn.reading <= 2.0


def test_it_composes() -> None:
    e = el.compose(
        el.mechanisms.tree(16, 2.0), el.gaussian(psi=1.0), el.mechanisms.matrix(el.mechanisms.sqrt_prefix(10), 1.0)
    )
    squares = 5 / 4 + 1 + float(np.sum(el.mechanisms.sqrt_prefix(10) ** 2))
    assert e.psi() == pytest.approx(math.sqrt(squares), rel=1e-14)
    assert el.mechanisms.tree(16, 2.0).repeat(4).psi() == pytest.approx(math.sqrt(5), rel=1e-14)


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.mechanisms.matrix(el.mechanisms.sqrt_prefix(20), 2.0, 2, 5),
        lambda: el.mechanisms.tree(16, 2.0, 2, 8),
        lambda: el.mechanisms.banded(sigma=2.0, rate=0.01, bands=3, steps=30),
    ],
)
def test_objects(build: Any) -> None:
    assert build() == build()
    assert pickle.loads(pickle.dumps(build())) == build()
    assert len(repr(build())) < 150


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: el.mechanisms.matrix([], 1.0), "C"),
        (lambda: el.mechanisms.matrix([[]], 1.0), "C"),
        (lambda: el.mechanisms.matrix([0.0, 0.0], 1.0), "C"),
        (lambda: el.mechanisms.matrix([[1.0, math.nan], [0.0, 1.0]], 1.0), "C"),
        (lambda: el.mechanisms.matrix("C", 1.0), "C"),
        (lambda: el.mechanisms.matrix([[1.0], [1.0, 2.0]], 1.0), "C"),
        (lambda: el.mechanisms.matrix(np.ones((2, 2, 2)), 1.0), "C"),
        (lambda: el.mechanisms.matrix(1.0, 1.0), "C"),
        (lambda: el.mechanisms.matrix(sparse.csr_matrix((3, 3)), 1.0), "C"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], 0.0), "sigma"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], 1e-9), "sigma"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], [1.0, -2.0]), "sigma"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], 1.0, 0), "participations"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], 1.0, 1, 0.5), "separation"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], 1.0, 2, rate=0.1), "rate"),
        (lambda: el.mechanisms.matrix([[1.0, 1.0], [0.0, 1.0]], 1.0, rate=0.1), "C"),
        (lambda: el.mechanisms.matrix(np.linspace(0, 1, 5000), 1.0, 2), "C"),
        (lambda: el.mechanisms.matrix([1.0, 2.0], 1.0, neighbours="other"), "neighbours"),
        (lambda: el.mechanisms.tree(0, 1.0), "leaves"),
        (lambda: el.mechanisms.tree(16, math.inf), "sigma"),
        (lambda: el.mechanisms.tree(10**9, 1.0, 10**9), "participations"),
        (lambda: el.mechanisms.banded(sigma=1.0, rate=0.2, bands=6, steps=10), "rate"),
        (lambda: el.mechanisms.banded(sigma=1.0, rate=0.2, bands=11, steps=10), "bands"),
        (lambda: el.mechanisms.banded(sigma=math.nan, rate=0.2, bands=1, steps=10), "sigma"),
        (lambda: el.mechanisms.sqrt_prefix(0), "n"),
        (lambda: el.mechanisms.sqrt_prefix(4, 5), "bands"),
    ],
)
def test_refused(call: Any, parameter: str) -> None:
    with pytest.raises(el.InputError) as caught:
        call()
    assert caught.value.parameter == parameter


def test_size_does_not_matter() -> None:
    """Entries of 1e200 and 1e-200 are as good as any."""
    for unit in (1e-200, 1e200):
        e = el.mechanisms.matrix(unit * el.mechanisms.sqrt_prefix(12), unit, 3, 3)
        assert e.psi() == pytest.approx(3.070536, abs=1e-6)


# How far one person moves a matrix mechanism, against every set of steps, sign and direction.

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


def participation_toeplitz(column: Array) -> Array:
    n = column.size
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    return np.where(lag >= 0, column[np.abs(lag)], 0.0)


@pytest.mark.parametrize("seed", DRAWS)
def test_any_matrix(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    k, b = int(random.integers(1, 5)), int(random.integers(1, 5))
    matrix = random.standard_normal((int(random.integers(1, 9)), n))
    found = gram_sensitivity(matrix.T @ matrix, k, b)
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
    found = gram_sensitivity(plain.T @ plain, k, b)
    assert found.exact
    assert found.size == pytest.approx(by_signs(plain, k, b), rel=1e-12)


@pytest.mark.parametrize("seed", DRAWS)
def test_toeplitz(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, k, b = (int(random.integers(low, high)) for low, high in ((2, 10), (1, 5), (1, 6)))
    falling = np.sort(random.random(n))[::-1]
    found = toeplitz_sensitivity(falling, k, b)
    assert found is not None
    assert found.exact
    assert found.size == pytest.approx(by_signs(participation_toeplitz(falling), k, b), rel=1e-12)
    cut = np.where(np.arange(n) < b, random.standard_normal(n), 0.0)  # bands of any sign that do not overlap
    found = toeplitz_sensitivity(cut, k, b)
    assert found is not None
    assert found.size == pytest.approx(by_signs(participation_toeplitz(cut), k, b), rel=1e-12)
    rising = np.sort(random.random(n))
    found = toeplitz_sensitivity(rising, k, b)
    assert found is None or found.size == pytest.approx(by_signs(participation_toeplitz(rising), k, b), rel=1e-12)


@pytest.mark.parametrize("seed", DRAWS[:8])
def test_norms(seed: int) -> None:
    random = np.random.default_rng(seed)
    squares = random.random(11)
    for k, b in ((1, 1), (3, 2), (2, 5), (11, 1), (4, 4), (5, 1)):
        best = max(sum(squares[i] for i in s) for s in every_set(11, k, b))
        assert orthogonal_sensitivity(squares, k, b).size == pytest.approx(math.sqrt(best), rel=1e-13)


def test_more_sets_than_can_be_enumerated() -> None:
    """Then it is a bound, above what any set found reaches, unless one reaches it."""
    random = np.random.default_rng(3)
    n, k, b = 120, 8, 9
    matrix = np.tril(random.random((n, n)))
    gram = matrix.T @ matrix
    found = gram_sensitivity(gram, k, b)
    assert not found.exact
    best = 0.0
    for _ in range(3000):
        gaps = random.multinomial(n - 1 - (k - 1) * b, np.full(k + 1, 1 / (k + 1)))
        steps = np.cumsum(gaps[:k]) + b * np.arange(k)
        best = max(best, math.sqrt(float(gram[np.ix_(steps, steps)].sum())))
    assert best <= found.size <= 1.5 * best
    column = 1 / np.sqrt(np.arange(1.0, n + 1))
    falling = participation_toeplitz(column)
    closed = toeplitz_sensitivity(column, k, b)
    assert closed is not None
    assert gram_sensitivity(falling.T @ falling, k, b).size >= closed.size * (1 - 1e-12)


@pytest.mark.parametrize("seed", DRAWS[:8])
def test_what_takes_too_long_is_bounded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((12, 12))
    true = by_sizes(matrix, 3, 2)
    monkeypatch.setattr(matrix_factorization, "_MOST_WORK", 0)
    monkeypatch.setattr(matrix_factorization, "_MOST_PREFIXES", 0)
    found = gram_sensitivity(matrix.T @ matrix, 3, 2)
    assert not found.exact
    assert true * (1 - 1e-12) <= found.size <= 1.5 * true
    squares = random.random(12)
    loose = orthogonal_sensitivity(squares, 3, 2)
    assert not loose.exact
    assert loose.size >= math.sqrt(max(sum(squares[i] for i in s) for s in every_set(12, 3, 2)))
    assert orthogonal_sensitivity(squares, 6, 2).exact  # no more would fit


@pytest.mark.parametrize(("k", "b"), [(200, 1), (290, 1), (2, 180)])
def test_many_steps(k: int, b: int) -> None:
    """A count that binds is kept to, exactly or by the largest of them."""
    gram = np.ones((300, 300))
    found = gram_sensitivity(gram, k, b)
    assert found.exact
    assert found.size == pytest.approx(k, rel=1e-12)


def test_a_group_in_several_groups_of_a_banded_matrix() -> None:
    """Two people in different groups move overlapping columns, each drawn or not: no sample of two equal shifts."""
    e = el.mechanisms.banded(sigma=0.7, rate=0.2, bands=2, steps=2)
    both = el.group(e, 2)
    assert both.law.known is Exactness.BOUND
    at = np.linspace(-7.0, 9.0, 400)
    grid = np.stack(np.meshgrid(at, at))
    columns = np.array([[1.0, 1.0], [0.0, 1.0]]).T / math.sqrt(2) / 0.7
    h0, h1 = np.exp(-np.sum(grid**2, axis=0) / 2), np.zeros(grid.shape[1:])
    for drawn in product((0, 1), repeat=2):
        moved = grid - (columns @ drawn)[:, None, None]
        h1 += math.prod(0.4 if one else 0.6 for one in drawn) * np.exp(-np.sum(moved**2, axis=0) / 2)
    cell = (at[1] - at[0]) ** 2 / (2 * math.pi)
    for u in (-1.0, 0.0, 1.0):
        assert np.sum(np.maximum(h1 - math.exp(u) * h0, 0)) * cell <= float(both.law.profile(np.asarray(u))) + 1e-6
    assert el.group(el.mechanisms.banded(sigma=0.7, rate=0.2, bands=1, steps=2), 2).law.known is Exactness.BRACKET
