"""What the name of a column says: any spelling, English and the commonest words of six other languages.

>>> words("Patienten-Nr."), words("YearOfBirth"), words("N° patient")
(('patienten', 'nr'), ('year', 'of', 'birth'), ('number', 'patient'))
>>> meaning("Patienten-Nr.").word, meaning("dateOfBirth").word, meaning("ICD-10").word
('person', 'birth date', 'diagnosis')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from configparser import ConfigParser
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

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
