"""Conditions: the WHERE of a planned query, parsed with sqlglot and rebuilt as an Ibis expression.

Nothing a person writes reaches an engine as text. The parse tree is walked over a short list of allowed nodes
(columns of this table, literals, comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, LIKE, + - * / %), and each is
translated here; a subquery, a function, another table or a second statement has no translation and is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Set
from datetime import UTC, date, datetime, time
from types import ModuleType
from typing import TYPE_CHECKING

from ...errors import InputError, OptionalModule, require
from .columns import column_of, value_of
from .dialect import Operator, arithmetic, balanced_join, binary_order, ibis, like
from .failures import failure_phrase

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    from sqlglot.expressions import Expression

sqlglot = OptionalModule("sqlglot", "reading a query")
exp = OptionalModule("sqlglot.expressions", "reading a query")

#: The parts of a node that are read; ``typed`` and ``safe`` only say how a dialect divides.
_ARGUMENTS = {"this", "expression", "expressions", "low", "high", "is_string", "negate", "typed", "safe"}
ALLOWED = "columns, literals, comparisons, AND, OR, NOT, IN (…), BETWEEN, IS NULL, LIKE and arithmetic"


def syntax() -> ModuleType:
    """sqlglot's expression classes, imported late."""
    return require("sqlglot.expressions", "reading a query")


#: Letters of a statement that are shown in a sentence about it.
_SHOWN = 200


def parse(text: str, what: str, *, as_condition: bool = True) -> Expression:
    """One sqlglot tree from text; comments and second statements are refused.

    >>> parse("age > 30; DROP TABLE t", "where")
    Traceback (most recent call last):
    epsilens.errors.InputError: where is 'age > 30; DROP TABLE t': give one condition, without ';' and comments
    """
    text = text.strip()
    text = text if as_condition else text.removesuffix(";").rstrip()  # as every SELECT ends
    one, allowed = ("condition", ALLOWED) if as_condition else ("SELECT", "SELECT, FROM, WHERE and GROUP BY")
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


def render(tree: Expression) -> str:
    """The text of a condition taken out of a larger statement."""
    return str(tree.sql(dialect="duckdb"))


def condition(table: ir.Table, text: str, what: str = "where") -> ir.BooleanValue:
    """The boolean Ibis expression for a condition on ``table``; NULL counts as false, as in SQL.

    >>> import ibis
    >>> t = ibis.table({"age": "int64", "site": "string"}, name="t")
    >>> condition(t, "age > 30 AND site IN ('a', 'b')").type()
    Boolean(nullable=True)
    >>> condition(t, "age > (SELECT 1)")
    Traceback (most recent call last):
    epsilens.errors.InputError: where is 'age > (SELECT 1)': '(SELECT 1)' is not allowed; give columns, literals, comparisons, AND, OR, NOT, IN (…), BETWEEN, IS NULL, LIKE and arithmetic
    """  # noqa: E501 - the message is one sentence, on one line
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
        raise InputError(f"{what} is {_short(text)}: it is not a condition; compare something, as in 'age > 30'", what)
    return built.fill_null(False)


def columns_of(text: str, what: str = "where") -> Set[str]:
    """The columns a condition mentions, in the order of the text.

    >>> list(columns_of("ill AND age > 30"))
    ['ill', 'age']
    """
    return dict.fromkeys(node.name for node in parse(text, what).find_all(exp.Column, bfs=False)).keys()


def terms_of(text: str, what: str = "where") -> tuple[str, ...]:
    """The terms that AND joins, each written in one way.

    >>> terms_of("(age>30 AND ill) AND (x = 1 OR y)")
    ('age > 30', 'ill', 'x = 1 OR y')
    """
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


def known_part(table: ir.Table, text: str, known: Iterable[str], what: str = "where") -> ir.BooleanValue:
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


#: The operators of each kind, by sqlglot's name of the node.
LOGIC = {"And": operator.and_, "Or": operator.or_}
EQUALITY = {"EQ": operator.eq, "NEQ": operator.ne}
COMPARISONS = {**EQUALITY, "LT": operator.lt, "LTE": operator.le, "GT": operator.gt, "GTE": operator.ge}
_WHOLE: dict[str, Operator] = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Mod": operator.mod}
ARITHMETIC = {**_WHOLE, "Div": operator.truediv}


class _Builder:
    """Walks one parse tree; every node class it does not name is refused."""

    def __init__(self, table: ir.Table, text: str, what: str) -> None:
        self.table, self.text, self.what = table, text, what

    def wrong(self, node: Expression, why: str) -> InputError:
        return InputError(f"{self.what} is {_short(self.text)}: {_short(render(node))} {why}", parameter=self.what)

    def refuse(self, node: Expression) -> InputError:
        return self.wrong(node, f"is not allowed; give {ALLOWED}")

    def build(self, node: Expression) -> ir.Value:
        if _has_unknown_argument(node):
            raise self.refuse(node)
        built = self.translate(node)
        return ~self.boolean(built, node) if node.args.get("negate") else built  # NOT LIKE, in recent sqlglot

    def translate(self, node: Expression) -> ir.Value:
        name = type(node).__name__
        if name in ARITHMETIC:
            left, right = self.alike(self.build(node.this), self.build(node.expression), node)
            return arithmetic(ARITHMETIC[name], *self.numbers(left, right, node))
        if name in COMPARISONS:
            left, right = self.alike(self.build(node.this), self.build(node.expression), node)
            return COMPARISONS[name](*_comparable(name in EQUALITY, left, right))
        match name:
            case "And" | "Or":
                return self.chain(node)
            case "Paren":
                return self.build(node.this)
            case "Not":
                return ~self.boolean(self.build(node.this), node.this)
            case "Neg":
                return self.negative(node)
            case "Column":
                return self.column(node)
            case "Literal" | "Boolean" | "Null":
                return self.literal(node)
            case "In":
                return self.is_in(node)
            case "Between":
                value, low, high = (self.build(node.args[k]) for k in ("this", "low", "high"))
                above = operator.ge(*_comparable(False, *self.alike(value, low, node)))
                return above & operator.le(*_comparable(False, *self.alike(value, high, node)))
            case "Is" if type(node.expression) is exp.Null:
                return self.build(node.this).isnull()
            case "Is" if type(node.expression) is exp.Boolean:
                return (self.boolean(self.build(node.this), node.this) == node.expression.this).fill_null(False)
            case "Like":
                value = self.build(node.this)
                if not value.type().is_string() or type(node.expression) is not exp.Literal:
                    raise self.refuse(node)
                return like(value, str(node.expression.this))
        raise self.refuse(node)

    def column(self, node: Expression) -> ir.Column:
        if any(node.args.get(part) for part in ("table", "db", "catalog")):
            raise self.refuse(node)
        return value_of(column_of(self.table, node.name, self.what), self.what)

    def literal(self, node: Expression, sign: int = 1) -> ir.Scalar:
        if type(node) is exp.Null:
            return ibis.null()
        if type(node) is exp.Boolean:
            return ibis.literal(bool(node.this))
        if node.is_string:
            return ibis.literal(str(node.this))
        try:
            return ibis.literal(sign * int(node.this), "int64")
        except ValueError:
            return ibis.literal(sign * float(node.this), "float64")

    def is_in(self, node: Expression) -> ir.BooleanValue:
        if node.args.get("query") or node.args.get("unnest") or node.args.get("field"):
            raise self.refuse(node)
        value = self.build(node.this)
        #: One list for each kind of number: engines would make them all one kind.
        kinds: dict[bool, list[tuple[ir.Value, ir.Value]]] = {}
        for item in node.expressions:
            if type(item) not in (exp.Literal, exp.Neg, exp.Boolean):
                raise self.refuse(item)
            left, right = _comparable(True, *self.alike(value, self.build(item), node))
            kinds.setdefault(right.type().is_floating(), []).append((left, right))
        if not kinds:
            raise self.refuse(node)
        return balanced_join(operator.or_, [some[0][0].isin([right for _, right in some]) for some in kinds.values()])

    def chain(self, node: Expression) -> ir.BooleanValue:
        """AND or OR of any number of terms, which stand beside each other however they are nested in the text."""
        terms, waiting = [], [node]
        while waiting:
            part = waiting.pop()
            if type(part) is type(node) and not _has_unknown_argument(part):
                waiting += [part.expression, part.this]
            else:
                terms.append(self.boolean(self.build(part), part))
        return balanced_join(LOGIC[type(node).__name__], terms)

    def negative(self, node: Expression) -> ir.NumericValue:
        if type(node.this) is exp.Literal and not node.this.is_string:
            return self.literal(node.this, -1)
        return arithmetic(operator.sub, *self.numbers(ibis.literal(0), self.build(node.this), node))

    def numbers(self, left: ir.Value, right: ir.Value, node: Expression) -> tuple[ir.NumericValue, ir.NumericValue]:
        if any(_family(side.type()) != "a number" for side in (left, right)):
            raise self.wrong(node, "is arithmetic with something that is not a number; calculate with numbers only")
        return left, right

    def boolean(self, value: ir.Value, node: Expression) -> ir.BooleanValue:
        if not value.type().is_boolean():
            raise self.wrong(node, "is not a condition; compare something, as in 'age > 30'")
        return value

    def alike(self, left: ir.Value, right: ir.Value, node: Expression) -> tuple[ir.Value, ir.Value]:
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

    def moment(self, value: ir.Value, kind: dt.DataType, node: Expression) -> ir.Scalar:
        """A text literal as the date, time or timestamp it is compared with, read here and not by the engine."""
        reader: type[date] | type[time] = datetime if kind.is_timestamp() else date if kind.is_date() else time
        try:
            read = reader.fromisoformat(value.op().value)
            if isinstance(read, time) and read.tzinfo is not None:
                raise ValueError
            if isinstance(read, datetime) and read.tzinfo is not None:  # columns are in UTC here
                read = read.astimezone(UTC).replace(tzinfo=None)
            return ibis.literal(read, type=kind)
        except (AttributeError, ValueError) as error:
            instead = "write it as '2024-12-31' or '2024-12-31 23:59:00'"
            raise self.wrong(node, f"compares a {kind} with text that is not one; {instead}") from error


def _has_unknown_argument(node: Expression) -> bool:
    """An argument that is not read here may change the meaning (SYMMETRIC, ESCAPE…): refused, never ignored."""
    return bool({key for key, value in node.args.items() if value} - _ARGUMENTS)


def _comparable(equal: bool, left: ir.Value, right: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Both sides as they are compared: decimals beside floats as floats, texts by their bytes."""
    kinds = left.type(), right.type()
    if any(k.is_decimal() for k in kinds) and not all(k.is_decimal() for k in kinds):
        return left.cast("float64"), right.cast("float64")
    if not equal and all(k.is_string() for k in kinds):
        return binary_order(left, right)
    return left, right


def _family(kind: dt.DataType) -> str:
    if kind.is_null():
        return "unknown"
    if kind.is_boolean():
        return "a boolean"
    if kind.is_numeric():
        return "a number"
    if kind.is_string():
        return "text"
    return "time" if kind.is_date() or kind.is_timestamp() or kind.is_time() else str(kind)
