"""Laws and steps are values: equal by content, hashable, and the same again after pickling or copying."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import LabelledSampleStep, ReversedStep, SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep, LaplaceStep, laplace_shifts
from epsilens.laws.normal import NormalReplacementStep, NormalStep

BUILD: list[Callable[[], Experiment]] = [
    lambda: el.laplace(epsilon=1.0),
    lambda: el.laplace(epsilon=np.array([0.5, 1.0])),
    lambda: el.gaussian(psi=1.0),
    lambda: el.laplace(epsilon=1.0, stretch=1.5),
    lambda: el.attacks.differencing(epsilon=1.0),
    lambda: el.attacks.differencing(epsilon=1.0, split=0.3),
    lambda: el.mechanisms.randomized_response(epsilon=1.0, k=3),
    lambda: el.mechanisms.from_gdp(1.0),
    lambda: el.mechanisms.from_dp([0.5, 1.0], [1e-2, 1e-4]),
    lambda: el.mechanisms.from_zcdp(0.5, 0.1),
    lambda: el.mechanisms.from_rdp([2.0, 4.0], [0.5, 1.0]),
    lambda: el.laplace(epsilon=0.7).repeat(3),
    lambda: Experiment(laplace_shifts((0.5, 1.25))),
    lambda: el.laplace(epsilon=0.7).repeat(3).reverse(),
    lambda: el.dpsgd(sigma=1.0, rate=0.1, steps=10),
    lambda: el.dpsgd(sigma=1.0, rate=0.1, steps=10).reverse(),
    lambda: el.subsample(el.gaussian(psi=1.0, neighbours="replace"), 0.1, neighbours="replace"),
    lambda: el.compose(el.laplace(epsilon=0.5), el.mechanisms.randomized_response(epsilon=1.0)),
]


@pytest.mark.parametrize("build", BUILD)
def test_laws_are_values(build: Callable[[], Experiment]) -> None:
    law, again = build().law, build().law
    assert law == again
    assert hash(law) == hash(again)
    for other in (pickle.loads(pickle.dumps(law)), copy.copy(law), copy.deepcopy(law)):
        assert other == law
        assert hash(other) == hash(law)
        assert np.array_equal(other.profile(np.asarray(0.1)), law.profile(np.asarray(0.1)))
        assert other.known is law.known


def test_different_laws_are_not_equal() -> None:
    laws = [build().law for build in BUILD]
    assert len(set(laws)) == len(laws)
    assert el.laplace(epsilon=1.0).law != el.gaussian(psi=1.0).law
    assert el.gaussian(psi=1.0).law != el.mechanisms.from_gdp(1.0).law  # the noise, and a claim about it
    assert el.gaussian(psi=1.0).law != 1.0
    one = el.dpsgd(sigma=1.0, rate=0.1, steps=10).law
    others = [one.other_side(), one.reverse(), one.with_width(0.01), one.as_bound()]
    assert len({one, *others}) == 5


def test_what_was_asked_does_not_make_a_law_another() -> None:
    steps = [(SampledStep(NormalStep(1.0), 0.1), 10)]
    asked, fresh = ComposedLaw(steps), ComposedLaw(steps)
    asked.profile_inverse(np.asarray(1e-5))
    assert asked == fresh
    kept = pickle.dumps(asked)
    assert len(kept) < 2000  # no slice, no lattice
    low = pickle.loads(pickle.dumps(asked.reverse().other_side()))
    assert low == asked.reverse().other_side()
    assert low.direction == "lower"


ATOMS = Atoms(np.array([-1.0, 1.0]), np.log([0.3, 0.7]))
STEPS: list[Callable[[], Step]] = [
    lambda: NormalStep(1.0),
    lambda: LaplaceStep(1.0),
    lambda: FiniteStep(Atoms(ATOMS.loss.copy(), ATOMS.log_p.copy())),
    lambda: SampledStep(NormalStep(1.0), 0.1),
    lambda: LabelledSampleStep(FiniteStep(Atoms(ATOMS.loss.copy(), ATOMS.log_p.copy())), 0.1),
    lambda: ReversedStep(SampledStep(LaplaceStep(1.0), 0.1)),
    lambda: NormalReplacementStep(1.0, 0.1),
    lambda: LaplaceReplacementStep(1.0, 0.1),
]


def test_steps_are_values() -> None:
    made, again = [build() for build in STEPS], [build() for build in STEPS]
    assert made == again
    assert len({*made, *again}) == len(made)
    assert pickle.loads(pickle.dumps(made)) == made
