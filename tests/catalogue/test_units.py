"""What people type in units of their own."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import epsilens as el
from epsilens.catalogue.mechanisms import MECHANISMS
from epsilens.catalogue.units import in_units
from epsilens.errors import InputError


def test_a_delta_where_the_noise_has_none_is_read_at() -> None:
    training = {"sigma": "1.1", "n": "60000", "batch": "256", "epochs": "15", "delta": "1e-6"}
    assert in_units(MECHANISMS["dpsgd"], training)["for_delta"] == "1e-6"
    assert in_units(MECHANISMS["gaussian"], {"sigma": "1", "delta": "1e-5"}) == {"sigma": "1", "for_delta": "1e-5"}
    calibrated = {"epsilon": "1", "delta": "1e-5"}
    assert in_units(MECHANISMS["gaussian"], calibrated) == calibrated
    assert in_units(MECHANISMS["gaussian"], {"delta": "1e-5"}, reading="epsilon") == {"for_delta": "1e-5"}
    both = {"sigma": "1", "delta": "1e-5", "for_delta": "1e-6"}
    assert in_units(MECHANISMS["gaussian"], both) == both


def test_lists_are_one_training_on_a_schedule() -> None:
    said = {"sigma": "1.1, 1.0", "n": "1000", "batch": "10", "epochs": "5,5"}
    assert in_units(MECHANISMS["dpsgd"], said) == {"n": "1000", "batch": "10", "schedule": "sigma=1.1,1.0 epochs=5,5"}
    with pytest.raises(InputError, match="--epochs is 15 beside 2 numbers of --sigma: give as many"):
        in_units(MECHANISMS["dpsgd"], {**said, "epochs": "15"})
    with pytest.raises(InputError, match="--schedule is given beside a list of sigma"):
        in_units(MECHANISMS["dpsgd"], {**said, "schedule": "steps=5,5"})


def test_lists_of_what_has_no_schedule_stay() -> None:
    said = {"shifts": "0,1", "weights": "0.5,0.5", "sigma": "1"}
    assert in_units(MECHANISMS["mixture"], said) == said


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
