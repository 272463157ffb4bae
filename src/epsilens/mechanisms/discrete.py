"""Mechanisms with discrete or piecewise constant outputs, bare claims, and any two lists of probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InputError
from ..experiment import Experiment
from ..laws.discrete_noise import DiscreteNormal, Skellam
from ..laws.finite import Finite
from ..laws.geometric import MOST_ATOMS, Geometric, Staircase
from ..worlds import RECORD, Worlds, WorldsKind, worlds_of_relation
from .arrays import arrays
from .noise import one_of, per_noise

_VARIANCES = 1e-6, 4e8


def _whole_reach(sensitivity: Any, shift: Any) -> tuple[int, int]:
    most = checks.integer("sensitivity", sensitivity, low=1, high=MOST_ATOMS)
    moved = most if shift is None else checks.integer("shift", shift, low=0)
    if moved > most:
        raise InputError(
            f"shift is {moved}, more than the sensitivity {most}: "
            "one person cannot move the answer further, so raise the sensitivity or lower the shift",
            parameter="shift",
        )
    return most, moved


def _epsilon(epsilon: Any, *, zero: bool = False, most: float = 1e4) -> float:
    value = checks.scalar("epsilon", epsilon)
    if zero and value == 0:
        return 0.0
    return float(checks.in_range("epsilon", checks.positive("epsilon", value), 1e-15, most))


@arrays("epsilon", "scale", "sensitivity", "shift")
def geometric(
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sensitivity: ArrayLike = 1,
    shift: ArrayLike | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """Two-sided geometric (discrete Laplace) noise, P(k) ∝ e^{−ε|k|/sensitivity}, for whole-number answers.

    Beyond 0 and the shift d the likelihood ratio is constant, so d + 1 atoms describe the pair exactly.

    >>> geometric(epsilon=1.0).success()
    0.73105857863000...
    """
    most, d = _whole_reach(sensitivity, shift)
    if one_of(epsilon=epsilon, scale=scale) == "epsilon":
        eps = _epsilon(epsilon)
    else:
        noise = checks.positive("scale", checks.scalar("scale", scale))  # type: ignore[arg-type]
        eps = float(per_noise("scale", np.asarray(float(most)), noise))
    parameters = {"epsilon": eps, "scale": most / eps, "sensitivity": most, "shift": d, "neighbours": neighbours}
    law = Geometric(eps / most, d).law()
    return Experiment(law, "geometric", parameters, worlds=worlds_of_relation(neighbours))


@arrays("sigma", "sensitivity", "shift")
def discrete_gaussian(
    *, sigma: ArrayLike, sensitivity: ArrayLike = 1, shift: ArrayLike | None = None, neighbours: str = "add-remove"
) -> Experiment:
    """Discrete Gaussian noise, P(k) ∝ e^{−k²/2σ²} on the whole numbers (Canonne, Kamath & Steinke 2020).

    Atoms below 1e-325, the end of double precision, are left out of the curve; divergences of every order are in closed
    form, and the ratio is unbounded (no pure ε).

    >>> discrete_gaussian(sigma=1.0).renyi(128)  # order·shift²/2σ² at whole orders
    64.0
    """
    s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    per_noise("sigma", np.asarray(1.0), np.asarray(s))
    most, d = _whole_reach(sensitivity, shift)
    reach = s * math.sqrt(2 * 750.0)
    if 2 * reach + d > MOST_ATOMS:
        raise InputError(
            f"sigma is {s:g}: at most {MOST_ATOMS / 80:g} can be enumerated, so use gaussian(sigma={s:g}), "
            "which is the same to double precision at this size",
            parameter="sigma",
        )
    law = Finite.moved(DiscreteNormal(s), d)
    parameters = {"sigma": s, "sensitivity": most, "shift": d, "neighbours": neighbours}
    return Experiment(law, "discrete_gaussian", parameters, worlds=worlds_of_relation(neighbours))


@arrays("variance", "sensitivity", "shift")
def skellam(
    *, variance: ArrayLike, sensitivity: ArrayLike = 1, shift: ArrayLike | None = None, neighbours: str = "add-remove"
) -> Experiment:
    """Skellam noise, the difference of two Poisson numbers: P(k) = e^{−v}·I_{|k|}(v), v its variance.

    For one whole-number answer. The ratio of P(k − shift) to P(k) grows with k, so that every optimal test is a
    threshold, a larger shift is riskier, and the sensitivity is the worst case: exact, and the same in both orders.
    The noise of several parties who each add their own adds up to Skellam noise (Agarwal, Kairouz & Liu 2021).

    >>> round(skellam(variance=100.0).epsilon(1e-6), 6)
    0.389458
    """
    v = float(checks.in_range("variance", checks.scalar("variance", variance), *_VARIANCES))
    most, d = _whole_reach(sensitivity, shift)
    noise = Skellam(v)
    if 2 * noise.reach + d > MOST_ATOMS:
        raise InputError(
            f"variance is {v:g} for a shift of {d}: at most {MOST_ATOMS:g} outcomes can be enumerated, "
            f"so use gaussian(sigma={math.sqrt(v):g}), which Skellam noise tends to",
            parameter="variance",
        )
    parameters = {"variance": v, "sensitivity": most, "shift": d, "neighbours": neighbours}
    return Experiment(Finite.moved(noise, d), "skellam", parameters, worlds=worlds_of_relation(neighbours))


@arrays("epsilon", "truth", "k")
def randomized_response(
    *, epsilon: ArrayLike | None = None, truth: ArrayLike | None = None, k: ArrayLike = 2
) -> Experiment:
    """Answer truthfully with probability e^ε/(e^ε + k − 1), otherwise any of the other k − 1 answers.

    >>> round(randomized_response(epsilon=1.0).success(), 6)
    0.731059
    """
    answers = checks.integer("k", k, low=2)
    if one_of(epsilon=epsilon, truth=truth) == "epsilon":
        eps = _epsilon(epsilon)
    else:
        p = float(checks.probability("truth", checks.scalar("truth", truth), closed=False))  # type: ignore[arg-type]
        if p <= 1 / answers:
            raise InputError(f"truth is {p:g}: give a probability above 1/k = {1 / answers:g}", parameter="truth")
        eps = math.log(p) - math.log1p(-p) + math.log(answers - 1)
    honest = -np.log1p((answers - 1) * np.exp(-eps))
    log_p0, llr = [honest, honest - eps], [-eps, eps]
    if answers > 2:
        log_p0, llr = [*log_p0, honest - eps + math.log(answers - 2)], [*llr, 0.0]
    law = Finite(np.asarray(log_p0), np.asarray(llr), mirrored=True)
    parameters = {"epsilon": eps, "truth": float(np.exp(honest)), "k": answers}
    return Experiment(law, "randomized_response", parameters, worlds=RECORD)


@arrays("epsilon", "sensitivity", "gamma", "shift")
def staircase(
    *,
    epsilon: ArrayLike,
    sensitivity: ArrayLike = 1.0,
    gamma: ArrayLike | None = None,
    shift: ArrayLike | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """Staircase noise (Geng & Viswanath 2014): density falling by e^{−ε} each step, broken at a share γ of the step.

    γ defaults to 1/(1+e^{ε/2}), which minimises the mean absolute error. Exact.
    """
    eps, most = (
        _epsilon(epsilon, most=700.0),
        float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity))),
    )
    moved = most if shift is None else float(checks.at_least("shift", checks.scalar("shift", shift), 0.0))
    if moved > most:
        raise InputError(
            f"shift is {moved:g}, more than the sensitivity {most:g}: raise the sensitivity", parameter="shift"
        )
    g = 1 / (1 + math.exp(eps / 2)) if gamma is None else checks.scalar("gamma", gamma)
    checks.probability("gamma", g)
    law = Staircase(eps, Fraction(g), Fraction(moved) / Fraction(most)).law()
    parameters = {"epsilon": eps, "sensitivity": most, "shift": moved, "gamma": g, "neighbours": neighbours}
    return Experiment(law, "staircase", parameters, worlds=worlds_of_relation(neighbours))


@arrays("epsilon")
def pure(*, epsilon: ArrayLike, neighbours: str = "add-remove") -> Experiment:
    """The least private mechanism that is still ε-DP, for those who know only the claim: f = max(1−e^εα, e^{−ε}(1−α))₊.

    Its readings bound those of every ε-DP mechanism.

    >>> round(pure(epsilon=1.0).advantage(), 6)  # tanh(ε/2)
    0.462117
    """
    return approximate(epsilon=epsilon, delta=0.0, neighbours=neighbours)


@arrays("epsilon", "delta")
def approximate(*, epsilon: ArrayLike, delta: ArrayLike, neighbours: str = "add-remove") -> Experiment:
    """The least private mechanism that is still (ε, δ)-DP: with probability δ it gives everything away, otherwise it is
    :func:`pure`. Its readings bound those of every (ε, δ)-DP mechanism.
    """
    eps = _epsilon(epsilon, zero=True)
    d = float(checks.probability("delta", checks.scalar("delta", delta)))
    parameters: dict[str, Any] = {"epsilon": eps} | ({"delta": d} if d else {}) | {"neighbours": neighbours}
    name = "approximate" if d else "pure"
    worlds = worlds_of_relation(neighbours)
    if d == 1:
        return Experiment(Finite.claim(eps, d), name, parameters, worlds=worlds)
    notes = (
        f"the worst case of a claim, not a mechanism: every {'(ε, δ)' if d else 'ε'}-DP release is at most as risky",
    )
    return Experiment(Finite.claim(eps, d), name, parameters, notes=notes, worlds=worlds)


def finite(p0: ArrayLike, p1: ArrayLike) -> Experiment:
    """Any two lists of probabilities over the same outcomes, H0 first.

    >>> finite([0.75, 0.25], [0.25, 0.75]).epsilon()
    1.09861228866...
    """
    a, b = checks.probability("p0", p0), checks.probability("p1", p1)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise InputError(f"p0 and p1 have shapes {a.shape} and {b.shape}: give two lists of equal length")
    for name, p in (("p0", a), ("p1", b)):
        if abs(p.sum() - 1) > 1e-9:
            raise InputError(f"{name} sums to {p.sum():.12g}: give probabilities that sum to 1", parameter=name)
    law = Finite.of(a / a.sum(), b / b.sum())
    return Experiment(law, "finite", {"outcomes": int(a.size)}, worlds=Worlds(WorldsKind.OTHER))
