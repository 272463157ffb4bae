"""Claims against the mechanisms they come from: never below the truth, and as tight as the references say."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm
from tests.examples import examples
from tests.strategies import experiments, positive

import epsilens as el
from epsilens.bridges import to_gdp, to_rdp, to_zcdp
from epsilens.catalogue.deployments import deployments
from epsilens.errors import InputError, NoSolutionError
from epsilens.experiment import Experiment
from epsilens.laws import envelope as rdp
from epsilens.laws.envelope import Envelope, envelope
from epsilens.mechanisms.claims import NoiseFamily

ALPHA = np.concatenate(
    (np.geomspace(1e-300, 1e-3, 120), np.linspace(0.001, 0.999, 120), 1 - np.geomspace(1e-3, 1e-15, 30))
)
LOSS = np.concatenate(([0.0], np.geomspace(1e-9, 30.0, 120)))


def dominates(claim: Experiment, truth: Experiment, scale: float = 1.0) -> None:
    """Every reading of the claim is at least the truth's; 2e-15 is the rounding of the truth itself."""
    for c, t in ((claim, truth), (claim.reverse(), truth.reverse())):
        assert np.all(c.roc(ALPHA) >= t.roc(ALPHA) * (1 - 4e-15) - 1e-320)
        assert np.all(c.tradeoff(ALPHA) <= t.tradeoff(ALPHA) * (1 + 4e-15) + 1e-320)
        assert np.all(c.delta(LOSS * scale) >= t.delta(LOSS * scale) * (1 - 4e-15) - 1e-320)
        for prior in (0.01, 0.5, 0.9):
            assert c.success(prior) >= t.success(prior) * (1 - 1e-14)
            assert c.posterior(prior) >= t.posterior(prior) * (1 - 1e-14)
            assert c.fbeta(1.0, prior) >= t.fbeta(1.0, prior) * (1 - 1e-12)
        assert c.auc() >= t.auc() * (1 - 1e-12)
        assert c.epsilon(1e-6) >= t.epsilon(1e-6) * (1 - 1e-12)
        assert c.psi() >= t.psi() * (1 - 1e-12)
        assert c.kl() >= t.kl() * (1 - 1e-9)
        assert c.chernoff() >= t.chernoff() * (1 - 1e-9)
    assert claim.direction == "upper"


# -- several (ε, δ) at once -------------------------------------------------------------------------------------


def lines(alpha: np.ndarray, forward: tuple, backward: tuple) -> np.ndarray:
    """The largest of the lines, one by one."""
    value = np.zeros_like(alpha)
    for e, d in zip(*forward, strict=True):
        value = np.maximum(value, 1 - d - np.exp(e) * alpha)
    for e, d in zip(*backward, strict=True):
        value = np.maximum(value, np.exp(-e) * (1 - d - alpha))
    return value


@st.composite
def claimed(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    n = draw(st.integers(1, 8))
    eps = draw(st.lists(st.one_of(st.just(0.0), positive(1e-6, 20.0)), min_size=n, max_size=n))
    return eps, draw(st.lists(st.one_of(st.just(0.0), positive(1e-9, 1.0)), min_size=n, max_size=n))


@given(claimed())
def test_several_claims_are_the_largest_of_their_lines(pairs: tuple[list[float], list[float]]) -> None:
    e = el.mechanisms.from_dp(*pairs)
    alpha = np.linspace(0, 1, 301)
    assert np.allclose(e.tradeoff(alpha), lines(alpha, pairs, pairs), rtol=1e-11, atol=1e-15)
    for eps, d in zip(*pairs, strict=True):  # it satisfies each of them
        assert e.delta(eps) <= d * (1 + 1e-11) + 1e-15


@given(claimed(), claimed())
def test_claims_of_the_two_orders_may_differ(
    forward: tuple[list[float], list[float]], backward: tuple[list[float], list[float]]
) -> None:
    one, other = (tuple(map(np.asarray, pairs)) for pairs in (forward, backward))
    law = envelope(one[0], one[1], other)  # type: ignore[arg-type]
    alpha = np.linspace(0, 1, 301)
    assert np.allclose(law.tradeoff(alpha), lines(alpha, forward, backward), rtol=1e-11, atol=1e-15)
    total = np.exp(law.log_p0).sum() + law.only0, np.exp(law.log_p0 + law.llr).sum() + law.only1
    assert total == pytest.approx((1.0, 1.0), abs=1e-13)


@given(experiments())
def test_the_profile_of_a_mechanism_gives_back_a_pair_that_dominates_it(e: Experiment) -> None:
    eps = np.linspace(0, 12, 200)
    both = el.mechanisms.from_dp(eps, e.delta(eps))
    alpha = np.linspace(0.001, 0.999, 50)
    for truth in (e, e.reverse()):
        assert np.all(both.roc(alpha) >= np.asarray(truth.roc(alpha)) - 1e-12)
        assert both.advantage() >= truth.advantage() - 1e-12


def test_one_claim_is_the_mechanism_that_is_known_for_it() -> None:
    for eps, d in ((1.0, 0.0), (1e-12, 1e-6), (700.0, 0.3), (0.0, 0.1)):
        one, listed, known = (
            el.mechanisms.from_dp(eps, d),
            el.mechanisms.from_dp([eps], [d]),
            el.mechanisms.approximate(epsilon=eps, delta=d),
        )
        assert one.name == known.name
        for e in (one, listed):
            assert np.allclose(e.roc(ALPHA), known.roc(ALPHA), rtol=1e-12, atol=0)
            assert e.epsilon(d) == pytest.approx(known.epsilon(d), rel=1e-12)


def test_an_exact_claim_is_read_back_exactly() -> None:
    e = el.mechanisms.from_dp([0.5, 1.0, 2.0], [0.1, 1e-2, 1e-5])
    assert e.epsilon(1e-5) == 2.0
    assert e.epsilon(0.0) == np.inf
    assert el.mechanisms.from_dp([1.0, 2.0], [1.0, 1.0]).advantage() == 1.0  # nothing is promised


# -- RDP and zCDP -----------------------------------------------------------------------------------------------


def coins(eps: float, m: float, rho: float) -> mp.mpf:
    """The largest p − e^ε·q over coins with D_{1+m} ≤ ρ, by maximising over q and bisecting for p; 60 digits."""
    mp.mp.dps = 60
    t, a, c = mp.e ** mp.mpf(eps), 1 + mp.mpf(m), mp.e ** (mp.mpf(m) * mp.mpf(rho))

    def most(log_q: mp.mpf) -> mp.mpf:
        q = mp.e**log_q
        low, high = log_q, mp.mpf(0)
        if q ** (1 - a) <= c:
            return 1 - t * q
        for _ in range(110):
            p = mp.e ** ((low + high) / 2)
            inside = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a) <= c
            low, high = ((low + high) / 2, high) if inside else (low, (low + high) / 2)
        return mp.e**low - t * q

    x, y = mp.mpf(-80), mp.mpf("-1e-6")  # log q; p − tq is concave in q, so unimodal in log q
    ratio = (mp.sqrt(5) - 1) / 2
    for _ in range(70):
        u, v = y - ratio * (y - x), x + ratio * (y - x)
        if most(u) > most(v):
            y = v
        else:
            x = u
    return most((x + y) / 2)


@pytest.mark.parametrize(
    ("eps", "m", "rho"),
    [
        (0.0, 1.0, 0.5),
        (0.5, 1.0, 1e-3),
        (2.0, 0.1, 0.3),
        (1.0, 7.0, 0.4),
        (3.0, 30.0, 1.5),
        (0.01, 60.0, 0.05),
        (0.3, 0.01, 2.0),
    ],
)
def test_the_bound_at_one_order_is_the_best_pair_of_coins(eps: float, m: float, rho: float) -> None:
    bound = mp.e ** mp.mpf(float(rdp.delta_bound(np.asarray(eps), np.asarray(m), np.asarray(rho))))
    best = coins(eps, m, rho)
    assert best * (1 - mp.mpf(1e-14)) <= bound <= best * (1 + mp.mpf(1e-9))


@pytest.mark.parametrize("psi", [1e-60, 1e-6, 0.1, 0.5, 1.0, 2.0, 6.0, 20.0])
def test_zcdp_of_a_gaussian_dominates_it(psi: float) -> None:
    dominates(el.mechanisms.from_zcdp(psi**2 / 2 * (1 + 1e-15)), el.gaussian(psi=psi), scale=psi)


# exact, and the optimum over all orders of the conversion by Proposition 12 of Canonne et al. (reference sheet, A.1)
TABLE = {0.1: (0.3406693647, 0.3752612357), 0.5: (1.9930914044, 2.1657155452), 1.0: (4.3771780957, 4.7283869849)}
TABLE |= {2.0: (9.9972561464, 10.7248241129), 3.0: (16.6754944028, 17.8001184317), 6.0: (42.8360081027, 45.2358318619)}


@pytest.mark.parametrize("psi", TABLE)
def test_zcdp_is_at_least_as_tight_as_the_known_conversion(psi: float) -> None:
    exact, converted = TABLE[psi]
    got = el.mechanisms.from_zcdp(psi**2 / 2).epsilon(1e-5)
    assert exact < got <= converted * (1 + 1e-10)
    curve = el.mechanisms.from_rdp(rho=lambda a: a * psi**2 / 2).epsilon(1e-5)
    assert exact < curve <= converted * (1 + 2e-3)


def _converted(rho: Callable[[float], float], delta: float, m: float) -> float:
    """Proposition 12 of Canonne, Kamath & Steinke 2020 at order 1 + m: ρ(a) + (log 1/δ − log a)/m + log(1 − 1/a)."""
    return rho(1 + m) - (math.log(delta) + math.log1p(m)) / m + math.log(m) - math.log1p(m)


@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-10, 1e-30])
@pytest.mark.parametrize("rho", [1e-6, 3.3e-3, 0.0417, 0.5, 2.71, 15.29, 88.8, 700.0])
def test_zcdp_is_never_above_the_closed_conversion_at_its_best_order(rho: float, delta: float) -> None:
    best = min(_converted(lambda a: rho * a, delta, m) for m in np.geomspace(1e-4, 1e9, 4001).tolist())
    claim = el.mechanisms.from_zcdp(rho)
    got = claim.epsilon(delta)
    assert got <= max(best, 0.0) * (1 + 1e-12)
    assert claim.delta(got) <= delta
    normal = el.gaussian(psi=math.sqrt(2 * rho))  # of which the claim is true
    assert normal.epsilon(delta) <= got
    assert claim.delta([got, 0.5 * got, 1.5 * got]) == pytest.approx(
        [claim.delta(got), claim.delta(0.5 * got), claim.delta(1.5 * got)], rel=1e-9
    )


def test_zcdp_at_a_place_between_the_corners() -> None:
    assert el.mechanisms.from_zcdp(15.29).epsilon(1e-10) == pytest.approx(51.56258, abs=5e-6)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("scale", [0.01, 0.3, 7.0])
def test_rdp_is_never_above_the_closed_conversion_of_any_order(scale: float, delta: float) -> None:
    orders = [1 + k / 10 for k in range(1, 100)] + [*range(11, 64), 128, 256, 512, 1024]
    claim = el.mechanisms.from_rdp(orders, [scale * a for a in orders])
    best = min(_converted(lambda a: scale * a, delta, a - 1) for a in orders)
    assert claim.epsilon(delta) <= max(best, 0.0) * (1 + 1e-12)
    assert claim.delta(claim.epsilon(delta)) <= delta
    assert claim.epsilon(delta) >= el.gaussian(psi=math.sqrt(2 * scale)).epsilon(delta)


@pytest.mark.parametrize("orders", [[2.0], [1.5, 8.0], [1.1, 2, 3, 4, 8, 16, 32, 64], [1 + 1e-6, 1e6]])
@pytest.mark.parametrize(
    "build",
    [
        lambda: el.gaussian(psi=1e-4),
        lambda: el.gaussian(psi=1.0),
        lambda: el.gaussian(psi=5.0),
        lambda: el.laplace(epsilon=0.1),
        lambda: el.laplace(epsilon=3.0),
        lambda: el.mechanisms.randomized_response(epsilon=1.0, k=4),
        lambda: el.mechanisms.pure(epsilon=20.0),
        lambda: el.mechanisms.finite([0.6, 0.3, 0.1], [0.1, 0.2, 0.7]),
    ],
)
def test_rdp_of_a_mechanism_dominates_it(build: Callable[[], Experiment], orders: list[float]) -> None:
    truth = build()
    dominates(el.mechanisms.from_rdp(orders, np.asarray(to_rdp(truth, orders)) * (1 + 1e-13)), truth)


@settings(max_examples=examples(20))
@given(st.lists(positive(0.01, 100.0), min_size=1, max_size=6), experiments())
def test_rdp_dominates_at_random(less_one: list[float], truth: Experiment) -> None:
    orders = 1 + np.asarray(less_one)
    rho = np.asarray(to_rdp(truth, orders))
    claim = el.mechanisms.from_rdp(orders, rho * (1 + 1e-12))
    alpha = np.linspace(0.001, 0.999, 60)
    assert np.all(claim.roc(alpha) >= np.asarray(truth.roc(alpha)) * (1 - 1e-12))
    assert np.all(claim.delta(LOSS) >= np.asarray(truth.delta(LOSS)) * (1 - 1e-12) - 1e-300)


def test_more_orders_never_loosen_the_claim() -> None:
    few, more = el.mechanisms.from_rdp([2.0, 8.0], [1.0, 4.0]), el.mechanisms.from_rdp([2.0, 4.0, 8.0], [1.0, 2.0, 4.0])
    assert np.all(more.roc(ALPHA) <= np.asarray(few.roc(ALPHA)) * (1 + 1e-3))
    assert el.mechanisms.from_rdp(2.0, 1.0).epsilon(1e-5) > el.mechanisms.from_rdp(8.0, 4.0).epsilon(1e-5)


def test_order_infinity_is_pure() -> None:
    e = el.mechanisms.from_rdp([2.0, np.inf], [0.3, 1.5])
    assert e.epsilon() == pytest.approx(1.5, rel=1e-12)
    assert el.mechanisms.from_rdp(np.inf, 1.5).advantage() == pytest.approx(
        el.mechanisms.pure(epsilon=1.5).advantage(), rel=1e-11
    )
    assert el.mechanisms.from_zcdp(0.0, 1.5).epsilon() == 1.5  # D_a ≤ ξ at every order


def test_claimed_divergences_are_read_back() -> None:
    z = el.mechanisms.from_zcdp(0.5, 0.25)
    assert z.renyi([1.5, 8.0, 1e5]) == pytest.approx([1.0, 4.25, 50000.25], rel=1e-12)
    assert z.kl() == pytest.approx(0.75, rel=1e-6)
    r = el.mechanisms.from_rdp([3.0, 5.0], [1.0, 2.0])
    assert r.renyi(3.0) <= 1.0 + 1e-12
    assert r.renyi(2.0) <= 1.0 + 1e-12
    assert r.renyi(5.5) == np.inf


@pytest.mark.parametrize("rho", [1e-300, 1e-200, 1e-12, 1e-3, 1.0, 50.0, 700.0, 1e4])
def test_zcdp_over_the_whole_domain(rho: float) -> None:
    e = el.mechanisms.from_zcdp(rho)
    roc, profile = np.asarray(e.roc(ALPHA)), np.asarray(e.delta(LOSS))
    assert np.all((roc >= ALPHA * (1 - 1e-14)) & (roc <= 1))
    assert np.all(np.diff(roc) >= -1e-13)
    assert np.all((profile >= 0) & (profile <= 1))
    assert 0 < e.advantage() <= 1
    assert e.renyi(2.0) == pytest.approx(2 * rho, rel=1e-12)


def test_gdp_is_the_normal_shift() -> None:
    e = el.mechanisms.from_gdp(1.0)
    assert e.success() == el.gaussian(psi=1.0).success()
    assert e.psi() == 1.0
    assert el.mechanisms.from_gdp(0.0).advantage() == 0.0


# -- out --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "rho"),
    [
        (lambda: el.gaussian(psi=2.0), 2.0),
        (lambda: el.mechanisms.pure(epsilon=1.0), np.tanh(0.5)),  # ε·tanh(ε/2), the limit a → 1
        (lambda: el.mechanisms.pure(epsilon=1e-6), 5e-13),
        (lambda: el.laplace(epsilon=1.0), np.exp(-1)),  # KL of the Laplace: ε − 1 + e^{−ε}
        (lambda: el.mechanisms.discrete_gaussian(sigma=2.0), 0.125),
        (lambda: el.mechanisms.from_zcdp(0.3), 0.3),
        (lambda: el.mechanisms.approximate(epsilon=1.0, delta=1e-9), np.inf),
        (lambda: el.mechanisms.pure(epsilon=0.0), 0.0),
    ],
)
def test_zcdp_of_known_mechanisms(build: Callable[[], Experiment], rho: float) -> None:
    got = to_zcdp(build())
    assert got == pytest.approx(rho, rel=2e-7)
    assert got >= rho * (1 - 1e-12)


@settings(max_examples=12)
@given(experiments())
def test_zcdp_holds_at_every_order(e: Experiment) -> None:
    rho, orders = to_zcdp(e), 1 + np.geomspace(1e-6, 1e6, 100)
    assert np.all(np.asarray(to_rdp(e, orders)) <= rho * orders * (1 + 1e-11) + 1e-300)


def test_gdp_out() -> None:
    assert to_gdp(el.gaussian(psi=0.7)) == 0.7
    assert to_gdp(el.mechanisms.approximate(epsilon=1.0, delta=0.1)) == np.inf


# -- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: el.mechanisms.from_rdp(1.0, 1.0), "above 1"),
        (lambda: el.mechanisms.from_rdp(0.5, 1.0), "above 1"),
        (lambda: el.mechanisms.from_rdp(2.0), "rho is missing"),
        (lambda: el.mechanisms.from_rdp(rho=1.0), "order is missing"),
        (lambda: el.mechanisms.from_rdp([2, 3], [1.0]), "one rho for each"),
        (lambda: el.mechanisms.from_rdp([2, 8], 1.0), "rho is 1 and order has 2 values: give one rho for each order"),
        (lambda: el.mechanisms.from_rdp([[2.0]], 1.0), "shape"),
        (lambda: el.mechanisms.from_rdp(np.nan, 1.0), "NaN"),
        (lambda: el.mechanisms.from_rdp(2.0, -1.0), "not below 0"),
        (lambda: el.mechanisms.from_rdp(1e12, 1.0), "1e9"),
        (lambda: el.mechanisms.from_rdp(rho=lambda a: float("nan")), "NaN"),
        (lambda: el.mechanisms.from_rdp("α", 1.0), "number"),
        (lambda: el.mechanisms.from_zcdp(-1.0), "from 0"),
        (lambda: el.mechanisms.from_zcdp(np.inf), "infinite"),
        (lambda: el.mechanisms.from_zcdp(1.0, np.nan), "NaN"),
        (lambda: el.mechanisms.from_zcdp([1.0, -2.0]), "from 0"),
        (lambda: el.mechanisms.from_zcdp(1.0, neighbours="x"), "neighbours"),
        (lambda: el.mechanisms.from_gdp("x"), "number"),
        (lambda: el.mechanisms.from_gdp(-1.0), "from 0"),
        (lambda: el.mechanisms.from_dp([1, 2], [0.1, 0.2, 0.3]), "as many"),
        (lambda: el.mechanisms.from_dp([], []), "one number or more"),
        (lambda: el.mechanisms.from_dp([1.0], [2.0]), "probability"),
        (lambda: el.mechanisms.from_dp([-1.0], [0.1]), "from 0"),
        (lambda: to_zcdp(el.gaussian(psi=[1.0, 2.0])), "give one"),
        (lambda: to_gdp(el.gaussian(psi=[1.0, 2.0])), "give one"),
        (lambda: to_rdp(3, 2), "experiment is an int: give what laplace"),  # type: ignore[arg-type]
        (lambda: to_gdp(3), "experiment is an int: give what laplace"),  # type: ignore[arg-type]
        (lambda: to_zcdp("x"), "experiment is a str: give what laplace"),  # type: ignore[arg-type]
    ],
)
def test_bad_input_is_one_sentence(call: Callable[[], object], word: str) -> None:
    with pytest.raises(el.InputError) as said:
        call()
    assert word in str(said.value)
    assert "\n" not in str(said.value)


def test_claims_print() -> None:
    text = str(el.mechanisms.from_zcdp(0.5))
    assert "worst case of a zCDP claim" in text
    assert "upper bounds" in text
    assert el.mechanisms.from_zcdp(0.5).to_dict()["direction"] == "upper"


def test_a_concentrated_claim_is_known_by_its_law_not_by_its_name() -> None:
    claim = el.mechanisms.from_zcdp(0.5)
    renamed = replace(claim, origin="measurement", parameters={}, label="x")
    assert to_zcdp(renamed) == 0.5
    assert el.group(renamed, 3).law == el.group(claim, 3).law
    assert to_zcdp(el.group(claim, 3)) == pytest.approx(4.5, rel=1e-14)  # k²ρ
    assert isinstance(claim.law, Envelope)
    assert to_zcdp(replace(claim, law=replace(claim.law, moment=None))) == math.inf


def test_nothing_asked_of_a_claim_is_nothing_told() -> None:
    assert np.asarray(el.mechanisms.from_rdp(order=1.5, rho=1.0).delta(())).shape == (0,)


@pytest.mark.parametrize(("rho", "alpha"), [(0.01, 0.9), (0.125, 0.1), (0.5, 0.3), (0.5, 0.9), (2.0, 0.05), (2.0, 0.1)])
def test_the_curve_of_a_concentrated_claim_is_that_of_two_coins(rho: float, alpha: float) -> None:
    """Any test is two coins whose divergence at every order is no larger; the best order by bisection for each."""
    m = np.geomspace(1e-5, 1e3, 4001)
    room = m * rho * (1 + m)

    def allowed(p: tuple[Any, Any], q: tuple[Any, Any]) -> Any:
        return np.logaddexp(*((1 + m) * np.log(a) - m * np.log(b) for a, b in zip(p, q, strict=True))) <= room

    low, high = np.zeros(m.size), np.full(m.size, 1 - alpha)
    for _ in range(60):
        miss = (low + high) / 2
        with_, without = (1 - miss, miss), (alpha, 1 - alpha)
        fine = allowed(with_, without) & allowed(without, with_)
        low, high = np.where(fine, low, miss), np.where(fine, miss, high)
    truth = float(low.max())
    assert truth * (1 - 5e-4) <= el.mechanisms.from_zcdp(rho).tradeoff(alpha) <= truth * (1 + 1e-9)


# A claim to be judged: each case against numbers found without the library.

TRAINING: dict[str, Any] = {"n": 60_000, "batch": 256, "epochs": 15}


def normal_mu(epsilon: float, delta: float) -> float:
    """μ of Gaussian noise with exactly δ(ε) (Balle & Wang 2018, Theorem 8)."""

    def over(mu: float) -> float:
        a, b = norm.cdf(mu / 2 - epsilon / mu), norm.logcdf(-mu / 2 - epsilon / mu)
        return float(a - math.exp(epsilon + b) - delta)

    return float(brentq(over, 1e-3, 50, xtol=1e-14))


def laplace_renyi(m: float, order: float) -> float:
    """D_a between Laplace laws of scale 1 a distance m apart (Mironov 2017, Proposition 6)."""
    a = order
    inside = (math.log(a / (2 * a - 1)) + m * (a - 1), math.log((a - 1) / (2 * a - 1)) - m * a)
    return float(np.logaddexp(*inside)) / (a - 1)


@pytest.mark.parametrize(("epsilon", "delta"), [(8.0, 1e-6), (3.0, 1e-5), (0.5, 1e-3)])
def test_epsilon_and_delta(epsilon: float, delta: float) -> None:
    c = el.claim(epsilon=epsilon, delta=delta)
    assert c.success() == pytest.approx((math.exp(epsilon) + delta) / (1 + math.exp(epsilon)), rel=1e-12)
    assert c.if_gaussian.success() == pytest.approx(norm.cdf(normal_mu(epsilon, delta) / 2), rel=1e-9)
    m = epsilon - 2 * math.log1p(-delta)
    assert c.if_laplace.success() == pytest.approx(1 - math.exp(-m / 2) / 2, rel=1e-12)

    def mass(x: float) -> float:  # where H1 exceeds e^ε times H0
        return max(math.exp(-abs(x - m)) - math.exp(epsilon - abs(x)), 0.0) / 2

    assert quad(mass, 0, m + 40, points=[(m + epsilon) / 2, m], limit=500)[0] == pytest.approx(delta, rel=1e-5)


def test_the_question_of_epsilon_eight() -> None:
    """More than 99 of 100 if nothing else is known, 99 if Laplace, 78 if Gaussian, 69 for this training."""
    c = el.claim(epsilon=8, delta=1e-6, **TRAINING)
    shown = {case.noise: case.experiment.success() for case in c.cases if case.experiment is not None}
    assert {k: round(100 * v) for k, v in shown.items()} == {
        NoiseFamily.ANY: 100, NoiseFamily.LAPLACE: 99, NoiseFamily.GAUSSIAN: 78, NoiseFamily.TRAINING: 69,
    }  # fmt: skip
    assert shown[NoiseFamily.ANY] < 1


@pytest.mark.parametrize(("epsilon", "delta"), [(8.0, 1e-6), (3.0, 1e-5)])
def test_a_training_attains_the_claim(epsilon: float, delta: float) -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    trained = el.claim(epsilon=epsilon, delta=delta, **TRAINING).if_training
    sigma, steps = trained.parameters["sigma"], math.ceil(15 * 60_000 / 256)
    one = pld.from_gaussian_mechanism(sigma, sampling_prob=256 / 60_000, value_discretization_interval=1e-4)
    assert one.self_compose(steps).get_epsilon_for_delta(delta) == pytest.approx(epsilon, rel=5e-3)


def test_no_delta_no_gaussian() -> None:
    c = el.claim(epsilon=1.0, **TRAINING)
    assert c.success() == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)
    assert [case.noise for case in c.cases if case.experiment is None] == [NoiseFamily.GAUSSIAN, NoiseFamily.TRAINING]
    with pytest.raises(NoSolutionError, match="without a δ"):
        _ = c.if_gaussian
    with pytest.raises(InputError, match="no training is known"):
        _ = el.claim(mu=1.0).if_training


@pytest.mark.parametrize("rho", [0.0728, 0.5, 2.63])
def test_concentrated(rho: float) -> None:
    c = el.claim(rho=rho)
    assert c.if_gaussian.success() == pytest.approx(norm.cdf(math.sqrt(2 * rho) / 2), rel=1e-12)
    m = c.if_laplace.parameters["epsilon"]
    most = max(laplace_renyi(m, a) / a for a in 1 + np.geomspace(1e-6, 1e3, 4001))
    assert most == pytest.approx(rho, rel=1e-5)


def test_renyi() -> None:
    c = el.claim(order=8.0, rho=1.0)
    assert c.if_gaussian.success() == pytest.approx(norm.cdf(0.25), rel=1e-12)  # ψ² = 2ρ/a = 1/4
    assert laplace_renyi(c.if_laplace.parameters["epsilon"], 8.0) == pytest.approx(1.0, rel=1e-9)
    several = el.claim(order=[2.0, 32.0], rho=[0.5, 2.0])
    assert several.if_gaussian.psi() == pytest.approx(math.sqrt(min(2 * 0.5 / 2, 2 * 2.0 / 32)), rel=1e-12)


def test_a_training_by_its_orders() -> None:
    """Ten unsampled steps are Gaussian noise of ψ = √10/σ, whose D_a is a·ψ²/2."""
    trained = el.claim(order=4.0, rho=1.0, rate=1.0, steps=10).if_training
    assert trained.parameters["sigma"] == pytest.approx(math.sqrt(10 * 4 / 2), rel=1e-9)


def test_gaussian_claims() -> None:
    c = el.claim(mu=1.0, **TRAINING)
    assert c.success() == c.if_gaussian.success() == pytest.approx(norm.cdf(0.5), rel=1e-12)
    # ψ of a sampled training is √T/σ, however few are sampled
    assert c.if_training.parameters["sigma"] == pytest.approx(math.sqrt(3516), rel=1e-5)


def test_it_is_an_experiment() -> None:
    c, plain = el.claim(epsilon=1.0, delta=1e-6), el.mechanisms.from_dp(1.0, 1e-6)
    assert c == plain
    assert plain == c
    assert hash(c) == hash(plain)
    assert el.compose(c, el.laplace(epsilon=1.0)).success() == el.compose(plain, el.laplace(epsilon=1.0)).success()
    assert c.reverse().success() == plain.reverse().success()
    assert pickle.loads(pickle.dumps(c)) == c
    assert pickle.loads(pickle.dumps(c)).training == c.training
    assert repr(c) == "claim(epsilon=1.0, delta=1e-06)"
    assert c.bracket("success") == plain.bracket("success")


@pytest.mark.parametrize("claimed", [{"mu": 0.0}, {"rho": 0.0}, {"epsilon": 0.0}, {"order": 2.0, "rho": 0.0}])
def test_a_claim_of_nothing(claimed: dict[str, Any]) -> None:
    c = el.claim(**claimed)
    assert c.success() == 0.5
    assert [case.experiment is None for case in c.cases] == [False, True, True]


def test_everything_may_be_told() -> None:
    c = el.claim(epsilon=1.0, delta=1.0)
    assert c.success() == 1
    assert c.cases[1].experiment is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing is claimed"),
        ({"delta": 1e-6}, "nothing is claimed"),
        ({"epsilon": 1.0, "rho": 1.0}, "epsilon and rho are given"),
        ({"mu": 1.0, "delta": 1e-6}, "delta is given beside mu"),
        ({"epsilon": 1.0, "order": 2.0}, "order is given beside epsilon"),
        ({"rho": 1.0, "order": 2.0, "xi": 1.0}, "ξ belongs to zCDP"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"epsilon": "8"}, "epsilon is '8', a str"),
        ({"epsilon": [1.0, 2.0]}, "single number"),
        ({"mu": [1.0, 2.0]}, "single number"),
        ({"rho": 1.0, "xi": [1.0, 2.0]}, "single number"),
        ({"epsilon": 1j}, "give a number"),
        ({"mu": {}}, "give a number"),
        ({"order": 2.0, "rho": lambda a: a}, "rho is a function"),
        ({"epsilon": 1.0, "delta": 1e-6, "rate": [0.1, 0.2], "steps": 5}, "many at once"),
        ({"epsilon": 1.0, "delta": 1e-6, "n": 100}, "n and batch say how large"),
        ({"deployment": "nobody"}, "there is no published deployment 'nobody'"),
        ({"deployment": "apple-emojis", "epsilon": 1.0}, "beside a published deployment"),
        ({"deployment": "uber-flex"}, "a δ that is no number"),
        ({"deployment": 3}, "there is no published deployment '3'"),
    ],
)
def test_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        el.claim(**given)


def test_published_deployments() -> None:
    for known in deployments():
        if known.unread:
            continue
        c = el.claim(known.name)
        assert c.deployment == known
        assert c.name == known.title
        if known.rho is None:
            e, d = known.epsilon or 0.0, known.delta or 0.0
            assert c.success() == pytest.approx((math.exp(e) + d) / (1 + math.exp(e)), rel=1e-12)
        else:
            assert c.if_gaussian.psi() == pytest.approx(math.sqrt(2 * known.rho), rel=1e-12)
