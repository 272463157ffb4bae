"""The cut-off of the best test: its false alarms and its power are those of the curve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import epsilens as el
from epsilens.errors import InputError


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
