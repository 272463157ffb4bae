"""Discrete adversaries by plain enumeration: no grid, no recursion, no code of the library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np


def laws(
    joint: Any, values: Sequence[Sequence[float]], weights: Sequence[float], target: int, known: dict[int, int]
) -> list[list[tuple[float, float]]]:
    """For each value of the target the list of (sum, probability) of all rows that agree with what is known."""
    out: list[list[tuple[float, float]]] = [[] for _ in values[target]]
    for cell in product(*(range(len(v)) for v in values)):
        if all(cell[j] == v for j, v in known.items()) and joint[cell] > 0:
            out[cell[target]].append(
                (math.fsum(a * v[c] for a, v, c in zip(weights, values, cell, strict=True)), float(joint[cell]))
            )
    return out


def density(law: list[tuple[float, float]], r: float, scale: float) -> float:
    total = math.fsum(p for _, p in law)
    return math.fsum(p / total * math.exp(-abs(r - s) / scale) for s, p in law)


def leakage(
    joint: Any,
    values: Sequence[Sequence[float]],
    weights: Sequence[float],
    target: int,
    known: dict[int, int],
    scale: float,
    dense: int = 0,
) -> float:
    """max over ordered pairs of sup_r log ratio, at every place of mass and on a dense grid; −1 if impossible."""
    given = laws(joint, values, weights, target, known)
    live = [law for law in given if law]
    if not live:
        return -1.0
    if len(known) == len(values) - 1:
        reach = [weights[target] * v for v in values[target]]
        return (max(reach) - min(reach)) / scale
    places = sorted({s for law in live for s, _ in law})
    if dense:
        places += list(np.linspace(places[0] - 3 * scale, places[-1] + 3 * scale, dense))
    at = [[density(law, r, scale) for r in places] for law in live]
    return max((math.log(a / b) for one in at for other in at for a, b in zip(one, other, strict=True)), default=0.0)


def adversaries(values: Sequence[Sequence[float]]) -> Iterator[tuple[int, dict[int, int]]]:
    n = len(values)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            for known in combinations(others, size):
                for numbers in product(*(range(len(values[j])) for j in known)):
                    yield i, dict(zip(known, numbers, strict=True))
