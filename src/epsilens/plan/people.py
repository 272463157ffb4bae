"""What real people add to a plan's answers: a sample of them, chosen by hash, read exactly.

The risk of a release is stated for one worst-placed person, whom the data may not even hold. Beside it stands the
typical one: of some hundred real owners (people, or units where they are protected together), everything each adds to
every noisy number, after limits and bounds. The sample is the owners with the smallest keyed hash, so it is the same in
every run and on every engine, and nobody chose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..data.queries import QueryKind
from ..data.tables.columns import value_of
from ..data.tables.engines import need_ibis
from ..data.tables.kept import in_hash_order
from ..data.tables.open import OpenTable
from ..data.tables.totals import Grid
from .answers import in_order
from .contribution import Noisy, noisy_of
from .kept import alike, kept_of
from .needs import Need, Survey, columns_of, look, needs_of, survey
from .plan import Release

__all__ = ["Person", "people_of"]


@dataclass(frozen=True)
class Person:
    """One owner of the table: what they add to each noisy number, an entry a group, zeros left out.

    An entry is (the query's place in the plan from 0, the kind of number, the amount in the number's own unit).
    """

    moved: tuple[tuple[int, Noisy, float], ...]


def people_of(opened: OpenTable, plan: Release, size: int = 300) -> tuple[Person, ...]:
    """At most ``size`` owners; those whom no query covers add nothing, and are among them.

    >>> from epsilens.data.tables.open import open_table
    >>> from epsilens.plan.file import read_release
    >>> plan = read_release({"data": {"table": "epsilens:rand-hie", "person": "person"},
    ...                      "queries": [{"count": "mental_visits > 0"}], "mechanism": {"epsilon": 1}})
    >>> with open_table(plan.data.table) as opened:
    ...     people = people_of(opened, plan, size=100)
    >>> sum(bool(person.moved) for person in people)  # of 100 people; in the whole table 7 of 100 are counted
    7
    """
    needs = needs_of(opened.table, plan)
    seen = survey(opened, needs)
    if not seen.rows:
        return ()
    noisy = [noisy_of(query) for query in plan.queries]
    find = _rows if plan.data.owner is None else _owners
    return tuple(
        Person(
            tuple(entry for need, k, parts in added for entry in _entries(need, noisy[need.position], k, parts, seen))
        )
        for added in find(opened, needs, seen, size)
    )


def _entries(
    need: Need, noisy: Sequence[Noisy], kept: int, parts: Sequence[int], seen: Survey
) -> Iterator[tuple[int, Noisy, float]]:
    """What ``kept`` items with these sums add to the noisy numbers of one group."""
    total = Fraction(kept)
    if need.valued and need.query.bounds is not None:
        grid: Grid = seen.grids[str(need.query.column)]
        total = grid.total(*parts)
        if need.query.kind is QueryKind.AVERAGE:
            total -= kept * sum(map(Fraction, need.query.bounds)) / 2
    amounts = {Noisy.ANSWER: total, Noisy.TOTAL: total, Noisy.SIZE: kept, Noisy.PEOPLE: 1}
    for kind in noisy:
        if kept and amounts[kind]:
            yield need.position, kind, float(amounts[kind])


def _owners(opened: OpenTable, needs: Sequence[Need], seen: Survey, size: int) -> Iterator[list[Any]]:
    """For each sampled owner the needs with what is kept of them, in the order of queries and groups."""
    engine, table, owner = opened.engine, opened.table, str(needs[0].data.owner)
    owners = table.select(p=value_of(table[owner], "person")).distinct()
    first = owners.mutate(hash_=in_hash_order(owners, ["p"])).order_by(["hash_", "p"]).limit(size)
    sample = engine.cache(first)
    added: dict[Any, list[Any]] = {row["p"]: [] for row in engine.fetch(sample.order_by(["hash_", "p"])).to_pylist()}
    narrow = table.select(*columns_of(needs))
    theirs = engine.cache(narrow.semi_join(sample, value_of(narrow[owner], "person") == sample["p"]))
    for together in alike(needs):
        each, found = kept_of(theirs, together, seen)
        rows = engine.fetch(each).to_pylist()
        for row in sorted(rows, key=lambda r: in_order(tuple(r[key] for key in found.keys))):
            for need in together:
                i = need.position
                parts = [int(row[f"kc{i}_{j}"]) for j in range(len(found.clamped.get(i, ())))]
                added[row["p"]].append((need, int(row[f"k{i}"]), parts))
    for entries in added.values():
        yield sorted(entries, key=lambda entry: entry[0].position)


def _rows(opened: OpenTable, needs: Sequence[Need], seen: Survey, size: int) -> Iterator[list[Any]]:
    """The same where every row is an owner: rows that are alike in all that is looked at are told apart by number."""
    ibis = need_ibis()
    table = opened.table
    columns = sorted({name for need in needs for name in need.columns})
    if not columns:  # everybody is covered, and all are alike
        yield from [[(need, 1, ()) for need in needs]] * min(size, seen.rows)
        return
    plain = table.select(**{name: value_of(table[name], "query") for name in columns})
    same = plain.group_by(columns).agg(n_=plain.count())
    single = same.mutate(o_=ibis.range(0, same["n_"]).unnest()).drop("n_")
    order = ["hash_", *columns, "o_"]
    first = single.mutate(hash_=in_hash_order(single, [*columns, "o_"])).order_by(order).limit(size)
    found = look(opened.engine.cache(first), needs, seen, split=False)
    added = [
        [
            (int(row[found.used[n.position]]), [int(row[c] or 0) for c in found.clamped.get(n.position, ())])
            for n in needs
        ]
        for row in opened.engine.fetch(found.rows).to_pylist()
    ]
    for entries in sorted(added):  # engines give them in any order
        yield [(need, *entry) for need, entry in zip(needs, entries, strict=True)]
