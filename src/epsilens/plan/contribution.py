r"""What one protected person adds to each noisy number of a query, at most: the vertices of what is possible.

A query publishes for each group one or several *noisy numbers* (:class:`NoisyNumber`). A person adds at most m =
``max_rows`` rows to them, spread over at most G groups; a count of people has them once in each of G. What moves
between two worlds are the vertices of Theorem P3 in docs/proofs/plans.md, and extreme points suffice (Theorem P5).

Where the names of groups are not public, a person who is alone in a group has no number there that anybody could
compare: the name itself is what shows them, if it is published (:attr:`Vertex.alone`).

k people together (``people``) move numbers k times as far: what k of them do lies in k times the hull of what one does.
Names are no part of that hull. Of the k·G places that they take in groups any number N may be where nobody else is, and
the rest moves numbers, all of them in as few groups as hold them, which is the worst.

How much noise each number gets follows from it. A query gets its share of ε (and of δ), and its noisy numbers divide
that equally. Laplace noise has the scale b = Δ₁/ε, Gaussian noise σ = Δ₂/ψ(ε, δ) with the analytic ψ. A threshold τ
publishes the name of a group where the noisy number of its people is at least τ: a person who is alone there is listed
with the chance

    p = ½·exp(−(τ − 1)/b),   Gaussian: p = Φ(−(τ − 1)/σ),

and being listed leaves no doubt. ``auto`` takes the least whole τ that keeps the chance of it in all of the person's
groups, 1 − (1 − p)^G, at the query's share of δ (Lemma P6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from ..checks import Array
from ..data.queries import Noise, QueryKind
from ..errors import InputError
from ..mechanisms.noise import calibrated_psi
from ..worlds import Relation
from .model import Data, Release, ReleaseQuery, Size, Threshold

#: Up to so many places in groups each number of them where nobody else is is a vertex of its own.
_MOST_ALONE = 10


class NoisyNumber(StrEnum):
    """A noisy number that a query publishes, or uses, for each of its groups."""

    ANSWER = "answer"  # a count or a sum
    TOTAL = "total"  # Σ(x − centre) of an average
    SIZE = "size"  # the rows behind an average
    PEOPLE = "people"  # those a threshold looks at; a count of people is compared with it by itself
    TOUCHED = "touched"  # of all groups together: those of whom a limit leaves something out


def noisy_numbers(query: ReleaseQuery) -> tuple[NoisyNumber, ...]:
    """The noisy numbers of each group of a query, which share its ε equally, and the people whom its limit touched.

    >>> noisy_numbers(ReleaseQuery(average="income", bounds=(0, 1), by="site", threshold=20))
    (<NoisyNumber.TOTAL: 'total'>, <NoisyNumber.SIZE: 'size'>, <NoisyNumber.PEOPLE: 'people'>)
    """
    made: tuple[NoisyNumber, ...] = (NoisyNumber.ANSWER,)
    if query.kind is QueryKind.AVERAGE:
        made = (NoisyNumber.TOTAL,) if query.size is Size.PUBLIC else (NoisyNumber.TOTAL, NoisyNumber.SIZE)
    counted = not query.kind.bounded and not query.rows
    made = made if query.threshold is None or counted else (*made, NoisyNumber.PEOPLE)
    return made if query.touched is None else (*made, NoisyNumber.TOUCHED)


@dataclass(frozen=True)
class Shift:
    """One noisy number moves by ``amount``, in its own unit, in ``times`` groups."""

    noisy: NoisyNumber
    amount: float
    times: int = 1


@dataclass(frozen=True)
class Vertex:
    """An extreme way in which one person moves a query between two worlds.

    ``alone`` are the places of theirs in groups that exist because of them, in the first world and in the second: one
    a group for each person, or the people of a household there where those are counted. ``exact`` is false where the
    vertex bounds several ways together.
    """

    moved: tuple[Shift, ...] = ()
    alone: tuple[int, int] = (0, 0)
    exact: bool = True

    def moved_to(self, other: Vertex) -> Vertex:
        """Leaving the groups of this one for other groups; whom a limit touched is one person all the same."""
        moved = tuple(m for m in other.moved if m.noisy is not NoisyNumber.TOUCHED)
        return Vertex(self.moved + moved, (self.alone[1], other.alone[1]), self.exact and other.exact)


@dataclass(frozen=True)
class PersonContribution:
    """What ``people`` protected people add to one query; ``position`` is the query's place in the plan."""

    position: int
    query: ReleaseQuery
    data: Data
    people: int = 1

    @cached_property
    def noisy(self) -> tuple[NoisyNumber, ...]:
        return noisy_numbers(self.query)

    @cached_property
    def counted(self) -> bool:
        """Whether each protected person counts once in a group, whatever their rows."""
        return not self.query.kind.bounded and not self.query.rows and self.data.unit is None

    @cached_property
    def rows(self) -> int:
        """m: the most rows of one person; of a household, the most people in a count."""
        return self.data.max_rows if self.data.several else 1

    @cached_property
    def groups(self) -> int:
        """G: the most groups one person is in."""
        if not self.query.split_by:
            return 1
        most = (self.data.max_groups or 1) if self.counted else min(self.data.max_groups or self.rows, self.rows)
        return min(most, self.labels) if self.labels else most

    @cached_property
    def labels(self) -> int | None:
        """How many groups there are, where the plan lists them."""
        return None if self.query.groups is None else len(self.query.groups)

    @cached_property
    def split(self) -> bool:
        """Whether a person can move from one group to another."""
        return bool(self.query.split_by) and self.labels != 1

    @cached_property
    def named(self) -> bool:
        """Whether the names of the groups come from the data."""
        return bool(self.query.split_by) and self.labels is None

    @cached_property
    def households(self) -> bool:
        """Whether people of a household are counted: a threshold then sees as many as are in a group."""
        return self.data.unit is not None and NoisyNumber.PEOPLE not in self.noisy

    @cached_property
    def owner_size(self) -> int:
        """How many people a threshold sees where one person, or household, is alone."""
        return self.rows if self.households else 1

    @cached_property
    def places(self) -> int:
        """How many places in groups they take that a threshold counts."""
        return self.people * (self.rows if self.households else self.groups)

    @property
    def alike(self) -> tuple[float, int, int, int]:
        """What the chance of a published name depends on, but for the share of ε and the threshold."""
        return self.part(self.noisy[0]), self.groups, self.owner_size, self.rows

    def part(self, noisy: NoisyNumber) -> float:
        """The part of the query's ε, and of its δ, that one kind of number gets."""
        if self.query.touched is None:
            return 1 / len(self.noisy)
        if noisy is NoisyNumber.TOUCHED:
            return self.query.touched
        return (1 - self.query.touched) / (len(self.noisy) - 1)

    @cached_property
    def drops(self) -> bool:
        """Whether a limit on contributions may leave something of a person out."""
        if not self.data.several or (self.counted and not self.query.split_by):
            return False
        return not self.counted or self.labels is None or self.labels > self.groups

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """l and u; 0 and 1 for what is counted."""
        return self.query.bounds or (0.0, 1.0)

    @cached_property
    def _largest(self) -> float:
        return max(abs(self.bounds[0]), abs(self.bounds[1]))

    @cached_property
    def _span(self) -> float:
        return max(self.bounds[1], 0.0) - min(self.bounds[0], 0.0)

    @cached_property
    def half(self) -> float:
        """h: half of the width of the bounds."""
        return self.bounds[1] / 2 - self.bounds[0] / 2

    def _rows_in_one(self, rows: int) -> tuple[Shift, ...]:
        """So many rows, all in one group and all at a bound."""
        if not rows:
            return ()
        match self.query.kind:
            case QueryKind.SUM:
                return (Shift(NoisyNumber.ANSWER, rows * self._largest),)
            case QueryKind.AVERAGE:
                total = Shift(NoisyNumber.TOTAL, rows * self.half)
                return (total, Shift(NoisyNumber.SIZE, float(rows))) if NoisyNumber.SIZE in self.noisy else (total,)
            case _:
                return (Shift(NoisyNumber.ANSWER, float(rows)),)

    def _in_groups(self, noisy: NoisyNumber, places: int) -> tuple[Shift, ...]:
        """So many places, no person twice in a group, in as few groups as hold them."""
        full, rest = divmod(places, self.people)
        made = (Shift(noisy, float(self.people), full), Shift(noisy, float(rest), 1 if rest else 0))
        return tuple(m for m in made if m.times)

    @cached_property
    def _touched(self) -> tuple[Shift, ...]:
        """Those of whom a limit leaves something out: each may be one of them in one world alone."""
        return () if self.query.touched is None else (Shift(NoisyNumber.TOUCHED, float(self.people)),)

    def _present(self, alone: int) -> Vertex:
        """Present, and in so many places alone."""
        others = self.places - alone
        if self.counted:
            return Vertex((*self._in_groups(NoisyNumber.ANSWER, others), *self._touched), (0, alone))
        if not others:
            return Vertex((), (0, alone))
        if self.households:
            return Vertex(self._rows_in_one(others), (0, alone))
        people = self._in_groups(NoisyNumber.PEOPLE, others) if NoisyNumber.PEOPLE in self.noisy else ()
        # Each group takes a row at least, and who is alone in all of their groups has none left.
        rows = min(self.people * self.rows - alone, others * (self.rows - self.groups + 1))
        return Vertex((*self._rows_in_one(rows), *people), (0, alone), exact=others == 1 or not people)

    @cached_property
    def present(self) -> tuple[Vertex, ...]:
        """A: what they add by being there.

        Every number of places where they are alone; beyond ten of them some stand for those just below as well, with
        the names of the most and the numbers of the least, which bounds them.
        """
        if not self.named:
            return (self._present(0),)
        if self.households and self.people * self.groups == 1:  # a household in one group is there as a whole
            return self._present(0), self._present(self.places)
        step = -(-self.places // _MOST_ALONE)
        made = [self._present(0)]
        for least in range(1, self.places + 1, step):
            most = min(least + step - 1, self.places)
            vertex = self._present(least)
            made.append(replace(vertex, alone=(0, most), exact=vertex.exact and most == least))
        return tuple(made)

    @cached_property
    def changed(self) -> tuple[Vertex, ...]:
        """What other values do in one group, rows and groups being what they are; one world may have none there."""
        m = self.people * self.rows
        match self.query.kind:
            case QueryKind.SUM:
                return (Vertex((Shift(NoisyNumber.ANSWER, m * self._span),)),)
            case QueryKind.AVERAGE:
                wide = Vertex((Shift(NoisyNumber.TOTAL, 2 * m * self.half),))
                return (wide, Vertex(self._rows_in_one(m))) if NoisyNumber.SIZE in self.noisy else (wide,)
            case _:
                return (Vertex((*self._rows_in_one(self.people if self.counted else m), *self._touched)),)

    @cached_property
    def valued(self) -> tuple[Vertex, ...]:
        """What other values do where every row has one: no row comes or goes."""
        noisy = NoisyNumber.TOTAL if self.query.kind is QueryKind.AVERAGE else NoisyNumber.ANSWER
        return (Vertex((Shift(noisy, 2 * self.people * self.rows * self.half),)),)

    @cached_property
    def twice(self) -> tuple[Vertex, ...]:
        """Out of some groups and into others."""
        made = tuple(a.moved_to(b) for a, b in product(self.present, repeat=2))
        if self.counted and self.labels is not None and self.labels < 2 * self.groups:
            return (Vertex((Shift(NoisyNumber.ANSWER, float(self.people), self.labels), *self._touched)),)
        return made

    @cached_property
    def replaced(self) -> tuple[Vertex, ...]:
        """R: any rows instead of any others."""
        if NoisyNumber.SIZE not in self.noisy and self.query.kind is QueryKind.AVERAGE:
            return self.changed  # sizes are public: nobody comes or goes
        if not self.split:
            return (*self.present, *self.changed)
        return (*self.twice, *self.changed)

    def sensitivity(self, noisy: NoisyNumber, neighbours: Relation, power: int) -> float:
        """The largest L1 (``power`` 1) or L2 norm by which one person moves the numbers of a kind in all groups.

        >>> query = ReleaseQuery(sum="x", bounds=(-1, 3), by="site", groups=("a", "b", "c"))
        >>> one = PersonContribution(0, query, Data(table="t"))
        >>> [one.sensitivity(NoisyNumber.ANSWER, relation, 1) for relation in Relation]
        [3.0, 6.0]
        """
        one = self if self.people == 1 else replace(self, people=1)
        vertices = one.present if neighbours is Relation.ADD_REMOVE else one.replaced
        moved = [[m for m in v.moved if m.noisy is noisy] for v in vertices]
        # By a power of two, which changes no digit: squares of bounds far from 1 are no doubles.
        exponent = math.frexp(max((m.amount for each in moved for m in each), default=0.0))[1]
        most = max(math.fsum(m.times * math.ldexp(m.amount, -exponent) ** power for m in each) for each in moved)
        return math.ldexp(most if power == 1 else math.sqrt(most), exponent)


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
