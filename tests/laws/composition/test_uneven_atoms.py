"""Products of atoms that share no lattice, against exact sums over how often each was seen."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import epsilens as el
from epsilens.laws.composition.lattice import discretise
from epsilens.laws.composition.step import Atoms
from epsilens.laws.finite import FiniteStep

MP = mpmath.mp.clone()
MP.dps = 40


class Exact(NamedTuple):
    """Losses of a product, falling, with the masses of both laws there."""

    loss: list[Any]
    p: list[Any]
    q: list[Any]

    def delta(self, epsilon: float) -> Any:
        """Of the worse order."""
        t = MP.exp(epsilon)
        pairs = list(zip(self.p, self.q, strict=True))
        return max(MP.fsum(a - t * b for a, b in pairs if a > t * b), MP.fsum(b - t * a for a, b in pairs if b > t * a))

    def roc(self, alpha: float) -> Any:
        left, recall = MP.mpf(alpha), MP.mpf(0)
        for a, b in zip(self.p, self.q, strict=True):
            share = min(left / b, 1) if b else 1
            left, recall = left - share * b, recall + share * a
            if left <= 0:
                break
        return recall


def exact(p: list[Any], q: list[Any], count: int) -> Exact:
    rows = []
    for seen in combinations_with_replacement(range(len(p)), count):
        times = [seen.count(i) for i in range(len(p))]
        ways = MP.factorial(count)
        for n in times:
            ways /= MP.factorial(n)
        a, b = (ways * MP.fprod(x**n for x, n in zip(law, times, strict=True)) for law in (p, q))
        rows.append((MP.log(a / b), a, b))
    rows.sort(key=lambda row: -row[0])
    return Exact(*(list(column) for column in zip(*rows, strict=True)))


def holds(e: el.Experiment, truth: Exact, slack: float = 0.0, width: float = 1.01e-3) -> None:
    for epsilon in (0.0, 0.3, 1.5):
        low, high = e.bracket("delta", epsilon=epsilon)
        assert low - slack <= truth.delta(epsilon) <= high + slack
        assert high - low <= width * high
    for alpha in (1e-4, 0.05, 0.4):
        low, high = e.bracket("roc", fpr=alpha)
        assert low - slack <= truth.roc(alpha) <= high + slack
        assert high - low <= width * high
    low, high = e.bracket("epsilon", delta=1e-5)
    assert truth.delta(low) >= 1e-5 - slack
    assert truth.delta(high) <= 1e-5 + slack
    assert high - low <= width * high


@pytest.mark.parametrize("count", [7, 40])
def test_three_outcomes(count: int) -> None:
    """Losses of .9, .15 and −.81 share no unit."""
    p, q = [0.5, 0.35, 0.15], [0.2, 0.3, 0.5]
    e = el.mechanisms.finite(q, p).repeat(count)
    ones, others = [MP.mpf(x) for x in p], [MP.mpf(x) for x in q]
    ones, others = [x / MP.fsum(ones) for x in ones], [x / MP.fsum(others) for x in others]
    slack = 1e-12
    holds(e, exact(ones, others, count), slack)
    holds(e.reverse(), exact(others, ones, count), slack)


@pytest.mark.parametrize(("sigma", "rate"), [(0.5, 0.5), (0.5, 0.999)])
def test_sampled_discrete_gaussians(sigma: float, rate: float) -> None:
    """Four answers; ε was (9.3, 22.7) of five at σ = ½, and a recall at 1 false alarm of 5 (.43, 1)."""
    s, r = MP.mpf(sigma), MP.mpf(rate)
    raw = [MP.exp(-(MP.mpf(k) ** 2) / (2 * s * s)) for k in range(-6, 7)]
    total = MP.fsum(raw)
    q = [x / total for x in raw]
    p = [(1 - r) * a + r * b for a, b in zip(q, [MP.mpf("1e-40"), *q[:-1]], strict=True)]
    keep = slice(2, 11)  # from −4 to 4: the rest has 1e-13
    truth = exact(p[keep], q[keep], 4)
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=sigma), rate=rate).repeat(4)
    holds(e, truth, 1e-8)


def test_a_moved_loss_keeps_both_masses() -> None:
    """Atoms move by at most half a step, in both orders, and no mass of either law is lost or made."""
    p, q = np.asarray([0.5, 0.35, 0.15]), np.asarray([0.2, 0.3, 0.5])
    step = FiniteStep(Atoms(np.log(p / q), np.log(p), 0.0, 0.0), False)
    made = discretise(step, 0.1, float(step.atoms.loss.min()), (0.0, 0.0), rounded=True)
    assert made.exact
    assert made.kappa <= 0.05 + 1e-12
    for lattice, log_mass in ((made, step.atoms.log_p), (made.reverse(), step.atoms.log_p - step.atoms.loss)):
        assert np.exp(lattice.upper.log_p).sum() == pytest.approx(math.fsum(np.exp(log_mass)), rel=1e-13)


def test_many_steps_are_left_to_other_lattices() -> None:
    """A million steps cannot be moved by half a step each."""
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=30.0), rate=0.01).repeat(10**6)
    low, high = e.bracket("epsilon", delta=1e-6)
    about = el.dpsgd(sigma=30.0, rate=0.01, steps=10**6).epsilon(delta=1e-6)
    assert low <= about * 1.001
    assert high >= about * 0.999


def test_more_than_all_that_differs_is_no_epsilon() -> None:
    """δ above √(KL/2) of rare draws is answered before anything is composed: this took 2.5 s, and gave 1.6e-12."""
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=0.468), rate=2.5e-6).repeat(3)
    assert e.bracket("epsilon", delta=9.55e-5) == (0.0, 0.0)
