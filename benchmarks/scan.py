"""The scan against one raw DuckDB GROUP BY over the same five columns, in the same run.

Usage::

    python benchmarks/scan.py [--rows 1 3 10 30] [--table everyday crowded unique] [--json out.json]

Three tables of five quasi-identifiers, in Parquet:

* ``everyday``: a site, an age, a sex, a race, a schooling; 77 thousand combinations however many rows;
* ``crowded``: a postal code of 1000 instead of a site; about as many combinations as rows at 10 million;
* ``unique``: a birth date and a postal code of 10,000; nearly every row is alone, the bad case.

``raw`` is the GROUP BY with its rows counted, ``raw kept`` the same with its rows kept in a table; ``scan`` is the
whole of :func:`epsilens.scan` with all 31 subsets, opening the file included. The three run in turn in one
process, and the best of each counts, in seconds on the clock and in processor seconds (which other work on the
machine disturbs less); memory is the peak of one scan in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SITE = "(hash(i * 7 + 1) % 6)::INT AS site, (hash(i * 7 + 2) % 80)::INT AS age"
ZIP = "lpad((hash(i * 7 + 1) % {zips})::VARCHAR, 5, '0') AS zip"
REST = (
    "CASE WHEN hash(i * 7 + 3) % 2 = 0 THEN 'male' ELSE 'female' END AS sex, "
    "'race ' || (hash(i * 7 + 4) % 5) AS race, 'education ' || (hash(i * 7 + 5) % 16) AS education"
)
TABLES = {
    "everyday": f"{SITE}, {REST}",
    "crowded": f"{ZIP.format(zips=1000)}, (hash(i * 7 + 2) % 100)::INT AS age, {REST}",
    "unique": f"{ZIP.format(zips=10000)}, DATE '1930-01-01' + (hash(i * 7 + 2) % 30000)::INT AS born, {REST}",
}
COLUMNS = {
    "everyday": ["site", "age", "sex", "race", "education"],
    "crowded": ["zip", "age", "sex", "race", "education"],
    "unique": ["zip", "born", "sex", "race", "education"],
}


def make(name: str, rows: int, path: Path) -> None:
    import duckdb

    duckdb.connect().execute(f"COPY (SELECT {TABLES[name]} FROM range({rows}) t(i)) TO '{path}'")


def peak() -> float:
    # Not ru_maxrss: a child inherits its parent's peak across fork.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def timed(name: str, path: str, repeats: int) -> dict[str, float]:
    """Raw and scan in turn, so that a busy machine slows them alike; the best of each."""
    import duckdb

    from epsilens.data.scan.scan import scan

    query = f"SELECT {', '.join(COLUMNS[name])}, count(*) AS n FROM '{path}' GROUP BY ALL"
    con = duckdb.connect()
    tasks: dict[str, Callable[[], object]] = {
        "raw": lambda: con.execute(f"SELECT count(*), count(*) FILTER (n = 1) FROM ({query})").fetchall(),
        "raw kept": lambda: con.execute(f"CREATE OR REPLACE TABLE kept AS {query}"),
        "scan": lambda: scan(path, COLUMNS[name]),
    }
    times: dict[str, list[float]] = {what + cpu: [] for what in tasks for cpu in ("", " cpu")}
    scan("epsilens:adult", ["age"])  # imports are not what is measured
    for _ in range(repeats):
        for what, run in tasks.items():
            start, work = time.perf_counter(), time.process_time()
            run()
            times[what].append(time.perf_counter() - start)
            times[f"{what} cpu"].append(time.process_time() - work)
    return {what: min(seconds) for what, seconds in times.items()}


def weighed(name: str, path: str) -> dict[str, float]:
    """One scan in a fresh process: its peak of memory, and what it found."""
    from epsilens.data.scan.scan import scan

    result = scan(path, COLUMNS[name])
    return {"gigabytes": peak(), "isolated": result.isolated, "combinations": result.subsets[0].combinations}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1, 3, 10, 30], help="millions of rows")
    parser.add_argument("--table", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        what, name, path = options.one
        print(json.dumps(weighed(name, path) if what == "weigh" else timed(name, path, int(what))))
        return
    made = []
    print("table      Mrows  combinations    isolated   raw s  raw kept s  scan s  scan/raw  of cpu  scan GB")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.table:
            for millions in options.rows:
                path = Path(folder) / f"{name}.parquet"
                make(name, int(millions * 1e6), path)
                got: dict[str, float] = {}
                for what in (str(options.repeats), "weigh"):
                    command = [sys.executable, __file__, "--one", what, name, str(path)]
                    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
                    got |= json.loads(done.stdout)
                got["ratio"] = got["scan"] / got["raw"]
                made.append({"table": name, "rows": int(millions * 1e6), **got})
                print(
                    f"{name:9s} {millions:6g} {got['combinations']:13,} {got['isolated']:11,} {got['raw']:7.2f} "
                    f"{got['raw kept']:11.2f} {got['scan']:7.2f} {got['ratio']:9.2f} "
                    f"{got['scan cpu'] / got['raw cpu']:7.2f} {got['gigabytes']:8.2f}",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main()
