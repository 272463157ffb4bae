"""How the cells of each column look, counted and never kept: how many are numbers, dates, codes, words for nothing.

All rows are counted once. What text looks like is read from at most a million rows, and from fewer where nearly every
row has another text: :attr:`Shapes.looked_at` says how many.

Dates in figures can be read in two ways until some value is above twelve. Where none is, the day is taken to come
first, which most of the world writes, and :attr:`Shape.unsure` says so. "1.234" alone is one and a bit, not a thousand:
an engine reads it so too. "1,234" alone is a thousand and more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..tables.engines import need_ibis
from ..tables.forms import As, Form, Order, as_read
from ..tables.open import OpenTable, reading
from .labels import ANSWERS, NOTHING, Label, label_of

__all__ = ["Shape", "Shapes", "shapes_of"]

_MOST_ROWS = 1_000_000
_MANY_ROWS = 200_000  # of a column of many values
_MOST_CELLS = 4_000_000  # cells of such columns that are looked at
_MOST_CELLS_SLOW = {"sqlite": 300_000, "postgres": 300_000}  # where matching patterns is slow
_FAST = frozenset(
    {"duckdb", "pyspark", "clickhouse", "snowflake", "bigquery", "databricks", "trino", "athena", "datafusion"}
)
_COUNTED = 120  # columns in one query
_MATCHED = 20
_FEW = 20_000  # values so few that all rows may be looked at
_CATEGORIES = 1_000  # values whose spelling is compared
#: All words for nothing, each in a place of its own, so that its place in this text says which it is.
_WORDS = (*NOTHING, *ANSWERS)
_WIDTH = max(map(len, _WORDS)) + 2
_PLACES = "".join(f"|{word.lower()}".ljust(_WIDTH, "|") for word in _WORDS)
_FIRST_WORD = 100


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
        cells = _MOST_CELLS_SLOW.get(opened.engine.kind, _MOST_CELLS)
        most = min(_MANY_ROWS, cells // max(len(text), 1) + 1)
        rows, columns = _counted(opened, plain, cheap)
        if tell is not None and text:
            tell("looking at the text")
        columns |= _labelled(opened, {name: columns[name] for name in text}, most)
    many = any(columns[name].distinct > _FEW for name in text)
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
            if not (column.type().is_boolean() or column.type().is_string()):  # text is counted again
                wanted[f"s{i}"] = column.min() != column.max()
            if column.type().is_integer():
                tenth = need_ibis().ifelse(column % 10 == 0, 1, 0)
                wanted |= {f"a{i}": column.min(), f"b{i}": column.max(), f"t{i}": tenth.sum()}
        got = _one(opened, table.aggregate(**wanted))
        rows = int(got["n"]) if rows is None else rows
        scale = 1.0 if most is None else rows / most
        for i, name in enumerate(batch):
            filled = min(round((got[f"f{i}"] or 0) * scale), rows)
            # The count of values is approximate; whether there are two is not.
            distinct = min(max(int(got[f"d{i}"] or 0), 2 if got.get(f"s{i}") else 0), filled)
            serial = _is_serial(
                distinct, got.get(f"a{i}"), got.get(f"b{i}"), int(got.get(f"t{i}") or 0) / max(got[f"f{i}"] or 0, 1)
            )
            made[name] = Shape(rows, filled, distinct, serial=serial)
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


def _labelled(opened: OpenTable, shapes: dict[str, Shape], most: int) -> dict[str, Shape]:
    """What the cells of each column of text look like, which words for nothing they are, and how values are spelt.

    Each value is looked at once, however many rows have it.
    """
    made = {}
    for batch in _batches(list(shapes), _MATCHED):
        found = opened.engine.fetch(_looked(opened.table, {name: shapes[name] for name in batch}, most)).to_pylist()
        for i, name in enumerate(batch):
            made[name] = _told(shapes[name], [row for row in found if row["i"] == i])
    return made


def _looked(table: Any, shapes: dict[str, Shape], most: int) -> Any:
    """A row for each label, and for each word for nothing, that a column has."""
    ibis = need_ibis()
    parts = []
    for i, (name, shape) in enumerate(shapes.items()):
        # Many values show what they are in fewer rows.
        cells = table.select(s=table[name]).limit(_MOST_ROWS if shape.distinct <= _FEW else most)
        cells = cells.filter(cells["s"].notnull())
        parts.append(cells.select("s", i=ibis.literal(i, "int64"), few=ibis.literal(shape.distinct <= _CATEGORIES)))
    cells = parts[0].union(*parts[1:]) if len(parts) > 1 else parts[0]
    values = cells.group_by("i", "few", "s").agg(n=cells.count())
    folded = as_read(values.mutate(r=values["s"]), {"r": Form(As.CATEGORY)})
    both = folded.mutate(r=ibis.ifelse(folded["few"], folded["r"], folded["s"].strip().lower()))
    both = both.mutate(k=label_of(both["s"]), length=both["s"].length() * both["n"])
    at = ibis.literal(_PLACES).find(ibis.literal("|") + both["r"] + "|")
    word = both["k"].isin([Label.NOTHING.value, Label.ANSWER.value]) & (at >= 0)
    both = both.mutate(k=ibis.ifelse(word, (at // _WIDTH).cast("int64") + _FIRST_WORD, both["k"].cast("int64")))
    return both.group_by("i", "few", "k").agg(
        n=both["n"].sum(), length=both["length"].sum(), stored=both["r"].count(), folded=both["r"].nunique()
    )


def _told(shape: Shape, found: list[dict[str, Any]]) -> Shape:
    words = tuple(_WORDS[k - _FIRST_WORD] for k in sorted(row["k"] for row in found) if k >= _FIRST_WORD)
    distinct = shape.distinct
    if shape.filled <= _MOST_ROWS and found and found[0]["few"]:  # all were looked at: an exact count
        held = [row for row in found if row["k"] not in (Label.EMPTY, Label.NOTHING)]
        distinct = sum(row["stored"] if row["k"] < _FIRST_WORD else row["folded"] for row in held)
    counts = dict.fromkeys(Label, 0)
    for row in found:
        k = row["k"]
        label = Label(k) if k < _FIRST_WORD else Label.NOTHING if _WORDS[k - _FIRST_WORD] in NOTHING else Label.ANSWER
        counts[label] += int(row["n"])
    nothing = counts.pop(Label.EMPTY) + counts.pop(Label.NOTHING)
    filled = sum(counts.values())
    return replace(
        shape,
        distinct=distinct,
        labels={label: n / filled for label, n in counts.items() if n},
        nothing=nothing / (nothing + filled) if nothing else 0.0,
        length=sum(int(row["length"]) for row in found) / max(nothing + filled, 1),
        words=words,
        # A cell of blanks is nothing in the reading, and no spelling of another value.
        spellings=sum(row["stored"] - row["folded"] for row in found if row["few"] and row["k"] < _FIRST_WORD),
    )
