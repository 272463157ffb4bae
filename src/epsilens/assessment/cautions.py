"""What a reader must know about the table before any number: whose rows they are, and what was read of its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..data.tables.columns import column_of, unread, value_of
from ..data.tables.dialect import ones
from ..data.tables.table import OpenTable
from ..data.understanding.owners import owner_like
from ..plan.answers import Answer
from ..plan.plan import Release


class Caution(StrEnum):
    """What there is to be careful about."""

    PERSON = "person"  # a column looks like the person, and the plan names none
    SPELLINGS = "spellings"  # groups that differ only in capitals or blanks
    UNREAD = "unread"  # values that a form leaves out
    NOBODY = "nobody"  # rows that do not say whose they are


@dataclass(frozen=True)
class Warned:
    """A caution about a column: how many people, groups or values it is about."""

    about: Caution
    column: str
    count: int
    most: int = 0  # of a person: the most rows one of them has


def before(opened: OpenTable, plan: Release) -> tuple[Warned, ...]:
    """What the table as stored says: a person nobody named, values that the plan's forms leave out."""
    return (*_unnamed_person(opened, plan), *_unread_values(opened, plan))


def _unnamed_person(opened: OpenTable, plan: Release) -> list[Warned]:
    if plan.data.several:
        return []
    owner = owner_like(opened)
    return [Warned(Caution.PERSON, owner.name, owner.values, owner.most)] if owner is not None else []


def _unread_values(opened: OpenTable, plan: Release) -> list[Warned]:
    forms = plan.data.forms
    if not forms:
        return []
    got = opened.engine.fetch(unread(opened.table, forms)).to_pylist()[0]
    return [Warned(Caution.UNREAD, name, int(n)) for name, n in got.items() if n]


def owned(opened: OpenTable, plan: Release) -> tuple[Any, tuple[Warned, ...]]:
    """The rows that say whose they are, of a table whose text is read already; the others may be anybody's.

    Counted as people of their own, or together as one, they would add to what a person adds under their name.
    """
    table = opened.table
    names = [name for name in (plan.data.person, plan.data.unit) if name is not None]
    columns = {name: value_of(column_of(table, name, "person", "data.person"), "person") for name in names}
    if not columns:
        return table, ()
    lost = table.aggregate(**{name: ones(column.isnull()).sum() for name, column in columns.items()})
    got = opened.engine.fetch(lost).to_pylist()[0]
    warned = tuple(Warned(Caution.NOBODY, name, int(n)) for name, n in got.items() if n)
    return (table.filter([columns[w.column].notnull() for w in warned]) if warned else table), warned


def spellings(plan: Release, answers: Sequence[Sequence[Answer]]) -> tuple[Warned, ...]:
    """Columns of groups some of whose names are the same but for capitals and blanks."""
    found: dict[str, int] = {}
    for query, groups in zip(plan.queries, answers, strict=True):
        if query.groups is not None:
            continue
        for place, column in enumerate(query.split_by):
            names = {answer.group[place] for answer in groups}
            alike = len(names) - len({re.sub(r"\s+", " ", name).strip().casefold() for name in names})
            found[column] = max(found.get(column, 0), alike)
    return tuple(Warned(Caution.SPELLINGS, column, count) for column, count in found.items() if count)
