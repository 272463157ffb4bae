"""A step whose H0 lost a share: its profile is that of the base at a lower threshold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.wrappers import LeakyH0Step, SampledStep, SymmetrizedStep
from epsilens.laws.normal import NormalStep, normal_delta


def delta(epsilon: float, mu: float, rate: float) -> float:
    """Of (1−q)N(0) + qN(μ) against N(0), in closed form."""
    inner = math.log1p(math.expm1(epsilon) / rate)
    return rate * float(normal_delta(np.asarray(inner), np.asarray(mu)))


def test_the_profile_is_that_of_a_lower_threshold() -> None:
    mu, rate, lost = 1.0, 0.3, 0.01
    law = ComposedLaw([(LeakyH0Step(SampledStep(NormalStep(mu), rate), lost), 1)])
    fold = ComposedLaw([(SymmetrizedStep(LeakyH0Step(SampledStep(NormalStep(mu), rate), lost)), 1)])
    for epsilon in (0.05, 0.3, 1.0):
        truth = delta(epsilon + math.log1p(-lost), mu, rate)
        assert float(law.profile(np.asarray(epsilon))) == pytest.approx(truth, rel=1e-3)
        for one in (fold, fold.reverse()):
            assert float(one.profile(np.asarray(epsilon))) == pytest.approx(truth, rel=1e-3)
    assert law.reverse().only1 == pytest.approx(lost)


def test_its_moments_are_the_bases() -> None:
    base = SampledStep(NormalStep(1.0), 0.3)
    step = LeakyH0Step(base, 0.01)
    assert step.log_moment(3.0) == pytest.approx(base.log_moment(3.0) - 2 * math.log1p(-0.01), rel=1e-10)
    assert step.log_moment(-1.0) == math.inf
