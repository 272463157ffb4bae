r"""Columns of an open table: by name, as values every engine agrees on, as numbers; and their text parsed.

How the text of a column is parsed (as numbers, dates, categories) is part of the plan, under ``read``: it says which
texts are the same group and which are no value at all, and both change answers. Each parsing is a function of one cell,
the same on every engine:

* a *number*: currency and percent signs, blanks and apostrophes fall away, digits may be grouped, ``(12)`` and ``12-``
  are negative; what is left must be a number to the last sign, or the cell counts as empty;
* a *date*, which may be a whole number such as 20241231, becomes text as ``2024-12-31``, which sorts and compares as
  dates do; what stands after it, a time say, falls away; of years in two digits those up to 30 are after 2000;
* a *category* in small letters and a *code* in capitals, blanks at the ends gone and one blank inside for many;
* *text* as it stands: numbers that are names, say.

>>> from .table import open_table
>>> table = {"cost": ["8,841.70", "n/a", "(12)"], "ward": ["Eye ", "eye", "EAR"], "day": ["31/12/2023", "1/2/24", ""]}
>>> forms = {
...     "cost": ColumnFormat(ParsedType.NUMBER, empty=("N/A",)),
...     "ward": ColumnFormat(ParsedType.CATEGORY),
...     "day": ColumnFormat(ParsedType.DATE, order=DateOrder.DAY_FIRST),
... }
>>> with open_table(table) as opened:
...     opened.engine.fetch(parse_columns(opened.table, forms)).to_pydict()
{'cost': [8841.7, None, -12.0], 'ward': ['eye', 'eye', 'ear'], 'day': ['2023-12-31', '2024-02-01', None]}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array
from ...errors import InputError
from .dialect import ibis, is_nan, name_of, normalized_values
from .row_limit import hash_key, place_items
from .table import open_table

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

MOST_PEOPLE = 10_000_000


def column_of(table: ir.Table, name: object, role: str, parameter: str | None = None) -> ir.Column:
    """The column of that exact name, or a sentence that suggests the closest.

    >>> import ibis
    >>> column_of(ibis.table({"education": "string"}, name="t"), "Education", "quasi_identifiers")
    Traceback (most recent call last):
    epsilens.errors.InputError: quasi_identifiers has 'Education', which is not a column of the table (did you mean 'education'?)
    """  # noqa: E501 - the message is one sentence, on one line
    columns = list(table.columns)
    if isinstance(name, str) and name in columns:
        return table[name]
    same = [c for c in columns if c.casefold() == str(name).casefold()]
    close = same or get_close_matches(str(name), columns, n=1, cutoff=0.5)
    shown = ", ".join(map(repr, columns[:8])) + (", …" if len(columns) > 8 else "")
    hint = f"did you mean {close[0]!r}?" if close else f"its columns are {shown}"
    raise InputError(f"{role} has {name!r}, which is not a column of the table ({hint})", parameter=parameter or role)


def is_simple(kind: dt.DataType) -> bool:
    """Whether values of this type can be compared, counted and hashed on every engine."""
    texts_and_numbers = kind.is_string() or kind.is_boolean() or kind.is_numeric()
    return bool(texts_and_numbers or kind.is_date() or kind.is_timestamp() or kind.is_time())


def value_of(column: ir.Column, role: str) -> ir.Column:
    """The column as a value an attacker can know, the same on every engine.

    NULL is a value of its own ("nothing recorded" is knowledge too). NaN becomes NULL and −0 becomes 0, because
    engines disagree on whether they equal themselves; times with a zone become those of UTC. Lists, structs, maps and
    bytes are refused.
    """
    name, column = column.get_name(), normalized_values(column)
    kind = column.type()
    if kind.is_floating():
        return ibis.ifelse(is_nan(column), ibis.null(kind), column) + 0.0
    if kind.is_null():
        return ibis.null("string")
    if kind.is_uuid() or kind.is_interval():
        return column.cast("string")
    if is_simple(kind):
        return column
    raise InputError(
        f"{role} has {name!r} of type {kind}: give columns of text, numbers, booleans or dates, "
        "or derive one from it first",
        parameter=role,
    )


def numbers_of(data: object, column: str, *, person: str | None = None, engine: object = None) -> Array:
    """The column's numbers, one a row, or with ``person`` the sum of each person's rows; empty ones are left out.

    >>> numbers_of({"age": [30, None, 31]}, "age").tolist()
    [30.0, 31.0]
    """
    with open_table(data, engine) as opened:
        table = opened.table
        values = value_of(column_of(table, column, "column"), "column")
        if not values.type().is_numeric():
            raise InputError(f"column is {column!r} of type {values.type()}: give a column of numbers", "column")
        made = {"x": values.cast("float64")}
        if person is not None:
            made["p"] = value_of(column_of(table, person, "person"), "person")
        rows = table.select(**made)
        rows = rows.filter(rows["x"].notnull())
        if person is not None:
            rows = rows.group_by("p").agg(x=rows["x"].sum()).select("x")
        got = opened.engine.fetch(rows.select("x").limit(MOST_PEOPLE + 1))
    if got.num_rows > MOST_PEOPLE:
        raise InputError(
            f"table has more than {MOST_PEOPLE:,} people: give n and the range of their values instead", "table"
        )
    numbers = np.asarray(got.column("x").to_numpy(), dtype=float)
    if numbers.size < 2:
        raise InputError(
            f"column is {column!r} with {numbers.size} values: give a column with two people or more", "column"
        )
    return numbers


def count_people_once(base: ir.Table, groups: dict[int, int]) -> ir.Table:
    """One row a person: for each query i whether they count (``m{i}``) and in which groups (``g{i}_j``).

    ``groups`` maps a query's number to how many columns it is split by. Someone in several groups of a query counts in
    the one with the smallest hash (:mod:`.row_limit`), so that one person moves the counts by one.
    """
    people = joined = base.select("p").distinct()
    made = {"p": people["p"]}
    for i, columns in groups.items():  # one chain of joins: engines read only so many tables within tables
        keys = [f"g{i}_{j}" for j in range(columns)]
        own = base.filter(base[f"m{i}"]).select("p", *keys, f"m{i}").distinct()
        own = own.mutate(hash_=hash_key(own, ["p", *keys]))
        once = place_items(own, {"place_": own[f"m{i}"]}, ["hash_", *keys])
        first = once.filter(once["place_"] == 1)
        first = first.select(**{f"p_{i}": first["p"]}, **{key: first[key] for key in keys})
        joined = joined.left_join(first, people["p"] == first[f"p_{i}"])
        made |= {f"m{i}": first[f"p_{i}"].notnull(), **{key: first[key] for key in keys}}
    return joined.select(**made)


class ParsedType(StrEnum):
    """What the text becomes."""

    NUMBER = "number"
    DATE = "date"
    CATEGORY = "category"
    CODE = "code"
    TEXT = "text"


class DateOrder(StrEnum):
    """How a date is written."""

    DAY_FIRST = "day month year"
    MONTH_FIRST = "month day year"
    YEAR_FIRST = "year month day"


@dataclass(frozen=True)
class ColumnFormat:
    """How a column's text is to be read.

    ``decimal`` is the sign before the fraction of a number: with "." commas, blanks and apostrophes only group digits,
    with "," points do. ``empty`` are texts that stand for no value, in any capitals.
    """

    kind: ParsedType
    decimal: str = "."
    order: DateOrder = DateOrder.YEAR_FIRST
    empty: tuple[str, ...] = ()


#: Blanks of all kinds that tables have. Spelt out: engines disagree on what a class of characters holds.
_BLANK = " \t\n\r\x0b\x0c\u00a0\u202f\u2007\ufeff"
_MONEY = r"€$£¥₹₽₺₩₴%'’"
_CURRENCIES = (
    "[A-Z]{1,2}[$]|S/[.]?|RM|Kč|Ft|лв[.]?|kr[.]?|zł|Fr[.]|Rs[.]?|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR, _MONTH, _DAY = "([0-9]{4}|[0-9]{2})", "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
_BETWEEN, _AFTER = "[-/., ]+", "([Tt ,].*)?$"
#: For each order the pattern, and which of its parts are year, month and day.
_DATES = {
    DateOrder.YEAR_FIRST: (f"^([0-9]{{4}}){_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_AFTER}", (1, 2, 3)),
    DateOrder.DAY_FIRST: (f"^{_DAY}{_BETWEEN}{_MONTH}{_BETWEEN}{_YEAR}{_AFTER}", (3, 2, 1)),
    DateOrder.MONTH_FIRST: (f"^{_MONTH}{_BETWEEN}{_DAY}{_BETWEEN}{_YEAR}{_AFTER}", (3, 1, 2)),
}
#: Capitals beyond A–Z whose small letter is one character: servers with a plain locale know none of them.
_CAPITALS = "".join(c for c in map(chr, range(0xC0, 0x530)) if c.lower() != c and len(c.lower()) == 1)
_SMALL = _CAPITALS.lower()


def parse_columns(table: ir.Table, forms: Mapping[str, ColumnFormat], role: str = "read") -> ir.Table:
    """The table with these columns read as their forms say."""
    return table.mutate(**{name: _parsed(column_of(table, name, role), form) for name, form in forms.items()})


def count_unparsed(table: ir.Table, forms: Mapping[str, ColumnFormat]) -> ir.Table:
    """One row that counts, for each column, the values that its form leaves out though something is recorded."""
    counts = {}
    for name, form in forms.items():
        column = column_of(table, name, "read", "data.read")
        left = _parsed(column, form).isnull() & _is_recorded(column, form)
        counts[name] = ibis.ifelse(left, 1, 0).sum()
    return table.aggregate(**counts)


def normalize_text(text: str, form: ColumnFormat) -> str:
    """A text that somebody wrote beside the table, as a column of that form has it.

    >>> normalize_text(" Eye  Ward", ColumnFormat(ParsedType.CATEGORY))
    'eye ward'
    >>> normalize_text("f32.1", ColumnFormat(ParsedType.CODE)), normalize_text("Eye", ColumnFormat(ParsedType.TEXT))
    ('F32.1', 'Eye')
    """
    if form.kind not in _FOLDED:
        return text
    plain = re.sub(f"[{_BLANK}]+", " ", text).strip(" ")
    return plain.lower() if form.kind is ParsedType.CATEGORY else plain.upper()


def _parsed(column: ir.Column, form: ColumnFormat) -> ir.Value:
    kind = column.type()
    if form.kind is ParsedType.DATE and kind.is_integer():  # 20240131
        column, kind = column.cast("string"), column.cast("string").type()
    if form.kind is ParsedType.NUMBER and kind.is_numeric() and not kind.is_boolean():
        return column
    if form.kind is ParsedType.DATE and (kind.is_date() or kind.is_timestamp()):
        return column if kind.is_date() else column.date()
    if not kind.is_string():
        whole = kind.is_integer() or kind.is_boolean() or kind.is_date()
        if form.kind in (ParsedType.NUMBER, ParsedType.DATE) or not whole:
            raise InputError(
                f"read has {column.get_name()!r} as {form.kind}, but it is {kind}: leave it out, or read it as "
                f"{'text' if whole else 'it is'}",
                parameter="read",
            )
        return column.cast("string")
    return ibis.ifelse(_is_recorded(column, form), _READERS[form.kind](column, form), None)


def _is_recorded(column: ir.Column, form: ColumnFormat) -> ir.BooleanValue:
    """Whether something is recorded: not nothing, not blanks, none of the words for nothing."""
    if not column.type().is_string():
        return column.notnull()
    text = _lower(_collapse_blanks(column))
    words = ["", *(normalize_text(word, ColumnFormat(ParsedType.CATEGORY)) for word in form.empty)]
    return column.notnull() & ~text.isin(words)


def _collapse_blanks(text: ir.StringValue) -> ir.StringValue:
    """The text without blanks at its ends, and one blank inside for many."""
    return text.re_replace(f"[{_BLANK}]+", " ").re_replace("^ | $", "")


def _parse_number(column: ir.StringValue, form: ColumnFormat) -> ir.FloatingValue:
    text = _collapse_blanks(column)
    grouping = "," if form.decimal == "." else "."
    point = f"[{form.decimal}]"
    bare = text.re_replace(f"{_CURRENCIES}|[{_BLANK}{_MONEY}]", "").replace("−", "-")
    digits = f"([0-9]+|[0-9]{{1,3}}([{grouping}][0-9]{{2,3}})+)({point}[0-9]*)?|{point}[0-9]+"
    fits = bare.re_search(f"^[(]?[-+]?({digits})([eE][-+]?[0-9]{{1,3}})?[)]?-?$")
    negative = bare.re_search("^[(]?-|^[(].*[)]$|-$")
    size = bare.replace(grouping, "").replace(form.decimal, ".").re_replace("^[(]?[-+]?|[)]?-?$", "")
    # Text that is no number must not reach the cast: on some engines it ends the query, with the cell in the message.
    value = ibis.ifelse(fits, size, ibis.null("string")).cast("float64")
    return ibis.ifelse(negative, -value, value)


def _parse_date(column: ir.StringValue, form: ColumnFormat) -> ir.StringValue:
    text = _numeric_date(_collapse_blanks(column))
    pattern, places = _DATES[form.order]
    year, month, day = (text.re_extract(pattern, place) for place in places)
    after_2000 = year.re_search("^([0-2][0-9]|30)$")
    century = ibis.ifelse(year.length() == 4, "", ibis.ifelse(after_2000, "20", "19"))
    iso = century + year + "-" + month.lpad(2, "0") + "-" + day.lpad(2, "0")
    return ibis.ifelse(text.re_search(pattern), iso, ibis.null("string"))


def _numeric_date(text: ir.StringValue) -> ir.StringValue:
    """A date whose month has a name, or whose digits have nothing between them, as one of digits and hyphens."""
    named = text.lower()
    for i, month in enumerate(_MONTHS, start=1):
        named = named.re_replace(f"{month}[a-z]*[.]?", f"{i:02d}")
    apart = text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2)
    text = ibis.ifelse(text.re_search("[A-Za-z]"), named, text)
    return ibis.ifelse(text.re_search("^[0-9]{8}$"), apart, text)


def _lower(text: ir.StringValue) -> ir.StringValue:
    return _change_case(text.lower(), _CAPITALS, _SMALL, str.lower)


def _upper(text: ir.StringValue) -> ir.StringValue:
    return _change_case(text.upper(), _SMALL, _CAPITALS, str.upper)


def _change_case(text: ir.StringValue, before: str, after: str, python: Callable[[str], str]) -> ir.StringValue:
    """The letters that the engine's own function may leave as they are."""
    engine = name_of(text)
    if engine == "postgres":  # its locale decides
        return text.translate(before, after)
    if engine == "sqlite":  # knows A–Z alone

        @ibis.udf.scalar.python(name=f"epsilens_{python.__name__}", signature=((str,), str))  # type: ignore[untyped-decorator]
        def letters(value: str) -> str:
            return python(value)

        return letters(text)
    return text


_READERS: dict[ParsedType, Callable[[ir.StringValue, ColumnFormat], ir.Value]] = {
    ParsedType.NUMBER: _parse_number,
    ParsedType.DATE: _parse_date,
    ParsedType.CATEGORY: lambda column, form: _lower(_collapse_blanks(column)),
    ParsedType.CODE: lambda column, form: _upper(_collapse_blanks(column)),
    ParsedType.TEXT: lambda column, form: column,
}
_FOLDED = (ParsedType.CATEGORY, ParsedType.CODE)
