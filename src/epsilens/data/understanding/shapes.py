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
from enum import IntEnum
from typing import Any

from ..tables.engines import need_ibis
from ..tables.forms import As, Form, Order, as_read
from ..tables.open import OpenTable, reading

__all__ = ["ANSWERS", "NOTHING", "Label", "Shape", "Shapes", "shapes_of"]

#: What people write where nothing is recorded. In any capitals, with any blanks around.
NOTHING = (
    "N/A", "NA", "n.a.", "n.a", "#N/A", "#NA", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "null", "NaN", "NaT", "<NA>",
    "(null)", "\\N", "-", "--", "---", "–", "—", "_", ".", "..", "...", "?", "??", "/", "*", "missing", "(missing)",
    "not available", "not applicable", "not recorded", "no data", "no value", "empty", "(empty)", "blank", "(blank)",
    "tbd", "k.A.", "k. A.", "kA", "keine Angabe", "s/o", "s.o.", "sans objet", "non renseigné", "NR", "ND", "n.d.",
    "s/d", "sin dato", "sin datos", "n.v.t.", "nvt", "n.b.", "s.d.", "nessun dato", "sem dados",
)  # fmt: skip
#: What is nothing in a column of numbers or dates, and an answer in a column of words.
ANSWERS = (
    "none", "nil", "unknown", "unk", "unbekannt", "inconnu", "desconocido", "sconosciuto", "onbekend", "desconhecido",
    "keine", "not known", "xx", "xxx", "refused", "prefer not to say", "declined", "undisclosed", "pending",
    "not done", "not tested",
)  # fmt: skip

_MOST_ROWS = 1_000_000
_MOST_CELLS = 10_000_000  # cells of text that are looked at
_MOST_CELLS_SLOW = 2_000_000  # on engines that match patterns slowly
_FAST = frozenset(
    {"duckdb", "pyspark", "clickhouse", "snowflake", "bigquery", "databricks", "trino", "athena", "datafusion"}
)
_COUNTED = 120  # columns in one query
_MATCHED = 30
_FEW = 5_000  # values that may be counted exactly

_SIGN = "[-+−]?"
_CURRENCY = "([$€£¥₹₽₺₩]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|kr|zł|Fr[.]|Rs)?"
_GAP = "[ \u00a0\u202f]?"
_BEFORE = f"^[(]?{_GAP}{_SIGN}{_GAP}{_CURRENCY}{_GAP}{_SIGN}"
_AFTER = f"{_GAP}%?{_GAP}{_CURRENCY}-?[)]?$"
_BLANKS = "[ '’\u00a0\u202f]"
_CLOCK = "([ T,]+[0-9]{1,2}[:.][0-9].*)?$"
_BETWEEN = "[-/. ]+"
_YEAR = "([0-9]{4}|[0-9]{2})"
_MONTH, _BEYOND, _DAY = "(0?[1-9]|1[0-2])", "(1[3-9]|2[0-9]|3[01])", "(0?[1-9]|[12][0-9]|3[01])"
_NAMED = "([Jj][Aa][Nn]|[Ff][Ee][Bb]|[Mm][Aa][Rr]|[Aa][Pp][Rr]|[Mm][Aa][Yy]|[Jj][Uu][Nn]|[Jj][Uu][Ll]|[Aa][Uu][Gg]|[Ss][Ee][Pp]|[Oo][Cc][Tt]|[Nn][Oo][Vv]|[Dd][Ee][Cc])[A-Za-z]*[.]?"  # noqa: E501


class Label(IntEnum):
    """What one cell of text looks like."""

    EMPTY = 0
    NOTHING = 1
    WORDS = 2  # no digit, three words at most
    LONG = 3  # four words or more
    ZEROS = 4  # digits that begin with zero: 01234
    WHOLE = 5
    POINT = 6  # surely a decimal point: 8,841.70 and 0.5
    COMMA = 7  # surely a decimal comma: 8.841,70 and 0,5
    ONE_POINT = 8  # 1.234
    ONE_COMMA = 9  # 1,234
    YEAR_FIRST = 10
    DAY_FIRST = 11
    MONTH_FIRST = 12
    EITHER_FIRST = 13  # 01/02/2024
    COMPACT = 14  # 20240131
    CODE = 15  # digits among letters, one word
    OTHER = 16
    ANSWER = 17  # "unknown": nothing among numbers, an answer among words


NUMBERS = (Label.WHOLE, Label.POINT, Label.COMMA, Label.ONE_POINT, Label.ONE_COMMA, Label.COMPACT)
DATES = (Label.YEAR_FIRST, Label.DAY_FIRST, Label.MONTH_FIRST, Label.EITHER_FIRST, Label.COMPACT)


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
        cells = _MOST_CELLS if cheap else _MOST_CELLS_SLOW
        most = min(_MOST_ROWS, cells // max(len(text), 1) + 1)
        rows = _rows(opened)
        columns = _counted(opened, plain, rows, None if cheap or rows <= _MOST_ROWS else _MOST_ROWS)
        if tell is not None and text:
            tell("looking at the text")
        columns |= _labelled(opened, text, columns, most)
        columns |= _worded(opened, columns, most)
        columns |= _spelled(opened, columns, most)
    return Shapes(rows, min(rows, most) if text else rows, columns)


def is_plain(kind: Any) -> bool:
    """Whether values of this type can be counted on every engine."""
    simple = kind.is_string() or kind.is_integer() or kind.is_boolean() or kind.is_floating() or kind.is_decimal()
    return bool(simple or kind.is_date() or kind.is_timestamp() or kind.is_time() or kind.is_uuid())


def _batches(names: list[str], size: int) -> Iterator[list[str]]:
    yield from (names[i : i + size] for i in range(0, len(names), size))


def _one(opened: OpenTable, expression: Any) -> dict[str, Any]:
    return dict(opened.engine.fetch(expression).to_pylist()[0])


def _rows(opened: OpenTable) -> int:
    return int(_one(opened, opened.table.aggregate(n=opened.table.count()))["n"])


def _counted(opened: OpenTable, names: list[str], rows: int, most: int | None) -> dict[str, Shape]:
    """Filled cells and values of each column, of all rows or of ``most`` where counting values is slow."""
    made = {}
    for batch in _batches(names, _COUNTED):
        table = opened.table.select(
            **{f"c{i}": _value(opened.table[name], opened.engine.kind) for i, name in enumerate(batch)}
        )
        table = table if most is None else table.limit(most)
        wanted = {f"d{i}": table[f"c{i}"].approx_nunique() for i in range(len(batch))}
        wanted |= {f"f{i}": table[f"c{i}"].count() for i in range(len(batch))}
        got = _one(opened, table.aggregate(**wanted))
        scale = 1.0 if most is None else rows / most
        for i, name in enumerate(batch):
            filled = min(round((got[f"f{i}"] or 0) * scale), rows)
            made[name] = Shape(rows, filled, min(int(got[f"d{i}"] or 0), filled))
    return made


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
        cells = opened.table.select(**{f"s{i}": opened.table[name].strip() for i, name in enumerate(batch)})
        wanted = {f"k{i}": _label(cells[f"s{i}"]) for i in range(len(batch))}
        wanted |= {f"l{i}": cells[f"s{i}"].length() for i in range(len(batch))}
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


def _label(cell: Any) -> Any:
    """One number for what a cell looks like; the first that fits, and NULL for NULL."""
    ibis = need_ibis()
    lower = cell.lower()

    def like(pattern: str) -> Any:
        return cell.re_search(pattern)

    def number(body: str) -> Any:
        return like(f"{_BEFORE}({body}){_AFTER}")

    def date(first: str, second: str) -> Any:
        return like(f"^{first}{_BETWEEN}{second}{_BETWEEN}{_YEAR}{_CLOCK}")

    group, three = "[0-9]{1,3}", "[0-9]{3}"
    compact = "^(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])$"
    year_first = f"^[0-9]{{4}}{_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}([ T,]+[0-9].*)?$"
    named = f"^{_DAY}{_BETWEEN}{_NAMED},?{_BETWEEN}{_YEAR}{_CLOCK}"
    named_first = f"^{_NAMED}{_BETWEEN}{_DAY},? +{_YEAR}{_CLOCK}"
    point = f"{group}(,[0-9]{{2,3}})+[.][0-9]*|{group}(,{three}){{2,}}|{group}({_BLANKS}{three})+[.][0-9]*"
    point += "|[0-9]+[.][0-9]*[eE][-+]?[0-9]+|0*[.][0-9]*|[0-9]+[.]([0-9]{0,2}|[0-9]{4,})|[0-9]{4,}[.][0-9]*"
    comma = f"{group}([.]{three})+,[0-9]*|{group}([.]{three}){{2,}}|{group}({_BLANKS}{three})+,[0-9]*"
    comma += "|0*,[0-9]*|[0-9]+,([0-9]{1,2}|[0-9]{4,})|[0-9]{4,},[0-9]*"
    return ibis.cases(
        (cell.isnull(), ibis.null("int8")),
        (cell == "", Label.EMPTY.value),
        (lower.isin(sorted({word.lower() for word in NOTHING})), Label.NOTHING.value),
        (lower.isin(sorted({word.lower() for word in ANSWERS})), Label.ANSWER.value),
        (like("[^ ] +[^ ]+ +[^ ]+ +[^ ]") & ~like(f"^[0-9]|^{_NAMED}"), Label.LONG.value),
        (~like("[0-9]"), Label.WORDS.value),
        (like("^0[0-9]+$"), Label.ZEROS.value),
        (like(compact), Label.COMPACT.value),
        (number(f"[0-9]+|{group}({_BLANKS}{three})+"), Label.WHOLE.value),
        (number(f"{group}[.]{three}") & ~number(f"0[.]{three}"), Label.ONE_POINT.value),
        (number(f"{group},{three}") & ~number(f"0,{three}"), Label.ONE_COMMA.value),
        (number(point), Label.POINT.value),
        (number(comma), Label.COMMA.value),
        (like(year_first), Label.YEAR_FIRST.value),
        (date(_BEYOND, _MONTH) | like(named), Label.DAY_FIRST.value),
        (date(_MONTH, _BEYOND) | like(named_first), Label.MONTH_FIRST.value),
        (date(_MONTH, _MONTH), Label.EITHER_FIRST.value),
        (like("[^ ] +[^ ]+ +[^ ]+ +[^ ]"), Label.LONG.value),
        (~like("[^ ] +[^ ]"), Label.CODE.value),
        else_=Label.OTHER.value,
    )


def _worded(opened: OpenTable, shapes: dict[str, Shape], most: int) -> dict[str, Shape]:
    """Which words for nothing stand in the columns that have some."""
    names = [name for name, shape in shapes.items() if shape.nothing > 0 or shape.share(Label.ANSWER) > 0]
    words = {f"w{j}": word for j, word in enumerate((*NOTHING, *ANSWERS))}
    made = {}
    for batch in _batches(names, _MATCHED // 2):
        table = opened.table.select(**{f"s{i}": opened.table[n].strip().lower() for i, n in enumerate(batch)}).limit(
            most
        )
        ibis = need_ibis()
        met = {
            f"{w}_{i}": ibis.ifelse(table[f"s{i}"] == word.lower(), 1, 0).max()
            for i in range(len(batch))
            for w, word in words.items()
        }
        got = _one(opened, table.aggregate(**met))
        for i, name in enumerate(batch):
            found = [word for w, word in words.items() if got[f"{w}_{i}"]]
            made[name] = replace(shapes[name], words=tuple(found))
    return made


def _spelled(opened: OpenTable, shapes: dict[str, Shape], most: int) -> dict[str, Shape]:
    """How many values of the columns with few of them differ from another only in capitals or blanks."""
    names = [name for name, shape in shapes.items() if shape.labels and 2 <= shape.distinct <= _FEW]
    made = {}
    for batch in _batches(names, _MATCHED):
        stored = opened.table.select(**{f"s{i}": opened.table[name] for i, name in enumerate(batch)})
        both = stored.mutate(**{f"r{i}": stored[f"s{i}"] for i in range(len(batch))})
        both = as_read(both, {f"r{i}": Form(As.CATEGORY) for i in range(len(batch))}).limit(most)
        wanted = {}
        for i in range(len(batch)):
            # A cell of blanks is nothing in the reading, and no spelling of another value.
            wanted[f"a{i}"] = both[f"s{i}"].nunique(where=both[f"r{i}"].notnull())
            wanted[f"b{i}"] = both[f"r{i}"].nunique()
        got = _one(opened, both.aggregate(**wanted))
        for i, name in enumerate(batch):
            made[name] = replace(shapes[name], spellings=max(int(got[f"a{i}"] or 0) - int(got[f"b{i}"] or 0), 0))
    return made
