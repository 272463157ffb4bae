"""A release as a source of outcomes: the whole of it, on two tables.

The exact numbers of a table are the same in every run: nothing random goes into them, and rows beyond a person's limit
are left out by a hash with a fixed key. So they are taken once for each table, and only the noise, the names and the
rounding are run again. That is checked rather than believed: the first run and every ``whole``-th one are entire
releases, from the table on, and once two of them differ in their exact numbers every run is an entire one.

Nothing enters a ledger, no limit is asked, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan.plan import Release
from ..publish.drawn import drawn_answers
from ..publish.noise import Drawing, drawings_of
from ..publish.numbers import Exact
from ..publish.published import PublishedAnswer
from ..publish.release import exact_of
from .game import Bits, Raised, quiet
from .pairs import Rows, unread

__all__ = ["GroupsSource", "ReleaseSource", "cells_of"]

WHOLE = 200


def cells_of(answers: Sequence[PublishedAnswer]) -> dict[str, float]:
    """What is published, a cell each: the answer, and how far its interval reaches to both sides.

    Most intervals follow from the answer; as distances they are constant then, and nobody looks at them.
    """
    made: dict[str, float] = {}
    for one in answers:
        group = " ".join("NULL" if part is None else part for _, part in one.group)
        name = f"{one.name} {group}".strip() if one.group else one.name
        if name in made:
            name = f"{one.query + 1} {name}"
        made[name] = one.answer
        made[f"{name}, below"] = float(f"{one.answer - one.low:.9g}")
        made[f"{name}, above"] = float(f"{one.high - one.answer:.9g}")
    return made


@dataclass
class ReleaseSource:
    """Releases of a plan on the first or the second table; every ``whole``-th is an entire one."""

    plan: Release
    first: Any
    second: Any
    whole: int = WHOLE
    entire: int = 0
    runs: int = 0
    repeatable: bool = True
    drawings: tuple[Drawing, ...] = field(init=False)
    _exact: dict[bool, tuple[Exact, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.plan = unread(self.plan)
        self.drawings = drawings_of(self.plan)

    @property
    def width(self) -> int:
        """One run a release."""
        return 1

    def draw(self, bits: Bits) -> list[Any]:
        """One release a bit; one that fails is an outcome."""
        made: list[Any] = []
        with quiet():
            for bit in bits.tolist():
                try:
                    made.append(cells_of(self._once(bool(bit))))
                except Exception as error:
                    made.append(Raised(type(error).__name__))
        return made

    def _once(self, bit: bool) -> tuple[PublishedAnswer, ...]:
        due = self.runs % self.whole == 0 or not self.repeatable
        self.runs += 1
        if bit not in self._exact or due:
            exact = exact_of(self.plan, self.second if bit else self.first)
            self.entire += 1
            self.repeatable = self.repeatable and self._exact.get(bit, exact) == exact
            self._exact[bit] = exact
        return drawn_answers(self.plan, self.drawings, self._exact[bit])


@dataclass
class GroupsSource:
    """One release is many guesses: each listed group has a person of its own, in it or not as its coin falls.

    Every run is an entire release. The outcome of a group are its cells of all queries that list it.
    """

    plan: Release
    table: Any = None
    engine: Any = None
    entire: int = 0

    def __post_init__(self) -> None:
        self._rows = Rows(self.plan, self.table, self.engine)
        self.plan = unread(self.plan)
        self._drawings = drawings_of(self.plan)
        each = [
            self._rows.person(self._rows.far_end, number=i + 1, **label)
            for i, label in enumerate(self._rows.listed)
        ]  # fmt: skip
        self._each = [self._rows.table(rows) for rows in each]

    @property
    def width(self) -> int:
        """As many guesses as groups are listed."""
        return len(self._each)

    def draw(self, bits: Bits) -> NDArray[Any]:
        """One release for each ``width`` bits."""
        return np.concatenate([self._once(coins) for coins in bits.reshape(-1, self.width)])

    def _once(self, coins: Bits) -> NDArray[Any]:
        import pyarrow as pa

        present = [rows for rows, coin in zip(self._each, coins.tolist(), strict=True) if coin]
        table = pa.concat_tables(present) if present else self._each[0].slice(0, 0)
        with quiet():
            answers = drawn_answers(self.plan, self._drawings, exact_of(self.plan, table.combine_chunks()))
        self.entire += 1
        most = max(self.plan.queries, key=lambda q: len(q.labels or ()))
        columns = []
        for i, query in enumerate(self.plan.queries):
            if query.labels == most.labels and query.split_by == most.split_by:
                columns.append([answer.answer for answer in answers if answer.query == i])
        return np.array(columns).T
