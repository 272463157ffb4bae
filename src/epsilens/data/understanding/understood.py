"""What was understood of a table, as data: every sentence about it, and every plan, is written from these.

Nothing here is a cell of the table: names and types of columns, how many rows and values there are, and words of our
own (``N/A`` is one of ours: a list of what people write where nothing is recorded).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..tables.columns import Form


class Role(StrEnum):
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
class Column:
    """One column: what it holds, how it should be read, what it may be to an attacker."""

    name: str
    kind: str  # the type as stored, in Ibis's words: string, int64, date
    role: Role
    distinct: int  # values that differ, about; as proposed to be read
    empty: int  # rows with nothing recorded, about
    meaning: str | None = None  # what its name says it is, one of our own words: age, postcode, money, diagnosis
    known: bool = False  # proposed as a quasi-identifier
    secret: bool = False  # something people keep to themselves
    form: Form | None = None  # how its text should be read, where that differs from how it is stored
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
class Understanding:
    """A table as understood. ``person`` is None where no column says whose row it is, or where none has to:
    ``single`` then names an identifier that is different in every row.

    >>> Understanding("people.csv", rows=3, columns=(), single=Owner("id", values=3, most=1, named=True)).nobody
    False
    >>> Understanding("visits.csv", rows=3, columns=()).nobody
    True
    """

    table: str
    rows: int
    columns: tuple[Column, ...]
    person: Owner | None = None
    single: Owner | None = None
    others: tuple[Owner, ...] = ()  # what else could be the person, likeliest first
    unit: Owner | None = None  # a household, a family: who may be protected together
    left_out: int = 0  # columns beyond the most that are looked at
    looked_at: int = 0  # the rows whose values were looked at; fewer than ``rows`` in a large table

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(c for c in self.columns if c.name == name)

    @property
    def nobody(self) -> bool:
        """Whether nothing says whose row it is: each row would silently be a person."""
        return self.person is None and self.single is None
