"""People and their values: how sure an attacker can become of who is missing from a noisy sum of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from ..numerics.frozen import Valued

__all__ = ["Crowd"]


@dataclass(frozen=True, eq=False, repr=False)
class Crowd(Valued):
    """Distinct values in rising order, in units of the sensitivity, and how many people share each."""

    place: Array
    count: Array

    @classmethod
    def of(cls, values: Array, unit: float) -> Crowd:
        """From one value a person."""
        place, count = np.unique(values, return_counts=True)
        return cls((place - place[0]) / unit, count.astype(float))

    @property
    def n(self) -> float:
        """How many people."""
        return float(self.count.sum())

    def weights(self, epsilon: float) -> Array:
        """Σ_j e^{−ε|a_i − a_j|} for each distinct value, by a pass up and a pass down: positive terms only."""
        with np.errstate(over="ignore"):
            fall = np.exp(-epsilon * np.diff(self.place))
        return np.asarray(self.count + _pass(self.count, fall) + _pass(self.count[::-1], fall[::-1])[::-1])

    def posterior(self, epsilon: float) -> float:
        """The most certain the attacker can become of anybody."""
        return float(1 / self.weights(epsilon).min())

    def success(self, epsilon: float) -> float:
        """How often the most likely person is the missing one: (1 + Σ_gaps(1 − e^{−ε·gap/2}))/n.

        Each answer points to the nearest world, so every gap adds the mass on its two halves.
        """
        with np.errstate(over="ignore"):
            return float((1 - np.expm1(-epsilon * np.diff(self.place) / 2).sum()) / self.n)

    def normal_success(self, psi: float) -> float:
        """The same with normal noise: (1 + Σ_gaps(2Φ(ψ·gap/2) − 1))/n."""
        from scipy.special import erf

        with np.errstate(over="ignore"):
            return float((1 + erf(psi * np.diff(self.place) / math.sqrt(8)).sum()) / self.n)

    def normal_posterior(self) -> float:
        """With normal noise: certainty of one value, shared by as few people as any; reached at an extreme value."""
        return float(1 / self.count.min())


def _pass(count: Array, fall: Array) -> Array:
    """s_0 = 0, s_{i+1} = (s_i + count_i)·fall_i."""
    out = np.zeros(count.size)
    total = 0.0
    for i, (c, f) in enumerate(zip(count[:-1].tolist(), fall.tolist(), strict=True), start=1):
        total = (total + c) * f
        out[i] = total
    return out
