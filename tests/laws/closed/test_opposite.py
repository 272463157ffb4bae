"""Mixtures on opposite sides: against quadrature, against one record replaced, and against vectors drawn at random."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import mpmath as mp
import numpy as np
import pytest

import epsilens as el
from epsilens.laws.closed.mixture import group_step
from epsilens.laws.closed.normal import NormalReplaced, NormalStep
from epsilens.laws.closed.opposite import Opposite, group_replaced
from epsilens.laws.composition.law import Loss
from epsilens.laws.composition.sampled import Sampled


def test_one_record_is_the_sample_whose_record_is_replaced() -> None:
    for mu, rate in ((1.0, 0.01), (0.2, 0.5), (3.0, 1e-5)):
        known, here = Loss([(NormalReplaced(mu, rate), 50)]), Loss([(Opposite(Sampled(NormalStep(mu), rate)), 50)])
        for delta in (1e-3, 1e-8):
            found = [float(law.profile_inverse(np.asarray(delta))) for law in (known, here)]
            assert found[0] == pytest.approx(found[1], rel=2e-3)
        assert float(known.kl()) == pytest.approx(float(here.kl()), rel=1e-10)
        assert float(known.log_moment(np.asarray(5.0))) == pytest.approx(
            float(here.log_moment(np.asarray(5.0))), rel=1e-10
        )
        assert float(known.psi()) == float(here.psi())


@pytest.mark.parametrize(("mu", "rate", "people"), [(1.0, 0.1, 3), (0.05, 0.6, 12), (2.5, 1e-3, 2)])
def test_the_loss_and_the_tails(mu: float, rate: float, people: int) -> None:
    mp.mp.dps = 40
    step = group_replaced(mu, rate, people)
    weights = [
        mp.binomial(people, j) * mp.mpf(rate) ** j * (1 - mp.mpf(rate)) ** (people - j) for j in range(people + 1)
    ]
    shifts = [mp.mpf(mu) * j for j in range(people + 1)]

    def density(x: mp.mpf, sign: int) -> mp.mpf:
        return sum(w * mp.npdf(x - sign * c) for w, c in zip(weights, shifts, strict=True))

    x = np.array([-9.0, -2.0, -1e-3, 0.4, 6.0])
    loss, error = step.loss(x), step.error(x)
    for at, found, most in zip(x.tolist(), loss.tolist(), error.tolist(), strict=True):
        assert abs(found - mp.log(density(mp.mpf(at), 1) / density(mp.mpf(at), -1))) <= most
        assert float(step.log_p0(np.asarray(at))) == pytest.approx(float(mp.log(density(mp.mpf(at), -1))), rel=1e-12)
        tail = sum(w * mp.ncdf(c - mp.mpf(at)) for w, c in zip(weights, shifts, strict=True))
        assert step.above(at)[0] == pytest.approx(float(mp.log(tail)), rel=1e-11, abs=1e-14)
    assert np.allclose(step.place(loss), x, rtol=1e-8)
    assert float(step.place(np.asarray(0.0))) == 0
    low, high = step.reach(-30.0, -50.0)
    assert step.above(high)[0] <= -30
    assert step.below(low)[1] <= -50


@pytest.mark.parametrize(("mu", "rate", "people"), [(1.0, 0.3, 2), (0.7, 0.05, 4)])
def test_two_steps_by_quadrature(mu: float, rate: float, people: int) -> None:
    x = np.linspace(-16, 16, 3201)
    weights = [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]
    h1, h0 = (
        sum(w * np.exp(-((x - s * j * mu) ** 2) / 2) / math.sqrt(2 * math.pi) for j, w in enumerate(weights))
        for s in (1, -1)
    )
    cell = (x[1] - x[0]) ** 2
    both1, both0 = np.multiply.outer(h1, h1), np.multiply.outer(h0, h0)
    law = Loss([(group_replaced(mu, rate, people), 2)])
    for epsilon in (0.0, 0.5, 2.0):
        truth = float(np.maximum(both1 - math.exp(epsilon) * both0, 0).sum()) * cell
        low, high = (float(one.profile(np.asarray(epsilon))) for one in (law.other_side(), law))
        assert low <= truth * (1 + 1e-4)
        assert high >= truth * (1 - 1e-4)
        assert high <= low * 1.001


def test_no_vectors_tell_more() -> None:
    # records of a group in the plane, each of norm μ at most, drawn or not: every threshold, both orders
    rng = np.random.default_rng(7)
    grid = np.linspace(-13, 13, 391)
    across, up = np.meshgrid(grid, grid)
    cell = (grid[1] - grid[0]) ** 2

    def density(records: list[np.ndarray], rate: float) -> np.ndarray:
        total, k = np.zeros(across.shape), len(records)
        for size in range(k + 1):
            for drawn in combinations(range(k), size):
                v = sum((records[i] for i in drawn), np.zeros(2))
                weight = rate**size * (1 - rate) ** (k - size) / (2 * math.pi)
                total += weight * np.exp(-((across - v[0]) ** 2 + (up - v[1]) ** 2) / 2)
        return total

    for _ in range(12):
        people, rate, mu = int(rng.integers(1, 4)), float(rng.uniform(0.05, 0.9)), float(rng.uniform(0.3, 2.0))

        def record(most: float = mu) -> np.ndarray:
            angle, size = rng.uniform(0, 2 * math.pi), most * min(1.0, rng.uniform(0, 1.5))
            return size * np.array([math.cos(angle), math.sin(angle)])

        ones, others = ([record() for _ in range(people)] for _ in range(2))
        h1, h0, nobody = density(ones, rate), density(others, rate), density([], rate)
        replaced = Loss([(group_replaced(mu, rate, people), 1)])
        added = Loss([(group_step(mu, rate, people), 1)])
        for u in (-2.0, -0.3, 0.0, 0.4, 1.5):
            t = math.exp(u)
            assert np.maximum(h1 - t * h0, 0).sum() * cell <= float(replaced.profile(np.asarray(u))) + 1e-9
            assert np.maximum(h1 - t * nobody, 0).sum() * cell <= float(added.profile(np.asarray(u))) + 1e-9


def test_groups_of_groups() -> None:
    step = group_replaced(0.5, 0.1, 2)
    assert step.moves
    assert step.grouped(3) == group_replaced(0.5, 0.1, 6)
    assert NormalReplaced(0.5, 0.1).grouped(6) == group_replaced(0.5, 0.1, 6)
    assert pickle.loads(pickle.dumps(step)) == step
    e = el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=100, neighbours="replace"), 3)
    low, high = e.bracket("epsilon", delta=1e-5)
    assert 0 < low <= high <= low * 1.001
    added = el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=100), 3)
    assert high > added.epsilon(1e-5)
