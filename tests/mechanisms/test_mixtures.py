"""Mixtures of normals, groups in training, and batches in which people take the place of others."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom, norm

import epsilens as el
from epsilens.errors import InputError
from epsilens.mechanisms.batches import ScheduleSegment, substitution_law
from epsilens.readings.law import Exactness
from epsilens.worlds import Relation


def both(e: el.Experiment, delta: float) -> list[tuple[float, float]]:
    """The brackets of ε in each order alone."""
    found = []
    for law in (e.law, e.law.reverse()):
        low, high = (float(one.profile_inverse(np.asarray(delta))) for one in (law.other_side(), law))
        found.append((low, high))
    return found


def test_a_mixture_is_the_sample_or_the_group_that_it_is() -> None:
    e = el.mechanisms.mixture(shifts=[2.0, 0.0], weights=[0.01, 0.99], sigma=2.0)
    assert e.repeat(100).epsilon(1e-5) == pytest.approx(
        el.dpsgd(sigma=1.0, rate=0.01, steps=100).epsilon(1e-5), rel=2e-3
    )
    pair = el.mechanisms.mixture(shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01], sigma=2.0).repeat(100)
    assert pair.epsilon(1e-5) == pytest.approx(
        el.dpsgd(sigma=2.0, rate=0.1, steps=100, people=2).epsilon(1e-5), rel=2e-3
    )
    assert e.law.known is Exactness.BRACKET
    assert e.psi() == 1.0


def test_one_shift_is_normal_noise() -> None:
    assert el.mechanisms.mixture(shifts=[3.0], weights=[1.0], sigma=2.0).psi() == 1.5
    assert el.mechanisms.mixture(shifts=[0.0, 3.0], weights=[1.0, 0.0], sigma=2.0).advantage() == 0
    twice = el.mechanisms.mixture(shifts=[1.0, 1.0], weights=[0.5, 0.5], sigma=2.0)
    assert twice.advantage() == el.gaussian(sigma=2.0).advantage()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shifts": [1, 2], "weights": [0.5]}, "two lists of one length"),
        ({"shifts": [], "weights": []}, "two lists of one length"),
        ({"shifts": [1, 2], "weights": [0.5, 0.4]}, "weights sum to 0.9"),
        ({"shifts": [-1, 2], "weights": [0.5, 0.5]}, "shifts"),
        ({"shifts": [1, 2], "weights": [-0.5, 1.5]}, "weights"),
        ({"shifts": [0, 1e9], "weights": [0.5, 0.5]}, "times sigma"),
        ({"shifts": [1, 2], "weights": [0.5, 0.5], "sigma": 0.0}, "sigma"),
        ({"shifts": [1, float("nan")], "weights": [0.5, 0.5]}, "shifts"),
        ({"shifts": list(range(3000)), "weights": [1 / 3000] * 3000}, "too many"),
    ],
)
def test_what_is_no_mixture(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        el.mechanisms.mixture(**({"sigma": 1.0} | given))


def test_one_mixture_by_quadrature() -> None:
    shifts, weights, sigma = [0.0, 1.0, 2.5], [0.5, 0.3, 0.2], 1.3
    x = np.linspace(-16, 20, 2_000_001)
    h0 = np.exp(-(x**2) / 2 / sigma**2)
    h1 = np.zeros(x.size)
    for c, w in zip(shifts, weights, strict=True):
        h1 += w * np.exp(-((x - c) ** 2) / 2 / sigma**2)
    unit = (x[1] - x[0]) / (sigma * math.sqrt(2 * math.pi))
    e = el.mechanisms.mixture(shifts=shifts, weights=weights, sigma=sigma)
    for u in (0.0, 0.4, 2.0):
        worse = max(np.maximum(h1 - math.exp(u) * h0, 0).sum(), np.maximum(h0 - math.exp(u) * h1, 0).sum()) * unit
        low, high = e.bracket("delta", epsilon=u)
        assert low - 1e-9 <= worse <= high + 1e-9
    hits = np.cumsum(h1[::-1])[::-1] * unit
    false = np.cumsum(h0[::-1])[::-1] * unit
    at = int(np.argmin(np.abs(false - 0.1)))
    assert e.roc(false[at]) == pytest.approx(hits[at], rel=1e-3)


# the reference sheet, two methods: σ, q, T, δ, people, ε of removing and of adding
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta", "people", "remove", "add"),
    [
        (1.0, 0.0064, 782, 1e-6, 1, 1.19864, 0.85376),
        (1.0, 0.0064, 782, 1e-6, 2, 2.53198, 1.78826),
        (1.0, 0.0064, 782, 1e-6, 3, 3.93696, 2.76716),
        (1.0, 0.0064, 782, 1e-6, 10, 15.46434, 10.49734),
        (2.0, 0.01, 1000, 1e-5, 5, 3.73244, 3.42028),
    ],
)
def test_groups_in_training(
    sigma: float, rate: float, steps: int, delta: float, people: int, remove: float, add: float
) -> None:
    e = el.dpsgd(sigma=sigma, rate=rate, steps=steps, people=people)
    for (low, high), truth in zip(both(e, delta), (remove, add), strict=True):
        assert low - 6e-6 <= truth <= high + 6e-6
        assert high <= low * 1.001
    assert e.epsilon(delta) >= remove - 6e-6
    assert e == el.dpsgd(sigma=sigma, rate=rate, steps=steps, people=people)
    if people > 1:
        grouped = el.group(el.dpsgd(sigma=sigma, rate=rate, steps=steps), people)
        assert grouped.epsilon(delta) == e.epsilon(delta)


def test_everybody_drawn_moves_together() -> None:
    assert el.dpsgd(sigma=2.0, rate=1.0, steps=16, people=3).psi() == 6.0
    assert el.dpsgd(sigma=2.0, rate=1.0, steps=16, people=3, neighbours="replace").psi() == 12.0


def test_sigma_for_a_group() -> None:
    given = {"rate": 0.01, "steps": 1000, "people": 3}
    found = el.choose(el.dpsgd, "sigma", at_most=2.0, reading="epsilon", delta=1e-5, given=given)
    assert 1.99 < found.experiment.epsilon(1e-5) <= 2.0
    assert (
        found.value
        > el.choose(el.dpsgd, "sigma", at_most=2.0, reading="epsilon", delta=1e-5, given=given | {"people": 1}).value
    )


def test_batches_drawn_with_replacement() -> None:
    # the sheet, two methods; the last by a contour integral, .580234, which the sheet rounds up
    for sigma, remove, add in ((2.0, 1.8891, 1.4215), (4.0, 0.6234, 0.580234)):
        e = el.dpsgd(sigma=sigma, n=10_000, batch=100, steps=1000, batches="with replacement")
        for (low, high), truth in zip(both(e, 1e-5), (remove, add), strict=True):
            assert low - 6e-5 <= truth <= high + 6e-5
            assert high <= low * 1.001
        replaced = el.dpsgd(
            sigma=sigma, n=10_000, batch=100, steps=1000, batches="with replacement", neighbours="replace"
        )
        low, high = replaced.bracket("epsilon", delta=1e-5)
        assert low == pytest.approx(remove, rel=1e-3)
        # not far above what holds for batches without replacement
        fixed = el.dpsgd(sigma=sigma, n=10_000, batch=100, steps=1000, batches="fixed", neighbours="replace")
        assert fixed.epsilon(1e-5) < high < 1.05 * fixed.epsilon(1e-5)


def _profile(h1: np.ndarray, h0: np.ndarray, t: float, cell: float) -> float:
    return float(np.maximum(h1 - t * h0, 0).sum()) * cell


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("people", [1, 2])
def test_no_batch_tells_more(again: bool, people: int) -> None:
    # all batches of 2 from 5 records in the plane, one or two of which differ: every threshold, both relations
    rng = np.random.default_rng(11 + people)
    grid = np.linspace(-9, 9, 361)
    across, up = np.meshgrid(grid, grid)
    cell = (grid[1] - grid[0]) ** 2
    n, batch, sigma = 5, 2, 1.3

    def density(records: list[np.ndarray]) -> np.ndarray:
        total, count = np.zeros(across.shape), 0
        for drawn in product(range(len(records)), repeat=batch):
            if not again and len(set(drawn)) < batch:
                continue
            v = sum((records[i] for i in drawn), np.zeros(2)) / sigma
            total += np.exp(-((across - v[0]) ** 2 + (up - v[1]) ** 2) / 2) / (2 * math.pi)
            count += 1
        return total / count

    def record() -> np.ndarray:
        angle, size = rng.uniform(0, 2 * math.pi), min(1.0, rng.uniform(0.4, 1.4))
        return size * np.array([math.cos(angle), math.sin(angle)])

    row = [ScheduleSegment(sigma, batch / n, 1, n, batch)]
    added, replaced = (substitution_law(row, relation, 1e-3, people, again) for relation in Relation)
    pull = np.array([1.0, 0.0])
    cases = [([pull] * people, [-pull] * people, [-pull] * (n - people))]  # the worst for add/remove
    cases += [
        ([record() for _ in range(people)], [record() for _ in range(people)], [record() for _ in range(n - people)])
        for _ in range(4)
    ]
    for ones, others, rest in cases:
        h1, h0, without = density(ones + rest), density(others + rest), density(rest)
        for u in (-1.0, -0.2, 0.0, 0.3, 1.2):
            at, t = np.asarray(u), math.exp(u)
            assert _profile(h1, without, t, cell) <= float(added.profile(at)) + 1e-4  # of the grid
            assert _profile(h1, h0, t, cell) <= float(replaced.profile(at)) + 1e-4  # of the grid
    h1, without = density(cases[0][0] + cases[0][2]), density(cases[0][2])
    for u in (-0.5, 0.0, 0.7):  # attained
        assert _profile(h1, without, math.exp(u), cell) == pytest.approx(float(added.profile(np.asarray(u))), rel=2e-3)


def test_groups_in_batches_of_fixed_size() -> None:
    given: dict[str, Any] = {"sigma": 2.0, "n": 10_000, "batch": 100, "steps": 1000, "batches": "fixed"}
    one = el.dpsgd(**given)
    two = el.dpsgd(**given, people=2)
    # nearly binomial at twice the distance
    nearly = el.dpsgd(sigma=1.0, rate=0.01, steps=1000, people=2)
    assert two.epsilon(1e-5) == pytest.approx(nearly.epsilon(1e-5), rel=1e-2)
    assert one.epsilon(1e-5) < two.epsilon(1e-5)
    low, high = el.dpsgd(**given, people=2, neighbours="replace").bracket("epsilon", delta=1e-5)
    assert low == pytest.approx(two.epsilon(1e-5), rel=2e-3)
    assert low < high < 1.3 * low
    several = el.dpsgd(sigma=2.0, n=100, batch=10, epochs=1, batches="shuffled", people=3)
    assert several.psi() == pytest.approx(3 * el.dpsgd(sigma=2.0, n=100, batch=10, epochs=1, batches="shuffled").psi())


@pytest.mark.parametrize(("n", "batch", "people"), [(4, 2, 2), (5, 4, 2), (6, 3, 3), (40, 4, 5)])
@pytest.mark.parametrize("sigma", [0.05, 0.8, 3.0])
def test_a_batch_of_fixed_size_holds_no_binomial_number_of_a_group(
    n: int, batch: int, people: int, sigma: float
) -> None:
    """All samples gone through: others at −1, the group at 1, or away; their places go to others."""
    drawn = [sum(i < people for i in s) for s in combinations(range(n), batch)] if n < 10 else None
    j = np.arange(people + 1)
    share = np.bincount(drawn, minlength=people + 1) / len(drawn) if drawn else hypergeom(n, people, batch).pmf(j)
    x = np.linspace(-9 * sigma, 2 * people + 9 * sigma, 200_001)
    h0 = norm.pdf(x, 0.0, sigma)
    h1 = np.sum([w * norm.pdf(x, 2.0 * i, sigma) for i, w in zip(j, share, strict=True)], axis=0)
    fixed = el.group(el.dpsgd(sigma=sigma, n=n, batch=batch, steps=1, batches="fixed"), people)
    every: dict[str, Any] = {
        "n": n,
        "batch": n,
        "truncation": batch,
        "batches": "truncated",
    }  # all are drawn, so many are kept
    cut = [el.group(el.dpsgd(sigma=sigma, steps=1, neighbours=r, **every), people) for r in ("add-remove", "replace")]
    exact = el.dpsgd(sigma=sigma, n=n, batch=batch, steps=1, batches="fixed", people=people)
    for u in (-1.0, -0.2, 0.0, 0.3, 1.5, 4.0):
        shown = float(np.sum(np.maximum(h1 - math.exp(u) * h0, 0.0)) * (x[1] - x[0]))
        for one in (fixed, *cut):
            assert shown <= float(one.law.profile(np.asarray(u))) + 1e-6  # of the grid
        assert float(exact.law.profile(np.asarray(u))) == pytest.approx(shown, rel=2e-3, abs=1e-6)
    assert (exact.law.known is Exactness.BOUND) == (n - people < batch)  # others are too few to take their places


@pytest.mark.parametrize(("sigma", "close"), [(1e6, 1.02), (10.0, 1.08)])
def test_two_of_a_group_that_outweigh_all_that_is_shown(sigma: float, close: float) -> None:
    e = el.dpsgd(sigma=sigma, n=1_000_000, batch=100_000, steps=5, batches="fixed", people=2, neighbours="replace")
    low, high = e.bracket("delta", epsilon=0.0)
    # of small shifts their mean tells: j·2/σ with j = 0.2 on average, five times
    assert low == pytest.approx(math.erf(math.sqrt(5) * 0.4 / sigma / math.sqrt(8)), rel=1e-3 + 0.2 / sigma)
    assert low < high < close * low


def test_batches_that_always_hold_a_group() -> None:
    e = el.dpsgd(sigma=0.2, n=1_000_000, batch=990_000, steps=10**6, batches="fixed", people=3, neighbours="replace")
    assert e.chernoff() == pytest.approx(30_000.0**2 / 8)  # three people, each two norms, in every batch
    assert e.tradeoff(0.5) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rate": 0.1, "steps": 5, "people": 0}, "people"),
        ({"rate": 0.1, "steps": 5, "people": 1.5}, "people"),
        ({"rate": 0.1, "steps": 5, "batches": "with replacement"}, "needs n and batch"),
        ({"rate": 0.1, "steps": 5, "batches": "fixed", "people": 2}, "needs n and batch"),
        ({"n": 10, "batch": 2, "steps": 5, "batches": "fixed", "people": 10}, "leaves others"),
        ({"n": 4, "batch": 2, "steps": 2, "batches": "shuffled", "people": 9}, "people is 9, of n = 4"),
        ({"n": 10, "batch": 2, "steps": 5, "batches": "truncated", "truncation": 3, "people": 2}, "truncated"),
    ],
)
def test_what_is_no_group(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        el.dpsgd(sigma=1.0, **given)
