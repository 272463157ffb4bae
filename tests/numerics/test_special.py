"""The careful forms of a few functions, and the solvers, against mpmath."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import close, probit

from epsilens.numerics import special
from epsilens.numerics.roots import integrate, root, safe_boundary

X = [1e-300, 1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.49, 0.51, 0.69, 0.71, 0.99, 1.01, 3.0, 20.0, 600.0]


@pytest.mark.parametrize("x", [*X, *(-x for x in X)])
def test_expm1mx_and_sinhcm1(x: float) -> None:
    with mp.workdps(700):
        t = mpf(x)
        # squares of 1e-300 lie below the doubles: close() then asks for an absolute 1e-305
        assert close(special.expm1mx(np.asarray(x)), mp.exp(t) - 1 - t)
        assert close(special.sinhcm1(np.asarray(x)), mp.sinh(t) / t - 1)


@pytest.mark.parametrize("x", [*X, *(-x for x in X if x < 1)])
def test_log1pmx(x: float) -> None:
    with mp.workdps(700):
        assert close(special.log1pmx(np.asarray(x)), mp.log(1 + mpf(x)) - mpf(x))


@pytest.mark.parametrize("y", [-5.0, -0.3, 0.0, 1e-9, 0.5, 3.0, 11.9, 12.1, 40.0, 1e4, 1e9])
def test_mills(y: float) -> None:
    t = mpf(y)
    m = mp.ncdf(-t) / mp.npdf(t)
    assert close(special.mills(np.asarray(y)), m)
    with mp.extradps(40):
        slope = 1 - t * mp.ncdf(-t) / mp.npdf(t)
    # 1 − y·M(y) loses y² of its digits up to y = 12, where the series takes over: 144 ulps
    assert close(special.mills_slope(np.asarray(y)), slope, rel=1e-12 if not 3 < y < 12 else 1e-13 * y * y)
    for width in (1e-9, 0.1, 1.0):
        with mp.extradps(40):
            drop = mp.ncdf(-t) / mp.npdf(t) - mp.ncdf(-t - mpf(width)) / mp.npdf(t + mpf(width))
        assert close(special.mills_drop(np.asarray(y), np.asarray(width)), drop)


@pytest.mark.parametrize("low", [1e-290, 1e-12, 0.01, 0.5, 0.9])
@pytest.mark.parametrize("share", [1e-14, 1e-9, 0.999e-3, 1.001e-3, 0.1, 0.9])
def test_probit_gap(low: float, share: float) -> None:
    gap = share * min(low, 1 - low)
    rest = 1 - low - gap
    truth = probit(mpf(low) + mpf(gap)) - probit(low)
    # the difference of two probits of size 36 keeps 1e-16·36/gap digits; the series takes over at a share of 1e-3
    assert close(special.probit_gap(np.asarray(low), np.asarray(gap), np.asarray(rest)), truth, rel=1e-9)
    if share < 1e-3 and low > 1e-200:
        assert close(special.probit_gap(np.asarray(low), np.asarray(gap), np.asarray(rest)), truth, rel=3e-11)


@pytest.mark.parametrize("p", [1e-300, 1e-12, 0.1, 0.5, 0.9, 1 - 1e-12])
def test_half_normal_quantile(p: float) -> None:
    assert close(special.half_normal_quantile(np.asarray(p)), mp.sqrt(2) * mp.erfinv(mpf(p)))


def test_moment_less_one() -> None:
    p, q = [mpf(2) / 10, mpf(5) / 10, mpf(3) / 10], [mpf(1) / 10, mpf(6) / 10, mpf(3) / 10]
    p0, p1 = (np.asarray([float(x) for x in v]) for v in (p, q))
    for a in (-3.0, -1e-9, 1e-9, 0.3, 0.7, 1 - 1e-9, 1 + 1e-9, 4.0):
        truth = mp.fsum(y ** mpf(a) * x ** (1 - mpf(a)) for x, y in zip(p, q, strict=True)) - 1
        assert close(special.moment_less_one(p0, p1, np.log(p1 / p0), a), truth)


def test_root_finds_many_at_once() -> None:
    target = np.asarray([1e-9, 0.5, 2.0, 1e6])
    found = root(lambda x: x**3 - target, np.zeros(4), np.full(4, 1e3))
    assert found == pytest.approx(np.cbrt(target), rel=1e-14)
    assert root(lambda x: x - 1, np.asarray(1.0), np.asarray(2.0)) == 1.0  # an end that is a root


def test_last_safe_stops_on_the_safe_side() -> None:
    edge = safe_boundary(lambda x: x * x - 2, 1.0, 2.0)
    assert edge * edge <= 2
    assert (edge * (1 + 1e-12)) ** 2 > 2
    step = safe_boundary(lambda x: -1.0 if x <= 0.7 else 1.0, 1e-9, 1e9)  # a jump
    assert step <= 0.7 < step * (1 + 1e-12)
    down = safe_boundary(lambda x: 3 - x, 10.0, 1e-6)  # safe above, unsafe below
    assert 3 <= down < 3 * (1 + 1e-12)


def test_integrate_resolves_a_kink() -> None:
    value = integrate(lambda x: np.abs(x - 1 / 3), np.asarray([0.0, 1.0]), tolerance=1e-13)
    assert value == pytest.approx(1 / 18 + 4 / 18, rel=1e-10)
    assert integrate(np.exp, np.asarray([0.0, 1.0])) == pytest.approx(math.e - 1, rel=1e-14)
