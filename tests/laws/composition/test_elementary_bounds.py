"""What moments alone say, against normal noise, whose curve is known, and against sums written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import binom

import epsilens as el
from epsilens.laws.composition.elementary_bounds import AtomBounds, MomentBounds, largest_loss_bounds, log_profile
from epsilens.laws.composition.evaluator import Evaluator
from epsilens.laws.composition.step import Atoms
from epsilens.laws.composition.tilt import TiltedMoments
from epsilens.laws.finite import FiniteStep
from epsilens.laws.normal import Normal, NormalStep


@pytest.mark.parametrize("mu", [1.0, 6.0, 30.0])
def test_below_the_truth_and_near_it_where_little_is_in_common(mu: float) -> None:
    view = MomentBounds(lambda s: s * (s - 1) / 2 * mu * mu, 0.0)
    law = Normal(np.asarray(mu))
    u = np.asarray([-5.0, 0.0, 1.0, 20.0, 400.0])
    truth = np.asarray(law.profile(u))
    low, high = (np.exp(v) for v in view.delta(u))
    assert (low <= truth * (1 + 1e-12)).all()
    assert (high >= truth).all()
    alpha = np.asarray([1e-300, 1e-9, 0.01, 0.5, 0.999])
    low, high = (np.exp(v) for v in view.roc(np.log(alpha)))
    assert (low <= ndtr(ndtri(alpha) + mu) * (1 + 1e-12)).all()
    assert (high == 1).all()
    recall = np.asarray([1e-9, 0.5, 0.999, 1 - 1e-9])
    low, high = view.inverse_roc(np.log(recall))
    assert (low < high).all()
    assert (high >= log_ndtr(ndtri(recall) - mu) - 1e-9).all()
    delta = np.asarray([1e-300, 1e-5, 0.5])
    reached = np.maximum(view.epsilon(np.log(delta))[0], 0.0)
    assert (reached <= np.asarray(law.profile_inverse(delta)) * (1 + 1e-12)).all()
    for threshold in (-3.0, 0.0, 2.0):
        found = view.test(threshold)
        assert found[0] >= ndtr(-(threshold / mu + mu / 2))
        assert found[1] <= ndtr(mu / 2 - threshold / mu) * (1 + 1e-12)
    if mu == 30:  # what is in common is about e^{−μ²/8}, as the bound says but for a factor
        assert np.exp(view.delta(np.zeros(1))[0][0]) == pytest.approx(1, abs=1e-15)
        assert view.inverse_roc(np.log([0.5]))[1][0] == pytest.approx(float(log_ndtr(-mu)), rel=0.2)


def two_points(p: float, up: float, down: float, steps: int, u: float, tilt: float) -> tuple[float, TiltedMoments]:
    """E g of ``steps`` losses that are ``up`` with probability p and ``down`` otherwise, summed up, and their shape."""
    k = np.arange(steps + 1)
    loss = up * k + down * (steps - k) - u
    mass = binom.pmf(k, steps, p)
    truth = float(np.sum(mass * np.where(loss > 0, -np.expm1(-np.maximum(loss, 0)) * np.exp(-tilt * loss), 0.0)))
    mean = p * up + (1 - p) * down
    spread = [p * abs(up - mean) ** j + (1 - p) * abs(down - mean) ** j for j in (2, 3)]
    return truth, TiltedMoments(0.0, steps * mean, steps * spread[0], steps * spread[1])


@pytest.mark.parametrize("p", [0.5, 0.1, 0.002])
@pytest.mark.parametrize("steps", [3, 100, 10_000])
@pytest.mark.parametrize("tilt", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("off", [-2.0, 0.0, 0.7])
def test_sums_of_losses_by_enumeration(p: float, steps: int, tilt: float, off: float) -> None:
    size = 3 / (tilt * np.sqrt(steps * p * (1 - p)))
    u = off * 3 / tilt
    truth, shape = two_points(p, size * (1 - p), -size * p, steps, u, tilt)
    bound = log_profile(shape, tilt, u) + tilt * u
    assert truth <= np.exp(bound) * (1 + 1e-12)
    chernoff = tilt * np.log(tilt / (tilt + 1)) - np.log1p(tilt)
    assert bound <= chernoff + 1e-12
    if steps == 10_000 and p > 0.01 and off == 0:
        assert bound < np.log(truth) + 0.25


def test_the_order_that_matters_less_is_seen_to(monkeypatch: pytest.MonkeyPatch) -> None:
    # ε at δ = 1e-5 is 0.4758 in one order and 0.4400 in the other (reference sheet)
    e = el.dpsgd(sigma=1.0, rate=0.001, steps=10_000)
    seen: list[bool] = []
    ask = Evaluator.moments_put_below

    def watched(order: Evaluator, log_delta: float, epsilon: float) -> bool:
        found = ask(order, log_delta, epsilon)
        assert not ask(order, log_delta, 0.4400)
        seen.append(found)
        return found

    monkeypatch.setattr(Evaluator, "moments_put_below", watched)
    assert e.epsilon(1e-5) == pytest.approx(0.475761289, abs=1e-6)
    assert seen == [True]


# A list of atoms read in arrays: inside the room it leaves, and silent where doubles are.

# H0 has (2/3, 1/3) and H1 (1/4, 3/4): losses log 3/8 and log 9/4
STEP = FiniteStep(Atoms(np.log([3 / 8, 9 / 4]), np.log([1 / 4, 3 / 4])))


@pytest.mark.parametrize(
    ("kind", "at", "truth", "back"),
    [
        ("delta", 0.0, math.log(5 / 12), math.log(5 / 12)),
        ("delta", math.log(2), math.log(1 / 12), 0.0),
        ("roc", math.log(1 / 6), math.log(3 / 8), math.log(4 / 9)),
        ("roc", math.log(2 / 3), math.log(7 / 8), 0.0),
        ("inverse_roc", math.log(3 / 8), math.log(1 / 6), 0.0),
        ("epsilon", math.log(1 / 12), math.log(2), 0.0),
    ],
)
def test_by_hand(kind: str, at: float, truth: float, back: float) -> None:
    ahead, behind = (largest_loss_bounds([(STEP, 1)], flipped) for flipped in (False, True))
    assert isinstance(ahead, AtomBounds)
    low, high = getattr(ahead, kind)(np.asarray([at]))
    assert low[0] <= truth <= high[0]
    assert high[0] - low[0] < 1e-10
    if back:
        low, high = getattr(behind, kind)(np.asarray([at]))
        assert low[0] <= back <= high[0]


def test_where_nothing_is_said() -> None:
    found = largest_loss_bounds([(STEP, 1)], False)
    deep = np.asarray([-800.0])
    assert found.roc(deep)[0][0] == -math.inf
    assert found.inverse_roc(deep)[0][0] == -math.inf
    assert found.epsilon(deep)[1][0] == math.inf
    assert found.delta(np.asarray([5.0]))[0][0] == -math.inf
    assert not isinstance(largest_loss_bounds([(NormalStep(1.0), 1)], False), AtomBounds)
