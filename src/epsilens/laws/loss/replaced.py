"""Releases of a sample in which a person's record has one value or another: Poisson sampling, replace.

Both laws are mixtures with what is released when the record is not drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from ...checks import Array
from ...worlds import Neighbours
from ..closed.laplace import Laplace
from ..closed.normal import NormalStep
from .moments import Integrated
from .sampled import Sampled, drawn_beyond, exchanged, log_odds_against, mix, unmix
from .step import Atoms, Exponent, Noise, NoiseKind, Step, no_group

__all__ = ["LaplaceReplaced", "NormalReplaced", "replaced"]

_U = 2.0**-53
_LOG2 = math.log(2.0)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class _Replaced(Integrated):
    """One value of a record against the other, each drawn with probability ``rate``."""

    rate: float

    @property
    def mirrored(self) -> bool:
        """One value mirrors the other."""
        return True

    def grouped(self, size: int) -> Step:
        """Nothing is known."""
        raise no_group("replace")


@dataclass(frozen=True)
class NormalReplaced(_Replaced):
    """Poisson sampling, replace: (1−q)N(0) + qN(−μ) against (1−q)N(0) + qN(μ).

    This pair dominates every pair of records of norm at most μ, in any dimension. For t ≥ 1,
    ∫(dA − t·dB)₊ = q·E(1 − bX − cY)₊ with b, c ≥ 0, X = dN(0)/dN(v), Y = dN(v′)/dN(v) under N(v). X and Y grow in
    convex order with |v| and |v − v′|, a sum is largest in convex order when its terms are comonotone, and v = μ,
    v′ = −μ has the largest of both marginals, comonotone. For t < 1 exchange the two laws.
    """

    mu: float
    rate: float

    @property
    def span(self) -> tuple[float, float]:
        """The whole line."""
        return (-math.inf, math.inf)

    @property
    def ends(self) -> tuple[float, float]:
        """Unbounded."""
        return (-math.inf, math.inf)

    def _arms(self, x: Array) -> tuple[Array, Array]:
        half = self.mu * self.mu / 2
        return mix(self.mu * x - half, self.rate), mix(-self.mu * x - half, self.rate)

    def loss(self, x: Array) -> Array:
        """log(1−q+q·e^{μx−μ²/2}) − log(1−q+q·e^{−μx−μ²/2})."""
        up, down = self._arms(x)
        return np.asarray(up - down)

    def slope(self, x: Array) -> Array:
        """μ times the shares of both arms."""
        half, log_q = self.mu * self.mu / 2, math.log(self.rate)
        up, down = self._arms(x)
        shares = np.exp(log_q + self.mu * x - half - up) + np.exp(log_q - self.mu * x - half - down)
        return np.asarray(self.mu * shares)

    def place(self, loss: Array) -> Array:
        """μx = L/2 + asinh((1−q)/q·e^{μ²/2}·sinh(L/2)), from the quadratic in e^{μx}."""
        half = np.asarray(loss, dtype=float) / 2
        log_c = math.log1p(-self.rate) - math.log(self.rate) + self.mu * self.mu / 2 if self.rate < 1 else -math.inf
        with np.errstate(divide="ignore", over="ignore"):
            log_s = np.where(np.abs(half) < 20, np.log(np.abs(np.sinh(np.clip(half, -20, 20)))), np.abs(half) - _LOG2)
            y = log_c + log_s
            far = np.where(y < 30, np.arcsinh(np.exp(np.minimum(y, 30.0))), y + _LOG2)
        return np.asarray((half + np.sign(half) * far) / self.mu)

    def log_p0(self, x: Array) -> Array:
        """The mixture without the person's other value."""
        return np.asarray(-0.5 * x * x - _HALF_LOG_2PI + self._arms(x)[1])

    def bend(self, x: Array) -> Array:
        """As a normal of either mean."""
        return np.asarray(np.abs(x) + 2 * self.mu)

    def error(self, x: Array) -> Array:
        """Both arms, and the inverse."""
        up, down = self._arms(x)
        half = self.mu * self.mu / 2
        damp = sum(
            np.minimum(self.rate * np.exp(np.minimum(s * self.mu * x - half - arm, 700.0)), 1.0)
            for s, arm in ((1, up), (-1, down))
        )
        inner = 8 * _U * self.mu * (np.abs(x) + self.mu)
        shrunk = np.abs(np.expm1(-np.minimum(up, 0))) + np.abs(np.expm1(-np.minimum(down, 0)))
        return np.asarray(damp * inner + 16 * _U * (np.abs(up) + np.abs(down) + shrunk + damp * (1 + half)))

    def _tail(self, x: float, sign: int) -> float:
        """log mass right of x of (1−q)N(0) + qN(sign·μ)."""
        inside = math.log(self.rate) + float(log_ndtr(sign * self.mu - x))
        return float(np.logaddexp(math.log1p(-self.rate) + float(log_ndtr(-x)), inside)) if self.rate < 1 else inside

    def above(self, x: float) -> tuple[float, float]:
        """Both mixtures."""
        return self._tail(x, 1), self._tail(x, -1)

    def below(self, x: float) -> tuple[float, float]:
        """By symmetry."""
        return self._tail(-x, -1), self._tail(-x, 1)

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """High enough for either part of each mixture."""
        one_sided = Sampled(NormalStep(self.mu), self.rate) if self.rate < 1 else NormalStep(self.mu)
        return -one_sided.reach(log_bottom, log_bottom)[1], one_sided.reach(log_top, log_top)[1]

    def psi(self) -> float:
        """That of all records drawn, 2μ apart."""
        return 2 * self.mu

    @property
    def shift(self) -> float:
        """μ."""
        return self.mu

    @property
    def turns(self) -> tuple[float, ...]:
        """Where the part that was drawn outgrows the rest, on either side."""
        turn = self.mu / 2 + log_odds_against(self.rate) / self.mu
        return (turn, -turn)

    def exponent(self, power: float) -> Exponent:
        """Beyond the turn a parabola; the laws mirror each other."""
        if power < 0:
            return exchanged(self, power)
        if power <= 1:
            return super().exponent(power)
        return drawn_beyond(super().exponent(power), power, self.mu, self.rate, self.turns[0], both=True)

    @property
    def noise(self) -> Noise:
        """Normal noise, drawn, one record for another."""
        return Noise(NoiseKind.NORMAL, self.mu, self.rate, Neighbours.REPLACE)


@dataclass(frozen=True)
class LaplaceReplaced(_Replaced):
    """Poisson sampling, replace, of Laplace noise: (1−q)Lap(0) + qLap(−m) against (1−q)Lap(0) + qLap(m).

    The argument of :class:`NormalReplaced` holds: a larger shift dominates, and both ratios fall with x.
    """

    m: float
    rate: float

    @property
    def span(self) -> tuple[float, float]:
        """Beyond ±m the loss is constant."""
        return (-self.m, self.m)

    @property
    def knots(self) -> tuple[float, ...]:
        """Where both mixtures bend."""
        return (0.0,)

    @property
    def _floor(self) -> float:
        """log(1 − q + q·e^{−m})."""
        return float(mix(np.asarray(-self.m), self.rate))

    @property
    def ends(self) -> tuple[float, float]:
        """±log((1−q+q·e^m)/(1−q+q·e^{−m}))."""
        top = float(mix(np.asarray(self.m), self.rate)) - self._floor
        return (-top, top)

    @property
    def atoms(self) -> Atoms:
        """The half lines beyond ±m."""
        top = self.ends[1]
        # right of m, H1 has ½((1−q)e^{−m} + q) = ½e^{−m}(1−q+q·e^m), and H0 mirrors it
        log_h1 = -_LOG2 - self.m + float(mix(np.asarray(self.m), self.rate))
        return Atoms(np.array([-top, top]), np.array([log_h1 - top, log_h1]))

    def loss(self, x: Array) -> Array:
        """Odd; log(1−q+q·e^{2x−m}) − log(1−q+q·e^{−m}) for x ≥ 0."""
        x = np.asarray(x, dtype=float)
        return np.asarray(np.sign(x) * np.maximum(mix(2 * np.abs(x) - self.m, self.rate) - self._floor, 0.0))

    def slope(self, x: Array) -> Array:
        """2·q·e^{u}/(1−q+q·e^u) at u = 2|x| − m."""
        u = 2 * np.abs(np.asarray(x, dtype=float)) - self.m
        return np.asarray(2 * np.exp(np.minimum(math.log(self.rate) + u - mix(u, self.rate), 0.0)))

    def place(self, loss: Array) -> Array:
        """The inverse on each side."""
        loss = np.asarray(loss, dtype=float)
        x = (unmix(np.abs(loss) + self._floor, self.rate) + self.m) / 2
        return np.asarray(np.sign(loss) * np.clip(x, 0.0, self.m))

    def log_p0(self, x: Array) -> Array:
        """½((1−q)e^{−|x|} + q·e^{−|x+m|})."""
        x = np.asarray(x, dtype=float)
        return np.asarray(-_LOG2 - np.abs(x) + mix(np.abs(x) - np.abs(x + self.m), self.rate))

    def bend(self, x: Array) -> Array:
        """Exponentials of slopes up to 2."""
        return np.full(np.shape(x), 3.0)

    def error(self, x: Array) -> Array:
        """Of the two logarithms."""
        down = abs(self._floor)
        return np.asarray(16 * _U * (np.abs(self.loss(x)) + 2 * down + math.expm1(min(down, 700.0)) + self.m * 4))

    def above(self, x: float) -> tuple[float, float]:
        """Never asked: the loss is bounded."""
        return (-math.inf, -math.inf)

    below = above

    def reach(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """Everything: the loss is bounded."""
        return self.span

    def psi(self) -> float:
        """That of all records drawn, 2m apart."""
        return float(Laplace(np.asarray(2 * self.m)).psi())

    @property
    def turns(self) -> tuple[float, ...]:
        """Where the part that was drawn outgrows the rest, on either side."""
        turn = (log_odds_against(self.rate) + self.m) / 2
        return (turn, -turn)

    @property
    def noise(self) -> Noise:
        """Laplace noise, drawn, one record for another."""
        return Noise(NoiseKind.LAPLACE, self.m, self.rate, Neighbours.REPLACE)


def replaced(noise: Noise, rate: float) -> Step:
    """A sample of noise where both records may pull in opposite directions, each as far as one can."""
    made = {NoiseKind.NORMAL: NormalReplaced, NoiseKind.LAPLACE: LaplaceReplaced}
    return made[noise.kind](noise.size, rate)
