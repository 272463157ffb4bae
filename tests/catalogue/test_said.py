"""From text to arguments: the values, and the parameter each error carries whatever its words are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from epsilens.catalogue import said
from epsilens.catalogue.parameters import PARAMETERS
from epsilens.catalogue.readings import find as find_reading
from epsilens.catalogue.said import conditions_given
from epsilens.errors import InputError


def test_what_is_given_becomes_what_the_library_takes() -> None:
    options = {"epsilon": "1e-3", "scores0": "1,2", "scores1": "1, 3", "monotonic": True, "neighbours": "replace"}
    assert said.arguments_given(said.find("exponential"), {**options, "prior": "0.2", "sensitivity": None}) == {
        "epsilon": 1e-3,
        "scores0": [1.0, 2.0],
        "scores1": [1.0, 3.0],
        "monotonic": True,
        "neighbours": "replace",
    }
    assert said.arguments_given(said.find_entry("rdp"), {"orders": "2", "rho": "1"}) == {"orders": [2.0], "rho": 1.0}
    assert said.arguments_given(said.find_entry("rdp"), {"orders": "2,8", "rho": "1,2"})["rho"] == [1.0, 2.0]
    assert said.arguments_given(said.find("laplace"), {"epsilon": "1", "monotonic": False}) == {"epsilon": 1.0}


def test_readings_go_by_their_own_names() -> None:
    options = {"for_epsilon": "1", "for_delta": "0.1", "prior": "0.2", "epsilon": "3", "order": "2"}
    assert said.readings_for_choose(options) == {"epsilon": 1.0, "delta": 0.1, "prior": 0.2, "order": 2.0}
    explained = said.readings_for_explain({k: v for k, v in options.items() if k != "order"})
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
    assert said.wanted_parameter(said.find(mechanism), None, dict.fromkeys(given, "1")) == wanted
    assert said.wanted_parameter(said.find(mechanism), "for-delta", {}) == "for_delta"


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: said.find("cauchy"), "mechanism"),
        (lambda: said.find("zcdp"), "mechanism"),
        (lambda: said.find_entry(""), "mechanism"),
        (lambda: find_reading("joy"), "reading"),
        (lambda: find_reading("tradeoff"), "reading"),
        (lambda: find_reading("roc").arguments({}), "fpr"),
        (lambda: find_reading("auc").arguments({"fpr": 0.1}), "reading"),
        (lambda: find_reading("precision").arguments({}), "reading"),
        (lambda: find_reading("precision").arguments({"alpha": 0.1, "recall": 0.1}), "reading"),
        (lambda: said.arguments_given(said.find("dpsgd"), {"sigma": "1", "rate": "1"}), "steps"),
        (lambda: said.arguments_given(said.find("laplace"), {"epsilon": "x"}), "epsilon"),
        (lambda: said.arguments_given(said.find("laplace"), {"epsilon": "x"}, spelled=said.plain), "epsilon"),
        (lambda: said.readings_for_choose({"for_epsilon": "x"}), "for_epsilon"),
        (lambda: said.split_limit("success"), "at_most"),
        (lambda: said.split_limit("success=high"), "at_most"),
        (lambda: said.split_limit("success=high", "--limit", "limit"), "limit"),
        (lambda: said.whole("--max-rows", "1.5", "max_rows"), "max_rows"),
        (lambda: said.whole("--max-rows", "inf", "max_rows"), "max_rows"),
        (lambda: said.numbers("--bounds", "0,b", "bounds"), "bounds"),
        (lambda: conditions_given({"records": "many"}), "records"),
    ],
)
def test_an_error_carries_its_parameter(call: Callable[[], Any], parameter: str) -> None:
    with pytest.raises(InputError) as wrong:
        call()
    assert wrong.value.parameter == parameter


def test_a_name_nearly_right_is_suggested() -> None:
    with pytest.raises(InputError, match=r"no mechanism 'gausian' \(did you mean gaussian\?\): give one of laplace"):
        said.find("gausian")
    with pytest.raises(InputError, match=r"no reading 'sucess' \(did you mean success\?\): give one of success"):
        find_reading("sucess")
    with pytest.raises(InputError, match=r"no mechanism 'cauchy': give one of"):
        said.find("cauchy")


def test_help_spells_other_parameters_as_they_are_given() -> None:
    assert PARAMETERS["truth"].explained() == "Probability of a true answer, instead of epsilon"
    assert all("{" not in p.explained() for p in PARAMETERS.values())
