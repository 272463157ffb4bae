"""What each planned query needs of its table, and several of them looked up together.

A :class:`Need` is a query with the limits on contributions in force: what is counted or added up (its *items*), how
many items one owner may have, in how many groups. :func:`query_columns` writes what several needs look at as columns of
one table, so that 32 queries are answered in a few passes: conditions and columns that queries have in common are
computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from ..data.queries import Query
from ..data.tables.columns import column_of, value_of
from ..data.tables.conditions import columns_of, condition
from ..data.tables.dialect import SumGrid, SumSteps, as_integer, finite, is_infinite
from ..data.tables.engines import need_ibis
from ..data.tables.row_limit import HASH
from ..data.tables.table import OpenTable
from ..errors import InputError
from ..worlds import Relation
from .contribution import PersonContribution
from .file import dotted_path, error_place
from .labels import matches_labels, read_labels
from .model import Data, Release, Size

if TYPE_CHECKING:
    import ibis.expr.types as ir


class ItemKind(Enum):
    """What a query counts or adds up, and what the limits on contributions are about."""

    PEOPLE = "people"  # the owner, once in a group
    MEMBERS = "members"  # the people of a unit, each once in a group
    ROWS = "rows"


@dataclass(frozen=True)
class Need:
    """One query: of an owner's items at most ``most`` are used, in at most ``groups`` groups where that says more."""

    position: int
    query: Query
    data: Data
    items: ItemKind
    most: int
    groups: int | None
    labels: tuple[tuple[object, ...], ...] | None
    public_size: bool = False
    touched: bool = False

    @property
    def split_by(self) -> tuple[str, ...]:
        return self.query.groups

    @property
    def valued(self) -> bool:
        """Whether rows without a value are left out."""
        return self.query.kind.bounded

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What it looks at in a row, in the order of the plan: rows that agree in all of it are interchangeable."""
        own = (self.query.column,) if self.query.column else ()
        where = columns_of(self.query.where) if self.query.where else ()
        return tuple(dict.fromkeys((*self.split_by, *own, *where)))

    @cached_property
    def coverage(self) -> Hashable:
        """What decides which items it covers: needs that agree in it differ in bounds and limits at most."""
        column = self.query.column if self.valued else None
        return self.items, self.split_by, self.query.where, self.labels, column

    @cached_property
    def words(self) -> Hashable:
        """What decides its answers where nothing is limited."""
        return self.coverage, self.query.kind.bounded, self.query.bounds

    @cached_property
    def place_column(self) -> str:
        """Where a table that has them keeps the places of its rows in their owner's order."""
        return f"epsilens place {hash(self.coverage) % 2**64}"

    @property
    def limited(self) -> Hashable:
        """What decides its answers."""
        return self.words, self.most, self.groups, self.touched

    @property
    def public(self) -> bool:
        """Whether the names of its groups are known beforehand."""
        return self.labels is not None or not self.split_by

    @property
    def place(self) -> str:
        """Where it stands in the plan."""
        return dotted_path(("queries", self.position))


def content_columns(needs: Sequence[Need]) -> tuple[list[str], list[str]]:
    """What tells the rows of an owner apart: all that the queries of a plan that limit rows look at, in their order.

    The columns that tell the secret are apart, in the second list. With them in the hash, another value of the secret
    would keep other rows, and move the answers of queries that never look at it.
    """
    found = dict.fromkeys(name for need in needs if need.items is ItemKind.ROWS for name in need.columns)
    secret = needs[0].data.hidden if needs else None
    told = set() if secret is None else columns_of(secret.where) | set(secret.columns)
    return [name for name in found if name not in told], [name for name in found if name in told]


def owner_columns(data: Data) -> list[str]:
    return [name for name in dict.fromkeys((data.owner, data.person)) if name is not None]


def needs_of(table: ir.Table, plan: Release) -> tuple[Need, ...]:
    """The needs of a plan's queries, checked against the table's columns."""
    made = []
    with error_place("data.secret"):
        if (secret := plan.data.hidden) is not None:
            condition(table, secret.where, "secret")
            for name in secret.columns:
                column_of(table, name, "secret")
    for i, asked in enumerate(plan.queries):
        with error_place(
            dotted_path(("queries", i)),
            groups=dotted_path(("queries", i, "groups")),
            size=dotted_path(("queries", i, "size")),
        ):
            query = asked.to_query()
            query.check(table)
            labels = None
            if asked.labels is not None:
                kinds = [value_of(column_of(table, name, "query"), "query").type() for name in query.groups]
                labels = read_labels(asked.labels, kinds, query.groups)
            if asked.size is Size.PUBLIC:
                _check_public_size(query, plan, labels is not None)
            rows = asked.rows or query.kind.bounded or (plan.data.unit is not None and plan.data.person is None)
            items = ItemKind.ROWS if rows else ItemKind.MEMBERS if plan.data.unit is not None else ItemKind.PEOPLE
            public, touched = asked.size is Size.PUBLIC, asked.touched is not None
            made.append(limited_need(Need(i, query, plan.data, items, 1, None, labels, public, touched), plan))
    return tuple(made)


def limited_need(need: Need, plan: Release) -> Need:
    """The need under the limits on contributions of a plan."""
    one = PersonContribution(need.position, plan.queries[need.position], plan.data)
    most = one.groups if need.items is ItemKind.PEOPLE else one.rows
    fewer = plan.data.max_groups if need.split_by and need.items is not ItemKind.PEOPLE else None
    groups = fewer if fewer is not None and fewer < most else None
    return replace(need, data=plan.data, most=most, groups=groups)


def _check_public_size(query: Query, plan: Release, listed: bool) -> None:
    """Refuse a public size that a record could change."""

    def refuse(why: str) -> InputError:
        return InputError(f"size is public, but {why}; leave size out", parameter="size")

    if plan.mechanism.neighbours is not Relation.REPLACE:
        raise refuse("people are added or removed, and the number of rows tells who is in the table")
    if query.groups and not listed:
        raise refuse("the names of its groups come from the data: list them as groups")
    where = columns_of(query.where) if query.where else set()
    secret, changing = plan.data.hidden, set(where) | set(query.groups)
    if changing and secret is None:
        raise refuse("without data.secret any column may be what an attacker asks about, and which rows are covered")
    if secret is not None and changing & (columns_of(secret.where) | set(secret.columns)):
        raise refuse("which rows it covers depends on the secret's columns")


@dataclass(frozen=True)
class Survey:
    """What must be known of the whole table first: its rows, and how each summed column is cut for exact sums.

    With ``stepped`` sums are those that may be published under noise: cut by the bounds alone.
    """

    rows: int
    grids: Mapping[str, SumGrid]
    within: Mapping[str, tuple[float, float]]  # the least and largest value of each summed column
    stepped: bool = False


def survey(opened: OpenTable, needs: Sequence[Need]) -> Survey:
    """One pass over the table; an owner that is not recorded, or an infinite value, is refused."""
    table, data = opened.table, needs[0].data
    asked: dict[str, ir.Value] = {"rows": table.count()}
    roles = {"unit": data.unit, "person": data.person}
    for role, name in roles.items():
        if name is not None:
            column = value_of(column_of(table, name, role, f"data.{role}"), role)
            asked[role] = as_integer(column.isnull()).sum()
    columns = {n.query.column: None for n in needs if n.valued and n.query.column is not None}
    kinds = {}
    for j, name in enumerate(columns):
        value = value_of(table[name], "query")
        kinds[name] = value.type()
        number = value.cast("float64")
        if value.type().is_floating():
            asked[f"infinite{j}"] = as_integer(is_infinite(number)).sum()
            number = finite(number)
        asked[f"least{j}"], asked[f"largest{j}"] = number.min(), number.max()
    got = opened.engine.fetch(table.aggregate(**asked)).to_pylist()[0]
    for role, name in roles.items():
        if got.get(role):
            raise InputError(
                f"{role} is {name!r}, which is empty in some rows: fill it in or leave those rows out, "
                "because nobody knows whose they are",
                parameter=f"data.{role}",
            )
    grids, within = {}, {}
    for j, name in enumerate(columns):
        using = [n for n in needs if n.valued and n.query.column == name]
        if got.get(f"infinite{j}"):
            raise InputError(
                f"column {name!r} has infinite values, which have no sum: replace them by numbers, or by nothing",
                parameter=using[0].place,
            )
        within[name] = (float(got[f"least{j}"] or 0.0), float(got[f"largest{j}"] or 0.0))
        grids[name] = SumGrid.of(max(map(abs, within[name])), int(got["rows"]), kinds[name].is_integer())
    return Survey(int(got["rows"]), grids, within)


@dataclass
class QueryColumns:
    """Columns of one table: whose row (``p``, ``q``), its groups, and for each need what it covers and adds up.

    ``covered`` are the rows a need covers, ``used`` those of them with a value; ``value`` and ``clamped`` are the parts
    of the exact sums, which ``grid`` puts together, before and after bounds.
    """

    rows: ir.Table
    keys: list[str] = field(default_factory=list)
    covered: dict[int, str] = field(default_factory=dict)
    used: dict[int, str] = field(default_factory=dict)
    value: dict[int, tuple[str, ...]] = field(default_factory=dict)
    clamped: dict[int, tuple[str, ...]] = field(default_factory=dict)
    grid: dict[int, tuple[SumGrid | SumSteps, SumGrid | SumSteps]] = field(default_factory=dict)


def query_columns(
    table: ir.Table, needs: Sequence[Need], seen: Survey, *, split: bool = True, sums: bool = True
) -> QueryColumns:
    """What these needs look at; with ``split`` they must be split by the same columns."""
    ibis = need_ibis()
    # The summed numbers first, in a step of their own: what is made of them would repeat how they are read.
    summed = dict.fromkeys(n.query.column for n in needs if n.valued and n.query.column is not None)
    numbers = {name: f"epsilens number {j}" for j, name in enumerate(summed)}
    table = table.mutate(**{new: value_of(table[name], "query") for name, new in numbers.items()})
    made: dict[str, ir.Value] = {}
    found = QueryColumns(None)
    names: dict[Hashable, str] = {}  # what is computed already, under which name

    def once(key: Hashable, name: str, of: Callable[..., ir.Value], *given: object) -> str:
        if key not in names:
            names[key] = f"{name}{len(made)}"
            made[names[key]] = of(*given)
        return names[key]

    def parts(key: Hashable, name: str, each: Sequence[ir.Value]) -> tuple[str, ...]:
        return tuple(once((key, k), name, lambda part: part, part) for k, part in enumerate(each))

    data = needs[0].data
    if data.owner is not None:
        made["p"] = value_of(table[data.owner], "person")
        if data.unit is not None and data.person is not None:
            made["q"] = value_of(table[data.person], "person")
    if split:
        found.keys = [f"g{j}" for j in range(len(needs[0].split_by))]
        made |= {k: value_of(table[name], "query") for k, name in zip(found.keys, needs[0].split_by, strict=True)}
    made |= {new: table[old] for old, new in ((HASH, "hash_"), *((n.place_column,) * 2 for n in needs)) if old in table}
    for need in needs:
        i, query = need.position, need.query
        condition = (query.where, need.split_by if need.labels else None, need.labels)
        found.covered[i] = found.used[i] = once(("covers", condition), "c", covers, table, need)
        if not need.valued or query.column is None or query.bounds is None:
            continue
        name, grid = query.column, seen.grids[query.column]
        number = table[numbers[name]]
        found.used[i] = once(("uses", condition, name), "u", covers, table, need, number)
        if not sums:
            continue
        if seen.stepped:
            steps = SumSteps.of(*query.bounds)
            found.value[i] = found.clamped[i] = parts(("steps", name, query.bounds), "s", steps.parts(number)[:1])
            found.grid[i] = (steps, steps)
            continue
        found.value[i] = parts(("value", name), "v", grid.parts(number))
        low, high = query.bounds
        if low <= seen.within[name][0] and seen.within[name][1] <= high:
            found.clamped[i], found.grid[i] = found.value[i], (grid, grid)
            continue
        whole = grid.whole and low.is_integer() and high.is_integer()
        other = SumGrid.of(max(abs(low), abs(high)), seen.rows, whole)  # a finer one than wild values allow
        # Where there is no number this makes one up; no sum looks there.
        ends = (int(low), int(high)) if other.whole else (low, high)
        wide = number.cast("int64" if other.whole else "float64")
        cut = ibis.greatest(ibis.least(wide, ibis.literal(ends[1])), ibis.literal(ends[0]))
        found.clamped[i] = parts(("clamped", name, query.bounds), "b", other.parts(cut))
        found.grid[i] = (grid, other)
    found.rows = table.select(**made)
    return found


def covers(table: ir.Table, need: Need, number: ir.Value = None) -> ir.Value:
    """The rows that a need covers; with the ``number`` that it sums, those that have one."""
    covered = need.query.rows(table)
    if need.labels is not None:
        covered &= matches_labels([value_of(table[name], "query") for name in need.split_by], need.labels)
    return covered if number is None else covered & number.notnull()
