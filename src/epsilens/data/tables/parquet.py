"""Parquet files on DuckDB and Spark: one, many, or folders whose names carry values (``year=2024/month=01``).

Values in names of folders are numbers only where all are written as numbers are: ``01`` is text, on every engine.
"""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ...errors import InputError
from .failures import refusal, sentence
from .frames import check_names, need_arrow
from .paths import Files

if TYPE_CHECKING:
    from .engines import Engine


_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"
#: Signs that Hadoop reads as a pattern or as part of an address.
_ODD = re.compile(r"[*?\[\]{}\\:,#%]")


def quoted(text: str) -> str:
    """Text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def from_parquet(files: Files, engine: Engine, name: str) -> Any:
    """The table of these files on the engine."""
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
        raise refusal(error, name, engine.kind, columns) from None


def _columns(files: Files, name: str) -> tuple[list[str], bool]:
    """The columns, which all files have, and whether their types are the same in all."""
    pa = need_arrow("reading Parquet")
    import pyarrow.parquet as pq

    first: dict[str, Any] | None = None
    alike = True
    for path in files.paths:
        try:
            schema = pq.read_schema(path)
        except Exception as error:
            raise InputError(
                f"table is {name!r}: {Path(path).name} does not parse as Parquet ({sentence(error)}); check the file",
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
            if _family(kind, pa) != _family(first[column], pa) and not _either_empty(kind, first[column], pa):
                raise InputError(
                    f"table is {name!r}: {Path(path).name} and {Path(files.paths[0]).name} store {column!r} as {kind} "
                    f"and {first[column]}; write them alike",
                    parameter="table",
                )
        first = {c: schema.field(c).type if pa.types.is_null(kind) else kind for c, kind in first.items()}
    return list(first or {}), alike


def _either_empty(one: Any, other: Any, pa: Any) -> bool:
    """A column without any value has no type of its own."""
    return bool(pa.types.is_null(one) or pa.types.is_null(other))


def _stored(kind: Any, pa: Any) -> Any:
    """The type in the file, whatever it was in the memory it came from."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) else kind


def _family(kind: Any, pa: Any) -> str:
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


def _on_duckdb(files: Files, engine: Engine, columns: list[str], kinds: dict[str, str], alike: bool) -> Any:
    paths = ", ".join(quoted(glob.escape(p)) for p in files.paths)
    options = ["hive_partitioning = false"]
    if kinds:
        typed = ", ".join(f"{quoted(key)}: {kind}" for key, kind in kinds.items())
        options = ["hive_partitioning = true", "hive_types_autocast = false", f"hive_types = {{{typed}}}"]
    if not alike:
        options.append("union_by_name = true")
    names = [*(c for c in columns if c not in kinds), *kinds]
    chosen = ", ".join('"' + c.replace('"', '""') + '"' for c in names)
    return engine.view(f"SELECT {chosen} FROM read_parquet([{paths}], {', '.join(options)})", reads=files.paths)


def _on_spark(files: Files, engine: Engine, kinds: dict[str, str]) -> Any:
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
