"""Tilted laws in closed form: against mpmath. Characteristic functions are in test_transform."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from epsilens.laws.composition.fourier import (
    TiltedLaplace,
    TiltedNormal,
    laplace_cumulant,
    laplace_spread,
    normal_cumulant,
    normal_spread,
    tilted,
)
from epsilens.laws.laplace import LaplaceStep
from epsilens.laws.normal import NormalStep


@pytest.mark.parametrize("tilt", [1e-3, 1.0, 1e5])
def test_a_normal_step_stays_normal(tilt: float) -> None:
    law = tilted(NormalStep(0.3), False, tilt, (0.0, 0.0), 1.0)
    assert isinstance(law, TiltedNormal)
    assert law.log_scale == pytest.approx(tilt * (tilt + 1) * 0.045, rel=1e-14)
    s = np.array([-tilt, 0.5, 3.0])
    there = (tilt + s) * (tilt + s + 1) * 0.045
    assert law.log_moment(s) == pytest.approx(there - law.log_scale, rel=1e-9, abs=1e-12 * law.log_scale)
    k_of, (mean, variance) = normal_cumulant(0.3, np.array([tilt])), normal_spread(0.3, np.array([tilt]))
    assert (k_of[0], mean[0], variance[0]) == (law.log_scale, pytest.approx(law.mean), law.variance)


def _moment(m: float, power: float, j: int = 0) -> mpmath.mpf:
    """E L^j e^{λL} under H1: atoms ½ at m and ½e^{−m} at −m, density ½e^{x−m} at L = 2x − m between."""
    m, power = mpmath.mpf(m), mpmath.mpf(power)
    ends = (m**j * mpmath.exp(power * m) + (-m) ** j * mpmath.exp(-m - power * m)) / 2
    cuts = mpmath.linspace(0, m, 9)
    return ends + mpmath.quad(lambda x: (2 * x - m) ** j * mpmath.exp(x - m + power * (2 * x - m)), cuts) / 2


@pytest.mark.parametrize("m", [1e-7, 0.05, 1.0, 12.0])
@pytest.mark.parametrize("tilt", [-3.0, -0.5, -0.2, 0.0, 1e-3, 2.0, 40.0])
def test_laplace(m: float, tilt: float) -> None:
    with mpmath.workdps(60):
        whole, first, second = (_moment(m, tilt, j) for j in range(3))
        truth = mpmath.log(whole), first / whole, second / whole - (first / whole) ** 2
    k_of, (mean, variance) = laplace_cumulant(m, np.asarray(tilt)), laplace_spread(m, np.asarray(tilt))
    law = TiltedLaplace(m, tilt)
    assert abs(float(k_of) - float(truth[0])) <= (law.rho if tilt >= 0 else 1e-9)
    assert float(mean) == pytest.approx(float(truth[1]), rel=1e-6, abs=1e-5 * m)
    assert float(variance) == pytest.approx(float(truth[2]), rel=1e-5)
    if tilt > 0:
        s = np.array([-tilt, -0.4 * tilt, 0.7, 5.0])
        there = [float(mpmath.log(_moment(m, tilt + v)) - mpmath.log(_moment(m, tilt))) for v in s]
        assert law.log_moment(s) == pytest.approx(there, rel=1e-11, abs=law.rho_beside)


def test_bounds_fall() -> None:
    y = np.geomspace(1e-4, 1e6, 4000)
    for m in (1e-6, 0.05, 1.0, 30.0):
        for tilt in (1e-3, 1.0, 50.0):
            bound = TiltedLaplace(m, tilt).decay(y)
            assert (np.diff(bound) <= 1e-15).all()
            assert (bound <= 1 + 1e-11).all()


def test_a_tilt_below_zero_takes_quadrature() -> None:
    assert LaplaceStep(1.0).tilted(-0.3) is None
