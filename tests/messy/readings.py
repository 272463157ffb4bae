"""What a person reads in a cell, by hand: nothing here is taken from the code under test."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

#: From a cell to what it says; None where it says nothing.
Reading = Callable[[Any], Any]

#: What the writers of these tables put where nothing is recorded.
_NOTHING = {"", "n/a", "na", "#n/a", "-", ".", "null", "missing", "k. a.", "n.d.", "?", "abs"}
#: Words that say nothing among numbers, and are a group of their own among words.
_NO_NUMBER = {"unknown"}
#: Words that stand for nothing in one table only: nobody can know them, so they are to be counted as left out.
ODD = {"saknas", "tbc", "不明", "n.c."}
_NOTHING |= ODD
_SIGNS = str.maketrans("", "", "$€£¥% \u00a0\u202f'")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def as_it_stands(cell: Any) -> Any:
    """The cell, unless it is empty."""
    return None if cell is None or cell == "" else cell


def word(cell: Any) -> str | None:
    """A word, whatever its capitals and the blanks around it."""
    text = " ".join(str("" if cell is None else cell).split()).casefold()
    return None if text in _NOTHING else text


def decimal_point(cell: Any) -> Fraction | None:
    """8,841.70"""
    if cell is None or isinstance(cell, int | float):
        return None if cell is None else Fraction(cell)
    text = cell.strip().casefold()
    return None if text in _NOTHING | _NO_NUMBER else Fraction(Decimal(text.translate(_SIGNS).replace(",", "")))


def decimal_comma(cell: str) -> Fraction | None:
    """8.841,70"""
    text = cell.strip().casefold()
    return (
        None
        if text in _NOTHING | _NO_NUMBER
        else Fraction(Decimal(text.translate(_SIGNS).replace(".", "").replace(",", ".")))
    )


def _day(cell: str, order: str) -> date | None:
    if cell.strip().casefold() in _NOTHING:
        return None
    parts = dict(zip(order, map(int, cell.replace(".", "/").replace("-", "/").split("/")), strict=True))
    return date(parts["y"], parts["m"], parts["d"])


def day_first(cell: str) -> date | None:
    """31/12/2023"""
    return _day(cell, "dmy")


def month_first(cell: str) -> date | None:
    """12/31/2023"""
    return _day(cell, "mdy")


def month_name(cell: str) -> date | None:
    """31-Dec-2023"""
    day, month, year = cell.split("-")
    return date(int(year), _MONTHS.index(month) + 1, int(day))


def cells_of(
    path: Path, *, delimiter: str = ",", encoding: str = "utf-8", above: int = 0, table: str = ""
) -> list[Mapping[str, Any]]:
    """The file's rows by column, as Python reads them; ``above`` lines stand above the names."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        rows: list[Mapping[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".db":
        connection = sqlite3.connect(path)
        try:
            found = connection.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found]
        finally:
            connection.close()
    with path.open(encoding=encoding, newline="") as file:
        for _ in range(above):
            next(file)
        return list(csv.DictReader(file, delimiter=delimiter))
