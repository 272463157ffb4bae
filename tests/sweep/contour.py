"""Many steps together, by inverting the transform of their loss along a line in the complex plane.

With M(z) = ∏ M_j(z)^{k_j}, M_j(z) = E_P e^{zL_j}, and Re z = λ > 0,

    h(x) = 1/(2πi)·∫ M(z) e^{−zx} / (z(z+1)) dz,    Q(L > x) = 1/(2πi)·∫ M(z) e^{−(z+1)x} / (z+1) dz  (λ > −1),

P(L > x) has 1/z instead. The line goes through the saddle, the trapezoid rule converges geometrically on it, and its
period is chosen so that what wraps around is below 1e-15 by Chernoff's bound. The other order has M(−1−z).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .steps import Step
from .truth import Between, Truth, exact

_LEFT = 36.0  # e^−36 is what may be left out
_MOST = 40_000  # points on the line
_WORK = 15_000_000  # points times nodes
_OK = 1e-9
_MOST_ORDER = 300.0  # of a moment: its quadrature has as many nodes at every order


@dataclass
class _Line:
    """M on the line Re z = λ, at the points of the trapezoid rule."""

    tilt: float
    z: Any
    log_m: Any
    period: float

    def integral(self, x: float, poles: Sequence[float]) -> tuple[float, float]:
        """(log of the scale, the integral over it; nothing where too much of it cancels)."""
        base = self.log_m[0].real
        denominator = np.ones_like(self.z)
        for pole in poles:
            denominator = denominator * (self.z - pole)
        terms = (np.exp(self.log_m - base - 1j * self.z.imag * x) / denominator).real
        terms[0] /= 2
        step = 2 * math.pi / self.period
        value, size = float(terms.sum()), float(np.abs(terms).sum())
        return base, value * step / math.pi if value > 1e-5 * size else 0.0


class Contour(Truth):
    """A product of (step, count)."""

    cheap = False
    closed = 1e-9

    def __init__(self, parts: Sequence[tuple[Step, int]], flipped: bool = False) -> None:
        self.parts, self.flipped = list(parts), flipped
        top = sum(c * s.top for s, c in parts)
        bottom = sum(c * s.bottom for s, c in parts)
        self.top, self.bottom = (-bottom, -top) if flipped else (top, bottom)
        self.lines: dict[int, _Line] = {}
        self._real: dict[float, float] = {}
        self._other: Contour | None = None
        self.error = 1e-10 + 3e-15 * sum(c for _, c in parts)
        self.finer = 1.0

    # -- the transform ----------------------------------------------------------------------------------------------

    def log_m(self, z: Any) -> Any:
        at = -1 - z if self.flipped else z
        return sum(count * step.log_moment(at) for step, count in self.parts)

    def real(self, tilt: float) -> float:
        if tilt not in self._real:
            self._real[tilt] = float(np.real(self.log_m(np.array([complex(tilt)]))[0]))
        return self._real[tilt]

    def log_moment(self, a: float) -> Between | None:
        """None for orders beyond what the nodes resolve."""
        if abs(float(a)) > _MOST_ORDER:
            return None
        value = self.real(float(a) - 1)
        slack = abs(value) * 1e-10 + 1e-300
        return Between(value - slack, value + slack)

    def kl(self) -> Between:
        value = sum(count * step.kl(self.flipped) for step, count in self.parts)
        return Between(value * (1 - 1e-10), value * (1 + 1e-10))

    # -- lines ------------------------------------------------------------------------------------------------------

    def _saddle(self, x: float, poles: Sequence[float]) -> float:
        """Where the integrand is least along the real axis, right of the poles, on a grid of 10 %."""
        least = max(poles)

        def size(i: int) -> float:
            away = math.exp(i / 8)
            if self._reach(least + away):
                return math.inf
            return self.real(least + away) - (least + away) * x - sum(math.log(least + away - p) for p in poles)

        i = 0
        seen = {i: size(i)}
        for stride in (16, 4, 1):
            moved = True
            while moved and abs(i) < 400:
                moved = False
                for j in (i - stride, i + stride):
                    if j not in seen:
                        seen[j] = size(j)
                    if seen[j] < seen[i]:
                        i, moved = j, True
        return least + math.exp(i / 8)

    def _reach(self, tilt: float) -> bool:
        """Whether a tilt is beyond what the nodes are made for."""
        at = -1 - tilt if self.flipped else tilt
        return any(step.too_far(at) for step, _ in self.parts)

    def _period(self, tilt: float, x: float, poles: Sequence[float]) -> float:
        """How far apart copies must lie: by Chernoff's bound on either side."""
        base, least = self.real(tilt), max(poles)
        right, left = math.inf, math.inf
        for s in np.geomspace(1e-3, 1e3, 37) * max(tilt - least, 1e-9):
            s = float(s)
            if not self._reach(tilt + s):
                right = min(right, (self.real(tilt + s) - base - s * x + _LEFT) / s)
        for share in (0.25, 0.5, 0.75, 0.9):
            s = share * (tilt - least)
            left = min(left, (self.real(tilt - s) - base + s * x + _LEFT) / s)
        return 1.1 * self.finer * max(right, left, 1e-300)

    def _line(self, x: float, poles: tuple[float, ...], tilt: float | None = None) -> _Line | None:
        tilt = self._saddle(x, poles) if tilt is None else tilt
        if self.finer > 1:
            tilt = max(poles) + (tilt - max(poles)) * 0.9
        period = self._period(tilt, x, poles)
        if not math.isfinite(period):
            return None
        key = hash((tilt, poles))
        have = self.lines.get(key)
        if have is not None and have.period >= period:
            return have
        step = 2 * math.pi / period
        base = self.real(tilt)
        grid = step * np.geomspace(1.0, 1e7, 90)
        for part, _ in self.parts:
            part.prepare(0.0)
        rough = np.real(self.log_m(tilt + 1j * grid)) - base
        for pole in poles:
            rough = rough - 0.5 * np.log1p((grid / (tilt - pole)) ** 2)
        left = np.nonzero(rough > -_LEFT)[0]
        end = grid[min(left[-1] + 1, 89)] if left.size else step
        count = int(end / step * self.finer) + 2
        if left.size and left[-1] == 89:
            return None
        if count > _MOST or count * sum(s.nodes(end) for s, _ in self.parts) > _WORK:
            return None
        z = tilt + 1j * step * np.arange(count)
        for part, _ in self.parts:
            part.prepare(end)
        made = _Line(tilt, z, self.log_m(z), period)
        self.lines[key] = made
        return made

    def _value(self, x: float, poles: tuple[float, ...], more: float = 0.0, tilt: float | None = None) -> Any:
        """exp of the tilt times the integral, and e^{−more·x} with it."""
        line = self._line(x, poles, tilt)
        if line is None:
            return None
        base, value = line.integral(x, poles)
        log = base - line.tilt * x - more * x
        if value <= 0 or not -600 < log < 600:
            return None
        return value * math.exp(log)

    def _near(self, value: Any) -> Between | None:
        return None if value is None else Between(value * (1 - self.error), value * (1 + self.error))

    # -- the readings' functions --------------------------------------------------------------------------------------

    def profile(self, x: float) -> Between | None:
        x = float(x)
        if x >= self.top:
            return exact(0)
        if x <= self.bottom:
            return exact(-math.expm1(x))
        if x < 0:
            other = self.reverse().profile(-x)
            return None if other is None else other * math.exp(x) + (-math.expm1(x))
        return self._near(self._value(x, (0.0, -1.0)))

    def at_most(self, x: float) -> float:
        """Chernoff's bound."""
        tilt = self._saddle(x, (0.0, -1.0))
        return math.exp(min(self.real(tilt) - tilt * x, 0.0))

    def above(self, x: float) -> float | None:
        """Q(L > x)."""
        found: float | None = self._value(x, (-1.0,), 1.0)
        return found

    def _where(self, goal: float, poles: tuple[float, ...], more: float) -> float | None:
        """x at which the tail is the goal."""
        least = max(poles)
        best, at = math.inf, 0.0
        for i in range(-60, 60):  # Chernoff's bound first
            tilt = least + math.exp(i / 4)
            if not self._reach(tilt):
                x = (self.real(tilt) - math.log(goal) - math.log(tilt - least) - 1.5) / (tilt + more)
                best, at = (x, tilt) if x < best else (best, at)
        if not math.isfinite(best):
            return None
        x = best
        for _ in range(6):
            line = self._line(x, poles)
            if line is None:
                return None
            start, far = x, 1 / max(line.tilt - least, 1e-9)
            for _ in range(80):
                base, value = line.integral(x, poles)
                _, slope = line.integral(x, ())
                if value <= 0 or slope <= 0:
                    return None
                move = (math.log(value) + base - (line.tilt + more) * x - math.log(goal)) * value / slope
                x += max(min(move, far), -far)
                if abs(move) < 1e-12 * max(abs(x), far * 1e-3):
                    break
            else:
                return None
            if abs(x - start) < far:  # the line was made for about here
                return x
        return None

    def _cut(self, alpha: float) -> float | None:
        """The threshold whose test has this false-positive rate."""
        if alpha <= 0.5:
            return self._where(alpha, (-1.0,), 1.0)
        other = self.reverse()._where(1 - alpha, (0.0,), 0.0)  # Q(L ≤ x), the other order's P-tail
        return None if other is None else -other

    def recall(self, alpha: float) -> Between | None:
        alpha = float(alpha)
        if not 1e-250 < alpha < 1:
            return None
        x = self._cut(alpha)
        if x is None or abs(x) > 600:
            return None
        found = self.profile(x)
        return None if found is None else found + alpha * math.exp(x)

    def missed(self, alpha: float) -> Between | None:
        alpha = float(alpha)
        if not 1e-250 < alpha < 1:
            return None
        found = self.recall(alpha)
        if found is None or found.high < 0.5:
            return None if found is None else Between(1 - found.high, 1 - found.low)
        x = self._cut(alpha)
        return None if x is None else self._near(self.reverse().above(-x))

    def needed(self, recall: float) -> Between | None:
        recall = float(recall)
        if not 1e-250 < recall < 1:
            return None
        if recall <= 0.5:
            x = self._where(recall, (0.0,), 0.0)
        else:
            other = self.reverse()._where(1 - recall, (-1.0,), 1.0)
            x = None if other is None else -other
        return None if x is None else self._near(self.above(x))

    def area(self) -> Between | None:
        """P(L₁ > L₀): the transform of the difference is M(z)·M(−1−z), the same on both sides of −1/2."""
        pair = Contour([*self.parts, *((s.mirrored(), c) for s, c in self.parts)])
        pair.finer = self.finer
        found = pair._value(0.0, (0.0,), tilt=None)
        return self._near(found)

    def reverse(self) -> Contour:
        if self._other is None:
            self._other = Contour(self.parts, not self.flipped)
            self._other._other, self._other.finer = self, self.finer
        return self._other

    def again(self) -> Contour:
        """The same on other lines, for a second opinion."""
        made = Contour(self.parts, self.flipped)
        made.finer = 1.37
        return made
