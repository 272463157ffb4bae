"""Planned queries: what the release will answer, as text, as SQL or as a :class:`Query`.

>>> parse_query("sum visits bounds 0 77 where age > 30 by site")
Query(kind='sum', column='visits', where='age > 30', by=('site',), bounds=(0.0, 77.0), name='')
>>> parse_query("SELECT site, COUNT(*) FROM t WHERE age > 30 GROUP BY site")
Query(kind='count', column=None, where='age > 30', by=('site',), bounds=None, name='')
>>> str(parse_query("histogram site"))
'histogram site'

SQL is one SELECT of one aggregate, read by sqlglot into what a plan can promise:
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

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, NoReturn

from ..errors import InputError, type_phrase
from .tables.columns import column_of
from .tables.conditions import ALLOWED, ARITHMETIC, COMPARISONS, LOGIC, condition, exp, parse, render
from .tables.dialect import ibis

if TYPE_CHECKING:
    import ibis.expr.types as ir
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


_FORM = (
    "'count where age > 30 by site', 'sum visits bounds 0 77', "
    "'average income bounds 0 30000 by site' or 'histogram site'"
)


class Word(StrEnum):
    """A word that is also what people write: shown as that word."""

    def __repr__(self) -> str:
        return repr(self.value)


class QueryKind(Word):
    """What a query asks."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    HISTOGRAM = "histogram"

    @property
    def bounded(self) -> bool:
        """Whether values are clamped to bounds and added up; the others count people."""
        return self in (QueryKind.SUM, QueryKind.AVERAGE)


class Noise(Word):
    """The noise on a query's answers."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
    GEOMETRIC = "geometric"  # for whole numbers


#: Bounds in size, where they are not 0: what is made of them stays within doubles.
SMALLEST, GREATEST = 1e-200, 1e100


def other_bounds(low: float, high: float) -> str:
    """What to give instead of these bounds; empty where they can be used.

    >>> other_bounds(0.0, 77.0), other_bounds(3.0, 1.0)
    ('', 'give two finite numbers, the smaller first')
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return "give two finite numbers, the smaller first"
    if all(bound == 0 or SMALLEST <= abs(bound) <= GREATEST for bound in (low, high)):
        return ""
    return f"give numbers that are 0 or from {SMALLEST:g} to {GREATEST:g} in size, in another unit if need be"


@dataclass(frozen=True)
class Query:
    """One planned query: a count, a sum, an average or a histogram, with WHERE and GROUP BY.

    ``bounds`` are the limits each value is clamped to before it is summed or averaged; a sum's sensitivity has
    no meaning without them. ``where`` is a condition in SQL's words; ``by`` are column names.
    """

    kind: QueryKind
    column: str | None = None
    where: str | None = None
    by: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        try:
            kind = QueryKind(self.kind)
        except ValueError:
            raise InputError(
                f"query kind is {self.kind!r}: give one of {', '.join(map(repr, QueryKind))}", parameter="query"
            ) from None
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "by", (self.by,) if isinstance(self.by, str) else tuple(self.by))
        if kind is QueryKind.COUNT and self.column is not None:
            raise InputError(f"a count has the column {self.column!r}: count takes none, it counts people's rows")
        if kind is not QueryKind.COUNT and not self.column:
            raise InputError(f"a {self.kind} needs a column: write it as in {_FORM}")
        if kind.bounded:
            self._check_bounds()
        elif self.bounds is not None:
            raise InputError(f"a {self.kind} has bounds {self.bounds}: only sum and average take them")

    def _check_bounds(self) -> None:
        if self.bounds is None or len(self.bounds) != 2:
            raise InputError(
                f"{self.kind} {self.column} has no bounds: give the least and largest value one row may have, "
                f"as in '{self.kind} {self.column} bounds 0 100'"
            )
        low, high = (float(b) for b in self.bounds)
        if wanted := other_bounds(low, high):
            raise InputError(f"{self.kind} {self.column} has bounds {low:g} {high:g}: {wanted}")
        object.__setattr__(self, "bounds", (low, high))

    def __str__(self) -> str:
        if self.name:
            return self.name
        words = [self.kind] + ([self.column] if self.column else [])
        if self.bounds:
            words += ["bounds", *(f"{b:g}" for b in self.bounds)]
        if self.where:
            words += ["where", self.where]
        if self.by:
            words += ["by", ", ".join(self.by)]
        return " ".join(words)

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns the answers are split by; a histogram is a count split by its column."""
        return (*self.by, self.column) if self.kind is QueryKind.HISTOGRAM and self.column else self.by

    def rows(self, table: ir.Table) -> ir.BooleanValue:
        """The Ibis condition that says which rows of ``table`` this query covers."""
        return condition(table, self.where, "where") if self.where else ibis.literal(True)

    def check(self, table: ir.Table) -> None:
        """Refuse columns the table does not have, and sums of what is not a number."""
        for name in self.groups:
            column_of(table, name, f"query {str(self)!r}", "query")
        if self.bounds is not None:
            column = column_of(table, self.column, f"query {str(self)!r}", "query")
            if not column.type().is_numeric():
                text = column.type().is_string()
                remedy = "; if it holds numbers written as text, a plan reads them with data.read" if text else ""
                raise InputError(
                    f"query {str(self)!r} takes the {self.kind} of {self.column!r}, which is {column.type()}: "
                    f"give a column of numbers{remedy}",
                    parameter="query",
                )
        self.rows(table)

    def sensitivity(self, max_rows: int) -> float:
        r"""How far one person, with at most ``max_rows`` rows, can move the answers (add or remove one person).

        Count and histogram: 1, because a person counts once, in one group, however many rows they have. Sum:
        :math:`m\max(|l|,|u|)`. Average: :math:`m(u-l)`, for the sum of deviations that the clamped average releases
        (paper 001 §3; reference sheet §2, Δ = u − l).
        """
        if self.bounds is None:
            return 1.0
        low, high = self.bounds
        return max_rows * (high - low if self.kind is QueryKind.AVERAGE else max(abs(low), abs(high)))

    def to_dict(self) -> dict[str, object]:
        """The query as plain values."""
        return {
            "kind": self.kind.value,
            "column": self.column,
            "where": self.where,
            "by": list(self.by),
            "bounds": None if self.bounds is None else list(self.bounds),
            "name": str(self),
        }


_WORDS = {**{kind.value: kind for kind in QueryKind}, "avg": QueryKind.AVERAGE, "mean": QueryKind.AVERAGE}
_HEAD = re.compile(rf"^\s*({'|'.join(_WORDS)})\b(.*)$", re.I | re.S)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def parse_query(text: str | Query) -> Query:
    """A query from its text form or from one simple SQL aggregate.

    >>> parse_query("average income bounds 0 30000")
    Query(kind='average', column='income', where=None, by=(), bounds=(0.0, 30000.0), name='')
    >>> parse_query("maximum age")
    Traceback (most recent call last):
    epsilens.errors.InputError: query is 'maximum age': write it as in 'count where age > 30 by site', 'sum visits bounds 0 77', 'average income bounds 0 30000 by site' or 'histogram site'
    """  # noqa: E501 - the message is one sentence, on one line
    if isinstance(text, Query):
        return text
    if not isinstance(text, str):
        raise InputError(f"query is {type_phrase(text)}: give text, SQL or a Query", parameter="query")
    if is_sql(text):
        return _from_sql(text)
    head = _HEAD.match(text)
    if not head:
        raise InputError(f"query is {text!r}: write it as in {_FORM}", parameter="query")
    kind = _WORDS[head[1].lower()]
    rest, by = _split(head[2], "by")
    rest, where = _split(rest, "where")
    rest, bounds = _split(rest, "bounds")
    limits: tuple[float, float] | None = None
    if bounds is not None:
        numbers = re.fullmatch(rf"\s*({_NUMBER})\s*(?:,|\s)\s*({_NUMBER})\s*", bounds)
        if not numbers:
            raise InputError(f"query is {text!r}: give the bounds as two numbers, as in 'bounds 0 77'", "query")
        limits = float(numbers[1]), float(numbers[2])
    if where is not None:
        parse(where, "where")
    columns = tuple(_unquote(c) for c in by.split(",")) if by is not None else ()
    if any(not c for c in columns):
        raise InputError(f"query is {text!r}: give the columns after 'by', separated by commas", parameter="query")
    column = _unquote(rest) or None
    return Query(kind, column, where.strip() if where else None, columns, limits)


def parse_queries(queries: str | Query | Iterable[str | Query]) -> tuple[Query, ...]:
    """All the planned queries; a single one may stand by itself."""
    if isinstance(queries, str | Query):
        queries = (queries,)
    return tuple(parse_query(q) for q in queries)


def _split(text: str, word: str) -> tuple[str, str | None]:
    """Cut ``text`` at the last ``word`` that stands outside quotes."""
    found = None
    for match in re.finditer(rf"'(?:[^']|'')*'|\"[^\"]*\"|\b{word}\b", text, re.I):
        if match[0].lower() == word:
            found = match
            if word != "by":
                break
    if found is None:
        return text, None
    return text[: found.start()], text[found.end() :]


def _unquote(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _from_sql(text: str) -> Query:
    """A query from one SELECT of one aggregate."""
    found = read_select(text, "query")
    if found.distinct is not None:
        raise InputError(
            f"query is {text!r}: COUNT(DISTINCT …) is for a plan, which names its person column; give COUNT(*)", "query"
        )
    kinds = {"count": QueryKind.COUNT, "sum": QueryKind.SUM, "average": QueryKind.AVERAGE}
    return Query(kinds[found.aggregate], found.column, found.where, found.by, found.bounds)
