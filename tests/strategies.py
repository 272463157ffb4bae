"""Random experiments for the identity tests: finite pairs with zero atoms, and every mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.laws.lines import NormalLaplace

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.piecewise import ClampedLaw, LaplaceMixture, NormalMixture, PiecewiseLaw


def positive(low: float, high: float) -> st.SearchStrategy[float]:
    """Log-uniform numbers."""
    return st.floats(float(np.log(low)), float(np.log(high))).map(lambda x: float(np.exp(x)))


@st.composite
def masses(draw: st.DrawFn, size: int, zeros: bool = True) -> list[float]:
    """Probabilities of ``size`` outcomes; some may be 0, some tiny."""
    weight = st.one_of(st.just(0.0), positive(1e-12, 1e-3), positive(1e-3, 1.0)) if zeros else positive(1e-3, 1.0)
    weights = draw(st.lists(weight, min_size=size, max_size=size))
    if sum(weights) < 1e-3:
        weights[draw(st.integers(0, size - 1))] = 1.0
    total = float(np.sum(weights))
    return [w / total for w in weights]


@st.composite
def finite_pairs(draw: st.DrawFn, zeros: bool = True, most: int = 8) -> tuple[list[float], list[float]]:
    """Two lists of probabilities over the same outcomes."""
    size = draw(st.integers(2, most))
    return draw(masses(size, zeros)), draw(masses(size, zeros))


@st.composite
def closed_forms(draw: st.DrawFn) -> Experiment:
    """Laplace and Gaussian shifts, the Laplace also stretched."""
    kind = draw(st.sampled_from(["laplace", "gaussian", "stretch"]))
    if kind == "laplace":
        return el.laplace(epsilon=draw(positive(1e-3, 40.0)))
    if kind == "gaussian":
        return el.gaussian(psi=draw(positive(1e-2, 8.0)))
    theta = draw(st.sampled_from([0.2, 0.5, 0.9, 1.1, 1.5, 4.0]))
    return el.laplace(epsilon=draw(positive(1e-2, 10.0)), stretch=theta)


def _discrete(kind: str, x: float, n: int) -> Experiment:
    outcomes = np.arange(n + 2.0)
    build: dict[str, Any] = {
        "geometric": lambda: el.mechanisms.geometric(epsilon=x, sensitivity=n),
        "discrete_gaussian": lambda: el.mechanisms.discrete_gaussian(sigma=1 / x + 0.3, sensitivity=1),
        "skellam": lambda: el.mechanisms.skellam(variance=1 / x + 0.3, sensitivity=n),
        "randomized_response": lambda: el.mechanisms.randomized_response(epsilon=x, k=n + 1),
        "exponential": lambda: el.mechanisms.exponential(
            scores0=3 * np.sin(outcomes), scores1=3 * np.sin(outcomes) + outcomes % 2, epsilon=x
        ),
        "staircase": lambda: el.mechanisms.staircase(epsilon=x),
        "pure": lambda: el.mechanisms.pure(epsilon=x),
        "approximate": lambda: el.mechanisms.approximate(epsilon=x, delta=0.01 * n),
    }
    experiment: Experiment = build[kind]()
    return experiment


DISCRETE = (
    "geometric", "discrete_gaussian", "skellam", "randomized_response", "exponential", "staircase", "pure",
    "approximate",
)  # fmt: skip


@st.composite
def discrete_mechanisms(draw: st.DrawFn) -> Experiment:
    """Every mechanism with finitely many likelihood ratios."""
    return _discrete(draw(st.sampled_from(DISCRETE)), draw(positive(1e-2, 8.0)), draw(st.integers(1, 6)))


@st.composite
def piece_experiments(draw: st.DrawFn) -> Experiment:
    """Mixtures of Laplaces, normal–Laplace and clamped answers."""
    kind = draw(st.sampled_from(["laplace", "mixture", "normal_laplace", "normal", "clamped"]))
    d = draw(positive(0.05, 4.0))
    if kind == "laplace":
        law = PiecewiseLaw(LaplaceMixture.at(), LaplaceMixture.at(d))
    elif kind == "mixture":
        w = draw(st.floats(0.1, 0.9))
        law = PiecewiseLaw(
            LaplaceMixture((w, 1 - w), (0.0, 1.0), (1.0, 1.0)), LaplaceMixture((1 - w, w), (d, 1 + d), (1.0, 1.0))
        )
    elif kind == "normal_laplace":
        law = PiecewiseLaw(NormalLaplace(1.0, 0.7), NormalLaplace(1.0, 0.7, d))
    elif kind == "normal":
        law = PiecewiseLaw(NormalMixture.at(), NormalMixture.at(d))
    else:
        law = PiecewiseLaw(ClampedLaw(LaplaceMixture.at(), -1.0, 2.0), ClampedLaw(LaplaceMixture.at(d), -1.0, 2.0))
    return Experiment(law, kind)


def finite_experiments(zeros: bool = True) -> st.SearchStrategy[Experiment]:
    """Any two lists."""
    return finite_pairs(zeros).map(lambda pq: el.mechanisms.finite(*pq))


def experiments() -> st.SearchStrategy[Experiment]:
    """All laws that answer in microseconds."""
    return st.one_of(closed_forms(), discrete_mechanisms(), finite_experiments())


def any_experiment() -> st.SearchStrategy[Experiment]:
    """All laws, the pieces too."""
    return st.one_of(experiments(), piece_experiments())
