"""How the cells of each column look, counted and never kept: how many are numbers, dates, codes, words for nothing.

All rows are counted once. What text looks like is read from at most a million rows, and from fewer where there are many
columns of text: :attr:`Shapes.looked_at` says how many.

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
from .labels import ANSWERS, DATES, NOTHING, NUMBERS, Label, label_of

__all__ = ["Shape", "Shapes", "shapes_of"]

_MOST_ROWS = 1_000_000
_MOST_CELLS = 10_000_000  # cells of text that are looked at
_MOST_CELLS_SLOW = 2_000_000  # on engines that match patterns slowly
_FAST = frozenset(
    {"duckdb", "pyspark", "clickhouse", "snowflake", "bigquery", "databricks", "trino", "athena", "datafusion"}
)
_COUNTED = 120  # columns in one query
_MATCHED = 30
_FEW = 5_000  # values that may be counted exactly


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
    def has_words(self) -> bool:
        """Whether words for nothing were met."""
        return self.nothing > 0 or self.share(Label.ANSWER) > 0

    @property
    def is_worded(self) -> bool:
        """Whether it has few values, and these are words or codes."""
        return bool(self.labels) and 2 <= self.distinct <= _FEW and self.share(*NUMBERS, *DATES) < 0.5

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
        cells = _MOST_CELLS if cheap else _MOST_CELLS_SLOW
        most = min(_MOST_ROWS, cells // max(len(text), 1) + 1)
        rows, columns = _counted(opened, plain, cheap)
        if tell is not None and text:
            tell("looking at the text")
        columns |= _labelled(opened, text, columns, most)
        columns |= _detailed(opened, columns, most)
    return Shapes(rows, min(rows, most) if text else rows, columns)


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
            if column.type().is_integer():
                tens = need_ibis().ifelse(column % 10 == 0, 1, 0).mean()
                wanted |= {f"a{i}": column.min(), f"b{i}": column.max(), f"t{i}": tens}
        got = _one(opened, table.aggregate(**wanted))
        rows = int(got["n"]) if rows is None else rows
        scale = 1.0 if most is None else rows / most
        for i, name in enumerate(batch):
            filled = min(round((got[f"f{i}"] or 0) * scale), rows)
            distinct = min(int(got[f"d{i}"] or 0), filled)
            serial = _is_serial(distinct, got.get(f"a{i}"), got.get(f"b{i}"), got.get(f"t{i}"))
            made[name] = Shape(rows, filled, distinct, serial=serial)
    return rows or 0, made


def _is_serial(distinct: int, low: int | None, high: int | None, tens: float | None) -> bool:
    """Whole numbers given out one after the other, or all of one length; amounts are often round."""
    if low is None or high is None or low < 0 or float(tens or 0.0) > 0.2:
        return False
    one_length = low > 9999 and len(str(low)) == len(str(high))
    return one_length or distinct >= 0.4 * (high - low + 1)


def _value(column: Any, engine: str) -> Any:
    """The column; not a number is no number, and what engines cannot count is counted as text."""
    kind = column.type()
    if kind.is_floating() and engine != "sqlite":  # which has no such number
        return need_ibis().ifelse(column.isnan(), need_ibis().null(kind), column)
    return column.cast("string") if kind.is_time() or kind.is_uuid() else column


def _labelled(opened: OpenTable, names: list[str], shapes: dict[str, Shape], most: int) -> dict[str, Shape]:
    """What the cells of each column of text look like."""
    made = {}
    for batch in _batches(names, _MATCHED):
        cells = opened.table
        wanted = {f"k{i}": label_of(cells[name]) for i, name in enumerate(batch)}
        wanted |= {f"l{i}": cells[name].length() for i, name in enumerate(batch)}
        # The limit comes last: engines then compute each label once instead of once for each time it is used.
        table = cells.select(**wanted).limit(most)
        sums = {
            f"n{i}_{label.value}": need_ibis().ifelse(table[f"k{i}"] == label.value, 1, 0).sum()
            for i in range(len(batch))
            for label in Label
        }
        lengths = {f"m{i}": table[f"l{i}"].mean() for i in range(len(batch))}
        got = _one(opened, table.aggregate(**sums, **lengths))
        for i, name in enumerate(batch):
            counts = {label: int(got[f"n{i}_{label.value}"] or 0) for label in Label}
            nothing = counts.pop(Label.EMPTY) + counts.pop(Label.NOTHING)
            held = sum(counts.values())
            labels = {label: n / held for label, n in counts.items() if n}
            share = nothing / (nothing + held) if nothing else 0.0
            made[name] = replace(shapes[name], labels=labels, nothing=share, length=float(got[f"m{i}"] or 0.0))
    return made


def _detailed(opened: OpenTable, shapes: dict[str, Shape], most: int) -> dict[str, Shape]:
    """Which words for nothing were met, and how many values differ from another only in capitals or blanks."""
    ibis = need_ibis()
    words = {f"w{j}": word for j, word in enumerate((*NOTHING, *ANSWERS))}
    made = {}
    for batch in _batches([n for n, shape in shapes.items() if shape.has_words or shape.is_worded], _MATCHED // 2):
        stored = opened.table.select(**{f"s{i}": opened.table[name] for i, name in enumerate(batch)})
        both = stored.mutate(**{f"r{i}": stored[f"s{i}"] for i in range(len(batch))})
        both = as_read(both, {f"r{i}": Form(As.CATEGORY) for i in range(len(batch))}).limit(most)
        wanted: dict[str, Any] = {}
        for i, name in enumerate(batch):
            if shapes[name].is_worded:
                # A cell of blanks is nothing in the reading, and no spelling of another value.
                wanted[f"a{i}"] = both[f"s{i}"].nunique(where=both[f"r{i}"].notnull())
                wanted[f"b{i}"] = both[f"r{i}"].nunique()
            if shapes[name].has_words:
                wanted |= {
                    f"{w}_{i}": ibis.ifelse(both[f"r{i}"] == word.lower(), 1, 0).max() for w, word in words.items()
                }
        got = _one(opened, both.aggregate(**wanted))
        for i, name in enumerate(batch):
            met = tuple(word for w, word in words.items() if got.get(f"{w}_{i}"))
            spellings = max((got.get(f"a{i}") or 0) - (got.get(f"b{i}") or 0), 0)
            made[name] = replace(shapes[name], words=met, spellings=spellings)
    return made
