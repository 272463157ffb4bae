"""Releases of a sample: one step of Poisson sampling, where a person is drawn with a probability, or not at all.

Adding or removing a person mixes H1 with H0 (``Sampled``); ``Flagged`` tells whether the person was drawn. Where one
record is exchanged for another, see :mod:`.loss_replaced`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...checks import Array
from .step import Atoms, Step

__all__ = ["Flagged", "Sampled", "mix", "sampled_atoms", "unmix"]

_U = 2.0**-53
_LOG2 = math.log(2.0)


def mix(loss: Array, rate: float) -> Array:
    """log(1 − q + q·e^L), in the form that keeps its digits."""
    loss = np.asarray(loss, dtype=float)
    if rate == 1:
        return loss
    if rate > 0.5:
        with np.errstate(over="ignore"):
            near = np.log1p(rate * np.expm1(np.clip(loss, -1.0, 30.0)))
        far = np.logaddexp(math.log1p(-rate), math.log(rate) + loss)
        return np.asarray(np.where((loss > -1) & (loss < 30), near, far))
    if loss.size == 0 or float(loss.max()) < 30:
        return np.asarray(np.log1p(rate * np.expm1(loss)))
    with np.errstate(over="ignore"):
        near = np.log1p(rate * np.expm1(np.minimum(loss, 30.0)))
        far = loss + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(loss, 30.0)))
    return np.asarray(np.where(loss < 30, near, far))


def unmix(loss: Array, rate: float) -> Array:
    """The inverse: log((e^L − 1 + q)/q); −∞ at and below log(1 − q)."""
    loss = np.asarray(loss, dtype=float)
    if rate == 1:
        return loss
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        near = np.log1p(np.maximum(np.expm1(np.minimum(loss, 30.0)) / rate, -1.0))
        if loss.size == 0 or float(loss.max()) < 30:
            return np.asarray(near)
        far = loss - math.log(rate) + np.log1p(-(1 - rate) * np.exp(-np.maximum(loss, 30.0)))
    return np.asarray(np.where(loss < 30, near, far))


@dataclass(frozen=True)
class Sampled:
    """Poisson sampling, add/remove: H0 against (1−q)·H0 + q·H1 (Zhu, Dong & Wang 2022, Theorem 11).

    The loss becomes log(1 − q + q·e^L), a growing function of the old one.
    """

    base: Step
    rate: float
    mirrored: bool = field(default=False, repr=False)

    @property
    def rho(self) -> float:
        """As the base."""
        return self.base.rho

    @property
    def span(self) -> tuple[float, float] | None:
        """As the base."""
        return self.base.span

    @property
    def knots(self) -> tuple[float, ...]:
        """As the base."""
        return self.base.knots

    @property
    def atoms(self) -> Atoms:
        """The base's, mixed."""
        return sampled_atoms(self.base.atoms, self.rate)

    @property
    def ends(self) -> tuple[float, float]:
        """The base's, mixed."""
        low, high = self.base.ends
        return float(mix(np.asarray(low), self.rate)), float(mix(np.asarray(high), self.rate))

    def loss(self, x: Array) -> Array:
        """log(1 − q + q·e^L)."""
        return mix(self.base.loss(x), self.rate)

    def slope(self, x: Array) -> Array:
        """q·e^{L−L'} times the base's."""
        inner = self.base.loss(x)
        share = np.exp(np.minimum(math.log(self.rate) + inner - mix(inner, self.rate), 0.0))
        return np.asarray(self.base.slope(x) * share)

    def place(self, loss: Array) -> Array:
        """Through the base's loss."""
        assert self.base.span is not None
        low, high = self.base.span
        inner = unmix(loss, self.rate)
        with np.errstate(invalid="ignore"):
            x = self.base.place(inner)
        return np.asarray(np.where(np.isneginf(inner), low, np.where(np.isposinf(inner), high, x)))

    def log_p0(self, x: Array) -> Array:
        """As the base."""
        return self.base.log_p0(x)

    def bend(self, x: Array) -> Array:
        """Mixing only flattens."""
        return self.base.bend(x)

    def error(self, x: Array) -> Array:
        """The base's error, damped by dL'/dL = q·e^{L−L'}, and that of the mixing and its inverse."""
        inner, outer = self.base.loss(x), self.loss(x)
        with np.errstate(over="ignore"):
            damp = np.minimum(self.rate * np.exp(np.minimum(inner - outer, 700.0)), 1.0)
            return np.asarray(
                damp * self.base.error(x) + 16 * _U * (np.abs(outer) + np.abs(np.expm1(-outer)) + 8 * damp * _U)
            )

    def above(self, x: float) -> tuple[float, float]:
        """The mixture of both."""
        p, q = self.base.above(x)
        return self._mixed(p, q), q

    def below(self, x: float) -> tuple[float, float]:
        """The mixture of both."""
        p, q = self.base.below(x)
        return self._mixed(p, q), q

    def _mixed(self, log_p: float, log_q: float) -> float:
        return float(np.logaddexp(math.log1p(-self.rate) + log_q, math.log(self.rate) + log_p))

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """High enough for either part of the mixture."""
        low, high = self.base.reach(min(log_top - math.log(self.rate) - _LOG2, -_LOG2), log_bottom)
        if self.above(high)[0] > log_top and self.base.span is not None:
            _, high = self.base.reach(log_top, log_bottom)
        return low, high


def sampled_atoms(atoms: Atoms, rate: float) -> Atoms:
    """Atoms after Poisson sampling: what only H0 shows keeps the loss log(1 − q)."""
    loss = mix(atoms.loss, rate)
    log_p = atoms.log_p - atoms.loss + loss
    if atoms.only0 > 0:
        least = math.log1p(-rate)
        loss = np.append(loss, least)
        log_p = np.append(log_p, math.log(atoms.only0) + least)
    return Atoms(loss, log_p, 0.0, rate * atoms.only1)


@dataclass(frozen=True)
class Flagged:
    """The base with probability q, nothing at all otherwise, and the adversary is told which.

    Bounds Poisson sampling when a record is replaced, whatever the mechanism: telling whether the record was drawn can
    only help. δ(ε) is q times the base's for ε > 0.
    """

    base: Step
    rate: float

    @property
    def rho(self) -> float:
        """As the base."""
        return self.base.rho

    @property
    def mirrored(self) -> bool:
        """As the base."""
        return self.base.mirrored

    @property
    def span(self) -> tuple[float, float] | None:
        """As the base."""
        return self.base.span

    @property
    def knots(self) -> tuple[float, ...]:
        """As the base."""
        return self.base.knots

    @property
    def ends(self) -> tuple[float, float]:
        """The base's, and 0."""
        low, high = self.base.ends
        return min(low, 0.0), max(high, 0.0)

    @property
    def atoms(self) -> Atoms:
        """The base's, rarer, and 0."""
        a, log_q = self.base.atoms, math.log(self.rate)
        nothing = math.log1p(-self.rate)
        return Atoms(
            np.append(a.loss, 0.0), np.append(a.log_p + log_q, nothing), self.rate * a.only0, self.rate * a.only1
        )

    def loss(self, x: Array) -> Array:
        """As the base."""
        return self.base.loss(x)

    def slope(self, x: Array) -> Array:
        """As the base."""
        return self.base.slope(x)

    def place(self, loss: Array) -> Array:
        """As the base."""
        return self.base.place(loss)

    def log_p0(self, x: Array) -> Array:
        """Rarer."""
        return np.asarray(self.base.log_p0(x) + math.log(self.rate))

    def bend(self, x: Array) -> Array:
        """As the base."""
        return self.base.bend(x)

    def error(self, x: Array) -> Array:
        """As the base."""
        return self.base.error(x)

    def above(self, x: float) -> tuple[float, float]:
        """Rarer."""
        p, q = self.base.above(x)
        return p + math.log(self.rate), q + math.log(self.rate)

    def below(self, x: float) -> tuple[float, float]:
        """Rarer."""
        p, q = self.base.below(x)
        return p + math.log(self.rate), q + math.log(self.rate)

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """As the base."""
        return self.base.reach(log_top, log_bottom)
