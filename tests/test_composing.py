"""Several answers at once: exact where a closed form is known, an upper bound elsewhere, and the note says which."""

from __future__ import annotations

import math

import numpy as np
import pytest

import epsilens as el
from epsilens.composing import compose
from epsilens.errors import InputError


def test_normals_add_in_squares() -> None:
    joint = compose(el.gaussian(psi=1.0), el.gaussian(psi=2.0), el.gaussian(psi=2.0))
    assert joint.psi() == pytest.approx(3.0, rel=1e-12)
    assert "exact" in joint.notes[0]


def test_one_experiment_is_itself() -> None:
    one = el.laplace(epsilon=0.7)
    assert compose(one) is one


def test_equal_laplaces_are_exact() -> None:
    joint = compose(*[el.laplace(epsilon=1.0)] * 3)
    assert joint.advantage() == pytest.approx(0.567685, abs=6e-7)
    assert "exact" in joint.notes[0]


@pytest.mark.parametrize(
    "parts",
    [
        (el.laplace(epsilon=0.2), el.laplace(epsilon=0.5)),
        (el.laplace(epsilon=0.1),) * 9,
        (el.laplace(epsilon=0.3), el.randomized_response(epsilon=0.4)),
    ],
)
def test_other_mixtures_take_the_safe_sum(parts: tuple[el.Experiment, ...]) -> None:
    joint = compose(*parts)
    total = sum(float(e.epsilon()) for e in parts)
    assert joint.advantage() == pytest.approx(math.tanh(total / 2), rel=1e-9)
    assert "upper bound" in joint.notes[0]


def test_the_safe_sum_bounds_simulation() -> None:
    # two unequal Laplaces: the true product test, drawn, stays under the bound
    rng, runs = np.random.default_rng(11), 100_000
    noise = rng.laplace(size=(runs, 2)) / np.array([0.5, 1.0])
    loss = sum(e * (np.abs(noise[:, i] + 1) - np.abs(noise[:, i])) for i, e in enumerate((0.5, 1.0)))
    right = (loss > 0).mean()
    assert right <= compose(el.laplace(epsilon=0.5), el.laplace(epsilon=1.0)).success() + 4 * 0.5 / math.sqrt(runs)


@pytest.mark.parametrize("wrong", [(), (1.0,), (el.laplace(epsilon=1.0), "x")])
def test_only_experiments_compose(wrong: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="compose needs one experiment or more"):
        compose(*wrong)  # type: ignore[arg-type]


def test_no_finite_sum_is_refused() -> None:
    with pytest.raises(InputError, match="no finite epsilon"):
        compose(el.gaussian(psi=1.0), el.laplace(epsilon=1.0))
