"""A claim to be judged: each case against numbers found without the library."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

import epsilens as el
from epsilens.catalogue.deployments import deployments
from epsilens.errors import InputError, NoSolutionError
from epsilens.mechanisms.claimed import Noise

TRAINING: dict[str, Any] = {"n": 60_000, "batch": 256, "epochs": 15}


def normal_mu(epsilon: float, delta: float) -> float:
    """μ of Gaussian noise with exactly δ(ε) (Balle & Wang 2018, Theorem 8)."""

    def over(mu: float) -> float:
        a, b = norm.cdf(mu / 2 - epsilon / mu), norm.logcdf(-mu / 2 - epsilon / mu)
        return float(a - math.exp(epsilon + b) - delta)

    return float(brentq(over, 1e-3, 50, xtol=1e-14))


def laplace_renyi(m: float, order: float) -> float:
    """D_a between Laplace laws of scale 1 a distance m apart (Mironov 2017, Proposition 6)."""
    a = order
    inside = (math.log(a / (2 * a - 1)) + m * (a - 1), math.log((a - 1) / (2 * a - 1)) - m * a)
    return float(np.logaddexp(*inside)) / (a - 1)


@pytest.mark.parametrize(("epsilon", "delta"), [(8.0, 1e-6), (3.0, 1e-5), (0.5, 1e-3)])
def test_epsilon_and_delta(epsilon: float, delta: float) -> None:
    c = el.claim(epsilon=epsilon, delta=delta)
    assert c.success() == pytest.approx((math.exp(epsilon) + delta) / (1 + math.exp(epsilon)), rel=1e-12)
    assert c.if_gaussian.success() == pytest.approx(norm.cdf(normal_mu(epsilon, delta) / 2), rel=1e-9)
    m = epsilon - 2 * math.log1p(-delta)
    assert c.if_laplace.success() == pytest.approx(1 - math.exp(-m / 2) / 2, rel=1e-12)

    def mass(x: float) -> float:  # where H1 exceeds e^ε times H0
        return max(math.exp(-abs(x - m)) - math.exp(epsilon - abs(x)), 0.0) / 2

    assert quad(mass, 0, m + 40, points=[(m + epsilon) / 2, m], limit=500)[0] == pytest.approx(delta, rel=1e-5)


def test_the_question_of_epsilon_eight() -> None:
    """More than 99 of 100 if nothing else is known, 99 if Laplace, 78 if Gaussian, 69 for this training."""
    c = el.claim(epsilon=8, delta=1e-6, **TRAINING)
    shown = {case.noise: case.experiment.success() for case in c.cases if case.experiment is not None}
    assert {k: round(100 * v) for k, v in shown.items()} == {
        Noise.ANY: 100, Noise.LAPLACE: 99, Noise.GAUSSIAN: 78, Noise.TRAINING: 69,
    }  # fmt: skip
    assert shown[Noise.ANY] < 1


@pytest.mark.parametrize(("epsilon", "delta"), [(8.0, 1e-6), (3.0, 1e-5)])
def test_a_training_attains_the_claim(epsilon: float, delta: float) -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    trained = el.claim(epsilon=epsilon, delta=delta, **TRAINING).if_training
    sigma, steps = trained.parameters["sigma"], math.ceil(15 * 60_000 / 256)
    one = pld.from_gaussian_mechanism(sigma, sampling_prob=256 / 60_000, value_discretization_interval=1e-4)
    assert one.self_compose(steps).get_epsilon_for_delta(delta) == pytest.approx(epsilon, rel=5e-3)


def test_no_delta_no_gaussian() -> None:
    c = el.claim(epsilon=1.0, **TRAINING)
    assert c.success() == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)
    assert [case.noise for case in c.cases if case.experiment is None] == [Noise.GAUSSIAN, Noise.TRAINING]
    with pytest.raises(NoSolutionError, match="without a δ"):
        _ = c.if_gaussian
    with pytest.raises(InputError, match="no training is known"):
        _ = el.claim(mu=1.0).if_training


@pytest.mark.parametrize("rho", [0.0728, 0.5, 2.63])
def test_concentrated(rho: float) -> None:
    c = el.claim(rho=rho)
    assert c.if_gaussian.success() == pytest.approx(norm.cdf(math.sqrt(2 * rho) / 2), rel=1e-12)
    m = c.if_laplace.parameters["epsilon"]
    most = max(laplace_renyi(m, a) / a for a in 1 + np.geomspace(1e-6, 1e3, 4001))
    assert most == pytest.approx(rho, rel=1e-5)


def test_renyi() -> None:
    c = el.claim(order=8.0, rho=1.0)
    assert c.if_gaussian.success() == pytest.approx(norm.cdf(0.25), rel=1e-12)  # ψ² = 2ρ/a = 1/4
    assert laplace_renyi(c.if_laplace.parameters["epsilon"], 8.0) == pytest.approx(1.0, rel=1e-9)
    several = el.claim(order=[2.0, 32.0], rho=[0.5, 2.0])
    assert several.if_gaussian.psi() == pytest.approx(math.sqrt(min(2 * 0.5 / 2, 2 * 2.0 / 32)), rel=1e-12)


def test_a_training_by_its_orders() -> None:
    """Ten unsampled steps are Gaussian noise of ψ = √10/σ, whose D_a is a·ψ²/2."""
    trained = el.claim(order=4.0, rho=1.0, rate=1.0, steps=10).if_training
    assert trained.parameters["sigma"] == pytest.approx(math.sqrt(10 * 4 / 2), rel=1e-9)


def test_gaussian_claims() -> None:
    c = el.claim(mu=1.0, **TRAINING)
    assert c.success() == c.if_gaussian.success() == pytest.approx(norm.cdf(0.5), rel=1e-12)
    # ψ of a sampled training is √T/σ, however few are sampled
    assert c.if_training.parameters["sigma"] == pytest.approx(math.sqrt(3516), rel=1e-5)


def test_it_is_an_experiment() -> None:
    c, plain = el.claim(epsilon=1.0, delta=1e-6), el.mechanisms.from_dp(1.0, 1e-6)
    assert c == plain
    assert plain == c
    assert hash(c) == hash(plain)
    assert el.compose(c, el.laplace(epsilon=1.0)).success() == el.compose(plain, el.laplace(epsilon=1.0)).success()
    assert c.reverse().success() == plain.reverse().success()
    assert pickle.loads(pickle.dumps(c)) == c
    assert pickle.loads(pickle.dumps(c)).training == c.training
    assert repr(c) == "claim(epsilon=1.0, delta=1e-06)"
    assert c.bracket("success") == plain.bracket("success")


@pytest.mark.parametrize("claimed", [{"mu": 0.0}, {"rho": 0.0}, {"epsilon": 0.0}, {"order": 2.0, "rho": 0.0}])
def test_a_claim_of_nothing(claimed: dict[str, Any]) -> None:
    c = el.claim(**claimed)
    assert c.success() == 0.5
    assert [case.experiment is None for case in c.cases] == [False, True, True]


def test_everything_may_be_told() -> None:
    c = el.claim(epsilon=1.0, delta=1.0)
    assert c.success() == 1
    assert c.cases[1].experiment is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing is claimed"),
        ({"delta": 1e-6}, "nothing is claimed"),
        ({"epsilon": 1.0, "rho": 1.0}, "epsilon and rho are given"),
        ({"mu": 1.0, "delta": 1e-6}, "delta is given beside mu"),
        ({"epsilon": 1.0, "order": 2.0}, "order is given beside epsilon"),
        ({"rho": 1.0, "order": 2.0, "xi": 1.0}, "ξ belongs to zCDP"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"epsilon": "8"}, "epsilon is '8', a str"),
        ({"epsilon": [1.0, 2.0]}, "single number"),
        ({"mu": [1.0, 2.0]}, "single number"),
        ({"rho": 1.0, "xi": [1.0, 2.0]}, "single number"),
        ({"epsilon": 1j}, "give a number"),
        ({"mu": {}}, "give a number"),
        ({"order": 2.0, "rho": lambda a: a}, "rho is a function"),
        ({"epsilon": 1.0, "delta": 1e-6, "rate": [0.1, 0.2], "steps": 5}, "many at once"),
        ({"epsilon": 1.0, "delta": 1e-6, "n": 100}, "n and batch say how large"),
        ({"deployment": "nobody"}, "there is no published deployment 'nobody'"),
        ({"deployment": "apple-emojis", "epsilon": 1.0}, "beside a published deployment"),
        ({"deployment": "uber-flex"}, "a δ that is no number"),
        ({"deployment": 3}, "there is no published deployment '3'"),
    ],
)
def test_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        el.claim(**given)


def test_published_deployments() -> None:
    for known in deployments():
        if known.unread:
            continue
        c = el.claim(known.name)
        assert c.deployment == known
        assert c.name == known.title
        if known.rho is None:
            e, d = known.epsilon or 0.0, known.delta or 0.0
            assert c.success() == pytest.approx((math.exp(e) + d) / (1 + math.exp(e)), rel=1e-12)
        else:
            assert c.if_gaussian.psi() == pytest.approx(math.sqrt(2 * known.rho), rel=1e-12)
