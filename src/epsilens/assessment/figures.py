"""What is told of an assessed release at the few ε that a report speaks of: computed once, before anything is written.

:mod:`epsilens.show` reads these, and computes none of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..checks import Array
from ..plan.noise import name_delta
from .accuracy import QueryErrors, simulate
from .risks import AdversaryRisk, group_risks
from .split import Division, basis_of, division, resplit

if TYPE_CHECKING:
    from .assess import Assessment

#: The groups whose simulated answers are kept to be drawn, and those whose bands are listed.
DRAWN_GROUPS, LISTED_GROUPS = 12, 200


@dataclass(frozen=True)
class QueryFigures:
    """The errors of one query at one ε.

    ``relative`` is the 95% error as a share of the answer, in the group where that is largest; infinite where every
    answer is 0. ``too_noisy`` says that it is over the limit on error.
    """

    errors: QueryErrors
    relative: float
    too_noisy: bool


@dataclass(frozen=True)
class ReleaseFigures:
    """What is told of the release at one ε.

    ``names`` is the δ that published names of groups add; ``together`` how often it is guessed right, at most, whether
    so many people are in the table or none of them.
    """

    queries: tuple[QueryFigures, ...]
    names: float
    together: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class SimulatedReleases:
    """Twenty releases of one query at one ε, a row a group, and for each group the band that holds 95 of 100.

    ``around`` are the half-widths around what limits and bounds leave of the answer, ``each`` around the answer
    itself, ``together`` those that hold for all groups at once.
    """

    draws: Array
    around: tuple[float, ...]
    each: tuple[float, ...]
    together: tuple[float, ...]


def shown_epsilons(a: Assessment) -> tuple[float, ...]:
    """The ε that a report speaks of, the planned one first."""
    v = a.verdict
    others = (v.alternative, v.instead, v.recommended, v.enough)
    return tuple(dict.fromkeys([a.epsilon, *(e for e in others if e and math.isfinite(e))]))


def release_figures(a: Assessment) -> Mapping[float, ReleaseFigures]:
    """The figures at every ε that a report speaks of."""
    made, plan = {}, a.release
    for epsilon in shown_epsilons(a):
        queries = tuple(
            QueryFigures(
                q.planned if epsilon == a.epsilon else q.at(epsilon, plan),
                q.relative(epsilon, plan),
                q.too_noisy(epsilon, plan),
            )
            for q in a.queries
        )
        together = a.together if epsilon == a.epsilon else group_risks(plan, epsilon)
        made[epsilon] = ReleaseFigures(queries, name_delta(plan, epsilon), together)
    return made


def simulated_releases(a: Assessment) -> Mapping[float, SimulatedReleases]:
    """Releases of the query to look at, at the planned ε and the one beside it."""
    q, plan = a.simulated_query, a.release
    if q is None:
        return {}
    return {
        epsilon: SimulatedReleases(
            simulate(q, epsilon, plan)[:DRAWN_GROUPS],
            q.bands(epsilon, plan, limited=True)[:DRAWN_GROUPS],
            q.bands(epsilon, plan)[:LISTED_GROUPS],
            q.bands(epsilon, plan, all_together=True)[:LISTED_GROUPS],
        )
        for epsilon in dict.fromkeys((a.epsilon, a.verdict.alternative or a.epsilon))
    }


@dataclass(frozen=True)
class SplitFigures:
    """The division of ε as planned, and every risk with the division of the least error."""

    planned: Division
    risks: tuple[AdversaryRisk, ...]


def split_figures(a: Assessment) -> SplitFigures | None:
    """What is told of the division of ε; None for one query, which has all of it."""
    basis = basis_of(a)
    if basis is None:
        return None
    shares, split = a.release.shares, basis.split
    known = next((way for way in (split.equal, split.best) if way.near(shares)), None)
    planned = known or division(a.release, [q.answers for q in a.queries], a.epsilon, shares)
    taken = not split.gains or split.best.near(shares)
    return SplitFigures(planned, a.risks if taken else resplit(a.release, basis, basis.split.best.shares).risks)
