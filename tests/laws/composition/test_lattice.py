"""One step on a lattice: the upper side dominates, the lower side is dominated, in both orders (sheet §8.2)."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import mpmath
import mpmath as mp
import numpy as np
import pytest

import epsilens as el
from epsilens.laws.composition.lattice import Lattice, discretise
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.tilt import common_unit
from epsilens.laws.composition.wrappers import LabelledSampleStep, ReversedStep, SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep, LaplaceStep
from epsilens.laws.normal import NormalReplacementStep, NormalStep

STEPS: list[tuple[Step, float]] = [
    (NormalStep(1.0), 0.02),
    (NormalStep(0.03), 1e-3),
    (SampledStep(NormalStep(1.0), 0.01), 2e-3),
    (SampledStep(NormalStep(1.0), 0.01), 0.3),
    (SampledStep(NormalStep(2.0), 1e-6), 1e-4),
    (SampledStep(NormalStep(0.5), 0.9), 0.01),
    (LaplaceStep(0.5), 0.5 / 16),
    (LaplaceStep(0.5), 0.07),
    (SampledStep(LaplaceStep(1.0), 0.2), 0.011),
    (LabelledSampleStep(NormalStep(0.7), 0.1), 0.02),
    (ReversedStep(SampledStep(NormalStep(1.0), 0.05)), 5e-3),
    (NormalReplacementStep(1.0, 0.05), 5e-3),
    (LaplaceReplacementStep(0.8, 0.1), 5e-3),
]


def mp_laws(step: Step) -> tuple[mp.mpf, mp.mpf]:
    """(density of H0, density of H1) in mpmath, of the continuous mixtures only; 1 − q is formed there."""
    if isinstance(step, NormalStep):
        return (lambda x: mp.npdf(x), lambda x: mp.npdf(x - step.mu))
    if isinstance(step, LaplaceStep):
        return (lambda x: mp.exp(-abs(x)) / 2, lambda x: mp.exp(-abs(x - step.m)) / 2)
    if isinstance(step, SampledStep):
        h0, h1 = mp_laws(step.base)
        q = mp.mpf(step.rate)
        return (h0, lambda x: (1 - q) * h0(x) + q * h1(x))
    if isinstance(step, ReversedStep):
        h0, h1 = mp_laws(step.base)
        return (lambda x: h1(-x), lambda x: h0(-x))
    if isinstance(step, NormalReplacementStep | LaplaceReplacementStep):
        q = mp.mpf(step.rate)
        shift = step.mu if isinstance(step, NormalReplacementStep) else step.m
        base = mp.npdf if isinstance(step, NormalReplacementStep) else (lambda x: mp.exp(-abs(x)) / 2)
        return (
            lambda x: (1 - q) * base(x) + q * base(x + shift),
            lambda x: (1 - q) * base(x) + q * base(x - shift),
        )
    raise NotImplementedError


def mp_profile(step: Step, log_t: float, points: list[float]) -> mp.mpf:
    """∫(dH1 − t·dH0)₊ by quadrature above the place where the loss is log t."""
    if isinstance(step, LabelledSampleStep):
        part = mp.mpf(step.rate) * mp_profile(step.base, log_t, points)
        return part + (1 - mp.mpf(step.rate)) * max(1 - mp.exp(mp.mpf(log_t)), 0)
    h0, h1 = mp_laws(step)
    t = mp.exp(mp.mpf(log_t))
    low, high = -40.0, 60.0
    if h1(high) <= t * h0(high):
        return mp.mpf(0)
    if h1(low) > t * h0(low):
        edge = low
    else:
        below, above = mp.mpf(low), mp.mpf(high)
        for _ in range(90):  # the loss grows: halving finds its place, and δ is flat there
            middle = (below + above) / 2
            below, above = (middle, above) if h1(middle) <= t * h0(middle) else (below, middle)
        edge = above
    cuts = [edge, *(p for p in points if edge < p < high), high]
    return mp.quad(lambda x: h1(x) - t * h0(x), cuts)


def profiles(lattice: Lattice, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(upper, lower) of h on the lattice, with the stated errors of masses and losses."""
    out = []
    for side, sign in ((lattice.upper, 1), (lattice.lower, -1)):
        loss = lattice.c + (side.start + np.arange(side.log_p.size)) * lattice.dt + sign * lattice.kappa
        mass = np.exp(side.log_p + sign * lattice.rho)
        out.append(np.array([float(np.sum(mass * np.maximum(-np.expm1(v - loss), 0.0))) for v in u]) + side.only1)
    return out[0], out[1]


@pytest.mark.parametrize(("step", "dt"), STEPS, ids=str)
def test_one_step_dominates_and_is_dominated(step: Step, dt: float) -> None:
    losses = step.atoms.loss
    lattice = discretise(step, dt, float(losses.min()) if losses.size else 0.0, step.cutoffs(-90.0, -90.0))
    low, high = (max(min(v, 4.0), -4.0) for v in step.loss_range)
    u = np.linspace(low * 0.97, high * 0.97, 5)
    points = [0.0, 1.0, -1.0, 5.0, 10.0, 20.0]
    inner: object = step
    while isinstance(inner, SampledStep | LabelledSampleStep | ReversedStep):
        inner = inner.base
    points += [s * getattr(inner, name) for name in ("m", "mu") if hasattr(inner, name) for s in (-1, 1)]
    with mp.workdps(30):
        forward = np.array([float(mp_profile(step, float(v), sorted(points))) for v in u])
        upper, lower = profiles(lattice, u)
        assert np.all(lower <= forward * (1 + 1e-14))
        assert np.all(forward * (1 - 1e-14) <= upper)
        if isinstance(step, LabelledSampleStep):
            return
        other = -u[::-1]
        back = np.array([float(mp_profile(ReversedStep(step), float(v), sorted(points))) for v in other])
        upper, lower = profiles(lattice.reverse(), other)
        assert np.all(lower <= back * (1 + 1e-14))
        assert np.all(back * (1 - 1e-14) <= upper)


@pytest.mark.parametrize(("step", "dt"), STEPS, ids=str)
def test_both_laws_keep_their_mass(step: Step, dt: float) -> None:
    losses = step.atoms.loss
    lattice = discretise(step, dt, float(losses.min()) if losses.size else 0.0, step.cutoffs(-40.0, -40.0))
    side = lattice.upper
    loss = lattice.c + (side.start + np.arange(side.log_p.size)) * dt
    assert np.exp(side.log_p).sum() + side.only1 == pytest.approx(1.0, abs=2e-14)
    assert np.exp(side.log_p - loss).sum() + side.only0 == pytest.approx(1.0, abs=2e-14)


@pytest.mark.parametrize("seed", range(4))
def test_atoms_off_the_lattice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(250):
        n = int(rng.integers(1, 6))
        loss = np.sort(rng.uniform(-2, 2, n))
        p = rng.exponential(size=n) * 10.0 ** rng.integers(-6, 1, n)
        p /= p.sum()
        lattice = discretise(
            FiniteStep(Atoms(loss, np.log(p))), 10 ** rng.uniform(-2.5, 0), float(rng.choice([loss[0], 0.0])), (0, 0)
        )
        for view, at, mass in ((lattice, loss, p), (lattice.reverse(), -loss, p * np.exp(-loss))):
            u = np.concatenate((np.linspace(-3, 3, 80), at, at - 1e-6, at + 1e-6))
            exact = np.array([float(np.sum(mass * np.maximum(-np.expm1(v - at), 0.0))) for v in u])
            upper, lower = profiles(view, u)
            assert np.all(lower <= exact * (1 + 1e-13))
            assert np.all(exact * (1 - 1e-13) <= upper)


def test_the_spread_adds_a_sixth_and_the_merge_takes_a_twelfth() -> None:
    dt = 0.01
    lattice = discretise(NormalStep(1.0), dt, 0.0, NormalStep(1.0).cutoffs(-60.0, -60.0))
    for side, change in ((lattice.upper, dt**2 / 6), (lattice.lower, -(dt**2) / 12)):
        loss = lattice.c + (side.start + np.arange(side.log_p.size)) * dt
        p = np.exp(side.log_p)
        variance = float((p * loss**2).sum() - (p * loss).sum() ** 2)
        assert variance - 1 == pytest.approx(change, rel=2e-2)


def test_finite_pairs_on_a_lattice_are_exact() -> None:
    step = FiniteStep(Atoms(np.array([-1.0, 0.5, 1.0]), np.log([0.2, 0.3, 0.5])))
    lattice = discretise(step, 0.5, -1.0, (0.0, 0.0))
    assert lattice.exact
    assert np.array_equal(lattice.upper.log_p, lattice.lower.log_p)


def test_common_units() -> None:
    assert common_unit([1.0, 0.75], 1e-3) == pytest.approx(0.25, rel=1e-15)
    assert common_unit([0.1, 0.3, 0.7], 1e-3) == pytest.approx(0.1, rel=1e-14)
    assert common_unit([1.0, math.sqrt(2.0)], 1e-6) is None
    assert common_unit([1.0, 0.001], 0.01) is None
    assert common_unit([], 0.01) is None


@pytest.mark.parametrize(("step", "dt"), STEPS, ids=str)
def test_place_undoes_loss(step: Step, dt: float) -> None:
    assert step.support is not None
    low, high = step.cutoffs(-40.0, -40.0)
    x = np.linspace(low, high, 41)[1:-1]
    loss = step.loss(x)
    again = step.loss(step.inverse_loss(loss))
    assert np.all(np.abs(again - loss) <= step.error(x) + 1e-18)
    assert np.all(np.diff(loss) >= 0)


@pytest.mark.parametrize("seed", range(3))
def test_opposite_records_are_the_worst_to_replace(seed: int) -> None:
    # Random records of norm at most μ in the plane, by quadrature: never above the pair that pulls apart.
    rng = np.random.default_rng(seed)
    mu, q = float(rng.uniform(0.5, 2.0)), float(rng.uniform(0.05, 0.9))
    grid = np.linspace(-7, 7, 281)
    x, y = np.meshgrid(grid, grid)
    cell = (grid[1] - grid[0]) ** 2

    def law(v: np.ndarray) -> np.ndarray:
        def at(w: np.ndarray) -> np.ndarray:
            return np.asarray(np.exp(-0.5 * ((x - w[0]) ** 2 + (y - w[1]) ** 2)) / (2 * math.pi))

        return np.asarray((1 - q) * at(np.zeros(2)) + q * at(v))

    worst = law(np.array([mu, 0.0])), law(np.array([-mu, 0.0]))
    for _ in range(6):
        v, w = (rng.normal(size=2) for _ in range(2))
        v, w = (mu * r * z / np.linalg.norm(z) for z, r in ((v, rng.uniform(0, 1)), (w, 1.0)))
        for t in (0.3, 0.8, 1.0, 1.3, 2.0, 4.0):
            here, most = (float(np.maximum(a - t * b, 0).sum() * cell) for a, b in ((law(v), law(w)), worst))
            assert here <= most + 1e-6


# Products of atoms that share no lattice, against exact sums over how often each was seen.

MP = mpmath.mp.clone()
MP.dps = 40


class Exact(NamedTuple):
    """Losses of a product, falling, with the masses of both laws there."""

    loss: list[Any]
    p: list[Any]
    q: list[Any]

    def delta(self, epsilon: float) -> Any:
        """Of the worse order."""
        t = MP.exp(epsilon)
        pairs = list(zip(self.p, self.q, strict=True))
        return max(MP.fsum(a - t * b for a, b in pairs if a > t * b), MP.fsum(b - t * a for a, b in pairs if b > t * a))

    def roc(self, alpha: float) -> Any:
        left, recall = MP.mpf(alpha), MP.mpf(0)
        for a, b in zip(self.p, self.q, strict=True):
            share = min(left / b, 1) if b else 1
            left, recall = left - share * b, recall + share * a
            if left <= 0:
                break
        return recall


def exact(p: list[Any], q: list[Any], count: int) -> Exact:
    rows = []
    for seen in combinations_with_replacement(range(len(p)), count):
        times = [seen.count(i) for i in range(len(p))]
        ways = MP.factorial(count)
        for n in times:
            ways /= MP.factorial(n)
        a, b = (ways * MP.fprod(x**n for x, n in zip(law, times, strict=True)) for law in (p, q))
        rows.append((MP.log(a / b), a, b))
    rows.sort(key=lambda row: -row[0])
    return Exact(*(list(column) for column in zip(*rows, strict=True)))


def holds(e: el.Experiment, truth: Exact, slack: float = 0.0, width: float = 1.01e-3) -> None:
    for epsilon in (0.0, 0.3, 1.5):
        low, high = e.bracket("delta", epsilon=epsilon)
        assert low - slack <= truth.delta(epsilon) <= high + slack
        assert high - low <= width * high
    for alpha in (1e-4, 0.05, 0.4):
        low, high = e.bracket("roc", fpr=alpha)
        assert low - slack <= truth.roc(alpha) <= high + slack
        assert high - low <= width * high
    low, high = e.bracket("epsilon", delta=1e-5)
    assert truth.delta(low) >= 1e-5 - slack
    assert truth.delta(high) <= 1e-5 + slack
    assert high - low <= width * high


@pytest.mark.parametrize("count", [7, 40])
def test_three_outcomes(count: int) -> None:
    """Losses of .9, .15 and −.81 share no unit."""
    p, q = [0.5, 0.35, 0.15], [0.2, 0.3, 0.5]
    e = el.mechanisms.finite(q, p).repeat(count)
    ones, others = [MP.mpf(x) for x in p], [MP.mpf(x) for x in q]
    ones, others = [x / MP.fsum(ones) for x in ones], [x / MP.fsum(others) for x in others]
    slack = 1e-12
    holds(e, exact(ones, others, count), slack)
    holds(e.reverse(), exact(others, ones, count), slack)


@pytest.mark.parametrize(("sigma", "rate"), [(0.5, 0.5), (0.5, 0.999)])
def test_sampled_discrete_gaussians(sigma: float, rate: float) -> None:
    """Four answers; ε was (9.3, 22.7) of five at σ = ½, and a recall at 1 false alarm of 5 (.43, 1)."""
    s, r = MP.mpf(sigma), MP.mpf(rate)
    raw = [MP.exp(-(MP.mpf(k) ** 2) / (2 * s * s)) for k in range(-6, 7)]
    total = MP.fsum(raw)
    q = [x / total for x in raw]
    p = [(1 - r) * a + r * b for a, b in zip(q, [MP.mpf("1e-40"), *q[:-1]], strict=True)]
    keep = slice(2, 11)  # from −4 to 4: the rest has 1e-13
    truth = exact(p[keep], q[keep], 4)
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=sigma), rate=rate).repeat(4)
    holds(e, truth, 1e-8)


def test_a_moved_loss_keeps_both_masses() -> None:
    """Atoms move by at most half a step, in both orders, and no mass of either law is lost or made."""
    p, q = np.asarray([0.5, 0.35, 0.15]), np.asarray([0.2, 0.3, 0.5])
    step = FiniteStep(Atoms(np.log(p / q), np.log(p), 0.0, 0.0), False)
    made = discretise(step, 0.1, float(step.atoms.loss.min()), (0.0, 0.0), rounded=True)
    assert made.exact
    assert made.kappa <= 0.05 + 1e-12
    for lattice, log_mass in ((made, step.atoms.log_p), (made.reverse(), step.atoms.log_p - step.atoms.loss)):
        assert np.exp(lattice.upper.log_p).sum() == pytest.approx(math.fsum(np.exp(log_mass)), rel=1e-13)


def test_many_steps_are_left_to_other_lattices() -> None:
    """A million steps cannot be moved by half a step each."""
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=30.0), rate=0.01).repeat(10**6)
    low, high = e.bracket("epsilon", delta=1e-6)
    about = el.dpsgd(sigma=30.0, rate=0.01, steps=10**6).epsilon(delta=1e-6)
    assert low <= about * 1.001
    assert high >= about * 0.999


def test_more_than_all_that_differs_is_no_epsilon() -> None:
    """δ above √(KL/2) of rare draws is answered before anything is composed: this took 2.5 s, and gave 1.6e-12."""
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=0.468), rate=2.5e-6).repeat(3)
    assert e.bracket("epsilon", delta=9.55e-5) == (0.0, 0.0)
