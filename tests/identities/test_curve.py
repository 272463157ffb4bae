"""What must hold of the trade-off curve and the readings of it, for every law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from tests.examples import examples
from tests.strategies import any_experiment, closed_forms, experiments, finite_pairs, piece_experiments, positive

import epsilens as el
from epsilens.experiment import Experiment

GRID = np.concatenate(([0.0, 1e-9, 1e-5], np.linspace(1e-3, 1 - 1e-3, 199), [1 - 1e-5, 1 - 1e-9, 1.0]))


@given(any_experiment())
def test_tradeoff_is_convex_falling_and_below_the_diagonal(e: Experiment) -> None:
    f = e.tradeoff(GRID)
    assert np.all(f <= 1 - GRID + 1e-13)
    assert np.all(np.diff(f) <= 1e-13)
    slopes = np.diff(f) / np.diff(GRID)
    widths = np.diff(GRID)
    assert np.all(np.diff(slopes) >= -4e-14 / np.minimum(widths[1:], widths[:-1]) - 1e-9 * np.abs(slopes[:-1]))


@given(any_experiment(), st.floats(0, 1))
def test_roc_is_one_minus_tradeoff(e: Experiment, alpha: float) -> None:
    assert e.roc(alpha) + e.tradeoff(alpha) == pytest.approx(1.0, abs=1e-13)
    assert e.roc(alpha) == e.recall(alpha) == e.attack_success(alpha)


@given(any_experiment())
def test_the_other_order_is_the_inverse_function(e: Experiment) -> None:
    """T(H1,H0) = f⁻¹: at the miss β of α, the other order misses at most α, and exactly α where f falls strictly."""
    alpha = np.linspace(0.02, 0.98, 25)
    miss = e.tradeoff(alpha)
    back = e.reverse().tradeoff(np.clip(miss, 0, 1))
    strict = (miss > 1e-9) & (miss < e.tradeoff(0.0) - 1e-9)
    assert np.all(back <= alpha + 1e-9)
    assert back[strict] == pytest.approx(alpha[strict], abs=1e-8)


@given(experiments())
def test_reversing_twice_changes_nothing(e: Experiment) -> None:
    again = e.reverse().reverse()
    assert again.tradeoff(GRID) == pytest.approx(e.tradeoff(GRID), abs=1e-13)
    assert (again.h0, again.h1) == (e.h0, e.h1)
    assert again.kl() == pytest.approx(e.kl(), rel=1e-12, abs=1e-15)


@given(experiments())
def test_symmetric_laws_read_the_same_in_both_orders(e: Experiment) -> None:
    if e.law.symmetric:
        back = Experiment(e.law.reverse())
        assert back.tradeoff(GRID) == pytest.approx(e.tradeoff(GRID), abs=1e-13)
        assert back.kl() == pytest.approx(e.kl(), rel=1e-10, abs=1e-15)
        # the builder's claim of symmetry, against the curve itself: f(f(α)) = α
        alpha = np.linspace(0.02, 0.98, 25)
        miss = e.tradeoff(alpha)
        inside = (miss > 1e-9) & (miss < e.tradeoff(0.0) - 1e-9)
        assert e.tradeoff(miss)[inside] == pytest.approx(alpha[inside], abs=1e-8)


@given(any_experiment(), positive(1e-3, 6.0))
def test_delta_is_the_conjugate_of_the_tradeoff(e: Experiment, epsilon: float) -> None:
    """δ(ε) = sup_α 1 − f(α) − e^ε·α over both orders: no α exceeds it, and a fine grid reaches it."""
    sup = 0.0
    for one in (e, e.reverse()):
        best = float(one.law.at(np.asarray(epsilon))[0])  # the threshold test at likelihood ratio e^ε
        alpha = np.clip(np.concatenate(([0.0, best], np.geomspace(1e-12, 1.0, 60))), 0, 1)
        sup = max(sup, float(np.max(1 - one.tradeoff(alpha) - np.exp(epsilon) * alpha)))
    assert e.delta(epsilon) == pytest.approx(sup, abs=2e-13 * (1 + np.exp(epsilon)))


@given(experiments(), st.floats(0.01, 0.99))
def test_tradeoff_is_the_conjugate_of_delta(e: Experiment, alpha: float) -> None:
    """f(α) = sup_t 1 − t·α − h(t), h the profile in this order: every t bounds it from below, the best attains it."""
    step = 1e-7
    fall = (e.tradeoff(alpha - step) - e.tradeoff(alpha + step)) / (2 * step)  # a subgradient, to rounding
    u = np.concatenate((np.linspace(-45, 45, 901), [np.log(max(fall, 1e-300))]))
    lower = 1 - np.exp(u) * alpha - e.law.profile(u)
    assert float(np.max(lower)) <= e.tradeoff(alpha) + 1e-12
    assert max(float(np.max(lower)), 0.0) >= e.tradeoff(alpha) - 1e-6


@given(any_experiment(), st.floats(0, 1))
def test_success_is_the_bayes_rule_of_the_curve(e: Experiment, prior: float) -> None:
    """1 − min_α (1−π)α + π·f(α)."""
    with np.errstate(divide="ignore"):
        best = float(e.law.at(np.log1p(-np.asarray(prior)) - np.log(np.asarray(prior)))[0])
    alpha = np.clip(np.concatenate(([best], np.linspace(0, 1, 60))), 0, 1)
    error = float(np.min((1 - prior) * alpha + prior * e.tradeoff(alpha)))
    assert e.success(prior) == pytest.approx(1 - error, abs=1e-12)
    assert e.success(prior) >= max(prior, 1 - prior) - 1e-15


@given(experiments())
def test_advantage_is_delta_zero_and_twice_the_success(e: Experiment) -> None:
    assert e.advantage() == pytest.approx(e.delta(0.0), rel=1e-12, abs=1e-15)
    assert e.success() == pytest.approx((1 + e.advantage()) / 2, rel=1e-14)


@settings(max_examples=examples(25))
@given(any_experiment())
def test_auc_is_the_area_under_the_roc(e: Experiment) -> None:
    """Trapezoids on a grid graded towards both ends; kinks leave some 1e-3."""
    x = np.linspace(0, 1, 401)
    alpha = x**3 * (10 - 15 * x + 6 * x * x)
    area = np.sum(np.diff(alpha) * (e.roc(alpha[1:]) + e.roc(alpha[:-1])) / 2)
    assert e.auc() == pytest.approx(float(area), abs=5e-3)
    assert e.auc() >= float(area) - 1e-12  # trapezoids lie below a concave curve


@given(experiments(), st.floats(0.001, 0.999), st.floats(0.01, 0.99))
def test_precision_at_a_recall_is_precision_at_its_alpha(e: Experiment, alpha: float, prior: float) -> None:
    recall = e.roc(alpha)
    if recall < 1 - 1e-9 and e.law.inverse_roc(np.asarray(recall)) > 1e-12:
        slope = (e.roc(min(alpha * (1 + 1e-6), 1.0)) - recall) / (alpha * 1e-6)
        if slope > 1e-3:  # where the curve is flat the recall does not tell the α
            assert e.precision(recall=recall, prior=prior) == pytest.approx(e.precision(alpha, prior), rel=1e-8)


@given(experiments(), st.floats(0.01, 0.99))
def test_precision_is_at_most_the_posterior(e: Experiment, prior: float) -> None:
    p = np.asarray(e.precision(np.geomspace(1e-9, 1, 40), prior))
    assert np.all(np.diff(p) <= 1e-12)  # falls as the test widens
    assert np.all(p <= e.posterior(prior) + 1e-12)
    assert p[-1] == pytest.approx(prior, rel=1e-12)
    assert e.precision(0.0, prior) == pytest.approx(e.posterior(prior), rel=1e-12)


@given(experiments(), positive(0.1, 10.0), st.floats(0.05, 0.95))
def test_fbeta_is_the_best_on_the_curve(e: Experiment, beta: float, prior: float) -> None:
    alpha = np.concatenate(([0.0], np.geomspace(1e-9, 1.0, 3000)))
    r, c, b2 = e.roc(alpha), (1 - prior) / prior, beta**2
    scores = (1 + b2) * r / (r + c * alpha + b2)
    assert e.fbeta(beta, prior) >= np.max(scores) - 1e-12
    assert e.fbeta(beta, prior) <= np.max(scores) + 5e-3


@given(closed_forms(), positive(0.3, 3.0), st.floats(0.2, 0.8))
def test_the_cut_off_of_the_best_f_score(e: Experiment, beta: float, prior: float) -> None:
    """The F-optimal test flags where the posterior exceeds F*/(1+β²), for every mechanism."""
    best, c, b2 = e.fbeta(beta, prior), (1 - prior) / prior, beta**2
    cut = best / (1 + b2)
    alpha, recall = (float(v) for v in e.law.at(np.asarray(np.log(c) + np.log(cut) - np.log1p(-cut))))
    assert (1 + b2) * recall / (recall + c * alpha + b2) == pytest.approx(best, rel=1e-12)


# -- ψ --------------------------------------------------------------------------------------------------------------


@given(st.one_of(finite_pairs(zeros=False).map(lambda pq: el.mechanisms.finite(*pq)), closed_forms()))
def test_psi_is_the_smallest_gaussian_below_the_curve(e: Experiment) -> None:
    psi = e.psi()
    if not np.isfinite(psi):
        return
    # where the curve can touch G_ψ: the corners of a polygon, the fixed point α = f(α) of a symmetric curve
    corners = getattr(e.law, "_alpha", np.asarray([(1 - e.advantage()) / 2]))
    alpha = np.concatenate((np.geomspace(1e-12, 0.5, 4000), 1 - np.geomspace(1e-7, 0.5, 4000), corners))
    alpha = alpha[(alpha > 1e-13) & (alpha < 1 - 1e-8)]
    f = e.tradeoff(alpha)
    assert np.all(f >= ndtr(-ndtri(alpha) - psi * (1 + 1e-12)) - 1e-14)
    # a probit within 1e-8 of 1 is good to 1e-8: keep to where the grid has its digits
    inside = (f > 1e-8) & (f < 1 - 1e-8) & (alpha > 1e-8)
    brute = float(np.max(-ndtri(alpha[inside]) - ndtri(f[inside]), initial=0.0))
    assert psi * (1 - 1e-5) - 1e-9 <= brute <= psi * (1 + 1e-5) + 1e-7


@settings(max_examples=12)
@given(piece_experiments())
def test_psi_of_pieces_bounds_the_curve(e: Experiment) -> None:
    psi = e.psi()
    alpha = np.concatenate((np.geomspace(1e-12, 0.5, 200), 1 - np.geomspace(1e-9, 0.5, 200)))
    assert np.all(e.tradeoff(alpha) >= ndtr(-ndtri(alpha) - psi) - 1e-12)


# -- ε and δ --------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(25))
@given(any_experiment(), positive(1e-12, 0.5))
def test_epsilon_never_flatters(e: Experiment, delta: float) -> None:
    """At the ε read for δ, the δ read back is at most δ; a little below that ε it is not."""
    epsilon = e.epsilon(delta)
    if np.isfinite(epsilon):
        assert e.delta(epsilon) <= delta
        if epsilon > 1e-6:
            assert e.delta(epsilon * (1 - 1e-6)) > delta * (1 - 1e-9)


@given(st.one_of(closed_forms(), experiments()), positive(1e-2, 5.0))
def test_epsilon_inverts_delta(e: Experiment, epsilon: float) -> None:
    delta = e.delta(epsilon)
    if 1e-250 < delta < 1 - 1e-9:
        again = e.delta(e.epsilon(delta))
        # one ulp: where δ is exactly the mass that only one law shows, no finite ε lowers its rounded sum
        assert delta * (1 - 1e-9) <= again <= delta * (1 + 2.3e-16)
