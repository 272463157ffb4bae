"""Each notion's ε by enumeration: against plain loops, at the reference values, over the whole range of ε."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.notions import naive

import epsilens as el
from epsilens import notions as n

WORLDS = [(seed, kind) for seed in range(12) for kind in naive.KINDS]


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("seed", "kind"), WORLDS)
def test_agrees_with_plain_loops(seed: int, kind: str) -> None:
    rng = np.random.default_rng([seed, naive.KINDS.index(kind)])
    m = naive.mechanism(rng, zeros=seed % 3 == 0)
    p = naive.prior(rng, m, kind)
    groups = n.dependent_groups(m, p)
    if kind == "independent":
        assert groups == [(i,) for i in range(m.records)]
    if kind == "pairs" and m.records == 3:
        assert groups == [(0, 1), (2,)]
    assert n.dp(m) == near(naive.dp(m))
    assert n.inferential(m, p) == near(naive.inferential(m, p))
    assert n.pufferfish(m, p) == near(naive.inferential(m, p))
    assert n.inferential(m, p, level="database") == near(naive.databases(m, p))
    assert n.dependent(m, p) == near(naive.dependent(m, p, groups))
    assert n.dependent(m, p, size=1) == near(naive.dependent(m, p, groups, 1))
    for direction in ("both", "positive", "negative"):
        assert n.membership(m, p, direction) == near(naive.membership(m, p, direction))
    every = {str(d): [d] for d in m.databases}  # whole databases one by one, each beside all others
    assert n.membership(m, p, level="database") == near(n.membership(m, p, events=every))
    assert n.membership(m, p, "positive", "database") == near(n.membership(m, p, "positive", events=every))
    for given in ("others", "nothing"):
        assert n.mutual_information(m, p, given) == near(naive.information(m, p, given))


@pytest.mark.parametrize("seed", range(25))
def test_blowfish_agrees_with_sets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = naive.mechanism(rng, zeros=seed % 4 == 0)
    pairs: set[frozenset[Any]] = {frozenset(e) for e in [(0, 1), (1, 2), (0, 2)] if rng.random() < 0.6} or {
        frozenset((0, 1))
    }
    kept = {d for d in m.databases if rng.random() < 0.6} or set(m.databases)

    def edge(x: Any, y: Any) -> bool:
        return frozenset((x, y)) in pairs

    everything = naive.blowfish(m, edge, lambda d: True)
    assert n.blowfish(m, edge) == near(everything)
    assert n.blowfish(m, edge, lambda d: True) == near(everything)
    assert n.blowfish(m, [(min(e), max(e)) for e in pairs], kept) == near(naive.blowfish(m, edge, lambda d: d in kept))
    assert n.blowfish(m) == near(n.dp(m))
    assert n.blowfish(m, None, kept) == near(naive.blowfish(m, lambda x, y: True, lambda d: d in kept))


def test_reference_laplace_bit() -> None:
    """A fair bit with Laplace noise of m = 1: the sheet's ε_MP and information, here from a fine cut of the line."""
    m, p = n.examples.laplace_bit(1.0)
    assert n.membership(m, p) == pytest.approx(0.620114506958, rel=1e-11)
    assert n.inferential(m, p) == pytest.approx(1.0, rel=1e-13)
    # cutting loses a term in h²: two cuts and Richardson's extrapolation reach the exact value
    coarse, fine = (n.mutual_information(*n.examples.laplace_bit(1.0, cells)) for cells in (1000, 2000))
    exact = fine + (fine - coarse) / 3
    assert coarse < fine < 0.0885196402013
    assert exact == pytest.approx(0.0885196402013, rel=1e-11)
    assert exact <= n.membership(m, p)


def test_reference_by_quadrature() -> None:
    """The same number from the two densities themselves."""

    def density(y: Any) -> Any:
        f, g = mpmath.exp(-abs(y)) / 2, mpmath.exp(-abs(y - 1)) / 2
        return (f * mpmath.log(2 * f / (f + g)) + g * mpmath.log(2 * g / (f + g))) / 2

    value = mpmath.quad(density, [-60, -20, -5, 0, 1, 6, 20, 60])
    assert float(value) == pytest.approx(0.0885196402013, rel=1e-11)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e-3, 1.0, 30.0, 700.0, 1e4])
def test_whole_range(epsilon: float) -> None:
    xor, p = n.examples.xor(epsilon)
    assert n.dp(xor) == epsilon
    assert n.inferential(xor, p) == 0
    assert n.inferential(xor, p, level="database") == epsilon
    coin, p = n.examples.coin(epsilon)
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        belief = mpmath.log((1 + mpmath.exp(e)) / 2)
        q = 1 / (1 + mpmath.exp(e))
        told = mpmath.log(2) + q * mpmath.log(q) + (1 - q) * mpmath.log1p(-q)
        if epsilon < 1e-6:
            belief, told = e / 2 + e * e / 8, e * e / 8
    assert n.membership(coin, p) == pytest.approx(float(belief), rel=1e-12)
    assert n.mutual_information(coin, p) == pytest.approx(float(told), rel=1e-12)
    noisy = n.noisy_sum(epsilon, records=2, values=(0, 1, 2))
    assert n.dp(noisy) == pytest.approx(epsilon, rel=1e-14)
    assert n.inferential(noisy, n.uniform(noisy), "database") == pytest.approx(2 * epsilon, rel=1e-14)
    assert noisy.matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-13)
    line = n.laplace_sum(epsilon, records=2, values=(0, 0.3, 1), cells=50)
    assert n.dp(line) == pytest.approx(epsilon, rel=1e-14)
    assert line.matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-13)


def test_a_small_epsilon_in_a_matrix_keeps_its_digits() -> None:
    p = 0.5 + 2.0**-42
    m = n.Mechanism([[p, 1 - p], [1 - p, p]])
    assert n.dp(m) == pytest.approx(math.log1p(2.0**-40 / (1 - 2.0**-41)), rel=1e-12)


def test_several_priors_take_the_worst() -> None:
    m, p = n.examples.xor(1.0)
    known = n.product(m, [0.5, 0.5], [1.0, 0.0])
    assert n.inferential(m, [p, known]) == pytest.approx(1.0)
    assert n.pufferfish(m, np.array([p, known])) == pytest.approx(1.0)
    assert n.inferential(m, {(0, 0): 0.5, (1, 0): 0.5}) == pytest.approx(1.0)
    assert n.inferential(m, {(0, 0): 1}) == 0  # nothing left to infer


def test_impossible_answers_and_events() -> None:
    m = n.Mechanism([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert n.dp(m) == math.inf
    assert n.membership(m, [0.5, 0.5]) == math.inf
    assert n.mutual_information(m, [0.5, 0.5]) == pytest.approx(math.log(2), rel=1e-14)
    assert n.mutual_information(m, [1.0, 0.0]) == 0
    assert n.dp(n.Mechanism([[1.0, 0.0], [1.0, 0.0]])) == 0
    secrets = {"set": lambda d: d[0] == 1, "clear": lambda d: d[0] == 0, "never": lambda d: False}
    assert n.pufferfish(m, [1.0, 0.0], secrets) == 0  # only one of the two can be true
    assert n.pufferfish(m, [0.5, 0.5], secrets, [("set", "clear")]) == math.inf


def test_order_of_databases_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    m = naive.mechanism(rng)
    p = naive.prior(rng, m, "any")
    order = rng.permutation(len(m.databases))
    other = n.Mechanism(m.matrix[order], [m.databases[i] for i in order])
    assert n.inferential(other, np.asarray(p)[order]) == pytest.approx(n.inferential(m, p))
    assert n.blowfish(other, [(0, 1)]) == pytest.approx(n.blowfish(m, [(0, 1)]))


def test_sampling_agrees() -> None:
    """The matrix is what the mechanism does: 400,000 draws of a noisy sum, within five standard errors."""
    rng = np.random.default_rng(1)
    m = n.noisy_sum(0.7, records=3)
    a, draws = math.exp(-0.7), 400_000
    noise = rng.geometric(1 - a, draws) - rng.geometric(1 - a, draws)
    told = np.clip(2 + noise, 0, 3)
    row = m.matrix[m.databases.index((1, 0, 1))]
    shares = np.bincount(told, minlength=4) / draws
    assert np.all(np.abs(shares - row) < 5 * np.sqrt(row * (1 - row) / draws))


XOR, FAIR = n.examples.xor(1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: n.Mechanism([[0.5, 0.6], [0.5, 0.5]]), "row 1 sums to 1.1"),
        (lambda: n.Mechanism([[1.5, -0.5], [0.5, 0.5]]), "between 0 and 1"),
        (lambda: n.Mechanism([[math.nan, 1], [0.5, 0.5]]), "NaN"),
        (lambda: n.Mechanism([0.5, 0.5]), "shape"),
        (lambda: n.Mechanism([]), "shape"),
        (lambda: n.Mechanism([[1], [1, 0]]), "different lengths"),
        (lambda: n.Mechanism([["a", "b"]]), "number"),
        (lambda: n.Mechanism([[1.0], [1.0], [1.0]]), "give databases"),
        (lambda: n.Mechanism([[1.0], [1.0], [1.0]], [(0, 0), (0, 1), (1, 0)]), "every combination"),
        (lambda: n.Mechanism([[1.0], [1.0]], [(0,), (0,)]), "every combination"),
        (lambda: n.Mechanism([[1.0], [1.0]], [(0,), (0, 1)]), "lengths"),
        (lambda: n.Mechanism([[1.0], [1.0]], [(0,)]), "one for each row"),
        (lambda: n.Mechanism([[1.0], [1.0]], outputs=["a", "b"]), "one for each column"),
        (lambda: n.Mechanism([[1.0], [1.0]], [([],), ({},)]), "plain values"),  # type: ignore[list-item]
        (lambda: n.inferential(XOR, [0.5, 0.5]), "one for each of 4"),
        (lambda: n.inferential(XOR, [0.5, 0.5, 0.5, 0.5]), "prior sums to 2"),
        (lambda: n.inferential(XOR, [1.5, -0.5, 0, 0]), "between 0 and 1"),
        (lambda: n.inferential(XOR, [math.nan, 1, 0, 0]), "NaN"),
        (lambda: n.inferential(XOR, [[0.25] * 4, [0.5] * 4]), "prior 2 sums to 2"),
        (lambda: n.inferential(XOR, []), "empty"),
        (lambda: n.inferential(XOR, {(0, 2): 1.0}), "(0, 2)"),
        (lambda: n.inferential(XOR, FAIR, level="row"), "level"),
        (lambda: n.membership(XOR, FAIR, "sideways"), "direction"),
        (lambda: n.membership(XOR, FAIR, level="database", events={"a": [(0, 0)]}), "events"),
        (lambda: n.mutual_information(XOR, FAIR, given="something"), "given"),
        (lambda: n.dependent(XOR, FAIR, size=3), "size"),
        (lambda: n.pufferfish(XOR, FAIR, pairs=[("a", "b")]), "without secrets"),
        (lambda: n.pufferfish(XOR, FAIR, {"a": [(0, 0)]}, [("a", "ü")]), "'ü'"),
        (lambda: n.pufferfish(XOR, FAIR, {"a": [(0, 0)]}, ["abc"]), "pairs of names"),  # type: ignore[list-item]
        (lambda: n.pufferfish(XOR, FAIR, {"a": [(0, 0)], "b": [(0, 0), (1, 1)]}, [("a", "b")]), "both be true"),
        (lambda: n.blowfish(XOR, None, lambda d: False), "true of no database"),
        (lambda: n.blowfish(XOR, None, [(7, 7)]), "(7, 7)"),
        (lambda: n.blowfish(XOR, [(0, 0)]), "pair of different values"),
        (lambda: n.blowfish(XOR, 3), "graph"),  # type: ignore[arg-type]
        (lambda: n.product(XOR, [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]), "marginals"),
        (lambda: n.product(XOR, [0.5, 0.2, 0.3]), "marginal 1"),
        (lambda: n.product(XOR, [0.5, 0.6]), "sums to 1.1"),
        (lambda: n.randomized_response(0.0, of=sum, records=1), "epsilon"),
        (lambda: n.randomized_response(math.nan, of=sum, records=1), "NaN"),
        (lambda: n.noisy_sum([1.0, 2.0], records=1), "single number"),  # type: ignore[arg-type]
        (lambda: n.noisy_sum(1.0, records=0), "records"),
        (lambda: n.noisy_sum(1.0, records=30), "fewer records"),
        (lambda: n.noisy_sum(1.0, records=1, values=(0, 0.5)), "whole"),
        (lambda: n.noisy_sum(1.0, records=1, values=(0, 10**9)), "closer together"),
        (lambda: n.noisy_sum(1.0, records=1, values=("a", "b")), "values"),
        (lambda: n.noisy_sum(1.0, records=1, values=(3,)), "at least two"),
        (lambda: n.noisy_sum(1.0, records=1, values=(3, 3)), "different values"),
        (lambda: n.noisy_sum(1.0, records=2, values=[(0, 1)]), "one for each record"),
        (lambda: n.noisy_sum(1.0, records=1, values=5), "values"),  # type: ignore[arg-type]
        (lambda: n.laplace_sum(1.0, records=1, cells=0), "cells"),
        (lambda: n.laplace_sum(1.0, records=10, cells=100_000), "cells"),
        (lambda: n.Mechanism.of(lambda d: [0.5, 0.4], records=1), "sums to 0.9"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(el.InputError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)


any_: Any = n  # the types would forbid what is tried here


@pytest.mark.parametrize(
    "call",
    [
        lambda: any_.dp(0),
        lambda: any_.blowfish(None),
        lambda: any_.blowfish(None, constraint=lambda d: True),
        lambda: any_.dependent("m", [0.5, 0.5]),
        lambda: any_.dependent_groups([], [0.5, 0.5]),
        lambda: any_.inferential(0.5, [0.5, 0.5]),
        lambda: any_.membership(0.5, np.array([[0.1]])),
        lambda: any_.mutual_information(0.5, [0.5, 0.5]),
        lambda: any_.pufferfish(0, [0.5, 0.5]),
        lambda: any_.pufferfish(any_.noisy_sum(1.0, records=1), [0.5, 0.5], secrets=0),
        lambda: any_.pufferfish(any_.noisy_sum(1.0, records=1), [0.5, 0.5], secrets={}, pairs=0),
        lambda: any_.Mechanism([[0.5, 0.5], [0.2, 0.8]], outputs=0),
        lambda: any_.noisy_sum(1.0, records=1, values=np.array([[0.1]])),
        lambda: any_.randomized_response(1.0, of=0, records=1),
    ],
)
def test_a_sentence_for_what_is_no_mechanism(call: Any) -> None:
    with pytest.raises(el.InputError, match="give"):
        call()


@pytest.mark.parametrize("name", [["roc"], 3, None])
def test_what_sentences_call_an_argument_by_is_text(name: Any) -> None:
    made = el.notions.noisy_sum(epsilon=1.0, records=2)
    for act in (made.prior, made.event):
        with pytest.raises(el.InputError, match="give a text"):
            act([0.25] * 4, name)
