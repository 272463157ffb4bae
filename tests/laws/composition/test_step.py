"""Steps: how fast moments grow at orders whose squares are no doubles, and masses against their own densities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
import pytest

import epsilens as el
from epsilens.laws.composition.labelled_mixture import LabelledMixture
from epsilens.laws.composition.product import Product
from epsilens.laws.composition.quadrature import ERROR
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import (
    LabelledSampleStep,
    LeakyH0Step,
    ReversedStep,
    SampledStep,
    SymmetrizedStep,
)
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep, LaplaceStep, NoisyMaxStep
from epsilens.laws.logistic import LogisticStep
from epsilens.laws.mixture import MixtureStep, draws_step, group_step, replaced_group_step
from epsilens.laws.normal import KnownShiftStep, NormalReplacementStep, NormalStep

Weighed = Sequence[tuple[float, float]]  # shifts and weights
ORDERS = (1e101, 1e155, 1e160, 1e300)
GROUP = [(0.0, 0.81), (1.0, 0.18), (2.0, 0.01)]


def mixed(parts: Weighed, sign: int) -> Callable[[mp.mpf], mp.mpf]:
    """log Σw·e^{cx − c²/2}: a mixture of normals over N(0, 1), its shifts to one side."""

    def log_ratio(x: mp.mpf) -> mp.mpf:
        each = [mp.log(mp.mpf(w)) + sign * mp.mpf(c) * x - mp.mpf(c) ** 2 / 2 for c, w in parts]
        top = max(each)
        return top + mp.log(mp.fsum(mp.exp(v - top) for v in each))

    return log_ratio


def grown(above: Weighed, below: Weighed, power: float, places: Sequence[mp.mpf]) -> float:
    """log ∫dH1^a dH0^{1−a}/|a| by the largest integrand at some places: what is about it adds log a/a to it."""
    with mp.workdps(700):
        one, other, a = mixed(above, 1), mixed(below, -1), mp.mpf(power)
        values = [-x * x / 2 + a * one(x) + (1 - a) * other(x) for x in places]
        return float(max(values) / abs(a))


def held(step: Step, power: float, truth: float, width: float = 1e-11) -> None:
    low, high = step.moment_growth(power)
    assert low * (1 - ERROR) <= truth <= high * (1 + ERROR)
    assert high - low <= width * high


@pytest.mark.parametrize("a", ORDERS)
@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.01), (0.25, 0.9), (20.0, 1e-9)])
def test_sampled_normal_noise(a: float, mu: float, rate: float) -> None:
    sampled, pair = SampledStep(NormalStep(mu), rate), [(0.0, 1 - rate), (mu, rate)]
    with mp.workdps(700):
        peak = mp.mpf(a) * mp.mpf(mu)
    up = grown(pair, [(0.0, 1.0)], a, [peak])
    assert up == pytest.approx(a * mu**2 / 2, rel=1e-12)
    held(sampled, a, up)
    held(ReversedStep(sampled), -a, up)
    held(SymmetrizedStep(sampled), a, up)
    held(SymmetrizedStep(sampled), -a, up)
    held(LabelledSampleStep(NormalStep(mu), rate), -a, up)
    held(LabelledMixture(((sampled, 0.25), (NormalStep(mu / 2), 0.75))), a, up)
    held(NormalReplacementStep(mu, rate), a, grown(pair, pair, a, [peak]))
    held(NormalReplacementStep(mu, rate), -a, grown(pair, pair, a, [peak]))
    # downwards the loss has an end
    held(sampled, -a, -math.log1p(-rate))
    held(ReversedStep(sampled), a, -math.log1p(-rate))


@pytest.mark.parametrize("a", ORDERS)
def test_mixtures_of_normals(a: float) -> None:
    with mp.workdps(700):
        far = 2 * mp.mpf(a)
    up = grown(GROUP, [(0.0, 1.0)], a, [far, far / 2])
    held(group_step(1.0, 0.1, 2), a, up)
    held(group_step(1.0, 0.1, 2), -a, -math.log(0.81))
    held(replaced_group_step(1.0, 0.1, 2), a, grown(GROUP, GROUP, a, [far, far / 2]))
    held(replaced_group_step(1.0, 0.1, 2), -a, grown(GROUP, GROUP, a, [far, far / 2]))
    both = MixtureStep((0.5, 2.0), (math.log(0.99), math.log(0.01)))
    held(both, a, grown([(0.5, 0.99), (2.0, 0.01)], [(0.0, 1.0)], a, [far, far / 4]))
    held(both, -a, grown([(0.5, 0.99), (2.0, 0.01)], [(0.0, 1.0)], -a, [-far, -far / 4]))
    held(KnownShiftStep((0.5, 2.0), (math.log(0.99), math.log(0.01))), a, up)


@pytest.mark.parametrize("a", ORDERS)
def test_losses_with_an_end_and_without_overlap(a: float) -> None:
    held(LaplaceStep(1.5), a, 1.5)
    held(LaplaceStep(1.5), -a, 1.5)
    only = FiniteStep(Atoms(np.asarray([0.0]), np.log([0.9]), 0.0, 0.1), False)
    assert only.moment_growth(a) == (math.inf, math.inf)
    assert only.moment_growth(-a)[1] < math.inf
    low, high = Product([(SampledStep(NormalStep(1.0), 0.01), 100), (LaplaceStep(2.0), 3)]).moment_growth(a)
    assert low * (1 - ERROR) <= 50 * a <= high * (1 + ERROR)
    assert high <= low * (1 + ERROR)


def test_sums_beyond_doubles_end_at_the_largest() -> None:
    assert Product([(NormalStep(1e4), 10**6)]).moment_growth(1e300) == (np.finfo(float).max, math.inf)


@pytest.mark.parametrize("order", [1e155, 1e300])
def test_laws_of_closed_form(order: float) -> None:
    assert el.gaussian(sigma=2.0).renyi(order) == pytest.approx(order / 8, rel=1e-15)
    assert el.mechanisms.discrete_gaussian(sigma=2.0).renyi(order) == pytest.approx(order / 8, rel=1e-15)
    assert el.laplace(epsilon=0.7).renyi(order) == pytest.approx(0.7, rel=1e-14)
    assert el.mechanisms.from_zcdp(0.5).renyi(order) == pytest.approx(order / 2, rel=1e-15)
    assert el.mechanisms.from_gdp([1.0, 2.0]).renyi(order) == pytest.approx([order / 2, 2 * order], rel=1e-15)
    narrow = el.laplace(epsilon=1.0, stretch=1.5)
    assert narrow.renyi(order) == pytest.approx(narrow.renyi(math.inf), rel=1e-12)


@pytest.mark.parametrize("order", [1e101, 1e155, 1e160, 1e200, 1e300])
def test_training(order: float) -> None:
    training = el.dpsgd(sigma=1.0, rate=0.01, steps=100)
    ends = {
        "forward": (training, -100 * math.log1p(-0.01)),
        "backward": (training.reverse(), 50 * order),
        "replaced": (el.dpsgd(sigma=1.0, rate=0.01, steps=100, neighbours="replace"), 50 * order),
        "group": (el.dpsgd(sigma=1.0, rate=0.01, steps=100, people=3).reverse(), 450 * order),
    }
    for name, (e, truth) in ends.items():
        low, high = e.bracket("renyi", order=order)
        assert low <= truth <= high, name
        assert high <= low * (1 + 1e-10), name
    many = el.dpsgd(sigma=[1.0, 2.0], rate=0.01, steps=100).reverse().bracket("renyi", order=order)
    for end in many:
        assert end == pytest.approx([50 * order, 12.5 * order], rel=1e-10)


STEPS: tuple[Step, ...] = (
    NormalStep(1.3),
    LaplaceStep(1.3),
    LogisticStep(1.3),
    NormalReplacementStep(1.3, 0.3),
    LaplaceReplacementStep(1.3, 0.3),
    LaplaceReplacementStep(1.3, 1.0),
    SampledStep(NormalStep(1.3), 0.3),
    SampledStep(LaplaceStep(1.3), 0.3),
    SampledStep(LogisticStep(1.3), 0.3),
    ReversedStep(SampledStep(LaplaceStep(1.3), 0.3)),
    LabelledSampleStep(LaplaceStep(1.3), 0.3),
    LabelledSampleStep(NormalStep(1.3), 0.3),
    SymmetrizedStep(SampledStep(NormalStep(1.3), 0.3)),
    KnownShiftStep((0.5, 2.0), (math.log(0.9), math.log(0.1))),
    LeakyH0Step(SampledStep(NormalStep(1.3), 0.3), 0.01),
    MixtureStep((0.0, 1.0, 2.5), tuple(np.log([0.5, 0.3, 0.2]).tolist())),
    group_step(1.0, 0.1, 3),
    replaced_group_step(1.0, 0.1, 3),
    draws_step(0.7, 0.05, 12),
    NoisyMaxStep(1.3),
    KnownShiftStep(tuple(0.5 + 0.1 * j for j in range(20)), tuple(-0.3 * j for j in range(20))),
)


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_masses_above_and_below_are_those_of_the_densities(step: Step) -> None:
    assert step.support is not None
    low, high = (float(np.clip(end, -40.0, 40.0)) for end in step.support)
    knots = [k for k in step.knots if low < k < high]
    for share in (0.0, 0.2, 0.5, 0.77):
        x = low + share * (high - low) if math.isfinite(step.support[0]) else -2.0 + 5 * share
        for ends, (p, q) in (((x, high), step.above(x)), ((low, x), step.below(x))):
            cuts = [ends[0], *(k for k in knots if ends[0] < k < ends[1]), ends[1]]
            for law, found in ((1, p), (0, q)):
                mass = 0.0
                for a, b in itertools.pairwise(cuts):
                    at = np.linspace(a, b, 20_001)
                    density = np.exp(step.log_p0(at) + law * step.loss(at))
                    mass += float(np.trapezoid(density, at))
                assert math.exp(found) == pytest.approx(mass, rel=1e-5, abs=1e-12), (share, law, ends)


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_slopes_and_bends_are_those_of_the_loss(step: Step) -> None:
    """By differences: the slope, the place of a loss, and what bounds how fast all of them change."""
    assert step.support is not None
    low, high = (float(np.clip(end, -12.0, 12.0)) for end in step.support)
    for a, b in itertools.pairwise([low, *(k for k in step.knots if low < k < high), high]):
        x = np.linspace(a, b, 4001)[1:-1]
        loss, slope, middle = step.loss(x), step.slope(x), slice(1, -1)
        assert slope[middle] == pytest.approx((loss[2:] - loss[:-2]) / (x[2:] - x[:-2]), rel=1e-3, abs=1e-9)
        steep = slope > 1e-6
        assert step.inverse_loss(loss[steep]) == pytest.approx(x[steep], abs=1e-6)
        bend = np.maximum(step.roughness(x)[:-1], step.roughness(x)[1:])
        log_p0 = step.log_p0(x)
        changing = [log_p0, log_p0 + loss, loss] + ([np.log(slope)] if steep.all() else [])
        for one in changing:
            assert np.all(np.abs(np.diff(one) / np.diff(x)) <= bend * (1 + 1e-3) + 1e-6)
