r"""Which of an owner's rows or groups are kept where a plan allows only so many: those with the smallest keyed hash.

The choice must not look at values or names in any order (the smallest values, the first names are a biased part of the
table), must depend on the owner's own rows alone (or one person's rows would move another's), and must be the same on
every engine and in every run. So each item (a row, a group, a person of a household) gets the number

.. math:: h = \text{the first 60 bits of md5}(\text{key} ⋅ \text{owner} ⋅ \text{content})

and of those a query covers, the ones with the smallest h are kept. ``content`` is a text that engines agree on
(:func:`canonical_text`). Rows of an owner that are equal in all of it are interchangeable, and numbered: the second has
a 1 at the end of its content. The columns that tell a secret are no part of it: which rows another query keeps must not
change with them. The key is public and was fixed before any data: what is kept is no secret, only nobody's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .dialect import as_integer, ibis, md5, name_of

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

#: Fixed once; another key would keep other rows, no better and no worse ones.
KEY = "epsilens 2026"
#: Whose a row is, and its place in the order, beside the table's own columns, whatever these are called.
OWNER, HASH = "epsilens owner", "epsilens hash"
#: Between the parts of a hashed text, and where nothing is recorded.
_BETWEEN, _NOTHING = "\x1f", "\x1e"
_DIGITS = 15  # hexadecimal: 60 bits, which fit a signed 64-bit integer
_STEP = 2.0**62
_LAST = 2**31 - 1  # after every place


def canonical_text(column: ir.Column) -> ir.StringValue:
    """The column as text, the same on every engine; NULL is a text of its own.

    Engines write floating numbers differently, so these are cut into whole numbers of 1 and of 2^-62, each step exact:
    1.5 is ``1 2305843009213693952``. Numbers that differ beyond that, above 10^18 or below 10^-18, have the same text,
    and so have times within a second: :func:`distinct_row_hashes` tells them apart.
    """
    kind = column.type()
    if kind.is_string():
        text = column
    elif kind.is_boolean():
        text = as_integer(column).cast("string")
    elif kind.is_date():
        text = _day(column)
    elif kind.is_timestamp():
        text = _day(column) + _second(column)
    elif kind.is_time():
        text = _second(column)
    elif kind.is_floating() or kind.is_decimal():
        text = _digits(column.cast("float64"))
    else:
        text = column.cast("string")
    return text.fill_null(_NOTHING)


def _day(column: ir.Column) -> ir.StringValue:
    return (column.year() * 10_000 + column.month() * 100 + column.day()).cast("string")


def _second(column: ir.Column) -> ir.StringValue:
    seconds = column.second().cast("int64")  # Spark's has decimals
    return (10**6 + column.hour() * 10_000 + column.minute() * 100 + seconds).cast("string")


def _digits(x: ir.FloatingValue) -> ir.StringValue:
    size = ibis.least(x.abs(), ibis.literal(_STEP))
    whole = size.floor()
    sign = ibis.ifelse(x < 0, "-", "")
    text = sign + whole.cast("string") + " " + ((size - whole) * _STEP).floor().cast("string")
    return ibis.ifelse(x.isnull(), ibis.null("string"), text)  # least takes NULL for the larger one


def hash_key(table: ir.Table, columns: Sequence[str]) -> ir.Value:
    """The key to sort by: the hash of these columns of the table, in this order.

    DuckDB sorts a number in a third of the memory that a text takes; the digits of either are in the same order.
    """
    text = ibis.literal(KEY)
    for name in columns:
        text = text + _BETWEEN + canonical_text(table[name])
    digits = md5(text).substr(0, _DIGITS)
    return (ibis.literal("0x") + digits).cast("int64") if name_of(text) == "duckdb" else digits


def distinct_row_hashes(rows: ir.Table, content: Sequence[str], beside: Sequence[str] = ()) -> ir.Table:
    """The rows of an :data:`OWNER` with their :data:`HASH`, which differs for all of them, also for equal ones.

    ``beside`` are columns that are no part of the content (those that tell a secret): of rows with the same content
    they only say which is numbered first, so that whoever does not look at them sees the same rows kept whatever they
    hold.
    """
    first, second, number = "epsilens first", "epsilens second", "epsilens number"
    placed = rows.mutate(**{first: hash_key(rows, [OWNER, *content])})
    if beside:
        placed = placed.mutate(**{second: hash_key(placed, [OWNER, *beside])})
    # Rows with the same hashes are equal in these columns, but for digits that their text leaves out.
    order = [*([second] if beside else []), *(c for c in (*content, *beside) if _is_truncated(placed[c].type()))]
    same = ibis.window(group_by=[OWNER, first], order_by=order or [OWNER])
    placed = placed.mutate(**{number: ibis.row_number().over(same).cast("int64")})
    again = hash_key(placed, [OWNER, *content, number])
    done = placed.mutate(**{HASH: ibis.ifelse(placed[number] == 0, placed[first], again)})
    return done.drop(first, number, *([second] if beside else []))


def _is_truncated(kind: dt.DataType) -> bool:
    return bool(kind.is_floating() or kind.is_decimal() or kind.is_timestamp() or kind.is_time())


def place_items(items: ir.Table, flags: Mapping[str, ir.Value], order: Sequence[str], owner: str = "p") -> ir.Table:
    """For each flag, which says whether an item is covered, a column: the place of the item among them, from 1.

    In the ``order`` of an owner's items, which the flags share; an item without the flag comes after every other.
    """
    so_far = ibis.window(group_by=owner, order_by=list(order), preceding=None, following=0)
    places = {name: as_integer(flag).sum().over(so_far).cast("int32") for name, flag in flags.items()}
    return items.mutate(**{name: ibis.ifelse(flags[name], place, _LAST) for name, place in places.items()})
