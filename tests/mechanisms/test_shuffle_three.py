"""Three answers against every way the others can hold their values, by convolution."""

from __future__ import annotations

import math

import numpy as np
import pytest

import epsilens as el
from epsilens.checks import Array
from epsilens.mechanisms.shuffle_three import MOST_PEOPLE, three_answers


def grown(law: Array, report: tuple[float, float, float]) -> Array:
    """The counts of the first two answers with one more report."""
    out = np.zeros((law.shape[0] + 1, law.shape[1] + 1))
    out[1:, :-1] += report[0] * law
    out[:-1, 1:] += report[1] * law
    out[:-1, :-1] += report[2] * law
    return out


def worst(n: int, epsilon: float, at: Array) -> Array:
    """δ over all values of the others, in the worse order."""
    e = math.exp(epsilon)
    a = 1 / (e + 2)
    reports = [(e * a, a, a), (a, e * a, a), (a, a, e * a)]
    best = np.zeros(at.size)
    first = np.ones((1, 1))
    for zeros in range(n):
        second = first
        for ones in range(n - zeros):
            others = second
            for _ in range(n - 1 - zeros - ones):
                others = grown(others, reports[2])
            h0, h1 = grown(others, reports[0]), grown(others, reports[1])
            for p, q in ((h0, h1), (h1, h0)):
                found = [float(np.maximum(q - math.exp(x) * p, 0.0).sum()) for x in at]
                best = np.maximum(best, found)
            second = grown(second, reports[1])
        first = grown(first, reports[0])
    return best


@pytest.mark.parametrize(("n", "epsilon"), [(2, 1.0), (5, 0.5), (12, 1.5), (20, 1.5), (16, 3.0)])
def test_all_values_of_the_others(n: int, epsilon: float) -> None:
    at = np.linspace(0.0, 0.95 * epsilon, 9)
    truth = worst(n, epsilon, at)
    found = np.asarray(el.mechanisms.shuffled(epsilon, n=n, answers=3).delta(at))
    seen = truth > 1e-8
    assert np.all(found >= truth * (1 - 1e-12))
    assert np.all(found[seen] <= truth[seen] * (1 + 1e-4))
    assert np.all(found[:4] <= truth[:4] * (1 + 2e-6))


def test_what_takes_too_long_is_left_to_the_bound() -> None:
    nothing = (np.ones(1), np.zeros(1))
    assert three_answers(1.0, MOST_PEOPLE + 1, nothing) is None
    assert three_answers(1e-3, 1000, nothing) is None
    low, high = el.mechanisms.shuffled(0.05, n=1000, answers=3).bracket("epsilon", delta=1e-6)
    assert low < high < 1.01 * low
