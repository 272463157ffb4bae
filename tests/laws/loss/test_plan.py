"""How far out a plan looks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_ndtr

from epsilens.laws.closed.normal import NormalStep
from epsilens.laws.loss import lattice, moments
from epsilens.laws.loss.law import Loss
from epsilens.laws.loss.plan import DEEPEST, levels


def test_nothing_is_followed_below_what_doubles_hold() -> None:
    assert levels(-1e9, 1e-3, 10**6, False) == levels(DEEPEST, 1e-3, 10**6, False)
    top, bottom = levels(-300.0, 1e-3, 1, False)
    assert -300 + math.log(1e-5) - 4 <= top <= -300 + math.log(1e-5)
    assert math.log(1e-7) - 4 <= bottom <= math.log(1e-7)


def test_what_is_certain_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # a shift of 30, a million times: 3e4 in all, of which a mistake has probability Φ(−1.5e4)
    law = Loss([(NormalStep(30.0), 10**6)])
    made, before = [0], moments.panels

    def counted(*given: object) -> object:
        left, width, owner = before(*given)  # type: ignore[arg-type]
        made.append(left.size)
        return left, width, owner

    monkeypatch.setattr(lattice, "panels", counted)
    for side in (law, law.other_side()):
        assert float(side.roc(np.asarray(0.5))) == pytest.approx(1, abs=4e-15)
        assert float(side.tradeoff(np.asarray(1e-300))) == 0 == math.exp(float(log_ndtr(-15000.0)))
    assert max(made) < 100_000
