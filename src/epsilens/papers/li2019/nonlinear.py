"""The paper's last line, queries that are not sums: exact leakage of any function of a few records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...show.words import number
from ..item import Agreement, Item


def leakage(
    joint: ArrayLike, query: Callable[..., float], target: int, known: Mapping[int, int], scale: float = 1.0
) -> float:
    """sup over answers and pairs of values of log P(r | x, x_K) − log P(r | x′, x_K), with Laplace noise.

    Given the target's value the answer is a mixture of Laplace laws at the query's values; between two of those places
    the ratio of two such mixtures is monotone, so that its supremum is at one of them.

    >>> fair = [[0.25, 0.25], [0.25, 0.25]]
    >>> round(leakage(fair, lambda a, b: a ^ b, 0, {}), 6), round(leakage(fair, lambda a, b: a ^ b, 0, {1: 1}), 6)
    (0.0, 1.0)
    """
    table = checks.at_least("joint", joint, 0.0)
    scale = float(checks.positive("scale", checks.scalar("scale", scale)))
    laws: dict[int, dict[float, float]] = {}
    for world in product(*(range(size) for size in table.shape)):
        if all(world[k] == value for k, value in known.items()) and table[world] > 0:
            law = laws.setdefault(world[target], {})
            at = float(query(*world))
            law[at] = law.get(at, 0.0) + float(table[world])
    places = sorted({at for law in laws.values() for at in law})
    heights = {
        value: np.log(
            [sum(w * math.exp(-abs(r - at) / scale) for at, w in law.items()) / sum(law.values()) for r in places]
        )
        for value, law in laws.items()
    }
    found = max((float(np.max(a - b)) for a in heights.values() for b in heights.values()), default=0.0)
    return float(round(found, 14))


_QUERIES: dict[str, Callable[..., float]] = {
    "sum": lambda a, b: a + b,
    "product (both have it)": lambda a, b: a * b,
    "maximum (one has it)": lambda a, b: max(a, b),
    "exclusive or": lambda a, b: a ^ b,
}


def item() -> Item:
    """Leakage of four queries of two records, independent and correlated, to three adversaries."""
    joints = {"independent": [[0.25, 0.25], [0.25, 0.25]], "correlated 0.6": [[0.4, 0.1], [0.1, 0.4]]}
    records: list[dict[str, Any]] = [
        {
            "query": name,
            "records": which,
            "nothing known": leakage(joint, query, 0, {}),
            "x2 = 0 known": leakage(joint, query, 0, {1: 0}),
            "x2 = 1 known": leakage(joint, query, 0, {1: 1}),
        }
        for name, query in _QUERIES.items()
        for which, joint in joints.items()
    ]
    cells = tuple((r["query"], r["records"], *(number(v) for v in list(r.values())[2:])) for r in records)
    return Item(
        "Queries that are not sums: future work of the paper",
        ("query", "records", "nothing known", "x2 = 0 known", "x2 = 1 known"),
        cells,
        (
            "Two records in {0, 1}, Laplace noise of scale 1, target x1. The supremum is exact: it is attained at one "
            "of the places where the answer can be without noise.",
        ),
        tuple(records),
        "Future work will extend the analysis to nonlinear queries.",
        "Any function of a few records, exactly.",
        Agreement.BEYOND,
        "Theorem 1, that independent records leak the same whatever is known, is of sums alone: an exclusive or leaks "
        "0 to who knows nothing and 1 to who knows the other record.",
    )
