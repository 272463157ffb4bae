"""Settings and series in one word: what they mean, and one sentence for each that means nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilens.catalogue.mechanisms import MECHANISMS
from epsilens.catalogue.settings import MOST_VALUES, setting_said, values_said
from epsilens.errors import InputError


@pytest.mark.parametrize(("low", "high", "many"), [(0.1, 10.0, 50), (-3.0, 7.0, 11), (2.0, 1.0, 4), (1e-12, 700.0, 9)])
def test_series_are_those_of_numpy(low: float, high: float, many: int) -> None:
    assert values_said(f"epsilon={low}:{high}:{many}")[1] == pytest.approx(np.linspace(low, high, many).tolist())
    if low > 0:
        found = values_said(f"--epsilon={low}:{high}:{many}:log")[1]
        assert found == pytest.approx(np.geomspace(low, high, many).tolist(), rel=1e-12)
        assert (found[0], found[-1]) == (low, high)


def test_names_and_lists() -> None:
    assert values_said("for-delta=1e-6,1e-5") == ("for_delta", [1e-6, 1e-5])
    assert values_said("sigma=1")[1] == [1.0]
    assert len(values_said(f"sigma=1:2:{MOST_VALUES}")[1]) == MOST_VALUES


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
        values_said(text)
    assert len(str(refused.value)) < 250
    assert refused.value.parameter == "sweep"


def test_every_mechanism_can_be_said() -> None:
    for entry in MECHANISMS.values():
        first = entry.ways[0] if entry.ways else entry.needs
        text = f"{entry.spoken}:" + ",".join(f"{name}=1" for name in dict.fromkeys((*first, *entry.needs)))
        try:
            found, _ = setting_said(text)
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
        setting_said(text)
    assert says in str(refused.value)
    assert math.isfinite(len(str(refused.value)))
