"""Readings of single guesses against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import epsilens as el
from epsilens.readings.guesses import odds


@pytest.mark.parametrize("prior", [1.025275613047908e-14, 1e-300, 0.1, 0.5, 0.9, 1 - 2.0**-53])
def test_odds_keep_their_digits(prior: float) -> None:
    exact = (1 - Fraction(prior)) / Fraction(prior)
    assert abs(Fraction(float(odds(np.asarray(prior)))) - exact) <= exact * Fraction(2) ** -52


def test_precision_where_everyone_is_recognised() -> None:
    """R = 1, so it is π/(π + (1−π)α)."""
    prior, alpha = 1.025275613047908e-14, 1.650748272344813e-09
    strong = el.compose(el.laplace(epsilon=0.2848467536260691).repeat(687), el.gaussian(psi=27.02192470911756))
    low, high = strong.reverse().bracket("precision", prior=prior, alpha=alpha)
    p, a = Fraction(prior), Fraction(alpha)
    exact = p / (p + (1 - p) * a)
    assert Fraction(float(low)) < exact <= Fraction(float(high)) * (1 + Fraction(2) ** -52)
