"""Rényi divergences of every kind of experiment: they never fall with the order, and their brackets hold each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.specimens import EXPERIMENTS

import epsilens as el
from epsilens.errors import InputError

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


@pytest.mark.parametrize("alpha", [1e-12, 0.01, 0.3, 0.5, 0.7, 0.999])
@pytest.mark.parametrize("sensitivity", [1.0, 3.0])
def test_false_alarms_and_power_at_the_cut_off(alpha: float, sensitivity: float) -> None:
    e = el.laplace(epsilon=0.8, sensitivity=sensitivity)
    noise = stats.laplace(scale=sensitivity / 0.8)
    cut = e.threshold(alpha)
    assert noise.sf(cut) == pytest.approx(alpha, rel=1e-12)
    assert noise.sf(cut - sensitivity) == pytest.approx(e.recall(alpha), rel=1e-12)
    g = el.gaussian(sigma=2.0, sensitivity=sensitivity)
    cut = g.threshold(alpha)
    assert stats.norm(scale=2.0).sf(cut) == pytest.approx(alpha, rel=1e-9)
    assert stats.norm(scale=2.0).sf(cut - sensitivity) == pytest.approx(g.recall(alpha), rel=1e-9)


def test_ends_arrays_and_refusals() -> None:
    e = el.laplace(epsilon=1.0)
    assert e.threshold(0.0) == np.inf
    assert e.threshold(1.0) == -np.inf
    assert np.asarray(e.threshold([0.05, 0.5])).tolist() == [pytest.approx(np.log(10)), 0.0]
    with pytest.raises(InputError, match="threshold is asked of geometric"):
        el.mechanisms.geometric(epsilon=1.0).threshold(0.1)
    with pytest.raises(InputError, match="alpha"):
        e.threshold(1.5)
    assert e.reverse().threshold(0.1) == e.threshold(0.1)
