"""What one reading may cost, and what it has made so far.

Work is counted, not timed, so that a reading is the same on every machine: in lattice points of the plainest step,
about a microsecond each. What is still wide when all is spent stays at what is known by then, a wider bracket that
holds all the same, and the law says that it was not reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ...checks import Array

MOST_WORK = 2**20  # lattice points made for one question, after which what is known must do

View = TypeVar("View")


def _most() -> int:
    return MOST_WORK


@dataclass
class Budget:
    """What has been spent of ``most``, in lattice points."""

    spent: int = 0
    most: int = field(default_factory=_most)

    @classmethod
    def share(cls, of: int) -> Budget:
        """One part of that many."""
        return cls(most=MOST_WORK // of)

    @property
    def left(self) -> int:
        """What remains; negative where the last piece cost more than there was."""
        return self.most - self.spent

    @property
    def portion(self) -> int:
        """What one piece may cost: what remains, or a quarter, in sixteenths so that equal pieces are made once."""
        unit = max(self.most // 16, 1)
        return max(self.left // unit, 4) * unit


@dataclass
class Work(Generic[View]):
    """The slices that one reading has used in one order, and the questions that finer ones do not help.

    Only what belongs to one reading is kept together: a reading does not depend on what was asked before it. Both
    orders of a reading may share a budget.
    """

    budget: Budget = field(default_factory=Budget)
    slices: list[View] = field(default_factory=list)
    given_up: set[tuple[str, float]] = field(default_factory=set)
    answers: dict[object, tuple[Array, Array]] = field(default_factory=dict)  # the last ones: both sides are asked for
    in_vain: int = 0  # series in a row that came to nothing

    @property
    def goes_on(self) -> bool:
        """Whether more may be made: something always is, unless all that was tried was in vain."""
        return self.budget.left > 0 or not (self.slices or self.given_up)
