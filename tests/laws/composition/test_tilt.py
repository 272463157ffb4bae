"""How far out a plan looks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr

from epsilens.laws.composition import lattice, quadrature
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.quadrature import Nodes
from epsilens.laws.composition.tilt import DEEPEST, Cumulants, cumulants, levels
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.normal import NormalStep


def test_nothing_is_followed_below_what_doubles_hold() -> None:
    assert levels(-1e9, 1e-3, 10**6, False) == levels(DEEPEST, 1e-3, 10**6, False)
    top, bottom = levels(-300.0, 1e-3, 1, False)
    assert -300 + math.log(1e-5) - 4 <= top <= -300 + math.log(1e-5)
    assert math.log(1e-7) - 4 <= bottom <= math.log(1e-7)


def test_what_is_certain_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # a shift of 30, a million times: 3e4 in all, of which a mistake has probability Φ(−1.5e4)
    law = ComposedLaw([(NormalStep(30.0), 10**6)])
    made, before = [0], quadrature.panels

    def counted(*given: object) -> object:
        left, width, owner = before(*given)  # type: ignore[arg-type]
        made.append(left.size)
        return left, width, owner

    monkeypatch.setattr(lattice, "panels", counted)
    for side in (law, law.other_side()):
        assert float(side.roc(np.asarray(0.5))) == pytest.approx(1, abs=4e-15)
        assert float(side.tradeoff(np.asarray(1e-300))) == 0 == math.exp(float(log_ndtr(-15000.0)))
    assert max(made) < 100_000


@pytest.mark.parametrize("count", [100, 5000])
def test_cumulants_of_many_nodes_are_the_sums_they_stand_for(count: int) -> None:
    # the sums themselves, exactly rounded; nodes far apart in weight, so that most say nothing at any one tilt
    loss, log_p, k = np.linspace(-3.0, 40.0, count), -((np.linspace(-8.0, 60.0, count)) ** 2) / 2, 7
    of = Cumulants([(Nodes(loss, log_p, 0.0, 0.0), k)], False)
    assert of.nodes == count
    tilts = np.asarray([-0.5, 0.0, 0.3, 4.0, 60.0])
    found, (means, sds) = of(tilts), of.spreads(tilts)
    for i, tilt in enumerate(tilts.tolist()):
        top = float((tilt * loss + log_p).max())
        weights = [math.exp(v - top) for v in (tilt * loss + log_p).tolist()]
        mass = math.fsum(weights)
        mean = math.fsum(w * v for w, v in zip(weights, loss.tolist(), strict=True)) / mass
        variance = math.fsum(w * (v - mean) ** 2 for w, v in zip(weights, loss.tolist(), strict=True)) / mass
        assert found[i] == pytest.approx(k * (top + math.log(mass)), rel=1e-12, abs=1e-12)
        assert means[i] == pytest.approx(k * mean, rel=1e-10)
        assert sds[i] == pytest.approx(math.sqrt(k * variance), rel=1e-8)


@pytest.mark.parametrize("flipped", [False, True])
def test_the_shape_of_a_tilted_loss(flipped: bool) -> None:
    tilt, sign = 7.0, -1 if flipped else 1
    found = cumulants([(SampledStep(NormalStep(0.8), 0.02), 50)], (-60.0, -60.0), flipped).shape(tilt)
    assert found is not None

    def loss(x: float) -> float:
        return sign * math.log1p(0.02 * math.expm1(0.8 * x - 0.32))

    def moment(f: Callable[[float], float]) -> float:
        def density(x: float) -> float:  # under the law of the order's H1, tilted
            law = 1.0 if flipped else 1 + 0.02 * math.expm1(0.8 * x - 0.32)
            return math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * law * math.exp(tilt * loss(x)) * f(x)

        return float(quad(density, -12, 25, points=[0.0, 4.0, 8.0], epsabs=0, epsrel=1e-12, limit=400)[0])

    mass = moment(lambda x: 1.0)
    mean = moment(loss) / mass
    assert found.log_scale == pytest.approx(50 * math.log(mass), rel=1e-7)
    assert found.mean == pytest.approx(50 * mean, rel=1e-7)
    assert found.variance == pytest.approx(50 * moment(lambda x: (loss(x) - mean) ** 2) / mass, rel=1e-7)
    assert found.third == pytest.approx(50 * moment(lambda x: abs(loss(x) - mean) ** 3) / mass, rel=1e-4)


def test_closed_forms_need_no_shape() -> None:
    assert cumulants([(NormalStep(0.8), 50)], (-60.0, -60.0), False).shape(7.0) is None
