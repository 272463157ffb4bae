r"""Which of an owner's rows or groups are kept where a plan allows only so many: those with the smallest keyed hash.

The choice must not look at values or names in any order (the smallest values, the first names are a biased part of the
table), must depend on the owner's own rows alone (or one person's rows would move another's), and must be the same on
every engine and in every run. So each item (a row, a group, a person of a household) gets the number

.. math:: h = \text{the first 60 bits of md5}(\text{key} ⋅ \text{owner} ⋅ \text{content} ⋅ \text{occurrence})

and of those a query covers, the ones with the smallest h are kept. ``content`` is a text that engines agree on
(:func:`canonical`); ``occurrence`` numbers rows that are equal in all of it, which are then interchangeable. The key is
public and was fixed before any data: what is kept is no secret, only nobody's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .engines import need_ibis

__all__ = ["KEY", "canonical", "in_hash_order", "keep", "numbered"]

#: Fixed once; another key would keep other rows, no better and no worse ones.
KEY = "epsilens keeps rows by this key, fixed in 2026"
#: Between the parts of a hashed text, and where nothing is recorded.
_BETWEEN, _NOTHING = "\x1f", "\x1e"
_DIGITS = 15  # hexadecimal: 60 bits, which fit a signed 64-bit integer
_STEP = 2.0**62


def canonical(column: Any) -> Any:
    """The column as text, the same on every engine; NULL is a text of its own.

    Engines write floating numbers differently, so these are cut into whole numbers of 2^62, 1, 2^-62 and 2^-124, each
    step exact: 1.5 is ``0 1 2305843009213693952 0``. (Beyond 2^123, about 10^37, all are alike.)
    """
    kind = column.type()
    if kind.is_string():
        text = column
    elif kind.is_boolean():
        text = column.cast("int64").cast("string")
    elif kind.is_date():
        text = _day(column)
    elif kind.is_timestamp():  # within a second the value itself decides, in keep
        seconds = column.second().cast("int64")  # Spark's has decimals
        text = _day(column) + (10**6 + column.hour() * 10_000 + column.minute() * 100 + seconds).cast("string")
    elif kind.is_floating() or kind.is_decimal():
        text = _digits(column.cast("float64"))
    else:
        text = column.cast("string")
    return text.fill_null(_NOTHING)


def _day(column: Any) -> Any:
    return (column.year() * 10_000 + column.month() * 100 + column.day()).cast("string")


def _digits(x: Any) -> Any:
    ibis = need_ibis()
    left = ibis.least(x.abs(), ibis.literal(2.0**123)) / _STEP
    text = ibis.ifelse(x < 0, "-", "")
    for last in (False, False, False, True):
        whole = left.floor()
        text = text + whole.cast("string") + ("" if last else " ")
        left = (left - whole) * _STEP
    return text


def in_hash_order(table: Any, columns: Sequence[str]) -> Any:
    """The key to sort by: the hash of these columns of the table, in this order.

    DuckDB sorts a number in a third of the memory that a text takes; the digits of either are in the same order.
    """
    ibis = need_ibis()
    text = ibis.literal(KEY)
    for name in columns:
        text = text + _BETWEEN + canonical(table[name])
    digits = text.hexdigest("md5").substr(0, _DIGITS)
    return (ibis.literal("0x") + digits).cast("int64") if table.get_backend().name == "duckdb" else digits


def numbered(table: Any, columns: Sequence[str], name: str) -> Any:
    """The table with a column that numbers rows that are equal in all of ``columns``."""
    ibis = need_ibis()
    place = ibis.row_number().over(ibis.window(group_by=list(columns), order_by=columns[0]))
    return table.mutate(**{name: place.cast("int64")})


def keep(items: Any, content: Sequence[str], most: Mapping[str, int]) -> Any:
    """For each flag (a column that says whether an item is covered) whether the item is kept, as ``kept_{flag}``.

    Of an owner's (``p``) items with the flag, at most ``most[flag]`` are kept, by hash; flags share one sort. Items of
    an owner must differ in ``content``: see :func:`numbered`.
    """
    ibis = need_ibis()
    placed = items.mutate(hash_=in_hash_order(items, ["p", *content]))
    order = [placed["hash_"], *(placed[name] for name in content)]  # the content, should two hashes be the same
    so_far = ibis.window(group_by="p", order_by=order, preceding=None, following=0)
    kept = {
        f"kept_{flag}": placed[flag] & (placed[flag].cast("int64").sum().over(so_far) <= number)
        for flag, number in most.items()
    }
    return placed.mutate(**kept).drop("hash_")
