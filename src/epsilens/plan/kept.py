"""Which rows, people and groups of an owner a plan's answers use: at most so many, chosen by hash.

For a query without limits that bite nothing is hashed: :func:`bound_by` finds first, in one grouping for several
queries, whether any owner has more than is allowed. Where some have, only the rows of these owners are put in order,
and what they lose is subtracted from the answers of the whole table.

People counted: an owner counts in at most G of their groups. Rows, sums, averages, and the people of a household: at
most m items in total, after all but G groups were left out where G says more than m. The order is that of
:mod:`epsilens.data.tables.row_limit`: own rows only, in no order of values or names.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Any

from ..data.tables.columns import value_of
from ..data.tables.dialect import ones
from ..data.tables.engines import Engine, need_ibis
from ..data.tables.row_limit import OWNER, in_hash_order, keep, told_apart
from ..data.tables.table import OpenTable
from .needs import Items, Look, Need, Survey, look, owners_of

#: So many counters at once: a grouping by owner holds a row of them for each owner.
MOST_COUNTERS = 8
#: The rows whose order is kept in memory at once.
_ROWS_AT_ONCE = 1_500_000


def alike(needs: Sequence[Need]) -> Iterator[list[Need]]:
    """The needs that are answered together: the same items, split by the same columns."""

    def kind(need: Need) -> tuple[Any, ...]:
        return need.items.value, need.split_by

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
    return items.group_by("p").agg(**{flag: ones(items[flag]).sum() for flag in flags})


def _items_by_owner(table: Any, needs: Sequence[Need], seen: Survey, groups: bool) -> tuple[Any, dict[int, str]]:
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


def bound_by(opened: OpenTable, needs: Sequence[Need], seen: Survey, most_rows: int) -> tuple[list[Need], list[Any]]:
    """The needs of which some owner has more than is allowed, and tables of these owners ``p``.

    ``most_rows`` are the most rows of one owner: below it no limit can bite.
    """
    engine = opened.engine
    bound: dict[int, Need] = {}
    owners = []
    for batch, groups in _limits([n for n in needs if most_rows > min(n.most, n.groups or n.most)]):
        each, used = _items_by_owner(opened.table, batch, seen, groups)
        more = {f"over{n.position}": each[used[n.position]] > _allowed(n, groups) for n in batch}
        some = engine.cache(each.filter(reduce(operator.or_, more.values())).select("p", **more))
        found = engine.fetch(some.aggregate(**{name: some[name].any() for name in more})).to_pylist()[0]
        bound |= {n.position: n for n in batch if found[f"over{n.position}"]}
        owners.append(some.select("p"))
    return [bound[i] for i in sorted(bound)], owners


def narrowed(needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]) -> list[str]:
    """The columns that are needed to see what is kept; ``content`` as :func:`~.needs.content_of` gives it."""
    own = (name for need in needs for name in need.columns)
    return sorted({*content[0], *content[1], *owners_of(needs[0].data), *own})


def above(opened: OpenTable, owners: Sequence[Any], columns: Sequence[str], owner: str) -> Any:
    """The rows of these owners, with whose they are as :data:`OWNER`, kept by the engine."""
    some = reduce(lambda a, b: a.union(b), owners).distinct()
    narrow = opened.table.select(*columns)
    owned = narrow.mutate(**{OWNER: value_of(narrow[owner], "person")})
    return opened.engine.cache(owned.semi_join(some.select(**{OWNER: some["p"]}), OWNER))


def shards(
    engine: Engine, rows: Any, needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]
) -> Iterator[Any]:
    """The rows in parts that hold whole owners, each small enough to be put in order in memory, with their hash."""
    count = int(engine.fetch(rows.aggregate(n=rows.count())).to_pylist()[0]["n"])
    parts = -(-count // _ROWS_AT_ONCE)
    if parts <= 1 or engine.kind != "duckdb":  # the others spread their work by themselves
        yield hashed(engine, rows, needs, content)
        return
    name = "epsilens part"
    placed = engine.cache(rows.mutate(**{name: in_hash_order(rows, [OWNER]) % parts}))
    for part in range(parts):
        yield hashed(engine, placed.filter(placed[name] == part).drop(name), needs, content)


def hashed(engine: Engine, owned: Any, needs: Sequence[Need], content: tuple[Sequence[str], Sequence[str]]) -> Any:
    """The rows with the hash that puts each owner's in order, where rows are what is limited."""
    if all(need.items is not Items.ROWS for need in needs):
        return owned
    plain = owned.mutate(**{name: value_of(owned[name], "query") for part in content for name in part})
    return engine.cache(told_apart(plain, *content))


def kept_of(table: Any, needs: Sequence[Need], seen: Survey) -> tuple[Any, Look]:
    """What each owner adds, by group, to needs that are alike: a row for every ``p`` and group.

    The table is one that :func:`hashed` made. For need i: ``n{i}`` the items covered, ``k{i}`` those kept;
    ``dv{i}_{part}`` and ``dc{i}_{part}`` the sums, before and after bounds, of what is dropped; ``kc{i}_{part}`` the
    sums after bounds of what is kept.
    """
    ibis = need_ibis()
    kind = needs[0].items
    found = look(table, needs, seen)
    items, ties = items_of(found, needs, kind), ["q", *found.keys] if kind is Items.MEMBERS else found.keys
    if kind is Items.ROWS:
        ties = []
    else:
        items = items.mutate(hash_=in_hash_order(items, ["p", *ties]))
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
    kept = keep(items, most, ties)
    sums: dict[str, Any] = {}
    for need in needs:
        i, flag = need.position, kept[found.used[need.position]]
        stays = kept[f"kept_{flags[i]}"]
        sums[f"n{i}"], sums[f"k{i}"] = ones(flag).sum(), ones(stays).sum()
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
    last = 2**62 if placed["group_"].type().is_integer() else "g"  # after every hexadecimal digit, in any language
    cleared = {}
    for flag, number in most.items():
        order = [ibis.ifelse(placed[flag], placed["group_"], last), *(placed[key] for key in keys)]
        rank = ibis.dense_rank().over(ibis.window(group_by="p", order_by=order))
        cleared[flag] = placed[flag] & (rank < number)
    return placed.mutate(**cleared).drop("group_")
