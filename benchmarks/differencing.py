"""The curve of paper 001's Figure 1, exactly, beside its corrected Algorithm 2 at a stated accuracy.

python benchmarks/differencing.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import epsilens as el
from epsilens.papers.ashena2021 import Attack, estimate


def median_ms(f: Callable[[], object], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        f()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    options = parser.parse_args()
    epsilon = np.linspace(0.01, 20, 2000)
    exact = median_ms(lambda: el.attacks.differencing(epsilon=epsilon).success(), 51)
    rows: list[dict[str, Any]] = []
    for width in (0.02, 0.005):
        sample = epsilon[::200]
        start = time.perf_counter()
        runs = [estimate(Attack(epsilon=float(e)), width=width, seed=i) for i, e in enumerate(sample)]
        simulated = (time.perf_counter() - start) * 1e3 * len(epsilon) / len(sample)
        truth = np.asarray(el.attacks.differencing(epsilon=sample).success())
        inside = sum(r.low <= t <= r.high for r, t in zip(runs, truth, strict=True))
        rows.append({"width": width, "ms": simulated, "ratio": simulated / exact, "inside": f"{inside}/{len(sample)}"})
    out = {
        "points": len(epsilon),
        "exact_ms": exact,
        "target_ms": 1.0,
        "met": exact < 1.0,
        "algorithm_2": rows,
    }
    verdict = "met" if exact < 1 else "MISSED"
    print(f"Figure 1, {len(epsilon)} values of epsilon: exact {exact:.3f} ms (target < 1 ms: {verdict})")
    for row in rows:
        print(
            f"  corrected Algorithm 2 to a 99% interval of width {row['width']}: {row['ms'] / 1e3:.1f} s "
            f"(extrapolated from 10 values), {row['ratio']:.0f}x slower; truth inside {row['inside']}"
        )
    if options.json:
        with open(options.json, "w") as f:
            json.dump(out, f, indent=2)


if __name__ == "__main__":
    main()
