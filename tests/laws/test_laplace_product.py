"""The exact product of equal Laplace answers, against closed forms, convolution on a grid, and simulation.

Laplace answers with unlike shifts: against the equal product, quadrature over one answer, sums, and simulation.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.examples import examples
from tests.strategies import positive

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.laplace import laplace_product, laplace_shifts, shift_sums


def product(m: float, k: int) -> Experiment:
    return Experiment(laplace_product(m, k))


# Reference sheet §1, the table at Thm 4: total variation with ε each, and with one L1-calibrated shift split evenly.
@pytest.mark.parametrize(
    ("k", "m", "tv"),
    [
        (2, 1.0, 0.448181), (3, 1.0, 0.567685), (10, 1.0, 0.833800),
        (2, 0.5, 0.241837), (3, 1 / 3, 0.229201), (10, 0.1, 0.122131),
    ],
)  # fmt: skip
def test_the_sheets_total_variation(k: int, m: float, tv: float) -> None:
    assert product(m, k).advantage() == pytest.approx(tv, abs=6e-7)


def test_the_sheets_f_score() -> None:
    assert product(1.0, 2).fbeta(1.0, 0.5) == pytest.approx(0.754826, abs=6e-7)


@pytest.mark.parametrize("m", [1e-3, 0.3, 1.0, 4.0, 20.0])
def test_two_answers_in_closed_form(m: float) -> None:
    # 1 − (1 + m/2)e^{−m}, reference sheet §0
    assert product(m, 2).advantage() == pytest.approx(1 - (1 + m / 2) * math.exp(-m), rel=1e-10)


@pytest.mark.parametrize("m", [0.2, 1.0, 3.0])
def test_one_answer_is_the_laplace_pair(m: float) -> None:
    one, law = product(m, 1), el.laplace(epsilon=m)
    alpha = np.array([1e-6, 0.01, 0.1, 0.5, 0.9])
    np.testing.assert_allclose(one.roc(alpha), law.roc(alpha), rtol=1e-9)
    assert one.success(0.2) == pytest.approx(law.success(0.2), rel=1e-10)
    assert one.epsilon() == pytest.approx(m, rel=1e-9)


def _grid(m: float, k: int, prior: float, steps: int = 4000) -> float:
    """Success by convolving the loss of one answer on a grid: atoms at ±m, a flat density between, tilted."""
    edges = np.linspace(-m, m, steps + 1)
    low, high = edges[:-1], edges[1:]
    # Under H0 the loss is −m with ½ and otherwise e^{−(m+l)/2}/4 dl, up to m with e^{−m}/2.
    mass = 0.5 * (np.exp(-(m + low) / 2) - np.exp(-(m + high) / 2))
    one = np.zeros(steps + 1)
    one[0] += 0.5
    one[-1] += 0.5 * math.exp(-m)
    one[:-1] += mass / 2
    one[1:] += mass / 2
    whole = np.array([1.0])
    for _ in range(k):
        whole = np.convolve(whole, one)
    loss = np.linspace(-k * m, k * m, whole.size)
    return float((whole * np.maximum((1 - prior), prior * np.exp(loss))).sum())


@pytest.mark.parametrize(("m", "k", "prior"), [(0.3, 3, 0.5), (1.0, 3, 0.3), (0.5, 6, 0.5), (2.0, 4, 0.1)])
def test_success_against_convolution(m: float, k: int, prior: float) -> None:
    assert product(m, k).success(prior) == pytest.approx(_grid(m, k, prior), abs=2e-6)


@pytest.mark.parametrize(("m", "k"), [(0.4, 3), (1.0, 4), (0.7, 2)])
def test_roc_against_simulation(m: float, k: int) -> None:
    rng, runs = np.random.default_rng(7), 200_000
    x0 = rng.laplace(size=(runs, k))
    x1 = x0 + m
    # Rounded, because answers on the flat sides tie exactly, and a float's last digit must not break the tie.
    score0 = np.round((np.abs(x0) - np.abs(x0 - m)).sum(1), 9)
    score1 = np.round((np.abs(x1) - np.abs(x1 - m)).sum(1), 9)
    for cut in (-0.35 * k * m + 1e-3, 0.1 * m + 1e-3, 0.5 * k * m + 1e-3):
        fpr, tpr = (score0 > cut).mean(), (score1 > cut).mean()
        error = 4 * math.sqrt(0.5 / runs)
        assert product(m, k).roc(fpr) == pytest.approx(tpr, abs=2 * error)


@pytest.mark.parametrize(("m", "k"), [(0.05, 3), (3.0, 4), (12.0, 3)])
def test_it_is_a_trade_off(m: float, k: int) -> None:
    e, alpha = product(m, k), np.linspace(0, 1, 41)
    beta = np.asarray(e.tradeoff(alpha))
    assert (np.diff(beta) <= 1e-12).all()
    assert (np.diff(beta, 2) >= -1e-9).all()
    assert (beta <= 1 - alpha + 1e-12).all()
    assert e.epsilon() == pytest.approx(k * m, rel=1e-9)
    # more answers never help the defender, and the sum of losses bounds them
    assert e.success() <= el.mechanisms.pure(epsilon=k * m).success() + 1e-12
    assert e.success() >= el.laplace(epsilon=m).success() - 1e-12


def test_places_coincide_up_to_rounding() -> None:
    assert shift_sums((1.0, 1.0, 1.0)) == pytest.approx([-3, -1, 1, 3])
    assert shift_sums((0.1, 0.2, 0.3)) == pytest.approx([-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6], abs=1e-15)
    assert shift_sums((1.0, 0.25)).size == 4


@pytest.mark.parametrize(("m", "k"), [(1.0, 2), (1 / 3, 3), (0.4, 5), (12.0, 3)])
def test_equal_shifts_are_the_equal_product(m: float, k: int) -> None:
    one, other = Experiment(laplace_shifts((m,) * k)), Experiment(laplace_product(m, k))
    assert one.advantage() == pytest.approx(other.advantage(), rel=1e-13)
    assert one.fbeta(1.0, 0.3) == pytest.approx(other.fbeta(1.0, 0.3), rel=1e-13)
    assert one.roc([1e-9, 1e-3, 0.4]) == pytest.approx(other.roc([1e-9, 1e-3, 0.4]), rel=1e-12)
    assert one.auc() == pytest.approx(other.auc(), rel=1e-12)


def two(m1: float, m2: float, u: float) -> float:
    """h(e^u) of two answers: the second's profile averaged over the first's log-likelihood ratio under H1."""
    second = el.laplace(epsilon=m2).law

    def h(s: float) -> float:
        return float(second.profile(np.asarray(u - s)))

    corners = sorted({c for c in (u - m2, u + m2) if -m1 < c < m1})
    inside = quad(
        lambda s: 0.25 * math.exp((s - m1) / 2) * h(s), -m1, m1, points=corners or None, epsabs=1e-14, epsrel=1e-13
    )[0]
    return float(0.5 * h(m1) + 0.5 * math.exp(-m1) * h(-m1) + inside)


@pytest.mark.always
@settings(max_examples=examples(25))
@given(positive(0.01, 20.0), positive(0.01, 20.0), st.floats(-0.9, 0.9))
def test_two_answers_against_quadrature(m1: float, m2: float, where: float) -> None:
    u = where * (m1 + m2)
    got = float(laplace_shifts((m1, m2)).profile(np.asarray(u)))
    assert got == pytest.approx(two(m1, m2, u), rel=1e-9, abs=1e-12)


@settings(max_examples=examples(15))
@given(st.lists(positive(0.05, 3.0), min_size=2, max_size=4))
def test_divergences_add_up(shifts: list[float]) -> None:
    e = Experiment(laplace_shifts(tuple(shifts)))
    parts = [el.laplace(epsilon=m) for m in shifts]
    assert e.kl() == pytest.approx(sum(p.kl() for p in parts), rel=1e-10)
    assert e.renyi(2.0) == pytest.approx(sum(p.renyi(2.0) for p in parts), rel=1e-10)
    assert float(e.law.max_llr()) == pytest.approx(sum(shifts), rel=1e-12)
    assert e.advantage() >= max(p.advantage() for p in parts) * (1 - 1e-12)


def test_against_a_simulation() -> None:
    rng, n, shifts = np.random.default_rng(5), 1_000_000, np.array([0.5, 1.0, 2.0])
    x = rng.laplace(size=(n, 3)) + shifts
    score = (np.abs(x) - np.abs(x - shifts)).sum(axis=1)
    y = rng.laplace(size=(n, 3))
    other = (np.abs(y) - np.abs(y - shifts)).sum(axis=1)
    rate = float(np.mean(score > 0.1) - np.mean(other > 0.1))
    alpha, recall = laplace_shifts((0.5, 1.0, 2.0)).at(np.asarray(0.1))
    assert abs(rate - float(recall - alpha)) < 5 * math.sqrt(0.5 / n)
