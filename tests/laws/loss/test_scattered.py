"""Few and rare steps: what nearly never happens, held against quadrature in 40 digits and against steps × rate."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr
from tests.laws.loss.oracles import two_rare_steps

import epsilens as el

PAIRS = [
    ("0.295", "1.08e-9", "0", True),
    ("0.295", "1.08e-9", "0", False),
    ("0.295", "1.08e-9", "1", True),
    ("0.295", "1.08e-9", "6.6453", True),
    ("0.2", "1e-12", "0.001", False),
    ("0.2", "1e-12", "3", True),
    ("0.5", "1e-6", "0.0001", False),
    ("1", "1e-10", "0", True),
]


@pytest.mark.parametrize(("sigma", "rate", "epsilon", "replace"), PAIRS)
def test_two_steps_by_quadrature(sigma: str, rate: str, epsilon: str, replace: bool) -> None:
    truth = two_rare_steps(sigma, rate, epsilon, replace)
    neighbours = "replace" if replace else "add-remove"
    e = el.dpsgd(sigma=float(sigma), rate=float(rate), steps=2, neighbours=neighbours)
    at = np.asarray(float(epsilon))
    low, high = float(e.law.other_side().profile(at)), float(e.law.profile(at))
    assert low <= truth * (1 + 1e-14)
    assert truth * (1 - 1e-14) <= high
    assert high - low <= 1e-3 * high


def test_epsilon_of_two_steps() -> None:
    e = el.dpsgd(sigma=0.295, rate=1.08e-9, steps=2, neighbours="replace")
    low, high = e.bracket("epsilon", delta=7.6e-20)
    # δ falls: the truth lies between the ends if δ, by quadrature, does
    assert (
        two_rare_steps("0.295", "1.08e-9", repr(low), True)
        >= 7.6e-20
        >= two_rare_steps("0.295", "1.08e-9", repr(high), True)
    )
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(
    ("sigma", "rate", "steps"), [(0.2, 1e-12, 3), (0.05, 1e-6, 7), (1.0, 1e-9, 16), (5.0, 1e-4, 2)]
)
def test_nothing_exceeds_the_chance_of_being_drawn(sigma: float, rate: float, steps: int, neighbours: str) -> None:
    e = el.dpsgd(sigma=sigma, rate=rate, steps=steps, neighbours=neighbours)
    drawn = -math.expm1(steps * math.log1p(-rate))
    low, high = e.bracket("advantage")
    assert high <= drawn * (1 + 1e-9)
    assert high - low <= 1e-3 * high
    assert e.success(prior=0.5) <= 0.5 + 0.5 * drawn * (1 + 1e-9) + 1e-15
    assert e.epsilon(delta=1.01 * drawn) == 0.0
    fpr = 0.01
    assert fpr <= e.roc(fpr) <= fpr + drawn * (1 + 1e-9) + 1e-16


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_more_steps_say_more(neighbours: str) -> None:
    counts = (1, 2, 3, 5, 17, 40, 300)
    laws = [el.dpsgd(sigma=0.3, rate=1e-8, steps=k, neighbours=neighbours) for k in counts]
    for reading, given in (("delta", {"epsilon": 2.0}), ("advantage", {}), ("epsilon", {"delta": 1e-16})):
        ends = [e.bracket(reading, **given) for e in laws]
        for (low, _), (_, high) in pairwise(ends):
            assert low <= high
        for k, (_, high) in zip(counts, ends, strict=True):
            if reading == "advantage":
                assert high <= k * ends[0][1] * (1 + 1e-9)


def test_a_strong_step_that_is_drawn_twice() -> None:
    # just above the chance of two draws δ hardly falls with ε, and one draw decides: 5q·Φ(−z) is what is left
    e = el.dpsgd(sigma=0.03, rate=1e-3, steps=5)
    low, high = e.bracket("epsilon", delta=1.1e-5)
    assert 660 < low < high < 671


def test_many_rare_steps_by_single_large_losses() -> None:
    # one of 10⁵ steps shows a large loss, the others a normal sum of small ones: the next term is below 1e-4 of it
    sigma, rate, steps, epsilon = 0.5, 1e-6, 10**5, 1.0
    mu = 1 / sigma
    x = np.linspace(mu, 30.0, 400_001)
    loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
    mass = np.exp(-x * x / 2 + loss) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    variance = steps * rate**2 * math.expm1(mu * mu)
    sd, gap = math.sqrt(variance), epsilon - loss + variance / 2  # under H0 the mean of the others is −variance/2
    each = ndtr(-(gap - variance) / sd) - np.exp(epsilon - loss) * ndtr(-gap / sd)
    expected = steps * float(mass @ np.where(mass > 0, each, 0.0))
    low, high = el.dpsgd(sigma=sigma, rate=rate, steps=steps).bracket("delta", epsilon=epsilon)
    assert low * (1 - 1e-3) <= expected <= high * (1 + 1e-3)
    assert high - low <= 1e-2 * high
