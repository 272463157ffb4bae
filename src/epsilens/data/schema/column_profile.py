"""How the cells of each column look, counted and never kept: how many are numbers, dates, codes, words for nothing.

All rows are counted once. What text looks like is read from at most a million rows, and from fewer where nearly every
row has another text: :attr:`TableProfile.looked_at` says how many. Each value is looked at once, however many rows have
it, and forgotten.

Dates in figures can be read in two ways until some value is above twelve. Where none is, the day is taken to come
first, which most of the world writes, and :attr:`ColumnProfile.unsure` says so. "1.234" alone is one and a bit, not a
thousand: an engine reads it so too. "1,234" alone is a thousand and more.

What the name of a column says is read in any spelling, in English and the commonest words of six other languages:

>>> words("Patienten-Nr."), words("YearOfBirth"), words("N° patient")
(('patienten', 'nr'), ('year', 'of', 'birth'), ('number', 'patient'))
>>> meaning("Patienten-Nr.").word, meaning("dateOfBirth").word, meaning("ICD-10").word
('person', 'birth date', 'diagnosis')
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from configparser import ConfigParser
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum, StrEnum, auto
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tables.columns import ColumnFormat, DateOrder, ParsedType, is_simple, normalize_text
from ..tables.dialect import ibis
from ..tables.table import OpenTable, reading

if TYPE_CHECKING:
    import ibis.expr.types as ir


_WORD_LISTS = ConfigParser(delimiters=(":",), interpolation=None)
_WORD_LISTS.read(Path(__file__).with_name("column_words.ini"), "utf-8")
#: One word of ours for each way of writing it.
SPELLINGS = {word: (word, *spellings.split()) for word, spellings in _WORD_LISTS["spellings"].items()}
#: Whole names, after :func:`words`, and what they are.
PHRASES = {what: tuple(map(str.strip, names.split("|"))) for what, names in _WORD_LISTS["phrases"].items()}
#: What the words of a name mean, first match first: the words needed and the marks of each meaning.
RULES = dict(_WORD_LISTS["rules"])

PEOPLE, STAFF, UNITS, THINGS, IDS, FILLERS = (
    frozenset(_WORD_LISTS["groups"][group].split())
    for group in ("people", "staff", "units", "things", "ids", "fillers")
)


class NameKind(StrEnum):
    """What sort of thing a name speaks of."""

    PERSON = "person"  # whose row it is
    ID = "id"  # an identifier that does not say of what: id, record id
    CONTACT = "contact"  # an e-mail address, a telephone number
    NAME = "name"
    PART_OF_NAME = "part of a name"
    UNIT = "unit"  # a household, an address
    STAFF = "staff"  # somebody else: the doctor, the teacher, the seller
    DEVICE = "device"  # a telephone, a car: somebody's, where nothing says whose
    THING = "thing"  # an order, a visit, a product
    UNNAMED_ID = "unnamed id"  # an identifier of something we have no word for
    DATE = "date"
    PART = "part of a date"  # a year, a month: never an amount
    CODE = "code"
    CATEGORY = "category"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True)
class Meaning:
    """What a name says. ``known`` is how telling it is about a person to those who know them, 0 for not at all."""

    word: str
    kind: NameKind
    known: int = 0
    secret: bool = False
    bounds: tuple[float, float] | None = None
    choose: bool = False  # the bounds are only a round proposal
    rank: int = 0  # how surely it names the person whose row it is
    bare: bool = False  # may be a category: "member" yes or no, "study" one of three


_SIGNS = {"n°": " number ", "n.º": " number ", "nº": " number ", "№": " number ", "#": " number ", "%": " percent ",
          "€": " euro ", "$": " dollar ", "£": " gbp ", "ä": "ae", "ö": "oe", "ü": "ue",
          "ß": "ss", "ø": "o", "æ": "ae", "ł": "l"}  # fmt: skip
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
#: D.O.B., N H S: letters apart that are one word.
_INITIALS = re.compile(r"(?<![^\W_])[^\W\d_](?:[ ._-]+[^\W\d_](?![^\W_]))+")
#: Letters that German, Dutch and others put between the parts of a compound.
_LINKS = ("", "s", "n", "en", "es")
_SHORTEST_PART = 3
#: How surely each word names the person, where there are several.
_RANKS = {"patient": 50, "subject": 50, "participant": 50, "respondent": 50, "person": 50, "beneficiary": 48,
          "citizen": 47, "student": 46, "member": 45, "customer": 45, "user": 44, "employee": 40}  # fmt: skip
_OFFICIAL, _SUBJECT, _ID, _ACCOUNT, _CONTACT, _NAME, _DEVICE, _STAFF = 49, 40, 30, 26, 25, 20, 15, 10

#: A telephone number or an e-mail address, whatever its column is called. "Mobile" may also be yes or no.
CONTACT = Meaning("phone", NameKind.CONTACT, rank=_CONTACT, bare=True)


@cache
def _vocabulary() -> dict[str, str]:
    """Each spelling and the word it stands for."""
    return {spelling: word for word, spellings in SPELLINGS.items() for spelling in spellings}


@cache
def _phrases() -> dict[str, str]:
    """Whole names, with and without blanks, and what they are."""
    found: dict[str, str] = {}
    for what, names in PHRASES.items():
        for name in names:
            found.setdefault(name, what)
            found.setdefault(name.replace(" ", ""), what)
    return found


@cache
def _rules() -> tuple[tuple[frozenset[str], Meaning], ...]:
    made = []
    for word, rule in RULES.items():
        needed, *marks = re.split(r"\s{2,}", rule)
        made += [
            (frozenset(alternative.split()), _rule_meaning(word, " ".join(marks))) for alternative in needed.split("|")
        ]
    return tuple(made)


def _rule_meaning(word: str, marks: str) -> Meaning:
    made = Meaning(word, NameKind.CATEGORY)
    for mark in marks.split():
        if mark.startswith("known"):
            made = replace(made, known=int(mark[5:]))
        elif ".." in mark:
            low, high = map(float, mark.split(".."))
            made = replace(made, bounds=(low, high))
        elif mark == "secret":
            made = replace(made, secret=True)
        elif mark == "choose":
            made = replace(made, choose=True)
        else:
            made = replace(made, kind=NameKind("part of a date" if mark == "part" else mark))
    return made


def words(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents; compounds we know are taken apart.

    >>> words("PATIENT_ID") == words("Patient ID") == words("PatientID") == words("patientid")
    True
    """
    text = name
    for sign, word in _SIGNS.items():
        text = re.sub(re.escape(sign), word, text, flags=re.IGNORECASE)
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    found: list[str] = []
    plain = _INITIALS.sub(lambda found: re.sub(r"[\W_]+", "", found[0]), plain)
    for chunk in re.split(r"[\W_]+", plain):
        if chunk.lower() in _vocabulary():
            found.append(chunk.lower())
        else:
            for part in _CAMEL.findall(chunk):
                found += _split_compound(part.lower())
    return tuple(found)


@cache
def _split_compound(word: str) -> tuple[str, ...]:
    """A word we do not know as the words it is made of, where we know all of them: geburtsdatum, custid, hhid."""
    known = _vocabulary()
    if word in known or len(word) < 2 * _SHORTEST_PART - 2:
        return (word,)
    for end in range(len(word) - 2, 1, -1):
        head, tail = word[:end], word[end:]
        base = next((head.removesuffix(link) for link in _LINKS if _is_compound_part(head.removesuffix(link))), None)
        if base is None or (not head.endswith(base) and len(base) < _SHORTEST_PART):
            continue
        rest = _split_compound(tail)
        if all(_is_compound_part(part) or part in ("id", "nr", "no") for part in rest):
            return (base, *rest)
    return (word,)


def _is_compound_part(word: str) -> bool:
    """Whether a piece of a compound may be this: short words stand in too many others."""
    return word in _vocabulary() and (len(word) >= _SHORTEST_PART or word == "hh")


def meaning(name: str) -> Meaning | None:
    """What the name of a column says it is, or None.

    >>> meaning("customer_id").kind, meaning("customer_segment").kind, meaning("order_id").kind
    (<NameKind.PERSON: 'person'>, <NameKind.CATEGORY: 'category'>, <NameKind.THING: 'thing'>)
    >>> meaning("Alter").bounds, meaning("number of visits").word, meaning("zqx")
    ((0.0, 110.0), 'count of visits', None)
    """
    spelled = words(name)
    if not spelled:
        return Meaning("row", NameKind.THING) if not name.strip() else None
    phrase = _phrases().get(" ".join(spelled))
    if phrase is not None:
        return _of_phrase(phrase)
    rest = [word for word in spelled if _vocabulary().get(word) not in _BESIDE]
    if _phrases().get(" ".join(rest)) == "official":
        return _of_phrase("official")
    tokens = _tokens(spelled)
    content = tokens - FILLERS
    return (
        _of_contact(spelled) or _of_name(content) or _of_identifier(content) or _of_rules(content) or _of_noun(content)
    )


#: What may stand beside the name of an official number: patient_mrn, ssn_hash.
_BESIDE = PEOPLE | IDS | FILLERS


def _of_phrase(what: str) -> Meaning | None:
    if what == "official":
        return Meaning("official number", NameKind.PERSON, rank=_OFFICIAL)
    if what in ("id", "record"):
        return Meaning("identifier", NameKind.ID, rank=_ID, bare=what == "record")
    if what == "row":
        return Meaning("row", NameKind.THING)
    if what == "name":
        return Meaning("name", NameKind.NAME, rank=_NAME)
    if what == "phone":
        return CONTACT
    return _of_rules(frozenset({what}))


def _tokens(spelled: tuple[str, ...]) -> frozenset[str]:
    """The words that these spellings stand for; a number of something is a count."""
    known = _vocabulary()
    tokens = [known.get(word, word) for word in spelled]
    if "nombre" in spelled and spelled[spelled.index("nombre") + 1 :][:1] not in (("de",), ("d",)):
        tokens[spelled.index("nombre")] = "name"  # Spanish; French counts with "nombre de"
    if spelled[-1] == "at" and len(spelled) > 1:
        tokens[-1] = "time"
    number = next((i for i, word in enumerate(tokens) if word == "number" or spelled[i] == "n"), None)
    if number is not None and number + 1 < len(tokens):
        several = tokens[-1] in ("children", "visits", "days", "size") or (
            number == 0 and spelled[-1].endswith("s") and len(spelled[-1]) > _SHORTEST_PART
        )
        if several or (tokens[number + 1] == "of" and spelled[number] != "nr"):
            tokens[number] = "count"
    return frozenset(word for word in tokens if not word.isdigit())


#: What makes a name that ends in "phone" something else: how many, whether, what sort.
_ABOUT = frozenset({"count", "status", "type", "group", "level", "question", "number of", "note", "money", "device"})


def _of_contact(spelled: tuple[str, ...]) -> Meaning | None:
    """A name that ends in phone or e-mail, or begins so and goes on with whose it is."""
    tokens = [_vocabulary().get(word, word) for word in spelled if not word.isdigit()]
    while tokens and tokens[-1] in IDS | {"address"}:
        tokens.pop()
    ways = [word for word in tokens if word in ("phone", "email")]
    if not ways or _ABOUT & set(tokens) or not (tokens[-1] == ways[-1] or set(tokens[1:]) <= _WHOSE):
        return None
    return CONTACT if ways[-1] == "phone" else replace(CONTACT, word="e-mail")


_WHOSE = PEOPLE | STAFF | FILLERS | {"housing", "occupation", "contact", "phone", "email"}


def is_survey(names: Iterable[str]) -> bool:
    """Whether some columns are what only surveys have: respondents, questions, clusters.

    >>> is_survey(["respondent_id", "q1"]), is_survey(["visit", "kg"])
    (True, False)
    """
    return any(_tokens(spelled) & {"respondent", "question", "cluster"} for n in names if (spelled := words(n)))


def names_weight_unit(name: str) -> bool:
    """Whether a name says in what its weight is measured.

    >>> names_weight_unit("weight (kg)"), names_weight_unit("weight")
    (True, False)
    """
    return bool(set(words(name)) & {"kg", "kgs", "lb", "lbs", "pound", "pounds", "g", "gram", "grams", "body", "stone"})


def _of_name(content: frozenset[str]) -> Meaning | None:
    """Names of people and ways to reach them. The name of anything else is what that thing is."""
    rest = content - PEOPLE - IDS
    if not rest:
        return None
    if rest == {"card"}:
        return Meaning("bank card", NameKind.CONTACT, rank=_CONTACT)
    if rest == {"account"}:
        return Meaning("account", NameKind.PERSON, rank=_ACCOUNT)
    if rest <= {"forename", "surname", "first", "last", "name"} and rest - {"first", "last"}:
        if rest == {"name"}:
            return Meaning("name", NameKind.NAME, rank=_NAME)
        return Meaning("name", NameKind.PART_OF_NAME)
    if "name" in rest and rest & (STAFF | UNITS | THINGS):
        who = next(iter(sorted(rest & (STAFF | UNITS | THINGS))))
        return Meaning(who, NameKind.STAFF if who in STAFF else NameKind.THING, rank=_STAFF if who in STAFF else 0)
    return None


def _of_identifier(content: frozenset[str]) -> Meaning | None:
    if not content & IDS:
        return None
    of = content - IDS - {"name"}
    people = of & PEOPLE
    if people and of <= PEOPLE | UNITS | {"study", "record", "hospital", "case", "insurance", "school"}:
        return Meaning("person", NameKind.PERSON, rank=max(_RANKS[word] for word in people))
    if not of:
        return Meaning("identifier", NameKind.ID, rank=_ID)
    if of <= UNITS:
        return Meaning("household" if "household" in of else min(of), NameKind.UNIT)
    if of & STAFF:
        return Meaning(min(of & STAFF), NameKind.STAFF, rank=_STAFF)
    if of == {"device"}:
        return Meaning("device", NameKind.DEVICE, rank=_DEVICE)
    if of & THINGS and of <= THINGS | PEOPLE | STAFF | UNITS | {"study", "record", "case", "account"}:
        return Meaning(min(of & THINGS), NameKind.THING)
    if of <= {"study", "record", "case"}:
        return Meaning("identifier", NameKind.ID, rank=_ID, bare=True)
    found = _of_rules(of)
    if found is None and content & {"id", "number", "key", "hash", "pseudonym"}:
        return Meaning("identifier", NameKind.UNNAMED_ID)
    return found


def _of_rules(content: frozenset[str]) -> Meaning | None:
    return next((found for needed, found in _rules() if needed <= content), None)


def _of_noun(content: frozenset[str]) -> Meaning | None:
    if content == {"subject"}:
        return Meaning("person", NameKind.PERSON, rank=_SUBJECT, bare=True)  # a person, or what is taught
    if content and content <= PEOPLE:
        return Meaning("person", NameKind.PERSON, rank=max(_RANKS[word] for word in content), bare=True)
    if content and content <= UNITS:
        return Meaning(min(content), NameKind.UNIT)
    if content and content <= STAFF:
        return Meaning(min(content), NameKind.STAFF, rank=_STAFF)
    if content and content <= THINGS:
        return Meaning(min(content), NameKind.THING)
    return None


#
# Dates in figures can be read in two ways until some value is above twelve, and "1.234" can be one and a bit or a
# thousand and more: such cells have labels of their own, and the rest of the column decides.

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


class CellLabel(IntEnum):
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


NUMBERS = (
    CellLabel.WHOLE,
    CellLabel.POINT,
    CellLabel.COMMA,
    CellLabel.ONE_POINT,
    CellLabel.ONE_COMMA,
    CellLabel.COMPACT,
)
DATES = (CellLabel.YEAR_FIRST, CellLabel.DAY_FIRST, CellLabel.MONTH_FIRST, CellLabel.EITHER_FIRST, CellLabel.COMPACT)


def _date(first: str, second: str) -> str:
    return f"{first}{_BETWEEN}{second},?{_BETWEEN}{_YEAR}{_CLOCK}"


def _number(body: str) -> str:
    return f"{_BEFORE}({body}){_AFTER}"


def _compiled(*patterns: tuple[str, CellLabel]) -> tuple[tuple[re.Pattern[str], CellLabel], ...]:
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
_AS_DATE = _compiled(
    (f"[0-9]{{4}}{_BETWEEN}{_MONTH}{_BETWEEN}{_DAY}{_CLOCK}", CellLabel.YEAR_FIRST),
    (_date(_MONTH, _MONTH), CellLabel.EITHER_FIRST),
    (f"{_date(_BEYOND, _MONTH)}|{_date(_DAY, _NAMED)}", CellLabel.DAY_FIRST),
    (_date(_MONTH, _BEYOND), CellLabel.MONTH_FIRST),
)
_AS_NUMBER = _compiled(
    (_number(f"[0-9]+|{_GROUP}({_BLANKS}{_THREE})+"), CellLabel.WHOLE),
    (_number(f"[1-9][0-9]{{0,2}}[.]{_THREE}"), CellLabel.ONE_POINT),
    (_number(f"[1-9][0-9]{{0,2}},{_THREE}"), CellLabel.ONE_COMMA),
    (_number(_POINT), CellLabel.POINT),
    (_number(_COMMA), CellLabel.COMMA),
)
_MEANT = {word.lower(): word for word in (*ANSWERS, *NOTHING)}
_IS_NOTHING = frozenset(NOTHING)
_LONGEST = 80  # characters that a number, a date, an address or a word for nothing has at most


def null_word(cell: str) -> str | None:
    """The word of ours for nothing that a cell is, in any capitals and blanks; None for any other cell."""
    return _MEANT.get(" ".join(cell.lower().split())) if len(cell) <= _LONGEST else None


def label_of(cell: str) -> CellLabel:
    """What a cell looks like: the first that fits. Blanks at its ends do not count.

    >>> label_of(" 8,841.70 "), label_of("N/A"), label_of("31/01/2020")
    (<CellLabel.POINT: 6>, <CellLabel.NOTHING: 1>, <CellLabel.DAY_FIRST: 11>)
    """
    text = cell.strip(_EDGE)
    if not text:
        return CellLabel.EMPTY
    if len(text) > _LONGEST:
        return _word_label(text) if _DIGIT.search(text) or _SEVERAL.search(text) else CellLabel.WORDS
    if (word := null_word(text)) is not None:
        return CellLabel.NOTHING if word in _IS_NOTHING else CellLabel.ANSWER
    if "@" in text and _ADDRESS.fullmatch(text):
        return CellLabel.CONTACT
    if not _DIGIT.search(text):
        return CellLabel.LONG if _SEVERAL.search(text) else CellLabel.WORDS
    if text.isascii() and text.isdigit():
        if text[0] == "0" and len(text) > 1:
            return CellLabel.ZEROS
        return CellLabel.COMPACT if _COMPACT.fullmatch(text) else CellLabel.WHOLE
    if text[0] in "+0(" and _PHONE.fullmatch(text) and len(_DIGIT.findall(text)) >= 8:
        return CellLabel.CONTACT
    if _MONTH_NAMED.fullmatch(text):
        return CellLabel.MONTH_FIRST
    if _LIKE_A_DATE.fullmatch(text):
        return _first(_AS_DATE, text)
    if _LIKE_A_NUMBER.fullmatch(text):
        return _first(_AS_NUMBER, text)
    return _word_label(text)


def _first(tried: tuple[tuple[re.Pattern[str], CellLabel], ...], text: str) -> CellLabel:
    return next((label for pattern, label in tried if pattern.fullmatch(text)), None) or _word_label(text)


def _word_label(text: str) -> CellLabel:
    if not _SPACED.search(text):
        return CellLabel.CODE
    return CellLabel.LONG if _SEVERAL.search(text) else CellLabel.OTHER


_MOST_ROWS = 1_000_000
_MANY_ROWS = 100_000  # of a column of many values
_MOST_CELLS = 1_000_000  # cells of such columns that are looked at
_FEW = 20_000  # values so few that all rows may be looked at
_AT_ONCE = 300_000  # cells that are read as they are; of more the engine counts equal ones first
_FAST = frozenset(
    {"duckdb", "pyspark", "clickhouse", "snowflake", "bigquery", "databricks", "trino", "athena", "datafusion"}
)
_COUNTED = 120  # columns in one query
_DIGITS = 9  # whole numbers of so many digits, all of one length, are names
#: Days as 20240131, and instants in thousands and millions of a second: what lies between the years 2000 and 2035.
_FIRST_DAY, _LAST_DAY = 19_000_101, 21_001_231
_FIRST_MONTH, _LAST_MONTH = 190_001, 210_012
_FIRST_SECOND, _LAST_SECOND, _TEN_YEARS = 946_684_800, 2_051_222_400, 315_360_000


_CATEGORY = ColumnFormat(ParsedType.CATEGORY)


class WholeNumberKind(Enum):
    """Whole numbers that are no amounts."""

    DAYS = auto()  # 20240131
    MONTHS = auto()  # 202401
    INSTANTS = auto()  # seconds or parts of them since 1970
    NAMES = auto()  # all equally long: an account, a chip


@dataclass(frozen=True)
class ColumnProfile:
    """One column. ``labels`` are shares of the cells that hold something, by what they look like."""

    rows: int
    filled: int  # rows that are not NULL
    distinct: int  # about
    labels: dict[CellLabel, float] = field(default_factory=dict)
    nothing: float = 0.0  # the share of cells that are not NULL and hold a blank or a word for nothing
    length: float = 0.0  # characters, on average
    words: tuple[str, ...] = ()  # the words for nothing that were met
    spellings: int = 0
    serial: bool = False  # whole numbers that look given out
    whole: WholeNumberKind | None = None  # whole numbers, or digits, that are no amounts

    def share(self, *labels: CellLabel) -> float:
        """The share of the cells that hold something which look like one of these."""
        return sum(self.labels.get(label, 0.0) for label in labels)

    def among(self, *labels: CellLabel) -> float:
        """The same, where "unknown" too is nothing."""
        held = 1.0 - self.share(CellLabel.ANSWER)
        return self.share(*labels) / held if held > 0 else 0.0

    @property
    def empty(self) -> int:
        """Rows with nothing recorded, about."""
        return self.rows - self.filled + round(self.nothing * self.filled)

    @property
    def decimal(self) -> str:
        """The decimal sign of its numbers."""
        return "," if self.share(CellLabel.COMMA) > self.share(CellLabel.POINT) else "."

    @property
    def order(self) -> DateOrder:
        """The order of its dates: the sure ones decide for those that can be read in two ways."""
        day, month = self.share(CellLabel.DAY_FIRST), self.share(CellLabel.MONTH_FIRST)
        figures = day + month + self.share(CellLabel.EITHER_FIRST)
        if self.share(CellLabel.YEAR_FIRST, CellLabel.COMPACT) > figures:
            return DateOrder.YEAR_FIRST
        return DateOrder.MONTH_FIRST if month > day else DateOrder.DAY_FIRST

    @property
    def unsure(self) -> bool:
        """Whether dates can be read in two ways and no value decides."""
        sure = self.share(CellLabel.DAY_FIRST, CellLabel.MONTH_FIRST)
        return self.order is not DateOrder.YEAR_FIRST and not sure


@dataclass(frozen=True)
class TableProfile:
    """The columns of a table that have a shape, by name; nested and binary ones have none."""

    rows: int
    looked_at: int
    columns: dict[str, ColumnProfile]


def profile_columns(opened: OpenTable, names: list[str], tell: Callable[[str], object] | None = None) -> TableProfile:
    """Count all rows once, then look at the text."""
    schema = opened.table.schema()
    plain = [name for name in names if is_simple(schema[name]) or schema[name].is_uuid()]
    text = [name for name in plain if schema[name].is_string()]
    with reading(opened):
        if tell is not None:
            tell("counting the values of each column")
        cheap = opened.engine.kind in _FAST
        most = min(_MANY_ROWS, _MOST_CELLS // max(len(text), 1) + 1)
        rows, columns = _column_counts(opened, plain, cheap)
        columns |= _verified_whole_kinds(opened, columns)
        if tell is not None and text:
            tell("looking at the text")
        few = min(_FEW, most)
        for name, cells in _text_values(opened, {name: columns[name] for name in text}, rows, few, most):
            columns[name] = _text_profile(columns[name], cells)
    many = any(columns[name].distinct > few for name in text)
    return TableProfile(rows, min(rows, most if many else _MOST_ROWS) if text else rows, columns)


def _batches(names: list[str], size: int) -> Iterator[list[str]]:
    yield from (names[i : i + size] for i in range(0, len(names), size))


def _fetch_row(opened: OpenTable, expression: ir.Table) -> dict[str, Any]:
    return dict(opened.engine.fetch(expression).to_pylist()[0])


def _column_counts(opened: OpenTable, names: list[str], cheap: bool) -> tuple[int, dict[str, ColumnProfile]]:
    """Rows, filled cells and values of each column: of all rows, or of some where counting values is slow."""
    made: dict[str, ColumnProfile] = {}
    rows: int | None = None
    if not cheap or not names:
        rows = int(_fetch_row(opened, opened.table.aggregate(n=opened.table.count()))["n"])
    most = None if rows is None or rows <= _MOST_ROWS else _MOST_ROWS
    for batch in _batches(names, _COUNTED):
        chosen = {f"c{i}": _countable_value(opened.table[name], opened.engine.kind) for i, name in enumerate(batch)}
        table = opened.table.select(**chosen)
        table = table if most is None else table.limit(most)
        wanted: dict[str, ir.Scalar] = {"n": table.count()}
        for i in range(len(batch)):
            column = table[f"c{i}"]
            wanted |= {f"d{i}": column.approx_nunique(), f"f{i}": column.count()}
            kind = column.type()
            if kind.is_numeric() and not kind.is_boolean():
                wanted |= {f"a{i}": column.min(), f"b{i}": column.max()}
            elif not (kind.is_boolean() or kind.is_string()):  # text is counted again
                wanted[f"s{i}"] = column.min() != column.max()
            if kind.is_integer():
                wanted[f"t{i}"] = ibis.ifelse(column % 10 == 0, 1, 0).sum()
        got = _fetch_row(opened, table.aggregate(**wanted))
        rows = int(got["n"]) if rows is None else rows
        scale = 1.0 if most is None else rows / most
        for i, name in enumerate(batch):
            filled = min(round((got[f"f{i}"] or 0) * scale), rows)
            # The count of values is approximate; whether there are two is not.
            low, high = got.get(f"a{i}"), got.get(f"b{i}")
            distinct = min(max(int(got[f"d{i}"] or 0), 2 if got.get(f"s{i}") or low != high else 0), filled)
            tens = got.get(f"t{i}")
            serial = tens is not None and _is_serial(distinct, low, high, int(tens) / max(got[f"f{i}"] or 0, 1))
            made[name] = ColumnProfile(
                rows, filled, distinct, serial=serial, whole=_whole_number_kind(low, high, distinct, filled)
            )
    return rows or 0, made


def _is_serial(distinct: int, low: int | None, high: int | None, tens: float) -> bool:
    """Whole numbers given out one after the other, or all of one length; amounts are often round."""
    if low is None or high is None or low < 0 or tens > 0.2:
        return False
    one_length = low > 9999 and len(str(low)) == len(str(high))
    return one_length or distinct >= 0.4 * (high - low + 1)


def _countable_value(column: ir.Column, engine: str) -> ir.Column:
    """The column; not a number is no number, and what engines cannot count is counted as text."""
    kind = column.type()
    if kind.is_floating() and engine != "sqlite":  # which has no such number
        return ibis.ifelse(column.isnan(), ibis.null(kind), column)
    return column.cast("string") if kind.is_time() or kind.is_uuid() else column


def _whole_number_kind(low: float | None, high: float | None, distinct: int, filled: int) -> WholeNumberKind | None:
    """What numbers between these may be, if they are whole."""
    if low is None or high is None or not 0 < low <= high < 2**63:
        return None
    if low >= _FIRST_DAY and high <= _LAST_DAY:
        return WholeNumberKind.DAYS
    if low >= _FIRST_MONTH and high <= _LAST_MONTH and distinct > 2:
        return WholeNumberKind.MONTHS
    for unit in (1, 10**3, 10**6, 10**9):
        first, last = low / unit, high / unit
        spread = distinct > 0.2 * filled or unit > 1  # ten digits are more often a name
        if first >= _FIRST_SECOND and last <= _LAST_SECOND and last - first <= _TEN_YEARS and spread:
            return WholeNumberKind.INSTANTS
    digits = len(str(int(low)))
    return WholeNumberKind.NAMES if digits >= _DIGITS and digits == len(str(int(high))) else None


def _verified_whole_kinds(opened: OpenTable, shapes: dict[str, ColumnProfile]) -> dict[str, ColumnProfile]:
    """Those columns that may be days, instants or names, with what they are: all values must be whole, and days be."""
    maybe = {name: shape for name, shape in shapes.items() if shape.whole is not None}
    if not maybe:
        return {}
    chosen = {f"c{i}": _countable_value(opened.table[name], opened.engine.kind) for i, name in enumerate(maybe)}
    table = opened.table.select(**chosen).limit(_MOST_ROWS)
    wanted: dict[str, ir.Scalar] = {}
    for i, shape in enumerate(maybe.values()):
        column = table[f"c{i}"]
        whole = column.cast("int64")
        fits = column == whole
        if shape.whole is WholeNumberKind.DAYS:
            fits &= (whole // 100 % 100).between(1, 12) & (whole % 100).between(1, 31)
        if shape.whole is WholeNumberKind.MONTHS:
            fits &= (whole % 100).between(1, 12)
        wanted |= {f"n{i}": column.count(), f"f{i}": ibis.ifelse(fits, 1, 0).sum()}
    got = _fetch_row(opened, table.aggregate(**wanted))
    return {
        name: shape if got[f"n{i}"] == (got[f"f{i}"] or 0) else replace(shape, whole=None)
        for i, (name, shape) in enumerate(maybe.items())
    }


def _text_values(
    opened: OpenTable, shapes: dict[str, ColumnProfile], rows: int, few: int, most: int
) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Each column of text with its values and the rows that have them: of all rows, or some where values are many."""
    names = list(shapes)
    if rows <= most and rows * len(names) <= _AT_ONCE:
        for batch in _batches(names, _COUNTED):
            table = opened.engine.fetch(opened.table.select(**{f"c{i}": name for i, name in enumerate(batch)}))
            for i, name in enumerate(batch):
                yield name, list(Counter(v for v in table[f"c{i}"].to_pylist() if v is not None).items())
        return
    for name in names:
        # Many values show what they are in fewer rows.
        cells = opened.table.select(s=name).limit(_MOST_ROWS if shapes[name].distinct <= few else most)
        cells = cells.filter(cells["s"].notnull())
        counted = opened.engine.fetch(cells.group_by("s").agg(n=cells.count()))
        yield name, list(zip(counted["s"].to_pylist(), counted["n"].to_pylist(), strict=True))


def _text_profile(shape: ColumnProfile, cells: Iterable[tuple[str, int]]) -> ColumnProfile:
    """What the values look like, which words for nothing there are, and how values are spelt."""
    counts = dict.fromkeys(CellLabel, 0)
    words: dict[str, None] = {}
    stored, length = 0, 0
    folded, digits = set(), set()
    for cell, n in cells:
        label = label_of(cell)
        counts[label] += n
        length += n * len(cell)
        if label is CellLabel.NOTHING or label is CellLabel.ANSWER:
            words[null_word(cell.strip()) or ""] = None
        elif label is not CellLabel.EMPTY:
            stored += 1
            folded.add(hash(normalize_text(cell, _CATEGORY)))
            digits.add(
                len(cell.strip()) if label in (CellLabel.WHOLE, CellLabel.COMPACT) and cell.strip().isdigit() else 0
            )
    nothing = counts.pop(CellLabel.EMPTY) + counts.pop(CellLabel.NOTHING)
    filled = sum(counts.values())
    every = nothing + filled >= shape.filled  # all were looked at: an exact count
    return replace(
        shape,
        distinct=stored + len(words) if every else max(stored + len(words), shape.distinct),
        labels={label: n / filled for label, n in counts.items() if n},
        nothing=nothing / (nothing + filled) if nothing else 0.0,
        length=length / max(nothing + filled, 1),
        words=tuple(sorted(words)),
        spellings=stored - len(folded),
        whole=WholeNumberKind.NAMES if len(digits) == 1 and min(digits) >= _DIGITS else None,
    )
