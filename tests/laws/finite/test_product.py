"""Several finite pairs together, against every sequence of outcomes written out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from epsilens.laws.finite.law import Finite
from epsilens.laws.finite.product import finite_product


@pytest.mark.parametrize(("outcomes", "k"), [(2, 5), (6, 2), (6, 3), (5, 4), (3, 3)])
def test_every_sequence_of_outcomes(outcomes: int, k: int) -> None:
    rng = np.random.default_rng(outcomes * 10 + k)
    p, q = rng.dirichlet(np.ones(outcomes)), rng.dirichlet(np.ones(outcomes))
    made = finite_product([(Finite(np.log(p), np.log(q / p)), k)], 10**6)
    assert made is not None
    for epsilon in (0.0, 0.3, 1.0):
        exact = math.fsum(
            max(math.prod(q[i] for i in w) - math.exp(epsilon) * math.prod(p[i] for i in w), 0.0)
            for w in product(range(outcomes), repeat=k)
        )
        assert float(made.profile(np.asarray(epsilon))) == pytest.approx(exact, abs=1e-13)
