"""The chain rule and the two searching algorithms of the paper, as printed.

.. warning::

   ``chain_rule``, ``algorithm1`` and ``algorithm2`` follow the printed Theorems 2 and 5 and Algorithms 1 and 2. They
   are **unsafe**: neither exact nor upper bounds. Nothing else in the library uses them; ``epsilens.correlated``
   computes the same leakage exactly.

What is wrong in print: (9)–(11) look at r → −∞ only, at one order of the two values, and at no answer in between; they
combine the leakage of one pair of values with the correlation term of another. The result is below the truth in up to
half of random tables. Algorithm 2 is said to overestimate; the nodes it drops are lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...attacks.correlated.tables import Table as Records
from ...checks import Array

Node = tuple[int, frozenset[int]]
#: The correlation terms IC between target i and record j, given the set K′ of known records.
Terms = Callable[[int, int, frozenset[int]], list[float]]


def correlation_terms(model: Records, i: int, j: int, known: Mapping[int, int], scale: float) -> list[float]:
    """Γ of (10): IC of (9) for every pair of values x_{i,m}, x_{i,n}, m < n, of the target that can occur.

    Literally: log of Σ P(x_j | x_i, x_K′)e^{−x_j/λ} at the smaller value over the same at the larger.
    """
    index: tuple[Any, ...] = tuple(known.get(k, slice(None)) for k in range(model.n))
    left = [k for k in range(model.n) if k not in known]
    drop = tuple(axis for axis, k in enumerate(left) if k not in (i, j))
    both = model.joint[index].sum(axis=drop)
    both = both if i < j else both.T
    weighted = both @ np.exp(-(model.parts.values[j] - model.parts.values[j].min()) / scale)
    mass = both.sum(axis=1)
    order = [int(x) for x in np.argsort(model.parts.values[i]) if mass[x] > 0]
    with np.errstate(divide="ignore"):
        level = np.log(weighted) - np.log(np.where(mass > 0, mass, 1.0))
    return [float(level[x] - level[y]) for x, y in combinations(order, 2)]


def chain_rule(model: Records, i: int, known: Mapping[int, int], scale: float) -> float:
    """Theorem 5, unsafe: |… |LS_i/λ + IC| + … | with the known values kept, the largest child over x_j, the least path.

    >>> from epsilens.attacks.correlated import table
    >>> round(chain_rule(table([[0.5, 0.0], [0.25, 0.25]]), 0, {}, 1.0), 10)  # the truth is 1.6201145070
    1.379885493
    """
    cache: dict[tuple[tuple[int, int], ...], float] = {}

    def value(given: dict[int, int]) -> float:
        if len(given) == model.n - 1:
            return float(model.reach[i]) / scale
        key = tuple(sorted(given.items()))
        if key not in cache:
            paths = []
            for j in (k for k in range(model.n) if k != i and k not in given):
                terms = correlation_terms(model, i, j, given, scale)
                children = [
                    value(given | {j: v})
                    for v in range(model.joint.shape[j])
                    if len(given) == model.n - 2 or _probability(model, given | {j: v}) > 0
                ]
                if terms:
                    paths.append(max(abs(max(children) + term) for term in terms))
            cache[key] = min(paths, default=0.0)
        return cache[key]

    return value(dict(known))


def _probability(model: Records, known: Mapping[int, int]) -> float:
    return float(model.joint[tuple(known.get(k, slice(None)) for k in range(model.n))].sum())


def _layers(reach: Array, terms: Terms, scale: float, keep: int | None) -> tuple[float, dict[Node, float]]:
    """Lines 1–11 of Algorithm 1; ``keep`` is line 5 of Algorithm 2."""
    n = len(reach)
    layer: dict[Node, float] = {(i, frozenset(range(n)) - {i}): float(reach[i]) / scale for i in range(n)}
    every, best = dict(layer), max(layer.values())
    for _ in range(2, n + 1):
        following: dict[Node, float] = {}
        for (i, known), value in layer.items():
            for j in known:
                fewer = known - {j}
                moved = max((abs(value + term) for term in terms(i, j, fewer)), default=value)
                node = (i, fewer)
                following[node] = min(following.get(node, math.inf), moved)
        if keep is not None:
            following = dict(sorted(following.items(), key=lambda item: -item[1])[:keep])
        layer = following
        every |= layer
        best = max(best, *layer.values())
    return best, every


def _terms(model: Records, scale: float) -> Terms:
    """Edge values of a joint distribution: the terms for all values of the known records that can occur."""
    cache: dict[tuple[int, int, frozenset[int]], list[float]] = {}

    def terms(i: int, j: int, known: frozenset[int]) -> list[float]:
        if (i, j, known) not in cache:
            listed = sorted(known)
            found: list[float] = []
            for numbers in product(*(range(model.joint.shape[k]) for k in listed)):
                given = dict(zip(listed, numbers, strict=True))
                if _probability(model, given) > 0:
                    found += correlation_terms(model, i, j, given, scale)
            cache[i, j, known] = found
        return cache[i, j, known]

    return terms


def algorithm1(model: Records, scale: float = 1.0) -> float:
    """Full-space searching as printed; **unsafe**: can fall below the true worst leakage.

    >>> from epsilens.attacks.correlated import table
    >>> m = table([[0.75, 0.15], [0.05, 0.05]])
    >>> round(algorithm1(m), 6), round(m.worst(scale=1.0).leakage, 6)
    (1.268559, 1.368282)
    """
    return _layers(model.reach, _terms(model, scale), scale, None)[0]


def algorithm2(model: Records, scale: float = 1.0) -> float:
    """Fast searching as printed, n nodes kept per layer; **unsafe**: can fall below Algorithm 1 and below the truth."""
    return _layers(model.reach, _terms(model, scale), scale, model.n)[0]


def abstract_search(reach: ArrayLike, terms: Terms, *, fast: bool, scale: float = 1.0) -> float:
    """Either algorithm on edge values that need not come from any data, as the paper's Figures 4 and 5 use them."""
    sizes = np.asarray(reach, dtype=float)
    return _layers(sizes, terms, scale, sizes.size if fast else None)[0]
