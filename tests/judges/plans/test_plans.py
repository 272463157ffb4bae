"""The judge of plans on a committed seed, on the faults put back, and against hand, quadrature and dice.

``make judge`` runs it for minutes on every pair of words and on new seeds (``scripts/judge.py plans``).
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from functools import cache
from typing import Any

import ibis
import numpy as np
import pytest
from scipy.integrate import quad
from tests.judges.plans.apart import make_apart, risks_apart
from tests.judges.plans.conditions import Compare, Empty
from tests.judges.plans.errors import missed
from tests.judges.plans.faults import FAULTS
from tests.judges.plans.judge import SLACK, Tally, judge_case
from tests.judges.plans.laws import Pair, laplace_delta
from tests.judges.plans.plans import ABOUT_PLAN, Ask, Case, covering, frame, pairs
from tests.judges.plans.worlds import Found, Question, Worlds

import epsilens as el
from epsilens.plan.cells import rules_of
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.file import read_release
from epsilens.publish.answers import NoisyQuery, answers_of, drawings_of
from epsilens.publish.standalone import averaged

SEED = 26


@cache
def plans() -> tuple[list[Case], dict[tuple[str, str], str]]:
    return covering(random.Random(SEED))


def test_every_two_words_meet_or_exclude_each_other() -> None:
    cases, why = plans()
    assert set(why) == {
        ("laplace", "gaussian"), ("share", "epsilon each"), ("share", "split"), ("epsilon each", "split"),
        ("touched", "unit"), ("touched", "correlation"),
    }  # fmt: skip
    assert all(set(ABOUT_PLAN) & {*pair} for pair in why)
    assert len(pairs()) == 34 * 33 // 2
    assert len(cases) < 100


@pytest.mark.parametrize("number", [4, 6, 9, 12, 15, 16, 17, 20])
def test_no_number_is_below_what_cells_tell(number: int) -> None:
    tally = Tally()
    judge_case(plans()[0][number], tally, SEED + number, effort=16, law=number == 9)
    assert not tally.failures, str(tally.failures[0])
    assert sum(tally.numbers.values()) > 5


# -- the faults put back ---------------------------------------------------------------------------------------------

_FEW: tuple[dict[str, Any], ...] = tuple(
    {"who": 10 * k, "home": f"h{k}", "g": "common", "h": "a", "v": float(k % 2), "w": 1.0} for k in range(6)
)
_DOMAIN: dict[str, tuple[str | float | None, ...]] = {"g": ("a", "b"), "h": ("a",), "v": (0.0, 1.0), "w": (0.0, 10.0)}
_ILL = Compare("v", ">", 0.0)
CAUGHT: dict[str, tuple[Case, str]] = {
    "1.1": (Case(_DOMAIN, (Ask("count", by=("g",), threshold=6.0),), _FEW, person=True, max_rows=1), "promise: delta"),
    "1.2": (
        Case(
            _DOMAIN, (Ask("sum", "w", bounds=(0.0, 10.0)), Ask("sum", "v", bounds=(0.0, 1.0))), _FEW,
            _ILL, person=True, max_rows=1, epsilon=2.0,
        ),
        "belief",
    ),
    "1.3": (Case(_DOMAIN, (Ask("count", by=("g",), threshold=2.0),), _FEW, person=True, epsilon=0.1), "together"),
    "1.4": (
        Case(_DOMAIN, (Ask("sum", "w", bounds=(0.0, 10.0)),) * 3, _FEW, epsilon=3.0, correlation=0.9), "correlated"
    ),
    "1.5": (
        Case(
            _DOMAIN, (Ask("histogram", "g", threshold=2.0), Ask("count", where=_ILL)), _FEW, _ILL, epsilon=2.0,
            limits={"success": 0.7, "posterior": 0.52},
        ),
        "recommended",
    ),
    "1.6": (
        Case(_DOMAIN, (Ask("count", by=("v",), threshold=1.0),), ({**_FEW[0], "v": 7.0}, *_FEW), epsilon=0.5), "typical"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CAUGHT)
def test_a_fault_put_back_is_found(name: str) -> None:
    case, what = CAUGHT[name]
    honest, faulty = Tally(), Tally()
    judge_case(case, honest, effort=16)
    assert not [f for f in honest.failures if f.what.startswith(what)], str(honest.failures[0])
    with FAULTS[name]():
        judge_case(case, faulty, effort=16)
    found = [f for f in faulty.failures if f.what.startswith(what)]
    assert found, [f.what for f in faulty.failures]
    assert max(f.truth - f.stated for f in found) > 1e-3


def test_the_error_of_an_average_is_that_of_what_is_published() -> None:
    """Four rows at a bound, ε = 2: the noisy size is below 1 in one release of nine, and the answer is not the middle.

    It was: then the stated 3.08 was exceeded in 7.5 of 100 releases.
    """
    plan = read_release({
        "data": {"table": "t"}, "queries": [{"average": "v", "bounds": [0, 10]}], "mechanism": {"epsilon": 2.0},
    })  # fmt: skip
    drawings = {drawing.noisy: drawing for drawing in drawings_of(plan)}
    (script,) = rules_of(plan, ibis.table({"v": "float64"}, name="t")).plan["queries"]
    script["drawings"] = {
        noisy.value: {"noise": "laplace", "scale": d.scale, "unit": float(d.unit)} for noisy, d in drawings.items()
    }
    for total, size in ((20.0, 0.2), (3.0, -4.0), (-1.5, 0.999), (2.0, 8.0)):
        expected = min(max(5 + total / max(size, 1.0), 0.0), 10.0)
        (one,) = answers_of(
            plan, NoisyQuery(0, ((),), {NoisyNumber.TOTAL: [total], NoisyNumber.SIZE: [size]}), drawings
        )
        assert one.answer == pytest.approx(expected, abs=0.02)
        assert averaged(script, {"total": total, "size": size})[0] == pytest.approx(expected)
    rows = tuple({"who": k, "home": f"h{k}", "g": "a", "h": "a", "v": 10.0, "w": 1.0} for k in range(4))
    case = Case(filled({"v": (0.0, 10.0)}), (Ask("average", "v", bounds=(0.0, 10.0)),), rows, epsilon=2.0)
    found = el.assess(case.words(), table=frame(case))
    assert [truth for _, _, truth in missed(case, found.release, found.queries)] == pytest.approx([0.05] * 2, abs=1e-4)


# -- planned answers that isolate a person ---------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 3, 5, 12, 14])
def test_planned_answers_that_isolate_a_person(number: int) -> None:
    """Who knows nobody's value, and has combinations of answers to which nobody else adds."""
    case = make_apart(random.Random(number))
    truth, how = case.truth()
    told = [r.planned for r in risks_apart(case) if r.key.startswith(("differencing", "combined"))]
    assert max(told, default=0.5) >= truth - SLACK, (truth, how, case.words())


# -- the judge -------------------------------------------------------------------------------------------------------


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


def apart(case: Case, question: Question) -> list[Found]:
    plan = read_release(case.words())
    return Worlds(case, plan).apart(question, plan.epsilon)


def moved(case: Case, question: Question) -> list[tuple[float, ...]]:
    return [tuple(round(x, 9) for x in one.pair.t) for one in apart(case, question)]


def filled(domain: Mapping[str, tuple[str | float | None, ...]]) -> dict[str, tuple[str | float | None, ...]]:
    return {"g": ("a", "b"), "h": ("a", "b"), "v": (0.0, 1.0), "w": (0.0, 1.0), **domain}


def test_pairs_of_worlds_by_hand() -> None:
    """A group for another, an average, signs, several rows, a NULL."""
    histogram = Case(filled({}), (Ask("histogram", "g", groups=(("a",), ("b",))),), secret=Compare("g", "=", "a"))
    assert moved(histogram, Question.SECRET) == [(1.0, 1.0)]
    assert moved(histogram, Question.MEMBERSHIP) == [(1.0,)]
    signs = Case(
        filled({"v": (-1.0, 0.0, 1.0)}), (Ask("sum", "v", bounds=(-1.0, 1.0)),), secret=Compare("v", ">", 0.0),
        epsilon=0.21,
    )  # fmt: skip
    (worst,) = apart(signs, Question.SECRET)
    assert worst.pair.success(0.5) == pytest.approx(1 - math.exp(-0.21) / 2)
    mean = Case(filled({"v": (0.0, 4.0)}), (Ask("average", "v", bounds=(0.0, 4.0)),))
    assert moved(mean, Question.MEMBERSHIP) == [(0.5, 0.5)]
    assert moved(mean, Question.RECORD) == [(1.0,)]
    empty = Case(filled({"v": (2.0, 4.0, None)}), (Ask("sum", "v", bounds=(2.0, 4.0)),), secret=Empty("v"))
    assert moved(empty, Question.SECRET) == [(1.0,)]
    by_site = Ask("sum", "v", by=("g",), groups=(("a",), ("b",)), bounds=(0.0, 3.0))
    visits = Case(filled({"v": (0.0, 3.0)}), (by_site,), person=True, max_rows=2)
    assert moved(visits, Question.RECORD) == [(1.0, 1.0)]


def test_names_of_worlds_by_hand() -> None:
    """Alone in a group, a person is listed with p = ½e^(−(τ−1)/b); without a threshold, surely."""
    by = Case(filled({}), (Ask("count", by=("g",), threshold=3.0),))
    worst = sorted((one.pair.t, one.pair.q0, one.pair.q1) for one in apart(by, Question.MEMBERSHIP))
    assert worst == [((), 0.0, pytest.approx(0.5 * math.exp(-2))), ((1.0,), 0.0, 0.0)]
    silent = Case(filled({}), (Ask("count", by=("g",)),))
    assert max(one.pair.success() for one in apart(silent, Question.MEMBERSHIP)) == 1
