"""Products of laws: which way they were found is a fact, and a step nobody has heard of takes part like the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit

import epsilens as el
from epsilens.checks import Array
from epsilens.experiment import Experiment
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.quadrature import QuadratureStep
from epsilens.laws.composition.step import NoiseKind, StepNoise
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.finite import Finite
from epsilens.laws.laplace import Laplace
from epsilens.laws.normal import Normal, NormalStep
from epsilens.laws.product import Factor, How, product, steps_of
from epsilens.readings.law import Exactness
from epsilens.worlds import Relation

NORMAL, LAPLACE, PAIR = Normal(np.asarray(0.5)), Laplace(np.asarray(0.5)), Finite.claim(1.0)


@pytest.mark.parametrize(
    ("factors", "how", "known"),
    [
        ([Factor(NORMAL, 3)], How.NORMAL, Exactness.EXACT),
        ([Factor(NORMAL), Factor(NORMAL.as_bound())], How.NORMAL, Exactness.BOUND),
        ([Factor(LAPLACE, 3)], How.LAPLACE, Exactness.ROUNDED),
        ([Factor(LAPLACE.as_bound(), 3)], How.LAPLACE, Exactness.BOUND),
        ([Factor(LAPLACE, 100)], How.NUMERIC, Exactness.BRACKET),
        ([Factor(PAIR, 4)], How.FINITE, Exactness.EXACT),
        ([Factor(PAIR), Factor(LAPLACE)], How.NUMERIC, Exactness.BRACKET),
        ([Factor(PAIR.as_bound()), Factor(LAPLACE)], How.NUMERIC, Exactness.BOUND),
        ([Factor(Normal(np.asarray(0.0))), Factor(Laplace(np.asarray(0.0)))], How.NOTHING, Exactness.EXACT),
    ],
)
def test_how_a_product_was_found(factors: list[Factor], how: How, known: Exactness) -> None:
    made = product(factors)
    assert made.how is how
    assert made.law.known is known
    assert made.total == sum(f.times for f in factors)
    assert ("exact" in made.note) == (how is not How.NUMERIC and known is not Exactness.BOUND)


def test_normal_steps_become_one_whatever_stands_between() -> None:
    made = product([Factor(NORMAL, 4), Factor(PAIR), Factor(Normal(np.asarray(1.0)))], 0.01)
    assert isinstance(made.law, ComposedLaw)
    (pair, one), (normal, times) = made.law.steps()
    assert (one, times) == (1, 1)
    assert pair.support is None
    assert normal == NormalStep(math.sqrt(4 * 0.25 + 1.0))


def test_noise_that_others_know() -> None:
    steps = [steps_of(Factor(law))[0][0] for law in (NORMAL, LAPLACE, PAIR)]
    assert [s.noise for s in steps] == [StepNoise(NoiseKind.NORMAL, 0.5), StepNoise(NoiseKind.LAPLACE, 0.5), None]
    drawn = el.dpsgd(sigma=2.0, rate=0.1, steps=3)
    assert steps_of(Factor(drawn.law))[0][0].noise == StepNoise(NoiseKind.NORMAL, 0.5, 0.1)
    assert steps_of(Factor(drawn.reverse().law))[0][0].noise == StepNoise(NoiseKind.NORMAL, 0.5, 0.1, swapped=True)
    other = el.dpsgd(sigma=2.0, rate=0.1, steps=3, neighbours="replace")
    assert steps_of(Factor(other.law))[0][0].noise == StepNoise(NoiseKind.NORMAL, 0.5, 0.1, Relation.REPLACE)
    assert SampledStep(SampledStep(NormalStep(1.0), 0.1), 0.1).noise is None


@dataclass(frozen=True)
class Logistic(QuadratureStep):
    """Logistic noise of scale 1, shifted by m: a step that exists nowhere but here."""

    m: float

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def loss_range(self) -> tuple[float, float]:
        return (-self.m, self.m)

    @property
    def symmetric(self) -> bool:
        return True

    def loss(self, x: Array) -> Array:
        """m + 2·log(1 + e^{−x}) − 2·log(1 + e^{m−x})."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.m + 2 * np.logaddexp(0.0, -x) - 2 * np.logaddexp(0.0, self.m - x))

    def slope(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        return np.asarray(2 * (expit(self.m - x) - expit(-x)))

    def inverse_loss(self, loss: Array) -> Array:
        """e^{(L−m)/2} = (1 + e^{−x})/(1 + e^{m−x})."""
        with np.errstate(divide="ignore", invalid="ignore"):
            r = np.exp((np.asarray(loss, dtype=float) - self.m) / 2)
            x = np.log((r * math.exp(self.m) - 1) / (1 - r))
        return np.asarray(np.where(loss >= self.m, np.inf, np.where(loss <= -self.m, -np.inf, x)))

    def log_p0(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        return np.asarray(-np.abs(x) - 2 * np.logaddexp(0.0, -np.abs(x)))

    def roughness(self, x: Array) -> Array:
        return np.full(np.shape(x), 2.0)

    def error(self, x: Array) -> Array:
        return np.full(np.shape(x), 1e-14 * (1 + self.m))

    def above(self, x: float) -> tuple[float, float]:
        return -float(np.logaddexp(0.0, x - self.m)), -float(np.logaddexp(0.0, x))

    def below(self, x: float) -> tuple[float, float]:
        return -float(np.logaddexp(0.0, self.m - x)), -float(np.logaddexp(0.0, -x))

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return log_bottom, self.m - log_top

    def psi(self) -> float:
        return math.inf


def test_a_new_step_is_one_class() -> None:
    e = Experiment(ComposedLaw([(Logistic(1.0), 1)]))
    # the even-prior threshold is m/2, and ε is the shift
    assert e.advantage() == pytest.approx(2 * float(expit(0.5)) - 1, rel=2e-3)
    assert e.epsilon() == pytest.approx(1.0)
    low, high = e.bracket("advantage")
    assert low <= 2 * float(expit(0.5)) - 1 <= high
    x = np.linspace(-45.0, 46.0, 2_000_001)
    p = np.exp(Logistic(1.0).log_p0(x))
    kl = -float(np.sum(p * Logistic(1.0).loss(x)) * (x[1] - x[0]))
    assert e.kl() == pytest.approx(kl, rel=1e-6)
    both = el.compose(e, el.gaussian(psi=0.5))
    assert both.law.known is Exactness.BRACKET
    assert max(e.advantage(), el.gaussian(psi=0.5).advantage()) < both.advantage() < 1
    assert e.repeat(2).epsilon() == pytest.approx(2.0)
    drawn = el.subsample(e, 0.1)
    assert drawn.epsilon() == pytest.approx(math.log1p(0.1 * math.expm1(1.0)))
    with pytest.raises(el.InputError, match="no bound here"):
        el.group(e, 2)


@pytest.mark.parametrize(
    "other", [el.laplace(epsilon=1.0), el.gaussian(psi=0.5), el.subsample(el.gaussian(psi=1.0), 0.1)]
)
def test_what_settles_the_question_settles_it_beside_anything(other: Experiment) -> None:
    made = el.compose(other, el.mechanisms.approximate(epsilon=0.0, delta=1.0))
    assert (made.success(), made.delta(1.0), made.auc(), made.epsilon(0.1)) == (1.0, 1.0, 1.0, math.inf)
