"""ψ of bounded losses: inside its bracket, by exact products and by binomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import mpmath as mp
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri_exp
from scipy.stats import binom

import epsilens as el
from epsilens.checks import Array
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.evaluator import MOST_WORK, Budget
from epsilens.laws.composition.gdp_index import bounded_gap, corner_gap, gap_by_errors, largest_gap
from epsilens.laws.composition.quadrature import from_below
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.wrappers import SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceStep, laplace_product
from epsilens.laws.normal import Normal


def bracket(law: ComposedLaw) -> tuple[float, float]:
    return float(law.other_side().psi()), float(law.psi())


@pytest.mark.parametrize(("m", "count"), [(0.05, 4), (0.3, 3), (2.0, 3)])
def test_laplace(m: float, count: int) -> None:
    low, high = bracket(ComposedLaw([(LaplaceStep(m), count)]))
    assert low <= float(laplace_product(m, count).psi()) <= high
    assert high <= low * 1.005


def corners(count: int, p: float) -> Array:
    """Φ⁻¹ of P(more than j successes), from whichever tail is smaller."""
    log_pmf = binom.logpmf(np.arange(count + 1), count, p)
    above, below = np.logaddexp.accumulate(log_pmf[:0:-1])[::-1], np.logaddexp.accumulate(log_pmf[:-1])
    return np.asarray(np.where(above < below, ndtri_exp(np.minimum(above, 0)), -ndtri_exp(np.minimum(below, 0))))


@pytest.mark.parametrize(("down", "up", "count"), [(0.2, 0.2, 150), (0.05, 0.4, 60), (1.5, 1.5, 9)])
def test_two_losses(down: float, up: float, count: int) -> None:
    """The gap is largest at a corner of a binomial's ROC curve, in one order or the other."""
    q = -math.expm1(-down) / (math.exp(up) - math.exp(-down))
    step = FiniteStep(Atoms(np.array([-down, up]), np.log([(1 - q) * math.exp(-down), q * math.exp(up)])))
    low, high = bracket(ComposedLaw([(step, count)]))
    ahead, behind = (corners(count, p) for p in (q * math.exp(up), q))
    truth = float(np.max(ahead - behind))
    assert low * (1 - 1e-12) <= truth <= high * (1 + 1e-12)
    assert high <= low * 1.005


@pytest.mark.parametrize("step", [LaplaceStep(0.02), SampledStep(LaplaceStep(0.5), 0.3)])
def test_no_test_shows_more(step: Step) -> None:
    law = ComposedLaw([(step, 400)])
    low, high = bracket(law)
    assert high <= low * 1.005
    log_alpha = -np.geomspace(0.8, 600.0, 40)
    for one in (law, law.reverse()):
        recall = np.log(one.other_side().roc(np.exp(log_alpha)))
        assert (ndtri_exp(recall) - ndtri_exp(log_alpha) <= high * (1 + 1e-9)).all()


# ψ and μ from both sides of a profile: against 30 digits of the curves themselves, and never above a known one.

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


# ψ of products of lists against brute force: every combination, as far out as any test matters.


def _normal(sigma: float, far: int, drawn: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """log masses of H0 and H1, from the definition."""
    k = np.arange(-far, far + 2.0)
    total = float(mpmath.log(mpmath.nsum(lambda j: mpmath.exp(-(j**2) / (2 * mpmath.mpf(sigma) ** 2)), [-400, 400])))
    q, p = (-((k - d) ** 2) / (2 * sigma**2) - total for d in (0, 1))
    return _drawn(q, p, drawn)


def _skellam(variance: float, far: int, drawn: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    one = [float(mpmath.log(mpmath.besseli(j, variance)) - variance) for j in range(far + 2)]
    q, p = (np.asarray([one[abs(k - d)] for k in range(-far, far + 1)]) for d in (0, 1))
    return _drawn(q, p, drawn)


def _pure(epsilon: float, drawn: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    p = np.asarray([0.0, epsilon]) - math.log1p(math.exp(epsilon))
    return _drawn(p[::-1], p, drawn)


def _drawn(q: np.ndarray, p: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    return (q, p) if rate == 1 else (q, np.logaddexp(math.log1p(-rate) + q, math.log(rate) + p))


def _largest(*lists: tuple[np.ndarray, np.ndarray]) -> float:
    """The largest gap of the corners with a loss of one sign, in each order."""
    q, p = (np.add.reduce(np.meshgrid(*side, indexing="ij")).ravel() for side in zip(*lists, strict=True))
    best = 0.0
    for here, there in ((q, p), (p, q)):
        order = np.argsort(here - there, kind="stable")  # rising: the largest there − here first
        order = order[(there - here)[order] >= 0]
        alpha, recall = (np.logaddexp.accumulate(v[order]) for v in (here, there))
        low = recall < math.log(0.5)
        missed = np.log(-np.expm1(np.minimum(recall, -1e-16)))
        z = np.where(low, ndtri_exp(np.minimum(recall, 0.0)), -ndtri_exp(missed))
        best = max(best, float(np.max(z - ndtri_exp(np.minimum(alpha, 0.0)))))
    return best


CASES: dict[str, tuple[Callable[[], tuple[Any, ...]], Callable[[], tuple[Any, ...]], float, float]] = {
    "pure and a rare draw of normal noise": (
        lambda: (
            el.mechanisms.pure(epsilon=0.37),
            el.subsample(el.mechanisms.discrete_gaussian(sigma=2.1), rate=0.001),
        ),
        lambda: (_pure(0.37), _normal(2.1, 4000, 0.001)),
        1 / 2.1,
        1e-3,
    ),
    "pure and normal noise": (
        lambda: (el.mechanisms.pure(epsilon=1.5), el.mechanisms.discrete_gaussian(sigma=0.8)),
        lambda: (_pure(1.5), _normal(0.8, 400)),
        1 / 0.8,
        1e-3,
    ),
    "a draw of pure and one of Skellam noise": (
        lambda: (
            el.subsample(el.mechanisms.pure(epsilon=0.5), rate=0.02),
            el.subsample(el.mechanisms.skellam(variance=4.0), rate=0.003),
        ),
        lambda: (_pure(0.5, 0.02), _skellam(4.0, 3000, 0.003)),
        0.0,
        1e-3,
    ),
    "two Skellam noises": (
        lambda: (el.mechanisms.skellam(variance=0.7), el.mechanisms.skellam(variance=1.3)),
        lambda: (_skellam(0.7, 250), _skellam(1.3, 250)),
        0.0,
        1e-3,
    ),
    "Skellam noise and a draw of normal noise": (
        lambda: (
            el.mechanisms.skellam(variance=0.9),
            el.subsample(el.mechanisms.discrete_gaussian(sigma=0.73), rate=0.1),
        ),
        lambda: (_skellam(0.9, 300), _normal(0.73, 60, 0.1)),
        1 / 0.73,
        0.05,
    ),
    "two normal noises": (
        lambda: (el.mechanisms.discrete_gaussian(sigma=1.28), el.mechanisms.discrete_gaussian(sigma=1.585)),
        lambda: (_normal(1.28, 90), _normal(1.585, 110)),
        math.hypot(1 / 1.28, 1 / 1.585),
        0.01,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_psi_of_a_product_of_lists(case: str) -> None:
    made, masses, limit, width = CASES[case]
    low, high = el.compose(*made()).bracket("psi")
    truth = max(_largest(*masses()), limit)  # the limit as α → 0, and all on the way there
    assert truth <= high * (1 + 1e-12)
    assert low <= truth * (1 + 1e-9)
    assert high - low <= width * high


def test_a_bounded_product_is_known_to_all_digits() -> None:
    e = el.compose(
        el.mechanisms.geometric(epsilon=0.9, sensitivity=3),
        el.subsample(el.mechanisms.pure(epsilon=2.0), rate=0.3),
        width=1e-9,
    )
    r = mpmath.exp(-mpmath.mpf(0.9) / 3)
    norm = (1 - r) / (1 + r)
    counts = [0, 1, 2, 3]
    p = [norm * r ** (3 - i) / (1 if 0 < i < 3 else 1 - r) for i in counts]
    q = [norm * r**i / (1 if 0 < i < 3 else 1 - r) for i in counts]
    a = 1 / (1 + mpmath.exp(2))
    other = [
        (a, (1 - a) * mpmath.mpf("0.3") + a * mpmath.mpf("0.7")),
        (1 - a, a * mpmath.mpf("0.3") + (1 - a) * mpmath.mpf("0.7")),
    ]
    pairs = sorted(
        ((x * u, y * v) for (x, y), (u, v) in product(zip(q, p, strict=True), other)), key=lambda w: w[0] / w[1]
    )
    alpha = recall = mpmath.mpf(0)
    best = mpmath.mpf(0)

    def probit(x: Any) -> Any:
        return mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1)

    for x, y in pairs[:-1]:
        alpha, recall = alpha + x, recall + y
        best = max(best, probit(recall) - probit(alpha))
    law: Any = e.law
    found = corner_gap(law.steps(), symmetric=False)
    assert found is not None
    low, high = found
    assert low <= float(best) <= high
    assert high - low < 1e-7 * high


def test_far_below_what_doubles_hold() -> None:
    """Two answers of ε = 600: errors of e^{−600}, whose product is no double."""
    low, high = el.compose(el.mechanisms.pure(epsilon=600.0), el.mechanisms.pure(epsilon=601.0), width=1e-3).bracket(
        "psi"
    )
    truth = -2 * float(ndtri_exp(-600.0))  # at least that of one answer
    assert high >= truth
    assert low <= high


def _gap(psi: float, epsilon: float, t: float) -> float:
    """Of the threshold t ≥ 0, by quadrature over the loss of the Laplace answer."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x = (nodes + 1) / 2
    loss = np.concatenate(([-epsilon, epsilon], epsilon * (2 * x - 1)))
    mass = np.concatenate(([0.5, 0.5 * math.exp(-epsilon)], weights / 2 * epsilon / 2 * np.exp(-epsilon * x)))

    def log_sum(sign: float, grown: float) -> float:
        """Of H0 where the loss is above sign·t, or of H1 with ``grown``."""
        away = (loss - sign * t) / psi + (grown - 0.5) * psi
        return float(np.logaddexp.reduce(np.log(mass) + grown * loss + log_ndtr(away)))

    alpha, recall = log_sum(1, 0), log_sum(1, 1)
    # both orders are alike: as many are missed at t as are flagged at −t
    hit = float(ndtri_exp(recall)) if recall < math.log(0.5) else -float(ndtri_exp(log_sum(-1, 0)))
    return hit - float(ndtri_exp(alpha))


@pytest.mark.parametrize(("psi", "epsilon", "width"), [(0.5, 0.4, 1e-3), (1.2, 0.15, 5e-3), (0.05, 0.3, 1e-3)])
def test_psi_of_normal_and_bounded_noise(psi: float, epsilon: float, width: float) -> None:
    low, high = el.compose(el.gaussian(psi=psi), el.laplace(epsilon=epsilon)).bracket("psi")
    places = np.linspace(0.0, 40 * psi + epsilon, 2001)
    truth = max(_gap(psi, epsilon, t) for t in places)
    assert truth <= high * (1 + 1e-10)
    assert low <= truth * (1 + 1e-5)  # the places are so far apart
    assert high - low <= width * high


def test_psi_of_sampled_normal_noise_and_a_sampled_laplace_answer() -> None:
    """In the tails the normal noise looks unsampled, and nothing beside it counts."""
    e = el.compose(el.dpsgd(sigma=1.0, rate=0.013, steps=1), el.subsample(el.laplace(epsilon=0.4), rate=0.001))
    low, high = e.bracket("psi")
    assert low <= 1.0 <= high <= 1.001 * low


def test_a_delta_above_the_total_variation_needs_no_epsilon() -> None:
    e = el.subsample(el.mechanisms.discrete_gaussian(sigma=0.27), rate=2e-9).repeat(3)
    assert e.bracket("epsilon", delta=1e-6) == (0.0, 0.0)
    assert e.bracket("epsilon", delta=5e-9)[1] > 0  # TV is 6e-9, about


# The area under the curve and the best Fβ of products: closed forms of one step, and what holds of any law.


def _one_step_auc(sigma: float, rate: float, replace: bool) -> mp.mpf:
    """P(X₁ > X₀) − ½: the loss grows with the observation."""
    with mp.workdps(40):
        mu, q = 1 / mp.mpf(sigma), mp.mpf(rate)
        once, twice = mp.ncdf(mu / mp.sqrt(2)) - 0.5, mp.ncdf(2 * mu / mp.sqrt(2)) - 0.5
        return 2 * q * (1 - q) * once + q * q * twice if replace else q * once


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.3, 1e-9), (5.0, 0.5), (1e4, 1e-5), (0.05, 1e-3)])
def test_auc_of_one_step(sigma: float, rate: float, neighbours: str) -> None:
    e = el.dpsgd(sigma=sigma, rate=rate, steps=1, neighbours=neighbours)
    truth = _one_step_auc(sigma, rate, neighbours == "replace")
    low, high = e.bracket("auc")
    assert low - 0.5 <= truth + 1e-15
    assert truth <= high - 0.5 + 1e-15
    assert high - low <= 5e-3 * (high - 0.5) + 1e-14


@pytest.mark.parametrize(
    ("sigma", "rate", "steps"), [(0.2, 1e-12, 3), (0.8, 1e-5, 17), (1e3, 1e-5, 100), (1.0, 1e-6, 10**6)]
)
def test_auc_lies_between_the_triangle_and_its_parallel(sigma: float, rate: float, steps: int) -> None:
    # the curve passes through the best test and lies below the line of slope 1 through it
    for neighbours in ("add-remove", "replace"):
        e = el.dpsgd(sigma=sigma, rate=rate, steps=steps, neighbours=neighbours)
        (tv, most), (low, high) = e.bracket("advantage"), e.bracket("auc")
        assert 0.5 + tv / 2 <= high + 1e-15
        assert low <= 0.5 + most - most * most / 2 + 1e-15
        assert high - low <= 5e-2 * (high - 0.5) + 1e-14


def test_auc_of_many_normal_steps() -> None:
    psi = 1.0
    pair = el.compose(el.gaussian(psi=psi), el.laplace(epsilon=1e-9))
    low, high = pair.bracket("auc")
    with mp.workdps(30):
        truth = mp.ncdf(mp.mpf(psi) / mp.sqrt(2))
    assert low <= truth + 1e-9
    assert truth <= high


@pytest.mark.parametrize("prior", [1e-12, 1e-3, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.01), (0.3, 1e-6), (100.0, 0.1)])
def test_fbeta_of_one_step(sigma: float, rate: float, prior: float) -> None:
    beta, c, mu = 1.0, (1 - prior) / prior, 1 / sigma
    with mp.workdps(30):
        # thresholds from flagging everyone to next to nobody, then closer around the best
        def value(x: mp.mpf) -> mp.mpf:
            alpha = mp.ncdf(-x)
            recall = (1 - rate) * alpha + rate * mp.ncdf(mu - x)
            return (1 + beta**2) * recall / (recall + c * alpha + beta**2)

        around, reach = mp.mpf(0), mp.mpf(20)
        for _ in range(12):
            places = [around + reach * mp.mpf(i) / 20 for i in range(-20, 21)]
            around = max(places, key=value)
            reach /= 8
        best = max(value(around), 1 / (1 + c / (1 + beta**2)))
    e = el.dpsgd(sigma=sigma, rate=rate, steps=1)
    low, high = e.bracket("fbeta", beta=beta, prior=prior)
    assert low <= best * (1 + 4e-15)
    assert best <= high * (1 + 4e-15)
    assert high - low <= 4e-3 * (high - 1 / (1 + c / (1 + beta**2))) + 1e-14 * high


def test_a_wide_answer_says_so() -> None:
    e = el.dpsgd(sigma=0.03, rate=0.5, steps=17, neighbours="replace")
    low, high = e.bracket("auc")
    assert e.law.reached is (high - low <= 4e-3 * (high - 0.5) + 1e-14)
    assert low >= 0.9
    assert math.isclose(high, 1.0, rel_tol=1e-6)


def test_readings_of_arrays() -> None:
    e = el.dpsgd(sigma=1.0, rate=0.01, steps=50)
    priors = np.asarray([0.1, 0.5])
    assert np.array_equal(e.fbeta(prior=priors), [e.fbeta(prior=0.1), e.fbeta(prior=0.5)])
