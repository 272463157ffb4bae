"""Both sides of a target in a chain joined for many adversaries at once, where sums are whole numbers."""

from __future__ import annotations

import numpy as np

from ...checks import Array
from .knots import suprema

__all__ = ["joined_leakages", "laid_out"]

_LEAST = -340.0  # the product of two weights above e^{−340} is still a double


def laid_out(laws: list[tuple[Array, Array]]) -> Array | None:
    """Laws (places, logs (d, R)) as weights on one grid, (R, d, laws); None where doubles cannot hold them."""
    if min(float(np.min(logs, where=np.isfinite(logs), initial=0.0)) for _, logs in laws) < _LEAST:
        return None
    length = 1 + max(int(places[-1]) for places, _ in laws)
    out = np.zeros((length, laws[0][1].shape[0], len(laws)))
    for k, (places, logs) in enumerate(laws):
        out[places.astype(int), :, k] = np.exp(logs.T)
    return out


def joined_leakages(left: Array, right: Array, own: Array, possible: Array, unit: float, scale: float) -> Array:
    """The leakage of each column: the sums of both sides (R, d, columns) and of the target's own steps ``own``.

    Sums of positive products, so that small weights keep their digits.
    """
    if left.shape[0] > right.shape[0]:
        left, right = right, left
    steps = own.astype(int)
    length = left.shape[0] + right.shape[0] - 1
    both = np.zeros((length, *left.shape[1:]))
    for k in range(left.shape[0]):
        if left[k].any():
            both[k : k + right.shape[0]] += left[k] * right
    weights = np.zeros((length + int(steps.max()), *left.shape[1:]))
    for x, step in enumerate(steps):
        if possible[x]:
            weights[step : step + length, x] = both[:, x]
    risks = suprema(np.arange(float(weights.shape[0])) * unit, weights, scale)
    return np.asarray(np.maximum(risks.reshape(-1, risks.shape[2]).max(axis=0), 0.0))
