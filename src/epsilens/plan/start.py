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

from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..data.tables.address import without_password
from ..data.tables.columns import as_read
from ..data.tables.sources import names
from ..data.tables.table import OpenTable, open_table, reading
from ..data.understanding.understand import understand
from ..data.understanding.understood import Column, Role, Understanding
from ..errors import InputError, type_phrase
from ..results import Result
from .commented import Grouping, StarterParts, written
from .file import read_release
from .plan import Release
from .told import paragraph, warnings

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
    understanding: Understanding

    @property
    def release(self) -> Release:
        """The plan as it can be assessed."""
        return read_release(self.yaml)

    @property
    def sentence(self) -> str:
        """What was understood, in a paragraph."""
        return paragraph(self.understanding)

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
                f"path is {str(path)[:80]!r}, which exists: give another name, or force=True to replace it",
                parameter="path",
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it cannot be written"
            raise InputError(
                f"path is {str(path)[:80]!r}: {why}, so give a file that can be written", parameter="path"
            ) from None
        return path

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with a schema version."""
        found = asdict(self.understanding)
        return {
            "schema": 1, "sentence": self.sentence, "warnings": list(self.warnings), "yaml": self.yaml,
            "understanding": {**found, "columns": list(found["columns"]), "others": list(found["others"])},
        }  # fmt: skip

    def __repr__(self) -> str:
        found = self.understanding
        person = found.person.name if found.person else None
        return f"Start(table={found.table!r}, rows={found.rows}, columns={len(found.columns)}, person={person!r})"


def init(
    table: Any, engine: Any = None, *, name: str | None = None, progress: Callable[[int, int, str], None] | None = None
) -> Start:
    """A commented plan for ``table``, anything that :func:`epsilens.scan` opens.

    ``name`` is what the plan calls the table, where that is not what opens it here (a frame, an upload).
    """
    with open_table(table, engine) as opened, reading(opened):
        found = understand(opened, None if progress is None else lambda what: progress(0, 1, what))
        split = _split(opened, found)
        title = name or (opened.name if isinstance(table, str | Path) else "a table")
    usable = [c for c in found.columns if c.role is not Role.OTHER]
    if not usable:
        raise InputError(
            f"table is {title!r}: it has no column of text, numbers, booleans or dates to plan with", parameter="table"
        )
    called = name or (without_password(str(table)) if isinstance(table, str | Path) else "table.parquet")
    # A title is published: of a file or a database it says nothing.
    own = f"Release of {called}" if called in names() else "Planned release"
    text = written(called, own, found, _chosen(found, split), warnings(found))
    return Start(text, found)


def _chosen(found: Understanding, split: Grouping | None) -> StarterParts:
    owners = {o.name for o in (found.person, found.single) if o is not None}
    columns = [c for c in found.columns if c.name not in owners]
    known = tuple(c for c in columns if c.known)
    amount = _amount(columns)
    secret = _secret(columns)
    used = {c.name for c in (*known, None if split is None else split.column, amount, secret) if c is not None} | owners
    read = sorted((c for c in found.columns if c.form is not None), key=lambda c: c.name not in used)
    others = tuple(c.name for c in columns if c not in known and c.role not in (Role.OTHER, Role.EMPTY))
    return StarterParts(known, split, amount, secret, tuple(read[:_MOST_READ]), others[:_MOST_OTHERS])


def _split(opened: OpenTable, found: Understanding) -> Grouping | None:
    """A column of few groups, rarely empty: best one in which people stay, that others know of them, of many groups."""
    owners = {o.name for o in (found.person, found.single, found.unit) if o is not None}
    fit = [
        c for c in found.columns
        if c.role in (Role.CATEGORY, Role.CODE) and 2 <= c.distinct <= _FEW_GROUPS and not c.secret
        and c.name not in owners and c.empty <= _RARELY * found.rows
    ]  # fmt: skip
    small = [c for c in fit if c.distinct <= 12] or fit
    likely = sorted(small, key=lambda c: (c.known, c.distinct), reverse=True)[:_LOOKED_AT]
    steady = _steady(opened, found, likely)
    return max((Grouping(c, c.name in steady) for c in likely), key=lambda s: s.steady, default=None)


def _steady(opened: OpenTable, found: Understanding, columns: list[Column]) -> set[str]:
    """Those of the columns that have one value in all rows of a person."""
    owner = found.person or found.unit
    if owner is None or not columns:
        return {c.name for c in columns}
    used = {owner.name, *(c.name for c in columns)}
    table = as_read(opened.table, {c.name: c.form for c in found.columns if c.form is not None and c.name in used})
    table = table.filter(table[owner.name].notnull())
    each = table.group_by(table[owner.name]).agg(**{f"n{i}": table[c.name].nunique() for i, c in enumerate(columns)})
    most = each.aggregate(**{f"n{i}": each[f"n{i}"].max() for i in range(len(columns))})
    got = opened.engine.fetch(most).to_pylist()[0]
    return {c.name for i, c in enumerate(columns) if (got[f"n{i}"] or 0) <= 1}


def _secret(columns: list[Column]) -> Column | None:
    """What people keep to themselves: first what needs no value of the table to be said."""
    kept = [c for c in columns if c.secret and c.role is not Role.FREE]
    return min(kept, key=lambda c: c.bounds is None and c.kind != "boolean", default=None)


def _amount(columns: list[Column]) -> Column | None:
    """A number to average: one whose meaning has bounds first, what is no quasi-identifier before what is."""
    numbers = [c for c in columns if c.role is Role.NUMBER and c.distinct > 2 and not c.weighs]
    return min(numbers, key=lambda c: (c.known, c.bounds is None), default=None)
