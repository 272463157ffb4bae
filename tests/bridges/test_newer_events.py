"""Events that dp-accounting's repository has and its release 0.6.0 has not, by name and fields, and what jax_privacy
makes of events: fixed batches of discrete noise, and no noise at all as an infinite ρ.

Where the package installed knows an event itself, that one is used; else one of the same name and fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attr
import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import epsilens as el
from epsilens.bridges import from_event, to_event

FIELDS: dict[str, dict[str, Any]] = {
    "EpsilonDeltaDpEvent": {"epsilon": attr.ib(), "delta": attr.ib()},
    "DiscreteGaussianDpEvent": {"sigma": attr.ib(), "sensitivity": attr.ib(1.0), "dimension": attr.ib(None)},
    "ExponentialMechanismDpEvent": {"epsilon": attr.ib()},
    "PermuteAndFlipDpEvent": {"epsilon": attr.ib()},
}


@pytest.fixture
def events(accounting: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """dp-accounting's events, with those that came later."""
    module = accounting.dp_event
    for name, fields in FIELDS.items():
        if not hasattr(module, name):
            made = attr.make_class(name, fields, bases=(module.DpEvent,), frozen=True)
            monkeypatch.setattr(module, name, made, raising=False)
    return module


def test_claims_of_epsilon_and_delta(events: Any) -> None:
    """The numbers of their own test: (1, 0.1) and (2, 0.2) together, and the same without δ."""
    claim = events.EpsilonDeltaDpEvent
    both = from_event(events.ComposedDpEvent([claim(1.0, 0.1), claim(2.0, 0.2)]))
    assert both.delta(3.0) == pytest.approx(0.28, rel=1e-12)
    assert both.epsilon(0.28) == pytest.approx(3.0, rel=1e-9)
    assert both.roc(0.1) == pytest.approx(0.91938, abs=1e-5)
    pure = from_event(events.ComposedDpEvent([claim(1.0, 0.0), claim(2.0, 0.0)]))
    assert pure.epsilon() == pytest.approx(3.0, rel=1e-12)
    assert pure.roc(0.1) == pytest.approx(0.8286, abs=1e-4)
    assert pure.mu(level=0.005) == pytest.approx(2.358, abs=1e-3)
    assert pure.bracket("advantage")[0] == 0  # a claim says nothing from below
    ten = from_event(events.SelfComposedDpEvent(claim(0.0, 0.001), 10))
    assert ten.delta(0.0) == pytest.approx(1 - 0.999**10, rel=1e-12)
    noisy = from_event(events.ComposedDpEvent([events.GaussianDpEvent(1.0), claim(0.0, 0.01)]))
    assert noisy.epsilon(0.02) == pytest.approx(el.gaussian(psi=1.0).epsilon(1 - 0.98 / 0.99), rel=1e-6)
    assert noisy.epsilon(0.005) == math.inf
    assert from_event(claim(0.0, 0.0)).advantage() == 0
    assert from_event(claim(math.inf, 0.0)).advantage() == from_event(claim(0.0, 1.0)).advantage() == 1


def test_discrete_noise(events: Any) -> None:
    one, vector = events.DiscreteGaussianDpEvent(2.0, 3, 1), events.DiscreteGaussianDpEvent(2.0, 3)
    # exactly: Σ_k max(p_k − e·p_{k−3}, 0)
    k = np.arange(-60, 61)
    p = np.exp(-(k**2) / 8.0)
    delta = np.maximum(p - math.e * np.exp(-((k - 3) ** 2) / 8.0), 0).sum() / p.sum()
    assert from_event(one).delta(1.0) == pytest.approx(delta, rel=1e-12)
    assert from_event(vector).epsilon(1e-6) == pytest.approx(el.mechanisms.from_zcdp(9 / 8).epsilon(1e-6), rel=1e-12)
    assert from_event(events.SelfComposedDpEvent(vector, 4)).epsilon(1e-6) == el.mechanisms.from_zcdp(4.5).epsilon(1e-6)
    assert from_event(vector, neighbours="replace").epsilon(1e-6) == el.mechanisms.from_zcdp(4.5).epsilon(1e-6)
    for event in (events.DiscreteGaussianDpEvent(0.0, 3, 1), events.DiscreteGaussianDpEvent(0.0)):
        assert from_event(event).advantage() == 1
    assert from_event(events.DiscreteGaussianDpEvent(1.0, 0, 1)).advantage() == 0
    sampled = from_event(events.PoissonSampledDpEvent(0.1, one))
    assert sampled.delta(0.0) == pytest.approx(0.1 * from_event(one).delta(0.0), rel=1e-9)


def test_selections_are_counted(events: Any) -> None:
    """Their RDP accountant says 1.0058 of one exponential mechanism of ε = 1 and of a hundred, at δ = 1e-6."""
    one = events.ExponentialMechanismDpEvent(1.0)
    assert from_event(one).advantage() == pytest.approx(math.tanh(0.25), rel=1e-12)
    hundred = from_event(events.SelfComposedDpEvent(one, 100))
    # two equal halves of outcomes whose scores move apart: a hundred answers with a loss of ±1/2, exactly
    j = np.arange(101.0)
    log_p = gammaln(101) - gammaln(j + 1) - gammaln(101 - j) + 0.5 * j - 100 * np.logaddexp(0.0, 0.5)
    loss = j - 50.0

    def reached(epsilon: float) -> float:
        above = loss > epsilon
        return float(np.exp(logsumexp(log_p[above] + np.log(-np.expm1(epsilon - loss[above])))))

    assert reached(30.0) > 1e-6
    assert 30.0 < hundred.epsilon(1e-6) < 37.5  # 37.259 by their own accountant, one event after the other
    assert from_event(events.PermuteAndFlipDpEvent(1.0)).advantage() == pytest.approx(1 - math.exp(-0.5), rel=1e-12)
    for name in ("ExponentialMechanismDpEvent", "PermuteAndFlipDpEvent"):
        assert from_event(getattr(events, name)(0.0)).advantage() == 0


@pytest.mark.parametrize(
    "build",
    [
        lambda ev: ev.EpsilonDeltaDpEvent(1.0, 0.01),
        lambda ev: ev.EpsilonDeltaDpEvent(0.5, 0.0),
        lambda ev: ev.DiscreteGaussianDpEvent(2.0, 3, 1),
        lambda ev: ev.SelfComposedDpEvent(ev.DiscreteGaussianDpEvent(2.0, 1, 1), 5),
        lambda ev: ev.PermuteAndFlipDpEvent(0.7),
        lambda ev: ev.NonPrivateDpEvent(),
    ],
)
def test_there_and_back(events: Any, build: Callable[[Any], Any]) -> None:
    event = build(events)
    for neighbours in ("add-remove", "replace"):
        assert to_event(from_event(event, neighbours=neighbours)) == event


def test_without_them_nothing_changes(accounting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FIELDS:
        monkeypatch.delattr(accounting.dp_event, name, raising=False)
    assert isinstance(to_event(el.mechanisms.permute_and_flip(epsilon=1.0)), accounting.LaplaceDpEvent)
    for e in (el.mechanisms.pure(epsilon=1.0), el.mechanisms.discrete_gaussian(sigma=2.0)):
        with pytest.raises(el.InputError, match="to_pld"):
            to_event(e)


# -- as jax_privacy makes them ----------------------------------------------------------------------------------------


def test_no_noise_is_an_infinite_rho(events: Any) -> None:
    nothing = events.ZCDpEvent(math.inf)
    assert from_event(nothing).advantage() == 1
    assert from_event(events.SelfComposedDpEvent(nothing, 10)).advantage() == 1
    drawn = events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, nothing), 10)
    assert from_event(drawn).epsilon(1e-6) == math.inf
    batch = events.SampledWithoutReplacementDpEvent(1000, 16, nothing)
    assert from_event(batch, neighbours="replace").advantage() == pytest.approx(0.016, rel=1e-12)


def fixed(events: Any, inner: Any, steps: int) -> Any:
    return events.SelfComposedDpEvent(events.SampledWithoutReplacementDpEvent(1000, 16, inner), steps)


def test_fixed_batches_of_other_releases(events: Any) -> None:
    """δ at log(1 + q(e^ε − 1)) is q times δ at ε: in closed form of Laplace noise, two norms apart."""
    e = from_event(fixed(events, events.LaplaceDpEvent(1.0), 1), neighbours="replace")
    assert e.epsilon() == pytest.approx(math.log1p(0.016 * math.expm1(2.0)), rel=1e-9)
    for at in (0.0, 0.5, 1.5):
        true = -0.016 * math.expm1((at - 2.0) / 2)
        assert true * (1 - 1e-12) <= e.delta(math.log1p(0.016 * math.expm1(at))) <= true * (1 + 1e-5)
    response = from_event(fixed(events, events.RandomizedResponseDpEvent(0.5, 2), 1), neighbours="replace")
    assert response.epsilon() == pytest.approx(math.log1p(0.016 * 2), rel=1e-9)  # of an ε of log 3
    with pytest.raises(el.InputError, match="neighbours='replace'"):
        from_event(fixed(events, events.LaplaceDpEvent(1.0), 1))


@pytest.mark.parametrize(("steps", "slack"), [(1, 2e-5), (128, 5e-4)])
def test_a_claim_drawn_by_fixed_batches(events: Any, steps: int, slack: float) -> None:
    """What is told by its profile alone, against normal noise whose fold is known otherwise (``SymmetrizedStep``)."""
    from epsilens.bridges.accounting import fixed_batch_claim

    noise = el.gaussian(sigma=2.0, sensitivity=2.0, neighbours="replace")
    told = fixed_batch_claim(noise, 0.016, steps, None)
    known = el.dpsgd(sigma=2.0, n=1000, batch=16, steps=steps, batches="fixed", neighbours="replace")
    assert told is not None
    low, high = known.bracket("epsilon", delta=1e-6)
    assert low <= told.epsilon(1e-6)
    assert high * (1 - 1e-6) <= told.epsilon(1e-6) <= high * (1 + slack)
    # a ρ of 2/σ² says less than the noise itself
    claimed = from_event(fixed(events, events.ZCDpEvent(0.5), steps), neighbours="replace")
    assert high < claimed.epsilon(1e-6) < 1.5 * high
