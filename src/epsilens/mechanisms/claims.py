"""What others claim of a release, as an experiment; and what an experiment lets one claim.

A claim does not say what the mechanism is. The experiment is the least private one the claim allows, as far as known:
every reading is an upper bound on the risk of every release for which the claim is true.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array, Number, float_or_array
from ..errors import InputError, type_phrase
from ..experiment import Experiment, require_independent
from ..laws.composition.step import Composable
from ..laws.envelope import ConcentratedClaim, Envelope, OrdersConversion, RenyiCurve, envelope, zcdp_envelope
from ..laws.finite import Finite
from ..laws.normal import Normal
from ..readings.law import Exactness, Law
from ..worlds import worlds_of_relation
from .arrays import arrays
from .discrete import approximate
from .recipe import remembered

#: Orders at which a Rényi curve given as a function is read.
ORDERS = 1 + np.geomspace(0.01, 1e5, 141)
_LEAST = 1e-200  # a smaller bound is rounded up to this one
ROUNDING = 1e-12  # of sums over thousands of atoms


@remembered
def from_dp(epsilon: ArrayLike, delta: ArrayLike = 0.0, *, neighbours: str = "add-remove") -> Experiment:
    """Several (ε, δ) guarantees that hold at once: the riskiest release they allow together, exactly.

    One pair is :func:`epsilens.mechanisms.approximate`, here a bound and not a mechanism. More pairs say more, up to
    the whole
    profile of a mechanism.

    >>> e = from_dp([0.5, 1.0, 2.0], [0.1, 1e-2, 1e-5])
    >>> round(e.delta(1.0), 6), round(e.epsilon(1e-5), 6), round(e.advantage(), 4)
    (0.01, 2.0, 0.3204)
    """
    eps, d = checks.in_range("epsilon", epsilon, 0.0, 1e4), checks.probability("delta", delta)
    try:
        eps, d = (np.array(v) for v in np.broadcast_arrays(eps, d))
    except ValueError:
        raise InputError(f"epsilon and delta have shapes {eps.shape} and {d.shape}: give as many of each") from None
    if eps.ndim == 0:
        one = approximate(epsilon=float(eps), delta=float(d), neighbours=neighbours)
        return replace(one, law=one.law.as_bound())
    if eps.ndim != 1 or not eps.size:
        raise InputError(f"epsilon has shape {eps.shape}: give a list of one number or more", parameter="epsilon")
    return _claim(envelope(eps, d), "claims", {"claims": int(eps.size)}, f"{eps.size} (ε, δ) claims", neighbours)


@arrays("mu")
def from_gdp(mu: ArrayLike, *, neighbours: str = "add-remove") -> Experiment:
    """μ-GDP (Dong, Roth & Su 2022): at most as risky as telling N(0, 1) from N(μ, 1), which is exactly that.

    >>> from_gdp(1.0).success()
    0.69146246127401...
    """
    value = float(checks.in_range("mu", checks.scalar("mu", mu), 0.0, 1e4))
    return _claim(Normal(np.asarray(value), known=Exactness.BOUND), "gdp", {"mu": value}, "a μ-GDP claim", neighbours)


@arrays("rho", "xi")
def from_zcdp(rho: ArrayLike, xi: ArrayLike = 0.0, *, neighbours: str = "add-remove") -> Experiment:
    """(ξ, ρ)-zCDP: D_a ≤ ξ + ρ·a for every order a > 1, in both orders of the pair (Bun & Steinke 2016).

    Every order bounds δ(ε) (see :mod:`epsilens.laws.envelope`); the best of them, on a grid of ε, are taken together.

    >>> e = from_zcdp(0.5)                       # what is known of a Gaussian mechanism with ψ = 1
    >>> round(e.epsilon(1e-5), 3), round(e.renyi(8.0), 6), round(e.success(), 3)
    (4.728, 4.0, 0.74)
    """
    value = float(checks.in_range("rho", checks.scalar("rho", rho), 0.0, 1e4))
    more = float(checks.in_range("xi", checks.scalar("xi", xi), 0.0, 1e4))
    parameters = {"rho": value} | ({"xi": more} if more else {})
    if value == 0:  # D_a ≤ ξ at every order: pure
        return _claim(envelope(np.asarray([more]), np.zeros(1)), "zcdp", parameters, "a zCDP claim", neighbours)
    return _claim(zcdp_envelope(value, more), "zcdp", parameters, "a zCDP claim", neighbours)


@remembered
def from_rdp(
    order: ArrayLike | None = None,
    rho: ArrayLike | Callable[[float], float] | None = None,
    *,
    neighbours: str = "add-remove",
) -> Experiment:
    """(a, ρ)-RDP at one order or several (Mironov 2017): D_a ≤ ρ in both orders of the pair.

    ``rho`` is a number for one order, a list for several, or a function of the order (read at many if none is given).

    >>> round(from_rdp(2.0, 1.0).epsilon(1e-5), 3)
    10.668
    >>> round(from_rdp(rho=lambda a: 0.5 * a).epsilon(1e-5), 2)
    4.73
    """
    a, bound = _orders(order, rho)
    parameters: dict[str, Any] = (
        {"order": float_or_array(a[0]), "rho": float_or_array(bound[0])} if a.size == 1 else {"orders": int(a.size)}
    )
    known = bound <= 1e4  # beyond, nothing is promised that doubles could tell from nothing
    a, bound = a[known], bound[known]
    rank = np.argsort(a, kind="stable")
    # D grows with the order: what holds at a higher one holds here
    a, bound = a[rank], np.minimum.accumulate(bound[rank][::-1])[::-1]
    pure = bound[np.isinf(a)]
    a, bound = a[np.isfinite(a)], bound[np.isfinite(a)]
    best = OrdersConversion(a - 1, bound) if a.size and bound.min() > 0 else None
    eps, d = np.zeros(0), np.zeros(0)
    if best is not None:
        eps, d = best.claims()
    elif a.size:  # D_a = 0: the two laws are one
        eps, d = np.zeros(1), np.zeros(1)
    eps, d = np.concatenate((eps, pure)), np.concatenate((d, 0 * pure))
    law = envelope(eps, d, moment=RenyiCurve(a - 1, bound), rounding=ROUNDING, conversion=best)
    return _claim(law, "rdp", parameters, "a Rényi claim", neighbours)


def _orders(order: Any, rho: Any) -> tuple[Array, Array]:
    """Orders above 1 and what is claimed at each."""
    if rho is None:
        raise InputError(
            "rho is missing: give the bound on the Rényi divergence at each order, or a function of it", parameter="rho"
        )
    if order is None:
        if not callable(rho):
            raise InputError("order is missing: give the order or orders at which rho holds", parameter="order")
        order = ORDERS
    a = np.atleast_1d(checks.real("order", order, infinite=True))
    if a.ndim != 1 or not a.size:
        raise InputError(f"order has shape {a.shape}: give one order or a list of them", parameter="order")
    if np.any(a <= 1):
        raise InputError(f"order is {a[a <= 1][0]:.12g}: give orders above 1", parameter="order")
    said = [rho(float(v)) for v in a] if callable(rho) else rho
    bound = checks.at_least("rho", said, 0.0, infinite=True)
    if bound.ndim > 1 or (bound.ndim and bound.shape != a.shape):
        raise InputError(
            f"rho has shape {bound.shape} and order {a.shape}: give one rho for each order", parameter="rho"
        )
    if not bound.ndim and a.size > 1:
        raise InputError(
            f"rho is {float(bound):.12g} and order has {a.size} values: give one rho for each order", parameter="rho"
        )
    bound = np.broadcast_to(bound, a.shape)
    low = np.isfinite(a) & ((a - 1 < 1e-9) | (a > 1e9))
    if low.any():
        raise InputError(f"order is {a[low][0]:.12g}: give orders from 1 + 1e-9 to 1e9, or infinity", parameter="order")
    return a, np.where(bound > 0, np.maximum(bound, _LEAST), 0.0)


def _claim(law: Law, name: str, parameters: dict[str, Any], said: str, neighbours: str) -> Experiment:
    note = f"the worst case of {said}, not a mechanism: every release for which it is true is at most as risky"
    return Experiment(
        law, name, {**parameters, "neighbours": neighbours}, notes=(note,), worlds=worlds_of_relation(neighbours)
    )


# -- out --------------------------------------------------------------------------------------------------------


def _no_experiment(value: Any) -> InputError:
    return InputError(
        f"experiment is {type_phrase(value)}: give what laplace, gaussian and the like return",
        parameter="experiment",
    )


def _one(experiment: Any) -> None:
    if not isinstance(experiment, Experiment):
        raise _no_experiment(experiment)
    if experiment.many:
        raise InputError("this is many experiments at once: give one")
    require_independent(experiment)  # what it is turned into is there to be added up


def to_gdp(experiment: Experiment) -> float:
    """The smallest μ for which the experiment is μ-GDP; infinite where there is none.

    >>> import epsilens as el
    >>> round(to_gdp(el.laplace(epsilon=1.0)), 4)
    1.0301
    """
    _one(experiment)
    return float(experiment.psi())


def to_rdp(experiment: Experiment, order: ArrayLike) -> Number:
    """The Rényi curve: the larger of D_a(H0‖H1) and D_a(H1‖H0) at each order a.

    >>> import epsilens as el
    >>> to_rdp(el.gaussian(psi=1.0), [2.0, 8.0])
    array([1., 4.])
    """
    if not isinstance(experiment, Experiment):
        raise _no_experiment(experiment)
    require_independent(experiment)
    one, other = experiment.renyi(order), experiment.reverse().renyi(order)
    return float_or_array(np.maximum(one, other))


def to_zcdp(experiment: Experiment) -> float:
    """A ρ such that D_a ≤ ρ·a for every order a > 1 in both orders of the pair; infinite if none can be established.

    K(m) = m·D_{1+m} is convex with K(0) = 0, so between two orders D_a/a lies below what their chord gives; intervals
    are halved until that is within 1e-7 of the largest D_a/a seen. Beyond the last order D_a ≤ D_∞.

    >>> import epsilens as el
    >>> to_zcdp(el.gaussian(psi=1.0)), round(to_zcdp(el.mechanisms.pure(epsilon=1.0)), 6)  # ε·tanh(ε/2)
    (0.5, 0.462117)
    """
    _one(experiment)
    law = experiment.law
    if isinstance(law, Normal):
        return float(law.mu) ** 2 / 2
    if isinstance(law, Envelope) and isinstance(law.moment, ConcentratedClaim) and law.moment.xi == 0:
        return law.moment.rho
    if isinstance(law, Finite) and law.far is not None:
        return law.far.zcdp_rho
    if isinstance(law, Composable) and (steps := law.steps()):  # selections, whose worst cases are less concentrated
        rho = math.fsum(k * step.claimed_zcdp for step, k in steps)
        if math.isfinite(rho):
            return rho * (1 + 1e-15)
    worst = max(float(law.max_llr()), float(law.reverse().max_llr()))
    if not math.isfinite(worst):
        return math.inf
    if worst == 0:
        return 0.0

    def moment(m: Array) -> Array:
        return np.maximum(law.log_moment(1 + m), law.log_moment(-m))

    m = np.geomspace(1e-7, 1e7, 57)
    k = moment(m)
    for _ in range(60):
        ratio = k / (m * (1 + m))
        best = max(float(ratio.max()), 0.0)
        ends = max(float(k[0] / m[0]), worst / (1 + m[-1]))
        above = _chords(m, k)
        rough = above > best * (1 + 1e-7)
        if not rough.any() or m.size > 2000:
            break
        new = np.sqrt(m[:-1] * m[1:])[rough]
        m, k = np.concatenate((m, new)), np.concatenate((k, moment(new)))
        rank = np.argsort(m)
        m, k = m[rank], k[rank]
    return float(max(above.max(), ends) * (1 + 1e-12))


def _chords(m: Array, k: Array) -> Array:
    """The largest (c0 + c1·x)/(x(1+x)) on each interval, the line being the chord of K: c0 ≤ 0 by convexity."""
    c1 = np.diff(k) / np.diff(m)
    c0 = np.minimum(k[:-1] - c1 * m[:-1], 0.0)
    c1 = (k[1:] - c0) / m[1:]  # rounding of c0 may not take the line below K at the right end
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = (-c0 + np.sqrt(c0 * c0 - c0 * c1)) / c1
    inside = np.clip(np.where(np.isfinite(peak), peak, m[1:]), m[:-1], m[1:])
    values = [(c0 + c1 * x) / (x * (1 + x)) for x in (m[:-1], inside, m[1:])]
    return np.asarray(np.max([*values, k[:-1] / (m[:-1] * (1 + m[:-1]))], axis=0))
