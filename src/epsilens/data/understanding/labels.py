"""What one cell of text looks like: a number, a date, a code, words.

>>> label_of(" 8,841.70 "), label_of("N/A"), label_of("31/01/2020")
(<Label.POINT: 6>, <Label.NOTHING: 1>, <Label.DAY_FIRST: 11>)

Dates in figures can be read in two ways until some value is above twelve, and "1.234" can be one and a bit or a
thousand and more: such cells have labels of their own, and the rest of the column decides.
"""

from __future__ import annotations

import re
from enum import IntEnum

#: What people write where nothing is recorded. In any capitals, with any blanks around.
NOTHING = (
    "N/A", "NA", "n.a.", "n.a", "#N/A", "#NA", "#NULL!", "#VALUE!", "#REF!", "#DIV/0!", "null", "NaN", "NaT", "<NA>",
    "(null)", "-", "--", "---", "–", "—", "_", ".", "..", "...", "?", "??", "/", "*", "missing", "(missing)",
    "not available", "not applicable", "not recorded", "no data", "no value", "empty", "(empty)", "blank", "(blank)",
    "tbd", "k.A.", "k. A.", "kA", "keine Angabe", "s/o", "s.o.", "sans objet", "non renseigné", "NR", "ND", "n.d.",
    "s/d", "sin dato", "sin datos", "n.v.t.", "nvt", "n.b.", "s.d.", "nessun dato", "sem dados",
)  # fmt: skip
#: What is nothing in a column of numbers or dates, and an answer in a column of words.
ANSWERS = (
    "none", "nil", "unknown", "unk", "unbekannt", "inconnu", "desconocido", "sconosciuto", "onbekend", "desconhecido",
    "keine", "not known", "xx", "xxx", "refused", "prefer not to say", "declined", "undisclosed", "pending",
    "not done", "not tested", "ns/nc", "no contesta", "no sabe", "don't know", "weiss nicht", "weiß nicht",
    "ne sait pas", "nsp",
)  # fmt: skip

_EDGE = " \t\r\n\u00a0"
_SIGN = "[-+−]?"
_CURRENCY = (
    "([$€£¥₹₽₺₩₴]|[A-Z]{1,2}[$]|S/[.]?|RM|Kč|Ft|лв[.]?|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR|kr[.]?|zł"
    "|Fr[.]|Rs[.]?)?"
)
_GAP = "[ \u00a0\u202f]?"
_BEFORE = f"[(]?{_GAP}{_SIGN}{_GAP}{_CURRENCY}{_GAP}{_SIGN}"
_AFTER = f"{_GAP}%?{_GAP}{_CURRENCY}-?[)]?"
_BLANKS = "[ '’\u00a0\u202f]"
_CLOCK = "([ T,]+[0-9]{1,2}[:.h][0-9].*)?"
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
    CONTACT = 18  # an e-mail address; a telephone number with its country or in brackets


NUMBERS = (Label.WHOLE, Label.POINT, Label.COMMA, Label.ONE_POINT, Label.ONE_COMMA, Label.COMPACT)
DATES = (Label.YEAR_FIRST, Label.DAY_FIRST, Label.MONTH_FIRST, Label.EITHER_FIRST, Label.COMPACT)


def _date(first: str, second: str) -> str:
    return f"{first}{_BETWEEN}{second},?{_BETWEEN}{_YEAR}{_CLOCK}"


def _number(body: str) -> str:
    return f"{_BEFORE}({body}){_AFTER}"


def _tried(*patterns: tuple[str, Label]) -> tuple[tuple[re.Pattern[str], Label], ...]:
    return tuple((re.compile(pattern, re.DOTALL), label) for pattern, label in patterns)


_DIGIT = re.compile("[0-9]")
_SPACED, _SEVERAL = re.compile("[^ ] +[^ ]"), re.compile("[^ ] +[^ ]+ +[^ ]+ +[^ ]")
_COMPACT = re.compile("(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])")
_ADDRESS = re.compile("[^@ ]+@[^@ ]+[.][A-Za-z]{2,}")
_PHONE = re.compile("([+]|00[1-9])[0-9]([-0-9 ()./]{6,16})[0-9]|[(]0?[0-9]{2,5}[)] ?[0-9][-0-9 ]{4,10}[0-9]")
_LIKE_A_DATE = re.compile(
    f"[0-9]{{1,4}}{_BETWEEN}([0-9]{{1,2}}|[A-Za-z]{{3,9}}[.]?),?{_BETWEEN}[0-9]{{1,4}}{_CLOCK}", re.DOTALL
)
_LIKE_A_NUMBER = re.compile(_number("[0-9.,eE'’ \u00a0\u202f+-]+"))
_MONTH_NAMED = re.compile(f"{_NAMED}{_BETWEEN}{_DAY},? +{_YEAR}{_CLOCK}", re.DOTALL)
_AS_DATE = _tried(
    (f"[0-9]{{4}}{_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_CLOCK}", Label.YEAR_FIRST),
    (_date(_MONTH, _MONTH), Label.EITHER_FIRST),
    (f"{_date(_BEYOND, _MONTH)}|{_date(_DAY, _NAMED)}", Label.DAY_FIRST),
    (_date(_MONTH, _BEYOND), Label.MONTH_FIRST),
)
_AS_NUMBER = _tried(
    (_number(f"[0-9]+|{_GROUP}({_BLANKS}{_THREE})+"), Label.WHOLE),
    (_number(f"[1-9][0-9]{{0,2}}[.]{_THREE}"), Label.ONE_POINT),
    (_number(f"[1-9][0-9]{{0,2}},{_THREE}"), Label.ONE_COMMA),
    (_number(_POINT), Label.POINT),
    (_number(_COMMA), Label.COMMA),
)
_MEANT = {word.lower(): word for word in (*ANSWERS, *NOTHING)}
_IS_NOTHING = frozenset(NOTHING)
_LONGEST = 80  # characters that a number, a date, an address or a word for nothing has at most


def nothing_in(cell: str) -> str | None:
    """The word of ours for nothing that a cell is, in any capitals and blanks; None for any other cell."""
    return _MEANT.get(" ".join(cell.lower().split())) if len(cell) <= _LONGEST else None


def label_of(cell: str) -> Label:
    """What a cell looks like: the first that fits. Blanks at its ends do not count."""
    text = cell.strip(_EDGE)
    if not text:
        return Label.EMPTY
    if len(text) > _LONGEST:
        return _wordy(text) if _DIGIT.search(text) or _SEVERAL.search(text) else Label.WORDS
    if (word := nothing_in(text)) is not None:
        return Label.NOTHING if word in _IS_NOTHING else Label.ANSWER
    if "@" in text and _ADDRESS.fullmatch(text):
        return Label.CONTACT
    if not _DIGIT.search(text):
        return Label.LONG if _SEVERAL.search(text) else Label.WORDS
    if text.isascii() and text.isdigit():
        if text[0] == "0" and len(text) > 1:
            return Label.ZEROS
        return Label.COMPACT if _COMPACT.fullmatch(text) else Label.WHOLE
    if text[0] in "+0(" and _PHONE.fullmatch(text) and len(_DIGIT.findall(text)) >= 8:
        return Label.CONTACT
    if _MONTH_NAMED.fullmatch(text):
        return Label.MONTH_FIRST
    if _LIKE_A_DATE.fullmatch(text):
        return _first(_AS_DATE, text)
    if _LIKE_A_NUMBER.fullmatch(text):
        return _first(_AS_NUMBER, text)
    return _wordy(text)


def _first(tried: tuple[tuple[re.Pattern[str], Label], ...], text: str) -> Label:
    return next((label for pattern, label in tried if pattern.fullmatch(text)), None) or _wordy(text)


def _wordy(text: str) -> Label:
    if not _SPACED.search(text):
        return Label.CODE
    return Label.LONG if _SEVERAL.search(text) else Label.OTHER
