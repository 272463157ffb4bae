"""The error of a release: what its noise, its limits, its bounds and its thresholds do to the answers of the table.

The error of an answer is measured against the answer on the whole table, and holds in 95 of 100 releases: the answer
is published, and no farther off than this. It is shown apart (the noise by itself, what limits on contributions
dropped, what bounds cut off, how often a threshold hides the group) and together. A limit on the error is a promise
about every published number, so that it is judged by the group whose error is largest for its answer; the typical group
stands beside it. Answers of 0 have no error to compare with and are left out. All of it but the noise is read from the
confidential table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property

import numpy as np

from ..attacks.tampering_detection.hiding import hidden_bias
from ..checks import Array
from ..data.queries import Noise as Kind
from ..data.queries import QueryKind
from ..errors import InputError
from ..numerics.roots import safe_boundary
from ..plan.answers import Answer
from ..plan.contribution import Noisy
from ..plan.noise import contributions
from ..plan.plan import ERROR, Release
from .errors import additive
from .law import LEVEL, Columns, Law, law_of, together

#: The largest ε anything is read at: a limit that holds there is never broken.
MOST_EPSILON = 700.0
LEAST_EPSILON = 1e-9
SEED = 20251115
FALSE_ALARMS = 0.05


class Cause(StrEnum):
    """What an error is mostly made of."""

    NOISE = "noise"  # more ε mends it
    BIAS = "bias"  # only other limits or bounds do
    HIDDEN = "hidden"  # a threshold hides the answer too often


@dataclass(frozen=True)
class GroupError:
    """The error of one group's answer, apart and together.

    ``noise`` is the 95% error of the noise by itself; ``contribution`` and ``clamping`` are what limits and bounds
    moved the answer by, with their sign; ``hidden`` is the chance that a threshold keeps it back; ``error`` counts all
    of it, and is infinite where it is kept back in more than 5 of 100 releases. ``published`` leaves the threshold out:
    the error where the answer is published. ``together`` is the half-width of a band that holds for all groups of the
    query at once, in 95 of 100 releases.
    """

    answer: Answer
    noise: float
    contribution: float
    clamping: float
    hidden: float
    published: float
    together: float
    error: float

    @property
    def bias(self) -> float:
        """What limits and bounds moved the answer by."""
        return self.contribution + self.clamping

    @property
    def relative(self) -> float:
        """The error as a share of the answer; infinite where that is 0."""
        return self.error / abs(self.answer.value) if self.answer.value else math.inf

    @property
    def cause(self) -> Cause:
        """What most of it is."""
        if self.hidden > 1 - LEVEL:
            return Cause.HIDDEN
        return Cause.BIAS if abs(self.bias) > self.noise else Cause.NOISE


@dataclass(frozen=True)
class Errors:
    """The errors of one query at one ε: the scale of its noise (b or σ), the typical and the worst group.

    The typical group is the middle one by the rows behind it, the worst the one with the largest error for its answer;
    both None where every answer is 0. ``hidden`` is how far false records *together* may move the typical answer and be
    noticed at most every other time, by the best test with false alarms for 5 of 100 honest answers, of somebody who
    knows what the answer should be. An average has no Laplace or Gaussian noise of its own: the noise is that with the
    same 95% error.
    """

    epsilon: float
    scale: float
    typical: GroupError | None
    worst: GroupError | None
    hidden: float


@dataclass(frozen=True)
class QueryAccuracy:
    """One query's answers on this table and their errors.

    ``sensitivity`` is how far one person moves the answers together, an average's total. ``smallest_epsilon`` is the
    total ε that keeps the limit on error (infinite where none does, and then ``obstacle`` says why).
    """

    name: str
    kind: QueryKind
    index: int
    share: float
    sensitivity: float
    answers: tuple[Answer, ...]
    planned: Errors
    recommended: Errors | None
    smallest_epsilon: float | None = None
    obstacle: Cause | None = None

    @cached_property
    def columns(self) -> Columns:
        """The answers as columns."""
        return Columns.of(self.answers)

    @property
    def typical(self) -> float:
        """The size of the typical answer; 0 where every answer is."""
        return abs(self.planned.typical.answer.value) if self.planned.typical else 0.0

    @property
    def divisor(self) -> float:
        """The rows the typical average is divided by; 1 for other queries."""
        if self.kind is not QueryKind.AVERAGE or self.planned.typical is None:
            return 1.0
        return float(max(self.planned.typical.answer.rows, 1))

    def law(self, epsilon: float, plan: Release) -> Law:
        """What it publishes at this ε."""
        return law_of(plan, self.index, self.columns, epsilon)

    def at(self, epsilon: float, plan: Release) -> Errors:
        """Its errors at this ε."""
        return _errors(self.law(epsilon, plan), self.answers, epsilon)

    def relative(self, epsilon: float, plan: Release) -> float:
        """The error as a share of the answer, in the group where that is largest; infinite where every answer is 0."""
        return self.law(epsilon, plan).worst()[1]

    def too_noisy(self, epsilon: float, plan: Release) -> bool:
        """Whether the error of some group is over the limit at this ε."""
        allowed = plan.error_limit
        return allowed is not None and bool(self.typical) and self.relative(epsilon, plan) > allowed

    def bands(
        self, epsilon: float, plan: Release, *, all_together: bool = False, limited: bool = False
    ) -> tuple[float, ...]:
        """For each group the half-width around the whole table's answer that holds in 95 of 100 releases.

        ``limited``: around what limits and bounds leave of it, which is where the noise falls.

        Each for itself, or ``all_together``: the noises of the groups are independent, so that k bands at the level
        .95^(1/k) hold together in exactly 95 of 100. Groups that a threshold hides break no band.
        """
        level = together(len(self.answers)) if all_together else LEVEL
        law = self.law(epsilon, plan).open()
        law = law.of(law.columns.without_bias()) if limited else law
        return tuple(float(e) for e in law.errors(level))


def accuracy_of(plan: Release, index: int, answers: tuple[Answer, ...], recommended: float | None) -> QueryAccuracy:
    """Read the errors of one query at the planned and, where there is one, the recommended ε."""
    query, columns = plan.queries[index], Columns.of(answers)
    noisy = Noisy.TOTAL if query.kind is QueryKind.AVERAGE else Noisy.ANSWER
    sensitivity = contributions(plan)[index].sensitivity(noisy, plan.mechanism.neighbours, 1)

    def read(epsilon: float) -> Errors:
        return _errors(law_of(plan, index, columns, epsilon), answers, epsilon)

    better = read(recommended) if recommended and math.isfinite(recommended) else None
    name, share = str(query.planned()), plan.shares[index]
    return QueryAccuracy(name, query.kind, index, share, sensitivity, answers, read(plan.epsilon), better)


def _errors(law: Law, answers: tuple[Answer, ...], epsilon: float) -> Errors:
    typical, (worst, _) = _typical(law.columns), law.worst()
    two = {place: _group(law, answers, place) for place in {typical, worst} if place >= 0}
    middle = two.get(typical)
    noise = middle.noise if middle else float(additive(law.noise, np.zeros(()), np.asarray(law.scale), _MISS))
    return Errors(epsilon, law.scale, middle, two.get(worst), _hidden(law.noise) * noise)


def _typical(columns: Columns) -> int:
    """The middle group by rows among those whose answer is not 0, the smaller of two; −1 where there is none."""
    rated = np.flatnonzero(columns.value)
    order = np.lexsort((np.abs(columns.value[rated]), columns.rows[rated]))
    return int(rated[order[(rated.size - 1) // 2]]) if rated.size else -1


def _group(law: Law, answers: tuple[Answer, ...], place: int) -> GroupError:
    one, answer = law.of(law.columns.take(np.array([place]))), answers[place]

    def error(of: Law, level: float = LEVEL) -> float:
        return float(of.errors(level)[0])

    return GroupError(
        answer,
        noise=error(one.of(one.columns.without_bias()).open()),
        contribution=answer.contribution,
        clamping=answer.clamping,
        hidden=float(one.hidden[0]),
        published=error(one.open()),
        together=error(one.open(), together(len(answers))),
        error=error(one),
    )


_MISS = np.asarray(1 - LEVEL)


@cache
def _hidden(noise: Kind) -> float:
    """The bias that half of the tests miss (paper 003, corrected), as a share of the 95% error of the noise."""
    if noise is Kind.GAUSSIAN:
        bias = hidden_bias(sigma=1.0, alpha=FALSE_ALARMS, power=0.5)
    else:
        bias = hidden_bias(scale=1.0, alpha=FALSE_ALARMS, power=0.5)
    return float(bias) / float(additive(noise, np.zeros(()), np.ones(()), _MISS))


def error_epsilon(query: QueryAccuracy, plan: Release, limit: float) -> float | None:
    """The smallest total ε that keeps every group's error within the limit.

    None where every answer is 0; infinite where bias or a threshold alone break the limit. It is read again: the error
    at the ε returned is within the limit. (Errors fall with ε; those of averages of a handful of rows, whose noisy size
    is often less than 1, nearly always.)
    """
    if not limit > 0:
        raise InputError(f"limits.error is {limit:g}: give a share above 0, 0.15 for 15%", parameter=f"limits.{ERROR}")
    if not query.typical:
        return None

    def excess(epsilon: float) -> float:
        return query.relative(epsilon, plan) - limit

    if excess(MOST_EPSILON) > 0:
        return math.inf
    return LEAST_EPSILON if excess(LEAST_EPSILON) <= 0 else safe_boundary(excess, MOST_EPSILON, LEAST_EPSILON)


def limited(query: QueryAccuracy, plan: Release) -> QueryAccuracy:
    """The same with the ε that the plan's limit on error needs, and where none does, why."""
    if plan.error_limit is None:
        return query
    needed = error_epsilon(query, plan, plan.error_limit)
    worst = query.at(MOST_EPSILON, plan).worst if needed == math.inf else None
    return replace(query, smallest_epsilon=needed, obstacle=worst.cause if worst else None)


def simulate(query: QueryAccuracy, epsilon: float, plan: Release, releases: int = 20) -> Array:
    """Simulated releases to look at: one row a group, one column a release, always the same draws.

    What is drawn is what would be published: the answer after limits and bounds with its noise, of an average the
    noisy total over the noisy size, and not a number where a threshold hides the group.
    """
    law, rng = query.law(epsilon, plan), np.random.default_rng(SEED)
    columns, shape = law.columns, (len(query.answers), releases)

    def draw(scale: float) -> Array:
        return scale * (rng.normal(0, 1, shape) if law.noise is Kind.GAUSSIAN else rng.laplace(0, 1, shape))

    answers, noise = columns.bounded[:, None], draw(law.scale)
    if law.bounds is None:
        made = answers + noise
    else:
        low, high = law.bounds
        rows, centre = columns.rows[:, None], low / 2 + high / 2
        size = np.maximum(rows + draw(law.size_scale), 1.0)
        made = np.clip(centre + ((answers - centre) * rows + noise) / size, low, high)
    if law.threshold is not None:
        seen = made if law.people_scale is None else columns.people[:, None] + draw(law.people_scale)
        made = np.where((seen < law.threshold) | (columns.people[:, None] == 0), np.nan, made)
    return np.asarray(made)
