"""Piecewise monotone pairs against the closed forms, against quadrature, and against the reference sheets.

What Pieces states: every reading is at least the truth, and at most the truth plus 1e-14 of the masses involved (so a δ
far below its recall is an upper bound with fewer relative digits), ε(δ) within 1e-12, ψ within 1e-9.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from tests.laws.lines import NormalLaplace

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.piecewise import ClampedLaw, LaplaceMixture, LaplaceSum, LineLaw, NormalMixture, PiecewiseLaw


def experiment(line0: LineLaw, line1: LineLaw) -> Experiment:
    return Experiment(PiecewiseLaw(line0, line1))


PAIRS = {
    **{
        f"laplace {m}": (experiment(LaplaceMixture.at(), LaplaceMixture.at(m)), el.laplace(epsilon=m))
        for m in (0.1, 1.0, 20.0)
    },
    **{f"normal {m}": (experiment(NormalMixture.at(), NormalMixture.at(m)), el.gaussian(psi=m)) for m in (0.1, 1.0)},
    **{
        f"stretch {m},{t}": (experiment(LaplaceMixture.at(), LaplaceMixture.at(m, t)), el.laplace(epsilon=m, stretch=t))
        for m, t in ((1.0, 1.5),)
    },
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_curve_of_the_closed_form(name: str) -> None:
    pieces, closed = PAIRS[name]
    for alpha in (1e-300, 1e-12, 0.1, 0.9):
        assert pieces.roc(alpha) == pytest.approx(closed.roc(alpha), rel=1e-12)
        assert pieces.tradeoff(alpha) == pytest.approx(closed.tradeoff(alpha), rel=1e-12)
        assert pieces.law.inverse_roc(np.asarray(alpha)) == pytest.approx(
            closed.law.inverse_roc(np.asarray(alpha)), rel=1e-12
        )


@pytest.mark.parametrize("name", PAIRS)
def test_profile_is_an_upper_bound_that_is_tight(name: str) -> None:
    pieces, closed = PAIRS[name]
    for epsilon in (0.0, 0.01, 0.3, 0.9, 3.0, 20.0):
        # the stated rounding is 1e-14 of recall + t·α; at most 1e-14·2·recall, and recall ≤ roc at that threshold
        alpha, recall = (float(v) for v in closed.law.at(np.asarray(epsilon)))
        back = [float(v) for v in closed.reverse().law.at(np.asarray(epsilon))]
        masses = max(recall + math.exp(epsilon) * alpha, back[1] + math.exp(epsilon) * back[0])
        assert pieces.delta(epsilon) >= closed.delta(epsilon) * (1 - 1e-14)
        # 1e-12 for the closed form's own digits in the far tail; at 30σ (δ = 7e-200) an ulp of the threshold is 2e-13
        # of a normal mass, more than the 1e-14 that Pieces states
        far = name == "normal 0.1" and epsilon >= 3
        assert pieces.delta(epsilon) <= closed.delta(epsilon) * (1 + 1e-12) + (2e-13 if far else 3e-14) * masses
    for delta in (1e-12, 1e-3, 0.1):
        truth = closed.epsilon(delta)
        if math.isfinite(truth):
            assert truth * (1 - 1e-13) <= pieces.epsilon(delta) <= truth * (1 + 1e-12) + 3e-13
    assert pieces.epsilon() == pytest.approx(closed.epsilon(), rel=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_scores_and_divergences_of_the_closed_form(name: str) -> None:
    pieces, closed = PAIRS[name]
    for prior in (0.01, 0.5, 0.9):
        assert pieces.success(prior) == pytest.approx(closed.success(prior), rel=1e-12)
        assert pieces.posterior(prior) == pytest.approx(closed.posterior(prior), rel=1e-12)
        assert pieces.fbeta(2.0, prior) == pytest.approx(closed.fbeta(2.0, prior), rel=1e-12)
    assert pieces.auc() == pytest.approx(closed.auc(), rel=1e-12)
    assert pieces.kl() == pytest.approx(closed.kl(), rel=1e-11)
    for order in (0.1, 0.5, 0.999999, 1.000001, 1.4):
        assert pieces.renyi(order) == pytest.approx(closed.renyi(order), rel=1e-11)


def test_chernoff_of_the_closed_form() -> None:
    pieces, closed = PAIRS["stretch 1.0,1.5"]
    assert pieces.chernoff() == pytest.approx(closed.chernoff(), rel=1e-11)


@pytest.mark.parametrize("name", [n for n in PAIRS if n.startswith("laplace")])
def test_psi_is_an_upper_bound_to_1e_9(name: str) -> None:
    pieces, closed = PAIRS[name]
    assert closed.psi() * (1 - 1e-12) <= pieces.psi() <= closed.psi() * (1 + 2e-9)


@pytest.mark.parametrize("name", [n for n in PAIRS if n.startswith("normal")])
def test_psi_of_normal_shifts_is_never_too_small(name: str) -> None:
    """Here every point of the curve attains the supremum, the worst case for the tangents."""
    pieces, closed = PAIRS[name]
    assert pieces.psi() >= closed.psi() * (1 - 1e-12)


# -- the reference sheets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "a", "epsilon", "optimal"),
    [
        (13, 43, 1, 0.5190816265),
        (13, 121, 1, 0.6317787729),
        (13, 121, 5, 0.8913438781),
        (1320, 43, 5, 0.5673517149),
        (16959, 20, 10, 0.8552653412),
        (2, 90, 0.5, 0.5935018172),
    ],
)
def test_clamped_averages(n: int, a: float, epsilon: float, optimal: float) -> None:
    """Paper 001's average with Q1 = 50 known, ΔQ = 121, clamped to [0, 121]."""
    q1, b = 50.0, 121 / epsilon
    d = (a - q1) / (n - 1)
    absent = ClampedLaw(LaplaceMixture.at(q1, b / n), 0.0, 121.0)
    present = ClampedLaw(LaplaceMixture.at(q1 - d, b / (n - 1)), 0.0, 121.0)
    assert experiment(absent, present).success() == pytest.approx(optimal, abs=6e-11)


@pytest.mark.parametrize("n", [2, 13, 1320])
def test_average_of_a_person_at_the_mean(n: int) -> None:
    e = experiment(LaplaceMixture.at(0.0, 1 / n), LaplaceMixture.at(0.0, 1 / (n - 1)))
    assert e.success() == pytest.approx(0.5 + ((n - 1) / n) ** (n - 1) / (2 * n), rel=1e-12)


def test_mixture_of_example_2a() -> None:
    """Paper 004: x1 ∈ {0,1}, x2 correlated with it, λ = 1; both orders."""
    e = experiment(
        LaplaceMixture((0.6, 0.4), (0.0, 1.0), (1.0, 1.0)), LaplaceMixture((0.4, 0.6), (1.0, 2.0), (1.0, 1.0))
    )
    for one in (e, e.reverse()):
        for epsilon, delta in (
            (0.0, 0.3792723353),
            (0.25, 0.3039670180),
            (0.5, 0.2290510141),
            (1.0, 0.0669469699),
            (1.18, 0.0020062735),
        ):
            assert one.delta(epsilon) == pytest.approx(delta, abs=6e-11)
        assert one.delta(1.19) == 0.0
    assert e.epsilon() == pytest.approx(1.1853759033, abs=6e-11)
    alpha, recall = e.law.at(np.asarray(0.5))
    assert (float(alpha), float(recall)) == pytest.approx((0.18467737, 0.53353253), abs=6e-9)


def test_mixture_with_the_supremum_inside() -> None:
    """B.2 item 3: the ratio peaks at an interior knot; the two orders differ."""

    def law(shift: float, w: tuple[float, ...]) -> LaplaceMixture:
        return LaplaceMixture(w, (shift, shift + 1, shift + 2), (1.0, 1.0, 1.0))

    p, q = law(0.0, (0.05, 0.9, 0.05)), law(0.1, (0.45, 0.1, 0.45))
    to_p, to_q = PiecewiseLaw(q, p), PiecewiseLaw(p, q)
    for epsilon, forward, backward in (
        (0.0, 0.1793907772, 0.1793907772),
        (0.3, 0.0867011211, 0.0386375712),
        (0.7, 0.0040431432, 0.0),
    ):
        assert float(to_p.profile(np.asarray(epsilon))) == pytest.approx(forward, abs=6e-11)
        assert float(to_q.profile(np.asarray(epsilon))) == pytest.approx(backward, abs=6e-11)
    assert Experiment(to_p).epsilon() == pytest.approx(0.7945362705, abs=6e-11)


def test_normal_laplace() -> None:
    """Paper 004 §C(c): Laplace noise about normal data, h = 1.5, σ0 = λ = 1."""
    e = experiment(NormalLaplace(1.0, 1.0), NormalLaplace(1.0, 1.0, 1.5))
    for epsilon, delta in ((0.0, 0.3740376635), (0.5, 0.2185419223), (1.0, 0.0808202292), (1.4, 0.0075648301)):
        assert e.delta(epsilon) == pytest.approx(delta, abs=6e-11)
    assert e.tradeoff(0.05) == pytest.approx(0.7964771742, abs=6e-11)
    assert math.exp(float(NormalLaplace(1.0, 1.0).log_cdf(np.asarray(1.0)))) == pytest.approx(0.740691589991, abs=6e-13)
    assert math.exp(float(NormalLaplace(1.0, 1.0).log_pdf(np.asarray(1.0)))) == pytest.approx(0.202612173779, abs=6e-13)
    assert math.exp(float(NormalLaplace(2.0, 0.7).log_pdf(np.asarray(3.0)))) == pytest.approx(
        0.0711413810832, abs=6e-14
    )
    assert e.epsilon() == pytest.approx(1.5, rel=1e-9)  # a supremum in the limit only


def test_difference_of_laplaces() -> None:
    """Paper 001: two noisy counts, P = 1 − ½(1 + ε/8)e^{−ε/4}, b = 2/ε each, shift 1."""
    for epsilon, success in (
        (0.1, 0.506249357036),
        (1.0, 0.561924559522),
        (5.0, 0.767214852551),
        (20.0, 0.988208592752),
    ):
        b = 2 / epsilon
        e = experiment(LaplaceSum(b, b), LaplaceSum(b, b, 1.0))
        assert e.success() == pytest.approx(success, abs=6e-13)


# -- distribution functions against their densities -----------------------------------------------------------------

LINES: dict[str, LineLaw] = {
    "laplace": LaplaceMixture.at(0.3, 1.7),
    "mixture": LaplaceMixture((0.2, 0.5, 0.3), (-1.0, 0.0, 2.0), (0.5, 1.0, 2.0)),
    "normal": NormalMixture.at(-0.4, 0.6),
    "normals": NormalMixture((0.3, 0.7), (-1.0, 1.0), (0.5, 1.5)),
    "laplace sum": LaplaceSum(1.0, 0.4, 0.2),
    "equal laplace sum": LaplaceSum(1.3, 1.3),
    "normal-laplace": NormalLaplace(0.8, 1.2, -0.5),
}


@pytest.mark.parametrize("name", LINES)
def test_cdf_is_the_integral_of_the_density(name: str) -> None:
    line = LINES[name]

    def pdf(x: float) -> float:
        return math.exp(float(line.log_pdf(np.asarray(x))))

    def area(a: float, b: float) -> float:
        cuts = sorted({a, b, *(k for k in (*line.knots, line.centre) if a < k < b)})
        return float(sum(quad(pdf, x, y, epsabs=1e-15, epsrel=1e-13, limit=200)[0] for x, y in pairwise(cuts)))

    for x in (-2.0, -0.1, 0.25, 3.0):
        assert math.exp(float(line.log_cdf(np.asarray(x)))) == pytest.approx(area(-60.0, x), rel=1e-11)
        assert math.exp(float(line.log_sf(np.asarray(x)))) == pytest.approx(area(x, 60.0), rel=1e-11)
    # far out, the share of the tail that one unit takes: relative precision where the mass itself is below 1e-100
    far = 40.0 if "normal" in name and name != "normal-laplace" else 300.0
    taken = -math.expm1(float(line.log_sf(np.asarray(far + 0.1)) - line.log_sf(np.asarray(far))))
    scale = float(line.log_sf(np.asarray(far)))
    density = quad(lambda x: math.exp(float(line.log_pdf(np.asarray(x))) - scale), far, far + 0.1, epsrel=1e-12)[0]
    assert taken == pytest.approx(density, rel=1e-9)


def test_a_ratio_that_turns_is_refused_unless_named() -> None:
    narrow, wide = NormalMixture.at(0.0, 1.0), NormalMixture.at(0.3, 2.0)
    with pytest.raises(el.InputError, match="not monotone"):
        PiecewiseLaw(narrow, wide)
    turn = -0.1  # (x−0.3)/4 = x
    e = Experiment(PiecewiseLaw(narrow, wide, (turn,)))

    def gap(x: float) -> float:
        return max(math.exp(float(wide.log_pdf(np.asarray(x)))) - math.exp(float(narrow.log_pdf(np.asarray(x)))), 0.0)

    cuts = np.linspace(-20, 20, 81)
    total = sum(quad(gap, a, b, epsabs=1e-13)[0] for a, b in pairwise(cuts))
    assert e.advantage() == pytest.approx(total, abs=1e-8)


def test_clamps_must_agree() -> None:
    with pytest.raises(el.InputError, match="clamp both"):
        PiecewiseLaw(ClampedLaw(LaplaceMixture.at(), 0.0, 1.0), LaplaceMixture.at())
    with pytest.raises(el.InputError, match="smaller"):
        ClampedLaw(LaplaceMixture.at(), 1.0, 0.0)


def test_unlike_exponential_tails_are_no_gaussian_privacy() -> None:
    # in the tail the recall is α^{1/θ}, above every G_μ: as the closed form of the stretched law says
    pair = PiecewiseLaw(LaplaceMixture.at(0.0, 1.0), LaplaceMixture.at(1.0, 1.5))
    assert np.isinf(pair.psi())
    assert np.isinf(el.laplace(epsilon=1.0, stretch=1.5).psi())


def test_small_rates_about_a_knot() -> None:
    """Lap(0.7, b) against the narrower Lap(0.7, c): |x − 0.7| < y flags 1 − e^{−y/b} and finds 1 − e^{−y/c}."""
    wide, narrow = 0.02, 0.0125
    law = PiecewiseLaw(LaplaceMixture.at(0.7, wide), LaplaceMixture.at(0.7, narrow))
    for alpha in (1e-200, 1e-50, 1e-17, 1e-12, 1e-7):
        truth = -math.expm1(math.log1p(-alpha) * wide / narrow)
        got = float(law.roc(np.asarray(alpha)))
        assert truth * (1 - 1e-15) <= got <= truth * (1 + 1e-5)
        back = float(law.inverse_roc(np.asarray(truth)))
        assert alpha * (1 - 1e-5) <= back <= alpha * (1 + 1e-15)
    turned = law.reverse()
    for rest in (1e-14, 1e-10, 1e-7):
        alpha = 1 - rest  # outside |x − 0.7| < y: its miss is the wide law's mass inside
        truth = -math.expm1(math.log1p(-(1 - alpha)) * narrow / wide)
        got = float(turned.tradeoff(np.asarray(alpha)))
        assert truth * (1 - 1e-1 if rest < 1e-13 else 1 - 1e-4) <= got <= truth * (1 + 1e-15)


@pytest.mark.parametrize("shift", [1e-9, 1e-4, 0.3, 4.0])
def test_kl_of_laws_that_hardly_differ(shift: float) -> None:
    law = PiecewiseLaw(LaplaceMixture.at(0.0, 1.0), LaplaceMixture.at(shift, 1.0))
    truth = shift**2 / 2 - shift**3 / 6 if shift < 1e-3 else math.expm1(-shift) + shift  # e^{−m} − 1 + m
    assert float(law.kl()) == pytest.approx(truth, rel=1e-6)
    # both laws clamped to a hair of their noise are almost only two atoms of one half
    hair = PiecewiseLaw(
        ClampedLaw(LaplaceMixture.at(0.5, 1e12), 0.0, 1.0), ClampedLaw(LaplaceMixture.at(0.5, 1e12 / 37), 0.0, 1.0)
    )
    assert 0 <= float(hair.kl()) < 1e-9
