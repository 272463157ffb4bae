"""Sparse vector: which queries are above a threshold, in the variants of Lyu, Su and Li (2017), figure 1.

The threshold and each query get Laplace noise, and the answers stop after c queries above. Left out or halved in one
place, as in several publications, the promise is gone. Queries have sensitivity 1 and need not be monotone; the pairs
are those of the counterexamples in that paper, but for the variant that publishes values. An answer is 1 (above), 0
(below) or, where the variant publishes it, the noisy value of the query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...checks import Array
from .case import EPSILENS, Case, Mechanism

_GRID = 1024.0


def sparse_vector(
    queries: Sequence[float],
    runs: int,
    rng: np.random.Generator,
    *,
    threshold_scale: float,
    query_scale: float,
    most: float,
    values: bool = False,
    fresh_scale: float = 0.0,
) -> Array:
    """Runs in rows: 1 for each query above the threshold 0, else 0; NaN once ``most`` were above.

    With ``values`` the noisy query itself is published where it is above, and NaN where it is below; it is rounded, so
    that its last bits say nothing. With a ``fresh_scale`` the threshold's noise is drawn anew after each answer above.

    >>> sparse_vector([90, -90, 90, 90], 1, np.random.default_rng(1), threshold_scale=1, query_scale=1, most=2).tolist()
    [[1.0, 0.0, 1.0, nan]]
    """
    rho = rng.laplace(0.0, threshold_scale, runs)
    told = np.full((runs, len(queries)), np.nan)
    above = np.zeros(runs)
    for i, query in enumerate(queries):
        noisy = query + (rng.laplace(0.0, query_scale, runs) if query_scale else np.zeros(runs))
        asked = above < most
        over = asked & (noisy >= rho)
        if values:
            told[over, i] = np.floor(noisy[over] * _GRID) / _GRID
        else:
            told[asked, i] = over[asked]
        above += over
        if fresh_scale:
            rho = np.where(over, rng.laplace(0.0, fresh_scale, runs), rho)
    return told


def _variant(**how: Any) -> Callable[[int | None], Mechanism]:
    def make(seed: int | None) -> Mechanism:
        rng = np.random.default_rng(seed)
        return lambda d, n: sparse_vector(d, n, rng, **how)

    return make


_M = 6  # queries on each side of a counterexample
_C = 6  # answers above
_SPLIT = ([0.0] * (2 * _M), [1.0] * _M + [-1.0] * _M)
_SPLIT_WORDS = (f"{2 * _M} queries with answer 0", f"{_M} with answer 1, then {_M} with −1")
_LAST = ([0.0] * 5, [1.0] * 5)
_LAST_WORDS = ("5 queries with answer 0", "5 queries with answer 1")
_SWAP = ([0.0, 1.0], [1.0, 0.0])
_SWAP_WORDS = ("queries with answers 0, 1", "queries with answers 1, 0")


def _case(
    name: str, about: str, pair: tuple[Any, Any], words: tuple[str, str], how: dict[str, Any], **more: Any
) -> Case:
    return Case(name, about, EPSILENS, "ε = 1", lambda: 1.0, _variant(**how), *pair, words, batch=True, **more)


CASES = (
    _case(
        "sparse-no-query-noise", "Variant 5: noise on the threshold only, and no limit on answers above.",
        _SWAP, _SWAP_WORDS, {"threshold_scale": 2.0, "query_scale": 0.0, "most": math.inf}, broken=True,
        twin="sparse-swap",
    ),
    _case(
        "sparse-swap",
        "Variant 1 (correct) on the same queries: noise 2 on the threshold, 4 on queries, at most one above.",
        _SWAP, _SWAP_WORDS, {"threshold_scale": 2.0, "query_scale": 4.0, "most": 1},
    ),
    _case(
        "sparse-no-limit", "Variant 6: noise 2 on the threshold and on every query, and no limit on answers above.",
        _SPLIT, _SPLIT_WORDS, {"threshold_scale": 2.0, "query_scale": 2.0, "most": math.inf}, broken=True,
        twin="sparse-split",
    ),
    _case(
        "sparse-little-noise",
        f"Variant 4: noise 4 on the threshold, 4/3 on queries whatever c, at most c = {_C} above.",
        _SPLIT, _SPLIT_WORDS, {"threshold_scale": 4.0, "query_scale": 4 / 3, "most": _C}, broken=True,
        twin="sparse-split",
    ),
    _case(
        "sparse-fresh",
        f"Variant 2 (correct): the threshold's noise is drawn anew after each of at most c = {_C} above.",
        _SPLIT, _SPLIT_WORDS,
        {"threshold_scale": 2.0 * _C, "query_scale": 4.0 * _C, "most": _C, "fresh_scale": 2.0 * _C},
    ),
    _case(
        "sparse-split", f"Variant 1 (correct) on the same queries, at most c = {_C} above.", _SPLIT, _SPLIT_WORDS,
        {"threshold_scale": 2.0, "query_scale": 4.0 * _C, "most": _C},
    ),
    _case(
        "sparse-values", "Variant 3: the noisy value that was above the threshold is published, not only that it was.",
        _LAST, _LAST_WORDS, {"threshold_scale": 2.0, "query_scale": 2.0, "most": 1, "values": True}, broken=True,
        twin="sparse-last", runs=500_000, fixed=True,
    ),
    _case(
        "sparse-last", "Variant 1 (correct) on the same queries, at most one above.", _LAST, _LAST_WORDS,
        {"threshold_scale": 2.0, "query_scale": 4.0, "most": 1}, runs=500_000, fixed=True,
    ),
)  # fmt: skip
