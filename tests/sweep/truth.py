"""What a pair of laws truly is: the few functions an oracle must give, and the readings that follow from them.

Nothing here knows the code under test. P is H1, Q is H0, L = log dP/dQ, h(x) = ∫(dP − e^x dQ)₊. Every number comes with
an absolute error: the truth lies within ``value ± error``. Numbers may be floats or 60-digit numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

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
    #: What is left in doubt of a share, such as a recall that is given, by the rounding of sums of masses.
    ulp = 1.2e-16
    #: Only something that what is judged must exceed.
    floor = False
    #: Whether a profile takes well under a millisecond or two.
    cheap = True

    @abstractmethod
    def profile(self, x: float) -> Between | None:
        """h(x)."""

    @property
    def corners(self) -> list[Any]:
        """False-positive rates at which the curve bends, in as many digits as they have; some of them."""
        return []

    def at_most(self, x: float) -> float:
        """What h(x) does not exceed."""
        return 1.0

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


class AtLeast(Truth):
    """What a bound must not fall below: some pair that is allowed by what is claimed."""

    floor = True

    def __init__(self, one: Truth) -> None:
        self.one, self.top, self.bottom, self.closed = one, one.top, one.bottom, one.closed

    def profile(self, x: float) -> Between | None:
        found = self.one.profile(x)
        return None if found is None else Between(found.low, max(found.high, 1))

    def recall(self, alpha: float) -> Between | None:
        found = self.one.recall(alpha)
        return None if found is None else Between(found.low, 1)

    def missed(self, alpha: float) -> Between | None:
        found = self.one.missed(alpha)
        return None if found is None else Between(0, found.high)

    def needed(self, recall: float) -> Between | None:
        found = self.one.needed(recall)
        return None if found is None else Between(0, found.high)

    def log_moment(self, a: float) -> Between | None:
        found = self.one.log_moment(a)
        if found is None:
            return None
        return Between(-math.inf, found.high) if 0 < a < 1 else Between(found.low, math.inf)

    def kl(self) -> Between | None:
        found = self.one.kl()
        return None if found is None else Between(found.low, math.inf)

    def area(self) -> Between | None:
        found = self.one.area()
        return None if found is None else Between(found.low, 1)

    def reverse(self) -> AtLeast:
        return AtLeast(self.one.reverse())


class Worst(Truth):
    """Whichever of several pairs is the worst at each place; the adversary knows which it is."""

    def __init__(self, pairs: list[Truth]) -> None:
        self.pairs = pairs
        self.top, self.bottom = max(p.top for p in pairs), min(p.bottom for p in pairs)
        self.closed = max(p.closed for p in pairs)

    def _of(self, ask: Callable[[Truth], Between | None], least: bool = False) -> Between | None:
        found = [ask(p) for p in self.pairs]
        have = [f for f in found if f is not None]
        if len(have) < len(found):
            return None
        pick = min if least else max
        return Between(pick(f.low for f in have), pick(f.high for f in have))

    def profile(self, x: float) -> Between | None:
        return self._of(lambda p: p.profile(x))

    def recall(self, alpha: float) -> Between | None:
        return self._of(lambda p: p.recall(alpha))

    def missed(self, alpha: float) -> Between | None:
        return self._of(lambda p: p.missed(alpha), True)

    def needed(self, recall: float) -> Between | None:
        return self._of(lambda p: p.needed(recall), True)

    def reverse(self) -> Worst:
        return Worst([p.reverse() for p in self.pairs])
