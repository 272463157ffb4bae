"""ψ of products of lists against brute force: every combination, as far out as any test matters."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtri_exp

import epsilens as el
from epsilens.laws.composition.gdp_index import corner_gap


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
