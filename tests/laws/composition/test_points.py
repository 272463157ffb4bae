"""Products on points: domination from both sides, held against exact sums."""

from __future__ import annotations

import math
from itertools import product as every

import numpy as np
import pytest

from epsilens.laws.composition.grid_product import GridProfile, grid, product
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.normal import NormalStep


def _h(masses: dict[float, float], u: float) -> float:
    return math.fsum(m * -math.expm1(u - loss) for loss, m in masses.items() if loss > u)


def test_a_grid_has_zero_its_ends_and_ratios() -> None:
    found = grid(1e-9, 0.1, (-1e-3, 50.0), np.asarray([0.3]))
    assert found[0] == -1e-3
    assert found[-1] == pytest.approx(50.0)
    assert 0.0 in found
    assert 0.3 in found
    rising = found[found >= 1e-9]
    assert (rising[1:] / rising[:-1]).max() <= 1.1 + 1e-9


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_products_of_atoms_lie_between_the_sides(k: int) -> None:
    # losses that no lattice holds together
    loss = np.asarray([12.0, 1e-9, -3e-10])
    p1 = np.asarray([1e-12, 0.25, 0.75 - 1e-12])
    step = FiniteStep(Atoms(loss, np.log(p1)))
    sums: dict[float, float] = {}
    for combined in every(range(3), repeat=k):
        total = math.fsum(float(loss[i]) for i in combined)
        sums[total] = sums.get(total, 0.0) + math.prod(float(p1[i]) for i in combined)
    edges = grid(1e-14, 0.05, (-1e-3, 200.0), np.zeros(0))
    upper, lower, rho, _ = product([(step, k)], False, edges, -90.0, 10**8) or pytest.fail("too many pairs")
    view = GridProfile(upper, lower, rho, 0)
    for u in (0.0, 1e-10, 1e-9, 1.0, 11.0, 12.0, 20.0):
        low, high = (float(v) for v in view.delta(np.asarray(u)))
        truth = _h(sums, u)
        if truth > 0:
            assert math.exp(low) <= truth * (1 + 1e-6)
            assert truth <= math.exp(high) * (1 + 1e-6)


@pytest.mark.parametrize("flipped", [False, True])
def test_masses_are_kept(flipped: bool) -> None:
    step: Step = SampledStep(NormalStep(4.0), 1e-7)
    edges = grid(1e-13, 0.1, (-60.0, 60.0), np.zeros(0))
    made = product([(step, 3)], flipped, edges, -60.0, 10**8)
    assert made is not None
    upper, lower, _, _ = made
    assert upper.mass.sum() + upper.top == pytest.approx(1.0, abs=1e-12)
    assert lower.mass.sum() + lower.top == pytest.approx(1.0, abs=1e-12)
    assert lower.top == 0.0


def test_too_many_pairs_are_refused() -> None:
    step: Step = SampledStep(NormalStep(1.0), 0.01)
    assert product([(step, 4)], False, grid(1e-6, 0.1, (-50.0, 50.0), np.zeros(0)), -40.0, 1000) is None
