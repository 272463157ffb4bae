"""What a plan of 32 queries takes from a table of ten million rows, against the same 32 answers as raw DuckDB queries.

Usage::

    python benchmarks/assess.py [--rows 10] [--plan rows people limits] [--repeats 3] [--json out.json]
    python benchmarks/assess.py --whole [--json out.json]

The table is Parquet in a temporary folder: visits of people (on average 2.5 each, few have more than 8), with a ward, a
sex, an age, a diagnosis, a cost, a stay and a number of procedures. The plan asks 12 counts, 8 sums and 12 averages,
half of them split by one or two columns, a third with a condition. Three plans differ in whom they protect:

* ``rows``: every row is a person, so that there is nothing to limit;
* ``people``: a person column, and limits that nobody exceeds in rows (20 rows; all 40 wards);
* ``limits``: at most 2 rows of a person and one group each, which a large part of the people exceed: the bad case.

``raw`` are 32 statements, one an answer, on the whole table: no limits, no bounds, with people counted once where the
plan counts people. ``ours`` is :func:`epsilens.plan.answers.answers_of`: the answers of the whole table, after limits
and after bounds, the people behind each, exact sums. ``sample`` is :func:`epsilens.assessment.risks.sample_people`.
They run in turn in one process, with DuckDB in the same 1 GB and on the same threads; the best of each counts, in
seconds on the clock. Memory is the peak of a process of its own.

``--whole`` measures :func:`epsilens.assess` from end to end instead, arithmetic and all: 3, 10 and 32 queries on tables
of 50,000 to a million rows, each in a process of its own, in seconds of the processor over all threads, beside the same
answers as raw statements; and how many statements the engine was given.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLE = """
SELECT (hash(i * 11 + 1) % {people})::BIGINT AS person,
       'ward ' || (hash(i * 11 + 2) % 40) AS ward,
       CASE WHEN hash(i * 11 + 3) % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
       (hash(i * 11 + 4) % 95)::INT AS age,
       'D' || (hash(i * 11 + 5) % 12) AS diagnosis,
       CASE WHEN hash(i * 11 + 6) % 50 = 0 THEN NULL ELSE (hash(i * 11 + 7) % 5000000) / 1000.0 END AS cost,
       (hash(i * 11 + 8) % 4000) / 100.0 AS stay,
       (hash(i * 11 + 9) % 9)::INT AS procedures
FROM range({rows}) t(i)
"""


def queries() -> list[dict[str, Any]]:
    """32 of them."""
    made: list[dict[str, Any]] = [{"count": True}, {"histogram": "diagnosis"}, {"histogram": "sex", "by": "ward"}]
    made += [{"count": f"age >= {a}"} for a in (18, 40, 65)]
    made += [{"count": f"diagnosis = 'D{d}'", "by": "ward"} for d in range(4)]
    made += [{"count": True, "by": "ward"}, {"count": True, "by": ["ward", "diagnosis"]}]
    numbers = {"cost": [0, 4000], "stay": [0, 30], "procedures": [0, 8]}
    for column, bounds in numbers.items():
        made += [{kind: column, "bounds": bounds} for kind in ("sum", "average")]
        made += [{kind: column, "bounds": bounds, "by": "ward"} for kind in ("sum", "average")]
        made.append({"average": column, "bounds": bounds, "by": ["ward", "sex"]})
        made.append({"average": column, "bounds": bounds, "where": "age >= 65"})
    made += [{"sum": "cost", "bounds": [0, 4000], "by": "diagnosis", "where": "sex = 'f'"}]
    made += [{"sum": "cost", "bounds": [0, 4000], "by": "diagnosis", "where": "sex = 'm'"}]
    assert len(made) == 32, len(made)
    return made


def some_queries(many: int) -> list[dict[str, Any]]:
    """So many of them; three are a count, a sum by group and an average."""
    if many == 3:
        bounds: dict[str, Any] = {"cost": [0, 4000], "stay": [0, 30]}
        total = {"sum": "cost", "bounds": bounds["cost"], "by": "ward"}
        return [{"count": True}, total, {"average": "stay", "bounds": bounds["stay"]}]
    return queries()[:: 32 // many][:many]


#: Queries, rows, plan.
WHOLE = (
    (3, 100_000, "people"), (3, 100_000, "limits"), (10, 100_000, "limits"), (32, 50_000, "people"),
    (3, 1_000_000, "people"), (3, 1_000_000, "limits"), (10, 1_000_000, "limits"),
)  # fmt: skip

PLANS: dict[str, dict[str, Any]] = {
    "rows": {},
    "people": {"person": "person", "max_rows": 20, "max_groups": 20},
    "limits": {"person": "person", "max_rows": 2},
}


def release(plan: str, path: str, many: int = 32) -> Any:
    from epsilens.plan.file import read_release

    asked = some_queries(many)
    return read_release({"data": {"table": path, **PLANS[plan]}, "queries": asked, "mechanism": {"epsilon": 1.0}})


def raw(plan: str, path: str, many: int = 32) -> list[str]:
    """The same answers in SQL, of the whole table."""
    people = "count(DISTINCT person)" if PLANS[plan] else "count(*)"
    made = []
    for query in some_queries(many):
        by = query.get("by", [])
        by = [by] if isinstance(by, str) else list(by)
        if "histogram" in query:
            by.append(query["histogram"])
        where = query["count"] if isinstance(query.get("count"), str) else query.get("where")
        what = people
        for kind, function in (("sum", "sum"), ("average", "avg")):
            if kind in query:
                what = f"{function}({query[kind]})"
        made.append(
            f"SELECT {', '.join([*by, what])} FROM '{path}'"
            + (f" WHERE {where}" if where else "")
            + (f" GROUP BY {', '.join(by)}" if by else "")
        )
    return made


def run_raw(plan: str, path: str, many: int = 32) -> None:
    from epsilens.data.tables.engines import connect

    engine = connect()  # the same memory and settings as ours
    for statement in raw(plan, path, many):
        engine.connection.con.execute(statement).fetchall()
    engine.close()


def run_ours(plan: str, path: str) -> None:
    from epsilens.data.tables.table import open_table
    from epsilens.plan.answers import answers_of

    with open_table(path) as opened:
        answers_of(opened, release(plan, path))


def run_sample(plan: str, path: str) -> None:
    from epsilens.assessment.risks import sample_people
    from epsilens.data.tables.table import open_table
    from epsilens.plan.answers import TableAnswers

    with open_table(path) as opened:
        sample_people(TableAnswers(opened, release(plan, path)))


TASKS: dict[str, Callable[[str, str], None]] = {"raw": run_raw, "ours": run_ours, "sample": run_sample}


def whole(many: int, plan: str, path: str) -> dict[str, float]:
    """One assessment in this process, beside the raw statements."""
    from epsilens.assessment.assess import assess
    from epsilens.data.tables.engines import Engine

    statements = 0

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            nonlocal statements
            statements += 1
            return method(*given)

        return run

    small = {"data": {"table": "epsilens:adult"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.0}}
    assess(small)  # imports are not what is measured
    Engine.fetch, Engine.cache = counted(Engine.fetch), counted(Engine.cache)  # type: ignore[method-assign]
    times = [time.process_time()]
    tasks: tuple[Callable[..., object], ...] = (run_raw, lambda *given: assess(release(*given)))
    for task in tasks:
        task(plan, path, many)
        times.append(time.process_time())
    return {"raw": times[1] - times[0], "ours": times[2] - times[1], "statements": statements, "gb": peak()}


def measure_whole(json_file: Path | None) -> None:
    """Every case of ``WHOLE``, each in a process of its own."""
    import duckdb

    results = []
    with tempfile.TemporaryDirectory() as folder:
        for many, rows, plan in WHOLE:
            path = Path(folder) / f"visits{rows}.parquet"
            if not path.exists():
                duckdb.connect().execute(f"COPY ({TABLE.format(rows=rows, people=rows * 2 // 5)}) TO '{path}'")
            command = [sys.executable, __file__, "--case", str(many), plan, str(path)]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            results.append({"queries": many, "rows": rows, "plan": plan, **found})
            print(
                f"{many:3} queries {rows:>9,} rows {plan:8} {found['ours']:6.2f} s  raw {found['raw']:5.2f} s "
                f"({found['ours'] / found['raw']:.1f}x)  {found['statements']:3} statements  {found['gb']:.2f} GB",
                flush=True,
            )
    if json_file:
        json_file.write_text(json.dumps(results, indent=1))


def peak() -> float:
    """The most memory this process held, in GB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e6
    return float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=10, help="millions of rows")
    parser.add_argument("--plan", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--memory", nargs=3, metavar=("TASK", "PLAN", "PATH"), help=argparse.SUPPRESS)
    parser.add_argument("--whole", action="store_true", help="whole assessments instead")
    parser.add_argument("--case", nargs=3, metavar=("QUERIES", "PLAN", "PATH"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        print(json.dumps(whole(int(asked.case[0]), *asked.case[1:])))
        return
    if asked.whole:
        measure_whole(asked.json)
        return
    if asked.memory:
        task, plan, path = asked.memory
        TASKS[task](plan, path)
        print(peak())
        return
    import duckdb

    from epsilens.data.tables.table import open_table
    from epsilens.plan.answers import answers_of

    rows, results = int(asked.rows * 1e6), []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "visits.parquet")
        duckdb.connect().execute(f"COPY ({TABLE.format(rows=rows, people=max(1, rows * 2 // 5))}) TO '{path}'")
        with open_table("epsilens:adult") as opened:  # imports are not what is measured
            answers_of(opened, release("rows", path).model_copy(update={"queries": release("rows", path).queries[:1]}))
        print(f"{rows:,} rows, 32 queries; seconds (best of {asked.repeats}), times raw, GB")
        for plan in asked.plan:
            best = dict.fromkeys(TASKS, float("inf"))
            for _ in range(asked.repeats):
                for name, task in TASKS.items():
                    start = time.perf_counter()
                    task(plan, path)
                    best[name] = min(best[name], time.perf_counter() - start)
            for name in TASKS:
                command = [sys.executable, __file__, "--memory", name, plan, path]
                memory = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                ratio = best[name] / best["raw"]
                print(f"{plan:8} {name:8} {best[name]:7.2f} s {ratio:6.2f}x {memory:6.2f} GB", flush=True)
                results.append({"plan": plan, "task": name, "seconds": best[name], "ratio": ratio, "gb": memory})
    if asked.json:
        asked.json.write_text(json.dumps({"rows": rows, "results": results}, indent=1))


if __name__ == "__main__":
    main()
