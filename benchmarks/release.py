"""What a release of 32 queries takes from a table of ten million rows, beside the assessment of the same plan.

Usage::

    python benchmarks/release.py [--rows 10] [--plan rows people limits] [--json out.json]

The table and the plans are those of ``assess.py``, with every group listed, as a release asks for. ``assess`` is
:func:`epsilens.assess`; ``release`` is :func:`epsilens.release` of that assessment into a new ledger, with its file.
What it is made of is told before: the exact ``numbers``, the ``promise`` that is charged, the ``noise`` of OpenDP.
All run in turn in one process on DuckDB. Seconds are of the processor, over all threads, and on the clock: the first
hardly grow where the machine has other work.
"""

from __future__ import annotations

import argparse
import json
import runpy
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

ASSESS = runpy.run_path(str(Path(__file__).with_name("assess.py")))
PLANS, TABLE, queries = ASSESS["PLANS"], ASSESS["TABLE"], ASSESS["queries"]

NAMES = {"ward": [f"ward {i}" for i in range(40)], "sex": ["f", "m"], "diagnosis": [f"D{i}" for i in range(12)]}


def listed(query: dict[str, Any]) -> dict[str, Any]:
    """The query with the names of its groups."""
    by = query.get("by", [])
    by = [by] if isinstance(by, str) else list(by)
    if "histogram" in query:
        by = [query["histogram"], *by]
    if not by:
        return query
    names = list(product(*(NAMES[column] for column in by)))
    return {**query, "groups": [name[0] for name in names] if len(by) == 1 else names}


def planned(plan: str, path: str) -> Any:
    from epsilens.plan.file import read_release

    data = {"table": path, **PLANS[plan]}
    mechanism = {"epsilon": 1.0}
    return read_release({"data": data, "queries": [listed(q) for q in queries()], "mechanism": mechanism, "limits": {}})


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    clock, used = time.perf_counter(), time.process_time()
    made = work()
    return made, {"processor": time.process_time() - used, "clock": time.perf_counter() - clock}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=10, help="millions of rows")
    parser.add_argument("--plan", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    import duckdb

    import epsilens as el
    from epsilens.assessment.provenance import plan_guarantee
    from epsilens.publish.answers import draw_answers, drawings_of
    from epsilens.publish.release import exact_cells

    rows, results = int(asked.rows * 1e6), list[dict[str, Any]]()

    def told(plan: str, task: str, work: Callable[[], Any]) -> Any:
        made, took = timed(work)
        print(f"{plan:8} {task:8} {took['processor']:8.2f} {took['clock']:8.2f}", flush=True)
        results.append({"plan": plan, "task": task, **took})
        return made

    small = {"data": {"table": "epsilens:adult"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.0}}
    el.release({**small, "limits": {}}, ledger=None)  # imports are not what is measured
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "visits.parquet")
        duckdb.connect().execute(f"COPY ({TABLE.format(rows=rows, people=max(1, rows * 2 // 5))}) TO '{path}'")
        print(f"{rows:,} rows, 32 queries; seconds of the processor, and on the clock", flush=True)
        for name in asked.plan:
            plan = planned(name, path)
            kept = {"account": name, "ledger": f"{folder}/ledger.db", "output": f"{folder}/{name}.csv"}
            exact = told(name, "numbers", partial(exact_cells, plan))
            told(name, "promise", partial(plan_guarantee, plan))
            told(name, "noise", partial(draw_answers, plan, drawings_of(plan), exact))
            found = told(name, "assess", partial(el.assess, plan))
            made = told(name, "release", partial(el.release, plan, assessment=found, **kept))
            print(f"{name:8} {len(made.answers):,} answers", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps({"rows": rows, "results": results}, indent=1))


if __name__ == "__main__":
    main()
