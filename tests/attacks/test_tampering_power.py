"""How large a false record stays hidden, is noticed, and at which ε: both directions, and through choose."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import positive

import epsilens as el
from epsilens.attacks.tampering_power import TESTS, boundary

RATES = ((0.1, 0.5), (0.05, 0.9), (1e-6, 0.3), (0.3, 0.95), (0.6, 0.99), (1e-300, 0.5))


def power(test: str, alpha: float, **told: Any) -> float:
    return float(getattr(el.attacks.tampering(**told), test.replace("-", "_"))(alpha).power)


@pytest.mark.parametrize(
    ("alpha", "share", "theta", "m"),
    [
        (0.1, 0.5, 1.0, 2.29243166956),
        (0.05, 0.9, 1.0, 4.60266705577),
        (0.1, 0.9, 1.5, 4.64545049529),
        (0.05, 0.3, 1.0, 2.47788873029),
    ],
)
def test_references_two_sided(alpha: float, share: float, theta: float, m: float) -> None:
    given = {"scale": 2.0, "stretch": theta, "fpr": alpha, "power": share, "test": "two-sided"}
    assert el.attacks.hidden_bias(**given) == pytest.approx(2 * m, abs=1e-10)  # type: ignore[arg-type]
    assert el.attacks.detected_bias(**given) == pytest.approx(2 * m, abs=1e-10)  # type: ignore[arg-type]


def test_references_gaussian() -> None:
    """Theorem 6 at σ = 1."""
    for alpha, share, mu in ((0.05, 0.8, 2.48647486052), (0.1, 0.5, 1.28155156554)):
        assert el.attacks.hidden_bias(sigma=1.0, fpr=alpha, power=share) == pytest.approx(mu, abs=6e-12)
        assert el.attacks.detected_bias(sigma=1.0, fpr=alpha, power=share, test="one-sided") == pytest.approx(
            mu, abs=6e-12
        )


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("theta", [1.0, 1.0001, 1.5, 3.0, 1e3])
@pytest.mark.parametrize("test", TESTS)
def test_both_directions_keep_their_promise(test: str, theta: float, noise: str) -> None:
    told: dict[str, Any] = {"scale" if noise == "laplace" else "sigma": 3.0, "stretch": theta}
    for alpha, share in RATES:
        if power(test, alpha, bias=0.0, **told) > share:
            with pytest.raises(el.NoSolutionError, match="stays hidden") as caught:
                el.attacks.hidden_bias(fpr=alpha, power=share, test=test, **told)
            assert caught.value.floor > share
            assert el.attacks.detected_bias(fpr=alpha, power=share, test=test, **told) == 0.0
            continue
        low = el.attacks.hidden_bias(fpr=alpha, power=share, test=test, **told)
        high = el.attacks.detected_bias(fpr=alpha, power=share, test=test, **told)
        assert low == pytest.approx(high, rel=1e-9)
        for sign in (1, -1):
            assert power(test, alpha, bias=sign * low, **told) <= share
            assert power(test, alpha, bias=sign * high, **told) >= share
        if high:
            assert power(test, alpha, bias=high * 1.001, **told) > share
            assert power(test, alpha, bias=low * 0.999, **told) < share


def test_the_optimal_test_hides_least() -> None:
    for theta, noise in product((1.0, 1.5, 3.0), ("laplace", "gaussian")):
        sizes = [boundary(test, noise, theta, 0.05, 0.9) for test in TESTS]
        assert sizes[2] <= min(sizes[:2]) * (1 + 1e-12)


def test_ends() -> None:
    for test, noise, theta in product(TESTS, ("laplace", "gaussian"), (1.0, 2.0)):
        told: dict[str, Any] = {"test": test, "stretch": theta, "scale" if noise == "laplace" else "sigma": 1.0}
        assert el.attacks.hidden_bias(fpr=0.1, power=1.0, **told) == math.inf  # nothing is noticed with certainty
        assert el.attacks.detected_bias(fpr=0.1, power=1.0, **told) == math.inf
        assert el.attacks.hidden_bias(fpr=0.0, power=0.0, **told) == math.inf
        assert el.attacks.detected_bias(fpr=0.0, power=0.5, **told) == math.inf
        assert el.attacks.detected_bias(fpr=1.0, power=1.0, **told) == 0.0
        assert el.attacks.hidden_bias(fpr=1.0, power=1.0, **told) == math.inf
        with pytest.raises(el.NoSolutionError):
            el.attacks.hidden_bias(fpr=1.0, power=0.5, **told)
    assert el.attacks.hidden_bias(scale=1.0, fpr=0.05, power=0.05) == pytest.approx(0.0, abs=1e-12)
    assert el.attacks.hidden_bias(scale=1.0, fpr=0.1, power=0.1 + 1e-12) == pytest.approx(1e-11, rel=1e-3)


def test_as_the_assessment_asks() -> None:
    """One call: how large a false record goes unnoticed every other time, at 5 false alarms of 100."""
    assert el.attacks.hidden_bias(epsilon=0.5, sensitivity=10.0) == pytest.approx(20 * math.log(10), rel=1e-14)
    sigma = el.gaussian(epsilon=0.5, delta=1e-6, sensitivity=10.0).parameters["sigma"]
    assert el.attacks.hidden_bias(epsilon=0.5, delta=1e-6, sensitivity=10.0) == pytest.approx(
        1.6448536269514722 * sigma, rel=1e-12
    )


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    "told",
    [
        {},
        {"stretch": 1.5},
        {"noise": "gaussian", "delta": 1e-5},
        {"noise": "gaussian", "delta": 1e-5, "stretch": 2.0},
        {"noise": "gaussian", "delta": 1e-5, "calibration": "classical", "bias": 40.0},
    ],
)
def test_epsilon_to_detect(test: str, told: dict[str, Any]) -> None:
    told = {"bias": -3.0, "sensitivity": 2.0, **told}
    epsilon = el.attacks.epsilon_to_detect(fpr=0.05, power=0.9, test=test, **told)
    assert power(test, 0.05, epsilon=epsilon, **told) >= 0.9
    assert power(test, 0.05, epsilon=epsilon * 0.999, **told) < 0.9


def test_epsilon_to_detect_ends() -> None:
    assert el.attacks.epsilon_to_detect(bias=3.0) == pytest.approx(-math.log(4 * 0.05 * 0.1) / 3, rel=1e-14)
    assert el.attacks.epsilon_to_detect(bias=1.0, stretch=1e6, power=0.5) == 0.0  # the stretch alone gives it away
    assert el.attacks.epsilon_to_detect(bias=0.0, stretch=1e6, power=0.5) == 0.0
    assert el.attacks.epsilon_to_detect(bias=1.0, fpr=1.0, power=1.0) == 0.0
    cases: list[dict[str, Any]] = [
        {"bias": 0.0},
        {"bias": 1.0, "power": 1.0},
        {"bias": 1.0, "fpr": 0.0},
        {"bias": 1e-9},
    ]
    for impossible in cases:
        with pytest.raises(el.NoSolutionError, match="no epsilon up to"):
            el.attacks.epsilon_to_detect(**impossible)
    with pytest.raises(el.NoSolutionError):
        el.attacks.epsilon_to_detect(bias=1.0, noise="gaussian", delta=1e-5, calibration="classical")
    with pytest.raises(el.InputError, match="delta"):
        el.attacks.epsilon_to_detect(bias=1.0, noise="gaussian")


@given(positive(1e-6, 1e3), st.floats(1e-6, 0.4), st.floats(0.45, 0.999))
def test_more_privacy_hides_more(epsilon: float, alpha: float, share: float) -> None:
    here = el.attacks.hidden_bias(epsilon=epsilon, fpr=alpha, power=share)
    assert el.attacks.hidden_bias(epsilon=epsilon / 2, fpr=alpha, power=share) == pytest.approx(2 * here, rel=1e-12)


@pytest.mark.parametrize(
    ("parameter", "given", "method"),
    [
        ("epsilon", {"bias": 3.0}, "closed form"),
        ("epsilon", {"bias": 3.0, "stretch": 1.2}, "search"),
        ("epsilon", {"bias": 3.0, "noise": "gaussian", "delta": 1e-5}, "search"),
        ("sigma", {"bias": -3.0}, "closed form"),
        ("scale", {"bias": -3.0, "stretch": 1.2}, "search"),
        ("bias", {"epsilon": 0.01, "sensitivity": 5.0}, "search"),
        ("bias", {"sigma": 20.0, "stretch": 1.1}, "search"),
    ],
)
def test_through_choose(parameter: str, given: dict[str, Any], method: str) -> None:
    choice = el.choose(el.attacks.tampering, parameter, at_most=0.5, reading="roc", fpr=0.05, given=given)
    assert choice.reading <= 0.5
    assert choice.reading == pytest.approx(0.5, abs=1e-9)
    assert choice.method == method
    if parameter == "bias":
        assert choice.value == pytest.approx(el.attacks.hidden_bias(**given), rel=1e-9)
    assert str(choice)


def test_choose_says_when_nothing_is_hidden() -> None:
    with pytest.raises(el.NoSolutionError) as caught:
        el.choose(
            el.attacks.tampering, "bias", at_most=0.3, reading="roc", fpr=0.05, given={"epsilon": 1.0, "stretch": 10.0}
        )
    assert caught.value.floor == pytest.approx(el.attacks.tampering(epsilon=1.0, bias=0.0, stretch=10.0).roc(0.05))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 1.0, "power": 1.5}, "power is 1.5"),
        ({"epsilon": 1.0, "fpr": math.nan}, "fpr contains NaN"),
        ({"epsilon": 1.0, "test": "best"}, "test is 'best'"),
        ({"epsilon": 1.0, "stretch": 0.0}, "stretch is 0"),
        ({"epsilon": 1.0, "fpr": [0.1, 0.2]}, "single number"),
        ({}, "exactly one of"),
        ({"epsilon": [1.0, 2.0], "sensitivity": [1.0, 2.0, 3.0]}, "shapes"),
    ],
)
def test_bad_input(arguments: dict[str, Any], words: str) -> None:
    for ask in (el.attacks.hidden_bias, el.attacks.detected_bias):
        with pytest.raises(el.InputError, match=words):
            ask(**arguments)


def test_arrays_of_noise() -> None:
    got = el.attacks.hidden_bias(epsilon=[0.1, 1.0], sensitivity=2.0)
    assert got.tolist() == [el.attacks.hidden_bias(epsilon=e, sensitivity=2.0) for e in (0.1, 1.0)]
    assert el.attacks.detected_bias(scale=[1.0, 2.0], power=1.0).tolist() == [math.inf, math.inf]


def test_two_sided_closed_form_in_the_far_tail() -> None:
    """m* puts the power back where it was asked for, in logarithms, from 1e-300 up."""
    for alpha, share, theta in product((1e-300, 1e-12, 0.2), (1e-9, 0.1, 0.4999, 0.5001, 1 - 1e-12), (1.0, 7.0)):
        m = boundary("two-sided", "laplace", theta, alpha, share)
        if m == 0:
            continue
        k = -math.log(alpha) / theta
        got = (
            0.5 * (np.exp(m / theta - k) + np.exp(-m / theta - k))
            if m <= k * theta
            else 1 - np.exp(-m / theta) * np.sinh(k)
        )
        if m <= k * theta or k < 600:
            assert got == pytest.approx(share, rel=1e-11)


def test_a_small_miss_keeps_its_digits() -> None:
    """The root of Φ((k−m)/θ) − Φ((−k−m)/θ) = 1 − power, by mpmath at 35 digits."""
    m = el.attacks.detected_bias(sigma=3.0, stretch=4.0, fpr=0.9, power=1 - 1e-12, test="two-sided")
    assert m / 3 == pytest.approx(27.685372125936944, rel=1e-13)


def test_a_wide_stretch_hides_a_large_bias() -> None:
    """1e4 units of the noise are only ten of one stretched a thousand times: m* is above it, and ε with it."""
    given: dict[str, Any] = {"stretch": 1e3, "fpr": 0.4, "power": 1 - 1e-12, "test": "two-sided"}
    m = 1e3 * math.log(math.sinh(math.log(1 / 0.4) / 1e3) / (1 - given["power"]))
    assert el.attacks.epsilon_to_detect(bias=2.0, sensitivity=0.7, **given) == pytest.approx(0.35 * m, rel=1e-9)


def test_the_smallest_double_is_a_size() -> None:
    assert el.attacks.detected_bias(sigma=1.0, fpr=5e-324, power=0.5, test="two-sided") == pytest.approx(
        38.47, abs=0.02
    )


def test_certainty_is_said_to_be_out_of_reach() -> None:
    with pytest.raises(el.NoSolutionError, match="falls short of it by a little"):
        el.attacks.epsilon_to_detect(bias=3.0, power=1.0)
