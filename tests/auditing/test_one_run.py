"""One run with canaries: published values, the linear programme against enumeration, and simulation."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

import epsilens as el
from epsilens.auditing.claims import Claim, claim_of, line
from epsilens.auditing.one_run import (
    epsilon_bound,
    exact_p,
    guesses_to_make,
    mu_bound,
    recursion_p,
    refutes,
    steinke_bound,
    steinke_p,
)


def test_the_published_value() -> None:
    assert steinke_bound(1000, 100, 75, 1e-4) == pytest.approx(0.673, abs=5e-4)


@pytest.mark.parametrize(
    ("m", "r", "v", "delta", "steinke", "recursion", "p"),
    [
        (1000, 100, 95, 1e-5, 2.17, 2.15, None),
        (1000, 100, 95, 1e-3, 0.59, 2.08, 0.045),
        (10000, 500, 450, 1e-4, 1.71, 1.92, 0.041),
    ],
)
def test_the_table_of_bounds(
    m: int, r: int, v: int, delta: float, steinke: float, recursion: float, p: float | None
) -> None:
    assert steinke_bound(m, r, v, delta) == pytest.approx(steinke, abs=0.01)
    assert epsilon_bound(m, r, v, delta) == pytest.approx(recursion, abs=0.01)
    if p is not None:  # the bounds are told rounded down
        assert exact_p(m, r, v, line(recursion, delta)) == pytest.approx(p, abs=0.001)


@pytest.mark.parametrize(("r", "v"), [(10, 9), (30, 20), (100, 80)])
def test_at_no_delta_everything_is_the_binomial(r: int, v: int) -> None:
    truth = float(binom.sf(v - 1, r, expit(1.0)))
    assert steinke_p(2 * r, r, v, 1.0, 0.0) == pytest.approx(truth, rel=1e-9)
    assert exact_p(2 * r, r, v, line(1.0, 0.0)) == pytest.approx(truth, rel=1e-5)
    assert recursion_p(2 * r, r, v, line(1.0, 0.0)) >= truth * (1 - 1e-6)


@pytest.mark.parametrize(
    ("m", "r", "v", "said"), [(300, 60, 50, "mu=1"), (200, 40, 36, (1.5, 1e-3)), (50, 50, 40, "mu=1")]
)
def test_the_recursion_is_not_below_the_exact_worst_case(m: int, r: int, v: int, said: object) -> None:
    claim = claim_of(said)
    assert exact_p(m, r, v, claim) <= recursion_p(m, r, v, claim) + 1e-6


def test_no_mechanism_on_three_bits_exceeds_the_programme() -> None:
    """Random mechanisms with four outputs: their own lines, by enumeration, and their best guesses."""
    rng = np.random.default_rng(1)
    worlds = list(product((0, 1), repeat=3))
    eps = np.linspace(0, 3, 13)
    for _ in range(25):
        law = {w: rng.dirichlet(np.full(4, rng.choice([0.3, 1.0, 3.0]))) for w in worlds}
        delta = np.zeros(eps.size)
        for w in worlds:
            for i in range(3):
                other = tuple(1 - bit if i == j else bit for j, bit in enumerate(w))
                gap = law[w][None, :] - np.exp(eps)[:, None] * law[other][None, :]
                delta = np.maximum(delta, gap.clip(0).sum(axis=1))
        claim = Claim(eps, delta)
        for v in (2, 3):
            best = sum(
                max(
                    sum(law[w][o] for w in worlds if sum(a == b for a, b in zip(w, t, strict=True)) >= v) / 8
                    for t in worlds
                )
                for o in range(4)
            )
            assert best <= exact_p(3, 3, v, claim) + 1e-7
            assert best <= recursion_p(3, 3, v, claim) + 1e-6


def test_false_alarms_at_the_boundary() -> None:
    """Randomised response of ε = 1, 200 canaries all guessed, 4,000 runs: at most 5%, and not far below."""
    rng = np.random.default_rng(2)
    right = rng.binomial(200, expit(1.0), 4000)
    refuting = [v for v in range(201) if steinke_p(200, 200, v, 1.0, 0.0) <= 0.05]
    rate = float((right >= min(refuting)).mean())
    assert 0.02 < rate <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 4000)
    by_recursion = [v for v in range(120, 201) if refutes(200, 200, v, line(1.0, 0.0))]
    assert min(by_recursion) >= min(refuting)


def test_revealing_everything_now_and_then_is_within_its_delta() -> None:
    """(0, 0.2)-DP that reveals all canaries with probability 0.2: a test of independent canaries often refutes it."""
    claim = line(0.0, 0.2)
    assert exact_p(100, 100, 100, claim) >= 0.2 - 1e-6
    assert not refutes(100, 100, 100, claim, 0.05)


def test_how_many_guesses_follow_from_the_claim() -> None:
    assert guesses_to_make(1000, claim_of(1.0)) == 400
    for said in ("mu=0.5", "mu=4", el.dpsgd(sigma=1.0, rate=0.01, steps=100)):
        assert 4 <= guesses_to_make(1000, claim_of(said)) <= 1000
    assert mu_bound(1000, 100, 50) == 0.0
    assert 0 < mu_bound(1000, 100, 95) < mu_bound(1000, 100, 99)


def test_many_guesses_are_left_to_the_recursion() -> None:
    with pytest.raises(el.InputError, match="linear programme"):
        exact_p(10_000, 5_000, 3_000, claim_of("mu=1"))
