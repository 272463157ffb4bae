"""Choosing: the answer satisfies its limit when read again, the next riskier value does not, and floors are refused."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.strategies import positive

import epsilens as el
from epsilens.catalogue.readings import READINGS
from epsilens.experiment import Experiment

SCORES = {"scores0": [0.0, 1.0, 3.0, 3.5], "scores1": [1.0, 1.0, 2.5, 4.0]}

# name: (mechanism, parameter, given, whether risk grows with the parameter)
MECHANISMS: dict[str, tuple[Callable[..., Experiment], str, dict[str, Any], bool]] = {
    "laplace": (el.laplace, "epsilon", {}, True),
    "laplace scale": (el.laplace, "scale", {"sensitivity": 3.0}, False),
    "laplace shift": (el.laplace, "epsilon", {"sensitivity": 2.0, "shift": 0.5}, True),
    "laplace stretched": (el.laplace, "epsilon", {"stretch": 1.5}, True),
    "gaussian psi": (el.gaussian, "psi", {}, True),
    "gaussian sigma": (el.gaussian, "sigma", {"sensitivity": 7.0}, False),
    "gaussian epsilon": (el.gaussian, "epsilon", {"delta": 1e-6}, True),
    "gaussian delta": (el.gaussian, "delta", {"epsilon": 1.0}, True),
    "geometric": (el.mechanisms.geometric, "epsilon", {"sensitivity": 3}, True),
    "discrete_gaussian": (el.mechanisms.discrete_gaussian, "sigma", {}, False),
    "skellam": (el.mechanisms.skellam, "variance", {}, False),
    "randomized_response": (el.mechanisms.randomized_response, "epsilon", {"k": 4}, True),
    "exponential": (el.mechanisms.exponential, "epsilon", SCORES, True),
    "staircase": (el.mechanisms.staircase, "epsilon", {"shift": 0.7}, True),
    "pure": (el.mechanisms.pure, "epsilon", {}, True),
    "approximate": (el.mechanisms.approximate, "epsilon", {"delta": 1e-4}, True),
}

# reading: arguments and limits, all above the floor
LIMITS: list[tuple[str, dict[str, float], float]] = [
    ("success", {}, 0.51),
    ("success", {}, 0.75),
    ("success", {"prior": 0.2}, 0.85),
    ("advantage", {}, 1e-6),
    ("advantage", {}, 0.3),
    ("auc", {}, 0.51),
    ("auc", {}, 0.9),
    ("fbeta", {}, 0.7),
    ("fbeta", {"beta": 0.5, "prior": 0.1}, 0.4),
    ("posterior", {}, 0.6),
    ("posterior", {"prior": 0.01}, 0.05),
    ("precision", {"fpr": 0.1}, 0.6),
    ("precision", {"recall": 0.7, "prior": 0.3}, 0.4),
    ("roc", {"fpr": 0.01}, 0.05),
    ("roc", {"fpr": 0.6}, 0.8),
    ("recall", {"fpr": 0.3}, 0.5),
    ("attack_success", {"baseline": 0.05}, 0.2),
    ("delta", {"epsilon": 0.5}, 1e-3),
    ("delta", {"epsilon": 1.0}, 0.2),
    ("epsilon", {"delta": 1e-3}, 1.0),
    ("epsilon", {}, 2.0),
    ("psi", {}, 0.5),
    ("mu", {"level": 1e-3}, 0.5),
    ("renyi", {"order": 2.0}, 0.5),
    ("renyi", {"order": 0.5}, 0.01),
    ("kl", {}, 0.1),
    ("chernoff", {}, 0.02),
]
# the weakest noise that the search tries, where that is not 1e-9: whole-number noise is enumerated, and ends here
WEAKEST = {"sigma": 1e9, "scale": 1e12}
ENUMERATED = {"discrete_gaussian": 25_800.0, "skellam": 4e8}
ALL = [
    pytest.param(m, r, a, x, id=f"{m}-{r}{a or ''}-{x:g}".replace(" ", "_")) for m in MECHANISMS for r, a, x in LIMITS
]


def read(name: str, mechanism: str, value: float, arguments: dict[str, float]) -> float:
    build, parameter, fixed, _ = MECHANISMS[mechanism]
    return float(getattr(build(**fixed, **{parameter: value}), name)(**arguments))


@pytest.mark.parametrize(("mechanism", "reading", "arguments", "limit"), ALL)
def test_every_reading_of_every_mechanism(
    mechanism: str, reading: str, arguments: dict[str, float], limit: float
) -> None:
    build, parameter, fixed, grows = MECHANISMS[mechanism]
    choice: Any = None
    refused: el.NoSolutionError | None = None
    try:
        choice = el.choose(build, parameter, at_most=limit, reading=reading, given=fixed, **arguments)
    except el.NoSolutionError as error:
        refused = error
    if refused is not None:
        # only where even the weakest parameter violates the limit, and the message says by how much
        assert refused.floor > limit
        assert "\n" not in str(refused)
        weak = ENUMERATED.get(mechanism, WEAKEST.get(parameter, 1e-9))
        # a stretch, a δ that is given, the widest noise that can be enumerated tell something whatever is chosen;
        # unbounded ratios leave no pure ε or posterior
        given_away = ("laplace stretched", "gaussian delta", "gaussian epsilon", "approximate", *ENUMERATED)
        assert mechanism in given_away or reading in ("posterior", "epsilon")
        assert read(reading, mechanism, weak, arguments) > limit
        return
    assert choice.reading == read(reading, mechanism, choice.value, arguments)
    assert choice.reading <= limit
    assert choice.reading_name == reading
    if choice.note:
        assert "nothing" in choice.note or "itself" in choice.note
        return
    tight = 1e-10 if choice.method == "closed form" else 1e-9
    riskier = choice.value * (1 + tight if grows else 1 - tight)
    assert read(reading, mechanism, riskier, arguments) > limit


def test_every_reading_of_the_catalogue_is_covered() -> None:
    assert {r for r, _, _ in LIMITS} == set(READINGS)


@pytest.mark.parametrize(
    ("reading", "arguments", "floor"),
    [
        ("success", {}, 0.5),
        ("success", {"prior": 0.2}, 0.8),
        ("advantage", {}, 0.0),
        ("auc", {}, 0.5),
        ("fbeta", {}, 2 / 3),
        ("fbeta", {"beta": 2.0, "prior": 0.3}, 5 * 0.3 / (5 * 0.3 + 0.7)),
        ("posterior", {"prior": 0.3}, 0.3),
        ("precision", {"fpr": 0.1, "prior": 0.3}, 0.3),
        ("precision", {"recall": 0.1}, 0.5),
        ("roc", {"fpr": 0.01}, 0.01),
        ("recall", {"fpr": 0.2}, 0.2),
        ("attack_success", {"baseline": 0.25}, 0.25),
        ("delta", {"epsilon": 0.5}, 0.0),
        ("epsilon", {"delta": 0.1}, 0.0),
        ("psi", {}, 0.0),
        ("mu", {"level": 1e-3}, 0.0),
        ("renyi", {"order": 3.0}, 0.0),
        ("kl", {}, 0.0),
        ("chernoff", {}, 0.0),
    ],
)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian sigma", "pure", "geometric"])
def test_floors_are_refused_by_name(mechanism: str, reading: str, arguments: dict[str, float], floor: float) -> None:
    build, parameter, fixed, _ = MECHANISMS[mechanism]
    for limit in (floor - 1e-6, floor - 0.2):
        with pytest.raises(el.NoSolutionError, match=f"no {parameter} keeps {reading} at or under") as refused:
            el.choose(build, parameter, at_most=limit, reading=reading, given=fixed, **arguments)
        assert refused.value.floor == pytest.approx(floor, rel=1e-14, abs=1e-300)
        assert "pure noise" in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("reading", "arguments", "floor", "turn"),
    [
        ("fbeta", {"beta": 1.0}, 2 / 3, math.log(2)),
        ("fbeta", {"beta": 2.0, "prior": 0.5}, 5 / 6, math.log(5)),
        ("success", {"prior": 0.2}, 0.8, math.log(4)),
        ("success", {"prior": 0.75}, 0.75, math.log(3)),
    ],
)
def test_a_limit_at_the_floor_returns_the_turning_point(
    reading: str, arguments: dict[str, float], floor: float, turn: float
) -> None:
    """Laplace readings saturate: up to the turning point the release adds nothing to the prior."""
    limit = float(getattr(el.laplace(epsilon=turn / 2), reading)(**arguments))
    assert limit == pytest.approx(floor, rel=1e-15)
    choose: Any = el.choose
    choice = choose(el.laplace, "epsilon", at_most=limit, reading=reading, **arguments)
    assert choice.reading <= limit
    # one ulp of the limit is 1e-16 of ε times a slope of .1 to 1: far inside this
    assert choice.value == pytest.approx(turn, rel=1e-12)
    assert getattr(el.laplace(epsilon=turn * 1.001), reading)(**arguments) > limit


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_limit_of_one_binds_nothing(mechanism: str) -> None:
    build, parameter, fixed, _ = MECHANISMS[mechanism]
    choice = el.choose(build, parameter, at_most=1.0, given=fixed)
    assert choice.reading <= 1.0
    assert "nothing" in choice.note or "itself" in choice.note
    at_top = {"laplace": 700.0, "gaussian psi": 100.0, "laplace scale": 3 / 700, "gaussian sigma": 0.07, "pure": 700.0}
    if mechanism in at_top:
        assert choice.value == pytest.approx(at_top[mechanism], rel=1e-12)
        assert "nothing" in choice.note


def test_known_answers() -> None:
    def chosen(mechanism: str, reading: str, limit: float, **arguments: float) -> float:
        build, parameter, fixed, _ = MECHANISMS[mechanism]
        choose: Any = el.choose
        return float(choose(build, parameter, at_most=limit, reading=reading, given=fixed, **arguments).value)

    assert chosen("pure", "success", 0.75) == pytest.approx(math.log(3), rel=1e-12)
    assert chosen("pure", "advantage", 0.5) == pytest.approx(2 * math.atanh(0.5), rel=1e-12)
    assert chosen("randomized_response", "epsilon", 2.0) == pytest.approx(2.0, rel=1e-12)
    assert chosen("laplace scale", "epsilon", 2.0) == pytest.approx(1.5, rel=1e-12)
    assert chosen("laplace shift", "epsilon", 1.0) == pytest.approx(4.0, rel=1e-12)
    assert chosen("gaussian psi", "kl", 0.5) == pytest.approx(1.0, rel=1e-12)
    assert chosen("gaussian sigma", "psi", 2.0) == pytest.approx(3.5, rel=1e-12)
    assert chosen("laplace", "posterior", 0.2, prior=0.1) == pytest.approx(math.log(0.2 / 0.8 * 9), rel=1e-12)
    assert chosen("laplace", "roc", 0.4, fpr=0.1) == pytest.approx(math.log(4), rel=1e-12)
    assert chosen("laplace", "roc", 0.9, fpr=0.1) == pytest.approx(math.log(25), rel=1e-12)  # f = e^{−ε}/(4α)


def test_limits_near_nothing_keep_their_digits() -> None:
    """A limit of floor + 1e-9 or less: ε is then a difference of nearly equal numbers unless written with care."""
    assert el.choose(el.laplace, "epsilon", at_most=1e-9, reading="advantage").value == pytest.approx(2e-9, rel=1e-9)
    assert el.choose(el.gaussian, "psi", at_most=1e-9, reading="advantage").value == pytest.approx(
        1e-9 * math.sqrt(2 * math.pi), rel=1e-9
    )
    assert el.choose(el.laplace, "epsilon", at_most=1e-300, reading="delta", epsilon=3.0).value == pytest.approx(
        3.0, rel=1e-14
    )
    tiny = el.choose(el.laplace, "epsilon", at_most=0.01 * (1 + 1e-9), reading="roc", fpr=0.01)
    assert tiny.value == pytest.approx(1e-9, rel=1e-6)


def test_no_delta_means_pure() -> None:
    choice = el.choose(el.laplace, "epsilon", at_most=0.0, reading="delta", epsilon=2.0)
    assert choice.value == pytest.approx(2.0, rel=1e-12)
    assert choice.experiment.epsilon() <= 2.0
    with pytest.raises(el.NoSolutionError):
        el.choose(el.gaussian, "psi", at_most=0.0, reading="delta", epsilon=2.0)


@settings(max_examples=examples(300))
@given(
    st.sampled_from(
        ["laplace", "laplace scale", "gaussian psi", "gaussian sigma", "pure", "randomized_response", "geometric"]
    ),
    st.sampled_from(["success", "advantage", "auc", "fbeta", "roc", "precision", "delta", "epsilon", "kl", "renyi"]),
    st.floats(0.02, 0.98),
    positive(1e-4, 1.0),
    positive(0.2, 5.0),
)
def test_random_targets(mechanism: str, reading: str, prior: float, share: float, other: float) -> None:
    """The limit lies a share of the way from the floor to the ceiling."""
    build, parameter, fixed, grows = MECHANISMS[mechanism]
    arguments: dict[str, float] = {
        "success": {"prior": prior},
        "fbeta": {"beta": other, "prior": prior},
        "roc": {"fpr": prior},
        "precision": {"recall": prior},
        "delta": {"epsilon": other},
        "epsilon": {"delta": prior / 10},
        "renyi": {"order": other},
    }.get(reading, {})
    floor = READINGS[reading].floor(**arguments)
    ceiling = 3.0 if reading in ("epsilon", "kl", "renyi") else 1.0
    limit = floor + share * 0.95 * (ceiling - floor)
    assume(limit > floor + 1e-6)
    choice = el.choose(build, parameter, at_most=limit, reading=reading, given=fixed, **arguments)
    assert read(reading, mechanism, choice.value, arguments) <= limit
    if not choice.note:
        riskier = choice.value * (1 + 1e-9 if grows else 1 - 1e-9)
        assert read(reading, mechanism, riskier, arguments) > limit


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"at_most": math.nan}, "at_most"),
        ({"at_most": math.inf}, "at_most"),
        ({"at_most": "0.5"}, "at_most"),
        ({"at_most": []}, "at_most"),
        ({"at_most": ["a", 0.6]}, "at_most"),
        ({"at_most": [0.6, 0.7], "prior": [0.5] * 3}, "at_most"),
        ({"at_most": None}, "at_most"),
        ({"at_most": 0.6, "reading": "sucess"}, "sucess"),
        ({"at_most": 0.6, "reading": None}, "None"),
        ({"at_most": 0.6, "reading": "tradeoff"}, "roc"),
        ({"at_most": 0.6, "reading": "roc"}, "fpr"),
        ({"at_most": 0.6, "reading": "roc", "fpr": 1.5}, "fpr"),
        ({"at_most": 0.6, "reading": "roc", "fpr": math.nan}, "fpr"),
        ({"at_most": 0.6, "reading": "roc", "alpha": 0.1}, "alpha"),
        ({"at_most": 0.6, "reading": "precision"}, "recall"),
        ({"at_most": 0.6, "reading": "precision", "fpr": 0.1, "recall": 0.1}, "recall"),
        ({"at_most": 0.6, "prior": -0.1}, "prior"),
        ({"at_most": 0.6, "prior": 2}, "prior"),
        ({"at_most": 0.6, "reading": "fbeta", "beta": 0}, "beta"),
        ({"at_most": 0.6, "reading": "delta", "epsilon": -1}, "epsilon"),
        ({"at_most": 0.6, "reading": "epsilon", "delta": 2}, "delta"),
        ({"at_most": 0.6, "given": {"sensitivity": -1}}, "sensitivity"),
        ({"at_most": 0.6, "given": {"epsilon": 1.0}}, "epsilon"),
        ({"at_most": 0.6, "given": {"scale": 1.0}}, "scale"),
        ({"at_most": 0.6, "given": {"sensitivty": 1.0}}, "sensitivty"),
    ],
)
def test_bad_input(keywords: dict[str, Any], says: str) -> None:
    with pytest.raises(el.InputError, match=says) as refused:
        el.choose(el.laplace, "epsilon", **keywords)
    assert "\n" not in str(refused.value)


def test_bad_mechanisms_and_parameters() -> None:
    with pytest.raises(el.InputError, match="sigma"):
        el.choose(el.laplace, "sigma", at_most=0.6)
    with pytest.raises(el.InputError, match="mechanism"):
        el.choose("laplace", "epsilon", at_most=0.6)  # type: ignore[call-overload]


def test_a_mechanism_of_ones_own() -> None:
    """Any function that returns an experiment; which way risk grows is found out."""

    def blurred(width: float) -> Experiment:
        return el.gaussian(sigma=math.hypot(1.0, width))

    choice = el.choose(blurred, "width", at_most=0.1, reading="advantage")
    assert choice.value == pytest.approx(math.sqrt(3.978948280545273**2 - 1), rel=1e-9)
    assert blurred(choice.value * (1 - 1e-9)).advantage() > 0.1


def test_a_safe_value_short_of_the_edge_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 20 000 atoms the discrete Gaussian ends at σ = 258; an advantage of .002 needs σ = 199 only."""
    monkeypatch.setattr("epsilens.mechanisms.discrete.MOST_ATOMS", 20_000)
    choice = el.choose(el.mechanisms.discrete_gaussian, "sigma", at_most=0.002, reading="advantage")
    assert choice.value == pytest.approx(1 / (0.002 * math.sqrt(2 * math.pi)), rel=1e-5)


def test_a_choice_says_what_it_is() -> None:
    choice = el.choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01)
    told = choice.to_dict()
    assert told["parameter"] == "sigma"
    assert told["arguments"] == {"fpr": 0.01}
    assert told["limit"] == 0.05
    assert told["reached"] <= 0.05
    assert np.isfinite(told["value"])


def test_what_the_mechanism_needs_is_said_by_name() -> None:
    choose: Any = el.choose
    with pytest.raises(el.InputError, match="banded needs 'steps': give it in given"):
        choose(el.mechanisms.banded, "sigma", at_most=0.1, reading="advantage", given={"rate": 0.01, "bands": 2})
    with pytest.raises(el.InputError, match="dpsgd needs steps or epochs"):
        choose(el.dpsgd, "sigma", at_most=0.1, reading="advantage", given={"rate": 0.01})
    with pytest.raises(el.InputError, match=r"dpsgd has no parameter 'rat' \(did you mean rate\?\): it takes sigma"):
        choose(el.dpsgd, "sigma", at_most=0.1, reading="advantage", given={"rat": 0.01, "steps": 10})
    with pytest.raises(el.InputError, match="given is"):
        choose(el.dpsgd, "sigma", at_most=0.1, given=[0.01])
    with pytest.raises(el.InputError, match="parameter is 3"):
        choose(el.laplace, 3, at_most=0.6)
    with pytest.raises(el.InputError, match="missing 1 required keyword-only argument: 'steps'"):
        choose(lambda **more: el.mechanisms.banded(rate=0.1, bands=2, **more), "sigma", at_most=0.6)
    with pytest.raises(el.InputError, match="takes 'a' by position only"):
        choose(lambda a, /, b: el.laplace(epsilon=a * b), "b", at_most=0.6)
    with pytest.raises(el.InputError, match="returns an int"):
        choose(lambda b: 3, "b", at_most=0.6)
    with pytest.raises(el.InputError, match="single numbers"):
        choose(el.laplace, "epsilon", at_most=0.6, given={"shift": [0.5, 1.0]})


@pytest.mark.parametrize(
    ("mechanism", "parameter", "fixed", "instead"),
    [
        (el.dpsgd, "neighbours", {"sigma": 1.0, "rate": 0.01, "steps": 10}, "sigma, rate, steps"),
        (el.gaussian, "calibration", {"epsilon": 1.0, "delta": 0.1}, "sigma"),
        (el.laplace, "norm", {"epsilon": 1.0}, "scale"),
        (el.mechanisms.exponential, "monotonic", {"epsilon": 1.0, **SCORES}, "epsilon"),
    ],
)
def test_words_cannot_be_chosen(
    mechanism: Callable[..., Experiment], parameter: str, fixed: dict[str, Any], instead: str
) -> None:
    with pytest.raises(el.InputError, match=f"{parameter} is not a number that can be chosen: .*{instead}"):
        el.choose(mechanism, parameter, at_most=0.6, given=fixed)


@pytest.mark.parametrize(("reading", "says"), [("posterior", "success or roc"), ("epsilon", "give a delta")])
def test_a_reading_that_nothing_bounds(reading: str, says: str) -> None:
    with pytest.raises(el.NoSolutionError, match=f"no value of sigma bounds this reading.*{says}") as refused:
        el.choose(el.gaussian, "sigma", at_most=0.9, reading=reading)
    assert "1e+12" not in str(refused.value)
    with pytest.raises(el.NoSolutionError, match="change what else is given"):
        el.choose(el.mechanisms.approximate, "epsilon", at_most=0.9, given={"delta": 1.0})


def test_whole_numbers_are_found_out() -> None:
    def many(k: int) -> Experiment:
        return el.gaussian(psi=0.1).repeat(k)

    choice = el.choose(many, "k", at_most=0.3, reading="advantage")
    assert choice.value == int(choice.value)
    assert many(int(choice.value)).advantage() <= 0.3 < many(int(choice.value) + 1).advantage()
    free = el.choose(many, "k", at_most=1.0)
    assert (free.value, "nothing up to here" in free.note) == (1e9, True)
    # risk falls as there are more answers
    answers = el.choose(
        el.mechanisms.randomized_response, "k", at_most=0.3, reading="advantage", given={"epsilon": 1.0}
    )
    assert answers.value == 5
    assert el.mechanisms.randomized_response(epsilon=1.0, k=4).advantage() > 0.3
    shift = el.choose(el.mechanisms.geometric, "shift", at_most=0.65, given={"epsilon": 1.0, "sensitivity": 5})
    assert shift.value == 3
    assert el.mechanisms.geometric(epsilon=1.0, sensitivity=5, shift=4).success() > 0.65


def test_a_function_that_takes_whole_numbers_only_in_the_sense_of_python() -> None:
    choice = el.choose(lambda n: el.compose(*[el.gaussian(psi=0.1)] * n), "n", at_most=0.3, reading="advantage")
    assert (
        choice.value == el.choose(lambda k: el.gaussian(psi=0.1).repeat(k), "k", at_most=0.3, reading="advantage").value
    )


def test_a_range_that_the_mechanism_narrows() -> None:
    assert el.choose(el.mechanisms.randomized_response, "truth", at_most=0.6).value == pytest.approx(0.6, rel=1e-9)
    assert el.choose(el.mechanisms.randomized_response, "truth", at_most=0.501).value == pytest.approx(0.501, rel=1e-9)

    def narrow(z: float) -> Experiment:
        if not 0.2 < z < 0.21:
            raise el.InputError(f"z is {z:g}: give about 0.205", parameter="z")
        return el.laplace(epsilon=z)

    with pytest.raises(el.InputError, match="z cannot be chosen here"):
        el.choose(narrow, "z", at_most=0.6)


def test_a_limit_above_what_a_reading_can_be_is_a_mistake() -> None:
    with pytest.raises(el.InputError, match=r"at_most is 1.2: roc is never above 1"):
        el.choose(el.laplace, "epsilon", at_most=1.2, reading="roc", fpr=0.01)


def test_many_limits() -> None:
    limits = [0.55, 0.6, 0.9]
    found = el.choose(el.laplace, "epsilon", at_most=limits)
    assert isinstance(found, el.Choices)
    assert found.value == pytest.approx([-2 * math.log(2 * (1 - limit)) for limit in limits], rel=1e-12)
    assert (found.reading <= found.limit).all()
    assert found[1] == el.choose(el.laplace, "epsilon", at_most=0.6)
    assert found[1:] == el.choose(el.laplace, "epsilon", at_most=[0.6, 0.9])
    grid = el.choose(el.laplace, "epsilon", at_most=np.array([[0.95], [0.96]]), prior=[0.3, 0.5])
    assert grid.value.shape == (2, 2)
    assert grid.value[1, 0] == el.choose(el.laplace, "epsilon", at_most=0.96, prior=0.3).value
    assert "0.4462" in str(found) or "0.4463" in str(found)
    points = found.chart().data
    assert [(p["x"], p["y"]) for p in points] == list(zip(limits, found.value.tolist(), strict=True))
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.frame(), pandas.DataFrame)
    assert found.frame()["epsilon"].tolist() == found.value.tolist()


def test_a_chart_of_a_choice_holds_its_readings() -> None:
    chosen = el.choose(el.gaussian, "sigma", at_most=0.6, given={"sensitivity": 2.0})
    data = chosen.chart().data
    for point in data:
        if point["series"] == "success":
            expected = el.gaussian(sigma=point["x"], sensitivity=2.0).success()
            assert point["y"] == pytest.approx(expected, rel=1e-12)
    assert {p["y"] for p in data if p["series"] == "limit 0.6"} == {0.6}
    assert any(p["x"] == chosen.value for p in data if p["series"] == "success")
    again = pickle.loads(pickle.dumps(chosen))
    assert again.chart().data == data
    own = el.choose(lambda s: el.gaussian(sigma=s), "s", at_most=0.6)
    own.chart()
    with pytest.raises(el.InputError, match="read back without its mechanism"):
        pickle.loads(pickle.dumps(own)).chart()


def test_an_argument_of_the_mechanism_belongs_in_given() -> None:
    with pytest.raises(
        el.InputError, match="k is an argument of top_k, not of the reading 'success': give it in given"
    ):
        el.choose(el.mechanisms.top_k, "epsilon", at_most=0.6, reading="success", k=3)
    assert el.choose(el.mechanisms.top_k, "epsilon", at_most=0.6, reading="success", given={"k": 1}).value > 0.4
