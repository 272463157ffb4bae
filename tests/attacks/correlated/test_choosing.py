"""What a choice for correlated records is asked: one limit and one value of each argument, in any of their ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from epsilens import correlated
from epsilens.errors import InputError

MODELS: dict[str, Any] = {
    "normal": correlated.normal(np.eye(3) * 0.5 + 0.5),
    "table": correlated.table([[0.3, 0.2], [0.2, 0.3]]),
    "chain": correlated.chain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], length=4),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@each_model
def test_a_limit_is_a_share_in_every_way_of_writing_it(model: Any) -> None:
    number = model.choose(reading="success", at_most=0.6).value
    assert model.choose(reading="success", at_most="60%").value == number
    assert model.choose(reading="success", at_most="60 of 100").value == number


@each_model
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"at_most": [0.6, 0.7], "reading": "success"}, "at_most has shape"),
        ({"at_most": 1.2, "reading": "success"}, "never above 1"),
        ({"at_most": 0.6, "reading": "epsilon", "delta": [1e-5, 1e-6]}, "delta has shape"),
        ({"at_most": 0.6, "reading": "epsilon", "delta": "x"}, "delta is 'x'"),
        ({"at_most": 0.6, "reading": "epsilon", "delta": None}, "delta is None"),
        ({"at_most": 0.6, "reading": "roc", "fpr": np.array([0.1, 0.2])}, "fpr has shape"),
    ],
)
def test_several_at_once_are_refused(model: Any, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        model.choose(**asked)


def test_known_records_are_listed() -> None:
    for known in ("12", 0.5, np.array(0.5)):
        with pytest.raises(InputError, match="give a list of records"):
            MODELS["normal"].leakage(0, known=known)


def test_a_record_of_the_worst_is_named_by_its_number() -> None:
    worst = MODELS["normal"].worst(scale=1.0)
    assert worst.name_of(1) == "record 1"
    for odd in ([0.5], np.array(["a"]), -1, -(2**70)):
        with pytest.raises(InputError, match="record"):
            worst.name_of(odd)
