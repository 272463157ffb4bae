"""Who of n is missing (Lee & Clifton): the sheet's values, brute force over answers, simulation, and the inverses."""

from __future__ import annotations

import json
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.strategies import positive

import epsilens as el
from epsilens.attacks.identification import lee_clifton_bound, lee_clifton_epsilon

VALUES = st.lists(st.integers(0, 12).map(float), min_size=2, max_size=12)


def digits(value: float, printed: str) -> bool:
    places = len(printed.split(".")[1])
    return abs(value - float(printed)) <= 0.5000001 * 10.0**-places


@pytest.mark.parametrize(
    ("n", "epsilon", "ratio", "bound"),
    [
        (120, 1.0, 60 / 121, ".0136098828391"),
        (120, 5.0, 60 / 121, ".0911407977678"),
        (120, 10.0, 60 / 121, ".544768336280"),
        (4, 1.0, 1.0, ".475366886419"),
    ],
)
def test_the_bound_of_the_sheet(n: int, epsilon: float, ratio: float, bound: str) -> None:
    assert digits(lee_clifton_bound(n, epsilon, ratio), bound)
    found = el.attacks.identify(n=n, value_range=(0.0, ratio), sensitivity=1.0, epsilon=epsilon)
    assert digits(found.bound, bound)
    assert found.certainty == found.bound
    # two worlds with a prior of 1/n
    if ratio <= 1:
        assert found.bound == pytest.approx(el.laplace(epsilon=epsilon, shift=ratio).posterior(1 / n), rel=1e-13)


def test_the_inverse_of_the_sheet() -> None:
    assert lee_clifton_epsilon(120, 1 / 3, 0.5) == pytest.approx(8.1719526251, abs=6e-11)
    assert el.attacks.identify(n=120, value_range=(0, 1), sensitivity=2, at_most=1 / 3).epsilon == pytest.approx(
        8.1719526251, abs=1e-10
    )


def test_the_figure_of_the_sheet() -> None:
    """Quantiles of N(74.5, sd 9), n = 120, ε = 10, ΔQ = 121: bound .299, exact .0452."""
    values = norm.ppf((np.arange(1, 121) - 0.5) / 120, 74.5, 9)
    found = el.attacks.identify(values, epsilon=10.0, sensitivity=121.0)
    assert found.bound == pytest.approx(0.299, abs=6e-4)
    assert found.posterior == pytest.approx(0.0452, abs=6e-5)
    assert found.largest == pytest.approx(found.posterior, rel=1e-12)


@given(VALUES, positive(0.01, 20.0), positive(0.5, 20.0), st.sampled_from(["sum", "mean"]))
def test_the_supremum_against_every_answer(values: list[float], epsilon: float, reach: float, query: str) -> None:
    """The posterior of each person at each answer on a fine grid that holds the worlds themselves."""
    a, n = np.array(values), len(values)
    part = (n - 1) if query == "mean" else 1
    worlds = (a.sum() - a) / part
    grid = np.unique(np.concatenate((worlds, np.linspace(worlds.min() - 5, worlds.max() + 5, 2001))))
    logs = -np.abs(grid[:, None] - worlds) * epsilon / reach
    posterior = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    found = el.attacks.identify(values, epsilon=epsilon, sensitivity=reach, query=query)
    assert found.posterior is not None
    assert found.posterior == pytest.approx(float(posterior.max()), rel=1e-12)
    assert found.largest == pytest.approx(float(posterior[:, a.argmax()].max()), rel=1e-12)
    assert found.smallest == pytest.approx(float(posterior[:, a.argmin()].max()), rel=1e-12)
    assert found.posterior <= found.bound * (1 + 1e-12)
    assert found.largest == pytest.approx(1 / float(np.exp(-epsilon * (a.max() - a) / part / reach).sum()), rel=1e-12)


def test_somebody_in_the_middle_can_stand_out_most() -> None:
    found = el.attacks.identify([0.0] * 5 + [50.0] + [100.0] * 5, epsilon=10.0, sensitivity=100.0)
    assert found.who == "one whose value stands apart"
    assert found.posterior == pytest.approx(1 / (1 + 10 * math.exp(-5)), rel=1e-13)
    assert found.largest == pytest.approx(1 / (5 + math.exp(-5) + 5 * math.exp(-10)), rel=1e-13)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_average_success_by_simulation(noise: str) -> None:
    rng, runs = np.random.default_rng(11), 1_000_000
    values = np.array([1.0, 1.0, 2.0, 4.5, 7.0, 7.5])
    given: dict[str, Any] = {"epsilon": 3.0, "sensitivity": 8.0}
    if noise == "gaussian":
        given |= {"noise": noise, "delta": 1e-3}
        sigma = el.gaussian(epsilon=3.0, delta=1e-3, sensitivity=8.0).parameters["sigma"]
        draw = rng.normal(scale=sigma, size=runs)
    else:
        draw = rng.laplace(scale=8.0 / 3.0, size=runs)
    missing = rng.integers(6, size=runs)
    worlds = values.sum() - values
    answer = worlds[missing] + draw
    guess = np.abs(answer[:, None] - worlds).argmin(axis=1)
    found = el.attacks.identify(values, **given)
    assert found.success is not None
    assert abs(float(np.mean(guess == missing)) - found.success) < 5 * math.sqrt(0.25 / runs)
    assert found.success >= found.baseline


@given(VALUES, st.floats(0.001, 0.999), positive(0.5, 20.0))
def test_the_inverse_keeps_the_limit_and_no_less(values: list[float], share: float, reach: float) -> None:
    n = len(values)
    limit = 1 / n + share * (1 - 1 / n)
    found = el.attacks.identify(values, at_most=limit, sensitivity=reach)
    assert found.posterior is not None
    assert found.largest_epsilon is not None
    assert found.posterior <= limit
    assert not found.exceeded
    if math.isfinite(found.largest_epsilon):
        assert found.epsilon == found.largest_epsilon
        more = el.attacks.identify(values, epsilon=found.epsilon * (1 + 1e-9), sensitivity=reach)
        assert more.posterior is not None
        assert more.posterior > limit * (1 - 1e-12)
    assert found.epsilon_by_bound is not None
    assert found.epsilon_by_bound <= found.largest_epsilon * (1 + 1e-12)


@given(st.integers(2, 10**9), st.floats(1e-9, 1 - 1e-9), positive(1e-3, 100.0))
def test_the_bounds_inverse_against_high_precision(n: int, share: float, ratio: float) -> None:
    limit = min(1 / n + share * (1 - 1 / n), 1 - 1e-9)
    mp.mp.dps = 40
    want = mp.log((n - 1) * mp.mpf(limit) / (1 - mp.mpf(limit))) / mp.mpf(ratio)
    got = lee_clifton_epsilon(n, limit, ratio)
    # rounded down until it reads under the limit: an ulp of the posterior is this much of ε
    assert got == pytest.approx(float(want), rel=1e-11, abs=1e-15 / ratio / (1 - limit))
    assert got <= float(want) * (1 + 1e-14)
    assert lee_clifton_bound(n, got, ratio) <= limit


def test_limits_that_bind_nothing_or_everything() -> None:
    with pytest.raises(el.NoSolutionError, match="blind guess") as refused:
        el.attacks.identify([1, 2, 3, 4], at_most=0.2, sensitivity=4)
    assert refused.value.floor == 0.25
    with pytest.raises(el.NoSolutionError):
        el.attacks.identify(n=4, value_range=(0, 1), at_most=0.25)
    with pytest.raises(el.NoSolutionError):
        lee_clifton_epsilon(4, 0.25)
    shared = el.attacks.identify([1, 1, 2, 2], at_most=0.5, sensitivity=2)
    assert shared.largest_epsilon == math.inf
    assert "Every ε keeps this limit" in shared.sentence
    assert shared.to_dict()["largest_epsilon"] is None
    assert lee_clifton_epsilon(4, 0.9, 0.0) == math.inf
    assert lee_clifton_epsilon(4, 1.0) == math.inf
    same = el.attacks.identify([3, 3, 3], at_most=0.4)
    assert same.largest_epsilon == math.inf
    assert same.posterior == pytest.approx(1 / 3)
    over = el.attacks.identify([1, 2, 3], epsilon=5.0, at_most=0.5)
    assert over.exceeded
    assert over.largest_epsilon is not None
    assert over.largest_epsilon < 5


def test_normal_noise() -> None:
    found = el.attacks.identify([1, 2, 3], epsilon=1.0, delta=1e-5, noise="gaussian")
    assert (found.posterior, found.bound) == (1.0, 1.0)
    with pytest.raises(el.NoSolutionError, match="success"):
        el.attacks.identify([1, 2, 3], at_most=0.5, delta=1e-5, noise="gaussian")
    chosen = el.attacks.identify([1, 2, 3], at_most=0.5, delta=1e-5, noise="gaussian", reading="success")
    assert chosen.success is not None
    assert 0.499999 < chosen.success <= 0.5
    assert "names the missing one at most 50%" in chosen.sentence
    with pytest.raises(el.NoSolutionError, match="success"):
        el.attacks.identify([1, 2, 3], at_most=0.3, reading="success")


def test_sums_and_means_agree() -> None:
    values = [3.0, 5.0, 9.0, 10.0]
    total, mean = el.attacks.identify(values, epsilon=2.0), el.attacks.identify(values, epsilon=2.0, query="mean")
    assert mean.sensitivity == pytest.approx(10 / 3)
    assert mean.spread == pytest.approx(7 / 3)
    assert mean.posterior == pytest.approx(total.posterior, rel=1e-14)
    own = el.attacks.identify(values, epsilon=2.0, query="mean", sensitivity=10.0)
    assert own.bound == pytest.approx(1 / (1 + 3 * math.exp(-2 * (7 / 3) / 10)), rel=1e-14)


def test_extremes() -> None:
    assert el.attacks.identify([0, 1], epsilon=700.0).posterior == pytest.approx(1.0)
    assert el.attacks.identify([0, 1], epsilon=1e-12).posterior == pytest.approx(0.5, rel=1e-11)
    assert el.attacks.identify([0, 1e300], epsilon=1.0).posterior == pytest.approx(1 / (1 + math.exp(-1)))
    big = el.attacks.identify(np.arange(200_000.0), epsilon=1.0)
    assert big.posterior is not None
    assert big.baseline <= big.posterior <= big.bound
    assert lee_clifton_bound(120, [1.0, 5.0], 60 / 121) == pytest.approx([0.0136098828391, 0.0911407977678], abs=1e-12)
    assert lee_clifton_bound(1, 1.0) == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 1.0}, "who the people are"),
        ({"n": 5, "epsilon": 1.0}, "who the people are"),
        ({"n": 1, "value_range": (0, 1), "epsilon": 1.0}, "n is 1"),
        ({"n": 2.5, "value_range": (0, 1), "epsilon": 1.0}, "n is 2.5"),
        ({"n": 5, "value_range": (1, 0), "epsilon": 1.0}, "smaller first"),
        ({"n": 5, "value_range": (1,), "epsilon": 1.0}, "two numbers"),
        ({"values": [1, 2], "n": 2, "epsilon": 1.0}, "values are given with n"),
        ({"values": [1], "epsilon": 1.0}, "two values or more"),
        ({"values": [], "epsilon": 1.0}, "two values or more"),
        ({"values": [[1, 2], [3, 4]], "epsilon": 1.0}, "two values or more"),
        ({"values": [1, math.nan], "epsilon": 1.0}, "NaN"),
        ({"values": [1, math.inf], "epsilon": 1.0}, "infinite"),
        ({"values": ["a", "b"], "epsilon": 1.0}, "give a number"),
        ({"values": [0, 0], "epsilon": 1.0}, "every value is 0"),
        ({"values": [1, 2]}, "epsilon is missing"),
        ({"values": [1, 2], "epsilon": 0.0}, "above 0"),
        ({"values": [1, 2], "epsilon": [1.0, 2.0]}, "single number"),
        ({"values": [1, 2], "epsilon": 1.0, "sensitivity": 0.0}, "above 0"),
        ({"values": [-1e308, 1e308], "epsilon": 1.0, "sensitivity": 1e-5}, "similar size"),
        ({"values": [1, 2], "epsilon": 1.0, "query": "max"}, "query is 'max'"),
        ({"values": [1, 2], "epsilon": 1.0, "noise": "gaussian"}, "delta"),
        ({"values": [1, 2], "epsilon": 1.0, "delta": 0.1}, "delta"),
        ({"values": [1, 2], "epsilon": 1.0, "at_most": 1.5}, "at_most is 1.5"),
        ({"n": 5, "value_range": (0, 1), "at_most": 0.5, "reading": "success"}, "needs the values"),
        ({"values": [1, 2], "epsilon": 1.0, "reading": "auc"}, "reading is 'auc'"),
    ],
)
def test_one_sentence_for_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError) as refused:
        el.attacks.identify(**given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_it_shows_itself() -> None:
    found = el.attacks.identify(n=120, value_range=(0, 60), sensitivity=121, epsilon=5.0)
    assert found.sentence == (
        "Among 120 people, an attacker who knows everyone's value could become 9.2% sure who is missing; "
        "a blind guess gives 1 of 120 (0.83%)."
    )
    assert str(found).startswith("Among 120 people")
    assert "<table" in found._repr_html_()
    for f in (
        found,
        el.attacks.identify([1, 2, 5], epsilon=1.0, at_most=0.9),
        el.attacks.identify([1, 1, 2, 2], at_most=0.6),
    ):
        json.dumps(f.to_dict(), allow_nan=False)
    with pytest.raises(AttributeError):
        found.n = 3  # type: ignore[misc]
