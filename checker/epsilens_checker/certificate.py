"""A certificate file: read strictly, every number exact."""

import json
import re
from dataclasses import dataclass, field
from fractions import Fraction

RELATIONS = ("remove", "add", "both")
READINGS = {"delta": "at", "epsilon": "at", "advantage": None, "success": None, "fnr": "at"}
KEYS = {"format", "numbers", "releases", "relation", "reading", "at", "lower", "upper"}
SCALED = {"scale", "epsilon"}
#: The parameters of each mechanism: one of the first, all of the second, any of the third.
MECHANISMS = {
    "gaussian": (set(), {"sigma"}, {"shift", "rate", "people"}),
    "laplace": (SCALED, set(), {"shift", "rate", "people"}),
    "geometric": (SCALED, set(), {"shift"}),
    "discrete_gaussian": (set(), {"sigma"}, {"shift"}),
    "randomized_response": (set(), {"epsilon"}, {"categories"}),
    "finite": (set(), {"p0", "p1"}, set()),
}
WHOLE = {"count": 10**9, "people": 10**9, "categories": 10**9}
LARGEST = 4_000_000  # bytes


class InputError(Exception):
    """One sentence about what is wrong with the file."""


@dataclass
class Certificate:
    releases: list[dict] = field(default_factory=list)
    relation: str = ""
    reading: str = ""
    at: Fraction = Fraction(0)
    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(0)


class Token(str):
    """A number of the file as it was written."""


def unique(pairs: list[tuple[str, object]]) -> dict:
    if len({key for key, _ in pairs}) < len(pairs):
        raise InputError("a key stands twice in one object")
    return dict(pairs)


def number(text: object, name: str, doubles: bool) -> Fraction:
    """The exact decimal, or exactly the double nearest to it."""
    if not isinstance(text, str) or len(text) > 1200:
        raise InputError(f"{name} must be a number")
    if doubles and re.fullmatch(r"[+-]?0x[0-9a-f]{1,20}(\.[0-9a-f]{0,20})?p[+-]?\d{1,4}", text, re.ASCII):
        return Fraction(float.fromhex(text))
    if not re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d{1,3})?", text, re.ASCII):
        raise InputError(f"{name} must be a finite number with at most three digits of exponent")
    value = Fraction(text)
    if doubles and abs(value) >= 2**1024:
        raise InputError(f"{name} is not the text of a double")
    return Fraction(float(text)) if doubles else value


def one_of(value: object, allowed: object, name: str) -> str:
    if not isinstance(value, str) or isinstance(value, Token) or value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}")
    return value


def keys(entry: object, needed: set[str], allowed: set[str], name: str) -> dict:
    if not isinstance(entry, dict):
        raise InputError(f"{name} must be an object")
    if needed - entry.keys():
        raise InputError(f"{name} needs {min(needed - entry.keys())}")
    if entry.keys() - allowed:
        raise InputError(f"{name} has a key that is not of its format")
    return entry


def release(entry: object, doubles: bool) -> dict:
    """One release, its parameters exact and within their ranges."""
    if not isinstance(entry, dict):
        raise InputError("a release must be an object")
    mechanism = one_of(entry.get("mechanism"), MECHANISMS, "mechanism")
    either, needed, more = MECHANISMS[mechanism]
    keys(entry, needed | {"mechanism"}, either | needed | more | {"mechanism", "count"}, f"a {mechanism} release")
    if either and len(either & entry.keys()) != 1:
        raise InputError(f"a {mechanism} release needs either {' or '.join(sorted(either))}")
    made = {"mechanism": mechanism, "shift": Fraction(1), "rate": Fraction(1), "people": 1, "count": 1, "categories": 2}
    for key in entry.keys() - {"mechanism", "p0", "p1"}:
        value = number(entry[key], key, doubles)
        whole = key in WHOLE or (key == "shift" and mechanism in ("geometric", "discrete_gaussian"))
        if whole and (value.denominator > 1 or not 1 + (key == "categories") <= value <= WHOLE.get(key, 10**6)):
            raise InputError(f"{key} must be a whole number in its range")
        if not Fraction(1, 10**12) <= value <= 10**12 or (key == "rate" and value > 1):
            raise InputError(f"{key} is out of its range")
        made[key] = int(value) if whole else value
    if made["rate"] < 1 and made["people"] > (50 if mechanism == "gaussian" else 1):
        raise InputError(f"people is too large beside a rate for a {mechanism} release")
    for key in needed & {"p0", "p1"}:
        if not isinstance(entry[key], list) or not 1 <= len(entry[key]) <= 1000:
            raise InputError(f"{key} must be a list of 1 to 1000 numbers")
        made[key] = [number(p, key, doubles) for p in entry[key]]
        if min(made[key]) < 0 or sum(made[key]) != 1:
            raise InputError(f"the probabilities {key} must sum to 1 exactly")
    if mechanism == "finite" and len(made["p0"]) != len(made["p1"]):
        raise InputError("p0 and p1 must be equally long")
    return made


def read(path: str) -> Certificate:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError):
        raise InputError("the file cannot be read") from None
    if len(data) > LARGEST:
        raise InputError(f"the file is larger than {LARGEST} bytes")
    try:
        entry = json.loads(data.decode(), parse_float=Token, parse_int=Token, parse_constant=Token,
                           object_pairs_hook=unique)  # fmt: skip
    except (ValueError, RecursionError):
        raise InputError("the file is not JSON") from None
    if isinstance(entry, dict) and entry.get("format") != "epsilens-certificate/1":
        raise InputError('format must be "epsilens-certificate/1"')
    keys(entry, KEYS - {"at"}, KEYS | {"hints", "note"}, "a certificate")
    doubles = one_of(entry["numbers"], ("decimals", "doubles"), "numbers") == "doubles"
    releases = entry["releases"]
    if not isinstance(releases, list) or not 1 <= len(releases) <= 64:
        raise InputError("releases must be a list of 1 to 64 releases")
    reading = one_of(entry["reading"], READINGS, "reading")
    note, hints = entry.get("note", ""), entry.get("hints", {})
    if not isinstance(note, str) or len(note) > 1000:
        raise InputError("note must be a text of at most 1000 characters")
    for key, value in keys(hints, set(), {"exponent", "period", "threshold"}, "hints").items():
        number(value, key, doubles)
    if (READINGS[reading] is None) == ("at" in entry):
        raise InputError(f"the reading {reading} takes {'an' if READINGS[reading] else 'no'} at")
    at, lower, upper = (number(entry.get(key, "0"), key, doubles) for key in ("at", "lower", "upper"))
    if at < 0 or (reading == "epsilon" and at >= 1) or (reading == "fnr" and not 0 < at < 1):
        raise InputError("at is out of its range")
    if lower > upper:
        raise InputError("lower must not be above upper")
    relation = one_of(entry["relation"], RELATIONS, "relation")
    return Certificate([release(one, doubles) for one in releases], relation, reading, at, lower, upper)
