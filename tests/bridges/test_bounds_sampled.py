"""A sample of what is only known by a bound, and what OpenDP promises: no low end either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import epsilens as el
from epsilens.bridges import from_measurement
from epsilens.experiment import Experiment

SAMPLES: dict[str, Callable[[], Experiment]] = {
    "zCDP": lambda: el.subsample(el.from_zcdp(0.5), 0.1),
    "GDP": lambda: el.subsample(el.from_gdp(0.5), 0.1),
    "one pair": lambda: el.subsample(el.from_dp(1.0, 1e-5), 0.1),
    "who was drawn is told": lambda: el.subsample(el.randomized_response(epsilon=1.0), 0.1, neighbours="replace"),
}


@pytest.mark.parametrize("build", SAMPLES.values(), ids=SAMPLES.keys())
def test_a_sample_of_a_bound_is_one(build: Callable[[], Experiment]) -> None:
    e = build()
    for one in (e, e.reverse(), e.repeat(3), el.compose(e, el.laplace(epsilon=0.1))):
        assert one.bracket("epsilon", delta=1e-4) == (0.0, one.epsilon(1e-4))
        assert "upper bound" in one.notes[0]


def test_a_sample_of_noise_keeps_both_ends() -> None:
    for e in (el.subsample(el.gaussian(psi=0.5), 0.1), el.subsample(el.pure(epsilon=1.0), 0.1)):
        low, high = e.bracket("advantage")
        assert 0 < low <= high <= low * 1.001


def test_measurements_are_claims(opendp: Any) -> None:
    space = opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)
    for make in (opendp.m.make_laplace, opendp.m.make_gaussian):
        e = from_measurement(make(*space, scale=2.0), 1.0)
        for one in (e, e.repeat(3), el.group(e, 2)):
            assert one.bracket("epsilon", delta=1e-5) == (0.0, one.epsilon(1e-5))
    nothing = from_measurement(opendp.m.make_laplace(*space, scale=1e-9), 1.0)
    assert nothing.bracket("advantage") == (0.0, 1.0)
