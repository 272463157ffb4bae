"""Read what a table is from the names and types of its columns and from counts; no cell is kept.

>>> from epsilens.data.tables.table import open_table
>>> visits = {"Patient ID": ["p1", "p2", "p1"], "Ward": ["Eye", "eye ", "Heart"], "Cost": ["8,841.70", "N/A", "12.50"]}
>>> with open_table(visits) as opened:
...     seen = understand(opened)
>>> seen.person.name, seen.person.values
('Patient ID', 2)
>>> seen.column("Ward").spellings, seen.column("Cost").form.kind.value, seen.column("Cost").form.empty
(1, 'number', ('N/A',))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..tables.columns import As, Form, Order
from ..tables.table import OpenTable
from .labels import DATES, NOTHING, NUMBERS, Label
from .names import CONTACT, Kind, Meaning, is_of_survey, meaning, says_unit
from .owners import Owners, owners_of
from .shapes import Shape, Shapes, Whole, shapes_of
from .steady import steady_of
from .understood import Column, Owner, Role, Understanding

_MOST_COLUMNS = 1000
_MOST_KNOWN = 6
_MOSTLY = 0.9  # the share of cells that must fit a form
_CATEGORIES = 1000  # values that can be groups
_CODES = 10  # whole numbers of so few values are codes, unless their name says what they count
_SMALL = 50  # rows below which counts say little
_IDENTIFIERS = (Kind.PERSON, Kind.ID, Kind.CONTACT, Kind.NAME, Kind.PART_OF_NAME, Kind.UNIT, Kind.STAFF, Kind.DEVICE,
                Kind.THING, Kind.UNNAMED_ID)  # fmt: skip
_GROUPED = (Kind.THING, Kind.UNIT, Kind.PERSON, Kind.DEVICE, Kind.UNNAMED_ID)  # may also be groups: four stores
#: "NA" is Namibia among countries and North America among regions.
_STATUS = "status"
_PLACES = frozenset({"country", "birth country", "nationality", "region", "state"})


def understand(opened: OpenTable, tell: Callable[[str], object] | None = None) -> Understanding:
    """What the table is; ``tell`` hears what is being done."""
    schema = opened.table.schema()
    names = list(schema.names)[:_MOST_COLUMNS]
    meanings = {name: meaning(name) for name in names}
    shapes = shapes_of(opened, names, tell)
    meanings |= {name: CONTACT for name, shape in shapes.columns.items() if _is_contact(shape, meanings[name])}
    if tell is not None:
        tell("finding whose rows these are")
    owners = owners_of(opened, shapes, meanings)
    columns = [_column(name, schema[name], shapes, meanings[name], owners) for name in names]
    columns = _weighing(_known(opened, columns, meanings, owners.person))
    return Understanding(
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


def _column(name: str, kind: Any, shapes: Shapes, said: Meaning | None, owners: Owners) -> Column:
    stored = str(kind)
    if name not in shapes.columns:
        nothing = bool(kind.is_null())
        return Column(name, stored, Role.EMPTY if nothing else Role.OTHER, 0, empty=shapes.rows if nothing else 0)
    shape = shapes.columns[name]
    if shape.distinct == 0 or shape.rows == shape.empty:
        return Column(name, stored, Role.EMPTY, distinct=0, empty=shapes.rows)
    owner = owners.of(name)
    form = _form(kind, shape, said) if owner is None else _form_of_owner(owner, shape)
    role = _role(name, kind, shape, said, form, owners)
    said = _agreed(said, role, kind)
    if role not in (Role.CATEGORY, Role.CODE) and form is not None and form.kind is As.CATEGORY:
        form = None
    if role is Role.CODE and form is not None and form.kind is As.CATEGORY:
        form = replace(form, kind=As.CODE)
    number = role is Role.NUMBER
    distinct = max(shape.distinct - shape.spellings - len(form.empty if form is not None else ()), 1)
    spellings = shape.spellings if role in (Role.CATEGORY, Role.CODE, Role.IDENTIFIER) else 0
    if owner is not None:
        distinct, spellings = max(owner.values, 1), owner.spellings
    if distinct == 1 and shape.empty == 0 and shapes.rows > 1:
        role = Role.EMPTY
    return Column(
        name,
        stored,
        role,
        distinct=distinct,
        empty=shape.empty,
        meaning=None if said is None else said.word,
        secret=said is not None and said.secret and role in (Role.CATEGORY, Role.CODE, Role.NUMBER),
        form=form,
        unread=_unread(form, shape),
        spellings=spellings,
        bounds=said.bounds if number and said is not None else None,
        choose=bool(number and said is not None and said.choose),
        unsure=form is not None and form.kind is As.DATE and shape.unsure,
    )


def _is_contact(shape: Shape, said: Meaning | None) -> bool:
    """Telephone numbers and e-mail addresses, under a name that says nothing else."""
    return (said is None or said.kind is Kind.UNNAMED_ID) and shape.share(Label.CONTACT) >= _MOSTLY


def _form_of_owner(owner: Owner, shape: Shape) -> Form | None:
    """How an identifier is read, so that each person counts once and no word for nothing is a person."""
    if owner.spellings:
        return Form(As.CODE, empty=shape.words)
    return Form(As.TEXT, empty=shape.words) if shape.words or shape.nothing else None


def _form(kind: Any, shape: Shape, said: Meaning | None) -> Form | None:
    """How the text of a column should be read, where that is not as it stands."""
    if kind.is_integer() and shape.whole is Whole.DAYS:
        return Form(As.DATE)
    if not kind.is_string() or not shape.labels:
        return None
    everything = tuple(word for word in shape.words)
    if _is_date(shape, said):
        return Form(As.DATE, order=shape.order, empty=everything)
    if _is_number(shape, said):
        return Form(As.NUMBER, decimal=shape.decimal, empty=everything)
    sure = tuple(word for word in shape.words if word in NOTHING)
    if said is not None and said.word in _PLACES:
        sure = tuple(word for word in sure if word != "NA")
    if shape.spellings or sure:
        return Form(As.CATEGORY, empty=sure)
    return None


def _is_date(shape: Shape, said: Meaning | None) -> bool:
    named = said is not None and said.kind is Kind.DATE
    sure = shape.among(*DATES) - shape.among(Label.COMPACT)
    unnamed = said is None or said.kind not in _IDENTIFIERS
    return sure >= _MOSTLY or ((named or unnamed) and shape.among(*DATES) >= _MOSTLY)


def _is_number(shape: Shape, said: Meaning | None) -> bool:
    """Numbers, and no names made of digits: with leading zeros, or of what is counted by nobody."""
    if said is not None and said.kind not in (Kind.NUMBER, Kind.PART):
        plain = shape.among(Label.WHOLE, Label.COMPACT)
        if said.kind is not Kind.CATEGORY or plain > 0.5:
            return False
    if shape.whole is not None and (said is None or said.kind is not Kind.NUMBER):
        return False
    if shape.share(Label.ZEROS) and not shape.share(Label.POINT, Label.COMMA, Label.ONE_POINT, Label.ONE_COMMA):
        return False
    return shape.among(*NUMBERS, Label.ZEROS) >= _MOSTLY


def _role(name: str, kind: Any, shape: Shape, said: Meaning | None, form: Form | None, owners: Owners) -> Role:
    what = said.kind if said is not None else None
    if owners.of(name) is not None:
        return Role.IDENTIFIER
    if kind.is_date() or kind.is_timestamp() or (form is not None and form.kind is As.DATE):
        return Role.DATE
    if kind.is_boolean():
        return Role.CATEGORY
    if kind.is_uuid():
        return Role.IDENTIFIER
    held = max(shape.rows - shape.empty, 1)
    few = shape.distinct <= 2 or (shape.distinct <= _CODES and held >= _SMALL)
    if shape.whole in (Whole.DAYS, Whole.INSTANTS) and kind.is_numeric() and what not in _IDENTIFIERS:
        return Role.DATE
    if what in _IDENTIFIERS:
        grouped = what in _GROUPED or (said is not None and said.bare)
        if not (grouped and (few or shape.distinct * 20 <= held) and shape.distinct <= _CATEGORIES):
            return Role.IDENTIFIER
        coded = kind.is_numeric() or shape.share(Label.CODE) > 0.5
        return Role.CODE if coded and shape.distinct > 2 else Role.CATEGORY
    if shape.whole is Whole.MONTHS and what is not Kind.NUMBER:
        return Role.CATEGORY
    if shape.whole is Whole.NAMES and what in (None, Kind.DATE):
        return Role.CODE if few else Role.IDENTIFIER
    if kind.is_numeric() or (form is not None and form.kind is As.NUMBER):
        return _role_of_number(kind, shape, what, few, held)
    if kind.is_string():
        return _role_of_text(shape, what, held)
    return Role.CATEGORY


def _role_of_number(kind: Any, shape: Shape, what: Kind | None, few: bool, held: int) -> Role:
    if what in (Kind.CODE, Kind.PART, Kind.CATEGORY, Kind.DATE) and not kind.is_string():
        whole = kind.is_integer() or shape.distinct <= _CODES * 2
        if what is Kind.CODE and whole:
            return Role.CODE
        if what is Kind.PART or (whole and shape.distinct <= _CATEGORIES and shape.distinct * 2 <= held + _CODES):
            return Role.CATEGORY
        return Role.NUMBER
    flag = shape.distinct <= 2 and (what is None or held >= _SMALL)  # yes and no, whatever the name says
    if what is None and shape.serial and held >= _SMALL and shape.distinct >= 0.85 * held:
        return Role.IDENTIFIER  # the number of the row
    if not kind.is_string() and (flag or (what is None and few and kind.is_integer())):
        return Role.CATEGORY
    return Role.NUMBER


def _role_of_text(shape: Shape, what: Kind | None, held: int) -> Role:
    many = shape.distinct > _CATEGORIES or (shape.distinct > 20 and shape.distinct > 0.5 * held)
    wordy = shape.share(Label.LONG) > 0.3 or shape.length > 60
    if what is Kind.TEXT and (wordy or many or held < 20):
        return Role.FREE
    if wordy and (many or shape.length > 100) and what is not Kind.CODE:
        return Role.FREE
    if what is Kind.CODE:
        return Role.CODE
    codes = shape.share(Label.CODE, Label.ZEROS, Label.WHOLE, Label.COMPACT) > 0.5 and (
        shape.distinct > 2 * _CODES or shape.share(Label.ZEROS) > 0
    )
    if what is None and shape.distinct > max(20, 0.9 * held):
        return Role.IDENTIFIER
    if codes:
        return Role.CODE
    if many and what is None and shape.distinct > 0.2 * held:
        return Role.FREE
    return Role.CATEGORY


def _agreed(said: Meaning | None, role: Role, kind: Any) -> Meaning | None:
    """What the name says, unless the column holds something else."""
    if said is None:
        return None
    if said.kind in _IDENTIFIERS and role is not Role.IDENTIFIER and said.kind is not Kind.THING:
        return None
    if said.kind in (Kind.DATE, Kind.PART) and role is Role.NUMBER:
        return None
    if said.kind is Kind.NUMBER and role is Role.CATEGORY and kind.is_numeric() and not (said.known or said.secret):
        return None  # a flag beside an amount: cost_missing
    return said


def _known(
    opened: OpenTable, columns: list[Column], meanings: dict[str, Meaning | None], person: Owner | None
) -> list[Column]:
    """The columns that others may know of a person, the most telling first: those whose names say so, then those that
    stay the same in all rows of a person; where nothing can be said, a few categories."""
    roles = (Role.CATEGORY, Role.CODE, Role.DATE, Role.NUMBER)
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
    few = [c for c in usable if c.role is not Role.NUMBER and c.distinct <= _CATEGORIES and not c.secret]
    steady: list[str] | None = None
    if person is not None:
        unnamed = [c.name for c in few if _says_little(meanings[c.name])]
        forms = {c.name: c.form for c in columns if c.form is not None}
        steady = steady_of(opened, person.name, unnamed, forms)
        chosen += steady or []
    if not chosen and steady is None:
        named = (*_IDENTIFIERS, Kind.DATE)
        chosen = [
            c.name
            for c in few
            if c.role is Role.CATEGORY
            and c.distinct <= 50
            and c.meaning != _STATUS
            and not ((said := meanings[c.name]) is not None and said.kind in named)
        ][:3]
    return [replace(c, known=c.name in chosen[:_MOST_KNOWN]) for c in columns]


def _says_little(said: Meaning | None) -> bool:
    """A name without meaning, or a class, a group, a level of something."""
    return said is None or (said.kind in (Kind.CATEGORY, Kind.CODE) and not said.known)


def _weighing(columns: list[Column]) -> list[Column]:
    """Weights in a survey say how many people a row stands for, and not what anybody weighs."""
    survey = is_of_survey(c.name for c in columns)
    body = any(c.meaning in ("height", "body mass index") for c in columns)
    weights = ("sampling weight", "weight") if survey and not body else ("sampling weight",)
    return [replace(c, weighs=c.meaning in weights and not says_unit(c.name)) for c in columns]


def _unread(form: Form | None, shape: Shape) -> int:
    """How many values the form leaves out, from the rows looked at."""
    if form is None or form.kind not in (As.NUMBER, As.DATE) or not shape.labels:  # whole numbers were all found to fit
        return 0
    fits: tuple[Label, ...]
    if form.kind is As.NUMBER:
        other = Label.COMMA if form.decimal == "." else Label.POINT
        fits = (*(label for label in NUMBERS if label is not other), Label.ZEROS)
    elif form.order is Order.YEAR_FIRST:
        fits = (Label.YEAR_FIRST, Label.COMPACT)
    else:
        own = Label.DAY_FIRST if form.order is Order.DAY_FIRST else Label.MONTH_FIRST
        fits = (own, Label.EITHER_FIRST)
    return round((1.0 - shape.among(*fits)) * (shape.rows - shape.empty) * (1.0 - shape.share(Label.ANSWER)))
