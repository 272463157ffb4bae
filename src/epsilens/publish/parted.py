"""Whether a release about a part of the people is about nobody else, so that only they are charged for it.

Two releases cost a person no more than the dearer one only where no row of theirs can count in both. So every query
must name the part itself, as a term of its condition or as its only group: then rows of others never count, whatever
the table holds. And everybody must have one value in the column that parts the people, which is looked up in the table.
"""

from __future__ import annotations

from typing import Any

from ..data.tables.columns import column_of, value_of
from ..data.tables.conditions import parse, syntax, terms_of
from ..data.tables.table import OpenTable
from ..errors import InputError
from ..ledger.names import worded
from ..plan.plan import Release

_INSTEAD = "or leave part out, and it is counted for everyone"


def said_of_part(plan: Release, partition: str, part: str) -> None:
    """Refuse a plan some query of which may count people of other parts; from the plan alone."""
    name = _name(part)
    if partition in plan.data.read:
        raise InputError(
            f"{partition!r} is read in a form of the plan's own, and parts are known by what the table has: take it "
            f"out of data.read, {_INSTEAD}",
            parameter="part",
        )
    for i, query in enumerate(plan.queries):
        where = query.planned().where
        if any(_is(term, partition, name) for term in (terms_of(where) if where else ())):
            continue
        if partition in query.split_by and query.labels:
            place = query.split_by.index(partition)
            if all(_same(label[place], name) for label in query.labels):
                continue
        raise InputError(
            f"query {i + 1} may count people of other parts: add {_condition_text(partition, part)} to its condition, {_INSTEAD}",
            parameter=f"queries.{i + 1}.where",
        )


def one_part_each(opened: OpenTable, plan: Release, partition: str) -> None:
    """Refuse a table in which somebody is in several parts; its rows say whose they are already."""
    table = opened.table
    column = column_of(table, partition, "part", "part")
    kind = column.type()
    if not (kind.is_string() or kind.is_integer()):
        raise InputError(
            f"{partition!r} holds neither words nor whole numbers, by which parts are known: {_INSTEAD[3:]}",
            parameter="part",
        )
    if plan.data.owner is None:
        return  # a row is a person
    owner = value_of(column_of(table, plan.data.owner, "person", "data.person"), "person")
    rows = table.select(owner=owner, part=value_of(column, "part")).filter(lambda t: t["part"].notnull())
    values = rows.group_by("owner").aggregate(low=rows["part"].min(), high=rows["part"].max())
    several = values.filter(values["low"] != values["high"]).limit(1)
    if opened.engine.fetch(several.select("low")).num_rows:
        raise InputError(
            f"somebody in the table has several values in {partition!r}, and could be charged for one part only: mend "
            f"the table, {_INSTEAD}; nothing was spent",
            parameter="part",
        )


def _is(term: str, partition: str, name: str) -> bool:
    """Whether a term of a condition says that the column is the part."""
    exp, node = syntax(), parse(term, "where")
    if type(node) is not exp.EQ or node.args.get("negate"):
        return False
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if type(one) is exp.Column and one.name == partition and type(other) is exp.Literal:
            return _same(str(other.this) if other.is_string else _number(str(other.this)), name)
    return False


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None  # 1.0 is 1, and would be another name for it


def _same(value: Any, name: str) -> bool:
    """Whether a value is what the ledger calls the part; a number is called by its digits alone."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    return _name(str(value)) == name


def _name(part: Any) -> str:
    return worded("part", part, needed="name the part, or leave it out").casefold()


def _condition_text(partition: str, part: str) -> str:
    return f"{partition} = {part}" if part.isdecimal() else f"{partition} = '{part[:40]}'"
