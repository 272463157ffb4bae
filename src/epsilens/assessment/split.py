r"""How the queries share ε: the division whose largest relative error is least, beside the equal one.

A query's error falls as its share grows. For a common relative error r each query needs a least share s_i(r), and the
best division is the smallest r with Σ s_i(r) ≤ 1: every query then has the same error. Without bias and with Laplace
noise that is s_i ∝ Δ_i/|answer_i| (the ln 20 is common to all); Gaussian noise takes its share of δ with its share of
ε, and every other case is found by one search over r and one over each share.

What no division can mend does not starve the rest:

* a query whose bias outweighs its noise in its worst group, even at the best division, is judged by its noise alone,
  and the division is found again;
* what a threshold hides is decided by the threshold: answers are judged as published, and groups that are hidden more
  often than not (under equal shares) are left out;
* a query with nothing to compare its error with, every answer being 0, keeps the equal share.

The largest error, bias and all, is never above that of equal shares by more than a tenth of it: a query that would have
it, judged by its noise alone, keeps the share that it needs, and the others divide the rest.

Choosing a division by the answers looks at the data.

Who is isolated, how people resemble each other and what the answers are does not depend on how ε is divided. With these
in hand (:class:`SplitBasis`) the risks and errors of any division are read exactly, by the functions that read the
plan's own: nothing is scanned again, nothing interpolated.

What is told of an assessed release at the few ε that a report speaks of stands here too: computed once, before anything
is written, and read by :mod:`epsilens.show`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import Chebyshev

from ..checks import Array
from ..data.queries import Noise
from ..data.scan.result import Scan
from ..errors import InputError
from ..mechanisms.noise import calibrated_psi
from ..numerics.roots import safe_boundary
from ..plan.answers import ExactAnswer
from ..plan.contribution import name_delta, noisy_numbers
from ..plan.model import Release
from ..plan.movement import CorrelationFactor
from .accuracy import Cause, QueryErrors, simulate
from .adversaries import Setting
from .error_law import LEVEL, AnswerColumns, ErrorLaw, error_law
from .risks import AdversaryRisk, group_risks, reread_risks

if TYPE_CHECKING:
    from .assess import Assessment


#: No query gets less than this share of ε.
LEAST_SHARE = 1e-6
_FLOOR = LEAST_SHARE * (1 + 1e-8)  # rounding takes none of it below the least
_DEGREE = 40
_WORSE = 0.1  # relative: what the largest error may lose to bias, for the sake of all others
_NEAR = 1e-9  # relative: more than the errors of a rough scale, and shares that differ by it are the same
_GAIN = 0.005  # relative: a smaller gain is not worth a sentence


@dataclass(frozen=True)
class Division:
    """One way to divide ε: each query's share, and the error of its published answers in the group where that is
    largest for the answer, noise and bias; infinite where every answer is 0.
    """

    shares: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest error of a query that has answers to compare it with; 0 where none has."""
        return max((e for e in self.errors if math.isfinite(e)), default=0.0)

    def near(self, shares: Sequence[float]) -> bool:
        """Whether these are its shares, but for rounding."""
        return all(math.isclose(x, y, rel_tol=_NEAR) for x, y in zip(self.shares, shares, strict=True))


@dataclass(frozen=True)
class SplitComparison:
    """The equal division beside the best one.

    ``judged`` says by what each query's share was chosen: NOISE and bias together, or BIAS where the bias outweighs
    any noise the query could get, so that the noise alone was judged. The best division depends on the confidential
    answers.
    """

    equal: Division
    best: Division
    judged: tuple[Cause, ...]
    looks_at_data: bool = True

    @property
    def gains(self) -> bool:
        """Whether the best division makes the worst error less by enough to say so."""
        return self.best.worst < (1 - _GAIN) * self.equal.worst


class _SplitQuery:
    """One query under any share of ε; ``biased`` where its noise alone is judged."""

    def __init__(self, plan: Release, i: int, answers: Sequence[ExactAnswer], epsilon: float) -> None:
        everything, equal = AnswerColumns.of(answers), 1 / len(plan.queries)
        law = error_law(plan, i, everything, epsilon)
        self.gaussian, self.delta = law.noise is Noise.GAUSSIAN, plan.mechanism.delta or 0.0
        self.epsilon, self.parts, self.biased = epsilon, len(noisy_numbers(plan.queries[i])), False
        spread = self._spread(plan.shares[i])
        self.unit = law.scale / spread, law.size_scale / spread
        shown = error_law(plan.shared((equal,) * len(plan.queries)), i, everything, epsilon).hidden <= 0.5
        rated = np.flatnonzero((everything.value != 0) & shown)
        self.open = law.of(law.columns.take(rated)).open()
        self.sizes = np.abs(self.open.columns.value)

    def _spread(self, share: float, rough: bool = False) -> float:
        """The scale of the noise for a sensitivity of 1; ``rough``: to 1e-10, and quick."""
        part = share / self.parts
        if not self.gaussian:
            return 1 / (self.epsilon * part)
        if rough:
            return math.exp(-_log_psi(self.epsilon, self.delta, self.parts)(math.log(share)))
        return 1 / calibrated_psi(self.epsilon * part, self.delta * part, "analytic")

    def law(self, share: float, rough: bool = False) -> ErrorLaw:
        spread = self._spread(share, rough)
        return replace(self.open, scale=self.unit[0] * spread, size_scale=self.unit[1] * spread)

    def error(self, share: float) -> float:
        return self.law(share).worst()[1]

    def enough(self, most: float, share: float, little: float) -> float:
        """The least share that keeps this error: this one does, and so little does not."""
        return safe_boundary(lambda other: self.error(other) - most, share, little)

    def outweighed(self, share: float) -> bool:
        """Whether bias outweighs the noise in the worst group."""
        law = self.law(share)
        place = np.array([law.worst()[0]])
        one = law.columns.take(place)
        noise = law.of(one.without_bias()).errors()[0]
        return bool(abs(one.bounded[0] - one.value[0]) > noise)

    def judged(self, share: float) -> float:
        """The error that its share is chosen by."""
        if not self.biased:
            return self.error(share)
        law = self.law(share)
        return float(np.max(law.of(law.columns.without_bias()).errors() / self.sizes))

    def excess(self, share: float, relative: float) -> float:
        """Over 0 where the error that is judged is over this share of the answer in some group."""
        law = self.law(share, rough=True)
        law = law.of(law.columns.without_bias()) if self.biased else law
        with np.errstate(divide="ignore"):
            return float(np.log(np.max(law.miss(relative * self.sizes)) / (1 - LEVEL)))

    def least(self, relative: float, low: float, high: float) -> float:
        """The least share between these two that keeps the error; infinite where the higher does not."""
        if self.excess(high, relative) > 0:
            return math.inf
        if low == high or self.excess(low, relative) <= 0:
            return low
        return safe_boundary(lambda share: self.excess(share, relative), high, low)


@lru_cache(maxsize=32)
def _log_psi(epsilon: float, delta: float, parts: int) -> Chebyshev:
    """The logarithm of ψ(ε·share/parts, δ·share/parts) by that of the share, as a polynomial."""

    def psi(log_share: float) -> float:
        part = math.exp(log_share) / parts
        return math.log(calibrated_psi(epsilon * part, delta * part, "analytic"))

    return Chebyshev.interpolate(np.vectorize(psi), _DEGREE, domain=[math.log(LEAST_SHARE), 0.0])


def compare_splits(plan: Release, answers: Sequence[Sequence[ExactAnswer]], epsilon: float) -> SplitComparison:
    """The equal division and the best one, each with its errors."""
    shares, judged = _least(plan, answers, epsilon)
    equal = tuple(1 / len(plan.queries) for _ in plan.queries)
    best = division(plan, answers, epsilon, shares)
    return SplitComparison(division(plan, answers, epsilon, equal), best, judged)


def division(
    plan: Release, answers: Sequence[Sequence[ExactAnswer]], epsilon: float, shares: Sequence[float]
) -> Division:
    asked = [_SplitQuery(plan, i, one, epsilon) for i, one in enumerate(answers)]
    errors = (q.error(s) if q.sizes.size else math.inf for q, s in zip(asked, shares, strict=True))
    return Division(tuple(shares), tuple(errors))


def _least(
    plan: Release, answers: Sequence[Sequence[ExactAnswer]], epsilon: float
) -> tuple[tuple[float, ...], tuple[Cause, ...]]:
    asked = [_SplitQuery(plan, i, one, epsilon) for i, one in enumerate(answers)]
    equal = 1 / len(asked)
    rated = [q for q in asked if q.sizes.size]
    budget = len(rated) * equal
    found: list[float] = []
    while rated:
        found = _equalised(rated, budget)
        outweighed = [q for q, share in zip(rated, found, strict=True) if not q.biased and q.outweighed(share)]
        if not outweighed:
            break
        for query in outweighed:
            query.biased = True
    if any(q.biased for q in rated):
        found = _spared(rated, found, budget)
    of = iter(found)
    shares = [next(of) if q.sizes.size else equal for q in asked]
    shares[-1] = 1 - sum(shares[:-1])
    return tuple(shares), tuple(Cause.BIAS if q.biased else Cause.NOISE for q in asked)


def _spared(rated: list[_SplitQuery], found: list[float], budget: float) -> list[float]:
    """The shares, where none has an error, bias and all, above the largest of equal shares: who would keeps enough."""
    equal = budget / len(rated)
    most = max(q.error(equal) for q in rated) * (1 + _WORSE)
    kept: dict[int, float] = {}
    while broken := [i for i, q in enumerate(rated) if i not in kept and q.error(found[i]) > most]:
        for i in broken:
            kept[i] = rated[i].enough(most, equal, found[i])
        rest = [q for i, q in enumerate(rated) if i not in kept]
        if not rest:
            return [equal] * len(rated)
        others = iter(_equalised(rest, budget - sum(kept.values())))
        found = [kept[i] if i in kept else next(others) for i in range(len(rated))]
    return found


def _equalised(rated: list[_SplitQuery], budget: float) -> list[float]:
    """The shares of the smallest error that all can keep together within the budget, by halving it."""
    if len(rated) == 1:
        return [budget]
    most = budget - (len(rated) - 1) * _FLOOR
    start = budget / len(rated)
    above = max(q.judged(start) for q in rated) * (1 + _NEAR)  # equal shares keep it
    below = max(q.judged(most) for q in rated) * (1 - _NEAR)  # the query that sets it needs everything
    large = [most] * len(rated)
    small = [min(q.least(above, _FLOOR, start), start) for q in rated]
    if not above > below:
        return [start] * len(rated)  # no noise matters

    def over(relative: float) -> float:
        """Over 0 where they need more than the budget; what they need lies between what was found so far."""
        nonlocal small, large
        needed = [q.least(relative, s, b) for q, s, b in zip(rated, small, large, strict=True)]
        if sum(needed) <= budget:
            small = needed
        else:
            large = [min(n, b) for n, b in zip(needed, large, strict=True)]
        return math.log(sum(needed) / budget)

    safe_boundary(over, above, below)
    spare = budget / sum(small)
    return [s * spare for s in small]


# -- another division of an assessed release -----------------------------------------------------------------------


@dataclass(frozen=True)
class SplitBasis:
    """What was found in the table and does not depend on the division: the risks as assessed, the answers (without the
    names of their groups), who is isolated, who resembles whom; and the divisions compared.
    """

    risks: tuple[AdversaryRisk, ...]
    answers: tuple[tuple[ExactAnswer, ...], ...]
    scan: Scan | None
    relations: tuple[CorrelationFactor, ...]
    split: SplitComparison


@dataclass(frozen=True)
class Resplit:
    """The same release with other shares: its division with the errors, and the risks (``planned``) at its ε."""

    release: Release
    division: Division
    risks: tuple[AdversaryRisk, ...]


def basis_of(a: Assessment) -> SplitBasis | None:
    """What another division needs of an assessment; None for one query, which has all of ε."""
    if a.split is None:
        return None
    answers = tuple(tuple(replace(answer, group=()) for answer in q.answers) for q in a.queries)
    scan = None if a.scan is None else replace(a.scan, subsets=(), columns=(), shown=(), notes=())
    return SplitBasis(a.risks, answers, scan, a.relations, a.split)


def normalized_shares(shares: Sequence[float]) -> tuple[float, ...]:
    """Shares of 1 in the proportion of these numbers.

    >>> normalized_shares([50, 25, 25])
    (0.5, 0.25, 0.25)
    """
    total = sum(shares)
    for i, share in enumerate(shares):
        if not share > 0 or share < LEAST_SHARE * total:  # not above 0: also where it is not a number
            raise InputError(
                f"the share of query {i + 1} is {share:g}: give a number above 0, so that every query has some of ε",
                parameter=f"shares.{i + 1}",
            )
    return tuple(share / total for share in shares)


def resplit(plan: Release, basis: SplitBasis, shares: Sequence[float]) -> Resplit:
    """The risks and errors of the release with ε shared in this proportion."""
    if len(shares) != len(plan.queries):
        raise InputError(f"shares has {len(shares)} numbers: give {len(plan.queries)}, one for each query", "shares")
    other = plan.shared(normalized_shares(shares))
    read = reread_risks(Setting(other, basis.scan, basis.relations), basis.risks, other.epsilon, None)
    risks = tuple(replace(r, planned=r.planned if r.recommended is None else r.recommended) for r in read)
    return Resplit(other, division(other, basis.answers, other.epsilon, other.shares), risks)


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
