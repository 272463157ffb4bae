"""Steps: how fast moments grow at orders whose squares are no doubles, and masses against their own densities."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from tests.laws.composition.oracles import contour

import epsilens as el
from epsilens.errors import InputError
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.evaluator import Product
from epsilens.laws.composition.quadrature import ERROR
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.tilt import tilted
from epsilens.laws.composition.wrappers import (
    LabelledMixture,
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
from epsilens.laws.normal import KnownShiftStep, NormalReplacementStep, NormalStep, normal_delta
from epsilens.readings.law import Exactness

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


# A fold is as risky as the worse order at every threshold, and composes as its moments say.

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


# A step whose H0 lost a share: its profile is that of the base at a lower threshold.


def delta_of_leaky_h0(epsilon: float, mu: float, rate: float) -> float:
    """Of (1−q)N(0) + qN(μ) against N(0), in closed form."""
    inner = math.log1p(math.expm1(epsilon) / rate)
    return rate * float(normal_delta(np.asarray(inner), np.asarray(mu)))


def test_the_profile_is_that_of_a_lower_threshold() -> None:
    mu, rate, lost = 1.0, 0.3, 0.01
    law = ComposedLaw([(LeakyH0Step(SampledStep(NormalStep(mu), rate), lost), 1)])
    fold = ComposedLaw([(SymmetrizedStep(LeakyH0Step(SampledStep(NormalStep(mu), rate), lost)), 1)])
    for epsilon in (0.05, 0.3, 1.0):
        truth = delta_of_leaky_h0(epsilon + math.log1p(-lost), mu, rate)
        assert float(law.profile(np.asarray(epsilon))) == pytest.approx(truth, rel=1e-3)
        for one in (fold, fold.reverse()):
            assert float(one.profile(np.asarray(epsilon))) == pytest.approx(truth, rel=1e-3)
    assert law.reverse().only1 == pytest.approx(lost)


def test_its_moments_are_the_bases() -> None:
    base = SampledStep(NormalStep(1.0), 0.3)
    step = LeakyH0Step(base, 0.01)
    assert step.log_moment(3.0) == pytest.approx(base.log_moment(3.0) - 2 * math.log1p(-0.01), rel=1e-10)
    assert step.log_moment(-1.0) == math.inf


# One of several steps, told which: weighted sums of everything, in both orders.

SAMPLED = [((1.0, 0.05), 0.8), ((2.0, 0.04), 0.2)]


def mixture() -> LabelledMixture:
    return LabelledMixture(tuple((SampledStep(NormalStep(mu), q), share) for (mu, q), share in SAMPLED))


def delta_of_sampled(mu: float, rate: float, u: float) -> float:
    """∫((1−q)N(0) + qN(μ) − e^u·N(0))₊."""
    t = math.exp(u)
    if t <= 1 - rate:
        return 1 - t
    x = mu / 2 + math.log((t - 1 + rate) / rate) / mu
    return (1 - rate - t) * float(ndtr(-x)) + rate * float(ndtr(mu - x))


def test_profiles_add_up() -> None:
    law = ComposedLaw([(mixture(), 1)], 1e-4)
    for u in (0.02, 0.3, 1.5, -0.01, -0.03):
        exact = sum(share * delta_of_sampled(mu, q, u) for (mu, q), share in SAMPLED)
        low, high = (float(side.profile(np.asarray(u))) for side in (law.other_side(), law))
        assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9), u
        assert high <= low * 1.001
        back = 1 - math.exp(u) + math.exp(u) * sum(share * delta_of_sampled(mu, q, -u) for (mu, q), share in SAMPLED)
        assert float(law.reverse().profile(np.asarray(u))) == pytest.approx(back, rel=1e-3)


def moment_of_mixture(z: complex) -> complex:
    x = np.linspace(-40.0, 40.0, 64_001)
    q = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    total = 0j
    for (mu, rate), share in SAMPLED:
        loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
        total += share * complex(np.dot(q * np.exp(loss), np.exp(z * loss)))
    return total


def test_many_mixtures_against_the_contour() -> None:
    law = ComposedLaw([(mixture(), 200)])
    for u, tilt in ((1.0, 0.4), (3.0, 0.5)):
        truth = contour(moment_of_mixture, 200, u, tilt, tilt / 12)
        low, high = (float(side.profile(np.asarray(u))) for side in (law.other_side(), law))
        assert low <= truth <= high
        assert high <= low * (1 + 1e-5)
    for power in (-1.0, 0.5, 2.0, 4.0):
        assert math.exp(mixture().log_moment(power)) == pytest.approx(moment_of_mixture(power - 1).real, rel=1e-9)


def test_the_tilted_law_is_a_mixture() -> None:
    step, tilt = mixture(), 0.7
    law = tilted(step, False, tilt, step.cutoffs(-60.0, -60.0), 5.0)
    assert law is not None
    assert law.log_scale == pytest.approx(math.log(moment_of_mixture(tilt).real), rel=1e-10)
    mean = (
        (moment_of_mixture(tilt + 1e-5).real - moment_of_mixture(tilt - 1e-5).real)
        / 2e-5
        / moment_of_mixture(tilt).real
    )
    assert law.mean == pytest.approx(mean, rel=1e-6)
    s = np.array([-0.3, 0.2, 0.5])
    expected = [math.log(moment_of_mixture(tilt + v).real / moment_of_mixture(tilt).real) for v in s]
    assert law.log_moment(s) == pytest.approx(expected, rel=1e-9)
    found = law.transform(0.4, 6)
    for n in range(6):
        exact = moment_of_mixture(complex(tilt, 0.4 * n)) / moment_of_mixture(tilt) * np.exp(-0.4j * n * law.mean)
        assert abs(found[n] - exact) < 1e-10
        assert abs(exact) <= float(law.decay(np.asarray([0.4 * n]))[0]) + 1e-12
    assert law.variance == pytest.approx(law.log_moment(np.array([1e-4, -1e-4])).sum() * 1e8, rel=1e-3)


def test_divergences_and_tails_add_up() -> None:
    step, parts = mixture(), mixture().parts
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
    law = ComposedLaw([(mixture(), 20)])
    again = ComposedLaw(law.reverse().steps())
    for u in (0.1, 0.5):
        assert float(again.profile(np.asarray(u))) == pytest.approx(
            float(law.reverse().profile(np.asarray(u))), rel=2e-3
        )


def test_mirrored_steps_stay_mirrored() -> None:
    both = LabelledMixture(((NormalReplacementStep(1.0, 0.1), 0.9), (NormalReplacementStep(2.0, 0.1), 0.1)))
    assert both.symmetric
    assert float(ComposedLaw([(both, 10)]).kl()) == pytest.approx(10 * both.kl())
