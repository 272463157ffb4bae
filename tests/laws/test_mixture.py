"""Mixtures of normals against mpmath, against the sample that they may be, and against the sheet's groups."""

from __future__ import annotations

import math
import pickle
from itertools import combinations, pairwise

import mpmath as mp
import numpy as np
import pytest

import epsilens as el
from epsilens.checks import Array
from epsilens.errors import InputError
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.step import Step
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.mixture import (
    DrawsStep,
    GroupStep,
    MixtureStep,
    OppositeMixtures,
    draws_step,
    group_step,
    mixture_step,
    replaced_group_step,
)
from epsilens.laws.normal import NormalReplacementStep, NormalStep

# shifts, weights: none at 0; most of it there; little there; tiny shifts; a rare long one
CASES = [
    ((0.3, 1.0, 2.5), (0.5, 0.3, 0.2)),
    ((0.0, 1.0, 2.0), (0.9, 0.09, 0.01)),
    ((0.0, 0.5, 4.0), (1e-3, 0.5, 0.499)),
    ((1e-6, 3e-6), (0.4, 0.6)),
    ((0.0, 1e-3, 6.0), (0.5, 0.5 - 1e-9, 1e-9)),
]


@pytest.fixture(autouse=True)
def _digits() -> None:
    mp.mp.dps = 40


class Exact:
    """The same mixture in forty digits, from its densities."""

    def __init__(self, shifts: tuple[float, ...], weights: tuple[float, ...]) -> None:
        self.c = [mp.mpf(c) for c in shifts]
        total = sum(mp.mpf(w) for w in weights)
        self.w = [mp.mpf(w) / total for w in weights]

    def loss(self, x: mp.mpf) -> mp.mpf:
        return mp.log(sum(w * mp.e ** (c * x - c * c / 2) for c, w in zip(self.c, self.w, strict=True)))

    def integral(self, f: object, far: mp.mpf) -> mp.mpf:
        edges = mp.linspace(-30 - far, 30 + far, 31 + int(far))
        return sum(mp.quad(f, pair) for pair in pairwise(edges))

    def log_moment(self, a: float) -> mp.mpf:
        power = mp.mpf(a)
        f = lambda x: mp.npdf(x) * mp.e ** (power * self.loss(x))  # noqa: E731
        return mp.log(self.integral(f, abs(power) * self.c[-1]))

    def above(self, x: float) -> mp.mpf:
        return sum(w * mp.ncdf(c - mp.mpf(x)) for c, w in zip(self.c, self.w, strict=True))


def step_of(case: tuple[tuple[float, ...], tuple[float, ...]]) -> tuple[Step, Exact]:
    shifts, weights = case
    return mixture_step(np.asarray(shifts), np.log(weights)), Exact(shifts, weights)


@pytest.mark.parametrize("case", CASES)
def test_the_loss_is_within_its_stated_error(case: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    step, exact = step_of(case)
    x = np.array([-30.0, -8.0, -2.0, -0.3, 0.0, 1e-5, 0.7, 3.0, 9.0, 30.0])
    loss, error = step.loss(x), step.error(x)
    for at, found, most in zip(x.tolist(), loss.tolist(), error.tolist(), strict=True):
        assert abs(found - exact.loss(mp.mpf(at))) <= most
        rise = (exact.loss(mp.mpf(at) + mp.mpf("1e-15")) - exact.loss(mp.mpf(at) - mp.mpf("1e-15"))) / mp.mpf("2e-15")
        assert float(step.slope(np.asarray(at))) == pytest.approx(float(rise), rel=1e-9)
    assert np.all(np.abs(step.loss(step.inverse_loss(loss)) - loss) <= error)
    inside = step.loss(np.array([-3.0, 4.0]))
    assert np.allclose(step.inverse_loss(inside), [-3.0, 4.0], rtol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_tails_and_how_far_they_reach(case: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    step, exact = step_of(case)
    for x in (-7.0, 0.0, 3.0, 20.0):
        assert step.above(x)[0] == pytest.approx(float(mp.log(exact.above(x))), rel=1e-12)
        assert step.above(x)[1] == pytest.approx(float(mp.log(mp.ncdf(-x))), rel=1e-12)
        left = sum(w * mp.ncdf(x - c) for c, w in zip(exact.c, exact.w, strict=True))
        assert step.below(x)[0] == pytest.approx(float(mp.log(left)), rel=1e-12, abs=1e-15)
    for top in (-3.0, -40.0, -600.0):
        low, high = step.cutoffs(top, top)
        assert step.above(high)[0] <= top * (1 - 1e-12)
        assert step.above(high - 0.05 * (1 + abs(high)))[0] > 2 * top  # not much further than needed
        assert step.below(low)[1] <= top * (1 - 1e-12)


@pytest.mark.parametrize(("case", "power"), [(CASES[0], 3.5), (CASES[1], -2.0), (CASES[2], 0.4), (CASES[4], 3.0)])
def test_moments(case: tuple[tuple[float, ...], tuple[float, ...]], power: float) -> None:
    mp.mp.dps = 25
    step, exact = step_of(case)
    assert step.log_moment(power) == pytest.approx(float(exact.log_moment(power)), rel=1e-11)


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[3]])
def test_divergences(case: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    mp.mp.dps = 25
    step, exact = step_of(case)
    ahead = exact.integral(lambda x: mp.npdf(x) * mp.e ** exact.loss(x) * exact.loss(x), mp.mpf(3))
    assert step.reverse_kl() == pytest.approx(float(ahead), rel=1e-10)
    assert step.kl() == pytest.approx(
        float(exact.integral(lambda x: -mp.npdf(x) * exact.loss(x), mp.mpf(3))), rel=1e-10
    )
    assert step.kl_bound() >= max(step.reverse_kl(), 0)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_one_step_is_a_threshold(case: tuple[tuple[float, ...], tuple[float, ...]], epsilon: float) -> None:
    step, exact = step_of(case)
    law = ComposedLaw([(step, 1)])
    left, right = mp.mpf(-30), mp.mpf(4_000_000)
    for _ in range(200):
        at = (left + right) / 2
        left, right = (at, right) if exact.loss(at) < epsilon else (left, at)
    truth = exact.above(at) - mp.e ** mp.mpf(epsilon) * mp.ncdf(-at)
    low, high = (float(one.profile(np.asarray(epsilon))) for one in (law.other_side(), law))
    if truth > 1e-290:
        assert low <= float(truth) * (1 + 1e-14)
        assert high >= float(truth) * (1 - 1e-14)
        assert high <= low * 1.001


def test_a_sample_of_normal_noise_is_the_mixture_of_0_and_its_shift() -> None:
    for rate in (1e-6, 0.01, 0.6, 0.98):
        here = mixture_step(np.array([0.0, 0.8]), np.log([1 - rate, rate]))
        known = ComposedLaw([(SampledStep(NormalStep(0.8), rate), 200)])
        mixed = ComposedLaw([(here, 200)])
        for one, other in ((known, mixed), (known.reverse(), mixed.reverse())):
            for delta in (1e-3, 1e-9):
                found = [float(law.profile_inverse(np.asarray(delta))) for law in (one, other)]
                assert found[0] == pytest.approx(found[1], rel=2e-3)
            assert float(one.kl()) == pytest.approx(float(other.kl()), rel=1e-9)
            assert float(one.log_moment(np.asarray(4.0))) == pytest.approx(
                float(other.log_moment(np.asarray(4.0))), rel=1e-9
            )


# the sheet, two independent methods: σ, q, T, δ, people, ε of removing and of adding
GROUPS = [
    (1.0, 0.0064, 782, 1e-6, 2, 2.53198, 1.78826),
    (1.0, 0.0064, 782, 1e-6, 3, 3.93696, 2.76716),
    (1.0, 0.0064, 782, 1e-6, 10, 15.46434, 10.49734),
    (2.0, 0.01, 1000, 1e-5, 2, 1.33257, 1.23508),
    (2.0, 0.01, 1000, 1e-5, 5, 3.73244, 3.42028),
    (0.8, 0.001, 1000, 1e-6, 4, 1.90793, 0.8335),
]


@pytest.mark.parametrize("row", GROUPS)
def test_groups_in_both_orders(row: tuple[float, float, int, float, int, float, float]) -> None:
    sigma, rate, steps, delta, people, remove, add = row
    law = ComposedLaw([(group_step(1 / sigma, rate, people), steps)], 1e-4)
    for one, truth in ((law, remove), (law.reverse(), add)):
        low, high = (float(v.profile_inverse(np.asarray(delta))) for v in (one.other_side(), one))
        digit = 6e-6 if round(truth, 4) != truth else 6e-5
        assert low <= truth + digit
        assert high >= truth - digit
        assert high <= low * (1 + 1e-4)


def test_groups_of_any_size_are_the_same_mixture() -> None:
    # whether nobody being drawn is kept apart or not, and however few of the terms are summed
    for people, rate in ((3, 0.2), (8, 0.5), (60, 0.01), (60, 0.1), (300, 0.02)):
        step = group_step(0.3, rate, people)
        counts = range(people + 1)
        weights = tuple(
            float(mp.binomial(people, j) * mp.mpf(rate) ** j * (1 - mp.mpf(rate)) ** (people - j)) for j in counts
        )
        exact = Exact(tuple(0.3 * j for j in counts), weights)
        x = np.array([-12.0, -2.0, 0.5, 4.0, 15.0])
        for at, loss in zip(x.tolist(), step.loss(x).tolist(), strict=True):
            assert loss == pytest.approx(float(exact.loss(mp.mpf(at))), rel=1e-12)
        assert step.above(2.0)[0] == pytest.approx(float(mp.log(exact.above(2.0))), rel=1e-12)
        assert np.allclose(step.inverse_loss(step.loss(x)), x, rtol=1e-9)


def test_batches_drawn_with_replacement() -> None:
    # the sheet, two methods: b = 100 of n = 10⁴, 1000 steps, δ = 1e-5, of removing and of adding; the last one by a
    # contour integral over sums on a grid, .580234, which the sheet rounds up
    for sigma, remove, add in ((2.0, 1.8891, 1.4215), (4.0, 0.6234, 0.580234)):
        law = ComposedLaw([(draws_step(2 / sigma, 1e-4, 100), 1000)])
        for one, truth in ((law, remove), (law.reverse(), add)):
            low, high = (float(v.profile_inverse(np.asarray(1e-5))) for v in (one.other_side(), one))
            assert low <= truth + 6e-5
            assert high >= truth - 6e-5
            assert high <= low * 1.001
    step = draws_step(0.5, 0.1, 10)
    assert step.scales_by_group
    assert step.group(2) == draws_step(0.5, 0.2, 10)
    with pytest.raises(InputError, match="everybody who could be drawn"):
        step.group(10)


def test_a_hundred_thousand_draws() -> None:
    step = draws_step(0.01, 1e-4, 100_000)  # about 10 ± 3, whose shift is 0.1 ± 0.03
    exact = Exact(
        tuple(0.01 * j for j in range(120)),
        tuple(
            float(mp.binomial(100_000, j) * mp.mpf(1e-4) ** j * (1 - mp.mpf(1e-4)) ** (100_000 - j)) for j in range(120)
        ),
    )
    x = np.array([-9.0, -1.0, 0.0, 2.0, 9.0])
    for at, loss in zip(x.tolist(), step.loss(x).tolist(), strict=True):
        assert loss == pytest.approx(float(exact.loss(mp.mpf(at))), rel=1e-10)
    assert np.allclose(step.inverse_loss(step.loss(x)), x, rtol=1e-8)
    assert step.above(3.0)[0] == pytest.approx(float(mp.log(exact.above(3.0))), rel=1e-11)


def test_groups_of_groups() -> None:
    step = group_step(0.5, 0.1, 2)
    assert step.scales_by_group
    assert step.group(3) == group_step(0.5, 0.1, 6)
    many = group_step(0.5, 0.5, 20)
    assert isinstance(many, GroupStep)
    assert many.group(2) == group_step(0.5, 0.5, 40)
    with pytest.raises(InputError, match="a binomial number of 2000000 draws or people is too many to sum up"):
        group_step(0.5, 0.5, 2_000_000)


def test_steps_are_values() -> None:
    step = MixtureStep((0.5, 1.0), (math.log(0.5), math.log(0.5)))
    step.loss(np.zeros(1))
    assert pickle.loads(pickle.dumps(step)) == step
    assert hash(step) == hash(MixtureStep((0.5, 1.0), (math.log(0.5), math.log(0.5))))


@pytest.mark.parametrize("mu", [2e-6, 0.1, 20.0])
def test_places_of_a_million_draws_take_few_steps(mu: float, monkeypatch: pytest.MonkeyPatch) -> None:
    step = DrawsStep(mu, 1e-6, 990_000)
    x = np.linspace(-8.0, 12.0, 41)
    wanted = step.loss(x)
    j = np.arange(1, 60)  # given at least one: what is rarer than 60 draws has no share
    log_w = np.asarray([float(mp.log(mp.binomial(990_000, int(i)))) for i in j])
    log_w += j * math.log(1e-6) + (990_000 - j) * math.log1p(-1e-6)
    log_w -= np.logaddexp.reduce(log_w)
    each = np.multiply.outer(x, mu * j) - (mu * j) ** 2 / 2 + log_w
    assert wanted == pytest.approx(np.logaddexp.reduce(each, axis=1), rel=1e-9, abs=1e-14)
    calls = []
    before = DrawsStep._sums

    def counted(self: DrawsStep, at: Array, start: int = 0) -> tuple[Array, Array]:
        calls.append(np.size(at))
        return before(self, at, start)

    monkeypatch.setattr(DrawsStep, "_sums", counted)
    found = step.inverse_loss(wanted)
    assert np.abs(step.loss(found) - wanted).max() <= float(step.error(x).max())
    assert len(calls) < 40


def test_one_record_is_the_sample_whose_record_is_replaced() -> None:
    for mu, rate in ((1.0, 0.01), (0.2, 0.5), (3.0, 1e-5)):
        known, here = (
            ComposedLaw([(NormalReplacementStep(mu, rate), 50)]),
            ComposedLaw([(OppositeMixtures(SampledStep(NormalStep(mu), rate)), 50)]),
        )
        for delta in (1e-3, 1e-8):
            found = [float(law.profile_inverse(np.asarray(delta))) for law in (known, here)]
            assert found[0] == pytest.approx(found[1], rel=2e-3)
        assert float(known.kl()) == pytest.approx(float(here.kl()), rel=1e-10)
        assert float(known.log_moment(np.asarray(5.0))) == pytest.approx(
            float(here.log_moment(np.asarray(5.0))), rel=1e-10
        )
        assert float(known.psi()) == float(here.psi())


@pytest.mark.parametrize(("mu", "rate", "people"), [(1.0, 0.1, 3), (0.05, 0.6, 12), (2.5, 1e-3, 2)])
def test_the_loss_and_the_tails(mu: float, rate: float, people: int) -> None:
    mp.mp.dps = 40
    step = replaced_group_step(mu, rate, people)
    weights = [
        mp.binomial(people, j) * mp.mpf(rate) ** j * (1 - mp.mpf(rate)) ** (people - j) for j in range(people + 1)
    ]
    shifts = [mp.mpf(mu) * j for j in range(people + 1)]

    def density(x: mp.mpf, sign: int) -> mp.mpf:
        return sum(w * mp.npdf(x - sign * c) for w, c in zip(weights, shifts, strict=True))

    x = np.array([-9.0, -2.0, -1e-3, 0.4, 6.0])
    loss, error = step.loss(x), step.error(x)
    for at, found, most in zip(x.tolist(), loss.tolist(), error.tolist(), strict=True):
        assert abs(found - mp.log(density(mp.mpf(at), 1) / density(mp.mpf(at), -1))) <= most
        assert float(step.log_p0(np.asarray(at))) == pytest.approx(float(mp.log(density(mp.mpf(at), -1))), rel=1e-12)
        tail = sum(w * mp.ncdf(c - mp.mpf(at)) for w, c in zip(weights, shifts, strict=True))
        assert step.above(at)[0] == pytest.approx(float(mp.log(tail)), rel=1e-11, abs=1e-14)
    assert np.allclose(step.inverse_loss(loss), x, rtol=1e-8)
    assert float(step.inverse_loss(np.asarray(0.0))) == 0
    low, high = step.cutoffs(-30.0, -50.0)
    assert step.above(high)[0] <= -30
    assert step.below(low)[1] <= -50


@pytest.mark.parametrize(("mu", "rate", "people"), [(1.0, 0.3, 2), (0.7, 0.05, 4)])
def test_two_steps_by_quadrature(mu: float, rate: float, people: int) -> None:
    x = np.linspace(-16, 16, 3201)
    weights = [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]
    h1, h0 = (
        sum(w * np.exp(-((x - s * j * mu) ** 2) / 2) / math.sqrt(2 * math.pi) for j, w in enumerate(weights))
        for s in (1, -1)
    )
    cell = (x[1] - x[0]) ** 2
    both1, both0 = np.multiply.outer(h1, h1), np.multiply.outer(h0, h0)
    law = ComposedLaw([(replaced_group_step(mu, rate, people), 2)])
    for epsilon in (0.0, 0.5, 2.0):
        truth = float(np.maximum(both1 - math.exp(epsilon) * both0, 0).sum()) * cell
        low, high = (float(one.profile(np.asarray(epsilon))) for one in (law.other_side(), law))
        assert low <= truth * (1 + 1e-4)
        assert high >= truth * (1 - 1e-4)
        assert high <= low * 1.001


def test_no_vectors_tell_more() -> None:
    # records of a group in the plane, each of norm μ at most, drawn or not: every threshold, both orders
    rng = np.random.default_rng(7)
    grid = np.linspace(-13, 13, 391)
    across, up = np.meshgrid(grid, grid)
    cell = (grid[1] - grid[0]) ** 2

    def density(records: list[np.ndarray], rate: float) -> np.ndarray:
        total, k = np.zeros(across.shape), len(records)
        for size in range(k + 1):
            for drawn in combinations(range(k), size):
                v = sum((records[i] for i in drawn), np.zeros(2))
                weight = rate**size * (1 - rate) ** (k - size) / (2 * math.pi)
                total += weight * np.exp(-((across - v[0]) ** 2 + (up - v[1]) ** 2) / 2)
        return total

    for _ in range(12):
        people, rate, mu = int(rng.integers(1, 4)), float(rng.uniform(0.05, 0.9)), float(rng.uniform(0.3, 2.0))

        def record(most: float = mu) -> np.ndarray:
            angle, size = rng.uniform(0, 2 * math.pi), most * min(1.0, rng.uniform(0, 1.5))
            return size * np.array([math.cos(angle), math.sin(angle)])

        ones, others = ([record() for _ in range(people)] for _ in range(2))
        h1, h0, nobody = density(ones, rate), density(others, rate), density([], rate)
        replaced = ComposedLaw([(replaced_group_step(mu, rate, people), 1)])
        added = ComposedLaw([(group_step(mu, rate, people), 1)])
        for u in (-2.0, -0.3, 0.0, 0.4, 1.5):
            t = math.exp(u)
            assert np.maximum(h1 - t * h0, 0).sum() * cell <= float(replaced.profile(np.asarray(u))) + 1e-9
            assert np.maximum(h1 - t * nobody, 0).sum() * cell <= float(added.profile(np.asarray(u))) + 1e-9


def test_groups_of_groups_opposite() -> None:
    step = replaced_group_step(0.5, 0.1, 2)
    assert step.scales_by_group
    assert step.group(3) == replaced_group_step(0.5, 0.1, 6)
    assert NormalReplacementStep(0.5, 0.1).group(6) == replaced_group_step(0.5, 0.1, 6)
    assert pickle.loads(pickle.dumps(step)) == step
    e = el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=100, neighbours="replace"), 3)
    low, high = e.bracket("epsilon", delta=1e-5)
    assert 0 < low <= high <= low * 1.001
    added = el.group(el.dpsgd(sigma=2.0, rate=0.01, steps=100), 3)
    assert high > added.epsilon(1e-5)
