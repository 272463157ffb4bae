"""Markov chains: reference sheet §C(b), agreement with the joint table, long chains, refusals."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from epsilens import correlated
from epsilens.attacks.correlated import chains as module
from epsilens.errors import InputError

P = [[0.9, 0.1], [0.2, 0.8]]
PI = [2 / 3, 1 / 3]


def test_reference_values() -> None:
    assert correlated.chain(PI, P, 2).leakage(0, scale=1.0) == pytest.approx(1.7062746464, abs=6e-11)
    assert correlated.chain(PI, P, 3).leakage(1, scale=1.0) == pytest.approx(2.4125492928, abs=6e-11)
    six = correlated.chain(PI, P, 6)
    assert six.leakage(0, scale=1.0) == pytest.approx(2.5475031752, abs=6e-11)
    assert six.leakage(5, scale=1.0) == pytest.approx(2.5475031752, abs=6e-11)
    assert six.worst(scale=1.0).leakage == pytest.approx(3.5490770654, abs=6e-11)


def test_forty_records() -> None:
    model = correlated.chain(PI, P, 40)
    start = time.perf_counter()
    worst = model.worst(scale=1.0)
    assert time.perf_counter() - start < 10  # about 0.3 s on an idle core
    assert worst.leakage == pytest.approx(4.3223532660, abs=6e-11)
    assert worst.complete
    assert worst.values is not None
    assert set(worst.values.values()) == {0.0}
    assert model.leakage(worst.target, worst.values, scale=1.0) == pytest.approx(worst.leakage, rel=1e-12)
    assert model.leakage(7, {0: 0, 14: 0}, scale=1.0) == pytest.approx(4.3223532660, abs=6e-11)
    nothing = max(model.leakage(i, scale=1.0) for i in range(15, 25))
    assert nothing == pytest.approx(4.1542705595, abs=6e-11)  # so knowing nothing is not the worst


@st.composite
def chains(draw: st.DrawFn) -> tuple[Any, Any, Any, Any, float]:
    n, d = draw(st.integers(1, 4)), draw(st.integers(2, 3))
    weight = st.integers(0, 9)

    def distribution() -> list[float]:
        raw = draw(st.lists(weight, min_size=d, max_size=d))
        raw[draw(st.integers(0, d - 1))] += 1
        return [v / sum(raw) for v in raw]

    one = draw(st.booleans())
    matrices = [[distribution() for _ in range(d)] for _ in range(1 if one else max(n - 1, 1))]
    values = [draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d, unique=True)) for _ in range(n)]
    factor = st.sampled_from([1.0, 1.0, -1.0, 0.5, 0.0, math.pi])
    weights = [draw(factor) for _ in range(n)]
    steps = matrices[0] if one or n == 1 else matrices
    return distribution(), (steps, n), values, weights, draw(st.sampled_from([0.1, 1.0, 20.0]))


@given(chains())
@settings(max_examples=examples(50))
def test_a_chain_is_its_table(drawn: tuple[Any, Any, Any, Any, float]) -> None:
    initial, (steps, n), values, weights, scale = drawn
    model = correlated.chain(initial, steps, n, values, weights)
    table = model.table()
    one, other = model.worst(scale=scale), table.worst(scale=scale)
    assert one.leakage == pytest.approx(other.leakage, rel=1e-10, abs=1e-13)
    if one.values is not None:
        assert table.leakage(one.target, one.values, scale=scale) == pytest.approx(one.leakage, rel=1e-9, abs=1e-13)
    for some, every in zip(model.by_known(scale=scale), table.by_known(scale=scale), strict=True):
        assert some.leakage <= every.leakage * (1 + 1e-10) + 1e-13
        assert every.leakage <= some.upper * (1 + 1e-10) + 1e-13
        if some.complete:
            assert some.leakage == pytest.approx(every.leakage, rel=1e-10, abs=1e-13)
    without = [{c.record: c.without for c in m.contributions(scale=scale)} for m in (model, table)]
    assert without[0] == pytest.approx(without[1], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_many_segments_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that turn about, where bounds prune little: in batches, one by one, and by the table."""
    rng = np.random.default_rng(seed)
    d = 2 + seed % 2
    steps = np.stack([np.roll(rng.dirichlet(np.full(d, 0.4), size=d), 1, axis=1) for _ in range(5)])
    steps[steps < 0.02] = 0.0
    steps /= steps.sum(axis=2, keepdims=True)
    model = correlated.chain(np.full(d, 1 / d), steps, values=rng.permutation(5)[:d], weights=[1, 2, -1, 1, 3, 1])
    batch = model.by_known(scale=0.4)
    assert model.worst(scale=0.4).leakage == pytest.approx(model.table().worst(scale=0.4).leakage, rel=1e-11)
    monkeypatch.setattr(module, "_weight_grid", lambda laws: None)
    single = model.by_known(scale=0.4)
    assert [w.upper for w in batch] == pytest.approx([w.upper for w in single], rel=1e-11)
    for some, every in zip(batch, model.table().by_known(scale=0.4), strict=True):
        assert every.leakage <= some.upper * (1 + 1e-11)


@given(chains(), st.integers(0, 3), st.sets(st.integers(0, 3)), st.lists(st.integers(0, 2), min_size=4, max_size=4))
@settings(max_examples=examples(80))
def test_one_adversary_of_a_chain(
    drawn: tuple[Any, Any, Any, Any, float], target: int, known: set[int], numbers: list[int]
) -> None:
    initial, (steps, n), values, weights, scale = drawn
    model = correlated.chain(initial, steps, n, values, weights)
    table = model.table()
    i = target % n
    told = {j: values[j][numbers[j] % len(initial)] for j in known if j < n and j != i}
    found: list[Any] = []
    for m in (model, table):
        try:
            found.append(m.leakage(i, told, scale=scale))
        except InputError as error:
            found.append(str(error))
    assert found[0] == (found[1] if isinstance(found[1], str) else pytest.approx(found[1], rel=1e-10, abs=1e-13))
    sup = [m.leakage(i, tuple(told), scale=scale) for m in (model, table)]
    assert sup[0] == pytest.approx(sup[1], rel=1e-10, abs=1e-13)


def test_experiments_of_a_chain_are_those_of_its_table() -> None:
    model = correlated.chain(PI, P, 4)
    for noise in ("scale", "sigma"):
        one, other = (m.experiment(1, {3: 1}, **{noise: 0.8}) for m in (model, model.table()))
        assert one.delta([0.0, 0.5]) == pytest.approx(other.delta([0.0, 0.5]), abs=1e-12)
    assert model.choose(at_most=1.0).value == pytest.approx(model.table().choose(at_most=1.0).value, rel=1e-10)
    pair = [m.choose(at_most=0.6, reading="success").value for m in (model, model.table())]
    assert pair[0] == pytest.approx(pair[1], rel=1e-9)


def test_a_time_limit_gives_a_proven_bound() -> None:
    model = correlated.chain(PI, P, 60)
    full = model.worst(scale=1.0)
    early = model.worst(scale=1.0, time_limit=1e-6)
    assert not early.complete
    assert early.leakage <= full.leakage <= early.upper < 60


def test_long_chains_need_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RECORDS", 10)
    with pytest.raises(InputError, match="time_limit"):
        correlated.chain(PI, P, 11).worst(scale=1.0)
    assert correlated.chain(PI, P, 11).worst(scale=1.0, time_limit=60).complete


def test_improbable_paths_do_not_vanish() -> None:
    """Probabilities of 1e-300 for a path: products are carried as logarithms."""
    p = 1e-60
    model = correlated.chain([0.5, 0.5], [[1 - p, p], [p, 1 - p]], 6)
    assert model.leakage(0, scale=1.0) == pytest.approx(6.0, rel=1e-9)
    assert model.worst(scale=0.001).leakage == pytest.approx(model.table().worst(scale=0.001).leakage, rel=1e-9)


def test_values_without_a_unit() -> None:
    values = [[0, 1], [0, math.sqrt(2)], [0, math.pi], [0, math.e], [0, 0.3]]
    model = correlated.chain(PI, P, 5, values)
    assert not model.parts.whole
    assert model.worst(scale=1.0).leakage == pytest.approx(model.table().worst(scale=1.0).leakage, rel=1e-11)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: correlated.chain([0.5, 0.6], P, 3), "initial sum to 1.1"),
        (lambda: correlated.chain([[0.5, 0.5]], P, 3), "initial has shape"),
        (lambda: correlated.chain(PI, [[0.9, 0.2], [0.2, 0.8]], 3), "a row of transition sum to 1.1"),
        (lambda: correlated.chain(PI, [[1.1, -0.1], [0.2, 0.8]], 3), "negative"),
        (lambda: correlated.chain(PI, [[0.9, 0.1]], 3), "2×2 matrix"),
        (lambda: correlated.chain(PI, [0.9, 0.1], 3), "a square matrix"),
        (lambda: correlated.chain(PI, P), "length is missing"),
        (lambda: correlated.chain(PI, P, 0), "length is 0"),
        (lambda: correlated.chain(PI, P, 2.5), "length is 2.5"),  # type: ignore[arg-type]
        (lambda: correlated.chain(PI, [P, P], 2), "length is 2 with 2 transitions"),
        (lambda: correlated.chain(PI, [[math.nan, 0.1], [0.2, 0.8]], 3), "NaN"),
        (lambda: correlated.chain(PI, P, 3).leakage(0, {0: 1}), "also known"),
        (lambda: correlated.chain([1.0, 0.0], P, 3).leakage(1, {0: 1}), "probability zero"),
        (lambda: correlated.chain(PI, P, 40).leakage(0, range(1, 30)), "combinations of values"),
        (lambda: correlated.chain(PI, P, 30).table(), "too long for a joint table"),
        (lambda: correlated.chain(PI, P, 1).without(0), "no other to keep"),
    ],
)
def test_bad_input_is_one_sentence(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_a_long_chain_without_a_unit_is_bounded() -> None:
    weights = [1 + math.sqrt(k + 2) % 1 for k in range(30)]
    model = correlated.chain(PI, P, 30, weights=weights)
    worst = model.worst(scale=1.0)
    assert not worst.complete
    assert max(weights) <= worst.leakage <= worst.upper < sum(weights)
    assert worst.values is not None
    assert model.leakage(worst.target, worst.values, scale=1.0) == pytest.approx(worst.leakage, rel=1e-10)
    with pytest.raises(InputError, match="common unit"):
        model.leakage(15, scale=1.0)
    rows = correlated.chain(PI, P, 15, weights=weights[:15]).by_known(scale=1.0)
    assert len(rows) == 15
    assert all(w.leakage <= w.upper for w in rows)


@pytest.mark.parametrize("scale", [1e-3, 1e6])
def test_any_scale(scale: float) -> None:
    model = correlated.chain(PI, P, 5)
    assert model.worst(scale=scale).leakage == pytest.approx(model.table().worst(scale=scale).leakage, rel=1e-11)


def test_out_of_time_the_named_adversary_still_knows_as_many() -> None:
    model = correlated.chain([0.5, 0.5], [[0.99, 0.01], [0.0, 1.0]], 12)
    exact = model.table().by_known(scale=1.0)
    for k, w in enumerate(model.by_known(scale=1.0, time_limit=1e-9)):
        assert len(w.known) == k
        assert w.leakage <= exact[k].leakage * (1 + 1e-9) <= w.upper * (1 + 2e-9)
