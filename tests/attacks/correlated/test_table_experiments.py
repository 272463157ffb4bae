"""Experiments of correlated tables: reference sheet §C(c), quadrature, ψ."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.correlated import brute

import epsilens as el
from epsilens import correlated
from epsilens.attacks.correlated.answer_laws import excess, suprema
from epsilens.errors import InputError

A = correlated.table([[0.3, 0.2], [0.2, 0.3]])
THREE = correlated.table(np.array([[[8, 2], [1, 4]], [[3, 1], [5, 6]]]) / 30)
KNOT = correlated.table(
    np.array([[[0.05, 0.45], [0.45, 0.05]], [[0.45, 0.05], [0.05, 0.45]]]) / 2, values=[[0, 0.1], [0, 1], [0, 1]]
)


def test_reference_profile_of_example_2() -> None:
    e = A.experiment(0, scale=1.0)
    expected = [0.3792723353, 0.3039670180, 0.2290510141, 0.0669469699, 0.0020062735, 0.0]
    for order in (e, e.reverse()):
        assert order.delta([0, 0.25, 0.5, 1, 1.18, 1.19]) == pytest.approx(expected, abs=6e-11)
    assert e.roc(0.18467737) == pytest.approx(0.53353253, abs=2e-8)
    assert e.epsilon() == pytest.approx(A.leakage(0, scale=1.0), abs=1e-12)
    assert e.parameters["pair"] in ((0.0, 1.0), (1.0, 0.0))


def test_reference_profile_with_an_interior_knot() -> None:
    e = KNOT.experiment(0, scale=1.0, pair=(0.1, 0))  # H1 is x₁ = 0
    thresholds = np.asarray([0.0, 0.3, 0.7])
    assert e.law.profile(thresholds) == pytest.approx([0.1793907772, 0.0867011211, 0.0040431432], abs=6e-11)
    assert e.reverse().law.profile(thresholds) == pytest.approx([0.1793907772, 0.0386375712, 0.0], abs=6e-11)


def test_reference_profile_of_gaussian_noise() -> None:
    free = correlated.table(np.full((2, 2), 0.25))
    assert free.experiment(0, sigma=1.0).delta(1.0) == pytest.approx(0.0933580, abs=6e-8)
    assert free.experiment(0, {1: 1}, sigma=1.0).delta(1.0) == pytest.approx(0.1269367375, abs=6e-11)


def test_with_everyone_else_known_it_is_the_mechanism() -> None:
    assert A.experiment(0, {1: 0}, scale=2.0).success() == el.laplace(scale=2.0, sensitivity=1.0).success()
    assert A.experiment(0, {1: 0}, sigma=2.0).psi() == pytest.approx(0.5, rel=1e-15)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, list[list[float]], int, dict[int, int], float]:
    n = draw(st.integers(2, 3))
    sizes = [draw(st.integers(2, 3)) for _ in range(n)]
    count = math.prod(sizes)
    joint = np.asarray(draw(st.lists(st.integers(1, 9), min_size=count, max_size=count)), dtype=float).reshape(sizes)
    number = draw(st.sampled_from([st.integers(-2, 2).map(float), st.floats(-2, 2).map(lambda x: round(x, 3))]))
    values = [draw(st.lists(number, min_size=d, max_size=d, unique=True)) for d in sizes]
    known = {2: 0} if n == 3 and draw(st.booleans()) else {}
    return joint / joint.sum(), values, draw(st.integers(0, 1)), known, draw(st.sampled_from([0.3, 1.0, 4.0]))


GAUSS = np.polynomial.legendre.leggauss(8)
PANELS = 3000


def _quadrature(laws: list[Any], kernel: Any, threshold: float, width: float, places: list[float]) -> float:
    (s0, p0), (s1, p1) = (
        (np.asarray([s for s, _ in law]), np.asarray([p for _, p in law]) / sum(p for _, p in law)) for law in laws
    )

    low, high = min(places), max(places)
    edges = np.unique([low - 40 * width, low - 6 * width, *places, high + 6 * width, high + 40 * width])
    total = 0.0
    for a, b in pairwise(edges):  # the integrand bends where it becomes zero: many short panels
        half = (b - a) / 2 / PANELS
        r = (a + half * (2 * np.arange(PANELS)[:, None] + 1 + GAUSS[0])).ravel()
        p = kernel((r[:, None] - s1) / width) @ p1 - threshold * (kernel((r[:, None] - s0) / width) @ p0)
        total += float(np.maximum(p, 0.0).reshape(PANELS, -1).sum(axis=0) @ GAUSS[1]) * half / width
    return total


@given(cases())
@settings(max_examples=12)
@pytest.mark.parametrize("noise", ["scale", "sigma"])
def test_profiles_agree_with_quadrature(noise: str, drawn: tuple[Any, Any, int, dict[int, int], float]) -> None:
    joint, values, target, known, width = drawn
    model = correlated.table(joint, values)
    told = {j: values[j][v] for j, v in known.items()}
    pair = (values[target][0], values[target][1])
    e = model.experiment(target, told, pair=pair, **{noise: width})
    given_laws = brute.laws(joint, values, [1.0] * len(values), target, known)[:2]
    if len(known) == len(values) - 1:
        return
    kernel = (
        (lambda z: np.exp(-np.abs(z)) / 2)
        if noise == "scale"
        else (lambda z: np.exp(-z * z / 2) / math.sqrt(2 * math.pi))
    )
    places = sorted({s for law in given_laws for s, _ in law})
    for epsilon in (0.0, 0.4):
        truth = _quadrature(given_laws, kernel, math.exp(epsilon), width, places)
        assert float(e.law.profile(np.asarray(epsilon))) == pytest.approx(truth, abs=5e-9)


@given(cases())
@settings(max_examples=6)
def test_the_fast_excess_is_the_experiment(drawn: tuple[Any, Any, int, dict[int, int], float]) -> None:
    joint, values, target, _, width = drawn
    model = correlated.table(joint, values)
    laws = model._laws(target, {})
    weights = np.exp(laws.logs)[:, :, None]
    for threshold in (0.5, 1.0, 2.0):
        fast = excess(laws.places, weights, width, threshold)[..., 0]
        for x, y in ((0, 1), (1, 0)):
            e = model.experiment(target, scale=width, pair=(values[target][x], values[target][y]))
            slow = float(e.law.profile(np.asarray(math.log(threshold))))
            assert fast[x, y] == pytest.approx(slow, abs=1e-12)


def test_the_excess_of_far_places() -> None:
    places, weights = np.array([0.0, 1000.0]), np.array([[[0.9], [0.2]], [[0.1], [0.8]]])
    for scale in (1e-3, 1.0):
        assert excess(places, weights, scale, 1.0)[0, 1, 0] == pytest.approx(0.7, abs=1e-12)
    assert suprema(places, weights, 1.0)[1, 0, 0] == pytest.approx(math.log(8), rel=1e-12)


def test_gaussian_noise_gives_the_worst_psi() -> None:
    worst = A.worst(sigma=1.0)
    assert worst.objective == "psi"
    assert worst.complete
    found = [A.experiment(i, sigma=1.0).psi() for i in range(2)]
    assert worst.psi == pytest.approx(max(found), rel=1e-8)
    assert worst.psi > 1.0  # positively correlated: knowing nothing is worse than knowing the other
    free = correlated.table(np.full((2, 2), 0.25)).worst(sigma=1.0)
    assert free.psi == pytest.approx(1.0, rel=1e-12)
    hidden = correlated.table([[0.05, 0.45], [0.45, 0.05]]).worst(sigma=1.0)
    assert hidden.psi == pytest.approx(1.0, rel=1e-12)
    early = THREE.worst(sigma=1.0, time_limit=1e-9)
    assert early.upper >= 1.59 > early.leakage


def test_the_worst_pair_of_three_values() -> None:
    model = correlated.table([[0.3, 0.05], [0.1, 0.1], [0.05, 0.4]], values=[[0, 1, 3], [0, 1]])
    e = model.experiment(0, scale=1.0)
    assert {*e.parameters["pair"]} == {0.0, 3.0}
    assert e.epsilon() == pytest.approx(model.leakage(0, scale=1.0), rel=1e-12)
    assert e.law.max_llr() == pytest.approx(model.leakage(0, scale=1.0), rel=1e-12)
    g = model.experiment(0, sigma=1.0)
    assert {*g.parameters["pair"]} == {0.0, 3.0}
    assert "record 0 is" in g.h0
    with pytest.raises(InputError, match="exactly one of scale"):
        model.experiment(0)


def test_every_reading_exists() -> None:
    for noise in ("scale", "sigma"):
        e = THREE.experiment(1, {0: 1}, **{noise: 1.0})
        for value in (e.success(), e.auc(), e.fbeta(), e.roc(0.1), e.posterior(), e.kl(), e.chernoff(), e.renyi(2.0)):
            assert math.isfinite(value)
        assert e.success() > 0.5
        assert "record 1" in str(e.to_dict())


def test_a_target_that_leaves_no_trace() -> None:
    model = correlated.table(np.outer([0.3, 0.7], [0.2, 0.8]), weights=[0, 1])
    assert model.leakage(0, scale=1.0) == pytest.approx(0, abs=1e-15)
    for noise in ("scale", "sigma"):
        e = model.experiment(0, (), **{noise: 1.0})
        assert e.success() == pytest.approx(0.5, abs=1e-12)
        assert e.delta(0.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("noise", "width"), [("scale", 1e-3), ("sigma", 0.01), ("scale", 1e-12), ("sigma", 1e-300)])
def test_noise_too_narrow_for_readings_is_refused(noise: str, width: float) -> None:
    """Below this the digits of a mixture are gone, and a wrong number would be worse than none."""
    with pytest.raises(InputError, match="at least"):
        A.experiment(0, (), **{noise: width})


@pytest.mark.parametrize("width", [0.02, 0.05])
def test_the_narrowest_noise_is_still_right(width: float) -> None:
    for e in (A.experiment(0, scale=width), A.experiment(0, sigma=width)):
        assert e.success() == pytest.approx(0.8, abs=1e-9)  # the sum 1 occurs with 0.4 under either value
        assert e.roc(0.2) == pytest.approx(0.8, abs=1e-6)  # half of the 0.4 in common is flagged


def test_psi_for_each_number_of_known_records() -> None:
    rows = A.by_known(sigma=2.0)
    assert [w.psi for w in rows] == pytest.approx([A.experiment(0, sigma=2.0).psi(), 0.5], rel=1e-8)
    assert all(w.complete for w in rows)
    assert [c.contribution for c in A.contributions(sigma=2.0)] == pytest.approx([rows[0].psi - 0.5] * 2, rel=1e-8)


@pytest.mark.parametrize(
    ("far", "sigma", "least", "slack"),
    [(10, 1.0, 10.030738466667394, 1e-6), (10, 2.0, 5.068321264065388, 1e-5), (1, 30.0, 0.047114513792145166, 2e-3)],
)
def test_psi_sees_both_tails(far: float, sigma: float, least: float, slack: float) -> None:
    """``least`` is the largest Φ⁻¹(1−α) − Φ⁻¹(β) over 61 thresholds in mpmath, where α and recall near 1."""
    model = correlated.table([[0.3, 0.2], [0.1, 0.4]], values=[[0, far], [0, 1]])
    found = model.experiment(0, sigma=sigma).psi()
    assert least <= found <= least * (1 + slack)
    assert model.worst(sigma=sigma).psi >= least
