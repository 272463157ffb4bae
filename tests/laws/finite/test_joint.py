"""Two unlike releases of whole numbers: every combination in 50 digits, and moments that add up."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import epsilens as el
from epsilens.laws.composition.law import Loss
from epsilens.laws.finite.joint import Joint, joint
from epsilens.laws.finite.law import Finite
from epsilens.laws.finite.whole import DiscreteNormal

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
        holds(missed(pairs, alpha), "tradeoff", alpha=alpha)
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
    made = joint([noise, (claim[0], 2)], 10_000)
    assert isinstance(made, Joint)
    assert made.ends == (-math.inf, math.inf)
    assert made.least_psi == pytest.approx(1.0)
    assert made.most_rho == pytest.approx(noise[0].most_rho + 2 * claim[0].most_rho)
    assert made.kl_back() == pytest.approx(noise[0].kl_back() + 2 * claim[0].kl_back())
    assert not made.moves
    with pytest.raises(el.InputError, match="group"):
        made.grouped(2)
    assert joint([noise, claim], 10) is None
    bounded = joint([claim, (Finite.claim(0.3).steps()[0][0], 3)], 100)
    assert bounded is not None
    assert not isinstance(bounded, Joint)
    law = Loss([(made, 1)])
    assert float(law.profile(np.asarray(0.0))) == pytest.approx(float(made.as_law().profile(np.asarray(0.0))), rel=1e-9)


def test_a_group_of_a_composition() -> None:
    e = el.compose(el.mechanisms.discrete_gaussian(sigma=3.0), el.mechanisms.pure(epsilon=0.3))
    assert el.group(e, 2).delta(1.0) >= e.delta(1.0)
