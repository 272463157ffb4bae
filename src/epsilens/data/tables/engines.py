"""Engines: DuckDB inside the process, Spark, or any connection Ibis can make.

Everything above this module is written once as Ibis expressions; what differs between engines (how to start
one, how rows come back as Arrow) is here and nowhere else.
"""

from __future__ import annotations

import sys
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingExtra
from . import dialect
from .folder import Folder

__all__ = ["MEMORY_LIMIT", "Engine", "connect", "need_ibis", "sentence"]

#: What the embedded DuckDB may hold in memory before it spills to its temporary directory. It leaves room for
#: the roll-ups within 2 GB; whoever wants more passes ``engine=ibis.duckdb.connect(memory_limit="16GB")``.
MEMORY_LIMIT = "1000MB"
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


def sentence(error: BaseException) -> str:
    """The first line of another library's error, short enough to stand inside one sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."


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
    _kept: list[Any] = field(default_factory=list, repr=False)
    _folder: Folder | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """The engine's name in Ibis: ``duckdb``, ``pyspark``, ``postgres``…"""
        return str(self.connection.name)

    def folder(self) -> Path:
        """A temporary folder that lives as long as the engine."""
        if self._folder is None:
            self._folder = Folder()
        return self._folder.path

    def tables(self) -> list[str]:
        """The names of the connection's tables."""
        with _quiet():
            return list(self.connection.list_tables())

    def fetch(self, expression: Any) -> Any:
        """The rows of an expression as one Arrow table."""
        with _quiet(), _deep():
            table = expression.as_table()
            if self.kind not in _BY_ROWS:
                return self.connection.to_pyarrow(table)
            import pyarrow as pa

            return pa.Table.from_batches(dialect.batches(self.connection, table, _ROWS), table.schema().to_pyarrow())

    def batches(self, expression: Any) -> Iterator[Any]:
        """The rows of an expression as Arrow record batches, streamed where the engine can."""
        if self.kind in _BY_ROWS:
            yield from dialect.batches(self.connection, expression, _ROWS)
            return
        if self.kind != "duckdb":
            yield from self.fetch(expression).to_batches()
            return
        with _quiet():
            reader = self.connection.to_pyarrow_batches(expression, chunk_size=1_000_000)
        while True:
            with _quiet():  # the reader works, and warns, as it is read
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def cache(self, expression: Any) -> Any:
        """The expression computed once and kept by the engine until it is closed.

        Not by Ibis's own ``cache``, whose DROP does not parse with recent sqlglot; Spark has no temporary tables, and
        keeps the rows of a view.
        """
        name = f"epsilens_{uuid.uuid4().hex}"
        with _quiet():
            if self.kind == "pyspark":
                kept = self.connection._session.sql(self.connection.compile(expression)).cache()
                kept.createOrReplaceTempView(name)
                self._kept.append(kept)
            else:
                self.connection.create_table(name, expression, temp=True)
                self._kept.append(name)
            return self.connection.table(name)

    def close(self) -> None:
        """Drop the temporary tables and files, and the connection if it was made here."""
        for kept in self._kept:
            if self.kind == "pyspark":
                kept.unpersist()
            elif not self.owned:
                self.connection.raw_sql(f'DROP TABLE IF EXISTS "{kept}"')
        self._kept.clear()
        if self.owned:
            with _quiet():
                self.connection.disconnect()
        if self._folder is not None:
            self._folder.close()


@contextmanager
def _quiet() -> Iterator[None]:
    # pyspark warns about every pandas 3 it meets, on each conversion; nothing here goes through pandas.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def connect(engine: Any = None) -> Engine:
    """An engine from None, ``"duckdb"``, ``"spark"``, an Ibis URL or an Ibis connection.

    >>> connect("oracle of delphi")
    Traceback (most recent call last):
    epsilens.errors.InputError: engine is 'oracle of delphi': give 'duckdb', 'spark', an Ibis connection or an Ibis URL such as 'postgres://user@host/database'
    """  # noqa: E501 - the message is one sentence, on one line
    ibis = need_ibis()
    if isinstance(engine, Engine):
        return engine
    if engine is None or engine == "duckdb":
        return _duckdb(ibis)
    if engine in ("spark", "pyspark"):
        return _spark(ibis)
    if isinstance(engine, str) and "://" in engine:
        try:
            return Engine(ibis.connect(engine), owned=True)
        except Exception as error:
            raise InputError(
                f"engine is {engine.split('://')[0]}://…: Ibis could not connect ({sentence(error)}); "
                "check the URL and that the backend is installed",
                parameter="engine",
            ) from error
    if isinstance(engine, ibis.backends.BaseBackend):
        return Engine(engine)
    raise InputError(
        f"engine is {engine!r}: give 'duckdb', 'spark', an Ibis connection or an Ibis URL "
        "such as 'postgres://user@host/database'",
        parameter="engine",
    )


def _duckdb(ibis: Any) -> Engine:
    try:
        import duckdb  # noqa: F401 - ibis would fail later, and less clearly
    except ImportError as error:
        raise MissingExtra("duckdb", extra="data", purpose="reading a table") from error
    made = Engine(ibis.duckdb.connect(), owned=True)
    made.connection.con.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
    made.connection.con.execute(f"SET temp_directory = '{made.folder() / 'spill'}'")
    # The order of rows means nothing to a scan, and keeping it costs memory.
    made.connection.con.execute("SET preserve_insertion_order = false")
    return made


def _spark(ibis: Any) -> Engine:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("pyspark", extra="spark", purpose="the engine 'spark'") from error
    with _quiet():
        running = SparkSession.getActiveSession()
        if running is not None:
            return Engine(ibis.pyspark.connect(running))
        try:
            session = (
                SparkSession.builder.appName("epsilens")
                .config("spark.sql.session.timeZone", "UTC")
                .config("spark.ui.showConsoleProgress", "false")
                .getOrCreate()
            )
        except Exception as error:
            raise InputError(
                f"engine is 'spark': Spark did not start ({sentence(error)}); install Java 17 or newer, "
                "or use engine='duckdb'",
                parameter="engine",
            ) from error
        session.sparkContext.setLogLevel("ERROR")
        # The session is the process's, not ours: closing it would end other people's work.
        return Engine(ibis.pyspark.connect(session))
