"""Lap(0,1) against Lap(m,θ), both orders, against mpmath working from the piecewise linear likelihood ratio."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import TwoLaplaces, close, disagreements, grid

import epsilens as el
from epsilens.experiment import Experiment

M = [0.0, 1e-12, 1e-3, 1.0, 20.0, 700.0]
THETA = [1.01, 1.5, 3.0, 50.0, 0.02, 0.5]
ORDERS = [False, True]


def pair(m: float, theta: float, swapped: bool) -> tuple[Experiment, TwoLaplaces]:
    e = el.laplace(epsilon=m, stretch=theta) if m else el.laplace(epsilon=1.0, shift=0.0, stretch=theta)
    return e.reverse() if swapped else e, TwoLaplaces(m, theta, swapped=swapped)


@pytest.mark.parametrize("swapped", ORDERS)
@pytest.mark.parametrize("theta", THETA)
@pytest.mark.parametrize("m", M)
def test_threshold_tests_and_profile(m: float, theta: float, swapped: bool) -> None:
    """To 1e-12, or to what four ulps of the threshold change: near an end of the likelihood ratio, and at m = 700 with
    θ = 1.01, the reading moves by 1e-11 for an ulp of u, so no double can do better.
    """
    e, o = pair(m, theta, swapped)
    for u in (-700.0, -5.0, -0.5, -1e-3, 0.0, 0.005, 0.3, 1.0, 20.0, 700.0):
        got = (*e.law.at(np.asarray(u)), e.law.profile(np.asarray(u)))
        truth = (*o.at(u), o.profile(u))
        for k, (v, t) in enumerate(zip(got, truth, strict=True)):
            if not close(v, t):
                shake = 4 * abs(np.spacing(u)) + 4 * np.spacing(m)
                low, high = ((*o.at(u + s), o.profile(u + s))[k] for s in (-shake, shake))
                assert abs(mpf(float(v)) - t) <= abs(high - low), (u, k, float(v), mp.nstr(t, 18))
                assert abs(mpf(float(v)) - t) <= mpf("1e-10") * t, (u, k, float(v), mp.nstr(t, 18))


@pytest.mark.parametrize("swapped", ORDERS)
@pytest.mark.parametrize("theta", [1.01, 1.5, 50.0, 0.5])
@pytest.mark.parametrize("m", [0.0, 1e-3, 1.0, 20.0])
def test_the_curve(m: float, theta: float, swapped: bool) -> None:
    """Points of the curve from α, R < 1e-290 to 1 − 1e-13, found without a root: see ``TwoLaplaces.point``."""
    e, o = pair(m, theta, swapped)
    for log_w in (-660.0, -230.0, -25.0, -5.0, 0.0, 2.0, 3.0):
        alpha, recall, rest0, rest1, t = o.point(log_w)
        a, r = float(alpha), float(recall)
        if not (1e-300 < a < 1 and 1e-300 < r < 1):
            continue
        # a double near α = 1 − 1e-13 is only good to a relative 1e-3 of 1 − α: follow the tangent to the double
        step_a, step_r = mpf(a) - alpha, mpf(r) - recall
        assert close(e.roc(a), recall + t * step_a), (log_w, a)
        if abs(step_a) < 1e-6 * rest0:
            assert close(e.tradeoff(a), rest1 - t * step_a), (log_w, a)
        if abs(step_r) < 1e-6 * rest1:
            assert close(e.law.inverse_roc(np.asarray(r)), alpha + step_r / t), (log_w, r)


@pytest.mark.parametrize("swapped", ORDERS)
@pytest.mark.parametrize("theta", THETA)
@pytest.mark.parametrize("m", M)
def test_divergences(m: float, theta: float, swapped: bool) -> None:
    e, o = pair(m, theta, swapped)
    assert not disagreements([()], e.kl, o.kl)
    for order in (1e-6, 0.1, 0.5, 0.999999, 1.000001, 1.4, 2.0, 64.0):
        with mp.extradps(40):
            truth = o.log_moment(1 - mpf(order)) / (mpf(order) - 1)
        if mp.isinf(truth):
            assert e.renyi(order) == np.inf
        else:
            assert close(e.renyi(order), truth), (order, e.renyi(order), mp.nstr(truth, 18))


@pytest.mark.parametrize("theta", [1.01, 1.5, 50.0, 0.5])
@pytest.mark.parametrize("m", [0.0, 1.0, 5.0])
def test_auc_is_a_quadrature(m: float, theta: float) -> None:
    e, o = pair(m, theta, False)
    with mp.workdps(20):
        truth = o.auc()
    assert close(e.auc(), truth)
    assert close(e.reverse().auc(), truth)  # swapping the worlds and the sides leaves the area


@pytest.mark.parametrize("theta", [1.01, 1.5, 50.0, 0.5])
@pytest.mark.parametrize("m", [0.1, 1.0, 5.0])
def test_chernoff_is_the_best_tilt(m: float, theta: float) -> None:
    e, o = pair(m, theta, False)
    with mp.workdps(30):
        a = mp.findroot(lambda a: mp.diff(o.log_moment, a), 0.5)
        truth = -o.log_moment(a)
    assert close(e.chernoff(), truth)
    assert close(e.reverse().chernoff(), truth)


def test_ends_and_infinities() -> None:
    e = el.laplace(epsilon=1.0, stretch=1.5)
    assert (e.roc(0.0), e.roc(1.0), e.tradeoff(0.0), e.tradeoff(1.0)) == (0.0, 1.0, 1.0, 0.0)
    assert e.epsilon(0.0) == np.inf  # the wide law is unbounded against the narrow one
    assert e.psi() == np.inf  # recall is α^{1/θ} in the tail
    assert e.reverse().posterior() == pytest.approx(1 / (1 + np.exp(-(np.log(1.5) + 1 / 1.5))), rel=1e-13)
    assert not disagreements(grid([0.5]), e.posterior, lambda p: mpf(1))


@pytest.mark.parametrize("stretch", [1e-78, 1e30, 1e100])
def test_the_loss_of_a_wide_law_has_no_last_place(stretch: float) -> None:
    e = el.laplace(epsilon=1.0, stretch=stretch)
    for delta in (1e-100, 1e-5, 0.9):
        assert e.delta(e.epsilon(delta)) <= delta


def test_the_widest_law_is_told_apart_with_probability_one_and_no_more() -> None:
    e = el.laplace(epsilon=3.83264e-264, stretch=3.04814e82)
    assert e.delta(0.0) <= 1
    assert e.reverse().delta(0.0) <= 1
