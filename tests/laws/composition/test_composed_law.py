"""The composed loss: its brackets hold the truth, wherever the truth is known from elsewhere, and are narrow."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from tests.laws.composition.oracles import contour, exact_profile, exact_roc, lattice_pair, moment_of_sampled_normal

import epsilens as el
from epsilens.laws.composition import evaluator
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.elementary_bounds import MomentBounds
from epsilens.laws.composition.evaluator import MOST_WORK, Budget, Evaluator, Product, ReadingWork
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import ReversedStep, SampledStep
from epsilens.laws.finite import Finite, FiniteStep
from epsilens.laws.laplace import LaplaceStep, laplace_product
from epsilens.laws.normal import Normal, NormalReplacementStep, NormalStep

A = np.asarray


def bracket(law: ComposedLaw, reading: str, *arguments: float) -> tuple[float, float]:
    values = [float(getattr(side, reading)(*map(A, arguments))) for side in (law.other_side(), law)]
    return min(values), max(values)


def rr(epsilon: float) -> FiniteStep:
    high = -math.log1p(math.exp(-epsilon))
    return FiniteStep(Atoms(A([-epsilon, epsilon]), A([high - epsilon, high])), symmetric=True)


SAMPLED_1, SAMPLED_2 = SampledStep(NormalStep(1.0), 1e-3), SampledStep(NormalStep(1.0), 1e-2)


# Truth: composition.md §7 (closed form, exact binomial, contour integral), right to the digits given.
@pytest.mark.parametrize(
    ("steps", "delta", "truth"),
    [
        ([(SAMPLED_1, 10_000)], 1e-5, 0.475761289),
        ([(ReversedStep(SAMPLED_1), 10_000)], 1e-5, 0.440026268),
        ([(SAMPLED_2, 10_000)], 1e-5, 6.187712390),
        ([(ReversedStep(SAMPLED_2), 10_000)], 1e-5, 5.611508618),
        ([(LaplaceStep(0.05), 1000)], 1e-6, 8.204440344),
        ([(LaplaceStep(0.05), 100), (NormalStep(0.05), 100)], 1e-6, 3.277005009),
        ([(NormalStep(0.02), 1000)], 1e-6, 2.92160059042704586),
        ([(NormalStep(0.02), 1000)], 1e-30, 7.28748474502911971),
        ([(NormalStep(0.02), 1000)], 1e-120, 14.8591781255707089),
        ([(NormalStep(0.5), 1000)], 1e-10, 224.741723),
        ([(SampledStep(NormalStep(1 / 0.3), 0.01), 1000)], 1e-6, 78.1405091),
        ([(SampledStep(NormalStep(1.0), 1e-6), 10**6)], 1e-9, 0.0059029),
    ],
)
def test_known_epsilons_lie_inside_and_the_width_is_reached(
    steps: list[tuple[Step, int]], delta: float, truth: float
) -> None:
    law = ComposedLaw(steps)
    low, high = bracket(law, "profile_inverse", delta)
    digits = min(len(repr(truth).split(".")[1]), 14)
    rounding = 0.5 * 10.0**-digits
    assert low - rounding < truth < high + rounding
    assert high - low <= 1e-3 * high
    assert law.reached


def test_randomised_response_a_hundred_times() -> None:
    # ε₀ = 1, k = 100: binomial sums in exact arithmetic
    with mp.workdps(40):
        p = mp.e / (1 + mp.e)

        def delta(eps: mp.mpf) -> mp.mpf:
            terms = (
                mp.binomial(100, j) * p**j * (1 - p) ** (100 - j) * (1 - mp.exp(eps - (2 * j - 100)))
                for j in range(101)
                if 2 * j - 100 > eps
            )
            return mp.fsum(terms)

        law = ComposedLaw([(rr(1.0), 100)])
        low, high = bracket(law, "profile_inverse", 1e-6)
        assert delta(mp.mpf(low)) > mp.mpf("1e-6") > delta(mp.mpf(high))
        assert high - low < 1e-8
        assert low < 83.53070167850


# peers.md: duals of optimistic and pessimistic δ(ε), σ = 1, T = 10⁴.
@pytest.mark.parametrize(
    ("step", "fpr", "low", "high"),
    [
        (SAMPLED_1, 1e-5, 1.81e-5, 1.833e-5),
        (SAMPLED_1, 1e-4, 1.683e-4, 1.6995e-4),
        (SAMPLED_1, 1e-3, 1.548e-3, 1.5635e-3),
        (SAMPLED_1, 1e-2, 1.4040e-2, 1.4175e-2),
        (SAMPLED_2, 1e-5, 1.56e-3, 1.675e-3),
        (SAMPLED_2, 1e-4, 7.76e-3, 8.315e-3),
        (SAMPLED_2, 1e-3, 3.57e-2, 3.805e-2),
        (SAMPLED_2, 1e-2, 0.1454, 0.15395),
    ],
)
def test_true_positive_rates_where_peers_understate(step: Step, fpr: float, low: float, high: float) -> None:
    ours = bracket(ComposedLaw([(step, 10_000)]), "roc", fpr)
    assert low < ours[0] < high  # peers' bracket is a hundred times wider
    assert low < ours[1] < high * 1.001
    assert ours[1] - ours[0] <= 1.01e-3 * ours[1]


# composition.md §7, relative width 1e-3 at FPR 1e-9
@pytest.mark.parametrize(
    ("step", "truth"), [(SAMPLED_1, (2.44436e-9, 2.44895e-9)), (SAMPLED_2, (1.70767e-6, 1.70892e-6))]
)
def test_the_far_tail(step: Step, truth: tuple[float, float]) -> None:
    low, high = bracket(ComposedLaw([(step, 10_000)]), "roc", 1e-9)
    assert truth[0] < low < high < truth[1]


def test_a_curve_never_falls_below_chance() -> None:
    ends = np.geomspace(1e-9, 0.4, 60)
    alpha = np.concatenate((ends, [0.5], 1 - ends[::-1]))
    for step in (SAMPLED_1, SAMPLED_2):
        law = ComposedLaw([(step, 10_000)])
        for view in (law, law.reverse()):
            high, low = view.roc(alpha), view.other_side().roc(alpha)
            assert np.all(high >= alpha)
            assert np.all(low >= alpha)
            assert np.all(low <= high)
            assert np.all(np.diff(high) >= -1e-12)


def test_the_gaussian_by_the_long_way_agrees_with_its_closed_form() -> None:
    for mu, k in ((0.02, 1000), (1e-9, 50), (3.0, 4), (0.5, 400)):
        law, exact = ComposedLaw([(NormalStep(mu), k)]), Normal(A(mu * math.sqrt(k)))
        size = mu * math.sqrt(k)
        for delta in (0.3 * float(exact.profile(A(0.0))), 1e-3 * min(size, 1), 1e-15, 1e-100):
            low, high = bracket(law, "profile_inverse", delta)
            assert low <= float(exact.profile_inverse(A(delta))) <= high
            assert high - low <= 1.01e-3 * high
        for fpr in (1e-250, 1e-30, 1e-9, 1e-3, 0.2, 0.7, 1 - 1e-6):
            for reading in ("roc", "tradeoff", "inverse_roc"):
                low, high = bracket(law, reading, fpr)
                assert low <= float(getattr(exact, reading)(A(fpr))) * (1 + 1e-13), (mu, reading, fpr)
                assert float(getattr(exact, reading)(A(fpr))) * (1 - 1e-13) <= high, (mu, reading, fpr)
        for u in (0.0, size, -size, 3 * size, 20 * size):
            low, high = bracket(law, "profile", u)
            assert low <= float(exact.profile(A(u))) * (1 + 1e-13)
            assert float(exact.profile(A(u))) * (1 - 1e-13) <= high


def test_equal_laplaces_agree_with_their_exact_product() -> None:
    law, exact = ComposedLaw([(LaplaceStep(0.7), 6)]), laplace_product(0.7, 6)
    for u in (-3.0, -0.7, 0.0, 0.7, 1.3, 3.5, 4.1):
        low, high = bracket(law, "profile", u)
        assert low <= float(exact.profile(A(u))) * (1 + 1e-9)
        assert float(exact.profile(A(u))) * (1 - 1e-9) <= high
    for alpha in (1e-9, 1e-3, 0.1, 0.5, 0.9):
        low, high = bracket(law, "roc", alpha)
        assert low <= float(exact.roc(A(alpha))) * (1 + 1e-9)
        assert float(exact.roc(A(alpha))) * (1 - 1e-9) <= high
    assert float(law.max_llr()) == pytest.approx(4.2, rel=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_exact_rational_products_lie_strictly_inside(seed: int) -> None:
    rng, ratio = np.random.default_rng(seed), Fraction(3, 2)
    with mp.workdps(40):
        unit = float(mp.log(mp.mpf(3) / 2))
    masses, keep, steps = {0: Fraction(1)}, Fraction(1), []
    for _ in range(int(rng.integers(1, 3))):
        j, p1, only0, only1 = lattice_pair(rng, ratio)
        k = int(rng.integers(1, 12))
        with mp.workdps(40):
            log_p = [float(mp.log(mp.mpf(p.numerator) / p.denominator)) for p in p1]
        steps.append((FiniteStep(Atoms(A(j) * unit, A(log_p), float(only0), float(only1))), k))
        for _ in range(k):
            new: dict[int, Fraction] = {}
            for i, m in masses.items():
                for e, p in zip(j, p1, strict=True):
                    new[i + e] = new.get(i + e, Fraction(0)) + m * p
            masses, keep = new, keep * (1 - only1)
    law, top = ComposedLaw(steps), 1 - keep
    most = max(masses) * unit
    for _ in range(8):
        u = float(rng.choice([0.0, rng.uniform(-6, 6), rng.uniform(0, max(most, 1.0))]))
        low, high = bracket(law, "profile", u)
        truth = exact_profile(masses, top, ratio, u)
        assert Fraction(low) <= truth <= Fraction(high)
        assert Fraction(high) - Fraction(low) <= Fraction(11, 10_000) * truth
        alpha = float(10.0 ** rng.uniform(-14, 0))
        low, high = bracket(law, "roc", alpha)
        truth = exact_roc(masses, top, ratio, alpha)
        assert Fraction(low) <= truth <= Fraction(high)
        assert Fraction(high) - Fraction(low) <= Fraction(11, 10_000) * truth


@pytest.mark.parametrize(
    ("sigma", "rate", "k", "epsilon", "tilts"),
    [
        (1.0, 0.01, 1000, 1.5, (2.0, 3.0)),
        (2.0, 0.1, 200, 2.0, (2.0, 3.0)),
        (1.5, 1e-3, 2000, 0.05, (8.0, 12.0)),
    ],
)
def test_the_contour_integral_lies_inside(
    sigma: float, rate: float, k: int, epsilon: float, tilts: tuple[float, float]
) -> None:
    moment = moment_of_sampled_normal(sigma, rate)
    first, second = (contour(moment, k, epsilon, tilt, tilt / 10) for tilt in tilts)
    assert first == pytest.approx(second, rel=1e-8)  # trusted only where two contours agree
    low, high = bracket(ComposedLaw([(SampledStep(NormalStep(1 / sigma), rate), k)]), "profile", epsilon)
    assert low <= first * (1 + 1e-9)
    assert first * (1 - 1e-9) <= high


def test_rare_losses_that_begin_to_rule_the_saddle_cost_no_digits() -> None:
    """Near σ = 1.12 the tilted law of these steps is about to be taken over by its rare large losses."""
    sigma, rate, k = 1.1153449164184503, 1e-3, 10_000
    low, high = bracket(ComposedLaw([(SampledStep(NormalStep(1 / sigma), rate), k)]), "profile_inverse", 1e-5)
    assert high - low <= 1e-6 * high
    moment = moment_of_sampled_normal(sigma, rate)
    first, second = (contour(moment, k, high, tilt, tilt / 10) for tilt in (8.0, 12.0))
    assert first == pytest.approx(second, rel=1e-8)
    assert first == pytest.approx(1e-5, rel=1e-6)


def test_other_readings_bracket_the_gaussian() -> None:
    law, exact = ComposedLaw([(NormalStep(0.05), 300)]), Normal(A(0.05 * math.sqrt(300)))
    for reading, arguments in (
        ("auc", ()),
        ("psi", ()),
        ("kl", ()),
        ("log_moment", (0.5,)),
        ("log_moment", (3.0,)),
        ("fbeta", (1.0, 1.0)),
        ("fbeta", (2.0, 9.0)),
        ("fbeta", (0.5, 0.2)),
    ):
        low, high = bracket(law, reading, *arguments)
        truth = float(getattr(exact, reading)(*map(A, arguments)))
        assert low <= truth * (1 + 1e-12 * np.sign(truth))
        assert high >= truth * (1 - 1e-12 * np.sign(truth))
        assert high - low <= 2e-3 * abs(truth)


def test_psi_of_bounded_losses_comes_from_the_curve() -> None:
    law, exact = ComposedLaw([(LaplaceStep(0.5), 8)]), laplace_product(0.5, 8)
    low, high = bracket(law, "psi")
    assert low <= float(exact.psi()) <= high
    assert high <= low * 1.005


def test_the_test_of_a_threshold_surely_exists() -> None:
    law = ComposedLaw([(SAMPLED_2, 1000)])
    alpha, recall = law.at(A(0.3))
    assert recall <= law.roc(A(alpha))
    assert recall >= 0.97 * float(law.roc(A(alpha)))


def test_extreme_sizes() -> None:
    for step, k in (
        (NormalStep(1e-9), 3),
        (LaplaceStep(1e-9), 1000),
        (LaplaceStep(700.0), 3),
        (SampledStep(NormalStep(1.0), 1e-7), 10**6),
        (SampledStep(LaplaceStep(5.0), 1e-7), 10**6),
        (SampledStep(NormalStep(5.0), 0.999999), 10),
        (NormalStep(40.0), 2),
    ):
        law = ComposedLaw([(step, k)])
        for reading, argument in (("profile", 0.0), ("roc", 1e-6), ("roc", 0.999), ("profile_inverse", 1e-12)):
            low, high = bracket(law, reading, argument)
            assert 0 <= low <= high, (step, reading)
            assert not math.isnan(high)


def test_what_is_asked_twice_is_not_computed_twice() -> None:
    law = ComposedLaw([(SAMPLED_2, 1000)])
    law.roc(A(0.01))
    before = len(law._forward._made)
    law.roc(A(0.01))
    law.other_side().roc(A(0.01))
    assert len(law._forward._made) == before > 0


@pytest.mark.parametrize("steps", [[(SAMPLED_2, 1000)], [(SAMPLED_1, 10_000)], [(LaplaceStep(0.5), 5), (rr(1.0), 3)]])
def test_a_reading_does_not_depend_on_what_was_asked_before(steps: list[tuple[Step, int]]) -> None:
    questions = [("roc", 0.01), ("profile_inverse", 1e-5), ("profile", 0.2), ("tradeoff", 0.9), ("worse_epsilon", 1e-5)]
    fresh = [bracket(ComposedLaw(steps), *question) for question in questions]
    law = ComposedLaw(steps)
    for at in (0, 3, 2, 4, 1, 0):
        assert bracket(law, *questions[at]) == fresh[at]
        law.auc()


def test_a_width_out_of_reach_is_said() -> None:
    # three atoms that share no lattice: below, sums of a few of them cannot be followed to seven digits
    loss = np.array([-1.0, math.sqrt(0.2), math.sqrt(2.0)])
    law = ComposedLaw([(FiniteStep(Atoms(loss, np.log([0.2, 0.5, 0.3]))), 2)], width=1e-6)
    low, high = bracket(law, "roc", 1e-2)
    assert low < high
    assert not law.reached


@pytest.mark.parametrize(("mu", "rate", "k"), [(0.2, 0.5, 10**6), (0.5, 0.3, 10**5), (0.5, 0.9, 20_000)])
def test_huge_losses_are_never_flattered(mu: float, rate: float, k: int) -> None:
    # everything is revealed: whatever a slice cannot hold must read as risk, also after other questions
    law = ComposedLaw([(SampledStep(NormalStep(mu), rate), k)])
    for reading, argument in (("roc", 1e-9), ("profile_inverse", 1e-9), ("roc", 0.3), ("profile", 0.0)):
        assert bracket(law, reading, argument)[1] >= 0.999
    assert float(law.tradeoff(A(0.01))) <= 1e-3


@pytest.mark.parametrize("first", [("roc", 1e-3), ("roc", 0.3), ("profile", 0.0)])
def test_what_was_cut_off_as_decided_is_not_free_of_false_positives(first: tuple[str, float]) -> None:
    # a slice made for a large α cuts losses off; at a tiny α it must not claim their recall without their H0-mass
    step = SampledStep(NormalStep(1 / 0.3), 1e-2)
    asked, fresh = ComposedLaw([(step, 3)]), ComposedLaw([(step, 3)])
    getattr(asked, first[0])(A(first[1]))
    for reading, at in (("roc", 1e-20), ("roc", 1e-60), ("inverse_roc", 1e-12), ("inverse_roc", 1e-7)):
        (low, high), (other_low, other_high) = bracket(asked, reading, at), bracket(fresh, reading, at)
        assert 0 < low <= other_high
        assert other_low <= high <= low * 1.01


def test_false_positives_without_a_bound_make_no_nan() -> None:
    # a coarse first slice at a negative tilt, whose mass beyond the doubles overflows
    law = ComposedLaw([(NormalStep(0.3545629407321902), 407)])
    recall = 0.9999999982847705
    low, high = bracket(law, "inverse_roc", recall)
    truth = float(Normal(A(0.3545629407321902 * math.sqrt(407))).inverse_roc(A(recall)))
    assert low < truth < high
    assert not law.reached or high < 1.01 * low


def test_masses_too_unlike_for_a_hull_claim_nothing_and_warn_of_nothing() -> None:
    law = ComposedLaw([(SampledStep(NormalStep(1 / 2.2368683376736063), 6.588584685001897e-06), 170_915)])
    low, high = bracket(law, "fbeta", 0.6508494259204258, 599.0)
    assert 0 <= low <= high <= 1


def test_a_law_that_was_asked_much_still_answers() -> None:
    asked, fresh = ComposedLaw([(rr(0.5), 2000)]), ComposedLaw([(rr(0.5), 2000)])
    for u in np.linspace(0.0, 900.0, 120):
        asked.profile(A(u))
    assert len(asked._forward._made) <= 48
    (low, high), (other_low, other_high) = (bracket(v, "profile_inverse", 1e-200) for v in (asked, fresh))
    assert max(low, other_low) <= min(high, other_high)
    assert high - low <= 1e-3 * high


def test_delta_never_rises_with_epsilon_however_far() -> None:
    law = ComposedLaw([(SAMPLED_2, 100)])
    u = np.array([1.0, 20.0, 60.0, 85.0, 100.0, 700.0, 1e5])
    one_by_one = np.array([float(law.profile(A(v))) for v in u])
    assert np.all(np.diff(one_by_one) <= 0)
    assert one_by_one[-1] == 0.0 or one_by_one[-1] < 1e-300
    assert np.all(np.diff(law.profile(u)) <= 0)


def test_psi_is_at_least_that_of_the_normal_part() -> None:
    law = ComposedLaw([(SAMPLED_2, 1000), (LaplaceStep(0.5), 1), (rr(0.5), 1)])
    low, high = bracket(law, "psi")
    assert math.sqrt(1000) <= low <= high <= math.sqrt(1000) * 1.001


def test_psi_beyond_what_a_recall_in_doubles_can_show() -> None:
    # ψ ≥ z_α + z_β at any point of the curve: here α = β = P(L ≥ 0 | H0), far below 1e-16
    steps = [(LaplaceStep(30.0), 1), (LaplaceStep(31.0), 1), (LaplaceStep(32.0), 1)]
    with mp.workdps(40):
        # one of three alone is silent (½e^{−m} each way): all three beyond their far ends and more
        error = mp.exp(-mp.mpf(93) / 2) / 2
        z = float(-mp.sqrt(2) * mp.erfinv(2 * error - 1))
    assert float(ComposedLaw(steps, 1e-2).psi()) > 2 * z * 0.9 > 16.5


def test_an_epsilon_no_window_holds_is_bounded_by_moments() -> None:
    law = ComposedLaw([(NormalReplacementStep(1 / 0.9109239281373337, 0.001168505079585171), 35_391)], 1e-2)
    low, high = bracket(law, "profile_inverse", 4.8927067100445674e-232)
    assert 30 < low <= high < 60


def test_masses_beyond_a_window_at_a_negative_tilt_do_not_overflow() -> None:
    law = ComposedLaw([(NormalStep(56.33827742488347), 1)], 1e-2)
    low, high = bracket(law, "inverse_roc", 0.9999991506012589)
    assert low <= float(Normal(A(56.33827742488347)).inverse_roc(A(0.9999991506012589))) <= high


@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.01), (2.0, 1e-4), (0.5, 0.9)])
@pytest.mark.parametrize("fpr", [1e-9, 1e-3, 0.2])
def test_one_sampled_step_in_closed_form(mu: float, rate: float, fpr: float) -> None:
    # rejecting above x has α = Φ(−x) and recall (1−q)Φ(−x) + qΦ(μ−x), with δ = recall − e^L·α at its own threshold
    law = ComposedLaw([(SampledStep(NormalStep(mu), rate), 1)])
    with mp.workdps(30):
        q, m = mp.mpf(rate), mp.mpf(mu)
        x = mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(fpr))
        recall = (1 - q) * mp.ncdf(-x) + q * mp.ncdf(m - x)
        loss = mp.log(1 - q + q * mp.exp(m * x - m * m / 2))
        delta = recall - mp.exp(loss) * mp.mpf(fpr)
    low, high = bracket(law, "roc", fpr)
    assert low <= recall <= high <= low * (1 + 1e-9)
    low, high = bracket(law, "inverse_roc", float(recall))
    assert low <= fpr * (1 + 1e-12)
    assert fpr <= high * (1 + 1e-12)
    assert high <= low * (1 + 1e-8)
    if loss > 0:
        low, high = bracket(law, "profile", float(loss))
        assert low * (1 - 1e-9) <= delta <= high * (1 + 1e-9)
        assert high <= low * (1 + 1e-6)


def test_weights_that_underflow_under_a_steep_tilt_still_count_for_other_tilts() -> None:
    # nearly all losses at their largest: the tilt is in the thousands, and 4.5 + a little is the most there is
    steps: list[tuple[Step, int]] = [
        (SampledStep(NormalStep(0.18245964608346835), 0.0001088834848025061), 192),
        (LaplaceStep(0.1), 30),
        (rr(0.3), 5),
    ]
    low, high = bracket(ComposedLaw(steps), "profile_inverse", math.exp(-52.28051386341235))
    assert 4.49 < low <= high < 4.505


@pytest.mark.parametrize("recall", [1.58e-300, 1e-290, 1e-200])
def test_the_first_alarms_are_worth_the_largest_ratio(recall: float) -> None:
    """Sampled Laplace shows its largest ratio 1 + q(e^ε − 1) with a mass of its own: the curve starts straight."""
    epsilon, rate = 0.3588626209260864, 0.0058015204191640074
    e = el.subsample(el.laplace(epsilon=epsilon), rate=rate)
    ratio = 1 + rate * math.expm1(epsilon)
    low, high = e.bracket("precision", prior=0.1, recall=recall)
    assert low * (1 - 1e-12) <= ratio / (ratio + 9) <= high * (1 + 1e-12)
    assert high - low <= 1e-3 * high
    assert e.law.reached


@pytest.mark.parametrize(
    ("e", "reading", "arguments"),
    [
        (el.mechanisms.discrete_gaussian(sigma=3.0).repeat(13), "psi", {}),
        (el.compose(el.laplace(epsilon=0.0663).repeat(9), el.gaussian(psi=0.19)), "psi", {}),
        (el.laplace(epsilon=3.0).repeat(20), "mu", {"level": 1e-10}),
        (el.dpsgd(sigma=1.0, rate=0.01, steps=100), "precision", {"recall": 1e-3, "prior": 1e-9}),
    ],
)
def test_a_bracket_is_narrow_or_said_not_to_be(e: el.Experiment, reading: str, arguments: dict[str, float]) -> None:
    low, high = (float(end) for end in e.bracket(reading, **arguments))
    assert e.law.reached is (high - low <= 1e-3 * high)


def test_whatever_leaves_is_looked_at() -> None:
    law = ComposedLaw([(LaplaceStep(0.1), 3)])
    law.seen(A(1.0), A(1.0005))
    law.seen(A([0.0, math.inf]), A([0.0, math.inf]))
    assert law.reached
    law.seen(A([1.0, 2.0]), A([1.0, 2.1]))
    assert not law.reached
    assert not law.other_side().reached


def spread_out(sigma: float, rate: float, steps: int, epsilon: float) -> float:
    """δ where noise is so small that a draw is told for certain: given N of them L is normal, up to e^{−1/8σ²}."""
    total = mp.mpf(0)
    for n in range(1, 60):
        ways = mp.binomial(steps, n) * mp.mpf(rate) ** n * mp.mpf(1 - rate) ** (steps - n)
        if n > steps or ways < 1e-40:
            break
        sd = mp.sqrt(n) / sigma
        mean = n * (1 / (2 * mp.mpf(sigma) ** 2) + mp.log(rate)) + (steps - n) * mp.log1p(-mp.mpf(rate))
        z = (epsilon - mean) / sd
        total += ways * (mp.ncdf(-z) - mp.exp(epsilon - mean + sd * sd / 2) * mp.ncdf(-z - sd))
    return float(total)


@pytest.mark.parametrize(
    ("rate", "steps", "delta"),
    [(0.1, 17, 1e-6), (0.1, 17, 1e-9), (1e-5, 10**5, 1e-9), (0.3, 40, 1e-5), (0.01, 300, 0.01)],
)
def test_losses_spread_further_than_doubles_reach(
    rate: float, steps: int, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    sigma, spent = 0.01, 0
    make = Evaluator._by_lattice

    def counted(self: Evaluator, *given: Any) -> Any:
        nonlocal spent
        made = make(self, *given)
        spent += made.cost if made is not None else 0
        return made

    monkeypatch.setattr(Evaluator, "_by_lattice", counted)
    law = ComposedLaw([(SampledStep(NormalStep(1 / sigma), rate), steps)])
    low, high = bracket(law, "profile_inverse", delta)
    assert spread_out(sigma, rate, steps, low) >= delta * (1 - 1e-9)
    assert spread_out(sigma, rate, steps, high) <= delta * (1 + 1e-9)
    assert high - low <= 0.02 * high
    assert law.reached == (high - low <= 1e-3 * high)
    assert spent < MOST_WORK


@pytest.mark.parametrize("alpha", [0.02, 0.4, 0.9, 0.99])
def test_precision_by_recall_is_that_by_false_alarms(alpha: float) -> None:
    """The recall at α is read off the other way round: at that recall the precision is r/(r + α), and hardly more."""
    e = el.dpsgd(sigma=1.0, rate=0.01, steps=1000)
    recall = float(e.recall(alpha))
    assert e.precision(recall=recall) == pytest.approx(recall / (recall + alpha), rel=2e-3)
    several = np.asarray(e.precision(recall=np.asarray([0.3, recall, 0.999])))
    assert several[1] == pytest.approx(recall / (recall + alpha), rel=2e-3)


def test_what_stands_for_the_end_of_a_list_is_in_the_high_end_alone() -> None:
    """Beyond ε₀ + reach the integers are too rare for doubles: δ is 0 to 1e-320, and so says the bracket."""
    e = el.compose(el.mechanisms.pure(epsilon=0.4152037234064885), el.mechanisms.skellam(variance=1.37601082090469))
    low, high = e.bracket("delta", epsilon=8.582841292562694)
    assert low == 0
    assert 0 < high < 1e-318


# Bounds on a product from its steps alone.

SHARES = (1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.95)


@pytest.mark.parametrize("a", SHARES)
def test_no_advantage_exceeds_what_divergences_allow(a: float) -> None:
    """Two coins, one of them with its laws exchanged: Σ (P − Q)⁺ over the four outcomes, by hand."""
    for b, c, d in product(SHARES, repeat=3):
        if a == b or c == d:
            continue
        first, second = (Finite.of(np.array([q, 1 - q]), np.array([p, 1 - p])).steps()[0] for p, q in ((a, b), (d, c)))
        made = Product([first, (ReversedStep(second[0]), 1)])
        apart = sum(
            max(x * y - u * v, 0.0) for (x, u), (y, v) in product(((a, b), (1 - a, 1 - b)), ((c, d), (1 - c, 1 - d)))
        )
        assert apart <= made.pinsker
        log = math.log
        orders = [a * log(a / b) + (1 - a) * log((1 - a) / (1 - b)), b * log(b / a) + (1 - b) * log((1 - b) / (1 - a))]
        assert Product([first]).pinsker >= math.sqrt(min(orders) / 2) * (1 - 1e-9)


# A budget of work: what is spent ends the search, not the truth of the bracket.

#: A training, a reading, and its bracket as found with several times the work and no slices shared.
SLOW: list[tuple[dict[str, Any], str, dict[str, float], tuple[float, float]]] = [
    ({"sigma": 0.3, "rate": 0.001, "steps": 100, "people": 3}, "mu", {"level": 1e-6}, (2.1613415, 2.1614147)),
    ({"sigma": 0.3, "rate": 0.001, "steps": 100, "people": 3}, "auc", {}, (0.5963755, 0.5964317)),
    (
        {"sigma": 1.0, "n": 50_000, "batch": 500, "epochs": 10, "batches": "with replacement"},
        "mu",
        {"level": 1e-6},
        (2.3070868, 2.3071862),
    ),
    (
        {"sigma": 1.0, "n": 50_000, "batch": 500, "epochs": 10, "batches": "with replacement"},
        "auc",
        {},
        (0.8545479, 0.8545902),
    ),
]


def test_both_orders_share_a_budget() -> None:
    budget = Budget()
    ahead = ReadingWork(budget)
    behind = ReadingWork(budget)
    ahead.slices.append(MomentBounds(lambda s: -s, 0.0))
    assert ahead.has_budget
    assert behind.has_budget
    budget.spent = MOST_WORK
    assert not ahead.has_budget
    assert behind.has_budget  # nothing is known there yet
    assert budget.left == 0


@pytest.mark.parametrize("most", [MOST_WORK, 2**14])
@pytest.mark.parametrize(("given", "reading", "asked", "truth"), SLOW)
def test_what_is_left_is_wider_and_true(
    given: dict[str, Any],
    reading: str,
    asked: dict[str, float],
    truth: tuple[float, float],
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluator, "MOST_WORK", most)
    e = el.dpsgd(**given)
    low, high = e.bracket(reading, **asked)
    assert low <= truth[1]
    assert high >= truth[0]
    size = high - 0.5 if reading == "auc" else high
    assert e.law.reached == (high - low <= 4e-3 * size)
    if most == MOST_WORK:
        assert high - low < 0.02 * size


def test_readings_that_share_work_do_not_depend_on_what_was_asked_before() -> None:
    given, reading, asked, _ = SLOW[0]
    fresh = el.dpsgd(**given).bracket(reading, **asked)
    used = el.dpsgd(**given)
    used.bracket("auc")
    used.bracket("delta", epsilon=1.0)
    assert used.bracket(reading, **asked) == fresh


def test_bounds_by_moments_end_where_they_no_longer_fall() -> None:
    mu, k = 0.1, 100
    order = Evaluator(Product([(NormalStep(mu), k)]), False, 1e-3)
    u = np.asarray([0.1, 2.0, 30.0])
    found = order.chernoff(lambda tilt, of: of - tilt * u, np.zeros(u.size))
    # the least of λ(λ+1)/2 − λu lies at λ = u − ½, and tilts are no further than 1.5 times apart
    best = np.asarray([-((v - 0.5) ** 2) / 2 if v > 0.5 else 0.0 for v in u])
    assert (found >= best - 1e-9).all()
    assert (found <= 0.95 * best + 1e-2).all()
    asked: list[float] = []

    def counted(tilt: float, of: float) -> Any:
        asked.append(tilt)
        return (of - math.log(1e-5)) / tilt + np.zeros(1)

    epsilon = order.chernoff(counted, np.full(1, np.inf))
    assert float(epsilon[0]) == pytest.approx(0.5 + math.sqrt(2 * math.log(1e5)), rel=0.01)
    assert max(asked) < 20  # the best is √(2·log 1e5) = 4.8


def test_series_that_come_to_nothing_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where steps are dear, four in a row do: the area under this curve took 113 of them and 8 s."""
    tried: list[Any] = []
    whole: Any = vars(evaluator)["series_profile"]

    def counted(*given: Any) -> Any:
        tried.append(given)
        return whole(*given)

    monkeypatch.setattr(evaluator, "series_profile", counted)
    settings: dict[str, Any] = {
        "n": 1_000_000,
        "batch": 500_000,
        "people": 10,
        "batches": "with replacement",
        "neighbours": "replace",
    }
    low, high = el.dpsgd(sigma=2.0, steps=17, **settings).bracket("auc")
    assert low <= high == 1.0
    assert low > 0.99999
    assert len(tried) < 40
