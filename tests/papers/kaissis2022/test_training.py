"""Corollary 9 beside the proven ε: reference sheet, A.3 (dp-accounting on a grid of 1e-4)."""

from __future__ import annotations

import pytest

from epsilens.papers.kaissis2022 import training

# (rate, σ, steps): ε by (28), ε by the Poisson limit or None, ε proven by dp-accounting
REFERENCE = {
    (0.01, 1.0, 1000): (2.175807, 1.617712, 1.828244),
    (0.01, 1.0, 10_000): (8.257004, 6.007077, 6.187745),
    (0.01, 0.8, 1000): (3.520231, 2.509518, 3.141018),
    (0.01, 1.0, 10): (0.174343, None, 0.379902),
    (0.01, 1.0, 100): (0.611447, None, 0.718037),
    (0.01, 0.5, 100): (4.527519, None, 6.476210),
    (0.001, 0.5, 1000): (1.238512, None, 3.238881),
    (256 / 60_000, 1.1, 14_062): (3.086708, 2.324269, 2.381686),
}


def test_the_limit_theorem_beside_what_is_proven() -> None:
    records = training.item().records
    assert len(records) == len(REFERENCE)
    for record in records:
        limit, poisson, proven = REFERENCE[record["rate"], record["sigma"], record["steps"]]
        assert record["epsilon_28"] == pytest.approx(limit, abs=2e-6)
        if poisson is not None:
            assert record["epsilon_poisson_clt"] == pytest.approx(poisson, abs=2e-6)
        assert record["low"] <= proven
        assert record["high"] == pytest.approx(proven, rel=1e-4)
        assert record["28 is safe"] == (limit >= proven)
