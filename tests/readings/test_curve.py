"""Rényi divergences of every kind of experiment: they never fall with the order, and their brackets hold each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.specimens import EXPERIMENTS

ORDERS = (2.0, 100.0, 1e6, 1e12, 1e16, 1e20, 1e100, 1e155, 1e300)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_divergences_rise_with_the_order_however_high(name: str) -> None:
    made = EXPERIMENTS[name]()
    for e in (made, made.reverse()):
        last = np.asarray(e.bracket("renyi", order=math.inf)[1])
        ends = [e.bracket("renyi", order=a) for a in ORDERS]
        lows, highs = np.stack([low for low, _ in ends]), np.stack([high for _, high in ends])
        assert not np.isnan(lows).any()
        assert (lows <= highs).all()
        most = np.maximum.accumulate(lows, axis=0)
        with np.errstate(invalid="ignore"):
            assert (most <= highs * (1 + 1e-12)).all()
            assert (lows <= last * (1 + 1e-9) + 1e-12).all()
