"""The logistic pair against mpmath, and its step against the law."""

from __future__ import annotations

import math
import pickle

import mpmath as mp
import numpy as np
import pytest

from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.logistic import BoundedRange, Logistic, LogisticStep
from epsilens.readings.law import Exactness

EPSILONS = [1e-12, 1e-9, 1e-4, 0.1, 1.0, 3.7, 4.2, 25.0, 300.0, 700.0]


@pytest.fixture(autouse=True)
def _digits() -> None:
    mp.mp.dps = 60


def near(found: object, wanted: mp.mpf, tolerance: float = 1e-12) -> bool:
    return bool(abs(mp.mpf(float(found)) - wanted) <= tolerance * abs(wanted))  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_curve(epsilon: float) -> None:
    law, e = Logistic(epsilon), mp.mpf(epsilon)
    for alpha in (1e-300, 1e-100, 1e-9, 0.02, 0.5, 0.97, 1 - 1e-9):
        a = mp.mpf(alpha)
        odds = a / (1 - a)
        hit = odds * mp.e**e / (1 + odds * mp.e**e)
        assert near(law.roc(np.asarray(alpha)), hit)
        if 1 - hit > 1e-300:
            assert near(law.tradeoff(np.asarray(alpha)), 1 - hit)
        back = odds * mp.e**-e / (1 + odds * mp.e**-e)
        if back > 1e-300:
            assert near(law.inverse_roc(np.asarray(alpha)), back)
    ends = np.array([0.0, 1.0])
    assert law.roc(ends).tolist() == [0, 1]
    assert law.tradeoff(ends).tolist() == [1, 0]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_profile(epsilon: float) -> None:
    law, e = Logistic(epsilon), mp.mpf(epsilon)
    for share in (-0.999, -0.4, 0.0, 0.3, 0.9, 0.9999):
        u = epsilon * share
        x = mp.mpf(u)
        delta = mp.e**x * (mp.e ** ((e - x) / 2) - 1) ** 2 / (mp.e**e - 1)
        assert near(law.profile(np.asarray(u)), delta)
        alpha, recall = law.at(np.asarray(u))
        assert abs(float(recall) - math.exp(u) * float(alpha) - float(delta)) <= 1e-13
        if u > 0.1 * epsilon and delta < 0.99:  # nearer 1 a double does not tell ε
            assert float(law.profile_inverse(np.asarray(float(delta)))) == pytest.approx(u, rel=1e-11)
    assert float(law.profile(np.asarray(epsilon * 1.001))) == 0
    assert float(law.profile(np.asarray(-epsilon * 1.5))) == pytest.approx(-math.expm1(-1.5 * epsilon), rel=1e-14)
    assert float(law.profile_inverse(np.asarray(0.0))) == epsilon
    assert float(law.worse_epsilon(np.asarray(1.0))) == 0


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_moments_and_divergences(epsilon: float) -> None:
    law, e = Logistic(epsilon), mp.mpf(epsilon)
    mp.mp.dps = 120
    for power in (-30.0, -1e-6, 1e-9, 0.2, 0.5, 0.999, 1 + 1e-6, 1.5, 2.0, 64.0, 1e6):
        v = mp.mpf(power) - mp.mpf(1) / 2
        wanted = (mp.log(mp.sinh(v * e) / (v * e)) if v else mp.mpf(0)) - mp.log(mp.sinh(e / 2) / (e / 2))
        assert near(law.log_moment(np.asarray(power)), wanted)
    assert near(law.kl(), e * mp.coth(e / 2) - 2)
    q = mp.e**-e
    assert near(law.auc(), (1 - q - e * q) / (1 - q) ** 2)


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 3.0, 8.0, 40.0])
def test_psi_is_the_widest_gap(epsilon: float) -> None:
    law = Logistic(epsilon)
    mp.mp.dps = 120

    def probit(y: mp.mpf) -> mp.mpf:
        """Φ⁻¹ of the logistic law: by the smaller tail."""
        tail = 1 / (1 + mp.e ** abs(y))
        return mp.sign(y) * mp.sqrt(2) * mp.erfinv(1 - 2 * tail)

    e = mp.mpf(epsilon)
    gaps = [probit(e * share + e) - probit(e * share) for share in (-3, -1, -0.7, -0.55, -0.5, -0.45, -0.2, 0, 2)]
    assert near(law.psi(), max(gaps))
    assert max(gaps) == gaps[4]


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("odds", [1e-3, 0.5, 1.0, 20.0, 1e5])
def test_fbeta_is_the_largest(epsilon: float, odds: float) -> None:
    law = Logistic(epsilon)
    alpha = np.concatenate((np.geomspace(1e-40, 1, 4001), np.linspace(1e-4, 1, 4001)))
    recall = law.roc(alpha)
    for beta in (0.2, 1.0, 5.0):
        found = float(law.fbeta(np.asarray(beta), np.asarray(odds)))
        tried = float(np.max((1 + beta**2) * recall / (recall + odds * alpha + beta**2)))
        assert tried * (1 - 1e-14) <= found <= tried * (1 + 1e-4)


def test_beyond_the_doubles() -> None:
    """A group makes an ε of a thousand: nothing overflows, nothing is NaN."""
    x = np.array([0.0, 1e-300, 0.5, 1.0])
    for law in (Logistic(2000.0), BoundedRange(2000.0)):
        for values in (law.roc(x), law.tradeoff(x), law.inverse_roc(x), law.profile(x), law.log_moment(x)):
            assert np.isfinite(values).all()
        assert float(law.roc(np.asarray(1e-300))) == 1
        assert float(law.psi()) > 60
        assert math.isfinite(float(law.kl()))


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 10.0, 300.0])
def test_the_step_is_the_law(epsilon: float) -> None:
    law, step = Logistic(epsilon), LogisticStep(epsilon)
    assert step.above(-epsilon)[0] == pytest.approx(0, abs=1e-12)
    assert step.below(epsilon)[1] == pytest.approx(0, abs=1e-12)
    for share in (-0.9, 0.0, 0.6):
        u = share * epsilon
        alpha, recall = law.at(np.asarray(u))
        log_hit, log_alarm = step.above(u)
        assert log_hit == pytest.approx(math.log(float(recall)), rel=1e-12, abs=1e-12)
        assert log_alarm == pytest.approx(math.log(float(alpha)), rel=1e-12, abs=1e-12)
    assert step.known is Exactness.BOUND
    assert law.known is Exactness.EXACT
    assert step.group(3).as_law() == BoundedRange(3 * epsilon)
    once = ComposedLaw([(step, 1)])
    for u in (0.0, 0.4 * epsilon, -0.3 * epsilon):
        high = float(once.profile(np.asarray(u)))
        true = float(law.profile(np.asarray(u)))
        assert true * (1 - 1e-13) <= high <= true * (1 + 2e-3)


def test_moments_by_quadrature() -> None:
    """The closed moments against the step's own densities."""
    step = LogisticStep(2.5)
    for power in (-1.5, 0.3, 2.0, 7.0):
        found = mp.quad(lambda x, a=power: mp.e ** (float(step.log_p0(np.asarray(float(x)))) + a * x), [-2.5, 0, 2.5])
        assert math.log(found) == pytest.approx(step.log_moment(power), rel=1e-10)


def test_objects() -> None:
    law = Logistic(1.5)
    assert pickle.loads(pickle.dumps(law)) == law != Logistic(1.6)
    assert repr(law) == "Logistic(epsilon=1.5)"
    assert law.as_bound().known is Exactness.BOUND
    assert law.reverse() is law
