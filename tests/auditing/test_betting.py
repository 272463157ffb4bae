"""Bets against a claim: the formula by mpmath, fairness by enumeration, false alarms and power by simulation."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from epsilens.auditing.betting import Bets, Plan, first_kept, log_capital, log_precision_capital, refuted
from epsilens.auditing.claims import claim_of, gdp_lines, line


@pytest.mark.parametrize(("s", "f", "q"), [(10, 0, 0.75), (9, 1, 0.731), (300, 100, 0.7), (5, 40, 0.6), (60, 2, 0.95)])
def test_the_capital_is_the_truncated_mixture(s: int, f: int, q: float) -> None:
    with mpmath.workdps(40):
        weight = mpmath.quad(lambda p: 1 / mpmath.sqrt(p * (1 - p)), [q, (1 + q) / 2, 1])
        grown = mpmath.quad(
            lambda p: (p / q) ** s * ((1 - p) / (1 - q)) ** f / mpmath.sqrt(p * (1 - p)),
            [q, q + (1 - q) / 8, (1 + q) / 2, 1],
        )
        truth = float(mpmath.log(grown / weight))
    assert float(log_precision_capital(s, f, q)) == pytest.approx(truth, abs=1e-6)


def test_a_fair_capital_does_not_grow() -> None:
    """Σ over all outcomes of their probability times the capital is 1 at the boundary, and less inside."""
    n, q = 40, expit(1.0)
    k = np.arange(n + 1)
    capital = np.exp(log_precision_capital(k, n - k, q))
    assert float((binom.pmf(k, n, q) * capital).sum()) == pytest.approx(1.0, abs=1e-9)
    assert float((binom.pmf(k, n, 0.6) * capital).sum()) < 1.0


def test_a_bet_on_a_line_is_fair_for_the_worst_pair() -> None:
    """(ε, δ) exactly attained: P₁ = (δ, (1−δ)q, (1−δ)(1−q), 0) against its mirror image; three runs, all outcomes."""
    eps, delta = 1.0, 0.2
    q = math.e / (1 + math.e)
    one = np.array([delta, (1 - delta) * q, (1 - delta) * (1 - q), 0.0])
    zero = one[::-1]
    assert (one - math.exp(eps) * zero).clip(0).sum() == pytest.approx(delta)
    claim = line(eps, delta)
    # the event names the second world on the first two outcomes and the first on the others: it always speaks
    right = 0.5 * (one[0] + one[1]) + 0.5 * (zero[2] + zero[3])
    mean = 0.0
    for hits in product((0, 1), repeat=3):
        bets = Bets()
        chance = 1.0
        for hit in hits:
            bets.add(Plan(1.0), hit, 1 - hit, 0)
            chance *= right if hit else 1 - right
        mean += chance * math.exp(float(log_capital([bets], claim)[-1]))
    assert mean == pytest.approx(1.0, abs=1e-12)
    # one that only ever names the second world pays half of δ, and speaks half of the time
    hit, miss = 0.5 * (one[0] + one[1]), 0.5 * (zero[0] + zero[1])
    mean = 0.0
    for chance, counts in ((hit, (1, 0, 0)), (miss, (0, 1, 0)), (1 - hit - miss, (0, 0, 1))):
        bets = Bets()
        bets.add(Plan(0.5, 1), *counts)
        mean += chance * math.exp(float(log_capital([bets], claim)[-1]))
    assert mean == pytest.approx(1.0, abs=1e-12)


def test_looking_after_every_run_gives_no_more_false_alarms_than_stated() -> None:
    """1,500 games of 400 looks at the boundary of ε = 1: 3.7 to 4.7% were seen elsewhere, 5% are allowed."""
    rng, q = np.random.default_rng(1), expit(1.0)
    right = np.cumsum(rng.random((1500, 400)) < q, axis=1)
    n = np.arange(1, 401)
    alarms = (log_precision_capital(right, n - right, q).max(axis=1) >= math.log(20)).mean()
    assert 0.01 < alarms < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.parametrize(("truth", "mean", "late"), [(1.2, 1303, 3147), (2.0, 57, 136), (6.0, 13, 13)])
def test_the_runs_a_violation_needs(truth: float, mean: float, late: float) -> None:
    """ε claimed 1: mean and 95% quantile of the first run at which the capital reaches 20, as measured elsewhere."""
    rng, q = np.random.default_rng(2), expit(1.0)
    games, length = (150, 6000) if truth < 2 else (800, 300)
    right = np.cumsum(rng.random((games, length)) < expit(truth), axis=1)
    n = np.arange(1, length + 1)[:: 6 if truth < 2 else 1]
    right = right[:, n - 1]
    hit = log_precision_capital(right, n - right, q) >= math.log(20)
    assert hit.any(axis=1).mean() > 0.97
    first = n[hit.argmax(axis=1)]
    assert first.mean() == pytest.approx(mean, rel=0.2)
    assert np.quantile(first, 0.95) == pytest.approx(late, rel=0.25)


def test_perfect_guesses_need_as_many_as_the_claim_allows() -> None:
    """ln α/ln q₀ for a perfect bet: 10 at ε = 1, 62 at ε = 3; the mixture pays a few more."""
    for eps, least in ((1.0, 10), (3.0, 62)):
        n = np.arange(1, 200)
        first = int(n[log_precision_capital(n, 0 * n, expit(eps)) >= math.log(20)][0])
        assert least <= first <= 1.5 * least


def test_a_trade_off_bound_follows_from_bets() -> None:
    """Normal noise of μ = 1 guessed about by its sign: the bound on μ is below 1 and near it."""
    rng = np.random.default_rng(3)
    bets = Bets()
    right = int(rng.binomial(20_000, 0.6914624612740131))  # Φ(½)
    bets.add(Plan(1.0), right, 20_000 - right, 0)
    low = first_kept(lambda m: refuted([bets], gdp_lines(m), 0.05), 4.0)
    assert 0.9 < low < 1.0
    assert not refuted([bets], claim_of("mu=1"), 0.05)
    assert refuted([bets], claim_of("mu=0.9"), 0.05)


def test_silence_counts_against_the_bettor() -> None:
    quiet, loud = Bets(), Bets()
    for bets, silent in ((quiet, 900), (loud, 0)):
        bets.add(Plan(0.1), 95, 5, silent)
    claim = claim_of("mu=1")
    assert log_capital([quiet], claim)[-1] < log_capital([loud], claim)[-1]
    assert log_capital([Bets()], claim).size == 0


def test_the_first_value_that_is_kept() -> None:
    assert first_kept(lambda x: x < 0.3 or x > 0.6, 1.0) == pytest.approx(0.3)
    assert first_kept(lambda x: False, 1.0) == 0.0
    # kept for a moment between two points of the grid: only a finer look sees it
    assert first_kept(lambda x: x < 0.19 and not 0.18 < x < 0.185, 1.0, steps=5, fine=200) <= 0.18
    assert first_kept(lambda x: True, 1.0) == 1.0
