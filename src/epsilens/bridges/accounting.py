"""dp-accounting: its privacy-loss distributions, in and out; its events are in :mod:`.events`.

A privacy-loss distribution (PLD) is a list of losses on a grid with their masses, one list for each order of the pair,
and a mass at infinity. Its H1 is their ``upper`` law of the *remove* order, the world with the person.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import checks
from ..checks import Array
from ..errors import InputError, require, type_phrase
from ..experiment import Experiment, product_factor, require_independent
from ..laws.composition.step import NoiseKind, StepNoise
from ..laws.envelope import Envelope, envelope
from ..laws.product import steps_of
from ..readings.law import Law
from ..worlds import Relation, worlds_of_relation

_MOST_POINTS = 40_000
_MOST_POINTS, _MOST_COMPOSED = 1_000_000, 5_000_000  # of one grid, and of a composition: some seconds
_FAR = 8.3  # deviations beyond which dp-accounting sees nothing
_TAIL = 1e-18  # where the loss is unbounded, what lies beyond this δ goes to infinity
_ROUNDING = 1e-10
_FEW = 60


# -- privacy-loss distributions ---------------------------------------------------------------------------------


def from_pld(pld: Any, *, neighbours: str = "add-remove") -> Experiment:
    """What a dp-accounting ``PrivacyLossDistribution`` says, as an experiment.

    Its δ(ε) for ε ≥ 0, in either order, is all that is taken: the worst pair of laws with these profiles. A pessimistic
    distribution gives an upper bound on every reading, as good as the distribution itself.
    """
    known = require("dp_accounting.pld.privacy_loss_distribution", "reading a privacy-loss distribution")
    if not isinstance(pld, known.PrivacyLossDistribution):
        raise InputError(f"pld is {type_phrase(pld)}: give a PrivacyLossDistribution of dp-accounting", parameter="pld")
    remove, add = pld._pmf_remove, pld._pmf_add
    if not (remove._pessimistic_estimate and add._pessimistic_estimate):
        raise InputError(
            "this distribution is rounded in the defender's favour, and no reading of it is a bound on risk: "
            "build it with pessimistic_estimate=True"
        )
    law = envelope(*_profile(remove), None if pld._symmetric else _profile(add), rounding=_ROUNDING)
    told = {"interval": float(remove._discretization), "losses": int(remove.size), "neighbours": neighbours}
    note = "as exact as the distribution it was read from: upper bounds if that one is pessimistic"
    return Experiment(law, "privacy_loss_distribution", told, notes=(note,), worlds=worlds_of_relation(neighbours))


def _profile(pmf: Any) -> tuple[Array, Array]:
    """ε and δ at 0 and at every loss above it, summed from the top so that small δ keep their digits."""
    dense = pmf.to_dense_pmf()
    p = np.maximum(np.asarray(dense._probs, dtype=float), 0.0)
    loss = (int(dense._lower_loss) + np.arange(p.size)) * float(dense._discretization)
    beyond = float(dense._infinity_mass)
    if not (np.isfinite(p).all() and 0 <= beyond <= 1 + 1e-9) or p.sum() + beyond > 1.01:
        raise InputError("the masses of the distribution do not add up to 1: build it again")
    live = (loss > 0) & (p > 0)
    loss, p = loss[live], p[live]
    if loss.size > _MOST_POINTS:  # fewer claims are weaker ones: still a bound, and the tail is kept
        pick = np.unique(np.linspace(0, loss.size - 1, _MOST_POINTS).astype(int))
    else:
        pick = np.arange(loss.size)
    log_q = np.logaddexp.accumulate((np.log(p) - loss)[::-1])[::-1]  # log Σ_{j ≥ i} p_j e^{−l_j}
    before = np.concatenate(([0.0], loss[:-1]))
    falls = np.exp(loss + log_q) * -np.expm1(before - loss)  # δ at the loss before, less δ here
    delta = beyond + np.concatenate((np.cumsum(falls[::-1])[::-1], [0.0]))
    epsilon = np.concatenate(([0.0], loss))
    pick = np.concatenate(([0], pick + 1))
    return epsilon[pick], np.minimum(delta[pick], 1.0)


def to_pld(experiment: Experiment, *, interval: float = 1e-4) -> Any:
    """A pessimistic dp-accounting ``PrivacyLossDistribution`` on multiples of ``interval``, for both orders.

    The pair is replaced by the least risky one that dominates it and has its losses on the grid: δ(ε) agrees at every
    grid point and is above in between ("connect the dots", Doroshenko et al. 2022). A composition is left to
    dp-accounting: the distribution of each part, composed by its own transform.
    """
    package = require("dp_accounting.pld.privacy_loss_distribution", "writing a privacy-loss distribution")
    if not isinstance(experiment, Experiment) or experiment.many:
        raise InputError("experiment must be one experiment: give what laplace, gaussian and the like return")
    dt = float(checks.in_range("interval", checks.scalar("interval", interval), 1e-9, 1.0))
    require_independent(experiment)
    if experiment.parts:
        return _composed([(to_pld(part, interval=dt), count) for part, count in experiment.parts])
    law = experiment.law
    if law.width:  # numerically composed: each part is known to dp-accounting itself, or all of it is read here
        noises = [(step.noise, count) for step, count in steps_of(product_factor(experiment))]
        made = [(_known_pld(noise, dt, package), count) for noise, count in noises]
        turned = {noise.swapped for noise, _ in noises if noise is not None}
        if all(one is not None for one, _ in made) and len(turned) == 1:
            whole = _composed(made)
            if whole._symmetric or turned == {False}:
                return whole
            return package.PrivacyLossDistribution(whole._pmf_add, whole._pmf_remove)
    sides = [_on_grid(law, dt)] if law.symmetric else [_on_grid(law, dt), _on_grid(law.reverse(), dt)]
    pair = envelope(*sides[0], sides[1] if len(sides) > 1 else None)
    if law.symmetric:
        return package.PrivacyLossDistribution(_pmf(pair, dt))
    return package.PrivacyLossDistribution(_pmf(pair, dt), _pmf(pair.reverse(), dt))


def _composed(counted: list[tuple[Any, int]]) -> Any:
    """All parts together, unless they would take too many points: the losses of many grow with the root of how many."""
    points = math.fsum(one._pmf_remove.size * math.sqrt(count) for one, count in counted)
    if points > _MOST_COMPOSED:
        raise InputError(
            f"interval is {counted[0][0]._pmf_remove._discretization:g}: the parts together would take about "
            f"{points:.2g} points, so give a larger one",
            parameter="interval",
        )
    made = [one if count == 1 else one.self_compose(count) for one, count in counted]
    whole = made[0]
    for one in made[1:]:
        whole = whole.compose(one)
    return whole


def _known_pld(noise: StepNoise | None, dt: float, package: Any) -> Any:
    """Noise that dp-accounting knows itself, before any exchange of the two worlds; None for others."""
    if noise is None:
        return None
    if noise.kind is NoiseKind.LAPLACE and (noise.rate is None or noise.neighbours is Relation.REPLACE):
        return None
    mu = 1 / noise.size
    top = mu if noise.kind is NoiseKind.LAPLACE else mu * (mu / 2 + _FAR)
    if noise.rate is not None and top < 700:
        top = math.log1p(noise.rate * math.expm1(top))
    _points(top, dt)
    told: dict[str, Any] = {"value_discretization_interval": dt}
    if noise.rate is not None:
        told["sampling_prob"] = noise.rate
    if noise.neighbours is Relation.REPLACE:
        told["neighboring_relation"] = package.NeighborRel.REPLACE_ONE
    make = package.from_gaussian_mechanism if noise.kind is NoiseKind.NORMAL else package.from_laplace_mechanism
    return make(1 / noise.size, **told)


def _pmf(pair: Envelope, dt: float) -> Any:
    """The losses of H1 and their masses."""
    pmfs = require("dp_accounting.pld.pld_pmf", "writing a privacy-loss distribution")
    index, inverse = np.unique(np.rint(pair.llr / dt).astype(int), return_inverse=True)
    masses = np.bincount(inverse, np.exp(pair.log_p0 + pair.llr), index.size) if index.size else np.zeros(0)
    return pmfs.create_pmf(dict(zip(index.tolist(), masses.tolist(), strict=True)) or {0: 0.0}, dt, pair.only1, True)


def _points(top: float, dt: float) -> int:
    """How many points losses up to there take; too many are refused before they are made."""
    points = math.ceil(top / dt - 1e-9) + 1
    if points > _MOST_POINTS:
        raise InputError(
            f"interval is {dt:g}: losses up to {top:g} would take {points} points, so give a larger one",
            parameter="interval",
        )
    return points


def _on_grid(law: Law, dt: float) -> tuple[Array, Array]:
    """ε on the grid up to the largest loss (or where δ is negligible), and δ there in this order, rounded up."""
    top = float(law.max_llr())
    if not math.isfinite(top):
        never = float(law.profile(np.asarray(1e4)))  # what H0 cannot show at all
        top = float(law.profile_inverse(np.asarray(never * (1 + 1e-9) + _TAIL)))
    points = _points(top, dt)
    epsilon = np.arange(float(points + 1)) * dt
    if law.width:  # each value is a transform of its own; any part of the grid is safe
        epsilon = epsilon[np.unique(np.linspace(0, points, _FEW).astype(int))]
    delta = np.asarray(law.profile(epsilon), dtype=float)
    # in falling order, and never below what was read
    delta = np.maximum.accumulate(delta[::-1])[::-1]
    return epsilon, np.minimum(delta * (1 + 1e-11), 1.0)
