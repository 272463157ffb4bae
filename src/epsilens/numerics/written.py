"""Numbers as JSON takes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["written"]


def written(value: Any) -> Any:
    """Floats, lists of them and truth values; null for what JSON cannot hold.

    >>> written(np.array([1.0, np.inf])), written(np.float64(2)), written(True)
    ([1.0, None], 2.0, True)
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [written(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
