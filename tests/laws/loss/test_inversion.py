"""Curves read far from where the mass is: no warning reaches a caller, and what is read stays possible."""

from __future__ import annotations

import math

import pytest

import epsilens as el


@pytest.mark.parametrize(("epsilon", "alpha"), [(0.4859277374761723, 1.0371195768881442e-267), (0.0613, 6.4e-273)])
def test_a_recall_whose_unit_is_no_double(epsilon: float, alpha: float) -> None:
    """Ten ε-DP selections: between what the two-point answers of Dong, Durfee & Rogers reach and e^{10ε}·α."""
    found = el.exponential(epsilon=epsilon).repeat(10).reverse().recall(alpha)
    # with two outcomes of losses ±ε/2 each, all ten are ε/2 far more often than α
    assert alpha * math.exp(5 * epsilon) <= found <= alpha * math.exp(10 * epsilon) * (1 + 1e-9)


def test_laplace_answers_beside_much_normal_noise() -> None:
    """1646 Laplace answers, a shift of 147.5 and a rare training: the normal shift alone finds nearly everyone."""
    e = el.compose(
        el.laplace(epsilon=1.0).repeat(1646), el.gaussian(psi=147.5), el.dpsgd(sigma=3.0, rate=1e-6, steps=4)
    )
    assert 1 - 1e-12 <= e.attack_success(9.4e-270) <= 1
