"""The lines of a ledger, and where they lie: a file of SQLite, or a database of PostgreSQL for teams.

Whoever writes holds the ledger's lock from the check to the line: in SQLite that of the file (BEGIN IMMEDIATE), in
PostgreSQL one that ends with the transaction. That no two lines follow the same one is also a rule of the table itself.

Each line says what happened to which account, with a hash over it and the line before. Lines are only ever appended. A
changed line no longer fits its hash, and a line taken out leaves a gap; that the last ones were cut off is seen only by
those who wrote down the head, which is why every file of answers carries it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from ..data.tables.address import address_of, found_password, masked
from ..errors import InputError, MissingExtra, require, type_phrase

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Connection, Engine, RowMapping, Table

#: A JSON object, as a line holds it.
Record: TypeAlias = Mapping[str, Any]
#: Of what is written; a ledger with a later one is not touched.
VERSION = 1


class EntryKind(StrEnum):
    """What a line says."""

    OPENED = "opened"  # the ledger itself: its key
    LIMIT = "limit"  # what may be spent at most
    RESERVED = "reserved"  # about to be drawn: counts as spent
    PUBLISHED = "published"  # drawn and handed over, with the answers
    WITHHELD = "withheld"  # drawn, never shown: spent all the same
    VOID = "void"  # given back before anything was drawn
    ADDED = "added"  # released by other means


@dataclass(frozen=True)
class LedgerEntry:
    """A line. ``account`` names those whom the releases are about; its column is called people."""

    account: str
    kind: EntryKind
    release: str
    body: Record
    previous: str = ""
    seq: int = field(default=0, compare=False)
    kept: str = field(default="", compare=False)  # the hash that stands in the line

    @cached_property
    def hash(self) -> str:
        """Over everything in the line and the hash of the one before it in the same account."""
        said = [self.account, self.kind.value, self.release, canonical_json(self.body), self.previous]
        return hashlib.sha256(canonical_json(said).encode("utf-8", "surrogatepass")).hexdigest()


def canonical_json(value: object) -> str:
    """JSON, the same for equal values.

    >>> canonical_json({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "what is to be written into the ledger is not made of words, finite numbers and lists of them: give such"
        ) from None


_TABLE = "epsilens_ledger"
_TEXTS = ("people", "kind", "release", "body", "previous", "hash")
_SECONDS = 60  # to wait for another writer
_LOCK = 7_249_163_027  # a number of our own: advisory locks are known by numbers
#: A writer of PostgreSQL waits for so long, does not hold up others longer where its machine is gone, and what it has
#: committed outlives a loss of power, also on a server that is set to promise less.
_READY = (
    "SET LOCAL lock_timeout = '{seconds}s'",
    "SET LOCAL idle_in_transaction_session_timeout = '{seconds}s'",
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
)


class Store:
    """The lines of a ledger. Opening it neither makes nor changes anything."""

    def __init__(self, url: str | os.PathLike[str]) -> None:
        if not isinstance(url, str | os.PathLike):
            raise InputError(
                f"ledger is {type_phrase(url)}: give a file, such as ledger.db, or an address of PostgreSQL", "ledger"
            )
        self._sa = require("sqlalchemy", "a ledger", "release")
        self._engine, self.name, self.path = self._opened(os.fspath(url))
        #: What opens it again, in another process too: with its password, so it is never shown.
        self.address = os.fspath(url) if self.path is None else str(self.path.absolute())
        self._table = _table(self._sa)

    def _opened(self, url: str) -> tuple[Engine, str, Path | None]:
        if not url or url.isspace():
            raise InputError("the ledger has no name: give a file, such as ledger.db", parameter="ledger")
        scheme, told, _ = url.partition("://")
        if not told or scheme.lower() == "sqlite":
            path = _file(url, bool(told))
            return self._sqlite(path), str(path), path
        if scheme.lower() in ("postgres", "postgresql", "postgresql+psycopg"):
            return self._postgres(url), masked(url), None
        raise InputError(
            f"ledger is {masked(url)[:80]!r}: give a file of SQLite, such as ledger.db, or an address of PostgreSQL",
            parameter="ledger",
        )

    def _sqlite(self, path: Path) -> Engine:
        url = self._sa.URL.create("sqlite", database=str(path))
        engine: Engine = self._sa.create_engine(url, poolclass=self._sa.NullPool, connect_args={"timeout": _SECONDS})
        # The driver's own transactions begin at the first change, after what was read to decide on it.
        self._sa.event.listen(engine, "connect", _without_transactions)
        self._sa.event.listen(engine, "begin", _begin)
        return engine

    def _postgres(self, url: str) -> Engine:
        sa = self._sa
        said = address_of(url).filled
        if said.table:
            raise InputError(
                f"ledger is {masked(url)[:80]!r}: name the database alone, the ledger has its own table", "ledger"
            )
        password = said.password
        if password is None and not os.environ.get("PGPASSWORD") and os.environ.get("EPSILENS_PASSWORD"):
            password = found_password(f"{said.user} at {said.host}")
        port, path = int(said.port) if said.port else None, said.path.strip("/") or None
        where = sa.URL.create(
            "postgresql+psycopg", said.user or None, password, said.host or None, port, path, dict(said.query)
        )
        try:
            # Each statement sees what was committed before it: those after the lock see the last writer's line.
            engine: Engine = sa.create_engine(
                where, poolclass=sa.NullPool, isolation_level="READ COMMITTED", connect_args={"connect_timeout": 15}
            )
        except ImportError:
            raise MissingExtra("psycopg", extra="postgres", purpose="a ledger in PostgreSQL") from None
        return engine

    @property
    def exists(self) -> bool:
        """Whether there is a ledger yet; a database that is something else is refused."""
        if self.path is not None and not self.path.exists():
            return False
        with self._talking() as connection:
            return self._has_table(connection)

    def _has_table(self, connection: Connection) -> bool:
        found = self._sa.inspect(connection)
        if found.has_table(_TABLE):
            columns = {column["name"] for column in found.get_columns(_TABLE)}
            if missing := {c.name for c in self._table.columns} - columns:
                raise InputError(
                    f"the table {_TABLE} in {self.name} is no ledger, it lacks {sorted(missing)[0]!r}: give another "
                    "database",
                    parameter="ledger",
                )
            return True
        if self.path is not None and found.get_table_names():
            raise InputError(f"{self.name} is a database of something else: give another name for the ledger", "ledger")
        return False

    def read(self) -> list[LedgerEntry]:
        if self.path is not None and not self.path.exists():
            return []
        with self._talking() as connection:
            return self.lines(connection) if self._has_table(connection) else []

    def lines(self, connection: Connection, account: str | None = None) -> list[LedgerEntry]:
        """The lines of one account or of all; a ledger that a newer version wrote into is not read."""
        asked = self._sa.select(self._table).order_by(self._table.c.seq)
        if account is not None:
            last = self._sa.select(self._sa.func.max(self._table.c.seq)).scalar_subquery()
            asked = asked.where((self._table.c.people == account) | (self._table.c.seq == last))
        found = [self._entry(row) for row in connection.execute(asked).mappings()]
        return [entry for entry in found if account in (None, entry.account)]

    def _entry(self, row: RowMapping) -> LedgerEntry:
        try:
            texts = [row[name] for name in ("people", "release", "previous", "hash")]
            body = json.loads(row["body"], parse_constant=_no_number)
            version, kind = int(body["version"]), row["kind"]
            if not all(isinstance(text, str) for text in (*texts, kind)):
                raise TypeError
            if version <= VERSION:
                return LedgerEntry(texts[0], EntryKind(kind), texts[1], body, texts[2], row["seq"], texts[3])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(
                f"line {row['seq']} of {self.name} cannot be read: it was changed by other hands", parameter="ledger"
            ) from None
        raise InputError(f"{self.name} was written by a newer epsilens: install that version to use it", "ledger")

    def unchanged(self, entries: list[LedgerEntry]) -> list[LedgerEntry]:
        """The lines of one account, once each is as it was written."""
        head = ""
        for entry in entries:
            if entry.kept != entry.hash or entry.previous != head:
                raise InputError(
                    f"line {entry.seq} of {self.name} is not as it was written, so nothing is added or given again: "
                    "look at it with 'epsilens ledger check', and restore a copy",
                    parameter="ledger",
                )
            head = entry.hash
        return entries

    @contextmanager
    def writing(self, account: str) -> Iterator[Writer]:
        """The account under its lock: what is appended inside is committed at the end, or not at all."""
        if self.path is not None:
            _create_private(self.path)
        with self._talking(writes=True) as connection:
            if self.path is None:
                for statement in _READY:
                    connection.execute(self._sa.text(statement.format(seconds=_SECONDS)))
                connection.execute(self._sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            if not self._has_table(connection):
                self._table.metadata.create_all(connection)
            yield Writer(self, connection, account)

    def names(self, connection: Connection, holding: str = "") -> list[str]:
        """Whose accounts there are, those alone with a line that holds this text; the ledger's own is none."""
        asked = self._sa.select(self._table.c.people).distinct().where(self._table.c.people != "")
        if holding:
            asked = asked.where(self._table.c.body.contains(holding, autoescape=True))
        return [str(name) for name in connection.execute(asked.order_by(self._table.c.people)).scalars()]

    def append(self, connection: Connection, entry: LedgerEntry) -> None:
        body = canonical_json(entry.body)
        values = (entry.account, entry.kind.value, entry.release, body, entry.previous, entry.hash)
        connection.execute(self._table.insert().values(dict(zip(_TEXTS, values, strict=True))))

    @contextmanager
    def _talking(self, writes: bool = False) -> Iterator[Connection]:
        errors = self._sa.exc
        try:
            with self._engine.connect().execution_options(writes=writes) as connection, connection.begin():
                yield connection
        except errors.IntegrityError:
            raise InputError(
                f"somebody else wrote into {self.name} at the same moment: nothing was spent, try again", "ledger"
            ) from None
        except UnicodeDecodeError:  # of a schema, which the driver reads without a word of its own
            raise InputError(f"the ledger {self.name} {_DAMAGED}", parameter="ledger") from None
        except errors.DBAPIError as error:
            raise InputError(f"the ledger {self.name} {_trouble(str(error.orig))}", parameter="ledger") from None


class Writer:
    """An account under its lock; one that was changed by other hands is not written to."""

    def __init__(self, store: Store, connection: Connection, account: str) -> None:
        self._store, self._connection, self._account = store, connection, account
        self.entries = store.unchanged(store.lines(connection, account))

    def others(self, holding: str = "") -> list[str]:
        """The names of the other accounts, those alone with a line that holds this text."""
        return [name for name in self._store.names(self._connection, holding) if name != self._account]

    def append(self, kind: EntryKind, release: str, body: Record) -> LedgerEntry:
        head = self.entries[-1].hash if self.entries else ""
        text = canonical_json({"version": VERSION, **body})
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(
                "what is to be written into the ledger has letters that do not exist: leave them out"
            ) from None
        # As it will be read: keys are words, and pairs are lists.
        entry = LedgerEntry(self._account, kind, release, json.loads(text), head)
        self._store.append(self._connection, entry)
        self.entries.append(entry)
        return entry


def _file(url: str, told: bool) -> Path:
    address = address_of(url) if told else None
    wrong = InputError(f"ledger is {url[:80]!r}: give the name of a file, such as ledger.db", parameter="ledger")
    try:
        path = Path(url if address is None else address.path).expanduser()
        named = (address is not None and address.table) or "\0" in str(path) or str(path) in ("", ".", ":memory:")
        if named or path.is_dir():
            raise wrong
        path.exists()
    except (OSError, ValueError, RuntimeError):  # too long, or with letters that no name has
        raise wrong from None
    return path


def _create_private(path: Path) -> None:
    """An empty file that only its owner reads, where there is none: a ledger holds the key of its hashes."""
    with suppress(OSError):  # told by the database, in its own words
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _no_number(word: str) -> NoReturn:
    raise ValueError(word)


def _without_transactions(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = EXTRA")  # a line that is committed outlives a loss of power


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _table(sa: ModuleType) -> Table:
    made: Table = sa.Table(
        _TABLE,
        sa.MetaData(),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in _TEXTS),
        sa.UniqueConstraint("people", "previous"),
    )
    return made


_DAMAGED = "is damaged: restore it from a copy"


#: What is told of words in the database's own error, none of which is shown.
_TROUBLES = (
    (("readonly", "read-only"), "cannot be written to: ask for the right to write, or give another place"),
    (("permission denied",), "may not be used by this user: ask for the right to, or give another place"),
    (("not a database",), "is no database: give another name, or the right one"),
    (("malformed", "could not decode"), _DAMAGED),
    (("lock timeout", "locked"), "is held by another writer for more than a minute: nothing was spent, try again"),
    (("unable to open",), "cannot be opened: check that the folder exists and may be written to"),
    (("is full", "no space"), "has no room left on its disk: nothing was spent"),
    (("disk i/o",), "cannot be read or written, its disk fails: restore it from a copy"),
    (("password",), "asks for another user or password: give it in EPSILENS_PASSWORD"),
    (("does not exist",), "is not there: check the name of the database and the user"),
    (("resolve", "refused", "connection"), "cannot be reached: check the address and that the server runs"),
)


def _trouble(words: str) -> str:
    told = (sentence for parts, sentence in _TROUBLES if any(part in words.lower() for part in parts))
    return next(told, "cannot be used: check that it is a ledger and that the server runs")
