"""What one cell of text looks like: a number, a date, a code, words; one Ibis expression that every engine can run.

Patterns use no more than all engines share: classes in brackets, no backslashes.

Dates in figures can be read in two ways until some value is above twelve, and "1.234" can be one and a bit or a
thousand and more: such cells have labels of their own, and the rest of the column decides.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any

from ..tables.engines import need_ibis

__all__ = ["ANSWERS", "DATES", "NOTHING", "NUMBERS", "Label", "label_of"]

#: What people write where nothing is recorded. In any capitals, with any blanks around.
NOTHING = (
    "N/A", "NA", "n.a.", "n.a", "#N/A", "#NA", "#NULL!", "#VALUE!", "#REF!", "null", "NaN", "NaT", "<NA>",
    "(null)", "-", "--", "---", "–", "—", "_", ".", "..", "...", "?", "??", "/", "*", "missing", "(missing)",
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

_EDGE = "[ \t\r\n\u00a0]*"
_SIGN = "[-+−]?"
_CURRENCY = "([$€£¥₹₽₺₩]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|kr|zł|Fr[.]|Rs)?"
_GAP = "[ \u00a0\u202f]?"
_BEFORE = f"^[(]?{_GAP}{_SIGN}{_GAP}{_CURRENCY}{_GAP}{_SIGN}"
_AFTER = f"{_GAP}%?{_GAP}{_CURRENCY}-?[)]?$"
_BLANKS = "[ '’\u00a0\u202f]"
_CLOCK = "([ T,]+[0-9]{1,2}[:.h][0-9].*)?$"
_BETWEEN = "[-/. ]+"
_YEAR = "([0-9]{4}|[0-9]{2})"
_GROUP, _THREE = "[0-9]{1,3}", "[0-9]{3}"
_POINT = (
    f"{_GROUP}(,[0-9]{{2,3}})+[.][0-9]*|{_GROUP}(,{_THREE}){{2,}}|{_GROUP}({_BLANKS}{_THREE})+[.][0-9]*"
    "|[0-9]+[.]?[0-9]*[eE][-+]?[0-9]+|0*[.][0-9]*|[0-9]+[.]([0-9]{0,2}|[0-9]{4,})|[0-9]{4,}[.][0-9]*"
)
_COMMA = (
    f"{_GROUP}([.]{_THREE})+,[0-9]*|{_GROUP}([.]{_THREE}){{2,}}|{_GROUP}({_BLANKS}{_THREE})+,[0-9]*"
    "|0*,[0-9]*|[0-9]+,([0-9]{1,2}|[0-9]{4,})|[0-9]{4,},[0-9]*"
)
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


def label_of(cell: Any) -> Any:
    """One number for what a cell looks like; the first that fits, and NULL for NULL."""
    ibis = need_ibis()

    def like(pattern: str) -> Any:
        # Blanks at the ends do not count. Trimming each cell first would take as long as the patterns do.
        begin, end = pattern.startswith("^"), pattern.endswith("$")
        inner = pattern[begin : len(pattern) - end]
        return cell.re_search((f"^{_EDGE}" if begin else "") + inner + (f"{_EDGE}$" if end else ""))

    def one_of(words: tuple[str, ...]) -> Any:
        some = "|".join(re.sub(r"([.?*()])", r"[\1]", word) for word in words)
        return cell.re_search(f"(?i)^{_EDGE}({some}){_EDGE}$")

    def number(body: str) -> Any:
        return like(f"{_BEFORE}({body}){_AFTER}")

    def date(first: str, second: str) -> Any:
        return like(f"^{first}{_BETWEEN}{second},?{_BETWEEN}{_YEAR}{_CLOCK}")

    several = (like("[^ ] +[^ ]+ +[^ ]+ +[^ ]"), Label.LONG.value)
    wordless = ibis.cases((~like("[^ ] +[^ ]"), Label.CODE.value), several, else_=Label.OTHER.value)
    without_digits = ibis.cases(
        (like("^$"), Label.EMPTY.value),
        (one_of(NOTHING), Label.NOTHING.value),
        (one_of(ANSWERS), Label.ANSWER.value),
        several,
        else_=Label.WORDS.value,
    )
    digits = ibis.cases(
        (like("^0[0-9]"), Label.ZEROS.value),
        (like("^(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])$"), Label.COMPACT.value),
        else_=Label.WHOLE.value,
    )
    dates = ibis.cases(
        (like(f"^[0-9]{{4}}{_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_CLOCK}"), Label.YEAR_FIRST.value),
        (date(_MONTH, _MONTH), Label.EITHER_FIRST.value),
        (date(_BEYOND, _MONTH) | date(_DAY, _NAMED), Label.DAY_FIRST.value),
        (date(_MONTH, _BEYOND), Label.MONTH_FIRST.value),
        else_=wordless,
    )
    numbers = ibis.cases(
        (number(f"[0-9]+|{_GROUP}({_BLANKS}{_THREE})+"), Label.WHOLE.value),
        (number(f"[1-9][0-9]{{0,2}}[.]{_THREE}"), Label.ONE_POINT.value),
        (number(f"[1-9][0-9]{{0,2}},{_THREE}"), Label.ONE_COMMA.value),
        (number(_POINT), Label.POINT.value),
        (number(_COMMA), Label.COMMA.value),
        else_=wordless,
    )
    # Each question settles many cells, so that few patterns are tried on any one.
    return ibis.cases(
        (cell.isnull(), ibis.null("int8")),
        (~like("[0-9]"), without_digits),
        (like("^[0-9]+$"), digits),
        (like(f"^{_NAMED}{_BETWEEN}{_DAY},? +{_YEAR}{_CLOCK}"), Label.MONTH_FIRST.value),
        (like(f"^[0-9]{{1,4}}{_BETWEEN}([0-9]{{1,2}}|[A-Za-z]{{3,9}}[.]?),?{_BETWEEN}[0-9]{{1,4}}{_CLOCK}"), dates),
        (number("[0-9.,eE'’ \u00a0\u202f+-]+"), numbers),
        (cell == "#DIV/0!", Label.NOTHING.value),
        else_=wordless,
    )
