"""Records with many values: the worst pair, and "is the value above γ?" against quadrature and simulation."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from tests.examples import examples
from tests.strategies import masses

import epsilens as el


def density(noise: str, scale: float, x: Any) -> Any:
    if noise == "laplace":
        return np.exp(-np.abs(x) / scale) / (2 * scale)
    return np.exp(-(x**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))


def by_quadrature(noise: str, scale: float, at: np.ndarray, p: np.ndarray, high: np.ndarray) -> float:
    """∫ max of the two weighted mixtures, split where they cross and where they have corners."""

    def sides(x: float) -> tuple[float, float]:
        each = p * density(noise, scale, x - at)
        return float(each[~high].sum()), float(each[high].sum())

    grid = np.unique(np.concatenate((np.linspace(at.min() - 40 * scale, at.max() + 40 * scale, 4001), at)))
    signs = np.array([np.subtract(*sides(x)) for x in grid])
    flips = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    cuts = [brentq(lambda x: np.subtract(*sides(x)), grid[i], grid[i + 1], xtol=1e-14) for i in flips]
    points = np.unique([grid[0], *at, *cuts, grid[-1]])
    return math.fsum(quad(lambda x: max(sides(x)), a, b, epsabs=1e-13, epsrel=1e-12, limit=200)[0]
               for a, b in pairwise(points))  # fmt: skip


@pytest.mark.parametrize(("noise", "size"), [("laplace", {"epsilon": 2.0}), ("gaussian", {"psi": 3.0})])
@pytest.mark.parametrize(
    "effect", [[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 0.5], [3.0, 0.0, 0.0, 3.0], [1.0, 4.0, 4.0, 9.0]]
)
def test_above_against_quadrature(noise: str, size: dict[str, Any], effect: list[float]) -> None:
    p = np.array([0.1, 0.4, 0.3, 0.2])
    informed = el.attacks.above(1, p, [0, 1, 2, 3], effect=effect, noise=noise, **size)
    scale = informed.experiment.parameters["scale" if noise == "laplace" else "sigma"]
    want = by_quadrature(noise, scale, np.asarray(effect), p, np.array([False, False, True, True]))
    assert informed.prior == pytest.approx(0.5, rel=1e-15)
    assert informed.success() == pytest.approx(want, abs=1e-11)


@settings(max_examples=examples(15))
@given(st.integers(3, 6), st.sampled_from(["laplace", "gaussian"]), st.floats(-1.5, 1.5), st.data())
def test_above_anything(k: int, noise: str, log_size: float, data: st.DataObject) -> None:
    p = np.array(data.draw(masses(k, zeros=False)))
    effect = np.array(data.draw(st.lists(st.floats(-2, 2).map(lambda v: round(v, 2)), min_size=k, max_size=k)))
    if np.ptp(effect) == 0:
        return
    cut = data.draw(st.integers(0, k - 2))
    size: dict[str, Any] = {"epsilon" if noise == "laplace" else "psi": math.exp(log_size)}
    informed = el.attacks.above(cut, p, list(range(k)), effect=effect, noise=noise, **size)
    scale = informed.experiment.parameters["scale" if noise == "laplace" else "sigma"]
    want = by_quadrature(noise, scale, effect, p, np.arange(k) > cut)
    assert informed.success() == pytest.approx(want, abs=1e-9)


def test_two_values_are_the_plain_test() -> None:
    cases: list[tuple[Any, dict[str, Any]]] = [(el.laplace, {"epsilon": 1.3}), (el.gaussian, {"psi": 1.3})]
    for build, size in cases:
        got = el.attacks.above(0, [0.3, 0.7], [0, 1], noise=build.__name__, **size)
        assert got.experiment.direction == "exact"
        assert got.success() == pytest.approx(build(**size).success(0.7), rel=1e-14)


def test_a_mixture_is_harder_than_its_worst_pair() -> None:
    values, p = [0.0, 1.0, 2.0, 3.0], [0.25] * 4
    cases: list[tuple[str, dict[str, Any]]] = [("laplace", {"epsilon": 2.0}), ("gaussian", {"psi": 2.0})]
    for noise, size in cases:
        informed = el.attacks.above(1, p, values, noise=noise, **size)
        pair = el.attacks.worst_pair(values, noise=noise, **size)
        alpha = np.linspace(0.01, 0.99, 21)
        assert np.all(informed.experiment.roc(alpha) <= pair.experiment.roc(alpha) + 1e-12)


def test_answers_closer_than_doubles_resolve_are_bounded() -> None:
    """The advantage is .2667·ε for Laplace noise here, whatever ε (checked at .001 by quadrature above)."""
    for size in (1e-3, 1e-6, 1e-8, 1e-10, 1e-14, 1e-280):
        e = el.attacks.above(1, [0.1, 0.4, 0.3, 0.2], [0, 1, 2, 3], epsilon=size).experiment
        assert 0.2666 * size < e.advantage() <= 0.5 * size


def test_above_by_simulation() -> None:
    rng = np.random.default_rng(7)
    p, effect, n = np.array([0.2, 0.3, 0.1, 0.4]), np.array([0.0, 3.0, 1.0, 2.0]), 400_000
    informed = el.attacks.above(1, p, [0, 1, 2, 3], effect=effect, epsilon=3.0)
    b = informed.experiment.parameters["scale"]
    value = rng.choice(4, size=n, p=p)
    answer = effect[value] + rng.laplace(scale=b, size=n)
    weight = p * density("laplace", b, answer[:, None] - effect)
    guess = weight[:, 2:].sum(axis=1) > weight[:, :2].sum(axis=1)
    rate = float(np.mean(guess == (value > 1)))
    assert abs(rate - informed.success()) < 5 * math.sqrt(0.25 / n)


def test_above_for_a_channel() -> None:
    channel = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
    p = np.array([0.5, 0.3, 0.2])
    informed = el.attacks.above(0, p, [0, 1, 2], channel=channel)
    want = sum(max(p[0] * channel[0, o], float(p[1:] @ channel[1:, o])) for o in range(3))
    assert informed.success() == pytest.approx(want, rel=1e-14)
    assert informed.prior == pytest.approx(0.5, rel=1e-14)


def test_the_worst_pair() -> None:
    pair = el.attacks.worst_pair(["no", "some", "all"], effect=[0.0, -1.0, 5.0], epsilon=1.0, prior=[0.6, 0.3, 0.1])
    assert pair.values == ("some", "all")
    assert pair.shift == 6.0
    assert pair.experiment.epsilon() == pytest.approx(1.0)
    assert pair.informed.prior == pytest.approx(0.25)
    wide = el.attacks.worst_pair([1, 2, 4], noise="gaussian", sigma=2.0, sensitivity=6.0)
    assert wide.experiment.psi() == pytest.approx(1.5)
    assert "4" in wide.experiment.h1
    channel = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]]
    finite = el.attacks.worst_pair("abc", channel=channel)
    assert set(finite.values) == {"a", "c"}
    assert finite.experiment.advantage() == pytest.approx(0.6)
    by_epsilon = el.attacks.worst_pair("abc", channel=channel, reading="epsilon")
    assert by_epsilon.experiment.epsilon() == pytest.approx(math.log(7))
    for shown in (pair, wide, finite):
        json.dumps(shown.to_dict(), allow_nan=False)
        assert "easiest to tell apart" in str(shown)
    with pytest.raises(el.InputError, match="no prior"):
        _ = wide.informed


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: el.attacks.above(5, [0.5, 0.5], [0, 1], epsilon=1.0), "nothing is left to guess"),
        (
            lambda: el.attacks.above(0.5, [0.2, 0.3, 0.5], np.eye(3)),
            "values has shape (3, 3): give a list of numbers",
        ),
        (lambda: el.attacks.worst_pair(np.eye(3), epsilon=1.0), "values has shape (3, 3): give a list of numbers"),
        (lambda: el.attacks.above(-1, [0.5, 0.5], [0, 1], epsilon=1.0), "lies above"),
        (lambda: el.attacks.above(0, [1.0, 0.0], [0, 1], epsilon=1.0), "nothing is left"),
        (lambda: el.attacks.above(math.nan, [0.5, 0.5], [0, 1], epsilon=1.0), "NaN"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1]), "exactly one of epsilon or scale"),
        (lambda: el.attacks.above(0, [0.5, 0.5], ["a", "b"], epsilon=1.0), "values is"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1], effect=[1, 1], epsilon=1.0), "tells nothing"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1], noise="cauchy", epsilon=1.0), "cauchy"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1], effect=[1, 2, 3], epsilon=1.0), "effect has shape"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1], channel=[[1.0]]), "channel has shape"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1], channel=[[0.5, 0.6], [1.0, 0.0]]), "does not sum to 1"),
        (lambda: el.attacks.above(0, [0.5, 0.5], [0, 1], channel=[[0, 1], [1, 0]], epsilon=1.0), "says it all"),
        (lambda: el.attacks.above(0, np.full(400, 1 / 400), np.arange(400) - 200, epsilon=1.0), "group them"),
        (lambda: el.attacks.above(0, [0.2, 0.3, 0.5], [-1, 0, 1], epsilon=[1.0, 2.0]), "array"),
        (lambda: el.attacks.worst_pair([1], epsilon=1.0), "two or more"),
        (lambda: el.attacks.worst_pair([1, 2], effect=[3, 3], epsilon=1.0), "no worst pair"),
        (lambda: el.attacks.worst_pair([1, 2], epsilon=1.0, sensitivity=0.5), "more than the sensitivity"),
        (lambda: el.attacks.worst_pair(3, epsilon=1.0), "values is 3"),
        (lambda: el.attacks.worst_pair([1, 2], channel=[[1, 0], [0, 1]], reading="shininess"), "no reading"),
    ],
)
def test_one_sentence_for_what_is_wrong(build: Any, words: str) -> None:
    with pytest.raises(el.InputError) as refused:
        build()
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
