"""The stretched Laplace at the ends of its domain, θ → 1 and θ = 10⁶, against mpmath."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.laws.oracles import TwoLaplaces, close
from tests.strategies import positive

from epsilens.laws.stretched import StretchedLaplace, StretchedNormal

M = (0.0, 1e-12, 0.5, 5.0, 700.0)
THETA = (1 + 1e-12, 1 + 1e-6, 1.5, 1e3, 1e6)


def ends(m: Any, t: Any, w: Any) -> tuple[Any, Any]:
    """The sheet's interval at level w = ℓ + m."""
    bend = (t + 1) * m
    return -w / (t - 1), w / (t + 1) if w <= bend else m + (w - bend) / (t - 1)


@pytest.mark.parametrize("theta", THETA)
@pytest.mark.parametrize("m", M)
def test_power_of_the_optimal_test(m: float, theta: float) -> None:
    """Bisection of the level in 60 digits, as the sheet says."""
    law = StretchedLaplace(m, theta)
    with mp.workdps(60):
        x, t = mpf(m), mpf(theta)
        for alpha in (1e-300, 1e-30, 0.05, 0.5, 0.99, 1 - 1e-12):
            low, high = mpf(0), mpf(10) ** 12
            for _ in range(220):
                middle = (low + high) / 2
                left, right = ends(x, t, middle)
                low, high = (middle, high) if (mp.exp(left) + mp.exp(-right)) / 2 > alpha else (low, middle)
            left, right = ends(x, t, low)
            z = (right - x) / t
            power = mp.exp((left - x) / t) / 2 + (mp.exp(-z) / 2 if z >= 0 else 1 - mp.exp(z) / 2)
            assert close(law.roc(np.asarray(alpha)), power, 1e-11), alpha
            got = law.acceptance(np.asarray(alpha))
            size = (mp.exp(mpf(float(got[0]))) + mp.exp(-mpf(float(got[1])))) / 2
            assert close(float(size), mpf(alpha), 1e-10), alpha


@pytest.mark.parametrize("theta", THETA)
@pytest.mark.parametrize("m", M)
def test_divergences(m: float, theta: float) -> None:
    law, back = StretchedLaplace(m, theta), StretchedLaplace(m, theta, flipped=True)
    with mp.workdps(80):
        x, t = mpf(m), mpf(theta)
        assert close(law.kl(), mp.log(t) - 1 + mp.exp(-x) / t + x / t)
        assert close(back.kl(), -mp.log(t) - 1 + t * mp.exp(-x / t) + x)
        for a in (1e-9, 0.3, 0.5, 0.99):
            narrow, wide = 1 - mpf(a), mpf(a) / t
            near, far = mp.exp(-narrow * x), mp.exp(-wide * x)
            across = (near - far) / (wide - narrow) if wide != narrow else x * near
            moment = mp.log(((near + far) / (narrow + wide) + across) / 2) - a * mp.log(t)
            assert close(law.log_moment(np.asarray(a)), moment), a


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("theta", [1.5, 1e3, 1e6])
@pytest.mark.parametrize("m", [0.0, 0.01, 5.0, 700.0])
def test_profiles_of_a_wide_stretch(m: float, theta: float, flipped: bool) -> None:
    law, truth = StretchedLaplace(m, theta, flipped), TwoLaplaces(m, theta, swapped=flipped)
    for u in (-30.0, -1.0, 0.0, 1e-3, 1.0, 5.0):
        with mp.workdps(120):
            h = truth.profile(mpf(u))
        assert close(law.profile(np.asarray(u)), h, 2e-11), u


@given(
    st.sampled_from([StretchedLaplace, StretchedNormal]),
    positive(1e-3, 30.0),
    st.sampled_from([1.001, 1.3, 4.0, 200.0]),
    st.booleans(),
    st.floats(-5.0, 5.0),
)
def test_one_curve_in_every_form(kind: Any, m: float, theta: float, flipped: bool, u: float) -> None:
    """Threshold tests lie on the ROC, the profile is their intercept, and the curve is concave along its slope."""
    law = kind(m, theta, flipped)
    alpha, recall = law.at(np.asarray(u))
    assert float(law.profile(np.asarray(u))) == pytest.approx(float(recall - np.exp(u) * alpha), abs=1e-12)
    if 1e-12 < alpha < 1 - 1e-9:
        assert float(law.roc(alpha)) == pytest.approx(float(recall), rel=1e-9)
        assert float(law.roc(alpha) + law.tradeoff(alpha)) == pytest.approx(1.0, abs=1e-12)
    for other in (1e-6, 0.1, 0.5, 0.9):  # the tangent at this threshold bounds the whole curve
        assert float(law.roc(np.asarray(other))) <= float(recall + np.exp(u) * (other - alpha)) + 1e-9
