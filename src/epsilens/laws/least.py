"""The smaller of several bounds: one release of which more than one law is known to be at least as risky.

If f ≥ f_i for every i, then f ≥ max f_i, which is a trade-off curve again. So every reading of the release is at most
the least of the readings of these laws, whichever of them that is: δ(ε) at one ε may be known best by one bound and at
another ε by the other. TPR(α) ≤ δ(t) + e^t·α holds between the least of both, as between those of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks import Array
from ..readings.law import Known, Law
from .loss.step import Composable, Counted

__all__ = ["Least"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Least(Composable):
    """Several laws, each at least as risky as what they stand for; the first says of which steps that is made."""

    laws: tuple[Law, ...]
    known: Known = field(default=Known.BOUND, kw_only=True)

    def steps(self) -> tuple[Counted, ...]:
        """Those of the first law."""
        first = self.laws[0]
        return first.steps() if isinstance(first, Composable) else ()

    def _least(self, read: Callable[[Law], Array]) -> Array:
        return np.asarray(np.min([read(law) for law in self.laws], axis=0))

    def _most(self, read: Callable[[Law], Array]) -> Array:
        return np.asarray(np.max([read(law) for law in self.laws], axis=0))

    # -- brackets -------------------------------------------------------------------------------------------------

    @property
    def width(self) -> float:
        """The widest."""
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> Least:
        """Each read to another width."""
        return replace(self, laws=tuple(law.with_width(width) for law in self.laws))

    @property
    def reached(self) -> bool:
        """Whether every answer so far is as narrow as asked for."""
        return all(law.reached for law in self.laws)

    # -- the pair -------------------------------------------------------------------------------------------------

    @property
    def symmetric(self) -> bool:
        """If every law is."""
        return all(law.symmetric for law in self.laws)

    @property
    def only1(self) -> float:
        """The least H1-mass of what H0 never shows."""
        return min(law.only1 for law in self.laws)

    def reverse(self) -> Least:
        """Each in the other order."""
        return replace(self, laws=tuple(law.reverse() for law in self.laws))

    def tradeoff(self, alpha: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.tradeoff(alpha))

    def roc(self, alpha: Array) -> Array:
        """The least."""
        return self._least(lambda law: law.roc(alpha))

    def inverse_roc(self, recall: Array) -> Array:
        """The largest: where the last of the curves reaches the recall."""
        return self._most(lambda law: law.inverse_roc(recall))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """That of the law with the least profile there."""
        best = np.argmin([law.profile(log_threshold) for law in self.laws], axis=0)[None]
        pairs = [law.at(log_threshold) for law in self.laws]
        alpha, recall = (np.take_along_axis(np.asarray([p[i] for p in pairs]), best, axis=0)[0] for i in (0, 1))
        return alpha, recall

    def profile(self, log_threshold: Array) -> Array:
        """The least."""
        return self._least(lambda law: law.profile(log_threshold))

    def profile_inverse(self, delta: Array) -> Array:
        """The least."""
        return self._least(lambda law: law.profile_inverse(delta))

    def worse_delta(self, epsilon: Array) -> Array:
        """The least of what holds in both orders."""
        return self._least(lambda law: law.worse_delta(epsilon))

    def worse_epsilon(self, delta: Array) -> Array:
        """The least of what holds in both orders."""
        return self._least(lambda law: law.worse_epsilon(delta))

    def max_llr(self) -> Array:
        """The least."""
        return self._least(lambda law: law.max_llr())

    def log_moment(self, a: Array) -> Array:
        """Nearest 0: the least outside [0, 1], where it is positive, the largest inside."""
        a = np.asarray(a, dtype=float)
        every = np.asarray([law.log_moment(a) for law in self.laws])
        return np.asarray(np.where((a > 0) & (a < 1), every.max(axis=0), every.min(axis=0)))

    def kl(self) -> Array:
        """The least."""
        return self._least(lambda law: law.kl())

    def auc(self) -> Array:
        """The least."""
        return self._least(lambda law: law.auc())

    def psi(self) -> Array:
        """The least."""
        return self._least(lambda law: law.psi())

    def practical(self, level: float) -> Array:
        """The least: it grows with risk."""
        return self._least(lambda law: law.practical(level))

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The least."""
        return self._least(lambda law: law.fbeta(beta, odds))
