"""Noise of which finitely many likelihood ratios are seen when it is moved: geometric, staircase, and differences.

One person moves it by ``distance``; a group moves the same noise further, and that is again an exact pair of atoms.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ..checks import Array
from ..readings.law import Exactness
from .composition.step import Translation
from .finite import Finite, FiniteStep

MOST_ATOMS = 2_000_000
_MOST_STEPS = 2000  # of a staircase, between the two answers
_FINER = 64  # stretches of a tail within which its length grows e-fold
_LONGER = 2.6  # logarithm of how much longer the tail is looked at: masses down to e^−10,000


class _TranslatedNoise(Translation):
    """What the three have in common."""

    known: ClassVar[Exactness] = Exactness.EXACT

    @property
    @abstractmethod
    def _enumerable(self) -> bool:
        """Whether its atoms can be written down."""

    @abstractmethod
    def atoms(self) -> tuple[Array, Array]:
        """(log H0-mass, loss)."""

    @abstractmethod
    def further(self, times: int) -> Self:
        """Moved so many times as far."""

    def law(self) -> Finite:
        """The noise against the same, moved."""
        return Finite(*self.atoms(), mirrored=True, translation=self, known=self.known)

    def group(self, size: int) -> FiniteStep | None:
        """Moved by everybody; None where that is too far to be written down."""
        moved = self.further(size)
        return FiniteStep(moved.law().atoms(), True, translation=moved) if moved._enumerable else None


@dataclass(frozen=True)
class Geometric(_TranslatedNoise):
    """P(k) ∝ e^{−rate·|k|}: beyond 0 and the distance the ratio is constant, so that d + 1 atoms are the pair."""

    rate: float
    distance: int

    @property
    def _enumerable(self) -> bool:
        return self.distance < MOST_ATOMS

    def atoms(self) -> tuple[Array, Array]:
        """Two closed half lines, and what lies between."""
        a, d = self.rate, self.distance
        if d == 0:
            return np.zeros(1), np.zeros(1)
        k = np.arange(d + 1.0)
        edge = -np.log1p(np.exp(-a))  # log 1/(1+q), the mass of a closed half line
        inner = np.log(-np.expm1(-a)) + edge - a * k
        return np.where(k == 0, edge, np.where(k == d, edge - a * d, inner)), a * (2 * k - d)

    def further(self, times: int) -> Self:
        """Moved so many times as far."""
        return replace(self, distance=self.distance * times)


@dataclass(frozen=True)
class Staircase(_TranslatedNoise):
    """A density that falls by e^{−ε} each step of length 1, broken at a share γ of the step.

    Both densities are constant on common cells and repeat beyond 0 and the distance with factor e^{−ε} a step, so the
    geometric series is summed exactly.
    """

    epsilon: float
    gamma: Fraction  # a γ of 1e-150 would vanish beside 1 in the difference of two doubles
    distance: Fraction

    @property
    def _enumerable(self) -> bool:
        return self.distance <= _MOST_STEPS

    def atoms(self) -> tuple[Array, Array]:
        """A cell for each pair of heights, and one period beyond either end for all."""
        eps, part, d, g = self.epsilon, self.gamma, self.distance, float(self.gamma)
        ends = [sign * (step + off) for sign in (-1, 1) for step in range(math.ceil(d) + 2) for off in (0, part)]
        points = sorted({base + end for base in (0, d) for end in ends if -1 <= base + end <= d + 1})

        def level(x: Fraction) -> int:
            return math.floor(abs(x)) + (abs(x) - math.floor(abs(x)) >= part)

        log_height = math.log(-math.expm1(-eps)) - math.log(2 * (g + (1 - g) * math.exp(-eps)))
        atoms = []
        for left, right in pairwise(points):
            middle = Fraction(left + right) / 2
            series = 0.0 if 0 < middle < d else -math.log(-math.expm1(-eps))
            width = math.log((right - left).numerator) - math.log((right - left).denominator)
            atoms.append((log_height - eps * level(middle) + width + series, eps * (level(middle) - level(middle - d))))
        log_p0, llr = np.asarray(atoms, dtype=float).T
        return log_p0, llr

    def further(self, times: int) -> Self:
        """Moved so many times as far."""
        return replace(self, distance=self.distance * times)


@dataclass(frozen=True)
class GeometricDifference(_TranslatedNoise):
    """The difference of two geometric noises, ``slow`` ≤ ``fast`` their rates.

    P(k) ∝ e^{−slow·|k|}·g(|k|): g is |k| + (1+q²)/(1−q²) for equal rates, otherwise 1 − r·e^{−(fast−slow)(|k|+1)}. The
    ratio nears slow·d far out and never reaches it. Beyond where masses are doubles, stretches of the tail count with
    the largest ratio of each, and all of the rest with the limit: the supremum is exact, and what moments gain at
    orders above 1e8 goes against the defender.
    """

    known: ClassVar[Exactness] = Exactness.ROUNDED

    slow: float
    fast: float
    distance: int

    @property
    def width(self) -> int:
        """Beyond, masses are no doubles."""
        return math.ceil(750 / self.slow)

    @property
    def _enumerable(self) -> bool:
        return 2 * self.width + self.distance <= MOST_ATOMS

    @property
    def equal(self) -> bool:
        """Whether the rates differ by rounding alone."""
        return self.fast - self.slow < 1e-9 * self.slow

    def _log_g(self, z: Any) -> Any:
        if self.equal:
            q = math.exp(-self.slow)
            return np.log(z + (1 + q * q) / -math.expm1(-2 * self.slow))
        ratio = math.expm1(-2 * self.slow) / math.expm1(-2 * self.fast)
        return np.log1p(-ratio * np.exp(-(self.fast - self.slow) * (z + 1)))

    def _llr(self, k: Any) -> Any:
        """log P(k − d)/P(k): what cancels is taken out, and at most its limit."""
        a, b = np.abs(k), np.abs(k - self.distance)
        return np.minimum(self.slow * (a - b) + (self._log_g(b) - self._log_g(a)), self.slow * self.distance)

    def atoms(self) -> tuple[Array, Array]:
        """Every whole number as far as masses are doubles, and the two tails in stretches."""
        d, width = self.distance, self.width
        if d == 0:
            return np.zeros(1), np.zeros(1)
        own = np.arange(-width, width + 1.0)
        mass = -self.slow * np.abs(own) + self._log_g(np.abs(own))
        norm = float(mass.max()) + math.log(np.exp(mass - mass.max()).sum())
        k = np.arange(-width, d + width + 1.0)
        log_p0, llr = -self.slow * np.abs(k) + self._log_g(np.abs(k)) - norm, self._llr(k)
        starts = np.floor((d + width + 1) * np.exp(np.arange(0.0, _LONGER, 1 / _FINER)))
        # P falls at least as fast as at the start of a stretch
        falls = -self.slow + self._log_g(starts + 1) - self._log_g(starts)
        tail = -self.slow * starts + self._log_g(starts) - np.log(-np.expm1(falls)) - norm
        most = np.append(self._llr(starts[1:]), self.slow * d)
        # the other tail is this one with the laws exchanged
        return np.concatenate((tail + most, log_p0, tail)), np.concatenate((-most, llr, most))

    def further(self, times: int) -> Self:
        """Moved so many times as far."""
        return replace(self, distance=self.distance * times)
