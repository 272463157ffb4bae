"""The least of a convex function: against closed forms, in few steps."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import close, probit

from epsilens.numerics import special
from epsilens.numerics.roots import integrate, minimum, root, safe_boundary
from epsilens.numerics.special import binomial_window, log_binomial


class Counted:
    """A function that counts how often it is asked."""

    def __init__(self, f: Callable[[float], float]) -> None:
        self.f, self.asked = f, 0

    def __call__(self, x: float) -> float:
        self.asked += 1
        return self.f(x)


@pytest.mark.parametrize("p", [1e-12, 1e-6, 0.01, 0.3])
@pytest.mark.parametrize("q", [0.2, 0.5, 0.999])
def test_chernoff_information_of_two_coins(p: float, q: float) -> None:
    f = Counted(lambda a: math.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)))
    found = minimum(f, 0.0, 1.0)
    # the tilted coin that is as far from one as from the other: log(t/p)·t + … = log(t/q)·t + …
    with mpmath.workdps(40):
        x, y = mpmath.mpf(p), mpmath.mpf(q)
        t = mpmath.log((1 - y) / (1 - x)) / (mpmath.log(x / y) + mpmath.log((1 - y) / (1 - x)))
        truth = -(t * mpmath.log(t / x) + (1 - t) * mpmath.log((1 - t) / (1 - x)))
    assert found == pytest.approx(float(truth), rel=1e-12, abs=1e-15)
    assert f.asked <= 30


@pytest.mark.parametrize("at", [1e-6, 0.3, 0.5, 0.999, 1 - 1e-6])
def test_a_parabola_and_a_corner(at: float) -> None:
    assert minimum(lambda x: (x - at) ** 2 - 1, 0.0, 1.0) == pytest.approx(-1, abs=1e-15)
    f = Counted(lambda x: abs(x - at))
    assert minimum(f, 0.0, 1.0) < 1e-7
    assert f.asked < 100


# The careful forms of a few functions, and the solvers, against mpmath.

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


# Binomial probabilities against exact arithmetic.


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (7, 0.3), (40, 0.999), (1000, 1e-3), (10**7, 0.37), (10**8, 1e-6)])
def test_the_logarithm_has_its_digits(n: int, p: float) -> None:
    spread = math.sqrt(n * p * (1 - p)) + 1
    for k in {0, n, *(min(max(round(n * p + z * spread), 0), n) for z in (-12, -3, 0, 1, 5, 13))}:
        with mp.workdps(40):
            exact = mp.log(mp.binomial(n, k)) + k * mp.log(mp.mpf(p)) + (n - k) * mp.log1p(-mp.mpf(p))
        assert float(log_binomial(n, k, p)) == pytest.approx(float(exact), rel=1e-13, abs=3e-11 if n > 1e6 else 1e-13)


def test_what_cannot_be_has_no_mass() -> None:
    assert np.isneginf(log_binomial(3, np.array([-1.0, 4.0]), 0.5)).all()
    assert float(log_binomial(0, 0, 0.5)) == 0.0


@pytest.mark.parametrize(("n", "p", "sigmas"), [(50, 0.2, 2.0), (2000, 0.01, 3.0), (400, 0.5, 4.0)])
def test_a_window_knows_what_it_leaves_out(n: int, p: float, sigmas: float) -> None:
    low, high, beyond = binomial_window(n, p, sigmas)
    inside = float(np.sum(np.exp(log_binomial(n, np.arange(low, high + 1.0), p))))
    assert 1 - inside <= beyond + 1e-14
