"""Paper 003 (Ünsal & Önen 2022), corrected: the stretched Laplace of the reference sheet §3."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.references.sheet_003 import DIVERGENCES, POWERS

import epsilens as el
from epsilens.experiment import Experiment


def stretched(m: float, theta: float) -> Experiment:
    return el.laplace(epsilon=m, stretch=theta) if m else el.laplace(epsilon=1.0, shift=0.0, stretch=theta)


@pytest.mark.parametrize(
    ("m", "theta", "alpha", "power", "one_sided", "two_sided"),
    POWERS,
)
def test_neyman_pearson(m: float, theta: float, alpha: float, power: float, one_sided: float, two_sided: float) -> None:
    reached = stretched(m, theta).roc(alpha)
    assert reached == pytest.approx(power, abs=6e-11)
    assert reached >= max(one_sided, two_sided) - 6e-11


@pytest.mark.parametrize(
    ("m", "forward", "backward"),
    DIVERGENCES,
)
def test_kl_at_stretch_1_5(m: float, forward: float, backward: float) -> None:
    e = stretched(m, 1.5)
    assert e.kl() == pytest.approx(forward, abs=6e-12)
    assert e.reverse().kl() == pytest.approx(backward, abs=6e-12)


@pytest.mark.parametrize(
    ("a", "shift", "b1", "value"),
    [(0.5, 1.0, 1.5, 0.0859819313701), (0.4, 1.0, 1.5, 0.0836632769295), (0.3, 2.0, 3.0, 0.244603198879)],
)
def test_chernoff_coefficients(a: float, shift: float, b1: float, value: float) -> None:
    """C_a = −log ∫f0^a f1^{1−a}; a = .4 is the branch of equal rates."""
    e = stretched(shift, b1)
    assert -float(e.law.log_moment(np.asarray(1 - a))) == pytest.approx(value, abs=6e-13)
    assert -float(e.reverse().law.log_moment(np.asarray(a))) == pytest.approx(value, abs=6e-13)
    assert e.chernoff() >= value - 1e-13


def test_stretch_below_one_is_the_other_order() -> None:
    """Lap(0,1) → Lap(m,θ) with θ < 1, in units of the narrow law, is Lap(m/θ, 1/θ) → Lap(0,1)."""
    narrow, wide = stretched(1.0, 0.5), stretched(2.0, 2.0).reverse()
    alpha = np.asarray([1e-300, 1e-9, 0.01, 0.3, 0.9])
    assert narrow.roc(alpha) == pytest.approx(wide.roc(alpha), rel=1e-13)
    assert narrow.kl() == pytest.approx(wide.kl(), rel=1e-14)
    assert narrow.auc() == pytest.approx(wide.auc(), rel=1e-14)


def test_pure_dp_bounds_the_divergence() -> None:
    """Any ε-DP pair has D ≤ ε·tanh(ε/2), which the worst case attains."""
    for epsilon in (0.1, 1.0, 5.0):
        worst = el.mechanisms.pure(epsilon=epsilon).kl()
        assert worst == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-13)
        assert el.laplace(epsilon=epsilon).kl() <= worst
