"""The answers of a plan's queries on its table: of the whole table, after limits on contributions, and after bounds.

The three stand apart because the difference is part of the error of a release: noise is added to the last, and the
first is what everybody believes they are told.

Everything is counted and added up exactly (:mod:`epsilens.data.tables.dialect`), so that DuckDB and Spark give the same
answers to the last digit. The passes over the table: one survey (rows, ranges of the summed columns), one for the
totals of all queries that are split by the same columns, one grouping by owner and group for the people behind them;
further ones only where an owner has more rows or groups than the plan allows.

Of an owner's rows, people and groups at most so many are used, chosen by hash. Where no limit bites nothing is hashed:
:func:`binding_needs` finds first, in one grouping for several queries, whether any owner has more than is allowed.
Where some have, only the rows of these owners are put in order, and what they lose is subtracted from the answers of
the whole table.

People counted: an owner counts in at most G of their groups. Rows, sums, averages, and the people of a household: at
most m items in total, after all but G groups were left out where G says more than m. The order is that of
:mod:`epsilens.data.tables.row_limit`: own rows only, in no order of values or names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from ..data.queries import QueryKind
from ..data.tables.columns import value_of
from ..data.tables.dialect import as_integer
from ..data.tables.engines import Engine, need_ibis
from ..data.tables.row_limit import OWNER, distinct_row_hashes, hash_key, limit_rows
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


def each_owner(items: ir.Table, flags: Sequence[str]) -> ir.Table:
    """How many items with each flag an owner has."""
    return items.group_by("p").agg(**{flag: as_integer(items[flag]).sum() for flag in flags})


def _items_by_owner(
    table: ir.Table, needs: Sequence[Need], seen: Survey, groups: bool
) -> tuple[ir.Table, dict[int, str]]:
    """How many items (or groups) of each need every owner has; needs of one batch, and one kind of items."""
    items = ItemKind.PEOPLE if groups else needs[0].items
    found = query_columns(table, needs, seen, split=items is not ItemKind.ROWS, sums=False)
    return each_owner(items_of(found, needs, items), _flags(found, needs)), found.used


def _limits(needs: Sequence[Need]) -> Iterator[tuple[list[Need], bool]]:
    """What can bite: needs whose items are limited, and needs whose groups are, in batches."""
    for groups in (False, True):
        limited = [
            n for n in needs if (n.groups is not None if groups else n.items is not ItemKind.PEOPLE or n.split_by)
        ]
        rows = [n for n in limited if n.items is ItemKind.ROWS and not groups]
        for start in range(0, len(rows), MOST_COUNTERS):  # rows are limited in total, whatever the groups
            yield rows[start : start + MOST_COUNTERS], groups
        for kind in (ItemKind.PEOPLE, ItemKind.MEMBERS, ItemKind.ROWS):
            for batch in batches([n for n in limited if n.items is kind and (groups or kind is not ItemKind.ROWS)]):
                yield batch, groups


def binding_needs(
    opened: OpenTable, needs: Sequence[Need], seen: Survey, most_rows: int
) -> tuple[list[Need], list[ir.Table]]:
    """The needs of which some owner has more than is allowed, and tables of these owners ``p``.

    ``most_rows`` are the most rows of one owner: below it no limit can bite.
    """
    engine = opened.engine
    bound: dict[int, Need] = {}
    owners = []
    for batch, groups in _limits([n for n in needs if most_rows > min(n.most, n.groups or n.most)]):
        each, used = _items_by_owner(opened.table, batch, seen, groups)
        more = {f"over{n.position}": each[used[n.position]] > (n.groups or n.most if groups else n.most) for n in batch}
        some = engine.cache(each.filter(reduce(operator.or_, more.values())).select("p", **more))
        found = engine.fetch(some.aggregate(**{name: some[name].any() for name in more})).to_pylist()[0]
        bound |= {n.position: n for n in batch if found[f"over{n.position}"]}
        owners.append(some.select("p"))
    return [bound[i] for i in sorted(bound)], owners


def needed_columns(needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]) -> list[str]:
    """The columns that are needed to see what is kept; ``content`` as :func:`~.needs.content_columns` gives it."""
    own = (name for need in needs for name in need.columns)
    return sorted({*content[0], *content[1], *owner_columns(needs[0].data), *own})


def rows_of_owners(opened: OpenTable, owners: Sequence[ir.Table], columns: Sequence[str], owner: str) -> ir.Table:
    """The rows of these owners, with whose they are as :data:`OWNER`, kept by the engine."""
    some = reduce(lambda a, b: a.union(b), owners).distinct()
    narrow = opened.table.select(*columns)
    owned = narrow.mutate(**{OWNER: value_of(narrow[owner], "person")})
    return opened.engine.cache(owned.semi_join(some.select(**{OWNER: some["p"]}), OWNER))


def shards(
    engine: Engine, rows: ir.Table, needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]
) -> Iterator[ir.Table]:
    """The rows in parts that hold whole owners, each small enough to be put in order in memory, with their hash."""
    count = int(engine.fetch(rows.aggregate(n=rows.count())).to_pylist()[0]["n"])
    parts = -(-count // _ROWS_AT_ONCE)
    if parts <= 1 or engine.kind != "duckdb":  # the others spread their work by themselves
        yield with_row_hash(engine, rows, needs, content)
        return
    name = "epsilens part"
    placed = engine.cache(rows.mutate(**{name: hash_key(rows, [OWNER]) % parts}))
    for part in range(parts):
        yield with_row_hash(engine, placed.filter(placed[name] == part).drop(name), needs, content)


def with_row_hash(
    engine: Engine, owned: ir.Table, needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]
) -> ir.Table:
    """The rows with the hash that puts each owner's in order, where rows are what is limited."""
    if all(need.items is not ItemKind.ROWS for need in needs):
        return owned
    plain = owned.mutate(**{name: value_of(owned[name], "query") for part in content for name in part})
    return engine.cache(distinct_row_hashes(plain, *content))


def owner_totals(table: ir.Table, needs: Sequence[Need], seen: Survey) -> tuple[ir.Table, QueryColumns]:
    """What each owner adds, by group, to needs that are alike: a row for every ``p`` and group.

    The table is one that :func:`with_row_hash` made. For need i: ``n{i}`` the items covered, ``k{i}`` those kept;
    ``dv{i}_{part}`` and ``dc{i}_{part}`` the sums, before and after bounds, of what is dropped; ``kc{i}_{part}`` the
    sums after bounds of what is kept.
    """
    ibis = need_ibis()
    kind = needs[0].items
    found = query_columns(table, needs, seen)
    items, ties = items_of(found, needs, kind), ["q", *found.keys] if kind is ItemKind.MEMBERS else found.keys
    if kind is ItemKind.ROWS:
        ties = []
    else:
        items = items.mutate(hash_=hash_key(items, ["p", *ties]))
    most: dict[str, int] = {}
    flags: dict[int, str] = {}
    for need in needs:  # needs may share a flag and differ in what they allow
        flags[need.position] = flag = f"{found.used[need.position]}_{need.most}_{need.groups}"
        most[flag] = need.most
        if flag not in items.columns:
            items = items.mutate(**{flag: items[found.used[need.position]]})
    fewer = {flags[need.position]: need.groups for need in needs if need.groups is not None}
    if fewer:
        items = _fewer_groups(items, found.keys, fewer)
    kept = limit_rows(items, most, ties)
    sums: dict[str, ir.Value] = {}
    for need in needs:
        i, flag = need.position, kept[found.used[need.position]]
        stays = kept[f"kept_{flags[i]}"]
        sums[f"n{i}"], sums[f"k{i}"] = as_integer(flag).sum(), as_integer(stays).sum()
        for short, parts, condition in (
            ("dv", found.value.get(i, ()), flag & ~stays),
            ("dc", found.clamped.get(i, ()), flag & ~stays),
            ("kc", found.clamped.get(i, ()), stays),
        ):
            for j, part in enumerate(parts):
                sums[f"{short}{i}_{j}"] = ibis.ifelse(condition, kept[part], 0).sum()
    return kept.group_by(["p", *found.keys]).agg(**{name: total.cast("int64") for name, total in sums.items()}), found


def _fewer_groups(items: ir.Table, keys: Sequence[str], most: dict[str, int]) -> ir.Table:
    """Clear each flag in all but so many of an owner's groups, by hash, among the groups with the flag."""
    ibis = need_ibis()
    placed = items.mutate(group_=hash_key(items, ["p", *keys]))
    last = 2**62 if placed["group_"].type().is_integer() else "g"  # after every hexadecimal digit, in any language
    cleared = {}
    for flag, number in most.items():
        order = [ibis.ifelse(placed[flag], placed["group_"], last), *(placed[key] for key in keys)]
        rank = ibis.dense_rank().over(ibis.window(group_by="p", order_by=order))
        cleared[flag] = placed[flag] & (rank < number)
    return placed.mutate(**cleared).drop("group_")


#: More groups than this are no table anybody publishes.
MOST_GROUPS = 10_000

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


@dataclass
class _AnswerWork:
    """The tallies under way, by query and group."""

    opened: OpenTable
    needs: tuple[Need, ...]
    seen: Survey
    tallies: dict[int, dict[Label, Tally]] = field(default_factory=dict)

    def fetch(self, expression: ir.Table) -> list[Row]:
        got: list[Row] = self.opened.engine.fetch(expression).to_pylist()
        return got


def answers_of(
    opened: OpenTable, plan: Release, tell: Callable[[int, str], object] | None = None
) -> tuple[tuple[ExactAnswer, ...], ...]:
    """The answers of each query, a group each: public groups in the plan's order, others in their own.

    ``tell`` hears how many queries are answered, and what comes next.
    """
    return tuple(
        tuple(tally.answer(need, label) for label, tally in tallies)
        for need, tallies in tallies_of(opened, plan, tell).items()
    )


def tallies_of(
    opened: OpenTable, plan: Release, tell: Callable[[int, str], object] | None = None, *, stepped: bool = False
) -> dict[Need, list[tuple[Label, Tally]]]:
    """What each group of each query adds up to, exactly; ``stepped``, cut by the bounds alone, for noise."""
    tell = tell or (lambda done, what: None)
    needs = needs_of(opened.table, plan)
    tell(0, "surveying the table")
    seen = replace(survey(opened, needs), stepped=stepped)
    work = _AnswerWork(opened, needs, seen, {n.position: {} for n in needs})
    done = 0
    for batch in batches(needs, len(needs)):
        tell(done, f"answering {batch[0].query}")
        _totals(work, batch)
        done += len(batch)
    if plan.data.owner is None:
        for tallies in work.tallies.values():
            for tally in tallies.values():
                tally.people = tally.items
    else:
        tell(done, "counting people")
        bound, owners = _people(work)
        if bound:
            tell(done, "limiting what one person adds")
            _subtract_excess(work, bound, owners)
    return {need: _label_tallies(work, need) for need in needs}


def _label_tallies(work: _AnswerWork, need: Need) -> list[tuple[Label, Tally]]:
    tallies = work.tallies[need.position]
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


def _totals(work: _AnswerWork, needs: Sequence[Need]) -> None:
    """Rows and sums of the whole table, for needs that are split by the same columns."""
    found = query_columns(work.opened.table, needs, work.seen)
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
        grouped = grouped.filter(_any_covered(grouped, [found.covered[n.position] for n in needs]))
    most = MOST_GROUPS * len(needs)
    got = work.fetch(grouped.limit(most + 1))
    for need in needs:
        i = need.position
        for row in got:
            covered, used = int(row[found.covered[i]] or 0), found.used[i]
            if found.keys and not covered:
                continue
            tally = Tally(covered, int(row[used] or 0))
            if need.valued:
                grid, bounded = found.grid[i]
                tally.value = grid.total(*(int(row[f"{name}_{used}"] or 0) for name in found.value[i]))
                tally.clamped = bounded.total(*(int(row[f"{name}_{used}"] or 0) for name in found.clamped[i]))
            work.tallies[i][tuple(row[key] for key in found.keys)] = tally
    counts = {n.position: len(work.tallies[n.position]) for n in needs}
    if len(got) > most:  # some query has too many: which one, only the engine knows
        flags = {name: as_integer(grouped[name] > 0).sum() for name in set(found.covered.values())}
        groups = work.fetch(grouped.aggregate(**flags))[0]
        counts = {n.position: groups[found.covered[n.position]] for n in needs}
    for need in needs:
        if counts[need.position] > MOST_GROUPS:
            raise InputError(
                f"query {str(need.query)!r} has more than {MOST_GROUPS:,} groups: split it by fewer columns",
                parameter=need.place,
            )


def _any_covered(grouped: ir.Table, names: Sequence[str]) -> ir.Value:
    return sum((grouped[name] for name in dict.fromkeys(names)), start=0) > 0


def _people(work: _AnswerWork) -> tuple[list[Need], list[ir.Table]]:
    """The owners behind every group; the needs whose limits somebody exceeds, and who."""
    most_rows = 0
    plain = [n for n in work.needs if not n.split_by]
    split = [n for n in work.needs if n.split_by]
    for batch in (list(b) for b in batches(plain)) if plain else [[work.needs[0]]]:
        most_rows = max(most_rows, _count_owners(work, batch))
    for batch in batches(split):
        _count_owners_by_group(work, batch)
    for batch in batches([n for n in work.needs if n.items is ItemKind.MEMBERS]):
        for _, tally, number in _item_counts(work, batch, ItemKind.MEMBERS):
            tally.items = number
    return binding_needs(work.opened, work.needs, work.seen, most_rows)


def _count_owners(work: _AnswerWork, needs: Sequence[Need]) -> int:
    """The owners behind answers that are not split; returns the most rows of one owner."""
    found = query_columns(work.opened.table, needs, work.seen, split=False, sums=False)
    rows = found.rows.mutate(all_=True)
    each = each_owner(rows, ["all_", *_flags(found, needs)])
    asked = {flag: as_integer(each[flag] > 0).sum() for flag in _flags(found, needs)}
    got = work.fetch(each.aggregate(**asked, most=each["all_"].max()))[0]
    for need in needs:
        if not need.split_by:
            tally = work.tallies[need.position][()]
            tally.people = int(got[found.used[need.position]] or 0)
            if need.items is ItemKind.PEOPLE:
                tally.items = tally.people
    return int(got["most"] or 0)


def _item_counts(work: _AnswerWork, needs: Sequence[Need], items: ItemKind) -> Iterator[tuple[Need, Tally, int]]:
    found = query_columns(work.opened.table, needs, work.seen, sums=False)
    each = items_of(found, needs, items)
    flags = _flags(found, needs)
    grouped = _by_group(each, found.keys, {flag: as_integer(each[flag]).sum() for flag in flags})
    if found.keys:
        grouped = grouped.filter(_any_covered(grouped, flags))
    for row in work.fetch(grouped):
        for need in needs:
            number = int(row[found.used[need.position]] or 0)
            if number:
                yield need, work.tallies[need.position][tuple(row[key] for key in found.keys)], number


def _count_owners_by_group(work: _AnswerWork, needs: Sequence[Need]) -> None:
    for need, tally, number in _item_counts(work, needs, ItemKind.PEOPLE):
        tally.people = number
        if need.items is ItemKind.PEOPLE:
            tally.items = number
    for need in needs:
        if need.items is ItemKind.PEOPLE:
            for tally in work.tallies[need.position].values():
                tally.covered = tally.items


def _subtract_excess(work: _AnswerWork, bound: Sequence[Need], owners: Sequence[ir.Table]) -> None:
    """What the owners above a limit lose, query by query and group by group."""
    engine, content = work.opened.engine, content_columns(work.needs)
    theirs = rows_of_owners(work.opened, owners, needed_columns(bound, content), str(bound[0].data.owner))
    for rows in shards(engine, theirs, bound, content):
        for together in grouped_needs(bound):
            each, found = owner_totals(rows, together, work.seen)
            sums: dict[str, ir.Value] = {}
            for i in (n.position for n in together):
                sums[f"items{i}"] = (each[f"n{i}"] - each[f"k{i}"]).sum()
                sums[f"people{i}"] = as_integer((each[f"n{i}"] > 0) & (each[f"k{i}"] == 0)).sum()
                sums |= {name: each[name].sum() for name in each.columns if name.startswith((f"dv{i}_", f"dc{i}_"))}
            for row in work.fetch(_by_group(each, found.keys, sums)):
                _subtract(work, together, found, row)
            for need in (n for n in together if n.touched):
                i = need.position
                some = each.filter(each[f"n{i}"] > each[f"k{i}"]).select("p").distinct()
                number = int(work.fetch(some.aggregate(n=some.count()))[0]["n"])
                for tally in work.tallies[i].values():
                    tally.touched += number


def _subtract(work: _AnswerWork, needs: Sequence[Need], found: QueryColumns, row: Row) -> None:
    label = tuple(row[key] for key in found.keys)
    for need in needs:
        i, tally = need.position, work.tallies[need.position].get(label)
        if tally is None or not row[f"items{i}"]:
            continue
        tally.dropped += int(row[f"items{i}"])
        tally.left += int(row[f"people{i}"])
        if need.valued:
            grid, bounded = found.grid[i]
            tally.dropped_value += grid.total(*(int(row[f"dv{i}_{j}"]) for j in range(len(found.value[i]))))
            tally.dropped_clamped += bounded.total(*(int(row[f"dc{i}_{j}"]) for j in range(len(found.clamped[i]))))
