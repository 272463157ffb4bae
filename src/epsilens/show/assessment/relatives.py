"""Related people in an assessment: what their resemblance adds, and how it depends on what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...plan.facts import worst_relation
from ..document import Cell, Column, Group, Kind, Table
from ..words import rounded_up
from .numbers import epsilon_down, planned
from .queries import subject, title

if TYPE_CHECKING:
    from ...assessment.assessment import Assessment
    from ...plan.facts import Relation

__all__ = ["relation", "relatives_data", "relatives_sentence", "relatives_table"]


def relation(a: Assessment) -> Relation | None:
    """The relation of the query that tells most about one of several related people."""
    return worst_relation(a.relations, a.release.shares)


def relatives_sentence(a: Assessment) -> str:
    """How much more one answer tells about someone with relatives, and the ε that would make up for it."""
    alike = relation(a)
    if alike is None:
        return ""
    reason = f"{alike.because[:1].upper()}{alike.because[1:]}."
    answer = subject(a, a.queries[alike.query])
    if alike.factor <= 1 + 1e-9:
        return f"{reason} It adds nothing to what {answer} tells about one of them."
    most = "" if alike.exact else "at most "
    known = {0: "none of the others", alike.others: "all the others"}.get(alike.known, f"{alike.known} of the others")
    return (
        f"{reason} To an adversary who knows {known}, {answer} tells {most}{rounded_up(alike.factor, 3)} times as much "
        f"about one of them as if they were independent. To make up for it, ε would have to fall from "
        f"{planned(a.epsilon)} to {epsilon_down(a.epsilon / alike.factor)}."
    )


def relatives_table(alike: Relation) -> Table:
    """For each number of related records that are known, how much more one answer tells."""
    levels = list(enumerate(alike.by_known))
    step = max(1, len(levels) // 10)
    shown = [*levels[::step], *([] if (len(levels) - 1) % step == 0 else [levels[-1]])]
    columns = (Column(f"Known, of {alike.others} others", Kind.NAME), Column("times as much as independent"))
    rows = tuple((Cell(f"{k}"), Cell(rounded_up(level, 3))) for k, level in shown)
    return Table(columns, (Group(rows),), "How many times as much one answer tells")


def relatives_data(a: Assessment) -> list[dict[str, Any]]:
    """Every query's relation as plain values."""
    return [
        {**vars(r), "by_known": list(r.by_known), "query": title(a, a.queries[r.query]), "swing": r.swing}
        for r in a.relations
    ]
