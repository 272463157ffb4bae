"""Where another accountant reads batches otherwise than they are drawn, and where it agrees.

dp-accounting's event of Gaussian noise has its multiplier in units of one record's norm. Under ``REPLACE_ONE`` two
records are two norms apart. Its PLD accountant counts two, its RDP accountant one, for the same event.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import epsilens as el

DELTA = 1e-5


@pytest.fixture
def rdp(accounting: Any) -> Any:
    from dp_accounting.rdp import rdp_privacy_accountant

    return rdp_privacy_accountant.RdpAccountant(neighboring_relation=accounting.NeighboringRelation.REPLACE_ONE)


def test_one_gaussian_of_two_accountants(accounting: Any, rdp: Any) -> None:
    from dp_accounting.pld import pld_privacy_accountant

    event = accounting.GaussianDpEvent(2.0)
    pld = pld_privacy_accountant.PLDAccountant(accounting.NeighboringRelation.REPLACE_ONE)
    # the truth by bisection of δ = Φ(½ − ε) − e^ε·Φ(−½ − ε), a shift of 2 norms at σ = 2
    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        over = ndtr(0.5 - middle) - math.exp(middle) * ndtr(-0.5 - middle) > DELTA
        low, high = (middle, high) if over else (low, middle)
    ours = el.bridges.from_event(event, neighbours="replace")
    assert ours.epsilon(DELTA) == pytest.approx(high, rel=1e-9) == pytest.approx(4.377178, abs=1e-6)
    assert pld.compose(event).get_epsilon(DELTA) == pytest.approx(high, rel=1e-3)
    claimed = rdp.compose(event).get_epsilon(DELTA)
    assert claimed == pytest.approx(2.166, abs=2e-3)
    assert claimed < 0.5 * high


def test_fixed_batches_of_the_rdp_accountant(accounting: Any, rdp: Any) -> None:
    event = accounting.SampledWithoutReplacementDpEvent(10_000, 100, accounting.GaussianDpEvent(1.0))
    claimed = rdp.compose(accounting.SelfComposedDpEvent(event, 1000)).get_epsilon(DELTA)
    ours = el.dpsgd(sigma=1.0, n=10_000, batch=100, steps=1000, batches="fixed", neighbours="replace")
    low, high = ours.bracket("epsilon", delta=DELTA)
    assert claimed == pytest.approx(3.576, abs=2e-3)
    assert claimed < low / 3  # of an attack that works
    # what is attained, from outside: a contour of one order (sheet), and 1,000 steps at distance 2 by dp-accounting
    from dp_accounting.pld import privacy_loss_distribution as pld

    sampled = pld.from_gaussian_mechanism(0.5, sampling_prob=0.01, value_discretization_interval=1e-3)
    assert low <= sampled.self_compose(1000).get_epsilon_for_delta(DELTA)
    assert low == pytest.approx(13.36082, abs=1e-5)
    assert high == pytest.approx(14.8207, abs=1e-4)


def test_truncated_batches_agree(accounting: Any) -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    for sigma, most, steps in ((1.0, 120, 1000), (0.7, 140, 50)):
        theirs = [
            pld.from_truncated_subsampled_gaussian_mechanism(
                10_000, 0.01, most, sigma, value_discretization_interval=5e-3, neighboring_relation=relation
            )
            .self_compose(steps)
            .get_epsilon_for_delta(DELTA)
            for relation in (
                accounting.pld.privacy_loss_distribution.NeighborRel.ADD_OR_REMOVE_ONE,
                accounting.pld.privacy_loss_distribution.NeighborRel.REPLACE_ONE,
            )
        ]
        given: dict[str, Any] = {"sigma": sigma, "n": 10_000, "batch": 100, "steps": steps, "batches": "truncated"}
        for relation, epsilon in zip(("add-remove", "replace"), theirs, strict=True):
            e = el.dpsgd(**given, truncation=most, neighbours=relation)
            low, high = e.bracket("epsilon", delta=DELTA)
            assert high == pytest.approx(epsilon, rel=5e-3), (sigma, relation)
            assert low <= epsilon


def test_poisson_is_no_number_for_shuffled_batches(accounting: Any) -> None:
    """One epoch of 1,000 batches at σ = 0.5: what everybody's accountant says, beside what an attack reaches."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    claimed = pld.from_gaussian_mechanism(0.5, sampling_prob=1e-3).self_compose(1000).get_delta_for_epsilon(4.0)
    c = np.linspace(0.0, 6.0, 4001)
    quiet = ndtr(c / 0.5) ** 999
    reached = np.max((1 - ndtr((c - 2) / 0.5) * quiet) - math.exp(4.0) * (1 - ndtr((c - 1) / 0.5) * quiet))
    low, high = el.dpsgd(sigma=0.5, n=1000, batch=1, epochs=1, batches="shuffled").bracket("delta", epsilon=4.0)
    assert claimed == pytest.approx(1.745e-6, rel=1e-2)
    assert low == pytest.approx(reached, rel=1e-4)
    assert 1e4 * claimed < low <= high
