"""Steps made of another: exchanged laws, and releases of a sample, where a person is drawn with a probability or not.

Adding or removing a person mixes H1 with H0 (``Sampled``); ``Flagged`` tells whether the person was drawn. Where one
record is exchanged for another, see
:class:`~epsilens.laws.normal.NormalReplacementStep`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from functools import cached_property

import numpy as np

from ...checks import Array
from ...readings.law import Exactness
from .around import Around
from .step import Atoms, Exponent, Noise, NoiseKind, Step, Tails, no_group

_U = 2.0**-53
_LOG2 = math.log(2.0)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_DIGITS = Context(prec=50)


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
    out = np.empty(loss.shape)
    large = loss >= 30
    small = ~large
    out[small] = np.log1p(rate * np.expm1(loss[small]))
    far = loss[large]
    out[large] = far + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-far))
    return out


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


def log_odds_against(rate: float) -> float:
    """log((1−q)/q) of being drawn."""
    return math.log1p(-rate) - math.log(rate) if rate < 1 else -700.0


def exchanged(step: Step, power: float) -> Exponent:
    """The exponent of a step with the laws exchanged: q·e^{aL} is p·e^{(1−a)(−L)}."""
    base = step.exponent(1 - power)
    return lambda x, loss, log_q: base(-x, -loss, log_q + loss)


def drawn_beyond(plain: Exponent, power: float, mu: float, rate: float, turn: float, both: bool = False) -> Exponent:
    """The exponent of sampled normal noise for a > 1: beyond the turn L = μx − μ²/2 + log q + a small rest.

    There the parabola is written around its peak at aμ, its height in fifty digits. ``both`` says that H0 is a mixture
    too, with −μ.
    """
    with localcontext(_DIGITS):
        a, shift = Decimal(power), Decimal(mu)
        middle = float(a * shift)
        rest = float(a * shift - Decimal(middle))
        height = float(a * (a - 1) * shift * shift / 2 + a * Decimal(rate).ln())

    def far(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
        value, size = plain(x, loss, log_q)
        out = x > turn
        if out.any():
            at = x[out]
            off = (at - middle) - rest
            small = power * np.log1p(np.exp(mu * (turn - at)))  # e^{μ·turn − μx} = (1−q)/q·e^{−(μx − μ²/2)}
            if both:
                small = small + (1 - power) * mix(-mu * at - mu * mu / 2, rate)
            value[out] = (height - off * off / 2 - _HALF_LOG_2PI) + small
            size[out] = abs(height) + off * off / 2 + np.abs(small)
        return value, size

    return far


@dataclass(frozen=True)
class Swapped(Around):
    """The two laws exchanged: x is mirrored so that the loss still grows."""

    base: Step

    @property
    def span(self) -> tuple[float, float] | None:
        """Mirrored."""
        return None if self.base.span is None else (-self.base.span[1], -self.base.span[0])

    @property
    def knots(self) -> tuple[float, ...]:
        """Mirrored."""
        return tuple(-k for k in reversed(self.base.knots))

    @property
    def ends(self) -> tuple[float, float]:
        """Mirrored."""
        low, high = self.base.ends
        return -high, -low

    @cached_property
    def atoms(self) -> Atoms:
        """Losses change sign, H0-masses take the place of H1-masses."""
        a = self.base.atoms
        return Atoms(-a.loss, a.log_p - a.loss, a.only1, a.only0)

    def loss(self, x: Array) -> Array:
        """−L(−x)."""
        return -self.base.loss(-np.asarray(x))

    def slope(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.slope(-np.asarray(x))

    def place(self, loss: Array) -> Array:
        """Mirrored."""
        return -self.base.place(-np.asarray(loss))

    def log_p0(self, x: Array) -> Array:
        """The base's H1."""
        y = -np.asarray(x)
        return np.asarray(self.base.log_p0(y) + self.base.loss(y))

    def bend(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.bend(-np.asarray(x))

    def wave(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.wave(-np.asarray(x))

    def error(self, x: Array) -> Array:
        """Mirrored."""
        return self.base.error(-np.asarray(x))

    def above(self, x: float) -> tuple[float, float]:
        """Mirrored."""
        p, q = self.base.below(-x)
        return q, p

    def below(self, x: float) -> tuple[float, float]:
        """Mirrored."""
        p, q = self.base.above(-x)
        return q, p

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Mirrored."""
        low, high = self.base.reach(log_bottom, log_top)
        return -high, -low

    @property
    def turns(self) -> tuple[float, ...]:
        """Mirrored."""
        return tuple(-turn for turn in self.base.turns)

    @property
    def branches(self) -> tuple[tuple[Step, float], ...]:
        """Each exchanged."""
        return tuple((Swapped(step), share) for step, share in self.base.branches)

    def log_moment(self, power: float) -> float:
        """The base's, with the laws exchanged."""
        return self.base.log_moment(1 - power)

    def growth(self, power: float) -> tuple[float, float]:
        """The base's, with the laws exchanged."""
        return self.base.growth(-power)

    def kl(self) -> float:
        """The base's in the other order."""
        return self.base.kl_back()

    def kl_back(self) -> float:
        """The base's in the other order."""
        return self.base.kl()

    def kl_bound(self) -> float:
        """As the base: it holds in one order or the other."""
        return self.base.kl_bound()

    def exponent(self, power: float) -> Exponent:
        """The base's, with the laws exchanged."""
        return exchanged(self.base, power)

    @property
    def noise(self) -> Noise | None:
        """The base's, exchanged."""
        noise = self.base.noise
        return None if noise is None else replace(noise, swapped=not noise.swapped)

    @property
    def sampled(self) -> bool:
        """As the base."""
        return self.base.sampled

    @property
    def moves(self) -> bool:
        """As the base."""
        return self.base.moves

    def grouped(self, size: int) -> Step:
        """The base's, exchanged."""
        return Swapped(self.base.grouped(size))


@dataclass(frozen=True)
class Sampled(Around):
    """Poisson sampling, add/remove: H0 against (1−q)·H0 + q·H1 (Zhu, Dong & Wang 2022, Theorem 11).

    The loss becomes log(1 − q + q·e^L), a growing function of the old one.
    """

    base: Step
    rate: float

    @property
    def mirrored(self) -> bool:
        """Only H1 is mixed."""
        return False

    @cached_property
    def atoms(self) -> Atoms:
        """The base's, mixed."""
        return sampled_atoms(self.base.atoms, self.rate)

    @cached_property
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

    @property
    def turns(self) -> tuple[float, ...]:
        """Where q·e^L outgrows 1 − q."""
        turn = float(self.base.place(np.asarray(log_odds_against(self.rate))))
        return (*self.base.turns, *((turn,) if math.isfinite(turn) else ()))

    @property
    def tails(self) -> Tails:
        """The base's, drawn more rarely: upwards, where the loss has no end."""
        base = self.base.tails
        return base._replace(drawn=self.rate * base.drawn)

    def growth(self, power: float) -> tuple[float, float]:
        """Upwards between the base's, as the mixture is at least q·H1, and that without the factor q."""
        if power < 0:
            return super().growth(power)
        low, high = self.base.growth(power)
        return max(low + math.log(self.rate), 0.0), high

    def kl_bound(self) -> float:
        """KL ≤ log(1 + χ²) = log(1 + q²·χ²) of what was sampled."""
        return math.log1p(self.rate**2 * self.base.chi_square())

    @property
    def _normal(self) -> float:
        """μ where normal noise was sampled, otherwise 0."""
        noise = self.noise
        return noise.size if noise is not None and noise.kind is NoiseKind.NORMAL else 0.0

    def exponent(self, power: float) -> Exponent:
        """Of normal noise beyond the turn: a parabola."""
        if power <= 1 or not self._normal:
            return super().exponent(power)
        return drawn_beyond(super().exponent(power), power, self._normal, self.rate, self.turns[0])

    @property
    def sampled(self) -> bool:
        """It is."""
        return True

    @property
    def noise(self) -> Noise | None:
        """The base's, drawn; none where that is a sample itself."""
        noise = self.base.noise
        if noise is None or noise.rate is not None or noise.swapped:
            return None
        return replace(noise, rate=self.rate)

    @property
    def moves(self) -> bool:
        """Where it is known what those show who were drawn."""
        return self.base.drawn_group(self.rate, 2) is not None

    def grouped(self, size: int) -> Step:
        """Those who are drawn, of a group; where nothing else is known, all of them as soon as one is.

        At least one is drawn with probability 1 − (1−q)^k.
        """
        known = self.base.drawn_group(self.rate, size)
        if known is not None:
            return known
        if not self.base.moves:
            raise no_group("such")
        return Sampled(self.base.grouped(size), -math.expm1(size * math.log1p(-self.rate)))


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
class Flagged(Around):
    """The base with probability q, nothing at all otherwise, and the adversary is told which.

    Bounds Poisson sampling when a record is replaced, whatever the mechanism: telling whether the record was drawn can
    only help. δ(ε) is q times the base's for ε > 0.
    """

    base: Step
    rate: float

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

    def log_p0(self, x: Array) -> Array:
        """Rarer."""
        return np.asarray(self.base.log_p0(x) + math.log(self.rate))

    def above(self, x: float) -> tuple[float, float]:
        """Rarer."""
        p, q = self.base.above(x)
        return p + math.log(self.rate), q + math.log(self.rate)

    def below(self, x: float) -> tuple[float, float]:
        """Rarer."""
        p, q = self.base.below(x)
        return p + math.log(self.rate), q + math.log(self.rate)

    def growth(self, power: float) -> tuple[float, float]:
        """The base's, but for log q over the order."""
        low, high = self.base.growth(power)
        return max(low + math.log(self.rate) / abs(power), 0.0), high

    @property
    def known(self) -> Exactness:
        """The adversary is told what they would not see."""
        return Exactness.BOUND

    @property
    def sampled(self) -> bool:
        """It is."""
        return True

    def grouped(self, size: int) -> Step:
        """Nothing is known."""
        raise no_group("replace")
