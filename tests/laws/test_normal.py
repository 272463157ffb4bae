"""Every reading of the normal shift against mpmath, to 1e-12 relative over the whole domain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import ndtr
from tests.laws.oracles import NormalOracle, disagreements, grid, odds

import epsilens as el
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.normal import KnownShiftStep, normal_delta, psi_for_delta

PSI = [1e-9, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0]
ALPHA = [1e-300, 1e-100, 1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-12]
DELTA = [1e-300, 1e-100, 1e-12, 1e-5, 0.01, 0.3, 0.9]
EPSILON = [0.0, 1e-12, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 700.0]
ORDER = [1e-6, 0.5, 0.999999, 1.0, 1.000001, 2.0, 64.0, 1e6]
PRIOR = [1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9]


@pytest.fixture(params=PSI, ids=lambda p: f"psi={p:g}")
def psi(request: pytest.FixtureRequest) -> float:
    return float(request.param)


def test_the_curve(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    assert not disagreements(grid(ALPHA), e.tradeoff, o.tradeoff)
    assert not disagreements(grid(ALPHA), e.roc, o.roc)
    assert not disagreements(grid(ALPHA), lambda r: e.law.inverse_roc(np.asarray(r)), o.inverse_roc)


def test_threshold_tests_and_profile(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    levels = [(u,) for u in (-700.0, -1.0, -psi, 0.0, psi, 1.0, 20.0, 700.0)]
    for i in (0, 1):
        assert not disagreements(levels, lambda u, i=i: e.law.at(np.asarray(u))[i], lambda u, i=i: o.at(u)[i])
    assert not disagreements(levels, lambda u: e.law.profile(np.asarray(u)), o.profile)


def test_delta(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    assert not disagreements(grid(EPSILON), e.delta, o.profile)


def test_epsilon_of_delta(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    assert not disagreements(grid(DELTA), e.epsilon, o.profile_inverse)
    assert e.epsilon(0.0) == np.inf


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1e-3, 0.1, 1.0, 10.0, 100.0, 700.0])
def test_calibration(epsilon: float) -> None:
    """ψ(ε, δ): δ read again at ψ never exceeds δ, and does 1e-12 beyond, both in mpmath."""
    for delta in DELTA:
        psi = psi_for_delta(epsilon, delta)
        assert normal_delta(np.asarray(epsilon), np.asarray(psi)) <= delta
        assert NormalOracle(psi * (1 + 2e-12)).profile(epsilon) > mpf(delta)
        assert NormalOracle(psi * (1 - 2e-12)).profile(epsilon) < mpf(delta)


def test_guesses_with_a_prior(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    assert not disagreements(grid(PRIOR), e.success, o.success)
    assert not disagreements([()], e.advantage, o.advantage)
    assert e.posterior([0.0, 1e-9, 0.5, 1.0]).tolist() == [0.0, 1.0, 1.0, 1.0]


def test_precision(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    roc = {a: o.roc(a) for a in ALPHA}
    fpr = {r: o.inverse_roc(r) for r in ALPHA}
    cases = grid(ALPHA, PRIOR)
    assert not disagreements(cases, e.precision, lambda a, p: roc[a] / (roc[a] + odds(p) * mpf(a)))
    # where the false-positive rate at this recall lies below 1e-305 doubles cannot carry it: the precision is then
    # within odds·1e-305/recall of 1, and reads 1
    kept = [(r, p) for r, p in cases if fpr[r] > 1e-305]
    assert not disagreements(
        kept, lambda r, p: e.precision(recall=r, prior=p), lambda r, p: mpf(r) / (mpf(r) + odds(p) * fpr[r])
    )


@pytest.mark.parametrize("psi", [1e-3, 0.1, 1.0, 5.0, 20.0])
def test_fbeta(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    assert not disagreements(grid([0.01, 1.0, 100.0], [1e-9, 0.3, 0.9]), e.fbeta, o.fbeta)


def test_divergences(psi: float) -> None:
    e, o = el.gaussian(psi=psi), NormalOracle(psi)
    for name in ("auc", "kl", "chernoff"):
        assert not disagreements([()], getattr(e, name), getattr(o, name)), name
    assert e.psi() == psi
    assert not disagreements(grid(ORDER), e.renyi, o.renyi)
    assert e.renyi(np.inf) == np.inf
    powers = [-100.0, -0.5, 0.3, 0.5, 0.9999999, 1.0000001, 3.0]
    assert not disagreements(grid(powers), lambda a: e.law.log_moment(np.asarray(a)), o.log_moment)


def test_calibration_at_the_smallest_double() -> None:
    assert psi_for_delta(5e-324, 1e-5) == pytest.approx(psi_for_delta(1e-300, 1e-5), rel=1e-12)


@pytest.mark.parametrize("prior", [1e-30, 1e-96, 1e-120, 1e-200, 1e-290])
@pytest.mark.parametrize("beta", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("psi", [0.01, 1.0, 20.0])
def test_fbeta_at_rare_priors(psi: float, beta: float, prior: float) -> None:
    """The best threshold satisfies h(t) = t·β²/c, found by bisection in 60 digits; Fβ = (1+β²)t/(c + t)."""
    with mp.workdps(60):
        m, b2, c = mpf(psi), mpf(beta) ** 2, 1 / mpf(prior) - 1
        low = (mp.log(c / (c + b2)) + m * m / 2) / m
        high = min((mp.log(c / b2) + m * m / 2) / m, low + 80)
        for _ in range(200):
            x = (low + high) / 2
            t = mp.e ** (m * x - m * m / 2)
            low, high = (x, high) if mp.ncdf(m - x) - t * mp.ncdf(-x) > t * b2 / c else (low, x)
        truth = float((1 + b2) * t / (c + t))
    assert el.gaussian(psi=psi).fbeta(beta, prior) == pytest.approx(truth, rel=1e-12)


SHIFTS, WEIGHTS = (0.5, 1.0, 3.0), (0.9, 0.09, 0.01)
STEP = KnownShiftStep(SHIFTS, tuple(math.log(w) for w in WEIGHTS))


def test_masses_and_places() -> None:
    for loss in (-4.0, 0.0, 0.3, 6.0):
        x = float(STEP.inverse_loss(np.asarray(loss)))
        assert float(STEP.loss(np.asarray(x))) == pytest.approx(loss, abs=1e-14)
        p = sum(w * ndtr(c / 2 - loss / c) for c, w in zip(SHIFTS, WEIGHTS, strict=True))
        q = sum(w * ndtr(-c / 2 - loss / c) for c, w in zip(SHIFTS, WEIGHTS, strict=True))
        assert np.exp(STEP.above(x)) == pytest.approx([p, q], rel=1e-12)
        assert np.exp(STEP.below(x)) == pytest.approx([1 - p, 1 - q], rel=1e-9)
    at = np.linspace(-60, 80, 2_000_001)
    density = np.exp(STEP.log_p0(at))
    assert float(density.sum() * (at[1] - at[0])) == pytest.approx(1, rel=1e-9)
    low, high = STEP.cutoffs(-30.0, -30.0)
    assert STEP.above(high)[0] <= -30
    assert STEP.below(low)[1] <= -30


def test_the_profile_is_the_weighted_sum() -> None:
    law = ComposedLaw([(STEP, 1)])
    drawn = ComposedLaw([(SampledStep(STEP, 0.2), 1)])
    for epsilon in (0.0, 0.2, 1.0, 4.0):
        truth = sum(
            w * float(normal_delta(np.asarray(epsilon), np.asarray(c))) for c, w in zip(SHIFTS, WEIGHTS, strict=True)
        )
        assert float(law.profile(np.asarray(epsilon))) == pytest.approx(truth, rel=1e-6)
        # (1−q)H0 + qH1 against H0 at t is q times H1 against H0 at 1 + (t−1)/q
        inner = math.log1p(math.expm1(epsilon) / 0.2)
        truth = sum(
            w * float(normal_delta(np.asarray(inner), np.asarray(c))) for c, w in zip(SHIFTS, WEIGHTS, strict=True)
        )
        assert float(drawn.profile(np.asarray(epsilon))) == pytest.approx(0.2 * truth, rel=1e-6)


def test_moments() -> None:
    for power in (-1.0, 0.5, 3.0):
        truth = math.log(
            sum(w * math.exp(power * (power - 1) / 2 * c * c) for c, w in zip(SHIFTS, WEIGHTS, strict=True))
        )
        assert STEP.log_moment(power) == pytest.approx(truth, rel=1e-12)
    assert STEP.kl() == pytest.approx(sum(w * c * c / 2 for c, w in zip(SHIFTS, WEIGHTS, strict=True)), rel=1e-14)
    assert STEP.psi() == 3.0


def test_many_shifts_are_summed_where_they_have_a_share() -> None:
    shifts = tuple(10.0 * j for j in range(1, 201))
    logs = tuple(-5.0 + j * math.log(5) - math.lgamma(j + 1) for j in range(1, 201))
    step = KnownShiftStep(shifts, logs)
    c, w = np.asarray(shifts), np.asarray(logs) - np.logaddexp.reduce(logs)
    rng = np.random.default_rng(3)
    for loss in (np.linspace(-9e5, 2e6, 5000), rng.uniform(-1e4, 1e4, 3000), np.zeros(1)):
        at = loss[:, None] / c + c / 2
        truth = np.logaddexp.reduce(w + np.log(10 / c) - at * at / 2 - math.log(2 * math.pi) / 2, axis=1)
        assert step.log_p0(step.inverse_loss(loss)) == pytest.approx(truth, rel=1e-12, abs=1e-9)
