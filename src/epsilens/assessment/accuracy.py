"""The error of a release: what its noise, its limits, its bounds and its thresholds do to the answers of the table.

The error of an answer is measured against the answer on the whole table, and holds in 95 of 100 releases: the answer
is published, and no farther off than this. It is shown apart (the noise by itself, what limits on contributions
dropped, what bounds cut off, how often a threshold hides the group) and together. A limit on the error is a promise
about every published number, so that it is judged by the group whose error is largest for its answer; the typical group
stands beside it. Answers of 0 have no error to compare with and are left out. All of it but the noise is read from the
confidential table.

A bound that cuts more off, or a limit on contributions that drops more, than the noise hides in the worst group of some
query is not made good by any ε. Which others are worth trying is read from the table (quantiles of values,
rows and groups); every candidate is answered exactly and its error read as the plan's own is, and the one with the
least error is proposed. Choosing so looks at the confidential data, and every proposal says it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from functools import cache, cached_property
from itertools import accumulate, islice
from typing import Any

import numpy as np

from ..attacks.tampering_power import hidden_bias
from ..checks import Array
from ..data.queries import Noise as Kind
from ..data.queries import QueryKind
from ..data.tables.columns import column_of, value_of
from ..data.tables.engines import Engine, need_ibis
from ..data.tables.table import OpenTable
from ..errors import InputError
from ..numerics.roots import safe_boundary
from ..plan.answers import ExactAnswer, TableAnswers
from ..plan.contribution import NoisyNumber, PersonContribution, contributions
from ..plan.model import ERROR, Release, ReleaseQuery
from ..plan.scan_plan import Need, limited_need
from .error_law import LEVEL, AnswerColumns, ErrorLaw, additive_error, error_law, errors_of, joint_level, worst_groups

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

    answer: ExactAnswer
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
class QueryErrors:
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
    answers: tuple[ExactAnswer, ...]
    planned: QueryErrors
    recommended: QueryErrors | None
    smallest_epsilon: float | None = None
    obstacle: Cause | None = None

    @cached_property
    def columns(self) -> AnswerColumns:
        return AnswerColumns.of(self.answers)

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

    def law(self, epsilon: float, plan: Release) -> ErrorLaw:
        return error_law(plan, self.index, self.columns, epsilon)

    def at(self, epsilon: float, plan: Release) -> QueryErrors:
        return _errors(self.law(epsilon, plan), self.answers, epsilon)

    def relative(self, epsilon: float, plan: Release) -> float:
        """The error as a share of the answer, in the group where that is largest; infinite where every answer is 0."""
        return self.law(epsilon, plan).worst()[1]

    def relatives(self, epsilons: Sequence[float], plan: Release) -> tuple[float, ...]:
        """The same at each of several ε."""
        return tuple(share for _, share in worst_groups([self.law(epsilon, plan) for epsilon in epsilons]))

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
        level = joint_level(len(self.answers)) if all_together else LEVEL
        law = self.law(epsilon, plan).open()
        law = law.of(law.columns.without_bias()) if limited else law
        return tuple(float(e) for e in law.errors(level))


def accuracy_of(
    plan: Release, index: int, answers: tuple[ExactAnswer, ...], recommended: float | None
) -> QueryAccuracy:
    """Read the errors of one query at the planned and, where there is one, the recommended ε."""
    query, columns = plan.queries[index], AnswerColumns.of(answers)
    noisy = NoisyNumber.TOTAL if query.kind is QueryKind.AVERAGE else NoisyNumber.ANSWER
    sensitivity = contributions(plan)[index].sensitivity(noisy, plan.mechanism.neighbours, 1)

    def read(epsilon: float) -> QueryErrors:
        return _errors(error_law(plan, index, columns, epsilon), answers, epsilon)

    better = read(recommended) if recommended and math.isfinite(recommended) else None
    name, share = str(query.to_query()), plan.shares[index]
    return QueryAccuracy(name, query.kind, index, share, sensitivity, answers, read(plan.epsilon), better)


def _errors(law: ErrorLaw, answers: tuple[ExactAnswer, ...], epsilon: float) -> QueryErrors:
    typical, (worst, _) = _typical(law.columns), law.worst()
    two = {place: _group(law, answers, place) for place in {typical, worst} if place >= 0}
    middle = two.get(typical)
    noise = middle.noise if middle else float(additive_error(law.noise, np.zeros(()), np.asarray(law.scale), _MISS))
    return QueryErrors(epsilon, law.scale, middle, two.get(worst), _hidden(law.noise) * noise)


def _typical(columns: AnswerColumns) -> int:
    """The middle group by rows among those whose answer is not 0, the smaller of two; −1 where there is none."""
    rated = np.flatnonzero(columns.value)
    order = np.lexsort((np.abs(columns.value[rated]), columns.rows[rated]))
    return int(rated[order[(rated.size - 1) // 2]]) if rated.size else -1


def _group(law: ErrorLaw, answers: tuple[ExactAnswer, ...], place: int) -> GroupError:
    one, answer = law.of(law.columns.take(np.array([place]))), answers[place]
    shown = one.open()
    asked = [(one.of(one.columns.without_bias()).open(), LEVEL), (shown, LEVEL), (shown, joint_level(len(answers)))]
    noise, published, together, error = (float(e[0]) for e in (*errors_of(asked), one.errors()))
    hidden, lost = float(one.hidden[0]), (answer.contribution, answer.clamping)
    return GroupError(answer, noise, *lost, hidden, published, together, error)


_MISS = np.asarray(1 - LEVEL)


@cache
def _hidden(noise: Kind) -> float:
    """The bias that half of the tests miss (paper 003, corrected), as a share of the 95% error of the noise."""
    if noise is Kind.GAUSSIAN:
        bias = hidden_bias(sigma=1.0, fpr=FALSE_ALARMS, power=0.5)
    else:
        bias = hidden_bias(scale=1.0, fpr=FALSE_ALARMS, power=0.5)
    return float(bias) / float(additive_error(noise, np.zeros(()), np.ones(()), _MISS))


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


def with_error_limit(query: QueryAccuracy, plan: Release) -> QueryAccuracy:
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


#: The shares of values below the lower or above the upper bound that is tried.
_TAILS = (0.0, 0.001, 0.01, 0.025, 0.05, 0.1)
#: The shares of owners who lose nothing under the limit that is tried.
_KEPT = (0.5, 0.9, 0.99, 1.0)
#: Cells that values are counted in; beyond the farthest all are taken for one.
_VALUE_CELLS, _FARTHEST = 4096, 1e290
_DIGITS = 2


class PlanParameter(StrEnum):
    """What could be chosen otherwise."""

    BOUNDS = "bounds"  # of one query
    MAX_ROWS = "max_rows"  # of the plan
    MAX_GROUPS = "max_groups"  # of the plan


@dataclass(frozen=True)
class ValueSpread:
    """What one query sees of the table: quantiles of its values, of the rows and of the groups of one owner.

    ``low`` and ``high`` are the values that the shares ``_TAILS`` lie below and above; ``each`` is the number of rows,
    or groups, that the shares ``_KEPT`` of owners do not exceed. Empty where it was not asked for.
    """

    query: int
    parameter: PlanParameter
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    each: tuple[int, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A plan with one choice changed, for the sake of one query, and the answers of all of its queries."""

    query: int
    parameter: PlanParameter
    value: tuple[float, float] | int
    plan: Release
    answers: tuple[tuple[ExactAnswer, ...], ...]


def spread_of(opened: OpenTable, plan: Release, query: int, parameter: PlanParameter) -> ValueSpread:
    """What one query sees of the table, in one pass."""
    table, asked, planned = opened.table, plan.queries[query], plan.queries[query].to_query()
    rows = table.filter(planned.rows(table))
    if asked.kind.bounded:
        number = value_of(column_of(rows, planned.column, "query"), "query").cast("float64")
        if parameter is PlanParameter.BOUNDS:
            return ValueSpread(query, parameter, *_tails(opened.engine, rows.select(x=number)))
        rows = rows.filter(number.notnull())
    rows = rows.mutate(p_=value_of(column_of(rows, plan.data.owner, "person"), "person"))
    if parameter is PlanParameter.MAX_GROUPS:
        keys = {f"g{j}_": value_of(column_of(rows, name, "query"), "query") for j, name in enumerate(asked.split_by)}
        rows = rows.select("p_", **keys).distinct()
    each = rows.group_by("p_").agg(n_=rows.count())
    owners = each.group_by("n_").agg(owners=each.count())
    got = sorted((int(r["n_"]), int(r["owners"])) for r in opened.engine.fetch(owners).to_pylist())
    return ValueSpread(query, parameter, each=_quantiles(got))


def _tails(engine: Engine, rows: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The values that the shares ``_TAILS`` of ``x`` lie below and above, between two of them in proportion.

    By the places of the values, on which engines agree to the last digit; only cells that hold one are put in order.
    """
    ibis, some = need_ibis(), rows.filter(rows["x"].notnull())
    ends = engine.fetch(some.aggregate(low=some["x"].min(), high=some["x"].max())).to_pylist()[0]
    if ends["low"] is None:
        return (), ()
    least, most = (min(max(ends[end], -_FARTHEST), _FARTHEST) for end in ("low", "high"))
    step, away = max((most - least) / _VALUE_CELLS, 1 / _FARTHEST), some["x"].clip(lower=least, upper=most) - least
    some = some.mutate(cell=ibis.ifelse(away < step, 0, (away / step).floor()))
    counted = engine.fetch(some.group_by("cell").agg(n=some.count())).to_pylist()
    cells = sorted((int(r["cell"]), int(r["n"])) for r in counted)
    starts = [0, *accumulate(n for _, n in cells)]
    at = [share * (starts[-1] - 1) for share in (*_TAILS, *(1 - tail for tail in _TAILS))]
    wanted = [(i, bisect_right(starts, i) - 1) for i in {place for a in at for place in (math.floor(a), math.ceil(a))}]
    offsets = sorted({(cells[k][0], starts[k]) for _, k in wanted})
    inside = some.filter(some["cell"].isin([cell for cell, _ in offsets]))
    each = inside.group_by(["cell", "x"]).agg(n=inside.count())
    so_far = ibis.window(group_by="cell", order_by="x", preceding=None, following=0)
    ranked = each.mutate(end=each["n"].sum().over(so_far) + each["cell"].cases(*offsets, else_=0))
    held = [(ranked["end"] - ranked["n"] <= place) & (ranked["end"] > place) for place, _ in wanted]
    found = sorted((int(r["end"]), float(r["x"])) for r in engine.fetch(ranked.filter(ibis.or_(*held))).to_pylist())

    def value(place: int) -> float:
        return next(x for end, x in found if end > place)

    pairs = ((a - math.floor(a), value(math.floor(a)), value(math.ceil(a))) for a in at)
    tails = tuple(low + (high - low) * part for part, low, high in pairs)
    return tails[: len(_TAILS)], tails[len(_TAILS) :]


def _quantiles(counted: list[tuple[int, int]]) -> tuple[int, ...]:
    """The smallest numbers that the shares ``_KEPT`` of owners do not exceed.

    >>> _quantiles([(1, 60), (2, 30), (9, 10)])
    (1, 2, 9, 9)
    """
    ends = list(accumulate(owners for _, owners in counted))
    return tuple(counted[bisect_left(ends, share * ends[-1] * (1 - 1e-12))][0] for share in _KEPT if ends)


def candidates_of(table: TableAnswers, asked: Sequence[tuple[int, PlanParameter]]) -> tuple[Candidate, ...]:
    """What could be chosen instead, for each query and choice that is asked about; all of them answered in one go."""
    plan = table.plan
    spreads = [spread_of(table.opened, plan, query, parameter) for query, parameter in asked]
    made: list[tuple[Candidate, list[Need]]] = []
    for spread in (s for s in spreads if s.parameter is PlanParameter.BOUNDS):
        i, need = spread.query, table.needs[spread.query]
        for bounds in _bounds(plan, spread):
            query = plan.queries[i].model_copy(update={"bounds": bounds})
            other = plan.model_copy(update={"queries": (*plan.queries[:i], query, *plan.queries[i + 1 :])})
            made.append((Candidate(i, spread.parameter, bounds, other, ()), [replace(need, query=query.to_query())]))
    for parameter in (PlanParameter.MAX_ROWS, PlanParameter.MAX_GROUPS):
        limits: dict[int, int] = {}
        for spread in (s for s in spreads if s.parameter is parameter):
            for number in spread.each:
                limits.setdefault(number, spread.query)
        for number in sorted(set(limits) - {getattr(plan.data, parameter.value) or 1}):
            other = plan.model_copy(update={"data": plan.data.model_copy(update={parameter.value: number})})
            one = Candidate(limits[number], parameter, number, other, ())
            made.append((one, [limited_need(need, other) for need in table.needs]))
    answers = iter(table.answers([need for _, needs in made for need in needs]) if made else ())
    return tuple(replace(one, answers=tuple(islice(answers, len(needs)))) for one, needs in made)


def _bounds(plan: Release, spread: ValueSpread) -> list[tuple[float, float]]:
    """The planned lower bound, or the smallest values, with upper bounds that cut off less and less; the other way too.

    Numbers people can type, rounded outwards.
    """
    planned = plan.queries[spread.query].bounds
    if planned is None or not spread.low:
        return []
    lows = dict.fromkeys((planned[0], *(_rounded(x, ROUND_FLOOR) for x in spread.low[:1])))
    highs = dict.fromkeys((planned[1], *(_rounded(x, ROUND_CEILING) for x in spread.high)))
    if _cuts_below(plan.queries[spread.query], spread):
        lows = dict.fromkeys((planned[0], *(_rounded(x, ROUND_FLOOR) for x in spread.low)))
        highs = dict.fromkeys((planned[1], *(_rounded(x, ROUND_CEILING) for x in spread.high[:1])))
    return [(low, high) for low in lows for high in highs if low < high and (low, high) != planned]


def _cuts_below(query: ReleaseQuery, spread: ValueSpread) -> bool:
    low, high = query.bounds or (0.0, 0.0)
    return low - spread.low[0] > spread.high[0] - high


def _rounded(number: float, rounding: str) -> float:
    """
    >>> _rounded(76.1, ROUND_CEILING), _rounded(-0.123, ROUND_FLOOR), _rounded(1234.0, ROUND_CEILING)
    (77.0, -0.13, 1300.0)
    """
    if number == 0 or not math.isfinite(number):
        return number
    return float(Context(prec=_DIGITS, rounding=rounding).create_decimal(Decimal(number)))


#: A proposal takes at least this share of the error away.
_WORTH = 0.1


@dataclass(frozen=True)
class Proposal:
    """A better choice for one query: ``error_now`` and ``error_then`` are shares of the answer, in the worst group.

    ``parameter`` is the query's own for bounds, the plan's for ``max_rows`` and ``max_groups``: those change the noise
    of other queries too, and are proposed only where the largest error of all queries does not grow.
    """

    query: int
    parameter: PlanParameter
    value: tuple[float, float] | int
    error_now: float
    error_then: float
    looks_at_data: bool = True


def losing_choices(plan: Release, accuracy: Sequence[QueryAccuracy]) -> tuple[tuple[int, PlanParameter], ...]:
    """The choices that lose more than the noise hides, in the typical or the worst group of each query."""
    return tuple(dict.fromkeys(_lost(plan, accuracy)))


def _lost(plan: Release, accuracy: Sequence[QueryAccuracy]) -> Iterator[tuple[int, PlanParameter]]:
    for query in accuracy:
        one = PersonContribution(query.index, plan.queries[query.index], plan.data)
        for group in (query.planned.typical, query.planned.worst):
            if group is None:
                continue
            if abs(group.clamping) > group.noise:
                yield query.index, PlanParameter.BOUNDS
            if abs(group.contribution) > group.noise:
                if not one.counted:
                    yield query.index, PlanParameter.MAX_ROWS
                if one.counted or (plan.data.max_groups is not None and one.query.split_by):
                    yield query.index, PlanParameter.MAX_GROUPS


def proposals(
    plan: Release, accuracy: Sequence[QueryAccuracy], candidates: Sequence[Candidate]
) -> tuple[Proposal, ...]:
    """The best candidate for each choice that loses too much, where it is worth its while."""
    now = [_error(plan, q.index, q.answers) for q in accuracy]
    found = []
    for query, parameter in losing_choices(plan, accuracy):
        if parameter is PlanParameter.BOUNDS:
            mine = [c for c in candidates if (c.query, c.parameter) == (query, parameter)]
            tried = [(_error(c.plan, query, c.answers[0]), i) for i, c in enumerate(mine)]
            error, place = min(tried, default=(math.inf, 0))
            if error < now[query] * (1 - _WORTH):
                found.append(Proposal(query, parameter, mine[place].value, now[query], error))
    for parameter in (PlanParameter.MAX_ROWS, PlanParameter.MAX_GROUPS):
        losing = [query for query, lost in losing_choices(plan, accuracy) if lost is parameter]
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


def _error(plan: Release, i: int, answers: Sequence[ExactAnswer]) -> float:
    """The largest error for its answer among published groups."""
    return error_law(plan, i, AnswerColumns.of(answers), plan.epsilon).open().worst()[1]
