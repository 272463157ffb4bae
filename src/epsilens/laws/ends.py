"""Two proven ends that are different experiments: a bound from above, and attacks that work from below.

``Greatest`` is what several attacks together show: whichever is best for a reading. ``Ends`` is a bound that knows one.
Composed with other releases both ends are composed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..checks import Array
from ..readings.law import Known, Law
from .least import Least
from .loss.step import Composable, Counted

__all__ = ["Ends", "Greatest"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Greatest(Composable):
    """Laws each of which is at most as risky as what they stand for; read from below, every reading takes the largest.

    The laws are given from their own lower side.
    """

    laws: tuple[Law, ...]
    known: Known = field(default=Known.ROUNDED, kw_only=True)

    def steps(self) -> tuple[Counted, ...]:
        """Those of the first law."""
        first = self.laws[0]
        return first.steps() if isinstance(first, Composable) else ()

    @property
    def direction(self) -> str:
        """Lower bounds on risk."""
        return "lower"

    def _most(self, read: Callable[[Law], Array]) -> Array:
        return np.asarray(np.max([read(law) for law in self.laws], axis=0))

    def _least(self, read: Callable[[Law], Array]) -> Array:
        return np.asarray(np.min([read(law) for law in self.laws], axis=0))

    @property
    def width(self) -> float:
        """The widest."""
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> Greatest:
        """Each read to another width."""
        return replace(self, laws=tuple(law.with_width(width) for law in self.laws))

    @property
    def reached(self) -> bool:
        """Whether every answer so far is as narrow as asked for."""
        return all(law.reached for law in self.laws)

    @property
    def symmetric(self) -> bool:
        """If every law is."""
        return all(law.symmetric for law in self.laws)

    @property
    def only1(self) -> float:
        """The largest H1-mass of what H0 never shows."""
        return max(law.only1 for law in self.laws)

    def reverse(self) -> Greatest:
        """Each in the other order."""
        return replace(self, laws=tuple(law.reverse() for law in self.laws))

    def tradeoff(self, alpha: Array) -> Array:
        """The least."""
        return self._least(lambda law: law.tradeoff(alpha))

    def roc(self, alpha: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.roc(alpha))

    def inverse_roc(self, recall: Array) -> Array:
        """The least: where the first of the curves reaches the recall."""
        return self._least(lambda law: law.inverse_roc(recall))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """That of the law with the largest profile there."""
        best = np.argmax([law.profile(log_threshold) for law in self.laws], axis=0)[None]
        pairs = [law.at(log_threshold) for law in self.laws]
        alpha, recall = (np.take_along_axis(np.asarray([p[i] for p in pairs]), best, axis=0)[0] for i in (0, 1))
        return alpha, recall

    def profile(self, log_threshold: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.profile(log_threshold))

    def profile_inverse(self, delta: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.profile_inverse(delta))

    def worse_delta(self, epsilon: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.worse_delta(epsilon))

    def worse_epsilon(self, delta: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.worse_epsilon(delta))

    def max_llr(self) -> Array:
        """The largest."""
        return self._most(lambda law: law.max_llr())

    def log_moment(self, a: Array) -> Array:
        """Furthest from 0: the largest outside [0, 1], where it is positive, the least inside."""
        a = np.asarray(a, dtype=float)
        every = np.asarray([law.log_moment(a) for law in self.laws])
        return np.asarray(np.where((a > 0) & (a < 1), every.min(axis=0), every.max(axis=0)))

    def kl(self) -> Array:
        """The largest."""
        return self._most(lambda law: law.kl())

    def auc(self) -> Array:
        """The largest."""
        return self._most(lambda law: law.auc())

    def psi(self) -> Array:
        """The largest."""
        return self._most(lambda law: law.psi())

    def practical(self, level: float) -> Array:
        """The largest."""
        return self._most(lambda law: law.practical(level))

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The largest."""
        return self._most(lambda law: law.fbeta(beta, odds))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ends(Least):
    """Bounds from above, of which the smallest is read; ``attained`` is what is known from below.

    >>> from .closed.normal import Normal
    >>> ends = Ends((Normal(np.asarray(2.0), known=Known.BOUND),), attained=Normal(np.asarray(1.0)))
    >>> round(float(ends.auc()), 4), round(float(ends.attained.auc()), 4)
    (0.9214, 0.7602)
    """

    attained: Law | None = field(default=None, kw_only=True)

    def reverse(self) -> Ends:
        """Both ends in the other order."""
        turned = None if self.attained is None else self.attained.reverse()
        return replace(self, laws=tuple(law.reverse() for law in self.laws), attained=turned)
