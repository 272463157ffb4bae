"""The second opinion on a report: the same answers in plain Python, from the file as the ``csv`` module reads it."""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.messy.expected import Expected

from epsilens.plan.model import Data, ReleaseQuery

Row = Mapping[str, Any]
_TERM = re.compile(r"""\s*(?:"((?:[^"]|"")+)"|(\w+))\s*(<=|>=|<>|!=|=|<|>)\s*(?:'((?:[^']|'')*)'|([-\d.]+))\s*""")


_SIGNS = {"=": operator.eq, "<>": operator.ne, "!=": operator.ne, "<": operator.lt, ">": operator.gt}
_SIGNS |= {"<=": operator.le, ">=": operator.ge}


def folded(value: Any) -> str:
    """A name of a group, whatever its capitals and blanks; numbers by what they are worth."""
    if value is None:
        return "(empty)"
    text = " ".join(str(value).split()).casefold()
    try:
        return str(float(text)) if not re.match(r"0\d", text) else text
    except ValueError:
        return text


def owners(rows: Iterable[Row], expected: Expected, data: Data) -> set[tuple[Any, ...]]:
    """Everybody a plan protects one by one: who a row belongs to, or the row itself."""
    return {_whose(i, row, expected, data) for i, row in enumerate(rows) if not _nobodys(row, expected, data)}


def _nobodys(row: Row, expected: Expected, data: Data) -> bool:
    """Whether a row does not say whose it is: such rows are left out, and told."""
    names = [name for name in (data.unit, data.person) if name is not None]
    return expected.holes and any(str(row[name] or "").strip().casefold() in ("", "n/a") for name in names)


def _whose(i: int, row: Row, expected: Expected, data: Data) -> tuple[Any, ...]:
    names = [name for name in (data.unit, data.person) if name is not None]
    return tuple(str(expected.reading(name)(row[name])) for name in names) if names else (i,)


def answers(rows: Sequence[Row], expected: Expected, query: ReleaseQuery, data: Data) -> dict[tuple[str, ...], float]:
    """What a query of a plan comes to on the whole table, for each group, by folded names."""
    planned, by = query.to_query(), query.split_by
    column = query.sum or query.average
    wanted = _condition(planned.where, expected)
    people: dict[tuple[str, ...], set] = defaultdict(set)
    values: dict[tuple[str, ...], list[Fraction]] = defaultdict(list)
    for i, row in enumerate(rows):
        if not wanted(row) or _nobodys(row, expected, data):
            continue
        label = tuple(folded(expected.reading(name)(row[name])) for name in by)
        as_rows = query.rows or (data.unit is not None and data.person is None)
        people[label].add((i,) if as_rows else _whose(i, row, expected, data))
        if column is not None and (value := expected.reading(column)(row[column])) is not None:
            values[label].append(Fraction(value))
    if column is None:
        return {label: float(len(who)) for label, who in people.items()} or {(): 0.0}
    if query.sum is not None:
        return {label: float(sum(values[label])) for label in people}
    return {label: float(sum(values[label]) / len(values[label])) for label in people if values[label]}


def _condition(where: str | None, expected: Expected) -> Any:
    """A condition such as ``"ICD-10" = 'F32.1' and age > 30`` as a function of a row."""
    if where is None:
        return lambda row: True
    terms = []
    for part in re.split(r"\s+and\s+", where, flags=re.I):
        found = _TERM.fullmatch(part)
        assert found, f"the judge cannot read the condition {where!r}"
        name, sign = (found[1] or found[2]).replace('""', '"'), found[3]
        terms.append((name, sign, found[4].replace("''", "'") if found[5] is None else Fraction(found[5])))

    def holds(row: Row) -> bool:
        return all(_compared(expected.reading(name)(row[name]), sign, value) for name, sign, value in terms)

    return holds


def _compared(cell: Any, sign: str, value: Any) -> bool:
    if cell is None:
        return False
    if isinstance(value, str):
        cell, value = folded(cell), folded(value)
    else:
        cell = Fraction(cell)
    return bool(_SIGNS[sign](cell, value))


def leaked(text: str, rows: Sequence[Row], own_words: Iterable[str]) -> set[str]:
    """Cells of the table that stand in a text: whole ones, of at least four signs with a letter, or six digits."""
    ours = {word.casefold() for words in own_words for word in (words, *words.split())}
    words = text.casefold().split()
    said = {" ".join(words[i : i + k]) for k in range(1, 7) for i in range(len(words))}
    said |= {s.strip("\"'.,;:()[]{}#") for s in said}
    cells = {" ".join(str(value).split()).casefold() for row in rows for value in row.values() if value is not None}
    telling = {c for c in cells if (len(c) > 3 and re.search(r"[^\W\d_]", c)) or len(re.findall(r"\d", c)) > 5}
    return {c for c in telling & said if c not in ours}
