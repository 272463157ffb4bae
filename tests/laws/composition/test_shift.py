"""ψ of bounded losses: inside its bracket, by exact products and by binomials."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri_exp
from scipy.stats import binom

from epsilens.checks import Array
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceStep
from epsilens.laws.laplace_product import laplace_product


def bracket(law: ComposedLaw) -> tuple[float, float]:
    return float(law.other_side().psi()), float(law.psi())


@pytest.mark.parametrize(("m", "count"), [(0.05, 4), (0.3, 3), (2.0, 3)])
def test_laplace(m: float, count: int) -> None:
    low, high = bracket(ComposedLaw([(LaplaceStep(m), count)]))
    assert low <= float(laplace_product(m, count).psi()) <= high
    assert high <= low * 1.005


def corners(count: int, p: float) -> Array:
    """Φ⁻¹ of P(more than j successes), from whichever tail is smaller."""
    log_pmf = binom.logpmf(np.arange(count + 1), count, p)
    above, below = np.logaddexp.accumulate(log_pmf[:0:-1])[::-1], np.logaddexp.accumulate(log_pmf[:-1])
    return np.asarray(np.where(above < below, ndtri_exp(np.minimum(above, 0)), -ndtri_exp(np.minimum(below, 0))))


@pytest.mark.parametrize(("down", "up", "count"), [(0.2, 0.2, 150), (0.05, 0.4, 60), (1.5, 1.5, 9)])
def test_two_losses(down: float, up: float, count: int) -> None:
    """The gap is largest at a corner of a binomial's ROC curve, in one order or the other."""
    q = -math.expm1(-down) / (math.exp(up) - math.exp(-down))
    step = FiniteStep(Atoms(np.array([-down, up]), np.log([(1 - q) * math.exp(-down), q * math.exp(up)])))
    low, high = bracket(ComposedLaw([(step, count)]))
    ahead, behind = (corners(count, p) for p in (q * math.exp(up), q))
    truth = float(np.max(ahead - behind))
    assert low * (1 - 1e-12) <= truth <= high * (1 + 1e-12)
    assert high <= low * 1.005


@pytest.mark.parametrize("step", [LaplaceStep(0.02), SampledStep(LaplaceStep(0.5), 0.3)])
def test_no_test_shows_more(step: Step) -> None:
    law = ComposedLaw([(step, 400)])
    low, high = bracket(law)
    assert high <= low * 1.005
    log_alpha = -np.geomspace(0.8, 600.0, 40)
    for one in (law, law.reverse()):
        recall = np.log(one.other_side().roc(np.exp(log_alpha)))
        assert (ndtri_exp(recall) - ndtri_exp(log_alpha) <= high * (1 + 1e-9)).all()
