"""Paper 001 against the reference sheet, quadrature and every small world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import epsilens as el
from epsilens.papers.ashena2021 import (
    Attack,
    ages,
    clopper_pearson,
    crowded,
    estimate,
    exact_belief,
    lee_clifton,
    reconstruction_bound,
    recovered,
    rule_success,
    set_epsilon,
)
from epsilens.papers.items import read_items


def records(name: str) -> Sequence[Mapping[str, Any]]:
    return read_items("ashena2021", name)[0].records


def test_clopper_pearson_needs_the_draws_the_sheet_says() -> None:
    for p, draws in [(0.5, 16684), (0.7, 14030), (0.9, 6071)]:
        low, high = clopper_pearson(round(p * draws), draws, 0.01)
        assert high - low <= 0.02
        fewer = round(draws * 0.998)
        low, high = clopper_pearson(round(p * fewer), fewer, 0.01)
        assert high - low > 0.02


@pytest.mark.parametrize(
    ("attack", "exact"),
    [
        (Attack(epsilon=1.0), 0.561924559522),
        (Attack(epsilon=1.0, known="narrow", answer=50.0), 0.696734670144),
        (Attack(epsilon=5.0, gap=43, sensitivity=121), 0.608114384862),
        (Attack(epsilon=1.0, sensitivity=121, n=13, value=121, answer=50, known="broad"), 0.6314839994),
        (Attack(epsilon=5.0, sensitivity=121, n=13, value=121, answer=50, known="narrow"), 0.878246666),
    ],
)
def test_corrected_algorithm_2_agrees_within_its_interval(attack: Attack, exact: float) -> None:
    run = estimate(attack, width=0.004, seed=3)
    assert run.low <= exact <= run.high
    assert run.high - run.low <= 0.004


def test_printed_algorithm_2_guesses_a_constant() -> None:
    none = estimate(Attack(epsilon=5.0), printed=True)
    broad = estimate(Attack(epsilon=5.0, known="broad", answer=50.0), printed=True)
    assert none.low <= 0.5 <= none.high
    assert broad.low <= 0.5 <= broad.high
    narrow = estimate(Attack(epsilon=5.0, known="narrow", answer=50.0), printed=True)
    assert narrow.low <= 0.958957500688 <= narrow.high


def test_algorithm_3_is_biased_upwards() -> None:
    exact = el.choose(el.attacks.differencing, "epsilon", at_most=0.51).value
    runs = [set_epsilon(seed=s) for s in range(6)]
    assert sum(runs) / len(runs) > exact * 1.1


@pytest.mark.parametrize(
    ("n", "value", "epsilon", "plain", "random"),
    [
        (13, 43, 1, 0.5148173326, 0.5145144960),
        (13, 121, 1, 0.6314839994, 0.6304862591),
        (13, 121, 5, 0.8912568952, 0.8912568952),
        (1320, 43, 5, 0.5673516838, 0.5673516838),
        (16959, 20, 10, 0.8552653412, 0.8552653412),
        (2, 90, 0.5, 0.5521692992, 0.5054183906),
        (13, 43, 0.1, 0.501502, 0.494978),
    ],
)
def test_rule_of_the_paper(n: int, value: float, epsilon: float, plain: float, random: float) -> None:
    given = {"epsilon": epsilon, "n": n, "value": value, "mean": 50, "bounds": (0, 121)}
    assert rule_success(**given) == pytest.approx(plain, abs=1e-6 if epsilon == 0.1 else 1e-10)  # type: ignore[arg-type]
    tossed = rule_success(**given, clamped="random")  # type: ignore[arg-type]
    assert tossed == pytest.approx(random, abs=1e-6 if epsilon == 0.1 else 1e-10)
    exact = el.attacks.differencing_average(**given).success()  # type: ignore[arg-type]
    assert exact >= rule_success(**given) - 1e-12  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "right"), [(2, 0.845367), (13, 0.878247)])
def test_narrow_average_needs_n_plus_one(n: int, right: float) -> None:
    got = rule_success(epsilon=5, n=n, value=121, mean=50, bounds=(0, 121), known="narrow")
    assert got == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize(("known", "sheet"), [("broad", 0.8912568952), ("narrow", 0.878247)])
def test_averages_are_simulated_too(known: str, sheet: float) -> None:
    """The paper's rule for 13 people, age 121, ε = 5, with Q1 or Q2 known."""
    run = estimate(Attack(epsilon=5.0, sensitivity=121, n=13, value=121, answer=50.0, known=known))
    assert run.low <= sheet <= run.high
    exact = rule_success(epsilon=5.0, n=13, value=121, mean=50, bounds=(0, 121), known=known)
    assert exact == pytest.approx(sheet, abs=1e-6)


COUNTS = {
    0.01: (0.500624999350, 0.502493760404), 0.1: (0.506249357036, 0.524385287750),
    0.5: (0.531173520502, 0.610599608464), 1: (0.561924559522, 0.696734670144), 2: (0.620918337680, 0.816060279414),
    5: (0.767214852551, 0.958957500688), 10: (0.907654376548, 0.996631026500), 20: (0.988208592752, 0.999977300035),
}  # fmt: skip
AVERAGES = {
    (13, 43, 1): (0.5148173326, 0.5145144960, 0.5190816265), (13, 121, 1): (0.6314839994, 0.6304862591, 0.6317787729),
    (13, 121, 5): (0.8912568952, 0.8912568952, 0.8913438781), (1320, 43, 5): (0.5673516838, 0.5673516838, 0.5673517149),
    (16959, 20, 10): (0.8552653412, 0.8552653412, 0.8552653412),
}  # fmt: skip


def test_counts() -> None:
    counts = records("figure_1a")
    assert [r["epsilon"] for r in counts] == list(COUNTS)
    for record in counts:
        assert (record["two noisy"], record["one known"]) == pytest.approx(COUNTS[record["epsilon"]], abs=1e-11)


def test_sums_and_averages() -> None:
    at = next(r for r in records("figure_1b") if r["epsilon"] == 5)
    assert (at["age 20"], at["age 43"]) == pytest.approx((0.551321111989, 0.608114384862), abs=1e-11)
    assert at["age 121"] == pytest.approx(COUNTS[5][0], abs=1e-11)
    found = {(r["n"], r["age"], r["epsilon"]): r for r in records("figure_2a")}
    for key, (rule, coin, optimal) in AVERAGES.items():
        record = found[key]
        assert (record["rule"], record["coin"], record["optimal"]) == pytest.approx((rule, coin, optimal), abs=1e-9)
    far = next(r for r in records("figure_2b") if r["epsilon"] == 5)
    assert far["average, age 121"] == pytest.approx(0.884749, abs=1e-6)
    assert far["count"] < far["average, age 121"]


def test_lee_clifton_as_the_sheet_has_it() -> None:
    for n, epsilon, ratio, bound in [
        (120, 1, 60 / 121, 0.0136098828391), (120, 5, 60 / 121, 0.0911407977678), (120, 10, 60 / 121, 0.544768336280),
        (4, 1, 1, 0.475366886419),
    ]:  # fmt: skip
        assert lee_clifton(epsilon, n, ratio) == pytest.approx(bound, abs=1e-12)


def test_no_rule_beats_the_exact_belief_though_p_sda_says_so() -> None:
    record = next(r for r in records("figure_3") if r["epsilon"] == 10)
    assert record["P_SDA at prior 1/120"] == pytest.approx(0.491, abs=5e-4)
    assert record["Lee–Clifton bound"] == pytest.approx(0.299, abs=1e-3)
    assert record["exact"] == pytest.approx(0.0452, abs=5e-5)
    assert record["P_SDA, averages"] == pytest.approx(0.0353, abs=5e-5)
    for epsilon in (0.5, 2, 10, 30):
        for sd in (3.0, 9.0):
            gap = float(ages(sd).max() - ages(sd).min())
            assert exact_belief(epsilon, ages(sd), 121) <= lee_clifton(epsilon, 120, gap / 121)


def test_the_test_of_paper_000_at_three_rates() -> None:
    found = {r["alpha"]: r for r in records("figure_4") if r["epsilon"] == 2}
    expected = {
        "P_SDA": (0.816060279, 0.816060279, 0.816060279), "0.5": (0.716166179, 0.932332358, 0.650919008),
        "0.999": (0.500432332, 0.999864665, 0.500216289), "0.0001": (0.500319453, 0.000738905610, 0.880797078),
    }  # fmt: skip
    for alpha, scores in expected.items():
        record = found[alpha]
        assert (record["accuracy"], record["recall"], record["precision"]) == pytest.approx(scores, abs=2e-9)


@pytest.mark.parametrize(("epsilon", "k", "share"), [(1.0, 1, 0.5), (5.0, 4, 0.5), (20.0, 3, 0.5), (5.0, 6, 0.2)])
def test_success_is_one_half_and_half_the_total_variation(epsilon: float, k: int, share: float) -> None:
    scale = 2 / epsilon
    weights = binom.pmf(np.arange(k), k - 1, share)

    def density(x: float, target: int) -> float:
        z = np.abs(x - np.arange(k) - target) / scale
        return float(weights @ ((1 + z) * np.exp(-z) / (4 * scale)))

    edges = np.arange(-3 - 20 * scale, k + 4 + 20 * scale, 0.25)
    gaps = [quad(lambda x: abs(density(x, 1) - density(x, 0)), a, b, limit=200)[0] for a, b in pairwise(edges)]
    assert crowded(epsilon, k, share) == pytest.approx((1 + sum(gaps) / 2) / 2, abs=3e-6)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_two_queries_have_their_closed_form(epsilon: float) -> None:
    assert reconstruction_bound(epsilon, 2) == pytest.approx(1 - (1 + epsilon / 4) * np.exp(-epsilon / 2) / 2, abs=1e-9)
    assert reconstruction_bound(epsilon, 1) == pytest.approx(1 - np.exp(-epsilon / 2) / 2, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
@pytest.mark.parametrize("shared", [True, False])
def test_no_world_of_three_people_tells_more(epsilon: float, shared: bool) -> None:
    """The best attack on two counts of groups of three people, every pair of groups, on a grid of answers."""
    scale = (2 if shared else 1) / epsilon
    bits = np.array(list(product((0, 1), repeat=3)))
    reach = 3 + 14 * scale
    answers, cell = np.linspace(-reach, reach, 901, retstep=True)
    law = [np.exp(-np.abs(answers - count) / scale) * cell / (2 * scale) for count in range(4)]
    best = 0.0
    for first, second in combinations_with_replacement(bits[1:], 2):
        laws = [np.outer(law[b @ first], law[b @ second]) for b in bits]
        for person in range(3):
            without = sum(each for each, b in zip(laws, bits, strict=True) if not b[person])
            with_it = sum(each for each, b in zip(laws, bits, strict=True) if b[person])
            best = max(best, float(np.maximum(without, with_it).sum() / 8))
    assert best <= reconstruction_bound(epsilon, 2, shared=shared) + 1e-3  # the grid's own error
    assert (
        best > reconstruction_bound(epsilon, 2, shared=shared) - 1e-3
    )  # the same group of one person twice tells it all


def test_without_noise_everything_is_recovered_and_with_much_nothing() -> None:
    assert recovered(1e9, 20, 60, shared=False, trials=5) == (1.0, 0.0)
    share, error = recovered(1e-6, 20, 60, trials=400)
    assert abs(share - 0.5) < 5 * error


@pytest.mark.parametrize(("epsilon", "queries"), [(2.0, 3), (5.0, 40), (20.0, 40)])
def test_the_attack_stays_below_its_bound(epsilon: float, queries: int) -> None:
    share, error = recovered(epsilon, 10, queries, trials=300)
    assert share - 5 * error <= reconstruction_bound(epsilon, queries)


def test_the_item_says_both_ends() -> None:
    at_five = next(r for r in records("section_8_other_threats") if r["epsilon"] == 5)
    assert at_five["P_SDA"] == pytest.approx(1 - (2 + 1.25) * np.exp(-1.25) / 4, abs=1e-9)  # a difference of two
    assert at_five["shared"] < at_five["at most"] < at_five["each"]
