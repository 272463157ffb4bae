"""Figures 2, 4 and 5 of paper 004: Bayes' rule by enumeration, the sheet, and the printed search node by node."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from epsilens.papers.li2019 import abstract_search, figures
from epsilens.papers.li2019.figures import beliefs, random_graph


@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.0, 0.3, 1.0])
def test_beliefs_by_enumerating_the_four_worlds(rho: float) -> None:
    weight = {
        (a, b): (1 + rho) / 4 if a == b else (1 - rho) / 4 for a, b in product((0, 1), repeat=2)
    }  # fmt: skip
    seen = {w: p * math.exp(-abs(2 - sum(w))) for w, p in weight.items()}
    nothing = sum(p for (a, _), p in seen.items() if a) / sum(seen.values())
    knowing = seen[1, 1] / (seen[1, 1] + seen[0, 1])
    assert beliefs(rho) == pytest.approx((nothing, knowing), abs=1e-12)


@pytest.mark.parametrize(("n", "mean"), [(4, 0.5), (5, -0.4), (5, 0.2)])
def test_the_vectorised_search_is_the_printed_one(n: int, mean: float) -> None:
    """The same edges through the algorithm that walks the graph node by node."""
    rng = np.random.default_rng(7)
    a = abs(mean) * 2
    edges = math.copysign(1, mean) * rng.beta(a, 2 - a, size=(n, n - 1, 2 ** (n - 1)))

    def terms(i: int, j: int, known: frozenset[int]) -> list[float]:
        others = [k for k in range(n) if k != i]
        mask = sum(1 << others.index(k) for k in known)
        return [float(edges[i, others.index(j), mask])]

    full, fast = random_graph(n, mean, 7)
    assert max(full) == pytest.approx(abstract_search(np.ones(n), terms, fast=False), rel=1e-12)
    assert max(fast) == pytest.approx(abstract_search(np.ones(n), terms, fast=True), rel=1e-12)


def test_layers_of_normal_records() -> None:
    item = next(item for item in figures.items() if item.title.startswith("Figure 4(c)"))
    record = next(r for r in item.records if r["correlation"] == 0.8)
    shown = [record[f"layer {k}"] for k in (1, 5, 10, 15)]
    assert shown == pytest.approx([1, 1.355556, 2.44, 12.2], abs=6e-7)
    assert len(record) == 16


def test_the_edges_of_the_graph() -> None:
    item = next(item for item in figures.items() if item.title.startswith("Figure 5"))
    steps = {(p["series"], p["x"]): p["y"] for p in item.charts[3].data}
    for n in (2, 3, 6):
        nodes = [(i, k) for i in range(n) for k in range(2**n) if not k >> i & 1]
        assert steps["full", float(n)] == sum(bin(k).count("1") for _, k in nodes)
