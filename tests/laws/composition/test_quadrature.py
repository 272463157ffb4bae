"""Moments and divergences of one step against mpmath, to the stated error, at every order; and their cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy.special import logsumexp

import epsilens as el
from epsilens.checks import Array
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.quadrature import ERROR, TooManyPanels, panels
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import LabelledSampleStep, ReversedStep, SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep, LaplaceStep
from epsilens.laws.mixture import draws_step
from epsilens.laws.normal import NormalReplacementStep, NormalStep

POWERS = (-50.5, -3.0, -0.5, 0.3, 0.999, 1.001, 2.0, 8.5, 64.0, 500.0, 1e4)
DIGITS = 50

#: x → (log density under H0, log density under H1), with as many digits as asked for.
Logs = Callable[[mp.mpf], tuple[mp.mpf, mp.mpf]]


def normal_pair(mu: float, rate: float, *, replaced: bool = False) -> Logs:
    m, q = mp.mpf(mu), mp.mpf(rate)

    def logs(x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        here, half = -x * x / 2 - mp.log(2 * mp.pi) / 2, m * m / 2
        up = mp.log(1 - q + q * mp.exp(m * x - half))
        down = mp.log(1 - q + q * mp.exp(-m * x - half)) if replaced else mp.mpf(0)
        return here + down, here + up

    return logs


def laplace_pair(m: float, rate: float, *, replaced: bool = False) -> Logs:
    s, q = mp.mpf(m), mp.mpf(rate)

    def logs(x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        here = mp.exp(-abs(x)) / 2
        up = (1 - q) * here + q * mp.exp(-abs(x - s)) / 2
        down = (1 - q) * here + q * mp.exp(-abs(x + s)) / 2 if replaced else here
        return mp.log(down), mp.log(up)

    return logs


def region(exponent: Callable[[np.ndarray], np.ndarray], reach: float) -> list[tuple[float, float, float]]:
    """(from, to, step) of the stretches where the exponent is within 120 of its largest value: zoomed in on doubles."""
    x = np.unique(np.concatenate([s * np.concatenate(([0.0], np.geomspace(1e-3, reach, 40_000))) for s in (-1, 1)]))
    for _ in range(4):
        y = exponent(x)
        inside = np.flatnonzero(y > y.max() - 120)
        near = np.unique(np.clip((inside[:, None] + np.arange(-2, 3)).ravel(), 0, x.size - 1))
        pieces = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
        spans = [(x[p[0]], x[p[-1]]) for p in pieces]
        x = np.unique(np.concatenate([np.linspace(a, b, 4001) for a, b in spans]))
    return [(a, b, (b - a)) for a, b in spans]


def trapezoid(logs: Logs, power: float, mu: float, rate: float, *, replaced: bool = False) -> mp.mpf:
    """∫ p^a q^{1−a} by the trapezoid rule, exact but for e^{−120} when its step is short: p and q are analytic."""
    a = mp.mpf(power)

    def plain(x: np.ndarray) -> np.ndarray:
        half, log_q, log_r = mu * mu / 2, math.log(rate), math.log1p(-rate)
        up = np.logaddexp(log_r, log_q + mu * x - half)
        down = np.logaddexp(log_r, log_q - mu * x - half) if replaced else 0.0
        return np.asarray(-x * x / 2 + power * up + (1 - power) * down)

    total = mp.mpf(0)
    for low, high, width in region(plain, 45 + 2 * mu * (abs(power) + 2)):
        previous, n = mp.mpf(0), 128
        while True:
            h = mp.mpf(width) / n
            points = (mp.mpf(low) + h * i for i in range(n + 1))
            found = h * mp.fsum(mp.exp(a * p + (1 - a) * q) for q, p in map(logs, points))
            if abs(found - previous) < mp.mpf(10) ** -34 * found:
                break
            previous, n = found, 2 * n
            assert n < 100_000, (low, high)
        total += found
    return total


def pieces_of(logs: Logs, power: float, m: float, *, replaced: bool = False) -> mp.mpf:
    """The same of Laplace noise: constant ratios beyond the ends, Gauss–Legendre on pieces that shrink towards them."""
    a, s = mp.mpf(power), mp.mpf(m)
    ends = [-s, mp.mpf(0), s] if replaced else [mp.mpf(0), s]
    total = mp.mpf(0)
    for x in (ends[0], ends[-1]):  # beyond, both densities fall as e^{−|x|}
        q, p = logs(x)
        total += mp.exp(a * p + (1 - a) * q)
    for low, high in pairwise(ends):
        half = (high - low) / 2
        near = [half * mp.mpf(2) ** -k for k in range(int(math.log2(64 * (2 + abs(power)) * max(m, 1))), 0, -1)]
        cuts = [low, *(low + v for v in near), low + half, *(high - v for v in reversed(near)), high]
        for left, right in pairwise(cuts):
            total += mp.quad(
                lambda x: mp.exp(sum(u * v for u, v in zip((1 - a, a), logs(x), strict=True))),
                [left, right],
                method="gauss-legendre",
            )
    return total


def close(value: float, truth: mp.mpf) -> None:
    assert abs(mp.mpf(value) - truth) <= mp.mpf(ERROR) * abs(truth), (value, mp.nstr(truth, 20))


NORMAL = [(0.05, 1e-7), (0.05, 0.9), (0.3, 1e-4), (1.0, 0.01), (2.0, 0.5), (6.0, 1e-7), (6.0, 0.9)]


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(("mu", "rate"), NORMAL)
def test_sampled_normal(mu: float, rate: float, power: float) -> None:
    with mp.workdps(DIGITS):
        step = SampledStep(NormalStep(mu), rate)
        close(step.log_moment(power), mp.log(trapezoid(normal_pair(mu, rate), power, mu, rate)))


@pytest.mark.parametrize("power", [-50.5, -0.5, 0.999, 2.0, 64.0, 500.0])
@pytest.mark.parametrize(("mu", "rate"), [(0.1, 1e-5), (1.0, 0.05), (4.0, 0.9)])
def test_replaced_normal(mu: float, rate: float, power: float) -> None:
    with mp.workdps(DIGITS):
        truth = trapezoid(normal_pair(mu, rate, replaced=True), power, mu, rate, replaced=True)
        close(NormalReplacementStep(mu, rate).log_moment(power), mp.log(truth))


@pytest.mark.parametrize("power", [-50.5, 0.3, 1.001, 8.5, 500.0, 1e4])
@pytest.mark.parametrize(("m", "rate"), [(0.1, 1e-5), (5.0, 0.5), (60.0, 1e-7)])
def test_sampled_laplace(m: float, rate: float, power: float) -> None:
    with mp.workdps(32):
        close(SampledStep(LaplaceStep(m), rate).log_moment(power), mp.log(pieces_of(laplace_pair(m, rate), power, m)))


@pytest.mark.parametrize("power", [-50.5, 0.3, 1.001, 8.5, 1e4])
@pytest.mark.parametrize(("m", "rate"), [(0.2, 1e-3), (8.0, 0.7)])
def test_replaced_laplace(m: float, rate: float, power: float) -> None:
    with mp.workdps(32):
        truth = mp.log(pieces_of(laplace_pair(m, rate, replaced=True), power, m, replaced=True))
        close(LaplaceReplacementStep(m, rate).log_moment(power), truth)


def binomial(mu: float, rate: float, n: int) -> mp.mpf:
    """log Σ C(n,k)(1−q)^{n−k} q^k e^{μ²k(k−1)/2}: a sampled normal at a whole order."""
    m, q = mp.mpf(mu), mp.mpf(rate)
    term, growth, total = (1 - q) ** n, mp.mpf(1), mp.mpf(0)
    for k in range(n + 1):
        total += term
        term *= mp.mpf(n - k) / (k + 1) * q / (1 - q) * growth
        growth *= mp.exp(m * m)
    return mp.log(total)


@pytest.mark.parametrize(
    ("mu", "rate", "orders"),
    [
        (1.0, 0.01, (9, 10, 11)),
        (0.3, 1e-7, (355, 357, 358, 359, 362)),
        (0.05, 1e-12, (22_061, 22_105)),
        (3.0, 1e-12, (6, 7)),
    ],
)
def test_the_order_at_which_the_far_peak_takes_over(mu: float, rate: float, orders: tuple[int, ...]) -> None:
    """There the exponent is a small difference of large numbers, and the moment may be near 1."""
    with mp.workdps(DIGITS):
        for n in orders:
            close(SampledStep(NormalStep(mu), rate).log_moment(float(n)), binomial(mu, rate, n))
            close(ReversedStep(SampledStep(NormalStep(mu), rate)).log_moment(1.0 - n), binomial(mu, rate, n))


@pytest.mark.parametrize("power", [-50.5, -0.5, 0.3, 1.001, 64.0, 1e4])
def test_swapped_and_flagged(power: float) -> None:
    with mp.workdps(DIGITS):
        a, mu = mp.mpf(power), mp.mpf(2)
        told = mp.log(1 + mp.mpf(1e-3) * mp.expm1(a * (a - 1) * mu**2 / 2))
        close(LabelledSampleStep(NormalStep(2.0), 1e-3).log_moment(power), told)
        truth = trapezoid(normal_pair(1.0, 0.01), 1 - power, 1.0, 0.01)
        close(ReversedStep(SampledStep(NormalStep(1.0), 0.01)).log_moment(power), mp.log(truth))


@pytest.mark.parametrize("power", [-3.0, 0.3, 1.001, 64.0])
def test_nested(power: float) -> None:
    """A sample of (1−q)H0 + qH1 against H0: log(1 − r + r/(1 − q + q·e^L))."""
    with mp.workdps(DIGITS):
        mu, q, r, a = mp.mpf(1), mp.mpf(0.01), mp.mpf(0.1), mp.mpf(power)

        def inside(x: mp.mpf) -> mp.mpf:
            mixed = 1 - q + q * mp.exp(mu * x - mu * mu / 2)
            return mp.npdf(x) * mixed * (1 - r + r / mixed) ** a

        truth = mp.quad(inside, [-20, *range(-12, 20, 2), 20, 40])
        close(SampledStep(ReversedStep(SampledStep(NormalStep(1.0), 0.01)), 0.1).log_moment(power), mp.log(truth))


def test_what_only_one_law_shows() -> None:
    atoms = Atoms(np.array([-1e-9, 0.5]), np.log(np.array([0.6, 0.3])), only0=1 - 0.6 - 0.3 / math.exp(0.5), only1=0.1)
    with mp.workdps(DIGITS):
        q = mp.mpf(1e-3)
        for power in (0.0, 0.2, 0.7, 1.0):
            a = mp.mpf(power)
            pairs = zip(atoms.log_p.tolist(), atoms.loss.tolist(), strict=True)
            common = mp.fsum(mp.exp(mp.mpf(p) + (a - 1) * mp.mpf(u)) for p, u in pairs)
            truth = mp.log(1 - q + q * common)
            assert LabelledSampleStep(FiniteStep(atoms), 1e-3).log_moment(power) == pytest.approx(
                float(truth), rel=1e-12
            )
    assert LabelledSampleStep(FiniteStep(atoms), 1e-3).log_moment(2.0) == math.inf
    assert LabelledSampleStep(FiniteStep(atoms), 1e-3).log_moment(-1.0) == math.inf


@pytest.mark.parametrize(("mu", "rate"), [*NORMAL, (0.5, 1e-12)])
def test_divergences(mu: float, rate: float) -> None:
    with mp.workdps(DIGITS):
        logs = normal_pair(mu, rate)
        step, h = SampledStep(NormalStep(mu), rate), mp.mpf(1) / 64
        ahead = back = mp.mpf(0)
        for i in range(-64 * 14, 64 * (15 + math.ceil(mu)) + 1):
            q, p = logs(i * h)
            ahead, back = ahead + mp.exp(q) * (q - p), back + mp.exp(p) * (p - q)
        close(step.kl(), ahead * h)
        close(step.reverse_kl(), back * h)
        close(ReversedStep(step).kl(), back * h)
        close(ReversedStep(step).reverse_kl(), ahead * h)


def test_divergences_of_laplace_noise() -> None:
    for m in (1e-6, 0.3, 20.0, 900.0):
        assert LaplaceStep(m).kl() == pytest.approx(float(mp.expm1(-m) + m), rel=1e-9 if m < 1e-3 else 1e-12)
        assert SampledStep(LaplaceStep(m), 1 - 1e-16).reverse_kl() == pytest.approx(LaplaceStep(m).kl(), rel=1e-9)


STEPS: list[Step] = [
    SampledStep(NormalStep(1.0), 0.01),
    SampledStep(NormalStep(100.0), 0.5),
    SampledStep(NormalStep(1e-4), 1e-12),
    NormalReplacementStep(1.0, 0.01),
    LaplaceReplacementStep(20.0, 1e-5),
    SampledStep(LaplaceStep(700.0), 1e-3),
    LabelledSampleStep(NormalStep(2.0), 1e-3),
    ReversedStep(SampledStep(NormalStep(1.0), 0.01)),
    SampledStep(ReversedStep(SampledStep(NormalStep(1.0), 0.01)), 0.1),
    NormalStep(3.0),
    LaplaceStep(3.0),
    SampledStep(FiniteStep(Atoms(np.array([-1.0, 1.0]), np.log(np.array([0.27, 0.73])))), 0.1),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda s: type(s).__name__)
def test_every_order_takes_about_as_long(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [0]
    loss = type(step).loss

    def counted(self: Step, x: np.ndarray) -> np.ndarray:
        seen[0] += np.size(x)
        return np.asarray(loss(self, x))

    monkeypatch.setattr(type(step), "loss", counted)
    for power in (-1e6, -1234.5, -0.1, 0.5, 3.0, 100.0, 500.0, 1e4, 1e6):
        seen[0] = 0
        assert math.isfinite(step.log_moment(power))
        assert seen[0] < 200_000


def test_orders_grow_into_the_largest_loss() -> None:
    """D_a → D_∞ = log((1−q) + q·e^m), and D_a grows."""
    law = ComposedLaw([(SampledStep(LaplaceStep(1.0), 0.1), 3)])
    orders = np.array([1.5, 10.0, 1e3, 1e6])
    divergence = law.log_moment(orders) / (orders - 1)
    assert np.all(np.diff(divergence) > 0)
    assert divergence[-1] == pytest.approx(3 * math.log1p(0.1 * math.expm1(1.0)), rel=1e-4)


def test_the_exponent_is_convex_in_the_order() -> None:
    orders = np.concatenate((-np.geomspace(1e6, 0.01, 60), np.geomspace(0.01, 1e6, 60)))
    for step in STEPS:
        value = np.array([step.log_moment(float(a)) for a in orders])
        slope = np.diff(value) / np.diff(orders)
        assert np.all(np.diff(slope) >= -1e-9 * np.abs(slope[1:]))


def test_moments_between_the_laws_look_no_further_than_these_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    # batches of 500 drawn with replacement from 50,000: shifts up to 1000, of which ten or so ever happen
    step = draws_step(2.0, 1 / 50_000, 500)
    x = np.arange(-36.0, 30.0, 1 / 128)  # a trapezoid of what is analytic
    j = np.arange(0, 40)
    log_w = np.asarray([float(mp.log(mp.binomial(500, int(i)))) for i in j])
    log_w += j * math.log(1 / 50_000) + (500 - j) * math.log1p(-1 / 50_000)
    loss = logsumexp(np.multiply.outer(x, 2.0 * j) - 2.0 * j**2 + log_w, axis=1)
    q = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    seen = 0
    before = SampledStep.loss

    def counted(self: SampledStep, at: Array) -> Array:
        nonlocal seen
        seen += np.size(at)
        return before(self, at)

    monkeypatch.setattr(SampledStep, "loss", counted)
    for power in (0.1, 0.5, 0.9):
        seen = 0
        less = float(np.sum(q * (np.exp(power * loss) - 1 - power * np.expm1(loss)))) / 128
        assert step.log_moment(power) == pytest.approx(math.log1p(less), rel=1e-10)
        assert seen < 40_000


def test_an_order_near_the_largest_double() -> None:
    training = el.dpsgd(sigma=1.0, rate=0.01, steps=10)
    # the largest loss of a step in this order is −log(1 − q)
    assert training.renyi(1.7e308) == pytest.approx(-10 * math.log1p(-0.01), rel=1e-9)
    assert training.reverse().renyi(1.7e308) == math.inf


@pytest.mark.parametrize("sigma", [1e-6, 1e-3])
def test_laws_that_lie_millions_of_deviations_apart(sigma: float) -> None:
    # H1 is H0 half of the time, and else where H0 never is: a guess is right 3 times of 4, D(H0‖H1) = log 2.
    noisy = el.mechanisms.mixture(shifts=[0.0, 1.0], weights=[0.5, 0.5], sigma=sigma, width=1e-3)
    for reading, truth in (("success", 0.75), ("advantage", 0.5), ("auc", 0.75), ("kl", math.log(2))):
        low, high = noisy.bracket(reading)
        assert low <= truth <= high, reading
        assert high - low < 0.03
    # −log of the least of ½^(1−s)·(1 + e^(−s(1−s)/2σ²)) over s
    s = np.geomspace(1e-15, 0.5, 4000)
    most = float(np.max(math.log(2) * (1 - s) - np.log1p(np.exp(-s * (1 - s) / (2 * sigma**2)))))
    low, high = noisy.bracket("chernoff")
    assert low <= most + 1e-7
    assert high >= most - 1e-12


def test_panels_are_counted_before_they_are_made() -> None:
    step = NormalStep(1.0)
    edges = np.asarray([-30.0, 30.0])
    left, _, _ = panels(step, edges)
    with pytest.raises(TooManyPanels):
        panels(step, edges, left.size - 1)
    with pytest.raises(TooManyPanels):
        panels(step, np.asarray([-1e12, 1e12]))
