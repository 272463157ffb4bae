"""What the adversary knows, as prior odds: coefficients and facts, against exact fractions and brute force."""

from __future__ import annotations

import html
import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import any_experiment, masses

import epsilens as el
from epsilens.attacks.knowledge import Knowledge


def digits(value: float, printed: str) -> bool:
    places = len(printed.split(".")[1])
    return abs(value - float(printed)) <= 0.5000001 * 10.0**-places


# -- coefficients ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rho", "c"),
    [
        ({}, 1.0),
        ({"rho_p": 0.2}, 0.8),
        ({"rho_p": 0.2, "rho_c": 0.1}, 0.62),
        ({"rho_p": 0.2, "rho_c": 0.1, "rho_t": 0.1}, 0.458),
        ({"rho_c": 0.49}, 0.02),
    ],
)
def test_the_papers_coefficients(rho: dict[str, Any], c: float) -> None:
    known = Knowledge.from_coefficients(**rho)
    assert known.odds == pytest.approx(c, rel=1e-14)
    assert known.prior == pytest.approx(1 / (1 + c), rel=1e-15)
    other = Knowledge.from_coefficients(**rho, positive="less likely")
    assert other.odds == pytest.approx(1 / c, rel=1e-14)
    assert other.prior == pytest.approx(c / (1 + c), rel=1e-14)
    assert known.direction == ("upper" if rho.get("rho_c") or rho.get("rho_t") else "exact")


@pytest.mark.parametrize(
    ("epsilon", "alpha", "precision"),
    [
        (0.5, 0.1, ".782600571623"),
        (1.0, 0.1, ".855806246191"),
        (1.0, 0.3, ".834623964310"),
        (2.0, 0.1, ".935261521507"),
        (5.0, 0.5, ".813157471500"),
    ],
)
def test_precision_of_the_sheet(epsilon: float, alpha: float, precision: str) -> None:
    known = Knowledge.from_coefficients(rho_p=0.2, rho_c=0.1, rho_t=0.1)
    assert digits(known.of(el.laplace(epsilon=epsilon)).precision(alpha), precision)


@pytest.mark.parametrize(
    ("rho", "epsilon", "score"),
    [
        ({"rho_p": 0.2}, 2.0, ".837661654209"),
        ({"rho_p": 0.2, "rho_c": 0.1}, 2.0, ".856661322074"),
        ({"rho_p": 0.2, "rho_c": 0.1, "rho_t": 0.1}, 2.0, ".876470928684"),
        ({"rho_p": 0.2, "rho_c": 0.1, "rho_t": 0.1}, 1.0, ".813669650122"),
    ],
)
def test_f_score_of_the_sheet(rho: dict[str, Any], epsilon: float, score: str) -> None:
    assert digits(Knowledge.from_coefficients(**rho).of(el.laplace(epsilon=epsilon)).fbeta(), score)


def test_the_less_likely_class_has_less_precision() -> None:
    e = el.laplace(epsilon=1.0)
    more, even = Knowledge.from_coefficients(rho_p=0.2), Knowledge.from_coefficients()
    less = Knowledge.from_coefficients(rho_p=0.2, positive="less likely")
    assert less.odds == pytest.approx(1.25, rel=1e-14)
    assert less.of(e).precision(0.1) < even.of(e).precision(0.1) < more.of(e).precision(0.1)


@pytest.mark.parametrize(
    ("rho", "limit"),
    [
        ({"rho_p": 0.75, "rho_c": 2 / 3}, "0.2"),  # the sheet's counterexample: c = −.583
        ({"rho_c": 0.5}, "0.5"),
        ({"rho_p": 0.2, "rho_c": 0.45}, "0.4444"),
        ({"rho_p": 0.2, "rho_c": 0.3, "rho_t": 0.3}, "0.2063"),
    ],
)
def test_coefficients_no_record_has(rho: dict[str, Any], limit: str) -> None:
    with pytest.raises(el.InputError, match=f"above 1.*below {limit}"):
        Knowledge.from_coefficients(**rho)


def test_the_domain_is_exact() -> None:
    """c in exact fractions: the largest double below ½ is a coefficient, ½ is not."""
    rho = math.nextafter(0.5, 0)
    known = Knowledge.from_coefficients(rho_c=rho)
    assert known.odds == float(2 * (1 - Fraction(rho)) - 1) > 0
    assert Knowledge.from_coefficients(rho_p=math.nextafter(1, 0)).odds == 2.0**-53


@given(st.floats(0, 0.999), st.floats(0, 0.999), st.floats(0, 0.999))
def test_coefficients_everywhere(p: float, c: float, t: float) -> None:
    exact = (2 - Fraction(p)) * (1 - Fraction(c)) * (1 - Fraction(t)) - 1
    if exact > 0:
        known = Knowledge.from_coefficients(rho_p=p, rho_c=c, rho_t=t)
        assert known.odds == float(exact)
        assert 0 < known.prior <= 1
    else:
        with pytest.raises(el.InputError, match="above 1"):
            Knowledge.from_coefficients(rho_p=p, rho_c=c, rho_t=t)


@given(st.integers(2, 3), st.data())
def test_the_coefficients_of_a_table_bound_what_it_tells(size: int, data: st.DataObject) -> None:
    """ρ_p and ρ_c by their definitions: wherever c > 0 the true odds are no more lopsided than c."""
    joint = np.reshape(data.draw(masses(2 * size, zeros=False)), (2, size))
    own, other = joint.sum(axis=1), joint.sum(axis=0)
    rho_p = 1 - own.min() / own.max()
    rho_c = 1 - float(np.min(own[:, None] / (joint / other)))
    c = (2 - rho_p) * (1 - rho_c) - 1
    truth = Knowledge.from_records(joint)
    assert truth.odds == pytest.approx(float((joint / other).min() / (1 - (joint / other).min())), rel=1e-9)
    if c > 1e-9:
        assert Knowledge.from_coefficients(rho_p=rho_p, rho_c=max(rho_c, 0.0)).odds <= truth.odds * (1 + 1e-9)


# -- the trade-off stays --------------------------------------------------------------------------------------------


@given(any_experiment(), st.floats(1e-6, 1 - 1e-6), st.floats(0, 1))
def test_knowledge_never_touches_the_trade_off(e: el.Experiment, prior: float, alpha: float) -> None:
    informed = Knowledge.from_prior(prior).of(e)
    assert informed.experiment is e
    assert informed.tradeoff(alpha) == e.tradeoff(alpha)
    assert informed.success() == e.success(prior)
    assert informed.posterior() == e.posterior(prior)
    assert informed.success() >= informed.baseline * (1 - 1e-12)


@given(st.floats(0.02, 0.98), st.floats(0.2, 5.0), st.sampled_from([el.laplace, el.gaussian]))
def test_posterior_odds_are_prior_odds_times_a_constant(prior: float, size: float, build: Any) -> None:
    """The likelihood ratio at one point of the curve, read off the precision at two priors, is the same."""
    e = build(epsilon=size) if build is el.laplace else build(psi=size)
    known = Knowledge.from_prior(prior)
    informed, even = known.of(e).precision(0.1), e.precision(0.1)
    assert informed / (1 - informed) == pytest.approx(even / (1 - even) / known.odds, rel=1e-9)


# -- facts ----------------------------------------------------------------------------------------------------------


def test_a_prior_over_values() -> None:
    prior = {"a": 0.5, "b": 0.3, "c": 0.2}
    worst = Knowledge.from_values(prior)
    assert worst.odds == pytest.approx(0.4, rel=1e-15)
    assert (worst.h0, worst.h1) == ("the person's record has the value c", "the person's record has the value a")
    assert Knowledge.from_values(prior, positive="less likely").odds == pytest.approx(2.5, rel=1e-15)
    between = Knowledge.from_values([0.5, 0.3, 0.2], ["a", "b", "c"], pair=("a", "b"))
    assert between.prior == pytest.approx(0.375, rel=1e-15)
    assert between.probabilities == (0.5, 0.3, 0.2)
    assert Knowledge.from_values([0.5, 0.5]).odds == 1.0
    assert Knowledge.from_values([0.0, 0.2, 0.8]).odds == pytest.approx(0.25)  # an impossible value is no alternative
    assert Knowledge.from_values([1e-300, 1 - 1e-300], pair=(1, 0)).prior == pytest.approx(1e-300, rel=1e-12)


JOINT = np.array([[[0.02, 0.08], [0.2, 0.1]], [[0.3, 0.1], [0.15, 0.05]]])


def test_a_joint_table_against_counting() -> None:
    for known in ({}, {1: 0}, {2: 1}, {1: 1, 2: 0}):
        cells = [
            (i, JOINT[i, j, k])
            for i, j, k in itertools.product((0, 1), repeat=3)
            if known.get(1, j) == j and known.get(2, k) == k
        ]
        ones = sum(x for i, x in cells if i == 1)
        got = Knowledge.from_records(JOINT, known, pair=(0, 1))
        assert got.prior == pytest.approx(ones / sum(x for _, x in cells), rel=1e-14)
    named = Knowledge.from_records(
        JOINT,
        {"mother": "ill"},
        target="child",
        records=["child", "father", "mother"],
        values=[["well", "ill"]] * 3,
        pair=("well", "ill"),
    )
    assert named.prior == pytest.approx(0.15 / 0.33, rel=1e-14)
    assert "mother = ill" in named.sentence


def test_the_worst_the_records_can_say() -> None:
    """The sheet's table: ρ_p = .75 and ρ_c = 2/3 are refused, the true maximum of the odds is 14."""
    joint = [[0.1, 0.7], [0.15, 0.05]]
    assert 1 / Knowledge.from_records(joint).odds == pytest.approx(14, rel=1e-14)
    brute = max((JOINT[i, j, k] / JOINT[1 - i, j, k], (j, k)) for i, j, k in itertools.product((0, 1), repeat=3))
    worst = Knowledge.from_records(JOINT)
    assert 1 / worst.odds == pytest.approx(brute[0], rel=1e-14)
    pair = Knowledge.from_records(JOINT, pair=(1, 0))
    assert 1 / pair.odds == pytest.approx(float((JOINT[0] / JOINT[1]).max()), rel=1e-14)


def test_a_conditional_table() -> None:
    table = {"smoker": [0.4, 0.6], "other": [0.1, 0.9], "never": [0.0, 0.0]}
    assert Knowledge.from_table(table, "smoker", ["ill", "well"], pair=("well", "ill")).prior == pytest.approx(0.4)
    with pytest.raises(el.InputError, match="contradicts itself"):
        Knowledge.from_table(table, "never")
    with pytest.raises(el.InputError, match="give one of 'smoker'"):
        Knowledge.from_table(table, "pipe")


def paths(initial: Any, transition: Any, length: int, at: int, observed: dict[int, int]) -> np.ndarray:
    """P(state at t | observed) by adding up every path."""
    k = len(initial)
    total = np.zeros(k)
    for path in itertools.product(range(k), repeat=length):
        if all(path[t] == s for t, s in observed.items()):
            p = initial[path[0]]
            for a, b in itertools.pairwise(path):
                p *= transition[a][b]
            total[path[at]] += p
    return np.asarray(total / total.sum())


@given(st.integers(2, 3), st.integers(0, 4), st.data())
def test_a_chain_against_every_path(k: int, at: int, data: st.DataObject) -> None:
    initial = data.draw(masses(k, zeros=False))
    transition = [data.draw(masses(k, zeros=False)) for _ in range(k)]
    times = data.draw(st.sets(st.integers(0, 4).filter(lambda t: t != at), max_size=4))
    observed = {t: data.draw(st.integers(0, k - 1)) for t in times}
    want = paths(initial, transition, 5, at, observed)
    got = Knowledge.from_chain(initial, transition, at=at, observed=observed, pair=(0, 1))
    assert got.probabilities == pytest.approx(want, rel=1e-9)
    assert got.prior == pytest.approx(want[1] / (want[0] + want[1]), rel=1e-9)


def test_a_long_chain_forgets() -> None:
    sticky = [[0.9, 0.1], [0.2, 0.8]]
    far = Knowledge.from_chain([0.5, 0.5], sticky, at=10**6, observed={0: 1}, pair=(0, 1))
    assert far.prior == pytest.approx(1 / 3, rel=1e-12)
    near = Knowledge.from_chain([0.5, 0.5], sticky, at=10**6, observed={0: 1, 10**6 - 1: 1, 10**6 + 1: 1}, pair=(0, 1))
    assert near.prior == pytest.approx(0.64 / 0.66, rel=1e-12)


def test_a_chain_of_tiny_probabilities() -> None:
    """Three steps of 1e-200 are no double any more; their odds still are."""
    tiny = 1e-200
    chain = [[1 - tiny, tiny], [tiny, 1 - tiny]]
    known = Knowledge.from_chain([1.0, 0.0], chain, at=1, observed={2: 1, 3: 0, 4: 1}, pair=(0, 1))
    assert known.prior == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Knowledge.from_coefficients(rho_p=1.0), "rho_p is 1: give a coefficient from 0 to below 1"),
        (lambda: Knowledge.from_coefficients(rho_c=-0.1), "rho_c is -0.1"),
        (lambda: Knowledge.from_coefficients(rho_t=math.nan), "rho_t contains NaN"),
        (lambda: Knowledge.from_coefficients(rho_p=[0.1, 0.2]), "rho_p has shape"),  # type: ignore[arg-type]
        (lambda: Knowledge.from_coefficients(rho_p="0.1"), "rho_p is '0.1'"),  # type: ignore[arg-type]
        (lambda: Knowledge.from_coefficients(positive="yes"), "positive is 'yes'"),
        (lambda: Knowledge.from_prior(1.0), "strictly between 0 and 1"),
        (lambda: Knowledge.from_prior([0.5, 0.5]), "prior has shape"),  # type: ignore[arg-type]
        (lambda: Knowledge.from_values([0.5, 0.6]), "sums to 1.1"),
        (lambda: Knowledge.from_values([1.0]), "two values or more"),
        (lambda: Knowledge.from_values([]), "two values or more"),
        (lambda: Knowledge.from_values([0.5, math.nan]), "NaN"),
        (lambda: Knowledge.from_values([0.0, 1.0]), "nothing is left to guess"),
        (lambda: Knowledge.from_values([0.0, 0.5, 0.5], pair=(0, 1)), "probability 0"),
        (lambda: Knowledge.from_values([0.5, 0.5], pair=(0, 0)), "twice"),
        (lambda: Knowledge.from_values([0.5, 0.5], pair=(0, 7)), "pair is 7"),
        (lambda: Knowledge.from_values([0.5, 0.5], pair=3), "pair is 3"),  # type: ignore[arg-type]
        (lambda: Knowledge.from_values([0.5, 0.5], ["ä", "ä"]), "twice"),
        (lambda: Knowledge.from_values({"a": 0.5, "b": 0.5}, ["a", "b"]), "leave out values"),
        (lambda: Knowledge.from_records([[0.5, 0.5], [0.0, 0.0]], {0: 1}, target=1), "contradicts itself"),
        (lambda: Knowledge.from_records([[0.5, 0.0], [0.0, 0.5]], {1: 1}), "only possible value"),
        (lambda: Knowledge.from_records([[0.5, 0.0], [0.0, 0.5]]), "only possible value"),
        (lambda: Knowledge.from_records([[0.5, 0.1], [0.2, 0.2]], {0: 1}), "the target itself"),
        (lambda: Knowledge.from_records([[0.5, 0.1], [0.2, 0.2]], {5: 1}), "no record"),
        (lambda: Knowledge.from_records([[0.5, 0.1], [0.2, 0.3]]), "sums to 1.1"),
        (lambda: Knowledge.from_records(0.5), "axis for each record"),
        (
            lambda: Knowledge.from_chain([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]], at=1, observed={0: 0, 2: 1}),
            "contradicts",
        ),
        (lambda: Knowledge.from_chain([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], at=1, observed={0: 1}), "contradicts"),
        (lambda: Knowledge.from_chain([0.5, 0.5], [[0.9, 0.2], [0.5, 0.5]], at=1), "a row of transition sums to 1.1"),
        (lambda: Knowledge.from_chain([0.5, 0.5], [[1.0]], at=1), "transition has shape"),
        (lambda: Knowledge.from_chain([0.5, 0.5], [[0.9, 0.1], [0.5, 0.5]], at=1.5), "at is 1.5"),  # type: ignore[arg-type]
        (lambda: Knowledge.from_chain([0.5, 0.5], [[0.9, 0.1], [0.5, 0.5]], at=1, observed={1: 0}), "in question"),
        (lambda: Knowledge.from_table({}, "x"), "give a mapping"),
        (lambda: Knowledge.from_prior(0.5).of("laplace"), "experiment is 'laplace'"),  # type: ignore[arg-type]
    ],
)
def test_one_sentence_for_what_is_wrong(build: Any, words: str) -> None:
    with pytest.raises(el.InputError) as refused:
        build()
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_it_shows_itself() -> None:
    known = Knowledge.from_coefficients(rho_p=0.2, rho_c=0.1, rho_t=0.1)
    assert "at most 0.6859, from ρ_p = 0.2, ρ_c = 0.1 and ρ_t = 0.1" in str(known)
    assert json.loads(json.dumps(known.to_dict(), allow_nan=False))["odds"] == known.odds
    assert known.sentence in html.unescape(known._repr_html_())
    informed = Knowledge.from_values({"a": 0.5, "<b>": 0.5}).of(el.gaussian(psi=1.0))
    assert "prior" in str(informed)
    assert "<b>:" not in informed._repr_html_()
    json.dumps(informed.to_dict(), allow_nan=False)
    with pytest.raises(AttributeError):
        known.odds = 2.0  # type: ignore[misc]
