"""How the cells of each column look, counted and never kept: how many are numbers, dates, codes, words for nothing.

All rows are counted once. What text looks like is read from at most a million rows, and from fewer where nearly every
row has another text: :attr:`Shapes.looked_at` says how many. Each value is looked at once, however many rows have it,
and forgotten.

Dates in figures can be read in two ways until some value is above twelve. Where none is, the day is taken to come
first, which most of the world writes, and :attr:`Shape.unsure` says so. "1.234" alone is one and a bit, not a thousand:
an engine reads it so too. "1,234" alone is a thousand and more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

from ..tables.columns import As, Form, Order, fold
from ..tables.engines import need_ibis
from ..tables.table import OpenTable, reading
from .labels import Label, label_of, nothing_in

_MOST_ROWS = 1_000_000
_MANY_ROWS = 100_000  # of a column of many values
_MOST_CELLS = 1_000_000  # cells of such columns that are looked at
_FEW = 20_000  # values so few that all rows may be looked at
_AT_ONCE = 300_000  # cells that are read as they are; of more the engine counts equal ones first
_FAST = frozenset(
    {"duckdb", "pyspark", "clickhouse", "snowflake", "bigquery", "databricks", "trino", "athena", "datafusion"}
)
_COUNTED = 120  # columns in one query
_DIGITS = 9  # whole numbers of so many digits, all of one length, are names
#: Days as 20240131, and instants in thousands and millions of a second: what lies between the years 2000 and 2035.
_FIRST_DAY, _LAST_DAY = 19_000_101, 21_001_231
_FIRST_MONTH, _LAST_MONTH = 190_001, 210_012
_FIRST_SECOND, _LAST_SECOND, _TEN_YEARS = 946_684_800, 2_051_222_400, 315_360_000


_CATEGORY = Form(As.CATEGORY)


class Whole(Enum):
    """Whole numbers that are no amounts."""

    DAYS = auto()  # 20240131
    MONTHS = auto()  # 202401
    INSTANTS = auto()  # seconds or parts of them since 1970
    NAMES = auto()  # all equally long: an account, a chip


@dataclass(frozen=True)
class Shape:
    """One column. ``labels`` are shares of the cells that hold something, by what they look like."""

    rows: int
    filled: int  # rows that are not NULL
    distinct: int  # about
    labels: dict[Label, float] = field(default_factory=dict)
    nothing: float = 0.0  # the share of cells that are not NULL and hold a blank or a word for nothing
    length: float = 0.0  # characters, on average
    words: tuple[str, ...] = ()  # the words for nothing that were met
    spellings: int = 0
    serial: bool = False  # whole numbers that look given out
    whole: Whole | None = None  # whole numbers, or digits, that are no amounts

    def share(self, *labels: Label) -> float:
        """The share of the cells that hold something which look like one of these."""
        return sum(self.labels.get(label, 0.0) for label in labels)

    def among(self, *labels: Label) -> float:
        """The same, where "unknown" too is nothing."""
        held = 1.0 - self.share(Label.ANSWER)
        return self.share(*labels) / held if held > 0 else 0.0

    @property
    def empty(self) -> int:
        """Rows with nothing recorded, about."""
        return self.rows - self.filled + round(self.nothing * self.filled)

    @property
    def decimal(self) -> str:
        """The decimal sign of its numbers."""
        return "," if self.share(Label.COMMA) > self.share(Label.POINT) else "."

    @property
    def order(self) -> Order:
        """The order of its dates: the sure ones decide for those that can be read in two ways."""
        day, month = self.share(Label.DAY_FIRST), self.share(Label.MONTH_FIRST)
        figures = day + month + self.share(Label.EITHER_FIRST)
        if self.share(Label.YEAR_FIRST, Label.COMPACT) > figures:
            return Order.YEAR_FIRST
        return Order.MONTH_FIRST if month > day else Order.DAY_FIRST

    @property
    def unsure(self) -> bool:
        """Whether dates can be read in two ways and no value decides."""
        sure = self.share(Label.DAY_FIRST, Label.MONTH_FIRST)
        return self.order is not Order.YEAR_FIRST and not sure


@dataclass(frozen=True)
class Shapes:
    """The columns of a table that have a shape, by name; nested and binary ones have none."""

    rows: int
    looked_at: int
    columns: dict[str, Shape]


def shapes_of(opened: OpenTable, names: list[str], tell: Callable[[str], object] | None = None) -> Shapes:
    """Count all rows once, then look at the text."""
    schema = opened.table.schema()
    plain = [name for name in names if is_plain(schema[name])]
    text = [name for name in plain if schema[name].is_string()]
    with reading(opened):
        if tell is not None:
            tell("counting the values of each column")
        cheap = opened.engine.kind in _FAST
        most = min(_MANY_ROWS, _MOST_CELLS // max(len(text), 1) + 1)
        rows, columns = _counted(opened, plain, cheap)
        columns |= _no_amounts(opened, columns)
        if tell is not None and text:
            tell("looking at the text")
        few = min(_FEW, most)
        for name, cells in _values(opened, {name: columns[name] for name in text}, rows, few, most):
            columns[name] = _told(columns[name], cells)
    many = any(columns[name].distinct > few for name in text)
    return Shapes(rows, min(rows, most if many else _MOST_ROWS) if text else rows, columns)


def is_plain(kind: Any) -> bool:
    """Whether values of this type can be counted on every engine."""
    simple = kind.is_string() or kind.is_integer() or kind.is_boolean() or kind.is_floating() or kind.is_decimal()
    return bool(simple or kind.is_date() or kind.is_timestamp() or kind.is_time() or kind.is_uuid())


def _batches(names: list[str], size: int) -> Iterator[list[str]]:
    yield from (names[i : i + size] for i in range(0, len(names), size))


def _one(opened: OpenTable, expression: Any) -> dict[str, Any]:
    return dict(opened.engine.fetch(expression).to_pylist()[0])


def _counted(opened: OpenTable, names: list[str], cheap: bool) -> tuple[int, dict[str, Shape]]:
    """Rows, filled cells and values of each column: of all rows, or of some where counting values is slow."""
    made: dict[str, Shape] = {}
    rows: int | None = None
    if not cheap or not names:
        rows = int(_one(opened, opened.table.aggregate(n=opened.table.count()))["n"])
    most = None if rows is None or rows <= _MOST_ROWS else _MOST_ROWS
    for batch in _batches(names, _COUNTED):
        chosen = {f"c{i}": _value(opened.table[name], opened.engine.kind) for i, name in enumerate(batch)}
        table = opened.table.select(**chosen)
        table = table if most is None else table.limit(most)
        wanted: dict[str, Any] = {"n": table.count()}
        for i in range(len(batch)):
            column = table[f"c{i}"]
            wanted |= {f"d{i}": column.approx_nunique(), f"f{i}": column.count()}
            kind = column.type()
            if kind.is_numeric() and not kind.is_boolean():
                wanted |= {f"a{i}": column.min(), f"b{i}": column.max()}
            elif not (kind.is_boolean() or kind.is_string()):  # text is counted again
                wanted[f"s{i}"] = column.min() != column.max()
            if kind.is_integer():
                wanted[f"t{i}"] = need_ibis().ifelse(column % 10 == 0, 1, 0).sum()
        got = _one(opened, table.aggregate(**wanted))
        rows = int(got["n"]) if rows is None else rows
        scale = 1.0 if most is None else rows / most
        for i, name in enumerate(batch):
            filled = min(round((got[f"f{i}"] or 0) * scale), rows)
            # The count of values is approximate; whether there are two is not.
            low, high = got.get(f"a{i}"), got.get(f"b{i}")
            distinct = min(max(int(got[f"d{i}"] or 0), 2 if got.get(f"s{i}") or low != high else 0), filled)
            tens = got.get(f"t{i}")
            serial = tens is not None and _is_serial(distinct, low, high, int(tens) / max(got[f"f{i}"] or 0, 1))
            made[name] = Shape(rows, filled, distinct, serial=serial, whole=_maybe(low, high, distinct, filled))
    return rows or 0, made


def _is_serial(distinct: int, low: int | None, high: int | None, tens: float) -> bool:
    """Whole numbers given out one after the other, or all of one length; amounts are often round."""
    if low is None or high is None or low < 0 or tens > 0.2:
        return False
    one_length = low > 9999 and len(str(low)) == len(str(high))
    return one_length or distinct >= 0.4 * (high - low + 1)


def _value(column: Any, engine: str) -> Any:
    """The column; not a number is no number, and what engines cannot count is counted as text."""
    kind = column.type()
    if kind.is_floating() and engine != "sqlite":  # which has no such number
        return need_ibis().ifelse(column.isnan(), need_ibis().null(kind), column)
    return column.cast("string") if kind.is_time() or kind.is_uuid() else column


def _maybe(low: Any, high: Any, distinct: int, filled: int) -> Whole | None:
    """What numbers between these may be, if they are whole."""
    if low is None or high is None or not 0 < low <= high < 2**63:
        return None
    if low >= _FIRST_DAY and high <= _LAST_DAY:
        return Whole.DAYS
    if low >= _FIRST_MONTH and high <= _LAST_MONTH and distinct > 2:
        return Whole.MONTHS
    for unit in (1, 10**3, 10**6, 10**9):
        first, last = low / unit, high / unit
        spread = distinct > 0.2 * filled or unit > 1  # ten digits are more often a name
        if first >= _FIRST_SECOND and last <= _LAST_SECOND and last - first <= _TEN_YEARS and spread:
            return Whole.INSTANTS
    digits = len(str(int(low)))
    return Whole.NAMES if digits >= _DIGITS and digits == len(str(int(high))) else None


def _no_amounts(opened: OpenTable, shapes: dict[str, Shape]) -> dict[str, Shape]:
    """Those columns that may be days, instants or names, with what they are: all values must be whole, and days be."""
    ibis = need_ibis()
    maybe = {name: shape for name, shape in shapes.items() if shape.whole is not None}
    if not maybe:
        return {}
    chosen = {f"c{i}": _value(opened.table[name], opened.engine.kind) for i, name in enumerate(maybe)}
    table = opened.table.select(**chosen).limit(_MOST_ROWS)
    wanted: dict[str, Any] = {}
    for i, shape in enumerate(maybe.values()):
        column = table[f"c{i}"]
        whole = column.cast("int64")
        fits = column == whole
        if shape.whole is Whole.DAYS:
            fits &= (whole // 100 % 100).between(1, 12) & (whole % 100).between(1, 31)
        if shape.whole is Whole.MONTHS:
            fits &= (whole % 100).between(1, 12)
        wanted |= {f"n{i}": column.count(), f"f{i}": ibis.ifelse(fits, 1, 0).sum()}
    got = _one(opened, table.aggregate(**wanted))
    return {
        name: shape if got[f"n{i}"] == (got[f"f{i}"] or 0) else replace(shape, whole=None)
        for i, (name, shape) in enumerate(maybe.items())
    }


def _values(
    opened: OpenTable, shapes: dict[str, Shape], rows: int, few: int, most: int
) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Each column of text with its values and the rows that have them: of all rows, or some where values are many."""
    names = list(shapes)
    if rows <= most and rows * len(names) <= _AT_ONCE:
        for batch in _batches(names, _COUNTED):
            table = opened.engine.fetch(opened.table.select(**{f"c{i}": name for i, name in enumerate(batch)}))
            for i, name in enumerate(batch):
                yield name, list(Counter(v for v in table[f"c{i}"].to_pylist() if v is not None).items())
        return
    for name in names:
        # Many values show what they are in fewer rows.
        cells = opened.table.select(s=name).limit(_MOST_ROWS if shapes[name].distinct <= few else most)
        cells = cells.filter(cells["s"].notnull())
        counted = opened.engine.fetch(cells.group_by("s").agg(n=cells.count()))
        yield name, list(zip(counted["s"].to_pylist(), counted["n"].to_pylist(), strict=True))


def _told(shape: Shape, cells: Iterable[tuple[str, int]]) -> Shape:
    """What the values look like, which words for nothing there are, and how values are spelt."""
    counts = dict.fromkeys(Label, 0)
    words: dict[str, None] = {}
    stored, length = 0, 0
    folded, digits = set(), set()
    for cell, n in cells:
        label = label_of(cell)
        counts[label] += n
        length += n * len(cell)
        if label is Label.NOTHING or label is Label.ANSWER:
            words[nothing_in(cell.strip()) or ""] = None
        elif label is not Label.EMPTY:
            stored += 1
            folded.add(hash(fold(cell, _CATEGORY)))
            digits.add(len(cell.strip()) if label in (Label.WHOLE, Label.COMPACT) and cell.strip().isdigit() else 0)
    nothing = counts.pop(Label.EMPTY) + counts.pop(Label.NOTHING)
    filled = sum(counts.values())
    every = nothing + filled >= shape.filled  # all were looked at: an exact count
    return replace(
        shape,
        distinct=stored + len(words) if every else max(stored + len(words), shape.distinct),
        labels={label: n / filled for label, n in counts.items() if n},
        nothing=nothing / (nothing + filled) if nothing else 0.0,
        length=length / max(nothing + filled, 1),
        words=tuple(sorted(words)),
        spellings=stored - len(folded),
        whole=Whole.NAMES if len(digits) == 1 and min(digits) >= _DIGITS else None,
    )
