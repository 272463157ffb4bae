"""The answers of a plan's queries on its table: of the whole table, after limits on contributions, and after bounds.

The three stand apart because the difference is part of the error of a release: noise is added to the last, and the
first is what everybody believes they are told.

Everything is counted and added up exactly (:mod:`epsilens.data.tables.dialect`), so that DuckDB and Spark give the same
answers to the last digit. The passes over the table: one survey (rows, ranges of the summed columns), one for the
totals of all queries that are split by the same columns, one grouping by owner and group for the people behind them;
further ones only where an owner has more rows or groups than the plan allows.

Of an owner's rows, people and groups at most so many are used, chosen by hash. Where no limit bites nothing is hashed:
the counts of each owner tell first, in one grouping for several queries, whether any has more than is allowed. Where
some have, only their rows are put in order, and what they lose is subtracted from the answers of the whole table. A
place in that order says of any limit whether it keeps a row: one order serves all, also those that are only tried.

People counted: an owner counts in at most G of their groups. Rows, sums, averages, and the people of a household: at
most m items in total, after all but G groups were left out where G says more than m. The order is that of
:mod:`epsilens.data.tables.row_limit`: own rows only, in no order of values or names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, reduce
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..data.queries import QueryKind
from ..data.tables.columns import value_of
from ..data.tables.dialect import as_integer, balanced_join
from ..data.tables.engines import need_ibis
from ..data.tables.row_limit import HASH, OWNER, distinct_row_hashes, hash_key, place_items
from ..data.tables.table import OpenTable
from ..errors import InputError
from .labels import display_label
from .model import Release
from .scan_plan import (
    ItemKind,
    Need,
    QueryColumns,
    Survey,
    content_columns,
    covers,
    needs_of,
    owner_columns,
    query_columns,
    survey,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir

#: So many counters at once: a grouping by owner holds a row of them for each owner.
MOST_COUNTERS = 8
#: The rows whose order is kept in memory at once.
_ROWS_AT_ONCE = 1_500_000


def grouped_needs(needs: Sequence[Need]) -> Iterator[list[Need]]:
    """The needs that are answered together: the same items, split by the same columns."""
    key = operator.attrgetter("items.value", "split_by")
    for _, together in groupby(sorted(needs, key=key), key=key):
        yield list(together)


def batches(needs: Sequence[Need], most: int = MOST_COUNTERS) -> Iterator[list[Need]]:
    """The needs by the columns they are split by, so many at a time."""
    key = operator.attrgetter("split_by")
    for _, together in groupby(sorted(needs, key=key), key=key):
        same = list(together)
        for start in range(0, len(same), most):
            yield same[start : start + most]


def _flags(found: QueryColumns, needs: Sequence[Need]) -> list[str]:
    return list(dict.fromkeys(found.used[need.position] for need in needs))


def items_of(found: QueryColumns, needs: Sequence[Need], items: ItemKind) -> ir.Table:
    """The items that needs of one kind count: rows, or those with a row, once."""
    if items is ItemKind.ROWS:
        return found.rows
    whose = ["p", "q"] if items is ItemKind.MEMBERS else ["p"]
    return found.rows.group_by([*whose, *found.keys]).agg(
        **{flag: found.rows[flag].any() for flag in _flags(found, needs)}
    )


def rows_in_order(
    opened: OpenTable, owners: Sequence[ir.Table], needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]
) -> list[ir.Table]:
    """All that these needs look at of these owners, in parts that hold whole owners; kept by the engine.

    With whose they are as :data:`OWNER` and, where rows are limited, the hash that puts each owner's in order, of the
    :func:`~.scan_plan.content_columns`. A part is small enough to be put in order in memory.
    """
    engine, data, part = opened.engine, needs[0].data, "epsilens part"
    some = balanced_join(lambda a, b: a.union(b), owners).distinct()
    columns = {*content[0], *content[1], *owner_columns(data), *(name for need in needs for name in need.columns)}
    narrow = opened.table.select(*sorted(columns))
    owned = narrow.mutate(**{OWNER: value_of(narrow[str(data.owner)], "person")})
    parts = [engine.cache(owned.semi_join(some.select(**{OWNER: some["p"]}), OWNER))]
    if engine.kind == "duckdb":  # the others spread their work by themselves
        many = -(-int(engine.fetch(parts[0].aggregate(n=parts[0].count())).to_pylist()[0]["n"]) // _ROWS_AT_ONCE)
        if many > 1:
            placed = engine.cache(parts[0].mutate(**{part: hash_key(parts[0], [OWNER]) % many}))
            parts = [placed.filter(placed[part] == k).drop(part) for k in range(many)]
    limited = {need.place_column: need for need in needs if need.items is ItemKind.ROWS}
    for k, each in enumerate(parts if limited else ()):
        plain = each.mutate(**{name: value_of(each[name], "query") for some in content for name in some})
        rows = distinct_row_hashes(plain, *content)
        numbers = {at: value_of(rows[need.query.column], "query") for at, need in limited.items() if need.valued}
        rows = rows.mutate(**{at: covers(rows, need, numbers.get(at)) for at, need in limited.items()})
        parts[k] = engine.cache(place_items(rows, {at: rows[at] for at in limited}, [HASH], OWNER))
    return parts


def placed_items(table: ir.Table, needs: Sequence[Need], seen: Survey) -> tuple[ir.Table, QueryColumns, dict[int, str]]:
    """The items of needs that are alike, and for each need the column with their places in their owner's order.

    The table is one of :func:`rows_in_order`. A need keeps the items whose place is at most its ``most``. Needs
    that differ in that alone share a column, so that any number of limits costs one order.
    """
    kind, found = needs[0].items, query_columns(table, needs, seen)
    items, ties = items_of(found, needs, kind), ["q", *found.keys] if kind is ItemKind.MEMBERS else found.keys
    if kind is not ItemKind.ROWS:
        items = items.mutate(hash_=hash_key(items, ["p", *ties]))
    flags = {n.position: found.used[n.position] + ("" if n.groups is None else f"_{n.groups}") for n in needs}
    fewer = {flags[n.position]: (found.used[n.position], n.groups) for n in needs if n.groups is not None}
    if fewer:
        items = _fewer_groups(items, found.keys, fewer)
    known = {n.position: n.place_column for n in needs if kind is ItemKind.ROWS and n.groups is None}
    places = {f"place_{flag}": items[flag] for i, flag in flags.items() if i not in known}
    placed = place_items(items, places, ["hash_", *([] if kind is ItemKind.ROWS else ties)]) if places else items
    return placed, found, {i: known.get(i, f"place_{flag}") for i, flag in flags.items()}


def _fewer_groups(items: ir.Table, keys: Sequence[str], fewer: dict[str, tuple[str, int]]) -> ir.Table:
    """New flags: old ones cleared in all but so many of an owner's groups, by hash, among the groups that have them."""
    ibis = need_ibis()
    placed = items.mutate(group_=hash_key(items, ["p", *keys]))
    last = 2**62 if placed["group_"].type().is_integer() else "g"  # after every hexadecimal digit, in any language
    cleared = {}
    for name, (flag, number) in fewer.items():
        order = [ibis.ifelse(placed[flag], placed["group_"], last), *(placed[key] for key in keys)]
        rank = ibis.dense_rank().over(ibis.window(group_by="p", order_by=order))
        cleared[name] = placed[flag] & (rank < number)
    return placed.mutate(**cleared).drop("group_")


#: More groups than this are no table anybody publishes.
MOST_GROUPS = 10_000

Tell: TypeAlias = Callable[[int, str], object]
Label: TypeAlias = tuple[Any, ...]
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class ExactAnswer:
    """One published number before noise.

    ``value`` is that of the whole table; ``limited`` after limits on contributions; ``bounded`` after bounds too, which
    noise is added to. ``rows`` are the rows kept (for a count what is counted: people or rows), ``people`` the owners
    behind it after the limits, ``nulls`` the covered rows left out because they have no value.
    """

    group: tuple[str, ...]
    value: float
    limited: float
    bounded: float
    rows: int
    people: int
    nulls: int = 0

    @property
    def contribution(self) -> float:
        """What limits on contributions change."""
        return self.limited - self.value

    @property
    def clamping(self) -> float:
        """What bounds change."""
        return self.bounded - self.limited

    @property
    def bias(self) -> float:
        return self.bounded - self.value


@dataclass
class Tally:
    """What one group of one query adds up to: exact totals, of everything and of what limits leave out.

    ``kept`` and ``added`` are what noise goes on: the items, and their sum within bounds.
    """

    covered: int = 0
    items: int = 0
    people: int = 0
    value: Fraction = Fraction(0)
    clamped: Fraction = Fraction(0)
    dropped: int = 0
    left: int = 0  # people all of whose items in the group are dropped
    touched: int = 0  # people of whom something is dropped, in whatever group of the query
    dropped_value: Fraction = Fraction(0)
    dropped_clamped: Fraction = Fraction(0)

    @property
    def kept(self) -> int:
        """The items that count: people, rows, rows with a value."""
        return self.items - self.dropped

    @property
    def owners(self) -> int:
        return self.people - self.left

    @property
    def added(self) -> Fraction:
        """The sum of the values that count, within bounds."""
        return self.clamped - self.dropped_clamped

    def answer(self, need: Need, label: Label) -> ExactAnswer:
        """As a number before noise, with what it was before limits and bounds."""
        kept, people = self.kept, self.owners
        group, nulls = display_label(label), self.covered - self.items if need.valued else 0
        if not need.valued:
            return ExactAnswer(group, float(self.items), float(kept), float(kept), kept, people)
        totals = self.value, self.value - self.dropped_value, self.added
        sizes = (self.items, kept, kept) if need.query.kind is QueryKind.AVERAGE else (1, 1, 1)
        value, limited, bounded = (float(t / n) if n else 0.0 for t, n in zip(totals, sizes, strict=True))
        return ExactAnswer(group, value, limited, bounded, kept, people, nulls)


#: What a limit is about: the items that are covered, and whether their groups are limited, not they themselves.
Limit: TypeAlias = tuple[Hashable, bool]


def _limits(need: Need) -> Iterator[tuple[Limit, int]]:
    """The limits that can bite, and how much each allows."""
    if need.items is not ItemKind.PEOPLE or need.split_by:
        yield (need.coverage, False), need.most
    if need.groups is not None:
        yield (need.coverage, True), need.groups


class _Excess(NamedTuple):
    """The owners with more than ``least`` of what a limit is about, how many each has, and the most of them."""

    least: int
    most: int
    owners: ir.Table
    column: str


@dataclass
class TableAnswers:
    """The answers of a plan on its table, and those of plans that differ from it in bounds or limits alone.

    What they have in common is read once: the totals and people of a query are known by its words, whatever the limits,
    and one order of an owner's rows serves every limit. With ``stepped`` sums are cut by the bounds alone, for noise.
    """

    opened: OpenTable
    plan: Release
    stepped: bool = False
    _whole: dict[Hashable, dict[Label, Tally]] = field(default_factory=dict)
    _people: dict[Hashable, dict[Label, tuple[int, int]]] = field(default_factory=dict)
    _excess: dict[Limit, _Excess] = field(default_factory=dict)
    _ordered: tuple[dict[Limit, int], list[ir.Table]] = field(default_factory=lambda: ({}, []))
    _most_rows: int = 0  # of one owner: below it no limit bites

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """Those of the plan's own queries."""
        return needs_of(self.opened.table, self.plan)

    @cached_property
    def seen(self) -> Survey:
        """What is known of the whole table."""
        return replace(survey(self.opened, self.needs), stepped=self.stepped)

    def answers(self, needs: Sequence[Need], tell: Tell | None = None) -> tuple[tuple[ExactAnswer, ...], ...]:
        """The answers of these needs, a group each: public groups in the plan's order, others in their own."""
        of = zip(needs, self.tallies(needs, tell), strict=True)
        return tuple(tuple(tally.answer(need, label) for label, tally in found) for need, found in of)

    def tallies(self, needs: Sequence[Need], tell: Tell | None = None) -> list[list[tuple[Label, Tally]]]:
        """What each group of each query adds up to, exactly."""
        tell = tell or (lambda done, what: None)
        tell(0, "surveying the table")
        _ = self.seen
        self._read(needs, tell)
        places = {key: k for k, key in enumerate(dict.fromkeys(need.limited for need in needs))}
        different = list({need.limited: replace(need, position=places[need.limited]) for need in needs}.values())
        tallies = [{label: replace(t) for label, t in self._whole[need.words].items()} for need in different]
        biting = self._biting(different) if self.plan.data.owner is not None else {}
        bound = [need for need in different if any(limit in biting for limit, _ in _limits(need))]
        if bound:
            tell(len(needs), "limiting what one person adds")
            for rows in self._in_order(bound, biting):
                for together in grouped_needs(bound):
                    self._drop(rows, together, tallies)
        return [_label_tallies(need, tallies[places[need.limited]]) for need in needs]

    def _fetch(self, expression: ir.Table) -> list[Row]:
        got: list[Row] = self.opened.engine.fetch(expression).to_pylist()
        return got

    def _read(self, needs: Sequence[Need], tell: Tell) -> None:
        """The totals and people of these queries before limits, where they are not known."""
        words = {need.words: need for need in needs if need.words not in self._whole}
        new = [replace(need, position=k) for k, need in enumerate(words.values())]
        done = 0
        for batch in batches(new, len(needs)):
            tell(done, f"answering {batch[0].query}")
            self._totals(batch, [need.place for need in words.values()])
            done += len(batch)
        covered = {need.coverage: need for need in new if need.coverage not in self._people}
        if self.plan.data.owner is not None and covered:
            tell(done, "counting people")
            self._count(list(covered.values()))
        for need in new:
            for label, tally in self._whole[need.words].items():
                if self.plan.data.owner is None:
                    tally.people = tally.items
                    continue
                tally.people, items = self._people[need.coverage].get(label, (0, 0))
                tally.items = tally.items if need.items is ItemKind.ROWS else items
                if need.items is ItemKind.PEOPLE and need.split_by:
                    tally.covered = items

    def _totals(self, needs: Sequence[Need], places: Sequence[str]) -> None:
        """Rows and sums of the whole table, for needs that are split by the same columns."""
        found = query_columns(self.opened.table, needs, self.seen)
        rows, sums = found.rows, {}
        for need in needs:
            i = need.position
            used = rows[found.used[i]]
            sums[found.covered[i]] = as_integer(rows[found.covered[i]]).sum()
            sums[found.used[i]] = as_integer(used).sum()
            for name in (*found.value.get(i, ()), *found.clamped.get(i, ())):
                sums[f"{name}_{found.used[i]}"] = rows[name].sum(where=used)
        grouped = _by_group(rows, found.keys, sums)
        if found.keys:
            grouped = grouped.filter(sum(grouped[name] for name in dict.fromkeys(found.covered.values())) > 0)
        got = self._fetch(grouped.limit(MOST_GROUPS * len(needs) + 1))  # beyond it some query has too many
        for need in needs:
            i, tallies = need.position, dict[Label, Tally]()
            for row in got:
                covered, used = int(row[found.covered[i]] or 0), found.used[i]
                if found.keys and not covered:
                    continue
                tally = Tally(covered, int(row[used] or 0))
                if need.valued:
                    grid, bounded = found.grid[i]
                    tally.value = grid.total(*(int(row[f"{name}_{used}"] or 0) for name in found.value[i]))
                    tally.clamped = bounded.total(*(int(row[f"{name}_{used}"] or 0) for name in found.clamped[i]))
                tallies[tuple(row[key] for key in found.keys)] = tally
            self._whole[need.words] = tallies
            if len(tallies) > MOST_GROUPS:
                raise InputError(
                    f"query {str(need.query)!r} has more than {MOST_GROUPS:,} groups: split it by fewer columns",
                    parameter=places[need.position],
                )

    def _count(self, needs: Sequence[Need]) -> None:
        """The owners behind every group, the items where these are not rows, and the most rows of one owner."""
        in_all = [n for n in needs if not n.split_by or n.items is ItemKind.ROWS] or needs[:1]
        for start in range(0, len(in_all), MOST_COUNTERS):
            self._count_owners(in_all[start : start + MOST_COUNTERS])
        for batch in batches([n for n in needs if n.split_by]):
            self._count_groups(batch, ItemKind.PEOPLE)
        for batch in batches([n for n in needs if n.items is ItemKind.MEMBERS]):
            self._count_groups(batch, ItemKind.MEMBERS)

    def _count_owners(self, needs: Sequence[Need]) -> None:
        """The owners of rows whatever their group, and how many rows one of them has at most."""
        found = query_columns(self.opened.table, needs, self.seen, split=False, sums=False)
        flags = _flags(found, needs)
        each = found.rows.group_by("p").agg(
            all_=found.rows.count(), **{f: as_integer(found.rows[f]).sum() for f in flags}
        )
        asked = {f"has_{flag}": as_integer(each[flag] > 0).sum() for flag in flags}
        got = self._fetch(each.aggregate(**asked, **{flag: each[flag].max() for flag in ("all_", *flags)}))[0]
        self._most_rows = int(got["all_"] or 0)
        for need in needs:
            flag = found.used[need.position]
            if not need.split_by:
                self._people[need.coverage] = {(): (int(got[f"has_{flag}"] or 0),) * 2}
            if need.items is ItemKind.ROWS:
                self._excess[need.coverage, False] = _Excess(0, int(got[flag] or 0), each, flag)

    def _count_groups(self, needs: Sequence[Need], items: ItemKind) -> None:
        """The owners in every group, or the people of theirs."""
        found = query_columns(self.opened.table, needs, self.seen, sums=False)
        each = items_of(found, needs, items)
        flags = _flags(found, needs)
        grouped = _by_group(each, found.keys, {flag: as_integer(each[flag]).sum() for flag in flags})
        if found.keys:
            grouped = grouped.filter(sum(grouped[flag] for flag in flags) > 0)
        got = self._fetch(grouped)
        for need in needs:
            known = self._people.setdefault(need.coverage, {})
            for row in got:
                label, number = tuple(row[key] for key in found.keys), int(row[found.used[need.position]] or 0)
                if number:
                    known[label] = number if items is ItemKind.PEOPLE else known[label][0], number

    def _biting(self, needs: Sequence[Need]) -> dict[Limit, int]:
        """The limits that some owner exceeds, with the least of what they allow."""
        least: dict[Limit, int] = {}
        for limit, most in (each for need in needs for each in _limits(need)):
            if self._most_rows > most:
                least[limit] = min(most, least.get(limit, most))
        known = self._excess
        fresh = {limit: n for limit, n in least.items() if limit not in known or n < known[limit].least}
        for groups in (False, True):
            of = {need.coverage: need for need in needs if (need.coverage, groups) in fresh}
            for kind in ItemKind:
                for batch in batches([n for n in of.values() if n.items is kind]):
                    self._exceed(batch, kind, {n.position: fresh[n.coverage, groups] for n in batch}, groups)
        return {limit: n for limit, n in least.items() if known[limit].most > n}

    def _exceed(self, needs: Sequence[Need], kind: ItemKind, least: dict[int, int], groups: bool) -> None:
        """The owners with more items, or groups, than the least that is allowed."""
        engine, items = self.opened.engine, ItemKind.PEOPLE if groups else kind
        found = query_columns(self.opened.table, needs, self.seen, sums=False)
        owned = items_of(found, needs, items)
        each = owned.group_by("p").agg(**{flag: as_integer(owned[flag]).sum() for flag in _flags(found, needs)})
        more = {n.position: each[found.used[n.position]] > least[n.position] for n in needs}
        some = engine.cache(each.filter(reduce(operator.or_, more.values())))
        got = self._fetch(some.aggregate(**{flag: some[flag].max() for flag in _flags(found, needs)}))[0]
        for need in needs:
            flag = found.used[need.position]
            self._excess[need.coverage, groups] = _Excess(least[need.position], int(got[flag] or 0), some, flag)

    def _in_order(self, needs: Sequence[Need], least: dict[Limit, int]) -> list[ir.Table]:
        """The rows of all owners who exceed one of these limits, put in order once for all that allow more."""
        if not all(limit in self._ordered[0] and self._ordered[0][limit] <= n for limit, n in least.items()):
            over: dict[ir.Table, list[ir.BooleanValue]] = {}
            for found, n in ((self._excess[limit], n) for limit, n in least.items()):
                over.setdefault(found.owners, []).append(found.owners[found.column] > n)
            owners = [each.filter(reduce(operator.or_, more)).select("p") for each, more in over.items()]
            if self.opened.engine.kind == "sqlite":  # whose parser takes only so many tables within tables
                owners = [self.opened.engine.cache(each) for each in owners]
            self._ordered = least, rows_in_order(self.opened, owners, needs, content_columns(self.needs))
        return self._ordered[1]

    def _drop(self, table: ir.Table, needs: Sequence[Need], tallies: Sequence[dict[Label, Tally]]) -> None:
        """What limits take from needs that are alike, group by group."""
        items, found, place = placed_items(table, needs, self.seen)
        keys = found.keys
        sums: dict[str, ir.Value] = {}
        for need in needs:
            i, at = need.position, items[place[need.position]]
            dropped = items[found.used[i]] & (at > need.most)
            sums[f"items{i}"] = as_integer(dropped).sum()
            if need.items is ItemKind.PEOPLE:
                sums[f"people{i}"] = sums[f"items{i}"]
            if need.touched:
                sums[f"touched{i}"] = as_integer(at == need.most + 1).sum()
            for short, parts in (("dv", found.value.get(i, ())), ("dc", found.clamped.get(i, ()))):
                sums |= {f"{short}{i}_{j}": items[part].sum(where=dropped) for j, part in enumerate(parts)}
        got = self._fetch(_by_group(items, keys, sums))
        if keys and needs[0].items is not ItemKind.PEOPLE:  # who has lost all of theirs in a group
            firsts = {place[n.position]: found.used[n.position] for n in needs}
            each = items.group_by(["p", *keys]).agg(
                **{at: items[at].min() for at in firsts}, **{flag: items[flag].any() for flag in set(firsts.values())}
            )
            left = {n: each[found.used[n.position]] & (each[place[n.position]] > n.most) for n in needs}
            got += self._fetch(
                _by_group(each, keys, {f"people{n.position}": as_integer(gone).sum() for n, gone in left.items()})
            )
        for row, need in product(got, needs):
            i, own = need.position, tallies[need.position]
            lost, people, touched = (int(row.get(f"{what}{i}") or 0) for what in ("items", "people", "touched"))
            for tally in own.values() if touched else ():
                tally.touched += touched
            if not lost and not people:
                continue
            tally = own[tuple(row[key] for key in keys)]
            tally.dropped += lost
            tally.left += people
            if need.valued and lost:
                (grid, bounded), value, clamped = found.grid[i], found.value[i], found.clamped[i]
                tally.dropped_value += grid.total(*(int(row[f"dv{i}_{j}"]) for j in range(len(value))))
                tally.dropped_clamped += bounded.total(*(int(row[f"dc{i}_{j}"]) for j in range(len(clamped))))


def answers_of(opened: OpenTable, plan: Release) -> tuple[tuple[ExactAnswer, ...], ...]:
    """The answers of each query, a group each."""
    table = TableAnswers(opened, plan)
    return table.answers(table.needs)


def tallies_of(
    opened: OpenTable, plan: Release, tell: Tell | None = None, *, stepped: bool = False
) -> dict[Need, list[tuple[Label, Tally]]]:
    """What each group of each query adds up to, exactly; ``stepped``, cut by the bounds alone, for noise."""
    table = TableAnswers(opened, plan, stepped)
    return dict(zip(table.needs, table.tallies(table.needs, tell), strict=True))


def _label_tallies(need: Need, tallies: dict[Label, Tally]) -> list[tuple[Label, Tally]]:
    labels = need.labels if need.labels is not None else sorted(tallies, key=label_order)
    if need.public_size and any(t.covered > t.items for t in tallies.values()):
        raise InputError(
            f"size is public, but {need.query.column!r} has no value in some rows, and a value that is missing tells "
            "on its row; leave size out, or fill the column in",
            parameter=f"{need.place}.size",
        )
    return [(label, tallies.get(label, Tally())) for label in labels]


def label_order(label: Label) -> Label:
    """Groups in the order of their values, nothing recorded last."""
    return tuple((part is None, 0 if part is None else part) for part in label)


def _by_group(rows: ir.Table, keys: Sequence[str], sums: dict[str, ir.Value]) -> ir.Table:
    return rows.group_by(list(keys)).agg(**sums) if keys else rows.aggregate(**sums)
