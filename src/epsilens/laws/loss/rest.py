"""What a series leaves out: outcomes in which some step shows a loss at +∞, or one where it was cut off.

A step is cut off below some loss, and above b. With F the outcomes in which some step lies above and none below,
P(F) − t·Q(F) ≤ ∫_F(dP − t·dQ)₊ ≤ P(F) − t·Q(F) + t·Q(F, S < log t). For S to stay below log t in spite of a loss above
b, the other steps must make up for it, which Chernoff's bound makes unlikely once b exceeds log t by some standard
deviations. So a step with rare large losses may be cut off where they are still likely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...checks import Array
from .step import NormalStep, Step
from .tilted import Tilted, TiltedNormal

__all__ = ["Rest", "rest_of"]

_S = np.geomspace(0.3, 60.0, 16)
_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Rest:
    """P at +∞, and beside it P below the cuts and P, Q above them; ``s``, ``k``: S < log t has Q-mass e^{k−s(b−log t)}.

    With ``flipped`` laws what lies above the cuts has large negative losses and counts for next to nothing.
    """

    top: float
    below: float
    p: float
    q: float
    b: float
    s: Array
    k: Array
    flipped: bool

    def bounds(self, loss: Array) -> tuple[Array, Array]:
        """(low, high) of the part of h(e^l) in these outcomes."""
        loss = np.asarray(loss, dtype=float)
        if self.p == 0 and self.q == 0:
            return np.full(loss.shape, self.top), np.full(loss.shape, self.top + self.below)
        apart = self.b + loss if self.flipped else self.b - loss
        unlikely = np.exp(np.minimum(np.min(self.k - np.multiply.outer(apart, self.s), axis=-1), 0.0))
        if self.flipped:
            return np.full(loss.shape, self.top), self.top + self.below + self.p * unlikely
        with np.errstate(over="ignore"):
            against = np.minimum(np.exp(np.minimum(loss, 700.0)) * self.q, 1e300)
        low = np.maximum(self.p * (1 - _SLACK) - against * (1 + _SLACK), 0.0)
        high = np.maximum(self.p * (1 + _SLACK) - against * (1 - _SLACK) * (1 - unlikely), 0.0)
        return self.top + low, self.top + self.below + np.minimum(high, self.p * (1 + _SLACK))

    def slope(self, loss: Array) -> Array:
        """About −dh/dl of the same."""
        if self.flipped or self.q == 0:
            return np.zeros(np.shape(loss))
        return np.asarray(np.exp(np.minimum(loss, 700.0)) * self.q)


def rest_of(
    steps: Sequence[tuple[Step, int]],
    flipped: bool,
    reaches: Sequence[tuple[float, float]],
    laws: Sequence[tuple[Tilted | TiltedNormal, int]],
    tilt: float,
    spread: float,
) -> Rest:
    """The rest of a product cut off at ``reaches``, whose kept parts, tilted, are ``laws``."""
    s = _S / spread
    # E e^{−sL} given what is kept, under the law whose mass is to be shown unlikely: H0, whatever the order
    shift, k_of = s - tilt if flipped else -1 - s - tilt, np.zeros(s.size)
    # logarithms of the mass that no step shows: at infinity; nor below its cut; nor above it
    p_sure = p_cut = p_kept = q_cut = q_kept = 0.0
    b = math.inf
    for (step, k), (low, high), (law, _) in zip(steps, reaches, laws, strict=True):
        atoms = step.atoms
        over, under = (-math.inf, -math.inf), (-math.inf, -math.inf)
        if step.span is not None and not isinstance(step, NormalStep):
            over, under = step.above(high), step.below(low)
            if math.isfinite(over[0]):
                b = min(b, float(step.loss(np.asarray(high))))
        sides = [(atoms.only1, _mass(over[0]), _mass(under[0])), (atoms.only0, _mass(over[1]), _mass(under[1]))]
        (p_top, p_over, p_under), (q_top, q_over, q_under) = reversed(sides) if flipped else sides
        p_sure += _none(k, p_top)
        p_cut += _none(k, p_top + p_under)
        p_kept += _none(k, p_top + p_under + p_over)
        q_cut += _none(k, q_top + q_under)
        q_kept += _none(k, q_top + q_under + q_over)
        kept = _none(1, p_top + p_under + p_over if flipped else q_top + q_under + q_over)
        k_of += k * np.maximum(law.log_moment(shift) + law.log_scale - kept + 2 * law.rho, 0.0)
    above = -math.exp(p_cut) * math.expm1(p_kept - p_cut) if p_kept < p_cut else 0.0
    above_q = -math.exp(q_cut) * math.expm1(q_kept - q_cut) if q_kept < q_cut else 0.0
    below = -math.exp(p_sure) * math.expm1(p_cut - p_sure) * (1 + _SLACK) if p_cut < p_sure else 0.0
    if not 0 < b < math.inf:
        s, k_of = np.zeros(1), np.zeros(1)
    return Rest(-math.expm1(p_sure) + 0.0, below, above, above_q, b, s, k_of, flipped)


def _mass(log_mass: float) -> float:
    """Not 0 where there is any."""
    return max(math.exp(log_mass), 5e-324) if math.isfinite(log_mass) else 0.0


def _none(k: int, mass: float) -> float:
    """log (1 − m)^k."""
    return k * math.log1p(-mass) if mass < 1 else -math.inf
