"""What was understood of a table, in a paragraph; and what a person must look at, in sentences of their own."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.tables.columns import As
from ..data.understanding.understood import Column, Role, Understanding
from ..results import join_words

#: So many columns are named in a sentence; the rest are counted.
_MOST = 6
_KINDS = {
    As.NUMBER: "numbers",
    As.DATE: "dates",
    As.CATEGORY: "categories, whatever their capitals and blanks",
    As.CODE: "codes, whatever their capitals and blanks",
    As.TEXT: "text",
}
#: What is said of one column, and of several.
_SAID = {
    Role.IDENTIFIER: (
        "names a person or a record and is left out of every answer",
        "name people or records and are left out of every answer",
    ),
    Role.FREE: ("holds free text and is never a group", "hold free text and are never groups"),
    Role.EMPTY: (
        "says nothing: it is empty or the same in every row",
        "say nothing: they are empty or the same in every row",
    ),
}


def paragraph(found: Understanding) -> str:
    """What the table is, column by column where it matters.

    >>> from ..data.understanding.understood import Owner
    >>> owner = Owner("Patient ID", 24_904, 9, named=True)
    >>> age = Column("Age", "int64", Role.NUMBER, 90, 0, known=True)
    >>> print(paragraph(Understanding("visits.csv", 50_000, (age,), owner, looked_at=50_000)))
    50,000 rows of 24,904 people: “Patient ID” says whose row it is, up to 9 rows each. An attacker may know “Age”.
    """
    said = [_whose(found)]
    known = [c.name for c in found.columns if c.known]
    if known:
        said.append(f"An attacker may know {called(known)}.")
    else:
        said.append("Nothing was found that an attacker would know of a person.")
    secret = [c.name for c in found.columns if c.secret]
    if secret:
        said.append(f"People may want to keep {called(secret)} to themselves.")
    for kind, words in _KINDS.items():
        names = [c.name for c in found.columns if c.form is not None and c.form.kind is kind]
        if names:
            said.append(f"Text in {called(names)} is read as {words}.")
    owners = {o.name for o in (found.person, found.single) if o is not None}
    for role, (one, several) in _SAID.items():
        names = [c.name for c in found.columns if c.role is role and c.name not in owners]
        if names:
            said.append(f"{called(names)} {one if len(names) == 1 else several}.")
    if found.left_out:
        said.append(f"{found.left_out:,} more columns were not looked at.")
    if found.looked_at < found.rows:
        said.append(f"Texts were looked at in {found.looked_at:,} rows.")
    return " ".join(said)


def _whose(found: Understanding) -> str:
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
        said += f" It could also be {called(others, 'or')}."
    if found.unit is not None:
        said += f" “{found.unit.name}” says who lives together."
    return said


def warnings(found: Understanding) -> tuple[str, ...]:
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
        maybe = f" It may be {called([o.name for o in found.others], 'or')}." if found.others else ""
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
    made += [_unread(c) for c in found.columns if c.form is not None and c.unread]
    return tuple(made)


def _unread(column: Column) -> str:
    assert column.form is not None
    values = "1 value" if column.unread == 1 else f"{column.unread:,} values"
    return (
        f"{values} of “{column.name}” cannot be read as {_KINDS[column.form.kind].partition(',')[0]} and would count "
        "as empty."
    )


def read_as(column: Column) -> str:
    """How a column is read, where that differs from how it is stored."""
    return "" if column.form is None else _KINDS[column.form.kind]


def called(names: Sequence[str], word: str = "and") -> str:
    """Columns in a sentence.

    >>> called(["a", "b"]), called([f"c{i}" for i in range(9)])
    ('“a” and “b”', '“c0”, “c1”, “c2”, “c3”, “c4”, “c5” and 3 more')
    """
    quoted = [f"“{name}”" for name in names[:_MOST]]
    if len(names) > _MOST:
        quoted.append(f"{len(names) - _MOST:,} more")
    return join_words(quoted) if word == "and" else f" {word} ".join(quoted)
