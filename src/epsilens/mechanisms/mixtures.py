"""Releases that move by a random distance: mixtures of normals, and batches in which people take the place of others.

**A mixture**: H0 = N(0, σ²), H1 = Σ w_j·N(c_j, σ²) (:mod:`epsilens.laws.mixture`, where it is proved to dominate
vectors whose norms are c_j). dp-accounting calls it ``MixtureOfGaussiansDpEvent``.

**In another's place.** A batch of b records holds j of a group of k with some probability w_j: Bin(b, k/n) where they
are drawn with replacement from n people, the group among them; hypergeometric without. Whoever is drawn takes another's
place, who may pull the other way: distance 2j, in clipping norms.

- *Add/remove*: tell the adversary whom the batch would hold without the group. Which of these places the group takes is
  independent of it, so N(0) against Σ w_j·N(2j) dominates; others who all pull one way and a group that pulls the other
  attain it. Exact, in both orders.
- *Replace*: each order of that pair is attained. From above the smaller of two bounds, each for t ≥ 1, with the laws
  exchanged below (the fold). Let S be the group's places in one world and S′ in the other, the same law in both: what
  the batches hold is then 2|S ∪ S′| apart at most.

  - With η the chance of several of the group in a batch, h(t) ≤ m((1−η)t) where m is the profile of the pair above. Let
    its best test at (1−η)t reject beyond τ, and c_S be the share of w_S·φ(τ−2|S|) among all of these. Leave those S′
    that hold several out of what is subtracted, and match the others with S by c so that S′ ⊆ S. That can be done, as
    c_∅ = w_∅/((1−η)t) is at most the share of S′ = ∅ among those that stay. Now each S is 2|S| away from what it is
    matched with, and its part ∫(w_S·dN − t(1−η)c_S·dH0)₊ at most what it is on the line (as in
    :mod:`epsilens.laws.mixture`), where all parts change sign at τ.
  - Advanced joint convexity (Balle, Barthe & Gaboardi 2018) with the places told: both worlds are (1−q)R + qA, R
    without the group, and A lies 2j from R and from the other A. So (1−q)N(0) + qN(2j) against N(0), told apart with
    w_j/q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, logsumexp

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.composition.composed_law import WIDTH, ComposedLaw
from ..laws.composition.step import Step
from ..laws.composition.wrappers import LeakyH0Step, SampledStep, SymmetrizedStep
from ..laws.mixture import draws_step, mixture_step
from ..laws.normal import KnownShiftStep, Normal, NormalStep
from ..laws.product import TwoSidedBound, strongest_attack, width_of
from ..numerics.special import log_binomial
from ..readings.law import Exactness, Law
from ..worlds import Relation, worlds_of_relation
from .batches import ScheduleSegment, merge_steps
from .builders import vectorized

_SLACK = 1e-9  # of weights that are to sum to 1
_HARDLY = 1e-6  # the chance that a batch holds none of a group, below which it is taken to hold all
_HALF, _MUCH = 0.5, 0.2  # of a batch that holds several; how often in all, before another bound is tried
_NOTHING = -700.0  # log mass


@vectorized("sigma")
def mixture(
    *,
    shifts: ArrayLike,
    weights: ArrayLike,
    sigma: ArrayLike,
    width: float | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """Normal noise ``sigma`` on an answer that a person moves by one of ``shifts``, each with its weight.

    Which one it is must not depend on the noise, is not told, and is drawn anew for every release. The shifts are
    distances, or norms of vectors: the pair on a line dominates them. Weights sum to 1; shifts of 0 say that the person
    does not count.

    >>> e = mixture(shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01], sigma=2.0)  # two people, each drawn 1 time of 10
    >>> round(e.repeat(100).epsilon(delta=1e-5), 2)
    5.18
    """
    moved = checks.in_range("shifts", shifts, 0.0, 1e150)
    share = checks.probability("weights", weights)
    if moved.ndim != 1 or share.shape != moved.shape or not moved.size:
        raise InputError(
            f"shifts has shape {moved.shape}, weights {share.shape}: give two lists of one length", parameter="weights"
        )
    total = math.fsum(share.tolist())
    if abs(total - 1) > _SLACK:
        raise InputError(f"weights sum to {total:.10g}: give probabilities that sum to 1", parameter="weights")
    noise = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    asked = WIDTH if width is None else width_of(width)
    worlds = worlds_of_relation(neighbours)
    parameters: dict[str, Any] = {"shifts": moved.tolist(), "weights": share.tolist(), "sigma": noise}
    if width is not None:
        parameters["width"] = asked
    parameters["neighbours"] = neighbours
    live = share > 0
    c, where = np.unique(moved[live] / noise, return_inverse=True)
    w = np.bincount(where, weights=share[live])
    if c.size == 1:
        return Experiment(Normal(c[0]), "mixture", parameters, worlds, ("one shift: exact",))
    if c[1] < 1e-12 or c[-1] > 1e6:
        raise InputError(
            f"shifts are {c[c > 0][0]:.3g} to {c[-1]:.3g} times sigma: give some from 1e-12 to 1e6 times",
            parameter="shifts",
        )
    note = (
        f"a mixture of normals: each value is the safe end of a proven bracket, {asked:.3g} wide where that is reached"
    )
    return Experiment(ComposedLaw([(mixture_step(c, np.log(w)), 1)], asked), "mixture", parameters, worlds, (note,))


# -- in another's place -----------------------------------------------------------------------------------------------


def substitution_law(
    rows: Sequence[ScheduleSegment], neighbours: Relation, width: float, people: int, again: bool
) -> Law:
    """Batches of fixed size in which some of a group take the place of others; ``again`` if drawn with replacement."""
    steps = merge_steps([(_membership_step(row, people, again), row.steps) for row in rows])
    if all(isinstance(step, NormalStep) for step, _ in steps):
        return Normal(np.asarray(math.sqrt(math.fsum(k * step.shift**2 for step, k in steps))))
    each = ComposedLaw(steps, width)
    if neighbours is Relation.ADD_REMOVE:
        return each
    used = [[(_leaky_step(row, people, again), row.steps) for row in rows]]
    lost = any(_exceeds_unit_mass(step) for step, _ in used[0])
    if lost or math.fsum(row.steps * _multiple_probability(row, people, again) for row in rows) > _MUCH:
        used = used[lost:]
        used.append([(_convexity_step(row, people, again), row.steps) for row in rows])
    far = math.sqrt(math.fsum(row.steps * (2 * _largest_overlap(row, people, again) / row.sigma) ** 2 for row in rows))
    # where nothing is left to chance they are what comes last
    used = [counted for counted in used if not all(isinstance(step, NormalStep) for step, _ in counted)]
    bounds = (
        *(ComposedLaw(merge_steps(counted), width, bound=True) for counted in used),
        Normal(np.asarray(far), known=Exactness.BOUND),  # as if every batch held all of the group
    )
    return TwoSidedBound(bounds, attained=strongest_attack((each.other_side(), each.reverse().other_side())))


def _exceeds_unit_mass(step: Step) -> bool:
    """Whether the fold has more mass than a law: what was lost outweighs all that the rest shows."""
    return isinstance(step, SymmetrizedStep) and step.overfull


def _membership_step(row: ScheduleSegment, people: int, again: bool) -> Step:
    """N(0) against Σ w_j·N(2j)."""
    mu = 2 / row.sigma
    if again:
        return draws_step(mu, _group_share(row, people), row.batch)
    j, log_w = _overlap_distribution(row, people, again)
    return mixture_step(mu * j, log_w) if j.size > 1 else NormalStep(mu * float(j[0]))


def _leaky_step(row: ScheduleSegment, people: int, again: bool) -> Step:
    """The fold of N(0) against Σ w_j·N(2j) that lost what several of a group in one batch weigh."""
    several = _multiple_probability(row, people, again)
    step = _membership_step(row, people, again)
    if several >= _HALF or isinstance(step, NormalStep):
        return NormalStep(2 / row.sigma * _largest_overlap(row, people, again))
    return SymmetrizedStep(LeakyH0Step(step, several) if several > 0 else step)


def _convexity_step(row: ScheduleSegment, people: int, again: bool) -> Step:
    """The fold of (1−q)N(0) + qN(2j) against N(0), told apart."""
    j, log_w = _overlap_distribution(row, people, again)
    none = math.exp(float(log_w[0])) if j[0] == 0 else 0.0
    moving = (j > 0) & (log_w > _NOTHING)
    shifts = 2 / row.sigma * j[moving]
    if none < _HARDLY:  # as if all of them were in it
        return NormalStep(2 / row.sigma * float(j[-1]))
    step = KnownShiftStep(tuple(shifts.tolist()), tuple(log_w[moving].tolist()))
    rest = float(np.exp(log_w[moving] - logsumexp(log_w[moving])) @ erf(shifts / math.sqrt(8)))
    return SymmetrizedStep(SampledStep(step, 1 - none), none * rest)


def _largest_overlap(row: ScheduleSegment, people: int, again: bool) -> int:
    """How many of a group a batch holds at most."""
    return row.batch if again else min(row.batch, people)


def _multiple_probability(row: ScheduleSegment, people: int, again: bool) -> float:
    """The chance that it holds more than one."""
    j, log_w = _overlap_distribution(row, people, again)
    return float(np.exp(log_w[j > 1]).sum())


def _group_share(row: ScheduleSegment, people: int) -> float:
    if people >= row.n:
        raise InputError(f"people is {people}, of n = {row.n}: give a group that leaves others", parameter="people")
    return people / row.n


def _overlap_distribution(row: ScheduleSegment, people: int, again: bool) -> tuple[Array, Array]:
    """How many of a group a batch holds, and the logarithms of how likely that is."""
    share, n, b = _group_share(row, people), row.n, row.batch
    if again:
        j = np.arange(0.0, b + 1)
        return j, log_binomial(b, j, share)
    j = np.arange(float(max(0, b + people - n)), min(b, people) + 1)
    p = b / n
    if b == n:
        return j, np.zeros(j.size)
    return j, log_binomial(people, j, p) + log_binomial(n - people, b - j, p) - log_binomial(n, b, p)
