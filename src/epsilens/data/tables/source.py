"""Where a table comes from: one that is bundled, a file, an address, or something in memory.

>>> source_of("epsilens:adult"), source_of("people.csv")
(Bundled(name='epsilens:adult'), File(path='people.csv'))
>>> source_of("postgres://me:hush@host/db#visits")
Url(text='postgres://me:hush@host/db#visits')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .bundled import PREFIX, Dataset, bundled

__all__ = ["CSV", "PARQUET", "Bundled", "File", "Frame", "Source", "Url", "masked", "source_of"]

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq", ".parq")


@dataclass(frozen=True)
class Bundled:
    """A table that comes with epsilens, by its name; there may be none of that name."""

    name: str

    @property
    def dataset(self) -> Dataset:
        """What is known about it, or a sentence on the names there are."""
        return bundled(self.name)


@dataclass(frozen=True)
class File:
    """A path or glob; on a connection that was passed in it may also be the name of a table."""

    path: str


@dataclass(frozen=True)
class Url:
    """An address: of a database, with its table after ``#``, or of a file far away.

    >>> url = Url("postgres://me:hush@host/db#visits")
    >>> url.table, url.scheme, url.is_file, url.masked
    ('visits', 'postgres', False, 'postgres://…@host/db#visits')
    """

    text: str

    @property
    def scheme(self) -> str:
        """What stands before ``://``."""
        return self.text.split("://", 1)[0]

    @property
    def database(self) -> str:
        """The address without the table."""
        return self.text.partition("#")[0]

    @property
    def table(self) -> str:
        """The table's name, empty where the address leaves it out."""
        return self.text.partition("#")[2]

    @property
    def is_file(self) -> bool:
        """Whether it is the address of a CSV or Parquet file."""
        return self.text.lower().split("?")[0].endswith(CSV + PARQUET)

    @property
    def masked(self) -> str:
        """The address without user and password, which are no part of any record."""
        return masked(self.text)


@dataclass(frozen=True)
class Frame:
    """Something in memory: a frame, an Arrow or an Ibis table."""

    data: Any


Source: TypeAlias = Bundled | File | Url | Frame


def source_of(table: Any) -> Source:
    """What kind of table is meant; nothing is opened."""
    if isinstance(table, str) and table.startswith(PREFIX):
        return Bundled(table)
    if isinstance(table, str) and "://" in table:
        return Url(table)
    if isinstance(table, str | Path):
        return File(str(table))
    return Frame(table)


def masked(text: str) -> str:
    """Text in which no address carries its password."""
    return re.sub(r"//[^/@#]*@", "//…@", text)
