"""Where a table comes from: one that is bundled, a file, an address, or something in memory.

>>> source_of("epsilens:adult"), source_of("people.csv")
(Bundled(name='epsilens:adult'), File(path='people.csv'))
>>> source_of("postgres://me:hush@host/db#visits")
Url('postgres://…@host/db#visits')

The tables that come with epsilens are real people's records, free to redistribute: ``epsilens:rand-hie`` is the RAND
Health Insurance Experiment (public domain), ``epsilens:adult`` is UCI Adult (CC BY 4.0). Each Parquet file has a JSON
sidecar with its provenance, licence, column descriptions, row count and SHA-256; ``scripts/build_*.py`` rebuild both
from the packages they come from.

Frames in memory (pandas, polars, Arrow itself, a dict of columns, whatever exports Arrow) are read as Arrow:

>>> as_arrow({"age": [30, 31], "site": ["a", None]}).column_names
['age', 'site']
>>> as_arrow({"age": [30, "31"]})
Traceback (most recent call last):
epsilens.errors.InputError: the column 'age' of the table holds int and str: give it one kind of value

An index of pandas that has a name becomes a column, because people are often the index; one without a name is left out.
Categories become their values, periods and intervals text, durations a number of seconds.
"""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from ...errors import InputError, OptionalModule, require, type_phrase
from .address import Address, address_of, masked
from .dialect import identifier, quoted
from .failures import engine_error, failure_phrase

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pandas
    import polars
    import pyarrow

    from .engines import Engine

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
            f"{what} holds {held}, which no engine stores: turn it into text or numbers, or leave it out", "table"
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

    def to_dict(self) -> dict[str, object]:
        """Everything but the path, which differs between machines."""
        return {k: v for k, v in vars(self).items() if k != "path"}


def names() -> list[str]:
    """The names of the bundled tables.

    >>> names()
    ['epsilens:adult', 'epsilens:rand-hie']
    """
    return sorted(PREFIX + path.stem for path in FILES.glob("*.json"))


def bundled_title(name: str) -> str:
    """What the publisher of a bundled table calls it; nothing for any other table.

    >>> bundled_title("people.csv")
    ''
    """
    return bundled_dataset(name).title if name in names() else ""


def bundled_dataset(name: str) -> Dataset:
    """The bundled table of that name.

    >>> bundled_dataset("epsilens:rand-hie").rows
    20190
    >>> bundled_dataset("epsilens:rand")
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
REMOTE_SCHEMES = re.compile("https?|ftps?|sftp|s3[an]?|gs|gcs|az|azure|abfss?|wasbs?|hdfs|dbfs|hf|r2")


@dataclass(frozen=True)
class Bundled:
    """A table that comes with epsilens, by its name; there may be none of that name."""

    name: str

    @property
    def dataset(self) -> Dataset:
        """What is known about it, or a sentence on the names there are."""
        return bundled_dataset(self.name)


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
        return REMOTE_SCHEMES.fullmatch(self.scheme) is not None

    @property
    def masked(self) -> str:
        """The address without user and password, which are no part of any record."""
        return masked(self.text)


@dataclass(frozen=True)
class Frame:
    """Something in memory: a frame, an Arrow or an Ibis table."""

    data: object


Source: TypeAlias = Bundled | File | Url | Frame


def source_of(table: object) -> Source:
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


# -- the files of a path, a pattern or a folder ------------------------------------------------------------------------


_PANDAS = "pass {0}, or save that as Parquet"
#: Engines keep notes beside their files, in names that start so.
_NOTES = ("_", ".")
_STAY = "unpack it, and give what is inside"
#: By the end of the name: what it is, and what to do.
_KINDS: tuple[tuple[str, str, str], ...] = (
    (
        ".xlsx .xls .xlsm .xlsb .ods",
        "a spreadsheet",
        "save it as CSV (in Excel: File, Save As, CSV UTF-8), or pass pandas.read_excel(…)",
    ),
    (".numbers", "a spreadsheet", "export it as CSV (File, Export To, CSV)"),
    (".sav .zsav .por", "a file of SPSS", "save it as CSV there, or pass pandas.read_spss(…)"),
    (".dta", "a file of Stata", "save it as CSV there (export delimited), or pass pandas.read_stata(…)"),
    (".sas7bdat .xpt", "a file of SAS", "export it as CSV there, or pass pandas.read_sas(…)"),
    (".rds .rda .rdata", "a file of R", "write it there with write.csv or arrow::write_parquet"),
    (".json .jsonl .ndjson", "JSON", _PANDAS.format("pandas.read_json(…)")),
    (".xml", "XML", _PANDAS.format("pandas.read_xml(…)")),
    (".html .htm", "a web page", _PANDAS.format("one of pandas.read_html(…)")),
    (".yaml .yml", "a YAML file", "a plan is read by 'epsilens assess'; give the table it names"),
    (".feather .arrow .ipc", "an Arrow file", "pass pyarrow.feather.read_table(…), or save it as Parquet"),
    (".orc", "an ORC file", "pass pyarrow.orc.read_table(…), or save it as Parquet"),
    (".avro", "an Avro file", "save it as Parquet"),
    (".pkl .pickle .joblib", "a Python pickle", "load it yourself, if you trust it, and pass the frame"),
    (".pdf .doc .docx .odt .rtf .md", "a document", "put its table into a CSV file"),
    (".zip .7z .rar .tar .tgz .tar.gz .bz2 .xz .zst .gz", "an archive", _STAY),
    (".png .jpg .jpeg .gif", "a picture", "give a table"),
)
#: By the first bytes, where the name does not tell.
_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (b"SQLite format 3\x00", "a database of SQLite", "give 'sqlite://{0}#table'"),
    (b"PK\x03\x04", "an archive or a spreadsheet", "save the table as CSV or Parquet"),
    (b"\x1f\x8b", "an archive", _STAY),
    (b"%PDF", "a document", "put its table into a CSV file"),
)


@dataclass(frozen=True)
class Files:
    """The files of one table, all Parquet or all text; ``root`` is what the folders with values start below."""

    paths: tuple[str, ...]
    root: str
    parquet: bool


def file_label(path: str) -> str:
    """What a table of files is called in a sentence: the last part of its path."""
    return Path(path).name or path


def _path_error(path: str, why: str) -> InputError:
    return InputError(f"table is {path!r}{why}", parameter="table")


def files_at(path: str) -> Files:
    """The files, all there and readable, or a sentence on what to give instead.

    >>> files_at("table.xlsx")
    Traceback (most recent call last):
    epsilens.errors.InputError: table is 'table.xlsx', a spreadsheet: save it as CSV (in Excel: File, Save As, CSV UTF-8), or pass pandas.read_excel(…)

    A name that exists is that file, whatever signs it has; only then is it a pattern. What is no file of bytes at rest
    (a device, a pipe, a socket) is refused before it is touched: some of them never end.
    """  # noqa: E501 - the message is one sentence, on one line
    if not path.strip() or "\x00" in path:
        raise _path_error(path, f": give {FORMS}")
    if path.startswith("~") and not os.path.exists(path):
        path = os.path.expanduser(path)
    try:
        mode = os.stat(path).st_mode
    except PermissionError:
        raise _path_error(path, ": permission is denied; ask for the right to read it") from None
    except (OSError, ValueError):
        return _pattern_files(path)
    if stat.S_ISDIR(mode):
        return _folder_files(path)
    _check_file(path)
    return Files((path,), os.path.dirname(path), _is_parquet(path))


def _pattern_files(path: str) -> Files:
    found = sorted(f for f in glob.glob(path, recursive=True) if not os.path.isdir(f)) if glob.has_magic(path) else []
    if not os.path.basename(path).startswith(_NOTES):
        found = [f for f in found if not os.path.basename(f).startswith(_NOTES)]
    if not found:
        ending = Path(path).suffix.lower()
        for endings, kind, remedy in _KINDS:
            if ending and ending in endings.split() and not path.lower().endswith(CSV):
                raise _path_error(path, f", {kind}: {remedy}")
        raise _path_error(path, f": there is no such file; give {FORMS}")
    for each in found:
        _check_file(each)
    kinds = {_is_parquet(each) for each in found}
    if len(kinds) > 1:
        raise _path_error(
            path, ": it matches Parquet files and others; give a pattern of one kind, such as '*.parquet'"
        )
    before = re.split(r"[*?\[]", path)[0]
    return Files(tuple(found), before.rpartition("/")[0], kinds.pop())


def _folder_files(path: str) -> Files:
    """The Parquet files below a folder, or else the text files in it."""
    found: list[str] = []
    texts: list[str] = []
    seen: set[str] = set()
    for folder, inside, names in os.walk(path, onerror=_unreadable, followlinks=True):
        inside[:] = sorted(d for d in inside if not d.startswith(_NOTES))
        if os.path.realpath(folder) in seen:  # a link back to a folder above
            inside.clear()
            continue
        seen.add(os.path.realpath(folder))
        for name in sorted(names):
            kinds = ((found, PARQUET), (texts, CSV if os.path.samefile(folder, path) else ()))
            for kept, endings in kinds:
                if name.lower().endswith(endings) and not name.startswith(_NOTES):
                    kept.append(os.path.join(folder, name))
    if not found and not texts:
        raise _path_error(path, ", a folder without files of CSV or Parquet: give one that has some, or a file")
    for each in found or texts:
        _check_file(each)
    return Files(tuple(found or texts), path, bool(found))


def _unreadable(error: OSError) -> None:
    raise _path_error(str(error.filename), ": permission is denied; ask for the right to read it") from None


def _check_file(path: str) -> None:
    """Refuse what is no file of a kind that is read here; nothing is opened before it is known to be a file."""
    try:
        path.encode()
    except UnicodeEncodeError:  # no engine finds it
        raise _path_error(path, ": its name is not UTF-8; rename it") from None
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise _path_error(path, f", {kind}: give a file of CSV or Parquet")
    if not os.access(path, os.R_OK):
        raise _path_error(path, ": permission is denied; ask for the right to read it")
    lower = path.lower()
    if not lower.endswith(CSV):
        for endings, kind, remedy in _KINDS:
            if lower.endswith(tuple(endings.split())):
                raise _path_error(path, f", {kind}: {remedy}")
    if os.path.getsize(path) == 0:
        raise _path_error(path, ": the file is empty; give a CSV with a header line, or Parquet")
    if lower.endswith(CSV + PARQUET):
        return
    with open(path, "rb") as file:
        start = file.read(16)
    if start[8:12] == b"DUCK":
        raise _path_error(path, f", a database of DuckDB: give 'duckdb://{path}#table'")
    for begins, kind, remedy in _STARTS:
        if start.startswith(begins):
            raise _path_error(path, f", {kind}: {remedy.format(path)}")
    if not start.startswith(b"PAR1"):
        raise _path_error(
            path, ", a file whose name ends in none of .csv, .tsv, .txt, .parquet: name it after what it is"
        )


def _is_parquet(path: str) -> bool:
    return not path.lower().endswith(CSV)


_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"
#: Signs that Hadoop reads as a pattern or as part of an address.
_ODD = re.compile(r"[*?\[\]{}\\:,#%]")


def from_parquet(files: Files, engine: Engine, name: str) -> ir.Table:
    """The table of these files on the engine.

    One file, many, or folders whose names carry values (``year=2024/month=01``): these are numbers only where all are
    written as numbers are; ``01`` is text, on every engine.
    """
    columns, alike = _columns(files, name)
    values = _values(files)
    kinds = {key: "BIGINT" if all(_WHOLE.fullmatch(v) for v in found) else "VARCHAR" for key, found in values.items()}
    check_names([*(c for c in columns if c not in kinds), *kinds], name)
    try:
        if engine.kind == "duckdb":
            return _on_duckdb(files, engine, columns, kinds, alike)
        if not alike:
            raise InputError(
                f"table is {name!r}: its files store a column in different types; write them alike, or use "
                "engine='duckdb'",
                parameter="table",
            )
        return _on_spark(files, engine, kinds)
    except InputError:
        raise
    except Exception as error:
        raise engine_error(error, name, engine.kind, columns) from None


def _columns(files: Files, name: str) -> tuple[list[str], bool]:
    """The columns, which all files have, and whether their types are the same in all."""
    pa, pq = require("pyarrow", "reading Parquet"), require("pyarrow.parquet", "reading Parquet")
    first: dict[str, pyarrow.DataType] | None = None
    alike = True
    for path in files.paths:
        try:
            schema = pq.read_schema(path)
        except Exception as error:
            raise InputError(
                f"table is {name!r}: {Path(path).name} does not parse as Parquet ({failure_phrase(error)}); check "
                "the file",
                parameter="table",
            ) from None
        if first is None:
            check_names(schema.names, name)
            first = dict(zip(schema.names, schema.types, strict=True))
            continue
        if set(schema.names) != set(first):
            odd = sorted(set(schema.names) ^ set(first))[0]
            raise InputError(
                f"table is {name!r}: {Path(path).name} and {Path(files.paths[0]).name} have different columns "
                f"({odd!r} is in one alone); give files of one table",
                parameter="table",
            )
        for column, kind in zip(schema.names, schema.types, strict=True):
            alike = alike and _stored(kind, pa) == _stored(first[column], pa)
            empty = pa.types.is_null(kind) or pa.types.is_null(first[column])  # no value at all, so no type of its own
            if not empty and _family(kind, pa) != _family(first[column], pa):
                raise InputError(
                    f"table is {name!r}: {Path(path).name} and {Path(files.paths[0]).name} store {column!r} as {kind} "
                    f"and {first[column]}; write them alike",
                    parameter="table",
                )
        first = {c: schema.field(c).type if pa.types.is_null(kind) else kind for c, kind in first.items()}
    return list(first or {}), alike


def _stored(kind: pyarrow.DataType, pa: ModuleType) -> pyarrow.DataType:
    """The type in the file, whatever it was in the memory it came from."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) else kind


def _family(kind: pyarrow.DataType, pa: ModuleType) -> str:
    types, kind = pa.types, _stored(kind, pa)
    if types.is_integer(kind):
        return "whole number"
    if types.is_floating(kind):
        return "number"
    return "moment" if types.is_timestamp(kind) else str(kind)


def _values(files: Files) -> dict[str, list[str]]:
    """The values that the folders below the root carry, by their column; none where one file lacks them."""
    found: dict[str, list[str]] = {}
    for path in files.paths:
        below = os.path.relpath(path, files.root or ".").split(os.sep)[:-1]
        pairs = [(unquote(k), unquote(v)) for k, sign, v in (part.partition("=") for part in below) if sign and k]
        if found and [k for k, _ in pairs] != list(found):
            return {}
        for key, value in pairs:
            if value != _NOTHING:
                found.setdefault(key, []).append(value)
            else:
                found.setdefault(key, [])
        if not pairs:
            return {}
    return found


def _on_duckdb(files: Files, engine: Engine, columns: list[str], kinds: dict[str, str], alike: bool) -> ir.Table:
    paths = ", ".join(quoted(glob.escape(p)) for p in files.paths)
    options = ["hive_partitioning = false"]
    if kinds:
        typed = ", ".join(f"{quoted(key)}: {kind}" for key, kind in kinds.items())
        options = ["hive_partitioning = true", "hive_types_autocast = false", f"hive_types = {{{typed}}}"]
    if not alike:
        options.append("union_by_name = true")
    names = [*(c for c in columns if c not in kinds), *kinds]
    chosen = ", ".join(map(identifier, names))
    return engine.view(f"SELECT {chosen} FROM read_parquet([{paths}], {', '.join(options)})", reads=files.paths)


def _on_spark(files: Files, engine: Engine, kinds: dict[str, str]) -> ir.Table:
    session = engine.connection._session
    paths, root = [os.path.abspath(p) for p in files.paths], os.path.abspath(files.root or ".")
    if any(_ODD.search(p) for p in paths):
        paths, root = _linked(paths, root, engine.folder()), str(engine.folder() / "linked")
    setting = "spark.sql.sources.partitionColumnTypeInference.enabled"
    before = session.conf.get(setting, None)
    session.conf.set(setting, "false")
    try:
        reader = session.read.option("basePath", f"file://{root}") if kinds else session.read
        frame = reader.parquet(*(f"file://{p}" for p in paths))
    finally:
        session.conf.unset(setting) if before is None else session.conf.set(setting, before)
    for key, kind in kinds.items():
        frame = frame.withColumn(key, frame[f"`{key}`"].cast("bigint" if kind == "BIGINT" else "string"))
    return engine.spark_view(frame)


def _linked(paths: list[str], root: str, folder: Path) -> list[str]:
    """The files under names that Hadoop takes as they are; the values in names of folders stay."""
    made = []
    for i, path in enumerate(paths):
        below = [p for p in os.path.relpath(path, root).split(os.sep)[:-1] if "=" in p]
        home = folder / "linked" / Path(*below)
        home.mkdir(parents=True, exist_ok=True)
        link = home / f"{i}.parquet"
        link.symlink_to(path)
        made.append(str(link))
    return made
