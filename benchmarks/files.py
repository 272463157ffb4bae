"""The scan of a CSV against one reading of it as text, and against the scan of the same table in Parquet.

Usage::

    python benchmarks/files.py [--rows 10] [--table everyday crowded unique] [--repeats 2] [--json out.json]

The tables are those of ``scan.py``, with a cost in cents. All run in turn in one process, the best of each counts, in
seconds on the clock and in processor seconds (which other work on the machine disturbs less):

* ``parsed``: DuckDB reads every field as text and counts them, keeping nothing;
* ``kept``: the same, and the text is written to Parquet: the least that a copy costs;
* ``opened``: :func:`epsilens.data.tables.table.open_table` on the CSV, which makes the typed copy;
* ``late``: the same where the last row has a leading zero in a column of whole numbers;
* ``parquet``, ``csv``: the whole of :func:`epsilens.scan`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.scan import COLUMNS, TABLES


def make(name: str, rows: int, folder: Path) -> None:
    import duckdb

    con = duckdb.connect()
    cost = "((hash(i * 7 + 6) % 1000000) / 100)::DECIMAL(9, 2) AS spent"
    con.execute(f"COPY (SELECT {TABLES[name]}, {cost} FROM range({rows}) t(i)) TO '{folder}/t.parquet'")
    con.execute(f"COPY (FROM '{folder}/t.parquet') TO '{folder}/t.csv'")
    late = (folder / "late.csv").open("wb")
    with (folder / "t.csv").open("rb") as file, late:
        while piece := file.read(1 << 24):
            late.write(piece)
        late.write(b"007,042,male,race 1,education 1,1.00\n")


def timed(name: str, folder: Path, repeats: int) -> dict[str, float]:
    import duckdb

    from epsilens.data.scan.scan import scan
    from epsilens.data.tables.table import open_table

    con = duckdb.connect()
    con.execute("SET memory_limit = '1000MB'")
    con.execute("SET preserve_insertion_order = false")
    text = f"read_csv('{folder}/t.csv', header = true, delim = ',', quote = '\"', all_varchar = true)"
    tasks: dict[str, Callable[[], object]] = {
        "parsed": lambda: con.execute(f"SELECT count(COLUMNS(*)) FROM {text}").fetchall(),
        "kept": lambda: con.execute(f"COPY (FROM {text}) TO '{folder}/kept.parquet'"),
        "opened": lambda: open_table(folder / "t.csv").close(),
        "late": lambda: open_table(folder / "late.csv").close(),
        "parquet": lambda: scan(str(folder / "t.parquet"), COLUMNS[name]),
        "csv": lambda: scan(str(folder / "t.csv"), COLUMNS[name]),
    }
    times: dict[str, list[float]] = {what + cpu: [] for what in tasks for cpu in ("", " cpu")}
    scan("epsilens:adult", ["age"])  # imports are not what is measured
    for _ in range(repeats):
        for what, run in tasks.items():
            clock, cpu = time.perf_counter(), time.process_time()
            run()
            times[what].append(time.perf_counter() - clock)
            times[f"{what} cpu"].append(time.process_time() - cpu)
    best = {what: min(each) for what, each in times.items()}
    for of in ("", " cpu"):
        best[f"csv / (parsed + parquet){of}"] = best[f"csv{of}"] / (best[f"parsed{of}"] + best[f"parquet{of}"])
        best[f"csv / (kept + parquet){of}"] = best[f"csv{of}"] / (best[f"kept{of}"] + best[f"parquet{of}"])
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=10, help="million rows")
    parser.add_argument("--table", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = {}
    for name in asked.table:
        with tempfile.TemporaryDirectory() as made:
            make(name, int(asked.rows * 1e6), Path(made))
            found[name] = timed(name, Path(made), asked.repeats)
        print(f"{name}, {asked.rows:g} million rows, {os.cpu_count()} processors")
        for what, value in found[name].items():
            print(f"  {what:32} {value:8.2f}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
