"""One step under a tilt: its characteristic function, its moments, and how fast it falls.

The finite part of the loss has the law dP·e^{λL}/E e^{λL}. Normal steps stay normal; all others are a few hundred
quadrature nodes and their atoms, good for every e^{zL} up to a steepness given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import Array
from .decay import Slabs, slabs
from .quadrature import resolved
from .step import NormalStep, Step

__all__ = ["MOST_NODES", "Tilted", "TiltedNormal", "tilted"]

_U = 2.0**-53
_RHO = 2e-14  # relative error of the quadrature, of a mass and of a characteristic function
_UNSEEN = 1e-25  # relative mass of nodes whose rounding is of no account
MOST_NODES = 2**16


@dataclass(frozen=True)
class TiltedNormal:
    """N(μ²/2 + λμ², μ²): the loss of a normal shift, tilted."""

    mu: float
    tilt: float

    @property
    def nodes(self) -> int:
        """What a frequency costs."""
        return 1

    @property
    def mean(self) -> float:
        """μ²(λ + ½)."""
        return self.mu * self.mu * (self.tilt + 0.5)

    @property
    def variance(self) -> float:
        """μ²."""
        return self.mu * self.mu

    @property
    def log_scale(self) -> float:
        """K(λ) = λ(λ+1)μ²/2."""
        return self.tilt * (self.tilt + 1) * self.variance / 2

    @property
    def kappa(self) -> float:
        """The error of a loss."""
        return 4 * _U * self.mean

    @property
    def rho(self) -> float:
        """The relative error of a mass."""
        return 16 * _U * (1 + self.log_scale)

    def log_moment(self, s: Array) -> Array:
        """K(λ+s) − K(λ)."""
        return np.asarray(s * self.mean + s * s * self.variance / 2)

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count."""
        return np.exp(-0.5 * (h * self.mu * np.arange(count)) ** 2) + 0j

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls: itself."""
        return np.exp(-0.5 * (self.mu * y) ** 2)


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


def tilted(
    step: Step, flipped: bool, tilt: float, reach: tuple[float, float], steepness: float
) -> Tilted | TiltedNormal | None:
    """The step tilted by λ between two places; ``flipped`` exchanges the laws. None if it takes too many nodes."""
    if isinstance(step, NormalStep):
        return TiltedNormal(step.mu, tilt)
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
