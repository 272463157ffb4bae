"""Brackets of the library are certified; moved past the truth by more than their width, they are not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import epsilens as el
from epsilens_checker import __main__
from epsilens_checker.__main__ import judge
from epsilens_checker.certificate import Certificate, release
from epsilens_checker.readings import enclose

CASES: dict[str, tuple[el.Experiment, list[dict[str, Any]]]] = {
    "normal": (el.gaussian(sigma=1.5), [{"mechanism": "gaussian", "sigma": "1.5"}]),
    "Laplace": (el.laplace(scale=5.0).repeat(20), [{"mechanism": "laplace", "scale": "5", "count": "20"}]),
    "geometric": (
        el.mechanisms.geometric(scale=2.0, sensitivity=3).repeat(30),
        [{"mechanism": "geometric", "scale": "2", "shift": "3", "count": "30"}],
    ),
    "randomized response": (
        el.mechanisms.randomized_response(epsilon=0.5, k=4).repeat(40),
        [{"mechanism": "randomized_response", "epsilon": "0.5", "categories": "4", "count": "40"}],
    ),
    "training": (
        el.dpsgd(sigma=1, rate=0.01, steps=1000),
        [{"mechanism": "gaussian", "sigma": "1", "rate": "0.01", "count": "1000"}],
    ),
    "training, group": (
        el.dpsgd(sigma=2, rate=0.02, steps=500, people=2),
        [{"mechanism": "gaussian", "sigma": "2", "rate": "0.02", "count": "500", "people": "2"}],
    ),
    "mixed": (
        el.compose(el.dpsgd(sigma=1, rate=0.01, steps=1000), el.laplace(scale=5.0).repeat(3)),
        [
            {"mechanism": "gaussian", "sigma": "1", "rate": "0.01", "count": "1000"},
            {"mechanism": "laplace", "scale": "5", "count": "3"},
        ],
    ),
}
READINGS: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("epsilon", "epsilon", {"delta": 1e-6}),
    ("delta", "delta", {"epsilon": 0.5}),
    ("advantage", "advantage", {}),
    ("fnr", "tradeoff", {"fpr": 0.01}),
)


@pytest.mark.always(6)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("reading", "ours", "arguments"), READINGS)
def test_a_bracket_is_certified_and_a_tampered_one_refuted(
    name: str, reading: str, ours: str, arguments: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment, words = CASES[name]
    made = [release(one, doubles=True) for one in words]
    at = Fraction(next(iter(arguments.values()), 0.0))
    relation = "remove" if reading == "fnr" else "both"
    low, high = (Fraction(float(end)) for end in experiment.bracket(ours, **arguments))
    value = enclose(made, relation, reading, at)
    monkeypatch.setattr(__main__, "enclose", lambda *_: value)
    moved = 2 * (high - low) + high / 10**12

    def verdict(lower: Fraction, upper: Fraction) -> str:
        return judge(Certificate(made, relation, reading, at, lower, upper))[0]

    assert verdict(low, high) == "certified"
    assert verdict(low + moved, high + moved) == "refuted"
    assert verdict(low - moved, high - moved) == "refuted"
