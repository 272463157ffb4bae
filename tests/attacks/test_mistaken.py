"""An adversary who believes a wrong prior or a wrong size of the noise, against simulation and quadrature."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.strategies import any_experiment, positive

import epsilens as el


@given(any_experiment(), st.floats(0, 1), st.floats(0, 1))
def test_a_wrong_prior_is_never_better(e: el.Experiment, prior: float, believed: float) -> None:
    m = el.attacks.mistaken(e, prior=prior, believed_prior=believed)
    assert m.success <= m.best_success
    assert m.best_success == e.success(prior)
    assert m.success >= min(prior, 1 - prior) - 1e-12
    assert el.attacks.mistaken(e, prior=prior, believed_prior=prior).lost <= 1e-9


@given(
    st.sampled_from(["laplace", "gaussian"]),
    positive(0.05, 20.0),
    st.floats(0.01, 0.99),
    st.floats(0.01, 0.99),
    positive(0.05, 20.0),
)
def test_a_wrong_scale_is_never_better(noise: str, size: float, prior: float, believed: float, ratio: float) -> None:
    e = el.laplace(epsilon=size) if noise == "laplace" else el.gaussian(psi=size)
    true = e.parameters["scale" if noise == "laplace" else "sigma"]
    m = el.attacks.mistaken(e, prior=prior, believed_prior=believed, believed_noise=true * ratio)
    assert m.success <= m.best_success
    right = el.attacks.mistaken(e, prior=prior, believed_prior=believed, believed_noise=true)
    assert right.success == pytest.approx(
        el.attacks.mistaken(e, prior=prior, believed_prior=believed).success, rel=1e-12
    )


def test_even_beliefs_make_the_scale_irrelevant() -> None:
    for e in (el.laplace(epsilon=1.0), el.gaussian(psi=1.0)):
        m = el.attacks.mistaken(e, prior=0.5, believed_noise=[0.1, 1.0, 10.0])
        assert m.lost == pytest.approx([0, 0, 0], abs=1e-15)


def test_laplace_in_closed_form() -> None:
    """Threshold u = (b̂/b)·log ĉ: α = ½e^{−(m+u)/2}, recall = 1 − ½e^{(u−m)/2} while |u| < m."""
    m, prior, believed, ratio = 2.0, 0.3, 0.4, 1.7
    u = ratio * math.log((1 - believed) / believed)
    alpha, recall = 0.5 * math.exp(-(m + u) / 2), 1 - 0.5 * math.exp((u - m) / 2)
    got = el.attacks.mistaken(el.laplace(epsilon=m), prior=prior, believed_prior=believed, believed_noise=ratio / m)
    assert got.fpr == pytest.approx(alpha, rel=1e-14)
    assert got.recall == pytest.approx(recall, rel=1e-14)
    assert got.success == pytest.approx((1 - prior) * (1 - alpha) + prior * recall, rel=1e-14)
    assert got.precision == pytest.approx(prior * recall / (prior * recall + (1 - prior) * alpha), rel=1e-14)


def test_normal_in_closed_form() -> None:
    psi, prior, believed, ratio = 1.5, 0.2, 0.35, 0.6
    cut = psi / 2 + ratio**2 * math.log((1 - believed) / believed) / psi
    got = el.attacks.mistaken(el.gaussian(psi=psi), prior=prior, believed_prior=believed, believed_noise=ratio / psi)
    assert got.fpr == pytest.approx(norm.sf(cut), rel=1e-13)
    assert got.recall == pytest.approx(norm.sf(cut - psi), rel=1e-13)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_mistaken_guess_by_simulation(noise: str) -> None:
    """The adversary computes posterior odds from the densities they believe in."""
    rng, n = np.random.default_rng(3), 1_000_000
    prior, believed, true, wrong = 0.25, 0.4, 1.0, 2.5
    secret = rng.random(n) < prior
    draw = rng.laplace(size=n) if noise == "laplace" else rng.normal(size=n)
    x = 1.5 * secret + true * draw
    if noise == "laplace":
        llr = (np.abs(x) - np.abs(x - 1.5)) / wrong
        e = el.laplace(scale=true, sensitivity=1.5)
    else:
        llr = (x**2 - (x - 1.5) ** 2) / (2 * wrong**2)
        e = el.gaussian(sigma=true, sensitivity=1.5)
    guess = llr > math.log((1 - believed) / believed)
    got = el.attacks.mistaken(e, prior=prior, believed_prior=believed, believed_noise=wrong)
    error = 5 * math.sqrt(0.25 / n)
    assert abs(float(np.mean(guess == secret)) - got.success) < error
    assert abs(float(np.mean(secret[guess])) - got.precision) < error / math.sqrt(np.mean(guess))
    assert abs(float(np.mean(guess[secret])) - got.recall) < error / math.sqrt(prior)


def test_edges() -> None:
    e = el.laplace(epsilon=1.0)
    certain = el.attacks.mistaken(e, prior=0.3, believed_prior=1.0)
    assert (certain.fpr, certain.recall, certain.success) == (1.0, 1.0, pytest.approx(0.3))
    blind = el.attacks.mistaken(e, prior=0.3, believed_prior=0.0)
    assert math.isnan(blind.precision)
    assert blind.to_dict()["precision"] is None
    many = el.attacks.mistaken(e, prior=[0.1, 0.5], believed_prior=[[0.5], [0.9]])
    assert many.success.shape == (2, 2)
    assert "4 mistaken adversaries" in str(many)
    json.dumps(many.to_dict(), allow_nan=False)
    assert "is right 70 times of 100" in el.attacks.mistaken(e, prior=0.2, believed_prior=0.5)._repr_html_()
    assert (
        el.attacks.mistaken(el.mechanisms.randomized_response(epsilon=1.0), prior=0.9, believed_prior=0.5).success < 0.9
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prior": 1.2}, "prior is 1.2"),
        ({"believed_prior": math.nan}, "NaN"),
        ({"believed_noise": 0.0}, "above 0"),
        ({"believed_noise": -1.0}, "above 0"),
        ({"believed_noise": 1e300}, "nearer the true"),
        ({"prior": [0.1, 0.2], "believed_prior": [0.1, 0.2, 0.3]}, "broadcast"),
    ],
)
def test_one_sentence_for_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        el.attacks.mistaken(el.gaussian(psi=1.0), **given)


def test_only_noise_has_a_size_to_be_mistaken_about() -> None:
    with pytest.raises(el.InputError, match="no single size of noise"):
        el.attacks.mistaken(el.mechanisms.randomized_response(epsilon=1.0), believed_noise=1.0)
    with pytest.raises(el.InputError, match="experiment is"):
        el.attacks.mistaken("laplace")  # type: ignore[arg-type]


def test_beliefs_that_do_not_fit_many_experiments_are_refused_in_a_sentence() -> None:
    many = el.laplace(epsilon=[0.1, 1.0])
    with pytest.raises(el.InputError, match="believed_noise \\(5,\\), scale \\(2,\\)"):
        el.attacks.mistaken(many, prior=0.5, believed_noise=[1.0] * 5)
    with pytest.raises(el.InputError, match="nearer the true sigma 1"):
        el.attacks.mistaken(el.gaussian(sigma=[1.0, 2.0]), prior=0.5, believed_noise=1e200)
