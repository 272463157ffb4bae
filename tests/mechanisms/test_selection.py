"""Selection, judged by enumeration: no scores tell more than the claimed curve, and some come as near as one likes."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from tests.laws.oracles import downward, upward

import epsilens as el
from epsilens.checks import Array
from epsilens.laws.laplace import Laplace
from epsilens.laws.logistic import BoundedRange, Logistic
from epsilens.mechanisms.claims import to_zcdp
from epsilens.mechanisms.selection import _log_gamma
from epsilens.readings.law import Exactness

Chances = Callable[[Array, float], Array]  # of each outcome, from scores (in sensitivities) and the scale of the noise


# -- what the mechanisms do, each written down from its definition ------------------------------------------------


def softmax(scores: Array, scale: float) -> Array:
    """Gumbel noise: P ∝ e^{score/scale}."""
    weight = np.exp((scores - scores.max()) / scale)
    return np.asarray(weight / weight.sum())


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def _wins(scores: Array, knots: Array, pdf: Callable[[Array], Array], cdf: Callable[[Array], Array]) -> Array:
    """∫ pdf(x − s_r)·Π_j cdf(x − s_j) dx, by Gauss–Legendre between the places where a density bends."""
    edges = np.unique(np.concatenate([np.linspace(a, b, 9) for a, b in pairwise(knots) if b > a]))
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half * (1 + _NODES)).ravel()
    weight = (half * _WEIGHTS).ravel()
    below = np.asarray([cdf(x - s) for s in scores])
    return np.asarray([weight @ (pdf(x - s) * np.delete(below, r, axis=0).prod(axis=0)) for r, s in enumerate(scores)])


def laplace_max(scores: Array, scale: float) -> Array:
    s = np.sort(scores / scale)
    knots = np.concatenate(([s[0] - 45, s[0] - 10], s, [s[-1] + 10, s[-1] + 45]))

    def cdf(x: Array) -> Array:
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    return _wins(scores / scale, knots, lambda x: np.exp(-np.abs(x)) / 2, cdf)


def exponential_max(scores: Array, scale: float) -> Array:
    s = np.sort(scores / scale)
    knots = np.concatenate((s, [s[-1] + 10, s[-1] + 45]))

    def cdf(x: Array) -> Array:
        return np.where(x > 0, -np.expm1(-np.maximum(x, 0)), 0.0)

    return _wins(scores / scale, knots, lambda x: np.where(x > 0, np.exp(-np.maximum(x, 0)), 0.0), cdf)


def permuted(scores: Array, scale: float) -> Array:
    """In random order, each kept with e^{(score − best)/scale}: summed over what is left."""
    keep = np.exp((scores - scores.max()) / scale)

    @cache
    def chances(left: frozenset[int]) -> tuple[float, ...]:
        out = np.zeros(scores.size)
        for r in left:
            out[r] += keep[r] / len(left)
            if keep[r] < 1:
                out += (1 - keep[r]) / len(left) * np.asarray(chances(left - {r}))
        return tuple(out)

    return np.asarray(chances(frozenset(range(scores.size))))


MECHANISMS: dict[str, tuple[Chances, Callable[..., el.Experiment]]] = {
    "exponential": (softmax, el.mechanisms.exponential),
    "gumbel": (softmax, lambda **given: el.mechanisms.noisy_max(noise="gumbel", **given)),
    "laplace": (laplace_max, lambda **given: el.mechanisms.noisy_max(noise="laplace", **given)),
    "exponential noise": (exponential_max, lambda **given: el.mechanisms.noisy_max(noise="exponential", **given)),
    "permute and flip": (permuted, el.mechanisms.permute_and_flip),
}


def vertices(p0: Array, p1: Array) -> tuple[Array, Array]:
    """(false-positive rate, recall) of every likelihood-ratio test."""
    order = np.argsort(-p1 / np.maximum(p0, 1e-300))
    return np.cumsum(p0[order]), np.cumsum(p1[order])


def drawn_scores(random: np.random.Generator, monotonic: bool) -> tuple[Array, Array]:
    n = int(random.integers(2, 6))
    scores = random.choice([0.2, 1.0, 4.0]) * random.standard_normal(n)
    moves = random.uniform(-1, 1, n) if random.random() < 0.3 else random.choice([-1.0, 1.0], n)
    return scores, scores + (np.abs(moves) * (random.random(n) < 0.5) if monotonic else moves)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_scores_tell_more(name: str, monotonic: bool) -> None:
    chances, build = MECHANISMS[name]
    random = np.random.default_rng(len(name) + monotonic)
    for epsilon in (0.3, 1.0, 4.0):
        law = build(epsilon=epsilon, monotonic=monotonic).law
        for _ in range(25):
            s0, s1 = drawn_scores(random, monotonic)
            scale = (1 if monotonic else 2) / epsilon
            p0, p1 = chances(s0, scale), chances(s1, scale)
            assert p0.sum() == pytest.approx(1, abs=1e-9)
            for a, b in ((p0, p1), (p1, p0)):
                alarm, hit = vertices(a, b)
                assert np.all(hit <= law.roc(np.minimum(alarm, 1.0)) + 1e-9)


@pytest.mark.parametrize("name", [n for n in MECHANISMS if n != "laplace"])
def test_two_outcomes_reach_the_curve(name: str) -> None:
    """One rises and one falls: their first meets the curve wherever it starts."""
    chances, build = MECHANISMS[name]
    for epsilon in (0.5, 2.0):
        law = build(epsilon=epsilon).law
        for ahead in (-6.0, -1.0, 0.0, 2.0):
            p0, p1 = (chances(np.array([ahead + move, -move]), 2 / epsilon) for move in (0.0, 1.0))
            assert p1[0] == pytest.approx(float(law.roc(np.asarray(p0[0]))), abs=1e-9)


def test_laplace_noise_stays_below_its_bound() -> None:
    """Three against three is the worst found: well above what Gumbel noise tells, and well below the bound."""
    p0, p1 = (laplace_max(np.repeat([move, -move], 3), 2.0) for move in (-0.5, 0.5))
    assert p1[:3].sum() - p0[:3].sum() == pytest.approx(0.28021, abs=1e-5)
    e = el.mechanisms.noisy_max(epsilon=1.0)
    assert e.law.known is Exactness.BOUND
    assert math.tanh(0.25) < 0.2802 < e.advantage()


def test_permute_and_flip_is_exponential_noise() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        scores = 2 * random.standard_normal(int(random.integers(2, 6)))
        assert permuted(scores, 1.5) == pytest.approx(exponential_max(scores, 1.5), abs=1e-10)


def test_one_gumbel_draw_is_peeling() -> None:
    """The two largest of scores with Gumbel noise, in order: as often as two exponential mechanisms pick them."""
    random = np.random.default_rng(9)
    scores = np.array([0.0, 0.7, 1.5])
    noisy = scores + random.gumbel(size=(400_000, 3))
    order = np.argsort(-noisy, axis=1)[:, :2]
    p = softmax(scores, 1.0)
    for first in range(3):
        for second in set(range(3)) - {first}:
            seen = np.mean((order[:, 0] == first) & (order[:, 1] == second))
            assert seen == pytest.approx(p[first] * p[second] / (1 - p[first]), abs=4e-3)


def test_noisy_max_exceeds_the_logistic() -> None:
    """Gumbel noise tells less: the curve of the one is no bound on the other."""
    p0, p1 = (exponential_max(np.array([move, -move]), 2.0) for move in (0.0, 1.0))
    assert p1[0] > float(Logistic(1.0).roc(np.asarray(p0[0]))) + 0.01


# -- the sheet ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1.0, 30.0, 700.0])
def test_advantages(epsilon: float) -> None:
    assert el.mechanisms.exponential(epsilon=epsilon).advantage() == pytest.approx(math.tanh(epsilon / 4), rel=1e-13)
    assert el.mechanisms.noisy_max(epsilon=epsilon).advantage() == pytest.approx(-math.expm1(-epsilon / 2), rel=1e-13)
    assert (
        el.mechanisms.permute_and_flip(epsilon=epsilon).advantage()
        == el.mechanisms.noisy_max(epsilon=epsilon).advantage()
    )
    assert el.mechanisms.sparse_vector(epsilon=epsilon).advantage() == pytest.approx(math.tanh(epsilon / 2), rel=1e-13)


@pytest.mark.parametrize(("by", "wanted"), [("exponential", (10.0891, 7.6256)), ("noisy-max", (18.7547, 9.98996))])
def test_several_selections(by: str, wanted: tuple[float, float]) -> None:
    for (k, epsilon, delta), value in zip(((50, 0.5, 1e-6), (10, 1.0, 1e-5)), wanted, strict=True):
        e = el.mechanisms.top_k(epsilon=epsilon, k=k, by=by)
        assert value - 1e-4 <= e.epsilon(delta) <= value * (1 + 1e-3)
        assert e.law.known is Exactness.BOUND
        assert e.epsilon() == pytest.approx(k * epsilon, rel=1e-12)
        assert e.epsilon(delta) <= el.mechanisms.pure(epsilon=epsilon).repeat(k).epsilon(delta)


def test_one_selection_is_exact_and_several_are_not() -> None:
    noisy = el.mechanisms.noisy_max(epsilon=1.0, noise="exponential")
    for one in (el.mechanisms.exponential(epsilon=1.0), noisy, el.mechanisms.permute_and_flip(epsilon=1.0)):
        assert one.law.known is Exactness.EXACT
        assert one.reverse().roc(0.1) == one.roc(0.1)
        assert one.repeat(1) == one
        assert one.repeat(2).law.known is Exactness.BOUND
        assert el.compose(one, el.gaussian(psi=1.0)).law.known is Exactness.BOUND
        assert el.subsample(one, 0.1).epsilon() == pytest.approx(math.log1p(0.1 * math.expm1(1.0)), rel=1e-3)
        assert el.group(one, 3).epsilon() == pytest.approx(3.0, rel=1e-12)
    assert el.mechanisms.top_k(epsilon=1.0, k=1).law == el.mechanisms.exponential(epsilon=1.0).law
    assert el.compose(el.mechanisms.top_k(epsilon=0.5, k=5), el.mechanisms.exponential(epsilon=0.5)).epsilon(
        1e-6
    ) == pytest.approx(el.mechanisms.exponential(epsilon=0.5).repeat(6).epsilon(1e-6), rel=1e-3)


def test_by_scale() -> None:
    """OpenDP: scale 2 at sensitivity 1 is ε = 1, and ½ where scores are monotonic."""
    assert el.mechanisms.noisy_max(scale=2.0).epsilon() == 1
    assert el.mechanisms.noisy_max(scale=2.0, monotonic=True).epsilon() == 0.5
    assert el.mechanisms.noisy_max(scale=6.0, sensitivity=3.0, noise="gumbel").law == BoundedRange(1.0)
    assert el.mechanisms.noisy_max(epsilon=1.0, monotonic=True).parameters["scale"] == 1
    assert el.mechanisms.noisy_max(epsilon=1.0).parameters["scale"] == 2


def test_opendp_agrees() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    epsilon = el.mechanisms.noisy_max(scale=2.0, noise="exponential").epsilon()
    for privacy, wanted in ((dp.max_divergence(), epsilon), (dp.zero_concentrated_divergence(), epsilon**2 / 8)):
        assert dp.m.make_noisy_max(*space, privacy, scale=2.0).map(1.0) == pytest.approx(wanted, rel=1e-9)


def test_selections_are_concentrated() -> None:
    """ε²/8-zCDP (Cesar & Rogers 2021): no scores have larger Rényi divergences, though the logistic pair has."""
    assert to_zcdp(el.mechanisms.exponential(epsilon=0.8)) == pytest.approx(0.08, rel=1e-12)
    assert to_zcdp(el.mechanisms.exponential(epsilon=0.8).repeat(3)) == pytest.approx(0.24, rel=1e-12)
    assert to_zcdp(el.compose(el.mechanisms.exponential(epsilon=0.8), el.laplace(epsilon=1.0))) > 0.08
    random = np.random.default_rng(2)
    for _ in range(50):
        s0, s1 = drawn_scores(random, False)
        pair = el.mechanisms.exponential(epsilon=0.8, scores0=s0, scores1=s1)
        for order in (1.1, 2.0, 10.0, 200.0):
            assert max(pair.renyi(order), pair.reverse().renyi(order)) <= 0.08 * order * (1 + 1e-9)


def test_scores_given_stay_below_any_scores() -> None:
    some = el.mechanisms.exponential(epsilon=1.0, scores0=[1, 2, 3], scores1=[1, 2, 4])
    any_scores = el.mechanisms.exponential(epsilon=1.0)
    x = np.linspace(0, 1, 50)
    assert np.all(some.roc(x) <= any_scores.roc(x) + 1e-15)
    assert some.parameters["outcomes"] == 3
    assert "outcomes" not in any_scores.parameters


# -- sparse vector ------------------------------------------------------------------------------------------------


def test_sparse_vector_is_a_claim() -> None:
    e = el.mechanisms.sparse_vector(threshold_scale=4.0, query_scale=12.0, above=3, sensitivity=2.0)
    assert e.epsilon() == pytest.approx(2 / 4 + 2 * 3 * 2 / 12, rel=1e-15)
    assert e.law.known is Exactness.BOUND
    assert el.mechanisms.sparse_vector(threshold_scale=2.0, query_scale=4.0, monotonic=True).epsilon() == 0.75
    assert el.mechanisms.sparse_vector(epsilon=1.0).roc(0.1) == el.mechanisms.pure(epsilon=1.0).roc(0.1)
    assert el.mechanisms.sparse_vector(epsilon=1.0).bracket("advantage")[0] == 0


def test_sparse_vector_by_quadrature() -> None:
    """m queries below the threshold, then one above: the ratio nears e^{ε₁+ε₂} as m grows, and never exceeds it."""
    threshold, query = 2.0, 4.0  # ε = 1/2 + 2/4
    x = np.linspace(-200, 200, 40_001)
    rho = np.exp(-np.abs(x) / threshold) / (2 * threshold) * (x[1] - x[0])

    def above(score: float) -> Array:
        y = x - score
        return np.where(y > 0, np.exp(-np.maximum(y, 0) / query) / 2, 1 - np.exp(np.minimum(y, 0) / query) / 2)

    worst = []
    for many in (1, 30, 3000):
        ratios = [
            math.log(float(rho @ ((1 - above(0.0)) ** many * above(last))))
            - math.log(float(rho @ ((1 - above(1.0)) ** many * above(last - 1.0))))
            for last in (-20.0, 0.0, 20.0)
        ]
        worst.append(max(abs(r) for r in ratios))
    assert worst[0] < worst[1] < worst[2] <= 1.0 + 1e-6
    assert worst[2] > 0.9


# -- the best of several runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("eta", "wanted"), [(1.0, 2.271), (0.5, 2.097), (0.0, 1.902)])
def test_repeat_and_select(eta: float, wanted: float) -> None:
    e = el.mechanisms.repeat_and_select(el.gaussian(sigma=4.0), mean=10, eta=eta)
    assert wanted - 6e-4 <= e.epsilon(1e-6) <= wanted + 1.5e-3
    assert e.law.known is Exactness.BOUND


def test_one_run_is_the_run_itself() -> None:
    assert el.mechanisms.repeat_and_select(el.gaussian(sigma=4.0), mean=1).epsilon(1e-6) == pytest.approx(
        1.143, abs=1.5e-3
    )


@pytest.mark.parametrize("eta", [-0.9, -0.3, 0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("mean", [1.001, 2.0, 10.0, 1e6])
def test_the_number_of_runs(eta: float, mean: float) -> None:
    """γ against the mean of the truncated negative binomial, at 40 digits."""
    mp.mp.dps = 40
    x = mp.mpf(_log_gamma(mean, eta))
    gamma, e = mp.exp(x), mp.mpf(eta)
    runs = (1 / gamma - 1) / -x if eta == 0 else e * (1 - gamma) / (gamma * (1 - gamma**e))
    assert float(runs) == pytest.approx(mean, rel=1e-9)


def test_the_number_of_runs_by_its_probabilities() -> None:
    """P(K=k) ∝ (1−γ)^k·Π_{l<k}(l+η)/(l+1): the mean of η = ½ summed out."""
    gamma, eta = math.exp(_log_gamma(4.0, 0.5)), 0.5
    k = np.arange(1, 5000)
    log_p = k * math.log1p(-gamma) + np.cumsum(np.log((k - 1 + eta) / k))
    p = np.exp(log_p - log_p.max())
    assert float(p @ k / p.sum()) == pytest.approx(4.0, rel=1e-9)


def test_the_best_of_a_geometric_number_of_coins() -> None:
    """Randomised response run K times, the largest answer shown: enumerated, and never above the claim."""
    epsilon, mean = 0.4, 5.0
    p0, p1 = 1 / (1 + math.exp(epsilon)), 1 / (1 + math.exp(-epsilon))
    none = [(1 / mean) * (1 - p) / (1 - (1 - 1 / mean) * (1 - p)) for p in (p0, p1)]  # E (1−p)^K
    shown = el.mechanisms.finite([none[0], 1 - none[0]], [none[1], 1 - none[1]])
    claim = el.mechanisms.repeat_and_select(el.mechanisms.randomized_response(epsilon=epsilon), mean=mean)
    for order in (1.5, 2.0, 8.0):
        assert max(shown.renyi(order), shown.reverse().renyi(order)) <= claim.renyi(order)
    assert shown.epsilon() <= claim.epsilon()
    assert claim.epsilon() == pytest.approx(3 * epsilon, rel=1e-9)  # (2+η)ε for a pure ε


def test_repeat_and_select_of_training() -> None:
    e = el.mechanisms.repeat_and_select(el.dpsgd(sigma=1.0, rate=0.01, steps=10), mean=5)
    assert 1.8877 <= e.epsilon(1e-6) <= 1.8877 * 1.01  # RdpAccountant of dp-accounting 0.6: 1.887722


# -- choosing, objects, refusals ----------------------------------------------------------------------------------


def test_choose() -> None:
    choice = el.choose(el.mechanisms.exponential, "epsilon", at_most=0.1, reading="advantage")
    assert choice.value == pytest.approx(4 * math.atanh(0.1), rel=1e-9)
    assert choice.reading <= 0.1
    noisy = el.choose(el.mechanisms.noisy_max, "epsilon", at_most=0.1, reading="advantage")
    assert noisy.value == pytest.approx(-2 * math.log1p(-0.1), rel=1e-12)
    assert noisy.method == "closed form"
    scale = el.choose(el.mechanisms.noisy_max, "scale", at_most=1.0, reading="epsilon")
    assert scale.value == pytest.approx(2.0, rel=1e-9)
    several = el.choose(el.mechanisms.top_k, "epsilon", at_most=2.0, reading="epsilon", delta=1e-6, given={"k": 10})
    assert 1.98 <= several.reading <= 2.0
    sparse = el.choose(el.mechanisms.sparse_vector, "epsilon", at_most=0.6, reading="success")
    assert sparse.value == pytest.approx(math.log(1.5), rel=1e-9)


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.mechanisms.exponential(epsilon=1.0),
        lambda: el.mechanisms.noisy_max(epsilon=1.0, noise="gumbel", neighbours="replace"),
        lambda: el.mechanisms.permute_and_flip(epsilon=1.0),
        lambda: el.mechanisms.top_k(epsilon=1.0, k=2),
        lambda: el.mechanisms.sparse_vector(epsilon=1.0),
        lambda: el.mechanisms.repeat_and_select(el.gaussian(sigma=4.0), mean=3),
    ],
)
def test_objects(build: Any) -> None:
    assert build() == build()
    assert pickle.loads(pickle.dumps(build())) == build()
    assert len(repr(build())) < 100
    assert isinstance(el.mechanisms.noisy_max(epsilon=1.0).law, Laplace)


def test_the_second_is_named() -> None:
    assert repr(el.mechanisms.top_k(epsilon=1.0, k=2)) == "top_k(epsilon=1, k=2)"
    assert repr(el.mechanisms.noisy_max(epsilon=1.0)) == "noisy_max(epsilon=1)"


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: el.mechanisms.exponential(epsilon=0.0), "epsilon"),
        (lambda: el.mechanisms.exponential(epsilon=701.0), "epsilon"),
        (lambda: el.mechanisms.exponential(epsilon=1.0, scores0=[1.0]), "scores1"),
        (lambda: el.mechanisms.exponential(epsilon=1.0, scores1=[1.0]), "scores0"),
        (lambda: el.mechanisms.exponential(epsilon=1.0, monotonic="yes"), "monotonic"),  # type: ignore[arg-type]
        (lambda: el.mechanisms.noisy_max(epsilon=1.0, noise="gaussian"), "noise"),
        (lambda: el.mechanisms.noisy_max(scale=0.0), "scale"),
        (lambda: el.mechanisms.noisy_max(scale=1e-9), "scale"),
        (lambda: el.mechanisms.noisy_max(epsilon=1.0, sensitivity=-1.0), "sensitivity"),
        (lambda: el.mechanisms.permute_and_flip(epsilon=math.nan), "epsilon"),
        (lambda: el.mechanisms.permute_and_flip(epsilon=1.0, neighbours="x"), "neighbours"),
        (lambda: el.mechanisms.top_k(epsilon=1.0, k=0), "k"),
        (lambda: el.mechanisms.top_k(epsilon=700.0, k=100), "k"),
        (lambda: el.mechanisms.top_k(epsilon=1.0, k=2, by="chance"), "by"),
        (lambda: el.mechanisms.sparse_vector(threshold_scale=1.0), "query_scale"),
        (lambda: el.mechanisms.sparse_vector(query_scale=1.0), "threshold_scale"),
        (lambda: el.mechanisms.sparse_vector(threshold_scale=1.0, query_scale=0.0), "query_scale"),
        (lambda: el.mechanisms.sparse_vector(threshold_scale=1.0, query_scale=1e-9), "query_scale"),
        (lambda: el.mechanisms.sparse_vector(epsilon=1.0, query_scale=1.0), "epsilon"),
        (lambda: el.mechanisms.sparse_vector(epsilon=1.0, above=0), "above"),
        (lambda: el.mechanisms.repeat_and_select(el.gaussian(sigma=1.0), mean=0.5), "mean"),
        (lambda: el.mechanisms.repeat_and_select(el.gaussian(sigma=1.0), mean=2, eta=-1), "eta"),
        (lambda: el.mechanisms.repeat_and_select(el.gaussian(sigma=[1.0, 2.0]), mean=2), "experiment"),
        (
            lambda: el.mechanisms.repeat_and_select(el.mechanisms.approximate(epsilon=1.0, delta=0.1), mean=2),
            "experiment",
        ),
    ],
)
def test_refused(call: Any, parameter: str) -> None:
    with pytest.raises(el.InputError) as caught:
        call()
    assert caught.value.parameter == parameter


# -- what adds up all of a curve --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 1.0, 4.0, 60.0, 700.0])
def test_divergences_of_the_exponential_mechanism(epsilon: float) -> None:
    """The largest over all scores: two outcomes, p the mass of one; its best p by setting the slope to 0, in mpmath."""
    e = el.mechanisms.exponential(epsilon=epsilon)
    with mp.workdps(80):
        x = mp.mpf(epsilon)
        for order in (0.2, 0.5, 0.999, 1.0000001, 1.5, 2.0, 30.0, 1e6):
            a = mp.mpf(order)
            grown, one = mp.expm1(a * x), mp.expm1(x)
            p = (grown - a * one) / ((a - 1) * grown * one)
            true = (mp.log1p(p * grown) - a * mp.log1p(p * one)) / (a - 1)
            assert e.renyi(order) == pytest.approx(float(true), rel=1e-12), order
        small = x / mp.expm1(x)
        assert e.kl() == pytest.approx(float(small - 1 - mp.log(small)), rel=1e-12)
        assert e.chernoff() == pytest.approx(float(mp.log(mp.cosh(x / 4))), rel=1e-12)
        assert e.auc() == pytest.approx(float((1 + mp.tanh(x / 4)) / 2), rel=1e-14)
    assert e.renyi(np.inf) == epsilon


def test_scores_reach_the_divergences_and_none_exceed_them() -> None:
    """dp-accounting's own test has 0.123301561 for ε = 1; the area under the logistic curve itself would be 0.6613."""
    worst = el.mechanisms.exponential(epsilon=1.0)
    assert worst.kl() == pytest.approx(0.123301561, abs=5e-10)
    ahead = [
        el.mechanisms.exponential(epsilon=1.0, scores0=[s, 0.0], scores1=[s + 1, -1.0])
        for s in np.linspace(-2.5, 2.5, 201)
    ]
    for name, given in (
        ("kl", {}),
        ("renyi", {"order": 2.0}),
        ("renyi", {"order": 0.3}),
        ("chernoff", {}),
        ("auc", {}),
    ):
        found, most = max(getattr(e, name)(**given) for e in ahead), getattr(worst, name)(**given)
        assert most * (1 - 1e-4) <= found <= most * (1 + 1e-12), name
        assert worst.bracket(name, **given) == (downward(most), upward(most))
    rng = np.random.default_rng(3)
    for size in rng.integers(2, 9, 40):
        scores = rng.normal(0, 3, size)
        some = el.mechanisms.exponential(
            epsilon=1.0, scores0=scores, scores1=scores + rng.choice([-1.0, 0.0, 1.0], size)
        )
        for order in (0.3, 1.0, 2.0, 9.0):
            assert some.renyi(order) <= worst.renyi(order) * (1 + 1e-12)
        assert some.auc() <= worst.auc() * (1 + 1e-12)
    assert el.group(worst, 2).kl() == pytest.approx(el.mechanisms.exponential(epsilon=2.0).kl(), rel=1e-12)


def test_a_curve_whose_points_have_scores_of_their_own() -> None:
    """Permute-and-flip reaches each point of the Laplace curve, and no scores have all of it: its area is a bound."""
    e = el.mechanisms.permute_and_flip(epsilon=1.0)
    assert e.bracket("advantage") == (downward(e.advantage()), upward(e.advantage()))
    assert e.bracket("auc") == (0.5, upward(e.auc()))
    assert e.bracket("kl") == (0.0, upward(e.kl()))
    assert el.laplace(epsilon=1.0).bracket("kl") == (downward(e.kl()), upward(e.kl()))


# -- scores that move the same way --------------------------------------------------------------------------------


def test_scores_that_do_not_all_move_the_same_way_are_not_monotonic() -> None:
    """One up and one down cost twice the ε that half the noise is for."""
    with pytest.raises(el.InputError, match="monotonic is True and one score rises while another falls"):
        el.mechanisms.exponential(epsilon=1.0, scores0=[0, 0], scores1=[1, -1], monotonic=True)
    plain = el.mechanisms.exponential(epsilon=1.0, scores0=[0, 0], scores1=[1, -1])
    assert plain.epsilon() == pytest.approx(math.log((1 + math.exp(1.0)) / 2), rel=1e-12)
    for moved in ([1, 0, 0.5], [-1, 0, -0.5]):
        assert el.mechanisms.exponential(epsilon=1.0, scores0=[0, 0, 0], scores1=moved, monotonic=True).epsilon() <= 1


@pytest.mark.parametrize(
    "build",
    [
        el.mechanisms.exponential,
        el.mechanisms.noisy_max,
        el.mechanisms.permute_and_flip,
        el.mechanisms.sparse_vector,
        lambda **given: el.mechanisms.top_k(k=2, **given),
    ],
)
def test_a_replaced_record_moves_scores_both_ways(build: Callable[..., el.Experiment]) -> None:
    with pytest.raises(el.InputError, match="monotonic is True with neighbours='replace'"):
        build(epsilon=1.0, monotonic=True, neighbours="replace")
    assert build(epsilon=1.0, neighbours="replace").epsilon() == pytest.approx(build(epsilon=1.0).epsilon())
