"""A release to start from, written by looking at a table's columns: names, types and how many values each has.

Names and types are not secret and neither, as a rule, is how many sites there are. Bounds are another matter: they are
never taken from the data, because a bound that is the largest value in the table publishes it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.tables.engines import need_ibis
from ..data.tables.open import open_table
from ..errors import InputError

__all__ = ["starting_release"]

_WHO = re.compile(
    r"^(person|patient|user|member|subject|client|customer|participant|respondent|individual|household|employee|student|"
    r"pupil|citizen|account)?_?(id|key|no|nr|num|number|identifier|uuid|guid|code|hash)?$",
    re.I,
)
_KNOWN = re.compile(
    r"(^|_)(age|sex|gender|female|male|race|black|white|ethnic\w*|educ\w*|school\w*|degree|zip\w*|postcode|postal\w*|region|"
    r"state|county|country|city|town|district|site|ward|birth\w*|dob|marital\w*|married|occupation|job|profession|nationality|"
    r"native\w*|language|religion|family|household|children|employ\w*|work_?class|workclass)(_|$)",
    re.I,
)
_AMOUNT = re.compile(
    r"(^|_)(income|amount|total|cost|price|spend\w*|salary|wage\w*|visits?|hours|dollars|score|days|claims?|paid)", re.I
)
_NO_AMOUNT = re.compile(r"(^|_)(year|month|day|week|date|time|weight|lat\w*|lon\w*)($|_)", re.I)
_MOST_KNOWN = 6
_MOST_COLUMNS = 400
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass(frozen=True)
class _Column:
    """What is looked at: the name, whether it is a number or could be a person's or an attacker's, and its values."""

    name: str
    numeric: bool
    whole: bool
    plain: bool
    distinct: int


def starting_release(table: Any, engine: Any = None) -> str:
    """A commented YAML release for ``table``: it validates and can be assessed, and asks to be edited."""
    with open_table(table, engine) as opened:
        name = table if isinstance(table, str | Path) else "table.parquet"
        rows, columns = _look(opened)
    if not columns:
        raise InputError(
            f"table is {str(name)!r}: it has no column of text, numbers, booleans or dates to plan with",
            parameter="table",
        )
    person = _person(columns, rows)
    known = _known([c for c in columns if c is not person])
    return _written(str(name), person, known, columns)


def _look(opened: Any) -> tuple[int, list[_Column]]:
    """One pass over the table: rows, and about how many values each column has."""
    ibis = need_ibis()
    schema = opened.table.schema()
    names = [n for n in schema.names if not (schema[n].is_nested() or schema[n].is_binary())][:_MOST_COLUMNS]
    counts = {f"d{i}": opened.table[n].approx_nunique() for i, n in enumerate(names)}
    got = opened.engine.fetch(opened.table.aggregate(n=ibis._.count(), **counts)).to_pylist()[0]
    rows = int(got["n"] or 0)
    made = []
    for i, name in enumerate(names):
        kind = schema[name]
        plain = kind.is_string() or kind.is_integer() or kind.is_boolean() or kind.is_date() or kind.is_numeric()
        numeric = kind.is_numeric() and not kind.is_boolean()
        made.append(
            _Column(name, numeric, kind.is_integer() or kind.is_string(), plain, min(int(got[f"d{i}"] or 0), rows))
        )
    return rows, made


def _person(columns: list[_Column], rows: int) -> _Column | None:
    """An identifier that repeats: a person with several rows. One that never repeats needs no naming."""
    named = [c for c in columns if c.whole and c.name and _WHO.match(c.name) and c.distinct > 1]
    # The count of values is approximate, within a few per cent.
    return next((c for c in named if c.distinct < 0.9 * rows), None)


def _known(columns: list[_Column]) -> list[_Column]:
    """Columns whose names are what people know of each other; where none is, columns with few values."""
    usable = [c for c in columns if c.plain and 2 <= c.distinct <= 1000]
    told = [c for c in usable if _KNOWN.search(c.name)]
    return (told or [c for c in usable if c.distinct <= 50][:3])[:_MOST_KNOWN]


def _written(table: str, person: _Column | None, known: list[_Column], columns: list[_Column]) -> str:
    summed = _summed([c for c in columns if c is not person and c not in known])
    few = [c for c in known if c.distinct <= 20]
    split = max([c for c in few if c.whole and c.distinct <= 12] or few, key=lambda c: c.distinct, default=None)
    others = [c.name for c in columns if c is not person and c not in known][:12]
    lines = [
        "# A release to start from. Lines marked 'choose' are guesses: edit them, then run  epsilens assess FILE",
        f"title: {_text(f'Release of {Path(table).name}')}",
        "data:",
        f"  table: {_text(table)}",
    ]
    if person is not None:
        lines += [
            f"  person: {_text(person.name)}".ljust(40) + "# choose: the column that says whose row it is",
            "  max_rows: 5".ljust(40) + "# choose without looking at the data: the most rows of one person to use",
        ]
    else:
        lines.append(
            "  # person: id".ljust(40) + "# the column that says whose row it is, if a person has several rows"
        )
    quoted = ", ".join(_text(c.name) for c in known)
    lines += [
        f"  quasi_identifiers: [{quoted}]",
        "  # choose: what an attacker may know about a person. Other columns: "
        + (", ".join(map(_text, others)) or "none"),
        "  # secret: diagnosis = 'F32'".ljust(40) + "# what the attacker wants to learn, a condition on a row",
        "queries:",
        "  - count: true".ljust(40) + "# people, or those who meet a condition: count: age > 30",
    ]
    if split is not None:
        lines += [
            f"    by: {_text(split.name)}",
            "    threshold: auto".ljust(40) + "# publish groups with enough people; or list them: groups: [a, b]",
        ]
    if summed is not None:
        lines += [
            f"  - sum: {_text(summed.name)}",
            "    bounds: [0, 100]".ljust(40) + "# choose without looking at the data: values beyond are cut off",
        ]
    lines += [
        "mechanism:",
        "  noise: laplace".ljust(40) + "# or gaussian, with delta: 1.0e-6",
        "  epsilon: 1.0".ljust(40) + "# choose: the total, which the queries share",
        "adversary:",
        "  prior: 0.5".ljust(40) + "# how likely they think the person is in the data",
        "  knows: one answer".ljust(40) + "# nothing | one answer",
        "  baseline: 0.01".ljust(40) + "# how often re-identification succeeds against a release without the person",
        "limits:",
        "  success: 0.55".ljust(40) + "# choose: right guesses tolerated; 0.5 is a coin",
        "  # error: 0.1".ljust(40) + "# the error tolerated, as a share of the answer",
    ]
    return "\n".join(lines) + "\n"


def _summed(columns: list[_Column]) -> _Column | None:
    """A number to add up: one named like an amount, else the one with most values; no identifiers, no dates."""
    numbers = [
        c for c in columns if c.numeric and c.distinct > 2 and not _WHO.match(c.name) and not _NO_AMOUNT.search(c.name)
    ]
    return next((c for c in numbers if _AMOUNT.search(c.name)), max(numbers, key=lambda c: c.distinct, default=None))


def _text(value: str) -> str:
    """A string for YAML: plain where it is a word, else as JSON, which YAML reads."""
    if _WORD.fullmatch(value) and value.casefold() not in _YAML_WORDS:
        return value
    return json.dumps(value)
