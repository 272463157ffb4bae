"""How fast a characteristic function falls: a bound on |E e^{iyL}| that holds for every y beyond a given one.

Where the loss has a density of at least κ on an interval of length w, it is with probability ω = κw uniform there, and
a uniform law has |φ(y)| = |sin θ/θ|, θ = yw/2. So |φ(y)| ≤ 1 − Σω(1 − |sin θ/θ|) over slabs that fit under the
density. Atoms and whatever lies above the slabs count as not falling at all. With |sin θ/θ| replaced by its largest
value at and beyond θ, the bound itself falls, so that it may be summed or integrated to infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...checks import Array

__all__ = ["Slabs", "frequency", "slabs"]

_LEVELS = 0.75 ** np.arange(32)
_PEAKS = 3
_SECOND = 0.21724  # the height of the second lobe of |sin θ/θ|, rounded up
_GRID = 1.12 ** np.arange(-12, 180)


@dataclass(frozen=True, eq=False)
class Slabs:
    """Uniform parts of a law: their masses and their lengths."""

    mass: Array
    length: Array

    def bound(self, y: Array) -> Array:
        """1 − Σω(1 − sup_{θ' ≥ θ}|sin θ'/θ'|)."""
        theta = np.multiply.outer(y, self.length / 2)
        near = np.maximum(np.sinc(np.minimum(theta, math.pi) / math.pi), _SECOND)
        with np.errstate(divide="ignore"):
            lobe = np.where(theta < math.pi, near, np.minimum(_SECOND, 1 / theta))
        return np.asarray(1 - (1 - 1e-9) * ((1 - lobe) @ self.mass))


def slabs(loss: Array, log_density: Array, change: Array) -> Slabs:
    """Slabs under a density of the loss, known at growing losses; between two, its logarithm changes by ``change``
    at most in all."""
    gap = np.diff(loss)
    with np.errstate(over="ignore"):
        least = np.exp(0.5 * (log_density[1:] + log_density[:-1] - change))  # |f'| ≤ c: above the lower of two cones
    least = np.where(gap > 0, least, 0.0)
    mass, length = [np.zeros(0)], [np.zeros(0)]
    for _ in range(_PEAKS):
        peak = int(np.argmax(least * gap)) if not np.isfinite(least).all() else int(np.argmax(least))
        top = float(least[peak])
        if not 0 < top < math.inf:
            break
        levels = top * _LEVELS
        up = np.searchsorted(-np.minimum.accumulate(least[peak:]), -levels, side="right")
        down = np.searchsorted(-np.minimum.accumulate(least[peak::-1]), -levels, side="right")
        first, stop = peak - down + 1, peak + up
        wide = loss[stop] - loss[first]
        mass.append((levels - np.append(levels[1:], 0.0)) * wide)
        length.append(wide)
        least = least.copy()
        least[first[-1] : stop[-1]] = 0.0
    return Slabs(np.concatenate(mass), np.concatenate(length))


def frequency(
    parts: Sequence[tuple[Callable[[Array], Array], int]], tilt: float, spread: float, wanted: float
) -> tuple[float, float]:
    """(Y, R): a frequency and a bound R ≤ wanted on (1/π)∫_Y^∞ Π|φ|^k/|z(z+1)| dy with z = λ + iy; Y infinite if none.

    ``parts`` are falling bounds on |φ| with their counts, ``spread`` is the standard deviation of the product: Y is
    sought on the scale of its inverse.
    """
    y = np.asarray(_GRID / spread)
    log_bound = np.zeros(y.size)
    with np.errstate(divide="ignore"):
        for bound, count in parts:
            log_bound += count * np.log(bound(y))
    height = np.exp(log_bound - 0.5 * (np.log(tilt**2 + y**2) + np.log((tilt + 1) ** 2 + y**2))) / math.pi
    pieces = np.append(height[:-1] * np.diff(y), math.exp(log_bound[-1]) / (math.pi * y[-1]))
    rest = np.cumsum(pieces[::-1])[::-1] * (1 + 1e-9)
    enough = np.flatnonzero(rest <= wanted)
    return (float(y[enough[0]]), float(rest[enough[0]])) if enough.size else (math.inf, math.inf)
