"""Products of laws: which way they were found is a fact, and a step nobody has heard of takes part like the others."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from tests.laws.oracles import upward

import epsilens as el
from epsilens.checks import Array
from epsilens.experiment import Experiment
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.evaluator import MOST_WORK, Budget
from epsilens.laws.composition.quadrature import QuadratureStep
from epsilens.laws.composition.step import NoiseKind, StepNoise
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.finite import Finite
from epsilens.laws.laplace import Laplace
from epsilens.laws.normal import Normal, NormalStep
from epsilens.laws.product import (
    CompositionMethod,
    Intersection,
    ProductFactor,
    TwoSidedBound,
    factor_steps,
    product,
    strongest_attack,
)
from epsilens.readings.law import Exactness, Law
from epsilens.worlds import Relation

NORMAL, LAPLACE, PAIR = Normal(np.asarray(0.5)), Laplace(np.asarray(0.5)), Finite.claim(1.0)


@pytest.mark.parametrize(
    ("factors", "how", "known"),
    [
        ([ProductFactor(NORMAL, 3)], CompositionMethod.NORMAL, Exactness.EXACT),
        ([ProductFactor(NORMAL), ProductFactor(NORMAL.as_bound())], CompositionMethod.NORMAL, Exactness.BOUND),
        ([ProductFactor(LAPLACE, 3)], CompositionMethod.LAPLACE, Exactness.ROUNDED),
        ([ProductFactor(LAPLACE.as_bound(), 3)], CompositionMethod.LAPLACE, Exactness.BOUND),
        ([ProductFactor(LAPLACE, 100)], CompositionMethod.NUMERIC, Exactness.BRACKET),
        ([ProductFactor(PAIR, 4)], CompositionMethod.FINITE, Exactness.EXACT),
        ([ProductFactor(PAIR), ProductFactor(LAPLACE)], CompositionMethod.NUMERIC, Exactness.BRACKET),
        ([ProductFactor(PAIR.as_bound()), ProductFactor(LAPLACE)], CompositionMethod.NUMERIC, Exactness.BOUND),
        (
            [ProductFactor(Normal(np.asarray(0.0))), ProductFactor(Laplace(np.asarray(0.0)))],
            CompositionMethod.NOTHING,
            Exactness.EXACT,
        ),
    ],
)
def test_how_a_product_was_found(factors: list[ProductFactor], how: CompositionMethod, known: Exactness) -> None:
    made = product(factors)
    assert made.how is how
    assert made.law.known is known
    assert made.total == sum(f.times for f in factors)
    assert ("exact" in made.note) == (how is not CompositionMethod.NUMERIC and known is not Exactness.BOUND)


def test_normal_steps_become_one_whatever_stands_between() -> None:
    made = product([ProductFactor(NORMAL, 4), ProductFactor(PAIR), ProductFactor(Normal(np.asarray(1.0)))], 0.01)
    assert isinstance(made.law, ComposedLaw)
    (pair, one), (normal, times) = made.law.steps()
    assert (one, times) == (1, 1)
    assert pair.support is None
    assert normal == NormalStep(math.sqrt(4 * 0.25 + 1.0))


def test_noise_that_others_know() -> None:
    steps = [factor_steps(ProductFactor(law))[0][0] for law in (NORMAL, LAPLACE, PAIR)]
    assert [s.noise for s in steps] == [StepNoise(NoiseKind.NORMAL, 0.5), StepNoise(NoiseKind.LAPLACE, 0.5), None]
    drawn = el.dpsgd(sigma=2.0, rate=0.1, steps=3)
    assert factor_steps(ProductFactor(drawn.law))[0][0].noise == StepNoise(NoiseKind.NORMAL, 0.5, 0.1)
    assert factor_steps(ProductFactor(drawn.reverse().law))[0][0].noise == StepNoise(
        NoiseKind.NORMAL, 0.5, 0.1, swapped=True
    )
    other = el.dpsgd(sigma=2.0, rate=0.1, steps=3, neighbours="replace")
    assert factor_steps(ProductFactor(other.law))[0][0].noise == StepNoise(NoiseKind.NORMAL, 0.5, 0.1, Relation.REPLACE)
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


# Several laws of one release: bounds never above either, attacks never below, in both orders.
#
# Two ends that are different experiments are read each from each, composed and stored.


@pytest.fixture(scope="module")
def both() -> Intersection:
    law = el.mechanisms.exponential(epsilon=0.5).repeat(50).law
    assert isinstance(law, Intersection)
    return law


def two_points(epsilon: float, count: int, delta: float) -> float:
    """The largest ε(δ) over equal two-point steps whose loss has range ε: a binomial sum (Dong, Durfee & Rogers)."""
    k = np.arange(count + 1)
    best = 0.0
    for first in np.linspace(-6.0, 2.0, 400):
        p0, p1 = 1 / (1 + np.exp(-first)), 1 / (1 + np.exp(-first - epsilon))
        up, down = np.log(p1 / p0), np.log((1 - p1) / (1 - p0))
        loss = k * up + (count - k) * down
        mass = binom.pmf(k, count, p1)
        low, high = 0.0, count * epsilon
        for _ in range(60):
            middle = (low + high) / 2
            over = np.sum(mass * -np.expm1(np.minimum(middle - loss, 0))) > delta
            low, high = (middle, high) if over else (low, middle)
        best = max(best, high)
    return best


@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "attained", "zcdp", "product"),
    [(50, 0.5, 1e-6, 9.3394, 10.0891, 10.8539), (10, 1.0, 1e-5, 7.1042, 8.0784, 7.6256)],
)
def test_selections_composed(
    count: int, epsilon: float, delta: float, attained: float, zcdp: float, product: float
) -> None:
    e = el.mechanisms.exponential(epsilon=epsilon).repeat(count)
    assert isinstance(e.law, Intersection)
    found = [float(law.worse_epsilon(np.asarray(delta))) for law in e.law.laws]
    assert found == pytest.approx([product, zcdp], abs=2e-4)
    assert e.epsilon(delta) == min(found)
    assert e.law.known is Exactness.BOUND
    assert attained - 1e-4 <= two_points(epsilon, count, delta) < min(attained + 3e-3, e.epsilon(delta))
    assert e.bracket("epsilon", delta=delta) == (0, e.epsilon(delta))


def test_never_above_either(both: Intersection) -> None:
    x, u = np.array([1e-9, 0.01, 0.3, 0.9]), np.array([0.0, 2.0, 9.0, 11.0])
    for law in both.laws:
        assert np.all(both.roc(x) <= law.roc(x))
        assert np.all(both.tradeoff(x) >= law.tradeoff(x))
        assert np.all(both.inverse_roc(x) >= law.inverse_roc(x))
        assert np.all(both.profile(u) <= law.profile(u))
        assert np.all(both.profile_inverse(x) <= law.profile_inverse(x))
        for name in ("auc", "psi", "kl", "max_llr"):
            assert getattr(both, name)() <= getattr(law, name)()
        assert np.all(both.log_moment(np.array([2.0, -3.0])) <= law.log_moment(np.array([2.0, -3.0])))
        assert float(both.log_moment(np.asarray(0.5))) >= float(law.log_moment(np.asarray(0.5)))
        assert float(both.fbeta(np.asarray(1.0), np.asarray(9.0))) <= float(law.fbeta(np.asarray(1.0), np.asarray(9.0)))
    # the product is smaller at ε = 2, zCDP at ε = 9
    first, second = (law.profile(np.array([2.0, 9.0])) for law in both.laws)
    assert first[0] < second[0]
    assert second[1] < first[1]


def test_readings_agree(both: Intersection) -> None:
    """TPR ≤ δ + e^ε·α for all of them, misses are 1 − TPR, and an ε read at a δ has at most that δ."""
    alpha = np.array([1e-8, 1e-3, 0.1, 0.5, 0.95])
    hit = both.roc(alpha)
    assert both.tradeoff(alpha) == pytest.approx(1 - hit, rel=1e-3)
    for u in (0.0, 1.0, 4.0, 8.0, 10.0, 15.0):
        assert np.all(hit <= (float(both.profile(np.asarray(u))) + np.exp(u) * alpha) * (1 + 1e-12))
    assert np.all(both.inverse_roc(hit) <= alpha * (1 + 1e-3))
    delta = np.array([1e-12, 1e-6, 1e-2])
    assert np.all(both.worse_delta(both.worse_epsilon(delta)) <= delta * (1 + 1e-3))
    a, recall = both.at(np.array([1.0, 9.0]))
    assert np.all(recall - np.exp([1.0, 9.0]) * a <= both.profile(np.array([1.0, 9.0])) * (1 + 1e-9))


def test_two_orders() -> None:
    """Beside a step that is not symmetric each order is read on its own."""
    e = el.compose(el.mechanisms.exponential(epsilon=0.5).repeat(20), el.dpsgd(sigma=1.0, rate=0.1, steps=10))
    assert isinstance(e.law, Intersection)
    assert not e.law.symmetric
    back = e.reverse()
    assert back.law == Intersection(tuple(law.reverse() for law in e.law.laws))
    one, other = (float(law.profile(np.asarray(3.0))) for law in (e.law, back.law))
    assert one != other
    assert e.delta(3.0) == pytest.approx(max(one, other), rel=1e-3)
    assert e.delta(3.0) == pytest.approx(back.delta(3.0), rel=1e-12)


def test_beside_other_steps() -> None:
    """Of two selections and a Laplace answer both bounds are above the truth, found by enumeration on a grid."""
    e = el.compose(el.mechanisms.exponential(epsilon=0.5).repeat(20), el.laplace(epsilon=1.0))
    assert isinstance(e.law, Intersection)
    one, two = (float(law.worse_epsilon(np.asarray(1e-6))) for law in e.law.laws)
    assert e.epsilon(1e-6) == min(one, two) == two
    pair = el.mechanisms.exponential(epsilon=0.5, scores0=[0.0, 0.0], scores1=[1.0, -1.0])
    attained = el.compose(pair.repeat(20), el.laplace(epsilon=1.0))
    for u in (0.0, 1.0, 3.0, 5.0):
        assert attained.delta(u) <= e.delta(u) * (1 + 1e-9)
    alone = el.compose(
        el.mechanisms.exponential(epsilon=0.5), el.laplace(epsilon=1.0)
    )  # one selection: zCDP says no more
    assert isinstance(alone.law, ComposedLaw)
    assert alone.law.known is Exactness.BOUND
    assert "upper bound" in alone.notes[0]


def test_it_is_a_law_like_others(both: Intersection) -> None:
    assert pickle.loads(pickle.dumps(both)) == both
    assert both.other_side() is both
    assert both.steps() == both.laws[0].steps()  # type: ignore[attr-defined]
    assert both.with_width(0.01).width == 0.01
    assert both.only1 == 0
    normal: tuple[Law, ...] = (Normal(np.asarray(1.0)), Normal(np.asarray(0.5)))
    least = Intersection(normal)
    assert float(least.psi()) == 0.5
    assert least.steps() == normal[0].steps()  # type: ignore[attr-defined]


@pytest.fixture
def ends() -> TwoSidedBound:
    found = strongest_attack((Normal(np.asarray(1.0)), Laplace(np.asarray(1.0))))
    return TwoSidedBound((Normal(np.asarray(2.0), known=Exactness.BOUND),), attained=found)


def test_every_reading_reads_each_end(ends: TwoSidedBound) -> None:
    e = Experiment(ends)
    first, second, above = el.gaussian(psi=1.0), el.laplace(epsilon=1.0), el.gaussian(psi=2.0)
    for reading, arguments in (
        ("success", {"prior": 0.3}), ("advantage", {}), ("auc", {}), ("fbeta", {}), ("posterior", {}),
        ("roc", {"fpr": 1e-3}), ("roc", {"fpr": 0.4}), ("precision", {"recall": 0.2}), ("delta", {"epsilon": 0.9}),
        ("epsilon", {"delta": 1e-3}), ("epsilon", {"delta": 0.2}), ("psi", {}), ("renyi", {"order": 3.0}),
        ("renyi", {"order": 0.5}), ("kl", {}), ("chernoff", {}), ("recall", {"fpr": 0.1}),
    ):  # fmt: skip
        low, high = e.bracket(reading, **arguments)
        expected = max(getattr(first, reading)(**arguments), getattr(second, reading)(**arguments))
        assert low == pytest.approx(expected, rel=1e-9), reading
        assert getattr(above, reading)(**arguments) == getattr(e, reading)(**arguments)
        assert high == upward(getattr(e, reading)(**arguments))
    assert e.bracket("tradeoff", fpr=0.1) == pytest.approx((above.tradeoff(0.1), first.tradeoff(0.1)))
    assert math.isinf(float(ends.attained.max_llr())) if ends.attained else False
    alpha, recall = ends.attained.at(np.asarray(0.2)) if ends.attained else (0, 0)
    assert 0 < float(alpha) < float(recall) < 1


def test_orders(ends: TwoSidedBound) -> None:
    skew = TwoSidedBound(
        (Normal(np.asarray(5.0)),), attained=strongest_attack((Finite.of(np.array([0.9, 0.1]), np.array([0.5, 0.5])),))
    )
    assert ends.symmetric
    assert skew.attained is not None
    assert not skew.attained.symmetric
    assert skew.attained.direction == "lower"
    turned = skew.reverse()
    assert turned.attained is not None
    assert float(turned.attained.profile(np.asarray(0.0))) == pytest.approx(0.4)
    assert float(turned.attained.roc(np.asarray(0.5))) == pytest.approx(0.9)
    assert pickle.loads(pickle.dumps(skew)) == skew
    assert float(turned.reverse().attained.roc(np.asarray(0.5))) == pytest.approx(  # type: ignore[union-attr]
        float(skew.attained.roc(np.asarray(0.5)))
    )
    alone = TwoSidedBound((Normal(np.asarray(1.0)),))
    assert alone.reverse().attained is None


def test_both_ends_compose(ends: TwoSidedBound) -> None:
    both = el.compose(Experiment(ends), el.gaussian(psi=1.0))
    low, high = both.bracket("advantage")
    beside = el.compose(el.laplace(epsilon=1.0), el.gaussian(psi=1.0)).advantage()
    assert high == pytest.approx(el.gaussian(psi=math.sqrt(5.0)).advantage(), rel=1e-9)
    assert low == pytest.approx(max(el.gaussian(psi=math.sqrt(2.0)).advantage(), beside), rel=2e-3)
    assert both.law.known is Exactness.BOUND
    # what is only claimed is left out from below
    claimed = el.compose(Experiment(ends), el.mechanisms.from_gdp(1.0))
    low, high = claimed.bracket("advantage")
    assert low == pytest.approx(el.laplace(epsilon=1.0).advantage(), rel=2e-3)
    assert high == pytest.approx(el.gaussian(psi=math.sqrt(5.0)).advantage(), rel=2e-3)
    assert "bounds it from below" in claimed.notes[0]
    twice = Experiment(ends).repeat(2)
    assert twice.bracket("psi") == pytest.approx((math.sqrt(2), 2 * math.sqrt(2)), rel=2e-3)


def test_widths(ends: TwoSidedBound) -> None:
    loss = el.dpsgd(sigma=1.0, rate=0.1, steps=10).law
    held = strongest_attack((loss.other_side(),))
    assert held.width == 1e-3
    assert held.with_width(1e-2).width == 1e-2
    assert held.reached
    assert held.steps() == loss.other_side().steps()  # type: ignore[attr-defined]
    assert held.only1 == 0.0
    assert ends.with_width(1e-2).attained == ends.attained


@pytest.mark.parametrize(
    ("given", "delta", "width"),
    [
        ({"steps": 17, "batch": 10**5, "n": 10**6, "truncation": 10**5, "batches": "truncated"}, 1e-6, 0.7),
        ({"steps": 1000, "batch": 10, "n": 10**6, "batches": "fixed", "people": 10}, 1e-9, 0.2),
        (
            {
                "steps": 10**5,
                "neighbours": "replace",
                "batch": 10,
                "n": 10**6,
                "batches": "with replacement",
                "people": 2,
            },
            1e-9,
            1e-3,
        ),
    ],
)
def test_both_ends_are_one_reading(
    given: dict[str, Any], delta: float, width: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Budget] = []
    begin = Budget.__init__

    def counted(self: Budget, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(Budget, "__init__", counted)
    low, high = el.dpsgd(sigma=0.01, **given).bracket("epsilon", delta=delta)
    assert 0 < low <= high
    assert high - low <= width * high
    assert sum(one.spent for one in made) < 1.5 * MOST_WORK


def test_what_is_the_same_in_either_order_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = ComposedLaw([(SampledStep(NormalStep(1.0), 0.1), 5)]).other_side()
    asked: list[Law] = []
    before = ComposedLaw.auc

    def counted(law: ComposedLaw) -> Any:
        asked.append(law)
        return before(law)

    monkeypatch.setattr(ComposedLaw, "auc", counted)
    known = strongest_attack((one, one.reverse()))
    # the area under a curve is that under its inverse
    assert float(known.auc()) == pytest.approx(float(one.reverse().auc()), rel=1e-3)
    assert len(asked) == 2  # once by each of both lines above
    # δ(1) is not the same in either order
    here, there = (float(law.profile(np.asarray(1.0))) for law in (one, one.reverse()))
    assert float(known.profile(np.asarray(1.0))) == max(here, there) > min(here, there)
