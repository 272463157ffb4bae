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
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingExtra
from .engines import Engine, connect, need_ibis, sentence
from .source import CSV, PARQUET, Bundled, Frame, Source, Url, source_of
from .text import from_csv, holds_text

__all__ = ["OpenTable", "open_table", "reading"]

_FORMS = (
    "a CSV or Parquet path, an Arrow, pandas or polars frame, an Ibis table, "
    "a bundled name such as 'epsilens:rand-hie' or an Ibis URL 'postgres://…/database#table'"
)


@dataclass
class OpenTable:
    """An Ibis table expression with the engine that runs it."""

    table: Any
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
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"table is {opened.name!r}: the engine {opened.engine.kind} could not read it ({sentence(error)}); "
            "check the file and the column types",
            parameter="table",
        ) from error


def open_table(data: Any, engine: Any = None) -> OpenTable:
    """Open ``data`` on ``engine``.

    Parameters
    ----------
    data
        A path or glob of CSV or Parquet files, an Arrow table, a pandas or polars frame, anything that exports
        Arrow, an Ibis table, ``epsilens:rand-hie``, an Ibis URL ending in ``#table``, or the name of a table of
        the connection passed as ``engine``.
    engine
        None or ``"duckdb"`` for DuckDB inside the process, ``"spark"``, an Ibis connection or an Ibis URL.
    """
    ibis = need_ibis()
    if isinstance(data, OpenTable):
        return data
    if isinstance(data, ibis.expr.types.Table):
        return _from_ibis(data, engine)
    source = source_of(data)
    if isinstance(source, Url) and not source.is_file:
        return _from_url(source, engine)
    made = connect(engine)
    try:
        table, name = _read(source, made, ibis)
        _check_names(list(table.columns), name)
        return OpenTable(table, made, name)
    except BaseException:
        made.close()
        raise


def _read(source: Source, engine: Engine, ibis: Any) -> tuple[Any, str]:
    """The table and its name."""
    if isinstance(source, Bundled):
        return _from_parquet(str(source.dataset.path), engine), source.name
    if isinstance(source, Frame):
        return _from_frame(source.data, engine, ibis), type(source.data).__name__
    text = source.text if isinstance(source, Url) else source.path
    if engine.kind != "pyspark" and text in _tables(engine):
        return engine.connection.table(text), text
    if text.lower().endswith(CSV) or holds_text(text):
        return from_csv(text, engine), Path(text).name
    if text.lower().endswith(PARQUET) or Path(text).is_dir() or glob.has_magic(text):
        return _from_parquet(text, engine), Path(text).name
    if engine.kind == "pyspark" and text in _tables(engine):
        return engine.connection.table(text), text
    raise InputError(f"table is {text!r}: give {_FORMS}", parameter="table")


def _tables(engine: Engine) -> list[str]:
    return [] if engine.owned and engine.kind == "duckdb" else engine.tables()


def _from_ibis(data: Any, engine: Any) -> OpenTable:
    try:
        home = data.get_backend()
    except Exception as error:
        raise InputError(
            f"table is an Ibis expression without one connection ({sentence(error)}): give one bound to a backend",
            parameter="table",
        ) from error
    if engine is not None and engine is not home and engine not in (home.name, home.name.removeprefix("py")):
        raise InputError(
            f"engine is {engine!r}, but the Ibis table lives on {home.name}: leave engine out, "
            "or read the data on the other engine first",
            parameter="engine",
        )
    _check_names(list(data.columns), "the Ibis table")
    return OpenTable(data, Engine(home), "Ibis table")


def _from_url(url: Url, engine: Any) -> OpenTable:
    name = url.table
    if engine is not None:
        raise InputError(
            f"engine is {engine!r}, but the table's URL already names one: leave engine out", parameter="engine"
        )
    made = connect(url.database)
    try:
        tables = made.tables()
        if not name and len(tables) == 1:
            name = tables[0]
        if name not in tables:
            close = get_close_matches(name, tables, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise InputError(
                f"table is {name!r}: the database has {len(tables)} tables; end the URL with #table{hint}",
                parameter="table",
            )
        table = made.connection.table(name)
        _check_names(list(table.columns), name)
        return OpenTable(table, made, name)
    except BaseException:
        made.close()
        raise


def _from_parquet(path: str, engine: Engine) -> Any:
    if Path(path).is_dir():
        path = str(Path(path) / "*.parquet")
    if "://" not in path:
        files = _exists(path)
        try:
            import pyarrow.parquet as pq

            names = pq.read_schema(files[0]).names
            different = next((f for f in files[1:] if pq.read_schema(f).names != names), None)
        except ImportError as error:
            raise MissingExtra("pyarrow", extra="data", purpose="reading Parquet") from error
        except Exception as error:
            raise InputError(
                f"table is {path!r}: it does not parse as Parquet ({sentence(error)}); check the file",
                parameter="table",
            ) from error
        if different is not None:
            raise InputError(
                f"table is {path!r}: {Path(different).name} and {Path(files[0]).name} have different columns; "
                "give files of one table",
                parameter="table",
            )
        _check_names(names, path)
    try:
        return engine.connection.read_parquet(path)
    except Exception as error:
        raise InputError(
            f"table is {path!r}: {engine.kind} could not read it as Parquet ({sentence(error)}); check the file",
            parameter="table",
        ) from error


def _exists(path: str) -> list[str]:
    """The files of a path or glob."""
    if Path(path).is_file():
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise InputError(f"table is {path!r}: there is no such file; give {_FORMS}", parameter="table")
    return found


def _from_frame(data: Any, engine: Engine, ibis: Any) -> Any:
    arrow = _to_arrow(data)
    _check_names(arrow.column_names, "the frame")
    if engine.kind == "pyspark":
        # Through Parquet, because the way through pandas turns integers with NULL into floats.
        import pyarrow.parquet as pq

        copy = engine.folder() / "frame.parquet"
        pq.write_table(arrow, copy, coerce_timestamps="us", allow_truncated_timestamps=True)
        return engine.connection.read_parquet(str(copy))
    return ibis.memtable(arrow)


def _to_arrow(data: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra("pyarrow", extra="data", purpose="reading a frame") from error
    try:
        if hasattr(data, "collect") and type(data).__module__.startswith("polars"):
            data = data.collect()  # a LazyFrame
        if type(data).__module__.startswith("pandas"):
            arrow = pa.Table.from_pandas(data, preserve_index=False)
        elif isinstance(data, pa.Table):
            arrow = data
        elif isinstance(data, pa.RecordBatch):
            arrow = pa.Table.from_batches([data])
        elif hasattr(data, "__arrow_c_stream__") or isinstance(data, dict):
            arrow = pa.table(data)
        else:
            raise InputError(f"table is a {type(data).__name__}: give {_FORMS}", parameter="table")
        return _plain_types(arrow, pa)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"table is a {type(data).__name__} that does not convert to Arrow ({sentence(error)}): "
            "give columns of one type each",
            parameter="table",
        ) from error


def _plain_types(arrow: Any, pa: Any) -> Any:
    """Categories become their values, all-NULL columns text: types every engine knows."""

    def plain(kind: Any) -> Any:
        text = pa.types.is_null(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view"
        return pa.string() if text else kind

    columns = []
    for column in arrow.columns:
        if pa.types.is_dictionary(column.type):
            kind = plain(column.type.value_type)
            parts = [c.dictionary.cast(kind).take(c.indices) for c in column.chunks]
            columns.append(pa.chunked_array(parts, kind))
        else:
            columns.append(column.cast(plain(column.type)))
    return pa.table(columns, names=arrow.column_names)


def _check_names(names: list[str], where: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            raise InputError(
                f"{where} has the columns {seen[name.casefold()]!r} and {name!r}, which engines that ignore "
                "case cannot tell apart: rename one of them"
            )
        seen[name.casefold()] = name
