"""Correlated records: every adversary, against the paper's Algorithm 1 written out literally, and how cost grows.

python benchmarks/correlated.py [--json FILE] [--quick]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from epsilens.attacks.correlated import chain, normal, table
from epsilens.attacks.correlated.normal_enumeration import (
    adversary_count,
    enumerate_adversaries,
    numba_available,
    pareto_front,
)
from epsilens.attacks.correlated.normal_problem import Problem
from epsilens.papers.li2019 import abstract_search, algorithm1

PROVEN = {30: 2.1296494219, 40: 2.4353818661, 60: 2.7813934033}  # papers-002-004, C(a)
CHAIN_40 = 4.3223532660  # C(b)


def timed(f: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of CPU time, which other work on the machine does not lengthen, and the result."""
    start = time.process_time()
    result = f()
    return time.process_time() - start, result


def best_of(times: int, problem: Problem, compile: bool) -> float:
    return min(timed(partial(enumerate_adversaries, problem, compile=compile))[0] for _ in range(times))


def reference(n: int) -> Any:
    """detS(n) of the reference sheet."""
    v = np.sin(np.outer(np.arange(1, n + 1), np.arange(1, 6)))
    s = v @ v.T + np.eye(n)
    sd = np.sqrt(np.diag(s))
    return s / np.outer(sd, sd)


def edges(cov: Any) -> Callable[[int, int, frozenset[int]], list[float]]:
    """One edge of Algorithm 1 for normal records, from Theorem 6 where it is needed: β(i, K′) − β(i, K)."""
    total = cov.sum(axis=1)

    def beta(i: int, known: frozenset[int]) -> float:
        first = [i, *known]
        return float(np.linalg.solve(cov[np.ix_(first, first)], total[first])[0])

    return lambda i, j, fewer: [beta(i, fewer) - beta(i, fewer | {j})]


def normal_part(quick: bool) -> dict[str, Any]:
    """Jointly normal records."""
    routes = [True, False] if numba_available() else [False]
    for compile in routes:  # compiling, or reading the cache, is not what is measured
        enumerate_adversaries(Problem(reference(6), np.ones(6)), compile=compile)
    print("jointly normal records: all adversaries, compiled / numpy")
    growth = []
    for n in (10, 12, 15, 18, 20) if quick else (10, 12, 15, 18, 20, 22, 25):
        p = Problem(reference(n), np.ones(n))
        row: dict[str, Any] = {"n": n, "adversaries": adversary_count(n)}
        for compile in routes:
            if compile or n <= 20:
                row["compiled" if compile else "numpy"] = best_of(3 if n < 20 else 1, p, compile)
        if n <= 20:
            row["front"] = timed(partial(pareto_front, p))[0]
        growth.append(row)
        print("  " + ", ".join(f"{k} {v:,.4g}" for k, v in row.items()))
    n = 11 if quick else 15
    free, _ = timed(lambda: abstract_search(np.ones(n), lambda i, j, known: [0.01], fast=False))
    whole, found = timed(lambda: abstract_search(np.ones(n), edges(reference(n)), fast=False))
    p = Problem(reference(n), np.ones(n))
    ours = {route: best_of(9, p, route) for route in routes}
    right = max(f.value for f in enumerate_adversaries(p, compile=False) or [])
    paper: dict[str, Any] = {"n": n, "seconds": whole, "search_alone_seconds": free}
    for route, took in ours.items():
        name = "compiled" if route else "numpy"
        paper |= {name: took, f"ratio_{name}": whole / took, f"ratio_search_alone_{name}": free / took}
    paper["agree"] = abs(found - right) < 1e-9  # for normal records its edges are exact
    print("  Algorithm 1, literal: " + ", ".join(f"{k} {v:,.4g}" for k, v in paper.items()))
    proofs = []
    for n in (30, 40) if quick else (30, 40, 60):
        for noise in ("scale", "sigma"):
            asked: dict[str, Any] = {noise: 1.0}
            seconds, found = timed(partial(normal(reference(n)).worst, **asked))
            same = abs(found.leakage - PROVEN[n]) < 6e-11 if noise == "scale" else None
            row = {"n": n, "noise": noise, "seconds": seconds, "nodes": found.examined, "proven": found.complete}
            proofs.append({**row, "as_referenced": same})
            print(f"  branch and bound {row}")
    return {"growth": growth, "algorithm_1": paper, "branch_and_bound": proofs}


def random_joint(n: int) -> Any:
    return np.random.default_rng(n).dirichlet(np.ones(2**n)).reshape((2,) * n)


def tables_part(quick: bool) -> dict[str, Any]:
    """Random joint tables of n binary records; the literal Algorithm 1 where it ends."""
    print("tables of binary records: all adversaries and their known values, seconds")
    growth, paper = [], []
    for n in (8, 10, 12) if quick else (8, 9, 10, 11, 12, 13, 14):
        seconds, found = timed(partial(table(random_joint(n)).worst, scale=1.0))
        growth.append({"n": n, "adversaries": n * 3 ** (n - 1), "seconds": seconds, "exact": found.complete})
        print("  " + ", ".join(f"{k} {v:,.4g}" for k, v in growth[-1].items()))
    for n in (4, 5, 6) if quick else (4, 5, 6, 7, 8):
        model = table(random_joint(n))
        whole, told = timed(partial(algorithm1, model))
        ours, found = timed(partial(model.worst, scale=1.0))
        row = {"n": n, "algorithm_1": whole, "ours": ours, "ratio": whole / ours, "told": told, "exact": found.leakage}
        paper.append(row)
        print("  Algorithm 1, literal: " + ", ".join(f"{k} {v:,.4g}" for k, v in row.items()))
    return {"growth": growth, "algorithm_1": paper}


def chains_part(quick: bool) -> dict[str, Any]:
    """The chain of the reference sheet."""
    print("chains of two states: seconds")
    growth = []
    for n in (20, 40) if quick else (20, 40, 80, 160):
        model = chain([2 / 3, 1 / 3], [[0.9, 0.1], [0.2, 0.8]], n)
        seconds, found = timed(partial(model.worst, scale=1.0))
        row: dict[str, Any] = {"n": n, "seconds": seconds, "leakage": found.leakage, "exact": found.complete}
        row["as_referenced"] = abs(found.leakage - CHAIN_40) < 6e-11 if n == 40 else None
        growth.append(row)
        print("  " + ", ".join(f"{k} {v}" for k, v in row.items() if v is not None))
    return {"growth": growth}


PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "normal": normal_part,
    "tables": tables_part,
    "chains": chains_part,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(PARTS))
    options = parser.parse_args()
    out = {name: part(options.quick) for name, part in PARTS.items() if options.only in (None, name)}
    if options.json:
        with open(options.json, "w") as f:
            json.dump(out, f, indent=2)


if __name__ == "__main__":
    main()
