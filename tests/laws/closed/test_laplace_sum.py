"""The sum of q Laplaces against mpmath quadrature of its characteristic function, and against the general law."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from epsilens.experiment import Experiment
from epsilens.laws.closed.laplace_sum import LaplaceSumShift, log_tail
from epsilens.laws.line.line import LaplaceSum
from epsilens.laws.line.pieces import Pieces


def tail_by_inversion(q: int, x: float) -> mp.mpf:
    """P(S > x) = ½ − (1/π)∫ sin(tx)/t·(1+t²)^{−q} dt, computed from the characteristic function."""
    with mp.workdps(30):
        inner = mp.quadosc(lambda t: mp.sin(t * x) / t / (1 + t * t) ** q, [0, mp.inf], omega=x)
        return mp.mpf("0.5") - inner / mp.pi


@pytest.mark.parametrize("q", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("x", [0.5, 2.0, 9.0])
def test_tail_from_the_characteristic_function(q: int, x: float) -> None:
    assert math.exp(float(log_tail(q, np.asarray(x)))) == pytest.approx(float(tail_by_inversion(q, x)), rel=1e-12)


def test_two_laplaces_agree_with_the_general_law() -> None:
    special, general = (
        Experiment(LaplaceSumShift(2, np.asarray(1.3))),
        Experiment(Pieces(LaplaceSum(1.0, 1.0, 0.0), LaplaceSum(1.0, 1.0, 1.3))),
    )
    alpha = np.asarray([1e-300, 1e-9, 0.01, 0.3, 0.7, 0.999])
    assert special.tradeoff(alpha) == pytest.approx(general.tradeoff(alpha), rel=1e-12)
    assert special.roc(alpha) == pytest.approx(general.roc(alpha), rel=1e-12)
    for reading in ("advantage", "auc", "kl", "chernoff", "fbeta"):
        assert getattr(special, reading)() == pytest.approx(getattr(general, reading)(), rel=1e-11), reading
    assert special.psi() == pytest.approx(general.psi(), rel=2e-9)
    assert special.delta([0.1, 0.7, 1.2]) == pytest.approx(general.delta([0.1, 0.7, 1.2]), rel=1e-10)
    assert special.epsilon([1e-9, 1e-3, 0.1]) == pytest.approx(general.epsilon([1e-9, 1e-3, 0.1]), rel=1e-10)
    assert special.renyi([0.5, 2, 30]) == pytest.approx(general.renyi([0.5, 2, 30]), rel=1e-10)
    assert special.success([0.1, 0.4, 0.9]) == pytest.approx(general.success([0.1, 0.4, 0.9]), rel=1e-12)


def test_success_curve_loses_no_digits_at_tiny_shifts() -> None:
    for d in (1e-12, 1e-6, 1e-2):
        with mp.workdps(40):
            y = mp.mpf(d) / 2
            want = 1 - mp.e**-y * (1 + y / 2)
        assert float(LaplaceSumShift(2, np.asarray(d)).profile(np.asarray(0.0))) == pytest.approx(
            float(want), rel=1e-13
        )


@pytest.mark.parametrize("q", [2, 3, 5])
def test_curve_is_consistent_with_its_quantiles(q: int) -> None:
    law = LaplaceSumShift(q, np.asarray(2.0))
    alpha = np.asarray([1e-200, 1e-5, 0.2, 0.5, 0.9])
    recall = law.roc(alpha)
    assert law.inverse_roc(recall)[:3] == pytest.approx(alpha[:3], rel=1e-9)
    assert law.tradeoff(alpha) + recall == pytest.approx(np.ones(5), rel=1e-13)
    assert np.all(recall >= alpha)
