"""Better bounds and limits, where the planned ones lose more than the noise.

A bound that cuts more off, or a limit on contributions that drops more, than the noise hides in the worst group of some
query is not made good by any ε. Every candidate (:mod:`epsilens.plan.spread`) is answered exactly and its error read as
the plan's own is; the one with the least error is proposed. Choosing so looks at the confidential data, and every
proposal says it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..plan.answers import Answer
from ..plan.contribution import Contribution
from ..plan.plan import Release
from ..plan.spread import Candidate, Parameter
from .accuracy import QueryAccuracy
from .law import Columns, law_of

#: A proposal takes at least this share of the error away.
_WORTH = 0.1


@dataclass(frozen=True)
class Proposal:
    """A better choice for one query: ``error_now`` and ``error_then`` are shares of the answer, in the worst group.

    ``parameter`` is the query's own for bounds, the plan's for ``max_rows`` and ``max_groups``: those change the noise
    of other queries too, and are proposed only where the largest error of all queries does not grow.
    """

    query: int
    parameter: Parameter
    value: tuple[float, float] | int
    error_now: float
    error_then: float
    looks_at_data: bool = True


def lost_by(plan: Release, accuracy: Sequence[QueryAccuracy]) -> tuple[tuple[int, Parameter], ...]:
    """The choices that lose more than the noise hides, in the typical or the worst group of each query."""
    return tuple(dict.fromkeys(_lost(plan, accuracy)))


def _lost(plan: Release, accuracy: Sequence[QueryAccuracy]) -> Iterator[tuple[int, Parameter]]:
    for query in accuracy:
        one = Contribution(query.index, plan.queries[query.index], plan.data)
        for group in (query.planned.typical, query.planned.worst):
            if group is None:
                continue
            if abs(group.clamping) > group.noise:
                yield query.index, Parameter.BOUNDS
            if abs(group.contribution) > group.noise:
                if not one.counted:
                    yield query.index, Parameter.MAX_ROWS
                if one.counted or (plan.data.max_groups is not None and one.query.split_by):
                    yield query.index, Parameter.MAX_GROUPS


def proposals(
    plan: Release, accuracy: Sequence[QueryAccuracy], candidates: Sequence[Candidate]
) -> tuple[Proposal, ...]:
    """The best candidate for each choice that loses too much, where it is worth its while."""
    now = [_error(plan, q.index, q.answers) for q in accuracy]
    found = []
    for query, parameter in lost_by(plan, accuracy):
        if parameter is Parameter.BOUNDS:
            mine = [c for c in candidates if (c.query, c.parameter) == (query, parameter)]
            tried = [(_error(c.plan, query, c.answers[0]), i) for i, c in enumerate(mine)]
            error, place = min(tried, default=(math.inf, 0))
            if error < now[query] * (1 - _WORTH):
                found.append(Proposal(query, parameter, mine[place].value, now[query], error))
    for parameter in (Parameter.MAX_ROWS, Parameter.MAX_GROUPS):
        losing = [query for query, lost in lost_by(plan, accuracy) if lost is parameter]
        mine = [c for c in candidates if c.parameter is parameter]
        errors = [[_error(c.plan, i, a) for i, a in enumerate(c.answers)] for c in mine]
        kept = [i for i, e in enumerate(errors) if _worst(e) <= _worst(now) * (1 + 1e-9)]
        place = min(kept, key=lambda i: max(errors[i][q] for q in losing), default=-1)
        query = max(losing, key=lambda q: now[q], default=-1)
        if place >= 0 and query >= 0 and errors[place][query] < now[query] * (1 - _WORTH):
            found.append(Proposal(query, parameter, mine[place].value, now[query], errors[place][query]))
    return tuple(found)


def _worst(errors: Sequence[float]) -> float:
    return max((e for e in errors if math.isfinite(e)), default=0.0)


def _error(plan: Release, i: int, answers: Sequence[Answer]) -> float:
    """The largest error for its answer among published groups."""
    return law_of(plan, i, Columns.of(answers), plan.epsilon).open().worst()[1]
