"""The numbers of a plan that noise goes on: exact, bounded by the plan, in whole units of their own.

Counts are in people or rows. Sums are whole numbers of :class:`~epsilens.data.tables.totals.Steps`, which follow from
the bounds; the total of an average is taken about the middle of its bounds, in half steps. Nothing here is rounded in a
way that depends on other rows, so one person moves each number by no more than the plan says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..data.queries import QueryKind
from ..data.tables.open import OpenTable
from ..data.tables.totals import Steps
from ..plan.answers import Label, Tally, tallies_of
from ..plan.contribution import Noisy, noisy_of
from ..plan.labels import shown
from ..plan.needs import Need
from ..plan.plan import Release

__all__ = ["Exact", "exact_numbers", "unit_of"]


@dataclass(frozen=True)
class Exact:
    """The numbers of one query before noise, by kind and group: confidential, and never written anywhere."""

    query: int
    labels: tuple[Label, ...]
    numbers: dict[Noisy, tuple[Fraction, ...]]  # in units
    sizes: tuple[int, ...] = ()  # of an average whose size is public

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The groups as they are shown."""
        return tuple(shown(label) for label in self.labels)


def unit_of(plan: Release, i: int, noisy: Noisy) -> Fraction:
    """What one unit of a number is in the plan's own terms: a person, a row, a step of a sum."""
    query = plan.queries[i]
    if query.bounds is None or noisy not in (Noisy.ANSWER, Noisy.TOTAL):
        return Fraction(1)
    return Steps.of(*query.bounds).size


def exact_numbers(
    opened: OpenTable, plan: Release, tell: Callable[[int, str], object] | None = None
) -> tuple[Exact, ...]:
    """All numbers of the plan on a table."""
    made = []
    for need, tallies in tallies_of(opened, plan, tell, stepped=True).items():
        i = need.position
        kinds = noisy_of(plan.queries[i])
        numbers = {kind: tuple(_number(plan, need, tally, kind) for _, tally in tallies) for kind in kinds}
        public = need.query.kind is QueryKind.AVERAGE and Noisy.SIZE not in kinds
        sizes = tuple(tally.kept for _, tally in tallies) if public else ()
        made.append(Exact(i, tuple(label for label, _ in tallies), numbers, sizes))
    return tuple(made)


def _number(plan: Release, need: Need, tally: Tally, noisy: Noisy) -> Fraction:
    match noisy:
        case Noisy.PEOPLE:
            return Fraction(tally.owners)
        case Noisy.SIZE:
            return Fraction(tally.kept)
        case Noisy.TOTAL:
            steps = _steps(need)
            return tally.added / steps.size - tally.kept * Fraction(steps.low + steps.high, 2)
        case _:
            return tally.added / _steps(need).size if need.valued else Fraction(tally.kept)


def _steps(need: Need) -> Steps:
    bounds: Any = need.query.bounds
    return Steps.of(*bounds)
