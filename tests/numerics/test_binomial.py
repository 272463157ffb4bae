"""Binomial probabilities against exact arithmetic."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from epsilens.numerics.binomial import binomial_window, log_binomial


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
