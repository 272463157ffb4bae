"""The answers of a plan's queries on its table: of the whole table, after limits on contributions, and after bounds.

The three stand apart because the difference is part of the error of a release: noise is added to the last, and the
first is what everybody believes they are told.

Everything is counted and added up exactly (:mod:`epsilens.data.tables.dialect`), so that DuckDB and Spark give the same
answers to the last digit. The passes over the table: one survey (rows, ranges of the summed columns), one for the
totals of all queries that are split by the same columns, one grouping by owner and group for the people behind them;
further ones only where an owner has more rows or groups than the plan allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from ..data.queries import QueryKind
from ..data.tables.dialect import ones
from ..data.tables.table import OpenTable
from ..errors import InputError
from .kept import above, alike, batches, bound_by, each_owner, items_of, kept_of, narrowed, shards
from .labels import shown
from .needs import Items, Look, Need, Survey, content_of, look, needs_of, survey
from .plan import Release

#: More groups than this are no table anybody publishes.
MOST_GROUPS = 10_000

Label: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
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
        """What both change."""
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
        """The people behind them."""
        return self.people - self.left

    @property
    def added(self) -> Fraction:
        """The sum of the values that count, within bounds."""
        return self.clamped - self.dropped_clamped

    def answer(self, need: Need, label: Label) -> Answer:
        """As a number before noise, with what it was before limits and bounds."""
        kept, people = self.kept, self.owners
        group, nulls = shown(label), self.covered - self.items if need.valued else 0
        if not need.valued:
            return Answer(group, float(self.items), float(kept), float(kept), kept, people)
        totals = self.value, self.value - self.dropped_value, self.added
        sizes = (self.items, kept, kept) if need.query.kind is QueryKind.AVERAGE else (1, 1, 1)
        value, limited, bounded = (float(t / n) if n else 0.0 for t, n in zip(totals, sizes, strict=True))
        return Answer(group, value, limited, bounded, kept, people, nulls)


@dataclass
class _Work:
    """The tallies under way, by query and group."""

    opened: OpenTable
    needs: tuple[Need, ...]
    seen: Survey
    tallies: dict[int, dict[Label, Tally]] = field(default_factory=dict)

    def fetch(self, expression: Any) -> list[dict[str, Any]]:
        got: list[dict[str, Any]] = self.opened.engine.fetch(expression).to_pylist()
        return got


def answers_of(
    opened: OpenTable, plan: Release, tell: Callable[[int, str], object] | None = None
) -> tuple[tuple[Answer, ...], ...]:
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
    work = _Work(opened, needs, seen, {n.position: {} for n in needs})
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
            _drop(work, bound, owners)
    return {need: _listed(work, need) for need in needs}


def _listed(work: _Work, need: Need) -> list[tuple[Label, Tally]]:
    tallies = work.tallies[need.position]
    labels = need.labels if need.labels is not None else sorted(tallies, key=in_order)
    if need.public_size and any(t.covered > t.items for t in tallies.values()):
        raise InputError(
            f"size is public, but {need.query.column!r} has no value in some rows, and a value that is missing tells "
            "on its row; leave size out, or fill the column in",
            parameter=f"{need.place}.size",
        )
    return [(label, tallies.get(label, Tally())) for label in labels]


def in_order(label: Label) -> tuple[Any, ...]:
    """Groups in the order of their values, nothing recorded last."""
    return tuple((part is None, 0 if part is None else part) for part in label)


def _by_group(rows: Any, keys: Sequence[str], sums: dict[str, Any]) -> Any:
    return rows.group_by(list(keys)).agg(**sums) if keys else rows.aggregate(**sums)


def _each_flag(found: Look, needs: Sequence[Need]) -> list[str]:
    return list(dict.fromkeys(found.used[n.position] for n in needs))


def _totals(work: _Work, needs: Sequence[Need]) -> None:
    """Rows and sums of the whole table, for needs that are split by the same columns."""
    found = look(work.opened.table, needs, work.seen)
    rows, sums = found.rows, {}
    for need in needs:
        i = need.position
        used = rows[found.used[i]]
        sums[found.covered[i]] = ones(rows[found.covered[i]]).sum()
        sums[found.used[i]] = ones(used).sum()
        for name in (*found.value.get(i, ()), *found.clamped.get(i, ())):
            sums[f"{name}_{found.used[i]}"] = rows[name].sum(where=used)
    grouped = _by_group(rows, found.keys, sums)
    if found.keys:
        grouped = grouped.filter(_some(grouped, [found.covered[n.position] for n in needs]))
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
        flags = {name: ones(grouped[name] > 0).sum() for name in set(found.covered.values())}
        groups = work.fetch(grouped.aggregate(**flags))[0]
        counts = {n.position: groups[found.covered[n.position]] for n in needs}
    for need in needs:
        if counts[need.position] > MOST_GROUPS:
            raise InputError(
                f"query {str(need.query)!r} has more than {MOST_GROUPS:,} groups: split it by fewer columns",
                parameter=need.place,
            )


def _some(grouped: Any, names: Sequence[str]) -> Any:
    """Whether some need covers the group."""
    return sum((grouped[name] for name in dict.fromkeys(names)), start=0) > 0


def _people(work: _Work) -> tuple[list[Need], list[Any]]:
    """The owners behind every group; the needs whose limits somebody exceeds, and who."""
    most_rows = 0
    plain = [n for n in work.needs if not n.split_by]
    split = [n for n in work.needs if n.split_by]
    for batch in (list(b) for b in batches(plain)) if plain else [[work.needs[0]]]:
        most_rows = max(most_rows, _without_groups(work, batch))
    for batch in batches(split):
        _with_groups(work, batch)
    for batch in batches([n for n in work.needs if n.items is Items.MEMBERS]):
        _members(work, batch)
    return bound_by(work.opened, work.needs, work.seen, most_rows)


def _without_groups(work: _Work, needs: Sequence[Need]) -> int:
    """The owners behind answers that are not split; returns the most rows of one owner."""
    found = look(work.opened.table, needs, work.seen, split=False, sums=False)
    rows = found.rows.mutate(all_=True)
    each = each_owner(rows, ["all_", *_each_flag(found, needs)])
    asked = {flag: ones(each[flag] > 0).sum() for flag in _each_flag(found, needs)}
    got = work.fetch(each.aggregate(**asked, most=each["all_"].max()))[0]
    for need in needs:
        if not need.split_by:
            tally = work.tallies[need.position][()]
            tally.people = int(got[found.used[need.position]] or 0)
            if need.items is Items.PEOPLE:
                tally.items = tally.people
    return int(got["most"] or 0)


def _counted(work: _Work, needs: Sequence[Need], items: Items) -> Iterator[tuple[Need, Tally, int]]:
    """How many such items each group of these needs has."""
    found = look(work.opened.table, needs, work.seen, sums=False)
    each = items_of(found, needs, items)
    flags = _each_flag(found, needs)
    grouped = _by_group(each, found.keys, {flag: ones(each[flag]).sum() for flag in flags})
    if found.keys:
        grouped = grouped.filter(_some(grouped, flags))
    for row in work.fetch(grouped):
        for need in needs:
            number = int(row[found.used[need.position]] or 0)
            if number:
                yield need, work.tallies[need.position][tuple(row[key] for key in found.keys)], number


def _with_groups(work: _Work, needs: Sequence[Need]) -> None:
    for need, tally, number in _counted(work, needs, Items.PEOPLE):
        tally.people = number
        if need.items is Items.PEOPLE:
            tally.items = number
    for need in needs:
        if need.items is Items.PEOPLE:
            for tally in work.tallies[need.position].values():
                tally.covered = tally.items


def _members(work: _Work, needs: Sequence[Need]) -> None:
    for _, tally, number in _counted(work, needs, Items.MEMBERS):
        tally.items = number


def _drop(work: _Work, bound: Sequence[Need], owners: Sequence[Any]) -> None:
    """What the owners above a limit lose, query by query and group by group."""
    engine, content = work.opened.engine, content_of(work.needs)
    theirs = above(work.opened, owners, narrowed(bound, content), str(bound[0].data.owner))
    for rows in shards(engine, theirs, bound, content):
        for together in alike(bound):
            each, found = kept_of(rows, together, work.seen)
            sums: dict[str, Any] = {}
            for i in (n.position for n in together):
                sums[f"items{i}"] = (each[f"n{i}"] - each[f"k{i}"]).sum()
                sums[f"people{i}"] = ones((each[f"n{i}"] > 0) & (each[f"k{i}"] == 0)).sum()
                sums |= {name: each[name].sum() for name in each.columns if name.startswith((f"dv{i}_", f"dc{i}_"))}
            for row in work.fetch(_by_group(each, found.keys, sums)):
                _subtract(work, together, found, row)
            for need in (n for n in together if n.touched):
                i = need.position
                some = each.filter(each[f"n{i}"] > each[f"k{i}"]).select("p").distinct()
                number = int(work.fetch(some.aggregate(n=some.count()))[0]["n"])
                for tally in work.tallies[i].values():
                    tally.touched += number


def _subtract(work: _Work, needs: Sequence[Need], found: Look, row: dict[str, Any]) -> None:
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
