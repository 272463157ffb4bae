"""Where the likelihood ratio of two mixtures of equal normals turns: every place, with a certificate."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from ..checks import Array
from ..laws.lines import Normals
from ..solve import root

__all__ = ["turning_points"]

_FAR = 765.0  # further than the pair of laws is ever looked at
_STILL = 1e-13  # a turn of the log-likelihood ratio smaller than this is none


def _moments(line0: Normals, line1: Normals, x: Array) -> tuple[Array, Array]:
    """llr'(x), the mean location given x under H1 minus that under H0 (σ = 1), and the larger of their variances."""
    means, variances = [], []
    for line in (line1, line0):
        at = np.asarray(line.locations)
        share = softmax(np.log(line.weights) - (x[..., None] - at) ** 2 / 2, axis=-1)
        mean = (share * at).sum(axis=-1)
        means.append(mean)
        variances.append((share * (at - mean[..., None]) ** 2).sum(axis=-1))
    return np.asarray(means[0] - means[1]), np.maximum(*variances)


def turning_points(line0: Normals, line1: Normals) -> tuple[float, ...]:
    """The zeros of llr' where it changes sign.

    llr'' is a difference of two variances V of the location given x; with R the range of the locations V is at most
    R²/4 and changes by at most R·V (a third moment), so V ≤ V(a)·e^{R·width} on an interval from a. Where llr' is
    larger at both ends than that allows it to fall, it has no zero inside; other intervals are halved until they are
    settled or the ratio could move by no more than rounding.
    """
    places = np.asarray([*line0.locations, *line1.locations])
    reach = float(np.ptp(places))
    edges = np.unique(
        np.concatenate(
            (np.linspace(places.min() - _FAR, places.max() + _FAR, 257), np.linspace(places.min(), places.max(), 257))
        )
    )
    left, right = edges[:-1], edges[1:]
    found: list[float] = []
    for _ in range(60):
        if not left.size:
            break
        (a, variance), (b, _), width = _moments(line0, line1, left), _moments(line0, line1, right), right - left
        bend = np.minimum(variance * np.exp(np.minimum(reach * width, 700.0)), reach**2 / 4)
        crosses = np.sign(a) * np.sign(b) < 0
        settled = ~crosses & (np.minimum(np.abs(a), np.abs(b)) > bend * width)
        settled |= (np.maximum(np.abs(a), np.abs(b)) + bend * width) * width < _STILL
        alone = crosses & (width < 1e-6)
        if alone.any():
            at = root(lambda x: _moments(line0, line1, x)[0], left[alone], right[alone], atol=1e-15)
            found += at.tolist()
        open_ = ~alone & ~(settled & ~crosses)
        middle = (left[open_] + right[open_]) / 2
        left, right = np.concatenate((left[open_], middle)), np.concatenate((middle, right[open_]))
    return tuple(sorted(found))
