"""Lap(0,1) against Lap(m,θ), both orders, against mpmath working from the piecewise linear likelihood ratio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import norm
from tests.laws.oracles import TwoLaplaces, close, disagreements, grid

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.stretched import StretchedNormal

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


MU = (0.0, 1e-9, 0.5, 3.0, 20.0, 700.0)
STRETCHED_NORMAL_THETA = (1 + 1e-9, 1.01, 1.5, 3.0, 1e6)
Real = Any


def masses(mu: float, theta: float, left: Real, right: Real) -> tuple[Real, Real, Real, Real]:
    """(narrow, wide) outside the interval, then inside."""
    m, t = mpf(mu), mpf(theta)
    a, b = (left - m) / t, (right - m) / t
    return (
        mp.ncdf(left) + mp.ncdf(-right),
        mp.ncdf(a) + mp.ncdf(-b),
        mp.ncdf(right) - mp.ncdf(left),
        mp.ncdf(b) - mp.ncdf(a),
    )


def interval(mu: float, theta: float, u: Real) -> tuple[Real, Real] | None:
    """Where the log-likelihood ratio wide/narrow is at most u: the roots of its parabola."""
    m, t = mpf(mu), mpf(theta)
    square = 2 * (t * t - 1) * (u + mp.log(t)) + m * m
    if square <= 0:
        return None
    c, r = m / (t * t - 1), t * mp.sqrt(square) / (t * t - 1)
    return -c - r, -c + r


@pytest.mark.parametrize("theta", STRETCHED_NORMAL_THETA)
@pytest.mark.parametrize("mu", MU)
def test_the_curve_stretched_normal(mu: float, theta: float) -> None:
    law = StretchedNormal(mu, theta)
    for alpha in (1e-300, 1e-12, 0.05, 0.4, 0.6, 0.95, 1 - 1e-9):
        _, right = law.acceptance(np.asarray(alpha))
        z, c = mpf(float(right)), mpf(mu) / (mpf(theta) ** 2 - 1)
        with mp.workdps(60):
            for _ in range(6):  # polish the end by Newton; what it starts from is the library's, what it ends at is not
                left = -2 * c - z
                out, inside = mp.ncdf(left) + mp.ncdf(-z), mp.ncdf(z) - mp.ncdf(left)
                slope = mp.npdf(left) + mp.npdf(z)
                z += (
                    mp.log(out / alpha) * out if alpha <= 0.5 else -mp.log(inside / (1 - mpf(alpha))) * inside
                ) / slope
        with mp.workdps(400):
            _, hit, _, miss = masses(mu, theta, -2 * c - z, z)
        assert close(law.roc(np.asarray(alpha)), hit, 2e-12), alpha
        assert close(law.tradeoff(np.asarray(alpha)), miss, 2e-11), alpha
        if 1e-290 < hit < 1 - mpf("1e-9"):
            assert close(law.inverse_roc(np.asarray(float(hit))), mpf(alpha), 1e-6 if mu > 100 else 1e-9), alpha


@pytest.mark.parametrize("theta", STRETCHED_NORMAL_THETA)
@pytest.mark.parametrize("mu", MU)
def test_threshold_tests_and_profiles(mu: float, theta: float) -> None:
    law, back = StretchedNormal(mu, theta), StretchedNormal(mu, theta).reverse()
    for u in (-30.0, -1.0, -1e-6, 0.0, 1e-6, 0.3, 1.0, 30.0, 600.0):
        with mp.workdps(400):
            where = interval(mu, theta, mpf(u))
            if where is None:
                alpha, recall, h = mpf(1), mpf(1), 1 - mp.exp(u)
            else:
                alpha, recall, _, _ = masses(mu, theta, *where)
                h = recall - mp.exp(u) * alpha
            where = interval(mu, theta, -mpf(u))
            other = mpf(0)
            if where is not None:
                _, _, narrow, wide = masses(mu, theta, *where)
                other = narrow - mp.exp(u) * wide
        got = law.at(np.asarray(u))
        assert close(got[0], alpha, 1e-11) and close(got[1], recall, 1e-11), u  # noqa: PT018
        assert close(law.profile(np.asarray(u)), max(h, mpf(0))), u
        assert close(back.profile(np.asarray(u)), other), u


@pytest.mark.parametrize("theta", STRETCHED_NORMAL_THETA)
@pytest.mark.parametrize("mu", MU)
def test_divergences_stretched_normal(mu: float, theta: float) -> None:
    law, back = StretchedNormal(mu, theta), StretchedNormal(mu, theta, flipped=True)
    m, t = mpf(mu), mpf(theta)
    assert close(law.kl(), mp.log(t) + (1 + m * m) / (2 * t * t) - mpf(1) / 2)
    assert close(back.kl(), -mp.log(t) + (t * t + m * m) / 2 - mpf(1) / 2)
    for a in (-0.5, 1e-9, 0.3, 0.5, 0.99, 1.3, 5.0):
        p = 1 - mpf(a) + mpf(a) / t**2
        moment = law.log_moment(np.asarray(a))
        if p <= 0:
            assert np.isposinf(moment)
        else:
            assert close(moment, -a * mp.log(t) - mp.log(p) / 2 - m * m * (1 - mpf(a)) * a / t**2 / (2 * p)), a


@pytest.mark.parametrize(("mu", "theta"), [(0.0, 1.5), (1.0, 1.0001), (1.0, 2.0), (3.0, 1.5), (0.5, 50.0)])
def test_auc_is_a_quadrature_stretched_normal(mu: float, theta: float) -> None:
    law = StretchedNormal(mu, theta)
    grid = np.linspace(-9, 9, 200_001)
    llr = norm.logpdf(grid, mu, theta) - norm.logpdf(grid)
    truth = np.trapezoid(norm.pdf(grid) * law.at(llr)[1], grid)
    assert float(law.auc()) == pytest.approx(truth, abs=1e-9)
    assert float(law.reverse().auc()) == pytest.approx(float(law.auc()), rel=1e-14)


def test_reference_values() -> None:
    """The sheet's §3: N(0,1) and N(1,4)."""
    e = Experiment(StretchedNormal(1.0, 2.0))
    assert e.renyi(0.5) == pytest.approx(0.323143551314, abs=6e-13)
    assert e.renyi(0.3) == pytest.approx(0.240351352590, abs=6e-13)
    assert e.kl() == pytest.approx(0.443147180560, abs=6e-13)
    assert e.chernoff() == pytest.approx(0.172116722932, abs=6e-13)
    assert e.reverse().chernoff() == pytest.approx(0.172116722932, abs=6e-13)


def test_ends_and_infinities_stretched_normal() -> None:
    e = Experiment(StretchedNormal(1.0, 1.5))
    assert (e.roc(0.0), e.roc(1.0), e.tradeoff(0.0), e.tradeoff(1.0)) == (0.0, 1.0, 1.0, 0.0)
    assert (e.reverse().roc(0.0), e.reverse().roc(1.0)) == (0.0, 1.0)
    assert e.epsilon(0.0) == np.inf
    assert e.psi() == np.inf
    assert e.delta(e.epsilon(1e-6)) <= 1e-6
    assert e.reverse().posterior() == pytest.approx(1 / (1 + np.exp(-(np.log(1.5) + 1 / 2.5))), rel=1e-14)
    assert e.law.profile(np.asarray([-np.inf, np.inf])).tolist() == [1.0, 0.0]
    assert e.reverse().law.profile(np.asarray([-np.inf, np.inf])).tolist() == [1.0, 0.0]
    assert 0.5 < e.success() < 1
    assert e.fbeta() > 2 / 3
