"""Shares as people write them: one reading of 55%, 55 of 100 and 0.55, wherever they are written."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import epsilens as el
from epsilens.catalogue import parsing
from epsilens.catalogue.parameters import PARAMETERS, Input
from epsilens.catalogue.parsing import parse_series
from epsilens.errors import InputError
from epsilens.plan.file import read_release
from epsilens.shares import SHARES, parse_share, share_suggestion

WRITTEN = ["55%", "55 %", "55.0%", "55 percent", "55 of 100", "55 in 100", "55 out of 100", "55/100", "5,500 of 10,000"]


@pytest.mark.parametrize("text", WRITTEN)
def test_one_number(text: str) -> None:
    assert parse_share(text) == 0.55
    assert parsing.parse_number("--prior", text, "prior") == 0.55
    assert parsing.split_limit(f"success={text}") == ("success", 0.55)
    assert el.laplace(epsilon=1.0).success(text) == el.laplace(epsilon=1.0).success(0.55)


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_count_is_rounded_once(part: int, whole: int) -> None:
    assert parse_share(f"{part:,} of {whole}") == float(Fraction(part, whole))
    assert parse_share(f"{part}%") == float(Fraction(part, 100))


@pytest.mark.parametrize(
    "text", ["", "0.55", "55", "%", "of", "5 of", "1 of 0", "-5%", "1e2%", "5%%", "nan%", "5,5 of 10", "٥٥%x", "1" * 99]
)
def test_what_is_no_such_share(text: str) -> None:
    assert parse_share(text) is None


def test_a_bare_count_is_refused() -> None:
    for text in ("55", "2", "100"):
        with pytest.raises(InputError, match=f"{text}%, {text} of 100 or"):
            parsing.parse_number("--prior", text, "prior")
    assert parsing.parse_number("--prior", "1", "prior") == 1.0
    assert parsing.parse_number("--delta", "1e-6", "delta") == 1e-6
    assert (
        share_suggestion(101.0)
        == share_suggestion(1.0)
        == share_suggestion(-5.0)
        == share_suggestion(float("nan"))
        == ""
    )


def test_what_is_no_share_takes_no_percentage() -> None:
    for name in ("epsilon", "sigma", "order"):
        with pytest.raises(InputError, match="give a number"):
            parsing.parse_number("--x", "55%", name)
    with pytest.raises(InputError, match="give a number"):
        parsing.split_limit("kl=5%")
    assert parsing.split_limit("epsilon=3") == ("epsilon", 3.0)


PLAN: dict[str, Any] = {
    "data": {"table": "epsilens:rand-hie"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1},
}  # fmt: skip


def test_a_plan() -> None:
    adversary = {"prior": "30%", "belief": "1 in 4", "baseline": "1/1000"}
    limits = {"success": "55 of 100", "error": "15%", "roc": {"at_most": "5%", "fpr": "1%"}, "epsilon": 2}
    written = read_release({**PLAN, "adversary": adversary, "limits": limits})
    plain = {"success": 0.55, "error": 0.15, "roc": {"at_most": 0.05, "fpr": 0.01}, "epsilon": 2}
    assert written == read_release({
        **PLAN, "adversary": {"prior": 0.3, "belief": 0.25, "baseline": 0.001}, "limits": plain,
    })  # fmt: skip
    with pytest.raises(InputError, match=r"adversary\.prior: it is 30, which is no share: write 30%, 30 of 100 or 0.3"):
        read_release({**PLAN, "adversary": {"prior": 30}})
    with pytest.raises(InputError, match="success is 55: give a share"):
        read_release({**PLAN, "limits": {"success": 55}})


#: Calls with a share in each, as {55%}.
CALLS = """
el.mechanisms.approximate(epsilon=1.0, delta={1%}).to_dict()
el.mechanisms.banded(sigma=1.0, rate={1%}, steps=10, bands=2).to_dict()
el.choose(el.dpsgd, "sigma", at_most={55%}, given={"rate": {1%}, "steps": 2}).value
el.choose(el.laplace, "epsilon", at_most=[{55%}, {60%}]).value.tolist()
el.choose(el.laplace, "epsilon", at_most={65%}, prior={40%}).value
el.claim(epsilon=3.0, delta={0.1%}, rate={1%}, steps=2).to_dict()
el.mechanisms.clt(sigma=1.0, rate={1%}, steps=100, delta={0.1%}).to_dict()
el.compare([el.laplace(epsilon=1.0)] * 2, prior={30%}).to_dict()
el.mechanisms.count_mean_sketch(epsilon=1.0, collision={1%}).to_dict()
el.attacks.detect(5.0, 3.0, epsilon=1.0, fpr={5%})
el.attacks.differencing(epsilon=1.0, noise="gaussian", delta={1%}).to_dict()
el.dpsgd(sigma=1.0, rate={1%}, steps=10).to_dict()
el.dpsgd(sigma=1.0, schedule={"rate": [{1%}, {2%}], "steps": [2, 3]}).to_dict()
el.attacks.epsilon_to_detect(bias=2.0, fpr={5%}, power={80%}, noise="gaussian", delta={1%})
el.attacks.identify(n=120, value_range=(0, 1), sensitivity=2, at_most={25%}).epsilon
el.laplace(epsilon=1.0).chart("roc", prior={30%}, fpr={1%}).spec
el.laplace(epsilon=1.0).frame(prior={30%}).to_dict()
el.laplace(epsilon=1.0).roc([{30%}, 0.2]).tolist()
el.mechanisms.matrix(np.eye(3), sigma=1.0, rate={1%}).to_dict()
el.attacks.observed(fpr={10%}, tpr={60%}, delta={1%}).to_dict()
el.mechanisms.randomized_response(truth={75%}).to_dict()
el.mechanisms.rappor(f={50%}, p={25%}, q={75%}).to_dict()
el.scan(pd.DataFrame({"a": [1, 2, 2]}), ["a"], epsilon=1.0, at_most={60%}).to_dict()
el.mechanisms.staircase(epsilon=1.0, gamma={30%}).to_dict()
el.subsample(el.laplace(epsilon=1.0), rate={1%}).to_dict()
el.sweep(el.mechanisms.randomized_response, truth=[{75%}, 0.8], prior={30%}).to_dict()
el.attacks.tampering(epsilon=1.0, noise="gaussian", delta={1%}, bias=1.0).to_dict()
"""


@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_python_reads_a_share_wherever_one_is_asked_for(call: str) -> None:
    known = {"el": el, "np": np, "pd": pd}
    plain = re.sub(r"\{([\d.]+)%\}", lambda m: repr(float(Fraction(m[1]) / 100)), call)
    for write in (lambda m: f"'{m[1]}%'", lambda m: f"'{m[1]} of 100'"):
        assert repr(eval(re.sub(r"\{([\d.]+)%\}", write, call), known)) == repr(eval(plain, known))


def test_the_catalogues_probabilities_are_shares() -> None:
    assert {name for name, p in PARAMETERS.items() if p.kind is Input.PROBABILITY} <= SHARES


def test_a_number_that_is_no_share_takes_no_percentage_in_python() -> None:
    for build in (el.laplace, el.mechanisms.pure, el.mechanisms.geometric):
        with pytest.raises(InputError, match="a str: give a number"):
            build(epsilon="55%")
    with pytest.raises(InputError, match="give a number"):
        el.dpsgd(sigma="55%", rate=0.1, steps=2)
    with pytest.raises(InputError, match=r"prior is \['10%', 'x'\]"):
        el.laplace(epsilon=1.0).success(["10%", "x"])


def test_a_series_of_shares() -> None:
    assert parse_series("prior=10%:50%:3") == ("prior", [0.1, 0.3, 0.5])
    assert parse_series("success=55 of 100,0.6") == ("success", [0.55, 0.6])
    with pytest.raises(InputError, match="--sweep --epsilon is '10%': give a number"):
        parse_series("epsilon=10%:50%:3")


def test_choosing_in_python() -> None:
    plain = el.choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01)
    assert el.choose(el.gaussian, "sigma", at_most="5%", reading="roc", fpr="1 of 100") == plain
    with pytest.raises(InputError, match="at_most is '5%', a str"):
        el.choose(el.gaussian, "sigma", at_most="5%", reading="kl")
