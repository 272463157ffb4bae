"""Claims as lines δ(ε), against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import epsilens as el
from epsilens.auditing.result import claim_of, gdp_lines, level_of


def gaussian_delta(mu: float, eps: np.ndarray) -> np.ndarray:
    return np.asarray(norm.cdf(mu / 2 - eps / mu) - np.exp(eps) * norm.cdf(-mu / 2 - eps / mu))


def test_a_gdp_claim_is_the_profile_of_normal_noise() -> None:
    for claim in (claim_of("mu=1.3"), claim_of({"mu": 1.3}), claim_of(el.gaussian(psi=1.3)), gdp_lines(1.3)):
        assert claim.delta == pytest.approx(gaussian_delta(1.3, claim.epsilon), abs=1e-12)
        assert math.isinf(claim.pure)
        assert not claim.bare


def test_a_pure_claim_is_one_line() -> None:
    for said in (
        1.0,
        1,
        "epsilon=1",
        (1.0, 0.0),
        el.mechanisms.pure(epsilon=1.0),
        el.mechanisms.randomized_response(epsilon=1.0),
    ):
        claim = claim_of(said)
        assert (claim.pure, claim.alone, claim.stated) == (1.0, True, 0.0)
        assert claim.most_precise([1.0, 0.01]) == pytest.approx(math.e / (1 + math.e))


def test_laplace_noise_claims_more_than_its_epsilon() -> None:
    claim = claim_of(el.laplace(epsilon=1.0))
    assert claim.pure == 1.0
    assert not claim.alone
    assert claim.delta == pytest.approx(np.maximum(0, 1 - np.exp((claim.epsilon - 1) / 2)), abs=1e-12)
    assert float(claim.most_precise(1.0)) == pytest.approx(1 - math.exp(-0.5) / 2)  # the success of Laplace noise


def test_a_bare_claim_says_so() -> None:
    claim = claim_of("epsilon=1, delta=0.05")
    assert claim.bare
    assert claim.stated == 0.05
    # q ≤ (e^ε + δ/π)/(1 + e^ε)
    assert float(claim.most_precise(0.5)) == pytest.approx((math.e + 0.1) / (1 + math.e))
    assert not claim_of(el.gaussian(epsilon=1.0, delta=1e-5)).bare


def test_the_precision_a_claim_allows_is_a_minimum_over_its_lines() -> None:
    claim = claim_of("mu=1")
    eps = np.linspace(0, 6, 4001)
    for share in (1.0, 0.4, 0.05):
        fine = ((np.exp(eps) + gaussian_delta(1.0, eps) / share) / (1 + np.exp(eps))).min()
        assert fine - 1e-12 <= float(claim.most_precise(share)) <= fine + 2e-3


@pytest.mark.parametrize("said", ["rho=0.5", "order=2, rho=1", el.mechanisms.from_zcdp(0.5)])
def test_other_claims_have_lines_too(said: Any) -> None:
    claim = claim_of(said)
    assert np.all(np.diff(claim.epsilon) > 0)
    assert np.all(np.diff(claim.delta) <= 1e-12)
    # a Gaussian mechanism of ψ = 1 satisfies each of them
    assert np.all(claim.delta >= gaussian_delta(1.0, claim.epsilon) - 1e-12)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "eps=1",
        "epsilon=one",
        "epsilon",
        "epsilon=1, epsilon=2",
        "psi=1, mu=2",
        "rdp=2",
        None,
        True,
        object(),
        (1, 2, 3),
        el.laplace(epsilon=[1.0, 2.0]),
    ],
)
def test_what_is_no_claim_is_refused(said: Any) -> None:
    with pytest.raises(el.InputError, match="claim"):
        claim_of(said)


def test_levels() -> None:
    assert level_of(0.95) == pytest.approx(0.05)
    for bad in (0.0, 1.0, 0.3, 95):
        with pytest.raises(el.InputError, match="confidence"):
            level_of(bad)


def test_a_claim_beyond_all_tests_still_says_its_epsilon() -> None:
    """δ of Laplace noise at ε = 700 and of ψ = 33 is 1 to a double far out, and falls further on: not a bare δ."""
    for claim, own in ((el.laplace(epsilon=700.0), 699.9999), (el.gaussian(psi=33.0), 684.3)):
        said = claim_of(claim)
        assert not said.bare
        assert claim.epsilon(said.stated) == pytest.approx(own, abs=0.01)
    assert claim_of(el.mechanisms.approximate(epsilon=1.0, delta=0.6)).bare
