"""dp-accounting's events beyond plain noise: trees, the best of several runs, selections; in and out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import epsilens as el
from epsilens.bridges import from_event, to_event


def by_rdp(accounting: Any, event: Any, delta: float) -> float:
    accountant = accounting.rdp.RdpAccountant(
        orders=[1 + x / 20 for x in range(1, 400)] + list(range(22, 400)),
        neighboring_relation=accounting.NeighboringRelation.REPLACE_SPECIAL,
    )
    return float(accountant.compose(event).get_epsilon(delta))


@pytest.mark.parametrize(("leaves", "norm"), [(1, 1.0), (2, 2.0), (15, 4.0), (16, 5.0), (1000, 10.0)])
def test_trees(accounting: Any, leaves: int, norm: float) -> None:
    event = accounting.SingleEpochTreeAggregationDpEvent(3.0, leaves)
    e = from_event(event)
    # a record is in one block of every size
    assert e.psi() == pytest.approx(math.sqrt(norm) / 3.0, rel=1e-12)
    theirs = by_rdp(accounting, event, 1e-6)
    assert e.epsilon(1e-6) <= theirs <= e.epsilon(1e-6) * 1.15
    assert to_event(e) == event
    several = accounting.SingleEpochTreeAggregationDpEvent(3.0, [1, leaves, 1])
    assert from_event(several).psi() == e.psi()
    assert from_event(event, neighbours="replace").psi() == pytest.approx(2 * e.psi(), rel=1e-12)
    assert to_event(from_event(event, neighbours="replace")) == event
    twice = accounting.SelfComposedDpEvent(event, 4)
    assert from_event(twice).psi() == pytest.approx(2 * e.psi(), rel=1e-12)


def test_empty_trees(accounting: Any) -> None:
    assert from_event(accounting.SingleEpochTreeAggregationDpEvent(3.0, [])).epsilon() == 0
    assert from_event(accounting.SingleEpochTreeAggregationDpEvent(3.0, 0)).epsilon() == 0
    assert from_event(accounting.SingleEpochTreeAggregationDpEvent(0.0, 4)).success() == 1


@pytest.mark.parametrize(("shape", "value"), [(1.0, 2.271), (0.5, 2.097), (0.0, 1.902)])
def test_the_best_of_several_runs(accounting: Any, shape: float, value: float) -> None:
    event = accounting.dp_event.RepeatAndSelectDpEvent(accounting.GaussianDpEvent(4.0), 10, shape)
    found = from_event(event).epsilon(1e-6)
    assert found == pytest.approx(value, abs=2e-3)
    assert found == pytest.approx(by_rdp(accounting, event, 1e-6), rel=2e-3)  # other orders are tried


def test_the_best_of_several_trainings(accounting: Any) -> None:
    step = accounting.PoissonSampledDpEvent(0.01, accounting.GaussianDpEvent(1.0))
    run = accounting.SelfComposedDpEvent(step, 100)
    event = accounting.dp_event.RepeatAndSelectDpEvent(run, 5, 1.0)
    once, best = from_event(run).epsilon(1e-5), from_event(event).epsilon(1e-5)
    assert once < best == pytest.approx(by_rdp(accounting, event, 1e-5), rel=1e-2)
    with pytest.raises(el.InputError, match="Poisson"):
        from_event(accounting.dp_event.RepeatAndSelectDpEvent(run, 5, math.inf))


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.mechanisms.permute_and_flip(epsilon=0.5),
        lambda: el.mechanisms.noisy_max(epsilon=0.5, noise="exponential"),
        lambda: el.mechanisms.noisy_max(epsilon=0.5),
        lambda: el.mechanisms.noisy_max(scale=3.0, sensitivity=2.0, neighbours="replace"),
    ],
)
def test_selections_are_written_as_the_answers_they_equal(accounting: Any, build: Callable[[], Any]) -> None:
    e = build()
    event = to_event(e)
    assert isinstance(event, accounting.LaplaceDpEvent)
    neighbours = str(e.parameters["neighbours"])
    back = from_event(event, neighbours=neighbours)
    assert back.advantage() == pytest.approx(e.advantage(), rel=1e-12)
    assert back.epsilon() == pytest.approx(e.epsilon(), rel=1e-12)


def test_matrices_and_bands(accounting: Any) -> None:
    once = el.mechanisms.matrix([[1.0, 0.0], [0.5, 1.0]], 2.0)
    event = to_event(once)
    assert isinstance(event, accounting.GaussianDpEvent)
    assert from_event(event).psi() == pytest.approx(math.sqrt(1.25) / 2.0, rel=1e-12)
    bands = el.mechanisms.banded(sigma=2.0, rate=0.01, bands=10, steps=2000)
    event = to_event(bands)
    step = accounting.PoissonSampledDpEvent(0.1, accounting.GaussianDpEvent(2.0))
    assert event == accounting.SelfComposedDpEvent(step, 200)
    assert from_event(event).epsilon(1e-6) == pytest.approx(3.80588, rel=1e-3)  # the reference sheet
    leaves = el.mechanisms.tree(16, 2.0, 2, 8)
    assert from_event(to_event(leaves)).psi() == pytest.approx(math.sqrt(12) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("build", "word"),
    [
        (lambda: el.mechanisms.exponential(epsilon=1.0), "ε²/8"),
        (lambda: el.mechanisms.noisy_max(epsilon=1.0, noise="gumbel"), "ε²/8"),
        (lambda: el.mechanisms.discrete_gaussian(sigma=2.0), "ZCDpEvent"),
        (lambda: el.mechanisms.repeat_and_select(el.gaussian(sigma=4.0), mean=10), "RepeatAndSelectDpEvent"),
        (lambda: el.mechanisms.shuffled(1.0, n=100), "to_pld"),
        (lambda: el.mechanisms.pure(epsilon=1.0), "to_pld"),
        (lambda: el.mechanisms.staircase(epsilon=1.0), "to_pld"),
        (lambda: el.mechanisms.from_rdp(2.0, 1.0), "RdpAccountant"),
    ],
)
def test_what_no_event_names_is_refused_in_one_sentence(accounting: Any, build: Callable[[], Any], word: str) -> None:
    with pytest.raises(el.InputError) as said:
        to_event(build())
    assert word in str(said.value)
    assert "\n" not in str(said.value)


def test_unknown_events(accounting: Any) -> None:
    with pytest.raises(el.InputError, match="UnsupportedDpEvent has no experiment here"):
        from_event(accounting.UnsupportedDpEvent())


def test_where_they_are_not_right(accounting: Any) -> None:
    # one record replaced by another moves the sum by two norms; their Rényi accountant counts one
    event = accounting.GaussianDpEvent(2.0)
    relation = accounting.NeighboringRelation.REPLACE_ONE
    counted = accounting.rdp.RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
    exact = accounting.pld.PLDAccountant(relation).compose(event).get_epsilon(1e-5)
    ours = from_event(event, neighbours="replace").epsilon(1e-5)
    assert ours == pytest.approx(4.377178, rel=1e-6)
    assert exact == pytest.approx(ours, rel=1e-4)
    assert counted < 0.5 * ours


def test_fixed_batches(accounting: Any) -> None:
    step = accounting.SampledWithoutReplacementDpEvent(10_000, 100, accounting.GaussianDpEvent(1.0))
    event = accounting.SelfComposedDpEvent(step, 1000)
    e = from_event(event, neighbours="replace")
    low, high = e.bracket("epsilon", delta=1e-5)  # the reference sheet has 13.36082 and 14.8207
    assert low == pytest.approx(13.36082, rel=2e-3)
    assert high == pytest.approx(14.8207, rel=2e-3)
    assert to_event(e) == event
    relation = accounting.NeighboringRelation.REPLACE_ONE
    counted = accounting.rdp.RdpAccountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
    assert counted < 4 < low  # at half the distance: less than an attack reaches
    alone = from_event(event)  # one record more or less
    assert alone.epsilon(1e-5) == pytest.approx(13.36082, rel=2e-3)
    assert (
        from_event(accounting.SampledWithoutReplacementDpEvent(10, 0, accounting.GaussianDpEvent(1.0))).epsilon() == 0
    )
    with pytest.raises(el.InputError, match="GaussianDpEvent"):
        from_event(accounting.SampledWithoutReplacementDpEvent(10, 2, accounting.LaplaceDpEvent(1.0)))


@pytest.mark.parametrize(("most", "value"), [(110, 7.6820), (120, 5.2972), (130, 3.6841), (150, 1.8305)])
def test_truncated_batches(accounting: Any, most: int, value: float) -> None:
    step = accounting.dp_event.TruncatedSubsampledGaussianDpEvent(10_000, 0.01, most, 1.0)
    event = accounting.SelfComposedDpEvent(step, 1000)
    e = from_event(event)
    assert 0.8 * value < e.epsilon(1e-5) <= value  # theirs adds a record as it replaces one
    assert to_event(e) == event
    if most == 120:
        relation = accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
        theirs = accounting.pld.PLDAccountant(relation).compose(event).get_epsilon(1e-5)
        assert theirs == pytest.approx(value, rel=2e-3)


def test_shuffled_batches_have_no_event(accounting: Any) -> None:
    with pytest.raises(el.InputError, match="shuffled batches has no DpEvent"):
        to_event(el.dpsgd(sigma=1.0, n=1000, batch=10, epochs=1, batches="shuffled"))
    with pytest.raises(el.InputError, match="say n and batch"):
        to_event(el.dpsgd(sigma=1.0, rate=0.01, steps=10, batches="fixed"))


def test_groups_and_mixtures_agree_with_their_accountant(accounting: Any) -> None:
    pair = el.dpsgd(sigma=1.0, rate=0.0064, steps=782, people=2)
    mixed = el.mechanisms.mixture(shifts=[0, 1, 3], weights=[0.9, 0.09, 0.01], sigma=2.0).repeat(100)
    for e in (pair, mixed):
        event = to_event(e)
        theirs = accounting.pld.PLDAccountant().compose(event).get_epsilon(1e-6)
        low, high = e.bracket("epsilon", delta=1e-6)
        assert low <= theirs <= high * 1.0001
        assert from_event(event).epsilon(1e-6) == pytest.approx(high, rel=2e-3)


def test_batches_with_replacement_are_read_and_written(accounting: Any) -> None:
    e = el.dpsgd(sigma=2.0, n=10_000, batch=100, steps=1000, batches="with replacement")
    assert from_event(to_event(e)) == e
    with pytest.raises(el.InputError, match="3 people on such batches has no DpEvent"):
        to_event(el.dpsgd(sigma=2.0, rate=0.01, steps=10, people=3, neighbours="replace"))
    with pytest.raises(el.InputError, match="neighbours='add-remove'"):
        from_event(to_event(el.mechanisms.mixture(shifts=[0, 1], weights=[0.9, 0.1], sigma=1.0)), neighbours="replace")
