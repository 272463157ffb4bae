"""What moments alone say, against normal noise, whose curve is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri

from epsilens.laws.closed.normal import Normal
from epsilens.laws.loss.surely import Surely


@pytest.mark.parametrize("mu", [1.0, 6.0, 30.0])
def test_below_the_truth_and_near_it_where_little_is_in_common(mu: float) -> None:
    view = Surely(lambda s: s * (s - 1) / 2 * mu * mu, 0.0)
    law = Normal(np.asarray(mu))
    u = np.asarray([-5.0, 0.0, 1.0, 20.0, 400.0])
    truth = np.asarray(law.profile(u))
    low, high = (np.exp(v) for v in view.delta(u))
    assert (low <= truth * (1 + 1e-12)).all()
    assert (high >= truth).all()
    alpha = np.asarray([1e-300, 1e-9, 0.01, 0.5, 0.999])
    low, high = (np.exp(v) for v in view.roc(np.log(alpha)))
    assert (low <= ndtr(ndtri(alpha) + mu) * (1 + 1e-12)).all()
    assert (high == 1).all()
    recall = np.asarray([1e-9, 0.5, 0.999, 1 - 1e-9])
    low, high = view.inverse_roc(np.log(recall))
    assert (low < high).all()
    assert (high >= log_ndtr(ndtri(recall) - mu) - 1e-9).all()
    delta = np.asarray([1e-300, 1e-5, 0.5])
    reached = np.maximum(view.epsilon(np.log(delta))[0], 0.0)
    assert (reached <= np.asarray(law.profile_inverse(delta)) * (1 + 1e-12)).all()
    for threshold in (-3.0, 0.0, 2.0):
        found = view.test(threshold)
        assert found[0] >= ndtr(-(threshold / mu + mu / 2))
        assert found[1] <= ndtr(mu / 2 - threshold / mu) * (1 + 1e-12)
    if mu == 30:  # what is in common is about e^{−μ²/8}, as the bound says but for a factor
        assert np.exp(view.delta(np.zeros(1))[0][0]) == pytest.approx(1, abs=1e-15)
        assert view.inverse_roc(np.log([0.5]))[1][0] == pytest.approx(float(log_ndtr(-mu)), rel=0.2)
