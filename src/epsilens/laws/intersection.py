"""One release of which more than one law is known: bounds from above, attacks that work from below.

If f ≥ f_i for every i, then f ≥ max f_i, which is a trade-off curve again. So every reading of the release is at most
the least of the readings of these laws, whichever of them that is: δ(ε) at one ε may be known best by one bound and at
another ε by the other. TPR(α) ≤ δ(t) + e^t·α holds between the least of both, as between those of each. Of attacks
every reading is at least the largest. ``Ends`` is a bound that knows one; composed with other releases both ends are
composed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from ..checks import Array
from ..readings.law import Exactness, Law
from .composition.step import Composable, CountedStep

_PARTS = 3  # of what a reading may cost: one for each end, and what each costs beside its lattices


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Intersection(Composable):
    """Several laws, each at least as risky as what they stand for: every reading takes the least risky one.

    With ``lower`` each is at most as risky, and given from its own lower side: every reading takes the riskiest. The
    first law says of which steps all that is made.
    """

    laws: tuple[Law, ...]
    lower: bool = field(default=False, kw_only=True)
    known: Exactness = field(default=Exactness.BOUND, kw_only=True)

    def steps(self) -> tuple[CountedStep, ...]:
        """Those of the first law."""
        first = self.laws[0]
        return first.steps() if isinstance(first, Composable) else ()

    @property
    def direction(self) -> str:
        """Upper bounds on risk, or lower ones."""
        return "lower" if self.lower else "upper"

    def sharing(self, of: int) -> Self:
        """Each of them."""
        laws = tuple(law.sharing(of) if isinstance(law, Composable) else law for law in self.laws)
        return self if all(a is b for a, b in zip(laws, self.laws, strict=True)) else replace(self, laws=laws)

    def _risk(self, read: Callable[[Law], Array], laws: Sequence[Law] | None = None) -> Array:
        """Of what grows with risk."""
        pick = np.max if self.lower else np.min
        return np.asarray(pick([read(law) for law in laws or self.laws], axis=0))

    @property
    def _distinct(self) -> list[Law]:
        """Of two laws that are each other's reverse one: for what is the same in either order."""
        found: list[Law] = []
        for law in self.laws:
            if not any(law == one.reverse() for one in found):
                found.append(law)
        return found

    def _rest(self, read: Callable[[Law], Array]) -> Array:
        """Of what falls as risk grows."""
        pick = np.min if self.lower else np.max
        return np.asarray(pick([read(law) for law in self.laws], axis=0))

    # -- brackets -------------------------------------------------------------------------------------------------

    @property
    def width(self) -> float:
        """The widest."""
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> Self:
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
        """The H1-mass of what H0 never shows."""
        return (max if self.lower else min)(law.only1 for law in self.laws)

    def reverse(self) -> Self:
        """Each in the other order."""
        return replace(self, laws=tuple(law.reverse() for law in self.laws))

    def tradeoff(self, alpha: Array) -> Array:
        """Of bounds the largest."""
        return self._rest(lambda law: law.tradeoff(alpha))

    def roc(self, alpha: Array) -> Array:
        """Of bounds the least."""
        return self._risk(lambda law: law.roc(alpha))

    def inverse_roc(self, recall: Array) -> Array:
        """Of bounds the largest: where the last of the curves reaches the recall."""
        return self._rest(lambda law: law.inverse_roc(recall))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """That of the law whose profile is taken there."""
        pick = np.argmax if self.lower else np.argmin
        best = pick([law.profile(log_threshold) for law in self.laws], axis=0)[None]
        pairs = [law.at(log_threshold) for law in self.laws]
        alpha, recall = (np.take_along_axis(np.asarray([p[i] for p in pairs]), best, axis=0)[0] for i in (0, 1))
        return alpha, recall

    def profile(self, log_threshold: Array) -> Array:
        """Of bounds the least, here and below."""
        return self._risk(lambda law: law.profile(log_threshold))

    def profile_inverse(self, delta: Array) -> Array:
        """ε(δ) in this order."""
        return self._risk(lambda law: law.profile_inverse(delta))

    def worse_delta(self, epsilon: Array) -> Array:
        """Of what holds in both orders."""
        return self._risk(lambda law: law.worse_delta(epsilon))

    def worse_epsilon(self, delta: Array) -> Array:
        """Of what holds in both orders."""
        return self._risk(lambda law: law.worse_epsilon(delta))

    def max_llr(self) -> Array:
        """The largest loss."""
        return self._risk(lambda law: law.max_llr())

    def log_moment(self, a: Array) -> Array:
        """Risk is how far it lies from 0: above outside [0, 1], below inside."""
        inside = (np.asarray(a) > 0) & (np.asarray(a) < 1)
        return np.where(inside, self._rest(lambda law: law.log_moment(a)), self._risk(lambda law: law.log_moment(a)))

    def far_renyi(self, order: Array) -> Array:
        """D_a(H0‖H1)."""
        return self._risk(lambda law: law.far_renyi(order))

    def kl(self) -> Array:
        """D(H0‖H1)."""
        return self._risk(lambda law: law.kl())

    def auc(self) -> Array:
        """The area."""
        return self._risk(lambda law: law.auc(), self._distinct)

    def psi(self) -> Array:
        """ψ."""
        return self._risk(lambda law: law.psi(), self._distinct)

    def practical(self, level: float) -> Array:
        """μ, which grows with risk."""
        return self._risk(lambda law: law.practical(level), self._distinct)

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The best Fβ."""
        return self._risk(lambda law: law.fbeta(beta, odds))


def strongest_attack(laws: tuple[Law, ...]) -> Intersection:
    """What several attacks together show, each given from its lower side.

    >>> from .closed.normal import Normal
    >>> round(float(greatest((Normal(np.asarray(1.0)), Normal(np.asarray(2.0)))).auc()), 4)
    0.9214
    """
    return Intersection(laws, lower=True, known=Exactness.ROUNDED)


def _half_cost(law: Law) -> Law:
    """One end: both are asked for a bracket, which is one reading."""
    return law.sharing(_PARTS) if isinstance(law, Composable) else law


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TwoSidedBound(Intersection):
    """Bounds from above, of which the smallest is read; ``attained`` is what is known from below.

    >>> from .closed.normal import Normal
    >>> ends = Ends((Normal(np.asarray(2.0), known=Known.BOUND),), attained=Normal(np.asarray(1.0)))
    >>> round(float(ends.auc()), 4), round(float(ends.attained.auc()), 4)
    (0.9214, 0.7602)
    """

    attained: Law | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "laws", tuple(_half_cost(law) for law in self.laws))
        object.__setattr__(self, "attained", None if self.attained is None else _half_cost(self.attained))

    def reverse(self) -> Self:
        """Both ends in the other order."""
        turned = None if self.attained is None else self.attained.reverse()
        return replace(self, laws=tuple(law.reverse() for law in self.laws), attained=turned)
