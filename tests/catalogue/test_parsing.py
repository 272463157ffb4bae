"""From text to arguments: the values, and the parameter each error carries whatever its words are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import epsilens as el
from epsilens.catalogue import parsing
from epsilens.catalogue.mechanisms import MECHANISMS
from epsilens.catalogue.parameters import PARAMETERS
from epsilens.catalogue.parsing import MOST_VALUES, condition_arguments, normalise_options, parse_series, parse_setting
from epsilens.catalogue.readings import find_reading
from epsilens.errors import InputError


def test_what_is_given_becomes_what_the_library_takes() -> None:
    options = {"epsilon": "1e-3", "scores0": "1,2", "scores1": "1, 3", "monotonic": True, "neighbours": "replace"}
    assert parsing.builder_arguments(
        parsing.find_mechanism("exponential"), {**options, "prior": "0.2", "sensitivity": None}
    ) == {
        "epsilon": 1e-3,
        "scores0": [1.0, 2.0],
        "scores1": [1.0, 3.0],
        "monotonic": True,
        "neighbours": "replace",
    }
    assert parsing.builder_arguments(parsing.find_entry("rdp"), {"orders": "2", "rho": "1"}) == {
        "orders": [2.0],
        "rho": 1.0,
    }
    assert parsing.builder_arguments(parsing.find_entry("rdp"), {"orders": "2,8", "rho": "1,2"})["rho"] == [1.0, 2.0]
    assert parsing.builder_arguments(parsing.find_mechanism("laplace"), {"epsilon": "1", "monotonic": False}) == {
        "epsilon": 1.0
    }


def test_readings_go_by_their_own_names() -> None:
    options = {"for_epsilon": "1", "for_delta": "0.1", "prior": "0.2", "epsilon": "3", "order": "2"}
    assert parsing.choice_arguments(options) == {"epsilon": 1.0, "delta": 0.1, "prior": 0.2, "order": 2.0}
    explained = parsing.explanation_arguments({k: v for k, v in options.items() if k != "order"})
    assert explained == {"epsilon_for_delta": 1.0, "delta": 0.1, "prior": 0.2}


@pytest.mark.parametrize(
    ("mechanism", "given", "wanted"),
    [
        ("laplace", [], "epsilon"),
        ("laplace", ["scale"], "epsilon"),
        ("gaussian", [], "sigma"),
        ("gaussian", ["epsilon"], "sigma"),
        ("gaussian", ["delta"], "epsilon"),
        ("gaussian", ["epsilon", "delta"], "epsilon"),
        ("approximate", [], "epsilon"),
        ("approximate", ["delta"], "epsilon"),
        ("approximate", ["epsilon"], "delta"),
        ("approximate", ["epsilon", "delta"], "epsilon"),
        ("dpsgd", ["rate", "steps"], "sigma"),
    ],
)
def test_what_is_chosen_unless_said(mechanism: str, given: list[str], wanted: str) -> None:
    assert parsing.target_parameter(parsing.find_mechanism(mechanism), None, dict.fromkeys(given, "1")) == wanted
    assert parsing.target_parameter(parsing.find_mechanism(mechanism), "for-delta", {}) == "for_delta"


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: parsing.find_mechanism("cauchy"), "mechanism"),
        (lambda: parsing.find_mechanism("zcdp"), "mechanism"),
        (lambda: parsing.find_entry(""), "mechanism"),
        (lambda: find_reading("joy"), "reading"),
        (lambda: find_reading("tradeoff"), "reading"),
        (lambda: find_reading("roc").arguments({}), "fpr"),
        (lambda: find_reading("auc").arguments({"fpr": 0.1}), "reading"),
        (lambda: find_reading("precision").arguments({}), "reading"),
        (lambda: find_reading("precision").arguments({"fpr": 0.1, "recall": 0.1}), "reading"),
        (lambda: parsing.builder_arguments(parsing.find_mechanism("dpsgd"), {"sigma": "1", "rate": "1"}), "steps"),
        (lambda: parsing.builder_arguments(parsing.find_mechanism("laplace"), {"epsilon": "x"}), "epsilon"),
        (
            lambda: parsing.builder_arguments(
                parsing.find_mechanism("laplace"), {"epsilon": "x"}, spelled=parsing.plain_name
            ),
            "epsilon",
        ),
        (lambda: parsing.choice_arguments({"for_epsilon": "x"}), "for_epsilon"),
        (lambda: parsing.split_limit("success"), "at_most"),
        (lambda: parsing.split_limit("success=high"), "at_most"),
        (lambda: parsing.split_limit("success=high", "--limit", "limit"), "limit"),
        (lambda: parsing.parse_integer("--max-rows", "1.5", "max_rows"), "max_rows"),
        (lambda: parsing.parse_integer("--max-rows", "inf", "max_rows"), "max_rows"),
        (lambda: parsing.parse_numbers("--bounds", "0,b", "bounds"), "bounds"),
        (lambda: condition_arguments({"records": "many"}), "records"),
    ],
)
def test_an_error_carries_its_parameter(call: Callable[[], Any], parameter: str) -> None:
    with pytest.raises(InputError) as wrong:
        call()
    assert wrong.value.parameter == parameter


def test_a_name_nearly_right_is_suggested() -> None:
    with pytest.raises(InputError, match=r"no mechanism 'gausian' \(did you mean gaussian\?\): give one of laplace"):
        parsing.find_mechanism("gausian")
    with pytest.raises(InputError, match=r"no reading 'sucess' \(did you mean success\?\): give one of success"):
        find_reading("sucess")
    with pytest.raises(InputError, match=r"no mechanism 'cauchy': give one of"):
        parsing.find_mechanism("cauchy")


def test_help_spells_other_parameters_as_they_are_given() -> None:
    assert PARAMETERS["truth"].explained() == "Probability of a true answer, instead of epsilon"
    assert all("{" not in p.explained() for p in PARAMETERS.values())


@pytest.mark.parametrize(("low", "high", "many"), [(0.1, 10.0, 50), (-3.0, 7.0, 11), (2.0, 1.0, 4), (1e-12, 700.0, 9)])
def test_series_are_those_of_numpy(low: float, high: float, many: int) -> None:
    assert parse_series(f"epsilon={low}:{high}:{many}")[1] == pytest.approx(np.linspace(low, high, many).tolist())
    if low > 0:
        found = parse_series(f"--epsilon={low}:{high}:{many}:log")[1]
        assert found == pytest.approx(np.geomspace(low, high, many).tolist(), rel=1e-12)
        assert (found[0], found[-1]) == (low, high)


def test_names_and_lists() -> None:
    assert parse_series("for-delta=1e-6,1e-5") == ("for_delta", [1e-6, 1e-5])
    assert parse_series("sigma=1")[1] == [1.0]
    assert len(parse_series(f"sigma=1:2:{MOST_VALUES}")[1]) == MOST_VALUES


@pytest.mark.parametrize(
    "text",
    ["", "=", "epsilon", "epsilon=", "=1", "epsilon=a", "epsilon=1,,2", "epsilon=1:2", "epsilon=1:2:3:4",
     "epsilon=1:2:x",
     "epsilon=1:2:1", "epsilon=1:2:2.5", "epsilon=1:2:-3", "epsilon=1:2:nan", "epsilon=1:inf:3", "epsilon=nan:1:3",
     "epsilon=0:1:3:log", "epsilon=-1:1:3:log", f"epsilon=1:2:{MOST_VALUES + 1}", "epsilon=1:2:1e300", "e" * 10_000,
     "epsilon=" + "1," * MOST_VALUES + "1"],
)  # fmt: skip
def test_series_that_are_none(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_series(text)
    assert len(str(refused.value)) < 250
    assert refused.value.parameter == "sweep"


def test_every_mechanism_can_be_said() -> None:
    for entry in MECHANISMS.values():
        first = entry.ways[0] if entry.ways else entry.needs
        text = f"{entry.spoken}:" + ",".join(f"{name}=1" for name in dict.fromkeys((*first, *entry.needs)))
        try:
            found, _ = parse_setting(text)
        except InputError as error:
            assert "needs" in str(error), text  # what it needs besides is asked for  # noqa: PT017
            continue
        assert found.takes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("laplac:epsilon=1", "did you mean laplace?"),
        ("laplace:epsilom=1", "did you mean epsilon?"),
        ("laplace:epsilon=1,epsilon=2", "twice"),
        ("laplace:1", "give parameters such as epsilon=1"),
        ("epsilon=1", "begin with a mechanism"),
        ("laplace:epsilon=x", "epsilon is 'x': give a number"),
        ("gaussian:psi=1,monotonic", "has no 'monotonic'"),
        ("differencing:epsilon=1", "the command difference is for it"),
        ("a" * 10_000, "there is no mechanism"),
    ],
)
def test_settings_that_are_none(text: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_setting(text)
    assert says in str(refused.value)
    assert math.isfinite(len(str(refused.value)))


def test_a_delta_where_the_noise_has_none_is_read_at() -> None:
    training = {"sigma": "1.1", "n": "60000", "batch": "256", "epochs": "15", "delta": "1e-6"}
    assert normalise_options(MECHANISMS["dpsgd"], training)["for_delta"] == "1e-6"
    assert normalise_options(MECHANISMS["gaussian"], {"sigma": "1", "delta": "1e-5"}) == {
        "sigma": "1",
        "for_delta": "1e-5",
    }
    calibrated = {"epsilon": "1", "delta": "1e-5"}
    assert normalise_options(MECHANISMS["gaussian"], calibrated) == calibrated
    assert normalise_options(MECHANISMS["gaussian"], {"delta": "1e-5"}, reading="epsilon") == {"for_delta": "1e-5"}
    both = {"sigma": "1", "delta": "1e-5", "for_delta": "1e-6"}
    assert normalise_options(MECHANISMS["gaussian"], both) == both


def test_lists_are_one_training_on_a_schedule() -> None:
    said = {"sigma": "1.1, 1.0", "n": "1000", "batch": "10", "epochs": "5,5"}
    assert normalise_options(MECHANISMS["dpsgd"], said) == {
        "n": "1000",
        "batch": "10",
        "schedule": "sigma=1.1,1.0 epochs=5,5",
    }
    with pytest.raises(InputError, match="--epochs is 15 beside 2 numbers of --sigma: give as many"):
        normalise_options(MECHANISMS["dpsgd"], {**said, "epochs": "15"})
    with pytest.raises(InputError, match="--schedule is given beside a list of sigma"):
        normalise_options(MECHANISMS["dpsgd"], {**said, "schedule": "steps=5,5"})


def test_lists_of_what_has_no_schedule_stay() -> None:
    said = {"shifts": "0,1", "weights": "0.5,0.5", "sigma": "1"}
    assert normalise_options(MECHANISMS["mixture"], said) == said


def test_noise_in_other_units_than_clipping_norms() -> None:
    """Unsampled, T steps of noise std on gradients of norm clip have μ = √T·clip/std."""
    e = el.dpsgd(std=3.0, clip=0.5, rate=1.0, steps=4)
    assert e.psi() == pytest.approx(math.sqrt(4) * 0.5 / 3.0, rel=1e-12)
    assert e == el.dpsgd(sigma=6.0, rate=1.0, steps=4)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"sigma": 1.0, "clip": 0.5}, "clip changes nothing"),
        ({"std": 1.0}, "std is given without clip"),
        ({"sigma": 1.0, "std": 1.0, "clip": 1.0}, "sigma and std are both given"),
        ({"std": -1.0, "clip": 1.0}, "std is -1"),
    ]
    for given, said in refused:
        with pytest.raises(InputError, match=said):
            el.dpsgd(rate=1.0, steps=4, **given)


def test_choosing_the_noise_itself() -> None:
    """ε = 3 at δ = 1e-5 without sampling needs μ of Balle and Wang; 4 steps of clip 0.5 then need std = √4·0.5/μ."""

    def over(mu: float) -> float:
        return float(norm.cdf(mu / 2 - 3 / mu) - math.exp(3 + norm.logcdf(-mu / 2 - 3 / mu)) - 1e-5)

    mu = brentq(over, 0.1, 3, xtol=1e-14)
    made = el.choose(
        el.dpsgd, "std", at_most=3.0, reading="epsilon", delta=1e-5, given={"clip": 0.5, "rate": 1.0, "steps": 4}
    )
    assert made.value == pytest.approx(math.sqrt(4) * 0.5 / mu, rel=1e-6)
