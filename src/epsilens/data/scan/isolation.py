"""Two summaries of isolation: how large the classes are, and what each column contributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .result import ColumnShare
from .rollup import Subset

__all__ = ["class_sizes", "column_shares"]

_SIZES = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 9), (10, 19), (20, 99), (100, None))


def class_sizes(people: NDArray[Any], times: NDArray[Any]) -> dict[str, int]:
    """How many combinations are shared by 1, 2, 3, 4, 5–9, … people."""
    made = {}
    for low, high in _SIZES:
        inside = (people >= low) & (people <= (high or np.iinfo(np.int64).max))
        name = f"{low}+" if high is None else str(low) if low == high else f"{low}-{high}"
        made[name] = int(times[inside].sum())
    return made


def column_shares(quasi: tuple[str, ...], counts: Mapping[Subset, int]) -> tuple[ColumnShare, ...]:
    r"""Each column's part in isolation: alone, what is lost without it, and its Shapley value.

    :math:`\phi_c=\sum_{S\not\ni c}\frac{|S|!\,(m-|S|-1)!}{m!}\,(v(S\cup c)-v(S))` with v the people isolated.
    """
    m = len(quasi)
    everything = tuple(range(m))
    made = []
    for c, name in enumerate(quasi):
        lost = shapley = None
        if everything in counts:
            value = {(): 0, **counts}
            lost = counts[everything] - value[tuple(j for j in everything if j != c)]
            shapley = 0.0
            for subset, people in value.items():
                if c not in subset:
                    joined = tuple(sorted((*subset, c)))
                    weight = 1 / (m * math.comb(m - 1, len(subset)))
                    shapley += weight * (value[joined] - people)
        made.append(ColumnShare(name, counts[(c,)], lost, shapley))
    return tuple(made)
