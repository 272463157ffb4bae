"""Experiments and results as objects: they pickle, copy, hash and compare by what they hold, and say what they are."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.specimens import EXPERIMENTS, RESULTS

import epsilens as el
from epsilens.numerics.values import FrozenMapping

ALL = {f"experiment: {name}": build for name, build in EXPERIMENTS.items()} | dict(RESULTS)


@pytest.mark.parametrize("build", ALL.values(), ids=ALL)
def test_an_object_is_what_it_holds(build: Callable[[], Any]) -> None:
    made, again = build(), build()
    others = (again, pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made))
    for other in others:
        assert other == made
        assert hash(other) == hash(made)
        assert repr(other) == repr(made)
    assert len({made, *others}) == 1
    assert made != object()
    assert made != "text"


@pytest.mark.parametrize("build", ALL.values(), ids=ALL)
def test_a_repr_is_one_short_line(build: Callable[[], Any]) -> None:
    said = repr(build())
    assert len(said) < 300
    assert "\n" not in said
    assert "(" in said
    assert " object at 0x" not in said


def test_no_two_of_them_are_equal() -> None:
    made = [build() for build in EXPERIMENTS.values()]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (el.laplace(epsilon=1.0), el.laplace(epsilon=1.0 + 1e-15)),
        (el.laplace(epsilon=1.0), el.laplace(epsilon=1.0, neighbours="replace")),
        (el.laplace(epsilon=[1.0, 2.0]), el.laplace(epsilon=[1.0, 3.0])),
        (el.laplace(epsilon=[1.0, 2.0]), el.laplace(epsilon=[[1.0, 2.0]])),
        (el.laplace(epsilon=1.0), el.mechanisms.pure(epsilon=1.0)),
        (
            el.mechanisms.finite([0.5, 0.3, 0.2], [0.2, 0.1, 0.7]),
            el.mechanisms.finite([0.5, 0.3, 0.2], [0.2, 0.1, 0.7]).reverse(),
        ),
        (el.gaussian(psi=3.0).repeat(2), el.gaussian(psi=3.0).repeat(3)),
        (el.compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)), el.gaussian(psi=5.0)),
        (el.attacks.tampering(epsilon=1.0, bias=1.0), el.laplace(epsilon=1.0)),
        (el.choose(el.laplace, "epsilon", at_most=0.55), el.choose(el.laplace, "epsilon", at_most=0.56)),
        (el.attacks.Knowledge.from_prior(0.3), el.attacks.Knowledge.from_prior(0.4)),
        (el.attacks.observed(fpr=0.1, tpr=0.27), el.attacks.observed(fpr=0.1, tpr=0.28)),
    ],
    ids=repr,
)
def test_different_things_are_unequal(one: Any, other: Any) -> None:
    assert one != other
    assert hash(one) != hash(other)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (el.laplace(epsilon=1.0), "laplace(epsilon=1)"),
        (el.laplace(scale=2.0, sensitivity=3.0, shift=1.5), "laplace(epsilon=1.5, sensitivity=3, shift=1.5)"),
        (el.laplace(epsilon=[1.0, 2.0]), "laplace(epsilon=[1, 2])"),
        (el.laplace(epsilon=1.0, sensitivity=[1.0, 2.0]), "laplace(epsilon=1, sensitivity=[1, 2])"),
        (el.laplace(epsilon=1.0, sensitivity=[2.0, 3.0], shift=1.0), "laplace(epsilon=1, sensitivity=[2, 3], shift=1)"),
        (el.gaussian(sigma=2.0, neighbours="replace"), "gaussian(sigma=2, neighbours='replace')"),
        (el.gaussian(epsilon=1.0, delta=1e-5), "gaussian(epsilon=1, delta=1e-05)"),
        (el.dpsgd(sigma=1.0, rate=0.01, steps=100), "dpsgd(sigma=1, rate=0.01, steps=100)"),
        (
            el.compose(el.laplace(epsilon=1.0), el.gaussian(sigma=1.0)),
            "compose(laplace(epsilon=1), gaussian(sigma=1))",
        ),
        (el.laplace(epsilon=0.1).repeat(100), "laplace(epsilon=0.1).repeat(100)"),
        (
            el.compose(el.laplace(epsilon=0.1).repeat(3), el.gaussian(psi=1.0)).reverse(),
            "compose(laplace(epsilon=0.1).reverse().repeat(3), gaussian(sigma=1).reverse())",
        ),
        (el.mechanisms.finite([0.5, 0.5], [0.4, 0.6]).reverse(), "finite(outcomes=2).reverse()"),
    ],
    ids=repr,
)
def test_a_repr_says_what_it_is(made: el.Experiment, said: str) -> None:
    assert repr(made) == said


def test_a_long_composition_is_told_in_part() -> None:
    many = el.compose(*(el.laplace(epsilon=0.1 + k / 100) for k in range(40)))
    assert repr(many).startswith("compose(laplace(epsilon=0.1), laplace(epsilon=0.11), ")
    assert repr(many).endswith(", … 40 in all)")


def test_words_do_not_make_a_difference() -> None:
    made = el.laplace(epsilon=1.0)
    other = el.Experiment(made.law, made.origin, made.parameters, made.worlds, ("told",), label="called")
    assert other == made
    assert hash(other) == hash(made)


def test_parameters_are_frozen() -> None:
    held = el.laplace(epsilon=[1.0, 2.0]).parameters
    assert isinstance(held, FrozenMapping)
    assert held == {**held}
    assert {**held} == held
    assert held != {**held, "epsilon": np.array([1.0, 2.5])}
    assert held != 3
    with pytest.raises(TypeError):
        held["epsilon"] = 3.0  # type: ignore[index]
    with pytest.raises(AttributeError, match="does not change"):
        held.other = 3


@pytest.mark.parametrize(
    "frozen", [FrozenMapping({"a": np.array([0.0, np.nan])}), FrozenMapping({"a": [1, {"b": {2}}]}), FrozenMapping()]
)
def test_a_frozen_mapping_is_a_value(frozen: FrozenMapping[str, Any]) -> None:
    for other in (
        pickle.loads(pickle.dumps(frozen)),
        copy.copy(frozen),
        copy.deepcopy(frozen),
        FrozenMapping(dict(frozen)),
    ):
        assert other == frozen
        assert hash(other) == hash(frozen)


def test_a_zero_has_no_sign() -> None:
    assert FrozenMapping({"a": np.array([0.0, 1.0])}) == {"a": np.array([-0.0, 1.0])}
    assert hash(FrozenMapping({"a": -0.0})) == hash(FrozenMapping({"a": 0.0}))


@pytest.mark.parametrize(
    "error",
    [
        el.InputError("epsilon is -1: give more", parameter="epsilon", value=-1),
        el.NoSolutionError("no epsilon does", floor=0.5, parameter="epsilon"),
        el.MissingExtra("duckdb", extra="data", purpose="scanning a table"),
    ],
)
def test_errors_cross_processes(error: el.EpsilensError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert (str(other), vars(other)) == (str(error), vars(error))


def test_a_repr_of_many_experiments_at_once() -> None:
    many = el.laplace(epsilon=np.array([[0.1], [1.0]]), sensitivity=np.array([1.0, 2.0]), shift=1.0)
    assert repr(many) == "laplace(epsilon=[[0.1], [1]], sensitivity=[1, 2], shift=1)"
