"""How the text of a column is to be read: as numbers, dates, categories; what a plan says under ``read``.

A form is part of the plan: it says which texts are the same group and which are no value at all, and both change
answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["As", "Form", "Order"]


class As(StrEnum):
    """What the text becomes."""

    NUMBER = "number"
    DATE = "date"
    CATEGORY = "category"  # capitals and blanks do not count
    TEXT = "text"  # as it stands: a number that is a name, say


class Order(StrEnum):
    """How a date is written."""

    DAY_FIRST = "day month year"
    MONTH_FIRST = "month day year"
    YEAR_FIRST = "year month day"


@dataclass(frozen=True)
class Form:
    """How a column's text is to be read.

    ``decimal`` is the sign before the fraction of a number: with "." commas, blanks and apostrophes only group digits,
    with "," points do. ``empty`` are texts that stand for no value, in any capitals.
    """

    kind: As
    decimal: str = "."
    order: Order = Order.YEAR_FIRST
    empty: tuple[str, ...] = ()
