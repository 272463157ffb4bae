"""Curves read far from where the mass is: no warning reaches a caller, and what is read stays possible."""

from __future__ import annotations

import math

import pytest
from mpmath import mp, mpf

import epsilens as el


@pytest.mark.parametrize(("epsilon", "alpha"), [(0.4859277374761723, 1.0371195768881442e-267), (0.0613, 6.4e-273)])
def test_a_recall_whose_unit_is_no_double(epsilon: float, alpha: float) -> None:
    """Ten ε-DP selections: between what the two-point answers of Dong, Durfee & Rogers reach and e^{10ε}·α."""
    found = el.mechanisms.exponential(epsilon=epsilon).repeat(10).reverse().recall(alpha)
    # with two outcomes of losses ±ε/2 each, all ten are ε/2 far more often than α
    assert alpha * math.exp(5 * epsilon) <= found <= alpha * math.exp(10 * epsilon) * (1 + 1e-9)


def test_laplace_answers_beside_much_normal_noise() -> None:
    """1646 Laplace answers, a shift of 147.5 and a rare training: the normal shift alone finds nearly everyone."""
    e = el.compose(
        el.laplace(epsilon=1.0).repeat(1646), el.gaussian(psi=147.5), el.dpsgd(sigma=3.0, rate=1e-6, steps=4)
    )
    assert 1 - 1e-12 <= e.attack_success(9.4e-270) <= 1


@pytest.mark.parametrize("epsilon", [325.0, 330.0, 332.0, 332.4, 333.0, 340.0, 400.0])
def test_one_step_where_the_false_alarms_are_no_double(epsilon: float) -> None:
    """δ = P − e^ε·Q of a normal step of shift 10 sampled at 1/4, in 60 digits."""
    with mp.workdps(60):
        y = mp.log((mp.exp(epsilon) - mpf("0.75")) * 4) / 10 + 5
        q, p = (mp.erfc(v / mp.sqrt(2)) / 2 for v in (y, y - 10))
        value = 3 * q / 4 + p / 4 - mp.exp(epsilon) * q
    low, high = el.dpsgd(sigma=0.1, rate=0.25, steps=1).bracket("delta", epsilon=epsilon)
    assert low <= value <= high <= value * (1 + 1e-9)
