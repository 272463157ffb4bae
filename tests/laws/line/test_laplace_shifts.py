"""Laplace answers with unlike shifts: against the equal product, quadrature over one answer, sums, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.strategies import positive

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.line.laplace_product import laplace_product
from epsilens.laws.line.laplace_shifts import laplace_shifts, places


def test_places_coincide_up_to_rounding() -> None:
    assert places((1.0, 1.0, 1.0)) == pytest.approx([-3, -1, 1, 3])
    assert places((0.1, 0.2, 0.3)) == pytest.approx([-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6], abs=1e-15)
    assert places((1.0, 0.25)).size == 4


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


@settings(max_examples=25)
@given(positive(0.01, 20.0), positive(0.01, 20.0), st.floats(-0.9, 0.9))
def test_two_answers_against_quadrature(m1: float, m2: float, where: float) -> None:
    u = where * (m1 + m2)
    got = float(laplace_shifts((m1, m2)).profile(np.asarray(u)))
    assert got == pytest.approx(two(m1, m2, u), rel=1e-9, abs=1e-12)


@settings(max_examples=15)
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
