"""Shuffled answers against every output of small shuffles, and the reference sheet."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

import epsilens as el
from epsilens.checks import Array
from epsilens.errors import InputError
from epsilens.mechanisms.shuffle import MOST_PEOPLE, _by_tilts, _sums, ternary_profile
from epsilens.readings.law import Exactness

# -- brute force: every histogram, for all values of the others ---------------------------------------------------


def response(k: int, epsilon: float) -> Array:
    """Row x: how likely each answer is if the value is x."""
    table = np.full((k, k), 1.0)
    np.fill_diagonal(table, math.exp(epsilon))
    return table / (math.exp(epsilon) + k - 1)


def histograms(table: Array, values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The law of the counts of answers."""
    law = {(0,) * table.shape[1]: 1.0}
    for value in values:
        grown: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, mass in law.items():
            for answer, p in enumerate(table[value]):
                grown[tuple(c + (i == answer) for i, c in enumerate(counts))] += mass * p
        law = grown
    return law


def pairs(table: Array, n: int) -> Iterator[tuple[tuple[int, ...], Array, Array]]:
    """(values of the others, H0, H1) for the person's values 0 and 1."""
    for others in itertools.combinations_with_replacement(range(table.shape[0]), n - 1):
        h0, h1 = (histograms(table, (*others, person)) for person in (0, 1))
        both = sorted(h0)
        yield others, np.array([h0[c] for c in both]), np.array([h1[c] for c in both])


def delta(h0: Array, h1: Array, epsilon: Array) -> Array:
    """The worse of both orders."""
    t = np.exp(epsilon)[:, None]
    return np.asarray(np.maximum(np.maximum(h1 - t * h0, 0).sum(axis=1), np.maximum(h0 - t * h1, 0).sum(axis=1)))


SMALL = [(k, n) for k in (2, 3, 4) for n in range(1, 7) if (k, n) != (4, 6)]


@pytest.mark.parametrize(("k", "n"), SMALL)
@pytest.mark.parametrize("epsilon", [0.3, 1.5, 4.0])
def test_the_bracket_holds_the_worst_values_of_the_others(k: int, n: int, epsilon: float) -> None:
    at = np.linspace(0.0, 0.99 * epsilon, 12)
    worst = np.max([delta(h0, h1, at) for _, h0, h1 in pairs(response(k, epsilon), n)], axis=0)
    low, high = el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=epsilon, k=k), n=n).bracket(
        "delta", epsilon=at
    )
    assert np.all(low <= worst * (1 + 1e-9))
    assert np.all(high >= worst * (1 - 1e-12))
    assert np.all(high <= worst * (1.0005 if k == 2 else 1.25))  # and it is no empty bound
    assert np.all(el.mechanisms.shuffled(epsilon, n=n).delta(at) >= worst * (1 - 1e-12))


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_holds_for_any_randomiser(seed: int) -> None:
    rng, epsilon, n = np.random.default_rng(seed), 1.0, 4
    table = np.exp(rng.choice([0.0, epsilon / 2], size=(3, 4)))
    table /= table.sum(axis=1, keepdims=True)
    local = float(np.log(table.max(axis=0) / table.min(axis=0)).max())
    at = np.linspace(0.0, 0.95 * local, 10)
    worst = np.max([delta(h0, h1, at) for _, h0, h1 in pairs(table, n)], axis=0)
    assert np.all(el.mechanisms.shuffled(local, n=n).delta(at) >= worst * (1 - 1e-12))


def test_all_others_with_a_third_value_are_not_the_worst_case() -> None:
    """Two people, three answers: if the other one holds the first value, two reports of it say more.

    The pair in which all others hold a third value is attained, and so a lower end, but no upper bound.
    """
    e, at = math.exp(1.5), np.array([1.4])
    same, third = (next(delta(h0, h1, at) for o, h0, h1 in pairs(response(3, 1.5), 2) if o == (v,)) for v in (0, 2))
    assert same[0] > 3 * third[0]
    assert float(same[0]) == pytest.approx(e * (e - math.exp(1.4)) / (e + 2) ** 2, rel=1e-12)
    low, high = el.mechanisms.shuffled(1.5, n=2, answers=3).bracket("delta", epsilon=1.4)
    assert low == pytest.approx(float(third[0]), rel=1e-9)
    assert high == pytest.approx(float(same[0]), rel=1e-9)


# -- the reference sheet --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "epsilon", "expected"), [(1000, 1, 0.182412), (10**4, 2, 0.155045), (10**4, 4, 0.600909)]
)
def test_the_sheets_bound_for_any_randomiser(n: int, epsilon: float, expected: float) -> None:
    e = el.mechanisms.shuffled(epsilon, n=n)
    assert e.law.known is Exactness.BOUND
    assert e.epsilon(1e-6) == pytest.approx(expected, abs=6e-7)
    assert e.epsilon() == epsilon  # shuffling promises nothing more without a δ


def test_others_may_hold_values_further_apart() -> None:
    """Two people, one at 0 or 0.01 and the other at 1, thirty scales of the noise away: no order hides who is who."""
    near = el.laplace(epsilon=30.0, shift=0.01)
    assert near.advantage() > 1.4 * float(el.mechanisms.shuffled(0.3, n=2).advantage())
    far = el.mechanisms.geometric(epsilon=1.0, sensitivity=2, shift=1)
    for one in (near, el.compose(near, el.laplace(epsilon=1.0)), far):
        with pytest.raises(InputError, match="shift is less than the sensitivity"):
            el.mechanisms.shuffled(one, n=2)
    whole = el.mechanisms.shuffled(el.laplace(epsilon=0.3), n=20)
    assert whole.advantage() == el.mechanisms.shuffled(0.3, n=20).advantage()


def test_three_answers_of_the_sheet_are_exact() -> None:
    low, high = el.mechanisms.shuffled(1.0, n=1000, answers=3).bracket("epsilon", delta=1e-6)
    assert low == pytest.approx(0.130566, abs=6e-7)
    assert low < high < low * (1 + 1e-6)


@pytest.mark.parametrize(("n", "epsilon", "k", "expected"), [(1000, 1, 10, 0.080095), (10**4, 2, 10, 0.079792)])
def test_more_answers_of_the_sheet_are_exceeded(n: int, epsilon: float, k: int, expected: float) -> None:
    """Who looks at the counts of two values alone reaches the sheet's number; the other counts tell more."""
    low, high = el.mechanisms.shuffled(epsilon, n=n, answers=k).bracket("epsilon", delta=1e-6)
    assert expected + 5e-6 < low < high < 1.003 * low


@pytest.mark.parametrize(("n", "k", "epsilon"), [(8, 4, 1.0), (7, 4, 2.0), (7, 5, 1.0)])
def test_others_with_one_third_value_are_attained(n: int, k: int, epsilon: float) -> None:
    at = np.array([0.0, 0.1, 0.3, 0.6, 0.9]) * epsilon
    h0, h1 = (histograms(response(k, epsilon), (*(2,) * (n - 1), person)) for person in (0, 1))
    full = delta(np.array([h0[c] for c in sorted(h0)]), np.array([h1[c] for c in sorted(h0)]), at)
    merged: list[dict[tuple[int, ...], float]] = [defaultdict(float), defaultdict(float)]
    for into, law in zip(merged, (h0, h1), strict=True):
        for counts, mass in law.items():
            into[counts[:2]] += mass
    both = sorted(merged[0])
    alone = delta(np.array([merged[0][c] for c in both]), np.array([merged[1][c] for c in both]), at)
    low, high = el.mechanisms.shuffled(epsilon, n=n, answers=k).bracket("delta", epsilon=at)
    assert np.allclose(low, full, rtol=1e-9, atol=1e-15)
    assert np.all(full <= np.asarray(high) * (1 + 1e-12))
    assert np.any(full > alone * 1.001)  # an attack that beats the counts of the two values


def test_forty_people() -> None:
    e = el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=1.5, k=3), n=40)
    for epsilon, expected in ((0.3, 0.0310661), (0.6, 0.00416575)):
        low, high = e.bracket("delta", epsilon=epsilon)
        assert low == pytest.approx(expected, rel=2e-6)
        assert low < high < low * (1 + 1e-6)


# -- many people ----------------------------------------------------------------------------------------------------


def test_what_is_rounded_is_rounded_against_the_defender() -> None:
    """The lattice and the stretches of cells, beside every outcome of the same pair."""
    from epsilens.mechanisms import shuffle
    from epsilens.mechanisms import shuffle as signs

    cells = shuffle._clone_cells(1.0, 300)
    masses = np.concatenate([mass for mass, _ in cells.outcomes()])
    losses = np.concatenate([loss for _, loss in cells.outcomes()])
    h1, h0 = 2 * masses / (1 + np.exp(-losses)), 2 * masses / (1 + np.exp(losses))
    at = np.array([0.0, 0.1, 0.3, 0.6, 0.9])
    exact = np.array([np.maximum(h1 - math.exp(a) * h0, 0).sum() + max(1 - math.exp(a), 0) for a in at])
    most, signs._MOST_ATOMS = signs._MOST_ATOMS, 10
    try:
        above, below = signs.upper_pair(cells).profile(at), signs.lower_pair(cells).profile(at)
    finally:
        signs._MOST_ATOMS = most
    assert np.all(below <= exact * (1 + 1e-12))
    assert np.all(exact <= above * (1 + 1e-12))
    assert np.all(above <= below * (1 + 1e-3))


@pytest.mark.parametrize("answers", [None, 2, 3, 50])
def test_ten_million_people(answers: int | None) -> None:
    e = el.mechanisms.shuffled(2.0, n=10**7, answers=answers)
    low, high = e.bracket("epsilon", delta=1e-6)
    alpha = math.exp(-2) if answers is None else 1 / (math.exp(2) + answers - 1)
    # many people: nearly normal noise, with the variance of the loss
    variance = {None: (1 - math.exp(-2)) ** 2 / alpha * 4 / (1 + math.exp(-2)) ** 2, 2: 4 * math.sinh(1) ** 2}.get(
        answers, math.expm1(2) ** 2 * 2 * alpha
    )
    assert high == pytest.approx(el.gaussian(psi=math.sqrt(variance / 1e7)).epsilon(1e-6), rel=0.02)
    assert answers is None or 0 < low <= high < 1.03 * low
    assert e.epsilon() == pytest.approx(2.0)


def test_sums_by_transforms_agree_with_convolution(monkeypatch: pytest.MonkeyPatch) -> None:
    direct, _ = _sums(0.27, 30_000, 10_000)
    found = _by_tilts(0.27, 30_000, 10_000)
    a, b = int(np.argmax(direct)), int(np.argmax(found))
    near = np.arange(-1000, 1000)  # eleven standard deviations
    assert np.max(np.abs(direct[a + near] - found[b + near])) < 1e-9


# -- as every experiment ----------------------------------------------------------------------------------------------


def test_it_composes_as_a_bound() -> None:
    e = el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=1.0, k=3), n=500)
    twice = e.repeat(2)
    assert twice.law.known is Exactness.BOUND
    # from below the pair that is attained, twice with the same values of the others
    low, high = twice.bracket("advantage")
    assert e.bracket("advantage")[0] < low <= high < 1.02 * low
    assert e.epsilon(1e-6) < twice.epsilon(1e-6) < 2 * e.epsilon(1e-6)
    assert el.compose(e, el.gaussian(sigma=5.0)).epsilon(1e-6) > el.gaussian(sigma=5.0).epsilon(1e-6)


def test_both_orders_are_alike_and_it_pickles() -> None:
    e = el.mechanisms.shuffled(1.0, n=50, answers=2)
    assert pickle.loads(pickle.dumps(e)) == e
    assert repr(e.reverse()) == "shuffled(epsilon=1, n=50, answers=2).reverse()"
    assert e.reverse().epsilon(1e-3) == pytest.approx(e.epsilon(1e-3), rel=1e-9)
    assert e.reverse().bracket("advantage") == pytest.approx(e.bracket("advantage"), rel=1e-9)


def test_the_local_epsilon_that_keeps_a_limit() -> None:
    found = el.choose(el.mechanisms.shuffled, "epsilon", at_most=0.1, reading="epsilon", delta=1e-6, given={"n": 2000})
    assert el.mechanisms.shuffled(found.value, n=2000).epsilon(1e-6) <= 0.1
    assert el.mechanisms.shuffled(found.value * 1.001, n=2000).epsilon(1e-6) > 0.1


def test_other_randomisers_enter_by_their_epsilon() -> None:
    assert el.mechanisms.shuffled(el.mechanisms.unary(epsilon=1.0), n=100).law == el.mechanisms.shuffled(1.0, n=100).law
    assert (
        el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=1.0, k=4), n=9).law
        == el.mechanisms.shuffled(1.0, n=9, answers=4).law
    )


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        (el.gaussian(sigma=1.0), {"n": 5}, "no finite epsilon"),
        (1.0, {"n": 0}, "n is 0"),
        (1.0, {"n": 10**9}, "n is 1000000000"),
        (-1.0, {"n": 5}, "epsilon is -1"),
        (math.nan, {"n": 5}, "NaN"),
        ("1", {"n": 5}, "epsilon is '1'"),
        (1.0, {"n": 5, "answers": 1}, "answers is 1"),
        (el.laplace(epsilon=1.0), {"n": 5, "answers": 3}, "answers belongs to a number"),
        (el.laplace(epsilon=[1.0, 2.0]), {"n": 5}, "one experiment"),
    ],
)
def test_what_is_wrong_is_said(given: object, options: dict[str, int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        el.mechanisms.shuffled(given, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 30.0, 700.0])
@pytest.mark.parametrize("answers", [None, 2, 3, 1000])
def test_extremes_are_numbers(epsilon: float, answers: int | None) -> None:
    e = el.mechanisms.shuffled(epsilon, n=1000, answers=answers)
    for value in (e.success(), e.advantage(), e.epsilon(1e-9), e.auc(), e.psi(), e.renyi(2.0), e.kl()):
        assert math.isfinite(value)
    assert e.advantage() <= math.tanh(epsilon / 2) * (1 + 1e-9)


# Three answers against every way the others can hold their values, by convolution.


def grown(law: Array, report: tuple[float, float, float]) -> Array:
    """The counts of the first two answers with one more report."""
    out = np.zeros((law.shape[0] + 1, law.shape[1] + 1))
    out[1:, :-1] += report[0] * law
    out[:-1, 1:] += report[1] * law
    out[:-1, :-1] += report[2] * law
    return out


def worst(n: int, epsilon: float, at: Array) -> Array:
    """δ over all values of the others, in the worse order."""
    e = math.exp(epsilon)
    a = 1 / (e + 2)
    reports = [(e * a, a, a), (a, e * a, a), (a, a, e * a)]
    best = np.zeros(at.size)
    first = np.ones((1, 1))
    for zeros in range(n):
        second = first
        for ones in range(n - zeros):
            others = second
            for _ in range(n - 1 - zeros - ones):
                others = grown(others, reports[2])
            h0, h1 = grown(others, reports[0]), grown(others, reports[1])
            for p, q in ((h0, h1), (h1, h0)):
                found = [float(np.maximum(q - math.exp(x) * p, 0.0).sum()) for x in at]
                best = np.maximum(best, found)
            second = grown(second, reports[1])
        first = grown(first, reports[0])
    return best


@pytest.mark.parametrize(("n", "epsilon"), [(2, 1.0), (5, 0.5), (12, 1.5), (20, 1.5), (16, 3.0)])
def test_all_values_of_the_others(n: int, epsilon: float) -> None:
    at = np.linspace(0.0, 0.95 * epsilon, 9)
    truth = worst(n, epsilon, at)
    found = np.asarray(el.mechanisms.shuffled(epsilon, n=n, answers=3).delta(at))
    seen = truth > 1e-8
    assert np.all(found >= truth * (1 - 1e-12))
    assert np.all(found[seen] <= truth[seen] * (1 + 1e-4))
    assert np.all(found[:4] <= truth[:4] * (1 + 2e-6))


def test_what_takes_too_long_is_left_to_the_bound() -> None:
    nothing = (np.ones(1), np.zeros(1))
    assert ternary_profile(1.0, MOST_PEOPLE + 1, nothing) is None
    assert ternary_profile(1e-3, 1000, nothing) is None
    low, high = el.mechanisms.shuffled(0.05, n=1000, answers=3).bracket("epsilon", delta=1e-6)
    assert low < high < 1.01 * low
