"""The largest of many noisy scores: the law of one Laplace shift, which several selections together only stay below.

The set S wins if M = max_S − max_{S^c} > 0, and scores that move by at most Δ move M by at most 2Δ. Laplace and
exponential noise of scale b has hazard at most 1/b, and so have maxima over it: the density of M is at most
min(P(M > x), P(M ≤ x))/b. A curve no steeper than that stays below Lap(0) against Lap(2Δ/b). The difference of two
exponential variables is Laplace, so that two outcomes with exponential noise reach the curve everywhere. With Laplace
noise none are known that do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...readings.law import Known
from ..composition.step import Counted, Family
from .laplace import Laplace, LaplaceStep


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyMax(Laplace):
    """With exponential noise one is the exact worst case over all scores; several only bound what several tell."""

    family: ClassVar[Family] = Family.NONE

    @property
    def pointwise(self) -> bool:
        """Each point is reached by scores of its own."""
        return True

    def steps(self) -> tuple[Counted, ...]:
        """One."""
        return ((NoisyMaxStep(float(self.m)), 1),)


@dataclass(frozen=True)
class NoisyMaxStep(LaplaceStep):
    """A Laplace step that dominates a selection; its noise is not that of an answer."""

    family: ClassVar[Family] = Family.NONE

    @property
    def known(self) -> Known:
        """Each selection has some scores that are its worst case; no scores are the worst case of all at once."""
        return Known.BOUND

    @property
    def noise(self) -> None:  # type: ignore[override]
        """None that others would know."""
        return

    def as_law(self) -> NoisyMax:
        """One of them."""
        return NoisyMax(np.asarray(self.m))

    def grouped(self, size: int) -> NoisyMaxStep:
        """So many times as far."""
        return NoisyMaxStep(self.m * size)
