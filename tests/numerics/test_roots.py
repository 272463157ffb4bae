"""The least of a convex function: against closed forms, in few steps."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import pytest

from epsilens.numerics.roots import minimum


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
