"""Every closed form of the Laplace shift against mpmath, to 1e-12 relative over the whole domain."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import LaplaceOracle, SampledLaplaceOracle, disagreements, grid, odds

import epsilens as el

M = [1e-12, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 700.0]
ALPHA = [1e-300, 1e-100, 1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-12]
DELTA = [1e-300, 1e-100, 1e-12, 1e-5, 0.01, 0.3, 0.9]
EPSILON = [0.0, 1e-12, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 700.0]
ORDER = [1e-6, 0.1, 0.5, 0.999999, 1.0, 1.000001, 2.0, 64.0, 1e6, float("inf")]
PRIOR = [1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9]
BETA = [0.01, 0.5, 1.0, 2.0, 100.0]


@pytest.fixture(params=M, ids=lambda m: f"m={m:g}")
def m(request: pytest.FixtureRequest) -> float:
    return float(request.param)


def test_the_curve(m: float) -> None:
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)
    cases = grid(ALPHA)
    assert not disagreements(cases, e.tradeoff, o.tradeoff)
    assert not disagreements(cases, e.roc, o.roc)
    assert not disagreements(cases, e.recall, o.roc)
    assert not disagreements(cases, e.attack_success, o.roc)
    assert not disagreements(cases, lambda r: e.law.inverse_roc(np.asarray(r)), o.inverse_roc)


def test_threshold_tests_and_profile(m: float) -> None:
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)
    levels = [(u,) for u in (-2 * m, -m, -m / 2, 0.0, m / 3, 0.9 * m, m, 2 * m)]
    for i in (0, 1):
        assert not disagreements(levels, lambda u, i=i: e.law.at(np.asarray(u))[i], lambda u, i=i: o.at(u)[i])
    assert not disagreements(levels, lambda u: e.law.profile(np.asarray(u)), o.profile)
    assert not disagreements(grid(EPSILON), e.delta, o.profile)


def test_epsilon_of_delta(m: float) -> None:
    # ε(δ) = m + 2·log(1−δ) is ill-conditioned only where it is near 0; no point of this grid comes close.
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)
    assert not disagreements(grid([0.0, *DELTA]), e.epsilon, o.profile_inverse)


def test_guesses_with_a_prior(m: float) -> None:
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)
    assert not disagreements(grid(PRIOR), e.success, o.success)
    assert not disagreements(grid(PRIOR), e.posterior, o.posterior)
    assert not disagreements([()], e.advantage, o.advantage)


def test_precision(m: float) -> None:
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)

    def at_alpha(a: float, p: float) -> object:
        return o.roc(a) / (o.roc(a) + odds(p) * mpf(a))

    def at_recall(r: float, p: float) -> object:
        return mpf(r) / (mpf(r) + odds(p) * o.inverse_roc(r))

    cases = grid(ALPHA, PRIOR)
    assert not disagreements(cases, e.precision, at_alpha)
    if m > 20:  # R·e^{−m} lies below the smallest double at these recalls, though the precision does not
        cases = [(r, p) for r, p in cases if float(o.inverse_roc(r)) > 1e-305]
    assert not disagreements(cases, lambda r, p: e.precision(recall=r, prior=p), at_recall)


def test_fbeta(m: float) -> None:
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)
    assert not disagreements(grid(BETA, PRIOR), e.fbeta, o.fbeta)


def test_fbeta_oracle_is_the_maximum() -> None:
    """The stationary point in the oracle, against a dense search of the curve itself."""
    for m, beta, prior in [(1.0, 1.0, 0.5), (2.0, 2.0, 0.3), (0.2, 0.5, 0.6), (3.0, 0.1, 0.01)]:
        o = LaplaceOracle(m)
        b2, c = mpf(beta) ** 2, odds(prior)
        best = mpf(0)
        for k in range(1, 801):
            alpha = mp.mpf(10) ** (-4 * (1 - mpf(k) / 800))
            R = 1 - o.tradeoff(alpha)
            best = max(best, (1 + b2) * R / (R + c * alpha + b2))
        assert best <= o.fbeta(beta, prior) * (1 + mpf("1e-40"))
        assert best >= o.fbeta(beta, prior) * (1 - mpf("1e-3"))


def test_divergences(m: float) -> None:
    e, o = el.laplace(epsilon=m), LaplaceOracle(m)
    for name in ("auc", "psi", "kl", "chernoff"):
        assert not disagreements([()], getattr(e, name), getattr(o, name)), name
    assert not disagreements(grid(ORDER), e.renyi, o.renyi)
    powers = [-100.0, -0.5, 1e-9, 1e-6, 0.3, 0.5, 0.75, 0.7500001, 0.9999999, 1.0000001, 3.0]
    assert not disagreements(grid(powers), lambda a: e.law.log_moment(np.asarray(a)), o.log_moment)


def test_the_ends_of_the_curve() -> None:
    e = el.laplace(epsilon=3.0)
    assert (e.tradeoff(0.0), e.tradeoff(1.0), e.roc(0.0), e.roc(1.0)) == (1.0, 0.0, 0.0, 1.0)
    assert e.law.inverse_roc(np.asarray([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert (e.posterior(0.0), e.posterior(1.0), e.success(0.0), e.success(1.0)) == (0.0, 1.0, 1.0, 1.0)
    assert (e.fbeta(1.0, 0.0), e.fbeta(1.0, 1.0)) == (0.0, 1.0)
    # a β whose square leaves the doubles: precision alone, recall alone
    assert float(e.law.fbeta(np.asarray(1e-200), np.asarray(1.0))) == pytest.approx(1 / (1 + np.exp(-3.0)), rel=1e-14)
    assert float(e.law.fbeta(np.asarray(1e200), np.asarray(1.0))) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(("m", "q"), [(1e-12, 0.3), (1e-3, 0.01), (1.0, 0.5), (1.0, 0.999), (5.0, 0.01), (700.0, 0.5)])
def test_a_replaced_record_in_a_sample_alone(m: float, q: float) -> None:
    """Each reading's bracket holds the truth of the pair, (1−q)Lap(0) + qLap(∓m), in both orders."""
    mp.dps = 400 if m > 100 else 50
    e, o = el.subsample(el.laplace(epsilon=m), q, neighbours="replace"), SampledLaplaceOracle(m, q)
    assert abs(o.delta(0) / (mpf(q) * (1 - mp.e ** -mpf(m))) - 1) < mpf("1e-20")  # q(1 − e^{−ε})
    near, far, rare = float(o.top) / 7, float(o.top) * 0.9, float(o.delta(0)) * 0.3
    truths: list[tuple[str, dict[str, float], object]] = [
        ("advantage", {}, o.delta(0)), ("auc", {}, o.auc()), ("success", {}, (1 + o.delta(0)) / 2),
        *(("delta", {"epsilon": u}, o.delta(u)) for u in (near, far)),
        ("epsilon", {"delta": rare}, o.epsilon(rare)), ("epsilon", {"delta": 0.0}, o.top),
        ("posterior", {}, 1 / (1 + mp.e**-o.top)),
        *(("roc", {"fpr": a}, o.roc(a)) for a in (1e-9, 0.1, 0.5, 0.9)),
    ]  # fmt: skip
    for one in (e, e.reverse()):
        for name, given, truth in truths:
            low, high = one.bracket(name, **given)
            assert low <= truth * (1 + mpf("1e-13")), (name, given)
            assert truth <= high * (1 + mpf("1e-15")), (name, given)
            assert high - low <= 2e-3 * high, (name, given)
    if q < 0.999:  # otherwise no test makes both errors as often
        low, high = e.bracket("mu", level=0.01)
        assert low <= 1.005 * o.mu(0.01)
        assert o.mu(0.01) <= high <= 1.001 * low


def test_everybody_drawn_and_a_record_replaced_is_laplace_noise_twice_as_far() -> None:
    for m in (1e-9, 1.0, 700.0):
        e = el.subsample(el.laplace(epsilon=m), 1.0, neighbours="replace")
        assert e.direction == "exact"
        assert e.psi() == el.laplace(epsilon=2 * m).psi()
