"""dp-accounting's distributions and events, in and out, against the package itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.bridges import from_event, from_pld, to_event, to_pld
from epsilens.experiment import Experiment

LOSS = np.linspace(0.0, 6.0, 61)
ALPHA = np.concatenate((np.geomspace(1e-9, 1e-2, 15), np.linspace(0.02, 0.98, 25)))


@pytest.fixture
def plds(accounting: Any) -> Any:
    return accounting.pld.privacy_loss_distribution


def spent(accounting: Any, event: Any, delta: float, *, replace: bool = False) -> float:
    relation = accounting.NeighboringRelation
    accountant = accounting.pld.PLDAccountant(relation.REPLACE_ONE if replace else relation.ADD_OR_REMOVE_ONE)
    return float(accountant.compose(event).get_epsilon(delta))


# -- distributions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "truth"),
    [
        (lambda p: p.from_gaussian_mechanism(1.0), lambda: el.gaussian(psi=1.0)),
        (lambda p: p.from_laplace_mechanism(2.0), lambda: el.laplace(epsilon=0.5)),
        (lambda p: p.from_gaussian_mechanism(2.0).self_compose(4), lambda: el.gaussian(psi=1.0)),
        (
            lambda p: p.from_privacy_parameters(_parameters(1.0, 0.01)),
            lambda: el.mechanisms.approximate(epsilon=1.0, delta=0.01),
        ),
    ],
)
def test_a_distribution_is_read_as_it_is(
    plds: Any, make: Callable[[Any], Any], truth: Callable[[], Experiment]
) -> None:
    pld, known = make(plds), truth()
    e = from_pld(pld)
    said = np.asarray(pld.get_delta_for_epsilon(LOSS))
    assert np.allclose(e.delta(LOSS), said, rtol=1e-6, atol=1e-11)
    assert np.all(e.delta(LOSS) >= np.asarray(known.delta(LOSS)) * (1 - 1e-12))
    assert np.all(e.roc(ALPHA) >= np.asarray(known.roc(ALPHA)) * (1 - 1e-12))
    assert np.allclose(e.roc(ALPHA), known.roc(ALPHA), rtol=1e-4)
    assert e.direction == "upper"


def _parameters(epsilon: float, delta: float) -> Any:
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    return DifferentialPrivacyParameters(epsilon, delta)


def test_both_orders_of_a_sampled_gaussian(plds: Any) -> None:
    pld = plds.from_gaussian_mechanism(1.0, sampling_prob=0.05).self_compose(50)
    e, known = from_pld(pld), el.dpsgd(sigma=1.0, rate=0.05, steps=50)
    assert e.epsilon(1e-5) == pytest.approx(pld.get_epsilon_for_delta(1e-5), rel=1e-6)
    for mine, truth in ((e, known), (e.reverse(), known.reverse())):  # each order to its own curve
        assert np.allclose(mine.roc(ALPHA), truth.roc(ALPHA), rtol=3e-3)
        low, _ = truth.bracket("roc", fpr=ALPHA)
        assert np.all(mine.roc(ALPHA) >= np.asarray(low) * (1 - 1e-9))
    assert abs(e.roc(1e-3) - e.reverse().roc(1e-3)) > 1e-4  # the orders do differ


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.gaussian(psi=1.0),
        lambda: el.laplace(epsilon=1.0),
        lambda: el.mechanisms.pure(epsilon=2.0),
        lambda: el.mechanisms.approximate(epsilon=1.0, delta=1e-3),
        lambda: el.mechanisms.finite([0.5, 0.3, 0.2, 0.0], [0.2, 0.2, 0.5, 0.1]),
        lambda: el.mechanisms.randomized_response(epsilon=1.2345, k=3),
        lambda: el.laplace(epsilon=1.0, stretch=1.5),
        lambda: el.mechanisms.from_rdp([2.0, 4.0], [0.2, 0.4]),
        lambda: el.mechanisms.pure(epsilon=0.0),
    ],
)
def test_a_distribution_is_written_on_the_safe_side(plds: Any, build: Callable[[], Experiment]) -> None:
    e = build()
    pld = to_pld(e, interval=1e-2)
    assert isinstance(pld, plds.PrivacyLossDistribution)
    said, low = np.asarray(pld.get_delta_for_epsilon(LOSS)), np.asarray(e.delta(LOSS))
    assert np.all(said >= low - 3e-16)
    assert np.all(said <= low + 1e-4)  # dt²/8 · t²δ″
    again = from_pld(pld)
    assert np.all(again.roc(ALPHA) >= np.asarray(e.roc(ALPHA)) * (1 - 1e-12))


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.dpsgd(sigma=1.0, rate=0.05, steps=40),
        lambda: el.dpsgd(sigma=1.0, rate=0.05, steps=40).reverse(),
        lambda: el.dpsgd(sigma=1.0, rate=0.05, steps=40, neighbours="replace"),
        lambda: el.compose(
            el.laplace(epsilon=0.5), el.gaussian(psi=0.5), el.mechanisms.randomized_response(epsilon=0.3).repeat(3)
        ),
    ],
)
def test_a_composition_is_composed_there(plds: Any, build: Callable[[], Experiment]) -> None:
    e = build()
    pld = to_pld(e, interval=1e-3)
    low, high = e.bracket("epsilon", delta=1e-5)
    assert low <= pld.get_epsilon_for_delta(1e-5) <= high * 1.001
    again = from_pld(pld)
    low, high = e.bracket("roc", fpr=0.01)
    assert low * (1 - 1e-9) <= again.roc(0.01) <= high * 1.001


def test_distributions_at_their_edges(plds: Any) -> None:
    assert from_pld(plds.identity()).advantage() == 0.0
    everything = to_pld(el.mechanisms.approximate(epsilon=0.0, delta=1.0))
    assert everything.get_delta_for_epsilon(3.0) == 1.0
    assert from_pld(everything).advantage() == 1.0
    sure = to_pld(el.mechanisms.pure(epsilon=700.0), interval=0.01)
    assert (sure.get_epsilon_for_delta(0.0), from_pld(sure).epsilon()) == (700.0, 700.0)
    faint = to_pld(el.gaussian(psi=1e-8))  # far finer than the grid
    assert faint.get_delta_for_epsilon(0.0) == pytest.approx(el.gaussian(psi=1e-8).delta(0.0), rel=1e-9)


def test_what_is_written_composes_there_as_it_does_here(plds: Any) -> None:
    there = to_pld(el.laplace(epsilon=0.5), interval=1e-3).self_compose(30)
    low, _ = el.laplace(epsilon=0.5).repeat(30).bracket("epsilon", delta=1e-6)
    assert low <= there.get_epsilon_for_delta(1e-6) <= low * 1.01


# -- events -----------------------------------------------------------------------------------------------------


@pytest.mark.always
def test_events_agree_with_their_accountant(accounting: Any) -> None:
    events = accounting.dp_event
    for event in (
        events.GaussianDpEvent(2.0),
        events.SelfComposedDpEvent(events.GaussianDpEvent(10.0), 50),
        events.SelfComposedDpEvent(events.LaplaceDpEvent(5.0), 20),
        events.SelfComposedDpEvent(events.DiscreteLaplaceDpEvent(0.1, 2), 7),
        events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.0)), 500),
        events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.1, events.LaplaceDpEvent(1.0)), 10),
        events.ComposedDpEvent(
            [
                events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.02, events.GaussianDpEvent(1.5)), 100),
                events.LaplaceDpEvent(2.0),
                events.NoOpDpEvent(),
                events.SelfComposedDpEvent(events.ComposedDpEvent([events.GaussianDpEvent(5.0)]), 3),
            ]
        ),
    ):
        e, said = from_event(event), spent(accounting, event, 1e-5)
        low, high = e.bracket("epsilon", delta=1e-5)
        assert low <= said * (1 + 1e-6)
        assert high <= said * 1.003
        assert spent(accounting, to_event(e), 1e-5) == pytest.approx(said, rel=1e-9)  # there and back


def test_counts_of_randomised_response_are_counted(accounting: Any) -> None:
    events = accounting.dp_event
    one = events.RandomizedResponseDpEvent(0.5, 2)
    many = events.SelfComposedDpEvent(one, 100)
    e = from_event(many, neighbours="replace")
    assert spent(accounting, many, 1e-6, replace=True) == pytest.approx(1.0987, abs=1e-3)  # their accountant does not
    assert e.epsilon(1e-6) == pytest.approx(94.29, abs=0.02)
    looped = events.ComposedDpEvent([one] * 100)
    assert e.epsilon(1e-6) == pytest.approx(spent(accounting, looped, 1e-6, replace=True), rel=1e-3)
    assert from_event(looped, neighbours="replace").epsilon(1e-6) == pytest.approx(e.epsilon(1e-6), rel=1e-6)


@pytest.mark.parametrize(("p", "k"), [(0.5, 2), (0.1, 3), (0.9, 10), (1e-6, 4)])
def test_randomised_response_has_their_parameters(accounting: Any, p: float, k: int) -> None:
    event = accounting.dp_event.RandomizedResponseDpEvent(p, k)
    e = from_event(event, neighbours="replace")
    assert e.epsilon() == pytest.approx(np.log((1 - p + p / k) / (p / k)), rel=1e-12)
    back = to_event(e)
    assert (back.noise_parameter, back.num_buckets) == (pytest.approx(p, rel=1e-9), k)


def test_replacing_moves_twice_as_far(accounting: Any) -> None:
    events = accounting.dp_event
    assert from_event(events.GaussianDpEvent(2.0), neighbours="replace").psi() == 1.0
    for event in (events.GaussianDpEvent(2.0), events.LaplaceDpEvent(3.0), events.DiscreteLaplaceDpEvent(0.5, 3)):
        for neighbours in ("replace", "add-remove"):
            assert to_event(from_event(event, neighbours=neighbours)) == event
    sampled = events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.05, events.GaussianDpEvent(1.0)), 20)
    said = spent(accounting, sampled, 1e-5, replace=True)
    low, high = from_event(sampled, neighbours="replace").bracket("epsilon", delta=1e-5)
    assert low <= said * (1 + 1e-6)
    assert high <= said * 1.01


def test_claims_of_zcdp_add_up(accounting: Any) -> None:
    events = accounting.dp_event
    both = events.ComposedDpEvent([events.ZCDpEvent(0.1), events.SelfComposedDpEvent(events.ZCDpEvent(0.2), 2)])
    assert from_event(both).epsilon(1e-5) == pytest.approx(el.mechanisms.from_zcdp(0.5).epsilon(1e-5), rel=1e-9)
    said = accounting.rdp.RdpAccountant().compose(both).get_epsilon(1e-5)
    assert from_event(both).epsilon(1e-5) <= said * (1 + 1e-3)
    sampled = from_event(events.PoissonSampledDpEvent(0.1, events.ZCDpEvent(0.5)))  # what a sampled claim allows
    assert sampled.epsilon(1e-5) >= el.dpsgd(sigma=1.0, rate=0.1, steps=1).bracket("epsilon", delta=1e-5)[0]
    assert sampled.epsilon(1e-5) < el.mechanisms.from_zcdp(0.5).epsilon(1e-5)
    assert to_event(el.mechanisms.from_zcdp(0.3, 0.1)) == events.ZCDpEvent(0.3, 0.1)


def test_nothing_and_everything(accounting: Any) -> None:
    events = accounting.dp_event
    for nothing in (
        events.NoOpDpEvent(),
        events.ComposedDpEvent([]),
        events.SelfComposedDpEvent(events.GaussianDpEvent(1.0), 0),
        events.PoissonSampledDpEvent(0.0, events.GaussianDpEvent(1.0)),
    ):
        assert from_event(nothing).advantage() == 0.0
    for everything in (
        events.NonPrivateDpEvent(),
        events.GaussianDpEvent(0.0),
        events.LaplaceDpEvent(0.0),
        events.ComposedDpEvent([events.GaussianDpEvent(1.0), events.NonPrivateDpEvent()]),
    ):
        assert from_event(everything).advantage() == 1.0
        assert from_event(everything).epsilon(0.5) == np.inf
    bare = events.PoissonSampledDpEvent(0.25, events.GaussianDpEvent(0.0))
    assert from_event(bare).advantage() == 0.25  # who was drawn is given away


# -- bad input --------------------------------------------------------------------------------------------------


def test_bad_input_is_one_sentence(accounting: Any, plds: Any) -> None:
    events = accounting.dp_event
    gaussian = events.GaussianDpEvent(1.0)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: from_pld("x"), "PrivacyLossDistribution"),
        (lambda: from_pld(plds.from_gaussian_mechanism(1.0, pessimistic_estimate=False)), "pessimistic_estimate=True"),
        (lambda: to_pld("x"), "one experiment"),  # type: ignore[arg-type]
        (lambda: to_pld(el.gaussian(psi=[1.0, 2.0])), "one experiment"),
        (lambda: to_pld(el.gaussian(psi=1.0), interval=0.0), "interval"),
        (lambda: to_pld(el.gaussian(psi=50.0), interval=1e-6), "larger"),
        (lambda: from_event("x"), "DpEvent"),
        (lambda: from_event(events.UnsupportedDpEvent()), "UnsupportedDpEvent has no experiment"),
        (
            lambda: from_event(events.SampledWithReplacementDpEvent(10, 2, events.LaplaceDpEvent(1.0))),
            "experiment here",
        ),
        (lambda: from_event(events.RandomizedResponseDpEvent(0.5, 2)), "neighbours='replace'"),
        (lambda: from_event(events.PoissonSampledDpEvent(1.5, gaussian)), "probability"),
        (lambda: from_event(events.GaussianDpEvent(-1.0)), "noise_multiplier"),
        (lambda: from_event(events.GaussianDpEvent(float("nan"))), "NaN"),
        (lambda: from_event(gaussian, neighbours="x"), "neighbours"),
        (
            lambda: from_event(events.PoissonSampledDpEvent(0.5, events.SelfComposedDpEvent(gaussian, 2))),
            "sample each release",
        ),
        (lambda: to_event(el.mechanisms.pure(epsilon=1.0)), "no DpEvent"),
        (lambda: to_event(el.laplace(epsilon=1.0, stretch=2.0)), "no DpEvent"),
        (
            lambda: to_event(el.subsample(el.mechanisms.randomized_response(epsilon=1.0), 0.5, neighbours="replace")),
            "sample",
        ),
    ]
    for call, word in calls:
        with pytest.raises(el.InputError) as said:
            call()
        assert word in str(said.value), str(said.value)
        assert "\n" not in str(said.value)
