"""Cells and events of a score: against counts taken one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from epsilens.auditing.outcomes import MOST_CELLS, Feature, Reader, Statistic, score_attack

VALUE = Statistic(Feature.VALUE, (0,), lambda outcomes: outcomes.values[:, 0])
KINDS: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "continuous": lambda rng, b: b + rng.normal(0, 1, b.size),
    "integers": lambda rng, b: b + rng.poisson(2, b.size).astype(float),
    "two atoms": lambda rng, b: np.where(rng.random(b.size) < 0.7, b, 1 - b).astype(float),
    "one atom of many": lambda rng, b: np.where(rng.random(b.size) < 0.9, 0.0, rng.normal(b, 1, b.size)),
    "gaps": lambda rng, b: np.where(rng.random(b.size) < 0.2, np.nan, b + rng.normal(0, 1, b.size)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("runs", [12, 30, 700])
def test_counts_of_cells_and_events(kind: str, runs: int) -> None:
    rng = np.random.default_rng(1)
    bits = rng.random(runs) < 0.5
    x = KINDS[kind](rng, bits)
    outcomes = Reader().read(x)
    attack = score_attack(VALUE, outcomes, bits)
    assert attack is not None
    assert attack.past.sum() == runs
    assert attack.past[MOST_CELLS - 1].sum() == np.isnan(x).sum()
    assert np.array_equal(attack.past, attack.count(outcomes, bits))
    right, wrong = attack.guesses()
    spoken = 0
    for event in np.flatnonzero(np.abs(attack.names).any(axis=1)).tolist():
        low, high, below, above = attack.tails(event)
        up, down = (x >= high) & (above is not None), (x <= low) & (below is not None)
        assert not (up & down).any()
        hits = (up & (bits == bool(above))).sum() + (down & (bits == bool(below))).sum()
        assert (right[event], wrong[event]) == (hits, (up | down).sum() - hits)
        assert hits >= wrong[event]  # on the runs it was learnt from
        spoken += 1
    assert spoken >= 3
    assert attack.nested.max() == 1.0


@pytest.mark.parametrize(
    ("zero", "one", "cut"),
    [
        ([0.1, -1.3, 2.0], [40.0, 38.5], 20.25),  # half-way
        ([50.0, 47.5], [2.5, 2.0], 25.0),  # the other way round
        ([0.0, 1.0], [4.0, 9.0], 3.0),  # whole numbers are cut at one
        ([0.0, 0.0], [1.0, 1.0], 1.0),
        ([-np.inf, 0.5], [np.inf, np.inf], np.inf),
        ([-np.inf, -np.inf], [np.inf, np.inf], np.inf),
    ],
)
def test_worlds_that_never_overlapped_are_cut_half_way(zero: list[float], one: list[float], cut: float) -> None:
    bits = np.arange(len(zero) + len(one)) >= len(zero)
    attack = score_attack(VALUE, Reader().read(np.array(zero + one)), bits)
    assert attack is not None
    assert cut in attack.edges.tolist()
    right, wrong = attack.guesses()
    assert (right[wrong == 0]).max() == bits.size


def test_what_never_varies_is_no_attack() -> None:
    bits = np.arange(10) % 2 == 0
    assert score_attack(VALUE, Reader().read(np.ones(10)), bits) is None
    assert score_attack(VALUE, Reader().read(np.full(10, np.nan)), bits) is None
