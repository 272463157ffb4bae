"""The readings by name: their floors are what pure noise reads, and they grow with risk."""

from __future__ import annotations

from typing import Any

import pytest

import epsilens as el
from epsilens.catalogue.readings import READINGS, find_reading

CASES: list[tuple[str, dict[str, Any]]] = [
    ("success", {"prior": 0.2}),
    ("advantage", {}),
    ("auc", {}),
    ("fbeta", {"beta": 2.0, "prior": 0.3}),
    ("posterior", {"prior": 0.3}),
    ("precision", {"alpha": 0.2, "prior": 0.3}),
    ("precision", {"recall": 0.2, "prior": 0.3}),
    ("recall", {"alpha": 0.2}),
    ("roc", {"fpr": 0.2}),
    ("attack_success", {"baseline": 0.2}),
    ("delta", {"epsilon": 0.5}),
    ("epsilon", {"delta": 0.01}),
    ("psi", {}),
    ("mu", {"level": 1e-3}),
    ("renyi", {"order": 3.0}),
    ("kl", {}),
    ("chernoff", {}),
]


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_the_floor_is_what_pure_noise_reads(name: str, arguments: dict[str, Any]) -> None:
    floor = READINGS[name].floor(**READINGS[name].arguments(arguments))
    for nothing in (
        el.mechanisms.pure(epsilon=0.0),
        el.laplace(epsilon=1.0, shift=0.0),
        el.gaussian(psi=1.0, shift=0.0),
    ):
        assert getattr(nothing, name)(**arguments) == pytest.approx(floor, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_every_reading_grows_with_risk(name: str, arguments: dict[str, Any]) -> None:
    builders: dict[str, list[Any]] = {"epsilon": [el.laplace, el.mechanisms.pure], "psi": [el.gaussian]}
    for parameter, build in ((p, b) for p, several in builders.items() for b in several):
        values = [getattr(build(**{parameter: x}), name)(**arguments) for x in (0.1, 0.5, 2.0, 8.0)]
        assert values == sorted(values)
        assert values[-1] <= READINGS[name].ceiling


def test_every_reading_is_here() -> None:
    assert {name for name, _ in CASES} == set(READINGS)
    with pytest.raises(el.InputError, match="roc"):
        find_reading("tradeoff")
    with pytest.raises(el.InputError, match=r"there is no reading 'x'.*bracket can also be of tradeoff"):
        find_reading("x")
    assert el.mechanisms.pure(epsilon=0.0).bracket("tradeoff", alpha=0.25) == (0.75, 0.75)
