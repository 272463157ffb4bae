"""A fold is as risky as the worse order at every threshold, and composes as its moments say."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from tests.laws.composition.oracles import contour

from epsilens.errors import InputError
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.wrappers import SampledStep, SymmetrizedStep
from epsilens.laws.normal import NormalStep
from epsilens.readings.law import Exactness

CASES = [(2.0, 0.01), (1.0, 0.3), (0.02, 0.5), (8.0, 1e-4), (3.0, 0.9)]


def folded(mu: float, rate: float) -> SymmetrizedStep:
    return SymmetrizedStep(SampledStep(NormalStep(mu), rate), (1 - rate) * math.erf(mu / math.sqrt(8)))


def densities(mu: float, rate: float, x: float) -> tuple[float, float]:
    """(1−q)N(0) + qN(μ), and N(0)."""
    q = math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return (1 - rate) * q + rate * math.exp(-0.5 * (x - mu) ** 2) / math.sqrt(2 * math.pi), q


def delta(mu: float, rate: float, u: float) -> float:
    """∫(dP − e^u dQ)₊ in closed form, u ≥ 0: above the place where the ratio is e^u."""
    x = mu / 2 + math.log1p(math.expm1(u) / rate) / mu
    drawn, rest = float(ndtr(mu - x)), float(ndtr(-x))
    return rate * (drawn - rest) - math.expm1(u) * rest


@pytest.mark.parametrize(("mu", "rate"), CASES)
def test_the_profile_is_that_of_the_worse_order(mu: float, rate: float) -> None:
    law = ComposedLaw([(folded(mu, rate), 1)], 1e-4)
    for u in (1e-3, 0.1, 1.0):
        exact = delta(mu, rate, u)
        if exact < 1e-14:
            continue
        low, high = (float(side.profile(np.asarray(u))) for side in (law.other_side(), law))
        assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
        assert high <= low * 1.001
        # the other order is no riskier at u ≥ 0, and mirrored below
        below = -math.expm1(-u) + math.exp(-u) * exact
        assert float(law.profile(np.asarray(-u))) == pytest.approx(below, rel=1e-4)


@pytest.mark.parametrize(("mu", "rate"), CASES)
def test_masses_against_quadrature(mu: float, rate: float) -> None:
    step = folded(mu, rate)
    assert math.exp(step.atoms.log_p[0]) == pytest.approx(
        1 - sum(quad(lambda x, i=i: densities(mu, rate, x)[i], mu / 2, mu + 40, limit=200)[0] for i in (0, 1)),
        rel=1e-7,
        abs=1e-9,
    )
    for x in (0.3, 1.5):
        p, q = (
            quad(lambda v, i=i: densities(mu, rate, mu / 2 + v)[i], x, mu + 40, points=[mu / 2], limit=200)[0]
            for i in (0, 1)
        )
        assert [math.exp(v) for v in step.above(x)] == pytest.approx([p, q], rel=1e-7, abs=1e-15)
        assert [math.exp(v) for v in step.below(-x)] == pytest.approx([q, p], rel=1e-7, abs=1e-15)
        down = [quad(lambda v, i=i: densities(mu, rate, mu / 2 + v)[i], 0, x)[0] for i in (1, 0)]
        whole = [math.exp(v) for v in step.above(0.0)]
        assert [math.exp(v) for v in step.above(-x)] == pytest.approx(
            [w + d for w, d in zip(whole, down, strict=True)], rel=1e-9
        )
        assert float(step.inverse_loss(step.loss(np.asarray(-x)))) == pytest.approx(-x, rel=1e-9)


def test_the_mass_at_rest_by_subtraction() -> None:
    base = SampledStep(NormalStep(1.0), 0.2)
    assert SymmetrizedStep(base).atoms.log_p[0] == pytest.approx(folded(1.0, 0.2).atoms.log_p[0], rel=1e-13)
    assert SymmetrizedStep(base).rho > folded(1.0, 0.2).rho


def moment(mu: float, rate: float, z: complex) -> complex:
    """E e^{zL} under H1 by a dense trapezoid over L > 0, both ways, and what is at 0."""
    x = np.linspace(mu / 2, mu + 30.0, 200_001)
    q = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
    p = q * np.exp(loss)
    total = np.trapezoid(p * np.exp(z * loss) + q * np.exp(-z * loss), x)
    return complex(total + (1 - rate) * math.erf(mu / math.sqrt(8)))


@pytest.mark.parametrize(("mu", "rate"), [(2.0, 0.01), (1.0, 0.3), (5.0, 0.001)])
def test_moments(mu: float, rate: float) -> None:
    step = folded(mu, rate)
    for power in (-2.0, -0.5, 0.4, 1.5, 3.0):
        found = moment(mu, rate, power - 1).real
        assert math.exp(step.log_moment(power)) == pytest.approx(found, rel=2e-8), power
        assert step.log_moment(power) == pytest.approx(step.log_moment(1 - power), rel=1e-9)
    slope = (moment(mu, rate, 1e-5).real - moment(mu, rate, -1e-5).real) / 2e-5
    assert step.kl() == pytest.approx(slope, rel=1e-5)
    assert step.kl() == pytest.approx(step.reverse_kl(), rel=1e-9)
    assert step.kl() <= step.kl_bound()


def test_many_against_the_contour() -> None:
    mu, rate, k = 1.0, 0.01, 1000
    law = ComposedLaw([(folded(mu, rate), k)])
    for u, tilt in ((0.5, 4.0), (1.5, 6.0)):
        truth = contour(lambda z: moment(mu, rate, z), k, u, tilt, tilt / 12)
        low, high = (float(side.profile(np.asarray(u))) for side in (law.other_side(), law))
        assert low * (1 - 1e-6) <= truth <= high * (1 + 1e-6)


def test_what_it_is() -> None:
    step = folded(1.0, 0.1)
    assert step.symmetric
    assert step.known is Exactness.BOUND
    assert step.sampled
    assert step.psi() == step.psi_limit == 1.0
    assert pickle.loads(pickle.dumps(step)) == step
    with pytest.raises(InputError, match="group"):
        step.group(2)
