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
            if relation == "replace":
                assert high == pytest.approx(epsilon, rel=5e-3), (sigma, relation)
            assert 0.8 * epsilon < high <= epsilon * (1 + 5e-3)  # theirs adds a record as it replaces one
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


@pytest.mark.parametrize(("shape", "sigma", "mean"), [(0.0, 2.0, 5), (0.5, 2.0, 5), (2.0, 2.0, 5), (0.0, 1.0, 100)])
def test_repeat_and_select_agrees(accounting: Any, shape: float, sigma: float, mean: float) -> None:
    from dp_accounting import dp_event
    from dp_accounting.rdp import rdp_privacy_accountant

    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(sigma), mean, shape)
    orders = np.concatenate((np.linspace(1.01, 8, 200), np.linspace(8, 128, 400)))
    theirs = rdp_privacy_accountant.RdpAccountant(orders=orders.tolist()).compose(event).get_epsilon(DELTA)
    assert el.bridges.from_event(event).epsilon(delta=DELTA) == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_the_best_of_many_pure_runs(eta: float) -> None:
    """ε(2 + η), Papernot & Steinke 2022, Corollary 3, as dp-accounting's own test has it."""
    found = el.mechanisms.repeat_and_select(el.laplace(epsilon=1.0), mean=100, eta=eta).epsilon()
    assert 2 + eta <= found <= (2 + eta) * (1 + 1e-9)


def test_trees_need_no_orders(accounting: Any) -> None:
    """Sixteen leaves have five levels: a shift of √5/σ, exactly; through Rényi orders 7% more."""
    from dp_accounting import dp_event
    from dp_accounting.rdp import rdp_privacy_accountant

    event = dp_event.SingleEpochTreeAggregationDpEvent(2.0, [4, 8, 16])
    relation = accounting.NeighboringRelation.REPLACE_SPECIAL
    orders = np.linspace(1.01, 60, 900).tolist()
    theirs = rdp_privacy_accountant.RdpAccountant(orders=orders, neighboring_relation=relation)
    ours = el.bridges.from_event(event)
    assert ours.psi() == pytest.approx(math.sqrt(5) / 2, rel=1e-12)
    assert ours.epsilon(delta=1e-6) == pytest.approx(el.gaussian(sigma=2 / math.sqrt(5)).epsilon(delta=1e-6), rel=1e-12)
    assert 1.05 < theirs.compose(event).get_epsilon(1e-6) / ours.epsilon(delta=1e-6) < 1.08


def test_mixtures_agree(accounting: Any) -> None:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    event = dp_event.MixtureOfGaussiansDpEvent(1.0, [0, 1, 2], [0.25, 0.5, 0.25])
    theirs = pld_privacy_accountant.PLDAccountant(value_discretization_interval=1e-3).compose(event, 5)
    _, high = el.bridges.from_event(dp_event.SelfComposedDpEvent(event, 5)).bracket("epsilon", delta=1e-6)
    assert high == pytest.approx(theirs.get_epsilon(1e-6), rel=1e-4)
