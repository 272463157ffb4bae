"""Products on points: domination from both sides, held against exact sums."""

from __future__ import annotations

import math
from itertools import pairwise
from itertools import product as every

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, logsumexp, ndtr
from tests.laws.composition.oracles import two_rare_steps

import epsilens as el
from epsilens.laws.composition.evaluator import Evaluator
from epsilens.laws.composition.grid_product import GridProfile, grid, product
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.tilt import ReadingQuery
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.normal import NormalStep


def _h(masses: dict[float, float], u: float) -> float:
    return math.fsum(m * -math.expm1(u - loss) for loss, m in masses.items() if loss > u)


def test_a_grid_has_zero_its_ends_and_ratios() -> None:
    found = grid(1e-9, 0.1, (-1e-3, 50.0), np.asarray([0.3]))
    assert found[0] == -1e-3
    assert found[-1] == pytest.approx(50.0)
    assert 0.0 in found
    assert 0.3 in found
    rising = found[found >= 1e-9]
    assert (rising[1:] / rising[:-1]).max() <= 1.1 + 1e-9


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_products_of_atoms_lie_between_the_sides(k: int) -> None:
    # losses that no lattice holds together
    loss = np.asarray([12.0, 1e-9, -3e-10])
    p1 = np.asarray([1e-12, 0.25, 0.75 - 1e-12])
    step = FiniteStep(Atoms(loss, np.log(p1)))
    sums: dict[float, float] = {}
    for combined in every(range(3), repeat=k):
        total = math.fsum(float(loss[i]) for i in combined)
        sums[total] = sums.get(total, 0.0) + math.prod(float(p1[i]) for i in combined)
    edges = grid(1e-14, 0.05, (-1e-3, 200.0), np.zeros(0))
    upper, lower, rho, _ = product([(step, k)], False, edges, -90.0, 10**8) or pytest.fail("too many pairs")
    view = GridProfile(upper, lower, rho, 0)
    for u in (0.0, 1e-10, 1e-9, 1.0, 11.0, 12.0, 20.0):
        low, high = (float(v) for v in view.delta(np.asarray(u)))
        truth = _h(sums, u)
        if truth > 0:
            assert math.exp(low) <= truth * (1 + 1e-6)
            assert truth <= math.exp(high) * (1 + 1e-6)


@pytest.mark.parametrize("flipped", [False, True])
def test_masses_are_kept(flipped: bool) -> None:
    step: Step = SampledStep(NormalStep(4.0), 1e-7)
    edges = grid(1e-13, 0.1, (-60.0, 60.0), np.zeros(0))
    made = product([(step, 3)], flipped, edges, -60.0, 10**8)
    assert made is not None
    upper, lower, _, _ = made
    assert upper.mass.sum() + upper.top == pytest.approx(1.0, abs=1e-12)
    assert lower.mass.sum() + lower.top == pytest.approx(1.0, abs=1e-12)
    assert lower.top == 0.0


def test_too_many_pairs_are_refused() -> None:
    step: Step = SampledStep(NormalStep(1.0), 0.01)
    assert product([(step, 4)], False, grid(1e-6, 0.1, (-50.0, 50.0), np.zeros(0)), -40.0, 1000) is None


# Few and rare steps: what nearly never happens, held against quadrature in 40 digits and against steps × rate.

PAIRS = [
    ("0.295", "1.08e-9", "0", True),
    ("0.295", "1.08e-9", "0", False),
    ("0.295", "1.08e-9", "1", True),
    ("0.295", "1.08e-9", "6.6453", True),
    ("0.2", "1e-12", "0.001", False),
    ("0.2", "1e-12", "3", True),
    ("0.5", "1e-6", "0.0001", False),
    ("1", "1e-10", "0", True),
]


@pytest.mark.parametrize(("sigma", "rate", "epsilon", "replace"), PAIRS)
def test_two_steps_by_quadrature(sigma: str, rate: str, epsilon: str, replace: bool) -> None:
    truth = two_rare_steps(sigma, rate, epsilon, replace)
    neighbours = "replace" if replace else "add-remove"
    e = el.dpsgd(sigma=float(sigma), rate=float(rate), steps=2, neighbours=neighbours)
    at = np.asarray(float(epsilon))
    low, high = float(e.law.other_side().profile(at)), float(e.law.profile(at))
    assert low <= truth * (1 + 1e-14)
    assert truth * (1 - 1e-14) <= high
    assert high - low <= 1e-3 * high


def test_epsilon_of_two_steps() -> None:
    e = el.dpsgd(sigma=0.295, rate=1.08e-9, steps=2, neighbours="replace")
    low, high = e.bracket("epsilon", delta=7.6e-20)
    # δ falls: the truth lies between the ends if δ, by quadrature, does
    assert (
        two_rare_steps("0.295", "1.08e-9", repr(low), True)
        >= 7.6e-20
        >= two_rare_steps("0.295", "1.08e-9", repr(high), True)
    )
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(
    ("sigma", "rate", "steps"), [(0.2, 1e-12, 3), (0.05, 1e-6, 7), (1.0, 1e-9, 16), (5.0, 1e-4, 2)]
)
def test_nothing_exceeds_the_chance_of_being_drawn(sigma: float, rate: float, steps: int, neighbours: str) -> None:
    e = el.dpsgd(sigma=sigma, rate=rate, steps=steps, neighbours=neighbours)
    drawn = -math.expm1(steps * math.log1p(-rate))
    low, high = e.bracket("advantage")
    assert high <= drawn * (1 + 1e-9)
    assert high - low <= 1e-3 * high
    assert e.success(prior=0.5) <= 0.5 + 0.5 * drawn * (1 + 1e-9) + 1e-15
    assert e.epsilon(delta=1.01 * drawn) == 0.0
    fpr = 0.01
    assert fpr <= e.roc(fpr) <= fpr + drawn * (1 + 1e-9) + 1e-16


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_more_steps_say_more(neighbours: str) -> None:
    counts = (1, 2, 3, 5, 17, 40, 300)
    laws = [el.dpsgd(sigma=0.3, rate=1e-8, steps=k, neighbours=neighbours) for k in counts]
    for reading, given in (("delta", {"epsilon": 2.0}), ("advantage", {}), ("epsilon", {"delta": 1e-16})):
        ends = [e.bracket(reading, **given) for e in laws]
        for (low, _), (_, high) in pairwise(ends):
            assert low <= high
        for k, (_, high) in zip(counts, ends, strict=True):
            if reading == "advantage":
                assert high <= k * ends[0][1] * (1 + 1e-9)


def test_a_strong_step_that_is_drawn_twice() -> None:
    # just above the chance of two draws δ hardly falls with ε, and one draw decides: 5q·Φ(−z) is what is left
    e = el.dpsgd(sigma=0.03, rate=1e-3, steps=5)
    low, high = e.bracket("epsilon", delta=1.1e-5)
    assert 660 < low < high < 671


def test_many_rare_steps_by_single_large_losses() -> None:
    # one of 10⁵ steps shows a large loss, the others a normal sum of small ones: the next term is below 1e-4 of it
    sigma, rate, steps, epsilon = 0.5, 1e-6, 10**5, 1.0
    mu = 1 / sigma
    x = np.linspace(mu, 30.0, 400_001)
    loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
    mass = np.exp(-x * x / 2 + loss) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    variance = steps * rate**2 * math.expm1(mu * mu)
    sd, gap = math.sqrt(variance), epsilon - loss + variance / 2  # under H0 the mean of the others is −variance/2
    each = ndtr(-(gap - variance) / sd) - np.exp(epsilon - loss) * ndtr(-gap / sd)
    expected = steps * float(mass @ np.where(mass > 0, each, 0.0))
    low, high = el.dpsgd(sigma=sigma, rate=rate, steps=steps).bracket("delta", epsilon=epsilon)
    assert low * (1 - 1e-3) <= expected <= high * (1 + 1e-3)
    assert high - low <= 1e-2 * high


def two_rates(sigma: float, rate: float, u: float) -> tuple[float, float]:
    """log α and log recall of the test L₁ + L₂ > u of two sampled steps, along the first on a fine grid."""
    x = np.linspace(-8 * sigma, 60 * sigma, 400_001)
    log_q = math.log(rate)
    ahead = (2 * x - 1) / (2 * sigma**2)  # the loss of those drawn, noise of σ moved by 1
    left = u - np.logaddexp(math.log1p(-rate), log_q + ahead)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = left + np.log1p(-(1 - rate) * np.exp(-left)) - log_q  # log (e^left − 1 + q)/q
    place = np.where(left > math.log1p(-rate), sigma**2 * drawn + 0.5, -np.inf)
    under0, under1 = log_ndtr(-place / sigma), log_ndtr(-(place - 1) / sigma)
    under1 = np.logaddexp(math.log1p(-rate) + under0, log_q + under1)
    density = -(x**2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi)) + math.log(x[1] - x[0])
    mixed = density + np.logaddexp(math.log1p(-rate), log_q + ahead)
    return float(logsumexp(density + under0)), float(logsumexp(mixed + under1))


@pytest.mark.parametrize(("recall", "prior"), [(7e-289, 0.01), (7e-209, 0.01), (1e-240, 1e-6)])
def test_recalls_far_below_what_is_likely(recall: float, prior: float, monkeypatch: pytest.MonkeyPatch) -> None:
    sigma, rate = 1.1514, 1e-10
    made: list[ReadingQuery] = []
    monkeypatch.setattr(Evaluator, "_by_lattice", lambda self, ask, *_: made.append(ask))
    u = brentq(lambda v: two_rates(sigma, rate, v)[1] - math.log(recall), 1e-3, 200.0, xtol=1e-12)
    log_alpha = two_rates(sigma, rate, u)[0]
    truth = 1 / (1 + (1 - prior) / prior * math.exp(log_alpha - math.log(recall)))
    e = el.dpsgd(sigma=sigma, rate=rate, steps=2)
    low, high = e.bracket("precision", prior=prior, recall=recall)
    assert low <= truth * (1 + 1e-7)
    assert truth * (1 - 1e-7) <= high
    assert high - low < 1e-3 * high
    assert e.law.reached
    assert not made  # points serve
