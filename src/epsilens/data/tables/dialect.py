"""Where engines differ although Ibis writes for all of them: the one place that says so.

Everything else is written once. What stands here gives on every engine what DuckDB gives: whether a number is NaN,
times in one zone, texts in the order of their bytes and not of a country's custom, remainders, overflow, md5
and rows as Arrow.

SQLite stores whatever it is given, so its values are read here: an empty text in a column of numbers is no value, any
other text there is refused; dates and times are texts in several spellings, brought into one.
"""

from __future__ import annotations

import hashlib
import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ...errors import OptionalModule

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    import pyarrow
    from ibis.backends import BaseBackend

ibis = OptionalModule("ibis", "reading a table")
pa = OptionalModule("pyarrow", "reading a table")
pc = OptionalModule("pyarrow.compute", "reading a table")

_Term = TypeVar("_Term")
Operator: TypeAlias = "Callable[[ir.NumericValue, ir.NumericValue], ir.NumericValue]"

_LARGEST = sys.float_info.max
_WHOLE = 2.0**63 - 2.0**14  # a hair below what 64 bits hold: it is compared with a rounded number
_LOGS = (-744.0, 709.78)  # of the smallest and largest double


def quoted(text: object) -> str:
    """A string of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def name_of(expression: ir.Expr) -> str:
    """The engine an expression runs on, in Ibis's words; that of DuckDB where it has none yet.

    >>> name_of(ibis.table({"a": "int64"}, name="t"))
    'duckdb'
    """
    backend = _backend(expression)
    return "duckdb" if backend is None else str(backend.name)


def _backend(expression: ir.Expr) -> BaseBackend | None:
    try:
        return expression._find_backend(use_default=False)
    except ibis.common.exceptions.IbisError:
        return None


@cache
def engine_function(name: str, result: str, arguments: int) -> Callable[..., ir.Value]:
    """A function of the engine that Ibis has no word for."""

    def one(a: ir.Value) -> ir.Value: ...

    def two(a: ir.Value, b: ir.Value) -> ir.Value: ...

    signature = ((None,) * arguments, result)
    made: Callable[..., ir.Value] = ibis.udf.scalar.builtin((one, two)[arguments - 1], name=name, signature=signature)
    return made


def normalized_values(column: ir.Column) -> ir.Column:
    """The column's values, read in one way on every engine: times in UTC without a zone, text compared as it stands."""
    kind, engine = column.type(), name_of(column)
    if engine == "sqlite":
        return _sqlite_values(column)
    if kind.is_timestamp() and kind.timezone is not None:
        if engine == "pyspark":
            return engine_function("convert_timezone", "timestamp", 2)("UTC", column)
        return engine_function("timezone", "timestamp", 2)("UTC", column)
    if kind.is_decimal() and kind.precision is None:  # PostgreSQL's numeric, of any length
        return column.cast("float64")
    if kind.is_decimal() and engine == "postgres":
        return ibis.ifelse(column.cast("string") == "NaN", ibis.null(kind), column)
    return column


def as_integer(flag: ir.BooleanValue) -> ir.IntegerValue:
    """A condition as 1 and 0, to be added up; PostgreSQL makes a boolean a number of 32 bits and no other."""
    return flag.cast("int32")


def is_nan(number: ir.FloatingValue) -> ir.BooleanValue:
    """Whether a floating number is NaN, which SQLite has none of."""
    return ibis.literal(False) if name_of(number) == "sqlite" else number.isnan()


def is_infinite(number: ir.FloatingValue) -> ir.BooleanValue:
    """Whether a floating number that is not NaN is infinite."""
    return number.abs() > _LARGEST


def finite(number: ir.FloatingValue) -> ir.FloatingValue:
    """The floating number, or nothing where it is infinite."""
    return ibis.ifelse(number.abs() <= _LARGEST, number, ibis.null("float64"))


def binary_order(left: ir.StringValue, right: ir.StringValue) -> tuple[ir.Value, ir.Value]:
    """What two texts are compared by with < and >: their bytes. PostgreSQL would go by the database's language."""
    if name_of(left + right) != "postgres":
        return left, right
    as_bytes = engine_function("convert_to", "string", 2)
    return as_bytes(left, "UTF8"), as_bytes(right, "UTF8")


def identical(left: ir.Column, right: ir.Column) -> ir.BooleanValue:
    """Whether two columns of one type hold the same, NULL being a value; in a way that PostgreSQL joins by hash."""
    if name_of(left) != "postgres":
        return left.identical_to(right)
    texts = (column.cast("string").fill_null("") for column in (left, right))
    return operator.eq(*texts) & (left.isnull() == right.isnull())


def like(text: ir.StringValue, pattern: str) -> ir.BooleanValue:
    """LIKE where a backslash is a backslash; capitals count."""
    escaped = pattern.replace("\\", "\\\\") if name_of(text) in ("postgres", "pyspark") else pattern
    return text.like(escaped)


def md5(text: ir.StringValue) -> ir.StringValue:
    """The md5 of the text's UTF-8 bytes, in hexadecimal digits."""
    engine = name_of(text)
    if engine == "postgres":
        return engine_function("md5", "string", 1)(engine_function("convert_to", "binary", 2)(text, "UTF8"))
    if engine == "sqlite":
        return _sqlite_function(text, "epsilens_md5", "string", 1)(text)
    return text.hexdigest("md5")


def number_duplicates(rows: ir.Table, columns: Sequence[str], name: str) -> ir.Table:
    """The rows of these columns, those that are alike told apart by a number from 0 on."""
    if name_of(rows) == "sqlite":  # which has no lists
        alike = ibis.window(group_by=list(columns))
        return rows.mutate(**{name: ibis.row_number().over(alike).cast("int64")})
    many = "epsilens rows"
    same = rows.group_by(list(columns)).agg(**{many: rows.count()})
    return same.mutate(**{name: ibis.range(0, same[many]).unnest()}).drop(many)


def stacked_pairs(rows: ir.Table, triples: Sequence[tuple[int, ir.Column, ir.Column]]) -> ir.Table:
    """For each row as many rows ``k``, ``a``, ``b`` as there are triples of a number and two columns of it."""
    if name_of(rows) in ("postgres", "sqlite"):  # which have no lists of records
        each = [rows.select(k=ibis.literal(k, "int64"), a=a, b=b) for k, a, b in triples]
        return balanced_join(lambda one, other: one.union(other), each)
    made = [ibis.struct({"k": ibis.literal(k, "int64"), "a": a, "b": b}) for k, a, b in triples]
    flat = rows.select(step=ibis.array(made).unnest())
    return flat.select(k=flat["step"]["k"], a=flat["step"]["a"], b=flat["step"]["b"])


def balanced_join(join: Callable[[_Term, _Term], _Term], terms: Sequence[_Term]) -> _Term:
    """The terms joined as a flat tree: thousands in a row would nest too deep to be written, or to be read.

    >>> balanced_join(lambda a, b: f"({a}{b})", "abcd")
    '((ab)(cd))'
    """
    left = list(terms)
    while len(left) > 1:
        left = [reduce(join, left[i : i + 2]) for i in range(0, len(left), 2)]
    return left[0]


def arithmetic(apply: Operator, left: ir.NumericValue, right: ir.NumericValue) -> ir.NumericValue:
    """``left`` + - * / % ``right``; unknown where it divides by zero or leaves the range of numbers.

    Two whole numbers give one, but for a quotient; a remainder has the sign of the divided.
    """
    if apply in (operator.truediv, operator.mod):
        right = right.nullif(0)
    whole = left.type().is_integer() and right.type().is_integer() and apply is not operator.truediv
    a, b = left.cast("float64"), right.cast("float64")
    if whole:
        left, right = left.cast("int64"), right.cast("int64")
        if apply is operator.mod:
            return _remainder(left, right, "int64")
        return ibis.ifelse(apply(a, b).abs() < _WHOLE, apply(left, right), ibis.null("int64"))
    if apply is operator.mod:
        return finite(_remainder(a, b, "float64"))
    return finite(_postgres_arithmetic(apply, a, b) if name_of(a + b) == "postgres" else apply(a, b))


def _remainder(left: ir.NumericValue, right: ir.NumericValue, kind: str) -> ir.NumericValue:
    if name_of(left + right) == "sqlite":
        return _sqlite_function(left + right, "epsilens_remainder", kind, 2)(left, right)
    return left % right


def _postgres_arithmetic(apply: Operator, a: ir.FloatingValue, b: ir.FloatingValue) -> ir.FloatingValue:
    """PostgreSQL complains of results too large or too small, where the others go to infinity and zero."""
    if apply in (operator.add, operator.sub):
        return ibis.ifelse(apply(a / 2, b / 2).abs() <= _LARGEST / 2, apply(a, b), ibis.null("float64"))
    size = apply is operator.mul
    log = a.abs().nullif(0).ln() + (1 if size else -1) * b.abs().nullif(0).ln()
    return ibis.cases(
        (a.isnull() | b.isnull() | (log > _LOGS[1]), ibis.null("float64")),
        ((a == 0) | (b == 0) | (log < _LOGS[0]), ibis.literal(0.0)),
        else_=apply(a, b),
    )


_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_HOUR = "[0-2][0-9]:[0-5][0-9]:[0-5][0-9]"
_YES, _NO = {"true", "t", "yes", "y", "1"}, {"false", "f", "no", "n", "0"}


def _sqlite_values(column: ir.Column) -> ir.Column:
    """SQLite's values: those stored as their column says are taken as they are, others read one by one."""
    kind, stored = column.type(), column.typeof()
    if kind.is_string():
        return column + ""  # a column may have a collation that ignores capitals; an expression has none
    if kind.is_boolean():
        read = _sqlite_function(column, "epsilens_flag", "boolean", 1)(column)
        return ibis.ifelse(stored.isin(("integer", "null")), column.cast("int64") != 0, read)
    if kind.is_date() or kind.is_timestamp() or kind.is_time():
        name = "day" if kind.is_date() else "time" if kind.is_time() else "moment"
        usual = {"day": _DAY, "time": _HOUR, "moment": f"{_DAY} {_HOUR}"}[name]
        if kind.is_timestamp() and kind.timezone is not None:
            return _sqlite_function(column, "epsilens_moment", "timestamp", 1)(column)
        read = _sqlite_function(column, f"epsilens_{name}", str(kind), 1)(column)
        return ibis.ifelse(engine_function("glob", "boolean", 2)(usual, column), column, read)
    if kind.is_integer():
        read = _sqlite_function(column, "epsilens_whole", str(kind), 1)(column)
        return ibis.ifelse(stored.isin(("integer", "null")), column, read)
    if kind.is_floating() or kind.is_decimal():
        read = _sqlite_function(column, "epsilens_number", str(kind), 1)(column)
        return ibis.ifelse(stored.isin(("real", "integer", "null")), column, read)
    return column


def _moment_of(value: str | float) -> datetime:
    """A date and time from ISO text of any kind, seconds since 1970, or a Julian day; SQLite knows these three."""
    if isinstance(value, int):
        return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
    if isinstance(value, float):
        return datetime.fromtimestamp(round((value - 2440587.5) * 86400, 3), UTC).replace(tzinfo=None)
    read = datetime.fromisoformat(value.strip())
    return read if read.tzinfo is None else read.astimezone(UTC).replace(tzinfo=None)


def _flag(value: str | float) -> bool | None:
    text = str(value).strip().lower()
    if text and text not in _YES | _NO:
        raise ValueError
    return text in _YES if text else None


def _whole(value: str | float) -> int:
    number = float(value)
    if not number.is_integer() or abs(number) >= 2.0**63:
        raise ValueError
    return int(value)


def _remainder_of(left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (isinstance(left, float) and math.isinf(left)):
        return None
    return math.fmod(left, right) if isinstance(left, float) else int(math.copysign(1, left)) * (abs(left) % abs(right))


def _unless_empty(read: Callable[[Any], object]) -> Callable[[str | float | None], object]:
    return lambda value: None if value in (None, "") else read(value)


_SQLITE_FUNCTIONS: dict[str, Callable[..., object]] = {
    "epsilens_day": _unless_empty(lambda value: _moment_of(value).date().isoformat()),
    "epsilens_moment": _unless_empty(lambda value: _moment_of(value).isoformat(" ")),
    "epsilens_time": _unless_empty(lambda value: time.fromisoformat(value.strip()).isoformat()),
    "epsilens_flag": _unless_empty(_flag),
    "epsilens_number": _unless_empty(float),
    "epsilens_whole": _unless_empty(_whole),
    "epsilens_remainder": _remainder_of,
    "epsilens_md5": lambda text: (
        text if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    ),
}


def _sqlite_function(expression: ir.Expr, name: str, result: str, arguments: int) -> Callable[..., ir.Value]:
    """One of our functions, taught to the SQLite connection once: not while it reads, when it would refuse."""
    backend = _backend(expression)
    assert backend is not None
    known = backend.__dict__.setdefault("_epsilens_functions", set())
    if (id(backend.con), name) not in known:
        backend.con.create_function(name, arguments, _SQLITE_FUNCTIONS[name], deterministic=True)
        known.add((id(backend.con), name))
    return engine_function(name, result, arguments)


def batches(connection: BaseBackend, expression: ir.Expr, size: int, streamed: bool) -> Iterator[pyarrow.RecordBatch]:
    """The rows as Arrow record batches of at most ``size``, each value in the type that Ibis says it has.

    For SQLite and PostgreSQL: Ibis reads the one through pandas, which makes whole numbers floating ones where some are
    missing, and stumbles over sums of the other, which are decimals.
    """
    schema = expression.as_table().schema()
    connection._run_pre_execute_hooks(expression)
    arrow = schema.to_pyarrow()
    readers = [_arrow_converter(kind) for kind in schema.types]
    with _cursor(connection, connection.compile(expression), streamed) as cursor:
        while rows := cursor.fetchmany(size):
            columns = zip(readers, arrow, zip(*rows, strict=True), strict=True)
            made = [pa.array([None if v is None else read(v) for v in values], f.type) for read, f, values in columns]
            yield pa.RecordBatch.from_arrays(made, schema=arrow)


class _Cursor(Protocol):
    def fetchmany(self, size: int) -> Sequence[tuple[object, ...]]: ...


@contextmanager
def _cursor(connection: BaseBackend, query: str, streamed: bool) -> Iterator[_Cursor]:
    if connection.name == "sqlite":
        with closing(connection.con.execute(query)) as cursor:
            yield cursor
        return
    # A cursor of the server's hands the rows over part by part, and keeps the server from working on them in parallel.
    name = ibis.util.gen_name("epsilens") if streamed else ""
    with connection.con.transaction(), connection.con.cursor(name=name) as cursor:
        cursor.execute(query)
        yield cursor


def _arrow_converter(kind: dt.DataType) -> Callable[[Any], object]:
    """From what a driver gives to what Arrow takes."""
    if kind.is_decimal():
        places = Decimal(1).scaleb(-(kind.scale or 0))
        return lambda value: Decimal(str(value)).quantize(places)
    plain: dict[bool, Callable[[Any], object]] = {
        kind.is_boolean(): bool,
        kind.is_integer(): int,
        kind.is_floating(): float,
        kind.is_string(): str,
    }
    parsed: dict[bool, type[date] | type[time]] = {
        kind.is_date(): date,
        kind.is_timestamp(): datetime,
        kind.is_time(): time,
    }
    if True in parsed:
        return lambda value: parsed[True].fromisoformat(value) if isinstance(value, str) else value
    return plain.get(True, lambda value: value)


# -- sums that are the same to the last digit on every engine ---------------------------------------------------------
#
# Floating sums depend on the order of their terms, and engines add in the order their threads happen to finish. Whole
# numbers do not: so each value x is cut, exactly, into two whole numbers,
#
# .. math:: x = 2^{-k}\left(\lfloor 2^k x\rfloor + 2^{-f}\lfloor 2^f(2^k x - \lfloor 2^k x\rfloor)\rfloor + r\right),
#           \qquad 0 \le r < 2^{-f},
#
# with k and f as large as the sums of so many rows allow in 64 bits. What is lost, r, is below the largest value times
# 2⁻⁷⁰ for ten million rows: far below what a floating sum loses. Columns of whole numbers are added up as they are.
#
# A sum that is to be published under noise must not even depend on the data by how it is cut: its values are whole
# numbers of :class:`SumSteps`, which follow from the bounds alone, and one row moves it by at most the larger bound.

_BITS = 61  # a sign, and a bit to spare
_MANY = 2**34 - 1  # rows: more than any table here, and sums keep 52 bits of the largest value


@dataclass(frozen=True)
class SumGrid:
    """How the values of a column are cut: 2^-``shift`` and 2^-(``shift`` + ``fine``), or whole numbers."""

    shift: int
    fine: int
    whole: bool = False

    @classmethod
    def of(cls, largest: float, rows: int, whole: bool = False) -> SumGrid:
        """For so many values of at most this size; ``whole`` where they are whole numbers."""
        spare = _BITS - rows.bit_length()
        exponent = math.frexp(largest)[1]
        if whole and exponent <= spare:
            return cls(0, 0, True)
        return cls(max(-1000, min(1000, spare - exponent)), spare)

    def parts(self, value: ir.NumericValue) -> tuple[ir.NumericValue, ...]:
        """The whole numbers to add up, as columns."""
        if self.whole:
            return (value.cast("int64"),)
        value = value.cast("float64")
        if self.shift < 0:  # what is lost in any case is taken as 0: PostgreSQL complains of numbers that vanish
            value = ibis.ifelse(value.abs() < 2.0 ** (-self.shift - 1000), 0.0, value)
        scaled = value * 2.0**self.shift
        coarse = scaled.floor()
        return coarse, ((scaled - coarse) * 2.0**self.fine).floor()

    def total(self, *sums: int) -> Fraction:
        """What the sums of the parts amount to.

        >>> SumGrid.of(1.5, 3).total(2**58, 2**58)
        Fraction(576460752303423489, 576460752303423488)
        """
        if self.whole:
            return Fraction(sums[0])
        coarse, fine = sums
        scale = Fraction(2) ** -self.shift
        return (coarse + Fraction(fine, 2**self.fine)) * scale


@dataclass(frozen=True)
class SumSteps:
    """Values as whole numbers of steps, from ``low`` to ``high`` of them; a step is 10^-``digits``.

    The ends lie within the bounds, never beyond: a row adds at most what the bounds say.
    """

    low: int
    high: int
    digits: int

    @classmethod
    def of(cls, low: float, high: float) -> SumSteps:
        """For these bounds: a million steps or more to the larger one, and room for a billion rows in 53 bits.

        >>> SumSteps.of(0.0, 250.0), SumSteps.of(-0.1, 0.1)
        (SumSteps(low=0, high=2500000, digits=4), SumSteps(low=-1000000, high=1000000, digits=7))
        """
        ends = [Fraction(Decimal(repr(float(end)))) for end in (low, high)]
        largest = max(abs(low), abs(high))
        digits = 6 - math.floor(math.log10(largest)) if largest > 0 else 0
        low_, high_ = (end * Fraction(10) ** digits for end in ends)
        return cls(math.ceil(low_), math.floor(high_), digits)

    @property
    def size(self) -> Fraction:
        """Of one step."""
        return Fraction(10) ** -self.digits

    @property
    def whole(self) -> bool:
        """Whether values are cut to whole numbers before anything else: never, they are numbers of steps."""
        return False

    def parts(self, value: ir.NumericValue) -> tuple[ir.NumericValue, ...]:
        """The number of steps, as a column; infinite values are cut to the ends like all others."""
        number = value.cast("float64").clip(lower=float(self.low * self.size), upper=float(self.high * self.size))
        number = number * 10.0**self.digits if self.digits >= 0 else number / 10.0**-self.digits
        nearest = (number + 0.5).floor().cast("int64")
        return (nearest.clip(lower=self.low, upper=self.high),)

    def total(self, *sums: int) -> Fraction:
        """What a number of steps amounts to."""
        return sums[0] * self.size


def exact_sum(
    name: str, value: ir.FloatingValue, largest: float, rows: int = _MANY
) -> tuple[dict[str, ir.NumericScalar], Callable[[ir.Table], ir.FloatingValue]]:
    """The sums of floating values to ask for, and what makes one number of them again, both inside the engine."""
    grid = SumGrid.of(largest, rows)
    asked = {f"{name}{k}": part.sum() for k, part in enumerate(grid.parts(value))}

    def together(summed: ir.Table) -> ir.FloatingValue:
        coarse, fine = (summed[part].cast("float64") for part in asked)
        return (coarse + fine * 2.0**-grid.fine) * 2.0**-grid.shift

    return asked, together
