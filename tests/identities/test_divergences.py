"""Rényi, KL and Chernoff: limits, order, symmetry; and data processing for every reading."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.strategies import any_experiment, experiments, finite_pairs, masses

import epsilens as el
from epsilens.experiment import Experiment


@settings(max_examples=examples(25))
@given(any_experiment())
def test_renyi_tends_to_kl(e: Experiment) -> None:
    kl = e.kl()
    if not np.isfinite(kl):
        assert e.renyi(1.0 + 1e-6) == np.inf
        return
    near = e.renyi([1 - 1e-6, 1.0, 1 + 1e-6])
    assert near[1] == pytest.approx(kl, rel=1e-14)
    # the slope in the order is half the variance of the loss: bounded here by (1 + kl)·a few units
    assert near[0] == pytest.approx(kl, rel=2e-4, abs=1e-12)
    if np.isfinite(near[2]):
        assert near[2] == pytest.approx(kl, rel=2e-4, abs=1e-12)


@given(experiments())
def test_renyi_grows_with_the_order(e: Experiment) -> None:
    d = e.renyi([0.0, 1e-9, 0.1, 0.5, 0.9, 0.999999, 1.0, 1.000001, 1.5, 2.0, 8.0, 64.0, math.inf])
    finite = d[np.isfinite(d)]
    assert np.all(d[: finite.size] == finite)  # once infinite, always
    assert np.all(np.diff(finite) >= -1e-10 * (1 + finite[1:]) * np.maximum(finite[1:], 1e-9))
    assert np.all(d >= 0)


@given(experiments(), st.floats(0.05, 0.95))
def test_skew_symmetry(e: Experiment, order: float) -> None:
    """(1−a)·D_a(P‖Q) = a·D_{1−a}(Q‖P)."""
    here, there = e.renyi(order), e.reverse().renyi(1 - order)
    assert (1 - order) * here == pytest.approx(order * there, rel=1e-9, abs=1e-14)


@given(experiments())
def test_chernoff_is_the_best_tilt(e: Experiment) -> None:
    """max_a (1−a)·D_a over a grid of a, which it exceeds by little; and it is the same in both orders."""
    a = np.linspace(0.025, 0.975, 39)
    tilts = (1 - a) * e.renyi(a)
    assert e.chernoff() >= np.max(tilts) * (1 - 1e-12) - 1e-16
    ends = max(float(e.renyi(0.0)), float(e.reverse().renyi(0.0)))
    assert e.chernoff() <= max(np.max(tilts) * 1.05, ends) + 1e-12
    assert e.reverse().chernoff() == pytest.approx(e.chernoff(), rel=1e-9, abs=1e-14)


@given(experiments())
def test_pinsker_and_bhattacharyya(e: Experiment) -> None:
    tv, half = e.advantage(), e.renyi(0.5)
    assert 2 * tv**2 <= e.kl() * (1 + 1e-12) + 1e-15
    bc = math.exp(-half / 2)
    assert 1 - bc <= tv + 1e-12
    assert tv <= math.sqrt(max(1 - bc**2, 0.0)) + 1e-7  # 1 − bc² of an ulp is 1e-8 after the root


SCALARS: dict[str, dict[str, Any]] = {
    "success": {"prior": 0.3},
    "advantage": {},
    "auc": {},
    "fbeta": {"beta": 2.0, "prior": 0.2},
    "posterior": {"prior": 0.1},
    "precision": {"fpr": 0.05},
    "roc": {"fpr": np.linspace(0, 1, 21)},
    "attack_success": {"baseline": 0.01},
    "delta": {"epsilon": np.linspace(0, 3, 13)},
    "epsilon": {"delta": np.asarray([0.0, 1e-6, 0.01, 0.3])},
    "psi": {},
    "renyi": {"order": np.asarray([0.3, 0.999, 1.5, 20.0])},
    "kl": {},
    "chernoff": {},
}


@st.composite
def processed(draw: st.DrawFn) -> tuple[Experiment, Experiment]:
    """A finite pair, and the same seen through a random channel (a stochastic matrix, or merging outcomes)."""
    p, q = draw(finite_pairs())
    n = len(p)
    if draw(st.booleans()):
        labels = draw(st.lists(st.integers(0, max(n // 2, 1)), min_size=n, max_size=n))
        channel = np.eye(n)[:, : max(labels) + 1] * 0
        for i, j in enumerate(labels):
            channel[i, j] = 1
    else:
        width = draw(st.integers(2, 5))
        channel = np.asarray([draw(masses(width)) for _ in range(n)])
    seen = [np.asarray(v) @ channel for v in (p, q)]
    return el.mechanisms.finite(p, q), el.mechanisms.finite(*(v / v.sum() for v in seen))


@pytest.mark.parametrize("reading", SCALARS)
@given(pair=processed())
@settings(max_examples=examples(25))
def test_processing_never_adds_risk(reading: str, pair: tuple[Experiment, Experiment]) -> None:
    before, after = (np.asarray(getattr(e, reading)(**SCALARS[reading])) for e in pair)
    # a channel multiplies rounded masses: 1e-15 of mass moved, which a divergence of nearly equal laws may show
    assert np.all((after <= before * (1 + 1e-9) + 1e-9) | np.isposinf(before))


@settings(max_examples=examples(15))
@given(finite_pairs(zeros=False), st.floats(0.05, 0.95))
def test_splitting_an_outcome_changes_nothing(pair: tuple[list[float], list[float]], share: float) -> None:
    p, q = pair
    whole, split = (
        el.mechanisms.finite(p, q),
        el.mechanisms.finite(*([*v[:-1], v[-1] * share, v[-1] * (1 - share)] for v in (p, q))),
    )
    for reading, arguments in SCALARS.items():
        a, b = (np.asarray(getattr(e, reading)(**arguments)) for e in (whole, split))
        assert b == pytest.approx(a, rel=1e-7, abs=1e-10), reading
