"""Pairs of atoms against exact rational arithmetic: the doubles given are exact, and normalised as fractions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import close, probit

import epsilens as el
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.discrete_noise import DiscreteNormal
from epsilens.laws.finite import Finite, JointFiniteStep, finite_product, joint_step

KINDS = ("plain", "zeros", "tiny", "many")


def pair(kind: str, seed: int) -> tuple[list[float], list[float], list[Fraction], list[Fraction]]:
    rng = random.Random(f"{kind}{seed}")
    n = 40 if kind == "many" else rng.choice([2, 3, 5, 8])
    a, b = ([Fraction(rng.randint(1, 1000)) for _ in range(n)] for _ in range(2))
    if kind == "zeros":
        a[0] = Fraction(0)
        b[-1] = Fraction(0) if seed % 2 else b[-1]
    if kind == "tiny":
        a[0], b[1] = Fraction(1, 10**30), Fraction(1, 10**40)
    fa, fb = [float(x / sum(a)) for x in a], [float(x / sum(b)) for x in b]
    p, q = [Fraction(x) for x in fa], [Fraction(x) for x in fb]
    return fa, fb, [x / sum(p) for x in p], [x / sum(q) for x in q]


def real(x: Fraction) -> Any:
    return mpf(x.numerator) / x.denominator


def vertices(p: list[Fraction], q: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    order = sorted(range(len(p)), key=lambda i: -(q[i] / p[i]) if p[i] else -Fraction(10**400))
    out = [(Fraction(0), Fraction(0))]
    for i in order:
        out.append((out[-1][0] + p[i], out[-1][1] + q[i]))
    return out


def highest(points: list[tuple[Fraction, Fraction]], x: Fraction, axis: int = 0) -> Fraction:
    best = Fraction(0)
    for u, v in pairwise(points):
        if u[axis] <= x <= v[axis]:
            rise = v[1 - axis] - u[1 - axis]
            width = v[axis] - u[axis]
            best = max(best, v[1 - axis] if width == 0 else u[1 - axis] + rise * (x - u[axis]) / width)
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_curve_and_scores(kind: str, seed: int) -> None:
    fa, fb, p, q = pair(kind, seed)
    e, points = el.mechanisms.finite(fa, fb), vertices(p, q)
    for alpha in (1e-300, 1e-12, 0.1, 0.5, 0.9, 1 - 1e-12):
        r = highest(points, Fraction(alpha))
        assert close(e.roc(alpha), real(r))
        # 1e-15 absolute: masses that should sum to 1 do so to rounding, so a miss of 1e-12 has three digits fewer
        assert abs(e.tradeoff(alpha) - real(1 - r)) <= 1e-12 * real(1 - r) + 1e-15
        assert e.precision(alpha, 0.2) == pytest.approx(float(r / (r + 4 * Fraction(alpha))), rel=1e-12)
    assert close(e.auc(), real(sum(((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points)), Fraction(0))))
    for prior in (1e-6, 0.01, 0.5, 0.9):
        w, c = Fraction(prior), (1 - Fraction(prior)) / Fraction(prior)
        assert close(e.success(prior), real(max((1 - w) * (1 - x) + w * r for x, r in points)))
        for beta in (0.1, 1, 3):
            b2 = Fraction(beta) ** 2
            assert close(e.fbeta(beta, prior), real(max((1 + b2) * r / (r + c * x + b2) for x, r in points)))
        worst = math.inf if any(x == 0 < y for x, y in zip(p, q, strict=True)) else None
        if worst is None:
            top = max(y / x for x, y in zip(p, q, strict=True) if x)
            assert close(e.posterior(prior), real(w * top / (w * top + 1 - w)))
        else:
            assert e.posterior(prior) == 1.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_profile_both_orders(kind: str, seed: int) -> None:
    fa, fb, p, q = pair(kind, seed)
    e = el.mechanisms.finite(fa, fb)

    def h(a: list[Fraction], b: list[Fraction], t: Any) -> Any:
        return mp.fsum(max(real(y) - t * real(x), mpf(0)) for x, y in zip(a, b, strict=True))

    for u in (0.0, 0.3, 1.0, 3.0, 60.0):
        t = mp.exp(mpf(u))
        assert close(e.delta(u), max(h(p, q, t), h(q, p, t)), tiny=1e-16)
        assert close(e.law.profile(np.asarray(u)), h(p, q, t), tiny=1e-16)
        assert close(e.law.profile(np.asarray(-u)), h(p, q, 1 / t), tiny=1e-16)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_divergences(kind: str, seed: int) -> None:
    fa, fb, p, q = pair(kind, seed)
    e = el.mechanisms.finite(fa, fb)
    lacks1 = any(y == 0 < x for x, y in zip(p, q, strict=True))
    both = [(real(x), real(y)) for x, y in zip(p, q, strict=True) if x and y]
    assert close(e.kl(), mp.inf if lacks1 else mp.fsum(x * mp.log(x / y) for x, y in both))
    for order in (0.0, 1e-6, 0.1, 0.5, 0.999999, 1.000001, 2.0, 64.0):
        a = mpf(order)
        moment = mp.log(mp.fsum(x**a * y ** (1 - a) for x, y in both)) / (a - 1)
        truth = mp.inf if lacks1 and order > 1 else moment
        assert close(e.renyi(order), truth, tiny=1e-16 if order == 0 else 1e-305), order
    top = mp.inf if lacks1 else mp.log(max(x / y for x, y in both))
    assert close(e.renyi(math.inf), top)
    with mp.workdps(30):
        chernoff = -min(mp.log(mp.fsum(x**s * y ** (1 - s) for x, y in both)) for s in mp.linspace(0, 1, 401))
    assert float(chernoff) * (1 - 1e-12) <= e.chernoff() <= float(chernoff) * (1 + 1e-4) + 1e-9


def test_nearly_equal_masses_keep_their_difference() -> None:
    """Masses that differ by 2⁻⁴⁰: exact in doubles, so the readings must be too."""
    step = 2.0**-40
    e = el.mechanisms.finite([0.25 + step, 0.25 - step, 0.5], [0.25 - step, 0.25 + step, 0.5])
    assert e.advantage() == pytest.approx(2 * step, rel=1e-12)
    assert e.epsilon() == pytest.approx(2 * math.atanh(4 * step), rel=1e-12)
    assert e.kl() == pytest.approx(float(2 * mpf(step) * mp.log((1 + 4 * mpf(step)) / (1 - 4 * mpf(step)))), rel=1e-12)
    assert e.chernoff() == pytest.approx(e.kl() / 4, rel=1e-6)


def test_nothing_and_everything_shown() -> None:
    same = el.mechanisms.finite([0.3, 0.7], [0.3, 0.7])
    assert (same.advantage(), same.epsilon(), same.psi(), same.kl()) == (0.0, 0.0, 0.0, 0.0)
    assert same.auc() == pytest.approx(0.5, rel=1e-15)
    apart = el.mechanisms.finite([1.0, 0.0], [0.0, 1.0])
    assert (apart.advantage(), apart.epsilon(), apart.psi(), apart.kl(), apart.auc()) == (
        1.0,
        np.inf,
        np.inf,
        np.inf,
        1.0,
    )
    assert (apart.epsilon(1.0), apart.delta(5.0), apart.roc(0.0), apart.tradeoff(0.0)) == (0.0, 1.0, 1.0, 0.0)


def test_orders_of_a_law_that_only_gains_mass_agree() -> None:
    # H1 = (1 − δ)·H0 + elsewhere: D_a(H0‖H1) = −log(1 − δ) for every order
    gained = 3.05902274e-07
    d = el.mechanisms.finite([1.0, 0.0], [1 - gained, gained]).renyi(np.array([1e-9, 0.1, 0.9, 1.0, 2.0, 64.0]))
    assert d == pytest.approx(np.full(6, -math.log1p(-gained)), rel=1e-9)
    assert np.ptp(d) <= 1e-14 * d[0]


@pytest.mark.parametrize("recall", [0.3, 0.6, 1 - 1e-6, 1 - 1e-10, 1 - 1e-14, 1 - 2.0**-53])
@pytest.mark.parametrize("atoms", [2, 40, 3000])
def test_the_best_precision_near_a_recall_of_one(atoms: int, recall: float) -> None:
    rng = random.Random(atoms)
    a, b = ([rng.random() ** 4 + 1e-9 for _ in range(atoms)] for _ in range(2))
    p, q = ([x / total for x in v] for v, total in ((a, math.fsum(a)), (b, math.fsum(b))))
    with mp.workdps(40):
        exact = [[mpf(x) / total for x in v] for v, total in ((p, mp.fsum(p)), (q, mp.fsum(q)))]
        miss, alpha = 1 - mpf(recall), mpf(1)
        for x, y in sorted(zip(*exact, strict=True), key=lambda at: at[1] / at[0]):
            part = min(y, miss) / y
            alpha, miss = alpha - part * x, miss - part * y
        truth = float(1 / (1 + alpha / recall))
    # the sum of thousands of doubles would be 1e-13 off
    assert el.mechanisms.finite(p, q).precision(recall=recall) == pytest.approx(truth, rel=4e-16)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 11.0])
@pytest.mark.parametrize("recall", [0.9, 1 - 1e-10, 1 - 1e-14])
def test_the_best_precision_of_whole_number_noise_near_a_recall_of_one(sigma: float, recall: float) -> None:
    with mp.workdps(40):
        reach = int(14 * sigma + 12)
        mass = {k: mp.e ** (-(mpf(k) ** 2) / (2 * mpf(sigma) ** 2)) for k in range(-reach - 1, reach + 2)}
        total = mp.fsum(mass.values())
        miss, alpha = (1 - mpf(recall)) * total, total
        for k in range(-reach, reach + 1):  # the least ratios first
            part = min(mass[k - 1], miss) / mass[k - 1]
            alpha, miss = alpha - part * mass[k], miss - part * mass[k - 1]
        truth = float(recall / (recall + alpha / total))
    assert el.mechanisms.discrete_gaussian(sigma=sigma).precision(recall=recall) == pytest.approx(truth, rel=3e-15)


@pytest.mark.parametrize("rest", [0.3, 1e-6, 1e-12, 1e-15, 2.0**-53])
@pytest.mark.parametrize("atoms", [2, 40, 3000])
def test_the_miss_near_a_rate_of_one(atoms: int, rest: float) -> None:
    rng = random.Random(atoms)
    a, b = ([rng.random() ** 4 + 1e-9 for _ in range(atoms)] for _ in range(2))
    p, q = ([x / total for x in v] for v, total in ((a, math.fsum(a)), (b, math.fsum(b))))
    alpha = 1 - rest
    with mp.workdps(40):
        exact = [[mpf(x) / total for x in v] for v, total in ((p, mp.fsum(p)), (q, mp.fsum(q)))]
        left, miss = 1 - mpf(alpha), mpf(0)
        for x, y in sorted(zip(*exact, strict=True), key=lambda at: at[1] / at[0]):
            part = min(x, left) / x
            left, miss = left - part * x, miss + part * y
    assert el.mechanisms.finite(p, q).tradeoff(alpha) == pytest.approx(float(miss), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(8e-12, 6.6e-123), (3.1724239961244163e-08, 1e-132), (1.0, 1e-5)])
def test_the_chernoff_information_of_small_losses_beside_mass_of_its_own(epsilon: float, delta: float) -> None:
    """−log of (1 − δ)/cosh(ε/2): two losses ±ε, and δ that either law alone shows."""
    with mp.workdps(60):
        value = float(mp.log(mp.cosh(mpf(epsilon) / 2)) - mp.log1p(-mpf(delta)))
    assert el.mechanisms.approximate(epsilon=epsilon, delta=delta).chernoff() == pytest.approx(value, rel=1e-12)


def practical(law: Finite, level: float) -> Any:
    """The largest Φ⁻¹(recall) − Φ⁻¹(α) of tests whose errors are both at least the level, by every corner."""
    order = np.argsort(-law.llr, kind="stable")
    log_p0, llr = ([mpf(float(v)) for v in one[order]] for one in (law.log_p0, law.llr))
    masses = [mp.e**a for a in log_p0], [mp.e ** (a + u) for a, u in zip(log_p0, llr, strict=True)]
    only = mpf(law.only0), mpf(law.only1)
    p0, p1 = ([v * (1 - rest) / mp.fsum(mass) for v in mass] for mass, rest in zip(masses, only, strict=True))
    best = mpf(0)
    for a, b, recall in ((p0, p1, only[1]), (p1[::-1], p0[::-1], only[0])):
        alpha, tests = mpf(0), []
        for x, y in zip(a, b, strict=True):
            if alpha <= level <= alpha + x:
                tests.append((mpf(level), recall + y * (level - alpha) / x))
            alpha, recall = alpha + x, recall + y
            tests.append((alpha, recall))
        best = max(
            [best, *(probit(r) - probit(t) for t, r in tests if t >= level and 1 - r >= level * (1 - mpf("1e-30")))]
        )
    return best


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize(
    "build",
    [
        lambda eps: el.mechanisms.unary(epsilon=eps), lambda eps: el.mechanisms.randomized_response(epsilon=eps, k=4),
        lambda eps: el.mechanisms.geometric(epsilon=eps, sensitivity=3),
        lambda eps: el.mechanisms.staircase(epsilon=eps, shift=0.6),
        lambda eps: el.mechanisms.exponential(epsilon=eps, scores0=[0, 0, 1], scores1=[1, 0, 0]),
        lambda eps: el.subsample(el.mechanisms.randomized_response(epsilon=eps, k=3), 0.3, neighbours="replace"),
        lambda eps: el.mechanisms.approximate(epsilon=eps, delta=1e-14),
    ],
)  # fmt: skip
def test_mu_of_the_smallest_losses(build: Callable[[float], el.Experiment], epsilon: float) -> None:
    """Where a level lies between two corners, what is gained there is no difference of two masses."""
    e = build(epsilon)
    assert isinstance(e.law, Finite)
    for level in (1e-6, 0.01, 0.2, 0.3, 0.45):
        truth = practical(e.law, level)
        if truth > 0:  # otherwise no test makes both errors as often
            assert close(e.mu(level), truth)


@pytest.mark.parametrize(("sigma", "distance"), [(0.6, 5), (1.0, 3), (2.0, 7)])
def test_small_errors_of_discrete_gaussian_noise(sigma: float, distance: int) -> None:
    e = el.mechanisms.discrete_gaussian(sigma=sigma, sensitivity=distance)
    places = range(-90, 91)
    mass = {k: mp.e ** (-(mpf(k) ** 2) / (2 * mpf(sigma) ** 2)) for k in range(-90 - distance, 91)}
    total = mp.fsum(mass[k] for k in places)
    for alpha in (1e-12, 0.3, 0.999, 1 - 1e-9):
        left, missed = 1 - mpf(alpha), mpf(0)
        for k in places:
            share = min(left / (mass[k] / total), 1)
            missed += share * mass[k - distance] / total
            left -= share * mass[k] / total
            if left <= 0:
                break
        assert close(e.tradeoff(alpha), missed)


@pytest.mark.parametrize(("outcomes", "k"), [(2, 5), (6, 2), (6, 3), (5, 4), (3, 3)])
def test_every_sequence_of_outcomes(outcomes: int, k: int) -> None:
    rng = np.random.default_rng(outcomes * 10 + k)
    p, q = rng.dirichlet(np.ones(outcomes)), rng.dirichlet(np.ones(outcomes))
    made = finite_product([(Finite(np.log(p), np.log(q / p)), k)], 10**6)
    assert made is not None
    for epsilon in (0.0, 0.3, 1.0):
        exact = math.fsum(
            max(math.prod(q[i] for i in w) - math.exp(epsilon) * math.prod(p[i] for i in w), 0.0)
            for w in product(range(outcomes), repeat=k)
        )
        assert float(made.profile(np.asarray(epsilon))) == pytest.approx(exact, abs=1e-13)


MP = mpmath.MPContext()
MP.dps = 50
Pairs = list[tuple[Any, Any]]  # masses under H1 and H0


def normal(sigma: float, most: int = 60) -> Pairs:
    s = MP.mpf(sigma)
    mass = [MP.exp(-(MP.mpf(k) ** 2) / (2 * s * s)) for k in range(most + 2)]
    total = mass[0] + 2 * MP.fsum(mass[1:])
    return [(mass[abs(k - 1)] / total, mass[abs(k)] / total) for k in range(-most, most + 1)]


def pure(epsilon: float) -> Pairs:
    a = 1 / (1 + MP.exp(-MP.mpf(epsilon)))
    return [(a, 1 - a), (1 - a, a)]


def geometric(epsilon: float, shift: int) -> Pairs:
    """P(k) ∝ e^{−ε|k|/d}: beyond both means the ratio is constant, so that each tail is one outcome."""
    x = MP.exp(-MP.mpf(epsilon) / shift)
    mass = [(1 - x) / (1 + x) * x**k for k in range(shift + 1)]
    tail = x / (1 + x)  # of all below 0
    inner = [(mass[shift - k], mass[k]) for k in range(shift + 1)]
    return [(tail * x**shift, tail), *inner, (tail, tail * x**shift)]


def together(one: Pairs, other: Pairs) -> Pairs:
    """By falling ratio."""
    pairs = [(a * c, b * d) for a, b in one for c, d in other]
    return sorted(pairs, key=lambda pair: -pair[0] / pair[1])


def delta(pairs: Pairs, epsilon: float) -> float:
    return float(MP.fsum(max(p - MP.exp(epsilon) * q, 0) for p, q in pairs))


def auc(pairs: Pairs) -> float:
    found, area = MP.mpf(0), MP.mpf(0)
    for p, q in pairs:
        area += q * (found + p / 2)
        found += p
    return float(area)


def missed(pairs: Pairs, alpha: float) -> float:
    left, miss = MP.mpf(alpha), MP.mpf(1)
    for p, q in pairs:
        share = min(left / q, 1)
        left, miss = left - share * q, miss - share * p
        if left <= 0:
            break
    return float(miss)


CASES = [
    (el.mechanisms.discrete_gaussian(sigma=1.57), el.mechanisms.pure(epsilon=0.3646), normal(1.57), pure(0.3646)),
    (el.mechanisms.pure(epsilon=3.65), el.mechanisms.discrete_gaussian(sigma=1.428), pure(3.65), normal(1.428)),
    (
        el.mechanisms.geometric(epsilon=0.005, sensitivity=3),
        el.mechanisms.discrete_gaussian(sigma=0.491),
        geometric(0.005, 3),
        normal(0.491),
    ),
]


@pytest.mark.parametrize(("one", "other", "first", "second"), CASES)
def test_every_combination(one: el.Experiment, other: el.Experiment, first: Pairs, second: Pairs) -> None:
    e, pairs = el.compose(one, other), together(first, second)

    def holds(truth: float, reading: str, width: float = 1e-8, **arguments: float) -> None:
        low, high = e.bracket(reading, **arguments)
        assert low * (1 - 1e-14) <= truth <= high * (1 + 1e-14), reading
        assert high - low <= width * high, reading

    for epsilon in (0.0, 0.7, 6.3, 20.5):
        holds(delta(pairs, epsilon), "delta", epsilon=epsilon)
    for alpha in (1e-9, 0.02, 0.4, 0.93):
        holds(missed(pairs, alpha), "tradeoff", fpr=alpha)
    holds(auc(pairs), "auc", 2e-3)
    small = delta(pairs, 2.0)
    low, high = e.bracket("epsilon", delta=small)
    assert low * (1 - 1e-12) <= 2.0 <= high * (1 + 1e-12)
    assert high - low < 1e-9


@pytest.mark.parametrize(("one", "other", "first", "second"), CASES)
def test_moments_add_up(one: el.Experiment, other: el.Experiment, first: Pairs, second: Pairs) -> None:
    e = el.compose(one, other)
    kl = float(MP.fsum(q * MP.log(q / p) for p, q in together(first, second)))
    assert e.kl() == pytest.approx(kl, rel=3e-11)
    assert e.renyi(64.0) == pytest.approx(one.renyi(64.0) + other.renyi(64.0), rel=3e-11)
    low, high = e.bracket("psi")
    assert low <= high <= math.hypot(one.psi(), other.psi()) * (1 + 1e-12)
    assert e.epsilon() == math.inf


def test_one_step_of_many() -> None:
    noise = Finite.moved(DiscreteNormal(1.0), 1).steps()[0]
    claim = Finite.claim(0.5).steps()[0]
    made = joint_step([noise, (claim[0], 2)], 10_000)
    assert isinstance(made, JointFiniteStep)
    assert made.loss_range == (-math.inf, math.inf)
    assert made.psi_limit == pytest.approx(1.0)
    assert made.zcdp_rho == pytest.approx(noise[0].zcdp_rho + 2 * claim[0].zcdp_rho)
    assert made.reverse_kl() == pytest.approx(noise[0].reverse_kl() + 2 * claim[0].reverse_kl())
    assert not made.scales_by_group
    with pytest.raises(el.InputError, match="group"):
        made.group(2)
    assert joint_step([noise, claim], 10) is None
    bounded = joint_step([claim, (Finite.claim(0.3).steps()[0][0], 3)], 100)
    assert bounded is not None
    assert not isinstance(bounded, JointFiniteStep)
    law = ComposedLaw([(made, 1)])
    assert float(law.profile(np.asarray(0.0))) == pytest.approx(float(made.as_law().profile(np.asarray(0.0))), rel=1e-9)


def test_a_group_of_a_composition() -> None:
    e = el.compose(el.mechanisms.discrete_gaussian(sigma=3.0), el.mechanisms.pure(epsilon=0.3))
    assert el.group(e, 2).delta(1.0) >= e.delta(1.0)
