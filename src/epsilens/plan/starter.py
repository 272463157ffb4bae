"""A release to start from, for a table nobody has explained: ready to be assessed, and asking to be edited.

Names, types and how many values a column has decide what is proposed. Bounds are never taken from the data, because a
bound that is the largest value in the table publishes it: they come from what a column means.

>>> start = init("epsilens:rand-hie")
>>> start.release.data.person, start.warnings
('person', ())
>>> print(start.sentence[:77])
20,190 rows of 5,912 people: “person” says whose row it is, up to 5 rows each
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from ..data.schema.inference import ColumnRole, ColumnSchema, TableSchema, infer_schema
from ..data.tables.address import without_password
from ..data.tables.columns import ColumnFormat, DateOrder, ParsedType, parse_columns
from ..data.tables.sources import names
from ..data.tables.table import OpenTable, open_table, reading
from ..errors import InputError, type_phrase
from ..results import Result, join_words
from .file import read_release
from .model import Release

#: So many columns are named in a sentence; the rest are counted.
_MOST = 6
_KINDS = {
    ParsedType.NUMBER: "numbers",
    ParsedType.DATE: "dates",
    ParsedType.CATEGORY: "categories, whatever their capitals and blanks",
    ParsedType.CODE: "codes, whatever their capitals and blanks",
    ParsedType.TEXT: "text",
}
#: What is said of one column, and of several.
_SAID = {
    ColumnRole.IDENTIFIER: (
        "names a person or a record and is left out of every answer",
        "name people or records and are left out of every answer",
    ),
    ColumnRole.FREE: ("holds free text and is never a group", "hold free text and are never groups"),
    ColumnRole.EMPTY: (
        "says nothing: it is empty or the same in every row",
        "say nothing: they are empty or the same in every row",
    ),
}


def summary(found: TableSchema) -> str:
    """What the table is, column by column where it matters.

    >>> from ..data.schema.inference import Owner
    >>> owner = Owner("Patient ID", 24_904, 9, named=True)
    >>> age = ColumnSchema("Age", "int64", ColumnRole.NUMBER, 90, 0, known=True)
    >>> print(summary(TableSchema("visits.csv", 50_000, (age,), owner, looked_at=50_000)))
    50,000 rows of 24,904 people: “Patient ID” says whose row it is, up to 9 rows each. An attacker may know “Age”.
    """
    said = [_owner_sentence(found)]
    known = [c.name for c in found.columns if c.known]
    nothing = "Nothing was found that an attacker would know of a person."
    said.append(f"An attacker may know {quoted_names(known)}." if known else nothing)
    secret = [c.name for c in found.columns if c.secret]
    if secret:
        said.append(f"People may want to keep {quoted_names(secret)} to themselves.")
    for kind, words in _KINDS.items():
        names = [c.name for c in found.columns if c.form is not None and c.form.kind is kind]
        if names:
            said.append(f"Text in {quoted_names(names)} is read as {words}.")
    owners = {o.name for o in (found.person, found.single) if o is not None}
    for role, (one, several) in _SAID.items():
        names = [c.name for c in found.columns if c.role is role and c.name not in owners]
        if names:
            said.append(f"{quoted_names(names)} {one if len(names) == 1 else several}.")
    if found.left_out:
        said.append(f"{found.left_out:,} more columns were not looked at.")
    if found.looked_at < found.rows:
        said.append(f"Texts were looked at in {found.looked_at:,} rows.")
    return " ".join(said)


def _owner_sentence(found: TableSchema) -> str:
    rows = f"{found.rows:,} row{'' if found.rows == 1 else 's'}"
    owner = found.person
    if owner is not None:
        often = f", up to {owner.most:,} rows each" if owner.most > 1 else ""
        said = f"{rows} of {owner.values:,} people: “{owner.name}” says whose row it is{often}."
    elif found.single is not None:
        said = f"{rows}, one a person: “{found.single.name}” is different in every row."
    else:
        said = f"{rows}; nothing says whose they are."
    others = [o.name for o in found.others]
    if owner is not None and others:
        said += f" It could also be {quoted_names(others, 'or')}."
    if found.unit is not None:
        said += f" “{found.unit.name}” says who lives together."
    return said


def warnings(found: TableSchema) -> tuple[str, ...]:
    """What must be looked at before anything is believed, the worst first."""
    made = []
    if found.rows == 0:
        made.append("The table has no rows: there is nothing to assess.")
    elif found.nobody and found.unit is not None:
        made.append(
            "No column was found that says whose row it is, so everyone with the same "
            f"“{found.unit.name}” is protected together. If a column names the person, name it as person."
        )
    elif found.nobody:
        maybe = f" It may be {quoted_names([o.name for o in found.others], 'or')}." if found.others else ""
        made.append(
            "No column was found that says whose row it is, so every row counts as a person of their own. If one "
            f"person can have several rows, that protects a row and not a person: name the column as person.{maybe}"
        )
    owner = found.person or found.single
    if owner is not None and not owner.everyone:
        made.append(
            f"“{owner.name}” is empty in some rows: nobody can tell whose they are, and they are left out of every "
            "answer."
        )
    made += [_unread_sentence(c) for c in found.columns if c.form is not None and c.unread]
    return tuple(made)


def _unread_sentence(column: ColumnSchema) -> str:
    assert column.form is not None
    values = "1 value" if column.unread == 1 else f"{column.unread:,} values"
    return (
        f"{values} of “{column.name}” cannot be read as {_KINDS[column.form.kind].partition(',')[0]} and would count "
        "as empty."
    )


def form_words(column: ColumnSchema) -> str:
    """How a column is read, where that differs from how it is stored."""
    return "" if column.form is None else _KINDS[column.form.kind]


def quoted_names(names: Sequence[str], word: str = "and") -> str:
    """Columns in a sentence.

    >>> quoted_names(["a", "b"]), quoted_names([f"c{i}" for i in range(9)])
    ('“a” and “b”', '“c0”, “c1”, “c2”, “c3”, “c4”, “c5” and 3 more')
    """
    quoted = [f"“{name}”" for name in names[:_MOST]]
    if len(names) > _MOST:
        quoted.append(f"{len(names) - _MOST:,} more")
    return join_words(quoted) if word == "and" else f" {word} ".join(quoted)


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_WIDTH = 44
_LINE = 110


@dataclass(frozen=True)
class Grouping:
    """How answers are split, and whether everybody stays in one group."""

    column: ColumnSchema
    steady: bool


@dataclass(frozen=True)
class StarterParts:
    """What a plan is made of: what an attacker may know, how answers are split, what is averaged, how text is read."""

    known: tuple[ColumnSchema, ...]
    split: Grouping | None
    amount: ColumnSchema | None
    secret: ColumnSchema | None
    read: tuple[ColumnSchema, ...]
    others: tuple[str, ...]


#: A line of the plan, or one with its comment.
Line: TypeAlias = str | tuple[str, str]


def starter_yaml(table: str, title: str, found: TableSchema, chosen: StarterParts, warnings: Sequence[str]) -> str:
    lines: list[Line] = ["# A release to start from: edit what is marked 'choose', then run  epsilens assess FILE"]
    for warning in warnings:
        lines += textwrap.wrap(f"WARNING: {warning}", _LINE, initial_indent="# ", subsequent_indent="#   ")
    lines += [f"title: {yaml_string(title)}", "data:", f"  table: {yaml_string(table)}", *_people_lines(found)]
    together = found.person is not None or (found.nobody and found.unit is not None)
    if together and chosen.split is not None and not chosen.split.steady:  # one group each would leave out the others
        most = "choose without looking at the data: the most groups a person is counted in"
        lines.append(("  max_groups: 3", most))
    lines += [
        *_known_lines(chosen),
        _secret_line(chosen.secret),
        *_read_lines(chosen.read),
        "queries:",
        ("  - count: true", "people, or those who meet a condition: count: age > 30"),
    ]
    if chosen.split is not None:
        lines += [
            (f"    by: {yaml_string(chosen.split.column.name)}", "choose: how the answers are split"),
            ("    threshold: auto", "publish groups with enough people; or list those that are published"),
        ]
    lines += [
        *_average_lines(chosen.amount),
        "mechanism:",
        ("  noise: laplace", "or gaussian, with delta: 1.0e-6"),
        ("  epsilon: 1.0", "choose: the total, which the queries share"),
        "adversary:",
        ("  prior: 0.5", "how likely they think the person is in the data"),
        ("  knows: one answer", "nothing | one answer"),
        ("  baseline: 0.01", "how often re-identification succeeds against a release without the person"),
        "limits:",
        ("  success: 0.55", "choose: right guesses tolerated; 0.5 is a coin"),
        ("  # error: 0.1", "the error tolerated, as a share of the answer"),
    ]
    return "".join(
        f"{line if isinstance(line, str) else f'{line[0].ljust(_WIDTH - 1)} # {line[1]}'}\n" for line in lines
    )


def _people_lines(found: TableSchema) -> list[Line]:
    lines: list[Line] = []
    if found.person is not None:
        why = "its name says whose row it is" if found.person.named else "its values come back like a person's"
        others = f"; else {quoted_names([o.name for o in found.others], 'or')}" if found.others else ""
        lines += [
            (f"  person: {yaml_string(found.person.name)}", f"choose: {why}{_comment(others)}"),
            ("  max_rows: 5", "choose without looking at the data: the most rows of one person to use"),
        ]
    elif found.single is not None:
        lines.append((f"  # person: {yaml_string(found.single.name)}", "not needed: it is different in every row"))
    elif found.unit is not None:
        lines += [
            (f"  unit: {yaml_string(found.unit.name)}", "choose: who is protected together; no column names a person"),
            ("  max_rows: 20", "choose without looking at the data: the most rows of one of them to use"),
        ]
    else:
        maybe = found.others[0].name if found.others else "id"
        why = "choose: the column that says whose row it is; none was found"
        lines.append((f"  # person: {yaml_string(maybe)}", why))
    if found.unit is not None and not found.nobody:
        lines.append((f"  # unit: {yaml_string(found.unit.name)}", "to protect everyone who shares it together"))
    return lines


def _known_lines(chosen: StarterParts) -> list[Line]:
    choose = "choose: what an attacker may know about a person"
    lines: list[Line] = [("  quasi_identifiers:", choose)]
    lines += [(f"    - {yaml_string(c.name)}", _comment(c.meaning or "few values")) for c in chosen.known]
    if not chosen.known:
        lines = [("  quasi_identifiers: []", f"{choose}; nothing was found")]
    if chosen.others:
        lines += textwrap.wrap(
            f"# Other columns: {', '.join(map(yaml_string, chosen.others))}",
            _LINE,
            initial_indent="    ",
            subsequent_indent="    #   ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def _secret_line(column: ColumnSchema | None) -> Line:
    """A condition that needs no value of the table where there is one, else a line to fill in."""
    if column is None:
        return "  # secret: diagnosis = 'F32'", "what the attacker wants to learn, a condition on a row"
    name, number = _condition_name(column.name), "int" in column.kind or "float" in column.kind
    meant = f" ({_comment(column.meaning)})" if column.meaning else ""
    why = f"choose: what the attacker wants to learn{meant}"
    if column.kind == "boolean":
        return f"  secret: {yaml_string(name)}", why
    if number and column.distinct == 2:
        return f"  secret: {yaml_string(f'{name} = 1')}", why
    if column.bounds is not None:
        return f"  secret: {yaml_string(f'{name} > {sum(column.bounds) / 2:g}')}", why
    condition = f"{name} = {'…' if number else chr(39) + '…' + chr(39)}"
    return f"  # secret: {yaml_string(condition)}", f"{why}; fill in the value"


def _read_lines(columns: Sequence[ColumnSchema]) -> list[Line]:
    if not columns:
        return []
    lines: list[Line] = [("  read:", "how columns of text are read; what cannot be read so counts as empty")]
    for column in columns:
        assert column.form is not None
        why = {
            ParsedType.NUMBER: "numbers written as text",
            ParsedType.DATE: "dates written as numbers" if "int" in column.kind else "dates written as text",
            ParsedType.CATEGORY: "capitals and blanks do not count",
            ParsedType.CODE: "capitals and blanks do not count",
            ParsedType.TEXT: "numbers that are names" if "int" in column.kind else "text",
        }[column.form.kind]
        if column.form.empty and column.form.kind is ParsedType.TEXT:
            why = "some words stand for nothing"
        lines.append((f"    {yaml_string(column.name)}: {_form(column.form)}", why))
    return lines


def _form(form: ColumnFormat) -> str:
    parts = [f"as: {form.kind}"]
    if form.kind is ParsedType.NUMBER:
        parts.append(f"decimal: {json.dumps(form.decimal)}")
    if form.kind is ParsedType.DATE and form.order is not DateOrder.YEAR_FIRST:
        parts.append(f"order: {form.order}")
    if form.empty:
        parts.append(f"empty: [{', '.join(json.dumps(word, ensure_ascii=False) for word in form.empty)}]")
    return form.kind.value if len(parts) == 1 else "{" + ", ".join(parts) + "}"


def _average_lines(amount: ColumnSchema | None) -> list[Line]:
    if amount is None:
        return []
    if amount.bounds is None:
        return [
            (f"  # - average: {yaml_string(amount.name)}", "an average or a sum needs bounds, and nothing says what"),
            ("  #   bounds: [0, 100]", "it measures: choose them without looking at the data"),
        ]
    low, high = amount.bounds
    usual = f"choose without looking at the data (usual for {_comment(amount.meaning or 'it')}): beyond is cut off"
    return [
        (f"  - average: {yaml_string(amount.name)}", "choose: a number people have"),
        (f"    bounds: [{low:.15g}, {high:.15g}]", usual),
    ]


def _condition_name(name: str) -> str:
    return name if _WORD.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def _comment(text: str) -> str:
    """Text that can stand in a comment: one line, nothing that ends it."""
    return " ".join(text.split())


def yaml_string(value: str) -> str:
    """A string for YAML: plain where it is a word, else as JSON, which YAML reads.

    >>> yaml_string("age"), yaml_string("Patient ID"), yaml_string("no")
    ('age', '"Patient ID"', '"no"')
    """
    if _WORD.fullmatch(value) and value.casefold() not in _YAML_WORDS:
        return value
    # Characters that YAML's reader refuses, or reads as a line's end, must be escaped; letters need not be.
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(value, ensure_ascii=False))


_MOST_OTHERS = 24
_MOST_READ = 60
#: Groups that a person can look through; more are for somebody who knows what they ask.
_FEW_GROUPS = 30
#: The share of rows that may have no group, and the columns whose people are looked at.
_RARELY, _LOOKED_AT = 0.2, 4


@dataclass(frozen=True, eq=True, repr=False)
class Start(Result):
    """A plan to start from (``yaml``), and what was understood of the table."""

    shown_as = "start"

    yaml: str
    understanding: TableSchema

    @property
    def release(self) -> Release:
        """The plan as it can be assessed."""
        return read_release(self.yaml)

    @property
    def sentence(self) -> str:
        """What was understood, in a paragraph."""
        return summary(self.understanding)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be looked at before anything is believed."""
        return warnings(self.understanding)

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the plan; a file that exists is replaced only with ``force``."""
        if not isinstance(path, str | PathLike):
            raise InputError(f"path is {type_phrase(path)}: give the name of a file", parameter="path")
        path = Path(path)
        try:
            with path.open("w" if force else "x", encoding="utf-8") as file:
                file.write(self.yaml)
        except FileExistsError:
            raise InputError(
                f"path is {str(path)[:80]!r}, which exists: give another name, or force=True to replace it", "path"
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it cannot be written"
            raise InputError(f"path is {str(path)[:80]!r}: {why}, so give a file that can be written", "path") from None
        return path

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with a schema version."""
        found = asdict(self.understanding)
        return {
            "schema": 1,
            "sentence": self.sentence,
            "warnings": list(self.warnings),
            "yaml": self.yaml,
            "understanding": {**found, "columns": list(found["columns"]), "others": list(found["others"])},
        }

    def __repr__(self) -> str:
        found = self.understanding
        person = found.person.name if found.person else None
        return f"Start(table={found.table!r}, rows={found.rows}, columns={len(found.columns)}, person={person!r})"


def init(
    table: object,
    engine: object = None,
    *,
    name: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Start:
    """A commented plan for ``table``, anything that :func:`epsilens.scan` opens.

    ``name`` is what the plan calls the table, where that is not what opens it here (a frame, an upload).

    Parameters
    ----------
    table : object
        Anything `scan` opens.
    engine : str or backend, optional
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    name : str, optional
        What the plan calls the table.
    progress : callable, optional
        Called with steps done, steps in all, and what is being done.

    Returns
    -------
    Start
        The plan as commented YAML, and what was understood of the table.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    with open_table(table, engine) as opened, reading(opened):
        found = infer_schema(opened, None if progress is None else lambda what: progress(0, 1, what))
        split = _split(opened, found)
        title = name or (opened.name if isinstance(table, str | Path) else "a table")
    usable = [c for c in found.columns if c.role is not ColumnRole.OTHER]
    if not usable:
        raise InputError(
            f"table is {title!r}: it has no column of text, numbers, booleans or dates to plan with", parameter="table"
        )
    called = name or (without_password(str(table)) if isinstance(table, str | Path) else "table.parquet")
    # A title is published: of a file or a database it says nothing.
    own = f"Release of {called}" if called in names() else "Planned release"
    text = starter_yaml(called, own, found, _starter_parts(found, split), warnings(found))
    return Start(text, found)


def _starter_parts(found: TableSchema, split: Grouping | None) -> StarterParts:
    owners = {o.name for o in (found.person, found.single) if o is not None}
    columns = [c for c in found.columns if c.name not in owners]
    known = tuple(c for c in columns if c.known)
    amount = _amount_column(columns)
    secret = _secret_column(columns)
    used = {c.name for c in (*known, None if split is None else split.column, amount, secret) if c is not None} | owners
    read = sorted((c for c in found.columns if c.form is not None), key=lambda c: c.name not in used)
    others = tuple(c.name for c in columns if c not in known and c.role not in (ColumnRole.OTHER, ColumnRole.EMPTY))
    return StarterParts(known, split, amount, secret, tuple(read[:_MOST_READ]), others[:_MOST_OTHERS])


def _split(opened: OpenTable, found: TableSchema) -> Grouping | None:
    """A column of few groups, rarely empty: best one in which people stay, that others know of them, of many groups."""
    owners = {o.name for o in (found.person, found.single, found.unit) if o is not None}
    groups = [c for c in found.columns if c.role in (ColumnRole.CATEGORY, ColumnRole.CODE) and not c.secret]
    few = [c for c in groups if 2 <= c.distinct <= _FEW_GROUPS and c.empty <= _RARELY * found.rows]
    fit = [c for c in few if c.name not in owners]
    small = [c for c in fit if c.distinct <= 12] or fit
    likely = sorted(small, key=lambda c: (c.known, c.distinct), reverse=True)[:_LOOKED_AT]
    steady = _constant_columns(opened, found, likely)
    return max((Grouping(c, c.name in steady) for c in likely), key=lambda s: s.steady, default=None)


def _constant_columns(opened: OpenTable, found: TableSchema, columns: list[ColumnSchema]) -> set[str]:
    """Those of the columns that have one value in all rows of a person."""
    owner = found.person or found.unit
    if owner is None or not columns:
        return {c.name for c in columns}
    used = {owner.name, *(c.name for c in columns)}
    table = parse_columns(
        opened.table, {c.name: c.form for c in found.columns if c.form is not None and c.name in used}
    )
    table = table.filter(table[owner.name].notnull())
    each = table.group_by(table[owner.name]).agg(**{f"n{i}": table[c.name].nunique() for i, c in enumerate(columns)})
    most = each.aggregate(**{f"n{i}": each[f"n{i}"].max() for i in range(len(columns))})
    got = opened.engine.fetch(most).to_pylist()[0]
    return {c.name for i, c in enumerate(columns) if (got[f"n{i}"] or 0) <= 1}


def _secret_column(columns: list[ColumnSchema]) -> ColumnSchema | None:
    """What people keep to themselves: first what needs no value of the table to be said."""
    kept = [c for c in columns if c.secret and c.role is not ColumnRole.FREE]
    return min(kept, key=lambda c: c.bounds is None and c.kind != "boolean", default=None)


def _amount_column(columns: list[ColumnSchema]) -> ColumnSchema | None:
    """A number to average: one whose meaning has bounds first, what is no quasi-identifier before what is."""
    numbers = [c for c in columns if c.role is ColumnRole.NUMBER and c.distinct > 2 and not c.weighs]
    return min(numbers, key=lambda c: (c.known, c.bounds is None), default=None)
