"""Bands on both error rates: their level by enumeration and simulation, ties, and the δ that follows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, norm, poisson

from epsilens.auditing.bounds import band_coverage, local_level, rate_bands, worst_delta


def test_two_scores_by_hand() -> None:
    """P[U₍₁₎ ≤ c₁, U₍₂₎ ≤ c₂] = c₂² − (c₂ − c₁)²."""
    for level in (0.01, 0.2):
        first, second = 1 - math.sqrt(level), math.sqrt(1 - level)
        assert band_coverage(2, level) == pytest.approx(second**2 - (second - first) ** 2, rel=1e-12)


@pytest.mark.parametrize("n", [3, 40, 150])
def test_the_level_is_attained(n: int) -> None:
    """40,000 sets of uniform numbers: all bounds hold in 1 − α of them, within three standard errors."""
    rng, i = np.random.default_rng(1), np.arange(1, n + 1)
    level = local_level(n, 0.05)
    limits = beta.ppf(1 - level, i, n + 1 - i)
    fails = float((np.sort(rng.random((40_000, n)), axis=1) > limits).any(axis=1).mean())
    assert fails == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 40_000) + 0.0005)


def test_the_level_lies_between_one_bound_and_all() -> None:
    for n in (300, 5_000, 100_000):
        level = local_level(n, 0.025)
        assert 0.025 / n < level < 0.025 / 10
        assert 0.975 <= band_coverage(n, level) <= 0.97525


@pytest.mark.parametrize("n", [30, 400])
def test_the_bands_hold_at_all_cuts_at_once_with_ties(n: int) -> None:
    """Poisson scores, 400 pairs of samples: at most 5%, but for luck, have a cut whose rates exceed the bands."""
    rng, broken, cuts = np.random.default_rng(5), 0, np.arange(0, 9)
    false, missed = poisson.sf(cuts - 1, 2), poisson.cdf(cuts - 1, 3)  # of "score ≥ cut"
    for _ in range(400):
        a, b = rng.poisson(2, n).astype(float), rng.poisson(3, n).astype(float)
        above, left = rate_bands(a, b, 0.05)
        values = np.unique(np.concatenate((a, b)))
        at = np.searchsorted(values, cuts)
        seen = at < values.size
        broken += bool(np.any((false[seen] > above[at[seen]]) | (missed[seen] > left[at[seen]])))
    assert broken <= 0.05 * 400 + 2 * math.sqrt(400 * 0.05 * 0.95)


def test_delta_is_bounded_at_every_epsilon_at_once() -> None:
    """Normal noise of μ = 1, 200 pairs of samples: the truth is above all bounds in at least 95% of them."""
    rng, eps = np.random.default_rng(6), np.linspace(0, 3, 13)
    truth = norm.cdf(0.5 - eps) - np.exp(eps) * norm.cdf(-0.5 - eps)
    found = np.array([worst_delta(rng.normal(0, 1, 2000), rng.normal(1, 1, 2000), eps, 0.05) for _ in range(200)])
    assert (found > truth).any(axis=1).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)
    assert found[:, 0].mean() > truth[0] - 0.08
    # Massart's band, as wide everywhere, would show about this much at ε = 1
    usual = truth[4] - (1 + math.e) * math.sqrt(math.log(2 / 0.05) / (2 * 2000))
    assert found[:, 4].mean() > 3 * usual
    assert worst_delta(np.zeros(0), np.ones(3), eps, 0.05).tolist() == [0.0] * 13
