"""Vector answers (paper 000, Theorem 4): the reference sheet's table, and where the paper's bound stands."""

from __future__ import annotations

import html
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import positive

import epsilens as el


@pytest.mark.parametrize(
    ("q", "each", "claimed", "together"),
    [(2, 0.448181, 0.632121, 0.241837), (3, 0.567685, 0.776870, 0.229201), (10, 0.833800, 0.993262, 0.122131)],
)
def test_the_table_of_the_sheet(q: int, each: float, claimed: float, together: float) -> None:
    own, joint = el.vector(epsilon=1.0, q=q, calibration="each"), el.vector(epsilon=1.0, q=q)
    assert own.exact
    assert joint.exact
    assert own.experiment.advantage() == pytest.approx(each, abs=6e-7)
    assert own.claimed.advantage() == pytest.approx(claimed, abs=6e-7)
    assert joint.experiment.advantage() == pytest.approx(together, abs=6e-7)
    assert joint.scalar.advantage() == pytest.approx(0.393469, abs=6e-7)
    assert own.ceiling.advantage() == pytest.approx(math.tanh(q / 2), rel=1e-14)


def test_two_coordinates_in_closed_form() -> None:
    """TV = 1 − (1 + m/2)e^{−m}; F₁* is .754826, not the .819095 claimed. Without the atom at 0 TV would be .412."""
    v = el.vector(epsilon=1.0, q=2, calibration="each")
    assert v.experiment.fbeta() == pytest.approx(0.754826, abs=6e-7)
    assert v.claimed.fbeta() == pytest.approx(0.819095, abs=6e-7)
    for m in (1e-3, 0.1, 1.0, 5.0, 30.0):
        got = el.vector(epsilon=m, q=2, calibration="each").experiment.advantage()
        assert got == pytest.approx(1 - (1 + m / 2) * math.exp(-m), rel=1e-9)


def test_all_in_one_coordinate_is_the_scalar() -> None:
    v = el.vector(epsilon=1.0, shifts=[0.0, 2.0, 0.0], sensitivity=2.0)
    assert v.experiment.direction == "exact"
    assert v.experiment.advantage() == el.laplace(epsilon=1.0).advantage()


@settings(max_examples=20)
@given(positive(0.1, 4.0), st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), min_size=2, max_size=4))
def test_spreading_a_shift_hides_the_person(epsilon: float, shares: list[float]) -> None:
    if sum(shares) == 0:
        return
    v = el.vector(epsilon=epsilon, shifts=np.array(shares) / sum(shares))
    alpha = np.array([0.01, 0.1, 0.5, 0.9])
    assert np.all(v.experiment.roc(alpha) <= v.scalar.roc(alpha) + 1e-12)
    assert np.all(v.experiment.roc(alpha) <= v.ceiling.roc(alpha) + 1e-12)


@pytest.mark.parametrize(("q", "epsilon"), [(2, 0.3), (2, 2.0), (3, 0.3), (3, 2.0), (10, 0.3), (10, 1.0)])
def test_the_papers_bound_holds_on_the_grid_it_was_checked_on(q: int, epsilon: float) -> None:
    v = el.vector(epsilon=epsilon, q=q, calibration="each")
    alpha = np.array([1e-4, 0.01, 0.1, 0.3, 0.5, 0.9])
    assert np.all(v.experiment.roc(alpha) <= v.claimed.roc(alpha) + 1e-12)


def test_normal_noise_adds_up_by_itself() -> None:
    assert el.vector(psi=1.5, q=4, noise="gaussian").experiment.psi() == pytest.approx(1.5, rel=1e-15)
    assert el.vector(psi=1.5, q=4, noise="gaussian", calibration="each").experiment.psi() == pytest.approx(
        3.0, rel=1e-15
    )
    v = el.vector(epsilon=1.0, delta=1e-5, shifts=[3.0, 4.0], sensitivity=10.0, noise="gaussian")
    assert v.experiment.psi() == pytest.approx(el.gaussian(epsilon=1.0, delta=1e-5).psi() / 2, rel=1e-14)
    assert "normal noise" in str(v)


def test_many_or_unlike_coordinates() -> None:
    many = el.vector(epsilon=0.2, q=60, calibration="each")
    assert "at most" in many.sentence or many.exact
    assert many.experiment.advantage() <= 1
    # never below the exact product of fewer
    assert many.experiment.advantage() >= el.vector(epsilon=0.2, q=20, calibration="each").experiment.advantage()
    unlike = el.vector(epsilon=1.0, shifts=[0.5, 0.3, 0.2])
    assert unlike.exact
    equal = el.vector(epsilon=1.0, q=3)
    assert equal.experiment.advantage() < unlike.experiment.advantage() < unlike.scalar.advantage()
    tiny = el.vector(epsilon=1e-12, shifts=[0.7, 0.3])
    assert 0.35e-12 <= tiny.experiment.advantage() <= 0.5e-12
    assert not tiny.exact


def test_it_shows_itself() -> None:
    v = el.vector(epsilon=1.0, q=2, calibration="each")
    assert v.sentence.startswith("With 2 noisy coordinates an adversary's advantage is 0.4482")
    json.dumps(v.to_dict(), allow_nan=False)
    assert v.sentence in html.unescape(v._repr_html_())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 1.0}, "how many coordinates"),
        ({"epsilon": 1.0, "q": 2.5}, "q is 2.5"),
        ({"epsilon": 1.0, "q": 0}, "q is 0"),
        ({"q": 2}, "give epsilon"),
        ({"epsilon": 1.0, "psi": 1.0, "q": 2}, "epsilon alone"),
        ({"epsilon": math.nan, "q": 2}, "NaN"),
        ({"epsilon": [1.0, 2.0], "q": 2}, "single number"),
        ({"epsilon": 1.0, "shifts": [0.8, 0.8]}, "L1 norm"),
        ({"psi": 1.0, "shifts": [0.8, 0.8], "noise": "gaussian"}, "L2 norm"),
        ({"epsilon": 1.0, "shifts": [0.8, 1.2], "calibration": "each"}, "shift 1 is 1.2"),
        ({"epsilon": 1.0, "shifts": [[0.5]]}, "shifts has shape"),
        ({"epsilon": 1.0, "shifts": [0.5], "q": 2}, "differ in length"),
        ({"epsilon": 1.0, "sensitivity": [1.0, 2.0]}, "one number for the vector"),
        ({"epsilon": 1.0, "q": 2, "calibration": "apart"}, "apart"),
        ({"epsilon": 1.0, "q": 2, "noise": "cauchy"}, "cauchy"),
        ({"noise": "gaussian", "q": 2}, "psi or sigma or epsilon"),
    ],
)
def test_one_sentence_for_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError) as refused:
        el.vector(**given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("q", [2, 20])
def test_very_small_and_very_large_losses(q: int) -> None:
    """To leading order TV is half the mean of |Σ±m|, and KL adds up; nothing is undefined at the other end."""
    walk = sum(math.comb(q, i) * 2.0**-q * abs(2 * i - q) for i in range(q + 1))
    for m in (1e-14, 1e-6):
        e = el.vector(epsilon=m, q=q, calibration="each").experiment
        assert e.advantage() == pytest.approx(walk * m / 2, rel=1e-5)
        assert e.kl() == pytest.approx(q * m * m / 2, rel=1e-5)
    for m in (60.0, 700.0):
        e = el.vector(epsilon=m, q=q, calibration="each").experiment
        assert e.advantage() == pytest.approx(1.0, abs=1e-12)
        assert e.auc() == pytest.approx(1.0, abs=1e-12)
        assert e.kl() == pytest.approx(q * (m - 1), rel=1e-10)


@pytest.mark.parametrize("shifts", [(0.9, 0.0001), (0.8, 0.19, 0.00001)])
def test_auc_of_very_unlike_shifts(shifts: tuple[float, ...]) -> None:
    """Within the simulation's error of 400,000 pairs; a narrow coordinate must not cut the wide one's mass off."""
    rng, m = np.random.default_rng(8), 5.0 * np.asarray(shifts)
    noise = rng.laplace(size=(2, 400_000, m.size))
    score = (np.abs(noise + [[[0.0]], [[1.0]]] * m) - np.abs(noise + [[[0.0]], [[1.0]]] * m - m)).sum(axis=-1)
    apart = score[1] - score[0]
    wins = np.mean(apart > 1e-12) + np.mean(np.abs(apart) <= 1e-12) / 2
    assert el.vector(epsilon=5.0, shifts=shifts).experiment.auc() == pytest.approx(wins, abs=1e-3)
