r"""Planned answers that isolate a person together: one alone, a difference of two, sums and differences of more.

Everyone else adds an unknown amount to the answers they are in: all people of one *pattern* (a set of answers) the same
to each of these. A person is isolated by the plan where their own pattern is not in the span of the others'. An answer
that covers one person, and two that differ in one, are found among any number of answers; sums and differences of more
(two groups and their total) by linear algebra wherever at most ``MOST_ANSWERS`` answers hang together.

What the answers of a combination are worth depends on their noise: :mod:`.result`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..queries import Query, QueryKind
from ..tables.columns import count_people_once
from ..tables.conditions import open_terms
from ..tables.dialect import ibis, pa, pc
from ..tables.engines import Engine
from .request import ScanRequest

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow

#
# Each planned query gives one answer per group and, where it has groups, their total. Counts go by people, each
# counted once; sums and averages by rows with a value. A query is looked at twice where its condition holds more than
# the attacker knows: with the people it covers, and (as an *open* side) with all whom its known part covers, whoever
# of them has the secret. The second look finds the person whom two answers isolate also where that person has not the
# secret.

#: Beyond this many joint groups answers are reported as not compared.
MOST_CELLS = 5_000_000

Integers: TypeAlias = NDArray[np.int64]
#: What must agree for two answers to be subtracted: counts, or the kind, column and bounds of a sum.
Aggregate: TypeAlias = tuple[str] | tuple[QueryKind, str | None, tuple[float, float]]
#: The terms that are left open, and the groups by columns that are no quasi-identifiers.
Secret: TypeAlias = tuple[frozenset[str], tuple[str, ...]]


@dataclass(frozen=True)
class QuerySide:
    """One query at one resolution: split by its groups, or all of them together.

    ``column`` numbers the columns ``m…`` and ``g…_…`` it is read from, ``index`` the query.
    """

    index: int
    column: int
    query: Query
    split: bool

    @property
    def keys(self) -> list[str]:
        """The columns of its groups."""
        return [f"g{self.column}_{j}" for j in range(len(self.query.groups))] if self.split else []

    def __str__(self) -> str:
        if self.query.groups and not self.split:
            return f"all groups of {self.query}"
        return str(self.query)


@dataclass(frozen=True)
class QueryFamily:
    """Queries whose answers add up: one aggregate, and for open sides one secret.

    ``aggregate`` is what must agree for two answers to be subtracted; ``secret`` the terms left open, None where the
    sides cover the people they cover.
    """

    aggregate: Aggregate
    secret: Secret | None
    sides: tuple[QuerySide, ...]

    @property
    def counts(self) -> bool:
        """Whether people are counted, and not rows added up."""
        return self.aggregate == ("count",)

    @property
    def totals(self) -> tuple[QuerySide, ...]:
        """Every side, and the total of each query with groups."""
        made = []
        for side in self.sides:
            made.append(side)
            if side.split:
                made.append(QuerySide(side.index, side.column, side.query, False))
        return tuple(made)


def query_families(request: ScanRequest) -> tuple[QueryFamily, ...]:
    """The families of the planned queries: as they are, then with the secret left open."""
    queries, quasi = request.queries, request.quasi_identifiers
    made: dict[tuple[Aggregate, Secret | None], list[QuerySide]] = {}
    for i, query in enumerate(queries):
        made.setdefault((_aggregate_key(query), None), []).append(QuerySide(i, i, query, bool(query.groups)))
    for i, query in enumerate(queries):
        terms = open_terms(query.where, quasi) if query.where else ()
        if terms:
            secret = (frozenset(terms), tuple(sorted(set(query.groups) - set(quasi))))
            side = QuerySide(i, len(queries) + i, query, bool(query.groups))
            made.setdefault((_aggregate_key(query), secret), []).append(side)
    return tuple(QueryFamily(aggregate, secret, tuple(sides)) for (aggregate, secret), sides in made.items())


def _aggregate_key(query: Query) -> Aggregate:
    return ("count",) if query.bounds is None else (query.kind, query.column, query.bounds)


@dataclass
class JointGroups:
    """The rows grouped by everything the queries look at: which answers they are in, how many, whose.

    ``low`` and ``high`` rank the least and largest person of each cell, ``n`` counts its rows; None where every row
    is a person. ``numbers`` remembers each side's number of the group a cell is in (−1 for none).
    """

    engine: Engine
    base: ir.Table
    cells: pyarrow.Table
    n: Integers
    low: Integers | None
    high: Integers | None
    numbers: dict[QuerySide, Integers] = field(default_factory=dict)
    firsts: dict[QuerySide, Integers] = field(default_factory=dict)

    def ids(self, side: QuerySide) -> Integers:
        """The number of the group each cell is in."""
        if side not in self.numbers:
            inside = self.cells[f"m{side.column}"].combine_chunks().to_numpy(zero_copy_only=False).astype(bool)
            ids = np.zeros(len(inside), np.int64)
            for key in side.keys:
                coded = self.cells[key].combine_chunks().dictionary_encode(null_encoding="encode")
                codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
                if key != side.keys[0]:
                    codes = np.unique(ids * (len(coded.dictionary) + 1) + codes, return_inverse=True)[1].ravel()
                ids = codes.astype(np.int64)
            self.numbers[side] = np.where(inside, ids, -1)
        return self.numbers[side]

    def values(self, side: QuerySide, number: int) -> tuple[object, ...]:
        """The group's values."""
        if side not in self.firsts:
            ids = self.ids(side)
            first = np.full(int(ids.max(initial=-1)) + 2, -1, np.int64)  # the last place is for those outside
            first[ids[::-1]] = np.arange(len(ids))[::-1]
            self.firsts[side] = first
        row = int(self.firsts[side][number])
        return tuple(self.cells[key][row].as_py() for key in side.keys)

    def people(self, side: QuerySide) -> dict[int, int]:
        """How many people each group covers: what a minimum query size is compared with."""
        ids = self.ids(side)
        if self.low is None:
            return dict(enumerate(np.bincount(ids[ids >= 0], self.n[ids >= 0]).astype(int).tolist()))
        inside = self.base.filter(self.base[f"m{side.column}"]).mutate(g=1)
        each = inside.select(*side.keys, "g", "p").distinct()
        counted = self.engine.fetch(each.group_by([*side.keys, "g"]).agg(people=each.count())).to_pylist()
        by_value = {tuple(r[k] for k in side.keys): r["people"] for r in counted}
        return {int(i): by_value[self.values(side, int(i))] for i in np.unique(ids[ids >= 0])}

    @property
    def ends(self) -> tuple[Integers, Integers]:
        """The least and largest person of each cell, also where a row is one: equal where the cell is one person's."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        number = np.arange(len(self.n))
        return np.where(self.n == 1, number, -1), np.where(self.n == 1, number, len(self.n))


@dataclass(frozen=True)
class JointGroupings:
    """The joint groups of all counts, of all sums and averages, or of any few queries; each grouping is made once."""

    engine: Engine
    base: ir.Table
    people: ir.Table | None
    families: tuple[QueryFamily, ...]
    made: dict[tuple[int, ...], JointGroups | None] = field(default_factory=dict)

    def of(self, sides: Sequence[QuerySide]) -> JointGroups | None:
        """The joint groups of these sides and, if these are not too many, of all their kind; None where they are."""
        counts = sides[0].query.bounds is None
        kind = tuple(side for family in self.families if family.counts is counts for side in family.sides)
        few = tuple(sorted({s.column: s for s in sides}.values(), key=lambda s: s.column))
        return self._joint(kind) or (self._joint(few) if len(few) < len(kind) else None)

    def _joint(self, sides: tuple[QuerySide, ...]) -> JointGroups | None:
        key = tuple(s.column for s in sides)
        if key not in self.made:
            counts = sides[0].query.bounds is None
            source = self.people if counts and self.people is not None else self.base
            by_person = "p" in source.columns and source is not self.people
            self.made[key] = _grouped_jointly(self.engine, source, sides, by_person)
        return self.made[key]


def joint_groupings(
    engine: Engine, base: ir.Table, request: ScanRequest, families: tuple[QueryFamily, ...]
) -> JointGroupings:
    """What the joint groups of these families are made from."""
    shown: dict[str, ir.Value] = {}
    for side in (side for family in families for side in family.sides):
        i, c, query = side.index, side.column, side.query
        covered = base[f"m{i}"] if c == i else base[f"k{i}"]
        if query.bounds is not None:  # a row without a value is in no sum
            covered = covered & base[f"x{i}"].notnull()
        shown[f"m{c}"] = covered
        if c != i:
            shown |= {f"g{c}_{j}": base[f"g{i}_{j}"] for j in range(len(query.groups))}
    base = base.mutate(**shown)
    counted = [side for family in families if family.counts for side in family.sides]
    people = None
    if request.by_person and counted:
        people = count_people_once(base, {side.column: len(side.query.groups) for side in counted})
    return JointGroupings(engine, base, people, families)


def _grouped_jointly(engine: Engine, base: ir.Table, sides: Sequence[QuerySide], person: bool) -> JointGroups | None:
    made: dict[str, ir.Value] = {}
    for side in sides:
        flag = base[f"m{side.column}"]
        made[f"m{side.column}"] = flag
        for j in range(len(side.query.groups)):
            key = base[f"g{side.column}_{j}"]
            # Outside its query a row has no group there; NULL is fine, the flag tells it from a NULL group.
            made[f"g{side.column}_{j}"] = ibis.ifelse(flag, key, ibis.null(key.type()))
    names = list(made)
    rows = base.select(**made, **({"p": base["p"]} if person else {}))
    counts = {"n": rows.count()} | ({"lo": rows["p"].min(), "hi": rows["p"].max()} if person else {})
    cells = engine.fetch(rows.group_by(names).agg(**counts).limit(MOST_CELLS + 1))
    if cells.num_rows > MOST_CELLS:
        return None
    cells = cells.sort_by([(name, "ascending") for name in names])  # engines have no order, and it decides ties
    low, high = _person_ranks(cells) if person else (None, None)
    return JointGroups(engine, base, cells, cells["n"].to_numpy().astype(np.int64), low, high)


def _person_ranks(cells: pyarrow.Table) -> tuple[Integers, Integers]:
    """The least and largest person of each cell as numbers in the same order, whatever a person is."""
    if not cells.num_rows:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    both = pa.chunked_array([*cells["lo"].chunks, *cells["hi"].chunks]).combine_chunks()
    coded = both.dictionary_encode()
    rank = np.empty(len(coded.dictionary), np.int64)
    rank[pc.sort_indices(coded.dictionary).to_numpy()] = np.arange(len(rank))
    ranks = rank[coded.indices.to_numpy(zero_copy_only=False)]
    first, last = ranks[: cells.num_rows], ranks[cells.num_rows :]
    # The engine may sort people otherwise: two of the cell's people, in our order, are as good as its ends.
    return np.minimum(first, last), np.maximum(first, last)


Names: TypeAlias = NDArray[np.uint64]
_Key: TypeAlias = tuple[int, bool, int, bool]
#: What components that are solved alike have in common.
_Form: TypeAlias = tuple[tuple[int, ...], bytes, bytes, tuple[tuple[int, ...], ...]]


#
# Two published answers whose sets of people differ in exactly one person hand the attacker the difference without any
# further query. Counts are compared by people, each counted once; sums and averages by rows, where all rows that
# differ must be one person's. Every two answers of the same aggregate are compared, and where both leave the same
# secret open, also the sets of all whom they may cover: then they isolate the person whether that person has the
# secret or not.
#
# An answer is known by the sum of random 64-bit names of the joint cells it covers. Without one
# person's own cells the sum is another's exactly where the two answers differ in that person alone; so one search
# finds all pairs, however many answers there are.


@dataclass(frozen=True)
class IsolatingPair:
    """Two planned answers that differ in one person: how often, for how many people.

    ``answers`` counts the pairs of groups; ``people`` the people isolated, with the secret or without. ``groups`` shows
    the groups' values, which describe a person, only when asked for. ``compared`` is false for a pair too large to
    compare.
    """

    first: str
    second: str
    answers: int
    people: int
    groups: tuple[tuple[tuple[object, ...], tuple[object, ...]], ...] = ()
    compared: bool = True

    def to_dict(self) -> dict[str, object]:
        """The pair as plain values."""
        return {**vars(self), "groups": [list(map(str, g)) for g in self.groups]}


@dataclass(frozen=True)
class _PairHit:
    """Two answers that differ in one person: their groups, by number, and that person."""

    joint: JointGroups
    sides: tuple[QuerySide, QuerySide]
    groups: tuple[int, int]
    owner: int

    @property
    def values(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        a, b = (self.joint.values(side, number) for side, number in zip(self.sides, self.groups, strict=True))
        return a, b


def isolating_pairs(found: JointGroupings, min_query_size: int, show: bool) -> tuple[IsolatingPair, ...]:
    """Compare every two planned answers; return the pairs of queries that isolate someone."""
    hits: dict[_Key, list[_PairHit]] = defaultdict(list)
    lost: dict[_Key, tuple[QuerySide, QuerySide]] = {}
    for family in found.families:
        joint = found.of(family.sides)
        if joint is not None:
            for hit in _pair_hits(joint, family.totals, min_query_size):
                hits[_key(*hit.sides)].append(hit)
            continue
        for a, b in combinations(family.totals, 2):  # all together are too many; perhaps two of them are not
            joint = found.of((a, b))
            if joint is None:
                lost[_key(a, b)] = a, b
            else:
                hits[_key(a, b)] += _pair_hits(joint, (a, b), min_query_size)
    made = {}
    for key, some in hits.items():
        if some:
            a, b = some[0].sides
            groups = tuple(dict.fromkeys(hit.values for hit in some))
            people = len({(id(hit.joint), hit.owner) for hit in some})
            made[key] = IsolatingPair(str(a), str(b), len(groups), people, groups[:100] if show else ())
    for key, (a, b) in lost.items():
        made.setdefault(key, IsolatingPair(str(a), str(b), 0, 0, compared=False))
    return tuple(made[key] for key in sorted(made))


def _key(a: QuerySide, b: QuerySide) -> _Key:
    return a.index, not a.split, b.index, not b.split


def _pair_hits(joint: JointGroups, sides: Sequence[QuerySide], min_query_size: int) -> list[_PairHit]:
    """Every two answers of these sides that differ in one person, and are both given."""
    low, high = joint.ends
    columns = []
    for side in sides:
        ids = joint.ids(side)
        if min_query_size > 1:
            people = joint.people(side)
            given = [people.get(i, 0) >= min_query_size for i in range(int(ids.max(initial=-1)) + 1)]
            ids = np.where(np.asarray([*given, False])[ids], ids, -1)
        columns.append(ids)
    _, pairs = single_or_pair_isolation(columns, np.where(low == high, low, -1))
    made = []
    for who, *answers in pairs:
        (a, i), (b, j) = sorted(answers)
        made.append(_PairHit(joint, (sides[a], sides[b]), (i, j), who))
    return made


#: An answer: the number of its side, and of its group there.
_Answer: TypeAlias = tuple[int, int]


def single_or_pair_isolation(
    columns: Sequence[Integers], owner: Integers
) -> tuple[list[tuple[int, _Answer]], list[tuple[int, _Answer, _Answer]]]:
    """(person, answer) where an answer covers one person, (person, answer with them, answer) where two differ in one.

    ``columns`` has an array a side: the group each cell is in, −1 for none; ``owner`` whose cell it is, −1 for
    several people's.

    >>> everyone, some = np.array([0, 0]), np.array([0, -1])
    >>> single_or_pair_isolation([everyone, some], np.array([-1, 7]))
    ([], [(7, (0, 0), (1, 0))])
    """
    names = np.random.default_rng(0).integers(1, 2**63, len(owner), np.uint64)
    totals = [group_name_sums(ids, names, int(ids.max(initial=-1)) + 1) for ids in columns]
    whole = np.concatenate([np.empty(0, np.uint64), *totals])
    order = np.argsort(whole, kind="stable")
    place = [(side, number) for side, total in enumerate(totals) for number in range(len(total))]
    owned = np.flatnonzero(owner >= 0)
    owners, times = np.unique(owner[owned], return_counts=True)
    several = bool((times > 1).any())
    alone, pairs, inside = [], [], []
    for side, (ids, total) in enumerate(zip(columns, totals, strict=True)):
        mine = owned[ids[owned] >= 0]
        who, answer, own = owner[mine], ids[mine], names[mine]
        if several:
            keys, where = np.unique(who * len(total) + answer, return_inverse=True)
            own = group_name_sums(where.ravel(), own, len(keys))
            who, answer = np.divmod(keys, max(len(total), 1))
        rest = total[answer] - own
        alone += [(int(who[i]), (side, int(answer[i]))) for i in np.flatnonzero(rest == 0)]
        low = np.searchsorted(whole, rest, "left", sorter=order)
        found = np.flatnonzero((rest != 0) & (whole[order[np.minimum(low, len(order) - 1)]] == rest))
        for i in found:
            for j in order[low[i] : np.searchsorted(whole, rest[i], "right", sorter=order)]:
                pairs.append((int(who[i]), (side, int(answer[i])), place[j]))
        if several:
            twice = np.flatnonzero(np.isin(who, owners[times > 1]) & (rest != 0))
            inside += [(int(who[i]), int(rest[i]), (side, int(answer[i])), int(own[i])) for i in twice]
    # Two answers that hold other rows of one person, and the same of everyone else.
    alike: dict[tuple[int, int], list[tuple[_Answer, int]]] = defaultdict(list)
    for person, left, at, part in inside:
        alike[person, left].append((at, part))
    for (person, _), answers in alike.items():
        pairs += [(person, a, b) for (a, x), (b, y) in combinations(answers, 2) if x != y]
    return alone, pairs


def group_name_sums(ids: Integers, names: Names, size: int) -> Names:
    """The sum of the names of each number, wrapping around; −1 is left out.

    >>> group_name_sums(np.array([0, 1, 0, -1]), np.array([1, 2, 3, 4], np.uint64), 2).tolist()
    [4, 2]
    """
    made = np.zeros(size, np.uint64)
    inside = ids >= 0
    np.add.at(made, ids[inside], names[inside])
    return made


#
# Write A for the matrix with a row for each answer and a column for each *pattern*, a set of answers that some people
# share. People of one pattern add an unknown amount to each of its answers, so a combination w of the answers is free
# of the others exactly where :math:`wA` vanishes outside one person's own columns. Such a w exists if that unit row
# lies in the row space of A; the rows w with :math:`wA = 0` are *relations* between the answers, which hold whoever is
# there.
#
# Rank and row space are computed modulo a prime of 21 bits, so that every product is exact in doubles. A determinant
# of the patterns that is a multiple of the prime could mislead it; those of planned answers are small numbers, and
# every combination that is reported with its weights is checked again in whole numbers.

PRIME = 2_097_143  # the largest below 2²¹: a sum of 2¹⁰ products stays below 2⁵³
_CHUNK = 256
_LARGEST_WEIGHT = 64


@dataclass(frozen=True)
class PersonWeights:
    """One isolated person: the whole-number ``weights`` of each answer (None where they are not small).

    ``gain`` is how many times the person's contribution the combination shows (0 without weights);
    ``own`` are the answers that the person is in and that bear upon the combination; ``exact`` says that no other
    combination tells anything more about them; ``shift`` is :math:`\\|Pt\\|_2`, the most that normal noise of standard
    deviation 1 on each answer leaves of the person's 1 (P projects off the directions of everyone else).
    """

    owner: int
    weights: tuple[int, ...] | None
    gain: int
    own: tuple[int, ...]
    exact: bool
    shift: float


def isolated_people(patterns: Integers, owner: Integers) -> tuple[PersonWeights, ...]:
    """Everyone whom a combination of the answers isolates; ``owner`` is −1 for patterns that several people share.

    Two groups and their total, which has one person more:

    >>> patterns = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    >>> [(found.owner, found.weights) for found in isolated_people(patterns, np.array([-1, -1, 7]))]
    [(7, (-1, -1, 1))]
    """
    shared, lone = patterns[:, owner < 0], patterns[:, owner >= 0]
    owners = owner[owner >= 0]
    first, rank = _echelon(shared)
    free = first[rank:]  # a basis of what the shared patterns leave alone
    if not len(free) or not lone.shape[1]:
        return ()
    left = _mod_product(free, lone)
    second, more = _echelon(left)
    reduced = _mod_product(second[:more], left)
    relations = _mod_product(second[more:], free)
    # The rank is exact, so that eigenvalues only order the vectors: the last ones span the columns of all patterns.
    spanning = np.linalg.eigh(patterns.astype(float) @ patterns.T)[1][:, len(patterns) - rank - more :]
    pivots = np.array([int(np.flatnonzero(row)[0]) for row in reduced], np.int64)
    found = []
    for person in np.unique(owners[pivots]):
        mine = np.flatnonzero(owners == person)
        rows = np.flatnonzero(owners[pivots] == person)
        outside = np.delete(reduced[rows], mine, axis=1)
        mixed, lost = _echelon(outside)
        if lost == len(rows):
            continue
        ways = _mod_product(_mod_product(mixed[lost:], second[rows]), free)
        all_mine = np.flatnonzero(owner == person)
        found.append(_person_weights(int(person), ways, relations, patterns, all_mine, spanning))
    return tuple(found)


def _person_weights(
    person: int, ways: Integers, relations: Integers, patterns: Integers, mine: Integers, spanning: NDArray[np.float64]
) -> PersonWeights:
    """The person's combination, and what else bears upon it."""
    weights = _small_weights(ways[0], patterns, mine)
    bearing, dimensions = _bearing_answers(np.concatenate([ways, relations]), patterns[:, mine])
    own = np.flatnonzero(bearing & patterns[:, mine].any(axis=1))
    gain = 0 if weights is None else int(np.abs(np.asarray(weights) @ patterns[:, mine]).max())
    shift = float(np.sqrt(patterns[:, mine].sum(axis=0).max()))  # everyone else known: never too small
    if weights is not None and len(mine) == 1:
        # 1/‖w‖ for the shortest of all combinations that give the person 1: w less its part among the relations
        shift = float(gain / np.linalg.norm(spanning.T @ np.asarray(weights, float)))
    shift = math.ceil(shift * 1e12) / 1e12  # never too small, and the same for all who stand alike
    return PersonWeights(person, weights, gain, tuple(map(int, own)), dimensions == 1, shift)


def _bearing_answers(rows: Integers, mine: Integers) -> tuple[NDArray[np.bool_], int]:
    """The answers in combinations that tell something about the person, and the dimension of these combinations.

    Answers that meet in a row of the reduced form of ``rows`` belong together; noise is independent between such
    components, and those that show nothing of the person's own patterns ``mine`` are silent about them.
    """
    form, rank = _echelon(rows)
    basis = _mod_product(form[:rank], rows)
    at, answers = np.nonzero(basis)
    size = rank + rows.shape[1]
    label = _component_labels(at, rank + answers, size)
    ours = np.isin(label, label[:rank][_mod_product(basis, mine).any(axis=1)])
    return ours[rank:], int(ours[:rank].sum())


def _component_labels(ends: Integers, others: Integers, size: int) -> Integers:
    """Of the graph on so many places with an edge from each end to the other, the component of each place."""
    from scipy.sparse import coo_matrix, csgraph  # heavy, and many plans name no quasi-identifiers

    edges = coo_matrix((np.ones(len(ends)), (ends, others)), shape=(size, size))
    return np.asarray(csgraph.connected_components(edges, directed=False)[1])


def _small_weights(way: Integers, patterns: Integers, mine: Integers) -> tuple[int, ...] | None:
    """A row of residues as small whole numbers without a common divisor, checked; None where there are none."""
    for times in range(1, _LARGEST_WEIGHT + 1):
        lead = way[np.flatnonzero(way)[0]]
        tried = way * (times * pow(int(lead), -1, PRIME) % PRIME) % PRIME
        tried = np.where(tried > PRIME // 2, tried - PRIME, tried)
        if np.abs(tried).max() <= _LARGEST_WEIGHT:
            whole = tried // np.gcd.reduce(tried)
            told = whole @ patterns
            if np.delete(told, mine).any():
                return None
            sign = -1 if told[mine][np.flatnonzero(told[mine])[0]] < 0 else 1
            return tuple(int(sign * w) for w in whole)
    return None


def _mod_product(a: Integers, b: Integers) -> Integers:
    """The product modulo the prime, by floating-point multiplication of exact integers."""
    made: Integers = (a.astype(float) @ b.astype(float)).astype(np.int64) % PRIME
    return made


def _echelon(matrix: Integers) -> tuple[Integers, int]:
    """(T, rank) with T invertible and T·matrix reduced: unit columns at the first ``rank`` rows, zero below them."""
    rows = matrix.shape[0]
    made = np.eye(rows, dtype=np.int64)
    rank = 0
    for start in range(0, matrix.shape[1], _CHUNK):
        if rank == rows:
            break
        part = _mod_product(made, matrix[:, start : start + _CHUNK])
        for column in range(part.shape[1]):
            below = np.flatnonzero(part[rank:, column])
            if not len(below):
                continue
            for both in (part, made):
                both[[rank, rank + below[0]]] = both[[rank + below[0], rank]]
            inverse = pow(int(part[rank, column]), -1, PRIME)
            factor = part[:, column].copy()
            factor[rank] = 0
            for both in (part, made):
                both[rank] = both[rank] * inverse % PRIME
                both -= factor[:, None] * both[rank]
                both %= PRIME
            rank += 1
            if rank == rows:
                break
    return made, rank


#: Beyond these numbers, among answers that hang together, sums and differences of more than two are not looked for.
MOST_ANSWERS = 300
MOST_PATTERNS = 100_000
#: Beyond this many answers of all patterns it is not even asked which answers hang together.
MOST_ENTRIES = 10_000_000


@dataclass(frozen=True)
class AnswerCombination:
    r"""Planned answers that isolate someone: the query of each answer, its weight, and how many people stand so.

    ``moved`` are the queries with an answer that the person is in, among all answers that bear upon them: whoever knows
    everyone else sees these move, which bounds what any combination tells. ``exact`` says that no other planned answer
    adds anything to this combination. ``shift`` is what is left of a person's contribution of 1 under the best
    combination if every answer has normal noise of standard deviation 1 (:math:`1/\sqrt2` for a pair): exact for normal
    noise of one scale, an upper bound in units of the smallest. ``gain`` is how many times the person's contribution
    the combination shows: 1 for one answer and for two.

    ``kind`` numbers what is added up, counts or the sums of one column: within a kind each person stands in one entry.
    Someone may stand in entries of several kinds; a last entry of kind −1 then joins them all, as a bound. ``weights``
    is empty there and where they are not small whole numbers. ``compared`` is false for an entry that only says that
    these queries have too many answers for sums and differences of more than two to be looked for.
    """

    queries: tuple[int, ...]
    weights: tuple[int, ...]
    moved: tuple[int, ...]
    people: int
    exact: bool
    shift: float
    gain: int = 1
    kind: int = 0
    compared: bool = True

    @property
    def pair(self) -> bool:
        """Whether it is the difference of two answers."""
        return len(self.weights) == 2

    @property
    def alone(self) -> bool:
        """Whether one answer is enough: it covers a single person."""
        return len(self.weights) == 1

    def to_dict(self) -> dict[str, object]:
        """The combination as plain values."""
        lists = {name: list(getattr(self, name)) for name in ("queries", "weights", "moved")}
        return {**vars(self), **lists, "pair": self.pair}


@dataclass(frozen=True)
class _PersonIsolation:
    """How one person is isolated; the same for many."""

    queries: tuple[int, ...]
    weights: tuple[int, ...]
    moved: tuple[int, ...]
    exact: bool
    shift: float
    gain: int = 1

    def __add__(self, other: _PersonIsolation) -> _PersonIsolation:
        """What two looks at the same person give: the simpler combination, and all that moves."""
        first, second = sorted((self, other), key=lambda way: (len(way.weights) or 99, way.queries))
        if first == second:
            return first
        same = (first.queries, first.weights) == (second.queries, second.weights)
        moved = tuple(sorted({*first.moved, *second.moved}))
        shift = max(first.shift, second.shift) if same else float(np.hypot(first.shift, second.shift))
        return _PersonIsolation(
            first.queries, first.weights, moved, same and first.exact and second.exact, shift, first.gain
        )


def isolating_combinations(found: JointGroupings, min_query_size: int) -> tuple[AnswerCombination, ...]:
    """Whom the planned answers isolate, alone or together; the people of each kind of combination counted."""
    ways: dict[tuple[Aggregate, int, int], _PersonIsolation] = {}
    lost = []
    for family in found.families:
        joint = found.of(family.sides)
        if joint is None:
            lost.append(family)
            continue
        people, compared = _AnswerPatterns.of(family, joint, min_query_size).ways()
        for owner, way in people:
            key = (family.aggregate, id(joint), owner)
            ways[key] = ways[key] + way if key in ways else way
        if not compared:
            lost.append(family)
    kinds = {aggregate: i for i, aggregate in enumerate(dict.fromkeys(f.aggregate for f in found.families))}
    counted = Counter((kinds[aggregate], way) for (aggregate, _, _), way in ways.items())
    made = [
        AnswerCombination(way.queries, way.weights, way.moved, number, way.exact, way.shift, way.gain, kind)
        for (kind, way), number in counted.items()
    ]
    made.sort(key=lambda c: (c.kind, len(c.weights) or 99, c.queries, c.weights, c.moved))
    names = dict.fromkeys((kinds[f.aggregate], tuple(sorted({side.index for side in f.sides}))) for f in lost)
    joined = _joint_bound(made)
    made += [AnswerCombination(queries, (), (), 0, False, 0.0, 0, kind, compared=False) for kind, queries in names]
    return (*made, *joined)


def _joint_bound(made: list[AnswerCombination]) -> tuple[AnswerCombination, ...]:
    """What someone isolated in several kinds of answers may lose to all of them: every answer that anyone is in."""
    kinds = {found.kind: 0 for found in made}
    if len(kinds) < 2:
        return ()
    for found in made:
        kinds[found.kind] += found.people
    moved = tuple(sorted({i for found in made for i in found.moved}))
    queries = tuple(sorted({i for found in made for i in found.queries}))
    shift = float(np.linalg.norm([max(f.shift for f in made if f.kind == kind) for kind in kinds]))
    return (AnswerCombination(queries, (), moved, min(kinds.values()), False, shift, 0, -1),)


class _AnswerPatterns:
    """The answers and patterns of one family.

    ``cells[p, f]`` is the answer of side f that pattern p is in, −1 for none; ``query`` the query of each answer;
    ``owner`` whose pattern it is, −1 where several people share it.
    """

    def __init__(self, cells: Integers, query: Integers, owner: Integers) -> None:
        self.cells, self.query, self.owner = cells, query, owner
        self.by_owner = np.argsort(owner, kind="stable")
        self.sorted_owners = owner[self.by_owner]

    @classmethod
    def of(cls, family: QueryFamily, joint: JointGroups, min_query_size: int) -> _AnswerPatterns:
        """From the joint groups; answers about fewer people than a query may cover are not given."""
        columns, query, start = [], [], 0
        for side in family.sides:
            ids = joint.ids(side)
            size = int(ids.max(initial=-1)) + 1
            if min_query_size > 1:
                people = joint.people(side)
                given = np.asarray([people.get(i, 0) >= min_query_size for i in range(size)] + [False])
                ids = np.where(given[ids], ids, -1)
            columns.append(np.where(ids >= 0, ids + start, -1))
            query += [side.index] * size
            start += size
        cells = np.stack(columns, axis=1)
        low, high = joint.ends
        inside = (cells >= 0).any(axis=1)
        cells, low, high = cells[inside], low[inside], high[inside]
        # Equal patterns have equal sums of random names of their answers: sort by these, then reduce each run.
        names = np.random.default_rng(1).integers(1, 2**63, start + 1, np.uint64)
        names[-1] = 0
        total = np.zeros(len(cells), np.uint64)
        for column in cells.T:
            total += names[column]
        order = np.argsort(total, kind="stable")
        cells, low, high, total = cells[order], low[order], high[order], total[order]
        starts = np.flatnonzero(np.concatenate(([True], total[1:] != total[:-1]))[: len(cells)])
        if not len(starts):
            return cls(cells, np.asarray(query, np.int64), np.empty(0, np.int64))
        low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
        return cls(cells[starts], np.asarray(query, np.int64), np.where(low == high, low, -1))

    def ways(self) -> tuple[list[tuple[int, _PersonIsolation]], bool]:
        """How each isolated person is isolated, and whether every combination was looked at."""
        if not (self.owner >= 0).any():
            return [], True
        compared = True
        simple = self._simple()
        if int((self.cells >= 0).sum()) > MOST_ENTRIES:
            return [(owner, self._bounded(owner, used)) for owner, used in simple.items()], False
        made: dict[int, _PersonIsolation] = {}
        seen: dict[_Form, tuple[tuple[int, _PersonIsolation], ...]] = {}
        for answers, patterns in self._components():
            if len(answers) > MOST_ANSWERS or len(patterns) > MOST_PATTERNS:
                compared = False
                people = map(int, np.unique(self.owner[patterns]))
                some = [(o, self._bounded(o, simple[o])) for o in people if o in simple]
            else:
                some = self._solved(answers, patterns, simple, seen)
            for owner, way in some:
                made[owner] = made[owner] + way if owner in made else way
        return list(made.items()), compared

    def _components(self) -> list[tuple[Integers, Integers]]:
        """The answers that hang together by patterns, with these; only where some pattern is one person's."""
        size, many = len(self.query), len(self.cells)
        at, side = np.nonzero(self.cells >= 0)
        label = _component_labels(self.cells[at, side], size + at, size + many)
        wanted = np.unique(label[size:][self.owner >= 0])
        answers = _label_groups(label[:size], wanted)
        patterns = _label_groups(label[size:], wanted)
        return list(zip(answers, patterns, strict=True))

    def _solved(
        self,
        answers: Integers,
        patterns: Integers,
        simple: Mapping[int, tuple[int, ...]],
        seen: dict[_Form, tuple[tuple[int, _PersonIsolation], ...]],
    ) -> list[tuple[int, _PersonIsolation]]:
        """One component, by linear algebra; components of the same form are solved once."""
        local = np.where(self.cells[patterns] >= 0, np.searchsorted(answers, self.cells[patterns]), -1)
        owners, owner = np.unique(self.owner[patterns], return_inverse=True)
        shift = int(owners[0] >= 0)
        owner = owner + shift - 1  # −1 for shared ones, then from 0
        owners = owners if shift else owners[1:]
        mine = set(answers.tolist())  # a person in several components has their one or two answers in one of them
        own = (simple.get(int(o), ()) for o in owners)
        likes = tuple(tuple(np.searchsorted(answers, way).tolist()) if mine.issuperset(way) else () for way in own)
        key = (tuple(self.query[answers].tolist()), local.tobytes(), owner.tobytes(), likes)
        if key not in seen:
            seen[key] = tuple(self._described(answers, local, owner, likes))
        return [(int(owners[o]), way) for o, way in seen[key]]

    def _described(
        self, answers: Integers, local: Integers, owner: Integers, likes: tuple[tuple[int, ...], ...]
    ) -> list[tuple[int, _PersonIsolation]]:
        matrix = np.zeros((len(answers) + 1, len(local)), np.int64)
        matrix[local, np.arange(len(local))[:, None]] = 1
        query = self.query[answers]
        made = []
        for found in isolated_people(matrix[:-1], owner):
            moved = tuple(sorted({int(q) for q in query[list(found.own)]}))
            if likes[found.owner]:
                used: tuple[int, ...] = likes[found.owner]
                weights, gain = (1, -1)[: len(used)], 1
            else:
                held = found.weights or ()
                used = tuple(i for i, w in enumerate(held) if w)
                weights, gain = tuple(held[i] for i in used), found.gain
            asked = tuple(int(query[i]) for i in used) or moved
            made.append((found.owner, _PersonIsolation(asked, weights, moved, found.exact, found.shift, gain)))
        return made

    def _bounded(self, owner: int, used: tuple[int, ...]) -> _PersonIsolation:
        """A person isolated by one or two answers among too many to solve: all that they are in may bear upon it."""
        mine = self.cells[self.by_owner[slice(*np.searchsorted(self.sorted_owners, (owner, owner + 1)))]]
        moved = {int(self.query[c]) for c in mine.ravel() if c >= 0}
        most = float(np.sqrt((mine >= 0).sum(axis=1).max()))
        queries = tuple(int(self.query[c]) for c in used)
        return _PersonIsolation(queries, (1, -1)[: len(used)], tuple(sorted(moved)), False, most)

    def _simple(self) -> dict[int, tuple[int, ...]]:
        """The one answer, or the two, that isolate a person by themselves."""
        alone, pairs = single_or_pair_isolation(list(self.cells.T), self.owner)
        made: dict[int, tuple[int, ...]] = {}
        for owner, (_, a), (_, b) in pairs:
            made.setdefault(owner, (a, b))
        return made | {owner: (a,) for owner, (_, a) in alone}


def _label_groups(label: Integers, wanted: Integers) -> list[Integers]:
    order = np.argsort(label, kind="stable")
    low = np.searchsorted(label[order], wanted, "left")
    high = np.searchsorted(label[order], wanted, "right")
    return [order[a:b] for a, b in zip(low, high, strict=True)]
