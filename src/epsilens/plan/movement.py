r"""What a plan's noisy numbers do between the two worlds of a question: the one place adversaries are built from.

A question is two worlds that differ in one person's rows. A *movement* says which noisy numbers differ and by how much
at most; :func:`movements` gives the few extreme ones, without looking at data, and whoever reads a risk takes the worst
of them, reading by reading (reference sheet "What a plan moves").

For the question whether the person's secret is true, both worlds agree outside the secret's columns Σ and in the number
of rows; Theorem P4 of docs/proofs/plans.md says what moves where a query's condition, groups or summed column mention
Σ. Several queries move together: every combination of their vertices, an upper bound where their conditions exclude
each other.

Related people (paper 004), stated or from the data. The values of k related people are taken to be jointly normal,
within the bounds. Then the whole vector of answers moves at most 1 + Σ|β| times as far, β being the coefficients of
those who are not known (Theorem P8); the largest over targets and over what is known is the *factor*: 1 if people are
independent, 1 + (k−1)ρ if any two have the correlation ρ ≥ 0. The randomness of the people who are not known is not
counted as noise, which is the safe side.

What is counted, or is put into groups, has no normal law: what one flag says of the others can be far more than their
correlation. There only group privacy is safe, k times what one record moves, and the k people's names of groups.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..checks import Array
from ..data.correlation.intraclass import UpperEnd, group_relatedness
from ..data.queries import Noise, Query
from ..data.tables.columns import column_of, value_of
from ..data.tables.conditions import columns_of, terms_of
from ..data.tables.dialect import exact_sum
from ..data.tables.engines import need_ibis
from ..data.tables.table import OpenTable
from ..errors import InputError
from ..laws.laplace import MOST_SHIFTS
from ..worlds import Relation
from .contribution import NoisyNumber, PersonContribution, Vertex, contribution, contributions
from .model import CorrelationSource, Release, Secret, Size

if TYPE_CHECKING:
    import ibis.expr.types as ir

#: More combinations of vertices than this are bounded together.
_MOST_MOVEMENTS = 128


class AdversaryQuestion(StrEnum):
    """What an adversary asks about one person."""

    MEMBERSHIP = "membership"  # are they in the table?
    SECRET = "secret"  # is their secret true?
    RECORD = "record"  # which of two records is theirs? Which of n people is missing?


@dataclass(frozen=True, order=True)
class Move:
    """The ``noisy`` numbers of query ``query`` move by ``amount``, in their own unit, in ``times`` groups."""

    query: int
    noisy: NoisyNumber
    amount: float
    times: int = 1


@dataclass(frozen=True)
class Movement:
    """What moves between two worlds.

    ``alone`` lists, for queries whose groups have no public names, the places in groups that exist because of this
    person, or of ``people`` together, in the first and in the second world: (query, first, second).
    """

    moves: tuple[Move, ...] = ()
    alone: tuple[tuple[int, int, int], ...] = ()
    people: int = 1

    def only(self, queries: Collection[int]) -> Movement:
        """What of it happens in these queries."""
        return replace(
            self,
            moves=tuple(m for m in self.moves if m.query in queries),
            alone=tuple(a for a in self.alone if a[0] in queries),
        )


@dataclass(frozen=True)
class Movements:
    """The extreme movements of a question; ``exact`` says that each of them is possible, not only a bound."""

    each: tuple[Movement, ...]
    exact: bool

    @property
    def nothing(self) -> bool:
        """Whether no number says anything about the question."""
        return all(not m.moves and not m.alone for m in self.each)


def movements(plan: Release, question: AdversaryQuestion, people: int = 1) -> Movements:
    """The extreme movements of all queries together, if the question is about so many people at once."""
    parts = tuple(replace(one, people=people) for one in contributions(plan))
    vertices = [_undominated(_vertices(plan, one, question)) for one in parts]
    found, exact = _combinations(plan, parts, vertices)
    return Movements(found, exact and people == 1 and _is_attained(plan, question, parts, vertices))


def related_movements(plan: Release, related: Sequence[tuple[int, float]]) -> Movements:
    """The extreme movements between two records of one person, where others' values go with theirs: upper bounds.

    ``related`` says for each query how many people that are, and how many times as far its numbers move as by the one
    person: at most as many times as there are people.
    """
    parts = tuple(replace(one, people=k) for one, (k, _) in zip(contributions(plan), related, strict=True))
    vertices = [_undominated(_scaled_vertices(one, factor)) for one, (_, factor) in zip(parts, related, strict=True)]
    return Movements(_combinations(plan, parts, vertices)[0], exact=False)


def _scaled_vertices(one: PersonContribution, factor: float) -> tuple[Vertex, ...]:
    """What several people do to a query whose numbers move only ``factor`` times as far as by one of them.

    Where some of them are alone in groups, the numbers of the rest are at most all of that, and at most their own.
    """
    share = factor / one.people
    if share >= 1:
        return one.replaced
    quiet = [v for v in one.replaced if not any(v.alone)]
    most: dict[NoisyNumber, float] = {}
    for shift in (m for v in quiet for m in v.moved):
        most[shift.noisy] = max(most.get(shift.noisy, 0.0), share * shift.amount)
    most.pop(NoisyNumber.PEOPLE, None)
    made = [replace(v, moved=tuple(replace(m, amount=share * m.amount) for m in v.moved)) for v in quiet]
    for vertex in one.replaced:
        if any(vertex.alone):
            moved = (replace(m, amount=min(m.amount, most.get(m.noisy, m.amount))) for m in vertex.moved)
            made.append(replace(vertex, moved=tuple(moved)))
    return tuple(made)


def _combinations(
    plan: Release, parts: tuple[PersonContribution, ...], vertices: list[tuple[Vertex, ...]]
) -> tuple[tuple[Movement, ...], bool]:
    """Every combination of the queries' vertices, or what bounds them where they are many; whether all are exact."""
    if _has_many_cells(vertices):
        vertices[:] = [_names_beside(options) for options in vertices]
    found = _products(plan, parts, vertices)
    if found is None:
        vertices[:] = [_names_beside(options) for options in vertices]
        found = _products(plan, parts, vertices)
    exact = found is not None and all(v.exact for options in vertices for v in options)
    return (_products(plan, parts, vertices, bounded=True) or ()) if found is None else found, exact


def _products(
    plan: Release, parts: tuple[PersonContribution, ...], vertices: list[tuple[Vertex, ...]], *, bounded: bool = False
) -> tuple[Movement, ...] | None:
    """The combinations that an adversary can tell apart; where they are too many None, or (``bounded``) one beyond."""
    found, units = [Movement(people=max(one.people for one in parts))], _units(plan, parts)
    for one, options in zip(parts, vertices, strict=True):
        grown = [_extended(movement, one, vertex) for movement in found for vertex in _farthest(plan, one, options)]
        found = list({_key(plan, units, movement): movement for movement in grown}.values())
        if len(found) > _MOST_MOVEMENTS:
            if not bounded:
                return None
            found = [_bound(found)]
    return tuple(found)


def secret_queries(plan: Release) -> tuple[int, ...]:
    """The queries whose answer depends on the secret; all where no secret is named."""
    return tuple(one.position for one in contributions(plan) if _vertices(plan, one, AdversaryQuestion.SECRET))


def _extended(movement: Movement, one: PersonContribution, vertex: Vertex) -> Movement:
    i = one.position
    alone = ((i, *vertex.alone),) if any(vertex.alone) else ()
    moves = (Move(i, m.noisy, m.amount, m.times) for m in vertex.moved)
    return replace(movement, moves=(*movement.moves, *moves), alone=(*movement.alone, *alone))


def _vertices(plan: Release, one: PersonContribution, question: AdversaryQuestion) -> tuple[Vertex, ...]:
    if question is AdversaryQuestion.MEMBERSHIP and plan.mechanism.neighbours is Relation.ADD_REMOVE:
        return one.present
    secret = plan.data.hidden
    if question is not AdversaryQuestion.SECRET or secret is None:
        return one.replaced
    return secret_vertices(one, secret)


def secret_vertices(one: PersonContribution, secret: Secret) -> tuple[Vertex, ...]:
    """What moves in one query where only the secret's columns differ."""
    query, told = one.query, columns_of(secret.where) | set(secret.columns)
    planned = query.to_query()
    where = planned.where
    in_where = where is not None and bool(columns_of(where) & told)
    in_groups = bool(set(query.split_by) & told)
    in_value = query.kind.bounded and planned.column in told
    if not (in_where or in_groups or in_value):
        return ()
    if where is not None and set(terms_of(secret.where)) <= set(terms_of(where)):
        return one.present
    if one.data.several and (in_where or in_groups or query.split_by):
        return one.replaced
    if in_groups:
        return one.replaced if in_value else one.twice if one.split else _both_orders(one.present)
    if not in_value:
        return _both_orders(one.present)
    if query.size is Size.PUBLIC:  # then no value is missing
        return one.valued
    return (*one.changed, *(_both_orders(one.present) if one.named else ()))


def _farthest(plan: Release, one: PersonContribution, options: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """Under normal noise only the length of a movement counts: the longest of those that reveal no name."""
    if plan.mechanism.noise is not Noise.GAUSSIAN:
        return options or (Vertex(),)
    most = {noisy: one.sensitivity(noisy, plan.mechanism.neighbours, 2) for noisy in one.noisy}
    quiet = [v for v in options if v.alone == (0, 0)]

    def length(vertex: Vertex) -> float:
        return math.fsum(m.times * (m.amount / most[m.noisy]) ** 2 for m in vertex.moved)

    longest = max(quiet, key=length, default=None)
    rest = tuple(v for v in options if v.alone != (0, 0))
    return (*rest, longest or Vertex()) if longest or not rest else rest


def _has_many_cells(vertices: list[tuple[Vertex, ...]]) -> bool:
    """Whether names stand beside more numbers than have a closed form: each combination would be slow to read."""
    cells = sum(max((sum(m.times for m in v.moved) for v in options), default=0) for options in vertices)
    return cells > MOST_SHIFTS and any(any(v.alone) for options in vertices for v in options)


def _names_beside(options: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """Names beside all that moves, not instead of it: above the truth by no more than the chance of a name."""
    loud = [v for v in options if any(v.alone)]
    if not loud:
        return options
    most = max(v.alone[0] for v in loud), max(v.alone[1] for v in loud)
    return _undominated(replace(v, alone=most, exact=False) for v in options)


def _units(plan: Release, parts: tuple[PersonContribution, ...]) -> dict[tuple[int, NoisyNumber], float]:
    """What one unit of each number is in noise, but for ε."""
    power, shares = 2 if plan.mechanism.noise is Noise.GAUSSIAN else 1, plan.shares
    relation = plan.mechanism.neighbours
    return {
        (one.position, noisy): shares[one.position] * one.part(noisy) / one.sensitivity(noisy, relation, power)
        for one in parts
        for noisy in one.noisy
    }


def _key(plan: Release, units: dict[tuple[int, NoisyNumber], float], movement: Movement) -> tuple[object, ...]:
    """What the adversary sees of a movement: amounts in units of noise and chances of names, whatever the query."""
    moved = Counter[float]()
    for m in movement.moves:
        moved[units[m.query, m.noisy] * m.amount] += m.times
    names = Counter(
        (contribution(plan, i).alike, str(plan.queries[i].threshold), plan.shares[i], *both)
        for i, *both in movement.alone
    )
    return (*sorted(moved.items()), frozenset(names.items()))


def _both_orders(vertices: tuple[Vertex, ...]) -> tuple[Vertex, ...]:
    """Present in the one world or in the other: a name may exist where the secret is false as well."""
    return (*vertices, *(replace(v, alone=(v.alone[1], v.alone[0])) for v in vertices if any(v.alone)))


def _undominated(vertices: Iterable[Vertex]) -> tuple[Vertex, ...]:
    """Those that are not below another one, number by number."""
    kept: list[Vertex] = []
    for vertex in vertices:
        if any(_below(vertex, other) for other in kept):
            continue
        kept = [other for other in kept if not _below(other, vertex)]
        kept.append(vertex)
    return tuple(kept)


def _below(low: Vertex, high: Vertex) -> bool:
    """Whether ``high`` moves every number as far, the largest against the largest."""
    if low.alone[0] > high.alone[0] or low.alone[1] > high.alone[1]:
        return False
    for noisy in {m.noisy for m in low.moved}:
        ours, theirs = ([m for m in v.moved if m.noisy is noisy] for v in (low, high))
        for amount in {m.amount for m in ours}:
            need = sum(m.times for m in ours if m.amount >= amount)
            if sum(m.times for m in theirs if m.amount >= amount) < need:
                return False
    return True


def _bound(found: list[Movement]) -> Movement:
    """One movement that is beyond each of many: for every number the largest amount in the most groups."""
    moves: dict[tuple[int, NoisyNumber], list[float]] = {}
    for key in {(m.query, m.noisy) for movement in found for m in movement.moves}:
        for movement in found:
            amounts = sorted(m.amount for m in movement.moves for _ in range(m.times) if (m.query, m.noisy) == key)
            amounts.reverse()
            best = moves.setdefault(key, [])
            best += [0.0] * (len(amounts) - len(best))
            moves[key] = [max(a, b) for a, b in zip(best, amounts + [0.0] * (len(best) - len(amounts)), strict=True)]
    alone: dict[int, tuple[int, int]] = {}
    for movement in found:
        for query, first, second in movement.alone:
            before = alone.get(query, (0, 0))
            alone[query] = max(before[0], first), max(before[1], second)
    return Movement(
        tuple(Move(query, noisy, a) for (query, noisy), amounts in sorted(moves.items()) for a in amounts),
        tuple((query, *both) for query, both in sorted(alone.items())),
        found[0].people,
    )


def _is_attained(
    plan: Release,
    question: AdversaryQuestion,
    parts: tuple[PersonContribution, ...],
    vertices: list[tuple[Vertex, ...]],
) -> bool:
    """Whether one person can do all of it at once, every column being free: no two queries want one column otherwise.

    A person reaches the ends of the bounds, and every group there is, whatever the other columns say. What this cannot
    tell is a bound: conditions that exclude each other, a secret that settles a value.
    """
    moving = [one for one, options in zip(parts, vertices, strict=True) if options]
    if question is AdversaryQuestion.SECRET and plan.data.hidden is not None:
        terms = set(terms_of(plan.data.hidden.where))
        if any(set(terms_of(one.query.to_query().where or "TRUE")) != terms for one in moving):
            return False
    conditions = {where for one in moving if (where := one.query.to_query().where)}
    values = [one.query.to_query().column for one in moving if one.query.kind.bounded]
    named = {name for one in moving for name in one.query.split_by}
    settled = {column for where in conditions for column in columns_of(where)}
    for where in conditions:
        columns = [column for term in terms_of(where) for column in columns_of(term)]
        if len({*columns}) < len(columns):
            return False  # two terms about one column may exclude each other
    if any(one.data.unit or one.query.touched for one in moving):
        return False  # how many people a household has is not said, nor that a limit leaves something out
    lists = {(name, one.query.groups) for one in moving for name in one.query.split_by if one.query.groups}
    if len(lists) > len({name for name, _ in lists}):
        return False  # a person in a group of the one list may be in none of the other
    if len(conditions) > 1 or len(set(values)) < len(values) or settled & named or (settled | named) & set(values):
        return False
    replaces = question is not AdversaryQuestion.MEMBERSHIP or plan.mechanism.neighbours is Relation.REPLACE
    if question is AdversaryQuestion.SECRET and plan.data.hidden is not None:
        replaces = False  # the secret is the condition: one world adds nothing
    if replaces and len(moving) > 1:
        return False  # one query may want a world without the person where another wants both
    return all(_is_reachable(one, replaces) for one in moving)


def _is_reachable(one: PersonContribution, replaces: bool) -> bool:
    """Whether one person can reach the ends of this query by itself."""
    if one.query.split_by and (replaces or (one.counted and one.groups > 1)) and (one.labels or 0) < 2:
        return False  # how many groups there are is not said
    if not replaces or one.query.to_query().where is not None:
        return True
    low, high = one.bounds
    if one.query.kind.bounded:  # somebody is always there: 0 is reached only by a value
        return low <= 0 <= high and not one.query.average
    return bool(one.query.split_by)


_ENUMERATED = 12  # related people whose every adversary is looked at: 2^12 sets of those who are known
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CorrelationFactor:
    """The worst adversary against one query: the answer moves ``factor`` times as far as if people were independent.

    ``known`` of the ``others`` are known to them; ``by_known`` is the factor for each number that could be. ``people``
    is how many protected people move together: one where the records are a person's own rows, who are never more than
    the person. ``unit`` is how far one record moves the answer by itself, in sensitivities. ``from_data`` says that the
    resemblance was estimated.
    """

    query: int
    factor: float
    known: int
    others: int
    by_known: tuple[float, ...]
    unit: float
    because: str
    people: int = 1
    from_data: bool = False

    @property
    def swing(self) -> float:
        """How far the answer moves, in sensitivities."""
        return self.factor * self.unit


def correlated_movements(plan: Release, found: tuple[CorrelationFactor, ...]) -> Movements:
    """What moves between two records of one person if the answers go with the relatives' as well: all queries."""
    of = {r.query: (r.people, min(r.factor * (1 + _ROUNDING), float(r.people))) for r in found}
    return related_movements(plan, [of.get(i, (1, 1.0)) for i in range(len(plan.queries))])


def correlation_factors(plan: Release, opened: OpenTable, queries: tuple[Query, ...]) -> tuple[CorrelationFactor, ...]:
    """What the release says about related people, a relation for each query it applies to."""
    stated = plan.adversary.correlation
    if stated is CorrelationSource.NONE:
        return ()
    if stated is CorrelationSource.FROM_DATA:
        by = plan.data.related or plan.data.person
        if by is None:
            raise InputError(
                "adversary.correlation is 'from data' without data.related: name the column that says which people "
                "belong together, or give a matrix",
                parameter="data.related",
            )
        found = (_from_data(plan, opened, query, i, by) for i, query in enumerate(queries))
        return tuple(relation for relation in found if relation is not None)
    return stated_factors(plan)


def stated_factors(plan: Release) -> tuple[CorrelationFactor, ...]:
    """What the plan itself says about related people, whatever its table holds."""
    stated = plan.adversary.correlation
    if isinstance(stated, CorrelationSource):
        return ()
    matrix, people = np.asarray(stated, dtype=float), len(stated)
    curve, component = _factors(matrix), _related_at_most(matrix)
    because = f"{people} related people have the correlations stated"
    rows = plan.data.max_rows if plan.data.several else 1
    made = []
    for i in range(len(plan.queries)):
        each = curve if _valued(plan, i) else tuple(float(max(component - k, 1)) for k in range(people))
        known, factor = max(enumerate(each), key=lambda one: one[1])
        why = because if _valued(plan, i) or component == 1 else because + _ALL_TOGETHER
        made.append(CorrelationFactor(i, factor, known, people - 1, each, _unit(plan, i, rows), why, component))
    return tuple(made)


#: What is added where no normal law fits.
_ALL_TOGETHER = ", who are taken to be counted or not all together, as no normal law fits what is counted"


def _valued(plan: Release, i: int) -> bool:
    """Whether an answer moves no farther than the values do: a sum of them, of rows that other columns choose."""
    query, planned = plan.queries[i], plan.queries[i].to_query()
    chosen = set(query.split_by) | (columns_of(planned.where) if planned.where is not None else set())
    return query.kind.bounded and planned.column not in chosen


def _factors(matrix: Array) -> tuple[float, ...]:
    """The largest 1 + Σ|β| over targets, by how many others are known: exact for few people, else an upper bound.

    >>> [round(f, 3) for f in _factors(np.array([[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]]))]
    [2.0, 1.333, 1.0]
    """
    people = len(matrix)
    if people > _ENUMERATED:
        precise = np.linalg.inv(matrix)
        np.fill_diagonal(precise, 0.0)
        if precise.max() <= 0 and matrix.min() >= 0:  # then to know more only helps the others' regression fall
            most = float(matrix.sum(axis=1).max())
            return tuple(min(most, float(people - k)) for k in range(people))
        return tuple(float(people - k) for k in range(people))
    found = [1.0] * people
    for size in range(1, people):
        for inside in combinations(range(people), size):  # the target, and those who are known
            rest = [j for j in range(people) if j not in inside]
            slopes = np.linalg.solve(matrix[np.ix_(inside, inside)], matrix[np.ix_(inside, rest)])
            found[size - 1] = max(found[size - 1], 1 + float(np.abs(slopes).sum(axis=1).max()))
    return tuple(min(f, float(people - k)) for k, f in enumerate(found))


def _related_at_most(matrix: Array) -> int:
    """How many people say anything of each other: the largest part of those linked by a correlation."""
    left, most = set(range(len(matrix))), 1
    while left:
        part, grown = set(), {left.pop()}
        while grown:
            part |= grown
            grown = {int(j) for i in grown for j in np.flatnonzero(matrix[i])} & left
            left -= grown
        most = max(most, len(part))
    return most


def _unit(plan: Release, i: int, rows: int) -> float:
    """How far one record moves query i by itself, in sensitivities: other values in one group."""
    whole = contribution(plan, i)
    one = replace(whole, data=whole.data.model_copy(update={"max_rows": rows}))
    relation = plan.mechanism.neighbours
    return max(m.amount / whole.sensitivity(m.noisy, relation, 1) for v in one.changed for m in v.moved)


def _from_data(plan: Release, opened: OpenTable, query: Query, i: int, by: str) -> CorrelationFactor | None:
    """Equally correlated relatives, with the upper end of the estimate; None where a record is not the query's own."""
    ibis = need_ibis()
    table, person = opened.table, plan.data.person
    of_rows = plan.data.related is None  # a person's own rows are the records
    if of_rows and query.bounds is None:
        return None  # a count counts the person once, whatever their rows
    group = value_of(column_of(table, by, "data.related"), "data.related")
    covered = query.rows(table)
    value: ir.Value = ibis.literal(1.0)
    if query.bounds is not None:
        column = value_of(column_of(table, query.column, "query"), "query").cast("float64")
        value = column.clip(lower=query.bounds[0], upper=query.bounds[1])
    rows = {"g_": group, "v_": ibis.ifelse(covered, value, 0.0)}
    if person is not None and not of_rows:
        rows["p_"] = value_of(column_of(table, person, "person"), "person")
    records = table.select(**rows)
    if "p_" in rows:
        asked, total = exact_sum("v_", records["v_"], max(map(abs, query.bounds or (1.0,))))
        each = records.group_by("p_").agg(g_=records["g_"].min(), most=records["v_"].max(), **asked)
        records = each.select("p_", "g_", v_=each["most"] if query.bounds is None else total(each))
    ends = None  # of a person's whole sum, which has no bounds before the limits on contributions
    if query.bounds is not None and "p_" not in rows:
        ends = (min(query.bounds[0], 0.0), max(query.bounds[1], 0.0))  # a row that is not covered adds 0
    alike = group_relatedness(records, "v_", by="g_", bounds=ends)
    rho = max(alike.interval[1], 0.0)
    others = alike.size - 1
    counted = not _valued(plan, i)
    # Flags are not normal: what one says of the others can be far more than ρ, and only all of them together is safe.
    curve = tuple(
        float(alike.size - k) if counted and rho > 0 else (1 + others * rho) / (1 + k * rho) for k in range(alike.size)
    )
    rows_each = 1 if of_rows or not plan.data.several else plan.data.max_rows
    whose = "rows of one person" if of_rows else f"people with the same {by}"
    seen = ", if no value lies beyond those seen" if alike.method is UpperEnd.SEEN else ""
    because = (
        f"{whose} have a correlation of {alike.rho:.2g} in {query.column or 'being counted'} (at most {rho:.2g}, "
        f"with {100 * alike.level:g}% confidence{seen}), and are up to {alike.size}"
    )
    if counted and rho > 0:
        because += _ALL_TOGETHER
    people = 1 if of_rows else alike.size if rho > 0 else 1
    return CorrelationFactor(i, curve[0], 0, others, curve, _unit(plan, i, rows_each), because, people, from_data=True)


def worst_factor(found: tuple[CorrelationFactor, ...]) -> CorrelationFactor | None:
    """The relation of the query that moves farthest, in sensitivities."""
    return max(found, key=lambda r: r.swing, default=None)
