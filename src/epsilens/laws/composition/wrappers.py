"""Steps made of other steps: exchanged laws, samples, leaks, symmetrised pairs and labelled mixtures.

Adding or removing a person mixes H1 with H0 (``SampledStep``); ``LabelledSampleStep`` tells whether the person was
drawn. Where one record is exchanged for another, see :class:`~epsilens.laws.normal.NormalReplacementStep`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, localcontext
from enum import StrEnum
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from ...checks import Array
from ...readings.law import Exactness
from .quadrature import LEGENDRE, QuadratureStep, panels
from .step import ROUNDOFF, Atoms, Exponent, NoiseKind, Step, StepNoise, TailSplit, unknown_group


class DelegatingStep(QuadratureStep):
    """A step made of another, whose continuous part it shares: what it does not say itself is as the base says."""

    base: Step

    @property
    def rho(self) -> float:
        return self.base.rho

    @property
    def cost(self) -> float:
        return self.base.cost

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    @property
    def support(self) -> tuple[float, float] | None:
        return self.base.support

    @property
    def knots(self) -> tuple[float, ...]:
        return self.base.knots

    def loss(self, x: Array) -> Array:
        return self.base.loss(x)

    def slope(self, x: Array) -> Array:
        return self.base.slope(x)

    def inverse_loss(self, loss: Array) -> Array:
        return self.base.inverse_loss(loss)

    def log_p0(self, x: Array) -> Array:
        return self.base.log_p0(x)

    def roughness(self, x: Array) -> Array:
        return self.base.roughness(x)

    def singularity_rate(self, x: Array) -> Array:
        """As the base: mixing brings the branch point of a logarithm, π over the slope of the loss away."""
        return self.base.singularity_rate(x)

    def error(self, x: Array) -> Array:
        return self.base.error(x)

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return self.base.cutoffs(log_top, log_bottom)

    def psi(self) -> float:
        return self.base.psi()

    @property
    def psi_limit(self) -> float:
        return self.base.psi_limit

    @property
    def zcdp_rho(self) -> float:
        return self.base.zcdp_rho

    @property
    def shift(self) -> float:
        return self.base.shift

    @property
    def turning_points(self) -> tuple[float, ...]:
        return self.base.turning_points

    @property
    def sampled(self) -> bool:
        return self.base.sampled

    @property
    def known(self) -> Exactness:
        return self.base.known


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
class ReversedStep(DelegatingStep):
    """The two laws exchanged: x is mirrored so that the loss still grows."""

    base: Step

    @property
    def support(self) -> tuple[float, float] | None:
        return None if self.base.support is None else (-self.base.support[1], -self.base.support[0])

    @property
    def knots(self) -> tuple[float, ...]:
        return tuple(-k for k in reversed(self.base.knots))

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.base.loss_range
        return -high, -low

    @cached_property
    def atoms(self) -> Atoms:
        """Losses change sign, H0-masses take the place of H1-masses."""
        a = self.base.atoms
        return Atoms(-a.loss, a.log_p - a.loss, a.only1, a.only0)

    def loss(self, x: Array) -> Array:
        return -self.base.loss(-np.asarray(x))

    def slope(self, x: Array) -> Array:
        return self.base.slope(-np.asarray(x))

    def inverse_loss(self, loss: Array) -> Array:
        return -self.base.inverse_loss(-np.asarray(loss))

    def log_p0(self, x: Array) -> Array:
        y = -np.asarray(x)
        return np.asarray(self.base.log_p0(y) + self.base.loss(y))

    def roughness(self, x: Array) -> Array:
        return self.base.roughness(-np.asarray(x))

    def singularity_rate(self, x: Array) -> Array:
        return self.base.singularity_rate(-np.asarray(x))

    def error(self, x: Array) -> Array:
        return self.base.error(-np.asarray(x))

    def above(self, x: float) -> tuple[float, float]:
        p, q = self.base.below(-x)
        return q, p

    def below(self, x: float) -> tuple[float, float]:
        p, q = self.base.above(-x)
        return q, p

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        low, high = self.base.cutoffs(log_bottom, log_top)
        return -high, -low

    @property
    def turning_points(self) -> tuple[float, ...]:
        return tuple(-turn for turn in self.base.turning_points)

    @property
    def components(self) -> tuple[tuple[Step, float], ...]:
        return tuple((ReversedStep(step), share) for step, share in self.base.components)

    def log_moment(self, power: float) -> float:
        return self.base.log_moment(1 - power)

    def moment_growth(self, power: float) -> tuple[float, float]:
        return self.base.moment_growth(-power)

    def kl(self) -> float:
        return self.base.reverse_kl()

    def reverse_kl(self) -> float:
        return self.base.kl()

    def kl_bound(self) -> float:
        return self.base.kl_bound()

    def exponent(self, power: float) -> Exponent:
        return exchanged(self.base, power)

    @property
    def noise(self) -> StepNoise | None:
        noise = self.base.noise
        return None if noise is None else replace(noise, swapped=not noise.swapped)

    @property
    def scales_by_group(self) -> bool:
        return self.base.scales_by_group

    def group(self, size: int) -> Step:
        return ReversedStep(self.base.group(size))


class Inclusion(StrEnum):
    """How it is decided who is in a sample, which one person's law does not say, and that of a group rests on.

    docs/proofs/dominating-pairs.md, Theorem D12 and Lemma D14.
    """

    COINS = "coins"  # by a coin of each record's own: so many of a group as a binomial law has
    FIXED_SIZE = "fixed size"  # so many of all: one of k people is in it with probability kq at most
    UNKNOWN = "unknown"  # all of a group may be in every sample


@dataclass(frozen=True)
class SampledStep(DelegatingStep):
    """Poisson sampling, add/remove: H0 against (1−q)·H0 + q·H1 (docs/proofs/dominating-pairs.md, Theorem D10).

    The loss becomes log(1 − q + q·e^L), a growing function of the old one.
    """

    base: Step
    rate: float
    inclusion: Inclusion = field(default=Inclusion.COINS, repr=False)

    symmetric = False

    @cached_property
    def atoms(self) -> Atoms:
        return sampled_atoms(self.base.atoms, self.rate)

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.base.loss_range
        return float(mix(np.asarray(low), self.rate)), float(mix(np.asarray(high), self.rate))

    def loss(self, x: Array) -> Array:
        return mix(self.base.loss(x), self.rate)

    def slope(self, x: Array) -> Array:
        inner = self.base.loss(x)
        share = np.exp(np.minimum(math.log(self.rate) + inner - mix(inner, self.rate), 0.0))
        return np.asarray(self.base.slope(x) * share)

    def inverse_loss(self, loss: Array) -> Array:
        assert self.base.support is not None
        low, high = self.base.support
        inner = unmix(loss, self.rate)
        with np.errstate(invalid="ignore"):
            x = self.base.inverse_loss(inner)
        return np.asarray(np.where(np.isneginf(inner), low, np.where(np.isposinf(inner), high, x)))

    def error(self, x: Array) -> Array:
        """The base's error, damped by dL'/dL = q·e^{L−L'}, and that of the mixing and its inverse."""
        inner, outer = self.base.loss(x), self.loss(x)
        with np.errstate(over="ignore"):
            damp = np.minimum(self.rate * np.exp(np.minimum(inner - outer, 700.0)), 1.0)
            return np.asarray(
                damp * self.base.error(x)
                + 16 * ROUNDOFF * (np.abs(outer) + np.abs(np.expm1(-outer)) + 8 * damp * ROUNDOFF)
            )

    def above(self, x: float) -> tuple[float, float]:
        p, q = self.base.above(x)
        return self._mixed(p, q), q

    def below(self, x: float) -> tuple[float, float]:
        p, q = self.base.below(x)
        return self._mixed(p, q), q

    def _mixed(self, log_p: float, log_q: float) -> float:
        return float(np.logaddexp(math.log1p(-self.rate) + log_q, math.log(self.rate) + log_p))

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """High enough for either part of the mixture."""
        low, high = self.base.cutoffs(min(log_top - math.log(self.rate) - _LOG2, -_LOG2), log_bottom)
        if self.above(high)[0] > log_top and self.base.support is not None:
            _, high = self.base.cutoffs(log_top, log_bottom)
        return low, high

    @property
    def turning_points(self) -> tuple[float, ...]:
        turn = float(self.base.inverse_loss(np.asarray(log_odds_against(self.rate))))
        return (*self.base.turning_points, *((turn,) if math.isfinite(turn) else ()))

    @property
    def tail_split(self) -> TailSplit:
        """The base's, drawn more rarely: upwards, where the loss has no end."""
        base = self.base.tail_split
        return base._replace(drawn=self.rate * base.drawn)

    def moment_growth(self, power: float) -> tuple[float, float]:
        """Upwards between the base's, as the mixture is at least q·H1, and that without the factor q."""
        if power < 0:
            return super().moment_growth(power)
        low, high = self.base.moment_growth(power)
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
        return drawn_beyond(super().exponent(power), power, self._normal, self.rate, self.turning_points[0])

    sampled = True

    @property
    def noise(self) -> StepNoise | None:
        noise = self.base.noise
        if noise is None or noise.rate is not None or noise.swapped:
            return None
        return replace(noise, rate=self.rate)

    @property
    def scales_by_group(self) -> bool:
        """Where it is known what those show who were drawn."""
        return self.inclusion is Inclusion.COINS and self.base.sampled_group(self.rate, 2) is not None

    def group(self, size: int) -> Step:
        """Those who are drawn, of a group; where nothing else is known, all of them as soon as one is.

        By coins at least one is drawn with probability 1 − (1−q)^k; in a batch of fixed size that is hypergeometric,
        with one of kq at most, and of other samples they may all be in each.
        """
        if self.inclusion is Inclusion.COINS and (known := self.base.sampled_group(self.rate, size)) is not None:
            return known
        if not self.base.scales_by_group:
            raise unknown_group("such")
        all_of_it = self.base.group(size)
        if self.inclusion is Inclusion.COINS:
            return SampledStep(all_of_it, -math.expm1(size * math.log1p(-self.rate)))
        if self.inclusion is Inclusion.UNKNOWN or size * self.rate >= 1:
            return all_of_it
        return SampledStep(all_of_it, size * self.rate, self.inclusion)


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
class LabelledSampleStep(DelegatingStep):
    """The base with probability q, nothing at all otherwise, and the adversary is told which.

    Bounds Poisson sampling when a record is replaced, whatever the mechanism: telling whether the record was drawn can
    only help (Lemma D3). δ(ε) is q times the base's for ε > 0.
    """

    base: Step
    rate: float

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.base.loss_range
        return min(low, 0.0), max(high, 0.0)

    @property
    def atoms(self) -> Atoms:
        a, rate = self.base.atoms, self.rate
        log_p = np.append(a.log_p + math.log(rate), math.log1p(-rate))
        return Atoms(np.append(a.loss, 0.0), log_p, rate * a.only0, rate * a.only1)

    def log_p0(self, x: Array) -> Array:
        return np.asarray(self.base.log_p0(x) + math.log(self.rate))

    def above(self, x: float) -> tuple[float, float]:
        p, q = self.base.above(x)
        return p + math.log(self.rate), q + math.log(self.rate)

    def below(self, x: float) -> tuple[float, float]:
        p, q = self.base.below(x)
        return p + math.log(self.rate), q + math.log(self.rate)

    def moment_growth(self, power: float) -> tuple[float, float]:
        """The base's, but for log q over the order."""
        low, high = self.base.moment_growth(power)
        return max(low + math.log(self.rate) / abs(power), 0.0), high

    known = Exactness.BOUND

    sampled = True

    def group(self, size: int) -> Step:
        raise unknown_group("replace")


@dataclass(frozen=True)
class LeakyH0Step(DelegatingStep):
    """The base, which has no atoms, with a share ``lost`` = η of H0 at −∞: every loss is higher by −log(1 − η).

    Its profile is h((1−η)·t). It bounds a pair of which all but a share η of H0 is matched.
    """

    base: Step
    lost: float

    @property
    def _less(self) -> float:
        return math.log1p(-self.lost)

    @property
    def atoms(self) -> Atoms:
        return Atoms(np.zeros(0), np.zeros(0), self.lost, 0.0)

    symmetric = False

    @property
    def loss_range(self) -> tuple[float, float]:
        """Of what is seen under both laws above; below all that is lost."""
        return -math.inf, self.base.loss_range[1] - self._less

    def loss(self, x: Array) -> Array:
        return np.asarray(self.base.loss(x) - self._less)

    def inverse_loss(self, loss: Array) -> Array:
        return self.base.inverse_loss(np.asarray(loss, dtype=float) + self._less)

    def log_p0(self, x: Array) -> Array:
        return np.asarray(self.base.log_p0(x) + self._less)

    def error(self, x: Array) -> Array:
        return np.asarray(self.base.error(x) + 2.0**-52 * (np.abs(self.base.loss(x)) - self._less))

    def above(self, x: float) -> tuple[float, float]:
        p, q = self.base.above(x)
        return p, q + self._less

    def below(self, x: float) -> tuple[float, float]:
        p, q = self.base.below(x)
        return p, q + self._less

    def exponent(self, power: float) -> Exponent:
        base = self.base.exponent(power)

        def less(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
            value, size = base(x, loss + self._less, log_q - self._less)
            return value + (1 - power) * self._less, size

        return less

    def psi(self) -> float:
        return math.inf

    zcdp_rho = math.inf

    known = Exactness.BOUND


_NODES, _WEIGHTS = LEGENDRE[10]


@dataclass(frozen=True)
class SymmetrizedStep(DelegatingStep):
    """A pair as risky as a step without atoms in both orders: what a batch of fixed size says of a replaced record.

    Its outcomes with L > 0, once more exchanged, and what is left of both at 0: docs/proofs/dominating-pairs.md,
    Theorem D15. Of one release it is exact where both orders are attained; of several it is a bound, as no single data
    set attains both at once. x is counted from where the loss changes its sign.

    ψ is as the base's: a normal shift that dominates it in both orders dominates the fold, which keeps its upper end.
    ``rest`` is the mass at 0 where it is known without a subtraction: (1 − q)·erf(μ/√8) of sampled normal noise.
    """

    base: Step
    rest: float | None = None

    @cached_property
    def _zero(self) -> float:
        return float(self.base.inverse_loss(np.asarray(0.0)))

    @cached_property
    def _half(self) -> tuple[float, float]:
        """(log P, log Q) of a positive loss."""
        return self.base.above(self._zero)

    def _beyond(self, x: Array) -> Array:
        return np.asarray(self._zero + np.abs(x))

    symmetric = True

    @property
    def atoms(self) -> Atoms:
        left = -math.expm1(self._half[0]) - math.exp(self._half[1]) if self.rest is None else self.rest
        return Atoms(np.zeros(1), np.log(np.asarray([max(left, 5e-324)])))

    @property
    def overfull(self) -> bool:
        """Whether both halves have more mass than a law, so that nothing is left: a bound that says little."""
        return math.exp(self._half[0]) + math.exp(self._half[1]) > 1 + 1e-9

    @property
    def rho(self) -> float:
        """Of what is left after a subtraction."""
        lost = 1.0 if self.rest is not None else 1 / math.exp(float(self.atoms.log_p[0]))
        return self.base.rho + 16 * ROUNDOFF * (1 + lost)

    support = (-math.inf, math.inf)

    @property
    def knots(self) -> tuple[float, ...]:
        further = [k - self._zero for k in self.base.knots if k > self._zero]
        return (*(-k for k in reversed(further)), 0.0, *further)

    @property
    def loss_range(self) -> tuple[float, float]:
        return -self.base.loss_range[1], self.base.loss_range[1]

    def loss(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        return np.asarray(np.sign(x) * np.maximum(self.base.loss(self._beyond(x)), 0.0))

    def slope(self, x: Array) -> Array:
        return self.base.slope(self._beyond(x))

    def inverse_loss(self, loss: Array) -> Array:
        loss = np.asarray(loss, dtype=float)
        return np.asarray(np.sign(loss) * np.maximum(self.base.inverse_loss(np.abs(loss)) - self._zero, 0.0))

    def log_p0(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        at = self._beyond(x)
        return np.asarray(self.base.log_p0(at) + np.where(x < 0, np.maximum(self.base.loss(at), 0.0), 0.0))

    def roughness(self, x: Array) -> Array:
        return self.base.roughness(self._beyond(x))

    def singularity_rate(self, x: Array) -> Array:
        return self.base.singularity_rate(self._beyond(x))

    def error(self, x: Array) -> Array:
        """The base's, and that of counting from the fold."""
        at = self._beyond(x)
        return np.asarray(self.base.error(at) + 4 * ROUNDOFF * (np.abs(at) + abs(self._zero)) * self.base.slope(at))

    def above(self, x: float) -> tuple[float, float]:
        """The base's; below 0 all that is positive, and the exchanged part down to there."""
        if x >= 0:
            return self.base.above(self._zero + x)
        p, q = self._between(-x)
        return float(np.logaddexp(self._half[0], q)), float(np.logaddexp(self._half[1], p))

    def below(self, x: float) -> tuple[float, float]:
        p, q = self.above(-x)
        return q, p

    def _between(self, x: float) -> tuple[float, float]:
        """(log P, log Q) of the base between the fold and x beyond it, without cancellation."""
        far = self.base.above(self._zero + x)
        if max(far[0] - self._half[0], far[1] - self._half[1]) < math.log(0.5):
            p, q = (h + math.log(-math.expm1(f - h)) for h, f in zip(self._half, far, strict=True))
            return p, q
        left, width, _ = panels(self.base, np.asarray([self._zero, self._zero + x]))
        if not left.size:
            return -math.inf, -math.inf
        at = (left[:, None] + width[:, None] * ((1 + _NODES) / 2)).ravel()
        log_q = self.base.log_p0(at) + np.log((width[:, None] / 2 * _WEIGHTS).ravel())
        return float(np.logaddexp.reduce(log_q + self.base.loss(at))), float(np.logaddexp.reduce(log_q))

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        high = self.base.cutoffs(log_top, log_top)[1] - self._zero
        low = self.base.cutoffs(log_bottom, log_bottom)[1] - self._zero
        return -max(low, 1e-9), max(high, 1e-9)

    @property
    def turning_points(self) -> tuple[float, ...]:
        """The base's beyond the fold, and where its laws have their middle."""
        found = {turn - self._zero for turn in self.base.turning_points if turn > self._zero} | {abs(self._zero)}
        return (*found, *(-turn for turn in found))

    def exponent(self, power: float) -> Exponent:
        """The base's above 0; below, with the laws exchanged: p·e^{−aL} is q·e^{(1−a)L}."""
        ahead, behind = self.base.exponent(power), self.base.exponent(1 - power)

        def fold(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
            value, size = np.empty(x.shape), np.empty(x.shape)
            for below, grown in ((False, ahead), (True, behind)):
                here = (x < 0) == below
                if here.any():
                    exchanged = loss[here] if below else 0.0
                    found = grown(self._beyond(x[here]), np.abs(loss[here]), log_q[here] + exchanged)
                    value[here], size[here] = found
            return value, size

        return fold

    def moment_growth(self, power: float) -> tuple[float, float]:
        """The base's upwards: what it has below 0 adds at most 1 to a moment."""
        low, high = self.base.moment_growth(abs(power))
        return max(low - 1 / abs(power), 0.0), high

    def kl_bound(self) -> float:
        """Each divergence is ∫(dP − dQ)·L over L > 0: part of the sum of the base's two."""
        return self.base.kl() + self.base.reverse_kl()

    known = Exactness.BOUND

    def group(self, size: int) -> Step:
        raise unknown_group("replace")


@dataclass(frozen=True)
class LabelledMixture(Step):
    """One of several steps, and the adversary is told which.

    P = Σw·P_i and Q = Σw·Q_i on disjoint copies of their outcomes: the loss of each outcome is that of its own step,
    the masses are weighed. Profiles, moments and divergences are weighted sums; lattices of the steps on common points
    add up to one of the whole, from above and from below. x is the loss itself. It bounds what does not show which of
    them was taken.
    """

    parts: tuple[tuple[Step, float], ...]

    @property
    def components(self) -> tuple[tuple[Step, float], ...]:
        return self.parts

    @cached_property
    def atoms(self) -> Atoms:
        each = [(step.atoms, share) for step, share in self.parts]
        return Atoms(
            np.concatenate([a.loss for a, _ in each]),
            np.concatenate([a.log_p + math.log(share) for a, share in each]),
            math.fsum(share * a.only0 for a, share in each),
            math.fsum(share * a.only1 for a, share in each),
        )

    @property
    def support(self) -> tuple[float, float]:
        return self.loss_range

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        return min(step.loss_range[0] for step, _ in self.parts), max(step.loss_range[1] for step, _ in self.parts)

    @property
    def symmetric(self) -> bool:
        return all(step.symmetric for step, _ in self.parts)

    @property
    def rho(self) -> float:
        return max(step.rho for step, _ in self.parts)

    @cached_property
    def cost(self) -> float:
        return math.fsum(step.cost for step, _ in self.parts)

    def loss(self, x: Array) -> Array:
        return np.asarray(x, dtype=float)

    def slope(self, x: Array) -> Array:
        return np.ones(np.shape(x))

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(loss, dtype=float)

    def log_p0(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        found = []
        for step, share in self.parts:
            inside = (x > step.loss_range[0]) & (x < step.loss_range[1])
            at = step.inverse_loss(np.where(inside, x, 0.0))
            with np.errstate(divide="ignore"):
                density = step.log_p0(at) - np.log(step.slope(at)) + math.log(share)
            found.append(np.where(inside, density, -np.inf))
        return np.asarray(logsumexp(np.stack(found), axis=0))

    def roughness(self, x: Array) -> Array:
        return self._most(x, lambda step, at: step.roughness(at) * (1 + 1 / np.maximum(step.slope(at), 1e-300)))

    def error(self, x: Array) -> Array:
        return self._most(x, lambda step, at: step.error(at))

    def _most(self, x: Array, read: Callable[[Step, Array], Array]) -> Array:
        x = np.asarray(x, dtype=float)
        found = []
        for step, _ in self.parts:
            inside = (x > step.loss_range[0]) & (x < step.loss_range[1])
            found.append(np.where(inside, read(step, step.inverse_loss(np.where(inside, x, 0.0))), 0.0))
        return np.asarray(np.max(found, axis=0))

    def above(self, x: float) -> tuple[float, float]:
        return self._summed([_above(step, x) for step, _ in self.parts])

    def below(self, x: float) -> tuple[float, float]:
        return self._summed([_below(step, x) for step, _ in self.parts])

    def _summed(self, logs: Sequence[tuple[float, float]]) -> tuple[float, float]:
        weights = [math.log(share) for _, share in self.parts]
        p, q = (float(np.logaddexp.reduce([w + one[i] for w, one in zip(weights, logs, strict=True)])) for i in (0, 1))
        return p, q

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        ends = [step.loss(np.asarray(step.cutoffs(log_top, log_bottom))) for step, _ in self.parts]
        return min(float(one[0]) for one in ends), max(float(one[1]) for one in ends)

    def log_moment(self, power: float) -> float:
        each = [step.log_moment(power) for step, _ in self.parts]
        if max(abs(one) for one in each) > 1:
            return float(logsumexp(each, b=[share for _, share in self.parts]))
        return math.log1p(math.fsum(share * math.expm1(one) for one, (_, share) in zip(each, self.parts, strict=True)))

    def moment_growth(self, power: float) -> tuple[float, float]:
        """That of the largest, but for the logarithm of its share over the order."""
        each = [(*step.moment_growth(power), math.log(share) / abs(power)) for step, share in self.parts]
        return max(max(low + share for low, _, share in each), 0.0), max(high for _, high, _ in each)

    def kl(self) -> float:
        return math.fsum(share * step.kl() for step, share in self.parts)

    def reverse_kl(self) -> float:
        return math.fsum(share * step.reverse_kl() for step, share in self.parts)

    def kl_bound(self) -> float:
        return self.kl() + self.reverse_kl()

    def psi(self) -> float:
        """The largest: a normal shift that dominates each step dominates them told apart."""
        return max(step.psi() for step, _ in self.parts)

    @property
    def psi_limit(self) -> float:
        """The largest: where hardly anyone is flagged, all of these may be in one step."""
        return max(step.psi_limit for step, _ in self.parts)

    known = Exactness.BOUND

    @property
    def sampled(self) -> bool:
        return any(step.sampled for step, _ in self.parts)

    def group(self, size: int) -> Step:
        raise unknown_group("told")


def _above(step: Step, loss: float) -> tuple[float, float]:
    """(log P, log Q) of the continuous part with a larger loss."""
    assert step.support is not None
    low, high = step.loss_range
    if loss >= high:
        return -math.inf, -math.inf
    return step.above(float(step.inverse_loss(np.asarray(loss))) if loss > low else step.support[0])


def _below(step: Step, loss: float) -> tuple[float, float]:
    """(log P, log Q) of the continuous part with a smaller loss."""
    assert step.support is not None
    low, high = step.loss_range
    if loss <= low:
        return -math.inf, -math.inf
    return step.below(float(step.inverse_loss(np.asarray(loss))) if loss < high else step.support[1])
