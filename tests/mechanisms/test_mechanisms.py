"""Mechanisms against independent formulas and enumeration in mpmath."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import close, probit

import epsilens as el
from epsilens.experiment import Experiment

EPSILON = [1e-12, 1e-6, 0.1, 1.0, 5.0, 40.0, 700.0]


class Atoms:
    """Two lists of mpf masses over the same outcomes: every reading by enumeration."""

    def __init__(self, p0: list[Any], p1: list[Any]) -> None:
        total0, total1 = mp.fsum(p0), mp.fsum(p1)
        self.p0, self.p1 = [x / total0 for x in p0], [x / total1 for x in p1]
        order = sorted(range(len(p0)), key=lambda i: self.p0[i] / self.p1[i])
        self.points = [(mpf(0), mpf(0))]
        for i in order:
            a, r = self.points[-1]
            self.points.append((a + self.p0[i], r + self.p1[i]))

    def profile(self, t: Any) -> Any:
        return mp.fsum(max(y - t * x, mpf(0)) for x, y in zip(self.p0, self.p1, strict=True))

    def roc(self, alpha: float) -> Any:
        x, best = mpf(alpha), mpf(0)
        for (a, r), (b, s) in zip(self.points, self.points[1:], strict=False):
            if a <= x <= b:
                best = max(best, s if a == b else r + (s - r) * (x - a) / (b - a))
        return best

    def kl(self) -> Any:
        return mp.fsum(x * mp.log(x / y) for x, y in zip(self.p0, self.p1, strict=True))

    def auc(self) -> Any:
        return mp.fsum((b - a) * (r + s) / 2 for (a, r), (b, s) in zip(self.points, self.points[1:], strict=False))

    def psi(self) -> Any:
        # vertices within 1e-40 of a corner are beyond the digits kept, and never the largest gap here
        small = mpf("1e-40")
        return max(probit(r) - probit(a) for a, r in self.points[1:-1] if small < a < r < 1 - small)

    def check(self, e: Experiment, epsilon: float | None = None) -> None:
        assert close(e.advantage(), self.profile(mpf(1)))
        assert close(e.kl(), self.kl())
        assert close(e.auc(), self.auc())
        assert close(e.psi(), self.psi(), rel=1e-11)
        for alpha in (1e-12, 1e-3, 0.3, 0.8):
            assert close(e.roc(alpha), self.roc(alpha))
        for u in (0.01, 0.5, 2.0):
            assert close(e.law.profile(np.asarray(u)), self.profile(mp.exp(mpf(u))), tiny=1e-17)
        if epsilon is not None:
            assert e.epsilon() == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILON)
def test_pure(epsilon: float) -> None:
    e, x = el.mechanisms.pure(epsilon=epsilon), mpf(epsilon)
    assert close(e.advantage(), mp.tanh(x / 2))
    assert close(e.success(), 1 / (1 + mp.exp(-x)))
    assert close(e.kl(), x * mp.tanh(x / 2))
    assert close(e.psi(), -2 * probit(1 / (1 + mp.exp(x))))
    assert e.epsilon() == epsilon
    assert close(e.posterior(0.1), 1 / (1 + 9 * mp.exp(-x)), rel=1e-12)
    for order in (0.5, 0.999999, 1.000001, 2.0, 64.0):
        a = mpf(order)
        with mp.workdps(400):
            p = 1 / (1 + mp.exp(-x))
            truth = mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)
        assert close(e.renyi(order), truth), order
    for alpha in (1e-300, 1e-12, 0.1, 0.5, 0.9):
        with mp.extradps(340):
            f = max(1 - mp.exp(x) * mpf(alpha), mp.exp(-x) * (1 - mpf(alpha)), mpf(0))
            assert close(e.tradeoff(alpha), f)
            assert close(e.roc(alpha), 1 - f)


@pytest.mark.parametrize("delta", [0.0, 1e-12, 0.01, 0.5])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1.0, 20.0])
def test_approximate(epsilon: float, delta: float) -> None:
    """f = max(0, 1 − δ − e^ε·α, e^{−ε}(1 − δ − α))."""
    e, x, d = el.mechanisms.approximate(epsilon=epsilon, delta=delta), mpf(epsilon), mpf(delta)
    for alpha in (0.0, 1e-12, 0.1, 0.5, 0.9, 1.0):
        f = max(mpf(0), 1 - d - mp.exp(x) * mpf(alpha), mp.exp(-x) * (1 - d - mpf(alpha)))
        assert abs(e.tradeoff(alpha) - f) <= 1e-12 * f + 2e-16
    assert close(e.delta(epsilon), d, tiny=1e-16 if delta == 0 else 1e-305)
    assert e.epsilon(delta) <= epsilon * (1 + 1e-12)
    assert close(e.advantage(), d + (1 - d) * mp.tanh(x / 2), tiny=1e-16)
    assert e.epsilon() == (np.inf if delta else epsilon)
    assert e.psi() == (np.inf if delta else pytest.approx(float(2 * probit(1 / (1 + mp.exp(-x)))), rel=1e-9))


def test_psi_beyond_the_doubles() -> None:
    """e^{−800} is no double, but the ψ it implies is: 2Φ⁻¹(1/(1+e^{−800})) = 79.2…"""
    with mp.workdps(60):
        z = mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) + mp.log(1 + mp.exp(mpf(800))), 39.0)
    assert el.mechanisms.pure(epsilon=800.0).psi() == pytest.approx(float(2 * z), rel=1e-12)


def test_the_bare_claim_bounds_every_mechanism() -> None:
    alpha = np.geomspace(1e-12, 1, 60)
    for epsilon in (0.1, 1.0, 4.0):
        worst = el.mechanisms.pure(epsilon=epsilon).tradeoff(alpha)
        for e in (
            el.laplace(epsilon=epsilon),
            el.mechanisms.geometric(epsilon=epsilon, sensitivity=3),
            el.mechanisms.randomized_response(epsilon=epsilon, k=5),
            el.mechanisms.staircase(epsilon=epsilon),
            el.mechanisms.exponential(scores0=[0, 1, 2], scores1=[1, 1, 1.5], epsilon=epsilon),
        ):
            assert np.all(e.tradeoff(alpha) >= worst - 1e-14)
            assert e.epsilon() <= epsilon * (1 + 1e-12)
        gauss = el.gaussian(epsilon=epsilon, delta=1e-3)
        assert np.all(
            gauss.tradeoff(alpha) >= el.mechanisms.approximate(epsilon=epsilon, delta=1e-3).tradeoff(alpha) - 1e-12
        )


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_geometric_by_enumeration(epsilon: float, sensitivity: int) -> None:
    for shift in range(1, sensitivity + 1):
        q = mpf(epsilon) / sensitivity
        reach = int(60 / q)
        ks = range(-reach, reach + shift)
        atoms = Atoms([mp.exp(-q * abs(k)) for k in ks], [mp.exp(-q * abs(k - shift)) for k in ks])
        e = el.mechanisms.geometric(epsilon=epsilon, sensitivity=sensitivity, shift=shift)
        assert close(e.advantage(), atoms.profile(mpf(1)))
        assert close(e.kl(), atoms.kl())
        assert e.epsilon() == pytest.approx(epsilon * shift / sensitivity, rel=1e-13)
        if epsilon >= 1:
            for u in (0.01, 0.5):
                assert close(e.delta(u), atoms.profile(mp.exp(mpf(u))), tiny=1e-17)


@pytest.mark.parametrize("shift", [1, 2])
@pytest.mark.parametrize("sigma", [0.4, 1.0, 7.3])
def test_discrete_gaussian_by_enumeration(sigma: float, shift: int) -> None:
    s2 = 2 * mpf(sigma) ** 2
    ks = range(-math.ceil(16 * sigma), math.ceil(16 * sigma) + shift + 1)
    atoms = Atoms([mp.exp(-(mpf(k) ** 2) / s2) for k in ks], [mp.exp(-((mpf(k) - shift) ** 2) / s2) for k in ks])
    e = el.mechanisms.discrete_gaussian(sigma=sigma, sensitivity=shift)
    atoms.check(e)
    assert e.kl() == pytest.approx(shift**2 / (2 * sigma**2), rel=1e-12)  # exact for the discrete Gaussian too
    for order in (1.5, 2.0, 10.0):  # Canonne, Kamath & Steinke, Theorem 4
        assert e.renyi(order) <= order * shift**2 / (2 * sigma**2) * (1 + 1e-12)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 10.0, 300.0])
def test_discrete_gaussian_has_no_pure_epsilon(sigma: float) -> None:
    """The list of atoms stops at 1e-325, the likelihood ratio does not."""
    e = el.mechanisms.discrete_gaussian(sigma=sigma)
    assert e.epsilon() == np.inf
    assert e.posterior(0.01) == 1.0
    assert e.renyi(np.inf) == np.inf
    assert np.isfinite(e.epsilon(1e-300))
    assert np.isfinite(e.psi())
    assert el.mechanisms.discrete_gaussian(sigma=sigma, shift=0).epsilon() == 0.0


def test_discrete_gaussian_is_the_gaussian_when_wide() -> None:
    wide, smooth = (
        el.mechanisms.discrete_gaussian(sigma=500.0, sensitivity=400),
        el.gaussian(sigma=500.0, sensitivity=400.0),
    )
    for reading in ("advantage", "auc", "kl", "chernoff"):
        assert getattr(wide, reading)() == pytest.approx(getattr(smooth, reading)(), rel=1e-5)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("epsilon", EPSILON)
def test_randomized_response(epsilon: float, k: int) -> None:
    x = mp.exp(mpf(epsilon))
    rest = [mpf(1)] * (k - 2)
    atoms = Atoms([x, mpf(1), *rest], [mpf(1), x, *rest])
    e = el.mechanisms.randomized_response(epsilon=epsilon, k=k)
    assert close(e.advantage(), (x - 1) / (x + k - 1))
    assert close(e.parameters["truth"], x / (x + k - 1))
    assert close(e.kl(), atoms.kl())
    assert close(e.auc(), atoms.auc())
    if 1e-3 < epsilon < 50:
        atoms.check(e, epsilon)
    if 1e-3 < epsilon < 10:  # near 1 the truth no longer tells the ε
        again = el.mechanisms.randomized_response(truth=float(x / (x + k - 1)), k=k)
        assert again.parameters["epsilon"] == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 3.0, 50.0])
def test_exponential(epsilon: float, monotonic: bool) -> None:
    s0, s1 = [0.0, 1.0, 3.0, 3.5, -2.0], [1.0, 1.0, 3.25 if monotonic else 2.5, 4.0, -1.5 if monotonic else -2.25]
    rate = mpf(epsilon) / (1 if monotonic else 2)
    atoms = Atoms([mp.exp(rate * mpf(s)) for s in s0], [mp.exp(rate * mpf(s)) for s in s1])
    e = el.mechanisms.exponential(scores0=s0, scores1=s1, epsilon=epsilon, monotonic=monotonic)
    assert close(e.advantage(), atoms.profile(mpf(1)))
    assert close(e.kl(), atoms.kl())
    if 0.1 < epsilon < 10:
        atoms.check(e)


@pytest.mark.parametrize("shift", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("gamma", [None, 0.2, 0.5])
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 6.0])
def test_staircase_by_its_density(epsilon: float, gamma: float | None, shift: float) -> None:
    """∫(p1 − t·p0)₊ cell by cell over 400 periods of the density of Geng & Viswanath, in mpmath."""
    x, d = mpf(epsilon), mpf(shift)
    g = 1 / (1 + mp.exp(x / 2)) if gamma is None else mpf(gamma)
    height = (1 - mp.exp(-x)) / (2 * (g + (1 - g) * mp.exp(-x)))

    def density(y: Any) -> Any:
        level = mp.floor(abs(y))
        return height * mp.exp(-x * (level + (1 if abs(y) - level >= g else 0)))

    periods = int(45 / epsilon + 3)
    marks = {base + s * (n + part) for base in (0, d) for s in (-1, 1) for n in range(periods) for part in (0, g)}
    edges = sorted(marks)
    e = el.mechanisms.staircase(epsilon=epsilon, gamma=gamma, shift=shift)
    cells = []
    for a, b in itertools.pairwise(edges):
        middle = (a + b) / 2
        cells.append((density(middle) * (b - a), density(middle - d) * (b - a)))
    assert abs(mp.fsum(c[0] for c in cells) - 1) < 1e-15
    for u in (0.0, epsilon / 2, 0.9 * epsilon):
        truth = mp.fsum(max(q - mp.exp(mpf(u)) * p, 0) for p, q in cells)
        assert close(e.delta(u), truth, rel=1e-11, tiny=1e-16)
    assert close(e.kl(), mp.fsum(p * mp.log(p / q) for p, q in cells), rel=1e-11)
    assert e.epsilon() <= epsilon * (1 + 1e-12)
    assert e.advantage() <= math.tanh(epsilon / 2) * (1 + 1e-12)


def test_laplace_and_gaussian_say_the_same_thing_in_every_way() -> None:
    assert el.laplace(epsilon=2.0, sensitivity=4.0).parameters["scale"] == 2.0
    assert el.laplace(scale=2.0, sensitivity=4.0).epsilon() == 2.0
    assert el.laplace(epsilon=2.0, sensitivity=4.0, shift=1.0).epsilon() == 0.5
    assert el.gaussian(psi=0.5, sensitivity=4.0).parameters["sigma"] == 8.0
    assert el.gaussian(sigma=8.0, sensitivity=4.0, shift=2.0).psi() == 0.25
    assert el.mechanisms.geometric(scale=0.5).epsilon() == pytest.approx(2.0, rel=1e-15)


def test_worlds_in_words() -> None:
    assert el.laplace(epsilon=1.0).h1 == "the person is in the data"
    assert "another value" in el.laplace(epsilon=1.0, neighbours="replace").h1
    assert el.mechanisms.randomized_response(epsilon=1.0).h0 == "the person's record has one value"


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1.0, 700.0])
def test_discrete_mechanisms_at_the_extremes(epsilon: float) -> None:
    for e in (
        el.mechanisms.geometric(epsilon=epsilon),
        el.mechanisms.staircase(epsilon=epsilon),
        el.mechanisms.pure(epsilon=epsilon),
    ):
        for reading in ("success", "advantage", "auc", "kl", "chernoff", "psi", "epsilon", "fbeta", "posterior"):
            value = getattr(e, reading)()
            assert np.isfinite(value)
            assert value >= 0
        assert e.epsilon() == pytest.approx(epsilon, rel=1e-12)
