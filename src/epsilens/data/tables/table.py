"""Open a table: CSV, Parquet, a frame in memory, an Ibis table, a bundled name or a database URL.

>>> opened = open_table("epsilens:rand-hie")
>>> opened.table.count().to_pyarrow().as_py()
20190
>>> opened.close()

Rules that hold on every engine:

* Names are matched exactly. DuckDB ignores case and Ibis does not, so a table with two columns that differ only
  in case is refused: a query on it could silently answer about the other column.
* A CSV's types are inferred once, by DuckDB over the whole file, and the typed rows are what every engine sees:
  a postal code ``01234`` stays text everywhere.
* NaN is NULL, and minus zero is zero: see :func:`~.columns.value_of`.
* An error never has a cell of the table in it, and never a password.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InputError
from .address import masked
from .csv_reader import from_csv
from .dialect import ibis
from .engines import FILE_ENGINES, Engine, connect, connect_address, find_table, is_spark_frame, on_session
from .failures import failure_phrase
from .sources import (
    CSV,
    PARQUET,
    Bundled,
    File,
    Files,
    Frame,
    Source,
    Url,
    as_arrow,
    check_names,
    file_label,
    files_at,
    from_parquet,
    is_streamed,
    source_of,
    write_parquet,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir
    from pyspark.sql import DataFrame


@dataclass
class OpenTable:
    """An Ibis table expression with the engine that runs it."""

    table: ir.Table
    engine: Engine
    name: str

    def close(self) -> None:
        """Release what was opened; a connection that was passed in stays open."""
        self.engine.close()

    def __enter__(self) -> OpenTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def reading(opened: OpenTable) -> Iterator[None]:
    """Whatever an engine says when it cannot read the table, in one sentence."""
    with opened.engine.safely():
        yield


def open_table(data: object, engine: object = None) -> OpenTable:
    """Open ``data`` on ``engine``.

    Parameters
    ----------
    data
        A path or pattern of CSV or Parquet files, a folder of Parquet files, a frame of pandas, polars, Arrow or
        Spark, a dict of columns, anything that exports Arrow, an Ibis table, ``epsilens:rand-hie``, an Ibis URL
        ending in ``#table`` or ``#schema.table``, or the name of a table of the database given as ``engine``.
    engine
        None or ``"duckdb"`` for DuckDB inside the process, ``"spark"``, an Ibis URL, an Ibis connection or a
        SparkSession.
    """
    if isinstance(data, OpenTable):
        return data
    if isinstance(data, ibis.expr.types.Table):
        return _from_ibis(data, engine)
    if is_spark_frame(data):
        return _from_spark(data, engine)
    source = source_of(data)
    if isinstance(source, Url) and not source.is_file:
        if engine is not None:
            raise InputError(
                f"engine is {_engine_label(engine)}, but the table's address already names one: leave engine out",
                parameter="engine",
            )
        made = connect_address(source.text, "table")
    else:
        files = _files_before_start(source, engine)
        made = connect(engine)
    try:
        made.table = _source_label(source)
        if isinstance(source, Url) and not source.is_file:
            table = _table_by_name(made, source.table, source.masked)
            name = source.table or getattr(table.op(), "name", source.masked)
        else:
            table, name = _open_source(source, made, files)
        made.table, made.columns = name, tuple(table.columns)
        check_names(table.columns, name)
        if made is not engine:
            made.seal()
        return OpenTable(table, made, name)
    except BaseException:
        made.close()
        raise


def _source_label(source: Source) -> str:
    """What errors call a table before it is found."""
    match source:
        case Bundled(name):
            return name
        case File(path):
            return file_label(path)
        case Url():
            return source.masked
        case Frame(data):
            return type(data).__name__


def _engine_label(engine: object) -> str:
    return repr(masked(engine)) if isinstance(engine, str) else type(engine).__name__


def _files_before_start(source: Source, engine: object) -> Files | None:
    """The files meant, found before an engine is started; on a database a name may also be a table's."""
    if isinstance(source, Bundled):
        return files_at(str(source.dataset.path))
    if isinstance(source, File) and (engine is None or engine == "duckdb"):
        return files_at(source.path)
    return None


def _open_source(source: Source, engine: Engine, files: Files | None) -> tuple[ir.Table, str]:
    if isinstance(source, Frame):
        return _from_frame(source.data, engine), type(source.data).__name__
    if isinstance(source, Url):
        return _from_remote(source, engine), source.masked
    path = source.name if isinstance(source, Bundled) else source.path
    if files is None:
        files = _files_on(path, engine)
        if files is None:
            return _table_by_name(engine, path, path), path
    _check_reads_files(engine, path)
    name = path if isinstance(source, Bundled) else file_label(path)
    if files.parquet:
        return from_parquet(files, engine, name), name
    return from_csv(files, path, engine), name


def _files_on(path: str, engine: Engine) -> Files | None:
    """The files of a path where an engine was given; None if it is the name of one of the engine's tables."""
    if "/" not in path and path in engine.tables():
        return None  # whatever lies in the folder where the command runs
    try:
        return files_at(path)
    except InputError:
        is_file = "/" in path or path.lower().endswith(CSV + PARQUET) or os.path.exists(path)
        if not path.strip() or (engine.kind in FILE_ENGINES and is_file):
            raise
    return None


def _check_reads_files(engine: Engine, what: str) -> None:
    if engine.kind not in FILE_ENGINES:
        raise InputError(
            f"engine is {engine.kind}, which reads only its own tables, and table is {what!r}: leave engine out, or "
            "load the table into the database and give its name there",
            parameter="engine",
        )


def _table_by_name(engine: Engine, name: str, where: str) -> ir.Table:
    with engine.safely():
        return find_table(engine.connection, name, where)


def _from_ibis(data: ir.Table, engine: object) -> OpenTable:
    try:
        home = data.get_backend()
    except Exception as error:
        raise InputError(
            f"table is an Ibis expression without one connection ({failure_phrase(error)}): give one bound to a "
            "backend",
            parameter="table",
        ) from None
    if engine is not None and engine is not home and engine not in (home.name, home.name.removeprefix("py")):
        raise InputError(
            f"engine is {_engine_label(engine)}, but the Ibis table lives on {home.name}: leave engine out, "
            "or read the data on the other engine first",
            parameter="engine",
        )
    check_names(data.columns, "the Ibis table")
    return OpenTable(data, Engine(home, table="Ibis table", columns=tuple(data.columns)), "Ibis table")


def _from_spark(data: DataFrame, engine: object) -> OpenTable:
    """A frame of Spark on its own session, which is left as it was."""
    session = data.sparkSession
    own = engine is None or engine in ("spark", "pyspark") or engine is session
    if not own and getattr(engine, "_session", None) is not session:
        raise InputError(f"engine is {_engine_label(engine)}, but the frame lives on Spark: leave engine out", "engine")
    check_names(data.columns, "the frame")
    made = on_session(session)
    try:
        made.table, made.columns = "Spark frame", tuple(data.columns)
        return OpenTable(made.spark_view(data), made, "Spark frame")
    except BaseException:
        made.close()
        raise


def _from_remote(url: Url, engine: Engine) -> ir.Table:
    """A file far away: Spark has its own ways there; DuckDB would have to fetch an extension first."""
    if engine.kind != "pyspark" or not url.text.lower().endswith(PARQUET) or url.scheme.startswith("http"):
        raise InputError(
            f"table is {url.masked!r}, a file far away: download it first and give its path, or open it with Ibis and "
            "pass the Ibis table",
            parameter="table",
        )
    with engine.safely():
        return engine.spark_view(engine.connection._session.read.parquet(url.text))


def _from_frame(data: object, engine: Engine) -> ir.Table:
    _check_reads_files(engine, type(data).__name__)
    if is_streamed(data) or engine.kind == "pyspark":
        # To Spark through Parquet, because the way through pandas turns integers with NULL into floats.
        copy = engine.folder() / "frame.parquet"
        write_parquet(data if is_streamed(data) else as_arrow(data).to_reader(), copy)
        return from_parquet(Files((str(copy),), str(copy.parent), True), engine, type(data).__name__)
    return engine.arrow_view(as_arrow(data))
