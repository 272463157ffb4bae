"""Databases by address: connect to the server or the file, and find the table.

Nothing is written: a file is opened to read only, and one that is not there is not made.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote, unquote

from ...errors import InputError, MissingExtra
from .address import FILE_SCHEMES, Address, found_password, masked
from .failures import Failure, failure_of, refusal

#: Engines whose driver one of our own extras brings: its package.
_OURS = {"postgres": "psycopg", "mysql": "mysqlclient"}
#: Other names that people know an engine by.
_ALSO = {"postgresql": "postgres", "mariadb": "mysql", "sqlserver": "mssql", "databricks+connector": "databricks"}
_PART = re.compile(r'"((?:[^"]|"")*)"|`([^`]*)`|([^."`][^.]*)')
_SECONDS = 15
_MANY = 50


def check_file(address: Address, parameter: str = "table") -> str:
    """The path of a database that is a file, and there."""
    path, scheme = address.path, address.scheme.lower()
    if not path or path == ":memory:":
        raise InputError(
            f"{parameter} is {address.text!r}: name the file of the database, as in {scheme}://file.db#table",
            parameter=parameter,
        )
    if path.startswith(("md:", "motherduck:")):
        raise InputError(
            f"{parameter} is {address!r}: connect to it with Ibis, and pass the connection as engine",
            parameter=parameter,
        )
    if not os.path.isfile(path):
        what = "it is a folder" if os.path.isdir(path) else "there is no such file"
        raise InputError(
            f"{parameter} is {address.text!r}: {what}; check the path after {scheme}://", parameter=parameter
        )
    if not os.access(path, os.R_OK):
        raise InputError(
            f"{parameter} is {address.text!r}: permission is denied; ask for the right to read it", parameter=parameter
        )
    return path


def sqlite(address: Address, ibis: Any, parameter: str = "table") -> Any:
    """A connection to a file of SQLite, to read only."""
    path = check_file(address, parameter)
    try:
        return ibis.sqlite.from_connection(_sqlite(path))
    except Exception as error:
        raise refusal(error, address.text, "sqlite", parameter=parameter) from None


def _sqlite(path: str) -> sqlite3.Connection:
    # Two slashes at the start, which abspath keeps, would name a host.
    where = f"file:/{quote(os.path.abspath(path).lstrip('/'))}?mode=ro"
    made = sqlite3.connect(where, uri=True)
    try:
        made.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        made.close()
        if os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
            raise
        # On a disk that cannot be written there is no place for the notes of readers: nobody changes it either.
        made = sqlite3.connect(f"{where}&immutable=1", uri=True)
        made.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        made.close()
        raise
    return made


def server(address: Address, ibis: Any, parameter: str = "table") -> Any:
    """A connection to a server; a password is looked for where the server asks for one."""
    scheme = _ALSO.get(address.scheme.lower(), address.scheme.lower())
    _need_driver(scheme, ibis, parameter)
    filled = address.filled
    try:
        try:
            return _connected(scheme, filled, ibis)
        except Exception as error:
            if filled.password is not None or failure_of(error) is not Failure.NO_PASSWORD:
                raise
            password = found_password("@".join(filter(None, (filled.user, filled.host))) or scheme)
            if password is None:
                raise
        return _connected(scheme, replace(filled, password=password), ibis)
    except InputError:
        raise
    except Exception as error:
        if failure_of(error) is Failure.OTHER:
            raise InputError(
                f"{parameter} is {masked(address.text)!r}: {scheme} could not connect ({type(error).__name__}); check "
                "the address and its settings",
                parameter=parameter,
            ) from None
        raise refusal(error, address.text, scheme, parameter=parameter) from None


def _need_driver(scheme: str, ibis: Any, parameter: str) -> None:
    known = sorted({point.name for point in ibis.util.backend_entry_points()} - {*FILE_SCHEMES, "polars", "datafusion"})
    if scheme not in known:
        close = get_close_matches(scheme, [*known, *FILE_SCHEMES, *_ALSO], n=1)
        hint = f" (did you mean {close[0]}://?)" if close else ""
        raise InputError(
            f"{parameter} is an address that starts with {scheme[:40]!r}, which is no database: give one of "
            f"{', '.join(known)}, duckdb or sqlite{hint}",
            parameter=parameter,
        )
    try:
        getattr(ibis, scheme)
    except (ImportError, AttributeError) as error:
        purpose = f"a table of {scheme}"
        if scheme in _OURS:
            raise MissingExtra(_OURS[scheme], extra=scheme, purpose=purpose) from None
        named = getattr(error, "name", None)
        driver = f"the package {named!r}" if named else "its driver"
        raise InputError(
            f"{purpose} needs {driver}: install it with  pip install 'ibis-framework[{scheme}]'", parameter=parameter
        ) from None


def _connected(scheme: str, address: Address, ibis: Any) -> Any:
    if scheme == "postgres":
        return _postgres(address, ibis)
    return ibis.connect(replace(address, scheme=scheme).encoded)


def _postgres(address: Address, ibis: Any) -> Any:
    """Only what the address says is passed on, so that the variables and files of PostgreSQL's users count."""
    import psycopg

    database, _, schema = address.path.removeprefix("/").partition("/")
    given: dict[str, Any] = {
        "host": address.host.strip("[]"),
        "port": address.port,
        "user": address.user,
        "password": address.password,
        "dbname": database,
        **dict(address.query),
    }
    given["dbname"] = given.pop("database", None) or given["dbname"]
    schema = given.pop("schema", None) or schema
    if "PGCONNECT_TIMEOUT" not in os.environ:
        given.setdefault("connect_timeout", _SECONDS)
    connection = psycopg.connect(**{name: value for name, value in given.items() if value})
    try:
        made = ibis.postgres.from_connection(connection)
        if schema:
            with connection.cursor() as cursor, connection.transaction():
                cursor.execute("SELECT set_config('search_path', %s, false)", (f'"{schema}"',))
        return made
    except BaseException:
        connection.close()
        raise


# -- the table ----------------------------------------------------------------------------------------------------


def find_table(connection: Any, name: str, where: str) -> Any:
    """The table called ``name``: ``visits``, ``clinic.visits``, ``"odd.name"``, also percent-encoded.

    Without a name, the only table of the database. ``where`` is what errors call the database.
    """
    if not name:
        tables = _tables(connection)
        if len(tables) != 1:
            raise InputError(
                f"table is {where!r}: the database has {len(tables)} tables; end the address with #table"
                f"{_list(tables)}",
                parameter="table",
            )
        name = f'"{tables[0]}"'
    for place, table in _readings(name):
        found = _found(connection, place, table, where)
        if found is not None:
            return _known_types(found)
    raise InputError(f"table is {name!r}: {_unknown(connection, name)}", parameter="table")


def _readings(name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The ways to read a name, as the schema and the table; a dot may be part of either."""
    seen = set()
    for text in (name, unquote(name)):
        whole = ((), text)
        parts = [a.replace('""', '"') or b or c for a, b, c in _PART.findall(text)]
        for way in (whole, (tuple(parts[:-1]), parts[-1]) if parts else whole):
            if way not in seen and len(way[0]) <= 2:
                seen.add(way)
                yield way


def _found(connection: Any, place: tuple[str, ...], table: str, where: str) -> Any:
    database = None if not place else place[0] if len(place) == 1 else place
    try:
        return connection.table(table, database=database)
    except Exception as error:
        if failure_of(error) is not Failure.MISSING and type(error).__name__ != "AnalysisException":
            raise refusal(error, where, connection.name) from None
    if connection.name == "postgres" and not place:
        schema = _on_path(connection, table)
        return None if schema is None else connection.table(table, database=schema)
    return None


def _on_path(connection: Any, table: str) -> str | None:
    """Where PostgreSQL itself would find the table; Ibis looks into the first schema of the path alone."""
    with connection.con.cursor() as cursor, connection.con.transaction():
        row = cursor.execute(
            "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.pg_table_is_visible(c.oid)",
            (table,),
        ).fetchone()
    return None if row is None else str(row[0])


def _known_types(table: Any) -> Any:
    """Columns of a type that Ibis does not know (PostgreSQL's citext, domains) as text."""
    odd = [name for name, kind in table.schema().items() if kind.is_unknown()]
    return table.mutate(**{name: table[name].cast("string") for name in odd}) if odd else table


def _tables(connection: Any, schema: str | None = None) -> list[str]:
    with suppress(Exception):
        return sorted(map(str, connection.list_tables(database=schema) if schema else connection.list_tables()))
    return []


def _list(tables: list[str]) -> str:
    return f" ({', '.join(tables[:8])}{', …' if len(tables) > 8 else ''})" if tables else ""


def _unknown(connection: Any, name: str) -> str:
    """What to say of a table that is not there: one of nearly that name, or of that name elsewhere."""
    last = list(_readings(name))[-1][1]
    tables = _tables(connection)
    schemas: list[str] = []
    with suppress(Exception):
        schemas = [s for s in map(str, connection.list_databases()) if s not in ("information_schema", "pg_catalog")]
    for schema in schemas[:_MANY]:
        if last in _tables(connection, schema):
            return f"it is in the schema {schema!r}; end the address with #{schema}.{last}"
    close = get_close_matches(last, tables, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"the database has no such table among its {len(tables)}; end the address with #table or #schema.table{hint}"
