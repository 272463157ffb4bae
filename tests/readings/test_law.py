"""How well a reading is known is a fact of the law, and brackets and directions follow from it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.laws.oracles import upward
from tests.specimens import EXPERIMENTS

import epsilens as el
from epsilens.errors import InputError
from epsilens.experiment import Experiment
from epsilens.laws.laplace import Laplace
from epsilens.readings.guesses import odds
from epsilens.readings.law import Exactness, Law

EXACT = [
    el.laplace(epsilon=1.0),
    el.gaussian(psi=1.0),
    el.laplace(epsilon=1.0, stretch=1.5),
    el.mechanisms.randomized_response(epsilon=1.0),
    el.subsample(el.mechanisms.pure(epsilon=1.0), 0.1),
]
ROUNDED = [
    el.attacks.differencing(epsilon=1.0),
    el.laplace(epsilon=1.0).repeat(3),
    el.attacks.differencing(epsilon=1.0, split=0.3),
]
BRACKET = [
    el.dpsgd(sigma=1.0, rate=0.1, steps=10),
    el.compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5)),
    el.group(el.dpsgd(sigma=1.0, rate=0.1, steps=10), 2),  # a binomial number of them is drawn
]
BOUND = [
    el.mechanisms.from_gdp(1.0),
    el.mechanisms.from_dp(1.0, 1e-5),
    el.mechanisms.from_zcdp(0.5),
    el.group(el.mechanisms.from_gdp(1.0), 2),
    el.compose(el.mechanisms.from_gdp(1.0), el.laplace(epsilon=1.0)),
    el.subsample(
        el.mechanisms.randomized_response(epsilon=1.0), 0.1, neighbours="replace"
    ),  # told whether it was drawn
    el.subsample(el.gaussian(psi=1.0, neighbours="replace"), 0.1, neighbours="replace"),
    el.subsample(el.mechanisms.from_gdp(1.0), 0.1),
    el.group(el.subsample(el.laplace(epsilon=1.0), 0.1), 2),  # all are taken to be drawn as soon as one is
]


@pytest.mark.parametrize(
    ("known", "experiments"),
    [(Exactness.EXACT, EXACT), (Exactness.ROUNDED, ROUNDED), (Exactness.BRACKET, BRACKET), (Exactness.BOUND, BOUND)],
)
def test_every_law_says_how_well_it_is_known(known: Exactness, experiments: list[Experiment]) -> None:
    for e in experiments:
        assert e.law.known is known, e
        assert e.reverse().law.known is known, e
        assert e.direction == ("exact" if known is Exactness.EXACT else "upper"), e
        low, high = e.bracket("success")
        assert high == (e.success() if e.law.width else upward(e.success(), 1e-11))
        if known is Exactness.BOUND:
            assert low == 0.5
        else:
            assert high * (1 - (1e-3 if known is Exactness.BRACKET else 1e-12)) <= low < high


def test_no_word_decides() -> None:
    for e in (*EXACT, *ROUNDED, *BRACKET, *BOUND):
        mute = Experiment(e.law, e.origin, e.parameters, e.worlds, ("x",), e.parts, "x")
        assert mute.direction == e.direction
        assert mute.bracket("advantage") == e.bracket("advantage")
    for e in (*ROUNDED[:1], *BRACKET[:1], *BOUND[:3], BOUND[6]):
        mute = Experiment(e.law, e.origin, e.parameters, e.worlds, ("x",), e.parts, "x")
        assert el.compose(mute, mute).law == el.compose(e, e).law


@pytest.mark.parametrize("e", [*EXACT, *ROUNDED, *BRACKET])
def test_as_a_bound_the_numbers_stay_and_the_low_end_goes(e: Experiment) -> None:
    bound = Experiment(e.law.as_bound())
    assert bound.law.as_bound() == bound.law
    assert bound.success() == e.success()
    assert bound.epsilon(1e-5) == e.epsilon(1e-5)
    assert bound.direction == "upper"
    assert bound.bracket("advantage") == (0.0, e.advantage() if e.law.width else upward(e.advantage()))


def test_closed_forms_have_one_side_and_no_width() -> None:
    law: Law = Laplace(np.asarray(1.0))
    assert law.other_side() is law
    assert law.with_width(0.1) is law
    assert law.width == 0
    assert law.reached
    assert law.only1 == 0


def test_what_only_one_world_shows() -> None:
    assert el.mechanisms.finite([1.0, 0.0], [0.0, 1.0]).law.only1 == 1
    assert el.mechanisms.approximate(epsilon=1.0, delta=0.25).law.only1 == 0.25
    both = el.compose(el.mechanisms.approximate(epsilon=1.0, delta=0.25), el.laplace(epsilon=0.5), width=0.1)
    assert both.law.only1 == pytest.approx(0.25, rel=1e-12)


def test_epsilon_read_again_never_exceeds_delta() -> None:
    for e in (*EXACT, *ROUNDED):
        for delta in (1e-9, 1e-3, 0.2):
            assert e.delta(e.epsilon(delta)) <= delta


# Readings of single guesses against exact fractions.


@pytest.mark.parametrize("prior", [1.025275613047908e-14, 1e-300, 0.1, 0.5, 0.9, 1 - 2.0**-53])
def test_odds_keep_their_digits(prior: float) -> None:
    exact = (1 - Fraction(prior)) / Fraction(prior)
    assert abs(Fraction(float(odds(np.asarray(prior)))) - exact) <= exact * Fraction(2) ** -52


def test_precision_where_everyone_is_recognised() -> None:
    """R = 1, so it is π/(π + (1−π)α)."""
    prior, alpha = 1.025275613047908e-14, 1.650748272344813e-09
    strong = el.compose(el.laplace(epsilon=0.2848467536260691).repeat(687), el.gaussian(psi=27.02192470911756))
    low, high = strong.reverse().bracket("precision", prior=prior, fpr=alpha)
    p, a = Fraction(prior), Fraction(alpha)
    exact = p / (p + (1 - p) * a)
    assert Fraction(float(low)) < exact <= Fraction(float(high)) * (1 + Fraction(2) ** -52)


# Rényi divergences of every kind of experiment: they never fall with the order, and their brackets hold each other.

ORDERS = (2.0, 100.0, 1e6, 1e12, 1e16, 1e20, 1e100, 1e155, 1e300)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_divergences_rise_with_the_order_however_high(name: str) -> None:
    made = EXPERIMENTS[name]()
    for e in (made, made.reverse()):
        last = np.asarray(e.bracket("renyi", order=math.inf)[1])
        ends = [e.bracket("renyi", order=a) for a in ORDERS]
        lows, highs = np.stack([low for low, _ in ends]), np.stack([high for _, high in ends])
        assert not np.isnan(lows).any()
        assert (lows <= highs).all()
        most = np.maximum.accumulate(lows, axis=0)
        with np.errstate(invalid="ignore"):
            assert (most <= highs * (1 + 1e-12)).all()
            assert (lows <= last * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("alpha", [1e-12, 0.01, 0.3, 0.5, 0.7, 0.999])
@pytest.mark.parametrize("sensitivity", [1.0, 3.0])
def test_false_alarms_and_power_at_the_cut_off(alpha: float, sensitivity: float) -> None:
    e = el.laplace(epsilon=0.8, sensitivity=sensitivity)
    noise = stats.laplace(scale=sensitivity / 0.8)
    cut = e.threshold(alpha)
    assert noise.sf(cut) == pytest.approx(alpha, rel=1e-12)
    assert noise.sf(cut - sensitivity) == pytest.approx(e.recall(alpha), rel=1e-12)
    g = el.gaussian(sigma=2.0, sensitivity=sensitivity)
    cut = g.threshold(alpha)
    assert stats.norm(scale=2.0).sf(cut) == pytest.approx(alpha, rel=1e-9)
    assert stats.norm(scale=2.0).sf(cut - sensitivity) == pytest.approx(g.recall(alpha), rel=1e-9)


def test_ends_arrays_and_refusals() -> None:
    e = el.laplace(epsilon=1.0)
    assert e.threshold(0.0) == np.inf
    assert e.threshold(1.0) == -np.inf
    assert np.asarray(e.threshold([0.05, 0.5])).tolist() == [pytest.approx(np.log(10)), 0.0]
    with pytest.raises(InputError, match="threshold is asked of geometric"):
        el.mechanisms.geometric(epsilon=1.0).threshold(0.1)
    with pytest.raises(InputError, match="fpr"):
        e.threshold(1.5)
    assert e.reverse().threshold(0.1) == e.threshold(0.1)
