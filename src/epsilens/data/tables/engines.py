"""Engines: DuckDB inside the process, Spark, or any connection Ibis can make.

Everything above this module is written once as Ibis expressions; what differs between engines (how to start
one, how rows come back as Arrow) is here and nowhere else.

An engine of our own is closed in on itself: DuckDB loads and fetches no extensions, and once a table is open
(:meth:`Engine.seal`) reaches no other file. A connection that was passed in is left as it was.
"""

from __future__ import annotations

import glob
import logging
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from ...errors import InputError, MissingExtra, require
from . import dialect
from .address import FILE_SCHEMES, Address, address_of, found_password, masked
from .dialect import ibis, quoted
from .failures import Failure, engine_error, failure_of, failure_phrase
from .resources import Folder, disk_error, memory, memory_error

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow
    from ibis.backends import BaseBackend
    from pyspark.sql import DataFrame, SparkSession

#
# Nothing is written: a file is opened to read only, and one that is not there is not made.


#: Engines whose driver one of our own extras brings: its package.
_OWN_DRIVERS = {"postgres": "psycopg", "mysql": "mysqlclient"}
#: Other names that people know an engine by.
_SCHEME_ALIASES = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "sqlserver": "mssql",
    "databricks+connector": "databricks",
}
_PART = re.compile(r'"((?:[^"]|"")*)"|`([^`]*)`|([^."`][^.]*)')
_SECONDS = 15
_MANY = 50


def check_file(address: Address, parameter: str = "table") -> str:
    """The path of a database that is a file, and there."""
    path, scheme, shown = address.path, address.scheme.lower(), repr(address.text)
    if not path or path == ":memory:":
        problem = f"name the file of the database, as in {scheme}://file.db#table"
    elif path.startswith(("md:", "motherduck:")):
        shown, problem = repr(address), "connect to it with Ibis, and pass the connection as engine"
    elif not os.path.isfile(path):
        what = "it is a folder" if os.path.isdir(path) else "there is no such file"
        problem = f"{what}; check the path after {scheme}://"
    elif not os.access(path, os.R_OK):
        problem = "permission is denied; ask for the right to read it"
    else:
        return path
    raise InputError(f"{parameter} is {shown}: {problem}", parameter=parameter)


def sqlite(address: Address, parameter: str = "table") -> BaseBackend:
    """A connection to a file of SQLite, to read only."""
    path = check_file(address, parameter)
    try:
        return ibis.sqlite.from_connection(_sqlite(path))
    except Exception as error:
        raise engine_error(error, address.text, "sqlite", parameter=parameter) from None


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


def server(address: Address, parameter: str = "table") -> BaseBackend:
    """A connection to a server; a password is looked for where the server asks for one."""
    scheme = _SCHEME_ALIASES.get(address.scheme.lower(), address.scheme.lower())
    _need_driver(scheme, parameter)
    filled = address.filled
    try:
        try:
            return _connect_scheme(scheme, filled)
        except Exception as error:
            if filled.password is not None or failure_of(error) is not Failure.NO_PASSWORD:
                raise
            password = found_password("@".join(filter(None, (filled.user, filled.host))) or scheme)
            if password is None:
                raise
        return _connect_scheme(scheme, replace(filled, password=password))
    except InputError:
        raise
    except Exception as error:
        if failure_of(error) is Failure.OTHER:
            raise InputError(
                f"{parameter} is {masked(address.text)!r}: {scheme} could not connect ({type(error).__name__}); check "
                "the address and its settings",
                parameter=parameter,
            ) from None
        raise engine_error(error, address.text, scheme, parameter=parameter) from None


def _need_driver(scheme: str, parameter: str) -> None:
    known = sorted({point.name for point in ibis.util.backend_entry_points()} - {*FILE_SCHEMES, "polars", "datafusion"})
    if scheme not in known:
        close = get_close_matches(scheme, [*known, *FILE_SCHEMES, *_SCHEME_ALIASES], n=1)
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
        if scheme in _OWN_DRIVERS:
            raise MissingExtra(_OWN_DRIVERS[scheme], extra=scheme, purpose=purpose) from None
        named = getattr(error, "name", None)
        driver = f"the package {named!r}" if named else "its driver"
        raise InputError(
            f"{purpose} needs {driver}: install it with  pip install 'ibis-framework[{scheme}]'", parameter=parameter
        ) from None


def _connect_scheme(scheme: str, address: Address) -> BaseBackend:
    return _postgres(address) if scheme == "postgres" else ibis.connect(replace(address, scheme=scheme).encoded)


def _postgres(address: Address) -> BaseBackend:
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


def find_table(connection: BaseBackend, name: str, where: str) -> ir.Table:
    """The table called ``name``: ``visits``, ``clinic.visits``, ``"odd.name"``, also percent-encoded.

    Without a name, the only table of the database. ``where`` is what errors call the database.
    """
    if not name:
        tables = _tables(connection)
        if len(tables) != 1:
            some = f" ({', '.join(tables[:8])}{', …' if len(tables) > 8 else ''})" if tables else ""
            raise InputError(
                f"table is {where!r}: the database has {len(tables)} tables; end the address with #table{some}",
                parameter="table",
            )
        name = f'"{tables[0]}"'
    for place, table in _name_readings(name):
        found = _lookup_table(connection, place, table, where)
        if found is not None:
            return _without_unknown_types(found)
    raise InputError(f"table is {name!r}: {_missing_table_hint(connection, name)}", parameter="table")


def _name_readings(name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The ways to read a name, as the schema and the table; a dot may be part of either."""
    seen = set()
    for text in (name, unquote(name)):
        whole = ((), text)
        parts = [a.replace('""', '"') or b or c for a, b, c in _PART.findall(text)]
        for way in (whole, (tuple(parts[:-1]), parts[-1]) if parts else whole):
            if way not in seen and len(way[0]) <= 2:
                seen.add(way)
                yield way


def _lookup_table(connection: BaseBackend, place: tuple[str, ...], table: str, where: str) -> ir.Table | None:
    database = None if not place else place[0] if len(place) == 1 else place
    try:
        return connection.table(table, database=database)
    except Exception as error:
        if failure_of(error) is not Failure.MISSING and type(error).__name__ != "AnalysisException":
            raise engine_error(error, where, connection.name) from None
    if connection.name == "postgres" and not place:
        schema = _postgres_schema(connection, table)
        return None if schema is None else connection.table(table, database=schema)
    return None


def _postgres_schema(connection: BaseBackend, table: str) -> str | None:
    """Where PostgreSQL itself would find the table; Ibis looks into the first schema of the path alone."""
    with connection.con.cursor() as cursor, connection.con.transaction():
        row = cursor.execute(
            "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.pg_table_is_visible(c.oid)",
            (table,),
        ).fetchone()
    return None if row is None else str(row[0])


def _without_unknown_types(table: ir.Table) -> ir.Table:
    """Columns of a type that Ibis does not know (PostgreSQL's citext, domains) as text."""
    odd = [name for name, kind in table.schema().items() if kind.is_unknown()]
    return table.mutate(**{name: table[name].cast("string") for name in odd}) if odd else table


def _tables(connection: BaseBackend, schema: str | None = None) -> list[str]:
    with suppress(Exception):
        return sorted(map(str, connection.list_tables(database=schema) if schema else connection.list_tables()))
    return []


def _missing_table_hint(connection: BaseBackend, name: str) -> str:
    """What to say of a table that is not there: one of nearly that name, or of that name elsewhere."""
    last = list(_name_readings(name))[-1][1]
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


#
# How much memory it has, and where it runs, is said as Spark's users say it: ``spark-defaults.conf``, the variable
# ``PYSPARK_SUBMIT_ARGS`` (``--driver-memory 4g pyspark-shell``), ``engine="spark://host:7077"``, settings in an address
# (``pyspark://?spark.master=local[4]&spark.driver.memory=4g``), or a session that is running already.


#: Of a session of our own. The console of Spark shows every query, with its values, to whoever reaches its port.
_SETTINGS = {
    "spark.app.name": "epsilens",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}
#: What Ibis sets on any session it is given.
_CHANGED = ("spark.sql.session.timeZone", "spark.sql.mapKeyDedupPolicy")
#: Where pyspark and py4j log.
_LOGGERS = ("py4j.clientserver", "py4j.java_gateway", "DataFrameQueryContextLogger", "SQLQueryContextLogger")
_JAVA = "install Java 17 or newer, or use engine='duckdb'"


@contextmanager
def quiet_spark() -> Iterator[None]:
    """No warnings and no logs of pyspark: it warns of every pandas 3, and logs errors with the values in them."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [each.disabled for each in loggers]
    root = logging.getLogger()

    def others(record: logging.LogRecord) -> bool:  # py4j logs an interrupt, with its traceback, by the root logger
        return f"{os.sep}py4j{os.sep}" not in record.pathname

    with warnings.catch_warnings():
        for kind in (FutureWarning, DeprecationWarning, ResourceWarning, UserWarning):
            warnings.simplefilter("ignore", kind)
        for each in loggers:
            each.disabled = True
        root.addFilter(others)
        try:
            yield
        finally:
            root.removeFilter(others)
            for each, was in zip(loggers, before, strict=True):
                each.disabled = was


def is_spark_frame(data: object) -> bool:
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "sparkSession")


def own_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The session that is running, or a new one that is silent."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("pyspark", extra="spark", purpose="the engine 'spark'") from error
    with quiet_spark(), tempfile.TemporaryFile() as log:  # Java holds it too, as long as it lives
        running = SparkSession.getActiveSession()
        if running is not None:
            return running
        wanted = {**_SETTINGS, **({"spark.master": master} if master else {}), **(settings or {})}
        try:
            if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
                _need_java()
                _start_java(wanted, log)
            builder = SparkSession.builder
            for name, value in wanted.items():
                builder = builder.config(name, value)
            return builder.getOrCreate()
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"engine is 'spark': Spark did not start ({_start_failure(error, log)})", parameter="engine"
            ) from None


def _start_java(settings: Mapping[str, str], log: IO[bytes]) -> None:
    """Start Spark's Java with nothing on our terminal: it warns before any setting of its own could tell it not to."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf().setAll(list(settings.items()))
    SparkContext._ensure_initialized(gateway=launch_gateway(conf, {"stdout": log, "stderr": log}))


def _need_java() -> None:
    home = os.environ.get("JAVA_HOME")
    found = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not found:
        where = "JAVA_HOME names a folder without it" if home else "none was found"
        raise InputError(f"engine is 'spark', which needs Java, and {where}: {_JAVA}", parameter="engine")


def _start_failure(error: Exception, log: IO[bytes] | None) -> str:
    text = ""
    if log is not None:
        log.seek(0)
        text = f"{log.read(100_000).decode('utf-8', 'replace')} {error}"
    if re.search(r"UnsupportedClassVersion|more recent version of the Java|Unrecognized option|unrecognized VM", text):
        return f"Java is too old: {_JAVA}"
    if re.search(r"Could not (reserve|create)|Cannot allocate memory|insufficient memory|Invalid maximum heap", text):
        return "the memory asked for is not there: lower spark.driver.memory"
    if re.search(r"Master must|Could not parse Master URL", text):
        return "the master is none of Spark's: give local[4], spark://host:7077, yarn or k8s://…"
    if re.search(r"masters are unresponsive|Failed to connect to master|UnknownHost|Connection refused", text):
        return "no Spark master answers there: check the host and the port"
    return f"{failure_phrase(error)}: check Spark's settings (PYSPARK_SUBMIT_ARGS, spark-defaults.conf), or {_JAVA}"


#: Engines that read files and frames; the others have tables of their own.
FILE_ENGINES = ("duckdb", "pyspark")
_DEPTH = 20_000
#: Engines whose drivers hand over rows, and how many are turned into Arrow at once.
_BY_ROWS, _ROWS = ("postgres", "sqlite"), 50_000


def need_ibis() -> ModuleType:
    """The ibis module, imported late because it costs half a second."""
    return require("ibis", "reading a table")


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room to translate deep expressions into SQL, which recurses: thirty planned counts nest a few hundred deep."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@dataclass
class Engine:
    """An Ibis connection, the temporary files made for it, and whether it is ours to close."""

    connection: BaseBackend
    owned: bool = False
    #: What errors call the table that is read, and the columns that they may name.
    table: str = field(default="the table", repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)
    _folder: Folder | None = field(default=None, repr=False)
    _files: list[str] = field(default_factory=list, repr=False)
    _ending: ExitStack = field(default_factory=ExitStack, repr=False)

    @property
    def kind(self) -> str:  # in Ibis's words: duckdb, pyspark, postgres…
        return str(self.connection.name)

    def folder(self) -> Path:
        """A temporary folder that lives as long as the engine."""
        if self._folder is None:
            self._folder = Folder(memory().spill)
        return self._folder.path

    def at_end(self, undo: Callable[[], object]) -> None:
        """Have ``undo`` called when the engine is closed, the last one first."""
        self._ending.callback(_undo_quietly, undo)

    @contextmanager
    def safely(self) -> Iterator[None]:
        """Work on the engine: quiet, and with errors in our words, which name no cell."""
        try:
            with quiet_spark(), _deep_recursion():
                yield
        except InputError:
            raise
        except Exception as error:
            kind = failure_of(error) if self.owned and self.kind == "duckdb" else Failure.OTHER
            if kind is Failure.MEMORY:
                raise memory_error() from None
            if kind is Failure.DISK:
                raise disk_error(self.folder().parent) from None
            raise engine_error(error, self.table, self.kind, self.columns) from None

    def tables(self) -> list[str]:
        with self.safely():
            return list(self.connection.list_tables())

    def fetch(self, expression: ir.Expr) -> pyarrow.Table:
        """The rows of an expression as one Arrow table."""
        with self.safely():
            table = expression.as_table()
            if self.kind not in _BY_ROWS:
                return self.connection.to_pyarrow(table)
            parts = dialect.batches(self.connection, table, _ROWS, streamed=False)
            return dialect.pa.Table.from_batches(parts, table.schema().to_pyarrow())

    def batches(self, expression: ir.Table) -> Iterator[pyarrow.RecordBatch]:
        """The rows of an expression as Arrow record batches, streamed where the engine can."""
        if self.kind not in (*_BY_ROWS, "duckdb"):
            yield from self.fetch(expression).to_batches()
            return
        with self.safely():
            if self.kind in _BY_ROWS:
                reader = iter(dialect.batches(self.connection, expression, _ROWS, streamed=True))
            else:
                reader = iter(self.connection.to_pyarrow_batches(expression, chunk_size=1_000_000))
        while True:
            with self.safely():  # the reader works, and warns, as it is read
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def cache(self, expression: ir.Table) -> ir.Table:
        """The expression computed once and kept by the engine until it is closed.

        Not by Ibis's own ``cache``, whose DROP does not parse with recent sqlglot; Spark has no temporary tables, and
        keeps the rows of a view. Where a user may not make temporary tables nothing is kept, and it is computed again.
        """
        with self.safely():
            if self.kind == "pyspark":
                kept = self.connection._session.sql(self.connection.compile(expression)).cache()
                self.at_end(kept.unpersist)
                return self.spark_view(kept)
            name = _name()
            try:
                self.connection.create_table(name, expression, temp=True)
            except Exception as error:
                if failure_of(error) in (Failure.PERMISSION, Failure.READ_ONLY):
                    return expression
                raise
            self.at_end(lambda: self.connection.raw_sql(f'DROP TABLE IF EXISTS "{name}"'))
            if self.kind == "postgres":  # which would take any table nobody has looked at for a small one
                self.connection.raw_sql(f'ANALYZE "{name}"').close()
            return self.connection.table(name)

    def view(self, query: str, reads: Iterable[str] = ()) -> ir.Table:
        """DuckDB's table of a query of our own, which may read these files."""
        name = _name()
        self._files += [each for path in reads for each in (path, os.path.abspath(path))]
        with self.safely():
            self.connection.con.execute(f'CREATE TEMP VIEW "{name}" AS {query}')
            self.at_end(lambda: self.connection.con.execute(f'DROP VIEW IF EXISTS "{name}"'))
            return self.connection.table(name)

    def arrow_view(self, arrow: pyarrow.Table) -> ir.Table:
        """DuckDB's table of an Arrow table."""
        name = _name()
        with self.safely():
            self.connection.con.register(name, arrow)
            self.at_end(lambda: self.connection.con.unregister(name))
            return self.connection.table(name)

    def spark_view(self, frame: DataFrame) -> ir.Table:
        """Spark's table of a DataFrame of the same session."""
        name, session = _name(), self.connection._session
        with self.safely():
            frame.createOrReplaceTempView(name)
            self.at_end(lambda: session.catalog.dropTempView(name))
            return self.connection.table(name)

    def seal(self) -> None:
        """Close in a DuckDB of our own: it reads the files that were opened, writes to its folder, and no more."""
        if not self.owned or self.kind != "duckdb":
            return
        run = self.connection.con.execute
        with self.safely():
            folders = {f"{self.folder()}/", *(f"{os.path.dirname(p)}/" for p in self._files if glob.has_magic(p))}
            run(f"SET allowed_directories = [{', '.join(map(quoted, sorted(folders)))}]")
            run(f"SET allowed_paths = [{', '.join(map(quoted, self._files))}]")
            run("SET enable_external_access = false")
            run("SET lock_configuration = true")

    def close(self) -> None:
        """Drop the temporary tables and files, and the connection if it was made here."""
        self._ending.close()
        if self.owned:
            with quiet_spark(), suppress(Exception):  # a server that is gone needs no farewell
                self.connection.disconnect()
        if self._folder is not None:
            self._folder.close()


def _name() -> str:
    return f"epsilens_{uuid.uuid4().hex}"


def _undo_quietly(undo: Callable[[], object]) -> None:
    """Undo what can be: the connection, or what was made on it, may be gone."""
    with quiet_spark(), suppress(Exception):
        undo()


def connect(engine: object = None) -> Engine:
    """An engine from None, ``"duckdb"``, ``"spark"``, an Ibis URL, an Ibis connection or a SparkSession.

    >>> connect("oracle of delphi")
    Traceback (most recent call last):
    epsilens.errors.InputError: engine is 'oracle of delphi': give 'duckdb', 'spark', an Ibis connection or an Ibis URL such as 'postgres://user@host/database'
    """  # noqa: E501 - the message is one sentence, on one line
    if isinstance(engine, Engine):
        return engine
    if engine is None or engine == "duckdb":
        return _sealed_duckdb()
    if engine in ("spark", "pyspark"):
        return on_session(own_session())
    if isinstance(engine, str) and "://" in engine:
        return connect_address(engine, "engine")
    if type(engine).__name__ == "SparkSession":
        return on_session(engine)
    if isinstance(engine, ibis.backends.BaseBackend):
        return Engine(engine)
    raise InputError(
        f"engine is {engine!r}: give 'duckdb', 'spark', an Ibis connection or an Ibis URL "
        "such as 'postgres://user@host/database'",
        parameter="engine",
    )


def connect_address(text: str, parameter: str) -> Engine:
    """An engine at an address; a database that is a file is opened to read only."""
    address = address_of(text)
    scheme = address.scheme.lower()
    if scheme == "duckdb":
        made = _sealed_duckdb()
        if address.path in ("", ":memory:") and parameter == "engine":
            return made
        try:
            return _attach_file(made, check_file(address, parameter), address.text, parameter)
        except BaseException:
            made.close()
            raise
    if scheme == "sqlite":
        return Engine(sqlite(address, parameter), owned=True)
    if scheme == "spark":
        return on_session(own_session(text.partition("#")[0]))
    if scheme in ("pyspark", "databricks+spark"):
        return on_session(own_session(settings=dict(address.filled.query)))
    with quiet_spark():
        return Engine(server(address, parameter), owned=True)


def _attach_file(made: Engine, path: str, text: str, parameter: str) -> Engine:
    """A file of DuckDB beside an engine of our own, so that memory and spill are ours whatever the file says."""
    try:
        made.connection.con.execute(f"ATTACH {quoted(os.path.abspath(path))} AS epsilens_file (TYPE duckdb, READ_ONLY)")
        made.connection.con.execute("USE epsilens_file")
    except Exception as error:
        raise engine_error(error, text, "duckdb", parameter=parameter) from None
    return made


def on_session(session: SparkSession) -> Engine:
    """An engine on a Spark session. It is the process's, not ours: closing it would end other people's work."""
    with quiet_spark():
        before = {name: session.conf.get(name, None) for name in _CHANGED}
        made = Engine(ibis.pyspark.connect(session))

    def restore() -> None:  # the session may have ended meanwhile: at_end suppresses what it says
        for name, value in before.items():
            session.conf.unset(name) if value is None else session.conf.set(name, value)

    made.at_end(restore)
    return made


def _sealed_duckdb() -> Engine:
    duckdb = require("duckdb", "reading a table")  # ibis would fail later, and less clearly
    made = Engine(ibis.duckdb.connect(), owned=True)
    for name, value in memory().settings(made.folder() / "spill").items():
        # In a notebook without ipywidgets DuckDB cannot show a progress bar, and refuses to be told not to.
        with suppress(duckdb.InvalidInputException) if name == "enable_progress_bar" else nullcontext():
            made.connection.con.execute(f"SET {name} = {quoted(value)}")
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        made.connection.con.execute(f"SET {name} = false")
    return made
