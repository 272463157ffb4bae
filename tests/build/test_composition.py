"""Several answers at once: exact where a closed form is known, an upper bound elsewhere, and the note says which."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import epsilens as el
from epsilens.build.composition import compose
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


def test_a_group_needs_an_experiment() -> None:
    with pytest.raises(el.InputError, match="group needs an experiment: give what laplace"):
        el.group("x", 2)  # type: ignore[arg-type]


BOUNDS = {
    "a claim beside noise": lambda: compose(el.from_zcdp(0.5), el.laplace(epsilon=0.1)),
    "claims repeated": lambda: el.from_dp([0.5, 1.0, 2.0], [0.1, 1e-2, 1e-5]).repeat(10),
    "one claim repeated": lambda: el.from_dp(1.0, 1e-5).repeat(2),
    "normals, one of them claimed": lambda: compose(el.from_gdp(1.0), el.gaussian(psi=1.0)),
    "composed twice": lambda: compose(compose(el.from_gdp(1.0), el.laplace(epsilon=0.5)), el.gaussian(psi=1.0)),
    "a bound grouped, then composed": lambda: el.group(el.dpsgd(sigma=5.0, rate=0.01, steps=10), 2).repeat(3),
    "a group under sampling": lambda: el.group(el.dpsgd(sigma=5.0, rate=0.01, steps=100), 2),
    "a group of the worst case": lambda: el.group(el.pure(epsilon=0.5), 2),
    "a group of whole noise": lambda: el.group(el.geometric(epsilon=0.5, sensitivity=3), 2),
    "a group of a claim": lambda: el.group(el.from_gdp(0.5), 2),
    "who was drawn is told": lambda: el.subsample(
        el.gaussian(psi=1.0, neighbours="replace"), 0.1, neighbours="replace"
    ).repeat(2),
}


@pytest.mark.parametrize("build", BOUNDS.values(), ids=BOUNDS.keys())
def test_what_contains_a_bound_has_no_low_end(build: Callable[[], el.Experiment]) -> None:
    e = build()
    for one in (e, e.reverse()):
        low, high = one.bracket("epsilon", delta=1e-4)
        assert (low, high) == (0.0, one.epsilon(1e-4))
        assert high > 0
        assert one.bracket("success", prior=0.2)[0] == 0.8
        assert one.bracket("advantage") == (0.0, one.advantage())
        assert np.all(one.bracket("tradeoff", alpha=[0.1, 0.2])[1] == np.array([0.9, 0.8]))
        assert np.all(one.bracket("success", prior=[0.1, 0.5])[0] == np.array([0.9, 0.5]))
        assert one.direction == "upper"
    assert "upper bound" in e.notes[0]
    assert "exact" not in e.notes[0]


def test_mechanisms_keep_both_ends() -> None:
    exact = [
        el.pure(epsilon=1.0),
        el.approximate(epsilon=1.0, delta=1e-5).repeat(3),
        el.randomized_response(epsilon=1.0).repeat(20),
        el.group(el.gaussian(psi=0.5), 2),
        el.group(el.laplace(epsilon=0.5), 3),
    ]
    for e in exact:
        low, high = e.bracket("advantage")
        assert low == high > 0
    low, high = el.group(compose(el.gaussian(psi=0.5), el.laplace(epsilon=1.0)), 2).bracket("advantage")
    assert 0 < low <= high <= low * 1.001


def test_a_bound_composes_to_the_same_upper_end() -> None:
    claimed, known = (compose(e, el.laplace(epsilon=0.5)) for e in (el.from_gdp(1.0), el.gaussian(psi=1.0)))
    assert claimed.epsilon(1e-5) == known.epsilon(1e-5)
    assert compose(el.from_gdp(3.0), el.gaussian(psi=4.0)).psi() == 5.0


def test_the_group_of_a_composition_is_taken_part_by_part() -> None:
    both = el.group(compose(el.from_zcdp(0.5), el.laplace(epsilon=0.1)), 2)
    apart = compose(el.from_zcdp(2.0), el.laplace(epsilon=0.2))
    assert both.epsilon(1e-4) == pytest.approx(apart.epsilon(1e-4), rel=1e-6)
    assert "a group of zcdp" in both.notes[0]


@pytest.mark.parametrize("arguments", [{}, {"fpr": 0.1}, {"alpha": 0.1, "beta": 1.0}])
def test_a_bracket_of_the_curve_takes_alpha_alone(arguments: dict[str, float]) -> None:
    with pytest.raises(InputError, match="takes alpha alone"):
        el.laplace(epsilon=1.0).repeat(20).bracket("tradeoff", **arguments)
