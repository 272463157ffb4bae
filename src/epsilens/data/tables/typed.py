"""The types of a text file's columns, found while it is read once.

A sample says what each column seems to hold. The file is then read once, as text, into Parquet: what has that form is
converted, and what has not stands beside it in a second column. Where that stays empty, and it nearly always does, the
type holds for every row. Where not, the column becomes what all its values are: a postal code ``01234`` in the last of
ten million rows makes it text, and no zero is lost.

Only what has one meaning is converted. ``1,234``, ``01/02/2024``, ``N/A``, ``yes``, `` 7`` and numbers of more digits
than a machine keeps stay text; how such text is to be read is said by the plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class Kind(StrEnum):
    """What the values of a column are."""

    NOTHING = "nothing"  # every one is empty
    TRUTH = "truth"
    WHOLE = "whole number"
    NUMBER = "number"
    DATE = "date"
    TIME = "date and time"
    TEXT = "text"


_DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
#: The forms, in expressions that Python and DuckDB read alike. 19 digits may still be too many for 64 bits, and
#: 2024-02-30 is no date: those the conversion finds. A whole number among fractions has at most the 15 digits that
#: a float keeps.
FORMS = {
    Kind.TRUTH: r"(?i:true|false)",
    Kind.WHOLE: r"0|-?[1-9][0-9]{0,18}",
    Kind.NUMBER: (
        r"-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-2]?[0-9]{1,2})?"
        r"|(?i:nan|[-+]?inf(inity)?)"
    ),
    Kind.DATE: _DAY,
    Kind.TIME: _DAY + r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?(Z|[+-]00(:?00)?)?)?)?",
}
LARGEST = 10**15
_SQL = {
    Kind.NOTHING: "VARCHAR", Kind.TEXT: "VARCHAR", Kind.TRUTH: "BOOLEAN", Kind.WHOLE: "BIGINT",
    Kind.NUMBER: "DOUBLE", Kind.DATE: "DATE", Kind.TIME: "TIMESTAMP",
}  # fmt: skip
_FORMS = {kind: re.compile(form) for kind, form in FORMS.items()}
#: Kinds whose values give back the text they were made of, letter by letter.
EXACT = (Kind.WHOLE, Kind.DATE)
#: What two kinds have in common, where it is not text.
_COMMON = {frozenset((Kind.WHOLE, Kind.NUMBER)): Kind.NUMBER, frozenset((Kind.DATE, Kind.TIME)): Kind.TIME}


def kind_of(values: Iterable[str]) -> Kind:
    """The kind that all values have, as far as their form says.

    >>> kind_of(["1", "", "-20"]), kind_of(["1", "2.5"]), kind_of(["1", "01"]), kind_of(["2024-05-01"])
    (<Kind.WHOLE: 'whole number'>, <Kind.NUMBER: 'number'>, <Kind.TEXT: 'text'>, <Kind.DATE: 'date'>)
    """
    left = list(_FORMS)
    seen = False
    for each in values:
        if each:
            seen = True
            left = [kind for kind in left if _FORMS[kind].fullmatch(each)]
            if not left:
                return Kind.TEXT
    return left[0] if seen else Kind.NOTHING


def all_of(kinds: Iterable[Kind]) -> Kind:
    """The kind of all values, from the kinds of some each.

    >>> all_of([Kind.WHOLE, Kind.NOTHING, Kind.NUMBER]), all_of([Kind.DATE, Kind.WHOLE])
    (<Kind.NUMBER: 'number'>, <Kind.TEXT: 'text'>)
    """
    made = Kind.NOTHING
    for kind in kinds:
        if made is Kind.NOTHING:
            made = kind
        elif kind not in (made, Kind.NOTHING):
            made = _COMMON.get(frozenset((made, kind)), Kind.TEXT)
    return made


def value(text: str, kind: Kind) -> str:
    """SQL: the value of ``text``, or NULL where it has not the form or is none."""
    if kind is Kind.NOTHING:
        return "NULL::VARCHAR"
    if kind is Kind.TEXT:
        return text
    return f"CASE WHEN regexp_full_match({text}, '{FORMS[kind]}') THEN TRY_CAST({text} AS {_SQL[kind]}) END"


def whether(odd: str, kind: Kind) -> str:
    """SQL: whether every one of the odd texts is of that kind."""
    return f"coalesce(bool_and({odd} IS NULL OR ({value(odd, kind)}) IS NOT NULL), true)"


def restored(made: str, odd: str, was: Kind, now: Kind) -> str:
    """SQL: the values of a column that turned out to be another kind than was thought; ``was`` must be exact."""
    if was is Kind.NOTHING:
        return value(odd, now)
    text = f"{made}::{_SQL[now]}"
    return f"coalesce({odd if now is Kind.TEXT else value(odd, now)}, {text})"
