"""A product of steps, seen from one side of its bracket and in one order.

What is made to answer a question stays with the two orders of the product: the law with H0 and H1 exchanged, and the
law from the other side of its bracket, are views that share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...checks import Array
from ...numerics.formatting import short_repr
from ...readings.law import Exactness
from .counted import Product
from .order import Order, Work
from .sampled import Swapped
from .step import Composable, Counted
from .work import Budget

WIDTH = 1e-3
_LEAST = 1e-300  # no δ below is asked for
Works = tuple[Work | None, Work | None]  # in this order and in the other


class Sided(Composable):
    """The steps, each (step, count); ``width`` is the relative width asked of a bracket.

    ``known`` is a bracket, or a bound where some step is only known to dominate what it stands for.
    """

    def __init__(self, steps: Sequence[Counted], width: float = WIDTH, *, bound: bool = False) -> None:
        product = Product(steps)
        bound = bound or any(step.known is Exactness.BOUND for step, _ in steps)
        self.known = Exactness.BOUND if bound else Exactness.BRACKET
        self._set(Order(product, False, width), Order(product, True, width), True)

    def _set(self, forward: Order, backward: Order, upper: bool, works: Works = (None, None)) -> Self:
        self._forward, self._backward, self._upper, self._works = forward, backward, upper, works
        return self

    def _facts(self) -> tuple[Any, ...]:
        """What makes it this law, whatever it has been asked so far."""
        return (self._counted, self.width, self.known, self._upper, self.flipped, self._forward.part)

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, Sided) else NotImplemented

    def __hash__(self) -> int:
        return hash((Sided, self._facts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({short_repr(self.steps())}, width={self.width:g}, {self.known})"

    @property
    def _counted(self) -> tuple[Counted, ...]:
        """The steps with their counts, in the order in which they were given."""
        return self._forward.product.steps

    def steps(self) -> tuple[Counted, ...]:
        """The steps with their counts, exchanged where H0 and H1 are."""
        return tuple((Swapped(step), k) for step, k in self._counted) if self.flipped else self._counted

    @property
    def flipped(self) -> bool:
        """Whether H0 and H1 are exchanged."""
        return self._forward.flipped

    @property
    def only1(self) -> float:
        """The H1-mass of losses at +∞."""
        return self._at_top

    @property
    def width(self) -> float:
        """The relative width asked for."""
        return self._forward.width

    @property
    def reached(self) -> bool:
        """Whether every answer so far is as narrow as asked for."""
        return not (self._forward.missed or self._backward.missed)

    @property
    def symmetric(self) -> bool:
        """If every step is."""
        return self._forward.product.mirrored

    @property
    def direction(self) -> str:
        """Upper bounds on risk; from the other side, lower ones."""
        return "upper" if self._upper else "lower"

    def reverse(self) -> Self:
        """The two laws exchanged; what was computed is kept."""
        if self.symmetric:
            return self
        return self._like(self._backward, self._forward, self._upper, (self._works[1], self._works[0]))

    def other_side(self) -> Self:
        """The same law from the other side of its bracket."""
        return self._like(self._forward, self._backward, not self._upper, self._works)

    def _like(self, forward: Order, backward: Order, upper: bool, works: Works = (None, None)) -> Self:
        made = type(self).__new__(type(self))
        made.known = self.known
        return made._set(forward, backward, upper, works)

    def _sharing(self, budget: Budget) -> Self:
        """The same law from above for one reading that asks much: what is made is shared, and one budget holds."""
        ahead = Work(budget)
        return self._like(self._forward, self._backward, True, (ahead, ahead if self.symmetric else Work(budget)))

    def as_bound(self) -> Self:
        """The same where it only stands for something no riskier."""
        made = self._like(self._forward, self._backward, self._upper)
        made.known = Exactness.BOUND
        return made

    def with_width(self, width: float) -> Self:
        """The same product, to be read to another relative width."""
        return self._like(self._forward.with_width(width), self._backward.with_width(width), self._upper)

    def sharing(self, of: int) -> Self:
        """The same, where a reading may cost one part of that many only, as it is one of several."""
        made = self._like(self._forward.sharing(of), self._backward.sharing(of), self._upper)
        return self if self._forward.part == of else made

    def _back(self) -> Order:
        return self._forward if self.symmetric else self._backward

    def _pick(self, bracket: tuple[Array, Array]) -> Array:
        return bracket[1] if self._upper else bracket[0]

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = self._forward.product.ends
        return (-high, -low) if self.flipped else (low, high)

    @property
    def _finite_top(self) -> float:
        low, high = self._forward.product.finite_ends
        return -low if self.flipped else high

    @property
    def _at_top(self) -> float:
        product = self._forward.product
        found = product.at_bottom if self.flipped else product.at_top
        # what stands for the end of a list (1e-320 a step) is there for the high end alone
        return found if self._upper or found >= _LEAST else 0.0

    @property
    def _at_bottom(self) -> float:
        product = self._forward.product
        return product.at_top if self.flipped else product.at_bottom

    def seen(self, low: Array, high: Array) -> None:
        """Remember a bracket that is wider than asked for, whichever reading it is of."""
        with np.errstate(invalid="ignore"):
            self._note(bool(np.any(high - low > self.width * np.abs(high) * (1 + 1e-9))))

    def _note(self, wide: bool) -> None:
        """Remember that an answer is wider than asked for."""
        self._forward.missed = self._forward.missed or bool(wide)
