"""Bounds of a fixed number of runs, against scipy.stats and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, binom, norm

from epsilens.auditing.bounds import GuessCounts, clopper_pearson, largest_epsilon, p_value
from epsilens.auditing.result import claim_of


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 5), (5, 5), (75, 100), (1999, 2000)])
def test_clopper_pearson(k: int, n: int) -> None:
    low = clopper_pearson(k, n, 0.05)
    assert low == pytest.approx(beta.ppf(0.05, k, n - k + 1) if k else 0.0, abs=1e-12)
    if k:
        assert binom.sf(k - 1, n, low) == pytest.approx(0.05)


def test_the_precision_bound_is_the_test_of_a_pure_claim() -> None:
    counts = GuessCounts(800, 1000, 2000)
    low = counts.epsilon(0.05)
    assert p_value(counts, claim_of(low), 0.05) == pytest.approx(0.05, rel=1e-6)
    assert p_value(counts, claim_of(1.0)) == pytest.approx(binom.sf(799, 1000, expit(1.0)))
    assert GuessCounts(0, 0, 10).epsilon(0.05) == 0
    assert p_value(GuessCounts(0, 0, 10), claim_of(1.0)) == 1


def test_the_largest_bound_of_so_many_runs() -> None:
    for n in (10, 1000, 10**6):
        assert largest_epsilon(n, 0.05) == pytest.approx(GuessCounts(n, n, n).epsilon(0.05), rel=1e-6)
    assert largest_epsilon(0, 0.05) == 0


@pytest.mark.parametrize("said", ["mu=1", "epsilon=1, delta=0.05"])
def test_false_alarms_of_the_line_test(said: str) -> None:
    """Truth = claim, 2,000 audits of 1,000 runs with a good event (1.4% were seen elsewhere): within the level."""
    rng, games, n, claim = np.random.default_rng(4), 2_000, 1000, claim_of(said)
    if said == "mu=1":
        cut = 0.5  # beyond the middle by half a deviation
        hit, miss = norm.sf(cut - 0.5), norm.sf(cut + 0.5)
    else:
        q = math.e / (1 + math.e)
        hit, miss = 0.05 + 0.95 * q, 0.95 * (1 - q)
    spoken = rng.binomial(n, hit + miss, games)
    right = rng.binomial(spoken, hit / (hit + miss))
    alarms = np.mean(
        [p_value(GuessCounts(int(k), int(r), n), claim) <= 0.05 for k, r in zip(right, spoken, strict=True)]
    )
    assert alarms <= 0.05


def test_an_attacker_who_always_speaks_pays_nothing_for_the_rate() -> None:
    """Right 760 of 1000 times against 1-GDP: P[Bin(1000, Φ(½)) ≥ 760], to the lines' step; else a tenth of α more."""
    claim, exact = claim_of("mu=1"), float(binom.sf(759, 1000, norm.cdf(0.5)))
    assert p_value(GuessCounts(760, 1000, 1000, always=True), claim) == pytest.approx(exact, rel=1e-6)
    assert p_value(GuessCounts(760, 1000, 1000), claim) > 0.005
