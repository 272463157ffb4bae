"""A release as a source of outcomes: the whole of it, on two tables.

The exact numbers of a table are the same in every run: nothing random goes into them, and rows beyond a person's limit
are left out by a hash with a fixed key. So they are taken once for each table, and only the noise, the names and the
rounding are run again, by calls of their own: noise that two runs shared would not be seen in one call for both. That
is checked rather than believed: entire releases, from the table on, are the first run and every ``whole``-th one, and
in long audits one each time the runs have grown by half. Once two of them differ in their exact numbers every run is
an entire one.

Nothing enters a ledger, no limit is asked, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan.cells import Cells
from ..plan.plan import Release
from ..publish.drawn import drawn_answers
from ..publish.noise import Drawing, drawings_of
from ..publish.published import PublishedAnswer
from ..publish.release import exact_of
from .calls import Raised, quiet
from .game import Bits
from .pairs import Rows, unread

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


def _next(runs: int, whole: int) -> int:
    """After this run, which was an entire release, the next that is one."""
    return runs + max(whole, runs // 2)


@dataclass
class ReleaseSource:
    """Releases of a plan on the first or the second table; every ``whole``-th is entire, fewer in long audits."""

    plan: Release
    first: Any
    second: Any
    whole: int = WHOLE
    entire: int = 0
    runs: int = 0
    repeatable: bool = True
    drawings: tuple[Drawing, ...] = field(init=False)
    _exact: dict[bool, tuple[Cells, ...]] = field(default_factory=dict, init=False)
    _due: int = field(default=0, init=False)

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
        due = self.runs >= self._due or not self.repeatable
        if due:
            self._due = _next(self.runs, self.whole)
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

    The outcome of a group are its cells in all queries that list it. People in different groups add to different
    numbers, so the exact numbers of any mixture are, group by group, those of the table with everybody or of the one
    with nobody. The first call and every ``whole``-th one are entire releases of the mixture, fewer in long audits, and
    once one of them has other exact numbers than that, every call is.
    """

    plan: Release
    table: Any = None
    engine: Any = None
    whole: int = 20
    entire: int = 0
    calls: int = 0
    repeatable: bool = True
    _due: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        rows = Rows(self.plan, self.table, self.engine)
        self.plan = unread(self.plan)
        self._drawings = drawings_of(self.plan)
        most = max(self.plan.queries, key=lambda q: len(q.labels or ()))
        self._queries = [
            i for i, q in enumerate(self.plan.queries) if q.labels == most.labels and q.split_by == most.split_by
        ]
        each = [rows.person(rows.far_end, number=i + 1, **label) for i, label in enumerate(rows.listed)]
        self._groups = np.repeat(np.arange(len(each)), [len(theirs) for theirs in each])
        self._rows = rows.table([row for theirs in each for row in theirs])
        self._width = len(each)
        with quiet():
            self._all = self._exact(np.ones(self._width, dtype=bool))
            self._none = self._exact(np.zeros(self._width, dtype=bool))

    @property
    def width(self) -> int:
        """As many guesses as groups are listed."""
        return self._width

    def draw(self, bits: Bits) -> NDArray[Any]:
        """One release for each ``width`` bits."""
        with quiet():
            return np.concatenate([self._once(coins) for coins in bits.reshape(-1, self.width)])

    def _exact(self, coins: Bits) -> tuple[Cells, ...]:
        self.entire += 1
        found = exact_of(self.plan, self._rows.filter(coins[self._groups]))
        return tuple(one for one in found if one.query in self._queries)

    def _mixed(self, coins: Bits) -> tuple[Cells, ...]:
        made = []
        for everybody, nobody in zip(self._all, self._none, strict=True):
            numbers = {
                noisy: tuple(
                    a if coin else b for coin, a, b in zip(coins.tolist(), held, nobody.numbers[noisy], strict=True)
                )
                for noisy, held in everybody.numbers.items()
            }
            made.append(replace(everybody, numbers=numbers))
        return tuple(made)

    def _once(self, coins: Bits) -> NDArray[Any]:
        exact = self._mixed(coins)
        if self.calls >= self._due or not self.repeatable:
            self._due = _next(self.calls, self.whole)
            found = self._exact(coins)
            self.repeatable = self.repeatable and found == exact
            exact = found
        self.calls += 1
        answers = drawn_answers(self.plan, self._drawings, exact)
        cells = [[one.answer for one in answers if one.query == i] for i in self._queries]
        return np.array(cells).T if len(cells) > 1 else np.array(cells[0])
