"""Bounds on a product from its steps alone."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from epsilens.laws.composition.product import Product
from epsilens.laws.composition.wrappers import ReversedStep
from epsilens.laws.finite import Finite

SHARES = (1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.95)


@pytest.mark.parametrize("a", SHARES)
def test_no_advantage_exceeds_what_divergences_allow(a: float) -> None:
    """Two coins, one of them with its laws exchanged: Σ (P − Q)⁺ over the four outcomes, by hand."""
    for b, c, d in product(SHARES, repeat=3):
        if a == b or c == d:
            continue
        first, second = (Finite.of(np.array([q, 1 - q]), np.array([p, 1 - p])).steps()[0] for p, q in ((a, b), (d, c)))
        made = Product([first, (ReversedStep(second[0]), 1)])
        apart = sum(
            max(x * y - u * v, 0.0) for (x, u), (y, v) in product(((a, b), (1 - a, 1 - b)), ((c, d), (1 - c, 1 - d)))
        )
        assert apart <= made.pinsker
        log = math.log
        orders = [a * log(a / b) + (1 - a) * log((1 - a) / (1 - b)), b * log(b / a) + (1 - b) * log((1 - b) / (1 - a))]
        assert Product([first]).pinsker >= math.sqrt(min(orders) / 2) * (1 - 1e-9)
