"""The area under the curve and the best Fβ of products: closed forms of one step, and what holds of any law."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import epsilens as el


def _one_step_auc(sigma: float, rate: float, replace: bool) -> mp.mpf:
    """P(X₁ > X₀) − ½: the loss grows with the observation."""
    with mp.workdps(40):
        mu, q = 1 / mp.mpf(sigma), mp.mpf(rate)
        once, twice = mp.ncdf(mu / mp.sqrt(2)) - 0.5, mp.ncdf(2 * mu / mp.sqrt(2)) - 0.5
        return 2 * q * (1 - q) * once + q * q * twice if replace else q * once


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.3, 1e-9), (5.0, 0.5), (1e4, 1e-5), (0.05, 1e-3)])
def test_auc_of_one_step(sigma: float, rate: float, neighbours: str) -> None:
    e = el.dpsgd(sigma=sigma, rate=rate, steps=1, neighbours=neighbours)
    truth = _one_step_auc(sigma, rate, neighbours == "replace")
    low, high = e.bracket("auc")
    assert low - 0.5 <= truth + 1e-15
    assert truth <= high - 0.5 + 1e-15
    assert high - low <= 5e-3 * (high - 0.5) + 1e-14


@pytest.mark.parametrize(
    ("sigma", "rate", "steps"), [(0.2, 1e-12, 3), (0.8, 1e-5, 17), (1e3, 1e-5, 100), (1.0, 1e-6, 10**6)]
)
def test_auc_lies_between_the_triangle_and_its_parallel(sigma: float, rate: float, steps: int) -> None:
    # the curve passes through the best test and lies below the line of slope 1 through it
    for neighbours in ("add-remove", "replace"):
        e = el.dpsgd(sigma=sigma, rate=rate, steps=steps, neighbours=neighbours)
        (tv, most), (low, high) = e.bracket("advantage"), e.bracket("auc")
        assert 0.5 + tv / 2 <= high + 1e-15
        assert low <= 0.5 + most - most * most / 2 + 1e-15
        assert high - low <= 5e-2 * (high - 0.5) + 1e-14


def test_auc_of_many_normal_steps() -> None:
    psi = 1.0
    pair = el.compose(el.gaussian(psi=psi), el.laplace(epsilon=1e-9))
    low, high = pair.bracket("auc")
    with mp.workdps(30):
        truth = mp.ncdf(mp.mpf(psi) / mp.sqrt(2))
    assert low <= truth + 1e-9
    assert truth <= high


@pytest.mark.parametrize("prior", [1e-12, 1e-3, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.3, 1e-6), (100.0, 0.1)])
def test_fbeta_of_one_step(sigma: float, rate: float, prior: float) -> None:
    beta, c, mu = 1.0, (1 - prior) / prior, 1 / sigma
    with mp.workdps(30):
        # thresholds from flagging everyone to next to nobody, then closer around the best
        def value(x: mp.mpf) -> mp.mpf:
            alpha = mp.ncdf(-x)
            recall = (1 - rate) * alpha + rate * mp.ncdf(mu - x)
            return (1 + beta**2) * recall / (recall + c * alpha + beta**2)

        around, reach = mp.mpf(0), mp.mpf(20)
        for _ in range(12):
            places = [around + reach * mp.mpf(i) / 20 for i in range(-20, 21)]
            around = max(places, key=value)
            reach /= 8
        best = max(value(around), 1 / (1 + c / (1 + beta**2)))
    e = el.dpsgd(sigma=sigma, rate=rate, steps=1)
    low, high = e.bracket("fbeta", beta=beta, prior=prior)
    assert low <= best * (1 + 4e-15)
    assert best <= high * (1 + 4e-15)
    assert high - low <= 4e-3 * (high - 1 / (1 + c / (1 + beta**2))) + 1e-14 * high


def test_a_wide_answer_says_so() -> None:
    e = el.dpsgd(sigma=0.03, rate=0.5, steps=17, neighbours="replace")
    low, high = e.bracket("auc")
    assert e.law.reached is (high - low <= 4e-3 * (high - 0.5) + 1e-14)
    assert low >= 0.9
    assert math.isclose(high, 1.0, rel_tol=1e-6)


def test_readings_of_arrays() -> None:
    e = el.dpsgd(sigma=1.0, rate=0.01, steps=50)
    priors = np.asarray([0.1, 0.5])
    assert np.array_equal(e.fbeta(prior=priors), [e.fbeta(prior=0.1), e.fbeta(prior=0.5)])
