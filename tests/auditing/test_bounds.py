"""Bounds of a fixed number of runs, against scipy.stats and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, binom, norm, poisson

from epsilens.auditing.bounds import Counts, clopper_pearson, deviation, largest_epsilon, p_value, rate_bands
from epsilens.auditing.claims import claim_of


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 5), (5, 5), (75, 100), (1999, 2000)])
def test_clopper_pearson(k: int, n: int) -> None:
    low = clopper_pearson(k, n, 0.05)
    assert low == pytest.approx(beta.ppf(0.05, k, n - k + 1) if k else 0.0, abs=1e-12)
    if k:
        assert binom.sf(k - 1, n, low) == pytest.approx(0.05)


def test_the_precision_bound_is_the_test_of_a_pure_claim() -> None:
    counts = Counts(800, 1000, 2000)
    low = counts.epsilon(0.05)
    assert p_value(counts, claim_of(low), 0.05) == pytest.approx(0.05, rel=1e-6)
    assert p_value(counts, claim_of(1.0)) == pytest.approx(binom.sf(799, 1000, expit(1.0)))
    assert Counts(0, 0, 10).epsilon(0.05) == 0
    assert p_value(Counts(0, 0, 10), claim_of(1.0)) == 1


def test_the_largest_bound_of_so_many_runs() -> None:
    for n in (10, 1000, 10**6):
        assert largest_epsilon(n, 0.05) == pytest.approx(Counts(n, n, n).epsilon(0.05), rel=1e-6)
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
    alarms = np.mean([p_value(Counts(int(k), int(r), n), claim) <= 0.05 for k, r in zip(right, spoken, strict=True)])
    assert alarms <= 0.05


def test_the_bands_hold_at_all_cuts_at_once() -> None:
    """Integers, with ties, in 400 pairs of samples: at most 5% of them have a cut whose rates exceed the bands."""
    rng, broken, cuts = np.random.default_rng(5), 0, np.arange(0, 9)
    false, missed = poisson.sf(cuts - 1, 2), poisson.cdf(cuts - 1, 3)  # of "score ≥ cut"
    for _ in range(400):
        a, b = rng.poisson(2, 300).astype(float), rng.poisson(3, 300).astype(float)
        above, left = rate_bands(a, b, 0.05)
        # a true point lies above the band where fewer are missed at as many false alarms, by the band's own account
        room = deviation(300, 0.025)
        own = np.array([[(a >= t).mean() + room, (b < t).mean() + room] for t in cuts]).clip(max=1.0)
        assert all(np.any(np.isclose(above, x) & np.isclose(left, y)) for x, y in own[1:6])
        broken += bool(np.any((false > own[:, 0]) | (missed > own[:, 1])))
    assert broken <= 0.05 * 400
