"""Several answers at once: exact where a closed form is known, an upper bound elsewhere, and the note says which."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.laws.oracles import downward, upward
from tests.strategies import positive

import epsilens as el
from epsilens.errors import InputError
from epsilens.mechanisms.composition import compose
from epsilens.readings.law import Exactness


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
        (el.laplace(epsilon=0.3), el.mechanisms.randomized_response(epsilon=0.4)),
        (el.gaussian(psi=0.3), el.laplace(epsilon=0.3), el.mechanisms.approximate(epsilon=0.2, delta=1e-4)),
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
    assert el.group(el.mechanisms.pure(epsilon=0.5), 4).epsilon() == pytest.approx(2.0)
    claim = el.group(el.mechanisms.approximate(epsilon=0.1, delta=1e-6), 3)
    assert claim.delta(0.3) == pytest.approx(1e-6 * math.expm1(0.3) / math.expm1(0.1), rel=1e-9)
    one, three = el.dpsgd(sigma=2.0, rate=0.01, steps=500), el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=500), 3)
    assert three.advantage() > one.advantage()
    assert three.advantage() >= el.dpsgd(sigma=2.0, rate=1 - 0.99**3, steps=500).advantage() * 0.999
    # all drawn as soon as one is would be more
    assert three.advantage() < el.dpsgd(sigma=2 / 3, rate=1 - 0.99**3, steps=500).advantage() * 0.5
    assert el.group(one, 1) is one
    replaced = el.subsample(el.laplace(epsilon=1.0, neighbours="replace"), 0.1, neighbours="replace")
    with pytest.raises(InputError, match="add-remove"):
        el.group(replaced, 2)


@pytest.mark.parametrize(
    ("build", "people", "delta", "epsilon"),
    [  # the reference sheet, the worse order; two methods
        (lambda: el.dpsgd(sigma=1.0, rate=0.0064, steps=782), 2, 1e-6, 2.53198),
        (lambda: el.dpsgd(sigma=1.0, rate=0.0064, steps=782), 3, 1e-6, 3.93696),
        (lambda: el.dpsgd(sigma=1.0, rate=0.0064, steps=782), 10, 1e-6, 15.46434),
        (lambda: el.subsample(el.gaussian(sigma=2.0), 0.01).repeat(1000), 5, 1e-5, 3.73244),
        (lambda: el.group(el.dpsgd(sigma=0.8, rate=0.001, steps=1000), 2), 2, 1e-6, 1.90793),
    ],
)
def test_groups_under_sampling_are_known_from_both_sides(
    build: Callable[[], el.Experiment], people: int, delta: float, epsilon: float
) -> None:
    e = el.group(build(), people)
    low, high = e.bracket("epsilon", delta=delta)
    assert low - 6e-6 <= epsilon <= high + 6e-6
    assert high <= low * 1.001
    assert e.law.known is Exactness.BRACKET


def test_a_sampled_group_beside_other_releases() -> None:
    one = compose(el.dpsgd(sigma=2.0, rate=0.01, steps=100), el.laplace(epsilon=0.1), el.gaussian(psi=0.2))
    apart = compose(
        el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=100), 3), el.laplace(epsilon=0.3), el.gaussian(psi=0.6)
    )
    assert el.group(one, 3).epsilon(1e-5) == pytest.approx(apart.epsilon(1e-5), rel=2e-3)


def test_what_has_no_loss_of_its_own_enters_by_its_epsilon() -> None:
    pair = el.attacks.differencing(epsilon=0.5)
    joint = compose(pair, el.laplace(epsilon=0.3))
    low, high = joint.bracket("advantage")
    assert low == 0.0  # only a bound from above is known
    assert high >= float(pair.advantage())
    assert "worst case" in joint.notes[0]


def test_arrays_do_not_compose() -> None:
    with pytest.raises(InputError, match="single numbers"):
        compose(el.laplace(epsilon=np.array([0.1, 0.2])), el.gaussian(psi=1.0))


def test_nothing_but_silence() -> None:
    silent = compose(
        el.laplace(epsilon=1.0, shift=0.0), el.gaussian(psi=1.0, shift=0.0), el.mechanisms.finite([1.0], [1.0])
    )
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


def test_scores_of_one_table_say_nothing_of_a_group_or_a_sample() -> None:
    """The second person who raises a rare outcome tenfold moves more than the first: 0.0899, not twice 0.009."""
    loss = math.log(10)
    first, second = [math.log(999) / loss, 0.0], [math.log(999) / loss, 1.0]
    e = el.mechanisms.exponential(epsilon=2 * loss, scores0=first, scores1=second)
    two = el.mechanisms.finite([0.999, 0.001], [0.999 / 1.099, 0.1 / 1.099])
    assert two.advantage() > 4 * e.advantage()
    median = el.attacks.differencing_median(epsilon=1.0, values=[1, 2, 3, 4], target=5.0, bounds=(0, 10))
    for one in (e, e.repeat(2), median):
        with pytest.raises(el.InputError, match="is of one table"):
            el.group(one, 2)
        with pytest.raises(el.InputError, match="is of one table"):
            el.subsample(one, 0.5, neighbours="replace")
    assert el.group(el.mechanisms.exponential(epsilon=2 * loss), 2).advantage() > two.advantage()


def test_a_group_needs_an_experiment() -> None:
    with pytest.raises(el.InputError, match="group needs an experiment: give what laplace"):
        el.group("x", 2)  # type: ignore[arg-type]


BOUNDS = {
    "a claim beside noise": lambda: compose(el.mechanisms.from_zcdp(0.5), el.laplace(epsilon=0.1)),
    "claims repeated": lambda: el.mechanisms.from_dp([0.5, 1.0, 2.0], [0.1, 1e-2, 1e-5]).repeat(10),
    "one claim repeated": lambda: el.mechanisms.from_dp(1.0, 1e-5).repeat(2),
    "normals, one of them claimed": lambda: compose(el.mechanisms.from_gdp(1.0), el.gaussian(psi=1.0)),
    "composed twice": lambda: compose(
        compose(el.mechanisms.from_gdp(1.0), el.laplace(epsilon=0.5)), el.gaussian(psi=1.0)
    ),
    "a bound grouped, then composed": lambda: el.group(el.subsample(el.laplace(epsilon=0.5), 0.1), 2).repeat(3),
    "a group under sampling": lambda: el.group(el.subsample(el.laplace(epsilon=0.5), 0.1).repeat(10), 2),
    "a group of the worst case": lambda: el.group(el.mechanisms.pure(epsilon=0.5), 2),
    "a group of sampled noise": lambda: el.group(
        el.subsample(el.mechanisms.geometric(epsilon=0.5, sensitivity=3), 0.5), 2
    ),
    "a group of a claim": lambda: el.group(el.mechanisms.from_gdp(0.5), 2),
    "who was drawn is told": lambda: el.subsample(
        el.gaussian(psi=1.0, neighbours="replace"), 0.1, neighbours="replace"
    ).repeat(2),
}


@pytest.mark.parametrize("build", BOUNDS.values(), ids=BOUNDS.keys())
def test_what_contains_a_bound_has_no_low_end(build: Callable[[], el.Experiment]) -> None:
    e = build()
    for one in (e, e.reverse()):
        low, high = one.bracket("epsilon", delta=1e-4)
        assert (low, high) == (0.0, upward(one.epsilon(1e-4)))
        assert high > 0
        assert one.bracket("success", prior=0.2)[0] == downward(0.8)
        assert one.bracket("advantage") == (0.0, upward(one.advantage()))
        assert one.bracket("tradeoff", fpr=[0.1, 0.2])[1].tolist() == [upward(0.9), upward(0.8)]
        assert one.bracket("success", prior=[0.1, 0.5])[0].tolist() == [downward(0.9), 0.5]
        assert one.direction == "upper"
    assert "upper bound" in e.notes[0]
    assert "exact" not in e.notes[0]


def test_mechanisms_keep_both_ends() -> None:
    exact = [
        el.mechanisms.pure(epsilon=1.0),
        el.mechanisms.approximate(epsilon=1.0, delta=1e-5).repeat(3),
        el.mechanisms.randomized_response(epsilon=1.0).repeat(20),
        el.group(el.gaussian(psi=0.5), 2),
        el.group(el.laplace(epsilon=0.5), 3),
    ]
    for e in exact:
        low, high = e.bracket("advantage")
        assert 0 < low < e.advantage() < high <= low * (1 + 1e-12)
    low, high = el.group(compose(el.gaussian(psi=0.5), el.laplace(epsilon=1.0)), 2).bracket("advantage")
    assert 0 < low <= high <= low * 1.001


def test_a_bound_composes_to_the_same_upper_end() -> None:
    claimed, known = (compose(e, el.laplace(epsilon=0.5)) for e in (el.mechanisms.from_gdp(1.0), el.gaussian(psi=1.0)))
    assert claimed.epsilon(1e-5) == known.epsilon(1e-5)
    assert compose(el.mechanisms.from_gdp(3.0), el.gaussian(psi=4.0)).psi() == 5.0


def test_the_group_of_a_composition_is_taken_part_by_part() -> None:
    both = el.group(compose(el.mechanisms.from_zcdp(0.5), el.laplace(epsilon=0.1)), 2)
    apart = compose(el.mechanisms.from_zcdp(2.0), el.laplace(epsilon=0.2))
    assert both.epsilon(1e-4) == pytest.approx(apart.epsilon(1e-4), rel=1e-6)
    assert "a group of zcdp" in both.notes[0]


@pytest.mark.parametrize("arguments", [{}, {"alpha": 0.1}, {"fpr": 0.1, "beta": 1.0}])
def test_a_bracket_of_the_curve_takes_fpr_alone(arguments: dict[str, float]) -> None:
    with pytest.raises(InputError, match="takes fpr alone"):
        el.laplace(epsilon=1.0).repeat(20).bracket("tradeoff", **arguments)


# Vector answers (paper 000, Theorem 4): the reference sheet's table, and where the paper's bound stands.


@pytest.mark.parametrize(
    ("q", "each", "claimed", "together"),
    [(2, 0.448181, 0.632121, 0.241837), (3, 0.567685, 0.776870, 0.229201), (10, 0.833800, 0.993262, 0.122131)],
)
def test_the_table_of_the_sheet(q: int, each: float, claimed: float, together: float) -> None:
    own, joint = el.mechanisms.vector(epsilon=1.0, q=q, calibration="each"), el.mechanisms.vector(epsilon=1.0, q=q)
    assert own.exact
    assert joint.exact
    assert own.experiment.advantage() == pytest.approx(each, abs=6e-7)
    assert own.claimed.advantage() == pytest.approx(claimed, abs=6e-7)
    assert joint.experiment.advantage() == pytest.approx(together, abs=6e-7)
    assert joint.scalar.advantage() == pytest.approx(0.393469, abs=6e-7)
    assert own.ceiling.advantage() == pytest.approx(math.tanh(q / 2), rel=1e-14)


def test_two_coordinates_in_closed_form() -> None:
    """TV = 1 − (1 + m/2)e^{−m}; F₁* is .754826, not the .819095 claimed. Without the atom at 0 TV would be .412."""
    v = el.mechanisms.vector(epsilon=1.0, q=2, calibration="each")
    assert v.experiment.fbeta() == pytest.approx(0.754826, abs=6e-7)
    assert v.claimed.fbeta() == pytest.approx(0.819095, abs=6e-7)
    for m in (1e-3, 0.1, 1.0, 5.0, 30.0):
        got = el.mechanisms.vector(epsilon=m, q=2, calibration="each").experiment.advantage()
        assert got == pytest.approx(1 - (1 + m / 2) * math.exp(-m), rel=1e-9)


def test_all_in_one_coordinate_is_the_scalar() -> None:
    v = el.mechanisms.vector(epsilon=1.0, shifts=[0.0, 2.0, 0.0], sensitivity=2.0)
    assert v.experiment.direction == "exact"
    assert v.experiment.advantage() == el.laplace(epsilon=1.0).advantage()


@settings(max_examples=examples(20))
@given(positive(0.1, 4.0), st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), min_size=2, max_size=4))
def test_spreading_a_shift_hides_the_person(epsilon: float, shares: list[float]) -> None:
    if sum(shares) == 0:
        return
    v = el.mechanisms.vector(epsilon=epsilon, shifts=np.array(shares) / sum(shares))
    alpha = np.array([0.01, 0.1, 0.5, 0.9])
    assert np.all(v.experiment.roc(alpha) <= v.scalar.roc(alpha) + 1e-12)
    assert np.all(v.experiment.roc(alpha) <= v.ceiling.roc(alpha) + 1e-12)


@pytest.mark.parametrize(("q", "epsilon"), [(2, 0.3), (2, 2.0), (3, 0.3), (3, 2.0), (10, 0.3), (10, 1.0)])
def test_the_papers_bound_holds_on_the_grid_it_was_checked_on(q: int, epsilon: float) -> None:
    v = el.mechanisms.vector(epsilon=epsilon, q=q, calibration="each")
    alpha = np.array([1e-4, 0.01, 0.1, 0.3, 0.5, 0.9])
    assert np.all(v.experiment.roc(alpha) <= v.claimed.roc(alpha) + 1e-12)


def test_normal_noise_adds_up_by_itself() -> None:
    assert el.mechanisms.vector(psi=1.5, q=4, noise="gaussian").experiment.psi() == pytest.approx(1.5, rel=1e-15)
    assert el.mechanisms.vector(psi=1.5, q=4, noise="gaussian", calibration="each").experiment.psi() == pytest.approx(
        3.0, rel=1e-15
    )
    v = el.mechanisms.vector(epsilon=1.0, delta=1e-5, shifts=[3.0, 4.0], sensitivity=10.0, noise="gaussian")
    assert v.experiment.psi() == pytest.approx(el.gaussian(epsilon=1.0, delta=1e-5).psi() / 2, rel=1e-14)
    assert "normal noise" in str(v)


def test_many_or_unlike_coordinates() -> None:
    many = el.mechanisms.vector(epsilon=0.2, q=60, calibration="each")
    assert "at most" in many.sentence or many.exact
    assert many.experiment.advantage() <= 1
    # never below the exact product of fewer
    assert (
        many.experiment.advantage()
        >= el.mechanisms.vector(epsilon=0.2, q=20, calibration="each").experiment.advantage()
    )
    unlike = el.mechanisms.vector(epsilon=1.0, shifts=[0.5, 0.3, 0.2])
    assert unlike.exact
    equal = el.mechanisms.vector(epsilon=1.0, q=3)
    assert equal.experiment.advantage() < unlike.experiment.advantage() < unlike.scalar.advantage()
    tiny = el.mechanisms.vector(epsilon=1e-12, shifts=[0.7, 0.3])
    assert 0.35e-12 <= tiny.experiment.advantage() <= 0.5e-12
    assert not tiny.exact


def test_it_shows_itself() -> None:
    v = el.mechanisms.vector(epsilon=1.0, q=2, calibration="each")
    assert v.sentence.startswith("With 2 noisy coordinates an adversary's advantage is 0.4482")
    json.dumps(v.to_dict(), allow_nan=False)
    assert v.sentence in html.unescape(v._repr_html_())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 1.0}, "how many coordinates"),
        ({"epsilon": 1.0, "q": 2.5}, "q is 2.5"),
        ({"epsilon": 1.0, "q": 0}, "q is 0"),
        ({"q": 2}, "give epsilon"),
        ({"epsilon": 1.0, "psi": 1.0, "q": 2}, "epsilon alone"),
        ({"epsilon": math.nan, "q": 2}, "NaN"),
        ({"epsilon": [1.0, 2.0], "q": 2}, "single number"),
        ({"epsilon": 1.0, "shifts": [0.8, 0.8]}, "L1 norm"),
        ({"psi": 1.0, "shifts": [0.8, 0.8], "noise": "gaussian"}, "L2 norm"),
        ({"epsilon": 1.0, "shifts": [0.8, 1.2], "calibration": "each"}, "shift 1 is 1.2"),
        ({"epsilon": 1.0, "shifts": [[0.5]]}, "shifts has shape"),
        ({"epsilon": 1.0, "shifts": [0.5], "q": 2}, "differ in length"),
        ({"epsilon": 1.0, "sensitivity": [1.0, 2.0]}, "one number for the vector"),
        ({"epsilon": 1.0, "q": 2, "calibration": "apart"}, "apart"),
        ({"epsilon": 1.0, "q": 2, "noise": "cauchy"}, "cauchy"),
        ({"noise": "gaussian", "q": 2}, "psi or sigma or epsilon"),
    ],
)
def test_one_sentence_for_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError) as refused:
        el.mechanisms.vector(**given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("q", [2, 20])
def test_very_small_and_very_large_losses(q: int) -> None:
    """To leading order TV is half the mean of |Σ±m|, and KL adds up; nothing is undefined at the other end."""
    walk = sum(math.comb(q, i) * 2.0**-q * abs(2 * i - q) for i in range(q + 1))
    for m in (1e-14, 1e-6):
        e = el.mechanisms.vector(epsilon=m, q=q, calibration="each").experiment
        assert e.advantage() == pytest.approx(walk * m / 2, rel=1e-5)
        assert e.kl() == pytest.approx(q * m * m / 2, rel=1e-5)
    for m in (60.0, 700.0):
        e = el.mechanisms.vector(epsilon=m, q=q, calibration="each").experiment
        assert e.advantage() == pytest.approx(1.0, abs=1e-12)
        assert e.auc() == pytest.approx(1.0, abs=1e-12)
        assert e.kl() == pytest.approx(q * (m - 1), rel=1e-10)


@pytest.mark.parametrize("shifts", [(0.9, 0.0001), (0.8, 0.19, 0.00001)])
def test_auc_of_very_unlike_shifts(shifts: tuple[float, ...]) -> None:
    """Within the simulation's error of 400,000 pairs; a narrow coordinate must not cut the wide one's mass off."""
    rng, m = np.random.default_rng(8), 5.0 * np.asarray(shifts)
    noise = rng.laplace(size=(2, 400_000, m.size))
    score = (np.abs(noise + [[[0.0]], [[1.0]]] * m) - np.abs(noise + [[[0.0]], [[1.0]]] * m - m)).sum(axis=-1)
    apart = score[1] - score[0]
    wins = np.mean(apart > 1e-12) + np.mean(np.abs(apart) <= 1e-12) / 2
    assert el.mechanisms.vector(epsilon=5.0, shifts=shifts).experiment.auc() == pytest.approx(wins, abs=1e-3)


@pytest.mark.parametrize("name", ["epsilon", "delta", "psi"])
def test_a_vector_of_normal_noise_has_one_size(name: str) -> None:
    given = {"psi": 1.0} if name == "psi" else {"epsilon": 1.0, "delta": 1e-9}
    with pytest.raises(el.InputError, match=f"{name} has shape \\(2,\\): give a single number"):
        el.mechanisms.vector(**{**given, name: [0.1, 0.2]}, shifts=[0.0, 1.0], noise="gaussian")  # type: ignore[arg-type]
