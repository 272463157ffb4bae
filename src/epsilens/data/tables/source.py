"""Where a table comes from: one that is bundled, a file, an address, or something in memory.

>>> source_of("epsilens:adult"), source_of("people.csv")
(Bundled(name='epsilens:adult'), File(path='people.csv'))
>>> source_of("postgres://me:hush@host/db#visits")
Url('postgres://…@host/db#visits')

The tables that come with epsilens are real people's records, free to redistribute: ``epsilens:rand-hie`` is the RAND
Health Insurance Experiment (public domain), ``epsilens:adult`` is UCI Adult (CC BY 4.0). Each Parquet file has a JSON
sidecar with its provenance, licence, column descriptions, row count and SHA-256; ``scripts/build_*.py`` rebuild both
from the packages they come from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from ...errors import InputError
from .address import Address, address_of, masked

PREFIX = "epsilens:"
FILES = Path(__file__).parents[1] / "files"


@dataclass(frozen=True)
class Dataset:
    """One bundled table: where it lies and what is known about it."""

    name: str
    path: Path
    title: str
    rows: int
    people: int
    person: str | None
    licence: str
    licence_text: str
    attribution: str
    origin: str
    sha256: str
    columns: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the path, which differs between machines."""
        return {k: v for k, v in vars(self).items() if k != "path"}


def names() -> list[str]:
    """The names of the bundled tables.

    >>> names()
    ['epsilens:adult', 'epsilens:rand-hie']
    """
    return sorted(PREFIX + path.stem for path in FILES.glob("*.json"))


def bundled(name: str) -> Dataset:
    """The bundled table of that name.

    >>> bundled("epsilens:rand-hie").rows
    20190
    >>> bundled("epsilens:rand")
    Traceback (most recent call last):
    epsilens.errors.InputError: table is 'epsilens:rand': give one of 'epsilens:adult', 'epsilens:rand-hie' (did you mean 'epsilens:rand-hie'?)
    """  # noqa: E501 - the message is one sentence, on one line
    known = names()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError(f"table is {name!r}: give one of {', '.join(map(repr, known))}{hint}", parameter="table")
    path = FILES / f"{name.removeprefix(PREFIX)}.parquet"
    about = json.loads(path.with_suffix(".json").read_text("utf-8"))
    del about["built_by"]
    return Dataset(path=path, **about)


CSV = tuple(f".{kind}{packed}" for kind in ("csv", "tsv", "txt") for packed in ("", ".gz", ".bz2", ".xz", ".zst"))
PARQUET = (".parquet", ".pq", ".parq")
#: Where files lie far away; every other address is a database's.
FAR = (
    "http", "https", "ftp", "ftps", "sftp", "s3", "s3a", "s3n", "gs", "gcs", "az", "azure", "abfs", "abfss", "wasb",
    "wasbs", "hdfs", "dbfs", "hf", "r2",
)  # fmt: skip


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


@dataclass(frozen=True, repr=False)
class Url:
    """An address: of a database, with its table after ``#``, or of a file far away.

    >>> url = Url("postgres://me:hush@host/db#visits")
    >>> url.table, url.scheme, url.is_file, url.masked
    ('visits', 'postgres', False, 'postgres://…@host/db#visits')
    """

    text: str

    def __repr__(self) -> str:
        return f"Url({self.masked!r})"

    @property
    def scheme(self) -> str:
        """What stands before ``://``, in small letters."""
        return self.text.split("://", 1)[0].lower()

    @property
    def address(self) -> Address:
        """Its parts."""
        return address_of(self.text)

    @property
    def table(self) -> str:
        """The table's name, empty where the address leaves it out."""
        return self.address.table

    @property
    def is_file(self) -> bool:
        """Whether it is the address of a file, not of a database."""
        return self.scheme in FAR

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
    if isinstance(table, str) and table.lower().startswith("file://"):
        return File(unquote(table[len("file://") :]))
    if isinstance(table, str) and "://" in table:
        return Url(table)
    if isinstance(table, str | Path):
        return File(str(table))
    return Frame(table)
