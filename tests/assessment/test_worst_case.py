"""Several Laplace numbers in closed form, against a grid, the sheet's two-number form, dice and certified brackets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilens.assessment.worst_case import MovementPair, WorstCase, largest_movements, movement_pair
from epsilens.laws.laplace import has_closed_form, laplace_vector_delta
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.file import read_release
from epsilens.plan.movement import Move, Movement

READINGS = [
    ("success", {"prior": 0.5}), ("success", {"prior": 0.1}), ("advantage", {}), ("delta", {"epsilon": 0.3}),
    ("posterior", {"prior": 0.3}), ("roc", {"fpr": 0.01}), ("recall", {"fpr": 0.3}), ("epsilon", {"delta": 1e-3}),
    ("precision", {"fpr": 0.05, "prior": 0.2}),
]  # fmt: skip


@pytest.mark.parametrize(("s", "t", "epsilon"), [(1.0, 1.0, 0.0), (1.0, 0.5, 0.2), (2.0, 0.3, 1.0), (3.0, 2.5, 4.0)])
def test_two_numbers_as_the_sheet_has_them(s: float, t: float, epsilon: float) -> None:
    y = max(0.0, (epsilon - s + t) / 2)
    sheet = 1 - (1 + (t - y) / 2) * math.exp((epsilon - s - t) / 2)
    assert laplace_vector_delta(tuple(sorted([(s, 1), (t, 1)])), epsilon) == pytest.approx(sheet, abs=1e-14)


def test_five_numbers_by_dice() -> None:
    shifts = (0.2, 0.5, 0.5, 1.0, 1.7)
    noise = np.random.default_rng(4).laplace(size=(1_000_000, 5))
    loss = (np.abs(noise + shifts) - np.abs(noise)).sum(axis=1)  # in the second world
    for epsilon in (-0.5, 0.0, 0.7, 2.0):
        gain = np.maximum(-np.expm1(epsilon - loss), 0)
        found = laplace_vector_delta(((0.2, 1), (0.5, 2), (1.0, 1), (1.7, 1)), epsilon)
        assert found == pytest.approx(gain.mean(), abs=5 * gain.std() / 1000)


def test_every_reading_lies_in_the_certified_bracket() -> None:
    rng = np.random.default_rng(0)
    for _ in range(6):
        shifts = tuple(sorted((float(t), 1) for t in np.exp(rng.uniform(-4, 1.5, rng.integers(1, 6)))))
        facing = WorstCase((MovementPair(shifts, 0.0, 0.0, float(rng.choice([0.0, 1e-6, 0.01]))),))
        for reading, arguments in READINGS:
            low, high = facing.experiments[0].bracket(reading, **arguments)
            assert float(low) - 1e-9 <= facing.read(reading, arguments) <= float(high) + 1e-9


def test_what_keeps_its_digits() -> None:
    assert has_closed_form([(1.0, 10)])
    assert not has_closed_form([(1.0, 11)])
    assert not has_closed_form([(601.0, 1)])


@pytest.mark.always
def test_movements_that_another_exceeds_are_left_out() -> None:
    rng, left_out = np.random.default_rng(5), 0
    plan = read_release({"data": {"table": "t.csv"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.3}})
    for _ in range(60):
        amounts = rng.choice([0.2, 0.5, 1.0, 1.5], size=(4, 3))
        each = tuple(Movement(tuple(Move(0, NoisyNumber.ANSWER, float(a)) for a in row)) for row in amounts)
        largest = largest_movements(plan, each)
        left_out += len(each) - len(largest)
        for epsilon in (0.3, 1.3, 4.0):
            pairs = [[movement_pair(plan, m, epsilon) for m in ms] for ms in (each, largest)]
            every, few = (WorstCase(tuple(filter(None, made))) for made in pairs)
            for reading, given in (("success", {"prior": 0.2}), ("delta", {"epsilon": 0.7}), ("roc", {"fpr": 0.01})):
                assert few.read(reading, given) == pytest.approx(every.read(reading, given), rel=1e-12)
    assert left_out > 60  # most that can be: three of four


def test_names_are_compared_beside_what_moves() -> None:
    plan = read_release({
        "data": {"table": "t.csv"}, "queries": [{"count": True, "by": "ward", "threshold": 5}],
        "mechanism": {"epsilon": 1},
    })  # fmt: skip
    far, named = Movement((Move(0, NoisyNumber.ANSWER, 2.0),)), Movement((), ((0, 1, 0),))
    both = Movement(far.moves, named.alone)
    assert largest_movements(plan, (far, named, both, Movement())) == (far, both)
