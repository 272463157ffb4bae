"""How well a reading is known is a fact of the law, and brackets and directions follow from it."""

from __future__ import annotations

import numpy as np
import pytest

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.laplace import Laplace
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
        assert high == e.success()
        if known is Exactness.BOUND:
            assert low == 0.5
        else:
            assert (low < high) == (known is Exactness.BRACKET)
            assert low >= high * (1 - 1e-3)


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
    assert bound.bracket("advantage") == (0.0, e.advantage())


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
