"""The least privacy loss consistent with an observed attack: each curve passes through the point, none below does."""

from __future__ import annotations

import json
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import positive

import epsilens as el

RATES = st.one_of(st.floats(1e-6, 1 - 1e-6), positive(1e-300, 1e-3))


@given(RATES, RATES)
def test_the_curve_passes_through_the_point(fpr: float, tpr: float) -> None:
    o = el.attacks.observed(fpr=fpr, tpr=tpr)
    low, high = (fpr, tpr) if tpr >= fpr else (1 - fpr, 1 - tpr)
    assert o.flipped == (tpr < fpr)
    if o.laplace > 1e-9:
        assert el.laplace(epsilon=o.laplace).roc(low) == pytest.approx(high, rel=1e-9)
        assert el.mechanisms.pure(epsilon=o.pure).roc(low) == pytest.approx(high, rel=1e-9)
    if o.gaussian > 1e-9:
        assert el.gaussian(psi=o.gaussian).roc(low) == pytest.approx(high, rel=1e-7)
    assert o.pure <= o.laplace * (1 + 1e-12)  # any ε-DP release includes Laplace noise


@given(positive(1e-6, 30.0), st.floats(1e-4, 0.999))
def test_the_optimal_adversary_gives_epsilon_away(epsilon: float, alpha: float) -> None:
    recall = el.laplace(epsilon=epsilon).roc(alpha)
    if recall < 1 - 1e-9:
        assert el.attacks.observed(fpr=alpha, tpr=recall).laplace == pytest.approx(epsilon, rel=1e-6, abs=1e-11)
    recall = el.gaussian(psi=epsilon / 6).roc(alpha)
    if recall < 1 - 1e-9:
        assert el.attacks.observed(fpr=alpha, tpr=recall).gaussian == pytest.approx(epsilon / 6, rel=1e-5, abs=1e-10)


@given(positive(0.01, 10.0), st.floats(0.01, 0.9), st.floats(0.05, 0.95))
def test_precision_and_recall_say_the_same(epsilon: float, alpha: float, prior: float) -> None:
    e = el.laplace(epsilon=epsilon)
    recall, precision = e.recall(alpha), e.precision(alpha, prior)
    o = el.attacks.observed(precision=precision, recall=recall, prior=prior)
    if recall < 1 - 1e-6 and precision < 1 - 1e-6:
        assert o.fpr == pytest.approx(alpha, rel=1e-6)
        assert o.laplace == pytest.approx(epsilon, rel=1e-4, abs=1e-8)


@given(st.floats(1e-4, 1 - 1e-4), st.floats(1e-4, 1 - 1e-4), st.floats(1e-9, 0.5))
def test_with_delta_set_aside(fpr: float, tpr: float, delta: float) -> None:
    o = el.attacks.observed(fpr=fpr, tpr=tpr, delta=delta)
    low, high = (fpr, tpr) if tpr >= fpr else (1 - fpr, 1 - tpr)
    assert o.approximate <= o.pure
    assert el.mechanisms.approximate(epsilon=max(o.approximate, 1e-12), delta=delta).roc(low) >= high * (1 - 1e-9)
    if o.approximate > 1e-3:
        assert el.mechanisms.approximate(epsilon=o.approximate * (1 - 1e-6), delta=delta).roc(low) < high


def test_against_high_precision() -> None:
    mp.mp.dps = 40
    for a, r in ((0.1, 0.3), (1e-250, 1e-240), (0.2, 0.2 + 1e-12), (0.499, 0.5005), (0.9, 0.9 + 1e-13), (1e-9, 0.9)):
        x, y = mp.mpf(a), mp.mpf(r)
        log = [mp.log(y / x), mp.log((1 - x) / (1 - y))]
        want = log[0] if y <= 0.5 else log[1] if x >= 0.5 else -mp.log(4 * x * (1 - y))
        o = el.attacks.observed(fpr=a, tpr=r)
        assert o.laplace == pytest.approx(float(want), rel=1e-12)
        assert o.pure == pytest.approx(float(max(log)), rel=1e-12)
        if a > 1e-200:
            probit = mp.sqrt(2) * (mp.erfinv(2 * y - 1) - mp.erfinv(2 * x - 1))
            assert o.gaussian == pytest.approx(float(probit), rel=1e-9)


def test_edges() -> None:
    for rate in (0.0, 0.3, 1.0):
        o = el.attacks.observed(fpr=rate, tpr=rate)
        assert (o.laplace, o.gaussian, o.pure, o.approximate) == (0, 0, 0, 0)
        assert "no better than chance" in str(o)
    for fpr, tpr in ((0.0, 0.1), (0.9, 1.0), (0.0, 1.0), (1.0, 0.0)):
        o = el.attacks.observed(fpr=fpr, tpr=tpr)
        assert o.laplace == o.gaussian == o.pure == math.inf
        assert "no finite ε" in o.sentence
        assert o.to_dict()["laplace"] is None
        json.dumps(o.to_dict(), allow_nan=False)
    o = el.attacks.observed(fpr=0.0, tpr=0.1, delta=0.1)
    assert (o.pure, o.approximate) == (math.inf, 0.0)
    many = el.attacks.observed(fpr=[0.1, 0.2], tpr=[[0.3], [0.1]])
    assert many.laplace.shape == (2, 2)
    assert many.flipped.tolist() == [[False, False], [False, True]]
    json.dumps(many.to_dict(), allow_nan=False)
    assert "turned round" in el.attacks.observed(fpr=0.3, tpr=0.1)._repr_html_()
    assert np.isscalar(el.attacks.observed(fpr=0.1, tpr=0.2).laplace)
    assert el.attacks.observed(precision=1.0, recall=0.2).pure == math.inf


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "one of two pairs"),
        ({"fpr": 0.1}, "one of two pairs"),
        ({"fpr": 0.1, "tpr": 0.2, "precision": 0.5, "recall": 0.2}, "one of two pairs"),
        ({"fpr": 1.1, "tpr": 0.2}, "fpr is 1.1"),
        ({"fpr": math.nan, "tpr": 0.2}, "NaN"),
        ({"fpr": [0.1, 0.2], "tpr": [0.1, 0.2, 0.3]}, "broadcast"),
        ({"precision": 0.1, "recall": 0.9, "prior": 0.5}, "which no attack has"),
        ({"precision": 0.0, "recall": 0.9}, "which no attack has"),
        ({"precision": 0.5, "recall": 0.0}, "recall is 0"),
        ({"precision": 0.5, "recall": 0.5, "prior": 1.0}, "strictly between"),
        ({"fpr": 0.1, "tpr": 0.2, "delta": 2.0}, "delta is 2"),
    ],
)
def test_one_sentence_for_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError) as refused:
        el.attacks.observed(**given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
