"""Whose row it is: by the names of columns, and by how many rows a value has.

>>> from epsilens.data.tables.table import open_table
>>> orders = {"order_id": [1, 2, 3, 4], "customer": ["a17", "b20", "a17", "c31"], "amount": [5, 7, 5, 9]}
>>> with open_table(orders) as opened:
...     owner_like(opened)
Owner(name='customer', values=3, most=2, named=True, everyone=True, spellings=0)

The order is this. A column that names people (patient, customer, pupil, an official number) beats one that is only
called id, which beats accounts, addresses and names. Among equals one that repeats beats one that does not. Where no
name says anything, a column that repeats as identifiers do is taken: digits or codes with many values, about as many
rows for each, and, where the table says somebody's sex or birth date, the same one in all rows of a value. Whole
numbers without that last proof are only named as what else it could be: they may be amounts. Where nothing repeats,
a sample or whatever else has a number of its own in every row stands for the person.

Identifiers are counted as a plan will read them: "mrn000123" and "MRN000123 " are one person.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..tables.columns import As, Form, as_read
from ..tables.engines import need_ibis
from ..tables.table import OpenTable, reading
from .labels import ANSWERS, DATES, NOTHING, Label
from .names import Kind, Meaning, meaning
from .shapes import Shape, Shapes
from .understood import Owner

_PEOPLE = 40  # the rank from which a name speaks of people
_MOST = 8  # columns that are counted exactly
_FEW = 20  # values below which a column may be a category
_SAME = 0.95  # the share of values with one sex, one birth date in all their rows
#: What stays the same in all rows of a person, the surest first.
_STEADY = ("birth date", "birth year", "sex", "race", "birth country", "nationality", "religion", "education",
           "marital status")  # fmt: skip
_NAME, _STAFF = 20, 10  # the ranks of names, and of people whose row it is not
_OWN = frozenset({"sample", "identifier"})  # what may have a number of its own in every row
_NAMED = (Kind.PERSON, Kind.ID, Kind.CONTACT, Kind.NAME, Kind.DEVICE, Kind.STAFF)


@dataclass(frozen=True)
class Owners:
    """Who the person is, or that every row is somebody else's; what else it could be; who lives together."""

    person: Owner | None = None
    single: Owner | None = None
    others: tuple[Owner, ...] = ()
    unit: Owner | None = None

    def of(self, column: str) -> Owner | None:
        """What was found of a column that says whose row it is, or who lives together."""
        return next((o for o in (self.person, self.single, self.unit) if o is not None and o.name == column), None)


@dataclass(frozen=True)
class _Candidate:
    owner: Owner
    rank: int
    bare: bool
    steady: float | None = None  # the share of values with several rows whose steady column has one value
    coded: bool = False  # P01, P02: names of people, not of groups


def owners_of(opened: OpenTable, shapes: Shapes, meanings: dict[str, Meaning | None]) -> Owners:
    """The person of a table whose columns were looked at."""
    schema = opened.table.schema()
    usable = [n for n in shapes.columns if n in meanings and _could_be(schema[n], shapes.columns[n])]
    said = {name: found for name in usable if (found := meanings[name]) is not None}
    with reading(opened):
        unit = _unit(opened, shapes, said)
        named = sorted((n for n, m in said.items() if m.kind in _NAMED), key=lambda n: -said[n].rank)[:_MOST]
        counted = [_counted(opened, shapes, name, said[name]) for name in named]
        candidates = [c for c in counted if _plausible(c, shapes.rows, unit)]
        chosen = _chosen(candidates, shapes.rows)
        candidates += [replace(c, rank=1) for c in counted if c not in candidates and c.owner.values > 2]
        if chosen is None or (chosen.rank < _PEOPLE and not chosen.owner.repeats):
            repeating = _unnamed(opened, shapes, meanings, usable)
            sure = [c for c in repeating if c.steady is not None or not (chosen or schema[c.owner.name].is_integer())]
            chosen = sure[0] if sure else chosen
            candidates += repeating
            if chosen is None and not repeating:
                chosen = _one_each(opened, shapes, meanings, usable)
    if chosen is None:
        return Owners(others=tuple(c.owner for c in candidates), unit=unit)
    others = tuple(c.owner for c in sorted(candidates, key=lambda c: -c.rank) if c is not chosen)
    if unit is not None and unit.values >= chosen.owner.values:
        unit = None
    if chosen.owner.repeats:
        return Owners(chosen.owner, None, others, unit)
    return Owners(None, chosen.owner, others, unit)


def owner_like(opened: OpenTable, person: str | None = None) -> Owner | None:
    """A column that looks like a person's although ``person``, what a plan says, is none or does not look like one.

    Where there is none, a household's. Cheap: names alone choose the columns, and few are counted.
    """
    said = {n: found for n in opened.table.columns if n != person and (found := meaning(n)) is not None}
    declared = meaning(person) if person is not None else None
    if person is not None and not (declared is not None and declared.kind in (Kind.THING, Kind.STAFF)):
        return None
    schema = opened.table.schema()
    said = {name: found for name, found in said.items() if _could_be(schema[name], None)}
    likely = sorted((n for n, m in said.items() if m.kind in _NAMED and m.rank > _NAME), key=lambda n: -said[n].rank)
    with reading(opened):
        rows = int(opened.engine.fetch(opened.table.aggregate(n=opened.table.count())).column("n")[0].as_py())
        shapes = Shapes(rows, rows, {})
        unit = _unit(opened, shapes, said)
        counted = [_counted(opened, shapes, name, said[name]) for name in likely[:3]]
    chosen = _chosen([c for c in counted if _plausible(c, rows, unit)], rows)
    if chosen is None:
        return unit
    return chosen.owner if chosen.owner.repeats else None


def _could_be(kind: Any, shape: Shape | None) -> bool:
    """Text or numbers, and no dates."""
    if not (kind.is_string() or kind.is_uuid() or (kind.is_numeric() and not kind.is_boolean())):
        return False
    return shape is None or shape.share(*DATES) - shape.share(Label.COMPACT) < 0.5


def _counted(
    opened: OpenTable, shapes: Shapes, name: str, said: Meaning | None, steady: str | None = None
) -> _Candidate:
    """How many values a column has, and the most rows of one: exact, over all rows, and as they will be read."""
    shape = shapes.columns.get(name)
    got = _totals(opened, name, shape, steady, folded=False)
    stored = int(got["values"] or 0)
    if got.get("blanks") or (got.get("small") and got.get("large")):  # capitals and blanks may tell equal ones apart
        got = _totals(opened, name, shape, steady, folded=True)
    values, filled = int(got["values"] or 0), int(got["filled"] or 0)
    named = said is not None and said.kind is not Kind.UNNAMED_ID
    owner = Owner(name, values, int(got["most"] or 0), named, filled == shapes.rows, stored - values)
    share = got["same"] / got["several"] if steady is not None and got["several"] else None
    rank = said.rank if said is not None else 0
    rank = min(rank, _PEOPLE - 1) // 2 if 2 * filled < shapes.rows else rank  # half of the rows say nothing
    coded = shape is not None and shape.share(Label.CODE) > 0.9
    return _Candidate(owner, rank, said is not None and said.bare, share, coded)


def _totals(opened: OpenTable, name: str, shape: Shape | None, steady: str | None, folded: bool) -> dict[str, Any]:
    """Values, rows and the most rows of one value; how many values have small or capital letters or blanks to spare."""
    ibis = need_ibis()
    table = opened.table
    column = table[name]
    columns: dict[str, Any] = {"v": column.cast("string") if column.type().is_uuid() else column}
    if steady is not None:
        columns["s"] = table[steady].cast("string")
    rows = table.select(**columns)
    wanted: dict[str, Any] = {"n": rows.count()}
    if steady is not None:
        wanted |= {"low": rows["s"].min(), "high": rows["s"].max()}
    each = rows.group_by("v").agg(**wanted)
    each = each.filter(_says_something(each["v"], opened.engine.kind, shape))
    if folded:  # each value, not each row
        read = as_read(each, {"v": Form(As.CODE)})
        again: dict[str, Any] = {"n": read["n"].sum()}
        if steady is not None:
            again |= {"low": read["low"].min(), "high": read["high"].max()}
        each = read.group_by("v").agg(**again)
    totals = {"values": each.count(), "most": each["n"].max(), "filled": each["n"].sum()}
    if steady is not None:
        several = each["n"] > 1
        totals["several"] = ibis.ifelse(several & each["low"].notnull(), 1, 0).sum()
        totals["same"] = ibis.ifelse(several & (each["low"] == each["high"]), 1, 0).sum()
    value = each["v"]
    if value.type().is_string() and not folded:
        totals["small"] = ibis.ifelse(value != value.upper(), 1, 0).max()
        totals["large"] = ibis.ifelse(value != value.lower(), 1, 0).max()
        totals["blanks"] = ibis.ifelse(value.re_search("^[ \t\n\r\u00a0]|[ \t\n\r\u00a0]$|[ \u00a0]{2}"), 1, 0).max()
    return dict(opened.engine.fetch(each.aggregate(**totals)).to_pylist()[0])


def _says_something(value: Any, engine: str, shape: Shape | None) -> Any:
    """No blanks, no words for nothing, no numbers that are none. Asked of each value, not of each row."""
    kind = value.type()
    if kind.is_string():
        nothing = ["", *(word.lower() for word in (shape.words if shape is not None else (*NOTHING, *ANSWERS)))]
        return value.notnull() & ~value.strip().lower().isin(nothing)
    return value.notnull() & ~value.isnan() if kind.is_floating() and engine != "sqlite" else value.notnull()


def _plausible(candidate: _Candidate, rows: int, unit: Owner | None) -> bool:
    """Whether there can be so many people: "member" may be yes or no, and the second in each household is nobody."""
    owner = candidate.owner
    if unit is not None and owner.repeats and owner.values < unit.values:
        return False
    if owner.values == 0 or (not owner.repeats and 2 * owner.values < rows):
        return False  # most rows do not say whose they are
    if owner.values == 1:
        return rows <= 1 or not candidate.bare
    if candidate.bare and owner.values <= 2:
        return rows <= 2 * owner.values
    people = candidate.coded and candidate.rank > _PEOPLE
    return not candidate.bare or people or owner.values > _FEW or owner.values * _FEW >= rows


def _chosen(candidates: list[_Candidate], rows: int) -> _Candidate | None:
    """People before identifiers before names; among equals those that repeat, then by rank and place."""
    usable = [c for c in candidates if c.rank > _STAFF and not _namesakes(c, rows)]
    people = [c for c in usable if c.rank >= _PEOPLE] or usable
    repeating = [c for c in people if c.owner.repeats]
    return max(repeating or people, key=lambda c: c.rank, default=None)


def _namesakes(candidate: _Candidate, rows: int) -> bool:
    """Names that repeat a little are of different people who share one."""
    return candidate.rank == _NAME and candidate.owner.repeats and candidate.owner.values > 0.8 * rows


def _unit(opened: OpenTable, shapes: Shapes, said: dict[str, Meaning]) -> Owner | None:
    """A household or family that several rows share."""
    order = {"household": 0, "family": 1, "couple": 2, "address": 3}
    names = sorted((n for n, m in said.items() if m.kind is Kind.UNIT), key=lambda n: order.get(said[n].word, 4))
    for name in names[:2]:
        owner = _counted(opened, shapes, name, said[name]).owner
        if owner.repeats and (owner.values > _FEW or owner.values * _FEW >= shapes.rows) and owner.values > 1:
            return owner
    return None


def _unnamed(
    opened: OpenTable, shapes: Shapes, meanings: dict[str, Meaning | None], usable: list[str]
) -> list[_Candidate]:
    """Columns that repeat as identifiers do, likeliest first."""
    schema = opened.table.schema()
    likely = [name for name in usable if _repeats_like_one(schema[name], shapes.columns[name], meanings[name])]
    likely.sort(key=lambda n: (meanings[n] is None, not schema[n].is_string(), -shapes.columns[n].distinct))
    varying = {m.word: n for n, m in meanings.items() if m is not None and _varies(shapes.columns.get(n))}
    steady = next((varying[word] for word in _STEADY if word in varying), None)
    found = []
    for name in likely[:4]:
        candidate = _counted(opened, shapes, name, meanings[name], steady)
        average = shapes.columns[name].filled / max(candidate.owner.values, 1)
        even = candidate.owner.most <= max(20.0, 20.0 * average)
        same = candidate.steady is None or candidate.steady >= _SAME
        if candidate.owner.repeats and candidate.owner.values > 1 and even and same:
            found.append(replace(candidate, rank=_PEOPLE // 2))
    return found


def _one_each(
    opened: OpenTable, shapes: Shapes, meanings: dict[str, Meaning | None], usable: list[str]
) -> _Candidate | None:
    """A sample, or something we have no word for, that has a number of its own in every row."""
    kinds = (Kind.THING, Kind.UNNAMED_ID)
    said = {n: m for n in usable if (m := meanings[n]) is not None and m.kind in kinds and m.word in _OWN}
    likely = [n for n in said if shapes.columns[n].distinct >= 0.8 * shapes.rows]  # values are counted about
    counted = (_counted(opened, shapes, name, said[name]) for name in likely[:3])
    return next((c for c in counted if c.owner.everyone and c.owner.values == shapes.rows), None)


def _varies(shape: Shape | None) -> bool:
    return shape is not None and shape.distinct > 1


def _repeats_like_one(kind: Any, shape: Shape, said: Meaning | None) -> bool:
    if said is not None and said.kind is not Kind.UNNAMED_ID:
        return False
    held = shape.rows - shape.empty
    few = 2 if said is not None else _FEW
    # Values are counted about: those of a column without repeats may seem a few per cent fewer.
    if not few <= shape.distinct <= 0.9 * held or (said is None and shape.distinct * 200 < held):
        return False
    if kind.is_uuid() or said is not None:
        return True
    if kind.is_integer():
        return shape.serial
    return bool(kind.is_string()) and shape.share(Label.CODE, Label.ZEROS, Label.WHOLE) > 0.9 and shape.length >= 4
