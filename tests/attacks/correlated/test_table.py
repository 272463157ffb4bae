"""Tables: reference sheet §B and §C(b), brute force, every question and every refusal."""

from __future__ import annotations

import html
import json
import math
import time
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.correlated import brute
from tests.examples import examples

from epsilens import correlated
from epsilens.attacks.correlated import answer_laws, tables
from epsilens.attacks.correlated.tables import JointTable
from epsilens.errors import InputError, NoSolutionError

A = correlated.table([[0.3, 0.2], [0.2, 0.3]])
THREE = correlated.table(np.array([[[8, 2], [1, 4]], [[3, 1], [5, 6]]]) / 30)
KNOT = correlated.table(
    np.array([[[0.05, 0.45], [0.45, 0.05]], [[0.45, 0.05], [0.05, 0.45]]]) / 2, values=[[0, 0.1], [0, 1], [0, 1]]
)


@pytest.mark.parametrize(
    ("joint", "values", "exact"),
    [
        ([[0.3, 0.2], [0.2, 0.3]], None, 1.1853759033),
        ([[0.2, 0.3], [0.3, 0.2]], None, 0.8146240967),
        ([[0.49, 0.01], [0.01, 0.49]], None, 1.9534886663),
        ([[0.01, 0.49], [0.49, 0.01]], None, 0.0465113337),
        ([[0.5, 0.0], [0.0, 0.5]], None, 2.0),
        ([[0.5, 0.0], [0.0, 0.5]], [[0, 1], [0, 5]], 6.0),
        ([[0.5, 0.0], [0.25, 0.25]], None, 1.6201145070),
        ([[0.4999, 0.0001], [0.25, 0.25]], None, 1.6197709096),
        ([[0.05, 0.45], [0.45, 0.05]], [[0, 1], [0, 3]], 1.7415910573),
        ([[0.05, 0.45], [0.45, 0.05]], [[0, 1], [0, 1.5]], 0.4592713325),
    ],
)
def test_reference_values_of_two_records(joint: Any, values: Any, exact: float) -> None:
    model = correlated.table(joint, values)
    assert model.leakage(0, scale=1.0) == pytest.approx(exact, abs=6e-11)
    assert model.leakage(0, (1,), scale=1.0) == pytest.approx(1.0, abs=1e-15)


def test_reference_values_of_three_records() -> None:
    found = [THREE.leakage(i, scale=1.0) for i in range(3)]
    assert found == pytest.approx([1.471468479, 1.799860646, 1.511861626], abs=6e-10)
    assert THREE.leakage(0, {1: 1}, scale=1.0) == pytest.approx(0.796426946, abs=6e-10)
    assert THREE.leakage(0, {2: 0}, scale=1.0) == pytest.approx(1.554717210, abs=6e-10)
    assert KNOT.leakage(0, scale=1.0) == pytest.approx(0.7945362705, abs=6e-11)


def test_the_one_who_knows_least_need_not_learn_most() -> None:
    model = correlated.table(np.array([59, 19, 8, 4, 6, 2, 1, 1]).reshape(2, 2, 2) / 100)
    worst = model.worst(scale=1.0)
    assert (worst.target, worst.known, dict(worst.values or {})) == (1, (0,), {0: 1.0})
    assert worst.leakage == pytest.approx(1.2627405, abs=6e-8)
    assert worst.complete
    assert worst.upper == worst.leakage
    assert max(model.leakage(i, scale=1.0) for i in range(3)) == pytest.approx(1.2279517, abs=6e-8)
    assert [w.leakage for w in model.by_known(scale=1.0)] == pytest.approx([1.2279517, 1.2627405, 1.0], abs=6e-8)


# -- brute force ------------------------------------------------------------------------------------------------------


@st.composite
def models(draw: st.DrawFn) -> tuple[Any, list[list[float]], list[float], float]:
    n = draw(st.integers(1, 4))
    sizes = [draw(st.integers(2, 3)) for _ in range(n)]
    cells = draw(st.lists(st.integers(0, 9), min_size=math.prod(sizes), max_size=math.prod(sizes)))
    cells[draw(st.integers(0, len(cells) - 1))] += 1
    joint = np.asarray(cells, dtype=float).reshape(sizes)
    kind = draw(st.sampled_from(["whole", "tenths", "any"]))
    number = {"whole": st.integers(-3, 3), "tenths": st.integers(-20, 20).map(lambda k: k / 10)}.get(
        kind, st.floats(-3, 3).map(lambda x: round(x, 6))
    )
    values = [draw(st.lists(number.map(float), min_size=d, max_size=d, unique=True)) for d in sizes]
    weights = [draw(st.sampled_from([1.0, 1.0, -1.0, 0.0, 2.0, 0.3])) for _ in range(n)]
    return joint / joint.sum(), values, weights, draw(st.sampled_from([0.05, 0.3, 1.0, 7.0, 300.0]))


@given(models())
@settings(max_examples=examples(60))
def test_every_adversary_agrees_with_brute_force(drawn: tuple[Any, Any, Any, float]) -> None:
    joint, values, weights, scale = drawn
    model = correlated.table(joint, values, weights)
    by_known = [0.0] * len(values)
    for i, known in brute.adversaries(values):
        truth = brute.leakage(joint, values, weights, i, known, scale)
        told = {j: values[j][v] for j, v in known.items()}
        by_known[len(known)] = max(by_known[len(known)], truth)
        if truth < 0:
            if len(known) < len(values) - 1:
                with pytest.raises(InputError, match="probability zero"):
                    model.leakage(i, told, scale=scale)
        else:
            assert model.leakage(i, told, scale=scale) == pytest.approx(truth, rel=1e-9, abs=1e-12)
    reach = [max(a * v for v in own) - min(a * v for v in own) for a, own in zip(weights, values, strict=True)]
    by_known[-1] = max(reach) / scale
    assert [w.leakage for w in model.by_known(scale=scale)] == pytest.approx(by_known, rel=1e-9, abs=1e-12)
    worst = model.worst(scale=scale)
    assert worst.leakage == pytest.approx(max(by_known), rel=1e-9, abs=1e-12)
    if worst.values is not None:
        assert model.leakage(worst.target, worst.values, scale=scale) == pytest.approx(worst.leakage, rel=1e-12)


@given(models())
@settings(max_examples=examples(25))
def test_nothing_between_the_places_exceeds_them(drawn: tuple[Any, Any, Any, float]) -> None:
    joint, values, weights, scale = drawn
    if brute.leakage(joint, values, weights, 0, {}, scale) >= 0:
        dense = brute.leakage(joint, values, weights, 0, {}, scale, dense=400)
        assert correlated.table(joint, values, weights).leakage(0, scale=scale) >= dense * (1 - 1e-9) - 1e-12


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("general", [False, True])
def test_five_records_agree_with_brute_force(seed: int, general: bool) -> None:
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.full(32, 0.4)).reshape((2,) * 5)
    weights = list(rng.normal(size=5)) if general else [1.0, 2.0, -1.0, 1.0, 3.0]
    values = [[0.0, 1.0]] * 5
    truth = max(brute.leakage(joint, values, weights, i, k, 0.8) for i, k in brute.adversaries(values))
    worst = correlated.table(joint, weights=weights).worst(scale=0.8)
    assert worst.leakage == pytest.approx(truth, rel=1e-10)


def test_both_ways_through_a_table_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a grid and on distinct sums; in blocks of any size."""
    rng = np.random.default_rng(7)
    model = correlated.table(rng.dirichlet(np.full(128, 0.3)).reshape((2,) * 7), weights=[1, 2, 1, 3, 1, 1, 2])
    grid = [w.leakage for w in model.by_known(scale=0.7)]
    for block in (1, 50, 1000):
        monkeypatch.setattr(tables, "_BLOCK", block)
        assert [w.leakage for w in model.by_known(scale=0.7)] == pytest.approx(grid, rel=1e-13)
    monkeypatch.setattr(tables, "search_cost", lambda shape, parts: (1.0, False))
    assert [w.leakage for w in model.by_known(scale=0.7)] == pytest.approx(grid, rel=1e-12)


# -- numbers far out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 0.01, 0.2, 1.0, 30.0, 1e3, 1e6])
def test_any_scale_agrees_with_many_digits(scale: float) -> None:
    """λ from 1e-3 (e^{-3000} in the tails) to 1e6 (leakage near 1e-6), to 1e-12."""
    joint = [[[8, 2], [1, 4]], [[3, 1], [5, 6]]]
    with mpmath.workdps(60):
        lam, best = mpmath.mpf(scale), mpmath.mpf(0)
        laws = [{}, {}]  # type: ignore[var-annotated]
        for x in range(2):
            for b in range(2):
                for c in range(2):
                    laws[x][x + b + c] = laws[x].get(x + b + c, 0) + mpmath.mpf(joint[x][b][c])
        total = [sum(law.values()) for law in laws]
        for r in range(4):
            at = [
                sum(p * mpmath.exp(-abs(r - s) / lam) for s, p in law.items()) / t
                for law, t in zip(laws, total, strict=True)
            ]
            best = max(best, abs(mpmath.log(at[0] / at[1])))
    assert THREE.leakage(0, scale=scale) == pytest.approx(float(best), rel=1e-12)
    assert THREE.worst(scale=scale).leakage >= float(best) * (1 - 1e-12)


def test_tiny_probabilities_keep_their_digits() -> None:
    p = 1e-200
    model = correlated.table([[0.5, p], [p, 0.5]])
    assert model.leakage(0, scale=1.0) == pytest.approx(2.0, rel=1e-12)
    assert model.leakage(0, scale=1e-3) == pytest.approx(1000 - math.log(2 * p), rel=1e-12)  # r → ∞ against 1
    assert correlated.table(np.ones((1, 1))).worst(scale=1.0).leakage == 0


def test_a_weight_of_zero_can_still_leak() -> None:
    model = correlated.table([[0.45, 0.05], [0.05, 0.45]], weights=[0, 1])
    assert model.reach[0] == 0
    assert model.leakage(0, scale=1.0) == pytest.approx(
        math.log((0.9 + 0.1 / math.e) / (0.1 + 0.9 / math.e)), rel=1e-13
    )
    assert model.leakage(0, (1,), scale=1.0) == 0


# -- size and time ----------------------------------------------------------------------------------------------------


def test_group_bound_and_independence() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        sizes = rng.integers(2, 4, size=3)
        model = correlated.table(rng.dirichlet(np.ones(int(np.prod(sizes)))).reshape(sizes))
        worst = model.worst(scale=2.0)
        assert worst.leakage <= model.reach.sum() / 2 * (1 + 1e-12)
        assert worst.leakage >= model.reach.max() / 2
    p, q, r = ([0.3, 0.7], [0.2, 0.5, 0.3], [0.9, 0.1])
    free = correlated.table(np.einsum("i,j,k->ijk", p, q, r))
    assert free.worst(scale=1.0).leakage == pytest.approx(2.0, abs=1e-13)
    assert [c.contribution for c in free.contributions(scale=1.0)] == pytest.approx([0, 0, 0], abs=1e-13)


def test_twelve_binary_records() -> None:
    rng = np.random.default_rng(1)
    model = correlated.table(rng.dirichlet(np.full(4096, 0.3)).reshape((2,) * 12))
    start = time.perf_counter()
    worst = model.worst(scale=1.0)
    assert time.perf_counter() - start < 15  # about 0.7 s on an idle core
    assert worst.complete
    assert worst.leakage == pytest.approx(model.leakage(worst.target, worst.values or {}, scale=1.0), rel=1e-12)
    assert worst.leakage >= max(model.leakage(i, scale=1.0) for i in range(12))


def test_a_time_limit_gives_a_proven_bound() -> None:
    rng = np.random.default_rng(2)
    seen: list[float] = []
    for positive in (True, False):
        joint = rng.dirichlet(np.full(2**10, 5.0)).reshape((2,) * 10)
        if not positive:
            joint[joint < 0.0005] = 0
            joint /= joint.sum()
        model = correlated.table(joint)
        early = model.worst(scale=1.0, time_limit=1e-6, progress=lambda done, words: seen.append(done))
        full = model.worst(scale=1.0)
        assert early.leakage <= full.leakage <= early.upper
        assert not early.complete
        assert full.complete
        assert "at most" in str(early)
        rows = model.by_known(scale=1.0, time_limit=1e-6)
        for some, every in zip(rows, model.by_known(scale=1.0), strict=True):
            assert some.leakage <= every.leakage * (1 + 1e-12) <= some.upper * (1 + 2e-12)
        assert seen
        assert all(0 <= s <= 1 for s in seen)
        chosen = model.choose(at_most=1.0, time_limit=1e-6)
        assert model.worst(scale=chosen.value).leakage <= 1.0


def test_too_large_without_a_time_limit() -> None:
    model = correlated.table(np.full((2,) * 18, 2.0**-18))
    with pytest.raises(InputError, match="time_limit"):
        model.worst(scale=1.0)
    found = model.worst(scale=1.0, time_limit=0.01)
    assert found.upper >= 1.0


# -- choosing, contributions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1e-6, 0.01, 0.5, 1.0, 5.0, 300.0])
def test_choose_the_scale_for_a_leakage(limit: float) -> None:
    for model in (A, THREE, KNOT):
        chosen = model.choose(at_most=limit)
        assert model.worst(scale=chosen.value).upper <= limit
        assert model.worst(scale=chosen.value * (1 - 1e-9)).leakage > limit
        assert chosen.reading <= limit
        if 0.01 <= limit <= 5:
            assert chosen.experiment.epsilon() == pytest.approx(chosen.reading, rel=1e-9)


def _success(model: JointTable, scale: float) -> float:
    best = 0.0
    for i, known in brute.adversaries([list(v) for v in model.parts.values]):
        told = {j: float(model.parts.values[j][v]) for j, v in known.items()}
        try:
            e = model.experiment(i, told, scale=scale)
        except InputError:
            continue
        best = max(best, float(e.success()))
    return best


def test_choose_the_noise_for_a_success() -> None:
    for model in (A, THREE):
        chosen = model.choose(at_most=0.6, reading="success")
        assert _success(model, chosen.value) == pytest.approx(0.6, abs=1e-10)
        assert chosen.parameter == "scale"
    weak = THREE.choose(at_most=0.6, reading="success", noise="gaussian")
    assert weak.parameter == "sigma"
    assert weak.experiment.success() <= 0.6 + 1e-12
    skewed = A.choose(at_most=0.95, reading="success", prior=0.9)
    assert 0.9 < skewed.reading <= 0.95
    delta = A.choose(at_most=0.05, reading="delta", epsilon=0.5)
    assert delta.experiment.delta(0.5) == pytest.approx(0.05, abs=1e-9)
    roc = A.choose(at_most=0.2, reading="roc", fpr=0.1)
    assert A.experiment(0, scale=roc.value).roc(0.1) <= 0.2 + 1e-12


def test_readings_fall_as_noise_grows() -> None:
    """Wider Laplace noise is narrower Laplace noise with more added, so choose may solve for the boundary."""
    for model in (A, THREE, KNOT):
        found = [model.worst(scale=s).leakage for s in np.geomspace(0.05, 50, 60)]
        assert all(b <= a * (1 + 1e-12) for a, b in pairwise(found))


def test_no_noise_for_an_impossible_limit() -> None:
    with pytest.raises(NoSolutionError, match=r"even pure noise reaches 0\.5"):
        A.choose(at_most=0.5, reading="success")
    with pytest.raises(NoSolutionError, match="even pure noise reaches 0"):
        A.choose(at_most=0.0)
    with pytest.raises(InputError, match="unbounded under Gaussian"):
        A.choose(at_most=1.0, noise="gaussian")
    with pytest.raises(InputError, match="no reading"):
        A.choose(at_most=1.0, reading="charm")
    with pytest.raises(InputError, match="no noise is needed"):
        correlated.table([[0.5, 0.5]], weights=[0, 0]).choose(at_most=1.0)


def test_contributions_are_the_worst_with_a_record_independent() -> None:
    joint = np.einsum("ij,k->ijk", [[0.45, 0.05], [0.05, 0.45]], [0.5, 0.5])
    model = correlated.table(joint, names=["a", "b", "c"])
    found = {c.name: c for c in model.contributions(scale=1.0)}
    pair = correlated.table([[0.45, 0.05], [0.05, 0.45]]).worst(scale=1.0).leakage
    assert found["c"].contribution == pytest.approx(0, abs=1e-12)
    for name in "ab":
        assert found[name].leakage == pytest.approx(pair, rel=1e-12)
        assert found[name].without == pytest.approx(1.0, rel=1e-12)
    assert found["a"].to_dict()["complete"] is True


# -- input ------------------------------------------------------------------------------------------------------------


def test_rows_frames_and_joints_are_the_same_table() -> None:
    rows = [(0, 1, 2), (1, 1, 0), (0, 0, 2), (0, 1, 2), (1, 0, 0), (1, 1, 2)]
    one = correlated.table(rows)
    frame = pd.DataFrame(rows, columns=["age", "sex", "site"])
    two = correlated.table(frame)
    three = correlated.table(rows=[list(row) for row in rows])
    four = correlated.table(
        pl.DataFrame({"age": [r[0] for r in rows], "sex": [r[1] for r in rows], "ß": [r[2] for r in rows]})
    )
    joint = np.zeros((2, 2, 2))
    for a, b, c in rows:
        joint[a, b, c // 2] += 1 / 6
    five = correlated.table(joint, values=[[0, 1], [0, 1], [0, 2]])
    expected = five.worst(scale=1.0).leakage
    for model in (one, two, three, four):
        assert model.worst(scale=1.0).leakage == pytest.approx(expected, rel=1e-12)
    assert two.names == ("age", "sex", "site")
    assert four.names[-1] == "ß"
    assert two.leakage("age", {"sex": 1}, scale=1.0) == one.leakage(0, {1: 1}, scale=1.0)
    assert correlated.table([(0.5, 0.0), (0.25, 0.25)]).joint.shape == (2, 2)  # a table of probabilities in tuples


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: correlated.table([[0.5, 0.3], [0.3, 0.3]]), "sum to 1.4: give probabilities that sum to 1"),
        (lambda: correlated.table([[0.5, -0.1], [0.3, 0.3]]), "negative probability -0.1"),
        (lambda: correlated.table([[0.5, math.nan], [0.3, 0.2]]), "joint contains NaN"),
        (lambda: correlated.table([[0.5, 0.5], [0.1]]), "different lengths"),
        (lambda: correlated.table(0.5), "sum to 0.5"),
        (lambda: correlated.table(1.0), "one axis per record"),
        (lambda: correlated.table([]), "sum to 0"),
        (lambda: correlated.table(), "either joint"),
        (lambda: correlated.table([["a"]]), "give a number or an array of numbers"),
        (lambda: correlated.table([[0.5, 0.5]], values=[[0, 1]]), "1 lists for 2 records"),
        (lambda: correlated.table([[0.5, 0.5]], values=[[0], [1, 1]]), "repeat"),
        (lambda: correlated.table([[0.5, 0.5]], values=[[0], [1, 2, 3]]), "give 2 values"),
        (lambda: correlated.table([[0.5, 0.5]], values=3), "a list of values per record"),
        (lambda: correlated.table([[0.5, 0.5]], weights=[1, 2, 3]), "one weight per record"),
        (lambda: correlated.table([[0.5, 0.5]], names=["a"]), "one name per record"),
        (lambda: correlated.table(rows=[(1, 2), (3,)]), "different lengths"),
        (lambda: correlated.table(rows=[("a", "b")]), "give a number or an array of numbers"),
        (lambda: correlated.table(rows=[(0, 1)], values=[[0], [1]]), "rows carry their own"),
        (lambda: correlated.table(rows=np.random.default_rng(0).normal(size=(400, 4))), "coarser groups"),
        (lambda: correlated.table([[0.5, 0.5]], weights=[1e308, 1e308], values=[[5], [6, 7]]), "overflows"),
        (lambda: A.leakage(0, {0: 1}, scale=1.0), "is the target and also known"),
        (lambda: A.leakage(2, scale=1.0), "target is 2"),
        (lambda: A.leakage("age", scale=1.0), "target is 'age'"),
        (lambda: A.leakage(0, {1: 7}, scale=1.0), "has no value 7: give one of 0, 1"),
        (lambda: A.leakage(0, 1, scale=1.0), "a list of records"),  # type: ignore[arg-type]
        (lambda: A.leakage(0, "1", scale=1.0), "a list of records"),
        (lambda: A.leakage(0, [1, 1], scale=1.0), "twice"),
        (lambda: A.leakage(0, scale=0.0), "scale is 0"),
        (lambda: A.leakage(0, scale=math.nan), "scale contains NaN"),
        (lambda: A.leakage(0, scale=[1.0, 2.0]), "single number"),
        (lambda: A.leakage(0, scale=1e-320), "give noise of at least"),
        (lambda: A.worst(sigma=1e-300), "give noise of at least"),
        (lambda: A.worst(), "exactly one of scale"),
        (lambda: A.worst(scale=1.0, sigma=1.0), "exactly one of scale"),
        (lambda: A.worst(scale=1.0, time_limit=0), "time_limit is 0"),
        (lambda: A.experiment(0, scale=1.0, pair=(0, 0)), "twice"),
        (lambda: A.experiment(0, scale=1.0, pair=(0, 7)), "cannot have here"),
        (lambda: A.experiment(0, scale=1.0, pair=3), "two values"),
        (lambda: correlated.table([[0.5, 0.0, 0.0], [0.0, 0.25, 0.25]]).experiment(1, {0: 0}, scale=1.0).law, None),
    ],
)
def test_bad_input_is_one_sentence(make: Any, words: str | None) -> None:
    if words is None:  # every other record known: the mechanism alone, even where this cannot happen
        make()
        return
    with pytest.raises(InputError, match=words.replace("(", r"\(")) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_known_values_of_probability_zero() -> None:
    joint = np.zeros((2, 2, 2))
    joint[0, 0], joint[1, 0] = 0.25, 0.25
    model = correlated.table(joint)
    with pytest.raises(InputError, match="record 1 = 1, which has probability zero"):
        model.leakage(0, {1: 1}, scale=1.0)
    assert model.leakage(0, {1: 1, 2: 0}, scale=1.0) == 1.0  # with everyone else known the mechanism alone decides
    assert model.leakage(1, {0: 0}, scale=1.0) == 0.0  # record 1 is always 0: nothing is left to learn
    with pytest.raises(InputError, match="nothing left to learn"):
        model.experiment(1, {0: 0}, scale=1.0)


def test_results_show_themselves() -> None:
    worst = THREE.worst(scale=1.0)
    json.dumps(worst.to_dict(), allow_nan=False)
    assert "record 1" in str(worst)
    assert worst.sentence in html.unescape(worst._repr_html_())
    assert f"{worst.examined:,} examined" in worst._repr_html_()
    assert repr(THREE) == "correlated.table(3 records of 2×2×2 values)"
    assert "leakage" not in str(THREE.choose(at_most=1.0).to_dict()["parameter"])
    assert str(THREE.choose(at_most=1.0))


def test_the_unit_of_a_grid() -> None:
    fine = answer_laws.contributions([2, 2, 3], [[0, 0.1], [0.2, 0.5], [0, 0.25, 1]], None)
    assert fine.whole
    assert fine.unit == pytest.approx(0.05)
    assert not answer_laws.contributions([2, 2], [[0, 1], [0, math.pi]], None).whole
    assert answer_laws.contributions([2], [[1e6, 1e6 + 1]], None).amounts[0].tolist() == [0, 1]


def test_two_records_of_many_values() -> None:
    rng = np.random.default_rng(3)
    joint = rng.dirichlet(np.ones(2500)).reshape(50, 50)
    model = correlated.table(joint)
    worst = model.worst(scale=5.0)
    truth = max(brute.leakage(joint, [list(range(50))] * 2, [1.0, 1.0], i, {}, 5.0) for i in range(2))
    assert worst.leakage == pytest.approx(max(truth, 49 / 5), rel=1e-9)
