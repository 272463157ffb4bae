"""How much noise each number of a plan gets, and where a threshold stands.

A query gets its share of ε (and of δ), and its noisy numbers divide that equally. Laplace noise has the scale
b = Δ₁/ε, Gaussian noise σ = Δ₂/ψ(ε, δ) with the analytic ψ. A threshold τ publishes the name of a group where the
noisy number of its people is at least τ: a person who is alone there is listed with the chance

    p = ½·exp(−(τ − 1)/b),   Gaussian: p = Φ(−(τ − 1)/σ),

and being listed leaves no doubt. ``auto`` takes the least whole τ that keeps the chance of it in all of the person's
groups, 1 − (1 − p)^G, at the query's share of δ.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from ..checks import Array
from ..data.queries import Noise
from ..errors import InputError
from ..mechanisms.noise import calibrated_psi
from .contribution import NoisyNumber, PersonContribution
from .model import Release, Threshold

#: More places times people than this are not shared out one by one.
_MOST_SHARED = 1000
#: The δ that thresholds are found from where the plan gives none.
USUAL_DELTA = 1e-6


class _PlanIdentity:
    """One plan, by identity: plans are equal by all that they say, which takes longer to compare than to use."""

    def __init__(self, plan: Release) -> None:
        self.plan = plan

    def __hash__(self) -> int:
        return id(self.plan)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PlanIdentity) and other.plan is self.plan


@lru_cache(maxsize=64)
def _contributions(same: _PlanIdentity) -> tuple[PersonContribution, ...]:
    return tuple(PersonContribution(i, query, same.plan.data) for i, query in enumerate(same.plan.queries))


@lru_cache(maxsize=1024)
def _sensitivity(same: _PlanIdentity, i: int, noisy: NoisyNumber, power: int) -> float:
    return contribution(same.plan, i).sensitivity(noisy, same.plan.mechanism.neighbours, power)


def contributions(plan: Release) -> tuple[PersonContribution, ...]:
    """What one person adds to each query; worked out once a plan, for a search of ε asks thousands of times."""
    return _contributions(_PlanIdentity(plan))


def contribution(plan: Release, i: int) -> PersonContribution:
    return contributions(plan)[i]


@lru_cache(maxsize=4096)
def psi_of(epsilon: float, delta: float) -> float:
    """ψ of Gaussian noise that is (ε, δ)-DP; queries with equal shares ask for the same one."""
    return float(calibrated_psi(epsilon, delta, "analytic"))


def scale_of(plan: Release, i: int, noisy: NoisyNumber, epsilon: float) -> float:
    """The scale of the noise (b or σ) on one kind of number of query i, at a total ε."""
    if not epsilon > 0:
        raise InputError(f"epsilon is {epsilon:g}: give a number above 0", parameter="epsilon", value=epsilon)
    one = contribution(plan, i)
    part = plan.shares[i] * one.part(noisy)
    if plan.mechanism.noise is Noise.GAUSSIAN:
        psi = psi_of(epsilon * part, (plan.mechanism.delta or 0.0) * part)
        return _sensitivity(_PlanIdentity(plan), i, noisy, 2) / psi
    return _sensitivity(_PlanIdentity(plan), i, noisy, 1) / (epsilon * part)


def _people_scale(plan: Release, i: int, epsilon: float) -> float:
    """The scale of the noise on the number of people that a threshold looks at."""
    noisy = contribution(plan, i).noisy
    return scale_of(plan, i, NoisyNumber.PEOPLE if NoisyNumber.PEOPLE in noisy else NoisyNumber.ANSWER, epsilon)


def threshold_of(plan: Release, i: int, epsilon: float) -> float | None:
    """τ of query i in people, at a total ε; None where it has none."""
    given, one = plan.queries[i].threshold, contribution(plan, i)
    if not isinstance(given, Threshold):
        return given
    scale = _people_scale(plan, i, epsilon)
    chance = -math.expm1(math.log1p(-(plan.mechanism.delta or USUAL_DELTA) * plan.shares[i]) / one.groups)
    gaussian = plan.mechanism.noise is Noise.GAUSSIAN
    quantile = -ndtri(chance) if gaussian else -math.log(2 * chance)
    return float(max(1, math.ceil(one.owner_size + scale * max(quantile, 0.0))))


def name_probability(plan: Release, i: int, epsilon: float, members: int | None = None) -> float:
    """The chance that the name of a group where one person, or household, is alone is published.

    A threshold sees ``members`` there, as many as it can unless they are given. It is 1 where names are taken from the
    data.
    """
    seen = contribution(plan, i).owner_size if members is None else members
    return float(_name_probabilities(plan, i, epsilon, np.asarray([float(seen)]))[0])


def _name_probabilities(plan: Release, i: int, epsilon: float, members: Array) -> Array:
    """The chance that the name of a group is published which has so many people."""
    threshold = threshold_of(plan, i, epsilon)
    if threshold is None:
        return np.ones(len(members))
    away = (threshold - members) / _people_scale(plan, i, epsilon)
    if plan.mechanism.noise is Noise.GAUSSIAN:
        return np.asarray(ndtr(-away))
    return np.where(away >= 0, 0.5 * np.exp(-np.abs(away)), 1 - 0.5 * np.exp(-np.abs(away)))


def log_hidden_probability(plan: Release, i: int, epsilon: float, alone: int, people: int = 1) -> float:
    """The logarithm of the chance that no name of these groups is published: ``people`` take ``alone`` places there.

    Nobody else is in them. The worst of all ways to share the places out, from all in one group, which is listed most
    easily, to one in each: an exact minimum, or below it where there are many places, each then counting as its part
    of the worst group.
    """
    if not alone:
        return 0.0
    one = replace(contribution(plan, i), people=people)
    together = one.places if one.households else people  # the most places in one group
    with np.errstate(divide="ignore"):
        hidden = np.log1p(-_name_probabilities(plan, i, epsilon, np.arange(1.0, min(together, alone) + 1)))
    if len(hidden) == 1 or np.isinf(hidden[0]):
        return float(alone * hidden[0])
    if alone * len(hidden) > _MOST_SHARED:
        return float(alone * np.min(hidden / np.arange(1, len(hidden) + 1)))
    groups = min(people * one.groups - int(one.households and alone < one.places), alone)
    least = np.concatenate(([0.0], np.full(alone, math.inf)))  # by the number of places, in so many groups
    for _ in range(groups if one.households else 1):
        before = least.copy()
        for n in range(1, alone + 1):
            k = min(n, len(hidden))
            least[n] = min(least[n], np.min((before if one.households else least)[n - k : n][::-1] + hidden[:k]))
    return float(least[alone])


def unprotected_names(plan: Release) -> tuple[int, ...]:
    """The queries whose groups have neither public names nor a threshold: a name there may give one person away."""
    return tuple(one.position for one in contributions(plan) if one.named and one.query.threshold is None)


def name_delta(plan: Release, epsilon: float) -> float:
    """The δ that published names add to the guarantee: the chance that some name gives a person away."""
    chances = [(one.groups, name_probability(plan, one.position, epsilon)) for one in contributions(plan) if one.named]
    if not chances or any(p == 1 for _, p in chances):
        return float(bool(chances))
    return -math.expm1(math.fsum(groups * math.log1p(-p) for groups, p in chances))
