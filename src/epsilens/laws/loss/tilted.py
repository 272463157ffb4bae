"""One step under a tilt: its characteristic function, its moments, and how fast it falls.

The finite part of the loss has the law dP·e^{λL}/E e^{λL}. Normal steps stay normal; all others are a few hundred
quadrature nodes and their atoms, good for every e^{zL} up to a steepness given.

How fast a characteristic function falls is a bound on |E e^{iyL}| that holds for every y beyond a given one. Where the
loss has a density of at least κ on an interval of length w, it is with probability ω = κw uniform there, and a uniform
law has |φ(y)| = |sin θ/θ|, θ = yw/2. So |φ(y)| ≤ 1 − Σω(1 − |sin θ/θ|) over slabs that fit under the density. Atoms and
whatever lies above the slabs count as not falling at all. With |sin θ/θ| replaced by its largest value at and beyond θ,
the bound itself falls, so that it may be summed or integrated to infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from .moments import resolved
from .step import Step, Tilting

__all__ = ["MOST_NODES", "Slabs", "Tilted", "frequency", "slabs", "tilted"]

_U = 2.0**-53
_RHO = 2e-14  # relative error of the quadrature, of a mass and of a characteristic function
_UNSEEN = 1e-25  # relative mass of nodes whose rounding is of no account
MOST_NODES = 2**16
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


@dataclass(frozen=True, eq=False)
class Tilted:
    """Probabilities at losses about their mean; how wrong losses (``kappa``) and masses (``rho``) may be."""

    log_weight: Array
    weight: Array
    loss: Array
    mean: float
    log_scale: float
    kappa: float
    rho: float
    slabs: Slabs

    @property
    def nodes(self) -> int:
        """What a frequency costs."""
        return self.loss.size

    @property
    def uncut(self) -> bool:
        """It ends where the step was cut off."""
        return False

    @property
    def variance(self) -> float:
        """Of the tilted loss."""
        return float(self.weight @ self.loss**2)

    def log_moment(self, s: Array) -> Array:
        """K(λ+s) − K(λ)."""
        a = np.multiply.outer(s, self.loss) + self.log_weight  # weights of 0 may be what an opposite tilt sees
        top = a.max(axis=-1, keepdims=True)
        return np.asarray(np.log(np.exp(a - top).sum(axis=-1)) + top[..., 0] + s * self.mean)

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count: two short tables of powers, and one product of matrices."""
        block = math.isqrt(count - 1) + 1
        angle = h * self.loss
        fine = np.exp(1j * np.multiply.outer(angle, np.arange(block)))
        coarse = np.exp(1j * np.multiply.outer(block * np.arange(-(-count // block)), angle)) * self.weight
        return (coarse @ fine).ravel()[:count]

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls."""
        return self.slabs.bound(y)


def tilted(step: Step, flipped: bool, tilt: float, reach: tuple[float, float], steepness: float) -> Tilting | None:
    """The step tilted by λ between two places; ``flipped`` exchanges the laws. None if it takes too many nodes."""
    closed = step.tilted(tilt)
    if closed is not None:
        return closed
    atoms = step.atoms
    loss, log_p, error = atoms.loss, atoms.log_p, 8 * _U * np.abs(atoms.loss)
    x = density = np.zeros(0)
    if step.span is not None and reach[1] > reach[0]:
        found = resolved(step, *reach, 1 + tilt + steepness, MOST_NODES)
        if found is None:
            return None
        x, log_w = found
        here = step.loss(x)
        density = step.log_p0(x) + here
        loss, log_p = np.concatenate((loss, here)), np.concatenate((log_p, density + log_w))
        error = np.concatenate((error, step.error(x)))
    if loss.size == 0 or loss.size > MOST_NODES:
        return None
    if flipped:
        loss, log_p = -loss, log_p - loss
    log_weight = log_p + tilt * loss
    top = float(log_weight.max())
    weight = np.exp(log_weight - top)
    seen = weight > _UNSEEN
    size = float(np.max((np.abs(log_p) + (1 + tilt) * np.abs(loss))[seen]))
    kappa = float(error[seen].max())
    total = float(weight.sum())
    weight /= total
    log_scale = top + math.log(total)
    mean = float(weight @ loss)
    rho = _RHO + step.rho + 8 * _U * (size + 8) + (2 + tilt) * kappa
    uniform = Slabs(np.zeros(0), np.zeros(0))
    if x.size:
        moving = loss[atoms.loss.size :]
        of_x = density + (moving if flipped else 0.0) + tilt * moving - log_scale
        uniform = _slabs(step, x, moving, of_x, tilt)
    return Tilted(
        log_weight - log_scale, weight, loss - mean, mean, log_scale, kappa + 2 * _U * abs(mean), rho, uniform
    )


def _slabs(step: Step, x: Array, loss: Array, log_weight: Array, tilt: float) -> Slabs:
    """Uniform parts of the tilted loss, from its log density in x: in the loss it is that over the slope."""
    slope, bend, gap = step.slope(x), step.bend(x), np.diff(x)
    bent = np.maximum(bend[1:], bend[:-1])
    steepest = np.maximum(slope[1:], slope[:-1]) * np.exp(np.minimum(gap * bent, 50.0))
    change = gap * (3 * bent + (1 + tilt) * steepest)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_density = np.where(slope > 0, log_weight - np.log(slope), -np.inf)
    return slabs(np.abs(loss - loss[0]), log_density, change)
