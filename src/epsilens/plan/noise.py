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

from scipy.special import ndtr, ndtri

from ..build.mechanisms import calibrated_psi
from ..data.queries import Noise
from ..errors import InputError
from .contribution import Contribution, Noisy
from .plan import Release
from .words import Threshold

__all__ = [
    "USUAL_DELTA", "contribution", "contributions", "listed", "named_delta", "psi_of", "scale_of", "threshold_of",
    "unlisted", "unsaid",
]  # fmt: skip

#: The δ that thresholds are found from where the plan gives none.
USUAL_DELTA = 1e-6


def contributions(plan: Release) -> tuple[Contribution, ...]:
    """What one person adds to each query."""
    return tuple(contribution(plan, i) for i in range(len(plan.queries)))


def contribution(plan: Release, i: int) -> Contribution:
    """What one person adds to query i."""
    return Contribution(i, plan.queries[i], plan.data)


@lru_cache(maxsize=4096)
def psi_of(epsilon: float, delta: float) -> float:
    """ψ of Gaussian noise that is (ε, δ)-DP; queries with equal shares ask for the same one."""
    return float(calibrated_psi(epsilon, delta, "analytic"))


def scale_of(plan: Release, i: int, noisy: Noisy, epsilon: float) -> float:
    """The scale of the noise (b or σ) on one kind of number of query i, at a total ε."""
    if not epsilon > 0:
        raise InputError(f"epsilon is {epsilon:g}: give a number above 0", parameter="epsilon", value=epsilon)
    one = contribution(plan, i)
    part = plan.shares[i] / len(one.noisy)
    if plan.mechanism.noise is Noise.GAUSSIAN:
        psi = psi_of(epsilon * part, (plan.mechanism.delta or 0.0) * part)
        return one.sensitivity(noisy, plan.mechanism.neighbours, 2) / psi
    return one.sensitivity(noisy, plan.mechanism.neighbours, 1) / (epsilon * part)


def _people(plan: Release, i: int, epsilon: float) -> float:
    """The scale of the noise on the number of people that a threshold looks at."""
    noisy = contribution(plan, i).noisy
    return scale_of(plan, i, Noisy.PEOPLE if Noisy.PEOPLE in noisy else Noisy.ANSWER, epsilon)


def threshold_of(plan: Release, i: int, epsilon: float) -> float | None:
    """τ of query i in people, at a total ε; None where it has none."""
    given, one = plan.queries[i].threshold, contribution(plan, i)
    if not isinstance(given, Threshold):
        return given
    scale = _people(plan, i, epsilon)
    chance = -math.expm1(math.log1p(-(plan.mechanism.delta or USUAL_DELTA) * plan.shares[i]) / one.groups)
    gaussian = plan.mechanism.noise is Noise.GAUSSIAN
    quantile = -ndtri(chance) if gaussian else -math.log(2 * chance)
    return float(max(1, math.ceil(one.alone_as + scale * max(quantile, 0.0))))


def listed(plan: Release, i: int, epsilon: float, members: int | None = None) -> float:
    """The chance that the name of a group with so many people in it is published: those of one person, or household.

    It is 1 where names are taken from the data.
    """
    threshold, one = threshold_of(plan, i, epsilon), contribution(plan, i)
    if threshold is None:
        return 1.0
    away = (threshold - (one.alone_as if members is None else members)) / _people(plan, i, epsilon)
    if plan.mechanism.noise is Noise.GAUSSIAN:
        return float(ndtr(-away))
    return 0.5 * math.exp(-away) if away >= 0 else 1 - 0.5 * math.exp(away)


def unlisted(plan: Release, i: int, epsilon: float, alone: int, people: int = 1) -> float:
    """The logarithm of the chance that no name of these groups is published: ``people`` take ``alone`` places there.

    Nobody else is in them. The worst of all ways to share the places out, from all in one group, which is listed most
    easily, to one in each: an exact minimum, found by dynamic programming.
    """
    if not alone:
        return 0.0
    one = replace(contribution(plan, i), people=people)
    together = one.places if one.households else people  # the most places in one group
    groups = people * one.groups - (1 if one.households and alone < one.places else 0)
    hidden = []
    for members in range(1, min(together, alone) + 1):
        chance = listed(plan, i, epsilon, members)
        hidden.append(math.log1p(-chance) if chance < 1 else -math.inf)
    if len(hidden) == 1:
        return alone * hidden[0]
    least = [0.0] + [math.inf] * alone  # by the number of places, in as many groups as the loop has seen
    for _ in range(min(groups, alone)):
        grown = [min((least[n - j] + hidden[j - 1] for j in range(1, min(n, len(hidden)) + 1)), default=0.0)
                 for n in range(alone + 1)]  # fmt: skip
        least = [min(a, b) for a, b in zip(least, grown, strict=True)]
    return least[alone]


def unsaid(plan: Release) -> tuple[int, ...]:
    """The queries whose groups have neither public names nor a threshold: a name there may give one person away."""
    return tuple(one.position for one in contributions(plan) if one.named and one.query.threshold is None)


def named_delta(plan: Release, epsilon: float) -> float:
    """The δ that published names add to the guarantee: the chance that some name gives a person away."""
    chances = [(one.groups, listed(plan, one.position, epsilon)) for one in contributions(plan) if one.named]
    if not chances or any(p == 1 for _, p in chances):
        return float(bool(chances))
    return -math.expm1(math.fsum(groups * math.log1p(-p) for groups, p in chances))
