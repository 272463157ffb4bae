"""Planned queries: what the release will answer, as text, as SQL or as a :class:`Query`.

>>> parse_query("sum visits bounds 0 77 where age > 30 by site")
Query(kind='sum', column='visits', where='age > 30', by=('site',), bounds=(0.0, 77.0), name='')
>>> parse_query("SELECT site, COUNT(*) FROM t WHERE age > 30 GROUP BY site")
Query(kind='count', column=None, where='age > 30', by=('site',), bounds=None, name='')
>>> str(parse_query("histogram site"))
'histogram site'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..errors import InputError, type_phrase
from .sql import is_sql, read_select
from .tables.columns import column_of
from .tables.conditions import condition, parse
from .tables.dialect import ibis

if TYPE_CHECKING:
    import ibis.expr.types as ir

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

    @property
    def swing(self) -> float:
        """How far exchanging one person for another moves an ungrouped answer, in sensitivities.

        1 where values reach from 0 to a bound; up to 2 for a sum of values of both signs.
        """
        if self.bounds is None or self.kind is QueryKind.AVERAGE:
            return 1.0
        low, high = self.bounds
        return (max(high, 0.0) - min(low, 0.0)) / max(abs(low), abs(high))

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
            raise InputError(
                f"query is {text!r}: give the bounds as two numbers, as in 'bounds 0 77'", parameter="query"
            )
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
            f"query is {text!r}: COUNT(DISTINCT …) is for a plan, which names its person column; give COUNT(*)",
            parameter="query",
        )
    kinds = {"count": QueryKind.COUNT, "sum": QueryKind.SUM, "average": QueryKind.AVERAGE}
    return Query(kinds[found.aggregate], found.column, found.where, found.by, found.bounds)
