"""Normal shifts told apart: their masses, moments and profile are weighted sums of closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from epsilens.laws.closed.apart import Apart
from epsilens.laws.closed.normal import normal_delta
from epsilens.laws.composition.law import Loss
from epsilens.laws.composition.sampled import Sampled

SHIFTS, WEIGHTS = (0.5, 1.0, 3.0), (0.9, 0.09, 0.01)
STEP = Apart(SHIFTS, tuple(math.log(w) for w in WEIGHTS))


def test_masses_and_places() -> None:
    for loss in (-4.0, 0.0, 0.3, 6.0):
        x = float(STEP.place(np.asarray(loss)))
        assert float(STEP.loss(np.asarray(x))) == pytest.approx(loss, abs=1e-14)
        p = sum(w * ndtr(c / 2 - loss / c) for c, w in zip(SHIFTS, WEIGHTS, strict=True))
        q = sum(w * ndtr(-c / 2 - loss / c) for c, w in zip(SHIFTS, WEIGHTS, strict=True))
        assert np.exp(STEP.above(x)) == pytest.approx([p, q], rel=1e-12)
        assert np.exp(STEP.below(x)) == pytest.approx([1 - p, 1 - q], rel=1e-9)
    at = np.linspace(-60, 80, 2_000_001)
    density = np.exp(STEP.log_p0(at))
    assert float(density.sum() * (at[1] - at[0])) == pytest.approx(1, rel=1e-9)
    low, high = STEP.reach(-30.0, -30.0)
    assert STEP.above(high)[0] <= -30
    assert STEP.below(low)[1] <= -30


def test_the_profile_is_the_weighted_sum() -> None:
    law = Loss([(STEP, 1)])
    drawn = Loss([(Sampled(STEP, 0.2), 1)])
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
    step = Apart(shifts, logs)
    c, w = np.asarray(shifts), np.asarray(logs) - np.logaddexp.reduce(logs)
    rng = np.random.default_rng(3)
    for loss in (np.linspace(-9e5, 2e6, 5000), rng.uniform(-1e4, 1e4, 3000), np.zeros(1)):
        at = loss[:, None] / c + c / 2
        truth = np.logaddexp.reduce(w + np.log(10 / c) - at * at / 2 - math.log(2 * math.pi) / 2, axis=1)
        assert step.log_p0(step.place(loss)) == pytest.approx(truth, rel=1e-12, abs=1e-9)
