"""Frames in memory as Arrow: pandas, polars, Arrow itself, a dict of columns, whatever exports Arrow.

>>> as_arrow({"age": [30, 31], "site": ["a", None]}).column_names
['age', 'site']
>>> as_arrow({"age": [30, "31"]})
Traceback (most recent call last):
epsilens.errors.InputError: the column 'age' of the table holds int and str: give it one kind of value

Rules: an index of pandas that has a name becomes a column, because people are often the index; one without a name is
left out. Categories become their values, periods and intervals text, durations a number of seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ...errors import InputError, OptionalModule, require, type_phrase
from .failures import failure_phrase

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    #: A frame whose rows come in parts.
    Stream: TypeAlias = pyarrow.RecordBatchReader | pyarrow.dataset.Scanner | pyarrow.dataset.Dataset | polars.LazyFrame

pa = OptionalModule("pyarrow", "reading a frame")
pc = OptionalModule("pyarrow.compute", "reading a frame")

#: What may be given as a table.
FORMS = (
    "a CSV or Parquet path, an Arrow, pandas, polars or Spark frame, an Ibis table, "
    "a bundled name such as 'epsilens:rand-hie' or an Ibis URL 'postgres://…/database#table'"
)


def is_streamed(data: object) -> bool:
    """Whether its rows come in parts, and may be more than fit into memory: a reader, a dataset, a lazy frame."""
    return _is(data, "pyarrow", ("RecordBatchReader", "Scanner", "Dataset")) or _is(data, "polars", ("LazyFrame",))


def write_parquet(data: Stream, path: Path) -> None:
    """Write a stream as Parquet, part by part."""
    pq = require("pyarrow.parquet", "reading a frame")
    with _conversion_errors(data):
        parts = (as_arrow(part) for part in _parts(data))
        first = next(parts)
        with pq.ParquetWriter(path, first.schema, coerce_timestamps="us", allow_truncated_timestamps=True) as out:
            out.write_table(first)
            for part in parts:
                out.write_table(part.cast(first.schema))


def _parts(data: Stream) -> Iterator[pyarrow.Table | pyarrow.RecordBatch | polars.DataFrame]:
    """An empty part that has the columns, and then the rows."""
    if _is(data, "polars", ("LazyFrame",)):
        yield data.collect_schema().to_frame()
        yield from data.collect_batches() if hasattr(data, "collect_batches") else [data.collect()]
    else:
        schema = data.schema if hasattr(data, "schema") else data.projected_schema
        yield schema.empty_table()
        yield from data.to_batches() if hasattr(data, "to_batches") else data


def as_arrow(data: object) -> pyarrow.Table:
    """The frame as an Arrow table of types that every engine knows."""
    require("pyarrow", "reading a frame")
    if _is(data, "pandas", ("DataFrame",)):
        return _portable_table(_from_pandas(data))
    if _is(data, "pandas", ("Series",)) or _is(data, "polars", ("Series",)):
        raise InputError("table is one column: give a frame, as with .to_frame()", parameter="table")
    if isinstance(data, dict):
        return _portable_table(_from_columns({_name(k): v for k, v in data.items()}, len(data)))
    if isinstance(data, pa.RecordBatch):
        return _portable_table(pa.Table.from_batches([data]))
    if type(data).__module__.startswith("pyspark.pandas"):
        raise InputError("table is a pandas frame on Spark: pass frame.to_spark(index_col=…)", parameter="table")
    if not isinstance(data, pa.Table) and not hasattr(data, "__arrow_c_stream__"):
        raise InputError(f"table is {type_phrase(data)}: give {FORMS}", parameter="table")
    if _is(data, "polars", ("DataFrame",)):
        check_names(data.columns, "the frame")
        return _portable_table(_from_columns({name: data[name] for name in data.columns}, data.width))
    with _conversion_errors(data):
        return _portable_table(data if isinstance(data, pa.Table) else pa.table(data))


@contextmanager
def _conversion_errors(data: object) -> Iterator[None]:
    """Whatever a library says of a frame it cannot convert, in one sentence without its values."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"table is a {type(data).__name__} that does not convert to Arrow ({failure_phrase(error)}): "
            "give columns of one kind of value each",
            parameter="table",
        ) from None


def _is(data: object, package: str, names: tuple[str, ...]) -> bool:
    return any(k.__module__.split(".")[0] == package and k.__name__ in names for k in type(data).__mro__)


# -- names --------------------------------------------------------------------------------------------------------


def check_names(names: Iterable[str], where: str) -> None:
    """Refuse columns that engines could mistake for one another, and tables without columns."""
    seen: dict[str, str] = {}
    for name in names:
        if not name:
            raise InputError(f"{where} has a column without a name: give it one", parameter="table")
        if name in seen.values():
            raise InputError(f"{where} has two columns named {name!r}: rename one of them", parameter="table")
        if name.casefold() in seen:
            raise InputError(
                f"{where} has the columns {seen[name.casefold()]!r} and {name!r}, which engines that ignore "
                "case cannot tell apart: rename one of them",
                parameter="table",
            )
        seen[name.casefold()] = name
    if not seen:
        raise InputError(f"{where} has no columns: give a table with at least one", parameter="table")


def _name(name: object) -> str:
    return name if isinstance(name, str) else str(name)


# -- values -------------------------------------------------------------------------------------------------------


def _from_pandas(frame: pandas.DataFrame) -> pyarrow.Table:
    if frame.columns.nlevels > 1:
        raise InputError(
            "table is a frame whose columns have several levels: join them, as with "
            "frame.columns = ['_'.join(map(str, c)) for c in frame.columns]",
            parameter="table",
        )
    named = [i for i, name in enumerate(frame.index.names) if name is not None]
    names = [*(_name(frame.index.names[i]) for i in named), *(_name(c) for c in frame.columns)]
    check_names(names, "the frame")
    levels = [frame.index.get_level_values(i).to_series(index=frame.index) for i in named]
    columns = [*levels, *(frame.iloc[:, i] for i in range(frame.shape[1]))]
    return _from_columns(dict(zip(names, columns, strict=True)), len(names))


def _from_columns(columns: Mapping[str, object], many: int) -> pyarrow.Table:
    check_names(columns, "the table")
    if len(columns) < many:
        raise InputError("table has two columns of one name: rename one of them", parameter="table")
    made = {name: _column(name, values) for name, values in columns.items()}
    first = next(iter(made))
    for name, values in made.items():
        if len(values) != len(made[first]):
            raise InputError(
                f"the columns {first!r} and {name!r} of the table have {len(made[first]):,} and {len(values):,} rows: "
                "give columns of one length",
                parameter="table",
            )
    return pa.table(list(made.values()), names=list(made))


def _column(name: str, values: object) -> pyarrow.ChunkedArray:
    what = f"the column {name!r} of the table"
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InputError(f"{what} is one {type(values).__name__}: give a list of its values", parameter="table")
    try:
        made = _arrow_array(values)
    except Exception:
        kinds = sorted({type(v).__name__ for v in values if v is not None})
        if len(kinds) > 1:
            held = f"{', '.join(kinds[:-1])} and {kinds[-1]}"
            raise InputError(f"{what} holds {held}: give it one kind of value", parameter="table") from None
        held = "whole numbers beyond 64 bits" if kinds == ["int"] else kinds[0] if kinds else "nothing"
        raise InputError(
            f"{what} holds {held}, which no engine stores: turn it into text or numbers, or leave it out",
            parameter="table",
        ) from None
    return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])


def _arrow_array(values: Iterable[object]) -> pyarrow.Array | pyarrow.ChunkedArray:
    kind = str(getattr(values, "dtype", ""))
    if _is(values, "pandas", ("Series", "Index")):
        series: pandas.Series = values
        if kind.startswith("Sparse"):
            values = series.sparse.to_dense()
        if kind.startswith(("period", "interval")):
            return pa.array(series.astype(object).map(str, na_action="ignore"), pa.string(), from_pandas=True)
    if _is(values, "polars", ("Series",)):
        if kind == "Object":  # polars would hand over the addresses of the objects
            raise TypeError
        column: polars.Series = values
        return column.to_arrow()
    made = pa.array(values, from_pandas=True)
    if pa.types.is_null(made.type) and any(isinstance(v, float) for v in values):  # all NaN: numbers all the same
        made = made.cast(pa.float64())
    if pa.types.is_date(made.type) and any(isinstance(v, datetime) for v in values):
        raise TypeError  # Arrow would cut the time off moments that stand among days
    return made


def _portable_table(arrow: pyarrow.Table) -> pyarrow.Table:
    """The same values in types that every engine knows."""
    check_names(arrow.column_names, "the table")
    made = []
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        try:
            made.append(_portable_column(column))
        except Exception as error:
            raise InputError(
                f"the column {name!r} of the table is of type {column.type}, which does not convert "
                f"({failure_phrase(error)}): turn it into text or numbers, or leave it out",
                parameter="table",
            ) from None
    return pa.table(made, names=arrow.column_names)


def _portable_column(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    types = pa.types
    if str(column.type) == "extension<arrow.uuid>":
        return pa.chunked_array([[None if v is None else str(v) for v in column.to_pylist()]], pa.string())
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if types.is_dictionary(column.type):
        kind = column.type.value_type
        column = pa.chunked_array([c.dictionary.take(c.indices) for c in column.chunks], kind)
    if types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    kind = column.type
    if types.is_duration(kind):
        parts = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        return pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), parts)
    tests: tuple[tuple[Callable[[pyarrow.DataType], bool], pyarrow.DataType], ...] = (
        (types.is_null, pa.string()),
        (types.is_large_string, pa.string()),
        (types.is_string_view, pa.string()),
        (types.is_large_binary, pa.binary()),
        (types.is_binary_view, pa.binary()),
        (types.is_float16, pa.float32()),
        (types.is_date64, pa.date32()),
    )
    return column.cast(next((wanted for test, wanted in tests if test(kind)), kind))
