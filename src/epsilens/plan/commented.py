"""A plan to start from as YAML, with a comment on every choice.

A plan may be shown to others, so nothing in it is counted in the table or taken from its cells: names of columns, and
words of our own.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from ..data.tables.columns import As, Form, Order
from ..data.understanding.understood import Column, Understanding
from .told import called

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_WIDTH = 44
_LINE = 110


@dataclass(frozen=True)
class Grouping:
    """How answers are split, and whether everybody stays in one group."""

    column: Column
    steady: bool


@dataclass(frozen=True)
class StarterParts:
    """What a plan is made of: what an attacker may know, how answers are split, what is averaged, how text is read."""

    known: tuple[Column, ...]
    split: Grouping | None
    amount: Column | None
    secret: Column | None
    read: tuple[Column, ...]
    others: tuple[str, ...]


def written(table: str, title: str, found: Understanding, chosen: StarterParts, warnings: Sequence[str]) -> str:
    """The plan."""
    lines = ["# A release to start from: edit what is marked 'choose', then run  epsilens assess FILE"]
    for warning in warnings:
        lines += textwrap.wrap(f"WARNING: {warning}", _LINE, initial_indent="# ", subsequent_indent="#   ")
    lines += [
        f"title: {as_yaml(title)}",
        "data:",
        f"  table: {as_yaml(table)}",
        *_people_lines(found),
        *(_groups_lines(chosen.split) if found.person is not None or (found.nobody and found.unit is not None) else ()),
        *_known_lines(chosen),
        *_secret_lines(chosen.secret),
        *_read_lines(chosen.read),
        "queries:",
        *_count_lines(chosen.split),
        *_average_lines(chosen.amount),
        "mechanism:",
        _with("  noise: laplace", "or gaussian, with delta: 1.0e-6"),
        _with("  epsilon: 1.0", "choose: the total, which the queries share"),
        "adversary:",
        _with("  prior: 0.5", "how likely they think the person is in the data"),
        _with("  knows: one answer", "nothing | one answer"),
        _with("  baseline: 0.01", "how often re-identification succeeds against a release without the person"),
        "limits:",
        _with("  success: 0.55", "choose: right guesses tolerated; 0.5 is a coin"),
        _with("  # error: 0.1", "the error tolerated, as a share of the answer"),
    ]
    return "\n".join(lines) + "\n"


def _with(line: str, comment: str) -> str:
    return f"{line.ljust(_WIDTH - 1)} # {comment}"


def _people_lines(found: Understanding) -> list[str]:
    lines = []
    if found.person is not None:
        why = "its name says whose row it is" if found.person.named else "its values come back like a person's"
        others = f"; else {called([o.name for o in found.others], 'or')}" if found.others else ""
        lines += [
            _with(f"  person: {as_yaml(found.person.name)}", f"choose: {why}{_comment(others)}"),
            _with("  max_rows: 5", "choose without looking at the data: the most rows of one person to use"),
        ]
    elif found.single is not None:
        lines.append(_with(f"  # person: {as_yaml(found.single.name)}", "not needed: it is different in every row"))
    elif found.unit is not None:
        lines += [
            _with(f"  unit: {as_yaml(found.unit.name)}", "choose: who is protected together; no column names a person"),
            _with("  max_rows: 20", "choose without looking at the data: the most rows of one of them to use"),
        ]
    else:
        maybe = found.others[0].name if found.others else "id"
        lines.append(
            _with(f"  # person: {as_yaml(maybe)}", "choose: the column that says whose row it is; none was found")
        )
    if found.unit is not None and not found.nobody:
        lines.append(_with(f"  # unit: {as_yaml(found.unit.name)}", "to protect everyone who shares it together"))
    return lines


def _groups_lines(split: Grouping | None) -> list[str]:
    """Where people are in several groups, one each would leave out the others."""
    if split is None or split.steady:
        return []
    return [_with("  max_groups: 3", "choose without looking at the data: the most groups a person is counted in")]


def _known_lines(chosen: StarterParts) -> list[str]:
    lines = ["  quasi_identifiers:".ljust(_WIDTH - 1) + " # choose: what an attacker may know about a person"]
    lines += [_with(f"    - {as_yaml(c.name)}", _comment(c.meaning or "few values")) for c in chosen.known]
    if not chosen.known:
        lines[0] = _with(
            "  quasi_identifiers: []", "choose: what an attacker may know about a person; nothing was found"
        )
    if chosen.others:
        rest = f"# Other columns: {', '.join(map(as_yaml, chosen.others))}"
        lines += textwrap.wrap(
            rest,
            _LINE,
            initial_indent="    ",
            subsequent_indent="    #   ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def _secret_lines(column: Column | None) -> list[str]:
    """A condition that needs no value of the table where there is one, else a line to fill in."""
    if column is None:
        return [_with("  # secret: diagnosis = 'F32'", "what the attacker wants to learn, a condition on a row")]
    name, number = _quoted(column.name), "int" in column.kind or "float" in column.kind
    meant = f" ({_comment(column.meaning)})" if column.meaning else ""
    why = f"choose: what the attacker wants to learn{meant}"
    if column.kind == "boolean":
        return [_with(f"  secret: {as_yaml(name)}", why)]
    if number and column.distinct == 2:
        return [_with(f"  secret: {as_yaml(f'{name} = 1')}", why)]
    if column.bounds is not None:
        return [_with(f"  secret: {as_yaml(f'{name} > {sum(column.bounds) / 2:g}')}", why)]
    condition = f"{name} = {'…' if number else chr(39) + '…' + chr(39)}"
    return [_with(f"  # secret: {as_yaml(condition)}", f"{why}; fill in the value")]


def _read_lines(columns: Sequence[Column]) -> list[str]:
    if not columns:
        return []
    lines = [_with("  read:", "how columns of text are read; what cannot be read so counts as empty")]
    for column in columns:
        assert column.form is not None
        why = {
            As.NUMBER: "numbers written as text",
            As.DATE: "dates written as numbers" if "int" in column.kind else "dates written as text",
            As.CATEGORY: "capitals and blanks do not count",
            As.CODE: "capitals and blanks do not count",
            As.TEXT: "numbers that are names" if "int" in column.kind else "text",
        }[column.form.kind]
        if column.form.empty and column.form.kind is As.TEXT:
            why = "some words stand for nothing"
        lines.append(_with(f"    {as_yaml(column.name)}: {_form(column.form)}", why))
    return lines


def _form(form: Form) -> str:
    parts = [f"as: {form.kind}"]
    if form.kind is As.NUMBER:
        parts.append(f"decimal: {json.dumps(form.decimal)}")
    if form.kind is As.DATE and form.order is not Order.YEAR_FIRST:
        parts.append(f"order: {form.order}")
    if form.empty:
        parts.append(f"empty: [{', '.join(json.dumps(word, ensure_ascii=False) for word in form.empty)}]")
    return form.kind.value if len(parts) == 1 else "{" + ", ".join(parts) + "}"


def _count_lines(split: Grouping | None) -> list[str]:
    lines = [_with("  - count: true", "people, or those who meet a condition: count: age > 30")]
    if split is not None:
        lines += [
            _with(f"    by: {as_yaml(split.column.name)}", "choose: how the answers are split"),
            _with("    threshold: auto", "publish groups with enough people; or list those that are published"),
        ]
    return lines


def _average_lines(amount: Column | None) -> list[str]:
    if amount is None:
        return []
    if amount.bounds is None:
        return [
            _with(f"  # - average: {as_yaml(amount.name)}", "an average or a sum needs bounds, and nothing says what"),
            _with("  #   bounds: [0, 100]", "it measures: choose them without looking at the data"),
        ]
    low, high = amount.bounds
    return [
        _with(f"  - average: {as_yaml(amount.name)}", "choose: a number people have"),
        _with(
            f"    bounds: [{low:.15g}, {high:.15g}]",
            f"choose without looking at the data (usual for {_comment(amount.meaning or 'it')}): beyond is cut off",
        ),
    ]


def _quoted(name: str) -> str:
    """A column in a condition."""
    return name if _WORD.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _comment(text: str) -> str:
    """Text that can stand in a comment: one line, nothing that ends it."""
    return " ".join(text.split())


def as_yaml(value: str) -> str:
    """A string for YAML: plain where it is a word, else as JSON, which YAML reads.

    >>> as_yaml("age"), as_yaml("Patient ID"), as_yaml("no")
    ('age', '"Patient ID"', '"no"')
    """
    if _WORD.fullmatch(value) and value.casefold() not in _YAML_WORDS:
        return value
    # Characters that YAML's reader refuses, or reads as a line's end, must be escaped; letters need not be.
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(value, ensure_ascii=False))
