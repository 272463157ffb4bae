"""Paper 001 against the reference sheet, brute force and simulation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import epsilens as el
from epsilens.attacks.differencing_queries import average_epsilon

COUNT = [  # ε, two noisy answers, one known
    (0.01, 0.500624999350, 0.502493760404),
    (0.1, 0.506249357036, 0.524385287750),
    (0.5, 0.531173520502, 0.610599608464),
    (1, 0.561924559522, 0.696734670144),
    (2, 0.620918337680, 0.816060279414),
    (5, 0.767214852551, 0.958957500688),
    (10, 0.907654376548, 0.996631026500),
    (20, 0.988208592752, 0.999977300035),
]


@pytest.mark.parametrize(("epsilon", "two", "known"), COUNT)
def test_count_references(epsilon: float, two: float, known: float) -> None:
    assert el.attacks.differencing(epsilon=epsilon).success() == pytest.approx(two, abs=6e-13)
    assert el.attacks.differencing(epsilon=epsilon, known=True).success() == pytest.approx(known, abs=6e-13)


@pytest.mark.parametrize(
    ("value", "two", "known"),
    [
        (20, 0.551321111989, 0.669242672175),
        (43, 0.608114384862, 0.794349454681),
        (121, 0.767214852551, 0.958957500688),
    ],
)
def test_sum_references(value: float, two: float, known: float) -> None:
    given: dict[str, Any] = {"epsilon": 5, "gap": value, "sensitivity": 121}
    assert el.attacks.differencing(**given).success() == pytest.approx(two, abs=6e-13)
    assert el.attacks.differencing(**given, known=True).success() == pytest.approx(known, abs=6e-13)


@pytest.mark.parametrize(
    ("limit", "two", "known"),
    [
        (0.51, 0.160041856097, 0.040405414635),
        (0.55, 0.804917288942, 0.210721031316),
        (0.75, 4.58477288248, 1.38629436112),
        (0.9, 9.58910394912, 3.21887582487),
    ],
)
def test_choose_inverts_in_closed_form(limit: float, two: float, known: float) -> None:
    both = el.choose(el.attacks.differencing, "epsilon", at_most=limit)
    one = el.choose(el.attacks.differencing, "epsilon", at_most=limit, given={"known": True})
    assert both.method == one.method == "closed form"
    assert both.value == pytest.approx(two, rel=1e-11)
    assert one.value == pytest.approx(known, rel=1e-11)
    assert both.reading <= limit
    assert one.reading <= limit


def test_choose_scales_with_the_gap() -> None:
    given = {"gap": 43.0, "sensitivity": 121.0}
    choice = el.choose(el.attacks.differencing, "epsilon", at_most=0.55, given=given)
    assert choice.value == pytest.approx(0.804917288942 * 121 / 43, rel=1e-11)


def test_uneven_split_reference_and_even_is_worst() -> None:
    assert el.attacks.differencing(epsilon=1, split=0.3).success() == pytest.approx(0.552093775, abs=1e-9)
    for epsilon in (0.5, 5.0, 20.0):
        even = el.attacks.differencing(epsilon=epsilon).success()
        assert all(el.attacks.differencing(epsilon=epsilon, split=w).success() < even for w in (0.1, 0.3, 0.45))


def test_uneven_split_closed_form() -> None:
    # 1 − (b1²e^{−d/2b1} − b2²e^{−d/2b2})/(2(b1²−b2²))
    for epsilon, w, d in [(1.0, 0.3, 1.0), (4.0, 0.1, 2.5), (0.2, 0.49, 1.0)]:
        b1, b2 = 1 / (w * epsilon), 1 / ((1 - w) * epsilon)
        want = 1 - (b1**2 * math.exp(-d / 2 / b1) - b2**2 * math.exp(-d / 2 / b2)) / (2 * (b1**2 - b2**2))
        got = el.attacks.differencing(epsilon=epsilon, gap=d, split=w).success()
        assert got == pytest.approx(want, rel=1e-11)


def test_more_answers_are_worse_for_the_attacker() -> None:
    success = [el.attacks.differencing(epsilon=2.0, queries=q).success() for q in (1, 2, 3, 4, 8, 64)]
    assert success == sorted(success, reverse=True)
    rng = np.random.default_rng(1)
    q, draws = 3, 400_000
    noise = rng.laplace(0, q / 2.0, (q, draws)).sum(0)  # three answers with ε = 2/3 each
    right = 0.5 * np.mean(noise < 0.5) + 0.5 * np.mean(noise + 1 >= 0.5)
    assert success[2] == pytest.approx(right, abs=4 * math.sqrt(0.25 / draws))


def test_a_group_moves_the_answer_together() -> None:
    group = el.attacks.differencing(epsilon=0.5, targets=3)
    assert group.success() == pytest.approx(el.attacks.differencing(epsilon=1.5).success(), rel=1e-14)


def test_gaussian_matches_the_classical_references() -> None:
    # the sheet's values use σ = √(2·ln(1.25/δ))·Δ/ε, at ε = 1 for the known answer: refused here
    sigma = math.sqrt(2 * math.log(1.25e5))
    assert norm.cdf(1 / (2 * sigma)) == pytest.approx(0.541099198492, abs=1e-11)
    with pytest.raises(el.InputError, match="classical"):
        el.attacks.differencing(epsilon=1.0, known=True, noise="gaussian", delta=1e-5, calibration="classical")
    two = el.attacks.differencing(epsilon=1.0, noise="gaussian", delta=1e-5, calibration="classical")
    assert two.success() == pytest.approx(0.514141882418, abs=1e-11)
    analytic = el.attacks.differencing(epsilon=1.0, known=True, noise="gaussian", delta=1e-5)
    assert analytic.success() == pytest.approx(norm.cdf(0.5 / 3.73063163482), abs=1e-11)


@pytest.mark.parametrize("split", [0.5, 0.3])
def test_geometric_difference_equals_brute_force(split: float) -> None:
    k = np.arange(-600, 601)
    masses = []
    for rate in (split * 1.5, (1 - split) * 1.5):
        g = np.exp(-rate * np.abs(k))
        masses.append(g / g.sum())
    both = np.convolve(*masses)
    want = 0.5 + 0.25 * np.abs(both - np.roll(both, 2)).sum()
    got = el.attacks.differencing(epsilon=1.5, gap=2, noise="geometric", split=split).success()
    assert got == pytest.approx(want, rel=1e-12)


def test_arrays_of_epsilon_and_gap() -> None:
    epsilon = np.linspace(0.01, 20, 7)
    curve = el.attacks.differencing(epsilon=epsilon).success()
    assert curve == pytest.approx([1 - 0.5 * (1 + e / 8) * math.exp(-e / 4) for e in epsilon], rel=1e-14)
    gaps = el.attacks.differencing(epsilon=1.0, gap=[0.0, 0.5, 1.0], known=True).success()
    assert gaps == pytest.approx([0.5, 1 - 0.5 * math.exp(-0.25), 1 - 0.5 * math.exp(-0.5)], rel=1e-14)


def test_two_noisy_answers_lose_at_most_half_the_budget() -> None:
    # only the query with the target depends on the secret: sup likelihood ratio e^{rε/2}
    assert el.attacks.differencing(epsilon=2.0).epsilon() == pytest.approx(1.0, rel=1e-14)


# -- averages ---------------------------------------------------------------------------------------------------

AVERAGES = [  # n, value, ε, optimal clamped (mean 50, bounds [0, 121])
    (13, 43, 1, 0.5190816265),
    (13, 121, 1, 0.6317787729),
    (13, 121, 5, 0.8913438781),
    (1320, 43, 5, 0.5673517149),
    (16959, 20, 10, 0.8552653412),
    (2, 90, 0.5, 0.5935018172),
]


@pytest.mark.parametrize(("n", "value", "epsilon", "optimal"), AVERAGES)
def test_average_references(n: int, value: float, epsilon: float, optimal: float) -> None:
    e = el.attacks.differencing_average(epsilon=epsilon, n=n, value=value, mean=50, bounds=(0, 121))
    assert e.success() == pytest.approx(optimal, abs=6e-11)


def test_average_at_the_mean_is_not_safe() -> None:
    for n, want in [(2, 0.625), (13, 0.514719104103), (1320, 0.500139401080)]:
        e = el.attacks.differencing_average(epsilon=1.0, n=n, value=50, mean=50, bounds=(0, 121), clamp=False)
        assert e.success() == pytest.approx(want, abs=1e-11)


@pytest.mark.parametrize("known", ["broad", "narrow"])
@pytest.mark.parametrize(("n", "value", "epsilon"), [(13, 121.0, 1.0), (13, 20.0, 5.0), (3, 90.0, 0.5)])
def test_average_optimal_attack_by_simulation(known: str, n: int, value: float, epsilon: float) -> None:
    """A million clamped answers, each judged by the exact likelihood ratio with atoms."""
    rng, draws, bounds = np.random.default_rng(5), 1_000_000, (0.0, 121.0)
    e = el.attacks.differencing_average(epsilon=epsilon, n=n, value=value, mean=50, bounds=bounds, known=known)
    b = 121 / epsilon
    other = n - 1 if known == "broad" else n + 1
    centre1 = 50 + (-1 if known == "broad" else 1) * (value - 50) / other
    secret = rng.integers(0, 2, draws)
    answer = np.where(secret == 1, rng.laplace(centre1, b / other, draws), rng.laplace(50, b / n, draws))
    answer = np.clip(answer, *bounds)

    def log_law(x: Any, centre: float, scale: float) -> Any:
        density = -np.abs(x - centre) / scale - math.log(2 * scale)
        low, high = math.log(0.5) - (centre - bounds[0]) / scale, math.log(0.5) - (bounds[1] - centre) / scale
        return np.where(x == bounds[0], low, np.where(x == bounds[1], high, density))

    guess = log_law(answer, centre1, b / other) > log_law(answer, 50.0, b / n)
    assert e.success() == pytest.approx(np.mean(guess == secret), abs=4 * math.sqrt(0.25 / draws))


def test_average_is_not_epsilon_dp_under_add_remove() -> None:
    # D = {0,1}, D' = {1}, ε = .1: the event (.4, .6) alone shows a ratio of 2.0816 > e^{.1}
    assert average_epsilon(0.1, 2) == pytest.approx(math.log(2) + 0.05, rel=1e-14)
    assert average_epsilon(0.1, 2) > math.log(2.0816)
    assert average_epsilon(3.0, 2) == 3.0
    e = el.attacks.differencing_average(epsilon=0.1, n=2, value=1, mean=0.5, bounds=(0, 1))
    assert e.parameters["epsilon_add_remove"] == pytest.approx(average_epsilon(0.1, 2))
    assert "not 0.1-DP" in e.notes[0]
    assert e.epsilon() <= average_epsilon(0.1, 2) * (1 + 1e-12)


@pytest.mark.parametrize(("sensitivity", "n"), [(None, 5), (0.5, 2), (0.5, 5), (0.25, 2), (3.0, 2)])
def test_the_epsilon_told_of_an_average_is_the_largest_over_data(sensitivity: float | None, n: int) -> None:
    # b = s/ε; the densities' largest ratio is n/(n−1)·e^{(n−1)R/nb}, the atoms' e^{R/b} (R = 1)
    b = (sensitivity or 1.0) / 0.5
    true = max(1 / b, math.log(n / (n - 1)) + (n - 1) / (n * b))
    reached = []
    for mean in np.linspace(0, 1, 21).tolist():
        for value in (0.0, 1.0):
            try:
                e = el.attacks.differencing_average(
                    epsilon=0.5, n=n, value=value, mean=mean, bounds=(0, 1), sensitivity=sensitivity
                )
            except el.InputError:
                continue
            assert e.parameters["epsilon_add_remove"] == pytest.approx(true, rel=1e-14)
            assert bool(e.notes) == (true > 0.5)
            reached.append(e.epsilon())
    assert max(reached) == pytest.approx(true, rel=1e-9)


def test_an_average_that_is_not_clamped_has_no_epsilon() -> None:
    e = el.attacks.differencing_average(epsilon=0.5, n=5, value=1.0, mean=0.5, bounds=(0, 1), clamp=False)
    assert e.epsilon() == math.inf
    assert e.parameters["epsilon_add_remove"] is None  # JSON has no infinity
    assert "no ε holds" in e.notes[0]


@pytest.mark.parametrize(("n", "bounds"), [(3, (0.0, 1.0)), (7, (0.0, 1.0)), (3, (-1.0, 0.0)), (49, (0.0, 1e6))])
def test_a_mean_that_is_no_double_is_taken(n: int, bounds: tuple[float, float]) -> None:
    low, high = bounds
    for value, rest in ((high, low), (low, high)):  # all others at one end
        mean = (value + (n - 1) * rest) / n
        e = el.attacks.differencing_average(epsilon=1.0, n=n, value=value, mean=mean, bounds=bounds)
        # without the target every other one is at the end, where half of the clamped noise is: e^ε or n/(n−1)·e^{…}
        assert e.epsilon() <= max(1.0, math.log(n / (n - 1)) + (n - 1) / n) * (1 + 1e-9)


def _average_delta(x: float, one: tuple[float, float], other: tuple[float, float]) -> float:
    """∫(dLap_other − e^x·dLap_one)₊, clamped to [0, 1]: the ends in closed form, between them trapezoids."""
    (c0, b0), (c1, b1) = one, other
    total = 0.0
    for left, right in itertools.pairwise(sorted({0.0, 1.0, c0, c1})):
        at = np.linspace(left, right, 200_001)
        y = np.exp(-np.abs(at - c1) / b1) / (2 * b1) - np.exp(x - np.abs(at - c0) / b0) / (2 * b0)
        total += float(np.trapezoid(np.maximum(y, 0.0), at))
    for end in (0.0, 1.0):
        total += max(math.exp(-abs(end - c1) / b1) / 2 - math.exp(x - abs(end - c0) / b0) / 2, 0.0)
    return total


@pytest.mark.parametrize(("epsilon", "n", "value", "mean"), [(0.4, 2, 0.9, 0.6), (3.0, 5, 0.0, 0.3), (4.0, 8, 1, 0.2)])
def test_averages_against_sums_over_the_line(epsilon: float, n: int, value: float, mean: float) -> None:
    e = el.attacks.differencing_average(epsilon=epsilon, n=n, value=value, mean=mean, bounds=(0, 1))
    one, other = (mean, 1 / epsilon / n), (mean - (value - mean) / (n - 1), 1 / epsilon / (n - 1))
    for x in (0.0, 0.3 * epsilon, 0.8 * epsilon):
        true = max(_average_delta(x, one, other), _average_delta(x, other, one))
        assert e.delta(x) == pytest.approx(true, abs=1e-8)
        if true > 1e-6:
            assert e.epsilon(true) == pytest.approx(x, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "want"),
    [(0.5, 0.562176491057), (1, 0.618971379215), (2, 0.692683696030), (5, 0.746665095347)],
)
def test_median_references(epsilon: float, want: float) -> None:
    e = el.attacks.differencing_median(epsilon=epsilon, values=[20, 30, 40, 50, 60], target=90, bounds=(0, 121))
    assert e.success() == pytest.approx(want, abs=6e-13)
    assert e.epsilon() <= epsilon * (1 + 1e-12)


# -- bad and extreme input --------------------------------------------------------------------------------------


def test_extremes_are_right() -> None:
    assert el.attacks.differencing(epsilon=1e-12).advantage() == pytest.approx(1.25e-13, rel=1e-12)
    assert el.attacks.differencing(epsilon=700.0).tradeoff(1e-30) == pytest.approx(0.0, abs=1e-60)
    assert el.attacks.differencing(epsilon=1.0, gap=0.0).success() == 0.5
    assert el.attacks.differencing(epsilon=1.0, gap=0.0, known=True).success(0.3) == pytest.approx(0.7)


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"epsilon": "1"},
        {"epsilon": 1.0, "gap": -1.0},
        {"epsilon": 1.0, "sensitivity": 0.0},
        {"epsilon": 1.0, "split": 1.0},
        {"epsilon": 1.0, "noise": "cauchy"},
        {"epsilon": 1.0, "noise": "gaussian"},
        {"epsilon": 1.0, "delta": 1e-5},
        {"epsilon": 1.0, "queries": 0},
        {"epsilon": 1.0, "queries": 2.5},
        {"epsilon": 1.0, "queries": 3, "split": 0.3},
        {"epsilon": 1.0, "known": "yes"},
        {"epsilon": 1.0, "targets": 0},
        {"epsilon": 1.0, "noise": "geometric", "gap": 0.5},
        {"epsilon": 1e-9, "noise": "geometric"},
    ],
)
def test_bad_input_is_one_sentence(bad: dict[str, Any]) -> None:
    with pytest.raises(el.InputError) as caught:
        el.attacks.differencing(**bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        {"n": 1},
        {"value": 200},
        {"mean": -1},
        {"bounds": (121, 0)},
        {"bounds": 3},
        {"known": "both"},
        {"n": 2, "value": 121, "mean": 10},  # two people whose mean is 10 cannot include a 121
    ],
)
def test_bad_averages_are_one_sentence(bad: dict[str, Any]) -> None:
    good: dict[str, Any] = {"epsilon": 1.0, "n": 13, "value": 43, "mean": 50, "bounds": (0, 121)}
    with pytest.raises(el.InputError) as caught:
        el.attacks.differencing_average(**(good | bad))
    assert "\n" not in str(caught.value)


def test_the_largest_budget_has_finite_divergences() -> None:
    # two answers of ε = 5000 each: H0 and H1 are 5000 noise scales apart, D_a ≤ 5000 and Chernoff ≤ 2500
    e = el.attacks.differencing(epsilon=1e4)
    assert 2400 < e.chernoff() < 2500
    assert 4900 < el.attacks.differencing(epsilon=1.0, gap=1e4).renyi(2) < 5000


def test_units_do_not_matter() -> None:
    each = el.gaussian(epsilon=0.5, delta=5e-7).psi()  # of two answers, whose variances add
    for unit in (1e-300, 1.0, 1e300):
        told: dict[str, Any] = {"epsilon": 1.0, "gap": unit, "sensitivity": unit}
        normal = el.attacks.differencing(noise="gaussian", delta=1e-6, **told)
        assert normal.success() == pytest.approx(norm.cdf(each / math.sqrt(8)), rel=1e-12)
        assert el.attacks.differencing(split=0.3, **told).success() == pytest.approx(
            el.attacks.differencing(epsilon=1.0, split=0.3).success(), rel=1e-12
        )


NOT_TWO: Any = 5


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: el.attacks.differencing(epsilon=1.0, split=5e-324), "split"),
        (lambda: el.attacks.differencing(epsilon=1.0, gap=1e300), "gap"),
        (lambda: el.attacks.differencing(epsilon=1e4, gap=3.0), "gap"),
        (lambda: el.attacks.differencing(epsilon=1.0, noise="gaussian", delta=5e-324), "delta"),
        (
            lambda: el.attacks.differencing_median(epsilon=1.7e308, values=[1.0, 2.0], target=1.5, bounds=(0, 4)),
            "epsilon",
        ),
        (lambda: el.attacks.differencing_median(epsilon=1.0, values=[1.0, 2.0], target=1.5, bounds=NOT_TWO), "bounds"),
        (
            lambda: el.attacks.differencing_median(epsilon=1.0, values=[1.0], target=1.5, bounds=(-1.7e308, 1.7e308)),
            "bounds",
        ),
        (lambda: el.laplace(epsilon=1.0, stretch=5e-324), "stretch"),
        (lambda: el.laplace(epsilon=1.0, stretch=1e-300), "stretch"),
    ],
)
def test_what_doubles_cannot_carry_is_refused(call: Any, word: str) -> None:
    with pytest.raises(el.InputError, match=f"^{word} ") as caught:
        call()
    assert caught.value.parameter == word


def test_averages_do_not_depend_on_units() -> None:
    for low, high in ((0.0, 1e-300), (-1e300, 1e300), (1e6, 1e6 + 64)):
        at = [low + share * (high - low) for share in (0.25, 0.5)]
        told: dict[str, Any] = {"value": at[0], "mean": at[1], "bounds": (low, high), "clamp": False}
        e = el.attacks.differencing_average(epsilon=0.5, n=4, **told)
        one = el.attacks.differencing_average(epsilon=0.5, n=4, value=0.25, mean=0.5, bounds=(0, 1), clamp=False)
        for alpha in (1e-190, 0.1, 0.9):
            assert e.roc(alpha) == pytest.approx(one.roc(alpha), rel=1e-9)


def test_two_laws_too_close_to_tell_apart() -> None:
    given: dict[str, Any] = {"n": 26611, "value": 0.799915, "mean": 0.183806, "bounds": (0, 1)}
    e = el.attacks.differencing_average(epsilon=1e-10, **given)
    # 1e-10 of noise about bounds, but n/(n−1) in the scale: half of the mass is at each end, and hardly moves
    assert 0 <= e.advantage() < 1e-9
    assert e.roc(0.3) == pytest.approx(0.3, abs=1e-9)
    with pytest.raises(el.InputError, match="1e10 times as wide"):  # its area was read a third too low
        el.attacks.differencing_average(epsilon=1e-12, **given)


@pytest.mark.parametrize("split", [0.3, 0.01, 0.499])
def test_the_smallest_uneven_noise(split: float) -> None:
    """The advantage of a small ε is ε·s(1−s)/2; where doubles lose the ratio nothing is told rather than too little."""
    least = 1e-10 / split
    for epsilon in (least * 1.01, 1e-8, 1e-5):
        truth = epsilon * split * (1 - split) / 2
        assert (
            truth * (1 - epsilon) <= el.attacks.differencing(epsilon=epsilon, split=split).advantage() <= truth * 1.03
        )
    with pytest.raises(el.InputError, match="raise epsilon or give split"):
        el.attacks.differencing(epsilon=least * 0.99, split=split)
    assert el.attacks.differencing(epsilon=1e-12).advantage() == pytest.approx(1.25e-13, rel=1e-9)
