"""Local protocols against their whole output spaces, and the reference sheet."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.linalg import hadamard

import epsilens as el
from epsilens.checks import Array
from epsilens.errors import InputError
from epsilens.readings.law import Exactness

# -- every output of a small domain ---------------------------------------------------------------------------------


def same_pair(e: el.Experiment, p0: Array, p1: Array) -> None:
    """The experiment's trade-off is that of two lists, in both orders."""
    told = el.mechanisms.finite(p0, p1)
    alpha = np.linspace(0.0, 1.0, 101)
    assert e.law.known is Exactness.EXACT
    np.testing.assert_allclose(e.roc(alpha), told.roc(alpha), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(e.reverse().roc(alpha), told.reverse().roc(alpha), rtol=1e-11, atol=1e-15)
    assert e.epsilon() == pytest.approx(told.epsilon(), rel=1e-11)


def bits(p_one: list[float]) -> Array:
    """The law of independent bits, over all their values."""
    return np.array(
        [
            math.prod(p if b else 1 - p for p, b in zip(p_one, outcome, strict=True))
            for outcome in itertools.product((0, 1), repeat=len(p_one))
        ]
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_unary_over_four_values(epsilon: float) -> None:
    for kind, (p, q) in {
        "optimised": (0.5, 1 / (math.exp(epsilon) + 1)),
        "symmetric": (1 / (1 + math.exp(-epsilon / 2)), 1 / (1 + math.exp(epsilon / 2))),
    }.items():
        laws = [bits([p if bit == value else q for bit in range(4)]) for value in (0, 1)]
        same_pair(el.mechanisms.unary(epsilon=epsilon, kind=kind), *laws)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_hadamard_response_over_all_columns(epsilon: float) -> None:
    rows = hadamard(8)[1:] > 0  # the first row has no 0
    weight = np.where(rows, math.exp(epsilon), 1.0)
    laws = weight / weight.sum(axis=1, keepdims=True)
    for first, second in itertools.combinations(range(7), 2):
        same_pair(el.mechanisms.hadamard_response(epsilon=epsilon), laws[first], laws[second])


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_sketches_over_all_reports(epsilon: float) -> None:
    """Three hash functions into four places; the two values collide under one of them."""
    places = [(0, 1), (2, 2), (3, 0)]
    keep = 1 / (1 + math.exp(-epsilon / 2))
    sketched, transformed = [], []
    matrix = hadamard(4)
    for value in (0, 1):
        at = [pair[value] for pair in places]
        sketched.append(np.concatenate([bits([keep if b == i else 1 - keep for b in range(4)]) / 3 for i in at]))
        right = 1 / (1 + math.exp(-epsilon))
        one = [right if matrix[column, i] > 0 else 1 - right for i in at for column in range(4)]
        transformed.append(np.concatenate([np.array([p, 1 - p]) / 12 for p in one]))
    same_pair(el.mechanisms.count_mean_sketch(epsilon=epsilon, collision=1 / 3), *sketched)
    same_pair(el.mechanisms.count_mean_sketch(epsilon=epsilon, collision=1 / 3, hadamard=True), *transformed)


@pytest.mark.parametrize("h", [1, 2])
@pytest.mark.parametrize("reports", [1, 2])
def test_rappor_over_all_reports(h: int, reports: int) -> None:
    """Every permanent answer and every report of a Bloom filter of 2h bits."""
    f, p, q = 0.4, 0.3, 0.8
    laws = []
    for value in (0, 1):
        true = [value == 0] * h + [value == 1] * h
        law = np.zeros(2 ** (2 * h * reports))
        for permanent in itertools.product((0, 1), repeat=2 * h):
            chance = math.prod(1 - f / 2 if b == t else f / 2 for b, t in zip(permanent, true, strict=True))
            law += chance * bits([q if b else p for _ in range(reports) for b in permanent])
        laws.append(law)
    same_pair(el.mechanisms.rappor(f=f, p=p, q=q, h=h, reports=reports), *laws)


# -- the reference sheet --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "half", "both"), [(1.0, 0.231059, 0.244919), (4.0, 0.482014, 0.761594)])
def test_the_sheets_advantages(epsilon: float, half: float, both: float) -> None:
    for e in (
        el.mechanisms.unary(epsilon=epsilon),
        el.mechanisms.hadamard_response(epsilon=epsilon),
        el.mechanisms.count_mean_sketch(epsilon=epsilon, hadamard=True),
    ):
        assert e.advantage() == pytest.approx(half, abs=6e-7)
    for e in (el.mechanisms.unary(epsilon=epsilon, kind="symmetric"), el.mechanisms.count_mean_sketch(epsilon=epsilon)):
        assert e.advantage() == pytest.approx(both, abs=6e-7)
    assert el.mechanisms.count_mean_sketch(epsilon=epsilon, collision=0.25).advantage() == pytest.approx(
        0.75 * both, abs=6e-7
    )
    assert el.mechanisms.randomized_response(epsilon=epsilon, k=10).advantage() == pytest.approx(
        {1.0: 0.146633, 4.0: 0.842763}[epsilon], abs=6e-7
    )


def test_the_sheets_rappor() -> None:
    for_good, once = el.mechanisms.rappor(f=0.5, reports=None), el.mechanisms.rappor(f=0.5)
    assert for_good.epsilon() == pytest.approx(4 * math.log(3), rel=1e-14)
    assert for_good.advantage() == pytest.approx(0.6875, rel=1e-14)
    assert once.epsilon() == pytest.approx(1.074286, abs=6e-7)
    assert once.advantage() == pytest.approx(0.190430, abs=6e-7)
    for reports, expected in ((10, 0.377132), (100, 0.499900), (math.inf, 0.5)):
        assert el.mechanisms.rappor(f=0.5, h=1, reports=reports).advantage() == pytest.approx(expected, abs=6e-7)


def test_many_reports_come_near_the_permanent_answer_from_below() -> None:
    low, high = el.mechanisms.rappor(f=0.5, reports=1000).bracket("advantage")
    assert 0.687 < low < 0.6875 <= high * (1 + 1e-3)
    assert el.mechanisms.rappor(f=0.5, reports=1000).epsilon() <= 4 * math.log(3) * (1 + 1e-12)


# -- digits, and what is not accepted ---------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 3.0, 50.0, 700.0])
def test_closed_forms_keep_their_digits(epsilon: float) -> None:
    with mp.workdps(60):
        x = mp.mpf(epsilon)
        half, both = mp.tanh(x / 2) / 2, mp.tanh(x / 4)
    assert el.mechanisms.unary(epsilon=epsilon).advantage() == pytest.approx(float(half), rel=1e-12)
    assert el.mechanisms.unary(epsilon=epsilon, kind="symmetric").advantage() == pytest.approx(float(both), rel=1e-12)
    assert el.mechanisms.hadamard_response(epsilon=epsilon).epsilon() == epsilon


def test_ends_of_the_domain() -> None:
    assert el.mechanisms.rappor(f=1.0).epsilon() == 0
    assert el.mechanisms.rappor(f=0.3, p=0.4, q=0.4).epsilon() == 0
    assert el.mechanisms.rappor(f=0.0, reports=None).advantage() == 1
    assert math.isinf(el.mechanisms.rappor(f=0.0, p=0.0).epsilon())
    assert el.mechanisms.count_mean_sketch(epsilon=1.0, collision=1.0).epsilon() == 0


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: el.mechanisms.unary(epsilon=1.0, kind="best"), "kind is 'best'"),
        (lambda: el.mechanisms.unary(epsilon=math.inf), "epsilon is infinite"),
        (lambda: el.mechanisms.rappor(f=1.5), "f is 1.5"),
        (lambda: el.mechanisms.rappor(f=0.5, h=0), "h is 0"),
        (lambda: el.mechanisms.rappor(f=0.5, reports=0), "reports is 0"),
        (lambda: el.mechanisms.rappor(f=0.5, reports=-math.inf), "reports is infinite"),
        (lambda: el.mechanisms.count_mean_sketch(epsilon=1.0, collision=2.0), "collision is 2"),
    ],
)
def test_what_is_wrong_is_said(build: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build()  # type: ignore[operator]


def test_the_coins_that_keep_a_limit() -> None:
    found = el.choose(el.mechanisms.rappor, "f", at_most=0.6, reading="success", given={"reports": math.inf})
    assert el.mechanisms.rappor(f=found.value, reports=None).success() == pytest.approx(0.6, abs=1e-6)
    assert el.mechanisms.rappor(f=found.value, reports=None).success() <= 0.6


def test_several_responses_at_once() -> None:
    together = el.mechanisms.hadamard_response(epsilon=[1.0, 2.0]).epsilon()
    assert together == pytest.approx([1.0, 2.0], rel=1e-12)
