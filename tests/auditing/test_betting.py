"""Bets against a claim: the formula by mpmath, fairness by enumeration, false alarms and power by simulation."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from epsilens.auditing.betting import (
    History,
    event_worth,
    is_refuted,
    leading_event,
    least_unrefuted,
    log_capital,
    log_precision_capital,
)
from epsilens.auditing.outcomes import MOST_CELLS, ScoreAttack, perfect_attack
from epsilens.auditing.result import ClaimLines, claim_of, gdp_lines, single_line

#: Outcomes 0…3; the events name the second world on the first two and the first on the others, the second on 0 and 1
#: alone, on 0 alone, and the first on 3 alone.
NAMES = np.array([[1, 1, -1, -1], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1]], dtype=np.int8)


def attack(past: list[list[float]], names: np.ndarray = NAMES) -> ScoreAttack:
    """An attack on outcomes 0…3 with these past counts."""
    held, all_names, nested = np.zeros((MOST_CELLS, 2)), np.zeros((80, MOST_CELLS), dtype=np.int8), np.zeros(80)
    held[: len(past)] = past
    all_names[: len(names), : names.shape[1]] = names
    nested[0] = nested[1] = 1.0
    return ScoreAttack(None, np.arange(1.0, 4.0), np.arange(3.0), held, all_names, nested)


def counts(*cells: tuple[int, int]) -> np.ndarray:
    made = np.zeros((1, MOST_CELLS, 2))
    for cell, world in cells:
        made[0, cell, world] += 1
    return made


def mean_capital(zero: np.ndarray, one: np.ndarray, claim: ClaimLines, runs: int, attacks: list[ScoreAttack]) -> float:
    """Σ over all outcomes and coins of their probability times the capital; a round for each run."""
    mean = 0.0
    for drawn in product([(cell, world) for cell in range(4) for world in (0, 1)], repeat=runs):
        history, chance = History(), 1.0
        for (cell, world), known in zip(drawn, attacks, strict=True):
            chance *= 0.5 * (one if world else zero)[cell]
            history.add((known,), counts((cell, world)))
        if chance:
            mean += chance * math.exp(float(log_capital(history, claim)[-1]))
    return mean


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


PASTS = (
    [[0.0, 5.0], [1.0, 0.0], [0.0, 1.0], [4.0, 0.0]],  # few runs, nearly all right: the early ones bet alone
    [[9.0, 2.0], [8.0, 5.0], [4.0, 9.0], [1.0, 8.0]],  # misleading: the worlds the other way round
    [[0.0, 5.0], [3.0, 9.0], [8.0, 4.0], [6.0, 0.0]],
    [[0.0, 60.0], [30.0, 90.0], [80.0, 40.0], [70.0, 1.0]],
)


@pytest.mark.parametrize("past", PASTS)
def test_a_bet_on_a_line_is_fair_for_the_worst_pair(past: list[list[float]]) -> None:
    """(ε, δ) exactly attained: P₁ = (δ, (1−δ)q, (1−δ)(1−q), 0) against its mirror image; two runs, all outcomes."""
    eps, delta = 1.0, 0.2
    q = math.e / (1 + math.e)
    one = np.array([delta, (1 - delta) * q, (1 - delta) * (1 - q), 0.0])
    zero = one[::-1]
    assert (one - math.exp(eps) * zero).clip(0).sum() == pytest.approx(delta)
    mean = mean_capital(zero, one, single_line(eps, delta), 2, [attack(past), attack(PASTS[3])])
    assert 0.5 < mean <= 1 + 1e-12
    # the event that always speaks is fair to the last digit
    one_event = attack(PASTS[3], NAMES[:1])
    assert mean_capital(zero, one, single_line(eps, delta), 2, [one_event, one_event]) == pytest.approx(1.0, abs=1e-12)
    # a world told apart less is unfair to the bettor
    same = np.full(4, 0.25)
    assert mean_capital(same, same, single_line(eps, delta), 2, [one_event, one_event]) < 1


@pytest.mark.parametrize("past", PASTS)
def test_no_bet_on_many_lines_gains_from_a_pair_that_keeps_them(past: list[list[float]]) -> None:
    """Normal noise of μ = 1 cut into four cells keeps every line of 1-GDP, and of the pure claim of its ratios."""
    from scipy.stats import norm

    zero, one = (np.diff(norm.cdf([-np.inf, -0.4, 0.5, 1.6, np.inf], d)) for d in (0.0, 1.0))
    attacks = [attack(past), attack(PASTS[3])]
    for first, second in ((zero, one), (one, zero), (zero[::-1], one[::-1])):
        assert mean_capital(first, second, gdp_lines(1.0), 2, attacks) <= 1 + 1e-12
        pure = float(np.abs(np.log(one / zero)).max())
        assert mean_capital(first, second, single_line(pure, 0.0), 2, attacks) <= 1 + 1e-12


def test_with_few_runs_known_only_part_is_bet_and_fairly() -> None:
    """Eleven known runs: a mean of 1 at the boundary, and one wrong guess leaves most of the capital."""
    q = math.e / (1 + math.e)
    one = np.array([q / 2, q / 2, (1 - q) / 2, (1 - q) / 2])
    known = attack(PASTS[0], NAMES[:1])
    assert mean_capital(one[::-1], one, single_line(1.0, 0.0), 3, [known] * 3) == pytest.approx(1.0, abs=1e-12)
    history = History()
    history.add((known,), counts((0, 0)))
    assert math.exp(float(log_capital(history, single_line(1.0, 0.0))[-1])) > 0.5


def test_many_guesses_about_one_call_are_fair() -> None:
    """Two groups, each flipped with probability 1 − q: the product of their bets has mean 1.

    Flipped together, one group's coin tells the other's, which is not ε-DP; the bets see it.
    """
    q, claim = float(expit(1.0)), single_line(1.0, 0.0)
    mean = 0.0
    for bits in product((0, 1), repeat=2):
        for flipped, chance in ((0, q), (1, 1 - q)):
            drawn = [(3 * (1 - (bit ^ flipped)), bit) for bit in bits]
            history = History()
            history.add((attack(PASTS[3], NAMES[:1]),), counts(*drawn))
            mean += 0.25 * chance * math.exp(float(log_capital(history, claim)[-1]))
    assert mean > 1.03
    fair = 0.0
    for bits in product((0, 1), repeat=2):
        for flips in product((0, 1), repeat=2):
            chance = math.prod(1 - q if flip else q for flip in flips)
            drawn = [(3 * (1 - (bit ^ flip)), bit) for bit, flip in zip(bits, flips, strict=True)]
            history = History()
            history.add((attack(PASTS[3], NAMES[:1]),), counts(*drawn))
            fair += 0.25 * chance * math.exp(float(log_capital(history, claim)[-1]))
    assert fair == pytest.approx(1.0, abs=1e-12)


@pytest.mark.always
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
    right = rng.binomial(10_000, 0.6914624612740131, 2)  # Φ(½)
    known = attack([[690.0, 310.0], [310.0, 690.0]], np.array([[-1, 1]], dtype=np.int8))
    seen = np.zeros((1, MOST_CELLS, 2))
    seen[0, :2] = [[right[0], 10_000 - right[1]], [10_000 - right[0], right[1]]]
    history = History(budget=20_000)
    history.add((known,), seen)
    low = least_unrefuted(lambda m: is_refuted(history, gdp_lines(m)), 4.0)
    assert 0.9 < low < 1.0
    assert not is_refuted(history, claim_of("mu=1"))
    assert is_refuted(history, claim_of("mu=0.9"))
    assert leading_event(history, claim_of("mu=1"))[2:] == (int(right.sum()), 20_000 - int(right.sum()))


def test_silence_counts_against_the_bettor() -> None:
    quiet, loud = History(), History()
    known = attack([[0.0, 9.5], [0.0, 0.5], [45.0, 45.0]], NAMES[1:2])
    for history, silent in ((quiet, 900), (loud, 0)):
        seen = np.zeros((1, MOST_CELLS, 2))
        seen[0, :3] = np.array([[5, 95], [0, 0], [silent / 2, silent / 2]])
        history.add((known,), seen)
    claim = claim_of("mu=1")
    assert log_capital(quiet, claim)[-1] < log_capital(loud, claim)[-1]
    assert log_capital(History(), claim).size == 0


def test_the_worth_of_an_event_is_what_its_bet_grows_by() -> None:
    """Half its square a run: 1000 runs of a guess right 3 of 4 times against q₀ = 0.7, by the relative entropy."""
    known = attack([[125.0, 375.0], [0.0, 0.0], [0.0, 0.0], [375.0, 125.0]], NAMES[:1])
    excess, runs = event_worth([known], single_line(math.log(7 / 3), 0.0))
    entropy = 0.75 * math.log(0.75 / 0.7) + 0.25 * math.log(0.25 / 0.3)
    assert runs.tolist() == [1000.0]
    assert 0.5 * float(excess[0, 0]) ** 2 == pytest.approx(entropy, rel=0.15)


def test_an_attack_that_never_erred() -> None:
    known = perfect_attack(50)
    history = History()
    history.add((known,), known.past[None])
    assert is_refuted(history, claim_of("mu=2"))
    assert is_refuted(history, claim_of(3.0))
    assert not is_refuted(history, claim_of(6.0))


def test_the_first_value_that_is_kept() -> None:
    assert least_unrefuted(lambda x: x < 0.3 or x > 0.6, 1.0) == pytest.approx(0.3)
    assert least_unrefuted(lambda x: False, 1.0) == 0.0
    # kept for a moment between two points of the grid: only a finer look sees it
    assert least_unrefuted(lambda x: x < 0.19 and not 0.18 < x < 0.185, 1.0, steps=5, fine=200) <= 0.18
    assert least_unrefuted(lambda x: True, 1.0) == 1.0
