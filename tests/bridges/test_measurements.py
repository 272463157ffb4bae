"""OpenDP's measurements: their maps read as claims, and our choices built as measurements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.bridges import from_measurement, to_measurement

LOSS = np.linspace(0.0, 6.0, 31)


@pytest.fixture
def space(opendp: Any) -> tuple[Any, Any]:
    return opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)


def test_pure(opendp: Any, space: tuple[Any, Any]) -> None:
    measurement = opendp.m.make_laplace(*space, scale=2.0)
    e = from_measurement(measurement, 1.0)
    assert e.epsilon() == measurement.map(1.0) == 0.5
    assert e.advantage() == pytest.approx(np.tanh(0.25), rel=1e-12)
    assert "MaxDivergence" in e.notes[0]
    assert from_measurement(measurement, 3.0).epsilon() == 1.5


def test_zcdp(opendp: Any, space: tuple[Any, Any]) -> None:
    measurement = opendp.m.make_gaussian(*space, scale=2.0)
    e = from_measurement(measurement, 1.0)
    assert e.parameters["rho"] == measurement.map(1.0) == 0.125
    assert np.all(e.delta(LOSS) >= np.asarray(el.gaussian(psi=0.5).delta(LOSS)))
    # OpenDP's own profile of the same claim is its best conversion by one order; ours also combines orders
    theirs = opendp.c.make_zCDP_to_approxDP(measurement).map(1.0)
    assert e.epsilon(1e-6) <= theirs.epsilon(1e-6) * (1 + 1e-4)


def test_a_whole_profile(opendp: Any, space: tuple[Any, Any]) -> None:
    measurement = opendp.c.make_zCDP_to_approxDP(opendp.m.make_gaussian(*space, scale=2.0))
    e, curve = from_measurement(measurement, 1.0), measurement.map(1.0)
    for loss in LOSS:  # ours is the convex hull of theirs, read at a few hundred points
        assert el.gaussian(psi=0.5).delta(loss) <= e.delta(loss)
        assert e.delta(loss) <= max(curve.delta(float(loss)) * 1.5, 1e-280)
    assert e.epsilon(1e-6) == pytest.approx(curve.epsilon(1e-6), rel=1e-3)


def test_a_pair(opendp: Any, space: tuple[Any, Any]) -> None:
    profile = opendp.c.make_zCDP_to_approxDP(opendp.m.make_gaussian(*space, scale=2.0))
    fixed = opendp.c.make_fix_delta(profile, 1e-6)
    epsilon, delta = fixed.map(1.0)
    e = from_measurement(fixed, 1.0)
    assert (e.epsilon(delta), e.delta(epsilon)) == (pytest.approx(epsilon, rel=1e-12), pytest.approx(delta, rel=1e-9))


def test_renyi_and_what_may_fail(opendp: Any, space: tuple[Any, Any]) -> None:
    curve = opendp.m.make_user_measurement(
        *space, opendp.renyi_divergence(), lambda x: x, lambda d: lambda a: a * d * d / 8
    )
    assert from_measurement(curve, 1.0).epsilon(1e-6) == pytest.approx(
        el.mechanisms.from_zcdp(0.125).epsilon(1e-6), rel=2e-3
    )
    assert from_measurement(curve, 1.0).epsilon(1e-6) >= el.gaussian(psi=0.5).epsilon(1e-6)
    fails = opendp.m.make_user_measurement(
        *space, opendp.approximate(opendp.zero_concentrated_divergence()), lambda x: x, lambda d: (d * d / 8, 1e-4)
    )
    e, sure = from_measurement(fails, 1.0), el.mechanisms.from_zcdp(0.125)
    assert np.allclose(e.delta(LOSS), 1e-4 + (1 - 1e-4) * np.asarray(sure.delta(LOSS)), rtol=1e-9)


def test_saying_the_noise(opendp: Any, space: tuple[Any, Any]) -> None:
    gaussian = from_measurement(opendp.m.make_gaussian(*space, scale=2.0), 1.0, noise="gaussian")
    assert gaussian.psi() == pytest.approx(0.5, rel=1e-12)
    laplace = from_measurement(opendp.m.make_laplace(*space, scale=2.0), 1.0, noise="laplace")
    assert laplace.advantage() == pytest.approx(el.laplace(epsilon=0.5).advantage(), rel=1e-12)


def test_whole_numbers_get_whole_noise(opendp: Any) -> None:
    whole = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    measurement = opendp.m.make_laplace(*whole, scale=2.0)
    e = from_measurement(measurement, 1, noise="laplace")
    # one step of two-sided geometric noise is randomised response: e^½/(1+e^½)
    assert e.success() == pytest.approx(1 / (1 + math.exp(-0.5)), rel=1e-12)
    assert e.success() > el.laplace(epsilon=0.5).success() + 0.01
    for d in (2, 5):  # by summation over the whole numbers
        k = np.arange(-400.0, 400.0)
        p0, p1 = (np.tanh(0.25) * np.exp(-np.abs(k - shift) / 2) for shift in (0, d))
        wanted = np.sum(np.maximum(p1 - p0, 0.0))
        assert from_measurement(measurement, d, noise="laplace").advantage() == pytest.approx(wanted, rel=1e-12)
    gaussian = opendp.m.make_gaussian(*whole, scale=2.0)
    k = np.arange(-100.0, 100.0)
    p0, p1 = (np.exp(-((k - shift) ** 2) / 8) for shift in (0, 1))
    wanted = np.sum(np.maximum(p1 - p0, 0.0)) / np.sum(p0)
    assert from_measurement(gaussian, 1, noise="gaussian").advantage() == pytest.approx(wanted, rel=1e-12)
    assert wanted > el.gaussian(psi=0.5).advantage()


def test_a_vector_of_whole_numbers(opendp: Any) -> None:
    vector = opendp.vector_domain(opendp.atom_domain(T=int))
    e = from_measurement(opendp.m.make_laplace(vector, opendp.l1_distance(T=int), scale=2.0), 2, noise="laplace")
    alone = el.mechanisms.geometric(epsilon=0.5).repeat(
        2
    )  # two cells that move by one each: never more than one by two
    assert np.all(np.asarray(alone.delta(LOSS)) <= np.asarray(e.delta(LOSS)) + 1e-15)
    with pytest.raises(el.InputError, match="direction"):
        from_measurement(opendp.m.make_gaussian(vector, opendp.l2_distance(T=int), scale=2.0), 1, noise="gaussian")


def test_a_coarse_grid_is_whole_noise(opendp: Any, space: tuple[Any, Any]) -> None:
    # steps of ¼ under a scale of 2, and a distance of 1 may be rounded to five of them
    laplace = opendp.m.make_laplace(*space, scale=2.0, k=-2)
    assert laplace.map(1.0) == pytest.approx(0.625)
    e = from_measurement(laplace, 1.0, noise="laplace")
    k = np.arange(-800.0, 800.0)
    p0, p1 = (np.tanh(0.0625) * np.exp(-np.abs(k - shift) / 8) for shift in (0, 5))
    assert e.advantage() == pytest.approx(np.sum(np.maximum(p1 - p0, 0.0)), rel=1e-9)
    gaussian = opendp.m.make_gaussian(*space, scale=2.0, k=-2)
    p0, p1 = (np.exp(-((k - shift) ** 2) / 128) for shift in (0, 5))
    wanted = np.sum(np.maximum(p1 - p0, 0.0)) / np.sum(p0)
    assert from_measurement(gaussian, 1.0, noise="gaussian").advantage() == pytest.approx(wanted, rel=1e-9)


def test_noise_behind_a_transformation(opendp: Any) -> None:
    rows = opendp.vector_domain(opendp.atom_domain(T=str)), opendp.symmetric_distance()
    counted = opendp.t.make_count(*rows) >> opendp.m.then_laplace(scale=2.0)
    with pytest.raises(el.InputError, match="whole"):
        from_measurement(counted, 1, noise="laplace")
    e = from_measurement(counted, 1, noise="laplace", whole=1)
    assert e.success() == pytest.approx(1 / (1 + math.exp(-0.5)), rel=1e-12)
    assert from_measurement(counted, 1, noise="laplace", whole=0).psi() == el.laplace(epsilon=0.5).psi()


@pytest.mark.parametrize(("monotonic", "epsilon"), [(False, 1.0), (True, 0.5)])
def test_noisy_max(opendp: Any, monotonic: bool, epsilon: float) -> None:
    scores = opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.linf_distance(float, monotonic)
    pure = opendp.m.make_noisy_max(*scores, opendp.max_divergence(), scale=2.0)
    assert from_measurement(pure, 1.0).epsilon() == pure.map(1.0) == epsilon
    said = from_measurement(pure, 1.0, noise="exponential")
    assert said.advantage() == pytest.approx(1 - math.exp(-epsilon / 2), rel=1e-12)
    bounded = opendp.m.make_noisy_max(*scores, opendp.zero_concentrated_divergence(), scale=2.0)
    assert bounded.map(1.0) == epsilon**2 / 8
    said = from_measurement(bounded, 1.0, noise="gumbel")
    assert said.advantage() == pytest.approx(math.tanh(epsilon / 4), rel=1e-12)
    assert said.epsilon() == pytest.approx(epsilon, rel=1e-12)


def test_randomised_response(opendp: Any) -> None:
    flag = opendp.m.make_randomized_response_bool(prob=0.75)
    assert from_measurement(flag, 1).success() == pytest.approx(0.75, rel=1e-12)
    assert from_measurement(flag, 1, noise="response").success() == pytest.approx(0.75, rel=1e-12)
    three = opendp.m.make_randomized_response(categories=["a", "b", "c"], prob=0.75)
    assert from_measurement(three, 1, noise="response", answers=3).advantage() == pytest.approx(0.625, rel=1e-12)


def test_selections_and_responses_become_measurements(opendp: Any) -> None:
    domain = opendp.vector_domain(opendp.atom_domain(T=float, nan=False))
    for e, noise in (
        (el.mechanisms.exponential(epsilon=0.7, sensitivity=3.0), "gumbel"),
        (el.mechanisms.permute_and_flip(epsilon=0.7, monotonic=True), "exponential"),
        (el.mechanisms.noisy_max(epsilon=0.7, noise="exponential"), "exponential"),
    ):
        asked = to_measurement(e)
        metric = opendp.linf_distance(float, asked["monotonic"])
        measure = getattr(opendp, asked["output_measure"])()
        made = getattr(opendp.m, asked["make"])(domain, metric, measure, scale=asked["scale"])
        back = from_measurement(made, asked["d_in"], noise=noise)
        assert back.advantage() == pytest.approx(e.advantage(), rel=1e-9)
        assert back.advantage() <= e.advantage()
    for k in (2, 4):
        e = el.mechanisms.randomized_response(epsilon=1.2, k=k)
        asked = to_measurement(e)
        told = {} if k == 2 else {"categories": list("abcd")}
        made = getattr(opendp.m, asked["make"])(prob=asked["prob"], **told)
        assert made.map(1) == pytest.approx(1.2, rel=1e-9)
        assert made.map(1) <= 1.2 * (1 + 1e-12)
    with pytest.raises(el.InputError, match="exponential"):
        to_measurement(el.mechanisms.noisy_max(epsilon=1.0))


def test_choices_become_measurements(opendp: Any, space: tuple[Any, Any]) -> None:
    whole = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    limits: list[tuple[Any, str, dict[str, Any], tuple[Any, Any]]] = [
        (el.laplace, "epsilon", {"at_most": 0.55, "given": {"sensitivity": 3.0}}, space),
        (el.laplace, "scale", {"at_most": 0.3, "reading": "advantage"}, space),
        (el.mechanisms.geometric, "epsilon", {"at_most": 0.6, "given": {"sensitivity": 2}}, whole),
        (el.gaussian, "sigma", {"at_most": 0.05, "reading": "roc", "fpr": 0.01}, space),
    ]
    for mechanism, parameter, limit, where in limits:
        choice = el.choose(mechanism, parameter, **limit)
        asked = to_measurement(choice)
        measurement = getattr(opendp.m, asked["make"])(*where, scale=asked["scale"])
        promised = measurement.map(asked["d_in"])
        if asked["make"] == "make_laplace":
            assert promised <= choice.experiment.epsilon()
            assert promised == pytest.approx(choice.experiment.epsilon(), rel=1e-12)
        else:  # the noise itself meets the limit
            e = from_measurement(measurement, asked["d_in"], noise="gaussian")
            assert e.roc(0.01) <= 0.05
            assert promised == pytest.approx(choice.experiment.psi() ** 2 / 2, rel=1e-12)


def test_bad_input_is_one_sentence(opendp: Any, space: tuple[Any, Any]) -> None:
    laplace = opendp.m.make_laplace(*space, scale=2.0)
    user = opendp.m.make_user_measurement(*space, opendp.user_divergence("mine"), lambda x: x, lambda d: d)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: from_measurement("x", 1.0), "Measurement of OpenDP"),
        (lambda: from_measurement(laplace, -1.0), "d_in is -1.0"),
        (lambda: from_measurement(laplace, "x"), "d_in is 'x'"),
        (lambda: from_measurement(user, 1.0), "approximate DP"),
        (lambda: from_measurement(laplace, 1.0, noise="gaussian"), "not by MaxDivergence"),
        (lambda: from_measurement(laplace, 1.0, noise="x"), "noise"),
        (lambda: to_measurement(el.mechanisms.pure(epsilon=1.0)), "neither"),
        (lambda: to_measurement("x"), "choice"),  # type: ignore[arg-type]
    ]
    for call, word in calls:
        with pytest.raises(el.InputError) as said:
            call()
        assert word in str(said.value), str(said.value)
        assert "\n" not in str(said.value)
