"""Characteristic functions of tilted steps: as exact as they claim, and below the bound that is summed to infinity.

The truth is a dense quadrature in extended precision, from densities written out here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
import pytest

from epsilens.laws.composition.step import Atoms, Step, TiltedLoss
from epsilens.laws.composition.tilt import LaplaceTilts, NormalTilts, frequency, slabs, tilted
from epsilens.laws.composition.wrappers import LabelledSampleStep, ReversedStep, SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep, LaplaceStep
from epsilens.laws.logistic import LogisticStep
from epsilens.laws.normal import NormalReplacementStep, NormalStep

X = np.longdouble
U = 2.0**-53
LOG_2PI = np.log(8 * np.arctan(X(1)))

pytestmark = pytest.mark.skipif(bool(np.finfo(X).eps > 1e-18), reason="needs extended precision")


def _legendre(n: int) -> tuple[Any, Any]:
    x: Any = np.polynomial.legendre.leggauss(n)[0].astype(X)
    rise: Any = np.ones(n, X)
    for _ in range(3):
        before: Any = np.ones(n, X)
        here: Any = x.copy()
        for k in range(2, n + 1):
            before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
        rise = n * (x * here - before) / (x * x - 1)
        x = x - here / rise
    return x, 2 / ((1 - x * x) * rise * rise)


NODES, WEIGHTS = _legendre(32)


def mix(loss: Any, rate: float) -> Any:
    q, loss = X(rate), np.asarray(loss, X)
    return np.where(loss > -1, np.log1p(q * np.expm1(loss)), np.log((1 - q) + q * np.exp(np.minimum(loss, X(0)))))


def density(step: Step, x: Any) -> tuple[Any, Any]:
    """Log density under H0, and the loss."""
    if isinstance(step, SampledStep | LabelledSampleStep):
        p, loss = density(step.base, x)
        return (p, mix(loss, step.rate)) if isinstance(step, SampledStep) else (p + np.log(X(step.rate)), loss)
    if isinstance(step, ReversedStep):
        p, loss = density(step.base, -x)
        return p + loss, -loss
    if isinstance(step, NormalStep):
        mu = X(step.mu)
        return -(x * x + LOG_2PI) / 2, mu * (x - mu / 2)
    if isinstance(step, NormalReplacementStep):
        mu = X(step.mu)
        up, down = (mix(sign * mu * x - mu * mu / 2, step.rate) for sign in (1, -1))
        return -(x * x + LOG_2PI) / 2 + down, up - down
    if isinstance(step, LaplaceStep):
        return -x - np.log(X(2)), 2 * x - X(step.m)
    if isinstance(step, LogisticStep):
        return -x / 2 - np.log(4 * np.sinh(X(step.epsilon) / 2)), x
    assert isinstance(step, LaplaceReplacementStep)
    low, high = (-np.abs(x) + mix(np.abs(x) - np.abs(x + s * X(step.m)), step.rate) for s in (1, -1))
    return low - np.log(X(2)), high - low


def atoms(step: Step) -> tuple[Any, Any]:
    """Log masses under H1, and the losses."""
    if isinstance(step, FiniteStep):
        return step.atoms.log_p.astype(X), step.atoms.loss.astype(X)
    if isinstance(step, LaplaceStep):
        m = X(step.m)
        return np.array([-m, X(0)]) - np.log(X(2)), np.array([-m, m])
    if isinstance(step, LaplaceReplacementStep):
        m = X(step.m)
        top, log_p = mix(m, step.rate) - mix(-m, step.rate), mix(m, step.rate) - m - np.log(X(2))
        return np.array([log_p - top, log_p]), np.array([-top, top])
    if isinstance(step, NormalStep | NormalReplacementStep | LogisticStep):
        return np.zeros(0, X), np.zeros(0, X)
    assert isinstance(step, SampledStep | LabelledSampleStep | ReversedStep)
    log_p, loss = atoms(step.base)
    if isinstance(step, ReversedStep):
        return log_p - loss, -loss
    if isinstance(step, LabelledSampleStep):
        return np.append(log_p + np.log(X(step.rate)), np.log1p(-X(step.rate))), np.append(loss, X(0))
    return log_p - loss + mix(loss, step.rate), mix(loss, step.rate)


def characteristic(
    step: Step, flipped: bool, tilt: float, reach: tuple[float, float], y: Any, centre: float
) -> tuple[Any, Any]:
    """(log E e^{λL}, E e^{iy(L − centre)} of the tilted law), between two places."""
    inside = [X(k) for k in step.knots if reach[0] < k < reach[1]]
    cuts = np.unique(np.concatenate((np.linspace(X(reach[0]), X(reach[1]), 49), np.asarray(inside, X))))
    for _ in range(12):
        change = np.diff(cuts) * (np.maximum(np.abs(cuts[1:]), np.abs(cuts[:-1])) + 12) / 6
        change += np.abs(np.diff(density(step, cuts)[1])) * (1 + tilt + float(np.max(y))) / 6
        pieces = np.maximum(np.ceil(change), 1).astype(int)
        if pieces.max() == 1:
            break
        rank = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        cuts = np.append(np.repeat(cuts[:-1], pieces) + rank * np.repeat(np.diff(cuts) / pieces, pieces), cuts[-1])
    cuts = np.unique(cuts)
    width = np.diff(cuts)[:, None]
    p0, loss = density(step, (cuts[:-1, None] + width * (1 + NODES) / 2).ravel())
    log_p = p0 + loss + np.log((width / 2 * WEIGHTS).ravel())
    log_p, loss = (np.concatenate(both) for both in zip(atoms(step), (log_p, loss), strict=True))
    if flipped:
        log_p, loss = log_p - loss, -loss
    log_weight = log_p + X(tilt) * loss
    weight = np.exp(log_weight - log_weight.max())
    total = weight.sum()
    scale = log_weight.max() + np.log(total)
    seen = weight > 1e-30 * total
    weight, loss = weight[seen] / total, loss[seen] - X(centre)
    return scale, np.array([weight @ np.cos(X(v) * loss) + 1j * (weight @ np.sin(X(v) * loss)) for v in y])


STEPS: list[Step] = [
    SampledStep(NormalStep(1.0), 0.05),
    SampledStep(NormalStep(2.0), 0.1),
    SampledStep(NormalStep(1e-5), 0.5),
    SampledStep(NormalStep(0.5), 1 - 1e-9),
    ReversedStep(SampledStep(NormalStep(2.0), 0.2)),
    SampledStep(SampledStep(NormalStep(1.0), 0.3), 0.1),
    SampledStep(ReversedStep(SampledStep(NormalStep(1.0), 0.3)), 0.1),
    NormalReplacementStep(1.0, 0.1),
    NormalReplacementStep(3.0, 1e-4),
    SampledStep(NormalReplacementStep(1.0, 0.2), 0.3),
    LaplaceStep(1.0),
    LaplaceStep(20.0),
    SampledStep(LaplaceStep(2.0), 0.1),
    SampledStep(LaplaceStep(1e-4), 1e-3),
    LaplaceReplacementStep(1.0, 0.3),
    LaplaceReplacementStep(4.0, 1e-5),
    LabelledSampleStep(NormalReplacementStep(2.0, 0.3), 0.2),
    ReversedStep(LabelledSampleStep(LaplaceStep(3.0), 1e-3)),
    LogisticStep(1.0),
    SampledStep(LogisticStep(4.0), 0.1),
]


def _law(step: Step, flipped: bool, tilt: float, level: float) -> tuple[TiltedLoss, tuple[float, float], float] | None:
    reach = step.cutoffs(level, level)
    rough = tilted(step, flipped, tilt, reach, 1.0)
    if rough is None:
        return None
    steepest = 16 / math.sqrt(rough.variance)
    span = abs(float(np.ptp(step.loss(np.asarray(reach)))))
    if (1 + tilt + steepest) * span > 1500:
        return None  # too many nodes for the truth to be quick
    law = tilted(step, flipped, tilt, reach, steepest)
    assert law is not None
    return law, reach, steepest


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_transforms_are_as_exact_as_they_claim_and_below_their_bound(step: Step, flipped: bool) -> None:
    tried = 0
    for tilt in (1e-3, 2.0, 60.0, 1e3, 1e5):
        found = _law(step, flipped, tilt, -18.0)
        if found is None:
            continue
        law, reach, steepest = found
        h = steepest / 9
        near, far = h * np.arange(10), np.geomspace(0.3, 10.0, 6) * steepest
        scale, truth = characteristic(step, flipped, tilt, reach, np.concatenate((near, far)), law.mean)
        assert abs(float(scale - X(law.log_scale))) <= law.rho
        assert (np.abs(law.transform(h, 10) - truth[:10]) <= law.rho + law.kappa * near + 16 * U).all()
        assert (np.abs(truth) <= law.decay(np.concatenate((near, far))) + 1e-15).all()
        tried += 1
    assert tried >= 1


def test_a_small_loss_sampled_often_is_as_exact_as_it_claims() -> None:
    for step in (
        SampledStep(NormalStep(1e-7), 0.7),
        SampledStep(LaplaceStep(1e-6), 0.9),
        LaplaceReplacementStep(1e-7, 0.8),
    ):
        x = np.linspace(*step.cutoffs(-30.0, -30.0), 41)
        assert (np.abs(step.loss(x) - density(step, x.astype(X))[1]) <= step.error(x)).all()


def test_atoms_alone_do_not_fall() -> None:
    law = tilted(FiniteStep(Atoms(np.array([-1.0, 1.0]), np.log([0.3, 0.7]))), False, 1.0, (0.0, 0.0), 1.0)
    assert law is not None
    assert (law.decay(np.geomspace(0.1, 1e6, 20)) == 1).all()


def test_a_uniform_law_is_one_slab() -> None:
    loss = np.linspace(0.0, 2.0, 401)
    found = slabs(loss, np.full(401, math.log(0.5)), np.zeros(400))
    y = np.linspace(0.01, 60.0, 3000)
    assert found.mass.sum() <= 1 + 1e-12
    assert (np.abs(np.sinc(y / math.pi)) <= found.bound(y) + 1e-12).all()
    assert (np.diff(found.bound(y)) <= 1e-15).all()


@pytest.mark.parametrize(("mu", "count", "tilt"), [(1.0, 1, 0.5), (0.01, 400, 30.0), (1e-6, 10, 1e4)])
def test_the_frequencies_left_out_are_bounded(mu: float, count: int, tilt: float) -> None:
    law = NormalTilts(mu).at(tilt)
    sd = mu * math.sqrt(count)
    for wanted in _falling(tilt, sd):
        most, bound = frequency([(law.decay, count)], tilt, sd, wanted)
        y = np.linspace(most, most + 12 / sd, 200_001)
        rest = np.exp(-0.5 * (sd * y) ** 2) / np.sqrt((tilt**2 + y**2) * ((tilt + 1) ** 2 + y**2)) / math.pi
        assert float(rest[1:].sum() * (y[1] - y[0])) <= bound <= wanted


def _falling(tilt: float, sd: float) -> Sequence[float]:
    whole = 1 / (sd * tilt * (tilt + 1))
    return [whole * share for share in (1e-2, 1e-8, 1e-16)]


# Tilted laws in closed form: against mpmath. Characteristic functions are in test_transform.


@pytest.mark.parametrize("tilt", [1e-3, 1.0, 1e5])
def test_a_normal_step_stays_normal(tilt: float) -> None:
    law = tilted(NormalStep(0.3), False, tilt, (0.0, 0.0), 1.0)
    assert law is not None
    assert law.uncut
    assert law.log_scale == pytest.approx(tilt * (tilt + 1) * 0.045, rel=1e-14)
    s = np.array([-tilt, 0.5, 3.0])
    there = (tilt + s) * (tilt + s + 1) * 0.045
    assert law.log_moment(s) == pytest.approx(there - law.log_scale, rel=1e-9, abs=1e-12 * law.log_scale)
    tilts = NormalTilts(0.3)
    k_of, (mean, variance) = tilts.cumulant(np.array([tilt])), tilts.spread(np.array([tilt]))
    assert (k_of[0], mean[0], variance[0]) == (law.log_scale, pytest.approx(law.mean), law.variance)


def _moment(m: float, power: float, j: int = 0) -> mpmath.mpf:
    """E L^j e^{λL} under H1: atoms ½ at m and ½e^{−m} at −m, density ½e^{x−m} at L = 2x − m between."""
    m, power = mpmath.mpf(m), mpmath.mpf(power)
    ends = (m**j * mpmath.exp(power * m) + (-m) ** j * mpmath.exp(-m - power * m)) / 2
    cuts = mpmath.linspace(0, m, 9)
    return ends + mpmath.quad(lambda x: (2 * x - m) ** j * mpmath.exp(x - m + power * (2 * x - m)), cuts) / 2


@pytest.mark.parametrize("m", [1e-7, 0.05, 1.0, 12.0])
@pytest.mark.parametrize("tilt", [-3.0, -0.5, -0.2, 0.0, 1e-3, 2.0, 40.0])
def test_laplace(m: float, tilt: float) -> None:
    with mpmath.workdps(60):
        whole, first, second = (_moment(m, tilt, j) for j in range(3))
        truth = mpmath.log(whole), first / whole, second / whole - (first / whole) ** 2
    tilts = LaplaceTilts(m)
    k_of, (mean, variance) = tilts.cumulant(np.asarray(tilt)), tilts.spread(np.asarray(tilt))
    law = tilts.at(tilt)
    assert abs(float(k_of) - float(truth[0])) <= (law.rho if law is not None else 1e-9)
    assert float(mean) == pytest.approx(float(truth[1]), rel=1e-6, abs=1e-5 * m)
    assert float(variance) == pytest.approx(float(truth[2]), rel=1e-5)
    if law is not None:
        s = np.array([-tilt, -0.4 * tilt, 0.7, 5.0])
        there = [float(mpmath.log(_moment(m, tilt + v)) - mpmath.log(_moment(m, tilt))) for v in s]
        assert law.log_moment(s) == pytest.approx(there, rel=1e-11, abs=law.rho_beside)


def test_bounds_fall() -> None:
    y = np.geomspace(1e-4, 1e6, 4000)
    for m in (1e-6, 0.05, 1.0, 30.0):
        for tilt in (1e-3, 1.0, 50.0):
            law = LaplaceTilts(m).at(tilt)
            assert law is not None
            bound = law.decay(y)
            assert (np.diff(bound) <= 1e-15).all()
            assert (bound <= 1 + 1e-11).all()


def test_a_tilt_below_zero_takes_quadrature() -> None:
    assert LaplaceStep(1.0).closed_tilts.at(-0.3) is None
