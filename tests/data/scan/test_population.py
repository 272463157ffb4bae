"""Matches between a sample and its population: the estimate against simulated samples whose population is known."""

from __future__ import annotations

import numpy as np
import pytest

from epsilens.data.scan.result import right_matches
from epsilens.data.scan.scan import scan
from epsilens.errors import InputError


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_the_estimate_against_known_populations(fraction: float, spread: float) -> None:
    """Populations of unequal combinations; each person is in the sample independently."""
    draw = np.random.default_rng(7)
    people = 1 + draw.negative_binomial(spread, 0.2, 20_000)
    true, estimated = [], []
    for _ in range(40):
        sampled = draw.binomial(people, fraction)
        alone = sampled == 1
        true.append(alone.sum() / people[alone].sum())
        estimated.append(right_matches(fraction, int(alone.sum()), int((sampled == 2).sum())) or 0.0)
    gaps = np.subtract(estimated, true)
    # no bias beyond three standard errors of the 40 samples and the second order, of relative size 1/1000 here
    assert abs(gaps.mean()) < 3 * gaps.std() / np.sqrt(40) + 1e-3 * np.mean(true)


def test_a_scan_counts_its_own_combinations() -> None:
    table = {"a": [1, 2, 3, 3, 4, 4, 5, 5, 5]}
    assert scan(table, ["a"], sampling_fraction=0.5).right_matches == pytest.approx(0.5 * 2 / (0.5 * 2 + 2 * 0.5 * 2))
    assert scan(table, ["a"], sampling_fraction=1).right_matches == 1
    assert scan(table, ["a"]).right_matches is None
    assert scan({"a": [1, 1]}, ["a"], sampling_fraction=0.5).right_matches is None


@pytest.mark.parametrize("fraction", [0, -0.1, 1.5, float("nan")])
def test_a_fraction_is_a_share(fraction: float) -> None:
    with pytest.raises(InputError, match="sampling_fraction") as raised:
        scan({"a": [1]}, ["a"], sampling_fraction=fraction)
    assert raised.value.parameter == "sampling_fraction"
