"""Shares as people write them: one reading of 55%, 55 of 100 and 0.55, wherever they are written."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import epsilens as el
from epsilens.catalogue import said
from epsilens.errors import InputError
from epsilens.plan.file import read_release
from epsilens.shares import share_of, unclear

WRITTEN = ["55%", "55 %", "55.0%", "55 percent", "55 of 100", "55 in 100", "55 out of 100", "55/100", "5,500 of 10,000"]


@pytest.mark.parametrize("text", WRITTEN)
def test_one_number(text: str) -> None:
    assert share_of(text) == 0.55
    assert said.number("--prior", text, "prior") == 0.55
    assert said.split_limit(f"success={text}") == ("success", 0.55)
    assert el.laplace(epsilon=1.0).success(text) == el.laplace(epsilon=1.0).success(0.55)


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_count_is_rounded_once(part: int, whole: int) -> None:
    assert share_of(f"{part:,} of {whole}") == float(Fraction(part, whole))
    assert share_of(f"{part}%") == float(Fraction(part, 100))


@pytest.mark.parametrize(
    "text", ["", "0.55", "55", "%", "of", "5 of", "1 of 0", "-5%", "1e2%", "5%%", "nan%", "5,5 of 10", "٥٥%x", "1" * 99]
)
def test_what_is_no_such_share(text: str) -> None:
    assert share_of(text) is None


def test_a_bare_count_is_refused() -> None:
    for text in ("55", "2", "100"):
        with pytest.raises(InputError, match=f"{text}%, {text} of 100 or"):
            said.number("--prior", text, "prior")
    assert said.number("--prior", "1", "prior") == 1.0
    assert said.number("--delta", "1e-6", "delta") == 1e-6
    assert unclear(101.0) == unclear(1.0) == unclear(-5.0) == unclear(float("nan")) == ""


def test_what_is_no_share_takes_no_percentage() -> None:
    for name in ("epsilon", "sigma", "order"):
        with pytest.raises(InputError, match="give a number"):
            said.number("--x", "55%", name)
    with pytest.raises(InputError, match="give a number"):
        said.split_limit("kl=5%")
    assert said.split_limit("epsilon=3") == ("epsilon", 3.0)


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


def test_choosing_in_python() -> None:
    plain = el.choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01)
    assert el.choose(el.gaussian, "sigma", at_most="5%", reading="roc", fpr="1 of 100") == plain
    with pytest.raises(InputError, match="at_most is '5%', a str"):
        el.choose(el.gaussian, "sigma", at_most="5%", reading="kl")
