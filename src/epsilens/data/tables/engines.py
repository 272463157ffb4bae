"""Engines: DuckDB inside the process, Spark, or any connection Ibis can make.

Everything above this module is written once as Ibis expressions; what differs between engines (how to start
one, how rows come back as Arrow) is here and nowhere else.

An engine of our own is closed in on itself: DuckDB loads and fetches no extensions, and once a table is open
(:meth:`Engine.seal`) reaches no other file. A connection that was passed in is left as it was.
"""

from __future__ import annotations

import glob
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingExtra
from . import dialect
from .address import address_of
from .databases import check_file, server, sqlite
from .failures import Failure, failure_of, refusal
from .folder import Folder
from .memory import memory, no_disk, no_memory
from .parquet import quoted
from .spark import hushed, own_session, unchanged

#: Engines that read files and frames; the others have tables of their own.
FILE_ENGINES = ("duckdb", "pyspark")
_DEPTH = 20_000
#: Engines whose drivers hand over rows, and how many are turned into Arrow at once.
_BY_ROWS, _ROWS = ("postgres", "sqlite"), 50_000


def need_ibis() -> Any:
    """The ibis module, imported late because it costs half a second."""
    try:
        import ibis
    except ImportError as error:
        raise MissingExtra("ibis-framework", extra="data", purpose="reading a table") from error
    return ibis


@contextmanager
def _deep() -> Iterator[None]:
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

    connection: Any
    owned: bool = False
    #: What errors call the table that is read, and the columns that they may name.
    table: str = field(default="the table", repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)
    _folder: Folder | None = field(default=None, repr=False)
    _files: list[str] = field(default_factory=list, repr=False)
    _ending: ExitStack = field(default_factory=ExitStack, repr=False)

    @property
    def kind(self) -> str:
        """The engine's name in Ibis: ``duckdb``, ``pyspark``, ``postgres``…"""
        return str(self.connection.name)

    def folder(self) -> Path:
        """A temporary folder that lives as long as the engine."""
        if self._folder is None:
            self._folder = Folder(memory().spill)
        return self._folder.path

    def at_end(self, undo: Callable[[], Any]) -> None:
        """Have ``undo`` called when the engine is closed, the last one first."""
        self._ending.callback(_quietly, undo)

    @contextmanager
    def safely(self) -> Iterator[None]:
        """Work on the engine: quiet, and with errors in our words, which name no cell."""
        try:
            with hushed(), _deep():
                yield
        except InputError:
            raise
        except Exception as error:
            kind = failure_of(error) if self.owned and self.kind == "duckdb" else Failure.OTHER
            if kind is Failure.MEMORY:
                raise no_memory() from None
            if kind is Failure.DISK:
                raise no_disk(self.folder().parent) from None
            raise refusal(error, self.table, self.kind, self.columns) from None

    def tables(self) -> list[str]:
        """The names of the connection's tables."""
        with self.safely():
            return list(self.connection.list_tables())

    def fetch(self, expression: Any) -> Any:
        """The rows of an expression as one Arrow table."""
        with self.safely():
            table = expression.as_table()
            if self.kind not in _BY_ROWS:
                return self.connection.to_pyarrow(table)
            import pyarrow as pa

            return pa.Table.from_batches(dialect.batches(self.connection, table, _ROWS), table.schema().to_pyarrow())

    def batches(self, expression: Any) -> Iterator[Any]:
        """The rows of an expression as Arrow record batches, streamed where the engine can."""
        if self.kind not in (*_BY_ROWS, "duckdb"):
            yield from self.fetch(expression).to_batches()
            return
        with self.safely():
            if self.kind in _BY_ROWS:
                reader = iter(dialect.batches(self.connection, expression, _ROWS))
            else:
                reader = iter(self.connection.to_pyarrow_batches(expression, chunk_size=1_000_000))
        while True:
            with self.safely():  # the reader works, and warns, as it is read
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def cache(self, expression: Any) -> Any:
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
            return self.connection.table(name)

    def view(self, query: str, reads: Iterable[str] = ()) -> Any:
        """DuckDB's table of a query of our own, which may read these files."""
        name = _name()
        self._files += [each for path in reads for each in (path, os.path.abspath(path))]
        with self.safely():
            self.connection.con.execute(f'CREATE TEMP VIEW "{name}" AS {query}')
            self.at_end(lambda: self.connection.con.execute(f'DROP VIEW IF EXISTS "{name}"'))
            return self.connection.table(name)

    def arrow_view(self, arrow: Any) -> Any:
        """DuckDB's table of an Arrow table."""
        name = _name()
        with self.safely():
            self.connection.con.register(name, arrow)
            self.at_end(lambda: self.connection.con.unregister(name))
            return self.connection.table(name)

    def spark_view(self, frame: Any) -> Any:
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
            with hushed(), suppress(Exception):  # a server that is gone needs no farewell
                self.connection.disconnect()
        if self._folder is not None:
            self._folder.close()


def _name() -> str:
    return f"epsilens_{uuid.uuid4().hex}"


def _quietly(undo: Callable[[], Any]) -> None:
    """Undo what can be: the connection, or what was made on it, may be gone."""
    with hushed(), suppress(Exception):
        undo()


def connect(engine: Any = None) -> Engine:
    """An engine from None, ``"duckdb"``, ``"spark"``, an Ibis URL, an Ibis connection or a SparkSession.

    >>> connect("oracle of delphi")
    Traceback (most recent call last):
    epsilens.errors.InputError: engine is 'oracle of delphi': give 'duckdb', 'spark', an Ibis connection or an Ibis URL such as 'postgres://user@host/database'
    """  # noqa: E501 - the message is one sentence, on one line
    ibis = need_ibis()
    if isinstance(engine, Engine):
        return engine
    if engine is None or engine == "duckdb":
        return _own_duckdb(ibis)
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
    ibis = need_ibis()
    address = address_of(text)
    scheme = address.scheme.lower()
    if scheme == "duckdb":
        made = _own_duckdb(ibis)
        if address.path in ("", ":memory:") and parameter == "engine":
            return made
        try:
            return _attached(made, check_file(address, parameter), address.text, parameter)
        except BaseException:
            made.close()
            raise
    if scheme == "sqlite":
        return Engine(sqlite(address, ibis, parameter), owned=True)
    if scheme == "spark":
        return on_session(own_session(text.partition("#")[0]))
    if scheme in ("pyspark", "databricks+spark"):
        return on_session(own_session(settings=dict(address.filled.query)))
    with hushed():
        return Engine(server(address, ibis, parameter), owned=True)


def _own_duckdb(ibis: Any) -> Engine:
    made = _duckdb(ibis)
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        made.connection.con.execute(f"SET {name} = false")
    return made


def _attached(made: Engine, path: str, text: str, parameter: str) -> Engine:
    """A file of DuckDB beside an engine of our own, so that memory and spill are ours whatever the file says."""
    try:
        made.connection.con.execute(f"ATTACH {quoted(os.path.abspath(path))} AS epsilens_file (TYPE duckdb, READ_ONLY)")
        made.connection.con.execute("USE epsilens_file")
    except Exception as error:
        raise refusal(error, text, "duckdb", parameter=parameter) from None
    return made


def on_session(session: Any) -> Engine:
    """An engine on a Spark session. It is the process's, not ours: closing it would end other people's work."""
    with hushed():
        restore = unchanged(session)
        made = Engine(need_ibis().pyspark.connect(session))
    made.at_end(restore)
    return made


def _duckdb(ibis: Any) -> Engine:
    try:
        import duckdb  # ibis would fail later, and less clearly
    except ImportError as error:
        raise MissingExtra("duckdb", extra="data", purpose="reading a table") from error
    made = Engine(ibis.duckdb.connect(), owned=True)
    for name, value in memory().settings(made.folder() / "spill").items():
        # In a notebook without ipywidgets DuckDB cannot show a progress bar, and refuses to be told not to.
        with suppress(duckdb.InvalidInputException) if name == "enable_progress_bar" else nullcontext():
            made.connection.con.execute(f"SET {name} = {quoted(str(value))}")
    return made
