"""Choosing under composition: every answer, read back, satisfies its limit, and hardly more risk would break it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.errors import NoSolutionError


@pytest.mark.parametrize("rate", [0.001, 0.01])
@pytest.mark.parametrize(
    ("reading", "limit", "arguments"),
    [
        ("advantage", 0.1, {}),
        ("roc", 0.05, {"fpr": 0.01}),
        ("epsilon", 1.0, {"delta": 1e-5}),
        ("success", 0.6, {"prior": 0.5}),
        ("delta", 1e-6, {"epsilon": 1.0}),
    ],
)
def test_noise_of_dp_sgd(rate: float, reading: str, limit: float, arguments: dict[str, Any]) -> None:
    given: dict[str, Any] = {"rate": rate, "steps": 10_000}
    choice = el.choose(el.dpsgd, "sigma", at_most=limit, reading=reading, given=given, **arguments)
    again = el.dpsgd(sigma=choice.value, **given)
    assert getattr(again, reading)(**arguments) <= limit
    assert choice.reading <= limit
    assert choice.method == "composition"
    # a little less noise and even the lower end breaks the limit
    less = el.dpsgd(sigma=choice.value * 0.99, **given)
    assert less.bracket(reading, **arguments)[0] > limit


def test_other_parameters() -> None:
    steps = el.choose(el.dpsgd, "steps", at_most=0.1, reading="advantage", given={"sigma": 1.0, "rate": 0.01})
    assert steps.value == int(steps.value)
    assert el.dpsgd(sigma=1.0, rate=0.01, steps=int(steps.value)).advantage() <= 0.1
    assert el.dpsgd(sigma=1.0, rate=0.01, steps=int(steps.value) + 1).advantage() > 0.1
    rate = el.choose(el.dpsgd, "rate", at_most=0.1, reading="advantage", given={"sigma": 1.0, "steps": 1000})
    assert el.dpsgd(sigma=1.0, rate=rate.value, steps=1000).advantage() <= 0.1
    assert el.dpsgd(sigma=1.0, rate=rate.value * 1.01, steps=1000).advantage() > 0.1


@pytest.mark.parametrize(
    ("build", "parameter", "reading", "limit", "arguments"),
    [
        (lambda epsilon: el.laplace(epsilon=epsilon).repeat(100), "epsilon", "epsilon", 1.0, {"delta": 1e-6}),
        (lambda scale: el.laplace(scale=scale).repeat(100), "scale", "success", 0.6, {}),
        (
            lambda epsilon: el.compose(
                el.laplace(epsilon=epsilon), el.gaussian(psi=0.1), el.mechanisms.geometric(epsilon=epsilon)
            ),
            "epsilon",
            "advantage",
            0.1,
            {},
        ),
        (lambda rate: el.subsample(el.laplace(epsilon=1.0), rate).repeat(50), "rate", "roc", 0.03, {"fpr": 0.01}),
        (
            lambda sigma: el.compose(el.dpsgd(sigma=sigma, rate=0.02, steps=200), el.laplace(epsilon=0.2)),
            "sigma",
            "auc",
            0.6,
            {},
        ),
        (lambda sigma: el.dpsgd(sigma=sigma, rate=0.02, steps=200), "sigma", "fbeta", 0.7, {"beta": 1.0}),
        (lambda sigma: el.dpsgd(sigma=sigma, rate=0.02, steps=200), "sigma", "kl", 0.05, {}),
        (lambda sigma: el.dpsgd(sigma=sigma, rate=0.02, steps=200), "sigma", "renyi", 0.1, {"order": 8.0}),
    ],
)
def test_any_mechanism_and_any_reading(
    build: Any, parameter: str, reading: str, limit: float, arguments: dict[str, Any]
) -> None:
    choice = el.choose(build, parameter, at_most=limit, reading=reading, **arguments)
    assert getattr(build(choice.value), reading)(**arguments) <= limit
    assert getattr(build(choice.value), reading)(**arguments) >= 0.97 * limit


def test_limits_nothing_meets_and_limits_everything_meets() -> None:
    with pytest.raises(NoSolutionError, match="no steps keeps advantage"):
        el.choose(el.dpsgd, "steps", at_most=1e-6, reading="advantage", given={"sigma": 1.0, "rate": 0.01})
    with pytest.raises(NoSolutionError, match="posterior"):
        el.choose(el.dpsgd, "sigma", at_most=0.9, reading="posterior", given={"rate": 0.01, "steps": 100})
    free = el.choose(el.dpsgd, "rate", at_most=0.99, reading="success", given={"sigma": 50.0, "steps": 10})
    assert free.value == 1.0
    assert "nothing up to here" in free.note


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["advantage", "roc", "epsilon", "success"])
@pytest.mark.parametrize("training", [True, False], ids=["dpsgd", "laplace"])
def test_random_calibrations_read_back(reading: str, training: bool) -> None:
    # Random parameters and limits; wide brackets keep each cheap, and safety does not depend on the width.
    rng = np.random.default_rng(7)
    done = 0
    while done < 10:
        width = float(10 ** rng.uniform(-1.5, -0.8))
        steps = int(10 ** rng.uniform(1.0, 3.5))
        rate = float(10 ** rng.uniform(-2.0, -0.4))
        given: dict[str, Any] = {"rate": rate, "steps": steps, "width": width}
        fpr = float(10 ** rng.uniform(-4, -1))
        limits: dict[str, tuple[float, dict[str, Any]]] = {
            "advantage": (float(rng.uniform(0.03, 0.6)), {}),
            "roc": (fpr * float(rng.uniform(1.5, 4.0)), {"fpr": fpr}),
            "epsilon": (float(10 ** rng.uniform(-0.7, 0.7)), {"delta": float(10 ** rng.uniform(-8, -3))}),
            "success": (float(rng.uniform(0.55, 0.8)), {"prior": 0.5}),
        }
        limit, arguments = limits[reading]
        if steps * rate < 3:  # the person may never be drawn: such limits bind nothing
            continue
        if training:
            choice = el.choose(el.dpsgd, "sigma", at_most=limit, reading=reading, given=given, **arguments)
            again = el.dpsgd(sigma=choice.value, **given)
        else:
            many = steps + 9

            def build(epsilon: float, many: int = many, width: float = width) -> el.Experiment:
                return el.laplace(epsilon=epsilon).repeat(many, width=width)

            choice = el.choose(build, "epsilon", at_most=limit, reading=reading, **arguments)
            again = build(choice.value)
        assert getattr(again, reading)(**arguments) <= limit, (reading, limit, arguments, given)
        assert math.isfinite(choice.value)
        done += 1


def test_a_limit_that_nothing_can_violate_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr("epsilens.calibration.search.calibrate_composition", never)
    given: dict[str, Any] = {"rate": 0.01, "steps": 1000}
    for reading, arguments in (("advantage", {}), ("success", {}), ("roc", {"fpr": 0.01})):
        choice = el.choose(el.dpsgd, "sigma", at_most=1.0, reading=reading, given=given, **arguments)
        assert (choice.value, choice.reading <= 1) == (0.01, True)
        assert "nothing up to here violates the limit: 0.01 is the smallest allowed" in choice.note


def test_a_reading_that_no_noise_bounds_says_so() -> None:
    with pytest.raises(NoSolutionError, match=r"no value of sigma bounds this reading.*success or roc") as said:
        el.choose(el.dpsgd, "sigma", at_most=0.9, reading="posterior", given={"rate": 0.01, "steps": 1000}, prior=0.1)
    assert "limit above" not in str(said.value)


def test_whole_numbers_of_releases() -> None:
    def many(k: int) -> el.Experiment:
        return el.laplace(epsilon=0.1).repeat(k)

    choice = el.choose(many, "k", at_most=0.3, reading="advantage")
    assert choice.value == int(choice.value)
    assert many(int(choice.value)).advantage() <= 0.3 < many(int(choice.value) + 1).advantage()
    assert str(choice).startswith(f"Use k = {int(choice.value)}:")
    few = el.choose(many, "k", at_most=0.06, reading="advantage")  # where the law is in closed form
    assert many(int(few.value)).advantage() <= 0.06 < many(int(few.value) + 1).advantage()


@pytest.mark.parametrize("limit", [0.3, 0.02])
def test_noise_whose_range_ends_early(limit: float) -> None:
    def many(sigma: float) -> el.Experiment:
        return el.mechanisms.discrete_gaussian(sigma=sigma).repeat(50)

    choice = el.choose(many, "sigma", at_most=limit, reading="advantage")
    assert 0.97 * limit <= many(choice.value).advantage() <= limit


def test_no_noise_bounds_what_is_unbounded_and_that_is_said_at_once() -> None:
    for reading in ("posterior", "epsilon"):
        with pytest.raises(NoSolutionError, match="no value of sigma bounds this reading"):
            el.choose(
                lambda sigma: el.mechanisms.discrete_gaussian(sigma=sigma).repeat(50),
                "sigma",
                at_most=0.9,
                reading=reading,
            )


def test_the_last_of_few_whole_numbers() -> None:
    training = el.dpsgd(sigma=3.0, rate=0.01, steps=1000)
    choice = el.choose(lambda k: el.group(training, k), "k", at_most=0.6)
    assert choice.value == 4  # by the mixture of those drawn; with all drawn as soon as one is it would be 2
    assert el.group(training, 4).success() <= 0.6 < el.group(training, 5).success()


def test_which_way_risk_grows_is_found_out_under_composition() -> None:
    def blurred(spread: float) -> el.Experiment:
        return el.dpsgd(sigma=math.hypot(1.0, spread), rate=0.02, steps=500)

    choice = el.choose(blurred, "spread", at_most=0.1, reading="advantage")
    assert blurred(choice.value).advantage() <= 0.1 < blurred(choice.value * 0.98).advantage()


def test_a_choice_a_hair_under_its_limit_is_told_in_round_numbers() -> None:
    choice = el.choose(el.dpsgd, "sigma", at_most=0.05, reading="roc", fpr=0.01, given={"rate": 0.01, "steps": 1000})
    assert "at most 5 times of 100" in " ".join(str(choice).split())


def test_the_width_of_a_bracket_is_not_part_of_the_release() -> None:
    given = {"sigma": 1.0, "rate": 0.01, "steps": 10}
    with pytest.raises(el.InputError, match="width is not a number that can be chosen: give one of sigma, rate, steps"):
        el.choose(el.dpsgd, "width", at_most=0.1, reading="advantage", given=given)
