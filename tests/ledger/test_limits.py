"""Limits: what they allow, what they promise, what is no limit."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.special import ndtri

import epsilens as el
from epsilens.ledger.budget import Charge, Limits, normalized_name


@pytest.mark.parametrize("success", [0.51, 0.65, 0.9])
def test_a_success_is_a_limit_on_psi(success: float) -> None:
    limits = Limits.of(success=success)
    assert limits.psi == pytest.approx(2 * ndtri(success), rel=1e-9)
    assert limits.experiments()["psi"].success() == pytest.approx(success, rel=1e-9)


def test_delta_takes_its_share_of_a_success() -> None:
    limits = Limits.of(success=0.65, delta=0.1)
    # δ + (1 − δ)(2Φ(ψ/2) − 1) = 0.3
    assert limits.psi == pytest.approx(2 * ndtri((1 + 0.2 / 0.9) / 2), rel=1e-9)
    assert limits.experiments()["psi"].success() == pytest.approx(0.65, rel=1e-6)


@pytest.mark.parametrize(
    ("limits", "spent", "currency"),
    [
        ({"epsilon": 1.0}, Charge(1.0, 0, 9.0, 9.0), None),
        ({"epsilon": 1.0}, Charge(1.0 + 1e-9), "epsilon"),
        ({"epsilon": 1.0}, Charge(1.0, 1e-9), "delta"),
        ({"epsilon": 1.0, "delta": 1e-6}, Charge(1.0, 1e-6), None),
        ({"epsilon": 1.0, "delta": 1e-6}, Charge(1.0, 2e-6), "delta"),
        ({"psi": 1.0, "delta": 1e-6}, Charge(math.inf, 1.0, 1.0, math.inf, 1e-6), None),
        ({"psi": 1.0}, Charge(math.inf, 0, 1.0, 0, 1e-9), "delta"),
        ({"rho": 0.5}, Charge(0, 0, 0, math.inf), "rho"),
        ({"epsilon": 2.0, "psi": 1.0}, Charge(1.0, 0, 1.1), "psi"),
        ({"epsilon": 0.3}, Charge.total([Charge(0.1)] * 3), None),  # 0.1 + 0.1 + 0.1 > 0.3 in doubles
        ({"psi": 1.0}, Charge(psi=math.nan), "psi"),
    ],
)
def test_what_is_exceeded(limits: dict[str, float], spent: Charge, currency: str | None) -> None:
    found = Limits.of(**limits).exceeded(spent)
    assert (found and found.currency) == currency


def test_every_limit_has_its_experiment() -> None:
    made = Limits.of(epsilon=1.0, psi=0.5, rho=0.1, delta=1e-3).experiments()
    assert made["epsilon"].success() == pytest.approx(1e-3 + 0.999 / (1 + math.exp(-1)), rel=1e-6)
    assert made["psi"].delta(20.0) == pytest.approx(1e-3, rel=1e-3)  # what gives all away
    assert made["rho"].success() >= el.mechanisms.from_zcdp(0.1).success()
    for name, most in {"epsilon": 500.0, "psi": 500.0, "rho": 500.0}.items():
        assert Limits.of(**{name: most}).experiments()[name].success() <= 1


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({}, ""),
        ({"delta": 1e-6}, ""),
        ({"success": 0.5}, "success"),
        ({"success": 1.0}, "success"),
        ({"success": 1.5}, "success"),
        ({"success": 0.5004, "delta": 0.001}, "success"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": [1.0, 2.0]}, "epsilon"),
        ({"psi": 0}, "psi"),
        ({"psi": 1e9}, "psi"),
        ({"rho": -1e-9}, "rho"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta"),
        ({"epsilon": 1.0, "partition": "x" * 300}, "partition"),
        ({"epsilon": 1.0, "partition": "a\nb"}, "partition"),
    ],
)
def test_what_is_no_limit(given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(el.InputError) as wrong:
        Limits.of(**given)
    assert wrong.value.parameter == parameter


def test_looser_and_higher() -> None:
    old, new = Limits(epsilon=1.0, psi=0.5), Limits(epsilon=0.5, psi=0.7, delta=1e-6)
    assert new.looser(old) == Limits(epsilon=1.0, psi=0.7, delta=1e-6)
    assert new.rises_above(old)
    assert not Limits(epsilon=0.5, psi=0.5).rises_above(old)
    assert Limits(epsilon=0.5).rises_above(old)  # ψ is free now
    assert not Limits(epsilon=1.0, psi=0.5, rho=0.1).rises_above(old)
    assert Limits.from_dict(new.to_dict()) == new


@pytest.mark.parametrize("bad", [{"psi": -1.0}, {"epsilon": "x"}, {"delta": float("inf")}, {"rho": float("nan")}])
def test_limits_that_nobody_wrote(bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Limits.from_dict({**Limits(epsilon=1.0).to_dict(), **bad})


def test_one_spelling_of_a_name() -> None:
    assert normalized_name("people", "  Zo\u0065\u0308 ") == "Zo\u00eb"
    with pytest.raises(el.InputError, match="cannot be printed"):
        normalized_name("people", "a\ud800")
