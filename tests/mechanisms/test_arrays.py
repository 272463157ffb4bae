"""Arrays of every parameter of every mechanism: each entry reads what its numbers read alone."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import epsilens as el
from epsilens.mechanisms.builders import MOST, vectorized

#: A builder, what is fixed, and two values of each parameter that may be an array.
BUILDERS: Mapping[str, tuple[Callable[..., el.Experiment], dict[str, Any], dict[str, tuple[Any, Any]]]] = {
    "laplace": (el.laplace, {}, {"epsilon": (0.5, 2.0), "sensitivity": (1.0, 2.0), "shift": (0.5, 1.0)}),
    "laplace, stretched": (el.laplace, {"scale": 1.0}, {"stretch": (0.5, 2.0), "sensitivity": (1.0, 3.0)}),
    "gaussian": (el.gaussian, {}, {"sigma": (0.5, 2.0), "sensitivity": (1.0, 2.0)}),
    "gaussian, calibrated": (el.gaussian, {}, {"epsilon": (0.5, 2.0), "delta": (1e-6, 1e-3)}),
    "geometric": (el.mechanisms.geometric, {}, {"epsilon": (0.5, 2.0), "sensitivity": (1, 3)}),
    "discrete gaussian": (el.mechanisms.discrete_gaussian, {}, {"sigma": (0.7, 2.0), "sensitivity": (1, 2)}),
    "skellam": (el.mechanisms.skellam, {}, {"variance": (1.0, 9.0), "sensitivity": (1, 2)}),
    "randomized response": (el.mechanisms.randomized_response, {}, {"epsilon": (0.5, 2.0), "k": (2, 5)}),
    "randomized response by truth": (el.mechanisms.randomized_response, {}, {"truth": (0.6, 0.9)}),
    "unary": (el.mechanisms.unary, {}, {"epsilon": (0.5, 2.0)}),
    "hadamard response": (el.mechanisms.hadamard_response, {}, {"epsilon": (0.5, 2.0)}),
    "sketch": (el.mechanisms.count_mean_sketch, {}, {"epsilon": (0.5, 2.0), "collision": (0.0, 0.1)}),
    "rappor": (el.mechanisms.rappor, {}, {"f": (0.25, 0.5), "h": (1, 2), "reports": (1, 3)}),
    "shuffled": (el.mechanisms.shuffled, {}, {"epsilon": (0.5, 1.0), "n": (20, 50)}),
    "exponential": (el.mechanisms.exponential, {"scores0": [1, 2, 3], "scores1": [1, 2, 4]}, {"epsilon": (0.5, 2.0)}),
    "exponential, any scores": (el.mechanisms.exponential, {}, {"epsilon": (0.5, 2.0), "sensitivity": (1.0, 2.0)}),
    "staircase": (el.mechanisms.staircase, {}, {"epsilon": (0.5, 2.0), "gamma": (0.2, 0.4)}),
    "pure": (el.mechanisms.pure, {}, {"epsilon": (0.0, 2.0)}),
    "approximate": (el.mechanisms.approximate, {}, {"epsilon": (0.5, 2.0), "delta": (0.0, 1e-3)}),
    "noisy max": (el.mechanisms.noisy_max, {}, {"scale": (0.5, 2.0), "sensitivity": (1.0, 2.0)}),
    "permute and flip": (el.mechanisms.permute_and_flip, {}, {"epsilon": (0.5, 2.0)}),
    "top k": (el.mechanisms.top_k, {}, {"epsilon": (0.5, 1.0), "k": (1, 3)}),
    "sparse vector": (el.mechanisms.sparse_vector, {}, {"epsilon": (0.5, 2.0), "above": (1, 2)}),
    "repeat and select": (
        el.mechanisms.repeat_and_select, {"experiment": el.gaussian(sigma=4.0)},
        {"mean": (2.0, 10.0)},
    ),
    "matrix": (el.mechanisms.matrix, {"C": [1.0, 0.5, 0.3]}, {"sigma": (1.0, 2.0), "participations": (1, 2)}),
    "tree": (el.mechanisms.tree, {}, {"leaves": (8, 16), "sigma": (1.0, 2.0)}),
    "banded": (el.mechanisms.banded, {"bands": 2, "steps": 40}, {"sigma": (1.0, 2.0), "rate": (0.01, 0.02)}),
    "mixture": (el.mechanisms.mixture, {"shifts": [0, 1], "weights": [0.9, 0.1]}, {"sigma": (1.0, 2.0)}),
    "dpsgd": (el.dpsgd, {"rate": 0.02}, {"sigma": (1.0, 2.0), "steps": (10, 100)}),
    "from gdp": (el.mechanisms.from_gdp, {}, {"mu": (0.5, 1.0)}),
    "from zcdp": (el.mechanisms.from_zcdp, {}, {"rho": (0.1, 0.5), "xi": (0.0, 0.1)}),
    "average": (
        el.attacks.differencing_average,
        {"mean": 4.0, "bounds": (0, 10)},
        {"epsilon": (0.5, 2.0), "n": (10, 20), "value": (1.0, 8.0)},
    ),
    "median": (
        el.attacks.differencing_median,
        {"values": [1, 4, 6, 7, 9], "bounds": (0, 10)},
        {"epsilon": (0.5, 2.0), "target": (2.0, 8.0)},
    ),
    "subsample": (el.subsample, {"experiment": el.laplace(epsilon=1.0)}, {"rate": (0.1, 0.5)}),
    "group": (el.group, {"experiment": el.gaussian(psi=0.5)}, {"k": (1, 3)}),
}  # fmt: skip

READINGS: Mapping[str, dict[str, Any]] = {
    "success": {"prior": 0.3}, "advantage": {}, "posterior": {"prior": 0.2}, "recall": {"fpr": 0.1},
    "precision": {"fpr": 0.1, "prior": 0.4}, "fbeta": {"beta": 2.0, "prior": 0.4},
    "attack_success": {"baseline": 0.05},
    "delta": {"epsilon": 0.3}, "epsilon": {"delta": 1e-3}, "renyi": {"order": 2.0}, "auc": {}, "kl": {}, "chernoff": {},
    "psi": {}, "mu": {"level": 1e-3}, "roc": {"fpr": 0.05}, "tradeoff": {"fpr": 0.2},
}  # fmt: skip


@pytest.mark.parametrize("name", BUILDERS)
def test_each_entry_is_what_its_numbers_are_alone(name: str) -> None:
    build, fixed, varied = BUILDERS[name]
    for parameter, values in varied.items():
        beside = {other: pair[1] for other, pair in varied.items() if other != parameter} | fixed
        many = build(**{parameter: np.asarray(values)}, **beside)
        alone = [build(**{parameter: value}, **beside) for value in values]
        assert many.many
        assert many.worlds == alone[0].worlds
        for reading, arguments in READINGS.items():
            found = getattr(many, reading)(**arguments)
            assert found == pytest.approx([getattr(e, reading)(**arguments) for e in alone], rel=1e-12), reading


@pytest.mark.parametrize("name", BUILDERS)
def test_brackets_of_each(name: str) -> None:
    build, fixed, varied = BUILDERS[name]
    parameter, values = next(iter(varied.items()))
    beside = {other: pair[1] for other, pair in varied.items() if other != parameter} | fixed
    low, high = build(**{parameter: values}, **beside).bracket("success", prior=0.3)
    alone = [build(**{parameter: value}, **beside).bracket("success", prior=0.3) for value in values]
    assert list(low) == pytest.approx([one for one, _ in alone], rel=1e-12)
    assert list(high) == pytest.approx([other for _, other in alone], rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    epsilon=st.lists(st.floats(0.01, 5.0), min_size=1, max_size=4),
    k=st.lists(st.integers(2, 6), min_size=1, max_size=3),
    prior=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=3),
)
def test_parameters_and_arguments_broadcast(epsilon: list[float], k: list[int], prior: list[float]) -> None:
    """Success of k-ary randomised response at even odds is 1 − f at the atoms: here against the sum by hand."""
    grid = el.mechanisms.randomized_response(epsilon=np.asarray(epsilon)[:, None, None], k=np.asarray(k)[:, None])
    found = grid.success(np.asarray(prior))
    assert found.shape == (len(epsilon), len(k), len(prior))
    for i, e in enumerate(epsilon):
        for j, many in enumerate(k):
            p0 = np.array([np.exp(e), 1.0, *[1.0] * (many - 2)]) / (np.exp(e) + many - 1)
            p1 = np.array([1.0, np.exp(e), *[1.0] * (many - 2)]) / (np.exp(e) + many - 1)
            by_hand = [np.maximum((1 - p) * p0, p * p1).sum() for p in prior]
            assert found[i, j] == pytest.approx(by_hand, rel=1e-12)


def test_many_are_one_object() -> None:
    made = el.mechanisms.staircase(epsilon=[0.5, 1.0])
    assert repr(made).startswith("staircase(epsilon=[0.5, 1]")
    for other in (el.mechanisms.staircase(epsilon=(0.5, 1.0)), pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert other == made
    assert made != el.mechanisms.staircase(epsilon=[0.5, 1.5])
    assert made.reverse().success() == pytest.approx(made.success(), rel=1e-14)
    assert made.to_dict()["parameters"]["epsilon"] == [0.5, 1.0]
    assert np.asarray(el.mechanisms.pure(epsilon=[1.0, 1.0]).success()).shape == (2,)
    assert "Many experiments" in made.to_markdown() or "staircase" in str(made)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: el.mechanisms.pure(epsilon=[1.0, -1.0]), "epsilon is -1"),
        (lambda: el.mechanisms.pure(epsilon=[]), "epsilon make 0 experiments"),
        (lambda: el.mechanisms.pure(epsilon=np.ones(MOST + 1)), "make 100,001 experiments"),
        (lambda: el.mechanisms.pure(epsilon=["a", "b"]), "give a number or an array of numbers"),
        (lambda: el.mechanisms.pure(epsilon=[1.0, np.nan]), "epsilon contains NaN"),
        (lambda: el.mechanisms.pure(epsilon=[[1.0], [1.0, 2.0]]), "rows of different lengths"),
        (lambda: el.mechanisms.geometric(epsilon=[1.0, 2.0], sensitivity=[1, 2, 3]), "the shapes do not fit together"),
        (lambda: el.mechanisms.pure(epsilon=[1.0, 2.0]).success([0.1, 0.2, 0.3]), "give shapes that broadcast"),
        (lambda: el.mechanisms.pure(epsilon=[1.0, 2.0]).repeat(2), "a composition needs single numbers"),
    ],
)
def test_what_is_refused(build: Callable[[], Any], said: str) -> None:
    with pytest.raises(el.InputError, match=said):
        build()


def test_a_builder_of_ones_own() -> None:
    @vectorized("epsilon")
    def twice(epsilon: Any, noise: Any = None) -> el.Experiment:
        return el.laplace(epsilon=epsilon).repeat(2)

    assert twice([0.5, 1.0]).epsilon() == pytest.approx([1.0, 2.0], rel=1e-9)
    assert twice(0.5, noise=[1, 2]).epsilon() == pytest.approx(1.0, rel=1e-9)


def test_what_an_experiment_does_not_mention_is_what_was_given() -> None:
    many = el.mechanisms.from_zcdp(rho=0.1, xi=range(3))
    assert many.to_dict()["parameters"]["xi"] == [0.0, 1.0, 2.0]


def test_a_pair_of_bounds_is_one_setting_of_many() -> None:
    many = el.attacks.differencing_median(epsilon=[0.1, 1.0], values=[0, 0, 1], target=2.0, bounds=(-1, 5))
    frame = many.frame()
    assert list(frame["bounds"]) == ["(-1.0, 5.0)"] * 2
    assert list(frame["epsilon"]) == [0.1, 1.0]


def test_a_frame_of_many_mixtures_takes_their_lists_as_one_setting() -> None:
    shifts, weights = [0, 1, 2], [0.81, 0.18, 0.01]
    many = el.mechanisms.mixture(shifts=shifts, weights=weights, sigma=[0.5, 2.0]).frame()
    assert list(many["sigma"]) == [0.5, 2.0]
    assert set(many["shifts"]) == {"[0.0, 1.0, 2.0]"}
    alone = [el.mechanisms.mixture(shifts=shifts, weights=weights, sigma=s).success() for s in (0.5, 2.0)]
    assert list(many["success"]) == pytest.approx(alone, rel=1e-12)
