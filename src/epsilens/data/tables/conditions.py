"""Conditions: the WHERE of a planned query, parsed with sqlglot and rebuilt as an Ibis expression.

Nothing a person writes reaches an engine as text. The parse tree is walked over a short list of allowed nodes
(columns of this table, literals, comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, LIKE, + - * / %), and each is
translated here; a subquery, a function, another table or a second statement has no translation and is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Set
from datetime import UTC, date, datetime, time
from typing import Any

from ...errors import InputError, MissingExtra
from .columns import column_of, value_of
from .dialect import arithmetic, balanced_join, binary_order, like
from .engines import need_ibis
from .failures import failure_phrase

#: The parts of a node that are read; ``typed`` and ``safe`` only say how a dialect divides.
_ARGUMENTS = {"this", "expression", "expressions", "low", "high", "is_string", "negate", "typed", "safe"}
_ALLOWED = "columns, literals, comparisons, AND, OR, NOT, IN (…), BETWEEN, IS NULL, LIKE and arithmetic"


def syntax() -> Any:
    """sqlglot's expression classes, imported late."""
    try:
        from sqlglot import exp
    except ImportError as error:
        raise MissingExtra("sqlglot", extra="data", purpose="reading a query") from error
    return exp


#: Letters of a statement that are shown in a sentence about it.
_SHOWN = 200


def parse(text: str, what: str, *, as_condition: bool = True) -> Any:
    """One sqlglot tree from text; comments and second statements are refused.

    >>> parse("age > 30; DROP TABLE t", "where")
    Traceback (most recent call last):
    epsilens.errors.InputError: where is 'age > 30; DROP TABLE t': give one condition, without ';' and comments
    """
    import sqlglot

    exp = syntax()
    text = text.strip()
    text = text if as_condition else text.removesuffix(";").rstrip()  # as every SELECT ends
    one, allowed = ("condition", _ALLOWED) if as_condition else ("SELECT", "SELECT, FROM, WHERE and GROUP BY")
    try:
        tokens = sqlglot.tokenize(text, read="duckdb")
        if any(t.token_type.name == "SEMICOLON" or t.comments for t in tokens) or not tokens:
            raise InputError(f"{what} is {_short(text)}: give one {one}, without ';' and comments", parameter=what)
        tree = sqlglot.parse_one(text, read="duckdb", into=exp.Condition if as_condition else None)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{what} is {_short(text)}: it does not parse; give {allowed}", parameter=what) from error
    return tree


def _short(text: str) -> str:
    """A statement as it was given, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")


def render(tree: Any) -> str:
    """The text of a condition taken out of a larger statement."""
    return str(tree.sql(dialect="duckdb"))


def condition(table: Any, text: str, what: str = "where") -> Any:
    """The boolean Ibis expression for a condition on ``table``; NULL counts as false, as in SQL.

    >>> import ibis
    >>> t = ibis.table({"age": "int64", "site": "string"}, name="t")
    >>> condition(t, "age > 30 AND site IN ('a', 'b')").type()
    Boolean(nullable=True)
    >>> condition(t, "age > (SELECT 1)")
    Traceback (most recent call last):
    epsilens.errors.InputError: where is 'age > (SELECT 1)': '(SELECT 1)' is not allowed; give columns, literals, comparisons, AND, OR, NOT, IN (…), BETWEEN, IS NULL, LIKE and arithmetic
    """  # noqa: E501 - the message is one sentence, on one line
    need_ibis()
    tree = parse(text, what)
    try:
        built = _Builder(table, text, what).build(tree)
        is_boolean = built.type().is_boolean()
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{what} is {_short(text)}: the types do not fit ({failure_phrase(error)}); compare a column with its own "
            "kind",
            parameter=what,
        ) from error
    if not is_boolean:
        raise InputError(
            f"{what} is {_short(text)}: it is not a condition; compare something, as in 'age > 30'", parameter=what
        )
    return built.fill_null(False)


def columns_of(text: str, what: str = "where") -> Set[str]:
    """The columns a condition mentions, in the order of the text.

    >>> list(columns_of("ill AND age > 30"))
    ['ill', 'age']
    """
    return dict.fromkeys(node.name for node in parse(text, what).find_all(syntax().Column, bfs=False)).keys()


def terms_of(text: str, what: str = "where") -> tuple[str, ...]:
    """The terms that AND joins, each written in one way.

    >>> terms_of("(age>30 AND ill) AND (x = 1 OR y)")
    ('age > 30', 'ill', 'x = 1 OR y')
    """
    exp = syntax()
    terms, waiting = [], [parse(text, what)]
    while waiting:
        node = waiting.pop()
        while type(node) is exp.Paren:
            node = node.this
        if type(node) is exp.And:
            waiting += [node.expression, node.this]
        else:
            terms.append(render(node))
    return tuple(terms)


def known_part(table: Any, text: str, known: Iterable[str], what: str = "where") -> Any:
    """The part of a condition an attacker can settle: the AND-terms on columns they know, others left open.

    Of ``age > 30 AND ill``, who knows ages knows which people may be covered; ``ill`` is the secret.

    >>> import ibis
    >>> t = ibis.table({"age": "int64", "ill": "boolean"}, name="t")
    >>> known_part(t, "age > 30 AND ill", ["age"]).equals(condition(t, "age > 30"))
    True
    """
    columns = set(known)
    terms = [term for term in terms_of(text, what) if columns_of(term, what) <= columns]
    return condition(table, " AND ".join(f"({t})" for t in terms) if len(terms) > 1 else terms[0] if terms else "TRUE")


def open_terms(text: str, known: Iterable[str], what: str = "where") -> tuple[str, ...]:
    """The AND-terms of a condition that the known columns leave open: what :func:`known_part` leaves out.

    >>> open_terms("age > 30 AND ill", ["age"])
    ('ill',)
    """
    columns = set(known)
    return tuple(term for term in terms_of(text, what) if not columns_of(term, what) <= columns)


class _Builder:
    """Walks one parse tree; every node class it does not name is refused."""

    def __init__(self, table: Any, text: str, what: str) -> None:
        self.table, self.text, self.what = table, text, what
        exp = syntax()
        self.exp = exp
        self.binary: dict[type, Callable[[Any, Any], Any]] = {
            exp.EQ: operator.eq, exp.NEQ: operator.ne, exp.And: operator.and_, exp.Or: operator.or_,
            exp.LT: operator.lt, exp.LTE: operator.le, exp.GT: operator.gt, exp.GTE: operator.ge,
            exp.Add: operator.add, exp.Sub: operator.sub, exp.Mul: operator.mul, exp.Div: operator.truediv,
            exp.Mod: operator.mod,
        }  # fmt: skip

    def wrong(self, node: Any, why: str) -> InputError:
        return InputError(f"{self.what} is {_short(self.text)}: {_short(render(node))} {why}", parameter=self.what)

    def refuse(self, node: Any) -> InputError:
        return self.wrong(node, f"is not allowed; give {_ALLOWED}")

    def build(self, node: Any) -> Any:
        # An argument this room does not know may change the meaning (SYMMETRIC, ESCAPE…): refuse, never ignore.
        if {key for key, value in node.args.items() if value} - _ARGUMENTS:
            raise self.refuse(node)
        built = self.translate(node)
        if node.args.get("negate"):  # NOT LIKE, in recent sqlglot
            self.boolean(built, node)
            return ~built
        return built

    def translate(self, node: Any) -> Any:
        exp = self.exp
        kind = type(node)
        if kind in (exp.And, exp.Or):
            return self.chain(node)
        if kind in self.binary:
            left, right = self.build(node.this), self.build(node.expression)
            left, right = self.alike(left, right, node)
            if kind in (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod):
                return arithmetic(self.binary[kind], *self.numbers(left, right, node))
            return self.binary[kind](*_comparable(kind in (exp.EQ, exp.NEQ), left, right))
        if kind is exp.Paren:
            return self.build(node.this)
        if kind is exp.Not:
            inner = self.build(node.this)
            self.boolean(inner, node.this)
            return ~inner
        if kind is exp.Neg:
            return self.negative(node)
        if kind is exp.Column:
            return self.column(node)
        if kind in (exp.Literal, exp.Boolean, exp.Null):
            return self.literal(node)
        if kind is exp.In:
            return self.is_in(node)
        if kind is exp.Between:
            value, low, high = (self.build(node.args[k]) for k in ("this", "low", "high"))
            above = operator.ge(*_comparable(False, *self.alike(value, low, node)))
            return above & operator.le(*_comparable(False, *self.alike(value, high, node)))
        if kind is exp.Is and type(node.expression) is exp.Null:
            return self.build(node.this).isnull()
        if kind is exp.Is and type(node.expression) is exp.Boolean:
            value = self.build(node.this)
            self.boolean(value, node.this)
            return (value == node.expression.this).fill_null(False)
        if kind is exp.Like:
            return self.like(node)
        raise self.refuse(node)

    def column(self, node: Any) -> Any:
        if any(node.args.get(part) for part in ("table", "db", "catalog")):
            raise self.refuse(node)
        return value_of(column_of(self.table, node.name, self.what), self.what)

    def literal(self, node: Any, sign: int = 1) -> Any:
        ibis = need_ibis()
        if type(node) is self.exp.Null:
            return ibis.null()
        if type(node) is self.exp.Boolean:
            return ibis.literal(bool(node.this))
        if node.is_string:
            return ibis.literal(str(node.this))
        try:
            return ibis.literal(sign * int(node.this), "int64")
        except ValueError:
            return ibis.literal(sign * float(node.this), "float64")

    def is_in(self, node: Any) -> Any:
        if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
            raise self.refuse(node)
        value = self.build(node.this)
        kinds: dict[str, list[Any]] = {}  # one list for each kind of number: engines would make them all one kind
        for item in node.expressions:
            if type(item) not in (self.exp.Literal, self.exp.Neg, self.exp.Boolean):
                raise self.refuse(item)
            left, right = _comparable(True, *self.alike(value, self.build(item), node))
            kinds.setdefault("floating" if right.type().is_floating() else "others", []).append((left, right))
        if not kinds:
            raise self.refuse(node)
        return balanced_join(operator.or_, [some[0][0].isin([right for _, right in some]) for some in kinds.values()])

    def like(self, node: Any) -> Any:
        value = self.build(node.this)
        if not value.type().is_string() or type(node.expression) is not self.exp.Literal:
            raise self.refuse(node)
        return like(value, str(node.expression.this))

    def chain(self, node: Any) -> Any:
        """AND or OR of any number of terms, which stand beside each other however they are nested in the text."""
        terms, waiting = [], [node]
        while waiting:
            part = waiting.pop()
            if type(part) is type(node) and not {k for k, v in part.args.items() if v} - _ARGUMENTS:
                waiting += [part.expression, part.this]
                continue
            built = self.build(part)
            self.boolean(built, part)
            terms.append(built)
        return balanced_join(self.binary[type(node)], terms)

    def negative(self, node: Any) -> Any:
        if type(node.this) is self.exp.Literal and not node.this.is_string:
            return self.literal(node.this, -1)
        inner = self.build(node.this)
        return arithmetic(operator.sub, *self.numbers(need_ibis().literal(0), inner, node))

    def numbers(self, left: Any, right: Any, node: Any) -> tuple[Any, Any]:
        for side in (left, right):
            if _family(side.type()) != "a number":
                raise self.wrong(node, "is arithmetic with something that is not a number; calculate with numbers only")
        return left, right

    def boolean(self, value: Any, node: Any) -> None:
        if not value.type().is_boolean():
            raise self.wrong(node, "is not a condition; compare something, as in 'age > 30'")

    def alike(self, left: Any, right: Any, node: Any) -> tuple[Any, Any]:
        """Both sides in one type: a text literal beside a date becomes a date, anything else must agree.

        Engines differ in what they cast in silence (``zip = 1234`` matches ``'01234'`` on some), so nothing is.
        """
        families = _family(left.type()), _family(right.type())
        if "unknown" in families:
            raise self.wrong(node, "compares with NULL, which is never true; use IS NULL")
        if families[0] == families[1]:
            return left, right
        if families == ("time", "text"):
            return left, self.moment(right, left.type(), node)
        if families == ("text", "time"):
            return self.moment(left, right.type(), node), right
        why = "compare a column with its own kind (text in quotes, numbers without)"
        raise self.wrong(node, f"compares {families[0]} with {families[1]}; {why}")

    def moment(self, value: Any, kind: Any, node: Any) -> Any:
        """A text literal as the date, time or timestamp it is compared with, read here and not by the engine."""
        ibis = need_ibis()
        readers: dict[bool, Any] = {kind.is_date(): date, kind.is_timestamp(): datetime, kind.is_time(): time}
        try:
            read = readers[True].fromisoformat(value.op().value)
            if getattr(read, "tzinfo", None) is not None:  # columns are in UTC here
                read = read.astimezone(UTC).replace(tzinfo=None)
            return ibis.literal(read, type=kind)
        except (AttributeError, ValueError) as error:
            instead = "write it as '2024-12-31' or '2024-12-31 23:59:00'"
            raise self.wrong(node, f"compares a {kind} with text that is not one; {instead}") from error


def _comparable(equal: bool, left: Any, right: Any) -> tuple[Any, Any]:
    """Both sides as they are compared: decimals beside floats as floats, texts by their bytes."""
    kinds = left.type(), right.type()
    if any(k.is_decimal() for k in kinds) and not all(k.is_decimal() for k in kinds):
        return left.cast("float64"), right.cast("float64")
    if not equal and all(k.is_string() for k in kinds):
        return binary_order(left, right)
    return left, right


def _family(kind: Any) -> str:
    if kind.is_null():
        return "unknown"
    if kind.is_numeric() and not kind.is_boolean():
        return "a number"
    if kind.is_boolean():
        return "a boolean"
    if kind.is_string():
        return "text"
    if kind.is_date() or kind.is_timestamp() or kind.is_time():
        return "time"
    return str(kind)
