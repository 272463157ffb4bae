"""The crowd of fake users, against quadrature of the two laws."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

from epsilens.papers.ashena2021.crowd import crowded


@pytest.mark.parametrize(("epsilon", "k", "share"), [(1.0, 1, 0.5), (5.0, 4, 0.5), (20.0, 3, 0.5), (5.0, 6, 0.2)])
def test_success_is_one_half_and_half_the_total_variation(epsilon: float, k: int, share: float) -> None:
    scale = 2 / epsilon
    weights = binom.pmf(np.arange(k), k - 1, share)

    def density(x: float, target: int) -> float:
        z = np.abs(x - np.arange(k) - target) / scale
        return float(weights @ ((1 + z) * np.exp(-z) / (4 * scale)))

    edges = np.arange(-3 - 20 * scale, k + 4 + 20 * scale, 0.25)
    gaps = [quad(lambda x: abs(density(x, 1) - density(x, 0)), a, b, limit=200)[0] for a, b in pairwise(edges)]
    assert crowded(epsilon, k, share) == pytest.approx((1 + sum(gaps) / 2) / 2, abs=3e-6)
