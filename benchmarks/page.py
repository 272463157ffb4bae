"""How long a slider waits: updates of the Explain view over loopback, each at an ε nobody asked for before.

python benchmarks/page.py [--updates N] [--json FILE]

An update is what the browser sends while a slider moves; the answer is the whole view, sentence, pictures, both curves
and every reading. The limit is 150 ms. Beside it: the same again (kept charts), and the charts alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import threading
import time
from typing import Any

import uvicorn

import epsilens as el
from epsilens.cli.app import listen
from epsilens.overview import marked_curve
from epsilens.show import charts
from epsilens.web.app import create_app

LIMIT_MS = 150.0


def served() -> tuple[uvicorn.Server, int]:
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="error", access_log=False))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return server, listening.getsockname()[1]


def update(connection: http.client.HTTPConnection, query: str) -> float:
    start = time.perf_counter()
    connection.request("GET", f"/explain?{query}", headers={"HX-Request": "true"})
    answer = connection.getresponse()
    body = answer.read()
    took = (time.perf_counter() - start) * 1e3
    assert answer.status == 200, body[:200]
    return took


def summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median_ms": round(statistics.median(ordered), 1),
        "p95_ms": round(ordered[int(0.95 * len(ordered))], 1),
        "max_ms": round(ordered[-1], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--json")
    options = parser.parse_args()
    server, port = served()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    update(connection, "mechanism=laplace&epsilon=1")
    time.sleep(3)  # what starts with the server has started
    results: dict[str, Any] = {}
    for name in ("laplace&epsilon", "gaussian&sigma", "staircase&epsilon", "discrete-gaussian&sigma"):
        queries = [f"mechanism={name}={0.3 + 0.037 * i:.4g}" for i in range(options.updates)]
        results[name.partition("&")[0]] = summary([update(connection, q) for q in queries])
        if name.startswith("laplace"):
            results["laplace, kept"] = summary([update(connection, q) for q in queries])
    server.should_exit = True
    rendered = []
    for i in range(10):
        e = el.laplace(epsilon=0.31 + 0.1 * i)
        start = time.perf_counter()
        for chart in (charts.marked(marked_curve(e, name)) for name in ("roc", "precision_recall")):
            chart.svg("page", chart.phone)
        rendered.append((time.perf_counter() - start) * 1e3)
    results["two charts alone"] = summary(rendered)
    for name, found in results.items():
        told = "   ".join(f"{key.removesuffix('_ms')} {value:6.1f} ms" for key, value in found.items())
        print(f"{name:32} {told}")
    kept = "kept" if results["laplace"]["p95_ms"] <= LIMIT_MS else "BROKEN"
    print(f"limit {LIMIT_MS:g} ms: {kept} at p95 for laplace")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
