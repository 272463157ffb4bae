"""The movement of a plan against the reference sheet's table, written out, and against values found by other means."""

from __future__ import annotations

import itertools
import math
import random
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import norm
from tests.judges.plans.laws import Pair
from tests.references.brute.plans import make
from tests.references.brute.worlds import Question as Asked
from tests.references.brute.worlds import TooMany, worst_pairs

import epsilens as el
from epsilens.assessment.adversaries import ADVERSARIES, Setting
from epsilens.plan.contribution import (
    NoisyNumber,
    PersonContribution,
    name_delta,
    name_probability,
    scale_of,
    threshold_of,
)
from epsilens.plan.file import read_release
from epsilens.plan.model import Release
from epsilens.plan.movement import (
    AdversaryQuestion,
    CorrelationFactor,
    Movement,
    correlation_factors,
    movements,
    secret_queries,
)
from epsilens.worlds import Relation

A, T, N, P = NoisyNumber.ANSWER, NoisyNumber.TOTAL, NoisyNumber.SIZE, NoisyNumber.PEOPLE


def plan(*queries: dict[str, Any], **changes: Any) -> Release:
    made: dict[str, Any] = {"data": {"table": "t"}, "queries": list(queries), "mechanism": {"epsilon": 1.0}}
    return read_release({**made, **changes})


def amounts(movement: Movement, noisy: NoisyNumber = A) -> list[float]:
    return sorted((m.amount for m in movement.moves for _ in range(m.times) if m.noisy is noisy), reverse=True)


def each(release: Release, question: AdversaryQuestion) -> set[tuple[tuple[float, ...], ...]]:
    """The movements as sorted amounts of the answers, totals and sizes."""
    found = movements(release, question).each
    return {tuple(tuple(amounts(m, noisy)) for noisy in (A, T, N) if amounts(m, noisy)) for m in found}


PERSON = {"table": "t", "person": "p", "max_rows": 3}
GROUPS = {"by": "g", "groups": ["a", "b", "c", "d", "e", "f"]}
#: query, data → absent or present; any rows for any others (reference sheet, "Contributions"), with m = 3.
TABLE: list[tuple[dict[str, Any], dict[str, Any], set[Any], set[Any]]] = [
    ({"count": True}, PERSON, {((1,),)}, {((1,),)}),
    ({"count": True, **GROUPS}, PERSON, {((1,),)}, {((1, 1),)}),
    ({"count": True, **GROUPS}, {**PERSON, "max_groups": 2}, {((1, 1),)}, {((1, 1, 1, 1),)}),
    ({"count": True, "by": "g", "groups": ["a", "b", "c"]}, {**PERSON, "max_groups": 2}, {((1, 1),)}, {((1, 1, 1),)}),
    ({"count": True, "rows": True}, PERSON, {((3,),)}, {((3,),)}),
    ({"count": True, "rows": True, **GROUPS}, PERSON, {((3,),)}, {((3, 3),)}),
    ({"sum": "v", "bounds": [-1, 2]}, PERSON, {((6,),)}, {((9,),)}),
    ({"sum": "v", "bounds": [-1, 2], **GROUPS}, PERSON, {((6,),)}, {((9,),), ((6, 6),)}),
    ({"sum": "v", "bounds": [1, 2], **GROUPS}, PERSON, {((6,),)}, {((6, 6),)}),
    ({"average": "v", "bounds": [1, 5]}, PERSON, {((6,), (3,))}, {((12,),), ((6,), (3,))}),
    ({"average": "v", "bounds": [1, 5], **GROUPS}, PERSON, {((6,), (3,))}, {((12,),), ((6, 6), (3, 3))}),
]


@pytest.mark.parametrize(("query", "data", "present", "replaced"), TABLE)
def test_what_one_person_moves(query: Any, data: Any, present: Any, replaced: Any) -> None:
    assert each(plan(query, data=data), AdversaryQuestion.MEMBERSHIP) == present
    assert each(plan(query, data=data), AdversaryQuestion.RECORD) == replaced
    other = plan(query, data=data, mechanism={"epsilon": 1.0, "neighbours": "replace"})
    assert each(other, AdversaryQuestion.MEMBERSHIP) == replaced


#: query, secret, person → the movements of the secret (reference sheet, "Questions"), with m = 2 for people.
SECRETS: list[tuple[dict[str, Any], str, bool, set[Any]]] = [
    ({"count": "x > 1"}, "diag = 'flu'", False, {()}),
    ({"count": "diag = 'flu'"}, "diag = 'flu'", False, {((1,),)}),
    ({"count": "x > 1 AND diag='flu'"}, "diag = 'flu'", True, {((1,),)}),
    ({"histogram": "diag", "groups": ["flu", "cold", "b", "c"]}, "diag = 'flu'", False, {((1, 1),)}),
    ({"histogram": "diag", "groups": ["flu", "cold", "b", "c"]}, "diag = 'flu'", True, {((1, 1),)}),
    ({"count": "diag = 'cold'"}, "diag = 'flu'", False, {((1,),)}),
    ({"sum": "v", "bounds": [-1, 1]}, "v > 0", False, {((2,),)}),
    ({"sum": "v", "bounds": [-1, 1]}, "v > 0", True, {((4,),)}),
    ({"sum": "v", "bounds": [-1, 1], **GROUPS}, "v > 0", False, {((2,),)}),
    ({"sum": "v", "bounds": [-1, 1], **GROUPS}, "v > 0", True, {((4,),), ((2, 2),)}),
    ({"sum": "v", "bounds": [-1, 1], "by": "v", "groups": [1, 2]}, "v > 0", False, {((2,),), ((1, 1),)}),
    ({"sum": "w", "bounds": [-1, 3], "by": "v", "groups": [1, 2]}, "v > 0", False, {((3, 3),)}),
    ({"average": "v", "bounds": [0, 4]}, "v > 0", False, {((4,),), ((2,), (1,))}),
    ({"average": "w", "bounds": [0, 4], "by": "v", "groups": [1, 2]}, "v > 0", False, {((2, 2), (1, 1))}),
]


@pytest.mark.parametrize(("query", "secret", "several", "moved"), SECRETS)
def test_what_the_secret_moves(query: Any, secret: str, several: bool, moved: Any) -> None:
    data: dict[str, Any] = {"table": "t", "secret": secret}
    data |= {"person": "p", "max_rows": 2} if several else {}
    release = plan(query, data=data)
    assert each(release, AdversaryQuestion.SECRET) == moved
    assert secret_queries(release) == (() if moved == {()} else (0,))


def test_columns_that_tell_the_secret_count_too() -> None:
    secret = {"name": "flu", "where": "diag = 'flu'", "columns": ["drug"]}
    release = plan({"count": "drug = 'x'"}, {"count": "age > 3"}, data={"table": "t", "secret": secret})
    assert secret_queries(release) == (0,)


def test_scales_are_the_sensitivities_of_the_sheet() -> None:
    def scale(query: Any, noisy: NoisyNumber, **mechanism: Any) -> float:
        return scale_of(plan(query, data=PERSON, mechanism={"epsilon": 1.0, **mechanism}), 0, noisy, 1.0)

    by_sum, average = {"sum": "v", "bounds": [-1, 2], **GROUPS}, {"average": "v", "bounds": [1, 5], **GROUPS}
    assert scale(by_sum, A) == 6
    assert scale(by_sum, A, neighbours="replace") == 12  # 2ma
    assert scale(average, T) == 2 * 6  # half of ε each
    assert scale(average, N) == 2 * 3
    assert scale(average, T, neighbours="replace") == 2 * 12
    assert scale({**average, "threshold": 9, "groups": None}, P) == 3 * 3
    gaussian = {"noise": "gaussian", "delta": 1e-6, "neighbours": "replace"}
    one = PersonContribution(0, plan(by_sum, data=PERSON).queries[0], plan(by_sum, data=PERSON).data)
    assert one.sensitivity(A, Relation.REPLACE, 2) == pytest.approx(3 * max(math.sqrt(2) * 2, 3))
    assert scale(by_sum, A, **gaussian) > 0


def test_names_by_threshold() -> None:
    """p = ½e^{−(τ−1)/b} with b = G/ε, and the whole δ is 1 − (1−p)^G."""
    query = {"count": True, "by": "g", "threshold": 20}
    release = plan(query, data={**PERSON, "max_groups": 2}, mechanism={"epsilon": 0.5})
    p = 0.5 * math.exp(-19 / (2 / 0.5))
    assert name_probability(release, 0, 0.5) == pytest.approx(p, rel=1e-14)
    assert name_delta(release, 0.5) == pytest.approx(1 - (1 - p) ** 2, rel=1e-12)
    found = movements(release, AdversaryQuestion.MEMBERSHIP).each
    assert {(tuple(amounts(m)), m.alone) for m in found} == {
        ((1, 1), ()), ((1,), ((0, 0, 1),)), ((), ((0, 0, 2),)),
    }  # fmt: skip
    auto = plan({**query, "threshold": "auto"}, mechanism={"epsilon": 0.5, "delta": 1e-5})
    tau = threshold_of(auto, 0, 0.5)
    assert tau is not None
    assert 0.5 * math.exp(-(tau - 1) * 0.5) <= 1e-5 < 0.5 * math.exp(-(tau - 2) * 0.5)


def test_names_from_the_data_are_certain() -> None:
    release = plan({"count": True, "by": "g"})
    assert name_probability(release, 0, 1.0) == 1
    assert name_delta(release, 1.0) == 1


def test_a_household_is_moved_together() -> None:
    release = plan({"count": "x > 1"}, data={"table": "t", "person": "p", "unit": "home", "max_rows": 4})
    assert each(release, AdversaryQuestion.MEMBERSHIP) == {((4,),)}
    alone = plan({"count": True, "by": "g", "threshold": 9}, data={"table": "t", "unit": "home", "max_rows": 4})
    assert name_probability(alone, 0, 1.0) == pytest.approx(0.5 * math.exp(-(9 - 4) / 4))


def test_many_queries_stay_few_movements() -> None:
    """32 averages by group have 2³² combinations of vertices, and 33 that an adversary can tell apart."""
    release = plan(*[{"average": "v", "bounds": [0, 1], **GROUPS}] * 32, mechanism={"epsilon": 1.0})
    found = movements(release, AdversaryQuestion.RECORD)
    assert len(found.each) == 33
    shares = [{"average": "v", "bounds": [0, 1], **GROUPS, "epsilon": 0.1 + 0.01 * k} for k in range(32)]
    wide = movements(plan(*shares, mechanism={}), AdversaryQuestion.RECORD)
    assert not wide.exact
    assert len(wide.each) <= 128
    assert all(len(amounts(m, N)) == 64 for m in wide.each)


def test_names_beside_many_numbers_leave_nothing_out() -> None:
    """More groups, or more queries with names, than are combined one by one: every number still moves."""
    data = {**PERSON, "max_groups": 50}
    wide = movements(plan({"count": True, "by": "g", "threshold": 9}, data=data), AdversaryQuestion.MEMBERSHIP).each
    assert [(amounts(m), m.alone) for m in wide] == [([1.0] * 50, ((0, 0, 50),))]
    query = {"sum": "v", "bounds": [-1, 2], "by": "g", "threshold": 9}
    several = plan(*[query] * 5, data=PERSON)
    for question, answers in ((AdversaryQuestion.MEMBERSHIP, {5: 6.0}), (AdversaryQuestion.RECORD, {5: 9.0, 10: 6.0})):
        found = movements(several, question).each
        assert all(len(m.alone) == 5 for m in found)
        for many, amount in answers.items():
            assert any(amounts(m) == [amount] * many for m in found)


def test_two_cells_by_integration() -> None:
    """The sheet's closed form for two Laplace cells, δ = 1 − (1+(t−y)/2)e^{(ε−s−t)/2}, and the same on a grid."""
    x = np.linspace(-20, 20, 1601)
    a, b = x[:, None], x[None, :]
    for s, t, epsilon in ((1.0, 1.0, 0.0), (1.0, 0.5, 0.2), (2.0, 0.3, 1.0)):
        y = max(0.0, (epsilon - s + t) / 2)
        closed = 1 - (1 + (t - y) / 2) * math.exp((epsilon - s - t) / 2)
        overlap = np.exp(np.minimum(-abs(a - s) - abs(b - t), epsilon - abs(a) - abs(b))) / 4
        assert 1 - np.trapezoid(np.trapezoid(overlap, x), x) == pytest.approx(closed, abs=1e-3)
        together = el.compose(el.laplace(epsilon=s), el.laplace(epsilon=t))
        assert together.delta(epsilon) == pytest.approx(closed, rel=2e-3)


@pytest.mark.parametrize(("groups", "threshold", "epsilon"), [(10, 2.0, 12.0), (9, 3.0, 5.0)])
def test_ten_groups_of_one_person(groups: int, threshold: float, epsilon: float) -> None:
    """Defects 1.12: each number of groups where they are alone is looked at, and names are not mixed with numbers."""
    made = read_release({"data": {"table": "t", "person": "p", "max_groups": groups}, "limits": {},
                         "queries": [{"count": True, "by": "g", "threshold": threshold}],
                         "mechanism": {"epsilon": epsilon}})  # fmt: skip
    facing = Setting(made).facing(AdversaryQuestion.MEMBERSHIP, epsilon)
    name = math.exp(-(threshold - 1) * epsilon / groups) / 2
    each = [Pair((epsilon / groups,) * (groups - k), False, 0.0, 1 - (1 - name) ** k) for k in range(groups + 1)]
    assert facing.read("success", {"prior": 0.5}) == pytest.approx(max(p.success(0.5) for p in each), abs=1e-8)
    found = facing.read("attack_success", {"baseline": 0.01})
    assert found == pytest.approx(max(p.roc(0.01) for p in each), abs=1e-8)


def test_four_thresholds() -> None:
    """Every choice of queries in which the name is theirs alone: 2^4, by hand."""
    queries = [{"count": True, "by": f"g{i}", "threshold": 2.0 + i} for i in range(4)]
    made = read_release({"data": {"table": "t"}, "limits": {}, "queries": queries, "mechanism": {"epsilon": 4.0}})
    truth = 0.0
    for alone in product((False, True), repeat=4):
        hidden = math.prod(1 - math.exp(-1.0 - i) / 2 for i in range(4) if alone[i])
        truth = max(truth, Pair((1.0,) * (4 - sum(alone)), False, 0.0, 1 - hidden).success(0.5))
    found = Setting(made).facing(AdversaryQuestion.MEMBERSHIP, 4.0).read("success", {"prior": 0.5})
    assert found == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("noise", [{}, {"noise": "gaussian"}])
@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_a_threshold_that_is_found_keeps_to_its_delta(noise: dict[str, Any], most: int) -> None:
    """In all of a person's groups together, and one person less would not."""
    for query in ({"count": True}, {"sum": "v", "bounds": [0, 1]}):
        release = plan(
            {**query, "by": "g", "threshold": "auto"},
            data={"table": "t", "person": "p", "max_rows": 9, "max_groups": most},
            mechanism={"epsilon": 1.0, "delta": 1e-5, **noise},
        )
        assert name_delta(release, 1.0) <= 1e-5
        found = threshold_of(release, 0, 1.0)
        assert found is not None
        lower = plan(
            {**query, "by": "g", "threshold": found - 1},
            data={"table": "t", "person": "p", "max_rows": 9, "max_groups": most},
            mechanism={"epsilon": 1.0, **({**noise, "delta": 1e-5} if noise else {})},
        )
        assert name_delta(lower, 1.0) > 1e-5


def _setting(words: dict[str, Any], correlation: Any) -> Setting:
    plan = read_release({**words, "adversary": {"correlation": correlation}})
    stated = correlation_factors(
        plan, cast(Any, None), tuple(q.to_query() for q in plan.queries)
    )  # stated: no table is looked at
    return Setting(plan, related=stated)


def _read(setting: Setting, key: str) -> float:
    adversary = next(a for a in ADVERSARIES if a.key == key)
    return adversary.facing(setting, setting.release.epsilon).read("success", {"prior": 0.5})


def _plan(queries: list[dict[str, Any]], epsilon: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"data": {"table": "t", **more.pop("data", {})}, "queries": queries, "limits": {},
            "mechanism": {"epsilon": epsilon, **more}}  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_the_factor_by_conditional_covariances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(4, 2))
    matrix = loadings @ loadings.T + np.diag(rng.uniform(0.2, 1, 4))
    matrix /= np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    found = _setting(_plan([{"sum": "x", "bounds": [0, 1]}]), matrix.tolist()).related[0]
    for size in range(4):
        most = 0.0
        for known in itertools.combinations(range(4), size):
            rest = [i for i in range(4) if i not in known]
            inside = matrix[np.ix_(rest, rest)]
            if known:
                across = matrix[np.ix_(rest, known)]
                inside = inside - across @ np.linalg.inv(matrix[np.ix_(known, known)]) @ across.T
            most = max(most, *(np.abs(inside[i] / inside[i, i]).sum() for i in range(len(rest))))
        assert found.by_known[size] == pytest.approx(min(most, 4 - size), rel=1e-9)
    assert found.factor == max(found.by_known)


def _told_apart(rho: float, ends: tuple[float, float], middle: float, spread: float, sums: int, scale: float) -> float:
    """How well two values of one person are told by so many Laplace sums of both people's values in [0, 1], by a grid.

    The other's value is normal given the first one's, and clamped; it is the same in all sums.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    line = np.linspace(-14 * scale, 2 + 14 * scale, 361)
    axes = np.meshgrid(*[line] * sums, indexing="ij")
    law = []
    for value in ends:
        other = middle + rho * (value - middle) + spread * math.sqrt(1 - rho * rho) * nodes
        total = value + np.clip(other, 0.0, 1.0)
        density = sum(
            w * np.exp(-sum(abs(y - t) for y in axes) / scale)
            for w, t in zip(weights / weights.sum(), total, strict=True)
        )
        law.append(density / density.sum())
    return 0.5 + 0.25 * float(np.abs(law[0] - law[1]).sum())


@pytest.mark.parametrize("sums", [1, 2])
@pytest.mark.parametrize(("rho", "spread"), [(0.9, 0.1), (0.9, 0.6), (-0.8, 0.2), (0.3, 0.3)])
def test_never_below_the_law_of_two_related_people(rho: float, spread: float, sums: int) -> None:
    setting = _setting(_plan([{"sum": "x", "bounds": [0, 1]}] * sums, 1.5), [[1, rho], [rho, 1]])
    found = _read(setting, "correlated")
    truth = max(
        _told_apart(rho, ends, middle, spread, sums, sums / 1.5)
        for ends in ((0.0, 1.0), (0.2, 0.9))
        for middle in (0.5, 0.2)
    )
    assert truth <= found + 1e-4  # of the grid
    if rho == 0.9 and spread == 0.1:
        assert found - truth < 0.01
        alone = 0.5 + 0.5 * (1 - math.exp(-0.75 * 1.9 / sums))
        assert sums == 1 or truth > alone + 0.01  # defects 1.4: one answer is not a bound


def test_normal_noise_and_an_average() -> None:
    """Both numbers of an average move with the value's total; three sums under normal noise by the length of it."""
    three = _setting(
        _plan([{"sum": "x", "bounds": [0, 100]}] * 3, 3.0, noise="gaussian", delta=1e-5), [[1, 0.9], [0.9, 1]]
    )
    one = _setting(
        _plan([{"sum": "x", "bounds": [0, 100]}] * 3, 3.0, noise="gaussian", delta=1e-5), [[1, 0.0], [0.0, 1]]
    )
    assert norm.ppf(_read(three, "correlated")) == pytest.approx(1.9 * norm.ppf(_read(one, "correlated")), rel=1e-9)
    assert _read(one, "correlated") == pytest.approx(_read(one, "guess"), rel=1e-12)
    mean = _setting(_plan([{"average": "x", "bounds": [0, 4]}]), [[1, 0.9], [0.9, 1]])
    assert _read(mean, "correlated") == pytest.approx(1 - math.exp(-1.9 / 2) / 2, rel=1e-9)  # 1.9 times (2mh, 0)


@pytest.mark.parametrize("number", [*range(12), 17, 23])
def test_never_below_a_guess_or_the_worst_pair_of_records(number: int) -> None:
    """Of random small plans, names and all: what related people add is added to what one person moves."""
    case = make(random.Random(number))
    setting = _setting(case.words(), [[1, 0.4], [0.4, 1]])
    found = _read(setting, "correlated")
    if setting.secret:
        assert found >= _read(setting, "guess") - 1e-12
    try:
        pairs = worst_pairs(case, Asked.MISSING)
    except TooMany:
        return
    assert found >= max((pair.success(0.5) for pair in pairs), default=0.5) - 1e-9


def test_what_is_counted_goes_together() -> None:
    """A rare flag that its bearer's relative always has: a correlation of .1, and both are told as one."""
    queries: list[dict[str, Any]] = [{"count": "x > 1"}, {"sum": "x", "bounds": [0, 1], "where": "x > 0.5"}]
    told = _setting(_plan(queries), [[1, 0.1], [0.1, 1]]).related
    assert [(r.factor, r.people) for r in told] == [(2.0, 2), (2.0, 2)]
    (apart,) = _setting(_plan([{"count": "x > 1"}]), [[1, 0.0], [0.0, 1]]).related
    assert (apart.factor, apart.people) == (1.0, 1)
    count = _setting(_plan([{"count": "x > 1"}]), [[1, 0.1], [0.1, 1]])
    assert _read(count, "correlated") == pytest.approx(1 - math.exp(-1) / 2, rel=1e-12)
    assert isinstance(count.related[0], CorrelationFactor)
