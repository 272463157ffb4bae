"""A certificate file: read strictly, every number exact."""

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

READINGS = ("delta", "epsilon", "advantage", "success", "fnr")
#: What each mechanism needs (one of the names between bars), and what it may have.
MECHANISMS = {
    "gaussian": ("sigma", "shift rate people"),
    "laplace": ("scale|epsilon", "shift rate people"),
    "geometric": ("scale|epsilon", "shift"),
    "discrete_gaussian": ("sigma", "shift"),
    "randomized_response": ("epsilon", "categories"),
    "finite": ("p0 p1", ""),
}
DEFAULTS = {"shift": Fraction(1), "rate": Fraction(1), "people": Fraction(1), "count": Fraction(1)}
LARGEST = 4_000_000  # bytes
DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,800})?([eE][+-]?[0-9]{1,3})?")
HEXADECIMAL = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}")


class InputError(Exception):
    """One sentence about what is wrong with the file."""


class Token(str):
    """A number of the file as it was written."""


@dataclass(frozen=True)
class Certificate:
    releases: list[dict[str, Any]]
    relation: str
    reading: str
    at: Fraction
    lower: Fraction
    upper: Fraction


def must(holds: bool, sentence: str) -> None:
    if not holds:
        raise InputError(sentence)


def number(text: Any, name: str, doubles: bool) -> Fraction:
    """The exact decimal, or exactly the double nearest to it."""
    must(isinstance(text, str), f"{name} must be a number")
    if doubles and HEXADECIMAL.fullmatch(text):
        return Fraction(float.fromhex(text))
    must(DECIMAL.fullmatch(text) is not None, f"{name} must be a finite decimal number, its exponent below 1000")
    must(not doubles or abs(float(text)) < float("inf"), f"{name} must be a finite double")
    return Fraction(float(text)) if doubles else Fraction(text)


def word(entry: dict[str, Any], key: str, words: tuple[str, ...]) -> str:
    value = entry.get(key)
    must(isinstance(value, str) and value in words, f"{key} must be one of {', '.join(words)}")
    return str(value)


def release(entry: Any, doubles: bool) -> dict[str, Any]:
    """One release, its parameters exact and in their ranges."""
    must(isinstance(entry, dict), "a release must be an object")
    mechanism = word(entry, "mechanism", tuple(MECHANISMS))
    needs, may = (names.split() for names in MECHANISMS[mechanism])
    for names in needs:
        must(
            len(set(names.split("|")) & entry.keys()) == 1, f"a {mechanism} release needs {names.replace('|', ' or ')}"
        )
    allowed = {name for names in needs for name in names.split("|")} | {"mechanism", "count", *may}
    must(entry.keys() <= allowed, f"a {mechanism} release has a key that is not of its format")
    made: dict[str, Any] = {"mechanism": mechanism, "categories": Fraction(2), **DEFAULTS}
    for key in entry.keys() - {"mechanism", "p0", "p1"}:
        made[key] = number(entry[key], key, doubles)
        must(Fraction(1, 10**12) <= made[key] <= 10**9, f"{key} must be between 1e-12 and 1e9")
    whole = {"count", "people", "categories"} | (
        {"shift"} if mechanism in ("geometric", "discrete_gaussian") else set()
    )
    must(all(made[key].denominator == 1 for key in whole), f"{', '.join(sorted(whole))} must be whole numbers")
    must(made["rate"] <= 1 and made["categories"] >= 2, "rate must be at most 1, categories at least 2")
    most = 10**9 if made["rate"] == 1 else 50 if mechanism == "gaussian" else 1
    must(made["people"] <= most, f"people must be at most {most} here")
    for key in {"p0", "p1"} & entry.keys():
        must(isinstance(entry[key], list) and 1 <= len(entry[key]) <= 1000, f"{key} must list 1 to 1000 numbers")
        made[key] = [number(mass, key, doubles) for mass in entry[key]]
        must(min(made[key]) >= 0 and sum(made[key]) == 1, f"the probabilities {key} must sum to 1 exactly")
    must(len(made.get("p0", [])) == len(made.get("p1", [])), "p0 and p1 must be equally long")
    return made


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    must(len(dict(pairs)) == len(pairs), "a key stands twice in one object")
    return dict(pairs)


def read(path: str) -> Certificate:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        must(len(data) <= LARGEST, f"the file is larger than {LARGEST} bytes")
        entry = json.loads(data.decode(), parse_float=Token, parse_int=Token, object_pairs_hook=unique)
    except (OSError, ValueError, RecursionError):
        raise InputError("the file cannot be read as JSON") from None
    must(isinstance(entry, dict), "a certificate must be an object")
    word(entry, "format", ("epsilens-certificate/1",))
    doubles = word(entry, "numbers", ("decimals", "doubles")) == "doubles"
    relation, reading = word(entry, "relation", ("remove", "add", "both")), word(entry, "reading", READINGS)
    at = {"at"} if reading in ("delta", "epsilon", "fnr") else set()
    needed = {"format", "numbers", "releases", "relation", "reading", "lower", "upper"} | at
    must(
        entry.keys() - {"hints", "note"} == needed,
        f"a certificate of {reading} has the keys {', '.join(sorted(needed))}",
    )
    note, hints, releases = entry.get("note", ""), entry.get("hints", {}), entry["releases"]
    must(type(note) is str and len(note) <= 1000, "note must be a text of at most 1000 characters")
    known = isinstance(hints, dict) and hints.keys() <= {"exponent", "period", "threshold"}
    must(known, "hints may hold exponent, period and threshold")
    for key in hints:
        number(hints[key], key, doubles)
    must(isinstance(releases, list) and 1 <= len(releases) <= 64, "releases must list 1 to 64 releases")
    ends = [number(entry.get(key, "0"), key, doubles) for key in ("at", "lower", "upper")]
    must(0 <= ends[0] < (10**6 if reading == "delta" else 1), "at is out of its range")
    must(reading != "fnr" or ends[0] > 0, "at must be above 0 for fnr")
    must(ends[1] <= ends[2], "lower must not be above upper")
    return Certificate([release(each, doubles) for each in releases], relation, reading, *ends)
