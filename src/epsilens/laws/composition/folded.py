"""A pair as risky as another in both orders: what a batch of fixed size says of a record that is replaced.

Of (P, Q) with loss L = log dP/dQ take the outcomes with L > 0 as they are, and once more with the two laws exchanged,
so that their losses are negative. What is left of both laws, 1 − P(L > 0) − Q(L > 0) of each, says nothing: it lies at
0. The profile of this pair is the larger of the profiles of (P, Q) and (Q, P) at every t (that of (P, Q) for t ≥ 1), so
it dominates whatever is bounded by (P, Q) in one order and by (Q, P) in the other. Of one release it is exact where
both are attained; of several it is a bound, as no single data set attains both orders at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...checks import Array
from ...readings.law import Exactness
from .around import Around
from .moments import LEGENDRE, panels
from .step import Atoms, Exponent, Step, no_group

_U = 2.0**-53
_X, _W = LEGENDRE[10]


@dataclass(frozen=True)
class Folded(Around):
    """The fold of a step without atoms whose loss changes its sign; x is counted from where it does.

    ψ is as the base's: a normal shift that dominates it in both orders dominates the fold, which keeps its upper end.
    ``rest`` is the mass at 0 where it is known without a subtraction: (1 − q)·erf(μ/√8) of sampled normal noise.
    """

    base: Step
    rest: float | None = None

    @cached_property
    def _zero(self) -> float:
        """Where the base's loss is 0."""
        return float(self.base.place(np.asarray(0.0)))

    @cached_property
    def _half(self) -> tuple[float, float]:
        """(log P, log Q) of a positive loss."""
        return self.base.above(self._zero)

    def _beyond(self, x: Array) -> Array:
        """The place in the base, on its positive side."""
        return np.asarray(self._zero + np.abs(x))

    @property
    def mirrored(self) -> bool:
        """Both orders are alike."""
        return True

    @property
    def atoms(self) -> Atoms:
        """What says nothing, at 0."""
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
        return self.base.rho + 16 * _U * (1 + lost)

    @property
    def price(self) -> float:
        """The base's."""
        return self.base.price

    @property
    def span(self) -> tuple[float, float]:
        """The whole line."""
        return (-math.inf, math.inf)

    @property
    def knots(self) -> tuple[float, ...]:
        """The fold, and the base's beyond it."""
        further = [k - self._zero for k in self.base.knots if k > self._zero]
        return (*(-k for k in reversed(further)), 0.0, *further)

    @property
    def ends(self) -> tuple[float, float]:
        """The base's upper end, on both sides."""
        return -self.base.ends[1], self.base.ends[1]

    def loss(self, x: Array) -> Array:
        """The base's, mirrored below 0."""
        x = np.asarray(x, dtype=float)
        return np.asarray(np.sign(x) * np.maximum(self.base.loss(self._beyond(x)), 0.0))

    def slope(self, x: Array) -> Array:
        """The base's."""
        return self.base.slope(self._beyond(x))

    def place(self, loss: Array) -> Array:
        """The base's."""
        loss = np.asarray(loss, dtype=float)
        return np.asarray(np.sign(loss) * np.maximum(self.base.place(np.abs(loss)) - self._zero, 0.0))

    def log_p0(self, x: Array) -> Array:
        """The base's H0, below 0 its H1."""
        x = np.asarray(x, dtype=float)
        at = self._beyond(x)
        return np.asarray(self.base.log_p0(at) + np.where(x < 0, np.maximum(self.base.loss(at), 0.0), 0.0))

    def bend(self, x: Array) -> Array:
        """The base's."""
        return self.base.bend(self._beyond(x))

    def wave(self, x: Array) -> Array:
        """The base's."""
        return self.base.wave(self._beyond(x))

    def error(self, x: Array) -> Array:
        """The base's, and that of counting from the fold."""
        at = self._beyond(x)
        return np.asarray(self.base.error(at) + 4 * _U * (np.abs(at) + abs(self._zero)) * self.base.slope(at))

    def above(self, x: float) -> tuple[float, float]:
        """The base's; below 0 all that is positive, and the exchanged part down to there."""
        if x >= 0:
            return self.base.above(self._zero + x)
        p, q = self._between(-x)
        return float(np.logaddexp(self._half[0], q)), float(np.logaddexp(self._half[1], p))

    def below(self, x: float) -> tuple[float, float]:
        """Mirrored."""
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
        at = (left[:, None] + width[:, None] * ((1 + _X) / 2)).ravel()
        log_q = self.base.log_p0(at) + np.log((width[:, None] / 2 * _W).ravel())
        return float(np.logaddexp.reduce(log_q + self.base.loss(at))), float(np.logaddexp.reduce(log_q))

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """The base's upper end, for either law."""
        high = self.base.reach(log_top, log_top)[1] - self._zero
        low = self.base.reach(log_bottom, log_bottom)[1] - self._zero
        return -max(low, 1e-9), max(high, 1e-9)

    @property
    def turns(self) -> tuple[float, ...]:
        """The base's beyond the fold, and where its laws have their middle."""
        found = {turn - self._zero for turn in self.base.turns if turn > self._zero} | {abs(self._zero)}
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

    def growth(self, power: float) -> tuple[float, float]:
        """The base's upwards: what it has below 0 adds at most 1 to a moment."""
        low, high = self.base.growth(abs(power))
        return max(low - 1 / abs(power), 0.0), high

    def kl_bound(self) -> float:
        """Each divergence is ∫(dP − dQ)·L over L > 0: part of the sum of the base's two."""
        return self.base.kl() + self.base.kl_back()

    @property
    def known(self) -> Exactness:
        """Several of them bound what they stand for."""
        return Exactness.BOUND

    @property
    def sampled(self) -> bool:
        """As the base."""
        return self.base.sampled

    def grouped(self, size: int) -> Step:
        """Nothing is known."""
        raise no_group("replace")
