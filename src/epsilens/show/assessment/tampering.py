"""The defender's view of an assessment: how large a false record the noise would hide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...assessment.accuracy import FALSE_ALARMS, noise_at
from ..document import Cell, Column, Group, Kind, Table
from .numbers import planned, value
from .queries import subject, title
from .words import hardest, second

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assessment import Assessment

__all__ = ["hidden_sentence", "hidden_table"]


def _hidden(a: Assessment, q: QueryAccuracy, epsilon: float) -> float:
    return noise_at(q.sensitivity, q.share, q.divisor, epsilon, a.release).hidden


def hidden_sentence(a: Assessment) -> str:
    """What a false record could add to the least accurate answer without being seen every other time."""
    q, at = hardest(a), second(a)
    now = value(_hidden(a, q, a.epsilon))
    then = "" if at is None else f", at ε = {planned(at)} by up to {value(_hidden(a, q, at))}"
    alarms = f"{100 * FALSE_ALARMS:g} of 100"
    return (
        f"The noise hides tampering too. At ε = {planned(a.epsilon)} a false record that moves {subject(a, q)} by up "
        f"to {now} goes unnoticed at least every other time{then}; the best test is taken, with false alarms for "
        f"{alarms} honest answers."
    )


def hidden_table(a: Assessment) -> Table:
    """Each query, what one honest person may move it by, and what stays hidden at the planned and the second ε."""
    shown = [a.epsilon, *([] if (at := second(a)) is None else [at])]
    heads = ["one person", *(f"ε = {planned(e)}" for e in shown)]
    rows = tuple(
        (
            Cell(title(a, q)),
            Cell(value(q.sensitivity / q.divisor)),
            *(Cell(value(_hidden(a, q, e))) for e in shown),
        )
        for q in a.queries
    )
    return Table((Column("Query", Kind.NAME), *(Column(h, label=h) for h in heads)), (Group(rows),))
