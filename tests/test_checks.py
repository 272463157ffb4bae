"""Bad input: always an InputError, one sentence that names the parameter, and nothing computed. And the extremes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens import checks

NOT_NUMBERS: list[Any] = [
    math.nan,
    "1",
    b"1",
    None,
    1j,
    True,
    object(),
    {"a": 1},
    Fraction(1, 2),
    [[0.1, 0.2], [0.3]],
    [0.1, "x"],
    [0.1, None],
    np.asarray([True, False]),
    np.asarray([1 + 1j]),
    np.asarray(["a"]),
    np.asarray([0.1, math.nan]),
    np.datetime64("2020-01-01"),
]
NOT_FINITE: list[Any] = [math.inf, -math.inf, [0.5, math.inf]]
NOT_PROBABILITIES: list[Any] = [-1, 2, -1e-300, 1 + 1e-15, [0.5, 1.5], math.inf]

Call = Callable[[Any], Any]
E = el.laplace(epsilon=1.0)

READINGS: dict[str, tuple[str, Call]] = {
    "tradeoff": ("fpr", E.tradeoff),
    "roc": ("fpr", E.roc),
    "recall": ("fpr", E.recall),
    "attack_success": ("baseline", E.attack_success),
    "success": ("prior", E.success),
    "posterior": ("prior", E.posterior),
    "precision": ("fpr", lambda v: E.precision(0.1 if v is None else v) if v is not None else E.precision(fpr="")),
    "precision prior": ("prior", lambda v: E.precision(0.1, v)),
    "precision recall": ("recall", lambda v: E.precision(recall="" if v is None else v)),
    "fbeta prior": ("prior", lambda v: E.fbeta(1.0, v)),
    "epsilon": ("delta", E.epsilon),
}


def refused(call: Call, value: Any, name: str) -> None:
    with pytest.raises(el.InputError) as caught:
        call(value)
    message = str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, el.EpsilensError)
    assert name in message
    assert "\n" not in message
    assert len(message) < 250


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("reading", READINGS)
def test_readings_take_numbers(reading: str, value: Any) -> None:
    name, call = READINGS[reading]
    refused(call, value, name)


@pytest.mark.parametrize("value", NOT_PROBABILITIES, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("reading", READINGS)
def test_probabilities_lie_between_0_and_1(reading: str, value: Any) -> None:
    name, call = READINGS[reading]
    refused(call, value, name)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE, -1, 0, [1.0, 0.0]], ids=lambda v: type(v).__name__)
def test_beta_is_positive(value: Any) -> None:
    refused(lambda v: E.fbeta(v), value, "beta")


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE, -1, [1.0, -1e-9]], ids=lambda v: type(v).__name__)
def test_delta_takes_an_epsilon(value: Any) -> None:
    refused(E.delta, value, "epsilon")


@pytest.mark.parametrize("value", [*NOT_NUMBERS, -1, -math.inf], ids=lambda v: type(v).__name__)
def test_orders(value: Any) -> None:
    refused(E.renyi, value, "order")


def test_shapes_must_broadcast() -> None:
    calls: list[Callable[[], Any]] = [
        lambda: E.precision([0.1, 0.2], [0.1, 0.2, 0.3]),
        lambda: E.precision(recall=[0.1, 0.2], prior=[0.1, 0.2, 0.3]),
        lambda: E.fbeta([1.0, 2.0], [0.1, 0.2, 0.3]),
    ]
    for call in calls:
        with pytest.raises(el.InputError, match="broadcast"):
            call()
    with pytest.raises(el.InputError, match="fpr or recall"):
        E.precision()
    with pytest.raises(el.InputError, match="fpr or recall"):
        E.precision(0.1, recall=0.1)


MECHANISMS: dict[str, tuple[str, Call]] = {
    "laplace epsilon": ("epsilon", lambda v: el.laplace(epsilon=v)),
    "laplace scale": ("scale", lambda v: el.laplace(scale=v)),
    "laplace sensitivity": ("sensitivity", lambda v: el.laplace(epsilon=1.0, sensitivity=v)),
    "laplace stretch": ("stretch", lambda v: el.laplace(epsilon=1.0, stretch=v)),
    "gaussian psi": ("psi", lambda v: el.gaussian(psi=v)),
    "gaussian sigma": ("sigma", lambda v: el.gaussian(sigma=v)),
    "gaussian sensitivity": ("sensitivity", lambda v: el.gaussian(psi=1.0, sensitivity=v)),
    "geometric epsilon": ("epsilon", lambda v: el.mechanisms.geometric(epsilon=v)),
    "geometric scale": ("scale", lambda v: el.mechanisms.geometric(scale=v)),
    "geometric sensitivity": ("sensitivity", lambda v: el.mechanisms.geometric(epsilon=1.0, sensitivity=v)),
    "discrete_gaussian": ("sigma", lambda v: el.mechanisms.discrete_gaussian(sigma=v)),
    "skellam": ("variance", lambda v: el.mechanisms.skellam(variance=v)),
    "randomized_response": ("epsilon", lambda v: el.mechanisms.randomized_response(epsilon=v)),
    "randomized_response truth": ("truth", lambda v: el.mechanisms.randomized_response(truth=v)),
    "randomized_response k": ("k", lambda v: el.mechanisms.randomized_response(epsilon=1.0, k=v)),
    "exponential": ("epsilon", lambda v: el.mechanisms.exponential(scores0=[0, 1], scores1=[1, 1], epsilon=v)),
    "staircase": ("epsilon", lambda v: el.mechanisms.staircase(epsilon=v)),
    "pure": ("epsilon", lambda v: el.mechanisms.pure(epsilon=v)),
    "approximate delta": ("delta", lambda v: el.mechanisms.approximate(epsilon=1.0, delta=v)),
}
# None means "not given" where a parameter has alternatives
OPTIONAL = {
    "laplace epsilon",
    "laplace scale",
    "gaussian psi",
    "gaussian sigma",
    "geometric epsilon",
    "geometric scale",
    "randomized_response",
    "randomized_response truth",
}


@pytest.mark.parametrize("value", [*NOT_NUMBERS, math.inf, -math.inf, -1.0, -1e-300], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_mechanisms_take_numbers(mechanism: str, value: Any) -> None:
    name, call = MECHANISMS[mechanism]
    refused(call, value, name if value is not None or mechanism not in OPTIONAL else "needed")


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if "delta" not in m and m != "pure"])
def test_no_mechanism_takes_zero(mechanism: str) -> None:
    name, call = MECHANISMS[mechanism]
    refused(call, 0.0, name)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: el.laplace(), "epsilon or scale"),
        (lambda: el.laplace(epsilon=1.0, scale=1.0), "epsilon or scale"),
        (lambda: el.laplace(epsilon=1.0, shift=2.0), "sensitivity"),
        (lambda: el.laplace(epsilon=1.0, shift=-1.0), "shift"),
        (lambda: el.laplace(epsilon=1.0, norm="L2"), "L1"),
        (lambda: el.laplace(epsilon=1.0, norm="l1"), "norm"),
        (lambda: el.laplace(epsilon=1.0, neighbours="swap"), "neighbours"),
        (lambda: el.gaussian(), "psi or sigma"),
        (lambda: el.gaussian(psi=1.0, sigma=1.0), "psi or sigma"),
        (lambda: el.gaussian(epsilon=1.0), "delta"),
        (lambda: el.gaussian(delta=1e-5), "epsilon"),
        (lambda: el.gaussian(psi=1.0, delta=1e-5), "delta"),
        (lambda: el.gaussian(epsilon=1.0, delta=0.0), "delta"),
        (lambda: el.gaussian(epsilon=1.0, delta=1.0), "delta"),
        (lambda: el.gaussian(epsilon=1.0, delta=2.0), "delta"),
        (lambda: el.gaussian(epsilon=1.0, delta=-1.0), "delta"),
        (lambda: el.gaussian(epsilon=-1.0, delta=1e-5), "epsilon"),
        (lambda: el.gaussian(epsilon=0.0, delta=1e-5, calibration="classical"), "analytic"),
        (lambda: el.gaussian(psi=1.0, norm="L1"), "L2"),
        (lambda: el.gaussian(psi=1.0, shift=2.0), "sensitivity"),
        (lambda: el.gaussian(psi=1.0, calibration="exact"), "calibration"),
        (lambda: el.mechanisms.geometric(epsilon=1.0, sensitivity=1.5), "sensitivity"),
        (lambda: el.mechanisms.geometric(epsilon=1.0, sensitivity=2, shift=3), "shift"),
        (lambda: el.mechanisms.geometric(epsilon=1.0, shift=0.5), "shift"),
        (lambda: el.mechanisms.discrete_gaussian(sigma=1e9), "gaussian"),
        (lambda: el.mechanisms.discrete_gaussian(sigma=1.0, sensitivity=0), "sensitivity"),
        (lambda: el.mechanisms.randomized_response(epsilon=1.0, truth=0.9), "epsilon or truth"),
        (lambda: el.mechanisms.randomized_response(truth=0.3), "truth"),
        (lambda: el.mechanisms.randomized_response(epsilon=1.0, k=1), "k"),
        (lambda: el.mechanisms.randomized_response(epsilon=1.0, k=2.5), "k"),
        (lambda: el.mechanisms.exponential(scores0=[0, 1], scores1=[0], epsilon=1.0), "equal length"),
        (lambda: el.mechanisms.exponential(scores0=[], scores1=[], epsilon=1.0), "equal length"),
        (lambda: el.mechanisms.exponential(scores0=[0, 1], scores1=[3, 1], epsilon=1.0), "sensitivity"),
        (lambda: el.mechanisms.exponential(scores0=[0, math.nan], scores1=[0, 1], epsilon=1.0), "scores0"),
        (lambda: el.mechanisms.staircase(epsilon=1.0, gamma=1.5), "gamma"),
        (lambda: el.mechanisms.staircase(epsilon=1.0, shift=2.0), "shift"),
        (lambda: el.mechanisms.approximate(epsilon=1.0, delta=2.0), "delta"),
        (lambda: el.mechanisms.finite([0.5, 0.5], [0.5]), "equal length"),
        (lambda: el.mechanisms.finite([0.5, 0.4], [0.5, 0.5]), "sums to"),
        (lambda: el.mechanisms.finite([0.5, 0.5], [1.5, -0.5]), "p1"),
        (lambda: el.mechanisms.finite([], []), "equal length"),
        (lambda: el.mechanisms.finite([[0.5, 0.5]], [[0.5, 0.5]]), "equal length"),
    ],
)
def test_contradictions(call: Callable[[], Any], says: str) -> None:
    refused(lambda _: call(), None, says)


def test_shapes_of_parameters_must_broadcast() -> None:
    with pytest.raises(el.InputError, match="broadcast"):
        el.laplace(epsilon=[1.0, 2.0], sensitivity=[1.0, 2.0, 3.0])
    with pytest.raises(el.InputError, match="broadcast"):
        el.gaussian(psi=[1.0, 2.0], sensitivity=[1.0, 2.0, 3.0])


def test_the_checks_themselves() -> None:
    assert checks.real("x", 3).dtype == np.float64
    assert checks.probability("x", [0, 1]).tolist() == [0.0, 1.0]
    assert checks.integer("x", 3.0, low=1) == 3
    assert checks.at_least("x", math.inf, 0.0, infinite=True) == math.inf
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: checks.probability("x", 0, closed=False), "strictly"),
        (lambda: checks.integer("x", 2.5, low=1), "whole number"),
        (lambda: checks.integer("x", 7, low=1, high=5), "from 1 to 5"),
        (lambda: checks.scalar("x", [1.0]), "single number"),
        (lambda: checks.one_of("x", "c", ("a", "b")), "'a', 'b'"),
        (lambda: checks.at_least("x", -1, 0.0), "not below 0"),
    ]
    for call, says in cases:
        with pytest.raises(el.InputError, match=says):
            call()


# -- extreme but valid ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "e",
    [el.laplace(epsilon=v) for v in (1e-15, 1e-12, 700.0, 1e4)]
    + [el.gaussian(psi=v) for v in (1e-9, 100.0)]
    + [el.laplace(epsilon=v, stretch=t) for v in (1e-12, 700.0) for t in (0.02, 1.01, 50.0)],
    ids=repr,
)
def test_extremes_give_finite_numbers(e: el.Experiment) -> None:
    probabilities = [0.0, 1e-300, 1e-12, 0.5, 1 - 1e-12, 1.0]
    for name in ("tradeoff", "roc", "recall", "attack_success", "success", "posterior", "precision"):
        value = getattr(e, name)(probabilities)
        assert np.all((value >= 0) & (value <= 1)), name
    assert np.all((e.precision(recall=probabilities) >= 0) & (e.precision(recall=probabilities) <= 1))
    assert np.all((e.delta([0.0, 1e-12, 1.0, 700.0]) >= 0) & (e.delta([0.0, 1e-12, 1.0, 700.0]) <= 1))
    for name in ("auc", "fbeta", "advantage"):
        assert 0 <= getattr(e, name)() <= 1
    for name in ("kl", "chernoff"):
        assert 0 <= getattr(e, name)() < 1e5
    assert np.all(e.epsilon([1e-300, 1e-9, 0.5]) >= 0)
    assert np.all(np.isfinite(e.epsilon([1e-300, 1e-9, 0.5])))
    assert not np.isnan(e.renyi([0.0, 1e-9, 0.5, 1.0, 2.0, 1e6, math.inf])).any()


# -- scalars and arrays ---------------------------------------------------------------------------------------------

SCALARS: dict[str, tuple[Any, ...]] = {
    "tradeoff": (0.1,), "roc": (0.1,), "recall": (0.1,), "attack_success": (0.1,), "precision": (0.1,), "fbeta": (),
    "success": (), "advantage": (), "auc": (), "posterior": (), "delta": (0.5,), "epsilon": (0.01,), "renyi": (2.0,),
    "kl": (), "chernoff": (), "psi": (),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_give_floats(name: str) -> None:
    for e in (
        el.laplace(epsilon=1),
        el.gaussian(psi=1),
        el.mechanisms.pure(epsilon=1),
        el.laplace(epsilon=1, stretch=2),
    ):
        assert type(getattr(e, name)(*SCALARS[name])) is float


@pytest.mark.parametrize("name", SCALARS)
def test_array_parameters_broadcast(name: str) -> None:
    values, arguments = np.asarray([0.3, 1.0, 4.0]), SCALARS[name]
    builders: list[tuple[Any, str]] = [(el.laplace, "epsilon"), (el.gaussian, "psi")]
    for build, parameter in builders:
        many = getattr(build(**{parameter: values}), name)(*arguments)
        one = [getattr(build(**{parameter: float(v)}), name)(*arguments) for v in values]
        assert np.shape(many) == (3,)
        assert many == pytest.approx(one, rel=1e-13)
        if arguments:
            table = getattr(build(**{parameter: values[:, None]}), name)(np.asarray([arguments[0], arguments[0] / 2]))
            assert table.shape == (3, 2)
            assert table[:, 0] == pytest.approx(one, rel=1e-13)


def test_arrays_of_arguments_keep_their_shape() -> None:
    for e in (
        el.laplace(epsilon=1.0),
        el.gaussian(psi=1.0),
        el.mechanisms.pure(epsilon=1.0),
        el.laplace(epsilon=1.0, stretch=2.0),
    ):
        grid = np.linspace(0.05, 0.9, 6).reshape(2, 3)
        for name in ("tradeoff", "roc", "success", "posterior", "delta", "epsilon", "renyi", "precision"):
            values = getattr(e, name)(grid)
            assert values.shape == (2, 3)
            assert values[1, 2] == pytest.approx(getattr(e, name)(float(grid[1, 2])), rel=1e-12)
        assert e.fbeta(grid[:, :1] * 3, grid[0]).shape == (2, 3)
        assert e.roc(np.asarray([])).shape == (0,)
        assert np.shape(e.precision(grid, prior=0.3)) == (2, 3)


def test_arrays_of_an_experiment_and_its_reading_must_fit() -> None:
    many = el.laplace(epsilon=[1.0, 2.0])
    assert many.roc([[0.1], [0.2], [0.3]]).shape == (3, 2)
    for call in (many.roc, many.success, many.tradeoff, many.delta):
        with pytest.raises(el.InputError, match="broadcast"):
            call([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("ask", "parameter"),
    [
        (lambda: el.laplace(epsilon=-1.0), "epsilon"),
        (lambda: el.laplace(epsilon=1.0, shift=2.0), "shift"),
        (lambda: el.laplace(epsilon=1.0, scale=1.0), ""),  # two ways to say one thing: it speaks of both
        (lambda: el.attacks.differencing(epsilon=[1.0, 2.0], noise="geometric"), "epsilon"),
        (lambda: el.attacks.differencing(epsilon=1.0, delta=1e-5), "delta"),
        (lambda: el.attacks.tampering(sigma=1.0, bias=1.0, noise="laplace"), "sigma"),
        (lambda: el.attacks.tampering(epsilon=[1.0, 2.0], bias=1.0, stretch=2.0), "stretch"),
        (lambda: el.mechanisms.vector(epsilon=1.0, shifts=[0.9, 0.9]), "shifts"),
        (lambda: el.attacks.identify([[1, 2]], epsilon=1.0), "values"),
        (lambda: el.attacks.identify([1, 2, 3], epsilon=1.0, delta=1e-5), "delta"),
        (lambda: el.attacks.mistaken(el.mechanisms.pure(epsilon=1.0), believed_noise=2.0), "believed_noise"),
        (lambda: el.attacks.above(9, [0.5, 0.5], [0, 1], epsilon=1.0), "gamma"),
        (lambda: el.attacks.worst_pair([1, 1], epsilon=1.0), "values"),
        (lambda: el.attacks.Knowledge.from_values([0.2, 0.3], ["a", "b"]), "prior"),
        (lambda: el.correlated.table([[0.3, 0.3], [0.3, 0.3]]), "joint"),
        (lambda: el.correlated.table([[0.3, 0.2], [0.2, 0.3]], values=[[0, 0], [0, 1]]), "values"),
        (lambda: el.correlated.table([[0.3, 0.2], [0.2, 0.3]]).leakage(0, {1: 7}), "known"),
        (lambda: el.correlated.chain([0.5, 0.5], [[0.9, 0.2], [0.2, 0.8]], 3), "transition"),
        (lambda: el.correlated.normal([[0.0, 0.0], [0.0, 1.0]]), "cov"),
        (lambda: el.notions.promise("dp", 1.0, "ip", colour=3), "colour"),
        (lambda: el.choose(el.laplace, "epsilon", at_most=0.3), "epsilon"),
        (lambda: el.choose(el.laplace, "epsilon", at_most=0.6, given={"sensitivity": -1.0}), "sensitivity"),
        (lambda: el.attacks.identify(n=10, value_range=(0, 1), at_most=0.01), "epsilon"),
    ],
)
def test_an_error_carries_the_parameter_it_speaks_of(ask: Callable[[], object], parameter: str) -> None:
    with pytest.raises(el.EpsilensError) as caught:
        ask()
    assert isinstance(caught.value, el.InputError | el.NoSolutionError)
    assert caught.value.parameter == parameter


def test_masked_values_are_not_read_as_if_they_were_there() -> None:
    hidden = np.ma.array([0.1, 0.9], mask=[False, True])
    for call in (lambda: el.laplace(epsilon=hidden), lambda: E.success(prior=hidden), lambda: E.roc(hidden)):
        with pytest.raises(el.InputError, match="has masked values"):
            call()
    assert E.roc(np.ma.array([0.1, 0.9])).tolist() == E.roc([0.1, 0.9]).tolist()


def test_whole_numbers_of_any_size_are_numbers() -> None:
    assert checks.real("n", 2**70) == 2.0**70
    assert checks.real("n", [2**70, 1]).tolist() == [2.0**70, 1.0]
    with pytest.raises(el.InputError, match="more than 308 digits"):
        checks.real("n", 10**400)
    with pytest.raises(el.InputError, match="give a number"):
        checks.real("n", [2**70, True])


def test_a_name_far_too_long_is_no_file() -> None:
    with pytest.raises(el.InputError, match="there is no file"):
        el.correlated.network("x" * 10_000)


@pytest.mark.parametrize(
    "call",
    [
        lambda el: el.correlated.worst_of(models=np.ma.masked),
        lambda el: el.notions.diameter(values=np.ones((2, 0, 3))),
        lambda el: el.notions.diameter(values=[[0.1, 0.2], [0.3]], graph=np.array([])),
        lambda el: el.laplace(epsilon=[1.0, 2.0], stretch=None),
        lambda el: el.notions.diameter(values="x" * 10_000),
        lambda el: el.attacks.differencing_average(
            epsilon=1, n=2, value=1, mean=0.5, bounds=(-1, 5), clamp=np.array(["a", "b"])
        ),
        lambda el: el.attacks.identify(
            n=9, value_range=(0, 1), epsilon=5, delta=[0.1, 0.2], sensitivity=1, noise="gaussian"
        ),
    ],
)
def test_odd_values_are_refused_in_a_sentence(call: Callable[[Any], Any]) -> None:
    with pytest.raises(el.InputError, match=": give"):
        call(el)
