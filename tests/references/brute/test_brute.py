"""The assessment against an enumeration of all worlds, on random small plans; and the judge against hand and dice.

``python -m scripts.brute 5000`` is the same with thousands of plans.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.integrate import quad
from tests.examples import examples
from tests.references.brute.apart import make_apart, risks_apart
from tests.references.brute.compare import BRACKET, assessed, assessed_by_plan, at, compare
from tests.references.brute.conditions import Compare, Empty
from tests.references.brute.laws import Pair, laplace_delta
from tests.references.brute.plans import cases, make
from tests.references.brute.smaller import enriched
from tests.references.brute.worlds import Ask, Case, Question, worst_pairs

import epsilens as el

SLACK = 1e-9


@settings(max_examples=examples(40))
@given(cases)
def test_never_below_the_worst_pair_of_worlds(number: int) -> None:
    case = make(random.Random(number))
    for one in compare(case, assessed_by_plan(case)):
        assert one.below <= SLACK, (one, case.words())


@pytest.mark.parametrize("number", [3, 8, 12, 14])
def test_the_whole_assessment_is_never_below(number: int) -> None:
    """With the table, and with the compositions as they are published."""
    case = make(random.Random(number))
    for one in compare(case, assessed(case)):
        assert one.below <= SLACK, (one, case.words())


@settings(max_examples=examples(20))
@given(cases)
def test_what_is_called_exact_is(number: int) -> None:
    """Where the small domain reaches less, in one that holds every value the plan could tell apart."""
    case = make(random.Random(number))
    made = assessed_by_plan(case)
    wide = [one.key for one in compare(case, made) if one.exact and one.assessed - one.truth > 1e-6]
    if wide:
        for one in compare(enriched(case), made):
            assert one.key not in wide or one.assessed - one.truth <= 1e-6, (one, case.words())


@pytest.mark.parametrize("number", [1, 2, 3, 5, 12, 14])
def test_planned_answers_that_isolate_a_person(number: int) -> None:
    """Who knows nobody's value, and has combinations of answers to which nobody else adds."""
    case = make_apart(random.Random(number))
    truth, how = case.truth()
    told = [r.planned for r in risks_apart(case) if r.key.startswith(("differencing", "combined"))]
    assert max(told, default=0.5) >= truth - SLACK, (truth, how, case.words())


_LIMITS: tuple[dict[str, Any], ...] = (
    {"success": 0.7, "posterior": 0.7, "attack_success": 0.3},
    {"success": 0.55},
    {"roc": {"at_most": 0.3, "fpr": 0.05}},
    {"delta": {"at_most": 0.1, "epsilon": 0.5}},
    {"epsilon": {"at_most": 1.0, "delta": 0.01}},
)


@pytest.mark.parametrize("number", [0, 2, 5, 6, 8, 12])
def test_the_largest_epsilon_keeps_the_limit(number: int) -> None:
    rng = random.Random(number)
    case = make(rng)
    case = replace(case, limits=rng.choice(_LIMITS), adversary={})
    for risk in assessed_by_plan(case, search=True):
        if risk.limit is not None and risk.largest:
            for one in compare(at(case, risk.largest), [risk]):
                assert one.truth <= risk.limit + 1e-7, (one, case.words())


# -- the judge ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [(0.7,), (1.0, 1.0), (2.0, 0.3), (1.0, 0.5, 0.3), (0.4,) * 5, (2.3, 1.7, 0.9, 0.4)])
def test_law_of_laplace_numbers(t: tuple[float, ...]) -> None:
    """Against epsilens' certified brackets."""
    whole, pair = el.compose(*(el.laplace(epsilon=x) for x in t)), Pair(t, False)
    for reading, arguments in (
        ("success", {"prior": 0.3}),
        ("posterior", {"prior": 0.2}),
        ("roc", {"fpr": 0.05}),
        ("delta", {"epsilon": 0.4}),
        ("epsilon", {"delta": 0.02}),
    ):
        low, high = whole.bracket(reading, **arguments)
        assert low - 1e-10 <= pair.read(reading, arguments) <= high + 1e-10


def test_law_by_quadrature_and_by_dice() -> None:
    s, t, epsilon = 1.1, 0.6, 0.35

    def loss(y: float, moved: float) -> float:
        return abs(y) - abs(y - moved)

    def inner(y: float) -> float:
        def gain(z: float) -> float:
            return max(1 - math.exp(epsilon - loss(y, s) - loss(z, t)), 0.0) * math.exp(-abs(z - t)) / 2

        return float(quad(gain, -20, 20, points=[0, t], limit=200, epsabs=1e-11)[0]) * math.exp(-abs(y - s)) / 2

    found = quad(inner, -20, 20, points=[0, s], limit=200, epsabs=1e-10)[0]
    assert laplace_delta((s, t), epsilon) == pytest.approx(found, abs=1e-7)
    y = max(0.0, (epsilon - s + t) / 2)
    assert laplace_delta((s, t), epsilon) == pytest.approx(1 - (1 + (t - y) / 2) * math.exp((epsilon - s - t) / 2))

    moved = np.asarray((1.0, 0.5, 0.3, 0.2, 0.7))
    noisy = np.random.default_rng(7).laplace(size=(400_000, 5)) + moved
    gains = np.maximum(0.0, 1 - np.exp(0.4 - (np.abs(noisy) - np.abs(noisy - moved)).sum(axis=1)))
    assert abs(gains.mean() - laplace_delta(tuple(moved), 0.4)) < 4 * gains.std() / math.sqrt(gains.size)


def test_names_by_hand() -> None:
    """A name listed with p = .2 in one world only, beside one number: what is seen is worked out case by case."""
    pair, p = Pair((1.0,), False, 0.0, 0.2), 0.2
    unseen = 0.3 * 0.8 / (0.3 * 0.8 + 0.7)
    rest = el.laplace(epsilon=1.0).success(prior=unseen)
    assert pair.success(0.3) == pytest.approx(0.3 * p + (1 - 0.3 * p) * rest)
    assert pair.posterior(0.3) == 1
    assert pair.turned.posterior(0.3) == pytest.approx(0.3 * math.e / (0.3 * math.e + 0.7 * 0.8))
    assert pair.roc(0.01) == pytest.approx(p + 0.8 * 0.01 * math.e)
    assert pair.delta(5.0) == p


def test_pairs_of_worlds_by_hand() -> None:
    """The reproducers of defects 1.1 and 1.2, a group for another, an average, several rows, a NULL."""
    two: dict[str, tuple[str | float | None, ...]] = {"d": ("flu", "none")}
    histogram = Case(two, (Ask("histogram", "d", groups=(("flu",), ("none",))),), (), Compare("d", "=", "flu"))
    assert [p.t for p in worst_pairs(histogram, Question.SECRET)] == [(1.0, 1.0)]
    assert [p.t for p in worst_pairs(histogram, Question.MEMBERSHIP)] == [(1.0,)]
    signs = Case(
        {"v": (-1.0, 0.0, 1.0)}, (Ask("sum", "v", bounds=(-1.0, 1.0)),), (), Compare("v", ">", 0.0), epsilon=0.21
    )
    (worst,) = worst_pairs(signs, Question.SECRET)
    assert worst.success(0.5) == pytest.approx(1 - math.exp(-0.21) / 2)
    mean = Case({"v": (0.0, 4.0)}, (Ask("average", "v", bounds=(0.0, 4.0)),), ())
    assert [p.t for p in worst_pairs(mean, Question.MEMBERSHIP)] == [(0.5, 0.5)]
    assert [p.t for p in worst_pairs(mean, Question.MISSING)] == [(1.0,)]
    empty = Case({"v": (2.0, 4.0, None)}, (Ask("sum", "v", bounds=(2.0, 4.0)),), (), Empty("v"))
    assert [p.t for p in worst_pairs(empty, Question.SECRET)] == [(1.0,)]
    by_site = Ask("sum", "v", by=("s",), groups=(("a",), ("b",)), bounds=(0.0, 3.0))
    visits = Case({"v": (0.0, 3.0), "s": ("a", "b")}, (by_site,), (), several=True, most=2, max_rows=2)
    assert [p.t for p in worst_pairs(visits, Question.MISSING)] == [(1.0, 1.0)]


def test_names_of_worlds_by_hand() -> None:
    """Alone in a group, a person is listed with p = ½e^(−(τ−1)/b); without a threshold, surely."""
    by = Case({"d": ("flu", "none")}, (Ask("count", by=("d",), threshold=3.0),), ())
    worst = worst_pairs(by, Question.MEMBERSHIP)
    assert sorted((p.t, p.q0, p.q1) for p in worst) == [
        ((), 0.0, pytest.approx(0.5 * math.exp(-2))),
        ((1.0,), 0.0, 0.0),
    ]
    silent = Case({"d": ("flu", "none")}, (Ask("count", by=("d",)),), ())
    assert max(p.success(0.5) for p in worst_pairs(silent, Question.MEMBERSHIP)) == 1
    assert BRACKET < 1e-3
