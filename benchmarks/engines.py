"""The scan on each engine beside one raw GROUP BY on the same engine: time, and the peak memory of the driver.

Usage::

    python benchmarks/engines.py [--engine duckdb spark postgres sqlite] [--rows 1 10] [--table everyday unique]
        [--memory 2GB] [--master 'local-cluster[2,1,2048]'] [--postgres postgres://user@host/database] [--json out.json]

The tables are those of ``scan.py``, with all 31 subsets of five columns. Each figure comes from a process of its own:
the raw GROUP BY first, then the scan. ``driver`` is the peak resident memory of the Python process, and on Spark that
of the driver's Java (which has 1 GB of heap) beside it. PostgreSQL is loaded by COPY, SQLite row by row, before the
clock starts; on both the server's own memory is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from scan import COLUMNS, make, peak  # type: ignore[import-not-found]


def spark_session(master: str) -> Any:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    settings = {
        "spark.driver.memory": "1g",
        "spark.executor.memory": "2g" if master.startswith("local-cluster") else "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": tempfile.gettempdir(),
    }
    builder = SparkSession.builder.master(master).appName("epsilens benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def java_peak() -> float:
    """The peak of the Java process that is our child, in GB; 0 without one."""
    me, most = os.getpid(), 0.0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            if int(lines["PPid"]) == me and lines["Name"].strip() == "java":
                most = max(most, int(lines["VmHWM"].split()[0]) / 1e6)
        except (OSError, KeyError, ValueError):
            continue
    return most


def load_postgres(url: str, name: str, parquet: Path) -> None:
    import duckdb
    import psycopg

    columns = COLUMNS[name]
    kinds = {"site": "int", "age": "int", "born": "date"}
    with psycopg.connect(url) as con, tempfile.TemporaryDirectory() as folder:
        csv = Path(folder) / "t.csv"
        duckdb.connect().execute(f"COPY (SELECT {', '.join(columns)} FROM '{parquet}') TO '{csv}' (HEADER false)")
        con.execute(f"DROP TABLE IF EXISTS {name}")
        shown = ", ".join(f"{c} {kinds.get(c, 'text')}" for c in columns)
        con.execute(f"CREATE UNLOGGED TABLE {name} ({shown})")
        with con.cursor().copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy, csv.open("rb") as file:
            while part := file.read(1 << 20):
                copy.write(part)
        con.commit()


def load_sqlite(path: Path, name: str, parquet: Path) -> None:
    import sqlite3

    import duckdb

    columns = COLUMNS[name]
    shown = ", ".join(f"{c}::VARCHAR AS {c}" if c == "born" else c for c in columns)
    rows = duckdb.connect().execute(f"SELECT {shown} FROM '{parquet}'")
    with sqlite3.connect(path) as con:
        con.execute("PRAGMA journal_mode = OFF")
        kinds = ", ".join(f"{c} {'INT' if c in ('site', 'age') else 'TEXT'}" for c in columns)
        con.execute(f"CREATE TABLE {name} ({kinds})")
        while some := rows.fetchmany(100_000):
            con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", some)


def measured(engine: str, name: str, where: str, memory: str | None, master: str, raw: bool) -> dict[str, float]:
    """One raw GROUP BY or one scan, in this process."""
    from epsilens.data.scan.scan import scan
    from epsilens.data.tables.resources import use_memory

    use_memory(memory)
    grouped = f"SELECT {', '.join(COLUMNS[name])}, count(*) AS n FROM {{}} GROUP BY {', '.join(COLUMNS[name])}"
    counted = f"SELECT count(*), sum(CASE WHEN n = 1 THEN 1 ELSE 0 END) FROM ({grouped}) t"
    session = spark_session(master) if engine == "spark" else None
    if session is not None:
        session.range(10).count()  # executors that start are not what is measured
    elif engine == "duckdb":
        scan("epsilens:adult", ["age"])
    start, work = time.perf_counter(), time.process_time()
    made: dict[str, float] = {}
    if not raw:
        told = None if engine == "duckdb" else engine if engine == "spark" else None
        found = scan(where, COLUMNS[name], engine=told)
        made = {"isolated": found.isolated, "combinations": found.subsets[0].combinations}
    elif session is not None:
        session.read.parquet(where).createOrReplaceTempView("t")
        session.sql(counted.format("t")).collect()
    elif engine == "duckdb":
        from epsilens.data.tables.engines import connect

        with_limits = connect()
        with_limits.connection.con.execute(counted.format(f"'{where}'")).fetchall()
        with_limits.close()
    elif engine == "postgres":
        import psycopg

        with psycopg.connect(where.split("#")[0]) as con:
            con.execute(counted.format(name)).fetchall()
    else:
        import sqlite3

        with sqlite3.connect(where.split("#")[0].removeprefix("sqlite://")) as con:
            con.execute(counted.format(name)).fetchall()
    made |= {"seconds": time.perf_counter() - start, "cpu": time.process_time() - work}
    made |= {"gigabytes": peak(), "java": java_peak()}
    if session is not None:
        left = Path(os.environ["SPARK_HOME"]) / "work" / session.sparkContext.applicationId
        session.stop()
        shutil.rmtree(left, ignore_errors=True)  # what local-cluster leaves of its executors
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs="+", default=["duckdb"], choices=["duckdb", "spark", "postgres", "sqlite"])
    parser.add_argument("--rows", type=float, nargs="+", default=[1, 10], help="millions of rows")
    parser.add_argument("--table", nargs="+", default=["everyday", "unique"], choices=list(COLUMNS))
    parser.add_argument("--memory", help="what reading a table may take, 2GB say")
    parser.add_argument("--master", default="local-cluster[2,1,2048]", help="where Spark runs")
    parser.add_argument("--postgres", help="URL of a database to load the tables into")
    parser.add_argument("--folder", type=Path, help="where tables are made, and kept for the next run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=6, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        engine, name, where, memory, master, raw = options.one
        print("\n" + json.dumps(measured(engine, name, where, memory or None, master, raw == "raw")))
        return
    made = []
    print("engine    table      Mrows     isolated    raw s  raw GB   scan s  scan/raw  driver GB  Java GB", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for name in options.table:
            for millions in options.rows:
                path = folder / f"{name}{millions:g}.parquet"
                if not path.exists():
                    make(name, int(millions * 1e6), path)
                for engine in options.engine:
                    where = str(path)
                    if engine == "postgres":
                        load_postgres(options.postgres, name, path)
                        where = f"{options.postgres}#{name}"
                    elif engine == "sqlite":
                        database = folder / f"{name}{millions:g}.sqlite"
                        if not database.exists():
                            load_sqlite(database, name, path)
                        where = f"sqlite://{database}#{name}"
                    got = {}
                    for what in ("raw", "scan"):
                        arguments = [engine, name, where, options.memory or "", options.master, what]
                        command = [sys.executable, __file__, "--one", *arguments]
                        done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
                        if done.returncode:
                            print(
                                engine, name, f"{millions:g}", what, "failed:", done.stderr.strip()[-600:], flush=True
                            )
                            got[what] = {
                                "seconds": float("nan"),
                                "gigabytes": float("nan"),
                                "java": 0.0,
                                "isolated": -1,
                            }
                        else:
                            got[what] = json.loads(done.stdout.strip().splitlines()[-1])
                    raw, found = got["raw"], got["scan"]
                    made.append({"engine": engine, "table": name, "rows": int(millions * 1e6), **got})
                    print(
                        f"{engine:9s} {name:9s} {millions:6g} {found['isolated']:12,} {raw['seconds']:8.1f} "
                        f"{raw['gigabytes']:7.2f} {found['seconds']:8.1f} {found['seconds'] / raw['seconds']:9.2f} "
                        f"{found['gigabytes']:10.2f} {found['java']:8.2f}",
                        flush=True,
                    )
    if options.json:
        options.json.write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main()
