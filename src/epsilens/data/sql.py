"""A planned query written as SQL: one SELECT of one aggregate, read by sqlglot into what a plan can promise.

``SELECT [groups,] aggregate FROM table [WHERE condition] [GROUP BY groups]`` with one of

=========================================  ===========================================================================
``COUNT(*)``, ``COUNT(1)``                 rows
``COUNT(x)``                               rows where x has a value
``COUNT(DISTINCT person)``                 people; of any other column a plan cannot say how far one person moves it
``SUM(x)``, ``AVG(x)``                     a column, within bounds; SQL has no word for these, a clamp says them:
                                           ``SUM(LEAST(GREATEST(x, 0), 77))``
=========================================  ===========================================================================

and ``FILTER (WHERE …)`` behind it. Nothing of it reaches an engine: the condition is read again by
:mod:`.tables.conditions`. Everything else is refused with the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, NoReturn

from ..errors import InputError
from .tables.conditions import ALLOWED, ARITHMETIC, COMPARISONS, LOGIC, exp, parse, render

if TYPE_CHECKING:
    from sqlglot.expressions import Expression


@dataclass(frozen=True, slots=True)
class Select:
    """What a SELECT asks: ``aggregate`` is count, sum or average; ``distinct`` the column of COUNT(DISTINCT column)."""

    aggregate: str
    table: str
    column: str | None = None
    distinct: str | None = None
    where: str | None = None
    by: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    name: str = ""
    columns: frozenset[str] = frozenset()


def is_sql(text: str) -> bool:
    """Whether a text begins as SQL does.

    >>> is_sql("select count(*) from t"), is_sql("count where age > 30")
    (True, False)
    """
    return re.match(r"\s*\(*\s*(select|with|from)\b", text, re.I) is not None


def names_table(name: str, table: str) -> bool:
    """Whether the name behind FROM is that of a table as a plan names it: its path, its file's name, or its own.

    >>> names_table("people", "data/people.csv"), names_table("rand_hie", "epsilens:rand-hie")
    (True, True)
    >>> names_table("visits", "postgresql://me@host/clinic#ward.visits"), names_table("visits", "people.csv")
    (True, False)
    """
    path, _, inside = table.partition("#")
    last = _last(table)
    known = {table, inside, last, last.partition(".")[0], path.rpartition(":")[2]}
    return _plain(name) in {_plain(each) for each in known if each}


def table_name(table: str) -> str:
    """What to write behind FROM for a table as a plan names it.

    >>> table_name("data/people.csv"), table_name("epsilens:rand-hie"), table_name("sqlite://x.db#visits")
    ('people', 'rand_hie', 'visits')
    """
    return re.sub(r"\W", "_", _last(table).partition(".")[0])


def _last(table: str) -> str:
    path, _, inside = table.partition("#")
    return inside.rpartition(".")[2] if inside else PurePath(path.rpartition(":")[2] or path).name


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name.strip().casefold())


def read_select(text: str, what: str = "sql") -> Select:
    """Read one SELECT, or say which part of it a plan cannot promise.

    >>> read_select("select site, count(distinct person) from people where age > 30 group by site")
    Select(aggregate='count', table='people', column=None, distinct='person', where='age > 30', by=('site',), ...
    >>> read_select("select median(income) from people")
    Traceback (most recent call last):
    epsilens.errors.InputError: sql is 'select median(income) from people': 'MEDIAN(income)' is not allowed: ...
    """
    return _Reader(text, what).read()


#: Why a part of a SELECT is refused, by sqlglot's name of it.
_REASONS = {
    "joins": "a JOIN is not allowed: one person's rows in one table may meet any number in another, so join them first "
    "into a table with a person column",
    "with": "WITH is not allowed: a plan is about one table as it stands, so write its condition into WHERE",
    "having": "HAVING is not allowed: which groups are published would depend on exact answers; give a threshold",
    "limit": "LIMIT is not allowed: which rows or groups remain would depend on the others; name the groups instead",
    "offset": "OFFSET is not allowed: which rows or groups remain would depend on the others; name the groups instead",
    "order": "ORDER BY is not allowed: sort the published answers instead",
    "distinct": "SELECT DISTINCT is not allowed: group by the columns instead",
    "qualify": "QUALIFY is not allowed: what a row tells would depend on other rows",
    "windows": "a WINDOW is not allowed: what a row tells would depend on other rows",
    "laterals": "LATERAL is not allowed: a plan is about one table as it stands",
    "sample": "a sample is not allowed: a plan is about all rows; say the sampling in the table itself",
    "pivots": "PIVOT is not allowed: group by the column instead",
    "into": "INTO is not allowed: a plan publishes, it writes no table",
    "locks": "a lock is not allowed: a plan reads",
}
#: What a condition may be made of, by sqlglot's names.
_LEAVES = {"Not", "Paren", "Column", "Identifier", "Literal", "Boolean", "Null", "In", "Between", "Is", "Like", "Neg"}
_CONDITION_NODES = {*LOGIC, *COMPARISONS, *ARITHMETIC, *_LEAVES}
_NOT_PROMISED = "a plan answers counts, sums and averages, whose change by one person it can bound"


class _Reader:
    """Reads one text; every part it does not name is refused."""

    def __init__(self, text: str, what: str) -> None:
        self.text, self.what = text, what
        self.qualifiers: set[str] = set()

    def no(self, why: str) -> NoReturn:
        shown = " ".join(self.text.split())
        shown = shown if len(shown) <= 200 else shown[:197] + "..."
        raise InputError(f"{self.what} is {shown!r}: {why}", parameter=self.what, value=self.text)

    def read(self) -> Select:
        tree = parse(self.text, self.what, as_condition=False)
        while type(tree) in (exp.Subquery, exp.Paren) and not _others(tree, "this"):
            tree = tree.this
        if type(tree) is not exp.Select:
            self.no("it is not one SELECT: give SELECT, one aggregate, FROM one table, WHERE and GROUP BY")
        for part in _others(tree, "expressions", "from", "from_", "where", "group"):
            name = part.strip("_")
            self.no(_REASONS.get(name, f"{name.upper()} is not allowed: {_NOT_PROMISED}"))
        table = self.source(tree.args.get("from_") or tree.args.get("from"))
        items = [(item.this, item.alias) if type(item) is exp.Alias else (item, "") for item in tree.expressions]
        plain = [node for node, _ in items if type(node) is exp.Column]
        others = [(node, alias) for node, alias in items if type(node) is not exp.Column]
        if len(others) != 1:
            self.no(
                f"it has {len(others) or 'no'} answers beside its groups, and not exactly one aggregate: write one "
                "query for each COUNT, SUM or AVG"
            )
        node, alias = others[0]
        if not node.find(exp.AggFunc):
            self.no(f"{_shown(node)} is not allowed, it has not exactly one aggregate: {_NOT_PROMISED}")
        by = self.groups(tree.args.get("group"), items)
        for column in plain:
            if self.column(column).casefold() not in {name.casefold() for name in by}:
                self.no(
                    f"it selects {column.name!r}, a column it does not group by: add it to GROUP BY or leave it out"
                )
        conditions = [tree.args["where"].this] if tree.args.get("where") else []
        if type(node) is exp.Filter:
            conditions.append(node.expression.this)
            node = node.this
        aggregate, column, bounds = self.aggregate(node)
        if aggregate == "count" and type(node.this) is exp.Column:  # rows where the column has a value
            conditions.append(exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null())))
        terms = [self.condition(each.copy()) for each in conditions]
        where = " AND ".join(f"({term})" for term in terms) if len(terms) > 1 else terms[0] if terms else None
        mentioned = frozenset(c.name for each in conditions for c in each.find_all(exp.Column))
        names = {"distinct": column} if aggregate == "count" else {"column": column}
        return Select(aggregate, table, where=where, by=by, bounds=bounds, name=alias, columns=mentioned, **names)

    def source(self, source: Expression | None) -> str:
        node: Expression = source.this if source is not None else None
        if type(node) is not exp.Table or type(node.this) is not exp.Identifier:
            self.no("its FROM is not one table: give the name of the plan's table, no subquery and no function")
        for part in _others(node, "this", "alias", "db", "catalog"):
            self.no(_REASONS.get(part, f"{part.upper()} is not allowed behind FROM: give the table's name alone"))
        alias = node.args.get("alias")
        if alias is not None and _others(alias, "this"):
            self.no("names of columns behind FROM are not allowed: give the table's name alone")
        self.qualifiers = {node.alias_or_name.casefold()}
        return str(node.name)

    def column(self, node: Expression) -> str:
        """The name of a column of the table; a qualifier must be the table's."""
        parts = _others(node, "this")
        of_table = parts == ["table"] and str(node.table).casefold() in self.qualifiers
        if type(node) is not exp.Column or (parts and not of_table):
            self.no(f"{_shown(node)} is not a column of the table: give the column's name")
        return str(node.name)

    def groups(self, group: Expression | None, items: list[tuple[Expression, str]]) -> tuple[str, ...]:
        if group is None:
            return ()
        if group.args.get("all"):
            keys = [node for node, _ in items if type(node) is exp.Column]
        elif _others(group, "expressions"):
            self.no("it groups by something other than columns: ROLLUP, CUBE and sets publish people several times")
        else:
            keys = [_ordinal(key, items) for key in group.expressions]
        for key in keys:
            if type(key) is not exp.Column:
                self.no(f"it groups by something other than columns, {_shown(key)}: derive a column from it first")
        names = tuple(self.column(key) for key in keys)
        if len(set(names)) < len(names):
            self.no("it groups by a column twice: give each once")
        return names

    def aggregate(self, node: Expression) -> tuple[str, str | None, tuple[float, float] | None]:
        """Count, sum or average; the column of a sum, an average or a COUNT(DISTINCT column); bounds."""
        kind = {"Count": "count", "Sum": "sum", "Avg": "average"}.get(type(node).__name__)
        if kind is None:
            if type(node) is exp.Window:
                self.no(f"{_shown(node)} is a window, which is not allowed: what a row tells depends on other rows")
            self.no(f"{_shown(node)} is not allowed: {_NOT_PROMISED}")
        for part in _others(node, "this", "big_int"):
            self.no(f"{_shown(node)} is not allowed, for its {part}: {_NOT_PROMISED}")
        inner = node.this
        if type(inner) is exp.Distinct:
            columns = inner.expressions
            if kind != "count" or len(columns) != 1 or type(columns[0]) is not exp.Column or inner.args.get("on"):
                self.no(
                    f"{_shown(node)} is not allowed: DISTINCT is for COUNT(DISTINCT person), the plan's person column"
                )
            return kind, self.column(columns[0]), None
        if kind == "count":
            if type(inner) is exp.Column:
                self.column(inner)
            elif not (type(inner) is exp.Star and not _others(inner)) and not (
                type(inner) is exp.Literal and not inner.is_string
            ):
                self.no(f"{_shown(node)} is not COUNT(*): count rows, and say which of them in WHERE")
            return kind, None, None
        column, bounds = self.clamped(inner)
        if type(column) is not exp.Column:
            self.no(f"{_shown(node)} is not of one column: derive a column from it first")
        return kind, self.column(column), bounds

    def clamped(self, node: Expression) -> tuple[Expression, tuple[float, float] | None]:
        """A column and its bounds, from LEAST and GREATEST around it in either order."""
        ends: dict[type, float] = {}
        while type(node) in (exp.Least, exp.Greatest):
            kind, parts = type(node), [node.this, *node.expressions]
            numbers = [value for part in parts if (value := _number(part)) is not None]
            inner = [part for part in parts if _number(part) is None]
            if len(numbers) != 1 or len(inner) != 1 or kind in ends:
                self.no(f"{_shown(node)} is not a clamp to two numbers: write LEAST(GREATEST(x, 0), 77)")
            ends[kind], node = numbers[0], inner[0]
        if not ends:
            return node, None
        if len(ends) != 2 or not ends[exp.Greatest] <= ends[exp.Least]:
            self.no("its bounds are not two numbers, the smaller first: write LEAST(GREATEST(x, 0), 77)")
        return node, (ends[exp.Greatest], ends[exp.Least])

    def condition(self, tree: Expression) -> str:
        """The text of a condition, columns without their table; what cannot be promised is refused here already."""
        tree = tree.transform(_moment)
        waiting = [tree]
        while waiting:  # without recursion: a condition may be long
            node = waiting.pop()
            subquery = type(node) is exp.In and (node.args.get("query") or node.args.get("unnest"))
            if type(node).__name__ not in _CONDITION_NODES or subquery:
                self.no(f"{_shown(node)} is not allowed in a condition: {_refusal_reason(node)}")
            if type(node) is exp.Column:
                self.column(node)
                node.set("table", None)
            waiting += node.iter_expressions()
        return render(tree)


def _others(node: Expression, *known: str) -> list[str]:
    """The parts of a node that are there and not known."""
    return sorted(key for key, value in node.args.items() if value and key not in known and key != "kind")


def _shown(node: Expression) -> str:
    return repr(render(node)[:80])


def _ordinal(key: Expression, items: list[tuple[Expression, str]]) -> Expression:
    """``GROUP BY 1`` is the first thing selected."""
    if type(key) is exp.Literal and not key.is_string and key.this.isdigit():
        place = int(key.this)
        if 1 <= place <= len(items) and type(items[place - 1][0]) is exp.Column:
            return items[place - 1][0]
    return key


def _number(node: Expression) -> float | None:
    if type(node) is exp.Neg:
        inner = _number(node.this)
        return None if inner is None else -inner
    return float(node.this) if type(node) is exp.Literal and not node.is_string else None


def _moment(node: Expression) -> Expression:
    """``DATE '2024-12-31'`` as the text that the column beside it gives its type."""
    text = type(node) is exp.Cast and type(node.this) is exp.Literal and node.this.is_string
    return node.this if text and node.to.this.name in ("DATE", "TIMESTAMP", "TIME", "DATETIME") else node


def _refusal_reason(node: Expression) -> str:
    if isinstance(node, exp.Subquery | exp.Select | exp.Exists | exp.Any | exp.All) or type(node) is exp.In:
        return "a subquery looks at other rows, so that one person may move the answer by more than the plan says"
    if isinstance(node, exp.Window):
        return "a window looks at other rows"
    if isinstance(node, exp.Placeholder | exp.Parameter):
        return "write the value itself"
    if isinstance(node, exp.Func):
        return "functions differ between engines, and some between runs; derive a column from it first"
    return f"give {ALLOWED}"
