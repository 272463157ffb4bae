"""A list of atoms read in arrays: inside the room it leaves, and silent where doubles are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilens.laws.composition.elementary_bounds import atom_bounds
from epsilens.laws.composition.step import Atoms
from epsilens.laws.finite import FiniteStep
from epsilens.laws.normal import NormalStep

# H0 has (2/3, 1/3) and H1 (1/4, 3/4): losses log 3/8 and log 9/4
STEP = FiniteStep(Atoms(np.log([3 / 8, 9 / 4]), np.log([1 / 4, 3 / 4])))


@pytest.mark.parametrize(
    ("kind", "at", "truth", "back"),
    [
        ("delta", 0.0, math.log(5 / 12), math.log(5 / 12)),
        ("delta", math.log(2), math.log(1 / 12), 0.0),
        ("roc", math.log(1 / 6), math.log(3 / 8), math.log(4 / 9)),
        ("roc", math.log(2 / 3), math.log(7 / 8), 0.0),
        ("inverse_roc", math.log(3 / 8), math.log(1 / 6), 0.0),
        ("epsilon", math.log(1 / 12), math.log(2), 0.0),
    ],
)
def test_by_hand(kind: str, at: float, truth: float, back: float) -> None:
    ahead, behind = atom_bounds(STEP, False), atom_bounds(STEP, True)
    assert ahead is not None
    assert behind is not None
    low, high = getattr(ahead, kind)(np.asarray([at]))
    assert low[0] <= truth <= high[0]
    assert high[0] - low[0] < 1e-10
    if back:
        low, high = getattr(behind, kind)(np.asarray([at]))
        assert low[0] <= back <= high[0]


def test_where_nothing_is_said() -> None:
    found = atom_bounds(STEP, False)
    assert found is not None
    deep = np.asarray([-800.0])
    assert found.roc(deep)[0][0] == -math.inf
    assert found.inverse_roc(deep)[0][0] == -math.inf
    assert found.epsilon(deep)[1][0] == math.inf
    assert found.delta(np.asarray([5.0]))[0][0] == -math.inf
    assert atom_bounds(NormalStep(1.0), False) is None
