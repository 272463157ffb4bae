"""The paper's Monte Carlo agrees with the exact attack, and its printed form fails as the sheet says."""

from __future__ import annotations

import pytest

import epsilens as el
from epsilens.papers.ashena2021 import Attack, clopper_pearson, estimate, rule_success, set_epsilon


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
