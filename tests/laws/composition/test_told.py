"""One of several steps, told which: weighted sums of everything, in both orders."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr
from tests.laws.composition.oracles import contour

from epsilens.errors import InputError
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.fourier import tilted
from epsilens.laws.composition.labelled_mixture import LabelledMixture
from epsilens.laws.composition.wrappers import ReversedStep, SampledStep
from epsilens.laws.normal import NormalReplacementStep, NormalStep
from epsilens.readings.law import Exactness

SAMPLED = [((1.0, 0.05), 0.8), ((2.0, 0.04), 0.2)]


def told() -> LabelledMixture:
    return LabelledMixture(tuple((SampledStep(NormalStep(mu), q), share) for (mu, q), share in SAMPLED))


def delta(mu: float, rate: float, u: float) -> float:
    """∫((1−q)N(0) + qN(μ) − e^u·N(0))₊."""
    t = math.exp(u)
    if t <= 1 - rate:
        return 1 - t
    x = mu / 2 + math.log((t - 1 + rate) / rate) / mu
    return (1 - rate - t) * float(ndtr(-x)) + rate * float(ndtr(mu - x))


def test_profiles_add_up() -> None:
    law = ComposedLaw([(told(), 1)], 1e-4)
    for u in (0.02, 0.3, 1.5, -0.01, -0.03):
        exact = sum(share * delta(mu, q, u) for (mu, q), share in SAMPLED)
        low, high = (float(side.profile(np.asarray(u))) for side in (law.other_side(), law))
        assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9), u
        assert high <= low * 1.001
        back = 1 - math.exp(u) + math.exp(u) * sum(share * delta(mu, q, -u) for (mu, q), share in SAMPLED)
        assert float(law.reverse().profile(np.asarray(u))) == pytest.approx(back, rel=1e-3)


def moment(z: complex) -> complex:
    x = np.linspace(-40.0, 40.0, 64_001)
    q = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    total = 0j
    for (mu, rate), share in SAMPLED:
        loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
        total += share * complex(np.dot(q * np.exp(loss), np.exp(z * loss)))
    return total


def test_many_against_the_contour() -> None:
    law = ComposedLaw([(told(), 200)])
    for u, tilt in ((1.0, 0.4), (3.0, 0.5)):
        truth = contour(moment, 200, u, tilt, tilt / 12)
        low, high = (float(side.profile(np.asarray(u))) for side in (law.other_side(), law))
        assert low <= truth <= high
        assert high <= low * (1 + 1e-5)
    for power in (-1.0, 0.5, 2.0, 4.0):
        assert math.exp(told().log_moment(power)) == pytest.approx(moment(power - 1).real, rel=1e-9)


def test_the_tilted_law_is_a_mixture() -> None:
    step, tilt = told(), 0.7
    law = tilted(step, False, tilt, step.cutoffs(-60.0, -60.0), 5.0)
    assert law is not None
    assert law.log_scale == pytest.approx(math.log(moment(tilt).real), rel=1e-10)
    mean = (moment(tilt + 1e-5).real - moment(tilt - 1e-5).real) / 2e-5 / moment(tilt).real
    assert law.mean == pytest.approx(mean, rel=1e-6)
    s = np.array([-0.3, 0.2, 0.5])
    expected = [math.log(moment(tilt + v).real / moment(tilt).real) for v in s]
    assert law.log_moment(s) == pytest.approx(expected, rel=1e-9)
    found = law.transform(0.4, 6)
    for n in range(6):
        exact = moment(complex(tilt, 0.4 * n)) / moment(tilt) * np.exp(-0.4j * n * law.mean)
        assert abs(found[n] - exact) < 1e-10
        assert abs(exact) <= float(law.decay(np.asarray([0.4 * n]))[0]) + 1e-12
    assert law.variance == pytest.approx(law.log_moment(np.array([1e-4, -1e-4])).sum() * 1e8, rel=1e-3)


def test_divergences_and_tails_add_up() -> None:
    step, parts = told(), told().parts
    assert step.kl() == pytest.approx(sum(share * one.kl() for one, share in parts))
    assert step.reverse_kl() == pytest.approx(sum(share * one.reverse_kl() for one, share in parts))
    assert step.psi() == step.psi_limit == 2.0
    assert step.known is Exactness.BOUND
    assert not step.symmetric
    assert step.sampled
    for loss in (0.5, 0.0, -0.03):
        above, below = step.above(loss), step.below(loss)
        assert math.exp(above[0]) + math.exp(below[0]) == pytest.approx(1.0)
        assert math.exp(above[1]) + math.exp(below[1]) == pytest.approx(1.0)
    # the density of the loss, against the slope of its mass
    for loss in (0.5, 1.5):
        fall = math.exp(step.below(loss + 1e-5)[1]) - math.exp(step.below(loss - 1e-5)[1])
        assert math.exp(float(step.log_p0(np.asarray(loss)))) == pytest.approx(fall / 2e-5, rel=1e-4)
    swapped = ReversedStep(step)
    assert [share for _, share in swapped.components] == [0.8, 0.2]
    with pytest.raises(InputError, match="group"):
        step.group(2)


def test_a_reversed_product_composes() -> None:
    law = ComposedLaw([(told(), 20)])
    again = ComposedLaw(law.reverse().steps())
    for u in (0.1, 0.5):
        assert float(again.profile(np.asarray(u))) == pytest.approx(
            float(law.reverse().profile(np.asarray(u))), rel=2e-3
        )


def test_mirrored_steps_stay_mirrored() -> None:
    both = LabelledMixture(((NormalReplacementStep(1.0, 0.1), 0.9), (NormalReplacementStep(2.0, 0.1), 0.1)))
    assert both.symmetric
    assert float(ComposedLaw([(both, 10)]).kl()) == pytest.approx(10 * both.kl())
