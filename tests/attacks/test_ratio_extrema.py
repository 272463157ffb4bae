"""Turning points of the likelihood ratio of two normal mixtures: none missed, whatever the number of places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

import epsilens as el
from epsilens import correlated
from epsilens.attacks.latent import turning_points
from epsilens.checks import Array
from epsilens.laws.piecewise import NormalMixture


def mixtures(places: Array, p: Array, q: Array, sigma: float) -> tuple[NormalMixture, NormalMixture]:
    """The two laws on the same places."""
    first, second = (NormalMixture(tuple(w.tolist()), tuple(places.tolist()), (sigma,) * places.size) for w in (p, q))
    return first, second


def check(
    lines: tuple[NormalMixture, NormalMixture], points: tuple[float, ...], count: int = 6001, slack: float = 1e-11
) -> None:
    """Wherever the ratio is seen to turn on a fine grid, a point is named."""
    places, sigma = lines[0].locations, lines[0].scale
    x = np.linspace(places[0] - 15 * sigma, places[-1] + 15 * sigma, count)
    step = np.diff(lines[1].log_pdf(x) - lines[0].log_pdf(x))
    signs = np.sign(np.where(np.abs(step) < slack, 0, step))
    live = np.flatnonzero(signs)
    for a, b in pairwise(live):
        if signs[a] != signs[b]:
            assert any(x[a] - 1e-6 <= t <= x[b + 1] + 1e-6 for t in points)


@given(
    st.integers(2, 9),
    st.booleans(),
    st.sampled_from([0.05, 0.3, 1.0, 4.0]),
    st.integers(0, 10_000),
)
@settings(max_examples=examples(60))
def test_no_turning_point_is_missed(size: int, grid: bool, sigma: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.arange(float(size)) if grid else np.sort(rng.uniform(0, size, size))
    p, q = (rng.dirichlet(np.full(size, 0.3)) + 1e-290 for _ in range(2))
    lines = mixtures(places, p, q, sigma)
    check(lines, turning_points(*lines))


@pytest.mark.parametrize("spread", [3.0, 30.0, 100.0])
def test_many_places(spread: float) -> None:
    """More places than a recursion over the changes of sign could follow."""
    rng = np.random.default_rng(5)
    places = np.sort(rng.uniform(0, 1, 400))
    p, q = (rng.dirichlet(np.full(400, 0.3)) + 1e-290 for _ in range(2))
    lines = mixtures(places, p, q, 1 / spread)
    points = turning_points(*lines)
    assert list(points) == sorted(points)
    assert len(points) < 100
    check(lines, points)


@given(st.integers(2, 12), st.sampled_from([0.3, 1.0, 4.0]), st.floats(-10, 0), st.integers(0, 10_000))
@settings(max_examples=examples(30))
def test_laws_that_hardly_differ(size: int, sigma: float, log_gap: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.sort(rng.uniform(0, size, size))
    p = rng.dirichlet(np.ones(size)) + 1e-6
    q = p * np.exp(10**log_gap * rng.normal(size=size))
    lines = mixtures(places, p / p.sum(), q / q.sum(), sigma)
    check(lines, turning_points(*lines), slack=1e-11)


def test_equal_laws_do_not_turn() -> None:
    p = np.array([0.2, 0.3, 0.5])
    assert turning_points(*mixtures(np.array([0.0, 1.0, 5.0]), p, p, 0.7)) == ()


def test_a_long_flat_stretch() -> None:
    """Left of 20 the ratio is flat; it falls at 20.5 to what it is at 40, and from there it rises to that of 41."""
    places = np.array([0.0, 1.0, 40.0, 41.0])
    for p, q in (([0.3, 0.3, 0.3, 0.1], [0.3, 0.3, 0.1, 0.3]), ([0.2, 0.2, 0.3, 0.3], [0.3, 0.3, 0.1, 0.3])):
        lines = mixtures(places, np.array(p), np.array(q), 1.0)
        (place,) = turning_points(*lines)
        assert 20.5 < place < 22
        check(lines, (place,))


@pytest.mark.parametrize(("centre", "sigma"), [(0.0, 1.0), (7.0, 0.2), (-3e4, 50.0)])
def test_a_pair_around_one(centre: float, sigma: float) -> None:
    """½N(c − d) + ½N(c + d) against N(c): the ratio is even, so it turns at c alone."""
    around = NormalMixture((0.5, 0.5), (centre - sigma, centre + sigma), (sigma, sigma))
    assert turning_points(NormalMixture.at(centre, sigma), around) == pytest.approx((centre,), abs=1e-9 * sigma)


def test_one_beside_the_other_does_not_turn() -> None:
    left, right = NormalMixture((0.5, 0.5), (0.0, 1.0), (1.0, 1.0)), NormalMixture((0.5, 0.5), (1.0, 3.0), (1.0, 1.0))
    assert turning_points(left, right) == turning_points(right, left) == ()


def test_both_callers_agree() -> None:
    """A record of four values above 1 or not, and the same as a table whose target says which."""
    p, effect = np.array([0.1, 0.4, 0.3, 0.2]), [0.0, 2.0, 1.0, 3.0]
    above = el.attacks.above(1, p, [0, 1, 2, 3], effect=effect, noise="gaussian", sigma=0.8).experiment
    joint = np.zeros((2, 4))
    joint[0, :2], joint[1, 2:] = p[:2], p[2:]
    table = correlated.table(joint, values=[[0, 1], effect], weights=[0, 1]).experiment(0, sigma=0.8, pair=(0, 1))
    for epsilon in (0.0, 0.5, 2.0):
        assert above.delta(epsilon) == pytest.approx(table.delta(epsilon), rel=1e-11)


def test_a_table_with_many_sums() -> None:
    """Nine records of two values with weights of their own: the ratio over hundreds of sums, against quadrature."""
    rng = np.random.default_rng(2)
    joint = rng.dirichlet(np.ones(2**9)).reshape((2,) * 9)
    model = correlated.table(joint, weights=rng.uniform(0.5, 1.5, 9).tolist())
    e = model.experiment(0, sigma=0.1, pair=(0, 1))
    laws = model._laws(0, {})
    assert laws.places.size > 400
    x, step = np.linspace(laws.places[0] - 1, laws.places[-1] + 1, 20_001, retstep=True)
    first, second = (NormalMixture(tuple(np.exp(w)), tuple(at), (0.1,) * at.size) for at, w in map(laws.column, (0, 1)))
    apart = np.abs(np.exp(first.log_pdf(x)) - np.exp(second.log_pdf(x))).sum() * step / 2
    assert e.delta(0.0) == pytest.approx(apart, rel=1e-6)
