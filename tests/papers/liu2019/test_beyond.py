"""Plausible deniability by looking at every set, planar Laplace noise by quadrature and by drawing it."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.integrate import dblquad

from epsilens.errors import InputError
from epsilens.papers.liu2019.beyond import deniable, planar_laplace


def test_deniability_against_every_subset() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        likelihoods = rng.exponential(size=6).tolist()
        gamma = float(rng.uniform(1, 4))
        best = max(
            len(chosen)
            for size in range(1, 7)
            for chosen in combinations(range(6), size)
            if 0 in chosen and max(likelihoods[i] for i in chosen) <= gamma * min(likelihoods[i] for i in chosen)
        )
        assert deniable(likelihoods, gamma) == best
    with pytest.raises(InputError, match="gamma"):
        deniable([0.5, 0.5], 0.9)
    with pytest.raises(InputError, match="origin"):
        deniable([0.0, 0.5], 2.0)


@pytest.mark.parametrize("reach", [0.2, 1.0, 3.0])
def test_planar_laplace_by_quadrature(reach: float) -> None:
    """Polar coordinates around the first place: half the total variation of the two densities."""

    def gap(angle: float, r: float) -> float:
        other = math.hypot(r * math.cos(angle) - reach, r * math.sin(angle))
        return abs(math.exp(-r) - math.exp(-other)) * r / (2 * math.pi)

    whole, _ = dblquad(gap, 0, 40 + reach, 0, math.pi, epsabs=1e-6)
    assert planar_laplace(1.0, reach) == pytest.approx((1 + whole) / 2, abs=2e-5)


def test_planar_laplace_by_drawing_it() -> None:
    rng = np.random.default_rng(3)
    n, reach = 400_000, 2.0
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.gamma(2.0, size=n)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    right = np.mean(np.hypot(x, y) < np.hypot(x - reach, y))
    assert planar_laplace(1.0, reach) == pytest.approx(right, abs=5 * math.sqrt(0.25 / n))


def test_the_ends() -> None:
    assert planar_laplace(1.0, 0.0) == 0.5
    assert planar_laplace(1.0, 1e-9) == pytest.approx(0.5, abs=1e-8)
    assert 0.999999 < planar_laplace(1.0, 100.0) <= 1.0
    assert planar_laplace(700.0, 1e6) == 1.0
    values = [planar_laplace(1.0, d) for d in np.geomspace(1e-6, 600, 60)]
    assert all(b >= a - 1e-15 for a, b in pairwise(values))
