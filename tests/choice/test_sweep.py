"""Many values at once: what each would read alone, in the shape they were given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilens as el

TRAINING: dict[str, Any] = {"rate": 0.01, "steps": 10_000}


def test_a_training() -> None:
    """σ = 1 is known from the reference sheet."""
    low, high = el.sweep(el.dpsgd, "sigma", [1.0, 2.0, 4.0], reading="epsilon", given=TRAINING, delta=1e-5)
    assert low[0] <= 6.187712390 <= high[0] <= 6.18775
    assert (low <= high).all()
    assert (np.diff(high) < 0).all()
    alone = el.dpsgd(sigma=4.0, **TRAINING).bracket("epsilon", delta=1e-5)
    assert (low[2], high[2]) == alone


def test_arrays_are_read_at_once() -> None:
    values = np.array([[0.1, 1.0], [3.0, 9.0]])
    low, high = el.sweep(el.laplace, "epsilon", values, reading="success")
    assert low.shape == values.shape
    assert high == pytest.approx(1 - np.exp(-values / 2) / 2, rel=1e-14)
    assert np.array_equal(low, high)


def test_single_numbers_one_after_the_other() -> None:
    _, high = el.sweep(el.randomized_response, "epsilon", [0.5, 2], reading="success", prior=0.5)
    assert high == pytest.approx([math.exp(e) / (1 + math.exp(e)) for e in (0.5, 2.0)], rel=1e-13)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sigma", [], {}), "values has shape"),
        (("sigma", 1.0, {}), "values has shape"),
        (("sigma", [1.0, math.nan], {}), "NaN"),
        (("sigma", [1.0, -1.0], {}), "above 0"),
        (("sigma", [1.0], {"sigma": 2.0}), "both"),
        (("nothing", [1.0], {}), "no parameter 'nothing'"),
    ],
)
def test_what_is_refused(arguments: tuple[str, object, dict[str, float]], said: str) -> None:
    parameter, values, given = arguments
    with pytest.raises(el.InputError, match=said):
        el.sweep(el.gaussian, parameter, values, given=given)  # type: ignore[arg-type]
    with pytest.raises(el.InputError, match="given is 3"):
        el.sweep(el.gaussian, "sigma", [1.0], given=3)  # type: ignore[arg-type]
