"""The practical μ against curves written down here, and the values of the reference sheet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import erfinv, mp, mpf, sqrt
from scipy.special import ndtr, ndtri
from tests.laws.oracles import downward, upward

import epsilens as el
from epsilens.laws.normal import Normal
from epsilens.laws.stretched import StretchedNormal
from epsilens.readings.gdp import equal_error_bracket, mu_by_lines, mu_by_tests

LEVELS = (1e-10, 1e-6, 1e-3, 1e-2, 0.2, 0.5)


def brute(f: Callable[[Any], Any], level: float) -> float:
    """sup Φ⁻¹(1−f(α)) − Φ⁻¹(α) over a fine grid of α with both errors at the level, or the balanced test."""
    low, high = 1e-16, 0.5
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if f(np.asarray(middle)) >= middle else (low, middle)
    if low < level:
        return float(-2 * ndtri(low))
    alpha = ndtr(np.linspace(ndtri(level), ndtri(0.9999), 400_001))
    miss = f(alpha)
    return float(np.max((-ndtri(miss) - ndtri(alpha))[(miss >= level) & (alpha >= level)]))


@pytest.mark.parametrize(
    ("level", "value"), [(1e-2, 1.5619), (1e-3, 1.5629), (1e-6, 1.5649), (1e-10, 1.5669)]
)  # one method, four digits
def test_the_values_of_the_sheet(level: float, value: float) -> None:
    e = el.dpsgd(sigma=9.4, rate=2**14 / 50_000, steps=2000)
    low, high = e.bracket("mu", level=level)
    assert low <= value + 5e-5
    assert high >= value - 5e-5
    assert high - low < 4e-4
    assert e.reverse().mu(level) == pytest.approx(high, rel=2e-4)
    assert e.psi() == pytest.approx(math.sqrt(2000) / 9.4)


@pytest.mark.parametrize("level", LEVELS)
def test_a_normal_shift_is_itself_at_every_level(level: float) -> None:
    for mu in (1e-9, 0.3, 1.0, 7.0, 25.0):
        assert el.gaussian(psi=mu).mu(level) == mu
        law = Normal(np.asarray(mu))
        assert mu_by_tests(law, level) == pytest.approx(mu, rel=1e-6)
        # the curve lies between the two, whatever is used of it
        assert mu * (1 - 1e-7) <= mu_by_lines(law, level) <= mu * (1 + 1e-6)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.2, 1e-3), (3.0, 0.05), (12.0, 1e-9)])
def test_a_claim_against_its_polygon(level: float, epsilon: float, delta: float) -> None:
    def f(alpha: Any) -> Any:
        first = 1 - delta - math.exp(epsilon) * alpha
        return np.maximum(np.maximum(first, math.exp(-epsilon) * (1 - delta - alpha)), 0.0)

    e = el.mechanisms.approximate(epsilon=epsilon, delta=delta)
    assert e.mu(level) == pytest.approx(brute(f, level), rel=1e-4)
    assert e.mu(level) >= brute(f, level) * (1 - 1e-9)


def test_the_level_of_a_claim_where_it_leaves_its_polygon() -> None:
    # (ε, δ) at α = a below its corner: TPR = δ + e^ε·a, in 60 digits
    with mp.workdps(60):
        a, eps, delta = mpf("1e-12"), mpf(1), mpf("1e-5")

        def probit(p: Any) -> Any:
            return sqrt(2) * erfinv(2 * p - 1)

        wanted = probit(delta + mp.e**eps * a) - probit(a)
    assert el.mechanisms.approximate(epsilon=1.0, delta=1e-5).mu(1e-12) == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_unequal_variances_against_their_intervals(level: float) -> None:
    # N(0, 1) against N(m, θ²): reject outside an interval about the point where the ratio is least
    m, theta = 0.8, 1.5
    centre = -m / (theta**2 - 1)
    r = np.concatenate((np.linspace(1e-6, 3, 200_000), np.linspace(3, 40, 400_000)))
    inside0 = ndtr(centre + r) - ndtr(centre - r)
    alpha = ndtr(centre - r) + ndtr(-(centre + r))
    miss = ndtr((centre + r - m) / theta) - ndtr((centre - r - m) / theta)
    hit = ndtr((centre - r - m) / theta) + ndtr(-(centre + r - m) / theta)
    x = float(np.min(np.maximum(alpha, miss)))
    gaps = np.where(hit < 0.5, ndtri(hit), -ndtri(miss)) - np.where(alpha < 0.5, ndtri(alpha), -ndtri(inside0))
    wanted = float(np.max(gaps[(alpha >= level) & (miss >= level)])) if x >= level else float(-2 * ndtri(x))
    law = StretchedNormal(m, theta)
    for way in (law, law.reverse()):
        assert float(way.practical(level)) == pytest.approx(wanted, rel=2e-5)


def test_noise_whose_widest_gap_is_in_the_middle() -> None:
    for level in (1e-10, 1e-3, 0.5):
        for e in (
            el.laplace(epsilon=1.3),
            el.mechanisms.exponential(epsilon=2.0),
            el.mechanisms.noisy_max(epsilon=0.5),
        ):
            assert e.mu(level) == e.psi()
    # both errors ½·e^{−1/2}
    assert el.laplace(epsilon=1.0).mu() == pytest.approx(-2 * float(ndtri(math.exp(-0.5) / 2)), rel=1e-14)


def test_it_grows_with_risk_and_falls_with_the_level() -> None:
    runs = [el.dpsgd(sigma=s, rate=0.01, steps=1000) for s in (2.0, 1.0, 0.6)]
    table = [[e.mu(level) for level in (1e-9, 1e-5, 1e-2, 0.4)] for e in runs]
    for row, e in zip(table, runs, strict=True):
        assert row == sorted(row, reverse=True)
        assert row[0] < e.psi()
    for column in zip(*table, strict=True):
        assert list(column) == sorted(column)


def test_where_errors_balance_below_the_level() -> None:
    x = 1 / (1 + math.exp(20.0))
    assert el.mechanisms.pure(epsilon=20.0).mu(0.01) == pytest.approx(-2 * float(ndtri(x)), rel=1e-12)
    assert el.mechanisms.approximate(epsilon=0.0, delta=1.0).mu() == math.inf
    assert el.mechanisms.pure(epsilon=0.0).mu() == 0
    low, high = equal_error_bracket(Normal(np.asarray(3.0)))
    assert low <= float(ndtr(-1.5)) * (1 + 1e-14)
    assert high >= float(ndtr(-1.5)) * (1 - 1e-14)


def test_arguments() -> None:
    e = el.laplace(epsilon=[0.5, 1.0])
    assert np.allclose(e.mu(0.01), e.psi())
    assert np.shape(el.mechanisms.pure(epsilon=1.0).mu([[1e-3], [1e-2]])) == (2, 1)
    assert np.asarray(el.attacks.differencing(epsilon=[0.5, 1.0]).mu(1e-3)).shape == (2,)
    assert np.asarray(e.mu(0.0))[1] == np.asarray(e.psi())[1]
    for bad in (-0.1, 0.6, math.nan, 1e-200):
        with pytest.raises(el.InputError, match="level"):
            el.mechanisms.pure(epsilon=1.0).mu(bad)
    assert el.choose(el.gaussian, "sigma", at_most=0.5, reading="mu").value == pytest.approx(2.0)
    chosen = el.choose(el.dpsgd, "sigma", at_most=1.0, reading="mu", level=1e-4, given={"rate": 0.01, "steps": 1000})
    assert 0.98 < chosen.reading <= 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(70.0, 2.9e-10), (400.0, 0.0), (33.3, 1e-5)])
def test_claims_so_weak_that_errors_balance_where_logs_have_few_digits(epsilon: float, delta: float) -> None:
    """f(x) = x at x = (1−δ)/(1+e^ε), and μ = −2Φ⁻¹(x) where that is below the level."""
    mp.dps = 400
    x = (1 - mpf(delta)) / (1 + mp.exp(epsilon))
    value = float(-2 * mp.findroot(lambda y: mp.log(mp.ncdf(y) / x), -math.sqrt(2 * epsilon)))
    assert el.mechanisms.approximate(epsilon=epsilon, delta=delta).mu(level=1e-9) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(("epsilon", "delta"), [(700.0, 2.9e-10), (710.0, 2.9e-10), (2000.0, 0.1), (2000.0, 0.0)])
def test_errors_that_no_double_holds(epsilon: float, delta: float) -> None:
    """Balanced errors of (1 − δ)/(1 + e^ε), with the normal tail in 30 digits: both ends are finite and true."""
    with mp.workdps(30):
        log_x = mp.log1p(-mp.mpf(delta)) - mp.log1p(mp.exp(mp.mpf(epsilon)))
        start = mp.sqrt(-2 * log_x) - 1
        z = mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - log_x, start)
    e = el.mechanisms.approximate(epsilon=epsilon, delta=delta) if delta else el.mechanisms.pure(epsilon=epsilon)
    assert e.bracket("mu", level=1e-12) == (downward(float(2 * z), 2e-12), upward(float(2 * z), 2e-12))
    assert e.mu(1e-12) == pytest.approx(float(2 * z), rel=1e-13)
