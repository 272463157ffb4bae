"""Random plans, released on the neighbouring tables that audits make: no number of an assessment is below the truth.

What is reached between two tables is a lower bound on the truth (``observed_laws``), by the definition of
the plan's cells; the promise of the plan, the readings of its adversaries and of several people together are bounds
from above. So these must be above that, whatever the plan says and wherever the person stands.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from tests.auditing.observed import exact_excess, lower_reading, observed_laws
from tests.references.brute.plans import frame, make

from epsilens.assessment.adversaries import Setting
from epsilens.assessment.risks import group_risks
from epsilens.assessment.worst_case import MovementPair, WorstCase
from epsilens.auditing.pairs import MadeUpRows, PairKind, Row
from epsilens.auditing.pipelines import plan_claim, secret_claim
from epsilens.auditing.result import claim_of
from epsilens.data.tables.table import open_table
from epsilens.errors import EpsilensError
from epsilens.plan.cells import cells_of_rows
from epsilens.plan.file import read_release
from epsilens.plan.movement import AdversaryQuestion
from epsilens.publish.release import check_publishable

NEARLY = 1e-9
GROUPS = 60  # of one person's own: the law is exact, so that few are as good as many
READINGS: tuple[tuple[str, dict[str, float]], ...] = (
    ("success", {"prior": 0.5}),
    ("success", {"prior": 0.1}),
    ("advantage", {}),
    ("posterior", {"prior": 0.3}),
    ("delta", {"epsilon": 0.5}),
    ("roc", {"fpr": 0.1}),
)


@dataclass
class Judged:
    """What was compared, by what it is about; what was refused in a sentence; what was below the truth."""

    compared: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    wrong: list[str] = field(default_factory=list)

    def hold(self, what: str, low: float, high: float, about: Any) -> None:
        """Whether what is reached is within what is said."""
        self.compared[what] += 1
        if not low <= high + NEARLY:
            self.wrong.append(f"{what}: {low:.9g} is reached, {high:.9g} is said: {about}")


def judge(seed: object) -> Judged:
    """All comparisons of one random plan."""
    found = Judged()
    case = make(random.Random(str(seed)))
    words = case.words()
    try:
        plan = read_release(words)
        check_publishable(plan)
        rows = MadeUpRows(plan, pa.Table.from_pandas(frame(case), preserve_index=False))
        with open_table(rows.table([rows.template])) as opened:
            cells = cells_of_rows(plan, {name: str(kind) for name, kind in opened.table.schema().items()})
    except EpsilensError:
        found.refused += 1
        return found
    rows.fresh = rows.fresh[:GROUPS]
    about = {key: words[key] for key in ("data", "queries", "mechanism")}

    def between(first: list[Row], second: list[Row]) -> WorstCase:
        """NaN is no value, as where a table is read."""
        worlds = ([{k: None if v != v else v for k, v in row.items()} for row in world] for world in (first, second))
        return observed_laws(plan, *(cells(world) for world in worlds))

    claims = {question: _claim(plan, question) for question in (AdversaryQuestion.MEMBERSHIP, AdversaryQuestion.SECRET)}
    for kind in PairKind:
        question = AdversaryQuestion.SECRET if kind is PairKind.SECRET else AdversaryQuestion.MEMBERSHIP
        try:
            pairs = [between(first, second) for _, first, second in rows.worlds([kind])]
        except EpsilensError:  # a public size, and no value
            found.refused += 1
            continue
        for pair in pairs:
            found.hold(kind.value, exact_excess(pair, claims[question]), 0.0, about)
            said = Setting(plan).facing(question, plan.epsilon)
            said = said if said.each else WorstCase((MovementPair(),))
            for reading, arguments in READINGS:
                low, high = lower_reading(pair, reading, arguments), said.read(reading, arguments)
                found.hold(f"{reading}, {question}", low, high, (kind.value, about))
    for people, most in group_risks(plan, plan.epsilon):
        for first, second in _several(rows, people):
            low = lower_reading(between(first, second), "success", {"prior": plan.adversary.prior})
            found.hold("together", low, most, (people, about))
    return found


def _claim(plan: Any, question: AdversaryQuestion) -> Any:
    return secret_claim(plan) if question is AdversaryQuestion.SECRET else claim_of(plan_claim(plan))


def _several(rows: MadeUpRows, people: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """So many people, all in one group, or each in groups of their own."""
    each = [rows.person(rows.far_end, number=5_000 + i) for i in range(people)]
    yield rows.beside(rows.elsewhere, [row for theirs in each for row in theirs])
    if len(rows.fresh) > 1:
        theirs = [row for one in each for row in one]
        placed = [{**row, **rows.fresh[i % len(rows.fresh)]} for i, row in enumerate(theirs)]
        first, _ = rows.beside(rows.elsewhere, theirs)
        yield first, [*rows.elsewhere, *placed]
