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
from ..data.tables.dialect import numbered
from ..data.tables.row_limit import HASH, in_hash_order
from ..data.tables.table import OpenTable
from .answers import Answer, in_order
from .contribution import Noisy, noisy_of
from .kept import above, alike, hashed, kept_of, narrowed
from .labels import shown
from .needs import Look, Need, Survey, content_of, look, needs_of, survey
from .noise import contribution
from .plan import Release


@dataclass(frozen=True)
class Person:
    """One owner of the table: what they add to each noisy number, an entry a group, zeros left out.

    An entry is (the query's place in the plan from 0, the kind of number, the amount in the number's own unit). Groups
    where nobody else is, if their names come from the data, are apart: (the query's place, how many people of theirs
    the threshold sees there).
    """

    moved: tuple[tuple[int, Noisy, float], ...]
    alone: tuple[tuple[int, int], ...] = ()


def people_of(
    opened: OpenTable, plan: Release, size: int = 300, answers: Sequence[Sequence[Answer]] = ()
) -> tuple[Person, ...]:
    """At most ``size`` owners; those whom no query covers add nothing, and are among them.

    With the plan's ``answers`` it is known who is alone in a group whose name comes from the data.

    >>> from epsilens.data.tables.table import open_table
    >>> from epsilens.plan.file import read_release
    >>> plan = read_release({"data": {"table": "epsilens:rand-hie", "person": "person"},
    ...                      "queries": [{"count": "mental_visits > 0"}], "mechanism": {"epsilon": 1}})
    >>> with open_table(plan.data.table) as opened:
    ...     people = people_of(opened, plan, size=100)
    >>> sum(bool(person.moved) for person in people)  # of 100 people; in the whole table 7 of 100 are counted
    6
    """
    needs = needs_of(opened.table, plan)
    seen = survey(opened, needs)
    if not seen.rows:
        return ()
    noisy = [noisy_of(query) for query in plan.queries]
    single = [{a.group for a in found if a.people == 1} for found in answers] or [set()] * len(plan.queries)
    find = _rows if plan.data.owner is None else _owners
    made = []
    for added in find(opened, needs, seen, size):
        moved, alone = list[tuple[int, Noisy, float]](), list[tuple[int, int]]()
        for need, label, k, total in added:
            if k and not need.public and shown(label) in single[need.position]:
                alone.append((need.position, k if contribution(plan, need.position).households else 1))
            else:
                moved += _entries(need, noisy[need.position], k, total)
        made.append(Person(tuple(moved), tuple(alone)))
    return tuple(made)


def _entries(
    need: Need, noisy: Sequence[Noisy], kept: int | None, total: Fraction
) -> Iterator[tuple[int, Noisy, float]]:
    """What ``kept`` items that add up to ``total`` add to the noisy numbers of one group; None for a limit's touch."""
    if kept is None:
        yield need.position, Noisy.TOUCHED, 1.0
        return
    if need.query.kind is QueryKind.AVERAGE and need.query.bounds is not None:
        low, high = map(Fraction, need.query.bounds)
        total -= kept * (low + high) / 2
    amounts = {Noisy.ANSWER: total, Noisy.TOTAL: total, Noisy.SIZE: kept, Noisy.PEOPLE: 1}
    for kind in noisy:
        if kept and amounts.get(kind):
            yield need.position, kind, float(amounts[kind])


def _total(found: Look, need: Need, kept: int, parts: Sequence[Any]) -> Fraction:
    return found.grid[need.position][1].total(*(int(part or 0) for part in parts)) if need.valued else Fraction(kept)


def _owners(opened: OpenTable, needs: Sequence[Need], seen: Survey, size: int) -> Iterator[list[Any]]:
    """For each sampled owner the needs with groups and what is kept there, in the order of queries and groups."""
    engine, table, owner = opened.engine, opened.table, str(needs[0].data.owner)
    owners = table.select(p=value_of(table[owner], "person")).distinct()
    first = owners.mutate(hash_=in_hash_order(owners, ["p"])).order_by(["hash_", "p"]).limit(size)
    sample = engine.cache(first)
    added: dict[Any, list[Any]] = {row["p"]: [] for row in engine.fetch(sample.order_by(["hash_", "p"])).to_pylist()}
    content = content_of(needs)
    theirs = hashed(engine, above(opened, [sample.select("p")], narrowed(needs, content), owner), needs, content)
    for together in alike(needs):
        each, found = kept_of(theirs, together, seen)
        rows = engine.fetch(each).to_pylist()
        for row in sorted(rows, key=lambda r: in_order(tuple(r[key] for key in found.keys))):
            for need in together:
                i, kept = need.position, int(row[f"k{need.position}"])
                parts = [row[f"kc{i}_{j}"] for j in range(len(found.clamped.get(i, ())))]
                label = tuple(row[key] for key in found.keys)
                added[row["p"]].append((need, label, kept, _total(found, need, kept, parts)))
        for need in (n for n in together if n.touched):
            for whose in {row["p"] for row in rows if row[f"n{need.position}"] > row[f"k{need.position}"]}:
                added[whose].append((need, (), None, Fraction(1)))
    for entries in added.values():
        yield sorted(entries, key=lambda entry: entry[0].position)


def _rows(opened: OpenTable, needs: Sequence[Need], seen: Survey, size: int) -> Iterator[list[Any]]:
    """The same where every row is an owner: rows that are alike in all that is looked at are told apart by number."""
    table = opened.table
    columns = sorted({name for need in needs for name in need.columns})
    if not columns:  # everybody is covered, and all are alike
        yield from [[(need, (), 1, Fraction(1)) for need in needs]] * min(size, seen.rows)
        return
    plain = table.select(**{name: value_of(table[name], "query") for name in columns})
    single = numbered(plain, columns, "epsilens number")
    order = [HASH, *columns, "epsilens number"]
    first = single.mutate(**{HASH: in_hash_order(single, [*columns, "epsilens number"])}).order_by(order).limit(size)
    sample = opened.engine.cache(first)
    found = look(sample, needs, seen, split=False)
    named = list(dict.fromkeys(name for need in needs if not need.public for name in need.split_by))
    labels = {row[HASH]: row for row in opened.engine.fetch(sample.select(HASH, *named)).to_pylist()} if named else {}
    added = []
    for row in opened.engine.fetch(found.rows).to_pylist():
        label = labels.get(row["hash_"], {})
        groups = [() if need.public else tuple(label[name] for name in need.split_by) for need in needs]
        counted = [int(row[found.used[need.position]]) for need in needs]
        parts = [[row[name] for name in found.clamped.get(need.position, ())] for need in needs]
        totals = [_total(found, *entry) for entry in zip(needs, counted, parts, strict=True)]
        added.append(list(zip(groups, counted, totals, strict=True)))
    for entries in sorted(added, key=lambda of: [(*one[1:], in_order(one[0])) for one in of]):  # engines give any order
        yield [(need, *entry) for need, entry in zip(needs, entries, strict=True)]
