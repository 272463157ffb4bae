"""Whole-number noise against 60 digits: masses, losses, moments of every order, ψ, composed and sampled."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import epsilens as el
from epsilens.checks import Array
from epsilens.laws.discrete_noise import DiscreteNormal, IntegerNoise, Skellam, UnboundedTail

NOISES: list[IntegerNoise] = [
    DiscreteNormal(0.3), DiscreteNormal(1.0), DiscreteNormal(2.5), Skellam(0.5), Skellam(9.0),
]  # fmt: skip


@cache
def log_masses(noise: IntegerNoise, most: int) -> list[Any]:
    """log P(0), log P(1), … in 60 digits."""
    with mp.workdps(60):
        if isinstance(noise, DiscreteNormal):
            raw = [-(mp.mpf(k) ** 2) / (2 * mp.mpf(noise.sigma) ** 2) for k in range(most + 1)]
            total = mp.log(mp.exp(raw[0]) + 2 * mp.fsum(mp.exp(v) for v in raw[1:]))
            return [v - total for v in raw]
        assert isinstance(noise, Skellam)
        return [mp.log(mp.besseli(k, noise.variance)) - mp.mpf(noise.variance) for k in range(most + 1)]


def log_mass(noise: IntegerNoise, most: int) -> Callable[[int], Any]:
    held = log_masses(noise, most)
    return lambda k: held[abs(k)]


def moment(noise: IntegerNoise, distance: int, rate: float, power: float) -> Any:
    """log Σ P0^{1−a}·P1^a by brute force, as far out as any term counts."""
    far = math.ceil(noise.farthest(power, distance) + 40 * (noise.scale + 2) + noise.reach)
    log_g = log_mass(noise, far + distance)
    with mp.workdps(60):
        q, total = mp.mpf(rate), mp.mpf(0)
        for k in range(-far, far + 1):
            ratio = log_g(k - distance) - log_g(k)
            ratio = ratio if rate == 1 else mp.log(1 - q + q * mp.exp(ratio))
            total += mp.exp(log_g(k) + mp.mpf(power) * ratio)
        return mp.log(total)


@pytest.mark.parametrize("noise", [*NOISES, Skellam(1e4)], ids=repr)
def test_masses_and_losses(noise: IntegerNoise) -> None:
    log_g = log_mass(noise, 300)
    k = np.array([0.0, 1.0, 2.0, 7.0, 39.0, 41.0, 200.0])
    assert noise.log_mass(k) == pytest.approx([float(log_g(int(v))) for v in k], rel=1e-13)
    assert noise.log_mass(-k) == pytest.approx(noise.log_mass(k), rel=1e-15)
    for d in (1, 4, 50):
        truth = [float(log_g(int(v) - d) - log_g(int(v))) for v in k]
        assert noise.loss(k, d) == pytest.approx(truth, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("distance", [1, 3])
@pytest.mark.parametrize("rate", [1.0, 0.01])
def test_moments_of_every_order(noise: IntegerNoise, distance: int, rate: float) -> None:
    pair = UnboundedTail(noise, distance, rate)
    for power in (1e-9, 0.5, 0.83, 1.7, 30.0, -2.5):
        truth = moment(noise, distance, rate, power)
        assert pair.log_moment(power) == pytest.approx(float(truth), rel=1e-12), power
        assert pair.reverse().log_moment(1 - power) == pytest.approx(float(truth), rel=1e-12 + 2e-16 / abs(power))
    assert pair.log_moment(0.0) == pair.log_moment(1.0) == 0.0


def test_the_largest_terms_of_a_sample_may_lie_in_two_places_far_from_the_list() -> None:
    # few drawn, much noise: the mixture has terms about 0, and about a·d with e^{−a²d²/2σ²} of the mass
    noise = DiscreteNormal(20.0)
    for power in (50.0, 2000.0, 1e6):
        found = UnboundedTail(noise, 1, 1e-6).log_moment(power)
        with mp.workdps(60):
            a, q, s2 = mp.mpf(power), mp.mpf(1e-6), mp.mpf(400)
            z = mp.sqrt(2 * mp.pi * s2)
            places = {*range(-900, 901), *range(int(power) - 900, int(power) + 901)}
            terms = (
                mp.exp(-(mp.mpf(k) ** 2) / (2 * s2) + a * mp.log(1 - q + q * mp.exp((2 * k - 1) / (2 * s2)))) / z
                for k in places
            )
            truth = mp.log(mp.fsum(terms))
        assert found == pytest.approx(float(truth), rel=1e-12), power


def quantile(p: Any) -> Any:
    """−Φ⁻¹(p) by Newton's steps."""
    if p > 0.5:
        return -quantile(1 - p)
    z = mp.sqrt(-2 * mp.log(p)) if p < 0.1 else mp.mpf(0)
    for _ in range(100):
        tail = mp.erfc(z / mp.sqrt(2)) / 2
        step = mp.log(tail / p) * tail * mp.sqrt(2 * mp.pi) * mp.exp(z * z / 2)
        z += step
        if abs(step) < mp.mpf(10) ** -30:
            break
    return z


@pytest.mark.parametrize(
    "noise", [DiscreteNormal(0.4), DiscreteNormal(1.0), DiscreteNormal(3.0), Skellam(4.0)], ids=repr
)
@pytest.mark.parametrize("distance", [1, 3])
def test_psi_is_the_largest_gap(noise: IntegerNoise, distance: int) -> None:
    log_g = log_mass(noise, 200)
    with mp.workdps(40):
        above = [mp.fsum(mp.exp(log_g(k)) for k in range(j, 200)) for j in range(40)]
        gaps = [
            quantile(above[k]) - quantile(above[k - distance] if k >= distance else 1 - above[1 - k + distance])
            for k in range(distance // 2, 20)
        ]
    assert UnboundedTail(noise, distance).psi() == pytest.approx(float(max(gaps)), rel=1e-13)


def test_psi_of_wide_noise() -> None:
    for sigma in (30.0, 5000.0):  # 1/σ and a share 1/24σ² more
        assert UnboundedTail(DiscreteNormal(sigma), 1).psi() * sigma - 1 == pytest.approx(1 / (24 * sigma**2), rel=1e-2)
    # in general log(sinh(t/2)/(t/2))/(σt)² more with t = d/2σ², as P(K ≥ k) is Φ(−(k−½)/σ)·(t/2)/sinh(t/2)
    t = 25.0
    more = math.log(math.sinh(t / 2) / (t / 2)) / (10 * t) ** 2
    assert UnboundedTail(DiscreteNormal(10.0), 5000).psi() == pytest.approx(500 * (1 + more), rel=1e-6)


# -- as experiments ---------------------------------------------------------------------------------------------------


def test_divergences_of_a_discrete_gaussian() -> None:
    e = el.mechanisms.discrete_gaussian(sigma=1.0)
    assert e.renyi([2.0, 64.0, 128.0, 1e6]) == pytest.approx([1.0, 32.0, 64.0, 5e5], rel=1e-14)
    assert e.kl() == pytest.approx(0.5, rel=1e-14)
    for order in (0.3, 0.5, 1.5, 2.37):
        truth = moment(DiscreteNormal(1.0), 1, 1.0, 1 - order)
        assert e.renyi(order) == pytest.approx(float(truth) / (order - 1), rel=1e-12)
    assert e.chernoff() == pytest.approx(-float(moment(DiscreteNormal(1.0), 1, 1.0, 0.5)), rel=1e-13)
    assert e.renyi(math.inf) == math.inf
    # order·d²/2σ² ≤ 40 at order 64
    choice = el.choose(el.mechanisms.discrete_gaussian, "sigma", at_most=40, reading="renyi", order=64)
    assert choice.value == pytest.approx(math.sqrt(64 / 80), rel=1e-9)
    assert el.bridges.to_rdp(e, [2.0, 128.0]) == pytest.approx([1.0, 64.0], rel=1e-14)


@pytest.mark.parametrize("sigma", [1e-3, 0.05, 0.3, 7.0, 2000.0])
def test_divergences_at_every_scale(sigma: float) -> None:
    e = el.mechanisms.discrete_gaussian(sigma=sigma, sensitivity=2)
    assert e.kl() == pytest.approx(2 / sigma**2, rel=1e-12)
    assert e.renyi([3.0, 1e4]) == pytest.approx([6 / sigma**2, 2e4 / sigma**2], rel=1e-13)


def test_composed_divergences_add_up_and_have_two_finite_ends() -> None:
    e = el.mechanisms.discrete_gaussian(sigma=1.0).repeat(5)
    for reading, arguments, truth in (("kl", {}, 2.5), ("renyi", {"order": 16.0}, 40.0)):
        low, high = e.bracket(reading, **arguments)
        assert low <= truth <= high <= low * (1 + 1e-10)
    low, high = e.bracket("psi")
    assert math.sqrt(5) <= low <= high <= low * 1.001
    both = el.compose(el.mechanisms.discrete_gaussian(sigma=3.0), el.laplace(epsilon=0.5))
    low, high = both.bracket("psi")
    assert low <= high <= low * 1.001
    low, high = both.bracket("renyi", order=8.0)
    assert low <= 8 / 18 + el.laplace(epsilon=0.5).renyi(8.0) <= high <= low * (1 + 1e-9)


def test_a_sample_has_divergences_in_both_orders() -> None:
    one = el.subsample(el.mechanisms.discrete_gaussian(sigma=1.0), rate=0.1)
    for e, count in ((one, 1), (one.repeat(7), 7)):
        for power, read in ((-15.0, e), (16.0, e.reverse())):
            truth = count * float(moment(DiscreteNormal(1.0), 1, 0.1, power)) / 15
            low, high = read.bracket("renyi", order=16.0)
            assert low <= truth * (1 + 1e-12)
            assert truth * (1 - 1e-12) <= high <= low * (1 + 1e-9)
        assert math.isfinite(e.kl() + e.reverse().kl())
    # nothing that is seen speaks against the person by more than the chance of not being drawn
    assert one.reverse().renyi(math.inf) == math.inf
    assert one.renyi(math.inf) == pytest.approx(-math.log1p(-0.1), rel=1e-15)


def test_a_record_replaced_in_a_sample() -> None:
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=1.0, neighbours="replace"), rate=0.1, neighbours="replace")
    truth = math.log(0.9 + 0.1 * math.exp(4 * 3 / 2)) / 3  # order 4: 1 − q + q·e^{a(a−1)/2σ²}
    assert e.renyi(4.0) == pytest.approx(truth, rel=1e-13)


def test_a_group_moves_whole_number_noise_further() -> None:
    assert el.group(el.mechanisms.discrete_gaussian(sigma=5.0), 3).epsilon(1e-6) == pytest.approx(
        el.mechanisms.discrete_gaussian(sigma=5.0, sensitivity=3).epsilon(1e-6), rel=1e-12
    )


# -- Skellam noise ----------------------------------------------------------------------------------------------------


def test_skellam_has_the_values_of_the_literature() -> None:
    assert el.mechanisms.skellam(variance=100.0).epsilon(1e-6) == pytest.approx(0.389458, abs=5e-7)
    assert el.mechanisms.skellam(variance=25.0).epsilon(1e-5) == pytest.approx(0.685260, abs=5e-7)


@pytest.mark.parametrize(("variance", "shift"), [(0.5, 1), (4.0, 2), (30.0, 5)])
def test_skellam_by_enumeration(variance: float, shift: int) -> None:
    """Two Poisson numbers, drawn in exact arithmetic, and their difference summed up."""
    with mp.workdps(50):
        rate = mp.mpf(variance) / 2
        poisson = [mp.exp(-rate) * rate**n / mp.factorial(n) for n in range(160)]
        mass = {k: mp.fsum(poisson[n] * poisson[n + abs(k)] for n in range(160 - abs(k))) for k in range(-120, 121)}
        pairs = [(mass[k - shift], mass[k]) for k in range(shift - 120, 121)]
        profile = {eps: mp.fsum(max(p - mp.exp(eps) * q, 0) for p, q in pairs) for eps in (0.0, 0.3, 2.0)}
    e = el.mechanisms.skellam(variance=variance, sensitivity=shift)
    for eps, truth in profile.items():
        assert e.delta(eps) == pytest.approx(float(truth), rel=1e-12)
    assert e.reverse().roc(0.05) == pytest.approx(e.roc(0.05), rel=1e-12)
    assert e.epsilon() == math.inf
    assert e.direction == "exact"


@pytest.mark.parametrize(
    ("variance", "shift"), [(0.0436, 5), (0.0989, 1), (1.27, 2), (30.0, 3), (39.9, 100), (45.0, 2)]
)
def test_skellam_losses_keep_their_digits(variance: float, shift: int) -> None:
    """Against 40 digits of Bessel functions: δ far out hangs on small differences of losses."""
    noise = Skellam(variance)
    at = [*range(-3, 6), *range(25, 50, 4), noise.reach // 2, noise.reach]
    with mp.workdps(40):
        bessel = [[mp.log(mp.besseli(abs(n), mp.mpf(variance))) for n in (k - shift, k)] for k in at]
        truth = [float(a - b) for a, b in bessel]
    close = 2e-15 if shift < 64 else 2e-13
    assert noise.loss(np.asarray(at, dtype=float), shift) == pytest.approx(truth, rel=close, abs=close)


def test_wide_skellam_noise_is_normal() -> None:
    e, normal = el.mechanisms.skellam(variance=1e7), el.gaussian(sigma=math.sqrt(1e7))
    for reading, arguments in (("success", {}), ("kl", {}), ("renyi", {"order": 30.0}), ("epsilon", {"delta": 1e-6})):
        read: Any = [getattr(x, reading)(**arguments) for x in (e, normal)]
        assert read[0] == pytest.approx(read[1], rel=1e-7)


def test_skellam_is_chosen() -> None:
    choice = el.choose(el.mechanisms.skellam, "variance", at_most=0.389458, reading="epsilon", delta=1e-6)
    assert choice.value == pytest.approx(100.0, rel=1e-5)


@pytest.mark.parametrize("variance", [0.0, -1.0, 1e-300, 1e9, 1e300, math.inf, math.nan, "x", ["x"]])
def test_skellam_refuses(variance: Any) -> None:
    with pytest.raises(el.InputError, match="variance"):
        el.mechanisms.skellam(variance=variance)


@pytest.mark.parametrize(
    ("noise", "rate", "k"),
    [
        (Skellam(2.0), 0.01, 194),
        (Skellam(2.0), 0.001, 2448),
        (Skellam(4.431), 0.0002, 29_700),
        (Skellam(0.5), 1e-3, 620),
    ],
    ids=repr,
)
def test_psi_of_a_rare_draw_lies_where_no_double_does(noise: Skellam, rate: float, k: int) -> None:
    e = el.subsample(el.mechanisms.skellam(variance=noise.variance), rate=rate)
    found = e.psi()

    def gap(at: int) -> float:
        """z(α) − z(recall) of the test K ≥ at, of which the tails are sums of 60 digits and z is solved for."""
        with mp.workdps(60):
            mass = [mp.besseli(at + i, noise.variance) for i in range(-1, 40)]
            alpha = mp.fsum(mass[1:]) * mp.exp(-mp.mpf(noise.variance))
            recall = alpha + mp.mpf(rate) * mass[0] * mp.exp(-mp.mpf(noise.variance))
            ends = []
            for p in (alpha, recall):
                z = mp.sqrt(-2 * mp.log(p))
                for _ in range(8):  # −log Φ(−z) grows by about z
                    tail = mp.erfc(z / mp.sqrt(2)) / 2
                    z += mp.log(tail / p) * tail / (mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi))
                ends.append(z)
            return float(ends[0] - ends[1])

    assert found >= max(gap(k), gap(math.ceil(0.9 * k)), gap(math.ceil(1.1 * k))) * (1 - 1e-9)
    assert found == pytest.approx(gap(k), rel=1e-5)
    assert found <= el.mechanisms.skellam(variance=noise.variance).psi()
    # and the root of the sum of squares bounds two of them
    assert e.repeat(2).psi() <= math.sqrt(2) * found * (1 + 1e-9)


@pytest.mark.parametrize(
    ("variance", "shift", "order", "truth"),  # Laplace's method on Debye's expansion in 700 digits
    [
        (10.0, 1, 1e8, 13.231385199757261), (10.0, 1, 1e11, 19.737711678325584), (10.0, 1, 1e15, 28.577323977410975),
        (10.0, 7, 1e15, 213.21567759573483), (10.0, 1, 1e18, 35.274332884160652), (10.0, 1, 1e30, 62.335707804687843),
        (1000.0, 1, 1e30, 57.806000084996867), (10.0, 1, 1e100, 222.24529975410015),
        (1000.0, 1, 1e200, 447.19940839789983), (10.0, 1, 1e300, 681.64158707329108),
    ],
)  # fmt: skip
def test_skellam_at_orders_whose_weight_lies_where_doubles_are_not_whole(
    variance: float, shift: int, order: float, truth: float
) -> None:
    e = el.mechanisms.skellam(variance=variance, sensitivity=shift)
    assert e.renyi(order) == pytest.approx(truth, rel=1e-14)
    assert e.reverse().renyi(order) == pytest.approx(truth, rel=1e-14)


def test_discrete_normal_noise_grows_with_the_order() -> None:
    assert UnboundedTail(DiscreteNormal(2.0), 3).moment_growth(1e200) == pytest.approx(
        (9e200 / 8, 9e200 / 8), rel=1e-15
    )
    for swapped in (False, True):
        drawn = UnboundedTail(DiscreteNormal(2.0), 1, drawn=0.1, swapped=swapped)
        up, down = (-1e200, 1e200) if swapped else (1e200, -1e200)
        assert drawn.moment_growth(up) == pytest.approx((1e200 / 8, 1e200 / 8), rel=1e-12)
        assert drawn.moment_growth(down) == pytest.approx((-math.log(0.9), -math.log(0.9)), rel=1e-12)


@pytest.mark.parametrize(
    ("noise", "power", "truth"),  # sums over 6,000 masses in 80 digits: with one draw in ten the weight lies far below
    [
        (Skellam(9.0), -1e6, 102755.06085876038), (Skellam(9.0), -1e8, 10502979.281528244),
        (DiscreteNormal(2.0), -1e14, 10536051564399.981),
    ],
)  # fmt: skip
def test_a_sample_where_its_loss_has_an_end(noise: IntegerNoise, power: float, truth: float) -> None:
    assert UnboundedTail(noise, 1, drawn=0.1).log_moment(power) == pytest.approx(truth, rel=1e-14)
    assert UnboundedTail(noise, 1, drawn=0.1, swapped=True).log_moment(1 - power) == pytest.approx(truth, rel=1e-14)
    far = [UnboundedTail(noise, 1, drawn=0.1).log_moment(a) / -a for a in (-1e20, -1e30, -1e40, -1e90)]
    assert far == sorted(far)
    assert far[-1] == pytest.approx(-math.log(0.9), rel=1e-15)


@pytest.mark.parametrize(("sigma", "rate"), [(3.0, 0.999999), (3.0, 1 - 1e-12), (1.0, 0.99), (10.0, 1 - 1e-12)])
def test_psi_of_nearly_everybody(sigma: float, rate: float) -> None:
    """Against 50 digits: a list ended in an atom whose likelihood ratio was none of the noise's (.359 for .33489)."""
    mp50 = mp.mp.clone()
    mp50.dps = 50
    s, q = mp50.mpf(sigma), mp50.mpf(rate)
    masses = {k: mp50.exp(-(mp50.mpf(k) ** 2) / (2 * s * s)) for k in range(-int(20 * sigma), int(20 * sigma) + 1)}
    total, tail, above = mp50.fsum(masses.values()), mp50.mpf(0), {}
    for k in sorted(masses, reverse=True):
        tail += masses[k] / total
        above[k] = tail
    best = mp50.mpf(0)
    for k in range(-int(4 * sigma) + 1, int(4 * sigma)):
        alpha, recall = above[k], (1 - q) * above[k] + q * above[k - 1]
        best = max(best, mp50.sqrt(2) * (mp50.erfinv(2 * recall - 1) - mp50.erfinv(2 * alpha - 1)))
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=sigma), rate=rate)
    assert e.psi() == pytest.approx(max(float(best), 1 / sigma), rel=1e-9)
    assert e.reverse().psi() == pytest.approx(e.psi(), rel=1e-9)
    assert e.psi() <= el.mechanisms.discrete_gaussian(sigma=sigma).psi()


def agrees(e: el.Experiment, p0: Array, p1: Array) -> None:
    assert e.direction == "exact"
    for u in (0.0, 0.3, 1.0, 2.5):
        for one, a, b in ((e.law, p0, p1), (e.law.reverse(), p1, p0)):
            truth = float(np.maximum(b - math.exp(u) * a, 0.0).sum())
            assert float(one.profile(np.asarray(u))) == pytest.approx(truth, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize(("epsilon", "sensitivity", "shift"), [(1.0, 1, 1), (0.4, 3, 2), (5.0, 2, 2)])
def test_a_group_moves_geometric_noise_further(epsilon: float, sensitivity: int, shift: int, k: int) -> None:
    x = np.arange(-2000.0, 2001.0)
    mass = np.exp(-epsilon / sensitivity * np.abs(x))
    moved = np.exp(-epsilon / sensitivity * np.abs(x - k * shift))
    e = el.group(el.mechanisms.geometric(epsilon=epsilon, sensitivity=sensitivity, shift=shift), k)
    agrees(e, mass / mass.sum(), moved / mass.sum())
    assert e.epsilon() == pytest.approx(k * shift * epsilon / sensitivity, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize(("gamma", "shift"), [(0.25, 1.0), (0.75, 0.5), (0.5, 1.0)])
def test_a_group_moves_staircase_noise_further(gamma: float, shift: float, k: int) -> None:
    cell, epsilon = 0.125, 0.9  # every edge is a multiple of it
    x = np.abs(np.arange(-60, 60, cell) + cell / 2)

    def density(moved: float) -> Array:
        z = np.abs(np.arange(-60, 60, cell) + cell / 2 - moved)
        return np.exp(-epsilon * (np.floor(z) + (z - np.floor(z) >= gamma)))

    total = np.exp(-epsilon * (np.floor(x) + (x - np.floor(x) >= gamma))).sum()
    e = el.group(el.mechanisms.staircase(epsilon=epsilon, gamma=gamma, shift=shift), k)
    agrees(e, density(0.0) / total, density(k * shift) / total)


SHIFTS: dict[str, Callable[[int], el.Experiment]] = {
    "laplace": lambda k: el.laplace(scale=2.0, sensitivity=k),
    "gaussian": lambda k: el.gaussian(sigma=2.0, sensitivity=k),
    "geometric": lambda k: el.mechanisms.geometric(scale=2.0, sensitivity=k),
    "staircase": lambda k: el.group(el.mechanisms.staircase(epsilon=0.7), k),
    "discrete_gaussian": lambda k: el.mechanisms.discrete_gaussian(sigma=2.0, sensitivity=k),
    "skellam": lambda k: el.mechanisms.skellam(variance=4.0, sensitivity=k),
    "differencing": lambda k: el.attacks.differencing(epsilon=1.0, gap=k, noise="geometric", split=0.3),
}


@pytest.mark.parametrize("name", SHIFTS)
def test_a_group_of_noise_that_shifts_is_the_noise_shifted(name: str) -> None:
    one, three = SHIFTS[name](1), SHIFTS[name](3)
    group = el.group(one, 3)
    for e in (group, group.reverse(), el.group(one.reverse(), 3)):
        assert e.direction in ("exact", one.direction)
        for reading, given in (
            ("advantage", {}), ("auc", {}), ("delta", {"epsilon": 0.4}), ("roc", {"fpr": 0.01}),
            ("renyi", {"order": 3.0}), ("psi", {}), ("mu", {"level": 0.01}),
        ):  # fmt: skip
            assert getattr(e, reading)(**given) == pytest.approx(getattr(three, reading)(**given), rel=1e-9), reading
    assert el.group(el.group(one, 3), 2).advantage() == pytest.approx(el.group(one, 6).advantage(), rel=1e-12)
    twice = el.group(one.repeat(2), 3)
    assert twice.advantage() == pytest.approx(three.repeat(2).advantage(), rel=2e-3)


def test_a_group_too_large_to_write_down_is_bounded() -> None:
    for e in (el.mechanisms.geometric(epsilon=1e-5, sensitivity=3), el.mechanisms.staircase(epsilon=1e-5)):
        many = el.group(e, 1_000_000)
        assert many.direction == "upper"
        assert many.epsilon() == pytest.approx(10.0, rel=1e-9)
        assert math.tanh(5 / 2) < many.advantage() <= math.tanh(10 / 2) + 1e-12


# -- two noisy answers: the supremum is a limit -----------------------------------------------------------------------


@pytest.mark.parametrize("split", [0.5, 0.5 - 1e-10, 0.4999, 0.3])
@pytest.mark.parametrize("gap", [1, 4])
def test_the_ratio_of_two_noisy_answers_nears_its_supremum(split: float, gap: int) -> None:
    e = el.attacks.differencing(epsilon=2.0, gap=gap, noise="geometric", split=split)
    most = 2.0 * split * gap
    assert e.epsilon() == pytest.approx(most, rel=1e-12)
    assert e.epsilon() >= most * (1 - 1e-15)
    assert e.renyi(math.inf) == e.epsilon()
    assert e.posterior() == pytest.approx(1 / (1 + math.exp(-most)), rel=1e-14)
    assert e.repeat(3).epsilon() == pytest.approx(3 * most, rel=1e-12)
    assert e.direction == "upper"
    assert e.epsilon(1e-300) <= e.epsilon()


def test_an_epsilon_chosen_for_a_posterior_keeps_it() -> None:
    found = el.choose(
        el.attacks.differencing, "epsilon", at_most=0.6, reading="posterior", given={"noise": "geometric"}
    )
    assert 0.6 * (1 - 1e-9) < 1 / (1 + math.exp(-found.value / 2)) <= 0.6  # e^{ε/2} to 1, the limit


@pytest.mark.parametrize(("order", "rel"), [(2.0, 1e-12), (1e4, 1e-12), (1e6, 1e-5)])
def test_divergences_beyond_doubles(order: float, rel: float) -> None:
    e = el.attacks.differencing(epsilon=1.0, noise="geometric")
    with mp.workdps(40):
        rate, a = mp.mpf(0.5), mp.mpf(order)
        level = (1 + mp.e ** (-2 * rate)) / (1 - mp.e ** (-2 * rate))

        def log_mass(k: int) -> mp.mpf:
            return -rate * abs(k) + mp.log(abs(k) + level)

        norm = mp.log(mp.fsum(mp.e ** log_mass(k) for k in range(-250, 251)))
        peak = math.isqrt(int(2 * order))  # a·log(1 − 1/k) − k/2 is largest there
        near = range(max(peak - 8 * math.isqrt(peak) - 250, -250), peak + 8 * math.isqrt(peak) + 250)
        terms = [a * (log_mass(k - 1) - log_mass(k) - rate) + log_mass(k) - norm for k in near]
        truth = float((a * rate + max(terms) + mp.log(mp.fsum(mp.e ** (t - max(terms)) for t in terms))) / (a - 1))
    assert truth * (1 - 1e-12) <= e.renyi(order) <= truth * (1 + rel)
