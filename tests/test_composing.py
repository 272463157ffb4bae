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
        (el.gaussian(psi=0.3), el.laplace(epsilon=0.3), el.approximate(epsilon=0.2, delta=1e-4)),
    ],
)
def test_unlike_answers_have_a_narrow_bracket_below_the_sum(parts: tuple[el.Experiment, ...]) -> None:
    joint = compose(*parts)
    low, high = joint.bracket("advantage")
    assert low < high <= low * 1.0011
    assert joint.advantage() == high
    assert high >= max(float(e.advantage()) for e in parts)
    total = sum(float(e.epsilon()) for e in parts)
    assert high < math.tanh(total / 2)
    assert "bracket" in joint.notes[0]
    assert joint.direction == "upper"


def test_two_unequal_laplaces_agree_with_simulation() -> None:
    rng, runs = np.random.default_rng(11), 400_000
    noise = rng.laplace(size=(runs, 2)) / np.array([0.5, 1.0])
    loss = sum(e * (np.abs(noise[:, i] + 1) - np.abs(noise[:, i])) for i, e in enumerate((0.5, 1.0)))
    right = (loss > 0).mean() + (loss == 0).mean() / 2
    value = compose(el.laplace(epsilon=0.5), el.laplace(epsilon=1.0)).success()
    assert value == pytest.approx(right, abs=5 * 0.5 / math.sqrt(runs))


def test_what_was_composed_composes_again() -> None:
    lap, norm = el.laplace(epsilon=0.25), el.gaussian(psi=0.25)
    at_once = compose(*[lap] * 5, *[norm] * 4)
    in_parts = compose(compose(lap, norm, norm), compose(norm, norm), lap.repeat(4))
    assert in_parts.bracket("epsilon", delta=1e-6) == pytest.approx(at_once.bracket("epsilon", delta=1e-6), rel=1e-9)
    assert compose(*[norm] * 4, lap.repeat(5)).direction == "upper"


def test_repetition() -> None:
    assert el.gaussian(psi=0.5).repeat(16).psi() == 2.0
    assert el.laplace(epsilon=1.0).repeat(1).epsilon() == 1.0
    two = el.laplace(epsilon=1.0).repeat(2)
    assert two.advantage() == pytest.approx(1 - 3 / (2 * math.e), rel=1e-9)
    with pytest.raises(InputError, match="k is 0"):
        two.repeat(0)
    with pytest.raises(InputError, match="width is 2"):
        el.laplace(epsilon=1.0).repeat(20, width=2)


def test_the_orders_are_kept() -> None:
    e = el.dpsgd(sigma=1.0, rate=0.01, steps=100)
    both = compose(e, el.laplace(epsilon=0.1))
    back = compose(e.reverse(), el.laplace(epsilon=0.1))
    assert back.roc(0.01) == pytest.approx(both.reverse().roc(0.01), rel=2e-3)
    assert both.roc(0.01) != pytest.approx(back.roc(0.01), rel=1e-2)
    assert both.epsilon(1e-5) == pytest.approx(back.epsilon(1e-5), rel=2e-3)


def test_groups() -> None:
    assert el.group(el.gaussian(psi=0.5), 3).psi() == 1.5
    assert el.group(el.laplace(epsilon=0.5), 4).epsilon() == pytest.approx(2.0)
    assert el.group(el.pure(epsilon=0.5), 4).epsilon() == pytest.approx(2.0)
    claim = el.group(el.approximate(epsilon=0.1, delta=1e-6), 3)
    assert claim.delta(0.3) == pytest.approx(1e-6 * math.expm1(0.3) / math.expm1(0.1), rel=1e-9)
    one, three = el.dpsgd(sigma=2.0, rate=0.01, steps=500), el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=500), 3)
    # the exact group law is a binomial mixture of shifts: simulate its total variation from below
    assert three.advantage() > one.advantage()
    assert three.advantage() >= el.dpsgd(sigma=2.0, rate=1 - 0.99**3, steps=500).advantage() * 0.999
    assert el.group(one, 1) is one
    with pytest.raises(InputError, match="add-remove"):
        el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=5, neighbours="replace"), 2)


def test_what_has_no_loss_of_its_own_enters_by_its_epsilon() -> None:
    pair = el.differencing(epsilon=0.5)
    joint = compose(pair, el.laplace(epsilon=0.3))
    low, high = joint.bracket("advantage")
    assert low == 0.0  # only a bound from above is known
    assert high >= float(pair.advantage())
    assert "worst case" in joint.notes[0]


def test_arrays_do_not_compose() -> None:
    with pytest.raises(InputError, match="single numbers"):
        compose(el.laplace(epsilon=np.array([0.1, 0.2])), el.gaussian(psi=1.0))


def test_nothing_but_silence() -> None:
    silent = compose(el.laplace(epsilon=1.0, shift=0.0), el.gaussian(psi=1.0, shift=0.0), el.finite([1.0], [1.0]))
    assert silent.advantage() == 0
    assert silent.success() == 0.5


@pytest.mark.parametrize("wrong", [(), (1.0,), (el.laplace(epsilon=1.0), "x")])
def test_only_experiments_compose(wrong: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="compose needs one experiment or more"):
        compose(*wrong)  # type: ignore[arg-type]


def test_arrays_do_not_pass_for_one_of_equals() -> None:
    many = el.laplace(epsilon=np.array([1.0, 2.0]))
    with pytest.raises(el.InputError, match="single numbers"):
        el.compose(many, el.laplace(epsilon=1.0))
    with pytest.raises(el.InputError, match="single numbers"):
        many.repeat(3)


@pytest.mark.parametrize(("loud", "quiet"), [(700.0, 1e-9), (50.0, 1e-6), (5.0, 1e-9)])
def test_a_whisper_beside_a_shout(loud: float, quiet: float) -> None:
    low, high = compose(el.laplace(epsilon=loud), el.gaussian(psi=quiet)).bracket("success")
    alone = el.laplace(epsilon=loud).success()
    assert low <= alone + quiet  # two answers add at most their total variations
    assert alone <= high <= min(alone + quiet + 2e-3 * alone, 1.0)
