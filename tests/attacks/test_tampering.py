"""Tampering: the reference sheet's §3, simulation, quadrature, the whole domain and what is refused."""

from __future__ import annotations

import json
import math
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.integrate import quad
from tests.laws.oracles import close
from tests.references.sheet_003 import DIVERGENCES, POWERS
from tests.strategies import closed_forms, finite_pairs, positive

import epsilens as el
from epsilens.attacks.tampering_power import Rule, Tampering, power_of


def unit(m: float, theta: float = 1.0, noise: str = "laplace") -> Tampering:
    return el.attacks.tampering(bias=m, stretch=theta, **{"sigma" if noise == "gaussian" else "scale": 1.0})  # type: ignore[arg-type]


# -- the sheet ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "theta", "alpha", "best", "one", "two"),
    [*POWERS, (1.0, 1.0, 0.1, 0.271828182846, 0.271828182846, 0.154308063482)],
)
def test_three_tests(m: float, theta: float, alpha: float, best: float, one: float, two: float) -> None:
    for sign in (1.0, -1.0):
        t = unit(sign * m, theta)
        assert t.optimal(alpha).power == pytest.approx(best, abs=6e-11)
        assert t.one_sided(alpha).power == pytest.approx(one, abs=6e-11)
        assert t.two_sided(alpha).power == pytest.approx(two, abs=6e-11)
        assert t.roc(alpha) == t.optimal(alpha).power


def test_thresholds_of_theorem_3_and_4() -> None:
    for alpha in (1e-300, 0.05, 0.5, 0.9):
        k = -math.log(2 * alpha) if alpha <= 0.5 else math.log(2 * (1 - alpha))
        up, down = unit(1.0).one_sided(alpha), unit(-1.0).one_sided(alpha)
        assert (up.above, up.below) == (pytest.approx(k, rel=1e-13, abs=1e-15), -math.inf)
        assert (down.below, down.above) == (pytest.approx(-k, rel=1e-13, abs=1e-15), math.inf)
        assert (up.threshold, down.threshold) == (up.above, down.below)
        both = unit(1.0).two_sided(alpha)
        assert (both.threshold, unit(-1.0, 1.5).optimal(alpha).threshold) == (
            both.above,
            unit(-1.0, 1.5).optimal(alpha).below,
        )
        assert (both.below, both.above) == (pytest.approx(math.log(alpha)), pytest.approx(-math.log(alpha)))
    assert unit(2.0).two_sided(0.5).power == pytest.approx(0.898499, abs=1e-6)  # (42) alone would give 1.8811


def test_units_of_the_answer() -> None:
    small, large = (
        el.attacks.tampering(epsilon=1.0, bias=1.0),
        el.attacks.tampering(epsilon=0.5, bias=-20.0, sensitivity=10.0),
    )
    for test in ("one_sided", "two_sided", "optimal"):
        a, b = getattr(small, test)(0.1), getattr(large, test)(0.1)
        assert a.power == pytest.approx(b.power, rel=1e-14)
        assert (b.below, b.above) == (-20 * a.above, -20 * a.below)


def test_flip_and_bias_of_the_one_sided_test() -> None:
    for m, theta in ((1.0, 1.5), (2.0, 3.0)):  # at α = ½e^{−m} the stretch does not matter
        assert unit(m, theta).one_sided(0.5 * math.exp(-m)).power == pytest.approx(0.5, rel=1e-14)
    assert unit(0.5, 1.5).one_sided(0.9).power == pytest.approx(0.877, abs=6e-4)  # below its size


@pytest.mark.parametrize(
    ("m", "theta", "gap"), [(0.1, 1.5, 0.126), (1.0, 1.5, 0.069), (4.0, 1.5, 0.0094), (1.0, 3.0, 0.218)]
)
def test_what_the_one_sided_test_gives_away(m: float, theta: float, gap: float) -> None:
    alpha = np.linspace(1e-3, 1 - 1e-3, 2000)
    t = unit(m, theta)
    lost = t.roc(alpha) - t.one_sided(alpha).power
    assert np.max(lost) == pytest.approx(gap, abs=6e-4 if gap > 0.01 else 6e-5)
    assert np.min(lost) >= -1e-14


def test_gaussian_references() -> None:
    """ROC with δ = ε/20, classical σ; Theorem 6 at σ = 1."""
    for epsilon, mu, power in ((0.5, 0.357506796184, 0.177731503581), (1.0, 0.788248015893, 0.310899060318)):
        sigma = math.sqrt(2 * math.log(1.25 / (epsilon / 20))) / epsilon
        t = el.attacks.tampering(sigma=sigma, bias=2.0)
        assert 2.0 / sigma == pytest.approx(mu, abs=6e-13)
        assert t.one_sided(0.1).power == pytest.approx(power, abs=6e-13)
    t = el.attacks.tampering(epsilon=0.5, delta=0.025, bias=2.0, calibration="classical")
    assert t.roc(0.1) == pytest.approx(0.177731503581, abs=6e-13)
    assert el.attacks.tampering(epsilon=1.0, delta=1e-5, bias=1.0).parameters["sigma"] == pytest.approx(
        3.73063163482, rel=1e-11
    )


@pytest.mark.parametrize(
    ("m", "forward", "back"),
    DIVERGENCES,
)
def test_kl_both_orders(m: float, forward: float, back: float) -> None:
    for sign in (1, -1):
        t = unit(sign * m, 1.5)
        assert t.kl() == pytest.approx(forward, abs=6e-12)
        assert t.reverse().kl() == pytest.approx(back, abs=6e-12)
        assert unit(sign * m).kl() == unit(sign * m).reverse().kl()


@pytest.mark.parametrize(
    ("noise", "a", "shift", "theta", "value"),
    [
        ("laplace", 0.5, 1.0, 1.5, 0.0859819313701),
        ("laplace", 0.4, 1.0, 1.5, 0.0836632769295),
        ("laplace", 0.3, 2.0, 3.0, 0.244603198879),
        ("gaussian", 0.5, 0.0, 2.0, 0.111571775657),
        ("gaussian", 0.5, 1.0, 2.0, 0.161571775657),
        ("gaussian", 0.3, 1.0, 2.0, 0.168245946813),
    ],
)
def test_chernoff_coefficients(noise: str, a: float, shift: float, theta: float, value: float) -> None:
    t = unit(shift, theta, noise)
    assert t.chernoff_coefficient(a) == pytest.approx(value, abs=6e-13)
    assert t.chernoff() >= value - 1e-13
    f0, f1 = densities(noise, shift, theta)
    integral = quad(lambda z: f0(z) ** a * f1(z) ** (1 - a), -80, 80, points=[0.0, shift], limit=400)[0]
    assert t.chernoff_coefficient(a) == pytest.approx(-math.log(integral), abs=1e-9)


def test_chernoff_ends() -> None:
    t = unit(1.0, 2.0, "gaussian")
    assert t.chernoff_coefficient([0.0, 1.0]).tolist() == [0.0, 0.0]
    assert t.chernoff_coefficient(0.370577) == pytest.approx(0.172116722932, abs=1e-12)
    assert t.chernoff_coefficient(-1.0) == -math.inf  # the integral diverges
    assert t.chernoff_coefficient(1e-12) == pytest.approx(1e-12 * t.reverse().kl(), rel=1e-9)
    assert unit(0.0).chernoff_coefficient(0.5) == 0.0


def densities(noise: str, m: float, theta: float) -> tuple[Any, Any]:
    if noise == "laplace":
        return lambda z: 0.5 * math.exp(-abs(z)), lambda z: 0.5 / theta * math.exp(-abs(z - m) / theta)
    root = math.sqrt(2 * math.pi)
    return lambda z: math.exp(-z * z / 2) / root, lambda z: math.exp(-(((z - m) / theta) ** 2) / 2) / (root * theta)


# -- simulation and quadrature ------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("theta", [1.0, 1.5, 3.0])
def test_false_alarms_and_power_by_simulation(theta: float, sign: float, noise: str) -> None:
    """A million draws of each world, in units of an answer whose noise is 2.5; within five standard errors."""
    n, scale, bias = 1_000_000, 2.5, sign * 3.0
    rng = np.random.default_rng([int(10 * theta), int(sign + 1), len(noise)])
    draw = rng.laplace if noise == "laplace" else rng.normal
    honest, tampered = draw(0.0, scale, n), draw(bias, theta * scale, n)
    t = el.attacks.tampering(bias=bias, stretch=theta, **{"scale" if noise == "laplace" else "sigma": scale})  # type: ignore[arg-type]
    for alpha in (0.01, 0.2, 0.7):
        for rule in (t.one_sided(alpha), t.two_sided(alpha), t.optimal(alpha)):
            for drawn, share in ((honest, rule.size), (tampered, rule.power)):
                seen = np.mean((drawn < rule.below) | (drawn > rule.above))
                assert abs(seen - share) < 5 * math.sqrt(share * (1 - share) / n) + 1e-9, (rule, seen)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(("m", "theta"), [(0.0, 2.0), (1.0, 1.0), (1.5, 1.2), (-2.0, 3.0)])
def test_rules_by_quadrature(m: float, theta: float, noise: str) -> None:
    t = unit(m, theta, noise)
    f0, f1 = densities(noise, m, theta)
    for alpha in (0.03, 0.4, 0.8):
        for rule in (t.one_sided(alpha), t.two_sided(alpha), t.optimal(alpha)):
            low, high = max(rule.below, -200.0), min(rule.above, 200.0)
            for f, share in ((f0, rule.size), (f1, rule.power)):
                inside = quad(f, low, high, points=sorted({min(max(x, low), high) for x in (0.0, m)}), limit=500)[0]
                assert 1 - inside == pytest.approx(share, abs=1e-9)


@given(positive(1e-3, 50.0), st.sampled_from([1.0, 1.0001, 1.5, 3.0, 100.0]), st.floats(0, 1), st.sampled_from([0, 1]))
def test_no_test_beats_the_optimal_one(m: float, theta: float, alpha: float, kind: int) -> None:
    t = unit(m, theta, ("laplace", "gaussian")[kind])
    best = t.optimal(alpha).power
    assert best >= max(t.one_sided(alpha).power, t.two_sided(alpha).power) - 1e-13
    assert best >= alpha - 1e-13
    assert best == t.roc(alpha)


@given(positive(1e-3, 20.0), st.sampled_from([1.5, 3.0, 100.0]), st.floats(0.001, 0.999), st.sampled_from([0, 1]))
def test_optimal_region_is_a_likelihood_ratio_region(m: float, theta: float, alpha: float, kind: int) -> None:
    noise = ("laplace", "gaussian")[kind]
    rule = unit(m, theta, noise).optimal(alpha)

    def llr(z: float) -> float:
        here, there = z * z / 2, ((z - m) / theta) ** 2 / 2
        if noise == "laplace":
            here, there = abs(z), abs(z - m) / theta
        return here - there

    assert llr(rule.below) == pytest.approx(llr(rule.above), rel=1e-9, abs=1e-9)


# -- the whole domain ---------------------------------------------------------------------------------------------


def test_whole_domain_of_threshold_powers() -> None:
    for m, theta, alpha in product((0.0, 1e-9, 1.0, 30.0, 700.0), (1.0, 1.5, 1e6), (1e-300, 1e-9, 0.3, 0.7, 1 - 1e-9)):
        with mp.workdps(400):
            a, x, t = mpf(alpha), mpf(m), mpf(theta)

            def s(z: Any) -> Any:
                return mp.exp(-z) / 2 if z >= 0 else 1 - mp.exp(z) / 2

            k = -mp.log(2 * a) if a <= 0.5 else mp.log(2 * (1 - a))
            both = -mp.log(a)
            truth = {"one-sided": s((k - x) / t), "two-sided": s((both - x) / t) + s((both + x) / t)}
        for test, value in truth.items():
            got = power_of(test, "laplace", np.asarray(m), theta, np.asarray(alpha))
            assert close(got, value), (test, m, theta, alpha)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("theta", [1.0, 1.5, 1e6])
@pytest.mark.parametrize("m", [0.0, 1e-12, 1.0, -700.0, 1e4])
def test_sizes_zero_and_one(m: float, theta: float, noise: str) -> None:
    t = unit(m, theta, noise)
    for test in ("one_sided", "two_sided", "optimal"):
        never, always = getattr(t, test)(0.0), getattr(t, test)(1.0)
        assert (never.size, never.power, never.below, never.above) == (0.0, 0.0, -math.inf, math.inf)
        assert (always.size, always.power, always.above) == (1.0, 1.0, -math.inf)
        assert (never.alarm, always.alarm) == ("never", "always")
        tiny = getattr(t, test)(1e-300)
        assert 0 < tiny.power <= 1
        json.dumps([never.to_dict(), always.to_dict(), tiny.to_dict()], allow_nan=False)


def test_nothing_is_powerless() -> None:
    t = el.attacks.tampering(epsilon=1.0, bias=0)
    for alpha in (0.0, 1e-300, 0.05, 0.5, 0.9, 1.0):
        for rule in (t.one_sided(alpha), t.two_sided(alpha), t.optimal(alpha)):
            assert rule.power == pytest.approx(alpha, rel=1e-12)
    assert (t.kl(), t.chernoff(), t.advantage()) == (0.0, 0.0, 0.0)


def test_arrays() -> None:
    t = el.attacks.tampering(epsilon=[0.5, 1.0], bias=1.0)
    assert t.one_sided(0.1).power == pytest.approx(
        [el.attacks.tampering(epsilon=e, bias=1.0).roc(0.1) for e in (0.5, 1.0)]
    )
    assert t.two_sided([0.1, 0.2]).above.shape == (2,)
    assert el.attacks.tampering(epsilon=1.0, bias=[1.0, -1.0]).one_sided(0.1).above[1] == np.inf
    assert "array" in str(t.one_sided(0.1)) or "[" in str(t.one_sided(0.1))
    assert len(t.one_sided(0.1).to_dict()["power"]) == 2
    assert repr(t).startswith("tampering(") and str(t).startswith("tampering(")  # noqa: PT018


def test_readings_of_an_experiment() -> None:
    t = el.attacks.tampering(epsilon=1.0, bias=1.0)
    same = el.laplace(epsilon=1.0)
    for name in ("success", "advantage", "auc", "kl", "chernoff", "psi"):
        assert getattr(t, name)() == getattr(same, name)()
    assert isinstance(t, el.Experiment)
    assert t.reverse().h1 == "nobody tampered with the answer"
    json.dumps(t.to_dict(), allow_nan=False)


# -- the chain of notions -----------------------------------------------------------------------------------------


@given(closed_forms(), st.floats(0, 1))
def test_kl_implies_chernoff(e: el.Experiment, a: float) -> None:
    """C_a ≤ (1−a)·D(f0‖f1) and ≤ a·D(f1‖f0), never the other way round."""
    c = -float(e.law.log_moment(np.asarray(1 - a)))
    assert c <= el.attacks.chernoff_bound(e.kl(), a, reverse_kl=e.reverse().kl()) * (1 + 1e-9) + 1e-12


@given(finite_pairs(zeros=False))
def test_pure_dp_implies_kl(pair: tuple[list[float], list[float]]) -> None:
    e = el.mechanisms.finite(*pair)
    assert e.kl() <= el.attacks.kl_bound(e.epsilon()) + 1e-12
    assert el.mechanisms.pure(epsilon=1.0).kl() == pytest.approx(el.attacks.kl_bound(1.0), rel=1e-13)


def test_chernoff_does_not_imply_kl() -> None:
    far = el.gaussian(psi=math.sqrt(8.0))  # C_½ = 1 with KL = 4
    assert far.chernoff() == pytest.approx(1.0)
    assert far.kl() > 1
    assert el.attacks.kl_bound(0.0) == 0.0
    assert el.attacks.kl_bound([0.0, 1e-12, 700.0]) == pytest.approx([0.0, 5e-25, 700.0])
    assert (el.attacks.chernoff_bound(math.inf, 1.0), el.attacks.chernoff_bound(1.0, 0.0, reverse_kl=math.inf)) == (
        0.0,
        0.0,
    )


def test_privacy_distortion() -> None:
    assert el.attacks.privacy_distortion(4.0, false_variance=2.0) == pytest.approx(0.5 * math.log(3.0), rel=1e-15)
    assert el.attacks.privacy_distortion([1.0, 3.0], sensitivity=2.0) == el.attacks.privacy_distortion(
        [4.0], false_variance=4.0
    )
    # the least over all false records with standard deviation at most s
    for spread in (0.1, 1.0, 1.9):
        assert el.attacks.privacy_distortion([1.0, 3.0], false_variance=spread**2) > el.attacks.privacy_distortion(
            [4.0], sensitivity=2.0
        )
    assert el.attacks.privacy_distortion([1e300, 1e300], false_variance=1e-300) == pytest.approx(
        0.5 * (600 * math.log(10) + math.log(2))
    )
    # a false record of another law says more: uniform of the same variance, by quadrature of h(q + X) − h(X)
    half = math.sqrt(3.0)
    from scipy.special import ndtr

    def density(y: float) -> float:
        return float((ndtr((y + half) / 2) - ndtr((y - half) / 2)) / (2 * half))

    entropy = quad(lambda y: -density(y) * math.log(density(y)) if density(y) > 0 else 0.0, -14, 14)[0]
    assert entropy - math.log(2 * half) > el.attacks.privacy_distortion(4.0, false_variance=1.0)
    for bad in ({}, {"false_variance": 1.0, "sensitivity": 1.0}, {"false_variance": 0.0}, {"sensitivity": -1.0}):
        with pytest.raises(el.InputError):
            el.attacks.privacy_distortion([1.0], **bad)
    for bad_variances in ([], [0.0], [math.nan], "x"):
        with pytest.raises(el.InputError):
            el.attacks.privacy_distortion(bad_variances, sensitivity=1.0)


# -- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": 1.0, "bias": 1.0, "stretch": 0.5}, "stretch is 0.5"),
        ({"epsilon": 1.0, "bias": 1.0, "stretch": 1e7}, "stretch is 10000000"),
        ({"epsilon": 1.0, "bias": 1.0, "stretch": math.nan}, "stretch contains NaN"),
        ({"epsilon": 1.0, "bias": math.inf}, "bias is infinite"),
        ({"epsilon": 1.0, "bias": math.nan}, "bias contains NaN"),
        ({"epsilon": 1.0, "bias": "3"}, "bias is '3'"),
        ({"epsilon": 1.0, "bias": 1e6}, "every test notices"),
        ({"epsilon": 1.0, "bias": 1e5, "stretch": 9.0}, "every test notices"),
        ({"epsilon": 1.0, "bias": 1.0, "sensitivity": 1.7e308}, "the noise would exceed"),
        ({"scale": 1e300, "bias": 1.0, "sensitivity": 1e300}, "the noise would exceed"),
        ({"epsilon": 0.0, "bias": 1.0}, "epsilon is 0"),
        ({"bias": 1.0}, "exactly one of"),
        ({"epsilon": 1.0, "scale": 1.0, "bias": 1.0}, "epsilon and scale given"),
        ({"sigma": 1.0, "bias": 1.0, "noise": "laplace"}, "sigma belongs to gaussian"),
        ({"scale": 1.0, "bias": 1.0, "noise": "gaussian"}, "scale belongs to laplace"),
        ({"epsilon": 1.0, "bias": 1.0, "noise": "gaussian"}, "delta"),
        ({"epsilon": 1.0, "bias": 1.0, "delta": 1e-5, "noise": "laplace"}, "delta"),
        ({"sigma": 1.0, "bias": 1.0, "delta": 1e-5}, "delta"),
        ({"epsilon": 1.0, "bias": 1.0, "noise": "ε"}, "noise is 'ε'"),
        ({"epsilon": 1.0, "bias": 1.0, "sensitivity": 0.0}, "sensitivity is 0"),
        ({"epsilon": 2.0, "bias": 1.0, "delta": 1e-5, "calibration": "classical"}, "classical"),
        ({"epsilon": [1.0, 2.0], "bias": 1.0, "stretch": 2.0}, "single numbers"),
        ({"epsilon": [1.0, 2.0], "bias": [1.0, 2.0, 3.0]}, "shapes"),
    ],
)
def test_one_sentence_for_bad_input(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError, match=re.escape(words)) as caught:
        el.attacks.tampering(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "0.1", None, math.inf])
def test_sizes_outside_their_domain(alpha: Any) -> None:
    t = unit(1.0, 1.5)
    for test in (t.one_sided, t.two_sided, t.optimal):
        with pytest.raises(el.InputError, match="fpr"):
            test(alpha)
    with pytest.raises(el.InputError, match="a "):
        t.chernoff_coefficient(math.nan)
    with pytest.raises(el.InputError, match="a is 2"):
        el.attacks.chernoff_bound(1.0, 2.0)


def test_words() -> None:
    t = el.attacks.tampering(epsilon=1.0, bias=1.0)
    told = " ".join(str(t).split())
    assert told.startswith(
        "False records that together add 1 to this answer would be noticed 14 times in 100 by someone"
    )
    assert "best" in t._repr_html_()
    assert str(t.one_sided(0.1)).startswith("one-sided test, alarm above 1.60944")
    assert "&minus;" in t.two_sided(0.1)._repr_html_() or "−" in t.two_sided(0.1)._repr_html_()
    assert isinstance(t.optimal(0.1), Rule)


def test_a_bias_is_measured_by_the_stretched_noise() -> None:
    """m = 2e4 behind noise a thousand times as wide is twenty of its units: allowed, and not certain to be seen."""
    t = el.attacks.tampering(scale=1.0, bias=-2e4, stretch=1e3)
    assert t.one_sided(1e-3).power == pytest.approx(1 - math.exp((-math.log(2e-3) - 2e4) / 1e3) / 2, rel=1e-12)
    assert 1 - t.optimal(1e-3).power < math.exp(-19)


def test_a_tilt_that_doubles_cannot_raise() -> None:
    with pytest.raises(el.InputError, match=r"a is 1\.7e"):
        el.attacks.tampering(epsilon=1.0, bias=1.0, stretch=1.5).chernoff_coefficient(1.7e308)
