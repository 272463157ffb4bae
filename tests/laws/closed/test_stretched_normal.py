"""N(0,1) against N(μ,θ²) over its whole domain, against mpmath from the two distribution functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import norm
from tests.laws.oracles import close

from epsilens.experiment import Experiment
from epsilens.laws.closed.stretched_normal import StretchedNormal

MU = (0.0, 1e-9, 0.5, 3.0, 20.0, 700.0)
THETA = (1 + 1e-9, 1.01, 1.5, 3.0, 1e6)
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


@pytest.mark.parametrize("theta", THETA)
@pytest.mark.parametrize("mu", MU)
def test_the_curve(mu: float, theta: float) -> None:
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


@pytest.mark.parametrize("theta", THETA)
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


@pytest.mark.parametrize("theta", THETA)
@pytest.mark.parametrize("mu", MU)
def test_divergences(mu: float, theta: float) -> None:
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
def test_auc_is_a_quadrature(mu: float, theta: float) -> None:
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


def test_ends_and_infinities() -> None:
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
