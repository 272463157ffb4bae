"""Noise that is moved, by one person and by many, against enumeration; and a ratio that only nears its supremum."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

import epsilens as el
from epsilens.checks import Array


def agrees(e: el.Experiment, p0: Array, p1: Array) -> None:
    assert e.direction == "exact"
    for u in (0.0, 0.3, 1.0, 2.5):
        for one, a, b in ((e.law, p0, p1), (e.law.reverse(), p1, p0)):
            truth = float(np.maximum(b - math.exp(u) * a, 0.0).sum())
            assert float(one.profile(np.asarray(u))) == pytest.approx(truth, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize(("epsilon", "sensitivity", "shift"), [(1.0, 1, 1), (0.4, 3, 2), (5.0, 2, 2)])
def test_a_group_moves_geometric_noise_further(epsilon: float, sensitivity: int, shift: int, k: int) -> None:
    x = np.arange(-2000.0, 2001.0)
    mass = np.exp(-epsilon / sensitivity * np.abs(x))
    moved = np.exp(-epsilon / sensitivity * np.abs(x - k * shift))
    e = el.group(el.mechanisms.geometric(epsilon=epsilon, sensitivity=sensitivity, shift=shift), k)
    agrees(e, mass / mass.sum(), moved / mass.sum())
    assert e.epsilon() == pytest.approx(k * shift * epsilon / sensitivity, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize(("gamma", "shift"), [(0.25, 1.0), (0.75, 0.5), (0.5, 1.0)])
def test_a_group_moves_staircase_noise_further(gamma: float, shift: float, k: int) -> None:
    cell, epsilon = 0.125, 0.9  # every edge is a multiple of it
    x = np.abs(np.arange(-60, 60, cell) + cell / 2)

    def density(moved: float) -> Array:
        z = np.abs(np.arange(-60, 60, cell) + cell / 2 - moved)
        return np.exp(-epsilon * (np.floor(z) + (z - np.floor(z) >= gamma)))

    total = np.exp(-epsilon * (np.floor(x) + (x - np.floor(x) >= gamma))).sum()
    e = el.group(el.mechanisms.staircase(epsilon=epsilon, gamma=gamma, shift=shift), k)
    agrees(e, density(0.0) / total, density(k * shift) / total)


SHIFTS: dict[str, Callable[[int], el.Experiment]] = {
    "laplace": lambda k: el.laplace(scale=2.0, sensitivity=k),
    "gaussian": lambda k: el.gaussian(sigma=2.0, sensitivity=k),
    "geometric": lambda k: el.mechanisms.geometric(scale=2.0, sensitivity=k),
    "staircase": lambda k: el.group(el.mechanisms.staircase(epsilon=0.7), k),
    "discrete_gaussian": lambda k: el.mechanisms.discrete_gaussian(sigma=2.0, sensitivity=k),
    "skellam": lambda k: el.mechanisms.skellam(variance=4.0, sensitivity=k),
    "differencing": lambda k: el.attacks.differencing(epsilon=1.0, gap=k, noise="geometric", split=0.3),
}


@pytest.mark.parametrize("name", SHIFTS)
def test_a_group_of_noise_that_shifts_is_the_noise_shifted(name: str) -> None:
    one, three = SHIFTS[name](1), SHIFTS[name](3)
    group = el.group(one, 3)
    for e in (group, group.reverse(), el.group(one.reverse(), 3)):
        assert e.direction in ("exact", one.direction)
        for reading, given in (
            ("advantage", {}), ("auc", {}), ("delta", {"epsilon": 0.4}), ("roc", {"fpr": 0.01}),
            ("renyi", {"order": 3.0}), ("psi", {}), ("mu", {"level": 0.01}),
        ):  # fmt: skip
            assert getattr(e, reading)(**given) == pytest.approx(getattr(three, reading)(**given), rel=1e-9), reading
    assert el.group(el.group(one, 3), 2).advantage() == pytest.approx(el.group(one, 6).advantage(), rel=1e-12)
    twice = el.group(one.repeat(2), 3)
    assert twice.advantage() == pytest.approx(three.repeat(2).advantage(), rel=2e-3)


def test_a_group_too_large_to_write_down_is_bounded() -> None:
    for e in (el.mechanisms.geometric(epsilon=1e-5, sensitivity=3), el.mechanisms.staircase(epsilon=1e-5)):
        many = el.group(e, 1_000_000)
        assert many.direction == "upper"
        assert many.epsilon() == pytest.approx(10.0, rel=1e-9)
        assert math.tanh(5 / 2) < many.advantage() <= math.tanh(10 / 2) + 1e-12


# -- two noisy answers: the supremum is a limit -----------------------------------------------------------------------


@pytest.mark.parametrize("split", [0.5, 0.5 - 1e-10, 0.4999, 0.3])
@pytest.mark.parametrize("gap", [1, 4])
def test_the_ratio_of_two_noisy_answers_nears_its_supremum(split: float, gap: int) -> None:
    e = el.attacks.differencing(epsilon=2.0, gap=gap, noise="geometric", split=split)
    most = 2.0 * split * gap
    assert e.epsilon() == pytest.approx(most, rel=1e-12)
    assert e.epsilon() >= most * (1 - 1e-15)
    assert e.renyi(math.inf) == e.epsilon()
    assert e.posterior() == pytest.approx(1 / (1 + math.exp(-most)), rel=1e-14)
    assert e.repeat(3).epsilon() == pytest.approx(3 * most, rel=1e-12)
    assert e.direction == "upper"
    assert e.epsilon(1e-300) <= e.epsilon()


def test_an_epsilon_chosen_for_a_posterior_keeps_it() -> None:
    found = el.choose(
        el.attacks.differencing, "epsilon", at_most=0.6, reading="posterior", given={"noise": "geometric"}
    )
    assert 0.6 * (1 - 1e-9) < 1 / (1 + math.exp(-found.value / 2)) <= 0.6  # e^{ε/2} to 1, the limit


@pytest.mark.parametrize(("order", "rel"), [(2.0, 1e-12), (1e4, 1e-12), (1e6, 1e-5)])
def test_divergences_beyond_doubles(order: float, rel: float) -> None:
    e = el.attacks.differencing(epsilon=1.0, noise="geometric")
    with mp.workdps(40):
        rate, a = mp.mpf(0.5), mp.mpf(order)
        level = (1 + mp.e ** (-2 * rate)) / (1 - mp.e ** (-2 * rate))

        def log_mass(k: int) -> mp.mpf:
            return -rate * abs(k) + mp.log(abs(k) + level)

        norm = mp.log(mp.fsum(mp.e ** log_mass(k) for k in range(-250, 251)))
        peak = math.isqrt(int(2 * order))  # a·log(1 − 1/k) − k/2 is largest there
        near = range(max(peak - 8 * math.isqrt(peak) - 250, -250), peak + 8 * math.isqrt(peak) + 250)
        terms = [a * (log_mass(k - 1) - log_mass(k) - rate) + log_mass(k) - norm for k in near]
        truth = float((a * rate + max(terms) + mp.log(mp.fsum(mp.e ** (t - max(terms)) for t in terms))) / (a - 1))
    assert truth * (1 - 1e-12) <= e.renyi(order) <= truth * (1 + rel)
