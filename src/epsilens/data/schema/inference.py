"""Read what a table is from the names and types of its columns and from counts; no cell is kept.

>>> from epsilens.data.tables.table import open_table
>>> visits = {"Patient ID": ["p1", "p2", "p1"], "Ward": ["Eye", "eye ", "Heart"], "Cost": ["8,841.70", "N/A", "12.50"]}
>>> with open_table(visits) as opened:
...     seen = infer_schema(opened)
>>> seen.person.name, seen.person.values
('Patient ID', 2)
>>> seen.column("Ward").spellings, seen.column("Cost").form.kind.value, seen.column("Cost").form.empty
(1, 'number', ('N/A',))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..tables.columns import ColumnFormat, DateOrder, ParsedType, parse_columns
from ..tables.dialect import ibis
from ..tables.table import OpenTable, reading
from .column_profile import (
    ANSWERS,
    CONTACT,
    DATES,
    NOTHING,
    NUMBERS,
    CellLabel,
    ColumnProfile,
    Meaning,
    NameKind,
    TableProfile,
    WholeNumberKind,
    is_survey,
    meaning,
    names_weight_unit,
    profile_columns,
)

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

#
# The order is this. A column that names people (patient, customer, pupil, an official number) beats one that is only
# called id, which beats accounts, addresses and names. Among equals one that repeats beats one that does not. Where no
# name says anything, a column that repeats as identifiers do is taken: digits or codes with many values, about as many
# rows for each, and, where the table says somebody's sex or birth date, the same one in all rows of a value. Whole
# numbers without that last proof are only named as what else it could be: they may be amounts. Where nothing repeats,
# a sample or whatever else has a number of its own in every row stands for the person.
#
# Identifiers are counted as a plan will read them: "mrn000123" and "MRN000123 " are one person.

#
# Nothing here is a cell of the table: names and types of columns, how many rows and values there are, and words of our
# own (``N/A`` is one of ours: a list of what people write where nothing is recorded).


class ColumnRole(StrEnum):
    """What a column holds."""

    IDENTIFIER = "identifier"  # names a person, a record, an account: never published, never a group
    DATE = "date"
    CODE = "code"  # text or numbers that are names: 01234, F32.1, a postcode
    CATEGORY = "category"
    NUMBER = "number"
    FREE = "free text"  # never a group, never a quasi-identifier
    EMPTY = "empty"  # no value at all, or one for everyone
    OTHER = "other"  # lists, structures, bytes: nothing that can be planned with


@dataclass(frozen=True)
class ColumnSchema:
    """One column: what it holds, how it should be read, what it may be to an attacker."""

    name: str
    kind: str  # the type as stored, in Ibis's words: string, int64, date
    role: ColumnRole
    distinct: int  # values that differ, about; as proposed to be read
    empty: int  # rows with nothing recorded, about
    meaning: str | None = None  # what its name says it is, one of our own words: age, postcode, money, diagnosis
    known: bool = False  # proposed as a quasi-identifier
    secret: bool = False  # something people keep to themselves
    form: ColumnFormat | None = None  # how its text should be read, where that differs from how it is stored
    unread: int = 0  # values that this form leaves out, about
    spellings: int = 0  # values that differ from another only in capitals or blanks
    bounds: tuple[float, float] | None = None  # from its meaning alone, never from its values
    choose: bool = False  # these bounds are only a round proposal: money, scores
    weighs: bool = False  # how many people a row stands for in a survey: never an amount
    unsure: bool = False  # its dates can be read in two ways and no value decides: 01/02/2024


@dataclass(frozen=True)
class Owner:
    """A column that may say whose row it is."""

    name: str
    values: int  # how many people there would be
    most: int  # the most rows one of them has
    named: bool  # its name says so; otherwise only its repeating does
    everyone: bool = True  # no row leaves it empty
    spellings: int = 0  # values that differ from another only in capitals or blanks, and are counted as one

    @property
    def repeats(self) -> bool:
        """Whether somebody has several rows."""
        return self.most > 1


@dataclass(frozen=True)
class TableSchema:
    """A table as understood. ``person`` is None where no column says whose row it is, or where none has to:
    ``single`` then names an identifier that is different in every row.

    >>> TableSchema("people.csv", rows=3, columns=(), single=Owner("id", values=3, most=1, named=True)).nobody
    False
    >>> TableSchema("visits.csv", rows=3, columns=()).nobody
    True
    """

    table: str
    rows: int
    columns: tuple[ColumnSchema, ...]
    person: Owner | None = None
    single: Owner | None = None
    others: tuple[Owner, ...] = ()  # what else could be the person, likeliest first
    unit: Owner | None = None  # a household, a family: who may be protected together
    left_out: int = 0  # columns beyond the most that are looked at
    looked_at: int = 0  # the rows whose values were looked at; fewer than ``rows`` in a large table

    def column(self, name: str) -> ColumnSchema:
        """The column of that name."""
        return next(c for c in self.columns if c.name == name)

    @property
    def nobody(self) -> bool:
        """Whether nothing says whose row it is: each row would silently be a person."""
        return self.person is None and self.single is None


_PEOPLE = 40  # the rank from which a name speaks of people
_MOST = 8  # columns that are counted exactly
_FEW = 20  # values below which a column may be a category
_SAME = 0.95  # the share of values with one sex, one birth date in all their rows
#: What stays the same in all rows of a person, the surest first.
_STEADY = ("birth date", "birth year", "sex", "race", "birth country", "nationality", "religion", "education",
           "marital status")  # fmt: skip
_NAME, _STAFF = 20, 10  # the ranks of names, and of people whose row it is not
_OWN = frozenset({"sample", "identifier"})  # what may have a number of its own in every row
_NAMED = (NameKind.PERSON, NameKind.ID, NameKind.CONTACT, NameKind.NAME, NameKind.DEVICE, NameKind.STAFF)


@dataclass(frozen=True)
class OwnerSearch:
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


def find_owners(opened: OpenTable, shapes: TableProfile, meanings: dict[str, Meaning | None]) -> OwnerSearch:
    """The person of a table whose columns were looked at."""
    schema = opened.table.schema()
    usable = [n for n in shapes.columns if n in meanings and _can_identify(schema[n], shapes.columns[n])]
    said = {name: found for name in usable if (found := meanings[name]) is not None}
    with reading(opened):
        unit = _find_unit(opened, shapes, said)
        named = sorted((n for n, m in said.items() if m.kind in _NAMED), key=lambda n: -said[n].rank)[:_MOST]
        counted = [_count_owner(opened, shapes, name, said[name]) for name in named]
        candidates = [c for c in counted if _plausible(c, shapes.rows, unit)]
        chosen = _best_candidate(candidates, shapes.rows)
        candidates += [replace(c, rank=1) for c in counted if c not in candidates and c.owner.values > 2]
        if chosen is None or (chosen.rank < _PEOPLE and not chosen.owner.repeats):
            repeating = _unnamed_candidates(opened, shapes, meanings, usable)
            sure = [c for c in repeating if c.steady is not None or not (chosen or schema[c.owner.name].is_integer())]
            chosen = sure[0] if sure else chosen
            candidates += repeating
            if chosen is None and not repeating:
                chosen = _unique_candidate(opened, shapes, meanings, usable)
    if chosen is None:
        return OwnerSearch(others=tuple(c.owner for c in candidates), unit=unit)
    others = tuple(c.owner for c in sorted(candidates, key=lambda c: -c.rank) if c is not chosen)
    if unit is not None and unit.values >= chosen.owner.values:
        unit = None
    if chosen.owner.repeats:
        return OwnerSearch(chosen.owner, None, others, unit)
    return OwnerSearch(None, chosen.owner, others, unit)


def likely_owner(opened: OpenTable, person: str | None = None) -> Owner | None:
    """A column that looks like a person's although ``person``, what a plan says, is none or does not look like one.

    Where there is none, a household's. Cheap: names alone choose the columns, and few are counted.

    >>> from epsilens.data.tables.table import open_table
    >>> orders = {"order_id": [1, 2, 3, 4], "customer": ["a17", "b20", "a17", "c31"], "amount": [5, 7, 5, 9]}
    >>> with open_table(orders) as opened:
    ...     likely_owner(opened)
    Owner(name='customer', values=3, most=2, named=True, everyone=True, spellings=0)
    """
    said = {n: found for n in opened.table.columns if n != person and (found := meaning(n)) is not None}
    declared = meaning(person) if person is not None else None
    if person is not None and not (declared is not None and declared.kind in (NameKind.THING, NameKind.STAFF)):
        return None
    schema = opened.table.schema()
    said = {name: found for name, found in said.items() if _can_identify(schema[name], None)}
    likely = sorted((n for n, m in said.items() if m.kind in _NAMED and m.rank > _NAME), key=lambda n: -said[n].rank)
    with reading(opened):
        rows = int(opened.engine.fetch(opened.table.aggregate(n=opened.table.count())).column("n")[0].as_py())
        shapes = TableProfile(rows, rows, {})
        unit = _find_unit(opened, shapes, said)
        counted = [_count_owner(opened, shapes, name, said[name]) for name in likely[:3]]
    chosen = _best_candidate([c for c in counted if _plausible(c, rows, unit)], rows)
    if chosen is None:
        return unit
    return chosen.owner if chosen.owner.repeats else None


def _can_identify(kind: dt.DataType, shape: ColumnProfile | None) -> bool:
    if not (kind.is_string() or kind.is_uuid() or (kind.is_numeric() and not kind.is_boolean())):
        return False
    return shape is None or shape.share(*DATES) - shape.share(CellLabel.COMPACT) < 0.5


def _count_owner(
    opened: OpenTable, shapes: TableProfile, name: str, said: Meaning | None, steady: str | None = None
) -> _Candidate:
    """How many values a column has, and the most rows of one: exact, over all rows, and as they will be read."""
    shape = shapes.columns.get(name)
    got = _owner_totals(opened, name, shape, steady, folded=False)
    stored = int(got["values"] or 0)
    if got.get("blanks") or (got.get("small") and got.get("large")):  # capitals and blanks may tell equal ones apart
        got = _owner_totals(opened, name, shape, steady, folded=True)
    values, filled = int(got["values"] or 0), int(got["filled"] or 0)
    named = said is not None and said.kind is not NameKind.UNNAMED_ID
    owner = Owner(name, values, int(got["most"] or 0), named, filled == shapes.rows, stored - values)
    share = got["same"] / got["several"] if steady is not None and got["several"] else None
    rank = said.rank if said is not None else 0
    rank = min(rank, _PEOPLE - 1) // 2 if 2 * filled < shapes.rows else rank  # half of the rows say nothing
    coded = shape is not None and shape.share(CellLabel.CODE) > 0.9
    return _Candidate(owner, rank, said is not None and said.bare, share, coded)


def _owner_totals(
    opened: OpenTable, name: str, shape: ColumnProfile | None, steady: str | None, folded: bool
) -> dict[str, Any]:
    """Values, rows and the most rows of one value; how many values have small or capital letters or blanks to spare."""
    table = opened.table
    column = table[name]
    columns: dict[str, ir.Column] = {"v": column.cast("string") if column.type().is_uuid() else column}
    if steady is not None:
        columns["s"] = table[steady].cast("string")
    rows = table.select(**columns)
    wanted: dict[str, ir.Scalar] = {"n": rows.count()}
    if steady is not None:
        wanted |= {"low": rows["s"].min(), "high": rows["s"].max()}
    each = rows.group_by("v").agg(**wanted)
    each = each.filter(_is_informative(each["v"], opened.engine.kind, shape))
    if folded:  # each value, not each row
        read = parse_columns(each, {"v": ColumnFormat(ParsedType.CODE)})
        again: dict[str, ir.Scalar] = {"n": read["n"].sum()}
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


def _is_informative(value: ir.Column, engine: str, shape: ColumnProfile | None) -> ir.BooleanValue:
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


def _best_candidate(candidates: list[_Candidate], rows: int) -> _Candidate | None:
    """People before identifiers before names; among equals those that repeat, then by rank and place."""
    usable = [c for c in candidates if c.rank > _STAFF and not _are_namesakes(c, rows)]
    people = [c for c in usable if c.rank >= _PEOPLE] or usable
    repeating = [c for c in people if c.owner.repeats]
    return max(repeating or people, key=lambda c: c.rank, default=None)


def _are_namesakes(candidate: _Candidate, rows: int) -> bool:
    """Names that repeat a little are of different people who share one."""
    return candidate.rank == _NAME and candidate.owner.repeats and candidate.owner.values > 0.8 * rows


def _find_unit(opened: OpenTable, shapes: TableProfile, said: dict[str, Meaning]) -> Owner | None:
    """A household or family that several rows share."""
    order = {"household": 0, "family": 1, "couple": 2, "address": 3}
    names = sorted((n for n, m in said.items() if m.kind is NameKind.UNIT), key=lambda n: order.get(said[n].word, 4))
    for name in names[:2]:
        owner = _count_owner(opened, shapes, name, said[name]).owner
        if owner.repeats and (owner.values > _FEW or owner.values * _FEW >= shapes.rows) and owner.values > 1:
            return owner
    return None


def _unnamed_candidates(
    opened: OpenTable, shapes: TableProfile, meanings: dict[str, Meaning | None], usable: list[str]
) -> list[_Candidate]:
    """Columns that repeat as identifiers do, likeliest first."""
    schema = opened.table.schema()
    likely = [name for name in usable if _repeats_like_identifier(schema[name], shapes.columns[name], meanings[name])]
    likely.sort(key=lambda n: (meanings[n] is None, not schema[n].is_string(), -shapes.columns[n].distinct))
    varying = {m.word: n for n, m in meanings.items() if m and (shape := shapes.columns.get(n)) and shape.distinct > 1}
    steady = next((varying[word] for word in _STEADY if word in varying), None)
    found = []
    for name in likely[:4]:
        candidate = _count_owner(opened, shapes, name, meanings[name], steady)
        average = shapes.columns[name].filled / max(candidate.owner.values, 1)
        even = candidate.owner.most <= max(20.0, 20.0 * average)
        same = candidate.steady is None or candidate.steady >= _SAME
        if candidate.owner.repeats and candidate.owner.values > 1 and even and same:
            found.append(replace(candidate, rank=_PEOPLE // 2))
    return found


def _unique_candidate(
    opened: OpenTable, shapes: TableProfile, meanings: dict[str, Meaning | None], usable: list[str]
) -> _Candidate | None:
    """A sample, or something we have no word for, that has a number of its own in every row."""
    kinds = (NameKind.THING, NameKind.UNNAMED_ID)
    said = {n: m for n in usable if (m := meanings[n]) is not None and m.kind in kinds and m.word in _OWN}
    likely = [n for n in said if shapes.columns[n].distinct >= 0.8 * shapes.rows]  # values are counted about
    counted = (_count_owner(opened, shapes, name, said[name]) for name in likely[:3])
    return next((c for c in counted if c.owner.everyone and c.owner.values == shapes.rows), None)


def _repeats_like_identifier(kind: dt.DataType, shape: ColumnProfile, said: Meaning | None) -> bool:
    if said is not None and said.kind is not NameKind.UNNAMED_ID:
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
    return (
        bool(kind.is_string())
        and shape.share(CellLabel.CODE, CellLabel.ZEROS, CellLabel.WHOLE) > 0.9
        and shape.length >= 4
    )


_CONSTANT_ROWS = 200_000  # enough to see it
_CONSTANT_PEOPLE = 20  # people with several rows, below which nothing is said
_CONSTANT_SHARE = 0.95  # the share of them that must have one value
_CONSTANT_COLUMNS = 30  # columns that are looked at


def constant_columns(
    opened: OpenTable, owner: str, names: Sequence[str], forms: Mapping[str, ColumnFormat]
) -> list[str] | None:
    """Those of the columns, read as their forms say, that nearly everybody has one value of; None where too few people
    have several rows to say so.

    >>> from epsilens.data.tables.table import open_table
    >>> visits = {"who": [i // 2 for i in range(60)], "kind": [i // 2 % 3 for i in range(60)], "day": list(range(60))}
    >>> with open_table(visits) as opened:
    ...     constant_columns(opened, "who", ["kind", "day"], {})
    ['kind']
    """
    names = names[:_CONSTANT_COLUMNS]
    used = [owner, *names]
    with reading(opened):
        table = opened.table.select(*used).limit(_CONSTANT_ROWS)
        table = parse_columns(table, {name: form for name, form in forms.items() if name in used})
        values = {f"v{i}": table[name].cast("string") for i, name in enumerate(names)}
        rows = table.select(whose=table[owner].cast("string"), **values)
        rows = rows.filter(rows["whose"].notnull())
        wanted = {"n": rows.count()}
        for v in values:
            wanted |= {f"low_{v}": rows[v].min(), f"high_{v}": rows[v].max()}
        each = rows.group_by("whose").agg(**wanted)
        each = each.filter(each["n"] > 1)
        totals = {"people": each.count()}
        for v in values:
            low, high = each[f"low_{v}"], each[f"high_{v}"]
            totals |= {f"held_{v}": low.count(), f"same_{v}": ibis.ifelse(low == high, 1, 0).sum()}
        got = opened.engine.fetch(each.aggregate(**totals)).to_pylist()[0]
    if got["people"] < _CONSTANT_PEOPLE:
        return None
    held = {name: (got[f"held_v{i}"], got[f"same_v{i}"] or 0) for i, name in enumerate(names)}
    return [
        name for name, (people, same) in held.items() if people >= _CONSTANT_PEOPLE and same >= _CONSTANT_SHARE * people
    ]


_MOST_COLUMNS = 1000
_MOST_KNOWN = 6
_MOSTLY = 0.9  # the share of cells that must fit a form
_CATEGORIES = 1000  # values that can be groups
_CODES = 10  # whole numbers of so few values are codes, unless their name says what they count
_SMALL = 50  # rows below which counts say little
_IDENTIFIERS = (
    NameKind.PERSON,
    NameKind.ID,
    NameKind.CONTACT,
    NameKind.NAME,
    NameKind.PART_OF_NAME,
    NameKind.UNIT,
    NameKind.STAFF,
    NameKind.DEVICE,
    NameKind.THING,
    NameKind.UNNAMED_ID,
)
_GROUPED = (
    NameKind.THING,
    NameKind.UNIT,
    NameKind.PERSON,
    NameKind.DEVICE,
    NameKind.UNNAMED_ID,
)  # may also be groups: four stores
#: "NA" is Namibia among countries and North America among regions.
_STATUS = "status"
_PLACES = frozenset({"country", "birth country", "nationality", "region", "state"})


def infer_schema(opened: OpenTable, tell: Callable[[str], object] | None = None) -> TableSchema:
    """What the table is; ``tell`` hears what is being done."""
    schema = opened.table.schema()
    names = list(schema.names)[:_MOST_COLUMNS]
    meanings = {name: meaning(name) for name in names}
    shapes = profile_columns(opened, names, tell)
    meanings |= {name: CONTACT for name, shape in shapes.columns.items() if _is_contact(shape, meanings[name])}
    if tell is not None:
        tell("finding whose rows these are")
    owners = find_owners(opened, shapes, meanings)
    columns = [_infer_column(name, schema[name], shapes, meanings[name], owners) for name in names]
    columns = _mark_weights(_mark_known(opened, columns, meanings, owners.person))
    return TableSchema(
        table=opened.name,
        rows=shapes.rows,
        columns=tuple(columns),
        person=owners.person,
        single=owners.single,
        others=owners.others,
        unit=owners.unit,
        left_out=len(schema.names) - len(names),
        looked_at=shapes.looked_at,
    )


def _infer_column(
    name: str, kind: dt.DataType, shapes: TableProfile, said: Meaning | None, owners: OwnerSearch
) -> ColumnSchema:
    stored = str(kind)
    if name not in shapes.columns:
        nothing = bool(kind.is_null())
        return ColumnSchema(
            name, stored, ColumnRole.EMPTY if nothing else ColumnRole.OTHER, 0, empty=shapes.rows if nothing else 0
        )
    shape = shapes.columns[name]
    if shape.distinct == 0 or shape.rows == shape.empty:
        return ColumnSchema(name, stored, ColumnRole.EMPTY, distinct=0, empty=shapes.rows)
    owner = owners.of(name)
    form = _infer_format(kind, shape, said) if owner is None else _owner_format(owner, shape)
    role = _infer_role(name, kind, shape, said, form, owners)
    said = _consistent_meaning(said, role, kind)
    if role not in (ColumnRole.CATEGORY, ColumnRole.CODE) and form is not None and form.kind is ParsedType.CATEGORY:
        form = None
    if role is ColumnRole.CODE and form is not None and form.kind is ParsedType.CATEGORY:
        form = replace(form, kind=ParsedType.CODE)
    number = role is ColumnRole.NUMBER
    distinct = max(shape.distinct - shape.spellings - len(form.empty if form is not None else ()), 1)
    spellings = shape.spellings if role in (ColumnRole.CATEGORY, ColumnRole.CODE, ColumnRole.IDENTIFIER) else 0
    if owner is not None:
        distinct, spellings = max(owner.values, 1), owner.spellings
    if distinct == 1 and shape.empty == 0 and shapes.rows > 1:
        role = ColumnRole.EMPTY
    return ColumnSchema(
        name,
        stored,
        role,
        distinct=distinct,
        empty=shape.empty,
        meaning=None if said is None else said.word,
        secret=said is not None and said.secret and role in (ColumnRole.CATEGORY, ColumnRole.CODE, ColumnRole.NUMBER),
        form=form,
        unread=_unparsed_count(form, shape),
        spellings=spellings,
        bounds=said.bounds if number and said is not None else None,
        choose=bool(number and said is not None and said.choose),
        unsure=form is not None and form.kind is ParsedType.DATE and shape.unsure,
    )


def _is_contact(shape: ColumnProfile, said: Meaning | None) -> bool:
    """Telephone numbers and e-mail addresses, under a name that says nothing else."""
    return (said is None or said.kind is NameKind.UNNAMED_ID) and shape.share(CellLabel.CONTACT) >= _MOSTLY


def _owner_format(owner: Owner, shape: ColumnProfile) -> ColumnFormat | None:
    """How an identifier is read, so that each person counts once and no word for nothing is a person."""
    if owner.spellings:
        return ColumnFormat(ParsedType.CODE, empty=shape.words)
    return ColumnFormat(ParsedType.TEXT, empty=shape.words) if shape.words or shape.nothing else None


def _infer_format(kind: dt.DataType, shape: ColumnProfile, said: Meaning | None) -> ColumnFormat | None:
    """How the text of a column should be read, where that is not as it stands."""
    if kind.is_integer() and shape.whole is WholeNumberKind.DAYS:
        return ColumnFormat(ParsedType.DATE)
    if not kind.is_string() or not shape.labels:
        return None
    everything = tuple(word for word in shape.words)
    if _is_date(shape, said):
        return ColumnFormat(ParsedType.DATE, order=shape.order, empty=everything)
    if _is_number(shape, said):
        return ColumnFormat(ParsedType.NUMBER, decimal=shape.decimal, empty=everything)
    sure = tuple(word for word in shape.words if word in NOTHING)
    if said is not None and said.word in _PLACES:
        sure = tuple(word for word in sure if word != "NA")
    if shape.spellings or sure:
        return ColumnFormat(ParsedType.CATEGORY, empty=sure)
    return None


def _is_date(shape: ColumnProfile, said: Meaning | None) -> bool:
    named = said is not None and said.kind is NameKind.DATE
    sure = shape.among(*DATES) - shape.among(CellLabel.COMPACT)
    unnamed = said is None or said.kind not in _IDENTIFIERS
    return sure >= _MOSTLY or ((named or unnamed) and shape.among(*DATES) >= _MOSTLY)


def _is_number(shape: ColumnProfile, said: Meaning | None) -> bool:
    """Numbers, and no names made of digits: with leading zeros, or of what is counted by nobody."""
    if said is not None and said.kind not in (NameKind.NUMBER, NameKind.PART):
        plain = shape.among(CellLabel.WHOLE, CellLabel.COMPACT)
        if said.kind is not NameKind.CATEGORY or plain > 0.5:
            return False
    if shape.whole is not None and (said is None or said.kind is not NameKind.NUMBER):
        return False
    if shape.share(CellLabel.ZEROS) and not shape.share(
        CellLabel.POINT, CellLabel.COMMA, CellLabel.ONE_POINT, CellLabel.ONE_COMMA
    ):
        return False
    return shape.among(*NUMBERS, CellLabel.ZEROS) >= _MOSTLY


def _infer_role(
    name: str,
    kind: dt.DataType,
    shape: ColumnProfile,
    said: Meaning | None,
    form: ColumnFormat | None,
    owners: OwnerSearch,
) -> ColumnRole:
    what = said.kind if said is not None else None
    if owners.of(name) is not None:
        return ColumnRole.IDENTIFIER
    if kind.is_date() or kind.is_timestamp() or (form is not None and form.kind is ParsedType.DATE):
        return ColumnRole.DATE
    if kind.is_boolean():
        return ColumnRole.CATEGORY
    if kind.is_uuid():
        return ColumnRole.IDENTIFIER
    held = max(shape.rows - shape.empty, 1)
    few = shape.distinct <= 2 or (shape.distinct <= _CODES and held >= _SMALL)
    if (
        shape.whole in (WholeNumberKind.DAYS, WholeNumberKind.INSTANTS)
        and kind.is_numeric()
        and what not in _IDENTIFIERS
    ):
        return ColumnRole.DATE
    if what in _IDENTIFIERS:
        grouped = what in _GROUPED or (said is not None and said.bare)
        if not (grouped and (few or shape.distinct * 20 <= held) and shape.distinct <= _CATEGORIES):
            return ColumnRole.IDENTIFIER
        coded = kind.is_numeric() or shape.share(CellLabel.CODE) > 0.5
        return ColumnRole.CODE if coded and shape.distinct > 2 else ColumnRole.CATEGORY
    if shape.whole is WholeNumberKind.MONTHS and what is not NameKind.NUMBER:
        return ColumnRole.CATEGORY
    if shape.whole is WholeNumberKind.NAMES and what in (None, NameKind.DATE):
        return ColumnRole.CODE if few else ColumnRole.IDENTIFIER
    if kind.is_numeric() or (form is not None and form.kind is ParsedType.NUMBER):
        return _role_of_number(kind, shape, what, few, held)
    if kind.is_string():
        return _role_of_text(shape, what, held)
    return ColumnRole.CATEGORY


def _role_of_number(kind: dt.DataType, shape: ColumnProfile, what: NameKind | None, few: bool, held: int) -> ColumnRole:
    if what in (NameKind.CODE, NameKind.PART, NameKind.CATEGORY, NameKind.DATE) and not kind.is_string():
        whole = kind.is_integer() or shape.distinct <= _CODES * 2
        if what is NameKind.CODE and whole:
            return ColumnRole.CODE
        if what is NameKind.PART or (whole and shape.distinct <= _CATEGORIES and shape.distinct * 2 <= held + _CODES):
            return ColumnRole.CATEGORY
        return ColumnRole.NUMBER
    flag = shape.distinct <= 2 and (what is None or held >= _SMALL)  # yes and no, whatever the name says
    if what is None and shape.serial and held >= _SMALL and shape.distinct >= 0.85 * held:
        return ColumnRole.IDENTIFIER  # the number of the row
    if not kind.is_string() and (flag or (what is None and few and kind.is_integer())):
        return ColumnRole.CATEGORY
    return ColumnRole.NUMBER


def _role_of_text(shape: ColumnProfile, what: NameKind | None, held: int) -> ColumnRole:
    many = shape.distinct > _CATEGORIES or (shape.distinct > 20 and shape.distinct > 0.5 * held)
    wordy = shape.share(CellLabel.LONG) > 0.3 or shape.length > 60
    if what is NameKind.TEXT and (wordy or many or held < 20):
        return ColumnRole.FREE
    if wordy and (many or shape.length > 100) and what is not NameKind.CODE:
        return ColumnRole.FREE
    if what is NameKind.CODE:
        return ColumnRole.CODE
    codes = shape.share(CellLabel.CODE, CellLabel.ZEROS, CellLabel.WHOLE, CellLabel.COMPACT) > 0.5 and (
        shape.distinct > 2 * _CODES or shape.share(CellLabel.ZEROS) > 0
    )
    if what is None and shape.distinct > max(20, 0.9 * held):
        return ColumnRole.IDENTIFIER
    if codes:
        return ColumnRole.CODE
    if many and what is None and shape.distinct > 0.2 * held:
        return ColumnRole.FREE
    return ColumnRole.CATEGORY


def _consistent_meaning(said: Meaning | None, role: ColumnRole, kind: dt.DataType) -> Meaning | None:
    """What the name says, unless the column holds something else."""
    if said is None:
        return None
    if said.kind in _IDENTIFIERS and role is not ColumnRole.IDENTIFIER and said.kind is not NameKind.THING:
        return None
    if said.kind in (NameKind.DATE, NameKind.PART) and role is ColumnRole.NUMBER:
        return None
    if (
        said.kind is NameKind.NUMBER
        and role is ColumnRole.CATEGORY
        and kind.is_numeric()
        and not (said.known or said.secret)
    ):
        return None  # a flag beside an amount: cost_missing
    return said


def _mark_known(
    opened: OpenTable, columns: list[ColumnSchema], meanings: dict[str, Meaning | None], person: Owner | None
) -> list[ColumnSchema]:
    """The columns that others may know of a person, the most telling first: those whose names say so, then those that
    stay the same in all rows of a person; where nothing can be said, a few categories."""
    roles = (ColumnRole.CATEGORY, ColumnRole.CODE, ColumnRole.DATE, ColumnRole.NUMBER)
    usable = [c for c in columns if c.role in roles and c.distinct >= 2]
    columns_of = {c.name: c for c in usable}
    telling = {
        c.name: said.known
        for c in usable
        if (said := meanings[c.name]) is not None and said.known and c.meaning == said.word and not c.secret
    }
    ranked = sorted(telling, key=lambda name: -telling[name])
    first = {columns_of[name].meaning: name for name in reversed(ranked)}  # one of each: age, not age in the year too
    chosen = [name for name in ranked if name in first.values() or columns_of[name].meaning == "location"]
    few = [c for c in usable if c.role is not ColumnRole.NUMBER and c.distinct <= _CATEGORIES and not c.secret]
    steady: list[str] | None = None
    if person is not None:
        unnamed = [c.name for c in few if _is_uninformative(meanings[c.name])]
        forms = {c.name: c.form for c in columns if c.form is not None}
        steady = constant_columns(opened, person.name, unnamed, forms)
        chosen += steady or []
    if not chosen and steady is None:
        named = (*_IDENTIFIERS, NameKind.DATE)
        chosen = [
            c.name
            for c in few
            if c.role is ColumnRole.CATEGORY
            and c.distinct <= 50
            and c.meaning != _STATUS
            and not ((said := meanings[c.name]) is not None and said.kind in named)
        ][:3]
    return [replace(c, known=c.name in chosen[:_MOST_KNOWN]) for c in columns]


def _is_uninformative(said: Meaning | None) -> bool:
    """A name without meaning, or a class, a group, a level of something."""
    return said is None or (said.kind in (NameKind.CATEGORY, NameKind.CODE) and not said.known)


def _mark_weights(columns: list[ColumnSchema]) -> list[ColumnSchema]:
    """Weights in a survey say how many people a row stands for, and not what anybody weighs."""
    survey = is_survey(c.name for c in columns)
    body = any(c.meaning in ("height", "body mass index") for c in columns)
    weights = ("sampling weight", "weight") if survey and not body else ("sampling weight",)
    return [replace(c, weighs=c.meaning in weights and not names_weight_unit(c.name)) for c in columns]


def _unparsed_count(form: ColumnFormat | None, shape: ColumnProfile) -> int:
    """How many values the form leaves out, from the rows looked at."""
    if (
        form is None or form.kind not in (ParsedType.NUMBER, ParsedType.DATE) or not shape.labels
    ):  # whole numbers were all found to fit
        return 0
    fits: tuple[CellLabel, ...]
    if form.kind is ParsedType.NUMBER:
        other = CellLabel.COMMA if form.decimal == "." else CellLabel.POINT
        fits = (*(label for label in NUMBERS if label is not other), CellLabel.ZEROS)
    elif form.order is DateOrder.YEAR_FIRST:
        fits = (CellLabel.YEAR_FIRST, CellLabel.COMPACT)
    else:
        own = CellLabel.DAY_FIRST if form.order is DateOrder.DAY_FIRST else CellLabel.MONTH_FIRST
        fits = (own, CellLabel.EITHER_FIRST)
    return round((1.0 - shape.among(*fits)) * (shape.rows - shape.empty) * (1.0 - shape.share(CellLabel.ANSWER)))
