"""ψ and μ from both sides of a profile: against 30 digits of the curves themselves, and never above a known one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri_exp

import epsilens as el
from epsilens.checks import Array
from epsilens.laws.composition.curve_integrals import from_below
from epsilens.laws.composition.evaluator import MOST_WORK, Budget
from epsilens.laws.composition.gdp_index import bounded_gap, gap_by_errors, largest_gap
from epsilens.laws.normal import Normal

MP = mp.MPContext()
MP.dps = 40


def probit(p: Any) -> Any:
    """Φ⁻¹ by Newton's steps on log Φ, from a double."""
    if p > 0.5:
        return -probit(1 - p)
    z = MP.mpf(float(ndtri_exp(float(MP.log(p)))))
    for _ in range(3):
        tail = MP.erfc(-z / MP.sqrt(2)) / 2
        z -= (tail - p) * MP.sqrt(2 * MP.pi) * MP.exp(z * z / 2)
    return z


def largest(errors: Callable[[Any], tuple[Any, Any]], low: float, high: float) -> float:
    """sup of Φ⁻¹(TPR) − Φ⁻¹(α) over thresholds between two, where it has one maximum."""

    def gap(x: Any) -> Any:
        alpha, recall = errors(x)
        return probit(recall) - probit(alpha)

    grid = np.linspace(low, high, 60)
    values = [gap(MP.mpf(float(x))) for x in grid]
    i = max(range(60), key=lambda j: values[j])
    a, b = MP.mpf(float(grid[max(i - 1, 0)])), MP.mpf(float(grid[min(i + 1, 59)]))
    for _ in range(60):
        c, d = a + (b - a) * 2 / 5, a + (b - a) * 3 / 5
        a, b = (a, d) if gap(c) > gap(d) else (c, b)
    return float(gap(a))


def laplace_tail(x: Any) -> Any:
    return MP.exp(-x) / 2 if x > 0 else 1 - MP.exp(x) / 2


@pytest.mark.parametrize(
    ("m", "rate"), [(61.472017592381974, 2.690679377946468e-10), (0.214, 8e-4), (1.7477, 0.001823), (3.0, 0.2)]
)
def test_psi_of_sampled_laplace(m: float, rate: float) -> None:
    """Beyond the two means the loss is constant and the curve straight: a threshold between them is the worst."""
    e, q = el.subsample(el.laplace(epsilon=m), rate=rate), MP.mpf(rate)

    def errors(x: Any) -> tuple[Any, Any]:
        return laplace_tail(x), (1 - q) * laplace_tail(x) + q * laplace_tail(x - MP.mpf(m))

    truth = largest(errors, 0.0, m)
    for one in (e, e.reverse()):
        low, high = one.bracket("psi")
        assert low <= truth * (1 + 1e-13)
        assert truth <= high * (1 + 1e-13)
        assert high - low <= 1e-3 * high
        assert one.law.reached


@pytest.mark.parametrize(
    ("sigma", "rate", "level"),
    [(4.0828, 1e-11, 6.8e-7), (0.8, 0.003, 1e-4), (2.0, 0.3, 1e-12), (4.08, 0.0122, 2.4e-6), (0.8115, 1e-6, 2.4e-4)],
)
def test_mu_of_one_rare_step(sigma: float, rate: float, level: float) -> None:
    """The gap of sampled normal noise grows as α falls: at the level it is the largest, in one order."""
    q, mu = MP.mpf(rate), 1 / MP.mpf(sigma)
    z = probit(MP.mpf(level))
    truth = float(probit((1 - q) * MP.mpf(level) + q * MP.erfc(-(z + mu) / MP.sqrt(2)) / 2) - z)
    e = el.dpsgd(sigma=sigma, rate=rate, steps=1)
    for one in (e, e.reverse()):
        low, high = one.bracket("mu", level=level)
        assert low <= truth * (1 + 1e-12)
        assert truth <= high * (1 + 1e-12)
        assert high - low <= 1e-3 * high
        assert one.law.reached


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "z"), [(0.402, 3e-8, 237, 16.8), (0.4, 1e-5, 23, 9.0), (0.8, 5e-4, 336, 13.5)]
)
def test_no_test_beats_mu_of_rare_steps(sigma: float, rate: float, steps: int, z: float) -> None:
    """Raising the alarm once some step shows more than z has both errors in closed form."""
    q, mu, b = MP.mpf(rate), 1 / MP.mpf(sigma), MP.mpf(z)
    loud, other = MP.erfc(b / MP.sqrt(2)) / 2, MP.erfc((b - mu) / MP.sqrt(2)) / 2
    alpha, recall = (-MP.expm1(steps * MP.log1p(-p)) for p in (loud, (1 - q) * loud + q * other))
    level = float(alpha)
    low, high = el.dpsgd(sigma=sigma, rate=rate, steps=steps).bracket("mu", level=level)
    assert high >= float(probit(recall) - probit(alpha)) * (1 - 1e-9)
    assert low <= high


@pytest.mark.parametrize("level", [1e-60, 1e-9, 1e-3, 0.3])
def test_errors_of_a_curve_that_says_little(level: float) -> None:
    low, high = gap_by_errors(Normal(np.asarray(0.9)), level, 0.9)
    assert low <= 0.9 * (1 + 1e-9)
    assert high >= 0.9 * (1 - 1e-9)


def normal_rest(mu: float) -> Callable[[Array], Array]:
    """h(e^u) − (1 − e^u)₊ of a normal shift, by logarithms."""

    def rest(u: Array) -> Array:
        v = np.abs(u)
        ahead, behind = log_ndtr(mu / 2 - v / mu), v + log_ndtr(-mu / 2 - v / mu)
        return np.asarray(np.exp(ahead) * -np.expm1(behind - ahead) * np.exp(np.minimum(u, 0.0)))

    return rest


@pytest.mark.parametrize("mu", [0.05, 0.9, 3.0])
@pytest.mark.parametrize("places", [7, 15, 40, 200])
def test_what_is_said_from_below_is_below(mu: float, places: int) -> None:
    """However far apart the places are: R(α) − α of a normal shift, whose curve is Φ(μ + Φ⁻¹(α))."""
    side = np.geomspace(0.01 * mu, 30 * mu, places)
    u = np.concatenate((-side[::-1], [0.0], side))
    r = normal_rest(mu)(u)
    at, under = from_below(u, r * (1 - 1e-12), r * (1 + 1e-12))
    for z in (-30.0, -20.0, -8.0, -3.0, -0.5, 0.0, 1.0):
        alpha = float(ndtr(z))
        found = under + np.expm1(np.maximum(at, 0.0)) * alpha - np.expm1(np.minimum(at, 0.0)) * (1 - alpha)
        assert found.min() <= (float(ndtr(mu + z)) - alpha) * (1 + 1e-9)


@pytest.mark.parametrize("mu", [1e-6, 0.05, 0.9, 4.0])
@pytest.mark.parametrize("level", [1e-60, 1e-9, 1e-3, 0.3])
def test_a_normal_shift_is_itself(mu: float, level: float) -> None:
    rest = normal_rest(mu)
    for symmetric in (True, False):
        low, high = largest_gap(
            lambda u, slack: (rest(u) * (1 - 1e-12), rest(u) * (1 + 1e-12)),
            (-np.inf, np.inf), level, 1e-3, symmetric=symmetric,
        )  # fmt: skip
        assert low <= mu * (1 + 1e-9)
        assert mu <= high * (1 + 1e-9)
        assert high - low <= 3e-3 * mu  # the gap is the largest everywhere: nothing is harder to bound


def test_errors_themselves() -> None:
    for mu, level in ((7.0, 1e-9), (7.0, 1e-3), (12.0, 1e-12)):
        low, high = gap_by_errors(Normal(np.asarray(mu)), level, mu)
        assert low == pytest.approx(mu, rel=1e-9)
        assert mu * (1 - 1e-9) <= high < 1.06 * mu


def test_nothing_told() -> None:
    def nothing(u: Array, slack: float) -> tuple[Array, Array]:
        return np.zeros(u.size), np.zeros(u.size)

    assert largest_gap(nothing, (-1.0, 1.0), 1e-3, 1e-3, symmetric=True) == (0.0, 0.0)
    assert bounded_gap(nothing, (-1.0, 1.0), 1e-3, symmetric=True) == (0.0, 0.0)


@pytest.mark.parametrize(("epsilon", "rate", "steps", "tilt"), [(9.63, 1.8e-5, 35, 50.0), (8.0, 1e-4, 20, 50.0)])
def test_psi_where_every_loss_is_the_largest(
    epsilon: float, rate: float, steps: int, tilt: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The curve near its end by one tilted transform of a fine grid, which a few of its points make out."""
    made: list[Budget] = []
    begin = Budget.__init__

    def counted(self: Budget, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(Budget, "__init__", counted)
    x, h = np.linspace(-60.0, epsilon + 60.0, 2_000_001, retstep=True)
    loss = np.log1p(rate * np.expm1(np.clip(np.abs(x) - np.abs(x - epsilon), -epsilon, epsilon)))
    least, dt, n = math.log1p(rate * math.expm1(-epsilon)), 2e-5, 2**19
    at = (loss - least) / dt
    cell = np.floor(at).astype(int)
    mass = np.exp((1 + tilt) * loss - np.abs(x)) * h / 2
    p = np.bincount(cell, mass * (cell + 1 - at), n) + np.bincount(cell + 1, mass * (at - cell), n)
    r = np.fft.irfft(np.fft.rfft(p / p.sum()) ** steps, n)
    losses = steps * least + dt * np.arange(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(np.where(r > 1e-13 * r.max(), r, 0.0)) + steps * math.log(p.sum()) - tilt * losses
        recall, alpha = (np.logaddexp.accumulate(v[::-1])[::-1] for v in (log_p, log_p - losses))
        gaps = ndtri_exp(np.minimum(recall, 0.0)) - ndtri_exp(np.minimum(alpha, 0.0))
    truth = float(np.max(gaps[(r > 1e-13 * r.max()) & (recall < -1)]))
    e = el.subsample(el.laplace(epsilon=epsilon), rate).repeat(steps)
    low, high = e.bracket("psi")
    assert low <= truth * (1 + 1e-4)
    assert truth * (1 - 1e-4) <= high
    assert high - low < 0.02 * high
    assert e.law.reached == (high - low <= 1e-3 * high)
    assert sum(one.spent for one in made) < 2 * MOST_WORK
