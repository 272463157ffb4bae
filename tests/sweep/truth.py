"""What a pair of laws truly is: the few functions an oracle must give, and the readings that follow from them.

Nothing here knows the code under test. P is H1, Q is H0, L = log dP/dQ, h(x) = ∫(dP − e^x dQ)₊. Every number comes with
an absolute error: the truth lies within ``value ± error``. Numbers may be floats or 60-digit numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

__all__ = ["MP", "Between", "Reversed", "Truth", "digits", "exact", "larger"]

#: Sixty digits: an ε of 1e-12 loses 24 of them to cancellation, a δ of 1e-300 none.
MP = mpmath.mp.clone()
MP.dps = 60


def digits(x: Any) -> Any:
    """A number of 18 digits as one of 60: no digit is lost."""
    if isinstance(x, np.longdouble):
        head = float(x)
        return MP.mpf(head) + float(x - np.longdouble(head)) if math.isfinite(head) else MP.mpf(head)
    return MP.mpf(x)


@dataclass(frozen=True)
class Between:
    """A number known to lie in [low, high]."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", digits(self.low))
        object.__setattr__(self, "high", digits(self.high))

    def __add__(self, other: Any) -> Between:
        return Between(self.low + other, self.high + other)

    def __mul__(self, positive: Any) -> Between:
        return Between(self.low * positive, self.high * positive)

    @property
    def middle(self) -> float:
        return float(self.low) if self.low == self.high else (float(self.low) + float(self.high)) / 2


def exact(value: Any) -> Between:
    return Between(value, value)


def larger(one: Between, other: Between) -> Between:
    return Between(max(one.low, other.low), max(one.high, other.high))


class Truth(ABC):
    """One pair of laws. What an oracle cannot say is None, and the case is counted as not judged."""

    top: Any = math.inf  # the supremum of L
    bottom: Any = -math.inf  # its infimum
    #: Relative agreement an exact claim must reach with this oracle.
    closed = 1e-12

    @abstractmethod
    def profile(self, x: float) -> Between | None:
        """h(x)."""

    def recall(self, alpha: float) -> Between | None:
        """The largest P(reject) over tests with Q(reject) ≤ α: min over x of h(x) + α·e^x."""
        return None

    def missed(self, alpha: float) -> Between | None:
        """One less the recall, to as many digits as there are."""
        found = self.recall(alpha)
        return None if found is None else Between(1 - found.high, 1 - found.low)

    def needed(self, recall: float) -> Between | None:
        """The least α that reaches a recall: max over x of (recall − h(x))·e^−x."""
        return None

    def log_moment(self, a: float) -> Between | None:
        """log ∫ dP^a dQ^(1−a)."""
        return None

    def kl(self) -> Between | None:
        """D(Q‖P)."""
        return None

    def area(self) -> Between | None:
        """P(L₁ > L₀) + ½·P(L₁ = L₀) of independent draws."""
        return None

    def reverse(self) -> Truth:
        return Reversed(self)


class Reversed(Truth):
    """The pair in the other order: h′(x) = 1 − e^x + e^x·h(−x), in as many digits as the first has."""

    def __init__(self, first: Truth) -> None:
        self.first = first
        self.top, self.bottom, self.closed = -first.bottom, -first.top, first.closed

    def profile(self, x: float) -> Between | None:
        if x >= self.top:
            return exact(MP.mpf(0))
        found = self.first.profile(-x)
        if found is None:
            return None
        t = MP.exp(x)
        return Between(1 - t + t * found.low, 1 - t + t * found.high)

    def recall(self, alpha: float) -> Between | None:  # R′(α) = 1 − (the least α of the first that misses at most α)
        found = self.first.needed(1 - MP.mpf(alpha))
        return None if found is None else Between(1 - found.high, 1 - found.low)

    def needed(self, recall: float) -> Between | None:
        found = self.first.recall(1 - MP.mpf(recall))
        return None if found is None else Between(1 - found.high, 1 - found.low)

    def log_moment(self, a: float) -> Between | None:
        return self.first.log_moment(1 - MP.mpf(a))

    def area(self) -> Between | None:
        return self.first.area()

    def reverse(self) -> Truth:
        return self.first
