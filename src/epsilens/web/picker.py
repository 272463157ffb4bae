"""Conditions that are picked: a column, a comparison and a value in each row, all of which hold or any of which holds.

A plan holds a condition as text. The form shows it as rows wherever rows say exactly the same, and as text otherwise;
what was picked becomes text again here, whatever quotes, blanks and line breaks a name or a value has.

>>> picked = RowCondition((Term("ICD-10", Operator.STARTS, "F3"), Term("age", Operator.BETWEEN, "18", "30")))
>>> text_of(picked)
'"ICD-10" LIKE \\'F3%\\' AND age BETWEEN 18 AND 30'
>>> condition_of(text_of(picked)) == picked
True

A value in double quotes is text whatever it looks like, written as JSON writes it: ``"5"``, ``"a\\nb"``, ``""``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ..data.tables.conditions import parse, syntax
from ..errors import InputError

MOST_TERMS = 12


class Operator(StrEnum):
    """How a column is compared with a value; the words are those of the form."""

    IS = "is"
    NOT = "is not"
    ONE = "is one of"
    NONE = "is none of"
    LEAST = "is at least"
    MOST = "is at most"
    MORE = "is more than"
    LESS = "is less than"
    BETWEEN = "is between"
    EMPTY = "is empty"
    FILLED = "is not empty"
    CONTAINS = "contains"
    STARTS = "starts with"

    @property
    def values(self) -> int:
        return 0 if self in (Operator.EMPTY, Operator.FILLED) else 2 if self is Operator.BETWEEN else 1


COMPARISONS = tuple(Operator)
_SIGNS = {
    Operator.IS: "=",
    Operator.NOT: "<>",
    Operator.LEAST: ">=",
    Operator.MOST: "<=",
    Operator.MORE: ">",
    Operator.LESS: "<",
}


class ColumnFamily(StrEnum):
    """What values of a column are like; UNKNOWN where the table is not here."""

    NUMBER = "number"
    TEXT = "text"
    TIME = "time"
    BOOLEAN = "boolean"
    UNKNOWN = ""


def family_of(kind: str) -> ColumnFamily:
    """The family of a type, in Ibis's words.

    >>> [family_of(kind).value for kind in ("int64", "decimal(9, 2)", "!string", "timestamp('UTC')", "array<int8>")]
    ['number', 'number', 'text', 'time', '']
    """
    word = re.split(r"[(<]", kind.lstrip("!"))[0]
    if re.fullmatch(r"u?int\d+|float\d+|decimal", word):
        return ColumnFamily.NUMBER
    known = {
        "string": ColumnFamily.TEXT,
        "boolean": ColumnFamily.BOOLEAN,
        "date": ColumnFamily.TIME,
        "timestamp": ColumnFamily.TIME,
    }
    return known.get(word, ColumnFamily.TIME if word == "time" else ColumnFamily.UNKNOWN)


@dataclass(frozen=True)
class Term:
    column: str
    comparison: Operator = Operator.IS
    value: str = ""
    to: str = ""


@dataclass(frozen=True)
class RowCondition:
    """The rows, all of which hold, or any of which holds."""

    terms: tuple[Term, ...] = ()
    any: bool = False


Families = Mapping[str, ColumnFamily]


def text_of(condition: RowCondition, families: Families | None = None) -> str:
    """The condition as a plan writes it; nothing for no rows."""
    return (" OR " if condition.any else " AND ").join(_term(term, families or {}) for term in condition.terms)


def _term(term: Term, families: Families) -> str:
    name, how = _name(term.column), term.comparison
    family = families.get(term.column, ColumnFamily.UNKNOWN)
    if how is Operator.EMPTY:
        return f"{name} IS NULL"
    if how is Operator.FILLED:
        return f"{name} IS NOT NULL"
    if not term.value or (how is Operator.BETWEEN and not term.to):
        raise InputError(f"{term.column!r} {how} nothing yet: give a value to compare it with, or leave the row out")
    if how in (Operator.CONTAINS, Operator.STARTS):
        inside = _unquote(term.value)
        if "%" in inside or "_" in inside:
            raise InputError(f"{term.column!r} {how} a text with % or _, which stand for any text: leave them out")
        return f"{name} LIKE {_sql_string(f'{inside}%' if how is Operator.STARTS else f'%{inside}%')}"
    if how in (Operator.ONE, Operator.NONE):
        listed = ", ".join(_literal(part, family, term.column) for part in _split_values(term.value))
        return f"{name} {'IN' if how is Operator.ONE else 'NOT IN'} ({listed})"
    value = _literal(term.value, family, term.column)
    if how is Operator.BETWEEN:
        return f"{name} BETWEEN {value} AND {_literal(term.to, family, term.column)}"
    return f"{name} {_SIGNS[how]} {value}"


@lru_cache(1024)
def _name(column: str) -> str:
    """A column's name, in quotes where it is not a word or the word means something else."""
    if re.fullmatch(r"[^\W\d]\w*", column, re.ASCII):
        try:
            tree = parse(f"{column} = 1", "where")
        except InputError:
            tree = None
        exp = syntax()
        if tree == exp.EQ(this=exp.column(column), expression=exp.Literal.number(1)):
            return column
    return '"' + column.replace('"', '""') + '"'


def _sql_string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_TRUTH = {"true": "TRUE", "yes": "TRUE", "false": "FALSE", "no": "FALSE"}


def _json(value: str) -> str | None:
    """What a value in double quotes says."""
    if len(value) < 2 or not (value[0] == value[-1] == '"'):
        return None
    try:
        said = json.loads(value, strict=False)
    except ValueError:
        return None
    return said if isinstance(said, str) else None


def _unquote(value: str) -> str:
    text = _json(value)
    return value if text is None else text


def _literal(value: str, family: ColumnFamily, column: str) -> str:
    text = _json(value)
    if text is not None:
        return _sql_string(text)
    if family is ColumnFamily.BOOLEAN:
        if value.lower() not in _TRUTH:
            raise InputError(f"{column!r} is compared with {value[:40]!r}: give true or false")
        return _TRUTH[value.lower()]
    if family is ColumnFamily.NUMBER:
        if not _NUMBER.fullmatch(value):
            raise InputError(f"{column!r} is compared with {value[:40]!r}: give a number, such as 1000 or 0.5")
        return value
    if family is ColumnFamily.UNKNOWN and _NUMBER.fullmatch(value):
        return value
    if family is ColumnFamily.UNKNOWN and value in ("true", "false"):
        return _TRUTH[value]
    return _sql_string(value)


def _split_values(value: str) -> list[str]:
    """The values between commas; a comma inside double quotes belongs to its value.

    >>> _split_values('a, "b, c" ,5,')
    ['a', '"b, c"', '5']
    """
    found = re.findall(r'\s*("(?:[^"\\]|\\.)*"(?=\s*(?:,|$))|[^,]*)\s*(?:,|$)', value, re.DOTALL)
    return [part.strip() for part in found if part.strip()]


class _NotRows(Exception):  # noqa: N818 - reads as what it is
    """What rows cannot say."""


def condition_of(text: str, families: Families | None = None) -> RowCondition | None:
    """The rows that say exactly this condition; None where none do.

    >>> condition_of("age > 30 or ill")
    >>> condition_of("(site = 'a') OR site in ('b', 'c')").any
    True
    """
    if not text.strip():
        return RowCondition()
    known = families or {}
    try:
        tree = parse(text, "where")
        joined = type(_strip_parens(tree))
        exp = syntax()
        leaves = _leaves(tree, joined if joined in (exp.And, exp.Or) else None)
        terms = tuple(_row(leaf, known) for leaf in leaves)
    except (InputError, _NotRows, RecursionError):
        return None
    return RowCondition(terms, joined is exp.Or) if len(terms) <= MOST_TERMS else None


def _strip_parens(node: Any) -> Any:
    while type(node) is syntax().Paren:
        node = node.this
    return node


def _leaves(tree: object, joined: object) -> list[object]:
    leaves, waiting = [], [tree]
    while waiting:
        node = _strip_parens(waiting.pop())
        if type(node) is joined:
            waiting += [node.expression, node.this]
        else:
            leaves.append(node)
    return leaves


def _row(leaf: Any, families: Families) -> Term:
    """The row of one comparison: the one that becomes the same tree again."""
    exp = syntax()
    inner = _strip_parens(leaf.this) if type(leaf) is exp.Not else leaf
    if type(inner) is exp.Column and families.get(inner.name) is ColumnFamily.BOOLEAN and not inner.args.get("table"):
        return Term(str(inner.name), Operator.IS, "true" if inner is leaf else "false")
    term = _term_of(leaf, families)
    try:
        again = parse(_term(term, families), "where")
    except InputError:
        raise _NotRows from None
    if _quote_names(again) != _quote_names(leaf):
        raise _NotRows
    return term


def _quote_names(tree: Any) -> Any:
    """A tree whose names are written one way: quotes around a name do not change which column it is."""
    exp = syntax()
    made = tree.copy()
    for name in made.find_all(exp.Identifier):
        name.set("quoted", True)
    return made


def _term_of(leaf: Any, families: Families) -> Term:
    exp = syntax()
    kind, negated = type(leaf), False
    if kind is exp.Not:
        leaf, negated = _strip_parens(leaf.this), True
        kind = type(leaf)
    if type(leaf.this) is not exp.Column or leaf.this.args.get("table"):
        raise _NotRows
    column = str(leaf.this.name)
    family = families.get(column, ColumnFamily.UNKNOWN)
    if kind is exp.Is and type(leaf.expression) is exp.Null:
        return Term(column, Operator.FILLED if negated else Operator.EMPTY)
    if kind is exp.In and leaf.expressions:
        parts = [_entry_text(item, family, listed=True) for item in leaf.expressions]
        return Term(column, Operator.NONE if negated else Operator.ONE, ", ".join(parts))
    if negated:
        raise _NotRows
    if kind is exp.Between:
        return Term(
            column, Operator.BETWEEN, _entry_text(leaf.args["low"], family), _entry_text(leaf.args["high"], family)
        )
    if kind is exp.Like and type(leaf.expression) is exp.Literal:
        pattern = str(leaf.expression.this)
        inside = pattern[1:] if pattern.startswith("%") and len(pattern) > 1 else pattern
        how = Operator.STARTS if inside == pattern else Operator.CONTAINS
        return Term(column, how, _safe_text(inside.removesuffix("%")))
    signs = {
        exp.EQ: Operator.IS,
        exp.NEQ: Operator.NOT,
        exp.GTE: Operator.LEAST,
        exp.LTE: Operator.MOST,
        exp.GT: Operator.MORE,
        exp.LT: Operator.LESS,
    }
    if kind not in signs:
        raise _NotRows
    return Term(column, signs[kind], _entry_text(leaf.expression, family))


def entry_of(value: str, family: ColumnFamily) -> str:
    """A value of a column as it is entered, to be offered beside it.

    >>> [entry_of(v, ColumnFamily.TEXT) for v in ("a", "b ", "5")], entry_of("True", ColumnFamily.BOOLEAN)
    (['a', '"b "', '5'], 'true')
    """
    if family in (ColumnFamily.NUMBER, ColumnFamily.BOOLEAN):
        return value.lower()
    return _entry_text(syntax().Literal.string(value), family)


def _entry_text(node: Any, family: ColumnFamily, *, listed: bool = False) -> str:
    exp = syntax()
    if type(node) is exp.Neg and type(node.this) is exp.Literal and not node.this.is_string:
        return f"-{node.this.this}"
    if type(node) is exp.Boolean:
        return "true" if node.this else "false"
    if type(node) is not exp.Literal:
        raise _NotRows
    if not node.is_string:
        return str(node.this)
    text = _safe_text(str(node.this), listed=listed)
    try:
        plain = _literal(text, family, "") == _sql_string(str(node.this))
    except InputError:
        plain = False
    return text if plain else json.dumps(str(node.this), ensure_ascii=False)


def _safe_text(text: str, *, listed: bool = False) -> str:
    """Text as a field keeps it: in quotes where blanks at its ends, line breaks or quotes would be lost or misread."""
    kept = text == text.strip() and text and text.isprintable() and _json(text) is None
    if kept and not (listed and ("," in text or text.startswith('"'))):
        return text
    return json.dumps(text, ensure_ascii=False)
