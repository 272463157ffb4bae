"""Which rows, people and groups of an owner a plan's answers use: at most so many, chosen by hash.

For a query without limits that bite nothing is hashed: :func:`bound_by` finds first, in one grouping for several
queries, whether any owner has more than is allowed. Where some have, only the rows of these owners are put in order,
and what they lose is subtracted from the answers of the whole table.

People counted: an owner counts in at most G of their groups. Rows, sums, averages, and the people of a household: at
most m items in total, after all but G groups were left out where G says more than m. The order is that of
:mod:`epsilens.data.tables.kept`: own rows only, in no order of values or names.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Any

from ..data.tables.columns import value_of
from ..data.tables.engines import Engine, need_ibis
from ..data.tables.kept import in_hash_order, keep, numbered
from ..data.tables.open import OpenTable
from .needs import Items, Look, Need, Survey, columns_of, look

__all__ = ["above", "alike", "batches", "bound_by", "each_owner", "items_of", "kept_of", "shards"]

#: So many counters at once: a grouping by owner holds a row of them for each owner.
MOST_COUNTERS = 8
#: The rows whose order is kept in memory at once.
_ROWS_AT_ONCE = 1_500_000


def alike(needs: Sequence[Need]) -> Iterator[list[Need]]:
    """The needs that can share one order: the same items, split by the same columns, and for rows the same content."""

    def kind(need: Need) -> tuple[Any, ...]:
        return need.items.value, need.split_by, need.columns if need.items is Items.ROWS else ()

    for _, together in groupby(sorted(needs, key=kind), key=kind):
        yield list(together)


def batches(needs: Sequence[Need], most: int = MOST_COUNTERS) -> Iterator[list[Need]]:
    """The needs by the columns they are split by, so many at a time."""

    def split(need: Need) -> tuple[str, ...]:
        return need.split_by

    for _, together in groupby(sorted(needs, key=split), key=split):
        same = list(together)
        for start in range(0, len(same), most):
            yield same[start : start + most]


def _flags(found: Look, needs: Sequence[Need]) -> list[str]:
    return list(dict.fromkeys(found.used[need.position] for need in needs))


def items_of(found: Look, needs: Sequence[Need], items: Items) -> Any:
    """The items that needs of one kind count: rows, or those with a row, once."""
    if items is Items.ROWS:
        return found.rows
    whose = ["p", "q"] if items is Items.MEMBERS else ["p"]
    return found.rows.group_by([*whose, *found.keys]).agg(
        **{flag: found.rows[flag].any() for flag in _flags(found, needs)}
    )


def each_owner(items: Any, flags: Sequence[str]) -> Any:
    """How many items with each flag an owner has."""
    return items.group_by("p").agg(**{flag: items[flag].cast("int64").sum().cast("int64") for flag in flags})


def _counted(table: Any, needs: Sequence[Need], seen: Survey, groups: bool) -> tuple[Any, dict[int, str]]:
    """How many items (or groups) of each need every owner has; needs of one batch, and one kind of items."""
    items = Items.PEOPLE if groups else needs[0].items
    found = look(table, needs, seen, split=items is not Items.ROWS, sums=False)
    return each_owner(items_of(found, needs, items), _flags(found, needs)), found.used


def _limits(needs: Sequence[Need]) -> Iterator[tuple[list[Need], bool]]:
    """What can bite: needs whose items are limited, and needs whose groups are, in batches."""
    for groups in (False, True):
        limited = [n for n in needs if (n.groups is not None if groups else n.items is not Items.PEOPLE or n.split_by)]
        rows = [n for n in limited if n.items is Items.ROWS and not groups]
        for start in range(0, len(rows), MOST_COUNTERS):  # rows are limited in total, whatever the groups
            yield rows[start : start + MOST_COUNTERS], groups
        for kind in (Items.PEOPLE, Items.MEMBERS, Items.ROWS):
            for batch in batches([n for n in limited if n.items is kind and (groups or kind is not Items.ROWS)]):
                yield batch, groups


def _allowed(need: Need, groups: bool) -> int:
    return need.groups if groups and need.groups is not None else need.most


def bound_by(opened: OpenTable, needs: Sequence[Need], seen: Survey, most_rows: int) -> list[Need]:
    """The needs of which some owner has more than is allowed; ``most_rows`` are the most rows of one owner."""
    bound = {}
    can = [n for n in needs if most_rows > min(n.most, n.groups or n.most)]
    for batch, groups in _limits(can):
        each, used = _counted(opened.table, batch, seen, groups)
        got = opened.engine.fetch(each.aggregate(**{flag: each[flag].max() for flag in set(used.values())}))
        largest = got.to_pylist()[0]
        bound |= {n.position: n for n in batch if (largest[used[n.position]] or 0) > _allowed(n, groups)}
    return [bound[i] for i in sorted(bound)]


def above(opened: OpenTable, needs: Sequence[Need], seen: Survey) -> Any:
    """The rows of owners who have more than one of these needs allows, kept by the engine."""
    table, owners = opened.table, []
    for batch, groups in _limits(needs):
        each, used = _counted(table, batch, seen, groups)
        more = reduce(operator.or_, [each[used[n.position]] > _allowed(n, groups) for n in batch])
        owners.append(each.filter(more).select(owner_=each["p"]))
    some = reduce(lambda a, b: a.union(b), owners).distinct()
    owner = str(needs[0].data.owner)
    narrow = table.select(*columns_of(needs))
    return opened.engine.cache(narrow.semi_join(some, value_of(narrow[owner], "person") == some["owner_"]))


def shards(engine: Engine, rows: Any, owner: str) -> Iterator[Any]:
    """The rows in parts that hold whole owners, each small enough to be put in order in memory."""
    count = int(engine.fetch(rows.aggregate(n=rows.count())).to_pylist()[0]["n"])
    parts = -(-count // _ROWS_AT_ONCE)
    if parts <= 1 or engine.kind != "duckdb":  # the others spread their work by themselves
        yield rows
        return
    named = rows.mutate(p=value_of(rows[owner], "person"))
    placed = engine.cache(named.mutate(part_=in_hash_order(named, ["p"]) % parts).drop("p"))
    for part in range(parts):
        yield placed.filter(placed["part_"] == part).drop("part_")


def kept_of(table: Any, needs: Sequence[Need], seen: Survey) -> tuple[Any, Look]:
    """What each owner adds, by group, to needs that share an order: a row for every ``p`` and group.

    For need i: ``n{i}`` the items covered, ``k{i}`` those kept; ``dv{i}_{part}`` and ``dc{i}_{part}`` the sums, before
    and after bounds, of what is dropped; ``kc{i}_{part}`` the sums after bounds of what is kept.
    """
    ibis = need_ibis()
    kind = needs[0].items
    found = look(table, needs, seen, content=kind is Items.ROWS)
    items, content = items_of(found, needs, kind), list(found.keys)
    if kind is Items.MEMBERS:
        content = ["q", *found.keys]
    elif kind is Items.ROWS:
        items, content = numbered(items, ["p", *found.content], "o_"), [*found.content, "o_"]
    flags, most = {}, {}
    for need in needs:  # needs may share a flag and differ in what they allow
        flag = flags[need.position] = f"f{need.position}"
        items = items.mutate(**{flag: items[found.used[need.position]]})
        most[flag] = need.most
    if any(need.groups is not None for need in needs):
        items = _fewer_groups(items, found.keys, {flags[n.position]: n.groups for n in needs if n.groups is not None})
    kept = keep(items, content, most)
    sums: dict[str, Any] = {}
    for need in needs:
        i, flag = need.position, kept[found.used[need.position]]
        stays = kept[f"kept_{flags[i]}"]
        sums[f"n{i}"], sums[f"k{i}"] = flag.cast("int64").sum(), stays.cast("int64").sum()
        for short, parts, condition in (
            ("dv", found.value.get(i, ()), flag & ~stays),
            ("dc", found.clamped.get(i, ()), flag & ~stays),
            ("kc", found.clamped.get(i, ()), stays),
        ):
            for j, part in enumerate(parts):
                sums[f"{short}{i}_{j}"] = ibis.ifelse(condition, kept[part], 0).sum()
    return kept.group_by(["p", *found.keys]).agg(**{name: total.cast("int64") for name, total in sums.items()}), found


def _fewer_groups(items: Any, keys: Sequence[str], most: dict[str, int]) -> Any:
    """Clear each flag in all but so many of an owner's groups, by hash, among the groups with the flag."""
    ibis = need_ibis()
    placed = items.mutate(group_=in_hash_order(items, ["p", *keys]))
    last = 2**62 if placed["group_"].type().is_integer() else "~"
    cleared = {}
    for flag, number in most.items():
        order = [ibis.ifelse(placed[flag], placed["group_"], last), *(placed[key] for key in keys)]
        rank = ibis.dense_rank().over(ibis.window(group_by="p", order_by=order))
        cleared[flag] = placed[flag] & (rank < number)
    return placed.mutate(**cleared).drop("group_")
