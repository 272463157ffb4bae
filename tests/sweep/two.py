"""Two releases observed together, by quadrature: the curve of the first along the losses of the second.

h(x) = ∫ h₁(x − L₂) dP₂, and the masses above and below a threshold likewise: integrals of positive functions, on panels
that shrink towards every kink, in ordinary numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .curves import Curve
from .truth import Between, Truth, exact


class Two(Truth):
    """``flipped`` is the other order of both."""

    cheap = False
    closed = 1e-10
    ulp = 1e-15

    def __init__(self, first: Curve, second: Curve, flipped: bool = False) -> None:
        self.first, self.second, self.flipped = first, second, flipped
        top, bottom = first.top + second.top, first.bottom + second.bottom
        self.top, self.bottom = (-bottom, -top) if flipped else (top, bottom)
        self.error = 1e-11

    def _at(self, x: float) -> tuple[Any, Any, Any]:
        """(log Q-mass, loss, u of the first at x less the loss) at the nodes of the second."""
        cuts = [float(self.second.where(np.asarray(x - k))) for k in self.first.kinks]
        u, log_q = self.second.nodes([c for c in cuts if math.isfinite(c)])
        loss = self.second.loss(u)
        return log_q, loss, self.first.where(x - loss)

    def masses(self, x: float, above: bool) -> tuple[float, float]:
        """(Q, P) of L > x, or of what is not, of the pair as it is given."""
        log_q, loss, u = self._at(x)
        q, p = self.first.tails(u) if above else self.first.heads(u)
        return float((np.exp(log_q) * q).sum()), float((np.exp(log_q + loss) * p).sum())

    def _profile(self, x: float, flipped: bool) -> float:
        log_q, loss, u = self._at(-x if flipped else x)
        if flipped:  # Q(L < −x) − e^x·P(L < −x), with x′ = x + L₂ of each node
            more = x + loss
            p = self.first.heads(u)[1]
            over = self.first.gap(u) - np.expm1(np.minimum(more, 700)) * p
            mass = log_q
        else:
            more = x - loss
            q = self.first.tails(u)[0]
            over = self.first.gap(u) - np.expm1(np.minimum(more, 700)) * q
            mass = log_q + loss
        return float((np.exp(mass) * np.maximum(over, 0.0)).sum())

    def _near(self, value: float) -> Between | None:
        if value < 1e-285:
            return None
        floor = 1e-14 if self._atoms() else 0.0  # which side of x a loss is that is equal to it
        return Between(max(value * (1 - self.error) - floor, 0.0), value * (1 + self.error) + floor)

    def profile(self, x: float) -> Between | None:
        x = float(x)
        if x >= self.top:
            return exact(0)
        if x <= self.bottom:
            return exact(-math.expm1(x))
        return None if abs(x) > 600 else self._near(self._profile(x, self.flipped))

    def _threshold(self, mass: Callable[[float], float], goal: float, rising: bool) -> float | None:
        """x at which a mass is the goal, bisected in u: the loss of both at u. None where x has too few digits."""

        def x_of(u: float) -> float:
            at = np.asarray(u)
            return float(self.first.loss(at) + self.second.loss(at)) if self._spread() else u

        low, high = (-45.0, 200.0) if self._spread() else (self.first.bottom + self.second.bottom, self._far())
        f_low, f_high = (-1.0, 1.0)
        target = math.log(goal)
        side = 0
        for i in range(200):
            middle = (low + high) / 2 if i % 3 == 2 or i < 6 else (low * f_high - high * f_low) / (f_high - f_low)
            if not low < middle < high:
                middle = (low + high) / 2
            found = mass(x_of(middle))
            value = (math.log(found) - target) if found > 1e-307 else -800.0
            value = value if rising else -value
            if value < 0:
                low, f_low = middle, value
                f_high = f_high / 2 if side == -1 else f_high
                side = -1
            else:
                high, f_high = middle, value
                f_low = f_low / 2 if side == 1 else f_low
                side = 1
            if abs(value) < 1e-13 or high - low < 1e-15 * max(abs(low), abs(high)):
                break
        return x_of(middle) if abs(value) < 1e-11 or self._atoms() else None

    def _spread(self) -> bool:
        """Whether a common u orders both."""
        return math.isinf(self.first.top) and math.isinf(self.second.top)

    def _far(self) -> float:
        return self.first.top + self.second.top if not math.isinf(self.first.top + self.second.top) else 700.0

    def _cut(self, alpha: float) -> float | None:
        """The threshold of the test of this order with this false-positive rate, as x of the pair as it is given."""
        if not self.flipped:
            if alpha <= 0.5:
                return self._threshold(lambda x: self.masses(x, True)[0], alpha, False)
            return self._threshold(lambda x: self.masses(x, False)[0], 1 - alpha, True)
        if alpha <= 0.5:
            return self._threshold(lambda x: self.masses(x, False)[1], alpha, True)
        return self._threshold(lambda x: self.masses(x, True)[1], 1 - alpha, False)

    def recall(self, alpha: float) -> Between | None:
        alpha = float(alpha)
        if not 1e-250 < alpha < 1:
            return None
        x = self._cut(alpha)
        if x is None or abs(x) > 600:
            return None
        # the least over x, so that no digit of x counts; or x is where an atom of both lies
        jumps = [a + b for a in self.first.kinks for b in self.second.kinks if abs(a + b - x) < 1e-6 * abs(x)]
        sign = -1 if self.flipped else 1
        return self._near(min(self._profile(sign * v, self.flipped) + alpha * math.exp(sign * v) for v in [x, *jumps]))

    def missed(self, alpha: float) -> Between | None:
        alpha = float(alpha)
        if not 1e-250 < alpha < 1:
            return None
        found = self.recall(alpha)
        if found is None or found.high < 0.5:
            return None if found is None else Between(1 - found.high, 1 - found.low)
        x = self._cut(alpha)
        if x is None or self._atoms():
            return None
        return self._near(self.masses(x, True)[0] if self.flipped else self.masses(x, False)[1])

    def _atoms(self) -> bool:
        """Whether some loss has a mass of its own."""
        return self.first.jumps and self.second.jumps

    def needed(self, recall: float) -> Between | None:
        recall = float(recall)
        if not 1e-250 < recall < 1 or self._atoms():
            return None
        other = Two(self.first, self.second, not self.flipped)
        if recall <= 0.5:
            way = (lambda x: self.masses(x, False)[0]) if self.flipped else (lambda x: self.masses(x, True)[1])
            x = self._threshold(way, recall, self.flipped)
        else:
            x = other._cut(1 - recall)
        if x is None:
            return None
        q, p = self.masses(x, not self.flipped)
        return self._near(p if self.flipped else q)

    def reverse(self) -> Two:
        return Two(self.first, self.second, not self.flipped)
