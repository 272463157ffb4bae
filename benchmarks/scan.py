"""The scan against one raw DuckDB GROUP BY over the same five columns, in the same run.

Usage::

    python benchmarks/scan.py [--rows 1 3 10 30] [--table everyday crowded unique] [--json out.json]

Three tables of five quasi-identifiers, in Parquet:

* ``everyday``: a site, an age, a sex, a race, a schooling; 77 thousand combinations however many rows;
* ``crowded``: a postal code of 1000 instead of a site; about as many combinations as rows at 10 million;
* ``unique``: a birth date and a postal code of 10,000; nearly every row is alone, the bad case.

Each measurement runs in a process of its own, because memory is measured as the process's peak. ``raw`` is the
GROUP BY with its rows counted, ``raw kept`` the same with its rows kept in a table; ``scan`` is the whole of
:func:`epsilens.data.scan.scan` with all 31 subsets, opening the file included. Best of three.
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


def one(what: str, name: str, path: str) -> dict[str, float]:
    """One measurement, in this process."""
    columns = COLUMNS[name]
    times = []
    found: dict[str, float] = {}
    if what == "scan":
        from epsilens.data.scan import scan

        for _ in range(3):
            start = time.perf_counter()
            result = scan(path, columns)
            times.append(time.perf_counter() - start)
        found = {"isolated": result.isolated, "combinations": result.subsets[0].combinations}
    else:
        import duckdb

        con = duckdb.connect()
        query = f"SELECT {', '.join(columns)}, count(*) AS n FROM '{path}' GROUP BY ALL"
        for _ in range(3):
            start = time.perf_counter()
            if what == "raw":
                con.execute(f"SELECT count(*), count(*) FILTER (n = 1) FROM ({query})").fetchall()
            else:
                con.execute(f"CREATE OR REPLACE TABLE kept AS {query}")
            times.append(time.perf_counter() - start)
    return {"seconds": min(times), "gigabytes": peak(), **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1, 3, 10, 30], help="millions of rows")
    parser.add_argument("--table", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    made = []
    print("table      Mrows  combinations    isolated   raw s  raw kept s  scan s  scan/raw  scan GB")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.table:
            for millions in options.rows:
                path = Path(folder) / f"{name}.parquet"
                make(name, int(millions * 1e6), path)
                got = {}
                for what in ("raw", "raw kept", "scan"):
                    command = [sys.executable, __file__, "--one", what, name, str(path)]
                    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
                    got[what] = json.loads(done.stdout)
                ratio = got["scan"]["seconds"] / got["raw"]["seconds"]
                made.append({"table": name, "rows": int(millions * 1e6), "ratio": ratio, **got})
                scan = got["scan"]
                print(
                    f"{name:9s} {millions:6g} {scan['combinations']:13,} {scan['isolated']:11,} "
                    f"{got['raw']['seconds']:7.2f} {got['raw kept']['seconds']:11.2f} {scan['seconds']:7.2f} "
                    f"{ratio:9.2f} {scan['gigabytes']:8.2f}",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main()
